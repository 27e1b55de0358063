"""The command `monitor`: one line a batch, files that grow, a state to go on from, and its exit status."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import twosample as ts

posix = pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")


def write(path, rows, header="u,v\n", mode="w"):
    with path.open(mode) as file:
        file.write(header + "".join(f"{a!r},{b!r}\n" for a, b in rows.tolist()))


@pytest.fixture
def streams(tmp_path, monkeypatch):
    """A folder with a reference, a stream that is the same and one that differs."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = {"a": rng.normal(size=(300, 2)), "same": rng.normal(size=(90, 2)), "other": rng.normal(size=(130, 2)) + 1.2}
    for name, values in rows.items():
        write(tmp_path / f"{name}.csv", values)
    return rows


def numbers(out):
    """Batch, rows, log e-value of every line of a batch."""
    return [
        (int(batch), int(rows), float(value))
        for batch, rows, value in re.findall(r"^batch (\d+): (\d+) rows, log e-value ([-+.\d]+)", out, re.M)
    ]


def by_hand(streams, name, batch, **options):
    monitor = ts.Monitor(reference=streams["a"], **options)
    for first in range(0, len(streams[name]), batch):
        monitor.update(streams[name][first : first + batch])
    return monitor


def test_a_line_for_every_batch_and_the_state_at_the_end(run, streams):
    status, out, err = run("monitor", "a.csv", "other.csv", "--batch", "50", "--alpha", "0.01")
    monitor = by_hand(streams, "other", 50, alpha=0.01)
    expected = [(row.batch, row.n_y, round(row.log_evalue, 2)) for row in monitor.history]
    assert status == 0 and err == ""
    assert numbers(out) == expected and len(expected) == 3
    assert f"ALARM since batch {monitor.state.crossed_at}, " in out and "170 rows of the reference left" in out
    assert "reached 100; if the streams are the same" in out and "P(column differs)" in out


def test_exit_status_one_at_the_first_alarm_and_zero_without(run, streams):
    status, out, _ = run("monitor", "a.csv", "other.csv", "--batch", "20", "--exit-on-alarm")
    crossed = by_hand(streams, "other", 20).state.crossed_at
    assert status == 1 and len(numbers(out)) == crossed
    assert out.splitlines()[-1].startswith(f"batch {crossed}: ")
    status, out, _ = run("monitor", "a.csv", "same.csv", "--batch", "30", "--exit-on-alarm")
    assert status == 0 and "No alarm" in out


def test_a_page_is_written_also_where_an_alarm_ends_it(run, refused, streams, tmp_path):
    status, _, _ = run("monitor", "a.csv", "other.csv", "--batch", "50", "--exit-on-alarm", "--report", "stream.html")
    page = (tmp_path / "stream.html").read_text("utf-8")
    crossed = by_hand(streams, "other", 50).state.crossed_at
    assert status == 1 and f"Alarm at batch {crossed}." in page
    assert "must end in .html" in refused("monitor", "a.csv", "other.csv", "--report", "stream.txt")


def test_it_goes_on_from_a_state(run, streams, tmp_path):
    write(tmp_path / "part.csv", streams["other"][:40])
    run("monitor", "a.csv", "part.csv", "--batch", "20", "--state", "s.npz", "--exit-on-alarm")
    before = ts.Monitor.load("s.npz").state.batches
    status, out, _ = run("monitor", "a.csv", "other.csv", "--batch", "20", "--state", "s.npz")
    expected = by_hand(streams, "other", 20)
    assert status == 0
    assert [batch for batch, _, _ in numbers(out)] == [row.batch for row in expected.history[before:]]
    assert ts.Monitor.load("s.npz").state.log_evalue == expected.state.log_evalue
    # It has had its alarm.
    assert run("monitor", "a.csv", "other.csv", "--batch", "20", "--state", "s.npz", "--exit-on-alarm")[:2] == (1, "")


def test_a_spent_reference_ends_it(run, streams, tmp_path):
    write(tmp_path / "long.csv", np.random.default_rng(1).normal(size=(450, 2)))
    status, out, err = run("monitor", "a.csv", "long.csv", "--batch", "100")
    assert status == 0 and len(numbers(out)) == 3
    assert "0 rows of the reference left" in out and "is spent" in err and "is spent" in out


