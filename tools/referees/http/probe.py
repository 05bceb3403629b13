"""Runs `understudy probe`: the HTTP server and client of the program, without the rest of it."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 60


def pattern(count: int) -> bytes:
    """The body of /large/N: bytes that repeat every 251."""
    return (bytes(range(251)) * (count // 251 + 1))[:count]


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@dataclass(frozen=True)
class Certificate:
    """PEM files of a server, and of the authority that vouches for it."""

    chain: Path
    key: Path
    authority: Path


@dataclass(frozen=True)
class Answer:
    """One response as the program's client saw it, or the error it met."""

    document: dict[str, Any]

    @property
    def status(self) -> int:
        assert "error" not in self.document, self.document
        return self.document["status"]

    @property
    def error(self) -> str:
        assert "error" in self.document, self.document
        return self.document["error"]

    @property
    def description(self) -> str:
        return self.document["description"]

    def values(self, name: str) -> list[str]:
        return [value for field, value in self.document["fields"] if field.lower() == name.lower()]

    def has_body(self, body: bytes) -> bool:
        return (self.document["body_length"], self.document["body_sha256"]) == (len(body), sha256(body))


@dataclass(frozen=True)
class Probe:
    """The program under test."""

    binary: Path

    def get(self, url: str, *options: str) -> Answer:
        answers = self.get_all(url, *options)
        assert len(answers) == 1
        return answers[0]

    def get_all(self, url: str, *options: str) -> list[Answer]:
        """Sends the request as often as `--repeat` says, over one client."""
        done = subprocess.run([str(self.binary), "probe", "get", *options, url], capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        assert done.returncode in (0, 1), done
        return [Answer(json.loads(line)) for line in done.stdout.splitlines()]

    @contextmanager
    def serve(self, certificate: Certificate | None = None) -> Iterator[int]:
        """The server on a free port, plain or with TLS."""
        options = ["--tls-cert", str(certificate.chain), "--tls-key", str(certificate.key)] if certificate else []
        command = [str(self.binary), "probe", "serve", "--port", "0", *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                yield json.loads(server.stdout.readline())["port"]
            finally:
                server.kill()
