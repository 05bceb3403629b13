"""The Python phone and the Python provider agree with each other: the referees are sound."""

from __future__ import annotations

import subprocess
from pathlib import Path

import certifi
import pytest

from idp import RunningIdP
from phone import Phone
from phone_flow import Failed, Parked
from phone_wire import Connections, Lost
from providers import PythonProvider


def test_a_sign_in_gives_tokens_that_open_the_api(python_idp: PythonProvider) -> None:
    phone, user = python_idp.enrolled_phone()
    session = phone.sign_in(python_idp.config("openid", "email", "offline_access"))
    assert session.id_claims["sub"] == user["id"] and session.id_claims["email"] == user["email"]
    assert phone.call_api(session, f"{python_idp.resource}/accounts").json()["sub"] == user["id"]
    echo = phone.call_api(session, f"{python_idp.resource}/anything?x=1", "POST", b"12345").json()
    assert (echo["method"], echo["body_length"]) == ("POST", 5)


def test_rs256_id_tokens_verify(python_idp: PythonProvider) -> None:
    python_idp.manage("PATCH", "tenants/acme/applications/app_demo", {"id_token_signed_response_alg": "RS256"})
    phone, user = python_idp.enrolled_phone()
    assert phone.sign_in(python_idp.config()).id_claims["sub"] == user["id"]


def test_each_sign_in_rotates_the_face_token(python_idp: PythonProvider) -> None:
    phone, user = python_idp.enrolled_phone()
    for generation in (1, 2, 3):
        devices = python_idp.manage("GET", f"tenants/acme/users/{user['id']}")["devices"]
        assert [device["generation"] for device in devices] == [generation]
        phone.sign_in(python_idp.config())


def test_two_mismatches_leave_one_try(python_idp: PythonProvider) -> None:
    phone, user = python_idp.enrolled_phone()
    session = phone.sign_in(python_idp.config(), ("mismatch", "mismatch", "match"))
    assert session.id_claims["sub"] == user["id"]


def test_the_third_mismatch_ends_it(python_idp: PythonProvider) -> None:
    phone, _ = python_idp.enrolled_phone()
    with pytest.raises(Failed, match="faceMismatch"):
        phone.sign_in(python_idp.config(), ("mismatch",) * 3 + ("match",))


def test_a_hint_without_a_key_makes_two_calls_and_tells_nothing(python_idp: PythonProvider) -> None:
    phone, _ = python_idp.enrolled_phone()
    known = python_idp.new_user()["email"]
    for address in (known, "nobody@example.test"):
        python_idp.manage("DELETE", "log")
        with pytest.raises(Failed, match="notEnrolled"):
            phone.sign_in(python_idp.config(login_hint=address))
        assert python_idp.calls() == ["start", "face-token"]
        assert [(entry["status"], entry["error"]) for entry in python_idp.log("start", "face-token")] == [
            (403, "insufficient_authorization"), (403, "access_denied")]


def test_a_phone_without_any_key_makes_no_call(python_idp: PythonProvider) -> None:
    with pytest.raises(Failed, match="notEnrolled"):
        Phone().sign_in(python_idp.config())
    assert python_idp.log() == []


def test_a_removed_device_is_not_enrolled(python_idp: PythonProvider) -> None:
    phone, user = python_idp.enrolled_phone()
    kid = phone.enrolments[python_idp.issuer].kid
    python_idp.manage("DELETE", f"tenants/acme/users/{user['id']}/devices/{kid}")
    with pytest.raises(Failed, match="notEnrolled"):
        phone.sign_in(python_idp.config())


@pytest.mark.parametrize("call", ["start", "face-token", "completion", "token"])
@pytest.mark.parametrize("do", ["drop", "lose_reply"])
def test_one_lost_call_costs_nothing(python_idp: PythonProvider, call: str, do: str) -> None:
    phone, user = python_idp.enrolled_phone()
    python_idp.fail(call, do)
    assert phone.sign_in(python_idp.config()).id_claims["sub"] == user["id"]


@pytest.mark.parametrize("call", ["start", "face-token"])
def test_a_call_before_the_scan_lost_twice_is_a_network_failure(python_idp: PythonProvider, call: str) -> None:
    phone, _ = python_idp.enrolled_phone()
    python_idp.fail(call, "drop", times=2)
    with pytest.raises(Failed, match="network"):
        phone.sign_in(python_idp.config())


@pytest.mark.parametrize("do", ["drop", "lose_reply", "status"])
def test_a_parked_sign_in_sends_the_same_proof_again(python_idp: PythonProvider, do: str) -> None:
    phone, user = python_idp.enrolled_phone()
    python_idp.fail("completion", do, times=2)
    with pytest.raises(Parked) as parked:
        phone.sign_in(python_idp.config())
    proof = parked.value.flow.ceremony_proof
    python_idp.manage("DELETE", "faults")
    assert phone.retry(parked.value).id_claims["sub"] == user["id"]
    completions = python_idp.log("completion")
    assert len(completions) >= 2 and all(proof in entry["body"] for entry in completions)


