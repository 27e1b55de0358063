"""Kernels against their formulas, and a kernel of one's own, which takes one class."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.distance import cdist
from tests import default_model

import twosample as ts
from twosample import kernels
from twosample.common.arrays import namespace
from twosample.errors import InputError, InputTypeError
from twosample.features.jacobian import Jacobians
from twosample.kernels import RBF, Kernel, squared_distances


@pytest.mark.parametrize("n_columns", [1, 2, 7])
def test_squared_distances_equal_scipy(n_columns):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(30, n_columns)), rng.normal(size=(11, n_columns))
    copies = a.copy(), b.copy()
    np.testing.assert_allclose(squared_distances(a, b), cdist(a, b, "sqeuclidean"), rtol=1e-13)
    np.testing.assert_array_equal(a, copies[0])
    np.testing.assert_array_equal(b, copies[1])


def test_squared_distances_keep_small_differences_far_from_the_origin():
    a, b = np.array([[1e8, 1e8]]), np.array([[1e8 + 2**-20, 1e8]])
    assert squared_distances(a, b)[0, 0] == 2.0**-40


def test_squared_distances_that_overflow_are_infinite():
    """Far enough, and no warning."""
    assert squared_distances(np.array([[1e200, 0.0]]), np.array([[0.0, 1.0]])).tolist() == [[np.inf]]
    assert squared_distances(np.array([[0.0, 1e200]]), np.array([[0.0, 1.0]])).tolist() == [[np.inf]]


# ---- the Gaussian kernel


def test_value_is_the_formula():
    rng = np.random.default_rng(1)
    distances = rng.exponential(size=(4, 5))
    np.testing.assert_allclose(RBF().value(distances, 0.7), np.exp(-distances / (2 * 0.49)), rtol=1e-14)
    lengthscales = np.array([0.5, 2.0, 1.0])
    found = RBF().value(distances, lengthscales[:, None, None])
    for values, lengthscale in zip(found, lengthscales, strict=True):
        np.testing.assert_allclose(values, np.exp(-distances / (2 * lengthscale**2)), rtol=1e-14)
    buffer, before = np.empty_like(distances), distances.copy()
    assert RBF().value(distances, 0.7, out=buffer) is buffer
    np.testing.assert_array_equal(buffer, RBF().value(distances, 0.7))
    np.testing.assert_array_equal(distances, before)


def test_kernel_of_rows_and_points():
    a, b = np.array([[0.0, 1.0], [2.0, 2.0]]), np.array([[3.0, 5.0]])
    np.testing.assert_allclose(RBF().distances(a, b), [[25.0], [10.0]])
    assert RBF().value(RBF().distances(a, a), 0.3).diagonal().tolist() == [1.0, 1.0]


@pytest.mark.parametrize("n_columns", [1, 3])
def test_self_convolution_is_an_integral(n_columns):
    """∫ k(z, u) k(u, z') du is a product over the columns, each by quadrature."""
    lengthscale = 0.8
    z, other = np.array([0.3, -0.2, 0.0])[:n_columns], np.array([1.1, 0.5, -0.4])[:n_columns]
    integral = 1.0
    for a, b in zip(z, other, strict=True):
        integral *= quad(lambda u, a=a, b=b: np.exp(-((a - u) ** 2 + (u - b) ** 2) / (2 * lengthscale**2)), -20, 20)[0]
    distances = np.array([[((z - other) ** 2).sum()]])
    variance = np.exp(RBF().log_self_convolution(np.array([lengthscale]), n_columns))
    covariance = variance * RBF().self_convolution(distances, lengthscale, n_columns)
    assert covariance[0, 0] == pytest.approx(integral, rel=1e-10)
    assert RBF().self_convolution(np.zeros(1), lengthscale, n_columns).tolist() == [1.0]


@dataclass(frozen=True)
class RationalQuadratic(Kernel):
    """(1 + d²/2αℓ²)^-α: a kernel with a constant, and with slopes but no convolution."""

    name: ClassVar[str] = "rational quadratic of test_kernels"
    alpha: float = 1.0

    def value(self, distances, lengthscale, out=None):
        return (1.0 + distances / (2.0 * self.alpha * lengthscale**2)) ** -self.alpha

    def slope(self, distances, lengthscale, values):
        return values ** (1.0 + 1.0 / self.alpha), -2.0 * np.log(lengthscale)

    def log_slope(self, distances, lengthscale):
        total = 1.0 + distances / (2.0 * self.alpha * lengthscale**2)
        return -(self.alpha + 1.0) * np.log(total) - 2.0 * np.log(lengthscale)


@pytest.mark.parametrize("kernel", [RBF(), RationalQuadratic(1.7)], ids=["rbf", "rational quadratic"])
def test_slope_is_the_gradient(kernel):
    """The gradient of k in a is -g (a - b); by central differences, which are accurate to about step²."""
    rng = np.random.default_rng(3)
    a, b, lengthscale, step = rng.normal(size=(1, 3)), rng.normal(size=(1, 3)), 0.8, 1e-5

    def value(rows):
        return kernel.value(kernel.distances(rows, b), lengthscale)[0, 0]

    gradient = np.array([(value(a + step * e) - value(a - step * e)) / (2 * step) for e in np.eye(3)])
    distances = kernel.distances(a, b)
    slope, log_factor = kernel.slope(distances, lengthscale, kernel.value(distances, lengthscale))
    np.testing.assert_allclose(-slope[0, 0] * np.exp(log_factor) * (a - b)[0], gradient, atol=1e-8)
    np.testing.assert_allclose(kernel.log_slope(distances, lengthscale), np.log(slope) + log_factor, rtol=1e-12)


@pytest.mark.parametrize("lengthscale", [0.9, 0.01])
def test_jacobians_of_a_kernel_with_another_slope(lengthscale):
    """Singular values of the matrix of gradients, written down row by row; at 0.01 kernel values are small."""
    kernel, rng = RationalQuadratic(1.7), np.random.default_rng(4)
    x, y, points = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=(9, 2))
    jacobians = Jacobians(x, y, points, kernel)
    found = jacobians.log_volumes(lengthscale, jacobians.values(lengthscale))
    bounds = jacobians.log_volume_bounds(lengthscale, jacobians.values(lengthscale))
    for i in range(5):
        blocks = []
        for row, sign in ((x[i], -1), (y[i], 1)):
            total = 1 + ((row - points) ** 2).sum(1) / (2 * 1.7 * lengthscale**2)
            blocks.append(sign * (total**-2.7)[:, None] * (row - points) / lengthscale**2)
        J = np.hstack(blocks)
        assert found[i] == pytest.approx(np.log(np.linalg.svd(J, compute_uv=False)).sum(), rel=1e-9, abs=1e-9)
        assert bounds[i] == pytest.approx(np.log(np.linalg.norm(J, axis=0)).sum(), rel=1e-9, abs=1e-9)


