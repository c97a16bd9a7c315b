"""Who gets an answer: only this machine's browser, with the cookie of the link that works once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.served import Served, copy_demo, serving, wait_for_end

HEADERS = {
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
CONVERSATION = "/c/claude-code%3A7d3c52a8-41be-4f6a-9c07-2b8e5f1d6a90"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_demo(tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[Served]:
    with serving(home, "--port", "0") as it:
        yield it


def test_the_link_works_once(home: Path) -> None:
    with serving(home, "--port", "0", signed_in=False) as it:
        assert 401 == it.get("/", cookie=False).status
        response = it.sign_in()
        assert (303, "/") == (response.status, response.headers["location"])
        assert "HttpOnly" in response.headers["set-cookie"]
        assert "SameSite=Strict" in response.headers["set-cookie"]
        assert 200 == it.get("/").status
        assert 401 == it.get(it.start, cookie=False).status


def test_guessing_locks_nobody_out(served: Served) -> None:
    for number in range(200):
        assert 401 == served.get(f"/?token={number:043}", cookie=False).status
    assert 200 == served.get("/").status


@pytest.mark.parametrize("path", ["/", "/search?q=tide", CONVERSATION, "/static/app.css", "/none", "//e.org"])
def test_nothing_is_answered_without_the_cookie(served: Served, path: str) -> None:
    response = served.get(path, cookie=False)
    assert 401 == response.status
    assert b"tide" not in response.body
    assert 401 == served.get(path, {"Cookie": f"aj-{served.port}=guess"}, cookie=False).status
    assert 401 == served.get(path, {"Cookie": "aj-1=;;;=\x80"}, cookie=False).status


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "127.0.0.1.evil.example:{port}"),
        *(
            "",
            "127.0.0.1",
            "localhost",
            "127.0.0.1:1",
            "localhost:1",
            "127.0.0.1.:{port}",
            "localhost.:{port}",
        ),
        *("[::1]:{port}", "0.0.0.0:{port}", "127.1:{port}", "2130706433:{port}", "0x7f.1:{port}"),
        *("127.0.0.1:{port}@evil.example", "evil.example#127.0.0.1:{port}", "127.0.0.1:{port}, evil.example"),
        "user@127.0.0.1:{port}",
    ],
)
def test_a_foreign_host_is_refused(served: Served, host: str) -> None:
    response = served.get("/", {"Host": host.format(port=served.port)})
    assert 400 == response.status
    assert b"" == response.body


def test_two_hosts_are_refused(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 10) as connection:
        own = f"127.0.0.1:{served.port}"
        connection.sendall(
            f"GET / HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\nCookie: {served.cookie}\r\n\r\n".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


def test_a_host_in_capitals_is_the_same(served: Served) -> None:
    assert 200 == served.get("/", {"Host": f"LocalHost:{served.port}"}).status


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "MADE-UP"]
)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
        {"Content-Type": "application/x-www-form-urlencoded"},
    ],
)
def test_other_sites_change_nothing(served: Served, method: str, headers: dict[str, str]) -> None:
    sent = {name: value.format(port=served.port) for name, value in headers.items()}
    response = served.ask(method, "/", sent, b"x=1")
    assert 403 == response.status
    assert "access-control-allow-origin" not in response.headers


def test_nothing_can_be_changed_at_all(served: Served) -> None:
    origin = f"http://127.0.0.1:{served.port}"
    for method in ("POST", "PUT", "DELETE"):
        response = served.ask(method, "/", {"Origin": origin, "Sec-Fetch-Site": "same-origin"}, b"")
        assert 405 == response.status


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/search?q=tide",
        "/search?q=" + "x" * 100_000,
        CONVERSATION,
        "/c/none",
        "/raw/none",
        "/nowhere",
        "/static/app.css",
        "/static/none.css",
        "/media/claude-code%3A7d3c52a8-41be-4f6a-9c07-2b8e5f1d6a90?message=none",
    ],
)
def test_every_response_has_the_headers(served: Served, path: str) -> None:
    for response in (served.get(path), served.get(path, cookie=False), served.get(path, {"Host": "e.org"})):
        assert HEADERS.items() <= response.headers.items()
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "server" not in response.headers


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example",
        "/\\evil.example",
        "/%5cevil.example",
        "/?next=//evil.example",
        "//evil.example/%2e%2e",
    ],
)
def test_nothing_leads_elsewhere(served: Served, path: str) -> None:
    assert "location" not in served.get(path).headers


@pytest.mark.parametrize("view", ["c", "messages", "outline", "find", "edits", "raw", "media", "static"])
@pytest.mark.parametrize(
    "name",
    [
        *("../../../etc/passwd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%5c..%5cconfig", "/etc/passwd"),
        *(
            "%00",
            "a%00b",
            "%ff%fe",
            "%f0%9f",
            "'%20OR%201=1--",
            "x" * 500_000,
            "%",
            "claude-code:",
            ":",
            "...",
        ),
    ],
)
def test_ids_are_no_paths(served: Served, view: str, name: str) -> None:
    response = served.get(f"/{view}/{name}")
    assert response.status in {400, 404}
    assert b"root:" not in response.body
    assert b"Traceback" not in response.body


def test_a_long_query_is_a_page(served: Served) -> None:
    response = served.get("/search?q=" + "tide+" * 20_000)
    assert 414 == response.status
    assert "search for at most" in response.text
    assert 200 == served.get("/").status


def test_numbers_have_limits(served: Served) -> None:
    for number in ("-1", "1e9", "9" * 30, "\u0661", "x"):
        assert 400 == served.ask("GET", f"/search?q=tide&offset={number.encode().hex()}x").status
    assert 404 == served.get(f"{CONVERSATION}?start=999999").status
    assert 404 == served.get(f"{CONVERSATION}?branch=999999").status


def test_a_prefix_is_part_of_every_address(home: Path) -> None:
    with serving(home, "--port", "0", "--prefix", "/journal/") as it:
        page = it.get("/journal/").text
        assert 'href="/journal/c/claude-code%3A' in page
        assert 'href="/journal/static/app.css"' in page
        assert 200 == it.get("/journal/static/app.css").status
        assert 404 == it.get("/").status
        assert "Path=/journal/" in it.get(it.start, cookie=False).headers.get("set-cookie", "Path=/journal/")


def test_a_proxy_is_allowed_by_name(home: Path) -> None:
    with serving(home, "--port", "0", "--allowed-host", "Journal.example:8443") as it:
        assert 200 == it.get("/", {"Host": "journal.example:8443"}).status
        assert 400 == it.get("/", {"Host": "journal.example"}).status


def test_an_idle_server_ends(home: Path) -> None:
    with serving(home, "--port", "0", "--idle-exit", "1s") as it:
        assert 0 == wait_for_end(it, 60)


def test_many_open_connections_do_not_matter(served: Served) -> None:
    connections = [socket.create_connection(("127.0.0.1", served.port), 10) for _ in range(200)]
    try:
        for connection in connections:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert 200 == served.get("/").status
    finally:
        for connection in connections:
            connection.close()
