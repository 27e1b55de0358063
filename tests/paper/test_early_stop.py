"""Chains that stop once they have converged, and what is said about how long they take."""

import itertools
import json
import subprocess
import sys
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import twosample as ts
from twosample.errors import InputTypeError
from twosample.paper import kernel_steps, watching
from twosample.paper.chains import Chains, Settings, known_well
from twosample.paper.density import Curves
from twosample.paper.gibbs_result import GibbsDiagnostics
from twosample.paper.kernel_steps import sample

SETTINGS = Settings(steps=4000, burn_in=100, thinning=2, hmc_steps=3, adapt_steps=3, chains=4, early_stop=True)
# Of the size of other tests of the sampler, which is compiled once for each.
OPTIONS = {"points": 8, "chains": 2, "steps": 3000, "burn_in": 60, "hmc_steps": 3, "rng": 1}


class Normal:
    """One normal parameter, whatever the hypothesis, and a coin for that."""

    flat_under_h0 = False

    def start(self, data):
        return jnp.zeros(1)

    def log_prior(self, position):
        return -0.5 * jnp.sum(position**2)

    def curves(self, position, data):
        return Curves(0.0 * position[0], 0.0 * position[0], 0.1 * position[0])


NORMAL = Normal()


class Flat(Normal):
    flat_under_h0 = True

    def curves(self, position, data):
        return Curves(0.0 * position[0], position[0], position[0])


class Looking(Flat):
    """The same, and the data are looked at under H0 too."""

    flat_under_h0 = False


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(2)
    return rng.normal(size=24), rng.normal(0.6, 1.0, size=24)


@pytest.fixture(scope="module")
def stopped(samples):
    return ts.gibbs(*samples, **OPTIONS)


def test_sampling_ends_where_it_is_enough():
    seen = []

    def enough(chains):
        seen.append(chains)
        return len(seen) == 3

    chains = sample(NORMAL, None, SETTINGS, 1, enough=enough)
    assert [one.steps for one in seen] == [200, 300, 400] and chains.steps == 400
    assert chains.positions.shape == (4, 150, 1)
    whole = sample(NORMAL, None, replace(SETTINGS, steps=400), 1)
    np.testing.assert_array_equal(chains.positions, whole.positions)  # and what was drawn is the same
    np.testing.assert_array_equal(chains.switches, whole.switches)


def test_looks_do_not_compile_anything():
    sample(NORMAL, None, replace(SETTINGS, steps=200), 1)
    before = kernel_steps._advance._cache_size()
    sample(NORMAL, None, SETTINGS, 2, enough=lambda chains: chains.steps >= 600)
    assert kernel_steps._advance._cache_size() == before


def test_under_h0_the_data_need_not_be_looked_at():
    """Where they say nothing there, the chains are the same."""
    settings = replace(SETTINGS, steps=300)
    chains = [sample(posterior, None, settings, 3) for posterior in (Flat(), Looking())]
    np.testing.assert_allclose(chains[0].positions, chains[1].positions, rtol=1e-9)
    assert chains[0].switches.sum() > 20


