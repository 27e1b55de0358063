"""Columns are put in the same order and direction however they are given."""

from itertools import permutations, product

import numpy as np
import pytest

from twosample.features import orientation
from twosample.features.orientation import Orientation
from twosample.features.points import in_order

RNG = np.random.default_rng(0)
SIGNS = np.array(list(product((1.0, -1.0), repeat=3)))
NORMAL = RNG.normal(size=(60, 3)) @ (np.eye(3) + 0.4 * RNG.normal(size=(3, 3)))
DATA = {
    "normal": NORMAL,
    "heavy": RNG.standard_cauchy((60, 3)) ** 3,
    "huge": 1e200 * NORMAL,
    "integers": np.round(NORMAL),
    "two values": (NORMAL > 0.4).astype(float),
    "repeated": np.column_stack([NORMAL[:, 0], -NORMAL[:, 0], NORMAL[:, 1]]),
    # All margins are alike, and every column is even: only how columns go together tells them apart.
    "two columns go together": np.concatenate([SIGNS, SIGNS[SIGNS[:, 0] == SIGNS[:, 1]]]),
    "two columns go apart": np.concatenate([SIGNS, SIGNS[SIGNS[:, 0] == -SIGNS[:, 2]]]),
    "one value in a column": np.column_stack([NORMAL[:, :2], np.zeros(60)]),
}


@pytest.mark.parametrize("rows", DATA.values(), ids=DATA)
@pytest.mark.parametrize("most_values", [1 << 23, 61])
def test_any_order_and_direction_of_columns(rows, most_values, monkeypatch):
    if most_values < rows.size and rows.size < 61 * 3 - 5:
        pytest.skip("columns that only others tell apart are looked at together")
    monkeypatch.setattr(orientation, "_MOST_VALUES", most_values)
    expected = in_order(np.round(Orientation.of(rows).turn(rows) / np.abs(rows).max(), 12) + 0.0)
    for order, signs in product(permutations(range(3)), SIGNS):
        seen = RNG.permutation((rows * signs)[:, order])
        found = Orientation.of(seen[:7], seen[7:]).turn(seen)
        np.testing.assert_array_equal(in_order(np.round(found / np.abs(rows).max(), 12) + 0.0), expected)


def test_units_and_origins():
    rows, factors = DATA["integers"], np.array([4.0, 0.5, 1024.0])
    first, second = Orientation.of(rows), Orientation.of(rows * factors + 8.0)
    np.testing.assert_array_equal(first.order, second.order)
    np.testing.assert_array_equal(first.signs, second.signs)
