"""Other people's verifiers, asked about app attestation: pyattest, webauthn, joserfc, jwcrypto.

Each judge raises `NotGenuine` with the rule it found broken. What a verifier is known not to look at is for the
judges whose names begin with `strict`: written here, by hand.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import warnings
from dataclasses import dataclass
from typing import Any

import cbor2
import jwcrypto.common
import jwcrypto.jwe
import jwcrypto.jwk
import jwcrypto.jws
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key
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
# What CBOR, structures and indices of bad form end in.
MALFORMED = (cbor2.CBORError, EOFError, ValueError, KeyError, IndexError, TypeError)


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
        with warnings.catch_warnings(category=DeprecationWarning, action="ignore"):
            asyncio.run(attestation.verify())
    except PyAttestException as error:
        raise NotGenuine(type(error).__name__, error) from error
    except MALFORMED as error:
        raise NotGenuine("malformed", error) from error
    leaf = x509.load_der_x509_certificate(cbor2.loads(raw)["attStmt"]["x5c"][0])
    return AttestedKey(key_id, leaf.public_key(), production)


def strict_app_attestation(raw: bytes, key_id: bytes) -> None:
    """What pyattest leaves unchecked: `fmt`, trailing bytes, canonical form, and the key in the authenticator data."""
    try:
        content = cbor2.loads(raw)
    except MALFORMED as error:
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
    """pyattest on an assertion, which is its signature; gives the counter, which is the caller's to compare."""
    config = AppleConfig(key_id=attested.key_id, app_id=app_id, production=attested.production)
    assertion = Assertion(raw, hashlib.sha256(client_data).digest(), attested.key, config)
    try:
        assertion.verify()
    except InvalidSignature as error:
        raise NotGenuine("signature") from error
    except MALFORMED as error:
        raise NotGenuine("malformed", error) from error
    return assertion.data["counter"]


def strict_app_assertion(raw: bytes, app_id: str) -> None:
    """What pyattest leaves unchecked: the app, trailing bytes and canonical form."""
    try:
        content = cbor2.loads(raw)
    except MALFORMED as error:
        raise NotGenuine("malformed", error) from error
    if cbor2.dumps(content) != raw or list(content) != ["signature", "authenticatorData"]:
        raise NotGenuine("canonical")
    if content["authenticatorData"][:32] != hashlib.sha256(app_id.encode()).digest():
        raise NotGenuine("app id")


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
    def levels(self) -> tuple[int, int]:
        return int(self.description["attestationSecurityLevel"]), int(self.description["keymasterSecurityLevel"])

    def list(self, name: str) -> dict[str, Any]:
        """The authorizations of `softwareEnforced` or `teeEnforced` that are there, by their names."""
        authorizations = self.description[name]
        return {tag: authorizations[tag] for tag in authorizations if authorizations[tag].isValue}

    def application(self) -> tuple[list[tuple[str, int]], list[bytes]]:
        """The packages with their versions, and the digests of the certificates they are signed with."""
        packages, digests = der_decode(bytes(self.list("softwareEnforced")["attestationApplicationId"]))[0]
        return [(bytes(each[0]).decode(), int(each[1])) for each in packages], [bytes(each) for each in digests]


def android_chain(x5c: list[bytes], roots_pem: list[bytes]) -> None:
    """webauthn's chain check (OpenSSL inside); the last certificate is a known root."""
    roots = [x509.load_pem_x509_certificate(pem) for pem in roots_pem]
    try:
        last = x509.load_der_x509_certificate(x5c[-1])
        if last not in roots:
            raise NotGenuine("root")
        validate_certificate_chain(x5c=list(x5c[:-1]), pem_root_certs_bytes=[last.public_bytes(Encoding.PEM)])
    except (InvalidCertificateChain, ValueError) as error:
        raise NotGenuine("chain", error) from error


