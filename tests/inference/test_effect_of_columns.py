"""Tests of the effect in many single columns: against draws of the weights, in all of its flows, and what it sees."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import twosample as ts
from twosample.data import Ranks, View
from twosample.errors import InputError
from twosample.features.maps import PointFeatures, StackFeatures
from twosample.features.statistics import FeatureStatistics
from twosample.features.subsets import multiples_of, single_part
from twosample.inference import evidence
from twosample.inference.effect import OfColumns, of_columns
from twosample.inference.mixture import stack_with_sizes
from twosample.inference.relabelling import Splits
from twosample.kernels import RBF
from twosample.models import PRESETS
from twosample.places import local
from twosample.results.units_in_words import how_many_matter

ADAPTIVE = PRESETS["adaptive"]
# With one amplitude there is no mean over amplitudes, and the flows agree but for rounding.
ONE_AMPLITUDE = replace(ADAPTIVE, amplitude=None, amplitude_of_one=None)


def stack_of(x, y, model):
    view = Ranks.of_sorted(np.sort(np.concatenate([x, y]), axis=0))
    part = single_part(view)
    return StackFeatures(RBF(), view, part.columns, part.points, part.typical, multiples_of(model))


def statistics_of(features, x, y, paired=False):
    return FeatureStatistics(features.lengthscales, *local.stack_moments(features, x, y, paired=paired))


def kinds_of_columns(n_x, n_y, seed=0):
    """Columns that are the same, shifted, wider, of another shape, and far apart."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, 5)), rng.normal(size=(n_y, 5))
    y[:, 1] += 0.8
    y[:, 2] *= 2.5
    y[:, 3] = np.sign(y[:, 3]) + 0.3 * rng.normal(size=n_y)
    y[:, 4] += 3.0
    return x, y


@pytest.mark.parametrize("paired", [False, True])
def test_mean_and_variance_are_those_of_drawn_weights(paired):
    x, y = kinds_of_columns(600, 600)
    features = stack_of(x, y, ONE_AMPLITUDE)
    statistics = statistics_of(features, x, y, paired)
    given = evidence.evaluate(statistics, features, ONE_AMPLITUDE)
    found = of_columns(statistics, given, features, ONE_AMPLITUDE)
    scores = features.view.apply(np.concatenate([x, y]))
    for column in range(1, 5):
        start = 15 * column
        best = start + int(given.log_bf10[start : start + 15].argmax())
        lengthscale, Z = features.lengthscales[best], features.points[column][:, 0]
        K = np.exp(-((Z[:, None] - Z) ** 2) / (2 * lengthscale**2))
        phi = np.exp(-((scores[:, column, None] - Z) ** 2) / (2 * lengthscale**2))
        of_x, of_y = phi[:600], phi[600:]
        delta, V = of_x.mean(axis=0) - of_y.mean(axis=0), given.V[best]
        s = len(Z)
        H = np.eye(s) - 1 / s
        prior = H / s  # the amplitude is 1, and so is the variance of the witness, on average over the points
        prior = prior * np.exp(evidence.log_variances(ONE_AMPLITUDE, features, features.lengthscales)[best, 0])
        gain = prior @ K @ np.linalg.inv(K @ prior @ K + V)
        mean, covariance = gain @ delta, prior - gain @ K @ prior
        values, vectors = np.linalg.eigh(covariance)
        rng = np.random.default_rng(column)
        w = mean + rng.normal(size=(10_000, s)) @ (vectors * np.sqrt(np.maximum(values, 0))).T
        covariances = np.cov(of_x.T, bias=True) + np.cov(of_y.T, bias=True)
        probit = np.einsum("ni,ij,nj->n", w, K, w) / np.sqrt(np.einsum("ni,ij,nj->n", w, covariances, w))
        # To second order in the spread of the weights; the knots of pairs stand for their rows.
        assert found.mean[column] == pytest.approx((probit**2).mean(), rel=0.03)
        assert found.relative_variance[column] == pytest.approx((probit**2).var() / (probit**2).mean() ** 2, rel=0.12)


