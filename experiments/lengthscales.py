"""Which lengthscales tell the samples apart: P(H1 | θ, D) against θ, and the posteriors of θ under both hypotheses.

All is in the units of the data, so that `adaptive` takes columns as they are too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import twosample as ts
from experiments.curves import COLORS, FAINT, INK, MODELS, NAMES, Law, describe, head
from experiments.runner import Cell, Experiment, nothing
from twosample.inference.evidence import probability
from twosample.models import PRESETS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "experiment", "informative", "modes", "unmixed"]

# Data sets, of which the figure shows the first, and the others faintly.
_RUNS = 3
_CURVE = 100
_MOST_NODES = 110
_DIGITS = 4


def experiment(
    name: str,
    title: str,
    paper: str,
    label: str,
    law: Law,
    n: int,
    reach: tuple[float, float],
    *,
    missing: Callable[[], str | None] = nothing,
) -> Experiment:
    """Make the experiment of one law and size; `reach` has the least and largest lengthscale of the curve."""
    return Experiment(
        name=name,
        title=title,
        paper=paper,
        cells=((label, n),),
        models=MODELS,
        work=partial(work, law, reach),
        draw=draw,
        settings={
            "law": describe(law),
            "models": {model: repr(PRESETS[model]) for model in MODELS},
            "reach": list(reach),
        },
        runs=_RUNS,
        missing=missing,
    )


def work(law: Law, reach: tuple[float, float], cell: Cell, seed: int) -> dict[str, Any]:
    """For every model: log BF10, its curve over θ, and the densities of log θ at nodes of their own."""
    pair = law(cell[1], seed)
    curve = np.geomspace(*reach, _CURVE)
    found: dict[str, Any] = {"θ": _short(curve)}
    for model in MODELS:
        points = 40 if model == "adaptive" else pair.points
        result = ts.test(pair.x, pair.y, model=model, points=points, scale="raw")
        given = ts.log_bf10(pair.x, pair.y, curve, model=model, points=points, scale="raw")
        posterior = result.lengthscale
        nodes = _nodes(np.maximum(posterior.density_h0, posterior.density_h1))
        found |= {
            model: float(result.log_bf10),
            f"{model}: log BF10 at θ": _short(given),
            f"{model}: nodes": _short(posterior.grid[nodes], 6),
            f"{model}: H0": _short(posterior.density_h0[nodes]),
            f"{model}: H1": _short(posterior.density_h1[nodes]),
        }
    return found


def _nodes(density: NDArray[np.float64]) -> NDArray[np.intp]:
    """Where the density is not negligible, and not too many: the integration's own nodes are dense where it is high."""
    shown = np.flatnonzero(density > 1e-3 * density.max())
    shown = np.arange(max(shown[0] - 1, 0), min(shown[-1] + 2, len(density)))
    return np.asarray(shown[np.unique(np.linspace(0, len(shown) - 1, _MOST_NODES).round().astype(int))])


def _short(values: Any, digits: int = _DIGITS) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]


# Reading results.


def informative(results: Mapping[str, Any], model: str, level: float = 0.5, run: int = 0) -> tuple[float, float] | None:
    """The least and the largest θ at which P(H1 | θ, D) is above this level; None if there is none."""
    values = results["cells"][0]["values"]
    theta = np.array(values["θ"][run])
    above = theta[probability(np.array(values[f"{model}: log BF10 at θ"][run])) > level]
    return (float(above[0]), float(above[-1])) if len(above) else None


def unmixed(results: Mapping[str, Any], model: str, run: int = 0) -> float:
    """P(H1 | D) by a sampler whose θ does not move from its start, log θ uniform on (-2, 2) as in the released code."""
    values = results["cells"][0]["values"]
    start = np.linspace(-2.0, 2.0, 401)
    log_bf10 = np.interp(start, np.log(values["θ"][run]), values[f"{model}: log BF10 at θ"][run])
    return float(probability(log_bf10).mean())


