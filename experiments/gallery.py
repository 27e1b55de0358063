"""Writes docs/gallery.md, from results alone: figures, what the paper says of them, our numbers, whether they agree."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from experiments import efficiency, tables
from experiments.catalogue import EXPERIMENTS
from experiments.claims import CLAIMS, Claim
from experiments.curves import MODELS
from experiments.lengthscales import informative, modes, unmixed
from experiments.notes import NOTES
from experiments.reading import CERTAIN, Reading

__all__ = ["Verdict", "markdown", "verdicts"]

# The quartiles are shown where they are further apart than this.
_SPREAD = 0.1


@dataclass(frozen=True)
class Verdict:
    """What was expected of a claim for a model, and what the results say."""

    claim: Claim
    model: str
    expected: bool
    found: bool


def verdicts(found: Mapping[str, Reading]) -> list[Verdict]:
    """Check all claims for all models that they are about."""
    return [
        Verdict(claim, model, expected, bool(claim.check(found, model)))
        for claim in CLAIMS
        for model, expected in claim.holds.items()
    ]


def markdown(found: Mapping[str, Reading], pictures: Path, page: Path) -> str:
    """The page, for this place, with the pictures of that folder."""
    link = Path(os.path.relpath(pictures, page.parent)).as_posix()
    checked = verdicts(found)
    sections = [part for name in EXPERIMENTS for part in _section(name, found[name], checked, link)]
    return "\n\n".join([*_intro(found, checked), *_efficiency(found, link), *sections]) + "\n"


def _intro(found: Mapping[str, Reading], checked: list[Verdict]) -> Iterator[str]:
    runs = sorted({reading.results["runs"] for reading in found.values() if reading.is_curve})
    yield "# Gallery: the paper's results, and ours"
    yield (
        "All tables and figures of Zhang, Wild, Filippi, Flaxman and Sejdinovic, *Bayesian Kernel Two-Sample "
        "Testing*, made again with this package. This page is written by `python -m experiments gallery` from the "
        "files in `experiments/results`; `make reproduce` computes those."
    )
    yield (
        "Three models are compared on the same data, all with even prior odds: `published`, what the paper's released "
        "code does; `paper`, what its text says; and `adaptive`, the default of this package ([how they "
        "differ](theory/method.md#the-models)). The paper estimates P(H1 | D) with a sampler; all numbers here are "
        "integrals, and `published` is the law that the released sampler would settle on. `published` and `paper` get "
        "40 fresh points of both laws, as in the paper, and `adaptive` chooses its points itself. The estimated error "
        "of log BF10 is below 1e-4, relative where log BF10 is larger than 1, unless an AccuracyWarning is counted; "
        "`published` and `paper` share one estimate."
    )
    yield (
        f"Numbers in tables are medians of P(H1 | D) over {' or '.join(map(str, runs))} data sets; the quartiles "
        f"follow where they are more than {_SPREAD:g} apart."
    )
    lines = ["| | agrees | differs |", "|---|---|---|"]
    for model in MODELS:
        answers = [one.found for one in checked if one.model == model]
        lines.append(f"| `{model}` | {sum(answers)} | {len(answers) - sum(answers)} |")
    yield f"What the paper says of its results was put into {len(CLAIMS)} statements that can be checked:"
    yield "\n".join(lines)
    yield (
        "Where `adaptive` differs, it mostly finds a difference that the paper's model does not find yet, or is less "
        "sure that two samples of one law are the same. The statements, and reasons, are below."
    )
    contents = ["| here | in the paper |", "|---|---|", "| [rows needed](#rows-needed) | |"]
    contents += [_row(f"[{one.title}](#{name})", one.paper) for name, one in EXPERIMENTS.items()]
    yield "\n".join(contents)


def _efficiency(found: Mapping[str, Reading], link: str) -> Iterator[str]:
    rows = efficiency.compute(found)["rows"]
    yield "## Rows needed"
    yield (
        f'The least n tried from which on the median P(H1 | D) is above {CERTAIN:g}. "> 800": not by n = 800, the '
        'largest n. "≤ 10": at the smallest n already. Ratios are known as well as the sizes tried allow. '
        "`published` at n = 10 is to be taken with care: with 40 points and 10 rows its covariance is singular but for "
        "its floor of 1e-8."
    )
    yield f"![Rows needed, for every setting and model]({link}/efficiency.png)"
    lines = [
        "| experiment | setting | published | paper | adaptive | published / adaptive |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        needed = [efficiency.needed_text(row["needed"][model], row["sizes"]) for model in MODELS]
        raw = row["needed"].get("adaptive_raw", 0)
        if raw != 0:
            needed[2] += f" (columns not scaled: {efficiency.needed_text(raw, row['sizes'])})"
        cells = [f"[{row['experiment']}](#{row['experiment']})", row["setting"], *needed, row["published / adaptive"]]
        lines.append(_row(*cells))
    yield "\n".join(lines)


def _section(name: str, reading: Reading, checked: list[Verdict], link: str) -> Iterator[str]:
    one = EXPERIMENTS[name]
    yield f"## {name}"
    yield f"**{one.title}.** In the paper: {one.paper}. Here: [{name}.py](../experiments/{name}.py). {NOTES[name]}"
    yield f"![{one.title}]({link}/{name}.png)"
    if reading.is_curve:
        yield _medians(reading)
        yield from _warnings(reading)
    elif name.startswith("table"):
        yield _printed(name, reading)
    elif name.startswith("lengthscales"):
        yield _lengthscales(reading)
    claims = [claim for claim in CLAIMS if claim.experiment == name]
    if claims:
        yield _claims(claims, checked)


def _row(*cells: str) -> str:
    """A row of a table, whose cells may have bars in them."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _medians(reading: Reading) -> str:
    """A row a setting and model, a column a size."""
    sizes = list(dict.fromkeys(n for setting in reading.settings for n in reading.sizes(setting)))
    lines = [f"| | | {' | '.join(f'n = {n}' for n in sizes)} |", f"|---|---|{'---|' * len(sizes)}"]
    for setting in reading.settings:
        for place, model in enumerate(reading.models):
            cells = [_number(reading.prob(setting, n, model)) if n in reading.sizes(setting) else "" for n in sizes]
            lines.append(_row(setting if place == 0 else "", f"`{model}`", *cells))
    return "\n".join(lines)


