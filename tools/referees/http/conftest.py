"""Fixtures: the program's HTTP server and client, and certificates of a private authority."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from probe import Certificate, Probe


@pytest.fixture(scope="session")
def probe(binary: Path) -> Probe:
    return Probe(binary)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A server called idp.test at 127.0.0.1."""
    return issue(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """The same server, vouched for by somebody else."""
    return issue(tmp_path_factory.mktemp("stranger"))


@pytest.fixture(scope="session")
def plain(probe: Probe) -> Iterator[str]:
    """The origin of the program's plain server."""
    with probe.serve() as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def secure(probe: Probe, certificate: Certificate) -> Iterator[int]:
    """The port of the program's TLS server."""
    with probe.serve(certificate) as port:
        yield port


def issue(folder: Path) -> Certificate:
    """Makes an authority and a certificate with the openssl command."""
    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    (folder / "names").write_text("subjectAltName=DNS:idp.test,IP:127.0.0.1\n")
    run(folder, "req", "-x509", *new_key, "-days", "30", "-subj", "/CN=referee", "-keyout", "ca.key", "-out", "ca.pem",
        "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
    run(folder, "req", *new_key, "-subj", "/CN=idp.test", "-keyout", "leaf.key", "-out", "leaf.csr")
    run(folder, "x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
        "-days", "30", "-extfile", "names", "-out", "leaf.pem")
    return Certificate(folder / "leaf.pem", folder / "leaf.key", folder / "ca.pem")


def run(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
