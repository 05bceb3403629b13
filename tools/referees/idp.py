"""A small identity provider with in-app face sign-in, in Python: the other opinion on our wire page.

    python tools/referees/idp.py --port 0 --api-port 0

prints one JSON line with its addresses and serves until it is told to stop.
"""

from __future__ import annotations

import argparse
import email.utils
import json
import signal
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable
from urllib.parse import parse_qsl, urlsplit

import idp_attestation as attestation
import idp_rules as rules
from idp_client_attestation import COMBINED, METHODS, bound, same_key
from idp_clients import Authenticated, authenticate, use_up
from idp_faults import Answer, Faults
from idp_manage import manage
from idp_proofs import BadProof, Malformed, Proof, ProofChecker, encode, json_object
from idp_records import Application, Tenant
from idp_rules import Body, Place, Refusal

LARGEST_BODY = 1 << 20
CHALLENGING = ("attestation_required", "use_attestation_challenge", "attestation_failed", "use_fresh_attestation",
               "invalid_client_attestation")
CEREMONY_CALLS: dict[str, Callable[[Place, Body], tuple[int, Body]]] = {
    "face-token": rules.face_token, "attempt": rules.attempt, "abort": rules.abort,
    "signup": rules.signup,
}


class Request:
    """One request as it was received, and the place it is for."""

    def __init__(self, method: str, target: str, headers: Any, body: bytes, origin: str) -> None:
        self.method, self.headers, self.body = method, headers, body
        parts = urlsplit(target)
        self.path = [part for part in parts.path.split("/") if part]
        self.query = dict(parse_qsl(parts.query))
        self.url, self.full_url = origin + parts.path, origin + target

    def media_type(self) -> str:
        return (self.headers.get("Content-Type") or "").split(";")[0].strip().lower()

    def form(self) -> dict[str, str]:
        if self.media_type() != "application/x-www-form-urlencoded":
            raise Refusal(400, "invalid_request", "a form is wanted")
        try:
            pairs = parse_qsl(self.body.decode(), keep_blank_values=True, strict_parsing=True, max_num_fields=64)
        except ValueError as error:
            raise Refusal(400, "invalid_request", "not a form") from error
        form = dict(pairs)
        if len(form) < len(pairs):
            raise Refusal(400, "invalid_request", "a parameter is repeated")
        return form

    def json(self) -> Body:
        try:
            return json_object(self.body or b"{}")
        except Malformed as error:
            raise Refusal(400, "invalid_request", str(error)) from error

    def proofs(self) -> list[str]:
        return self.headers.get_all("DPoP") or []


