"""Files as strangers have them: each gives the answer of the clean file, or an error that names place and remedy."""

import bz2
import gzip
import io
import lzma
import os
import shlex
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xlsxwriter
import zstandard

import twosample as ts

NUMBERS = ["u", "v"]
BAD_ROW = 6  # of the first sample; line 8 of the file with a header


@pytest.fixture
def rows(first, second, files):
    """The numbers of the first sample as texts; the second is in b.csv, numbers only."""
    second.select(NUMBERS).write_csv("b.csv")
    return [(repr(u), repr(v)) for u, v in first.select(NUMBERS).rows()]


@pytest.fixture(scope="module")
def without_a_row(first, second):
    """What the test says without the row of the bad cell."""
    kept = first.select(NUMBERS).filter(pl.arange(0, first.height) != BAD_ROW)
    return ts.test(kept, second.select(NUMBERS))


def lines(rows, sep=",", header=("u", "v"), end="\n"):
    return "".join(sep.join(row) + end for row in ([header] if header else []) + list(rows))


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_csv", ".csv").replace("_parquet", ".parquet"), content)
    return file.getvalue()


def frame_of(rows):
    return pl.DataFrame({name: [float(row[at]) for row in rows] for at, name in enumerate(NUMBERS)})


def written(write, **options):
    file = io.BytesIO()
    write(file, **options)
    return file.getvalue()


def workbook(rows, header=NUMBERS, top=0, sheets=("data",), change=()):
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    pages = [book.add_worksheet(name) for name in sheets]
    for at, row in enumerate([header, *([float(cell) for cell in row] for row in rows)] if rows else []):
        pages[0].write_row(top + at, 0, row)
    for row, column, value in change:
        pages[0].write(row, column, value)
    book.close()
    return file.getvalue()


# ---- the right answer: name of the file, its content from the rows, options

