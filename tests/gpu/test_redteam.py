"""The red team on a real GPU: nothing bad gets through, everything good does."""

from __future__ import annotations

import sys
from dataclasses import asdict

import pytest

from tests.gpu.keeping import keep
from tests.redteam.run import Outcome, Team, count, device, gpus
from tests.redteam.table import load

pytestmark = [pytest.mark.gpu, pytest.mark.beside, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """Judge every candidate once, those of several bases at a time."""
    facts = device()
    if "error" in facts:
        pytest.skip(f"no GPU: {facts['error']['message']}")
    team = Team(tmp_path_factory.mktemp("redteam"), int(facts["sm"]), gpus=gpus())
    found = []
    for outcome in team.judge(load()):
        found.append(outcome)
        sys.stdout.write(f"{outcome.line()}\n")
        sys.stdout.flush()
        if len(found) % 20 == 0:  # what a run saw that is cut short is worth something, too
            keep("redteam", {"gpu": facts["gpu"], "outcomes": [asdict(one) for one in found]})
    keep("redteam", {"gpu": facts["gpu"], "outcomes": [asdict(one) for one in found]})
    return found


def test_no_bad_candidate_is_accepted(outcomes: list[Outcome]) -> None:
    """Not one of those that are wrong, or whose time is a lie."""
    let = [o.line() for o in outcomes if o.expect != "accept" and not o.right]
    assert not let, "\n".join([count(outcomes), *let])


def test_every_good_candidate_is_accepted(outcomes: list[Outcome]) -> None:
    """However odd it looks, what is right is right."""
    lost = [o.line() for o in outcomes if o.expect == "accept" and not o.right]
    assert not lost, "\n".join([count(outcomes), *lost])


def test_every_refusal_has_a_reason(outcomes: list[Outcome]) -> None:
    """A verdict that nobody can act on is half a verdict."""
    assert all(o.log for o in outcomes if not o.accepted)
