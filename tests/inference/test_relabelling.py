"""The permutation p-value of log BF10: against brute force, its level, and what must not change it."""

import dataclasses
import math
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest

import twosample as ts
from twosample.data import Samples, View
from twosample.errors import InputError, InputTypeError
from twosample.features.maps import PointFeatures
from twosample.features.statistics import FeatureStatistics, Moments
from twosample.inference import evidence, relabelling
from twosample.inference.mixture import evaluate_parts, log_mean
from twosample.kernels import RBF
from twosample.models import PRESETS, Gamma, HalfCauchy, LogUniform, Model, NoiseFloor
from twosample.places import local
from twosample.plan import make_plan

ADAPTIVE = PRESETS["adaptive"]
PLAIN = Model(
    name="plain",
    weighing="evidence",
    lengthscale=Gamma(2.0, 2.0),
    amplitude=None,
    unit_variance=False,
    prior_nugget=1e-4,
    floor=NoiseFloor(0.1, power=1),
    noise="rows",
    scale="raw",
)
GAUSSIAN = Model(
    name="gaussian",
    weighing="evidence",
    lengthscale=LogUniform(0.1, 4.0),
    amplitude=HalfCauchy(0.2),
    floor=NoiseFloor(4.0, power=2),
    noise="rows",
    scale="robust",
)
MODELS = pytest.mark.parametrize("model", [ADAPTIVE, PLAIN, GAUSSIAN], ids=lambda model: model.name)
# With this one all labellings of a few rows are no more than other relabellings.
PLAINLY = dataclasses.replace(ADAPTIVE, few=False)
LENGTHSCALES = np.array([0.05, 0.7, 1.0, 6.0])


def draw(n_x=30, n_y=30, n_columns=1, shift=0.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_x, n_columns)), rng.normal(shift, 1.0, size=(n_y, n_columns))


def prepare(x, y, *, paired=False, points=40, subsets=None, model=ADAPTIVE):
    """The plan of the joint test, or of a mixture, and the checked samples."""
    samples = Samples.from_data(x, y, paired=paired, scale=model.scale)
    return make_plan(samples, model, RBF(), points, subsets=subsets), samples


def features_at(points):
    return PointFeatures(RBF(), View.none(points.shape[1]), points, typical=1.0)


def kernel(rows, points, lengthscale):
    return np.exp(-np.square(rows[:, None] - points).sum(axis=2) / (2 * lengthscale**2))


def moments(features):
    """Number, mean and scatter of features (m, n, s), from their definitions."""
    mean = features.mean(axis=1)
    centered = features - mean[:, None]
    return Moments(features.shape[1], mean, np.swapaxes(centered, 1, 2) @ centered)


def all_splits(n_first, n_second):
    flags = np.zeros((n_first + n_second, 0), dtype=bool)
    for chosen in combinations(range(n_first + n_second), n_first):
        flags = np.concatenate([flags, np.isin(np.arange(len(flags)), chosen)[:, None]], axis=1)
    return flags


def plain_splits(rows, flags, points, lengthscales, model):
    """Relabel the rows and take the plain path, from the statistics of each sample."""
    features = np.stack([kernel(rows, points, lengthscale) for lengthscale in lengthscales])
    values = []
    for first in flags.T:
        statistics = FeatureStatistics(lengthscales, moments(features[:, first]), moments(features[:, ~first]))
        values.append(evidence.evaluate(statistics, features_at(points), model).log_bf10)
    return np.stack(values, axis=1)


def plain_swaps(x, y, flags, points, lengthscales, model):
    values = []
    for swapped in flags.T:
        left, right = np.where(swapped[:, None], y, x), np.where(swapped[:, None], x, y)
        differences = [kernel(left, points, value) - kernel(right, points, value) for value in lengthscales]
        statistics = FeatureStatistics(lengthscales, None, None, moments(np.stack(differences)))
        values.append(evidence.evaluate(statistics, features_at(points), model).log_bf10)
    return np.stack(values, axis=1)


def swaps(x, y, points, lengthscales, model):
    """Log BF10 at every lengthscale as a function of swaps; the pairs stay in their order."""
    test = relabelling.WeightedTest(lengthscales, np.zeros(len(lengthscales)), slice(None), lambda: features_at(points))
    return relabelling.Signs(x, np.zeros(len(x), dtype=bool), model, y).log_bf10(test)


