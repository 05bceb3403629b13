"""Client assertions at both providers (wire page, section 12): what is taken, and what nobody may take."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from joserfc import jwk

from confidential import ASSERTION_TYPE, CLIENT, Client, Tenant
from phone import Phone
from phone_flow import Flow
from phone_wire import Reply
from providers import Provider
from two_libraries import b64u

RSA_KEY = jwk.RSAKey.generate_key(2048)
STRANGER = jwk.ECKey.generate_key("P-256")
Credentials = Callable[[Client], dict[str, str]]


def changed(**changes: Any) -> Credentials:
    return lambda client: client.credentials(**changes)


def now() -> int:
    return int(time.time())


def mac_assertion(client: Client) -> str:
    """An assertion "signed" with what everybody knows: the public key as the key of a MAC."""
    header = b64u(json.dumps({"alg": "HS256", "kid": client.kid}).encode())
    signed = f"{header}.{b64u(json.dumps(client.claims()).encode())}"
    return f"{signed}.{b64u(hmac.digest(client.key.as_pem(private=False), signed.encode(), 'sha256'))}"


BAD: dict[str, Credentials] = {
    "aud as an array": lambda client: client.credentials(aud=[client.issuer]),
    "aud as an array of two": lambda client: client.credentials(aud=[client.issuer, f"{client.issuer}/oauth2/token"]),
    "aud the token endpoint": lambda client: client.credentials(aud=f"{client.issuer}/oauth2/token"),
    "aud the challenge endpoint": lambda client: client.credentials(aud=f"{client.issuer}/oauth2/challenge"),
    "aud with a slash": lambda client: client.credentials(aud=f"{client.issuer}/"),
    "no aud": changed(aud=None),
    "iss is not sub": changed(iss="app_demo"),
    "sub of another": changed(sub="app_demo"),
    "no iss": changed(iss=None),
    "no jti": changed(jti=None),
    "jti a number": changed(jti=7),
    "no exp": changed(exp=None),
    "expired": lambda client: client.credentials(exp=now() - 1, iat=now() - 61),
    "lives an hour": lambda client: client.credentials(exp=now() + 3600),
    "iat two minutes ahead": lambda client: client.credentials(iat=now() + 120, exp=now() + 150),
    "nbf two minutes ahead": lambda client: client.credentials(nbf=now() + 120),
    "HS256 with the public key": lambda client: client.credentials() | {"client_assertion": mac_assertion(client)},
    "RS256": lambda client: client.credentials(header={"alg": "RS256"}, key=RSA_KEY),
    "PS256 by a key nobody registered": lambda client: client.credentials(header={"alg": "PS256"}, key=RSA_KEY),
    "a stranger's key": changed(key=STRANGER),
    "another kid": changed(header={"kid": "k9"}),
    "no signature": lambda client: client.credentials() | {
        "client_assertion": client.assertion().rpartition(".")[0] + "."},
    "another type": lambda client: client.credentials() | {"client_assertion_type": "urn:x"},
    "no type": lambda client: {"client_assertion": client.assertion()},
    "a type alone": lambda client: {"client_assertion_type": ASSERTION_TYPE},
    "nothing": lambda client: {},
}


@pytest.fixture
def tenant(provider: Provider) -> Tenant:
    return Tenant(provider)


def begun(tenant: Tenant) -> tuple[Phone, Flow]:
    """A flow of an enrolled phone, its completion still to come."""
    phone = tenant.phone()
    flow = phone.flow(tenant.config("openid", "offline_access"))
    assert flow.start().error == "insufficient_authorization"
    assert flow.fetch_face_token().status == 200
    content = phone.face.open(flow.face_token)
    assert content is not None
    flow.rotate(content)
    return phone, flow


def refused(reply: Reply) -> bool:
    return (reply.status, reply.error) == (401, "invalid_client")


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_bad_assertion_opens_no_session(tenant: Tenant, bad: Credentials) -> None:
    phone = tenant.phone()
    flow = phone.flow(tenant.config())
    phone.client.credentials = lambda: bad(tenant.client)
    assert refused(flow.start())
    phone.client.credentials = tenant.client.credentials
    assert flow.start().status == 403


@pytest.mark.parametrize("name", ["aud as an array", "a stranger's key", "RS256", "expired", "nothing"])
def test_a_bad_assertion_uses_nothing_up_at_any_endpoint(tenant: Tenant, name: str) -> None:
    phone, flow = begun(tenant)

    def good() -> None:
        phone.client.credentials = tenant.client.credentials

    def bad() -> None:
        phone.client.credentials = lambda: BAD[name](tenant.client)

    bad()
    assert refused(flow.complete())
    good()
    code = flow.complete().json()["authorization_code"]
    bad()
    assert refused(flow.redeem(code))
    good()
    session = phone.accept_tokens(flow.config, flow.redeem(code), flow.nonce)
    bad()
    assert refused(phone.refresh_reply(session))
    good()
    session = phone.refresh(session)
    bad()
    assert refused(phone.sign_out(session))
    assert phone.call_api(session, f"{tenant.resource}/accounts").status == 200
    good()
    assert phone.sign_out(session).status == 200
    assert phone.call_api(session, f"{tenant.resource}/accounts").status == 401


def test_an_assertion_is_good_once_whatever_the_endpoint(tenant: Tenant) -> None:
    phone, flow = begun(tenant)
    used = tenant.client.credentials()
    phone.client.credentials = lambda: used
    code = flow.complete().json()["authorization_code"]
    assert refused(flow.complete()) and refused(flow.redeem(code)) and refused(flow.start())
    phone.client.credentials = tenant.client.credentials
    assert flow.redeem(code).status == 200


def test_another_assertion_with_a_used_jti_is_refused(tenant: Tenant) -> None:
    phone = tenant.phone()
    phone.client.credentials = lambda: tenant.client.credentials(jti="the same again")
    flow = phone.flow(tenant.config())
    assert flow.start().status == 403
    assert refused(flow.start())


def test_a_nonce_challenge_uses_up_no_assertion(tenant: Tenant) -> None:
    phone, flow = begun(tenant)
    kept = tenant.client.credentials()
    phone.client.credentials = lambda: kept
    phone.client.nonces.clear()
    assert flow.complete().status == 200


@pytest.mark.parametrize("key", [jwk.ECKey.generate_key("P-256"), RSA_KEY], ids=["ES256", "PS256"])
def test_a_whole_life_with_either_algorithm(provider: Provider, key: jwk.ECKey | jwk.RSAKey) -> None:
    tenant = Tenant(provider, key)
    provider.manage("PATCH", "tenants/fapi/policy", {"nonce_on_start": True})
    phone = tenant.phone()
    session = phone.sign_in(tenant.config("openid", "offline_access"), ("mismatch", "match"))
    assert phone.call_api(session, f"{tenant.resource}/accounts").status == 200
    session = phone.refresh(session)
    assert phone.sign_out(session).status == 200


@pytest.mark.parametrize("good", [
    changed(), changed(header={"typ": "client-authentication+jwt"}), changed(iat=None), changed(header={"kid": "k1"}),
    lambda client: client.credentials(iat=now() + 10, nbf=now() + 10, exp=now() + 70),
    lambda client: client.credentials(exp=now() + 290), changed(extra={"deep": [1]}),
], ids=["plain", "typ", "no iat", "kid", "10 s ahead", "290 s of life", "other claims"])
def test_what_fapi_allows_is_taken(tenant: Tenant, good: Credentials) -> None:
    phone = tenant.phone()
    phone.client.credentials = lambda: good(tenant.client)
    assert phone.flow(tenant.config()).start().status == 403


def test_client_id_may_be_left_out_and_must_agree(tenant: Tenant) -> None:
    phone = tenant.phone()
    flow = phone.flow(tenant.config())
    form = flow.start_form()
    del form["client_id"]
    assert phone.client.post_form("start", flow.challenge_url, form).status == 403
    assert refused(phone.client.post_form("start", flow.challenge_url, form | {"client_id": "app_demo"}))


def test_a_refresh_token_follows_the_client_and_not_the_dpop_key(tenant: Tenant) -> None:
    phone = tenant.phone()
    session = phone.sign_in(tenant.config("openid", "offline_access"))
    other = Phone()
    other.client.credentials = tenant.client.credentials
    renewed = other.refresh(session)
    assert renewed.access_claims["cnf"] == {"jkt": other.client.jkt}


def test_a_replaced_key_is_good_for_nothing(tenant: Tenant) -> None:
    phone = tenant.phone()
    old = tenant.client
    tenant.register(Client(tenant.issuer, STRANGER))
    phone.client.credentials = old.credentials
    assert refused(phone.flow(tenant.config()).start())


def test_a_public_client_brings_no_assertion(provider: Provider) -> None:
    phone, _ = provider.enrolled_phone()
    client = Client(provider.issuer, STRANGER, client_id="app_demo")
    phone.client.credentials = client.credentials
    assert refused(phone.flow(provider.config()).start())


def test_the_metadata_says_so(provider: Provider) -> None:
    phone = Phone()
    fapi = phone.get_json("metadata", f"{provider.origin}/fapi/.well-known/openid-configuration")
    for kind in ("token", "revocation"):
        assert fapi[f"{kind}_endpoint_auth_methods_supported"] == ["private_key_jwt"]
        assert set(fapi[f"{kind}_endpoint_auth_signing_alg_values_supported"]) == {"ES256", "PS256"}


def test_the_seeded_application_has_no_keys(provider: Provider) -> None:
    client = Client(f"{provider.origin}/fapi", STRANGER)
    phone = Phone()
    assert phone.enrol(client.issuer, provider.new_user(tenant="fapi")["ticket"]).status == 201
    phone.client.credentials = client.credentials
    config = provider.config(issuer=client.issuer, client_id=CLIENT, resource=f"{provider.api}/fapi")
    assert refused(phone.flow(config).start())
