"""How the Python identity provider authenticates confidential clients: wire page, section 12."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from joserfc import jwk, jws

import idp_attestation
from idp_client_attestation import METHODS, POP_AGE, AttestedClient, subject, verified
from idp_proofs import Malformed, decode, json_object
from idp_rules import Place, Refusal, application

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ALGORITHMS = {"ES256": "EC", "PS256": "RSA"}
LONGEST_LIFE = 300
AHEAD = 60


@dataclass(frozen=True)
class Authenticated:
    """A client that is who it says; `jti` is still to be used up, where it needed an assertion."""

    client_id: str
    jti: str | None = None
    expires: float = 0
    attested: AttestedClient | None = None


def authenticate(place: Place, form: dict[str, str], headers: Any = None) -> Authenticated:
    """Who sends a form. Leaves no trace: `use_up` is for when the DPoP proof was good as well."""
    assertion = form.get("client_assertion")
    if assertion and not form.get("client_id"):
        form["client_id"] = _subject(assertion)
    elif not form.get("client_id") and headers is not None:
        form["client_id"] = subject(headers)
    client = application(place, form)
    if client.token_endpoint_auth_method in METHODS:
        return _attested(place, client.client_id, client.token_endpoint_auth_method, headers)
    confidential = client.token_endpoint_auth_method == "private_key_jwt" or place.tenant.profile == "fapi2"
    if not confidential:
        if assertion or form.get("client_assertion_type"):
            raise _refused("a public client brings no assertion")
        return Authenticated(client.client_id)
    if "client_secret" in form:
        raise Refusal(400, "invalid_request", "two methods of authentication")
    if form.get("client_assertion_type") != ASSERTION_TYPE or not assertion:
        raise _refused("no assertion")
    claims = _verified(assertion, client.jwks or {"keys": []})
    _check(claims, client.client_id, place)
    return Authenticated(client.client_id, claims["jti"], claims["exp"])


def _attested(place: Place, client_id: str, method: str, headers: Any) -> Authenticated:
    attesting = idp_attestation.of(place.tenant)
    known = lambda challenge: attesting.challenges.get(challenge, 0) > place.now  # noqa: E731
    client = verified(place, client_id, method, headers, known, attesting.attesters)
    return Authenticated(client_id, client.jti, place.now + 2 * POP_AGE, client)


def use_up(place: Place, client: Authenticated) -> None:
    """Takes an assertion's identifier, which is good once in the whole tenant."""
    if client.jti is None:
        return
    used = place.tenant.used_assertions
    for key in [key for key, expires in used.items() if expires <= place.now]:
        del used[key]
    if (client.client_id, client.jti) in used and client.attested is not None:
        raise Refusal(400, "invalid_client_attestation", "this proof was used before")
    if (client.client_id, client.jti) in used:
        raise _refused("this assertion was used before")
    used[client.client_id, client.jti] = client.expires


def _refused(why: str) -> Refusal:
    return Refusal(401, "invalid_client", why)


def _subject(assertion: str) -> str:
    try:
        return str(json_object(decode(assertion.split(".")[1])).get("sub"))
    except (Malformed, IndexError):
        return ""


def _verified(assertion: str, keys: dict[str, Any]) -> dict[str, Any]:
    """The claims of an assertion that one of the registered keys signed."""
    try:
        header = json_object(decode(assertion.split(".")[0]))
        kty = ALGORITHMS.get(str(header.get("alg")))
        named = [key for key in map(_key, keys["keys"]) if key.key_type == kty and header.get("kid") in (None, key.kid)]
        if len(named) != 1:
            raise Malformed("alg, or a kid that names no key")
        signed = jws.deserialize_compact(assertion, named[0], algorithms=[header["alg"]])
        return json_object(signed.payload)
    except Exception as error:
        raise _refused(f"the assertion does not verify: {type(error).__name__}") from error


def _key(members: dict[str, Any]) -> jwk.ECKey | jwk.RSAKey:
    kind = jwk.ECKey if members["kty"] == "EC" else jwk.RSAKey
    key = kind.import_key(members)
    return key if key.kid else kind.import_key(members | {"kid": key.thumbprint()})


def _check(claims: dict[str, Any], client_id: str, place: Place) -> None:
    wanted = {"iss": client_id, "sub": client_id, "aud": place.issuer}
    wrong = [name for name, value in wanted.items() if claims.get(name) != value]
    jti, times = claims.get("jti"), {name: claims[name] for name in ("exp", "iat", "nbf") if name in claims}
    if not isinstance(jti, str) or not 1 <= len(jti.encode()) <= 256:
        wrong.append("jti")
    if "exp" not in times or any(isinstance(t, bool) or not isinstance(t, (int, float)) for t in times.values()):
        raise _refused("exp, iat or nbf")
    wrong += [name for name in ("iat", "nbf") if times.get(name, 0) > place.now + AHEAD]
    if not place.now < times["exp"] <= times.get("iat", place.now) + LONGEST_LIFE:
        wrong.append("exp")
    if wrong:
        raise _refused(", ".join(wrong))
