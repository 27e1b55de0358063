"""The sampler against what needs no sampling: one-dimensional quadrature, and a tensor product of it."""

import numpy as np
import pytest
from scipy.optimize import minimize

import twosample as ts
from twosample import models
from twosample.data import Samples
from twosample.kernels import RBF
from twosample.paper.chains import effective_size
from twosample.paper.jacobian_pairs import Pairs
from twosample.paper.sampling import Question
from twosample.plan import make_plan

N, POINTS = 40, 12
# Seeds, and shifts of the second sample that spread P(H1) from 0.02 to 0.98. Left out for "published": seeds 3 to 5,
# with two modes of the lengthscale, between which nine transitions do not mix. Its conditionals belong to no joint law,
# so that the answer then depends on the number of transitions (see the test with 90 of them).
SHIFTS = {
    "paper": dict(enumerate([0.37, 0.98, 1.00, 1.22, 1.08, 0.67, 1.37, 0.58, 1.11, 1.28, 1.13, 0.93])),
    "published": {
        0: 0.97, 1: 1.31, 2: 1.39, 12: 1.30, 13: 1.65, 14: 1.43, 6: 1.65, 7: 0.88, 8: 1.44, 9: 1.57, 10: 1.45, 11: 1.20,
    },
}  # fmt: skip
LEVELS = np.array([0.1, 0.5, 0.9])


def data(seed, shift):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, N), rng.normal(0, 1, N) + shift


def below(values, mass, level):
    """The exact quantile of a lengthscale."""
    return np.interp(level, np.cumsum(mass) - 0.5 * mass, values)


@pytest.mark.parametrize("model", SHIFTS)
def test_the_data_sets_are_spread_over_the_probabilities(model):
    exact = [ts.test(*data(*case), model=model, points=POINTS).prob_h1 for case in SHIFTS[model].items()]
    assert len(exact) >= 12
    assert min(exact) < 0.025 and max(exact) > 0.975
    assert np.diff(np.sort(exact)).max() < 0.15


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::twosample.errors.ConvergenceWarning")
@pytest.mark.parametrize(("model", "seed"), [(model, seed) for model in SHIFTS for seed in list(SHIFTS[model])[::2]])
def test_one_lengthscale_agrees_with_quadrature(model, seed):
    x, y = data(seed, SHIFTS[model][seed])
    sampled = ts.gibbs(
        x,
        y,
        model=model,
        points=POINTS,
        chains=2,
        steps=1400,
        burn_in=200,
        rng=seed,
        early_stop=False,
    )
    exact = ts.test(x, y, model=model, points=POINTS)

    assert sampled.diagnostics.switches.min() > 5
    assert sampled.prob_h1_error < 0.06
    assert abs(sampled.prob_h1 - exact.prob_h1) < 3.0 * sampled.prob_h1_error + 1e-6
    assert abs(sampled.labels.mean() - exact.prob_h1) < 0.1

    draws = sampled.lengthscales[:, :, 0]
    share = effective_size(np.log(draws)) / draws.size
    for hypothesis, mass in ((0, exact.lengthscale.mass_h0), (1, exact.lengthscale.mass_h1)):
        found = sampled.lengthscale_draws(hypothesis)[:, 0]
        if len(found) < 100:
            continue
        quantiles = [below(exact.lengthscale.grid, mass, level) for level in LEVELS]
        reached = (found[:, None] < quantiles).mean(axis=0)
        error = np.sqrt(LEVELS * (1 - LEVELS) / (share * len(found)))
        assert (np.abs(reached - LEVELS) < 4.0 * error).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::twosample.errors.ConvergenceWarning")
def test_released_conditionals_agree_with_quadrature_once_the_lengthscale_mixes():
    x, y = data(3, 1.67)
    exact = ts.test(x, y, model="published", points=POINTS)
    sampled = ts.gibbs(
        x, y, model="published", points=POINTS, chains=2, steps=500, burn_in=100, hmc_steps=90, early_stop=False
    )
    assert abs(sampled.prob_h1 - exact.prob_h1) < 3.0 * sampled.prob_h1_error


