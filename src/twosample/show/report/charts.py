"""The pictures of a report: samples, witness, posteriors, robustness, and small ones for tables; from plain arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import printable, sentence
from twosample.inference.pictures import share_intervals
from twosample.show.report.svg import Canvas, Chart, log_ticks, number, numbers, ticks

if TYPE_CHECKING:
    from twosample.inference.pictures import ShownColumn
    from twosample.models import HalfCauchy
    from twosample.results.objects_result import ObjectsResult
    from twosample.results.result_parts import Amplitude, Lengthscale

__all__ = [
    "amplitude_posterior",
    "columns_evidence",
    "evidence_over_time",
    "lengthscale_posterior",
    "probability_bar",
    "samples_of_column",
    "sensitivity",
    "small_column",
    "tick_names",
    "witness_of_objects",
]

_KINDS = ("x", "y")
# Of a histogram.
_BINS = 24
# Lines of a table beside a curve.
_TABLE_ROWS = 21
# More values than these have no ticks of their own.
_MOST_TICKS = 12
# Letters of the names of levels side by side.
_LETTERS = 90
_SMALL = (120.0, 30.0)


def samples_of_column(
    shown: ShownColumn, rows: tuple[int, int], names: tuple[str, str], label: str, beyond: str
) -> Chart:
    """One column of both samples: bars if it is discrete, else densities with point masses as bars.

    Parameters
    ----------
    shown
        What is known of it.
    rows
        How many rows of each sample that is from.
    names
        Of the samples.
    label
        Of the column.
    beyond
        How many rows are outside of the range, in words.
    """
    shares = shown.counts / np.maximum(np.array(rows), 1)[:, None]
    said = f"{'Bars' if shown.density is None else 'Densities'} of {label} in {names[0]} and in {names[1]}."
    legend = tuple((f"{kind}-area", f"{name} ({n:,} rows)") for kind, name, n in zip(_KINDS, names, rows, strict=True))
    if shown.density is None:
        top = 1.08 * max(float(shares.max(initial=0.0)), 1e-3)
        if shown.labels:
            top = 1.04 * float(share_intervals(shown.counts, rows)[1].max())
        canvas = Canvas(f"The samples: {label}", said, shown.limits, (0.0, top), numbered=True)
        at = ticks(0.0, top, 5)
        canvas.up(at, [f"{100.0 * one:.4g} %" for one in at])
        _bars(canvas, shown, shares, _gap(shown))
        if shown.labels:
            _intervals(canvas, shown, rows)
        names_of = list(shown.labels) or numbers(shown.values)
        table = [
            (printable(value), f"{share_x:.1%}", f"{share_y:.1%}")
            for value, share_x, share_y in zip(names_of, *shares.tolist(), strict=True)
        ]
        head = (label, f"share of {names[0]}", f"share of {names[1]}")
    else:
        top = float(shown.density.max()) or 1.0
        canvas = Canvas(f"The samples: {label}", said, shown.limits, (-0.2 * top, 1.08 * top))
        _densities(canvas, shown, top)
        if len(shown.values):
            scaled = shares * (top / max(float(shares.max()), 1e-9))
            _bars(canvas, shown, scaled, 0.03 * (shown.limits[1] - shown.limits[0]))
        chosen = _some(len(shown.places))
        width = shown.limits[1] - shown.limits[0]
        table = [
            (at, number(x / width), number(y / width))
            for at, x, y in zip(numbers(shown.places[chosen]), *shown.density[:, chosen].tolist(), strict=True)
        ]
        head = (label, f"density of {names[0]}", f"density of {names[1]}")
        masses = zip(shown.values.tolist(), *shares.tolist(), strict=True)
        table += [(f"{number(value)} exactly", f"{x:.1%}", f"{y:.1%}") for value, x, y in masses]
    canvas.across(label, *(tick_names(shown.labels) if shown.labels else (_places(shown), None)))
    strips = "" if shown.density is None else "Below: median, middle 50 % and 90 %."
    strips = "Lines: 90 % intervals of the shares." if shown.labels else strips
    note = f"{strips} {sentence(beyond)}." if beyond else strips
    return Chart(label, canvas.markup(), legend, head, table, note.strip())


def _places(shown: ShownColumn) -> list[float]:
    few = shown.density is None and 0 < len(shown.values) <= _MOST_TICKS
    return shown.values.tolist() if few else ticks(*shown.limits)


def tick_names(labels: tuple[str, ...]) -> tuple[list[float], list[str]]:
    """Where the levels of a column of categories are, and their names, as far as there is room.

    Examples
    --------
    >>> tick_names(("red", "blue"))
    ([0.0, 1.0], ['red', 'blue'])
    """
    longest = max(3, _LETTERS // len(labels))
    step = 1 if len(labels) <= _MOST_TICKS else -(-len(labels) // _MOST_TICKS)
    names = [printable(name) for name in labels[::step]]
    return [float(at) for at in range(0, len(labels), step)], [
        name if len(name) <= longest * step else f"{name[: longest * step - 1]}…" for name in names
    ]


def _intervals(canvas: Canvas, shown: ShownColumn, rows: tuple[int, int]) -> None:
    """A line for the interval of each share."""
    low, high = share_intervals(shown.counts, rows)
    at = [shown.values + side * 0.2 * _gap(shown) for side in (-1, 1)]
    lines = [
        (place, bottom, place, top)
        for one, *ends in zip(at, low, high, strict=True)
        for place, bottom, top in zip(one.tolist(), *(end.tolist() for end in ends), strict=True)
    ]
    canvas.strokes(np.array(lines), "ink-line")


def _gap(shown: ShownColumn) -> float:
    span = shown.limits[1] - shown.limits[0]
    return max(float(np.diff(shown.values).min()), 0.01 * span) if len(shown.values) > 1 else 0.4 * span


def _bars(canvas: Canvas, shown: ShownColumn, heights: Array, gap: float) -> None:
    for kind, of_sample, side in zip(_KINDS, heights, (-1, 1), strict=True):
        for value, height in zip(shown.values.tolist(), of_sample.tolist(), strict=True):
            ends = sorted((value, value + side * 0.4 * gap))
            canvas.box((ends[0], ends[1]), (0.0, height), f"{kind}-bar")


def _densities(canvas: Canvas, shown: ShownColumn, top: float) -> None:
    assert shown.density is not None and shown.quantiles is not None
    for place, kind in enumerate(_KINDS):
        density = shown.density[place]
        canvas.area(shown.places, 0.0, density, f"{kind}-area")
        canvas.line(shown.places, density, f"{kind}-line")
        if not density.any():
            continue
        first, low, middle, high, last = shown.quantiles[place].tolist()
        height = -(0.07 + 0.08 * place) * top
        canvas.box((first, last), (height - 0.004 * top, height + 0.004 * top), f"{kind}-bar")
        canvas.box((low, high), (height - 0.022 * top, height + 0.022 * top), f"{kind}-bar")
        canvas.dots(np.array([middle]), np.array([height]), np.array([2.6]), "hole")


def small_column(shown: ShownColumn, rows: tuple[int, int], title: str) -> str:
    """The samples of a column in the height of a line."""
    shares = shown.counts / np.maximum(np.array(rows), 1)[:, None]
    if shown.density is None:
        canvas = Canvas(
            title, "", shown.limits, (0.0, max(float(shares.max(initial=0.0)), 1e-3)), size=_SMALL, bare=True
        )
        _bars(canvas, shown, shares, _gap(shown))
        return canvas.markup()
    canvas = Canvas(title, "", shown.limits, (0.0, float(shown.density.max()) or 1.0), size=_SMALL, bare=True)
    for density, kind in zip(shown.density, _KINDS, strict=True):
        canvas.area(shown.places[::4], 0.0, density[::4], f"{kind}-area")
        canvas.line(shown.places[::4], density[::4], f"{kind}-line")
    return canvas.markup()


def probability_bar(probability: float, title: str) -> str:
    """A bar for a probability in the height of a line."""
    canvas = Canvas(title, "", (0.0, 1.0), (0.0, 1.0), size=(120.0, 10.0), bare=True)
    canvas.box((0.0, 1.0), (0.0, 1.0), "trough")
    canvas.box((0.0, probability), (0.0, 1.0), "differ-bar")
    return canvas.markup()


def lengthscale_posterior(posterior: Lengthscale, prior: Any, unit: float, words: str) -> Chart:
    """Prior and posterior density of the log lengthscale.

    Parameters
    ----------
    posterior
        Of the result.
    prior
        Of the model, in units of which the posterior's are multiples.
    unit
        That multiple.
    words
        The unit of the axis.
    """
    grid, median = posterior.grid, posterior.median_heuristic
    ends = [median]
    for mass in (posterior.mass_h0, posterior.mass_h1):
        inside = grid[(np.cumsum(mass) > 1e-3) & (np.cumsum(mass[::-1])[::-1] > 1e-3)]
        ends += [float(inside[0]), float(inside[-1])] if len(inside) else []
    limits = min(ends) / 1.15, max(ends) * 1.15
    at = np.geomspace(*limits, 120)
    h1, h0 = (np.interp(np.log(at), np.log(grid), density) for density in (posterior.density_h1, posterior.density_h0))
    low, high = prior.bounds(median / unit)
    expected = np.where(
        (at >= low * unit) & (at <= high * unit), np.exp(prior.log_density(np.log(at) - np.log(unit))), 0.0
    )
    inner, outer = posterior.interval(0.9)
    said = f"If the samples differ, 90 % of the posterior is between {inner:.3g} and {outer:.3g}."
    title = "Lengthscale: at what scale they differ, if they do"
    top = 1.08 * float(max(h1.max(), h0.max(), expected.max()))
    canvas = Canvas(title, said, limits, (0.0, top), log=True)
    canvas.area(at, 0.0, h1, "differ-area")
    canvas.line(at, h1, "differ-line")
    canvas.line(at, h0, "same-line")
    canvas.line(at, expected, "prior-line")
    canvas.strokes(np.array([[median, 0.0, median, top]]), "median-line")
    canvas.across(f"lengthscale {words}", log_ticks(*limits))
    chosen = _some(len(at))
    rows = [tuple(map(number, row)) for row in zip(at[chosen], expected[chosen], h1[chosen], h0[chosen], strict=True)]
    legend = (
        ("differ-area", "posterior if they differ"),
        ("same-line", "posterior if they are the same"),
        ("prior-line", "prior"),
        ("median-line", "median heuristic"),
    )
    head = ("lengthscale", "prior density of its log", "posterior if they differ", "posterior if the same")
    return Chart(title, canvas.markup(), legend, head, rows, said)


def amplitude_posterior(posterior: Amplitude, prior: HalfCauchy) -> Chart:
    """Prior and posterior density of the log amplitude."""
    logs = np.log(posterior.grid)
    width = np.gradient(logs)
    density = posterior.mass / width
    expected = 1.0 / (np.pi * np.cosh(logs - np.log(prior.scale)))
    seen = (np.cumsum(posterior.mass) > 2e-3) & (np.cumsum(posterior.mass[::-1])[::-1] > 2e-3)
    ends = np.concatenate([posterior.grid[seen], [0.1 * prior.scale, 10.0 * prior.scale]])
    limits = float(ends.min()), float(ends.max())
    inside = (posterior.grid >= limits[0]) & (posterior.grid <= limits[1])
    at, density, expected = posterior.grid[inside], density[inside], expected[inside]
    low, high = posterior.interval(0.9)
    said = f"Median {posterior.median:.3g}, 90 % between {low:.3g} and {high:.3g}, given that the samples differ."
    title = "Amplitude: how large the difference is, if there is one"
    canvas = Canvas(title, said, limits, (0.0, 1.08 * float(max(density.max(), expected.max()))), log=True)
    canvas.area(at, 0.0, density, "differ-area")
    canvas.line(at, density, "differ-line")
    canvas.line(at, expected, "prior-line")
    canvas.across("amplitude of the witness", log_ticks(*limits))
    chosen = _some(len(at))
    rows = [tuple(map(number, row)) for row in zip(at[chosen], expected[chosen], density[chosen], strict=True)]
    legend = (("differ-area", "posterior if they differ"), ("prior-line", "prior"))
    return Chart(
        title, canvas.markup(), legend, ("amplitude", "prior density of its log", "posterior density"), rows, said
    )


def sensitivity(label: str, values: Array, log_bf10: Array, default: float) -> Chart:
    """Log BF10 against a choice of the prior, with the choice that was made."""
    values, log_bf10 = np.asarray(values, dtype=float), np.asarray(log_bf10, dtype=float)
    low, high = min(0.0, float(log_bf10.min())), max(0.0, float(log_bf10.max()))
    margin = max(0.1 * (high - low), 1.5)
    up = (low - margin, high + margin)
    limits = float(min(values[0], default)), float(max(values[-1], default))
    log = limits[0] > 0.0 and limits[1] / limits[0] > 5.0
    if limits[0] == limits[1]:
        limits = 0.5 * limits[0], 1.5 * limits[1]
    said = f"log BF10 is between {log_bf10.min():.2f} and {log_bf10.max():.2f}."
    canvas = Canvas(f"log BF10 against {label}", said, limits, up, log=log, numbered=True, size=(440.0, 270.0))
    canvas.box(limits, (max(-1.0, up[0]), min(1.0, up[1])), "unclear")
    canvas.up(ticks(*up, 6))
    canvas.strokes(np.array([[limits[0], 0.0, limits[1], 0.0]]), "zero-line")
    canvas.line(values, log_bf10, "differ-line")
    canvas.dots(values, log_bf10, np.full(len(values), 2.4), "differ-dot")
    chosen = float(np.interp(default, values, log_bf10))
    canvas.dots(np.array([default]), np.array([chosen]), np.array([5.5]), "chosen")
    canvas.across(label, log_ticks(*limits) if log else ticks(*limits))
    rows = [(number(value), f"{evidence:+.2f}") for value, evidence in zip(values, log_bf10, strict=True)]
    legend = (("chosen", f"as tested ({number(default)})"), ("unclear", "no clear evidence either way"))
    return Chart(f"log BF10 against {label}", canvas.markup(), legend, (label, "log BF10"), rows, said)


def columns_evidence(log_bf10: Array, least: float | None) -> Chart:
    """How many columns have how much evidence; beyond ±20 in the outermost bars.

    Parameters
    ----------
    log_bf10
        Of all columns.
    least
        The least of those that are found to differ; None without any.
    """
    clipped = np.clip(log_bf10, -10.0, 20.0)
    low, high = np.floor(clipped.min()), max(np.floor(clipped.max()) + 1.0, np.floor(clipped.min()) + 4.0)
    edges = np.arange(low, high + 0.5)
    counts, _ = np.histogram(clipped, edges)
    # Counts differ by orders of magnitude; the root keeps small bars visible.
    heights = np.sqrt(counts)
    said = "The most frequent log BF10 is between {:g} and {:g}.".format(*edges[counts.argmax() :][:2])
    canvas = Canvas("Evidence of all columns", said, (low, high), (0.0, 1.06 * float(heights.max())), numbered=True)
    at = [one for one in ticks(0.0, float(heights.max()), 5) if one]
    canvas.up(at, [f"{round(one * one):,}" for one in at])
    for start, count, height in zip(edges.tolist(), counts.tolist(), heights.tolist(), strict=False):
        if count:
            kind = "differ-bar" if least is not None and start + 1.0 > least else "same-bar"
            canvas.box((start + 0.04, start + 0.96), (0.0, height), kind)
    canvas.across("log BF10", ticks(low, high, 8))
    rows = [
        (f"{start:g} to {start + 1:g}", f"{count:,}")
        for start, count in zip(edges.tolist(), counts.tolist(), strict=False)
    ]
    legend = (("differ-bar", "among those found to differ"), ("same-bar", "others"))
    note = "Heights are square roots of the numbers. Evidence beyond the ends is in the outermost bars."
    return Chart("Evidence of all columns", canvas.markup(), legend, ("log BF10", "columns"), rows, note)


def evidence_over_time(batches: Array, log_evalue: Array, log_run_length: Array, limit: float) -> Chart:
    """The log e-value and the log run length after each batch, with the limit and the first crossing.

    Parameters
    ----------
    batches
        Their numbers, increasing.
    log_evalue, log_run_length
        After each.
    limit
        Log of the e-value at which there is an alarm.
    """
    at, evalues = batches, log_evalue
    if batches[0] == 1.0:
        at, evalues = np.concatenate([[0.0], batches]), np.concatenate([[0.0], log_evalue])
    low = min(0.0, float(log_evalue.min()), float(log_run_length.min()))
    high = max(limit, float(log_evalue.max()), float(log_run_length.max()))
    up = (low - 0.05 * (high - low), high + 0.08 * (high - low))
    limits = (float(at[0]), float(at[-1]))
    crossed = np.flatnonzero(log_evalue >= limit)
    said = (
        f"The e-value first reaches its limit at batch {batches[crossed[0]]:g}."
        if len(crossed)
        else "The e-value does not reach its limit."
    )
    title = "Evidence over time"
    canvas = Canvas(title, said, limits, up, numbered=True)
    canvas.up(ticks(*up, 6))
    canvas.strokes(np.array([[limits[0], limit, limits[1], limit]]), "median-line")
    canvas.strokes(np.array([[limits[0], 0.0, limits[1], 0.0]]), "zero-line")
    canvas.line(batches, log_run_length, "same-line")
    canvas.line(at, evalues, "differ-line")
    if len(crossed):
        canvas.dots(batches[crossed[:1]], log_evalue[crossed[:1]], np.array([5.5]), "chosen")
    canvas.across("batch", [one for one in ticks(*limits) if one == round(one)])
    chosen = _some(len(batches))
    rows = [
        (f"{batch:g}", f"{evalue:+.2f}", f"{length:+.2f}")
        for batch, evalue, length in zip(batches[chosen], log_evalue[chosen], log_run_length[chosen], strict=True)
    ]
    legend = (
        ("differ-line", "log e-value"),
        ("same-line", "log run length"),
        ("median-line", "limit"),
        *([("chosen", "first crossing")] if len(crossed) else []),
    )
    return Chart(title, canvas.markup(), legend, ("batch", "log e-value", "log run length"), rows, said)


def witness_of_objects(result: ObjectsResult, names: tuple[str, str], note: str) -> Chart:
    """Histograms of the witness at the objects of both samples."""
    both = np.concatenate([result.witness_x, result.witness_y])
    low, high = float(both.min()), float(both.max())
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    shares = [np.histogram(values, edges)[0] / len(values) for values in (result.witness_x, result.witness_y)]
    top = 1.08 * float(np.max(shares))
    means = result.witness_x.mean(), result.witness_y.mean()
    said = f"The mean of the witness is {means[0]:.3g} in {names[0]} and {means[1]:.3g} in {names[1]}."
    canvas = Canvas("The witness at the objects", said, (edges[0], edges[-1]), (0.0, top), numbered=True)
    at = ticks(0.0, top, 5)
    canvas.up(at, [f"{100.0 * one:.4g} %" for one in at])
    for of_sample, kind in zip(shares, ("x", "y"), strict=True):
        across, heights = np.repeat(edges, 2)[1:-1], np.repeat(of_sample, 2)
        canvas.area(across, 0.0, heights, f"{kind}-area")
        canvas.line(across, heights, f"{kind}-line")
    canvas.across("witness", ticks(float(edges[0]), float(edges[-1])))
    sizes = result.n_x, result.n_y
    legend = tuple(
        (f"{kind}-area", f"{name} ({n:,} objects)") for kind, name, n in zip(("x", "y"), names, sizes, strict=True)
    )
    rows = [
        (f"{number(a)} to {number(b)}", f"{x:.1%}", f"{y:.1%}")
        for a, b, x, y in zip(edges[:-1], edges[1:], *shares, strict=True)
    ]
    head = ("witness", f"share of {names[0]}", f"share of {names[1]}")
    return Chart("The witness at the objects", canvas.markup(), legend, head, rows, note)


def _some(count: int) -> Array:
    """Places of a curve for a table."""
    return np.unique(np.linspace(0, count - 1, min(count, _TABLE_ROWS)).round().astype(int))
