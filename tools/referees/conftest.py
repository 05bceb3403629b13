"""Fixtures: the Python provider, and the understudy program in both of its roles."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from enrolled import Enrolled
from idp import RunningIdP
from program import Understudy
from providers import Provider, PythonProvider


@pytest.fixture(scope="session")
def running_python_idp() -> Iterator[RunningIdP]:
    with RunningIdP() as running:
        yield running


@pytest.fixture
def python_idp(running_python_idp: RunningIdP) -> PythonProvider:
    """The Python provider, back at its seed."""
    provider = PythonProvider.at(running_python_idp.addresses())
    provider.manage("POST", "reset")
    return provider


@pytest.fixture(scope="session")
def binary() -> Path:
    """The program under test."""
    path = os.environ.get("UNDERSTUDY_BIN")
    if not path:
        pytest.skip("UNDERSTUDY_BIN is not set to the path of the understudy program")
    assert os.access(path, os.X_OK), f"UNDERSTUDY_BIN={path} cannot be run"
    return Path(path).resolve()


@pytest.fixture
def understudy(binary: Path, tmp_path: Path) -> Understudy:
    """The program with a state directory of its own."""
    return Understudy(binary, tmp_path / "state")


@pytest.fixture
def device(understudy: Understudy, python_idp: PythonProvider) -> Enrolled:
    """A phone of the program, enrolled with the Python provider."""
    return Enrolled(understudy, python_idp)


@pytest.fixture(scope="session")
def running_swift_idp(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with Understudy(binary, tmp_path_factory.mktemp("daemon") / "state").serve() as ready:
        yield Provider.at(next(idp for idp in ready["idps"] if idp["system"] == "sensecrypt"))


@pytest.fixture(params=["python", "swift"])
def provider(request: pytest.FixtureRequest) -> Provider:
    """Each provider in turn, back at its seed: the same rules are asked of both."""
    if request.param == "python":
        return request.getfixturevalue("python_idp")
    swift: Provider = request.getfixturevalue("running_swift_idp")
    swift.manage("POST", "reset")
    swift.manage("PUT", "clock", {"mode": "real"})
    return swift
