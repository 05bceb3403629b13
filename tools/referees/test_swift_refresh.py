"""The understudy program keeps a session alive with its refresh token, and notices when the provider ended it."""

from __future__ import annotations


from enrolled import SIGNED_IN, Enrolled

RENEWABLE = ("openid", "offline_access")


def test_a_session_about_to_expire_is_refreshed_before_the_call(device: Enrolled) -> None:
    device.idp.manage("PATCH", "tenants/acme/applications/app_demo", {"access_token_lifetime": 20})
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    device.idp.manage("DELETE", "log")
    assert device.fetch("accounts").document["status"] == 200
    assert device.idp.calls() == ["refresh", "api"]


def test_an_invalid_token_is_refreshed_once_and_the_call_repeated(device: Enrolled) -> None:
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    device.idp.fail("api", "status", status=401, body={"error": "invalid_token"},
                    headers={"WWW-Authenticate": 'DPoP error="invalid_token", algs="ES256"'})
    device.idp.manage("DELETE", "log")
    assert device.fetch("accounts").document["status"] == 200
    assert device.idp.calls() == ["api", "refresh", "api"]


def test_a_revoked_session_ends_and_the_call_goes_out_without_it(device: Enrolled) -> None:
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    device.idp.manage("POST", f"tenants/acme/users/{device.user['id']}/revoke")
    assert device.fetch("accounts").document["status"] == 401
    device.idp.manage("DELETE", "log")
    assert device.fetch("accounts").document["status"] == 401
    assert device.idp.calls() == ["api"] and device.idp.log("api")[0]["dpop"] == []
