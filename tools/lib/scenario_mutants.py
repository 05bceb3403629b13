"""Changes one expectation of a scenario at a time and asks the program whether it notices (tools/scenario-mutants)."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import json5

RESULTS = {"signed_in": "failed", "failed": "signed_in", "parked": "signed_in"}
PARTIAL: dict[Any, Any] = {"journal": {"kind": "x"}, "findings": "x"}
BATCH = 400
Where = tuple[Any, ...]


def other(value: Any, at: Where) -> Any:
    """A value of the same kind that is not this one."""
    if at[-1] == "result" and value in RESULTS:
        return RESULTS[value]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return "x" + value
    return "x" if "errors" in at else 299  # null: nothing was expected there


def places(value: Any, at: Where) -> Iterator[tuple[Where, Any]]:
    """Every leaf, and every list as a whole: an empty one gets a member, another loses its last.

    What is expected of journal and findings is a part of them, in order, so those get one more that never was.
    """
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*at, name))
    elif isinstance(value, list):
        yield at, [*value, PARTIAL[at[-1]]] if at[-1] in PARTIAL else value[:-1] if value else ["x"]
        for index, member in enumerate(value):
            yield from places(member, (*at, index))
    else:
        yield at, other(value, at)


def expectations(scenario: dict[str, Any]) -> Iterator[Where]:
    for index, step in enumerate(scenario["steps"]):
        for inner in range(len(step.get("parallel", []))):
            if "expect" in step["parallel"][inner]:
                yield ("steps", index, "parallel", inner, "expect")
        if "expect" in step:
            yield ("steps", index, "expect")


def at(value: Any, where: Where) -> Any:
    for part in where:
        value = value[part]
    return value


def mutants(path: Path) -> Iterator[tuple[Where, dict[str, Any]]]:
    scenario = json5.loads(path.read_text(encoding="utf-8"))
    for root in expectations(scenario):
        for where, value in places(at(scenario, root), root):
            mutant = copy.deepcopy(scenario)
            at(mutant, where[:-1])[where[-1]] = value
            yield where, mutant


def outcomes(program: str, folder: Path) -> dict[str, str]:
    ran = subprocess.run([program, "test", "--json", str(folder)], capture_output=True, text=True)
    if ran.returncode not in (0, 1, 69, 78):
        sys.exit(f"understudy test ended with {ran.returncode}: {ran.stderr[-2000:]}")
    return {Path(each["file"]).stem: each["outcome"] for each in json.loads(ran.stdout)["scenarios"]}


def judged(program: str, batch: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """What was not noticed, in words."""
    with tempfile.TemporaryDirectory() as folder:
        group = Path(folder) / "mutants"
        group.mkdir()
        for number, (_, mutant) in enumerate(batch):
            text = json.dumps(mutant | {"group": "mutants"})
            (group / f"m{number}.json5").write_text(text, encoding="utf-8")
        seen = outcomes(program, group)
    return [f"{name}: {seen[f'm{number}']}" for number, (name, _) in enumerate(batch) if seen[f"m{number}"] != "failed"]


def main(program: str, folder: str) -> int:
    files = sorted(Path(folder).rglob("*.json5"))
    changed = [(f"{path.relative_to(folder)} {'.'.join(map(str, where))}", mutant)
               for path in files for where, mutant in mutants(path)]
    unnoticed: list[str] = []
    for start in range(0, len(changed), BATCH):
        unnoticed += judged(program, changed[start:start + BATCH])
        print(f"{min(start + BATCH, len(changed))} of {len(changed)}", file=sys.stderr)
    for line in unnoticed:
        print(line)
    print(f"{len(changed)} expectations changed in {len(files)} files, {len(unnoticed)} not noticed")
    return 1 if unnoticed or not changed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
