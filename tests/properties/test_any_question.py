"""Whatever a table holds, every question has an answer that can be written and read again, or one of our refusals.

`numpy.errstate` of the caller raises whatever it can, and all warnings but ours are errors.
"""

import json
import math
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import twosample as ts
from twosample.errors import InputError, InputTypeError, TwoSampleWarning

LARGEST = np.finfo(np.float64).max
# Columns whose sums, differences and multiples by powers of two are exact, so that units and origins change no tie.
TAME = {
    "eighths": lambda rng, n: np.round(8 * rng.normal(size=n)) / 8,
    "halves": lambda rng, n: np.round(2 * rng.normal(size=n)) / 2,
    "whole": lambda rng, n: rng.integers(-2, 3, n).astype(float),
    "two values": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "one value": lambda rng, n: np.full(n, 3.0),
    "all but one": lambda rng, n: (np.arange(n) == 0).astype(float),
}
HOSTILE = {
    "huge": lambda rng, n: rng.normal(size=n) * 1e307,
    "at the limit": lambda rng, n: 2.0**1022 * rng.choice([-1.0, -1.0 + 2**-52, 0.0, 1.0 - 2**-53, 1.0], n),
    "largest": lambda rng, n: LARGEST * rng.choice([-1.0, 1.0, 1.0 - 2**-53, 0.5], n),
    "subnormal": lambda rng, n: 5e-324 * rng.integers(-9, 10, n),
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-300,
    "of all sizes": lambda rng, n: rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-320, 308, n),
    "one outlier": lambda rng, n: np.where(np.arange(n) == 0, 1e300, rng.normal(size=n)),
    "far from zero": lambda rng, n: 1e15 + rng.integers(0, 4, n),
    "hardly varies": lambda rng, n: 1.0 + 2.0**-52 * rng.integers(0, 3, n),
    "infinite": lambda rng, n: np.where(np.arange(n) == 0, rng.choice([-np.inf, np.inf]), rng.normal(size=n)),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "all missing": lambda rng, n: np.full(n, np.nan),
    "flags": lambda rng, n: rng.random(n) < 0.5,
    "large whole": lambda rng, n: rng.integers(-(2**63), 2**63 - 1, n),
    "text": lambda rng, n: rng.choice(["a", "b", "ä"], n).astype(object),
    "names": lambda rng, n: np.array([f"row {place}" for place in range(n)], dtype=object),
}
# Where a law, a lengthscale or a point may be.
SIZES = (1.0, 0.0, -1.0, 1e-320, 1e-300, 1e-160, 1e-8, 1e8, 1e150, 1e192, 1e300, 4.4e307, 4.6e307, LARGEST, math.inf)


class Tables:
    """Two tables of the same kinds of columns, from a seed."""

    def __init__(self, kinds, n_x, n_y, seed):
        self.kinds, self.rng = kinds, np.random.default_rng(seed)
        of = TAME | HOSTILE
        columns = [of[kind](self.rng, n_x + n_y) for kind in kinds]
        order = self.rng.permutation(n_x + n_y)
        self.columns = [values[order] for values in columns]
        self.n_x, self.n_y = n_x, n_y

    def __repr__(self):
        return f"Tables({self.kinds}, {self.n_x}, {self.n_y}): x, y = {self.both()!r}"

    def both(self):
        return self.held(slice(None, self.n_x)), self.held(slice(self.n_x, None))

    def held(self, rows):
        values = [column[rows] for column in self.columns]
        if all(column.dtype == np.float64 for column in values):
            return np.column_stack(values)
        return pl.DataFrame({f"c{place}": column for place, column in enumerate(values)}, strict=False)


@st.composite
def tables(draw, kinds):
    chosen = draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, max_size=3))
    return Tables(chosen, draw(st.integers(1, 7)), draw(st.integers(1, 7)), draw(st.integers(0, 2**16)))


def first_column(table):
    return table[:, 0] if isinstance(table, np.ndarray) else table.to_series(0)


def from_kernel_values(x, y, **options):
    """Products of the rows with the smallest of them; of text and flags those of their number."""
    rows = [first_column(table) for table in (x, y)]
    rows = [np.asarray(one if np.asarray(one).dtype.kind == "f" else [len(one)] * len(one), float) for one in rows]
    z = np.unique(np.concatenate(rows))[:4]
    with np.errstate(all="ignore"):
        given = [np.outer(one, z) for one in (*rows, z)]
    return ts.test_gram(*given, **options)


