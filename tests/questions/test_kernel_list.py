"""The kernels of `ts.kernels`: against formulas, integrals and SciPy; sums, products, averages, engines, files."""

import itertools
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.spatial.distance import cdist
from scipy.special import gamma, kv

import twosample as ts
from twosample import kernels
from twosample.errors import InputError, InputTypeError
from twosample.features.maps import chains, chains_of
from twosample.inference import relabelling
from twosample.kernels import RBF, Kernel, Laplace, Matern, Product, RationalQuadratic, Sum
from twosample.places.local import sample_moments
from twosample.plan import make_plan

PLAIN = [RBF(), Laplace(), Matern(0.5), Matern(1.5), Matern(2.5), RationalQuadratic(1.0), RationalQuadratic(0.7)]
MADE = [RBF() + Laplace(), RBF() * Laplace(), RBF() * (Matern(1.5) + Laplace()) + RationalQuadratic(2.0)]
ALL = PLAIN + MADE


def named(kernel):
    return kernel.label


def by_scipy(kernel, a, b, lengthscale):
    """The kernel by its definition, from SciPy's distances and Bessel functions."""
    if isinstance(kernel, Sum):
        terms = multiplied_out(kernel)
        return sum(np.prod([by_scipy(one, a, b, lengthscale) for one in term], axis=0) for term in terms) / len(terms)
    if isinstance(kernel, Product):
        return np.prod([by_scipy(part, a, b, lengthscale) for part in kernel.parts], axis=0)
    if isinstance(kernel, Laplace):
        return np.exp(-cdist(a, b, "cityblock") / lengthscale)
    r = cdist(a, b)
    if isinstance(kernel, RBF):
        return np.exp(-(r**2) / (2 * lengthscale**2))
    if isinstance(kernel, RationalQuadratic):
        return (1 + r**2 / (2 * kernel.alpha * lengthscale**2)) ** -kernel.alpha
    t = np.sqrt(2 * kernel.nu) * np.where(r > 0, r, 1.0) / lengthscale
    return np.where(r > 0, 2 ** (1 - kernel.nu) / gamma(kernel.nu) * t**kernel.nu * kv(kernel.nu, t), 1.0)


def multiplied_out(kernel):
    """The terms of a sum, each a list of factors."""
    if isinstance(kernel, Sum):
        return [term for part in kernel.parts for term in multiplied_out(part)]
    if isinstance(kernel, Product):
        return [list(itertools.chain(*factors)) for factors in itertools.product(*map(multiplied_out, kernel.parts))]
    return [[kernel]]


@pytest.mark.parametrize("kernel", ALL, ids=named)
@pytest.mark.parametrize("n_columns", [1, 3])
def test_value_is_the_definition(kernel, n_columns):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(20, n_columns)), rng.normal(size=(7, n_columns))
    for lengthscale in (0.3, 2.0):
        found = kernel.value(kernel.distances(a, b), lengthscale)
        np.testing.assert_allclose(found, by_scipy(kernel, a, b, lengthscale), rtol=1e-12)
        np.testing.assert_array_equal(kernel.value(kernel.distances(a, a), lengthscale).diagonal(), 1.0)


