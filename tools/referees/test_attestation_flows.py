"""The program's phones attest to the Python provider, where other people's verifiers judge: whole flows."""

from __future__ import annotations

from pathlib import Path

import cbor2
import pytest

from attesting import House, evidence_of
from enrolled import SIGNED_IN
from program import Understudy
from providers import PythonProvider
from two_libraries import unb64u

FAILED = (1, "failed", "attestationFailed")
PLATFORMS = {
    "ios": ["apple-appattest", "apple-appattest-assertion", "apple-appattest-assertion"],
    "android": ["android-key", "play-integrity", "play-integrity"],
}
# What the provider says of each defect of a sign-in by a phone that has attested before.
DEFECTS = {
    "ios": {
        "wrongRoot": "InvalidCertificateChainException", "leafAsIssuer": "attStmt",
        "expiredLeaf": "InvalidCertificateChainException", "wrongChallenge": "signature", "rawChallenge": "signature",
        "singleHash": "signature", "wrongAppId": "app id", "wrongEnvironment": "InvalidAaguidException",
        "wrongKey": "signature", "counterRollback": "counter", "replayedEvidence": "replayed",
        "clonedDevice": "unknown key", "truncated": "malformed", "trailingBytes": "canonical",
    },
    "android": {
        "wrongRoot": "root", "leafAsIssuer": "chain", "expiredLeaf": "chain", "wrongChallenge": "binding",
        "rawChallenge": "binding", "wrongAppId": "request package", "wrongEnvironment": "request package",
        "wrongKey": "signature", "replayedEvidence": "replayed", "clonedDevice": "binding", "softwareLevel": "level",
        "unlockedBoot": "unlocked", "unverifiedBoot": "boot", "unrecognizedVersion": "app verdict",
        "noDeviceIntegrity": "device verdict", "wrongCertDigest": "certificate digest", "truncated": "encryption",
        "trailingBytes": "encryption",
    },
}
CASES = [(platform, defect) for platform, defects in DEFECTS.items() for defect in defects]
# And of defects of an enrolment.
AT_ENROLMENT = [
    ("ios", "wrongRoot", "InvalidCertificateChainException"), ("ios", "wrongKey", "key"),
    ("ios", "wrongChallenge", "InvalidNonceException"), ("android", "wrongRoot", "root"),
    ("android", "wrongChallenge", "binding"), ("android", "wrongKey", "key"), ("android", "softwareLevel", "level"),
    ("android", "wrongCertDigest", "certificate digest"),
]


@pytest.fixture
def house(understudy: Understudy, python_idp: PythonProvider) -> House:
    return House.open(understudy, python_idp, "enforce")


@pytest.mark.parametrize("mode", ["audit", "enforce"])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_genuine_phone_is_taken(house: House, platform: str, mode: str) -> None:
    house.look(mode)
    phone = house.enrolled("phone", platform)
    assert [phone.sign_in().outcome for _ in range(2)] == [SIGNED_IN] * 2
    assert house.verdicts() == PLATFORMS[platform]
    challenges = [evidence["challenge"] for start in house.idp.log("start") if (evidence := evidence_of(start))]
    assert len(set(challenges)) == 2
    assert phone.fetch().document["status"] == 200
    assert house.idp.verdict()["findings"] == []


def test_the_counter_of_assertions_rises_by_one(house: House) -> None:
    phone = house.enrolled("phone", "ios")
    assert [phone.sign_in().outcome for _ in range(3)] == [SIGNED_IN] * 3
    pieces = [evidence_of(start) for start in house.idp.log("start")]
    data = [cbor2.loads(unb64u(piece["assertion"]))["authenticatorData"] for piece in pieces if piece]
    assert [int.from_bytes(each[33:37]) for each in data] == [1, 2, 3]
    assert len({piece["key_id"] for piece in pieces if piece}) == 1


@pytest.mark.parametrize("kind", ["android-key", "play-integrity-classic", "play-integrity"])
def test_an_android_phone_starts_with_what_it_is_set_to(house: House, kind: str) -> None:
    phone = house.enrolled("phone", "android", f"android_start={kind}", "provisioning=factory", "key_mint_version=400",
                           "security_level=strongBox")
    assert phone.sign_in().outcome == SIGNED_IN
    assert house.verdicts() == ["android-key", kind]


