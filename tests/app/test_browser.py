"""The app in a real browser: the distribution's Chromium, driven by Playwright. Skipped where either is missing."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

import twosample as ts

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def server(served):
    """The app, as its command runs it."""
    with served() as server:
        yield server


@pytest.fixture
def opened(browser, server):
    """Open the page; what it asks for elsewhere or complains about fails the test, unless it is expected."""
    contexts = []

    def opened(width=1200, scheme="light", complaints=()):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        trouble, requests = [], []
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(server.address)
        contexts.append((context, trouble, requests, complaints))
        return page

    yield opened
    for context, trouble, requests, complaints in contexts:
        context.close()
        assert [text for text in trouble if not any(one in text for one in complaints)] == []
        assert requests
        strangers = [url for url in requests if not url.startswith((server.address, "data:", f"blob:{server.origin}"))]
        assert strangers == []


def choose(page, *files, slot="first"):
    """Choose files, given as name and bytes."""
    given = [{"name": name, "mimeType": "text/csv", "buffer": content} for name, content in files]
    page.set_input_files(f"[data-slot={slot}] input", given)


def compare(page):
    page.click("#compare")
    page.wait_for_selector("#result:not([hidden])")
    report = page.frame_locator("#report")
    report.locator("h1").wait_for()
    return report


def saved(page, button):
    with page.expect_download() as waiting:
        page.click(button)
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_text("utf-8")


def shown(page, selector):
    page.wait_for_selector(f"{selector}:not([hidden])")


def test_two_files_to_a_report_and_downloads(opened, table):
    first, second = table(1), table(2, shift=0.8)
    page = opened()
    choose(page, ("before.csv", first))
    page.wait_for_selector("[data-slot=first].full")
    choose(page, ("after.csv", second), slot="second")
    page.wait_for_selector("[data-slot=second].full")
    shown(page, "#form")
    assert page.inner_text("[data-slot=second] .about") == f"after.csv\n40 rows, 2 columns, {len(second)} B"
    assert page.inner_text("#column-count") == "2 of 2 columns chosen"
    report = compare(page)
    expected = ts.test(pl.read_csv(first), pl.read_csv(second)).changed(names=("before.csv", "after.csv"))
    assert page.inner_text("#headline").lower() == f"{expected.verdict}."
    assert report.locator("h1").inner_text().lower() == f"{expected.verdict}."
    assert page.evaluate("document.activeElement.id") == "headline"
    name, text = saved(page, "#save-json")
    assert name == "twosample-result.json"
    assert json.loads(text) == json.loads(expected.to_json())
    name, text = saved(page, "#save-page")
    assert name == "twosample-report.html"
    embedded = re.search(r'<script[^>]*id="twosample-result"[^>]*>(.*?)</script>', text, re.DOTALL)[1]
    assert json.loads(embedded)["log_bf10"] == expected.log_bf10
    assert text.startswith("<!doctype html>") and text.rstrip().endswith("</html>")


def test_the_script_of_the_report_runs_in_its_frame(opened):
    page = opened()
    page.click("#example")
    shown(page, "#form")
    report = compare(page)
    slider = report.locator("#odds-range")
    assert slider.is_enabled()
    before = report.locator("#odds-value").inner_text()
    slider.focus()
    page.keyboard.press("PageDown")
    assert report.locator("#odds-value").inner_text() != before
    frame = next(frame for frame in page.frames if frame.url.endswith("/report"))
    assert frame.evaluate("origin") == "null"


def test_one_file_with_a_grouping_column(opened):
    rows = "".join(f"{'pqr'[i % 3]},{i % 7}.5,{(i * i + i % 3) % 11}\n" for i in range(90))
    page = opened()
    choose(page, ("trial.csv", f"arm,u,v\n{rows}".encode()))
    shown(page, "#split")
    assert page.input_value("#by") == "arm"
    arms = [f"{arm} (30 rows)" for arm in "pqr"]
    assert page.locator("#group-first option").all_inner_texts() == ["all 3 groups", *arms]
    assert page.locator("#group-second option").all_inner_texts() == arms
    page.select_option("#group-second", "r")
    page.uncheck("#column-list label:has-text('u') input")
    assert page.inner_text("#column-count") == "1 of 2 columns chosen"
    report = compare(page)
    assert page.inner_text("#who") == "x is “p”, y is “r”"
    expected = ts.test(pl.read_csv(f"arm,u,v\n{rows}".encode()), by="arm", groups=("p", "r"), columns=["v"])
    assert json.loads(saved(page, "#save-json")[1])["log_bf10"] == pytest.approx(expected.log_bf10, rel=1e-12)
    assert report.locator("h1").inner_text().lower() == f"{expected.verdict}."
    page.click("#change")
    shown(page, "#form")
    assert not page.is_checked("#column-list label:has-text('u') input")
    page.check("[name=test][value=each]")
    assert page.is_visible("[name=fdr]") and not page.is_visible("[name=model]")
    page.click("#all")
    report = compare(page)
    assert "2 columns, one at a time" in report.locator(".kicker").inner_text()
    page.click("#again")
    shown(page, "#asking")
    page.wait_for_selector("[data-slot=first]:not(.full)")
    assert page.is_hidden("#form")


def test_a_column_that_nearly_names_the_rows_is_not_taken_for_the_grouping(opened):
    rows = [f"s{row % 66},{row % 7},{row % 70 / 8}" for row in range(132)]
    page = opened(complaints=("400",))
    choose(page, ("sites.csv", "\n".join(["site,day,u", *rows, ""]).encode()))
    page.wait_for_selector("#form:not([hidden])")
    assert page.input_value("#by") == "day"
    choose(
        page,
        (
            "sites.csv",
            "\n".join(["site,u", *(row.replace(f",{n % 7}", "", 1) for n, row in enumerate(rows)), ""]).encode(),
        ),
    )
    page.wait_for_selector("#by option:text('choose a column')", state="attached")
    assert page.input_value("#by") == ""
    page.click("#compare")
    shown(page, "#test-error")
    assert "Choose two files, or one file and a grouping column" in page.inner_text("#test-error")
    page.select_option("#by", "site")
    assert page.input_value("#group-second") == "s1"


def test_bad_files_and_cells_are_told_and_can_be_mended(opened, table):
    page = opened()
    choose(page, ("a.csv", table(1)), ("b.csv", table(2) + b"1.5,nd\n"))
    shown(page, "#form")
    page.click("#compare")
    page.wait_for_selector("#test-error p")
    assert "'b.csv', line 42, column 'v': 'nd' is not a number" in page.inner_text("#test-error")
    assert page.is_visible("#asking")
    page.click("#reading summary")
    page.fill("[name=missing]", "nd")
    page.keyboard.press("Tab")
    page.select_option("[name=nan_policy]", "omit")
    compare(page)
    page.click("#result-notes summary")
    assert "left out 1 cell that is missing: line 42" in page.inner_text("#result-notes ul")
    page.click("#change")
    choose(page, ("c.csv", b"PAR1 or not"), slot="second")
    page.wait_for_selector("#file-error p")
    assert page.inner_text("#file-error").startswith("'c.csv' cannot be read as a table")
    assert page.is_hidden("#form") and page.locator("[data-slot=second].bad").count() == 1
    page.click("[data-slot=second] .remove")
    page.wait_for_selector("[data-slot=second]:not(.full)")
    assert page.inner_text("#file-error") == ""


def test_wrong_settings_are_told_beside_the_button(opened):
    page = opened(complaints=["400 (Bad Request)"])
    page.click("#example")
    shown(page, "#form")
    page.fill("[name=prior_odds]", "many")
    page.click("#compare")
    page.wait_for_selector("#test-error p")
    assert page.inner_text("#test-error") == "Prior odds: must be a number, not 'many'."
    page.click("#none")
    page.click("#compare")
    assert page.inner_text("#test-error") == "Choose at least one column."


def test_hostile_names_stay_text(opened, table):
    page = opened()
    choose(page, (f"{HOSTILE}.csv", table(1, (HOSTILE, "v"))), ("b.csv", table(2, (HOSTILE, "v"))))
    shown(page, "#form")
    assert page.locator("#column-list span", has_text=HOSTILE).count() == 1
    assert page.inner_text("[data-slot=first] .about b") == f"{HOSTILE}.csv"
    report = compare(page)
    assert HOSTILE in page.inner_text("#who")
    assert report.locator("#columns th[scope=row]", has_text=HOSTILE).count() == 1
    page.click("#again")
    rows = "".join(f"{HOSTILE if i % 2 else 'b'},{i % 7}\n" for i in range(40))
    choose(page, ("c.csv", f"{HOSTILE},u\n{rows}".encode()))
    shown(page, "#split")
    assert page.input_value("#by") == HOSTILE


def test_a_long_test_shows_progress_and_can_be_cancelled(opened, table):
    page = opened()
    choose(page, ("a.csv", table(1, n=2000)), ("b.csv", table(2, n=2000)))
    shown(page, "#form")
    page.fill("[name=permutations]", "100000")
    page.click("#compare")
    shown(page, "#running")
    assert page.evaluate("document.activeElement.id") == "h-running"
    page.wait_for_selector("#bar[value]")
    assert page.inner_text("#running-words") == "Testing …"
    assert re.fullmatch(r"\d+ %", page.inner_text("#percent"))
    page.click("#cancel")
    page.wait_for_selector("#asking:not([hidden])", timeout=5_000)
    assert page.evaluate("document.activeElement.id") == "compare"
    page.fill("[name=permutations]", "0")
    compare(page)


def test_a_file_that_is_too_large_is_not_sent(browser, served, table):
    with served("--max-size", "0.001") as server:
        page = browser.new_page()
        page.goto(server.address)
        choose(page, ("big.csv", table(1, n=100)))
        page.wait_for_selector("#file-error p")
        assert "“big.csv” is larger than 0.001 MB; raise the limit" in page.inner_text("#file-error")
        page.close()


def test_files_can_be_dropped(opened, table):
    page = opened()
    page.evaluate(
        """texts => {
            const data = new DataTransfer();
            texts.forEach((text, i) => data.items.add(new File([text], `${"ab"[i]}.csv`)));
            document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        [table(1).decode(), table(2).decode()],
    )
    shown(page, "#form")
    assert page.inner_text("[data-slot=first] b") == "a.csv" and page.inner_text("[data-slot=second] b") == "b.csv"


