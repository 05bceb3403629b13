"""Proofs that nobody must believe, each sent to the challenge endpoint of both providers, and some that all must."""

from __future__ import annotations

import base64
import http.client
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from joserfc.jwk import ECKey

from phone import Phone
from phone_flow import Flow
from phone_wire import Reply, dpop_proof, public, sign
from providers import Provider
from two_libraries import b64u, take_apart, unb64u


def _claims(url: str, **changes: Any) -> dict[str, Any]:
    claims = {"jti": b64u(b"%032d" % time.monotonic_ns()), "htm": "POST", "htu": url, "iat": int(time.time())}
    return claims | changes


def _resigned(proof: str, signature: Callable[[bytes], str]) -> str:
    return proof.rpartition(".")[0] + "." + signature(take_apart(proof).signature)


def _der(raw: bytes) -> str:
    return b64u(encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")))


def _with_header(proof: str, header: bytes) -> str:
    return b64u(header) + "." + proof.partition(".")[2]


LEADING_ZERO = ECKey.import_key({
    "kty": "EC", "crv": "P-256", "d": "7zLr_BENm3m1pP8j0zpaLGuKd4XB20OyqagycwBnNaU",
    "x": "APFyjLiNwUmncHSgm2nh3ywBfClkVURVtu938qqKA4k", "y": "kI7bTBQs36tSsuymgVxbsBgGWjX95uekdAZObAstQMo"})


def _short_x() -> dict[str, str]:
    return public(LEADING_ZERO) | {"x": b64u(unb64u(public(LEADING_ZERO)["x"])[1:])}


BAD_PROOFS: dict[str, Callable[[ECKey, str], str]] = {
    "typ JWT": lambda key, url: dpop_proof(key, _claims(url), typ="JWT"),
    "no typ": lambda key, url: sign({"jwk": public(key)}, _claims(url), key),
    "no jwk": lambda key, url: sign({"typ": "dpop+jwt"}, _claims(url), key),
    "the private key in jwk": lambda key, url: dpop_proof(key, _claims(url), jwk=key.as_dict(private=True)),
    "a key of its own in jwk": lambda key, url: dpop_proof(key, _claims(url), jwk=public(ECKey.generate_key("P-256"))),
    "x of 31 bytes": lambda key, url: dpop_proof(LEADING_ZERO, _claims(url), jwk=_short_x()),
    "a point off the curve": lambda key, url: dpop_proof(key, _claims(url), jwk=public(key) | {"x": "A" * 43}),
    "alg none": lambda key, url: _with_header(dpop_proof(key, _claims(url)), b'{"typ":"dpop+jwt","alg":"none"}'),
    "alg HS256": lambda key, url: _with_header(dpop_proof(key, _claims(url)), b'{"typ":"dpop+jwt","alg":"HS256"}'),
    "alg twice": lambda key, url: _with_header(dpop_proof(key, _claims(url)), b'{"alg":"ES256","alg":"ES256"}'),
    "a header that is no object": lambda key, url: _with_header(dpop_proof(key, _claims(url)), b"[1]"),
    "a DER signature": lambda key, url: _resigned(dpop_proof(key, _claims(url)), _der),
    "63 bytes of signature": lambda key, url: _resigned(dpop_proof(key, _claims(url)), lambda raw: b64u(raw[:63])),
    "65 bytes of signature": lambda key, url: _resigned(dpop_proof(key, _claims(url)), lambda raw: b64u(raw + b"\0")),
    "a zero signature": lambda key, url: _resigned(dpop_proof(key, _claims(url)), lambda raw: b64u(bytes(64))),
    "a flipped bit": lambda key, url: _resigned(dpop_proof(key, _claims(url)), lambda raw: b64u(
        bytes([raw[0] ^ 1]) + raw[1:])),
    "a padded signature": lambda key, url: _resigned(
        dpop_proof(key, _claims(url)), lambda raw: base64.urlsafe_b64encode(raw).decode()),
    "two segments": lambda key, url: dpop_proof(key, _claims(url)).rpartition(".")[0],
    "two proofs in one field": lambda key, url: ", ".join(dpop_proof(key, _claims(url)) for _ in range(2)),
    "htm in lower case": lambda key, url: dpop_proof(key, _claims(url, htm="post")),
    "another htm": lambda key, url: dpop_proof(key, _claims(url, htm="GET")),
    "another path": lambda key, url: dpop_proof(key, _claims(url + "s")),
    "a slash at the end": lambda key, url: dpop_proof(key, _claims(url + "/")),
    "another host": lambda key, url: dpop_proof(key, _claims(url.replace("127.0.0.1", "127.0.0.2"))),
    "another scheme": lambda key, url: dpop_proof(key, _claims(url.replace("http:", "https:"))),
    "userinfo in htu": lambda key, url: dpop_proof(key, _claims(url.replace("//", "//me@"))),
    "iat in two minutes": lambda key, url: dpop_proof(key, _claims(url, iat=int(time.time()) + 120)),
    "iat an hour ago": lambda key, url: dpop_proof(key, _claims(url, iat=int(time.time()) - 3600)),
    "iat in milliseconds": lambda key, url: dpop_proof(key, _claims(url, iat=int(time.time() * 1000))),
    "iat a string": lambda key, url: dpop_proof(key, _claims(url, iat=str(int(time.time())))),
    "iat a fraction": lambda key, url: dpop_proof(key, _claims(url, iat=time.time() + 0.25)),
    "iat negative": lambda key, url: dpop_proof(key, _claims(url, iat=-1)),
    "iat huge": lambda key, url: dpop_proof(key, _claims(url, iat=10**18)),
    "iat true": lambda key, url: dpop_proof(key, _claims(url, iat=True)),
    "jti of 10 kB": lambda key, url: dpop_proof(key, _claims(url, jti="j" * 10_000)),
    "jti missing": lambda key, url: dpop_proof(
        key, {name: value for name, value in _claims(url).items() if name != "jti"}),
    "jti empty": lambda key, url: dpop_proof(key, _claims(url, jti="")),
    "jti a number": lambda key, url: dpop_proof(key, _claims(url, jti=7)),
    "not a token at all": lambda key, url: "x",
}


def _start_with(flow: Flow, *proofs: str) -> Reply:
    """A start with exactly these DPoP headers."""
    parts = urlsplit(flow.challenge_url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    body = urlencode(flow.start_form()).encode()
    connection.putrequest("POST", parts.path)
    connection.putheader("Content-Type", "application/x-www-form-urlencoded")
    connection.putheader("Content-Length", str(len(body)))
    for proof in proofs:
        connection.putheader("DPoP", proof)
    connection.endheaders(body)
    response = connection.getresponse()
    reply = Reply(response.status, response.getheaders(), response.read())
    connection.close()
    return reply


@pytest.mark.parametrize("name", BAD_PROOFS)
def test_a_bad_proof_is_refused(provider: Provider, name: str) -> None:
    flow = Phone().flow(provider.config())
    reply = _start_with(flow, BAD_PROOFS[name](flow.phone.client.key, flow.challenge_url))
    assert (reply.status, reply.error) == (400, "invalid_dpop_proof")


def test_no_proof_and_two_proofs_are_refused(provider: Provider) -> None:
    flow = Phone().flow(provider.config())
    proofs = [flow.phone.client.proof("POST", flow.challenge_url) for _ in range(2)]
    assert (_start_with(flow).status, _start_with(flow).error) == (400, "invalid_dpop_proof")
    assert (_start_with(flow, *proofs).status, _start_with(flow, *proofs).error) == (400, "invalid_dpop_proof")


def test_a_made_up_nonce_is_answered_with_a_real_one(provider: Provider) -> None:
    flow = Phone().flow(provider.config())
    proof = dpop_proof(flow.phone.client.key, _claims(flow.challenge_url, nonce="made-up"))
    reply = _start_with(flow, proof)
    assert (reply.status, reply.error) == (400, "use_dpop_nonce") and reply.header("DPoP-Nonce")


@pytest.mark.parametrize("spelling", [
    lambda url: url + "?page=1#top",
    lambda url: url.replace("http://", "HTTP://"),
    lambda url: url.replace("/oauth2/", "/./oauth2/"),
    lambda url: url.replace("/oauth2/", "/%6fauth2/"),
])
def test_another_spelling_of_the_same_htu_is_accepted(provider: Provider, spelling: Callable[[str], str]) -> None:
    flow = Phone().flow(provider.config())
    proof = dpop_proof(flow.phone.client.key, _claims(spelling(flow.challenge_url)))
    assert _start_with(flow, proof).error == "insufficient_authorization"


def test_a_key_with_a_leading_zero_signs_in(provider: Provider) -> None:
    phone, user = provider.enrolled_phone()
    phone.client = type(phone.client)(LEADING_ZERO, phone.connections)
    assert phone.client.jkt == "vY3L2LeMkROKHrd0ol_UvSYKfMn7L5eKI8bcUkEWVFs"
    session = phone.sign_in(provider.config())
    assert session.id_claims["sub"] == user["id"]
    assert phone.call_api(session, f"{provider.resource}/accounts").status == 200
