import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import twosample as ts
from twosample.common import records
from twosample.errors import InputError
from twosample.inference import effect, evidence
from twosample.inference.effect import Effect, PartEffect, Quantity, Squares, combine, of_part, size_in_words
from twosample.models import PRESETS, NoiseFloor

MODEL = PRESETS["adaptive"]
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def shifted(n, size=0.7, n_columns=1, seed=1):
    x, y = np.random.default_rng(seed).normal(size=(2, n, n_columns))
    return x, y + size * (np.arange(n_columns) == 0)


def evaluated(x, y, **options):
    plan = ts.plan(x, y, model=options.pop("model", MODEL), **options)
    statistics = plan.statistics(x, y)
    return plan, statistics, evidence.evaluate(statistics, plan.features, plan.model)


def part_of(x, y, **options):
    plan, statistics, found = evaluated(x, y, **options)
    shares = np.ones(1) if plan.fixed else plan.posterior(found).shares(found.lengthscales)
    return of_part(found, shares, plan.features, plan.model, statistics.sketch_x.rows, statistics.sketch_y.rows)


def effect_of(x, y, prob_h1=1.0, **options):
    return combine([part_of(x, y, **options)], np.ones(1), prob_h1)


def quantiles(quantity):
    return np.array([quantity.given_different(level) for level in LEVELS])


def kernel(rows, points, lengthscale):
    return np.exp(-((rows[:, None] - points) ** 2).sum(-1) / (2 * lengthscale**2))


def draws_of_weights(x, y, points, lengthscale, a2, floor, count, rng):
    """From the textbook posterior of w, whose prior is a²/s (I - 11ᵀ/s), given Δ = Kw + noise."""
    s = len(points)
    K, fx, fy = (kernel(rows, points, lengthscale) for rows in (points, x, y))
    noise = np.cov(fx.T, bias=True) / len(x) + np.cov(fy.T, bias=True) / len(y)
    C0 = a2 / s * (np.eye(s) - 1 / s)
    gain = C0 @ K @ np.linalg.inv(K @ C0 @ K + noise + floor * np.eye(s))
    mean, covariance = gain @ (fx.mean(0) - fy.mean(0)), C0 - gain @ K @ C0
    return rng.multivariate_normal(mean, covariance, count, method="eigh"), K, fx, fy, mean


@pytest.mark.parametrize(("n", "size", "share"), [(40, 0.3, 0.12), (400, 0.8, 0.03)])
def test_moments_are_those_of_draws_from_the_posterior(n, size, share):
    """With amplitude and lengthscale given, against 40,000 draws; their moments are known to one or two per cent."""
    x, y = shifted(n, size)
    points, lengthscale = np.linspace(-2, 2.5, 8)[:, None], 0.9
    floor = NoiseFloor(0.05, power=2)
    model = replace(MODEL, amplitude=None, amplitude_of_one=None, floor=floor, scale="raw")
    part = part_of(x, y, model=model, points=points, lengthscale=lengthscale)
    rng = np.random.default_rng(2)
    w, K, fx, fy, mean = draws_of_weights(x, y, points, lengthscale, 1.0, 0.05 / n**2, 40_000, rng)
    norms = np.einsum("ij,jk,ik->i", w, K, w)
    shape, scale = part.mmd.shape[0], part.mmd.scale[0]
    np.testing.assert_allclose(shape * scale, norms.mean(), rtol=0.02)
    np.testing.assert_allclose(shape * scale**2, norms.var(), rtol=0.04)

    kappa, spread = effect._kappa(fx @ mean, fy @ mean)
    variances = np.einsum("ij,jk,ik->i", w, np.cov(fx.T, bias=True) + np.cov(fy.T, bias=True), w)
    probits = rng.normal(kappa, spread, len(w)) * norms / np.sqrt(variances)
    found = combine([part], np.ones(1), 1.0)
    # To second order in the noise of w only, and a Gamma law: a share of the posterior's width.
    expected = stats.norm.cdf(np.quantile(probits, LEVELS))
    np.testing.assert_allclose(quantiles(found.auc), expected, atol=share * (expected[-1] - expected[0]))
    expected = np.sqrt(np.quantile(norms, LEVELS))
    np.testing.assert_allclose(quantiles(found.mmd), expected, atol=share * (expected[-1] - expected[0]))


