"""What the form says becomes a question, and errors of the library are in the words of the form."""

import re
from dataclasses import fields
from importlib import resources

import pytest

from twosample.app import form
from twosample.app.form import Question, in_form, reading_of
from twosample.app.work import options_of
from twosample.data.files.dialect import Reading
from twosample.errors import DroppedDataWarning, InputError, Setting

PAGE = (resources.files("twosample.app") / "static/page.html").read_text("utf-8")


def test_an_empty_form_asks_the_default_question():
    assert Question.of({}) == Question()
    assert Question.of({"prior_odds": " ", "permutations": "", "columns": None, "by": ""}) == Question()
    assert options_of(Question()) == {
        "nan_policy": "raise", "paired": False, "model": "adaptive", "prior_odds": 1.0, "permutations": 0,
        "rope": None,
    }  # fmt: skip
    assert options_of(Question(test="each")) == {
        "nan_policy": "raise", "paired": False, "fdr": 0.05, "rope": None, "sort": "evidence",
    }  # fmt: skip
    assert options_of(Question(test="goodness", permutations=9))["simulations"] == 9


def test_a_question_is_what_the_form_says():
    said = {"test": "test", "by": "arm", "groups": ["a", "b"], "columns": ["u"], "paired": True, "permutations": "99"}
    asked = Question.of(said)
    assert (asked.by, asked.groups, asked.columns) == ("arm", ("a", "b"), ("u",))
    assert (asked.paired, asked.permutations, asked.test) == (True, 99, "test")
    assert Question.of(said | {"paired": "id"}).paired == "id" and Question.of(said | {"paired": 1}).paired is False
    remedy = InputError("sort them", remedy=("pass ", Setting("paired", "id")))
    assert in_form(remedy) == "sort them; pass “Rows are pairs: by column id”"


@pytest.mark.parametrize("said", [None, [], "x", 7])
def test_what_is_not_a_form_is_refused(said):
    with pytest.raises(InputError, match="not that of the form"):
        Question.of(said)


@pytest.mark.parametrize("text", ["-1", "1e9", "nan", "inf", "1.5", "many"])
def test_permutations_are_a_whole_number(text):
    with pytest.raises(InputError, match=r"permutations: must be a"):
        Question.of({"permutations": text})


def test_how_files_are_read():
    assert reading_of(None) == reading_of({}) == Reading()
    told = {"header": "data", "missing": "-9, , x y", "decimal": ",", "encoding": "cp1252", "delimiter": "tab"}
    read = Reading(header=False, missing=("-9", "x y"), decimal=",", encoding="cp1252", delimiter="tab")
    assert reading_of(told) == read
    assert reading_of({"header": "names"}).header is True


def test_settings_are_said_as_fields_of_the_form():
    error = InputError(
        "columns: there is none",
        argument="columns",
        remedy=(
            "pass ",
            Setting("paired", True),
            ", use ",
            Setting("columns", ("a", "b")),
            " or ",
            Setting("points", 9),
        ),
    )
    assert in_form(error) == (
        "Columns: there is none; pass “Rows are pairs: by their order”, use “Columns: a, b” or points=9, from Python "
        "or the command line"
    )
    assert in_form(error, ("p", "q")).endswith(" (x is 'p', y is 'q')")
    assert in_form(DroppedDataWarning("left out 3 rows", argument="nan_policy")) == "left out 3 rows"
    named = InputError("name them", remedy=("such as ", Setting("drop", ["c"])))
    assert in_form(named) == "name them; such as “Columns: without c”"
    assert in_form(InputError("columnsful", argument="columns")) == "columnsful"


def test_every_field_that_is_named_is_on_the_page():
    text = re.sub(r"\s+", " ", PAGE)
    for name, field in form._FIELDS.items():
        shown = field.label if name != "groups" else "First group"
        assert re.search(rf"[>] ?{re.escape(shown)}\b", text), name
        if name in ("nan_policy", "header", "paired"):
            for words in field.words.values():
                assert f">{words}</option>" in text
    for one in fields(Reading):
        if one.name == "unpacked_limit":  # is for who starts the app to say
            continue
        assert f'name="{one.name}"' in text
