"""What works with what: every question with every kind of data, place, option and output.

Each cell asks a question of data with a planted difference. It works if the difference is seen, or is refused by one
sentence of the package. ``python -m tests.contract.table`` records the outcome of every cell in `table.json` and writes
the page of the documentation from it.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
from scipy import sparse

import twosample as ts
from twosample.errors import InputError, InputTypeError, MissingExtraError

FILE = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).parents[2] / "docs/what_works.md"
ROWS = 90
PLANTED = "level"
REFUSALS = (InputError, InputTypeError, MissingExtraError)


@dataclass(frozen=True)
class Data:
    """Two samples of one kind, drawn by a function of a size, a generator and whether they differ."""

    draw: Callable[[int, np.random.Generator, bool], Any]
    join: Callable[[Any, Any], Any] = lambda x, y: np.concatenate([x, y])
    options: dict[str, Any] = field(default_factory=dict)
    wrap: Callable[[Any], Any] = lambda one: one

    def sample(self, seed: int, different: bool) -> Any:
        return self.wrap(self.draw(ROWS, np.random.default_rng(seed), different))


def array(size: int, rng: np.random.Generator, different: bool) -> np.ndarray:
    rows = rng.normal(size=(size, 2))
    rows[:, 0] += 1.5 * different
    return rows


def frame(size: int, rng: np.random.Generator, different: bool) -> pl.DataFrame:
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, size).astype("timedelta64[D]")
    return pl.DataFrame(
        {
            PLANTED: rng.normal(1.5 * different, 1.0, size),
            "place": rng.choice(["north", "south", "west"], size, p=[0.1, 0.2, 0.7] if different else [0.6, 0.3, 0.1]),
            "smokes": rng.random(size) < 0.4,
            "day": days.astype("datetime64[ms]"),
        }
    )


def with_gaps(size: int, rng: np.random.Generator, different: bool) -> pl.DataFrame:
    table = frame(size, rng, different).select(PLANTED)
    gaps = pl.Series(rng.random(size) < 0.1)
    return table.with_columns(pl.when(gaps).then(None).otherwise(pl.col(PLANTED)).alias(PLANTED))


def strings(size: int, rng: np.random.Generator, different: bool) -> list[str]:
    weights = [0.4, 0.1, 0.1, 0.4] if different else [0.25] * 4
    return ["".join(rng.choice(list("ACGT"), 30, p=weights)) for _ in range(size)]


def graphs(size: int, rng: np.random.Generator, different: bool) -> list[np.ndarray]:
    upper = np.triu(rng.random((size, 8, 8)) < (0.55 if different else 0.25), 1)
    return [(one | one.T).astype(int) for one in upper]


def shares(objects: Any) -> np.ndarray:
    return np.array([[one.count(letter) / len(one) for letter in "ACGT"] for one in objects])


def own_kernel(some: Any, others: Any, _: Any) -> np.ndarray:
    return np.exp(-20.0 * np.square(shares(some)[:, None] - shares(others)).sum(axis=2))


def added(x: Any, y: Any) -> Any:
    return [*x, *y]


def stacked(x: Any, y: Any) -> Any:
    return pl.concat([x, y])


def named(rows: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=[PLANTED, "other"], orient="row")


KINDS = {
    "numbers, 1-D": Data(lambda size, rng, different: array(size, rng, different)[:, 0]),
    "array": Data(array),
    "sparse matrix": Data(array, wrap=sparse.csr_array),
    "polars frame": Data(frame, stacked),
    "pandas frame": Data(lambda *a: frame(*a).to_pandas(), lambda x, y: pd.concat([x, y], ignore_index=True)),
    "missing values": Data(with_gaps, stacked, {"nan_policy": "omit"}),
    "strings": Data(strings, added, {"kernel": "kmer"}),
    "graphs": Data(graphs, added, {"kernel": "graph"}),
    "own kernel": Data(strings, added, {"kernel": own_kernel}),
    "own features": Data(strings, added, {"features": shares}),
}


def memory_map(rows: np.ndarray) -> np.ndarray:
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file.name, rows)
        return np.load(file.name, mmap_mode="r")


def parquet(rows: np.ndarray) -> Any:
    folder = Path(tempfile.mkdtemp(prefix="twosample-contract-"))
    for start in (0, 40):
        named(rows)[start : None if start else 40].write_parquet(folder / f"{start}.parquet")
    return pl.scan_parquet(folder / "*.parquet")


def dask_array(rows: np.ndarray) -> Any:
    import dask.array as da

    return da.from_array(rows, chunks=(40, 2))


def device_array(rows: np.ndarray) -> Any:
    import jax

    with jax.enable_x64(True):
        return jax.numpy.asarray(rows)


PLACES = {
    "memory": lambda rows: rows,
    "blocks": lambda rows: ts.blocks([rows[:40], rows[40:]]),
    "memory map": memory_map,
    "lazy frame": lambda rows: named(rows).lazy(),
    "Arrow dataset": lambda rows: ds.dataset(pa.table({PLANTED: rows[:, 0], "other": rows[:, 1]})),
    "Parquet folder": parquet,
    "Dask": dask_array,
    "device": device_array,
}

OPTIONS: dict[str, dict[str, Any]] = {
    "by": {},
    "columns": {"columns": [PLANTED]},
    "drop": {"drop": ["other"]},
    "categories": {"categories": ["code"]},
    "kernel": {"kernel": "laplace"},
    "list of kernels": {"kernel": ["rbf", "laplace"]},
    "points": {"points": 10},
    "subsets": {"subsets": [[PLANTED]]},
    "prior_odds": {"prior_odds": 0.5},
    "permutations": {"permutations": 19},
    "rope": {"rope": 0.55},
    "nan_policy": {"nan_policy": "omit"},
    "scale": {"scale": "raw"},
    "tolerance": {"tolerance": 0.01},
    "lengthscale": {"lengthscale": 1.0},
    "rng": {"rng": 3},
    "progress": {"progress": lambda share: None},
    "keep_rows": {"keep_rows": True},
    "pairs by a column": {"paired": "id"},
}
OUTPUTS = "print notebook plot report text JSON to_frame robustness".split()


def ask(question: str, data: Data, **options: Any) -> Any:
    """The answer to a question of data of that kind, with what planted the difference."""
    options = {**data.options, **options}
    x, y = data.sample(1, False), data.sample(2, True)
    if question == "two samples":
        return ts.test(x, y, **options)
    if question == "pairs":
        return ts.test(x, y, paired=True, **options)
    if question == "each column":
        return ts.test_each(x, y, **options)
    if question == "k groups":
        return ts.ksample({"a": x, "b": data.sample(3, False), "c": y}, **options)
    if question == "a law":
        return ts.goodness(y, lambda size, rng: data.draw(size, rng, False), draws=1000, **options)
    if question == "independence":
        labels = np.repeat([0.0, 1.0], ROWS)
        raw = [data.draw(ROWS, np.random.default_rng(seed), seed == 2) for seed in (1, 2)]
        return ts.independence(data.wrap(data.join(*raw)), labels, **options)
    if question == "a stream":
        monitor = ts.Monitor(**{"permutations": 99, "points": 20, **options})
        state = None
        for seed in range(10, 14):
            state = monitor.update(data.sample(seed, False), data.sample(seed + 20, True))
        return state
    if question == "a design":
        return ts.design(x, y, **{"sizes": [20, 200], "draws": 60, **options})
    assert question == "a reference"
    of_test = set(signature(ts.Reference.test).parameters)
    in_both = {"nan_policy"}
    reference = ts.Reference.of(x, **{name: options[name] for name in options if name not in of_test - in_both})
    return reference.test(y, **{name: options[name] for name in options if name in of_test})


QUESTIONS = (
    "two samples", "pairs", "each column", "k groups", "a law", "independence", "a stream", "a reference", "a design"
)  # fmt: skip


def seen(question: str, result: Any) -> bool:
    """Whether the planted difference is seen, and named: the column, or the group, that differs."""
    if question == "a design":
        return result.at(200).found > 0.95 and result.at(200).false_alarm < 0.05
    if np.max(result.prob_h1) <= 0.95:
        return False
    if question == "k groups":
        return result.partitions[0].groups == (("a", "b"), ("c",))
    if question == "independence":
        return any(row.prob > 0.95 for row in result.by_pair if row.x in (PLANTED, "x", "x0", "component 1 of x"))
    if question == "each column":
        return bool({PLANTED, "0"} & set(result.discoveries))
    if isinstance(result, ts.ObjectsResult) or not len(result.by_column):
        return True
    return any(row.prob > 0.95 for row in result.by_column if row.column in (PLANTED, "0"))


def with_option(question: str, option: str) -> Any:
    """The answer with an option that means something for these data."""
    options = OPTIONS[option]
    if option == "by":
        x, y = frame(ROWS, np.random.default_rng(1), False), frame(ROWS, np.random.default_rng(2), True)
        both = pl.concat([x.with_columns(arm=pl.lit("a")), y.with_columns(arm=pl.lit("b"))])
        functions = {"two samples": ts.test, "each column": ts.test_each, "k groups": ts.ksample}
        functions["a design"] = partial(ts.design, sizes=[20, 200], draws=60)
        if question == "pairs":
            return ts.test(both, by="arm", paired=True)
        if question == "k groups":
            third = frame(ROWS, np.random.default_rng(3), False).with_columns(arm=pl.lit("c"))
            both = pl.concat([both.with_columns(pl.col("arm").replace("b", "c")), third.with_columns(arm=pl.lit("b"))])
        if question not in functions:
            return ask(question, KINDS["polars frame"], by="arm")
        return functions[question](both, by="arm")
    if option == "pairs by a column":

        def numbered(size: int, rng: np.random.Generator, different: bool) -> pl.DataFrame:
            return named(array(size, rng, different)).with_columns(id=rng.permutation(size))

        return ask("two samples" if question == "pairs" else question, Data(numbered, stacked), **options)
    if option == "categories":
        data = Data(lambda *a: named(array(*a)).with_columns(code=pl.Series(np.arange(a[0]) % 3)), stacked)
        return ask(question, data, **options)
    return ask(question, Data(lambda *a: named(array(*a)), stacked), **options)


def shown(question: str, output: str, made: dict[str, Any]) -> Any:
    """The output of an answer; something must be there."""
    result = made.setdefault(question, None) or ask(question, Data(lambda *a: named(array(*a)), stacked))
    made[question] = result
    if output == "print":
        return str(result)
    if output == "notebook":
        return result._repr_html_()
    if output == "plot":
        return result.plot()
    if output == "report":
        with tempfile.TemporaryDirectory() as folder:
            result.report(Path(folder, "page.html"))
            return Path(folder, "page.html").read_text("utf-8")
    if output == "text":
        return result.text()
    if output == "JSON":
        again = type(result).from_json(result.to_json())
        assert again == result or np.array_equal(again.log_bf10, result.log_bf10)
        return again
    if output == "to_frame":
        return result.to_frame()
    return result.robustness()


def cells() -> Iterator[tuple[str, str, str]]:
    """All cells of the table: axis, value, question."""
    for axis, values in (("data", KINDS), ("place", PLACES), ("option", OPTIONS), ("output", OUTPUTS)):
        for value in values:
            for question in QUESTIONS:
                yield axis, value, question


_MADE: dict[str, Any] = {}


def outcome(axis: str, value: str, question: str) -> str:
    """ "works", or the sentence of the refusal; whatever else is raised is a defect."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            if axis == "output":
                assert shown(question, value, _MADE) is not None
                return "works"
            if axis == "option":
                result = with_option(question, value)
            elif axis == "place":
                result = ask(question, Data(array, wrap=PLACES[value]))
            else:
                result = ask(question, KINDS[value])
        except REFUSALS as error:
            return f"refused: {error}"
    return "works" if seen(question, result) else "not seen"


