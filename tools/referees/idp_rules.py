"""The rules of the Python identity provider, call by call, as docs/sensecrypt-wire.md states them.

Written from that page alone. No sockets here: `idp.py` reads requests and takes the lock.
"""

from __future__ import annotations

import hmac
import json
import re
from dataclasses import dataclass
from typing import Any, Callable

from idp_proofs import Malformed, Proof, SignedObject, decode, digest, encode, public_key
from idp_records import Application, Code, Device, Grant, RefreshToken, Session, Tenant, User, fresh

CLOCK_BEFORE_SESSION = 60
CLOCK_AHEAD = 10
MISMATCH_BUDGET = 3
START_PARAMETERS = ("response_type", "client_id", "nonce", "code_challenge", "code_challenge_method")
COMPLETION_PARAMETERS = ("response_type", "client_id", "auth_session", "ceremony_proof", "face_token")
CEREMONY_STRINGS = ("aud", "jti", "act", "cer", "chl", "ash", "jkt")
Body = dict[str, Any]


class Refusal(Exception):
    """An answer that says no."""

    def __init__(self, status: int, error: str, description: str = "") -> None:
        super().__init__(f"{status} {error} {description}")
        self.status = status
        self.body = {"error": error} | ({"error_description": description} if description else {})


def uniform() -> Refusal:
    """The one refusal that must not tell why."""
    return Refusal(403, "access_denied", "this ceremony cannot continue")


def require(form: dict[str, str], names: tuple[str, ...]) -> None:
    for name in names:
        if not form.get(name):
            raise Refusal(400, "invalid_request", f"{name} is missing")


@dataclass(frozen=True)
class Place:
    """A tenant, where it is reached, and the time there."""

    tenant: Tenant
    issuer: str
    api: str
    now: int


def application(place: Place, form: dict[str, str]) -> Application:
    found = place.tenant.applications.get(form.get("client_id", ""))
    if found is None:
        raise Refusal(401, "invalid_client")
    return found


def in_app_application(place: Place, form: dict[str, str]) -> Application:
    found = application(place, form)
    if not place.tenant.runs_own_app or not found.may_sign_in_in_app():
        raise Refusal(400, "unauthorized_client", "in-app sign-in is not on for this application")
    return found


# Call 1

def start(place: Place, form: dict[str, str], proof: Proof, look: Callable[[], None]) -> tuple[int, Body]:
    """`look` judges the app's evidence, once the request is known to be good."""
    client = in_app_application(place, form)
    require(form, START_PARAMETERS)
    if form["response_type"] != "code" or form["code_challenge_method"] != "S256":
        raise Refusal(400, "invalid_request", "response_type is code, code_challenge_method is S256")
    if not re.fullmatch(r"[A-Za-z0-9_-]{43}", form["code_challenge"]):
        raise Refusal(400, "invalid_request", "code_challenge")
    scope = form.get("scope") or "openid"
    if not set(scope.split(" ")) <= set(client.scopes):
        raise Refusal(400, "invalid_scope")
    if "resource" in form and form["resource"] not in client.resources:
        raise Refusal(400, "invalid_target")
    look()
    session = _open_session(place, form, scope, proof)
    return 403, {"error": "insufficient_authorization", "auth_session": session.auth_session,
                 "expires_in": session.expires - place.now,
                 "ceremony": {"id": session.cer, "challenge": session.chl}}


def _open_session(place: Place, form: dict[str, str], scope: str, proof: Proof) -> Session:
    tenant, hint = place.tenant, form.get("login_hint")
    session = Session(
        auth_session=fresh(), client_id=form["client_id"], jkt=proof.jkt, scope=scope,
        resource=form.get("resource"), nonce=form["nonce"], code_challenge=form["code_challenge"],
        cer=fresh(16), chl=fresh(), opened=place.now, expires=place.now + tenant.policy.session_lifetime,
        hinted=hint is not None, user=tenant.user_with_email(hint) if hint else None)
    tenant.sessions[session.auth_session] = session
    tenant.by_cer[session.cer] = session
    return session


# The signed device ceremony

