"""Clients that send what no page would, or do not go on: no fault, no connection that stays, memory as before."""

import json
import random
import re
import socket
import time
from pathlib import Path

import pytest

from twosample.app import connections

NESTED = [b"[" * 100_000, b'{"a":' * 100_000, b'{"reading": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", b"9" * 100_000]


@pytest.mark.parametrize("body", NESTED, ids=["lists", "objects", "within", "digits"])
@pytest.mark.parametrize("address", ["look", "test"])
def test_nested_bodies_are_refused(body, address, page):
    answer = page.client.post(f"{page.root}/{address}", content=body)
    assert (answer.status_code, answer.json()) == (400, {"message": "the request is not one of the page"})


# ---- connections that do not go on


def test_the_page_says_how_long_is_waited():
    page = (Path(__file__).parents[2] / "docs/guide/faults.md").read_text("utf-8")
    said = re.findall(r"(?:after|for) (\d+) seconds", page)
    assert said == [f"{connections._SECONDS[one]:g}" for one in ("head", "body", "answer")]


@pytest.fixture
def impatient(monkeypatch, app_with):
    """The app waits for parts of a second, and looks often."""
    monkeypatch.setattr(connections, "_SECONDS", {"head": 0.4, "body": 0.6, "answer": 0.6})
    monkeypatch.setattr(connections, "_LOOKED_AFTER_SECONDS", 0.05)
    with app_with() as page:
        yield page


def connected(page, *pieces, pause=0.0):
    """A connection that has sent these pieces."""
    url = page.client.base_url
    connection = socket.create_connection((url.host, url.port), timeout=10)
    for piece in pieces:
        connection.sendall(piece)
        time.sleep(pause)
    return connection


def closed_after(connection):
    """When the other side has closed the connection, in seconds from now, and what it had sent."""
    begun, received = time.monotonic(), b""
    try:
        while piece := connection.recv(1 << 16):
            received += piece
    except ConnectionResetError:
        pass
    connection.close()
    return time.monotonic() - begun, received


def head(page, method, path, **headers):
    url = page.client.base_url
    host = f"{url.host}:{url.port}"
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Origin: http://{host}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_a_request_that_does_not_go_on_is_ended(impatient):
    page = impatient
    put = head(page, "PUT", f"{page.root}/files/first?name=a.csv", Content_Length=1000)
    said = head(page, "POST", f"{page.root}/look", Content_Length=100)
    for pieces in ((), (b"GET / HT",), (put[:-2],), (put, b"u,v\n"), (said, b"{"), (head(page, "GET", "/"), b"GET ")):
        seconds, received = closed_after(connected(page, *pieces))
        assert 0.1 < seconds < 5.0, pieces
        assert received == b"" or received.startswith(b"HTTP/1.1 404"), pieces
    assert page.look().json()["files"] == [None, None]


def test_a_head_that_trickles_is_ended(impatient):
    """Its time is that of the whole head, not of its pieces."""
    begun = time.monotonic()
    with connected(impatient) as connection, pytest.raises(OSError):
        for _ in range(100):
            connection.sendall(b"G")
            time.sleep(0.1)
    assert time.monotonic() - begun < 5.0


def test_an_answer_that_is_not_read_is_ended(impatient, monkeypatch):
    page = impatient
    page.client.post(f"{page.root}/example")
    assert page.test()["state"] == "done"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(10)
        connection.connect((page.client.base_url.host, page.client.base_url.port))
        connection.sendall(head(page, "GET", f"{page.root}/report") * 60)  # more than the system holds
        time.sleep(2.0)
        _, received = closed_after(connection)
    assert len(received) < 60 * len(page.report().content)


def test_slow_uploads_and_long_work_go_on(impatient, monkeypatch):
    page, content = impatient, b"u,v\n" + b"1,2\n3,4\n" * 30
    put = head(page, "PUT", f"{page.root}/files/first?name=a.csv", Content_Length=len(content), Connection="close")
    pieces = [content[at : at + 40] for at in range(0, len(content), 40)]
    _, received = closed_after(connected(page, put, *pieces, pause=0.2))
    assert received.startswith(b"HTTP/1.1 201")

    def slow(*arguments):
        time.sleep(1.5)
        return {"files": "seen"}

    monkeypatch.setattr("twosample.app.server.look", slow)
    assert page.look().json() == {"files": "seen"}


# ---- a fuzzer

FIELDS = "test reading by groups columns y law nan_policy paired prior_odds fdr".split()
READING = "missing decimal thousands encoding comment header delimiter".split()
TEXTS = (
    *(
        "",
        "x",
        "u",
        "v",
        "g",
        "nan",
        "inf",
        "1e999",
        "-1",
        "\ud800",
        "\0",
        "0.5",
        "9" * 400,
        "a",
        "b",
        ",",
        ";",
        "utf-16",
    ),
    *("norm(0, 1)", "norm(" * 500, "(" * 900, "t(-1)", "test", "each", "independence", "goodness", "omit"),
)
STARTS = (b"PAR1", b"ARROW1", b"PK\3\4", b"\x1f\x8b", b"BZh9", b"\x28\xb5\x2f\xfd", b"\xd0\xcf\x11\xe0", b"\xff" * 4)
METHODS = ("GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD", "TRACE")
PLACES = ("report", "result", "test", "example", "look", "files/first", "nothing", "..%2f..", "%ff", "a" * 3000)


def some_value(chance, depth=0):
    kind = chance.randrange(6 if depth < 4 else 4)
    if kind == 4:
        return [some_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 5:
        return {chance.choice(TEXTS): some_value(chance, depth + 1) for _ in range(chance.randrange(4))}
    return chance.choice((None, True, 0, -1, 10**30, 1e308, float("nan"))) if kind == 0 else chance.choice(TEXTS)


def some_body(chance):
    if chance.random() < 0.3:
        return chance.choice((*NESTED, b"", b"null", chance.randbytes(200), json.dumps(some_value(chance)).encode()))
    asked = {name: some_value(chance) for name in FIELDS if chance.random() < 0.3}
    asked["test"] = chance.choice(("test", "each", "independence", "goodness"))
    asked["permutations"] = chance.choice(("", "3", "x", -1, "nan", "1e400"))
    if chance.random() < 0.5:
        asked["columns"], asked["y"], asked["by"] = ["u"], ["v"], "g"
    if chance.random() < 0.4:
        asked["reading"] = {name: some_value(chance) for name in READING if chance.random() < 0.4}
    return json.dumps(asked).encode()


def some_file(chance):
    kind = chance.randrange(4)
    if kind == 0:
        return chance.choice((*STARTS, b"")) + chance.randbytes(chance.randrange(400))
    cells = (b"1", b"2.5", b"-3e5", b"x", b"", b"inf", b'"', b"1e999") if kind == 1 else (b"1", b"2.5", b"-3", b"0.25")
    rows = [
        b",".join((chance.choice(cells), chance.choice(cells), chance.choice((b"a", b"b", b"c")))) for _ in range(60)
    ]
    return b"u,v,g\n" + b"\n".join(rows) + b"\n"


def some_request(chance, page):
    """Send something; returns the answers."""
    kind, root, client = chance.randrange(10), page.root, page.client
    if kind < 3:
        name = chance.choice(("a.csv", "x.gz", "\0", "a" * 500, "x.xlsx", "x.parquet"))
        return [page.put(chance.choice(("first", "second", "third")), some_file(chance), name)]
    if kind < 5:
        return [client.post(f"{root}/look", content=some_body(chance))]
    if kind < 8:
        answer = client.post(f"{root}/test", content=some_body(chance))
        return [answer] if answer.status_code != 202 else [answer, page.ended()]
    if kind == 8:
        headers = chance.choice(({}, {"Host": "elsewhere"}, {"Origin": "null"}, {"Cookie": "x" * 3000}))
        path = chance.choice((f"{root}/{chance.choice(PLACES)}", "/", f"/{chance.choice(PLACES)}", root))
        return [client.request(chance.choice(METHODS), path, headers=headers, content=chance.choice((b"", b"{}")))]
    return [client.post(f"{root}/example")]


def fuzz(server, chance, count):
    """Send requests of a page or two; none of them is answered by a fault."""
    page, statuses = server.page(), set()
    for _ in range(count):
        if chance.random() < 0.03:
            page.close()
            page = server.page()
        begun = time.monotonic()
        for answer in some_request(chance, page):
            if isinstance(answer, dict):
                assert answer["state"] in ("done", "refused"), answer
                statuses.add(answer["state"])
            else:
                assert answer.status_code < 500, (answer.request, answer.text)
                statuses.add(answer.status_code)
        assert time.monotonic() - begun < 10.0
    page.close()
    return statuses


def memory(process):
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        pytest.skip("there is no /proc")
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1000.0


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.exhaustive])])
def test_a_fuzzer_finds_no_fault(count, served):
    with served() as server:
        chance = random.Random(25)
        statuses = fuzz(server, chance, max(count // 3, 40))  # loads what is loaded once
        before = memory(server.process)
        statuses |= fuzz(server, chance, count)
        assert statuses >= {200, 201, 202, 204, 400, 404}
        assert memory(server.process) < 1.2 * before
        assert server.client().get(f"/{server.token}/").status_code == 200
