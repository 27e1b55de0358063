"""The panels of the pictures that a page and a figure both show, each prepared once from plain arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import columns_in_words, printable, shortened
from twosample.show.content import Mark, Panel
from twosample.show.numbers import number, ticks

if TYPE_CHECKING:
    from twosample.questions.independence import IndependenceResult
    from twosample.results.each_result import EachResult
    from twosample.results.ksample_result import KSampleResult
    from twosample.results.mixing import Mixing
    from twosample.results.objects_result import ObjectsResult

__all__ = [
    "TABLE_ROWS",
    "at_one",
    "cut",
    "dependence",
    "each_column",
    "evidence_of_columns",
    "evidence_over_time",
    "groups",
    "mixing",
    "objects",
    "sensitivity",
    "some_places",
]

# Lines of a table beside a curve.
TABLE_ROWS = 21
_BINS = 24
# The density of a share may be infinite at 0 and 1; so far from there it is drawn.
_EDGE = 1e-3
# Kass and Raftery's limits of log BF, and what is beyond them.
_VERDICTS = ((1.0, "positive"), (3.0, "strong"), (5.0, "very strong"))
_MOST_PAIRS, _MOST_PARTITIONS = 20, 8
_LONGEST_NAME, _LONGEST_LABEL = 24, 44


def some_places(count: int, most: int = TABLE_ROWS) -> Array:
    """Places of a curve for a table."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def cut(name: str, longest: int = _LONGEST_NAME) -> str:
    """The beginning of a name that is long."""
    return shortened(printable(name), longest)


def at_one(value: float) -> Array:
    """A place, as marks have places."""
    return np.array([value])


def sensitivity(curves: Sequence[Any]) -> list[Panel]:
    """Log BF10 against each choice of the prior, with the choice that was made and the limits of the verdicts.

    Each of the curves has a `label`, `values`, `log_bf10` and the `default` value.
    """
    every = np.concatenate([np.asarray(curve.log_bf10, dtype=float) for curve in curves])
    low, high = min(0.0, float(every.min())), max(0.0, float(every.max()))
    margin = max(0.1 * (high - low), 1.5)
    heights = (low - margin, high + margin)
    beyond = [
        Mark("level", "same", at_one(0.0), at_one(side * limit), f"{words}: {'different' if side > 0 else 'the same'}")
        for side in (1.0, -1.0)
        for limit, words in _VERDICTS
        if heights[0] < side * limit < heights[1]
    ]
    found = []
    for curve in curves:
        values, log_bf10 = np.asarray(curve.values, dtype=float), np.asarray(curve.log_bf10, dtype=float)
        default = float(curve.default)
        limits = float(min(values[0], default)), float(max(values[-1], default))
        log = limits[0] > 0.0 and limits[1] / limits[0] > 5.0
        if limits[0] == limits[1]:
            limits = 0.5 * limits[0], 1.5 * limits[1]
        ends, top = np.array(limits), min(1.0, heights[1])
        chosen = float(np.interp(default, values, log_bf10))
        marks = (
            Mark("area", "unclear", ends, np.full(2, top), "no clear evidence either way", max(-1.0, heights[0])),
            *beyond,
            Mark("across", "zero", ends, at_one(0.0)),
            Mark("line", "differ", values, log_bf10),
            Mark("dots", "differ", values, log_bf10),
            Mark("dots", "chosen", at_one(default), at_one(chosen), f"as tested ({number(default)})", size=5.5),
        )
        rows = [(number(value), f"{evidence:+.2f}") for value, evidence in zip(values, log_bf10, strict=True)]
        said = f"log BF10 is between {log_bf10.min():.2f} and {log_bf10.max():.2f}."
        title, head = f"log BF10 against {curve.label}", (curve.label, "log BF10")
        found.append(
            Panel(title, curve.label, "log BF10", marks=marks, limits=limits, heights=heights, log=log,
                  said=said, note=said, head=head, rows=rows)
        )  # fmt: skip
    return found


