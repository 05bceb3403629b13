"""The forwarding proxy, asked by somebody else's client, and `fetch` as curl would print."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from enrolled import DEVICE, SIGNED_IN, Enrolled
from program import Understudy
from providers import direct_session
from test_swift_refresh import INVALID_TOKEN, RENEWABLE, proof_claims


@contextmanager
def proxy(program: Understudy, to: str, ready: Path) -> Iterator[str]:
    process = program.start("proxy", "--device", DEVICE, "--to", to, "--ready-file", str(ready))
    try:
        deadline = time.monotonic() + 20
        while not ready.exists():
            assert process.poll() is None and time.monotonic() < deadline, process.communicate()
            time.sleep(0.02)
        yield json.loads(ready.read_text(encoding="utf-8"))["proxy"]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert not ready.exists()


@pytest.fixture
def signed_in(device: Enrolled) -> Enrolled:
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    device.idp.manage("DELETE", "log")
    return device


@pytest.fixture(params=["alone", "daemon"])
def forwarded(request: pytest.FixtureRequest, signed_in: Enrolled, tmp_path: Path) -> Iterator[str]:
    """The URL of a proxy for the API's tenant, with the engine in its own process and through a daemon."""
    if request.param == "alone":
        with proxy(signed_in.program, signed_in.idp.resource, tmp_path / "proxy.json") as url:
            yield url
    else:
        with (signed_in.program.serve() as ready,
              proxy(signed_in.program.through(ready), signed_in.idp.resource, tmp_path / "proxy.json") as url):
            yield url


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_every_method_carries_the_session(signed_in: Enrolled, forwarded: str, method: str) -> None:
    answer = direct_session().request(method, f"{forwarded}/a%40b/c?x=1&y=%2F", data=b"\x00\xff" * 10, timeout=20,
                                      headers={"Authorization": "Bearer mine", "DPoP": "mine", "X-Kept": "yes"})
    assert answer.status_code == 200
    assert answer.json() == {"method": method, "path": "/acme/a%40b/c", "sub": signed_in.user["id"],
                             "scope": "openid offline_access", "body_length": 20}
    (entry,) = signed_in.idp.log("api")
    assert proof_claims(entry)["htu"] == f"{signed_in.idp.resource}/a%40b/c"
    assert signed_in.idp.verdict()["findings"] == []


def test_the_loop_is_that_of_fetch(signed_in: Enrolled, forwarded: str) -> None:
    signed_in.idp.fail("api", "status", **INVALID_TOKEN)
    assert direct_session().get(f"{forwarded}/accounts", timeout=20).status_code == 200
    assert signed_in.idp.calls() == ["api", "refresh", "api"]


def test_an_answer_comes_back_unchanged(signed_in: Enrolled, forwarded: str) -> None:
    signed_in.idp.fail("api", "status", status=418, body={"error": "teapot", "é": "ü"},
                       headers={"X-Answer": "one", "WWW-Authenticate": 'Basic realm="x"', "Retry-After": "7"})
    answer = direct_session().get(f"{forwarded}/accounts", timeout=20)
    assert (answer.status_code, answer.json()) == (418, {"error": "teapot", "é": "ü"})
    assert (answer.headers["X-Answer"], answer.headers["Retry-After"]) == ("one", "7")
    assert answer.headers["WWW-Authenticate"] == 'Basic realm="x"'


