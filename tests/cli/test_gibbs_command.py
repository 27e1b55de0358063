"""The sampler on the command line: its options, its files, its refusals."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import twosample as ts
from twosample.cli.commands import command_line

NUMBERS = ["u", "v"]
SHORT = {"columns": ["u"], "points": 8, "steps": 60, "burn_in": 20, "chains": 2}
SHORT_ARGS = "--columns u --points 8 --steps 60 --burn-in 20 --chains 2".split()


def sampled(first, second, columns, **options):
    with pytest.warns(ts.errors.ConvergenceWarning):
        return ts.gibbs(first.select(columns), second.select(columns), **options)


def test_help_of_gibbs_shows_every_option():
    shown = CliRunner().invoke(command_line, ["gibbs", "--help"], prog_name="twosample")
    assert shown.exit_code == 0
    for option in (
        "--by --groups --columns --paired --model --kernel --points --prior-odds --scale --nan-policy --steps "
        "--burn-in --thinning --hmc-steps --adapt-steps --chains --evidence --no-evidence --early-stop --no-early-stop "
        "--seed --json --plot --trace --quiet"
    ).split():
        assert option in shown.output
    assert "twosample gibbs before.csv after.csv" in shown.output


def test_gibbs_prints_the_summary_and_writes_files(run, files, first, second):
    # Of the size of other tests of the sampler, which is compiled once for each.
    first, second = first.head(24), second.head(24)
    first.write_csv("a.csv")
    second.write_csv("b.csv")
    args = [*SHORT_ARGS, "--hmc-steps", "3", "--json", "o.json", "--plot", "o.png", "--trace", "o.svg"]
    status, out, err = run("gibbs", "a.csv", "b.csv", *args)
    result = sampled(first, second, **SHORT, hmc_steps=3)
    assert status == 0
    assert out == f"x is 'a.csv', y is 'b.csv'.\n{result.summary()}\n"
    assert "\nnote: the chains" in f"\n{err}"  # after what is said of the progress
    assert "Warning" not in err
    assert ts.GibbsResult.from_json(Path("o.json")).prob_h1 == result.prob_h1
    assert Path("o.png").read_bytes().startswith(b"\x89PNG")
    assert "row a chain" in Path("o.svg").read_text()


@pytest.mark.slow
def test_gibbs_by_column_with_a_lengthscale_each(run, files, first, second, agrees):
    args = ["--by", "label", "--kernel", "ard", "--seed", "5", "-q"]
    status, out, _ = run("gibbs", "all.csv", *SHORT_ARGS[2:], *args)
    assert status == 0
    agrees(out, sampled(first, second, **SHORT | {"columns": NUMBERS}, kernel="ard", rng=5))


DEFAULTS = {
    "paired": False, "model": "adaptive", "kernel": "rbf", "points": 40, "prior_odds": 1.0, "scale": "auto",
    "nan_policy": "raise", "steps": 2000, "burn_in": 500, "thinning": 2, "hmc_steps": 9, "adapt_steps": 3, "chains": 4,
    "evidence": None, "early_stop": True, "rng": 0, "progress": True,
}  # fmt: skip


@pytest.mark.parametrize(
    "args, options",
    [
        ([], {}),
        (["--evidence"], {"evidence": True}),
        (["--no-evidence", "--kernel", "ard"], {"evidence": False, "kernel": "ard"}),
        (["--no-early-stop"], {"early_stop": False}),
        (["--thinning", "1", "--hmc-steps", "5"], {"thinning": 1, "hmc_steps": 5}),
        (["--model", "published", "--paired", "--seed", "7"], {"model": "published", "paired": True, "rng": 7}),
    ],
)
def test_options_reach_the_sampler(args, options, refused, files, monkeypatch):
    def record(x, y, **given):
        reached.update(given)
        raise ts.errors.InputError("enough")

    reached = {}
    monkeypatch.setattr("twosample.questions.gibbs.gibbs", record)
    assert refused("gibbs", "a.csv", "b.csv", *args) == "enough"
    assert reached == DEFAULTS | options


@pytest.mark.parametrize(
    "args, message",
    [
        (["--steps", "7"], "--steps: must be at least 8"),
        (["--steps", "20", "--burn-in", "20"], "--steps: fewer than 4 draws"),
        (["--burn-in", "-1"], "--burn-in: must be at least 0"),
        (["--thinning", "0"], "--thinning: must be at least 1"),
        (["--chains", "0"], "--chains: must be at least 1"),
        (
            ["--adapt-steps", "10"],
            "--adapt-steps: only 9 transitions are there to tune; pass fewer, or more with --hmc-steps 10",
        ),
        (["--points", "3", "--model", "paper"], "use --model adaptive"),
        (["--kernel", "linear"], "'linear'"),
        (["--trace", "out.gif"], "--trace: 'out.gif' must end in .png, .pdf or .svg"),
        (["--trace", "none/out.png"], "--trace: there is no folder"),
        (["--nan-policy", "omit", "--paired"], "--paired needs"),
    ],
)
def test_bad_options_of_gibbs_are_refused(args, message, refused, files):
    assert message in refused("gibbs", "a.csv", "b.csv", *args)


def test_gibbs_without_its_packages_says_how_to_get_them(refused, files, monkeypatch):
    monkeypatch.delitem(sys.modules, "twosample.paper.kernel_steps", raising=False)
    monkeypatch.setitem(sys.modules, "blackjax", None)
    line = refused("gibbs", "a.csv", "b.csv", *SHORT_ARGS)
    assert line == "gibbs needs blackjax; install it with: pip install 'twosample[mcmc]'"


def test_trace_without_matplotlib_is_refused_before_the_work(refused, files, no_matplotlib):
    assert "pip install 'twosample[plot]'" in refused("gibbs", "a.csv", "b.csv", "--trace", "out.png")
