"""What leaves this machine with a result: JSON and pickles without rows, small, readable by the next version."""

import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import twosample as ts
from twosample.errors import InputError, InputTypeError
from twosample.show.plots import plot_result

REFERENCE = Path(__file__).parents[1] / "reference"
OPTIONS = {"adaptive": {}, "together": {"subsets": None}, "paper": {"model": "paper"}, "fixed": {"lengthscale": 1.0}}


def draw(n_columns=1, n=60, shift=1.0):
    rng = np.random.default_rng([n, n_columns])
    x, y = rng.normal(size=(2, n, n_columns))
    y[:, 0] += shift
    return x, y


def numbers_in(content):
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        return [number for item in content for number in numbers_in(item)]
    return [content] if isinstance(content, float) else []


def drawn(figure):
    """All numbers and words that a figure draws."""
    content = []
    for axes in figure.axes:
        content += [line.get_xydata() for line in axes.lines]
        content += [np.asarray(one.get_offsets()) for one in axes.collections]
        content += [path.vertices for one in axes.collections for path in one.get_paths()]
        content += [np.array([bar.get_x(), bar.get_height()]) for bar in axes.patches]
        content += [axes.get_xlim(), axes.get_ylim(), [text.get_text() for text in axes.texts]]
    return content


def assert_same_figure(one, other):
    for left, right in zip(drawn(one), drawn(other), strict=True):
        np.testing.assert_array_equal(left, right)


# ---- no rows


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_json_holds_no_value_of_a_row(n_columns, options):
    x, y = draw(n_columns)
    result = ts.test(x, y, **options)
    assert result.shown_x is None and result.shown_y is None
    content = json.loads(result.to_json())
    assert content["points"] is content["witness_posterior"] is content["shown_x"] is content["shown_y"] is None
    found = np.array(numbers_in(content))
    assert len(found) > 500
    for values in (x, y, (x - result.center) / result.scale, (y - result.center) / result.scale):
        assert not np.isin(found, values).any()


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_pickles_hold_no_rows_but_the_evaluation_points(n_columns):
    x, y = draw(n_columns)
    result = ts.test(x, y, points=12)
    loaded = pickle.dumps(result)
    points = {tuple(point) for point in result.points}
    for row in np.concatenate([x, y]):
        if tuple(row) not in points:
            assert row.tobytes() not in loaded
    assert len(points) == 12
    kept = pickle.dumps(ts.test(x, y, points=12, keep_rows=True))
    assert all(row.tobytes() in kept for row in np.concatenate([x, y]))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_a_file_says_and_draws_what_the_result_did(n_columns, options, tmp_path):
    result = ts.test(*draw(n_columns), **options)
    path = str(tmp_path / "result.json")
    text = result.to_json(path)
    back = ts.TwoSampleResult.from_json(path)
    assert back.summary() == result.summary() and "40 evaluation points" in back.summary()
    assert back.to_json() == text
    assert back == ts.TwoSampleResult.from_json(text) != result
    assert_same_figure(plot_result(back), plot_result(result))


@pytest.mark.parametrize("n_columns", [1, 2])
def test_a_file_knows_the_witness_where_its_picture_is(n_columns):
    result = ts.test(*draw(n_columns))
    back = ts.TwoSampleResult.from_json(result.to_json())
    at = np.random.default_rng(0).uniform(-1.5, 1.5, size=(50, n_columns))
    for name in ("mean", "sd"):
        expected = getattr(result.witness(at), name)
        np.testing.assert_allclose(getattr(back.witness(at), name), expected, atol=0.01 * np.abs(expected).max())
    with pytest.raises(InputError, match=r"^at: .* but on the range of its picture; test with keep_rows=True"):
        back.witness(np.full((1, n_columns), 50.0))


def test_a_file_of_more_columns_does_not_know_the_witness():
    result = ts.test(*draw(4))
    with pytest.raises(InputError, match=r"^at: .*without evaluation points.*; test with keep_rows=True") as refused:
        ts.TwoSampleResult.from_json(result.to_json()).witness(np.zeros((1, 4)))
    assert refused.value.argument == "at"


# ---- rows if they are wanted


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_rows_are_kept_if_they_are_wanted(n_columns):
    x, y = draw(n_columns)
    result = ts.test(x, y, keep_rows=True)
    for found, rows in ((result.shown_x, x), (result.shown_y, y)):
        assert sorted(map(tuple, found)) == sorted(map(tuple, rows))
    back = ts.TwoSampleResult.from_json(result.to_json())
    assert back == result and hash(back) == hash(result)
    assert_same_figure(plot_result(back), plot_result(result))
    at = np.full((1, n_columns), 9.0)
    np.testing.assert_array_equal(back.witness(at).sd, result.witness(at).sd)
    # The answer is the same either way.
    assert dataclasses.replace(result, shown_x=None, shown_y=None) == ts.test(x, y)