class IdP:
    """All state of the provider, behind one lock."""

    def __init__(self) -> None:
        self.origin = self.api_origin = ""
        self.lock = threading.Lock()
        self.faults = Faults()
        self.log: list[dict[str, Any]] = []
        self.transcript: list[dict[str, Any]] = []
        self.clock_offset = 0
        self.tenants: dict[str, Tenant] = {}

    def open_at(self, origin: str, api_origin: str) -> None:
        self.origin, self.api_origin = origin, api_origin
        self.reset()

    def reset(self) -> None:
        self.tenants = {
            name: Tenant(name, Application(client_id, name, [f"{self.api_origin}/{name}"]), self_signup)
            for name, client_id, self_signup in (("acme", "app_demo", True), ("globex", "app_globex", False))}
        confidential = Application("app_fapi", "fapi", [f"{self.api_origin}/fapi"], refresh_token_rotation=False,
                                   token_endpoint_auth_method="private_key_jwt")
        self.tenants["fapi"] = Tenant("fapi", confidential, False, "fapi2")
        self.proofs, self.api_proofs = ProofChecker(), ProofChecker()
        self.faults, self.log, self.transcript, self.clock_offset = Faults(), [], [], 0

    def now(self) -> int:
        return int(time.time()) + self.clock_offset

    def place(self, tenant: str) -> Place:
        if tenant not in self.tenants:
            raise Refusal(404, "not_found")
        return Place(self.tenants[tenant], f"{self.origin}/{tenant}", f"{self.api_origin}/{tenant}", self.now())

    # Answering

    def answer(self, request: Request) -> Answer:
        """What the provider's own port answers."""
        with self.lock:
            if request.path[:1] == ["manage"]:
                return self._managed(request)
            tenant, call, act = self._route(request)
            return self._with_fault(request, call, self.tenants.get(tenant), act, self.proofs)

    def answer_api(self, request: Request) -> Answer:
        """What the resource API's port answers."""
        with self.lock:
            tenant = self.tenants.get(request.path[0]) if request.path else None
            return self._with_fault(request, "api", tenant, lambda: self._resource(request), self.api_proofs)

    def _managed(self, request: Request) -> Answer:
        try:
            status, body = manage(self, request.method, request.path[1:], request.query, request.json())
        except Refusal as refusal:
            status, body = refusal.status, refusal.body
        return Answer(status, body)

    def _with_fault(self, request: Request, call: str, tenant: Tenant | None, act: Callable[[], Answer],
                    proofs: ProofChecker) -> Answer:
        entry = {"call": call, "method": request.method, "url": request.url, "body": request.body.decode("latin-1"),
                 "dpop": request.proofs()}
        fault = self.faults.take(call)
        answer = fault.instead() if fault else None
        if answer is None:
            answer = self._guarded(act)
            answer = fault.after(answer, tenant) if fault else answer
        if request.proofs() and not answer.lost:
            answer.headers.append(("DPoP-Nonce", proofs.nonces.issue(self.now())))
        self._write_down(request, answer)
        error = answer.body.get("error") if isinstance(answer.body, dict) else None
        self.log.append(entry | {"status": answer.status, "error": error, "lost": answer.lost,
                                 "fault": fault.do if fault else None, "answer": answer.body})
        return answer

    def _write_down(self, request: Request, answer: Answer) -> None:
        """Adds an exchange to the transcript that verify_run.py reads; a lost answer is not in it."""
        self.transcript.append({"kind": "request", "method": request.method, "url": request.full_url,
                                "headers": request.headers.items(), "body_b64u": encode(request.body)})
        if not answer.lost:
            headers = [*answer.headers, ("Date", email.utils.formatdate(self.now(), usegmt=True))]
            self.transcript.append({"kind": "response", "status": answer.status, "headers": headers,
                                    "body_b64u": encode(answer.content())})

    def _guarded(self, act: Callable[[], Answer]) -> Answer:
        try:
            return act()
        except Refusal as refusal:
            return Answer(refusal.status, refusal.body, [("Cache-Control", "no-store")])
        except BadProof as bad:
            return Answer(400, {"error": bad.code, "error_description": str(bad)}, [("Cache-Control", "no-store")])

    # Routing

    def _route(self, request: Request) -> tuple[str, str, Callable[[], Answer]]:
        match (request.method, request.path):
            case ("GET", [tenant, ".well-known", "openid-configuration"]):
                return tenant, "metadata", lambda: Answer(200, self._metadata(tenant))
            case ("GET", [".well-known", "oauth-authorization-server", tenant]):
                return tenant, "metadata", lambda: Answer(200, self._metadata(tenant))
            case ("GET", [tenant, "jwks.json"]):
                return tenant, "jwks", lambda: Answer(200, self.place(tenant).tenant.jwks())
            case ("POST", [tenant, "oauth2", "challenge"]):
                call = "completion" if b"auth_session=" in request.body else "start"
                return tenant, call, lambda: self._attesting(tenant, lambda: self._challenge(tenant, request))
            case ("POST", [tenant, "oauth2", "attestation-challenge"]):
                return tenant, "attestation-challenge", lambda: self._attestation_challenge(tenant)
            case ("POST", [tenant, "oauth2", "token"]):
                call = "refresh" if b"grant_type=refresh_token" in request.body else "token"
                return tenant, call, lambda: self._attesting(tenant, lambda: self._token(tenant, request))
            case ("POST", [tenant, "oauth2", "revoke"]):
                return tenant, "revoke", lambda: self._attesting(tenant, lambda: self._revoke(tenant, request))
            case ("POST", [tenant, "device-ceremony", "enroll"]):
                return tenant, "enroll", lambda: self._attesting(tenant, lambda: self._enroll(tenant, request))
            case ("POST", [tenant, "device-ceremony", call]) if call in CEREMONY_CALLS:
                return tenant, call, lambda: _private(CEREMONY_CALLS[call](self.place(tenant), request.json()))
        return "", "unknown", lambda: Answer(404, {"error": "not_found"})

    def _metadata(self, tenant: str) -> Body:
        place = self.place(tenant)
        issuer, fapi = place.issuer, place.tenant.profile == "fapi2"
        methods = ["private_key_jwt"] if fapi else ["none", "private_key_jwt"]
        attested = {client.token_endpoint_auth_method for client in place.tenant.applications.values()} & set(METHODS)
        methods += sorted(attested)
        return {
            "issuer": issuer,
            "authorization_challenge_endpoint": f"{issuer}/oauth2/challenge",
            "token_endpoint": f"{issuer}/oauth2/token",
            "revocation_endpoint": f"{issuer}/oauth2/revoke",
            "jwks_uri": f"{issuer}/jwks.json",
            "device_ceremony_endpoint": f"{issuer}/device-ceremony",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": methods,
            "token_endpoint_auth_signing_alg_values_supported": ["ES256", "PS256"],
            "revocation_endpoint_auth_methods_supported": methods,
            "revocation_endpoint_auth_signing_alg_values_supported": ["ES256", "PS256"],
            "dpop_signing_alg_values_supported": ["ES256"],
            "id_token_signing_alg_values_supported": ["ES256", "RS256"],
            "subject_types_supported": ["public"],
            "scopes_supported": ["openid", "email", "profile", "offline_access"],
        } | ({} if attestation.of(place.tenant).mode == "off" and not attested else
             {"challenge_endpoint": f"{issuer}/oauth2/attestation-challenge"}) | ({} if not attested else {
                 "client_attestation_signing_alg_values_supported": ["ES256"],
                 "client_attestation_pop_signing_alg_values_supported": ["ES256"]})

    def _attestation_challenge(self, tenant: str) -> Answer:
        return _private((200, {"attestation_challenge": attestation.new_challenge(self.place(tenant))}))

    def _enroll(self, tenant: str, request: Request) -> Answer:
        place = self.place(tenant)
        look = lambda kid: attestation.look_at_enrolment(place, request.json(), kid)  # noqa: E731
        return _private(rules.enroll(place, request.json(), look))

    def _attesting(self, tenant: str, act: Callable[[], Answer]) -> Answer:
        """A refusal of evidence brings a fresh challenge along."""
        try:
            return act()
        except Refusal as refusal:
            if refusal.body["error"] not in CHALLENGING:
                raise
            fields = [("Cache-Control", "no-store"),
                      ("OAuth-Client-Attestation-Challenge", attestation.new_challenge(self.place(tenant)))]
            return Answer(refusal.status, refusal.body, fields)

    def _challenge(self, tenant: str, request: Request) -> Answer:
        place, form = self.place(tenant), request.form()
        completion = "auth_session" in form
        client = authenticate(place, form, request.headers)
        proof = self._proof(request, place, completion or place.tenant.policy.nonce_on_start)
        self._same_instance(place, form, client, proof)
        if completion:
            return _private(rules.complete(place, form, proof))
        look = lambda: attestation.look_at_start(place, form, proof.jkt)  # noqa: E731
        status, body = rules.start(place, form, proof, look)
        if client.attested is not None:
            place.tenant.sessions[body["auth_session"]].instance = client.attested.instance
        return _private((status, body))

    def _token(self, tenant: str, request: Request) -> Answer:
        place, form = self.place(tenant), request.form()
        client = authenticate(place, form, request.headers)
        proof = self._proof(request, place, True)
        self._same_instance(place, form, client, proof)
        act = rules.refresh if form.get("grant_type") == "refresh_token" else rules.redeem
        return _private(act(place, form, proof))

    def _same_instance(self, place: Place, form: dict[str, str], client: Authenticated, proof: Proof) -> None:
        """Uses the client's proof up, behind the DPoP proof, and holds an attested instance to what is its own."""
        if client.attested is not None:
            same_key(client.attested, proof)
        use_up(place, client)
        if client.attested is not None:
            bound(place, form, client.attested)

    def _revoke(self, tenant: str, request: Request) -> Answer:
        place, form = self.place(tenant), request.form()
        client = authenticate(place, form, request.headers)
        if place.tenant.applications[client.client_id].token_endpoint_auth_method == COMBINED:
            self._same_instance(place, form, client, self._proof(request, place, True))
        else:
            use_up(place, client)
        return _private(rules.revoke(place, form))

    def _proof(self, request: Request, place: Place, nonce_needed: bool) -> Proof:
        return self.proofs.check(request.proofs(), request.method, request.url, place.now, nonce_needed=nonce_needed)

    # Resource API

    def _resource(self, request: Request) -> Answer:
        try:
            return self._resource_answer(request)
        except (Refusal, BadProof) as refusal:
            code = refusal.code if isinstance(refusal, BadProof) else refusal.body["error"]
            status = 401 if isinstance(refusal, BadProof) else refusal.status
            scheme = 'DPoP algs="ES256"' if code == "no_token" else f'DPoP error="{code}", algs="ES256"'
            return Answer(status, {"error": code}, [("WWW-Authenticate", scheme), ("Cache-Control", "no-store")])

    def _resource_answer(self, request: Request) -> Answer:
        place = self.place(request.path[0] if request.path else "")
        scheme, _, token = (request.headers.get("Authorization") or "").partition(" ")
        if not token:
            raise Refusal(401, "no_token")
        grant, claims = rules.bearer_of(place, token)
        if scheme.lower() != "dpop":
            raise Refusal(401, "invalid_token")
        proof = self.api_proofs.check(request.proofs(), request.method, request.url, place.now, access_token=token,
                                      nonce_needed=place.tenant.policy.nonce_at_resource)
        if proof.jkt != claims["cnf"]["jkt"]:
            raise Refusal(401, "invalid_token")
        if request.method == "GET" and request.path[1:] == ["accounts"]:
            return Answer(200, {"sub": grant.user.id, "accounts": [{"id": "1", "name": "Everyday"}]})
        return Answer(200, {"method": request.method, "path": urlsplit(request.url).path, "sub": grant.user.id,
                            "scope": claims["scope"], "body_length": len(request.body)})


