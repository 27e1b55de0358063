"""The data sets of the benchmarks: nulls and alternatives, each drawn from a seed of its own.

The seeds are not those that the default model was chosen with.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Sampler = Callable[[np.random.Generator, int, int], Array]
Pair = Callable[[np.random.Generator, int], tuple[Array, Array]]

RESULTS = Path(__file__).parent / "results"
# What the results are made from; not kept in the repository.
RUNS = Path(__file__).parent / "runs"
ROOT_SEED = 20_261_115


def generator(*key: object, root: int = ROOT_SEED) -> np.random.Generator:
    """A generator of its own for every cell and run."""
    return np.random.default_rng(np.random.SeedSequence([root, crc32(repr(key).encode())]))


def gaussian(rng: np.random.Generator, n: int, n_columns: int) -> Array:
    """Standard normal."""
    return rng.normal(size=(n, n_columns))


def t2(rng: np.random.Generator, n: int, n_columns: int) -> Array:
    """Student's t with 2 degrees of freedom: infinite variance."""
    return rng.standard_t(2, size=(n, n_columns))


def exponential(rng: np.random.Generator, n: int, n_columns: int) -> Array:
    """Skewed."""
    return rng.exponential(size=(n, n_columns))


def four_blobs(rng: np.random.Generator, n: int, n_columns: int) -> Array:
    """The paper's 2 × 2 grid of Gaussians, in the first two columns (or one); the others are standard normal."""
    rows = rng.normal(size=(n, n_columns))
    rows[:, :2] += 10 + 20 * rng.integers(0, 2, size=rows[:, :2].shape)
    return rows


def rounded(rng: np.random.Generator, n: int, n_columns: int) -> Array:
    """Normal rounded to integers: many ties."""
    return np.round(rng.normal(scale=2.0, size=(n, n_columns)))


def sparse_binary(rng: np.random.Generator, n: int, n_columns: int) -> Array:
    """Zeros, and ones with probability 0.1."""
    return (rng.random(size=(n, n_columns)) < 0.1).astype(float)


NULLS: dict[str, Sampler] = {
    "gaussian": gaussian,
    "t2": t2,
    "exponential": exponential,
    "four blobs": four_blobs,
    "rounded": rounded,
    "sparse binary": sparse_binary,
}


# What becomes of the first column of each of these laws when it is to differ.
CHANGES: dict[str, Callable[[np.random.Generator, Array], Array]] = {
    "gaussian": lambda rng, column: column + 0.5,
    "t2": lambda rng, column: column + 0.7,
    "exponential": lambda rng, column: 1.5 * column,
    "four blobs": lambda rng, column: column - 1.0,
    "rounded": lambda rng, column: column + (rng.random(len(column)) < 0.7),
    "sparse binary": lambda rng, column: np.maximum(column, rng.random(len(column)) < 0.2),
}


def shift(size: float, n_columns: int = 1) -> Pair:
    """N(0, I) against the same with its first column shifted."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x, y = rng.normal(size=(2, n, n_columns))
        y[:, 0] += size
        return x, y

    return draw


def scale(sd: float) -> Pair:
    """N(0,1) against N(0, sd²)."""
    return lambda rng, n: (rng.normal(size=(n, 1)), sd * rng.normal(size=(n, 1)))


def laplace(spread: float) -> Pair:
    """N(0,1) against Laplace(0, spread)."""
    return lambda rng, n: (rng.normal(size=(n, 1)), rng.laplace(scale=spread, size=(n, 1)))


def blobs(epsilon: float, offset: float) -> Pair:
    """The paper's blobs: unit covariance against diag(1, ε), the second sample's centres moved by the offset."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        centres = np.array([(10, 10), (10, 30), (30, 10), (30, 30)], dtype=float)[np.arange(n) % 4]
        x, y = rng.normal(size=(2, n, 2))
        return centres + x, centres + offset + y * np.sqrt([1.0, epsilon])

    return draw


ALTERNATIVES: dict[str, Pair] = {
    "shift 0.3": shift(0.3),
    "shift 0.5": shift(0.5),
    "shift 1": shift(1.0),
    "scale 1.5": scale(1.5),
    "scale 3": scale(3.0),
    "Laplace 0.4": laplace(0.4),
    "Laplace 0.707": laplace(np.sqrt(0.5)),
    "Laplace 1.5": laplace(1.5),
    "blobs 2": blobs(2.0, 0.0),
    "blobs 2 shifted": blobs(2.0, -1.0),
    "blobs 6": blobs(6.0, 0.0),
    "blobs 6 shifted": blobs(6.0, -1.0),
    "10-D, one column by 0.5": shift(0.5, n_columns=10),
}


def log_score(log_bf10: Array, different: Array | bool) -> Array:
    """Log probability, at even prior odds, that each Bayes factor gives to what is true."""
    return -np.logaddexp(0.0, np.where(different, -log_bf10, log_bf10))


def run_all(work: Callable[[Any], Any], cells: list[Any], jobs: int) -> Iterator[tuple[Any, Any]]:
    """Run `work` on every cell in parallel, yielding (cell, what it returned) in order."""
    with ProcessPoolExecutor(jobs) as pool:
        yield from zip(cells, pool.map(work, cells, chunksize=1), strict=True)


def run_any(work: Callable[[Any], Any], cells: list[Any], jobs: int) -> Iterator[tuple[Any, Any]]:
    """As `run_all`, but whichever cell is done comes first, so that nothing done waits to be written down."""
    if not cells:
        return
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(work, cell): cell for cell in cells}
        for done in as_completed(waiting):
            yield waiting.pop(done), done.result()


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON lines, none if there is no file; a last line that was cut off is left out."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            print(f"{path}: left out a line that was cut off")
    return found


def write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """A file of JSON lines, all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    new.replace(path)


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """Median time of one call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
