"""The panels of a picture, each by itself or within a figure of one's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from twosample.common.words import short
from twosample.errors import InputError, InputTypeError, Setting
from twosample.show.plots.axes import DIFFER_COLOR, FAINT, INK, add_legend, as_text, name_ticks, new_figure
from twosample.show.plots.drawing import draw_marks
from twosample.show.plots.labels import (
    column_labels,
    prior_and_posterior,
    probability_label,
    sample_labels,
    shown_drivers,
    unit_in_words,
)
from twosample.show.plots.one_column import STRIP_LABEL, WITNESS_LABELS, draw_samples, draw_witness_curve, label_values
from twosample.show.plots.several_columns import draw_plane, draw_witness_plane
from twosample.show.sample_panels import lengthscale_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from twosample.inference.pictures import ShownColumn
    from twosample.results.comparison import Comparison
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["add_titles", "columns", "lengthscale", "sample_names", "samples", "witness"]

_SIZE = (6.4, 4.4)
# Inches: of a character of a legend, of what else two labels need, and of the title beside them.
_CHARACTER, _HANDLES, _TITLE = 0.06, 0.6, 1.25
_PROBABILITY_COLOR = "#7B3294"
# Columns in the list, and letters of their names.
_LISTED, _LONGEST = 10, 22
_LIKELY = 0.5
# Characters in a line below a title.
_WIDEST = 60


def samples(
    result: TwoSampleResult,
    ax: Axes | None = None,
    *,
    column: str | int | None = None,
    names: tuple[str, str] | None = None,
) -> Axes:
    """Draw both samples: bars of discrete columns, densities of others, dots in the plane of two columns.

    Parameters
    ----------
    result
        What `twosample.test` returned.
    ax
        Where to draw; None makes a figure for it.
    column
        Name or place of a column that the result shows: one of those that drive the difference. None is the first of
        them, or the plane of two.
    names
        What to call the two samples, if not as in the result.

    Returns
    -------
    matplotlib.axes.Axes
        Its figure is ``ax.figure``.

    Examples
    --------
    >>> import twosample as ts
    >>> result = ts.test([0, 1, 1, 0, 1, 1], [1, 0, 0, 0, 1, 0])
    >>> [round(float(bar.get_height()), 2) for bar in ts.plots.samples(result).patches]
    [0.33, 0.67, 0.67, 0.33]
    """
    ax = _axes(result, ax)
    labels = sample_names(result, names)
    plane = result.picture.plane
    if column is None and plane is not None:
        draw_plane(ax, result, plane, labels)
        ax.set_title("The samples", loc="left", color=INK)
        return ax
    shown = _shown_column(result, column)
    handles = draw_samples(ax, result, shown, labels)
    words = [*sample_labels(result, labels), STRIP_LABEL][: len(handles)]
    label_values(ax, column_labels(result)[shown.column], shown)
    add_legend(ax, handles, words, ncols=2 if _fits_beside_title(ax, words) else 1, above=True)
    ax.set_title("The samples", loc="left", color=INK)
    return ax


def witness(
    result: TwoSampleResult,
    ax: Axes | None = None,
    *,
    column: str | int | None = None,
    names: tuple[str, str] | None = None,
) -> Axes:
    """Draw the witness, which is where the samples differ, if they do: a curve, or a map of two columns.

    Parameters
    ----------
    result, ax, column, names
        As for `samples`.

    Returns
    -------
    matplotlib.axes.Axes
        Its figure is ``ax.figure``.
    """
    ax = _axes(result, ax)
    labels = sample_names(result, names)
    plane = result.picture.plane
    drivers = shown_drivers(result)
    ax.set_title("Where they differ, if they do", loc="left", color=INK)
    if column is None and plane is not None:
        both = next((driver for driver in drivers if len(driver.columns) == 2), None)
        draw_witness_plane(ax, result, plane, both, labels)
        return ax
    shown = _shown_column(result, column)
    curve = next((driver for driver in drivers if driver.columns == (shown.column,)), None)
    if curve is None:
        raise InputError(
            "column: the witness is known for both columns together",
            argument="column",
            remedy=("leave it at ", Setting("column", None)),
        )
    handles = draw_witness_curve(ax, curve, labels, column_labels(result)[shown.column], shown)
    add_legend(ax, handles, list(WITNESS_LABELS), ncols=3)
    return ax


def lengthscale(result: TwoSampleResult, ax: Axes | None = None) -> Axes:
    """Draw the posterior of the lengthscale: at what scale the samples differ, if they do.

    Parameters
    ----------
    result, ax
        As for `samples`.

    Returns
    -------
    matplotlib.axes.Axes
        P(different) at each lengthscale is on a twin of it.
    """
    from matplotlib.lines import Line2D

    ax = _axes(result, ax)
    title = "At what scale, all columns together" if result.drivers else "At what scale they differ, if they do"
    ax.set_title(title, loc="left", color=INK)
    posterior = result.lengthscale
    if posterior.fixed:
        ax.set_axis_off()
        words = (
            f"The lengthscale was given, not inferred:\n{posterior.grid[0]:.4g}\n\n"
            f"{unit_in_words(result)}\n\nmedian heuristic: {posterior.median_heuristic:.4g}"
        )
        as_text(ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", color=INK))
        return ax
    panel = lengthscale_posterior(*prior_and_posterior(result))
    handles = draw_marks(panel, ax)
    as_text(ax.set_xlabel(f"lengthscale\n{unit_in_words(result)}"))
    beside = ax.twinx()
    dashed = {"color": _PROBABILITY_COLOR, "linewidth": 1.4, "linestyle": "--"}
    beside.plot(posterior.grid, posterior.prob_h1, **dashed)  # type: ignore[arg-type]
    beside.set(ylim=(0.0, 1.08), yticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    beside.set_ylabel("P(different | data, lengthscale)", color=_PROBABILITY_COLOR)
    beside.tick_params(axis="y", colors=_PROBABILITY_COLOR)
    handles["P(different) at that lengthscale"] = Line2D([], [], **dashed)  # type: ignore[arg-type]
    add_legend(ax, list(handles.values()), list(handles))
    return ax


def columns(result: TwoSampleResult, ax: Axes | None = None) -> Axes:
    """Draw how likely each column differs, the likeliest on top.

    Parameters
    ----------
    result, ax
        As for `samples`; for models that say which columns differ.

    Returns
    -------
    matplotlib.axes.Axes
        Its figure is ``ax.figure``.
    """
    ax = _axes(result, ax)
    if result.by_subset is None:
        raise InputError(
            f"result: model {result.model.name!r} tests all columns together, and does not say which differ",
            argument="result",
            remedy=("test with ", Setting("subsets", "auto"), " and ", Setting("model", "adaptive")),
        )
    rows = result.by_column[:_LISTED]
    labels = dict(zip(result.columns, column_labels(result, _LONGEST), strict=True))
    places = list(range(len(rows)))
    colors = [DIFFER_COLOR if row.prob > _LIKELY else "#B0B0B0" for row in rows]
    ax.barh(places, [row.prob for row in rows], color=colors, height=0.7)
    for place, row in zip(places, rows, strict=True):
        inside = row.prob > _LIKELY
        ax.text(
            row.prob, place, f" {probability_label(row.prob)} ", ha="right" if inside else "left", va="center",
            color="white" if inside else INK, fontsize="small",
        )  # fmt: skip
    name_ticks(ax.yaxis, [labels[row.column] for row in rows], fontsize="small")
    ax.set(xlim=(0.0, 1.0), ylim=(max(len(rows), 4) - 0.4, -0.6), xlabel="P(column differs by itself)")
    of = f" ({len(rows)} of {len(result.columns)})" if len(rows) < len(result.columns) else ""
    words = []
    if result.drivers and len(result.drivers[0].columns) == 1 and result.prob_h1 > _LIKELY and rows[0].prob <= _LIKELY:
        words = ["the samples differ, but no column clearly by itself"]
    add_titles([ax], [f"Which columns differ, if any{of}"], [words])
    return ax


def add_titles(axes: Iterable[Axes], titles: list[str], words: list[list[str]]) -> None:
    """Titles at one height, with smaller words below, all in one line each if they fit."""
    breaks = any(len(", ".join(phrases)) > _WIDEST for phrases in words)
    below = [("\n" if breaks else ", ").join(phrases) for phrases in words]
    pad = 6.0 + 12.0 * max(1 + text.count("\n") if text else 0 for text in below)
    for one, title, text in zip(axes, titles, below, strict=True):
        as_text(one.set_title(title, loc="left", color=INK, pad=pad))
        if text:
            as_text(
                one.annotate(
                    text, (0.0, 1.0), xytext=(0.0, pad - 4.0), xycoords="axes fraction", textcoords="offset points",
                    color=FAINT, fontsize="small", va="top", in_layout=False,
                )
            )  # fmt: skip


def sample_names(result: Comparison, names: tuple[str, str] | None) -> tuple[str, str]:
    """Names of the samples as they are shown: the given ones, else those of the result."""
    if names is None:
        names = result.names
    if isinstance(names, str) or len(names) != 2:
        raise InputError(f"names: need one name for each of the two samples, not {len(names)}", argument="names")
    return short(names[0]), short(names[1])


def _axes(result: TwoSampleResult, ax: Axes | None) -> Axes:
    if not hasattr(result, "picture"):
        raise InputTypeError(f"result: expected what test returns, got {type(result).__name__}", argument="result")
    return new_figure(*_SIZE).subplots() if ax is None else ax


def _fits_beside_title(ax: Axes, labels: list[str]) -> bool:
    """Whether a legend of two columns does."""
    first, second = (labels[:2], labels[2:]) if len(labels) > 2 else (labels[:1], labels[1:])
    longest = sum(max(map(len, column)) for column in (first, second))
    width = ax.get_position().width * ax.get_figure(root=True).get_figwidth()  # type: ignore[union-attr]
    return _CHARACTER * longest + _HANDLES + _TITLE < width


def _shown_column(result: TwoSampleResult, column: str | int | None) -> ShownColumn:
    shown = result.picture.columns
    for one in shown:
        if column is None or column in (one.column, result.columns[one.column]):
            return one
    known = ", ".join(repr(result.columns[one.column]) for one in shown)
    raise InputError(
        f"column: {column!r} is not shown" + ("" if shown else ", as no column is by itself"),
        argument="column",
        remedy=f"use one of {known}" if shown else ("leave it at ", Setting("column", None)),
    )
