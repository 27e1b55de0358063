"""How much memory is free: the least of what the system, a container and the process itself allow."""

import os
import subprocess
import sys

import pytest

from twosample.common import free_memory as memory
from twosample.common.free_memory import available_memory


@pytest.fixture
def says(tmp_path, monkeypatch):
    """Make the system and a container say these numbers of bytes."""

    def say(free, limit, used):
        system, most, taken = (tmp_path / name for name in ("meminfo", "limit", "used"))
        system.write_text(f"MemTotal: 99999999 kB\nMemAvailable: {free // 1024} kB\n" if free else "nothing")
        most.write_text(f"{limit}\n")
        taken.write_text(f"{used}\n")
        monkeypatch.setattr(memory, "_MEMINFO", system)
        monkeypatch.setattr(memory, "_CONTAINER", ((most, taken), (tmp_path / "none", taken)))

    return say


@pytest.mark.parametrize(
    ("free", "limit", "used", "expected"),
    [(1 << 20, "max", 0, 1 << 20), (1 << 20, 1 << 19, 1 << 10, (1 << 19) - (1 << 10)), (1 << 20, 5, 7, 0)],
)
def test_the_least_of_what_is_said(says, free, limit, used, expected):
    says(free, limit, used)
    assert available_memory() == expected


def test_where_the_system_does_not_say(says):
    says(0, "max", 0)
    assert available_memory() > 1 << 20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are those of Linux")
def test_the_limit_of_the_process():
    code = (
        "import resource; from twosample.common.free_memory import available_memory;"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); print(available_memory())"
    )
    done = subprocess.run([sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=True)
    assert 0 <= int(done.stdout) < 1 << 30