def test_a_page_that_is_closed_is_forgotten(opened, server, table):
    page = opened()
    with page.expect_response("**/sessions") as waiting:
        choose(page, ("a.csv", table(1)))
    page.wait_for_selector("[data-slot=first].full")
    session, client = f"{waiting.value.url}/{waiting.value.json()['session']}", server.client()
    assert client.post(f"{session}/look", json={}).json()["files"][0]["name"] == "a.csv"
    page.goto("about:blank")
    for _ in range(100):
        if client.post(f"{session}/look", json={}).status_code == 410:
            return
        page.wait_for_timeout(50)
    pytest.fail("the files are still there")


def test_a_page_that_was_forgotten_says_so_and_begins_anew(opened, server):
    page = opened(complaints=["410 (Gone)"])
    with page.expect_response("**/sessions") as waiting:
        page.click("#example")
    session = waiting.value.json()["session"]
    shown(page, "#form")
    server.client().post(f"/{server.token}/sessions/{session}/close")
    page.click("#compare")
    page.wait_for_selector("#test-error p")
    assert "The files of this page are gone" in page.inner_text("#test-error")
    page.click("#example")
    page.wait_for_selector("#form:not([hidden])")
    compare(page)


def test_many_columns_are_filtered(opened, table):
    names = [f"gene {i}" for i in range(400)]
    page = opened()
    choose(page, ("a.csv", table(1, names, 5)), ("b.csv", table(2, names, 5)))
    shown(page, "#form")
    assert page.locator("#column-list li").count() == 300
    assert page.inner_text("#column-more").startswith("Shown are the first 300 of 400 columns")
    page.click("#none")
    page.fill("#column-filter", "gene 39")
    assert page.locator("#column-list li").count() == 11
    page.click("#all")
    assert page.inner_text("#column-count") == "11 of 400 columns chosen"


