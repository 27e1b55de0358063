"""What the app does with files, all in memory: shows what is in them, tests them, and makes the report."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from twosample.app.form import Question, in_form
from twosample.common.calls import command_line
from twosample.data import Choice
from twosample.data.categories import name_rows
from twosample.data.from_files import Given, group_labels, is_usable, split_table, two_files, used_columns
from twosample.errors import InputError, InputTypeError, MissingExtraError, collected_warnings

if TYPE_CHECKING:
    from twosample.data.files.dialect import Reading
    from twosample.data.files.table import FileTable

__all__ = ["Answer", "RefusedError", "Tell", "Upload", "compare", "example", "look", "options_of"]

# A column with more values than this does not split a file into groups, and of more columns it is not asked.
_MOST_GROUPS = 100
_MOST_GROUPINGS = 200

Tell = Callable[[float, str], object]


class Upload(NamedTuple):
    """A file: its name, as given, and its bytes."""

    name: str
    content: bytes


class Answer(NamedTuple):
    """What a test found: the report as a page, the result as JSON, and what to say beside them."""

    page: str
    result: str
    headline: str
    names: tuple[str, ...]
    notes: tuple[str, ...]


class RefusedError(Exception):
    """The files cannot be compared as asked; the text is for people."""


def look(uploads: Sequence[Upload | None], reading: Reading) -> dict[str, Any]:
    """What is in the files: rows, columns and, where there is one file, the groups it can be split into."""
    seen: list[dict[str, Any] | None] = []
    tables: list[FileTable] = []
    for upload in uploads:
        if upload is None:
            seen.append(None)
            continue
        about: dict[str, Any] = {"name": upload.name, "size": len(upload.content)}
        with collected_warnings() as said:
            try:
                table = _read(upload, reading)
                about |= {"rows": table.frame.height, "columns": table.frame.width}
                tables.append(table)
            except RefusedError as error:
                about["error"] = str(error)
        seen.append(about | {"notes": list(dict.fromkeys(map(in_form, said)))})
    whole = bool(tables) and all(about is None or "error" not in about for about in seen)
    usable, others = _columns(tables) if whole else ([], [])
    return {
        "files": seen,
        "columns": usable,
        "others": others,
        "groupings": _groupings(tables[0]) if whole and len(tables) == 1 else [],
    }


def _columns(tables: Sequence[FileTable]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The columns that can be compared, with their kinds; and the others, with why they cannot."""
    kinds = [{column.name: _kind(column) for column in table.frame.get_columns()} for table in tables]
    usable, others = [], []
    for name in dict.fromkeys(name for one in kinds for name in one):
        found = [one.get(name) for one in kinds]
        why = _why_not(found)
        if why is None:
            usable.append({"name": name, "kind": str(found[0])})
        else:
            others.append({"name": name, "kind": why})
    return usable, others


