"""The panels of two samples: one column of both, the witness along it, and the posteriors of the parameters."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import printable, sentence
from twosample.inference.pictures import share_intervals
from twosample.show.content import Mark, Panel
from twosample.show.numbers import number, numbers, ticks
from twosample.show.question_panels import at_one, some_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twosample.inference.pictures import ShownColumn
    from twosample.inference.witness import Driver
    from twosample.models import HalfCauchy
    from twosample.results.result_parts import Amplitude, Lengthscale

__all__ = [
    "STRIP_LABEL",
    "amplitude_posterior",
    "band",
    "bars_of",
    "largest_shown",
    "lengthscale_posterior",
    "listed",
    "samples_of_column",
    "sure_sides",
    "witness_of_column",
]

STRIP_LABEL = "median, middle 50 % and 90 %"
# More values than these have no ticks of their own.
_MOST_TICKS = 12
# Half the width of the step of a level.
_STEP = 0.45


def bars_of(shown: ShownColumn, heights: Array, gap: float | None = None) -> list[Mark]:
    """Bars side by side at the values of a column, those of the first sample at the left."""
    span = shown.limits[1] - shown.limits[0]
    between = max(float(np.diff(shown.values).min()), 0.01 * span) if len(shown.values) > 1 else 0.4 * span
    wide = gap or between
    return [
        Mark("bars", style, shown.values + side * 0.21 * wide, of_sample, size=0.4 * wide)
        for style, side, of_sample in zip("xy", (-1, 1), heights, strict=True)
    ]


def samples_of_column(
    shown: ShownColumn, rows: tuple[int, int], names: tuple[str, str], label: str, beyond: str = ""
) -> Panel:
    """One column of both samples: bars if it is discrete, else densities with point masses as bars.

    `beyond` says how many rows are outside of the range.
    """
    shares = shown.counts / np.maximum(np.array(rows), 1)[:, None]
    (marks, heights, table), what = (
        (_bars(shown, shares, rows), "share") if shown.density is None else (_densities(shown, shares), "density")
    )
    legend = [f"{name} ({n:,} rows)" for name, n in zip(names, rows, strict=True)]
    # The first mark of a sample is the one in the legend.
    named = [mark._replace(label=legend.pop(0)) if mark.style == style else mark
             for mark, style in zip(marks[:2], "xy", strict=True)]  # fmt: skip
    strips = "Lines: 90 % intervals of the shares." if shown.labels else ""
    strips = strips if shown.density is None else "Below: median, middle 50 % and 90 %."
    few = shown.density is None and 0 < len(shown.values) <= _MOST_TICKS
    kind = "Bars" if shown.density is None else "Densities"
    return Panel(
        label,
        label,
        f"{what} of the rows" if what == "share" else what,
        marks=(*named, *marks[2:]),
        limits=shown.limits,
        heights=heights,
        counted="percent" if shown.density is None else "none",
        names=shown.labels,
        places=tuple(shown.values.tolist() if few else ticks(*shown.limits)),
        said=f"{kind} of {label} in {names[0]} and in {names[1]}.",
        note=f"{strips} {sentence(beyond)}.".strip() if beyond else strips,
        head=(label, f"{what} of {names[0]}", f"{what} of {names[1]}"),
        rows=table,
    )


_Parts = tuple[list[Mark], tuple[float, float], list[tuple[str, str, str]]]


def _bars(shown: ShownColumn, shares: Array, rows: tuple[int, int]) -> _Parts:
    """Bars of the shares of values, with intervals where the values are categories."""
    marks, top = bars_of(shown, shares), 1.08 * max(float(shares.max(initial=0.0)), 1e-3)
    if shown.labels:
        low, high = share_intervals(shown.counts, rows)
        marks += [Mark("interval", "ink", bars.x, high[i], low=low[i]) for i, bars in enumerate(marks)]
        top = 1.04 * float(high.max())
    names = list(shown.labels) or numbers(shown.values)
    table = [(printable(name), f"{x:.1%}", f"{y:.1%}") for name, x, y in zip(names, *shares.tolist(), strict=True)]
    return marks, (0.0, top), table


def _densities(shown: ShownColumn, shares: Array) -> _Parts:
    """Densities, the point masses on the scale of the highest one, and quantiles below."""
    assert shown.density is not None and shown.quantiles is not None
    at, width, top = shown.places, shown.limits[1] - shown.limits[0], float(shown.density.max()) or 1.0
    marks = [Mark("area", style, at, density) for style, density in zip("xy", shown.density, strict=True)]
    marks += [Mark("line", style, at, density) for style, density in zip("xy", shown.density, strict=True)]
    if len(shown.values):
        marks += bars_of(shown, shares * (top / max(float(shares.max()), 1e-9)), 0.03 * width)
    marks += [
        Mark("strip", style, quantiles, at_one(height * top))
        for style, density, quantiles, height in zip("xy", shown.density, shown.quantiles, (-0.07, -0.15), strict=True)
        if density.any()
    ]
    chosen = some_places(len(at))
    places = zip(numbers(at[chosen]), *shown.density[:, chosen].tolist(), strict=True)
    table = [(place, number(x / width), number(y / width)) for place, x, y in places]
    masses = zip(shown.values.tolist(), *shares.tolist(), strict=True)
    table += [(f"{number(value)} exactly", f"{x:.1%}", f"{y:.1%}") for value, x, y in masses]
    return marks, (-0.2 * top, 1.08 * top), table


def witness_of_column(driver: Driver, names: tuple[str, str], label: str, levels: tuple[str, ...] = ()) -> Panel:
    """The witness of one column with its bands: a curve, with marks where it is surely not zero, or a step a level."""
    places, mean = driver.grid[0], driver.mean
    low, high = band(mean, driver.sd)
    half = NormalDist().inv_cdf(0.75) * driver.sd
    top = 1.35 * max(float(np.abs([low, high]).max()), np.finfo(float).tiny)
    at, values = places, [mean, low, high, half]
    if levels:
        at, values = np.repeat(at, 2) + np.tile([-_STEP, _STEP], len(at)), [np.repeat(one, 2) for one in values]
        limits, surely = (float(places[0]) - 0.6, float(places[-1]) + 0.6), []
        said = _levels_in_words(levels, low, high, names, label)
    else:
        limits, surely = (float(at[0]), float(at[-1])), _clear_intervals(at, low, high)
        said = _curve_in_words(surely, limits, names, label)
    middle, bottom, upper, inner = values
    marks = [Mark("span", f"{'xy'[side]}-sure", np.array([start, end]), at_one(0.0)) for start, end, side in surely]
    marks += [
        Mark("area", "band-95", at, upper, "95 % band", bottom),
        Mark("area", "band-50", at, middle + inner, "50 % band", middle - inner),
        Mark("line", "ink", at, middle, "posterior mean"),
        Mark("across", "zero", at[[0, -1]], at_one(0.0)),
        Mark("corner", "x-text", at_one(limits[0]), at_one(top), f"↑ more {names[0]}"),
        Mark("corner", "y-text", at_one(limits[0]), at_one(-top), f"↓ more {names[1]}"),
    ]
    marks += [
        Mark("none", f"{'xy'[side]}-sure", places[:0], places[:0], f"surely more {names[side]}")
        for side in sorted({one[2] for one in surely})
    ]
    chosen = np.arange(len(places)) if levels else some_places(len(places))
    first = [printable(level) for level in levels] or numbers(places[chosen])
    rows = [
        (name, *map(number, row)) for name, *row in zip(first, mean[chosen], low[chosen], high[chosen], strict=False)
    ]
    return Panel(
        label, label, "witness", marks=tuple(marks), limits=limits, heights=(-top, top), counted="none",
        names=levels, said=said, note=said, head=(label, "mean of the witness", "95 % from", "to"), rows=rows,
    )  # fmt: skip


def band(mean: Array, sd: Array) -> tuple[Array, Array]:
    """Between which values the witness is with 95 % probability."""
    reach = NormalDist().inv_cdf(0.975) * sd
    return mean - reach, mean + reach


def sure_sides(low: Array, high: Array) -> Array:
    """1 where a band is above zero, 2 where it is below, and 0 where it holds zero."""
    return np.where(low > 0.0, 1, np.where(high < 0.0, 2, 0))


def largest_shown(mean: Array, sd: Array) -> float:
    """The value of the strongest colour, so that a witness is pale where it is small beside its own uncertainty."""
    return max(float(np.abs(mean).max()), 2.0 * float(np.quantile(sd, 0.9)), float(np.finfo(float).tiny))


def _clear_intervals(at: Array, low: Array, high: Array) -> list[tuple[float, float, int]]:
    """Where a band leaves out zero: start, end, and 0 where it is above, 1 where it is below."""
    sides = sure_sides(low, high)
    runs = np.split(np.arange(len(at)), np.flatnonzero(np.diff(sides)) + 1)
    return [(float(at[run[0]]), float(at[run[-1]]), int(sides[run[0]]) - 1) for run in runs if sides[run[0]]]


def listed(words: Sequence[str]) -> str:
    """Words with commas between, and the last one after "and"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _levels_in_words(levels: tuple[str, ...], low: Array, high: Array, names: tuple[str, str], label: str) -> str:
    """At which levels the witness is surely not zero."""
    parts = []
    for clear, name in ((low > 0.0, names[0]), (high < 0.0, names[1])):
        there = [printable(level) for level, sure in zip(levels, clear.tolist(), strict=True) if sure]
        parts += [f"surely more of {name} in {listed(there)}"] if there else []
    if parts:
        return f"There is {'; '.join(parts)} (the 95 % band leaves out zero there)."
    return f"At no level of {label} is the witness surely different from zero: its 95 % band always holds zero."


