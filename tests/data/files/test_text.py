"""Text: encodings, what stands between cells, lines that are rows and the first line."""

import numpy as np
import polars as pl
import pytest

from twosample.data.files.dialect import Reading
from twosample.data.files.encodings import as_utf8
from twosample.data.files.header import check_header, kind_of_first_line
from twosample.data.files.lines import Lines
from twosample.data.files.text import read_text
from twosample.errors import InputError, ReadingWarning


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_that_show(encoding):
    text = "größe,v\n1,2\n"
    assert as_utf8(text.encode(encoding), "x", None) == text.encode()
    assert as_utf8(text.encode(encoding), "x", encoding) == text.encode()


def test_encodings_that_are_guessed():
    with pytest.warns(ReadingWarning, match=r"'x' is not in UTF-8 \(line 2\) and was read as cp1252"):
        assert as_utf8("u\né€\n".encode("cp1252"), "x", None).decode() == "u\né€\n"
    with pytest.warns(ReadingWarning, match="latin-1"):
        assert as_utf8(b"u\n\x81\n", "x", None).decode() == "u\n\x81\n"


@pytest.mark.parametrize(
    "text, how, frame",
    [
        ("a;b\n1;2\n", {}, {"a": [1], "b": [2]}),
        ("dose; mg,b\n1,2\n3,4\n", {}, {"dose; mg": [1, 3], "b": [2, 4]}),
        ("a|b,c|d\n1|2|3\n4|5|6\n", {}, {"a": [1, 4], "b,c": [2, 5], "d": [3, 6]}),
        ("body weight\n12\n13\n", {}, {"body weight": [12, 13]}),
        ('"a b"  c\n1  2\n', {}, {"a b": [1], "c": [2]}),
        ("a b\n1,5 2,5\n", {}, {"a": [1.5], "b": [2.5]}),
        ("a\n1,5\n2,5\n", {"decimal": ","}, {"a": [1.5, 2.5]}),
        ("a;b\n1,5;2.5\n2,5;3\n", {"decimal": "."}, {"a": ["1,5", "2,5"], "b": [2.5, 3.0]}),
        ("a,b\n1,2\n", {"header": False}, {"0": ["a", "1"], "1": ["b", "2"]}),
        ("1,2\n3,4\n", {"header": True}, {"1": [3], "2": [4]}),
        ("1,2\n3,4\n", {}, {"0": [1, 3], "1": [2, 4]}),
        ("a\n1\n\n3\n\n", {}, {"a": [1, None, 3]}),
        ("u,\n1,\n", {}, {"u": [1]}),
    ],
)
def test_grids(text, how, frame):
    grid = read_text(text.encode(), "x", Reading(**how))
    assert grid.frame.to_dict(as_series=False) == frame


def test_widths_are_counted_outside_quotes():
    content = b'a,b\n"1,2",3\n"x\ny,z",4\n\n5,6,7\n8'
    lines = Lines.of(content, ",", "x")
    assert lines.numbers.tolist() == [1, 2, 3, 6, 7]
    assert lines.widths().tolist() == [2, 2, 2, 3, 1]
    with pytest.raises(InputError, match=r"line 6 has 3 cells, not 2 as line 1 \(2 such lines\)"):
        lines.check_widths(2)


def test_widths_agree_with_csv():
    rng = np.random.default_rng(2)
    for _ in range(50):
        rows = [["1" * int(rng.integers(0, 3)) for _ in range(rng.integers(2, 5))] for _ in range(rng.integers(1, 8))]
        content = "\n".join(",".join(row) for row in rows).encode()
        assert Lines.of(content, ",", "x").widths().tolist() == [len(row) for row in rows]


def test_a_cell_with_a_quote_within():
    with pytest.raises(InputError, match=r"line 3 holds a quote .* within a cell"):
        read_text(b'u,v\n"1",2\n"3"4,5\n', "x", Reading())


def test_kinds_of_first_lines():
    assert kind_of_first_line(["1,5", "2"], ",") == "numbers"
    assert kind_of_first_line(["1,5", "2"], ".") == "both"
    assert kind_of_first_line(["NA", ""], ".") == "names"
    assert kind_of_first_line(["nan", "x"], ".") == "both"


def asked(first, below):
    frame = pl.DataFrame(np.vstack([first, below]), orient="row")
    cells = [str(value) for value in first]
    try:
        check_header("numbers", cells, frame, "x", "line 1")
    except InputError as error:
        assert error.argument == "header"
        return True
    return False


def test_a_first_line_of_numbers_is_asked_about_if_it_looks_like_names():
    rng = np.random.default_rng(3)
    below = rng.normal(size=(20, 6))
    assert asked(np.arange(400.0, 406.0), below)
    assert asked(np.arange(405.0, 399.0, -1), below)
    assert asked(400.25 + np.arange(6), below)
    assert asked(np.arange(6.0), below)
    assert asked(0.5 + np.arange(6), np.round(9 * below))
    assert asked([0.0, 1.0], below[:, :2])
    assert not asked([400.0, 500.0], below[:, :2])
    assert not asked([400.0], below[:, :1])
    assert not asked(np.arange(400.0, 406.0), below[:2])
    assert not asked([400.0, 402.0, 401.0, 403.0, 404.0, 405.0], below)


def test_first_rows_of_plain_data_are_rarely_asked_about():
    rng = np.random.default_rng(4)
    laws = (
        lambda: rng.normal(size=(10, 3)),
        lambda: rng.normal(size=(10, 3)).round(2),
        lambda: rng.exponential(size=(10, 3)),
        lambda: rng.integers(0, 1000, (10, 3)).astype(float),
        lambda: np.sort(rng.normal(size=(10, 3)), axis=1),
        lambda: np.cumsum(rng.exponential(size=(10, 3)), axis=0) + np.array([0, 20, 40]),
    )
    for law in laws:
        tables = [law() for _ in range(500)]
        assert sum(asked(table[0], table[1:]) for table in tables) <= 5  # at most one in a hundred


@pytest.mark.parametrize(
    "options, said",
    [
        ({"decimal": ";"}, "decimal: must be"),
        ({"thousands": "ab"}, "thousands: must be one sign"),
        ({"thousands": "1"}, "thousands: must be one sign"),
        ({"thousands": ".", "decimal": "."}, "thousands: cannot be '.'"),
        ({"encoding": "base64"}, "there is no encoding 'base64'"),
        ({"comment": ""}, "comment: must be"),
        ({"delimiter": ""}, "delimiter: must be one sign"),
        ({"delimiter": "§"}, "delimiter: must be one sign"),
        ({"delimiter": '"'}, "delimiter: must be one sign"),
    ],
)
def test_bad_options(options, said):
    with pytest.raises(InputError, match=said):
        Reading(**options)
