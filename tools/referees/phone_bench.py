"""Measures sign-ins: how many a second, and what one costs the phone and, when it can be seen, the provider."""

from __future__ import annotations

import argparse
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from phone import Phone, new_ticket, random_address
from phone_flow import Config, Failed, Parked
from phone_wire import Lost
from two_libraries import JSONObject, Refused


@dataclass
class Share:
    """What one worker did."""

    seconds: list[float] = field(default_factory=list)
    cpu: float = 0.0
    began: float = 0.0
    ended: float = 0.0
    failures: list[str] = field(default_factory=list)


def own_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def cpu_of(pid: int | None) -> float | None:
    """User and system seconds of another process."""
    if pid is None:
        return None
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def work(options: argparse.Namespace, count: int) -> Share:
    """Enrols one phone, then signs it in `count` times; only the sign-ins are measured."""
    phone = Phone(check_tokens=options.check_tokens)
    phone.enrol(options.issuer, new_ticket(options.management, options.issuer, random_address()))
    config = Config(options.issuer, options.client, tuple(options.scope or ["openid"]), options.resource)
    share, cpu = Share(began=time.monotonic()), own_cpu()
    for _ in range(count):
        started = time.monotonic()
        try:
            phone.sign_in(config)
            share.seconds.append(time.monotonic() - started)
        except (Failed, Parked, Lost, Refused) as error:
            share.failures.append(str(error))
    share.cpu, share.ended = own_cpu() - cpu, time.monotonic()
    phone.connections.close()
    return share


def percentile(sorted_values: list[float], part: float) -> float:
    return sorted_values[min(len(sorted_values) - 1, int(part * len(sorted_values)))]


def bench(options: argparse.Namespace) -> JSONObject:
    counts = [options.signins // options.workers + (index < options.signins % options.workers)
              for index in range(options.workers)]
    server_before = cpu_of(options.server_pid)
    with ProcessPoolExecutor(options.workers) as pool:
        shares = list(pool.map(work, [options] * options.workers, counts))
    server_after = cpu_of(options.server_pid)
    seconds = sorted(second for share in shares for second in share.seconds)
    failures = [failure for share in shares for failure in share.failures]
    if not seconds or failures:
        return {"result": "failed", "signed_in": len(seconds), "failures": len(failures), "first": failures[:1]}
    wall = max(share.ended for share in shares) - min(share.began for share in shares)
    result: JSONObject = {
        "result": "measured", "signins": len(seconds), "workers": options.workers, "seconds": round(wall, 4),
        "signins_per_second": round(len(seconds) / wall, 1),
        "phone_cpu_ms_per_signin": round(1000 * sum(share.cpu for share in shares) / len(seconds), 3),
        "p50_ms": round(1000 * percentile(seconds, 0.5), 3), "p99_ms": round(1000 * percentile(seconds, 0.99), 3)}
    if server_before is not None and server_after is not None:
        result["server_cpu_ms_per_signin"] = round(1000 * (server_after - server_before) / len(seconds), 3)
    return result
