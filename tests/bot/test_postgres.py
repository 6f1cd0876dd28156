"""The same service on Postgres, with several replicas."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.database import Database
from bot.events import PullChanged
from bot.job import Intake, JobState, Receipt
from bot.store import Store
from tests.bot import house, ordered, postgres
from tests.bot.fake_hub import World

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres.running() as found:
        yield found


def test_a_review_goes_through_on_postgres(tmp_path: Path, url: str) -> None:
    with house.bot(tmp_path, url=url) as bot:
        bot.pull()
        bot.settled()
        assert bot.reviews()[-1].state == "done"
        assert [check["status"] for check in bot.checks()] == ["completed"]


def test_replicas_never_take_the_same_job_nor_the_same_delivery(url: str) -> None:
    database = Database(url)
    database.prepare()
    store = Store(database)
    batch = [
        Intake(
            f"twice-{number:04d}",
            "pull_request",
            PullChanged("a/b", 1000 + number, "opened", "a" * 40),
        )
        for number in range(60)
    ]
    with ThreadPoolExecutor(4) as pool:
        receipts = list(pool.map(store.accept, [batch] * 4))
        flat = [one for answer in receipts for one in answer]
        assert flat.count(Receipt.NEW) == 60
        claims = list(pool.map(lambda name: store.claim(name, ("review",), 60), "wxyz"))
    ids = [job.id for claim in claims for job in claim if job.repository == "a/b"]
    assert len(ids) == len(set(ids)) == 60
    for job in ids:
        store.finish(job, JobState.CANCELLED, "over")
    database.close()


def test_a_dead_replicas_job_is_taken_over_by_one_that_lives(tmp_path: Path, url: str) -> None:
    command = [sys.executable, "-m", "tests.bot.server", str(tmp_path), "0", "3600", url]
    child = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    world = World(tmp_path / "github.db")
    try:
        world.set_pull(house.REPOSITORY, house.pull_state(number=8))
        database = Database(url)
        database.prepare()
        store = Store(database)
        happening = PullChanged(house.REPOSITORY, 8, "opened", ordered.HEAD)
        store.accept([Intake("over-taken", "pull_request", happening)])
        house.until(lambda: bool(world.rows("SELECT * FROM orders")), 60)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    with house.bot(tmp_path, url=url) as bot:
        with world.open() as db:
            db.execute("UPDATE orders SET done = 0")
        bot.settled(60)
        (check,) = world.rows("SELECT * FROM checks")
        assert check["status"] == "completed"
        assert store.reviews(house.REPOSITORY, 8)[0].state == "done"
        assert len(world.rows("SELECT * FROM orders")) == 1
    database.close()
