"""What the form of the page says: a question to the library, and the library's errors in the words of the form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, TypeVar, cast

from twosample.data.files.dialect import Reading
from twosample.data.from_files import who_is_who
from twosample.errors import InputError, InputTypeError, Setting, TwoSampleWarning
from twosample.models import PRESETS

__all__ = ["QUESTIONS", "Question", "in_form", "reading_of"]

_Default = TypeVar("_Default", float, None)

# What can be asked; the first one is where the form says nothing.
QUESTIONS = ("test", "each", "independence", "goodness")

_SAMPLES = ("x", "y", "x and y", "by", "columns", "drop", "groups", "paired")


class _Field(NamedTuple):
    """A field of the form: its label, and what its choices are called."""

    label: str
    words: Mapping[object, str] = {}


_FIELDS = {
    "by": _Field("Grouping column"),
    "groups": _Field("Groups"),
    "columns": _Field("Columns"),
    "drop": _Field("Columns"),
    "model": _Field("Model"),
    "paired": _Field("Rows are pairs", {True: "by their order", False: "no"}),
    "prior_odds": _Field("Prior odds"),
    "permutations": _Field("Permutations"),
    "fdr": _Field("False discovery rate"),
    "rope": _Field("AUC that does not matter"),
    "sort": _Field("Order", {"evidence": "evidence", "size": "size"}),
    "y": _Field("Other side"),
    "law": _Field("Law"),
    "nan_policy": _Field("Missing values", {"omit": "leave out", "raise": "refuse"}),
    "missing": _Field("More words for missing"),
    "decimal": _Field("Decimal sign"),
    "thousands": _Field("Thousands sign"),
    "encoding": _Field("Encoding"),
    "comment": _Field("Comment sign"),
    "header": _Field("First line", {True: "names", False: "data"}),
    "delimiter": _Field("Between values"),
}


def in_form(explained: InputError | InputTypeError | TwoSampleWarning, names: Sequence[str] = ()) -> str:
    """An error or warning of the library with the fields of the form in place of its arguments, and who is x and y."""
    text, argument = explained.render(_setting), explained.argument
    if argument in _FIELDS and text.startswith(f"{argument}:"):
        text = _FIELDS[argument].label + text.removeprefix(argument)
    return text + (f" ({who_is_who(names)})" if names and argument in _SAMPLES else "")


def _setting(setting: Setting) -> str:
    field = _FIELDS.get(setting.name)
    if field is None:
        return f"{setting}, from Python or the command line"
    value = setting.value
    if isinstance(value, list | tuple):
        words = ", ".join(map(str, value))
    else:
        words = field.words.get(value, f"by column {value}" if setting.name == "paired" else str(value))
    return f"“{field.label}: {'without ' if setting.name == 'drop' else ''}{words}”"


@dataclass(frozen=True)
class Question:
    """What is asked of the files; what has no comment is as in `twosample.test` and `twosample.test_each`."""

    # "test" compares two samples or all groups, "each" every column by itself; "independence" asks whether the columns
    # are independent of others in one file, and "goodness" whether a file comes from a law.
    test: str = "test"
    reading: Reading = Reading()  # noqa: RUF009
    by: str | None = None  # the column that splits one file
    groups: tuple[str, ...] | None = None  # two values of that column
    columns: tuple[str, ...] | None = None  # None for all that hold numbers
    y: tuple[str, ...] | None = None  # the other side of a test of independence
    law: str | None = None
    nan_policy: Literal["raise", "omit"] = "raise"
    paired: bool | str = False  # or the column that identifies pairs
    model: str = "adaptive"
    prior_odds: float = 1.0
    permutations: int = 0
    fdr: float = 0.05
    rope: float | None = None
    sort: Literal["evidence", "size"] = "evidence"

    @classmethod
    def of(cls, said: object) -> Question:
        """The question that the form asks; its numbers are text, as typed."""
        if not isinstance(said, Mapping):
            raise InputError("the question is not that of the form", remedy="load the page anew")
        return cls(
            test=_choice(said, "test", QUESTIONS),
            reading=reading_of(said.get("reading")),
            by=_text(said, "by"),
            groups=_texts(said, "groups"),
            columns=_texts(said, "columns"),
            y=_texts(said, "y"),
            law=_text(said, "law"),
            nan_policy=cast("Literal['raise', 'omit']", _choice(said, "nan_policy", ("raise", "omit"))),
            paired=_text(said, "paired") or said.get("paired") is True,
            model=_choice(said, "model", tuple(PRESETS)),
            prior_odds=_number(said, "prior_odds", cls.prior_odds),
            permutations=_whole(said, "permutations", 1_000_000),
            fdr=_number(said, "fdr", cls.fdr),
            rope=_number(said, "rope", None),
            sort=cast("Literal['evidence', 'size']", _choice(said, "sort", ("evidence", "size"))),
        )


def reading_of(said: object) -> Reading:
    """How the files are to be read; what the form leaves empty is found out."""
    told = said if isinstance(said, Mapping) else {}
    names = [field.name for field in fields(Reading) if field.name in _FIELDS]
    options: dict[str, Any] = {name: _text(told, name) for name in names}
    missing = options.pop("missing") or ""
    header = {"names": True, "data": False}.get(options.pop("header") or "")
    return Reading(missing=tuple(filter(None, map(str.strip, missing.split(",")))), header=header, **options)


def _text(said: Mapping[str, object], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) and value else None


def _texts(said: Mapping[str, object], name: str) -> tuple[str, ...] | None:
    value = said.get(name)
    return tuple(map(str, value)) if isinstance(value, list) else None


def _choice(said: Mapping[str, object], name: str, choices: Sequence[str]) -> str:
    value = _text(said, name) or choices[0]
    if value not in choices:
        label = _FIELDS[name].label if name in _FIELDS else name
        raise InputError(f"{label}: must be one of {', '.join(choices)}, not {value!r}")
    return value


def _number(said: Mapping[str, object], name: str, default: _Default) -> float | _Default:
    text = (_text(said, name) or "").strip()
    try:
        return float(text.replace(",", ".")) if text else default
    except ValueError:
        raise InputError(f"{name}: must be a number, not {text!r}", argument=name) from None


def _whole(said: Mapping[str, object], name: str, most: int) -> int:
    number = _number(said, name, 0.0)
    if not 0 <= number <= most or number != int(number):
        raise InputError(f"{name}: must be a whole number from 0 to {most:,}, not {said[name]!r}", argument=name)
    return int(number)
