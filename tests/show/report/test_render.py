"""The page of a result: what it says, in which order, that names stay names, and that it is one small file."""

import itertools
import json
import math
import re

import numpy as np
import pytest

import twosample as ts
from twosample.common.words import probability_in_words
from twosample.errors import DroppedDataWarning, InputError, InputTypeError
from twosample.show import report

HOSTILE = "<script>alert(1)</script>"
ORDER = ["verdict", "columns", "samples", "witness", "robustness", "posteriors", "details"]
HEADINGS = {f"h{level}": level for level in range(1, 7)}


@pytest.fixture(scope="session", params=["one", "two", "five", "together"])
def shown(request, robustness, page_of):
    """Each kind of result with its page."""
    result = request.getfixturevalue(request.param)
    return result, page_of(report.render(result, robustness))


def test_sections_are_in_order(shown):
    _, page = shown
    assert [one.attributes["id"] for one in page.all("section")] == ORDER


def test_without_robustness_its_section_is_left_out(one, page_of):
    page = page_of(report.render(one))
    assert [one.attributes["id"] for one in page.all("section")] == [name for name in ORDER if name != "robustness"]


def test_every_element_is_closed_and_ids_are_unique(shown):
    _, page = shown
    assert page.unclosed == [] and page.open == []
    ids = [one.attributes["id"] for one in page.elements if "id" in one.attributes]
    assert len(ids) == len(set(ids))


def test_headings_go_down_one_step_at_a_time(shown, each, page_of):
    for page in (shown[1], page_of(report.render(each))):
        levels = [HEADINGS[one.tag] for one in page.elements if one.tag in HEADINGS]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_nothing_is_fetched(shown, each):
    for text in (shown[1].source, report.render(each)):
        addresses = re.findall(r"""(?:src|href|action|data|poster)\s*=\s*["']([^"']*)""", text)
        assert set(addresses) <= {"#main", "data:,"}
        assert "@import" not in text and "url(" not in text and "fetch(" not in text and "http" not in text


def test_the_verdict_and_its_numbers_come_first(one, page_of):
    page = page_of(report.render(one))
    assert page.one("h1").text == f"{one.verdict[0].upper()}{one.verdict[1:]}."
    said = page.one("section", id="verdict").text
    low, high = one.effect.auc.interval(0.9)
    for words in (
        "before and after come from different distributions is",
        probability_in_words(one.prob_h1).lstrip("<> "),
        f"{one.log_bf10:+.2f}",
        f"90 % between {low:.2f} and {high:.2f}",
        "P(AUC > 0.55)",
        "p-value",
        "e-value",
    ):
        assert words in said


def test_the_table_beside_the_slider_follows_bayes(mild, page_of):
    page = page_of(report.render(mild))
    assert float(page.one("div", id="odds").attributes["data-log-bf10"]) == mild.log_bf10
    slider = page.one("input", id="odds-range").attributes
    assert float(slider["value"]) == math.log10(mild.prior_odds)
    start = page.source.index('id="odds"')
    rows = re.findall(r"<tr><td>([^<]*) : ([^<]*)</td><td>([^<]*)</td></tr>", page.source[start:])
    assert len(rows) == 10
    for for_, against, words in rows:
        prior = float(for_) / float(against)
        posterior = np.exp(-np.logaddexp(0.0, -(mild.log_bf10 + np.log(prior))))
        words = words.replace("&lt;", "<").replace("&gt;", ">")
        if words[0] in "<>":
            assert words == probability_in_words(posterior)
        else:  # odds are written to three digits
            assert float(words) == pytest.approx(posterior, abs=2e-3)


def test_prior_odds_beyond_the_slider_widen_it(page_of):
    result = ts.test([0.1, 0.4, 0.7, 0.9, 1.2, 0.3], [2.1, 2.4, 2.6, 2.9, 3.2, 2.2], prior_odds=1e-5)
    slider = page_of(report.render(result)).one("input", id="odds-range").attributes
    assert float(slider["min"]) <= -5.0 == pytest.approx(float(slider["value"]))


def test_columns_are_sorted_by_evidence(five, page_of):
    page = page_of(report.render(five))
    names = [one.text for one in page.all("th", scope="row")]
    assert names == [row.column for row in five.by_column]
    assert names[0] == "dose"


