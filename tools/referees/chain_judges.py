"""Chains of certificates and receipts, judged by `cryptography` and by the openssl command line."""

from __future__ import annotations

import base64
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.verification import Criticality, ExtensionPolicy, PolicyBuilder, Store, VerificationError
from pyasn1.codec.der.decoder import decode as der_decode

from evidence_judges import NotGenuine


def cryptography_path(x5c: list[bytes], root_pem: bytes) -> None:
    """A path from the leaf to the root, now, each authority one that may sign certificates."""
    try:
        leaf, *others = [x509.load_der_x509_certificate(der) for der in x5c]
    except ValueError as error:
        raise NotGenuine("certificate", error) from error
    # The library's own rules for leaves are those of the web: names of hosts, and key identifiers.
    authority = ExtensionPolicy.permit_all()
    authority = authority.require_present(x509.BasicConstraints, Criticality.CRITICAL, _is_authority)
    authority = authority.require_present(x509.KeyUsage, Criticality.CRITICAL, _signs_certificates)
    policy = PolicyBuilder().store(Store(x509.load_pem_x509_certificates(root_pem)))
    policy = policy.extension_policies(ca_policy=authority, ee_policy=ExtensionPolicy.permit_all())
    try:
        policy.build_client_verifier().verify(leaf, others)
    except VerificationError as error:
        raise NotGenuine("path", error) from error


def _is_authority(_policy: Any, _certificate: x509.Certificate, constraints: Any) -> None:
    if not constraints.ca:
        raise ValueError("no authority")


def _signs_certificates(_policy: Any, _certificate: x509.Certificate, usage: Any) -> None:
    if not usage.key_cert_sign:
        raise ValueError("may not sign certificates")


def openssl_path(x5c: list[bytes], root_pem: bytes, *more: str) -> None:
    """`openssl verify`; its error text is the rule."""
    with tempfile.TemporaryDirectory() as folder:
        leaf, others, root = Path(folder, "leaf.pem"), Path(folder, "others.pem"), Path(folder, "root.pem")
        leaf.write_bytes(_pem(x5c[0]))
        others.write_bytes(b"".join(map(_pem, x5c[1:])))
        root.write_bytes(root_pem)
        done = subprocess.run(["openssl", "verify", *more, "-no-CApath", "-no-CAstore", "-CAfile", root, "-untrusted",
                               others, leaf], capture_output=True, text=True, check=False, timeout=20)
    if done.returncode != 0:
        raise NotGenuine("openssl", done.stderr)


def openssl_receipt(receipt: bytes, root_pem: bytes) -> dict[int, bytes]:
    """`openssl cms -verify`, and the attributes of what was signed."""
    with tempfile.TemporaryDirectory() as folder:
        signed, root, content = Path(folder, "receipt"), Path(folder, "root.pem"), Path(folder, "content")
        signed.write_bytes(receipt)
        root.write_bytes(root_pem)
        done = subprocess.run(["openssl", "cms", "-verify", "-inform", "DER", "-in", signed, "-CAfile", root,
                               "-purpose", "any", "-binary", "-out", content],
                              capture_output=True, text=True, check=False, timeout=20)
        if done.returncode != 0:
            raise NotGenuine("openssl", done.stderr)
        attributes, rest = der_decode(content.read_bytes())
    if rest:
        raise NotGenuine("receipt", "trailing bytes")
    return {int(each[0]): bytes(each[2]) for each in attributes}


def _pem(der: bytes) -> bytes:
    """A certificate as PEM, readable or not."""
    try:
        return x509.load_der_x509_certificate(der).public_bytes(Encoding.PEM)
    except ValueError:
        return b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(der) + b"-----END CERTIFICATE-----\n"
