"""The mixture against brute force: Bayes factors of its parts from their formula, and how they are averaged."""

import dataclasses
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import mannwhitneyu, norm, rankdata
from tests import default_model

import twosample as ts
from twosample.data.ranks import direction
from twosample.inference import mixture
from twosample.models import PRESETS, LogUniform

ADAPTIVE = PRESETS["adaptive"]
# The amplitude is summed in steps of ¼ of log a, which is exact but for the tails: 4e-6 of the prior.
INTEGRATION = 2e-5


# ---- by the book


def scores_of(x, y):
    """Pooled normal scores of each column, by SciPy: those of x and those of y."""
    rows = np.concatenate([x, y])
    scores = norm.ppf((rankdata(rows, axis=0) - 0.5) / len(rows))
    return scores[: len(x)], scores[len(x) :]


def kernel(rows, points, lengthscale):
    return np.exp(-np.square(rows[:, None] - points).sum(axis=2) / (2 * lengthscale**2))


def log_bf10_at(x, y, points, lengthscale, paired=False):
    """Log BF10 of scores at one lengthscale."""
    features = [kernel(rows, points, lengthscale) for rows in (x, y, points)]
    return default_model.log_bf10(*features, paired=paired, scale=0.5 if points.shape[1] == 1 else 0.3)


def typical_of(points):
    distances = np.sqrt(np.square(points[:, None] - points).sum(axis=2))
    return np.median(distances[np.triu(distances) > 0]) / math.sqrt(2)


def log_bf10_of_scores(x, y, points, paired=False):
    """The mean of the Bayes factors at 15 lengthscales."""
    lengthscales = typical_of(points) * 2 ** (np.arange(15) / 2) / 16
    found = [log_bf10_at(x, y, points, lengthscale, paired) for lengthscale in lengthscales]
    return np.logaddexp.reduce(found) - math.log(15)


def sixteenths(scores):
    """The 16 points of a column: means of as many intervals of the pooled scores, those on a border in both."""
    ordered = np.sort(np.ravel(scores))
    edges = [Fraction(len(ordered) * cell, 16) for cell in range(17)]
    means = np.array([ordered[math.floor(a) : math.ceil(b)].mean() for a, b in pairwise(edges)])
    return np.round(means, 12)[:, None]  # those of equal scores are equal


def draw(n_x, n_y, n_columns=1, shift=0.5, seed=0):
    """Columns of unlike shape; the last two go together in y only."""
    rng = np.random.default_rng([seed, n_x, n_y, n_columns])
    x, y = rng.normal(size=(n_x, n_columns)), rng.standard_t(4, size=(n_y, n_columns)) + shift
    if n_columns > 1:
        y[:, -1] += y[:, -2]
    return np.exp(0.5 * x), np.exp(0.5 * y)


SIZES = pytest.mark.parametrize(("n_x", "n_y", "paired"), [(30, 30, False), (25, 60, False), (40, 40, True)])


@SIZES
@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_log_bf10_of_a_single_column(n_x, n_y, paired, shift):
    x, y = draw(n_x, n_y, 2, shift)
    found = ts.test(x, y, paired=paired).by_subset
    scores = scores_of(x, y)
    for column in (0, 1):
        of_x, of_y = (rows[:, [column]] for rows in scores)
        points = sixteenths(np.concatenate([of_x, of_y]))
        expected = log_bf10_of_scores(of_x, of_y, points, paired)
        assert found.log_bf10[column] == pytest.approx(expected, abs=INTEGRATION)


@SIZES
def test_log_bf10_of_a_pair_of_columns(n_x, n_y, paired):
    x, y = draw(n_x, n_y, 3)
    plan, result = ts.plan(x, y, paired=paired), ts.test(x, y, paired=paired)
    scores = scores_of(x, y)
    at = result.by_subset.subsets.index((1, 2))
    points = plan.parts[1].points[plan.parts[1].columns.tolist().index([1, 2])]
    expected = log_bf10_of_scores(*(rows[:, [1, 2]] for rows in scores), points, paired)
    assert result.by_subset.subset_log_bf10[at] == pytest.approx(expected, abs=INTEGRATION)


