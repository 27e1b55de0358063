"""Tables: typed columns, the place of each cell, and what is said about those without a number."""

import csv
import io
import re
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twosample.data.files.dialect import Reading
from twosample.data.files.table import read_table
from twosample.errors import DroppedDataWarning, InputError, MissingExtraError

TEXT = b'# top\nu,v,w\n1,nd,a\n\n2,3,\n,4,"c\nd"\n3,?,e\n5,6,f\n'


@pytest.fixture
def table():
    return read_table(("x.csv", TEXT), Reading(comment="#"))


def test_places_count_every_line_of_the_file(table):
    assert table.name == "x.csv"
    with pytest.warns(DroppedDataWarning):
        assert table.check(["u", "v", "w"], "omit") == (
            "'x.csv': left out 2 cells that are not numbers and 2 cells that are missing: line 3, column 'v' ('nd'), "
            "line 5, column 'w' (missing), line 6, column 'u' (missing), line 8, column 'v' ('?').",
        )
    assert table.frame["u"].to_list() == [1, 2, None, 3, 5]
    assert table.frame["v"].to_list() == [None, 3.0, 4.0, None, 6.0]
    assert table.frame["w"].to_list() == ["a", None, "c\nd", "e", "f"]


def test_a_path_is_read_as_its_bytes_are(table, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(TEXT)
    for source in (path, str(path)):
        read = read_table(source, Reading(comment="#"))
        assert read.frame.equals(table.frame)
        assert read.grid.numbers.tolist() == table.grid.numbers.tolist()
        assert {column: cells.to_list() for column, cells in read.texts.items()} == {
            column: cells.to_list() for column, cells in table.texts.items()
        }
        assert read.name == str(path)


def test_check_refuses_the_first_unreadable_cell_of_the_columns_used(table):
    with pytest.raises(InputError) as refused:
        table.check(["u", "v"], "raise")
    text = str(refused.value)
    assert text.startswith("'x.csv', line 3, column 'v': 'nd' is not a number (2 such cells in all, 1 missing); ")
    for remedy in ("fix the cell", "missing='nd'", "nan_policy='omit'", "leave column 'v' out"):
        assert remedy in text
    with pytest.raises(InputError, match=r"'x\.csv', line 6, column 'u': the cell is missing; fill it in"):
        table.check(["u"], "raise")


def test_check_looks_at_the_rows_used_only(table):
    rows = np.array([False, True, False, True, True])
    assert table.check(["u"], "raise", rows) == ()
    with pytest.raises(InputError, match=r"line 8, column 'v': '\?' is not a number; "):
        table.check(["u", "v"], "raise", rows)
    assert table.check(["u", "v"], "raise", [False, True, False, False, True]) == ()


def test_check_says_what_is_left_out(table):
    with pytest.warns(DroppedDataWarning) as caught:
        (note,) = table.check(["v", "u"], "omit")
    assert str(caught[0].message) == note
    assert note == (
        "'x.csv': left out 2 cells that are not numbers and 1 cell that is missing: line 3, column 'v' ('nd'), "
        "line 6, column 'u' (missing), line 8, column 'v' ('?')."
    )


def test_nan_in_a_file_with_types_is_missing():
    file = io.BytesIO()
    pl.DataFrame({"u": [1.0, float("nan"), 2.0]}).write_parquet(file)
    table = read_table(("x.parquet", file.getvalue()))
    with pytest.raises(InputError, match="row 2, column 'u': the cell is missing"):
        table.check(["u"], "raise")


def test_a_long_cell_is_cut_in_messages():
    table = read_table(("x.csv", b"u,v\n1,2\n2,3\n" + b"y" * 5000 + b",4\n"))
    with pytest.raises(InputError) as refused:
        table.check(["u"], "raise")
    assert len(refused.value.message) < 200


def test_labels_are_the_cells_of_the_file():
    table = read_table(("x.csv", b"a,b,c\n1,2024-01-01T10:00,x\n2,2024-01-02T10:00,y\nhigh,NA,z\n"))
    assert table.labels("a").to_list() == ["1", "2", "high"]
    assert table.labels("b").to_list() == ["2024-01-01T10:00", "2024-01-02T10:00", None]
    assert table.labels("c").to_list() == ["x", "y", "z"]


def test_kinds_after_the_first_thousand_rows_count_too():
    rows = ["1,2,x"] * 1500
    rows[1200], rows[1300], rows[1400] = "1.5,2,x", "1,nd,x", "1,2,7"
    table = read_table(("x.csv", "\n".join(["u,v,w", *rows]).encode()))
    assert table.frame.dtypes == [pl.Float64, pl.Float64, pl.String]
    assert table.frame["u"][1200] == 1.5
    with pytest.warns(DroppedDataWarning):
        assert table.check(["v"], "omit") == (
            "'x.csv': left out 1 cell that is not a number: line 1302, column 'v' ('nd').",
        )


@given(
    rows=st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**12), 10**12), st.text(max_size=8)
        ),
        min_size=2,
        max_size=12,
    ),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
