"""The posterior of the witness function: where the samples differ, by how much, and how surely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from twosample.common.arguments import check_level
from twosample.common.arrays import Array
from twosample.common.constraints import NONNEGATIVE, POSITIVE, SORTED, Axes, FieldError, Ones, Places
from twosample.common.records import Comparable, restored, to_plain
from twosample.data import View
from twosample.features.maps import FeatureMap, PointFeatures
from twosample.inference import prior
from twosample.inference.evidence import Evidence
from twosample.inference.grid import local_polynomials
from twosample.inference.lengthscale import H1, LengthscalePosterior
from twosample.kernels import Kernel
from twosample.models import Measure, Model

__all__ = ["Driver", "Witness", "WitnessMixture", "WitnessPosterior", "locations"]


# Number of lengthscales that are kept, about, and the share of the posterior that may lie beyond either end.
_LENGTHSCALES = 12
_NEGLIGIBLE_TAIL = 1e-4
_LARGEST_LOG_VARIANCE = 300.0
# Between the lengthscales that are kept, means and variances are interpolated by polynomials of this degree.
_DEGREE = 3


@dataclass(frozen=True, eq=False, repr=False)
class Witness(Comparable):
    """The witness function at m locations: positive where the first sample has more mass, negative where the second.

    Attributes
    ----------
    at
        Locations (m, D), in the units of the data.
    mean, sd
        Posterior mean and standard deviation there, (m,), given that the samples differ.
    """

    at: Array
    mean: Array
    sd: Array

    def band(self, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper end of the pointwise credible band of that probability (normal approximation)."""
        check_level(level)
        reach = NormalDist().inv_cdf(0.5 + 0.5 * level) * self.sd
        return self.mean - reach, self.mean + reach


@dataclass(frozen=True, eq=False, repr=False)
class Driver(Comparable):
    """A column, or a pair of columns, that drives the difference, with the witness of its own test, for a picture."""

    columns: Annotated[tuple[int, ...], Axes("k"), Places("D")]  # places of its k columns, 1 or 2
    # Increasing places along each of them, (k, G), in the units of the data
    grid: Annotated[Array, Axes("k", "grid", least=1), SORTED]
    # Of the witness there, given that the samples differ, (G,) or (G, G).
    mean: Array
    sd: Annotated[Array, NONNEGATIVE]

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        if not self.mean.shape == self.sd.shape == self.grid.shape[1:] * len(self.grid):
            yield f"has a witness of the shapes {self.mean.shape} and {self.sd.shape} on a grid of {self.grid.shape}"

    @property
    def witness(self) -> Witness:
        """The witness at all locations of the grid."""
        return Witness(locations(self.grid), self.mean.ravel(), self.sd.ravel())

    def covers(self, rows: Array) -> bool:
        """Whether locations (m, k) are all within the grid."""
        return bool(((rows >= self.grid[:, 0]) & (rows <= self.grid[:, -1])).all())

    def at(self, rows: Array) -> Witness:
        """The witness at locations (m, k) within the grid, interpolated linearly along each column."""
        first, *more = (local_polynomials(places, rows[:, axis], 1) for axis, places in enumerate(self.grid))
        mean, sd = first @ self.mean, first @ self.sd
        for along in more:
            mean, sd = ((along * values).sum(axis=1) for values in (mean, sd))
        return Witness(rows, mean, sd)


