"""Sides: functions of the rows that are uncorrelated and of variance 1, against dense linear algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twosample.questions.independence import sides
from twosample.questions.independence.sides import MULTIPLES, OTHER_LEVELS, Axis, Column, Side


def scores(n=60, seed=0, decimals=None):
    values = np.random.default_rng(seed).normal(size=n)
    return Column("a", values if decimals is None else values.round(decimals)).coordinates()


@pytest.mark.parametrize(
    "rows", [scores(), scores(decimals=0), np.eye(4)[np.arange(60) % 4], np.c_[scores(), scores(60, 1)]]
)
def test_functions_have_mean_0_variance_1_and_no_correlation(rows):
    side = Side.of(rows, 16)
    for values, shares in zip(side.functions(rows), side.shares, strict=True):
        there = shares > 0
        assert_allclose(values.mean(axis=0), 0.0, atol=1e-6)
        assert_allclose((values.T @ values / len(rows))[np.ix_(there, there)], np.eye(there.sum()), atol=1e-5)
        assert (values[:, ~there] == 0.0).all()
        assert_allclose(shares.sum(), 1.0)
        assert (np.diff(shares) <= 1e-12).all()


def test_with_every_row_a_point_they_are_the_principal_components_of_the_centred_kernel():
    rows = scores(12)
    side = Side.of(rows, 40)
    for lengthscale, values, shares in zip(side.lengthscales, side.functions(rows), side.shares, strict=True):
        kernel = np.exp(-((rows - rows.T) ** 2) / (2 * lengthscale**2))
        centring = np.eye(12) - 1 / 12
        variances, vectors = np.linalg.eigh(centring @ kernel @ centring)
        variances, vectors = variances[::-1], vectors[:, ::-1]
        kept = variances[:10].sum()
        clear = variances[:3] > 1e-3 * variances[0]
        assert_allclose(shares[:3][clear], (variances[:3] / kept)[clear], rtol=1e-4)
        for place in np.flatnonzero(clear):
            assert_allclose(np.abs(values[:, place] @ vectors[:, place]) / np.sqrt(12), 1.0, rtol=1e-4)


def test_fourth_moments():
    rows = scores()
    side = Side.of(rows, 16)
    assert_allclose(side.kurtosis, (side.functions(rows) ** 4).mean(axis=1))


def test_blocks_of_rows_change_nothing(monkeypatch):
    rows = scores(200)
    whole = Side.of(rows, 16)
    monkeypatch.setattr(sides, "_BLOCK_ROWS", 7)
    parts = Side.of(rows, 16)
    assert_allclose(parts.shares, whole.shares, atol=1e-12)
    assert_allclose(parts.kurtosis[:, :3], whole.kurtosis[:, :3], rtol=1e-6)


def test_lengthscales_are_multiples_of_the_median_heuristic():
    rows = np.array([[0.0], [1.0], [3.0]])[np.arange(30) % 3]
    assert_allclose(Side.of(rows, 16).lengthscales, 2.0 / np.sqrt(2.0) * MULTIPLES)


def test_kernel_of_categories_depends_on_whether_they_are_the_same():
    rows = Column("a", np.arange(30.0) % 3, ("u", "v", "w")).coordinates()
    side = Side.of(rows, 16)
    assert len(side.points) == 3
    for lengthscale, values in zip(side.lengthscales, side.features(rows), strict=True):
        same = (rows[:, None] == side.points).all(axis=2)
        assert_allclose(values, np.where(same, 1.0, np.exp(-1.0 / lengthscale**2)))


def test_axis_has_the_normal_scores_of_the_column_at_its_knots():
    values = np.random.default_rng(0).exponential(size=2000)
    column = Column("a", values)
    found = Axis.of(column).coordinates(values.tolist())
    assert_allclose(found, column.coordinates(), atol=0.75)
    inner = np.abs(column.coordinates()) < 1.5
    assert_allclose(found[inner], column.coordinates()[inner], atol=0.06)
    assert len(Axis.of(column).knots) <= 33


def test_axis_of_a_category_with_rare_levels_knows_all():
    axis = Axis("a", np.empty(0), np.empty(0), ("u", OTHER_LEVELS))
    assert axis.knows("never seen")
    assert axis.coordinates(["u", "never seen"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert not Axis("a", np.empty(0), np.empty(0), ("u", "v")).knows("never seen")
