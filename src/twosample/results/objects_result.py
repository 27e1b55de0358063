"""The result of a test of objects: an answer without columns, and which objects tell the samples apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, cast

import numpy as np

from twosample.common.arrays import Array
from twosample.common.constraints import SORTED, Axes, Ones, Places
from twosample.common.words import count_in_words, printable, probability_in_words, short
from twosample.inference.columns import Table
from twosample.inference.witness import Witness
from twosample.results.comparison import Comparison
from twosample.show.content import DataTable, Fact, Panel

__all__ = ["ObjectsResult", "ParameterEvidence"]

# What results of samples with columns have.
_OF_COLUMNS = ("lengthscale", "columns", "points", "center", "scale", "by_column", "subsets", "left_out", "levels")

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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ObjectsResult(Comparison):
    """The answer for samples of objects that are no rows of numbers: strings, graphs, whatever has a kernel.

    It has all that a `Comparison` of two samples has: Bayes factor, verdict, size of the difference. Parameters of the
    kernel stand where lengthscales and columns do. JSON and pickles hold none of the objects.

    Attributes
    ----------
    parameters
        The parameters of the kernel, as text.
    parameter_log_bf10
        Log Bayes factor with each of them alone, (m,).
    parameter_posterior
        Posterior probability of each of them given that the samples differ, (m,).
    witness_x, witness_y
        The posterior mean of the witness at the objects of each sample, sorted; of more than 500 objects, quantiles.
    telling_x, telling_y
        Places of the objects of the first sample with the largest witness, and of the second with the smallest.
    """

    _derived: ClassVar[tuple[str, ...]] = (*Comparison._derived, "by_parameter")
    _internal: ClassVar[tuple[str, ...]] = (*Comparison._internal, "remember_objects")
    _no_look: ClassVar[tuple[str, str]] = (
        "this result has no data to look at again",
        "call test with other points or another model; a result of objects keeps no kernel values to test again",
    )
    _unit: ClassVar[str] = "object"
    page: ClassVar[str] = "objects_page"
    figure: ClassVar[str] = "plot_objects"

    parameters: Annotated[tuple[str, ...], Axes("parameters", least=1)]
    parameter_log_bf10: Annotated[Array, Axes("parameters")]
    parameter_posterior: Annotated[Array, Axes("parameters"), Ones()]
    witness_x: Annotated[Array, Axes("of x"), SORTED]
    witness_y: Annotated[Array, Axes("of y"), SORTED]
    telling_x: Annotated[tuple[int, ...], Places("x")]
    telling_y: Annotated[tuple[int, ...], Places("y")]

    def __getattr__(self, name: str) -> Any:
        """Refuse what only samples with columns have, and say what to use."""
        if name in _OF_COLUMNS:
            raise AttributeError(f"{type(self).__name__} has no {name!r}: objects have no columns; see by_parameter")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @classmethod
    def _from_older(cls, content: dict[str, Any]) -> dict[str, Any]:
        """The fields of this version, of files that have the posterior of the parameters as one of lengthscales."""
        if "parameter_posterior" in content or not isinstance(content.get("lengthscale"), dict):
            return content
        return {**content, "parameter_posterior": content["lengthscale"].get("mass_h1")}

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
        rows = zip(self.parameters, self.parameter_log_bf10.tolist(), self.parameter_posterior.tolist(), strict=True)
        return Table(
            [ParameterEvidence(name, value, prior, mass) for name, value, mass in rows], ParameterEvidence._fields
        )

    def remember_objects(self, x: Sequence[Any], y: Sequence[Any]) -> None:
        """Keep the objects in memory, besides the witness of new ones."""
        self.remember(objects=(x, y, self._kept("witness")[2]), copied=self)

    def _kept(self, caller: str) -> _Kept:
        remedy = "call it on what test returned, before it is written"
        return cast("_Kept", self.remembered("objects", caller, remedy, "this result has no objects"))

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

    def _own_facts(self) -> list[Fact]:
        best = max(self.by_parameter, key=lambda row: row.posterior)
        share = f" ({probability_in_words(best.posterior)} of the posterior)"
        return [
            *([Fact("likeliest parameter", printable(best.parameter), share)] if len(self.parameters) > 1 else []),
            Fact("data", f"{self.n_x} and {self.n_y} objects"),
            Fact("kernel", printable(self.kernel)),
            Fact("model", self.model.name, f", {count_in_words(self.diagnostics.points, 'point')}"),
        ]

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name: `by_parameter`."""
        columns = {"parameter": "parameter", "log_bf10": "log BF10", "prior": "prior", "posterior": "posterior"}
        brief = ("parameter", "log_bf10", "posterior")
        return {"by_parameter": DataTable("Evidence with each parameter", columns, self.by_parameter, brief=brief)}

    def panels(self) -> dict[str, Panel]:
        """The data of pictures: the witness at the objects of either sample, and log BF10 with each parameter."""
        samples = zip(map(short, self.names), (self.witness_x, self.witness_y), strict=True)
        quantiles = {name: (values, (np.arange(len(values)) + 0.5) / len(values)) for name, values in samples}
        found = {"witness": Panel("The witness at the objects", "witness", "share of the objects below", quantiles)}
        if len(self.parameters) > 1:
            found["parameters"] = Panel.bars(
                "Evidence with each parameter", "parameter", "log BF10", self.parameters, self.parameter_log_bf10
            )
        return found