# ---- against brute force


@MODELS
@pytest.mark.parametrize(("n_x", "n_y", "n_columns"), [(4, 4, 1), (3, 5, 1), (4, 4, 3), (2, 7, 2)])
def test_every_split_of_a_tiny_data_set_is_that_of_relabelled_data(model, n_x, n_y, n_columns):
    rows = np.concatenate(draw(n_x, n_y, n_columns, shift=1.0))
    points, flags = rows[::2], all_splits(n_x, n_y)
    found = relabelling.Splits.of(rows, n_x, features_at(points), LENGTHSCALES, model).log_bf10(flags)
    assert found.shape == (len(LENGTHSCALES), flags.shape[1])
    np.testing.assert_allclose(found, plain_splits(rows, flags, points, LENGTHSCALES, model), rtol=1e-9, atol=1e-9)


@MODELS
@pytest.mark.parametrize("n_columns", [1, 2])
def test_every_swap_of_a_few_pairs_is_that_of_swapped_data(model, n_columns):
    x, y = draw(6, 6, n_columns, shift=1.0)
    points, flags = np.concatenate([x, y])[::2], np.array(list(product([False, True], repeat=6))).T
    found = swaps(x, y, points, LENGTHSCALES, model)(flags.T)
    np.testing.assert_allclose(found, plain_swaps(x, y, flags, points, LENGTHSCALES, model), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("n_x", "n_y"), [(150, 150), (60, 240)])
def test_splits_of_larger_samples_are_those_of_relabelled_data(n_x, n_y):
    rows = np.concatenate(draw(n_x, n_y, 2, shift=1.0))
    rng = np.random.default_rng(1)
    as_drawn = np.arange(len(rows)) < n_x
    flags = np.stack([as_drawn] + [rng.permutation(as_drawn) for _ in range(5)], axis=1)
    found = relabelling.Splits.of(rows, n_x, features_at(rows[::8]), LENGTHSCALES, ADAPTIVE).log_bf10(flags)
    expected = plain_splits(rows, flags, rows[::8], LENGTHSCALES, ADAPTIVE)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_far_apart_samples_lose_no_more_than_rounding():
    rows = np.concatenate([np.zeros((50, 1)), np.full((50, 1), 9.0)]) + np.linspace(0, 1e-6, 100)[:, None]
    flags = (np.arange(100) < 50)[:, None]
    found = relabelling.Splits.of(rows, 50, features_at(rows[::10]), LENGTHSCALES, ADAPTIVE).log_bf10(flags)
    expected = plain_splits(rows, flags, rows[::10], LENGTHSCALES, ADAPTIVE)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("sizes", [(4, 4), (3, 5)])
def test_pvalue_tends_to_the_share_of_all_splits(sizes):
    x, y = draw(*sizes, shift=0.8, seed=3)
    plan, _ = prepare(x, y, model=PLAINLY)
    lengthscales, log_weights = relabelling.rule(plan)
    rows = plan.view.apply(np.concatenate([x, y]))
    flags = all_splits(*sizes)  # the first is the data
    at_lengthscales = plain_splits(rows, flags, plan.points, lengthscales, ADAPTIVE)
    values = np.logaddexp.reduce(log_weights[:, None] + at_lengthscales, axis=0)
    share = np.mean(values >= values[0] - 1e-6)
    found = ts.test(x, y, permutations=4000, subsets=None, model=PLAINLY).pvalue
    assert 0.05 < share < 0.95
    assert found == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 4000))


def test_pvalue_of_pairs_tends_to_the_share_of_all_swaps():
    x, y = draw(7, 7, shift=0.5, seed=2)
    plan, _ = prepare(x, y, paired=True, model=PLAINLY)
    lengthscales, log_weights = relabelling.rule(plan)
    flags = np.array(list(product([False, True], repeat=7))).T
    rows = plan.view.apply(x), plan.view.apply(y)
    at_lengthscales = plain_swaps(*rows, flags, plan.points, lengthscales, ADAPTIVE)
    values = np.logaddexp.reduce(log_weights[:, None] + at_lengthscales, axis=0)
    share = np.mean(values >= values[0] - 1e-6)
    assert 0.05 < share < 0.95
    found = ts.test(x, y, paired=True, permutations=4000, subsets=None, model=PLAINLY).pvalue
    assert found == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 4000))


