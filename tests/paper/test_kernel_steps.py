"""The sampler on posteriors that are known, and its diagnostics."""

import dataclasses
import warnings
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np
import pytest
from blackjax.diagnostics import effective_sample_size
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, signal, stats
from scipy.special import expit

from twosample.paper import kernel_steps
from twosample.paper.chains import Settings, effective_size, r_hat
from twosample.paper.density import Curves
from twosample.paper.kernel_steps import sample

# ---- posteriors that are known


@dataclass(frozen=True)
class Gaussians:
    """Two Gaussians for the position under the two hypotheses and a Bayes factor that is log-linear in it.

    The data are their means and standard deviations and the coefficients, so that all are of one shape.
    """

    flat_under_h0 = False

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
    flat_under_h0 = False

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


@pytest.mark.slow
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


@pytest.mark.slow
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
    monkeypatch.setattr(kernel_steps, "_CHUNK", 7)
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
    # The terms, of about 1, may cancel.
    assert_allclose(chains.log_bf10, data["offset"] + chains.positions @ data["slope"], rtol=1e-12, atol=1e-14)


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
    before = kernel_steps._advance._cache_size()
    for seed in range(4):
        data, _ = coherent([0.1 * seed, 1.0], [1.0, 2.0], [0.5, seed], -0.5)
        settings = replace(QUICK, chains=1 + seed, steps=40 + 7 * seed, burn_in=5 * seed)
        sample(TOY, data, settings, seed, log_prior_odds=0.3 * seed)
        sample(TOY, data, settings, seed, hypotheses=np.arange(1 + seed) % 2)
    assert kernel_steps._advance._cache_size() == before


def test_compiled_anew_for_another_number_of_transitions():
    sample(TOY, MIXING[0], QUICK, 3)
    before = kernel_steps._advance._cache_size()
    more = sample(TOY, MIXING[0], replace(QUICK, hmc_steps=4), 3)
    assert kernel_steps._advance._cache_size() == before + 1
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
    reference = effective_sample_size(series)
    assert found == pytest.approx(float(reference), rel=1e-3)  # BlackJAX's, which is in single precision here


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
    monkeypatch.setattr(kernel_steps.jax, "default_backend", lambda: "gpu")
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


def test_chains_of_a_posterior_with_two_peaks_disagree():
    """Each hypothesis has a peak of its own that its Bayes factor never leaves."""
    data, _ = coherent([-20.0, 0.0], [1.0, 1.0], [40.0, 0.0], 0.0)
    chains = sample(TOY, data, replace(QUICK, steps=400, burn_in=100, chains=4), 2)
    assert (chains.switches == 0).all()
    assert r_hat(chains.positions[:, :, 0]) > 5


@pytest.mark.parametrize("burn_in", [0, 4, 10, 20, 50])
def test_chains_move_after_a_short_burn_in(burn_in):
    data, _ = coherent([0.0, 0.0], [0.1, 0.1], [3.0, 0.0], 0.0)
    chains = sample(TOY, data, replace(QUICK, burn_in=burn_in, steps=100), 7)
    assert (chains.acceptance > 0.3).all()
    assert (chains.positions.std(axis=1) > 0.02).all()
