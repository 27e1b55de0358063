"""`ts.gibbs`: from samples to chains and what they say, what is refused, and what is doubted."""

import math
import re
import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

import twosample as ts
from twosample import models
from twosample.cli.messages import in_options
from twosample.data import Samples
from twosample.errors import (
    AccuracyWarning,
    ConvergenceWarning,
    DroppedDataWarning,
    InputError,
    InputTypeError,
    MissingExtraError,
)
from twosample.kernels import RBF
from twosample.paper import kernel_steps, sampling, watching
from twosample.paper.chains import Settings
from twosample.paper.gibbs_result import BridgeEstimate, GibbsResult
from twosample.paper.jacobian_pairs import Pairs
from twosample.paper.passes import Passes
from twosample.paper.sampling import Question, doubts
from twosample.plan import make_plan

# The paper's model where no other one is named: it has everything that there is to sample, pairs and Jacobians too.
OPTIONS = {"model": "paper", "points": 8, "chains": 2, "steps": 400, "burn_in": 100, "hmc_steps": 3}


def draw(n_columns=1, shift=None, seed=1):
    """Samples with which both hypotheses are visited, at the shifts that are left out."""
    shift = {1: 1.0, 2: 1.6}[n_columns] if shift is None else shift
    rng = np.random.default_rng([seed, n_columns])
    return rng.normal(size=(24, n_columns)), shift + rng.normal(size=(24, n_columns))