# ---- by name, and in files


def test_resolve():
    assert kernels.resolve("rbf") == RBF()
    own = RationalQuadratic(2.0)
    assert kernels.resolve(own) is own
    with pytest.raises(InputError, match=r"^kernel: 'linear' is unknown; use 'rbf'"):
        kernels.resolve("linear")
    with pytest.raises(InputError, match=r"gibbs has 'ard'"):
        kernels.resolve("ard")
    with pytest.raises(InputTypeError, match="kernel: expected a name or a Kernel, got int"):
        kernels.resolve(3)


def test_plain_form_holds_the_constants():
    for kernel in (RBF(), RationalQuadratic(2.5)):
        plain = json.loads(json.dumps(kernel.to_plain()))
        assert Kernel.from_plain(plain) == kernel
    assert RationalQuadratic(2.5).to_plain() == {"name": "rational quadratic of test_kernels", "alpha": 2.5}
    for unknown in ({"name": "elsewhere"}, {}):
        with pytest.raises(InputError, match="is unknown here; import the module that defines it"):
            Kernel.from_plain(unknown)


# ---- a kernel of one's own


@dataclass(frozen=True)
class Matern32(Kernel):
    """The Matérn kernel of smoothness 3/2."""

    name: ClassVar[str] = "own matern"

    def value(self, distances, lengthscale, out=None):
        xp = namespace(distances)
        scaled = xp.sqrt(3.0 * distances) / lengthscale
        return (1.0 + scaled) * xp.exp(-scaled)