@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("sizes", [(30, 30), (200, 200), (40, 100)])
def test_the_fixed_rule_gives_the_reported_bayes_factor(sizes, shift):
    x, y = draw(*sizes, shift=shift)
    plan, _ = prepare(x, y)
    lengthscales, log_weights = relabelling.rule(plan)
    assert np.exp(log_weights).sum() == pytest.approx(1.0)
    found = np.logaddexp.reduce(log_weights + ts.log_bf10(x, y, lengthscales * plan.view.unit))
    assert found == pytest.approx(ts.test(x, y, subsets=None).log_bf10, abs=5e-3)


def test_the_rule_of_a_given_lengthscale_is_that_lengthscale():
    plan = ts.plan(*draw(), lengthscale=0.6)
    lengthscales, log_weights = relabelling.rule(plan)
    assert lengthscales * plan.view.unit == pytest.approx([0.6], rel=1e-14)
    assert log_weights == [0.0]


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(("n_y", "n_columns"), [(40, 1), (55, 3)])
def test_blocks_do_not_change_the_answer(monkeypatch, paired, n_y, n_columns):
    x, y = draw(40, 40 if paired else n_y, n_columns, shift=0.3)
    whole = ts.test(x, y, points=6, permutations=60, paired=paired)
    monkeypatch.setattr(local, "_WEIGHTED_ROWS", 7)
    monkeypatch.setattr(relabelling.engine, "_BLOCK_BYTES", 30_000)
    found = ts.test(x, y, points=6, permutations=60, paired=paired)
    assert found.pvalue == whole.pvalue
    assert found.evalue == pytest.approx(whole.evalue, rel=1e-9)


# ---- the mixture, with all labels


class Every:
    """In the place of a random generator: given labels, one after the other."""

    def __init__(self, flags):
        self._flags = iter(flags.T)

    def permutation(self, labels):
        flags = next(self._flags)
        assert flags.sum() == labels.sum()
        return flags

    def random(self, size):
        flags = next(self._flags)
        assert len(flags) == size
        return np.where(flags, 0.0, 1.0)


def statistic(x, y, subsets="auto", **options):
    """The mixture of relabelled data by the plain path: statistics of the two samples, test by test."""
    plan, samples = prepare(x, y, subsets=subsets, **options)
    lengthscales, log_weights = relabelling.rule(plan)
    at_lengthscales = ts.log_bf10(x, y, lengthscales * plan.view.unit, **options)
    logs, weights = [[np.logaddexp.reduce(log_weights + at_lengthscales)]], [[plan.prior]]
    if plan.parts:
        logs += evaluate_parts(plan, partial(plan.statistics_of, samples))[0]
        weights += [part.prior for part in plan.parts]
    return log_mean(np.concatenate(logs), np.concatenate(weights))


def every_labelling(x, y, paired):
    """Labels of the rows (or swaps of the pairs), the observed ones first, with the data that each makes."""
    if paired:
        x, y = relabelling.pairs_in_order(x, y)
        flags = np.array(list(product([False, True], repeat=len(x)))).T
        return flags, [(np.where(s[:, None], y, x), np.where(s[:, None], x, y)) for s in flags.T]
    rows, observed = relabelling.pool_in_order(x, y)
    flags = all_splits(int(observed.sum()), len(rows) - int(observed.sum()))
    first = (flags == observed[:, None]).all(axis=0)
    flags = np.concatenate([flags[:, first], flags[:, ~first]], axis=1)
    return flags, [(rows[of_first], rows[~of_first]) for of_first in flags.T]


def compared(plan, samples, permutations, generator, count=lambda _: None):
    drawn = relabelling.of_rows(samples.x, samples.y, plan.model, paired=samples.paired)
    return relabelling.compare(drawn, relabelling.tests_of(plan), permutations, generator, count)


