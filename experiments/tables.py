"""What the two tables of Bayes factors have in common: the paper's own 100 data sets, and how they are shown.

The tables of the paper come out to every printed digit with NumPy's legacy generator, its seeds and this order of
draws. The Bayes factor there is H0 over H1, at a fixed lengthscale, and its arithmetic mean over the data sets is what
is printed. Beside it are the other models, which integrate over the lengthscale, on the same data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import floor, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import twosample as ts
from experiments.curves import FAINT, INK, MODELS, head
from experiments.runner import Cell, Experiment
from twosample.models import PRESETS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ALTERNATIVES", "Printed", "draw_sets", "fixed_log_bf10", "log_mean", "prob_h0", "scientific", "table"]

ROWS = 500
_FIRST_SEED = 12231
_HALF = 20  # of the points

# Name and parameters of the legacy generator's method.
ALTERNATIVES: dict[str, tuple[str, float, float]] = {
    "N(0, 1), the same": ("normal", 0.0, 1.0),
    "N(0, 4)": ("normal", 0.0, 2.0),
    "N(0, 9)": ("normal", 0.0, 3.0),
    "N(1, 1)": ("normal", 1.0, 1.0),
    "N(2, 1)": ("normal", 2.0, 1.0),
    "N(3, 1)": ("normal", 3.0, 1.0),
    "Laplace(0, √½)": ("laplace", 0.0, sqrt(0.5)),
    "Laplace(0, 1.5)": ("laplace", 0.0, 1.5),
    "Laplace(0, 0.4)": ("laplace", 0.0, 0.4),
}


class Printed(NamedTuple):
    """A row of the paper's tables: the Bayes factor, the probability of H0, and the lengthscale where one is given."""

    bayes_factor: str
    prob_h0: str
    lengthscale: str = ""


def table(
    name: str, title: str, paper: str, printed: Mapping[str, Printed], lengthscales: ArrayLike, what: str
) -> Experiment:
    """Make the experiment of a table, from what the paper prints and the lengthscales of `published`."""
    return Experiment(
        name=name,
        title=title,
        paper=paper,
        cells=tuple((label, ROWS) for label in printed),
        models=MODELS,
        work=partial(_work, lengthscales),
        draw=partial(_draw, printed, lengthscales, what),
        settings={
            "laws": {label: repr(ALTERNATIVES[label]) for label in printed},
            "models": {model: repr(PRESETS[model]) for model in MODELS},
            "lengthscales": lengthscales if isinstance(lengthscales, str) else np.asarray(lengthscales).tolist(),
        },
        seeds=legacy_seed,
    )


def legacy_seed(_name: str, _cell: Cell, run: int) -> int:
    """The seed of the paper's data set of this number."""
    return _FIRST_SEED + run


# Computing.


