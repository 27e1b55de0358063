"""The page of a monitor."""

import json
import re

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.show import question_panels, report
from twosample.show.report.panel_charts import of_panel

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def monitor():
    rng = np.random.default_rng(1)
    monitor = ts.Monitor(alpha=0.05, points=10)
    for _ in range(5):
        x, y = rng.normal(size=(60, 2)), rng.normal([0.0, 1.0], 1.0, size=(50, 2))
        monitor.update(*(pl.DataFrame(rows, schema=["dose", HOSTILE]) for rows in (x, y)))
    return monitor


def test_the_page_says_what_the_monitor_says(monitor, tmp_path):
    page = monitor.report(tmp_path / "stream.html").read_text("utf-8")
    state = monitor.state
    assert f'<h1 id="h-verdict">Alarm at batch {state.crossed_at}.</h1>' in page
    assert "The e-value reached 20; if the streams are the same, that happens with a probability of at most" in page
    assert HOSTILE not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    [table] = re.findall(r"<table>(.*?)</table>", page, re.DOTALL)[:1]
    cells = re.findall(r"<td>(.*?)</td>", table)
    assert cells == [
        words
        for row in monitor.history
        for words in (str(row.batch), f"{row.log_evalue:+.2f}", f"{row.log_run_length:+.2f}")
    ]
    assert "descriptive" in page and "http" not in re.sub(r"http://www\.w3\.org/\S+", "", page)


def test_the_history_is_in_it_as_json(monitor):
    page = report.render(monitor)
    [text] = re.findall(r'<script type="application/json" id="twosample-result">(.*?)</script>', page)
    content = json.loads(text)
    assert content["log_evalue"] == monitor.state.log_evalue
    assert [row["log_evalue"] for row in content["history"]] == [row.log_evalue for row in monitor.history]


def test_the_crossing_is_marked_where_it_is(monitor):
    history = monitor.history
    chart = of_panel(question_panels.evidence_over_time(history, 0.05))
    assert f"first reaches its limit at batch {monitor.state.crossed_at}" in chart.note
    less = [row._replace(log_evalue=min(row.log_evalue, 1.0)) for row in history]
    quiet = of_panel(question_panels.evidence_over_time(less, 0.05))
    assert "does not reach" in quiet.note and all(kind != "chosen" for kind, _ in quiet.legend)


def test_notebooks_show_monitors_and_states(monitor):
    assert f"<h4>Alarm at batch {monitor.state.crossed_at}.</h4>" in monitor._repr_html_()
    assert monitor._repr_html_() == monitor.state._repr_html_()
    assert HOSTILE not in monitor._repr_html_()


def test_a_monitor_without_batches_has_a_page():
    page = report.render(ts.Monitor())
    assert "No batch yet" in page and "Evidence over time" not in page


def test_two_finished_samples_in_their_order():
    rng = np.random.default_rng(2)
    page = report.render(ts.test(rng.normal(size=80), rng.normal(size=80)).sequential())
    assert "No alarm" in page and "Evidence over time" in page