def monitored(x, y, **options):
    monitor = ts.Monitor(permutations=9, points=4, **options)
    monitor.update(x, y)
    return monitor.update(y, x)


def planned(x, y, **options):
    the_plan = ts.plan(x, y, points=4, **options)
    again = ts.Plan.from_json(the_plan.to_json())
    assert again.key == the_plan.key
    there = the_plan.statistics(x, None).merge(again.statistics(None, y))
    return again.test(ts.FeatureStatistics.from_bytes(there.to_bytes()))


def of_law(x, y, *, at=0.0, size=1.0, drawn=False, **options):
    rng = np.random.default_rng(1)
    if not drawn:
        return ts.goodness(first_column(x), f"norm({at!r}, {size!r})", points=4, **options)
    known = rng.normal(size=(1000, x.shape[1]))
    with np.errstate(all="ignore"):
        known = at + size * known
    return ts.goodness(x, lambda n, rng: rng.choice(known, n), draws=1000, points=4, **options)


def referred(x, y, *, points=4, **options):
    of_reference = {name: options.pop(name) for name in ("nan_policy", "lengthscale") if name in options}
    return ts.Reference.of(x, points=points, **of_reference).test(y, **options)


def paired(function):
    return lambda x, y, **options: function(x[: len(y)], y[: len(x)], **options)


MISSING = {"nan_policy": ("omit", "raise")}
COMMON = {**MISSING, "prior_odds": (1.0, 1e-300, 1e300)}
AT = {"lengthscale": (1.0, "median", *SIZES[3:])}
# A question, the options that it is asked with, and how many examples it has in the slow tests.
QUESTIONS = {
    "at a lengthscale": (
        lambda x, y, **options: ts.test(x, y, **{"points": 4, "lengthscale": 1.0, **options}),
        {
            **COMMON,
            **AT,
            "scale": ("robust", "raw", 1e-320, 1e300),
            "keep_rows": (False, True),
            "points": (4, *([[size] for size in SIZES[3:]])),
            "kernel": ("rbf", "laplace", "rational_quadratic"),
        },
        1000,
    ),
    "all columns": (
        lambda x, y, **options: ts.test(x, y, points=4, **options),
        {**COMMON, "subsets": (None, "auto"), "kernel": ("rbf", "matern32"), "permutations": (0, 9)},
        150,
    ),
    "pairs": (paired(lambda x, y, **o: ts.test(x, y, points=4, paired=True, **o)), {**COMMON, **AT}, 300),
    "the models of the paper": (
        paired(lambda x, y, **o: ts.test(x, y, points=4, **o)),
        {**MISSING, **AT, "model": ("paper", "published"), "paired": (True, False), "scale": ("robust", "raw")},
        200,
    ),
    "log BF10": (
        lambda x, y, **options: ts.log_bf10(x, y, **{"lengthscale": 1.0, **options}, points=4),
        {**MISSING, "lengthscale": (1.0, list(SIZES[3:-1]), *SIZES[3:]), "scale": ("robust", "raw", 1e-320, 1e300)},
        2800,
    ),
    "each column": (ts.test_each, {**MISSING, "rope": (None, 0.6), "paired": (False, True)}, 900),
    "groups": (
        lambda x, y, **options: ts.ksample({"a": x, "b": y, "c": x}, points=4, **options),
        {**COMMON, "lengthscale": (1.0, "median"), "reference": (None, "a")},
        120,
    ),
    "a law": (
        of_law,
        {
            **MISSING,
            "at": (0.0, *SIZES),
            "size": SIZES,
            "lengthscale": (1.0, "median"),
            "drawn": (False, True),
            "subsets": (None,),
        },
        300,
    ),
    "independence": (
        paired(lambda x, y, **o: ts.independence(x, y, points=4, **o)),
        {**COMMON, "permutations": (0, 9)},
        700,
    ),
    "a stream": (monitored, {**MISSING, "paired": (False, True), "alpha": (0.05, 1e-300)}, 80),
    "a reference": (referred, {**MISSING, "lengthscale": (1.0, "median", 1e300)}, 350),
    "a plan": (planned, {**MISSING, **AT, "scale": ("robust", "raw")}, 150),
    "kernel values": (from_kernel_values, {"prior_odds": (1.0, 1e300)}, 800),
    "JZS": (lambda x, y, **o: ts.baselines.jzs(first_column(x), first_column(y), **o), COMMON, 900),
    "Holmes": (lambda x, y, **o: ts.baselines.holmes(first_column(x), first_column(y), **o), COMMON, 500),
    "Chen and Hanson": (ts.baselines.chen_hanson, COMMON, 350),
    "MMD": (lambda x, y, **o: ts.baselines.mmd(x, y, permutations=9, **o), {**MISSING, **AT}, 400),
}


