"""A confidential client's side: keys, the assertions they sign, and a backend that hands them out."""

from __future__ import annotations

import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwk, jws

from phone import Phone
from providers import Provider

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
CLIENT = "app_fapi"


class Client:
    """A key and what it says of its client, true or not."""

    def __init__(self, issuer: str, key: jwk.ECKey | jwk.RSAKey, kid: str = "k1", client_id: str = CLIENT) -> None:
        self.issuer, self.key, self.kid, self.client_id = issuer, key, kid, client_id
        self.alg = "ES256" if key.key_type == "EC" else "PS256"

    def jwks(self) -> dict[str, Any]:
        return {"keys": [self.key.as_dict(private=False) | {"kid": self.kid}]}

    def claims(self, **changes: Any) -> dict[str, Any]:
        """The claims of a good assertion with changes; a claim set to None is left out."""
        now = int(time.time())
        claims = {"iss": self.client_id, "sub": self.client_id, "aud": self.issuer, "iat": now, "exp": now + 60,
                  "jti": secrets.token_urlsafe(16)} | changes
        return {name: value for name, value in claims.items() if value is not None}

    def assertion(self, header: dict[str, Any] | None = None, key: Any = None, **changes: Any) -> str:
        protected = {"alg": self.alg, "kid": self.kid} | (header or {})
        return jws.serialize_compact(protected, json.dumps(self.claims(**changes)), key or self.key,
                                     algorithms=[protected["alg"]])

    def credentials(self, **changes: Any) -> dict[str, str]:
        return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": self.assertion(**changes)}


class Tenant:
    """The FAPI tenant of a provider, its application holding the keys of one client."""

    def __init__(self, provider: Provider, key: jwk.ECKey | jwk.RSAKey | None = None) -> None:
        self.provider, self.issuer = provider, f"{provider.origin}/fapi"
        self.resource = f"{provider.api}/fapi"
        self.client = Client(self.issuer, key or jwk.ECKey.generate_key("P-256"))
        self.register(self.client)

    def register(self, client: Client) -> None:
        self.provider.manage("PATCH", f"tenants/fapi/applications/{CLIENT}", {"jwks": client.jwks()})

    def config(self, *scopes: str) -> Any:
        return self.provider.config(*scopes, issuer=self.issuer, client_id=CLIENT, resource=self.resource)

    def phone(self) -> Phone:
        phone = Phone()
        reply = phone.enrol(self.issuer, self.provider.new_user(tenant="fapi")["ticket"])
        assert reply.status == 201, reply
        phone.client.credentials = self.client.credentials
        return phone


class Backend:
    """An HTTP backend that mints an assertion for whatever it is asked, in JSON or as text, or has none."""

    def __init__(self, client: Client, kind: str = "json") -> None:
        self.client, self.kind = client, kind
        self.asked: list[dict[str, Any]] = []
        # Questions, counted from 1, that have no answer.
        self.absent: set[int] = set()

    def __enter__(self) -> Backend:
        backend = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                backend.asked.append(question)
                if len(backend.asked) in backend.absent:
                    return self.answer(503, "text/plain", b"asleep")
                assertion = backend.client.assertion(
                    iss=question["client_id"], sub=question["client_id"], aud=question["audience"])
                if backend.kind == "json":
                    return self.answer(200, "application/json", json.dumps({"client_assertion": assertion}).encode())
                return self.answer(200, "text/plain", assertion.encode() + b"\n")

            def answer(self, status: int, media_type: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", media_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/assertions"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
