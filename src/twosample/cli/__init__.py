"""The command line: reads tables, runs the test, the sampler or the comparison, and prints the answer."""

from contextlib import nullcontext
from typing import NoReturn

from twosample.cli.extras import require
from twosample.common import versions
from twosample.common.exits import (
    FAILED,
    REFUSED,
    end,
    end_when_interrupted,
    ended_by_us,
    fill_standard_streams,
    loading,
    say,
)
from twosample.errors import MissingExtraError

__all__ = ["main"]


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command and exit, with a status of `twosample.common.exits`: 0 with the answer on stdout."""
    as_command = args is None  # and not a call from another program
    if as_command:
        end_when_interrupted()
    if "stdout" in fill_standard_streams():
        say("standard output is closed, where the answer would be")
        end(FAILED)
    with loading(as_command):
        try:
            versions.require("numpy")
            for package in ("click", "polars"):
                require("the command line", package, "cli")
        except MissingExtraError as error:
            say(str(error))
            end(REFUSED)

        from twosample.cli.commands import run
    with ended_by_us() if as_command else nullcontext():
        status = run(args)
    end(status)