@dataclass(frozen=True, eq=False, repr=False)
class WitnessMixture(Comparable):
    """A mixture of Gaussian processes, over the lengthscales that have posterior mass; it knows no coordinates.

    At each of them the amplitude is 1, whatever the evidence takes: R is about the covariance of the features of one
    row, so that the prior counts as much as two rows do and shrinks little. An amplitude learned from all directions
    shrinks the few in which the samples differ too much, and bands around that miss the truth.
    """

    measure: Measure  # of the prior covariance r
    lengthscales: Annotated[Array, Axes("J", least=1), POSITIVE]  # J of them, (J,), in standardised units
    # Scale b of the prior covariance b r at each lengthscale, (J,)
    prior_variances: Annotated[Array, Axes("J"), NONNEGATIVE]
    # Prior variance a²/s of what the points cannot show, (J,). The amplitude a is the learned one, but at most 2/√s
    # (more for samples of unequal size): a point stands for 1/s of all rows, and a sample has 2/s there at most.
    residual_variances: Annotated[Array, Axes("J"), NONNEGATIVE]
    coefficients: Annotated[Array, Axes("J", "s")]  # b(bR + V)⁻¹Δ, (J, s)
    factors: Annotated[Array, Axes("J", "s", "s")]  # upper triangular T with TTᵀ = b²(bR + V)⁻¹, (J, s, s)
    # Mean and covariance, over the posterior of the lengthscale, of the weights that interpolate between the J
    # lengthscales, (J,) and (J, J).
    weights: Annotated[Array, Axes("J"), Ones(signed=True)]
    covariance: Annotated[Array, Axes("J", "J")]

    @classmethod
    def mixed(
        cls, kept: Evidence, weights: Array, covariance: Array, features: FeatureMap, model: Model, **where: Any
    ) -> Self:
        """The mixture at these lengthscales, with mean and covariance of their weights.

        Where V is estimated its ν/(ν - 2)-fold takes its place, the variance of Student's t.
        """
        typical = np.exp(kept.log_mixture - kept.log_bf10[:, None]) @ kept.log_amplitudes
        log_variance = np.minimum(model.log_prior_variance(features, kept.lengthscales), _LARGEST_LOG_VARIANCE)
        scale = np.exp(0.5 * log_variance)[:, None, None]
        # With V = LLᵀ and R = FFᵀ, bR + V = L(I + bWWᵀ)Lᵀ with W = L⁻¹F: nothing small is added to something large.
        noise_factor = 1.0 + 2.0 / (max(kept.freedom, 4.0) - 2.0)  # ν/(ν - 2), and at most 2
        inverse = np.linalg.inv(np.linalg.cholesky(noise_factor * kept.V))
        signal = scale * (inverse @ prior.witness_factors(model, features, kept.lengthscales))
        root = _inverse_root(signal) @ inverse
        return cls(
            **where,
            measure=model.measure,
            lengthscales=kept.lengthscales,
            prior_variances=np.exp(log_variance),
            residual_variances=np.minimum(np.exp(2.0 * typical), kept.density**2 / features.count) / features.count,
            coefficients=(np.swapaxes(scale * root, -1, -2) @ (scale * root @ kept.delta[..., None]))[..., 0],
            factors=np.ascontiguousarray(np.swapaxes(scale**2 * root, -1, -2)),  # as it is read back
            weights=weights,
            covariance=covariance,
        )

    @classmethod
    def of_each(cls, evidence: Evidence, mass: Array, features: FeatureMap, model: Model) -> Self:
        """The mixture where the lengthscales of the evidence are all there are, with these probabilities, (m,)."""
        kept = np.flatnonzero(mass > _NEGLIGIBLE_TAIL * mass.max())
        weights = mass[kept] / mass[kept].sum()
        return cls.mixed(evidence.select(kept), weights, np.diag(weights) - np.outer(weights, weights), features, model)

    def through(self, features: FeatureMap, rows: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at rows of which the features are known.

        At one lengthscale the mean is b r(w,Z)(bR+V)⁻¹Δ and the variance b r(w,w) - b² r(w,Z)(bR+V)⁻¹r(Z,w), to which
        that of the residual is added.
        """
        means, variances = np.empty((2, len(self.lengthscales), len(rows)))
        for j, lengthscale in enumerate(self.lengthscales.tolist()):
            cross, prior_variance, residual = prior.at_locations(self.measure, features, rows, lengthscale)
            means[j] = cross @ self.coefficients[j]
            known = np.square(cross @ self.factors[j]).sum(axis=1)
            variances[j] = np.maximum(self.prior_variances[j] * prior_variance - known, 0.0)
            variances[j] += self.residual_variances[j] * residual**2
        within = np.maximum(self.weights @ variances, 0.0)
        between = np.einsum("jw,jk,kw->w", means, self.covariance, means)
        return self.weights @ means, np.sqrt(within + np.maximum(between, 0.0))


@dataclass(frozen=True, eq=False, repr=False)
class WitnessPosterior(WitnessMixture):
    """The mixture of rows of a table."""

    kernel: Kernel
    points: Annotated[Array, Axes("s", "K")]  # (s, K), in standardised units

    @classmethod
    def of(
        cls, evidence: Evidence, posterior: LengthscalePosterior, features: FeatureMap, model: Model
    ) -> WitnessPosterior:
        """The mixture at some of the lengthscales, interpolated between them."""
        assert isinstance(features, PointFeatures)
        kept = evidence.select(_representatives(posterior, evidence.lengthscales))
        mass = posterior.mass[:, H1]
        nodes = np.log(kept.lengthscales)
        interpolation = local_polynomials(nodes, np.clip(posterior.rule.grid, nodes[0], nodes[-1]), _DEGREE)
        weights = mass @ interpolation
        deviations = interpolation - weights
        covariance = (mass[:, None] * deviations).T @ deviations
        where = {"kernel": features.kernel, "points": features.points}
        return cls.mixed(kept, weights, covariance, features, model, **where)

    def to_plain(self) -> dict[str, Any]:
        """For JSON: of upper triangular factors their rows from the diagonal on, one after the other."""
        content = {field.name: to_plain(getattr(self, field.name)) for field in fields(self)}
        if not np.tril(self.factors, -1).any():
            content["factors"] = self.factors[:, *np.triu_indices(self.factors.shape[-1])].tolist()
        return content

    @classmethod
    def from_plain(cls, content: Any) -> WitnessPosterior:
        """What `to_plain` described, and as files of the first schema have it."""
        arguments = restored(cls, content)
        packed = arguments["factors"]
        if packed.ndim == 2:
            count = arguments["points"].shape[0]
            if packed.shape[1] != count * (count + 1) // 2:
                raise FieldError("factors", f"has the shape {packed.shape}, which {count} points do not have")
            arguments["factors"] = np.zeros((len(packed), count, count))
            arguments["factors"][:, *np.triu_indices(count)] = packed
        return cls(**arguments)

    def at(self, locations: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at locations (m, D) in standardised units."""
        features = PointFeatures(self.kernel, View.none(self.points.shape[1]), self.points, typical=1.0)
        return self.through(features, locations)


def locations(grid: Array) -> Array:
    """All locations of a grid of places along k columns (k, G), (Gᵏ, k): the last column changes first."""
    return np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, len(grid))


