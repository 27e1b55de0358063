"""The data files of the paper, which are not part of this package: downloaded once, or read from a folder.

Every file is checked against its SHA-256 whenever it is read, wherever it comes from.
"""

from __future__ import annotations

import hashlib
import os
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np

from twosample.common.arrays import Array
from twosample.errors import DownloadError, InputError, InputTypeError, MissingExtraError

__all__ = ["NETWORKS", "NetworkPair", "RingData", "networks", "rings"]


_VARIABLE = "TWOSAMPLE_DATA"
_ADDRESS = (
    "https://raw.githubusercontent.com/qinyizhang/BayesianKernelTesting/268f27ef6f1c31356231ef599e8790de360d60d2/"
)
_SECONDS = 30.0


# The SHA-256 of each file, by its path in the authors' repository, in the form that pooch uses.
_HASHES = dict(
    line.split() for line in resources.files("twosample.paper").joinpath("registry.txt").read_text().splitlines()
)
# Names of the repository's folders in a local folder.
_LOCAL = {"ChemistryData": "rings", "cov_file": "networks"}

NETWORKS = tuple(dict.fromkeys(path.split("/")[1] for path in _HASHES if path.startswith("cov_file/")))
"""The names of the network pairs."""


class RingData(NamedTuple):
    """Shapes of six-membered rings, in crystals and in the gas phase.

    Attributes
    ----------
    crystal
        Rows (q2, q3) from crystal structures, in ångström, shape (1936, 2).
    gas_phase
        Rows (q2, q3) from computed minima of the energy, in ångström, shape (26405, 2).
    names
        Names of the samples.
    columns
        Names of the columns.
    """

    crystal: Array
    gas_phase: Array
    names: tuple[str, str] = ("crystal", "gas phase")
    columns: tuple[str, str] = ("q2", "q3")


class NetworkPair(NamedTuple):
    """Two Gaussian networks, by the covariance matrices of their nodes.

    Attributes
    ----------
    covariance_x, covariance_y
        Covariance matrices with unit diagonals, shape (p, p), as in the files: symmetric but for the last digit.
    name
        Name of the pair.
    """

    covariance_x: Array
    covariance_y: Array
    name: str


def rings(folder: str | os.PathLike[str] | None = None) -> RingData:
    """Load the paper's real data: shapes of six-membered rings in crystals and in the gas phase.

    Parameters
    ----------
    folder
        Where the files are: ``rings/COD_2D.csv`` and ``rings/CREST_2D.csv``, or a copy of the authors' repository.
        Without it, the environment variable ``TWOSAMPLE_DATA`` names the folder. Without that either, the files are
        downloaded from github.com/qinyizhang/BayesianKernelTesting the first time, and kept in the user's cache folder;
        this needs the extra ``data``.

    Returns
    -------
    RingData
        Puckering coordinates (q2, q3); see `twosample.chemistry.cremer_pople`.

    Raises
    ------
    InputError
        If the folder lacks a file, or has another version of it.
    DownloadError
        If a file cannot be downloaded.
    MissingExtraError
        If pooch is needed and not installed.

    Notes
    -----
    The rows are not independent. Up to rounding and the sign of q3, 745 of the 1,936 crystal rows and 7,509 of the
    26,405 gas-phase rows are distinct; the others repeat one of them, often with the sign changed, as symmetry copies
    of a molecule do, or another numbering of its atoms. A test that takes all rows for independent overstates the
    evidence. Small random subsets, as in the paper, have fewer repeats.

    Examples
    --------
    >>> import twosample as ts
    >>> data = ts.datasets.rings()  # doctest: +SKIP
    >>> ts.test(data.crystal[::5], data.gas_phase[::100]).verdict  # doctest: +SKIP
    """
    return RingData(_read("ChemistryData/COD_2D.csv", folder), _read("ChemistryData/CREST_2D.csv", folder))


