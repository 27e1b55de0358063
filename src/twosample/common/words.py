"""Numbers, sizes and names as every result prints them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

__all__ = [
    "aligned",
    "auc_limit_text",
    "columns_in_words",
    "count_in_words",
    "data_in_words",
    "log_bf10_text",
    "odds_in_words",
    "pairs_in_words",
    "printable",
    "probability_in_words",
    "pvalue_text",
    "sentence",
    "share_in_words",
    "short",
    "shortened",
    "with_names",
]

_LONGEST_NAME = 28
# From one share to another.
_SHARES = re.compile(r"[\d.e+-]+ % → [\d.e+-]+ %")


def printable(text: str) -> str:
    r"""Return text with control characters and the like written as escapes, so that it can be shown anywhere.

    Examples
    --------
    >>> printable("caf\u00e9\x1b[31m\n")
    'café\\x1b[31m\\n'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def short(name: str, longest: int = _LONGEST_NAME) -> str:
    """A name without its middle where it is long: names that start alike often differ at the end."""
    shown = printable(str(name))
    return shown if len(shown) <= longest else f"{shown[: longest // 2]}...{shown[longest // 2 + 3 - longest :]}"


def shortened(text: str, longest: int = 40) -> str:
    """The beginning of a text that is long."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def odds_in_words(odds: float) -> str:
    """Odds as a ratio of which one side is 1."""
    return f"{odds:.3g} : 1" if odds >= 1.0 else f"1 : {1.0 / odds:.3g}"


def sentence(words: str) -> str:
    """The words with a capital letter."""
    return f"{words[0].upper()}{words[1:]}"


def probability_in_words(value: float) -> str:
    """A probability with enough digits to tell it from 0 and 1, but never more than a reader can use."""
    if value < 0.0001:
        return "< 0.0001"
    return "> 0.9999" if value > 0.9999 else f"{value:.4f}"


def pvalue_text(pvalue: float) -> str:
    """A p-value with the digits that a reader can use."""
    return "< 0.0001" if pvalue < 0.0001 else f"{pvalue:.3g}" if pvalue < 0.1 else f"{pvalue:.3f}"


def log_bf10_text(log_bf10: float) -> str:
    """A log Bayes factor with its sign, and no sign of its own for zero."""
    return f"{round(log_bf10, 2) + 0.0:+.2f}"


def data_in_words(n_x: int, n_y: int, n_columns: int, paired: bool, paired_by: str | None = None) -> str:
    """How much data there was."""
    sizes = pairs_in_words(n_x, paired_by) if paired else f"{n_x} and {n_y} rows"
    return f"{sizes}, {columns_in_words(n_columns)}"


def pairs_in_words(count: object, paired_by: str | None) -> str:
    """How many pairs there are, and the column that they were matched by; "" for identifiers given apart."""
    pairs = count_in_words(count, "pair")
    by = "identifiers" if paired_by == "" else repr(paired_by)
    return pairs if paired_by is None else f"{pairs} matched by {by}"


def columns_in_words(count: int) -> str:
    """How many columns there are."""
    return count_in_words(count, "column")


def count_in_words(count: object, what: str) -> str:
    """How many there are of something, whose plural ends in s.

    Examples
    --------
    >>> count_in_words(1, "row"), count_in_words(0, "row")
    ('1 row', '0 rows')
    """
    return f"{count} {what}{'s' * (str(count) != '1')}"


def auc_limit_text(auc: float) -> str:
    """An AUC that a difference is no larger than, rounded up, and so never that of no difference.

    Examples
    --------
    >>> auc_limit_text(0.5004), auc_limit_text(0.63), auc_limit_text(1.0)
    ('0.51', '0.63', '1.00')
    """
    return f"{max(math.ceil(round(100.0 * auc, 6)), 51) / 100.0:.2f}"


def with_names(words: str, names: tuple[str, str]) -> str:
    """What is said of x and y ("larger in y, ..."), with their names."""
    for name, sample in zip(names, ("x", "y"), strict=True):
        for start in (f"larger in {sample}", f"more spread in {sample}"):
            if words == start or words.startswith(f"{start},"):
                return f"{start[:-1]}{printable(name)}{words[len(start) :]}"
        level, moved, shares = words.rpartition(f" in {sample}: ")
        if moved and level.startswith("more ") and _SHARES.fullmatch(shares):
            return f"{level} in {printable(name)}: {shares}"
    return words


def share_in_words(share: float) -> str:
    """A share in percent, with the digits that it needs."""
    return f"{100.0 * share:.2g} %" if share < 0.0995 else f"{100.0 * share:.0f} %"


def aligned(table: Sequence[Sequence[str]], sides: str) -> list[str]:
    """The rows of a table, indented, each column to the left (``<``) or to the right (``>``)."""
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    return [
        "  " + "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in table
    ]
