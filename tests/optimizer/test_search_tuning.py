"""Constants are tuned on the best structure, the likeliest first."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from optimizer.budget import SearchSettings
from optimizer.model import (
    Edit,
    Effort,
    Finding,
    Kernel,
    Proposal,
    Step,
)
from tests.optimizer.search_worlds import Scripted, scripted


def test_constants_are_tuned_on_the_best_structure_at_the_end() -> None:
    def tune(kernel: Kernel, _: Sequence[Finding]) -> list[Edit]:
        return [
            Edit(f"block {n}", f"{kernel.source}{n}", "rule:tune", kind="tune")
            for n in range(3)
            if not kernel.source[-1:].isdigit()
        ]

    class Tunable(Scripted):
        def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> list[Proposal]:
            found = super().propose(step, findings, limit)
            return [proposal for proposal in found if proposal.edit.source.isalpha()]

    world = Tunable({"a": 2.0, "b": 1.1, **{f"a{n}": 2.0 + n / 10 for n in range(3)}})
    assert scripted(world, tune=tune).best.kernel.source == "a2"
    assert scripted(world, tune=tune, settings=SearchSettings(tune=False)).best.number == 1


@pytest.mark.parametrize("seed", range(5))
def test_constants_are_tried_from_the_most_to_the_least_likely(seed: int) -> None:
    """A tuner knows their order: shapes of blocks, which gain most, come before unroll factors."""

    def tune(kernel: Kernel, _: Sequence[Finding]) -> list[Edit]:
        names = "pqrstuvw" if not kernel.source else ""
        return [Edit(name, name, "rule:tune", kind="tune") for name in names]

    world = Scripted({})
    scripted(world, tune=tune, settings=SearchSettings(seed=seed))
    tried = [source for source, effort in world.asked if source and effort is Effort.SCREEN]
    assert sorted(tried) == [*"pqrstuvw"]
    assert set(tried[:4]) >= {"p", "q"}
    assert set(tried[4:]) >= {"v", "w"}
