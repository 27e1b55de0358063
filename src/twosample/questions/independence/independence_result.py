"""The result of a test of independence: a frozen record, as text, picture, report and JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from twosample.common.arrays import Array
from twosample.common.constraints import POSITIVE, Axes, Count, Nonnegative, Ones, SampleSize, Share, Within
from twosample.common.records import Comparable
from twosample.common.words import columns_in_words, odds_in_words, printable, probability_in_words, sentence
from twosample.data import some
from twosample.errors import InputError, InputTypeError
from twosample.inference import discoveries
from twosample.inference.columns import Table
from twosample.inference.witness import Witness
from twosample.questions.independence.pairing import PairsWitness, Picture
from twosample.questions.independence.sides import Axis
from twosample.results.result import BayesFactor, no_data
from twosample.results.result_parts import MOST_BARS
from twosample.show.content import DataTable, Fact, Facts, Panel

__all__ = ["IndependenceResult", "PairEvidence", "Scales"]

_SHOWN_PAIRS = 3
# Correlations of normal scores that are less clear than this, in standard errors, are not said to rise or fall.
_CLEAR = 2.0

# Of one column of x with each of y.
_Correlations = Annotated[tuple[Annotated[float, Within(-1.0 - 1e-9, 1.0)] | None, ...], Axes("Y")]


class PairEvidence(NamedTuple):
    """The evidence that one column of x and one of y depend on each other.

    Attributes
    ----------
    x, y
        Their names.
    prob
        Probability that they depend on each other, from their Bayes factor alone. The prior probability is the share of
        pairs that do, learnt from all of them.
    log_bf10
        Log Bayes factor of the two.
    correlation
        Of their normal scores; None where one is a category.
    words
        How they go together, if they do.
    """

    x: str
    y: str
    prob: float
    log_bf10: float
    correlation: float | None
    words: str


@dataclass(frozen=True, eq=False, repr=False)
class Scales(Comparable):
    """Posterior of the lengthscales, given a dependence: at what scale of x and of y it is.

    Attributes
    ----------
    x, y
        Lengthscales, increasing, (m_x,) and (m_y,), in units of normal scores.
    mass
        Posterior probability of each pair of them, (m_x, m_y); adds up to one.
    log_bf10
        Log Bayes factor with that pair of lengthscales alone, (m_x, m_y).
    """

    x: Annotated[Array, Axes("m of x", least=1), POSITIVE]
    y: Annotated[Array, Axes("m of y", least=1), POSITIVE]
    mass: Annotated[Array, Axes("m of x", "m of y"), Ones()]
    log_bf10: Annotated[Array, Axes("m of x", "m of y")]

    @property
    def mean(self) -> tuple[float, float]:
        """Posterior means of the lengthscales of x and y."""
        return float(self.mass.sum(axis=1) @ self.x), float(self.mass.sum(axis=0) @ self.y)


@dataclass(frozen=True, eq=False, repr=False)
class IndependenceResult(BayesFactor):
    """Whether x and y are independent, with what probability, and where they are not.

    Attributes
    ----------
    log_bf10
        Natural logarithm of the Bayes factor: positive for dependent, negative for independent. All else follows.
    prior_odds
        Prior odds of "dependent" against "independent".
    n
        Number of rows.
    x, y
        Names of the columns of either side.
    pairs
        Log Bayes factor of every column of x with every one of y, (D_x, D_y).
    correlations
        Correlations of their normal scores, for each column of x one for each of y; None where one is a category.
    joint
        Log Bayes factor of all columns of x with all columns of y.
    lengthscale
        Posterior of the lengthscales of all columns together.
    size
        How strong the dependence of all columns together is, if there is one: √(φ²/(1 + φ²)) with φ² the mean-square
        contingency, which is the size of the correlation where both are normal.
    pvalue, evalue
        From permutations of the pairing; None without.
    permutations
        How many.
    points
        Evaluation points on either side, at most.
    notes
        One sentence for everything that was dropped or warned about.
    picture
        The witness where either side is one column; None for more.
    witness_posterior
        What `witness` is computed from; None where the result was read from a file and x or y has several columns.
    """

    _derived: ClassVar[tuple[str, ...]] = (*BayesFactor._derived, "by_pair")
    _no_look: ClassVar[tuple[str, str]] = no_data("independence")
    _hypothesis: ClassVar[str] = "P(dependent | data)"
    page: ClassVar[str] = "independence_page"
    figure: ClassVar[str] = "plot_independence"

    n: SampleSize
    x: Annotated[tuple[str, ...], Axes("X", least=1)]
    y: Annotated[tuple[str, ...], Axes("Y", least=1)]
    pairs: Annotated[Array, Axes("X", "Y")]
    correlations: Annotated[tuple[_Correlations, ...], Axes("X")]
    joint: float
    lengthscale: Scales
    size: Share
    pvalue: Share | None
    evalue: Nonnegative | None
    permutations: Count
    points: Count
    notes: tuple[str, ...]
    picture: Picture | None
    witness_posterior: PairsWitness | None

    @property
    def _claims(self) -> tuple[str, str]:
        both = " and ".join(self.labels)
        return f"{both} are dependent", f"{both} are independent"

    @property
    def labels(self) -> tuple[str, str]:
        """Names of the sides: that of a single column, else x and y."""
        one, other = (
            printable(names[0]) if len(names) == 1 else side for names, side in ((self.x, "x"), (self.y, "y"))
        )
        return one, other

    @cached_property
    def by_pair(self) -> Table[PairEvidence]:
        """Which columns depend on each other: a `PairEvidence` for each of x with each of y, likeliest first.

        Examples
        --------
        >>> import numpy as np, twosample as ts
        >>> rng = np.random.default_rng(0)
        >>> x, y = rng.normal(size=(2, 100, 2))
        >>> y[:, 1] -= x[:, 0]
        >>> first, *others = ts.independence(x, y).by_pair
        >>> first.x, first.y, first.words, [row.prob < 0.5 for row in others]
        ('x0', 'y1', 'one falls as the other rises (correlation -0.67)', [True, True, True])
        """
        logs = self.pairs.ravel()
        prob = np.array([self.prob_h1])
        if len(logs) > 1:
            prob = discoveries.posterior(logs, discoveries.learn_share(logs))
        rows = []
        for place in np.argsort(-logs, kind="stable").tolist():
            i, j = divmod(place, len(self.y))
            correlation = self.correlations[i][j]
            words = _way(correlation, self.n, float(logs[place]))
            rows.append(PairEvidence(self.x[i], self.y[j], float(prob[place]), float(logs[place]), correlation, words))
        return Table(rows, PairEvidence._fields)

    def witness(self, x: object, y: object) -> Witness:
        """Where the dependence is: how much more mass pairs have there than independence would give them.

        It is the density of the pairs over the product of the margins, less 1: 0.5 is half as much again, -1 is none.

        Parameters
        ----------
        x, y
            Locations, as many of either: a value each, or a row each where there are several columns, in the units of
            the data.

        Returns
        -------
        Witness
            Its mean and standard deviation at each pair of them, given a dependence; `at` is empty for categories.

        Examples
        --------
        >>> import numpy as np, twosample as ts
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=200)
        >>> result = ts.independence(x, x + rng.normal(size=200))
        >>> (result.witness([1.0, 1.0], [1.5, -1.5]).mean > 0).tolist()
        [True, False]
        """
        if self.witness_posterior is None:
            raise InputError(
                "witness: this result was read from a file, which holds no evaluation points of several columns",
                remedy="call it on what independence returned, or on a result of one column on either side",
            )
        rows_x, at_x = _located(x, self.witness_posterior.axes_x, "x")
        rows_y, at_y = _located(y, self.witness_posterior.axes_y, "y")
        if len(rows_x) != len(rows_y):
            raise InputError(f"y has {len(rows_y)} locations and x has {len(rows_x)}", argument="y")
        mean, sd = self.witness_posterior.at(rows_x, rows_y)
        return Witness(np.concatenate([at_x, at_y], axis=1), mean, sd)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries: schema, derived quantities, and every field.

        Evaluation points of several columns, which are rows of the data, are left out.
        """
        if self.witness_posterior is None or (len(self.x) == 1 and len(self.y) == 1):
            return super().to_dict()
        return replace(self, witness_posterior=None).to_dict()

    def facts(self) -> Facts:
        """The answer in words and numbers, in the order in which they are read."""
        (ell_x, ell_y), (label_x, label_y) = self.lengthscale.mean, self.labels
        prob = probability_in_words(self.prob_h1)
        counted = f"{self.permutations} permutations"
        sides = [
            Fact(f"columns of {side}", printable(some(names, quote=False)))
            for side, names in (("x", self.x), ("y", self.y))
            if len(names) > 1
        ]
        evidence = self._evidence_facts((self.pvalue, self.evalue, counted))
        scales = f"{ell_x:.2g} for {label_x} and {ell_y:.2g} for {label_y}, in normal scores"
        data = f"{self.n} rows, {columns_in_words(len(self.x))} and {columns_in_words(len(self.y))}"
        return Facts(
            title=f"{label_x} and {label_y}",
            verdict=f"{sentence(self.verdict)}.",
            lines=(
                *evidence,
                Fact("size, if dependent", f"{self.size:.2f}", " (as a correlation of that size)", large=True),
                *self._pair_facts(),
                Fact("lengthscales", scales),
                Fact("data", data),
                *sides,
            ),
            answer=f"P(dependent | data) {prob if prob[0] in '<>' else f'= {prob}'}, at prior odds of "
            f"{odds_in_words(self.prior_odds)}.",
            remark="The size is that of a correlation: where both are normal and dependent, it is the correlation.",
            notes=self.notes,
        )

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name: `by_pair`, a row for each column of x with each of y."""
        headings = {
            "x": "x",
            "y": "y",
            "prob": "P(dependent)",
            "log_bf10": "log BF10",
            "correlation": "correlation",
            "words": "how, if they are",
        }
        brief = ("x", "y", "prob", "log_bf10", "words")
        return {"by_pair": DataTable("Which columns depend on each other", headings, self.by_pair, brief=brief)}

    def panels(self) -> dict[str, Panel]:
        """The data of pictures: where two columns of numbers depend, and how likely each pair of columns does."""
        found, picture, (first, second) = {}, self.picture, self.labels
        if picture is not None and not (picture.levels_x or picture.levels_y):
            values = {"witness": (picture.at_x, picture.at_y, picture.mean)}
            found["witness"] = Panel("Where they depend on each other", first, second, values, "map")
        rows = self.by_pair[:MOST_BARS]
        names, prob = [f"{row.x}, {row.y}" for row in rows], [row.prob for row in rows]
        found["pairs"] = Panel.bars("Which columns depend on each other", "columns", "P(dependent)", names, prob)
        return found

    def _pair_facts(self) -> list[Fact]:
        found = []
        for number, row in enumerate(self.by_pair[:_SHOWN_PAIRS]):
            words = row.words if row.prob > 0.5 else ""
            if self.pairs.size == 1:
                return [Fact("how", words)] if words else []
            said = f"{printable(row.x)} and {printable(row.y)}: {probability_in_words(row.prob)}"
            found.append(Fact("" if number else "P(pair depends)", f"{said}{f', {words}' if words else ''}"))
        return found


def _way(correlation: float | None, n: int, log_bf10: float) -> str:
    """How two columns go together, where a correlation accounts for half of the evidence or more.

    Examples
    --------
    >>> _way(0.5, 100, 9.0), _way(0.05, 100, 2.0)
    ('both rise together (correlation 0.50)', 'neither rising nor falling throughout')
    >>> _way(-0.2, 300, 90.0), _way(None, 100, 9.0)
    ('neither rising nor falling throughout', 'different from level to level')
    """
    if correlation is None:
        return "different from level to level"
    explained = -0.5 * n * math.log1p(-min(correlation**2, 1.0 - 1e-12))
    if abs(correlation) * n**0.5 <= _CLEAR or explained < 0.5 * log_bf10:
        return "neither rising nor falling throughout"
    way = "both rise together" if correlation > 0 else "one falls as the other rises"
    return f"{way} (correlation {correlation:.2f})"


def _located(values: Any, axes: tuple[Axis, ...], side: str) -> tuple[Array, Array]:
    """Coordinates of locations, and the locations themselves where they are numbers."""
    try:
        columns = list(np.atleast_2d(np.asarray(values, dtype=object).T))
    except ValueError:
        columns = []
    if len(columns) != len(axes):
        raise InputError(
            f"{side}: needs {columns_in_words(len(axes))}, not {len(columns)}", argument=side, remedy="pass a row each"
        )
    rows, at = [], []
    for axis, column in zip(axes, columns, strict=True):
        if axis.levels:
            unknown = [value for value in column.tolist() if not axis.knows(str(value))]
            if unknown:
                raise InputError(
                    f"{side}: {unknown[0]!r:.40} is no level of {axis.name!r}; it has {some(axis.levels)}",
                    argument=side,
                )
        else:
            try:
                numbers = column.astype(np.float64)
            except (TypeError, ValueError):
                raise InputTypeError(f"{side}: expected numbers of {axis.name!r}", argument=side) from None
            if not np.isfinite(numbers).all():
                raise InputError(f"{side}: missing or infinite locations", argument=side, remedy="remove them")
            at.append(numbers[:, None])
        rows.append(axis.coordinates(column.tolist()))
    empty = np.empty((len(rows[0]), 0))
    return np.concatenate(rows, axis=1), np.concatenate([empty, *at], axis=1)
