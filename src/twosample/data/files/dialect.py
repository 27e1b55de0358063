"""How a file is to be read where it does not say so itself, and the words that stand for a missing value."""

from __future__ import annotations

from dataclasses import dataclass

from twosample.common.arguments import positive
from twosample.errors import InputError

__all__ = ["MISSING", "Reading", "is_number", "quoted"]

MISSING = ("", "NA", "N/A", "na", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None")
_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "bar": "|"}


@dataclass(frozen=True)
class Reading:
    r"""Settings of the reader of a file; None is detected.

    Examples
    --------
    >>> Reading(thousands=".").decimal, Reading(delimiter="tab").delimiter
    (',', '\t')
    """

    missing: tuple[str, ...] = ()  # what stands for a missing value, besides the empty cell, NA, NaN, null and the like
    decimal: str | None = None
    thousands: str | None = None  # the sign in 1,234.5; it also tells the decimal sign
    encoding: str | None = None
    comment: str | None = None  # what lines begin with that are to be skipped
    header: bool | None = None  # whether the first line holds the names of the columns
    unpacked_limit: float | None = None  # megabytes that a compressed file may unpack to; None for the free memory
    delimiter: str | None = None  # between cells: one character, or "tab", or "space" for any run of blanks

    def __post_init__(self) -> None:
        """Check the settings and complete them."""
        object.__setattr__(self, "missing", tuple(token.strip() for token in self.missing))
        if self.decimal not in (None, ".", ","):
            raise InputError(f"decimal: must be '.' or ',', not {self.decimal!r}", argument="decimal")
        if self.thousands is not None:
            _check_thousands(self.thousands)
            _check_not_decimal("thousands", self.thousands, self.decimal)
            if self.decimal is None and self.thousands in ".,":
                object.__setattr__(self, "decimal", "," if self.thousands == "." else ".")
        if self.comment is not None and (not self.comment.strip() or not self.comment.isprintable()):
            raise InputError(f"comment: must be a sign such as '#', not {self.comment!r}", argument="comment")
        if self.unpacked_limit is not None:
            object.__setattr__(self, "unpacked_limit", positive(self.unpacked_limit, "unpacked_limit"))
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))
            _check_not_decimal("delimiter", self.delimiter, self.decimal)


def _check_thousands(sign: str) -> None:
    if len(sign) != 1 or sign.isalnum() or sign in '+-\r\n"':
        raise InputError(f"thousands: must be one sign such as ',', not {sign!r}", argument="thousands")


def _check_not_decimal(argument: str, sign: str, decimal: str | None) -> None:
    if sign == decimal:
        raise InputError(f"{argument}: cannot be {sign!r}, which is the decimal sign", argument=argument)


def _check_encoding(encoding: str) -> None:
    try:
        "u".encode(encoding)
    except (LookupError, ValueError):
        raise InputError(
            f"encoding: there is no encoding {encoding!r}", argument="encoding", remedy="try utf-8, utf-16 or cp1252"
        ) from None


def _delimiter(told: str) -> str:
    delimiter = _DELIMITERS.get(told, told)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in "\r\n\0\"'.+-":
        raise InputError(
            f"delimiter: must be one sign such as ';' or '|', or tab or space, not {told!r}", argument="delimiter"
        )
    return delimiter


def quoted(name: object) -> str:
    """A name of a file, as data: quoted, with everything unprintable escaped.

    Examples
    --------
    >>> print(quoted("of the year.csv"))
    'of the year.csv'
    """
    return repr(str(name))


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is a number.

    Examples
    --------
    >>> is_number("1e3"), is_number("1,5"), is_number("1,5", ","), is_number("1_000")
    (True, False, True, False)
    """
    if decimal == ",":
        cell = cell.replace(".", " ").replace(",", ".")
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
