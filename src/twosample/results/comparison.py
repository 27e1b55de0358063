"""The result of a comparison of two samples of any kind: evidence, size of the difference, and how it was computed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, cast

import numpy as np

from twosample import models
from twosample.common.constraints import Nonnegative, SampleSize, Share, Size, Within
from twosample.common.words import auc_limit_text, odds_in_words, probability_in_words, pvalue_text, sentence, short
from twosample.inference.bayes_factor import probability, strength
from twosample.inference.effect import Effect, size_in_words
from twosample.results.mixing import Mixing
from twosample.results.result import BayesFactor
from twosample.results.result_parts import Amplitude, Diagnostics
from twosample.show.content import Fact, Facts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from twosample.questions.monitor import Monitor

__all__ = ["CLEAR", "Comparison"]

# A log Bayes factor beyond which there is evidence; where a p-value and the Bayes factor disagree.
CLEAR, _SMALL_PVALUE, _TINY_PVALUE = 1.0, 0.05, 0.01


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(BayesFactor):
    """The answer to "are these two samples from the same distribution?", whatever they are samples of.

    It has all that a `BayesFactor` has.

    Attributes
    ----------
    amplitude
        Posterior of the amplitude of the witness.
    n_x, n_y
        Sample sizes used.
    paired
        Whether the rows are pairs.
    kernel
        Name of the kernel; of several, of the likeliest one.
    model
        The model with all its constants.
    diagnostics
        How the answer was computed.
    pvalue
        Permutation p-value of the Bayes factor, None without permutations; of few rows that of all labellings.
    evalue
        BF10 over its mean for permuted labels, an e-value: its mean is 1 where the samples are from one distribution,
        whatever that is. None without permutations; of few rows it is that of all labellings.
    effect
        How much the samples differ: posteriors of the MMD and of the AUC of the witness; None for models that do not
        say.
    rope
        An AUC that counts as no difference that matters, or None.
    names
        What the samples are called: the groups, where one table was split.
    paired_by
        The column that the rows of pairs were matched by; "" for identifiers given apart, None where row i of x belongs
        with row i of y.
    """

    _derived: ClassVar[tuple[str, ...]] = (*BayesFactor._derived, "prob_beyond_rope")
    _internal: ClassVar[tuple[str, ...]] = (*BayesFactor._internal, "of_files")
    # What the p-value is counted in, where the rows are no pairs; and the data that it is a share of.
    _relabellings: ClassVar[str] = "permutations"
    _relabelled_data: ClassVar[str] = "relabelled data"
    _unit: ClassVar[str] = "row"
    _no_look: ClassVar[tuple[str, str]] = (
        "this result has no data to look at again",
        "call it on what test returned for rows in memory, before it is written or copied to another process; a saved "
        "reference has no rows, and rows that were read in blocks are not kept",
    )

    amplitude: Amplitude
    n_x: Annotated[SampleSize, Size("x")]
    n_y: Annotated[SampleSize, Size("y")]
    paired: bool
    kernel: str
    model: models.Model
    diagnostics: Diagnostics
    pvalue: Share | None
    evalue: Nonnegative | None = None
    effect: Effect | None = None
    rope: Annotated[float, Within(0.5, 1)] | None = None
    names: tuple[str, str] = ("x", "y")
    paired_by: str | None = None

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        if self.paired and self.n_x != self.n_y:
            yield f"n_x and n_y are {self.n_x} and {self.n_y}, and must be equal for pairs"
        if self.effect is not None and not math.isclose(self.effect.auc.prob_h1, self.prob_h1, abs_tol=1e-6):
            yield f"effect.auc.prob_h1 is {self.effect.auc.prob_h1:.6g}, and {self.prob_h1:.6g} follows from log_bf10"

    @property
    def verdict(self) -> str:
        """Evidence and size of the difference in words, or how large one could have been missed."""
        words = super().verdict
        if self._is_uninformative or self.effect is None or not strength(self.log_bf10):
            return words
        if self.log_bf10 > 0:
            size = size_in_words(self.effect.auc.given_different(0.5))
            return f"{strength(self.log_bf10)} evidence of a {size} difference"
        return f"{words}, with no difference larger than AUC {auc_limit_text(self.effect.auc.given_different(0.95))}"

    @property
    def _is_uninformative(self) -> bool:
        return self.diagnostics.flat

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
        if self.log_bf10 > CLEAR and self.pvalue > _SMALL_PVALUE:
            return (
                f"The p-value of {pvalue_text(self.pvalue)} does not agree: so much evidence is common among "
                f"{self._relabelled_data}, so do not rely on the Bayes factor here."
            )
        if self.pvalue <= (_SMALL_PVALUE if self.log_bf10 < -CLEAR else _TINY_PVALUE) and self.log_bf10 < CLEAR:
            return (
                f"The p-value of {pvalue_text(self.pvalue)} does not agree: so much evidence is rare among "
                f"{self._relabelled_data}, so there may be a difference: too few rows, or one unlike what the prior "
                "expects, can hide it."
            )
        return None

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
        return Mixing(np.array([self.log_bf10])).remember(copied=self)

    def of_files(self, names: tuple[str, str], notes: tuple[str, ...]) -> Self:
        """The same result with other names of the samples, and with notes of the reader before its own notes."""
        return self.changed(names=names).with_notes(notes)

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
        remedy = "call it on what test returned, or use twosample.sequential"
        return cast("Monitor", self.remembered("sequence", "sequential", remedy)(batches=batches, **options))

    @property
    def relabelled_words(self) -> str:
        """The kind of data sets that the p-value counts, in words."""
        words = ("random swaps", "swaps") if self.paired else (self._relabellings,)
        return self.diagnostics.relabelled(*words)

    def plot(self, *, names: tuple[str, str] | None = None, figsize: tuple[float, float] | None = None) -> Figure:
        """Draw the samples, where they differ and at what scale (needs the `plot` extra).

        Of three columns or more it shows those that drive the difference, and how likely each column differs. Save the
        figure with ``result.plot().savefig("result.png")``; `names` says what to call the samples, if not as in the
        result, and `figsize` how large it is, in inches. Each panel is also a function of `twosample.plots`.
        """
        from twosample.show import plots

        return cast("Figure", getattr(plots, self.figure)(self, names=names, figsize=figsize))

    def facts(self) -> Facts:
        """The answer in words and numbers, in the order in which they are read."""
        title = f"{short(self.names[0])} and {short(self.names[1])}"
        words = probability_in_words(self.prob_h1)
        number = {"<": "less than ", ">": "more than "}.get(words[0], "") + words.lstrip("<> ")
        return Facts(
            title=title,
            verdict=f"{sentence(self.verdict)}.",
            lines=(*self._all_evidence(), *self._own_facts()),
            answer=f"The probability that {title} come from different distributions is {number}, with prior odds of "
            f"{odds_in_words(self.prior_odds)}.",
            remark=self._size_in_words(),
            warnings=tuple(words for words in (self.disagreement, self._caution) if words),
            notes=self.diagnostics.notes,
        )

    def _own_facts(self) -> list[Fact]:
        """What there is to say of samples of this kind."""
        raise NotImplementedError

    @property
    def _caution(self) -> str | None:
        """A sentence on the model, to be read with the verdict."""
        return None

    def _all_evidence(self) -> list[Fact]:
        """P(different), log BF10, what permutations say, and the size of the difference."""
        counted = f"{self.diagnostics.permutations:,} {self.relabelled_words}"
        found = self._evidence_facts((self.pvalue, self.evalue, counted))
        if self.diagnostics.largest is not None:
            most = probability_in_words(probability(self.diagnostics.largest + math.log(self.prior_odds)))
            found.append(Fact("largest possible P", most, " (were these rows labelled to differ most)"))
        if self.effect is not None:
            low, high = self.effect.auc.interval(0.9)
            between = f" (90 % between {low:.3f} and {high:.3f})"
            found.append(Fact("AUC of the witness", f"{self.effect.auc.mean:.3f}", between, large=True))
            if self.prob_beyond_rope is not None:
                beyond = probability_in_words(self.prob_beyond_rope)
                found.append(Fact(f"P(AUC > {self.rope:g})", beyond, large=True))
        return found

    def _size_in_words(self) -> str:
        """How large the difference is."""
        if self.effect is None:
            return f"Model {self.model.name} does not say how large the difference is."
        auc, (first, second) = self.effect.auc, map(short, self.names)
        low, high = auc.interval(0.9)
        number = (
            f"the witness tells a random {self._unit} of {first} from one of {second} with probability {auc.mean:.2f} "
            f"(AUC; 90 % between {low:.2f} and {high:.2f}), where 0.5 is no difference and 1 complete separation"
        )
        if self.log_bf10 > 0.0:
            return f"If they differ, the difference is {size_in_words(auc.given_different(0.5))}: {number}."
        most = auc_limit_text(auc.given_different(0.95))
        return f"A difference, if there is one, is no larger than AUC {most} (95 %): {number}."
