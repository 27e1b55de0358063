"""What must leave the answer alone: the order of rows and samples, units and origins, and the kind of container."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import twosample as ts
from twosample import models
from twosample.data import View
from twosample.features.maps import PointFeatures
from twosample.features.points import REPRESENTATIVES
from twosample.inference import evidence
from twosample.inference.mixture import evaluate_parts
from twosample.kernels import RBF
from twosample.places import local

# Derandomized: the same examples in every run, as with a fixed seed.
few = settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
LARGE = 1500
assert LARGE > REPRESENTATIVES

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(8, 40)


def draw(rng, n, n_columns, decimals=None):
    """Columns of unlike spread, skew and correlation; rounded where ties are wanted."""
    mix = np.eye(n_columns) + 0.3 * rng.normal(size=(n_columns, n_columns))
    rows = (rng.normal(size=(n, n_columns)) + 0.3 * rng.exponential(size=(n, n_columns))) @ mix
    return rows if decimals is None else np.round(rows, decimals)


@st.composite
def continuous(draw_from, least_columns=1, most_columns=3):
    """Two samples without ties.

    Rounding may change which of two equal spreads is the larger, or which of two equal gaps; with ties a translation
    could thus move an evaluation point to another row, and legitimately so. Without ties it cannot.
    """
    rng = np.random.default_rng(draw_from(seeds))
    d, shift = draw_from(st.integers(least_columns, most_columns)), draw_from(st.sampled_from([0.0, 0.5, 2.0]))
    return draw(rng, draw_from(sizes), d), shift + draw(rng, draw_from(sizes), d), rng


@st.composite
def any_samples(draw_from):
    """Two samples with or without ties, from binary to continuous; some rows are in both."""
    rng = np.random.default_rng(draw_from(seeds))
    d, decimals = draw_from(st.integers(1, 3)), draw_from(st.sampled_from([None, 1, 0]))
    x, y = (draw(rng, draw_from(sizes), d, decimals) for _ in "xy")
    if draw_from(st.booleans()):
        x[:3] = y[:3]
    return x, y, rng


MIRRORED = {
    "larger in x": "larger in y", "larger in y": "larger in x",
    "more spread in x": "more spread in y", "more spread in y": "more spread in x",
    "different shape": "different shape",
}  # fmt: skip


def swapped_agree(x, y, **options):
    first, second = ts.test(x, y, **options), ts.test(y, x, **options)
    assert first.log_bf10 == pytest.approx(second.log_bf10, abs=1e-9)
    one, other = first.by_subset, second.by_subset
    assert one.subsets == other.subsets
    assert_allclose(one.log_bf10, other.log_bf10, atol=1e-9)
    assert_allclose(one.subset_log_bf10, other.subset_log_bf10, atol=1e-9)
    assert_allclose(one.auc, 1.0 - other.auc, atol=1e-12)
    assert_allclose(one.witness_auc, other.witness_auc, atol=1e-6)
    assert_allclose(one.spread * other.spread, 1.0, rtol=1e-12)
    assert [MIRRORED[words] for words in one.direction] == list(other.direction)
    for name in ("mmd", "auc"):
        assert getattr(first.effect, name).mean == pytest.approx(getattr(second.effect, name).mean, abs=1e-9)
    assert_array_equal(first.points, second.points)
    at = first.points[::7]
    assert_allclose(first.witness(at).mean, -second.witness(at).mean, atol=1e-9)
    assert_allclose(first.witness(at).sd, second.witness(at).sd, atol=1e-9)
    assert_allclose(first.lengthscale.interval(), second.lengthscale.interval(), rtol=1e-9)


def same_answer(first, second, tolerance=1e-9):
    assert first.log_bf10 == pytest.approx(second.log_bf10, abs=tolerance)
    assert first.prob_h1 == pytest.approx(second.prob_h1, abs=tolerance)
    one, other = first.by_subset, second.by_subset
    if one is not None:
        assert (one.subsets, one.direction) == (other.subsets, other.direction)
        for name in ("log_bf10", "subset_log_bf10", "prior", "auc", "spread"):
            assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=tolerance, err_msg=name)


# ---- order of the samples and of the rows


@few
@given(any_samples())
def test_swapping_the_samples(samples):
    x, y, _ = samples
    swapped_agree(x, y)


@few
@given(continuous())
def test_swapping_pairs(samples):
    x, y, _ = samples
    n = min(len(x), len(y))
    swapped_agree(x[:n], y[:n], paired=True)


@few
@given(continuous(most_columns=1), st.sampled_from(["paper", "published"]))
def test_swapping_the_samples_of_the_pseudo_likelihood_models(samples, model):
    x, y, _ = samples
    n = min(len(x), len(y))
    # Their integral stops at an error of 1e-6; signs inside of it do not change where it stops.
    first, second = (ts.test(*both, model=model, tolerance=1e-6) for both in ((x[:n], y[:n]), (y[:n], x[:n])))
    same_answer(first, second, 1e-6)


@few
@given(any_samples())
def test_permuting_the_rows(samples):
    x, y, rng = samples
    first, second = ts.test(x, y), ts.test(rng.permutation(x), rng.permutation(y))
    same_answer(first, second)
    assert_array_equal(first.points, second.points)
    assert_array_equal(first.center, second.center)
    assert_array_equal(first.scale, second.scale)
    assert first.shown == second.shown


@few
@given(continuous(most_columns=2), st.sampled_from(["adaptive", "paper", "published"]))
def test_permuting_the_pairs(samples, model):
    x, y, rng = samples
    n = min(len(x), len(y))
    order = rng.permutation(n)
    first, second = (
        ts.test(*both, paired=True, model=model, tolerance=1e-6)
        for both in ((x[:n], y[:n]), (x[:n][order], y[:n][order]))
    )
    same_answer(first, second, 1e-9 if model == "adaptive" else 1e-6)


# ---- units and origins


@few
@given(continuous())
def test_translation(samples):
    x, y, rng = samples
    by = 10 * rng.normal(size=x.shape[1])
    first, second = ts.test(x, y), ts.test(x + by, y + by)
    assert_allclose(second.points, first.points + by, atol=1e-12)
    same_answer(first, second)
    at = first.points[::7]
    assert_allclose(second.witness(at + by).mean, first.witness(at).mean, atol=1e-9)


@few
@given(continuous())
def test_units_of_each_column(samples):
    x, y, rng = samples
    factors = np.exp(4 * rng.normal(size=x.shape[1]))
    first, second = ts.test(x, y), ts.test(x * factors, y * factors)
    assert_allclose(second.points, first.points * factors, atol=1e-12 * factors.max())
    same_answer(first, second)
    at = first.points[::7]
    assert_allclose(second.witness(at * factors).mean, first.witness(at).mean, atol=1e-9)
    unit = factors[0] if len(factors) == 1 else 1.0
    assert second.lengthscale.mean == pytest.approx(unit * first.lengthscale.mean, rel=1e-9)


@few
@given(any_samples(), st.integers(-40, 40))
def test_powers_of_two_change_nothing_at_all(samples, exponent):
    """They are exact, so even with ties there is no rounding that could decide otherwise."""
    x, y, _ = samples
    factors = np.ldexp(1.0, [exponent, -exponent, 2 * exponent])[: x.shape[1]]
    assert ts.test(x * factors, y * factors).log_bf10 == ts.test(x, y).log_bf10


@few
@given(continuous(), st.floats(0.2, 5.0))
def test_units_with_given_points_and_lengthscale(samples, lengthscale):
    x, y, rng = samples
    points = draw(rng, 12, x.shape[1])
    factors, by = np.exp(4 * rng.normal(size=x.shape[1])), rng.normal(size=x.shape[1])
    unit = factors[0] if len(factors) == 1 else 1.0
    first = ts.log_bf10(x, y, lengthscale, points=points)
    x, y, points = ((rows + by) * factors for rows in (x, y, points))
    assert ts.log_bf10(x, y, lengthscale * unit, points=points) == pytest.approx(first, abs=1e-9)


@st.composite
def tied(draw_from):
    """Two samples of rounded numbers, counts or two values, or with a column that is another one, or that reflected."""
    rng = np.random.default_rng(draw_from(seeds))
    n, shift, d = draw_from(sizes), draw_from(st.sampled_from([0.0, 1.0])), draw_from(st.integers(2, 4))
    steps = draw_from(st.sampled_from([0.5, 1.0, 8.0]))
    rows = [np.round(steps * draw(rng, size, d)) / steps + by for size, by in ((n, 0.0), (draw_from(sizes), shift))]
    kind = draw_from(st.sampled_from(["rounded", "counts", "two values", "repeated"]))
    if kind == "counts":
        rows = [rng.poisson(1.0 + by, one.shape).astype(float) for one, by in zip(rows, (0.0, shift), strict=True)]
    elif kind == "two values":
        rows = [(one > 0.5).astype(float) for one in rows]
    elif kind == "repeated":
        for one in rows:
            one[:, -1] = draw_from(st.shared(st.sampled_from([-1.0, 1.0]), key="sign")) * one[:, 0]
    return *rows, rng


@pytest.mark.parametrize("paired", [False, True])
@few
@given(st.one_of(tied(), continuous(), continuous(most_columns=1)))
def test_reflection(paired, samples):
    x, y, rng = samples
    n = min(len(x), len(y)) if paired else None
    x, y = x[:n], y[:n]
    first = ts.test(x, y, paired=paired)
    one = np.ones(x.shape[1])
    one[rng.integers(len(one))] = -1.0
    for signs in (-np.ones(len(one)), one):
        second = ts.test(signs * x, signs * y, paired=paired)
        assert second.log_bf10 == pytest.approx(first.log_bf10, abs=1e-9)
        assert_allclose(second.by_subset.subset_log_bf10, first.by_subset.subset_log_bf10, atol=1e-9)
        assert_allclose(second.by_subset.auc, np.where(signs < 0, 1.0 - first.by_subset.auc, first.by_subset.auc))


@settings(few, max_examples=10)  # all orders of the columns
@given(st.one_of(continuous(least_columns=2), tied()))
def test_order_of_the_columns(samples):
    x, y, _ = samples
    names = list("abcd"[: x.shape[1]])
    first = ts.test(*(pd.DataFrame(rows, columns=names) for rows in (x, y)))
    by_subset = {frozenset(row.columns): row for row in first.subsets}
    by_column = {row.column: row for row in first.by_column}
    for order in list(itertools.permutations(range(x.shape[1])))[:6]:
        second = ts.test(*(pd.DataFrame(rows, columns=names).iloc[:, list(order)] for rows in (x, y)))
        assert second.log_bf10 == pytest.approx(first.log_bf10, abs=1e-9)
        for row in second.subsets:
            expected = by_subset[frozenset(row.columns)]
            assert row.prior == expected.prior
            assert row.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
        for row in second.by_column:
            assert row.log_bf10 == pytest.approx(by_column[row.column].log_bf10, abs=1e-9)
            assert row.words == by_column[row.column].words


@few
@given(continuous(most_columns=4), st.booleans())
def test_monotone_maps_of_columns_leave_all_tests_of_ranks(samples, paired):
    x, y, rng = samples
    n = min(len(x), len(y)) if paired else None
    x, y = x[:n], y[:n]
    maps = [np.exp, lambda v: v**3 + 0.1 * v, lambda v: np.arctan(v) - 7.0, lambda v: v]
    chosen = rng.permutation(4)[: x.shape[1]]
    seen = [np.column_stack([maps[k](rows[:, column]) for column, k in enumerate(chosen)]) for rows in (x, y)]
    first, second = log_bf10_of_ranks(x, y, paired), log_bf10_of_ranks(*seen, paired)
    for one, other in zip(first, second, strict=True):
        assert_array_equal(one, other)
    one, other = (ts.test(*both, paired=paired).by_subset for both in ((x, y), seen))
    assert one.direction == other.direction
    # Where all columns are tested, half of the weight is on values as scaled, which the maps change.
    parts = [subset for subset in one.subsets if len(subset) < x.shape[1]]
    for subset in parts:
        at = one.subsets.index(subset)
        # Of few rows the mean over all labellings is a sum in the order of the rows, which rounds.
        assert one.subset_log_bf10[at] == pytest.approx(other.subset_log_bf10[at], abs=1e-12)
    assert_array_equal(one.auc, other.auc)
    assert_array_equal(one.spread, other.spread)


def log_bf10_of_ranks(x, y, paired):
    """Log BF10 of every test of a mixture but the joint one."""
    plan = ts.plan(x, y, paired=paired)
    collected = plan.statistics(x, y)
    return evaluate_parts(plan, lambda part, tests: collected.parts[part].select(tests, len(plan.parts[part].points)))[
        0
    ]


@few
@given(continuous(least_columns=2))
def test_order_of_the_columns_with_given_points(samples):
    x, y, rng = samples
    points = draw(rng, 12, x.shape[1])
    order = rng.permutation(x.shape[1])
    first, second = ts.test(x, y, points=points), ts.test(x[:, order], y[:, order], points=points[:, order])
    assert first.log_bf10 == pytest.approx(second.log_bf10, abs=1e-9)
    assert_allclose(second.by_subset.log_bf10, first.by_subset.log_bf10[order], atol=1e-9)


# ---- default points


@few
@given(any_samples(), st.integers(1, 60))
def test_points_ignore_order_and_labels(samples, count):
    x, y, rng = samples
    points = ts.test(x, y, points=count, lengthscale=1.0).points
    pooled = np.concatenate([x, y])
    assert len(points) <= count
    for _ in range(3):
        shuffled = rng.permutation(pooled)
        split = len(x)  # few rows have points by how many there are of each sample
        again = ts.test(shuffled[:split], shuffled[split:], points=count, lengthscale=1.0).points
        assert_array_equal(again, points)


@few
@given(continuous(), st.integers(1, 60))
def test_points_follow_the_data(samples, count):
    x, y, rng = samples
    factors, by = np.exp(rng.normal(size=x.shape[1])), rng.normal(size=x.shape[1])
    first = ts.test(x, y, points=count, lengthscale=1.0).points
    second = ts.test(x * factors + by, y * factors + by, points=count, lengthscale=1.0).points
    assert_allclose(second, first * factors + by, atol=1e-10)


# ---- more rows than representatives


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("decimals", [None, 1])
def test_order_of_many_rows(n_columns, decimals):
    rng = np.random.default_rng([n_columns, decimals or 0])
    x, y = draw(rng, LARGE, n_columns, decimals), draw(rng, LARGE - 300, n_columns, decimals)
    swapped_agree(x, y)
    first, second = ts.test(x, y), ts.test(rng.permutation(x), rng.permutation(y))
    same_answer(first, second)
    assert_array_equal(first.points, second.points)
    pooled = rng.permutation(np.concatenate([x, y]))
    relabelled = ts.test(pooled[:400], pooled[400:], lengthscale=1.0)
    assert_array_equal(relabelled.points, first.points)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("steps", [None, 8, 1])
def test_reflection_and_order_of_the_columns_of_many_rows(n_columns, steps):
    rng = np.random.default_rng([n_columns, steps or 0])
    x, y = draw(rng, LARGE, n_columns), draw(rng, LARGE - 952, n_columns)  # 2,048: twice as many as are kept
    x, y = (x, y) if steps is None else (np.round(steps * rows) / steps for rows in (x, y))
    first = ts.test(x, y)
    for signs in (-np.ones(n_columns), np.r_[-1.0, np.ones(n_columns - 1)]):
        order = rng.permutation(n_columns)
        second = ts.test((signs * x)[:, order], (signs * y)[:, order])
        assert second.log_bf10 == pytest.approx(first.log_bf10, abs=1e-9)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_units_and_origins_of_many_rows(n_columns):
    rng = np.random.default_rng(n_columns)
    x, y = draw(rng, LARGE, n_columns), draw(rng, LARGE - 300, n_columns)
    factors, by = np.exp(4 * rng.normal(size=n_columns)), rng.normal(size=n_columns)
    first, second = ts.test(x, y), ts.test((x + by) * factors, (y + by) * factors)
    assert_allclose(second.points, (first.points + by) * factors, rtol=1e-9, atol=1e-12 * factors.max())
    same_answer(first, second)


# ---- containers, chunks and seeds


@settings(few, max_examples=4)  # a dozen tests each
@given(any_samples())
def test_every_container_gives_the_identical_answer(samples):
    x, y, _ = samples
    names = list("abc"[: x.shape[1]])
    expected = ts.test(x, y).log_bf10
    containers = [
        np.asfortranarray,
        lambda rows: rows[::-1][::-1],
        lambda rows: rows.tolist(),
        lambda rows: pd.DataFrame(rows, columns=names),
        lambda rows: pl.DataFrame(rows, schema=names, orient="row"),
        lambda rows: pl.LazyFrame(rows, schema=names, orient="row"),
        lambda rows: pa.table({name: rows[:, i] for i, name in enumerate(names)}),
    ]
    if x.shape[1] == 1:
        containers += [np.ravel, lambda rows: pd.Series(rows[:, 0]), lambda rows: pl.Series(rows[:, 0])]
    for container in containers:
        assert ts.test(container(x), container(y)).log_bf10 == expected
    assert ts.test(containers[3](x), containers[4](y)).log_bf10 == expected
    assert ts.test(pd.DataFrame(x, columns=names), pd.DataFrame(y, columns=names)[names[::-1]]).log_bf10 == expected


@few
@given(any_samples(), st.integers(1, 6), st.sampled_from(list(models.PRESETS)))
def test_chunks_in_any_order_give_the_same_evidence(samples, parts, name):
    x, y, rng = samples
    model = models.PRESETS[name]
    n = min(len(x), len(y))
    pairs = (x[:n], y[:n]) if model.needs_pairs else None
    features = PointFeatures(RBF(), View.none(x.shape[1]), draw(rng, 10, x.shape[1]), typical=1.0)
    lengthscales = np.array([0.4, 1.0, 2.5])

    def statistics(x, y, pairs):
        moments = local.sample_moments(features, (x, y), lengthscales)
        if pairs is None:
            return ts.FeatureStatistics(lengthscales, *moments)
        volumes = local.Volumes((pairs[0] != pairs[1]).any(axis=1))
        found = local.pair_moments(features, *pairs, lengthscales, volumes)
        return ts.FeatureStatistics(lengthscales, *moments, found.differences, found.log_volume)

    def split(rows):
        """Some of the parts may be empty."""
        return np.split(rows, np.sort(rng.integers(0, len(rows) + 1, size=parts - 1)))

    whole = evidence.evaluate(statistics(x, y, pairs), features, model)
    cuts = np.sort(rng.integers(0, n + 1, size=parts - 1))
    paired = [None] * parts if pairs is None else zip(*(np.split(rows, cuts) for rows in pairs), strict=True)
    chunks = [statistics(*chunk) for chunk in zip(split(x), split(y), paired, strict=True)]
    for order in (range(parts), rng.permutation(parts), rng.permutation(parts)):
        first, *rest = (chunks[index] for index in order)
        merged = evidence.evaluate(first.merge(*rest), features, model)
        assert merged.log_bf10 == pytest.approx(whole.log_bf10, abs=1e-7, rel=1e-9)
        assert merged.log_h0 == pytest.approx(whole.log_h0, abs=1e-7, rel=1e-9)
        assert merged.log_h1 == pytest.approx(whole.log_h1, abs=1e-7, rel=1e-9)


@few
@given(any_samples(), seeds)
def test_the_seed_does_not_change_the_adaptive_answer(samples, seed):
    x, y, _ = samples
    assert ts.test(x, y, rng=seed).log_bf10 == ts.test(x, y).log_bf10
