"""How the Python identity provider authenticates attested clients: the attestation draft, -11, in both of its modes.

Written from the draft's digest; joserfc checks every signature.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from joserfc import jwk, jws

from idp_proofs import Malformed, Proof, SignedObject
from idp_rules import Place, Refusal

NORMAL, COMBINED = "attest_jwt_client_auth", "attest_jwt_client_auth_dpop"
METHODS = (NORMAL, COMBINED)
ATTESTATION_TYPE, POP_TYPE = "oauth-client-attestation+jwt", "oauth-client-attestation-pop+jwt"
POP_AGE = AHEAD = 60
ATTESTATION_AGE = 86_400


@dataclass(frozen=True)
class AttestedClient:
    """A client instance: the thumbprint of its key, and the proof's identifier, still to be used up."""

    instance: str
    jti: str | None


def verified(place: Place, client_id: str, method: str, headers: Any, challenge_is_known: Any,
             attesters: list[dict[str, Any]]) -> AttestedClient:
    """Checks the headers of one request; a proof of combined mode is the DPoP proof, which is checked elsewhere."""
    attestations = headers.get_all("OAuth-Client-Attestation") or []
    pops = headers.get_all("OAuth-Client-Attestation-PoP") or []
    if not attestations:
        raise Refusal(401, "invalid_client", "no attestation")
    if len(attestations) != 1 or len(pops) != (1 if method == NORMAL else 0):
        raise _refused("one attestation, and a proof in normal mode alone")
    claims = _by_attester(attestations[0], attesters)
    if claims.get("sub") != client_id:
        raise _refused("sub")
    if not isinstance(claims.get("exp"), int) or claims["exp"] <= place.now:
        raise Refusal(400, "use_fresh_attestation", "exp")
    if isinstance(claims.get("iat"), int) and claims["iat"] < place.now - ATTESTATION_AGE:
        raise Refusal(400, "use_fresh_attestation", "iat")
    members = claims.get("cnf", {}).get("jwk", {})
    if "d" in members:
        raise _refused("a private key in cnf")
    try:
        instance = jwk.ECKey.import_key(members)
    except Exception as error:  # noqa: BLE001 -- joserfc raises several kinds
        raise _refused("cnf.jwk") from error
    if method == COMBINED:
        return AttestedClient(instance.thumbprint(), None)
    return AttestedClient(instance.thumbprint(), _proven(place, pops[0], instance, challenge_is_known))


def subject(headers: Any) -> str:
    """The client an attestation speaks of, which a form need not repeat; nothing is checked yet."""
    try:
        return str(SignedObject.read((headers.get_all("OAuth-Client-Attestation") or [""])[0]).claims.get("sub", ""))
    except Malformed:
        return ""


def bound(place: Place, form: dict[str, str], client: AttestedClient) -> None:
    """What an instance opened, its code and its refresh token are for that instance alone."""
    tenant = place.tenant
    session = tenant.sessions.get(form.get("auth_session", ""))
    if session is not None and session.instance != client.instance:
        raise Refusal(400, "invalid_session", "another instance")
    code, held = tenant.codes.get(form.get("code", "")), tenant.refresh_tokens.get(form.get("refresh_token", ""))
    for owner in ([code.session.instance] if code else []) + ([held.grant.instance] if held else []):
        if owner != client.instance:
            raise Refusal(400, "invalid_grant", "another instance")


def same_key(client: AttestedClient, proof: Proof) -> None:
    """Combined mode: the DPoP proof is by the attested key."""
    if client.jti is None and client.instance != proof.jkt:
        raise _refused("the DPoP proof is by another key than cnf")


def _proven(place: Place, pop: str, instance: jwk.ECKey, challenge_is_known: Any) -> str:
    claims = _signed(pop, POP_TYPE, [instance])
    if claims.get("aud") != place.issuer:
        raise _refused("aud")
    if not isinstance(claims.get("jti"), str) or not isinstance(claims.get("iat"), int):
        raise _refused("jti or iat")
    if not place.now - POP_AGE <= claims["iat"] <= place.now + AHEAD:
        raise _refused("iat")
    if not challenge_is_known(claims.get("challenge")):
        raise Refusal(400, "use_attestation_challenge")
    if "iss" in claims or "exp" in claims:
        raise _refused("a claim that the draft took out")
    return claims["jti"]


def _by_attester(attestation: str, attesters: list[dict[str, Any]]) -> dict[str, Any]:
    return _signed(attestation, ATTESTATION_TYPE, [jwk.ECKey.import_key(members) for members in attesters])


def _signed(text: str, wanted_type: str, keys: list[jwk.ECKey]) -> dict[str, Any]:
    try:
        read = SignedObject.read(text)
    except Malformed as error:
        raise _refused(str(error)) from error
    if read.header.get("typ") != wanted_type or read.header.get("alg") != "ES256":
        raise _refused("typ or alg")
    for key in keys:
        try:
            return json.loads(jws.deserialize_compact(text, key, algorithms=["ES256"]).payload)
        except Exception:  # noqa: BLE001, S112 -- the next key may be the one
            continue
    raise _refused("signature")


def _refused(why: str) -> Refusal:
    return Refusal(400, "invalid_client_attestation", why)
