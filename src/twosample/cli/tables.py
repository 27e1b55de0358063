"""Reads files into the two tables of numbers to compare: two files, or one file split by a column."""

from __future__ import annotations

import csv
import io
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from twosample.cli.messages import quoted
from twosample.errors import DroppedDataWarning, InputError, warn

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Pair", "read_pair"]

_MISSING = ["", "NA", "N/A", "na", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None"]
_SHOWN_VALUES = 8
_SNIFFED_BYTES = 1 << 20


class Pair(NamedTuple):
    """Two tables, and what to call them."""

    x: pl.DataFrame
    y: pl.DataFrame
    names: tuple[str, str]


def read_pair(
    files: tuple[Path, ...], by: str | None, groups: tuple[str, ...] | None, columns: tuple[str, ...] | None
) -> Pair:
    """Read the two tables to compare, with columns of numbers only.

    Parameters
    ----------
    files
        Two files; one, if it is split.
    by
        The column to split the file by.
    groups
        The two values of that column to compare; None if it has only two.
    columns
        The columns to compare; None for all that hold numbers in both tables.

    Returns
    -------
    Pair
        The tables, as float64, with the names of the files or groups.
    """
    return _numeric(_split(files, by, groups) if by is not None else _two_files(files, groups), columns)


def _two_files(files: tuple[Path, ...], groups: tuple[str, ...] | None) -> Pair:
    if groups is not None:
        raise InputError("--groups: needs --by COLUMN, whose values it names")
    if len(files) == 1:
        raise InputError("pass two files, or one file and --by COLUMN")
    if len(files) != 2:
        raise InputError(f"pass two files, not {len(files)}; or one file and --by COLUMN")
    x, y = (_read_table(path) for path in files)
    first, second = (str(path) if files[0].name == files[1].name else path.name for path in files)
    return Pair(x, y, (first, second))


def _split(files: tuple[Path, ...], by: str, groups: tuple[str, ...] | None) -> Pair:
    """One table into two by the values of a column; in the order of `groups`, else of the first row of each."""
    import polars as pl

    if len(files) != 1:
        raise InputError(f"--by: needs one file, not {len(files)}")
    if groups is not None and (len(groups) != 2 or groups[0] == groups[1]):
        raise InputError(f"--groups: needs two different values, such as U,V, not {', '.join(map(repr, groups))}")
    table = _read_table(files[0])
    _check_columns(table, (by,), files[0])
    label = table[by]
    if label.dtype.is_nested():
        raise InputError(f"--by: column {by!r} holds {label.dtype}, not single values")
    labels = label.cast(pl.String)
    present = labels.drop_nulls().unique(maintain_order=True).to_list()
    if groups is None:
        if len(present) != 2:
            shown = ", ".join(map(repr, present[:_SHOWN_VALUES])) + (", ..." if len(present) > _SHOWN_VALUES else "")
            values = "value" if len(present) == 1 else "different values"
            advice = f"; choose two with --groups {_joined(present[:2])}" if len(present) > 2 else ""
            raise InputError(f"--by: column {by!r} holds {len(present)} {values}, not 2: {shown or 'none'}{advice}")
        if labels.null_count():
            warn(
                DroppedDataWarning(
                    f"Left out {labels.null_count()} rows without a value in column {by!r}.", argument="by"
                )
            )
        groups = tuple(present)
    for group in groups:
        if group not in present:
            shown = ", ".join(map(repr, present[:_SHOWN_VALUES])) + (", ..." if len(present) > _SHOWN_VALUES else "")
            raise InputError(f"--groups: column {by!r} has no value {group!r}; it has {shown}")
    x, y = (table.filter(labels == group).drop(by) for group in groups)
    return Pair(x, y, (groups[0], groups[1]))


def _joined(values: list[str]) -> str:
    """Values as --groups takes them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return shlex.quote(line.getvalue())


def _check_columns(table: pl.DataFrame, columns: tuple[str, ...], source: object) -> None:
    known = set(table.columns)
    for column in columns:
        if column not in known:
            present = ", ".join(map(repr, table.columns[:_SHOWN_VALUES]))
            more = ", ..." if len(table.columns) > _SHOWN_VALUES else ""
            raise InputError(f"{quoted(source)} has no column {column!r}; it has {present}{more}")


def _numeric(pair: Pair, columns: tuple[str, ...] | None) -> Pair:
    """The columns to compare: those asked for, else all that hold numbers in both tables."""
    if columns is not None:
        if len(set(columns)) < len(columns):
            raise InputError("--columns: names a column twice")
        for table, name in zip((pair.x, pair.y), pair.names, strict=True):
            _check_columns(table, columns, name)
        for table, name in zip((pair.x, pair.y), pair.names, strict=True):
            for column in columns:
                if not _holds_numbers(table[column]):
                    example = next((value for value in table[column].drop_nulls().to_list()), None)
                    raise InputError(
                        f"--columns: column {column!r} of {quoted(name)} does not hold numbers (such as {example!r})"
                    )
        return Pair(_as_numbers(pair.x.select(columns)), _as_numbers(pair.y.select(columns)), pair.names)

    y_columns = set(pair.y.columns)
    left_out = [
        column
        for column in pair.x.columns
        if column in y_columns and not (_holds_numbers(pair.x[column]) and _holds_numbers(pair.y[column]))
    ]
    if left_out:
        listed = ", ".join(map(repr, left_out))
        warn(DroppedDataWarning(f"Left out columns that do not hold numbers: {listed}.", argument="columns"))
    if "" in pair.x.columns and "" in pair.y.columns and "" not in left_out:
        warn(DroppedDataWarning("Left out a column without a name; it may number the rows.", argument="columns"))
        left_out.append("")
    x, y = pair.x.drop(left_out), pair.y.drop(left_out)
    if left_out and not x.columns:
        raise InputError("no column holds numbers in both samples")
    for source, other, name, other_name in ((x, y, *pair.names), (y, x, *pair.names[::-1])):
        others = set(other.columns)
        absent = [column for column in source.columns if column not in others]
        if absent:
            raise InputError(
                f"{quoted(name)} has columns that {quoted(other_name)} lacks: {', '.join(map(repr, absent[:8]))}; "
                "name the columns to compare with --columns"
            )
    return Pair(_as_numbers(x), _as_numbers(y), pair.names)


def _holds_numbers(column: pl.Series) -> bool:
    import polars as pl

    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def _as_numbers(table: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return table.cast(pl.Float64)


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