def _private(answer: tuple[int, Body]) -> Answer:
    return Answer(answer[0], answer[1], [("Cache-Control", "no-store")])


def handler_for(answer: Callable[[Request], Answer], origin: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    """A request handler class that asks `answer`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16
        disable_nagle_algorithm = True
        timeout = 60

        def respond(self) -> None:
            size = self.headers.get("Content-Length", "0")
            if "Transfer-Encoding" in self.headers or not size.isdigit() or int(size) > LARGEST_BODY:
                self.close_connection = True
                return self.write(Answer(411, {"error": "invalid_request"}))
            body = self.rfile.read(int(size))
            self.write(answer(Request(self.command, self.path, self.headers, body, origin())))

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond  # noqa: N815

        def write(self, answer: Answer) -> None:
            if answer.lost:
                self.close_connection = True
                return
            data = answer.content()
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            if answer.status != 204:
                self.send_header("Content-Type", "text/html" if answer.html else "application/json")
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class RunningIdP:
    """The provider with its two ports open; use it as a context manager."""

    def __init__(self, port: int = 0, api_port: int = 0, cert: str | None = None, key: str | None = None) -> None:
        self.idp = IdP()
        self._servers = [
            Server(("127.0.0.1", port), handler_for(self.idp.answer, lambda: self.idp.origin)),
            Server(("127.0.0.1", api_port), handler_for(self.idp.answer_api, lambda: self.idp.api_origin))]
        if cert:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(cert, key)
            for server in self._servers:
                server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        scheme = "https" if cert else "http"
        self.idp.open_at(*(f"{scheme}://127.0.0.1:{server.server_port}" for server in self._servers))

    def addresses(self) -> Body:
        idp = self.idp
        return {"system": "sensecrypt", "origin": idp.origin, "api": idp.api_origin,
                "management": f"{idp.origin}/manage", "issuers": [f"{idp.origin}/{name}" for name in idp.tenants]}

    def __enter__(self) -> RunningIdP:
        for server in self._servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()


def main() -> None:
    parser = argparse.ArgumentParser(description="A reference identity provider in Python.")
    parser.add_argument("--port", type=int, default=0, help="port of the provider; 0 takes any free one")
    parser.add_argument("--api-port", type=int, default=0, help="port of the resource API; 0 takes any free one")
    parser.add_argument("--cert", help="PEM certificate chain; with it both ports speak TLS")
    parser.add_argument("--key", help="PEM private key of the certificate")
    options = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with RunningIdP(options.port, options.api_port, options.cert, options.key) as running:
        print(json.dumps(running.addresses()), flush=True)
        stop.wait()


if __name__ == "__main__":
    main()
