"""Kills the webhook app (-9) at random moments while pull requests change and people command.

    python -m tests.bot.faults --kills 200

Deliveries come twice and out of order; those that were not answered are sent again later, as the
sweep has GitHub do. In the end nothing may be lost, doubled or left open.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa

from bot.database import Database
from bot.interfaces import PullState
from tests.bot import house, ordered, postgres
from tests.bot.fake_hub import World

ROOT = Path(__file__).resolve().parents[2]
PULLS = 6
# Without certificates: a client of its own for each request would read all of them each time, and
# take the processor from the app that is to start.
_PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_IDENT = ordered.trajectory().best.kernel.digest[:8]


@dataclass(slots=True)
class Faults:
    """A run: the world, what was sent, and what was answered."""

    folder: Path
    random: random.Random
    url: str
    bench_seconds: float = 0.4
    heads: dict[int, str] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    pending: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)
    accepted: set[str] = field(default_factory=set)
    sent: int = 0

    def world(self) -> World:
        return World(self.folder / "github.db")

    # -- what happens on GitHub --------------------------------------------------------------------

    def happen(self) -> None:
        """Change something on GitHub and queue its deliveries, some twice, some in wrong order."""
        number = self.random.randint(1, PULLS)
        what = self.random.random()
        new: list[tuple[str, dict[str, Any]]] = []
        if number not in self.heads or what < 0.55:
            old = self.heads.get(number)
            head = f"{self.random.getrandbits(160):040x}"
            self.heads[number] = head
            self.closed.discard(number)
            new.append(("pull_request", house.pull_payload("synchronize", head, number)))
            if old is not None and self.random.random() < 0.3:  # comes late
                new.append(("pull_request", house.pull_payload("synchronize", old, number)))
        elif what < 0.7:
            new.append(("issue_comment", house.comment_payload("/optiml optimize", number=number)))
        elif what < 0.85:
            words = f"/optiml apply {_IDENT}"
            new.append(("issue_comment", house.comment_payload(words, number=number)))
        elif what < 0.92:
            self.closed.add(number)
            new.append(("pull_request", house.pull_payload("closed", self.heads[number], number)))
        else:
            new.append(("issue_comment", house.comment_payload("/optiml status", number=number)))
        state = "closed" if number in self.closed else "open"
        pull = PullState(number, self.heads[number], ordered.BASE, "main", state=state)
        self.world().set_pull(house.REPOSITORY, pull)
        self.random.shuffle(new)
        for event, payload in new:
            self.sent += 1
            delivery = (event, payload, f"fault-{self.sent:08d}")
            self.pending += [delivery] * (2 if self.random.random() < 0.3 else 1)

    def reopen(self) -> None:
        """Open what is closed, so that every pull request has something to be reviewed."""
        for number in sorted(self.closed):
            head = self.heads[number]
            pull = PullState(number, head, ordered.BASE, "main")
            self.world().set_pull(house.REPOSITORY, pull)
            self.sent += 1
            payload = house.pull_payload("reopened", head, number)
            self.pending.append(("pull_request", payload, f"fault-{self.sent:08d}"))
        self.closed.clear()

    def deliver(self, address: str) -> None:
        """Send what is pending; what is not answered stays pending."""
        left = []
        for event, payload, guid in self.pending:
            body = json.dumps(payload).encode()
            try:
                answer = httpx.post(
                    f"{address}/webhook",
                    verify=_PLAIN,
                    content=body,
                    headers=house.headers(event, body, guid),
                    timeout=5,
                )
            except httpx.HTTPError:
                left.append((event, payload, guid))
                continue
            if answer.status_code == 202:
                self.accepted.add(guid)
            else:
                left.append((event, payload, guid))
        self.pending = left

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the app's database, which it may be using."""
        database = Database(self.url)
        try:
            database.prepare()
            with database.read() as connection:
                return [tuple(row) for row in connection.execute(sa.text(query))]
        finally:
            database.close()

    # -- what is true in the end -------------------------------------------------------------------

    def faults(self) -> list[str]:
        """Return what is wrong: lost, doubled, left open."""
        world, found = self.world(), []
        kept = {row[0] for row in self.rows("SELECT guid FROM optiml_deliveries")}
        counts = self.rows("SELECT state, count(*) FROM optiml_jobs GROUP BY state")
        states = {row[0]: row[1] for row in counts}
        failed = self.rows("SELECT kind, title, detail FROM optiml_jobs WHERE state = 'failed'")
        (unclosed,) = self.rows("SELECT count(*) FROM optiml_jobs WHERE check_open")
        if lost := self.accepted - kept:
            found.append(f"{len(lost)} accepted deliveries are lost")
        if self.pending:
            found.append(f"{len(self.pending)} deliveries were never answered")
        if states.get("waiting") or states.get("running"):
            found.append(f"jobs are not over: {states}")
        found += [f"a job failed: {row}" for row in failed]
        if unclosed[0]:
            found.append(f"{unclosed[0]} checks are noted as open")
        for row in world.rows("SELECT * FROM checks WHERE status != 'completed'"):
            found.append(f"a check is left in progress: {dict(row)}")
        found += self._doubled(world)
        for number, head in self.heads.items():
            done = world.rows(
                "SELECT 1 FROM checks WHERE head = ? AND conclusion IN ('neutral', 'success')", head
            )
            if number not in self.closed and not done:
                found.append(f"pull request {number} was never reviewed at its head")
        return found

    def _doubled(self, world: World) -> list[str]:
        found = []
        for query, words in (
            ("SELECT number FROM comments WHERE key = 'report' GROUP BY number", "report comments"),
            ("SELECT key FROM comments WHERE key != 'report' GROUP BY number, key", "replies"),
            ("SELECT number FROM commits GROUP BY number, ident, head", "commits"),
            ("SELECT order_id FROM checks GROUP BY order_id", "checks of an order"),
        ):
            if world.rows(f"{query} HAVING count(*) > 1"):
                found.append(f"{words} are doubled")
        jobs = self.rows("SELECT id, attempt FROM optiml_jobs")
        orders = {row["order_id"] for row in world.rows("SELECT order_id FROM checks")}
        for job, attempt in jobs:
            names = [f"{job}:{number}" for number in range(attempt + 1)]
            times = sum(hashlib.sha256(one.encode()).hexdigest()[:32] in orders for one in names)
            if times > 1:
                found.append(f"job {job} has {times} checks")
        return found


