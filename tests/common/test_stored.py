"""Stored files that were damaged, changed or made up: refused by file and field, within bounds, or read as they are."""

import io
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from numpy.typing import NDArray

import twosample as ts
from twosample.common import constraints
from twosample.common.constraints import Axes, FieldError, Ones, Places, Size, checked
from twosample.common.stored import packed, read_arrays, read_json
from twosample.errors import InputError

MUTATIONS = Path(__file__).with_name("mutations.py")
X, Y = np.arange(12.0), np.arange(3.0, 15.0)


@pytest.fixture(scope="module")
def result():
    return ts.test(X, Y, points=4, permutations=9)


@pytest.fixture(scope="module")
def plan():
    return ts.plan(X, Y, points=4)


@pytest.fixture(scope="module")
def statistics(plan):
    return plan.statistics(X, Y)


def saved(arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def arrays_of(statistics):
    return read_arrays(io.BytesIO(statistics.to_bytes()))


# ---- constraints


@dataclass(frozen=True)
class Inner:
    columns: Annotated[tuple[int, ...], Places("D")]


@dataclass(frozen=True)
class Outer:
    names: Annotated[tuple[str, ...], Axes("D")]
    values: Annotated[NDArray[np.float64], Axes("D", "m", least=1), constraints.GAPS, constraints.SORTED]
    shares: Annotated[NDArray[np.float64], Axes("m"), Ones()]
    size: Annotated[constraints.SampleSize, Size("m")]
    inner: Inner | None
    maybe: constraints.Positive | None = None


def outer(**changes):
    fields = {
        "names": ("a", "b"),
        "values": np.array([[1.0, 2.0, 3.0], [np.nan, np.nan, 4.0]]),
        "shares": np.array([0.25, 0.25, 0.5]),
        "size": 3,
        "inner": Inner((0, 1)),
    }
    return Outer(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, None),
        ({"inner": None, "maybe": 1.0}, None),
        ({"inner": Inner((0, 2))}, "inner.columns holds 2, and must be between 0 and 1"),
        ({"names": ("a", 1)}, r"names\[1\] is int, not text"),
        ({"names": ["a", "b"]}, "names is list, not a list|names is list"),
        ({"names": ("a",)}, r"values has the shape \(2, 3\), which does not go with the rest: \(1, any\) is expected"),
        ({"values": np.zeros((2, 0))}, "values is empty"),
        ({"values": np.zeros((2, 3), dtype=int)}, "values holds int64, not float64"),
        ({"values": np.array([[2.0, 1.0, 3.0]] * 2)}, "values is not sorted"),
        ({"values": np.array([[2.0, np.inf, np.inf]] * 2)}, "values holds what is not a finite number"),
        ({"shares": np.array([0.5, 0.5, 0.5])}, "shares adds up to 1.5"),
        ({"shares": np.array([-0.5, 1.0, 0.5])}, "shares adds up to 1, and must hold shares"),
        ({"shares": np.array([np.nan, 0.5, 0.5])}, "shares holds what is not a finite number"),
        ({"size": 4}, "size is 4, and there are 3"),
        ({"size": True}, "size is True, not a whole number"),
        ({"size": 2**63}, "size is a whole number of more than 64 bits"),
        ({"maybe": 0.0}, "maybe is 0, and must be positive"),
        ({"maybe": float("nan")}, "maybe is nan, not a finite number"),
        ({"maybe": "1"}, "maybe is str, not a number"),
        ({"names": ("a", "\ud800")}, "half a character"),
    ],
)
def test_each_constraint(changes, message):
    if message is None:
        checked(outer(**changes))
        return
    with pytest.raises(FieldError, match=f"^{message}" if "half" not in message else message):
        checked(outer(**changes))


def test_every_field_of_a_size_or_a_probability_has_a_constraint():
    """A new field of these names needs one."""
    from twosample.common.records import Record

    def kinds(kind):
        yield kind
        for one in kind.__subclasses__():
            yield from kinds(one)

    for kind in kinds(Record):
        if not kind.__module__.startswith("twosample") or not hasattr(kind, "__dataclass_fields__"):
            continue
        for name, hint in constraints.hints_of(kind).items():
            if name in ("n_x", "n_y", "pvalue", "prior_odds", "evalue") and "monitor" not in kind.__module__:
                assert "Within" in repr(hint), (kind, name)


# ---- JSON


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 100_000, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "limit"),
        ("[NaN]", "NaN is no number"),
        ("[-Infinity]", "-Infinity is no number"),
        ('{"a": 1, "b": 2, "a": 1}', "'a' is there twice"),
    ],
)
def test_what_is_no_json(text, why, tmp_path):
    with pytest.raises(ValueError, match=why):
        read_json(text)
    path = tmp_path / "odd.json"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"^source: '.*odd\.json': not JSON \(.*{why}"):
        ts.TwoSampleResult.from_json(path)


