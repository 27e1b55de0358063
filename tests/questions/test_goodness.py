"""One sample against a law: the limit of the test, levels, witness, and refusals."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import twosample as ts
from twosample.errors import DroppedDataWarning, InputError
from twosample.inference import relabelling

RNG = np.random.default_rng(0)
NULL, HEAVY = RNG.normal(size=80), RNG.standard_t(1.5, size=80)
NORMAL = stats.norm(0, 1)


def quantiles(law, n):
    return law.ppf((np.arange(n) + 0.5) / n)


@pytest.fixture(scope="module")
def heavy():
    return ts.goodness(HEAVY, NORMAL, simulations=99)


@pytest.mark.filterwarnings("ignore::twosample.errors.TwoSampleWarning")  # quantiles are in order
@pytest.mark.parametrize(("law", "n"), [(NORMAL, 15), (NORMAL, 150), (stats.expon(), 60)])
def test_it_is_the_limit_of_the_test(law, n):
    for x in (law.rvs(n, random_state=1), law.rvs(n, random_state=2) + 0.3):
        found = ts.goodness(x, law)
        errors = [abs(ts.test(x, quantiles(law, m)).log_bf10 - found.log_bf10) for m in (1000, 50_000)]
        assert errors[1] < 0.03 * max(1.0, abs(found.log_bf10))
        assert errors[1] < max(errors[0], 1e-3)  # or within what the integral over the lengthscale is off by


def test_a_normal_law_is_the_same_by_its_formula_and_by_its_quantiles():
    """A function that draws quantiles cannot be told from the law, but for its noise."""
    exact = ts.goodness(NULL, NORMAL, subsets=None)
    drawn = ts.goodness(NULL, lambda size, rng: quantiles(NORMAL, size), subsets=None, draws=100_000)
    assert drawn.log_bf10 == pytest.approx(exact.log_bf10, abs=0.01)
    assert (exact.exact, drawn.exact, drawn.n_y) == (True, False, 100_000)


def test_noise_of_drawn_rows_is_taken_into_account():
    """With as many rows as there are data it is like the test of two samples of this size, not like a known law."""
    logs = {True: [], False: []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.normal(0.25, 1, 1000)
        logs[True].append(ts.goodness(x, NORMAL, subsets=None, points=16).log_bf10)
        drawn = ts.goodness(x, lambda n, g: g.normal(size=n), draws=1000, subsets=None, points=16, rng=seed)
        logs[False].append(drawn.log_bf10)
    assert np.mean(logs[True]) > 1.5 * np.mean(logs[False]) > 0


def test_right_and_wrong_laws(heavy):
    assert heavy.prob_h1 > 0.99 and heavy.pvalue == 0.01 and heavy.evalue > 20
    right = ts.goodness(HEAVY, "t(1.5)")
    assert right.prob_h1 < 0.3
    assert "the sample comes from the law" in right.verdict
    far = ts.goodness(NULL + 1e6, NORMAL)  # out of reach of all points
    assert far.prob_h1 > 0.999


def test_the_witness_says_where():
    result = ts.goodness(np.random.default_rng(1).normal(1.0, 1, 200), NORMAL)
    witness = result.witness([-1.0, 2.0]).mean
    assert witness[0] < 0 < witness[1]
    assert result.by_column[0].words.startswith("larger in x")


@pytest.mark.parametrize("law", [stats.multivariate_normal([0, 0], [[1, 0], [0, 1]]), "multivariate_normal([0, 0])"])
def test_several_columns(law):
    rng = np.random.default_rng(2)
    together = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 150)
    found = ts.goodness(together, law)
    assert found.prob_h1 > 0.99
    assert all(row.prob < 0.5 for row in found.by_column)
    assert ts.goodness(rng.normal(size=(150, 2)), law).prob_h1 < 0.5


@pytest.mark.parametrize(
    "law", [stats.poisson(2), pytest.param(lambda n, g: g.exponential(size=n), marks=pytest.mark.slow)]
)
def test_the_level_is_exact(law):
    draw = law if not hasattr(law, "rvs") else lambda n, g: law.rvs(n, random_state=g)
    options = {"simulations": 9, "points": 8, "subsets": None, "draws": 1000}
    found = [
        ts.goodness(draw(12, np.random.default_rng([5, seed])), law, rng=seed, **options).pvalue for seed in range(60)
    ]
    # Of 60 p-values that are uniform the share up to 0.2 has standard error 0.05, and ties make it smaller.
    assert (np.array(found) <= 0.2).mean() < 0.37
    assert np.mean(found) > 0.4


@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_the_statistic_of_the_sample_is_the_reported_bayes_factor(monkeypatch, shift):
    """Beside a law that is known the rows of the sample are nothing, so that all data sets have one noise."""
    seen, as_extreme = [], relabelling.as_extreme
    monkeypatch.setattr(
        relabelling.engine, "as_extreme", lambda own, others: seen.append(own) or as_extreme(own, others)
    )
    result = ts.goodness(NULL + shift, NORMAL, simulations=1)
    assert seen == [pytest.approx(result.log_bf10, abs=5e-3)]


@settings(max_examples=6, deadline=None)
@given(st.floats(0.01, 1000), st.floats(-100, 100), st.integers(0, 2**31))
def test_units_and_order_do_not_matter(unit, shift, seed):
    x = np.random.default_rng(seed).permutation(NULL[:40])
    plain = ts.goodness(NULL[:40], NORMAL)
    moved = ts.goodness(x * unit + shift, stats.norm(shift, unit))
    assert moved.log_bf10 == pytest.approx(plain.log_bf10, abs=1e-5)


def test_the_seed_is_what_is_random():
    def law(size, rng):
        return rng.normal(size=size)

    options = {"simulations": 19, "points": 8, "draws": 2000}
    first, second, other = (ts.goodness(NULL, law, rng=rng, **options) for rng in (0, 0, 1))
    assert first.log_bf10 == second.log_bf10 != other.log_bf10
    assert (first.pvalue, first.evalue) == (second.pvalue, second.evalue)


def test_data_sets_are_judged_by_simulated_ones_of_their_own():
    seen = []

    def law(size, rng):
        rows = rng.normal(size=size)
        seen.append(rows.tobytes())
        return rows

    options = {"simulations": 1, "points": 8, "draws": 2000, "subsets": None}
    for rows in (NULL, NULL[::-1], NULL**3):
        ts.goodness(rows, law, **options)
    count = len(seen) // 3
    simulated = [seen[place * count + count - 1] for place in range(3)]
    assert simulated[0] == simulated[1] != simulated[2]


# ---- the record


def test_summary_json_and_pages(heavy, tmp_path):
    text = heavy.summary()
    assert "80 rows, 1 column, against norm(0, 1) (8,192 quantiles)" in text
    assert "0.01 (99 simulated data sets)" in text
    heavy.to_json(tmp_path / "out.json")
    back = ts.GoodnessResult.from_json(tmp_path / "out.json")
    assert back.summary() == text and (back.law, back.exact) == ("norm(0, 1)", True)
    assert json.loads((tmp_path / "out.json").read_text())["law"] == "norm(0, 1)"
    assert len(heavy.plot().axes) > 1
    page = heavy.report(tmp_path / "out.html").read_text()
    assert "norm(0, 1)" in page and f"{heavy.log_bf10:+.2f}" in page
    assert "ts.goodness(x, law, simulations=99).report" in page.replace("&#34;", '"')
    assert "permutation" not in page[: page.index('<script type="application/json"')]
    assert "We compared x with norm(0, 1) (n = 80; 1 column)" in heavy.text()
    assert "p-value" in heavy.text() and "(99 simulated data sets)" in heavy.text()


def test_progress():
    shares = []
    ts.goodness(NULL, NORMAL, simulations=9, points=8, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0


# ---- columns, missing values, refusals


def test_columns_and_missing_values():
    frame = pd.DataFrame({"u": NULL, "v": HEAVY, "t": "text"})
    assert ts.goodness(frame, NORMAL, columns=["u"]).log_bf10 == ts.goodness(NULL, NORMAL).log_bf10
    frame.loc[3, "u"] = math.nan
    with pytest.warns(DroppedDataWarning, match="Dropped 1 of 80 rows"):
        result = ts.goodness(frame, NORMAL, columns=["u"], nan_policy="omit")
    assert result.n_x == 79
    assert "Dropped 1 of 80 rows" in result.summary()


@pytest.mark.parametrize(
    ("x", "law", "options", "message"),
    [
        ([1.0], NORMAL, {}, "x has 1 row; pass at least 2"),
        ([1.0, math.nan, 2.0], NORMAL, {}, "x has 1 missing .*nan_policy='omit'"),
        (np.zeros((5, 2)), NORMAL, {}, "law: it has 1 column and x has 2"),
        (NULL, lambda n, g: np.ones(n), {}, "law: it has one value throughout"),
        (NULL, "nom(0, 1)", {}, "law: scipy.stats has no distribution 'nom'"),
        (NULL, NORMAL, {"model": "paper"}, "model: 'paper' is for two samples"),
        (NULL, NORMAL, {"simulations": -1}, "simulations"),
        (NULL, NORMAL, {"draws": 10}, "draws"),
        (NULL, NORMAL, {"prior_odds": -1}, "prior_odds"),
        (NULL, NORMAL, {"rope": 0.2}, "rope"),
        (NULL, NORMAL, {"nan_policy": "drop"}, "nan_policy"),
        (NULL, NORMAL, {"subsets": "some"}, "subsets"),
    ],
)
def test_refusals(x, law, options, message):
    with pytest.raises(InputError, match=message):
        ts.goodness(x, law, **options)


def test_a_sample_of_one_value_is_compared():
    result = ts.goodness(np.zeros(40), NORMAL)
    assert result.prob_h1 > 0.99 and math.isfinite(result.log_bf10)


@pytest.mark.parametrize("unit", [1e-300, 1e-120, 1e120, 1e300])
def test_any_magnitude(unit):
    plain = ts.goodness(NULL[:30], NORMAL, points=12)
    scaled = ts.goodness(NULL[:30] * unit, stats.norm(0, unit), points=12)
    assert scaled.log_bf10 == pytest.approx(plain.log_bf10, abs=1e-3)
    assert math.isfinite(ts.goodness(NULL[:30], stats.norm(0, unit), points=12).log_bf10)


def test_prior_odds_and_rope():
    plain, other = ts.goodness(NULL, NORMAL), ts.goodness(NULL, NORMAL, prior_odds=0.2, rope=0.55)
    assert other.log_bf10 == plain.log_bf10
    assert other.prob_h1 == pytest.approx(1 / (1 + 5 * math.exp(-plain.log_bf10)))
    assert 0 <= other.prob_beyond_rope <= 1