@st.composite
def options_of(draw, question):
    """Few of the options, each with one of its values."""
    _, offered, _ = QUESTIONS[question]
    names = draw(st.lists(st.sampled_from(sorted(offered)), max_size=2, unique=True))
    return {name: draw(st.sampled_from(offered[name])) for name in names}


def numbers_in(content):
    if isinstance(content, dict | list):
        for value in content.values() if isinstance(content, dict) else content:
            yield from numbers_in(value)
    elif isinstance(content, float):
        yield content


def answered(question, x, y, options):
    """The answer, with all that is written of it checked; None where it is refused."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TwoSampleWarning)
        try:
            result = QUESTIONS[question][0](x, y, **options)
        except (InputError, InputTypeError) as refused:
            assert refused.argument, refused
            return None
        if not hasattr(result, "to_json"):
            assert not np.isnan(result).any()
            return result
        written = result.to_json()
        assert all(map(math.isfinite, numbers_in(json.loads(written))))
        read = type(result).from_json(written) if hasattr(type(result), "from_json") else result
        assert read.summary() == result.summary()
        assert "nan" not in result.summary().split()
        if hasattr(result, "log_bf10"):
            assert np.array_equal(read.log_bf10, result.log_bf10)
            assert np.all((np.asarray(result.prob_h1) >= 0.0) & (np.asarray(result.prob_h1) <= 1.0))
        assert result.facts() is not None and result.tables() is not None and result.panels() is not None
    return result


# What leaves the answer alone: changes of two tables of numbers; of pairs, rows stay together.
def swapped(x, y, rng):
    return y, x


def other_order(x, y, rng):
    order = rng.permutation(max(len(x), len(y)))
    return x[order[order < len(x)]], y[order[order < len(y)]]


def other_columns(x, y, rng):
    return x[:, ::-1], y[:, ::-1]


def reflected(x, y, rng):
    signs = np.where(np.arange(x.shape[1]) == 0, -1.0, 1.0)
    return x * signs, y * signs


def shifted(x, y, rng):
    by = 2.0 ** rng.integers(-2, 10, x.shape[1])
    return x + by, y + by


def scaled(x, y, rng):
    by = 2.0 ** rng.integers(-900, 900, x.shape[1])
    return x * by, y * by


ROWS = (swapped, other_order)
UNITS = (reflected, shifted, scaled)
UNCHANGED = {
    "at a lengthscale": (*ROWS, other_columns, *UNITS),
    "all columns": (*ROWS, other_columns, *UNITS),
    "pairs": (*ROWS, other_columns, *UNITS),
    "log BF10": (*ROWS, other_columns, *UNITS),
    "each column": (*ROWS, other_columns, *UNITS),
    "groups": (other_order, other_columns, *UNITS),
    "a law": (other_order,),
    "independence": (*ROWS, other_columns, *UNITS),
    "a stream": (*ROWS, other_columns, *UNITS),
    "a reference": (other_order, scaled),
    "a plan": (*ROWS, other_columns, *UNITS),
    "kernel values": ROWS,
    "JZS": (*ROWS, *UNITS),
    "Holmes": (*ROWS, shifted, scaled),
    "Chen and Hanson": ROWS,
}
# A lengthscale in the units of one column changes with these.
STANDARD = {"at a lengthscale": {"lengthscale": "median"}, "log BF10": {"lengthscale": "median"}}


def unchanged(question, both, seed):
    """Nothing that must leave the answer alone changes it."""
    (x, y), options = both.both(), STANDARD.get(question, {})
    if question in ("pairs", "independence"):
        x, y = x[: len(y)], y[: len(x)]
    first = answered(question, x, y, options)
    for change in UNCHANGED[question]:
        rng = np.random.default_rng(seed)
        second = answered(question, *change(x, y, rng), options)
        assert (first is None) == (second is None), change.__name__
        if first is not None:
            logs = [np.sort(np.atleast_1d(getattr(one, "log_bf10", one))) for one in (first, second)]
            np.testing.assert_allclose(*logs, rtol=1e-9, atol=1e-8, err_msg=change.__name__)


def examples(count):
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def ask_many(question, count):
    @examples(count)
    @given(tables(TAME | HOSTILE), options_of(question))
    def ask(both, options):
        answered(question, *both.both(), options)

    ask()


def change_many(question, count):
    @examples(count)
    @given(tables(TAME), st.integers(0, 2**16))
    def change(both, seed):
        unchanged(question, both, seed)

    change()


@pytest.mark.parametrize("question", UNCHANGED)
def test_what_says_nothing_changes_nothing(question):
    change_many(question, 2)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("question", UNCHANGED)
def test_what_says_nothing_changes_nothing_in_many_tables(question):
    change_many(question, 5 + QUESTIONS[question][2] // 50)


@pytest.mark.parametrize("question", QUESTIONS)
def test_any_table_has_an_answer_or_is_refused(question):
    ask_many(question, 12)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_ten_thousand_tables_have_an_answer_or_are_refused(question):
    ask_many(question, QUESTIONS[question][2])


X, Y = np.array([[0.5], [1.0], [-2.0], [0.25], [3.0]]), np.array([[1.5], [0.0], [-1.0], [2.5]])
FAR = (
    np.array([[-2e-110, 4.21e18], [1.2e-308, 1.66e18], [-8.4e-29, 6.14e18], [1.57e302, -5.03e18]]),
    np.array([[1.2e-66, 6.85e18], [6e21, -4.18e18], [8.5e261, -1.35e18], [-1e-39, -6e17]]),
)
# What was found, and whether there is an answer.
FOUND = [
    ("at a lengthscale", X, Y, {"lengthscale": 1e300}, True),
    ("log BF10", 5e-324 * np.arange(5), 5e-324 * np.arange(4), {"lengthscale": LARGEST}, True),
    ("log BF10", X, Y, {"scale": 1e-320}, False),
    ("at a lengthscale", X, Y, {"points": [LARGEST], "scale": 1e-300}, False),
    ("a law", 1e18 * X, Y, {"size": 1e-300}, True),
    ("a law", LARGEST / 4 * X, Y, {}, False),
    ("a law", X, Y, {"size": 1e307}, True),
    ("all columns", 4.4e307 * np.sign(X) + 1e305 * X, 4.4e307 * np.sign(Y) + 1e305 * Y, {"subsets": None}, True),
    ("a law", X, Y, {"size": 0.0}, False),
    ("at a lengthscale", 1e10 * X, Y, {"scale": 1e-300}, False),
    ("a reference", 5e-321 * np.arange(9.0), 2e-321 * np.arange(4.0), {}, True),
    ("independence", np.arange(8.0) * (LARGEST / 8), np.arange(8.0), {}, False),
    ("kernel values", 1e96 * X, 1e96 * Y, {}, True),
    ("kernel values", 1e-160 * X, 1e-160 * Y, {}, True),
    ("kernel values", np.array([[1e120], [1.0], [2.0]]), np.array([[1.0], [3.0], [-1.0]]), {}, False),
    ("the models of the paper", *FAR, {"model": "paper", "scale": "robust"}, False),
]


@pytest.mark.parametrize("case", range(len(FOUND)))
def test_what_was_found(case):
    question, x, y, options, has_answer = FOUND[case]
    x, y = (np.asarray(one, dtype=float).reshape(len(one), -1) for one in (x, y))
    assert (answered(question, x, y, options) is not None) == has_answer


def test_there_are_ten_thousand():
    assert sum(count for *_, count in QUESTIONS.values()) == 10_000


DRAWN = [name for name in QUESTIONS if name not in ("log BF10", "JZS", "Chen and Hanson", "MMD")]


@pytest.mark.parametrize(
    "question",
    [name if name == "all columns" else pytest.param(name, marks=pytest.mark.slow) for name in DRAWN],
)
@pytest.mark.parametrize("size", [1.0, 1e307])
def test_all_outputs_whatever_the_caller_has_set(question, size, tmp_path):
    """Figures, pages, text and tables of ordinary and of huge numbers."""
    matplotlib = pytest.importorskip("matplotlib.pyplot")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 9, 2)) * size
    options = {"size": size} if question == "a law" else {"lengthscale": "median"} if "length" in question else {}
    result = answered(question, x, y, options)
    if result is None:
        assert (question, size) == ("kernel values", 1e307)
        return
    with np.errstate(all="raise"):
        matplotlib.close(result.plot())
        assert result.report(tmp_path / "page.html").exists()
        assert result.text() and repr(result) and result._repr_html_()
        assert len(result.to_frame("polars"))
        if result.has_robustness:
            assert result.robustness().summary()
