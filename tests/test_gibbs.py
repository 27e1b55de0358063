"""The sampler on posteriors that are known, its diagnostics, and `ts.gibbs` with what it returns."""

import dataclasses
import math
import sys
import warnings
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, signal, stats
from scipy.special import expit

import twosample as ts
from twosample import models, sampling
from twosample.errors import (
    AccuracyWarning,
    ConvergenceWarning,
    DroppedDataWarning,
    InputError,
    InputTypeError,
    MissingExtraError,
)
from twosample.gibbs_result import BridgeEstimate, GibbsResult
from twosample.posterior import gibbs
from twosample.posterior.chains import Settings
from twosample.posterior.density import Curves
from twosample.posterior.gibbs import effective_size, r_hat, sample
from twosample.sampling import doubts

# ---- posteriors that are known


@dataclass(frozen=True)
class Gaussians:
    """Two Gaussians for the position under the two hypotheses and a Bayes factor that is log-linear in it.

    The data are their means and standard deviations and the coefficients, so that all are of one shape.
    """

    def start(self, data):
        return 0.5 * (data["mean"][0] + data["mean"][1])

    def log_prior(self, position):
        return -0.5 * jnp.sum(position**2)

    def curves(self, position, data):
        # What the prior does not say of the Gaussians.
        h0, h1 = (
            0.5 * jnp.sum(position**2 - ((position - mean) / sd) ** 2)
            for mean, sd in zip(data["mean"], data["sd"], strict=True)
        )
        return Curves(h0, h1, data["offset"] + data["slope"] @ position)


TOY = Gaussians()


def toy_data(mean_h0, mean_h1, sd_h0, sd_h1, offset, slope):
    return {
        "mean": np.array([mean_h0, mean_h1], dtype=float),
        "sd": np.array([sd_h0, sd_h1], dtype=float),
        "offset": np.float64(offset),
        "slope": np.array(slope, dtype=float),
    }


def coherent(mean, sd, slope, offset):
    """Data for which the two densities differ by the Bayes factor, and log BF10."""
    mean, sd, slope = (np.asarray(part, dtype=float) for part in (mean, sd, slope))
    # e^{slope·θ} times a Gaussian is a Gaussian with its mean moved by sd² slope.
    log_bf10 = offset + slope @ mean + 0.5 * np.sum((slope * sd) ** 2)
    return toy_data(mean, mean + sd**2 * slope, sd, sd, offset, slope), log_bf10


MIXING = coherent([0.5, -1.0], [0.7, 2.0], [0.9, -0.4], -0.8)
QUICK = Settings(steps=60, burn_in=20, thinning=2, hmc_steps=3, adapt_steps=3, chains=2)


def assert_mean(series, expected, errors=4.0):
    """That the mean of the chains is the expected one within some errors, which 25 batches of each chain tell."""
    batches = np.array_split(series, 25, axis=1)
    means = np.array([batch.mean(axis=1) for batch in batches])
    error = means.std(ddof=1) / np.sqrt(means.size)
    assert abs(series.mean() - expected) < errors * error, (series.mean(), expected, error)


@pytest.mark.parametrize(
    ("mean", "sd", "slope", "offset", "log_odds"),
    [
        ([0.5, -1.0], [0.7, 2.0], [0.9, -0.4], -0.8, 0.0),
        ([0.0, 3.0], [0.05, 1.0], [10.0, 0.3], -1.0, 1.2),
        ([-2.0, 0.0], [1.0, 30.0], [0.5, 0.03], 0.3, -0.5),
    ],
)
def test_means_variances_and_probabilities_are_right(mean, sd, slope, offset, log_odds):
    data, log_bf10 = coherent(mean, sd, slope, offset)
    settings = Settings(steps=3000, burn_in=500, thinning=2, hmc_steps=3, adapt_steps=3, chains=4)
    chains = sample(TOY, data, settings, seed=5, log_prior_odds=log_odds)
    prob_h1 = expit(log_bf10 + log_odds)
    assert_mean(expit(chains.log_bf10 + log_odds), prob_h1)
    # The position goes with the hypothesis it was drawn under, and with the one that was drawn given it.
    for labels in (chains.given, chains.labels):
        assert_mean(labels, prob_h1)
        for hypothesis, share in ((0, 1 - prob_h1), (1, prob_h1)):
            under = labels == hypothesis
            for index in range(2):
                centre, spread = data["mean"][hypothesis, index], data["sd"][hypothesis, index]
                assert_mean(under * (chains.positions[:, :, index] - centre) / spread, 0.0)
                assert_mean(under * ((chains.positions[:, :, index] - centre) / spread) ** 2, share)
    assert (chains.divergences == 0).all()
    assert ((chains.acceptance > 0.6) & (chains.acceptance < 0.97)).all()


