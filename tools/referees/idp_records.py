"""What the Python identity provider remembers: tenants, people, devices, sessions, codes and grants."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

from joserfc import jwk, jws

from idp_proofs import encode

TICKET_LIFETIME = 3600


def fresh(size: int = 32) -> str:
    return encode(secrets.token_bytes(size))


@dataclass
class Policy:
    nonce_on_start: bool = False
    nonce_at_resource: bool = False
    session_lifetime: int = 300
    code_lifetime: int = 60
    max_replacements: int = 3


@dataclass
class Application:
    client_id: str
    name: str
    resources: list[str]
    require_dpop: bool = True
    tls_client_certificate_bound_access_tokens: bool = False
    first_party_challenge_enabled: bool = True
    redirect_uris: list[str] = field(default_factory=lambda: ["https://app.example/link"])
    scopes: list[str] = field(default_factory=lambda: ["openid", "email", "profile", "offline_access"])
    access_token_lifetime: int = 300
    id_token_signed_response_alg: str = "ES256"
    refresh_token_rotation: bool = True
    token_endpoint_auth_method: str = "none"
    jwks: dict[str, Any] | None = None

    def may_sign_in_in_app(self) -> bool:
        return (self.require_dpop and not self.tls_client_certificate_bound_access_tokens
                and self.first_party_challenge_enabled and bool(self.redirect_uris))


@dataclass
class Device:
    key: jwk.ECKey
    face_token: bytes
    platform: str
    generation: int = 1
    password_protected: bool = False


@dataclass
class User:
    id: str
    email: str
    enabled: bool = True
    devices: dict[str, Device] = field(default_factory=dict)


@dataclass
class Grant:
    """One sign-in's tokens. Everything of it ends at once when `revoked` is set."""

    tenant: str
    user: User
    client_id: str
    scope: str
    audience: str
    jkt: str
    auth_time: int
    revoked: bool = False
    # The thumbprint of the attested client instance it is for.
    instance: str | None = None


@dataclass
class RefreshToken:
    grant: Grant
    spent: bool = False


@dataclass
class Code:
    session: Session
    expires: int
    grant: Grant | None = None


@dataclass
class Session:
    auth_session: str
    client_id: str
    jkt: str
    scope: str
    resource: str | None
    nonce: str
    code_challenge: str
    cer: str
    chl: str
    opened: int
    expires: int
    hinted: bool
    user: User | None
    kid: str | None = None
    dead: bool = False
    mismatches: dict[str, int] = field(default_factory=dict)
    ceremony_proof: str | None = None
    code: str | None = None
    auth_time: int = 0
    replacements: int = 0
    instance: str | None = None


class Tenant:
    """A tenant with its own people, sessions, keys and rules."""

    def __init__(self, name: str, application: Application, self_signup: bool, profile: str = "standard") -> None:
        self.name, self.profile = name, profile
        self.runs_own_app = True
        self.self_signup = self_signup
        self.applications = {application.client_id: application}
        self.policy = Policy()
        self.users: dict[str, User] = {}
        self.tickets: dict[str, tuple[User, int]] = {}
        self.inbox: list[dict[str, str]] = []
        self.by_kid: dict[str, User] = {}
        self.sessions: dict[str, Session] = {}
        self.by_cer: dict[str, Session] = {}
        self.codes: dict[str, Code] = {}
        self.access_tokens: dict[str, Grant] = {}
        self.refresh_tokens: dict[str, RefreshToken] = {}
        # Identifiers of client assertions by client, until they have expired.
        self.used_assertions: dict[tuple[str, str], float] = {}
        # What idp_attestation keeps of a tenant that looks at evidence.
        self.attesting: Any = None
        self._keys = {"ES256": jwk.ECKey.generate_key("P-256", auto_kid=True)}

    def jwks(self) -> dict[str, Any]:
        for application in self.applications.values():
            self._key(application.id_token_signed_response_alg)
        return {"keys": [key.as_dict(private=False) | {"alg": alg, "use": "sig", "kid": key.kid}
                         for alg, key in self._keys.items()]}

    def sign(self, claims: bytes, typ: str, alg: str = "ES256") -> str:
        key = self._key(alg)
        return jws.serialize_compact({"typ": typ, "alg": alg, "kid": key.kid}, claims, key, algorithms=[alg])

    def verification_key(self, kid: object) -> jwk.ECKey | None:
        return next((key for key in self._keys.values() if key.kid == kid), None)

    def _key(self, alg: str) -> Any:
        if alg not in self._keys:
            self._keys[alg] = jwk.RSAKey.generate_key(2048, auto_kid=True)
        return self._keys[alg]

    def add_user(self, email: str) -> User:
        user = User(fresh(12), email)
        self.users[user.id] = user
        return user

    def user_with_email(self, email: str) -> User | None:
        return next((user for user in self.users.values() if user.email == email.lower()), None)

    def ticket_for(self, user: User, now: int) -> str:
        ticket = fresh()
        self.tickets[ticket] = (user, now + TICKET_LIFETIME)
        return ticket

    def remove_device(self, user: User, kid: str) -> None:
        del user.devices[kid]
        del self.by_kid[kid]

    def end_grants(self, user: User) -> None:
        for grant in self.access_tokens.values():
            if grant.user is user:
                grant.revoked = True
