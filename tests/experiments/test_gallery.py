"""The gallery and what it is made of: the committed results, figures and page belong together."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from experiments import __main__ as command
from experiments import curves, efficiency, gallery, rings, runner, table_1, table_2, tables
from experiments.catalogue import EXPERIMENTS
from experiments.claims import CLAIMS
from experiments.lengthscales import informative, modes, unmixed
from experiments.notes import NOTES
from experiments.reading import Reading, is_null, read_all
from experiments.runner import Refusal

import twosample as ts

RESULTS = runner.HERE / "results"
PAGE = runner.HERE.parent / "docs" / "gallery.md"


@pytest.fixture(scope="module")
def found():
    return read_all(runner.HERE)


# What is committed.


@pytest.mark.parametrize("name", [*EXPERIMENTS, "efficiency"])
def test_results_and_figures_are_there_and_small(name):
    for path, limit in ((RESULTS / f"{name}.json", 300_000), (RESULTS / f"{name}.png", 150_000)):
        assert path.stat().st_size < limit


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_are_complete(name, found):
    one, results = EXPERIMENTS[name], found[name].results
    assert [tuple(cell["cell"]) for cell in results["cells"]] == list(one.cells)
    assert {cell["runs"] for cell in results["cells"]} == {one.runs}
    assert results["version"] == ts.__version__
    assert tuple(results["models"]) == one.models


def test_samples_are_small():
    assert (RESULTS / "samples.json").stat().st_size < 150_000


def test_claims_come_out_as_expected(found):
    surprises = [(one.claim.says, one.model, one.found) for one in gallery.verdicts(found) if one.expected != one.found]
    assert surprises == []


def test_what_differs_has_a_reason():
    assert [claim.says for claim in CLAIMS if not all(claim.holds.values()) and not claim.why] == []


def test_page_is_what_the_results_give(found):
    assert PAGE.read_text(encoding="utf-8") == gallery.markdown(found, RESULTS, PAGE)


def test_efficiency_is_what_the_results_give(found):
    assert json.loads((RESULTS / "efficiency.json").read_text(encoding="utf-8")) == efficiency.compute(found)


def test_links_of_the_page_lead_somewhere(found):
    text = gallery.markdown(found, RESULTS, PAGE)
    targets = [part.split(")")[0] for part in text.split("](")[1:]]
    assert len(targets) > 50
    for target in targets:
        file, _, anchor = target.partition("#")
        if file:
            assert (PAGE.parent / file).exists()
        elif anchor != "rows-needed":
            assert f"\n## {anchor}\n" in text


# What is committed is what comes out.

CURVES = [name for name, one in EXPERIMENTS.items() if one.draw is curves.draw]
# Of log BF10, relative where it is more than 1: the wanted error of the integration over the lengthscale. The other
# tests have none, and are stored with six digits.
CLOSE = dict.fromkeys(("adaptive", "adaptive_raw", "published", "paper"), 1e-3)


def assert_stored(one, cells, runs):
    for cell in cells:
        for run in range(runs):
            found = runner.compute(one.name, one.work, tuple(cell["cell"]), run, one.seeds)["values"]
            assert found.keys() == cell["values"].keys()
            for model, values in cell["values"].items():
                close = CLOSE.get(model, 1e-5)
                assert found[model] == pytest.approx(values[run], rel=close, abs=close), (cell["cell"], run, model)


def cheap_cells(one, found):
    """Those with few rows, but enough for an answer of `published` that is not arbitrary."""
    if one.missing():
        pytest.skip(one.missing())
    return [cell for cell in found[one.name].results["cells"] if 25 <= cell["cell"][1] <= 200]


@pytest.mark.parametrize("name", CURVES)
def test_some_runs_again(name, found):
    one = EXPERIMENTS[name]
    first, *_, last = cheap_cells(one, found)
    assert_stored(one, [first, last], runs=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", CURVES)
def test_more_runs_again(name, found):
    one = EXPERIMENTS[name]
    cells = cheap_cells(one, found)
    assert_stored(one, cells[:: max(1, len(cells) // 8)], runs=3)


@pytest.mark.parametrize("name", ["table_1", "table_2"])
def test_a_run_of_the_tables_again(name, found):
    assert_stored(EXPERIMENTS[name], found[name].results["cells"][-1:], runs=1)


# What it is made of, with made-up results.


def test_every_experiment_is_described_and_claims_are_about_experiments():
    assert set(NOTES) == set(EXPERIMENTS)
    assert {claim.experiment for claim in CLAIMS} <= set(EXPERIMENTS)
    assert len({claim.says for claim in CLAIMS if claim.experiment == "gaussian_1d"}) > 5
    for claim in CLAIMS:
        assert set(claim.holds) <= {*EXPERIMENTS[claim.experiment].models}


def log_odds(probability):
    return float(np.log(probability / (1 - probability)))


def reading_of(name, medians):
    """Results in which all three runs of a cell have one P(H1), by setting, model and size."""
    cells = [
        {"cell": [setting, n], "runs": 3, "warnings": {},
         "values": {model: [log_odds(by_model[model][place])] * 3 for model in by_model}}
        for setting, (sizes, by_model) in medians.items()
        for place, n in enumerate(sizes)
    ]  # fmt: skip
    models = list(next(iter(medians.values()))[1])
    return Reading({"experiment": name, "models": models, "runs": 3, "cells": cells})


def test_rows_needed():
    sizes = [10, 50, 100, 800]
    reading = reading_of(
        "gaussian_1d",
        {
            "N(0, 4)": (sizes, {"published": [0.1, 0.2, 0.3, 0.4], "adaptive": [0.5, 0.6, 0.97, 0.99]}),
            # Once above is not enough: it has to stay there.
            "N(0, 9)": (sizes, {"published": [0.96, 0.9, 0.96, 0.97], "adaptive": [0.98, 0.98, 0.98, 0.98]}),
            "N(0, 1), the same": (sizes, {"published": [0.1] * 4, "adaptive": [0.1] * 4}),
        },
    )
    assert reading.reached("N(0, 4)", "published") is None
    assert reading.reached("N(0, 9)", "published") == 100
    rows = efficiency.compute({"gaussian_1d": reading})["rows"]
    assert [row["setting"] for row in rows] == ["N(0, 4)", "N(0, 9)"]
    assert rows[0]["needed"] == {"published": None, "adaptive": 100}
    assert [row["published / adaptive"] for row in rows] == ["> 8", "≥ 10"]
    figure = efficiency.draw(efficiency.compute({"gaussian_1d": reading}))
    dots = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert dots == [100, 100, 10]


@pytest.mark.parametrize(
    ("published", "adaptive", "expected"),
    [
        (200, 50, "4"),
        (None, 100, "> 8"),
        (None, 10, "> 80"),
        (100, 10, "≥ 10"),
        (10, 50, "≤ 0.2"),
        (10, 10, "not known"),
        (200, None, "< 0.25"),
        (None, None, "not known"),
    ],
)
def test_ratios_are_as_honest_as_the_sizes(published, adaptive, expected):
    assert efficiency.ratio(published, adaptive, [10, 50, 100, 200, 500, 800]) == expected


def test_nulls():
    assert is_null("gaussian_1d", "N(0, 1), the same")
    assert is_null("comparison_nd", "D = 3")
    assert not is_null("gaussian_1d", "N(0, 4)")


def test_numbers_of_tables():
    # Two data sets with BF01 of 2 and 4.
    assert tables.log_mean([-np.log(2), -np.log(4)]) == pytest.approx(np.log(3))
    assert tables.scientific(np.log(5.444e-5)) == "5.44e-05"
    assert tables.scientific(-676.0 * np.log(10)) == "1.00e-676"
    assert tables.scientific(np.log(9.999)) == "1.00e+01"
    assert tables.prob_h0(np.log(0.0651)) == "6.11e-02"
    assert tables.prob_h0(50.0) == "1.00e+00"


@pytest.mark.parametrize(("module", "name"), [(table_1, "table_1"), (table_2, "table_2")])
def test_tables(module, name):
    one = EXPERIMENTS[name]
    cell = one.cells[-1]
    record = runner.compute(one.name, one.work, cell, 0, one.seeds)
    x, y, _ = tables.draw_sets(cell[0], 12231)
    assert record["values"]["adaptive"] == pytest.approx(ts.test(x, y).log_bf10, rel=1e-5)
    values = {model: [record["values"][model]] * 2 for model in one.models}
    results = {"title": one.title, "runs": 2, "cells": [{"cell": list(cell), "runs": 2, "values": values}]}
    (row,) = tables.rows(results, module.LENGTHSCALES)
    shown = {text.get_text() for text in one.draw(results).axes[0].texts}
    assert {row.label, f"{row.medians['adaptive']:+.1f}"} <= shown
    assert row.lengthscale in {"", *(f"{value:.2f}" for value in np.linspace(0.01, 40, 60))}
    assert (row.lengthscale == "") == (name == "table_1")


@pytest.fixture
def made_up_rings(monkeypatch):
    pair = ts.simulate.rings_like(1000, 0)
    monkeypatch.setattr(rings, "_data", lambda: ts.datasets.RingData(pair.x, pair.y))


def test_lengthscales_are_those_of_the_test():
    one = EXPERIMENTS["lengthscales_1d"]
    values = runner.compute(one.name, one.work, ("small", 40), 0)["values"]
    pair = ts.simulate.gaussian(40, runner.seed_of(one.name, ("small", 40), 0), sd=3.0)
    result = ts.test(pair.x, pair.y, model="paper", points=pair.points)
    assert values["paper"] == pytest.approx(result.log_bf10, rel=1e-5)
    theta, density = np.array(values["paper: nodes"]), np.array(values["paper: H1"])
    assert len(theta) <= 120 and len(values["θ"]) <= 120
    # The kept nodes have all but a little of the mass; the trapezoidal rule on them is good to a few percent.
    assert np.trapezoid(density, np.log(theta)) == pytest.approx(1.0, abs=0.03)
    assert np.trapezoid(density * theta, np.log(theta)) == pytest.approx(result.lengthscale.mean, rel=0.03)
    at = ts.log_bf10(pair.x, pair.y, values["θ"][40], model="paper", points=pair.points)
    assert values["paper: log BF10 at θ"][40] == pytest.approx(at, rel=1e-2)

    cell = {"cell": ["small", 40], "runs": 1, "values": {name: [value] for name, value in values.items()}}
    figure = one.draw({"title": one.title, "models": list(one.models), "runs": 1, "cells": [cell]})
    assert len(figure.axes) == 6
    assert figure.axes[1].get_title(loc="right").startswith("P(H1 | D) = ")


def test_informative_lengthscales_and_modes():
    values = {
        "θ": [[0.1, 1.0, 10.0, 100.0]],
        "m: log BF10 at θ": [[-3.0, 2.0, 2.0, -1.0]],
        "m: nodes": [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]],
        "m: H1": [[0.0, 5.0, 1.0, 0.9, 2.0, 1.5, 0.1]],
    }
    results = {"cells": [{"values": values}]}
    assert informative(results, "m") == (1.0, 10.0)
    assert informative(results, "m", level=0.99) is None
    assert modes(results, "m") == [2.0, 5.0]
    values["m: H1"] = [[0.0, 5.0, 3.0, 2.9, 3.5, 1.5, 0.1]]
    assert modes(results, "m") == [2.0]


@pytest.mark.parametrize("name", ["samples", "samples_rings"])
def test_samples(name, made_up_rings):
    one = EXPERIMENTS[name]
    cells = []
    for cell in one.cells:
        record = runner.compute(one.name, one.work, cell, 0)
        values = {key: [value] for key, value in record["values"].items()}
        cells.append({"cell": list(cell), "runs": 1, "values": values})
    assert len(json.dumps(cells, separators=(",", ":"))) < 150_000
    results = {"title": one.title, "runs": 1, "cells": cells}
    panels = [axes for axes in one.draw(results).axes if axes.get_visible()]
    assert len(panels) == (2 if name == "samples_rings" else len(one.cells))


def test_rings_themselves_are_not_in_the_results(made_up_rings):
    one = EXPERIMENTS["samples_rings"]
    values = runner.compute(one.name, one.work, one.cells[0], 0)["values"]
    for squares, counts in values.values():
        assert all(isinstance(number, int) for number in squares + counts)
        assert sum(counts) <= 800


def made_up_folder(folder):
    """Results of all experiments with made-up numbers."""
    (folder / "results").mkdir()
    rng = np.random.default_rng(0)
    for name, one in EXPERIMENTS.items():
        cells = []
        for cell in one.cells:
            values = {model: rng.normal(0, 5, 3).round(3).tolist() for model in one.models}
            if name == "table_2":
                values["published"] = rng.normal(0, 5, (3, 60)).round(3).tolist()
            if name.startswith("lengthscales"):
                values["θ"] = [[0.1, 1.0, 10.0]] * 3
                for model in one.models:
                    values[f"{model}: log BF10 at θ"] = [[-1.0, 2.0, -1.0]] * 3
                    values[f"{model}: nodes"] = [[1.0, 2.0, 3.0]] * 3
                    values[f"{model}: H0"] = values[f"{model}: H1"] = [[0.0, 1.0, 0.0]] * 3
            cells.append({"cell": list(cell), "runs": 3, "values": values, "warnings": {}})
        results = {"experiment": name, "title": one.title, "models": list(one.models), "runs": 3, "cells": cells}
        (folder / "results" / f"{name}.json").write_text(json.dumps(results))


def test_commands(tmp_path, monkeypatch):
    invoke = CliRunner().invoke
    missing = invoke(command.cli, ["gallery", "--into", str(tmp_path)])
    assert isinstance(missing.exception, Refusal) and "has no results of gaussian_1d" in str(missing.exception)
    made_up_folder(tmp_path)
    monkeypatch.setattr(ts, "test", None)
    assert invoke(command.cli, ["efficiency", "--into", str(tmp_path)]).exit_code == 0
    assert (tmp_path / "results" / "efficiency.png").stat().st_size < 150_000
    assert invoke(command.cli, ["gallery", "--into", str(tmp_path)]).exit_code == 0
    text = (tmp_path / "gallery.md").read_text(encoding="utf-8")
    assert all(f"](results/{name}.png)" in text for name in EXPERIMENTS)
    assert all(claim.says.replace("|", "\\|") in text for claim in CLAIMS)
    # Every table has as many cells in each row as in its head.
    for block in text.split("\n\n"):
        if block.startswith("|"):
            assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1

    checked = invoke(command.cli, ["gallery", "--check", "--into", str(tmp_path)])
    lines = checked.stdout.splitlines()
    assert len(lines) == sum(len(claim.holds) for claim in CLAIMS)
    surprises = sum(line.startswith("!") for line in lines)
    assert 0 < surprises < len(lines)
    assert isinstance(checked.exception, Refusal) and str(checked.exception).startswith(f"{surprises} of {len(lines)}")


def test_a_claim_that_turns_over_is_noticed(tmp_path):
    made_up_folder(tmp_path)
    found = read_all(tmp_path)
    one = EXPERIMENTS["rings"]
    certain = {one.cells[0][0]: ([n for _, n in one.cells], {model: [0.999] * 7 for model in curves.MODELS})}
    doubtful = {one.cells[0][0]: ([n for _, n in one.cells], {model: [0.5] * 7 for model in curves.MODELS})}

    def answers(medians):
        return [
            one.found
            for one in gallery.verdicts({**found, "rings": reading_of("rings", medians)})
            if one.claim.says.startswith("P(H1) is 1 at n = 800")
        ]

    assert answers(certain) == [True] * 3
    assert answers(doubtful) == [False] * 3


def test_pictures_are_where_the_page_expects_them(tmp_path):
    made_up_folder(tmp_path)
    page = Path(tmp_path / "docs" / "page.md")
    assert "](../results/rings.png)" in gallery.markdown(read_all(tmp_path), tmp_path / "results", page)


def test_a_sampler_that_does_not_mix():
    # Certain of H1 above θ = 1, of H0 below: half of the start values each.
    values = {"θ": [[0.01, 0.999, 1.001, 100.0]], "m: log BF10 at θ": [[-50.0, -50.0, 50.0, 50.0]]}
    assert unmixed({"cells": [{"values": values}]}, "m") == pytest.approx(0.5, abs=0.01)
