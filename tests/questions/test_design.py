"""How many rows are needed: what a design takes, refuses and says."""

import math
import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import twosample as ts
from twosample.errors import InputError, InputTypeError

RNG = np.random.default_rng(3)
X, Y = RNG.normal(0, 1, (40, 2)), RNG.normal([0.0, 0.9], 1, (40, 2))
FEW = {"sizes": [20, 60, 200], "draws": 100}


@pytest.fixture(scope="module")
def found():
    return ts.design(X, Y, **FEW)


def test_neither_the_order_of_rows_nor_units_matter(found):
    again = ts.design(RNG.permutation(X) * 8.0 + 3.0, RNG.permutation(Y) * 8.0 + 3.0, **FEW)
    # Points and ranks do not depend on order or units, but for rounding.
    np.testing.assert_allclose(again.different, found.different, atol=1e-6)
    np.testing.assert_allclose(again.same, found.same, atol=1e-6)


def test_a_plan_and_its_statistics_say_the_same(found):
    plan = ts.plan(X, Y)
    parts = plan.statistics(X[:10], Y[:30]).merge(plan.statistics(X[10:], Y[30:]))
    again = ts.design(plan, ts.FeatureStatistics.from_bytes(parts.to_bytes()), **FEW)
    np.testing.assert_allclose(again.different, found.different, atol=1e-8)
    with pytest.raises(InputError, match="scale: the plan has settled that"):
        ts.design(plan, parts, scale="raw")
    with pytest.raises(InputError, match=r"y: .* belong to another plan"):
        ts.design(ts.plan(X[:30], Y), parts)
    with pytest.raises(InputTypeError, match="y: expected the FeatureStatistics"):
        ts.design(plan, Y)


def test_chances_add_up_and_rows_come_from_the_samples(found):
    for row, different, same in zip(found, found.different, found.same, strict=True):
        limit = math.log(10)
        assert row.found + row.unclear + row.missed == pytest.approx(1)
        assert row.confirmed_same + row.unclear_same + row.false_alarm == pytest.approx(1)
        assert row.found == np.mean(different > limit) and row.false_alarm == np.mean(same > limit)
        assert row.missed == np.mean(different < -limit) and row.confirmed_same == np.mean(same < -limit)
        assert (row.low, row.log_bf10, row.high) == tuple(np.quantile(different, [0.1, 0.5, 0.9]))
    assert found.at(60) == list(found)[1]
    with pytest.raises(InputError, match="n: 61 is not one of the sizes; use one of 20, 60, 200"):
        found.at(61)


def test_size_for_is_between_the_sizes_that_have_less_and_more():
    logs = np.array([[-3.0] * 3 + [3.0], [-3.0] + [3.0] * 3, [3.0] * 4])
    some = ts.design(X, Y, sizes=[20, 40, 160], draws=10)
    made = replace(some, different=logs, same=-logs[:, ::-1])
    assert made.size_for(0.25) == 20 and made.size_for(1.0 - 1e-9) == 160
    assert made.size_for(0.5) == math.ceil(20 * math.sqrt(2))
    assert made.size_for(0.5, same=True) == math.ceil(20 * math.sqrt(2))
    never = replace(some, different=-np.abs(logs))
    assert never.size_for(0.5) is None and "160 rows a sample are not enough" in str(never)


def test_a_larger_ratio_and_a_lower_threshold_find_more(found):
    more = ts.design(X, Y, ratio=3.0, **FEW)
    assert (more.sizes_y == 3 * found.sizes).all() and more.at(60).log_bf10 > found.at(60).log_bf10
    lower = ts.design(X, Y, threshold=3.0, **FEW)
    assert lower.at(60).found > found.at(60).found and "BF10 > 3" in str(lower)


def test_no_difference_and_a_large_one():
    z = RNG.normal(size=(2, 300))
    none = ts.design(*z, sizes=[100, 1000], draws=100)
    assert none.at(100).found < 0.2 and none.at(100).false_alarm < 0.05 and none.at(1000).confirmed_same > 0.3
    large = ts.design(z[0], z[1] + 3.0, sizes=[20], draws=50)
    assert large.at(20).found == 1.0


def test_laws_are_drawn_as_pilots():
    found = ts.design("norm(0, 1)", stats.norm(1.0, 1), sizes=[50, 100], draws=60)
    assert (found.n_x, found.n_y) == (1000, 1000) and found.at(100).found > 0.9

    def frames(size, rng):
        return pl.DataFrame({"place": rng.choice(["a", "b"], size), "level": rng.normal(size=size)})

    again = ts.design(frames, frames, sizes=50, draws=20)
    assert again.columns == ("place", "level") and again.at(50).found < 0.2
    with pytest.raises(InputTypeError, match="law: it does not take a size and a generator"):
        ts.design(lambda: X, lambda: Y)


