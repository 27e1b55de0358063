"""The page of a test of independence: what it says, and that names are escaped."""

import json
import re

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.show import report

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    dose = rng.uniform(0, 10, 150)
    return pl.DataFrame(
        {
            "dose": dose,
            HOSTILE: np.cos(dose) + 0.4 * rng.normal(size=150),
            "arm": np.where(dose + rng.normal(size=150) > 5, "high", HOSTILE),
        }
    )


def test_page_of_two_columns(frame, tmp_path):
    result = ts.independence(frame, x="dose", y=HOSTILE, permutations=19)
    path = result.report(tmp_path / "page.html")
    page = path.read_text("utf-8")
    assert HOSTILE not in page
    assert "Where they depend on each other" in page
    assert "more real pairs" in page and "more shuffled pairs" in page
    assert "ts.independence(first, x=&#39;dose&#39;, y=" in page and ", permutations=19)" in page
    assert "P(dependent | data)" in page and "p-value" in page
    assert re.search(r"Surely more of (real|shuffled) pairs within dose from", page)
    stored = re.search(r'id="twosample-result">(.*?)</script>', page, re.DOTALL).group(1)
    assert json.loads(stored)["log_bf10"] == result.log_bf10
    assert "Which columns depend" not in page


def test_page_of_a_category(frame):
    page = report.render(ts.independence(frame, x="dose", y="arm"))
    assert HOSTILE not in page
    assert "mass over that of independence, less 1" in page


def test_page_of_several_columns(frame):
    result = ts.independence(frame, x="dose", y=[HOSTILE, "arm"], prior_odds=0.5)
    page = report.render(result)
    assert "Which columns depend on each other" in page
    assert page.count('<th scope="row">dose</th>') == 2
    assert "prior_odds=0.5" in page
    assert "1 : 2" in page
    head = result._repr_html_()
    assert HOSTILE not in head and "dose" in head


def test_paragraph_agrees_with_the_result(frame):
    result = ts.independence(frame, x="dose", y="arm", permutations=19)
    page = report.render(result)
    assert f"log BF10 = {result.log_bf10:+.2f}" in page
    assert "(19 permutations)" in page


@pytest.mark.parametrize("kind", ["numbers", "0/1", "rare", "category", "several", "no evidence"])
def test_every_element_is_closed_and_nothing_is_fetched(kind, frame, page_of):
    rng = np.random.default_rng(1)
    x, y = {
        "numbers": lambda: (frame["dose"], frame[HOSTILE]),
        "0/1": lambda: (frame["dose"] > 5, frame["dose"]),
        "rare": lambda: (np.eye(80)[0], 1e300 * rng.normal(size=80)),
        "category": lambda: (frame["arm"], frame["arm"]),
        "several": lambda: (frame["dose", HOSTILE], frame["arm"]),
        "no evidence": lambda: rng.normal(size=(2, 5)),
    }[kind]()
    page = page_of(report.render(ts.independence(x, y)))
    assert page.unclosed == [] and page.open == []
    ids = [one.attributes["id"] for one in page.elements if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    assert "nan" not in page.one("main").text.lower().split()
    assert not any(one.attributes.get("src") for one in page.elements)
