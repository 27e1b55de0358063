"""Compute backends: where the one pass over the rows is made; they differ in nothing else."""

from types import ModuleType
from typing import Any

import numpy as np

from twosample.common.arrays import on_device as stays  # others are copied to NumPy first
from twosample.places import local

__all__ = ["of", "stays"]


def of(rows: Any) -> ModuleType:
    """The compute backend for rows of this kind of array."""
    if isinstance(rows, np.ndarray):
        return local
    from twosample.places import device

    return device
