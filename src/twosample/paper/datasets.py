"""The data files of the paper, which are not part of this package: downloaded once, or read from a folder.

Every file is checked against its SHA-256 whenever it is read, wherever it comes from.
"""

from __future__ import annotations

import hashlib
import os
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


class _File(NamedTuple):
    """A data file: where it is in the authors' repository, where else in a local folder, and its SHA-256."""

    remote: str
    local: str
    sha256: str


_CRYSTAL = _File(
    "ChemistryData/COD_2D.csv",
    "rings/COD_2D.csv",
    "b755713f1c3e1206b5adeddfee89ba0f0616ff9719a25ef8820fabef996c9806",
)
_GAS_PHASE = _File(
    "ChemistryData/CREST_2D.csv",
    "rings/CREST_2D.csv",
    "4cb59961380318fe5ef0c8d4153434d5d796d5c0121c0cba890fdfcd019c17eb",
)
_NETWORK_HASHES = {
    "p7": (
        "659c319312ec5f8a421d8b864837ab9234d7393c482b76e58e3c42efce9a1472",
        "06481d829dc3e770f2d0201d611b7238e76a18472a091ec4b0f9627c5e107f39",
    ),
    "p9": (
        "27225566e8c256b0ccac114d4464ca76256be8312a6b10bb3e0b7fdcac841e43",
        "994c1abd70488c538ced62c50e9886c0508816d95159c9a5d57142a1e5fa6f13",
    ),
    "p11": (
        "8361f184f973adfd8d2eb9ea31dd3ba761438d6f8d31c92d03f43de905863e20",
        "6e02671f23a7db4532499cb5cc00ee871c79c7f12826a7cd031c9b1d43701f29",
    ),
    "p15": (
        "54f2cd2051ef02de21e697ee141e42e0a3a5954098e857b526fea01fc0d33cd6",
        "d3eb19e7662c4a00f5c5eb6f59c6eed75f895e2d0cb4df64a36430ddf7f1c787",
    ),
    "random_p3": (
        "da909b70849f297fdd82ca47336af63284d9596b737a2d9dc9d3f3a14722e0ad",
        "da909b70849f297fdd82ca47336af63284d9596b737a2d9dc9d3f3a14722e0ad",
    ),
    "random_p5": (
        "9245ad0f93c1f821d118c8cc2abe2f140e77c49248bf15904584a4e6900fcacf",
        "b0227fba29b39948d42c9f585669f51e8afad4d713039e5c0879b96e3caca99b",
    ),
    "random_p7": (
        "f76222b9763f320cbf30c9b4008f72b85888c3c9e0ab8fb445aaf80db246b1be",
        "43ec9231c981619344ff26edf6e37b27fa3d738fb3f2851e2c8a5f5e337aa0a4",
    ),
    "random_p9": (
        "81344f124ea827adc3e975244cf84cf74ad8ab38fe5ec98b05b182e3205e95e4",
        "282bdd93289026994a56cfbee158469c829426e78c0e59d12689732753b318ee",
    ),
    "random_p11": (
        "567efc7bec1e4d1f58b754163b5d2da1c842ff0747f6f082d18cc3c4e0b1ac6d",
        "7294ea41d50e2ae32bf13a6a464bec9945dca0c39d0ab15359960a1cb99fdb91",
    ),
    "random_p15": (
        "effe51645bc7a865a304a84641a920445a702ff55079073dd1d9101f5f4ecba5",
        "bcc56303bdde7982fac7365f6f78cc3c4bed6d81f91c6e7cdd2655be3537dffd",
    ),
}

NETWORKS = tuple(_NETWORK_HASHES)
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
        What the samples are called.
    columns
        What the columns are called.
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
        What the pair is called.
    """

    covariance_x: Array
    covariance_y: Array
    name: str


def rings(folder: str | os.PathLike[str] | None = None) -> RingData:
    """Load the paper's real data: shapes of six-membered rings in crystals, and of molecules by themselves.

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
    return RingData(_read(_CRYSTAL, folder), _read(_GAS_PHASE, folder))


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
    DownloadError
        If a file cannot be downloaded.
    MissingExtraError
        If pooch is needed and not installed.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> pair = ts.datasets.networks("p7")  # doctest: +SKIP
    >>> rng = np.random.default_rng(0)
    >>> x = rng.multivariate_normal(np.zeros(7), pair.covariance_x, size=200)  # doctest: +SKIP
    """
    if not isinstance(name, str):
        raise InputTypeError(f"name must be a text such as 'p7', not a {type(name).__name__}", argument="name")
    if name not in _NETWORK_HASHES:
        raise InputError(f"name is {name!r}", argument="name", remedy=f"choose one of {', '.join(NETWORKS)}")
    first, second = (_read(file, folder) for file in _network_files(name))
    return NetworkPair(first, second, name)


def _network_files(name: str) -> tuple[_File, _File]:
    first, second = (
        _File(f"cov_file/{name}/sigma{i}.csv", f"networks/{name}/sigma{i}.csv", sha256)
        for i, sha256 in enumerate(_NETWORK_HASHES[name], start=1)
    )
    # Where the two are the same, one download will do.
    return first, second._replace(remote=first.remote) if second.sha256 == first.sha256 else second


def _read(file: _File, folder: str | os.PathLike[str] | None) -> Array:
    """The numbers of a checked file of comma-separated values below a line of names."""
    return np.loadtxt(_locate(file, folder), delimiter=",", skiprows=1, ndmin=2)


def _locate(file: _File, folder: str | os.PathLike[str] | None) -> Path:
    """Where a copy of the file is whose hash is right."""
    if folder is not None:
        if not isinstance(folder, str | os.PathLike):
            raise InputTypeError(
                f"folder must be the path of a folder, not a {type(folder).__name__}", argument="folder"
            )
        return _find(file, Path(folder), "folder")
    if os.environ.get(_VARIABLE):
        return _find(file, Path(os.environ[_VARIABLE]), f"the environment variable {_VARIABLE}")
    return _download(file)


def _find(file: _File, folder: Path, given_by: str) -> Path:
    path = next((folder / place for place in (file.local, file.remote) if (folder / place).is_file()), None)
    if path is None:
        raise InputError(
            f"{given_by}: {str(folder)!r} has no {file.local} (nor {file.remote})",
            argument="folder",
            remedy=f"put the file from {_ADDRESS + file.remote} there, or leave it out to download",
        )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != file.sha256:
        raise InputError(
            f"{given_by}: {str(path)!r} is not the file of the paper: its SHA-256 is {digest}, not {file.sha256}",
            argument="folder",
            remedy=f"replace it by {_ADDRESS + file.remote}",
        )
    return path


def _download(file: _File) -> Path:
    try:
        import pooch
    except ImportError:
        raise MissingExtraError("datasets", "pooch", "data") from None

    address = _ADDRESS + file.remote
    cache = pooch.create(path=pooch.os_cache("twosample"), base_url=_ADDRESS, registry={file.remote: file.sha256})
    try:
        # Checks the hash, of a file that it finds in the cache too, and fetches it again if that is wrong.
        return Path(cache.fetch(file.remote, downloader=pooch.HTTPDownloader(timeout=_SECONDS)))
    except (OSError, ValueError) as error:
        raise DownloadError(
            f"{file.remote} could not be downloaded from {address} ({error}); try again later, or get the file "
            f"(SHA-256 {file.sha256}) in another way, save it as {file.local} in a folder of yours, and pass that "
            f"folder as folder=... or in the environment variable {_VARIABLE}"
        ) from error