def key_attestation(leaf_der: bytes) -> KeyAttestation:
    """webauthn's reading of the extension, in DER and not in BER as it reads itself."""
    try:
        leaf = x509.load_der_x509_certificate(leaf_der)
        value = leaf.extensions.get_extension_for_oid(KEY_DESCRIPTION).value.value
        description, rest = der_decode(value, asn1Spec=KeyDescription())
    except Exception as error:  # noqa: BLE001 -- pyasn1 and x509 raise many kinds, and each is a no
        raise NotGenuine("leaf", error) from error
    if rest:
        raise NotGenuine("leaf", "trailing bytes")
    return KeyAttestation(leaf.public_key(), description)


def strict_android_key(x5c: list[bytes], bound: bytes, key: bytes, package: str, digest: bytes) -> KeyAttestation:
    """What webauthn leaves unchecked: where the key is, how the phone was started, whose app it is; and its key."""
    said = key_attestation(x5c[0])
    if point_of(said.key) != key:
        raise NotGenuine("key")
    if said.challenge != bound:
        raise NotGenuine("binding")
    if min(said.levels) < 1 or said.levels[0] != said.levels[1]:
        raise NotGenuine("level", said.levels)
    trust = said.list("teeEnforced")["rootOfTrust"]
    if not bool(trust["deviceLocked"]):
        raise NotGenuine("unlocked")
    if int(trust["verifiedBootState"]) != 0:
        raise NotGenuine("boot", trust["verifiedBootState"])
    packages, digests = said.application()
    if [name for name, _ in packages] != [package]:
        raise NotGenuine("package", packages)
    if digests != [digest]:
        raise NotGenuine("certificate digest")
    return said


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
    except (JoseError, ValueError) as error:
        raise NotGenuine("encryption", error) from error
    try:
        return json.loads(jws.deserialize_compact(outer.plaintext or b"", signing, algorithms=["ES256"]).payload)
    except (JoseError, ValueError) as error:
        raise NotGenuine("signature", error) from error


def play_payload_again(token: str, decryption_key: str, verification_key: str) -> dict[str, Any]:
    """jwcrypto on the same."""
    secret = base64.standard_b64decode(decryption_key)
    wrapping = jwcrypto.jwk.JWK(kty="oct", k=base64.urlsafe_b64encode(secret).rstrip(b"=").decode())
    spki = load_der_public_key(base64.standard_b64decode(verification_key))
    outer, inner = jwcrypto.jwe.JWE(algs=["A256KW", "A256GCM"]), jwcrypto.jws.JWS()
    try:
        outer.deserialize(token, key=wrapping)
    except (jwcrypto.common.JWException, ValueError) as error:
        raise NotGenuine("encryption", error) from error
    inner.allowed_algs = ["ES256"]
    try:
        inner.deserialize(outer.payload.decode(), key=jwcrypto.jwk.JWK.from_pyca(spki))
    except (jwcrypto.common.JWException, ValueError) as error:
        raise NotGenuine("signature", error) from error
    return json.loads(inner.payload)


def strict_play(payload: dict[str, Any], bound: dict[str, str], package: str, digest: bytes) -> None:
    """What a verdict says, compared; `bound` is the member of `requestDetails` that binds it, and its value."""
    request, app = payload["requestDetails"], payload["appIntegrity"]
    if {name: request.get(name) for name in ("nonce", "requestHash") if name in request} != bound:
        raise NotGenuine("binding")
    if request["requestPackageName"] != package:
        raise NotGenuine("request package")
    if app["appRecognitionVerdict"] != "PLAY_RECOGNIZED":
        raise NotGenuine("app verdict")
    if app["packageName"] != package:
        raise NotGenuine("package")
    if app["certificateSha256Digest"] != [base64.urlsafe_b64encode(digest).rstrip(b"=").decode()]:
        raise NotGenuine("certificate digest")
    if "MEETS_DEVICE_INTEGRITY" not in payload["deviceIntegrity"].get("deviceRecognitionVerdict", []):
        raise NotGenuine("device verdict")
