"""What a test returns: a frozen record that prints well, goes through JSON and derives everything from log BF10."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from twosample import models
from twosample.common.arrays import Array
from twosample.common.threads import one_thread
from twosample.common.words import (
    data_in_words,
    log_bf10_text,
    printable,
    probability_in_words,
    pvalue_text,
    sentence,
    with_names,
)
from twosample.data import LeftOut, View, check_finite, located, some
from twosample.data.categories import Levels, sizes_of
from twosample.errors import InputError, Setting
from twosample.inference import pictures
from twosample.inference.bayes_factor import BayesFactor, strength, verdict
from twosample.inference.columns import BySubset, ColumnEvidence, SubsetEvidence, Table
from twosample.inference.effect import Effect, size_in_words
from twosample.inference.pictures import Shown
from twosample.inference.witness import Driver, Witness, WitnessPosterior, locations
from twosample.results.mixing import Mixing
from twosample.results.result_parts import Amplitude, Diagnostics, KernelEvidence, Lengthscale

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from twosample.common.progress import Progress
    from twosample.questions.monitor import Monitor
    from twosample.results.robustness import Robustness

__all__ = ["TwoSampleResult"]


# Where a p-value and the Bayes factor disagree.
_CLEAR, _SMALL_PVALUE, _TINY_PVALUE = 1.0, 0.05, 0.005
# Places along one column, and along each of two, at which plots show the witness.
_PLACES = {1: 200, 2: 48}
# Columns that a summary names.
_SHOWN_COLUMNS = 3
# Functions that look at the data again.
_REMEMBERED = ("_look", "_sequence", "_votes")


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleResult(BayesFactor):
    """The answer to "are these two samples from the same distribution?".

    Attributes
    ----------
    log_bf10
        Natural logarithm of the Bayes factor: positive for different, negative for the same. All else follows.
    prior_odds
        Prior odds of "different" against "the same".
    lengthscale
        Posterior of the lengthscale.
    amplitude
        Posterior of the amplitude of the witness.
    points
        Evaluation points (s, D), in the units of the data: rows of the samples, unless they were given. None in results
        that were read from a file without them.
    n_x, n_y
        Sample sizes used.
    columns
        Names of the columns used.
    center, scale
        What was subtracted from each column and what it was divided by, (D,).
    paired
        Whether the rows are pairs.
    kernel
        Name of the kernel; of several, of the likeliest one.
    model
        The model with all its constants.
    diagnostics
        How the answer was computed.
    witness_posterior
        The mixture behind `witness`; None where `points` is.
    pvalue
        Permutation p-value of the Bayes factor, None without permutations.
    evalue
        BF10 over its mean for permuted labels, an e-value: its mean is 1 where the samples are from one distribution,
        whatever that is. None without permutations.
    effect
        How much the samples differ: posteriors of the MMD and of the AUC of the witness; None for models that do not
        say.
    rope
        An AUC that counts as no difference that matters, or None.
    by_subset
        The evidence of columns and of subsets of columns, behind `by_column` and `subsets`; None where the model tests
        all columns together and nothing else.
    drivers
        Of three columns or more, the few columns or the pair that drive the difference, with their own witness, for
        plots; empty otherwise and where `by_subset` is None.
    left_out
        Columns of the data that were not used, and why; but not those that `columns` did not ask for.
    names
        What the samples are called: the groups, where one table was split.
    shown
        What plots show of the samples, in aggregate; None in files of the first schema.
    shown_witness
        Of one or two columns the witness on the range that is shown, in results that were read from a file without
        evaluation points; else None.
    shown_x, shown_y
        With `keep_rows`, at most 500 rows of each sample (2,000 of one column), a random subset, for plots; else None.
    points_given
        Whether the evaluation points were given rather than chosen among the rows.
    kernels
        Where the test is an average over several kernels, a `KernelEvidence` for each, likeliest first: name, log BF10
        and posterior probability. Witness, lengthscale, columns and the size of a difference are then those of the
        likeliest kernel. Empty for one kernel.
    levels
        The levels of columns of categories, most common first; None for each column of numbers, and empty where there
        are no categories. Where rows and points are numbers, a level is its place here, and one more stands for all
        others.

    Notes
    -----
    By default JSON holds no rows of the samples, evaluation points included, but what plots need of them in aggregate:
    densities, quantiles, counts of values and of cells. Pickles hold the evaluation points too; see the guide,
    "What a result file holds".
    """

    _derived: ClassVar[tuple[str, ...]] = (*BayesFactor._derived, "prob_beyond_rope", "by_column", "subsets")
    _internal: ClassVar[tuple[str, ...]] = (
        "by_subset", "changed", "data_words", "has_robustness", "of", "of_files", "picture", "points_given",
        "relabelled_words", "remember", "remember_objects", "shown", "shown_witness", "shown_x", "shown_y", "view",
        "witness_picture", "witness_posterior",
    )  # fmt: skip

    lengthscale: Lengthscale
    amplitude: Amplitude
    points: Array | None
    n_x: int
    n_y: int
    columns: tuple[str, ...]
    center: Array
    scale: Array
    paired: bool
    kernel: str
    model: models.Model
    diagnostics: Diagnostics
    witness_posterior: WitnessPosterior | None
    pvalue: float | None
    evalue: float | None = None
    by_subset: BySubset | None = None
    effect: Effect | None = None
    rope: float | None = None
    drivers: tuple[Driver, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    names: tuple[str, str] = ("x", "y")
    shown: Shown | None = None
    shown_witness: Driver | None = None
    shown_x: Array | None = None
    shown_y: Array | None = None
    points_given: bool = False
    kernels: tuple[KernelEvidence, ...] = ()
    levels: Levels = ()

    @property
    def view(self) -> View:
        """What was done to the columns."""
        return View(self.center, self.scale, sizes_of(self.levels))

    @property
    def verdict(self) -> str:
        """Evidence and size of the difference in words, or how large one could have been missed."""
        if self.diagnostics.flat and self.by_subset is None:
            return verdict(0.0, flat=True)
        words = verdict(self.log_bf10)
        if self.effect is None or not strength(self.log_bf10):
            return words
        if self.log_bf10 > 0:
            size = size_in_words(self.effect.auc.given_different(0.5))
            return f"{strength(self.log_bf10)} evidence of a {size} difference"
        return f"{words}, with no difference larger than AUC {self.effect.auc.given_different(0.95):.2f}"

    @property
    def prob_beyond_rope(self) -> float | None:
        """P(AUC > `rope` | data): that there is a difference that matters; None without a `rope`."""
        if self.rope is None or self.effect is None:
            return None
        return self.effect.auc.exceeding(self.rope)

    @property
    def disagreement(self) -> str | None:
        """A sentence where verdict and p-value point to different answers, else None."""
        if self.pvalue is None:
            return None
        if self.log_bf10 > _CLEAR and self.pvalue > _SMALL_PVALUE:
            return (
                f"The p-value of {pvalue_text(self.pvalue)} does not agree: so much evidence is common among "
                "relabelled data, so do not rely on the Bayes factor here."
            )
        if self.pvalue <= (_SMALL_PVALUE if self.log_bf10 < -_CLEAR else _TINY_PVALUE) and self.log_bf10 < _CLEAR:
            return (
                f"The p-value of {pvalue_text(self.pvalue)} does not agree: so much evidence is rare among relabelled "
                "data, so there may be a difference: too few rows, or one unlike what the prior expects, can hide it."
            )
        return None

    @property
    def by_column(self) -> Table[ColumnEvidence]:
        """Which columns differ: a `ColumnEvidence` for each, likeliest first; empty where the model does not say.

        Examples
        --------
        >>> import numpy as np, twosample as ts
        >>> rng = np.random.default_rng(0)
        >>> x, y = rng.normal(size=(2, 100, 3))
        >>> y[:, 1] += 0.8
        >>> first, *others = ts.test(x, y).by_column
        >>> first.column, first.words, [row.prob < 0.5 for row in others]
        ('1', 'larger in y, large (AUC 0.74)', [True, True])
        """
        if self.by_subset is None:
            return Table((), ColumnEvidence._fields)
        return self.by_subset.by_column(self.columns, self.prob_h1)

    @property
    def subsets(self) -> Table[SubsetEvidence]:
        """Which columns differ together: a `SubsetEvidence` for each subset, likeliest first."""
        if self.by_subset is None:
            return Table((), SubsetEvidence._fields)
        return self.by_subset.by_subset(self.columns)

    @property
    def mixture(self) -> Mixing:
        """The posterior of the share of H1 in a mixture of both hypotheses, which `over_blocks` lets blocks vote on.

        Examples
        --------
        >>> import twosample as ts
        >>> result = ts.test([0.1, 0.4, 0.7, 0.9, 1.2, 0.3], [2.1, 2.4, 2.6, 2.9, 3.2, 2.2])
        >>> abs(result.mixture.mean - (0.25 + 0.5 * result.bf10 / (1 + result.bf10))) < 1e-12
        True
        """
        return Mixing(np.array([self.log_bf10])).remember(self.__dict__.get("_votes"))

    def witness(self, at: object) -> Witness:
        """Where the samples differ: posterior of the witness function at given locations.

        Parameters
        ----------
        at
            Locations (m, D), in the units of the data; a list of numbers for one column. With columns of categories a
            data frame or a Series, or their codes.

        Examples
        --------
        >>> import twosample as ts
        >>> result = ts.test([0.1, 0.4, 0.7, 0.9, 1.2, 0.3], [2.1, 2.4, 2.6, 2.9, 3.2, 2.2])
        >>> (result.witness([0.5, 2.5]).mean > 0).tolist()
        [True, False]
        """
        rows = located(at, "at", self.columns, self.levels)
        check_finite(rows, "at")
        if self.witness_posterior is not None:
            mean, sd = self.witness_posterior.at(self.view.apply(rows))
            return Witness(rows, mean, sd)
        # Only the picture of the witness is there.
        if self.shown_witness is not None and self.shown_witness.covers(rows):
            return self.shown_witness.at(rows)
        where = "" if self.shown_witness is None else " but on the range of its picture"
        raise InputError(
            f"at: this result was written without evaluation points, and does not know the witness{where}",
            argument="at",
            remedy=("test with ", Setting("keep_rows", True), ", which writes them"),
        )

    @cached_property
    def picture(self) -> Shown:
        """What plots show of the samples, in aggregate, whatever version wrote them."""
        if self.shown is not None:
            return self.shown
        if self.shown_x is None or self.shown_y is None:
            raise InputError("result: it holds neither rows nor what a picture needs of them", argument="result")
        groups = [driver.columns for driver in self.drivers]
        if not groups and len(self.columns) <= 2:
            groups = [tuple(range(len(self.columns)))]
        if groups:
            return pictures.of_rows(self.shown_x, self.shown_y, groups, self.levels)
        return pictures.on_axes(self.shown_x, self.shown_y, self.view.apply, self.witness)

    @cached_property
    def witness_picture(self) -> Driver | None:
        """The witness of one or two columns on the range that plots show, to six digits; None of more columns."""
        if self.shown_witness is not None or len(self.columns) > 2:
            return self.shown_witness
        count, places = _PLACES[len(self.columns)], range(len(self.columns))
        grid = np.stack(
            [pictures.places_along(one.limits, count, pictures.levels_at(self.levels, column), alone=len(places) == 1)
             for column, one in zip(places, self.picture.columns, strict=True)]
        )  # fmt: skip
        with one_thread():
            found = self.witness(locations(grid))
        shape = (grid.shape[1],) * len(grid)
        mean, sd = (pictures.rounded(values).reshape(shape) for values in (found.mean, found.sd))
        return Driver(tuple(range(len(grid))), grid, mean, sd)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries: schema, derived quantities, and every field.

        Evaluation points that are rows of the samples, and what follows from them, are left out unless the result was
        made with `keep_rows`; the picture of the witness takes their place.
        """
        if self.points is None or self.points_given or self.shown_x is not None:
            return super().to_dict()
        return replace(self, points=None, witness_posterior=None, shown_witness=self.witness_picture).to_dict()

    def remember(
        self,
        look: Callable[..., Robustness],
        sequence: Callable[..., Monitor] | None = None,
        votes: Callable[..., Array] | None = None,
    ) -> None:
        """Keep functions that look at the same data again; neither JSON nor pickles have them.

        One tests with other assumptions, one goes through the rows in their order, and one has the Bayes factors of
        blocks of rows.
        """
        for name, value in zip(_REMEMBERED, (look, sequence, votes), strict=True):
            object.__setattr__(self, name, value)

    def changed(self, **fields: Any) -> TwoSampleResult:
        """The same with other values of some fields; it remembers what this one does."""
        other = replace(self, **fields)
        if "_look" in self.__dict__:
            other.remember(*(self.__dict__[name] for name in _REMEMBERED))
        return other

    def of_files(self, names: tuple[str, str], notes: tuple[str, ...]) -> TwoSampleResult:
        """The same, with what the samples are called and, before the other notes, what was said when they were read."""
        diagnostics = replace(self.diagnostics, notes=notes + self.diagnostics.notes)
        return self.changed(names=names, diagnostics=diagnostics)

    @property
    def has_robustness(self) -> bool:
        """Whether `robustness` has data to look at again, and a prior that can be varied."""
        return "_look" in self.__dict__ and self.model.amplitude is not None and not self.model.needs_pairs

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickles hold: all but the data."""
        return {name: value for name, value in self.__dict__.items() if name not in _REMEMBERED}

    def robustness(self, *, progress: Progress = False) -> Robustness:
        """How log BF10 depends on what was assumed: the test again with other priors and numbers of points.

        It is for results of `test` while they are in memory, which have the data to look at again. It takes about four
        times as long as the test did.

        Parameters
        ----------
        progress
            As in `twosample.test`.

        Examples
        --------
        >>> import numpy as np, twosample as ts
        >>> rng = np.random.default_rng(1)
        >>> found = ts.test(rng.normal(0, 1, 60), rng.normal(2, 1, 60)).robustness()
        >>> found.sentence[:60]
        'The verdict holds for scales of the amplitude from 0.05 to 2'
        """
        look = self.__dict__.get("_look")
        if look is None:
            raise InputError(
                "robustness: this result has no data to look at again",
                remedy="call it on what test returned, before it is written, copied to another process or changed; of "
                "rows that were too many to keep, test a sample",
            )
        found: Robustness = look(progress=progress)
        return found

    def sequential(self, *, batches: int = 20, **options: Any) -> Monitor:
        """Go through the samples in their order, as if they had come as streams: how the evidence grew.

        It is for results of `test` while they are in memory, which have the data to look at again.

        Parameters
        ----------
        batches
            In how many batches; each has the same share of the rows of both samples.
        **options
            As in `twosample.Monitor`, such as `alpha`.

        Returns
        -------
        Monitor
            With `plot()`, `history` and `state`. Its e-value may be looked at at any time; the order of the rows
            matters, and must not have been chosen with a look at them.

        Examples
        --------
        >>> import numpy as np, twosample as ts
        >>> rng = np.random.default_rng(1)
        >>> result = ts.test(rng.normal(0, 1, 200), rng.normal(0.8, 1, 200))
        >>> result.sequential(batches=8).state.alarm
        True
        """
        sequence = self.__dict__.get("_sequence")
        if sequence is None:
            raise InputError(
                "sequential: this result has no data to look at again",
                remedy="call it on what test returned, or use twosample.sequential",
            )
        monitor: Monitor = sequence(batches=batches, **options)
        return monitor

    def summary(self) -> str:
        """The answer in a few lines of text."""
        low, high = self.lengthscale.interval(0.9)
        caution = self.model.caution(scaled=bool((self.scale != 1.0).any()))
        lengthscale = (
            f"fixed at {self.lengthscale.grid[0]:.3g}"
            if self.lengthscale.fixed
            else f"{self.lengthscale.mean:.3g} (90 % between {low:.3g} and {high:.3g})"
        )
        lines = [
            f"{sentence(self.verdict)}.",
            *([self.disagreement] if self.disagreement else []),
            *([caution] if caution else []),
            f"  P(different | data)  {probability_in_words(self.prob_h1)}",
            *([] if self.prior_odds == 1.0 else [f"  prior odds           {self.prior_odds:g}"]),
            f"  log BF10             {log_bf10_text(self.log_bf10)}",
            *self._permutations_in_words(),
            *self._effect_in_words(),
            *self._columns_in_words(),
            f"  lengthscale          {lengthscale}",
            f"  data                 {self.data_words}",
            *self._used_in_words(),
            f"  model                {self.model.name}, {self._count_points()} evaluation points",
            *self._kernels_in_words(),
        ]
        return "\n".join(lines + [f"  note                 {note}" for note in self.diagnostics.notes])

    @property
    def data_words(self) -> str:
        """How much data there was, in words."""
        return data_in_words(self.n_x, self.n_y, len(self.columns), self.paired)

    def _used_in_words(self) -> list[str]:
        """The columns by name, where they have names, and those left out."""
        lines = []
        if not all(column.isdecimal() for column in self.columns):
            lines.append(f"  columns used         {printable(some(self.columns, quote=False))}")
        if self.left_out:
            words = [f"{printable(one.column)} ({one.reason})" for one in self.left_out]
            lines.append(f"  columns left out     {some(words, quote=False)}")
        return lines

    def _kernels_in_words(self) -> list[str]:
        """Which kernel, where it is not the Gaussian alone."""
        if not self.kernels:
            return [] if self.kernel == "rbf" else [f"  kernel               {self.kernel}"]
        lines = [f"{one.name}: {probability_in_words(one.posterior)}" for one in self.kernels]
        words = "the average; P(kernel | different)"
        return [f"  {'kernels' if not number else '':<21}{line}" for number, line in enumerate([words, *lines])]

    def _count_points(self) -> int:
        return self.diagnostics.points if self.points is None else len(self.points)

    def _permutations_in_words(self) -> list[str]:
        if self.pvalue is None:
            return []
        relabelled = f"{self.diagnostics.permutations} {self.relabelled_words}"
        lines = [f"  p-value              {pvalue_text(self.pvalue)} ({relabelled})"]
        return lines if self.evalue is None else [*lines, f"  e-value              {self.evalue:.3g}"]

    @property
    def relabelled_words(self) -> str:
        """What the p-value is counted in."""
        return "random swaps" if self.paired else "permutations"

    def _effect_in_words(self) -> list[str]:
        if self.effect is None:
            return []
        low, high = self.effect.auc.interval(0.9)
        lines = [f"  AUC of the witness   {self.effect.auc.mean:.3f} (90 % between {low:.3f} and {high:.3f})"]
        if self.prob_beyond_rope is not None:
            lines.append(f"  P(AUC > {self.rope:g})".ljust(23) + probability_in_words(self.prob_beyond_rope))
        return lines

    def _columns_in_words(self) -> list[str]:
        if self.by_subset is None:
            return []
        if len(self.columns) == 1:
            moved = self.by_subset.words(0) if self.levels and self.prob_h1 > 0.5 else ""
            return [f"  column               {with_names(moved, self.names)}"] if moved else []
        lines = []
        for row in self.by_column[:_SHOWN_COLUMNS]:
            words = f", {with_names(row.words, self.names)}" if row.prob > 0.5 else ""
            lines.append(f"{printable(row.column)}: {probability_in_words(row.prob)}{words}")
        named = [f"  {'P(column differs)' if not number else '':<21}{line}" for number, line in enumerate(lines)]
        pair = self.by_subset.together()
        if pair is not None and self.log_bf10 > _CLEAR:
            first, second = (printable(self.columns[place]) for place in pair)
            named.insert(0, f"  columns              {first} and {second} differ in how they go together")
        return named

    def plot(self, *, names: tuple[str, str] | None = None, figsize: tuple[float, float] | None = None) -> Figure:
        """Draw the samples, the witness with its band and the lengthscale posterior (needs the `plot` extra).

        Of three columns or more it shows those that drive the difference, and how likely each column differs. Save the
        figure with ``result.plot().savefig("result.png")``; `names` says what to call the samples, if not as in the
        result, and `figsize` how large it is, in inches. Each panel is also a function of `twosample.plots`.
        """
        from twosample.show.plots import plot_result

        return plot_result(self, names=names, figsize=figsize)

    def report(self, path: str | Path, *, progress: Progress = False) -> Path:
        """Write the answer as one page that needs nothing else, to be sent round or printed (extra `report`).

        Where the data are still in memory, it also says how the answer depends on what was assumed (`robustness`),
        which takes a few times as long as the test did.

        Parameters
        ----------
        path
            Where to write it; it ends in .html. The page holds no rows of the data, unless `keep_rows` was asked for.
        progress
            As in `twosample.test`.

        Returns
        -------
        pathlib.Path
            The path.

        Examples
        --------
        >>> import tempfile, twosample as ts
        >>> result = ts.test([0.1, 0.4, 0.7, 0.9, 1.2, 0.3], [2.1, 2.4, 2.6, 2.9, 3.2, 2.2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(f"{folder}/answer.html").name
        'answer.html'
        """
        from twosample.show import report

        return report.write(self, path, self.robustness(progress=progress) if self.has_robustness else None)

    def text(self) -> str:
        """The answer as a paragraph for a paper: what was compared, the model, the numbers, and what to cite.

        Examples
        --------
        >>> import twosample as ts
        >>> ts.test([0.1, 0.4, 0.7, 0.9, 1.2, 0.3], [2.1, 2.4, 2.6, 2.9, 3.2, 2.2]).text()[:44]
        'We compared x with y (n = 6 and 6; 1 column)'
        """
        from twosample.show.report import paragraph

        return paragraph(self)

    def _repr_html_(self) -> str:
        """Return the head of the report, for notebooks."""
        from twosample.show.report import head

        return head(self)
