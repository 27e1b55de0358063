"""What pictures have in common: colours, the figure and its headline, legends and axes."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from twosample.common.words import printable, sentence
from twosample.errors import InputError, MissingExtraError, Setting
from twosample.show.sample_panels import largest_shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure, FigureBase
    from matplotlib.legend import Legend
    from matplotlib.text import Text

    from twosample.common.arrays import Array
    from twosample.paper.baselines import HolmesResult
    from twosample.paper.gibbs_result import GibbsResult
    from twosample.results.comparison import Comparison

__all__ = [
    "DIFFER_COLOR",
    "FAINT",
    "GRID_1D",
    "INK",
    "MOST_PANELS",
    "NEUTRAL",
    "X_COLOR",
    "Y_COLOR",
    "add_figure_legend",
    "add_legend",
    "as_text",
    "centered",
    "figure_docs",
    "headline",
    "name_ticks",
    "new_figure",
    "number_log_axis",
    "witness_colors",
]


# Blue and vermilion of Okabe and Ito: told apart with any colour vision, and in grey.
X_COLOR = "#0072B2"
Y_COLOR = "#D55E00"
NEUTRAL = "#F7F7F7"
INK = "#333333"
FAINT = "#777777"
DIFFER_COLOR = "#009E73"

GRID_1D = 400
MOST_PANELS = 12
# Inches.
_LARGEST_FIGURE = 500.0
# Of a headline, with room to spare.
_CHARACTERS_PER_INCH = 8.0
# The same of a legend.
_SMALL_PER_INCH = 14.0


_Drawing = TypeVar("_Drawing", bound=Callable[..., Any])
_FIGURE_DOCS = """figsize
    Width and height in inches, if not those that the panels need.

Returns
-------
matplotlib.figure.Figure
    Save it with ``figure.savefig("result.png")``. It belongs to no window and no global state.

Raises
------
MissingExtraError
    If matplotlib is not installed."""


def figure_docs(draw: _Drawing) -> _Drawing:
    """Write what is the same for all functions that draw a figure in place of `{figure}` in the docstring."""
    draw.__doc__ = inspect.cleandoc(draw.__doc__ or "").replace("{figure}", _FIGURE_DOCS)
    return draw


def new_figure(width: float, height: float, figsize: tuple[float, float] | None = None) -> Figure:
    """An empty figure that belongs to no window, of the size that is asked for or else of its own."""
    width, height = (width, height) if figsize is None else _checked_size(figsize)
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise MissingExtraError("plot", "matplotlib", "plot") from None
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    FigureCanvasAgg(figure)
    # Notebooks show figures of pyplot only, but what has this method too.
    vars(figure)["_repr_png_"] = partial(_as_png, figure)
    return figure


def _as_png(figure: Figure) -> bytes:
    picture = BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def _checked_size(figsize: tuple[float, float]) -> tuple[float, float]:
    """The width and height of a figure in inches, if they are such."""
    try:
        width, height = (float(length) for length in figsize)
        sensible = 0.0 < min(width, height) <= max(width, height) <= _LARGEST_FIGURE
    except (TypeError, ValueError):
        sensible = False
    if not sensible:
        raise InputError(
            f"figsize: {figsize!r} is no width and height of a figure in inches",
            argument="figsize",
            remedy=("pass two numbers such as ", Setting("figsize", (11, 6))),
        )
    return width, height


def headline(figure: Figure, result: Comparison | GibbsResult | HolmesResult, *numbers: str) -> None:
    """The verdict, in as many lines as it needs, and the numbers below it."""
    widest = int(_CHARACTERS_PER_INCH * figure.get_figwidth())
    verdict = sentence(result.verdict)
    if len(verdict) > widest:
        verdict = "\n".join(textwrap.fill(part, widest) for part in verdict.replace(", ", ",\n").splitlines())
    title = f"{verdict}\n{'      '.join(numbers)}"
    as_text(figure.suptitle(title, fontsize="x-large", color=INK))


def as_text(text: Text) -> Text:
    """Show a text as it is: a dollar sign in a name starts no formula."""
    text.set_parse_math(False)
    text.set_usetex(False)
    return text


def add_legend(axes: Axes, handles: list[Any], labels: list[str], *, ncols: int = 1, above: bool = False) -> None:
    """Put a legend below the axes, clear of the axis label, or above them at the right, beside the title."""
    from matplotlib.transforms import ScaledTranslation

    lines = 1 + axes.get_xlabel().count("\n")
    points = 4.0 if above else -(24.0 + 15.0 * lines)
    offset = ScaledTranslation(0.0, points / 72.0, axes.get_figure(root=True).dpi_scale_trans)  # type: ignore[union-attr]
    legend = axes.legend(
        handles,
        ["?"] * len(labels),
        loc="lower right" if above else "upper center",
        bbox_to_anchor=(1.0, 1.0) if above else (0.5, 0.0),
        bbox_transform=axes.transAxes + offset,
        borderaxespad=0.0,
        borderpad=0.0,
        frameon=False,
        fontsize="small",
        markerscale=1.6,
        ncols=ncols,
    )
    _write_labels(legend, labels)


def add_figure_legend(figure: FigureBase, handles: list[Any], labels: list[str], width: float) -> None:
    """Put a legend below all axes, in as few lines as fit the width in inches."""
    longest = max(len(label) for label in labels) + 6
    ncols = max(1, min(len(labels), int(_SMALL_PER_INCH * width / longest)))
    legend = figure.legend(
        handles, ["?"] * len(labels), loc="outside lower center", ncols=ncols, frameon=False, fontsize="small"
    )
    _write_labels(legend, labels)


def _write_labels(legend: Legend, labels: list[str]) -> None:
    # The texts are set afterwards because matplotlib leaves out labels that start with an underscore.
    for text, label in zip(legend.get_texts(), labels, strict=True):
        as_text(text).set_text(label)


def number_log_axis(axis: Axis) -> None:
    """Write 0.01, 0.1, 1 rather than powers of ten, and more of them where the axis spans less than two decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    low, high = axis.get_view_interval()
    decades = np.log10(high / low)
    subs = (1.0,) if decades > 3 else (1.0, 3.0) if decades > 1.5 else (1.0, 2.0, 5.0)
    narrow = MaxNLocator(6, steps=[1, 2, 2.5, 5, 10])
    axis.set_major_locator(LogLocator(subs=subs, numticks=12) if decades > 0.7 else narrow)
    axis.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
    axis.set_minor_formatter(NullFormatter())


def _number(value: float) -> str:
    if 1e-3 < value < 1e5:
        return f"{value:g}"
    digits, exponent = f"{value:.0e}".split("e")
    return f"{digits}e{int(exponent)}"


def name_ticks(axis: Axis, names: Iterable[Any], **style: Any) -> None:
    """Names at the places 0, 1, ... of an axis."""
    shown = [printable(str(name)) for name in names]
    axis.set_ticks(range(len(shown)), shown, **style)
    for text in axis.get_ticklabels():
        as_text(text)


def centered(mean: Array, sd: Array) -> Normalize:
    """Colours symmetric about zero."""
    from matplotlib.colors import Normalize

    reach = largest_shown(mean, sd)
    return Normalize(-reach, reach)


def witness_colors() -> Colormap:
    """From the colour of y over a neutral one to that of x."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("more y, more x", [Y_COLOR, NEUTRAL, X_COLOR])
