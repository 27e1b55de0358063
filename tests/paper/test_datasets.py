import functools
import hashlib
import http.server
import os
import shutil
import socket
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import twosample as ts
from twosample import datasets
from twosample.errors import DownloadError, InputError, InputTypeError, MissingExtraError

FOLDER = Path(os.environ.get("TWOSAMPLE_DATA") or Path(__file__).parents[3] / "shared/data")
with_files = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the paper's data files are not here; name their folder in TWOSAMPLE_DATA"
)


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch):
    monkeypatch.delenv("TWOSAMPLE_DATA", raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


# ---- the files themselves


@with_files
def test_rings():
    data = ts.datasets.rings(FOLDER)
    assert data.crystal.shape == (1936, 2) and data.gas_phase.shape == (26405, 2)
    assert data.columns == ("q2", "q3") and data.names == ("crystal", "gas phase")
    np.testing.assert_array_equal(data.crystal[0], [0.05153794217437218, -0.5564803402149311])
    for rows in (data.crystal, data.gas_phase):
        assert rows.dtype == np.float64 and (rows[:, 0] > 0).all()
        assert 0.45 < np.mean(rows[:, 1] > 0) < 0.55  # rings come with both signs
        assert 0.55 < np.median(np.abs(rows[:, 1])[rows[:, 0] < 0.1]) < 0.6  # chairs


@with_files
def test_rings_repeat_as_documented():
    data = ts.datasets.rings(FOLDER)
    distinct = [len(np.unique(np.abs(rows).round(10), axis=0)) for rows in (data.crystal, data.gas_phase)]
    assert distinct == [745, 7509]


@with_files
@pytest.mark.parametrize("name", datasets.NETWORKS)
def test_networks(name):
    pair = ts.datasets.networks(name, FOLDER)
    size = int(name.removeprefix("random_").removeprefix("p"))
    for covariance in (pair.covariance_x, pair.covariance_y):
        assert covariance.shape == (size, size)
        np.testing.assert_allclose(covariance, covariance.T, rtol=0, atol=1e-14)
        np.testing.assert_allclose(np.diag(covariance), 1, rtol=0, atol=1e-14)
        assert np.linalg.eigvalsh(covariance).min() > 0
    assert (name == "random_p3") == np.array_equal(pair.covariance_x, pair.covariance_y)
    assert pair.name == name


@with_files
def test_a_hub_network_by_its_definition():
    # Three hubs of 2, 2 and 3 nodes; the first is cut in one network and has weight 0.8 in the other.
    pair = ts.datasets.networks("p7", FOLDER)
    for covariance, first in ((pair.covariance_x, 0.0), (pair.covariance_y, 0.8)):
        weights = np.zeros((7, 7))
        for start, end, weight in ((0, 2, first), (2, 4, 0.9), (4, 7, 0.9)):
            weights[start, start:end] = weights[start:end, start] = weight
        precision = weights + (abs(np.linalg.eigvalsh(weights).min()) + 0.1) * np.eye(7)
        inverse = np.linalg.inv(precision)
        scale = np.sqrt(np.diag(inverse))
        np.testing.assert_allclose(covariance, inverse / np.outer(scale, scale), rtol=0, atol=1e-13)


@with_files
def test_the_variable_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TWOSAMPLE_DATA", str(FOLDER))
    assert ts.datasets.rings().crystal.shape == (1936, 2)
    with pytest.raises(InputError, match=r"^folder: "):
        ts.datasets.rings(tmp_path)  # what is passed goes first


@with_files
def test_a_copy_of_the_authors_repository_will_do(tmp_path):
    (tmp_path / "ChemistryData").mkdir()
    for name in ("COD_2D.csv", "CREST_2D.csv"):
        shutil.copy(FOLDER / "rings" / name, tmp_path / "ChemistryData")
    shutil.copytree(FOLDER / "networks", tmp_path / "cov_file")
    assert ts.datasets.rings(str(tmp_path)).gas_phase.shape == (26405, 2)
    for name in datasets.NETWORKS:
        ts.datasets.networks(name, tmp_path)


@with_files
def test_a_changed_copy_is_refused(tmp_path):
    shutil.copytree(FOLDER / "rings", tmp_path / "rings")
    changed = tmp_path / "rings" / "CREST_2D.csv"
    changed.chmod(0o644)
    changed.write_bytes(changed.read_bytes().replace(b"0.0215", b"0.0216", 1))
    found = hashlib.sha256(changed.read_bytes()).hexdigest()
    with pytest.raises(InputError) as error:
        ts.datasets.rings(tmp_path)
    for words in ("folder: ", str(changed), found, "4cb59961380318fe5ef0c8d4153434d5d796d5c0121c0cba890fdfcd019c17eb"):
        assert words in str(error.value)


# ---- without them


def test_refusals(monkeypatch, tmp_path):
    with pytest.raises(InputError, match=r"name is 'p8'; choose one of p7, p9, .*random_p15"):
        ts.datasets.networks("p8")
    with pytest.raises(InputTypeError, match="name must be a text"):
        ts.datasets.networks(7)
    with pytest.raises(InputTypeError, match="folder must be the path of a folder, not a int"):
        ts.datasets.rings(3)
    with pytest.raises(InputError, match=r"^folder: .* has no rings/COD_2D.csv \(nor ChemistryData/COD_2D.csv\)"):
        ts.datasets.rings(tmp_path)
    monkeypatch.setenv("TWOSAMPLE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"^the environment variable TWOSAMPLE_DATA: .* has no networks/p7/sigma1"):
        ts.datasets.networks("p7")


def test_addresses_are_pinned_and_every_file_has_a_hash():
    assert datasets._ADDRESS.startswith("https://")
    files = {f"ChemistryData/{name}_2D.csv" for name in ("COD", "CREST")}
    files |= {f"cov_file/{name}/sigma{number}.csv" for name in datasets.NETWORKS for number in (1, 2)}
    assert set(datasets._HASHES) == files and len(files) == 22 == len(set(map(datasets._local, files)))
    assert all(len(bytes.fromhex(sha256)) == 32 for sha256 in datasets._HASHES.values())


def test_without_pooch(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r"^datasets needs pooch; .*pip install 'twosample\[data\]'"):
        ts.datasets.rings()


# ---- downloads, from a server of our own with stand-ins for the files


def table(values, names):
    return "\n".join([",".join(names), *(",".join(map(repr, row)) for row in values)]).encode() + b"\n"


CRYSTAL = table([[0.25, -0.5], [0.125, 0.5], [0.5, 0.0]], ["q2", "q3"])
GAS_PHASE = table([[0.0, 0.5], [0.75, 0.0]], ["q2", "q3"])


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server:
    """Serves a folder, and counts what is asked of it."""

    def __init__(self, folder):
        self.folder, self.asked = folder, []
        asked = self.asked

        class Counting(Handler):
            def do_GET(self):
                asked.append(self.path)
                super().do_GET()

        self.httpd = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Counting, directory=str(folder))
        )
        self.address = f"http://127.0.0.1:{self.httpd.server_port}/"
        self.thread = threading.Thread(target=self.httpd.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self):
        self.httpd.shutdown()
        self.httpd.server_close()
        self.thread.join()