def test_nothing_is_asked_for_and_nothing_looked_at_under_off(house: House) -> None:
    house.look("off")
    for platform in PLATFORMS:
        phone = house.enrolled(platform, platform, "sending=auto")
        assert phone.sign_in().outcome == SIGNED_IN
    assert all(evidence_of(start) is None for start in house.idp.log("start"))
    pushy = house.enrolled("pushy", "android", "sending=always", "defect=unlockedBoot")
    assert pushy.sign_in("--attest-defect", "wrongAppId").outcome == SIGNED_IN
    assert evidence_of(house.idp.log("start")[-1]) is not None
    assert house.idp.log("attestation-challenge") == [] and house.verdicts() == []


@pytest.mark.parametrize(("platform", "defect"), CASES, ids=[f"{platform}-{defect}" for platform, defect in CASES])
def test_a_defect_is_refused_under_enforce_and_recorded_under_audit(house: House, platform: str, defect: str) -> None:
    rule = DEFECTS[platform][defect]
    phone = house.enrolled("phone", platform)
    assert phone.sign_in().outcome == SIGNED_IN
    known = len(house.verdicts())
    house.idp.manage("DELETE", "log")
    assert phone.sign_in("--attest-defect", defect).outcome == FAILED
    assert [call for call in house.idp.calls() if call != "attestation-challenge"] == ["start"]
    (start,) = house.idp.log("start")
    assert (start["status"], start["error"], start["answer"]["error_description"]) == (400, "attestation_failed", rule)
    assert phone.sign_in().outcome == SIGNED_IN
    house.look("audit")
    assert phone.sign_in("--attest-defect", defect).outcome == SIGNED_IN
    seen = house.verdicts()[known:]
    assert (seen[0], seen[-1], len(seen)) == (rule, rule, 3)


def test_a_stale_challenge_is_asked_for_anew_once(house: House) -> None:
    phone = house.enrolled("phone", "ios")
    assert phone.sign_in("--attest-defect", "staleChallenge").outcome == FAILED
    assert [start["error"] for start in house.idp.log("start")] == ["use_attestation_challenge"] * 2
    assert house.verdicts()[1:] == ["challenge"] * 2
    assert phone.sign_in().outcome == SIGNED_IN


@pytest.mark.parametrize(("platform", "defect", "rule"), AT_ENROLMENT)
def test_a_defect_of_an_enrolment_is_refused_under_enforce_and_recorded_under_audit(
        house: House, platform: str, defect: str, rule: str) -> None:
    phone = house.phone("phone", platform)
    ran = phone.enrol("--attest-defect", defect)
    assert ran.code == 1 and ran.document["error"]["code"] == "attestation_refused", ran
    assert [entry["answer"]["error_description"] for entry in house.idp.log("enroll")] == [rule]
    house.look("audit")
    assert phone.enrol("--attest-defect", defect).code == 0
    assert house.verdicts() == [rule, rule]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_phone_that_sends_nothing_is_refused_under_enforce_alone(house: House, platform: str) -> None:
    house.look("audit")
    phone = house.enrolled("phone", platform, "sending=never")
    assert phone.sign_in().outcome == SIGNED_IN
    house.look("enforce")
    assert phone.sign_in().outcome == FAILED
    assert house.idp.log("start")[-1]["error"] == "attestation_required"
    assert house.verdicts() == ["none"] * 3


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_phone_of_another_state_directory_is_refused(house: House, binary: Path, tmp_path: Path,
                                                       platform: str) -> None:
    elsewhere = House(Understudy(binary, tmp_path / "elsewhere"), house.idp)
    ran = elsewhere.phone("phone", platform).enrol()
    assert ran.code == 1 and ran.document["error"]["code"] == "attestation_refused"


def test_a_provider_that_forgot_the_key_is_attested_to_again(house: House) -> None:
    phone = house.enrolled("phone", "ios")
    assert phone.sign_in().outcome == SIGNED_IN
    house.idp.manage("DELETE", "tenants/acme/attestation/keys")
    assert phone.sign_in().outcome == FAILED
    assert phone.sign_in().outcome == SIGNED_IN
    assert house.verdicts()[2:] == ["unknown key", "apple-appattest"]