def test_columns_that_the_result_shows_have_a_small_picture(five, page_of):
    page = page_of(report.render(five))
    cells = page.source.split('<td class="picture">')[1:]
    pictured = {
        name.text for name, cell in zip(page.all("th", scope="row"), cells, strict=True) if cell.startswith("<svg")
    }
    assert pictured == {five.columns[one.column] for one in five.picture.columns} != set()


def test_a_model_that_does_not_say_which_columns_differ_says_so(together, page_of):
    page = page_of(report.render(together))
    assert "does not say which of them differ" in page.one("section", id="columns").text


def test_every_chart_has_words_and_a_table(shown):
    _, page = shown
    figures = page.source.split("<figure")[1:]
    assert len(figures) >= 6
    for figure in figures:
        assert 'role="img"' in figure and "<title>" in figure and "<desc>" in figure
        assert re.search(r'aria-label="[^"]{10,}"', figure)
        assert "<details>" in figure and figure.count("<tr>") >= 3
        assert "nan" not in figure.lower().split("<figcaption>")[1] and "inf " not in figure


def test_where_the_witness_is_surely_not_zero_is_said_and_drawn(one, page_of):
    page = page_of(report.render(one))
    driver = one.witness_picture
    low, _ = driver.witness.band(0.95)
    at = driver.grid[0]
    assert (low > 0).any(), "the example is meant to have such a place"
    said = page.one("section", id="witness").text
    first = at[np.flatnonzero(low > 0)[0]]
    assert f"surely more of before from {first:.3g}" in said
    section = page.source.split('id="witness"')[1].split("</section>")[0]
    drawn = re.search(r'<rect class="x-sure" x="([\d.]+)"[^>]* width="([\d.]+)"', section)
    last = at[np.flatnonzero(low > 0)[-1]]
    left, right = 14.0, 440.0 - 14.0
    expected = left + (first - at[0]) / (at[-1] - at[0]) * (right - left)
    assert float(drawn[1]) == pytest.approx(expected, abs=0.06)
    assert float(drawn[2]) == pytest.approx((last - first) / (at[-1] - at[0]) * (right - left), abs=0.11)


def test_where_two_columns_surely_differ_is_said(two, page_of):
    said = page_of(report.render(two)).one("section", id="witness").text
    clear = np.abs(two.witness_picture.mean) > 1.96 * two.witness_picture.sd
    assert clear.any() and "Surely more of" in said


def test_no_difference_is_said(page_of):
    rng = np.random.default_rng(0)
    page = page_of(report.render(ts.test(rng.normal(size=80), rng.normal(size=80))))
    assert "Nowhere along value is the witness surely different from zero" in page.one("section", id="witness").text
    assert "no larger than AUC" in page.one("section", id="verdict").text


def test_robustness_is_shown_with_its_sentence(one, robustness, page_of):
    page = page_of(report.render(one, robustness))
    section = page.one("section", id="robustness")
    assert robustness.sentence in section.text
    for curve in robustness.curves:
        assert f"log BF10 against {curve.label}" in section.text
        assert f"{curve.log_bf10[0]:+.2f}" in section.text


def test_names_stay_text(five, robustness, page_of):
    text = report.render(five, robustness)
    page = page_of(text)
    assert HOSTILE not in text and "<b>" not in text.split("<ul class")[0]
    assert len(page.all("script")) == 2, "the JSON and our own"
    assert not set("<>&") & set(page.one("script", id="twosample-result").text)
    assert all(
        "alert(1)" not in one.text or one.attributes.get("type") == "application/json" for one in page.all("script")
    )
    assert any(one.text == HOSTILE for one in page.all("th", scope="row"))
    assert page.unclosed == []


def test_names_stay_text_in_one_test_a_column(each, page_of):
    text = report.render(each)
    assert HOSTILE not in text
    held = page_of(text).one("script", id="twosample-columns").text
    assert not set("<>&") & set(held)
    assert HOSTILE in json.loads(held)["name"]


def test_names_stay_text_in_notebooks(five, each):
    for result in (five, each):
        assert HOSTILE not in result._repr_html_() and "<script" not in result._repr_html_()


def test_the_result_is_in_the_page(shown):
    result, page = shown
    read = ts.TwoSampleResult.from_json(page.one("script", id="twosample-result").text)
    assert read.log_bf10 == result.log_bf10 and read.names == result.names


