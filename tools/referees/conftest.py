"""Fixtures: the Python provider, and the understudy program in both of its roles."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from idp import RunningIdP
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
def understudy() -> Path:
    """The program under test."""
    path = os.environ.get("UNDERSTUDY_BIN")
    if not path:
        pytest.skip("UNDERSTUDY_BIN is not set to the path of the understudy program")
    assert os.access(path, os.X_OK), f"UNDERSTUDY_BIN={path} cannot be run"
    return Path(path).resolve()