def test_a_long_text(monkeypatch):
    monkeypatch.setattr("twosample.common.stored._MOST_TEXT", 10)
    with pytest.raises(InputError, match=r"^source: not JSON \(it has 12 characters, and 10 are the most\)"):
        ts.Plan.from_json('{"a": "abc"}')


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"n_x": -5}, "n_x is -5, and must be at least 1"),
        ({"n_x": 1.5}, "n_x is 1.5, not a whole number"),
        ({"n_x": "12"}, "n_x is '12', not a whole number"),
        ({"pvalue": -5.0}, "pvalue is -5, and must be between 0 and 1"),
        ({"log_bf10": 1e999}, "log_bf10|Infinity"),
        ({"log_bf10": [1.0]}, "log_bf10 is tuple, not a number"),
        ({"prior_odds": 0.0}, "prior_odds is 0, and must be positive"),
        ({"prob_h1": 0.123}, "prob_h1 is 0.123, and .* follows from the rest"),
        ({"columns": []}, "columns is empty"),
        ({"columns": ["a", "b"]}, "center has the shape"),
        ({"scale": ["1.0"]}, "scale holds <U3, not float64"),
        ({"scale": [[1.0], [1.0, 2.0]]}, "scale holds lists of different lengths"),
        ({"names": ["x"]}, "names has 1 items, not 2"),
        ({"paired": 1}, "paired is int, not bool"),
        ({"diagnostics": 3}, "diagnostics: Diagnostics is int|diagnostics.*Diagnostics is int"),
        ({"model": {"name": "adaptive"}}, "model.*Model lacks 'weighing'"),
    ],
)
def test_fields_that_cannot_be(result, changes, why):
    content = {**result.to_dict(), **changes}
    with pytest.raises(InputError, match=rf"^source: .*({why})"):
        ts.TwoSampleResult.from_json(json.dumps(content))


def test_pairs_that_are_none(result):
    content = {**result.to_dict(), "paired": True, "n_x": 11}
    with pytest.raises(InputError, match="n_x and n_y are 11 and 12, and must be equal for pairs"):
        ts.TwoSampleResult.from_json(json.dumps(content))


def test_fields_within_fields_are_named(result):
    content = result.to_dict()
    content["effect"]["auc"]["cumulative"][3] = 7.0
    with pytest.raises(InputError, match=r"effect\.auc\.cumulative holds 7, and must be between 0 and 1"):
        ts.TwoSampleResult.from_json(json.dumps(content))


def test_the_checksum_tells_damage_from_layout(result, tmp_path):
    content = json.loads(result.to_json())
    # Another layout, other order and other spellings of the same numbers are no damage.
    other = json.dumps(dict(reversed(content.items())), indent=2).replace('"prior_odds": 1.0', '"prior_odds": 1')
    assert ts.TwoSampleResult.from_json(other) == ts.TwoSampleResult.from_json(result.to_json())
    content["log_bf10"] += 1e-12
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"^source: '.*changed\.json': .* the checksum differs; .*remove 'checksum'"):
        ts.TwoSampleResult.from_json(path)


def test_plans_of_an_older_default_model_are_refused(plan):
    content = plan.to_dict()
    for schema in (1, 2):
        with pytest.raises(InputError, match=rf"older version of twosample \(schema {schema}\).*; make it anew"):
            ts.Plan.from_json(json.dumps({**content, "schema": schema}))


# ---- arrays


def test_arrays_go_through_a_file():
    arrays = {
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "number": np.array(5), "text": np.array("größe"),
        "empty": np.empty((0, 3)), "hashes": np.arange(3, dtype=np.uint64), "flag": np.array(True),
        "big endian": np.arange(3.0).astype(">f8"),
    }  # fmt: skip
    for compressed in (False, True):
        found = read_arrays(io.BytesIO(packed(arrays, compressed=compressed)))
        assert found.keys() == arrays.keys()
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)
            assert found[name].dtype == array.dtype.newbyteorder("=")


def test_numbers_that_were_changed_are_told_by_the_checksum(plan, statistics):
    """Every number is a possible one, and the answer would be log BF10 of 100 instead of 1."""
    arrays = arrays_of(statistics)
    arrays["x.mean"] = np.zeros_like(arrays["x.mean"])
    with np.load(io.BytesIO(statistics.to_bytes())) as stored:
        checksum = stored["checksum"]
    with pytest.raises(InputError, match="the checksum differs"):
        ts.FeatureStatistics.from_bytes(saved({**arrays, "checksum": checksum}))
    ts.FeatureStatistics.from_bytes(saved(arrays))  # of an older version


