"""From evidence to the record of an answer: nothing that the plan or the statistics say is lost on the way."""

import dataclasses

import numpy as np
import pytest

import twosample as ts
from twosample.errors import AccuracyWarning, DroppedDataWarning
from twosample.inference import evidence
from twosample.inference.lengthscale import Curves, LengthscalePosterior
from twosample.results import assembly

X, Y = np.random.default_rng(0).normal(size=(2, 30, 2))


def wide(rows):
    return np.insert(rows, 1, 3.0, axis=1)


def test_notes_of_plan_and_statistics_both_reach_the_result():
    holes = wide(X)
    holes[2, 0] = np.nan
    with pytest.warns(DroppedDataWarning, match="1 of 3 columns"):
        plan = ts.plan(wide(X), wide(Y), nan_policy="omit")
    with pytest.warns(DroppedDataWarning, match="1 of 30 rows of x"):
        part = plan.statistics(holes, wide(Y))
    with pytest.warns(DroppedDataWarning):
        whole = ts.test(holes, wide(Y), nan_policy="omit")
    for result in (plan.test(part), whole):
        about_columns, about_rows = result.diagnostics.notes
        assert about_columns == "Dropped 1 of 3 columns that hold one value throughout: '1'."
        assert about_rows.startswith("Dropped 1 of 30 rows of x and 0 of 30 rows of y")
        assert about_columns in result.summary() and about_rows in result.summary()


@pytest.mark.parametrize("model", ["paper", "published"])
def test_notes_of_plan_rows_and_pairs_reach_the_result(model):
    holes, y = wide(X), wide(Y)
    holes[2, 0] = np.nan
    y[5:8] = holes[5:8]
    with pytest.warns(DroppedDataWarning):
        result = ts.test(holes, y, model=model, paired=True, nan_policy="omit")
    about_columns, about_rows, about_pairs = result.diagnostics.notes
    assert "1 of 3 columns" in about_columns
    assert "1 of 30 pairs with a missing" in about_rows
    assert "3 of 29 pairs have equal rows" in about_pairs


def given_answer(**changes):
    """At one lengthscale, with everything that the record is made from."""
    plan = ts.plan(X, Y, lengthscale=0.8)
    part = plan.statistics(X, Y)
    found = evidence.evaluate(part, plan.features, plan.model)
    posterior = LengthscalePosterior.given(found, Curves(True, np.log(1e-6)))
    record = {"prior_odds": 1e-6, "sizes": (30, 30), "sketches": (part.sketch_x, part.sketch_y)}
    return assembly.result(plan, found, posterior, **{**record, **changes})


def test_what_is_given_is_in_the_record():
    # A millionth is not the exponential of its own logarithm.
    assert np.exp(np.log(1e-6)) != 1e-6
    result = given_answer(sizes=(7, 8), pairs=5, notes=("a note",))
    assert result.prior_odds == 1e-6
    assert (result.n_x, result.n_y, result.diagnostics.pairs) == (7, 8, 5)
    assert result.diagnostics.notes == ("a note",)
    assert result.pvalue is None and result.diagnostics.permutations == 0
    assert result.log_bf10 == pytest.approx(ts.log_bf10(X, Y, 0.8), abs=1e-12)
    assert result.prob_h1 / result.prob_h0 == pytest.approx(1e-6 * np.exp(result.log_bf10))
    assert result.shown_x is result.shown_y is None
    kept = given_answer(keep_rows=True)
    assert sorted(map(tuple, kept.shown_x)) == sorted(map(tuple, X))
    assert sorted(map(tuple, kept.shown_y)) == sorted(map(tuple, Y))
    assert kept.shown == result.shown and kept.shown.rows == (len(X), len(Y))


def test_lengthscales_are_in_the_units_of_one_column():
    x, y = 100.0 * X[:, :1], 100.0 * Y[:, :1]
    result = ts.test(x, y)
    assert result.lengthscale.median_heuristic == pytest.approx(
        100.0 * ts.test(x / 100.0, y / 100.0).lengthscale.median_heuristic
    )
    assert ts.test(x, y, lengthscale=80.0).lengthscale.grid == pytest.approx([80.0])


def test_the_amplitude_is_that_of_the_lengthscales_that_the_posterior_favours():
    """The mass of each amplitude, from the mixture at many lengthscales and the density of the lengthscale."""
    result = ts.test(X, Y + 0.8, tolerance=1e-8)
    plan = ts.plan(X, Y + 0.8, tolerance=1e-8)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    low, high = np.log(plan.bounds)
    lengthscales = np.exp(low + 0.5 * (high - low) * (1.0 + nodes))
    fine = dataclasses.replace(plan, lengthscales=lengthscales)
    found = evidence.evaluate(fine.statistics(X, Y + 0.8), fine.features, fine.model)
    joint = weights[:, None] * np.exp(found.log_mixture - found.log_mixture.max())
    # The mass between two lengthscales of the grid is shared linearly, which is good to its step squared.
    np.testing.assert_allclose(result.amplitude.mass, joint.sum(axis=0) / joint.sum(), atol=1e-4)


@pytest.mark.parametrize("prior_odds", [1.0, 0.01])
@pytest.mark.parametrize("subsets", ["auto", None, [(0,)]])
def test_the_effect_has_the_probability_of_the_answer(subsets, prior_odds):
    result = ts.test(X, Y + 0.8, subsets=subsets, prior_odds=prior_odds)
    for quantity in (result.effect.auc, result.effect.mmd):
        assert quantity.prob_h1 == pytest.approx(result.prob_h1, abs=1e-12)
        assert quantity.exceeding(quantity.null) == pytest.approx(result.prob_h1, abs=1e-12)


def test_the_effect_is_that_of_the_columns_that_differ():
    """Given that only the other column may differ, there is no large difference, whatever the first one does."""
    y = Y + np.array([3.0, 0.0])
    both, one, other = (ts.test(X, y, subsets=subsets).effect.auc for subsets in ("auto", [(0,)], [(1,)]))
    # The AUC of a shift by 3 is Φ(3/√2) = 0.983.
    assert both.given_different(0.5) > 0.95 and one.given_different(0.5) > 0.95
    assert other.given_different(0.5) < 0.75


def test_the_accuracy_of_a_test_without_weight_does_not_matter():
    with pytest.warns(AccuracyWarning):
        rough = ts.test(X, Y, subsets=None, tolerance=1e-15)
    assert not rough.diagnostics.converged
    result = ts.test(X, Y, subsets=[(0,)], tolerance=1e-15)
    assert result.diagnostics.converged and result.diagnostics.quadrature_error == 0.0


def test_the_warning_has_the_error_and_the_remedy():
    result = given_answer()
    result = dataclasses.replace(
        result, diagnostics=dataclasses.replace(result.diagnostics, quadrature_error=0.0123, converged=False)
    )
    warning = assembly.inaccurate(result, "do this")
    assert isinstance(warning, AccuracyWarning)
    assert "estimated error of 0.01 in log BF10" in str(warning)
    assert str(warning).endswith("do this")
