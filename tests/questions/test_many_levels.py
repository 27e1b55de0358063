"""Categories of more levels than have coordinates: in every question and from every place, and what it says of them."""

import dataclasses
import json

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample import cli
from twosample.data.categories import distance_of_levels, expanded, sizes_of
from twosample.errors import DroppedDataWarning
from twosample.inference.all_levels import LevelCounts
from twosample.inference.mixture import prior_weights, stack_log_bf10
from twosample.models import HalfCauchy

NOTE = "has 60 levels that several rows share: the 31 most common ones are compared, and all others as one."


def airports(seed, n, new=0.0, levels=60, prefix="old"):
    """Names of airports, all as common as any, and a share of rows with one name more."""
    rng = np.random.default_rng(seed)
    names = np.array([f"{prefix} {place}" for place in range(levels)] + ["EWR2"])
    places = np.where(rng.random(n) < new, levels, rng.integers(0, levels, size=n))
    return pl.DataFrame({"airport": names[places], "delay": rng.normal(size=n)})


OLD, LIKE, NEW = airports(1, 900), airports(2, 800), airports(3, 700, 0.25)


def counts_of(x, y):
    names = sorted(set(x["airport"]) | set(y["airport"]))
    return LevelCounts(*(np.array([*((f["airport"] == name).sum() for name in names), 0], float) for f in (x, y)))


def test_half_of_the_weight_of_a_column_is_that_of_all_its_levels():
    """The answer by hand from that of the same plan without the levels that have no coordinates."""
    x, y = OLD[["airport"]], NEW[["airport"]]
    plan = ts.plan(x, y)
    coded = dataclasses.replace(plan, levels=(plan.levels[0][:31],))
    assert prior_weights(coded).tolist() == [0.5, 0.5] and prior_weights(plan).tolist() == [0.5, 0.25, 0.25]
    assert plan.parts[0].points.shape == (1, 32, 32)
    [of_codes] = coded.statistics(x, y).parts
    single = coded.test(coded.statistics(x, y))
    features = coded.features_of(0)
    [[alone]] = stack_log_bf10(features, lambda tests: of_codes, (plan.model,))
    main = np.log(2.0 * np.exp(single.log_bf10 - 50.0) - np.exp(alone - 50.0)) + 50.0
    by_hand = [main + np.log(0.5), alone + np.log(0.25), counts_of(OLD, NEW).log_bf10(plan.model) + np.log(0.25)]
    assert plan.test(plan.statistics(x, y)).log_bf10 == pytest.approx(np.logaddexp.reduce(by_hand), abs=1e-9)


@pytest.mark.parametrize("columns", [["airport"], ["airport", "delay"]])
@pytest.mark.parametrize("levels", [10, 100, 1000, 10_000])
def test_where_no_level_is_shared_the_witness_tells_all_rows_apart(levels, columns):
    x, y = airports(4, 5000, levels=levels), airports(5, 5000, levels=levels, prefix="new")
    result = ts.test(x, y, columns=columns)
    assert result.prob_h1 > 0.95 and result.effect.auc.mean >= 0.95 and result.effect.auc.given_different(0.05) > 0.95
    assert result.verdict == "very strong evidence of a very large difference"
    first = ts.test_each(x, y, columns=columns)
    assert first.auc[0] >= 0.95 and first.log_bf10[0] > 1000.0


def test_where_the_laws_are_the_same_the_witness_tells_none():
    found = [ts.test(airports(seed, 1000), airports(seed + 50, 1000)) for seed in range(6)]
    assert np.mean([one.effect.auc.mean for one in found]) < 0.52
    assert np.mean([one.log_bf10 for one in found]) < -1.0
    assert not any(one.only_in_one for one in found)


