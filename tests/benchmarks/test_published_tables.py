"""The published tables, by statistics printed elsewhere; the exact rank tests, by SciPy; and the rules."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from benchmarks.published_data import PUBLISHED, Published
from benchmarks.published_tables import compare, judge, markdown, rank_sum_pvalue, reasons, signed_rank_pvalue
from scipy import stats

import twosample as ts

TABLE = {table.title: table for table in PUBLISHED}
# Means as the source prints them, or R's documentation and the books that use its data.
MEANS = {
    "Sleep gained, two drugs": ("0.75", "2.33"),
    "Shoe soles, two materials": ("10.63", "11.04"),
    "Head length, first and second sons": ("185.72", "183.84"),
    "Plants, control and treatment 1": ("5.032", "4.661"),
    "Plants, treatments 1 and 2": ("4.661", "5.526"),
    "Teeth, orange juice and ascorbic acid, 0.5 mg": ("13.23", "7.98"),
    "Teeth, orange juice and ascorbic acid, 2 mg": ("26.06", "26.14"),
    "Teeth, ascorbic acid, 0.5 and 1 mg": ("7.98", "16.77"),
    "Insects, sprays A and B": ("14.50", "15.33"),
    "Insects, sprays A and C": ("14.50", "2.08"),
    "Chicks, casein and horsebean": ("323.58", "160.20"),
    "Warp breaks, wools A and B, medium tension": ("24.00", "28.78"),
    "Cabbage heads, lines c39 and c52, day 20": ("2.80", "3.11"),
    "Speed of light, series 4 and 5": ("820.5", "831.5"),
    "Tomatoes, fertilizers A and B": ("20.84", "22.53"),
    "Mice, treated and control": ("86.86", "56.22"),
    "Latent heat of ice, methods A and B": ("80.02077", "79.97875"),
    "Miles per gallon, automatic and manual": ("17.147", "24.392"),
}
# Mean of the differences (y - x) of pairs, or of the effect of phosphate.
DIFFERENCES = {
    "Sleep gained, two drugs": "1.58",
    "Maize, crossed and self-fertilised": "-2.617",
    "Shoe soles, two materials": "0.41",
    "Corn, regular and kiln-dried seed": "33.7",
    "Platelets, before and after smoking": "10.27",
    "Anorexia, before and after family treatment": "7.26",
    "Peas, without and with phosphate": "-1.183",
}
# Student's t of pairs, Welch's of two samples.
STATISTICS = {
    "Sleep gained, two drugs": "-4.0621",
    "Maize, crossed and self-fertilised": "2.148",
    "Shoe soles, two materials": "-3.3489",
    "Anorexia, before and after family treatment": "-4.1849",
    "Latent heat of ice, methods A and B": "3.2499",
    "Miles per gallon, automatic and manual": "-3.7671",
}


def rounded(value, printed):
    """Whether a number is the printed one, to its last digit."""
    return abs(value - float(printed)) <= 0.5 * 10.0 ** -len(printed.partition(".")[2]) * (1 + 1e-9)


def test_thirty_comparisons_of_5_to_25_rows_are_well_formed_and_cited():
    assert len(TABLE) == len(PUBLISHED) == 30
    for table in PUBLISHED:
        assert all(5 <= len(rows) <= 25 and np.isfinite(rows).all() and np.ptp(rows) > 0 for rows in (table.x, table.y))
        assert not table.paired or len(table.x) == len(table.y)
        assert re.search(r"^\w.*\((18|19|20)\d\d\), \w", table.source)


@pytest.mark.parametrize("title", MEANS)
def test_means_are_those_printed(title):
    assert rounded(TABLE[title].x.mean(), MEANS[title][0])
    assert rounded(TABLE[title].y.mean(), MEANS[title][1])


@pytest.mark.parametrize("title", DIFFERENCES)
def test_differences_are_those_printed(title):
    assert rounded(TABLE[title].y.mean() - TABLE[title].x.mean(), DIFFERENCES[title])


@pytest.mark.parametrize("title", STATISTICS)
def test_t_statistics_are_those_printed(title):
    table = TABLE[title]
    t = stats.ttest_rel(table.x, table.y) if table.paired else stats.ttest_ind(table.x, table.y, equal_var=False)
    assert rounded(t.statistic, STATISTICS[title])


def test_other_statistics_are_those_printed():
    cd4, platelets = TABLE["CD4 counts, at first and after a year"], TABLE["Platelets, before and after smoking"]
    assert rounded(np.corrcoef(cd4.x, cd4.y)[0, 1], "0.723")  # DiCiccio and Efron (1996)
    assert rounded(np.std(platelets.y - platelets.x, ddof=1), "7.98")  # Rice, Mathematical Statistics and Data Analysis
    iron = TABLE["Serum iron, methods of Ramsay and Jung–Parekh"]
    assert stats.ansari(iron.x, iron.y).statistic == 185.5  # R, ansari.test
    depression = TABLE["Depression, before and after a tranquillizer"]
    assert stats.wilcoxon(depression.x, depression.y, alternative="greater").statistic == 40  # R, wilcox.test
    assert rounded(0.5 * signed_rank_pvalue(depression.x - depression.y), "0.01953")
    membrane = TABLE["Chorioamnion, at term and at 12 to 26 weeks"]
    assert stats.mannwhitneyu(membrane.x, membrane.y).statistic == 35  # R, wilcox.test
    assert rounded(0.5 * rank_sum_pvalue(membrane.x, membrane.y), "0.1272")


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0.1, 0.4, 1.3, -0.8, 0.6], [0.2, 2.4, 1.9, 0.7, 3.0, 1.1, 0.5]),
        ([0, 0, 1, 1, 2], [1, 1, 1, 3, 3, 3]),
        ([2, 2, 2, 2], [0, 0, 2, 3, 3, 4, 4]),
    ],
)
def test_the_rank_sum_test_is_that_of_all_labellings(x, y):
    centre = len(x) * (len(x) + len(y) + 1) / 2

    def distance(first, second):
        return abs(stats.rankdata(np.concatenate([first, second]))[: len(first)].sum() - centre)

    exact = stats.permutation_test((x, y), distance, n_resamples=np.inf, alternative="greater")
    assert rank_sum_pvalue(np.array(x), np.array(y)) == pytest.approx(exact.pvalue, rel=1e-12)


@pytest.mark.parametrize(
    "differences",
    [[0.3, -0.1, 1.2, 0.8, -0.6, 1.9, 0.2, 0.9], [1, 1, -1, -1, 2, 2, 3, -3], [0, 0, 1, 1, 1, 2, 2, -2, -2, 4]],
)
def test_the_signed_rank_test_is_that_of_all_signs_without_zeros(differences):
    known = np.array([value for value in differences if value])
    ranks = stats.rankdata(np.abs(known))
    sums = np.array(list(product([-1, 1], repeat=len(known)))) @ ranks
    share = np.mean(np.abs(sums) >= abs(np.sign(known) @ ranks))
    assert signed_rank_pvalue(np.array(differences)) == pytest.approx(share, rel=1e-12)


def test_a_comparison_says_what_the_tests_and_the_summary_say():
    row = compare(TABLE["Sleep gained, two drugs"])
    assert rounded(row["t_pvalue"], "0.002833")
    assert rounded(row["jzs_bf10"], "17.259")  # the documentation of R's BayesFactor
    assert row["paired"] and row["holmes_bf10"] is None
    assert row["largest_prob_h1"] >= row["prob_h1"]
    other = compare(TABLE["Chorioamnion, at term and at 12 to 26 weeks"])
    assert rounded(0.5 * other["rank_pvalue"], "0.1272")
    holmes = ts.baselines.holmes(*TABLE[other["table"]][1:3])
    assert other["holmes_bf10"] == pytest.approx(holmes.bf10, rel=1e-4)  # five digits
    assert rounded(compare(TABLE["Latent heat of ice, methods A and B"])["t_pvalue"], "0.00694")  # R, t.test


def test_differences_that_are_equal_on_paper_are_tied():
    tenths = np.array([[3, 1, 9, 12, 4, 7], [2, 2, 3, 5, 9, 6]])
    x, y = tenths / 10
    assert x[0] - y[0] != y[1] - x[1]
    row = compare(Published("", x, y, True, ""))
    assert row["rank_pvalue"] == pytest.approx(signed_rank_pvalue(tenths[0] - tenths[1]), rel=1e-4)  # five digits


def test_reasons_are_a_p_value_that_disagrees_and_a_limit_that_is_too_low():
    table = TABLE["Sleep gained, two drugs"]
    result = ts.test(table.x, table.y, paired=True)

    def reasons_of(log_bf10, pvalue, largest):
        diagnostics = replace(result.diagnostics, largest=largest)
        return reasons(result.changed(log_bf10=log_bf10, pvalue=pvalue, diagnostics=diagnostics))

    assert reasons_of(2.0, 0.001, 2.3) == reasons_of(2.0, 0.001, None) == []
    assert reasons_of(2.0, 0.001, 2.1) == ["largest possible P 0.8909"]  # 1 / (1 + exp(-2.1))
    [sentence] = reasons_of(0.0, 0.001, 2.3)
    assert sentence in str(result.changed(log_bf10=0.0, pvalue=0.001))


def test_rules_are_broken_by_what_they_forbid_only():
    row = compare(TABLE["Plants, control and treatment 1"])

    def broken(**changes):
        judged = judge([{**row, "reasons": [], **changes}])
        return {rule for rule in ("missed", "missed_unsaid", "alarmed") if judged[rule]}

    clear, null = {"t_pvalue": 0.0009, "jzs_bf10": 9.0}, {"t_pvalue": 0.6, "jzs_bf10": 0.49}
    assert broken(**clear, prob_h1=0.89) == {"missed", "missed_unsaid"}
    assert broken(**clear, prob_h1=0.89, reasons=["few rows"]) == {"missed"}
    assert broken(**clear, prob_h1=0.9) == broken(**{**clear, "t_pvalue": 0.001}, prob_h1=0.1) == set()
    assert broken(**null, prob_h1=0.61) == broken(**null, prob_h1=0.61, reasons=["few rows"]) == {"alarmed"}
    assert broken(**null, prob_h1=0.6) == broken(**{**null, "jzs_bf10": 0.5}, prob_h1=0.99) == set()
    text = markdown([{**row, **clear, "prob_h1": 0.89, "reasons": ["few rows."]}])
    assert "\n- Plants, control and treatment 1: P(H1) 0.890. The summary says: few rows.\n" in text
