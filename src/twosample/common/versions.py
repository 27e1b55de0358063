"""The packages that are always needed, and how old they may be: pip lets another package bring back an older one."""

import re
from functools import cache
from importlib import import_module

from twosample.errors import OldPackageError

__all__ = ["LOWEST", "require"]

# As pyproject.toml has them; to ask the installation would take a tenth as long as all other imports.
LOWEST = {"narwhals": "2", "numpy": "2", "scipy": "1.13"}


@cache
def require(package: str) -> None:
    """Refuse one that is too old, before what it lacks is missed."""
    found = str(import_module(package).__version__)
    if _numbers(found) < _numbers(LOWEST[package]):
        raise OldPackageError(package, found, LOWEST[package])


def _numbers(version: str) -> tuple[int, int]:
    """The first two numbers of a version."""
    first, second, *_ = *map(int, re.findall(r"\d+", version)), 0, 0
    return first, second
