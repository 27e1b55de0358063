"""The formulas run on arrays of any library: on those that allow nothing but the array API standard, and on JAX."""

import math
from contextlib import nullcontext

import array_api_strict
import numpy as np
import pytest

from twosample import models
from twosample.common.arrays import namespace, take_rows
from twosample.features.statistics import Moments
from twosample.inference import evidence, prior
from twosample.inference.evidence import Difference
from twosample.kernels import RBF, squared_distances


class Strict:
    """Arrays that refuse whatever is not in the standard."""

    array = type(array_api_strict.asarray(0.0))
    asarray = staticmethod(array_api_strict.asarray)
    precision = nullcontext


class Jax:
    """JAX, in double precision as in the sampler."""

    def __init__(self):
        jax = pytest.importorskip("jax")
        self.array, self.asarray = jax.Array, jax.numpy.asarray
        self.precision = lambda: jax.enable_x64(True)


@pytest.fixture(params=[Strict, Jax])
def library(request):
    return request.param()


def arrays():
    """Rows, points and what is made of them, with a leading axis of two lengthscales where there is one."""
    rng = np.random.default_rng(0)
    s, n = 5, 12
    roots = rng.normal(size=(3, 2, s, s))
    V, R, sigma = roots @ roots.transpose(0, 1, 3, 2) + 0.3 * np.eye(s)
    return {
        "x": rng.normal(size=(n, 3)),
        "y": rng.normal(size=(n + 4, 3)),
        "points": rng.normal(size=(s, 3)),
        "distances": rng.exponential(size=(n, s)),
        "lengthscales": np.array([0.6, 1.7]),
        "features": rng.normal(size=(n, s)),
        "other": rng.normal(size=(n + 4, s)),
        "delta": rng.normal(size=(2, s)),
        "V": V,
        "R": R,
        "sigma": sigma,
        "log_variance": np.array([-1.0, 2.5]),
        "log_volume": rng.normal(size=2),
        "mean": rng.normal(size=(2, s)),
        "scatter": R + V,
        "explained": rng.uniform(0.0, 4.0, size=2),
    }


def moments(a):
    return Moments(9, a["mean"], a["scatter"])


def merged(a):
    whole = Moments.of(a["features"]).merge(Moments.of(a["other"]))
    leading = Moments(4, a["mean"], a["scatter"]).merge(Moments(9, a["delta"], a["V"]))
    return whole.mean, whole.scatter, whole.covariance, whole.second_moment, leading.mean, leading.scatter


def difference(found):
    return found.delta, found.noise


def both(model):
    def formula(a):
        log_bf10 = evidence.log_bayes_factor(a["delta"], a["V"], a["R"], a["log_variance"])
        return evidence.log_likelihoods(model, moments(a), a["log_volume"], a["V"], a["R"], 9.0, log_bf10)

    return formula


