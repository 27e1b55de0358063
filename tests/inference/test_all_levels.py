"""All levels of a category: against SciPy's laws, all labellings, all pairs of rows, and simulated columns."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from twosample import models
from twosample.inference import partitions, relabelling
from twosample.inference.all_levels import LevelCounts, log_bayes_factors, log_bf_of_partitions
from twosample.models import HalfCauchy

MODEL = models.resolve("adaptive")
CONCENTRATIONS = [4.0**power for power in range(-1, 9)]
ROWS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=6, max_size=40)


def counts_of(x, y):
    """Counts of rows given as numbers of levels, and none of rare and unknown levels."""
    size = int(max(*x, *y)) + 2
    return LevelCounts(*(np.bincount(rows, minlength=size).astype(float) for rows in (x, y)))


def prior_weights(scale):
    """Those of a = 1/√τ by the half-Cauchy density in log a, at concentrations evenly spaced in log a."""
    amplitudes = 1.0 / np.sqrt(CONCENTRATIONS)
    weights = amplitudes * stats.halfcauchy(scale=scale).pdf(amplitudes)
    return weights / weights.sum()


# ---- the Bayes factor


@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_it_is_a_ratio_of_beta_binomial_and_binomial_laws(scale):
    x, y = np.array([5.0, 0.0, 2.0, 1.0, 9.0, 0.0]), np.array([3.0, 4.0, 2.0, 0.0, 0.0, 1.0])
    w, total = x.sum() / (x + y).sum(), (x + y).astype(int)
    ratios = [
        np.prod(stats.betabinom(total, w * tau, (1 - w) * tau).pmf(x) / stats.binom(total, w).pmf(x))
        for tau in CONCENTRATIONS
    ]
    model = models.Model(**{**vars(MODEL), "amplitude": HalfCauchy(scale)})
    expected = math.log(prior_weights(scale) @ ratios)
    assert LevelCounts(x, y).log_bf10(model) == pytest.approx(expected, abs=1e-9)


def test_of_groups_it_is_a_ratio_of_dirichlet_multinomial_and_multinomial_laws():
    counts = np.array([[5.0, 0.0, 2.0, 1.0], [3.0, 4.0, 2.0, 0.0], [1.0, 6.0, 0.0, 3.0]])
    total, w = counts.sum(axis=0).astype(int), counts.sum(axis=1) / counts.sum()
    for tau, weight, found in zip(
        CONCENTRATIONS, prior_weights(0.3), log_bayes_factors(counts, MODEL).tolist(), strict=True
    ):
        ratio = [
            stats.dirichlet_multinomial(w * tau, c).logpmf(k.astype(int)) - stats.multinomial(c, w).logpmf(k)
            for c, k in zip(total, counts.T, strict=True)
        ]
        assert found == pytest.approx(math.log(weight) + sum(ratio), abs=1e-9)
    together = np.stack([counts[0] + counts[2], counts[1]])
    [apart, two] = log_bf_of_partitions(counts, np.array([[0, 1, 2], [0, 1, 0]]), MODEL)
    assert apart == pytest.approx(np.logaddexp.reduce(log_bayes_factors(counts, MODEL)))
    assert two == pytest.approx(LevelCounts(*together).log_bf10(MODEL))


@pytest.mark.parametrize(
    ("sizes", "n_x"), [((2, 2, 2, 2), 4), ((2, 2, 2, 2), 2), ((4, 4), 4), ((3, 2, 1, 1, 1, 1), 3), ((3,) * 4, 4)]
)
def test_its_mean_over_all_labellings_is_at_most_one(sizes, n_x):
    """And at each concentration it is the chance of n_x rows in x under H1 over that under H0."""
    codes, total = np.repeat(np.arange(len(sizes)), sizes), np.array(sizes, dtype=float)
    w, by_labelling = n_x / len(codes), []
    for chosen in combinations(range(len(codes)), n_x):
        x = np.bincount(codes[list(chosen)], minlength=len(sizes)).astype(float)
        by_labelling.append(np.exp(log_bayes_factors(np.stack([x, total - x]), MODEL)))
    means = np.mean(by_labelling, axis=0)
    assert means.sum() <= 1.0
    for tau, weight, mean in zip(CONCENTRATIONS, prior_weights(0.3), means, strict=True):
        together = np.ones(1)
        for size in sizes:
            together = np.convolve(together, stats.betabinom(size, w * tau, (1 - w) * tau).pmf(np.arange(size + 1)))
        assert mean / weight == pytest.approx(together[n_x] / stats.binom(len(codes), w).pmf(n_x), rel=1e-6)


def sizes_of_levels(rows, largest):
    """All sizes of levels of so many rows."""
    if not rows:
        yield ()
    for size in range(min(rows, largest), 0, -1):
        for others in sizes_of_levels(rows - size, size):
            yield (size, *others)


@pytest.mark.parametrize("rows", [4, 5, 7])
def test_of_few_rows_its_mean_is_at_most_one_whatever_the_levels(rows):
    for n_x in range(1, rows // 2 + 1):
        for sizes in sizes_of_levels(rows, rows):
            codes, size = np.repeat(np.arange(len(sizes)), sizes), len(sizes)
            found = []
            for chosen in combinations(range(rows), n_x):
                x = np.bincount(codes[list(chosen)], minlength=size).astype(float)
                found.append(LevelCounts(x, np.array(sizes) - x).log_bf10(MODEL))
            assert np.exp(found).mean() <= 1.0 + 1e-12


@settings(max_examples=60, deadline=None)
@given(ROWS, st.permutations(range(6)), st.integers(0, 5))
def test_names_order_and_rare_levels_do_not_matter(rows, names, rare):
    x, y = (np.bincount([level for level, here in rows if here is side], minlength=6) for side in (True, False))
    if not x.sum() or not y.sum():
        return
    x, y = x.astype(float), y.astype(float)
    expected = LevelCounts(x, y)
    for one in (LevelCounts(y, x), LevelCounts(x[list(names)], y[list(names)])):
        assert one.log_bf10(MODEL) == pytest.approx(expected.log_bf10(MODEL), abs=1e-9)
    # Levels of one row each, as many of x and of y as keep the share: they say nothing.
    alone = np.ones(rare * int(x.sum())), np.ones(rare * int(y.sum()))
    more = [np.concatenate([x, alone[0], 0 * alone[1]]), np.concatenate([y, 0 * alone[0], alone[1]])]
    assert LevelCounts(*more).log_bf10(MODEL) == pytest.approx(expected.log_bf10(MODEL), abs=1e-8)


def null_counts(generator, law, n_x, n_y):
    rows = np.arange(n_x + n_y) if law is None else generator.choice(len(law), size=n_x + n_y, p=law / law.sum())
    return counts_of(rows[:n_x], rows[n_x:])


@pytest.mark.parametrize("sizes", [(400, 400), (40, 760)])
@pytest.mark.parametrize("law", [np.array([5, 4, 3, 2, 1, 1]), 1.0 / np.arange(1, 1001), None])
def test_under_h0_it_is_calibrated(law, sizes):
    """Few frequent levels, a thousand by Zipf's law, and as many levels as rows; what one sample lacks is not said."""
    generator = np.random.default_rng(0)
    found = [null_counts(generator, law, *sizes) for _ in range(200)]
    log_bf10 = np.array([counts.log_bf10(MODEL) for counts in found])
    assert np.exp(log_bf10).mean() < 1.0 + 1e-9
    assert (log_bf10 > math.log(20.0)).mean() <= 0.02
    names = tuple(map(str, range(len(found[0].x) + 2000)))
    assert np.mean([bool(counts.only_in_one("c", names)) for counts in found]) <= 0.02


