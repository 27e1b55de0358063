"""The table of tests of single columns: which columns can be tested, and what is said of all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from twosample.common.arguments import flag_of, share_of
from twosample.common.arrays import Array, Indices
from twosample.common.progress import Progress
from twosample.common.words import columns_in_words
from twosample.data import Limits
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, Setting, warn
from twosample.inference.discoveries import learn_share, posterior, q_values
from twosample.models import LogUniform, Model
from twosample.results.each_result import EachResult, some_skipped
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["Asked", "Rows", "compressed", "groups_of", "missing_in_words", "of_equal_sizes", "table", "to_be_tested"]


@dataclass(frozen=True, eq=False)
class Asked:
    """The options of a test of single columns."""

    # As in `twosample.test_each`, groups of columns only.
    fdr: float
    groups: object
    model: Model
    paired: bool
    nan_policy: Literal["raise", "omit"]
    progress: Progress
    # The test of several columns together, which takes the arguments of `twosample.test`.
    joint: Callable[..., TwoSampleResult]

    def checked(self) -> Asked:
        """The same, with arguments checked; refuses models without a test of the normal scores of a column."""
        if not self.model.ranks or self.model.needs_pairs or not isinstance(self.model.lengthscale, LogUniform):
            raise InputError(
                f"model: {self.model.name!r} has no test of single columns by their ranks",
                argument="model",
                remedy=("use ", Setting("model", "adaptive")),
            )
        return replace(self, fdr=share_of(self.fdr, "fdr"), paired=flag_of(self.paired, "paired"))


class Rows(NamedTuple):
    """Rows of the table as they come, in any order."""

    names: tuple[str, ...]
    n_x: Indices
    n_y: Indices
    log_bf10: Array
    auc: Array
    direction: tuple[str, ...]

    @classmethod
    def of_groups(cls, results: Mapping[str, TwoSampleResult]) -> Rows:
        """A row for each test of a group of columns."""
        found = [(result.n_x, result.n_y, result.log_bf10) for result in results.values()]
        n_x, n_y, log_bf10 = np.array(found, dtype=np.float64).reshape(-1, 3).T
        count = len(results)
        nothing = np.full(count, np.nan), ("",) * count
        return cls(tuple(results), n_x.astype(np.int64), n_y.astype(np.int64), log_bf10, *nothing)


def to_be_tested(
    columns: tuple[str, ...], n_x: Indices, n_y: Indices, limits: Limits
) -> tuple[Indices, dict[str, str]]:
    """The places of the columns with enough values to be tested, and why the others cannot be."""
    x_constant, y_constant = limits.x_low == limits.x_high, limits.y_low == limits.y_high
    reasons = (
        (n_x < 2, "fewer than 2 values in x"),
        (n_y < 2, "fewer than 2 values in y"),
        (x_constant & y_constant & (limits.x_low == limits.y_low), "one value throughout"),
        (x_constant & y_constant, "one value in each sample"),
    )
    skipped: dict[str, str] = {}
    tested = np.ones(len(columns), dtype=bool)
    for flags, reason in reasons:
        skipped |= {columns[place]: reason for place in np.flatnonzero(flags & tested)}
        tested &= ~flags
    return np.flatnonzero(tested), {name: skipped[name] for name in columns if name in skipped}


def groups_of(groups: object, columns: tuple[str, ...]) -> dict[str, list[int]]:
    """The places of the columns of each group."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        raise InputTypeError(
            f"groups: expected a dictionary, got {type(groups).__name__}",
            argument="groups",
            remedy="pass names of groups with lists of columns, such as {'size': ['height', 'weight']}",
        )
    place = {name: index for index, name in enumerate(columns)}
    members: dict[str, list[int]] = {}
    for label, names in groups.items():
        group = str(label)
        if group in place:
            raise InputError(f"groups: {group!r} is also the name of a column", argument="groups", remedy="rename it")
        if group in members:
            raise InputError(f"groups: names {group!r} twice", argument="groups", remedy="rename one")
        if isinstance(names, str | bytes) or not isinstance(names, Iterable):
            raise InputTypeError(
                f"groups: {group!r} is {type(names).__name__}", argument="groups", remedy="pass a list of columns"
            )
        wanted = [str(name) for name in names]
        if not wanted:
            raise InputError(f"groups: {group!r} has no columns", argument="groups", remedy="name at least one")
        for name in wanted:
            if name not in place:
                raise InputError(
                    f"groups: there is no column {name!r}, which {group!r} names",
                    argument="groups",
                    remedy="use names of columns; they are '0', '1', ... where the data have none",
                )
        if len(set(wanted)) < len(wanted):
            raise InputError(f"groups: {group!r} names a column twice", argument="groups", remedy="name it once")
        members[group] = [place[name] for name in wanted]
    return members


