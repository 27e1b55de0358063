"""From rows to features: kernel values at the points, in the units of the data, at many lengthscales at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twosample.data import Ranks, View
from twosample.features.maps import PointFeatures, StackFeatures, chains
from twosample.inference.grid import lengthscale_grid
from twosample.kernels import RBF, Kernel

CENTER, SCALE = np.array([3.0, -20.0]), np.array([0.5, 40.0])
# On a geometric grid a value is the 2⁸th power of another at most, which multiplies a rounding error of 1.1e-16 by 256;
# and exp(-t) cannot be better than t roundings, with t up to 50 below.
ROUNDING = 1e-13

GEOMETRIC = {
    "ratio √2": 4 * 2.0 ** (-np.arange(14) / 2),
    "ratio 2¼": 2.0 ** (-np.arange(24) / 4),
    "of the test": lengthscale_grid(1 / 16, 8.0),
    "of a second pass": lengthscale_grid(1.37 / 16, 8.0 * 1.37, level=1),
}


def gaussian(rows, points, lengthscale):
    return np.exp(-((rows[:, None] - points) ** 2).sum(-1) / (2 * lengthscale**2))


def problem(seed=0, n=40, s=6):
    """Rows in the units of the data, the same rows standardised, and the features."""
    rng = np.random.default_rng(seed)
    standardised, points = rng.normal(size=(n, 2)), rng.normal(size=(s, 2))
    return standardised * SCALE + CENTER, standardised, PointFeatures(RBF(), View(CENTER, SCALE), points, typical=1.3)


def collected(features, rows, lengthscales):
    found = {}
    for index, values in features.values(rows, lengthscales):
        assert index not in found
        found[index] = values.copy()  # the next overwrites it
    assert sorted(found) == list(range(len(lengthscales)))
    return found


def assert_equal_to_the_formula(lengthscales, seed=0):
    rows, standardised, features = problem(seed)
    for index, values in collected(features, rows, lengthscales).items():
        expected = gaussian(standardised, features.points, lengthscales[index])
        assert values.shape == (40, 6)
        large = expected > np.exp(-50.0)
        assert large.any()
        np.testing.assert_allclose(values[large], expected[large], rtol=ROUNDING)
        np.testing.assert_allclose(values[~large], expected[~large], atol=1e-30)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("name", GEOMETRIC)
def test_values_on_geometric_grids(name, shuffled):
    lengthscales = GEOMETRIC[name]
    assert len(chains(lengthscales)) <= len(lengthscales) / 3  # the others are squares
    if shuffled:
        lengthscales = np.random.default_rng(1).permutation(lengthscales)
    assert_equal_to_the_formula(lengthscales)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.08, 30.0), min_size=1, max_size=12), st.lists(st.integers(0, 11), max_size=6))
def test_values_at_any_lengthscales(lengthscales, repeated):
    """Also equal ones, and those that are √2 apart but for rounding."""
    again = [lengthscales[i % len(lengthscales)] / 2.0 ** (0.5 * (i % 3)) for i in repeated]
    assert_equal_to_the_formula(np.array([*lengthscales, *again]))


def test_lengthscales_that_are_nearly_in_one_chain_are_not():
    """A ratio that misses √2 by a millionth is another lengthscale, and one that misses it by rounding is not."""
    for pair in ([np.sqrt(2) * (1 + 1e-6), 1.0], [np.sqrt(2), 1.0 + 1e-6], [np.sqrt(2), 1.0 + 1e-10]):
        assert len(chains(np.array(pair))) == 2
        assert_equal_to_the_formula(np.array(pair))
    assert len(chains(np.array([np.sqrt(2) * (1 + 2e-16), 1.0]))) == 1
    assert_equal_to_the_formula(np.array([np.sqrt(2) * (1 + 1e-6), 1.0, 1 / np.sqrt(2)]))


def test_geometric_grid_needs_few_exponentials():
    assert len(chains(4 * 2.0 ** (-np.arange(14) / 2))) == 2
    assert len(chains(np.geomspace(0.1, 3, 9))) == 9


def test_chains_are_short_enough_to_be_accurate():
    found = chains(4 * 2.0 ** (-np.arange(30) / 2))
    assert sorted(index for chain in found for index in chain) == list(range(30))
    assert max(map(len, found)) == 9


def test_kernels_without_that_property_are_computed_one_by_one():
    class Exponential(Kernel):
        name = "exponential of test_features"

        def value(self, distances, lengthscale, out=None):
            return np.exp(-np.sqrt(distances) / lengthscale)

    rows, standardised, features = problem(2)
    features = PointFeatures(Exponential(), features.view, features.points, features.typical)
    lengthscales = 2.0 ** (-np.arange(6) / 2)
    distances = np.sqrt(((standardised[:, None] - features.points) ** 2).sum(-1))
    for index, values in collected(features, rows, lengthscales).items():
        np.testing.assert_allclose(values, np.exp(-distances / lengthscales[index]), rtol=ROUNDING)


def test_at_is_one_of_the_values():
    rows, standardised, features = problem(3)
    np.testing.assert_allclose(features.at(rows, 0.7), gaussian(standardised, features.points, 0.7), rtol=ROUNDING)
    assert (features.count, features.typical) == (6, 1.3)


def test_between_the_points_the_view_does_not_count():
    """Points are standardised already."""
    _, _, features = problem(4)
    lengthscales = np.array([2.0, 0.3, 0.9])
    expected = [gaussian(features.points, features.points, one) for one in lengthscales]
    np.testing.assert_allclose(features.between(lengthscales), expected, rtol=ROUNDING)


def test_convolutions_are_gaussians_of_twice_the_variance():
    """∫ k(a, u) k(u, b) du = (√π ℓ)^D exp(-|a - b|²/4ℓ²), here with D = 2."""
    rows, standardised, features = problem(5)
    wide = np.sqrt(2) * 0.7
    np.testing.assert_allclose(
        features.convolved(rows, 0.7), gaussian(standardised, features.points, wide), rtol=ROUNDING
    )
    lengthscales = np.array([0.7, 3.0])
    np.testing.assert_allclose(
        features.convolved_between(lengthscales),
        [gaussian(features.points, features.points, np.sqrt(2) * one) for one in lengthscales],
        rtol=ROUNDING,
    )
    np.testing.assert_allclose(features.log_self_convolution(lengthscales), np.log(np.pi * lengthscales**2), rtol=1e-14)


def test_jacobians_are_of_the_standardised_rows():
    """½ log det JᵀJ by central differences of the features."""
    rows, standardised, features = problem(6)
    x, y, lengthscale, step = rows[:3], rows[3:6], 0.9, 1e-6
    jacobians = features.jacobians(x, y)
    found = jacobians.log_volumes(lengthscale, jacobians.values(lengthscale))
    for i in range(3):
        columns = []
        for row, sign in ((standardised[i], 1), (standardised[3 + i], -1)):
            for k in range(2):
                shift = step * np.eye(2)[k]
                up, down = (gaussian((row + s)[None], features.points, lengthscale)[0] for s in (shift, -shift))
                columns.append(sign * (up - down) / (2 * step))
        volume = np.log(np.linalg.svd(np.array(columns), compute_uv=False)).sum()
        assert found[i] == pytest.approx(volume, abs=1e-6)  # differences are accurate to 1e-10 over the smallest volume


def test_rows_too_far_away_have_no_features():
    """Distances whose squares overflow are far enough, without a warning."""
    features = PointFeatures(RBF(), View.none(1), np.array([[0.0], [1.0]]), typical=1.0)
    rows = np.array([[1e200], [0.0]])
    expected = np.array([[0.0, 0.0], [1.0, np.exp(-0.5)]])
    np.testing.assert_allclose(features.at(rows, 1.0), expected)
    for values in collected(features, rows, np.array([1.0])).values():
        np.testing.assert_allclose(values, expected)


# ---- stacks of tests


COLUMNS = {1: [[0], [2], [3], [1]], 2: [[0, 2], [3, 1], [1, 2]], 3: [[0, 1, 3], [1, 2, 3]]}
MULTIPLES = 2.0 ** (np.arange(15) / 2) / 16


def stack(size, ranked=True, s=5, multiples=MULTIPLES, kernel=None):
    """Rows of four columns, what the view shows of them, and features of tests of so many columns each."""
    rng = np.random.default_rng(size)
    rows, columns = rng.gamma(2.0, size=(30, 4)), np.array(COLUMNS[size])
    view = Ranks.of(rows[:10], rows[10:]) if ranked else View(rows.mean(axis=0), rows.std(axis=0))
    points, typical = rng.normal(size=(len(columns), s, size)), rng.uniform(0.5, 2.0, len(columns))
    return rows, view.apply(rows), StackFeatures(kernel or RBF(), view, columns, points, typical, multiples)


@pytest.mark.parametrize("ranked", [True, False])
@pytest.mark.parametrize("size", COLUMNS)
def test_values_of_a_stack_are_those_of_its_tests(size, ranked):
    rows, seen, features = stack(size, ranked)
    found = np.empty((len(features.points), 15, 30, 5))
    for index, values in features.values(rows):
        found[:, index] = values
    lengthscales = features.lengthscales.reshape(-1, 15)
    for test, columns in enumerate(COLUMNS[size]):
        alone = features.alone(test)
        assert (alone.count, alone.typical) == (5, features.typical[test])
        formula = [gaussian(seen[:, columns], features.points[test], one) for one in lengthscales[test]]
        np.testing.assert_allclose(found[test], formula, rtol=ROUNDING, atol=1e-20)
        for index, lengthscale in enumerate(lengthscales[test]):
            assert lengthscale == pytest.approx(features.typical[test] * MULTIPLES[index], rel=1e-15)
            expected = alone.at(rows[:, columns], lengthscale)
            np.testing.assert_allclose(found[test, index], expected, rtol=ROUNDING, atol=1e-20)


@pytest.mark.parametrize("size", COLUMNS)
def test_between_the_points_of_a_stack(size):
    _, _, features = stack(size)
    lengthscales = features.lengthscales
    between, convolved = features.between(lengthscales), features.convolved_between(lengthscales)
    log_volumes = features.log_self_convolution(lengthscales)
    for place, lengthscale in enumerate(lengthscales):
        points = features.points[place // 15]
        np.testing.assert_allclose(between[place], gaussian(points, points, lengthscale), rtol=ROUNDING, atol=1e-30)
        wide = gaussian(points, points, np.sqrt(2) * lengthscale)
        np.testing.assert_allclose(convolved[place], wide, rtol=ROUNDING, atol=1e-30)
        assert log_volumes[place] == pytest.approx(size * np.log(np.sqrt(np.pi) * lengthscale))


@pytest.mark.parametrize("tests", [slice(0, 1), slice(1, 3), slice(None), slice(2, 99)])
@pytest.mark.parametrize("size", COLUMNS)
def test_some_tests_of_a_stack_take_only_their_columns(size, tests):
    rows, _, features = stack(size)
    chosen = features.select(tests)
    used = sorted({column for columns in COLUMNS[size][tests] for column in columns})
    only = np.full_like(rows, np.nan)
    only[:, used] = rows[:, used]
    np.testing.assert_array_equal(chosen.lengthscales, features.lengthscales.reshape(-1, 15)[tests].ravel())
    whole = {index: values.copy() for index, values in features.values(rows)}
    for index, values in chosen.values(only):
        np.testing.assert_array_equal(values, whole[index][tests])


def test_a_stack_with_a_kernel_that_is_computed_one_by_one():
    class Exponential(Kernel):
        name = "exponential of a stack of test_features"

        def value(self, distances, lengthscale, out=None):
            return np.exp(-np.sqrt(distances) / lengthscale)

    rows, seen, features = stack(2, kernel=Exponential())
    for index, values in features.values(rows):
        for test, columns in enumerate(COLUMNS[2]):
            distances = np.sqrt(((seen[:, None, columns] - features.points[test]) ** 2).sum(-1))
            expected = np.exp(-distances / (features.typical[test] * MULTIPLES[index]))
            np.testing.assert_allclose(values[test], expected, rtol=ROUNDING)
