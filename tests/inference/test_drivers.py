"""What drives the difference, against tests of the normal scores of the columns one lengthscale at a time."""

import json

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm, rankdata

import twosample as ts
from twosample.inference import drivers
from twosample.inference.columns import BySubset
from twosample.inference.witness import Driver


def shifted(columns=(2,), n_columns=5, n=80):
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, n, n_columns))
    y[:, list(columns)] += 1.2
    return x, y


def correlated(n=120):
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, n, 4))
    y[:, 3] = 0.95 * y[:, 1] + 0.3 * y[:, 3]
    return x, y


def scores_of(x, y):
    pooled = np.concatenate([x, y])
    scores = norm.ppf((rankdata(pooled, axis=0) - 0.5) / len(pooled))
    return pooled, scores[: len(x)], scores[len(x) :]


def median_of_distances(points):
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(-1))[np.triu_indices(len(points), 1)]
    return np.median(distances) / np.sqrt(2)


def mixture_of_lengthscales(x, y, points, at, model):
    """Mean and sd of the witness over all lengthscales, each from a test of its own that knows nothing of mixtures."""
    lengthscales = median_of_distances(points) * model.lengthscale.multiples
    single = [ts.test(x, y, lengthscale=one, points=points, scale="raw", model=model) for one in lengthscales.tolist()]
    log_weights = np.array([one.log_bf10 for one in single])
    weights = np.exp(log_weights - logsumexp(log_weights))
    means, sds = (np.array([getattr(one.witness(at), name) for one in single]) for name in ("mean", "sd"))
    mean = weights @ means
    return mean, np.sqrt(weights @ (sds**2 + (means - mean) ** 2))


def agree(found, expected):
    # Of the lengthscales about twelve are kept, between which means and variances are interpolated.
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


def test_witness_of_a_column_is_that_of_its_normal_scores():
    x, y = shifted()
    x, y = np.exp(x), np.exp(y)  # normal scores do not see it
    result = ts.test(x, y)
    (driver,) = result.drivers
    assert driver.columns == (2,)
    pooled, scores_x, scores_y = scores_of(x[:, [2]], y[:, [2]])
    points = np.array([part.mean() for part in np.array_split(np.sort(np.concatenate([scores_x, scores_y])[:, 0]), 16)])
    order = np.argsort(pooled[:, 0])
    at = np.interp(driver.grid[0], pooled[order, 0], np.concatenate([scores_x, scores_y])[order, 0])
    mean, sd = mixture_of_lengthscales(scores_x, scores_y, points[:, None], at, result.model)
    agree(driver.mean, mean)
    agree(driver.sd, sd)
    # Where x has more it is positive: y is shifted up.
    assert driver.mean[10] > 0 > driver.mean[-10]


def test_witness_of_a_pair_is_that_of_its_normal_scores():
    x, y = correlated()
    result = ts.test(x, y)
    (driver,) = result.drivers
    assert driver.columns == (1, 3)
    pooled, scores_x, scores_y = scores_of(x[:, [1, 3]], y[:, [1, 3]])
    scores = np.concatenate([scores_x, scores_y])
    (points,) = (
        part.points[part.columns.tolist().index([1, 3])] for part in ts.plan(x, y).parts if part.columns.shape[1] == 2
    )
    places = []
    for column in range(2):
        order = np.argsort(pooled[:, column])
        places.append(np.interp(driver.grid[column], pooled[order, column], scores[order, column]))
    at = np.array([(first, second) for first in places[0] for second in places[1]])
    mean, sd = mixture_of_lengthscales(scores_x, scores_y, points, at, result.model)
    agree(driver.mean.ravel(), mean)
    agree(driver.sd.ravel(), sd)
    np.testing.assert_array_equal(driver.witness.mean.reshape(driver.mean.shape), driver.mean)
    # y is correlated: it has more where both columns are large.
    near = [int(np.abs(along - 1.2).argmin()) for along in driver.grid]
    assert driver.mean[near[0], near[1]] < 0


def test_of_many_columns_that_differ_the_three_likeliest_are_shown():
    x, y = shifted((0, 1, 3, 4))
    result = ts.test(x, y)
    likeliest = [(int(row.column),) for row in result.by_column[:3]]
    assert [driver.columns for driver in result.drivers] == likeliest