def missing_in_words(absent_x: Indices, absent_y: Indices, paired: bool) -> tuple[str, ...]:
    """The note of missing values, from their number in each column."""
    absent = absent_x if paired else absent_x + absent_y
    count = int(absent.sum())
    if not count:
        return ()
    one = count == 1
    kind = f"pair{'' if one else 's'} with a missing or infinite value" if paired else "missing or infinite value"
    what = kind if paired or one else f"{kind}s"
    return (f"Left out {count} {what} in {np.count_nonzero(absent)} of {columns_in_words(len(absent))}.",)


def of_equal_sizes(n_x: Indices, n_y: Indices) -> Iterator[Indices]:
    """The places of the columns of each pair of sizes."""
    order = np.lexsort((n_y, n_x))
    if order.size:
        changes = np.flatnonzero((np.diff(n_x[order]) != 0) | (np.diff(n_y[order]) != 0)) + 1
        yield from np.split(order, changes)


def compressed(rows: Array, columns: Indices, size: int) -> Array:
    """These columns without their missing values, of which each has as many; in the order of the rows."""
    part = rows[:, columns]
    if size == len(rows):
        return part
    order = np.argsort(np.isnan(part), axis=0, kind="stable")
    return np.take_along_axis(part, order[:size], axis=0)


def table(
    singles: Rows,
    together: Rows,
    asked: Asked,
    *,
    groups: dict[str, tuple[str, ...]],
    unused: dict[str, str],
    skipped: dict[str, str],
    notes: tuple[str, ...],
) -> EachResult:
    """The result, with columns and groups apart in what is learnt of them and sorted together; says what is skipped."""
    if not singles.names and not together.names:
        raise InputError(
            f"x and y: nothing can be tested: {some_skipped(skipped)}",
            argument="x and y",
            remedy="pass columns that vary, with at least 2 values in each sample",
        )
    if skipped:
        warn(DroppedDataWarning(f"Did not test {some_skipped(skipped)}.", argument="x and y"))
    shares = [learn_share(rows.log_bf10) for rows in (singles, together)]
    probs = [posterior(rows.log_bf10, share) for rows, share in zip((singles, together), shares, strict=True)]
    log_bf10 = np.concatenate((singles.log_bf10, together.log_bf10))
    order = np.argsort(-log_bf10, kind="stable")
    names, directions = singles.names + together.names, singles.direction + together.direction
    return EachResult(
        column=tuple(names[place] for place in order),
        n_x=np.concatenate((singles.n_x, together.n_x))[order],
        n_y=np.concatenate((singles.n_y, together.n_y))[order],
        log_bf10=log_bf10[order],
        prob_h1=np.concatenate(probs)[order],
        q=np.concatenate([q_values(prob) for prob in probs])[order],
        auc=np.concatenate((singles.auc, together.auc))[order],
        direction=tuple(directions[place] for place in order),
        share=shares[0],
        group_share=shares[1] if groups else None,
        fdr=asked.fdr,
        paired=asked.paired,
        model=asked.model,
        groups=groups,
        skipped=unused | skipped,
        notes=notes,
    )
