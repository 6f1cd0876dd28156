"""The app is killed at random moments; tests/bot/faults.py does the same 200 times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot import faults, postgres

KILLS = 6  # each costs the start of a process, two to five seconds


@pytest.mark.timeout(300)
def test_nothing_is_lost_doubled_or_left_open_by_kills(tmp_path: Path) -> None:
    run, wrong = faults.run(tmp_path, kills=KILLS, seed=3)
    assert not wrong, "\n".join(wrong)
    assert run.world().rows("SELECT * FROM checks")


@pytest.mark.timeout(300)
def test_nothing_is_lost_doubled_or_left_open_by_kills_on_postgres(tmp_path: Path) -> None:
    with postgres.running() as url:
        run, wrong = faults.run(tmp_path, kills=KILLS, seed=4, url=url)
    assert not wrong, "\n".join(wrong)
    assert run.world().rows("SELECT * FROM checks")
