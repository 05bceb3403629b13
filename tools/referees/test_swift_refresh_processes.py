"""Several processes on one state directory, and processes killed at every step of a refresh."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from enrolled import DEVICE, SIGNED_IN, Enrolled
from idp import RunningIdP
from test_swift_refresh import RENEWABLE, form_of, lifetime, refresh, stored

Hook = Callable[[str, int, bool], None]
# Kills after the answer to the refresh, so many milliseconds later: reading it, checking it, storing it, the API call.
DELAYS = [0, 0.5, 1, 1.5, 2, 3, 4, 5, 7, 9, 12, 16, 20, 30]


@contextlib.contextmanager
def watched(running: RunningIdP, hook: Hook) -> Iterator[None]:
    """Calls `hook(call, n, acted)` before and after the provider acts on its n-th exchange, before it answers."""
    idp, count = running.idp, 0
    usual = idp._with_fault

    def with_fault(request: Any, call: str, *rest: Any) -> Any:
        nonlocal count
        count += 1
        number = count
        hook(call, number, False)
        answer = usual(request, call, *rest)
        hook(call, number, True)
        return answer

    idp._with_fault = with_fault
    try:
        yield
    finally:
        idp._with_fault = usual


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, (out + err).decode()


def start_fetch(device: Enrolled) -> subprocess.Popen[bytes]:
    return device.program.start("fetch", "--device", DEVICE, f"{device.idp.resource}/accounts")


@pytest.fixture
def due(device: Enrolled) -> Enrolled:
    lifetime(device, 20)
    assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
    lifetime(device, 300)
    device.idp.manage("DELETE", "log")
    return device


@pytest.mark.parametrize("count", [2, 6])
def test_processes_that_meet_one_session_make_one_refresh(due: Enrolled, running_python_idp: RunningIdP,
                                                          count: int) -> None:
    def hook(call: str, number: int, acted: bool) -> None:
        if call == "refresh" and not acted:
            time.sleep(1)  # all processes have started by then, and wait

    with watched(running_python_idp, hook):
        results = [ended(process) for process in [start_fetch(due) for _ in range(count)]]
    assert [code for code, _ in results] == [0] * count, results
    assert len(due.idp.log("refresh")) == 1
    assert len(due.idp.log("api")) == count


def test_processes_that_refresh_by_hand_share_one_refresh(due: Enrolled, running_python_idp: RunningIdP) -> None:
    def hook(call: str, number: int, acted: bool) -> None:
        if call == "refresh" and not acted:
            time.sleep(1)

    with watched(running_python_idp, hook):
        processes = [due.program.start("session", "refresh", "--device", DEVICE) for _ in range(3)]
        results = [ended(process) for process in processes]
    assert [code for code, _ in results] == [0, 0, 0], results
    # One that starts late may find the session renewed and renew it again; no token is presented twice.
    presented = [form_of(entry)["refresh_token"] for entry in due.idp.log("refresh")]
    assert len(presented) == len(set(presented))


@pytest.mark.parametrize("acted", [False, True])
def test_the_lease_of_a_killed_process_is_taken_over(due: Enrolled, running_python_idp: RunningIdP,
                                                     acted: bool) -> None:
    reached, go_on = threading.Event(), threading.Event()
    if not acted:
        due.idp.fail("refresh", "drop")

    def hook(call: str, number: int, has_acted: bool) -> None:
        if call == "refresh" and has_acted == acted and not reached.is_set():
            reached.set()
            go_on.wait(20)

    with watched(running_python_idp, hook):
        holder = start_fetch(due)
        assert reached.wait(20)
        waiting = start_fetch(due)
        time.sleep(0.5)
        assert waiting.poll() is None
        holder.kill()
        holder.wait()
        go_on.set()
        code, text = ended(waiting)
    # Where the provider had not acted, the token is good still; otherwise it is spent, and this provider ends a family
    # whose spent token comes again.
    assert code == (1 if acted else 0), text
    assert (stored(due) is None) == acted
    if not acted:
        assert len({form_of(entry)["refresh_token"] for entry in due.idp.log("refresh")}) == 1


@pytest.mark.parametrize("acted", [False, True])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_kill_at_every_exchange_leaves_a_whole_pair(due: Enrolled, running_python_idp: RunningIdP, number: int,
                                                      acted: bool) -> None:
    due.idp.fail("refresh", "status", status=400, body={"error": "use_dpop_nonce"})
    process: list[subprocess.Popen[bytes]] = []
    started = threading.Event()

    def hook(call: str, at: int, has_acted: bool) -> None:
        if (at, has_acted) == (number, acted) and started.wait(20):
            process[0].kill()
            process[0].wait()

    before = stored(due)
    with watched(running_python_idp, hook):
        process.append(start_fetch(due))
        started.set()
        process[0].communicate(timeout=60)
    judge(due, before)


@pytest.mark.parametrize("milliseconds", DELAYS)
def test_a_kill_at_any_moment_after_the_answer_leaves_a_whole_pair(due: Enrolled, running_python_idp: RunningIdP,
                                                                   milliseconds: float) -> None:
    answered = threading.Event()

    def hook(call: str, number: int, acted: bool) -> None:
        if call == "refresh" and acted:
            answered.set()

    before = stored(due)
    with watched(running_python_idp, hook):
        process = start_fetch(due)
        assert answered.wait(20)
        time.sleep(milliseconds / 1000)
        process.kill()
        process.communicate(timeout=60)
    judge(due, before)


def judge(device: Enrolled, before: dict[str, Any] | None) -> None:
    """What is stored is the old pair whole or the new pair whole, and goes on as its provider's rules say."""
    after = stored(device)
    assert before is not None and after is not None
    issued = [entry["answer"] for entry in device.idp.log("refresh") if entry["status"] == 200]
    pairs = [(pair["access_token"], pair["refresh_token"]) for pair in [before, *issued]]
    found = (after["access_token"], after["refresh_token"])
    assert found in pairs
    asked = len(device.idp.log("refresh"))
    code, error = refresh(device)
    later = [form_of(entry)["refresh_token"] for entry in device.idp.log("refresh")[asked:]]
    assert set(later) == {found[1]}
    if found == pairs[-1]:
        assert (code, error) == (0, None)
    else:
        # The provider had rotated, and the phone was killed before it knew.
        assert (code, error) == (1, "sign_in_required")
        assert stored(device) is None
        assert device.sign_in(scopes=RENEWABLE).outcome == SIGNED_IN
