"""Every kind of result has every output, from the facts, tables and panels that it offers."""

import json

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.errors import InputError
from twosample.results.each_result import EachResult
from twosample.results.result import Result

HOSTILE = "<script>alert(1)</script>"


def _frame():
    rng = np.random.default_rng(0)
    shift = np.repeat([0.0, 0.0, 1.5], 40)
    return pl.DataFrame(
        {"arm": np.repeat(["a", "b", HOSTILE], 40), "u": rng.normal(size=120) + shift, "v": rng.normal(size=120)}
    )


def _watched():
    rng = np.random.default_rng(1)
    monitor = ts.Monitor(points=10)
    for _ in range(3):
        monitor.update(rng.normal(size=(40, 2)), rng.normal(1.0, 1.0, size=(40, 2)))
    return monitor.state


KINDS = {
    "two samples": lambda: ts.test(_frame(), by="arm", groups=["a", HOSTILE]),
    "one column": lambda: ts.test([0.1, 0.4, 0.7, 0.9, 1.2], [2.1, 2.4, 2.6, 2.9, 3.2]),
    "all columns together": lambda: ts.test(_frame(), by="arm", groups=["a", "b"], model="paper"),
    "objects": lambda: ts.test(["ab" * 5, "abb" * 4, "aab"], ["bb" * 4, "bba" * 3, "ba"], kernel="kmer"),
    "law": lambda: ts.goodness(_frame()["u"].to_list(), "norm(0, 1)"),
    "each column": lambda: ts.test_each(_frame(), by="arm", groups=["a", HOSTILE]),
    "several groups": lambda: ts.ksample(_frame(), by="arm"),
    "against a reference": lambda: ts.ksample(_frame(), by="arm", reference="a"),
    "independence": lambda: ts.independence(_frame(), x=["u"], y=["v", "arm"]),
    "stream": _watched,
    "sizes": lambda: ts.design(_frame(), by="arm", groups=["a", HOSTILE], sizes=[20, 60], draws=40),
    "another test": lambda: ts.baselines.jzs([1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0, 9.0]),
}


@pytest.fixture(scope="module", params=list(KINDS))
def result(request):
    return KINDS[request.param]()


def test_it_prints_its_facts(result):
    facts, text = result.facts(), str(result)
    assert isinstance(result, Result) and text.startswith(facts.verdict)
    for fact in facts.lines:
        assert f"  {fact.label:<21}{fact.value}{fact.detail}" in text
    assert facts["data"] and facts.large


def test_its_tables_are_frames_of_plain_values(result):
    for name, table in result.tables().items():
        frame = result.to_frame("polars", table=name)
        assert frame.shape == (len(table), len(table.columns)) and frame.columns == list(table.columns)
    assert result.to_frame("polars").equals(result.to_frame("polars", table=next(iter(result.tables()))))
    with pytest.raises(InputError, match="table: 'none' is unknown; use one of "):
        result.to_frame(table="none")


def test_its_page_shows_facts_and_tables_and_escapes_names(result, tmp_path):
    page = result.report(tmp_path / "page.html").read_text("utf-8")
    facts = result.facts()
    for label, value in facts.large:
        assert label.replace(">", "&gt;") in page and value.replace("<", "&lt;").replace(">", "&gt;") in page
    assert HOSTILE not in page and HOSTILE not in result._repr_html_()
    assert json.loads(page.split('id="twosample-result">')[1].split("</script>")[0])


def test_its_paragraph_says_what_was_found_and_what_to_cite(result):
    text = result.text()
    assert "\n" not in text and f"twosample {ts.__version__}" in text and "Journal of Computational" in text


def test_it_is_drawn_where_there_is_something_to_draw(result):
    if result.panels():
        assert result.plot(figsize=(6.0, 4.0)).axes
    else:
        with pytest.raises(InputError, match="nothing to draw"):
            result.plot()


def test_panels_hold_numbers(result):
    for panel in result.panels().values():
        for values in panel.series.values():
            across, up = values[:2]
            assert np.asarray(up, dtype=float).ndim == 1
            assert panel.kind == "map" or len(across) == len(up)


def test_json_says_the_same(result):
    again = type(result).from_json(result.to_json())
    assert again.facts().verdict == result.facts().verdict and again.to_json() == result.to_json()


def test_robustness_needs_the_data(result):
    if not result.has_robustness:
        with pytest.raises(InputError, match=r"robustness: .*(no data|fixes what would be varied)"):
            result.robustness()
        return
    again = type(result).from_json(result.to_json())
    assert not again.has_robustness
    question = {"KSampleResult": "ksample", "GoodnessResult": "goodness", "IndependenceResult": "independence"}
    called = question.get(type(result).__name__, "test")
    with pytest.raises(InputError, match=f"no data to look at again; call it on what {called} returned"):
        again.robustness()


def test_objects_have_no_columns():
    result = KINDS["objects"]()
    for name in ("lengthscale", "columns", "points", "by_column"):
        with pytest.raises(AttributeError, match=f"ObjectsResult has no '{name}': objects have no columns"):
            getattr(result, name)
    assert not {"lengthscale", "columns", "points"} & set(json.loads(result.to_json()))


def test_objects_of_older_files_are_read():
    result = KINDS["objects"]()
    content = result.to_dict()
    posterior = content.pop("parameter_posterior")
    older = {**content, "lengthscale": {"mass_h1": posterior}, "columns": [], "points": None}
    assert ts.ObjectsResult.from_json(json.dumps(older)) == result
    with pytest.raises(InputError, match="lacks 'parameter_posterior'"):
        ts.ObjectsResult.from_json(json.dumps(content))


def test_verdicts_name_what_was_asked():
    rng = np.random.default_rng(2)
    law = ts.goodness(rng.normal(size=200), "norm(0, 1)")
    assert "the sample comes from the law" in law.verdict and "samples" not in law.verdict
    groups = ts.ksample([rng.normal(size=60) for _ in range(3)])
    assert "all groups come from one distribution" in groups.verdict


def test_columns_say_which_sample_by_name():
    table = KINDS["two samples"]()
    assert table.by_column[0].words.startswith(f"larger in {HOSTILE}, ")
    assert table.changed(names=("first", "second")).by_column[0].words.startswith("larger in second, ")


def test_the_evidence_of_each_column_is_shown_in_few_words():
    found = EachResult(
        column=("a", "b", "c"), n_x=np.full(3, 9), n_y=np.full(3, 9), log_bf10=np.array([7.0, 0.0, -2.0]),
        prob_h1=np.array([1.0, 0.5, 0.1]), q=np.zeros(3), auc=np.full(3, 0.5), direction=("", "", ""), share=0.5,
        prob_larger=np.full(3, 0.5), prob_beyond_rope=np.full(3, np.nan),
        group_share=None, fdr=0.1, paired=False, model=ts.models.PRESETS["adaptive"], groups={}, skipped={}, notes=(),
    )  # fmt: skip
    _, rows = found.tables()["columns"].shown()
    assert [row[-1] for row in rows] == ["very strong: different", "not clear", "positive: same"]