def quietly(x, y, **options):
    """The result of short chains, without what they are warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ts.gibbs(x, y, **{**OPTIONS, **options})


@pytest.fixture(scope="module")
def one():
    return quietly(*draw())


@pytest.fixture(scope="module")
def several():
    return quietly(*draw(2), kernel="ard", prior_odds=2.0)


@pytest.fixture(scope="module")
def adaptive():
    """Of the default model."""
    return quietly(*draw(), model="adaptive")


def test_one_lengthscale(one):
    assert isinstance(one, GibbsResult)
    assert one.labels.shape == one.given.shape == one.log_bf10_given.shape == (2, 150)
    assert one.lengthscales.shape == (2, 150, 1) and (one.lengthscales > 0).all()
    assert one.amplitudes is None and one.evidence is None and one.relevance is None
    assert (one.kernel, one.model, one.prior_odds) == ("rbf", models.PRESETS["paper"], 1.0)
    assert (one.n_x, one.n_y, one.columns, one.paired) == (24, 24, ("0",), False)
    assert one.points.shape == (8, 1)
    assert one.settings == Settings(400, 100, 2, 3, 3, 2, early_stop=True)
    assert one.diagnostics.density_error < 1e-8
    assert one.diagnostics.pairs == 24
    assert 0 < one.prob_h1_error < 0.2
    x, y = draw()
    exact = ts.test(x, y, model="paper", points=8)
    assert one.median_heuristic == exact.lengthscale.median_heuristic
    assert_array_equal(one.points, exact.points)
    assert abs(one.prob_h1 - exact.prob_h1) < 4 * one.prob_h1_error
    assert abs(one.log_bf10 - exact.log_bf10) < 4 * one.log_bf10_error


def test_probabilities(one, several):
    for result in (one, several):
        given = expit(result.log_bf10_given + math.log(result.prior_odds))
        assert result.prob_h1 == pytest.approx(given.mean(), rel=1e-12)
        assert result.prob_h0 == pytest.approx(1 - given.mean(), rel=1e-12)
    assert one.log_bf10 == pytest.approx(math.log(one.prob_h1 / one.prob_h0), abs=1e-12)
    assert several.log_bf10 == several.evidence.log_bf10
    assert several.log_bf10_error == several.evidence.error


def test_extreme_bayes_factors_keep_their_digits(one):
    for log_bf10 in (-5000.0, 5000.0):
        certain = replace(one, log_bf10_given=np.full((2, 150), log_bf10))
        assert certain.log_bf10 == pytest.approx(log_bf10, rel=1e-12)
        assert certain.prob_h1 == pytest.approx(float(log_bf10 > 0), abs=1e-12)


def test_one_lengthscale_for_each_column(several):
    assert several.lengthscales.shape == (2, 150, 2)
    assert several.kernel == "ard" and several.columns == ("0", "1")
    assert several.evidence.lengthscales_h0.shape == several.evidence.lengthscales_h1.shape == (2, 150, 2)
    assert 0 < several.evidence.overlap <= 1
    assert several.diagnostics.ess_lengthscales.shape == several.diagnostics.r_hat_lengthscales.shape == (2,)
    assert several.diagnostics.density_error < 1e-8
    # The bridge estimate and the odds of the chain agree: the chain changes the hypothesis often enough.
    assert several.diagnostics.switches.min() > 5
    odds = math.log(several.prob_h1 / several.prob_h0 / several.prior_odds)
    error = math.hypot(several.evidence.error, several.prob_h1_error / (several.prob_h1 * several.prob_h0))
    assert abs(several.evidence.log_bf10 - odds) < 4 * error


def test_relevance(several):
    found = several.relevance
    assert sorted(found.columns) == ["0", "1"]
    assert (np.diff(found.loss) <= 0).all()
    assert (found.error > 0).all() and (found.loss_error > 0).all()
    assert ((found.probability >= 0) & (found.probability <= 1)).all()
    for name, shortening, probability in zip(found.columns, found.shortening, found.probability, strict=True):
        # Draws of one hypothesis alone say the same with more noise.
        h0, h1 = (np.log(several.lengthscale_draws(hypothesis)[:, int(name)]) for hypothesis in (0, 1))
        error = math.sqrt((h0.var() + h1.var()) / 60)
        assert abs(shortening - (h0.mean() - h1.mean())) < 4 * error
        assert abs(probability - (h1[:, None] < h0).mean()) < 0.1
    lines = str(found).splitlines()
    assert len(lines) == 3 and lines[1].startswith(found.columns[0])


@pytest.mark.parametrize("weighted", [True, False])
def test_relevance_of_known_posteriors(weighted):
    """Log lengthscales N(0, 1) given H0 and N(-m, 1) given H1: they are shorter by m, and the error is honest."""
    shift, covered, errors, loss_errors = np.array([0.5, 0.0]), [], [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        h0, h1 = rng.normal(size=(2, 100, 2)), rng.normal(size=(2, 100, 2)) - shift
        log_ratio = -(np.concatenate([h0, h1]) * shift).sum(axis=2) - 0.5 * (shift**2).sum()
        losses = rng.normal(size=(2, 2, 100)) + np.array([0.0, 1.0])[:, None, None]
        found = sampling._relevance(("a", "b"), np.exp(h0), np.exp(h1), log_ratio if weighted else None, losses)
        assert found.columns == ("b", "a")
        assert_allclose(found.loss, [1.0, 0.0], atol=5 * np.sqrt(1 / 200))
        loss_errors.append(found.loss_error)
        truth = np.array([shift[0] if name == "a" else 0.0 for name in found.columns])
        covered.append(np.abs(found.shortening - truth) < 2 * found.error)
        errors.append(found.error[list(found.columns).index("a")])
        exact = 0.5 * (1 + math.erf(shift[0] / 2))
        assert abs(found.probability[list(found.columns).index("a")] - exact) < 0.15
    assert 0.9 < np.mean(covered) < 0.99
    assert np.mean(loss_errors) == pytest.approx(math.sqrt(1 / 200), rel=0.1)
    assert (np.mean(errors) < 0.09) == weighted  # √(2/200) = 0.1 without the weights


def test_amplitudes(adaptive):
    assert adaptive.amplitudes.shape == (2, 150)
    assert (adaptive.amplitudes > 0).all()
    assert adaptive.diagnostics.pairs == 0
    exact = ts.test(*draw(), points=8, subsets=None)
    assert abs(adaptive.prob_h1 - exact.prob_h1) < 4 * adaptive.prob_h1_error
    low, high = np.array([1 / 16, 8.0]) * adaptive.median_heuristic
    assert ((adaptive.lengthscales >= low) & (adaptive.lengthscales <= high)).all()


def test_the_default_model_is_that_of_test(adaptive):
    options = {name: value for name, value in OPTIONS.items() if name != "model"}
    result = ts.gibbs(*draw(), **options)
    assert result.model == adaptive.model == models.PRESETS["adaptive"].alone()  # of one column
    assert result.model.amplitude.scale == 0.5
    assert_array_equal(result.lengthscales, adaptive.lengthscales)


@pytest.mark.slow
def test_samples_of_unequal_sizes_and_other_units():
    """The joint test of the scaled columns is what is sampled, whatever the sizes and the units."""
    x, y = draw(2, shift=0.8)
    x, y = x[:15] * [1000.0, 0.01], y * [1000.0, 0.01]
    result, exact = quietly(x, y, model="adaptive", steps=800), ts.test(x, y, points=8, subsets=None)
    assert 0.05 < exact.prob_h1 < 0.95
    assert_array_equal(result.points, exact.points)
    assert abs(result.prob_h1 - exact.prob_h1) < 4 * result.prob_h1_error


def test_the_models_of_the_paper_say_what_they_are_for(one, several, adaptive):
    for result in (one, several):
        assert str(result).splitlines()[1] == result.model.caution(scaled=False)
    sentence = str(one).splitlines()[1]
    assert "amplitude 1 in raw units" in sentence and "reproducing the paper" in sentence
    assert "reproducing" not in str(adaptive)
    x, y = draw()
    for model in ("paper", "published"):
        tested = ts.test(x, y, model=model, points=8)
        assert str(tested).splitlines()[1] == sentence.replace("paper", model, 1)
        assert "amplitude 1 in scaled units" in str(ts.test(x, y, model=model, points=8, scale="robust"))
    assert "reproducing" not in str(ts.test(x, y))


def test_draws_under_a_hypothesis(one, several):
    for hypothesis in (0, 1):
        assert_array_equal(one.lengthscale_draws(hypothesis), one.lengthscales[one.given == hypothesis])
        assert several.lengthscale_draws(hypothesis).shape == (300, 2)
    with pytest.raises(InputError, match=r"^hypothesis"):
        one.lengthscale_draws(2)


@pytest.mark.slow
def test_bridge_for_one_lengthscale_of_each_model():
    """The evidence can be asked for; for "published" it is the odds of the alternating chain, at its prior odds.

    Its conditionals belong to no joint law, so that the chain has these odds only if the lengthscale forgets where it
    was within a Gibbs step: with 3 transitions P(H1) is 0.67, with 9 it is 0.64, and it should be 0.60.
    """
    for model, prior_odds, shift, transitions in (("paper", 1.0, 1.0, 3), ("published", 3.0, 1.2, 30)):
        x, y = draw(shift=shift)
        result = quietly(x, y, model=model, evidence=True, prior_odds=prior_odds, hmc_steps=transitions)
        exact = ts.test(x, y, model=model, points=8, prior_odds=prior_odds)
        assert abs(result.evidence.log_bf10 - exact.log_bf10) < 4 * result.evidence.error
        assert abs(result.prob_h1 - exact.prob_h1) < 4 * result.prob_h1_error
        assert result.relevance is None
        assert result.lengthscale_draws(0).shape == (300, 1)


def test_evidence_can_be_left_out_for_several_lengthscales(several):
    result = quietly(*draw(2), kernel="ard", prior_odds=2.0, evidence=False)
    assert result.evidence is None and result.relevance is None
    assert_array_equal(result.lengthscales, several.lengthscales)


def test_same_seed_same_result(one):
    x, y = draw()
    again, other = quietly(x, y, rng=np.random.SeedSequence(0)), quietly(x, y, rng=1)
    assert again.to_json() == one.to_json()
    assert (other.lengthscales != one.lengthscales).any()
    assert abs(other.prob_h1 - one.prob_h1) < 4 * math.hypot(other.prob_h1_error, one.prob_h1_error)


def test_swapping_the_samples(one):
    x, y = draw()
    swapped = quietly(y, x)
    assert abs(swapped.prob_h1 - one.prob_h1) < 4 * math.hypot(swapped.prob_h1_error, one.prob_h1_error)


@pytest.mark.parametrize("prior_odds", [0.2, 4.0])
def test_prior_odds(one, prior_odds):
    result = quietly(*draw(), prior_odds=prior_odds)
    assert result.prior_odds == prior_odds
    assert abs(result.log_bf10 - one.log_bf10) < 4 * math.hypot(result.log_bf10_error, one.log_bf10_error)
    assert (result.prob_h1 > one.prob_h1) == (prior_odds > 1)


def test_lengthscales_are_in_the_units_of_their_column():
    """By powers of two, so that the standardised data and with them the chains are the same."""
    x, y = draw(2)
    plain = quietly(x, y, kernel="ard", scale="robust", evidence=False)
    scaled = quietly(x * [1024.0, 0.5], y * [1024.0, 0.5], kernel="ard", scale="robust", evidence=False)
    assert_allclose(scaled.lengthscales, plain.lengthscales * [1024.0, 0.5], rtol=1e-12)
    assert_allclose(scaled.points, plain.points * [1024.0, 0.5], rtol=1e-12)
    assert_array_equal(scaled.labels, plain.labels)
    assert scaled.prob_h1 == plain.prob_h1
    # One column and one lengthscale: also in its units.
    x, y = draw()
    plain, scaled = (quietly(factor * x, factor * y, scale="robust") for factor in (1.0, 1024.0))
    assert_allclose(scaled.lengthscales, 1024.0 * plain.lengthscales, rtol=1e-12)
    assert scaled.median_heuristic == 1024.0 * plain.median_heuristic


def test_equal_pairs_are_reported():
    x, y = draw()
    x[3] = y[3]
    with pytest.warns(DroppedDataWarning, match="1 of 24 pairs"):
        result = quietly(x, y)
    assert any("1 of 24 pairs" in note for note in result.diagnostics.notes)
    assert result.diagnostics.density_error < 1e-8


def test_progress():
    shares = []
    quietly(*draw(), evidence=True, progress=shares.append)
    assert shares == sorted(shares) and 0 < shares[0] < 0.1 and shares[-1] == 1.0


def test_no_global_state():
    """Neither double precision nor the random state of NumPy: both are as they were."""
    assert not jax.config.jax_enable_x64
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    outside = quietly(*draw(), steps=60, burn_in=20)
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == np.float32
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    with jax.enable_x64(True):
        inside = quietly(*draw(), steps=60, burn_in=20)
    assert_array_equal(inside.lengthscales, outside.lengthscales)


def test_compiled_once_for_samples_of_one_shape(one):
    before = kernel_steps._advance._cache_size()
    for seed in range(2):
        quietly(*draw(seed=seed), steps=60, burn_in=20, chains=1 + seed, rng=seed, prior_odds=1.0 + seed)
    assert kernel_steps._advance._cache_size() == before


# ---- the question


def question(x, y, model="paper", several=True, **options):
    chosen = models.resolve(model)
    samples = Samples.from_data(x, y, scale=options.pop("scale", chosen.scale), **options)
    plan = make_plan(samples, chosen, RBF(), 8)
    pairs = Pairs.choose(samples, plan.features, chosen, np.random.default_rng(0)) if chosen.needs_pairs else None
    return Question(plan, samples, pairs, several)


@pytest.mark.parametrize("model", ["paper", "published", "adaptive"])
@pytest.mark.parametrize("scale", ["raw", "robust"])
def test_the_evidence_of_equal_lengthscales_is_that_of_one(model, scale):
    x, y = draw(2)
    asked = question(x, 3.0 * y, model, scale=scale)
    passes = Passes(asked.samples, asked.plan.features, (asked.plan.model,), asked.pairs)
    for lengthscale in (0.6, 1.7):
        found, [expected] = asked.evidence_at(np.full(2, lengthscale)), passes.evidence(np.array([lengthscale]))
        for name in ("log_bf10", "log_h0", "log_h1"):
            assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("model", ["paper", "adaptive"])
def test_lengthscales_of_columns_are_units_of_the_columns(model):
    """A column in other units with its lengthscale in them is the same question, but for the factor Π ℓ of "paper"."""
    x, y = draw(2)
    factor = np.array([1.0, 8.0])
    chosen = replace(models.resolve(model), unit_variance=True)
    points = np.concatenate([x[:4], y[:4]])
    found = []
    for unit in (1.0, factor):
        samples = Samples.from_data(x * unit, y * unit, scale="raw")
        plan = make_plan(samples, chosen, RBF(), points * unit)
        pairs = Pairs(samples.x, samples.y, np.ones(24, dtype=bool)) if chosen.needs_pairs else None
        found.append(Question(plan, samples, pairs, True).evidence_at(np.array([0.7, 1.3]) * unit))
    assert_allclose(found[1].log_bf10, found[0].log_bf10, rtol=1e-9)
    # The volume of a Jacobian is per unit of each column, of x and of y.
    volume = -2.0 * 24 * np.log(8.0) if chosen.needs_pairs else 0.0
    assert_allclose(found[1].log_h0, found[0].log_h0 + volume, rtol=1e-9)


@pytest.mark.parametrize("several", [False, True])
def test_what_is_sampled_from(several):
    x, y = draw(2)
    target, data = question(x, y, several=several).target
    assert target.n_lengthscales == (2 if several else 1) and not target.paired
    assert data.pairs is None  # the rows themselves
    assert data.usable.all() and data.usable.shape == (24,)
    _, data = question(x, y[:20], several=several).target
    assert [rows.shape for rows in data.pairs] == [(20, 2), (20, 2)]
    assert data.x.shape == (24, 2) and data.y.shape == (20, 2)
    assert question(x, y, paired=True).target[0].paired
    assert not question(x, y, "published", paired=True).target[0].paired


def test_a_density_that_is_off_is_noticed(monkeypatch):
    """Not by a constant, which no chain would notice."""
    asked = question(*draw())
    positions = np.linspace(-0.5, 0.7, 40).reshape(2, 20, 1)
    chains = SimpleNamespace(positions=positions)
    assert sampling._density_error(asked, chains) < 1e-8
    evaluate = kernel_steps.evaluate
    for wrong, expected in ((lambda p: 5.0, 0.0), (lambda p: 0.01 * (p > 0.1), 0.005)):
        monkeypatch.setattr(kernel_steps, "evaluate", lambda t, p, d, w=wrong: evaluate(t, p, d) + w(p))
        assert sampling._density_error(asked, chains) == pytest.approx(expected, abs=2e-3)
    assert sampling._density_error(question(*draw(), "adaptive"), chains) == 0.0


# ---- the error of the probability


def two_states(rng, up, down, chains=2, draws=400):
    """Chains of labels that move with these probabilities, from their stationary law."""
    states = np.empty((chains, draws + 1), dtype=np.int64)
    states[:, 0] = rng.random(chains) < up / (up + down)
    for step in range(draws):
        moves = rng.random(chains) < np.where(states[:, step] == 1, down, up)
        states[:, step + 1] = np.where(moves, 1 - states[:, step], states[:, step])
    return states[:, :-1], states[:, 1:]


@pytest.mark.parametrize(("up", "down"), [(0.02, 0.03), (0.3, 0.1), (0.05, 0.6)])
def test_label_error_of_a_chain_of_two_states(up, down):
    """P(H1 | parameters) is the probability of the next label: its mean varies as much as the error says."""
    rng = np.random.default_rng(8)
    means, errors = [], []
    for _ in range(300):
        given, _ = two_states(rng, up, down)
        if given.all() or not given.any():
            continue
        probability = np.where(given == 1, 1.0 - down, up)
        log_odds = np.log(probability) - np.log1p(-probability)
        means.append(probability.mean())
        errors.append(watching._label_error(SimpleNamespace(given=given), probability, log_odds))
    assert np.mean(means) == pytest.approx(up / (up + down), abs=4 * np.std(means) / np.sqrt(len(means)))
    # The variance of the mean of such labels is less than the error says, by the share (α + β)/2. 300 means tell theirs
    # to 4 in 100.
    assert np.mean(errors) * np.sqrt(1.0 - 0.5 * (up + down)) == pytest.approx(np.std(means), rel=0.13)


@pytest.mark.parametrize("hypothesis", [0, 1])
def test_label_error_where_one_hypothesis_was_never_visited(hypothesis):
    """The probability of the other is known by its order of magnitude at best."""
    log_odds = (2 * hypothesis - 1) * np.random.default_rng(0).uniform(20.0, 50.0, size=(2, 100))
    chains = SimpleNamespace(given=np.full((2, 100), hypothesis))
    error = watching._label_error(chains, expit(log_odds), log_odds)
    assert error == pytest.approx(expit(-np.abs(log_odds)).mean(), rel=1e-9)
    assert 1e-15 < error < 1e-9


# ---- what is refused

COUNTS = {"steps": 8, "burn_in": 0, "thinning": 1, "hmc_steps": 1, "adapt_steps": 0, "chains": 1}


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("bad", [True, 2.5, "10", None])
def test_counts_of_another_type(name, bad):
    with pytest.raises(InputTypeError, match=rf"^{name}: "):
        ts.gibbs(*draw(), **{name: bad})


@pytest.mark.parametrize(("name", "lowest"), COUNTS.items())
def test_counts_that_are_too_small(name, lowest):
    with pytest.raises(InputError, match=rf"^{name}: .*{lowest}"):
        ts.gibbs(*draw(), **{name: lowest - 1})


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"steps": 500}, "steps"),
        ({"steps": 600, "thinning": 40}, "steps"),
        ({"hmc_steps": 2}, "adapt_steps"),
        ({"adapt_steps": 10}, "adapt_steps"),
        ({"kernel": "cosine"}, "kernel"),
        ({"model": "best"}, "model"),
        ({"prior_odds": 0.0}, "prior_odds"),
        ({"prior_odds": math.nan}, "prior_odds"),
        ({"prior_odds": "even"}, "prior_odds"),
        ({"points": 0}, "points"),
        ({"points": 1, "model": "paper"}, "points"),
        ({"scale": "best"}, "scale"),
        ({"scale": -1.0}, "scale"),
        ({"nan_policy": "ignore"}, "nan_policy"),
        ({"rng": -1}, "rng"),
    ],
)
def test_values_that_cannot_be(options, name):
    with pytest.raises(InputError, match=rf"^{name}"):
        ts.gibbs(*draw(), **options)


@pytest.mark.parametrize(
    ("options", "name"), [({"rng": "0"}, "rng"), ({"model": 3}, "model"), ({"points": 2.5}, "points")]
)
def test_types_that_cannot_be(options, name):
    with pytest.raises(InputTypeError, match=rf"^{name}"):
        ts.gibbs(*draw(), **options)


def test_several_lengthscales_are_not_for_test():
    with pytest.raises(InputError, match=r"^kernel: .*gibbs"):
        ts.test(*draw(2), kernel="ard")


def test_nothing_to_sample():
    with pytest.raises(InputError, match=r"^x and y"):
        ts.gibbs(np.ones(9), np.ones(9), model="paper")


@pytest.mark.slow
def test_without_columns_that_vary_nothing_is_learnt():
    same = quietly(np.ones(9), np.ones(9), model="adaptive")
    assert_allclose(same.log_bf10_given, 0.0, atol=1e-4)  # variances are of rounding, and amplitudes without end
    assert same.prob_h1 == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("package", ["jax", "blackjax"])
def test_without_the_packages(monkeypatch, package):
    for name in ("twosample.paper.kernel_steps", "twosample.paper.density"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"^gibbs needs {package}; .*twosample\[mcmc\]"):
        ts.gibbs(*draw())
    assert ts.test(*draw()).prob_h1 > 0


# ---- doubts


@pytest.fixture(scope="module")
def good(one):
    """A result that nothing is wrong with."""
    diagnostics = replace(
        one.diagnostics,
        ess_prob_h1=900.0,
        ess_lengthscales=np.array([800.0]),
        r_hat_prob_h1=1.001,
        r_hat_lengthscales=np.array([1.002]),
        switches=np.array([30, 31]),
        divergences=np.array([0, 1]),
        density_error=1e-9,
        notes=(),
    )
    return replace(one, diagnostics=diagnostics)


def test_no_doubts(good):
    assert list(doubts(good)) == []


@pytest.mark.parametrize(
    ("changes", "words", "category"),
    [
        ({"r_hat_prob_h1": 1.3}, r"chains disagree .*1\.30.* or use test", ConvergenceWarning),
        ({"r_hat_prob_h1": np.inf}, r"chains disagree .*inf", ConvergenceWarning),
        ({"r_hat_lengthscales": np.array([1.0, 1.2])}, r"chains disagree .*1\.20", ConvergenceWarning),
        ({"ess_prob_h1": 42.4}, r"only 42 independent draws.*more steps", ConvergenceWarning),
        ({"ess_lengthscales": np.array([500.0, 7.0])}, r"only 7 independent draws", ConvergenceWarning),
        ({"divergences": np.array([20, 10])}, r"30 of 1800 transitions diverged", ConvergenceWarning),
        ({"density_error": 0.02}, r"off by up to 0\.02", AccuracyWarning),
    ],
)
def test_doubts_in_words(good, changes, words, category):
    doubted = replace(good, diagnostics=replace(good.diagnostics, **changes))
    (doubt,) = doubts(doubted)
    assert type(doubt) is category
    assert re.search(words, str(doubt))


def test_doubts_about_the_bridge(good):
    """Without it, where only one hypothesis was visited; with it, where that is not enough."""
    draws = np.ones((2, 5, 1))
    for hypothesis in (0, 1):
        still = replace(
            good,
            given=np.full_like(good.given, hypothesis),
            diagnostics=replace(good.diagnostics, switches=np.array([0, 0])),
        )
        (doubt,) = doubts(still)
        assert type(doubt) is ConvergenceWarning
        assert str(doubt).endswith("; evidence=True estimates log BF10 without such draws")
        assert in_options(doubt).endswith("; --evidence estimates log BF10 without such draws")
    assert list(doubts(replace(still, evidence=BridgeEstimate(9.0, 0.1, 0.3, draws, draws)))) == []
    (doubt,) = doubts(replace(still, evidence=BridgeEstimate(9.0, 0.1, 1e-4, draws, draws)))
    assert "hardly overlap (0.0001)" in str(doubt) and type(doubt) is ConvergenceWarning


def test_chains_that_are_too_short_are_warned_of():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ts.gibbs(*draw(), **{**OPTIONS, "steps": 60, "burn_in": 40})
    assert [str(warning.message) for warning in caught] == list(result.diagnostics.notes)
    assert {warning.category for warning in caught} == {ConvergenceWarning}
    assert all(warning.filename == __file__ for warning in caught)
    assert "independent draws" in str(result)


def test_a_hypothesis_that_is_never_visited_leaves_log_bf10_uncertain():
    x, y = draw()
    result = quietly(x, 30.0 + y)
    assert not result.diagnostics.switches.any()
    assert result.log_bf10 > 100
    assert result.log_bf10_error > 0.1
