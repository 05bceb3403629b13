"""How the Python phone talks: connections kept open, DPoP proofs, nonces per origin, and a transcript."""

from __future__ import annotations

import hashlib
import http.client
import json
import secrets
import ssl
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TextIO
from urllib.parse import urlencode, urlsplit

from joserfc import jws
from joserfc.jwk import ECKey

from two_libraries import b64u

TIMEOUT = 10.0


class Lost(Exception):
    """No answer arrived."""


def sha256_b64u(data: bytes | str) -> str:
    return b64u(hashlib.sha256(data.encode("ascii") if isinstance(data, str) else data).digest())


def sign(header: dict[str, Any], claims: dict[str, Any], key: ECKey) -> str:
    return jws.serialize_compact(header | {"alg": "ES256"}, json.dumps(claims, separators=(",", ":")), key)


def public(key: ECKey) -> dict[str, str]:
    members = key.as_dict(private=False)
    return {name: members[name] for name in ("kty", "crv", "x", "y")}


def dpop_proof(key: ECKey, claims: dict[str, Any], **header: Any) -> str:
    """A DPoP proof of `claims`, true or not; `header` changes what the header says."""
    return sign({"typ": "dpop+jwt", "jwk": public(key)} | header, claims, key)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def json(self) -> dict[str, Any]:
        """The JSON object in the body, or an empty one when there is none."""
        if "json" not in (self.header("Content-Type") or ""):
            return {}
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def error(self) -> str | None:
        return self.json().get("error")

    def asks_for_nonce(self) -> bool:
        challenge = self.header("WWW-Authenticate") or ""
        return (self.status == 400 and self.error == "use_dpop_nonce"
                or self.status == 401 and 'error="use_dpop_nonce"' in challenge)


class Connections:
    """One kept-open connection per origin; not for use by several threads."""

    def __init__(self, ca_file: str | None = None, trace: TextIO | None = None) -> None:
        self._open: dict[tuple[str, str], http.client.HTTPConnection] = {}
        self._tls = ssl.create_default_context(cafile=ca_file) if ca_file else None
        self._trace = trace
        # How many of the next answers to calls of a purpose are thrown away after they were sent.
        self.lose: Counter[str] = Counter()

    def send(self, purpose: str, method: str, url: str, headers: dict[str, str], body: bytes = b"") -> Reply:
        self._note("request", method=method, url=url, headers=list(headers.items()), body=body)
        parts = urlsplit(url)
        origin = (parts.scheme, parts.netloc)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        try:
            connection = self._connection(origin)
            connection.request(method, target, body=body or None, headers=headers)
            response = connection.getresponse()
            reply = Reply(response.status, response.getheaders(), response.read())
        except (OSError, http.client.HTTPException) as error:
            self._drop(origin)
            raise Lost(f"{purpose}: {type(error).__name__}") from error
        if self.lose[purpose] > 0:
            self.lose[purpose] -= 1
            self._drop(origin)
            raise Lost(f"{purpose}: thrown away")
        self._note("response", status=reply.status, headers=reply.headers, body=reply.body)
        return reply

    def close(self) -> None:
        for origin in list(self._open):
            self._drop(origin)

    def _connection(self, origin: tuple[str, str]) -> http.client.HTTPConnection:
        if origin not in self._open:
            scheme, host = origin
            self._open[origin] = (http.client.HTTPSConnection(host, timeout=TIMEOUT, context=self._tls)
                                  if scheme == "https" else http.client.HTTPConnection(host, timeout=TIMEOUT))
        return self._open[origin]

    def _drop(self, origin: tuple[str, str]) -> None:
        connection = self._open.pop(origin, None)
        if connection is not None:
            connection.close()

    def _note(self, kind: str, body: bytes, **what: Any) -> None:
        if self._trace is not None:
            self._trace.write(json.dumps({"kind": kind, **what, "body_b64u": b64u(body)}) + "\n")
            self._trace.flush()


class ProvingClient:
    """Sends requests with a DPoP proof of one key, minted at the moment of sending."""

    def __init__(self, key: ECKey, connections: Connections) -> None:
        self.key, self.connections = key, connections
        self.jkt = key.thumbprint()
        self.nonces: dict[str, str] = {}
        self.last_proof = ""
        # What a confidential client adds to each form; asked anew for every attempt.
        self.credentials: Callable[[], dict[str, str]] = dict

    def proof(self, method: str, url: str, access_token: str | None = None) -> str:
        parts = urlsplit(url)
        claims: dict[str, Any] = {"jti": secrets.token_urlsafe(16), "htm": method, "iat": int(time.time()),
                                  "htu": f"{parts.scheme}://{parts.netloc}{parts.path}"}
        nonce = self.nonces.get(f"{parts.scheme}://{parts.netloc}")
        if nonce:
            claims["nonce"] = nonce
        if access_token:
            claims["ath"] = sha256_b64u(access_token)
        return dpop_proof(self.key, claims)

    def send(self, purpose: str, method: str, url: str, headers: dict[str, str] | None = None, body: bytes = b"",
             access_token: str | None = None) -> Reply:
        """Sends once, and once more with a new proof when the server asks for a nonce."""
        return self._with_nonce(lambda: self.send_once(purpose, method, url, headers, body, access_token))

    def _with_nonce(self, attempt: Callable[[], Reply]) -> Reply:
        reply = attempt()
        return attempt() if reply.asks_for_nonce() and reply.header("DPoP-Nonce") else reply

    def send_once(self, purpose: str, method: str, url: str, headers: dict[str, str] | None = None,
                  body: bytes = b"", access_token: str | None = None) -> Reply:
        self.last_proof = self.proof(method, url, access_token)
        reply = self.connections.send(purpose, method, url, (headers or {}) | {"DPoP": self.last_proof}, body)
        nonce = reply.header("DPoP-Nonce")
        if nonce:
            parts = urlsplit(url)
            self.nonces[f"{parts.scheme}://{parts.netloc}"] = nonce
        return reply

    def post_form(self, purpose: str, url: str, form: dict[str, str]) -> Reply:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._with_nonce(lambda: self.send_once(
            purpose, "POST", url, headers, urlencode(form | self.credentials()).encode()))
