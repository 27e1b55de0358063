"""Pictures of results: the samples, where they differ, at what scale; and chains. They read a result, infer nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.errors import InputError, MissingExtraError
from twosample.evidence import probability
from twosample.words import log_bf10_text, probability_in_words, sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from twosample.baselines import HolmesResult
    from twosample.gibbs_result import GibbsResult
    from twosample.result import TwoSampleResult

__all__ = ["plot_lengthscales", "plot_result", "plot_trace", "plot_tree", "printable"]

Array = NDArray[np.float64]

# Blue and vermilion of Okabe and Ito: told apart with any colour vision, and in grey.
_X_COLOR = "#0072B2"
_Y_COLOR = "#D55E00"
_NEUTRAL = "#F7F7F7"
_INK = "#333333"
_FAINT = "#777777"
_DIFFER_COLOR = "#009E73"
_PROBABILITY_COLOR = "#7B3294"

_SHOWN_SHARE = 0.995
_GRID_1D = 400
_GRID_2D = 90
_LONGEST_NAME = 28
_MARKERS = ("o", "^")
_MOST_PANELS = 12
_FEWEST_DRAWS = 20


def printable(text: str) -> str:
    r"""Return text with control characters and the like written as escapes, so that it can be shown anywhere.

    Examples
    --------
    >>> printable("caf\u00e9\x1b[31m\n")
    'café\\x1b[31m\\n'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def plot_result(result: TwoSampleResult, *, names: tuple[str, str] = ("x", "y")) -> Figure:
    """Draw a result: the two samples, the witness function, and the posterior of the lengthscale.

    Parameters
    ----------
    result
        What `twosample.test` returned.
    names
        What to call the two samples.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("result.png")``. It belongs to no window and no global state.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import twosample as ts
    >>> result = ts.test([0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9])
    >>> figure = plot_result(result, names=("before", "after"))
    >>> [axes.get_title(loc="left") for axes in figure.axes[:3]]
    ['The samples', 'Where they differ, if they do', 'At what scale they differ, if they do']
    """
    if len(names) != 2:
        raise InputError(f"names: need one name for each of the two samples, not {len(names)}")
    labels = (_short(names[0]), _short(names[1]))

    one_column = len(result.columns) == 1
    figure = _figure(11.0, 6.2) if one_column else _figure(15.0, 5.2)
    if one_column:
        grid = figure.add_gridspec(2, 2, width_ratios=(1.45, 1.0))
        samples = figure.add_subplot(grid[0, 0])
        witness = figure.add_subplot(grid[1, 0], sharex=samples)
        scale = figure.add_subplot(grid[:, 1])
        _draw_column(samples, witness, result, labels)
    else:
        samples, witness, scale = figure.subplots(1, 3)
        _draw_columns(samples, witness, result, labels)
    _draw_lengthscale(scale, result)

    _headline(figure, result, *_answer(result))
    for axes, text in (
        (samples, "The samples"),
        (witness, "Where they differ, if they do"),
        (scale, "At what scale they differ, if they do"),
    ):
        axes.set_title(text, loc="left", color=_INK)
    return figure


