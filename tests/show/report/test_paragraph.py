"""A paragraph for a paper, and results in notebooks."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
from tests.recorded_chains import recorded

import twosample as ts


def test_the_paragraph_has_every_number(one):
    low, high = one.effect.auc.interval(0.9)
    text = one.text()
    for words in (
        "before with after (n = 150 and 160; 1 column: weight)",
        f"log BF10 = {one.log_bf10:+.2f}",
        "prior odds of 1 : 1",
        f"AUC of the witness = {one.effect.auc.mean:.3f} (90 % between {low:.3f} and {high:.3f})",
        f"P(AUC > {one.rope:g}) > 0.9999",
        "p-value = 0.01 (99 permutations)",
        f"e-value = {one.evalue:.3g}",
        "half-Cauchy prior of scale 0.3, of single columns 0.5",
        f"twosample {ts.__version__}",
        "Zhang et al., 2022",
        "Journal of Computational and Graphical Statistics",
    ):
        assert words in text
    assert "\n" not in text


def test_the_paragraph_names_the_columns_that_differ(five, two):
    text = five.text()
    assert "dose (P > 0.9999; larger in high & </script><b>" in text
    assert "how height and weight go together" in two.text()


def test_the_paragraph_of_models_that_say_less(together):
    assert "columns that differ" not in together.text()
    result = ts.test([0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9], model="paper", prior_odds=0.1)
    assert "Gamma(2, 2) prior" in result.text() and "prior odds of 1 : 10" in result.text()
    assert "amplitude of the difference is fixed at 1" in result.text() and "AUC" not in result.text()


def test_the_paragraph_of_one_test_a_column(each):
    text = each.text()
    assert f"{len(each.discoveries)} of 80 columns differ at a false discovery rate of 0.05" in text
    assert f"Those that differ: {each.discoveries[0]}, " in text
    assert f"share that differs = {each.share:.3g} of the columns" in text and "n = 50 and 50" in text


def test_notebooks_show_the_head(one, five, each):
    assert "More" not in one._repr_html_()
    for result in (one, five, each):
        html = result._repr_html_()
        assert html.startswith('<div class="twosample-head">') and "<style>" in html and "<script" not in html
        rules = html.split("<style>")[1].split("</style>")[0].strip().splitlines()
        assert all(rule.startswith(".twosample-head") for rule in rules)
    assert "before and after come from different distributions" in one._repr_html_()
    assert "dose" in five._repr_html_()


def test_notebooks_show_groups():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"arm": ["a", "b", "<c>"] * 40, "dose": rng.normal(size=120)})
    html = ts.ksample(table, by="arm", reference="a")._repr_html_()
    assert html.count("<tr>") == 3 and "&lt;c&gt;" in html and "not independent" in html


def test_notebooks_show_chains():
    chains = recorded("several")
    relevance = replace(chains.relevance, columns=("<u>", "v"))
    result = replace(chains, columns=("<u>", "v"), relevance=relevance)
    html = result._repr_html_()
    assert f"{result.log_bf10:+.2f} ±" in html and f"± {result.prob_h1_error:.1g}" in html
    assert "&lt;u&gt;" in html and "<u>" not in html


def test_without_jinja_notebooks_show_the_summary_and_reports_say_what_to_install():
    code = """
import sys
sys.modules["jinja2"] = None
import twosample as ts
result = ts.test([0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9])
html = result._repr_html_()
assert html.startswith("<pre>") and "log BF10" in html and "&lt;" not in html.replace("&lt; 0.0001", "")
assert "P(different | data)" in result.text()
try:
    result.report("/nowhere/a.html")
except ts.errors.MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "report needs jinja2; install it with: pip install 'twosample[report]'"
