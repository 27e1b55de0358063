"""Packages that are too old are refused before what they lack is missed."""

import pickle
import types

import polars as pl
import pytest

import twosample as ts
from twosample.common import versions
from twosample.errors import MissingExtraError, OldPackageError


@pytest.fixture(autouse=True)
def asked_anew():
    versions.require.cache_clear()
    yield
    versions.require.cache_clear()


@pytest.mark.parametrize(
    ("package", "found", "refused"),
    [
        ("numpy", "1.26.4", True),
        ("numpy", "2.0.0rc1", False),
        ("numpy", "10.1", False),
        ("scipy", "1.12.0", True),
        ("scipy", "1.13.0", False),
        ("scipy", "1.9", True),
        ("scipy", "2", False),
        ("narwhals", "1.48.1", True),
        ("narwhals", "2.0.0", False),
    ],
)
def test_versions_are_compared_as_numbers(monkeypatch, package, found, refused):
    monkeypatch.setattr(versions, "import_module", lambda name: types.SimpleNamespace(__version__=found))
    if not refused:
        return versions.require(package)
    with pytest.raises(OldPackageError, match=f"^twosample needs {package} .* and {found} is installed") as error:
        versions.require(package)
    assert error.value.name == package and isinstance(error.value, MissingExtraError)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.parametrize("package", ["scipy", "narwhals"])
def test_a_question_says_which_version_is_needed(monkeypatch, package):
    monkeypatch.setattr(f"{package}.__version__", "0.9")
    with pytest.raises(OldPackageError, match=f"twosample needs {package} "):
        ts.test(*(pl.DataFrame({"a": values}) for values in ([1.0, 2.0, 4.0], [2.0, 3.0, 7.0])))