@pytest.mark.parametrize("n_columns", [1, 2])
def test_amplitudes_weigh_as_the_evidence_and_a_power_of_them(n_columns):
    """Those of more than a hundredth of the largest weight."""
    x, y = shifted(50, 0.5, n_columns)
    _, _, found = evaluated(x, y, lengthscale=0.8, scale="raw")
    scale = MODEL.amplitude_of_one.scale if n_columns == 1 else MODEL.amplitude.scale
    weights = np.exp(found.log_mixture[0]) * (scale * np.exp(0.25 * np.arange(-48, 49))) ** 1.5
    weights = weights[weights > 0.01 * weights.max()]
    np.testing.assert_allclose(part_of(x, y, lengthscale=0.8, scale="raw").weights, weights / weights.sum(), rtol=1e-9)


def test_large_samples_have_the_known_auc_and_mmd():
    """Of N(0,1) against N(1,1) at a lengthscale; 8,000 rows have an AUC within 0.004."""
    x, y = shifted(8000, 1.0)
    found = effect_of(x, y, lengthscale=2.0, scale="raw")
    assert abs(found.auc.mean - stats.norm.cdf(math.sqrt(0.5))) < 3 * 0.004
    peak, between = 2 / math.sqrt(6), 2 / math.sqrt(6) * math.exp(-1 / 12)
    assert abs(found.mmd.mean - math.sqrt(2 * (peak - between))) < 0.012
    assert found.mmd.given_different(0.95) - found.mmd.given_different(0.05) < 0.03


def test_auc_is_that_of_mann_and_whitney_where_rows_are_many():
    """The witness of a shift orders rows as their values do, also where these are far from normal."""
    rng = np.random.default_rng(3)
    x, y = rng.exponential(size=(2000, 1)), 1.6 * rng.exponential(size=(2000, 1))
    expected = stats.mannwhitneyu(y[:, 0], x[:, 0]).statistic / 2000**2
    assert abs(effect_of(x, y).auc.given_different(0.5) - expected) < 0.006


def test_kappa_is_one_for_normal_scores_and_the_ratio_of_probits_otherwise():
    rng = np.random.default_rng(4)
    x, y = rng.normal(1.0, 1.0, 20_000), rng.normal(size=20_000)
    kappa, spread = effect._kappa(x, y)
    assert abs(kappa - 1.0) < 3 * spread < 0.05
    x, y = np.exp(x), np.exp(y)
    auc = stats.mannwhitneyu(x, y).statistic / 20_000**2
    expected = stats.norm.ppf(auc) / ((x.mean() - y.mean()) / np.sqrt(x.var() + y.var()))
    assert abs(expected - 1.0) > 0.2
    np.testing.assert_allclose(effect._kappa(x, y)[0], expected, rtol=0.03)  # the prior pulls it to 1


def test_uncertainty_of_kappa_is_its_spread_over_samples():
    rng = np.random.default_rng(5)
    found = np.array([effect._kappa(rng.exponential(1.5, 2000), rng.exponential(1.0, 2000)) for _ in range(200)])
    np.testing.assert_allclose(found[:, 0].std(), found[:, 1].mean(), rtol=0.25)


def test_placements_count_ties_by_half():
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 4, 30).astype(float), rng.integers(0, 5, 20).astype(float)
    brute = [np.mean([(b < a) + 0.5 * (b == a) for b in y]) for a in x]
    np.testing.assert_allclose(effect._placements(x, y), brute)
    np.testing.assert_allclose(np.mean(brute), stats.mannwhitneyu(x, y).statistic / 600)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_swapping_the_samples_leaves_the_effect(n_columns):
    x, y = shifted(80, n_columns=n_columns)
    y = y[:60]
    one, other = effect_of(x, y), effect_of(y, x)
    np.testing.assert_allclose(quantiles(one.auc), quantiles(other.auc), rtol=1e-6)
    np.testing.assert_allclose(quantiles(one.mmd), quantiles(other.mmd), rtol=1e-6)