@pytest.mark.parametrize(
    ("mean_h0", "mean_h1", "sd_h0", "sd_h1", "offset", "slope"),
    [(-1.0, 1.0, 1.0, 1.0, -0.3, 0.7), (0.0, 0.5, 1.5, 0.4, 1.0, -1.0), (2.0, -1.0, 0.5, 1.0, -1.0, 1.0)],
)
def test_conditionals_that_belong_to_no_joint_law(mean_h0, mean_h1, sd_h0, sd_h1, offset, slope):
    """The hypothesis is then a chain of two states that moves up with probability α and down with probability β."""

    def mean_of(probability, mean, sd):
        return integrate.quad(
            lambda t: probability(offset + slope * t) * stats.norm.pdf(t, mean, sd), mean - 9 * sd, mean + 9 * sd
        )[0]

    alpha = mean_of(expit, mean_h0, sd_h0)
    beta = mean_of(lambda t: expit(-t), mean_h1, sd_h1)
    data = toy_data([mean_h0, 0.0], [mean_h1, 0.0], [sd_h0, 1.0], [sd_h1, 1.0], offset, [slope, 0.0])
    settings = Settings(steps=4000, burn_in=500, thinning=1, hmc_steps=3, adapt_steps=3, chains=4)
    chains = sample(TOY, data, settings, seed=6)
    assert_mean(chains.labels, alpha / (alpha + beta))
    assert_mean(expit(chains.log_bf10), alpha / (alpha + beta))
    # Under each hypothesis the position has that hypothesis's law, whatever the Bayes factor says.
    for hypothesis, mean, sd in ((0, mean_h0, sd_h0), (1, mean_h1, sd_h1)):
        under = chains.given == hypothesis
        assert_mean(under * (chains.positions[:, :, 0] - mean) / sd, 0.0)


# ---- simulation-based calibration


@dataclass(frozen=True)
class Scales:
    """Θ ~ Gamma(2, 2); rows N(0, θ²) under H0, N(θ, θ²) under H1. Sampled on log θ."""

    jacobian: bool = True

    def start(self, data):
        return jnp.log(jnp.mean(jnp.abs(data)))[None]

    def log_prior(self, position):
        return jnp.sum((2.0 if self.jacobian else 1.0) * position - 2.0 * jnp.exp(position))

    def curves(self, position, data):
        rows, log_scales = data * jnp.exp(-position[0]), -len(data) * position[0]
        h0, h1 = (log_scales - 0.5 * jnp.sum((rows - mean) ** 2) for mean in (0.0, 1.0))
        return Curves(h0, h1, h1 - h0)


CALIBRATION = Settings(steps=160, burn_in=40, thinning=6, hmc_steps=3, adapt_steps=3, chains=1)


def calibrate(posterior, count=250):
    """Ranks of the true θ and of the true hypothesis among 20 draws, the hypotheses, and the P(H1) found."""
    rng = np.random.default_rng(11)
    ranks_scale, ranks_label, labels, probabilities = [], [], [], []
    for seed in range(count):
        scale, label = rng.gamma(2.0, 0.5), int(rng.integers(2))
        data = rng.normal(label * scale, scale, size=4)
        chains = sample(posterior, data, CALIBRATION, seed)
        ranks_scale.append(int((chains.positions[0, :, 0] < np.log(scale)).sum()))
        below, ties = (chains.labels[0] < label).sum(), (chains.labels[0] == label).sum()
        ranks_label.append(int(below + rng.integers(ties + 1)))
        labels.append(label)
        probabilities.append(float(expit(chains.log_bf10).mean()))
    assert chains.labels.shape == (1, 20)
    return (*map(np.array, (ranks_scale, ranks_label, labels, probabilities)),)


