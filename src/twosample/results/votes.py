"""Blocks of rows that vote: log BF10 of each by the plan of all rows, for the mixture of hypotheses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arguments import count_of
from twosample.common.arrays import Array, Indices
from twosample.common.progress import Progress, progress_bar
from twosample.common.threads import one_thread
from twosample.data import Samples
from twosample.errors import InputError, Setting
from twosample.inference.relabelling import pairs_in_order
from twosample.results.robustness import by_models

if TYPE_CHECKING:
    from twosample.plan import Plan

__all__ = ["by_blocks", "deal"]

# Of each sample, in a block.
_FEWEST_ROWS = 2


def by_blocks(plans: Sequence[Plan], samples: Samples, count: int, *, progress: Progress = False) -> Array:
    """Log BF10 of each of `count` blocks of rows, (B,), by the plan of the test of all rows.

    Bayes factors by several plans, of tests with different kernels, are averaged.
    """
    if plans[0].lengthscales is None:
        raise InputError(
            f"over_blocks: model {plans[0].model.name!r} finds its lengthscales in all rows at once",
            argument="model",
            remedy=("use ", Setting("model", "adaptive")),
        )
    count = count_of(count, "count", 1)
    fewest = min(samples.n_x, samples.n_y)
    if fewest < _FEWEST_ROWS * count:
        raise InputError(
            f"count: {fewest} rows are too few for {count} blocks",
            argument="count",
            remedy=f"use at most {max(1, fewest // _FEWEST_ROWS)}, so that each has {_FEWEST_ROWS} rows of each sample",
        )
    x, y, block_x, block_y = deal(samples.x, samples.y, count, paired=samples.paired)
    found = np.empty(count)
    with progress_bar(progress) as report, one_thread():
        for block in range(count):
            part = replace(samples, x=x[block_x == block], y=y[block_y == block])
            logs = [by_models(plan, part, [plan.model])[0] for plan in plans]
            found[block] = np.logaddexp.reduce(logs) - np.log(len(logs))
            if report is not None:
                report((block + 1) / count)
    return found


def deal(x: Array, y: Array, count: int, *, paired: bool = False) -> tuple[Array, Array, Indices, Indices]:
    """Rows of both samples in an order of their own and the block of each, which looks random but follows from them.

    The order of the rows, their units and which sample is called x make no difference. Each sample has a shuffle of its
    own: with one for both, rows of the same rank would be in the same block.
    """
    if paired:
        left, right = pairs_in_order(x, y)
        blocks = np.random.default_rng(0).permutation(len(left)) % count
        return left, right, blocks, blocks
    sorted_x, sorted_y = (rows[np.lexsort(rows.T[::-1])] for rows in (x, y))
    first = _comes_first(sorted_x, sorted_y)
    seeds = (0, 1) if first else (1, 0)
    of_x, of_y = (
        np.random.default_rng(seed).permutation(len(rows)) % count
        for seed, rows in zip(seeds, (sorted_x, sorted_y), strict=True)
    )
    return sorted_x, sorted_y, of_x, of_y


def _comes_first(x: Array, y: Array) -> bool:
    """Whether sorted rows come before others: they are fewer, or smaller where they first differ."""
    if len(x) != len(y):
        return len(x) < len(y)
    different = np.flatnonzero(x.ravel() != y.ravel())
    return not different.size or bool(x.ravel()[different[0]] < y.ravel()[different[0]])
