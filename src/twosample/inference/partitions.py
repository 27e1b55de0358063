"""Which groups are alike: partitions of k groups into blocks of one law each, and their prior.

A partition is a row of block numbers, one for each group, in the order of their first groups: (0, 0, 1) says that the
third of three groups differs from the others, which are alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

import numpy as np

from twosample.common.arrays import Array, Indices

__all__ = ["MOST_LISTED", "all_partitions", "blocks_of", "log_prior", "merged", "neighbours", "normalised"]

# So many groups have partitions few enough to look at all of them: 203.
MOST_LISTED = 6


def all_partitions(k: int) -> Indices:
    """All partitions of k groups, (Bell number, k); the first has all in one block."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(k):
        found = [(*row, block) for row in found for block in range(max(row, default=-1) + 2)]
    return np.array(found, dtype=np.int64)


def normalised(partition: Iterable[int]) -> tuple[int, ...]:
    """The partition with its blocks numbered in the order of their first groups."""
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(block, len(numbers)) for block in partition)


def merged(partition: tuple[int, ...], first: int, second: int) -> tuple[int, ...]:
    """With two blocks made one."""
    return normalised(first if block == second else block for block in partition)


def neighbours(partition: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All partitions in which one group is moved, to another block or to a block of its own."""
    found = {
        normalised((*partition[:group], block, *partition[group + 1 :])): None
        for group in range(len(partition))
        for block in range(max(partition) + 2)
    }
    return [one for one in found if one != partition]


def blocks_of(partition: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """The groups of each block."""
    found: dict[int, list[int]] = {}
    for group, block in enumerate(partition):
        found.setdefault(int(block), []).append(group)
    return tuple(map(tuple, found.values()))


def log_prior(partitions: Indices) -> Array:
    """Log prior probabilities of partitions with two blocks or more, given that the groups are not all alike, (P,).

    All numbers of blocks from 2 to k have equal prior weight, and so have all partitions with the same number.
    """
    k = partitions.shape[1]
    counts = partitions.max(axis=1) + 1
    return np.array([-math.log(k - 1) - math.log(_stirling(k, int(count))) for count in counts])


@cache
def _stirling(k: int, blocks: int) -> int:
    """Number of partitions of k groups into that number of blocks."""
    if blocks in (1, k):
        return 1
    return blocks * _stirling(k - 1, blocks) + _stirling(k - 1, blocks - 1)
