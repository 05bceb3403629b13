"""The understudy program as a confidential client's phone, against the Python provider, with all three providers."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from joserfc import jwk

from confidential import CLIENT, Backend, Tenant
from enrolled import DEVICE, SIGNED_IN
from program import Ran, Understudy
from providers import PythonProvider
from two_libraries import take_apart

KEYS = {"ES256": jwk.ECKey.generate_key("P-256"), "PS256": jwk.RSAKey.generate_key(2048)}
AUTHENTICATED = ("start", "completion", "token", "refresh", "revoke")


class Confidential:
    """One device of the program, enrolled with the Python provider's FAPI tenant."""

    def __init__(self, understudy: Understudy, idp: PythonProvider, key: Any) -> None:
        self.program, self.idp, self.tenant = understudy, idp, Tenant(idp, key)
        assert understudy.run("device", "create", DEVICE).code == 0
        ticket = idp.new_user(tenant="fapi")["ticket"]
        enrolled = understudy.run("enrol", "--device", DEVICE, "--issuer", self.tenant.issuer, "--ticket", ticket)
        assert enrolled.code == 0, enrolled
        idp.manage("DELETE", "log")

    def sign_in(self, *more: str) -> Ran:
        return self.program.run("signin", "--device", DEVICE, "--issuer", self.tenant.issuer, "--client", CLIENT,
                                "--resource", self.tenant.resource, "--scope", "openid", "--scope", "offline_access",
                                *more)

    def forms(self) -> list[dict[str, str]]:
        """The forms of every call that authenticates the client, in order."""
        return [dict(parse_qsl(entry["body"])) for entry in self.idp.log(*AUTHENTICATED)]

    def fresh_assertions(self) -> int:
        """How many assertions went out, once it is sure that each was a good one and none went out twice."""
        tokens = [take_apart(form["client_assertion"]) for form in self.forms()]
        for token in tokens:
            claims = token.claims
            assert claims["iss"] == claims["sub"] == CLIENT and claims["aud"] == self.tenant.issuer
            assert token.header["alg"] == self.tenant.client.alg and 0 < claims["exp"] - claims["iat"] <= 300
        assert len({token.claims["jti"] for token in tokens}) == len(tokens)
        for entry in self.idp.log("face-token", "attempt", "abort"):
            assert "assertion" not in entry["body"]
        return len(tokens)


@pytest.fixture(params=KEYS.values(), ids=KEYS.keys())
def phone(understudy: Understudy, python_idp: PythonProvider, request: pytest.FixtureRequest) -> Confidential:
    return Confidential(understudy, python_idp, request.param)


@pytest.fixture
def es256(understudy: Understudy, python_idp: PythonProvider) -> Confidential:
    return Confidential(understudy, python_idp, KEYS["ES256"])


def jwk_file(phone: Confidential, directory: Path) -> Path:
    path = directory / "key.jwk"
    path.write_text(json.dumps(phone.tenant.client.key.as_dict(private=True) | {"kid": phone.tenant.client.kid}))
    return path


def command(phone: Confidential, directory: Path) -> str:
    script = Path(__file__).with_name("mint_assertion.py")
    return shlex.join([sys.executable, str(script), str(jwk_file(phone, directory))])


@pytest.mark.parametrize("form", ["pem", "der", "jwk"])
def test_a_local_key_in_any_form(phone: Confidential, tmp_path: Path, form: str) -> None:
    path = jwk_file(phone, tmp_path)
    if form != "jwk":
        path = tmp_path / f"key.{form}"
        key = phone.tenant.client.key
        path.write_bytes(key.as_pem(private=True) if form == "pem" else key.as_der(private=True))
    assert phone.sign_in("--assertion-key", str(path), "--assertion-kid", phone.tenant.client.kid).outcome == SIGNED_IN
    assert phone.fresh_assertions() == 3


def test_a_command(phone: Confidential, tmp_path: Path) -> None:
    assert phone.sign_in("--assertion-command", command(phone, tmp_path)).outcome == SIGNED_IN
    assert phone.fresh_assertions() == 3


@pytest.mark.parametrize("kind", ["json", "text"])
def test_a_backend(phone: Confidential, kind: str) -> None:
    with Backend(phone.tenant.client, kind) as backend:
        assert phone.sign_in("--assertion-url", backend.url).outcome == SIGNED_IN
        assert phone.fresh_assertions() == len(backend.asked) == 3
        created = phone.program.run("device", "show", DEVICE).document
        assert {tuple(sorted(question.items())) for question in backend.asked} == {
            (("audience", phone.tenant.issuer), ("client_id", CLIENT), ("dpop_jkt", created["install_jkt"]))}


def test_every_attempt_carries_one_of_its_own(es256: Confidential, tmp_path: Path) -> None:
    es256.idp.manage("PATCH", "tenants/fapi/policy", {"nonce_on_start": True})
    es256.idp.fail("completion", "lose_reply")
    es256.idp.fail("token", "lose_reply")
    key = ("--assertion-key", str(jwk_file(es256, tmp_path)))
    assert es256.sign_in(*key).outcome == SIGNED_IN
    calls = [entry["call"] for entry in es256.idp.log("start", "completion", "token")]
    assert calls == ["start", "start", "completion", "completion", "token", "completion", "token"]
    assert es256.fresh_assertions() == 7


