"""A phone of the understudy program, enrolled with the Python provider."""

from __future__ import annotations

from program import Ran, Understudy
from providers import PythonProvider

DEVICE = "phone-1"
SIGNED_IN = (0, "signed_in", None)


class Enrolled:
    """One device of the program, enrolled with the Python provider."""

    def __init__(self, understudy: Understudy, idp: PythonProvider) -> None:
        self.program, self.idp = understudy, idp
        self.user = idp.new_user()
        self.created = understudy.run("device", "create", DEVICE, "--platform", "ios")
        assert self.created.code == 0, self.created
        enrolled = understudy.run("enrol", "--device", DEVICE, "--issuer", idp.issuer, "--ticket", self.user["ticket"])
        assert enrolled.code == 0, enrolled
        idp.manage("DELETE", "log")

    def sign_in(self, *more: str, scopes: tuple[str, ...] = ("openid", "email")) -> Ran:
        arguments = [part for scope in scopes for part in ("--scope", scope)]
        return self.program.run("signin", "--device", DEVICE, "--issuer", self.idp.issuer, "--client", "app_demo",
                                "--resource", self.idp.resource, "--show-tokens", *arguments, *more)

    def fetch(self, path: str) -> Ran:
        return self.program.run("fetch", "--device", DEVICE, f"{self.idp.resource}/{path}")