def _warnings(reading: Reading) -> Iterator[str]:
    """How often the models warned, if they did."""
    counts: Counter[str] = Counter()
    for cell in reading.results["cells"]:
        counts.update(cell["warnings"])
    models: dict[tuple[str, int], list[str]] = {}
    for key, count in counts.items():
        model, category = key.split(": ")
        models.setdefault((category, count), []).append(f"`{model}`")
    if models:
        runs = sum(cell["runs"] for cell in reading.results["cells"])
        each = (f"{category} in {count} ({', '.join(sorted(names))})" for (category, count), names in models.items())
        yield f"Of {runs:,} data sets: {'; '.join(each)}."


def _number(probabilities: np.ndarray) -> str:
    low, median, high = np.quantile(probabilities, [0.25, 0.5, 0.75])
    return f"{median:.2f}" + (f" ({low:.2f}–{high:.2f})" if high - low > _SPREAD else "")


def _lengthscales(reading: Reading) -> str:
    """A row a model: the data set that the figure shows; and all, as a sampler that does not mix would see them."""
    lines = [
        "| | P(H1 given D) | θ with P(H1 given θ, D) > ½ | modes of θ given H1 | P(H1 given D) without mixing |",
        "|---|---|---|---|---|",
    ]
    (setting,) = reading.settings
    (n,) = reading.sizes(setting)
    for model in reading.models:
        reach = informative(reading.results, model)
        between = "none" if reach is None else f"{_plain(reach[0])} to {_plain(reach[1])}"
        if reach is not None and reach[1] == reading.results["cells"][0]["values"]["θ"][0][-1]:
            between += ", the end of the curve"
        peaks = ", ".join(f"{mode:.3g}" for mode in modes(reading.results, model))
        stuck = [f"{unmixed(reading.results, model, run):.2f}" for run in range(reading.results["runs"])]
        shown = ", ".join(stuck) if model == "published" else ""
        lines.append(_row(f"`{model}`", f"{reading.prob(setting, n, model)[0]:.3f}", between, peaks, shown))
    return "\n".join(lines)


def _plain(value: float) -> str:
    """Two digits, without an exponent."""
    return f"{float(f'{value:.2g}'):g}"


def _printed(name: str, reading: Reading) -> str:
    """The paper's table and ours."""
    module = import_module(f"experiments.{name}")
    lines = [
        "| N(0, 1) against | mean BF printed | here | P(H0) printed | here | θ printed | here "
        "| `paper`: median log BF10 | `adaptive` |",
        f"|---|{'---|' * 8}",
    ]
    for row in tables.rows(reading.results, module.LENGTHSCALES):
        theirs = module.PRINTED[row.label]
        medians = [f"{row.medians[model]:+.1f}" for model in ("paper", "adaptive")]
        cells = [row.label, theirs.bayes_factor, row.bayes_factor, theirs.prob_h0, row.prob_h0]
        cells += [theirs.lengthscale or "median", row.lengthscale or "median", *medians]
        lines.append(_row(*cells))
    return "\n".join(lines)


def _claims(claims: list[Claim], checked: list[Verdict]) -> str:
    """A row a claim, a column a model."""
    models = list(dict.fromkeys(model for claim in claims for model in claim.holds))
    lines = [
        f"| the paper says | {' | '.join(f'`{model}`' for model in models)} | where it differs |",
        f"|---|{'---|' * len(models)}---|",
    ]
    for claim in claims:
        answers = {one.model: one.found for one in checked if one.claim is claim}
        cells = [("agrees" if answers[model] else "**differs**") if model in answers else "" for model in models]
        why = claim.why if not all(answers.values()) else ""
        lines.append(_row(claim.says, *cells, why))
    return "\n".join(lines)