def uniformity(ranks, bins=7):
    """P-value of the chi-square test that ranks 0 to 20 are equally frequent, in bins of three."""
    return stats.chisquare(np.histogram(ranks, bins=bins, range=(-0.5, 20.5))[0]).pvalue


def test_simulation_based_calibration():
    ranks_scale, ranks_label, labels, probabilities = calibrate(Scales())
    assert uniformity(ranks_scale) > 1e-3
    assert uniformity(ranks_label) > 1e-3
    # P(H1 | data) is calibrated: overall, and where it is small, middling or large.
    groups = np.digitize(probabilities, np.quantile(probabilities, [1 / 3, 2 / 3]))
    for among in (groups >= 0, groups == 0, groups == 1, groups == 2):
        error = np.sqrt((probabilities[among] * (1 - probabilities[among])).sum()) / among.sum()
        assert abs(labels[among].mean() - probabilities[among].mean()) < 4 * error
    # Both hypotheses were a matter of doubt, not a foregone conclusion.
    assert ((probabilities > 0.1) & (probabilities < 0.9)).mean() > 0.4


def test_calibration_can_fail():
    """A prior of log θ without the Jacobian of the transformation is found out."""
    ranks_scale, *_ = calibrate(Scales(jacobian=False))
    assert uniformity(ranks_scale) < 1e-3


# ---- seeds, chains, steps


def assert_same_chains(first, second):
    for field in dataclasses.fields(first):
        assert_array_equal(getattr(first, field.name), getattr(second, field.name), err_msg=field.name)


def test_the_seed_decides_everything():
    data, _ = MIXING
    first, again, other = (sample(TOY, data, QUICK, seed) for seed in (3, 3, 4))
    assert_same_chains(first, again)
    assert (first.positions != other.positions).all()
    assert (first.positions[0] != first.positions[1]).all()


def test_a_chain_does_not_depend_on_those_beside_it():
    data, _ = MIXING
    two, five = (sample(TOY, data, replace(QUICK, chains=count), 3) for count in (2, 5))
    assert_array_equal(five.positions[:2], two.positions)
    assert_array_equal(five.labels[:2], two.labels)
    assert_array_equal(five.step_sizes[:2], two.step_sizes)


@pytest.mark.parametrize("steps", [60, 61])
def test_the_result_does_not_depend_on_the_chunks(monkeypatch, steps):
    data, _ = MIXING
    settings = replace(QUICK, steps=steps, thinning=1)
    default = sample(TOY, data, settings, 3)
    monkeypatch.setattr(gibbs, "_CHUNK", 7)
    other = sample(TOY, data, settings, 3)
    assert_array_equal(other.labels, default.labels)
    assert_allclose(other.positions, default.positions, rtol=1e-9)
    assert_allclose(other.acceptance, default.acceptance, rtol=1e-9)
    assert_array_equal(other.switches, default.switches)


@pytest.mark.parametrize(
    ("steps", "burn_in", "thinning", "kept"),
    [(60, 20, 1, 40), (60, 20, 2, 20), (60, 21, 2, 19), (57, 20, 5, 7), (60, 0, 7, 8), (8, 4, 1, 4)],
)
def test_counts_of_burn_in_and_thinning(steps, burn_in, thinning, kept):
    data, _ = MIXING
    settings = replace(QUICK, steps=steps, burn_in=burn_in, thinning=thinning)
    chains = sample(TOY, data, settings, 3)
    assert chains.positions.shape == (2, kept, 2)
    assert chains.given.shape == chains.labels.shape == chains.log_bf10.shape == (2, kept)
    for part in (chains.switches, chains.divergences, chains.acceptance, chains.leapfrogs, chains.step_sizes):
        assert part.shape == (2,)
    assert {chains.given.dtype, chains.labels.dtype, chains.switches.dtype} == {np.dtype(np.int64)}
    assert chains.positions.dtype == np.float64
    # The rest are the same chains, only fewer of their steps.
    every = sample(TOY, data, replace(settings, thinning=1), 3)
    assert_array_equal(every.positions[:, thinning - 1 :: thinning][:, :kept], chains.positions)
    assert_array_equal(every.switches, chains.switches)