@pytest.mark.slow
@pytest.mark.parametrize(("model", "seed"), [("paper", 2), ("published", 3)])
def test_the_bridge_estimate_agrees_with_quadrature(model, seed):
    x, y = data(seed, 1.00 if model == "paper" else 1.67)
    exact = ts.test(x, y, model=model, points=POINTS)
    sampled = ts.gibbs(
        x, y, model=model, points=POINTS, chains=2, steps=1000, burn_in=200, evidence=True, early_stop=False
    )
    assert sampled.evidence.error < 0.02
    assert abs(sampled.log_bf10 - exact.log_bf10) < 3.0 * sampled.evidence.error


def tensor_quadrature(x, y, points, model, nodes=41):
    """Log BF10 and P(H1) with both lengthscales of two columns integrated out on a grid, from the NumPy evidence."""
    model = models.resolve(model)
    samples = Samples.from_data(x, y, scale=model.scale)
    plan = make_plan(samples, model, RBF(), points)
    pairs = Pairs.choose(samples, plan.features, model, np.random.default_rng(0))
    question = Question(plan, samples, pairs, several=True)

    def log_target(t):
        found = question.evidence_at(np.exp(t))
        density = model.lengthscale.log_density(t).sum()
        return found.log_h0[0] + density, found.log_h1[0] + density

    mode = minimize(lambda t: -max(log_target(t)), np.full(2, np.log(plan.typical)), method="Nelder-Mead").x

    def end(direction):
        """How far from the mode the integrand is negligible."""
        reach = 0.1
        while max(log_target(mode + reach * direction)) > max(log_target(mode)) - 25:
            reach *= 1.2
        return reach

    first, second = np.eye(2)
    axes = [np.linspace(m - end(-d), m + end(d), nodes) for m, d in zip(mode, (first, second), strict=True)]
    values = np.array([[log_target(np.array([a, b])) for b in axes[1]] for a in axes[0]])
    edges = np.concatenate([values[0], values[-1], values[:, 0], values[:, -1]])
    assert (edges.max(axis=0) < values.max(axis=(0, 1)) - 12).all()
    log_h0, log_h1 = (np.logaddexp.reduce(values[:, :, h], axis=None) for h in (0, 1))
    return log_h1 - log_h0


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "shift"), [(1, 1.7), (1, 1.8)])
def test_several_lengthscales_agree_with_tensor_quadrature(seed, shift):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(N, 2)), rng.normal(size=(N, 2))
    y[:, 0] += shift
    exact = tensor_quadrature(x, y, POINTS, "paper")
    coarse = tensor_quadrature(x, y, POINTS, "paper", nodes=27)
    assert abs(exact - coarse) < 1e-3
    sampled = ts.gibbs(
        x, y, model="paper", kernel="ard", points=POINTS, chains=2, steps=1200, burn_in=200, rng=seed, early_stop=False
    )
    assert sampled.evidence.error < 0.05
    assert abs(sampled.log_bf10 - exact) < 3.0 * sampled.evidence.error
    # And so does the chain, where it visits both hypotheses.
    assert sampled.diagnostics.switches.min() > 5
    assert abs(sampled.prob_h1 - 1 / (1 + np.exp(-exact))) < 3.0 * sampled.prob_h1_error


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::twosample.errors.ConvergenceWarning")
@pytest.mark.parametrize(("model", "change", "trials"), [("paper", "spread", 6), ("adaptive", "shift", 20)])
def test_relevance_ranks_the_two_columns_of_six_that_differ_first(model, change, trials):
    first = 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(60, 6)), rng.normal(size=(60, 6))
        differ = rng.choice(6, 2, replace=False)
        y[:, differ] = 3.0 * y[:, differ] if change == "spread" else y[:, differ] + 1.5
        found = ts.gibbs(
            x,
            y,
            model=model,
            kernel="ard",
            points=16,
            chains=1,
            steps=130,
            burn_in=40,
            hmc_steps=2,
            adapt_steps=2,
            thinning=1,
            early_stop=False,
        ).relevance
        assert (found.loss_error > 0).all() and (np.diff(found.loss) <= 0).all()
        first += set(found.columns[:2]) == {str(column) for column in differ}
    assert first >= 0.9 * trials - 0.5
