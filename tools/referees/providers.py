"""What the tests know of a provider under test, whichever language it is written in, and how they steer it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import requests

from phone import Phone, random_address
from phone_flow import Config
from transcript import read_transcript
from verify_run import Verifier


def direct_session() -> requests.Session:
    """A session that heeds no proxy and no certificate bundle of the environment: all here is on this machine."""
    session = requests.Session()
    session.trust_env = False
    return session


@dataclass
class Provider:
    """A running identity provider, its resource API and its management API."""

    origin: str
    api: str
    management: str
    http: requests.Session = field(default_factory=direct_session)

    @staticmethod
    def at(addresses: dict[str, Any]) -> Provider:
        return Provider(addresses["origin"], addresses["api"], addresses["management"])

    @property
    def issuer(self) -> str:
        return f"{self.origin}/acme"

    @property
    def resource(self) -> str:
        return f"{self.api}/acme"

    def config(self, *scopes: str, **changes: Any) -> Config:
        return Config(**({"issuer": self.issuer, "client_id": "app_demo", "scopes": scopes or ("openid", "email"),
                          "resource": self.resource} | changes))

    def manage(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.http.request(method, f"{self.management}/{path}", json=body, timeout=10)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def new_user(self, email: str | None = None, tenant: str = "acme") -> dict[str, Any]:
        """A new user as the management API shows it, with `id` and a one-time `ticket`."""
        user = self.manage("POST", f"tenants/{tenant}/users", {"email": email or random_address(), "ticket": True})
        assert isinstance(user["id"], str) and isinstance(user["ticket"], str), user
        return user

    def enrolled_phone(self) -> tuple[Phone, dict[str, Any]]:
        phone, user = Phone(), self.new_user()
        reply = phone.enrol(self.issuer, user["ticket"])
        assert reply.status == 201, reply
        return phone, user


class PythonProvider(Provider):
    """The Python provider, which can also be told to fail and asked what it was sent."""

    @staticmethod
    def at(addresses: dict[str, Any]) -> PythonProvider:
        return PythonProvider(addresses["origin"], addresses["api"], addresses["management"])

    def fail(self, call: str, do: str, **more: Any) -> None:
        self.manage("POST", "faults", {"call": call, "do": do, **more})

    def log(self, *calls: str) -> list[dict[str, Any]]:
        """What was asked so far, of these calls or of all."""
        return [entry for entry in self.manage("GET", "log") if not calls or entry["call"] in calls]

    def calls(self) -> list[str]:
        """The names of the calls of a sign-in so far, in order; discovery left out."""
        return [entry["call"] for entry in self.log() if entry["call"] not in ("metadata", "jwks")]

    def verdict(self) -> dict[str, Any]:
        """What the judge of transcripts says of everything asked and answered so far."""
        jwks = self.http.get(f"{self.issuer}/jwks.json", timeout=10).json()
        lines = (json.dumps(entry) for entry in self.manage("GET", "transcript"))
        return Verifier(jwks).judge(read_transcript(lines))
