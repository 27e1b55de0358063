import itertools
import math

import numpy as np
import pytest
from tests import default_model

import twosample as ts
from twosample.errors import AccuracyWarning, FlatFeaturesWarning, InputError, InputTypeError

RNG = np.random.default_rng(7)
X, Y, Z = RNG.normal(0, 1, (25, 2)), RNG.normal(0.7, 1, (31, 2)), RNG.normal(0.3, 1, (6, 2))


def gauss(a, b, lengthscale=1.0):
    return np.exp(-0.5 * np.square(a[:, None] - b[None]).sum(axis=2) / lengthscale**2)


def blocks(x=X, y=Y, z=Z, lengthscales=(1.0,)):
    return [np.stack([gauss(a, z, one) for one in lengthscales]) for a in (x, y, z)]


def test_it_is_what_integration_says():
    for x, y in ((X, Y), (X, X[::-1] + 0.01), (X, Y + 1)):
        K = [one[0] for one in blocks(x, y)]
        assert ts.test_gram(*K).log_bf10 == pytest.approx(default_model.log_bf10(*K, scale=0.3), abs=2e-5)


def test_parameters_are_averaged_with_equal_weight():
    lengthscales = (0.3, 1.0, 3.0)
    result = ts.test_gram(*blocks(lengthscales=lengthscales), parameters=lengthscales)
    alone = [ts.test_gram(*blocks(lengthscales=[one])).log_bf10 for one in lengthscales]
    assert result.log_bf10 == pytest.approx(np.logaddexp.reduce(alone) - math.log(3), abs=1e-10)
    np.testing.assert_allclose([row.log_bf10 for row in result.by_parameter], alone, atol=1e-10)
    posterior = np.exp(alone - np.logaddexp.reduce(alone))
    np.testing.assert_allclose([row.posterior for row in result.by_parameter], posterior, atol=1e-10)
    assert [row.parameter for row in result.by_parameter] == ["0.3", "1.0", "3.0"]
    assert [row.prior for row in result.by_parameter] == [1 / 3] * 3


@pytest.mark.parametrize("exponent", [-1000, -500, 500, 640, 1023])
def test_the_scale_of_the_kernel_does_not_matter(exponent):
    """Up to where the values themselves overflow; halved once more, the largest one is just below that."""
    blocks_of_one = [0.99 * one for one in blocks()]
    expected = ts.test_gram(*blocks_of_one).log_bf10
    found = ts.test_gram(*(np.ldexp(one, exponent) for one in blocks_of_one)).log_bf10
    assert found == pytest.approx(expected, abs=1e-9)


def test_it_is_the_test_of_a_table_at_a_given_lengthscale():
    table = ts.test(X, Y, points=Z, lengthscale=1.0, scale="raw")
    result = ts.test_gram(*blocks())
    assert result.log_bf10 == pytest.approx(table.log_bf10, abs=1e-9)
    assert result.effect.auc.mean == pytest.approx(table.effect.auc.mean, abs=1e-9)
    at = RNG.normal(0, 1, (5, 2))
    found, expected = result.witness(gauss(at, Z)), table.witness(at)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-9)
    np.testing.assert_allclose(found.sd, expected.sd, atol=1e-9)


def test_units_order_and_names_of_samples_do_not_matter():
    K = blocks(lengthscales=(0.5, 2.0))
    result = ts.test_gram(*K, permutations=50)
    order_x, order_y = RNG.permutation(len(X)), RNG.permutation(len(Y))
    others = [
        ts.test_gram(1e-20 * K[0], 1e-20 * K[1], 1e-20 * K[2], permutations=50),
        ts.test_gram(K[0][:, order_x], K[1][:, order_y], K[2], permutations=50),
        ts.test_gram(K[1], K[0], K[2], permutations=50),
    ]
    for other in others:
        assert other.log_bf10 == pytest.approx(result.log_bf10, abs=1e-9)
        assert other.pvalue == result.pvalue
        assert other.evalue == pytest.approx(result.evalue, rel=1e-9)
        assert other.effect.auc.mean == pytest.approx(result.effect.auc.mean, abs=1e-9)
    np.testing.assert_allclose(others[2].witness_x, -result.witness_y[::-1], atol=1e-9)
    assert [order_x[place] for place in others[1].telling_x] == list(result.telling_x)


