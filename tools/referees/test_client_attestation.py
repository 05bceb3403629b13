"""OAuth client attestation of the program's phones, verified by joserfc at the Python provider (wire, section 15)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from attesting import House, Phone
from enrolled import SIGNED_IN
from phone import Phone as PythonPhone
from program import Understudy
from providers import PythonProvider

FAILED = (1, "failed", "attestationFailed")
MODES = {"normal": "attest_jwt_client_auth", "combined": "attest_jwt_client_auth_dpop"}
# What the provider answers to each defect, and what becomes of the sign-in.
DEFECTS = [
    ("normal", "expiredAttestation", ["use_fresh_attestation"] * 2, FAILED),
    ("normal", "otherKey", ["invalid_client_attestation"], FAILED),
    ("normal", "otherAudience", ["invalid_client_attestation"], FAILED),
    ("normal", "missingPoP", ["invalid_client_attestation"], FAILED),
    ("normal", "replayedPoP", ["insufficient_authorization", "invalid_client_attestation"], FAILED),
    ("normal", "staleChallenge", ["use_attestation_challenge"] * 2, FAILED),
    ("combined", "expiredAttestation", ["use_fresh_attestation"] * 2, FAILED),
    ("combined", "otherKey", ["invalid_client_attestation"], FAILED),
]


@pytest.fixture
def house(understudy: Understudy, python_idp: PythonProvider) -> House:
    house = House.open(understudy, python_idp, "off")
    for mode, method in MODES.items():
        python_idp.manage("POST", "tenants/acme/applications", {
            "client_id": f"app_{mode}", "token_endpoint_auth_method": method, "resources": [python_idp.resource]})
    return house


def sign_in(phone: Phone, mode: str, *more: str) -> Any:
    return phone.sign_in("--client-attestation", mode, *more, client=f"app_{mode}")


def claims(jws: str) -> dict[str, Any]:
    return json.loads(base64.urlsafe_b64decode(jws.split(".")[1] + "=="))


@pytest.mark.parametrize("mode", MODES)
def test_a_whole_life_of_an_attested_instance(house: House, mode: str) -> None:
    phone = house.enrolled("phone", "ios")
    assert sign_in(phone, mode).outcome == SIGNED_IN
    assert phone.fetch().document["status"] == 200
    assert phone.session("refresh").code == 0
    assert phone.fetch().document["status"] == 200
    assert phone.session("sign-out").code == 0
    calls = house.idp.log("start", "completion", "token", "refresh", "revoke")
    # A process that knows no challenge yet is told one, and tries again.
    assert {entry["error"] for entry in calls} <= {None, "insufficient_authorization", "use_attestation_challenge"}
    assert calls[-1]["call"] == "revoke" and calls[-1]["status"] == 200
    assert phone.fetch().code != 0


@pytest.mark.parametrize("mode", MODES)
def test_the_attestation_says_whose_key_it_is_and_each_proof_is_new(house: House, mode: str) -> None:
    phone = house.enrolled("phone", "ios")
    assert sign_in(phone, mode).outcome == SIGNED_IN
    requests = [dict((name.lower(), value) for name, value in line["headers"])
                for line in house.idp.manage("GET", "transcript") if line["kind"] == "request"]
    attested = [headers for headers in requests if "oauth-client-attestation" in headers]
    assert len(attested) == 3
    bodies = [claims(headers["oauth-client-attestation"]) for headers in attested]
    assert {body["sub"] for body in bodies} == {f"app_{mode}"} and all("jwk" in body["cnf"] for body in bodies)
    proofs = [headers["oauth-client-attestation-pop"] for headers in attested
              if "oauth-client-attestation-pop" in headers]
    assert len(proofs) == (3 if mode == "normal" else 0)
    assert len({claims(proof)["jti"] for proof in proofs}) == len(proofs)
    assert all(claims(proof)["aud"] == house.idp.issuer for proof in proofs)


@pytest.mark.parametrize(("mode", "defect", "errors", "outcome"), DEFECTS)
def test_a_defect_is_refused(house: House, mode: str, defect: str, errors: list[str | None], outcome: Any) -> None:
    phone = house.enrolled("phone", "android")
    assert sign_in(phone, mode, "--client-attestation-defect", defect).outcome == outcome
    assert [entry["error"] for entry in house.idp.log("start", "completion", "token")] == errors
    assert sign_in(phone, mode).outcome == SIGNED_IN


@pytest.mark.parametrize("mode", MODES)
def test_without_an_attestation_or_in_the_other_mode_nobody_comes_in(house: House, mode: str) -> None:
    phone = house.enrolled("phone", "ios")
    assert phone.sign_in(client=f"app_{mode}").outcome == (1, "failed", "notAllowed")
    other = "combined" if mode == "normal" else "normal"
    assert phone.sign_in("--client-attestation", other, client=f"app_{mode}").outcome == FAILED
    assert [start["error"] for start in house.idp.log("start")] == ["invalid_client", "invalid_client_attestation"]


def test_an_attester_the_tenant_does_not_know_is_refused(house: House) -> None:
    phone = house.enrolled("phone", "ios")
    house.idp.manage("PUT", "tenants/acme/attestation", {"attesters": []})
    assert sign_in(phone, "normal").outcome == FAILED


def test_a_public_client_may_carry_an_attestation(house: House) -> None:
    phone = house.enrolled("phone", "ios")
    assert phone.sign_in("--client-attestation", "normal").outcome == SIGNED_IN


def test_the_metadata_say_so_while_there_is_such_a_client(house: House) -> None:
    document = PythonPhone().get_json("metadata", f"{house.idp.issuer}/.well-known/openid-configuration")
    assert set(MODES.values()) <= set(document["token_endpoint_auth_methods_supported"])
    assert document["client_attestation_signing_alg_values_supported"] == ["ES256"]
    assert document["challenge_endpoint"].startswith(house.idp.issuer)


@pytest.mark.parametrize("mode", ["audit", "enforce"])
def test_both_kinds_of_attestation_go_together(house: House, mode: str) -> None:
    house.look(mode)
    phone = house.enrolled("phone", "android")
    assert sign_in(phone, "normal").outcome == SIGNED_IN
    assert house.verdicts() == ["android-key", "play-integrity"]