def test_the_result_says_when_and_why(stopped, samples):
    diagnostics = stopped.diagnostics
    assert diagnostics.stopped == "converged"
    assert 60 < diagnostics.steps < 3000 and (diagnostics.steps - 60) % 100 == 0
    assert stopped.labels.shape == (2, (diagnostics.steps - 60) // 2)
    assert stopped.settings.steps == 3000 and stopped.settings.early_stop
    assert diagnostics.largest_r_hat <= 1.01 and diagnostics.smallest_ess >= 400 and stopped.prob_h1_error <= 0.01
    assert f"2 chains of {diagnostics.steps} steps (60 burn-in), converged before 3000" in stopped.summary()
    exact = ts.test(*samples, points=8, subsets=None)
    assert abs(stopped.prob_h1 - exact.prob_h1) < 4 * stopped.prob_h1_error
    assert ts.GibbsResult.from_json(stopped.to_json()).summary() == stopped.summary()


def test_all_steps_where_that_is_wanted(samples):
    result = ts.gibbs(*samples, **OPTIONS | {"steps": 1500}, early_stop=False)
    assert (result.diagnostics.steps, result.diagnostics.stopped) == (1500, "steps")
    assert "2 chains of 1500 steps (60 burn-in), " in result.summary()
    assert "converged" not in result.summary()


def test_files_of_older_versions(stopped):
    content = stopped.to_dict()
    for name in ("steps", "stopped", "flat"):
        del content["diagnostics"][name]
    del content["settings"]["early_stop"]
    old = ts.GibbsResult.from_json(json.dumps(content))
    assert (old.diagnostics.steps, old.diagnostics.stopped) == (None, "steps")
    assert isinstance(old.diagnostics, GibbsDiagnostics) and "of 3000 steps" in old.summary()


@pytest.mark.parametrize("value", ["yes", None, 1, np.zeros(2)])
def test_early_stop_is_true_or_false(value, samples):
    with pytest.raises(InputTypeError, match=r"^early_stop: must be True or False"):
        ts.gibbs(*samples, early_stop=value)


# ---- when it is enough


class Identity:
    def lengthscales_of(self, positions, data):
        return np.exp(positions)


def chains_of(log_bf10, positions=None, given=None, steps=400):
    rng = np.random.default_rng(4)
    shape = log_bf10.shape
    given = rng.integers(0, 2, shape) if given is None else given
    positions = rng.normal(size=(*shape, 2)) if positions is None else positions
    return Chains(positions, given, given, log_bf10, *(np.zeros(shape[0]) for _ in range(5)), steps=steps)


def is_enough(chains, evidence=False, **settings):
    return watching.converged(Identity(), None, replace(SETTINGS, **settings), 0.0, evidence, chains)


def test_what_is_enough():
    rng = np.random.default_rng(3)
    log_bf10 = 0.1 * rng.normal(size=(4, 250))
    good = chains_of(log_bf10)
    assert is_enough(good)
    drifting = good.positions.copy()
    drifting[2, :, 1] += 0.5
    assert not is_enough(chains_of(log_bf10, drifting))
    assert not is_enough(chains_of(log_bf10[:, :60]))  # too few draws
    assert not is_enough(chains_of(60.0 * log_bf10))  # P(H1) is not known to 0.01


def test_one_hypothesis_was_never_visited():
    log_bf10 = 5.0 + 0.1 * np.random.default_rng(3).normal(size=(4, 250))
    never = chains_of(log_bf10, given=np.ones((4, 250), dtype=int))
    assert not is_enough(never)  # a visit has a chance of e⁻⁵ in each of 4 × 3600 steps
    assert is_enough(never, evidence=True)  # other chains see to that
    hopeless = chains_of(log_bf10 + 30.0, given=np.ones((4, 250), dtype=int))
    assert is_enough(hopeless)


def test_what_is_known_well():
    rng = np.random.default_rng(6)
    assert known_well([])
    assert known_well([rng.normal(size=(4, 200))])
    assert not known_well([rng.normal(size=(4, 200)), rng.normal(size=(4, 50))])
    assert not known_well([rng.normal(size=(4, 200)) + np.arange(4.0)[:, None]])
    assert not known_well([rng.normal(size=(4, 200)), np.cumsum(rng.normal(size=(4, 200)), axis=1)])


# ---- how long it takes


class Clock:
    def __init__(self, seconds):
        self._times = itertools.chain(seconds)

    def monotonic(self):
        return next(self._times)


@pytest.mark.parametrize(
    ("seconds", "apart", "early", "words"),
    [
        # Two hundredths in 7.2 s: 98 of them are left, of 3 times as many chains; compilation is not counted.
        (7.2, False, True, ["about 12 min for at most 2,000 steps of 4 chains"]),
        (7.2, False, False, ["about 12 min for 2,000 steps of 4 chains"]),
        (7.2, True, True, ["about 36 min for at most 2,000 steps of 4 chains, and of 8 under one hypothesis each"]),
        (0.05, False, True, []),
    ],
)
def test_an_estimate_after_the_first_steps(seconds, apart, early, words, monkeypatch):
    said, shares = [], []
    monkeypatch.setattr(watching, "announce", lambda report, text: said.append(text))
    monkeypatch.setattr(watching, "time", Clock([100.0, 100.0 + seconds]))
    monkeypatch.setattr(watching, "cores", lambda: 2)
    settings = Settings(early_stop=early)
    progress = watching.Progress(
        lambda share, text="": shares.append(share), settings, replace(settings, chains=8) if apart else None
    )
    for share in (0.01, 0.02, 0.03):
        progress.mixed(share, [])
    progress.finish()
    assert said == words
    assert shares == pytest.approx([part / (3 if apart else 1) for part in (0.01, 0.02, 0.03)] + [1.0])


def test_lines_of_the_command_in_a_pipe(tmp_path):
    rng = np.random.default_rng(1)
    for name in ("a", "b"):
        np.savetxt(tmp_path / f"{name}.csv", rng.normal(size=24), header="u", comments="")
    script = (
        "from twosample import cli; from twosample.common import progress; from twosample.paper import watching\n"
        "progress._LINE_EVERY_SECONDS, watching._WORTH_SAYING_SECONDS = 0.05, 0.0\n"
        "cli.main('gibbs a.csv b.csv --points 8 --hmc-steps 3 --steps 200 --burn-in 100 --chains 2 -q'.split())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    lines = done.stderr.splitlines()
    assert done.returncode == 0 and len(done.stdout.split()) == 2
    assert lines[0] == "twosample: 0 % done"  # while it compiles
    assert sum("for at most 200 steps of 2 chains" in line for line in lines) == 1
    assert any("% done, about 10 s left" in line for line in lines)
