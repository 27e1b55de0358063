"""Whether what `test` writes holds rows of the data."""

import json
from pathlib import Path

import numpy as np

import twosample as ts


def test_json_has_rows_only_if_they_are_wanted(run, files, first, second):
    assert run("test", "a.csv", "b.csv", "--json", "without.json")[0] == 0
    assert run("test", "a.csv", "b.csv", "--json", "with.json", "--keep-rows")[0] == 0
    rows = np.concatenate([frame.select("u", "v").to_numpy() for frame in (first, second)])
    for name, number in (("without.json", 0), ("with.json", rows.size)):
        text = Path(name).read_text()
        assert sum(repr(float(value)) in text for value in rows.ravel()) == number
    without, kept = (ts.TwoSampleResult.from_json(name) for name in ("without.json", "with.json"))
    assert without.summary() == kept.summary() and without.shown == kept.shown
    assert without.shown_x is None and len(kept.shown_x) == len(first)
    assert json.loads(Path("without.json").read_text())["schema"] == 3


def test_help_names_the_option(run):
    assert "--keep-rows" in run("test", "--help")[1]