def test_what_is_recorded_of_a_step():
    data, _ = MIXING
    chains = sample(TOY, data, replace(QUICK, thinning=1), 3)
    assert_array_equal(chains.given[:, 1:], chains.labels[:, :-1])
    assert_allclose(chains.log_bf10, data["offset"] + chains.positions @ data["slope"], rtol=1e-12)
    assert_array_equal(chains.switches, (chains.given != chains.labels).sum(axis=1))
    assert set(np.unique(chains.labels)) == {0, 1}


def test_fixed_hypotheses():
    data, _ = MIXING
    hypotheses = np.array([0, 1, 1, 0])
    settings = Settings(steps=1300, burn_in=300, thinning=1, hmc_steps=3, adapt_steps=3, chains=4)
    chains = sample(TOY, data, settings, 3, hypotheses=hypotheses)
    assert_array_equal(chains.given, np.repeat(hypotheses[:, None], 1000, axis=1))
    assert_array_equal(chains.labels, chains.given)
    assert_array_equal(chains.switches, np.zeros(4))
    for hypothesis in (0, 1):
        positions = chains.positions[hypotheses == hypothesis]
        for index in range(2):
            assert_mean(positions[:, :, index], data["mean"][hypothesis, index])
    assert_allclose(chains.log_bf10, data["offset"] + chains.positions @ data["slope"], rtol=1e-12)


def test_prior_odds_that_leave_no_doubt():
    data, _ = MIXING
    for log_odds, label in ((1000.0, 1), (-1000.0, 0)):
        chains = sample(TOY, data, QUICK, 3, log_prior_odds=log_odds)
        assert (chains.labels == label).all()


@pytest.mark.parametrize("steps", [60, 50, 61, 8])
def test_report(steps):
    data, _ = MIXING
    shares, means = [], []

    def report(share, probabilities):
        shares.append(share)
        means.append(list(probabilities))

    sample(TOY, data, replace(QUICK, steps=steps, burn_in=min(20, steps - 4)), 3, report=report)
    assert shares == sorted(set(shares)) and 0 < shares[0] and shares[-1] == 1.0
    assert [len(part) for part in means] == sorted(len(part) for part in means)
    assert all(0 < value < 1 for value in means[-1])
    if steps == 60:
        assert means[0] == [] and len(means[-1]) == 2


def test_compiled_once_for_data_of_one_shape():
    sample(TOY, MIXING[0], QUICK, 3)
    before = gibbs._advance._cache_size()
    for seed in range(4):
        data, _ = coherent([0.1 * seed, 1.0], [1.0, 2.0], [0.5, seed], -0.5)
        settings = replace(QUICK, chains=1 + seed, steps=40 + 7 * seed, burn_in=5 * seed)
        sample(TOY, data, settings, seed, log_prior_odds=0.3 * seed)
        sample(TOY, data, settings, seed, hypotheses=np.arange(1 + seed) % 2)
    assert gibbs._advance._cache_size() == before


def test_compiled_anew_for_another_number_of_transitions():
    sample(TOY, MIXING[0], QUICK, 3)
    before = gibbs._advance._cache_size()
    more = sample(TOY, MIXING[0], replace(QUICK, hmc_steps=4), 3)
    assert gibbs._advance._cache_size() == before + 1
    assert (more.positions != sample(TOY, MIXING[0], QUICK, 3).positions).any()


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_step_size_and_metric_are_tuned_to_the_scale(scale):
    data, _ = coherent([0.0, 0.0], [scale, 2 * scale], [0.3 / scale, 0.1 / scale], 0.0)
    settings = Settings(steps=600, burn_in=400, thinning=1, hmc_steps=3, adapt_steps=3, chains=2)
    chains = sample(TOY, data, settings, 7)
    assert ((chains.acceptance > 0.6) & (chains.acceptance < 0.97)).all()
    assert (chains.leapfrogs < 16).all()
    assert_mean(chains.positions[:, :, 0] / scale, float(np.mean([0.0, 0.3])), errors=5.0)


# ---- diagnostics of chains


def autoregressive(seed, coefficient, chains=4, draws=4000):
    noise = np.random.default_rng(seed).normal(size=(chains, draws + 200))
    return signal.lfilter([1.0], [1.0, -coefficient], noise)[:, 200:]


@pytest.fixture(scope="module")
def arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return pytest.importorskip("arviz")


