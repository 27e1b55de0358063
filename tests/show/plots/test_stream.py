"""The picture of a monitor: its values."""

import math

import numpy as np
import pytest

import twosample as ts


@pytest.fixture(scope="module")
def monitor():
    rng = np.random.default_rng(1)
    monitor = ts.Monitor(points=8, permutations=99)
    for _ in range(6):
        monitor.update(rng.normal(0, 1, 40), rng.normal(0.8, 1, 40))
    return monitor


def lines(figure):
    """The lines by the first words of their labels, and where the alarm is marked."""
    axes = figure.axes[0]
    found = {line.get_label().split(",")[0]: line for line in axes.get_lines()}
    return found | dict(zip(["alarm"], (marks.get_offsets().tolist() for marks in axes.collections), strict=False))


def test_it_shows_the_evalue_over_time_with_the_limit_and_the_crossing(monitor):
    figure = monitor.plot()
    drawn = lines(figure)
    assert drawn["log e-value"].get_xdata().tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert drawn["log e-value"].get_ydata().tolist() == [0.0, *(row.log_evalue for row in monitor.history)]
    assert drawn["log run length"].get_ydata().tolist() == [row.log_run_length for row in monitor.history]
    assert drawn["limit"].get_ydata()[0] == pytest.approx(math.log(20))
    crossed = monitor.state.crossed_at
    assert drawn["alarm"] == [[crossed, monitor.history[crossed - 1].log_evalue]]
    assert f"Alarm at batch {crossed}" in figure.get_suptitle()


def test_without_an_alarm_there_is_no_mark():
    rng = np.random.default_rng(2)
    monitor = ts.Monitor(points=8, permutations=9)
    monitor.update(rng.normal(size=20), rng.normal(size=20))
    figure = monitor.plot(figsize=(5, 3))
    assert "alarm" not in lines(figure) and "No alarm" in figure.get_suptitle()
    assert figure.get_size_inches().tolist() == [5, 3]


def test_before_the_first_batch_there_is_an_empty_picture():
    assert lines(ts.Monitor().plot())["log e-value"].get_ydata().tolist() == [0.0]
