"""The paper's main kind of result: how P(H1 | D) is distributed over many data sets, against the number of rows."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import twosample as ts
from experiments.runner import Cell, Experiment, nothing
from twosample.common.threads import one_thread
from twosample.data import Samples
from twosample.errors import AccuracyWarning, DroppedDataWarning, warn
from twosample.inference.evidence import probability
from twosample.kernels import RBF
from twosample.models import PRESETS
from twosample.paper.jacobian_pairs import Pairs
from twosample.paper.passes import Passes, infer_together
from twosample.plan import make_plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLORS",
    "FAINT",
    "INK",
    "MODELS",
    "NAMES",
    "SIZES",
    "Law",
    "describe",
    "draw",
    "experiment",
    "head",
    "work",
]

# (number of rows, seed) -> samples, and fresh points from both laws
Law = Callable[[int, int], ts.simulate.SimulatedPair]

MODELS = ("published", "paper", "adaptive")
SIZES = (10, 50, 100, 200, 500, 800)
# These weigh the lengthscale alike, so that one pass over its values and the data serves both.
_TOGETHER = ("published", "paper")
# Of their log BF10: far below what a figure shows.
_TOLERANCE = 1e-4


def experiment(
    name: str,
    title: str,
    paper: str,
    laws: Mapping[str, Law],
    sizes: tuple[int, ...] = SIZES,
    *,
    models: tuple[str, ...] = MODELS,
    paired: bool = False,
    missing: Callable[[], str | None] = nothing,
) -> Experiment:
    """Make an experiment with a panel for each law, from the label of the law, and boxes for each size and model.

    Laws are functions of modules, or partial ones. Beside the three models there are "adaptive_raw", the default on
    columns as they are, and the tests "holmes" and "chen_hanson".
    """
    settings = {
        "laws": {label: describe(law) for label, law in laws.items()},
        "models": {model: _assumptions(model) for model in models},
        "paired": paired,
    }
    return Experiment(
        name=name,
        title=title,
        paper=paper,
        cells=tuple((label, n) for label in laws for n in sizes),
        models=models,
        work=partial(work, dict(laws), models, paired),
        draw=draw,
        settings=settings,
        missing=missing,
    )


def describe(law: Law) -> str:
    """The function behind a law, and its arguments."""
    if isinstance(law, partial):
        return f"{law.func.__name__}({', '.join(f'{key}={value!r}' for key, value in law.keywords.items())})"
    return law.__name__


def _assumptions(model: str) -> str:
    return f"{PRESETS['adaptive']!r}, scale='raw'" if model == "adaptive_raw" else repr(PRESETS.get(model, model))


# Computing.


def work(laws: Mapping[str, Law], models: tuple[str, ...], paired: bool, cell: Cell, seed: int) -> dict[str, Any]:
    """Draw one data set and return log BF10 by every model on it, and how often each model warned."""
    label, n = cell
    pair = laws[label](n, seed)
    found: dict[str, Any] = {}
    warned: Counter[str] = Counter()
    together = tuple(model for model in models if model in _TOGETHER)
    alone = ((model,) for model in models if model not in _TOGETHER)
    for group in filter(None, (together, *alone)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")  # whether a place warned before depends on what this process did before
            found |= zip(group, _log_bf10(group, pair, paired), strict=True)
        warned.update(f"{model}: {one.category.__name__}" for one in caught for model in group)
    return {**{model: found[model] for model in models}, "warnings": warned}


def _log_bf10(models: tuple[str, ...], pair: ts.simulate.SimulatedPair, paired: bool) -> list[float]:
    """P(H1 | D) follows from this for every model, at even prior odds."""
    match models:
        case ("holmes",):
            return [float(ts.baselines.holmes(pair.x, pair.y).log_bf10)]
        case ("chen_hanson",):
            return [float(ts.baselines.chen_hanson(pair.x, pair.y).log_bf10)]
        case ("adaptive",):  # chooses its points itself
            return [float(ts.test(pair.x, pair.y, paired=paired, tolerance=_TOLERANCE).log_bf10)]
        case ("adaptive_raw",):
            return [float(ts.test(pair.x, pair.y, paired=paired, scale="raw", tolerance=_TOLERANCE).log_bf10)]
    presets = [PRESETS[model] for model in models]
    samples = Samples.from_data(pair.x, pair.y, paired=paired, scale=presets[0].scale)
    features = make_plan(samples, presets[0], RBF(), pair.points).features
    pairs = Pairs.choose(samples, features, presets[0], np.random.default_rng(0))
    for note in () if pairs is None else pairs.notes:
        warn(DroppedDataWarning(note))
    with one_thread():
        posteriors = infer_together(Passes(samples, features, presets, pairs), tolerance=_TOLERANCE)
    if not posteriors[0].rule.converged:
        warn(AccuracyWarning("the likelihood of the lengthscale is rough"))
    return [posterior.log_bf10 for posterior in posteriors]


# Drawing, from results alone.

# Okabe and Ito's colours: told apart with any colour vision.
COLORS = {
    "published": "#D55E00",
    "paper": "#E69F00",
    "adaptive": "#0072B2",
    "adaptive_raw": "#56B4E9",
    "chen_hanson": "#CC79A7",
    "holmes": "#009E73",
}
NAMES = {
    "published": "published: the released code's model",
    "paper": "paper: the text's model",
    "adaptive": "adaptive: the default",
    "adaptive_raw": "adaptive, columns not scaled",
    "chen_hanson": "Chen and Hanson (2014)",
    "holmes": "Holmes et al. (2015)",
}
INK, FAINT = "#333333", "#777777"
_MOST_COLUMNS = 3
_PANEL = (3.3, 2.3)
_LEAST_WIDTH = 7.0
_HEAD = 1.05


def draw(results: dict[str, Any]) -> Figure:
    """Draw box plots of P(H1 | D): a panel a setting against n, or one against the settings where n is the same."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    table = {tuple(cell["cell"]): cell["values"] for cell in results["cells"]}
    settings, sizes = (list(dict.fromkeys(key[place] for key in table)) for place in (0, 1))
    models = results["models"]
    if len(sizes) == 1 and len(settings) > 1:
        panels = [(f"n = {sizes[0]}", "", {str(setting): table[setting, sizes[0]] for setting in settings})]
    else:
        panels = [
            (setting, "n", {str(n): table[setting, n] for n in sizes if (setting, n) in table}) for setting in settings
        ]
    n_columns = len(panels) if len(panels) <= _MOST_COLUMNS else 2 if len(panels) == 4 else _MOST_COLUMNS
    n_rows = -(-len(panels) // n_columns)
    width, height = max(n_columns * _PANEL[0], _LEAST_WIDTH), n_rows * _PANEL[1] + _HEAD
    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for place, (axes, (title, label, boxes)) in enumerate(zip(grid.flat, panels, strict=False)):
        _draw_panel(axes, boxes, models)
        axes.set_title(title, loc="left", fontsize=9.5, color=INK)
        below = place + n_columns >= len(panels)
        axes.set_xlabel(label if below else "", fontsize=9)
        axes.set_ylabel("P(H1 | D)" if place % n_columns == 0 else "", fontsize=9)
    handles = [Patch(facecolor=COLORS[model] + "66", edgecolor=COLORS[model]) for model in models]
    figure.legend(
        handles, [NAMES[model] for model in models], loc="outside lower center", ncols=min(len(models), 3),
        frameon=False, fontsize=9,
    )  # fmt: skip
    words = "box: quartiles, bold line: median, whiskers: up to 1.5 × the box, dots: beyond"
    head(figure, results["title"], f"{_runs(results)}; {words}")
    return figure


def head(figure: Figure, title: str, words: str) -> None:
    """Put the title above the figure, and smaller words below it."""
    figure.suptitle(f"{title}\n", x=0.01, ha="left", fontsize=11.5, color=INK)
    figure.text(0.01, 1.0 - 0.36 / figure.get_figheight(), words, ha="left", va="center", fontsize=8.5, color=FAINT)


def _runs(results: dict[str, Any]) -> str:
    numbers = {cell["runs"] for cell in results["cells"]}
    runs = f"{min(numbers)}" if len(numbers) == 1 else f"{min(numbers)} to {max(numbers)}"
    return f"{runs} {'data set' if runs == '1' else 'data sets'} each"


def _draw_panel(axes: Axes, boxes: Mapping[str, Mapping[str, list[float]]], models: list[str]) -> None:
    """Boxes of all models beside each other at every place of the axis."""
    width = 0.84 / len(models)
    for place in range(1, len(boxes), 2):
        axes.axvspan(place - 0.5, place + 0.5, color="#F2F2F2", zorder=0, linewidth=0)
    for index, model in enumerate(models):
        color = COLORS[model]
        axes.boxplot(
            [probability(np.array(values[model])) for values in boxes.values()],
            positions=np.arange(len(boxes)) + (index - 0.5 * (len(models) - 1)) * width,
            widths=0.8 * width,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": color + "66", "edgecolor": color, "linewidth": 0.9},
            medianprops={"color": color, "linewidth": 2.4, "solid_capstyle": "butt"},
            whiskerprops={"color": color, "linewidth": 0.9},
            capprops={"color": color, "linewidth": 0.9},
            flierprops={
                "marker": "o", "markersize": 2.2, "markerfacecolor": color, "markeredgecolor": "none", "alpha": 0.7
            },
        )  # fmt: skip
    axes.axhline(0.5, color=FAINT, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0.5)
    axes.set_xticks(range(len(boxes)), list(boxes))
    axes.set(xlim=(-0.5, len(boxes) - 0.5), ylim=(-0.04, 1.04), yticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    axes.tick_params(labelsize=8.5, length=2.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
