"""Evidence of the program's phones: made by `understudy attest`, and what a server knows when it comes in."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, derive_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import evidence_judges as judges
from evidence_judges import AttestedKey
from program import Ran, Understudy
from two_libraries import b64u, unb64u

APP_ID, PACKAGE, DIGEST = "UNDERSTUDY.test.understudy.app", "test.understudy.app", b"\x5a" * 32
ATTESTATION, ASSERTION, CHAIN = "apple-appattest", "apple-appattest-assertion", "android-key"
CLASSIC, STANDARD = "play-integrity-classic", "play-integrity"
FORMATS = (ATTESTATION, ASSERTION, CHAIN, CLASSIC, STANDARD)
Evidence = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """What a server asked: the challenge, the client data evidence is bound to, and how the program is told."""

    challenge: str
    client_data: bytes
    options: tuple[str, ...] = ()
    hashed: bool = True

    @staticmethod
    def raw(challenge: str) -> Question:
        return Question(challenge, challenge.encode(), hashed=False)

    @staticmethod
    def start(jkt: str) -> Question:
        challenge, code_challenge = secrets.token_urlsafe(32), b64u(secrets.token_bytes(32))
        data = "\n".join(["sensecrypt start", challenge, "app_demo", code_challenge, jkt]).encode()
        options = ("--kind", "start", "--client", "app_demo", "--code-challenge", code_challenge)
        return Question(challenge, data, options)

    @property
    def bound(self) -> bytes:
        """Android's `attestationChallenge`, and what Play Integrity's texts are made of."""
        return hashlib.sha256(self.client_data).digest() if self.hashed else self.client_data

    def play_binding(self, kind: str) -> dict[str, str]:
        if not self.hashed:
            return {"nonce" if kind == CLASSIC else "requestHash": self.challenge}
        return ({"nonce": base64.urlsafe_b64encode(self.bound).decode()} if kind == CLASSIC
                else {"requestHash": b64u(self.bound)})


@dataclass(frozen=True)
class Roots:
    """What `roots export` wrote."""

    folder: Path

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    @property
    def apple(self) -> bytes:
        return self.read("app-attest-root.pem")

    @property
    def receipt(self) -> bytes:
        return self.read("app-attest-receipt-root.pem")

    @property
    def android(self) -> bytes:
        return self.read("android-root.pem")

    @property
    def play(self) -> tuple[str, str]:
        decryption, verification = (self.read(f"play-{name}-key.txt") for name in ("decryption", "verification"))
        return decryption.decode().strip(), verification.decode().strip()

    @property
    def attesters(self) -> list[dict[str, Any]]:
        return json.loads(self.read("attesters.json"))["keys"]


@dataclass
class Handset:
    """A phone of the program that is asked for evidence, and what a server has learnt about it."""

    program: Understudy
    roots: Roots
    jkt: str
    key: EllipticCurvePrivateKey
    name: str = "handset"
    attested: AttestedKey | None = field(default=None)

    @staticmethod
    def new(program: Understudy) -> Handset:
        made = program.run("device", "create", "handset", "--platform", "android")
        assert made.code == 0, made
        folder, world = program.state.parent / "roots", program.state.parent / "world.json"
        assert program.run("roots", "export", "--dir", str(folder)).code == 0
        assert program.run("export", str(world)).code == 0
        table = json.loads(world.read_text(encoding="utf-8"))["tables"]["keys"]
        rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        (scalar,) = [row["scalar"]["base64url"] for row in rows if row["purpose"] == "dpop"]
        key = derive_private_key(int.from_bytes(unb64u(scalar)), SECP256R1())
        return Handset(program, Roots(folder), made.document["install_jkt"], key)

    def question(self) -> Question:
        return Question.start(self.jkt)

    def attest(self, kind: str, question: Question, *more: str) -> Ran:
        return self.program.run("attest", "--device", self.name, "--format", kind, f"--challenge={question.challenge}",
                                *question.options, *more)

    def evidence(self, kind: str, question: Question, *more: str) -> Evidence:
        ran = self.attest(kind, question, *more)
        assert ran.code == 0, ran
        return ran.document["evidence"]

    def attest_key(self) -> AttestedKey:
        """The App Attest key, vouched for as a server wants it before it takes assertions."""
        if self.attested is None:
            question = self.question()
            evidence = self.evidence(ATTESTATION, question)
            self.attested = judges.app_attestation(
                unb64u(evidence["attestation"]), base64.standard_b64decode(evidence["key_id"]), question.client_data,
                APP_ID, self.roots.apple)
        return self.attested

    def verify(self, evidence: Evidence, question: Question) -> Ran:
        """`understudy attest verify`, told all that a server knows."""
        file = self.program.state.parent / "evidence.json"
        file.write_text(json.dumps(evidence), encoding="utf-8")
        options = ["--challenge", question.challenge, *question.options]
        options += ["--jkt", self.jkt] if question.hashed else []
        root = "android-root.pem" if evidence["format"] == CHAIN else "app-attest-root.pem"
        options += ["--roots", str(self.roots.folder / root), "--environment", "production",
                    "--app-id", APP_ID, "--app-id", PACKAGE, "--certificate-digest", DIGEST.hex()]
        for name in ("play-decryption-key", "play-verification-key"):
            options += [f"--{name}", f"@{self.roots.folder / name}.txt"]
        if evidence["format"] == ASSERTION:
            spki = self.attest_key().key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
            options += ["--attested-key", base64.standard_b64encode(spki).decode()]
        return self.program.run("attest", "verify", str(file), "--format", evidence["format"], *options)


def chain_of(evidence: Evidence) -> list[bytes]:
    return [base64.standard_b64decode(each) for each in evidence["x5c"]]