@settings(max_examples=60, deadline=None)
def test_what_csv_writes_is_read_back(rows, delimiter, encoding):
    rows = [(u, v, "t" + "".join(c for c in w if c.isprintable())) for u, v, w in rows]
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([("u", "v", "w"), *rows])
    table = read_table(("x.csv", file.getvalue().encode(encoding)), Reading(delimiter=delimiter))
    assert table.frame["u"].cast(pl.Float64).to_list() == [u for u, _, _ in rows]
    assert table.frame["v"].to_list() == [v for _, v, _ in rows]
    assert table.labels("w").to_list() == [w.strip() for _, _, w in rows]


CELLS = (
    *("1", "2.5", "-3", "NA", "", "x", '"', '""', '"a,b"', "1,5", "1,234.5", "é", "\0", "2024-01-01", "12:30", "true"),
    *("-", "inf", "#", "# c", "400", "9" * 25, "%", "\ufeff", "\r"),
)
STARTS = (
    *(b"", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    *(b"\x1f\x8b", b"BZh91AY&SY", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"FEA1", b"\xff\xfe", b"\xfe\xff"),
)
READINGS = st.builds(
    Reading,
    missing=st.sampled_from([(), ("-", "2.5")]),
    thousands=st.sampled_from([None, ",", ".", " ", "'"]),
    encoding=st.sampled_from([None, None, "utf-8", "utf-16", "latin-1"]),
    comment=st.sampled_from([None, "#"]),
    header=st.sampled_from([None, True, False]),
    delimiter=st.sampled_from([None, ";", "|", "tab", "space"]),
)


@given(
    content=st.one_of(
        st.builds(lambda start, rest: start + rest, st.sampled_from(STARTS), st.binary(max_size=100)),
        st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4), max_size=8).flatmap(
            lambda rows: st.builds(
                lambda sign, code: "\n".join(sign.join(row) for row in rows).encode(code, errors="replace"),
                st.sampled_from([",", ";", "\t", " ", "|"]),
                st.sampled_from(["utf-8", "utf-16", "cp1252"]),
            )
        ),
    ),
    how=READINGS,
)
@settings(max_examples=200, deadline=None)
def test_any_content_is_a_table_or_refused(content, how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = read_table(("x.csv", content), how)
        except (InputError, MissingExtraError):
            return
        assert table.frame.height == len(table.grid.numbers) > 0
        assert len(set(table.grid.numbers.tolist())) == table.frame.height
        notes = table.check(table.frame.columns, "omit")
        left_out = sum(int(count) for note in notes for count in re.findall(r"(\d+) cells? that", note.split(": ")[1]))
        assert left_out == sum(column.null_count() + not_finite(column) for column in table.frame.get_columns())


def not_finite(column):
    return int((~column.is_finite()).sum()) if column.dtype.is_float() else 0