def draw_sets(alternative: str, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Samples of N(0, 1) and of the alternative, and points of both, in the order in which the paper's were drawn."""
    generator = np.random.RandomState(seed)
    method, location, scale = ALTERNATIVES[alternative]
    law: Callable[[int], NDArray[np.float64]] = partial(getattr(generator, method), location, scale)
    x, points_x = generator.normal(0.0, 1.0, ROWS), generator.normal(0.0, 1.0, _HALF)
    y, points_y = law(ROWS), law(_HALF)
    return x, y, np.concatenate([points_x, points_y])


def fixed_log_bf10(alternative: str, seed: int, lengthscales: ArrayLike) -> Any:
    """Log BF10 of the paper's data set of this seed at fixed lengthscales, or at that of the median heuristic."""
    x, y, points = draw_sets(alternative, seed)
    return ts.log_bf10(x, y, lengthscales, points=points, model="published")


def _work(lengthscales: ArrayLike, cell: Cell, seed: int) -> dict[str, Any]:
    x, y, points = draw_sets(cell[0], seed)
    return {
        "published": np.asarray(fixed_log_bf10(cell[0], seed, lengthscales)).tolist(),
        "paper": float(ts.test(x, y, model="paper", points=points).log_bf10),
        "adaptive": float(ts.test(x, y).log_bf10),
    }


# What is printed, of results alone.


def log_mean(log_bf10: ArrayLike) -> Any:
    """Log of the arithmetic mean over data sets of BF01, from log BF10; a column for each lengthscale."""
    values = -np.asarray(log_bf10)
    return np.logaddexp.reduce(values, axis=0) - np.log(len(values))


def prob_h0(log_bf01: float) -> str:
    """P(H0) at even odds with three digits, however small."""
    return scientific(-float(np.logaddexp(0.0, -log_bf01)))


def scientific(log_value: float) -> str:
    """The number with this natural logarithm as "1.23e-456": it may be one that underflows."""
    exponent = floor(log_value / log(10.0))
    mantissa = f"{10.0 ** (log_value / log(10.0) - exponent):.2f}"
    if mantissa == "10.00":
        mantissa, exponent = "1.00", exponent + 1
    return f"{mantissa}e{exponent:+03d}"


class Row(NamedTuple):
    """A row as computed here."""

    label: str
    bayes_factor: str
    prob_h0: str
    lengthscale: str
    medians: dict[str, float]


def rows(results: Mapping[str, Any], lengthscales: ArrayLike) -> list[Row]:
    """The table of these results: of several lengthscales, that of the least mean Bayes factor is shown."""
    found = []
    for cell in results["cells"]:
        values, label = cell["values"], cell["cell"][0]
        means = np.atleast_1d(log_mean(values["published"]))
        best = int(means.argmin())
        chosen = "" if isinstance(lengthscales, str) else f"{np.asarray(lengthscales)[best]:.2f}"
        medians = {model: float(np.median(values[model])) for model in ("paper", "adaptive")}
        found.append(Row(label, scientific(means[best]), prob_h0(means[best]), chosen, medians))
    return found


def _draw(printed: Mapping[str, Printed], lengthscales: ArrayLike, what: str, results: dict[str, Any]) -> Figure:
    """Draw the paper's table and ours beside each other."""
    from matplotlib.figure import Figure

    computed = rows(results, lengthscales)
    with_lengthscale = any(row.lengthscale for row in computed)
    groups = [("", 1), ("mean BF, H0 over H1", 2), ("P(H0) of that BF", 2)]
    heads = ["N(0, 1) against", "printed", "here", "printed", "here"]
    if with_lengthscale:
        groups.append(("θ", 2))
        heads += ["printed", "here"]
    groups.append(("median log BF10", 2))
    heads += ["paper", "adaptive"]
    lines = []
    for row in computed:
        theirs = printed[row.label]
        line = [theirs.bayes_factor, row.bayes_factor, theirs.prob_h0, row.prob_h0]
        shown = [_typeset(text) for text in line]
        if with_lengthscale:
            shown += [theirs.lengthscale, row.lengthscale]
        lines.append([row.label, *shown, *(f"{row.medians[model]:+.1f}" for model in ("paper", "adaptive"))])

    height = 0.3 * (len(lines) + 2) + 0.75
    figure = Figure(figsize=(10.5, height))
    axes = figure.add_axes((0.01, 0.02, 0.98, 1.0 - 0.67 / height))
    axes.set(xlim=(0.0, 1.0), ylim=(len(lines) - 0.4, -2.1))
    axes.axis("off")
    rights = np.linspace(0.17, 1.0, len(heads))[1:] if len(heads) > 1 else np.ones(0)
    step = rights[1] - rights[0]
    start = 0
    for label, width in groups[1:]:
        first, last = rights[start] - 0.92 * step, rights[start + width - 1]
        axes.text(0.5 * (first + last), -1.6, label, ha="center", va="center", fontsize=9, color=FAINT)
        axes.plot([first, last], [-1.2, -1.2], color=FAINT, linewidth=0.6)
        start += width
    for number, line in enumerate([heads, *lines]):
        color = FAINT if number == 0 else INK
        axes.text(0.0, number - 0.85 if number == 0 else number - 1, line[0], va="center", fontsize=9.5, color=color)
        for place, text in zip(rights, line[1:], strict=True):
            height_of = number - 0.85 if number == 0 else number - 1
            axes.text(place, height_of, text, ha="right", va="center", fontsize=9.5, color=color)
    axes.axhline(-0.45, color=FAINT, linewidth=0.6)
    head(
        figure,
        results["title"],
        f"{results['runs']} data sets, {ROWS} rows each, 40 points; {what}; paper and adaptive: θ integrated out",
    )
    return figure


def _typeset(text: str) -> str:
    """A number as it is printed in tables: plain where that is short."""
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    if -3 < int(exponent) < 3:
        return f"{float(text):.3g}" if float(text) != 1.0 else "1.00"
    return rf"${mantissa}\times10^{{{int(exponent)}}}$"
