"""Faults the Python identity provider can be told to show, so that a phone's hard paths can be driven."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import Any

from idp_records import Tenant

ACTIONS = ("lose_reply", "drop", "status", "html", "patch")


@dataclass
class Answer:
    """An HTTP answer not yet written; `lost` means that the connection is closed in its place."""

    status: int
    body: Any = None
    headers: list[tuple[str, str]] = field(default_factory=list)
    lost: bool = False
    html: bool = False

    def content(self) -> bytes:
        """The bytes of the body."""
        if self.status == 204:
            return b""
        return (self.body if self.html else json.dumps(self.body)).encode()


@dataclass
class Fault:
    """One entry of `POST /manage/faults`.

    `lose_reply` does what was asked and closes the connection unanswered; `drop` closes it undone.
    `status` answers `status` and `body` undone; `html` answers a web page undone. `patch` does what was
    asked, then sets and removes members of the JSON answer, and `id_token` claims of the ID token.
    """

    call: str
    do: str
    times: int = 1
    skip: int = 0
    status: int = 503
    body: dict[str, Any] = field(default_factory=lambda: {"error": "temporarily_unavailable"})
    headers: dict[str, str] = field(default_factory=dict)
    set: dict[str, Any] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)
    id_token: dict[str, Any] = field(default_factory=dict)
    id_token_alg: str = "ES256"

    def __post_init__(self) -> None:
        if self.do not in ACTIONS:
            raise ValueError(f"do is one of {', '.join(ACTIONS)}")

    def instead(self) -> Answer | None:
        """The answer that takes the place of doing what was asked, if this fault has one."""
        if self.do == "drop":
            return Answer(0, lost=True)
        if self.do == "status":
            return Answer(self.status, self.body, list(self.headers.items()))
        if self.do == "html":
            return Answer(200, "<!doctype html><title>Sign in</title><p>Please sign in to the network.", html=True)
        return None

    def after(self, answer: Answer, tenant: Tenant | None) -> Answer:
        """What becomes of the answer to something that was done."""
        if self.do == "lose_reply":
            answer.lost = True
        if self.do == "patch" and isinstance(answer.body, dict):
            answer.body |= self.set
            if tenant is not None and (self.id_token or self.id_token_alg != "ES256") and "id_token" in answer.body:
                answer.body["id_token"] = self._other_id_token(tenant, answer.body["id_token"])
            for name in self.remove:
                answer.body.pop(name, None)
        return answer

    def _other_id_token(self, tenant: Tenant, id_token: str) -> str:
        old_header, claims = (json.loads(base64.urlsafe_b64decode(part + "==")) for part in id_token.split(".")[:2])
        changed = {name: value for name, value in (claims | self.id_token).items() if value is not None}
        text = json.dumps(changed).encode()
        if self.id_token_alg in ("ES256", "RS256"):
            return tenant.sign(text, "JWT", self.id_token_alg)
        header = json.dumps(old_header | {"alg": self.id_token_alg}).encode()
        first, second = (base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (header, text))
        return f"{first}.{second}." + ("" if self.id_token_alg == "none" else "A" * 43)


class Faults:
    """The faults still to be shown, oldest first."""

    def __init__(self) -> None:
        self.waiting: list[Fault] = []

    def take(self, call: str) -> Fault | None:
        """The first fault for this call whose `skip` calls have gone by, counted down."""
        for fault in self.waiting:
            if fault.call != call:
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times <= 0:
                self.waiting.remove(fault)
            return fault
        return None
