"""The default Bayesian t-test against two other forms of its integral."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import twosample as ts
from twosample.errors import InputError
from twosample.paper.baselines.jzs import _log_bf10

R = math.sqrt(0.5)


def by_effect_size(t, size, freedom, r):
    """∫ p(t | δ) Cauchy(δ | r) dδ / p(t | 0): the same model before g is introduced."""

    def integrand(delta):
        return stats.nct.pdf(t, freedom, delta * math.sqrt(size)) * stats.cauchy.pdf(delta, scale=r)

    middle = t / math.sqrt(size)
    ends = sorted({-8.0, middle - 2.0, 0.0, middle, middle + 2.0, 8.0})
    total = sum(quad(integrand, a, b, epsabs=0, epsrel=1e-10)[0] for a, b in itertools.pairwise(ends))
    if math.isnan(total):
        pytest.skip("the noncentral t density of this SciPy is not a number here, as that of 1.13")
    return total / stats.t.pdf(t, freedom)


@pytest.mark.parametrize(
    "t, n_x, n_y, r",
    [(0.0, 10, 10, R), (2.3, 20, 20, R), (-1.1, 12, 30, R), (0.2, 50, 80, 1.0), (4.5, 9, 25, 0.3)],
)
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")  # the density is rougher in SciPy 1.13
def test_agrees_with_the_integral_over_the_effect_size(t, n_x, n_y, r):
    size, freedom = n_x * n_y / (n_x + n_y), n_x + n_y - 2
    # Six digits are what the noncentral t density leaves in the tails; the range leaves out |δ| > 8.
    assert math.exp(_log_bf10(t, size, freedom, r)) == pytest.approx(by_effect_size(t, size, freedom, r), rel=1e-6)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("shift", [0.0, 0.4, 2.0])
def test_agrees_with_pingouin(shift, paired):
    pingouin = pytest.importorskip("pingouin")
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=25), rng.normal(shift, 1.5, size=25 if paired else 40)
    t = stats.ttest_rel(x, y).statistic if paired else stats.ttest_ind(x, y).statistic
    expected = float(pingouin.bayesfactor_ttest(t, len(x), len(y), paired=paired, r=R))
    assert math.exp(ts.baselines.jzs(x, y, paired=paired).log_bf10) == pytest.approx(expected, rel=1e-6)


def in_high_precision(t, size, freedom, r):
    with mpmath.workdps(40):
        t, size, r = mpmath.mpf(t), mpmath.mpf(size), mpmath.mpf(r)
        power = mpmath.mpf(freedom + 1) / 2

        def integrand(log_g):
            g = mpmath.exp(log_g)
            a = 1 + size * g * r**2
            likelihood = a**-0.5 * ((1 + t**2 / freedom) / (1 + t**2 / (a * freedom))) ** power
            return likelihood * mpmath.exp(-1 / (2 * g)) / mpmath.sqrt(2 * mpmath.pi * g)

        return float(mpmath.log(mpmath.quad(integrand, list(range(-10, 121, 5)))))


@pytest.mark.parametrize(
    "t, size, freedom, r",
    [
        (0.0, 1.0, 1, R),
        (1e3, 1.0, 1, R),
        pytest.param(-1e3, 50.0, 98, 1.0, marks=pytest.mark.slow),
        pytest.param(1e3, 5e5, 999_998, R, marks=pytest.mark.slow),
        (5.0, 1e6, 2_000_000, 10.0),
        (1e3, 5.0, 8, 1e-3),
        (-3.0, 20.0, 19, 0.01),
        (1e-5, 1e6, 1_999_998, R),
    ],
)
def test_extreme_values_agree_with_high_precision(t, size, freedom, r):
    # A million terms of the exponent leave a relative rounding error of about 1e-15.
    assert _log_bf10(t, size, freedom, r) == pytest.approx(in_high_precision(t, size, freedom, r), rel=1e-13, abs=1e-12)


@pytest.mark.parametrize("t", [1e10, 1e100, 1e200])
def test_never_overflows(t):
    assert 0.0 < _log_bf10(t, 10.0, 18, R) < math.inf


def test_t_statistics():
    rng = np.random.default_rng(1)
    x, y = rng.normal(5, 2, 17), rng.normal(6, 2, 17)
    independent, paired = ts.baselines.jzs(x, y[:11]), ts.baselines.jzs(x, y, paired=True)
    assert independent.t == pytest.approx(stats.ttest_ind(x, y[:11]).statistic, rel=1e-12)
    assert paired.t == pytest.approx(stats.ttest_rel(x, y).statistic, rel=1e-12)
    assert independent.log_bf10 == _log_bf10(independent.t, 17 * 11 / 28, 26, R)
    assert paired.log_bf10 == _log_bf10(paired.t, 17.0, 16, R)


def test_sees_means_only():
    rng = np.random.default_rng(2)
    x = rng.normal(size=400)
    assert ts.baselines.jzs(x, x + 1).prob_h1 > 0.99
    assert ts.baselines.jzs(x, 3 * x - 2 * x.mean()).prob_h1 < 0.2


@pytest.mark.parametrize("magnitude", [1e-300, 1e300])
def test_any_magnitude(magnitude):
    x, y = np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, 5.5, 9.0])
    expected = ts.baselines.jzs(x, y).log_bf10
    assert ts.baselines.jzs(x * magnitude, y * magnitude).log_bf10 == pytest.approx(expected, rel=1e-9)


def test_equal_constants_are_the_same():
    result = ts.baselines.jzs([2.0, 2.0, 2.0], [2.0, 2.0])
    assert result.t == 0.0
    assert result.log_bf10 < 0.0


def test_refusals():
    with pytest.raises(InputError, match="x and y have 2 columns; jzs compares a single one"):
        ts.baselines.jzs([[1, 2], [3, 5]], [[1, 2], [4, 4]])
    with pytest.raises(InputError, match="the differences of the pairs do not vary"):
        ts.baselines.jzs([0.1, 0.2, 0.7], [1.1, 1.2, 1.7], paired=True)
    with pytest.raises(InputError, match="cauchy_scale: must be a positive"):
        ts.baselines.jzs([1.0, 2.0], [2.0, 3.0], cauchy_scale=0)
    with pytest.raises(InputError, match="prior_odds: must be a positive"):
        ts.baselines.jzs([1.0, 2.0], [2.0, 3.0], prior_odds=-1)
