"""What is begun before it is asked for decides nothing: a replay, which begins nothing, agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot import wiring
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer.budget import Budget
from optimizer.search import search
from runners.interfaces import Job
from runners.replay import ReplayDispatcher
from runners.workload import read_project

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "montecarlo"


class Ahead(ReplayDispatcher):
    """A recording that compiles ahead, as a GPU would."""

    begun = 0

    def expect(self, jobs: Sequence[Job]) -> bool:
        self.begun += len(jobs)
        return True


def test_the_same_is_tried_whether_or_not_it_was_compiled_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ((kernel, workload),) = read_project(EXAMPLE / ".optiml.yml").kernels()
    tried = []
    settings = replace(Settings(), memory="off", policy="rules")
    made: list[ReplayDispatcher] = []
    for kind in (ReplayDispatcher, Ahead):

        def opened(path: Path, kind: type[ReplayDispatcher] = kind) -> ReplayDispatcher:
            made.append(kind(path))
            return made[-1]

        monkeypatch.setattr(wiring, "ReplayDispatcher", opened)
        with Workshop(settings, replay=EXAMPLE / "recording.jsonl.gz") as shop:
            given = shop.tools(kernel, workload)
            found = search(kernel, workload, given, Budget(24), settings=shop.search_settings)
        tried.append([(step.parent, step.kernel.digest) for step in found.steps])
    assert tried[0] == tried[1]
    assert isinstance(made[1], Ahead)
    assert made[1].begun > 24
