"""How a search uses several GPUs, by a clock that is only counted."""

from __future__ import annotations

from typing import Any

import pytest

from optimizer import landscape
from optimizer.budget import Budget, SearchSettings
from optimizer.landscape import LandscapeEvaluator, LandscapePolicy
from optimizer.model import Kernel, Verdict
from optimizer.search import search
from optimizer.tools import Tools, no_boundary
from runners.evaluator import DispatchedEvaluator
from tests.test_benchmarks import loaded

SCENE = landscape.generate(3, 20, 3)
virtual = loaded("scaling_virtual")


def searched(gpus: int, *, rehearse: bool = True) -> tuple[float, list[str], Any]:
    """Return evaluations a minute behind the first verdict, the tree, and the GPUs."""
    answers = LandscapeEvaluator(SCENE, 1)
    kernel, workload = landscape.kernel(), landscape.workload()

    def answer(candidate: Kernel) -> Verdict:
        return answers.evaluate([candidate], workload)[0]

    fleet = virtual.VirtualDispatcher(gpus, answer, rehearse=rehearse)
    marks: list[float] = []
    tools = Tools(
        LandscapePolicy(SCENE),
        DispatchedEvaluator(fleet, kernel, boundary=no_boundary),
        tune=lambda one, _: landscape.tuner(SCENE, one),
        boundary=no_boundary,
        clock=lambda: 0.0,
        width=1 if gpus == 1 else 2 * gpus,
    )
    settings = SearchSettings(
        seed=1, window=8, finalists=0, confirmations=0, shorten=False, profile=False
    )
    found = search(
        kernel, workload, tools, Budget(100), lambda _: marks.append(fleet.now), settings=settings
    )
    rate = 60 * (len(marks) - 1) / (marks[-1] - marks[0])
    return rate, [step.kernel.digest for step in found.steps], fleet.cards


@pytest.mark.parametrize("gpus", [2, 4])
def test_a_window_keeps_gpus_that_were_made_ready_nine_tenths_busy(gpus: int) -> None:
    one, tree, _ = searched(1)
    many, same, cards = searched(gpus)
    assert same == tree
    assert many >= 0.9 * gpus * one
    assert all(card.cold == virtual.Pace().cold for card in cards)


def test_gpus_that_were_not_made_ready_pay_for_it_in_the_first_candidates() -> None:
    one, tree, _ = searched(1)
    many, same, _ = searched(4, rehearse=False)
    assert same == tree
    assert many < 0.85 * 4 * one
