"""The evidence in JAX: against the NumPy evidence, against dense formulas written here, and its gradients."""

import subprocess
import sys
from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from tests import default_model

from twosample import models
from twosample.data import Samples
from twosample.features.jacobian import Jacobians
from twosample.kernels import RBF
from twosample.paper.density import Curves, Data, Target, log_volume
from twosample.paper.jacobian_pairs import Pairs
from twosample.paper.passes import Passes
from twosample.paper.sampling import Question
from twosample.plan import make_plan


def log_volumes(x, y, points, lengthscale):
    """Log vol J_i of each pair of rows at one lengthscale, (n,)."""
    jacobians = Jacobians(x, y, points, RBF())
    return jacobians.log_volumes(lengthscale, jacobians.values(lengthscale))


PAPER, PUBLISHED, ADAPTIVE = (models.PRESETS[name] for name in ("paper", "published", "adaptive"))
MODELS = pytest.mark.parametrize("model", [PAPER, PUBLISHED, ADAPTIVE], ids=lambda model: model.name)
# The smallest eigenvalues of the released code's V are its 1e-8, so that rounding (1e-16) in V changes log BF10 by 1e-8
# relative: two right programs agree no better.
TOLERANCE = {"paper": 1e-9, "published": 1e-7, "adaptive": 1e-9}


def draw(seed, n_x, n_y, n_columns, s):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, n_columns)), 0.4 + rng.normal(size=(n_y, n_columns))
    return x, y, rng.normal(scale=1.2, size=(s, n_columns))


