"""The program's HTTP client against other people's servers."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import h11
import pytest

from probe import Certificate, Probe, pattern
from scripted import Scripted, http_server, nginx, read_request, scripted

LARGE = 20_000_000


@pytest.fixture(scope="module")
def python_origin() -> Iterator[str]:
    with http_server() as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def ports(
    tmp_path_factory: pytest.TempPathFactory, certificate: Certificate, plain: str
) -> Iterator[tuple[int, int]]:
    """The plain and the TLS port of nginx."""
    with nginx(tmp_path_factory.mktemp("nginx"), certificate, plain) as ports:
        yield ports


class TestPythonServer:
    def test_requests_share_a_connection(self, probe: Probe, python_origin: str) -> None:
        answers = probe.get_all(f"{python_origin}/5", "--repeat", "5")
        assert all(answer.has_body(pattern(5)) for answer in answers)
        assert len({answer.values("X-Peer-Port")[0] for answer in answers}) == 1

    def test_head_and_large_bodies(self, probe: Probe, python_origin: str, tmp_path: Path) -> None:
        assert probe.get(f"{python_origin}/7", "--method", "HEAD").values("Content-Length") == ["7"]
        assert probe.get(f"{python_origin}/{LARGE}").has_body(pattern(LARGE))
        (tmp_path / "body").write_bytes(pattern(LARGE))
        posted = probe.get(f"{python_origin}/", "--method", "POST", "--data-file", str(tmp_path / "body"))
        assert posted.has_body(pattern(LARGE))

    def test_tls_with_a_private_authority(self, probe: Probe, certificate: Certificate) -> None:
        with http_server(certificate) as port:
            trust = ("--cacert", str(certificate.authority), "--resolve", f"idp.test:{port}:127.0.0.1:{port}")
            assert probe.get(f"https://127.0.0.1:{port}/100000", *trust).has_body(pattern(100_000))
            assert probe.get(f"https://idp.test:{port}/3", *trust).has_body(pattern(3))

    def test_wrong_names_and_strangers_are_refused(
        self, probe: Probe, certificate: Certificate, stranger: Certificate
    ) -> None:
        with http_server(certificate) as port:
            resolve = ("--resolve", f"other.test:{port}:127.0.0.1:{port}")
            wrong = probe.get(f"https://other.test:{port}/3", "--cacert", str(certificate.authority), *resolve)
            assert (wrong.error, "hostname mismatch" in wrong.description) == ("transport.tls", True)
            unknown = probe.get(f"https://127.0.0.1:{port}/3", "--cacert", str(stranger.authority))
            assert unknown.error == "transport.tls"
            assert "certificate verify failed" in unknown.description


def answering(*events: h11.Event, close: bool = False):
    """Answers each request with the same events of h11."""

    def play(server: Scripted, wire: socket.socket) -> None:
        connection = h11.Connection(h11.SERVER)
        while read_request(server, connection, wire) is not None:
            for event in events:
                wire.sendall(connection.send(event) or b"")
            if close:
                return
            connection.start_next_cycle()

    return play


class TestH11:
    """h11 judges our requests, and writes answers its own way."""

    def test_requests_are_valid_and_keep_order_and_case(self, probe: Probe) -> None:
        headers = ("--header", "dPoP: 1", "--header", "DPOP: 2")
        with scripted(answering(h11.Response(status_code=204, headers=[]), h11.EndOfMessage())) as server:
            answers = probe.get_all(f"{server.origin}/a?b", *headers, "--repeat", "3")
            assert [answer.status for answer in answers] == [204] * 3
            assert server.accepted == 1
            request = server.requests[0]
            assert request.target == b"/a?b"
            names = [name for name, _ in request.headers.raw_items()]
            assert names == [b"Host", b"dPoP", b"DPOP"]

    def test_chunks_and_trailers(self, probe: Probe) -> None:
        pieces = [h11.Data(pattern(size)) for size in (1, 10, 5000, 70_000)]
        response = h11.Response(status_code=200, headers=[("Transfer-Encoding", "chunked")])
        end = h11.EndOfMessage(headers=[("X-Sum", "9")])
        with scripted(answering(response, *pieces, end)) as server:
            for answer in probe.get_all(server.origin + "/", "--repeat", "2"):
                assert answer.has_body(b"".join(bytes(piece.data) for piece in pieces))
                assert answer.document["trailers"] == [["X-Sum", "9"]]
            assert server.accepted == 1

    def test_interim_answers_are_skipped(self, probe: Probe) -> None:
        hints = h11.InformationalResponse(status_code=103, headers=[("Link", "</a>")])
        final = h11.Response(status_code=200, headers=[("Content-Length", "2")])
        with scripted(answering(hints, hints, final, h11.Data(b"ok"), h11.EndOfMessage())) as server:
            assert probe.get(server.origin + "/").has_body(b"ok")

    def test_a_body_that_ends_with_the_connection(self, probe: Probe) -> None:
        final = h11.Response(status_code=200, headers=[("Connection", "close")])
        with scripted(answering(final, h11.Data(b"to the end"), h11.EndOfMessage(), close=True)) as server:
            assert probe.get(server.origin + "/").has_body(b"to the end")

    def test_a_post_is_not_sent_twice(self, probe: Probe) -> None:
        def play(server: Scripted, wire: socket.socket) -> None:
            connection = h11.Connection(h11.SERVER)
            read_request(server, connection, wire)
            wire.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            connection.send(h11.Response(status_code=204, headers=[]))
            connection.send(h11.EndOfMessage())
            connection.start_next_cycle()
            read_request(server, connection, wire)

        with scripted(play) as server:
            first, second = probe.get_all(server.origin + "/", "--method", "POST", "--repeat", "2")
            assert first.status == 204
            assert second.error == "transport.closed-early"
            assert (server.accepted, len(server.requests)) == (1, 2)

    @pytest.mark.parametrize(("answer", "code"), [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "http.framing.conflict"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "http.chunk.size"),
        (b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", "http.line.bare-lf"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "transport.closed-early"),
    ])
    def test_bad_answers_are_named(self, probe: Probe, answer: bytes, code: str) -> None:
        def play(_: Scripted, wire: socket.socket) -> None:
            wire.recv(65536)
            wire.sendall(answer)

        with scripted(play) as server:
            assert probe.get(server.origin + "/").error == code


@pytest.mark.skipif(not os.access("/usr/sbin/nginx", os.X_OK), reason="nginx is not installed")
class TestNginx:
    def test_requests_share_a_connection(self, probe: Probe, ports: tuple[int, int]) -> None:
        answers = probe.get_all(f"http://127.0.0.1:{ports[0]}/connection", "--repeat", "20")
        assert len({answer.document["body_sha256"] for answer in answers}) == 1

    def test_large_files_come_plain_and_over_tls(
        self, probe: Probe, ports: tuple[int, int], certificate: Certificate
    ) -> None:
        trust = ("--cacert", str(certificate.authority), "--repeat", "2")
        assert probe.get(f"http://127.0.0.1:{ports[0]}/large").has_body(pattern(LARGE))
        for answer in probe.get_all(f"https://127.0.0.1:{ports[1]}/large", *trust):
            assert answer.has_body(pattern(LARGE))
        head = probe.get(f"http://127.0.0.1:{ports[0]}/large", "--method", "HEAD")
        assert head.values("Content-Length") == [str(LARGE)]

    def test_a_wrong_host_is_refused(self, probe: Probe, ports: tuple[int, int], certificate: Certificate) -> None:
        resolve = ("--resolve", f"other.test:443:127.0.0.1:{ports[1]}")
        refused = probe.get("https://other.test/large", "--cacert", str(certificate.authority), *resolve)
        assert refused.error == "transport.tls"
        assert "hostname mismatch" in refused.description

    def test_nginx_stands_between_our_client_and_our_server(
        self, probe: Probe, ports: tuple[int, int], tmp_path: Path
    ) -> None:
        (tmp_path / "body").write_bytes(pattern(5_000_000))
        send = ("--method", "POST", "--data-file", str(tmp_path / "body"), "--repeat", "2")
        for target in ("echo", "chunked"):
            for answer in probe.get_all(f"http://127.0.0.1:{ports[0]}/up/{target}", *send):
                assert answer.has_body(pattern(5_000_000))

    def test_the_limits_of_nginx_are_answers(self, probe: Probe, ports: tuple[int, int]) -> None:
        answer = probe.get(f"http://127.0.0.1:{ports[0]}/connection", "--header", "X: " + "x" * 40_000)
        assert answer.status in (400, 414, 431)
