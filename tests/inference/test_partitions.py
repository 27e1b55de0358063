"""Partitions of groups: all of them, what is near one, and how likely they are."""

import numpy as np
import pytest

from twosample.inference.partitions import all_partitions, blocks_of, log_prior, merged, neighbours, normalised


@pytest.mark.parametrize(("k", "bell"), [(2, 2), (3, 5), (4, 15), (5, 52), (6, 203)])
def test_all_partitions_are_there_once(k, bell):
    found = [tuple(row) for row in all_partitions(k).tolist()]
    assert len(found) == len(set(found)) == bell
    assert found[0] == (0,) * k
    assert all(normalised(row) == row for row in found)
    assert sorted(group for block in blocks_of(found[-1]) for group in block) == list(range(k))


@pytest.mark.parametrize("k", [2, 3, 6, 7])
def test_the_prior_has_all_numbers_of_blocks_as_likely(k):
    partitions = all_partitions(k)[1:]
    prior = np.exp(log_prior(partitions))
    assert prior.sum() == pytest.approx(1.0)
    for count in range(2, k + 1):
        of_count = prior[partitions.max(axis=1) + 1 == count]
        assert of_count.sum() == pytest.approx(1.0 / (k - 1))
        assert np.ptp(of_count) < 1e-15


def test_neighbours_differ_by_one_group():
    for one in all_partitions(4).tolist():
        near = neighbours(tuple(one))
        assert tuple(one) not in near and len(set(near)) == len(near)
        together = np.equal.outer(one, one)
        for other in near:
            changed = np.equal.outer(other, other) != together
            assert any(not np.delete(np.delete(changed, group, 0), group, 1).any() for group in range(4))


def test_two_blocks_become_one():
    assert merged((0, 1, 2, 1), 1, 2) == (0, 1, 1, 1)
