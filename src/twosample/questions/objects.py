"""The test of objects of any kind: their kernel is evaluated at points that are some of them, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twosample.common.arguments import count_of
from twosample.common.arrays import Array
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.errors import InputError, InputTypeError, Setting
from twosample.features.domains.centres import farthest_points
from twosample.features.domains.counts import CountKernel
from twosample.features.domains.graphs import WeisfeilerLehman
from twosample.features.domains.kmers import KMer
from twosample.features.domains.sources import Counted, Evaluated, Explicit, FeaturesOfObjects, KernelOfObjects, Source
from twosample.kernels import Kernel
from twosample.questions.kernel_values import Pool, Question, answer
from twosample.results.objects_result import ObjectsResult

__all__ = ["KERNELS", "concerns", "refuse", "test_objects"]

KERNELS: dict[str, type[CountKernel]] = {kernel.name: kernel for kernel in (KMer, WeisfeilerLehman)}


# Relative differences of k(a, b) and k(b, a) that rounding explains, also in single precision.
_ASYMMETRY = 1e-5


def concerns(kernel: object, features: object = None) -> bool:
    """Whether a question is about objects rather than rows of a table.

    Examples
    --------
    >>> concerns("kmer"), concerns(KMer()), concerns("rbf"), concerns("rbf", len)
    (True, True, False, True)
    """
    if callable(features):
        return True
    if isinstance(kernel, str):
        return kernel in KERNELS
    return callable(kernel) and not isinstance(kernel, Kernel | type)


def refuse(parameters: object, features: object) -> None:
    """Refuse what is only for objects where the samples are tables."""
    if features is not None:
        raise InputError(
            f"features: {features!r:.40} is unknown", argument="features", remedy="pass a function of a list of objects"
        )
    if parameters is not None:
        raise InputError(
            "parameters: they are those of a kernel of objects",
            argument="parameters",
            remedy=("pass such a kernel too, such as ", Setting("kernel", "kmer")),
        )


def test_objects(
    x: object,
    y: object,
    *,
    kernel: Any,
    features: FeaturesOfObjects | None,
    parameters: Sequence[Any] | None,
    points: Any,
    question: Question,
    progress: Progress,
) -> ObjectsResult:
    """Test samples of objects; `twosample.test` says what the arguments are."""
    count = count_of(points, "points", 1)
    objects_x, objects_y = _objects(x, "x"), _objects(y, "y")
    source, name, named = _source(objects_x, objects_y, kernel, features, parameters)
    with progress_bar(progress) as report:
        counter = WorkCounter(report, count + 1)
        with one_thread():
            order = source.order(question.generator)
            scores = source.scores()[order]
            first = order[np.argmax(scores >= scores.max() - _tied(scores))]
            rank = np.argsort(order)

            def column(place: int) -> Array:
                counter(1)
                return source.column(int(order[place]))[:, order]

            chosen, block = farthest_points(int(rank[first]), count, column, source.diagonal()[:, order])
        counter(count - len(chosen))
        between = _symmetric(block[:, chosen])
        pool = Pool(
            objects_x,
            objects_y,
            block[:, rank],
            between,
            source.reader(order[chosen]),
        )
        return answer(pool, named, name, question, counter, source.notes)


def _symmetric(between: Array) -> Array:
    """The kernel between the points without rounding, if it is one."""
    transposed = np.swapaxes(between, 1, 2)
    if not np.allclose(between, transposed, rtol=0.0, atol=_ASYMMETRY * float(np.abs(between).max())):
        raise InputError(
            "kernel: it must be symmetric, but k(a, b) is not k(b, a)",
            argument="kernel",
            remedy="use their mean",
        )
    return np.asarray(0.5 * (between + transposed))


def _tied(scores: Array) -> float:
    return float(1e-9 * np.abs(scores).max(initial=0.0))


def _objects(sample: object, name: str) -> list[Any]:
    """The objects of a sample as a list."""
    if isinstance(sample, str | bytes | dict) or (hasattr(sample, "columns") and hasattr(sample, "shape")):
        raise InputTypeError(
            f"{name}: expected a list of objects, got {type(sample).__name__}",
            argument=name,
            remedy="pass one column of it, or the objects in a list",
        )
    try:
        objects: list[Any] = list(sample)  # type: ignore[call-overload]
    except TypeError:
        raise InputTypeError(
            f"{name}: expected a list of objects, got {type(sample).__name__}", argument=name
        ) from None
    if len(objects) < 2:
        raise InputError(f"{name}: needs at least 2 objects, not {len(objects)}", argument=name)
    return objects


def _source(
    x: list[Any],
    y: list[Any],
    kernel: str | CountKernel | KernelOfObjects,
    features: FeaturesOfObjects | None,
    parameters: Sequence[Any] | None,
) -> tuple[Source, str, tuple[str, ...]]:
    """Where the kernel comes from, its name, and those of its parameters."""
    if features is not None:
        for value, default, name in ((kernel, "rbf", "kernel"), (parameters, None, "parameters")):
            if value is not default and value != default:
                raise InputError(
                    f"{name}: explicit features have a linear kernel without parameters",
                    argument=name,
                    remedy="leave it out, or test with a kernel instead of features",
                )
        return Explicit.of([*x, *y], features), "linear", ("None",)
    if isinstance(kernel, str):
        kernel = KERNELS[kernel]()
    if isinstance(kernel, CountKernel):
        checked = _listed(kernel.parameters if parameters is None else parameters)
        values = tuple(kernel.check(value) for value in checked)
        pool = [*kernel.read(x, "x"), *kernel.read(y, "y")]
        return Counted(kernel, pool, values), kernel.name, tuple(map(str, values))
    given = _listed((None,) if parameters is None else parameters)
    return Evaluated(kernel, [*x, *y], given), _named(kernel), tuple(map(_short, given))


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


def _named(kernel: object) -> str:
    return str(getattr(kernel, "__name__", type(kernel).__name__))


def _short(parameter: object) -> str:
    text = " ".join(str(parameter).split())
    return text if len(text) <= 40 else f"{text[:37]}..."
