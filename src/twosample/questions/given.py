"""The rows of two samples as a question was given them: in memory, in blocks, on a device or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from twosample.common.arguments import is_one_of
from twosample.common.arrays import Array, on_device
from twosample.common.progress import Report, WorkCounter
from twosample.data import Samples, are_blocks
from twosample.data.blocks import is_dask
from twosample.errors import InputError, InputTypeError, Remedy, Setting
from twosample.features.statistics import FeatureStatistics
from twosample.models import LogUniform
from twosample.places import streaming
from twosample.places.streaming import Cluster, Stream
from twosample.plan import Plan
from twosample.questions.options import Options

__all__ = ["Given", "cluster_of", "pilot_of", "read_rows", "without_texts"]


@dataclass(frozen=True, eq=False)
class Given:
    """Two samples that were read and checked."""

    samples: Samples  # all rows, or a pilot of those that are too many to be held
    stream: Stream | None = None  # the rows again, where they are read in parts; None where all are in memory
    elsewhere: bool = False  # whether statistics are collected on a device or a cluster, also those of few rows

    @property
    def in_memory(self) -> bool:
        """Whether `samples` has all rows."""
        return self.stream is None or self.stream.whole

    @property
    def parts(self) -> Stream | None:
        """The parts that statistics are collected of, where that is not done of `samples`."""
        return None if self.in_memory and not self.elsewhere else self.stream

    def evidence_statistics(self, plan: Plan, lengthscales: Array) -> FeatureStatistics:
        """Statistics of all rows for the test of all columns at given lengthscales, from a second pass over parts."""
        assert self.stream is not None
        plan = replace(plan, lengthscales=lengthscales, fixed=True, ranks=None, parts=())
        return self.stream.collect(plan, WorkCounter(None, 1))


def read_rows(
    x: object,
    y: object,
    options: Options,
    *,
    engine: object = "auto",
    report: Report | None = None,
    all_at_once: bool = True,
) -> Given:
    """Read and check two samples; `all_at_once` refuses questions that need all rows in memory where they are not."""
    move, cluster = _move(engine), cluster_of(engine, x, y)
    options = without_texts(options, x, y)
    how: dict[str, Any] = {"paired": options.paired, "scale": options.scale, "nan_policy": options.nan_policy}
    if not (are_blocks(x, y) or move is not None or cluster is not None):
        return Given(Samples.from_data(x, y, choice=options.choice, say_copies=False, **how))
    refusal = _needs_all(options) if all_at_once else None
    stream = streaming.open_stream(
        x, y, options.choice, report=report, refusal=refusal, move=move, cluster=cluster, **how
    )
    elsewhere = not is_one_of(engine, ("auto", "threads")) or any(map(on_device, (x, y)))
    return Given(stream.samples, stream, elsewhere)


def pilot_of(x: object, options: Options) -> Samples:
    """The samples that a plan is made from, of one table with rows of both."""
    cluster = cluster_of("auto", x, None)
    options = without_texts(options, x, None)
    how: dict[str, Any] = {"paired": options.paired, "scale": options.scale, "nan_policy": options.nan_policy}
    if cluster is not None or are_blocks(x, None):
        return streaming.open_pilot(x, options.choice, cluster=cluster, **how)
    return Samples.from_pilot(x, choice=options.choice, **how)


def cluster_of(engine: object, x: object, y: object) -> Cluster | None:
    """The cluster that scans the rows, where that is not this process: one that is passed as the engine, or Dask's."""
    if isinstance(engine, Cluster):
        return engine
    if engine != "dask" and not (is_dask(x) or is_dask(y)):
        return None
    from twosample.places.dask import cluster_for

    return cluster_for(engine, x, y)


def without_texts(options: Options, x: object, y: object) -> Options:
    """The options without columns of text, for Dask collections, whose partitions are read apart."""
    if not (is_dask(x) or is_dask(y)):
        return options
    if options.choice.categories:
        raise InputError(
            "categories: of Dask collections only numbers are compared",
            argument="categories",
            remedy="pass what their compute() returns, or a lazy frame of polars",
        )
    return options.without_texts()


def _move(engine: object) -> Callable[[Array], Any] | None:
    """What takes rows to the device that an engine names; None for the cores of this machine and for Dask."""
    if isinstance(engine, Cluster) or is_one_of(engine, ("auto", "dask", "threads")):
        return None
    if not isinstance(engine, str):
        raise InputTypeError(f"engine: expected a name, got {type(engine).__name__}", argument="engine")
    from twosample.places.libraries import mover

    return mover(engine)


def _needs_all(options: Options) -> InputError | None:
    """The refusal of a question that needs all rows in memory, if it does."""
    few: Remedy = "take a sample of the rows that fits in memory"
    model = options.model
    if options.permutations:
        message = "permutations: these rows are read in blocks, and labels can be permuted only in memory"
        return InputError(message, argument="permutations", remedy=few)
    if model.needs_pairs or (options.lengthscale is None and not isinstance(model.lengthscale, LogUniform)):
        message = f"model: these rows are read in blocks, and {model.name!r} needs all of them in memory"
        return InputError(message, argument="model", remedy=("use ", Setting("model", "adaptive"), f", or {few}"))
    return None
