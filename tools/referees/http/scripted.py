"""Small servers for the program's client to meet: scripts on sockets, Python's http.server, and nginx."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import h11

from probe import Certificate, pattern

@dataclass
class Scripted:
    """A listener that plays one script per connection."""

    port: int
    accepted: int = 0
    requests: list[h11.Request] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def scripted(play: Callable[[Scripted, socket.socket], None]) -> Iterator[Scripted]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = Scripted(listener.getsockname()[1])

    def serve(wire: socket.socket) -> None:
        with wire:
            wire.settimeout(30)
            try:
                play(server, wire)
            except OSError:
                pass  # The client left; its side of the story is what the test looks at.

    def accept() -> None:
        while True:
            try:
                wire, _ = listener.accept()
            except OSError:
                return
            server.accepted += 1
            threading.Thread(target=serve, args=(wire,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def read_request(server: Scripted, connection: h11.Connection, wire: socket.socket) -> bytes | None:
    """Reads one request as h11 understands it; None when the client has closed."""
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(wire.recv(65536))
        elif isinstance(event, h11.Request):
            server.requests.append(event)
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            return body
        else:
            return None


class EchoHandler(BaseHTTPRequestHandler):
    """Answers with the request's body, or a pattern of the size the path names."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self) -> None:
        self.answer(pattern(int(self.path.rsplit("/", 1)[1])))

    def do_HEAD(self) -> None:
        self.do_GET()

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Peer-Port", str(self.client_address[1]))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@contextmanager
def http_server(certificate: Certificate | None = None) -> Iterator[int]:
    """Python's own server on a free port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), EchoHandler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.chain, certificate.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextmanager
def nginx(folder: Path, certificate: Certificate, upstream: str) -> Iterator[tuple[int, int]]:
    """nginx with a configuration of its own: files, a proxy to `upstream`, TLS. Gives the plain and the TLS port."""
    plain, secure = free_port(), free_port()
    (folder / "files").mkdir()
    (folder / "files/large").write_bytes(pattern(20_000_000))
    # Its workers would be nobody otherwise, who may not look into a private folder.
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(f"""
{user} daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_max_body_size 64m;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{plain}; listen 127.0.0.1:{secure} ssl;
    ssl_certificate {certificate.chain}; ssl_certificate_key {certificate.key};
    root {folder}/files;
    location /connection {{ return 200 $connection; }}
    location /up/ {{ proxy_pass {upstream}/; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
""")
    command = ["/usr/sbin/nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server:
        try:
            wait_for(plain)
            yield plain, secure
        finally:
            server.terminate()


def wait_for(port: int) -> None:
    """Waits until somebody listens."""
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < deadline, f"nobody listens on port {port}"
            time.sleep(0.02)
