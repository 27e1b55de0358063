"""A domain: objects of any kind as rows of numbers, their kernel values at points that are some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import shortened
from twosample.errors import AccuracyWarning, FlatFeaturesWarning, InputError, InputTypeError, Setting, warn
from twosample.features.domains.centres import farthest_points, sorted_places
from twosample.features.domains.counts import CountKernel
from twosample.features.domains.graphs import WeisfeilerLehman
from twosample.features.domains.kmers import KMer
from twosample.features.domains.precomputed import KernelRows
from twosample.features.domains.sources import (
    Counted,
    Evaluated,
    Explicit,
    KernelOfObjects,
    Source,
)
from twosample.kernels import Kernel
from twosample.models import LogUniform

__all__ = ["KERNELS", "Domain", "KernelChoice", "objects_of"]

KERNELS: dict[str, type[CountKernel]] = {kernel.name: kernel for kernel in (KMer, WeisfeilerLehman)}

# Relative differences of k(a, b) and k(b, a) that rounding explains, also in single precision.
_ASYMMETRY = 1e-5
# Relative size of a negative eigenvalue that rounding explains, also in single precision.
_ROUNDED_EIGENVALUE = 1e-5
# Lengthscales of a feature map of the user's own, relative to its typical one.
_MULTIPLES = LogUniform(1 / 16, 8.0).multiples
# Kernel values beside those between the points: fourth powers of larger ones, and sums, could overflow.
_LARGEST = 1e60
# Kernel values that differ by less are the same, where objects are put in order.
_DIGITS = 9


@dataclass(frozen=True, eq=False)
class KernelChoice:
    """How objects are compared: a kernel with parameters, or features."""

    kernel: Any = "rbf"  # the name of a kernel of objects, such a kernel, or a function of two lists and a parameter
    features: Any = None  # a function of a list of objects, or a feature map
    parameters: Sequence[Any] | None = None  # those that are averaged over; None for those of the kernel
    points: int = 40

    @property
    def of_objects(self) -> bool:
        """Whether this is about objects rather than rows of a table."""
        if self.features is not None and (callable(self.features) or self.reads_features):
            return True
        if isinstance(self.kernel, str):
            return self.kernel in KERNELS
        return callable(self.kernel) and not isinstance(self.kernel, Kernel | type)

    @property
    def reads_features(self) -> bool:
        """Whether a feature map of the user's own is given, with points of its own."""
        return hasattr(self.features, "values") and hasattr(self.features, "typical")

    def check_table(self) -> None:
        """Refuse what is only for objects where the samples are tables."""
        if self.features is not None:
            raise InputError(
                f"features: {self.features!r:.40} is unknown",
                argument="features",
                remedy="pass a function of a list of objects",
            )
        if self.parameters is not None:
            raise InputError(
                "parameters: they are those of a kernel of objects",
                argument="parameters",
                remedy=("pass such a kernel too, such as ", Setting("kernel", "kmer")),
            )

    def source(self, pool: list[Any], names: Sequence[tuple[str, int]]) -> tuple[Source, str, tuple[str, ...]]:
        """Where the kernel of the pooled objects comes from, its name, and those of its parameters.

        `names` are the samples in the pool with their sizes, for messages.
        """
        if self.features is not None:
            for value, default, name in ((self.kernel, "rbf", "kernel"), (self.parameters, None, "parameters")):
                if value is not default and value != default:
                    raise InputError(
                        f"{name}: explicit features have a linear kernel without parameters",
                        argument=name,
                        remedy="leave it out, or test with a kernel instead of features",
                    )
            return Explicit.of(pool, self.features), "linear", ("None",)
        kernel: str | CountKernel | KernelOfObjects = self.kernel
        if isinstance(kernel, str):
            kernel = KERNELS[kernel]()
        if isinstance(kernel, CountKernel):
            checked = _listed(kernel.parameters if self.parameters is None else self.parameters)
            values = tuple(kernel.check(value) for value in checked)
            read, start = [], 0
            for name, size in names:
                read += kernel.read(pool[start : start + size], name)
                start += size
            return Counted(kernel, read, values), kernel.name, tuple(map(str, values))
        given = _listed((None,) if self.parameters is None else self.parameters)
        named = str(getattr(kernel, "__name__", type(kernel).__name__))
        return Evaluated(kernel, pool, given), named, tuple(map(_short, given))


