"""Identifiers: which columns are taken for one, by their values and by their names."""

import time

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.data.identifiers import identifiers, named_like_one
from twosample.errors import IdentifierWarning

RNG = np.random.default_rng(0)


def column(values):
    return np.asarray(values, dtype=np.float64)[:, np.newaxis]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (range(1, 81), range(81, 161)),
        (range(1, 81), range(1, 81)),
        (range(1, 81), range(1, 41)),
        (RNG.permutation(160)[:80], range(160, 200)),
        (range(0, 100, 2), range(1, 101, 2)),
        (range(1000, 1160, 2), range(1160, 1200, 2)),
        ([*range(50), np.nan], [*range(50, 70), np.inf]),
        (range(5), range(5, 12)),
    ],
)
def test_row_numbers_are_found(x, y):
    assert identifiers(column(x), column(y), None) == [0]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (range(4), range(4, 8)),
        (np.arange(80) / 2, np.arange(80, 160) / 2),
        (np.arange(80) ** 2, np.arange(80, 160) ** 2),
        ([*range(79), 78], range(80, 160)),
        (range(40), range(20, 60)),
        (RNG.normal(size=40), RNG.normal(size=40)),
        ([np.nan] * 40, [np.nan] * 40),
    ],
)
def test_other_columns_are_not(x, y):
    assert identifiers(column(x), column(y), None) == []


LAWS = {
    "Poisson": lambda n: RNG.poisson(4, n),
    "large counts": lambda n: RNG.poisson(1000, n),
    "Likert": lambda n: RNG.integers(1, 6, n),
    "binary": lambda n: RNG.integers(0, 2, n),
    "rounded": lambda n: np.round(RNG.normal(0, 10, n)),
    "rounded, wide": lambda n: np.round(RNG.normal(0, n, n)),
    "uniform": lambda n: RNG.integers(0, 2 * n, n),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [20, 100, 1000])
def test_plain_data_are_not_accused(law, n):
    """At most one of 1,000 columns by the rule itself, for the law that favours it most."""
    columns = np.stack([LAWS[law](n) for _ in range(300)], axis=1).astype(np.float64)
    assert sum(len(identifiers(one[: n // 2, None], one[n // 2 :, None], None)) for one in columns.T) == 0
    assert identifiers(columns[: n // 2], columns[n // 2 :], None) == []


@pytest.mark.parametrize(
    "name",
    "id ID Id patient_id patientId PatientID sample.id Unnamed:\N{NO-BREAK SPACE}0 index row row_number RowNumber uuid "
    "primary_key key nr No. sample-no customer_id_2 rowid idx".split(" "),
)
def test_names_of_identifiers(name):
    assert named_like_one(name.replace("\N{NO-BREAK SPACE}", " "))


@pytest.mark.parametrize(
    "name",
    "grid acid idle video width idea humidity monkey turkey index_of_refraction price_index rows_used nitro casino "
    "annotation u v 0 17 throw keyboard Norway number_of_children".split(),
)
def test_names_of_other_columns(name):
    assert not named_like_one(name)


def test_a_name_needs_whole_numbers_that_mostly_differ():
    x, y = RNG.choice(10**6, size=(2, 30))
    assert identifiers(column(x), column(y), ("id",)) == [0]
    assert identifiers(column(x), column(y), ("weight",)) == []
    assert identifiers(column(x + 0.5), column(y), ("id",)) == []
    assert identifiers(column(x % 3), column(y % 3), ("id",)) == []


def test_many_columns_take_no_time():
    counts = RNG.poisson(1000, size=(200, 20_000)).astype(np.float64)
    counts[:, 123] = np.arange(200)
    names = tuple(f"gene_{place}" for place in range(20_000))
    start = time.perf_counter()
    assert identifiers(counts[:100], counts[100:], names) == [123]
    assert time.perf_counter() - start < 5.0  # about 0.1 s alone


@pytest.mark.parametrize("function", [ts.test, ts.test_each])
def test_the_warning_says_how_to_leave_it_out_and_changes_nothing(function):
    values = RNG.normal(size=160)
    frame = pl.DataFrame({"v": values, "number": range(1, 161)})
    with pytest.warns(IdentifierWarning, match=r"Column 'number' looks like .* decide the answer; .*drop=\['number'\]"):
        result = function(frame[:80], frame[80:])
    notes = result.notes if function is ts.test_each else result.diagnostics.notes
    assert any("'number' looks like an identifier" in note for note in notes)
    assert "number" in (result.column if function is ts.test_each else result.columns)
    assert (
        function(frame[:80], frame[80:], drop=["number"]).log_bf10 == function(frame[:80, :1], frame[80:, :1]).log_bf10
    )


def test_arrays_without_names_are_warned_about_too():
    with pytest.warns(IdentifierWarning, match="Column '0'"):
        assert ts.test(range(1, 81), range(81, 161)).log_bf10 > 10


@pytest.mark.parametrize("more", [0, 4])
def test_an_identifier_that_both_samples_share_does_not_decide_the_answer(more):
    x, y = (
        pl.DataFrame({"v": RNG.normal(size=80 + own), "id": RNG.permutation(80 + own), "w": RNG.normal(size=80 + own)})
        for own in (0, more)
    )
    with pytest.warns(
        IdentifierWarning, match=r"'id' .*, with the same values in both samples: it says nothing"
    ) as all:
        result = ts.test(x, y)
    assert len(all) == 1 and "decide" not in str(all[0].message)
    assert result.log_bf10 < 0


def test_identifiers_of_both_kinds_are_said_apart():
    x, y = (
        pl.DataFrame({"a": range(80), "b": range(start, start + 80), "c": RNG.permutation(80)}) for start in (0, 80)
    )
    with pytest.warns(IdentifierWarning) as found:
        ts.test(x, y)
    assert [str(one.message).split(" look")[0] for one in found] == ["Column 'b'", "Columns 'a', 'c'"]
