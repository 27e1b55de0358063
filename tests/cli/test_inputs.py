"""Tables: every kind of file, files that are split, and files that are refused."""

import dataclasses
import os
from pathlib import Path

import polars as pl
import pytest

import twosample as ts
from twosample.errors import DroppedDataWarning

NUMBERS = ["u", "v"]


def named(result, names):
    """The summary of a result whose samples have names."""
    return dataclasses.replace(result, names=names).summary()


# ---- files


@pytest.mark.parametrize(
    "x, y",
    [("a.csv", "b.csv"), ("a.tsv", "b.parquet"), ("a.txt", "b.csv"), ("a-plain.csv", "b-plain.csv")],
)
def test_kinds_of_files_give_the_same_answer(x, y, run, files, expected, agrees):
    status, out, err = run("test", x, y, "--quiet")
    assert status == 0
    agrees(out, expected)
    assert ("'label'" in err) == ("plain" not in x)


def test_summary_names_the_samples_and_the_columns(run, files, first, second):
    status, out, _ = run("test", "a.csv", "b.csv")
    assert status == 0
    with pytest.warns(DroppedDataWarning):
        assert out == f"x is 'a.csv', y is 'b.csv'.\n{named(ts.test(first, second), ('a.csv', 'b.csv'))}\n"
    assert "  columns used         u, v\n" in out
    assert "  columns left out     label (one value in each sample, as a label has)\n" in out


def test_blanks_quotes_and_a_byte_order_mark(run, files, expected, first, agrees):
    rows = "\n".join(f'"{u!r}",  {v!r} ' for u, v in first.select(NUMBERS).rows())
    Path("a.csv").write_text(f"\ufeff\r\nu, v\n{rows}\n", encoding="utf-8")
    status, out, _ = run("test", "a.csv", "b.csv", "-q", "--columns", "u,v")
    assert status == 0
    agrees(out, expected)


def test_decimal_commas(run, files, expected, agrees):
    for name in ("a", "b"):
        text = Path(f"{name}.txt").read_text()
        Path(f"{name}.txt").write_text(text.replace(".", ","))
    status, out, _ = run("test", "a.txt", "b.txt", "-q")
    assert status == 0
    agrees(out, expected)


def test_order_of_columns_does_not_matter(run, files, expected, second, agrees):
    second.select("v", "label", "u").write_csv("b.csv")
    agrees(run("test", "a.csv", "b.csv", "-q")[1], expected)


def test_row_numbers_are_left_out(run, files, expected, first, second, agrees):
    for name, sample in (("a", first), ("b", second)):
        sample.select(NUMBERS).with_row_index("").write_csv(f"{name}.csv")
    _, out, err = run("test", "a.csv", "b.csv", "-q")
    agrees(out, expected)
    assert "column without a name" in err


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"u,v\n", "has no rows"),
        (b"u,v\n1,2\n1,2,3\n", "line 3 has 3 cells, not 2"),
        (b"u,u\n1,2\n", "two columns named 'u'"),
        (b"u\0v", "is not text"),
        (b"PAR1 and no more", "cannot be read as a table"),
        (
            b"u,w\n1,2\n3,4\n",
            "y has no column 'w'; name those to compare, such as --columns u (x is 'bad.csv', y is 'b.csv')",
        ),
        (
            b"u,v\nred,blue\nred,green\n",
            "no column holds numbers in both: 'u' (text in x and numbers in y), 'v' (text in x and numbers in y)",
        ),
    ],
)
def test_unusable_content_is_refused(content, message, refused, files, second):
    second.select(NUMBERS).write_csv("b.csv")
    Path("bad.csv").write_bytes(content)
    line = refused("test", "bad.csv", "b.csv")
    assert message in line


def test_damaged_parquet_is_refused(refused, files):
    Path("bad.parquet").write_bytes(b"nonsense")
    assert "'bad.parquet' cannot be read" in refused("test", "bad.parquet", "b.csv")


def test_missing_file_folder_and_wrong_number_of_files(refused, files):
    assert refused("test", "none.csv", "b.csv") == "there is no file 'none.csv'"
    Path("empty").mkdir()
    assert "'empty' is a folder without Parquet files" in refused("test", "empty", "b.csv")
    assert "--by COLUMN" in refused("test", "a.csv")
    assert "not 0" in refused("test")
    assert "not 3" in refused("test", "a.csv", "a.csv", "b.csv")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_unreadable_file_is_refused(refused, files):
    Path("a.csv").chmod(0)
    assert "cannot be read" in refused("test", "a.csv", "b.csv")


# ---- one file and a column


def test_by_splits_a_file(run, files, expected, agrees):
    status, out, err = run("test", "all.csv", "--by", "label", "-q")
    assert (status, err) == (0, "")
    agrees(out, expected)


def test_groups_choose_two_and_their_order(run, files, expected, first, second, table, agrees):
    pl.concat([table(9, 5.0, "r, s", 3), second, first]).write_csv("all.csv")
    agrees(run("test", "all.csv", "--by", "label", "--groups", "p,q", "-q")[1], expected)
    assert run("test", "all.csv", "--by", "label", "--groups", '"r, s",p')[1].startswith("x is 'r, s', y is 'p'.\n")


def test_by_a_column_of_numbers(run, files, first, second):
    pl.concat([first, second]).select("u", arm=pl.Series([1] * 40 + [2] * 30)).write_csv("all.csv")
    status, out, _ = run("test", "all.csv", "--by", "arm", "--groups", "2,1")
    assert status == 0
    assert out.startswith("x is '2', y is '1'.\n")
    assert "1 column" in out


def test_by_leaves_out_rows_without_a_label(run, files, expected, first, second, table, agrees):
    pl.concat([first, table(5, 9.0, None, 4), second], how="vertical_relaxed").write_csv("all.csv")
    _, out, err = run("test", "all.csv", "--by", "label", "-q")
    agrees(out, expected)
    assert "5 rows without a value" in err


def test_by_with_other_than_two_values_lists_them(refused, files, first, second, table):
    pl.concat([first, second, table(3, 0.0, "r", 3)]).write_csv("all.csv")
    for command in ("each", "gibbs", "compare"):
        line = refused(command, "all.csv", "--by", "label")
        assert "3 different values" in line
        assert "'p' (40 rows), 'q' (30 rows), 'r' (3 rows)" in line
        assert "--groups p,q" in line
    first.write_csv("all.csv")
    assert "holds 1 value, not 2: 'p'" in refused("test", "all.csv", "--by", "label")


def test_by_refusals(refused, files):
    assert "no column 'arm'; it has 'u', 'v', 'label'" in refused("test", "all.csv", "--by", "arm")
    assert "no value 'z'" in refused("test", "all.csv", "--by", "label", "--groups", "p,z")
    assert "two different values" in refused("test", "all.csv", "--by", "label", "--groups", "p,p")
    assert "two different values" in refused("test", "all.csv", "--by", "label", "--groups", "p")
    assert "needs one file" in refused("test", "a.csv", "b.csv", "--by", "label")
    assert "needs --by" in refused("test", "a.csv", "b.csv", "--groups", "p,q")
