"""Who judges which format of evidence, each by a name."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import cbor2

import chain_judges as chains
import evidence_judges as judges
from evidence import (APP_ID, ASSERTION, ATTESTATION, CHAIN, CLASSIC, DIGEST, PACKAGE, STANDARD, Evidence, Handset,
                      Question, chain_of)
from evidence_judges import NotGenuine
from two_libraries import unb64u
from webauthn_judge import Registration

Judge = Callable[[Handset, Evidence, Question], Any]


def key_id_of(evidence: Evidence) -> bytes:
    return base64.standard_b64decode(evidence["key_id"])


def apple_chain(evidence: Evidence) -> list[bytes]:
    try:
        return cbor2.loads(unb64u(evidence["attestation"]))["attStmt"]["x5c"]
    except judges.MALFORMED as error:
        raise NotGenuine("malformed", error) from error


def _attestation(handset: Handset, evidence: Evidence, question: Question) -> None:
    judges.app_attestation(unb64u(evidence["attestation"]), key_id_of(evidence), question.client_data, APP_ID,
                           handset.roots.apple)


def _assertion(handset: Handset, evidence: Evidence, question: Question) -> None:
    judges.app_assertion(unb64u(evidence["assertion"]), question.client_data, APP_ID, handset.attest_key())


def _strict_chain(handset: Handset, evidence: Evidence, question: Question) -> None:
    judges.strict_android_key(chain_of(evidence), question.bound, judges.point_of(handset.key.public_key()), PACKAGE,
                              DIGEST)


def _joserfc(handset: Handset, evidence: Evidence, _: Question) -> dict[str, Any]:
    return judges.play_payload(evidence["token"], *handset.roots.play)


def _jwcrypto(handset: Handset, evidence: Evidence, _: Question) -> dict[str, Any]:
    return judges.play_payload_again(evidence["token"], *handset.roots.play)


def _strict_play(handset: Handset, evidence: Evidence, question: Question) -> None:
    binding = question.play_binding(evidence["format"])
    judges.strict_play(_joserfc(handset, evidence, question), binding, PACKAGE, DIGEST)


PANELS: dict[str, dict[str, Judge]] = {
    ATTESTATION: {
        "pyattest": _attestation,
        "cryptography": lambda handset, it, _: chains.cryptography_path(apple_chain(it), handset.roots.apple),
        "openssl": lambda handset, it, _: chains.openssl_path(apple_chain(it), handset.roots.apple),
        "strict": lambda _, it, __: judges.strict_app_attestation(unb64u(it["attestation"]), key_id_of(it)),
    },
    ASSERTION: {
        "pyattest": _assertion,
        "strict": lambda _, it, __: judges.strict_app_assertion(unb64u(it["assertion"]), APP_ID),
    },
    CHAIN: {
        "webauthn": lambda handset, it, question: Registration(
            chain_of(it), handset.key, question.client_data).judge_format(handset.roots.android),
        "cryptography": lambda handset, it, _: chains.cryptography_path(chain_of(it)[:-1], handset.roots.android),
        "openssl": lambda handset, it, _: chains.openssl_path(chain_of(it)[:-1], handset.roots.android),
        "strict": _strict_chain,
    },
    CLASSIC: {
        "pyattest": lambda handset, it, question: judges.play_classic(
            it["token"], question.bound, PACKAGE, *handset.roots.play),
        "joserfc": _joserfc, "jwcrypto": _jwcrypto, "strict": _strict_play,
    },
    STANDARD: {"joserfc": _joserfc, "jwcrypto": _jwcrypto, "strict": _strict_play},
}


def verdict(judge: Judge, handset: Handset, evidence: Evidence, question: Question) -> str | None:
    """What a judge says against a piece of evidence; nothing where it takes it."""
    try:
        judge(handset, evidence, question)
    except NotGenuine as no:
        return str(no)
    return None
