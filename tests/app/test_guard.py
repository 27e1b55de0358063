"""Who may ask: the token, the name of the computer, and the page itself; and what browsers are told."""

import pytest


@pytest.fixture
def root(page):
    return page.root.rsplit("/sessions", 1)[0]


def test_the_page_is_there_with_the_token(client, root):
    answer = client.get(f"{root}/")
    assert answer.status_code == 200
    assert "Compare two samples" in answer.text
    assert client.get(root).headers["location"].endswith(f"{root}/")
    for name, kind in (("script.js", "text/javascript"), ("style.css", "text/css")):
        assert client.get(f"{root}/{name}").headers["content-type"].startswith(kind)


@pytest.mark.parametrize("path", ["/", "", "/script.js", "/sessions", "/wrong-token/", "//", "/%00/", "/caf%C3%A9/"])
def test_without_the_token_there_is_nothing(client, path):
    for method in ("GET", "POST", "PUT", "DELETE", "HEAD"):
        answer = client.request(method, path)
        assert answer.status_code == 404
        assert "session" not in answer.text


def test_a_part_of_the_token_is_not_enough(client, root):
    assert client.get(f"{root[:-1]}/").status_code == 404
    assert client.get(f"{root}x/").status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "0.0.0.0", ""])
def test_a_foreign_host_is_refused(client, root, host):
    """A name that was made to point here (DNS rebinding) is not this computer's own."""
    port = client.base_url.port
    for name in {host, f"{host}:{port}"} - {f"127.0.0.1:{port}"}:
        answer = client.get(f"{root}/", headers={"Host": name})
        assert answer.status_code == 421
        assert "Compare" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_names_of_this_computer_are_taken(client, root, host):
    name = f"{host}:{client.base_url.port}"
    sent = {"Host": name, "Origin": f"http://{name.lower()}"}
    assert client.get(f"{root}/", headers=sent).status_code == 200
    assert client.post(f"{root}/sessions", headers=sent).status_code == 201


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_a_foreign_origin_is_refused(client, root, page, origin):
    for method, path in (("GET", "/"), ("POST", "/sessions"), ("PUT", page.root.removeprefix(root) + "/files/first")):
        answer = client.request(method, root + path, headers={"Origin": origin}, content=b"u\n1\n" * (method == "PUT"))
        assert answer.status_code == 403
    assert page.look().json()["files"] == [None, None]


def test_what_changes_something_must_come_from_the_page(client, root):
    del client.headers["Origin"]
    try:
        for site, status in (("cross-site", 403), ("same-site", 403), (None, 403), ("same-origin", 201), ("none", 201)):
            headers = {} if site is None else {"Sec-Fetch-Site": site}
            assert client.post(f"{root}/sessions", headers=headers).status_code == status
        assert client.get(f"{root}/").status_code == 200
    finally:
        client.headers["Origin"] = str(client.base_url).rstrip("/")


def test_what_browsers_are_told(client, root, page):
    for answer in (client.get(f"{root}/"), page.look(), client.get("/"), page.report()):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"


def test_the_report_runs_its_own_script_only_and_has_no_origin(page, table):
    page.put("first", table(1))
    page.put("second", table(2))
    page.test()
    policy = page.report().headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert policy.endswith("sandbox allow-scripts") and "frame-ancestors 'self'" in policy
    assert "script-src 'unsafe-inline'" not in policy and "connect-src" not in policy


def test_other_addresses_and_methods(client, root):
    assert client.get(f"{root}/nothing").status_code == 404
    assert client.get(f"{root}/../secret").status_code == 404
    assert client.delete(f"{root}/").status_code == 405