def test_refresh_and_sign_out_authenticate_too(es256: Confidential, tmp_path: Path) -> None:
    key = ("--assertion-key", str(jwk_file(es256, tmp_path)))
    assert es256.sign_in(*key).outcome == SIGNED_IN
    refreshed = es256.program.run("session", "refresh", "--device", DEVICE, *key)
    assert refreshed.code == 0, refreshed
    assert es256.program.run("session", "sign-out", "--device", DEVICE, *key).code == 0
    # Another process has no nonce yet, or has one: the calls are counted by what they are.
    assert [entry["status"] for entry in es256.idp.log("revoke")] == [200]
    es256.fresh_assertions()


def test_without_a_provider_the_session_is_kept(es256: Confidential, tmp_path: Path) -> None:
    key = ("--assertion-key", str(jwk_file(es256, tmp_path)))
    assert es256.sign_in(*key).outcome == SIGNED_IN
    refused = es256.program.run("session", "refresh", "--device", DEVICE)
    assert refused.code == 69 and "invalid_client" in refused.document["error"]["message"], refused
    assert es256.program.run("session", "show", "--device", DEVICE).document["has_refresh_token"] is True
    assert es256.program.run("session", "refresh", "--device", DEVICE, *key).code == 0


@pytest.mark.parametrize(("absent", "outcome"), [
    ({1}, SIGNED_IN), ({1, 2}, (1, "failed", "network")), ({2}, SIGNED_IN), ({3}, SIGNED_IN),
    ({2, 3}, (1, "parked", None)),
])
def test_a_backend_without_an_assertion_is_a_lost_request(
        es256: Confidential, absent: set[int], outcome: tuple[int, str, str | None]) -> None:
    with Backend(es256.tenant.client) as backend:
        backend.absent = absent
        ran = es256.sign_in("--assertion-url", backend.url)
        assert ran.outcome == outcome
        assert es256.fresh_assertions() == len(backend.asked) - len(absent)
        if outcome[1] == "parked":
            retried = es256.program.run("flow", "retry", ran.document["flow"], "--assertion-url", backend.url)
            assert retried.outcome == SIGNED_IN
            assert len(es256.idp.log("face-token")) == 1


@pytest.mark.parametrize("bad", ["exit 3", "true", "echo two words", "/no/such/program"])
def test_a_command_that_gives_none(es256: Confidential, bad: str) -> None:
    assert es256.sign_in("--assertion-command", bad).outcome == (1, "failed", "network")
    assert es256.forms() == []


def test_the_assertion_is_nowhere_in_what_is_said_and_kept(es256: Confidential, tmp_path: Path) -> None:
    ran = es256.sign_in("--assertion-key", str(jwk_file(es256, tmp_path)))
    said = json.dumps(ran.document).encode() + b"".join(
        path.read_bytes() for path in es256.program.state.rglob("*") if path.is_file())
    for form in es256.forms():
        assert form["client_assertion"].rpartition(".")[2].encode() not in said


def test_a_key_that_is_not_the_clients_is_refused_as_not_allowed(es256: Confidential, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    other.write_bytes(jwk.ECKey.generate_key("P-256").as_pem(private=True))
    ran = es256.sign_in("--assertion-key", str(other), "--assertion-kid", es256.tenant.client.kid)
    assert ran.outcome == (1, "failed", "notAllowed")


# Through a daemon

def test_a_daemon_with_a_key_for_the_client_needs_no_more(es256: Confidential, tmp_path: Path) -> None:
    program, path = es256.program, jwk_file(es256, tmp_path)
    with program.serve("--assertion-key", f"{CLIENT}={path}") as ready:
        es256.program = program.through(ready)
        assert es256.sign_in().outcome == SIGNED_IN
        assert es256.program.run("session", "refresh", "--device", DEVICE).code == 0
        assert es256.program.run("session", "sign-out", "--device", DEVICE).code == 0
    assert es256.fresh_assertions() == len(es256.forms()) >= 5
    assert [entry["status"] for entry in es256.idp.log("revoke")] == [200]


def test_a_key_given_with_a_flow_serves_until_the_daemon_ends(es256: Confidential, tmp_path: Path) -> None:
    program, key = es256.program, ("--assertion-key", str(jwk_file(es256, tmp_path)))
    with program.serve() as ready:
        es256.program = program.through(ready)
        assert es256.sign_in(*key).outcome == SIGNED_IN
        assert es256.program.run("session", "refresh", "--device", DEVICE).code == 0
    with program.serve() as ready:
        es256.program = program.through(ready)
        assert es256.program.run("session", "refresh", "--device", DEVICE).code == 69
        assert es256.program.run("session", "refresh", "--device", DEVICE, *key).code == 0


def test_a_daemon_runs_a_callers_command_only_where_it_was_told_it_may(es256: Confidential, tmp_path: Path) -> None:
    program, line = es256.program, command(es256, tmp_path)
    with program.serve() as ready:
        es256.program = program.through(ready)
        refused = es256.sign_in("--assertion-command", f"touch {tmp_path}/ran; {line}")
        assert refused.document["error"]["code"] == "commands_not_allowed"
    assert not (tmp_path / "ran").exists() and es256.forms() == []
    with program.serve("--allow-assertion-commands") as ready:
        es256.program = program.through(ready)
        assert es256.sign_in("--assertion-command", line).outcome == SIGNED_IN


@pytest.mark.parametrize("wrong", [
    ("--assertion-key", "/no/such/file"), ("--assertion-kid", "k1"), ("--assertion-url", "https://backend.example/a"),
    ("--assertion-url", "http://127.0.0.1:1/", "--assertion-command", "true"),
])
def test_a_provider_that_cannot_be_is_told_before_anything_is_sent(es256: Confidential, wrong: tuple[str, ...]) -> None:
    ran = es256.sign_in(*wrong)
    assert ran.code in (65, 78) and "error" in ran.document
    assert es256.idp.log() == []