RIGHT = {
    "utf-8": ("x.csv", lambda rows: lines(rows).encode(), []),
    "utf-8 with a mark": ("x.csv", lambda rows: b"\xef\xbb\xbf" + lines(rows).encode(), []),
    "utf-16": ("x.csv", lambda rows: lines(rows).encode("utf-16"), []),
    "utf-16-le without a mark": ("x.csv", lambda rows: lines(rows).encode("utf-16-le"), []),
    "utf-16-be without a mark": ("x.csv", lambda rows: lines(rows).encode("utf-16-be"), []),
    "utf-16-be with a mark": ("x.csv", lambda rows: ("\ufeff" + lines(rows)).encode("utf-16-be"), []),
    "utf-32": ("x.csv", lambda rows: lines(rows).encode("utf-32"), []),
    "latin-1 told": (
        "x.csv",
        lambda rows: lines([(*r, "é") for r in rows], header=("u", "v", "où")).encode("latin-1"),
        ["--encoding", "latin-1", "--columns", "u,v"],
    ),
    "windows lines": ("x.csv", lambda rows: lines(rows, end="\r\n").encode(), []),
    "old Mac lines": ("x.csv", lambda rows: lines(rows, end="\r").encode(), []),
    "no last line end": ("x.csv", lambda rows: lines(rows).rstrip().encode(), []),
    "tabs": ("x.tsv", lambda rows: lines(rows, "\t").encode(), []),
    "semicolons": ("x.csv", lambda rows: lines(rows, ";").encode(), []),
    "bars": ("x.txt", lambda rows: lines(rows, "|").encode(), []),
    "blanks": ("x.txt", lambda rows: lines(rows, " ").encode(), []),
    "runs of blanks": ("x.txt", lambda rows: lines([("  " + u, v + " ") for u, v in rows], " \t  ").encode(), []),
    "blanks without names": ("x.txt", lambda rows: lines(rows, "   ", header=None).encode(), ["--header-y"]),
    "tabs told": ("x.csv", lambda rows: lines(rows, "\t").encode(), ["--delimiter", "tab"]),
    "tabs told as an escape": ("x.csv", lambda rows: lines(rows, "\t").encode(), ["--delimiter", "\\t"]),
    "blanks told": ("x.csv", lambda rows: lines(rows, "  ").encode(), ["--delimiter", "space"]),
    "a strange sign told": ("x.csv", lambda rows: lines(rows, ":").encode(), ["--delimiter", ":"]),
    "commas in a name": (
        "x.csv",
        lambda rows: lines([(*r, "a;b, c|d") for r in rows], "\t", ("u", "v", "w")).encode(),
        ["--columns", "u,v"],
    ),
    "decimal commas": ("x.csv", lambda rows: lines(rows, ";").replace(".", ",").encode(), []),
    "decimal commas told": ("x.csv", lambda rows: lines(rows, ";").replace(".", ",").encode(), ["--decimal-y", ","]),
    "decimal commas and blanks": ("x.csv", lambda rows: lines(rows, "  ").replace(".", ",").encode(), []),
    "decimal commas in quotes": (
        "x.csv",
        lambda rows: lines([(f'"{u}"'.replace(".", ","), f'"{v}"'.replace(".", ",")) for u, v in rows]).encode(),
        ["--decimal-y", ","],
    ),
    "everything in quotes": ("x.csv", lambda rows: lines([(f'"{u}"', f'" {v} "') for u, v in rows]).encode(), []),
    "blank lines": ("x.csv", lambda rows: ("\n\n" + lines(rows, end="\n\n") + "  \n\n").encode(), []),
    "comments": (
        "x.csv",
        lambda rows: ("# by hand, it's 5\" long\n" + lines(rows, end='\n# here, there, "everywhere\n')).encode(),
        ["--comment", "#"],
    ),
    "comments with %": ("x.csv", lambda rows: ("%made\n" + lines(rows)).encode(), ["--comment", "%"]),
    "lines within a cell": (
        "x.csv",
        lambda rows: lines([(*r, '"a\n\nb"') for r in rows], header=(*NUMBERS, "w")).encode(),
        ["--columns", "u,v"],
    ),
    "trailing commas": (
        "x.csv",
        lambda rows: lines([(*r, "", "") for r in rows], header=("u", "v", "", "")).encode(),
        [],
    ),
    "no names": ("x.csv", lambda rows: lines(rows, header=None).encode(), ["--header-y"]),
    "no names, told": ("x.csv", lambda rows: lines(rows, header=None).encode(), ["--no-header", "--header-y"]),
    "gzip": ("x.csv.gz", lambda rows: gzip.compress(lines(rows).encode()), []),
    "gzip by another name": ("x.csv", lambda rows: gzip.compress(lines(rows).encode()), []),
    "gzip of utf-16": ("x.csv.gz", lambda rows: gzip.compress(lines(rows, "\t").encode("utf-16")), []),
    "zstd": ("x.csv.zst", lambda rows: zstandard.ZstdCompressor().compress(lines(rows).encode()), []),
    "zstd in frames": (
        "x.csv.zst",
        lambda rows: b"".join(
            zstandard.ZstdCompressor().compress(line.encode()) for line in lines(rows).splitlines(keepends=True)
        ),
        [],
    ),
    "zip": ("x.zip", lambda rows: zipped(x_csv=lines(rows)), []),
    "zip from a Mac": ("x.zip", lambda rows: mac_zipped(rows), []),
    "bzip2": ("x.csv.bz2", lambda rows: bz2.compress(lines(rows).encode()), []),
    "xz": ("x.csv.xz", lambda rows: lzma.compress(lines(rows).encode()), []),
    "parquet": ("x.parquet", lambda rows: written(frame_of(rows).write_parquet), []),
    "parquet by another name": ("x.csv", lambda rows: written(frame_of(rows).write_parquet), []),
    "parquet in zip": ("x.zip", lambda rows: zipped(x_parquet=written(frame_of(rows).write_parquet)), []),
    "arrow": ("x.arrow", lambda rows: written(frame_of(rows).write_ipc), []),
    "feather": ("x.feather", lambda rows: written(frame_of(rows).write_ipc, compression="zstd"), []),
    "arrow stream": ("x.arrows", lambda rows: written(frame_of(rows).write_ipc_stream), []),
    "arrow by another name": ("x.csv", lambda rows: written(frame_of(rows).write_ipc), []),
    "excel": ("x.xlsx", lambda rows: workbook(rows), []),
    "excel with rows above": ("x.xlsx", lambda rows: workbook(rows, top=3), []),
    "excel by another name": ("x.csv", lambda rows: workbook(rows), []),
}


def mac_zipped(rows):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data/", "")
        archive.writestr("data/x.csv", lines(rows))
        archive.writestr("__MACOSX/data/._x.csv", b"\0\1")
    return file.getvalue()