def test_units_leave_the_effect():
    x, y = shifted(80, n_columns=2)
    one, other = effect_of(x, y), effect_of(1e3 * x - 7.0, 1e3 * y - 7.0)
    np.testing.assert_allclose(quantiles(one.auc), quantiles(other.auc), rtol=1e-6)
    np.testing.assert_allclose(quantiles(one.mmd), quantiles(other.mmd), rtol=1e-6)


@pytest.mark.parametrize("gap", [6.0, 1e3])
def test_samples_far_apart_have_an_auc_near_one(gap):
    x, y = shifted(60, gap)
    found = effect_of(x, y)
    assert 0.97 < found.auc.interval()[0] <= found.auc.interval()[1] <= 1.0
    assert 0.5 < found.mmd.mean < math.sqrt(2)


@pytest.mark.parametrize("levels", [2, 3])
def test_samples_of_few_values(levels):
    rng = np.random.default_rng(7)
    x, y = rng.integers(0, levels, (100, 1)).astype(float), np.minimum(rng.integers(0, levels + 1, (90, 1)), levels - 1)
    found = effect_of(x, y.astype(float))
    expected = stats.mannwhitneyu(y[:, 0], x[:, 0]).statistic / 9000
    assert found.auc.interval()[0] < expected < found.auc.interval()[1]


def test_without_a_witness_there_is_no_effect():
    x, y = shifted(50)
    found = effect_of(x, y, points=np.ones((5, 1)))
    assert found.mmd.mean < 1e-6
    assert abs(found.auc.mean - 0.5) < 1e-6


@pytest.mark.slow
def test_intervals_cover_the_best_auc():
    """Of nominally 90 %: at 150 data sets, fewer than 120 would be four standard deviations too few."""
    inside = 0
    for seed in range(150):
        low, high = effect_of(*shifted(150, 0.8, seed=100 + seed)).auc.interval(0.9)
        inside += low <= stats.norm.cdf(0.8 / math.sqrt(2)) <= high
    assert inside >= 120


def gamma_part(weights, shape, scale):
    squares = Squares(np.array(shape), np.array(scale))
    return PartEffect(np.array(weights), squares, squares)


def test_parts_are_mixed_by_their_weights():
    """Against SciPy's Gamma laws; between the values that are kept the distribution function is linear, to 3e-3."""
    parts = [gamma_part([0.3, 0.7], [0.5, 4.0], [0.02, 0.01]), gamma_part([1.0], [400.0], [0.001])]
    found = combine(parts, np.array([0.4, 0.6]), 0.9)
    laws = [(0.12, 0.5, 0.02), (0.28, 4.0, 0.01), (0.6, 400.0, 0.001)]
    for value in (0.05, 0.1, 0.2, 0.3, 0.6, 0.63, 0.65):
        above = sum(w * stats.gamma.sf(value**2, shape, scale=scale) for w, shape, scale in laws)
        assert abs(found.mmd.exceeding(value) - 0.9 * above) < 3e-3
        assert abs(found.auc.exceeding(stats.norm.cdf(value)) - 0.9 * above) < 3e-3
    mean = sum(w * stats.gamma.expect(np.sqrt, (shape,), scale=scale) for w, shape, scale in laws)
    np.testing.assert_allclose(found.mmd.mean, 0.9 * mean, rtol=2e-3)
    np.testing.assert_allclose(found.mmd.exceeding(found.mmd.given_different(0.8)), 0.9 * 0.2, rtol=1e-6)