def variants(seed, n_x, n_y, n_columns, s):
    """Data sets of one shape, so that one compiled function serves all: (x, y, points, usable)."""
    n = min(n_x, n_y)
    every = np.ones(n, dtype=bool)
    x, y, points = draw(seed, n_x, n_y, n_columns, s)
    yield "plain", x, y, points, every
    yield "some pairs left out", x, y, points, np.arange(n) % 3 > 0
    equal = x.copy()
    equal[0] = y[0]
    yield "an equal pair, left out", equal, y, points, np.arange(n) > 0
    yield "points among the rows", x, y, np.concatenate([x[: s // 2], y[1 : s - s // 2 + 1]]), every
    close = x.copy()
    close[::3][: len(y[::3])] = (y[::3] + 1e-6 * np.random.default_rng(seed).normal(size=y[::3].shape))[: len(x[::3])]
    yield "nearly equal pairs", close, y, points, every
    yield "far from zero", 7.0 + x, 7.0 + y, 7.0 + points, every


@cache
def compiled(target):
    return jax.jit(target.curves)


@cache
def compiled_gradient(target):
    """Of log p(D | θ, H0), log p(D | θ, H1), log BF10 and the log prior: the values (4,) and the gradients (4, P)."""

    def values(position, data):
        found = jnp.stack([*target.curves(position, data), target.log_prior(position)])
        return found, found

    return jax.jit(lambda *args: jax.jacrev(values, has_aux=True)(*args)[::-1])


def position_of(model, lengthscales, median, log_amplitude):
    """The unconstrained position of these lengthscales."""
    if model.amplitude is None:
        return np.log(lengthscales)
    low, high = np.log(model.lengthscale.low), np.log(model.lengthscale.high)
    share = (np.log(lengthscales / median) - low) / (high - low)
    return np.append(np.log(share / (1 - share)), log_amplitude)


def nodes(model, n_columns):
    """Values of log a that the passes take, with their log prior weights."""
    amplitude = (model.alone() if n_columns == 1 else model).amplitude
    return (np.zeros(1), np.zeros(1)) if amplitude is None else amplitude.nodes()


def any_amplitude(rng, log_amplitudes):
    """The number of a node of the rule, not among the smallest and largest ones."""
    usual = np.flatnonzero((log_amplitudes > -7.0) & (log_amplitudes < 7.0))
    return int(rng.choice(usual))


def numpy_curves(model, paired, x, y, points, pairs, usable, lengthscale, amplitude=0):
    """What the passes say at one lengthscale and at the amplitude of that number among the nodes of the rule."""
    samples = Samples.from_data(x, y, paired=paired, scale="raw")
    chosen = Pairs(*pairs, usable) if model.needs_pairs else None
    features = make_plan(samples, model, RBF(), points).features
    [found] = Passes(samples, features, (model,), chosen).evidence(np.array([lengthscale]))
    log_bf10 = found.log_mixture[0, amplitude] - nodes(model, x.shape[1])[1][amplitude]
    return [found.log_h0[0], found.log_h1[0] if model.needs_pairs else log_bf10, log_bf10]


def assert_same(found, expected, tolerance, name=""):
    for one, other, rtol in zip(found, expected, (1e-9, 1e-9, tolerance), strict=True):
        assert_allclose(one, other, rtol=rtol, atol=1e-9, err_msg=name)


@MODELS
@pytest.mark.parametrize(
    ("n_columns", "kind", "n_x", "n_y"),
    [
        (1, "unpaired", 14, 14),
        (1, "paired", 14, 14),
        (1, "unequal", 19, 14),
        (3, "unequal", 14, 19),
    ],
)
def test_curves_equal_the_numpy_evidence(model, n_columns, kind, n_x, n_y):
    s, n = 2 * n_columns + 4, min(n_x, n_y)
    paired = kind == "paired" and model.weighing != "published"
    target = Target(model, RBF(), 1, paired)
    log_amplitudes, _ = nodes(model, n_columns)
    rng = np.random.default_rng(n_columns)
    for name, x, y, points, usable in variants(n_columns, n_x, n_y, n_columns, s):
        pairs = (x[n_x - n :], y[n_y - n :]) if kind == "unequal" else (x, y)
        with jax.enable_x64(True):
            data = Data.from_rows(x, y, points, pairs if kind == "unequal" else None, usable, 1.3)
            for lengthscale in np.exp(rng.uniform(np.log(0.35), np.log(3.5), size=4)):
                amplitude = any_amplitude(rng, log_amplitudes)
                position = position_of(model, np.array([lengthscale]), 1.3, log_amplitudes[amplitude])
                expected = numpy_curves(model, kind == "paired", x, y, points, pairs, usable, lengthscale, amplitude)
                assert np.isfinite(expected).all()
                assert_same(compiled(target)(position, data), expected, TOLERANCE[model.name], name)


def test_no_pairs_need_no_array_of_the_usable_ones():
    x, y, points = draw(0, 14, 14, 1, 6)
    with jax.enable_x64(True):
        some, none = (
            compiled(Target(PAPER, RBF(), 1, False))(np.log([0.8]), Data.from_rows(x, y, points, None, usable, 1.0))
            for usable in (np.ones(14, dtype=bool), None)
        )
    assert_allclose(some, none, rtol=1e-14)


# ---- one lengthscale for each column


def dense_curves(model, paired, x, y, points, lengthscales, log_amplitude):
    """The evidence by its definitions: features, V, R, densities of scipy, singular values of each Jacobian."""
    n_x, n_y, s = len(x), len(y), len(points)
    n = 2 / (1 / n_x + 1 / n_y)

    def features(rows, power=0.5):
        return np.exp(-power * (((rows[:, None] - points) / lengthscales) ** 2).sum(-1))

    feature_x, feature_y = features(x), features(y)
    if model is ADAPTIVE:
        [log_bf10] = default_model.log_bf10_given(
            feature_x, feature_y, features(points), [np.exp(log_amplitude)], paired=paired
        )
        return [0.0, log_bf10, log_bf10]
    delta = feature_x.mean(0) - feature_y.mean(0)
    difference = feature_x - feature_y
    if paired:
        V = np.cov(difference.T, bias=True) / n
    else:
        V = np.cov(feature_x.T, bias=True) / n_x + np.cov(feature_y.T, bias=True) / n_y
    V = V + model.floor.factor / n**model.floor.power * np.eye(s)
    R = features(points, power=0.25)
    if model is PAPER:
        R = R * np.pi ** (points.shape[1] / 2) * np.prod(lengthscales)
    else:
        R = R + 1e-8 * np.eye(s)
    zero = np.zeros(s)
    log_bf10 = stats.multivariate_normal.logpdf(delta, zero, V + R) - stats.multivariate_normal.logpdf(delta, zero, V)
    volume = 0.0
    for a, b, k, m in zip(x, y, feature_x, feature_y, strict=True):
        left, right = -k[:, None] * (a - points) / lengthscales**2, m[:, None] * (b - points) / lengthscales**2
        volume += np.log(np.linalg.svd(np.hstack([left, right]), compute_uv=False)).sum()
    sigma = n * V if model is PAPER else np.cov(difference.T, bias=True) + 0.1 * np.eye(s)
    log_h0 = stats.multivariate_normal.logpdf(difference, zero, sigma).sum() + volume
    if model is PAPER:
        return [log_h0, log_h0 + log_bf10, log_bf10]
    G = difference.T
    centered = G @ (np.eye(len(x)) - 1 / n) @ G.T
    trace = np.trace(n * np.linalg.solve(centered + n**2 * R, G @ G.T + n**2 * R))
    log_determinants = np.linalg.slogdet(sigma + n * R)[1] + (n - 1) * np.linalg.slogdet(sigma)[1]
    log_h1 = -0.5 * (n * s * np.log(2 * np.pi) + log_determinants + trace) + volume
    return [log_h0, log_h1, log_bf10]


@pytest.mark.parametrize(
    ("model", "paired", "n_y"),
    [(model, paired, 16) for model in (PAPER, PUBLISHED, ADAPTIVE) for paired in (False, True)]
    + [(ADAPTIVE, False, 9), (ADAPTIVE, False, 40)],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_several_lengthscales(model, paired, n_y):
    """Against the identity (columns divided by their share of the geometric mean) and against dense formulas."""
    x, y, points = draw(4, 16, n_y, 2, 7)
    samples = Samples.from_data(x, y, paired=paired, scale="raw")
    plan = make_plan(samples, model, RBF(), points)
    pairs = Pairs(samples.x, samples.y, np.ones(16, dtype=bool)) if model.needs_pairs else None
    question = Question(plan, samples, pairs, several=True)
    target, data = question.target
    assert target.n_lengthscales == 2
    rng = np.random.default_rng(1)
    log_amplitudes, log_weights = nodes(model, 2)
    for _ in range(6):
        lengthscales, amplitude = np.exp(rng.uniform(-0.7, 1.0, size=2)), any_amplitude(rng, log_amplitudes)
        found = question.evidence_at(lengthscales)
        log_bf10 = found.log_mixture[0, amplitude] - log_weights[amplitude]
        by_identity = [found.log_h0[0], found.log_h1[0] if model.needs_pairs else log_bf10, log_bf10]
        by_hand = dense_curves(
            model, paired and model is not PUBLISHED, x, y, points, lengthscales, log_amplitudes[amplitude]
        )
        with jax.enable_x64(True):
            position = position_of(model, lengthscales, plan.typical, log_amplitudes[amplitude])
            curves = compiled(target)(position, data)
        assert_same(curves, by_identity, TOLERANCE[model.name])
        assert_same(curves, by_hand, TOLERANCE[model.name])


@MODELS
def test_equal_lengthscales_are_one_lengthscale(model):
    x, y, points = draw(5, 16, 16, 2, 7)
    usable = np.arange(16) > 1
    with jax.enable_x64(True):
        data = Data.from_rows(x, y, points, None, usable, 1.2)
        for lengthscale in (0.5, 1.1, 2.7):
            one, several = (
                compiled(Target(model, RBF(), count, False))(
                    position_of(model, np.full(count, lengthscale), 1.2, -1.0), data
                )
                for count in (1, 2)
            )
            assert_same(several, one, TOLERANCE[model.name])


def test_a_column_that_hardly_varies_in_its_lengthscale_is_left_out():
    """The Bayes factor of a model without the factor Π ℓ is then that of the other column alone."""
    x, y, points = (rows * [1.0, 1e-9] for rows in draw(5, 16, 16, 2, 7))
    usable = np.ones(16, dtype=bool)
    with jax.enable_x64(True):
        both = compiled(Target(ADAPTIVE, RBF(), 2, False))(
            np.array([0.3, 0.3, -1.0]), Data.from_rows(x, y, points, None, usable, 1.0)
        )
        x, y, points = (rows * [1.0, 0.0] for rows in (x, y, points))
        alone = compiled(Target(ADAPTIVE, RBF(), 1, False))(
            np.array([0.3, -1.0]), Data.from_rows(x, y, points, None, usable, 1.0)
        )
    assert_allclose(both.log_bf10, alone.log_bf10, rtol=1e-9)


@pytest.mark.parametrize("column", [0, 1])
def test_data_without_a_column(column):
    """The Bayes factor is that of the other column alone, with its own lengthscale."""
    x, y, points = draw(5, 16, 11, 2, 7)
    other = [1 - column]
    both, alone = (Target(ADAPTIVE, RBF(), count, False) for count in (2, 1))
    with jax.enable_x64(True):
        data = Data.from_rows(x, y, points, None, None, 1.0)
        expected = compiled(alone)(
            np.array([0.3, -1.0]), Data.from_rows(x[:, other], y[:, other], points[:, other], None, None, 1.0)
        )
        position = np.array([0.3, 0.3, -1.0])
        position[column] = 2.0
        found, whole = (compiled(both)(position, rows) for rows in (data.without(column), data))
    assert_allclose(found.log_bf10, expected.log_bf10, rtol=1e-9)
    assert abs(float(whole.log_bf10) - float(found.log_bf10)) > 1e-3


# ---- gradients


def differences(function, position, step=1e-3):
    """Derivatives of a vector function by central differences of fourth order, (outputs, P)."""
    columns = []
    for direction in np.eye(len(position)) * step:
        near = function(position + direction) - function(position - direction)
        far = function(position + 2 * direction) - function(position - 2 * direction)
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=1)


# Small lengthscales too: the kernel values of a row then differ by up to e¹⁰⁰, and with them the pivots.
@pytest.mark.parametrize(
    ("model", "kernel", "n_columns", "lengthscales"),
    [
        pytest.param(model, *case, id=f"{model.name}-{case[0]}", marks=[pytest.mark.slow] * (not fast))
        for model, case, fast in (
            (PAPER, ("rbf", 1, (0.1, 0.2, 0.6, 1.5, 4.0)), True),
            (PAPER, ("ard", 2, (0.3, 0.8, 2.0)), True),
            (PUBLISHED, ("rbf", 1, (0.1, 0.2, 0.6, 1.5, 4.0)), True),
            (PUBLISHED, ("ard", 2, (0.3, 0.8, 2.0)), False),
            (ADAPTIVE, ("rbf", 1, (0.1, 0.2, 0.6, 1.5, 4.0)), False),
            (ADAPTIVE, ("ard", 2, (0.3, 0.8, 2.0)), True),
        )
    ],
)
def test_gradients_equal_finite_differences(model, kernel, n_columns, lengthscales):
    x, y, points = draw(7, 14, 14, n_columns, 2 * n_columns + 4)
    points[0], points[1] = x[0], y[3]
    x[5] = y[5] + 1e-3
    target = Target(model, RBF(), n_columns if kernel == "ard" else 1, False)
    ratio = np.array([1.0, 1.7])[: target.n_lengthscales]
    both = compiled_gradient(target)
    with jax.enable_x64(True):
        data = Data.from_rows(x, y, points, None, np.arange(14) != 2, 1.2)
        for lengthscale in lengthscales:
            position = position_of(model, ratio * lengthscale, 1.2, -0.7)
            expected = differences(lambda p: np.asarray(both(p, data)[0]), position)
            values, found = map(np.asarray, both(position, data))
            scale = 1.0 + np.abs(values)[:, None]
            # The published log BF10 is only as smooth as its rounding error (1e-8) is small beside the step.
            tolerance = np.array([1e-8, 1e-8, 1e-4 if model is PUBLISHED else 1e-8, 1e-8])[:, None]
            assert (np.abs(found - expected) <= tolerance * np.maximum(scale, np.abs(expected))).all(), lengthscale


def test_gradient_with_pairs_of_their_own():
    x, y, points = draw(8, 14, 19, 1, 6)
    target = Target(PAPER, RBF(), 1, False)
    both = compiled_gradient(target)
    with jax.enable_x64(True):
        data = Data.from_rows(x, y, points, (x, y[5:]), np.ones(14, dtype=bool), 1.2)
        for lengthscale in (0.2, 1.0):
            position = np.log([lengthscale])
            expected = differences(lambda p: np.asarray(both(p, data)[0]), position)
            assert_allclose(both(position, data)[1], expected, rtol=1e-7, atol=1e-7)


def volume_arguments(log_scale, x, y, points, usable):
    scaled = [(rows / np.exp(log_scale)).T for rows in (x, y, points)]
    distances = tuple(((scaled[2][:, :, None] - rows[:, None, :]) ** 2).sum(0) for rows in scaled[:2])
    return [jnp.asarray(log_scale), *map(jnp.asarray, scaled), tuple(map(jnp.asarray, distances)), jnp.asarray(usable)]


def numpy_volume(log_scale, x, y, points, usable):
    """By the identity: at the geometric mean of the lengthscales, the columns divided by their shares of it."""
    overall = np.exp(np.mean(log_scale))
    share = np.exp(log_scale) / overall
    return log_volumes(x[usable] / share, y[usable] / share, points / share, overall).sum()


_volume_and_gradient = jax.jit(jax.value_and_grad(log_volume))


@pytest.mark.parametrize(("n_columns", "smallest"), [(1, 0.2), (2, 0.25), (3, 0.35)])
def test_log_volume_and_its_gradient_alone(n_columns, smallest):
    x, y, points = draw(9, 14, 14, n_columns, 2 * n_columns + 4)
    points[0] = x[4]
    x[5] = y[5] + 1e-4
    usable = np.arange(14) != 3
    rng = np.random.default_rng(2)
    for lengthscale in np.geomspace(smallest, 5.0, 8):
        log_scale = np.log(lengthscale) + rng.uniform(-0.2, 0.2, size=n_columns)
        with jax.enable_x64(True):
            value, gradient = _volume_and_gradient(*volume_arguments(log_scale, x, y, points, usable))
        expected = numpy_volume(log_scale, x, y, points, usable)
        slope = differences(lambda t: np.array([numpy_volume(t, x, y, points, usable)]), log_scale)[0]
        assert_allclose(value, expected, rtol=1e-9)
        assert_allclose(gradient, slope, rtol=1e-6, atol=1e-6 * abs(expected))


@pytest.mark.parametrize("lengthscale", [0.2, 0.1, 0.05, 0.04])
def test_log_volume_where_both_rows_have_the_same_nearest_point(lengthscale):
    """After the first elimination the second pivot may be 10⁻²⁰⁰ of the first, and is still to be found."""
    rng = np.random.default_rng(3)
    points = np.concatenate([[0.0], rng.uniform(0.35, 0.9, size=5)])[:, None]
    x, y = rng.uniform(-0.3, 0.0, size=(2, 60, 1))
    log_scale, usable = np.log([lengthscale]), np.ones(60, dtype=bool)
    with jax.enable_x64(True):
        value, gradient = _volume_and_gradient(*volume_arguments(log_scale, x, y, points, usable))
    assert_allclose(value, numpy_volume(log_scale, x, y, points, usable), rtol=1e-9)
    slope = differences(lambda t: np.array([numpy_volume(t, x, y, points, usable)]), log_scale, step=1e-4)[0]
    assert_allclose(gradient, slope, rtol=1e-6)


def test_a_volume_that_underflows_is_zero_and_not_a_number_gone_wrong():
    x, y, points = draw(9, 14, 14, 1, 6)
    with jax.enable_x64(True):
        value, gradient = _volume_and_gradient(*volume_arguments(np.log([1e-4]), x, y, points, np.ones(14, dtype=bool)))
        data = Data.from_rows(x, y, points, None, np.ones(14, dtype=bool), 1.0)
        curves = compiled(Target(PAPER, RBF(), 1, False))(np.log([1e-4]), data)
    assert float(value) == float(curves.log_h0) == float(curves.log_h1) == -np.inf
    assert np.isfinite([*np.asarray(gradient), float(curves.log_bf10)]).all()


# ---- priors and starts


def log_prior(target, position):
    with jax.enable_x64(True):
        return float(target.log_prior(jnp.asarray(np.atleast_1d(position))))


@pytest.mark.parametrize("prior", [models.Gamma(2.0, 2.0), models.Gamma(0.7, 3.0), models.LogUniform(1 / 16, 8.0)])
def test_lengthscale_priors_integrate_to_one(prior):
    target = Target(replace(PAPER, lengthscale=prior), RBF(), 1, False)
    # By the trapezoidal rule, which is exact here to its last digits: analytic, with exponential tails.
    grid = np.linspace(-60.0, 60.0, 4801)
    with jax.enable_x64(True):
        density = np.exp(jax.vmap(target.log_prior)(jnp.asarray(grid[:, None])))
    assert integrate.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("position", [-3.0, -0.2, 0.0, 1.1])
def test_priors_are_those_of_scipy(position):
    lengthscale, amplitude = np.exp(position), np.exp(0.6 - position)
    gamma = stats.gamma(2.0, scale=0.5).logpdf(lengthscale) + position  # Jacobian: dℓ/d log ℓ = ℓ
    assert log_prior(Target(PAPER, RBF(), 1, False), position) == pytest.approx(gamma, rel=1e-12)
    # The position of a log-uniform lengthscale is a standard logistic variable.
    logistic = stats.logistic.logpdf(position)
    cauchy = stats.halfcauchy(scale=0.3).logpdf(amplitude) + np.log(amplitude)
    both = log_prior(Target(ADAPTIVE, RBF(), 1, False), [position, np.log(amplitude)])
    assert both == pytest.approx(logistic + cauchy, rel=1e-12)


def test_a_log_uniform_lengthscale_is_uniform_in_its_logarithm():
    """Quantiles of the position go to the same quantiles of log ℓ."""
    target, share = Target(replace(ADAPTIVE, amplitude=None), RBF(), 1, False), np.linspace(0.01, 0.99, 9)
    data = Data.from_rows(*draw(0, 3, 3, 1, 4), None, None, 1.7)
    found = target.lengthscales_of(stats.logistic.ppf(share)[:, None], data)[:, 0]
    assert_allclose(found, np.exp(stats.uniform(np.log(1.7 / 16), np.log(128.0)).ppf(share)), rtol=1e-12)


def test_priors_of_several_lengthscales_are_independent():
    positions = np.array([-0.4, 0.3, 1.2])
    alone = sum(log_prior(Target(PAPER, RBF(), 1, False), position) for position in positions)
    assert log_prior(Target(PAPER, RBF(), 3, False), positions) == pytest.approx(alone, rel=1e-12)
    flat = replace(ADAPTIVE, amplitude=None)
    amplitude = log_prior(Target(ADAPTIVE, RBF(), 1, False), [0.0, -2.0])
    amplitude -= log_prior(Target(flat, RBF(), 1, False), 0.0)
    alone = sum(log_prior(Target(flat, RBF(), 1, False), position) for position in positions) + amplitude
    assert log_prior(Target(ADAPTIVE, RBF(), 3, False), [*positions, -2.0]) == pytest.approx(alone, rel=1e-12)


@MODELS
@pytest.mark.parametrize("count", [1, 3])
def test_chains_start_at_the_median_heuristic(model, count):
    target, data = Target(model, RBF(), count, False), Data.from_rows(*draw(0, 9, 9, 3, 8), None, None, 2.31)
    with jax.enable_x64(True):
        start = np.asarray(target.start(data))
    assert start.dtype == np.float64
    assert_allclose(target.lengthscales_of(start, data), np.full(count, 2.31), rtol=1e-12)
    assert len(start) == count + (model.amplitude is not None)
    if model.amplitude is not None:
        assert np.exp(start[-1]) == pytest.approx(stats.halfcauchy(scale=0.3).median())


def test_lengthscales_of_many_draws():
    target, data = Target(ADAPTIVE, RBF(), 2, False), Data.from_rows(*draw(0, 9, 9, 2, 8), None, None, 1.0)
    positions = np.random.default_rng(0).normal(size=(2, 5, 3))
    found = target.lengthscales_of(positions, data)
    assert found.shape == (2, 5, 2) and found.dtype == np.float64
    assert_allclose(found[1, 3], target.lengthscales_of(positions[1, 3], data), rtol=1e-14)
    assert ((found > 1 / 16) & (found < 8)).all()


# ---- precision and global state


def test_double_precision_throughout():
    x, y, points = draw(0, 9, 9, 1, 6)
    data = Data.from_rows(x, y, points, (x, y), np.ones(9, dtype=bool), 1.0)
    assert {part.dtype for part in (data.x, data.y, data.points, *data.pairs)} == {np.dtype(np.float64)}
    with jax.enable_x64(True):
        curves = compiled(Target(PAPER, RBF(), 1, False))(jnp.zeros(1), data)
    assert isinstance(curves, Curves)
    assert {curve.dtype for curve in curves} == {np.dtype(np.float64)}


def test_double_precision_is_no_global_setting():
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == np.float32


def test_importing_the_package_does_not_import_jax():
    code = "import sys, twosample, twosample.cli; sys.exit(bool({'jax', 'blackjax', 'arviz'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