# ---- the size of a difference


def auc_by_pairs(x, y, tau):
    """Over all pairs of a row of x and one of y, with shares from all other rows; rows of rare levels are alike."""
    pooled, w = np.concatenate([x, y]), len(x) / (len(x) + len(y))
    rare = np.bincount(pooled, minlength=100)[pooled] == 1
    pooled[rare] = -1
    x, y = pooled[: len(x)], pooled[len(x) :]

    def mean_of(x, y):
        wins = []
        for i, a in enumerate(x):
            for j, b in enumerate(y):
                rows_x, rows_y = np.delete(x, i), np.delete(y, j)
                score = [
                    ((rows_x == c).sum() + w * tau) / ((rows_x == c).sum() + (rows_y == c).sum() + tau) for c in (a, b)
                ]
                wins.append(0.5 if a == b else 0.5 + 0.5 * np.sign(round(score[0] - score[1], 9)))
        return np.mean(wins) if wins else 0.5

    unknown = (x == -1).mean() * (y == -1).mean()
    return mean_of(x, y) + unknown * (mean_of(x[x >= 0], y[y >= 0]) - 0.5)


@pytest.mark.parametrize("tau", [0.25, 4.0, 1024.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_auc_leaves_out_both_rows(seed, tau):
    generator = np.random.default_rng(seed)
    x, y = generator.integers(0, 9, size=14), generator.integers(0, 9 + 5 * seed, size=11)
    assert counts_of(x, y).auc_at(tau) == pytest.approx(auc_by_pairs(x, y, tau))


@pytest.mark.parametrize(("sizes", "n_x"), [((2, 2, 2, 2), 4), ((3, 3, 2, 1), 3), ((5, 4), 4), ((3, 2, 1, 1, 1, 1), 4)])
def test_the_mean_of_the_auc_over_all_labellings_is_one_half(sizes, n_x):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for chosen in combinations(range(len(codes)), n_x):
        in_x = np.isin(np.arange(len(codes)), chosen)
        found.append(counts_of(codes[in_x], codes[~in_x]).auc_at(4.0))
    assert np.mean(found) == pytest.approx(0.5)


def test_rows_of_rare_levels_are_told_from_rows_of_others():
    """Where all rows of one sample have levels of their own, and none of the other has: that tells them apart."""
    shared, own = np.array([50.0, 30.0, 20.0]), np.ones(100)
    counts = LevelCounts(np.r_[shared, 0 * own, 0.0], np.r_[0 * shared, own, 0.0])
    lumped = LevelCounts(np.r_[shared, 0.0], np.r_[0 * shared, 100.0])
    for one in (counts, lumped):
        assert one.auc(MODEL) == pytest.approx(1.0)
    assert LevelCounts(np.r_[own, 0 * own, 0.0], np.r_[0 * own, own, 0.0]).auc(MODEL) == pytest.approx(0.5)


def test_squares_of_the_effect_are_those_of_random_shares():
    """MMD² = Σ (p - q)², p and q in proportion to cθ and c(1-θ) with θ from its posterior."""
    x, y = np.array([30.0, 12.0, 4.0, 0.0]), np.array([18.0, 25.0, 9.0, 0.0])
    counts, generator = LevelCounts(x, y), np.random.default_rng(0)
    w, total = counts.share, x + y
    effect = counts.effect(MODEL)
    for number in (2, 5):
        tau = CONCENTRATIONS[number]
        theta = generator.beta(w * tau + x, (1 - w) * tau + y + 1e-300, size=(200_000, 4))
        squares = np.square(total / total.sum() * (theta / w - (1 - theta) / (1 - w))).sum(axis=1)
        assert effect.mmd.shape[number] * effect.mmd.scale[number] == pytest.approx(squares.mean(), rel=0.02)
        # As if θ were normal.
        assert 1.0 / effect.mmd.shape[number] == pytest.approx(squares.var() / squares.mean() ** 2, rel=0.1)


def test_the_auc_of_levels_is_not_one_where_it_is_not_known():
    """Of n rows in which no level is shared, half a row more could be."""
    counts = LevelCounts(np.array([4.0, 5.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 6.0, 2.0, 0.0]))
    probit = counts.effect(MODEL).probit
    z = stats.norm.ppf(8.5 / 9.0)
    variance = 2.0 * (8.5 / 9.0) * (0.5 / 9.0) / (9.0 * stats.norm.pdf(z) ** 2)
    assert probit.shape[0] * probit.scale[0] == pytest.approx(z**2 + variance)
    assert 1.0 / probit.shape[0] == pytest.approx((4 * z**2 + 2 * variance) * variance / (z**2 + variance) ** 2)


def test_rows_of_rare_levels_count_as_far_as_they_are_told_from_others():
    """A quarter of the pairs are of rare levels: between 20 rows in all and 10 of known levels it is 20 - 10/4."""
    alone = np.ones(10)
    x, y = np.r_[5.0, 5.0, 0.0, alone, 0 * alone, 0.0], np.r_[0.0, 1.0, 9.0, 0 * alone, alone, 0.0]
    counts = LevelCounts(x, y)
    auc = (counts.auc_at(CONCENTRATIONS[3]) * 17.5 + 0.5) / 18.5
    z = stats.norm.ppf(auc)
    probit = counts.effect(MODEL).probit
    expected = z**2 + 2.0 * auc * (1.0 - auc) / (18.5 * stats.norm.pdf(z) ** 2)
    assert probit.shape[3] * probit.scale[3] == pytest.approx(expected)


def test_less_than_one_half_is_no_difference():
    """Levels as common in x as in y: without two rows each looks more common in the other sample."""
    counts = LevelCounts(np.array([10.0, 10.0, 3.0, 0.0]), np.array([10.0, 10.0, 3.0, 0.0]))
    auc = counts.auc_at(CONCENTRATIONS[2])
    assert auc < 0.45 and counts.auc(MODEL) == 0.5
    auc = (auc * 23.0 + 0.5) / 24.0
    probit = counts.effect(MODEL).probit
    variance = 2.0 * auc * (1.0 - auc) / (24.0 * stats.norm.pdf(stats.norm.ppf(auc)) ** 2)
    assert probit.shape[2] * probit.scale[2] == pytest.approx(variance)


# ---- levels of one sample


def test_what_one_sample_lacks_is_named_where_chance_does_not_explain_it():
    generator = np.random.default_rng(1)
    rows = [generator.choice(400, size=2000, p=(law := 1.0 / np.arange(1, 401)) / law.sum()) for _ in range(2)]
    rows[1][:300] = 400
    rows[1][300:360] = 401
    names = (*(f"old {place}" for place in range(400)), "EWR2", "JFK2")
    [found] = counts_of(*rows).only_in_one("airport", names)
    assert (found.sample, found.rows, found.count, found.levels) == (1, 360, 2, ("EWR2", "JFK2"))
    assert found.share == pytest.approx(0.18)
    assert found.words(("yesterday.csv", "today.csv")) == (
        "18 % of rows of today.csv have a level of 'airport' that yesterday.csv never had: 'EWR2', 'JFK2'."
    )


def lacking_by_definition(x, y):
    """The places of levels of x that y lacks."""
    total, w = x + y, x.sum() / (x + y).sum()
    for fewest in range(2, int(total.max()) + 1):
        large = total >= fewest
        missing = np.flatnonzero(large & (y == 0))
        expected = (total * w**total)[large].sum()
        unlikely = stats.poisson((w**total)[large].sum()).sf(len(missing) - 1) <= 1e-3
        if len(missing) and expected <= 0.1 * x[missing].sum() and unlikely:
            return set(missing.tolist())
    return set()


def check_lacking(x, y):
    x, y = np.array([*x, 0.0]), np.array([*y, 0.0])
    if not x.sum() or not y.sum():
        return
    found = LevelCounts(x, y).only_in_one("c", tuple(map(str, range(len(x)))))
    chosen = lacking_by_definition(x, y)
    [one] = [one for one in found if one.sample == 0] or [None]
    assert (one is None) == (not chosen)
    if one is not None:
        assert one.count == len(chosen) and one.rows == x[list(chosen)].sum()
        assert set(one.levels) <= set(map(str, chosen)) and len(one.levels) == min(5, one.count)
        assert list(one.levels) == sorted(one.levels, key=lambda name: -x[int(name)])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=2, max_size=30))
