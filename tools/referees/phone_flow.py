"""One sign-in of the Python phone, call by call: each method makes one call and gives the bare reply."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from joserfc.jwk import ECKey

from phone_wire import Reply, sha256_b64u, sign
from two_libraries import JSONObject, b64u, unb64u

if TYPE_CHECKING:
    from phone import Phone


class Failed(Exception):
    """A sign-in that is over without a session."""

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(f"{reason}: {message}")
        self.reason, self.message = reason, message


class Parked(Exception):
    """A sign-in that waits for `Phone.retry`, holding the proof it has."""

    def __init__(self, flow: Flow, cause: str) -> None:
        super().__init__(cause)
        self.flow, self.cause = flow, cause


def member(reply: Reply, name: str, kind: type) -> Any:
    """A member of a JSON answer; an answer without it is the server's failure."""
    value = reply.json().get(name)
    if type(value) is not kind:
        raise Failed("server", f"an answer without {name}")
    return value


class Face:
    """A face as a secret, and the sealing of a face token under it."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def seal(self, content: bytes) -> bytes:
        salt, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
        return b"py1" + salt + nonce + AESGCM(self._key(salt)).encrypt(nonce, content, b"py1")

    def open(self, sealed: bytes) -> bytes | None:
        """The content, or nothing when this is another face."""
        salt, nonce, content = sealed[3:19], sealed[19:31], sealed[31:]
        try:
            return AESGCM(self._key(salt)).decrypt(nonce, content, b"py1")
        except InvalidTag:
            return None

    def _key(self, salt: bytes) -> bytes:
        return HKDF(SHA256(), 32, salt, b"python phone face token").derive(self._secret)


@dataclass(frozen=True)
class Config:
    issuer: str
    client_id: str
    scopes: tuple[str, ...] = ("openid",)
    resource: str | None = None
    login_hint: str | None = None


@dataclass(frozen=True)
class Enrolment:
    key: ECKey
    kid: str
    email: str
    subject: str


@dataclass
class Session:
    """The tokens of a finished sign-in, each verified by two libraries."""

    config: Config
    access_token: str
    refresh_token: str | None
    access_claims: JSONObject
    id_claims: JSONObject


@dataclass
class Flow:
    """One sign-in under way; its methods each make one call and give the bare reply."""

    phone: Phone
    config: Config
    metadata: JSONObject
    enrolment: Enrolment | None
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    throwaway: ECKey = field(default_factory=lambda: ECKey.generate_key("P-256"))
    auth_session: str = ""
    cer: str = ""
    chl: str = ""
    face_token: bytes = b""
    generation: int = 0
    attempts_left: int = 0
    mismatches: int = 0
    rotated: bytes = b""
    ceremony_proof: str = ""

    @property
    def challenge_url(self) -> str:
        return self.metadata["authorization_challenge_endpoint"]

    def start_form(self) -> dict[str, str]:
        form = {"response_type": "code", "client_id": self.config.client_id,
                "scope": " ".join(self.config.scopes) or "openid", "nonce": self.nonce,
                "code_challenge": sha256_b64u(self.verifier), "code_challenge_method": "S256"}
        if self.config.resource:
            form["resource"] = self.config.resource
        if self.config.login_hint:
            form["login_hint"] = self.config.login_hint
        return form

    def start(self) -> Reply:
        reply = self.phone.client.post_form("start", self.challenge_url, self.start_form())
        if reply.error == "insufficient_authorization":
            self.auth_session, ceremony = member(reply, "auth_session", str), member(reply, "ceremony", dict)
            self.cer, self.chl = str(ceremony.get("id")), str(ceremony.get("challenge"))
        return reply

    def ceremony_jws(self, act: str, **claims: Any) -> str:
        key = self.enrolment.key if self.enrolment else self.throwaway
        common = {"aud": self.config.issuer, "iat": int(time.time()), "jti": secrets.token_urlsafe(24), "act": act,
                  "cer": self.cer, "chl": self.chl, "ash": sha256_b64u(self.auth_session),
                  "jkt": self.phone.client.jkt}
        return sign({"typ": "device-ceremony+jwt", "kid": key.thumbprint()}, common | claims, key)

    def ceremony_call(self, path: str, jws: str) -> Reply:
        url = f"{self.metadata['device_ceremony_endpoint']}/{path}"
        return self.phone.post_json(path, url, {"request": jws})

    def fetch_face_token(self) -> Reply:
        reply = self.ceremony_call("face-token", self.ceremony_jws("face-token"))
        if reply.status == 200:
            self.face_token = unb64u(member(reply, "face_token", str))
            self.generation, self.attempts_left = member(reply, "generation", int), member(reply, "attempts_left", int)
        return reply

    def mismatch_jws(self) -> str:
        self.mismatches += 1
        return self.ceremony_jws("attempt", outcome="mismatch", n=self.mismatches)

    def abort(self, reason: str) -> Reply:
        return self.ceremony_call("abort", self.ceremony_jws("abort", reason=reason))

    def rotate(self, content: bytes) -> None:
        """Seals the face token anew and signs the proof that carries it; both are kept for every re-send."""
        self.rotated = self.phone.face.seal(content)
        self.ceremony_proof = self.ceremony_jws("complete", outcome="match", gen=self.generation,
                                                fth=sha256_b64u(self.rotated))

    def completion_form(self) -> dict[str, str]:
        return {"response_type": "code", "client_id": self.config.client_id, "auth_session": self.auth_session,
                "ceremony_proof": self.ceremony_proof, "face_token": b64u(self.rotated)}

    def complete(self) -> Reply:
        return self.phone.client.post_form("completion", self.challenge_url, self.completion_form())

    def token_form(self, code: str) -> dict[str, str]:
        return {"grant_type": "authorization_code", "code": code, "code_verifier": self.verifier,
                "client_id": self.config.client_id}

    def redeem(self, code: str) -> Reply:
        return self.phone.client.post_form("token", self.metadata["token_endpoint"], self.token_form(code))