def relabelled(x, y, flags, subsets="auto", **options):
    plan, samples = prepare(x, y, subsets=subsets, **options)
    drawn = relabelling.of_rows(samples.x, samples.y, plan.model, paired=samples.paired)
    values = (drawn, relabelling.tests_of(plan), flags.shape[1] - 1, Every(flags[:, 1:]), lambda _: None)
    return relabelling.Relabelled.of(relabelling.log_bf10_values(*values))


@pytest.mark.parametrize(
    ("n_x", "n_y", "n_columns", "options"),
    [
        (4, 4, 1, {}),
        (5, 3, 1, {}),
        (2, 2, 2, {}),
        (3, 4, 2, {}),
        (3, 5, 3, {}),
        (2, 6, 4, {"subsets": "all"}),
        (4, 3, 3, {"subsets": [(0, 2)]}),
        (4, 3, 2, {"subsets": None}),
        (5, 5, 1, {"paired": True}),
        (5, 5, 3, {"paired": True}),
    ],
)
def test_pvalue_and_evalue_of_all_labellings(n_x, n_y, n_columns, options):
    options = {"model": PLAINLY, **options}
    x, y = draw(n_x, n_y, n_columns, shift=0.9, seed=n_x)
    flags, data = every_labelling(x, y, options.get("paired", False))
    assert flags.shape[1] == (2**n_x if "paired" in options else math.comb(n_x + n_y, n_x))
    values = np.array([statistic(*both, **options) for both in data])
    assert np.ptp(values) > 0.01
    found = relabelled(x, y, flags, **options)
    assert found.pvalue == np.mean(values >= values[0] - 1e-7)
    assert found.evalue == pytest.approx(np.exp(values[0]) / np.exp(values).mean(), rel=1e-8)


@pytest.mark.parametrize(
    ("n_x", "n_y", "n_columns", "paired"), [(3, 3, 1, False), (2, 4, 2, False), (3, 2, 3, False), (4, 4, 2, True)]
)
def test_the_mean_of_the_evalue_over_all_labellings_is_one(n_x, n_y, n_columns, paired):
    """And no more than a share α of the p-values is α or less."""
    x, y = draw(n_x, n_y, n_columns, shift=2.0)
    flags, data = every_labelling(x, y, paired)
    found = []
    for number, both in enumerate(data):
        if paired:  # swaps are from where the data are
            others = np.delete(flags, 0, axis=1)
        else:
            others = np.delete(flags, number, axis=1)
        of_first = np.concatenate([flags[:, [number]], others], axis=1)
        found.append(relabelled(*both, of_first, paired=paired, model=PLAINLY))
    pvalues, evalues = np.array(found).T
    assert evalues.mean() == pytest.approx(1.0, abs=1e-9)
    assert evalues.std() > 0.01
    for level in np.unique(pvalues):
        assert np.mean(pvalues <= level) <= level + 1e-12


@pytest.mark.parametrize("permutations", [1, 19, 99])
def test_the_evalue_is_at_most_the_number_of_labellings(permutations):
    far = ts.test(*draw(30, 40, 2, shift=9.0), permutations=permutations)
    assert 0.99 * (permutations + 1) < far.evalue <= permutations + 1
    near = ts.test(*draw(30, 40, 2), permutations=permutations)
    assert 0.0 < near.evalue <= permutations + 1
    assert ts.test(*draw(30, 40, 2)).evalue is None


@pytest.mark.parametrize(
    ("n_x", "n_y", "n_columns", "paired"),
    [(30, 30, 1, False), (80, 40, 2, False), (25, 60, 4, False), (50, 50, 3, True)],
)
@pytest.mark.parametrize("shift", [0.0, 0.6])
def test_the_statistic_of_the_observed_labels_is_the_reported_bayes_factor(
    monkeypatch, n_x, n_y, n_columns, paired, shift
):
    """To the accuracy of the fixed rule of lengthscales of the joint test; of the other tests it is exact."""
    x, y = draw(n_x, n_y, n_columns, shift=shift)
    seen, as_extreme = [], relabelling.as_extreme
    monkeypatch.setattr(
        relabelling.engine, "as_extreme", lambda own, others: seen.append(own) or as_extreme(own, others)
    )
    result = ts.test(x, y, paired=paired, permutations=1)
    assert seen == [pytest.approx(result.log_bf10, abs=5e-3)]
    assert seen == [pytest.approx(statistic(x, y, paired=paired), abs=1e-7)]
    # Without the joint test of the scaled columns there is no rule but that of the parts.
    single = [(column,) for column in range(n_columns)]
    if n_columns > 1:
        result = ts.test(x, y, paired=paired, permutations=1, subsets=single)
        assert seen[1] == pytest.approx(result.log_bf10, abs=1e-8)


