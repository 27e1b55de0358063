"""Results of the sampler: the chains, what follows from them, and their diagnostics."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from twosample import models
from twosample.common.arrays import Array, Indices
from twosample.common.constraints import (
    NONNEGATIVE,
    POSITIVE,
    SHARES,
    Axes,
    Count,
    Nonnegative,
    Positive,
    SampleSize,
    Share,
    Within,
)
from twosample.common.records import Comparable
from twosample.common.words import data_in_words, log_bf10_text, odds_in_words, probability_in_words, sentence, short
from twosample.errors import InputError, MissingExtraError
from twosample.inference.bayes_factor import verdict
from twosample.paper.chains import Settings, log_mean_probability
from twosample.results.result import Result
from twosample.show.content import DataTable, Fact, Facts, Panel, text_of_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BridgeEstimate", "GibbsDiagnostics", "GibbsResult", "Relevance"]


_SHOWN_COLUMNS = 8
_LONGEST_NAME = 24


@dataclass(frozen=True, eq=False, repr=False)
class Relevance(Comparable):
    """Which columns drive the difference, the strongest first.

    A column matters if there is less evidence for a difference where the kernel does not see the column. Of two columns
    that say the same, each can do without the other, and neither has a large loss.

    If the samples differ in a column, its lengthscale may also be shorter given H1 than given H0. That tells less: a
    shift is best seen at lengthscales that are long in all columns. Where the model does not weigh lengthscales given
    H0 ("adaptive") they have their prior there, and the sign of the shortening means nothing.

    Attributes
    ----------
    columns
        Names of the columns.
    loss
        By how much log BF10 given the parameters falls without the column, the mean over the draws given H1, (D,),
        decreasing. Negative where there is more evidence without the column.
    loss_error
        Monte Carlo standard error of the loss, (D,).
    shortening
        Posterior mean of log lengthscale given H0 minus that given H1, (D,).
    error
        Monte Carlo standard error of the shortening, (D,).
    probability
        Posterior probability that the lengthscale is shorter given H1 than given H0, (D,).
    """

    columns: Annotated[tuple[str, ...], Axes("D")]
    loss: Annotated[Array, Axes("D")]
    loss_error: Annotated[Array, Axes("D"), NONNEGATIVE]
    shortening: Annotated[Array, Axes("D")]
    error: Annotated[Array, Axes("D"), NONNEGATIVE]
    probability: Annotated[Array, Axes("D"), SHARES]

    @property
    def table(self) -> DataTable:
        """The fields as a table with a row for each column."""
        headings = {
            "column": "column",
            "loss": "log BF10 lost without it",
            "loss_error": "± error",
            "shortening": "shortening",
            "error": "± error",
            "probability": "P(shorter if they differ)",
        }
        values = (getattr(self, name).tolist() for name in list(headings)[1:])
        rows = list(zip(self.columns, *values, strict=True))
        return DataTable("Which columns drive the difference", headings, rows, brief=("column", "loss", "loss_error"))

    def __str__(self) -> str:
        """Return a table."""
        table = replace(self.table, brief=())
        return "\n".join(line[2:] for line in text_of_table(table, len(table)))


@dataclass(frozen=True, eq=False, repr=False)
class BridgeEstimate(Comparable):
    """Log BF10 from chains that keep to one hypothesis each, whether or not the Gibbs chain moves between them.

    Attributes
    ----------
    log_bf10
        The estimate.
    error
        Its Monte Carlo standard error.
    overlap
        How far the posteriors of the parameters under the two hypotheses overlap, between 0 and 1.
    lengthscales_h0, lengthscales_h1
        Draws under each hypothesis, (chains, draws, L).
    steps
        Gibbs steps of each chain that were run, the burn-in included; None in files of older versions.
    """

    log_bf10: float
    error: Nonnegative
    overlap: Share
    lengthscales_h0: Annotated[Array, Axes("bridge chains", "of H0", "L", least=1), POSITIVE]
    lengthscales_h1: Annotated[Array, Axes("bridge chains", "of H1", "L", least=1), POSITIVE]
    steps: Count | None = None


@dataclass(frozen=True, eq=False, repr=False)
class GibbsDiagnostics(Comparable):
    """Diagnostics of the chains.

    Attributes
    ----------
    ess_prob_h1, ess_lengthscales
        Effective number of draws for P(H1) and for each log lengthscale, (L,).
    r_hat_prob_h1, r_hat_lengthscales
        Potential scale reduction of the split chains: near 1 where they agree.
    switches
        How often each chain changed the hypothesis after the burn-in, (C,).
    divergences
        Divergent transitions after the burn-in, (C,).
    acceptance
        Mean acceptance probability, (C,); tuned towards 0.8.
    leapfrogs
        Mean number of gradients in a transition, (C,).
    step_sizes
        Step size after tuning, (C,).
    density_error
        Largest difference found between the sampled log density and an independent evaluation at some of the draws.
    pairs
        Number of pairs in the pseudo-likelihood.
    notes
        One sentence for everything that was dropped or warned about.
    points
        Number of evaluation points; 0 in files of the first schema.
    steps
        Gibbs steps of each chain that were run, the burn-in included; None in files of older versions, where it is the
        number in the settings.
    stopped
        Why there are no more: "converged" where the chains had converged before the last of the steps, else "steps".
    flat
        Whether the features do not vary at the lengthscales of the draws, so that nothing follows from them.
    """

    ess_prob_h1: Nonnegative
    ess_lengthscales: Annotated[Array, Axes("L"), NONNEGATIVE]
    r_hat_prob_h1: Nonnegative
    r_hat_lengthscales: Annotated[Array, Axes("L"), NONNEGATIVE]
    switches: Annotated[Indices, Axes("C"), NONNEGATIVE]
    divergences: Annotated[Indices, Axes("C"), NONNEGATIVE]
    acceptance: Annotated[Array, Axes("C"), SHARES]
    leapfrogs: Annotated[Array, Axes("C"), NONNEGATIVE]
    step_sizes: Annotated[Array, Axes("C"), POSITIVE]
    density_error: Nonnegative
    pairs: Count
    notes: tuple[str, ...]
    points: Count = 0
    steps: Count | None = None
    stopped: str = "steps"
    flat: bool = False

    @property
    def largest_r_hat(self) -> float:
        """Of P(H1) and all lengthscales."""
        return float(max(self.r_hat_prob_h1, *self.r_hat_lengthscales))

    @property
    def smallest_ess(self) -> float:
        """Of P(H1) and all lengthscales."""
        return float(min(self.ess_prob_h1, *self.ess_lengthscales))


@dataclass(frozen=True, eq=False, repr=False)
class GibbsResult(Result):
    """Chains of the hypothesis and the lengthscales, and the answer they give.

    Attributes
    ----------
    labels
        Hypothesis of each kept draw, 0 or 1, (C, N).
    given
        The hypothesis under which the lengthscales of the draw were sampled: the one of the Gibbs step before, (C, N).
    lengthscales
        (C, N, L), L = 1 or one for each column. In the units of the column where there is one of each column or only
        one column, else relative to the scale of the columns.
    amplitudes
        Amplitude of the witness, (C, N); None where the model fixes it.
    log_bf10_given
        Log BF10 given the parameters of the draw, (C, N).
    prob_h1_error
        Monte Carlo standard error of `prob_h1`.
    prior_odds
        Prior odds of "different" against "the same".
    evidence
        The estimate of log BF10 that does not need the chain to change the hypothesis, or None.
    relevance
        Which columns drive the difference; None without kernel "ard" and the draws of the bridge estimate.
    median_heuristic
        The lengthscale of the median heuristic, where the first chain starts.
    points
        Evaluation points (s, D), in the units of the data. JSON holds them only if they were given: those that are
        chosen are rows of the samples, and None after reading.
    n_x, n_y
        Sample sizes used.
    columns
        Names of the columns used.
    scale
        What each column was divided by, (D,).
    paired, paired_by
        Whether the rows are pairs, and what they were matched by, as in the result of `test`.
    kernel
        "rbf" or "ard".
    model
        The model with all its constants.
    settings
        Settings of the sampler.
    diagnostics
        Diagnostics of the chains.
    points_given
        Whether the evaluation points were given rather than chosen among the rows.
    """

    _derived: ClassVar[tuple[str, ...]] = ("prob_h1", "log_bf10", "verdict")
    figure: ClassVar[str] = "plot_lengthscales"

    labels: Annotated[Indices, Axes("C", "draws", least=1), Within(0, 1)]
    given: Annotated[Indices, Axes("C", "draws"), Within(0, 1)]
    lengthscales: Annotated[Array, Axes("C", "draws", "L", least=1), POSITIVE]
    amplitudes: Annotated[Array, Axes("C", "draws"), NONNEGATIVE] | None
    log_bf10_given: Annotated[Array, Axes("C", "draws")]
    prob_h1_error: Nonnegative
    prior_odds: Positive
    evidence: BridgeEstimate | None
    relevance: Relevance | None
    median_heuristic: Nonnegative
    points: Annotated[Array, Axes("points", "D")] | None
    n_x: SampleSize
    n_y: SampleSize
    columns: Annotated[tuple[str, ...], Axes("D", least=1)]
    scale: Annotated[Array, Axes("D"), POSITIVE]
    paired: bool
    kernel: str
    model: models.Model
    settings: Settings
    diagnostics: GibbsDiagnostics
    points_given: bool = False
    paired_by: str | None = None

    @cached_property
    def prob_h1(self) -> float:
        """Posterior probability that the samples differ: the mean over the draws of P(H1 | parameters)."""
        return math.exp(log_mean_probability(self._log_odds))

    @property
    def prob_h0(self) -> float:
        """Posterior probability that the samples come from the same distribution, by the chain."""
        return math.exp(log_mean_probability(-self._log_odds))

    @property
    def log_bf10(self) -> float:
        """Log BF10: the bridge estimate where there is one, else from the chain's odds."""
        if self.evidence is not None:
            return self.evidence.log_bf10
        log_odds = self._log_odds
        return log_mean_probability(log_odds) - log_mean_probability(-log_odds) - math.log(self.prior_odds)

    @property
    def log_bf10_error(self) -> float:
        """Monte Carlo standard error of `log_bf10`."""
        if self.evidence is not None:
            return self.evidence.error
        both = self.prob_h1 * self.prob_h0
        # Where that underflows no draw was of the other hypothesis, and the odds are known by their order of magnitude.
        return self.prob_h1_error / both if both > 1e-300 else 1.0

    @property
    def verdict(self) -> str:
        """The Bayes factor in words; see `twosample.inference.bayes_factor.verdict`."""
        return verdict(self.log_bf10, flat=self.diagnostics.flat)

    @property
    def _log_odds(self) -> Array:
        return self.log_bf10_given + math.log(self.prior_odds)

    def lengthscale_draws(self, hypothesis: int) -> Array:
        """Draws of the lengthscales given a hypothesis, (draws, L): those of the bridge estimate if there is one."""
        if hypothesis not in (0, 1):
            raise InputError(f"hypothesis: must be 0 or 1, not {hypothesis!r}", argument="hypothesis")
        if self.evidence is not None:
            draws = self.evidence.lengthscales_h1 if hypothesis else self.evidence.lengthscales_h0
            return draws.reshape(-1, draws.shape[-1])
        return np.asarray(self.lengthscales[self.given == hypothesis])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries, without evaluation points that are rows of the samples."""
        if self.points is None or self.points_given:
            return super().to_dict()
        return replace(self, points=None).to_dict()

    def facts(self) -> Facts:
        """The answer and its diagnostics, in the order in which they are read."""
        diagnostics, settings = self.diagnostics, self.settings
        chains = "1 chain" if settings.chains == 1 else f"{settings.chains} chains"
        steps = f"{diagnostics.steps or settings.steps} steps ({settings.burn_in} burn-in)"
        if diagnostics.stopped == "converged":
            steps += f", converged before {settings.steps}"
        caution = self.model.caution(scaled=bool((self.scale != 1.0).any()))
        points = diagnostics.points if self.points is None else len(self.points)
        prob, error = probability_in_words(self.prob_h1), f"{self.log_bf10_error:.2g}"
        bridge = " (bridge)" if self.evidence is not None else ""
        relevance = []
        if self.relevance is not None:
            ranked = [short(column, _LONGEST_NAME) for column in self.relevance.columns[:_SHOWN_COLUMNS]]
            more = ["..."] if len(self.columns) > _SHOWN_COLUMNS else []
            relevance = [Fact("columns by relevance", ", ".join(ranked + more))]
        trusted = (
            f"{diagnostics.ess_prob_h1:.0f} effective draws of P(different), R-hat {diagnostics.largest_r_hat:.3f}, "
            f"{int(diagnostics.switches.sum())} changes of hypothesis, "
            f"{int(diagnostics.divergences.sum())} divergences"
        )
        return Facts(
            title="x and y",
            verdict=f"{sentence(self.verdict)}.",
            lines=(
                Fact("P(different | data)", f"{prob} ± {self.prob_h1_error:.1g}", " (chain)", large=True),
                *([] if self.prior_odds == 1.0 else [Fact("prior odds", f"{self.prior_odds:g}")]),
                Fact("log BF10", f"{log_bf10_text(self.log_bf10)} ± {error}", bridge, large=True),
                *self._lengthscale_facts(),
                *relevance,
                Fact("data", data_in_words(self.n_x, self.n_y, len(self.columns), self.paired, self.paired_by)),
                Fact("model", f"{self.model.name}, kernel {self.kernel}", f", {points} evaluation points"),
                Fact("chains", f"{chains} of {steps}", f", {trusted}"),
            ),
            answer=f"The chains have the samples differ with probability {prob}, with prior odds of "
            f"{odds_in_words(self.prior_odds)}.",
            warnings=(caution,) if caution else (),
            notes=diagnostics.notes,
        )

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name: `relevance` where there is one, and quantiles of the `lengthscales`."""
        found = {} if self.relevance is None else {"relevance": self.relevance.table}
        headings = {"lengthscale": "lengthscale", "given": "given", "low": "5 %", "median": "50 %", "high": "95 %"}
        found["lengthscales"] = DataTable("Lengthscales of the draws", headings, self._quantiles())
        return found

    def panels(self) -> dict[str, Panel]:
        """The data of pictures: P(different given the parameters) of each draw, for each chain."""
        odds = self._log_odds
        steps = np.arange(1.0, odds.shape[1] + 1.0)
        chains = {f"chain {number}": (steps, 1.0 / (1.0 + np.exp(-chain))) for number, chain in enumerate(odds, 1)}
        return {"chains": Panel("The chains", "draw", "P(different | parameters)", chains)}

    def _quantiles(self) -> list[tuple[str, str, float, float, float]]:
        found = []
        names = self.columns if self.lengthscales.shape[-1] > 1 else ("lengthscale",)
        for index, name in enumerate(names):
            for hypothesis, words in ((1, "if they differ"), (0, "if not")):
                draws = self.lengthscale_draws(hypothesis)[:, index]
                if len(draws):
                    found.append((name, words, *np.quantile(draws, (0.05, 0.5, 0.95)).tolist()))
        return found

    def _lengthscale_facts(self) -> list[Fact]:
        """Quantiles of the lengthscale, or of those of the most relevant columns."""
        quantiles: dict[str, list[str]] = {}
        for name, words, low, middle, high in self._quantiles():
            quantiles.setdefault(name, []).append(f"{middle:.3g} ({low:.3g} to {high:.3g}) {words}")
        if self.lengthscales.shape[-1] == 1:
            return [Fact(name, "; ".join(phrases)) for name, phrases in quantiles.items()]
        order = self.columns if self.relevance is None else self.relevance.columns
        return [
            Fact(f"{f'lengthscale {short(name, _LONGEST_NAME)}':<20} ", "; ".join(quantiles[name]))
            for name in order[:_SHOWN_COLUMNS]
        ]

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return (
            f"GibbsResult(prob_h1={self.prob_h1:.4g}, prob_h1_error={self.prob_h1_error:.1g}, "
            f"log_bf10={self.log_bf10:.4g}, verdict={self.verdict!r})"
        )

    def plot_trace(self, *, figsize: tuple[float, float] | None = None) -> Figure:
        """Draw the chains step by step: P(different) and the lengthscales (needs the `plot` extra)."""
        from twosample.show.plots import plot_trace

        return plot_trace(self, figsize=figsize)

    def to_arviz(self) -> Any:
        """The chains as ArviZ's container, with groups "posterior" and "sample_stats" (needs the `arviz` extra)."""
        try:
            import arviz
            import xarray
        except ImportError:
            raise MissingExtraError("to_arviz", "arviz", "arviz") from None
        chain_draw = ("chain", "draw")
        posterior = {
            "different": (chain_draw, self.labels),
            "lengthscale": ((*chain_draw, "column"), self.lengthscales),
        }
        if self.amplitudes is not None:
            posterior["amplitude"] = (chain_draw, self.amplitudes)
        statistics = {
            "log_bf10": (chain_draw, self.log_bf10_given),
            "lengthscale_given_different": (chain_draw, self.given),
        }
        columns = list(self.columns) if self.lengthscales.shape[-1] > 1 else ["all"]
        groups = {
            "posterior": xarray.Dataset(posterior, coords={"column": columns}),
            "sample_stats": xarray.Dataset(statistics),
        }
        if hasattr(arviz, "InferenceData"):
            return arviz.InferenceData(**groups)  # type: ignore[arg-type]
        return xarray.DataTree.from_dict(groups)