@pytest.mark.parametrize("coefficient", [0.0, 0.3, 0.6, 0.9])
def test_effective_size_of_autoregressive_chains(coefficient, arviz):
    series = autoregressive(1, coefficient)
    found = effective_size(series)
    assert found == pytest.approx(series.size * (1 - coefficient) / (1 + coefficient), rel=0.2)
    assert found == pytest.approx(float(arviz.ess(series, method="mean")), rel=0.1)


@pytest.mark.parametrize("shift", [0.0, 0.1, 1.0])
def test_r_hat_is_that_of_arviz(shift, arviz):
    series = autoregressive(2, 0.5, draws=400) + shift * np.arange(4)[:, None]
    assert r_hat(series) == pytest.approx(float(arviz.rhat(series, method="split")), rel=1e-9)
    assert (r_hat(series) > 1.05) == (shift == 1.0)


def test_r_hat_sees_a_single_chain_that_drifts():
    assert r_hat(np.linspace(0, 10, 400)[None] + autoregressive(3, 0.0, 1, 400)) > 1.5


def test_chains_as_one_batch_are_the_chains_in_threads(monkeypatch):
    """What an accelerator runs, on the processor."""
    data, _ = MIXING
    one_by_one = sample(TOY, data, QUICK, 5)
    monkeypatch.setattr(gibbs.jax, "default_backend", lambda: "gpu")
    at_once = sample(TOY, data, QUICK, 5)
    np.testing.assert_allclose(at_once.positions, one_by_one.positions, rtol=1e-6)
    np.testing.assert_array_equal(at_once.labels, one_by_one.labels)


def test_constant_series():
    assert effective_size(np.full((3, 50), 0.7)) == 150
    assert r_hat(np.full((3, 50), 0.7)) == 1.0


def test_chains_stuck_at_different_values():
    series = np.repeat([[0.0], [1.0], [1.0]], 50, axis=1)
    assert r_hat(series) == 1000  # at most: a result must be JSON
    assert effective_size(series) <= 3
    nearly = series + 1e-6 * autoregressive(4, 0.0, 3, 50)
    assert r_hat(nearly) == 1000
    assert effective_size(nearly) <= 3.5


def test_one_chain_stuck_among_others():
    series = autoregressive(5, 0.0, 4, 400)
    series[2] = 5.0
    assert r_hat(series) > 1.5
    assert 0 < effective_size(series) < 400


@pytest.mark.parametrize(("chains", "draws"), [(1, 4), (2, 5)])
def test_few_draws(chains, draws):
    series = autoregressive(6, 0.0, chains, draws)
    assert effective_size(series) > 0
    assert r_hat(series) > 0


@pytest.mark.parametrize(
    "burn_in",
    [
        0,
        4,
        10,
        20,
        50,
    ],
)
def test_chains_move_after_a_short_burn_in(burn_in):
    data, _ = coherent([0.0, 0.0], [0.1, 0.1], [3.0, 0.0], 0.0)
    chains = sample(TOY, data, replace(QUICK, burn_in=burn_in, steps=100), 7)
    assert (chains.acceptance > 0.3).all()
    assert (chains.positions.std(axis=1) > 0.02).all()


# ---- ts.gibbs


OPTIONS = {"points": 8, "chains": 2, "steps": 400, "burn_in": 100, "hmc_steps": 3}


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
    return quietly(*draw(), model="adaptive")