@contextmanager
def _refusals(names: tuple[str, ...] = ()) -> Iterator[None]:
    """Turn errors of the library into refusals, in the words of the form."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        raise RefusedError(in_form(error, names)) from None
    except MissingExtraError as error:
        raise RefusedError(str(error)) from None


def _read(upload: Upload, reading: Reading) -> FileTable:
    from twosample.data.files.table import read_table

    with _refusals():
        return read_table((upload.name, upload.content), reading)


def _kind(column: Any) -> str:
    """What a column holds, in a word."""
    import polars as pl

    name, kind = column.name, column.dtype
    if not is_usable(name, kind):
        return "no name" if not name else "text" if name_rows(column.n_unique(), len(column)) else "categories"
    return "dates" if kind.is_temporal() else "true or false" if kind == pl.Boolean else "numbers"


def _why_not(kinds: Sequence[str | None]) -> str | None:
    """Why a column of these kinds cannot be compared; None if it can."""
    if None in kinds:
        return f"only in the {'second' if kinds[0] is None else 'first'} file"
    if "categories" in kinds and set(kinds) != {"categories"}:
        return "categories in one file only"
    return next((kind for kind in kinds if kind in ("text", "no name")), None)


def _groupings(table: FileTable) -> list[dict[str, Any]]:
    """The columns that can split a file into groups, each with its groups and their sizes."""
    found: list[dict[str, Any]] = []
    for column in table.frame.get_columns():
        labels = table.labels(column.name) if column.name in table.texts else column
        if not column.name or labels.dtype.is_float() or not 2 <= labels.drop_nulls().n_unique() <= _MOST_GROUPS:
            continue
        found.append({"name": column.name, "groups": [[*group] for group in group_labels(table, column.name).items()]})
        if len(found) == _MOST_GROUPINGS:
            break
    return found


def compare(uploads: Sequence[Upload | None], question: Question, tell: Tell) -> Answer:
    """Test what the files hold and make the report, or refuse it.

    `tell` is called with the share of work done and a description of it. Where it raises, work ends.
    """
    from twosample.show.report import render

    files = [upload for upload in uploads if upload is not None]
    asked = _QUESTIONS[question.test]
    with collected_warnings() as said:
        tell(0.0, "Reading")
        with _refusals():
            given = asked.read(files, question)
        tell(0.0, "Testing")
        with _refusals(given.names):
            result = asked.answer(
                given, question, progress=lambda share: tell(share, "Testing"), **options_of(question)
            )
            varied = None
            if result.has_robustness:
                varied = result.robustness(progress=lambda share: tell(share, "Trying other assumptions"))
    tell(1.0, "Making the report")
    result.remember(call=command_line(_command(files, question, result)), copied=result)
    with _refusals():
        page = render(result, varied)
    notes = dict.fromkeys(in_form(one) for one in said)
    compared = getattr(result, "names", given.names)
    return Answer(page, result.to_json(), result.facts().verdict, compared, tuple(notes))


def _samples(uploads: list[Upload], question: Question) -> Given:
    """Two samples, or several groups, in the files."""
    if not uploads or (len(uploads) == 1 and question.by is None):
        raise RefusedError("choose two files, or one file and a grouping column")
    tables = [_read(upload, question.reading) for upload in uploads]
    chosen: dict[str, Any] = {"columns": question.columns, "nan_policy": question.nan_policy}
    chosen["key"] = question.paired if isinstance(question.paired, str) else None
    if len(tables) == 1:
        assert question.by is not None
        return split_table(tables[0], question.groups, by=question.by, several=question.test == "test", **chosen)
    first, second = (upload.name for upload in uploads)
    names = (f"{first} (first)", f"{second} (second)") if first == second else (first, second)
    return two_files(tables[0], tables[1], names, **chosen)


def _one_file(uploads: list[Upload], question: Question) -> Given:
    """The columns of one file that are used."""
    if len(uploads) != 1:
        raise RefusedError("this question is one of a single file; remove the other one")
    table = _read(uploads[0], question.reading)
    wanted = None if question.columns is None else (*question.columns, *(question.y or ()))
    used = used_columns([table.frame], Choice.of(columns=wanted))
    notes = table.check(used, question.nan_policy)
    return Given(table.frame, None, {"columns": question.columns}, (uploads[0].name, ""), notes)


def _test(given: Given, question: Question, **options: Any) -> Any:
    """Two samples, or several groups at once."""
    from twosample.questions import ksample, two_samples

    if given.groups <= 2:
        return two_samples.test(given.x, given.y, **given.choice, **options).of_files(given.names, given.notes)
    if options.pop("paired"):
        raise InputError("paired: groups of more than two are no pairs", argument="paired", remedy="choose two groups")
    return ksample.ksample(given.x, **given.choice, **options).with_notes(given.notes)


def _each(given: Given, question: Question, **options: Any) -> Any:
    """Every column by itself."""
    from twosample.questions import two_samples

    return two_samples.test_each(given.x, given.y, **given.choice, **options)


def _independence(given: Given, question: Question, **options: Any) -> Any:
    """The chosen columns against those of the other side."""
    from twosample.questions.independence import independence

    other = question.y or ()
    if not other:
        raise InputError("y: no column is chosen", argument="y", remedy="choose some columns of the other side")
    columns = question.columns if question.columns is not None else tuple(given.x.columns)  # type: ignore[union-attr]
    sides: dict[str, Any] = {"x": [name for name in columns if name not in other], "y": list(other)}
    return independence(given.x, **sides, **options).with_notes(given.notes)


def _goodness(given: Given, question: Question, **options: Any) -> Any:
    """The file against a law."""
    from twosample.questions.goodness import goodness

    if question.law is None:
        raise InputError("law: none is given", argument="law", remedy="write one, such as norm(0, 1)")
    result = goodness(given.x, question.law, **given.choice, **options)
    return result.of_files((given.names[0], result.law), given.notes)


class _Asked(NamedTuple):
    """How a question reads the files, how it is answered, and with which fields of the form as options."""

    read: Callable[[list[Upload], Question], Given]
    answer: Callable[..., Any]
    options: str


_QUESTIONS = {
    "test": _Asked(_samples, _test, "nan_policy paired model prior_odds permutations rope"),
    "each": _Asked(_samples, _each, "nan_policy paired fdr rope sort"),
    "independence": _Asked(_one_file, _independence, "nan_policy prior_odds permutations"),
    "goodness": _Asked(_one_file, _goodness, "nan_policy prior_odds permutations rope"),
}
# Fields of the form that are called otherwise as options of a question.
_CALLED = {("goodness", "permutations"): "simulations"}


def _command(files: Sequence[Upload], question: Question, result: Any) -> list[str]:
    """What the command line is called with for the same answer."""
    options = {name: value for name, value in options_of(question).items() if value != getattr(Question, name, 0)}
    if isinstance(question.paired, str) and "paired" in options:
        options["pair_by"] = options.pop("paired")
    options |= {"by": question.by, "groups": question.groups, "columns": question.columns, "law": question.law}
    if question.test != "goodness":
        del options["law"]
    if question.test in ("independence", "goodness"):
        del options["by"], options["groups"]
    if question.test == "independence":
        del options["columns"]
        options |= {"x": result.x, "y": result.y}
    # How much may be unpacked is for the app to say, and makes no difference to the answer.
    reading = replace(question.reading, unpacked_limit=None)
    options |= {field.name: getattr(reading, field.name) for field in fields(reading)}
    said = [question.test, *(file.name for file in files)]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            said.append(flag if value else flag.replace("--", "--no-", 1))
        elif value not in (None, ()):
            said.append(f"{flag}={_between_commas(value) if isinstance(value, tuple) else value}")
    return [*said, "--report=report.html"]


def _between_commas(names: Sequence[str]) -> str:
    """Names as the command line reads them, where quotes protect a comma."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def options_of(question: Question) -> dict[str, Any]:
    """What the function of the library is called with, besides the data."""
    asked = question.test
    return {_CALLED.get((asked, name), name): getattr(question, name) for name in _QUESTIONS[asked].options.split()}


def example() -> tuple[Upload, Upload]:
    """Two files to try the app with: invented measurements, of which temperature and reaction time differ."""
    import numpy as np

    rng = np.random.default_rng(0)
    files = []
    for name, warmer, spread in (("morning.csv", 0.0, 1.0), ("evening.csv", 0.35, 1.7)):
        pulse, temperature, reaction = rng.normal(size=(3, 120))
        rows = zip(
            np.round(66 + 8 * pulse).astype(int),
            36.5 + 0.4 * temperature + warmer,
            290 + 30 * spread * reaction,
            strict=True,
        )
        lines = [f"{beats},{degrees:.2f},{time:.0f}" for beats, degrees, time in rows]
        files.append(Upload(name, "\n".join(["pulse,temperature,reaction time", *lines, ""]).encode()))
    return files[0], files[1]
