"""The command that serves the app."""

from __future__ import annotations

import click

from twosample.cli.extras import require

__all__ = ["app"]

_EPILOG = """\b
Examples:
  twosample app                            a free port, and the page in the browser
  twosample app --port 8765 --no-browser   on another machine, to be reached through ssh -L 8765:127.0.0.1:8765

It needs the extra "app": pip install 'twosample[app]'
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="a free one",
    metavar="NUMBER",
    help="Where to listen, on this computer only.",
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in the browser.")
@click.option(
    "--max-size",
    type=click.FloatRange(min=0, min_open=True),
    default=100.0,
    show_default=True,
    metavar="MB",
    help="The largest file that is taken, in megabytes; ten times that is held for all pages together.",
)
def app(port: int, browser: bool, max_size: float) -> None:
    """Compare files on a page in the browser, until Ctrl-C.

    Files are read in the memory of this process and never written. Whoever has the address, of which a part is secret,
    can use the page, from this computer.
    """
    for package in ("starlette", "uvicorn", "jinja2"):
        require("the app", package, "app")
    from twosample.app import serve

    def say(address: str) -> None:
        click.echo(f"twosample is at {address}")
        click.echo("Ctrl-C ends it.", err=True)

    serve(port, max_size=max_size, say=say, browser=browser)
