"""Wrong evidence of the program's phones: who sees what, and what `understudy attest verify` says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evidence import ASSERTION, ATTESTATION, CHAIN, CLASSIC, FORMATS, STANDARD, Handset
from evidence_panel import PANELS, verdict
from program import Understudy


@dataclass(frozen=True)
class lax:  # noqa: N801 -- a word of the table
    """A verifier takes what is wrong, and why."""

    why: str


@dataclass(frozen=True)
class Row:
    """`rule` is what `attest verify` finds; for each judge a piece of what it says against it, or `lax`."""

    rule: str | None
    judges: dict[str, str | lax]

    @staticmethod
    def of(rule: str | None, **judges: str | lax) -> Row:
        return Row(rule, judges)


# What a judge is not asked about, where a row does not name it.
UNASKED = {
    "cryptography": lax("the path of certificates is all it looks at"),
    "openssl": lax("the path of certificates is all it looks at"),
    "joserfc": lax("it opens the token and checks the signature; what is said inside is for its caller"),
    "jwcrypto": lax("it opens the token and checks the signature; what is said inside is for its caller"),
    "strict": lax("it looks only at what the others leave"),
}
MEMORY = lax("it remembers nothing: that this came before is for its caller to know")
SIGNATURE_ALONE = lax("of an assertion it checks the signature alone")
NO_JUDGEMENT = lax("it reads where the key is and how the phone was started, and judges neither; nor the app")
BER = lax("it reads BER, and leaves alone what is behind the certificate")

NONCE, BOUND = "InvalidNonce", "not the same as the hash of clientDataJSON"
BAD_PATH = "chain could not be validated"

TABLE: dict[str, dict[str, Row]] = {
    ATTESTATION: {
        "wrongRoot": Row.of("attestation.chain.root", pyattest="InvalidCertificateChain",
                            cryptography="signature does not match", openssl="unable to get local issuer"),
        "leafAsIssuer": Row.of("attestation.chain.length", pyattest="InvalidCertificateChain", strict="attStmt",
                               cryptography="cA must be asserted", openssl="invalid CA certificate"),
        "expiredLeaf": Row.of("attestation.chain.validity", pyattest="InvalidCertificateChain",
                              cryptography="not valid at validation time", openssl="certificate has expired"),
        "staleChallenge": Row.of("attestation.nonce", pyattest=NONCE),
        "wrongChallenge": Row.of("attestation.nonce", pyattest=NONCE),
        "rawChallenge": Row.of("attestation.nonce", pyattest=NONCE),
        "wrongAppId": Row.of("attestation.app_id", pyattest="InvalidAppId"),
        "wrongEnvironment": Row.of("attestation.environment", pyattest="InvalidAaguid"),
        "wrongKey": Row.of("attestation.key", strict="key",
                           pyattest=lax("it never compares the authenticator data's key with the certificate's")),
        "replayedEvidence": Row.of(None, pyattest=MEMORY),
        "clonedDevice": Row.of("attestation.key_id", pyattest=NONCE, strict="authData"),
        "truncated": Row.of("attestation.cbor", pyattest="malformed", cryptography="malformed", openssl="malformed",
                            strict="malformed"),
        "trailingBytes": Row.of("attestation.cbor", strict="canonical",
                                pyattest=lax("it leaves alone what is behind the CBOR object")),
    },
    ASSERTION: {
        "staleChallenge": Row.of("attestation.signature", pyattest="signature"),
        "wrongChallenge": Row.of("attestation.signature", pyattest="signature"),
        "rawChallenge": Row.of("attestation.signature", pyattest="signature"),
        "singleHash": Row.of("attestation.signature", pyattest="signature"),
        "wrongAppId": Row.of("attestation.app_id", pyattest=SIGNATURE_ALONE, strict="app id"),
        "wrongKey": Row.of("attestation.signature", pyattest="signature"),
        "counterRollback": Row.of(None, pyattest=MEMORY),
        "replayedEvidence": Row.of(None, pyattest=MEMORY),
        "clonedDevice": Row.of("attestation.signature", pyattest="signature"),
        "truncated": Row.of("attestation.cbor", pyattest="malformed", strict="malformed"),
        "trailingBytes": Row.of("attestation.cbor", pyattest=SIGNATURE_ALONE, strict="canonical"),
    },
    CHAIN: {
        "wrongRoot": Row.of("attestation.chain.root", webauthn="not a known root",
                            cryptography="signature does not match", openssl="unable to get local issuer"),
        "leafAsIssuer": Row.of("attestation.chain.ca", webauthn=BAD_PATH, cryptography="no basicConstraints",
                               openssl="error 18 at 0 depth"),
        "expiredLeaf": Row.of("attestation.chain.validity", webauthn=BAD_PATH,
                              cryptography="not valid at validation time", openssl="certificate has expired"),
        "staleChallenge": Row.of("attestation.nonce", webauthn=BOUND, strict="binding"),
        "wrongChallenge": Row.of("attestation.nonce", webauthn=BOUND, strict="binding"),
        "rawChallenge": Row.of("attestation.nonce", webauthn=BOUND, strict="binding"),
        "wrongAppId": Row.of("attestation.package", webauthn=NO_JUDGEMENT, strict="package"),
        "wrongKey": Row.of("attestation.key", webauthn="Could not verify attestation statement", strict="key"),
        "replayedEvidence": Row.of(None, webauthn=MEMORY),
        "clonedDevice": Row.of("attestation.key", webauthn="Could not verify attestation statement", strict="key"),
        # An error of its own: it wants an origin in the hardware's list, which is empty.
        "softwareLevel": Row.of("attestation.level", webauthn="PyAsn1Error", strict="level"),
        "unlockedBoot": Row.of("attestation.boot.locked", webauthn=NO_JUDGEMENT, strict="unlocked"),
        "unverifiedBoot": Row.of("attestation.boot.state", webauthn=NO_JUDGEMENT, strict="boot"),
        "wrongCertDigest": Row.of("attestation.certificate_digest", webauthn=NO_JUDGEMENT, strict="certificate digest"),
        "truncated": Row.of("attestation.chain.certificate", webauthn="Could not prepare leaf cert",
                            cryptography="certificate", openssl="Could not read certificate", strict="leaf"),
        "trailingBytes": Row.of("attestation.chain.certificate", webauthn=BER, cryptography="ExtraData", openssl=BER,
                                strict="leaf"),
    },
    CLASSIC: {
        "staleChallenge": Row.of("attestation.nonce", pyattest=NONCE, strict="binding"),
        "wrongChallenge": Row.of("attestation.nonce", pyattest=NONCE, strict="binding"),
        "rawChallenge": Row.of("attestation.nonce", pyattest=NONCE, strict="binding"),
        "wrongAppId": Row.of("attestation.package", pyattest="InvalidAppId", strict="package"),
        "wrongEnvironment": Row.of("attestation.request_package", pyattest="InvalidAppId", strict="request package"),
        "wrongKey": Row.of("attestation.token.signature", pyattest="PyAttestException", joserfc="signature",
                           jwcrypto="signature", strict="signature"),
        "replayedEvidence": Row.of(None, pyattest=MEMORY),
        "clonedDevice": Row.of("attestation.nonce", pyattest=NONCE, strict="binding"),
        "unrecognizedVersion": Row.of("attestation.app_verdict", pyattest="InvalidAppIntegrity", strict="app verdict"),
        "noDeviceIntegrity": Row.of("attestation.device_verdict", pyattest="InvalidDeviceIntegrity",
                                    strict="device verdict"),
        "wrongCertDigest": Row.of("attestation.certificate_digest", strict="certificate digest",
                                  pyattest=lax("it compares digests only where it is told some")),
        "truncated": Row.of("attestation.token.encryption", pyattest="PyAttestException", joserfc="encryption",
                            jwcrypto="encryption", strict="encryption"),
        "trailingBytes": Row.of("attestation.token.encryption", pyattest="PyAttestException", joserfc="encryption",
                                jwcrypto="encryption", strict="encryption"),
    },
}
# A standard token differs in one member, and pyattest does not know it.
TABLE[STANDARD] = {
    defect: Row(row.rule, {name: said for name, said in row.judges.items() if name != "pyattest"})
    for defect, row in TABLE[CLASSIC].items()}
CASES = [(kind, defect) for kind in FORMATS for defect in TABLE[kind]]
DOCUMENT = Path(__file__).parents[2] / "docs" / "attestation.md"
SHORT = {"AA": [ATTESTATION], "AS": [ASSERTION], "AK": [CHAIN], "PI": [CLASSIC, STANDARD], "all": FORMATS}


@pytest.fixture(scope="module")
def handset(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handset]:
    handset = Handset.new(Understudy(binary, tmp_path_factory.mktemp("handset") / "state"))
    handset.attest_key()
    yield handset


@pytest.mark.parametrize("kind", FORMATS)
def test_genuine_evidence_passes_every_judge_and_ours(handset: Handset, kind: str) -> None:
    question = handset.question()
    evidence = handset.evidence(kind, question)
    assert {name: verdict(judge, handset, evidence, question) for name, judge in PANELS[kind].items()} == dict.fromkeys(
        PANELS[kind])
    ran = handset.verify(evidence, question)
    assert (ran.code, ran.document["holds"]) == (0, True)


@pytest.mark.parametrize(("kind", "defect"), CASES, ids=[f"{kind}-{defect}" for kind, defect in CASES])
def test_each_judge_says_of_a_defect_what_the_table_says(handset: Handset, kind: str, defect: str) -> None:
    question = handset.question()
    if defect in ("replayedEvidence", "counterRollback"):
        handset.evidence(kind, question)
    evidence = handset.evidence(kind, question, "--defect", defect)
    row = TABLE[kind][defect]
    for name, judge in PANELS[kind].items():
        expected, said = row.judges.get(name, UNASKED.get(name)), verdict(judge, handset, evidence, question)
        if isinstance(expected, lax):
            assert said is None, f"{name} is lax no longer ({expected.why}): {said}"
        else:
            assert expected is not None and said is not None and expected in said, (name, expected, said)
    ran = handset.verify(evidence, question)
    faults = [field["rule"] for field in ran.document["fields"] if field["verdict"] == "fault"]
    assert ran.code == (1 if row.rule else 0)
    assert row.rule in faults if row.rule else faults == []


@pytest.mark.parametrize(("kind", "defect"), CASES, ids=[f"{kind}-{defect}" for kind, defect in CASES])
def test_somebody_sees_each_defect_or_a_memory_is_what_it_takes(kind: str, defect: str) -> None:
    row = TABLE[kind][defect]
    assert row.judges.keys() <= PANELS[kind].keys() and PANELS[kind].keys() - row.judges.keys() <= UNASKED.keys()
    blind = all(isinstance(said, lax) for said in row.judges.values())
    assert blind == (row.rule is None)


def test_the_table_has_what_the_page_says_there_is_and_the_rest_is_refused_by_name(handset: Handset) -> None:
    page = DOCUMENT.read_text(encoding="utf-8").split("## What can be wrong on purpose")[1].split("\n## ")[0]
    documented: set[tuple[str, str]] = set()
    defects: set[str] = set()
    for names, where in re.findall(r"^\| (`.+?`) \| ([A-Za-z ]+) \|", page, re.MULTILINE):
        named = re.findall(r"`(\w+)`", names)
        defects.update(named)
        documented |= {(kind, name) for short in where.split() for kind in SHORT[short] for name in named}
    assert documented == set(CASES)
    for kind, defect in sorted({(kind, defect) for kind in FORMATS for defect in defects} - documented):
        ran = handset.attest(kind, handset.question(), "--defect", defect)
        assert ran.code != 0 and ran.document["error"]["code"] == "attest.defect.not_applicable", (kind, defect, ran)