@pytest.mark.parametrize(("n_x", "n_y"), [(40, 40), (25, 60), (300, 100)])
@pytest.mark.parametrize(("model", "tolerance"), [(ONE_AMPLITUDE, 1e-6), (ADAPTIVE, 5e-4)])
def test_columns_that_share_a_spectrum_have_the_same_effect(n_x, n_y, model, tolerance):
    x, y = kinds_of_columns(n_x, n_y)
    features = stack_of(x, y, model)
    _, expected = stack_with_sizes(features, lambda tests: statistics_of(features.select(tests), x, y), model)
    view = Ranks.of_sorted(np.arange(float(n_x + n_y))[:, np.newaxis])
    part = single_part(view)
    alone = PointFeatures(RBF(), View.none(1), part.points[0], float(part.typical[0]))
    splits = Splits.of(view.scores, n_x, alone, alone.typical * multiples_of(model), model)
    _, found = splits.with_sizes(np.argsort(np.concatenate([x, y]), axis=0) < n_x)
    assert_allclose(found.auc, expected.auc, atol=tolerance)
    assert_allclose(found.beyond(0.6), expected.beyond(0.6), atol=20 * tolerance)


def test_quantiles_are_those_of_a_gamma_law():
    found = OfColumns(np.array([0.1, 0.5, 2.0]), np.array([0.5, 0.1, 0.02]))
    law = stats.gamma(1 / found.relative_variance, scale=found.mean * found.relative_variance)
    assert_allclose(found.auc, stats.norm.cdf(np.sqrt(law.median())), atol=2e-3)
    assert_allclose(found.beyond(0.7), law.sf(stats.norm.ppf(0.7) ** 2), rtol=1e-9)


@pytest.mark.parametrize("paired", [False, True])
def test_the_auc_sees_shifts_spreads_and_shapes(paired):
    x, y = kinds_of_columns(1000, 1000)
    rows = {row.column: row for row in ts.test_each(x, y, paired=paired)}
    assert rows["0"].auc < 0.52
    assert rows["1"].auc == pytest.approx(stats.norm.cdf(0.8 / math.sqrt(2)), abs=0.025)
    assert rows["4"].auc == pytest.approx(stats.norm.cdf(3 / math.sqrt(2)), abs=0.01)
    # The best that can be done with a spread; the values of a witness of it are not normal, which is not corrected.
    assert -0.01 < rows["2"].auc - 2 / math.pi * math.atan(2.5) < 0.06
    assert rows["3"].auc > 0.68 and rows["3"].direction in ("different shape", "more spread in y")
    assert [rows[column].size for column in "04"] == ["very small", "very large"]


@pytest.mark.parametrize(("decimals", "paired"), [(None, False), (1, False), (1, True)])
def test_test_and_each_have_one_auc(decimals, paired):
    x, y = kinds_of_columns(60, 60) if decimals is None else (rows.round(1) for rows in kinds_of_columns(60, 60))
    expected = {row.column: row.auc for row in ts.test(x, y, paired=paired).by_column}
    for row in ts.test_each(x, y, paired=paired):
        assert row.auc == pytest.approx(expected[row.column], abs=5e-4)


def test_a_rope_adds_a_probability():
    x, y = kinds_of_columns(60, 60)
    result, plain = ts.test_each(x, y, rope=0.6, groups={"two": ["0", "1"]}), ts.test_each(x, y)
    assert all(row.prob_beyond_rope is None for row in plain) and "AUC > " not in plain.summary()
    assert "P(AUC > 0.6)" in result.summary() and ts.EachResult.from_json(result.to_json()) == result
    for row in result:
        assert 0.0 <= row.prob_beyond_rope <= row.prob_h1
    group = next(row for row in result if row.column == "two")
    effect = ts.test(x[:, :2], y[:, :2]).effect
    assert group.prob_beyond_rope == pytest.approx(group.prob_h1 * replace(effect.auc, prob_h1=1.0).exceeding(0.6))
    single = {row.column: row for row in result}
    assert single["4"].prob_beyond_rope > 0.999 and single["0"].prob_beyond_rope < 0.1
    with pytest.raises(InputError, match=r"^rope: "):
        ts.test_each(x, y, rope=0.4)
    with pytest.raises(InputError, match=r"^rope: model 'flat' does not say how much samples differ"):
        ts.test_each(x, y, rope=0.6, model=replace(ADAPTIVE, name="flat", prior_nugget=1e-6))
    without = ts.test_each(x, y, model=replace(ADAPTIVE, name="flat", prior_nugget=1e-6))
    assert all(math.isnan(row.auc) and row.size == "" for row in without)