@pytest.mark.parametrize("case", RIGHT)
def test_the_answer_of_the_clean_file(case, run, rows, expected, second, agrees):
    name, content, args = RIGHT[case]
    Path(name).write_bytes(content(rows))
    y = "b.csv"
    if "--header-y" in args or "--decimal-y" in args:  # options are for both files: y likewise
        y_rows = [(repr(u), repr(v)) for u, v in second.select(NUMBERS).rows()]
        Path("y.csv").write_bytes(content(y_rows))
        y, args = "y.csv", [arg.replace("--decimal-y", "--decimal") for arg in args if arg != "--header-y"]
    elif "--delimiter" in args:
        y = "y.parquet"
        second.select(NUMBERS).write_parquet(y)
    status, out, err = run("test", name, y, "-q", *args)
    assert status == 0, err
    agrees(out, expected)
    assert "'u'" not in err
    assert "'v'" not in err


def test_latin_1_is_guessed_and_said(run, rows, expected, agrees):
    content = lines([(*row, "é") for row in rows], header=("u", "v", "où")).encode("latin-1")
    Path("x.csv").write_bytes(content)
    status, out, err = run("test", "x.csv", "b.csv", "-q", "--columns", "u,v")
    assert status == 0
    agrees(out, expected)
    assert err.startswith("note: 'x.csv' is not in UTF-8 (line 1) and was read as cp1252; ")
    assert "--encoding" in err


def test_the_first_of_several_sheets_is_read_and_said(run, rows, expected, agrees):
    Path("x.xlsx").write_bytes(workbook(rows, sheets=("data", "plots", "old")))
    status, out, err = run("test", "x.xlsx", "b.csv", "-q")
    assert status == 0
    agrees(out, expected)
    assert "3 sheets; the first, 'data', was read, and not 'plots', 'old'" in err


@pytest.mark.parametrize("source", ["parts", "parts/*.parquet", "parts/part-?.parquet"])
def test_parts_of_parquet_are_one_sample(source, run, rows, expected, agrees):
    Path("parts/_old").mkdir(parents=True)
    frame = frame_of(rows)
    for at, start in enumerate(range(0, 40, 15)):
        frame[start : start + 15].write_parquet(f"parts/part-{at}.parquet")
    frame.write_parquet("parts/_old/part.parquet")
    Path("parts/_SUCCESS").write_text("")
    status, out, err = run("test", source, "b.csv", "-q")
    assert (status, err) == (0, "")
    agrees(out, expected)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("content", ["text", "parquet"])
