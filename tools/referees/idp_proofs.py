"""What the Python identity provider makes of the signed things it is sent: DPoP proofs and device JWSs."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from joserfc import jwk, jws

# RFC 9449 section 11.1, as wire page section 8 sets it.
PROOF_MAX_AGE = 60
PROOF_MAX_AHEAD = 10
NONCE_MAX_AHEAD = 60
NONCE_BUCKET = 120
LARGEST_TOKEN = 8192


class Malformed(Exception):
    """A signed thing that does not parse or does not verify; the text is for the log only."""


class BadProof(Exception):
    """A DPoP proof that is refused; `code` is the OAuth error."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str) -> bytes:
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise Malformed("not base64url")
    try:
        data = base64.urlsafe_b64decode(text + "==="[: (4 - len(text) % 4) % 4])
    except ValueError as error:
        raise Malformed("not base64url") from error
    if encode(data) != text:
        raise Malformed("base64url with spare bits")
    return data


def digest(data: bytes) -> str:
    return encode(hashlib.sha256(data).digest())


def json_object(data: bytes) -> dict[str, Any]:
    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(members)
        if len(value) < len(members):
            raise Malformed("a member twice")
        return value

    try:
        value = json.loads(data, object_pairs_hook=pairs)
    except ValueError as error:
        raise Malformed("not JSON") from error
    if not isinstance(value, dict):
        raise Malformed("not a JSON object")
    return value


@dataclass(frozen=True)
class SignedObject:
    """A compact JWS whose parts have been read and whose signature has not."""

    text: str
    header: dict[str, Any]
    claims: dict[str, Any]

    @staticmethod
    def read(text: object) -> SignedObject:
        if not isinstance(text, str) or len(text) > LARGEST_TOKEN or text.count(".") != 2:
            raise Malformed("not a compact JWS")
        header, claims, signature = map(decode, text.split("."))
        if len(signature) != 64:
            raise Malformed("an ES256 signature has 64 bytes")
        signed = SignedObject(text, json_object(header), json_object(claims))
        if signed.header.get("alg") != "ES256" or "crit" in signed.header:
            raise Malformed("alg is not ES256, or crit is present")
        return signed

    def signed_by(self, key: jwk.ECKey) -> bool:
        try:
            jws.deserialize_compact(self.text, key, algorithms=["ES256"])
        except Exception:
            return False
        return True

    def claim(self, name: str, kind: type) -> Any:
        value = self.claims.get(name)
        if type(value) is not kind:
            raise Malformed(f"claim {name} is not {kind.__name__}")
        return value


def public_key(value: object) -> jwk.ECKey:
    """A P-256 public key from a JWK; coordinates of any other size than 32 bytes are refused."""
    if not isinstance(value, dict) or value.get("kty") != "EC" or value.get("crv") != "P-256" or "d" in value:
        raise Malformed("not a public P-256 key")
    if any(not isinstance(value.get(name), str) or len(decode(value[name])) != 32 for name in ("x", "y")):
        raise Malformed("a coordinate has not 32 bytes")
    try:
        key = jwk.ECKey.import_key({name: value[name] for name in ("kty", "crv", "x", "y")})
        key.get_op_key("verify")
    except Exception as error:
        raise Malformed("not a point on the curve") from error
    return key


def comparable_url(url: str) -> str:
    """A URL without query and fragment, after RFC 3986 6.2.2 and 6.2.3; paths keep case and last slash."""
    parts = urlsplit(url)
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise Malformed("not a plain http URL")
    scheme = parts.scheme.lower()
    try:
        port = parts.port or {"http": 80, "https": 443}[scheme]
    except ValueError as error:
        raise Malformed("bad port") from error
    path = re.sub(r"%[0-9A-Fa-f]{2}", _normal_triplet, parts.path or "/")
    return f"{scheme}://{parts.hostname.lower()}:{port}{_without_dots(path)}"


def _normal_triplet(match: re.Match[str]) -> str:
    character = unquote_to_bytes(match.group()).decode("latin-1")
    return character if re.fullmatch(r"[A-Za-z0-9._~-]", character) else match.group().upper()


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            kept = kept[:-1]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


class Nonces:
    """Nonces that need no memory: a time bucket and its HMAC, good for two buckets."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def issue(self, now: int) -> str:
        return self._of(now // NONCE_BUCKET)

    def is_fresh(self, nonce: object, now: int) -> bool:
        bucket = now // NONCE_BUCKET
        return nonce in (self._of(bucket), self._of(bucket - 1))

    def _of(self, bucket: int) -> str:
        stamp = bucket.to_bytes(8, "big")
        return encode(stamp + hmac.digest(self._secret, stamp, "sha256")[:16])


@dataclass(frozen=True)
class Proof:
    """A DPoP proof that verified and has not been seen before."""

    jkt: str
    claims: dict[str, Any]


class ProofChecker:
    """Checks DPoP proofs for one server: its nonces, and the proofs it has seen."""

    def __init__(self) -> None:
        self.nonces = Nonces()
        self._seen: dict[tuple[str, str], int] = {}

    def check(self, headers: list[str], method: str, url: str, now: int, *,
              nonce_needed: bool, access_token: str | None = None) -> Proof:
        proof = self._read(headers, method, url, access_token)
        self._check_freshness(proof, now, nonce_needed)
        return proof

    def _read(self, headers: list[str], method: str, url: str, access_token: str | None) -> Proof:
        if len(headers) != 1 or "," in headers[0]:
            raise BadProof("invalid_dpop_proof", f"{len(headers)} DPoP headers, 1 wanted")
        try:
            signed = SignedObject.read(headers[0].strip())
            key = public_key(signed.header.get("jwk"))
            if signed.header.get("typ") != "dpop+jwt" or not signed.signed_by(key):
                raise Malformed("typ or signature")
            jti, htm = signed.claim("jti", str), signed.claim("htm", str)
            signed.claim("iat", int)
            if not 1 <= len(jti) <= 256 or htm != method:
                raise Malformed(f"jti of {len(jti)} characters, htm {htm}")
            if comparable_url(signed.claim("htu", str)) != comparable_url(url):
                raise Malformed(f"htu {signed.claims['htu']}, the request went to {url}")
            if access_token is not None and signed.claim("ath", str) != digest(access_token.encode()):
                raise Malformed("ath is not the hash of the token")
        except Malformed as error:
            raise BadProof("invalid_dpop_proof", str(error)) from error
        return Proof(key.thumbprint(), signed.claims)

    def _check_freshness(self, proof: Proof, now: int, nonce_needed: bool) -> None:
        iat, nonce = proof.claims["iat"], proof.claims.get("nonce")
        if (nonce is not None or nonce_needed) and not self.nonces.is_fresh(nonce, now):
            raise BadProof("use_dpop_nonce", "nonce missing or stale")
        earliest, latest = (0, now + NONCE_MAX_AHEAD) if nonce else (now - PROOF_MAX_AGE, now + PROOF_MAX_AHEAD)
        if not earliest <= iat <= latest:
            raise BadProof("invalid_dpop_proof", f"iat {iat} at {now}")
        self._remember(proof, now)

    def _remember(self, proof: Proof, now: int) -> None:
        if len(self._seen) > 20_000:
            self._seen = {key: end for key, end in self._seen.items() if end > now}
        key = (proof.jkt, proof.claims["jti"])
        if self._seen.get(key, 0) > now:
            raise BadProof("invalid_dpop_proof", "this proof was used before")
        self._seen[key] = max(now, proof.claims["iat"]) + 2 * NONCE_BUCKET + PROOF_MAX_AGE