def test_a_column_with_ties():
    rng = np.random.default_rng(3)
    x, y = rng.poisson(4.0, (60, 2)), rng.poisson(6.0, (45, 2))
    found = ts.test(x, y).by_subset.log_bf10
    scores = scores_of(x, y)
    for column in (0, 1):
        of_x, of_y = (rows[:, [column]] for rows in scores)
        expected = log_bf10_of_scores(of_x, of_y, sixteenths(np.concatenate([of_x, of_y])))
        assert found[column] == pytest.approx(expected, abs=INTEGRATION)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_the_mixture_from_its_parts(n_columns):
    """Equal weights of sizes, of subsets of a size, and of scaled values and scores where all columns are tested."""
    x, y = draw(35, 45, n_columns)
    result = ts.test(x, y, tolerance=1e-5)
    scores = scores_of(x, y)
    plan = ts.plan(x, y)
    # All columns as scaled, and their scores.
    whole = 1 / n_columns if n_columns < 3 else 1 / 3
    joint = ts.test(x, y, subsets=None, tolerance=1e-5).log_bf10
    points = sixteenths(np.concatenate(scores)) if n_columns == 1 else plan.parts[-1].points[0]
    terms = [(whole / 2, joint), (whole / 2, log_bf10_of_scores(*scores, points))]
    everything = tuple(range(n_columns))
    expected = {everything: np.logaddexp.reduce([value for _, value in terms]) - math.log(2)}
    if n_columns > 1:
        for column in range(n_columns):
            of_x, of_y = (rows[:, [column]] for rows in scores)
            expected[column,] = log_bf10_of_scores(of_x, of_y, sixteenths(np.concatenate([of_x, of_y])))
            terms.append((1 / n_columns / (2 if n_columns == 2 else 3), expected[column,]))
    if n_columns == 3:
        for columns, points in zip(plan.parts[1].columns.tolist(), plan.parts[1].points, strict=True):
            expected[tuple(columns)] = log_bf10_of_scores(*(rows[:, columns] for rows in scores), points)
            terms.append((1 / 9, expected[tuple(columns)]))
    weights, values = np.array(terms).T
    assert weights.sum() == pytest.approx(1.0)
    total = np.logaddexp.reduce(np.log(weights) + values)
    assert result.log_bf10 == pytest.approx(total, abs=2 * INTEGRATION)
    # And the table of subsets.
    found = result.by_subset
    assert set(found.subsets) == set(expected)
    assert_allclose(found.subset_log_bf10, [expected[one] for one in found.subsets], atol=2 * INTEGRATION)
    posterior = found.prior * np.exp(found.subset_log_bf10 - total)
    assert_allclose(found.posterior, posterior, atol=1e-4)
    assert found.posterior.sum() == pytest.approx(1.0)
    alone = [expected[column,] if n_columns > 1 else result.log_bf10 for column in range(n_columns)]
    assert_allclose(found.log_bf10, alone, atol=2 * INTEGRATION)


@pytest.mark.parametrize("paired", [False, True])
def test_parts_are_tests_of_scores(paired):
    """By the public function, at the points and lengthscales of the part: also of three columns of four."""
    x, y = draw(30, 30, 4)
    plan = ts.plan(x, y, subsets="all", paired=paired)
    found = ts.test(x, y, subsets="all", paired=paired).by_subset
    assert [part.columns.shape for part in plan.parts] == [(4, 1), (6, 2), (4, 3), (1, 4)]
    scores = scores_of(x, y)
    for part in plan.parts[:3]:
        for columns, points, typical in zip(part.columns.tolist(), part.points, part.typical, strict=True):
            rows = [one[:, columns] for one in scores]
            lengthscales = typical * 2 ** (np.arange(15) / 2) / 16
            at_lengthscales = ts.log_bf10(*rows, lengthscales, points=points, scale="raw", paired=paired)
            expected = np.logaddexp.reduce(at_lengthscales) - math.log(15)
            at = found.subsets.index(tuple(columns))
            assert found.subset_log_bf10[at] == pytest.approx(expected, abs=1e-9)


def test_other_lengthscales_and_shares():
    x, y = draw(30, 40, 2)
    model = dataclasses.replace(ADAPTIVE, lengthscale=LogUniform(0.5, 2.0), ranks=0.2)
    plan, found = ts.plan(x, y, model=model), ts.test(x, y, model=model)
    assert plan.prior == pytest.approx(0.5 * 0.8)
    scores, logs = scores_of(x, y), [(plan.prior, ts.test(x, y, model=model, subsets=None).log_bf10)]
    for part in plan.parts:
        tests = zip(part.columns.tolist(), part.points, part.typical, part.prior, strict=True)
        for columns, points, typical, prior in tests:
            lengthscales = typical * np.array([0.5, math.sqrt(0.5), 1.0, math.sqrt(2.0), 2.0])
            at = [log_bf10_at(*(rows[:, columns] for rows in scores), points, one) for one in lengthscales]
            logs.append((prior, np.logaddexp.reduce(at) - math.log(5)))
    weights, values = np.array(logs).T
    assert_allclose(weights, [0.4, 0.25, 0.25, 0.1])
    assert found.log_bf10 == pytest.approx(np.logaddexp.reduce(np.log(weights) + values), abs=2 * INTEGRATION)