def _inverse_root(signal: Array) -> Array:
    """T with TᵀT = (I + WWᵀ)⁻¹ for W (..., s, s), also where WWᵀ is so large that rounding in it hides I."""
    try:
        total = np.eye(signal.shape[-1]) + signal @ np.swapaxes(signal, -1, -2)
        return np.asarray(np.linalg.inv(np.linalg.cholesky(total)))
    except np.linalg.LinAlgError:
        vectors, values, _ = np.linalg.svd(signal)
        return np.asarray(np.swapaxes(vectors, -1, -2) / np.hypot(1.0, values)[..., :, None])


def _representatives(posterior: LengthscalePosterior, lengthscales: Array) -> NDArray[np.intp]:
    """Indices of some lengthscales, evenly spread in log ℓ over the posterior under H1, and of one beyond each end."""
    nodes = np.log(lengthscales)
    cumulative = np.cumsum(posterior.mass[:, H1])
    low, high = np.interp([_NEGLIGIBLE_TAIL, 1.0 - _NEGLIGIBLE_TAIL], cumulative, posterior.rule.grid)
    nearest = np.abs(nodes - np.linspace(low, high, _LENGTHSCALES)[:, None]).argmin(axis=1)
    beyond = [max(nearest[0] - 1, 0), min(nearest[-1] + 1, len(nodes) - 1)]
    return np.unique(np.concatenate([nearest, beyond]))
