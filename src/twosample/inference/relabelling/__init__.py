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
    tests_of,
    work,
)
from twosample.inference.relabelling.kinds import (
    GroupLabels,
    Labels,
    RankOne,
    Signs,
    Splits,
    of_samples,
    pairs_in_order,
    pool_in_order,
)

__all__ = [
    "GroupLabels",
    "Labels",
    "RankOne",
    "Relabelled",
    "Relabelling",
    "Signs",
    "Splits",
    "Statistic",
    "WeightedTest",
    "as_extreme",
    "as_pvalue",
    "compare",
    "log_bf10_values",
    "of_samples",
    "pairs_in_order",
    "pool_in_order",
    "rule",
    "tests_of",
    "work",
]