def page(found: dict[str, str]) -> str:
    """The page of the documentation, from the recorded outcomes."""
    marks, reasons = {"works": "✓"}, []
    lines = [
        "# What works with what",
        "",
        "Every question with every kind of data, place, option and output, as a test tries them on data with a planted",
        "difference: ✓ works, and sees and names the difference; a number is the reason of a refusal, below.",
    ]
    for axis, title in (("data", "Data"), ("place", "Places"), ("option", "Options"), ("output", "Outputs")):
        lines += ["", f"## {title}", "", "| |" + "|".join(QUESTIONS) + "|", "|---|" + "---|" * len(QUESTIONS)]
        for value in dict.fromkeys(value for where, value, _ in cells() if where == axis):
            row = []
            for question in QUESTIONS:
                outcome = found["/".join((axis, value, question))]
                if outcome not in marks and outcome not in reasons:
                    reasons.append(outcome)
                row.append(marks[outcome] if outcome in marks else str(1 + reasons.index(outcome)))
            lines.append(f"|{value}|" + "|".join(row) + "|")
    lines += ["", "## Reasons", ""]
    lines += [f"{number}. {reason.removeprefix('refused: ')}" for number, reason in enumerate(reasons, 1)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    outcomes = {"/".join(cell): outcome(*cell) for cell in cells()}
    FILE.write_text(json.dumps(outcomes, indent=0) + "\n", "utf-8")
    PAGE.write_text(page(outcomes), "utf-8")
