"""Monitors in files: they go on as if they had never stopped, also after a kill; damaged files are refused."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import polars as pl
import pytest
from tests.questions.monitor import mutations

import twosample as ts
from twosample.errors import InputError
from twosample.questions.monitor import memory, validity

posix = pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")


def variants(rng):
    reference = rng.normal(size=(400, 2))
    return {
        "two streams": ({}, lambda: rng.normal(size=(2, 30, 2))),
        "window and forgetting": ({"window": 3, "forget": 0.1}, lambda: rng.normal(size=(2, 30, 2))),
        "pairs": ({"paired": True}, lambda: rng.normal(size=(2, 30, 2))),
        "reference": ({"reference": reference}, lambda: (rng.normal(size=(30, 2)),)),
        "subsets": ({"subsets": [(0,), (0, 1)]}, lambda: rng.normal(size=(2, 30, 2))),
        "waiting": ({}, lambda: (rng.normal(size=(1, 2)), rng.normal(size=(40, 2)))),
    }


@pytest.mark.parametrize("name", variants(np.random.default_rng(0)))
@pytest.mark.parametrize("saved_after", [0, 1, 12])
def test_a_monitor_goes_on_to_the_last_digit(tmp_path, name, saved_after):
    options, draw = variants(np.random.default_rng(1))[name]
    monitor = ts.Monitor(points=8, permutations=9, rng=5, **options)
    for _ in range(saved_after):
        monitor.update(*draw())
    monitor.save(tmp_path / "m.npz")
    resumed = ts.Monitor.load(tmp_path / "m.npz")
    assert resumed.settings == monitor.settings and resumed.received == monitor.received
    for _ in range(3):
        if monitor.state.spent:
            break
        batch = draw()
        one, other = monitor.update(*batch), resumed.update(*batch)
        assert one.to_dict() == other.to_dict() and one.waiting == other.waiting
    assert monitor.history.to_plain() == resumed.history.to_plain()
    assert monitor.state.log_bf10 == resumed.state.log_bf10
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]


@posix
def test_killed_at_any_moment_it_goes_on_with_the_same_evalues(tmp_path):
    program = """
        import sys
        import numpy as np
        import twosample as ts
        from pathlib import Path
        path = Path(sys.argv[1])
        monitor = ts.Monitor.load(path) if path.exists() else ts.Monitor(points=6, permutations=9)
        while monitor.state.batches < 40:
            rng = np.random.default_rng(monitor.state.batches)
            monitor.update(rng.normal(size=(20, 2)), rng.normal(size=(25, 2)))
            monitor.save(path)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "m.npz")]
    chance = random.Random(0)
    for _ in range(3):
        process = subprocess.Popen(command)
        # A moment at which it has begun to work, and may be writing.
        deadline = time.monotonic() + 60
        before = (tmp_path / "m.npz").stat().st_mtime_ns if (tmp_path / "m.npz").exists() else 0
        while time.monotonic() < deadline and process.poll() is None:
            if (tmp_path / "m.npz").exists() and (tmp_path / "m.npz").stat().st_mtime_ns != before:
                break
            time.sleep(0.01)
        time.sleep(chance.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        ts.Monitor.load(tmp_path / "m.npz")  # it is whole
    subprocess.run(command, check=True)
    plain = ts.Monitor(points=6, permutations=9)
    for batch in range(40):
        rng = np.random.default_rng(batch)
        plain.update(rng.normal(size=(20, 2)), rng.normal(size=(25, 2)))
    resumed = ts.Monitor.load(tmp_path / "m.npz")
    assert resumed.state.log_evalue == plain.state.log_evalue
    assert resumed.history.to_plain() == plain.history.to_plain()


def test_files_that_are_not_monitors_are_refused(tmp_path):
    text, other = tmp_path / "a.npz", tmp_path / "b.npz"
    text.write_text("nothing")
    plan = ts.plan([1.0, 2.0, 4.0], [2.0, 5.0, 6.0])
    plan.statistics([1.0, 2.0, 4.0], [2.0, 5.0, 6.0]).save(other)
    for path, why in ((text, ""), (other, "lacks")):
        with pytest.raises(InputError, match=f"does not hold a monitor of twosample .*{why}"):
            ts.Monitor.load(path)
    with pytest.raises(FileNotFoundError):
        ts.Monitor.load(tmp_path / "none.npz")


@pytest.fixture(scope="module")
def stored():
    """What a monitor with a reference, three batches, waiting rows and a bookmark has in its file."""
    return mutations.stored_monitor()


@pytest.mark.parametrize(
    ("schema", "why"),
    [(99, "update twosample"), (2, "sums meant something else"), (1, "older version"), ("2", "schema")],
)
def test_files_of_other_schemas_are_refused_in_clear_words(tmp_path, stored, schema, why):
    mutations.write(tmp_path / "m.npz", stored, {"schema": schema})
    with pytest.raises(InputError, match=f"does not hold a monitor of twosample .*{why}"):
        ts.Monitor.load(tmp_path / "m.npz")


def test_a_number_that_was_changed_is_known_by_the_checksum(tmp_path, stored):
    for name in ("waiting.y", "statistics.x.mean", "learnt.0.shift", "monitor"):
        changed = stored[name].copy()
        if name == "monitor":
            changed = np.array(str(changed).replace('"alpha": 0.05', '"alpha": 0.06'))
        else:
            changed.flat[0] = np.nextafter(changed.flat[0], 9.0)
        assert not np.array_equal(changed, stored[name])
        np.savez(tmp_path / "m.npz", **{**stored, name: changed})
        with pytest.raises(InputError, match="the checksum differs"):
            ts.Monitor.load(tmp_path / "m.npz")


WORDS = [
    ("settings.permutations", 1e308, "permutations"), ("settings.permutations", 10**6, "permutations"),
    ("settings.points", 10**9, "points"), ("settings.window", 10**9, "window"), ("settings.alpha", 0, "alpha"),
    ("settings.prior_odds", -1.0, "prior_odds"), ("settings.seed", -1, "seed"), ("settings.kernel", "x", "kernel"),
    ("settings.subsets", [[3.5]], "subsets"), ("settings.nan_policy", "keep", "nan_policy"),
    ("settings.paired", True, "reference"), ("settings.paired", "no", "paired"), ("settings.forget", 1.5, "forget"),
    ("settings.with_reference", False, "received|reference"), ("n_x", 61, "n_x"), ("n_y", -60, "n_y"),
    ("batches", 4, "history"), ("received", [0, 1], "received"), ("refills", 0, "refills"),
    ("log_evalue", 5.0, "log_evalue"), ("log_batch_evalue", "x", "log_batch_evalue"), ("crossed_at", 2, "crossed_at"),
    ("run_length_alarm_at", 1, "run_length_alarm_at"), ("recent", [0.5], "recent"), ("planned", 10**6, "planned"),
    ("young", 10**9, "lacks"), ("columns", ["a"], "reference|waiting|young"), ("levels", [["p"], None], "levels"),
    ("plan.lengthscales", None, "a monitor takes no model"),
    ("bookmark.rows", 10**6, "bookmark.rows"), ("bookmark.digest", "no", "bookmark.digest"),
    ("plan", 3, "not iterable"), ("bookmark.inode", -1, "bookmark.inode"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "why"), WORDS)
def test_settings_and_counts_that_cannot_be_are_refused_by_name_though_the_checksum_is_right(
    tmp_path, stored, name, value, why
):
    mutations.write(tmp_path / "m.npz", stored, {name: value})
    with pytest.raises(InputError, match=f"does not hold a monitor of twosample .*({why})"):
        ts.Monitor.load(tmp_path / "m.npz")


ARRAYS = [
    ("history", lambda a: a[:-1], "history"), ("history", lambda a: a * [1, 1, 1, 1, 2, 1], "log_evalue"),
    ("history", lambda a: np.add(a, [0, 0, 0, 9, 0, 0]), "history"), ("history", lambda a: a[::-1], "history"),
    ("history", lambda a: np.add(a, [[0] * 6, [0, 0, 0, 0, 0, 1], [0] * 6]), "run_length"),
    ("waiting.y", lambda a: a * np.nan, "waiting.y"), ("waiting.y", lambda a: a[:, :1], "waiting.y"),
    ("waiting.y", lambda a: a.repeat(2, axis=0), "received"), ("reference", lambda a: a * np.inf, "reference"),
    ("reference", lambda a: a.astype(int), "reference"), ("young.0.x", lambda a: a[1:], "young"),
    ("learnt.0.weight", lambda a: -a, "learnt.0.weight"), ("learnt.0.weight", lambda a: 2 * a, "learnt.0.weight"),
    ("learnt.0.rows", lambda a: a + 1, "learnt.0.rows"), ("learnt.0.shift", lambda a: a[1:], "learnt.0.shift"),
    ("learnt.0.scatter", lambda a: -a, "learnt.0.scatter"),
    ("learnt.0.scatter", lambda a: a + 1e-6 * np.triu(np.ones(a.shape[1:]), 1), "learnt.0.scatter"),
    ("run_length", lambda a: a + 1, "log_run_length"), ("run_length", lambda a: np.ones(3), "number should be"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "why"), ARRAYS)
def test_arrays_that_cannot_be_are_refused_by_name_though_the_checksum_is_right(tmp_path, stored, name, change, why):
    mutations.write(tmp_path / "m.npz", {**stored, name: change(stored[name])}, {})
    with pytest.raises(InputError, match=f"does not hold a monitor of twosample .*{why}"):
        ts.Monitor.load(tmp_path / "m.npz")


def test_long_histories_and_alarms_are_loaded(tmp_path, monkeypatch):
    for module in (memory, validity):
        monkeypatch.setattr(module, "LONGEST_HISTORY", 8)
    rng = np.random.default_rng(2)
    monitor = ts.Monitor(points=4, permutations=9, window=4)
    for batch in range(21):
        monitor.update(rng.normal(size=5), rng.normal(size=5) + 2)
        monitor.save(tmp_path / "m.npz")
        assert ts.Monitor.load(tmp_path / "m.npz").state.to_dict() == monitor.state.to_dict(), batch
    assert monitor.state.crossed_at and monitor.state.run_length.alarm
    arrays = dict(np.load(tmp_path / "m.npz"))
    for name in ("crossed_at", "run_length_alarm_at"):
        for value in (None, 20, 0):
            mutations.write(tmp_path / "m.npz", arrays, {name: value})
            with pytest.raises(InputError, match=name):
                ts.Monitor.load(tmp_path / "m.npz")


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux to limit the memory")
def test_a_file_that_was_changed_anywhere_is_refused_or_goes_on_within_limits():
    found = subprocess.run(
        [sys.executable, "-m", "tests.questions.monitor.mutations", "1500"], capture_output=True, text=True, check=True
    )
    told = json.loads(found.stdout)
    assert told["tried"] == 1500 and told["foreign"] == [] and told["slow"] == [] and told["differing"] == []
    assert told["refused"] > 1200


def test_no_pickle_is_loaded(tmp_path):
    class Bad:
        def __reduce__(self):
            return (os.system, ("touch hacked",))

    path = tmp_path / "p.npz"
    np.savez(path, monitor=np.array([Bad()], dtype=object))
    with pytest.raises(InputError, match="does not hold a monitor"):
        ts.Monitor.load(path)


def test_the_choice_of_columns_is_kept(tmp_path):
    ts.Monitor(drop=["v"], points=6).save(tmp_path / "m.npz")
    resumed = ts.Monitor.load(tmp_path / "m.npz")
    rng = np.random.default_rng(4)
    x, y = (pl.DataFrame(rng.normal(size=(9, 2)), schema=["u", "v"]) for _ in range(2))
    assert resumed.update(x, y).columns == ("u",)


def test_what_another_start_may_have_become():
    rng = np.random.default_rng(3)
    reference = rng.normal(size=(100, 1))
    fresh, watched = (ts.Monitor(reference=reference, points=6) for _ in range(2))
    watched.update(rng.normal(size=(20, 1)))
    assert watched.began_as(fresh)
    assert not watched.began_as(ts.Monitor(reference=reference + 1, points=6))
    assert not watched.began_as(ts.Monitor(reference=reference, points=7))
    assert not watched.began_as(ts.Monitor(points=6))
