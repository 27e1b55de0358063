"""The panels of a picture, each by itself or within a figure of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twosample.common.words import short
from twosample.errors import InputError, InputTypeError, Setting
from twosample.show.plots.axes import INK, add_legend, new_figure
from twosample.show.plots.driver_panels import draw_list
from twosample.show.plots.labels import column_labels, sample_labels
from twosample.show.plots.one_column import STRIP_LABEL, WITNESS_LABELS, draw_samples, draw_witness_curve, label_values
from twosample.show.plots.scale import draw_lengthscale
from twosample.show.plots.several_columns import draw_plane, draw_witness_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from twosample.inference.pictures import ShownColumn
    from twosample.inference.witness import Driver
    from twosample.results.comparison import Comparison
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["columns", "lengthscale", "sample_names", "samples", "witness"]

_SIZE = (6.4, 4.4)
# Inches: of a character of a legend, of what else two labels need, and of the title beside them.
_CHARACTER, _HANDLES, _TITLE = 0.06, 0.6, 1.25


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
    ax.set_title("Where they differ, if they do", loc="left", color=INK)
    if column is None and plane is not None:
        draw_witness_plane(ax, result, plane, _map_of(result), labels)
        return ax
    shown = _shown_column(result, column)
    curve = next((driver for driver in _drivers(result) if driver.columns == (shown.column,)), None)
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
    ax = _axes(result, ax)
    title = "At what scale, all columns together" if result.drivers else "At what scale they differ, if they do"
    ax.set_title(title, loc="left", color=INK)
    draw_lengthscale(ax, result)
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
    draw_list(ax, result)
    return ax


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


def _drivers(result: TwoSampleResult) -> tuple[Driver, ...]:
    """The witness of what is shown, as far as it is of columns."""
    own = result.witness_picture
    return result.drivers if own is None else (own,)


def _map_of(result: TwoSampleResult) -> Driver | None:
    return next((driver for driver in _drivers(result) if len(driver.columns) == 2), None)


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
