"""The rules of the wire page, asked by the Python phone of the Python provider and of the Swift one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from phone import Phone
from phone_flow import Failed, Flow, Parked, Session
from phone_wire import Reply, dpop_proof, sha256_b64u, sign
from providers import Provider
from two_libraries import take_apart

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def at_the_face(provider: Provider, *scopes: str) -> tuple[Phone, Flow]:
    """A phone that has enrolled, started, and fetched its face token."""
    phone, _ = provider.enrolled_phone()
    flow = phone.flow(provider.config(*scopes))
    assert flow.start().error == "insufficient_authorization"
    assert flow.fetch_face_token().status == 200
    return phone, flow


def at_the_completion(provider: Provider, *scopes: str) -> tuple[Phone, Flow]:
    phone, flow = at_the_face(provider, *scopes)
    flow.rotate(b"template")
    return phone, flow


def code_of(reply: Reply) -> str:
    assert reply.status == 200, (reply.status, reply.body)
    return reply.json()["authorization_code"]


def redeemed(flow: Flow, code: str) -> Session:
    return flow.phone.accept_tokens(flow.config, flow.redeem(code), flow.nonce)


def api_status(phone: Phone, session: Session, provider: Provider) -> int:
    return phone.call_api(session, f"{provider.resource}/accounts").status


# A whole sign-in

def test_a_sign_in_opens_the_api_and_refreshes(provider: Provider) -> None:
    phone, user = provider.enrolled_phone()
    session = phone.sign_in(provider.config("openid", "email", "offline_access"))
    assert (session.id_claims["sub"], session.id_claims["email"]) == (user["id"], user["email"])
    assert api_status(phone, session, provider) == 200
    renewed = phone.refresh(session)
    assert "nonce" not in renewed.id_claims
    assert api_status(phone, renewed, provider) == 200


def test_there_is_no_refresh_token_without_offline_access(provider: Provider) -> None:
    phone, _ = provider.enrolled_phone()
    assert phone.sign_in(provider.config("openid")).refresh_token is None


def test_rs256_id_tokens_verify(provider: Provider) -> None:
    provider.manage("PATCH", "tenants/acme/applications/app_demo", {"id_token_signed_response_alg": "RS256"})
    phone, user = provider.enrolled_phone()
    flow = phone.flow(provider.config())
    flow.start(), flow.fetch_face_token(), flow.rotate(b"t")
    answer = flow.redeem(code_of(flow.complete()))
    assert take_apart(answer.json()["id_token"]).header["alg"] == "RS256"
    assert phone.accept_tokens(flow.config, answer, flow.nonce).id_claims["sub"] == user["id"]


def test_both_metadata_addresses_give_the_same_document(provider: Provider) -> None:
    one = provider.http.get(f"{provider.issuer}/.well-known/openid-configuration", timeout=10)
    two = provider.http.get(f"{provider.origin}/.well-known/oauth-authorization-server/acme", timeout=10)
    assert one.json() == two.json() and one.json()["issuer"] == provider.issuer


def test_a_ticket_enrols_once(provider: Provider) -> None:
    phone, user = provider.enrolled_phone()
    reply = Phone().enrol(provider.issuer, user["ticket"])
    assert (reply.status, reply.error) == (403, "access_denied")
    assert phone.enrolments[provider.issuer].subject == user["id"]


def test_answers_are_not_cached_and_carry_a_nonce_when_a_proof_came(provider: Provider) -> None:
    _, flow = at_the_completion(provider)
    for reply in (flow.complete(), flow.redeem("unknown"), flow.start()):
        assert reply.header("Cache-Control") == "no-store"
        assert len([name for name, _ in reply.headers if name.lower() == "dpop-nonce"]) == 1


# Nobody learns who has an account

def test_starts_look_alike_whoever_the_hint_names(provider: Provider) -> None:
    phone, user = provider.enrolled_phone()
    shapes = []
    for hint in (None, user["email"], provider.new_user()["email"], "nobody@example.test"):
        reply = phone.flow(provider.config(login_hint=hint)).start()
        sizes = {name: len(str(value)) for name, value in reply.json()["ceremony"].items()}
        shapes.append((reply.status, sorted(reply.json()), len(reply.json()["auth_session"]), sizes,
                       sorted(name.lower() for name, _ in reply.headers)))
    assert all(shape == shapes[0] for shape in shapes)


def test_every_ceremony_that_cannot_go_on_gets_the_same_answer(provider: Provider) -> None:
    removed, user = provider.enrolled_phone()
    kid = removed.enrolments[provider.issuer].kid
    provider.manage("DELETE", f"tenants/acme/users/{user['id']}/devices/{kid}")
    phone, _ = provider.enrolled_phone()
    stranger, _ = provider.enrolled_phone()
    wrong_challenge = phone.flow(provider.config())
    wrong_session = phone.flow(provider.config())
    flows = [removed.flow(provider.config()), phone.flow(provider.config(login_hint="nobody@example.test")),
             phone.flow(provider.config(login_hint=stranger.enrolments[provider.issuer].email)),
             wrong_challenge, wrong_session]
    for flow in flows:
        assert flow.start().error == "insufficient_authorization"
    wrong_challenge.chl = "A" * 43
    wrong_session.auth_session = "A" * 43
    replies = [flow.fetch_face_token() for flow in flows]
    assert {(reply.status, reply.body) for reply in replies} == {(403, replies[0].body)}
    assert replies[0].json() == {"error": "access_denied", "error_description": "this ceremony cannot continue"}


@pytest.mark.parametrize("known", [True, False])
def test_a_session_opened_for_somebody_else_is_no_use_to_an_enrolled_phone(provider: Provider, known: bool) -> None:
    phone, _ = provider.enrolled_phone()
    flow = phone.flow(provider.config(login_hint=provider.new_user()["email"] if known else "nobody@example.test"))
    flow.enrolment = phone.enrolments[provider.issuer]
    flow.start()
    reply = flow.fetch_face_token()
    assert (reply.status, reply.error) == (403, "access_denied")


# The mismatch budget

def test_the_third_mismatch_kills_the_session(provider: Provider) -> None:
    _, flow = at_the_face(provider)
    left = [flow.ceremony_call("attempt", flow.mismatch_jws()).json()["attempts_left"] for _ in range(3)]
    assert left == [2, 1, 0]
    assert flow.fetch_face_token().error == "invalid_session"
    flow.rotate(b"template")
    assert flow.complete().error == "invalid_session"


def test_a_mismatch_sent_again_is_counted_once(provider: Provider) -> None:
    _, flow = at_the_face(provider)
    jws = flow.mismatch_jws()
    assert [flow.ceremony_call("attempt", jws).json()["attempts_left"] for _ in range(4)] == [2, 2, 2, 2]
    assert flow.fetch_face_token().json()["attempts_left"] == 2


def test_an_aborted_session_is_dead(provider: Provider) -> None:
    _, flow = at_the_completion(provider)
    assert flow.abort("cancelled").status == 204
    assert flow.complete().error == "invalid_session"


# Completion

def test_the_same_proof_gives_the_same_code_until_it_is_redeemed(provider: Provider) -> None:
    _, flow = at_the_completion(provider)
    assert len({code_of(flow.complete()) for _ in range(5)}) == 1


def test_a_lost_completion_reply_costs_nothing(provider: Provider) -> None:
    phone, user = provider.enrolled_phone()
    phone.connections.lose["completion"] = 1
    assert phone.sign_in(provider.config()).id_claims["sub"] == user["id"]


def test_a_parked_sign_in_is_finished_by_the_same_proof(provider: Provider) -> None:
    phone, user = provider.enrolled_phone()
    phone.connections.lose["completion"] = 2
    with pytest.raises(Parked) as parked:
        phone.sign_in(provider.config())
    assert phone.retry(parked.value).id_claims["sub"] == user["id"]


def test_a_lost_token_reply_is_replaced_and_its_grant_ended(provider: Provider) -> None:
    phone, flow = at_the_completion(provider, "openid", "offline_access")
    first_code = code_of(flow.complete())
    first = redeemed(flow, first_code)
    assert api_status(phone, first, provider) == 200
    second_code = code_of(flow.complete())
    assert second_code != first_code
    assert api_status(phone, first, provider) == 401
    assert phone.refresh_reply(first).error == "invalid_grant"
    second = redeemed(flow, second_code)
    assert api_status(phone, second, provider) == 200
    assert flow.redeem(first_code).error == "invalid_grant"


def test_there_are_three_replacements_and_no_fourth(provider: Provider) -> None:
    phone, flow = at_the_completion(provider)
    session = redeemed(flow, code_of(flow.complete()))
    for _ in range(3):
        session = redeemed(flow, code_of(flow.complete()))
    assert flow.complete().error == "invalid_session"
    assert api_status(phone, session, provider) == 200


def test_another_proof_on_a_completed_session_is_refused(provider: Provider) -> None:
    _, flow = at_the_completion(provider)
    code_of(flow.complete())
    flow.rotate(b"template")
    assert flow.complete().error == "invalid_session"


def test_a_face_token_of_an_older_generation_is_stale(provider: Provider) -> None:
    phone, older = at_the_completion(provider)
    newer = phone.flow(provider.config())
    newer.start(), newer.fetch_face_token(), newer.rotate(b"template")
    code_of(newer.complete())
    assert older.complete().error == "face_token_stale"


@pytest.mark.parametrize(("name", "value"), [
    ("chl", "A" * 43), ("ash", "A" * 43), ("jkt", "A" * 43), ("cer", "A" * 22), ("fth", "A" * 43)])
def test_a_completion_whose_proof_does_not_fit_is_refused(provider: Provider, name: str, value: str) -> None:
    phone, flow = at_the_face(provider)
    flow.rotated = phone.face.seal(b"template")
    claims = {"outcome": "match", "gen": flow.generation, "fth": sha256_b64u(flow.rotated)} | {name: value}
    flow.ceremony_proof = flow.ceremony_jws("complete", **claims)
    assert flow.complete().error == "invalid_ceremony_proof"
    flow.rotate(b"template")
    assert flow.complete().status == 200


def test_a_session_cannot_be_completed_by_another_dpop_key(provider: Provider) -> None:
    phone, flow = at_the_completion(provider)
    thief, _ = provider.enrolled_phone()
    thief.client.nonces = dict(phone.client.nonces)
    reply = thief.client.post_form("completion", flow.challenge_url, flow.completion_form())
    assert reply.error == "invalid_session"
    assert flow.complete().status == 200


def test_a_session_relayed_to_another_enrolled_phone_cannot_be_completed(provider: Provider) -> None:
    _, flow = at_the_face(provider)
    other, _ = provider.enrolled_phone()
    honest = flow.enrolment
    flow.enrolment = other.enrolments[provider.issuer]
    assert (flow.fetch_face_token().status, flow.fetch_face_token().error) == (403, "access_denied")
    flow.rotate(b"template")
    assert flow.complete().error == "invalid_ceremony_proof"
    flow.enrolment = honest
    flow.rotate(b"template")
    assert flow.complete().status == 200


def test_another_client_can_neither_complete_nor_redeem(provider: Provider) -> None:
    provider.manage("POST", "tenants/acme/applications", {
        "client_id": "app_other", "name": "Other", "require_dpop": True, "first_party_challenge_enabled": True,
        "redirect_uris": ["https://other.example/link"], "scopes": ["openid"], "resources": [provider.resource]})
    _, flow = at_the_completion(provider)
    other = {"client_id": "app_other"}
    stolen = flow.phone.client.post_form("completion", flow.challenge_url, flow.completion_form() | other)
    assert stolen.error == "invalid_session"
    code = code_of(flow.complete())
    stolen = flow.phone.client.post_form("token", flow.metadata["token_endpoint"], flow.token_form(code) | other)
    assert stolen.error == "invalid_grant"
    assert redeemed(flow, code)


def test_a_generation_must_be_a_number(provider: Provider) -> None:
    phone, flow = at_the_face(provider)
    flow.rotated = phone.face.seal(b"template")
    flow.ceremony_proof = flow.ceremony_jws("complete", outcome="match", gen=True, fth=sha256_b64u(flow.rotated))
    reply = flow.complete()
    assert (reply.status, reply.error) == (400, "invalid_request")


def test_a_removed_device_cannot_complete(provider: Provider) -> None:
    phone, user = provider.enrolled_phone()
    flow = phone.flow(provider.config())
    flow.start(), flow.fetch_face_token(), flow.rotate(b"t")
    kid = phone.enrolments[provider.issuer].kid
    provider.manage("DELETE", f"tenants/acme/users/{user['id']}/devices/{kid}")
    reply = flow.complete()
    assert (reply.status, reply.error) == (403, "access_denied")


def test_a_withdrawn_switch_stops_the_next_call(provider: Provider) -> None:
    _, flow = at_the_completion(provider)
    provider.manage("PATCH", "tenants/acme/applications/app_demo", {"first_party_challenge_enabled": False})
    assert flow.complete().error == "unauthorized_client"
    assert flow.start().error == "unauthorized_client"


# Lifetimes, on the provider's clock

def let_pass(provider: Provider, seconds: int) -> None:
    provider.manage("PUT", "clock", {"mode": "offset", "seconds": seconds})


def test_a_code_lives_a_minute_and_is_then_replaced(provider: Provider) -> None:
    _, flow = at_the_completion(provider)
    expired = code_of(flow.complete())
    let_pass(provider, 61)
    assert flow.redeem(expired).error == "invalid_grant"
    fresh = code_of(flow.complete())
    assert fresh != expired and redeemed(flow, fresh)


def test_a_session_lives_as_long_as_it_says(provider: Provider) -> None:
    _, flow = at_the_completion(provider)
    let_pass(provider, 301)
    assert flow.complete().error == "invalid_session"


def test_there_is_no_replacement_after_the_session(provider: Provider) -> None:
    _, flow = at_the_completion(provider)
    redeemed(flow, code_of(flow.complete()))
    let_pass(provider, 301)
    assert flow.complete().error == "invalid_session"


def test_an_expired_access_token_opens_nothing(provider: Provider) -> None:
    phone, _ = provider.enrolled_phone()
    session = phone.sign_in(provider.config())
    let_pass(provider, session.access_claims["exp"] - session.access_claims["iat"] + 1)
    # The phone's clock is now behind; a nonce of the API makes its proof good all the same.
    provider.manage("PATCH", "tenants/acme/policy", {"nonce_at_resource": True})
    reply = phone.call_api(session, f"{provider.resource}/accounts")
    assert reply.status == 401 and 'error="invalid_token"' in (reply.header("WWW-Authenticate") or "")


# Codes and refresh tokens

def test_a_code_used_twice_ends_what_it_issued(provider: Provider) -> None:
    phone, flow = at_the_completion(provider, "openid", "offline_access")
    code = code_of(flow.complete())
    session = redeemed(flow, code)
    assert flow.redeem(code).error == "invalid_grant"
    assert api_status(phone, session, provider) == 401
    assert phone.refresh_reply(session).error == "invalid_grant"


def test_a_wrong_verifier_or_key_gets_nothing(provider: Provider) -> None:
    phone, flow = at_the_completion(provider)
    code, verifier = code_of(flow.complete()), flow.verifier
    flow.verifier = "x" * 43
    assert flow.redeem(code).error == "invalid_grant"
    flow.verifier = verifier
    thief, _ = provider.enrolled_phone()
    reply = thief.client.post_form("token", flow.metadata["token_endpoint"], flow.token_form(code))
    assert reply.error == "invalid_grant"
    assert redeemed(flow, code).access_claims["cnf"] == {"jkt": phone.client.jkt}


def test_a_refresh_token_works_only_with_its_key(provider: Provider) -> None:
    phone, _ = provider.enrolled_phone()
    session = phone.sign_in(provider.config("openid", "offline_access"))
    thief, _ = provider.enrolled_phone()
    assert thief.refresh_reply(session).error == "invalid_grant"
    assert phone.refresh(session).id_claims["sub"] == session.id_claims["sub"]


def test_signing_out_ends_access_and_refresh(provider: Provider) -> None:
    phone, _ = provider.enrolled_phone()
    session = phone.sign_in(provider.config("openid", "offline_access"))
    assert phone.sign_out(session).status == 200
    assert phone.sign_out(session).status == 200
    assert api_status(phone, session, provider) == 401
    assert phone.refresh_reply(session).error == "invalid_grant"


# Nonces

def test_completion_and_token_need_a_nonce_and_consume_nothing_without(provider: Provider) -> None:
    phone, flow = at_the_completion(provider)
    refused = _form_without_nonce(phone, flow.challenge_url, flow.completion_form())
    assert (refused.status, refused.error) == (400, "use_dpop_nonce") and refused.header("DPoP-Nonce")
    code = code_of(flow.complete())
    refused = _form_without_nonce(phone, flow.metadata["token_endpoint"], flow.token_form(code))
    assert (refused.status, refused.error) == (400, "use_dpop_nonce")
    assert redeemed(flow, code)


def _form_without_nonce(phone: Phone, url: str, form: dict[str, str]) -> Reply:
    phone.client.nonces.clear()
    return phone.client.send_once("form", "POST", url, FORM, urlencode(form).encode())


def test_a_nonce_of_the_api_is_stale_at_the_provider(provider: Provider) -> None:
    provider.manage("PATCH", "tenants/acme/policy", {"nonce_at_resource": True})
    phone, _ = provider.enrolled_phone()
    session = phone.sign_in(provider.config())
    assert api_status(phone, session, provider) == 200
    phone.client.nonces[provider.origin] = phone.client.nonces[provider.api]
    flow = phone.flow(provider.config())
    form = urlencode(flow.start_form()).encode()
    assert phone.client.send_once("start", "POST", flow.challenge_url, FORM, form).error == "use_dpop_nonce"


# The resource API

def test_a_bound_token_is_refused_as_bearer(provider: Provider) -> None:
    phone, _ = provider.enrolled_phone()
    session = phone.sign_in(provider.config())
    url = f"{provider.resource}/accounts"
    for headers in ({}, {"DPoP": phone.client.proof("GET", url, session.access_token)}):
        reply = phone.connections.send("api", "GET", url, headers | {"Authorization": f"Bearer {session.access_token}"})
        assert reply.status == 401 and 'error="invalid_token"' in (reply.header("WWW-Authenticate") or "")


def test_no_token_gets_a_bare_challenge(provider: Provider) -> None:
    reply = Phone().connections.send("api", "GET", f"{provider.resource}/accounts", {})
    assert (reply.status, reply.header("WWW-Authenticate")) == (401, 'DPoP algs="ES256"')


def test_a_replayed_proof_is_refused(provider: Provider) -> None:
    phone, _ = provider.enrolled_phone()
    session = phone.sign_in(provider.config())
    url = f"{provider.resource}/accounts"
    headers = {"Authorization": f"DPoP {session.access_token}",
               "DPoP": phone.client.proof("GET", url, session.access_token)}
    statuses = [phone.connections.send("api", "GET", url, headers).status for _ in range(2)]
    assert statuses == [200, 401]


@pytest.mark.parametrize(("changes", "error"), [
    ({"ath": None}, "invalid_dpop_proof"),
    ({"ath": "A" * 43}, "invalid_dpop_proof"),
    ({"htm": "POST"}, "invalid_dpop_proof"),
])
def test_a_proof_for_something_else_does_not_open_the_api(provider: Provider, changes: dict[str, Any],
                                                          error: str) -> None:
    phone, _ = provider.enrolled_phone()
    session = phone.sign_in(provider.config())
    url = f"{provider.resource}/accounts"
    claims = take_apart(phone.client.proof("GET", url, session.access_token)).claims | changes
    proof = dpop_proof(phone.client.key, {name: value for name, value in claims.items() if value is not None})
    reply = phone.connections.send("api", "GET", url, {"Authorization": f"DPoP {session.access_token}", "DPoP": proof})
    assert reply.status == 401 and f'error="{error}"' in (reply.header("WWW-Authenticate") or "")


def test_another_key_with_the_right_ath_does_not_open_the_api(provider: Provider) -> None:
    phone, _ = provider.enrolled_phone()
    session = phone.sign_in(provider.config())
    reply = Phone().call_api(session, f"{provider.resource}/accounts")
    assert reply.status == 401 and 'error="invalid_token"' in (reply.header("WWW-Authenticate") or "")


def test_a_token_without_the_apis_audience_does_not_open_it(provider: Provider) -> None:
    phone, _ = provider.enrolled_phone()
    session = phone.sign_in(provider.config(resource=None))
    assert session.access_claims["aud"] == provider.issuer
    assert api_status(phone, session, provider) == 401


# What a start must bring

@pytest.mark.parametrize(("changes", "status", "error"), [
    ({"client_id": "app_unknown"}, 401, "invalid_client"),
    ({"client_id": None}, 401, "invalid_client"),
    ({"response_type": "token"}, 400, "invalid_request"),
    ({"response_type": None}, 400, "invalid_request"),
    ({"code_challenge": None}, 400, "invalid_request"),
    ({"code_challenge": "short"}, 400, "invalid_request"),
    ({"code_challenge_method": "plain"}, 400, "invalid_request"),
    ({"code_challenge_method": None}, 400, "invalid_request"),
    ({"scope": "openid admin"}, 400, "invalid_scope"),
    ({"resource": "https://other.test"}, 400, "invalid_target"),
    ({"auth_session": "A" * 43}, 400, "invalid_request"),
])
def test_a_start_that_asks_wrongly_is_refused(provider: Provider, changes: dict[str, str | None], status: int,
                                              error: str) -> None:
    phone = Phone()
    flow = phone.flow(provider.config())
    form = {name: value for name, value in (flow.start_form() | changes).items() if value is not None}
    reply = phone.client.post_form("start", flow.challenge_url, form)
    # A form without client_id may be called malformed as well as from an unknown client.
    allowed = {(status, error)} | ({(400, "invalid_request")} if changes.get("client_id", "") is None else set())
    assert (reply.status, reply.error) in allowed


def test_a_parameter_given_twice_is_refused(provider: Provider) -> None:
    phone = Phone()
    flow = phone.flow(provider.config())
    body = f"response_type=code&client_id=app_demo&nonce=a&nonce=b&code_challenge={'A' * 43}&code_challenge_method=S256"
    reply = phone.client.send("start", "POST", flow.challenge_url, FORM, body.encode())
    assert (reply.status, reply.error) == (400, "invalid_request")


@pytest.mark.parametrize("change", [
    {"typ": "JWT"}, {"act": "complete"}, {"iat": "now"}, {"iat": None}, {"jti": None}, {"ash": 7}, {"chl": None}])
def test_a_ceremony_jws_of_the_wrong_form_is_an_invalid_request(provider: Provider, change: dict[str, Any]) -> None:
    phone, flow = at_the_face(provider)
    assert flow.enrolment is not None
    token = take_apart(flow.ceremony_jws("face-token"))
    claims = {name: value for name, value in (token.claims | change).items() if value is not None and name != "typ"}
    jws = sign({"typ": change.get("typ", "device-ceremony+jwt"), "kid": flow.enrolment.kid}, claims,
               flow.enrolment.key)
    reply = flow.ceremony_call("face-token", jws)
    assert (reply.status, reply.error) == (400, "invalid_request")
    assert flow.fetch_face_token().status == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"request":7}', b'{"request":"a.b.c"}', b"\xff\xfe", b"{}" * 9])
def test_a_malformed_body_is_never_a_server_error(provider: Provider, body: bytes) -> None:
    phone = Phone()
    metadata = phone.metadata(provider.issuer)
    for path in ("face-token", "attempt", "abort", "enroll"):
        url = f"{metadata['device_ceremony_endpoint']}/{path}"
        reply = phone.connections.send(path, "POST", url, {"Content-Type": "application/json"}, body)
        assert (reply.status, reply.error) == (400, "invalid_request"), path


def test_a_phone_reports_the_third_mismatch(provider: Provider) -> None:
    phone, _ = provider.enrolled_phone()
    with pytest.raises(Failed, match="faceMismatch"):
        phone.sign_in(provider.config(), ("mismatch", "mismatch", "mismatch", "match"))
