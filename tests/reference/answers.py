"""Answers to 200 small questions, recorded once: a change of the structure must not change them.

``python -m tests.reference.answers --write [NAME ...]`` records all of them, or those named, anew. Do so only for an
answer that was wrong, and say why in the commit.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
from scipy import stats

import twosample as ts
from twosample import models

FILE = Path(__file__).with_suffix(".json")
CASES: dict[str, Callable[[], Any]] = {}
# The default of then did not treat few rows otherwise than many.
RECORDED_WITH = replace(models.PRESETS["adaptive"], few=None)
# Relative to the larger of 1 and the number itself.
TOLERANCE = 1e-10
# Of these, rounding decides between points or quantiles that tie, so that processors differ.
DECIDED_BY_ROUNDING = {
    "test option 9 points",
    "polars test 2",
    "pandas test 2",
    *(f"goodness {i}" for i in (1, 2, 4, 5, 7)),
}
ROUNDED_TOLERANCE = 0.05


def numbers(seed: int, n_x: int = 40, n_y: int = 55, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Two samples that differ in the mean and the spread of their first columns."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, d)), rng.normal(size=(n_y, d))
    y[:, 0] += 0.6
    y[:, -1] *= 1.7
    return x, y


def frames(seed: int, library: Any = pl, n: int = 60) -> tuple[Any, Any]:
    """Two tables with numbers, text, Booleans and dates."""
    rng = np.random.default_rng(seed)
    tables = []
    for shift in (0.0, 1.0):
        days = np.datetime64("2024-01-01") + rng.integers(0, 300, n).astype("timedelta64[D]")
        tables.append(
            library.DataFrame(
                {
                    "weight": rng.normal(60.0 + 4.0 * shift, 5.0, n),
                    "count": rng.poisson(3.0, n),
                    "place": rng.choice(["north", "south", "west"], n, p=[0.5 - 0.3 * shift, 0.3, 0.2 + 0.3 * shift]),
                    "smokes": rng.random(n) < 0.4,
                    "day": days.astype("datetime64[ms]"),
                }
            )
        )
    return tables[0], tables[1]


def strings(seed: int, n: int = 30) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    weights = ([0.25] * 4, [0.4, 0.1, 0.1, 0.4])
    x, y = (["".join(rng.choice(list("ACGT"), 25, p=p)) for _ in range(n)] for p in weights)
    return x, y


def case(name: str, ask: Callable[[], Any]) -> None:
    assert name not in CASES
    CASES[name] = ask


def _two_samples() -> None:
    for seed, (n_x, n_y, d) in enumerate([(5, 5, 1), (5, 200, 1), (40, 40, 1), (60, 45, 2), (30, 50, 6), (25, 25, 14)]):
        x, y = numbers(seed, n_x, n_y, d)
        case(f"test {n_x} {n_y} {d}", partial(ts.test, x, y, permutations=49))
        case(f"test same {n_x} {n_y} {d}", partial(ts.test, x, numbers(seed + 50, n_y, n_x, d)[0], permutations=19))
        case(f"each {n_x} {n_y} {d}", partial(ts.test_each, x, y))
        case(f"log_bf10 {n_x} {n_y} {d}", partial(ts.log_bf10, x, y, [0.3, 1.0, 4.0]))
        case(f"ties {n_x} {n_y} {d}", partial(ts.test, np.round(x), np.round(y), permutations=19))
        if n_x == n_y:
            case(f"pairs {n_x} {d}", partial(ts.test, x, y, paired=True, permutations=49))
            case(f"each pairs {n_x} {d}", partial(ts.test_each, x, y, paired=True))
    x, y = numbers(7)
    options: list[dict[str, Any]] = [
        *({"kernel": name} for name in ("laplace", "matern12", "matern32", "matern52", "rational_quadratic")),
        {"kernel": ["rbf", "laplace"], "permutations": 19},
        {"kernel": ts.kernels.RBF() + ts.kernels.Laplace()},
        {"kernel": ts.kernels.RBF() * ts.kernels.Matern(1.5)},
        {"points": 7},
        {"points": [[0.0, 0.0, 0.0], [1.0, -1.0, 0.5]]},
        {"subsets": None, "permutations": 19},
        {"subsets": "all"},
        {"subsets": [[0], [1, 2]], "permutations": 19},
        {"prior_odds": 0.1},
        {"rope": 0.6},
        *({"scale": scale} for scale in ("robust", "raw", [1.0, 2.0, 3.0])),
        {"tolerance": 1e-6},
        {"permutations": 30, "rng": 5},
        {"lengthscale": 1.3, "permutations": 19},
        {"lengthscale": "median"},
        {"keep_rows": True},
        {"columns": [0, 2]},
        {"drop": [1]},
        {"model": "paper"},
        {"model": "published"},
        {"categories": None},
    ]
    for number, some in enumerate(options):
        case(f"test option {number} {next(iter(some))}", partial(ts.test, x, y, **some))
        if not {"permutations", "rng", "kernel"} & set(some) and some.get("model") is None:
            case(f"pairs option {number} {next(iter(some))}", partial(ts.test, x, y[: len(x)], paired=True, **some))
    case("integers", partial(ts.test, np.arange(30), np.arange(30) ** 2 % 17))
    case("lists", partial(ts.test, [1.0, 2.5, 3.0, 4.5], [2.0, 6.5, 7.0, 8.0, 9.0], permutations=99))
    holes = x.copy()
    holes[[1, 5], 0] = np.nan
    case("test omit", partial(ts.test, holes, y, nan_policy="omit"))
    case("each omit", partial(ts.test_each, holes, y, nan_policy="omit"))
    case("ksample omit", partial(ts.ksample, [holes, y, y - 1], nan_policy="omit"))
    case("goodness omit", partial(ts.goodness, holes[:, 0], "norm(0, 1)", nan_policy="omit"))


def _tables() -> None:
    for library in (pl, pd):
        name = library.__name__
        for seed in range(3):
            x, y = frames(20 + seed, library)
            case(f"{name} test {seed}", partial(ts.test, x, y, permutations=19))
            case(f"{name} each {seed}", partial(ts.test_each, x, y))
        x, y = frames(30, library)
        case(f"{name} columns", partial(ts.test, x, y, columns=["weight", "place"]))
        case(f"{name} drop", partial(ts.test, x, y, drop=["weight"]))
        case(f"{name} categories", partial(ts.test, x, y, categories=["count"]))
        case(f"{name} pairs", partial(ts.test, x, y, paired=True))
        case(f"{name} ksample", partial(ts.ksample, [x, y], columns=["weight", "count"]))
        both = (
            pl.concat([x.with_columns(arm=pl.lit("a")), y.with_columns(arm=pl.lit("b"))])
            if library is pl
            else pd.concat([x.assign(arm="a"), y.assign(arm="b")], ignore_index=True)
        )
        case(f"{name} by", partial(ts.test, both, by="arm", permutations=19))
        case(f"{name} each by", partial(ts.test_each, both, by="arm"))
        case(f"{name} each groups", partial(ts.test_each, x, y, groups={"two": ["weight", "count"]}))
        case(f"{name} ksample by", partial(ts.ksample, both, by="arm", columns=["weight", "count"]))
        case(f"{name} independence", partial(ts.independence, both, x=["weight"], y=["arm"], permutations=19))
        case(f"{name} plan", partial(_planned, x, y))


def _planned(x: Any, y: Any) -> Any:
    plan = ts.plan(x, y)
    parts = [plan.statistics(x[:25], y[:40]), plan.statistics(x[25:], y[40:])]
    return plan.test(parts[0].merge(parts[1]))


def _other_questions() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        d = 1 + seed % 3
        groups = [rng.normal(0.8 * (group == 2), 1, size=(20 + 5 * group, d)) for group in range(3 + seed % 2)]
        case(f"ksample {seed}", partial(ts.ksample, groups, permutations=19))
        case(f"independence {seed}", partial(_independence, seed, d))
        case(f"goodness {seed}", partial(ts.goodness, groups[2], _law(d), simulations=9))
        case(f"simulator {seed}", partial(ts.goodness, groups[2], partial(_draw, d=d), draws=1500))
        case(f"monitor {seed}", partial(_watched, seed, d))
        case(f"reference {seed}", partial(_referred, groups[0], groups[2]))
    many = [np.random.default_rng(40 + g).normal(g // 3, 1, size=30) for g in range(7)]
    case("ksample 7 groups", partial(ts.ksample, many, permutations=9))
    for law in ("t(2)", "expon(0, 1)", "uniform(-2, 4)"):
        case(f"goodness {law}", partial(ts.goodness, np.random.default_rng(3).normal(size=80), law, simulations=9))
    case("monitor pairs", partial(_watched, 3, 2, paired=True))
    case("monitor frames", partial(_watched_reference, 4))


def _law(d: int) -> Any:
    return stats.norm(0, 1) if d == 1 else stats.multivariate_normal(np.zeros(d), np.eye(d) + 0.3 * (1 - np.eye(d)))


def _draw(size: int, rng: np.random.Generator, d: int) -> np.ndarray:
    return rng.normal(size=(size, d))


def _independence(seed: int, d: int) -> Any:
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(50, d))
    return ts.independence(first, first[:, 0] ** 2 + 0.5 * rng.normal(size=50), permutations=19)


def _watched(seed: int, d: int, **options: Any) -> Any:
    rng = np.random.default_rng(seed)
    monitor = ts.Monitor(permutations=19, points=15, **options)
    return [monitor.update(rng.normal(0, 1, (25, d)), rng.normal(0.5, 1, (25, d))) for _ in range(3)]


def _watched_reference(seed: int) -> Any:
    x, y = frames(seed)
    monitor = ts.Monitor(permutations=19, points=15, reference=x, columns=["weight", "count"])
    return [monitor.update(y[:20]), monitor.update(y[20:40])]


def _referred(x: np.ndarray, y: np.ndarray) -> Any:
    return ts.Reference.of(x).test(y)


def _objects() -> None:
    for seed in range(4):
        x, y = strings(seed)
        case(f"kmers {seed}", partial(ts.test, x, y, kernel="kmer", permutations=19))
        case(f"kernel {seed}", partial(ts.test, x, y, kernel=_letters, parameters=[0.5, 2.0]))
        case(f"own features {seed}", partial(ts.test, x, y, kernel="rbf", features=_shares))
        case(f"gram {seed}", partial(_gram, seed))
        case(f"graphs {seed}", partial(_graphs, seed))


def _shares(objects: Any) -> np.ndarray:
    return np.array([[one.count(letter) / len(one) for letter in "ACGT"] for one in objects])


def _letters(some: Any, others: Any, width: float) -> np.ndarray:
    squares = np.square(_shares(some)[:, None] - _shares(others)).sum(axis=2)
    return np.exp(-20.0 * squares / width)


def _gram(seed: int) -> Any:
    x, y = numbers(seed, 25, 30, 2)
    rows = np.concatenate([x, y])
    gram = np.exp(-0.5 * np.square(rows[:, None] - rows[::4]).sum(axis=2))
    return ts.test_gram(gram[:25], gram[25:], gram[::4], permutations=9)


def _graphs(seed: int) -> Any:
    rng = np.random.default_rng(seed)

    def graph(p: float) -> np.ndarray:
        upper = np.triu(rng.random((8, 8)) < p, 1)
        return (upper | upper.T).astype(int)

    return ts.test([graph(0.3) for _ in range(20)], [graph(0.5) for _ in range(20)], kernel="graph", permutations=9)


def _places() -> None:
    for number, place in enumerate(("blocks", "memory map", "lazy", "arrow", "parquet", "dask")):
        for seed in range(2):
            case(f"place {place} {seed}", partial(_at, place, 60 + seed, "test"))
        case(f"place {place} each", partial(_at, place, 70 + number, "test_each"))


def _at(place: str, seed: int, question: str) -> Any:
    x, y = numbers(seed, 300, 260, 2)
    ask = getattr(ts, question)
    names = ["u", "v"]
    if place == "blocks":
        return ask(ts.blocks([x[:100], x[100:]]), ts.blocks([y[:90], y[90:]]))
    if place == "dask":
        import dask.array as da

        return ask(da.from_array(x, chunks=(100, 2)), da.from_array(y, chunks=(100, 2)))
    tables = [pl.DataFrame(rows, schema=names, orient="row") for rows in (x, y)]
    with tempfile.TemporaryDirectory() as folder:
        if place == "lazy":
            return ask(tables[0].lazy(), tables[1].lazy())
        if place == "arrow":
            return ask(*(ds.dataset(pa.table({name: one[name].to_numpy() for name in names})) for one in tables))
        if place == "memory map":
            files = [Path(folder, name) for name in ("x.npy", "y.npy")]
            for file, rows in zip(files, (x, y), strict=True):
                np.save(file, rows)
            return ask(*(np.load(file, mmap_mode="r") for file in files))
        for name, one in zip("xy", tables, strict=True):
            Path(folder, name).mkdir()
            for start in (0, 150):
                one[start : start + 150].write_parquet(Path(folder, name, f"{start}.parquet"))
        return ask(*(pl.scan_parquet(Path(folder, name, "*.parquet")) for name in "xy"))


for _fill in (_two_samples, _tables, _other_questions, _objects, _places):
    _fill()


def facts_of(result: Any) -> Any:
    """All numbers of a result that a user may rely on, as JSON."""
    if isinstance(result, list):
        return [facts_of(one) for one in result]
    if isinstance(result, float | np.ndarray):
        return np.asarray(result).tolist()
    found: dict[str, Any] = {}
    scalars = "log_bf10 prob_h1 pvalue evalue log_evalue n_x n_y alarm share".split()
    arrays = "q auc n partition_log_bf10 pair_log_bf10 column_log_bf10 parameter_log_bf10".split()
    for name in (*scalars, *arrays):
        value = getattr(result, name, None)
        if value is not None and not callable(value):
            found[name] = np.asarray(value).tolist()
    for name in ("columns", "column"):
        if getattr(result, name, None) is not None:
            found[name] = list(getattr(result, name))
    for name in ("by_column", "by_parameter"):
        for row in getattr(result, name, None) or ():
            found.setdefault(name, []).append([row.log_bf10, getattr(row, "auc", None)])
    effect = getattr(result, "effect", None)
    if effect is not None:
        found["effect"] = [[one.mean, *map(float, one.interval())] for one in (effect.mmd, effect.auc)]
    return json.loads(json.dumps(found))


@cache
def recorded() -> dict[str, Any]:
    """What was recorded, by case."""
    return json.loads(FILE.read_text("utf-8"))


def answer(name: str) -> Any:
    """What the package answers now, by the default model of then."""
    with warnings.catch_warnings(), patch.dict(models.PRESETS, adaptive=RECORDED_WITH):
        warnings.simplefilter("ignore")
        return facts_of(CASES[name]())


def differences(now: Any, before: Any, at: str = "", tolerance: float = TOLERANCE) -> list[str]:
    """Where two answers differ by more than rounding."""
    if isinstance(before, dict):
        missing = [f"{at}.{name} is missing" for name in before if name not in now]
        return missing + [
            x for name in before if name in now for x in differences(now[name], before[name], f"{at}.{name}", tolerance)
        ]
    if isinstance(before, list):
        if len(now) != len(before):
            return [f"{at} has {len(now)} values, not {len(before)}"]
        return [
            x
            for i, (a, b) in enumerate(zip(now, before, strict=True))
            for x in differences(a, b, f"{at}[{i}]", tolerance)
        ]
    if isinstance(before, float) and isinstance(now, float | int):
        both_missing = math.isnan(before) and math.isnan(now)
        close = both_missing or abs(now - before) <= tolerance * max(1.0, abs(before)) or now == before
        return [] if close else [f"{at} is {now}, not {before}"]
    return [] if now == before else [f"{at} is {now!r}, not {before!r}"]


if __name__ == "__main__":
    wanted = sys.argv[2:] or list(CASES)
    kept = {} if not sys.argv[2:] else recorded()
    for case_name in wanted:
        kept[case_name] = answer(case_name)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in CASES)
    FILE.write_text(f"{{\n{lines}\n}}\n", "utf-8")
