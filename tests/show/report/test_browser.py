"""Reports in a real browser: the distribution's Chromium, driven by Playwright. Skipped where either is missing."""

import re
from pathlib import Path

import numpy as np
import pytest

from twosample.common.words import probability_in_words
from twosample.show import report

KINDS = ["one", "mild", "two", "five", "together", "each"]
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def pages(request, robustness, tmp_path_factory):
    """Files of all kinds of reports."""
    folder = tmp_path_factory.mktemp("reports")
    for kind in KINDS:
        result = request.getfixturevalue(kind)
        report.write(result, folder / f"{kind}.html", None if kind == "each" else robustness)
    return folder


@pytest.fixture
def opened(browser, pages):
    """Open a report; whatever it asks for or complains about fails the test."""
    contexts = []

    def opened(kind, width=1200, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        trouble, requests = [], []
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((pages / f"{kind}.html").as_uri())
        contexts.append((context, trouble, requests))
        return page

    yield opened
    for context, trouble, requests in contexts:
        context.close()
        assert trouble == []
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
        assert len([url for url in requests if url.startswith("file:")]) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_is_drawn(opened, kind):
    page = opened(kind)
    sizes = page.eval_on_selector_all(
        "svg[role=img]",
        """all => all.map(one => {
            const box = one.getBoundingClientRect();
            const marks = [...one.querySelectorAll('path, rect')].map(mark => mark.getBBox());
            return [box.width, box.height, Math.max(...marks.map(mark => mark.width)), one.outerHTML.includes('NaN')];
        })""",
    )
    assert len(sizes) >= 2
    for width, height, marks, broken in sizes:
        assert width > 30 and height > 5 and marks > 0 and not broken


def test_the_verdict_is_there(opened, one):
    page = opened("one")
    assert page.inner_text("h1").lower() == f"{one.verdict}."


def test_the_slider_changes_the_probability(opened, mild):
    assert abs(mild.log_bf10) < 5.0, "the example is meant to depend on the prior odds"
    page = opened("mild")
    assert page.inner_text("#odds-prob") == probability_in_words(mild.prob_h1)
    for log10 in (-3.0, -2.25, -1.0, 0.0, 0.5, 3.0):
        page.eval_on_selector(
            "#odds-range",
            f"one => {{ one.value = {log10}; one.dispatchEvent(new Event('input', {{bubbles: true}})); }}",
        )
        expected = np.exp(-np.logaddexp(0.0, -(mild.log_bf10 + np.log(10.0) * log10)))
        said = page.inner_text("#odds-prob")
        assert said == probability_in_words(expected) or abs(float(said) - expected) < 1.01e-4


def test_the_slider_obeys_the_keyboard(opened):
    page = opened("together")
    before = page.inner_text("#odds-value")
    page.focus("#odds-range")
    page.keyboard.press("PageDown")
    assert page.inner_text("#odds-value") != before
    assert page.get_attribute("#odds-range", "aria-valuetext").startswith("prior odds 1 : ")


def test_the_first_stop_of_the_keyboard_skips_to_the_content(opened):
    page = opened("one")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_tables_open(opened):
    page = opened("one")
    page.click("#samples summary")
    assert page.locator("#samples table").first.is_visible()


def test_a_hostile_name_stays_text(opened):
    page = opened("five")
    assert page.locator("#columns th[scope=row]", has_text=HOSTILE).count() == 1
    page = opened("each")
    page.fill("#filter", "<script>")
    assert page.inner_text("#all-table td:not([colspan])") == HOSTILE


def test_all_columns_scroll_and_filter(opened, each):
    page = opened("each")
    assert page.inner_text("#filter-count") == ""
    page.fill("#filter", "gene 1")
    wanted = [name for name in each.column if "gene 1" in name]
    assert page.inner_text("#filter-count") == f"{len(wanted)} of 80"
    rows = page.eval_on_selector_all(
        "#all-table tbody tr:not(.space)", "all => all.map(one => one.cells[0].textContent)"
    )
    assert rows == wanted
    page.fill("#filter", "")
    page.eval_on_selector("#all-box", "one => { one.scrollTop = one.scrollHeight; }")
    page.wait_for_function(
        "name => [...document.querySelectorAll('#all-table td')].some(c => c.textContent === name)", arg=each.column[-1]
    )


def test_the_table_says_what_the_result_says(opened, each):
    page = opened("each")
    rows = page.eval_on_selector_all(
        "#all-table tbody tr:not(.space)", "all => all.map(one => [...one.cells].map(cell => cell.textContent))"
    )
    assert len(rows) >= 12
    for row, expected in zip(rows, each, strict=False):
        assert row[0] == expected.column
        for said, value in ((row[1], expected.prob_h1), (row[2], expected.q)):
            assert said == probability_in_words(value) or abs(float(said.lstrip("<> ")) - value) < 2e-3
        assert float(row[3]) == pytest.approx(expected.log_bf10, abs=0.011)


def test_the_false_discovery_rate_changes_how_many_are_found(opened, each):
    page = opened("each")
    for limit in (0.001, 0.01, 0.2, 0.5):
        page.eval_on_selector(
            "#fdr-range", f"one => {{ one.value = {np.log10(limit)}; one.dispatchEvent(new Event('input')); }}"
        )
        assert float(page.inner_text("#fdr-value")) == pytest.approx(limit, rel=0.01)
        assert int(page.inner_text("#fdr-found")) == int(np.count_nonzero(each.q <= limit))


@pytest.mark.parametrize("kind", KINDS)
def test_a_phone_needs_no_scrolling_sideways(opened, kind):
    page = opened(kind, width=390)
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["five", "each"])
def test_texts_stand_out_from_their_background(opened, kind, scheme):
    page = opened(kind, scheme=scheme)
    below = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (below == "rgb(255, 255, 255)") == (scheme == "light")
    colours = page.evaluate(
        """() => [...document.querySelectorAll('h1,h2,h3,p,dt,dd,td,th,li,label,output,code,svg text')].map(one => {
            let below = one;
            const colour = () => getComputedStyle(below).backgroundColor;
            while (colour() === 'rgba(0, 0, 0, 0)' && below.parentElement) below = below.parentElement;
            const own = getComputedStyle(one);
            return [one.tagName === 'text' ? own.fill : own.color, colour(), one.outerHTML.slice(0, 80)];
        })"""
    )
    for text, below, what in {tuple(one) for one in colours}:
        assert _contrast(text, below) >= 4.5, what


def _contrast(one, other):
    light = sorted(map(_luminance, (one, other)))
    return (light[1] + 0.05) / (light[0] + 0.05)


def _luminance(colour):
    """Of the definition of WCAG 2."""
    parts = [float(part) / 255.0 for part in re.findall(r"[\d.]+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(opened, kind, scheme):
    axe = pytest.importorskip("axe_playwright_python", reason="there is no axe; pip install axe-playwright-python")
    page = opened(kind, scheme=scheme)
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run()")
    assert found["passes"]
    assert [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found["violations"]] == []


@pytest.mark.parametrize("kind", KINDS)
def test_it_prints_on_four_pages(opened, kind):
    pdf = opened(kind).pdf(prefer_css_page_size=True, print_background=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 4


def test_without_a_script_it_still_answers(browser, pages, one):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((pages / "one.html").as_uri())
    assert page.inner_text("h1").lower() == f"{one.verdict}."
    assert page.is_disabled("#odds-range")
    context.close()
