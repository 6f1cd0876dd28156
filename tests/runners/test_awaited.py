"""A batch's verdicts, looked at one by one."""

from __future__ import annotations

import pytest

from optimizer.model import Status, Verdict
from runners.awaited import Awaited


def test_a_verdict_is_taken_once_and_only_when_looked_at() -> None:
    asked: list[int] = []

    def take(place: int) -> Verdict:
        asked.append(place)
        return Verdict(Status.CORRECT, log=str(place))

    batch = Awaited(3, take)
    assert len(batch) == 3
    assert batch[1].log == "1"
    assert asked == [1]
    assert [one.log for one in batch] == ["0", "1", "2"]
    assert batch[-1].log == "2"
    assert [one.log for one in batch[1:]] == ["1", "2"]
    assert asked == [1, 0, 2]
    with pytest.raises(IndexError):
        batch[3]
