"""A resource server of ours in Python that lets pydpop judge the proofs: it checks what a client cannot see."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests
from pydpop import DPoPError, MemoryJtiStore, verify_proof

from two_libraries import verify_with_jwks

NONCE = "nonce-of-the-resource-server"


@dataclass(frozen=True)
class Seen:
    """One request that came with credentials."""

    url: str
    method: str
    token: str
    proof: str


class Refused(Exception):
    """The error of the challenge that answers a request."""


@dataclass
class ResourceServer:
    """Serves while it is entered; `jwks_uri` is where the issuer keeps the keys of its access tokens."""

    jwks_uri: str
    wants_nonce: bool = False
    seen: list[Seen] = field(default_factory=list)
    # One store for the life of the server: a proof is good once.
    proofs: MemoryJtiStore = field(default_factory=MemoryJtiStore)

    def __enter__(self) -> ResourceServer:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def judge(self, request: Seen) -> dict[str, Any]:
        """The claims of the token, when token and proof are good and belong to each other."""
        token = verify_with_jwks(request.token, requests.get(self.jwks_uri, timeout=10).json())
        try:
            proof = verify_proof(proof=request.proof, htm=request.method, htu=request.url, access_token=request.token,
                                 jti_store=self.proofs)
        except DPoPError as error:
            raise Refused("invalid_dpop_proof", str(error)) from error
        if self.wants_nonce and proof["claims"].get("nonce") != NONCE:
            raise Refused("use_dpop_nonce", "no nonce, or another")
        # pydpop cannot know whose token it is: the key of the proof is compared here.
        if proof["jwk_thumbprint"] != token.claims["cnf"]["jkt"]:
            raise Refused("invalid_token", "the proof's key is not the token's")
        return token.claims


def _handler(server: ResourceServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._answer()

        def _answer(self) -> None:
            scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
            proofs = self.headers.get_all("DPoP") or []
            if scheme.lower() != "dpop" or not token or len(proofs) != 1:
                return self._send(401, {"error": "unauthorized"}, 'DPoP algs="ES256"')
            request = Seen(server.origin + self.path, self.command, token, proofs[0])
            server.seen.append(request)
            try:
                claims = server.judge(request)
            except Refused as refused:
                error, detail = refused.args
                self._send(401, {"error": error, "detail": detail}, f'DPoP error="{error}", algs="ES256"')
            else:
                self._send(200, {"sub": claims["sub"], "jkt": claims["cnf"]["jkt"]})

        def _send(self, status: int, document: dict[str, Any], challenge: str | None = None) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if server.wants_nonce:
                self.send_header("DPoP-Nonce", NONCE)
            if challenge:
                self.send_header("WWW-Authenticate", challenge)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keeps quiet."""

    return Handler
