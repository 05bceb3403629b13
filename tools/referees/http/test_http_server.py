"""Other people's clients against the program's HTTP server."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import h11
import pytest

from probe import Certificate, Probe, pattern

LARGE = 20_000_000


def curl(*arguments: str, body: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["curl", "-sS", "--noproxy", "*", "--max-time", "30", *arguments], input=body,
                          capture_output=True, check=False)


def port_of(origin: str) -> int:
    return int(origin.rsplit(":", 1)[1])


class TestCurl:
    def test_fields_arrive_in_order_and_case(self, plain: str) -> None:
        done = curl("-H", "dPoP: 1", "-H", "DPOP: 2", f"{plain}/facts?a=b%20c")
        facts = json.loads(done.stdout)
        assert facts["target"] == "/facts?a=b%20c"
        assert [field for field in facts["fields"] if field[0].lower() == "dpop"] == [["dPoP", "1"], ["DPOP", "2"]]

    def test_two_requests_share_a_connection(self, plain: str) -> None:
        done = curl("-v", f"{plain}/head", f"{plain}/head")
        assert done.stdout == b"hellohello"
        assert b"Re-using existing connection" in done.stderr

    def test_head_has_a_length_and_no_body(self, plain: str) -> None:
        done = curl("-I", f"{plain}/head")
        assert b"Content-Length: 5" in done.stdout
        assert done.stdout.endswith(b"\r\n\r\n")

    def test_a_large_upload_waits_for_continue_and_comes_back(self, plain: str) -> None:
        body = pattern(LARGE)
        done = curl("-v", "-H", "Expect: 100-continue", "--data-binary", "@-", f"{plain}/echo", body=body)
        assert done.stdout == body
        assert b"100 Continue" in done.stderr

    def test_chunks_go_both_ways(self, plain: str) -> None:
        body = pattern(1_000_001)
        done = curl("-H", "Transfer-Encoding: chunked", "--data-binary", "@-", f"{plain}/chunked", body=body)
        assert done.stdout == body

    def test_a_large_download_is_whole(self, plain: str) -> None:
        assert curl(f"{plain}/large/{LARGE}").stdout == pattern(LARGE)

    def test_a_stream_of_events_ends(self, plain: str) -> None:
        assert curl("-N", f"{plain}/events").stdout == b"data: 1\n\ndata: 2\n\ndata: 3\n\n"

    def test_http_1_0_is_spoken(self, plain: str) -> None:
        done = curl("-v", "--http1.0", "--data-binary", "@-", f"{plain}/chunked", body=b"x" * 5000)
        assert done.stdout == b"x" * 5000
        assert b"ransfer-Encoding" not in done.stderr

    def test_an_oversized_head_is_refused(self, plain: str) -> None:
        done = curl("-o", "/dev/null", "-w", "%{http_code}", "-H", "X: " + "x" * 20_000, f"{plain}/facts")
        assert done.stdout == b"431"

    def test_tls_is_trusted_by_name_and_by_address(self, secure: int, certificate: Certificate) -> None:
        trust = ("--cacert", str(certificate.authority), "--resolve", f"idp.test:{secure}:127.0.0.1")
        for host in ("idp.test", "127.0.0.1"):
            done = curl("-v", *trust, f"https://{host}:{secure}/facts")
            assert json.loads(done.stdout)["secure"] is True
            assert b"server accepted http/1.1" in done.stderr

    def test_large_bodies_pass_through_tls(self, secure: int, certificate: Certificate) -> None:
        trust = ("--cacert", str(certificate.authority))
        body = pattern(LARGE)
        done = curl(*trust, "--data-binary", "@-", f"https://127.0.0.1:{secure}/echo", body=body)
        assert done.stdout == body

    def test_tls_1_1_is_refused(self, secure: int, certificate: Certificate) -> None:
        done = curl("--cacert", str(certificate.authority), "--tls-max", "1.1", f"https://127.0.0.1:{secure}/head")
        assert done.returncode == 35


class TestHTTPClient:
    """The client of Python's standard library."""

    def test_one_connection_carries_every_kind_of_request(self, plain: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port_of(plain), timeout=30)
        for body in (b"", b"abc", pattern(100_000)):
            connection.request("POST", "/echo", body)
            response = connection.getresponse()
            assert (response.status, response.read()) == (200, body)
            connection.request("PUT", "/chunked", iter([body[:10], body[10:]]), encode_chunked=True,
                               headers={"Transfer-Encoding": "chunked"})
            assert connection.getresponse().read() == body
            connection.request("HEAD", "/head")
            response = connection.getresponse()
            assert (response.getheader("Content-Length"), response.read()) == ("5", b"")
        connection.close()

    def test_statuses_without_a_body_keep_the_connection(self, plain: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port_of(plain), timeout=30)
        for status in (204, 304, 404, 200):
            connection.request("GET", f"/status/{status}")
            response = connection.getresponse()
            assert (response.status, response.read()) == (status, b"")
        connection.close()

    def test_tls(self, secure: int, certificate: Certificate) -> None:
        context = ssl.create_default_context(cafile=str(certificate.authority))
        connection = http.client.HTTPSConnection("127.0.0.1", secure, context=context, timeout=30)
        connection.request("POST", "/chunked", pattern(500_000))
        assert connection.getresponse().read() == pattern(500_000)
        connection.close()


class TestH11:
    """h11 judges what is on the wire: any mistake in our framing is its RemoteProtocolError."""

    @pytest.mark.parametrize("target", ["/facts", "/echo", "/chunked", "/large/70000", "/events", "/status/204"])
    def test_every_answer_is_valid(self, plain: str, target: str) -> None:
        connection = h11.Connection(h11.CLIENT)
        with socket.create_connection(("127.0.0.1", port_of(plain)), timeout=30) as wire:
            for _ in range(3):
                request = h11.Request(method="POST", target=target, headers=[("Host", "a"), ("Content-Length", "3")])
                for event in (request, h11.Data(b"abc"), h11.EndOfMessage()):
                    wire.sendall(connection.send(event) or b"")
                assert self.read(connection, wire)[0].status_code in (200, 204)
                connection.start_next_cycle()

    def test_pipelined_requests_are_answered_in_order(self, plain: str) -> None:
        requests = b"".join(b"GET /large/%d HTTP/1.1\r\nHost: a\r\n\r\n" % size for size in range(200))
        buffered = b""
        with socket.create_connection(("127.0.0.1", port_of(plain)), timeout=30) as wire:
            wire.sendall(requests)
            for size in range(200):
                connection = h11.Connection(h11.CLIENT)
                connection.send(h11.Request(method="GET", target="/", headers=[("Host", "a")]))
                connection.send(h11.EndOfMessage())
                if buffered:
                    connection.receive_data(buffered)
                _, body = self.read(connection, wire)
                assert body == pattern(size)
                buffered = connection.trailing_data[0]

    @staticmethod
    def read(connection: h11.Connection, wire: socket.socket) -> tuple[Any, bytes]:
        response, body = None, b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(wire.recv(65536))
            elif isinstance(event, h11.Response):
                response = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                return response, body


def test_the_programs_client_and_server_agree(probe: Probe, plain: str, tmp_path: Path) -> None:
    file = tmp_path / "body"
    file.write_bytes(pattern(LARGE))
    assert probe.get(f"{plain}/echo", "--method", "POST", "--data-file", str(file)).has_body(pattern(LARGE))