class Echo(BaseHTTPRequestHandler):
    """An API that gives back what it is sent, and to HEAD the length of something large."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200, "Fine")
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self) -> None:  # noqa: N802
        self.send_response(200)
        self.send_header("Content-Length", "123456")
        self.end_headers()

    def do_GET(self) -> None:  # noqa: N802
        self.send_response({"/empty": 204, "/same": 304, "/moved": 302}[self.path])
        self.send_header("ETag", '"x"')
        self.send_header("Location", "https://elsewhere.example/")
        if self.path == "/moved":
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def echo() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("through", ["alone", "daemon"])
def test_sixteen_mebibytes_go_through_both_ways(signed_in: Enrolled, echo: str, tmp_path: Path, through: str) -> None:
    body = os.urandom(1 << 10) * (16 << 10)
    with contextlib.ExitStack() as stack:
        program = signed_in.program
        if through == "daemon":
            program = program.through(stack.enter_context(program.serve()))
        url = stack.enter_context(proxy(program, echo, tmp_path / "proxy.json"))
        answer = direct_session().post(f"{url}/upload", data=body, timeout=60)
        assert (answer.status_code, answer.reason, answer.content == body) == (200, "Fine", True)
        assert answer.headers["Set-Cookie"] == "a=1, b=2"
        assert direct_session().post(f"{url}/upload", data=body + b"x", timeout=60).status_code == 413


def test_answers_without_a_body_keep_what_they_say(signed_in: Enrolled, echo: str, tmp_path: Path) -> None:
    with proxy(signed_in.program, echo, tmp_path / "proxy.json") as url:
        http = direct_session()
        assert http.head(f"{url}/large", timeout=20).headers["Content-Length"] == "123456"
        assert http.get(f"{url}/empty", timeout=20).status_code == 204
        assert http.get(f"{url}/same", timeout=20).headers["ETag"] == '"x"'
        moved = http.get(f"{url}/moved", timeout=20, allow_redirects=False)
        assert (moved.status_code, moved.headers["Location"]) == (302, "https://elsewhere.example/")


@pytest.mark.parametrize("headers", [
    {"Host": "evil.example"}, {"Host": "evil.example:80"}, {"Origin": "https://evil.example"}, {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
])
def test_a_page_of_another_site_gets_nothing(signed_in: Enrolled, forwarded: str, headers: dict[str, str]) -> None:
    answer = direct_session().get(f"{forwarded}/accounts", headers=headers, timeout=20)
    assert answer.status_code in (403, 421)
    assert answer.headers["Content-Type"].startswith("application/problem+json")
    assert signed_in.idp.log("api") == []


def test_a_page_on_this_machine_may(signed_in: Enrolled, forwarded: str) -> None:
    headers = {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"}
    assert direct_session().get(f"{forwarded}/accounts", headers=headers, timeout=20).status_code == 200


def test_hop_by_hop_fields_stay_behind(signed_in: Enrolled, forwarded: str) -> None:
    connection = HTTPConnection(forwarded.removeprefix("http://"), timeout=20)
    connection.request("GET", "/accounts", headers={"Connection": "X-Secret", "X-Secret": "1", "TE": "trailers",
                                                    "Proxy-Authorization": "Basic eA==", "X-Kept": "2"})
    assert connection.getresponse().status == 200
    request = [line for line in signed_in.idp.manage("GET", "transcript")
               if line["kind"] == "request" and line["url"].endswith("/accounts")][-1]
    names = [name.lower() for name, _ in request["headers"]]
    assert "x-kept" in names
    assert not {"x-secret", "te", "proxy-authorization", "connection"} & set(names)


def test_without_an_answer_it_says_why(signed_in: Enrolled, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with proxy(signed_in.program, nobody, tmp_path / "proxy.json") as url:
            answer = direct_session().get(f"{url}/accounts", timeout=20)
    assert answer.status_code == 502
    assert answer.json()["code"] == "unreachable"


def test_a_host_that_was_not_allowed_is_not_called(signed_in: Enrolled, tmp_path: Path) -> None:
    with proxy(signed_in.program, "https://api.bank.example", tmp_path / "proxy.json") as url:
        answer = direct_session().get(f"{url}/accounts", timeout=20)
    assert (answer.status_code, answer.json()["code"]) == (502, "host_not_allowed")


def test_curl_calls_the_api_through_it(signed_in: Enrolled, forwarded: str) -> None:
    done = subprocess.run(["curl", "-sS", "--noproxy", "*", "-i", f"{forwarded}/accounts"], capture_output=True,
                          text=True, timeout=20, check=True)
    head, _, body = done.stdout.replace("\r\n", "\n").partition("\n\n")
    assert head.startswith("HTTP/1.1 200 OK\n") and json.loads(body)["sub"] == signed_in.user["id"]


# fetch, printed like curl

def fetch(device: Enrolled, path: str, *more: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return device.program.raw("fetch", "--device", DEVICE, *more, f"{device.idp.resource}/{path}", stdin=stdin)


def test_fetch_prints_the_body_alone_and_the_rest_on_stderr(signed_in: Enrolled) -> None:
    ran = fetch(signed_in, "accounts")
    assert json.loads(ran.stdout)["sub"] == signed_in.user["id"] and b"200" in ran.stderr


def test_fetch_is_quiet_when_asked(signed_in: Enrolled) -> None:
    ran = fetch(signed_in, "accounts", "-s")
    assert ran.stderr == b"" and ran.returncode == 0


def test_fetch_prints_status_line_and_fields(signed_in: Enrolled) -> None:
    head, _, body = fetch(signed_in, "accounts", "-i").stdout.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"HTTP/1.1 200 OK" and b"Content-Type: application/json" in lines
    assert json.loads(body)["sub"] == signed_in.user["id"]


@pytest.mark.parametrize("more", [(), ("-i",)])
def test_fetch_writes_a_file_whole(signed_in: Enrolled, tmp_path: Path, more: tuple[str, ...]) -> None:
    path = tmp_path / "answer"
    path.write_text("old")
    ran = fetch(signed_in, "accounts", "-s", "-o", str(path), *more)
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert path.read_bytes().startswith(b"HTTP/1.1 200" if more else b"{")
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith("answer")] == ["answer"]


def test_fetch_sends_and_prints_any_bytes(signed_in: Enrolled, tmp_path: Path) -> None:
    path = tmp_path / "body"
    path.write_bytes(bytes(range(256)))
    assert fetch(signed_in, "upload", "--data-file", str(path), "-X", "PUT", "-H", "Content-Type: x/y").returncode == 0
    (entry,) = signed_in.idp.log("api")
    assert entry["method"] == "PUT" and entry["body"].encode("latin-1") == bytes(range(256))


def test_fetch_fails_as_the_page_says(signed_in: Enrolled, tmp_path: Path) -> None:
    signed_in.idp.fail("api", "status", status=403, body={"error": "no"})
    assert fetch(signed_in, "accounts").returncode == 1
    assert fetch(signed_in, "accounts", "-d", "x", "--data-file", "y").returncode == 2
    assert fetch(signed_in, "accounts", "--data-file", str(tmp_path / "missing")).returncode == 65
    assert fetch(signed_in, "accounts", "-o", str(tmp_path / "no" / "where")).returncode == 78
    signed_in.idp.fail("api", "drop", times=2)
    assert fetch(signed_in, "accounts").returncode == 69


def test_fetch_takes_no_more_than_sixteen_mebibytes(signed_in: Enrolled, tmp_path: Path) -> None:
    path = tmp_path / "body"
    path.write_bytes(b"x" * ((16 << 20) + 1))
    assert fetch(signed_in, "upload", "--data-file", str(path)).returncode == 65
    assert signed_in.idp.log("api") == []

