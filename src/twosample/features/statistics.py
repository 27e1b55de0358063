"""Sufficient statistics of the data, which merge: means and scatters of features for every lengthscale."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import numpy as np

from twosample.common.arrays import Array, namespace
from twosample.common.constraints import NONNEGATIVE, POSITIVE, Axes, Count, FieldError, checked
from twosample.common.progress import WorkCounter
from twosample.common.records import Comparable, load_arrays, write_whole
from twosample.common.stored import packed, read_json
from twosample.common.threads import as_they_come
from twosample.data.sketch import Sketch
from twosample.errors import InputError, InputTypeError

__all__ = ["FeatureStatistics", "Mergeable", "Moments", "merged_parts"]

_Part = TypeVar("_Part")
_Found = TypeVar("_Found", bound="Mergeable")
_Value = TypeVar("_Value")


class Mergeable(Protocol):
    """Statistics of some rows."""

    @property
    def n_x(self) -> int:
        """Number of rows of x."""

    @property
    def n_y(self) -> int:
        """Number of rows of y."""

    def merge(self: _Found, *others: _Found) -> _Found:
        """Statistics of all rows together."""


def merged_parts(
    collect: Callable[[_Part], _Found], parts: Iterable[_Part], counter: WorkCounter | None = None
) -> _Found:
    """Merged statistics of all parts; each core has one part in memory. `counter` is called with numbers of rows."""
    total: _Found | None = None
    for found in as_they_come(collect, parts):
        total = found if total is None else total.merge(found)
        if counter is not None:
            counter(found.n_x + found.n_y)
    assert total is not None
    return total


# Version of the file format; it grows when older versions would misread the files.
_SCHEMA = 1
# Scatters are symmetric, and no larger than their diagonal allows, but for rounding.
_ROUNDED = 1e-6
_NOTHING = 1e-15
# Beyond this the squares that the evidence takes of scatters overflow.
_LARGEST = 1e70


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Comparable):
    """Number, mean and scatter of feature vectors, for arrays of any library; leading axes are lengthscales."""

    count: Count
    mean: Any  # (..., s)
    scatter: Any  # sum of outer products of the deviations from the mean, (..., s, s)

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        mean, scatter = self.mean, self.scatter
        if not mean.ndim or scatter.shape != (*mean.shape, mean.shape[-1]):
            yield f"has means of the shape {mean.shape} and scatters of {scatter.shape}"
        if not ((np.abs(mean) <= _LARGEST).all() and (np.abs(scatter) <= _LARGEST**2).all()):  # NaN is not either
            yield f"holds what is not a number of at most {_LARGEST:g}, or its square"
        roots = np.sqrt(np.maximum(np.diagonal(scatter, axis1=-2, axis2=-1), 0.0))
        most = roots[..., :, None] * roots[..., None, :]
        # What features that do not vary leave of their squares.
        nothing = (
            np.finfo(float).tiny + _NOTHING * self.count * np.square(mean).max(axis=-1, initial=0.0)[..., None, None]
        )
        if (np.abs(scatter) > most * (1.0 + _ROUNDED) + nothing).any():
            yield "has a scatter that no rows have"
        largest = roots.max(axis=-1, initial=0.0)[..., None, None] ** 2
        if (np.abs(scatter - np.swapaxes(scatter, -1, -2)) > _ROUNDED * largest + nothing).any():
            yield "has a scatter that is not symmetric"

    @classmethod
    def of(cls, features: Any) -> Moments:
        """Moments of the rows of an (n, s) array."""
        mean = namespace(features).mean(features, axis=0)
        centered = features - mean
        return cls(features.shape[0], mean, centered.T @ centered)

    def merge(self, other: Moments) -> Moments:
        """Moments of both sets together, by the pairwise update of Chan, Golub and LeVeque."""
        if self.count == 0 or other.count == 0:
            return other if self.count == 0 else self
        count = self.count + other.count
        shift = other.mean - self.mean
        weight = self.count * (other.count / count)
        return Moments(
            count,
            self.mean + shift * (other.count / count),
            self.scatter + other.scatter + weight * (shift[..., :, None] * shift[..., None, :]),
        )

    @property
    def covariance(self) -> Any:
        """Scatter divided by the number of observations."""
        return self.scatter / max(self.count, 1)

    @property
    def second_moment(self) -> Any:
        """Sum of outer products of the feature vectors themselves."""
        return self.scatter + self.count * (self.mean[..., :, None] * self.mean[..., None, :])


@dataclass(frozen=True, eq=False, repr=False)
class FeatureStatistics(Comparable):
    """Sufficient statistics of two samples for the test at the points and lengthscales of a plan.

    Attributes
    ----------
    lengthscales
        Lengthscales (m,).
    x, y
        Moments of the features of each sample; None for pairs of which only the differences count.
    differences
        Moments of the differences φ(x_i) - φ(y_i) of pairs, or None.
    log_volume
        Sum over the pairs of log vol J_i for each lengthscale (m,), or None.
    plan
        Key of the plan that they belong to.
    sketch_x, sketch_y
        A few rows of each sample, for plots.
    notes
        One sentence for everything that was left out.
    columns_x, columns_y
        Moments of the normal scores and of the levels of each column, (2, D, 1); None where the plan has no ranks.
    columns_differences
        The same of the differences of pairs, or None.
    parts
        The same for the other tests of the mixture, one stack of tests each.
    levels_x, levels_y
        How many rows have each level of the columns with more levels than coordinates, one column after the other; None
        where the plan has no such columns.

    Examples
    --------
    >>> import twosample as ts
    >>> x, y = np.arange(9.0), np.arange(3.0, 15.0)
    >>> plan = ts.plan(x, y)
    >>> parts = [plan.statistics(x[:4], y[:7]), plan.statistics(x[4:], y[7:])]
    >>> plan.test(parts[0].merge(parts[1])).n_y
    12
    """

    lengthscales: Annotated[Array, Axes("m", least=1), POSITIVE]
    x: Moments | None
    y: Moments | None
    differences: Moments | None = None
    log_volume: Annotated[Array, Axes("m")] | None = None
    plan: str = ""
    sketch_x: Sketch = field(default_factory=Sketch.empty)
    sketch_y: Sketch = field(default_factory=Sketch.empty)
    notes: tuple[str, ...] = ()
    columns_x: Moments | None = None
    columns_y: Moments | None = None
    columns_differences: Moments | None = None
    parts: tuple[FeatureStatistics, ...] = ()
    levels_x: Annotated[Array, Axes("levels"), NONNEGATIVE] | None = None
    levels_y: Annotated[Array, Axes("levels"), NONNEGATIVE] | None = None

    def __repr__(self) -> str:
        """Return the numbers of rows and lengthscales, in one line."""
        return (
            f"FeatureStatistics({self.n_x} and {self.n_y} rows, {len(self.lengthscales)} lengthscales, "
            f"plan {self.plan!r})"
        )

    @property
    def n_x(self) -> int:
        """Number of rows of x."""
        return self._counted(self.x).count

    @property
    def n_y(self) -> int:
        """Number of rows of y."""
        return self._counted(self.y).count

    @property
    def features_count(self) -> int:
        """Number of features of a row."""
        return int(self._counted(self.x).mean.shape[-1])

    def _counted(self, sample: Moments | None) -> Moments:
        moments = sample if sample is not None else self.differences
        assert moments is not None
        return moments

    def merge(self, *others: FeatureStatistics) -> FeatureStatistics:
        """Statistics of all the data together; the parts must belong to the same plan."""
        return reduce(_merge, others, self)

    def with_lengthscales(self, other: FeatureStatistics) -> FeatureStatistics:
        """Statistics of the same data at the lengthscales of both, increasing."""
        if (self.n_x, self.n_y) != (other.n_x, other.n_y):
            raise InputError("with_lengthscales: these are statistics of other data")
        lengthscales = np.concatenate([self.lengthscales, other.lengthscales])
        order = np.argsort(lengthscales)

        def joined(*arrays: Array) -> Array:
            return np.concatenate(arrays)[order]

        def moments(first: Moments, second: Moments) -> Moments:
            return Moments(first.count, joined(first.mean, second.mean), joined(first.scatter, second.scatter))

        return replace(
            self,
            lengthscales=lengthscales[order],
            x=_if_all(moments, self.x, other.x),
            y=_if_all(moments, self.y, other.y),
            differences=_if_all(moments, self.differences, other.differences),
            log_volume=_if_all(joined, self.log_volume, other.log_volume),
        )

    def select(self, tests: slice, count: int) -> FeatureStatistics:
        """Statistics of some of the `count` tests of a stack."""
        each = len(self.lengthscales) // count
        first, last, _ = tests.indices(count)
        here = slice(first * each, last * each)

        def of(moments: Moments) -> Moments:
            return Moments(moments.count, moments.mean[here], moments.scatter[here])

        x, y, differences = (_if_all(of, one) for one in (self.x, self.y, self.differences))
        return FeatureStatistics(self.lengthscales[here], x, y, differences, plan=self.plan)

    def save(self, path: str | Path) -> None:
        """Write the statistics to a file (npz, without pickle), whole or not at all.

        Examples
        --------
        >>> import pathlib, tempfile, twosample as ts
        >>> plan = ts.plan([1.0, 2.0, 4.0], [2.0, 5.0, 6.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "part.npz")
        ...     plan.statistics([1.0, 2.0, 4.0], [2.0, 5.0, 6.0]).save(path)
        ...     FeatureStatistics.load(path).n_x
        3
        """
        content = self.to_bytes()
        write_whole(Path(path), lambda file: file.write(content))

    def to_bytes(self) -> bytes:
        """Content of the file that `save` writes, to be sent elsewhere.

        Examples
        --------
        >>> import twosample as ts
        >>> plan = ts.plan([1.0, 2.0, 4.0], [2.0, 5.0, 6.0])
        >>> sent = plan.statistics([1.0, 2.0, 4.0], [2.0, 5.0]).to_bytes()
        >>> FeatureStatistics.from_bytes(sent).n_y
        2
        """
        return packed(self.to_arrays())

    def to_arrays(self) -> dict[str, Any]:
        """The arrays of a file, by name."""
        arrays: dict[str, Any] = {}
        for prefix, statistics in [("", self), *((f"parts.{i}.", part) for i, part in enumerate(self.parts))]:
            arrays[f"{prefix}lengthscales"] = statistics.lengthscales
            for name in _MOMENTS:
                moments = getattr(statistics, name)
                if moments is not None:
                    arrays |= {f"{prefix}{name}.{part.name}": getattr(moments, part.name) for part in fields(moments)}
        arrays |= {name: getattr(self, name) for name in _SUMS if getattr(self, name) is not None}
        for name in _SKETCHES:
            arrays |= {f"{name}.{part.name}": getattr(getattr(self, name), part.name) for part in fields(Sketch)}
        arrays["words"] = np.array(json.dumps({"schema": _SCHEMA, "plan": self.plan, "notes": self.notes}))
        return arrays

    @classmethod
    def load(cls, path: str | Path) -> FeatureStatistics:
        """Read statistics back that `save` wrote."""
        return load_arrays(path, cls.from_arrays, "statistics of twosample")

    @classmethod
    def from_bytes(cls, content: bytes) -> FeatureStatistics:
        """Read statistics back that `to_bytes` returned."""
        if not isinstance(content, bytes | bytearray | memoryview):
            raise InputTypeError(f"content: expected bytes, got {type(content).__name__}", argument="content")
        return load_arrays(bytes(content), cls.from_arrays, "statistics of twosample")

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> FeatureStatistics:
        """Statistics from what `to_arrays` returned; other content raises a KeyError, TypeError or ValueError."""
        words = _words_in(arrays)
        parts: list[FeatureStatistics] = []
        while f"parts.{len(parts)}.lengthscales" in arrays:
            prefix = f"parts.{len(parts)}."
            parts.append(cls(arrays[f"{prefix}lengthscales"], **_moments_in(arrays, prefix), plan=words["plan"]))
        sketches: dict[str, Any] = {
            name: Sketch(*(arrays[f"{name}.{part.name}"] for part in fields(Sketch))) for name in _SKETCHES
        }
        statistics = cls(
            lengthscales=arrays["lengthscales"],
            **_moments_in(arrays),
            **sketches,
            parts=tuple(parts),
            log_volume=arrays.get("log_volume"),
            levels_x=arrays.get("levels_x"),
            levels_y=arrays.get("levels_y"),
            plan=words["plan"],
            notes=tuple(map(str, words["notes"])),
        )
        return checked(statistics)

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        moments = [one for one in (self.x, self.y, self.differences) if one is not None]
        if (self.x is None) != (self.y is None) or not moments:
            yield "a sample is missing"
        if any(one.mean.shape != (len(self.lengthscales), moments[0].mean.shape[-1]) for one in moments):
            yield "x, y and differences have other shapes than the lengthscales"
        columns = [one for one in (self.columns_x, self.columns_y, self.columns_differences) if one is not None]
        shapes = {one.mean.shape for one in columns}
        if (self.columns_x is None) != (self.columns_y is None) or len(shapes) > 1:
            yield "columns_x and columns_y have different shapes"
        sizes = (self.n_x, self.n_y)
        if any((part.n_x, part.n_y) != sizes for part in self.parts):
            yield "parts are of other numbers of rows"
        for name, count in zip("xy", sizes, strict=True):
            yield from self._problems_of(name, count)

    def _problems_of(self, name: str, count: int) -> Iterator[str]:
        """What does not go with so many rows of a sample."""
        of_columns, sketch = getattr(self, f"columns_{name}"), getattr(self, f"sketch_{name}")
        if (of_columns is not None and of_columns.count != count) or len(sketch.rows) > count:
            yield f"columns_{name} or sketch_{name} is of another number of rows than {name}"
        levels = getattr(self, f"levels_{name}")
        if levels is not None and ((levels != np.round(levels)).any() or (levels > count).any()):
            yield f"levels_{name} holds what is no number of {count} rows"


# The fields that hold moments.
_MOMENTS = ("x", "y", "differences", "columns_x", "columns_y", "columns_differences")
_SKETCHES = ("sketch_x", "sketch_y")
# And those that hold sums over the rows, as arrays.
_SUMS = ("log_volume", "levels_x", "levels_y")


def _if_all(function: Callable[..., _Value], *values: Any) -> _Value | None:
    """The function of the values, None if any of them is None."""
    return None if any(value is None for value in values) else function(*values)


def _words_in(arrays: dict[str, Any]) -> dict[str, Any]:
    """What a file says in words: its schema, its plan and its notes."""
    words = read_json(str(arrays["words"]))
    if not isinstance(words, dict) or type(words["schema"]) is not int or not isinstance(words["notes"], list):
        raise FieldError("words", "are not those of statistics")
    if words["schema"] > _SCHEMA:
        raise ValueError("a newer version of twosample wrote it; update twosample")
    return words


def _moments_in(arrays: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The moments of one test, or stack of tests, in a file."""
    return {
        name: Moments(
            _count(arrays[f"{prefix}{name}.count"], f"{prefix}{name}.count"),
            *(_numbers(arrays[f"{prefix}{name}.{part}"], f"{prefix}{name}.{part}") for part in ("mean", "scatter")),
        )
        if f"{prefix}{name}.count" in arrays
        else None
        for name in _MOMENTS
    }


def _count(array: Any, name: str) -> int:
    if array.shape or array.dtype.kind not in "iu":
        raise FieldError(name, "is not a whole number")
    return int(array)


def _numbers(array: Any, name: str) -> Array:
    if array.dtype.kind not in "fiu":
        raise FieldError(name, f"holds {array.dtype}, not numbers")
    return np.asarray(array, dtype=np.float64)


def _merge(first: FeatureStatistics, second: FeatureStatistics) -> FeatureStatistics:
    if not isinstance(second, FeatureStatistics):
        raise InputTypeError(
            f"others: expected FeatureStatistics to merge, got {type(second).__name__}", argument="others"
        )
    if first.plan != second.plan or not np.array_equal(first.lengthscales, second.lengthscales):
        raise InputError("merge: the statistics belong to different plans", remedy="collect all of them with one plan")
    for name in (*_MOMENTS, *_SUMS):
        if (getattr(first, name) is None) != (getattr(second, name) is None):
            raise InputError(f"merge: one of the statistics has {name} and the other has not")
    if len(first.parts) != len(second.parts):
        raise InputError("merge: one of the statistics has parts that the other has not")

    def merged(name: str) -> Moments | None:
        return _if_all(Moments.merge, getattr(first, name), getattr(second, name))

    return replace(
        first,
        **{name: merged(name) for name in _MOMENTS},  # type: ignore[arg-type]
        parts=tuple(map(_merge, first.parts, second.parts)),
        log_volume=_if_all(np.add, first.log_volume, second.log_volume),
        levels_x=_if_all(np.add, first.levels_x, second.levels_x),
        levels_y=_if_all(np.add, first.levels_y, second.levels_y),
        sketch_x=first.sketch_x.merge(second.sketch_x),
        sketch_y=first.sketch_y.merge(second.sketch_y),
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )
