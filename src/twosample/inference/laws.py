"""Laws that data can be compared with: distributions of SciPy, or anything that draws rows."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from twosample.common.arrays import Array
from twosample.errors import InputError, InputTypeError
from twosample.features.statistics import Moments

__all__ = ["Law", "Reading", "drawn", "is_law", "law_of_text", "normal_moments", "numbers_drawn"]

# Quantiles that stand for a distribution of one column.
_QUANTILES = 1 << 13
_LONGEST_TEXT = 2000
# Variances that can be divided by each other.
_SMALLEST = 1e-200
_SHOWN = 60
# How often rows that lack a value are drawn again.
_MOST_TRIES = 100

Reading = Callable[[Any, int], tuple[Array, Callable[[Any, int], Array]]]


@dataclass(frozen=True, eq=False)
class Law:
    """A distribution of rows."""

    name: str  # what it is called
    rows: Array  # that stand for it, (M, D)
    exact: bool  # whether these are its quantiles, rather than rows drawn at random
    draw: Callable[[int, np.random.Generator], Array]  # n rows, (n, D)
    normal: tuple[Array, Array] | None = None  # its mean and covariance where it is normal

    @classmethod
    def of(cls, law: Any, draws: int, generator: np.random.Generator, read: Reading | None = None) -> Law:
        """A frozen distribution of `scipy.stats`, its text, or a function of a size and a generator.

        Of what cannot be computed, `draws` rows are drawn. `read` reads what a function draws first: it returns its
        rows, and a function that reads later draws in the same way. None is for arrays of numbers.
        """
        read = numbers_drawn if read is None else read
        if isinstance(law, str):
            law = law_of_text(law)
        if hasattr(law, "ppf") and hasattr(law, "rvs"):
            return cls._of_one_column(law if hasattr(law, "dist") else _frozen(law))
        if hasattr(law, "icdf") and hasattr(law, "sample"):
            rows = _quantiles(law.icdf)
            return cls(_shown(repr(law)), rows, True, lambda n, rng: _rows_drawn(law.sample(n, rng=rng), n, 1))
        normal = None
        if hasattr(law, "rvs"):
            name = _shown(type(law).__name__.removesuffix("_frozen"))

            def draw(n: int, rng: np.random.Generator) -> Any:
                return law.rvs(size=n, random_state=rng)

            if hasattr(law, "cov_object") and hasattr(law, "mean"):
                normal = np.atleast_1d(np.asarray(law.mean, float)), np.atleast_2d(law.cov_object.covariance)
        elif callable(law):
            _check_arguments(law, draws, generator)
            name, draw = _shown(getattr(law, "__name__", type(law).__name__)), law
        else:
            raise InputTypeError(
                f"law: expected a frozen distribution of scipy.stats or a function, got {type(law).__name__}",
                argument="law",
                remedy="pass such as scipy.stats.norm(0, 1), or a function of size and rng that returns rows",
            )
        if normal is not None:
            rows, columns = _rows_drawn(draw(draws, generator), draws, len(normal[0])), len(normal[0])
            return cls(name, rows, False, lambda n, rng: _rows_drawn(draw(n, rng), n, columns), normal)
        rows, later = read(draw(draws, generator), draws)
        return cls(name, rows, False, lambda n, rng: _complete(lambda size: later(draw(size, rng), size), n))

    @classmethod
    def _of_one_column(cls, law: Any) -> Law:
        if any(np.ndim(value) for value in (*law.args, *law.kwds.values())):
            raise InputError("law: it has several values of a parameter", argument="law", remedy="give one of each")
        args = [*map(_number, law.args), *(f"{name}={_number(value)}" for name, value in law.kwds.items())]
        normal = None
        if law.dist.name == "norm":
            with np.errstate(over="ignore", under="ignore"):
                mean, variance = float(law.mean()), float(law.var())
            if _SMALLEST < variance < 1.0 / _SMALLEST:
                normal = np.array([mean]), np.array([[variance]])
        return cls(
            name=_shown(f"{law.dist.name}({', '.join(args)})"),
            rows=_quantiles(law.ppf),
            exact=True,
            draw=lambda n, rng: _rows_drawn(law.rvs(size=n, random_state=rng), n, 1),
            normal=normal,
        )


def _frozen(law: Any) -> Any:
    """A distribution that was given without numbers, if it needs none."""
    try:
        return law()
    except TypeError:
        raise InputTypeError(
            f"law: {_shown(str(getattr(law, 'name', type(law).__name__)))} needs its numbers",
            argument="law",
            remedy="give them, as in scipy.stats.gamma(2, scale=3)",
        ) from None


def _quantiles(inverse: Callable[[Array], Any]) -> Array:
    """Quantiles at the middles of as many intervals of probability."""
    with np.errstate(all="ignore"):
        found = np.asarray(inverse((np.arange(_QUANTILES) + 0.5) / _QUANTILES), dtype=np.float64)
    if found.shape != (_QUANTILES,) or not np.isfinite(found).all():
        raise InputError("law: its quantiles are not numbers", argument="law", remedy="check its parameters")
    return found[:, np.newaxis]


def _rows_drawn(drawn: Any, n: int, n_columns: int | None, *, finite: bool = True) -> Array:
    """Rows of numbers that were drawn, checked."""
    try:
        rows = np.asarray(drawn, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError("law: what it draws are not numbers", argument="law") from None
    rows = rows.reshape(-1, 1) if rows.ndim <= 1 else rows
    if rows.ndim == 2 and n == 1 and n_columns is not None and rows.shape == (n_columns, 1):
        rows = rows.T  # SciPy leaves out the axis of a single row
    if rows.ndim != 2 or len(rows) != n or (n_columns is not None and rows.shape[1] != n_columns):
        raise InputError(
            f"law: of {n} rows it draws an array of shape {rows.shape}",
            argument="law",
            remedy="it must return one row for each, (size, columns)",
        )
    if finite and not np.isfinite(rows).all():
        raise InputError("law: it draws missing or infinite values", argument="law")
    return rows


def numbers_drawn(drawn: Any, n: int, *, finite: bool = True) -> tuple[Array, Callable[[Any, int], Array]]:
    """Rows of numbers, all of them finite unless some may be missing, and what reads later ones."""
    rows = _rows_drawn(drawn, n, None, finite=finite)
    return rows, lambda again, size: _rows_drawn(again, size, rows.shape[1], finite=finite)


def _complete(draw: Callable[[int], Array], n: int) -> Array:
    """As many rows as wanted that lack no value; rows that lack one are drawn again."""
    rows = draw(n)
    for _ in range(_MOST_TRIES):
        rows = rows[np.isfinite(rows).all(axis=1)]
        if len(rows) >= n:
            return rows[:n]
        rows = np.concatenate([rows, draw(n)])
    raise InputError("law: nearly all rows that it draws lack a value", argument="law")


def _check_arguments(law: Callable[..., Any], *arguments: object) -> None:
    """Refuse a function that does not take a size and a generator."""
    try:
        signature = inspect.signature(law)
    except (TypeError, ValueError):  # of a built-in function nobody knows
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise InputTypeError(
            f"law: it does not take a size and a generator ({error})",
            argument="law",
            remedy="pass a function such as lambda size, rng: rng.normal(size=size)",
        ) from None


def _number(value: Any) -> str:
    return f"{float(value):g}" if np.ndim(value) == 0 else "..."


def _shown(name: str) -> str:
    return name if len(name) <= _SHOWN else f"{name[: _SHOWN - 3]}..."


def law_of_text(text: str) -> Any:
    """The distribution of `scipy.stats` that a text such as "norm(0, 1)" names; nothing in it is run."""
    call = _call_of(text)
    name = call.func.id  # type: ignore[attr-defined]
    from scipy import stats

    found: Any = getattr(stats, name, None)
    known = isinstance(found, stats.rv_continuous | stats.rv_discrete) or name == "multivariate_normal"
    if name.startswith("_") or not known:
        raise InputError(
            f"law: scipy.stats has no distribution {_shown(name)!r}",
            argument="law",
            remedy="use a name such as norm, expon, gamma, t, poisson or multivariate_normal",
        )
    try:
        law = found(*map(_literal, call.args), **{str(one.arg): _literal(one.value) for one in call.keywords})
    except (TypeError, ValueError, np.linalg.LinAlgError) as error:
        raise InputError(f"law: {_shown(name)} does not take these numbers ({error})", argument="law") from None
    with np.errstate(all="ignore"):
        allowed = not hasattr(law, "ppf") or math.isfinite(float(law.ppf(0.5)))
    if not allowed:
        raise InputError(f"law: {_shown(text)!r} has parameters that are not allowed", argument="law")
    return law


def _call_of(text: str) -> ast.Call:
    """The call of a name that the text is, without unpacked arguments; a name alone is a call without arguments."""
    try:
        call = ast.parse(text.strip(), mode="eval").body if len(text) <= _LONGEST_TEXT else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call = None
    if isinstance(call, ast.Name):
        call = ast.Call(func=call, args=[], keywords=[])
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Name)
        or any(one.arg is None for one in call.keywords)
    ):
        raise InputError(
            f"law: {_shown(text)!r} is not a distribution with its numbers",
            argument="law",
            remedy='write it such as "norm(0, 1)" or "gamma(2, scale=3)", by a name of scipy.stats',
        )
    return call


def _literal(node: ast.expr) -> Any:
    """A number, or lists of numbers."""
    value = ast.literal_eval(node)

    def plain(one: Any) -> bool:
        if isinstance(one, list | tuple):
            return all(map(plain, one))
        return isinstance(one, int | float) and not isinstance(one, bool)

    if not plain(value):
        raise ValueError(f"{_shown(ast.unparse(node))} is no number")
    return value


def normal_moments(points: Array, lengthscales: Array, mean: Array, covariance: Array, count: int) -> Moments:
    """Moments of Gaussian kernel features of a normal law, exactly, as if of `count` rows.

    With u ~ N(m, C), E exp(-‖u - z‖²/2ℓ²) = |I + C/ℓ²|^(-1/2) exp(-½ (z - m)ᵀ(C + ℓ²I)⁻¹(z - m)), and the product of
    two kernels is one around the middle of their points with half of ℓ². The law is in the units of the points (s, D).
    """
    first, second = points[:, np.newaxis], points[np.newaxis]
    middles = (0.5 * (first + second)).reshape(-1, points.shape[1])
    apart = np.square(first - second).sum(axis=2)
    means, scatters = [], []
    for square in np.square(lengthscales).tolist():
        expected = _smoothed(points, mean, covariance, square)
        products = _smoothed(middles, mean, covariance, 0.5 * square).reshape(apart.shape)
        within = np.exp(-apart / (4.0 * square)) * products - np.outer(expected, expected)
        values, vectors = np.linalg.eigh(0.5 * (within + within.T))  # rounding must not make it indefinite
        means.append(expected)
        scatters.append((vectors * (count * np.maximum(values, 0.0))) @ vectors.T)
    return Moments(count, np.stack(means), np.stack(scatters))


def _smoothed(at: Array, mean: Array, covariance: Array, square: float) -> Array:
    """E exp(-‖u - z‖²/2ℓ²) for u ~ N(m, C) at every z, with ℓ² given."""
    total = covariance + square * np.eye(len(mean))
    deviations = at - mean
    quadratic = (deviations * np.linalg.solve(total, deviations.T).T).sum(axis=1)
    log_determinant = np.linalg.slogdet(total)[1] - len(mean) * math.log(square)
    return np.asarray(np.exp(-0.5 * (quadratic + log_determinant)))


def is_law(data: object) -> bool:
    """Whether this draws rows rather than holding them."""
    return isinstance(data, str) or hasattr(data, "rvs") or hasattr(data, "icdf") or callable(data)


def drawn(law: Any, n: int, generator: np.random.Generator) -> Any:
    """What a law draws: rows of numbers, or whatever a function of a size and a generator returns."""
    if callable(law) and not (hasattr(law, "rvs") or hasattr(law, "icdf")):
        _check_arguments(law, n, generator)
        return law(n, generator)
    return Law.of(law, n, generator).draw(n, generator)
