"""The understudy program keeps a session alive with its refresh token, and notices when the provider ended it."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import parse_qsl

import pytest

from enrolled import DEVICE, SIGNED_IN, Enrolled
from two_libraries import b64u, take_apart, verify

RENEWABLE = ("openid", "offline_access")
INVALID_TOKEN = {"status": 401, "body": {"error": "invalid_token"},
                 "headers": {"WWW-Authenticate": 'DPoP error="invalid_token", algs="ES256"'}}
WANTS_NONCE = {"status": 401, "body": {"error": "use_dpop_nonce"},
               "headers": {"WWW-Authenticate": 'DPoP error="use_dpop_nonce", algs="ES256"'}}


@pytest.fixture
def signed_in(device: Enrolled) -> Enrolled:
    """A phone with a session that has a refresh token and 300 seconds to live."""
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    device.idp.manage("DELETE", "log")
    return device


@pytest.fixture
def due(device: Enrolled) -> Enrolled:
    """A phone whose session is due for a refresh, and will be given 300 seconds then."""
    lifetime(device, 20)
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    lifetime(device, 300)
    device.idp.manage("DELETE", "log")
    return device


@pytest.fixture
def expired(device: Enrolled) -> Enrolled:
    """A phone whose access token has ended, five minutes later on both sides."""
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    device.idp.manage("PUT", "clock", {"mode": "offset", "seconds": 301})
    assert device.program.run("device", "clock", DEVICE, "+301s").code == 0
    device.idp.manage("DELETE", "log")
    return device


def lifetime(device: Enrolled, seconds: int) -> None:
    device.idp.manage("PATCH", "tenants/acme/applications/app_demo", {"access_token_lifetime": seconds})


def refresh(device: Enrolled, *more: str) -> tuple[int, str | None]:
    """Exit code and error code of a refresh asked for by hand."""
    ran = device.program.run("session", "refresh", "--device", DEVICE, "--show-tokens", *more)
    return ran.code, ran.document.get("error", {}).get("code")


def stored(device: Enrolled) -> dict[str, Any] | None:
    ran = device.program.run("session", "show", "--device", DEVICE, "--show-tokens")
    return ran.document if ran.code == 0 else None


def form_of(entry: dict[str, Any]) -> dict[str, str]:
    return dict(parse_qsl(entry["body"], keep_blank_values=True))


def proof_claims(entry: dict[str, Any]) -> dict[str, Any]:
    (proof,) = entry["dpop"]
    return verify(proof, take_apart(proof).header["jwk"]).claims


def digest_of(token: str) -> str:
    return b64u(hashlib.sha256(token.encode()).digest())


def outcomes(device: Enrolled) -> list[tuple[str, int]]:
    return [(entry["call"], entry["status"]) for entry in device.idp.log() if entry["call"] in ("refresh", "api")]


# Before the request

def test_a_session_about_to_expire_is_refreshed_before_the_call(device: Enrolled) -> None:
    device.idp.manage("PATCH", "tenants/acme/applications/app_demo", {"access_token_lifetime": 20})
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    device.idp.manage("DELETE", "log")
    assert device.fetch("accounts").document["status"] == 200
    assert device.idp.calls() == ["refresh", "api"]


def test_a_session_that_has_expired_is_refreshed_before_the_call(expired: Enrolled) -> None:
    assert expired.fetch("accounts").document["status"] == 200
    assert outcomes(expired)[-2:] == [("refresh", 200), ("api", 200)]


def test_a_session_with_time_left_is_left_alone(signed_in: Enrolled) -> None:
    assert signed_in.fetch("accounts").document["status"] == 200
    assert signed_in.idp.calls() == ["api"]


def test_a_session_without_refresh_token_ends_with_its_access_token(device: Enrolled) -> None:
    lifetime(device, 20)
    assert device.sign_in(scopes=("openid",)).outcome == SIGNED_IN
    device.idp.manage("DELETE", "log")
    assert device.fetch("accounts").document["status"] == 200
    assert refresh(device) == (1, "sign_in_required")
    device.program.run("device", "clock", DEVICE, "+21s")
    assert device.fetch("accounts").document["authorized"] is False
    assert device.idp.log("refresh") == []


@pytest.mark.parametrize("fault", [{"do": "drop"}, {"do": "lose_reply"}, {"do": "status", "status": 503},
                                   {"do": "status", "status": 429}, {"do": "html"}])
def test_a_refresh_that_cannot_be_served_goes_on_while_the_token_lives(due: Enrolled, fault: dict[str, Any]) -> None:
    due.idp.fail("refresh", **fault)
    assert due.fetch("accounts").document["status"] == 200
    assert due.idp.calls() == ["refresh", "api"]
    assert stored(due) is not None


@pytest.mark.parametrize(("fault", "code"), [
    ({"do": "drop"}, "refresh_network"), ({"do": "status", "status": 503}, "refresh_server"),
    ({"do": "html"}, "refresh_server")])
def test_once_the_token_has_ended_such_a_call_fails_like_a_lost_connection(expired: Enrolled, fault: dict[str, Any],
                                                                           code: str) -> None:
    expired.idp.fail("refresh", **fault)
    ran = expired.fetch("accounts")
    assert (ran.code, ran.document["error"]["code"]) == (69, code)
    assert expired.idp.log("api") == []
    assert expired.fetch("accounts").document["status"] == 200


def test_a_revoked_session_ends_and_the_call_goes_out_without_it(device: Enrolled) -> None:
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    device.idp.manage("POST", f"tenants/acme/users/{device.user['id']}/revoke")
    assert device.fetch("accounts").document["status"] == 401
    device.idp.manage("DELETE", "log")
    assert device.fetch("accounts").document["status"] == 401
    assert device.idp.calls() == ["api"] and device.idp.log("api")[0]["dpop"] == []


def test_a_refresh_that_ends_the_session_sends_the_request_without_it(due: Enrolled) -> None:
    due.idp.manage("POST", f"tenants/acme/users/{due.user['id']}/revoke")
    assert due.fetch("accounts").document["status"] == 401
    assert outcomes(due) == [("refresh", 400), ("api", 401)]
    assert due.idp.log("api")[0]["dpop"] == []
    assert stored(due) is None
    # Keys and enrolment stay: the next sign-in needs nothing but a face.
    assert due.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN


# After the request

def test_an_invalid_token_is_refreshed_once_and_the_call_repeated(device: Enrolled) -> None:
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    device.idp.fail("api", "status", status=401, body={"error": "invalid_token"},
                    headers={"WWW-Authenticate": 'DPoP error="invalid_token", algs="ES256"'})
    device.idp.manage("DELETE", "log")
    assert device.fetch("accounts").document["status"] == 200
    assert device.idp.calls() == ["api", "refresh", "api"]


@pytest.mark.parametrize(("answers", "calls", "status"), [
    ([WANTS_NONCE], ["api", "api"], 200),
    ([WANTS_NONCE, WANTS_NONCE], ["api", "api"], 401),
    ([INVALID_TOKEN], ["api", "refresh", "api"], 200),
    ([INVALID_TOKEN, INVALID_TOKEN], ["api", "refresh", "api"], 401),
    ([WANTS_NONCE, INVALID_TOKEN], ["api", "api", "refresh", "api"], 200),
    ([INVALID_TOKEN, WANTS_NONCE], ["api", "refresh", "api", "api"], 200),
    ([WANTS_NONCE, INVALID_TOKEN, WANTS_NONCE], ["api", "api", "refresh", "api", "api"], 200),
    ([WANTS_NONCE, INVALID_TOKEN, WANTS_NONCE, WANTS_NONCE], ["api", "api", "refresh", "api", "api"], 401),
    ([WANTS_NONCE, INVALID_TOKEN, WANTS_NONCE, INVALID_TOKEN], ["api", "api", "refresh", "api", "api"], 401),
    ([{"status": 401, "body": {"error": "insufficient_user_authentication"}, "headers": {
        "WWW-Authenticate": 'DPoP error="insufficient_user_authentication"'}}], ["api"], 401),
    ([{"status": 401, "body": {"error": "invalid_token"}}], ["api"], 401),
    ([{"status": 403, **{k: v for k, v in INVALID_TOKEN.items() if k != "status"}}], ["api"], 403),
])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_the_loop_of_repeats(signed_in: Enrolled, answers: list[dict[str, Any]], calls: list[str], status: int,
                             method: str) -> None:
    for answer in answers:
        signed_in.idp.fail("api", "status", **answer)
    body = ("-d", "amount=1") if method == "POST" else ()
    ran = signed_in.program.run("fetch", "--device", DEVICE, "-X", method, f"{signed_in.idp.resource}/transfers", *body)
    assert ran.document["status"] == status
    assert signed_in.idp.calls() == calls
    entries = signed_in.idp.log("api")
    assert len({proof_claims(entry)["jti"] for entry in entries}) == len(entries)
    assert {entry["body"] for entry in entries} == {"amount=1" if body else ""}
    signed_in.idp.manage("DELETE", "faults")


@pytest.mark.parametrize("answer", [WANTS_NONCE, INVALID_TOKEN])
@pytest.mark.parametrize("source", [("-d", "@-"), ("--data-file", "-"), ("-d", "@/dev/stdin")])
def test_a_one_shot_body_is_never_sent_again(signed_in: Enrolled, answer: dict[str, Any],
                                             source: tuple[str, str]) -> None:
    signed_in.idp.fail("api", "status", **answer)
    ran = signed_in.program.raw("fetch", "--device", DEVICE, *source, f"{signed_in.idp.resource}/upload", stdin=b"once")
    assert ran.returncode == 1
    assert signed_in.idp.calls() == ["api"]
    assert signed_in.idp.log("api")[0]["body"] == "once"


def test_a_file_is_sent_again(signed_in: Enrolled, tmp_path: Any) -> None:
    path = tmp_path / "body"
    path.write_bytes(bytes(range(256)) * 300)
    signed_in.idp.fail("api", "status", **INVALID_TOKEN)
    ran = signed_in.program.raw("fetch", "--device", DEVICE, "-d", f"@{path}", f"{signed_in.idp.resource}/upload")
    assert ran.returncode == 0
    assert [len(entry["body"]) for entry in signed_in.idp.log("api")] == [76800, 76800]


def test_a_one_shot_body_still_goes_out_with_a_token_that_was_due(due: Enrolled) -> None:
    ran = due.program.raw("fetch", "--device", DEVICE, "-d", "@-", f"{due.idp.resource}/upload", stdin=b"x")
    assert ran.returncode == 0 and due.idp.calls() == ["refresh", "api"]


def test_the_repeat_proves_the_new_token(signed_in: Enrolled) -> None:
    signed_in.idp.fail("api", "status", **INVALID_TOKEN)
    before = stored(signed_in)
    assert signed_in.fetch("accounts?page=2").document["status"] == 200
    after = stored(signed_in)
    assert before is not None and after is not None
    first, second = (proof_claims(entry) for entry in signed_in.idp.log("api"))
    assert [first["ath"], second["ath"]] == [digest_of(before["access_token"]), digest_of(after["access_token"])]
    assert {first["htu"], second["htu"]} == {f"{signed_in.idp.resource}/accounts"}


def test_a_path_is_signed_as_it_is_sent(signed_in: Enrolled) -> None:
    assert signed_in.fetch("u/a%40b/%7Ec?x=%2F").document["status"] == 200
    (entry,) = signed_in.idp.log("api")
    assert entry["url"].endswith("/u/a%40b/%7Ec") or entry["url"].endswith("/u/a%40b/%7Ec?x=%2F")
    assert proof_claims(entry)["htu"] == f"{signed_in.idp.resource}/u/a%40b/%7Ec"


@pytest.mark.parametrize("fault", [{"do": "drop"}, {"do": "status", "status": 503}])
def test_an_api_answer_stands_when_the_refresh_after_it_fails(signed_in: Enrolled, fault: dict[str, Any]) -> None:
    signed_in.idp.fail("api", "status", **INVALID_TOKEN)
    signed_in.idp.fail("refresh", **fault)
    assert signed_in.fetch("accounts").document["status"] == 401
    assert signed_in.idp.calls() == ["api", "refresh"]
    assert signed_in.fetch("accounts").document["status"] == 200


# The refresh itself

def test_a_refresh_replaces_the_pair(signed_in: Enrolled) -> None:
    before = stored(signed_in)
    assert refresh(signed_in) == (0, None)
    after = stored(signed_in)
    (entry,) = signed_in.idp.log("refresh")
    assert before is not None and after is not None
    assert form_of(entry) == {"grant_type": "refresh_token", "refresh_token": before["refresh_token"],
                              "client_id": "app_demo"}
    assert (after["access_token"], after["refresh_token"]) == (
        entry["answer"]["access_token"], entry["answer"]["refresh_token"])
    assert after["claims"]["sub"] == before["claims"]["sub"] and "nonce" not in after["claims"]


def test_ten_refreshes_follow_each_other(signed_in: Enrolled) -> None:
    for _ in range(10):
        assert refresh(signed_in) == (0, None)
    presented = [form_of(entry)["refresh_token"] for entry in signed_in.idp.log("refresh")]
    assert len(set(presented)) == len(presented) == 10
    assert signed_in.fetch("accounts").document["status"] == 200
    assert signed_in.idp.verdict()["findings"] == []


def test_without_rotation_the_refresh_token_stays(device: Enrolled) -> None:
    device.idp.manage("PATCH", "tenants/acme/applications/app_demo", {"refresh_token_rotation": False})
    token = device.sign_in(scopes=RENEWABLE).document["session"]["refresh_token"]
    for _ in range(3):
        assert refresh(device) == (0, None)
    assert {form_of(entry)["refresh_token"] for entry in device.idp.log("refresh")} == {token}
    assert (stored(device) or {})["refresh_token"] == token


def test_a_nonce_challenge_is_answered_once(signed_in: Enrolled) -> None:
    signed_in.idp.fail("refresh", "status", status=400, body={"error": "use_dpop_nonce"})
    assert refresh(signed_in) == (0, None)
    first, second = signed_in.idp.log("refresh")
    assert first["body"] == second["body"]
    assert proof_claims(first)["jti"] != proof_claims(second)["jti"]


def test_a_server_that_asks_for_nonces_for_ever_is_not_followed(signed_in: Enrolled) -> None:
    signed_in.idp.fail("refresh", "status", status=400, body={"error": "use_dpop_nonce"}, times=20)
    assert refresh(signed_in) == (69, "refresh_server")
    assert len(signed_in.idp.log("refresh")) == 2
    assert stored(signed_in) is not None


@pytest.mark.parametrize(("fault", "code", "is_kept"), [
    ({"do": "drop"}, (69, "refresh_network"), True),
    ({"do": "status", "status": 500}, (69, "refresh_server"), True),
    ({"do": "status", "status": 503}, (69, "refresh_server"), True),
    ({"do": "status", "status": 429}, (69, "refresh_server"), True),
    ({"do": "html"}, (69, "refresh_server"), True),
    ({"do": "status", "status": 200, "body": {}}, (69, "refresh_server"), True),
    ({"do": "status", "status": 302, "headers": {"Location": "http://127.0.0.1:1/"}}, (69, "refresh_server"), True),
    ({"do": "status", "status": 401, "body": {"error": "invalid_client"}}, (69, "refresh_server"), True),
    ({"do": "status", "status": 400, "body": {"error": "invalid_request"}}, (69, "refresh_server"), True),
    ({"do": "status", "status": 400, "body": {"error": "invalid_dpop_proof"}}, (69, "refresh_server"), True),
    ({"do": "status", "status": 400, "body": {"error": "invalid_grant"}}, (1, "sign_in_required"), False),
])
def test_the_three_refresh_errors(signed_in: Enrolled, fault: dict[str, Any], code: tuple[int, str],
                                  is_kept: bool) -> None:
    before = stored(signed_in)
    signed_in.idp.fail("refresh", **fault)
    assert refresh(signed_in) == code
    assert len(signed_in.idp.log("refresh")) == 1
    assert stored(signed_in) == (before if is_kept else None)
    assert refresh(signed_in)[0] == (0 if is_kept else 1)


@pytest.mark.parametrize("patch", [
    {"id_token": {"sub": "somebody-else"}}, {"id_token": {"aud": "other"}}, {"id_token": {"iss": "https://other.test"}},
    {"id_token": {"exp": 1}}, {"id_token": {"iat": None}}, {"id_token_alg": "none"}, {"id_token_alg": "HS256"},
    {"set": {"token_type": "Bearer"}}, {"remove": ["token_type"]}, {"remove": ["expires_in"]},
    {"set": {"id_token": "no token"}},
])
def test_an_answer_that_cannot_be_believed_is_not_stored(signed_in: Enrolled, patch: dict[str, Any]) -> None:
    before = stored(signed_in)
    signed_in.idp.fail("refresh", "patch", **patch)
    assert refresh(signed_in) == (69, "refresh_server")
    after = stored(signed_in)
    assert before is not None and after is not None
    assert after["access_token"] == before["access_token"]
    # The answer has shown that the refresh token is spent: it is never presented again.
    assert "refresh_token" not in after
    assert refresh(signed_in) == (1, "sign_in_required")
    assert len(signed_in.idp.log("refresh")) == 1


def test_an_answer_without_id_token_leaves_the_claims(signed_in: Enrolled) -> None:
    before = stored(signed_in)
    signed_in.idp.fail("refresh", "patch", remove=["id_token", "scope"])
    assert refresh(signed_in) == (0, None)
    after = stored(signed_in)
    assert before is not None and after is not None
    assert (after["claims"], after["scope"]) == (before["claims"], before["scope"])


def test_a_lost_reply_leaves_the_old_pair_and_the_provider_decides(signed_in: Enrolled) -> None:
    before = stored(signed_in)
    signed_in.idp.fail("refresh", "lose_reply")
    assert refresh(signed_in) == (69, "refresh_network")
    assert stored(signed_in) == before
    # This provider takes a spent token for a stolen one.
    assert refresh(signed_in) == (1, "sign_in_required")
    assert stored(signed_in) is None


@pytest.mark.parametrize(("fault", "code"), [
    ("drop:refresh", (69, "refresh_network")), ("lose-reply:refresh", (69, "refresh_network")),
    ("status-503:refresh", (69, "refresh_server"))])
def test_a_refresh_breaks_as_asked(signed_in: Enrolled, fault: str, code: tuple[int, str]) -> None:
    assert refresh(signed_in, "--fault", fault) == code
    assert len(signed_in.idp.log("refresh")) == (1 if fault.startswith("lose") else 0)


def test_a_refresh_without_a_session_is_an_error(device: Enrolled) -> None:
    assert refresh(device) == (1, "not_found")


def test_signing_out_revokes_the_refreshed_grant(signed_in: Enrolled) -> None:
    assert refresh(signed_in) == (0, None)
    token = (stored(signed_in) or {})["refresh_token"]
    assert signed_in.program.run("session", "sign-out", "--device", DEVICE).code == 0
    (entry,) = signed_in.idp.log("revoke")
    assert (form_of(entry)["token"], form_of(entry)["token_type_hint"]) == (token, "refresh_token")


@pytest.mark.parametrize("do", ["drop", "lose_reply"])
def test_a_lost_revocation_is_made_once_more(signed_in: Enrolled, do: str) -> None:
    signed_in.idp.fail("revoke", do)
    assert signed_in.program.run("session", "sign-out", "--device", DEVICE).code == 0
    assert len(signed_in.idp.log("revoke")) == 2


def test_the_same_through_a_daemon(signed_in: Enrolled) -> None:
    with signed_in.program.serve() as ready:
        phone = signed_in.program.through(ready)
        signed_in.idp.fail("api", "status", **INVALID_TOKEN)
        assert phone.run("fetch", "--device", DEVICE, f"{signed_in.idp.resource}/accounts").document["status"] == 200
        assert phone.run("session", "refresh", "--device", DEVICE).code == 0
    assert signed_in.idp.calls() == ["api", "refresh", "api", "refresh"]
    assert signed_in.idp.verdict()["findings"] == []