def test_the_work_of_a_mixture_is_counted():
    x, y = draw(30, 40, 3)
    plan, samples = prepare(x, y, subsets="auto")
    done = []
    compared(plan, samples, 20, np.random.default_rng(0), done.append)
    expected = relabelling.work(relabelling.tests_of(plan), 70, 20)
    assert sum(done) == expected
    joint, _ = prepare(x, y)
    assert expected > 3 * relabelling.work(relabelling.tests_of(joint), 70, 20)


# ---- level and power


@pytest.mark.slow
@pytest.mark.parametrize(("n_x", "n_y", "paired"), [(20, 20, False), (15, 30, False), (20, 20, True)])
def test_level_over_null_data_sets(n_x, n_y, paired):
    data_sets, permutations = 1000, 39
    pvalues, evalues = [], []
    for seed in range(data_sets):
        rng = np.random.default_rng([7, n_y, paired, seed])
        common = rng.normal(size=n_x) if paired else 0.0
        x, y = rng.standard_exponential(n_x) + common, rng.standard_exponential(n_y) + common
        plan, samples = prepare(x, y, points=5, paired=paired, subsets="auto")
        found = compared(plan, samples, permutations, np.random.default_rng(0))
        pvalues.append(found.pvalue)
        evalues.append(found.evalue)
    # With 39 permutations the p-value is uniform on 1/40, 2/40, …, 1.
    for level in (0.05, 0.25, 0.5):
        error = np.sqrt(level * (1 - level) / data_sets)
        assert np.mean(np.array(pvalues) <= level + 1e-12) == pytest.approx(level, abs=3.5 * error)
    assert np.mean(evalues) == pytest.approx(1.0, abs=3.5 * np.std(evalues) / np.sqrt(data_sets))


def test_nothing_but_the_labels_depends_on_the_labels():
    x, y = draw(900, 700, 2, shift=1.0)
    rows = np.concatenate([x, y])
    mixed = rows[np.random.default_rng(0).permutation(len(rows))]
    one, other = ts.plan(x, y), ts.plan(mixed[:900], mixed[900:])
    np.testing.assert_array_equal(one.points, other.points)
    np.testing.assert_array_equal(one.center, other.center)
    np.testing.assert_array_equal(one.scale, other.scale)
    assert one.typical == other.typical
    assert one.key == other.key
    for first, second in zip(relabelling.rule(one), relabelling.rule(other), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("options", [{}, {"paired": True}, {"lengthscale": 1.0}, {"lengthscale": "median"}])
@pytest.mark.parametrize("n_y", [30, 50])
def test_hugely_different_samples_have_the_smallest_pvalue(options, n_y):
    x, y = draw(30, 30 if "paired" in options else n_y, shift=20.0)
    result = ts.test(x, y, permutations=99, **options)
    assert result.pvalue == pytest.approx(0.01)
    assert result.diagnostics.permutations == 99


@MODELS
def test_any_model_without_pairs(model):
    assert ts.test(*draw(shift=3.0), model=model, permutations=19).pvalue == pytest.approx(0.05)


# ---- what must not change it


@pytest.mark.parametrize("options", [{}, {"paired": True}, {"lengthscale": "median"}])
@pytest.mark.parametrize(("n_y", "n_columns"), [(30, 1), (40, 1), (30, 2)])
def test_swapping_samples_order_of_rows_and_units(options, n_y, n_columns):
    x, y = draw(30, 30 if "paired" in options else n_y, n_columns, shift=0.2)
    options = {"permutations": 199, "points": 12, **options}
    found = ts.test(x, y, **options)
    assert 0.005 < found.pvalue < 1
    rng = np.random.default_rng(0)
    order, other = rng.permutation(len(x)), rng.permutation(len(y))
    for again in (
        ts.test(y, x, **options),
        ts.test(x[order], y[order if "paired" in options else other], **options),
        ts.test(1000 * x + 8, 1000 * y + 8, **options),
    ):
        assert again.pvalue == found.pvalue
        assert again.evalue == pytest.approx(found.evalue, rel=1e-8)


def test_order_of_tied_rows():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, 25).astype(float), rng.integers(1, 5, 35).astype(float)
    found = ts.test(x, y, permutations=199).pvalue
    assert ts.test(np.sort(x), y[::-1], permutations=199).pvalue == found