def changed_statistics(arrays):
    scatter = arrays["x.scatter"].copy()
    scatter[0, 0, 1] += 0.1 * np.sqrt(scatter[0, 0, 0] * scatter[0, 1, 1])
    larger = arrays["x.scatter"].copy()
    larger[0, 0, 1] = larger[0, 1, 0] = 2.0 * larger[0].max()
    infinite = arrays["y.mean"].copy()
    infinite[0, 0] = np.inf
    return {
        "x.count is not a whole number": {"x.count": np.array(12.5)},
        "x.count is -12": {"x.count": np.array(-12)},
        "x has a scatter that is not symmetric": {"x.scatter": scatter},
        "x has a scatter that no rows have": {"x.scatter": larger},
        "y holds what is not a number": {"y.mean": infinite},
        "lengthscales holds -": {"lengthscales": -arrays["lengthscales"]},
        "of another number of rows than x": {"columns_x.count": np.array(13)},
        "parts are of other numbers": {"parts.0.x.count": np.array(13)},
        "sketch_x.rows|sketch_x.priorities has the shape": {"sketch_x.priorities": np.arange(3, dtype=np.uint64)},
        "sketch_x.priorities holds float64": {"sketch_x.priorities": np.zeros(12)},
        "words are not": {"words": np.array("[]")},
    }


@pytest.mark.parametrize("number", range(11))
def test_statistics_that_cannot_be(statistics, number):
    arrays = arrays_of(statistics)
    why, changes = list(changed_statistics(arrays).items())[number]
    with pytest.raises(InputError, match=rf"^content: .*({why})"):
        ts.FeatureStatistics.from_bytes(saved({**arrays, **changes}))


def test_statistics_that_the_plan_cannot_have(plan, statistics):
    for wrong in (
        replace(statistics, lengthscales=2.0 * statistics.lengthscales),
        replace(statistics, parts=(replace(statistics.parts[0], lengthscales=2.0 * statistics.parts[0].lengthscales),)),
        replace(statistics, sketch_x=replace(statistics.sketch_x, rows=np.zeros((12, 2)))),
    ):
        with pytest.raises(InputError, match=r"^statistics: they do not fit the plan that they name"):
            plan.test(wrong)


def with_header(content, old, new):
    """The same file with another shape in a header, of which zipfile knows the right sum of bytes."""
    assert len(old) == len(new)
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(file, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(old, new))
    return file.getvalue()


def test_a_header_that_claims_more_than_there_is():
    content = saved({"a": np.zeros((3, 4))})
    claims = with_header(content, b"(3, 4), }" + b" " * 12, b"(1000000000000,), }  ")
    with pytest.raises(ValueError, match="'a' claims 8,000,000,000,000 bytes, which it does not have"):
        read_arrays(io.BytesIO(claims))
    for header in (b"((3, 4)), }", b"(3, -4), } ", b"(3, 4)*99,}"):
        with pytest.raises(ValueError, match="'a' is no array of numbers or text"):
            read_arrays(io.BytesIO(with_header(content, b"(3, 4), }  ", header)))


def test_what_it_unpacks_to_is_bounded_before_it_is_unpacked(monkeypatch, statistics):
    """Members that nothing needs count too."""
    monkeypatch.setattr("twosample.common.stored._MOST_MORE", 1 << 16)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays_of(statistics), unused=np.zeros(10**7))
    opened = []
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *given, **more: opened.append(given))
    with pytest.raises(InputError, match=r"unpacks to 80,[\d,]+ bytes, and [\d,]+ are the most for a file of"):
        ts.FeatureStatistics.from_bytes(file.getvalue())
    assert not opened


def test_repeated_members_objects_and_text_that_is_none(tmp_path):
    file = io.BytesIO(saved({"a": np.zeros(3)}))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(file, "a") as archive:
        archive.writestr("a.npy", archive.read("a.npy"))
    with pytest.raises(ValueError, match="'a' is there twice"):
        read_arrays(file)
    text = np.array([0x110005], dtype=np.uint32).view("U1")
    for odd in (np.array([None]), np.zeros(2, dtype=[("a", "f8")]), np.array([1j]), text):
        with pytest.raises(ValueError, match=r"'odd' is no (array of numbers or )?text|no array"):
            read_arrays(io.BytesIO(saved({"odd": odd})))


# ---- mutations


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are those of Linux")
@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        ("test,pairs,objects,each,ksample,groups,goodness,independence,mmd,holmes,robustness", 455),
        ("plan", 5000),
        ("statistics", 5000),
        ("reference", 5000),
    ],
)
def test_mutated_files_are_refused_or_right(kinds, count):
    """With 1 GB of memory and 5 seconds for each; `mutations.py` says what is changed, and what counts as right."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, MUTATIONS, kinds, str(count)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["kind"] for line in lines] == kinds.split(",")
    for line in lines:
        assert not line["faults"], line
        assert sum(line.get(outcome, 0) for outcome in ("refused", "equal", "valid")) == count
        assert line["refused"] > count / 2 and line.get("valid", 0) + line.get("equal", 0) > 0
