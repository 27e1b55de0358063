"""How many rows each model needs: the least n from which on the median P(H1 | D) is above 0.95, in all experiments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.curves import COLORS, FAINT, INK, NAMES, head
from experiments.reading import CERTAIN, Reading, is_null
from twosample.common.records import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["compute", "draw", "ratio", "write"]

_ROW = 0.23


def compute(found: Mapping[str, Reading]) -> dict[str, Any]:
    """The least n of every setting and model: null where it is not reached by the largest n. Nulls are left out."""
    rows = []
    for name, reading in found.items():
        for setting in reading.settings if reading.is_curve else ():
            sizes = reading.sizes(setting)
            if len(sizes) == 1 or is_null(name, setting):
                continue
            needed = {model: reading.reached(setting, model) for model in reading.models}
            row = {"experiment": name, "setting": setting, "sizes": sizes, "needed": needed}
            rows.append({**row, "published / adaptive": ratio(needed["published"], needed["adaptive"], sizes)})
    return {"title": f"Rows needed for a median P(H1 | D) above {CERTAIN:g}", "level": CERTAIN, "rows": rows}


def ratio(published: int | None, adaptive: int | None, sizes: list[int]) -> str:
    """How many times as many rows `published` needs, as far as the sizes tried tell."""
    smallest, largest = sizes[0], sizes[-1]
    if adaptive is None:
        return "not known" if published is None else f"< {published / largest:.2g}"
    if published is None:
        return f"> {largest / adaptive:.3g}"
    if published == adaptive == smallest:
        return "not known"
    sign = "≥ " if adaptive == smallest else "≤ " if published == smallest else ""
    return f"{sign}{published / adaptive:.3g}"


def needed_text(n: int | None, sizes: list[int]) -> str:
    """The number of rows in words as short as a number."""
    if n is None:
        return f"> {sizes[-1]}"
    return f"≤ {n}" if n == sizes[0] else f"{n}"


def write(path: Path, efficiency: Mapping[str, Any]) -> None:
    """Write the file, a line a row."""

    def text(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    lines = [f"{text(key)}: {text(value)}" for key, value in efficiency.items() if key != "rows"]
    body = '"rows": [\n' + ",\n".join(map(text, efficiency["rows"])) + "\n]"
    whole = "{\n" + ",\n".join([*lines, body]) + "\n}\n"
    write_whole(path, lambda file: file.write(whole.encode()))


def draw(efficiency: Mapping[str, Any]) -> Figure:
    """Draw a row a setting, with a dot a model at the number of rows that it needs."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    rows = efficiency["rows"]
    names = list(dict.fromkeys(row["experiment"] for row in rows))
    models = list(dict.fromkeys(model for row in rows for model in row["needed"]))
    lines = len(rows) + len(names)
    figure = Figure(figsize=(9.5, _ROW * lines + 1.7), layout="constrained")
    axes = figure.subplots()
    place, ticks = 0.0, []
    for name in names:
        axes.text(-0.01, place, name, transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=8.5,
                  color=INK, fontweight="bold")  # fmt: skip
        place += 1.0
        for row in (row for row in rows if row["experiment"] == name):
            _draw_row(axes, place, row, models)
            ticks.append((place, row["setting"]))
            place += 1.0
    smallest, largest = min(row["sizes"][0] for row in rows), max(row["sizes"][-1] for row in rows)
    marks = [n for n in (10, 20, 50, 100, 200, 500, 1000) if smallest <= n <= largest]
    axes.set(xscale="log", xlim=(0.8 * smallest, 1.7 * largest), ylim=(place - 0.3, -0.7), xlabel="n of each sample")
    axes.set_xticks(marks, [str(n) for n in marks])
    axes.minorticks_off()
    axes.set_yticks([tick for tick, _ in ticks], [label for _, label in ticks])
    axes.tick_params(labelsize=8.5, length=2.5)
    axes.grid(axis="x", color="#E5E5E5", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    handles = [
        Line2D([], [], color=COLORS[model], marker="o", linestyle="none", markersize=6, label=NAMES[model])
        for model in models
    ]
    handles.append(
        Line2D([], [], color=FAINT, marker=">", linestyle="none", markersize=6, markerfacecolor="none",
               label="not by the largest n tried")
    )  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    head(figure, efficiency["title"], "the least n tried from which on this is so; further to the left is better")
    return figure


def _draw_row(axes: Any, place: float, row: Mapping[str, Any], models: list[str]) -> None:
    reached = [n for n in row["needed"].values() if n is not None]
    ends = reached if len(reached) == len(row["needed"]) else [*reached, 1.25 * row["sizes"][-1]]
    axes.plot([min(ends), max(ends)], [place, place], color="#BBBBBB", linewidth=1.0, zorder=1)
    for model, n in row["needed"].items():
        # Equal numbers lie a little above each other.
        height = place + 0.2 * (models.index(model) - 0.5 * (len(models) - 1))
        if n is None:
            axes.plot(1.25 * row["sizes"][-1], height, ">", color=COLORS[model], markersize=5, markerfacecolor="white")
        else:
            axes.plot(n, height, "o", color=COLORS[model], markersize=5.5)