def test_no_rows_unless_asked_for():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=60), rng.normal(size=60) + 1.0
    held = {f"{value!r}" for value in (*x.tolist(), *y.tolist())}
    for keep, expected in ((False, 0), (True, 120)):
        text = report.render(ts.test(x, y, points=20, keep_rows=keep))  # with more of them the witness does not fit
        assert sum(value in text for value in held) == expected
        assert ("no rows of the data" in text) is not keep


def test_the_lines_of_code_reproduce_it(page_of):
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
    several = {"prior_odds": 0.2, "points": 25, "subsets": None}
    for options in ({}, {"paired": True}, {"drop": [1]}, several, {"model": "paper"}):
        result = ts.test(x, y, **options)
        code = page_of(report.render(result)).one("code").text.strip().splitlines()
        assert len(code) == 2
        again = eval(code[1].removesuffix('.report("report.html")'), {"ts": ts, "x": x, "y": y})
        assert again.log_bf10 == pytest.approx(result.log_bf10, rel=1e-9)
        assert again.prob_h1 == pytest.approx(result.prob_h1, rel=1e-9)


def test_assumptions_versions_and_what_was_left_out(page_of):
    import platform

    import polars as pl

    rng = np.random.default_rng(8)
    x, y = (pl.DataFrame({"a": rng.normal(size=50), "same": np.ones(50)}) for _ in range(2))
    with pytest.warns(DroppedDataWarning):
        result = ts.test(x, y)
    assert result.left_out and result.diagnostics.notes
    said = page_of(report.render(result)).one("section", id="details").text
    for words in (
        *result.diagnostics.notes,
        "half-Cauchy prior of scale 0.3",
        "0.0625 to 8 times",
        ts.__version__,
        platform.python_version(),
        np.__version__,
    ):
        assert words in said
    for one in result.left_out:
        assert one.column in said and one.reason in said


def test_posteriors_of_fixed_parameters_are_not_drawn(page_of):
    x, y = [0.1, 0.4, 0.7, 0.9, 1.2, 0.3], [2.1, 2.4, 2.6, 2.9, 3.2, 2.2]
    page = page_of(report.render(ts.test(x, y, model="paper", lengthscale=1.0)))
    assert "were fixed, not inferred" in page.one("section", id="posteriors").text


def test_pages_are_small(shown, each):
    assert len(shown[1].source.encode()) < 400_000
    assert len(report.render(each).encode()) < 400_000


@pytest.fixture(scope="session")
def many():
    """20,000 columns, as a result that was not computed."""
    rng = np.random.default_rng(9)
    evidence = np.sort(rng.normal(-1.5, 2.0, 20_000))[::-1]
    names = tuple(f"ENSG{number:011d}" for number in rng.permutation(20_000))
    small = ts.test_each(rng.normal(size=(20, 2)), rng.normal(size=(20, 2)))
    from dataclasses import replace

    from twosample.inference import discoveries

    share = discoveries.learn_share(evidence)
    prob = discoveries.posterior(evidence, share)
    return replace(
        small,
        column=names,
        log_bf10=evidence,
        n_x=np.full(20_000, 20),
        n_y=np.full(20_000, 20),
        prob_h1=prob,
        q=discoveries.q_values(prob),
        auc=rng.uniform(0.5, 1.0, size=20_000),
        prob_larger=rng.uniform(size=20_000),
        prob_beyond_rope=np.full(20_000, np.nan),
        direction=tuple(rng.choice(["larger in x", "larger in y", "different shape"], 20_000).tolist()),
        share=share,
    )


def test_twenty_thousand_columns_are_less_than_a_megabyte(many, page_of):
    text = report.render(many)
    assert len(text.encode()) < 1_000_000
    page = page_of(text)
    assert len(page.all("th", scope="row")) == 50
    content = json.loads(page.one("script", id="twosample-columns").text)
    assert content["name"] == list(many.column)
    np.testing.assert_allclose(content["log_bf10"], many.log_bf10, rtol=5.1e-4)


def test_names_too_long_for_a_page_are_cut_off_and_counted(many):
    from dataclasses import replace

    text = report.render(replace(many, column=tuple(f"{name}{'x' * 80}" for name in many.column)))
    assert len(text.encode()) < 1_000_000
    assert "There is room for the first" in text