def read_ceremony(place: Place, text: object, act: str) -> SignedObject:
    """A ceremony JWS of the right form; its signature and what it names are not checked yet."""
    try:
        signed = SignedObject.read(text)
        if signed.header.get("typ") != "device-ceremony+jwt" or type(signed.header.get("kid")) is not str:
            raise Malformed("typ or kid")
        for name in CEREMONY_STRINGS:
            signed.claim(name, str)
        if signed.claim("iat", int) > place.now + CLOCK_AHEAD or signed.claims["act"] != act:
            raise Malformed("iat or act")
        if not re.fullmatch(r"[A-Za-z0-9_-]{22,256}", signed.claims["jti"]):
            raise Malformed("jti")
        _read_act(signed, act)
    except Malformed as error:
        raise Refusal(400, "invalid_request", str(error)) from error
    return signed


def _read_act(signed: SignedObject, act: str) -> None:
    if act == "attempt" and (signed.claim("outcome", str) != "mismatch" or signed.claim("n", int) < 1):
        raise Malformed("outcome or n")
    if act == "complete" and (signed.claim("outcome", str) != "match" or signed.claim("gen", int) < 1
                              or not signed.claim("fth", str)):
        raise Malformed("outcome, gen or fth")
    if act == "abort":
        signed.claim("reason", str)


def fits(place: Place, session: Session, signed: SignedObject) -> bool:
    """Whether a ceremony JWS belongs to this session and names its keys."""
    claims = signed.claims
    return (claims["aud"] == place.issuer and claims["cer"] == session.cer and claims["chl"] == session.chl
            and claims["ash"] == digest(session.auth_session.encode()) and claims["jkt"] == session.jkt
            and claims["iat"] >= session.opened - CLOCK_BEFORE_SESSION)


def _ceremony(place: Place, body: Body, act: str) -> tuple[Session, SignedObject, User]:
    """The session, JWS and person of a ceremony call, or the uniform refusal."""
    signed = read_ceremony(place, body.get("request"), act)
    tenant, kid = place.tenant, signed.header["kid"]
    session, user = tenant.by_cer.get(signed.claims["cer"]), tenant.by_kid.get(kid)
    if session is None or user is None or not signed.signed_by(user.devices[kid].key):
        raise uniform()
    if not fits(place, session, signed) or not user.enabled:
        raise uniform()
    if session.hinted and session.user is not user or session.kid not in (None, kid):
        raise uniform()
    client = tenant.applications[session.client_id]
    if not tenant.runs_own_app or not client.may_sign_in_in_app():
        raise uniform()
    return session, signed, user


def _alive(place: Place, session: Session) -> None:
    if session.dead or session.expires <= place.now:
        raise Refusal(400, "invalid_session")


# Call 2 and what surrounds it

def face_token(place: Place, body: Body) -> tuple[int, Body]:
    session, signed, user = _ceremony(place, body, "face-token")
    _alive(place, session)
    session.user, session.kid = user, signed.header["kid"]
    device = user.devices[session.kid]
    return 200, {"face_token": encode(device.face_token), "generation": device.generation,
                 "password_protected": device.password_protected, "liveness_required": True,
                 "attempts_left": MISMATCH_BUDGET - len(session.mismatches),
                 "pki": {"enabled": False, "tenant_scope": False, "classes": []}}


def attempt(place: Place, body: Body) -> tuple[int, Body]:
    session, signed, _ = _ceremony(place, body, "attempt")
    if session.kid is None:
        raise uniform()
    if signed.claims["jti"] in session.mismatches:
        return 200, {"attempts_left": session.mismatches[signed.claims["jti"]]}
    _alive(place, session)
    if signed.claims["n"] != len(session.mismatches) + 1:
        raise Refusal(400, "invalid_request", "n does not follow")
    left = MISMATCH_BUDGET - len(session.mismatches) - 1
    session.mismatches[signed.claims["jti"]] = left
    session.dead = left == 0
    return 200, {"attempts_left": left}


def abort(place: Place, body: Body) -> tuple[int, Body]:
    session, _, _ = _ceremony(place, body, "abort")
    _alive(place, session)
    session.dead = True
    return 204, {}


# Call 3

def complete(place: Place, form: dict[str, str], proof: Proof) -> tuple[int, Body]:
    in_app_application(place, form)
    if "code_challenge" in form or "login_hint" in form:
        raise Refusal(400, "invalid_request", "both a start and a completion")
    require(form, COMPLETION_PARAMETERS)
    session = place.tenant.sessions.get(form["auth_session"])
    if session is None or session.jkt != proof.jkt or session.client_id != form["client_id"]:
        raise Refusal(400, "invalid_session")
    _alive(place, session)
    if session.ceremony_proof is not None:
        return 200, {"authorization_code": _code_again(place, session, form["ceremony_proof"])}
    _accept_ceremony_proof(place, session, form)
    session.ceremony_proof, session.auth_time = form["ceremony_proof"], place.now
    return 200, {"authorization_code": _new_code(place, session)}


