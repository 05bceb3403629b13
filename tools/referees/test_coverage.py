"""docs/coverage.md: each scenario, test and referee it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
LIBRARY = ROOT / "Fixtures" / "scenarios"
SCENARIOS = {f"{path.parent.name}/{path.stem}" for path in LIBRARY.glob("*/*.json5")}
GROUPS = {name.split("/")[0] for name in SCENARIOS}


def test_the_scenarios_it_names_exist() -> None:
    named = {name for name in re.findall(r"`([a-z-]+/[a-z0-9-]+)`", TEXT) if name.split("/")[0] in GROUPS}
    assert named
    assert named - SCENARIOS == set()


def test_the_tests_it_names_exist() -> None:
    named = re.findall(r"`(\w+Tests)`: \"([^\"]+)\"", TEXT)
    assert named
    sources = {suite: "".join(path.read_text(encoding="utf-8") for path in (ROOT / "Tests").rglob(f"{suite}.swift"))
               for suite, _ in named}
    assert [f"{suite}: {title}" for suite, title in named
            if f"`{title}`" not in sources[suite] and f'"{title}"' not in sources[suite]] == []


def test_the_referees_it_names_exist() -> None:
    named = re.findall(r"`(test_\w+\.py)::(\w+)`", TEXT)
    assert named
    assert [f"{file}::{name}" for file, name in named
            if f"def {name}(" not in (Path(__file__).parent / file).read_text(encoding="utf-8")] == []