def test_where_no_column_is_likely_the_likeliest_is_shown():
    rng = np.random.default_rng(0)
    result = ts.test(*rng.normal(size=(2, 80, 4)))
    assert result.by_column[0].prob < 0.5
    assert [driver.columns for driver in result.drivers] == [(int(result.by_column[0].column),)]


def of_columns(log_bf10, subset_log_bf10, subsets):
    count = len(log_bf10)
    return BySubset(
        log_bf10=np.array(log_bf10),
        auc=np.full(count, 0.5),
        spread=np.ones(count),
        direction=("different shape",) * count,
        subsets=subsets,
        prior=np.full(len(subsets), 1.0 / len(subsets)),
        subset_log_bf10=np.array(subset_log_bf10),
    )


def test_a_pair_is_chosen_only_if_the_samples_differ_in_it_and_not_in_its_columns():
    subsets = ((0,), (1,), (2,), (0, 2))
    together = of_columns([-2.0, -1.0, -2.0], [-2.0, -1.0, -2.0, 9.0], subsets)
    assert drivers.choose(together, differ=True) == [(0, 2)]
    assert drivers.choose(together, differ=False) == [(1,)]
    alone = of_columns([9.0, -1.0, -2.0], [9.0, -1.0, -2.0, 9.5], subsets)
    assert drivers.choose(alone, differ=True) == [(0,)]


def test_between_the_places_of_a_grid_the_witness_is_linear():
    values = np.array([[0.0, 1.0], [2.0, 3.0]])
    driver = Driver((0, 1), np.array([[0.0, 1.0], [0.0, 10.0]]), values, 2.0 * values)
    found = driver.at(np.array([[0.5, 2.5]]))
    assert found.mean == pytest.approx([1.25]) and found.sd == pytest.approx([2.5])


@pytest.mark.parametrize("options", [{"subsets": None}, {"model": "paper"}, {"lengthscale": 1.0}])
def test_tests_of_all_columns_together_name_none(options):
    x, y = shifted(n=30)
    assert ts.test(x, y, **options).drivers == ()


@pytest.mark.parametrize("n_columns", [1, 2])
def test_one_and_two_columns_need_none(n_columns):
    x, y = shifted((0,), n_columns, n=40)
    assert ts.test(x, y).drivers == ()


def test_merged_statistics_name_the_same():
    x, y = shifted()
    plan = ts.plan(x, y)
    merged = plan.statistics(x[:30], y[:50]).merge(plan.statistics(x[30:], y[50:]))
    (one,), (other,) = ts.test(x, y).drivers, plan.test(merged).drivers
    assert one.columns == other.columns
    np.testing.assert_array_equal(one.grid, other.grid)
    np.testing.assert_allclose(one.mean, other.mean, atol=1e-9)
    np.testing.assert_allclose(one.sd, other.sd, atol=1e-9)


@pytest.mark.parametrize("pair", [shifted((0, 3)), correlated()])
def test_json_keeps_them(pair):
    result = ts.test(*pair)
    back = ts.TwoSampleResult.from_json(result.to_json())
    assert len(back.drivers) == len(result.drivers) > 0
    for one, other in zip(result.drivers, back.drivers, strict=True):
        assert one.columns == other.columns
        for name in ("grid", "mean", "sd"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            assert not getattr(other, name).flags.writeable
    assert back.to_json() == result.to_json()


def test_results_without_them_can_be_read():
    content = ts.test(*shifted()).to_dict()
    del content["drivers"]
    assert ts.TwoSampleResult.from_json(json.dumps(content)).drivers == ()


def test_heavy_tails_do_not_set_the_range():
    rng = np.random.default_rng(0)
    x, y = rng.standard_cauchy(size=(2, 300, 3))
    y[:, 1] += 2.0
    (driver,) = ts.test(x, y).drivers
    low, high = np.quantile(np.concatenate([x, y])[:, 1], (0.025, 0.975))
    # Half as far again as 95 % of the values reach.
    assert driver.grid[0, 0] >= low - 0.5 * (high - low)
    assert driver.grid[0, -1] <= high + 0.5 * (high - low)
    assert driver.grid[0, 0] < low < high < driver.grid[0, -1]
