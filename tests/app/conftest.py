"""What the tests of the app share: files, a client of the app in this process, and the app as a process of its own."""

import os
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx
import numpy as np
import pytest
import uvicorn

from twosample.app.connections import Connection
from twosample.app.server import make_app

TOKEN = "secret-token-of-the-tests"


@pytest.fixture(scope="session")
def table():
    return make_table


def make_table(seed, columns=("u", "v"), n=40, shift=0.0):
    """A sample as the bytes of a CSV file."""
    rows = np.random.default_rng(seed).normal(shift, 1.0, (n, len(columns)))
    lines = [",".join(columns), *(",".join(f"{value:.4f}" for value in row) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


class Page:
    """What the page does, without a browser."""

    def __init__(self, client, root=f"/{TOKEN}"):
        self.client = client
        self.session = client.post(f"{root}/sessions").json()["session"]
        self.root = f"{root}/sessions/{self.session}"

    def put(self, slot, content, name="a.csv"):
        return self.client.put(f"{self.root}/files/{slot}", params={"name": name}, content=content)

    def look(self, **reading):
        return self.client.post(f"{self.root}/look", json={"reading": reading})

    def start(self, **question):
        return self.client.post(f"{self.root}/test", json=question)

    def state(self):
        return self.client.get(f"{self.root}/test").json()

    def ended(self, seconds=120.0):
        """What is said of the test once it has ended."""
        until = time.monotonic() + seconds
        while (said := self.state())["state"] in ("waiting", "running"):
            assert time.monotonic() < until, said
            time.sleep(0.02)
        return said

    def test(self, **question):
        assert self.start(**question).status_code == 202
        return self.ended()

    def result(self):
        return self.client.get(f"{self.root}/result")

    def report(self):
        return self.client.get(f"{self.root}/report")

    def close(self):
        return self.client.post(f"{self.root}/close")


@contextmanager
def client_of(**options):
    """A client of the app, served by a thread of this process, that sends what the page would."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
        app = make_app(TOKEN, listening.getsockname()[1], **options)
        settings = {"log_level": "error", "ws": "none", "timeout_graceful_shutdown": 2}
        server = uvicorn.Server(uvicorn.Config(app, http=Connection, **settings))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with httpx.Client(base_url=origin, headers={"Origin": origin}, timeout=60.0, trust_env=False) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def client():
    with client_of() as client:
        yield client


@pytest.fixture
def page(client):
    """A page that is open."""
    page = Page(client)
    yield page
    page.close()


@pytest.fixture
def another(client):
    """Another page of the same app."""
    page = Page(client)
    yield page
    page.close()


@pytest.fixture
def app_with():
    """Serve an app with other options, and open a page of it."""

    @contextmanager
    def app_with(**options):
        with client_of(**options) as client:
            yield Page(client)

    return app_with


class Server:
    """The app as a process of its own."""

    def __init__(self, process):
        self.process, self.clients = process, []
        line = process.stdout.readline()
        self.address = re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", line)[0]
        self.origin, self.token, _ = self.address.rsplit("/", 2)

    def client(self):
        origin = {"Origin": self.origin}
        self.clients.append(httpx.Client(base_url=self.origin, headers=origin, timeout=120.0, trust_env=False))
        return self.clients[-1]

    def page(self):
        return Page(self.client(), f"/{self.token}")


@pytest.fixture(scope="session")
def served():
    return run_command


@contextmanager
def run_command(*options, code=None, **settings):
    """Run the command, or code, as a process; it is interrupted at the end, if it still runs."""
    command = ["-m", "twosample"] if code is None else ["-c", code]
    process = subprocess.Popen(
        [sys.executable, *command, "app", "--no-browser", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        env=os.environ | {"OMP_NUM_THREADS": "1"} | {name: str(value) for name, value in settings.items()},
        cwd=settings.get("HOME"),
    )  # fmt: skip
    try:
        server = Server(process)
        yield server
        for client in server.clients:
            client.close()
    finally:
        process.kill()
        process.communicate()
