"""The judge of transcripts agrees with a good run, and finds the fault in every spoilt one."""

from __future__ import annotations

import base64
import copy
import io
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from phone import Phone
from phone_flow import Failed, Parked
from phone_wire import Connections, dpop_proof
from providers import PythonProvider
from transcript import read_transcript
from two_libraries import b64u, take_apart, unb64u
from verify_run import Verifier

Entries = list[dict[str, Any]]


def record(provider: PythonProvider, act: Callable[[Phone], None]) -> Entries:
    """The transcript of a phone that enrols and then does `act`."""
    trace = io.StringIO()
    phone = Phone(Connections(trace=trace))
    assert phone.enrol(provider.issuer, provider.new_user()["ticket"]).status == 201
    with suppress(Failed, Parked):
        act(phone)
    return [json.loads(line) for line in trace.getvalue().splitlines()]


def whole_run(provider: PythonProvider) -> Callable[[Phone], None]:
    def act(phone: Phone) -> None:
        session = phone.sign_in(provider.config("openid", "offline_access"), ("mismatch", "match"))
        phone.call_api(session, f"{provider.resource}/accounts?page=2")
        phone.call_api(phone.refresh(session), f"{provider.resource}/transfers", "POST", b"{}")
        phone.sign_out(session)

    return act


def judge(entries: Entries) -> dict[str, Any]:
    return Verifier().judge(read_transcript(json.dumps(entry) for entry in entries))


def rules(entries: Entries) -> set[str]:
    return {finding["rule"] for finding in judge(entries)["findings"]}


def test_a_good_run_is_agreed_with(python_idp: PythonProvider) -> None:
    verdict = judge(record(python_idp, whole_run(python_idp)))
    assert verdict["findings"] == [] and verdict["result"] == "agreed"
    checked = verdict["checked"]
    assert (checked["mismatch_reports"], checked["access_tokens"], checked["api_calls"]) == (1, 2, 2)


@pytest.mark.parametrize("call", ["start", "face-token", "attempt", "completion", "token"])
def test_a_run_with_a_lost_answer_is_agreed_with(python_idp: PythonProvider, call: str) -> None:
    python_idp.fail(call, "lose_reply")
    assert judge(record(python_idp, whole_run(python_idp)))["findings"] == []


def test_a_run_that_used_a_throwaway_key_is_agreed_with(python_idp: PythonProvider) -> None:
    def act(phone: Phone) -> None:
        with pytest.raises(Failed):
            phone.sign_in(python_idp.config(login_hint="nobody@example.test"))
        whole_run(python_idp)(phone)

    verdict = judge(record(python_idp, act))
    assert verdict["findings"] == [] and verdict["checked"]["throwaway_signatures"] == 1


def test_an_empty_transcript_is_refused() -> None:
    assert judge([])["result"] == "refused"


# Spoilt after the fact: the signatures stay, something around them changes.

def requests_to(entries: Entries, end: str) -> Entries:
    return [entry for entry in entries if entry["kind"] == "request" and entry["url"].split("?")[0].endswith(end)]


def proof_of(entry: dict[str, Any]) -> list[str]:
    return next(header for header in entry["headers"] if header[0] == "DPoP")


def change_form(entry: dict[str, Any], name: str, value: str) -> None:
    form = dict(parse_qsl(unb64u(entry["body_b64u"]).decode())) | {name: value}
    entry["body_b64u"] = b64u(urlencode(form).encode())


def der(compact: str) -> str:
    raw = take_apart(compact).signature
    halves = (int.from_bytes(half, "big") for half in (raw[:32], raw[32:]))
    return compact.rpartition(".")[0] + "." + b64u(encode_dss_signature(*halves))


def padded(compact: str) -> str:
    return compact.rpartition(".")[0] + "." + base64.urlsafe_b64encode(take_apart(compact).signature).decode()


def with_der_proof(entries: Entries) -> None:
    header = proof_of(requests_to(entries, "/token")[0])
    header[1] = der(header[1])


def with_padded_proof(entries: Entries) -> None:
    header = proof_of(requests_to(entries, "/token")[0])
    header[1] = padded(header[1])


def with_two_proofs(entries: Entries) -> None:
    request = requests_to(entries, "/token")[0]
    request["headers"].append(list(proof_of(request)))


def without_proof(entries: Entries) -> None:
    request = requests_to(entries, "/challenge")[0]
    request["headers"].remove(proof_of(request))


def with_the_proof_of_another_call(entries: Entries) -> None:
    proof_of(requests_to(entries, "/token")[0])[1] = proof_of(requests_to(entries, "/challenge")[0])[1]


def with_a_proof_used_twice(entries: Entries) -> None:
    start, completion = requests_to(entries, "/challenge")
    proof_of(completion)[1] = proof_of(start)[1]
    # The nonce rule would speak first; take away what it compares with.
    for entry in entries:
        entry["headers"] = [header for header in entry["headers"] if header[0] != "DPoP-Nonce"]


def with_another_method(entries: Entries) -> None:
    requests_to(entries, "/accounts")[0]["method"] = "PUT"


def with_another_verifier(entries: Entries) -> None:
    change_form(requests_to(entries, "/oauth2/token")[0], "code_verifier", "x" * 43)


def with_a_redirect_uri(entries: Entries) -> None:
    change_form(requests_to(entries, "/oauth2/token")[0], "redirect_uri", "https://app.example/link")


def with_another_face_token(entries: Entries) -> None:
    change_form(requests_to(entries, "/challenge")[1], "face_token", "AAAA")


