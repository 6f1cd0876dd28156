"""Turns on a GPU: one at a time, and never a reason to stop."""

from __future__ import annotations

import threading
from pathlib import Path

from runners.turns import turn


def test_the_second_waits_for_the_first(tmp_path: Path) -> None:
    path = tmp_path / "turns"
    path.touch()
    order: list[str] = []

    def second() -> None:
        with turn(str(path)):
            order.append("second")

    with turn(str(path)):
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.1)
        order.append("first")
    waiting.join(30)
    assert order == ["first", "second"]


def test_who_waited_long_enough_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "turns"
    path.touch()
    with turn(str(path)), turn(str(path), seconds=0.05):
        pass


def test_without_a_file_there_are_no_turns(tmp_path: Path) -> None:
    with turn(""), turn(""), turn(str(tmp_path / "none")), turn(str(tmp_path / "none")):
        pass
