"""The table of tests of single columns: which columns can be tested, and what is said of all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.common.arguments import flag_of, share_of
from twosample.common.arrays import Array, Indices
from twosample.common.progress import Progress
from twosample.common.words import columns_in_words
from twosample.data import Limits
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, Setting, warn
from twosample.inference.discoveries import learn_share, posterior, q_values
from twosample.inference.effect import OfColumns, weighed
from twosample.inference.mixture import with_levels
from twosample.models import LogUniform, Model
from twosample.results.each_result import EachResult, check_sort, some_skipped
from twosample.results.two_sample_result import TwoSampleResult

__all__ = [
    "Asked",
    "Rows",
    "Tested",
    "compressed",
    "groups_of",
    "missing_in_words",
    "of_equal_sizes",
    "table",
    "to_be_tested",
]


@dataclass(frozen=True, eq=False)
class Asked:
    """The options of a test of single columns."""

    # As in `twosample.test_each`, groups of columns only.
    fdr: float
    groups: object
    model: Model
    paired: bool
    paired_by: str | None
    nan_policy: Literal["raise", "omit"]
    progress: Progress
    rope: float | None
    sort: str
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
        check_sort(self.sort)
        return replace(self, fdr=share_of(self.fdr, "fdr"), paired=flag_of(self.paired, "paired"))


class Tested(NamedTuple):
    """What is found of some columns, each array (C,)."""

    log_bf10: Array
    auc: Array  # of the witness, given that they differ
    beyond: Array  # probability of more than the `rope`, given that they differ; NaN without one
    larger: Array  # P(x > y) + ½P(x = y)
    direction: NDArray[np.object_]

    @classmethod
    def nothing(cls, count: int) -> Tested:
        """Room for that many columns."""
        log_bf10, auc, beyond, larger = np.full((4, count), np.nan)
        return cls(log_bf10, auc, beyond, larger, np.full(count, "", dtype=object))

    def put(self, places: Indices, log_bf10: Array, effect: OfColumns | None, rope: float | None) -> None:
        """Fill in the evidence of some columns and their effect, where the model has one."""
        self.log_bf10[places] = log_bf10
        if effect is not None:
            self.auc[places] = effect.auc
            self.beyond[places] = np.nan if rope is None else effect.beyond(rope)

    def with_levels(self) -> Tested:
        """With the AUC of categories, of models that have one."""
        return self._replace(auc=with_levels(self.auc, self.larger))

    def select(self, places: Indices) -> Tested:
        """Those of some columns."""
        floats = (self.log_bf10, self.auc, self.beyond, self.larger)
        log_bf10, auc, beyond, larger = (values[places] for values in floats)
        return Tested(log_bf10, auc, beyond, larger, self.direction[places])


class Rows(NamedTuple):
    """Rows of the table as they come, in any order."""

    names: tuple[str, ...]
    n_x: Indices
    n_y: Indices
    tested: Tested

    @classmethod
    def of_groups(cls, results: Mapping[str, TwoSampleResult], rope: float | None) -> Rows:
        """A row for each test of a group of columns."""
        found, (n_x, n_y) = Tested.nothing(len(results)), np.empty((2, len(results)), dtype=np.int64)
        for place, result in enumerate(results.values()):
            n_x[place], n_y[place], found.log_bf10[place] = result.n_x, result.n_y, result.log_bf10
            if result.effect is not None:
                found.auc[place] = result.effect.auc.given_different(0.5)
                if rope is not None:
                    found.beyond[place] = replace(result.effect.auc, prob_h1=1.0).exceeding(rope)
        return cls(tuple(results), n_x, n_y, found)


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
    found = [rows.tested for rows in (singles, together)]
    shares = [learn_share(one.log_bf10) for one in found]
    probs = [posterior(one.log_bf10, share) for one, share in zip(found, shares, strict=True)]
    prob_h1 = np.concatenate(probs)
    log_bf10, auc, beyond, larger, direction = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(-log_bf10, kind="stable")
    names = singles.names + together.names
    result = EachResult(
        column=tuple(names[place] for place in order),
        n_x=np.concatenate((singles.n_x, together.n_x))[order],
        n_y=np.concatenate((singles.n_y, together.n_y))[order],
        log_bf10=log_bf10[order],
        prob_h1=prob_h1[order],
        q=np.concatenate([q_values(prob) for prob in probs])[order],
        auc=weighed(auc, prob_h1)[order],
        direction=tuple(direction[order].tolist()),
        prob_larger=larger[order],
        prob_beyond_rope=(prob_h1 * beyond)[order],
        rope=asked.rope,
        share=shares[0],
        group_share=shares[1] if groups else None,
        fdr=asked.fdr,
        paired=asked.paired,
        paired_by=asked.paired_by,
        model=asked.model,
        groups=groups,
        skipped=unused | skipped,
        notes=notes,
    )
    return result.sorted_by(asked.sort)