def matern(a, b, lengthscale):
    scaled = np.sqrt(3) * cdist(a, b) / lengthscale
    return (1 + scaled) * np.exp(-scaled)


def samples(n_x=70, n_y=45):
    rng = np.random.default_rng(5)
    return rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2)) * [1.0, 1.7], rng.normal(size=(6, 2))


def log_bf10_by_brute_force(x, y, points, lengthscale):
    """The default model of two columns, by its definition."""
    return default_model.log_bf10(*(matern(rows, points, lengthscale) for rows in (x, y, points)), scale=0.3)


@pytest.mark.parametrize("lengthscale", [0.4, 1.5])
def test_own_kernel_at_a_lengthscale(lengthscale):
    """Of the two integrals over the amplitude, by different rules, neither is better than about 1e-6."""
    x, y, points = samples()
    expected = log_bf10_by_brute_force(x, y, points, lengthscale)
    found = ts.test(x, y, kernel=Matern32(), lengthscale=lengthscale, points=points, scale="raw")
    assert found.log_bf10 == pytest.approx(expected, abs=1e-5)
    assert abs(found.log_bf10 - ts.log_bf10(x, y, lengthscale, points=points, scale="raw")) > 0.05  # not the Gaussian
    assert ts.log_bf10(x, y, lengthscale, points=points, scale="raw", kernel=Matern32()) == pytest.approx(
        expected, abs=1e-5
    )


def test_own_kernel_with_the_lengthscale_inferred():
    """The mean of the Bayes factors over the prior, uniform in log ℓ, by Gauss–Legendre."""
    x, y, points = samples()
    found = ts.test(x, y, kernel=Matern32(), points=points, scale="raw", subsets=None)
    median = np.median(cdist(np.r_[x, y], np.r_[x, y])[np.tri(115, k=-1, dtype=bool)]) / np.sqrt(2)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    logs = np.log(median / 16) + 0.5 * (nodes + 1) * np.log(128)
    factors = [np.exp(log_bf10_by_brute_force(x, y, points, lengthscale)) for lengthscale in np.exp(logs)]
    assert found.log_bf10 == pytest.approx(np.log(0.5 * weights @ factors), abs=1e-3)  # the default tolerance
    assert found.kernel == "own matern"
    low, high = found.lengthscale.interval()
    assert median / 16 < low < high < 8 * median


def test_own_kernel_in_files():
    x, y, points = samples()
    plan = ts.plan(x, y, kernel=Matern32(), points=points)
    again = ts.Plan.from_json(plan.to_json())
    assert again.kernel == Matern32()
    assert again.key == plan.key != ts.plan(x, y, points=points).key
    result = again.test(plan.statistics(x, y))
    restored = ts.TwoSampleResult.from_json(result.to_json())
    assert restored.log_bf10 == result.log_bf10
    assert restored.kernel == "own matern"
    for name in ("mean", "sd"):
        np.testing.assert_array_equal(getattr(restored.witness(x), name), getattr(result.witness(x), name))
    assert "kernel own matern" in plan.summary()


def test_own_kernel_by_name():
    x, y, points = samples()
    by_name = ts.test(x, y, kernel="own matern", points=points, lengthscale=1.0)
    assert by_name.log_bf10 == ts.test(x, y, kernel=Matern32(), points=points, lengthscale=1.0).log_bf10


@pytest.mark.parametrize("lengthscale", [None, 1.0])
@pytest.mark.parametrize("model", ["paper", "published"])
def test_models_of_the_paper_need_more_of_a_kernel(model, lengthscale):
    x, y, points = samples(30, 30)
    with pytest.raises(InputError, match="'own matern'") as refusal:
        ts.test(x, y, kernel=Matern32(), model=model, lengthscale=lengthscale, points=points)
    assert "use model='adaptive' or kernel='rbf'" in str(refusal.value)
    assert str(refusal.value).startswith("kernel: ")


def test_a_kernel_without_a_formula_is_none():
    with pytest.raises(NotImplementedError):
        Kernel().value(np.zeros(1), 1.0)
