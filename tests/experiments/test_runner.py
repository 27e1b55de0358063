import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from experiments import __main__ as command
from experiments import curves, engines, rings, runner
from experiments.catalogue import EXPERIMENTS
from experiments.runner import Experiment, Log, Refusal, seed_of

import twosample as ts
from twosample.errors import AccuracyWarning, MissingExtraError
from twosample.inference.evidence import probability

ROOT = Path(__file__).parents[2]

# An experiment whose runs sleep, and leave a mark each time they are computed.
TINY = """
import os, sys, time
from pathlib import Path
import numpy as np
from experiments import engines, runner

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None

def work(folder, cell, seed):
    with open(folder / "calls" / str(seed), "a") as file:
        file.write("x")
    time.sleep(0.03)
    return {"value": float(np.random.default_rng(seed).normal()) / 3, "warnings": {"odd": seed % 2}}

if __name__ == "__main__":
    from functools import partial
    (FOLDER / "calls").mkdir(exist_ok=True)
    cells = tuple((label, n) for label in ("a", "b") for n in (1, 2, 3))
    tiny = runner.Experiment("tiny", "Tiny", "none", cells, ("value",), partial(work, FOLDER), None, runs=10)
    engine = engines.dask if sys.argv[3] == "dask" else engines.processes
    with engine(int(sys.argv[2])) as (pool, slots):
        print(runner.run(tiny, pool, slots, folder=FOLDER))
"""


@pytest.fixture
def tiny(tmp_path):
    """Start the tiny experiment in a process of its own, in one folder or another."""
    script = tmp_path / "tiny.py"
    script.write_text(TINY)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), str(tmp_path)])}

    def start(folder, jobs, engine="processes"):
        (tmp_path / folder).mkdir(exist_ok=True)
        arguments = [sys.executable, str(script), str(tmp_path / folder), str(jobs), engine]
        return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


def finish(process):
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert err == ""
    return out


def calls(folder):
    return {int(path.name): len(path.read_text()) for path in (folder / "calls").iterdir()}


def wait_for_lines(path, lines):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.01)
    raise AssertionError("nothing was written")


def test_killed_and_resumed_gives_the_same_bytes_and_computes_nothing_finished_again(tiny, tmp_path):
    whole = tiny("whole", 1)
    killed = tiny("killed", 2)
    log = tmp_path / "killed" / "runs" / "tiny.jsonl"
    wait_for_lines(log, 12)
    killed.kill()
    killed.communicate(timeout=20)  # ends only when the workers, which have the same stdout, have ended too
    assert not (tmp_path / "killed" / "results").exists()
    lines = log.read_bytes().rpartition(b"\n")[0].splitlines()[1:]
    finished = {seed_of("tiny", (line["cell"][0], line["cell"][1]), line["run"]) for line in map(json.loads, lines)}
    assert 0 < len(finished) < 60
    assert f"{60 - len(finished)} new runs" in finish(tiny("killed", 3))
    finish(whole)

    assert (tmp_path / "killed/results/tiny.json").read_bytes() == (tmp_path / "whole/results/tiny.json").read_bytes()
    assert set(calls(tmp_path / "whole").values()) == {1}
    again = {seed for seed, number in calls(tmp_path / "killed").items() if number > 1}
    assert len(calls(tmp_path / "killed")) == 60
    assert not again & finished
    assert len(again) <= 4  # those that were under way or waiting for two workers


@pytest.mark.slow
def test_dask_gives_the_same_bytes(tiny, tmp_path):
    pytest.importorskip("distributed")
    whole, other = tiny("whole", 1), tiny("dask", 2, "dask")
    finish(whole)
    _, err = other.communicate(timeout=90)
    assert other.returncode == 0, err
    assert (tmp_path / "dask/results/tiny.json").read_bytes() == (tmp_path / "whole/results/tiny.json").read_bytes()


def test_dask_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"twosample\[dask\]"), engines.dask(1):
        pass


@pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")
def test_interrupt_says_how_to_go_on(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    arguments = [sys.executable, "-m", "experiments", "run", "laplace", "--only", "0.4", "--jobs", "1", "--into"]
    process = subprocess.Popen(
        [*arguments, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_lines(tmp_path / "runs" / "laplace.jsonl", 3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.strip() == "Stopped. Finished runs are on disk; the same command goes on from there."


# In this process.


class Counting:
    """An experiment that counts what it computes."""

    def __init__(self, **changes):
        self.computed = []
        cells = tuple((label, n) for label in ("left", "right") for n in (1, 2))
        changes = {"settings": {"a": 1}, "runs": 4, **changes}
        self.experiment = Experiment("counting", "Counting", "none", cells, ("value",), self.work, None, **changes)

    def work(self, cell, seed):
        self.computed.append((cell, seed))
        return {"value": 1 / 3 + cell[1] + seed % 1000, "list": [1, 2 / 3], "warnings": {"odd": 1}}

    def run(self, folder, **options):
        self.computed.clear()
        with ThreadPoolExecutor(1) as pool:
            return runner.run(self.experiment, pool, 2, folder=folder, **options)


def results_of(folder):
    return runner.load_results(folder / "results" / "counting.json")


def test_seeds_depend_on_experiment_cell_and_run_only():
    seeds = [seed_of(name, cell, run) for name in "ab" for cell in (("x", 1), ("x", 2), ("y", 1)) for run in range(50)]
    assert len(set(seeds)) == len(seeds)
    assert seed_of("a", ("x", 1), 0) == seeds[0]
    np.random.default_rng(seeds[0])


def test_results_are_compact_sorted_and_rounded(tmp_path):
    counting = Counting()
    counting.run(tmp_path)
    found = results_of(tmp_path)
    assert found["version"] == ts.__version__
    assert found["seed"] == runner.SEED
    assert found["models"] == ["value"]
    assert found["runs"] == 4
    assert [cell["cell"] for cell in found["cells"]] == [list(cell) for cell in counting.experiment.cells]
    first = found["cells"][0]
    assert first["warnings"] == {"odd": 4}
    assert first["values"]["list"] == [[1, 0.666667]] * 4
    expected = [1 / 3 + 1 + seed_of("counting", ("left", 1), run) % 1000 for run in range(4)]
    assert first["values"]["value"] == pytest.approx(expected, rel=5e-6)
    assert max(len(str(value)) for value in first["values"]["value"]) <= 7
    assert list((tmp_path / "results").iterdir()) == [tmp_path / "results" / "counting.json"]


def test_seeds_of_its_own(tmp_path):
    counting = Counting(seeds=lambda name, cell, run: 100 * cell[1] + run)
    counting.run(tmp_path, runs=2)
    assert sorted(seed for _, seed in counting.computed) == [100, 100, 101, 101, 200, 200, 201, 201]


def test_more_runs_add_only_the_missing(tmp_path):
    counting = Counting()
    counting.run(tmp_path, runs=1)
    assert results_of(tmp_path)["runs"] == 1
    assert len(counting.computed) == 4
    few = {tuple(cell["cell"]): cell["values"]["value"] for cell in results_of(tmp_path)["cells"]}
    counting.run(tmp_path, runs=3)
    assert len(counting.computed) == 8
    assert results_of(tmp_path)["runs"] == 3
    for cell in results_of(tmp_path)["cells"]:
        assert cell["values"]["value"][:1] == few[tuple(cell["cell"])]
    counting.run(tmp_path, runs=2)  # there are more already
    assert counting.computed == []
    assert results_of(tmp_path)["runs"] == 3


def test_only_some_settings(tmp_path):
    counting = Counting()
    counting.run(tmp_path, runs=2, only="igh")
    assert {cell for cell, _ in counting.computed} == {("right", 1), ("right", 2)}
    assert [cell["cell"] for cell in results_of(tmp_path)["cells"]] == [["right", 1], ["right", 2]]
    counting.run(tmp_path, runs=1)
    assert {cell for cell, _ in counting.computed} == {("left", 1), ("left", 2)}
    assert [cell["runs"] for cell in results_of(tmp_path)["cells"]] == [1, 1, 2, 2]
    assert results_of(tmp_path)["runs"] == 1


def test_results_with_more_runs_are_kept(tmp_path):
    counting = Counting()
    counting.run(tmp_path, runs=3)
    (tmp_path / "runs" / "counting.jsonl").unlink()
    assert "is kept" in counting.run(tmp_path, runs=1)
    assert results_of(tmp_path)["runs"] == 3
    counting.run(tmp_path, runs=1, fresh=True)
    assert results_of(tmp_path)["runs"] == 1


def test_torn_last_line_is_cut_off_and_computed_again(tmp_path):
    counting = Counting()
    counting.run(tmp_path)
    log, before = tmp_path / "runs" / "counting.jsonl", (tmp_path / "results" / "counting.json").read_bytes()
    log.write_bytes(log.read_bytes()[:-20])
    counting.run(tmp_path)
    assert len(counting.computed) == 1
    assert all(json.loads(line) for line in log.read_bytes().splitlines())
    assert (tmp_path / "results" / "counting.json").read_bytes() == before
    # Even the first line may be torn.
    log.write_bytes(log.read_bytes()[:10])
    counting.run(tmp_path)
    assert len(counting.computed) == 16
    assert (tmp_path / "results" / "counting.json").read_bytes() == before


def test_damage_in_the_middle_is_refused(tmp_path):
    counting = Counting()
    counting.run(tmp_path)
    log = tmp_path / "runs" / "counting.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:3], b'{"cell": 1\n', *lines[3:]]))
    with pytest.raises(Refusal, match=r"line 4 is damaged.*--fresh"):
        counting.run(tmp_path)


def test_other_versions_and_settings_are_not_mixed(tmp_path, monkeypatch):
    Counting().run(tmp_path)
    with pytest.raises(Refusal, match=r"other settings.*--fresh"):
        Counting(settings={"a": 2}).run(tmp_path)
    monkeypatch.setattr(ts, "__version__", "99.0")
    counting = Counting()
    with pytest.raises(Refusal, match=r"version '.*' instead of '99.0'.*--fresh"):
        counting.run(tmp_path)
    assert counting.computed == []
    counting.run(tmp_path, fresh=True)
    assert len(counting.computed) == 16
    assert results_of(tmp_path)["version"] == "99.0"


def test_a_file_has_one_writer(tmp_path):
    pytest.importorskip("fcntl")
    identity = Counting().experiment.identity
    path = tmp_path / "runs" / "counting.jsonl"
    with Log(path, identity), pytest.raises(Refusal, match="another process"):
        Log(path, identity)
    Log(path, identity).__exit__()


def test_what_was_finished_is_saved_before_an_error(tmp_path):
    counting = Counting()
    fine = counting.work

    def fails(cell, seed):
        return {"value": np.nan} if cell == ("left", 1) else fine(cell, seed)

    counting.experiment = replace(counting.experiment, work=fails)
    with pytest.raises(ValueError, match=r"counting, \('left', 1\), run 0: nan is not a finite number"):
        counting.run(tmp_path)
    assert not (tmp_path / "results").exists()
    counting.experiment = replace(counting.experiment, work=fine)
    counting.run(tmp_path)
    assert len(counting.computed) <= 13


def test_bar_on_a_terminal_only(tmp_path, capsys, monkeypatch):
    counting = Counting()
    counting.run(tmp_path)
    assert capsys.readouterr() == ("", "")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    counting.run(tmp_path, fresh=True)
    assert "counting" in sys.stderr.getvalue()
    assert "16/16" in sys.stderr.getvalue()


# The experiments.


@pytest.fixture
def made_up_rings(monkeypatch):
    pair = ts.simulate.rings_like(1000, 0)
    monkeypatch.setattr(rings, "_data", lambda: ts.datasets.RingData(pair.x, pair.y))


CURVES = [name for name, one in EXPERIMENTS.items() if one.draw is curves.draw]


@pytest.mark.parametrize("name", CURVES)
def test_smallest_cells_by_every_model(name, made_up_rings):
    one = EXPERIMENTS[name]
    settings = list(dict.fromkeys(cell[0] for cell in one.cells))
    for setting in dict.fromkeys([settings[0], settings[-1]]):
        cell = min((cell for cell in one.cells if cell[0] == setting), key=lambda cell: cell[1])
        record = runner.compute(one.name, one.work, cell, 0)
        assert set(record["values"]) == set(one.models)
        assert np.isfinite(list(record["values"].values())).all()
        assert not [key for key in record["warnings"] if not hasattr(ts.errors, key.split(": ")[1])]


def test_values_are_log_bayes_factors_on_the_same_data():
    one = EXPERIMENTS["gaussian_1d"]
    found = runner.compute(one.name, one.work, ("N(1, 1)", 50), 3)["values"]
    pair = ts.simulate.gaussian(50, seed_of("gaussian_1d", ("N(1, 1)", 50), 3), mean=1.0)
    published = ts.test(pair.x, pair.y, model="published", points=pair.points)
    assert found["published"] == pytest.approx(published.log_bf10, rel=1e-5)
    assert probability(np.array(found["published"])) == pytest.approx(published.prob_h1, rel=1e-4)
    assert found["adaptive"] == pytest.approx(ts.test(pair.x, pair.y, tolerance=1e-4).log_bf10, rel=1e-5)


def test_pairs_are_used():
    one = EXPERIMENTS["laplace_correlated"]
    cell = one.cells[1]
    found = runner.compute(one.name, one.work, cell, 0)["values"]
    pair = ts.simulate.laplace(cell[1], seed_of(one.name, cell, 0), scale=1.5, correlation=0.5)
    expected = ts.test(pair.x, pair.y, paired=True, tolerance=1e-4).log_bf10
    assert found["adaptive"] == pytest.approx(expected, rel=1e-5)
    assert found["adaptive"] != pytest.approx(ts.test(pair.x, pair.y).log_bf10, rel=1e-3)


def test_columns_not_scaled():
    one = EXPERIMENTS["higher_dimensions"]
    cell = ("4 columns, 2 of noise", 100)
    found = runner.compute(one.name, one.work, cell, 0)["values"]
    pair = ts.simulate.blobs(100, seed_of(one.name, cell, 0), epsilon=6.0, noise=2)
    expected = ts.test(pair.x, pair.y, scale="raw", tolerance=1e-4).log_bf10
    assert found["adaptive_raw"] == pytest.approx(expected, rel=1e-5)
    assert found["adaptive_raw"] != pytest.approx(found["adaptive"], rel=1e-3)


def test_rings_and_their_points_are_different_rows(made_up_rings):
    pair = rings.rings(800, 0)
    rows = np.concatenate([pair.x, pair.points[:20]]), np.concatenate([pair.y, pair.points[20:]])
    data = rings._data()
    for part, all_rows in zip(rows, (data.crystal, data.gas_phase), strict=True):
        assert len(np.unique(part, axis=0)) == 820
        assert set(map(tuple, part)) <= set(map(tuple, all_rows))


def test_rings_without_data_are_left_out_unless_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("TWOSAMPLE_DATA", str(tmp_path))
    monkeypatch.setattr(rings, "_data", ts.datasets.rings)
    assert "COD_2D.csv" in rings.missing()
    monkeypatch.setattr(command, "EXPERIMENTS", {"rings": EXPERIMENTS["rings"]})
    arguments = ["run", "--jobs", "1", "--into", str(tmp_path)]
    left_out = CliRunner().invoke(command.cli, arguments)
    assert left_out.exit_code == 0
    assert "rings: left out, the data files of the rings are not there" in left_out.stderr
    assert isinstance(CliRunner().invoke(command.cli, [*arguments, "rings"]).exception, Refusal)


def test_warnings_are_counted_by_model(monkeypatch):
    def warn(*_, model="adaptive", **__):
        warnings.warn("rough", AccuracyWarning, stacklevel=2)
        return ts.baselines.jzs([1.0, 2.0, 3.0], [1.0, 2.5, 3.0])

    def rough(*arguments, **named):
        found = together(*arguments, **named)
        return [replace(posterior, rule=replace(posterior.rule, converged=False)) for posterior in found]

    together = curves.infer_together
    monkeypatch.setattr(ts, "test", warn)
    monkeypatch.setattr(curves, "infer_together", rough)
    one = EXPERIMENTS["comparison_1d"]
    record = runner.compute(one.name, one.work, one.cells[0], 0)
    assert record["warnings"] == {f"{model}: AccuracyWarning": 1 for model in curves.MODELS}


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("name", ["laplace", "gaussian_2d"])
def test_models_that_share_their_work_answer_as_alone(name, paired):
    one = EXPERIMENTS[name]
    label = next(iter(one.settings["laws"]))
    laws = one.work.args[0]
    found = curves.work(laws, curves.MODELS, paired, (label, 50), 3)
    pair = laws[label](50, 3)
    for model in ("published", "paper"):
        alone = ts.test(pair.x, pair.y, model=model, points=pair.points, paired=paired)
        assert found[model] == pytest.approx(alone.log_bf10, rel=2e-4, abs=2e-4)
    assert found["adaptive"] == ts.test(pair.x, pair.y, paired=paired, tolerance=1e-4).log_bf10


def made_up(one, runs):
    rng = np.random.default_rng(0)
    cells = [
        {
            "cell": list(cell),
            "runs": runs,
            "warnings": {},
            "values": {m: list(rng.normal(0, 9, runs)) for m in one.models},
        }
        for cell in one.cells
    ]
    return {"experiment": one.name, "title": one.title, "models": list(one.models), "runs": runs, "cells": cells}


@pytest.mark.parametrize("name", CURVES)
def test_figures_from_results_alone(name, monkeypatch):
    monkeypatch.setattr(ts, "test", None)
    one = EXPERIMENTS[name]
    results = made_up(one, 5)
    figure = one.draw(results)
    panels = [axes for axes in figure.axes if axes.get_visible()]
    sizes, settings = {cell[1] for cell in one.cells}, {cell[0] for cell in one.cells}
    shown = [axes.get_title(loc="left") for axes in panels]
    assert set(shown) == settings if len(sizes) > 1 else len(shown) == 1
    assert len(figure.legends) == 1
    # The bold line of the first box is the median of P(H1 | D).
    values = np.array(results["cells"][0]["values"][one.models[0]])
    bold = next(line for line in panels[0].lines if line.get_linewidth() > 2)
    assert bold.get_ydata() == pytest.approx([np.median(1 / (1 + np.exp(-values)))] * 2)


def test_commands(tmp_path):
    invoke = CliRunner().invoke
    listed = invoke(command.cli, ["list"]).stdout
    assert all(name in listed for name in EXPERIMENTS)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "laplace.json").write_text(json.dumps(made_up(EXPERIMENTS["laplace"], 3)))
    drawn = invoke(command.cli, ["figures", "--into", str(tmp_path)])
    assert drawn.exit_code == 0
    assert (tmp_path / "results" / "laplace.png").stat().st_size < 100_000
    assert "blobs: no results" in drawn.stderr
    assert invoke(command.cli, ["run", "nothing"]).exit_code == 2
    assert "no setting contains 'nothing'" in invoke(command.cli, ["run", "--only", "nothing"]).stderr
    assert invoke(command.cli, ["run", "--scheduler", "tcp://a:1"]).exit_code == 2


def test_times_are_those_of_all_runs(tmp_path):
    """Three runs of comparison_nd, of the hundred that each of its cells should have."""
    arguments = ["comparison_nd", "--into", str(tmp_path)]
    assert CliRunner().invoke(command.cli, ["run", "--runs", "3", "--jobs", "1", *arguments]).exit_code == 0
    _, *records = map(json.loads, (tmp_path / "runs" / "comparison_nd.jsonl").read_text().splitlines())
    shown = CliRunner().invoke(command.cli, ["times", "--save", *arguments])
    saved = json.loads((tmp_path / "results" / "times.json").read_text())
    expected = sum(record["seconds"] for record in records) * 100 / 3
    assert saved["processor_seconds"] == {"comparison_nd": pytest.approx(expected, abs=0.1)}
    assert saved["all"] == pytest.approx(expected, abs=1)
    assert f"{expected:.0f} s" in shown.stdout
