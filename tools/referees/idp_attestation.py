"""App attestation at the Python identity provider: wire page, section 14. Other people's verifiers do the judging."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import evidence_judges as judges
from evidence_judges import AttestedKey, NotGenuine
from idp_proofs import Malformed, decode, digest, encode
from idp_records import Tenant, fresh
from idp_rules import Body, Place, Refusal

CHALLENGE_LIFETIME = 300
MODES = ("off", "audit", "enforce")


@dataclass
class Attesting:
    """What a tenant expects of its app, whom it trusts, and what it has seen."""

    mode: str = "off"
    app_id: str = "UNDERSTUDY.test.understudy.app"
    package: str = "test.understudy.app"
    certificate_digest: str = "5a" * 32
    production: bool = True
    apple_roots: list[str] = field(default_factory=list)
    android_roots: list[str] = field(default_factory=list)
    play_decryption_key: str = ""
    play_verification_key: str = ""
    attesters: list[dict[str, Any]] = field(default_factory=list)
    challenges: dict[str, int] = field(default_factory=dict)
    keys: dict[bytes, AttestedKey] = field(default_factory=dict)
    counters: dict[bytes, int] = field(default_factory=dict)
    # Whose a key is: the DPoP key of the start it first came with.
    owners: dict[bytes, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    # A word for everything that was looked at: the format where it held, the broken rule where not.
    verdicts: list[str] = field(default_factory=list)


def of(tenant: Tenant) -> Attesting:
    if tenant.attesting is None:
        tenant.attesting = Attesting()
    return tenant.attesting


def configure(tenant: Tenant, body: Body) -> Body:
    """`PUT /manage/tenants/{t}/attestation`; and what was seen, for `GET`."""
    attesting = of(tenant)
    for name in body:
        if name not in ("mode", "app_id", "package", "certificate_digest", "production", "apple_roots", "android_roots",
                        "play_decryption_key", "play_verification_key", "attesters"):
            raise Refusal(422, "unknown_field", name)
        setattr(attesting, name, body[name])
    if attesting.mode not in MODES:
        raise Refusal(422, "mode", attesting.mode)
    return {"mode": attesting.mode, "verdicts": attesting.verdicts}


def new_challenge(place: Place) -> str:
    challenge = fresh()
    of(place.tenant).challenges[challenge] = place.now + CHALLENGE_LIFETIME
    return challenge


def look_at_start(place: Place, form: dict[str, str], jkt: str) -> None:
    attesting = of(place.tenant)
    if attesting.mode == "off":
        return
    evidence: Any = None
    if "attestation" in form:
        try:
            evidence = json.loads(decode(form["attestation"]))
        except (Malformed, ValueError):
            evidence = {}
    _look(place, evidence, ["sensecrypt start", form["client_id"], form["code_challenge"], jkt], jkt)


def look_at_enrolment(place: Place, body: Body, kid: str) -> None:
    if of(place.tenant).mode != "off":
        _look(place, body.get("attestation"), ["sensecrypt enroll", kid], kid)


def _look(place: Place, evidence: Any, lines: list[str], thumbprint: str) -> None:
    attesting = of(place.tenant)
    try:
        if evidence is None:
            raise NotGenuine("none")
        attesting.verdicts.append(_judged(place, attesting, evidence, lines, thumbprint))
    except NotGenuine as verdict:
        attesting.verdicts.append(verdict.rule)
        if attesting.mode == "enforce":
            code = {"none": "attestation_required", "challenge": "use_attestation_challenge"}
            raise Refusal(400, code.get(verdict.rule, "attestation_failed"), verdict.rule) from verdict


def _judged(place: Place, attesting: Attesting, evidence: Any, lines: list[str], thumbprint: str) -> str:
    challenge = evidence.get("challenge")
    if attesting.challenges.get(challenge, 0) <= place.now:
        raise NotGenuine("challenge")
    data = "\n".join([lines[0], challenge, *lines[1:]]).encode()
    once = digest(json.dumps(evidence, sort_keys=True).encode())
    if once in attesting.seen:
        raise NotGenuine("replayed")
    _owned(attesting, evidence, lines, thumbprint)
    match evidence.get("format"):
        case "apple-appattest": _app_attestation(attesting, evidence, data)
        case "apple-appattest-assertion": _app_assertion(attesting, evidence, data)
        case "android-key": _android_key(attesting, evidence, data, thumbprint)
        case "play-integrity-classic" | "play-integrity": _play(attesting, evidence, data)
        case other: raise NotGenuine("format", other)
    attesting.seen.add(once)
    if "key_id" in evidence and lines[0] == "sensecrypt start":
        attesting.owners.setdefault(base64.standard_b64decode(evidence["key_id"]), thumbprint)
    return str(evidence["format"])


def _owned(attesting: Attesting, evidence: Any, lines: list[str], thumbprint: str) -> None:
    """An App Attest key belongs to the install whose start it first came with."""
    if "key_id" in evidence and lines[0] == "sensecrypt start":
        key_id = base64.standard_b64decode(evidence["key_id"])
        if attesting.owners.get(key_id, thumbprint) != thumbprint:
            raise NotGenuine("install")


def _app_attestation(attesting: Attesting, evidence: Any, data: bytes) -> None:
    key_id, raw = base64.standard_b64decode(evidence["key_id"]), decode(evidence["attestation"])
    judges.strict_app_attestation(raw, key_id)
    attesting.keys[key_id] = judges.app_attestation(
        raw, key_id, data, attesting.app_id, attesting.apple_roots[0].encode(), attesting.production)
    attesting.counters[key_id] = 0


def _app_assertion(attesting: Attesting, evidence: Any, data: bytes) -> None:
    key_id = base64.standard_b64decode(evidence["key_id"])
    if key_id not in attesting.keys:
        raise NotGenuine("unknown key")
    raw = decode(evidence["assertion"])
    counter = judges.app_assertion(raw, data, attesting.app_id, attesting.keys[key_id])
    judges.strict_app_assertion(raw, attesting.app_id)
    if counter <= attesting.counters[key_id]:
        raise NotGenuine("counter", counter)
    attesting.counters[key_id] = counter


def _android_key(attesting: Attesting, evidence: Any, data: bytes, thumbprint: str) -> None:
    x5c = [base64.standard_b64decode(each) for each in evidence["x5c"]]
    judges.android_chain(x5c, [each.encode() for each in attesting.android_roots])
    key = judges.key_attestation(x5c[0]).key
    numbers = key.public_numbers()
    members = {"crv": "P-256", "kty": "EC", "x": encode(numbers.x.to_bytes(32)), "y": encode(numbers.y.to_bytes(32))}
    if digest(json.dumps(members, separators=(",", ":")).encode()) != thumbprint:
        raise NotGenuine("key")
    judges.strict_android_key(x5c, hashlib.sha256(data).digest(), judges.point_of(key), attesting.package,
                              bytes.fromhex(attesting.certificate_digest))


def _play(attesting: Attesting, evidence: Any, data: bytes) -> None:
    bound, token = hashlib.sha256(data).digest(), evidence["token"]
    keys = attesting.play_decryption_key, attesting.play_verification_key
    if evidence["format"] == "play-integrity-classic":
        judges.play_classic(token, bound, attesting.package, *keys)
        binding = {"nonce": base64.urlsafe_b64encode(bound).decode()}
    else:
        binding = {"requestHash": encode(bound)}
    judges.strict_play(judges.play_payload(token, *keys), binding, attesting.package,
                       bytes.fromhex(attesting.certificate_digest))
