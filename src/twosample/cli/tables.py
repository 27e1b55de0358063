"""Files as the two tables of numbers to compare: two files, or one file split by a column."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from twosample.cli.messages import quoted
from twosample.errors import DroppedDataWarning, InputError, warn
from twosample.files.reading import Reading

if TYPE_CHECKING:
    import polars as pl

    from twosample.files.table import FileTable

__all__ = ["Pair", "read_pair"]

_SHOWN_VALUES = 8


class Pair(NamedTuple):
    """Two tables, what to call them, and the files they are from with the rows that are in either (None for all)."""

    x: pl.DataFrame
    y: pl.DataFrame
    names: tuple[str, str]
    sources: tuple[tuple[FileTable, Any], ...]


def read_pair(
    files: tuple[Path, ...],
    by: str | None,
    groups: tuple[str, ...] | None,
    columns: tuple[str, ...] | None,
    reading: Reading | None = None,
    nan_policy: Literal["raise", "omit"] = "raise",
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
    reading
        How the files are to be read.
    nan_policy
        Whether cells of these columns without a number are refused, or left out with a note.

    Returns
    -------
    Pair
        The tables, as float64, with the names of the files or groups.
    """
    reading = reading or Reading()
    tables = _split(files, by, groups, reading) if by is not None else _two_files(files, groups, reading)
    pair = _numeric(tables, columns)
    for source, rows in pair.sources:
        source.check(pair.x.columns, nan_policy, rows)
    return pair


def _two_files(files: tuple[Path, ...], groups: tuple[str, ...] | None, reading: Reading) -> Pair:
    from twosample.files.table import read_table

    if groups is not None:
        raise InputError("--groups: needs --by COLUMN, whose values it names")
    if len(files) == 1:
        raise InputError("pass two files, or one file and --by COLUMN")
    if len(files) != 2:
        raise InputError(f"pass two files, not {len(files)}; or one file and --by COLUMN")
    if list(map(str, files)) == ["-", "-"]:
        raise InputError("standard input can be only one of the two files")
    x, y = (read_table(path, reading) for path in files)
    first, second = (str(path) if files[0].name == files[1].name else path.name for path in files)
    return Pair(x.frame, y.frame, (first, second), ((x, None), (y, None)))


def _split(files: tuple[Path, ...], by: str, groups: tuple[str, ...] | None, reading: Reading) -> Pair:
    """One table into two by the values of a column; in the order of `groups`, else of the first row of each."""
    from twosample.files.table import read_table

    if len(files) != 1:
        raise InputError(f"--by: needs one file, not {len(files)}")
    if groups is not None and (len(groups) != 2 or groups[0] == groups[1]):
        raise InputError(f"--groups: needs two different values, such as U,V, not {', '.join(map(repr, groups))}")
    source = read_table(files[0], reading)
    table = source.frame
    _check_columns(table, (by,), files[0])
    if table[by].dtype.is_nested():
        raise InputError(f"--by: column {by!r} holds {table[by].dtype}, not single values")
    labels = source.labels(by)
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
    used = labels.is_in(groups).fill_null(False).to_numpy()
    return Pair(x, y, (groups[0], groups[1]), ((source, used),))


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
        return pair._replace(x=_as_numbers(pair.x.select(columns)), y=_as_numbers(pair.y.select(columns)))

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
    x, y = (pair.x.drop(left_out), pair.y.drop(left_out)) if left_out else (pair.x, pair.y)
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
    return pair._replace(x=_as_numbers(x), y=_as_numbers(y))


def _holds_numbers(column: pl.Series) -> bool:
    import polars as pl

    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def _as_numbers(table: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return table if set(table.dtypes) == {pl.Float64} else table.cast(pl.Float64)
