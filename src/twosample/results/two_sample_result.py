"""The result of a test of two samples with columns: everything in it is derived from log BF10 and posteriors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from twosample.common.arrays import Array
from twosample.common.constraints import POSITIVE, Axes
from twosample.common.threads import one_thread
from twosample.common.words import count_in_words, data_in_words, printable, probability_in_words, with_names
from twosample.data import LeftOut, View, check_finite, located
from twosample.data.categories import Levels, sizes_of
from twosample.errors import InputError, Setting
from twosample.inference import pictures
from twosample.inference.columns import BySubset, ColumnEvidence, OnlyInOne, SubsetEvidence, Table
from twosample.inference.pictures import Shown
from twosample.inference.witness import Driver, Witness, WitnessPosterior
from twosample.results.comparison import CLEAR, Comparison
from twosample.results.result_parts import MOST_BARS, KernelEvidence, Lengthscale, column_facts, used_columns
from twosample.results.units_in_words import CELLS, HEADINGS, difference_facts, how_many_matter, note_on_units
from twosample.show.content import DataTable, Fact, Facts, Panel

__all__ = ["TwoSampleResult"]


# Places along one column, and along each of two, at which plots show the witness.
_PLACES = {1: 200, 2: 48}
_COLUMN_HEADINGS = {
    "column": "column", "prob": "P(differs)", "log_bf10": "log BF10", "words": "how, if it does", "auc": "AUC",
    **HEADINGS,
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TwoSampleResult(Comparison):
    """The answer to "are these two samples from the same distribution?".

    It has all that a `Comparison` of two samples has: Bayes factor, verdict, size of the difference. This is what it
    has because the samples have columns.

    Attributes
    ----------
    lengthscale
        Posterior of the lengthscale.
    points
        Evaluation points (s, D), in the units of the data: rows of the samples, unless they were given. None in results
        that were read from a file without them.
    columns
        Names of the columns used.
    center, scale
        What was subtracted from each column and what it was divided by, (D,).
    witness_posterior
        The mixture behind `witness`; None where `points` is.
    by_subset
        The evidence of columns and of subsets of columns, behind `by_column` and `subsets`; None where the model tests
        all columns together and nothing else.
    drivers
        Of three columns or more, the few columns or the pair that drive the difference, with their own witness, for
        plots; empty otherwise and where `by_subset` is None.
    left_out
        Columns of the data that were not used, and why; but not those that `columns` did not ask for.
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
        The 31 most common levels of columns of categories; None for each column of numbers, and empty where there are
        no categories. Where rows and points are numbers, a level is its place here, and one more stands for all others.
    only_in_one
        An `OnlyInOne` for each column of categories and sample with levels that the other sample has not, where chance
        does not explain it: what share of the rows have them, and the most common of them by name.

    Notes
    -----
    By default JSON holds no rows of the samples, evaluation points included, but what plots need of them in aggregate:
    densities, quantiles, counts of values and of cells. Pickles hold the evaluation points too; see the guide,
    "What a result file holds".
    """

    _derived: ClassVar[tuple[str, ...]] = (*Comparison._derived, "by_column", "subsets")
    _internal: ClassVar[tuple[str, ...]] = (
        *Comparison._internal, "by_subset", "picture", "points_given", "shown", "shown_witness", "shown_x",
        "shown_y", "view", "witness_picture", "witness_posterior",
    )  # fmt: skip
    page: ClassVar[str] = "two_samples_page"
    figure: ClassVar[str] = "plot_result"

    lengthscale: Lengthscale
    points: Annotated[Array, Axes("points", "D")] | None
    columns: Annotated[tuple[str, ...], Axes("D", least=1)]
    center: Annotated[Array, Axes("D")]
    scale: Annotated[Array, Axes("D"), POSITIVE]
    witness_posterior: WitnessPosterior | None
    by_subset: BySubset | None = None
    drivers: tuple[Driver, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    shown: Shown | None = None
    shown_witness: Driver | None = None
    shown_x: Annotated[Array, Axes("rows of x", "D")] | None = None
    shown_y: Annotated[Array, Axes("rows of y", "D")] | None = None
    points_given: bool = False
    kernels: tuple[KernelEvidence, ...] = ()
    levels: Annotated[Levels, Axes("D", optional=True)] = ()
    only_in_one: tuple[OnlyInOne, ...] = ()

    @property
    def view(self) -> View:
        """The transformation of the columns."""
        return View(self.center, self.scale, sizes_of(self.levels))

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
        return self.columns_with(self.names)

    def columns_with(self, names: tuple[str, str]) -> Table[ColumnEvidence]:
        """The table `by_column` with other names of the samples."""
        rows = () if self.by_subset is None else self.by_subset.by_column(self.columns, self.prob_h1)
        return Table([row._replace(words=with_names(row.words, names)) for row in rows], ColumnEvidence._fields)

    @property
    def together(self) -> tuple[str, str] | None:
        """Two columns that differ in how they go together, where that is likelier than a difference of either."""
        pair = None if self.by_subset is None or len(self.columns) < 2 else self.by_subset.together()
        if pair is None or self.log_bf10 <= CLEAR:
            return None
        return self.columns[pair[0]], self.columns[pair[1]]

    @property
    def subsets(self) -> Table[SubsetEvidence]:
        """Which columns differ together: a `SubsetEvidence` for each subset, likeliest first."""
        if self.by_subset is None:
            return Table((), SubsetEvidence._fields)
        return self.by_subset.by_subset(self.columns)

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
        """The aggregates of the samples that plots show, also of results that older versions wrote."""
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
        columns, limits = tuple(range(len(self.columns))), [one.limits for one in self.picture.columns]

        def rounded(at: Array) -> tuple[Array, Array]:
            found = self.witness(at)
            return pictures.rounded(found.mean), pictures.rounded(found.sd)

        with one_thread():
            return pictures.driver_within(limits, columns, self.levels, _PLACES[len(columns)], rounded)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries: schema, derived quantities, and every field.

        Evaluation points that are rows of the samples, and what follows from them, are left out unless the result was
        made with `keep_rows`; the picture of the witness takes their place.
        """
        if self.points is None or self.points_given or self.shown_x is not None:
            return super().to_dict()
        return replace(self, points=None, witness_posterior=None, shown_witness=self.witness_picture).to_dict()

    def facts(self) -> Facts:
        """The answer in words and numbers, in the order in which they are read."""
        found = super().facts()
        return replace(found, notes=(*(one.words(self.names) for one in self.only_in_one), *found.notes))

    @property
    def _is_uninformative(self) -> bool:
        return self.diagnostics.flat and self.by_subset is None

    @property
    def _caution(self) -> str | None:
        return self.model.caution(scaled=bool((self.scale != 1.0).any()))

    def _own_facts(self) -> list[Fact]:
        low, high = self.lengthscale.interval(0.9)
        lengthscale = (
            Fact("lengthscale", f"fixed at {self.lengthscale.grid[0]:.3g}")
            if self.lengthscale.fixed
            else Fact("lengthscale", f"{self.lengthscale.mean:.3g}", f" (90 % between {low:.3g} and {high:.3g})")
        )
        points = self.diagnostics.points if self.points is None else len(self.points)
        return [
            *self._column_facts(),
            lengthscale,
            Fact("data", self._data_words),
            *used_columns(self.columns, self.left_out),
            Fact("model", self.model.name, f", {count_in_words(points, 'evaluation point')}"),
            *self._kernel_facts(),
        ]

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name: `by_column` and `subsets`, and `kernels` where there are several."""
        found = {}
        if self.by_subset is not None:
            found["by_column"] = DataTable(
                "Which columns differ",
                dict(_COLUMN_HEADINGS),
                self.by_column,
                note=note_on_units(self.by_subset.units, (self.n_x, self.n_y), self.names),
                brief=(*list(_COLUMN_HEADINGS)[:4], *CELLS),
                texts=CELLS,
            )
            found["subsets"] = DataTable(
                "Which columns differ together",
                {"columns": "columns", "prior": "prior", "log_bf10": "log BF10", "posterior": "posterior"},
                self.subsets,
            )
        if self.kernels:
            found["kernels"] = DataTable(
                "Evidence with each kernel",
                {"name": "kernel", "log_bf10": "log BF10", "posterior": "P(kernel | different)"},
                [(one.name, one.log_bf10, one.posterior) for one in self.kernels],
            )
        return found or super().tables()

    def panels(self) -> dict[str, Panel]:
        """The data of pictures: posterior of the lengthscale, witness of one or two columns, P(column differs)."""
        found = {}
        if not self.lengthscale.fixed:
            scale = self.lengthscale
            curves = {"if they differ": (scale.grid, scale.density_h1), "if not": (scale.grid, scale.density_h0)}
            found["lengthscale"] = Panel("At what scale they differ, if they do", "lengthscale", "density", curves)
        picture = self.witness_picture
        if picture is not None and len(picture.columns) == 1:
            at, mean, band = picture.grid[0], picture.mean, 2.0 * picture.sd
            lines = {"mean": (at, mean), "lower": (at, mean - band), "upper": (at, mean + band)}
            found["witness"] = Panel("Where they differ, if they do", printable(self.columns[0]), "witness", lines)
        elif picture is not None:
            first, second = map(printable, self.columns)
            values = {"witness": (picture.grid[0], picture.grid[1], picture.mean)}
            found["witness"] = Panel("Where they differ, if they do", first, second, values, "map")
        if self.by_subset is not None and len(self.columns) > 1:
            rows = self.by_column[:MOST_BARS]
            names, probabilities = [row.column for row in rows], [row.prob for row in rows]
            found["columns"] = Panel.bars("Which columns differ", "column", "P(differs)", names, probabilities)
        return found

    @property
    def _data_words(self) -> str:
        return data_in_words(self.n_x, self.n_y, len(self.columns), self.paired, self.paired_by)

    def _kernel_facts(self) -> list[Fact]:
        """Which kernel, where it is not the Gaussian alone."""
        if not self.kernels:
            return [] if self.kernel == "rbf" else [Fact("kernel", self.kernel)]
        lines = [Fact("", f"{one.name}: {probability_in_words(one.posterior)}") for one in self.kernels]
        return [Fact("kernels", "the average; P(kernel | different)"), *lines]

    def _column_facts(self) -> list[Fact]:
        if self.by_subset is None:
            return []
        if len(self.columns) == 1:
            moved = self.by_column[0].words if self.levels and self.prob_h1 > 0.5 else ""
            return [Fact("column", moved)] if moved else difference_facts(self.by_column, self.names)
        rows = self.by_column
        found = column_facts(rows, self.names)
        differ = [np.nan if row.auc is None else row.auc for row in rows if row.prob > 0.5]
        found += how_many_matter(np.array(differ), len(rows), self.rope)
        if self.together is not None:
            first, second = map(printable, self.together)
            found.insert(0, Fact("columns", f"{first} and {second} differ in how they go together"))
        return found
