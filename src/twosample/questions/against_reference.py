"""Several groups, each against one of them: what `ksample` does with a `reference`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from twosample import models
from twosample.common.progress import Progress, progress_bar
from twosample.data import Choice, LeftOut, some
from twosample.data.groups import named_groups
from twosample.data.two_tables import read_groups
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, warn
from twosample.questions.two_samples import test
from twosample.results.groups_result import GroupsResult
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["against"]

_MOST_GROUPS = 1000


class _Given(NamedTuple):
    """The reference group, the groups compared with it, and how `test` is to read them."""

    base: str
    reference: Any
    compared: dict[str, Any]
    reading: dict[str, Any]
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


def against(
    groups: object,
    reference: object,
    *,
    by: object,
    columns: object,
    drop: object,
    categories: object,
    model: str | models.Model,
    progress: Progress,
    **options: Any,
) -> GroupsResult:
    """Test each group against the reference, with the options of `test`."""
    reading = {"columns": columns, "drop": drop, "categories": categories}
    choice = Choice.of(by, None, **reading, texts=not models.resolve(model).needs_pairs)
    given = _samples(groups, reference, reading) if by is None else _split(groups, reference, choice)
    if not 1 <= len(given.compared) < _MOST_GROUPS:
        argument = "groups" if by is None else "by"
        raise InputError(
            f"{argument}: there are {len(given.compared)} groups to compare with {given.base!r}",
            argument=argument,
            remedy=f"needs 1 to {_MOST_GROUPS - 1}",
        )
    found: dict[str, TwoSampleResult] = {}
    with progress_bar(progress) as report:
        for group, rows in given.compared.items():
            names = group, given.base
            try:
                result = test(rows, given.reference, model=model, **given.reading, **options)
            except (InputError, InputTypeError) as error:
                if error.argument not in ("x", "y", "x and y"):
                    raise
                message = f"{error.message} (x is {names[0]!r}, y is {names[1]!r})"
                argument = "groups" if by is None else "by"
                raise type(error)(message, argument=argument, remedy=error.remedy) from None
            found[group] = replace(result, names=names)
            if report is not None:
                report(len(found) / len(given.compared))
    return _table(given, found, choice.by_column or "", models.resolve(model))


def _samples(groups: object, reference: object, reading: dict[str, Any]) -> _Given:
    """A dictionary or a list of samples."""
    samples, base = named_groups(groups, fewest=0), str(reference)
    if base not in samples:
        raise InputError(
            f"reference: there is no group {base!r}", argument="reference", remedy=f"use one of {some(list(samples))}"
        )
    return _Given(base, samples.pop(base), samples, reading)


def _split(x: object, reference: object, choice: Choice) -> _Given:
    """One table and what splits it; groups of one row are left out with a warning."""
    table, labels, notes = read_groups(x, choice)
    base = labels.find(str(reference), "reference")
    alone = [group for group, rows in labels.counts.items() if group != base and rows == 1]
    if alone:
        note = f"Did not compare groups with 1 row: {some(alone)}."
        warn(DroppedDataWarning(note, argument="by"))
        notes += (note,)
    clean = table._replace(left_out=(), times=())
    rows = {group: clean._replace(rows=table.rows[labels.rows(group)]) for group in labels.counts if group not in alone}
    return _Given(base, rows.pop(base), rows, {}, table.left_out, notes)


def _table(given: _Given, found: dict[str, TwoSampleResult], by: str, model: models.Model) -> GroupsResult:
    results = tuple(found.values())
    own_notes = [f"{group}: {note}" for group, result in found.items() for note in result.diagnostics.notes]
    left_out = {one.column: one for one in given.left_out}
    used = tuple(dict.fromkeys(column for result in results for column in result.columns))
    left_out |= {one.column: one for result in results for one in result.left_out if one.column not in used}
    return GroupsResult(
        by=by,
        reference=given.base,
        group=tuple(found),
        n=np.array([result.n_x for result in results]),
        n_other=np.array([result.n_y for result in results]),
        log_bf10=np.array([result.log_bf10 for result in results]),
        prob_h1=np.array([result.prob_h1 for result in results]),
        auc=np.array([np.nan if result.effect is None else result.effect.auc.mean for result in results]),
        verdict=tuple(result.verdict for result in results),
        prior_odds=results[0].prior_odds,
        columns=used,
        left_out=tuple(left_out.values()),
        model=model,
        notes=(*given.notes, *own_notes),
        results=found,
    )
