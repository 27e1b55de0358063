"""What a test of objects returns: the answer without columns, and which objects tell the samples apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import log_bf10_text, printable, probability_in_words, sentence
from twosample.errors import InputError
from twosample.inference.columns import Table
from twosample.inference.witness import Witness
from twosample.results.two_sample_result import TwoSampleResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from twosample.common.progress import Progress

__all__ = ["ObjectsResult", "ParameterEvidence"]

_Kept = tuple[Sequence[Any], Sequence[Any], Callable[[Any], tuple[Array, Array]]]


class ParameterEvidence(NamedTuple):
    """What the data say of one parameter of the kernel.

    Attributes
    ----------
    parameter
        The parameter, as text.
    log_bf10
        Log Bayes factor with this parameter alone.
    prior, posterior
        Probabilities given that the samples differ.
    """

    parameter: str
    log_bf10: float
    prior: float
    posterior: float


@dataclass(frozen=True, eq=False, repr=False)
class ObjectsResult(TwoSampleResult):
    """The answer for samples of objects that are no rows of numbers: strings, graphs, whatever has a kernel.

    It is a `TwoSampleResult` without columns. Parameters of the kernel stand where lengthscales do: `lengthscale` is of
    their numbers, from 1 on. JSON and pickles hold none of the objects.

    Attributes
    ----------
    parameters
        The parameters of the kernel, as text.
    parameter_log_bf10
        Log Bayes factor with each of them alone, (m,).
    witness_x, witness_y
        The posterior mean of the witness at the objects of each sample, sorted; of more than 500 objects, quantiles.
    telling_x, telling_y
        Places of the objects of the first sample with the largest witness, and of the second with the smallest.
    """

    _derived: ClassVar[tuple[str, ...]] = (*TwoSampleResult._derived, "by_parameter")

    parameters: tuple[str, ...] = ()
    parameter_log_bf10: Array = field(default_factory=lambda: np.zeros(0))
    witness_x: Array = field(default_factory=lambda: np.zeros(0))
    witness_y: Array = field(default_factory=lambda: np.zeros(0))
    telling_x: tuple[int, ...] = ()
    telling_y: tuple[int, ...] = ()

    @property
    def by_parameter(self) -> Table[ParameterEvidence]:
        """How much evidence there is with each parameter of the kernel, in their order.

        Examples
        --------
        >>> import twosample as ts
        >>> x, y = ["ab" * 5, "ab" * 6, "aba" * 4, "abb" * 4], ["ba" * 5, "baab" * 3, "bba" * 4, "ab" * 5]
        >>> [row.parameter for row in ts.test(x, y, kernel="kmer", parameters=[1, 2]).by_parameter]
        ['1', '2']
        """
        prior = 1.0 / len(self.parameters)
        rows = zip(self.parameters, self.parameter_log_bf10.tolist(), self.lengthscale.mass_h1.tolist(), strict=True)
        return Table(
            [ParameterEvidence(name, value, prior, mass) for name, value, mass in rows], ParameterEvidence._fields
        )

    def remember_objects(
        self, x: Sequence[Any], y: Sequence[Any], witness: Callable[[Any], tuple[Array, Array]]
    ) -> None:
        """Keep the objects, and the witness of new ones; neither JSON nor pickles have them."""
        object.__setattr__(self, "_objects", (x, y, witness))

    def _kept(self, caller: str) -> _Kept:
        found: _Kept | None = self.__dict__.get("_objects")
        if found is None:
            raise InputError(
                f"{caller}: this result has no objects", remedy="call it on what test returned, before it is written"
            )
        return found

    def changed(self, **fields: Any) -> Self:
        """The same with other values of some fields; it remembers what this one does."""
        other = replace(self, **fields)
        if "_objects" in self.__dict__:
            other.remember_objects(*self.__dict__["_objects"])
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickles hold: all but the objects."""
        return {name: value for name, value in super().__getstate__().items() if name != "_objects"}

    def witness(self, at: object) -> Witness:
        """Where the samples differ: posterior of the witness at other objects of the same kind.

        It is for results in memory.

        Parameters
        ----------
        at
            A list of objects; for results of `test_gram` their kernel values at the points, (n, s) or (m, n, s).

        Returns
        -------
        Witness
            Its `at` are the places of the objects in that list.

        Examples
        --------
        >>> import twosample as ts
        >>> x, y = ["ab" * k for k in range(9, 15)], ["aabb" * k for k in range(4, 10)]
        >>> (ts.test(x, y, kernel="kmer").witness(["ababab", "aabbaabb"]).mean > 0).tolist()
        [True, False]
        """
        mean, sd = self._kept("witness")[2](at)
        return Witness(np.arange(float(len(mean)))[:, None], mean, sd)

    def telling(self, count: int = 5) -> tuple[list[Any], list[Any]]:
        """The objects that are most typical of either sample: those with the largest and with the smallest witness.

        It is for results in memory; `telling_x` and `telling_y` are places of the first of them.
        """
        x, y, _ = self._kept("telling")
        return [x[place] for place in self.telling_x[:count]], [y[place] for place in self.telling_y[:count]]

    def summary(self) -> str:
        """The answer in a few lines of text."""
        best = max(self.by_parameter, key=lambda row: row.posterior)
        several = f"{printable(best.parameter)} ({probability_in_words(best.posterior)} of the posterior)"
        lines = [
            f"{sentence(self.verdict)}.",
            *([self.disagreement] if self.disagreement else []),
            f"  P(different | data)  {probability_in_words(self.prob_h1)}",
            *([] if self.prior_odds == 1.0 else [f"  prior odds           {self.prior_odds:g}"]),
            f"  log BF10             {log_bf10_text(self.log_bf10)}",
            *self._permutations_in_words(),
            *self._effect_in_words(),
            *([f"  likeliest parameter  {several}"] if len(self.parameters) > 1 else []),
            f"  data                 {self.n_x} and {self.n_y} objects",
            f"  kernel               {printable(self.kernel)}",
            f"  model                {self.model.name}, {self.diagnostics.points} points",
        ]
        return "\n".join(lines + [f"  note                 {note}" for note in self.diagnostics.notes])

    def plot(self, *, names: tuple[str, str] | None = None, figsize: tuple[float, float] | None = None) -> Figure:
        """Draw the witness at the objects of both samples, and the evidence with each parameter (extra `plot`).

        `names` says what to call the samples, if not as in the result, and `figsize` how large it is, in inches.
        """
        from twosample.show.plots import plot_objects

        return plot_objects(self, names=names, figsize=figsize)

    def report(self, path: str | Path, *, progress: Progress = False) -> Path:
        """Write the answer as one page that needs nothing else, to be sent round or printed (extra `report`).

        Parameters
        ----------
        path
            Where to write it; it ends in .html. The page holds none of the objects.
        progress
            As in `twosample.test`; there is hardly anything to wait for.
        """
        from twosample.show import report

        return report.write(self, path)

    def text(self) -> str:
        """The answer as a paragraph for a paper: what was compared, the model, the numbers, and what to cite."""
        from twosample.show.report import objects_paragraph

        return objects_paragraph(self)