def evidence_over_time(history: Sequence[Any], alpha: float) -> Panel:
    """The log e-value and the log run length after each batch, with the limit 1/alpha and the first crossing."""
    batches, log_evalue, log_run_length = (
        np.array([getattr(row, name) for row in history], dtype=float)
        for name in ("batch", "log_evalue", "log_run_length")
    )
    limit, at, evalues = -math.log(alpha), batches, log_evalue
    if not len(batches) or batches[0] == 1.0:
        at, evalues = np.concatenate([[0.0], batches]), np.concatenate([[0.0], log_evalue])
    every = np.concatenate([evalues, log_run_length, [0.0, limit]])
    low, high = float(every.min()), float(every.max())
    crossed = np.flatnonzero(log_evalue >= limit)[:1]
    first = f"{batches[crossed[0]]:g}" if len(crossed) else ""
    said = (
        f"The e-value first reaches its limit at batch {first}." if first else "The e-value does not reach its limit."
    )
    marks = [
        Mark("across", "median", at[[0, -1]], at_one(limit), f"limit, e-value {1.0 / alpha:g}"),
        Mark("across", "zero", at[[0, -1]], at_one(0.0)),
        Mark("line", "same", batches, log_run_length, "log run length"),
        Mark("line", "differ", at, evalues, "log e-value"),
    ]
    if first:
        marks.append(
            Mark("dots", "chosen", batches[crossed], log_evalue[crossed], f"first crossing, batch {first}", size=5.5)
        )
    shown = [history[place] for place in some_places(len(history)).tolist()] if history else []
    rows = [(f"{row.batch:g}", f"{row.log_evalue:+.2f}", f"{row.log_run_length:+.2f}") for row in shown]
    limits = (float(at[0]), float(max(at[-1], at[0] + 1.0)))
    return Panel(
        "Evidence over time",
        "batch",
        "log e-value",
        marks=tuple(marks),
        limits=limits,
        heights=(low - 0.05 * (high - low), high + 0.08 * (high - low)),
        places=tuple(place for place in ticks(*limits) if place == round(place)),
        said=said,
        note=said,
        head=("batch", "log e-value", "log run length"),
        rows=rows,
    )


def objects(result: ObjectsResult, names: tuple[str, str]) -> list[Panel]:
    """Histograms of the witness at the objects of both samples, and the evidence with each parameter of the kernel."""
    samples = result.witness_x, result.witness_y
    both = np.concatenate(samples)
    low, high = float(both.min()), float(both.max())
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    shares = [np.histogram(values, edges)[0] / len(values) for values in samples]
    top = float(np.max(shares))
    counts = [f"{name} ({n:,} objects)" for name, n in zip(names, (result.n_x, result.n_y), strict=True)]
    marks = [Mark("steps", side, edges, of, words) for side, of, words in zip("xy", shares, counts, strict=True)]
    marks += [
        Mark("rug", side, of, np.full(len(of), -place * 0.06 * top))
        for place, side, of in zip((1, 2), "xy", samples, strict=True)
    ]
    rows = [
        (f"{number(a)} to {number(b)}", f"{x:.1%}", f"{y:.1%}")
        for a, b, x, y in zip(edges[:-1], edges[1:], *shares, strict=True)
    ]
    means = samples[0].mean(), samples[1].mean()
    found = [
        Panel(
            "The witness at the objects",
            "witness",
            "share of the objects",
            marks=(*marks, Mark("upright", "zero", at_one(0.0), np.array([0.0, top]))),
            limits=(float(edges[0]), float(edges[-1])),
            heights=(-0.18 * top, 1.08 * top),
            counted="percent",
            said=f"The mean of the witness is {means[0]:.3g} in {names[0]} and {means[1]:.3g} in {names[1]}.",
            note=f"Positive where {names[0]} has more of such objects, negative where {names[1]} has.",
            head=("witness", f"share of {names[0]}", f"share of {names[1]}"),
            rows=rows,
        )
    ]
    if len(result.parameters) > 1:
        places, parameters = np.arange(float(len(result.parameters))), tuple(map(printable, result.parameters))
        values = result.parameter_log_bf10
        found.append(
            Panel("With each parameter alone", f"parameter of {printable(result.kernel)}", "log BF10",
                  marks=(Mark("bars", "differ", places, values, size=0.6), Mark("across", "zero", places, at_one(0.0))),
                  names=parameters, head=("parameter", "log BF10"),
                  rows=[(name, number(value)) for name, value in zip(parameters, values.tolist(), strict=True)])
        )  # fmt: skip
    return found


def evidence_of_columns(log_bf10: Array, least: float | None) -> Panel:
    """How many columns have how much evidence, and whether it is at least that of those that are found to differ."""
    clipped = np.clip(log_bf10, -10.0, 20.0)
    low, high = np.floor(clipped.min()), max(np.floor(clipped.max()) + 1.0, np.floor(clipped.min()) + 4.0)
    edges = np.arange(low, high + 0.5)
    counts, _ = np.histogram(clipped, edges)
    # Counts differ by orders of magnitude; the root keeps small bars visible.
    heights, differ = np.sqrt(counts), edges[:-1] + 1.0 > (math.inf if least is None else least)
    marks = tuple(
        Mark("bars", style, edges[:-1][which] + 0.5, heights[which], words, size=0.92)
        for style, which, words in (("differ", differ, "among those found to differ"), ("same", ~differ, "others"))
    )
    rows = [
        (f"{start:g} to {start + 1:g}", f"{count:,}")
        for start, count in zip(edges[:-1].tolist(), counts.tolist(), strict=True)
    ]
    return Panel(
        "Evidence of all columns",
        "log BF10",
        "columns",
        marks=marks,
        limits=(float(low), float(high)),
        heights=(0.0, 1.06 * float(heights.max())),
        counted="root",
        said="The most frequent log BF10 is between {:g} and {:g}.".format(*edges[counts.argmax() :][:2]),
        note="Heights are square roots of the numbers. Evidence beyond the ends is in the outermost bars.",
        head=("log BF10", "columns"),
        rows=rows,
    )