def test_a_plan_keeps_rows_if_they_are_wanted():
    x, y = draw()
    plan = ts.plan(x, y)
    statistics = plan.statistics(x, y)
    assert plan.test(statistics).shown_x is None
    assert len(plan.test(statistics, keep_rows=True).shown_x) == len(x)
    for test in (ts.test, lambda *_, **options: plan.test(statistics, **options)):
        with pytest.raises(InputTypeError, match=r"^keep_rows: must be True or False, not 'yes'"):
            test(x, y, keep_rows="yes")


def test_points_that_were_given_are_no_rows_and_are_written():
    x, y = draw()
    points = np.linspace(-2.0, 3.0, 9)[:, None]
    for result in (
        ts.test(x, y, points=points),
        ts.plan(x, y, points=points).test(ts.plan(x, y, points=points).statistics(x, y)),
    ):
        assert result.points_given and result.shown_x is None
        back = ts.TwoSampleResult.from_json(result.to_json())
        np.testing.assert_allclose(back.points, points)
        assert back == result
        assert back.witness([9.0]).sd == result.witness([9.0]).sd
    assert not ts.test(x, y, points=9).points_given


def test_the_key_of_a_plan_does_not_depend_on_who_chose_the_points():
    x, y = draw()
    plan = ts.plan(x, y)
    assert dataclasses.replace(plan, points_given=True).key == plan.key
    assert dataclasses.replace(plan, typical=2.0 * plan.typical).key != plan.key


# ---- size


@pytest.mark.parametrize("n", [10, 80, 3000])
@pytest.mark.parametrize("kind", ["normal", "discrete", "cauchy", "zeros"])
def test_a_file_of_one_column_is_small(n, kind):
    rng = np.random.default_rng(n)
    x, y = {
        "normal": rng.normal(size=(2, n)) * 1234.5678,
        "discrete": rng.integers(0, 50, size=(2, n)),
        "cauchy": rng.standard_cauchy(size=(2, n)),
        "zeros": np.where(rng.random((2, n)) < 0.3, 0.0, rng.lognormal(size=(2, n))),
    }[kind]
    assert len(ts.test(x, y).to_json()) < 100_000


def test_a_file_does_not_grow_with_the_rows():
    small, large = (len(ts.test(*draw(2, n)).to_json()) for n in (500, 5000))
    assert large < 1.2 * small


def test_a_file_of_many_columns_has_each_of_their_numbers_once():
    x, y = draw(300, n=20)
    result = ts.test(x, y)
    content = json.loads(result.to_json())
    assert len(content["by_column"]) == len(content["subsets"]) == 100
    assert content["by_column"][0]["column"] == result.by_column[0].column
    back = ts.TwoSampleResult.from_json(json.dumps(content))
    assert list(back.by_column) == list(result.by_column) and len(back.by_column) == 300
    assert list(back.subsets) == list(result.subsets)
    assert len(result.to_json()) < 100_000 + 300 * 500


# ---- files of the first schema


@pytest.mark.parametrize("name", ["columns_1", "columns_2", "columns_4", "together"])
def test_files_of_the_first_schema_are_read_and_drawn(name):
    path = REFERENCE / f"schema_1_{name}.json"
    content = json.loads(path.read_text())
    assert content["schema"] == 1 and "shown" not in content
    old = ts.TwoSampleResult.from_json(path)
    assert old.log_bf10 == content["log_bf10"] and old.verdict == content["verdict"]
    assert "6 evaluation points" in old.summary()
    np.testing.assert_array_equal(old.shown_x, content["shown_x"])
    figure = plot_result(old)
    assert figure.get_suptitle().lower().startswith(old.verdict.lower())
    at = np.zeros((1, len(old.columns)))
    assert old.witness(at).sd > 0
    # Written anew it is of the new schema, and holds all that it did.
    again = ts.TwoSampleResult.from_json(old.to_json())
    assert again == old and json.loads(old.to_json())["schema"] == 3
    assert_same_figure(plot_result(again), figure)
    if name == "columns_1":
        rows = np.array(content["shown_x"])[:, 0]
        np.testing.assert_array_equal(figure.axes[0].lines[2].get_xdata(), rows)


# ---- equality