@contextlib.contextmanager
def serving(
    folder: Path, seconds: float, url: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run the app in a process; it is killed in the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.bot.server", str(folder), str(port), str(seconds), url]
    with (folder / "server.log").open("ab") as log:
        child = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    try:
        yield child, f"http://127.0.0.1:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
        child.wait()


def is_up(address: str, child: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for the app to answer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and child.poll() is None:
        try:
            if httpx.get(f"{address}/health", timeout=2, verify=_PLAIN).status_code == 200:
                return True
        except httpx.HTTPError:
            time.sleep(0.02)
    return False


def run(
    folder: Path, kills: int, seed: int, url: str = "", settle: float = 180.0
) -> tuple[Faults, list[str]]:
    """Kill the app so many times, let it end its work once, and say what is wrong."""
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    url = url or f"sqlite:///{folder / 'optiml.db'}"
    faults = Faults(folder, draw, url)
    faults.world().allow("maintainer", "write")
    for number in range(kills):
        with serving(folder, faults.bench_seconds, url) as (child, address):
            if draw.random() < 0.1:  # while it starts
                time.sleep(draw.uniform(0.0, 2.5))
                continue
            is_up(address, child, 30)
            for _ in range(draw.randint(1, 3)):
                faults.happen()
            faults.deliver(address)
            time.sleep(draw.choice([0.0, draw.uniform(0.0, 0.3), draw.uniform(0.0, 1.5)]))
        if number % 20 == 19:
            print(f"{number + 1} kills, {faults.sent} deliveries", flush=True)  # noqa: T201
    faults.reopen()
    with serving(folder, faults.bench_seconds, url) as (child, address):
        is_up(address, child, 30)
        faults.deliver(address)
        faults.deliver(address)
        end = time.monotonic() + settle
        wrong = faults.faults()
        while wrong and time.monotonic() < end:
            time.sleep(0.5)
            wrong = faults.faults()
    return faults, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        url = stack.enter_context(postgres.running()) if options.postgres else ""
        began = time.monotonic()
        faults, wrong = run(Path(folder), options.kills, options.seed, url)
        world = faults.world()
        told = {
            "kills": options.kills,
            "deliveries": faults.sent,
            "seconds": round(time.monotonic() - began),
            "checks": len(world.rows("SELECT id FROM checks")),
            "closed_twice": len(world.rows("SELECT id FROM checks WHERE closed > 1")),
            "orders": len(world.rows("SELECT id FROM orders")),
            "started_again": len(world.rows("SELECT id FROM orders WHERE starts > 1")),
            "comments": len(world.rows("SELECT id FROM comments")),
            "commits": len(world.rows("SELECT id FROM commits")),
            "wrong": wrong,
        }
        print(json.dumps(told, indent=2))  # noqa: T201
        if wrong:
            print((Path(folder) / "server.log").read_text(errors="replace")[-5000:])  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