def each_column(result: EachResult, names: tuple[str, str], top: int) -> Panel:
    """Log BF10 of every column against P(x > y), and the names of the first `top` columns that differ."""
    larger = result.prob_larger
    single = np.isfinite(larger)
    found = single & result.found
    rest, (first, second) = single & ~found, map(printable, names)
    reach = 1.15 * max(0.05, float(np.abs(larger[single] - 0.5).max(initial=0.0)))
    kept = f"the others, {columns_in_words(int(rest.sum()))}"
    marks = [
        Mark("dots", "same", larger[rest], result.log_bf10[rest], kept, size=1.5),
        Mark("dots", "differ", larger[found], result.log_bf10[found],
             f"different at a false discovery rate of {result.fdr:g}"),
        Mark("upright", "prior", at_one(0.5), at_one(0.0)),
        Mark("across", "prior", at_one(0.5), at_one(0.0)),
    ]  # fmt: skip
    for number_of, place in enumerate(np.flatnonzero(found)[:top]):
        # Names of neighbours go to different sides.
        marks.append(
            Mark("text", "ink", at_one(larger[place]), at_one(result.log_bf10[place]), cut(result.column[place]),
                 size=(4.0, -4.0)[number_of % 2])
        )  # fmt: skip
    across = f"larger in {second}  \u2190  chance that {first} is larger  \u2192  larger in {first}"
    title = f"{int(found.sum())} of {columns_in_words(int(single.sum()))} differ"
    limits = (0.5 - reach, 0.5 + reach)
    return Panel(title, across, "log BF10", marks=tuple(marks), limits=limits)


def dependence(result: IndependenceResult) -> Panel:
    """Where x and y depend on each other, or the evidence of each pair of columns where there are several."""
    picture = result.picture
    if picture is not None:
        values = {"mass of the pairs over that of independence, less 1": (
            picture.at_x, picture.at_y, picture.mean, picture.sd)}  # fmt: skip
        names = [tuple(cut(level) for level in levels) for levels in (picture.levels_x, picture.levels_y)]
        return Panel("", *result.labels, values, "map", names=names[0], names_up=names[1])
    rows = result.by_pair[:_MOST_PAIRS]
    more = f" (the {len(rows)} with the most evidence of {result.pairs.size})" if result.pairs.size > len(rows) else ""
    bars = {"log BF10": (
        tuple(f"{cut(row.x)} and {cut(row.y)}" for row in rows),
        np.array([row.log_bf10 for row in rows]),
        tuple("differ" if row.prob > 0.5 else "same" for row in rows),
    )}  # fmt: skip
    return Panel("", "columns", f"log BF10 of the pair{more}", bars, "bar")


def groups(result: KSampleResult) -> list[Panel]:
    """The probabilities of the likeliest partitions, and P(same) for each pair of groups."""
    rows, k = result.partitions[:_MOST_PARTITIONS], len(result.names)
    short = {name: cut(name, 18) for name in result.names}
    names = [" | ".join(", ".join(short[name] for name in block) for block in row.groups) for row in rows]
    bars = {"probability": (
        tuple(cut(name, _LONGEST_LABEL) for name in names),
        np.array([row.posterior for row in rows]),
        tuple("x" if len(row.groups) == 1 else "differ" for row in rows),
    )}  # fmt: skip
    same, above = np.eye(k), np.triu_indices(k, 1)
    same[above] = same.T[above] = [row.prob_same for row in result.pairs]
    matrix = {"P(same)": (tuple(short.values()), tuple(short.values()), same)}
    return [
        Panel("which groups are alike", "partition", "probability", bars, "bar", limits=(0.0, 1.0)),
        Panel("P(same) for each pair of groups", "", "", matrix, "matrix"),
    ]


def mixing(found: Mixing) -> Panel:
    """The posterior density of the share of H1, its mean, and the prior."""
    share = np.linspace(_EDGE, 1.0 - _EDGE, 999)
    density = found.density(share)
    marks = (
        Mark("line", "differ", share, density, "posterior"),
        Mark("line", "prior", share, 1.0 / (np.pi * np.sqrt(share * (1.0 - share))), "prior"),
        Mark("upright", "ink", at_one(found.mean), at_one(0.0), "mean"),
    )
    heights = (0.0, 1.15 * max(float(density[10:-10].max()), 1.0))
    return Panel("", "share of H1", "density", marks=marks, limits=(0.0, 1.0), heights=heights)
