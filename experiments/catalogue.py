"""All experiments by name, in the order of the paper."""

from __future__ import annotations

from importlib import import_module

from experiments.runner import Experiment

__all__ = ["EXPERIMENTS"]

_MODULES = (
    "gaussian_1d",
    "laplace",
    "laplace_correlated",
    "blobs",
    "higher_dimensions",
    "comparison_1d",
    "comparison_nd",
    "networks",
    "rings",
    "mixtures",
    "gaussian_2d",
)

EXPERIMENTS: dict[str, Experiment] = {name: import_module(f"experiments.{name}").EXPERIMENT for name in _MODULES}