def with_a_proof_at_the_ceremony(entries: Entries) -> None:
    request = requests_to(entries, "/face-token")[0]
    request["headers"].append(proof_of(requests_to(entries, "/challenge")[0]))


def with_a_bearer_call(entries: Entries) -> None:
    for header in requests_to(entries, "/accounts")[0]["headers"]:
        if header[0] == "Authorization":
            header[1] = header[1].replace("DPoP ", "Bearer ")


def with_a_stale_nonce(entries: Entries) -> None:
    responses = [entry for entry in entries if entry["kind"] == "response"]
    for entry in responses:
        for header in entry["headers"]:
            if header[0] == "DPoP-Nonce":
                header[1] += "x"


def with_keys_of_another(entries: Entries) -> None:
    for request, response in zip(entries, entries[1:]):
        if request["kind"] == "request" and request["url"].endswith("/jwks.json"):
            keys = json.loads(unb64u(response["body_b64u"]))
            keys["keys"][0]["x"], keys["keys"][0]["y"] = "8" * 42 + "4", "8" * 42 + "4"
            response["body_b64u"] = b64u(json.dumps(keys).encode())


def with_the_server_clock_an_hour_off(entries: Entries) -> None:
    for entry in entries:
        entry["headers"] = [[name, "Mon, 01 Jan 2024 00:00:00 GMT" if name == "Date" else value]
                            for name, value in entry["headers"]]


@pytest.mark.parametrize(("spoil", "rule"), [
    (with_der_proof, "jws.signature_size"),
    (with_padded_proof, "base64url.form"),
    (with_two_proofs, "dpop.headers"),
    (without_proof, "dpop.headers"),
    (with_the_proof_of_another_call, "dpop.htu"),
    (with_a_proof_used_twice, "dpop.jti_repeated"),
    (with_another_method, "dpop.htm"),
    (with_another_verifier, "token.code_verifier"),
    (with_a_redirect_uri, "token.parameters"),
    (with_another_face_token, "completion.fth"),
    (with_a_proof_at_the_ceremony, "ceremony.dpop"),
    (with_a_bearer_call, "api.scheme"),
    (with_a_stale_nonce, "dpop.nonce"),
    (with_keys_of_another, "jws.signature"),
    (with_the_server_clock_an_hour_off, "dpop.iat"),
])
def test_a_spoilt_transcript_is_refused(python_idp: PythonProvider, spoil: Callable[[Entries], None],
                                        rule: str) -> None:
    entries = record(python_idp, whole_run(python_idp))
    assert judge(copy.deepcopy(entries))["findings"] == []
    spoil(entries)
    assert rule in rules(entries)


# Spoilt by the phone: the signature is good, what it says is not.

@pytest.mark.parametrize(("claim", "value", "rule"), [
    ("htu", "https://other.test/x", "dpop.htu"),
    ("htm", "post", "dpop.htm"),
    ("iat", 1.5, "dpop.iat"),
    ("iat", 1_000_000_000, "dpop.iat"),
    ("jti", "short", "dpop.jti_size"),
    ("nonce", "made-up", "dpop.nonce"),
    ("ath", "AAAA", "dpop.ath"),
])
def test_a_proof_that_says_something_else_is_found(python_idp: PythonProvider, claim: str, value: object,
                                                   rule: str) -> None:
    def act(phone: Phone) -> None:
        honest = phone.client.proof

        def proof(*of: Any) -> str:
            token = take_apart(honest(*of))
            return dpop_proof(phone.client.key, token.claims | {claim: value})

        phone.client.proof = proof  # type: ignore[method-assign]
        phone.sign_in(python_idp.config())

    assert rule in rules(record(python_idp, act))


@pytest.mark.parametrize(("claim", "value", "rule"), [
    ("aud", "https://other.test", "ceremony.aud"),
    ("ash", "AAAA", "ceremony.ash"),
    ("chl", "AAAA", "ceremony.chl"),
    ("jkt", "AAAA", "ceremony.jkt"),
    ("gen", 7, "completion.gen"),
    ("fth", "AAAA", "completion.fth"),
    ("jti", "short", "device.jti"),
    ("n", 2, "attempt.n"),
])
def test_a_ceremony_jws_that_says_something_else_is_found(python_idp: PythonProvider, claim: str, value: object,
                                                          rule: str) -> None:
    def act(phone: Phone) -> None:
        flow = phone.flow(python_idp.config())
        honest = flow.ceremony_jws
        flow.start(), flow.fetch_face_token()
        flow.ceremony_jws = lambda act, **claims: honest(act, **claims | {claim: value})  # type: ignore
        flow.ceremony_call("attempt", flow.mismatch_jws())
        flow.rotate(b"t")
        flow.complete()

    assert rule in rules(record(python_idp, act))


@pytest.mark.parametrize(("patch", "rule"), [
    ({"id_token": {"nonce": "other"}}, "id_token.nonce"),
    ({"id_token": {"aud": "other"}}, "id_token.aud"),
    ({"id_token": {"sub": "other"}}, "id_token.sub"),
    ({"id_token_alg": "none"}, "base64url.form"),
    ({"id_token_alg": "HS256"}, "jws.alg"),
    ({"set": {"token_type": "Bearer"}}, "token.type"),
    ({"set": {"expires_in": 9}}, "access_token.lifetime"),
])
def test_a_provider_that_answers_something_else_is_found(python_idp: PythonProvider, patch: dict[str, Any],
                                                         rule: str) -> None:
    python_idp.fail("token", "patch", times=4, **patch)
    entries = record(python_idp, lambda phone: phone.jwks(python_idp.issuer) and phone.sign_in(python_idp.config()))
    assert rule in rules(entries)
