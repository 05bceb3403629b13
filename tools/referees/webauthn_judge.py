"""Android key attestation as webauthn judges it: its format alone, and a whole registration around a chain."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from pyasn1.error import PyAsn1Error
from webauthn import verify_registration_response
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import AttestationFormat, AttestationStatement
from webauthn.registration.formats.android_key import verify_android_key

from evidence_judges import NotGenuine, point_of

RP, ORIGIN = "understudy.test", "https://understudy.test"
FLAGS = 0x45  # attested credential, user present and verified


class Registration:
    """What a phone would send to register the key of a chain; the key signs here, since its chain is all there is."""

    def __init__(self, x5c: list[bytes], key: EllipticCurvePrivateKey, client_data: bytes) -> None:
        self.client_data, self.id = client_data, hashlib.sha256(x5c[0]).digest()
        point = point_of(key.public_key())
        self.cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
        data = (hashlib.sha256(RP.encode()).digest() + bytes([FLAGS]) + bytes(4) + bytes(16)
                + len(self.id).to_bytes(2) + self.id + self.cose)
        signature = key.sign(data + hashlib.sha256(client_data).digest(), ECDSA(SHA256()))
        self.statement = AttestationStatement(alg=-7, sig=signature, x5c=x5c)
        self.object = cbor2.dumps({"fmt": "android-key", "authData": data,
                                   "attStmt": {"alg": -7, "sig": signature, "x5c": x5c}})

    def judge_format(self, root_pem: bytes) -> None:
        """webauthn's `android-key` format, whose client data need not be JSON."""
        try:
            verify_android_key(attestation_statement=self.statement, attestation_object=self.object,
                               client_data_json=self.client_data, credential_public_key=self.cose,
                               pem_root_certs_bytes=[root_pem])
        except (WebAuthnException, PyAsn1Error) as error:
            raise NotGenuine(type(error).__name__, error) from error

    def judge(self, root_pem: bytes) -> Any:
        """The whole of webauthn: client data, authenticator data, and the format."""
        coded = base64.urlsafe_b64encode(self.id).rstrip(b"=").decode()
        response = {"clientDataJSON": _b64u(self.client_data), "attestationObject": _b64u(self.object)}
        challenge = base64.urlsafe_b64decode(json.loads(self.client_data)["challenge"] + "==")
        try:
            return verify_registration_response(
                credential={"id": coded, "rawId": coded, "type": "public-key", "response": response},
                expected_challenge=challenge, expected_rp_id=RP, expected_origin=ORIGIN,
                pem_root_certs_bytes_by_fmt={AttestationFormat.ANDROID_KEY: [root_pem]})
        except (WebAuthnException, PyAsn1Error) as error:
            raise NotGenuine(type(error).__name__, error) from error


def _b64u(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