KERNEL = RBF()
FORMULAS = {
    "squared distances": lambda a: (squared_distances(a["x"], a["points"]), KERNEL.distances(a["y"], a["points"])),
    "kernel": lambda a: (
        KERNEL.value(a["distances"], 0.7),
        KERNEL.value(a["distances"], a["lengthscales"][:, None, None]),
        KERNEL.self_convolution(a["distances"], 0.7, 3),
        KERNEL.self_convolution(a["distances"], a["lengthscales"][:, None, None], 3),
        KERNEL.log_self_convolution(a["lengthscales"], 3),
    ),
    "slopes": lambda a: (
        KERNEL.slope(a["distances"], 0.7, KERNEL.value(a["distances"], 0.7))[0],
        KERNEL.log_slope(a["distances"], 0.7),
    ),
    "zero sum": lambda a: (prior.zero_sum(a["features"]), prior.zero_sum(a["V"])),
    "moments": lambda a: (Moments.of(a["features"]).mean, Moments.of(a["features"]).scatter),
    "merged moments": merged,
    "difference of samples": lambda a: difference(
        Difference.of_samples(Moments.of(a["features"]), Moments.of(a["other"]))
    ),
    "difference of samples, pooled": lambda a: difference(
        Difference.of_pooled(Moments.of(a["features"]), Moments.of(a["other"]))
    ),
    "prior along components": lambda a: (prior.along_components(a["V"], evidence.inverse_factor(a["V"]), 9.0),),
    "difference of pairs": lambda a: difference(Difference.of_pairs(Moments.of(a["features"]))),
    "Bayes factor": lambda a: (
        evidence.log_bayes_factor(a["delta"], a["V"], a["R"], a["log_variance"]),
        evidence.log_bayes_factor(a["delta"][0, :], a["V"][0, :, :], a["R"][0, :, :], a["log_variance"][0]),
    ),
    "Bayes factor with the noise of all rows": lambda a: (
        evidence.log_bayes_factor(a["delta"], a["V"], a["R"], a["log_variance"], 1000.0, 600.0),
    ),
    "comparison": lambda a: (
        evidence.compare(a["explained"], a["log_variance"], math.inf, math.inf),
        evidence.compare(a["explained"], a["log_variance"], 7.0, 5.0),
    ),
    "log determinant": lambda a: (evidence.log_determinant(a["V"]),),
    "pseudo-likelihood": lambda a: (evidence.log_pseudo_likelihood(a["sigma"], moments(a), a["log_volume"]),),
    "published pseudo-likelihoods": lambda a: evidence.published_log_pseudo_likelihoods(
        moments(a), a["R"], a["log_volume"]
    ),
    **{f"likelihoods of {name}": both(model) for name, model in models.PRESETS.items()},
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_agree_with_numpy(name, library):
    """Nothing here is worse conditioned than 1e3, so that libraries that round differently agree to 1e-10."""
    formula, numbers = FORMULAS[name], arrays()
    expected = formula(numbers)
    assert all(isinstance(one, np.ndarray | np.floating) for one in expected)
    with library.precision():
        found = formula({key: library.asarray(value) for key, value in numbers.items()})
        assert all(isinstance(one, library.array) for one in found)
        found = [np.asarray(one) for one in found]
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == np.float64
        assert one.shape == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_difference_carries_plain_numbers(library):
    """Sizes are of the samples, not of the library."""
    with library.precision():
        numbers = {key: library.asarray(value) for key, value in arrays().items()}
        of_samples = Difference.of_samples(Moments.of(numbers["features"]), Moments.of(numbers["other"]))
        of_pairs = Difference.of_pairs(Moments.of(numbers["features"]))
    size = 2 / (1 / 12 + 1 / 16)
    assert (of_samples.size, of_samples.rows) == (pytest.approx(size), 28.0)
    assert (of_pairs.size, of_pairs.rows) == (12.0, 12.0)


def test_bayes_factor_has_a_gradient():
    """By JAX, against central differences in NumPy, which are accurate to 1e-8 here."""
    jax = pytest.importorskip("jax")
    a = arrays()
    rest = a["delta"][0], a["V"][0], a["R"][0]
    with jax.enable_x64(True):
        slope = jax.grad(lambda t: evidence.log_bayes_factor(*map(jax.numpy.asarray, rest), t, 1000.0, 600.0))(0.4)
    up, down = (evidence.log_bayes_factor(*rest, np.asarray(0.4 + step), 1000.0, 600.0) for step in (1e-5, -1e-5))
    assert float(slope) == pytest.approx((up - down) / 2e-5, abs=1e-8)


def test_numpy_is_its_own_namespace():
    assert namespace(np.zeros(2)) is np
    assert namespace(np.zeros(2), np.ones((3, 1))) is np


def test_namespace_of_others(library):
    with library.precision():
        one = library.asarray([1.0, 2.0])
        found = namespace(one)
        assert found is not np
        assert isinstance(found.exp(one), library.array)


def test_libraries_are_not_mixed():
    with pytest.raises(TypeError, match="Multiple namespaces"):
        namespace(np.zeros(2), array_api_strict.asarray([1.0]))


def test_rows_are_taken_by_places_or_flags(library):
    rows = np.array([[1.0], [2.0], [3.0]])
    for places in (np.array([True, False, True]), np.array([0, 2])):
        assert take_rows(rows, places).tolist() == [[1.0], [3.0]]
        with library.precision():
            assert np.asarray(take_rows(library.asarray(rows), places)).tolist() == [[1.0], [3.0]]