def test_equal_results_compare_equal_after_pickling():
    x, y = draw(3)
    result = ts.test(x, y)
    again = pickle.loads(pickle.dumps(result))
    assert again == result and again is not result and hash(again) == hash(result)
    assert ts.test(x, y) == result
    assert ts.test(x, y + 1e-9) != result
    assert dataclasses.replace(result, prior_odds=2.0) != result
    assert result != "result" and len({result, again}) == 1
    for name in ("lengthscale", "amplitude", "effect", "by_subset", "witness_posterior", "drivers", "shown", "model"):
        part = getattr(result, name)
        assert pickle.loads(pickle.dumps(part)) == part, name
        assert hash(pickle.loads(pickle.dumps(part))) == hash(part), name
    assert result.lengthscale != dataclasses.replace(result.lengthscale, grid=result.lengthscale.grid[:-1])
    assert result.lengthscale != result.amplitude
    assert result.witness(x[:5]) == result.witness(x[:5]) != result.witness(x[:4])


def test_equal_plans_statistics_and_other_results_compare_equal():
    x, y = draw()
    plan = ts.plan(x, y)
    for one in (
        plan,
        plan.statistics(x, y),
        ts.test_each(x, y),
        ts.baselines.jzs(x, y),
        ts.baselines.holmes(x, y),
        ts.baselines.mmd(x, y, permutations=19),
    ):
        again = pickle.loads(pickle.dumps(one))
        assert again == one and hash(again) == hash(one)
    assert ts.Plan.from_json(plan.to_json()) == plan
    assert plan.statistics(x, y) != plan.statistics(y, x)


# ---- short forms


@pytest.mark.parametrize("n_columns", [1, 500])
def test_short_forms_of_parts_fit_on_a_screen(n_columns):
    x, y = (
        pd.DataFrame(rows).add_prefix("a column with a rather long name, number ") for rows in draw(n_columns, n=15)
    )
    plan = ts.plan(x, y, points=5)
    statistics = plan.statistics(x, y)
    result = plan.test(statistics, keep_rows=True)
    parts = [result, plan, statistics, result.lengthscale, result.amplitude, result.effect, result.effect.auc]
    parts += [
        result.by_subset,
        result.witness_posterior,
        result.shown,
        result.diagnostics,
        result.model,
        *result.drivers,
    ]
    parts += [*result.shown.columns, result.witness(x.to_numpy()), plan.view, plan.ranks, *plan.parts]
    parts += [statistics.sketch_x, statistics.x]
    for part in parts:
        assert len(repr(part)) < 800 and repr(part).count("\n") < 20, repr(part)
        assert repr(part).startswith(type(part).__name__)
    for table in (result.by_column, result.subsets):
        lines = repr(table).splitlines()
        assert len(lines) <= 21 and max(map(len, lines)) <= 160
        more = len(table) - 20
        assert lines[-1] == f"... and {more} more rows" if more > 0 else len(lines) == len(table)
    assert "prob_h1" in repr(result.lengthscale) and "array" in repr(result.lengthscale)


# ---- where a file is


def test_a_string_is_a_path_unless_it_starts_with_a_brace(tmp_path, monkeypatch):
    result = ts.test(*draw(), points=5)
    monkeypatch.chdir(tmp_path)
    text = result.to_json("answer.json")
    expected = ts.TwoSampleResult.from_json(text)
    for source in ("answer.json", Path("answer.json"), str(tmp_path / "answer.json"), f"\n {text}"):
        assert ts.TwoSampleResult.from_json(source) == expected
    plan = ts.plan(*draw())
    plan.to_json("plan.json")
    assert ts.Plan.from_json("plan.json") == plan
    each = ts.test_each(*draw(3))
    each.to_json("each.json")
    assert ts.EachResult.from_json("each.json") == each


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("missing.json", "there is no such file"),
        ("", "not JSON|directory"),
        (".", "directory|Permission"),
        ("other.txt", "not JSON"),
        ("latin.txt", "not JSON"),
        ("n" * 5000, "name too long|no such file"),
        ("a\0b", "null"),
        ("{", "not JSON"),
    ],
)
def test_a_source_that_is_none(source, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("other.txt").write_text("x,y\n")
    Path("latin.txt").write_bytes("größe".encode("latin-1"))
    with pytest.raises(InputError, match=rf"(?i)^source.*({why}).*; pass what to_json returned or its path") as refused:
        ts.TwoSampleResult.from_json(source)
    assert refused.value.argument == "source" and len(str(refused.value)) < 500


def test_a_source_of_another_type():
    with pytest.raises(InputTypeError, match=r"^source: expected JSON text or a path, got int"):
        ts.TwoSampleResult.from_json(3)
