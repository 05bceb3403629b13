"""The understudy program as the phone, against the Python provider: what it sends, and what it makes of answers."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest

from enrolled import DEVICE, SIGNED_IN, Enrolled
from phone import Phone, random_address
from phone_wire import Reply
from program import Understudy
from providers import PythonProvider
from two_libraries import JSONObject, b64u, take_apart, thumbprint, verify, verify_with_jwks

def form_of(entry: dict[str, Any]) -> dict[str, str]:
    return dict(parse_qsl(entry["body"], keep_blank_values=True))


def proof_claims(entry: dict[str, Any]) -> JSONObject:
    (proof,) = entry["dpop"]
    return verify(proof, take_apart(proof).header["jwk"]).claims


def is_revoked(idp: PythonProvider, access_token: str) -> bool:
    """Whether the API has stopped honouring a token; asked without a proof, which it would miss only later."""
    reply: Reply = Phone().connections.send("api", "GET", f"{idp.resource}/accounts",
                                            {"Authorization": f"DPoP {access_token}"})
    assert reply.status == 401
    return reply.error == "invalid_token"


# Signing in

def test_a_sign_in_gives_tokens_both_libraries_verify(device: Enrolled) -> None:
    ran = device.sign_in(scopes=("openid", "email", "offline_access"))
    assert ran.outcome == SIGNED_IN
    jwks = Phone().jwks(device.idp.issuer)
    session = ran.document["session"]
    access = verify_with_jwks(session["access_token"], jwks)
    assert access.header["typ"] == "at+jwt" and access.claims["sub"] == device.user["id"]
    proofs = device.idp.log("start", "completion", "token")
    thumbprints = {thumbprint(take_apart(entry["dpop"][0]).header["jwk"]) for entry in proofs}
    assert thumbprints == {access.claims["cnf"]["jkt"]}
    assert device.idp.calls() == ["start", "face-token", "completion", "token"]


def test_the_session_opens_the_api(device: Enrolled) -> None:
    assert device.sign_in().outcome == SIGNED_IN
    fetched = device.fetch("accounts")
    assert (fetched.code, fetched.document["status"]) == (0, 200)


def test_the_api_gets_its_own_nonce(device: Enrolled) -> None:
    device.idp.manage("PATCH", "tenants/acme/policy", {"nonce_at_resource": True})
    assert device.sign_in().outcome == SIGNED_IN
    assert device.fetch("accounts").document["status"] == 200
    first, second = device.idp.log("api")
    assert proof_claims(first)["jti"] != proof_claims(second)["jti"]


def test_two_mismatches_then_a_match(device: Enrolled) -> None:
    assert device.sign_in("--scan", "mismatch,mismatch,match").outcome == SIGNED_IN
    assert [entry["answer"]["attempts_left"] for entry in device.idp.log("attempt")] == [2, 1]


def test_the_third_mismatch_is_the_last(device: Enrolled) -> None:
    assert device.sign_in("--scan", "mismatch,mismatch,mismatch,match").outcome == (1, "failed", "faceMismatch")
    assert device.idp.calls() == ["start", "face-token", "attempt", "attempt", "attempt"]


def test_rs256_id_tokens_are_taken(device: Enrolled) -> None:
    device.idp.manage("PATCH", "tenants/acme/applications/app_demo", {"id_token_signed_response_alg": "RS256"})
    assert device.sign_in().outcome == SIGNED_IN


def test_an_address_and_a_mailed_code_enrol_too(understudy: Understudy, python_idp: PythonProvider) -> None:
    assert understudy.run("device", "create", DEVICE).code == 0
    address = random_address()
    by_mail = ("enrol", "--device", DEVICE, "--issuer", python_idp.issuer, "--email", address)
    assert understudy.run(*by_mail).code == 0
    (mail,) = python_idp.manage("GET", f"tenants/acme/inbox?address={address}")
    assert understudy.run(*by_mail, "--code", mail["code"]).code == 0
    ran = understudy.run("signin", "--device", DEVICE, "--issuer", python_idp.issuer, "--client", "app_demo")
    assert ran.outcome == SIGNED_IN


def test_the_same_commands_through_a_daemon(understudy: Understudy, python_idp: PythonProvider) -> None:
    with understudy.serve() as ready:
        device = Enrolled(understudy.through(ready), python_idp)
        assert device.sign_in("--scan", "mismatch,match").outcome == SIGNED_IN
        assert device.fetch("accounts").document["status"] == 200
    alone = understudy.run("fetch", "--device", DEVICE, f"{python_idp.resource}/accounts")
    assert alone.document["status"] == 200


def test_a_parked_sign_in_outlives_its_daemon(understudy: Understudy, python_idp: PythonProvider) -> None:
    with understudy.serve() as ready:
        device = Enrolled(understudy.through(ready), python_idp)
        python_idp.fail("completion", "lose_reply", times=2)
        parked = device.sign_in()
        assert parked.document["result"] == "parked"
    with understudy.serve() as ready:
        assert understudy.through(ready).run("flow", "retry", parked.document["flow"]).outcome == SIGNED_IN


# Outside libraries judge all that was sent

@pytest.mark.parametrize("scans", ["match", "mismatch,mismatch,match"])
def test_the_whole_traffic_is_agreed_with(device: Enrolled, scans: str) -> None:
    assert device.sign_in("--scan", scans, scopes=("openid", "offline_access")).outcome == SIGNED_IN
    assert device.fetch("accounts?page=2").document["status"] == 200
    verdict = device.idp.verdict()
    assert verdict["findings"] == [] and verdict["checked"]["device_signatures"] == 2 + scans.count("mismatch")


@pytest.mark.parametrize("call", ["start", "face-token", "completion", "token"])
def test_the_traffic_around_a_lost_answer_is_agreed_with(device: Enrolled, call: str) -> None:
    device.idp.fail(call, "lose_reply")
    assert device.sign_in().outcome == SIGNED_IN
    assert device.fetch("accounts").document["status"] == 200
    assert device.idp.verdict()["findings"] == []


# Not enrolled

def test_a_hint_without_a_key_makes_two_calls(device: Enrolled) -> None:
    ran = device.sign_in("--hint", "someone.else@example.test")
    assert ran.outcome == (1, "failed", "notEnrolled")
    assert [(entry["call"], entry["status"]) for entry in device.idp.log("start", "face-token")] == [
        ("start", 403), ("face-token", 403)]
    assert device.idp.calls() == ["start", "face-token"]


def test_a_phone_without_any_key_makes_no_call(understudy: Understudy, python_idp: PythonProvider) -> None:
    assert understudy.run("device", "create", DEVICE).code == 0
    ran = understudy.run("signin", "--device", DEVICE, "--issuer", python_idp.issuer, "--client", "app_demo")
    assert ran.outcome == (1, "failed", "notEnrolled")
    assert python_idp.calls() == []


def test_a_removed_device_is_not_enrolled(device: Enrolled) -> None:
    users = f"tenants/acme/users/{device.user['id']}"
    (known,) = device.idp.manage("GET", users)["devices"]
    device.idp.manage("DELETE", f"{users}/devices/{known['kid']}")
    assert device.sign_in().outcome == (1, "failed", "notEnrolled")


# Lost calls

@pytest.mark.parametrize("do", ["drop", "lose_reply"])
@pytest.mark.parametrize("call", ["start", "face-token", "completion", "token"])
def test_one_lost_call_costs_no_scan(device: Enrolled, call: str, do: str) -> None:
    device.idp.fail(call, do)
    assert device.sign_in("--scan", "match,cancel").outcome == SIGNED_IN
    assert len(device.idp.log(call)) == 2


@pytest.mark.parametrize("do", ["drop", "lose_reply"])
@pytest.mark.parametrize("call", ["start", "face-token"])
def test_a_call_before_the_scan_lost_twice_is_a_network_failure(device: Enrolled, call: str, do: str) -> None:
    device.idp.fail(call, do, times=2)
    assert device.sign_in().outcome == (1, "failed", "network")
    assert len(device.idp.log(call)) == 2


@pytest.mark.parametrize("do", ["drop", "lose_reply"])
def test_a_completion_lost_twice_parks_and_retry_sends_the_same_proof(device: Enrolled, do: str) -> None:
    device.idp.fail("completion", do, times=2)
    parked = device.sign_in()
    assert parked.code == 1 and parked.document["result"] == "parked"
    assert len(device.idp.log("completion")) == 2
    retried = device.program.run("flow", "retry", parked.document["flow"])
    assert retried.outcome == SIGNED_IN
    completions = device.idp.log("completion")
    forms = [form_of(entry) for entry in completions]
    assert all(form == forms[0] for form in forms)
    assert len({proof_claims(entry)["jti"] for entry in completions}) == len(completions)
    # The process that retries may have to ask for a nonce first.
    assert len([entry for entry in completions if entry["error"] != "use_dpop_nonce"]) == 3
    assert device.idp.log("attempt") == []
    assert device.fetch("accounts").document["status"] == 200


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_completion_refused_by_a_sick_server_parks_at_once(device: Enrolled, status: int) -> None:
    device.idp.fail("completion", "status", status=status)
    parked = device.sign_in()
    assert parked.code == 1 and parked.document["result"] == "parked"
    assert len(device.idp.log("completion")) == 1
    assert device.program.run("flow", "retry", parked.document["flow"]).outcome == SIGNED_IN


def test_a_lost_token_reply_is_replaced_and_its_grant_ended(device: Enrolled) -> None:
    device.idp.fail("token", "lose_reply")
    ran = device.sign_in()
    assert ran.outcome == SIGNED_IN
    assert device.idp.calls() == ["start", "face-token", "completion", "token", "completion", "token"]
    first, second = device.idp.log("token")
    assert form_of(first)["code"] != form_of(second)["code"]
    assert is_revoked(device.idp, first["answer"]["access_token"])
    assert not is_revoked(device.idp, ran.document["session"]["access_token"])
    assert device.fetch("accounts").document["status"] == 200


def test_a_token_reply_lost_three_times_parks_and_one_grant_is_left(device: Enrolled) -> None:
    device.idp.fail("token", "lose_reply", times=3)
    parked = device.sign_in()
    assert parked.code == 1 and parked.document["result"] == "parked"
    assert device.program.run("flow", "retry", parked.document["flow"]).outcome == SIGNED_IN
    tokens = [entry["answer"]["access_token"] for entry in device.idp.log("token")]
    assert [is_revoked(device.idp, token) for token in tokens] == [True, True, True, False]


# Nonces

@pytest.mark.parametrize("call", ["start", "completion", "token"])
def test_a_nonce_challenge_is_answered_once_with_a_new_proof(device: Enrolled, call: str) -> None:
    device.idp.fail(call, "status", status=400, body={"error": "use_dpop_nonce"})
    assert device.sign_in().outcome == SIGNED_IN
    first, second = device.idp.log(call)
    assert first["body"] == second["body"]
    assert proof_claims(first)["jti"] != proof_claims(second)["jti"]
    assert proof_claims(second)["nonce"]


def test_a_server_that_asks_for_nonces_for_ever_is_not_followed(device: Enrolled) -> None:
    device.idp.fail("start", "status", status=400, body={"error": "use_dpop_nonce"}, times=20)
    ran = device.sign_in()
    assert ran.outcome[:2] == (1, "failed")
    assert len(device.idp.log("start")) == 2


# Answers that make no sense, and refusals

@pytest.mark.parametrize("call", ["metadata", "start", "face-token"])
def test_a_web_page_in_place_of_an_answer_is_a_server_failure(understudy: Understudy, python_idp: PythonProvider,
                                                              call: str) -> None:
    device = Enrolled(understudy, python_idp)
    python_idp.fail(call, "html", times=20)
    assert device.sign_in().outcome in [(1, "failed", "server")] + ([SIGNED_IN] if call == "metadata" else [])


def test_a_web_page_at_the_metadata_address_enrols_nobody(understudy: Understudy, python_idp: PythonProvider) -> None:
    assert understudy.run("device", "create", DEVICE).code == 0
    python_idp.fail("metadata", "html", times=20)
    ran = understudy.run("enrol", "--device", DEVICE, "--issuer", python_idp.issuer,
                         "--ticket", python_idp.new_user()["ticket"])
    assert ran.code != 0 and python_idp.log("enroll") == []


def test_metadata_of_another_issuer_is_not_used(understudy: Understudy, python_idp: PythonProvider) -> None:
    assert understudy.run("device", "create", DEVICE).code == 0
    python_idp.fail("metadata", "patch", set={"issuer": f"{python_idp.origin}/globex"}, times=20)
    ran = understudy.run("enrol", "--device", DEVICE, "--issuer", python_idp.issuer,
                         "--ticket", python_idp.new_user()["ticket"])
    assert ran.code != 0 and python_idp.log("enroll") == []


def test_plain_http_to_another_host_is_refused_before_any_call(device: Enrolled) -> None:
    ran = device.program.run("--allow-host", "idp.example", "signin", "--device", DEVICE, "--issuer",
                             "http://idp.example/acme", "--client", "app_demo")
    assert ran.outcome == (1, "failed", "invalidConfig")


@pytest.mark.parametrize(("call", "fault", "reason"), [
    ("start", {"status": 429, "headers": {"Retry-After": "60"}, "body": {"error": "rate_limited"}}, "rateLimited"),
    ("start", {"status": 503}, "server"),
    ("start", {"status": 400, "body": {"error": "unauthorized_client"}}, "notAllowed"),
    ("start", {"status": 401, "body": {"error": "invalid_client"}}, "notAllowed"),
    ("face-token", {"status": 503}, "server"),
    ("face-token", {"status": 400, "body": {"error": "invalid_session"}}, "sessionExpired"),
    ("completion", {"status": 400, "body": {"error": "invalid_session"}}, "sessionExpired"),
    ("completion", {"status": 400, "body": {"error": "face_token_stale"}}, "faceTokenStale"),
    ("completion", {"status": 403, "body": {"error": "access_denied"}}, "notAllowed"),
    ("completion", {"status": 400, "body": {"error": "unauthorized_client"}}, "notAllowed"),
])
def test_a_refusal_has_its_reason(device: Enrolled, call: str, fault: dict[str, Any], reason: str) -> None:
    device.idp.fail(call, "status", times=9, **fault)
    assert device.sign_in().outcome == (1, "failed", reason)


@pytest.mark.parametrize("patch", [
    {"id_token": {"nonce": "other"}}, {"id_token": {"nonce": None}}, {"id_token": {"aud": "other"}},
    {"id_token": {"aud": ["app_demo", "other"]}}, {"id_token": {"aud": ["app_demo", "other"], "azp": "other"}},
    {"id_token": {"iss": "https://other.test"}}, {"id_token": {"exp": 1}}, {"id_token": {"iat": None}},
    {"id_token_alg": "none"}, {"id_token_alg": "HS256"}, {"set": {"token_type": "Bearer"}},
])
def test_a_bad_token_answer_leaves_no_session(device: Enrolled, patch: dict[str, Any]) -> None:
    device.idp.fail("token", "patch", times=9, **patch)
    assert device.sign_in().outcome == (1, "failed", "invalidIdToken")
    (token,) = device.idp.log("token")
    assert is_revoked(device.idp, token["answer"]["access_token"])


def test_a_face_token_under_a_password_ends_the_session(device: Enrolled) -> None:
    device.idp.manage("POST", f"tenants/acme/users/{device.user['id']}/import",
                      {"face_token": b64u(b"sealed elsewhere"), "password_protected": True})
    ran = device.sign_in()
    assert ran.outcome == (1, "failed", "server") and "password" in ran.document["message"]
    assert device.idp.calls() == ["start", "face-token", "abort"]


# Sessions that follow each other

def test_a_new_sign_in_ends_the_one_before(device: Enrolled) -> None:
    first = device.sign_in(scopes=("openid", "offline_access")).document["session"]
    second = device.sign_in(scopes=("openid", "offline_access")).document["session"]
    assert is_revoked(device.idp, first["access_token"])
    assert not is_revoked(device.idp, second["access_token"])
