"""The command line: reads tables, runs the test, the sampler or the comparison, and prints the answer."""

import sys
from typing import NoReturn

from twosample.cli.extras import require
from twosample.common import versions
from twosample.errors import MissingExtraError

__all__ = ["main"]


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command and exit: 0 with the answer on stdout, 2 with one line on stderr, 130 when interrupted.

    Where the reader of stdout has left (``| head``) click ends the process quietly, with status 1.
    """
    try:
        versions.require("numpy")
        for package in ("click", "polars"):
            require("the command line", package, "cli")
    except MissingExtraError as error:
        print(f"twosample: error: {error}", file=sys.stderr)
        sys.exit(2)

    from twosample.cli.commands import run

    sys.exit(run(args))
