"""The program at an authorization server nobody here wrote (authgent-server), its proofs judged by pydpop."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from pydpop import DPoPError, generate_key, generate_proof, verify_proof

from authgent import authgent
from program import COMMAND_SECONDS, ENVIRONMENT, Ran, Understudy
from resource_server import NONCE, ResourceServer, Seen
from two_libraries import verify_with_jwks

DEVICE = "ada"
CALLBACK = "http://127.0.0.1:7429/callback"


@dataclass(frozen=True)
class Client:
    """A phone of the program, and the client it registered at the server."""

    understudy: Understudy
    issuer: str
    client_id: str

    def login(self, *options: str) -> Ran:
        return self.understudy.run("oauth", "login", "--device", DEVICE, "--issuer", self.issuer, "--client",
                                   self.client_id, *options)

    def fetch(self, url: str, *options: str) -> Ran:
        return self.understudy.run("fetch", url, "--device", DEVICE, *options)

    def calls(self, flow: str) -> list[tuple[str, Any, Any]]:
        """Name, status and error of every call of a flow."""
        steps = self.understudy.run("flow", "show", flow).document["steps"]
        return [(step["call"], step.get("status"), step.get("error")) for step in steps if step["kind"] == "call"]

    @property
    def install_jkt(self) -> str:
        return self.understudy.run("device", "show", DEVICE).document["install_jkt"]

    def jwks(self) -> Any:
        return requests.get(f"{self.issuer}/.well-known/jwks.json", timeout=10).json()


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with authgent(tmp_path_factory.mktemp("authgent")) as issuer:
        yield issuer


@pytest.fixture
def client(understudy: Understudy, issuer: str) -> Client:
    assert understudy.run("device", "create", DEVICE).code == 0
    registered = understudy.run("oauth", "register", "--issuer", issuer, "--scope", "read write")
    assert registered.code == 0, registered.document
    assert registered.document["redirect_uris"] == [CALLBACK]
    assert registered.document["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in registered.document
    return Client(understudy, issuer, registered.document["client_id"])


@pytest.fixture
def api(issuer: str) -> Iterator[ResourceServer]:
    with ResourceServer(f"{issuer}/.well-known/jwks.json") as server:
        yield server


def as_sent(api: ResourceServer, request: Seen) -> requests.Response:
    return requests.request(request.method, request.url, timeout=10,
                            headers={"Authorization": f"DPoP {request.token}", "DPoP": request.proof})


# The sign-in

def test_a_sign_in_answers_the_nonce_challenge(client: Client) -> None:
    ran = client.login("--scope", "read")
    assert ran.outcome == (0, "signed_in", None), ran.document
    assert client.calls(ran.document["flow"]) == [
        ("discovery", 200, None), ("authorize", 302, None), ("token", 401, "use_dpop_nonce"), ("token", 200, None)]
    session = ran.document["session"]
    assert session["scope"] == ["read"]
    assert session["subject"] is None and session["claims"] is None, "this server issues no ID token"
    assert session["has_refresh_token"]


def test_the_access_token_is_bound_to_the_install_key(client: Client) -> None:
    ran = client.login("--scope", "read", "--show-tokens")
    token = verify_with_jwks(ran.document["session"]["access_token"], client.jwks())
    assert token.claims["cnf"]["jkt"] == client.install_jkt
    assert token.claims["client_id"] == client.client_id


def test_tokens_are_shown_only_where_asked_for(client: Client) -> None:
    assert not {"access_token", "refresh_token"} & client.login().document["session"].keys()


def test_a_browser_comes_back_to_loopback(client: Client) -> None:
    command = [str(client.understudy.binary), "oauth", "login", "--browser", "--device", DEVICE, "--issuer",
               client.issuer, "--client", client.client_id, "--redirect-uri", CALLBACK, "--state",
               str(client.understudy.state)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
    try:
        assert process.stdout
        address = next(match[1] for line in process.stdout if (match := re.search(r"in a browser: (\S+)", line)))
        # A page somebody else opens at the port is not the redirect.
        assert requests.get("http://127.0.0.1:7429/favicon.ico", timeout=10).status_code == 404
        page = requests.get(address, timeout=10)
        assert page.url.startswith(CALLBACK) and page.status_code == 200
        output = process.stdout.read()
        assert process.wait(timeout=COMMAND_SECONDS) == 0, output
        assert "signed in" in output
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("options, reason", [
    (("--redirect-uri", "http://127.0.0.1:7429/other"), "server"),
    (("--fault", "lose-reply:token:2"), "network"),
    (("--fault", "drop:authorize:2"), "network"),
    (("--fault", "status-503:token"), "server"),
    (("--redirect-uri", "not-a-uri"), None),
])
def test_a_failure_has_its_reason_and_leaves_no_session(
        client: Client, options: tuple[str, ...], reason: str | None) -> None:
    ran = client.login(*options)
    if reason is None:
        assert ran.code == 65 and ran.document["error"]["field"] == "redirect_uri"
    else:
        assert ran.outcome == (1, "failed", reason), ran.document
    assert client.understudy.run("session", "show", "--device", DEVICE).code == 1


def test_a_client_nobody_registered_is_refused(client: Client) -> None:
    stranger = Client(client.understudy, client.issuer, "nobody")
    assert stranger.login().outcome == (1, "failed", "server")


def test_a_lost_answer_to_the_token_request_is_made_good(client: Client) -> None:
    # The first token request is the one that is asked for a nonce: losing that answer spends no code.
    assert client.login("--fault", "lose-reply:token").outcome == (0, "signed_in", None)


def test_a_refresh_rotates_the_tokens_under_the_same_key(client: Client, api: ResourceServer) -> None:
    before = client.login("--scope", "read", "--show-tokens").document["session"]
    refreshed = client.understudy.run("session", "refresh", "--device", DEVICE)
    assert refreshed.code == 0, refreshed.document
    after = client.understudy.run("session", "show", "--device", DEVICE, "--show-tokens").document
    assert after["access_token"] != before["access_token"] and after["refresh_token"] != before["refresh_token"]
    assert verify_with_jwks(after["access_token"], client.jwks()).claims["cnf"]["jkt"] == client.install_jkt
    assert client.fetch(f"{api.origin}/accounts").document["status"] == 200
    assert api.seen[0].token == after["access_token"]


def test_a_browser_may_come_back_to_a_port_the_system_picked(understudy: Understudy, issuer: str) -> None:
    """This server knows redirect URIs byte for byte, so the port that was picked is refused; but it was listened at."""
    understudy.run("device", "create", DEVICE)
    command = [str(understudy.binary), "oauth", "login", "--browser", "--device", DEVICE, "--issuer", issuer, "--client",
               "nobody", "--state", str(understudy.state)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
    try:
        assert process.stdout
        address = next(match[1] for line in process.stdout if (match := re.search(r"in a browser: (\S+)", line)))
        query = parse_qs(urlsplit(address).query)
        (callback,), (state,) = query["redirect_uri"], query["state"]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/callback", callback)
        refusal = {"error": "access_denied", "state": state, "iss": issuer}
        assert requests.get(callback, params=refusal, timeout=10).status_code == 200
        output = process.stdout.read()
        assert process.wait(timeout=COMMAND_SECONDS) == 1 and "notAllowed" in output, output
    finally:
        process.kill()
        process.wait()


def test_signing_out_forgets_the_session(client: Client) -> None:
    client.login()
    assert client.understudy.run("session", "sign-out", "--device", DEVICE).code == 0
    assert client.understudy.run("session", "show", "--device", DEVICE).code == 1


# Calls of an API, judged by pydpop

def test_a_call_passes_pydpop(client: Client, api: ResourceServer) -> None:
    client.login("--scope", "read")
    fetched = client.fetch(f"{api.origin}/accounts?page=2")
    assert (fetched.code, fetched.document["status"]) == (0, 200), fetched.document
    assert client.install_jkt in fetched.document["body"]
    (request,) = api.seen
    judged = verify_proof(proof=request.proof, htm="GET", htu=f"{api.origin}/accounts", access_token=request.token)
    assert judged["claims"]["htu"] == f"{api.origin}/accounts", "no query in htu"
    assert judged["jwk_thumbprint"] == client.install_jkt


def test_every_call_has_a_proof_of_its_own(client: Client, api: ResourceServer) -> None:
    client.login()
    for _ in range(3):
        assert client.fetch(f"{api.origin}/accounts").document["status"] == 200
    assert client.fetch(f"{api.origin}/payments", "--data", "{}").document["status"] == 200
    assert len({request.proof for request in api.seen}) == 4


def test_the_api_may_ask_for_a_nonce_of_its_own(client: Client, api: ResourceServer) -> None:
    api.wants_nonce = True
    client.login()
    fetched = client.fetch(f"{api.origin}/accounts")
    assert fetched.document["status"] == 200, fetched.document
    first, second = api.seen
    assert verify_proof(proof=second.proof, htm="GET", htu=second.url, access_token=second.token,
                        expected_nonce=NONCE)
    with pytest.raises(DPoPError, match="nonce"):
        verify_proof(proof=first.proof, htm="GET", htu=first.url, access_token=first.token, expected_nonce=NONCE)


def test_a_proof_is_good_for_its_request_alone(client: Client, api: ResourceServer) -> None:
    client.login()
    client.fetch(f"{api.origin}/accounts")
    (sent,) = api.seen
    bent = [
        {"htu": f"{api.origin}/other"}, {"htm": "POST"}, {"access_token": sent.token + "x"}, {"now": 1},
        {"expected_nonce": NONCE},
    ]
    good: dict[str, Any] = {"proof": sent.proof, "htm": "GET", "htu": sent.url, "access_token": sent.token}
    verify_proof(**good)
    for change in bent:
        with pytest.raises(DPoPError):
            verify_proof(**{**good, **change})


def test_a_replay_is_refused(client: Client, api: ResourceServer) -> None:
    client.login()
    assert client.fetch(f"{api.origin}/accounts").document["status"] == 200
    again = as_sent(api, api.seen[0])
    assert (again.status_code, again.json()["detail"]) == (401, "replayed jti")


def test_a_stolen_token_is_of_no_use_with_another_key(client: Client, api: ResourceServer) -> None:
    client.login()
    client.fetch(f"{api.origin}/accounts")
    sent = api.seen[0]
    proof = generate_proof(private_key=generate_key(), htm="GET", htu=sent.url, access_token=sent.token)
    stolen = as_sent(api, Seen(sent.url, "GET", sent.token, proof))
    assert (stolen.status_code, stolen.json()["error"]) == (401, "invalid_token")


def test_without_a_session_the_api_is_asked_without_one(client: Client, api: ResourceServer) -> None:
    fetched = client.fetch(f"{api.origin}/accounts")
    assert fetched.document["status"] == 401 and not fetched.document["authorized"]
