"""Whoever goes over the rows, the answer is the same."""

import array_api_strict
import numpy as np
import pytest

import twosample as ts
from twosample.common.arrays import on_device
from twosample.data import pilot

jax = pytest.importorskip("jax", reason="JAX is not installed: there is no engine to compare with")


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(450, 3)), rng.normal(size=(350, 3))
    y[:, 1] *= 1.2
    x[:20, 2] = y[:35, 2] = 0.0
    return x, y


def same(found, expected):
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    for row, other in zip(found.by_column, expected.by_column, strict=True):
        assert row.column == other.column
        assert row.log_bf10 == pytest.approx(other.log_bf10, abs=1e-9)
    assert found.effect.auc.mean == pytest.approx(expected.effect.auc.mean, abs=1e-9)
    assert (found.n_x, found.n_y) == (expected.n_x, expected.n_y)


@pytest.mark.parametrize("paired", [False, True])
def test_jax_gives_the_answer_of_threads(samples, paired):
    x, y = (rows[:350] for rows in samples)
    same(ts.test(x, y, paired=paired, engine="jax"), ts.test(x, y, paired=paired, engine="threads"))


def test_more_rows_than_the_pilot_holds(samples, monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_ROWS", 250)
    x, y = (ts.blocks([rows[:150], rows[150:]]) for rows in samples)
    expected = ts.test(x, y)
    assert any("pilot of" in note for note in expected.diagnostics.notes)
    same(ts.test(x, y, engine="jax"), expected)


def test_arrays_on_a_device_stay_there(samples, monkeypatch):
    """As if the memory of JAX were that of an accelerator: rows are never copied to NumPy but for the pilot."""
    monkeypatch.setattr(pilot, "PILOT_ROWS", 250)
    expected = ts.test(*(ts.blocks([rows]) for rows in samples))

    def elsewhere(values):
        return type(values).__module__.startswith("jaxlib")

    monkeypatch.setattr("twosample.places.stays", elsewhere)
    monkeypatch.setattr("twosample.data.blocks.on_device", elsewhere)
    monkeypatch.setattr("twosample.questions.given.on_device", elsewhere)
    monkeypatch.setattr("twosample.places.local.sample_moments", None)
    with jax.enable_x64(True):
        x, y = (jax.numpy.asarray(rows) for rows in samples)
        same(ts.test(x, y), expected)


def test_the_memory_of_this_machine_is_no_device():
    assert not on_device(np.zeros(2))
    assert not on_device(array_api_strict.zeros(2))
    assert not on_device(jax.numpy.zeros(2))
    assert not on_device("rows")


def test_engines_that_are_no_names_are_refused(samples):
    with pytest.raises(ts.errors.InputTypeError, match="engine: expected a name, got int"):
        ts.test(*samples, engine=3)
    with pytest.raises(ts.errors.InputError, match="engine: 'gpu' is unknown; use 'auto', 'threads', 'dask'"):
        ts.test(*samples, engine="gpu")