@pytest.fixture
def cache(monkeypatch, tmp_path):
    pooch = pytest.importorskip("pooch", reason="needs the extra data")
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    for name, content in (("COD", CRYSTAL), ("CREST", GAS_PHASE)):
        monkeypatch.setitem(datasets._HASHES, f"ChemistryData/{name}_2D.csv", hashlib.sha256(content).hexdigest())
    return tmp_path / "cache" / "twosample"


@pytest.fixture
def server(monkeypatch, cache, tmp_path):
    folder = tmp_path / "served"
    (folder / "ChemistryData").mkdir(parents=True)
    (folder / "ChemistryData/COD_2D.csv").write_bytes(CRYSTAL)
    (folder / "ChemistryData/CREST_2D.csv").write_bytes(GAS_PHASE)
    running = Server(folder)
    monkeypatch.setattr(datasets, "_ADDRESS", running.address)
    yield running
    running.close()


def test_download_once(server, cache):
    first = ts.datasets.rings()
    np.testing.assert_array_equal(first.crystal, [[0.25, -0.5], [0.125, 0.5], [0.5, 0.0]])
    np.testing.assert_array_equal(first.gas_phase, [[0.0, 0.5], [0.75, 0.0]])
    assert server.asked == ["/ChemistryData/COD_2D.csv", "/ChemistryData/CREST_2D.csv"]
    assert (cache / "ChemistryData/COD_2D.csv").read_bytes() == CRYSTAL
    np.testing.assert_array_equal(ts.datasets.rings().crystal, first.crystal)
    assert len(server.asked) == 2


def test_a_damaged_cache_is_replaced(server, cache):
    ts.datasets.rings()
    (cache / "ChemistryData/COD_2D.csv").write_bytes(b"q2,q3\n9,9\n")
    assert ts.datasets.rings().crystal.shape == (3, 2)
    assert server.asked[2:] == ["/ChemistryData/COD_2D.csv"]


def test_a_download_of_another_version_is_refused(server, cache):
    (server.folder / "ChemistryData/COD_2D.csv").write_bytes(b"q2,q3\n9,9\n")
    expected = datasets._HASHES["ChemistryData/COD_2D.csv"]
    with pytest.raises(DownloadError, match=f"COD_2D.csv could not be downloaded .*{expected}.*TWOSAMPLE_DATA"):
        ts.datasets.rings()
    assert not (cache / "ChemistryData/COD_2D.csv").exists()


def test_a_file_that_is_not_there(server):
    (server.folder / "ChemistryData/COD_2D.csv").unlink()
    with pytest.raises(DownloadError, match="404"):
        ts.datasets.rings()


def test_networks_that_are_the_same_are_downloaded_once(server, monkeypatch):
    content = table([[1.0, 0.5], [0.5, 1.0]], ["V1", "V2"])
    (server.folder / "cov_file/random_p3").mkdir(parents=True)
    (server.folder / "cov_file/random_p3/sigma1.csv").write_bytes(content)
    for number in (1, 2):
        sha256 = hashlib.sha256(content).hexdigest()
        monkeypatch.setitem(datasets._HASHES, f"cov_file/random_p3/sigma{number}.csv", sha256)
    pair = ts.datasets.networks("random_p3")
    np.testing.assert_array_equal(pair.covariance_x, [[1.0, 0.5], [0.5, 1.0]])
    np.testing.assert_array_equal(pair.covariance_x, pair.covariance_y)
    assert server.asked == ["/cov_file/random_p3/sigma1.csv"]


def test_offline(monkeypatch, cache):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/"
    monkeypatch.setattr(datasets, "_ADDRESS", address)
    with pytest.raises(DownloadError) as error:
        ts.datasets.rings()
    for words in ("ChemistryData/COD_2D.csv", f"{address}ChemistryData/COD_2D.csv", "TWOSAMPLE_DATA", "folder=..."):
        assert words in str(error.value)


def test_a_cache_that_cannot_be_written(monkeypatch, server, tmp_path):
    import pooch

    (tmp_path / "a file").touch()
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "a file" / project)
    with pytest.raises(DownloadError, match="a file"):
        ts.datasets.rings()
