"""Judges the transcript of a real run with two JOSE libraries that had no part in it.

    understudy demo --trace run.jsonl && python tools/referees/verify_run.py run.jsonl

Every proof, device signature and token in it is verified and held against docs/sensecrypt-wire.md. Prints
one JSON document; exits 0 only when nothing is wrong and there was something of each kind to judge.
"""

from __future__ import annotations

import argparse
import base64
import email.utils
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import requests
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from transcript import Exchange, read_transcript
from two_libraries import (JSONObject, Refused, Token, b64u, joserfc_accepts, jwcrypto_accepts, take_apart,
                           thumbprint, unb64u, verify, verify_with_jwks)

MAX_SKEW = 60
SHORTEST_JTI = 16
CEREMONY_ACTS = {"face-token": "face-token", "attempt": "attempt", "abort": "abort"}
NEEDED = ("dpop_proofs", "enrolments", "ceremony_jws", "access_tokens", "id_tokens", "api_calls")


def hashed(data: bytes | str) -> str:
    return b64u(hashlib.sha256(data.encode("ascii") if isinstance(data, str) else data).digest())


def expect(rule: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise Refused(rule, f"{actual!r}, expected {expected!r}")


def need(rule: str, holds: bool, detail: str) -> None:
    if not holds:
        raise Refused(rule, detail)


@dataclass
class Session:
    """A sign-in as the transcript shows it: what the start said, and what came of it."""

    issuer: str
    jkt: str
    form: dict[str, str]
    ceremony: JSONObject
    generation: int | None = None
    face_token: str | None = None
    reports: dict[str, int] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)
    completion: tuple[str, str] | None = None


@dataclass
class Grant:
    """Tokens to be verified once the whole transcript is read, since the JWKS may come last."""

    line: int
    issuer: str
    jkt: str
    client_id: str
    audience: str | None
    nonce: str | None
    answer: JSONObject


