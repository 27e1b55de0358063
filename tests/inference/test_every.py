"""Few rows: Bayes factors are divided by their mean over all labellings, which the public functions show one by one."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import twosample as ts
from twosample.inference.relabelling import labellings
from twosample.models import PRESETS, HalfCauchy

# Means are taken with fewer lengthscales and amplitudes than answers.
CLOSE = 5e-3
PLAINLY = replace(PRESETS["adaptive"], few=False)


def splits(pooled, n_x):
    """Both samples of every labelling of the pooled rows."""
    rows = np.arange(len(pooled))
    for chosen in combinations(rows, n_x):
        yield pooled[list(chosen)], pooled[np.setdiff1d(rows, chosen)]


def swaps(x, y):
    """Both samples of pairs for every choice of pairs whose members are swapped."""
    for swapped in product([False, True], repeat=len(x)):
        flags = np.array(swapped)[:, None]
        yield np.where(flags, y, x), np.where(flags, x, y)


def draw(law, n_x, n_y, columns):
    rng = np.random.default_rng([n_x, n_y, columns])
    rows = {
        "normal": lambda n: rng.normal(size=(n, columns)),
        "heavy tails": lambda n: rng.standard_t(1, size=(n, columns)),
        "ties": lambda n: rng.integers(0, 3, size=(n, columns)).astype(float),
    }[law]
    return rows(n_x), rows(n_y)


@pytest.mark.parametrize("law", ["heavy tails", "ties"])
@pytest.mark.parametrize(
    ("n_x", "n_y", "columns", "paired"), [(3, 4, 1, False), (2, 4, 2, False), (4, 4, 1, True), (3, 3, 3, True)]
)
def test_evalues_have_mean_one_over_all_labellings_and_bayes_factors_no_more(law, n_x, n_y, columns, paired):
    x, y = draw(law, n_x, n_y, columns)
    everything = swaps(x, y) if paired else splits(np.concatenate([x, y]), n_x)
    results = [ts.test(*samples, paired=paired) for samples in everything]
    assert len(results) == labellings(n_x, n_y, paired=paired)
    log_bf10, evalues = np.array([(one.log_bf10, one.evalue) for one in results]).T
    assert evalues.mean() == pytest.approx(1.0, abs=1e-9)
    assert np.exp(log_bf10).mean() < 1.0 + CLOSE
    found = ts.test(x, y, paired=paired)
    assert found.diagnostics.permutations == len(results)
    assert found.diagnostics.largest == pytest.approx(log_bf10.max(), abs=CLOSE)
    assert found.evalue == pytest.approx(found.bf10 / np.exp(log_bf10).mean(), rel=2 * CLOSE)
    at_least = np.mean(log_bf10 >= found.log_bf10 - 1e-9)
    assert found.pvalue == pytest.approx(at_least, abs=1e-12)


def divided(log_bf10):
    """By the mean over all labellings, the first axis, where that is more than 1."""
    return log_bf10 - np.maximum(np.log(np.exp(log_bf10).mean(axis=0)), 0.0)


@pytest.mark.parametrize("law", ["normal", "ties"])  # without ties all columns share one decomposition
def test_each_column_by_itself_is_divided_by_its_mean(law):
    x, y = draw(law, 4, 4, 3)
    everything = list(splits(np.concatenate([x, y]), 4))

    def log_bf10(model):
        tables = [ts.test_each(*samples, model=model) for samples in everything]
        return np.array([[row.log_bf10 for row in sorted(table, key=lambda row: row.column)] for table in tables])

    plain, found = log_bf10(PLAINLY), log_bf10("adaptive")
    np.testing.assert_allclose(found, divided(plain), atol=CLOSE)
    means = np.exp(plain).mean(axis=0)
    assert means.max() > 100 if law == "ties" else means.max() < 1  # so that it matters, or does not


def test_objects_are_divided_by_their_mean():
    objects = ["AACA", "ACCA", "AAAA", "ACGT", "GGGT", "GTGT", "GGTT"]
    everything = [tuple(map(list, samples)) for samples in splits(np.array(objects), 3)]
    plain = np.array([ts.test(x, y, kernel="kmer", model=PLAINLY).log_bf10 for x, y in everything])
    results = [ts.test(x, y, kernel="kmer") for x, y in everything]
    np.testing.assert_allclose([one.log_bf10 for one in results], divided(plain), atol=CLOSE)
    first = results[0]
    assert first.pvalue == pytest.approx(np.mean([one.log_bf10 >= first.log_bf10 - 1e-9 for one in results]))


def test_an_average_over_kernels_has_evalues_of_mean_one_too():
    x, y = draw("normal", 3, 4, 1)
    results = [ts.test(*samples, kernel=["rbf", "laplace"]) for samples in splits(np.concatenate([x, y]), 3)]
    assert np.mean([one.evalue for one in results]) == pytest.approx(1.0, abs=1e-9)
    logs = np.array([one.log_bf10 for one in results])
    assert results[0].evalue == pytest.approx(results[0].bf10 / np.exp(logs).mean(), rel=2 * CLOSE)


def test_no_seed_matters_and_permutations_asked_for_are_all_of_them():
    x, y = draw("normal", 5, 5, 1)
    first, second = ts.test(x, y), ts.test(x, y, permutations=99, rng=7)
    assert (first.pvalue, first.evalue, first.log_bf10) == (second.pvalue, second.evalue, second.log_bf10)
    assert second.diagnostics.permutations == 252


def test_complete_separation_is_seen():
    x, y = np.arange(5.0), 1000.0 + np.arange(5.0)
    found = ts.test(x, y)
    assert found.prob_h1 > 0.9
    assert found.pvalue == pytest.approx(2 / 252)
    assert found.log_bf10 == pytest.approx(found.diagnostics.largest, abs=CLOSE)


def test_statistics_that_merge_give_the_same_answer():
    x, y = draw("normal", 6, 5, 2)
    plan = ts.plan(x, y)
    merged = plan.statistics(x[:3], y[:2]).merge(plan.statistics(x[3:], y[2:]))
    found, whole = plan.test(merged), ts.test(x, y)
    assert found.log_bf10 == pytest.approx(whole.log_bf10, abs=1e-9)
    assert (found.pvalue, found.diagnostics.largest) == pytest.approx((whole.pvalue, whole.diagnostics.largest))


@pytest.mark.parametrize("model", ["paper", replace(PRESETS["adaptive"], noise="samples")])
def test_models_with_the_noise_of_each_sample_and_many_rows_are_left_alone(model):
    x, y = draw("normal", 5, 5, 1)
    assert ts.test(x, y, model=model, points=3).pvalue is None
    x, y = draw("normal", 9, 9, 1)
    assert ts.test(x, y).pvalue is None


@pytest.mark.parametrize("kernel", ["rbf", ["rbf", "laplace"]])
def test_two_groups_are_two_samples(kernel):
    x, y = draw("normal", 4, 5, 2)
    two, groups = ts.test(x, y + 1, kernel=kernel), ts.ksample([x, y + 1], kernel=kernel)
    assert groups.log_bf10 == pytest.approx(two.log_bf10, abs=1e-6)
    assert (groups.pvalue, groups.evalue) == pytest.approx((two.pvalue, two.evalue), rel=1e-9)
    assert groups.diagnostics.permutations == two.diagnostics.permutations == 126
    assert groups.robustness().log_bf10 == pytest.approx(two.log_bf10, abs=1e-6)


def test_robustness_divides_by_the_means_of_every_model():
    x, y = draw("normal", 4, 4, 1)
    curves = ts.test(x, y + 3).robustness().curves
    scales = next(dict(zip(one.values, one.log_bf10, strict=True)) for one in curves if one.name == "amplitude")
    for scale in (0.1, 1.0):
        model = replace(PRESETS["adaptive"], amplitude_of_one=HalfCauchy(scale))
        assert scales[scale] == pytest.approx(ts.test(x, y + 3, model=model).log_bf10, abs=CLOSE)


def test_statistics_of_pairs_give_the_same_answer():
    """Few rows are kept with the statistics, in an order that the members of pairs share."""
    x, y = draw("normal", 6, 6, 1)
    plan = ts.plan(x, y, paired=True)
    merged = plan.statistics(x[:2], y[:2]).merge(plan.statistics(x[2:], y[2:]))
    found, whole = plan.test(merged), ts.test(x, y, paired=True)
    assert found.log_bf10 == pytest.approx(whole.log_bf10, abs=1e-9)
    assert (found.pvalue, found.diagnostics.largest) == pytest.approx((whole.pvalue, whole.diagnostics.largest))
