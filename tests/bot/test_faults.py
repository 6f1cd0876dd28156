"""The app is killed at random moments; tests/bot/faults.py does the same for longer."""

from __future__ import annotations

from pathlib import Path

from tests.bot import faults


def test_nothing_is_lost_doubled_or_left_open_by_kills(tmp_path: Path) -> None:
    run, wrong = faults.run(tmp_path, kills=3, seed=3)
    assert not wrong, "\n".join(wrong)
    assert run.world().rows("SELECT * FROM checks")