def plot_lengthscales(result: GibbsResult) -> Figure:
    """Draw the posterior of every lengthscale under each hypothesis, and for kernel "ard" which columns matter.

    Parameters
    ----------
    result
        What `twosample.gibbs` returned. Of more than 12 columns the 12 most relevant are shown.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("lengthscales.png")``. It belongs to no window and no global state.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    shown = list(range(result.lengthscales.shape[-1]))[:_MOST_PANELS]
    if result.relevance is not None:
        shown = [result.columns.index(name) for name in result.relevance.columns[:_MOST_PANELS]]
    n_columns = len(shown) if len(shown) < 4 else math.ceil(math.sqrt(len(shown)))
    n_rows = math.ceil(len(shown) / n_columns)
    if result.relevance is not None:
        figure = _figure(2.9 * n_columns + 5.0, max(2.2 * n_rows + 1.8, 5.0))
        grid = figure.add_gridspec(n_rows, n_columns + 1, width_ratios=[1.0] * n_columns + [1.5])
    else:
        figure = _figure(max(2.9 * n_columns, 7.5), max(2.2 * n_rows + 1.8, 5.0))
        grid = figure.add_gridspec(n_rows, n_columns)
    handles: dict[str, Any] = {}
    for place, index in enumerate(shown):
        axes = figure.add_subplot(grid[divmod(place, n_columns)])
        handles |= _draw_draws(axes, result, index)
        if place % n_columns == 0:
            axes.set_ylabel("density of log lengthscale" if n_rows == 1 else "density")
        if result.kernel == "ard":
            title = _column_labels(result)[index]
            if result.relevance is not None:
                value, error = result.relevance.shortening[place], result.relevance.error[place]
                words = "shorter" if value >= 0.0 else "longer"
                title = f"{place + 1}. {title}\n{words} by {abs(value):.2f} ± {error:.2f} if they differ"
            _as_text(axes.set_title(title, loc="left", color=_INK, fontsize="medium"))
            if place >= len(shown) - n_columns:
                axes.set_xlabel("lengthscale\n(in the units of the column)")
        else:
            axes.set_title("At what scale they differ, if they do", loc="left", color=_INK)
            _as_text(axes.set_xlabel(f"lengthscale\n{_unit(result)}"))
    if result.relevance is not None:
        _draw_relevance(figure.add_subplot(grid[:, -1]), result, len(shown))
    ncols = 4 if figure.get_figwidth() > 8.5 else 2
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=ncols, frameon=False)
    _headline(figure, result, *_sampled_answer(result))
    return figure


def plot_trace(result: GibbsResult) -> Figure:
    """Draw the chains draw by draw: P(different), the hypothesis, and the lengthscales.

    Parameters
    ----------
    result
        What `twosample.gibbs` returned. Of more than 12 lengthscales the 12 whose chains agree least are shown.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("trace.png")``. It belongs to no window and no global state.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    found = result.diagnostics
    shown = sorted(np.argsort(-found.r_hat_lengthscales, kind="stable")[:_MOST_PANELS].tolist())
    n_columns = 1 if len(shown) <= 3 else 2
    n_rows = math.ceil(len(shown) / n_columns)
    strip = 0.25 + 0.12 * len(result.labels)
    figure = _figure(11.0, 3.6 + strip + 1.6 * n_rows)
    grid = figure.add_gridspec(2 + n_rows, n_columns, height_ratios=[2.0, strip] + [1.3] * n_rows)

    chains = _chain_colors(len(result.labels))
    probability = figure.add_subplot(grid[0, :])
    _draw_probability(probability, result, chains)
    labels = figure.add_subplot(grid[1, :], sharex=probability)
    _draw_labels(labels, result)
    drawn = [probability, labels]
    draws = np.arange(1, result.labels.shape[1] + 1)
    for place, index in enumerate(shown):
        axes = figure.add_subplot(grid[(2 + place // n_columns, place % n_columns)], sharex=probability)
        for series, color in zip(result.lengthscales[:, :, index], chains, strict=True):
            axes.plot(draws, series, color=color, linewidth=0.7, alpha=0.8)
        axes.axhline(_median_heuristic(result, index), color=_INK, linewidth=1.0, linestyle=":")
        axes.set(yscale="log", ylabel="lengthscale" if place % n_columns == 0 else "")
        _number_log_axis(axes.yaxis)
        name = _column_labels(result)[index] if result.kernel == "ard" else "Lengthscale"
        _trace_titles(axes, name, _agreement(found.r_hat_lengthscales[index], found.ess_lengthscales[index]))
        drawn.append(axes)
    for axes in drawn[:-n_columns]:
        axes.tick_params(labelbottom=False)
    thinning, burn_in = result.settings.thinning, result.settings.burn_in
    kept = "every Gibbs step" if thinning == 1 else f"one in {thinning} Gibbs steps"
    figure.supxlabel(f"kept draw ({kept} after the first {burn_in}); dotted: median heuristic", fontsize="medium")
    probability.set_xlim(0.5, len(draws) + 0.5)
    _headline(figure, result, *_sampled_answer(result))
    return figure


def _figure(width: float, height: float) -> Figure:
    """An empty figure that belongs to no window."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise MissingExtraError("plot", "matplotlib", "plot") from None
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    FigureCanvasAgg(figure)
    return figure


def _headline(figure: Figure, result: TwoSampleResult | GibbsResult | HolmesResult, *numbers: str) -> None:
    """The verdict, and the numbers below it."""
    title = f"{sentence(result.verdict)}\n{'      '.join(numbers)}"
    _as_text(figure.suptitle(title, fontsize="x-large", color=_INK))


def _answer(result: TwoSampleResult | HolmesResult) -> tuple[str, str]:
    """P(different) and log BF10."""
    return f"P(different | data) {_probability(result.prob_h1)}", _log_bayes_factor(result.log_bf10)


def _probability(probability: float) -> str:
    words = probability_in_words(probability)
    return words if words[0] in "<>" else f"= {words}"


def _log_bayes_factor(log_bf10: float) -> str:
    return f"log BF10 = {log_bf10_text(log_bf10)}"


def _short(name: str) -> str:
    """A name without its middle where it is long: names that start alike often differ at the end."""
    shown = printable(str(name))
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[:14]}...{shown[17 - _LONGEST_NAME :]}"


def _as_text(text: Text) -> Text:
    """Show a text as it is: a dollar sign in a name starts no formula."""
    text.set_parse_math(False)
    text.set_usetex(False)
    return text


def _range(values: Array) -> tuple[float, float]:
    """Where the central values lie, with a margin."""
    tail = 0.5 * (1.0 - _SHOWN_SHARE)
    low, high = (float(value) for value in np.quantile(values, (tail, 1.0 - tail)))
    margin = 0.05 * (high - low) if high > low else max(abs(low), 1.0) * 0.5
    return low - margin, high + margin


def _legend(axes: Axes, handles: list[Any], labels: list[str], *, ncols: int = 1, above: bool = False) -> None:
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
    # The texts are set afterwards because matplotlib leaves out labels that start with an underscore.
    for text, label in zip(legend.get_texts(), labels, strict=True):
        _as_text(text).set_text(label)


def _column_labels(result: TwoSampleResult | GibbsResult | HolmesResult) -> list[str]:
    """What to call the columns; those without a name go by their position."""
    if len(result.columns) == 1 and result.columns[0].isdigit():
        return ["value"]
    return [f"column {name}" if name.isdigit() else _short(name) for name in result.columns]


def _sample_labels(result: TwoSampleResult, names: tuple[str, str]) -> list[str]:
    """Names of the samples with their sizes, and how many of the rows are shown where that is not all."""
    labels = []
    for name, n, shown in zip(names, (result.n_x, result.n_y), (result.shown_x, result.shown_y), strict=True):
        labels.append(f"{name} ({n:,} rows)" if len(shown) == n else f"{name} ({len(shown):,} of {n:,} rows)")
    return labels


# One column.


def _draw_column(samples: Axes, witness: Axes, result: TwoSampleResult, names: tuple[str, str]) -> None:
    pooled = np.concatenate([result.shown_x[:, 0], result.shown_y[:, 0]])
    low, high = _range(pooled)
    at = np.linspace(low, high, _GRID_1D)

    handles: list[Any] = []
    top = 0.0
    for rows, color in ((result.shown_x[:, 0], _X_COLOR), (result.shown_y[:, 0], _Y_COLOR)):
        density = _kernel_density(rows, at)
        top = max(top, float(density.max()))
        samples.fill_between(at, density, color=color, alpha=0.18, linewidth=0)
        handles += samples.plot(at, density, color=color, linewidth=1.8)
    for rows, color, height in (
        (result.shown_x[:, 0], _X_COLOR, -0.05 * top),
        (result.shown_y[:, 0], _Y_COLOR, -0.12 * top),
    ):
        samples.plot(rows, np.full(len(rows), height), "|", color=color, markersize=7, alpha=0.45, markeredgewidth=0.7)
    samples.set(ylim=(-0.17 * top, 1.1 * top), ylabel="density", yticks=[])
    samples.axhline(0.0, color=_FAINT, linewidth=0.6)
    labels = _sample_labels(result, names)
    _legend(samples, handles, labels, ncols=2 if len("".join(labels)) < 48 else 1, above=True)
    samples.tick_params(labelbottom=False)
    outside = int(np.count_nonzero((pooled < low) | (pooled > high)))
    if outside:
        words = f"{outside} {'row' if outside == 1 else 'rows'} out of view"
        samples.text(0.01, 0.96, words, transform=samples.transAxes, va="top", color=_FAINT, fontsize="small")
    _draw_witness_curve(witness, result, at, names)


def _kernel_density(rows: Array, at: Array) -> Array:
    """Gaussian kernel density estimate with Silverman's bandwidth, for display."""
    span = float(at[-1] - at[0])
    quartiles = np.quantile(rows, (0.25, 0.75))
    spreads = [spread for spread in (float(np.std(rows)), float(quartiles[1] - quartiles[0]) / 1.349) if spread > 0]
    bandwidth = max(0.9 * min(spreads, default=0.0) * len(rows) ** -0.2, span / 150)
    density = np.zeros_like(at)
    for row in rows:
        density += np.exp(-0.5 * ((at - row) / bandwidth) ** 2)
    return np.asarray(density / (len(rows) * bandwidth * np.sqrt(2 * np.pi)))


def _draw_witness_curve(axes: Axes, result: TwoSampleResult, at: Array, names: tuple[str, str]) -> None:
    witness = result.witness(at)
    bands = {level: witness.band(level) for level in (0.95, 0.5)}
    handles: list[Any] = []
    for (low, high), color in zip(bands.values(), ("#D9D9D9", "#B0B0B0"), strict=True):
        handles.append(axes.fill_between(at, low, high, color=color, linewidth=0))
    handles[:0] = axes.plot(at, witness.mean, color=_INK, linewidth=1.6)
    axes.axhline(0.0, color=_INK, linewidth=0.8, linestyle=(0, (4, 3)))

    lower, upper = bands[0.95]
    reach = max(float(np.max(np.abs([lower, upper]))), np.finfo(float).tiny)
    axes.set(xlim=(at[0], at[-1]), ylim=(-1.35 * reach, 1.35 * reach), ylabel="witness")
    _as_text(axes.set_xlabel(_column_labels(result)[0]))
    _plain_ticks(axes)
    for sign, name, color, clear in (
        (1.0, names[0], _X_COLOR, bool((lower > 0).any())),
        (-1.0, names[1], _Y_COLOR, bool((upper < 0).any())),
    ):
        signed = sign * witness.mean
        axes.fill_between(at, 0.0, witness.mean, where=(signed > 0).tolist(), color=color, alpha=0.4, linewidth=0)
        if not (signed > 0).any():
            continue
        peak = (at[int(np.argmax(signed))] - at[0]) / (at[-1] - at[0])
        side = "left" if peak < 0.2 else "right" if peak > 0.8 else "center"
        words = f"more {name} here" if clear else f"perhaps more {name} here"
        _as_text(
            axes.text(
                float(np.clip(peak, 0.02, 0.98)), 0.5 + 0.47 * sign, words, transform=axes.transAxes, ha=side,
                va="top" if sign > 0 else "bottom", color=color if clear else _FAINT,
            )
        )  # fmt: skip
    _legend(axes, handles, ["posterior mean", "95 % band", "50 % band"], ncols=3)


def _plain_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(7))


# Several columns.


class _Plane(NamedTuple):
    """The rows as they are drawn: in two coordinates, with what to write at the axes."""

    x: Array
    y: Array
    labels: tuple[str, str]

    @property
    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        both = np.concatenate([self.x, self.y])
        return _range(both[:, 0]), _range(both[:, 1])


def _draw_columns(samples: Axes, witness: Axes, result: TwoSampleResult, names: tuple[str, str]) -> None:
    if len(result.columns) == 2:
        first, second = _column_labels(result)
        plane = _Plane(result.shown_x, result.shown_y, (first, second))
        _draw_witness_map(witness, result, plane, names)
    else:
        plane = _principal_plane(result)
        _draw_witness_rows(witness, result, plane, names)

    handles: list[Any] = []
    size = _marker_size(plane)
    for rows, color, marker in zip((plane.x, plane.y), (_X_COLOR, _Y_COLOR), _MARKERS, strict=True):
        handles.append(samples.scatter(rows[:, 0], rows[:, 1], s=size, c=color, marker=marker, alpha=0.5, linewidths=0))
    for axes in (samples, witness):
        x_limits, y_limits = plane.limits
        axes.set(xlim=x_limits, ylim=y_limits)
        _as_text(axes.set_xlabel(plane.labels[0]))
        _as_text(axes.set_ylabel(plane.labels[1]))
        _plain_ticks(axes)
    _legend(samples, handles, _sample_labels(result, names))


def _marker_size(plane: _Plane) -> float:
    return float(np.clip(6000 / (len(plane.x) + len(plane.y)), 10, 30))


def _principal_plane(result: TwoSampleResult) -> _Plane:
    """The shown rows on their first two principal axes, found without the outermost values."""
    x, y = ((rows - result.center) / result.scale for rows in (result.shown_x, result.shown_y))
    both = np.concatenate([x, y])
    tail = 0.5 * (1.0 - _SHOWN_SHARE)
    inner = np.clip(both, *np.quantile(both, (tail, 1.0 - tail), axis=0))
    center = inner.mean(axis=0)
    _, singular, axes = np.linalg.svd(inner - center, full_matrices=False)
    shares = singular**2 / np.sum(singular**2)
    first, second = (f"principal axis {i + 1} of {x.shape[1]} ({shares[i]:.0%} of the variance)" for i in range(2))
    return _Plane((x - center) @ axes[:2].T, (y - center) @ axes[:2].T, (first, second))


def _draw_witness_map(axes: Axes, result: TwoSampleResult, plane: _Plane, names: tuple[str, str]) -> None:
    from matplotlib.lines import Line2D

    first, second = (np.linspace(*limits, _GRID_2D) for limits in plane.limits)
    at = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    witness = result.witness(at)
    norm = _centered(witness.mean, witness.sd)
    levels = np.linspace(norm.vmin or 0.0, norm.vmax or 0.0, 22)
    mean = witness.mean.reshape(_GRID_2D, _GRID_2D)
    clear = (np.abs(witness.mean) - 2.0 * witness.sd).reshape(_GRID_2D, _GRID_2D)

    filled = axes.contourf(first, second, mean, levels=levels, cmap=_colors(), norm=norm)
    if clear.min() < 0.0 < clear.max():
        axes.contour(first, second, clear, levels=[0.0], colors=_INK, linewidths=1.2)
    for rows, color, marker in zip((plane.x, plane.y), (_X_COLOR, _Y_COLOR), _MARKERS, strict=True):
        axes.scatter(rows[:, 0], rows[:, 1], s=3, c=color, marker=marker, alpha=0.35, linewidths=0)
    _witness_scale(axes, filled, norm, names)
    words = "inside: more than 2 sd from zero" if clear.max() > 0.0 else "nowhere 2 sd from zero"
    _legend(axes, [Line2D([], [], color=_INK, linewidth=1.2)], [words])


def _draw_witness_rows(axes: Axes, result: TwoSampleResult, plane: _Plane, names: tuple[str, str]) -> None:
    from matplotlib.lines import Line2D

    witness = [result.witness(rows) for rows in (result.shown_x, result.shown_y)]
    mean = np.concatenate([part.mean for part in witness])
    norm = _centered(mean, np.concatenate([part.sd for part in witness]))
    clear = [np.abs(part.mean) > 2.0 * part.sd for part in witness]
    for rows, part, sure, marker in zip((plane.x, plane.y), witness, clear, _MARKERS, strict=True):
        size = np.where(sure, 1.4, 0.5) * _marker_size(plane)
        drawn = axes.scatter(rows[:, 0], rows[:, 1], s=size, c=part.mean, cmap=_colors(), norm=norm, marker=marker)
        drawn.set_edgecolor(_FAINT)
        drawn.set_linewidth(0.3)
    _witness_scale(axes, drawn, norm, names)
    large = Line2D([], [], marker="o", markersize=4, linestyle="", markerfacecolor="none", markeredgecolor=_FAINT)
    words = "large: more than 2 sd from zero" if any(sure.any() for sure in clear) else "nowhere 2 sd from zero"
    _legend(axes, [large], [words])


def _centered(mean: Array, sd: Array) -> Normalize:
    """Colours symmetric about zero, pale where the witness is small beside its own uncertainty."""
    from matplotlib.colors import Normalize

    reach = max(float(np.abs(mean).max()), 2.0 * float(np.quantile(sd, 0.9)), float(np.finfo(float).tiny))
    return Normalize(-reach, reach)


def _colors() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("more y, more x", [_Y_COLOR, _NEUTRAL, _X_COLOR])


def _witness_scale(axes: Axes, drawn: object, norm: Normalize, names: tuple[str, str]) -> None:
    """A colour scale that says at its ends which sample has more there."""
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.02)  # type: ignore[arg-type]
    bar.set_ticks([norm.vmin or 0.0, 0.0, norm.vmax or 0.0])
    bar.set_ticklabels([f"more\n{names[1]}", "0", f"more\n{names[0]}"])
    for text in bar.ax.get_yticklabels():
        _as_text(text)


# The lengthscale.


def _draw_lengthscale(axes: Axes, result: TwoSampleResult) -> None:
    posterior = result.lengthscale
    if posterior.fixed:
        axes.set_axis_off()
        words = (
            f"The lengthscale was given, not inferred:\n{posterior.grid[0]:.4g}\n\n"
            f"{_unit(result)}\n\nmedian heuristic: {posterior.median_heuristic:.4g}"
        )
        _as_text(axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=_INK))
        return

    from matplotlib.lines import Line2D

    grid = posterior.grid
    differ = axes.fill_between(grid, posterior.density_h1, color=_DIFFER_COLOR, alpha=0.3, linewidth=0)
    axes.plot(grid, posterior.density_h1, color=_DIFFER_COLOR, linewidth=1.8)
    (same,) = axes.plot(grid, posterior.density_h0, color=_FAINT, linewidth=0.9)
    median = axes.axvline(posterior.median_heuristic, color=_INK, linewidth=1.0, linestyle=":")
    axes.set(xscale="log", ylim=(0.0, 1.08 * float(max(posterior.density_h1.max(), posterior.density_h0.max()))))
    axes.set(ylabel="density of log lengthscale")
    axes.set_xlim(*_lengthscale_range(result))
    _as_text(axes.set_xlabel(f"lengthscale\n{_unit(result)}"))
    _number_log_axis(axes.xaxis)

    probability = axes.twinx()
    probability.plot(grid, posterior.prob_h1, color=_PROBABILITY_COLOR, linewidth=1.4, linestyle="--")
    probability.set(ylim=(0.0, 1.08), yticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    probability.set_ylabel("P(different | data, lengthscale)", color=_PROBABILITY_COLOR)
    probability.tick_params(axis="y", colors=_PROBABILITY_COLOR)
    alone = Line2D([], [], color=_PROBABILITY_COLOR, linewidth=1.4, linestyle="--")
    handles = {
        "posterior if they differ": differ,
        "posterior if they are the same": same,
        "P(different) at that lengthscale": alone,
        "median heuristic": median,
    }
    _legend(axes, list(handles.values()), list(handles))


def _lengthscale_range(result: TwoSampleResult) -> tuple[float, float]:
    """Where either posterior has mass, and the median heuristic."""
    posterior = result.lengthscale
    ends = [posterior.median_heuristic]
    for mass in (posterior.mass_h0, posterior.mass_h1):
        inside = posterior.grid[(np.cumsum(mass) > 1e-3) & (np.cumsum(mass[::-1])[::-1] > 1e-3)]
        ends += [float(inside[0]), float(inside[-1])] if len(inside) else []
    return min(ends) / 1.15, max(ends) * 1.15


def _number_log_axis(axis: Axis) -> None:
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


def _unit(result: TwoSampleResult | GibbsResult) -> str:
    if len(result.columns) == 1:
        return (
            "(in the units of the data)"
            if result.columns[0].isdigit()
            else f"(in the units of {_short(result.columns[0])})"
        )
    if (result.scale == 1.0).all():
        return "(in the units of the columns)"
    return "(1 = the typical spread of a column)"


# Chains.


def _sampled_answer(result: GibbsResult) -> tuple[str, str]:
    """P(different) and log BF10 with their Monte Carlo errors."""
    probability = _probability(result.prob_h1)
    error = f" ± {result.prob_h1_error:.1g}" if probability.startswith("=") else ""
    return (
        f"P(different | data) {probability}{error}",
        f"{_log_bayes_factor(result.log_bf10)} ± {result.log_bf10_error:.2g}",
    )


def _lengthscale_unit(result: GibbsResult, index: int) -> float:
    """What the lengthscale was multiplied by for its unit."""
    return float(result.scale[index]) if result.kernel == "ard" or len(result.columns) == 1 else 1.0


def _median_heuristic(result: GibbsResult, index: int) -> float:
    """The median heuristic in the unit of a lengthscale."""
    if len(result.columns) == 1:
        return result.median_heuristic
    return result.median_heuristic * _lengthscale_unit(result, index)


def _draw_draws(axes: Axes, result: GibbsResult, index: int) -> dict[str, Any]:
    """Densities of a log lengthscale under each hypothesis; returns what the legend needs."""
    draws = {hypothesis: np.log(result.lengthscale_draws(hypothesis)[:, index]) for hypothesis in (1, 0)}
    unit, median = _lengthscale_unit(result, index), _median_heuristic(result, index)
    ends = [np.log(median), *(np.quantile(one, q) for one in draws.values() if len(one) for q in (0.002, 0.998))]
    at = np.linspace(min(ends) - 0.15, max(ends) + 0.15, _GRID_1D)
    density = {which: _kernel_density(one, at) for which, one in draws.items() if len(one) >= _FEWEST_DRAWS}
    grid = np.exp(at)
    handles: dict[str, Any] = {}
    if 1 in density:
        differ = axes.fill_between(grid, density[1], color=_DIFFER_COLOR, alpha=0.3, linewidth=0)
        axes.plot(grid, density[1], color=_DIFFER_COLOR, linewidth=1.8)
        handles["posterior if they differ"] = differ
    if 0 in density:
        (handles["posterior if they are the same"],) = axes.plot(grid, density[0], color=_FAINT, linewidth=0.9)

    prior = result.model.lengthscale
    low, high = prior.bounds(median / unit)
    inside = (grid >= low * unit) & (grid <= high * unit)
    expected = np.where(inside, np.exp(prior.log_density(at - np.log(unit))), 0.0)
    (handles["prior"],) = axes.plot(grid, expected, color=_FAINT, linewidth=0.9, linestyle=(0, (4, 3)))
    handles["median heuristic"] = axes.axvline(median, color=_INK, linewidth=1.0, linestyle=":")

    few = [
        f"only {len(draws[which])} draws {words}"
        for which, words in ((1, "if they differ"), (0, "if they are the same"))
        if which not in density
    ]
    axes.text(
        0.03, 0.97, "\n".join(few), transform=axes.transAxes, va="top", color=_FAINT, fontsize="small",
        backgroundcolor="white",
    )  # fmt: skip
    top = max((float(one.max()) for one in (*density.values(), expected)), default=1.0)
    axes.set(xscale="log", xlim=(grid[0], grid[-1]), ylim=(0.0, 1.08 * top), yticks=[])
    _number_log_axis(axes.xaxis)
    return handles


def _draw_relevance(axes: Axes, result: GibbsResult, n_shown: int) -> None:
    """How much shorter the lengthscales are if the samples differ, the strongest on top."""
    relevance = result.relevance
    assert relevance is not None
    places, value = np.arange(n_shown), relevance.shortening[:n_shown]
    axes.axvline(0.0, color=_INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.errorbar(
        value, places, xerr=2.0 * relevance.error[:n_shown], fmt="o", color=_DIFFER_COLOR, markersize=5, capsize=2
    )
    names = dict(zip(result.columns, _column_labels(result), strict=True))
    axes.set_yticks(places, [names[column] for column in relevance.columns[:n_shown]])
    for text in axes.get_yticklabels():
        _as_text(text)
    axes.set(ylim=(n_shown - 0.5, -0.5))
    axes.set_xlabel("how much shorter the log lengthscale is if they differ\n(mean ± 2 Monte Carlo errors)")
    of = f" ({n_shown} of {len(relevance.columns)})" if n_shown < len(relevance.columns) else ""
    axes.set_title(f"Which columns drive the difference, if any{of}", loc="left", color=_INK)


def _chain_colors(n_chains: int) -> list[Any]:
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0.0, 0.85, n_chains)))