def test_columns_can_be_chosen(run, streams):
    status, out, _ = run("monitor", "a.csv", "other.csv", "--columns", "v")
    monitor = ts.Monitor(reference=streams["a"][:, [1]])
    for first in (0, 100):
        state = monitor.update(streams["other"][first : first + 100, [1]])
    assert status == 0 and numbers(out)[-1][2] == round(state.log_evalue, 2)
    assert "1 column" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.csv",), "pass the reference A, and B or --follow B"),
        (("a.csv", "other.csv", "--follow", "other.csv"), "pass the reference A, and B or --follow B"),
        (("a.csv", "none.csv"), "there is no file 'none.csv'"),
        (("a.csv", "--follow", "none.csv"), "there is no file 'none.csv'"),
        (("a.csv", "other.csv", "--alpha", "2"), "--alpha: must be a number between 0 and 1"),
        (("a.csv", "other.csv", "--batch", "1"), "--batch: must be at least 2"),
        (("a.csv", "other.csv", "--window", "0"), "--window: must be at least 1"),
        (("a.csv", "other.csv", "--forget", "2"), "--forget: must be a number between 0 and 1"),
        (("a.csv", "other.csv", "--state", "other.csv"), "would be overwritten"),
        (("a.csv", "other.csv", "--state", "no/s.npz"), "there is no folder"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(refused, streams, arguments, words):
    assert words in refused("monitor", *arguments)


def test_a_state_of_other_options_is_refused(run, refused, streams):
    run("monitor", "a.csv", "same.csv", "--batch", "30", "--state", "s.npz")
    for options in (("--alpha", "0.01"), ("--seed", "3"), ("--columns", "u")):
        assert "of another reference, or of other options" in refused(
            "monitor", "a.csv", "same.csv", "--batch", "30", "--state", "s.npz", *options
        )


def test_a_bad_cell_is_refused_by_its_line(run, streams, tmp_path):
    with (tmp_path / "same.csv").open("a") as file:
        file.write("0.5,oops\n")
    status, out, err = run("monitor", "a.csv", "same.csv", "--batch", "50")
    assert status == 2 and "line 92, column 'v': 'oops' is not a number" in err
    status, out, err = run("monitor", "a.csv", "same.csv", "--batch", "50", "--nan-policy", "omit")
    assert status == 0 and "90 rows, " in out and "left out 1 cell" in err


def started(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "twosample", "monitor", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


def test_a_file_that_grows_is_followed_until_the_alarm(streams, tmp_path):
    write(tmp_path / "b.csv", streams["same"][:25])
    with started("a.csv", "--follow", "b.csv", "--batch", "20", "--exit-on-alarm") as process:
        assert process.stdout.readline().startswith("batch 1: 20 rows")
        write(tmp_path / "b.csv", streams["other"], header="", mode="a")
        out, err = process.communicate(timeout=60)
    rows = np.concatenate([streams["same"][:25], streams["other"]])
    monitor = by_hand({**streams, "b": rows}, "b", 20)
    assert process.returncode == 1 and err == ""
    last = out.splitlines()[-1]
    assert last.startswith(f"batch {monitor.state.crossed_at}: ") and "ALARM" in last


def test_another_stream_is_refused_or_read_from_its_first_row(run, refused, streams, tmp_path):
    run("monitor", "a.csv", "same.csv", "--batch", "30", "--state", "s.npz")
    for wanted in (("other.csv",), ("--follow", "other.csv"), ("other.csv", "--exit-on-alarm")):
        message = refused("monitor", "a.csv", *wanted, "--batch", "30", "--state", "s.npz")
        assert re.search(r"'s\.npz' has read 90 rows of '.*same\.csv', and 'other\.csv' does not begin", message)
        assert "name another file for the state, or pass --next-file" in message
    goes_on = ("monitor", "a.csv", "other.csv", "--batch", "30", "--state", "s.npz")
    status, out, _ = run(*goes_on, "--next-file", "--exit-on-alarm")
    both = {**streams, "both": np.concatenate([streams["same"], streams["other"]])}
    monitor = by_hand(both, "both", 30)
    assert status == 1 and numbers(out)[-1][0] == monitor.state.crossed_at > 3
    # What was read of it now is known, with and without the option.
    for options in ((), ("--next-file",)):
        _, out, _ = run(*goes_on, *options)
        first = numbers(out)[0][1] if numbers(out) else 220
        assert first > 90 + 30 * (monitor.state.crossed_at - 3)
    assert ts.Monitor.load("s.npz").received[1] == 220
    write(tmp_path / "copy.csv", streams["other"])
    assert run("monitor", "a.csv", "copy.csv", "--batch", "30", "--state", "s.npz")[0] == 0
    edited = streams["other"].copy()
    edited[100, 1] += 1e-9
    write(tmp_path / "other.csv", edited)
    assert "does not begin with them" in refused(*goes_on)


def test_a_damaged_state_is_refused_by_its_option(run, refused, streams, tmp_path):
    run("monitor", "a.csv", "same.csv", "--batch", "30", "--state", "s.npz")
    arrays = dict(np.load("s.npz"))
    np.savez("s.npz", **{**arrays, "reference": arrays["reference"] + 1})
    message = refused("monitor", "a.csv", "same.csv", "--state", "s.npz")
    assert message.startswith("--state: 's.npz' does not hold a monitor") and "the checksum differs" in message


def test_a_state_that_knows_of_no_file_is_refused(run, refused, streams):
    run("monitor", "a.csv", "same.csv", "--batch", "30", "--state", "s.npz")
    saved = ts.Monitor.load("s.npz")
    saved.mark(None)
    saved.save("s.npz")
    message = refused("monitor", "a.csv", "same.csv", "--state", "s.npz")
    assert "has read 90 rows of an unknown file" in message
    assert run("monitor", "a.csv", "same.csv", "--state", "s.npz", "--next-file")[0] == 0


@posix
def test_standard_input_is_known_by_its_rows(streams):
    text = "u,v\n" + "".join(f"{a!r},{b!r}\n" for a, b in streams["same"].tolist())
    command = [sys.executable, "-m", "twosample", "monitor", "a.csv", "-", "--batch", "30", "--state", "s.npz"]

    def piped(lines):
        content = "".join(text.splitlines(keepends=True)[lines])
        return subprocess.run(command, input=content, capture_output=True, text=True)

    assert len(numbers(piped(slice(61)).stdout)) == 2
    assert [batch for batch, _, _ in numbers(piped(slice(None)).stdout)] == [3]
    other = piped(slice(31, None))
    assert other.returncode == 2 and "rows of 'standard input', and '-' does not begin with them" in other.stderr


@posix
@pytest.mark.parametrize("how", ["rename", "truncate", "replace"])
def test_a_log_that_is_rotated_is_read_on(streams, tmp_path, how):
    log, rows = tmp_path / "b.csv", streams["other"][:120]
    write(log, rows[:25])
    with started("a.csv", "--follow", "b.csv", "--batch", "20", "--state", "s.npz") as process:
        assert process.stdout.readline().startswith("batch 1: 20 rows")
        if how == "truncate":
            time.sleep(0.5)  # all of it was read
            write(log, rows[25:70])
        else:
            write(log, rows[25:33], header="", mode="a")
            if how == "rename":
                log.rename(tmp_path / "b.csv.1")
                write(log, rows[33:70])
            else:
                write(tmp_path / "beside", rows[33:70])
                os.replace(tmp_path / "beside", log)
        write(log, rows[70:], header="", mode="a")
        lines = [process.stdout.readline() for _ in range(5)]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    assert lines[-1].startswith("batch 6: 120 rows")
    expected = by_hand({**streams, "b": rows}, "b", 20)
    assert ts.Monitor.load("s.npz").state.log_evalue == expected.state.log_evalue


@posix
def test_interrupted_it_leaves_a_whole_state_and_goes_on(streams, tmp_path):
    write(tmp_path / "b.csv", streams["same"][:50])
    for more, batches in ((50, (1, 2)), (90, (3, 4))):
        if more > 50:
            write(tmp_path / "b.csv", streams["same"][50:], header="", mode="a")
        with started("a.csv", "--follow", "b.csv", "--batch", "20", "--state", "s.npz") as process:
            for batch in batches:
                assert process.stdout.readline().startswith(f"batch {batch}: {20 * batch} rows")
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == 130
            assert process.stderr.read().strip() == ""
        assert [path.name for path in tmp_path.iterdir() if "s.npz" in path.name] == ["s.npz"]
    expected = by_hand({**streams, "b": streams["same"][:80]}, "b", 20)
    assert ts.Monitor.load("s.npz").state.log_evalue == expected.state.log_evalue
