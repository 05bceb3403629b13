"""Runs the understudy program for the tests: single commands, and the daemon with its reference provider."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND_SECONDS = 60
START_SECONDS = 20
# Settings of the person who runs the tests must not reach the program under test.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("UNDERSTUDY_")}


@dataclass(frozen=True)
class Ran:
    """What a command left behind: its exit code and the JSON document it printed."""

    code: int
    document: dict[str, Any]

    @property
    def outcome(self) -> tuple[int, str | None, str | None]:
        """Exit code, `result` and `reason`: what a script would look at."""
        return self.code, self.document.get("result"), self.document.get("reason")


@dataclass(frozen=True)
class Understudy:
    """The program and one state directory, and the daemon its commands talk to, if they talk to one."""

    binary: Path
    state: Path
    control: str | None = None

    def through(self, ready: dict[str, Any]) -> Understudy:
        """The same program, its commands going through the daemon of this ready file."""
        return Understudy(self.binary, self.state, ready["control"])

    def run(self, *arguments: str) -> Ran:
        where = ("--control", self.control) if self.control else ("--state", str(self.state))
        command = [str(self.binary), *arguments, *where, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
                              env=ENVIRONMENT)
        try:
            document = json.loads(done.stdout)
        except ValueError:
            raise AssertionError(f"{' '.join(command)}\nexit {done.returncode}, no JSON document\n"
                                 f"stdout: {done.stdout[-2000:]}\nstderr: {done.stderr[-2000:]}") from None
        return Ran(done.returncode, document)

    def raw(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """A command as a person runs it: bytes in, bytes out."""
        return subprocess.run(self._plain(arguments), input=stdin, capture_output=True, timeout=COMMAND_SECONDS,
                              check=False, env=ENVIRONMENT)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A command that goes on while the test does something else."""
        return subprocess.Popen(self._plain(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=ENVIRONMENT)

    def _plain(self, arguments: tuple[str, ...]) -> list[str]:
        where = ("--control", self.control) if self.control else ("--state", str(self.state))
        return [str(self.binary), *arguments, *where]

    @contextmanager
    def serve(self, *more: str) -> Iterator[dict[str, Any]]:
        """The daemon with the reference provider, on free ports; gives its ready file's content."""
        ready = self.state.parent / f"{self.state.name}.ready.json"
        ready.unlink(missing_ok=True)
        process = subprocess.Popen(
            [str(self.binary), "serve", "--state", str(self.state), "--port", "0", "--idp", "sensecrypt",
             "--idp-port", "0", "--ready-file", str(ready), *more],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        try:
            yield _wait_for(ready, process)
        finally:
            process.terminate()
            process.communicate(timeout=COMMAND_SECONDS)


def _wait_for(ready: Path, process: subprocess.Popen[str]) -> dict[str, Any]:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(f"serve ended with {process.returncode}: {process.communicate()[1][-2000:]}")
        if ready.exists():
            return json.loads(ready.read_text(encoding="utf-8"))
        time.sleep(0.02)
    raise AssertionError("serve wrote no ready file")