def test_rows_are_sorted_by_evidence_or_by_size():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 4)), rng.normal(size=(60, 4))
    y[:, 0] += 1.1
    y[:, 1] += 0.6
    x[12:, 2] = y[12:, 2] = np.nan  # few values, far apart: little evidence of a large difference
    y[:12, 2] += 3.0
    with pytest.warns(ts.errors.DroppedDataWarning):
        result = ts.test_each(x, y, sort="size", nan_policy="omit")
    assert [row.auc for row in result] == sorted((row.auc for row in result), reverse=True)
    ordered = result.sorted_by("evidence")
    assert [row.log_bf10 for row in ordered] == sorted((row.log_bf10 for row in result), reverse=True)
    assert list(ordered) != list(result) and set(ordered) == set(result)
    assert result.column[0] == "2" and set(ordered.discoveries) == set(result.discoveries)
    with pytest.raises(InputError, match="sort: 'name' is no order"):
        ts.test_each(x, y, sort="name")


def test_discoveries_are_likelier_to_differ_than_not():
    """Many sure columns make room for a share of false ones, and q of the next column is small too."""
    x, y = kinds_of_columns(60, 60)
    result = ts.test_each(x, y)
    result = result.changed(prob_h1=np.array([1.0, 1.0, 0.9, 0.45, 0.1]), q=np.array([0.0, 0.0, 0.03, 0.05, 0.3]))
    assert result.discoveries == result.column[:3]


def test_files_of_older_versions_have_no_auc_of_the_witness():
    x, y = kinds_of_columns(30, 30)
    result = ts.test_each(x, y)
    content = result.to_dict()
    older = {**content, "auc": content["prob_larger"]}
    for name in ("prob_larger", "prob_beyond_rope", "rope"):
        del older[name]
    found = ts.EachResult.from_json(json.dumps(older))
    assert [row.prob_larger for row in found] == [row.prob_larger for row in result]
    assert np.isnan(found.auc).all() and found.discoveries == result.discoveries


def test_where_nearly_all_columns_differ_it_is_said_how_many_matter():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 6000, 5))
    y += [0.12, 0.12, 0.12, 0.6, 1.0]
    for result in (ts.test(x, y), ts.test_each(x, y)):
        words = "5 of 5 columns differ; 2 of them by more than a very small amount (AUC above 0.56)"
        assert f"  how much             {words}" in result.summary().splitlines()
    for result in (ts.test(x, y, rope=0.7), ts.test_each(x, y, rope=0.7)):
        assert "5 of 5 columns differ; 1 of them by more than the rope (AUC above 0.7)" in result.summary()
    assert how_many_matter(np.full(3, 0.6), 5, None) == [] and how_many_matter(np.full(2, 0.6), 2, None) == []
    assert len(how_many_matter(np.full(4, 0.6), 5, None)) == 1


def test_bf01_is_one_over_bf10():
    result = ts.test([0.1, 0.4, 0.7, 0.9, 1.2], [0.2, 0.5, 0.6, 0.8, 1.3])
    assert result.bf01 == pytest.approx(1.0 / result.bf10) and result.bf01 > 1.0
    assert (result.changed(log_bf10=-1e5).bf01, result.changed(log_bf10=1e5).bf01) == (math.inf, 0.0)
    assert "bf01" not in result.to_dict()
