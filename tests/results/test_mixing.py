"""The mixture of hypotheses: against Beta distributions and numerical integration, and blocks that vote."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta

import twosample as ts
from twosample.errors import InputError
from twosample.results.mixing import Mixing
from twosample.results.votes import deal


def pair(n, shift, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(shift, 1, size=n)


@pytest.mark.parametrize("log_bf10", [-900.0, -3.0, 0.0, 2.0, 900.0])
def test_one_draw_is_a_mixture_of_two_betas(log_bf10):
    found, p = Mixing(np.array([log_bf10])), 1 / (1 + np.exp(-log_bf10)) if log_bf10 > -700 else 0.0
    assert found.mean == pytest.approx(p * 0.75 + (1 - p) * 0.25, abs=1e-12)
    share = np.array([0.01, 0.3, 0.5, 0.97])
    expected = p * beta.pdf(share, 1.5, 0.5) + (1 - p) * beta.pdf(share, 0.5, 1.5)
    np.testing.assert_allclose(found.density(share), expected, rtol=1e-10)

    def below(a):
        return p * beta.cdf(a, 1.5, 0.5) + (1 - p) * beta.cdf(a, 0.5, 1.5)

    low, high = found.interval(0.9)
    assert below(low) == pytest.approx(0.05, abs=1e-6)
    assert below(high) == pytest.approx(0.95, abs=1e-6)
    assert found.exceeding(0.7) == pytest.approx(1 - below(0.7), abs=1e-6)


@pytest.mark.parametrize("logs", [[2.0, -1.0, 0.5], [-3.0] * 12, [30.0, -30.0, 5.0, 5.0], [1.0]])
def test_blocks_by_numerical_integration(logs):
    def density(a):
        return np.prod(1 - a + a * np.exp(np.array(logs))) * beta.pdf(a, 0.5, 0.5)

    def integral(of, low=0.0, high=1.0):
        angles = np.arcsin(np.sqrt([low, high]))  # a = sin²t takes the poles of the prior away
        return quad(
            lambda t: of(np.sin(t) ** 2) * density(np.sin(t) ** 2) * np.sin(2 * t), *angles, epsabs=0, limit=400
        )[0]

    found, total = Mixing(np.array(logs)), integral(lambda a: 1.0)
    assert found.mean == pytest.approx(integral(lambda a: a) / total, rel=1e-7)
    assert found.density(0.4) == pytest.approx(density(0.4) / total, rel=1e-7)
    low, high = found.interval(0.8)
    assert integral(lambda a: 1.0, 0.0, low) / total == pytest.approx(0.1, abs=1e-5)
    assert integral(lambda a: 1.0, high, 1.0) / total == pytest.approx(0.1, abs=1e-5)
    assert found.exceeding(0.5) == pytest.approx(integral(lambda a: 1.0, 0.5, 1.0) / total, abs=1e-5)


def test_blocks_by_high_precision():
    """The normalising constant and the mean of 40 blocks, as polynomials in a with exact Beta moments."""
    mpmath = pytest.importorskip("mpmath")
    logs = np.random.default_rng(1).normal(0.5, 2.0, size=40)
    with mpmath.workdps(60):
        coefficients = [mpmath.mpf(1)]
        for log in logs:
            slope = mpmath.e ** mpmath.mpf(float(log)) - 1
            shifted = [mpmath.mpf(0), *(slope * one for one in coefficients)]
            coefficients = [one + other for one, other in zip([*coefficients, mpmath.mpf(0)], shifted, strict=True)]
        half = mpmath.mpf(1) / 2
        moments = [mpmath.beta(half + k, half) / mpmath.beta(half, half) for k in range(len(coefficients) + 1)]
        total = sum(one * moments[k] for k, one in enumerate(coefficients))
        mean = sum(one * moments[k + 1] for k, one in enumerate(coefficients)) / total
    assert Mixing(logs).mean == pytest.approx(float(mean), rel=1e-10)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-2000, 2000), min_size=1, max_size=30))
def test_always_numbers_in_order(logs):
    found = Mixing(np.array(logs))
    low, high = found.interval()
    assert 0 <= low <= high <= 1
    assert 0 < found.mean < 1
    assert 0 <= found.exceeding(0.5) <= 1
    mirrored = Mixing(-np.array(logs))  # the other hypothesis
    assert mirrored.mean == pytest.approx(1 - found.mean, abs=1e-9)


def test_the_mixture_of_a_result():
    result = ts.test(*pair(60, 0.5), prior_odds=3.0)
    assert result.mixture.log_bf10.tolist() == [result.log_bf10]
    restored = ts.TwoSampleResult.from_json(result.to_json())
    assert restored.mixture == result.mixture
    assert ts.Mixing.from_json(result.mixture.to_json()) == result.mixture
    assert json.loads(result.mixture.to_json())["log_bf10"] == [result.log_bf10]
    for other in (restored, pickle.loads(pickle.dumps(result))):
        with pytest.raises(InputError, match="no data to look at again"):
            other.mixture.over_blocks(3)
    with pytest.raises(InputError, match="no data to look at again"):
        pickle.loads(pickle.dumps(result.mixture)).over_blocks(3)
    assert result.changed(names=("a", "b")).mixture.over_blocks(3) == result.mixture.over_blocks(3)


def test_blocks_have_the_bayes_factors_of_their_rows():
    """Each block has the Bayes factor of its own rows by the plan of all, and they are dealt without remainder."""
    x, y = (rows[:, None] for rows in pair(50, 0.8))
    result = ts.test(x, y)
    found = result.mixture.over_blocks(4)
    plan = ts.plan(x, y)
    sorted_x, sorted_y, of_x, of_y = deal(x, y, 4)
    np.testing.assert_array_equal(np.sort(sorted_x, axis=0), np.sort(x, axis=0))
    for block in range(4):
        expected = plan.test(plan.statistics(sorted_x[of_x == block], sorted_y[of_y == block])).log_bf10
        assert found.log_bf10[block] == pytest.approx(expected, abs=1e-8)
    assert result.mixture.over_blocks(1).log_bf10[0] == pytest.approx(result.log_bf10, abs=1e-8)


def test_blocks_of_an_average_over_kernels():
    x, y = pair(40, 0.8)
    alone = [ts.test(x, y, kernel=name).mixture.over_blocks(3).log_bf10 for name in ("rbf", "laplace")]
    found = ts.test(x, y, kernel=["rbf", "laplace"]).mixture.over_blocks(3).log_bf10
    np.testing.assert_allclose(found, np.log(np.mean(np.exp(alone), axis=0)), rtol=1e-9)


@pytest.mark.parametrize("paired", [False, True])
def test_blocks_do_not_depend_on_order_units_or_names(paired):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(40, 2)), rng.normal(0.5, 1, size=(40, 2))
    found = ts.test(x, y, paired=paired).mixture.over_blocks(4)
    order = rng.permutation(40)
    other = order if paired else rng.permutation(40)
    np.testing.assert_allclose(
        ts.test(x[order], y[other], paired=paired).mixture.over_blocks(4).log_bf10, found.log_bf10, atol=1e-8
    )
    np.testing.assert_allclose(ts.test(y, x, paired=paired).mixture.over_blocks(4).log_bf10, found.log_bf10, atol=1e-8)
    np.testing.assert_allclose(
        ts.test(3 * x, 3 * y, paired=paired).mixture.over_blocks(4).log_bf10, found.log_bf10, atol=1e-6
    )


def test_rows_are_dealt_as_if_at_random():
    """Ranks of x and of y in a block have nothing to do with each other, also where most values are equal."""
    x, y = np.arange(4000.0)[:, None], np.arange(4000.0)[:, None] + 0.5
    _, _, of_x, of_y = deal(x, y, 10)
    assert abs((of_x == of_y).mean() - 0.1) < 0.03  # six standard deviations
    assert np.bincount(of_x).tolist() == np.bincount(of_y).tolist() == [400] * 10
    coarse = (np.arange(4000.0) % 2)[:, None]
    rows, _, of_x, _ = deal(coarse, coarse + 0.0, 10)
    shares = np.array([rows[of_x == block].mean() for block in range(10)])
    assert 0.005 < shares.std() < 0.06  # that of 400 draws is 0.025, of rows dealt in their order 0


def test_more_blocks_are_surer():
    """With blocks of a fixed size the share goes to 0 where the samples are of one law and to 1 where they are not."""
    sizes = (4, 16, 64)
    same = [ts.test(*pair(30 * count, 0.0)).mixture.over_blocks(count).mean for count in sizes]
    other = [ts.test(*pair(30 * count, 1.2)).mixture.over_blocks(count).mean for count in sizes]
    assert same[0] > same[1] > same[2] < 0.1
    assert other[0] < other[1] < other[2] > 0.95


def test_what_is_refused():
    result = ts.test(*pair(20, 0.0))
    with pytest.raises(InputError, match=r"^count: 20 rows are too few for 11 blocks; use at most 10"):
        result.mixture.over_blocks(11)
    for count in (0, 2.5, "a"):
        with pytest.raises((InputError, ts.errors.InputTypeError), match=r"^count: "):
            result.mixture.over_blocks(count)
    with pytest.raises(InputError, match=r"model 'paper' finds its lengthscales.*use model='adaptive'"):
        ts.test(*pair(20, 0.0), model="paper").mixture.over_blocks(2)
    for at in (0.0, 1.0, [0.5, 2.0], float("nan")):
        with pytest.raises(InputError, match=r"^at: "):
            result.mixture.density(at)
    with pytest.raises(InputError, match=r"^threshold: "):
        result.mixture.exceeding(2.0)


def test_it_prints_and_draws():
    found = ts.test(*pair(60, 0.5)).mixture
    assert str(found).startswith("Share of H1 in the mixture of hypotheses, by all rows as one draw.")
    blocks = found.over_blocks(5)
    assert "by 5 blocks of rows" in str(blocks)
    assert "blocks=5" in repr(blocks)
    (axes,) = blocks.plot(figsize=(5, 3)).axes
    curve = axes.lines[0]
    np.testing.assert_allclose(curve.get_ydata(), blocks.density(curve.get_xdata()))
    assert axes.lines[2].get_xdata()[0] == blocks.mean


def test_progress_of_blocks():
    said = []
    ts.test(*pair(40, 0.0)).mixture.over_blocks(4, progress=said.append)
    assert said == sorted(said)
    assert said[-1] == 1.0
