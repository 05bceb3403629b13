"""Genuine evidence of the program's phones, in every shape: others take it, and it says what it should."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cbor2
import pytest

from cryptography.hazmat.primitives.asymmetric import ec

import chain_judges as chains
import evidence_judges as judges
from evidence import (APP_ID, ASSERTION, ATTESTATION, CHAIN, CLASSIC, DIGEST, FORMATS, PACKAGE, STANDARD, Handset,
                      Question, chain_of)
from evidence_judges import NotGenuine
from evidence_panel import PANELS, apple_chain, key_id_of, verdict
from program import Understudy
from two_libraries import unb64u
from webauthn_judge import Registration

# Client data of a WebAuthn registration whose hash happens to be text, so that it can be the challenge of `attest`.
CLIENT_DATA = (b'{"type":"webauthn.create","challenge":"Understudy1_3qBAAAAAAA","origin":"https://understudy.test",'
               b'"crossOrigin":false}')
REGISTRATION = Question.raw(hashlib.sha256(CLIENT_DATA).digest().decode())
# The authenticator data of an attestation and of an assertion: flags and length, with what iOS 27 adds and without.
SHAPES = {"none": (0x40, 164, 0x40, 37), "mapWithFlag": (0xC0, 226, 0x80, 99), "mapWithoutFlag": (0x40, 226, 0x40, 99)}
AAGUIDS = {"production": b"appattest" + bytes(7), "development": b"appattestdevelop"}
LEVELS = {"software": 0, "tee": 1, "strongBox": 2}
BOOT_STATES = ("verified", "selfSigned", "unverified", "failed")
OTHER_APP = ("app.team_id=TEAMTEAM01", "app.bundle_id=org.example.bank", "app.package=org.example.bank",
             "app.version=7", f"app.certificate_digest={'0f' * 32}")


def settings(*pairs: str) -> list[str]:
    return [part for pair in pairs for part in ("--set", pair)]


@pytest.fixture(scope="module")
def handset(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handset]:
    yield Handset.new(Understudy(binary, tmp_path_factory.mktemp("shapes") / "state"))


# App Attest

@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("environment", AAGUIDS)
def test_attestations_of_every_shape_are_taken(handset: Handset, environment: str, shape: str) -> None:
    question = Question.raw(f"a challenge for {environment}, {shape}")
    evidence = handset.evidence(ATTESTATION, question, *settings(f"environment={environment}", f"extensions={shape}",
                                                                 *OTHER_APP))
    raw, key_id = unb64u(evidence["attestation"]), key_id_of(evidence)
    app_id = "TEAMTEAM01.org.example.bank"
    judges.app_attestation(raw, key_id, question.client_data, app_id, handset.roots.apple, environment == "production")
    judges.strict_app_attestation(raw, key_id)
    for path in (chains.cryptography_path, chains.openssl_path):
        path(apple_chain(evidence), handset.roots.apple)
    data = cbor2.loads(raw)["authData"]
    flags, length, _, _ = SHAPES[shape]
    assert (data[32], len(data), data[37:53]) == (flags, length, AAGUIDS[environment])
    if shape != "none":
        assert cbor2.loads(data[164:]) == {
            "apple_bundle_version_01": "7",
            "apple_validation_category_01": (4 if environment == "production" else 3).to_bytes(4, "little")}


def test_pyattest_takes_the_environment_it_is_told(handset: Handset) -> None:
    question = handset.question()
    evidence = handset.evidence(ATTESTATION, question, *settings("environment=development"))
    with pytest.raises(NotGenuine, match="InvalidAaguid"):
        judges.app_attestation(unb64u(evidence["attestation"]), key_id_of(evidence), question.client_data, APP_ID,
                               handset.roots.apple, production=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_assertions_count_one_two_three(binary: Path, tmp_path: Path, shape: str) -> None:
    fresh = Handset.new(Understudy(binary, tmp_path / "state"))
    attested = fresh.attest_key()
    for counter in (1, 2, 3):
        question = fresh.question()
        ran = fresh.attest(ASSERTION, question, *settings(f"extensions={shape}"))
        raw = unb64u(ran.document["evidence"]["assertion"])
        assert key_id_of(ran.document["evidence"]) == attested.key_id and ran.document["counter"] == counter
        assert judges.app_assertion(raw, question.client_data, APP_ID, attested) == counter
        judges.strict_app_assertion(raw, APP_ID)
        data = cbor2.loads(raw)["authenticatorData"]
        assert (data[32], len(data)) == SHAPES[shape][2:]


@pytest.mark.parametrize("environment", AAGUIDS)
def test_openssl_takes_the_receipt_and_it_says_what_it_should(handset: Handset, environment: str) -> None:
    question = handset.question()
    evidence = handset.evidence(ATTESTATION, question, *settings(f"environment={environment}"))
    receipt = cbor2.loads(unb64u(evidence["attestation"]))["attStmt"]["receipt"]
    said = chains.openssl_receipt(receipt, handset.roots.receipt)
    assert said[2] == APP_ID.encode() and said[3] == apple_chain(evidence)[0] and said[4] == question.bound
    assert said[6] == b"ATTEST" and said[7] == environment.encode() and said[5]
    made, ends = (datetime.fromisoformat(said[number].decode()) for number in (12, 21))
    assert ends - made == timedelta(days=90) and abs(datetime.now(made.tzinfo) - made) < timedelta(minutes=5)
    with pytest.raises(NotGenuine, match="self-signed certificate in certificate chain"):
        chains.openssl_receipt(receipt, handset.roots.apple)
    bent = receipt.replace(b"ATTEST", b"attest")
    with pytest.raises(NotGenuine, match="digest failure|verification failure"):
        chains.openssl_receipt(bent, handset.roots.receipt)


# Android

CHAINS = [(level, version, provisioning, 3 if level == "software" else 5 if provisioning == "remote" else 4)
          for level in LEVELS for version in (300, 400) for provisioning in ("remote", "factory")]


@pytest.mark.parametrize(("level", "version", "provisioning", "length"), CHAINS)
def test_chains_of_every_kind_are_taken(handset: Handset, level: str, version: int, provisioning: str,
                                        length: int) -> None:
    evidence = handset.evidence(CHAIN, REGISTRATION, *settings(
        f"security_level={level}", f"key_mint_version={version}", f"provisioning={provisioning}"))
    chain = chain_of(evidence)
    assert len(chain) == length
    judges.android_chain(chain, [handset.roots.android])
    for path in (chains.cryptography_path, chains.openssl_path):
        path(chain[:-1], handset.roots.android)
    said = judges.key_attestation(chain[0])
    assert said.challenge == REGISTRATION.bound and said.levels == (LEVELS[level], LEVELS[level])
    assert [int(said.description[name]) for name in ("attestationVersion", "keymasterVersion")] == [version, version]
    assert ("moduleHash" in said.list("softwareEnforced")) == (version == 400)
    registration = Registration(chain, handset.key, CLIENT_DATA)
    if level == "software":
        with pytest.raises(NotGenuine, match="PyAsn1Error"):
            registration.judge(handset.roots.android)
    else:
        assert registration.judge(handset.roots.android).fmt == "android-key"


def test_a_registration_is_refused_with_another_key_or_root(handset: Handset) -> None:
    chain = chain_of(handset.evidence(CHAIN, REGISTRATION))
    with pytest.raises(NotGenuine, match="Could not verify attestation statement signature"):
        Registration(chain, ec.generate_private_key(ec.SECP256R1()), CLIENT_DATA).judge(handset.roots.android)
    with pytest.raises(NotGenuine, match="not a known root"):
        Registration(chain, handset.key, CLIENT_DATA).judge(handset.roots.apple)


@pytest.mark.parametrize("state", BOOT_STATES)
@pytest.mark.parametrize("locked", ["true", "false"])
def test_a_chain_says_what_was_asked_for(handset: Handset, state: str, locked: str) -> None:
    numbers = {"os_version": 150000, "os_patch_level": 202503, "vendor_patch_level": 20250305,
               "boot_patch_level": 20250301}
    evidence = handset.evidence(CHAIN, REGISTRATION, *settings(
        f"boot_state={state}", f"boot_locked={locked}", *OTHER_APP, *(f"{name}={it}" for name, it in numbers.items())))
    said = judges.key_attestation(chain_of(evidence)[0])
    hardware = said.list("teeEnforced")
    trust = hardware["rootOfTrust"]
    assert int(trust["verifiedBootState"]) == BOOT_STATES.index(state)
    assert bool(trust["deviceLocked"]) == (locked == "true")
    assert len(bytes(trust["verifiedBootKey"])) == len(bytes(trust["verifiedBootHash"])) == 32
    names = ("osVersion", "osPatchLevel", "vendorPatchLevel", "bootPatchLevel")
    assert [int(hardware[name]) for name in names] == list(numbers.values())
    assert [int(hardware[name]) for name in ("algorithm", "keySize", "ecCurve", "origin")] == [3, 256, 1, 0]
    assert [list(map(int, hardware[name])) for name in ("purpose", "digest")] == [[2], [4]]
    assert said.application() == ([("org.example.bank", 7)], [b"\x0f" * 32])
    assert "noAuthRequired" in hardware and bytes(said.description["uniqueId"]) == b""


def test_openssl_verifies_the_file_a_person_writes(handset: Handset, tmp_path: Path) -> None:
    file = tmp_path / "chain.pem"
    assert handset.attest(CHAIN, REGISTRATION, "--out", str(file)).code == 0
    root = handset.roots.folder / "android-root.pem"
    done = subprocess.run(["openssl", "verify", "-CAfile", root, "-untrusted", file, file],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, f"{file}: OK")


# Play Integrity

@pytest.mark.parametrize("kind", [CLASSIC, STANDARD])
def test_a_verdict_says_what_was_asked_for(handset: Handset, kind: str) -> None:
    question = handset.question()
    verdicts = ["MEETS_BASIC_INTEGRITY", "MEETS_VIRTUAL_INTEGRITY"]
    evidence = handset.evidence(kind, question, *settings(
        "app_verdict=UNEVALUATED", "licensing_verdict=UNLICENSED", f"device_verdicts={','.join(verdicts)}", *OTHER_APP))
    said = [PANELS[kind][name](handset, evidence, question) for name in ("joserfc", "jwcrypto")]
    assert said[0] == said[1]
    request = said[0].pop("requestDetails")
    made = datetime.fromtimestamp(int(request.pop("timestampMillis")) / 1000)
    assert abs(datetime.now() - made) < timedelta(minutes=5)
    assert request == {"requestPackageName": "org.example.bank"} | question.play_binding(kind)
    assert said[0] == {
        "appIntegrity": {"appRecognitionVerdict": "UNEVALUATED", "packageName": "org.example.bank", "versionCode": "7",
                         "certificateSha256Digest": ["Dw8P" * 10 + "Dw8"]},
        "deviceIntegrity": {"deviceRecognitionVerdict": verdicts},
        "accountDetails": {"appLicensingVerdict": "UNLICENSED"}}


@pytest.mark.parametrize("kind", [CLASSIC, STANDARD])
def test_the_challenge_alone_binds_as_it_is(handset: Handset, kind: str) -> None:
    question = Question.raw("bm9uY2Utb2YtYS1zZXJ2ZXI=")
    evidence = handset.evidence(kind, question)
    token, keys = evidence["token"], handset.roots.play
    judges.strict_play(judges.play_payload(token, *keys), question.play_binding(kind), PACKAGE, DIGEST)
    if kind == CLASSIC:
        judges.play_classic(token, b"nonce-of-a-server", PACKAGE, *keys)


# What docs/attestation.md says other people's verifiers cannot do

def test_pyattest_knows_no_standard_token_and_no_nonce_without_its_padding(handset: Handset) -> None:
    question = handset.question()
    token = handset.evidence(STANDARD, question)["token"]
    with pytest.raises(NotGenuine, match="malformed"):
        judges.play_classic(token, question.bound, PACKAGE, *handset.roots.play)
    token = handset.evidence(CLASSIC, Question.raw("bm9uY2Utb2YtYS1zZXJ2ZXI"))["token"]
    with pytest.raises(NotGenuine, match="malformed.*padding"):
        judges.play_classic(token, b"nonce-of-a-server", PACKAGE, *handset.roots.play)


def test_pyattest_takes_any_name_for_the_format(handset: Handset) -> None:
    question = handset.question()
    evidence = handset.evidence(ATTESTATION, question)
    renamed = cbor2.dumps(cbor2.loads(unb64u(evidence["attestation"])) | {"fmt": "packed"})
    judges.app_attestation(renamed, key_id_of(evidence), question.client_data, APP_ID, handset.roots.apple)
    with pytest.raises(NotGenuine, match="fmt"):
        judges.strict_app_attestation(renamed, key_id_of(evidence))


@pytest.mark.parametrize("kind", [ATTESTATION, CHAIN])
def test_openssl_is_too_strict_for_such_leaves_where_it_is_asked_to_be(handset: Handset, kind: str) -> None:
    evidence = handset.evidence(kind, handset.question())
    chain = apple_chain(evidence) if kind == ATTESTATION else chain_of(evidence)[:-1]
    root = handset.roots.apple if kind == ATTESTATION else handset.roots.android
    chains.openssl_path(chain, root)
    with pytest.raises(NotGenuine, match="Missing Authority Key Identifier"):
        chains.openssl_path(chain, root, "-x509_strict")


@pytest.mark.parametrize("kind", FORMATS)
def test_roots_of_another_state_directory_take_nothing(handset: Handset, binary: Path, tmp_path: Path,
                                                       kind: str) -> None:
    stranger = Handset.new(Understudy(binary, tmp_path / "state"))
    stranger.attest_key()
    question = handset.question()
    evidence: Any = handset.evidence(kind, question)
    elsewhere = replace(handset, roots=stranger.roots, attested=stranger.attested)
    said = {name: verdict(judge, elsewhere, evidence, question) for name, judge in PANELS[kind].items()}
    outside = {name: no for name, no in said.items() if name != "strict"}
    assert all(outside.values()), said
    assert elsewhere.verify(evidence, question).code == 1
