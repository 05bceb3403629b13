"""Asks two JOSE libraries by different authors the same question and insists on one answer.

joserfc and jwcrypto are both lenient in places (jwcrypto decodes padded segments, both take a P-256
coordinate of 31 bytes), so the form of what they are given is checked here first, by hand.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import Any, Callable

from joserfc import jwk as joserfc_jwk
from joserfc import jws as joserfc_jws
from jwcrypto import jwk as jwcrypto_jwk
from jwcrypto import jws as jwcrypto_jws

JSONObject = dict[str, Any]
PRIVATE_MEMBERS = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}
SEGMENT = re.compile(r"[A-Za-z0-9_-]+")


class Refused(Exception):
    """Something did not verify; `rule` is a stable dotted name, the text says what was wrong."""

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule = rule


@dataclass(frozen=True)
class Token:
    """A compact JWS taken apart, its signature not yet checked."""

    compact: str
    header: JSONObject
    claims: JSONObject
    signature: bytes


def b64u(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64u(text: str) -> bytes:
    """Strict base64url: no padding, no other alphabet, no spare bits."""
    if not SEGMENT.fullmatch(text) or len(text) % 4 == 1:
        raise Refused("base64url.form", "not unpadded base64url")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if b64u(data) != text:
        raise Refused("base64url.spare_bits", "the last character has bits that belong to no byte")
    return data


def parse_object(data: bytes) -> JSONObject:
    """A JSON object in which no name is given twice."""

    def once(pairs: list[tuple[str, Any]]) -> JSONObject:
        if len({name for name, _ in pairs}) != len(pairs):
            raise Refused("json.duplicate_name", "a member name is given twice")
        return dict(pairs)

    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=once)
    except ValueError as error:
        raise Refused("json.form", str(error)) from error
    if not isinstance(value, dict):
        raise Refused("json.not_an_object", type(value).__name__)
    return value


def take_apart(compact: str) -> Token:
    segments = compact.split(".")
    if len(segments) != 3:
        raise Refused("jws.segments", f"{len(segments)} segments, 3 wanted")
    header, payload, signature = (unb64u(segment) for segment in segments)
    return Token(compact, parse_object(header), parse_object(payload), signature)


def check_public_key(key: JSONObject) -> None:
    """A public P-256 or RSA key whose members have exactly the size they must have."""
    private = PRIVATE_MEMBERS & key.keys()
    if private:
        raise Refused("jwk.private_member", ", ".join(sorted(private)))
    if key.get("kty") == "EC" and key.get("crv") == "P-256":
        for name in ("x", "y"):
            size = len(unb64u(str(key.get(name, ""))))
            if size != 32:
                raise Refused("jwk.coordinate", f"{name} has {size} bytes, 32 wanted")
    elif key.get("kty") == "RSA":
        if len(unb64u(str(key.get("n", "")))) < 256:
            raise Refused("jwk.modulus", "shorter than 2048 bits")
    else:
        raise Refused("jwk.kind", f"kty {key.get('kty')}, crv {key.get('crv')}")


def thumbprint(key: JSONObject) -> str:
    """The RFC 7638 thumbprint, which both libraries must compute alike."""
    check_public_key(key)
    try:
        one = joserfc_jwk.import_key(key).thumbprint()
        two = jwcrypto_jwk.JWK(**key).thumbprint()
    except Exception as error:
        raise Refused("jwk.import", f"{type(error).__name__}: {error}") from error
    if one != two:
        raise Refused("jwk.thumbprint_disagreement", f"joserfc {one}, jwcrypto {two}")
    return one


def joserfc_accepts(compact: str, key: JSONObject, algorithm: str) -> bool:
    """Whether joserfc alone verifies the signature."""
    return _accepts(lambda: joserfc_jws.deserialize_compact(
        compact, joserfc_jwk.import_key(key), algorithms=[algorithm]))


def jwcrypto_accepts(compact: str, key: JSONObject, algorithm: str) -> bool:
    """Whether jwcrypto alone verifies the signature."""

    def check() -> None:
        token = jwcrypto_jws.JWS()
        token.allowed_algs = [algorithm]
        token.deserialize(compact, jwcrypto_jwk.JWK(**key))

    return _accepts(check)


def _accepts(check: Callable[[], object]) -> bool:
    try:
        check()
    except Exception:
        return False
    return True


def verify(compact: str, key: JSONObject, algorithms: tuple[str, ...] = ("ES256",)) -> Token:
    """Verifies `compact` with `key` in both libraries; refuses when either does, or its form is wrong."""
    token = take_apart(compact)
    algorithm = token.header.get("alg")
    if algorithm not in algorithms:
        raise Refused("jws.alg", f"{algorithm}, allowed are {', '.join(algorithms)}")
    check_public_key(key)
    if algorithm == "ES256" and len(token.signature) != 64:
        raise Refused("jws.signature_size", f"{len(token.signature)} bytes, 64 wanted")
    verdicts = {
        "joserfc": joserfc_accepts(compact, key, algorithm),
        "jwcrypto": jwcrypto_accepts(compact, key, algorithm),
    }
    if not all(verdicts.values()):
        raise Refused("jws.signature", f"verdicts {verdicts}")
    return token


def key_for(token: Token, jwks: JSONObject) -> JSONObject:
    """The one key of a JWKS that a token's `kid` names."""
    keys = [key for key in jwks.get("keys", []) if key.get("kid") == token.header.get("kid")]
    if len(keys) != 1:
        raise Refused("jwks.kid", f"{len(keys)} keys for kid {token.header.get('kid')}")
    return keys[0]


def verify_with_jwks(compact: str, jwks: JSONObject, algorithms: tuple[str, ...] = ("ES256", "RS256")) -> Token:
    return verify(compact, key_for(take_apart(compact), jwks), algorithms)