def test_places_agree():
    """Parts that merge, blocks, a device, statistics from a file, and a plan from a file."""
    expected = ts.test(OLD, NEW)
    plan = ts.Plan.from_json(ts.plan(OLD, NEW).to_json())
    parts = [plan.statistics(OLD[:400], NEW[:10]), plan.statistics(OLD[400:], NEW[10:])]
    merged = ts.FeatureStatistics.from_bytes(parts[0].merge(parts[1]).to_bytes())
    for found in (
        plan.test(merged),
        ts.test(ts.blocks([OLD[:300], OLD[300:]]), ts.blocks([NEW])),
        ts.test(OLD, NEW, engine="jax"),
    ):
        assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-6)
        assert found.effect.auc.mean == pytest.approx(expected.effect.auc.mean, abs=1e-6)
        assert found.only_in_one == expected.only_in_one and found.levels == expected.levels
        assert found.by_column[0].words == expected.by_column[0].words
    assert sum(merged.levels_x) == 900 and sum(merged.levels_y) == 700


def test_codes_beyond_the_coordinates_are_one():
    levels = (tuple(map(str, range(40))), None)
    sizes = sizes_of(levels)
    assert sizes.tolist() == [32, 0]
    rows = np.array([[3.0, 0.5], [31.0, 0.5], [39.0, 0.5], [40.0, 0.5]])
    found = expanded(rows, sizes, np.array([2.0, 1.0]))
    assert found[:, :32].argmax(axis=1).tolist() == [3, 31, 31, 31] and (found[:, :32].sum(axis=1) == 2.0).all()
    jnp = pytest.importorskip("jax.numpy")
    assert np.asarray(expanded(jnp.asarray(rows), sizes, np.array([2.0, 1.0]), jnp)).tolist() == found.tolist()


def test_pictures_and_distances_are_those_of_the_coordinates():
    plan, names = ts.plan(OLD, NEW), pl.concat([OLD, NEW])["airport"]
    codes = np.array([plan.levels[0].index(name) for name in names], dtype=float)
    assert distance_of_levels(codes, 32) == distance_of_levels(np.minimum(codes, 31.0), 32) == 1.0 / plan.scale[0]
    result = ts.test(OLD, NEW, keep_rows=True)
    [column, *_] = result.picture.columns
    assert column.labels == (*plan.levels[0][:31], "(other)")
    assert column.counts.sum(axis=1).tolist() == list(result.picture.rows) and not column.outside.any()
    assert max(result.shown_x[:, 0].max(), result.shown_y[:, 0].max()) == 31.0
    assert result.picture.plane.outside[0] < 50


def test_labels_are_permuted_with_their_levels():
    assert ts.test(OLD, NEW, permutations=99).pvalue == 0.01
    pvalues = [ts.test(airports(s, 150), airports(s + 9, 90), permutations=19).pvalue for s in range(12)]
    assert 0.2 < np.mean(pvalues) < 0.8
    evalue = ts.test(OLD, LIKE, permutations=49).evalue
    assert evalue < 20.0


def test_of_few_rows_all_labellings_count():
    """Two rows against 100 have 5,151 labellings: every test is divided by its mean over them."""
    delay = np.random.default_rng(0).normal(size=100)
    y = pl.DataFrame({"c": [f"a{place // 2}" for place in range(100)], "v": delay})
    x = pl.DataFrame({"c": ["a1", "a1"], "v": [0.5, -0.2]})
    result = ts.test(x, y)
    assert result.diagnostics.permutations == 5_151 and result.pvalue < 0.1
    each = ts.test_each(x, y)
    by_column = {row.column: row.log_bf10 for row in result.by_column}
    assert dict(zip(each.column, each.log_bf10, strict=True)) == pytest.approx(by_column, abs=1e-6)


def test_questions_agree():
    result, each = ts.test(OLD, NEW), ts.test_each(OLD, NEW)
    assert each.column[0] == "airport" and each.log_bf10[0] == pytest.approx(result.by_column[0].log_bf10, abs=1e-9)
    assert each.direction[0] == result.by_column[0].words and each.auc[0] == pytest.approx(result.by_subset.auc[0])
    in_blocks = ts.test_each(ts.blocks([OLD]), ts.blocks([NEW]))
    assert in_blocks.notes == each.notes and in_blocks.log_bf10 == pytest.approx(each.log_bf10)
    two = ts.ksample({"a": OLD, "b": NEW})
    assert two.log_bf10 == pytest.approx(result.log_bf10, abs=1e-6)
    assert two.pair_log_bf10[0] == pytest.approx(result.log_bf10, abs=1e-2)
    assert two.column_log_bf10[0] == pytest.approx(result.by_column[0].log_bf10, abs=1e-6)
    three = ts.ksample({"a": OLD, "b": NEW, "c": LIKE}, permutations=19)
    assert three.partitions[0].groups == (("a", "c"), ("b",)) and three.pvalue == 0.05
    assert three.column_log_bf10[0] > 50.0
    scales = result.robustness().curves[0]
    other = dataclasses.replace(result.model, amplitude=HalfCauchy(0.05))
    again = ts.test(OLD, NEW, model=other).log_bf10
    assert abs(again - result.log_bf10) > 0.5 and scales.log_bf10[0] == pytest.approx(again, abs=1e-2)


