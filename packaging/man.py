"""Write the manual page of the command from its own help, so that the two say the same.

python packaging/man.py
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from twosample import __version__
from twosample.cli.commands import command_line

PAGE = Path(__file__).parent / "man" / "twosample.1"


def roff(text: str) -> str:
    r"""Text that means nothing to roff but itself.

    >>> print(roff(".5 --by \\n"))
    \&.5 \-\-by \en
    """
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in text.split("\n"))


def paragraphs(text: str) -> Iterator[str]:
    r"""Paragraphs as click understands them: after \\b the lines stay as they are."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            yield f".PP\n.nf\n{roff(paragraph.removeprefix(chr(8)).strip())}\n.fi"
        else:
            yield f".PP\n{roff(' '.join(paragraph.split()))}"


def synopsis(context: click.Context) -> str:
    """How the command is called."""
    return f"\\fB{roff(context.command_path)}\\fR {roff(' '.join(context.command.collect_usage_pieces(context)))}"


def options(context: click.Context) -> Iterator[str]:
    """Each option with what click says of it."""
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and isinstance(parameter, click.Option):
            yield f".TP\n\\fB{roff(record[0])}\\fR\n{roff(' '.join(record[1].split()))}"


def page() -> str:
    """The whole page."""
    top = click.Context(command_line, info_name="twosample", **command_line.context_settings)
    help_text = inspect.cleandoc(command_line.help or "")
    title = roff(f"twosample {__version__}")
    parts = [
        f'.TH TWOSAMPLE 1 "" "{title}" "User Commands"',
        f".SH NAME\ntwosample \\- {roff(help_text[0].lower() + help_text[1:].rstrip('.'))}",
        f".SH SYNOPSIS\n{synopsis(top)}",
        ".SH OPTIONS",
        *options(top),
        ".SH COMMANDS",
    ]
    for name in command_line.list_commands(top):
        command = command_line.get_command(top, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=top)
        parts += [f".SS twosample {roff(name)}", synopsis(context), *paragraphs(command.help or "")]
        parts += [*options(context), *paragraphs(command.epilog or "")]
    parts += [".SH NOTES", *paragraphs(command_line.epilog or "")]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
