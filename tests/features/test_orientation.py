"""Columns are put in the same order and direction however they are given."""

from itertools import permutations, product

import numpy as np
import pytest

from twosample.data.ranks import mid_ranks, normal_scores
from twosample.features import orientation
from twosample.features.orientation import Orientation
from twosample.features.points import in_order

RNG = np.random.default_rng(0)
SIGNS = np.array(list(product((1.0, -1.0), repeat=3)))
EVEN = np.concatenate([SIGNS, 0.3 * SIGNS])
SIZES = np.concatenate([SIGNS * sizes for sizes in permutations((1.0, 0.3, 0.1))])
NORMAL = RNG.normal(size=(60, 3)) @ (np.eye(3) + 0.4 * RNG.normal(size=(3, 3)))
DATA = {
    "normal": NORMAL,
    "heavy": RNG.standard_cauchy((60, 3)) ** 3,
    "huge": 1.7e308 * (NORMAL / np.abs(NORMAL).max()),
    "ranks of two columns": normal_scores(mid_ranks(NORMAL[:, :2])),
    "integers": np.round(NORMAL),
    "two values": (NORMAL > 0.4).astype(float),
    "repeated": np.column_stack([NORMAL[:, 0], -NORMAL[:, 0], NORMAL[:, 1]]),
    # All margins are alike, and every column is even: only how columns go together tells them apart.
    "two columns go together": EVEN[np.r_[:16, np.flatnonzero(EVEN[:, 0] == EVEN[:, 1])]],
    "two columns go apart": EVEN[np.r_[:16, np.flatnonzero(EVEN[:, 0] == -EVEN[:, 2])]],
    "two columns of other sizes go together": np.concatenate([SIZES, SIZES[SIZES[:, 0] * SIZES[:, 1] > 0]]),
    "one moment is the same": np.column_stack(
        [[2, 0, 2, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 3, 1], [0, 0, 0, 0, 2, 0, 0, 0, 1, 1, 1, 1, 1, 1, -1, -1]]
    ).astype(float),
    "one value in a column": np.column_stack([NORMAL[:, :2], np.zeros(60)]),
}


@pytest.mark.parametrize("rows", DATA.values(), ids=DATA)
@pytest.mark.parametrize("most_values", [1 << 23, 61])
def test_any_order_and_direction_of_columns(rows, most_values, monkeypatch):
    if most_values < 100 and len(rows) not in (16, 60):
        pytest.skip("columns that only others tell apart are looked at together")
    monkeypatch.setattr(orientation, "_MOST_VALUES", most_values)
    expected = in_order(np.round(Orientation.of(rows).turn(rows) / np.abs(rows).max(), 12) + 0.0)
    columns = rows.shape[1]
    for order, signs in product(permutations(range(columns)), np.unique(SIGNS[:, :columns], axis=0)):
        seen = RNG.permutation((rows * signs)[:, order])
        found = Orientation.of(seen[:7], seen[7:]).turn(seen)
        np.testing.assert_array_equal(in_order(np.round(found / np.abs(rows).max(), 12) + 0.0), expected)


@pytest.mark.parametrize("rows", [np.round(NORMAL), RNG.poisson(0.2, (60, 3)).astype(float)])
def test_units_and_origins(rows):
    seen = rows * [4.0, 0.5, 1024.0] + 8.0
    np.testing.assert_array_equal(orientation._bounded([rows]), orientation._bounded([seen[:9], seen[9:]]))