def _curve_in_words(
    surely: list[tuple[float, float, int]], limits: tuple[float, float], names: tuple[str, str], label: str
) -> str:
    """Where the witness is surely not zero, in a sentence or two."""
    if not surely:
        return f"Nowhere along {label} is the witness surely different from zero: its 95 % band always holds zero."
    ends = [end for interval in surely for end in interval[:2]]
    words = dict(zip(ends, numbers(ends, 3), strict=True))
    places: dict[int, list[str]] = {}
    for start, end, side in surely:
        where = "throughout" if (start, end) == limits else f"from {words[start]} to {words[end]}"
        if start == limits[0] and end < limits[1]:
            where = f"below {words[end]}"
        elif end == limits[1] and start > limits[0]:
            where = f"above {words[start]}"
        places.setdefault(side, []).append(where)
    parts = [f"surely more of {names[side]} {listed(places[side])}" for side in sorted(places)]
    return f"Along {label} there is {'; '.join(parts)} (the 95 % band leaves out zero there)."


def lengthscale_posterior(posterior: Lengthscale, prior: Any, unit: float, words: str) -> Panel:
    """Prior and posterior density of the log lengthscale; that of the prior is in this unit, which has these words."""
    grid, median = posterior.grid, posterior.median_heuristic
    ends = np.concatenate([[median], *(_bulk(grid, mass, 1e-3) for mass in (posterior.mass_h0, posterior.mass_h1))])
    limits = float(ends.min()) / 1.15, float(ends.max()) * 1.15
    at = np.geomspace(*limits, 120)
    low, high = prior.bounds(median / unit)
    expected = np.exp(prior.log_density(np.log(at) - np.log(unit))) * ((at >= low * unit) & (at <= high * unit))
    h1, h0 = (np.interp(np.log(at), np.log(grid), density) for density in (posterior.density_h1, posterior.density_h0))
    inner, outer = posterior.interval(0.9)
    said = f"If the samples differ, 90 % of the posterior is between {inner:.3g} and {outer:.3g}."
    top = 1.08 * float(max(posterior.density_h1.max(), posterior.density_h0.max(), expected.max()))
    rows = [tuple(map(number, row)) for row in np.stack([at, expected, h1, h0], axis=1)[some_places(len(at))].tolist()]
    marks = (
        Mark("area", "differ", grid, posterior.density_h1, "posterior if they differ"),
        Mark("line", "differ", grid, posterior.density_h1),
        Mark("line", "same", grid, posterior.density_h0, "posterior if they are the same"),
        Mark("upright", "median", at_one(median), at_one(0.0), "median heuristic"),
        Mark("line", "prior", at, expected, "prior"),
    )
    return Panel(
        "Lengthscale: at what scale they differ, if they do", f"lengthscale {words}", "density of log lengthscale",
        marks=marks, limits=limits, heights=(0.0, top), log=True, counted="none", said=said, note=said,
        head=("lengthscale", "prior density of its log", "posterior if they differ", "posterior if the same"),
        rows=rows,
    )  # fmt: skip