@dataclass(frozen=True, eq=False)
class Domain:
    """Objects of one kind, seen through their kernel values at points that are some of them."""

    kernel: str
    parameters: tuple[str, ...]
    features: KernelRows
    read: Callable[[object], Array] = field(repr=False)  # kernel values of other objects at the points, (m, n, s)
    # The mean of k(z, z) for every parameter, (m, 1, 1), by which the kernel is divided: its units do not matter.
    scale: Array
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        samples: dict[str, list[Any]],
        choice: KernelChoice,
        generator: np.random.Generator,
        count: Callable[[int], object] = lambda points: None,
    ) -> tuple[Domain, dict[str, Array]]:
        """Choose points among the objects of all samples, whichever they are in; the domain, and the rows of each.

        `generator` orders objects that have no order of their own; `count` is called with the number of points done.
        """
        pool = [one for objects in samples.values() for one in objects]
        ends = np.cumsum([len(objects) for objects in samples.values()])[:-1]
        if choice.reads_features:
            found = cls._mapped(choice.features)
            rows = found.rows_of(pool)
            return found.checked(rows), dict(zip(samples, np.split(rows, ends), strict=True))
        source, name, parameters = choice.source(pool, [(name, len(objects)) for name, objects in samples.items()])
        order = source.order(generator)
        scores = source.scores()[order]
        first = int(np.argmax(scores >= scores.max() - 1e-9 * np.abs(scores).max(initial=0.0)))

        def column(place: int) -> Array:
            count(1)
            return source.column(int(order[place]))[:, order]

        chosen, block = farthest_points(first, choice.points, column, source.diagonal()[:, order])
        count(choice.points - len(chosen))
        between, points = _symmetric(block[:, chosen]), order[chosen]

        def read(objects: object) -> Array:
            return source.between(objects_of(objects, "at", 0), points)

        found = cls.precomputed(name, parameters, between, read, source.notes)
        rows = found.rows(block[:, np.argsort(order)])
        return found.checked(rows), dict(zip(samples, np.split(rows, ends), strict=True))

    @classmethod
    def _mapped(cls, features: Any) -> Domain:
        """With a feature map of the user's own, at lengthscales around its typical one."""
        lengthscales = features.typical * _MULTIPLES

        def read(objects: object) -> Array:
            values = features.values(objects_of(objects, "at", 1), lengthscales)
            found = {index: np.array(block, dtype=np.float64) for index, block in values}  # the next overwrites it
            return np.stack([found[index] for index in range(len(lengthscales))])

        parameters = tuple(f"{lengthscale:.3g}" for lengthscale in lengthscales.tolist())
        between = np.asarray(features.between(lengthscales), dtype=np.float64)
        return cls.precomputed(type(features).__name__, parameters, _symmetric(between), read)

    @classmethod
    def precomputed(
        cls,
        kernel: str,
        parameters: tuple[str, ...],
        between: Array,
        read: Callable[[object], Array],
        notes: tuple[str, ...] = (),
    ) -> Domain:
        """With the kernel between the points, (m, s, s)."""
        largest = np.maximum(np.abs(between).max(axis=(1, 2)), np.finfo(np.float64).tiny)
        typical = np.einsum("mss->m", between / largest[:, None, None]) / between.shape[1]
        scale = (np.where(typical > 0.0, typical, 1.0) * largest)[:, None, None]
        return cls(kernel, parameters, KernelRows(between / scale), read, scale, notes)

    def rows(self, block: Array) -> Array:
        """Rows of objects with these kernel values (m, n, s), numbered in an order of their own."""
        with np.errstate(over="ignore"):
            block = block / self.scale
        if np.abs(block).max(initial=0.0) > _LARGEST:
            raise InputError(
                "kernel: some of its values are so much larger than between the points that their squares overflow",
                argument="kernel",
                remedy="divide k(a, b) by the roots of k(a, a) and k(b, b)",
            )
        keys = [(np.round(one, _DIGITS) + 0.0).tobytes() for one in np.swapaxes(block, 0, 1)]
        return self.features.rows(np.argsort(sorted_places(keys), kind="stable").astype(np.float64), block)

    @property
    def width(self) -> int:
        """Number of columns of the rows."""
        return 1 + len(self.features.at_points) * self.features.count

    def rows_of(self, objects: object) -> Array:
        """Rows of other objects of the same kind."""
        return self.rows(self.read(objects))

    def components(self, rows: Array, count: int) -> Array:
        """Leading principal components of the kernel over rows of objects, by Nyström's method, (n, k), k ≤ count."""
        shape = (len(rows), len(self.features.at_points), self.features.count)
        blocks = np.swapaxes(rows[:, 1:].reshape(shape), 0, 1)
        coordinates = []
        for values, between in zip(blocks, self.features.at_points, strict=True):
            eigenvalues, vectors = np.linalg.eigh(between)
            kept = eigenvalues > _ROUNDED_EIGENVALUE * eigenvalues.max()
            coordinates.append(values @ (vectors[:, kept] / np.sqrt(eigenvalues[kept])))
        centered = np.concatenate(coordinates, axis=1)
        centered = centered - centered.mean(axis=0)
        left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
        kept = sizes[:count] > _ROUNDED_EIGENVALUE * sizes[0]
        return np.asarray((left[:, :count] * sizes[:count])[:, kept])

    def checked(self, rows: Array) -> Domain:
        """With warnings of what is wrong with the kernel, as seen in these rows."""
        found: list[AccuracyWarning | FlatFeaturesWarning] = []
        lowest = _indefinite(self.features.at_points)
        if lowest:
            found.append(
                AccuracyWarning(
                    "kernel: it is not positive semidefinite at the points (eigenvalues from "
                    f"{lowest:.2g} on, relative to the largest); the Bayes factor and the p-value hold, but MMD and "
                    "AUC may not",
                    argument="kernel",
                )
            )
        if self.features.are_flat(rows):
            found.append(
                FlatFeaturesWarning(
                    "kernel: its values at the points are the same for all objects, so that nothing follows from them",
                    argument="kernel",
                    remedy="use another kernel or other parameters",
                )
            )
        for warning in found:
            warn(warning)
        return replace(self, notes=(*self.notes, *map(str, found)))

    def to_plain(self) -> Any:
        """Refuse to be written to a file."""
        raise InputError(
            f"kernel: {self.kernel!r} is one of objects, which are not written to files",
            argument="kernel",
            remedy="keep the plan in memory, or pass rows of features of the objects",
        )


