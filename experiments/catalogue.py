"""All experiments by name, in the order of the paper."""

from __future__ import annotations

from importlib import import_module

from experiments.runner import Experiment

__all__ = ["EXPERIMENTS"]

_MODULES = (
    "gaussian_1d",
    "lengthscales_1d",
    "laplace",
    "laplace_correlated",
    "blobs",
    "lengthscales_blobs",
    "higher_dimensions",
    "comparison_1d",
    "comparison_nd",
    "networks",
    "samples_rings",
    "rings",
    "lengthscales_rings",
    "table_1",
    "table_2",
    "mixtures",
    "gaussian_2d",
    "samples",
)

EXPERIMENTS: dict[str, Experiment] = {name: import_module(f"experiments.{name}").EXPERIMENT for name in _MODULES}