def test_more_than_fifty_columns_of_one_test(page_of):
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=(40, 60)), rng.normal(size=(40, 60))
    y[:, 7] += 2.0
    result = ts.test(x, y)
    page = page_of(report.render(result))
    assert len(page.all("th", scope="row")) == 50
    content = json.loads(page.one("script", id="twosample-columns").text)
    assert content["name"] == [row.column for row in result.by_column]
    assert len(page.source.encode()) < 1_000_000


def test_a_result_read_from_a_file_has_a_report(five, page_of):
    read = ts.TwoSampleResult.from_json(five.to_json())
    assert page_of(report.render(read)).one("h1").text == page_of(report.render(five)).one("h1").text


def test_files_of_the_first_schema_have_a_report(page_of):
    from pathlib import Path

    folder = Path(__file__).parents[2] / "reference"
    for path in sorted(folder.glob("schema_1_*.json")):
        page = page_of(report.render(ts.TwoSampleResult.from_json(path)))
        assert len(page.all("figure")) >= 3


def test_report_writes_and_returns_the_path(one, each, tmp_path):
    for result in (one, each):
        assert result.report(str(tmp_path / "a.html")) == tmp_path / "a.html"
        assert (tmp_path / "a.html").read_text("utf-8").startswith("<!doctype html>")
    with pytest.raises(InputError, match=r"must end in \.html"):
        one.report(tmp_path / "a.pdf")
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_other_things_have_no_report():
    with pytest.raises(InputTypeError, match="expected a result or a Monitor, got str"):
        report.render("a result")


def _odd():
    """Data that make some part of a page hard to draw."""
    rng = np.random.default_rng(11)
    masses = np.where(rng.random((2, 80)) < 0.4, 0.0, rng.normal(size=(2, 80)))
    return {
        "two rows": ([1.0, 2.0], [3.0, 4.0], {}),
        "Boolean": (rng.random(50) > 0.5, rng.random(50) > 0.2, {}),
        "point mass": (masses[0], masses[1] + 0.1, {}),
        "heavy tails": (rng.standard_cauchy(100), 2.0 * rng.standard_cauchy(100), {}),
        "huge": (rng.normal(size=50) * 1e300, rng.normal(size=50) * 1e300, {}),
        "tiny": (rng.normal(size=50) * 1e-300, rng.normal(size=50) * 1e-300, {}),
        "far from zero": (rng.normal(size=50) * 1e-9 + 1.0, rng.normal(size=50) * 1e-9 + 1.0, {}),
        "paper": (rng.normal(size=(40, 2)), rng.normal(size=(40, 2)), {"model": "paper", "scale": "robust"}),
        "published": (rng.normal(size=(40, 3)), rng.normal(size=(40, 3)), {"model": "published"}),
        "fixed": (rng.normal(size=40), rng.normal(size=40), {"lengthscale": "median"}),
        "certain": (rng.normal(size=300), rng.normal(size=300) + 9.0, {"prior_odds": 1e200}),
    }


@pytest.mark.parametrize("kind", _odd())
@pytest.mark.filterwarnings("ignore::twosample.errors.TwoSampleWarning")
def test_odd_data_are_drawn_with_numbers(kind, page_of):
    x, y, options = _odd()[kind]
    page = page_of(report.render(ts.test(x, y, **options)))
    assert len(page.all("figure")) >= 2 and page.unclosed == []
    for element in page.elements:
        if "svg" in (element.tag, *element.parents):
            shown = " ".join(element.attributes.get(name, "") for name in ("d", "x", "y", "width", "height"))
            assert not re.search("nan|inf", shown)
        if element.tag == "td":
            assert not re.fullmatch("[+-]?(nan|inf)", element.text)


def test_numbers_along_an_axis_are_told_apart(page_of):
    x, y, _ = _odd()["far from zero"]
    page = page_of(report.render(ts.test(x, y)))
    start = page.source.index('id="samples"')
    numbers = re.findall(
        r'<text class="label" [^>]*text-anchor="middle">([^<]*)<', page.source[start:].split("</svg>")[0]
    )
    assert len(numbers) >= 3 and len(set(numbers)) == len(numbers)
