"""How many deliveries the webhook app accepts durably, how fast, and what it weighs afterwards.

Starts the app in a process of its own (SQLite, a fake GitHub and a fake bench in files), sends
signed `pull_request` deliveries from this process over several connections, and kills it (-9)
at the end: every delivery that was answered 202 must be in the database.

    python benchmarks/intake.py                    # 10,000 deliveries, as fast as they are taken
    python benchmarks/intake.py --rate 250 --deliveries 5000
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.bot import house  # noqa: E402

PULLS = 500


def requests(count: int, size: int) -> list[tuple[str, bytes]]:
    """Make signed deliveries, padded to what GitHub's usually weigh: GUID and HTTP request."""
    found = []
    for number in range(count):
        payload = house.pull_payload("synchronize", f"{number:040x}", number % PULLS + 1)
        payload["padding"] = "x" * size
        body = json.dumps(payload).encode()
        headers = house.headers("pull_request", body, f"intake-{number:012d}")
        headers |= {"host": "localhost", "content-length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        request = f"POST /webhook HTTP/1.1\r\n{head}\r\n".encode() + body
        found.append((headers["x-github-delivery"], request))
    return found


def port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


async def send(
    where: int, work: list[tuple[str, bytes]], connections: int, rate: float, pid: int
) -> tuple[list[float], list[str], list[float], float]:
    """Send everything; return latencies in ms, what was accepted, memory on the way, seconds.

    Speaks HTTP by hand: a client library would take more of the machine than the app.
    """
    waiting: asyncio.Queue[tuple[str, bytes] | None] = asyncio.Queue(4 * connections)
    latencies: list[float] = []
    accepted: list[str] = []
    memory: list[float] = []

    async def worker() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", where)
        while (item := await waiting.get()) is not None:
            guid, request = item
            began = time.perf_counter()
            writer.write(request)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().split(b"content-length:")[1].split(b"\r\n")[0]
            await reader.readexactly(int(length))
            latencies.append((time.perf_counter() - began) * 1e3)
            if head.split()[1] == b"202":
                accepted.append(guid)
        writer.close()

    workers = [asyncio.create_task(worker()) for _ in range(connections)]
    began = time.perf_counter()
    for number, item in enumerate(work):
        if rate:
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        if number % 1000 == 0:
            memory.append(resident_mb(pid))
        await waiting.put(item)
    for _ in workers:
        await waiting.put(None)
    await asyncio.gather(*workers)
    took = time.perf_counter() - began
    memory.append(resident_mb(pid))
    return latencies, accepted, memory, took


def wait_for(address: str, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            httpx.get(f"{address}/health", timeout=2)
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the app did not start")


def drained(database: Path, seconds: float, pid: int) -> list[float]:
    """Wait until all jobs are over; return memory, every ten seconds."""
    memory = []
    end = time.monotonic() + seconds
    query = "SELECT count(*) FROM optiml_jobs WHERE state IN ('waiting', 'running')"
    while time.monotonic() < end:
        time.sleep(10)
        memory.append(resident_mb(pid))
        with contextlib.closing(sqlite3.connect(database, timeout=30)) as db:
            if not db.execute(query).fetchone()[0]:
                break
    return memory


def measure(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    address = f"http://127.0.0.1:{(where := port())}"
    command = [sys.executable, "-m", "tests.bot.server", str(folder), str(where)]
    log = (folder / "log").open("wb")
    child = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    try:
        wait_for(address)
        work = requests(options.deliveries, options.size)
        latencies, accepted, memory, took = asyncio.run(
            send(where, work, options.connections, options.rate, child.pid)
        )
        if options.drain:
            memory += drained(folder / "optiml.db", options.drain, child.pid)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    with contextlib.closing(sqlite3.connect(folder / "optiml.db")) as db:
        kept = {row[0] for row in db.execute("SELECT guid FROM optiml_deliveries")}
        jobs = db.execute("SELECT count(*) FROM optiml_jobs").fetchone()[0]
        busy = db.execute("SELECT count(*) FROM optiml_jobs WHERE state != 'waiting'").fetchone()[0]
    ranked = sorted(latencies)
    return {
        "deliveries": len(latencies),
        "accepted": len(accepted),
        "lost_at_kill": len(set(accepted) - kept),
        "per_second": round(len(latencies) / took, 1),
        "p50_ms": round(statistics.median(ranked), 2),
        "p99_ms": round(ranked[int(len(ranked) * 0.99) - 1], 2),
        "max_ms": round(ranked[-1], 2),
        "memory_mb": [round(one, 1) for one in memory],
        "jobs": jobs,
        "jobs_begun_meanwhile": busy,
        "connections": options.connections,
        "bytes": options.size,
        "load": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deliveries", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--rate", type=float, default=0.0, help="a second; 0: as fast as it goes")
    parser.add_argument("--size", type=int, default=12_000, help="bytes of padding")
    parser.add_argument("--drain", type=float, default=0.0, help="seconds to wait for all jobs")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    for _ in range(options.repeat):
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(options, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