def test_the_pvalue_is_the_share_of_all_relabellings():
    x, y = RNG.normal(0, 1, (4, 1)), RNG.normal(1.2, 1, (5, 1))
    pool = np.concatenate([x, y])
    K, between = gauss(pool, pool), gauss(pool, pool)
    values = []
    for chosen in itertools.combinations(range(9), 4):
        flags = np.isin(np.arange(9), chosen)
        values.append(ts.test_gram(K[flags], K[~flags], between).log_bf10)
    exact = np.mean(np.array(values) >= values[0] - 1e-9)
    result = ts.test_gram(K[:4], K[4:], between, permutations=4000)
    assert result.pvalue == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 4000) + 1e-3)
    assert result.evalue == pytest.approx(math.exp(values[0]) / np.exp(values).mean(), rel=0.05)


def test_level_of_the_pvalue():
    pvalues = []
    for _ in range(200):
        pool = RNG.standard_t(2, (16, 1))
        K = gauss(pool, pool[:5])
        pvalues.append(ts.test_gram(K[:8], K[8:], K[:5], permutations=19).pvalue)
    # Four standard deviations.
    for level in (0.05, 0.25, 0.5):
        assert np.mean(np.array(pvalues) <= level + 1e-9) == pytest.approx(level, abs=4 * math.sqrt(level / 200))


def test_samples_of_different_laws_and_of_one():
    x, y, other = RNG.normal(0, 1, (150, 1)), RNG.normal(0, 2, (150, 1)), RNG.normal(0, 1, (150, 1))
    z = np.linspace(-4, 4, 20)[:, None]
    assert ts.test_gram(gauss(x, z), gauss(y, z), gauss(z, z)).prob_h1 > 0.99
    assert ts.test_gram(gauss(x, z), gauss(other, z), gauss(z, z)).prob_h1 < 0.5


def test_a_flat_kernel_says_nothing():
    with pytest.warns(FlatFeaturesWarning, match="the same for all objects"):
        result = ts.test_gram(np.ones((5, 3)), np.ones((6, 3)), np.ones((3, 3)))
    assert result.log_bf10 == pytest.approx(0.0, abs=1e-5)  # a few 1e-6 of the prior of the amplitude are left out
    assert "the features do not vary" in result.verdict
    assert any("same for all objects" in note for note in result.diagnostics.notes)


def test_a_kernel_that_is_none_is_said_to_be():
    K = blocks()
    with pytest.warns(AccuracyWarning, match="not positive semidefinite"):
        result = ts.test_gram(K[0], K[1], K[2] - 0.9 * np.eye(6))
    assert math.isfinite(result.log_bf10) and math.isfinite(result.effect.auc.mean)


def test_model_and_odds():
    K = blocks()
    result = ts.test_gram(*K, prior_odds=0.25, rope=0.6)
    assert result.prob_h1 == pytest.approx(1 / (1 + 4 * math.exp(-result.log_bf10)))
    assert 0 < result.prob_beyond_rope < 1
    for model in ("paper", "published"):
        with pytest.raises(InputError, match=f"model: '{model}' needs rows of numbers; use model='adaptive'"):
            ts.test_gram(*K, model=model)


@pytest.mark.parametrize(
    ("K", "message"),
    [
        ((np.ones((5, 3)), np.ones((5, 3)), np.ones((3, 4))), "K_zz: must be square"),
        ((np.ones((5, 2)), np.ones((5, 3)), np.eye(3)), r"K_xz: must be of shape \('n', 3\) like K_zz"),
        ((np.ones((1, 5, 3)), np.ones((5, 3)), np.stack([np.eye(3)] * 2)), r"K_xz: must be of shape \(2, 'n', 3\)"),
        ((np.ones((1, 3)), np.ones((5, 3)), np.eye(3)), "K_xz: expected an array .* with n at least 2"),
        ((np.ones((5, 3)), np.ones(3), np.eye(3)), "K_yz: expected an array"),
        ((np.ones((5, 3)), np.full((5, 3), np.nan), np.eye(3)), "K_yz: holds values that are missing or infinite"),
        ((np.ones((5, 2)), np.ones((5, 2)), np.array([[1.0, 0.5], [0.0, 1.0]])), "K_zz: must be symmetric"),
    ],
)
def test_refusals(K, message):
    with pytest.raises(InputError, match=message):
        ts.test_gram(*K)


def test_other_refusals():
    K = blocks()
    with pytest.raises(InputTypeError, match="K_xz: expected an array of numbers"):
        ts.test_gram("a", K[1], K[2])
    with pytest.raises(InputError, match="parameters: there are 1 stacks of K_zz, not 2"):
        ts.test_gram(*K, parameters=[1, 2])
    with pytest.raises(InputError, match="at: expected the kernel values of objects at the 6 points"):
        ts.test_gram(*K).witness(np.ones((3, 5)))