def amplitude_posterior(posterior: Amplitude, prior: HalfCauchy) -> Panel:
    """Prior and posterior density of the log amplitude."""
    logs = np.log(posterior.grid)
    seen = _bulk(posterior.grid, posterior.mass, 2e-3)
    ends = np.concatenate([seen, [0.1 * prior.scale, 10.0 * prior.scale]])
    limits = float(ends.min()), float(ends.max())
    inside = (posterior.grid >= limits[0]) & (posterior.grid <= limits[1])
    at, density = posterior.grid[inside], (posterior.mass / np.gradient(logs))[inside]
    expected = 1.0 / (np.pi * np.cosh(logs[inside] - np.log(prior.scale)))
    low, high = posterior.interval(0.9)
    said = f"Median {posterior.median:.3g}, 90 % between {low:.3g} and {high:.3g}, given that the samples differ."
    rows = [tuple(map(number, row)) for row in np.stack([at, expected, density], axis=1)[some_places(len(at))].tolist()]
    marks = (
        Mark("area", "differ", at, density, "posterior if they differ"),
        Mark("line", "differ", at, density),
        Mark("line", "prior", at, expected, "prior"),
    )
    return Panel(
        "Amplitude: how large the difference is, if there is one", "amplitude of the witness", "density",
        marks=marks, limits=limits, heights=(0.0, 1.08 * float(max(density.max(), expected.max()))), log=True,
        counted="none", said=said, note=said, head=("amplitude", "prior density of its log", "posterior density"),
        rows=rows,
    )  # fmt: skip


def _bulk(grid: Array, mass: Array, tail: float) -> Array:
    """The grid without its ends that have little mass."""
    return np.asarray(grid[(np.cumsum(mass) > tail) & (np.cumsum(mass[::-1])[::-1] > tail)])
