"""The command: how it starts and ends, where it listens, and that it writes nothing."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from twosample import cli
from twosample.app import server

# Everything that Python opens to write, but for the null device, is said on stderr.
WATCHED = """
import os, sys
def watch(event, args):
    if event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        if args[0] != os.devnull:
            print("WRITTEN", args[0], file=sys.stderr)
sys.addaudithook(watch)
from twosample.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_it_says_where_it_is_and_ends_quietly(served):
    with served() as running:
        assert running.client().get(f"/{running.token}/").status_code == 200
        assert len(running.token) >= 22
        running.process.send_signal(signal.SIGINT)
        out, err = running.process.communicate(timeout=20)
        assert running.process.returncode == 130
        assert (out, err.strip()) == ("", "Ctrl-C ends it.")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_an_interrupt_ends_what_runs(served, table):
    with served() as running:
        page = running.page()
        page.put("first", table(1, n=1000))
        page.put("second", table(2, n=1000))
        page.start(permutations="100000")
        while page.state()["share"] == 0.0:
            time.sleep(0.02)
        running.process.send_signal(signal.SIGINT)
        _, err = running.process.communicate(timeout=20)
        assert (running.process.returncode, err.strip()) == (130, "Ctrl-C ends it.")


def test_nothing_is_written(served, table, tmp_path):
    """Its home, its temporary files and where it runs are one folder, which stays empty."""
    settings = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME"), tmp_path)
    with served(code=WATCHED, PYTHONDONTWRITEBYTECODE=1, **settings) as running:
        page = running.page()
        # More bytes than what forms are spooled to disk from.
        large = table(1, n=2000).replace(b",", b"," + b" " * 500)
        assert len(large) > 800_000
        page.put("first", large, "large.csv")
        page.put("second", table(2, n=50), "small.csv")
        assert page.look().status_code == 200
        assert page.test()["state"] == "done"
        assert page.report().status_code == page.result().status_code == 200
        assert page.test(test="each")["state"] == "done"
        page.client.post(f"{page.root}/example")
        assert page.test()["state"] == "done"
        assert list(tmp_path.iterdir()) == []
        running.process.terminate()
        err = running.process.communicate(timeout=20)[1]
    assert "WRITTEN" not in err
    assert list(tmp_path.iterdir()) == []


def test_it_listens_on_this_computer_only(monkeypatch):
    bound = []

    class Server:
        def __init__(self, config):
            pass

        def run(self, sockets):
            bound.extend(one.getsockname() for one in sockets)

    monkeypatch.setattr("uvicorn.Server", Server)
    said, opened = [], []
    monkeypatch.setattr(server, "_open", opened.append)
    server.serve(say=said.append)
    server.serve(say=said.append, browser=True)
    assert [host for host, _ in bound] == ["127.0.0.1"] * 2
    assert [address.startswith(f"http://127.0.0.1:{port}/") for address, (_, port) in zip(said, bound, strict=True)]
    assert opened == said[1:]
    assert said[0].split("/")[3] != said[1].split("/")[3]


def run(*args, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["app", *args])
    return ended.value.code, capsys.readouterr()


def test_the_browser_is_opened_unless_it_is_not_wanted(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("twosample.app.serve", lambda port, **options: asked.append((port, options)))
    assert run(capsys=capsys)[0] == 0
    assert run("--no-browser", "--port", "8765", "--max-size", "2.5", capsys=capsys)[0] == 0
    assert [(port, options["browser"], options["max_size"]) for port, options in asked] == [
        (0, True, 100.0),
        (8765, False, 2.5),
    ]


def test_a_port_that_is_taken_is_refused(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, (out, err) = run("--port", str(port), "--no-browser", capsys=capsys)
    assert (status, out) == (2, "")
    assert err.startswith(f"twosample: error: --port: {port} cannot be used: ")
    assert err.strip().endswith("choose another one, or let the app find one with --port 0")


@pytest.mark.parametrize("options", [["--port", "70000"], ["--max-size", "0"], ["--max-size", "x"], ["file.csv"]])
def test_other_options_are_refused(options, capsys):
    status, (out, err) = run(*options, capsys=capsys)
    assert (status, out) == (2, "") and len(err.splitlines()) == 1


@pytest.mark.parametrize("package", ["starlette", "uvicorn", "jinja2"])
def test_a_missing_package_gives_its_install_line(package, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    status, (_, err) = run("--no-browser", capsys=capsys)
    assert status == 2
    assert err.strip() == f"twosample: error: the app needs {package}; install it with: pip install 'twosample[app]'"


def test_other_commands_do_not_load_the_server():
    code = (
        "import sys; from twosample.cli.commands import run; run(['app', '--help']); "
        "sys.exit(any(name in sys.modules for name in ('starlette', 'uvicorn', 'polars')))"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
