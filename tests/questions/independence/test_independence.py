"""Tests of independence as a whole: what is found, what must not matter, what is refused, and what comes back."""

import json
import math
import pickle
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import twosample as ts
from twosample.errors import DependentRowsWarning, DroppedDataWarning, InputError, InputTypeError
from twosample.inference import relabelling
from twosample.inference.relabelling import Relabelled
from twosample.questions.independence import pairing, run
from twosample.questions.independence.sides import Column, Side
from twosample.questions.independence.two_sides import read_sides

few = settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def ring(n=250, seed=0, sd=0.3):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.cos(angle) + sd * rng.normal(size=n), np.sin(angle) + sd * rng.normal(size=n)


@st.composite
def data(draw):
    """Two things with or without ties, dependent or not, of one column or two."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, decimals = draw(st.integers(5, 60)), draw(st.sampled_from([0, 1, None]))
    x, y = rng.normal(size=(n, draw(st.integers(1, 2)))), rng.normal(size=(n, draw(st.integers(1, 2))))
    y[:, 0] += draw(st.sampled_from([0.0, 1.0])) * x[:, 0] ** 2
    x[0], x[1], y[0], y[1] = -3.0, 3.0, -3.0, 3.0  # nothing is constant
    return (x, y, rng) if decimals is None else (x.round(decimals), y.round(decimals), rng)


@few
@given(data())
def test_neither_the_order_of_rows_nor_which_side_is_x_matters(drawn):
    x, y, rng = drawn
    result = ts.independence(x, y, permutations=19)
    order = rng.permutation(len(x))
    for other in (ts.independence(y, x, permutations=19), ts.independence(x[order], y[order], permutations=19)):
        assert_allclose(other.log_bf10, result.log_bf10, rtol=1e-6, atol=1e-6)
        assert_allclose(other.size, result.size, rtol=1e-5)
        if len(np.unique(np.c_[x, y], axis=0)) == len(x):
            assert other.pvalue == result.pvalue
            assert_allclose(other.evalue, result.evalue, rtol=1e-5)


@few
@given(data())
def test_monotone_maps_of_columns_do_not_matter(drawn):
    x, y, _ = drawn
    result = ts.independence(x, y, permutations=9)
    mapped = ts.independence(np.exp(x), 7e4 * y**3 - 5, permutations=9)
    assert mapped.log_bf10 == result.log_bf10
    assert mapped.pvalue == result.pvalue
    if x.shape[1] == y.shape[1] == 1:
        assert_allclose(ts.independence(-x, y).log_bf10, result.log_bf10, rtol=1e-6, atol=1e-6)


def test_data_sets_have_pairings_of_their_own():
    """Of one column each there is nothing but the pairs that tells data sets apart."""
    seen = set()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        sides = read_sides(rng.normal(size=20), rng.normal(size=20), None, None, "raise", None)
        pairings = run._Pairings.of(run._Tests.of(sides, 8, lambda work: None))
        seen.add(relabelling.generator_for(np.random.default_rng(0), *pairings.identity).random())
    assert len(seen) == 5


@few
@given(data())
def test_nothing_is_ever_nan(drawn):
    x, y, _ = drawn
    result = ts.independence(x, y, permutations=3)
    text = result.to_json()  # refuses NaN
    assert 0.0 <= result.prob_h1 <= 1.0
    assert 0.0 <= result.size < 1.0
    assert ts.IndependenceResult.from_json(text).to_json() == text


def test_the_order_of_columns_does_not_matter():
    x, y = ring()
    noise = np.random.default_rng(1).normal(size=(2, len(x)))
    one = ts.independence(np.c_[x, noise[0]], np.c_[y, noise[1]])
    other = ts.independence(np.c_[noise[0], x], np.c_[noise[1], y])
    assert_allclose(one.pairs, other.pairs[::-1, ::-1])
    assert_allclose(one.log_bf10, other.log_bf10, rtol=0.02)  # of equal spreads the first column is split first


def test_what_has_no_correlation_is_found_and_where():
    x, y = ring()
    result = ts.independence(x, y, permutations=99)
    assert result.verdict == "very strong evidence that x and y are dependent"
    assert result.pvalue == 0.01
    assert result.evalue > 50
    found = result.witness([0.0, 1.0, 0.0, 1.3], [0.0, 0.0, 1.0, 1.3])
    assert (np.sign(found.mean) == [-1, 1, 1, -1]).all()
    assert found.mean.min() >= -1.0
    assert (np.abs(found.mean) > 1.5 * found.sd).all()
    assert found.at.tolist() == [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.3, 1.3]]


def test_the_witness_is_the_density_ratio_less_1():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 20_000))
    rho = 0.5
    result = ts.independence(x, rho * x + math.sqrt(1 - rho**2) * noise)
    at = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, -1.0], [-0.5, -1.0], [1.5, 0.5]])
    u, v = at.T
    exact = np.exp(-(rho**2 * (u**2 + v**2) - 2 * rho * u * v) / (2 * (1 - rho**2))) / math.sqrt(1 - rho**2) - 1
    assert_allclose(result.witness(u, v).mean, exact, atol=0.05)
    assert_allclose(result.size, rho, atol=0.02)
    assert_allclose(result.correlations[0][0], rho, atol=0.02)


def test_probability_of_independence_grows_with_n():
    found = []
    for n in (30, 300, 3000):
        rng = np.random.default_rng(n)
        found.append(np.mean([ts.independence(*rng.normal(size=(2, n))).prob_h0 for _ in range(5)]))
    assert found[0] < found[1] < found[2]
    assert found[2] > 0.8


LAWS = {
    "normal": lambda rng, n: rng.normal(size=(2, n)),
    "cauchy": lambda rng, n: rng.standard_cauchy((2, n)),
    "integers": lambda rng, n: rng.poisson(1.0, (2, n)) + np.eye(n)[0],
    "rare": lambda rng, n: np.eye(n)[rng.integers(n, size=2)],
}


@pytest.mark.parametrize("law", LAWS)
def test_independent_data_are_seldom_called_dependent(law):
    values = []
    for seed in range(36):
        rng = np.random.default_rng([seed, len(law)])
        values.append(ts.independence(*LAWS[law](rng, (10, 20, 50)[seed % 3])).log_bf10)
    assert np.exp(values).mean() < 1.0
    assert np.exp(max(values)) < 20.0


def test_evalues_of_all_pairings_have_mean_1():
    logs = np.random.default_rng(0).normal(size=7)
    each = [Relabelled.of(np.roll(logs, -place)).evalue for place in range(7)]
    assert_allclose(np.mean(each), 1.0)


def test_bayes_factor_of_the_permutations_is_that_of_the_pairs_themselves(monkeypatch):
    """All 120 pairings of five rows, by the function for permutations and one by one."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(5, 2)), rng.normal(size=(5, 1))
    tests = run._Tests.of(read_sides(x, y, None, None, "raise"), 16, lambda work: None)
    orders = iter(permutations(range(5)))
    next(orders)

    class InOrder:
        def permutation(self, n):
            return np.array(next(orders))

    pairings = run._Pairings.of(tests)
    values = relabelling.log_bf10_values(pairings, range(len(tests.which)), 119, InOrder(), lambda work: None)
    place, swapped = run._arranged(*tests.keys)
    for value, order in list(zip(values, permutations(range(5)), strict=True))[::17]:
        order = np.argsort(order) if swapped else np.array(order)
        assert_allclose(value, ts.independence(x[place], y[place][order]).log_bf10, rtol=1e-6)
    evalues = [Relabelled.of(np.r_[value, np.delete(values, number)]).evalue for number, value in enumerate(values)]
    assert_allclose(np.mean(evalues), 1.0)


