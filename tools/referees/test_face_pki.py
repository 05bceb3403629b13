"""Face PKI of the understudy program, judged by openssl, by cryptography and by pyhpke."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256, SHA512
from pyhpke import AEADId, CipherSuite, KDFId, KEMId

from program import Ran, Understudy
from providers import Provider
from two_libraries import unb64u

SUITE = CipherSuite.new(KEMId.DHKEM_P256_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES128_GCM)
CONTEXT = "payments-v1"
SIGNED_IN = (0, "signed_in", None)


@dataclass
class House:
    """The daemon with its provider, and the user `ada`, whose devices share a face token."""

    program: Understudy
    idp: Provider
    user: dict[str, Any]

    def phone(self, name: str, *more: str) -> str:
        assert self.program.run("device", "create", name, *more).code == 0
        ticket = self.idp.manage("POST", f"tenants/acme/users/{self.user['id']}/tickets")["ticket"]
        assert self.program.run("enrol", "--device", name, "--issuer", self.idp.issuer, "--ticket", ticket).code == 0
        return name

    def sign_in(self, device: str, *more: str, client: str = "app_demo") -> Ran:
        return self.program.run("signin", "--device", device, "--issuer", self.idp.issuer, "--client", client, *more)

    def operate(self, device: str, operation: str, *more: str, context: str = CONTEXT, client: str = "app_demo") -> Any:
        ran = self.sign_in(device, "--pki", operation, "--context", context, *more, client=client)
        assert ran.outcome == SIGNED_IN, ran
        return ran.document

    def keys(self, device: str, *more: str, **which: str) -> dict[str, bytes]:
        pki = self.operate(device, "public-keys", *more, **which)["pki"]
        return {key["class"]: unb64u(key["public_key"]) for key in pki["keys"]}


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[House]:
    program = Understudy(binary, tmp_path / "state")
    with program.serve() as ready:
        idp = Provider.at(next(idp for idp in ready["idps"] if idp["system"] == "sensecrypt"))
        idp.manage("PATCH", "tenants/acme", {"pki_enabled": True})
        user = idp.new_user()
        idp.manage("PATCH", f"tenants/acme/users/{user['id']}", {"shared_face_token": True})
        made = House(program.through(ready), idp, user)
        made.phone("ada")
        assert made.sign_in("ada").outcome == SIGNED_IN
        yield made


def openssl_verifies(pem: str, signature: bytes, digest: bytes, folder: Path) -> bool:
    """Whether openssl finds the signature good over a hash as it is."""
    for name, content in {"key.pem": pem.encode(), "signature": signature, "hash": digest}.items():
        (folder / name).write_bytes(content)
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key.pem", "-sigfile", "signature", "-in", "hash"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=30).returncode == 0


def cryptography_verifies(point: bytes, signature: bytes, digest: bytes) -> bool:
    algorithm = ECDSA(Prehashed(SHA256() if len(digest) == 32 else SHA512()))
    try:
        EllipticCurvePublicKey.from_encoded_point(SECP256R1(), point).verify(signature, digest, algorithm)
    except InvalidSignature:
        return False
    return True


@pytest.mark.parametrize("length", [32, 64])
def test_both_judges_verify_a_signature(house: House, tmp_path: Path, length: int) -> None:
    digest = secrets.token_bytes(length)
    pki = house.operate("ada", "sign", "--operand-hex", digest.hex())["pki"]
    assert (pki["kind"], pki["scope"], unb64u(pki["context_base64url"])) == ("sign", "app", CONTEXT.encode())
    (key,) = pki["keys"]
    assert key["class"] == "p256-ecdsa"
    signature, point = unb64u(pki["signature_der"]), unb64u(key["public_key"])
    assert openssl_verifies(key["pem"], signature, digest, tmp_path)
    assert cryptography_verifies(point, signature, digest)
    # What the page says of a long operand: only its first 32 bytes are bound.
    first, last = bytes([digest[0] ^ 1]) + digest[1:], digest[:-1] + bytes([digest[-1] ^ 1])
    for spoilt, holds in ((first, False), (last, length == 64)):
        assert openssl_verifies(key["pem"], signature, spoilt, tmp_path) is holds
        assert cryptography_verifies(point, signature, spoilt) is holds


def encapsulate(point: bytes) -> tuple[bytes, bytes]:
    secret, encapsulation = SUITE.kem.encap(SUITE.kem.deserialize_public_key(point))
    return secret, encapsulation


def test_a_secret_pyhpke_encapsulates_is_taken_once(house: House, tmp_path: Path) -> None:
    secret, encapsulation = encapsulate(house.keys("ada")["p256-dhkem"])
    operand = tmp_path / "encapsulation"
    operand.write_bytes(encapsulation)
    document = house.operate("ada", "decapsulate", "--operand-file", str(operand))
    assert document["shared_secret"] == "available"
    taken = house.program.run("flow", "take-secret", document["flow"])
    assert (taken.code, taken.document["shared_secret_hex"]) == (0, secret.hex())
    again = house.program.run("flow", "take-secret", document["flow"])
    assert again.code != 0 and "secret_taken" in str(again.document)
    for path in house.program.state.iterdir():
        stored = path.read_bytes()
        assert secret not in stored and secret.hex().encode() not in stored, path


def test_a_secret_can_be_shown_at_once(house: House) -> None:
    secret, encapsulation = encapsulate(house.keys("ada")["p256-dhkem"])
    document = house.operate("ada", "decapsulate", "--operand-hex", encapsulation.hex(), "--show-secret")
    assert document["shared_secret_hex"] == secret.hex()
    assert house.program.run("flow", "take-secret", document["flow"]).code != 0


def test_a_secret_is_gone_with_the_daemon(house: House, binary: Path, tmp_path: Path) -> None:
    _, encapsulation = encapsulate(house.keys("ada")["p256-dhkem"])
    flow = house.operate("ada", "decapsulate", "--operand-hex", encapsulation.hex())["flow"]
    assert house.program.run("stop").code == 0
    with Understudy(binary, tmp_path / "state").serve() as ready:
        later = Understudy(binary, tmp_path / "state").through(ready).run("flow", "take-secret", flow)
    assert later.code != 0 and "secret_gone" in str(later.document)


def test_a_message_sealed_to_the_key_is_opened_with_the_secret(house: House) -> None:
    """The KEM's secret is the one HPKE goes on from, not merely equal on both of our sides."""
    point = house.keys("ada", context="mail")["p256-dhkem"]
    first, encapsulation = encapsulate(point)
    document = house.operate("ada", "decapsulate", "--operand-hex", encapsulation.hex(), "--show-secret",
                             context="mail")
    assert document["shared_secret_hex"] == first.hex()
    second, other = encapsulate(point)
    assert second != first and other != encapsulation


