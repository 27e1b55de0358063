"""Reads files into the tables to compare: two files, or one file that a column splits."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from twosample.cli.messages import quoted, refusals
from twosample.data import Choice
from twosample.data.two_tables import read_two, row_labels
from twosample.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Given", "read_tables", "two_tables"]

_MISSING = ["", "NA", "N/A", "na", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None"]
_SNIFFED_BYTES = 1 << 20


class Given(NamedTuple):
    """The tables of a command, as the functions of the library take them.

    Attributes
    ----------
    x, y
        Two tables; or one that holds all rows, and None.
    choice
        What to say of them: `by`, `groups`, `columns` and `drop`.
    names
        What the two samples are called.
    groups
        How many groups there are.
    """

    x: pl.DataFrame
    y: pl.DataFrame | None
    choice: dict[str, Any]
    names: tuple[str, str]
    groups: int = 2


def read_tables(
    files: tuple[Path, ...],
    by: str | None,
    groups: tuple[str, ...] | None,
    columns: tuple[str, ...] | None,
    drop: tuple[str, ...] | None,
    *,
    several: bool = False,
) -> Given:
    """Read the tables of a command.

    Parameters
    ----------
    files
        Two files; one, if it is split.
    by
        The column to split the file by.
    groups
        The two values of that column to compare; None if it has only two.
    columns, drop
        The columns to compare, and those to leave out; None for all that hold numbers.
    several
        Whether there may be more than two groups.
    """
    given = {"by": by, "columns": columns, "drop": drop}
    choice: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if by is None:
        if groups is not None:
            raise InputError("--groups: needs --by COLUMN, whose values it names")
        if len(files) == 1:
            raise InputError("pass two files, or one file and --by COLUMN")
        if len(files) != 2:
            raise InputError(f"pass two files, not {len(files)}; or one file and --by COLUMN")
        x, y = (_read_table(path) for path in files)
        first, second = (str(path) if files[0].name == files[1].name else path.name for path in files)
        return Given(x, y, choice, (first, second))

    if len(files) != 1:
        raise InputError(f"--by: needs one file, not {len(files)}")
    with refusals((str(files[0]),)):
        pair = Choice.of(by, groups).groups
        table = _read_table(files[0])
        labels = row_labels(table, by)
        many = several and pair is None and len(labels.counts) > 2
        names = ("", "") if many else labels.two(pair)
    if pair is not None:
        choice["groups"] = pair
    return Given(table, None, choice, names, len(labels.counts) if many else 2)


def two_tables(given: Given) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two tables of numbers with the same columns, for what takes nothing else."""
    import polars as pl

    two = read_two(given.x, given.y, Choice.of(**given.choice))
    return pl.DataFrame(two.x, schema=list(two.columns)), pl.DataFrame(two.y, schema=list(two.columns))


def _read_table(path: Path) -> pl.DataFrame:
    """Read a file of any supported kind; text columns are kept."""
    import polars as pl

    name = quoted(path)
    if path.is_dir():
        raise InputError(f"{name} is a folder; pass a CSV, TSV or Parquet file")
    try:
        if not path.exists():
            raise InputError(f"there is no file {name}")
        is_parquet = path.suffix.lower() in (".parquet", ".pq")
        table = pl.read_parquet(path, glob=False) if is_parquet else _read_text(path, name)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(f"{name} cannot be read as a table: {reason}") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    except pl.exceptions.PanicException:
        raise InputError(f"{name} cannot be read as a table: it is damaged") from None
    if table.is_empty():
        raise InputError(f"{name} has no rows")
    return table


def _read_text(path: Path, name: str) -> pl.DataFrame:
    import polars as pl

    content = path.read_bytes()
    if content.startswith(b"PAR1"):
        return pl.read_parquet(content)
    if b"\0" in content[:_SNIFFED_BYTES]:
        raise InputError(f"{name} is not text; pass a CSV, TSV or Parquet file")
    content = content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    start = content[:_SNIFFED_BYTES].decode("utf-8", errors="replace")
    if not start.strip():
        raise InputError(f"{name} is empty")
    separator = _separator(start)
    decimal_comma = (
        separator != "," and re.search(rf"(^|{separator})-?\d+,\d+({separator}|\r?$)", start, re.M) is not None
    )
    cells = [cell.strip() for cell in next(csv.reader(io.StringIO(start), delimiter=separator))]
    numbers = [cell.replace(",", ".") if decimal_comma else cell for cell in cells]
    has_header = not (any(map(_is_number, numbers)) and all(_is_number(cell) or cell in _MISSING for cell in numbers))
    if has_header and len(set(cells)) < len(cells):
        twice = next(cell for cell in cells if cells.count(cell) > 1)
        raise InputError(f"{name} has two columns named {twice!r}; rename one")
    table = pl.read_csv(
        content,
        separator=separator,
        has_header=has_header,
        null_values=_MISSING,
        infer_schema_length=None,
        decimal_comma=decimal_comma,
        glob=False,
    )
    table.columns = cells if has_header else [str(index) for index in range(table.width)]
    return table.with_columns(_unpadded(table[column]) for column in table.columns if table[column].dtype == pl.String)


def _separator(start: str) -> str:
    """What stands between the values of the first line, not counting what is in quotes."""
    line = re.sub(r'"[^"]*"', "", start).splitlines()[0]
    return next((separator for separator in ("\t", ";") if separator in line), ",")


def _unpadded(column: pl.Series) -> pl.Series:
    """Text without surrounding blanks, as numbers where all of it is numbers."""
    import polars as pl

    text = column.str.strip_chars()
    text = text.set(text.is_in(_MISSING), None)
    for kind in (pl.Int64, pl.Float64):
        numbers = text.cast(kind, strict=False)
        if numbers.null_count() == text.null_count() < len(text):
            return numbers
    return text


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