UNCHANGED = {
    "rows": lambda rows: rows[::-1],
    "columns": lambda rows: rows[:, ::-1],
    "units": lambda rows: rows * [1.8, 1e-9, 3e5] + [32.0, 0.0, 7.0],
}


@pytest.mark.parametrize("change", UNCHANGED.values(), ids=UNCHANGED)
@pytest.mark.parametrize("decimals", [1, 12])
def test_random_numbers_are_those_of_the_data(change, decimals):
    """In any order and in any units the same, and others for other data: also where the ranks are the same."""

    def first(rows, seed=0):
        return relabelling.generator_for(np.random.default_rng(seed), rows).random()

    data = [np.round(draw(50, n_columns=3, seed=seed)[0], decimals) for seed in range(20)]
    found = [first(rows) for rows in data]
    assert [first(change(rows)) for rows in data] == found
    assert len({*found, *(first(rows**3) for rows in data), *(first(rows, 1) for rows in data)}) == 60


def test_random_numbers_at_any_magnitude():
    for rows in (np.array([[1e308], [-1e308], [3.0]]), np.zeros((3, 1)), np.empty((3, 0)), np.empty((0, 2))):
        assert 0.0 <= relabelling.generator_for(np.random.default_rng(0), rows).random() < 1.0


def test_data_sets_have_labels_of_their_own():
    """Though in one column the ranks of all of them are the same."""
    x, y = draw(12, 12)
    for paired in (False, True):
        seen = set()
        for power in (1, 3, 5):
            drawn = relabelling.of_rows(x**power, y**power, ADAPTIVE, paired=paired)
            seen.add(relabelling.generator_for(np.random.default_rng(0), *drawn.identity).random())
            swap = np.arange(12)[:, np.newaxis] % 3 > (0 if paired else -1)  # some pairs, or both samples
            left, right = np.where(swap, y, x) ** power, np.where(swap, x, y) ** power
            swapped = relabelling.of_rows(left, right, ADAPTIVE, paired=paired)
            seen.add(relabelling.generator_for(np.random.default_rng(0), *swapped.identity).random())
        assert len(seen) == 3


def test_seeds():
    x, y = draw(shift=0.2)
    same = {ts.test(x, y, permutations=99).pvalue for _ in range(3)}
    assert len(same) == 1
    assert len({ts.test(x, y, permutations=99, rng=seed).pvalue for seed in range(5)}) > 1
    assert ts.test(x, y, permutations=99, rng=np.random.default_rng(0)).pvalue in same


@pytest.mark.parametrize("n_y", [4, 6])
def test_ties_count_against_the_data(n_y):
    same = np.ones(4), np.ones(n_y)
    assert ts.test(*same, permutations=19).pvalue == 1.0
    # The shares of both values are the same in both samples, which is as near as any split comes.
    x, y = np.array([0.0, 0.0, 1.0, 1.0]), np.resize([0.0, 1.0], n_y)
    assert ts.test(x, y, permutations=99).pvalue == 1.0


@pytest.mark.parametrize("seed", range(8))
def test_ties_that_rounding_separates_count_against_the_data(seed):
    """Of samples of one size, labels and their opposites have one and the same statistic."""
    x, y = draw(3, 3, shift=1.0, seed=seed)
    rows, flags = np.concatenate([x, y]), all_splits(3, 3)
    lengthscales = np.array([1.0])
    values = relabelling.Splits.of(rows, 3, features_at(rows), lengthscales, ADAPTIVE).log_bf10(flags)[0]
    opposite = np.flatnonzero((flags == ~flags[:, [0]]).all(axis=0))
    assert len(opposite) == 1
    assert values[opposite] == pytest.approx(values[0], rel=1e-12, abs=1e-12)
    # Pairs of opposites are as extreme or not, and the observed labels do not count themselves.
    assert relabelling.as_extreme(values[0], values[1:]) % 2 == 1
    # Whatever rounding does to the opposite, and to the others that it could be taken for.
    nudged = np.nextafter(values, -np.inf)
    assert relabelling.as_extreme(values[0], nudged[1:]) == relabelling.as_extreme(values[0], values[1:])