def test_narrow_and_wide_parts_are_both_resolved():
    """Of values up to 6 half are within 1e-4 of each other."""
    parts = [gamma_part([1.0], [1e8], [1e-10]), gamma_part([1.0], [2.0], [1.0])]
    mmd = combine(parts, np.array([0.5, 0.5]), 1.0).mmd
    below = 0.5 * stats.gamma.cdf(0.01, 2.0)
    assert abs(mmd.exceeding(0.0998) - (1 - below)) < 5e-3
    assert abs(mmd.exceeding(0.1002) - (0.5 - below)) < 5e-3


def test_values_of_mixtures_start_at_zero_and_never_fall():
    rng = np.random.default_rng(8)
    for count in (1, 5, 60):
        part = gamma_part(
            rng.dirichlet(np.ones(count)), 10.0 ** rng.uniform(-2, 6, count), np.exp(rng.normal(size=count))
        )
        mmd = combine([part], np.ones(1), 1.0).mmd
        assert (mmd.values[0], mmd.cumulative[0], mmd.cumulative[-1]) == (0.0, 0.0, 1.0)
        assert (np.diff(mmd.values) >= 0).all() and (np.diff(mmd.cumulative) >= 0).all()


def test_the_spike():
    """It counts for mean, threshold and lower end; the upper end is that of a difference, if there is one."""
    auc = Quantity(0.5, 0.08, np.array([0.5, 0.7]), np.array([0.0, 1.0]))
    for level in (0.8, 0.9):
        np.testing.assert_allclose(auc.interval(level), (0.5, 0.5 + 0.2 * (0.5 + 0.5 * level)))
    np.testing.assert_allclose(auc.mean, 0.92 * 0.5 + 0.08 * 0.6)
    assert (auc.exceeding(0.49), auc.exceeding(0.5), auc.exceeding(0.7)) == (1.0, 0.08, 0.0)
    np.testing.assert_allclose(Quantity(0.0, 0.0, auc.values - 0.5, auc.cumulative).interval(), (0.0, 0.2 * 0.95))


def test_the_lower_end_leaves_as_much_below_as_the_level_says():
    """Of 0.02 at 0.5 and the rest even up to 0.7, below the lower end of 90 % are 0.05, those at 0.5 among them."""
    auc = Quantity(0.5, 0.98, np.array([0.5, 0.7]), np.array([0.0, 1.0]))
    low, high = auc.interval(0.9)
    np.testing.assert_allclose((low, high), (0.5 + 0.2 * 0.03 / 0.98, 0.69))
    np.testing.assert_allclose(1.0 - auc.exceeding(low), 0.05)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
def test_impossible_levels_are_refused(level):
    mmd = Quantity(0.0, 0.5, np.array([0.0, 0.7]), np.array([0.0, 1.0]))
    for ask in (mmd.interval, mmd.given_different):
        with pytest.raises(InputError, match="level"):
            ask(level)


def test_goes_through_json():
    found = effect_of(*shifted(50), prob_h1=0.7)
    again = Effect(**records.restored(Effect, json.loads(records.to_json(records.to_plain(found), None))))
    assert again.auc.interval() == found.auc.interval()
    assert again.mmd.mean == found.mmd.mean
    assert "90 %" in repr(again.auc)


def test_few_lengthscales_stand_for_all():
    shares = stats.norm.pdf(np.arange(43), 20, 6)
    kept, weights = effect._thin(shares / shares.sum())
    assert len(kept) <= 12
    np.testing.assert_allclose(weights.sum(), 1.0)
    np.testing.assert_allclose(weights @ kept, 20, atol=1.0)
    assert [array.tolist() for array in effect._thin(np.array([0.0, 1.0, 0.0]))] == [[1], [1.0]]


def test_sizes_in_words_follow_cohen():
    assert size_in_words(0.5) == "very small"
    assert size_in_words(1.0) == "very large"
    for distance, words in ((0.2, "small"), (0.5, "medium"), (0.8, "large"), (1.2, "very large")):
        auc = stats.norm.cdf(distance / math.sqrt(2))
        assert size_in_words(auc + 1e-6) == words
        assert size_in_words(auc - 1e-6) != words