@pytest.mark.parametrize("call", ["start", "completion", "token"])
def test_a_nonce_challenge_is_answered_once_with_a_new_proof(python_idp: PythonProvider, call: str) -> None:
    phone, user = python_idp.enrolled_phone()
    python_idp.fail(call, "status", status=400, body={"error": "use_dpop_nonce"})
    assert phone.sign_in(python_idp.config()).id_claims["sub"] == user["id"]
    first, second = python_idp.log(call)
    assert first["body"] == second["body"] and first["dpop"] != second["dpop"]


def test_a_lost_token_reply_ends_the_first_grant(python_idp: PythonProvider) -> None:
    phone, _ = python_idp.enrolled_phone()
    config = python_idp.config("openid", "offline_access")
    flow = phone.flow(config)
    flow.start(), flow.fetch_face_token(), flow.rotate(b"t")
    first = phone.accept_tokens(config, flow.redeem(flow.complete().json()["authorization_code"]), flow.nonce)
    assert phone.call_api(first, f"{python_idp.resource}/accounts").status == 200
    second_code = flow.complete().json()["authorization_code"]
    assert phone.call_api(first, f"{python_idp.resource}/accounts").status == 401
    assert phone.refresh_reply(first).error == "invalid_grant"
    second = phone.accept_tokens(config, flow.redeem(second_code), flow.nonce)
    assert phone.call_api(second, f"{python_idp.resource}/accounts").status == 200


def test_refresh_rotates_and_a_spent_token_ends_the_family(python_idp: PythonProvider) -> None:
    phone, _ = python_idp.enrolled_phone()
    first = phone.sign_in(python_idp.config("openid", "offline_access"))
    second = phone.refresh(first)
    assert "nonce" not in second.id_claims and second.refresh_token != first.refresh_token
    assert phone.refresh_reply(first).error == "invalid_grant"
    assert phone.refresh_reply(second).error == "invalid_grant"


def test_signing_out_ends_access_and_refresh(python_idp: PythonProvider) -> None:
    phone, _ = python_idp.enrolled_phone()
    session = phone.sign_in(python_idp.config("openid", "offline_access"))
    assert phone.sign_out(session).status == 200
    assert phone.call_api(session, f"{python_idp.resource}/accounts").status == 401
    assert phone.refresh_reply(session).error == "invalid_grant"


def test_a_session_past_its_lifetime_cannot_be_completed(python_idp: PythonProvider) -> None:
    phone, _ = python_idp.enrolled_phone()
    flow = phone.flow(python_idp.config())
    flow.start(), flow.fetch_face_token(), flow.rotate(b"t")
    phone.client.nonces.clear()
    python_idp.manage("PUT", "clock", {"mode": "offset", "seconds": 301})
    assert flow.complete().error == "invalid_session"


@pytest.mark.parametrize("patch", [
    {"id_token": {"nonce": "other"}}, {"id_token": {"aud": "other"}}, {"id_token": {"iss": "https://other.test"}},
    {"id_token": {"exp": 1}}, {"id_token": {"nonce": None}}, {"set": {"token_type": "Bearer"}},
    {"id_token_alg": "none"}, {"id_token_alg": "HS256"},
])
def test_a_bad_token_answer_gives_no_session(python_idp: PythonProvider, patch: dict[str, object]) -> None:
    phone, _ = python_idp.enrolled_phone()
    python_idp.fail("token", "patch", times=4, **patch)
    with pytest.raises(Failed, match="invalidIdToken"):
        phone.sign_in(python_idp.config())


def test_a_sign_in_over_tls(tmp_path: Path) -> None:
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-out", cert, "-keyout", key], check=True, capture_output=True)
    with RunningIdP(cert=cert, key=key) as running:
        provider = PythonProvider.at(running.addresses())
        provider.http.verify = cert
        user, phone = provider.new_user(), Phone(Connections(ca_file=cert))
        assert provider.issuer.startswith("https://")
        assert phone.enrol(provider.issuer, user["ticket"]).status == 201
        assert phone.call_api(phone.sign_in(provider.config()), f"{provider.resource}/accounts").status == 200
        with pytest.raises(Lost):
            Phone(Connections(ca_file=certifi.where())).metadata(provider.issuer)


@pytest.mark.parametrize("call", ["metadata", "start", "face-token", "attempt", "completion", "token"])
def test_a_web_page_in_place_of_an_answer_is_a_failure(python_idp: PythonProvider, call: str) -> None:
    phone, _ = python_idp.enrolled_phone()
    phone.forget_metadata()
    python_idp.fail(call, "html")
    with pytest.raises(Failed):
        phone.sign_in(python_idp.config(), ("mismatch", "match"))


@pytest.mark.parametrize("switch", [
    {"first_party_challenge_enabled": False}, {"require_dpop": False}, {"redirect_uris": []},
    {"tls_client_certificate_bound_access_tokens": True},
])
def test_a_withdrawn_switch_stops_the_next_call(python_idp: PythonProvider, switch: dict[str, object]) -> None:
    phone, _ = python_idp.enrolled_phone()
    flow = phone.flow(python_idp.config())
    flow.start(), flow.fetch_face_token(), flow.rotate(b"t")
    python_idp.manage("PATCH", "tenants/acme/applications/app_demo", switch)
    assert flow.complete().error == "unauthorized_client"
    assert phone.flow(python_idp.config()).start().error == "unauthorized_client"
