"""Deliveries, jobs, turns and money in the database."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.database import Database
from bot.events import PullChanged
from bot.job import Intake, JobState, Receipt
from bot.ledger import Allowance, Ledger, Spender
from bot.replicas import Replicas
from bot.store import Store
from optimizer.errors import ConfigError

A, B = "a" * 40, "b" * 40


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = Database(f"sqlite:///{tmp_path / 'db'}")
    found.prepare()
    yield found
    found.close()


def opened(store: Store, guid: str, number: int = 1) -> str:
    happening = PullChanged("o/r", number, "opened", A, "dev")
    (receipt,) = store.accept([Intake(guid, "pull_request", happening)])
    assert receipt is Receipt.NEW
    return store._jobs()[-1].id


def test_a_delivery_that_comes_twice_in_one_batch_makes_one_job(database: Database) -> None:
    store = Store(database)
    one = Intake("guid-0001", "pull_request", PullChanged("o/r", 1, "opened", A))
    assert store.accept([one, one]) == [Receipt.NEW, Receipt.KNOWN]
    assert len(store._jobs()) == 1


def test_a_job_is_claimed_once_and_oldest_first(database: Database) -> None:
    store = Store(database)
    ids = [opened(store, f"guid-{number:04d}", number) for number in range(1, 4)]
    assert [job.id for job in store.claim("me", ("review",), 2)] == ids[:2]
    assert [job.id for job in store.claim("you", ("review",), 9)] == ids[2:]


def test_jobs_of_the_dead_are_taken_over_and_those_of_the_living_are_not(
    database: Database,
) -> None:
    store, replicas = Store(database), Replicas(database)
    job = opened(store, "guid-0001")
    store.claim("dead", ("review",), 1)
    replicas.beat("dead")
    assert store.take_over("me", 0.0, 9) == []
    assert [one.id for one in store.take_over("me", 2e10, 9)] == [job]
    assert store.take_over("me", 2e10, 9) == []


def test_the_review_that_came_last_wins_and_tells_the_others_to_end(database: Database) -> None:
    store = Store(database)
    first, second = opened(store, "guid-0001"), opened(store, "guid-0002")
    store.claim("me", ("review",), 9)
    assert store.begin_review(first, A, explicit=False).goes
    assert store.begin_review(second, B, explicit=False).goes
    assert "superseded" in store.wish(first)[0]
    assert not store.wish(second)[0]


def test_an_older_review_never_ends_a_newer_one(database: Database) -> None:
    store = Store(database)
    first, second = opened(store, "guid-0001"), opened(store, "guid-0002")
    store.claim("me", ("review",), 9)
    assert store.begin_review(second, B, explicit=False).goes
    turn = store.begin_review(first, A, explicit=False)
    assert not turn.goes
    assert not store.wish(second)[0]


def test_the_same_head_is_reviewed_once_unless_somebody_asks(database: Database) -> None:
    store = Store(database)
    first, second = opened(store, "guid-0001"), opened(store, "guid-0002")
    store.claim("me", ("review",), 9)
    assert store.begin_review(first, A, explicit=False).goes
    assert store.begin_review(second, A, explicit=False).is_twin
    assert store.begin_review(second, A, explicit=True).goes


def test_a_job_that_is_over_stays_as_it_ended(database: Database) -> None:
    store = Store(database)
    job = opened(store, "guid-0001")
    store.finish(job, JobState.DONE, "found")
    store.finish(job, JobState.FAILED, "late")
    found = store.job(job)
    assert found is not None
    assert (found.state, found.title) == (JobState.DONE, "found")


def test_old_rows_go_but_never_one_whose_check_is_open(database: Database) -> None:
    store = Store(database)
    ids = [opened(store, f"guid-{number:04d}", number) for number in (1, 2, 3)]
    for job in ids[:2]:
        store.finish(job, JobState.DONE, "")
    store.note(ids[0], check_open=True)
    assert [job.id for job in store.forget(2e10, 2e10)] == ids[1:2]
    assert {job.id for job in store._jobs()} == {ids[0], ids[2]}


def test_money_is_booked_once_and_each_limit_is_named(database: Database) -> None:
    ledger = Ledger(database)
    spender = Spender("o/r", 1, "dev")
    allowance = Allowance(user=25.0, pull=1000.0, repository=1000.0)
    assert not ledger.book("1", spender, 10.0, allowance)
    assert not ledger.book("1", spender, 10.0, allowance)
    assert not ledger.book("2", spender, 10.0, allowance)
    assert "dev has used 20 of 25" in ledger.book("3", spender, 10.0, allowance)
    ledger.settle("1", 1.0)
    assert not ledger.book("3", spender, 10.0, allowance)
    assert not ledger.book("4", Spender("o/r", 1, "else"), 10.0, allowance)


def test_an_approval_ends_with_the_next_commit_for_good(database: Database) -> None:
    ledger = Ledger(database)
    ledger.approve("o/r", 1, A, "owner")
    assert ledger.is_approved("o/r", 1, A)
    assert not ledger.is_approved("o/r", 2, A)
    assert not ledger.is_approved("o/r", 1, B)
    assert not ledger.is_approved("o/r", 1, A)


def test_a_second_process_is_kept_out_of_a_sqlite_file(database: Database) -> None:
    lock = database.alone()
    assert lock is not None
    with pytest.raises(ConfigError, match="another process serves"):
        database.alone()
    lock.release()
    again = database.alone()
    assert again is not None
    again.release()


def test_a_sqlite_file_is_one_by_whatever_name(database: Database, tmp_path: Path) -> None:
    lock = database.alone()
    assert lock is not None
    linked = tmp_path / "folder" / "other"
    linked.parent.mkdir()
    linked.symlink_to(tmp_path / "db")
    for name in (linked, f"{tmp_path}/folder/../db", f"{tmp_path}//db"):
        with pytest.raises(ConfigError, match="another process serves"):
            Database(f"sqlite:///{name}").alone()
    lock.release()


def test_the_death_of_a_process_lets_the_next_one_in(database: Database) -> None:
    held = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(database.url.database)], stdout=subprocess.PIPE
    )
    assert held.stdout is not None
    with held, held.stdout:
        assert held.stdout.readline() == b"held\n"
        with pytest.raises(ConfigError, match="another process serves"):
            database.alone()
        held.kill()
    lock = database.alone()
    assert lock is not None
    lock.release()


_HOLD = """
import sys, time
from bot.database import Database
lock = Database(f"sqlite:///{sys.argv[1]}").alone()
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    "url", ["sqlite:///db?mode=memory", "sqlite:///file:db?uri=true&nolock=1", "sqlite:///file:db"]
)
def test_a_sqlite_database_with_options_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="only a path"):
        Database(url)


@pytest.mark.parametrize("url", ["", "mysql://x/y", "sqlite://", "sqlite:///:memory:", "nonsense"])
def test_a_database_that_would_lose_deliveries_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        Database(url)


def test_a_turn_is_given_to_one_replica_in_its_time(database: Database) -> None:
    replicas = Replicas(database)
    assert replicas.turn_of("sweep", 60.0)
    assert not replicas.turn_of("sweep", 60.0)
    assert replicas.turn_of("other", 60.0)