@pytest.mark.parametrize("kernel", ALL, ids=named)
def test_values_for_every_lengthscale_and_every_stack(kernel):
    """One after the other in the same memory, by squares where the kernel has them, and for stacks of tests."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
    plan = ts.plan(x, y, kernel=kernel)
    for index, values in plan.features.values(x[:9], plan.lengthscales):
        expected = by_scipy(kernel, plan.view.apply(x[:9]), plan.points, plan.lengthscales[index])
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-300)
    between = plan.features.between(plan.lengthscales[:2])
    np.testing.assert_allclose(between[1], by_scipy(kernel, plan.points, plan.points, plan.lengthscales[1]), rtol=1e-12)
    for part in range(len(plan.parts)):
        stack = plan.features_of(part)
        between = stack.between(stack.lengthscales).reshape(len(stack.points), len(stack.multiples), stack.count, -1)
        for index, values in stack.values(x[:5]):
            for test in range(len(stack.points)):
                seen = stack.view.apply(x[:5])[:, stack.columns[test]]
                lengthscale = stack.typical[test] * stack.multiples[index]
                expected = by_scipy(kernel, seen, stack.points[test], lengthscale)
                np.testing.assert_allclose(values[test], expected, rtol=1e-10, atol=1e-300)
                expected = by_scipy(kernel, stack.points[test], stack.points[test], lengthscale)
                np.testing.assert_allclose(between[test, index], expected, rtol=1e-10, atol=1e-300)


def test_which_kernels_follow_by_squaring():
    lengthscales = 4.0 * 2.0 ** (-np.arange(14) / 2)
    assert len(chains(lengthscales)) == len(chains_of(RBF(), lengthscales)) == 2
    assert chains_of(Laplace(), lengthscales) == chains_of(Matern(0.5), lengthscales)
    for chain in chains_of(Laplace(), lengthscales):
        np.testing.assert_allclose(lengthscales[chain][1:] / lengthscales[chain][:-1], 0.5)
    assert len(chains_of(Laplace(), lengthscales)) == 2
    assert len(chains_of(RBF() * RBF(), lengthscales)) == 2
    for kernel in (Matern(1.5), RationalQuadratic(), RBF() + RBF(), RBF() * Laplace()):
        assert len(chains_of(kernel, lengthscales)) == 14


@pytest.mark.parametrize("kernel", ALL, ids=named)
def test_far_rows_and_extreme_lengthscales_give_numbers(kernel):
    a, b = np.array([[1e200, 0.0], [1e160, 3.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, -1e200]])
    with np.errstate(over="ignore"):
        distances = kernel.distances(a, b)
        for lengthscale in (1e-150, 1.0, 1e150):
            values = kernel.value(distances, lengthscale)
            assert ((values >= 0) & (values <= 1)).all()


@settings(max_examples=15, deadline=None)
@given(
    points=arrays(float, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.floats(-5, 5)),
    lengthscale=st.floats(0.05, 20),
    kernel=st.sampled_from(ALL),
)
def test_kernels_are_positive_definite(points, lengthscale, kernel):
    K = kernel.value(kernel.distances(points, points), lengthscale)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-12 * len(K)


# ---- what the models of the paper need: Matérn kernels


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_self_convolution_is_an_integral(nu, n_columns):
    """∫ k(|u|) k(|u - z|) du by quadrature, in polar coordinates around the origin."""
    kernel, lengthscale = Matern(nu), 0.8

    def k(r):
        return kernel.value(np.array([r]), lengthscale)[0]

    def integral(z):
        if n_columns == 1:
            inner = quad(lambda u: k(abs(u)) * k(abs(u - z)), -25, 25, points=[0, z], epsabs=1e-11, limit=200)
            return inner[0]
        if z == 0.0:
            area = 2 * np.pi if n_columns == 2 else 4 * np.pi
            return area * quad(lambda r: r ** (n_columns - 1) * k(r) ** 2, 0, 30, epsabs=1e-12)[0]

        def of(angle, r):
            apart = np.sqrt(r**2 + z**2 - 2 * r * z * np.cos(angle))
            ring = 2 * r if n_columns == 2 else 2 * np.pi * r**2 * np.sin(angle)
            return ring * k(r) * k(apart)

        nodes, weights = np.polynomial.legendre.leggauss(160)
        angles, w = 0.5 * np.pi * (nodes + 1), 0.5 * np.pi * weights
        total = 0.0
        for low, high in ((0.0, z), (z, 4.0), (4.0, 20.0)):
            radii, v = low + 0.5 * (high - low) * (nodes + 1), 0.5 * (high - low) * weights
            apart = np.sqrt(np.maximum(radii[:, None] ** 2 + z**2 - 2 * radii[:, None] * z * np.cos(angles), 0.0))
            ring = 2 * radii[:, None] if n_columns == 2 else 2 * np.pi * radii[:, None] ** 2 * np.sin(angles)
            of_rows = ring * kernel.value(radii.copy(), lengthscale)[:, None] * kernel.value(apart, lengthscale)
            total += v @ of_rows @ w
        return total

    at_zero = np.exp(kernel.log_self_convolution(np.array([lengthscale]), n_columns))[0]
    assert at_zero == pytest.approx(integral(0.0), rel=1e-7)
    for z in (0.3, 1.7):
        found = at_zero * kernel.self_convolution(np.array([z]), lengthscale, n_columns)[0]
        assert found == pytest.approx(integral(z), rel=1e-4 if nu == 0.5 and n_columns > 1 else 1e-6)
    assert kernel.self_convolution(np.array([0.0, np.inf]), lengthscale, n_columns).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("n_columns", [1, 2, 40, 200])
def test_self_convolution_near_zero(n_columns):
    """Smooth down to zero, also where Bessel functions overflow: 1 - t²/4(m - 1) + …"""
    mpmath = pytest.importorskip("mpmath")
    order = 2 * 1.5 + n_columns / 2
    for t in (1e-8, 1e-3, 0.05, 0.5, 5.0, 30.0):
        r = t / np.sqrt(3)
        expected = (
            2 ** (1 - mpmath.mpf(order)) / mpmath.gamma(order) * mpmath.mpf(t) ** order * mpmath.besselk(order, t)
        )
        assert Matern(1.5).self_convolution(np.array([r]), 1.0, n_columns)[0] == pytest.approx(
            float(expected), rel=1e-9
        )


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_slope_is_the_gradient(nu):
    kernel, rng = Matern(nu), np.random.default_rng(3)
    a, b, lengthscale, step = rng.normal(size=(1, 3)), rng.normal(size=(1, 3)), 0.8, 1e-5

    def value(rows):
        return kernel.value(kernel.distances(rows, b), lengthscale)[0, 0]

    gradient = np.array([(value(a + step * e) - value(a - step * e)) / (2 * step) for e in np.eye(3)])
    distances = kernel.distances(a, b)
    slope, log_factor = kernel.slope(distances, lengthscale, kernel.value(distances, lengthscale))
    np.testing.assert_allclose(-slope[0, 0] * np.exp(log_factor) * (a - b)[0], gradient, atol=1e-8)
    np.testing.assert_allclose(kernel.log_slope(distances, lengthscale), np.log(slope) + log_factor, rtol=1e-12)
    here = np.array([0.0, np.inf])
    slope, _ = kernel.slope(here, lengthscale, kernel.value(here.copy(), lengthscale))
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("model", ["paper", "published"])
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_models_of_the_paper_with_matern(model, nu):
    """A Bayes factor at one lengthscale, from its definition: Δ ~ N(0, V) against N(0, R + V)."""
    rng = np.random.default_rng(4)
    x, y, points = rng.normal(size=(40, 1)), rng.normal(1, 1, size=(40, 1)), rng.normal(size=(6, 1))
    kernel, lengthscale = Matern(nu), 1.3
    a, b = by_scipy(kernel, x, points, lengthscale), by_scipy(kernel, y, points, lengthscale)
    delta = a.mean(0) - b.mean(0)
    V = np.cov(a.T, bias=True) / 40 + np.cov(b.T, bias=True) / 40
    V += (0.1 / 40 if model == "paper" else 1e-8) * np.eye(6)
    R = np.empty((6, 6))
    for i, j in np.ndindex(6, 6):
        two = points[[i, j]]
        R[i, j] = quad(
            lambda u, two=two: by_scipy(kernel, np.array([[u]]), two, lengthscale).prod(),
            -25,
            25,
            points=two,
            limit=200,
        )[0]
    if model == "published":
        R = R / R[0, 0] + 1e-8 * np.eye(6)
    logs = [-0.5 * (np.linalg.slogdet(C)[1] + delta @ np.linalg.solve(C, delta)) for C in (V, R + V)]
    found = ts.log_bf10(x, y, lengthscale, points=points, model=model, kernel=kernel)
    assert found == pytest.approx(logs[1] - logs[0], abs=1e-5)
    result = ts.test(x, y, model=model, kernel=kernel)
    assert np.isfinite(result.log_bf10)
    assert result.kernel == kernel.label


@pytest.mark.parametrize("kernel", [Laplace(), RationalQuadratic(), RBF() + RBF()], ids=named)
def test_models_of_the_paper_refuse_the_others(kernel):
    rng = np.random.default_rng(5)
    with pytest.raises(InputError, match="has no closed form") as refusal:
        ts.test(rng.normal(size=20), rng.normal(size=20), model="paper", kernel=kernel)
    assert kernel.label in str(refusal.value)


# ---- in the default model


@pytest.mark.parametrize("kernel", ALL, ids=named)
def test_every_kernel_tells_samples_apart(kernel):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(100, 2)), rng.normal(size=(100, 2))
    moved = y + np.array([1.0, 0.0])
    different = ts.test(x, moved, kernel=kernel)
    assert different.log_bf10 > 3 > 0 > ts.test(x, y, kernel=kernel).log_bf10
    assert different.by_column[0].column == "0"
    assert different.kernel == kernel.label
    assert ts.test(moved, x, kernel=kernel).log_bf10 == pytest.approx(different.log_bf10, abs=1e-9)
    assert ts.test(x * [3, 5], moved * [3, 5], kernel=kernel).log_bf10 == pytest.approx(different.log_bf10, abs=1e-6)
    restored = ts.TwoSampleResult.from_json(different.to_json())
    assert restored.kernel == kernel.label
    again = kernels.resolve(restored.kernel)
    assert again == kernel
    np.testing.assert_allclose(ts.test(x, y, kernel=again).log_bf10, ts.test(x, y, kernel=kernel).log_bf10, rtol=1e-12)


def test_laplace_and_matern_are_the_same_in_one_column():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=50), rng.normal(0.5, 1, size=60)
    assert ts.test(x, y, kernel="laplace").log_bf10 == pytest.approx(
        ts.test(x, y, kernel="matern12").log_bf10, abs=1e-9
    )


def test_lengthscales_of_laplace_are_relative_to_its_own_distances():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, 40, 20))
    pooled = np.concatenate([x, y])
    for kernel, metric in (
        (Laplace(), "cityblock"),
        (Laplace() * Laplace(), "cityblock"),
        (RBF() * Laplace(), "euclidean"),
    ):
        plan = ts.plan(x, y, kernel=kernel, scale="raw")
        expected = np.median(cdist(pooled, pooled, metric)[np.tri(80, k=-1, dtype=bool)]) / np.sqrt(2)
        assert plan.typical == pytest.approx(expected, rel=1e-12)
        whole = plan.parts[-1]
        distances = cdist(whole.points[0], whole.points[0], metric)[np.tri(len(whole.points[0]), k=-1, dtype=bool)]
        assert whole.typical[0] == pytest.approx(np.median(distances[distances > 0]) / np.sqrt(2), rel=1e-12)


@pytest.mark.parametrize("kernel", [Laplace(), Matern(2.5), RationalQuadratic(0.7), RBF() + Laplace()], ids=named)
def test_plans_merge_and_go_through_files(kernel):
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(90, 3)), rng.normal(0.3, 1, size=(80, 3))
    plan = ts.plan(x, y, kernel=kernel)
    again = ts.Plan.from_json(plan.to_json())
    assert (again.kernel, again.key) == (kernel, plan.key)
    assert kernel.label in plan.summary()
    merged = again.statistics(x[:50], y[:10]).merge(again.statistics(x[50:], y[10:]))
    assert again.test(merged).log_bf10 == pytest.approx(ts.test(x, y, kernel=kernel).log_bf10, abs=1e-8)
    blocks = ts.test(ts.blocks(lambda: iter(np.split(x, 3))), ts.blocks(lambda: iter(np.split(y, 4))), kernel=kernel)
    assert blocks.log_bf10 == pytest.approx(ts.test(x, y, kernel=kernel).log_bf10, abs=1e-8)


@pytest.mark.parametrize("library", ["jax.numpy", "array_api_strict"])
@pytest.mark.parametrize("kernel", ALL, ids=named)
def test_the_same_values_in_other_libraries(kernel, library):
    xp = pytest.importorskip(library)
    rng = np.random.default_rng(10)
    a, b = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    if library == "jax.numpy":
        import jax

        context = jax.enable_x64(True)
    else:
        from contextlib import nullcontext

        context = nullcontext()
    with context:
        found = kernel.value(kernel.distances(xp.asarray(a), xp.asarray(b)), 0.9)
        np.testing.assert_allclose(np.asarray(found), by_scipy(kernel, a, b, 0.9), rtol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "how"),
    [
        (kernel, how)
        for kernel in (Laplace(), Matern(2.5), RationalQuadratic(0.7), *MADE)
        for how in ("strict", "jax, compiled")
    ]
    + [(Laplace(), "jax")],
    ids=lambda value: getattr(value, "label", value),
)
def test_the_engine_of_devices_has_the_same_moments(kernel, how, monkeypatch):
    import array_api_strict

    from twosample.places import device, libraries

    if how == "jax, compiled":
        monkeypatch.setattr(device, "_WORTH_COMPILING", 0)
    move = array_api_strict.asarray if how == "strict" else libraries.mover("jax")
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(300, 2)), rng.normal(size=(280, 2))
    plan = ts.plan(x, y, kernel=kernel)
    lengthscales = plan.lengthscales[::4]
    expected = sample_moments(plan.features, (x, y), lengthscales)
    found = device.sample_moments(plan.features, (move(x), move(y)), lengthscales)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(one.scatter, other.scatter, rtol=1e-8, atol=1e-10)


def test_dask_goes_over_the_rows_with_any_kernel():
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=(200, 2)), rng.normal(0.4, 1, size=(200, 2))
    kernel = RBF() + Laplace()
    found = ts.test(da.from_array(x, chunks=(60, 2)), da.from_array(y, chunks=(70, 2)), kernel=kernel)
    assert found.log_bf10 == pytest.approx(ts.test(x, y, kernel=kernel).log_bf10, abs=1e-8)


# ---- by name, and made of others


def test_names_and_labels():
    assert {name: kernels.resolve(name) for name in kernels.NAMES} == kernels.NAMES
    assert list(kernels.NAMES) == ["rbf", "laplace", "matern12", "matern32", "matern52", "rational_quadratic"]
    for kernel in ALL:
        assert kernels.resolve(kernel.label) == kernel
        assert Kernel.from_plain(json.loads(json.dumps(kernel.to_plain()))) == kernel
        assert hash(kernel) == hash(Kernel.from_plain(kernel.to_plain()))
    assert (RBF() + Laplace() + RBF()).parts == (RBF(), Laplace(), RBF())
    assert (RBF() * Laplace() * RBF()).parts == (RBF(), Laplace(), RBF())
    assert (RBF() * (RBF() + Laplace())).label == "rbf * (rbf + laplace)"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rbf -",
        "rbf - laplace",
        "rbf(1)",
        "sum(parts=3)",
        "__import__('os')",
        "rbf.name",
        "a" * 5000,
        "\0",
        "-" * 9999,
    ],
)
def test_texts_that_are_no_kernel(text):
    with pytest.raises(InputError, match=r"^kernel: .* is unknown; use 'rbf' or"):
        kernels.resolve(text)


def test_labels_of_kernels_of_ones_own():
    """Constants may be anything."""

    @dataclass(frozen=True)
    class Own(RBF):
        name: ClassVar[str] = "own_kernel_of_test_kernel_list"
        words: tuple[str, ...] = ("a", "b")
        share: float = 0.5

    assert Own().label == "own_kernel_of_test_kernel_list(words=('a', 'b'), share=0.5)"
    assert kernels.resolve(Own().label) == kernels.resolve("own_kernel_of_test_kernel_list") == Own()
    assert (Own() + RBF()).kinds == 1  # distances are inherited


def test_constants_are_checked():
    for nu in (0, 1, 3.5, "a", None, float("nan")):
        with pytest.raises(InputError, match=r"^nu: must be 0.5, 1.5 or 2.5"):
            Matern(nu)
    for alpha in (0, -1, float("nan"), "a"):
        with pytest.raises(InputError, match=r"^alpha: must be a positive"):
            RationalQuadratic(alpha)
    with pytest.raises(TypeError):
        RBF() + 1
    with pytest.raises(TypeError):
        2.0 * RBF()


# ---- an average over kernels


def several(**options):
    rng = np.random.default_rng(13)
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(50, 2)) * [1.6, 1]
    names = ["laplace", "rbf", RBF() * Matern(0.5)]
    return x, y, names, ts.test(x, y, kernel=names, **options)


def test_the_average_is_that_of_the_bayes_factors():
    x, y, names, found = several()
    alone = [ts.test(x, y, kernel=name) for name in names]
    factors = np.array([one.bf10 for one in alone])
    assert found.bf10 == pytest.approx(factors.mean(), rel=1e-12)
    assert [row.name for row in found.kernels] == [alone[i].kernel for i in np.argsort(-factors)]
    for row in found.kernels:
        place = [one.kernel for one in alone].index(row.name)
        assert row.log_bf10 == pytest.approx(alone[place].log_bf10, rel=1e-12)
        assert row.posterior == pytest.approx(factors[place] / factors.sum(), rel=1e-12)
    best = alone[int(np.argmax(factors))]
    assert found.kernel == best.kernel
    np.testing.assert_array_equal(found.witness(x).mean, best.witness(x).mean)
    assert found.lengthscale == best.lengthscale
    assert found.effect.auc.prob_h1 == found.prob_h1 != best.prob_h1
    assert found.effect.auc.given_different() == best.effect.auc.given_different()
    assert ts.test(x, y).kernels == ()


def test_the_average_is_said():
    x, y, _, found = several()
    restored = ts.TwoSampleResult.from_json(found.to_json())
    assert restored.kernels == found.kernels
    for text in (str(found), found.text()):
        assert all(row.name in text for row in found.kernels)
    assert "P(kernel | different)" in str(found)
    assert "kernel" not in str(ts.test(x, y))
    assert "kernel               laplace" in str(ts.test(x, y, kernel="laplace"))


def test_the_report_says_how_to_repeat_it(tmp_path):
    *_, found = several()
    page = found.report(tmp_path / "a.html").read_text()
    assert "the average over 3" in page
    assert "kernel=kernel" in page and "kernel is what the call had" in page
    strings = ts.test([1.0, 2.0, 4.0], [2.0, 3.0, 7.0], kernel=["laplace", "rbf"])
    assert "kernel=[&#39;laplace&#39;, &#39;rbf&#39;]" in strings.report(tmp_path / "b.html").read_text()


def test_robustness_of_an_average():
    x, y, names, found = several(lengthscale=1.0)
    curves = {curve.name: curve for curve in found.robustness().curves}
    assert set(curves) == {"amplitude", "points", "components", "floor"}
    tests = [ts.test(x, y, kernel=name, lengthscale=1.0) for name in names]
    alone = [{curve.name: curve for curve in test.robustness().curves} for test in tests]
    for name, curve in curves.items():
        expected = np.log(np.mean([np.exp(one[name].log_bf10) for one in alone], axis=0))
        np.testing.assert_allclose(curve.log_bf10, expected, atol=1e-9)


def test_permutations_of_an_average():
    """The p-value and the e-value are those of the mean of the Bayes factors, with the same labels for all kernels."""
    x, y, names, found = several(permutations=49, subsets=None, rng=3)
    samples = ts.data.Samples.from_data(x, y, paired=False, scale="robust")
    values = []
    for name in names:
        plan = make_plan(samples, ts.models.PRESETS["adaptive"], kernels.resolve(name), 40)
        rows, observed = relabelling.pool_in_order(x, y)
        lengthscales, log_weights = relabelling.rule(plan)
        splits = relabelling.Splits.of(rows, int(observed.sum()), plan.features, lengthscales, plan.model)
        labels = relabelling.Labels(rows, observed, plan.model)
        generator = relabelling.generator_for(np.random.default_rng(3), *labels.identity)
        flags = np.stack([observed, *(labels.draw(generator) for _ in range(49))], axis=1)
        values.append(np.exp(log_weights) @ np.exp(splits.log_bf10(flags)))
    factors = np.mean(values, axis=0)
    assert found.pvalue == pytest.approx((factors >= factors[0] * (1 - 1e-9)).mean())
    assert found.evalue == pytest.approx(factors[0] / factors.mean(), rel=1e-9)


def test_log_bf10_averages_too():
    x, y, names, _ = several()
    found = ts.log_bf10(x, y, [0.5, 2.0], kernel=names)
    alone = [np.exp(ts.log_bf10(x, y, [0.5, 2.0], kernel=name)) for name in names]
    np.testing.assert_allclose(found, np.log(np.mean(alone, axis=0)), rtol=1e-12)


def test_copied_rows_with_several_kernels():
    rng = np.random.default_rng(14)
    x = np.repeat(rng.normal(size=20), 2)
    with pytest.warns(ts.errors.TwoSampleWarning, match="With each kept once"):
        found = ts.test(x, rng.normal(1, 1, size=40), kernel=["rbf", "laplace"])
    assert len(found.kernels) == 2


def test_what_is_no_list_of_kernels():
    x, y = np.random.default_rng(15).normal(size=(2, 10))
    with pytest.raises(InputError, match="there is none to average over"):
        ts.test(x, y, kernel=[])
    with pytest.raises(InputError, match="one of them is there twice"):
        ts.test(x, y, kernel=["rbf", RBF()])
    with pytest.raises(InputTypeError, match="test and log_bf10 average over several"):
        ts.plan(x, y, kernel=["rbf", "laplace"])