def test_everything_works_from_the_keyboard(opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    stops = []
    for _ in range(12):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        if stops[-1] == "example":
            break
    assert stops[-1] == "example" and stops.count("INPUT") == 2
    page.keyboard.press("Enter")
    shown(page, "#form")
    page.focus("[name=prior_odds]")
    page.keyboard.press("Enter")
    shown(page, "#result")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_and_axe(opened, scheme):
    axe = pytest.importorskip("axe_playwright_python", reason="there is no axe; pip install axe-playwright-python")
    # The script is run by the debugger, which the page's policy does not bind.
    script = (Path(axe.__file__).parent / "axe.min.js").read_text("utf-8")
    page = opened(width=390, scheme=scheme, complaints=["frame"])
    below = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (below == "rgb(255, 255, 255)") == (scheme == "light")
    page.evaluate(script)

    def check():
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        found = page.evaluate("axe.run({iframes: false})")
        assert found["passes"]
        assert [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found["violations"]] == []

    check()
    page.click("#reading summary")
    page.click("#example")
    shown(page, "#form")
    check()
    page.check("[name=test][value=each]")
    page.fill("[name=fdr]", "7")
    page.click("#compare")
    page.wait_for_selector("#test-error p")
    check()
    page.check("[name=test][value=test]")
    page.fill("[name=permutations]", "100000")
    page.click("#compare")
    page.wait_for_selector("#bar[value]")
    check()
    page.click("#cancel")
    shown(page, "#asking")
    page.fill("[name=permutations]", "0")
    compare(page)
    check()