def test_a_named_pipe(content, run, rows, expected, agrees):
    os.mkfifo("pipe")
    data = lines(rows).encode() if content == "text" else written(frame_of(rows).write_parquet)
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(data))
    writer.start()
    status, out, err = run("test", "pipe", "b.csv", "-q")
    writer.join()
    assert (status, err) == (0, "")
    agrees(out, expected)


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.skipif(os.name == "nt", reason="needs /dev/stdin")
def test_standard_input(name, rows, expected, agrees):
    done = subprocess.run(
        [sys.executable, "-m", "twosample", "test", name, "b.csv", "-q"],
        input=lines(rows).encode(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    agrees(done.stdout.decode(), expected)


def test_standard_input_once_only(refused, files):
    assert "only one of the two" in refused("test", "-", "-")


# ---- one bad cell

TOKENS = ["#N/A", "-", ".", "?", "<0.1", "nd", "12 g", "#DIV/0!", "#", "missing", "1.2.3", "--", "5%", "n,d"]


def with_cell(rows, cell, at=1):
    rows = [list(row) for row in rows]
    rows[BAD_ROW][at] = f'"{cell}"' if "," in cell else cell
    return rows


@pytest.mark.parametrize("column, token", list(zip(NUMBERS * (len(TOKENS) // 2), TOKENS, strict=True)))
def test_a_bad_cell_is_named_and_can_be_left_out(token, column, run, refused, rows, without_a_row, expected, agrees):
    Path("x.csv").write_text(lines(with_cell(rows, token, NUMBERS.index(column))))
    line = refused("test", "x.csv", "b.csv")
    assert line.startswith(f"'x.csv', line 8, column '{column}': {token!r} is not a number; fix the cell; ")
    assert "--nan-policy omit" in line
    assert line.endswith(f"leave column '{column}' out with --drop {column}")
    words = shlex.split(line)
    advised = words[words.index("--missing") + 1]

    status, out, err = run("test", "x.csv", "b.csv", "-q", "--nan-policy", "omit")
    assert status == 0
    agrees(out, without_a_row)
    note = f"note: 'x.csv': left out 1 cell that is not a number: line 8, column '{column}' ({token!r})."
    assert err.splitlines()[0] == note

    line = refused("test", "x.csv", "b.csv", "--missing", advised)
    assert line.startswith(f"'x.csv', line 8, column '{column}': the cell is missing; ")
    agrees(run("test", "x.csv", "b.csv", "-q", "--missing", advised, "--nan-policy", "omit")[1], without_a_row)


def test_a_bad_cell_in_a_column_that_is_not_used_does_not_matter(run, rows, second, first):
    Path("x.csv").write_text(lines(with_cell(rows, "nd")))
    status, out, err = run("test", "x.csv", "b.csv", "-q", "--columns", "u")
    assert (status, err) == (0, "")
    assert float(out.split()[1]) == pytest.approx(ts.test(first.select("u"), second.select("u")).log_bf10, rel=1e-5)


def test_bad_and_missing_cells_are_counted_and_the_first_ones_listed(run, refused, rows):
    changed = [list(row) for row in rows]
    for at in range(0, 14, 2):
        changed[at][0] = "nd"
    changed[3][1] = ""
    Path("x.csv").write_text(lines(changed))
    line = refused("test", "x.csv", "b.csv")
    assert "'x.csv', line 2, column 'u': 'nd' is not a number (7 such cells in all, 1 missing)" in line
    _, _, err = run("test", "x.csv", "b.csv", "-q", "--nan-policy", "omit")
    note = err.splitlines()[0]
    assert "7 cells that are not numbers and 1 cell that is missing" in note
    assert "line 2, column 'u' ('nd'), line 4, column 'u' ('nd'), line 5, column 'v' (missing)" in note
    assert note.endswith(", ....")


def test_lines_are_those_of_the_file(refused, rows):
    changed = [[*row, "w"] for row in rows]
    changed[2][2] = '"two\nlines"'
    changed[BAD_ROW][0] = "nd"
    text = "# made by hand\n\n" + lines(changed, header=("u", "v", "w"))
    Path("x.csv").write_text(text)
    number = next(number for number, line in enumerate(text.split("\n"), 1) if line.startswith("nd,"))
    line = refused("test", "x.csv", "b.csv", "--columns", "u,v", "--comment", "#")
    assert f"'x.csv', line {number}, column 'u': 'nd'" in line


@pytest.mark.parametrize("command", ["test", "each", "compare", "gibbs"])
def test_every_command_names_the_cell_and_takes_the_options(command, refused, rows):
    Path("x.csv").write_text(lines(with_cell(rows, "nd")))
    assert "'x.csv', line 8, column 'v': 'nd'" in refused(command, "x.csv", "b.csv")
    assert "line 8, column 'v': the cell is missing" in refused(command, "x.csv", "b.csv", "--missing", "nd")


def test_missing_tokens_in_lists_and_repeated(run, rows, first, second, agrees):
    changed = [list(row) for row in rows]
    changed[0][0], changed[1][1], changed[2][0], changed[3][0] = "nd", "-", '"a,b"', "-999"
    Path("x.csv").write_text(lines(changed))
    args = ["--missing", "nd,-", "--missing", '"a,b"', "--missing", "-999", "--nan-policy", "omit"]
    agrees(run("test", "x.csv", "b.csv", "-q", *args)[1], ts.test(first.select(NUMBERS)[4:], second.select(NUMBERS)))


def test_a_number_for_missing_values_in_parquet(run, rows, without_a_row, agrees):
    frame = frame_of(rows)
    frame[BAD_ROW, "u"] = -999.0
    frame.write_parquet("x.parquet")
    args = ["--missing", "-999", "--nan-policy", "omit"]
    agrees(run("test", "x.parquet", "b.csv", "-q", *args)[1], without_a_row)


def test_thousands(run, refused, rows, first, second, agrees):
    big = [(f'"{1e6 * float(u):,.2f}"', v) for u, v in rows]
    Path("x.csv").write_text(lines(big))
    Path("y.csv").write_text(lines([(f'"{1e6 * u:,.2f}"', repr(v)) for u, v in second.select(NUMBERS).rows()]))
    line = refused("test", "x.csv", "y.csv")
    assert "line 2, column 'u'" in line
    assert "--thousands ," in line
    x, y = (sample.select((1e6 * pl.col("u")).round(2), "v") for sample in (first, second))
    agrees(run("test", "x.csv", "y.csv", "-q", "--thousands", ",")[1], ts.test(x, y))
    for name in ("x.csv", "y.csv"):
        text = Path(name).read_text().replace('"', "").replace("\n", "#")
        cells = [row.rsplit(",", 1) for row in text.split("#") if row]
        swapped = [[cell.translate(str.maketrans(",.", ".,")) for cell in row] for row in cells]
        Path(name).write_text("".join(";".join(row) + "\n" for row in swapped))
    agrees(run("test", "x.csv", "y.csv", "-q", "--thousands", ".")[1], ts.test(x, y))


def test_one_cell_with_thousands(refused, rows):
    Path("x.csv").write_text(lines(with_cell(rows, "1,234.5")))
    line = refused("test", "x.csv", "b.csv")
    assert line.startswith(
        "'x.csv', line 8, column 'v': '1,234.5' is not a number; fix the cell; or pass --thousands ,"
    )


def test_one_cell_with_a_decimal_comma(refused, rows):
    Path("x.csv").write_text(lines(with_cell(rows, "1,5")))
    assert "--decimal ," in refused("test", "x.csv", "b.csv")


def test_bad_cells_in_a_workbook(run, refused, rows, without_a_row, agrees):
    Path("x.xlsx").write_bytes(workbook(rows, top=2, change=[(3 + BAD_ROW, 1, "nd")]))
    line = refused("test", "x.xlsx", "b.csv")
    assert line.startswith(f"'x.xlsx', row {4 + BAD_ROW}, column 'v': 'nd' is not a number; ")
    args = ["--missing", "nd", "--nan-policy", "omit"]
    agrees(run("test", "x.xlsx", "b.csv", "-q", *args)[1], without_a_row)


def test_missing_cells_in_parquet_and_its_parts(refused, rows):
    frame = frame_of(rows)
    frame[BAD_ROW, "v"] = None
    frame.write_parquet("x.parquet")
    assert "'x.parquet', row 7, column 'v': the cell is missing" in refused("test", "x.parquet", "b.csv")
    Path("parts").mkdir()
    frame[:5].write_parquet("parts/1.parquet")
    frame[5:].write_parquet("parts/2.parquet")
    assert "'parts', row 2 of 'parts/2.parquet', column 'v'" in refused("test", "parts", "b.csv")


def test_only_the_rows_of_the_groups_are_looked_at(run, refused, files, first, second, expected, table, agrees):
    other = table(5, 0.0, "r", 3).with_columns(pl.lit("nd").alias("u"))
    text = pl.concat([sample.cast(pl.String) for sample in (first, other, second)])
    text.write_csv("x.csv")
    status, out, _ = run("test", "x.csv", "--by", "label", "--groups", "p,q", "-q")
    assert status == 0
    agrees(out, expected)
    assert "line 42, column 'u': 'nd'" in refused("test", "x.csv", "--by", "label", "--groups", "p,r")


def test_labels_that_are_mostly_numbers(run, files, first, second, expected, agrees):
    labelled = pl.concat([first, second, first]).with_columns(label=pl.Series(["1"] * 40 + ["none"] * 30 + ["2"] * 40))
    labelled.write_csv("x.csv")
    status, out, _ = run("test", "x.csv", "--by", "label", "--groups", "1,none", "-q")
    assert status == 0
    agrees(out, expected)


# ---- refused: name of the file, its content from the rows, options, what the line says

WRONG = {
    "empty": ("x.csv", lambda rows: b"", [], ["'x.csv' is empty"]),
    "blank": ("x.csv", lambda rows: b" \n\t\n", [], ["'x.csv' is empty"]),
    "names only": ("x.csv", lambda rows: b"u,v\n", [], ["has no rows, only line 1"]),
    "one row": ("x.csv", lambda rows: lines(rows[:1]).encode(), [], ["x has 1 row", "pass at least 2"]),
    "comments only": ("x.csv", lambda rows: b"# a\n# b\n", ["--comment", "#"], ["no lines but comments"]),
    "NUL bytes": (
        "x.csv",
        lambda rows: lines(rows).replace("\n", "\n\0", 3).encode(),
        [],
        ["is not text: line 2", "NUL"],
    ),
    "a program": ("x.csv", lambda rows: b"\x7fELF\2\1\1\0\0\0\3\0>\0", [], ["is not text"]),
    "long row": (
        "x.csv",
        lambda rows: lines([*rows[:3], ("1", "2", "3"), *rows]).encode(),
        [],
        ["line 5 has 3 cells, not 2 as line 1", "fix the line", "--delimiter"],
    ),
    "short row": (
        "x.csv",
        lambda rows: lines([*rows[:3], ("1",), *rows]).encode(),
        [],
        ["line 5 has 1 cell, not 2 as line 1", "fix the line"],
    ),
    "a long row and a short one": (
        "x.csv",
        lambda rows: lines([*rows[:3], ("1",), ("1", "2", "3")]).encode(),
        [],
        ["line 5 has 1 cell, not 2 as line 1 (2 such lines)"],
    ),
    "ragged blanks": (
        "x.txt",
        lambda rows: lines([*rows[:3], ("1", "2", "3"), *rows], " ").encode(),
        [],
        ["line 5 has 3 cells, not 2"],
    ),
    "row names without a name": (
        "x.txt",
        lambda rows: lines([("a", *row) for row in rows], " ").encode(),
        [],
        ["every row has 3 cells, and line 1 has 2 names", "give every column a name"],
    ),
    "decimal commas in one column": (
        "x.csv",
        lambda rows: b"u\n1,5\n2,5\n3,5\n",
        [],
        ["line 2 has 2 cells", "--decimal ,"],
    ),
    "open quote": (
        "x.csv",
        lambda rows: lines([*rows[:3], ("1", '"2'), *rows]).encode(),
        [],
        ["line 5", "quote", "close it"],
    ),
    "two inches": (
        "x.csv",
        lambda rows: lines([*rows[:3], ("1", '5"'), *rows[3:], ("2", '3"')]).encode(),
        [],
        ["line 5", "quote", "remove it"],
    ),
    "comment on top": (
        "x.csv",
        lambda rows: ("# made today\n" + lines(rows)).encode(),
        [],
        ["line 1 looks like a comment", "--comment '#'"],
    ),
    "comment within": (
        "x.csv",
        lambda rows: lines([*rows[:3], ("# from here", " by night"), *rows]).encode(),
        [],
        ["line 5 looks like a comment", "--comment '#'"],
    ),
    "comment without cells": (
        "x.csv",
        lambda rows: lines([*rows[:3], ("#night",), *rows]).encode(),
        [],
        ["line 5 looks like a comment", "--comment '#'"],
    ),
    "comment with an open quote": (
        "x.csv",
        lambda rows: ('# 5" long\n' + lines(rows)).encode(),
        [],
        ["line 1 looks like a comment", "--comment '#'"],
    ),
    "comments with %": (
        "x.csv",
        lambda rows: ("u,v\n% made\n" + lines(rows, header=None)).encode(),
        [],
        ["line 2 has 1 cell, not 2", "--comment %"],
    ),
    "wavelengths": (
        "x.csv",
        lambda rows: lines(rows, header=("400", "402.5")).encode(),
        ["--columns", "u"],
        ["no column 'u'"],
    ),
    "wavelengths of three": (
        "x.csv",
        lambda rows: lines([(*row, "0.5") for row in rows], header=("400", "402", "404")).encode(),
        [],
        ["line 1 ('400', '402', '404') may be names", "--header", "--no-header"],
    ),
    "wavelengths in the sheet": (
        "x.xlsx",
        lambda rows: workbook([(*row, "0.5") for row in rows], header=[400, 402, 404]),
        [],
        ["row 1 ('400', '402', '404') may be names", "--header", "--no-header"],
    ),
    "wavelengths beside a name": (
        "x.csv",
        lambda rows: lines([("s1", *row) for row in rows], header=("id", "400", "402")).encode(),
        [],
        ["line 1 ('id', '400', '402') may be names", "--header", "--no-header"],
    ),
    "columns that are counted": (
        "x.csv",
        lambda rows: lines(rows, header=("0", "1")).encode(),
        [],
        ["line 1 ('0', '1') may be names", "--header", "--no-header"],
    ),
    "counted columns and rows": (
        "x.csv",
        lambda rows: lines([(str(at), *row) for at, row in enumerate(rows)], header=("", "0", "1")).encode(),
        [],
        ["line 1 ('', '0', '1') may be names", "--header", "--no-header"],
    ),
    "text of data in the first line": (
        "x.csv",
        lambda rows: lines([(*row, "p") for row in rows], header=None).encode(),
        [],
        ["line 1", "may be names", "--header", "--no-header"],
    ),
    "a name twice": (
        "x.csv",
        lambda rows: lines(rows, header=("u", "u")).encode(),
        [],
        ["two columns named 'u'", "rename"],
    ),
    "thousands or decimals": (
        "x.csv",
        lambda rows: b"u;v\n1,250;2\n3,125;4\n",
        [],
        ["the comma of '1,250'", "--decimal ,", "--thousands ,"],
    ),
    "0-byte parquet": ("x.parquet", lambda rows: b"", [], ["'x.parquet' is empty"]),
    "0-byte workbook": ("x.xlsx", lambda rows: b"", [], ["'x.xlsx' is empty"]),
    "text named parquet": (
        "x.parquet",
        lambda rows: lines(rows).encode(),
        [],
        ["'x.parquet' cannot be read", "not a Parquet file"],
    ),
    "cut parquet": (
        "x.parquet",
        lambda rows: written(frame_of(rows).write_parquet)[:200],
        [],
        ["'x.parquet' cannot be read"],
    ),
    "cut arrow": ("x.arrow", lambda rows: written(frame_of(rows).write_ipc)[:200], [], ["'x.arrow' cannot be read"]),
    "old feather": ("x.feather", lambda rows: b"FEA1\0\0\0\0", [], ["old Feather", "Parquet"]),
    "cut gzip": (
        "x.csv.gz",
        lambda rows: gzip.compress(lines(rows).encode())[:-20],
        [],
        ["cannot be unpacked", "cut short"],
    ),
    "cut zstd": (
        "x.csv.zst",
        lambda rows: zstandard.ZstdCompressor().compress(lines(rows).encode())[:-20],
        [],
        ["cannot be unpacked", "cut short"],
    ),
    "cut zip": ("x.zip", lambda rows: zipped(x_csv=lines(rows))[:-20], [], ["'x.zip' cannot be unpacked"]),
    "damaged zstd": ("x.csv.zst", lambda rows: b"\x28\xb5\x2f\xfd" + bytes(range(200)), [], ["cannot be unpacked"]),
    "text named gz": ("x.csv.gz", lambda rows: lines(rows).encode(), [], ["not a gzip file"]),
    "two files in a zip": (
        "x.zip",
        lambda rows: zipped(a_csv=lines(rows), b_csv=lines(rows)),
        [],
        ["'x.zip' holds 2 files, not one: 'a.csv', 'b.csv'", "unpack it"],
    ),
    "nothing in a zip": ("x.zip", lambda rows: zipped(), [], ["holds 0 files"]),
    "empty sheet": ("x.xlsx", lambda rows: workbook([]), [], ["sheet 'data' is empty"]),
    "damaged workbook": (
        "x.xlsx",
        lambda rows: zipped(**{"[Content_Types].xml": "<x/>"}),
        [],
        ["'x.xlsx' cannot be read as a workbook"],
    ),
    "utf-16 that is not": (
        "x.csv",
        lambda rows: b"u,v\n1,\xd8\xd8\xd8\n",
        ["--encoding", "utf-16"],
        ["not text in the encoding utf-16"],
    ),
    "utf-8 that is not": (
        "x.csv",
        lambda rows: lines(rows).encode() + b"1,\xe9\n",
        ["--encoding", "utf-8"],
        ["not text in the encoding utf-8 (line 42)", "--encoding cp1252"],
    ),
    "no such encoding": (
        "x.csv",
        lambda rows: lines(rows).encode(),
        ["--encoding", "klingon"],
        ["--encoding: there is no encoding 'klingon'"],
    ),
    "no text encoding": (
        "x.csv",
        lambda rows: lines(rows).encode(),
        ["--encoding", "zlib"],
        ["--encoding: there is no encoding 'zlib'"],
    ),
    "decimal and thousands": (
        "x.csv",
        lambda rows: lines(rows).encode(),
        ["--decimal", ",", "--thousands", ","],
        ["--thousands: cannot be ','"],
    ),
    "bad decimal": ("x.csv", lambda rows: lines(rows).encode(), ["--decimal", "x"], ["--decimal: must be '.' or ','"]),
    "bad thousands": (
        "x.csv",
        lambda rows: lines(rows).encode(),
        ["--thousands", "xx"],
        ["--thousands: must be one sign"],
    ),
    "bad delimiter": (
        "x.csv",
        lambda rows: lines(rows).encode(),
        ["--delimiter", "ab"],
        ["--delimiter: must be one sign"],
    ),
    "delimiter is the decimal sign": (
        "x.csv",
        lambda rows: lines(rows).encode(),
        ["--delimiter", ",", "--decimal", ","],
        ["--delimiter: cannot be ','"],
    ),
    "bad comment": ("x.csv", lambda rows: lines(rows).encode(), ["--comment", " "], ["--comment: must be a sign"]),
    "infinite": (
        "x.csv",
        lambda rows: lines([*rows, ("inf", "1")]).encode(),
        [],
        ["'x.csv', line 42, column 'u': inf is not a finite number; fix", "--nan-policy omit", "--drop u"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_error_with_place_and_remedy(case, refused, rows):
    name, content, args, said = WRONG[case]
    Path(name).write_bytes(content(rows))
    line = refused("test", name, "b.csv", *args)
    for part in said:
        assert part in line


def test_a_header_of_numbers_with_either_remedy(run, rows, second):
    three = [(*row, str(at % 7 + 0.5)) for at, row in enumerate(rows)]
    y_three = [(repr(u), repr(v), str(at % 7 + 0.5)) for at, (u, v) in enumerate(second.select(NUMBERS).rows())]
    names = ("400", "402", "404")
    for file, sample in (("x.csv", three), ("y.csv", y_three)):
        Path(file).write_text(lines(sample, header=names))
    x, y = (np.array(sample, float) for sample in (three, y_three))
    for option, tables in (
        ("--header", (x, y)),
        ("--no-header", [np.vstack([np.array(names, float), table]) for table in (x, y)]),
    ):
        status, out, _ = run("test", "x.csv", "y.csv", "-q", option)
        assert status == 0
        assert float(out.split()[1]) == pytest.approx(ts.test(*tables).log_bf10, rel=1e-5)


def test_plain_numbers_are_not_asked_about(run, files):
    rng = np.random.default_rng(5)
    tables = {
        "normal": rng.normal(size=(30, 5)),
        "rounded": rng.normal(size=(30, 4)).round(1),
        "sorted rows": np.sort(rng.normal(size=(30, 4)), axis=1),
        "sorted columns": np.sort(rng.normal(size=(30, 4)), axis=0) + np.arange(4),
        "whole numbers": rng.integers(0, 100, (30, 4)).astype(float),
        "one column": np.arange(30.0)[:, None],
        "counts": np.cumsum(np.ones((30, 4)), axis=1) + rng.poisson(1.0, (30, 4)),
    }
    for name, table in tables.items():
        pl.DataFrame(table).write_csv("x.csv", include_header=False)
        pl.DataFrame(table + 0.5).write_csv("y.csv", include_header=False)
        status, _, err = run("test", "x.csv", "y.csv", "-q")
        assert status == 0, (name, err)


def test_folders_and_patterns_that_hold_no_parts(refused, rows):
    Path("folder").mkdir()
    assert "'folder' is a folder without Parquet files" in refused("test", "folder", "b.csv")
    Path("folder/x.csv").write_text(lines(rows))
    assert "'folder' is a folder without Parquet files" in refused("test", "folder", "b.csv")
    assert "'folder/x.csv' is not a Parquet file" in refused("test", "folder/*", "b.csv")
    assert "nothing fits the pattern" in refused("test", "folder/*.parquet", "b.csv")


def test_parts_that_do_not_belong_together_are_named(refused, rows):
    Path("parts").mkdir()
    frame = frame_of(rows)
    frame.write_parquet("parts/1.parquet")
    frame.cast({"v": pl.Float32}).write_parquet("parts/2.parquet")
    line = refused("test", "parts", "b.csv")
    assert "its part 'parts/2.parquet' differs from 'parts/1.parquet': column 'v' is Float32, not Float64" in line
    frame.rename({"v": "w"}).write_parquet("parts/2.parquet")
    assert "column 'v' is absent, not Float64" in refused("test", "parts", "b.csv")
    frame.select("v", "u").write_parquet("parts/2.parquet")
    assert "in another order" in refused("test", "parts", "b.csv")
    Path("parts/2.parquet").write_bytes(b"")
    assert "its part 'parts/2.parquet' is empty" in refused("test", "parts", "b.csv")
    Path("parts/2.parquet").write_bytes(b"PAR1 and no more")
    assert "its part 'parts/2.parquet' is damaged" in refused("test", "parts", "b.csv")


def test_a_workbook_without_its_package(refused, rows, monkeypatch):
    Path("x.xlsx").write_bytes(workbook(rows))
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    assert "needs fastexcel; install it with: pip install 'twosample[excel]'" in refused("test", "x.xlsx", "b.csv")


@pytest.mark.parametrize("padding, bad", [("", False), (" ", True)], ids=["plain", "padded, with bad cells"])
def test_twenty_thousand_columns_are_read(padding, bad, refused, files):
    rng = np.random.default_rng(6)
    cells = rng.integers(-9999, 9999, (8, 20_000)).astype(str)
    if bad:
        cells[5] = "nd"
    rows = [[f"g{at}" for at in range(20_000)], *cells.tolist()]
    Path("x.csv").write_text("\n".join(f",{padding}".join(row) for row in rows) + "\n")
    assert "x has no column 'absent'" in refused("test", "x.csv", "x.csv", "--columns", "g0,g19999,absent")
    if bad:
        assert "'x.csv', line 7, column 'g9': 'nd' is not" in refused("test", "x.csv", "x.csv", "--columns", "g9")
