"""P-values and e-values of log BF10: `engine` runs any kind of relabelling, `kinds` has those of rows."""

from twosample.inference.relabelling.engine import (
    Relabelled,
    Relabelling,
    Statistic,
    WeightedTest,
    as_extreme,
    as_pvalue,
    compare,
    log_bf10_values,
    rule,
    stacked_tests,
    tests_of,
    work,
)
from twosample.inference.relabelling.every import EveryLabelling, labellings, log_means
from twosample.inference.relabelling.kinds import (
    Blind,
    GroupLabels,
    Labels,
    Signs,
    Splits,
    of_rows,
    pairs_in_order,
    pool_in_order,
)

__all__ = [
    "Blind",
    "EveryLabelling",
    "GroupLabels",
    "Labels",
    "Relabelled",
    "Relabelling",
    "Signs",
    "Splits",
    "Statistic",
    "WeightedTest",
    "as_extreme",
    "as_pvalue",
    "compare",
    "labellings",
    "log_bf10_values",
    "log_means",
    "of_rows",
    "pairs_in_order",
    "pool_in_order",
    "rule",
    "stacked_tests",
    "tests_of",
    "work",
]