def test_one_lengthscale(one):
    assert isinstance(one, GibbsResult)
    assert one.labels.shape == one.given.shape == one.log_bf10_given.shape == (2, 150)
    assert one.lengthscales.shape == (2, 150, 1) and (one.lengthscales > 0).all()
    assert one.amplitudes is None and one.evidence is None and one.relevance is None
    assert (one.kernel, one.model, one.prior_odds) == ("rbf", models.PRESETS["paper"], 1.0)
    assert (one.n_x, one.n_y, one.columns, one.paired) == (24, 24, ("0",), False)
    assert one.points.shape == (8, 1)
    assert one.settings == Settings(400, 100, 2, 3, 3, 2)
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
    assert (np.diff(found.shortening) <= 0).all()
    assert (found.error > 0).all()
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
    shift, covered, errors = np.array([0.5, 0.0]), [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        h0, h1 = rng.normal(size=(2, 100, 2)), rng.normal(size=(2, 100, 2)) - shift
        log_ratio = -(np.concatenate([h0, h1]) * shift).sum(axis=2) - 0.5 * (shift**2).sum()
        found = sampling._relevance(("a", "b"), np.exp(h0), np.exp(h1), log_ratio if weighted else None)
        truth = np.array([shift[0] if name == "a" else 0.0 for name in found.columns])
        covered.append(np.abs(found.shortening - truth) < 2 * found.error)
        errors.append(found.error[list(found.columns).index("a")])
        exact = 0.5 * (1 + math.erf(shift[0] / 2))
        assert abs(found.probability[list(found.columns).index("a")] - exact) < 0.15
    assert 0.9 < np.mean(covered) < 0.99
    assert (np.mean(errors) < 0.09) == weighted  # √(2/200) = 0.1 without the weights


def test_amplitudes(adaptive):
    assert adaptive.amplitudes.shape == (2, 150)
    assert (adaptive.amplitudes > 0).all()
    assert adaptive.diagnostics.pairs == 0
    exact = ts.test(*draw(), points=8)
    assert abs(adaptive.prob_h1 - exact.prob_h1) < 4 * adaptive.prob_h1_error
    low, high = np.array([1 / 16, 8.0]) * adaptive.median_heuristic
    assert ((adaptive.lengthscales >= low) & (adaptive.lengthscales <= high)).all()


def test_draws_under_a_hypothesis(one, several):
    for hypothesis in (0, 1):
        assert_array_equal(one.lengthscale_draws(hypothesis), one.lengthscales[one.given == hypothesis])
        assert several.lengthscale_draws(hypothesis).shape == (300, 2)
    with pytest.raises(InputError, match=r"^hypothesis"):
        one.lengthscale_draws(2)


def test_bridge_for_one_lengthscale_of_each_model():
    """The evidence can be asked for; for "published" it is the odds of the alternating chain, at its prior odds."""
    for model, prior_odds, shift in (("paper", 1.0, 1.0), ("published", 3.0, 1.2)):
        x, y = draw(shift=shift)
        result = quietly(x, y, model=model, evidence=True, prior_odds=prior_odds)
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
    before = gibbs._advance._cache_size()
    for seed in range(2):
        quietly(*draw(seed=seed), steps=60, burn_in=20, chains=1 + seed, rng=seed, prior_odds=1.0 + seed)
    assert gibbs._advance._cache_size() == before


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
        ({"points": 1}, "points"),
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
        ts.gibbs(np.ones(9), np.ones(9))


@pytest.mark.parametrize("package", ["jax", "blackjax"])
def test_without_the_packages(monkeypatch, package):
    for name in ("twosample.posterior.gibbs", "twosample.posterior.density", "twosample.posterior.bridge"):
        monkeypatch.delitem(sys.modules, name)
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
    ((found, kind),) = doubts(doubted)
    assert kind is category
    with pytest.warns(category, match=words):
        warnings.warn(found, kind, stacklevel=1)


def test_doubts_about_the_bridge(good):
    """Without it, where only one hypothesis was visited; with it, where that is not enough."""
    draws = np.ones((2, 5, 1))
    for hypothesis in (0, 1):
        still = replace(
            good,
            given=np.full_like(good.given, hypothesis),
            diagnostics=replace(good.diagnostics, switches=np.array([0, 0])),
        )
        ((words, kind),) = doubts(still)
        assert "evidence=True" in words and kind is ConvergenceWarning
    assert list(doubts(replace(still, evidence=BridgeEstimate(9.0, 0.1, 0.3, draws, draws)))) == []
    ((words, kind),) = doubts(replace(still, evidence=BridgeEstimate(9.0, 0.1, 1e-4, draws, draws)))
    assert "hardly overlap (0.0001)" in words and kind is ConvergenceWarning


def test_chains_that_are_too_short_are_warned_of():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ts.gibbs(*draw(), **{**OPTIONS, "steps": 60, "burn_in": 40})
    assert [str(warning.message) for warning in caught] == list(result.diagnostics.notes)
    assert {warning.category for warning in caught} == {ConvergenceWarning}
    assert all(warning.filename == __file__ for warning in caught)
    assert "independent draws" in str(result)


def test_chains_of_a_posterior_with_two_peaks_disagree():
    """Each hypothesis has a peak of its own that its Bayes factor never leaves."""
    data, _ = coherent([-20.0, 0.0], [1.0, 1.0], [40.0, 0.0], 0.0)
    chains = sample(TOY, data, replace(QUICK, steps=400, burn_in=100, chains=4), 2)
    assert (chains.switches == 0).all()
    assert r_hat(chains.positions[:, :, 0]) > 5


def test_a_hypothesis_that_is_never_visited_leaves_log_bf10_uncertain():
    x, y = draw()
    result = quietly(x, 30.0 + y)
    assert not result.diagnostics.switches.any()
    assert result.log_bf10 > 100
    assert result.log_bf10_error > 0.1


# ---- the result


def assert_equal_records(first, second):
    assert type(first) is type(second)
    for field in dataclasses.fields(first):
        before, after = getattr(first, field.name), getattr(second, field.name)
        if dataclasses.is_dataclass(before):
            assert_equal_records(before, after)
        elif isinstance(before, np.ndarray):
            assert before.dtype == after.dtype, field.name
            assert_array_equal(before, after, err_msg=field.name)
        else:
            assert isinstance(after, type(before)) and before == after, field.name


@pytest.mark.parametrize("name", ["one", "several", "adaptive"])
def test_json_round_trip(request, tmp_path, name):
    result, path = request.getfixturevalue(name), tmp_path / "result.json"
    back = GibbsResult.from_json(result.to_json(path))
    assert_equal_records(back, result)
    assert_equal_records(GibbsResult.from_json(path), result)
    assert back.labels.dtype == back.given.dtype == back.diagnostics.switches.dtype == np.int64
    assert back.to_dict() == result.to_dict()
    assert str(back) == str(result)


def test_json_of_another_kind_of_result(one):
    with pytest.raises(InputError, match=r"^source"):
        GibbsResult.from_json(ts.test(*draw()).to_json())
    with pytest.raises(InputError, match=r"^source"):
        ts.TwoSampleResult.from_json(one.to_json())


def test_frozen(several):
    arrays = [
        *(several.labels, several.given, several.lengthscales, several.log_bf10_given, several.points, several.scale),
        *(several.evidence.lengthscales_h0, several.relevance.shortening, several.diagnostics.switches),
    ]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        several.prior_odds = 3.0


def test_repr_is_one_line(one):
    assert repr(one).startswith(f"GibbsResult(prob_h1={one.prob_h1:.4g}, ")
    assert one.verdict in repr(one)
    assert "\n" not in repr(one)


def test_summary(one, several):
    text = str(one)
    assert text == one.summary()
    assert text.splitlines()[0] == f"{one.verdict.capitalize()}."
    for words in ("24 and 24 rows, 1 column", "paper, kernel rbf, 8 evaluation", "2 chains of 400 steps (100 burn-in)"):
        assert words in text
    assert "bridge" not in text and "prior odds" not in text
    text = str(several)
    for words in ("(bridge)", "prior odds           2", "lengthscale 0 ", "lengthscale 1 ", "relevance"):
        assert words in text


def test_to_arviz(one, several, adaptive, arviz):
    for result in (one, several, adaptive):
        found = result.to_arviz()
        posterior, statistics = found["posterior"], found["sample_stats"]
        assert dict(posterior.sizes) == {"chain": 2, "draw": 150, "column": result.lengthscales.shape[-1]}
        assert_array_equal(posterior["different"], result.labels)
        assert_array_equal(posterior["lengthscale"], result.lengthscales)
        assert_array_equal(statistics["log_bf10"], result.log_bf10_given)
        assert_array_equal(statistics["lengthscale_given_different"], result.given)
        assert ("amplitude" in posterior) == (result.amplitudes is not None)
        summary = arviz.summary(found, var_names=["lengthscale"])
        assert len(summary) == result.lengthscales.shape[-1]
        assert_allclose(summary["mean"], result.lengthscales.mean(axis=(0, 1)), atol=1e-3)
    assert list(several.to_arviz()["posterior"]["column"].values) == ["0", "1"]
    assert_array_equal(adaptive.to_arviz()["posterior"]["amplitude"], adaptive.amplitudes)


@pytest.mark.parametrize("package", ["arviz", "xarray"])
def test_to_arviz_without_the_package(one, monkeypatch, package, arviz):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"^to_arviz needs .*twosample\[arviz\]"):
        one.to_arviz()
