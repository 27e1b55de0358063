"""Arrays: their types, and the library of some, so that the same lines run on NumPy, JAX and others of the standard."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array",
    "Flags",
    "Indices",
    "doubles",
    "evenly_spread",
    "float64",
    "library_of",
    "namespace",
    "on_device",
    "solve_lower",
    "take_rows",
    "to_numpy",
]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]


def namespace(*arrays: Any) -> Any:
    """The functions of the array API standard for these arrays; NumPy's own for NumPy's."""
    if all(isinstance(array, np.ndarray) for array in arrays):
        return np
    library = library_of(arrays[0])
    if library == "torch":  # also while torch compiles, when array_namespace gives pages of warnings
        import array_api_compat.torch as of_torch

        return of_torch
    if library == "cupy":  # also for what stands for an array while CuPy compiles
        import array_api_compat.cupy as of_cupy

        return of_cupy
    import array_api_compat

    return array_api_compat.array_namespace(*arrays)


def library_of(values: Any) -> str:
    """The package that an array is of, by its type alone, so that nothing is imported to find out."""
    return type(values).__module__.partition(".")[0].replace("jaxlib", "jax")


def on_device(values: Any) -> bool:
    """Whether an array is in the memory of an accelerator, from where it must not be copied without need."""
    library = library_of(values)
    if library == "torch":
        return hasattr(values, "device") and values.device.type != "cpu"
    if library == "jax":
        return hasattr(values, "devices") and any(device.platform != "cpu" for device in values.devices())
    return library == "cupy"


def doubles(*arrays: Any) -> AbstractContextManager[object]:
    """Where JAX keeps and makes float64 arrays, which it does not on its own; nothing for other libraries."""
    if any(library_of(array) == "jax" for array in arrays):
        import jax

        return jax.enable_x64(True)  # type: ignore[no-any-return]
    return nullcontext()


def float64(values: Any) -> Any:
    """An array of real numbers of any type as float64, on its device."""
    xp = namespace(values)
    with doubles(values):
        return values if values.dtype == xp.float64 else xp.astype(values, xp.float64)


def to_numpy(values: Any) -> NDArray[Any]:
    """An array of any library as one of NumPy, copied from its device where it is on one."""
    import array_api_compat

    if array_api_compat.is_torch_array(values):
        values = values.detach().cpu()
        # NumPy has no bfloat16; a float64 tensor is left where it is.
        return np.asarray(values.double() if values.is_floating_point() else values)
    if array_api_compat.is_cupy_array(values):
        return np.asarray(values.get())
    return np.asarray(values)


def take_rows(rows: Any, places: NDArray[Any]) -> Any:
    """Some rows of an array of any library, by their places, which may be flags."""
    if isinstance(rows, np.ndarray):
        return rows[places]
    import array_api_compat

    xp = namespace(rows)
    places = np.flatnonzero(places) if places.dtype == bool else places
    return xp.take(rows, xp.asarray(places, device=array_api_compat.device(rows)), axis=0)


def solve_lower(lower: Any, right: Any) -> Any:
    """L⁻¹B for lower triangular L (..., s, s) and B (..., s, k); in JAX its gradient makes use of the zeros of L."""
    xp = namespace(lower)
    if xp is not np:
        import array_api_compat

        if array_api_compat.is_jax_array(lower):
            from jax.scipy.linalg import solve_triangular

            return solve_triangular(lower, xp.broadcast_to(right, (*lower.shape[:-2], *right.shape[-2:])), lower=True)
    return xp.linalg.solve(lower, right)


def evenly_spread(n: int, count: int) -> Indices:
    """Places of the middles of `count` parts of n, the same from either end.

    Examples
    --------
    >>> evenly_spread(12, 4), evenly_spread(11, 3)
    (array([ 1,  4,  7, 10]), array([1, 5, 9]))
    """
    first = ((np.arange((count + 1) // 2) + 0.5) * (n / count)).astype(np.int64)
    return np.concatenate([first, n - 1 - first[: count // 2][::-1]])