def modes(results: Mapping[str, Any], model: str, run: int = 0, least: float = 0.05) -> list[float]:
    """Where θ given H1 is likeliest: the peaks with at least this share of the highest, and a valley between them.

    A valley is a density below half of the lower of the two peaks.
    """
    values = results["cells"][0]["values"]
    theta, density = values[f"{model}: nodes"][run], np.array(values[f"{model}: H1"][run])
    peaks: list[int] = []
    for place in np.flatnonzero(density >= least * density.max()):
        if not peaks:
            peaks.append(int(place))
            continue
        valley = density[peaks[-1] : place + 1].min()
        if valley < 0.5 * min(density[peaks[-1]], density[place]):
            peaks.append(int(place))
        elif density[place] > density[peaks[-1]]:
            peaks[-1] = int(place)
    return [theta[place] for place in peaks]


# Drawing.


def draw(results: dict[str, Any]) -> Figure:
    """Draw a row a model: P(H1 | θ, D) on the left, the densities of θ given each hypothesis on the right."""
    from matplotlib.figure import Figure

    (cell,) = results["cells"]
    models, values = results["models"], cell["values"]
    figure = Figure(figsize=(8.6, 1.75 * len(models) + 1.15), layout="constrained")
    grid = figure.subplots(len(models), 2, squeeze=False)
    for place, (model, (left, right)) in enumerate(zip(models, grid, strict=True)):
        for run in reversed(range(cell["runs"])):
            _draw_curve(left, values["θ"][run], values[f"{model}: log BF10 at θ"][run], COLORS[model], faint=run > 0)
        _draw_densities(right, values, model)
        answer = float(probability(np.array(values[model][0])))
        left.set_title(NAMES[model], loc="left", fontsize=9.5, color=INK)
        right.set_title(f"P(H1 | D) = {answer:.3f}", loc="right", fontsize=9.5, color=INK)
        left.set_ylabel("1 / (1 + BF)", fontsize=9)
        right.set_ylabel("density of log θ", fontsize=9)
        if place == len(models) - 1:
            left.set_xlabel("θ", fontsize=9)
            right.set_xlabel("θ (a range of its own in each row)", fontsize=9)
    label, n = cell["cell"]
    others = f"; faint: {cell['runs'] - 1} other data sets" if cell["runs"] > 1 else ""
    head(
        figure,
        results["title"],
        f"{label}, n = {n}. Left: P(H1 | θ, D){others}. Right: θ given H0 (grey) and given H1 (coloured)",
    )
    return figure


def _draw_curve(axes: Axes, theta: list[float], log_bf10: list[float], color: str, *, faint: bool) -> None:
    width, alpha = (0.9, 0.35) if faint else (1.8, 1.0)
    axes.plot(theta, probability(np.array(log_bf10)), color=color, linewidth=width, alpha=alpha)
    axes.axhline(0.5, color=FAINT, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0.5)
    axes.set(xscale="log", xlim=(theta[0], theta[-1]), ylim=(-0.04, 1.04), yticks=[0.0, 0.5, 1.0])
    _plain(axes)


def _draw_densities(axes: Axes, values: Mapping[str, Any], model: str) -> None:
    theta = np.array(values[f"{model}: nodes"][0])
    for name, color in (("H0", FAINT), ("H1", COLORS[model])):
        density = np.array(values[f"{model}: {name}"][0])
        axes.fill_between(theta, density, color=color, alpha=0.3, linewidth=0)
        axes.plot(theta, density, color=color, linewidth=1.3)
    wide = theta[-1] > 4.0 * theta[0]
    axes.set(xscale="log" if wide else "linear", xlim=(theta[0], theta[-1]))
    axes.set_ylim(bottom=0.0)
    axes.set_yticks([])
    _plain(axes)


def _plain(axes: Axes) -> None:
    if axes.get_xscale() == "log":
        from matplotlib.ticker import FuncFormatter, NullFormatter

        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=8.5, length=2.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
