"""Records to JSON and back: nested, optional, of several kinds, with arrays of floats and of whole numbers."""

import dataclasses
import json
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

import twosample as ts
from twosample import models
from twosample.common.records import Record, restored, to_json, to_plain
from twosample.errors import InputError


@dataclass(frozen=True)
class Circle:
    radius: float


@dataclass(frozen=True)
class Rectangle:
    width: float
    height: float


@dataclass(frozen=True, eq=False)
class Part:
    weights: NDArray[np.float64]
    shape: Circle | Rectangle


@dataclass(frozen=True, eq=False, repr=False)
class Whole(Record):
    name: str
    count: int
    share: float
    good: bool
    tags: tuple[str, ...]
    labels: NDArray[np.int64]
    mask: NDArray[np.bool_]
    part: Part
    other: Part | None
    maybe: NDArray[np.float64] | None


def whole(**changes):
    fields = {
        "name": "größe\n",
        "count": 3,
        "share": 1 / 3,
        "good": True,
        "tags": ("a", "b"),
        "labels": np.array([[0, 1], [2**53 + 1, -4]]),
        "mask": np.array([True, False]),
        "part": Part(np.array([0.1, 1e-300, -2.5e300]), Circle(1.5)),
        "other": None,
        "maybe": None,
    }
    return Whole(**{**fields, **changes})


def assert_equal_records(first, second):
    assert type(first) is type(second)
    for field in dataclasses.fields(first):
        one, other = getattr(first, field.name), getattr(second, field.name)
        if dataclasses.is_dataclass(one):
            assert_equal_records(one, other)
        elif isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert_array_equal(one, other)
        else:
            assert type(one) is type(other) and one == other, field.name


@pytest.mark.parametrize(
    "record",
    [
        whole(),
        whole(other=Part(np.zeros((2, 0)), Rectangle(1.0, 2.0))),
        whole(part=Part(np.arange(3.0), Rectangle(1.0, 2.0)), maybe=np.ones((2, 3))),
        whole(tags=(), labels=np.zeros((2, 2), dtype=np.int64), good=False, name=""),
    ],
)
def test_round_trip(record):
    assert_equal_records(Whole.from_json(to_json(to_plain(record), None)), record)


@pytest.mark.parametrize("name", sorted(models.PRESETS))
def test_models(name):
    model = models.PRESETS[name]
    assert models.Model(**restored(models.Model, json.loads(to_json(to_plain(model), None)))) == model


def test_numbers_keep_every_digit():
    values = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.random.default_rng(1).integers(-300, 300, 1000)
    record = whole(maybe=values)
    assert_array_equal(Whole.from_json(to_json(to_plain(record), None)).maybe, values)


def test_file(tmp_path):
    path, record = tmp_path / "whole.json", whole()
    text = to_json(to_plain(record), path)
    assert path.read_text(encoding="utf-8") == text
    assert_equal_records(Whole.from_json(path), record)
    to_json(to_plain(record), str(path))
    assert_equal_records(Whole.from_json(path), record)


def test_plain_is_plain():
    plain = to_plain(whole())
    assert plain["labels"] == [[0, 1], [2**53 + 1, -4]]
    assert all(type(value) is int for row in plain["labels"] for value in row)
    assert plain["tags"] == ["a", "b"]
    assert plain["part"] == {"weights": [0.1, 1e-300, -2.5e300], "shape": {"radius": 1.5}}
    assert plain["other"] is None
    assert json.loads(json.dumps(plain)) == plain


def test_more_than_the_fields_is_no_error():
    """Results write what follows from their fields beside them."""
    assert_equal_records(Whole.from_json(json.dumps({"derived": 1.0, **to_plain(whole())})), whole())


def test_frozen_to_the_last_part():
    record = Whole.from_json(to_json(to_plain(whole(maybe=np.ones(2))), None))
    for array in (record.labels, record.mask, record.maybe, record.part.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_not_a_number_is_no_json():
    with pytest.raises(ValueError, match="JSON"):
        to_json(to_plain(whole(share=float("nan"))), None)


@pytest.mark.parametrize("text", ["", "garbage", "{", "whole.json", "{}", "[]", '"text"', "3", "null", '{"name": 1}'])
def test_foreign_text(text):
    with pytest.raises(InputError, match=r"^source"):
        Whole.from_json(text)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Whole)])
