"""The pictures of a report: samples, witness, posteriors, robustness, and small ones for tables; from plain arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import printable, sentence
from twosample.inference.pictures import share_intervals
from twosample.show.numbers import log_ticks, number, numbers, ticks
from twosample.show.pictures import some_places
from twosample.show.report.svg import Canvas, Chart

if TYPE_CHECKING:
    from twosample.inference.pictures import ShownColumn
    from twosample.models import HalfCauchy
    from twosample.results.result_parts import Amplitude, Lengthscale

__all__ = [
    "amplitude_posterior",
    "lengthscale_posterior",
    "probability_bar",
    "samples_of_column",
    "small_column",
    "tick_names",
]

_KINDS = ("x", "y")
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
        chosen = some_places(len(shown.places))
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
    chosen = some_places(len(at))
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
    chosen = some_places(len(at))
    rows = [tuple(map(number, row)) for row in zip(at[chosen], expected[chosen], density[chosen], strict=True)]
    legend = (("differ-area", "posterior if they differ"), ("prior-line", "prior"))
    return Chart(
        title, canvas.markup(), legend, ("amplitude", "prior density of its log", "posterior density"), rows, said
    )
