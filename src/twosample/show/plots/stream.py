"""The picture of a monitor: evidence over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twosample.common.words import log_bf10_text
from twosample.show.plots.axes import DIFFER_COLOR, FAINT, INK, Y_COLOR, add_legend, as_text, new_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from twosample.questions.monitor import HistoryRow, MonitorState

__all__ = ["plot_monitor"]


def plot_monitor(
    history: Sequence[HistoryRow], state: MonitorState, *, figsize: tuple[float, float] | None = None
) -> Figure:
    """Draw the log e-value over time with the limit and the first crossing, and the run-length detector.

    Parameters
    ----------
    history, state
        Those of a `Monitor`.
    figsize
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("monitor.png")``. It belongs to no window and no global state.
    """
    figure = new_figure(9.0, 4.6, figsize)
    from matplotlib.ticker import MaxNLocator

    axes = figure.subplots()
    batches = [0, *(row.batch for row in history)]
    limit = -math.log(state.alpha)
    [line] = axes.plot(
        batches, [0.0, *(row.log_evalue for row in history)], color=DIFFER_COLOR, linewidth=2.0, label="log e-value"
    )
    [changes] = axes.plot(
        batches[1:], [row.log_run_length for row in history], color=FAINT, linewidth=1.0, label="log run length"
    )
    threshold = axes.axhline(limit, color=INK, linewidth=1.0, linestyle="--", label="limit")
    handles, labels = (
        [line, changes, threshold],
        ["log e-value", "log run length", f"limit, e-value {1.0 / state.alpha:g}"],
    )
    crossing = next((row for row in history if row.batch == state.crossed_at), None)
    if state.crossed_at is not None:
        height = limit if crossing is None else crossing.log_evalue
        [mark] = axes.plot([state.crossed_at], [height], "o", color=Y_COLOR, markersize=9, zorder=3, label="alarm")
        handles.append(mark)
        labels.append(f"first crossing, batch {state.crossed_at}")
    axes.set(xlabel="batch", ylabel="log e-value")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.02)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    verdict = f"Alarm at batch {state.crossed_at}" if state.alarm else "No alarm"
    numbers = (
        f"log e-value {log_bf10_text(state.log_evalue)} after {state.batches:,} batch{'es' * (state.batches != 1)}"
    )
    as_text(figure.suptitle(f"{verdict}\n{numbers}", fontsize="x-large", color=INK))
    add_legend(axes, handles, labels, ncols=len(handles))
    return figure
