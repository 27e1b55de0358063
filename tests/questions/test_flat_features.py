"""Features that do not vary: a warning that names the argument, a note, and no verdict; and none for ordinary data."""

import warnings

import numpy as np
import pytest

import twosample as ts
from twosample.errors import FlatFeaturesWarning, TwoSampleWarning

rng = np.random.default_rng(0)
X, Y = rng.normal(size=200), rng.normal(0.7, 1.0, size=200)
NEUTRAL = "no clear evidence either way: the features do not vary"
FAR = [[1e6], [1e7]]


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("model", ["adaptive", "paper", "published"])
@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"points": FAR, "lengthscale": 1.0}, "points"),
        ({"lengthscale": 1e-9}, "lengthscale"),
        ({"lengthscale": 1e9}, "lengthscale"),
        ({"lengthscale": 1e12}, "lengthscale"),
    ],
)
def test_what_says_nothing_is_said(model, paired, options, argument):
    with pytest.warns(FlatFeaturesWarning, match=rf"^{argument}: .*the features do not vary") as caught:
        result = ts.test(X, Y, model=model, paired=paired, **options)
    assert caught[0].message.argument == argument
    assert caught[0].filename == __file__
    assert result.verdict == NEUTRAL
    assert NEUTRAL[1:] in result.summary()
    assert str(caught[0].message) in result.diagnostics.notes
    assert "come from the same" not in result.summary()
    again = ts.TwoSampleResult.from_json(result.to_json())
    assert again.verdict == NEUTRAL


@pytest.mark.parametrize("model", ["adaptive", "paper", "published"])
def test_points_far_outside_with_the_lengthscale_inferred(model):
    with pytest.warns(FlatFeaturesWarning, match="^points: "):
        result = ts.test(X, Y, model=model, points=FAR, subsets=None if model == "adaptive" else "auto")
    assert result.verdict == NEUTRAL


def test_other_tests_of_the_mixture_still_speak():
    """Their points are their own, and so they find the difference."""
    with pytest.warns(FlatFeaturesWarning, match="^points: "):
        result = ts.test(X, Y, points=FAR)
    assert result.verdict.startswith("very strong evidence of a")
    assert any("features do not vary" in note for note in result.diagnostics.notes)


def test_plans_warn_too():
    plan = ts.plan(X, Y, lengthscale=1e-9)
    statistics = plan.statistics(X, Y)
    with pytest.warns(FlatFeaturesWarning, match="^lengthscale: "):
        assert plan.test(statistics).verdict == NEUTRAL


@pytest.mark.parametrize("lengthscale", [1e-9, 1e9, [0.5, 1.0, 1e-9]])
def test_bayes_factors_at_given_lengthscales(lengthscale):
    with pytest.warns(FlatFeaturesWarning, match="^lengthscale: at 1e"):
        ts.log_bf10(X, Y, lengthscale)


def test_sampler():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwoSampleWarning)
        # Of the size of other tests of the sampler, which is compiled once for each.
        points = [[1e6 * place] for place in range(1, 9)]
        result = ts.gibbs(X[:24], Y[:24], points=points, steps=40, burn_in=20, chains=1, hmc_steps=3)
    assert result.verdict == NEUTRAL
    assert any("features do not vary" in note for note in result.diagnostics.notes)
    assert ts.GibbsResult.from_json(result.to_json()).verdict == NEUTRAL


def test_the_command_says_it_in_its_own_words(tmp_path, capsys):
    from twosample import cli

    for name, values in (("a", X), ("b", Y)):
        (tmp_path / f"{name}.csv").write_text("u\n" + "\n".join(map(repr, values.tolist())), encoding="utf-8")
    with pytest.raises(SystemExit):
        cli.main(["test", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--lengthscale", "1e-9"])
    out, err = capsys.readouterr()
    assert "note: --lengthscale: at 1e-09 the features do not vary" in err
    assert "use --lengthscale median" in err
    assert NEUTRAL[1:] in out


LAWS = {
    "gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "cauchy": lambda rng, n, d: rng.standard_cauchy(size=(n, d)),
    "log-normal": lambda rng, n, d: np.exp(3.0 * rng.normal(size=(n, d))),
    "binary": lambda rng, n, d: rng.integers(0, 2, size=(n, d)).astype(float),
    "counts": lambda rng, n, d: rng.poisson(2.0, size=(n, d)).astype(float),
    "mostly zero": lambda rng, n, d: np.where(rng.random((n, d)) < 0.9, 0.0, rng.normal(size=(n, d))),
    "one outlier": lambda rng, n, d: np.where(np.arange(n)[:, None] == 0, 1e9, rng.normal(size=(n, d))),
    "huge": lambda rng, n, d: 1e150 * rng.normal(size=(n, d)),
    "tiny": lambda rng, n, d: 1e-150 * rng.normal(size=(n, d)),
    "two clusters": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-3 + rng.integers(0, 2, size=(n, 1)),
}


@pytest.mark.parametrize(("n", "d"), [(3, 1), (10, 1), (60, 1), (40, 5), (30, 20)])
@pytest.mark.parametrize("law", LAWS)
def test_ordinary_data_are_not_accused(law, n, d):
    rng = np.random.default_rng(7)
    for subsets, lengthscale in ((None, None), (None, "median")):
        x, y = LAWS[law](rng, n, d), LAWS[law](rng, n + 2, d)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TwoSampleWarning)
            warnings.simplefilter("error", FlatFeaturesWarning)
            result = ts.test(x, y, points=10, subsets=subsets, lengthscale=lengthscale)
        assert not result.diagnostics.flat


@pytest.mark.parametrize("paired", [False, True])
def test_equal_rows_are_no_fault_of_the_features(paired):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwoSampleWarning)
        warnings.simplefilter("error", FlatFeaturesWarning)
        ts.test(np.ones(5), np.ones(5), paired=paired)
        ts.test(X[:20], X[:20], paired=paired)  # pairs without any difference


def test_short_lengthscales_of_discrete_data_tell_values_apart():
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 3, 100), rng.integers(0, 4, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FlatFeaturesWarning)
        assert ts.test(x, y, lengthscale=1e-6).log_bf10 > 3