def _accept_ceremony_proof(place: Place, session: Session, form: dict[str, str]) -> None:
    signed = read_ceremony(place, form["ceremony_proof"], "complete")
    kid, user = signed.header["kid"], session.user
    if session.kid is None or user is None or kid != session.kid:
        raise Refusal(400, "invalid_ceremony_proof")
    device = user.devices.get(kid)
    if device is None or not user.enabled:
        raise Refusal(403, "access_denied")
    try:
        rotated = decode(form["face_token"])
    except Malformed as error:
        raise Refusal(400, "invalid_request", "face_token") from error
    if not signed.signed_by(device.key) or not fits(place, session, signed) or digest(rotated) != signed.claims["fth"]:
        raise Refusal(400, "invalid_ceremony_proof")
    if signed.claims["gen"] != device.generation:
        raise Refusal(400, "face_token_stale")
    device.face_token, device.generation = rotated, device.generation + 1


def _new_code(place: Place, session: Session) -> str:
    session.code = fresh()
    place.tenant.codes[session.code] = Code(session, place.now + place.tenant.policy.code_lifetime)
    return session.code


def _code_again(place: Place, session: Session, ceremony_proof: str) -> str:
    """The same code while it can be redeemed, otherwise one that replaces it and what it had issued."""
    if session.ceremony_proof != ceremony_proof or session.code is None:
        raise Refusal(400, "invalid_session")
    earlier = place.tenant.codes[session.code]
    if earlier.grant is None and earlier.expires > place.now:
        return session.code
    if session.replacements >= place.tenant.policy.max_replacements:
        raise Refusal(400, "invalid_session")
    session.replacements += 1
    if earlier.grant is not None:
        earlier.grant.revoked = True
    return _new_code(place, session)


# Call 4

def redeem(place: Place, form: dict[str, str], proof: Proof) -> tuple[int, Body]:
    application(place, form)
    if form.get("grant_type") != "authorization_code":
        raise Refusal(400, "unsupported_grant_type")
    require(form, ("code",))
    code = place.tenant.codes.get(form["code"])
    if code is None or code.session.client_id != form["client_id"] or code.session.jkt != proof.jkt:
        raise Refusal(400, "invalid_grant")
    if not hmac.compare_digest(digest(form.get("code_verifier", "").encode()), code.session.code_challenge):
        raise Refusal(400, "invalid_grant")
    if code.grant is not None:
        code.grant.revoked = True
        raise Refusal(400, "invalid_grant", "this code was used before")
    if code.expires <= place.now:
        raise Refusal(400, "invalid_grant")
    session = code.session
    if session.user is None or not session.user.enabled:
        raise Refusal(400, "invalid_grant")
    code.grant = Grant(place.tenant.name, session.user, session.client_id, session.scope,
                       session.resource or place.issuer, session.jkt, session.auth_time, instance=session.instance)
    return 200, _tokens(place, code.grant, session.nonce)


def refresh(place: Place, form: dict[str, str], proof: Proof) -> tuple[int, Body]:
    client = application(place, form)
    held = place.tenant.refresh_tokens.get(form.get("refresh_token", ""))
    if held is None or held.grant.client_id != client.client_id:
        raise Refusal(400, "invalid_grant")
    if client.token_endpoint_auth_method == "none" and held.grant.jkt != proof.jkt:
        raise Refusal(400, "invalid_grant")
    if held.spent:
        held.grant.revoked = True
    if held.grant.revoked or not held.grant.user.enabled:
        raise Refusal(400, "invalid_grant")
    held.spent = client.refresh_token_rotation
    held.grant.jkt = proof.jkt
    return 200, _tokens(place, held.grant, None, renewable=client.refresh_token_rotation)


