"""Laws: their quantiles, rows and texts, and the exact features of normal ones."""

import numpy as np
import pytest
from scipy import integrate, stats

from twosample.errors import InputError, InputTypeError
from twosample.inference.laws import Law, law_of_text, normal_moments

POINTS = np.array([[-0.8, 0.3], [0.5, -0.2], [1.1, 1.4]])
LENGTHSCALES = np.array([0.4, 1.3])


def test_features_of_a_normal_law_in_one_dimension_by_quadrature():
    mean, sd = 0.3, 1.7
    points = POINTS[:, :1]
    found = normal_moments(points, LENGTHSCALES, np.array([mean]), np.array([[sd**2]]), 7)
    density = stats.norm(mean, sd).pdf
    for index, lengthscale in enumerate(LENGTHSCALES):

        def feature(u, i, lengthscale=lengthscale):
            return np.exp(-((u - points[i, 0]) ** 2) / (2 * lengthscale**2))

        def expect(function):
            return integrate.quad(lambda u: function(u) * density(u), -15, 15, epsabs=1e-12, limit=200)[0]

        means = [expect(lambda u, i=i: feature(u, i)) for i in range(3)]
        np.testing.assert_allclose(found.mean[index], means, atol=1e-10)
        for i in range(3):
            for j in range(3):
                product = expect(lambda u, i=i, j=j: feature(u, i) * feature(u, j))
                assert found.scatter[index, i, j] / 7 == pytest.approx(product - means[i] * means[j], abs=1e-10)


def test_features_of_a_normal_law_in_two_dimensions_by_quadrature():
    mean, covariance = np.array([0.2, -0.4]), np.array([[1.0, 0.6], [0.6, 0.8]])
    found = normal_moments(POINTS, LENGTHSCALES, mean, covariance, 1)
    nodes = np.arange(-8, 8, 0.1)  # where the rule of rectangles has no error to speak of
    grid = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    weight = 0.01 * np.exp(-0.5 * np.square(grid).sum(axis=1)) / (2 * np.pi)
    rows = mean + grid @ np.linalg.cholesky(covariance).T
    for index, lengthscale in enumerate(LENGTHSCALES):
        values = np.exp(-np.square(rows[:, None] - POINTS).sum(axis=2) / (2 * lengthscale**2))
        means = weight @ values
        np.testing.assert_allclose(found.mean[index], means, atol=1e-8)
        scatter = (values * weight[:, None]).T @ values - np.outer(means, means)
        np.testing.assert_allclose(found.scatter[index], scatter, atol=1e-8)


@pytest.mark.parametrize("law", [stats.norm(2, 3), stats.expon(), stats.poisson(3), stats.uniform(-1, 2), stats.t(5)])
def test_quantiles_stand_for_a_distribution(law):
    found = Law.of(law, 10, np.random.default_rng(0))
    assert found.exact and found.rows.shape == (8192, 1)
    places = law.ppf([0.1, 0.5, 0.9])
    shares = [(found.rows <= place).mean() for place in places]
    np.testing.assert_allclose(shares, law.cdf(places), atol=1e-4)
    assert found.draw(5, np.random.default_rng(0)).shape == (5, 1)
    assert (found.normal is not None) == (law.dist.name == "norm")


def test_names():
    rng = np.random.default_rng(0)
    assert Law.of(stats.norm(0, 1), 5, rng).name == "norm(0, 1)"
    assert Law.of(stats.norm, 5, rng).name == "norm()"
    assert Law.of(stats.gamma(2, scale=3.5), 5, rng).name == "gamma(2, scale=3.5)"
    assert Law.of(stats.multivariate_normal([0, 0]), 5, rng).name == "multivariate_normal"

    def my_simulator(size, rng):
        return rng.normal(size=(size, 3))

    found = Law.of(my_simulator, 50, rng)
    assert (found.name, found.rows.shape, found.exact) == ("my_simulator", (50, 3), False)


def test_new_distributions_of_scipy():
    if not hasattr(stats, "Normal"):
        pytest.skip("an older SciPy")
    found = Law.of(stats.Normal(mu=1.0, sigma=2.0), 5, np.random.default_rng(0))
    assert found.exact and found.rows.mean() == pytest.approx(1.0)
    assert found.draw(3, np.random.default_rng(0)).shape == (3, 1)


def test_multivariate_normal():
    law = stats.multivariate_normal([1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]])
    found = Law.of(law, 30, np.random.default_rng(0))
    np.testing.assert_allclose(found.normal[0], [1.0, 2.0])
    np.testing.assert_allclose(found.normal[1], [[2.0, 0.5], [0.5, 1.0]])
    assert found.rows.shape == (30, 2) and found.draw(1, np.random.default_rng(1)).shape == (1, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("norm(0, 1)", stats.norm(0, 1)),
        (" norm ", stats.norm()),
        ("norm(-1.5, scale=2)", stats.norm(-1.5, 2)),
        ("gamma(2, scale=3e0)", stats.gamma(2, scale=3)),
        ("poisson(4)", stats.poisson(4)),
    ],
)
def test_texts(text, expected):
    assert law_of_text(text).ppf(0.3) == expected.ppf(0.3)


def test_the_text_of_a_multivariate_normal():
    law = law_of_text("multivariate_normal([0, 1], [[1, 0.5], [0.5, 2]])")
    np.testing.assert_allclose(law.cov_object.covariance, [[1, 0.5], [0.5, 2]])


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "norm(__import__('os'))",
        "norm(0, 1).rvs(3)",
        "norm(*[0, 1])",
        "norm(**{})",
        "norm('0')",
        "norm(True)",
        "norm(0, 1",
        "norm(0, -1)",
        "norm(0, 1, 2, 3)",
        "normal(0, 1)",
        "ttest_ind([1], [2])",
        "_norm",
        "",
        "(" * 500,
        "norm(" + "1" * 3000 + ")",
        "norm(0, 1); 2",
        "lambda: 1",
        "multivariate_normal([0, 0], [[1, 2], [2, 1]])",
    ],
)
def test_texts_that_are_no_law(text):
    with pytest.raises(InputError, match=r"^law: "):
        law_of_text(text)


@pytest.mark.parametrize(
    ("law", "kind", "message"),
    [
        (3.0, InputTypeError, "expected a frozen distribution"),
        (stats.gamma, InputTypeError, "gamma needs its numbers"),
        (lambda size, rng: np.zeros(3), InputError, "of 50 rows it draws an array of shape"),
        (lambda size, rng: np.full(size, np.nan), InputError, "missing or infinite"),
        (lambda size, rng: ["a"] * size, InputTypeError, "not numbers"),
        (lambda size, rng: np.zeros((size, 2, 2)), InputError, "shape"),
        (stats.norm(0, -1), InputError, "quantiles"),
        (stats.norm([0, 1], 1), InputError, "several values of a parameter"),
        (lambda size: np.zeros(size), InputTypeError, "does not take a size and a generator"),
    ],
)
def test_refusals(law, kind, message):
    with pytest.raises(kind, match=message):
        Law.of(law, 50, np.random.default_rng(0))
