"""The program's own demo, written down as it ran, is judged by outside libraries."""

from __future__ import annotations

import subprocess
from pathlib import Path

from program import ENVIRONMENT
from transcript import read_transcript
from verify_run import Verifier


def test_the_demo_is_agreed_with(binary: Path, tmp_path: Path) -> None:
    trace = tmp_path / "demo.jsonl"
    done = subprocess.run([str(binary), "demo", "--trace", str(trace)], capture_output=True, text=True, timeout=120,
                          check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    with open(trace, encoding="utf-8") as lines:
        verdict = Verifier().judge(read_transcript(lines))
    assert verdict["findings"] == []
    assert verdict["checked"]["access_tokens"] >= 1 and verdict["checked"]["device_signatures"] >= 2
