"""The published JSON Schema of scenarios, as jsonschema reads it: the library fits it, and broken scenarios do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import json5
import pytest
from jsonschema import Draft202012Validator

from program import Understudy

FOLDER = Path(__file__).parents[2] / "Fixtures" / "scenarios"
FILES = sorted(FOLDER.rglob("*.json5"))
SAMPLE = "calls/plain-sign-in.json5"
Scenario = dict[str, Any]


def without_steps(scenario: Scenario) -> None:
    del scenario["steps"]


def with_a_member_nobody_knows(scenario: Scenario) -> None:
    scenario["steps"][0]["singin"] = {"device": "phone"}


def with_a_number_for_a_title(scenario: Scenario) -> None:
    scenario["title"] = 7


def with_a_need_there_is_not(scenario: Scenario) -> None:
    scenario["needs"] = ["luck"]


BROKEN = [without_steps, with_a_member_nobody_knows, with_a_number_for_a_title, with_a_need_there_is_not]


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json.loads((FOLDER / "scenario.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def read(path: Path) -> Scenario:
    return json5.loads(path.read_text(encoding="utf-8"))


def test_there_is_a_library() -> None:
    assert FOLDER / SAMPLE in FILES


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_every_scenario_fits_the_schema(validator: Draft202012Validator, path: Path) -> None:
    assert [error.message for error in validator.iter_errors(read(path))] == []


@pytest.mark.parametrize("change", BROKEN, ids=[change.__name__ for change in BROKEN])
def test_a_broken_scenario_fits_neither_the_schema_nor_the_program(
        validator: Draft202012Validator, understudy: Understudy, tmp_path: Path,
        change: Callable[[Scenario], None]) -> None:
    scenario = read(FOLDER / SAMPLE)
    change(scenario)
    assert not validator.is_valid(scenario)
    file = tmp_path / "broken.json5"
    file.write_text(json.dumps(scenario), encoding="utf-8")
    refused = understudy.raw("test", str(file))
    assert refused.returncode == 65, refused


def test_the_program_prints_the_schema_that_is_published(understudy: Understudy) -> None:
    printed = understudy.raw("test", "--schema")
    assert printed.returncode == 0
    assert json.loads(printed.stdout) == json.loads((FOLDER / "scenario.schema.json").read_text(encoding="utf-8"))
