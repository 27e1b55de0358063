"""More than two groups in one table, each against one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from twosample import models
from twosample.common.arguments import Seed
from twosample.common.progress import Progress, progress_bar
from twosample.data import Choice, some
from twosample.data.reading import Table
from twosample.data.two_tables import read_groups
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, warn
from twosample.kernels import Kernel
from twosample.models import Model
from twosample.questions.two_samples import test
from twosample.results.groups_result import GroupsResult
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["test_groups"]

_MOST_GROUPS = 1000


def test_groups(
    x: object,
    *,
    by: object,
    reference: object,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    categories: Sequence[str | int] | None = None,
    model: str | Model = "adaptive",
    kernel: str | Kernel | Sequence[str | Kernel] = "rbf",
    lengthscale: float | Literal["median"] | None = None,
    points: float | ArrayLike = 40,
    subsets: str | Iterable[Iterable[str | int]] | None = "auto",
    prior_odds: float = 1.0,
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
    permutations: int = 0,
    rope: float | None = None,
    tolerance: float = 1e-3,
    rng: Seed = 0,
    progress: Progress = False,
) -> GroupsResult:
    """Test each group of the rows of a table against one group, such as a placebo.

    `ksample` says whether all groups are alike, and which are. Here each comparison is that of `test`. Probabilities
    are those of each comparison by itself, with the given prior odds: they are not adjusted for how many there are, and
    the comparisons share rows.

    Parameters
    ----------
    x
        The table.
    by
        The name of the column that says which group a row is in, or a label for each row.
    reference
        The group that all others are compared with.
    columns, drop, model, kernel, lengthscale, points, subsets, prior_odds, scale, nan_policy, permutations, rope
        As in `test`.
    categories, tolerance, rng
        As in `test`.
    progress
        True shows a progress bar on a terminal; a function is called with the share of work done.

    Returns
    -------
    GroupsResult
        A line for each group, and `results`, the whole result of each comparison.

    Examples
    --------
    >>> import numpy as np, polars as pl, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> trial = pl.DataFrame({"arm": ["a", "b", "c"] * 40, "dose": rng.normal(size=120)})
    >>> trial = trial.with_columns(pl.when(arm="c").then(pl.col("dose") + 2).otherwise("dose").alias("dose"))
    >>> result = ts.test_groups(trial, by="arm", reference="a")
    >>> [(row.group, row.prob_h1 > 0.5) for row in result]
    [('b', False), ('c', True)]
    """
    choice = Choice.of(by, None, columns, drop, categories, texts=not models.resolve(model).needs_pairs)
    if by is None:
        raise InputError("by: needs the column that says which group a row is in", argument="by")
    table, labels, notes = read_groups(x, choice)
    groups = tuple(labels.counts)
    if reference is None:
        raise InputError(
            "reference: needs the group that all others are compared with",
            argument="reference",
            remedy="use ksample to compare all of them",
        )
    base = labels.find(str(reference), "reference")
    compared = tuple(group for group, rows in labels.counts.items() if group != base and rows > 1)
    if len(groups) < 2 or len(groups) > _MOST_GROUPS:
        values = "value" if len(groups) == 1 else "different values"
        raise InputError(
            f"by: splits x by {len(groups)} {values}", argument="by", remedy=f"needs 2 to {_MOST_GROUPS} groups"
        )
    if not compared:
        raise InputError("by: every group has 1 row", argument="by", remedy="needs at least 2 in each")
    alone = [group for group, rows in labels.counts.items() if group != base and rows == 1]
    if alone:
        note = f"Did not compare groups with 1 row: {some(alone)}."
        warn(DroppedDataWarning(note, argument="by"))
        notes += (note,)

    found: dict[str, TwoSampleResult] = {}
    others = labels.rows(base)
    clean = table._replace(left_out=(), times=())
    with progress_bar(progress) as report:
        for index, group in enumerate(compared):
            own = labels.rows(group)
            names = group, base
            result = _compare(
                names,
                clean._replace(rows=table.rows[own]),
                clean._replace(rows=table.rows[others]),
                model=model,
                kernel=kernel,
                lengthscale=lengthscale,
                points=points,
                subsets=subsets,
                prior_odds=prior_odds,
                scale=scale,
                nan_policy=nan_policy,
                permutations=permutations,
                rope=rope,
                tolerance=tolerance,
                rng=rng,
            )
            found[group] = replace(result, names=names)
            if report is not None:
                report((index + 1) / len(compared))
    results = tuple(found.values())
    own_notes = [f"{group}: {note}" for group, result in found.items() for note in result.diagnostics.notes]
    left_out = {one.column: one for one in table.left_out}
    used = tuple(dict.fromkeys(column for result in results for column in result.columns))
    left_out |= {one.column: one for result in results for one in result.left_out if one.column not in used}
    return GroupsResult(
        by=choice.by_column or "",
        reference=base,
        group=compared,
        n=np.array([result.n_x for result in results]),
        n_other=np.array([result.n_y for result in results]),
        log_bf10=np.array([result.log_bf10 for result in results]),
        prob_h1=np.array([result.prob_h1 for result in results]),
        auc=np.array([np.nan if result.effect is None else result.effect.auc.mean for result in results]),
        verdict=tuple(result.verdict for result in results),
        prior_odds=results[0].prior_odds,
        columns=used,
        left_out=tuple(left_out.values()),
        model=models.resolve(model),
        notes=(*notes, *own_notes),
        results=found,
    )


def _compare(names: tuple[str, str], x: Table, y: Table, **options: Any) -> TwoSampleResult:
    """One comparison; what is refused says in which."""
    try:
        return test(x, y, **options)
    except (InputError, InputTypeError) as error:
        if error.argument not in ("x", "y", "x and y"):
            raise
        message = f"{error.message} (x is {names[0]!r}, y is {names[1]!r})"
        raise type(error)(message, argument="by", remedy=error.remedy) from None