def test_the_smallest_number_of_rows_by_its_definition(pairs):
    check_lacking(*np.array(pairs, dtype=float).T)


@pytest.mark.parametrize("mean", [0.5, 1.5, 3.0, 6.0])
@pytest.mark.parametrize("common", [0, 300])
def test_the_same_of_many_levels(mean, common):
    """Some of both samples, and some of one only: now chance, and now how many rows it explains, sets the limit."""
    generator = np.random.default_rng(3)
    x, y = generator.poisson(mean, size=(2, 400 + common)).astype(float)
    x[:200], y[200:400] = 0.0, 0.0
    check_lacking(x, y)
    check_lacking(y, x)


def test_levels_of_one_row_are_not_named():
    x, y = np.r_[np.ones(20), 0.0, 0.0], np.r_[np.zeros(20), 400.0, 0.0]
    assert not [one for one in LevelCounts(x, y).only_in_one("c", tuple(map(str, range(21)))) if one.sample == 0]


@pytest.mark.parametrize("groups", [2, 3])
def test_a_relabelling_has_the_counts_of_its_labels(groups):
    generator = np.random.default_rng(4)
    parts = np.split(generator.integers(0, 9, size=(60, 1)).astype(float), [20, 45][: groups - 1])
    kind = relabelling.of_rows(*parts, MODEL) if groups == 2 else relabelling.GroupLabels.of(parts, MODEL)
    labels = np.stack([kind.observed, kind.draw(generator), kind.draw(generator)])
    test = relabelling.LevelTest.of(0, tuple("abcdefgh"))  # and one more for the ninth
    blocks = [(0, 1)] if groups == 2 else [(0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2)]
    prior = np.exp(partitions.log_prior(np.array(blocks)))
    for one, found in zip(labels, kind.statistic(test)(labels), strict=True):
        counts = np.stack(
            [np.bincount(kind.rows[one == number, 0].astype(int), minlength=9) for number in range(groups)]
        )
        logs = log_bf_of_partitions(counts.astype(float), np.array(blocks), MODEL)
        assert found == pytest.approx(np.log(np.exp(logs) @ prior / prior.sum()))
