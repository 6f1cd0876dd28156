"""Taking deliveries in when the disk, the network or the sender does not keep up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot import intake as rooms
from bot import switch
from bot.database import Database
from bot.github_errors import RateLimited, Unreachable
from bot.intake import Full, Intakes
from bot.job import Intake, Receipt
from bot.ledger import Ledger
from bot.patience import Patience, Stopped
from bot.settings import Settings
from bot.store import Store
from optimizer.errors import ConfigError
from tests.bot import house


class SlowStore(Store):
    """A store whose disk waits for a test."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.batches: list[int] = []

    def accept(self, batch: Sequence[Intake]) -> list[Receipt]:
        self.go.wait(5)
        self.batches.append(len(batch))
        return [Receipt.NEW for _ in batch]


def test_deliveries_that_wait_for_the_disk_are_written_together() -> None:
    store, woken = SlowStore(), threading.Event()

    async def scenario() -> None:
        intakes = Intakes(store, woken.set)
        await intakes.open()
        puts = [asyncio.create_task(intakes.put(Intake(f"g{n}", "x", None))) for n in range(40)]
        await asyncio.sleep(0.05)
        store.go.set()
        assert await asyncio.gather(*puts) == [Receipt.NEW] * 40
        await intakes.close()

    asyncio.run(scenario())
    assert len(store.batches) <= 2
    assert sum(store.batches) == 40
    assert woken.is_set()


def test_more_than_may_wait_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_WAITING", 3)
    store = SlowStore()

    async def scenario() -> None:
        intakes = Intakes(store, lambda: None)
        await intakes.open()
        puts = [asyncio.create_task(intakes.put(Intake(f"g{n}", "x", None))) for n in range(20)]
        await asyncio.sleep(0.05)
        refused = [one for one in puts if one.done() and isinstance(one.exception(), Full)]
        assert len(refused) > 10
        store.go.set()
        await asyncio.gather(*puts, return_exceptions=True)
        await intakes.close()

    asyncio.run(scenario())


def test_a_delivery_that_was_not_written_is_never_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with house.bot(tmp_path) as bot:
        error = sa.exc.OperationalError("INSERT", {}, Exception("disk I/O error"))

        def broken(_: object) -> list[Receipt]:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(Store, "accept", lambda _self, batch: broken(batch))
            answer = bot.pull()
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert bot.pull().status_code == 202


def test_patience_ends_and_waits_as_long_as_it_is_told_to() -> None:
    asked = []

    def busy() -> None:
        asked.append(1)
        raise RateLimited("slow down", retry_after=0.01)

    with pytest.raises(RateLimited):
        Patience(0.2, 0.01).ask(busy)
    assert len(asked) > 2
    asked.clear()
    with pytest.raises(Unreachable):
        Patience(9.0, 0.01).ask(_raising(Unreachable("502")), urgent=lambda: True)


def test_patience_stops_with_the_process() -> None:
    patience = Patience(60.0, 30.0)
    threading.Timer(0.05, patience.stop.set).start()
    with pytest.raises(Stopped):
        patience.ask(_raising(Unreachable("502")))


def _raising(error: Exception) -> Callable[[], None]:
    def ask() -> None:
        raise error

    return ask


def test_the_kill_switch_is_thrown_and_undone_from_the_command_line(tmp_path: Path) -> None:
    settings = Settings(database=f"sqlite:///{tmp_path / 'db'}")
    assert "paused o/r" in switch.pause(settings, "o/r", "too hot")
    database = Database(settings.database)
    assert Ledger(database).paused("o/r") == "too hot"
    assert not Ledger(database).paused("o/other")
    assert "works again" in switch.resume(settings, "o/r")
    assert not Ledger(database).paused("o/r")
    with pytest.raises(ConfigError):
        switch.pause(settings, "not a repository", "why")
    database.close()
