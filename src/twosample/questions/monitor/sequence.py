"""Two finished samples in their order, as if they had come as streams."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from twosample.common.arguments import count_of
from twosample.common.floating import own_errors
from twosample.data import Choice
from twosample.data.categories import Levels
from twosample.data.complete import check_pairs
from twosample.data.reading import Table
from twosample.data.two_tables import read_two
from twosample.errors import InputError
from twosample.features.domains.domain import objects_of
from twosample.questions.monitor.watch import Monitor
from twosample.questions.options import refuse_options_of_tables

__all__ = ["in_order", "sequential"]


@own_errors
def sequential(
    x: object,
    y: object = None,
    *,
    batches: int = 20,
    by: object = None,
    groups: Sequence[object] | None = None,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    **options: Any,
) -> Monitor:
    """Go through two finished samples in their order, as if they had come as streams.

    Parameters
    ----------
    x, y, by, groups, columns, drop
        The samples, as in `twosample.test`.
    batches
        In how many batches; each has the same share of the rows of both samples.
    **options
        As in `Monitor`: `alpha`, `paired`, `rng` and so on, but no `reference`.

    Returns
    -------
    Monitor
        With `plot()`, `history` and `state`.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> monitor = ts.sequential(rng.normal(0, 1, 300), rng.normal(0.7, 1, 300), batches=10)
    >>> monitor.state.alarm, len(monitor.history)
    (True, 10)
    """
    monitor = Monitor(**options)
    if monitor.watches_objects:
        refuse_options_of_tables({"by": by, "groups": groups, "columns": columns, "drop": drop})
        return in_order(objects_of(x, "x"), objects_of(y, "y"), (), batches=batches, monitor=monitor)
    choice = Choice.of(by, groups, columns, drop, monitor.settings.categories or None, texts=True)
    two = read_two(x, y, choice)
    return in_order(two.x, two.y, two.columns, two.levels, batches=batches, monitor=monitor)


def in_order(
    x: Any, y: Any, columns: tuple[str, ...], levels: Levels = (), *, batches: int, monitor: Monitor
) -> Monitor:
    """The monitor, which has seen nothing yet, after the rows of two samples, or objects, in `batches` batches."""
    batches = count_of(batches, "batches", 1)
    if monitor.settings.with_reference:
        raise InputError("reference: there are two samples already", argument="reference", remedy="leave it out")
    if monitor.settings.paired:
        check_pairs(len(x), len(y))
    if not monitor.watches_objects:
        monitor.expect(columns, levels)
    shares = [[n * number // batches for number in range(batches + 1)] for n in (len(x), len(y))]
    for (x_first, x_last), (y_first, y_last) in zip(*map(pairwise, shares), strict=True):
        parts = x[x_first:x_last], y[y_first:y_last]
        monitor.update(*(Table(part, columns, levels=levels, settled=True) if levels else part for part in parts))
    return monitor
