"""Packages that only some installations have: asked for by name, before the work that needs them."""

from importlib.util import find_spec

from twosample.errors import MissingExtraError

__all__ = ["require"]


def require(caller: str, package: str, extra: str) -> None:
    """Refuse to go on without a package; it is not imported."""
    try:
        missing = find_spec(package) is None
    except (ImportError, ValueError):
        missing = True
    if missing:
        raise MissingExtraError(caller, package, extra)
