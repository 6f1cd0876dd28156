"""Some of the table that `tests/bot/github_faults.py` makes: those answers that tempt to do twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot.github_faults import FOREVER, suffer


@pytest.mark.parametrize(
    ("call", "answer", "times", "ends"),
    [
        ("open the check run", "done, no answer", 1, "done"),
        ("start the workflow", "done, then 502", 1, "done"),
        ("write the comment", "done, no answer", 1, "done"),
        ("move the branch", "done, then 502", 1, "done"),
        ("sign in", "401", 1, "done"),
        ("close the check run", "502", FOREVER, "done"),
        ("close the check run", "404", 1, "done"),
        ("fetch the artifact", "404", FOREVER, "failed"),
    ],
)
def test_a_wrong_answer_leaves_nothing_open_and_nothing_twice(
    tmp_path: Path, call: str, answer: str, times: int, ends: str
) -> None:
    end, wrong = suffer(tmp_path, call, answer, times)
    assert not wrong, wrong
    assert end == ends