def networks(name: str, folder: str | os.PathLike[str] | None = None) -> NetworkPair:
    """Load a pair of covariance matrices of the paper's network experiment.

    Parameters
    ----------
    name
        "p7", "p9", "p11" or "p15" for networks of that many nodes in three hubs, one of which differs; "random_p3",
        "random_p5", ..., "random_p11", "random_p15" for random networks that share most of their edges. The two of
        "random_p3" are the same.
    folder
        Where the files are: ``networks/p7/sigma1.csv`` and so on, or a copy of the authors' repository (``cov_file``).
        Without it, as for `rings`.

    Returns
    -------
    NetworkPair
        The two covariance matrices.

    Raises
    ------
    InputError
        If there is no pair of that name, or the folder lacks a file or has another version of it.
    DownloadError, MissingExtraError
        As for `rings`.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> pair = ts.datasets.networks("p7")  # doctest: +SKIP
    >>> rng = np.random.default_rng(0)
    >>> x = rng.multivariate_normal(np.zeros(7), pair.covariance_x, size=200)  # doctest: +SKIP
    """
    if not isinstance(name, str):
        raise InputTypeError(f"name must be a text such as 'p7', not a {type(name).__name__}", argument="name")
    if name not in NETWORKS:
        raise InputError(f"name is {name!r}", argument="name", remedy=f"choose one of {', '.join(NETWORKS)}")
    first, second = (_read(f"cov_file/{name}/sigma{number}.csv", folder) for number in (1, 2))
    return NetworkPair(first, second, name)


def _read(file: str, folder: str | os.PathLike[str] | None) -> Array:
    """The numbers of a checked file of comma-separated values below a line of names."""
    if folder is not None and not isinstance(folder, str | os.PathLike):
        raise InputTypeError(f"folder must be the path of a folder, not a {type(folder).__name__}", argument="folder")
    if folder is not None:
        path = _find(file, Path(folder), "folder")
    elif os.environ.get(_VARIABLE):
        path = _find(file, Path(os.environ[_VARIABLE]), f"the environment variable {_VARIABLE}")
    else:
        path = _download(file)
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def _local(file: str) -> str:
    """Path of the file in a local folder."""
    folder, rest = file.split("/", 1)
    return f"{_LOCAL[folder]}/{rest}"


def _find(file: str, folder: Path, given_by: str) -> Path:
    """Path of a local copy of the file whose hash is right."""
    local = _local(file)
    path = next((folder / place for place in (local, file) if (folder / place).is_file()), None)
    if path is None:
        raise InputError(
            f"{given_by}: {str(folder)!r} has no {local} (nor {file})",
            argument="folder",
            remedy=f"put the file from {_ADDRESS + file} there, or leave it out to download",
        )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != _HASHES[file]:
        raise InputError(
            f"{given_by}: {str(path)!r} is not the file of the paper: its SHA-256 is {digest}, not {_HASHES[file]}",
            argument="folder",
            remedy=f"replace it by {_ADDRESS + file}",
        )
    return path


def _download(file: str) -> Path:
    """Path of the file in the user's cache; identical files are downloaded once."""
    try:
        import pooch
    except ImportError:
        raise MissingExtraError("datasets", "pooch", "data") from None

    remote = next(path for path, digest in _HASHES.items() if digest == _HASHES[file])
    cache = pooch.create(path=pooch.os_cache("twosample"), base_url=_ADDRESS, registry={remote: _HASHES[remote]})
    try:
        # Checks the hash, of a file that it finds in the cache too, and fetches it again if that is wrong.
        return Path(cache.fetch(remote, downloader=pooch.HTTPDownloader(timeout=_SECONDS)))
    except (OSError, ValueError) as error:
        raise DownloadError(
            f"{remote} could not be downloaded from {_ADDRESS + remote} ({error}); try again later, or get the file "
            f"(SHA-256 {_HASHES[remote]}) in another way, save it as {_local(file)} in a folder of yours, and pass "
            f"that folder as folder=... or in the environment variable {_VARIABLE}"
        ) from error
