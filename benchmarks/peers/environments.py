"""An environment for each program, outside the repository, and questions put to `worker.py` there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import twosample
from benchmarks.peers.catalogue import Peer

WORKER = Path(__file__).parent / "worker.py"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
)
QUIET = {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "DO_NOT_TRACK": "1"}


class DidNotInstall(Exception):
    """Why a program cannot be measured here."""


@dataclass(frozen=True)
class Environment:
    """A Python interpreter that has a program, and the versions it has."""

    python: str
    versions: dict[str, str]

    def ask(self, **request: Any) -> tuple[list[dict[str, Any]], str]:
        """The lines of the worker's reply, and why there are no more of them, if there should be."""
        request = {"seconds": 60, "megabytes": 4096, "timed": False} | request
        # -P: the modules beside the worker must not hide those of a program.
        done = self._run("-P", str(WORKER), given=json.dumps(request))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode == -signal.SIGPROF:
            return lines, f"more than {request['seconds']:g} s"
        return lines, last_line(done.stderr) if done.returncode else ""

    def import_module(self, peer: Peer) -> None:
        done = self._run("-W", "ignore", "-c", f"import {peer.module}")
        if done.returncode:
            raise DidNotInstall(f"installed, but does not import: {last_line(done.stderr)}")

    def with_versions(self, peer: Peer) -> Environment:
        code = (
            "import importlib, importlib.metadata, json, sys\n"
            "def of(name):\n"
            "    try: return importlib.metadata.version(name)\n"
            "    except importlib.metadata.PackageNotFoundError: return importlib.import_module(name).__version__\n"
            "print(json.dumps({name: of(name) for name in sys.argv[1:]}))"
        )
        return Environment(self.python, json.loads(self._run("-c", code, *peer.versions).stdout))

    def _run(self, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        if self.python == sys.executable:
            inherited["PYTHONPATH"] = str(Path(twosample.__file__).parents[1])
        return subprocess.run(
            [self.python, *words], input=given, env=inherited | ONE_THREAD | QUIET, capture_output=True, text=True
        )


def last_line(text: str) -> str:
    """The line that says why something failed, without addresses and folders."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("WARNING")]
    telling = [line for line in lines if re.match(r"(ERROR|fatal|\w*(Error|Exception)):", line)]
    line = (telling or lines or ["it ended without a message"])[-1]
    line = re.sub(r"\w+(\+\w+)?://[^\s'\")]+|\b(?:[\w-]+\.)+(?:com|org|io|net|dev)\b", "(address)", line)
    return re.sub(r"(?<![\w.])/[\w.-]+(/[\w.-]+)+", "(folder)", line)[:200]


def prepare(peer: Peer, folder: Path) -> Environment:
    """The environment of a program, made now if it was not made before; `DidNotInstall` says why there is none."""
    if peer.here:
        environment = Environment(sys.executable, {})
        environment.import_module(peer)
        return environment.with_versions(peer)
    place = folder / re.sub(r"\W+", "-", peer.name.lower())
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    finished = place / "requirements.json"
    if not finished.exists() or json.loads(finished.read_text()) != list(peer.requirements):
        venv.create(place, clear=True, with_pip=True)
        words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.requirements]
        done = subprocess.run([str(python), *words], capture_output=True, text=True)
        if done.returncode:
            raise DidNotInstall(last_line(done.stderr + done.stdout))
        finished.write_text(json.dumps(peer.requirements))
    environment = Environment(str(python), {})
    environment.import_module(peer)
    return environment.with_versions(peer)
