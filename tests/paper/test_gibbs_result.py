"""What `ts.gibbs` returns: JSON, words, and a table for ArviZ."""

import dataclasses
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.recorded_chains import recorded

import twosample as ts
from twosample.errors import InputError, MissingExtraError
from twosample.paper.gibbs_result import GibbsResult


@pytest.fixture(scope="module")
def arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return pytest.importorskip("arviz")


@pytest.fixture(scope="module")
def one():
    return recorded("one")


@pytest.fixture(scope="module")
def several():
    return recorded("several")


@pytest.fixture(scope="module")
def adaptive():
    return recorded("adaptive")


def assert_equal_records(first, second):
    assert type(first) is type(second)
    for field in dataclasses.fields(first):
        before, after = getattr(first, field.name), getattr(second, field.name)
        if dataclasses.is_dataclass(before):
            assert_equal_records(before, after)
        elif isinstance(before, np.ndarray):
            assert before.dtype == after.dtype, field.name
            assert_array_equal(before, after, err_msg=field.name)
        else:
            assert isinstance(after, type(before)) and before == after, field.name


@pytest.mark.parametrize("name", ["one", "several", "adaptive"])
def test_json_round_trip(request, tmp_path, name):
    result, path = request.getfixturevalue(name), tmp_path / "result.json"
    back = GibbsResult.from_json(result.to_json(path))
    # The evaluation points are rows.
    assert back.points is None and "8 evaluation points" in str(back)
    without = dataclasses.replace(result, points=None)
    assert_equal_records(back, without)
    assert back == without == GibbsResult.from_json(str(path)) != result
    given = dataclasses.replace(result, points_given=True)
    assert GibbsResult.from_json(given.to_json()) == given
    assert back.labels.dtype == back.given.dtype == back.diagnostics.switches.dtype == np.int64
    assert back.to_dict() == result.to_dict()
    assert str(back) == str(result)


def test_json_of_another_kind_of_result(one):
    with pytest.raises(InputError, match=r"^source"):
        GibbsResult.from_json(ts.test([1.0, 2.0, 4.0], [2.0, 3.0, 5.0]).to_json())
    with pytest.raises(InputError, match=r"^source"):
        ts.TwoSampleResult.from_json(one.to_json())


def test_frozen(several):
    arrays = [
        *(several.labels, several.given, several.lengthscales, several.log_bf10_given, several.points, several.scale),
        *(several.evidence.lengthscales_h0, several.relevance.shortening, several.diagnostics.switches),
    ]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        several.prior_odds = 3.0


def test_repr_is_one_line(one):
    assert repr(one).startswith(f"GibbsResult(prob_h1={one.prob_h1:.4g}, ")
    assert one.verdict in repr(one)
    assert "\n" not in repr(one)


def test_summary(one, several):
    text = str(one)
    assert text == one.summary()
    assert text.splitlines()[0] == f"{one.verdict.capitalize()}."
    for words in ("24 and 24 rows, 1 column", "paper, kernel rbf, 8 evaluation", "2 chains of 160 steps (40 burn-in)"):
        assert words in text
    assert "bridge" not in text and "prior odds" not in text
    text = str(several)
    for words in ("(bridge)", "prior odds           2", "lengthscale 0 ", "lengthscale 1 ", "relevance"):
        assert words in text


def test_to_arviz(one, several, adaptive, arviz):
    for result in (one, several, adaptive):
        found = result.to_arviz()
        posterior, statistics = found["posterior"], found["sample_stats"]
        assert dict(posterior.sizes) == {"chain": 2, "draw": 60, "column": result.lengthscales.shape[-1]}
        assert_array_equal(posterior["different"], result.labels)
        assert_array_equal(posterior["lengthscale"], result.lengthscales)
        assert_array_equal(statistics["log_bf10"], result.log_bf10_given)
        assert_array_equal(statistics["lengthscale_given_different"], result.given)
        assert ("amplitude" in posterior) == (result.amplitudes is not None)
        summary = arviz.summary(found, var_names=["lengthscale"])
        assert len(summary) == result.lengthscales.shape[-1]
        assert_allclose(summary["mean"], result.lengthscales.mean(axis=(0, 1)), atol=1e-3)
    assert list(several.to_arviz()["posterior"]["column"].values) == ["0", "1"]
    assert_array_equal(adaptive.to_arviz()["posterior"]["amplitude"], adaptive.amplitudes)


@pytest.mark.parametrize("package", ["arviz", "xarray"])
def test_to_arviz_without_the_package(one, monkeypatch, package, arviz):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"^to_arviz needs .*twosample\[arviz\]"):
        one.to_arviz()
