"""A small phone in Python that enrols, signs in with a face, and calls an API: the other opinion on our wire page.

    python tools/referees/phone.py signin --management URL --issuer URL --client ID --scope offline_access
    python tools/referees/phone.py bench --management URL --issuer URL --client ID --signins 200 --workers 2

Both print one JSON document.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from joserfc.jwk import ECKey

from phone_flow import Config, Enrolment, Face, Failed, Flow, Parked, Session, member
from phone_wire import Connections, Lost, ProvingClient, Reply, public, sha256_b64u, sign
from two_libraries import JSONObject, Refused, Token, b64u, take_apart, verify_with_jwks

ENDPOINTS = ("authorization_challenge_endpoint", "token_endpoint", "jwks_uri", "device_ceremony_endpoint")


class Phone:
    """A phone: one DPoP key, a face, and a device key for each issuer it is enrolled with."""

    def __init__(self, connections: Connections | None = None, check_tokens: bool = True) -> None:
        self.connections = connections or Connections()
        self.client = ProvingClient(ECKey.generate_key("P-256"), self.connections)
        self.face, self.stranger = Face(), Face()
        self.enrolments: dict[str, Enrolment] = {}
        self.check_tokens = check_tokens
        self._metadata: dict[str, JSONObject] = {}
        self._jwks: dict[str, JSONObject] = {}

    # Talking

    def post_json(self, purpose: str, url: str, value: JSONObject) -> Reply:
        return self.connections.send(purpose, "POST", url, {"Content-Type": "application/json"},
                                     json.dumps(value).encode())

    def get_json(self, purpose: str, url: str) -> JSONObject:
        reply = self.connections.send(purpose, "GET", url, {})
        if reply.status != 200 or not reply.json():
            raise Failed("server", f"{purpose}: {reply.status} without a JSON object")
        return reply.json()

    def metadata(self, issuer: str) -> JSONObject:
        if issuer not in self._metadata:
            document = self.get_json("metadata", f"{issuer}/.well-known/openid-configuration")
            if document.get("issuer") != issuer or not all(name in document for name in ENDPOINTS):
                raise Failed("server", "metadata of another issuer, or without an endpoint")
            self._metadata[issuer] = document
        return self._metadata[issuer]

    def forget_metadata(self) -> None:
        self._metadata.clear()
        self._jwks.clear()

    def jwks(self, issuer: str) -> JSONObject:
        if issuer not in self._jwks:
            self._jwks[issuer] = self.get_json("jwks", self.metadata(issuer)["jwks_uri"])
        return self._jwks[issuer]

    # Registration

    def enrol(self, issuer: str, ticket: str, platform: str = "android") -> Reply:
        key, token = ECKey.generate_key("P-256"), self.face.seal(b"template 1")
        claims = {"aud": issuer, "iat": int(time.time()), "jti": secrets.token_urlsafe(24), "act": "enroll",
                  "tkt": sha256_b64u(ticket), "fth": sha256_b64u(token), "platform": platform}
        jws = sign({"typ": "device-enrollment+jwt", "jwk": public(key)}, claims, key)
        reply = self.post_json("enroll", f"{self.metadata(issuer)['device_ceremony_endpoint']}/enroll",
                               {"ticket": ticket, "enrollment": jws, "face_token": b64u(token)})
        if reply.status == 201:
            answer = reply.json()
            if answer["kid"] != key.thumbprint():
                raise Refused("enrol.kid", "the provider names this key otherwise")
            self.enrolments[issuer] = Enrolment(key, answer["kid"], answer["email"], answer["sub"])
        return reply

    # Signing in

    def flow(self, config: Config) -> Flow:
        enrolment = self.enrolments.get(config.issuer)
        if enrolment and config.login_hint and config.login_hint.lower() != enrolment.email.lower():
            enrolment = None
        return Flow(self, config, self.metadata(config.issuer), enrolment)

    def sign_in(self, config: Config, scans: tuple[str, ...] = ("match",)) -> Session:
        """A whole sign-in. Raises `Failed` when it is over, `Parked` when `retry` may finish it."""
        if not self.enrolments:
            raise Failed("notEnrolled", "this phone holds no key")
        flow = self.flow(config)
        self._start(flow)
        self._fetch(flow)
        self._scan(flow, list(scans))
        return self._finish(flow)

    def retry(self, parked: Parked) -> Session:
        """Goes on with a parked sign-in: the same ceremony proof, no new scan."""
        return self._finish(parked.flow)

    def _twice(self, call: Callable[[], Reply]) -> Reply:
        """Makes a call, and once more when its answer is lost."""
        try:
            return call()
        except Lost:
            pass
        try:
            return call()
        except Lost as lost:
            raise Failed("network", str(lost)) from lost

    def _start(self, flow: Flow) -> None:
        reply = self._twice(flow.start)
        if reply.error == "insufficient_authorization":
            return
        if reply.status == 429:
            raise Failed("rateLimited", reply.header("Retry-After") or "")
        refused = {"unauthorized_client", "invalid_client", "access_denied"}
        raise Failed("notAllowed" if reply.error in refused else "server", f"start: {reply.status} {reply.error}")

    def _fetch(self, flow: Flow) -> None:
        reply = self._twice(flow.fetch_face_token)
        if reply.status == 200 and member(reply, "password_protected", bool):
            flow.abort("password")
            raise Failed("server", "the face token is protected by a password")
        if reply.status != 200:
            reasons = {"access_denied": "notEnrolled", "invalid_session": "sessionExpired"}
            raise Failed(reasons.get(reply.error or "", "server"), f"face-token: {reply.status} {reply.error}")

    def _scan(self, flow: Flow, scans: list[str]) -> None:
        for scan in scans:
            content = (self.face if scan == "match" else self.stranger).open(flow.face_token)
            if content is not None:
                return flow.rotate(content)
            jws = flow.mismatch_jws()
            reply = self._twice(lambda: flow.ceremony_call("attempt", jws))
            if reply.status != 200:
                raise Failed("sessionExpired", f"attempt: {reply.status} {reply.error}")
            flow.attempts_left = member(reply, "attempts_left", int)
            if flow.attempts_left == 0:
                raise Failed("faceMismatch", "three faces did not match")
        flow.abort("cancelled")
        raise Failed("cancelled", "no more scans")

    def _finish(self, flow: Flow) -> Session:
        """Completion and token: a lost token answer sends the completion again, up to twice."""
        code = self._code(flow, resends=1)
        for resends_left in (2, 1, 0):
            try:
                reply = flow.redeem(code)
                cause = f"token: {reply.status}"
                if reply.status < 500 and reply.status != 429:
                    return self.accept_tokens(flow.config, reply, flow.nonce)
            except Lost as lost:
                cause = str(lost)
            if resends_left:
                code = self._code(flow, resends=0)
        raise Parked(flow, cause)

    def _code(self, flow: Flow, resends: int) -> str:
        try:
            reply = flow.complete()
        except Lost as lost:
            if resends == 0:
                raise Parked(flow, str(lost)) from lost
            return self._code(flow, resends - 1)
        if reply.status >= 500 or reply.status == 429:
            raise Parked(flow, f"completion: {reply.status}")
        if reply.status != 200:
            reasons = {"invalid_session": "sessionExpired", "access_denied": "notAllowed",
                       "unauthorized_client": "notAllowed", "face_token_stale": "faceTokenStale"}
            raise Failed(reasons.get(reply.error or "", "server"), f"completion: {reply.status} {reply.error}")
        return member(reply, "authorization_code", str)

    # Tokens

    def accept_tokens(self, config: Config, reply: Reply, nonce: str | None) -> Session:
        if reply.status != 200:
            raise Failed("server", f"token: {reply.status} {reply.error}")
        answer = reply.json()
        if member(reply, "token_type", str).lower() != "dpop":
            raise Failed("invalidIdToken", f"token_type {answer['token_type']}")
        try:
            access, identity = (self._read(config, member(reply, name, str)) for name in ("access_token", "id_token"))
        except Refused as refused:
            raise Failed("invalidIdToken", str(refused)) from refused
        self._check_access_token(config, access.header, access.claims)
        self._check_id_token(config, identity.header, identity.claims, nonce)
        return Session(config, answer["access_token"], answer.get("refresh_token"), access.claims, identity.claims)

    def _read(self, config: Config, compact: str) -> Token:
        if not self.check_tokens:
            return take_apart(compact)
        return verify_with_jwks(compact, self.jwks(config.issuer))

    def _check_access_token(self, config: Config, header: JSONObject, claims: JSONObject) -> None:
        wanted = {"iss": config.issuer, "aud": config.resource or config.issuer, "client_id": config.client_id,
                  "cnf": {"jkt": self.client.jkt}}
        wrong = [name for name, value in wanted.items() if claims.get(name) != value]
        missing = {"sub", "iat", "exp", "jti", "scope", "auth_time"} - claims.keys()
        if header.get("typ") != "at+jwt" or wrong or missing:
            raise Failed("invalidIdToken", f"access token: typ {header.get('typ')}, wrong {wrong}, missing {missing}")

    def _check_id_token(self, config: Config, header: JSONObject, claims: JSONObject, nonce: str | None) -> None:
        now, audience = time.time(), claims.get("aud")
        several = isinstance(audience, list) and len(audience) > 1
        rules = {
            "alg": header.get("alg") in ("ES256", "RS256"),
            "iss": claims.get("iss") == config.issuer,
            "aud": config.client_id in (audience if isinstance(audience, list) else [audience]),
            "azp": claims.get("azp", None if several else config.client_id) == config.client_id,
            "nonce": claims.get("nonce") == nonce,
            "exp": claims.get("exp", 0) > now,
            "iat": abs(claims.get("iat", 0) - now) < 600,
        }
        wrong = [name for name, holds in rules.items() if not holds]
        if wrong:
            raise Failed("invalidIdToken", ", ".join(wrong))

    def refresh(self, session: Session) -> Session:
        """New tokens for a session; its refresh token is spent when the answer brings another."""
        reply = self.refresh_reply(session)
        fresh = self.accept_tokens(session.config, reply, None)
        if fresh.id_claims["sub"] != session.id_claims["sub"]:
            raise Failed("invalidIdToken", "sub changed")
        fresh.refresh_token = fresh.refresh_token or session.refresh_token
        return fresh

    def refresh_reply(self, session: Session) -> Reply:
        return self.client.post_form("refresh", self.metadata(session.config.issuer)["token_endpoint"], {
            "grant_type": "refresh_token", "refresh_token": session.refresh_token or "",
            "client_id": session.config.client_id})

    def sign_out(self, session: Session) -> Reply:
        url = self.metadata(session.config.issuer)["revocation_endpoint"]
        return self.client.post_form("revoke", url, {"token": session.refresh_token or session.access_token,
                                                     "client_id": session.config.client_id})

    def call_api(self, session: Session, url: str, method: str = "GET", body: bytes = b"") -> Reply:
        token = session.access_token
        return self.client.send("api", method, url, {"Authorization": f"DPoP {token}"}, body, access_token=token)


def new_ticket(management: str, issuer: str, email: str) -> str:
    """Has the management API create a user and gives the ticket to enrol with."""
    tenant = urlsplit(issuer).path.strip("/")
    reply = Connections().send("manage", "POST", f"{management}/tenants/{tenant}/users",
                               {"Content-Type": "application/json"},
                               json.dumps({"email": email, "ticket": True}).encode())
    ticket = reply.json().get("ticket")
    if not isinstance(ticket, str):
        raise Failed("server", f"no ticket: {reply.status} {reply.body[:200]!r}")
    return ticket


def random_address() -> str:
    return f"{secrets.token_hex(6)}@example.test"


def run_once(options: argparse.Namespace) -> JSONObject:
    trace = open(options.trace, "w", encoding="utf-8") if options.trace else None
    phone = Phone(Connections(options.ca, trace))
    config = Config(options.issuer, options.client, tuple(options.scope or ["openid"]), options.resource)
    try:
        ticket = options.ticket or new_ticket(options.management, options.issuer, random_address())
        enrolled = phone.enrol(options.issuer, ticket)
        if enrolled.status != 201:
            raise Failed("server", f"enrolment: {enrolled.status} {enrolled.error}")
        session = phone.sign_in(config, tuple(options.scan.split(",")))
        result: JSONObject = {"result": "signed_in", "subject": session.id_claims["sub"],
                              "scope": session.access_claims["scope"]}
        if options.fetch:
            result["api_status"] = phone.call_api(session, options.fetch).status
        if session.refresh_token:
            result["refreshed"] = phone.refresh(session).id_claims["sub"] == session.id_claims["sub"]
        return result
    except Parked as parked:
        return {"result": "parked", "cause": parked.cause}
    except Failed as failed:
        return {"result": "failed", "reason": failed.reason, "message": failed.message}
    except (Refused, Lost) as error:
        return {"result": "failed", "reason": type(error).__name__.lower(), "message": str(error)}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A small phone in Python.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("signin", "enrol, sign in, call the API, refresh"), ("bench", "measure many sign-ins")):
        command = commands.add_parser(name, help=what)
        command.add_argument("--issuer", required=True)
        command.add_argument("--client", required=True)
        command.add_argument("--management", help="management API that creates the user")
        command.add_argument("--scope", action="append", help="may be repeated")
        command.add_argument("--resource")
    signin, bench = commands.choices["signin"], commands.choices["bench"]
    signin.add_argument("--ticket", help="enrolment ticket, in place of --management")
    signin.add_argument("--scan", default="match", help="comma-separated outcomes, such as mismatch,match")
    signin.add_argument("--fetch", metavar="URL", help="API address to GET once signed in")
    signin.add_argument("--ca", metavar="FILE", help="PEM file of the authorities to trust")
    signin.add_argument("--trace", metavar="FILE", help="write every exchange, tokens included, as JSON lines")
    bench.add_argument("--signins", type=int, default=200)
    bench.add_argument("--workers", type=int, default=2, help="processes, each with one phone")
    bench.add_argument("--check-tokens", action="store_true", help="verify each token with two libraries")
    bench.add_argument("--server-pid", type=int, help="process whose CPU time is measured as well")
    options = parser.parse_args()
    if not options.management and not getattr(options, "ticket", None):
        parser.error("--management or --ticket is needed")
    return options


def main() -> int:
    options = parse()
    if options.command == "bench":
        from phone_bench import bench
        result = bench(options)
    else:
        result = run_once(options)
    print(json.dumps(result))
    return 0 if result["result"] in ("signed_in", "measured") else 1


if __name__ == "__main__":
    sys.exit(main())
