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

import twosample as ts
from twosample.errors import InputError

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
    text, other, newer, cut = (tmp_path / name for name in ("a.npz", "b.npz", "c.npz", "d.npz"))
    text.write_text("nothing")
    plan = ts.plan([1.0, 2.0, 4.0], [2.0, 5.0, 6.0])
    plan.statistics([1.0, 2.0, 4.0], [2.0, 5.0, 6.0]).save(other)
    monitor = ts.Monitor(points=4)
    monitor.update([1.0, 2.0, 4.0], [2.0, 5.0, 6.0])
    monitor.save(newer)
    arrays = dict(np.load(newer))
    changed = str(arrays["monitor"]).replace('"schema": 2', '"schema": 99', 1)
    np.savez(newer, **{**arrays, "monitor": np.array(changed)})
    np.savez(cut, **{**arrays, "learnt.0.shift": np.zeros((2, 2))})
    for path, why in ((text, ""), (other, "lacks"), (newer, "update twosample"), (cut, "do not belong together")):
        with pytest.raises(InputError, match=f"does not hold a monitor of twosample .*{why}"):
            ts.Monitor.load(path)
    with pytest.raises(FileNotFoundError):
        ts.Monitor.load(tmp_path / "none.npz")


def test_files_of_the_first_schema_are_read_unless_their_method_is_gone(tmp_path):
    monitor = ts.Monitor(points=4)
    monitor.update([1.0, 2.0, 4.0], [2.0, 5.0, 6.0])
    monitor.save(tmp_path / "m.npz")
    arrays = dict(np.load(tmp_path / "m.npz"))
    words = json.loads(str(arrays["monitor"]))

    def write(method):
        settings = {**words["settings"], "method": method}
        old = {**words, "schema": 1, "settings": settings, "method": {**words["method"], "sums": method == "sums"}}
        np.savez(tmp_path / "m.npz", **{**arrays, "monitor": np.array(json.dumps(old))})

    write("permutations")
    assert ts.Monitor.load(tmp_path / "m.npz").state.log_evalue == monitor.state.log_evalue
    write("sums")
    with pytest.raises(InputError, match="its method 'sums' is no longer there; start another monitor"):
        ts.Monitor.load(tmp_path / "m.npz")


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
