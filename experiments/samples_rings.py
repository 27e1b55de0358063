"""A picture of the rings' shapes: how many there are in each small square of the plane (q2, q3).

The data themselves are not part of this repository, so the results have counts only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.curves import INK, head
from experiments.rings import missing, rings
from experiments.runner import Cell, Experiment
from experiments.samples import SAMPLE_COLORS, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_Q2, _Q3 = np.linspace(0.0, 1.0, 41), np.linspace(-0.8, 0.8, 65)


def work(cell: Cell, seed: int) -> dict[str, Any]:
    """Counts of one pair of samples: the number of the square and how many are in it, for those that are not empty."""
    pair = rings(cell[1], seed)
    found = {}
    for name, rows in (("x", pair.x), ("y", pair.y)):
        counts = np.histogram2d(rows[:, 0], rows[:, 1], (_Q2, _Q3))[0].astype(int).ravel()
        squares = np.flatnonzero(counts)
        found[name] = [squares.tolist(), counts[squares].tolist()]
    return found


def draw(results: dict[str, Any]) -> Figure:
    """Draw a dot a square, larger where there are more rings."""
    from matplotlib.figure import Figure

    (cell,) = results["cells"]
    figure = Figure(figsize=(9.0, 5.2), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    middle_2, middle_3 = (0.5 * (edges[1:] + edges[:-1]) for edges in (_Q2, _Q3))
    for axes, name, label, color in zip(panels, "xy", ("crystal", "gas phase"), SAMPLE_COLORS, strict=True):
        squares, counts = cell["values"][name][0]
        across, up = np.unravel_index(np.array(squares, dtype=int), (len(middle_2), len(middle_3)))
        axes.scatter(middle_2[across], middle_3[up], s=4.0 * np.array(counts), color=color, alpha=0.6, linewidths=0)
        axes.set_title(label, loc="left", fontsize=9.5, color=INK)
        axes.set_xlabel("q2 (Å)", fontsize=9)
        axes.set_aspect("equal")
        tidy(axes)
    panels[0].set_ylabel("q3 (Å)", fontsize=9)
    words = f"{cell['cell'][1]} rings of each kind; areas are numbers of rings in squares of 0.025 Å"
    head(figure, results["title"], words)
    return figure


EXPERIMENT = Experiment(
    name="samples_rings",
    title="Shapes of six-membered rings, in crystals and in the gas phase",
    paper="the data of section 6.2, without a figure",
    cells=(("crystal against gas phase", 800),),
    models=(),
    work=work,
    draw=draw,
    settings={"squares": [len(_Q2) - 1, len(_Q3) - 1]},
    runs=1,
    missing=missing,
)