def test_where_not_all_levels_are_compared_a_note_says_so():
    same = airports(8, 900)
    results = [
        ts.test(OLD, same, paired=True),
        ts.test(OLD, same, subsets=None),
        ts.test(OLD, same, lengthscale=1.0),
        ts.Reference.of(OLD).test(NEW),
    ]
    for result in results:
        assert any(NOTE in note for note in result.diagnostics.notes)
    assert any(NOTE in note for note in ts.test_each(OLD, same, paired=True).notes)
    assert any(NOTE in note for note in ts.ksample({"a": OLD, "b": same}, lengthscale=1.0).diagnostics.notes)
    law = ts.goodness(OLD[["airport"]], lambda size, rng: airports(rng.integers(99), size)[["airport"]], draws=2000)
    assert any(NOTE in note for note in law.diagnostics.notes)
    with pytest.warns(DroppedDataWarning, match="31 most common"):
        stream = ts.test(OLD, same).sequential(batches=3)
    assert any("31 most common" in note for note in stream.state.facts().notes)
    pilot = ts.plan(pl.concat([OLD, LIKE]))
    assert any("all others are compared as one" in note for note in pilot.notes)
    assert not any("airport" in note for note in ts.test(OLD, same).diagnostics.notes)


def test_new_levels_are_said_wherever_a_result_is_read(tmp_path, monkeypatch, capsys):
    share = (NEW["airport"] == "EWR2").mean()
    words = f"{100 * share:.0f} % of rows of today.csv have a level of 'airport' that yesterday.csv never had: 'EWR2'."
    result = ts.test(OLD, NEW).of_files(("yesterday.csv", "today.csv"), ())
    assert words in result.summary() and words in result.facts().notes
    [one] = json.loads(result.to_json())["only_in_one"]
    assert one == {
        "column": "airport", "sample": 1, "rows": (NEW["airport"] == "EWR2").sum(), "share": share,
        "levels": ["EWR2"], "count": 1,
    }  # fmt: skip
    again = ts.TwoSampleResult.from_json(result.to_json())
    assert again.only_in_one == result.only_in_one and words in again.summary()
    page = tmp_path / "page.html"
    result.report(page)
    assert "never had" in page.read_text() and "EWR2" in page.read_text()
    # No names of rare levels in a file: those of the pictures, and the new ones.
    assert len(json.loads(result.to_json())["levels"][0]) == 31
    monkeypatch.chdir(tmp_path)
    OLD.write_csv("yesterday.csv")
    NEW.write_csv("today.csv")
    with pytest.raises(SystemExit):
        cli.main(["test", "yesterday.csv", "today.csv"])
    assert words in capsys.readouterr().out


def test_few_levels_are_named_too():
    x = pl.DataFrame({"kind": ["a", "b", "c"] * 40})
    y = pl.DataFrame({"kind": ["a", "b", "c", "d"] * 30})
    [one] = ts.test(x, y).only_in_one
    assert (one.column, one.sample, one.levels, one.share) == ("kind", 1, ("d",), 0.25)
    assert ts.test(x, y[: len(x)], paired=True).only_in_one == (one,)
    assert ts.test_each(x, y).notes == (one.words(("x", "y")),)
    few = pl.DataFrame({"kind": ["a", "b", "c"] * 40 + ["d"] * 2})
    assert ts.test(x, few).only_in_one == ()


def test_free_text_is_still_left_out():
    x, y = (airports(seed, 200, levels=100_000) for seed in (1, 2))
    with pytest.warns(DroppedDataWarning, match="'airport' .text that is different in"):
        assert ts.test(x, y).columns == ("delay",)
