"""Libraries of arrays with devices: where an array of theirs is, how it gets there and back, and what it may take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twosample.common.arrays import Array, library_of, namespace
from twosample.errors import InputError, Setting

__all__ = ["constant", "free_memory", "mover"]

_MEMORY_IF_UNKNOWN = 1 << 28
_SHARE_OF_MEMORY = 0.25


def mover(engine: str) -> Callable[[Array], Any]:
    """What takes an array of NumPy to the device that a name such as "torch:cuda" or "jax" stands for."""
    library, _, place = engine.partition(":")
    if library not in ("torch", "cupy", "jax") or (not place and engine.endswith(":")):
        raise InputError(
            f"engine: {engine!r} is unknown",
            argument="engine",
            remedy="use 'auto', 'threads', 'dask', 'torch:cuda', 'cupy' or 'jax'",
        )
    try:
        return _MOVERS[library](place)
    except ImportError:
        raise InputError(
            f"engine: {engine!r} needs {library}, which is not installed here",
            argument="engine",
            remedy=("install it as its own documentation says, or use ", Setting("engine", "threads")),
        ) from None
    except (RuntimeError, ValueError) as error:  # no such device, no driver
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            f"engine: {engine!r} is not there: {reason}",
            argument="engine",
            remedy=("use ", Setting("engine", "threads")),
        ) from None


def _to_torch(place: str) -> Callable[[Array], Any]:
    import torch

    device = torch.device(place or "cuda")
    torch.zeros(1, device=device)
    return lambda rows: torch.from_numpy(np.ascontiguousarray(rows)).to(device)


def _to_cupy(place: str) -> Callable[[Array], Any]:
    import cupy

    device = cupy.cuda.Device(int(place) if place else 0)

    def move(rows: Array) -> Any:
        with device:
            return cupy.asarray(rows)

    move(np.zeros(1))
    return move


def _to_jax(place: str) -> Callable[[Array], Any]:
    import jax

    device = jax.devices(place or None)[0]

    def move(rows: Array) -> Any:
        with jax.enable_x64(True):
            return jax.device_put(rows, device)

    return move


_MOVERS: dict[str, Callable[[str], Callable[[Array], Any]]] = {"torch": _to_torch, "cupy": _to_cupy, "jax": _to_jax}


def constant(values: Any, rows: Any) -> Any:
    """An array of NumPy on the device of the rows."""
    import array_api_compat as api

    xp = namespace(rows)
    return xp.asarray(values, dtype=xp.float64, device=api.device(rows))


def free_memory(rows: Any) -> int:
    """Bytes that blocks may take."""
    library = library_of(rows)
    if library == "torch" and rows.device.type == "cuda":
        import torch

        return int(torch.cuda.mem_get_info(rows.device)[0] * _SHARE_OF_MEMORY)
    if library == "cupy":
        import cupy

        return int(cupy.cuda.runtime.memGetInfo()[0] * _SHARE_OF_MEMORY)
    if library == "jax":
        found = next(iter(rows.devices())).memory_stats() or {}
        if "bytes_limit" in found:
            return int((found["bytes_limit"] - found["bytes_in_use"]) * _SHARE_OF_MEMORY)
    return _MEMORY_IF_UNKNOWN