def _draw_probability(axes: Axes, result: GibbsResult, chains: list[Any]) -> None:
    """P(different | parameters) of every draw, and the mean of those so far."""
    log_odds = result.log_bf10_given + math.log(result.prior_odds)
    probabilities = probability(log_odds)
    draws = np.arange(1, probabilities.shape[1] + 1)
    for series, color in zip(probabilities, chains, strict=True):
        axes.plot(draws, series, ".", color=color, markersize=4, alpha=0.5, markeredgewidth=0)
        axes.plot(draws, np.cumsum(series) / draws, color=color, linewidth=1.6)
    axes.set(ylim=(-0.03, 1.03), yticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    agreement = _agreement(result.diagnostics.r_hat_prob_h1, result.diagnostics.ess_prob_h1)
    _trace_titles(axes, "P(different | parameters), and its mean so far in each chain", agreement)


def _draw_labels(axes: Axes, result: GibbsResult) -> None:
    """A strip a chain with the hypothesis of every draw."""
    from matplotlib.colors import ListedColormap

    n_chains, n_draws = result.labels.shape
    axes.imshow(
        result.labels, cmap=ListedColormap(["#D9D9D9", _DIFFER_COLOR]), vmin=0, vmax=1, aspect="auto",
        extent=(0.5, n_draws + 0.5, n_chains + 0.5, 0.5), interpolation="nearest",
    )  # fmt: skip
    for chain in range(1, n_chains):
        axes.axhline(chain + 0.5, color="white", linewidth=1.0)
    axes.set(yticks=[])
    changes = int(result.diagnostics.switches.sum())
    words = "Hypothesis, a row a chain (green: they differ, grey: the same)"
    _trace_titles(axes, words, f"{changes:,} {'change' if changes == 1 else 'changes'}")


def _trace_titles(axes: Axes, name: str, agreement: str) -> None:
    _as_text(axes.set_title(name, loc="left", color=_INK, fontsize="medium"))
    axes.set_title(agreement, loc="right", color=_FAINT, fontsize="medium")


def _agreement(r_hat: float, effective: float) -> str:
    return f"R-hat {r_hat:.3f}, {effective:,.0f} effective draws"


# The tree of Holmes et al.


def plot_tree(result: HolmesResult) -> Figure:
    """Draw what each node of a Pólya tree adds to log BF10: at which quantile and depth the samples differ.

    A node is a box as wide as its share of the distribution that the tree is centred at.

    Parameters
    ----------
    result
        What `twosample.baselines.holmes` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("tree.png")``.
    """
    figure = _figure(9.5, 5.6)
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import Normalize

    axes = figure.subplots()
    left, width, top = result.cells / 2.0**result.levels, 1.0 / 2.0**result.levels, result.levels + 0.5
    corners = [(left, top), (left + width, top), (left + width, top + 1.0), (left, top + 1.0)]
    boxes = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    reach = max(1.0, float(np.abs(result.contributions).max(initial=0.0)))
    drawn = PolyCollection(list(boxes), cmap=_evidence_colors(), norm=Normalize(-reach, reach), edgecolors=_FAINT)
    drawn.set_array(result.contributions)
    drawn.set_linewidth(0.3)
    axes.add_collection(drawn)
    axes.set(xlim=(0.0, 1.0), ylim=(result.depth + 0.5, 0.5), ylabel="level of the split")
    axes.set(xlabel="quantile", xticks=[0.0, 0.25, 0.5, 0.75, 1.0], yticks=range(1, result.depth + 1))
    values = axes.secondary_xaxis("top")
    values.set_xticks(np.arange(1, 8) / 8, [f"{value:.3g}" for value in result.octiles])
    _as_text(values.set_xlabel(_column_labels(result)[0]))
    bar = figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.02)
    bar.set_label("contribution to log BF10 (positive: different)")
    _headline(figure, result, *_answer(result))
    return figure


def _evidence_colors() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("the same, different", [_FAINT, _NEUTRAL, _DIFFER_COLOR])