def test_a_field_that_is_missing(field):
    content = to_plain(whole())
    del content[field]
    with pytest.raises(InputError, match=rf"^source.*'{field}'"):
        Whole.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("part", 3),
        ("part", None),
        ("part", {"weights": [1.0]}),
        ("part", {"weights": [1.0], "shape": {"side": 2.0}}),
        ("part", {"weights": [1.0], "shape": None}),
        ("other", [1.0]),
        ("labels", ["a"]),
        ("labels", [[1], [1, 2]]),
        ("labels", {"a": 1}),
        ("maybe", [[1.0], [1.0, 2.0]]),
    ],
)
def test_a_field_of_another_kind(field, value):
    with pytest.raises(InputError, match=r"^source"):
        Whole.from_json(json.dumps({**to_plain(whole()), field: value}))


# ---- files of other versions


@dataclass(frozen=True, eq=False, repr=False)
class Grown(Record):
    """A record that got new fields, and one that it never had."""

    name: str
    count: int = 7
    tags: tuple[str, ...] = dataclasses.field(default_factory=lambda: ("new",))
    shape: Circle | Rectangle | None = None


def test_fields_that_are_missing_get_their_defaults():
    assert Grown.from_json('{"name": "old"}') == Grown("old", 7, ("new",), None)
    assert Grown.from_json('{"name": "old", "tags": ["a"], "count": 2}') == Grown("old", 2, ("a",), None)


def test_fields_without_a_default_are_refused_by_name():
    with pytest.raises(InputError, match=r"^source: not a result of this version .*Grown lacks 'name'") as refused:
        Grown.from_json('{"count": 2}')
    assert refused.value.argument == "source"


@dataclass(frozen=True)
class Ellipse:
    radius: float
    flattening: float
    tilt: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Drawing(Record):
    shape: Circle | Ellipse


def test_of_several_records_the_one_with_these_fields_is_taken_also_without_its_defaults():
    assert Drawing.from_json('{"shape": {"radius": 1.0, "flattening": 0.5}}').shape == Ellipse(1.0, 0.5, 0.0)
    assert Drawing.from_json('{"shape": {"radius": 1.0}}').shape == Circle(1.0)


def test_results_start_with_their_schema():
    result = ts.test([0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9], points=4)
    content = result.to_dict()
    assert next(iter(content.items())) == ("schema", 3)
    del content["schema"]
    for schema in ({}, {"schema": 1}, {"schema": 2}, {"schema": 3}):
        assert ts.TwoSampleResult.from_json(json.dumps(schema | content)).log_bf10 == result.log_bf10
    assert next(iter(ts.baselines.jzs([1.0, 2.0, 4.0], [2.0, 5.0, 7.0]).to_dict())) == "schema"


def test_files_of_newer_versions_are_refused():
    with pytest.raises(InputError, match=r"^source: written by a newer version of twosample .*; update") as refused:
        Grown.from_json('{"schema": 4, "name": "new"}')
    assert refused.value.argument == "source"


@pytest.mark.parametrize("schema", ["0", "-1", "true", "1.5", '"2"', "null", "[1]"])
def test_a_schema_that_is_none(schema):
    with pytest.raises(InputError, match=r"^source: not a result of twosample \(its schema is"):
        Grown.from_json(f'{{"schema": {schema}, "name": "odd"}}')


def test_foreign_file(tmp_path):
    path = tmp_path / "other.json"
    path.write_text("x,y\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"^source"):
        Whole.from_json(path)
    for missing in (tmp_path / "missing.json", str(tmp_path / "missing.json")):
        with pytest.raises(InputError, match=r"^source: '.*missing\.json': there is no such file; pass what to_json"):
            Whole.from_json(missing)
