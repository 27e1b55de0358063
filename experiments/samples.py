"""Pictures of samples: the mixtures, the normal laws in the plane, and the blobs.

Results have what the pictures need: counts of intervals where there is one column, else rounded coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import blobs, gaussian_2d, mixtures
from experiments.curves import INK, Law, describe, head
from experiments.runner import Cell, Experiment

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT", "SAMPLE_COLORS", "tidy", "work"]

SAMPLE_COLORS = ("#0072B2", "#D55E00")
_EDGES = np.linspace(-12.0, 16.0, 113)
# Coordinates are whole multiples of this.
_UNIT = 0.01
_COLUMNS = 4


def work(laws: Mapping[str, Law], cell: Cell, seed: int) -> dict[str, Any]:
    """Draw one pair of samples, and return what a picture of them needs."""
    pair = laws[cell[0]](cell[1], seed)
    return {name: _summary(rows) for name, rows in (("x", pair.x), ("y", pair.y))}


def _summary(rows: np.ndarray) -> list[Any]:
    if rows.shape[1] == 1:
        counts: list[int] = np.histogram(rows[:, 0], _EDGES)[0].tolist()
        return counts
    columns: list[list[int]] = (rows.T / _UNIT).round().astype(int).tolist()
    return columns


def draw(results: dict[str, Any]) -> Figure:
    """Draw histograms, and dots in the plane."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    cells = results["cells"]
    rows = -(-len(cells) // _COLUMNS)
    figure = Figure(figsize=(11.0, 2.15 * rows + 1.0), layout="constrained")
    grid = figure.subplots(rows, _COLUMNS, squeeze=False)
    # Seven normal laws in the plane leave one place of their two rows empty.
    places = (
        [place for place in range(rows * _COLUMNS) if place != _EMPTY] if len(cells) > _EMPTY else range(len(cells))
    )
    for axes in grid.flat:
        axes.set_visible(False)
    for place, cell in zip(places, cells, strict=False):
        axes = grid.flat[place]
        axes.set_visible(True)
        setting, n = cell["cell"]
        samples = [cell["values"][name][0] for name in ("x", "y")]
        (_draw_plane if isinstance(samples[0][0], list) else _draw_counts)(axes, samples)
        axes.set_title(f"{setting}, n = {n}", loc="left", fontsize=8.5, color=INK)
        tidy(axes)
    handles = [Patch(facecolor=color, alpha=0.6) for color in SAMPLE_COLORS]
    figure.legend(
        handles, ["first sample", "second sample"], loc="outside lower center", ncols=2, frameon=False, fontsize=9
    )
    head(figure, results["title"], "one data set each; titles say what the second sample is from")
    return figure


def _draw_counts(axes: Axes, samples: list[list[int]]) -> None:
    for counts, color in zip(samples, SAMPLE_COLORS, strict=True):
        axes.stairs(counts, _EDGES, color=color, fill=True, alpha=0.35)
        axes.stairs(counts, _EDGES, color=color, linewidth=0.7)
    seen = np.flatnonzero(np.sum(samples, axis=0))
    axes.set(xlim=(_EDGES[seen[0]] - 0.5, _EDGES[seen[-1] + 1] + 0.5), yticks=[])


def _draw_plane(axes: Axes, samples: list[list[list[int]]]) -> None:
    for columns, color in zip(samples, SAMPLE_COLORS, strict=True):
        axes.plot(*(np.array(columns) * _UNIT), ".", color=color, markersize=4, alpha=0.45, markeredgewidth=0)
    axes.set_aspect("equal", "datalim")


def tidy(axes: Axes) -> None:
    """Small numbers, and no frame above and on the right."""
    axes.tick_params(labelsize=8, length=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


_BLOBS = {f"blobs, {label}": law for label, law in blobs.LAWS.items()}
_PARTS: tuple[tuple[Mapping[str, Law], int], ...] = ((mixtures.LAWS, 800), (gaussian_2d.LAWS, 400), (_BLOBS, 800))
_EMPTY = len(mixtures.LAWS) + len(gaussian_2d.LAWS)

EXPERIMENT = Experiment(
    name="samples",
    title="Samples of the mixtures, of the normal laws in the plane, and of the blobs",
    paper="the visualisations in appendix F",
    cells=tuple((label, n) for laws, n in _PARTS for label in laws),
    models=(),
    work=partial(work, {label: law for laws, _ in _PARTS for label, law in laws.items()}),
    draw=draw,
    settings={"laws": {label: describe(law) for laws, _ in _PARTS for label, law in laws.items()}, "unit": _UNIT},
    runs=1,
)