def test_named_subsets_and_nothing_else():
    x, y = draw(30, 40, 3)
    every, some = ts.test(x, y), ts.test(x, y, subsets=[(0,), (1, 2)])
    assert some.by_subset.subsets == ((0,), (1, 2))
    log_bf10 = [every.by_subset.subset_log_bf10[every.by_subset.subsets.index(one)] for one in ((0,), (1, 2))]
    assert_allclose(some.by_subset.subset_log_bf10, log_bf10, atol=1e-12)
    assert some.log_bf10 == pytest.approx(np.logaddexp.reduce(log_bf10) - math.log(2))
    # Every column has its own Bayes factor, with or without weight.
    assert_array_equal(some.by_subset.log_bf10, every.by_subset.log_bf10)


def test_no_subsets_are_the_joint_test():
    x, y = draw(30, 40, 3)
    result = ts.test(x, y, subsets=None)
    assert result.by_subset is None
    assert ts.plan(x, y, subsets=None).parts == ()
    assert result.log_bf10 != ts.test(x, y).log_bf10


# ---- what it says of columns


def test_columns_by_ranks():
    """Area under the curve, spread and direction against SciPy and formulas, with ties."""
    rng = np.random.default_rng(4)
    x = np.column_stack([rng.normal(size=50), rng.integers(0, 5, 50), rng.normal(size=50)])
    y = np.column_stack([rng.normal(1.0, 1.0, 70), rng.integers(0, 5, 70), 3.0 * rng.normal(size=70)])
    found, (of_x, of_y) = ts.test(x, y).by_subset, scores_of(x, y)
    areas = [mannwhitneyu(x[:, column], y[:, column]).statistic / (50 * 70) for column in range(3)]
    assert_allclose(found.auc, areas, rtol=1e-12)
    assert_allclose(found.spread, of_x.std(axis=0, ddof=1) / of_y.std(axis=0, ddof=1), rtol=1e-12)
    moments = of_x.mean(axis=0), of_y.mean(axis=0), of_x.var(axis=0, ddof=1), of_y.var(axis=0, ddof=1)
    assert found.direction == tuple(direction(*moments, 50, 70))
    assert found.direction[0] == "larger in y" and found.direction[2] == "more spread in y"


def test_a_column_of_one_value_in_a_sample():
    x, y = draw(20, 30, 2)
    x[:, 0] = np.median(y[:, 0])
    result = ts.test(x, y)
    assert result.by_subset.direction[0] == "more spread in y"
    assert np.isfinite(result.by_subset.log_bf10).all()
    assert "more spread in y" in result.summary()


# ---- a few tests at a time


def test_tests_are_evaluated_a_few_at_a_time(monkeypatch):
    x, y = draw(20, 25, 5)
    whole = ts.test(x, y)
    plan = ts.plan(x, y)
    monkeypatch.setattr(mixture, "_TESTS", 3)
    for some in (ts.test(x, y), plan.test(plan.statistics(x, y))):
        assert some.log_bf10 == pytest.approx(whole.log_bf10, abs=1e-10)
        assert_allclose(some.by_subset.subset_log_bf10, whole.by_subset.subset_log_bf10, atol=1e-10)
        assert_allclose(some.by_subset.log_bf10, whole.by_subset.log_bf10, atol=1e-10)


def test_the_mean_of_bayes_factors():
    assert mixture.log_mean(np.array([0.0, 900.0, -900.0]), np.array([0.2, 0.3, 0.5])) == pytest.approx(
        900.0 + math.log(0.3)
    )
    assert mixture.log_mean(np.array([3.0, 900.0]), np.array([1.0, 0.0])) == 3.0


def test_the_effect_weighs_tests_by_their_posterior():
    """Where one column decides, the effect is that of its own test, whichever other columns there are."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), rng.normal(size=(80, 3))
    y[:, 1] += 2.0
    result = ts.test(x, y)
    alone = ts.test(x, y, subsets=[(1,)])
    posterior = dict(zip(result.by_subset.subsets, result.by_subset.posterior, strict=True))
    assert posterior[1,] > 0.9
    assert result.effect.auc.mean == pytest.approx(alone.effect.auc.mean, abs=0.01)
    # The area under the normal curves that differ by 2.
    assert result.effect.auc.mean == pytest.approx(norm.cdf(2.0 / math.sqrt(2)), abs=0.06)
