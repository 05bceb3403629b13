"""The Python provider told to look at attestation, and phones of the program that attest to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from evidence import Evidence, Roots
from program import Ran, Understudy
from providers import PythonProvider
from two_libraries import unb64u


@dataclass
class House:
    """A state directory whose roots the Python provider trusts."""

    program: Understudy
    idp: PythonProvider

    @staticmethod
    def open(program: Understudy, idp: PythonProvider, mode: str) -> House:
        house = House(program, idp)
        assert program.run("roots", "export", "--dir", str(house.roots.folder)).code == 0
        decryption, verification = house.roots.play
        idp.manage("PUT", "tenants/acme/attestation", {
            "mode": mode, "apple_roots": [house.roots.apple.decode()], "android_roots": [house.roots.android.decode()],
            "play_decryption_key": decryption, "play_verification_key": verification,
            "attesters": house.roots.attesters})
        return house

    @property
    def roots(self) -> Roots:
        return Roots(self.program.state.parent / "roots")

    def look(self, mode: str) -> None:
        self.idp.manage("PUT", "tenants/acme/attestation", {"mode": mode})

    def verdicts(self) -> list[str]:
        """What was looked at so far: the format where it held, the broken rule where it did not."""
        return self.idp.manage("GET", "tenants/acme/attestation")["verdicts"]

    def phone(self, name: str, platform: str, *settings: str) -> Phone:
        made = self.program.run("device", "create", name, "--platform", platform,
                                *(part for setting in settings for part in ("--attest", setting)))
        assert made.code == 0, made
        return Phone(self, name)

    def enrolled(self, name: str, platform: str, *settings: str) -> Phone:
        phone = self.phone(name, platform, *settings)
        ran = phone.enrol()
        assert ran.code == 0, ran
        return phone


@dataclass
class Phone:
    house: House
    name: str

    def enrol(self, *more: str) -> Ran:
        idp = self.house.idp
        return self.house.program.run("enrol", "--device", self.name, "--issuer", idp.issuer,
                                      "--ticket", idp.new_user()["ticket"], *more)

    def sign_in(self, *more: str, client: str = "app_demo") -> Ran:
        idp = self.house.idp
        return self.house.program.run("signin", "--device", self.name, "--issuer", idp.issuer, "--client", client,
                                      "--resource", idp.resource, "--scope", "openid offline_access", *more)

    def session(self, verb: str) -> Ran:
        return self.house.program.run("session", verb, "--device", self.name)

    def fetch(self) -> Ran:
        return self.house.program.run("fetch", "--device", self.name, f"{self.house.idp.resource}/accounts")


def evidence_of(start: dict[str, Any]) -> Evidence | None:
    """What came along with a start in the provider's log."""
    coded = dict(parse_qsl(start["body"])).get("attestation")
    return json.loads(unb64u(coded)) if coded else None