def test_two_phones_of_one_person_have_the_same_keys(house: House) -> None:
    tablet = house.phone("tablet", "--face-of", "ada")
    mine = house.keys("ada")
    assert set(mine) == {"p256-ecdsa", "p256-dhkem"}
    assert house.keys(tablet) == mine == house.keys("ada")


def test_context_application_and_scope_make_other_keys(house: House) -> None:
    house.idp.manage("PATCH", "tenants/acme/applications/app_demo", {"pki_tenant_scope": True})
    house.idp.manage("POST", "tenants/acme/applications", {
        "client_id": "app_other", "first_party_challenge_enabled": True, "pki_tenant_scope": True,
        "redirect_uris": ["https://other.example/app"], "scopes": ["openid"]})
    seen = [house.keys("ada"), house.keys("ada", context=""), house.keys("ada", client="app_other"),
            house.keys("ada", "--pki-scope", "tenant")]
    for name in ("p256-ecdsa", "p256-dhkem"):
        assert len({keys[name] for keys in seen}) == len(seen)
    assert house.keys("ada", "--pki-scope", "tenant", client="app_other") == seen[-1]


@pytest.mark.parametrize(("arguments", "reason"), [
    (("--pki", "sign", "--operand-hex", "00" * 31), "invalidPkiRequest"),
    (("--pki", "sign"), "invalidPkiRequest"),
    (("--pki", "public-keys", "--context-hex", "00" * 256), "invalidPkiRequest"),
    (("--pki", "decapsulate", "--operand-hex", "04" * 65), "invalidPkiRequest"),
    (("--pki", "public-keys", "--pki-scope", "tenant"), "pkiScopeNotAllowed"),
])
def test_what_breaks_a_rule_is_refused_before_the_scan(house: House, arguments: tuple[str, ...], reason: str) -> None:
    ran = house.sign_in("ada", *arguments)
    assert ran.outcome == (1, "failed", reason)
    steps = house.program.run("flow", "show", ran.document["flow"]).document["steps"]
    assert not [step for step in steps if step["kind"] == "scan"]
    assert house.program.run("session", "show", "--device", "ada").code == 0, "the session of before is still there"


def test_keys_that_are_not_there_are_fixed_by_one_plain_sign_in(house: House) -> None:
    house.idp.manage("POST", "tenants", {"id": "initech"})
    house.idp.manage("POST", "tenants/initech/applications", {
        "client_id": "app_demo", "first_party_challenge_enabled": True,
        "redirect_uris": ["https://initech.example/app"], "scopes": ["openid"]})
    issuer = f"{house.idp.origin}/initech"
    ticket = house.idp.new_user(tenant="initech")["ticket"]
    assert house.program.run("device", "create", "bill").code == 0
    assert house.program.run("enrol", "--device", "bill", "--issuer", issuer, "--ticket", ticket).code == 0
    plain = ("signin", "--device", "bill", "--issuer", issuer, "--client", "app_demo")
    sign = (*plain, "--pki", "sign", "--operand-hex", sha256(b"x").hexdigest())
    assert house.program.run(*sign).outcome == (1, "failed", "pkiNotAvailable")
    house.idp.manage("PATCH", "tenants/initech", {"pki_enabled": True})
    assert house.program.run(*sign).outcome == (1, "failed", "pkiKeysNotReady")
    assert house.program.run(*plain).outcome == SIGNED_IN
    assert house.program.run(*sign).outcome == SIGNED_IN