def objects_of(sample: object, name: str, fewest: int = 2) -> list[Any]:
    """The objects of a sample as a list."""
    table = isinstance(sample, str | bytes | dict) or (hasattr(sample, "columns") and hasattr(sample, "shape"))
    if table or not hasattr(sample, "__iter__"):
        raise InputTypeError(
            f"{name}: expected a list of objects, got {type(sample).__name__}",
            argument=name,
            remedy="pass one column of it, or the objects in a list" if table else None,
        )
    objects = list(sample)
    if len(objects) < fewest:
        raise InputError(f"{name}: needs at least {fewest} objects, not {len(objects)}", argument=name)
    return objects


def _symmetric(between: Array) -> Array:
    """The kernel between the points without rounding, if it is one."""
    transposed = np.swapaxes(between, 1, 2)
    if not np.allclose(between, transposed, rtol=0.0, atol=_ASYMMETRY * float(np.abs(between).max())):
        raise InputError(
            "kernel: it must be symmetric, but k(a, b) is not k(b, a)", argument="kernel", remedy="use their mean"
        )
    return np.asarray(0.5 * (between + transposed))


def _indefinite(between: Array) -> float:
    """The smallest eigenvalue over the largest, where that is negative and more than rounding; else 0."""
    values = np.linalg.eigvalsh(between)
    lowest = float((values[:, 0] / np.maximum(np.abs(values).max(axis=1), np.finfo(np.float64).tiny)).min())
    return lowest if lowest < -_ROUNDED_EIGENVALUE else 0.0


def _listed(parameters: Sequence[Any]) -> tuple[Any, ...]:
    if isinstance(parameters, str) or not hasattr(parameters, "__iter__"):
        raise InputTypeError(
            f"parameters: expected a list, got {type(parameters).__name__}",
            argument="parameters",
            remedy=("pass one such as ", Setting("parameters", [parameters])),
        )
    listed = tuple(parameters)
    if not listed:
        raise InputError("parameters: the list is empty", argument="parameters", remedy="leave it out")
    return listed


def _short(parameter: object) -> str:
    return shortened(" ".join(str(parameter).split()))