def test_pairs():
    base = RNG.normal(0, 3, 60)
    x, y = base + RNG.normal(0, 0.3, 60), base + 0.3 + RNG.normal(0, 0.3, 60)
    pairs = ts.design(x, y, paired=True, **FEW)
    # The common part is noise without pairs, ten times as large as the shift.
    assert pairs.at(60).found > 0.8 > 0.2 > ts.design(x, y, **FEW).at(60).found
    assert "60 pairs" in str(pairs) and pairs.at(60).false_alarm < 0.05
    with pytest.raises(InputError, match="ratio: pairs have a row in each sample"):
        ts.design(x, y, paired=True, ratio=2.0)


def test_columns_with_many_levels_are_said_to_be_coarser():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        words = pl.DataFrame({"word": [f"w{number}" for number in RNG.integers(0, 50, 400)]})
        found = ts.design(words[:200], words[200:], sizes=50, draws=20)
    assert any("more than 31 levels" in note for note in found.notes)


def test_a_large_pilot_is_resampled_in_part():
    found = ts.design(RNG.normal(size=2300), RNG.normal(size=600), sizes=30, draws=20)
    assert (found.n_x, found.n_y) == (2000, 600)
    assert "Of the pilot's 2,300 and 600 rows, 2,000 and 600 are resampled." in str(found)
    x, y = RNG.normal(size=(2, 700, 3))
    plan = ts.plan(x, y)
    again = ts.design(plan, plan.statistics(x, y), sizes=30, draws=20)
    assert "Of the pilot's 700 and 700 rows, 500 and 500 are resampled." in str(again)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [5, 50]}, "sizes: must be at least 10, not 5"),
        ({"sizes": []}, "sizes: none is given"),
        ({"sizes": "50"}, "sizes: expected whole numbers, got str"),
        ({"sizes": [20.5]}, "sizes: expected a whole number, got 20.5"),
        ({"sizes": [20], "ratio": 0.2}, "ratio: 20 rows of x would go with 4 of y"),
        ({"threshold": 1.0}, "threshold: must be more than 1"),
        ({"draws": 3}, "draws: must be at least 10"),
        ({"model": "paper"}, "model: "),
    ],
)
def test_refusals(options, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        ts.design(X, Y, **options)


def test_an_average_over_kernels_is_one_of_bayes_factors():
    options = {"sizes": [20, 40], "draws": 40}
    one, other, both = (ts.design(X, Y, kernel=kernel, **options) for kernel in ("rbf", "laplace", ["rbf", "laplace"]))
    # The same rows are drawn for each of them where there is no difference.
    of_one, of_other, of_both = (np.exp(found.same).mean(axis=1) for found in (one, other, both))
    np.testing.assert_allclose(of_both, 0.5 * (of_one + of_other), rtol=1e-9)


def test_a_tiny_pilot_is_refused():
    with pytest.raises(InputError, match="a pilot of 9 and 40 rows says too little; 10 of each are needed"):
        ts.design(X[:9], Y)


def test_outputs(found, tmp_path):
    assert ts.DesignResult.from_json(found.to_json()) == found
    assert list(found.to_frame("polars")["n"]) == [20, 60, 200]
    assert "rows a sample" in found.report(tmp_path / "sizes.html").read_text("utf-8")
    chances, evidence = found.panels().values()
    np.testing.assert_array_equal(chances.series["BF10 > 10 if they differ"][1], [row.found for row in found])
    np.testing.assert_array_equal(evidence.series["if not"][1], [row.log_bf10_same for row in found])
    assert len(found.plot().axes) == 2 and found.facts().verdict[:-1] in found.text()


def test_objects_are_matched_by_identifiers():
    names = [f"{number:02d}" for number in range(24)]
    x = ["".join(RNG.choice(list("acgt"), 8)) for _ in names]
    y = [text[::-1] for text in x]
    order = RNG.permutation(len(names))
    asked = {"kernel": "kmer", "sizes": [20, 40], "draws": 20}
    in_order = ts.design(x, y, paired=True, **asked)
    found = ts.design(x, [y[row] for row in order], paired=(names, [names[row] for row in order]), **asked)
    np.testing.assert_array_equal(found.different, in_order.different)
