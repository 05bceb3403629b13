"""Other people's verifiers, asked about app attestation: pyattest, webauthn, joserfc, cryptography.

Each judge raises `NotGenuine` with the rule it found broken. What a verifier is known not to look at is checked
here by hand, or left to the table in docs/attestation.md that says so.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Any

import cbor2
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc import jwe, jwk, jws
from joserfc.errors import JoseError
from pyasn1.codec.der.decoder import decode as der_decode
from pyattest.assertion import Assertion
from pyattest.attestation import Attestation
from pyattest.configs.apple import AppleConfig
from pyattest.configs.google_play_integrity_api import GooglePlayIntegrityApiConfig
from pyattest.exceptions import PyAttestException
from webauthn.helpers import validate_certificate_chain
from webauthn.helpers.asn1.android_key import KeyDescription
from webauthn.helpers.exceptions import InvalidCertificateChain

KEY_DESCRIPTION = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.1.17")
FLAG_ATTESTED = 0x40


class NotGenuine(Exception):
    """A verifier said no; `rule` says what it looked at."""

    def __init__(self, rule: str, detail: object = "") -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule = rule


def point_of(key: EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


# App Attest

@dataclass(frozen=True)
class AttestedKey:
    """An App Attest key that was vouched for."""

    key_id: bytes
    key: EllipticCurvePublicKey
    production: bool


def app_attestation(raw: bytes, key_id: bytes, client_data: bytes, app_id: str, root_pem: bytes,
                    production: bool = True) -> AttestedKey:
    """pyattest on an attestation object, whose `clientDataHash` is the hash of `client_data`."""
    config = AppleConfig(key_id=key_id, app_id=app_id, production=production, root_ca=root_pem)
    attestation = Attestation(raw, client_data, config)
    try:
        asyncio.run(attestation.verify())
    except PyAttestException as error:
        raise NotGenuine(type(error).__name__, error) from error
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise NotGenuine("malformed", error) from error
    leaf = x509.load_der_x509_certificate(cbor2.loads(raw)["attStmt"]["x5c"][0])
    return AttestedKey(key_id, leaf.public_key(), production)


def strict_app_attestation(raw: bytes, key_id: bytes) -> None:
    """What pyattest leaves unchecked: `fmt`, trailing bytes, canonical form, and the key in the authenticator data."""
    try:
        content = cbor2.loads(raw)
    except ValueError as error:
        raise NotGenuine("malformed", error) from error
    if cbor2.dumps(content) != raw:
        raise NotGenuine("canonical")
    if content["fmt"] != "apple-appattest" or list(content) != ["fmt", "attStmt", "authData"]:
        raise NotGenuine("fmt", content["fmt"])
    if len(content["attStmt"]["x5c"]) != 2 or not content["attStmt"]["receipt"]:
        raise NotGenuine("attStmt")
    data = content["authData"]
    if not data[32] & FLAG_ATTESTED or data[53:55] != b"\x00\x20" or data[55:87] != key_id:
        raise NotGenuine("authData")
    cose = cbor2.loads(data[87:164])
    leaf = x509.load_der_x509_certificate(content["attStmt"]["x5c"][0]).public_key()
    if b"\x04" + cose[-2] + cose[-3] != point_of(leaf) or hashlib.sha256(point_of(leaf)).digest() != key_id:
        raise NotGenuine("key")


def app_assertion(raw: bytes, client_data: bytes, app_id: str, attested: AttestedKey) -> int:
    """pyattest on an assertion, and the App ID, which it leaves to its caller; gives the counter."""
    config = AppleConfig(key_id=attested.key_id, app_id=app_id, production=attested.production)
    assertion = Assertion(raw, hashlib.sha256(client_data).digest(), attested.key, config)
    try:
        assertion.verify()
    except InvalidSignature as error:
        raise NotGenuine("signature") from error
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise NotGenuine("malformed", error) from error
    if assertion.data["rp_id"] != hashlib.sha256(app_id.encode()).digest():
        raise NotGenuine("app id")
    if cbor2.dumps(cbor2.loads(raw)) != raw:
        raise NotGenuine("canonical")
    return assertion.data["counter"]


# Android key attestation

@dataclass(frozen=True)
class KeyAttestation:
    """What the extension of a leaf says, and the key the leaf is for."""

    key: EllipticCurvePublicKey
    description: Any

    @property
    def challenge(self) -> bytes:
        return bytes(self.description["attestationChallenge"])

    @property
    def level(self) -> int:
        return int(self.description["attestationSecurityLevel"])

    @property
    def root_of_trust(self) -> Any:
        return self.description["hardwareEnforced"]["rootOfTrust"]


def android_chain(x5c: list[bytes], roots_pem: list[bytes]) -> KeyAttestation:
    """webauthn's chain check (OpenSSL inside) and its reading of the extension; the last certificate is a known root."""
    roots = [x509.load_pem_x509_certificate(pem) for pem in roots_pem]
    certificates = [x509.load_der_x509_certificate(der) for der in x5c]
    if certificates[-1] not in roots:
        raise NotGenuine("root")
    try:
        validate_certificate_chain(x5c=list(x5c[:-1]), pem_root_certs_bytes=[certificates[-1].public_bytes(Encoding.PEM)])
    except InvalidCertificateChain as error:
        raise NotGenuine("chain", error) from error
    leaf = certificates[0]
    try:
        value = leaf.extensions.get_extension_for_oid(KEY_DESCRIPTION).value.value
        description, rest = der_decode(value, asn1Spec=KeyDescription())
    except Exception as error:  # noqa: BLE001 -- pyasn1 and x509 raise many kinds, and each is a no
        raise NotGenuine("extension", error) from error
    if rest:
        raise NotGenuine("extension", "trailing bytes")
    return KeyAttestation(leaf.public_key(), description)


# Play Integrity

def play_classic(token: str, nonce: bytes, package: str, decryption_key: str, verification_key: str) -> dict[str, Any]:
    """pyattest on a classic token; the keys are in the console's form."""
    config = GooglePlayIntegrityApiConfig(decryption_key, verification_key, package, production=True)
    attestation = Attestation(token, nonce, config)
    try:
        asyncio.run(attestation.verify())
    except PyAttestException as error:
        raise NotGenuine(type(error).__name__, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise NotGenuine("malformed", error) from error
    return attestation.data["data"]


def play_payload(token: str, decryption_key: str, verification_key: str) -> dict[str, Any]:
    """joserfc on a token of either kind: what is in it, once it is decrypted and its signature has held."""
    wrapping = jwk.OctKey.import_key(base64.standard_b64decode(decryption_key))
    signing = jwk.ECKey.import_key(base64.standard_b64decode(verification_key))
    try:
        outer = jwe.decrypt_compact(token, wrapping, algorithms=["A256KW", "A256GCM"])
        inner = jws.deserialize_compact(outer.plaintext or b"", signing, algorithms=["ES256"])
    except (JoseError, ValueError) as error:
        raise NotGenuine("jose", error) from error
    return json.loads(inner.payload)