def test_the_smallest_pvalue_of_two_samples_of_three_rows():
    """Two of the 20 splits, the data and their opposite, are the most extreme."""
    pvalues = [ts.test([0.0, 0.1, 0.25 + shift], [7.0, 7.4, 7.7], permutations=1500).pvalue for shift in (0.0, 0.3)]
    assert pvalues == pytest.approx([0.1, 0.1], abs=4 * np.sqrt(0.1 * 0.9 / 1500))


@pytest.mark.parametrize(
    ("observed", "other", "tied"),
    [(2.0, 2.0 - 1e-9, True), (2.0, 2.0 - 1e-6, False), (-3e6, -3e6 - 1e-3, True), (3e6, 3e6 - 1.0, False)],
)
def test_ties_are_within_rounding(observed, other, tied):
    assert relabelling.as_extreme(observed, np.array([other, observed + 1.0])) == 1 + tied


def test_the_bayes_factor_is_the_same_with_permutations():
    x, y = draw(shift=0.5)
    plain, result = ts.test(x, y), ts.test(x, y, permutations=9)
    assert plain.pvalue is None and plain.diagnostics.permutations == 0
    assert result.log_bf10 == plain.log_bf10
    assert "p-value" not in plain.summary()


# ---- the interface


@pytest.mark.parametrize("permutations", [-1, -1000])
def test_too_few_permutations(permutations):
    with pytest.raises(InputError, match=r"^permutations: must be at least 0"):
        ts.test(*draw(), permutations=permutations)


@pytest.mark.parametrize("permutations", [1.5, True, "99", None])
def test_permutations_that_are_no_number(permutations):
    with pytest.raises(InputTypeError, match=r"^permutations: expected a whole number"):
        ts.test(*draw(), permutations=permutations)


@pytest.mark.parametrize("model", ["paper", "published", dataclasses.replace(ADAPTIVE, noise="samples")])
@pytest.mark.parametrize("options", [{}, {"paired": True}, {"lengthscale": 1.0}])
def test_models_with_the_noise_of_each_sample_have_no_pvalue(model, options):
    with pytest.raises(InputError, match=r"^permutations: .* the noise of all rows.*use model='adaptive'"):
        ts.test(*draw(), model=model, permutations=9, **options)


def test_a_monitor_takes_no_model_with_the_noise_of_each_sample():
    plan = ts.plan(*draw(), model=dataclasses.replace(ADAPTIVE, name="own", noise="samples"))
    with pytest.raises(InputError, match=r"^plan: a monitor takes no model 'own'; make it with model='adaptive'"):
        ts.Monitor(plan=plan)


@pytest.mark.parametrize("permutations", [0, 19])
def test_json(permutations):
    result = ts.test(*draw(), permutations=permutations)
    again = ts.TwoSampleResult.from_json(result.to_json())
    assert (again.pvalue, again.evalue) == (result.pvalue, result.evalue)
    assert again.diagnostics == result.diagnostics


def test_summary():
    text = ts.test(*draw(shift=9.0), permutations=99, prior_odds=2.0).summary()
    assert "  p-value              0.01 (99 permutations)\n" in text
    text = ts.test(*draw(shift=9.0), permutations=99, paired=True).summary()
    assert "  p-value              0.01 (99 random swaps)\n" in text


@pytest.mark.parametrize("n_y", [30, 40])
def test_progress_counts_permutations(n_y):
    plain, shares = [], []
    ts.test(*draw(30, n_y), progress=plain.append)
    ts.test(*draw(30, n_y), progress=shares.append, permutations=99)
    assert shares == sorted(shares)
    assert shares[0] < plain[0]
    assert shares[-1] == 1.0