def test_seeds():
    x, y = ring(60, sd=0.5)
    one, same, other = (ts.independence(x, y, permutations=50, rng=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.evalue != other.evalue
    assert one.log_bf10 == other.log_bf10


def test_pairs_of_columns():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(rng.normal(size=(150, 5)), schema=list("abcde"))
    frame = frame.with_columns(d=pl.col("d") - 1.5 * pl.col("b"), e=pl.col("e") + pl.col("a") ** 2)
    result = ts.independence(frame, x=["a", "b", "c"], y=("d", "e"))
    first, second, *others = result.by_pair
    assert {(first.x, first.y), (second.x, second.y)} == {("b", "d"), ("a", "e")}
    assert min(first.prob, second.prob) > 0.99
    assert max(row.prob for row in others) < 0.5
    by_name = {(row.x, row.y): row for row in result.by_pair}
    assert by_name["b", "d"].words.startswith("one falls as the other rises (correlation -0.")
    assert by_name["a", "e"].words == "neither rising nor falling throughout"
    alone = ts.independence(frame["a"], frame["e"])
    assert_allclose(by_name["a", "e"].log_bf10, alone.log_bf10)
    mean = np.mean(np.exp(result.pairs - result.pairs.max()))
    total = np.logaddexp(result.joint, np.log(mean) + result.pairs.max()) - math.log(2.0)
    assert_allclose(result.log_bf10, total)
    assert "P(pair depends)" in result.summary()


def test_dependence_of_two_columns_together_is_found_though_no_pair_has_it():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    y = np.sign(x[:, 0] * x[:, 1]) + 0.3 * rng.normal(size=400)
    result = ts.independence(x, y)
    assert result.joint > 10
    assert result.pairs.max() < 2
    assert result.prob_h1 > 0.999


@pytest.mark.parametrize(
    "make", [list, np.array, pd.Series, pl.Series, lambda labels: pd.Series(labels, dtype="category")]
)
def test_text_is_a_category(make):
    rng = np.random.default_rng(0)
    labels = rng.choice(["red", "green", "blue"], 200).tolist()
    shift = {"red": 0.0, "green": 1.0, "blue": -1.0}
    y = np.array([shift[label] for label in labels]) + rng.normal(size=200)
    result = ts.independence(make(labels), y)
    assert result.prob_h1 > 0.999
    assert result.by_pair[0].correlation is None
    assert result.by_pair[0].words == "different from level to level"
    found = result.witness(["green", "green"], [1.5, -1.5])
    assert found.mean[0] > 0 > found.mean[1]
    with pytest.raises(InputError, match="'pink' is no level of"):
        result.witness(["pink"], [0.0])


def test_names_of_levels_do_not_matter():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 100)
    y = rng.normal(size=100) + codes % 2
    logs = [
        ts.independence(np.array(names)[codes], y).log_bf10 for names in (list("abc"), list("bca"), ["x", "z", "y"])
    ]
    assert_allclose(logs, logs[0], rtol=1e-9)


def test_booleans_are_numbers_and_two_categories_alike():
    rng = np.random.default_rng(1)
    flags, y = rng.random(80) < 0.3, rng.normal(size=80)
    as_text = np.where(flags, "yes", "no")
    assert_allclose(ts.independence(flags, y).log_bf10, ts.independence(as_text, y).log_bf10, rtol=1e-6)


def test_rare_levels_are_taken_together():
    rng = np.random.default_rng(1)
    labels = [f"level {number}" for number in rng.integers(0, 40, 300)]
    result = ts.independence(labels, rng.normal(size=300))
    [note] = result.notes
    assert note == "The 25 rarest levels of column 'x' were taken together."
    assert result.prob_h1 < 0.5
    assert np.isfinite(result.witness(["never seen"], [0.0]).mean).all()


def test_mixed_columns():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "arm": rng.choice(["a", "b"], 120),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, 120), unit="D"),
            "ok": rng.random(120) < 0.5,
            "dose": rng.normal(size=120),
        }
    )
    frame["response"] = frame["dose"] * np.where(frame["arm"] == "a", 1, -1) + 0.5 * rng.normal(size=120)
    result = ts.independence(frame, x=["arm", "when", "ok"], y="response")
    assert result.x == ("arm", "when", "ok")
    assert result.prob_h1 < 0.6
    together = ts.independence(frame, x=["arm", "dose"], y="response")
    assert together.joint > 10  # neither alone, but both


