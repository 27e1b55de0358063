"""How much memory is free: what the system has, and what this process may take of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["available_memory"]

# Bytes where nothing is known.
_UNKNOWN = 4 << 30
_MEMINFO = Path("/proc/meminfo")
# Of a container: the limit and what is used of it, in the second and in the first version of control groups.
_CONTAINER = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory() -> int:
    """Bytes of memory that this process can still take without swapping, about."""
    return max(0, min(_bounds(), default=_UNKNOWN))


def _bounds() -> Iterator[int]:
    """What is free by the system, by the container and by the limits of the process, as far as they say."""
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        yield int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, ValueError, KeyError):
        if hasattr(os, "sysconf") and {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= set(os.sysconf_names):
            yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    for limit, used in _CONTAINER:
        try:
            yield int(Path(limit).read_text()) - int(Path(used).read_text())
        except (OSError, ValueError):  # none, or "max"
            continue
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            yield most - pages * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        pass