class Verifier:
    """Reads exchanges one by one and keeps what later ones must agree with."""

    def __init__(self, jwks: JSONObject | None = None) -> None:
        self.checked: Counter[str] = Counter()
        self.findings: list[dict[str, Any]] = []
        self.keys: list[JSONObject] = []
        self._learn_keys(jwks or {})
        self.endpoints: dict[str, tuple[str, str]] = {}
        self.device_keys: dict[str, JSONObject] = {}
        self.sessions: dict[str, Session] = {}
        self.grants: list[Grant] = []
        # By phone, named by its DPoP key, and origin.
        self.newest_nonce: dict[tuple[str, str], str] = {}
        self.proof_ids: set[tuple[str, str]] = set()
        self.ceremony_ids: dict[str, str] = {}
        self.refresh_tokens: dict[str, Grant] = {}
        self.access_tokens: dict[str, str] = {}

    def judge(self, exchanges: Iterable[Exchange]) -> JSONObject:
        for exchange in exchanges:
            self._guarded(exchange.line, lambda: self._exchange(exchange))
        for grant in self.grants:
            self._guarded(grant.line, lambda: self._tokens(grant))
        for kind in NEEDED:
            if not self.checked[kind]:
                self.findings.append({"line": None, "rule": "run.nothing_to_judge", "detail": kind})
        return {"result": "refused" if self.findings else "agreed", "checked": dict(self.checked),
                "findings": self.findings}

    def _guarded(self, line: int, check: Any) -> None:
        try:
            check()
        except Refused as refused:
            self.findings.append({"line": line, "rule": refused.rule, "detail": str(refused)})
        except (KeyError, TypeError, ValueError) as error:
            self.findings.append({"line": line, "rule": "run.form", "detail": f"{type(error).__name__}: {error}"})

    def _exchange(self, exchange: Exchange) -> None:
        issuer, role = self.endpoints.get(exchange.address, ("", ""))
        authorization = exchange.request.value("Authorization")
        try:
            self._by_role(exchange, issuer, role, authorization)
        finally:
            self._remember_nonce(exchange)

    def _remember_nonce(self, exchange: Exchange) -> None:
        nonce = exchange.response.value("DPoP-Nonce") if exchange.response else None
        proof = exchange.request.value("DPoP")
        if nonce and proof:
            self.newest_nonce[thumbprint(take_apart(proof).header["jwk"]), exchange.origin] = nonce

    def _by_role(self, exchange: Exchange, issuer: str, role: str, authorization: str | None) -> None:
        if authorization is not None:
            return self._api_call(exchange, authorization)
        if "authorization_challenge_endpoint" in exchange.answer() and exchange.method == "GET":
            return self._metadata(exchange)
        match role:
            case "jwks_uri":
                self._learn_keys(exchange.answer())
            case "authorization_challenge_endpoint":
                self._challenge(exchange, issuer)
            case "token_endpoint":
                self._token_call(exchange, issuer)
            case "enroll":
                self._enrolment(exchange, issuer)
            case "face-token" | "attempt" | "abort":
                self._ceremony_call(exchange, issuer, role)
            case _:
                self.checked["other_exchanges"] += 1

    def _learn_keys(self, jwks: JSONObject) -> None:
        self.keys += [key for key in jwks.get("keys", []) if key not in self.keys]

    def _metadata(self, exchange: Exchange) -> None:
        document = exchange.answer()
        issuer = document["issuer"]
        need("metadata.place", exchange.address in (
            f"{issuer}/.well-known/openid-configuration",
            f"{exchange.origin}/.well-known/oauth-authorization-server{issuer[len(exchange.origin):]}"), exchange.url)
        for name in ("authorization_challenge_endpoint", "token_endpoint", "jwks_uri", "revocation_endpoint"):
            self.endpoints[document[name]] = (issuer, name)
        for path in (*CEREMONY_ACTS, "enroll", "signup"):
            self.endpoints[f"{document['device_ceremony_endpoint']}/{path}"] = (issuer, path)
        self.checked["metadata"] += 1

    # DPoP

    def _proof(self, exchange: Exchange, access_token: str | None = None) -> str:
        """Verifies the one DPoP proof of a request and gives the thumbprint of its key."""
        values = exchange.request.values("DPoP")
        expect("dpop.headers", len(values), 1)
        token = take_apart(values[0])
        verify(values[0], token.header["jwk"])
        self._spoilt_forms_are_refused(token, token.header["jwk"])
        jkt, claims = thumbprint(token.header["jwk"]), token.claims
        expect("dpop.typ", token.header["typ"], "dpop+jwt")
        expect("dpop.htm", claims["htm"], exchange.method)
        expect("dpop.htu", claims["htu"], exchange.address)
        expect("dpop.ath", claims.get("ath"), hashed(access_token) if access_token else None)
        expect("dpop.nonce", claims.get("nonce"), self.newest_nonce.get((jkt, exchange.origin)))
        self._time(exchange, "dpop.iat", claims["iat"])
        need("dpop.jti_size", len(claims["jti"]) >= SHORTEST_JTI, f"{len(claims['jti'])} characters")
        need("dpop.jti_repeated", (jkt, claims["jti"]) not in self.proof_ids, claims["jti"])
        self.proof_ids.add((jkt, claims["jti"]))
        self.checked["dpop_proofs"] += 1
        return jkt

    def _time(self, exchange: Exchange, rule: str, seconds: object) -> None:
        need(rule, type(seconds) is int, f"{seconds!r} is not a whole number of seconds")
        date = exchange.response.value("Date") if exchange.response else None
        if date:
            server = email.utils.parsedate_to_datetime(date).timestamp()
            need(rule, abs(seconds - server) <= MAX_SKEW, f"{seconds}, the server's clock said {date}")

    def _spoilt_forms_are_refused(self, token: Token, key: JSONObject) -> None:
        """The same signature in DER is refused by each library, and padded by our strict reading."""
        start = token.compact.rpartition(".")[0]
        r, s = (int.from_bytes(half, "big") for half in (token.signature[:32], token.signature[32:]))
        der = f"{start}.{b64u(encode_dss_signature(r, s))}"
        need("spoilt.der_accepted", not joserfc_accepts(der, key, "ES256"), "joserfc")
        need("spoilt.der_accepted", not jwcrypto_accepts(der, key, "ES256"), "jwcrypto")
        padded = f"{start}.{base64.urlsafe_b64encode(token.signature).decode()}"
        need("spoilt.padded_accepted", not joserfc_accepts(padded, key, "ES256"), "joserfc")
        try:
            verify(padded, key)
        except Refused:
            self.checked["spoilt_forms_refused"] += 2
            return
        raise Refused("spoilt.padded_accepted", "the strict reading")

    # Device signatures

    def _enrolment(self, exchange: Exchange, issuer: str) -> None:
        body = exchange.request.json()
        token = take_apart(body["enrollment"])
        key = token.header["jwk"]
        verify(body["enrollment"], key)
        self._spoilt_forms_are_refused(token, key)
        expect("enrolment.header", token.header.keys(), {"typ", "alg", "jwk"})
        expect("enrolment.typ", token.header["typ"], "device-enrollment+jwt")
        claims = token.claims
        expect("enrolment.aud", claims["aud"], issuer)
        expect("enrolment.act", claims["act"], "enroll")
        expect("enrolment.tkt", claims["tkt"], hashed(body.get("ticket", body.get("code"))))
        expect("enrolment.fth", claims["fth"], hashed(unb64u(body["face_token"])))
        need("enrolment.platform", claims["platform"] in ("ios", "android"), claims["platform"])
        self._time(exchange, "enrolment.iat", claims["iat"])
        self._once(token)
        if exchange.answered(201):
            kid = thumbprint(key)
            expect("enrolment.kid", exchange.answer()["kid"], kid)
            self.device_keys[kid] = key
        self.checked["enrolments"] += 1

    def _once(self, token: Token) -> None:
        """A jti names one JWS: it may be sent again whole, not used for another."""
        jti = token.claims["jti"]
        need("device.jti", re.fullmatch(r"[A-Za-z0-9_-]{22,}", jti) is not None, jti)
        expect("device.jti_repeated", self.ceremony_ids.setdefault(jti, token.compact), token.compact)

    def _ceremony(self, exchange: Exchange, issuer: str, compact: str, act: str) -> tuple[Session, Token]:
        token = take_apart(compact)
        claims, header = token.claims, token.header
        expect("ceremony.header", header.keys(), {"typ", "alg", "kid"})
        expect("ceremony.typ", header["typ"], "device-ceremony+jwt")
        session = next((known for known in self.sessions.values() if known.ceremony["id"] == claims["cer"]), None)
        need("ceremony.cer", session is not None, "no start answered this ceremony id")
        assert session is not None
        self._signed_by_device(exchange, token)
        auth_session = next(handle for handle, known in self.sessions.items() if known is session)
        expect("ceremony.aud", (claims["aud"], session.issuer), (issuer, issuer))
        expect("ceremony.act", claims["act"], act)
        expect("ceremony.chl", claims["chl"], session.ceremony["challenge"])
        expect("ceremony.ash", claims["ash"], hashed(auth_session))
        expect("ceremony.jkt", claims["jkt"], session.jkt)
        self._time(exchange, "ceremony.iat", claims["iat"])
        self._once(token)
        self.checked["ceremony_jws"] += 1
        return session, token

    def _signed_by_device(self, exchange: Exchange, token: Token) -> None:
        key = self.device_keys.get(token.header["kid"])
        if key is None:
            # A phone without a key for the hint signs with a throwaway one, which must get it nowhere.
            need("ceremony.unknown_key", exchange.response is None or exchange.answered(403), token.header["kid"])
            self.checked["throwaway_signatures"] += 1
            return
        verify(token.compact, key)
        self._spoilt_forms_are_refused(token, key)
        self.checked["device_signatures"] += 1

    def _ceremony_call(self, exchange: Exchange, issuer: str, path: str) -> None:
        expect("ceremony.dpop", exchange.request.values("DPoP"), [])
        session, token = self._ceremony(exchange, issuer, exchange.request.json()["request"], CEREMONY_ACTS[path])
        if path == "attempt":
            self._mismatch_report(session, token.claims)
        if path == "abort":
            need("abort.reason", bool(token.claims["reason"]), "empty")
        if path == "face-token" and exchange.answered(200):
            session.generation, session.face_token = exchange.answer()["generation"], exchange.answer()["face_token"]

    def _mismatch_report(self, session: Session, claims: JSONObject) -> None:
        expect("attempt.outcome", claims["outcome"], "mismatch")
        session.reports.setdefault(claims["jti"], len(session.reports) + 1)
        expect("attempt.n", claims["n"], session.reports[claims["jti"]])
        need("attempt.budget", claims["n"] <= 3, "a fourth mismatch")
        self.checked["mismatch_reports"] += 1

    # Challenge and token endpoints

    def _challenge(self, exchange: Exchange, issuer: str) -> None:
        jkt, form = self._proof(exchange), exchange.form()
        expect("challenge.response_type", form["response_type"], "code")
        if "auth_session" in form:
            return self._completion(exchange, issuer, jkt, form)
        expect("start.method", form["code_challenge_method"], "S256")
        expect("start.challenge_size", len(unb64u(form["code_challenge"])), 32)
        need("start.parameters", bool(form["client_id"] and form["scope"] and form["nonce"]), "an empty one")
        self.checked["starts"] += 1
        answer = exchange.answer()
        if answer.get("error") == "insufficient_authorization":
            expect("start.status", exchange.response and exchange.response.status, 403)
            self.sessions[answer["auth_session"]] = Session(issuer, jkt, form, answer["ceremony"])

    def _completion(self, exchange: Exchange, issuer: str, jkt: str, form: dict[str, str]) -> None:
        expect("completion.parameters", form.keys(),
               {"response_type", "client_id", "auth_session", "ceremony_proof", "face_token"})
        session, token = self._ceremony(exchange, issuer, form["ceremony_proof"], "complete")
        need("completion.session", self.sessions.get(form["auth_session"]) is session, "of another ceremony")
        expect("completion.jkt", jkt, session.jkt)
        expect("completion.client_id", form["client_id"], session.form["client_id"])
        expect("completion.outcome", token.claims["outcome"], "match")
        expect("completion.gen", token.claims["gen"], session.generation)
        expect("completion.fth", token.claims["fth"], hashed(unb64u(form["face_token"])))
        need("completion.rotation", form["face_token"] != session.face_token, "the fetched face token was sent back")
        sent = (form["ceremony_proof"], form["face_token"])
        session.completion = session.completion or sent
        need("completion.same_proof", session.completion == sent, "a re-send with another proof")
        self.checked["completions"] += 1
        if exchange.answered(200):
            session.codes.add(exchange.answer()["authorization_code"])

    def _token_call(self, exchange: Exchange, issuer: str) -> None:
        jkt, form = self._proof(exchange), exchange.form()
        if form["grant_type"] == "refresh_token":
            earlier = self.refresh_tokens.get(form["refresh_token"])
            need("refresh.token", earlier is not None, "not a refresh token of this run")
            assert earlier is not None
            grant = Grant(exchange.line, issuer, jkt, form["client_id"], earlier.audience, None, exchange.answer())
            expect("refresh.jkt", jkt, earlier.jkt)
            self.checked["refreshes"] += 1
        else:
            session = next((known for known in self.sessions.values() if form["code"] in known.codes), None)
            need("token.code", session is not None, "not a code of this run")
            assert session is not None
            expect("token.parameters", form.keys(), {"grant_type", "code", "code_verifier", "client_id"})
            expect("token.code_verifier", hashed(form["code_verifier"]), session.form["code_challenge"])
            need("token.verifier_size", 43 <= len(form["code_verifier"]) <= 128, str(len(form["code_verifier"])))
            expect("token.jkt", jkt, session.jkt)
            grant = Grant(exchange.line, issuer, jkt, form["client_id"], session.form.get("resource", issuer),
                          session.form["nonce"], exchange.answer())
            self.checked["redemptions"] += 1
        if exchange.answered(200):
            self.grants.append(grant)
            self.access_tokens[grant.answer["access_token"]] = jkt
            if "refresh_token" in grant.answer:
                self.refresh_tokens[grant.answer["refresh_token"]] = grant

    # Tokens and the API

    def _tokens(self, grant: Grant) -> None:
        need("token.type", grant.answer["token_type"].lower() == "dpop", grant.answer["token_type"])
        access = verify_with_jwks(grant.answer["access_token"], {"keys": self.keys})
        expect("access_token.typ", access.header["typ"], "at+jwt")
        for name, value in {"iss": grant.issuer, "aud": grant.audience, "client_id": grant.client_id,
                            "cnf": {"jkt": grant.jkt}, "scope": grant.answer.get("scope")}.items():
            expect(f"access_token.{name}", access.claims[name], value)
        need("access_token.times", access.claims["iat"] < access.claims["exp"], "exp is not after iat")
        expect("access_token.lifetime", access.claims["exp"] - access.claims["iat"], grant.answer["expires_in"])
        need("access_token.claims", {"sub", "jti", "auth_time"} <= access.claims.keys(), str(sorted(access.claims)))
        self.checked["access_tokens"] += 1
        identity = verify_with_jwks(grant.answer["id_token"], {"keys": self.keys})
        for name, value in {"iss": grant.issuer, "aud": grant.client_id, "nonce": grant.nonce,
                            "sub": access.claims["sub"]}.items():
            expect(f"id_token.{name}", identity.claims.get(name), value)
        self.checked["id_tokens"] += 1

    def _api_call(self, exchange: Exchange, authorization: str) -> None:
        scheme, _, token = authorization.partition(" ")
        expect("api.scheme", scheme, "DPoP")
        need("api.token", token in self.access_tokens, "not an access token of this run")
        expect("api.jkt", self._proof(exchange, token), self.access_tokens[token])
        self.checked["api_calls"] += 1


def load_jwks(source: str) -> JSONObject:
    """A JWKS from a file or an address."""
    if source.startswith(("http://", "https://")):
        return requests.get(source, timeout=10).json()
    with open(source, encoding="utf-8") as file:
        return json.load(file)


def main() -> int:
    parser = argparse.ArgumentParser(description="Judges the transcript of a run.")
    parser.add_argument("transcript", help="JSON lines, as `understudy demo --trace FILE` writes them")
    parser.add_argument("--jwks", help="file or address of the provider's keys, when the phone did not fetch them")
    options = parser.parse_args()
    verifier = Verifier(load_jwks(options.jwks) if options.jwks else None)
    with open(options.transcript, encoding="utf-8") as lines:
        try:
            verdict = verifier.judge(read_transcript(lines))
        except Refused as refused:
            verdict = {"result": "refused", "findings": [{"rule": refused.rule, "detail": str(refused)}]}
    print(json.dumps(verdict, indent=2))
    return 0 if verdict["result"] == "agreed" else 1


if __name__ == "__main__":
    sys.exit(main())