@pytest.mark.filterwarnings("ignore::twosample.errors.DroppedDataWarning")
def test_missing_values():
    x, y = ring(50)
    holes = x.copy()
    holes[3] = np.nan
    with pytest.raises(InputError, match=r"column 'x' of x has 1 missing or infinite value \(first: row 3\)"):
        ts.independence(holes, y)
    result = ts.independence(holes, y, nan_policy="omit")
    assert result.notes == ("Dropped 1 of 50 rows with a missing or infinite value.",)
    assert result.log_bf10 == ts.independence(np.delete(x, 3), np.delete(y, 3)).log_bf10
    labels = pl.Series("c", ["a", None, *["b", "a"] * 24])
    assert ts.independence(labels, y, nan_policy="omit").n == 49


def test_what_is_dropped_is_said():
    x, y = ring(50)
    with pytest.warns(DroppedDataWarning, match="Dropped columns that hold one value throughout: 'x1'"):
        result = ts.independence(np.c_[x, np.ones(50)], y)
    assert result.x == ("x0",)
    assert result.log_bf10 == ts.independence(x, y).log_bf10


def test_two_series_that_follow_their_past_are_warned_about():
    rng = np.random.default_rng(0)
    x, y = np.cumsum(rng.normal(size=(2, 300)), axis=1)
    with pytest.warns(DependentRowsWarning, match="such series look dependent by chance"):
        ts.independence(x, y)
    ts.independence(x, rng.normal(size=300))  # one alone does no harm


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ts.independence([1, 2, 3, 4], [1, 2, 3, 4]), "x and y have 4 complete rows; pass at least 5"),
        (lambda: ts.independence(np.arange(6), np.arange(7)), "x has 6 rows and y has 7"),
        (lambda: ts.independence(np.ones(9), np.arange(9)), "one value throughout, which is independent of everything"),
        (lambda: ts.independence(np.arange(9)), "two things are needed"),
        (lambda: ts.independence(np.arange(9), np.arange(9), x="a"), "name columns of one table, or pass two tables"),
        (lambda: ts.independence(pl.DataFrame({"a": [1.0] * 9}), x="a", y="a"), "column 'a' is also in x"),
        (lambda: ts.independence(pl.DataFrame({"a": [1.0] * 9}), x="b", y="a"), "x: the table has no column 'b'"),
        (lambda: ts.independence([], []), "x is empty"),
        (lambda: ts.independence(np.arange(9), np.arange(9), points=1), "points: must be at least 2"),
        (lambda: ts.independence(np.arange(9), np.arange(9), prior_odds=0), "prior_odds: must be a positive"),
        (lambda: ts.independence(np.arange(9), np.arange(9), nan_policy="drop"), "nan_policy must be"),
        (lambda: ts.independence(*np.random.default_rng(0).normal(size=(2, 9, 101))), "more than 10,000 pairs"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")) as refused:
        call()
    assert refused.value.argument


def test_refusals_of_types():
    with pytest.raises(InputTypeError, match="complex"):
        ts.independence(np.arange(9) * 1j, np.arange(9))
    with pytest.raises(InputTypeError, match="text or categories"):
        ts.independence([1, 2, 3, 4, "five", 6], np.arange(6))
    with pytest.raises(InputTypeError, match="objects"):
        ts.independence(pl.Series("a", [object()] * 9, dtype=pl.Object), np.arange(9))


def test_locations_are_checked():
    result = ts.independence(*ring(50))
    for locations, message in ((([[1.0, 2.0]], [1.0]), "needs 1 column"), (([1.0], [np.nan]), "missing or infinite")):
        with pytest.raises(InputError, match=message):
            result.witness(*locations)
    with pytest.raises(InputError, match="2 locations"):
        result.witness([1.0], [1.0, 2.0])
    with pytest.raises(InputTypeError, match="expected numbers"):
        result.witness(["a"], [1.0])


def test_names_and_keywords():
    x, y = ring(50, sd=0.05)
    y += x
    frame = pd.DataFrame({"u": x, "v": y})
    results = [
        ts.independence(x, y),
        ts.independence(x=x, y=y),
        ts.independence(frame, x="u", y=["v"]),
        ts.independence(np.c_[x, y], x=0, y=1),
        ts.independence(pl.LazyFrame({"u": x}), pl.DataFrame({"v": y})),
    ]
    assert len({result.log_bf10 for result in results}) == 1
    assert results[2].verdict.endswith("u and v are dependent")
    assert (results[0].x, results[3].x) == (("x",), ("0",))


@pytest.mark.parametrize("columns", [1, 2])
def test_json_and_pickles(columns, tmp_path):
    x, y = ring(60)
    result = ts.independence(np.c_[x, y][:, :columns], y + 0.1 * x, permutations=9, prior_odds=0.5)
    back = ts.IndependenceResult.from_json(result.to_json(tmp_path / "r.json"))
    assert back.to_json() == result.to_json()
    assert back.summary() == result.summary()
    assert pickle.loads(pickle.dumps(result)) == result
    content = json.loads(result.to_json())
    assert content["prob_h1"] == result.prob_h1
    assert content["by_pair"][0]["x"] == result.by_pair[0].x
    if columns == 1:
        assert back == result
        assert_allclose(back.witness([0.3], [0.2]).mean, result.witness([0.3], [0.2]).mean)
    else:  # points of several columns are rows of the data
        assert back.witness_posterior is None
        with pytest.raises(InputError, match="holds no evaluation points"):
            back.witness([[0.3, 0.1]], [0.2])


def test_json_holds_no_values_of_the_data():
    x, y = ring(40)
    text = ts.independence(x, y).to_json()
    assert sum(repr(value) in text for value in x.tolist()) <= 8  # some quantiles are values


def test_what_is_shown():
    result = ts.independence(*ring(100, sd=0.1), permutations=19, prior_odds=2.0)
    text = str(result)
    assert text.startswith("Very strong evidence that x and y are dependent.")
    for words in (
        "P(dependent | data)",
        "prior odds           2",
        "p-value",
        "e-value",
        "size, if dependent",
        "100 rows",
    ):
        assert words in text
    assert "no clear evidence" in ts.independence([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]).verdict
    assert repr(result).startswith("IndependenceResult(log_bf10=")
    assert "<h4>Very strong evidence" in result._repr_html_()
    assert_allclose(result.lengthscale.mass.sum(), 1.0)
    low, high = result.lengthscale.x[[0, -1]]
    assert low < result.lengthscale.mean[0] < high


def test_progress():
    seen = []
    x, y = ring(50)
    ts.independence(np.c_[x, y], y + 0.1 * x, permutations=1000, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert 0.0 < seen[0] < 0.1
    assert seen[-2] > 0.99  # nothing is left over, and nothing was counted twice
    assert seen[-3] < 1.0


@pytest.mark.slow
def test_level_of_the_p_value():
    found = []
    for seed in range(150):
        rng = np.random.default_rng([7, seed])
        found.append(ts.independence(rng.poisson(1.0, 30), rng.standard_cauchy(30), permutations=19, rng=seed).pvalue)
    assert abs(np.mean(np.array(found) <= 0.05) - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 150)


def test_robustness_tests_the_same_sides_again():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(80, 2))
    y = x[:, 0] + rng.normal(size=80)
    result = ts.independence(x, y)
    found = result.robustness()
    by_name = {curve.name: curve for curve in found.curves}
    assert list(by_name) == ["amplitude", "points", "lengthscale"]
    for curve in found.curves:
        assert (np.diff(curve.values) > 0).all() and np.isfinite(curve.log_bf10).all()
        assert curve.log_bf10[curve.values.tolist().index(curve.default)] == result.log_bf10
    points = by_name["points"]
    for count, log_bf10 in zip(points.values.tolist(), points.log_bf10.tolist(), strict=True):
        assert log_bf10 == ts.independence(x, y, points=int(count)).log_bf10
    assert len(set(by_name["amplitude"].log_bf10.tolist())) == len(by_name["amplitude"].values) == 11
    assert "that x and y are " in str(found) and "the samples" not in str(found)
    assert type(found).from_json(found.to_json()) == found


def test_robustness_with_another_prior(monkeypatch):
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, 60))
    found = {curve.name: curve for curve in ts.independence(x, y).robustness().curves}
    monkeypatch.setattr(pairing.Pairing, "_amplitudes", _amplitudes_of_scale_two)
    assert found["amplitude"].log_bf10[-1] == pytest.approx(ts.independence(x, y).log_bf10, abs=1e-12)
    monkeypatch.undo()
    wide = 0.3 * 4.0 * 4.0 ** np.arange(-2.0, 3.0)
    side = [Side.of(Column("", one).coordinates(), 16, wide) for one in (x, y)]
    of = pairing.Pairing(*side, 60)
    rows = [Column("", one).coordinates() for one in (x, y)]
    expected = pairing.log_mean(of.log_bf10(of.scores(pairing.products(*side, *rows))))
    assert found["lengthscale"].log_bf10[-1] == pytest.approx(float(expected), abs=1e-12)


def _amplitudes_of_scale_two(self):
    offsets = np.arange(-4.0, 5.0)
    weights = 1.0 / np.cosh(offsets)
    return zip((2.0 * np.exp(offsets)).tolist(), np.log(weights / weights.sum()).tolist(), strict=True)


def test_robustness_needs_the_data():
    result = ts.independence([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 4.0, 3.0, 5.0])
    assert result.has_robustness
    again = ts.IndependenceResult.from_json(result.to_json())
    assert not again.has_robustness and again == result
    with pytest.raises(InputError, match="no data to look at again; call it on what independence returned"):
        again.robustness()
