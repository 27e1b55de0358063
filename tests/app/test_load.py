"""Many users at once, of a real server: answers are each one's own, what is too large is refused, memory comes back."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import twosample as ts

pytestmark = pytest.mark.slow

USERS = 50
HELD = 3_000_000
LARGE = 160_000_000


def memory(server, kind="VmRSS"):
    """Resident memory of the server, in MB."""
    status = Path(f"/proc/{server.process.pid}/status")
    if not status.exists():
        pytest.skip("there is no /proc")
    (line,) = (line for line in status.read_text().splitlines() if line.startswith(f"{kind}:"))
    return int(line.split()[1]) / 1000.0


@pytest.fixture
def data(table):
    """The two samples of a user, with the name of their column."""

    def data(user):
        column = f"column-of-{user:02d}-"
        return column, table(user, (column,), 30), table(1000 + user, (column,), 25, 0.1 * (user % 10))

    return data


def whole_road(server, user, data):
    """All that one user does; returns the page, still open, with the report and the result."""
    page = server.page()
    _, first, second = data(user)
    assert page.put("first", first, f"first-{user:02d}-.csv").status_code == 201
    assert page.put("second", second, f"second-{user:02d}-.csv").status_code == 201
    assert page.look().json()["files"][0]["name"] == f"first-{user:02d}-.csv"
    said = page.test()
    assert said["state"] == "done", said
    assert said["names"] == [f"first-{user:02d}-.csv", f"second-{user:02d}-.csv"]
    return page, page.report().text, page.result().json()


def test_fifty_users_at_once(served, data):
    # With a fixed threshold the allocator gives files back that are let go; else it may keep their room for later.
    with served(MALLOC_MMAP_THRESHOLD_=1 << 20) as server:
        for user in range(100, 104):  # what is loaded and set up once
            whole_road(server, user, data)[0].close()
        time.sleep(1.0)
        before = memory(server)
        with ThreadPoolExecutor(USERS) as pool:
            found = list(pool.map(lambda user: whole_road(server, user, data), range(USERS)))
        for user, (_, report, result) in enumerate(found):
            own, (column, first, second) = f"{user:02d}", data(user)
            expected = ts.test(pl.read_csv(first), pl.read_csv(second))
            assert result["log_bf10"] == pytest.approx(expected.log_bf10, rel=1e-9, abs=1e-9)
            assert result["columns"] == [column]
            assert f"first-{user:02d}-.csv" in report
            for text in (report, json.dumps(result)):
                assert set(re.findall(r"column-of-(\d\d)-|-(\d\d)-\.csv", text)) <= {(own, ""), ("", own)}
        for user, (page, *_) in enumerate(found, start=10):
            assert page.put("first", f"{user}.5\n".encode() * (HELD // 5)).status_code == 201
        full = memory(server)
        assert full - before > 0.8 * USERS * HELD / 1e6
        # A file of 160 MB that says so passes through in pieces; of one that does not, as much as the limit is held.
        for headers, more in (({"Content-Length": str(LARGE)}, 0.0), ({}, 100.0)):
            assert_refused_politely(found[0][0], headers)
            assert memory(server, "VmHWM") - full < more + 40.0
        for page, *_ in found:
            assert page.close().status_code == 204
        deadline = time.monotonic() + 20.0
        # Allocators keep some of what they had; a third of what was held would tell of pages that are not let go.
        while memory(server) - before > USERS * HELD / 3e6 and time.monotonic() < deadline:
            time.sleep(0.5)
        print(f"memory: {before:.0f} MB before, {full:.0f} MB held, {memory(server):.0f} MB after")
        assert memory(server) - before < USERS * HELD / 3e6


def assert_refused_politely(page, headers):
    block = bytes(1_000_000)
    body = (block for _ in range(LARGE // len(block)))
    answer = page.client.put(f"{page.root}/files/second", content=body, headers=headers)
    assert answer.status_code == 413
    assert answer.json()["message"].startswith("the file is larger than 100 MB; raise the limit")
    assert "--max-size" in answer.json()["message"]
