"""Runs authgent-server, an OAuth 2.1 authorization server nobody here wrote, on a loopback port."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

START_SECONDS = 60


@contextmanager
def authgent(directory: Path) -> Iterator[str]:
    """The server with DPoP demanded and every sign-in approved at once; gives its issuer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    issuer = f"http://127.0.0.1:{port}"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AUTHGENT_")},
        "AUTHGENT_SERVER_URL": issuer, "AUTHGENT_REQUIRE_DPOP": "true", "AUTHGENT_SECRET_KEY": secrets.token_hex(32),
        "AUTHGENT_DATABASE_URL": f"sqlite+aiosqlite:///{directory / 'authgent.db'}",
        "AUTHGENT_REGISTER_RATE_LIMIT": "10000", "AUTHGENT_TOKEN_RATE_LIMIT": "10000",
    }
    log = directory / "authgent.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "--factory", "authgent_server.app:create_app", "--host", "127.0.0.1",
             "--port", str(port)],
            cwd=directory, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            _wait_for(issuer, process, log)
            yield issuer
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(issuer: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            requests.get(f"{issuer}/.well-known/oauth-authorization-server", timeout=5).raise_for_status()
            return
        except requests.RequestException:
            time.sleep(0.1)
    raise AssertionError(f"authgent-server does not serve:\n{log.read_text(errors='replace')[-2000:]}")