def _tokens(place: Place, grant: Grant, nonce: str | None, renewable: bool = True) -> Body:
    tenant, client = place.tenant, place.tenant.applications[grant.client_id]
    common = {"iss": place.issuer, "sub": grant.user.id, "iat": place.now,
              "exp": place.now + client.access_token_lifetime, "auth_time": grant.auth_time}
    jti = fresh(16)
    access = common | {"aud": grant.audience, "client_id": client.client_id, "jti": jti, "scope": grant.scope,
                       "cnf": {"jkt": grant.jkt}}
    identity = common | {"aud": client.client_id} | ({"nonce": nonce} if nonce else {})
    if "email" in grant.scope.split(" "):
        identity["email"] = grant.user.email
    tenant.access_tokens[jti] = grant
    answer = {"access_token": tenant.sign(json.dumps(access).encode(), "at+jwt"), "token_type": "DPoP",
              "expires_in": client.access_token_lifetime, "scope": grant.scope,
              "id_token": tenant.sign(json.dumps(identity).encode(), "JWT", client.id_token_signed_response_alg)}
    if renewable and "offline_access" in grant.scope.split(" "):
        answer["refresh_token"] = fresh()
        tenant.refresh_tokens[answer["refresh_token"]] = RefreshToken(grant)
    return answer


def revoke(place: Place, form: dict[str, str]) -> tuple[int, Body]:
    client = application(place, form)
    require(form, ("token",))
    held = place.tenant.refresh_tokens.get(form["token"])
    grant = held.grant if held else place.tenant.access_tokens.get(_token_id(place.tenant, form["token"]))
    if grant is not None and grant.client_id == client.client_id:
        grant.revoked = True
    return 200, {}


def _token_id(tenant: Tenant, token: str) -> str:
    try:
        signed = SignedObject.read(token)
    except Malformed:
        return ""
    key = tenant.verification_key(signed.header.get("kid"))
    return str(signed.claims.get("jti")) if key is not None and signed.signed_by(key) else ""


# Registration

def signup(place: Place, body: Body) -> tuple[int, Body]:
    if not place.tenant.self_signup:
        raise Refusal(403, "access_denied")
    email = body.get("email")
    if not isinstance(email, str) or "@" not in email:
        raise Refusal(400, "invalid_request", "email")
    if place.tenant.user_with_email(email) is None:
        code = place.tenant.ticket_for(place.tenant.add_user(email.lower()), place.now)
        place.tenant.inbox.append({"to": email.lower(), "subject": "Your code", "code": code})
    return 202, {}


def enroll(place: Place, body: Body, look: Callable[[str], None]) -> tuple[int, Body]:
    """`look` judges the app's evidence for a device key, once the request is known to be good."""
    tenant, ticket = place.tenant, body.get("ticket", body.get("code"))
    try:
        signed = SignedObject.read(body.get("enrollment"))
        key = public_key(signed.header.get("jwk"))
        token = decode(body["face_token"])
        if signed.header.get("typ") != "device-enrollment+jwt" or not signed.signed_by(key):
            raise Malformed("typ or signature")
        wanted = {"aud": place.issuer, "act": "enroll", "tkt": digest(str(ticket).encode()), "fth": digest(token)}
        if any(signed.claims.get(name) != value for name, value in wanted.items()):
            raise Malformed("a claim does not fit")
        if signed.claim("platform", str) not in ("ios", "android") or not signed.claim("jti", str):
            raise Malformed("platform or jti")
        signed.claim("iat", int)
    except (Malformed, KeyError, TypeError) as error:
        raise Refusal(400, "invalid_request", str(error)) from error
    user, expires = tenant.tickets.get(str(ticket), (None, 0))
    if user is None or expires <= place.now or body.get("email", user.email).lower() != user.email:
        raise Refusal(403, "access_denied")
    kid = key.thumbprint()
    look(kid)
    del tenant.tickets[str(ticket)]
    user.devices[kid] = Device(key, token, signed.claims["platform"])
    tenant.by_kid[kid] = user
    return 201, {"sub": user.id, "email": user.email, "kid": kid, "generation": 1}


# Resource API

def bearer_of(place: Place, token: str) -> tuple[Grant, dict[str, Any]]:
    """The grant an access token stands for, when this API may honour it."""
    try:
        signed = SignedObject.read(token)
    except Malformed as error:
        raise Refusal(401, "invalid_token") from error
    claims, key = signed.claims, place.tenant.verification_key(signed.header.get("kid"))
    if key is None or not signed.signed_by(key) or signed.header.get("typ") != "at+jwt":
        raise Refusal(401, "invalid_token")
    if claims["iss"] != place.issuer or claims["aud"] != place.api or claims["exp"] <= place.now:
        raise Refusal(401, "invalid_token")
    grant = place.tenant.access_tokens.get(claims["jti"])
    if grant is None or grant.revoked:
        raise Refusal(401, "invalid_token")
    return grant, claims
