"""The red team on a real GPU: nothing bad gets through, everything good does.

All of it, or with `--gpu-sample` what fits into the time (`tests.redteam.choice`).
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
from dataclasses import asdict

import pytest

from tests.gpu.budget import BEGUN, CHOSEN, EXPECTED, LAST_CANDIDATE, LEFT_OUT
from tests.gpu.keeping import keep
from tests.redteam import choice
from tests.redteam.run import Outcome, Team, count, device, gpus
from tests.redteam.table import load

pytestmark = [pytest.mark.gpu, pytest.mark.beside, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def chosen(request: pytest.FixtureRequest) -> choice.Choice:
    """Choose what is judged, and say it."""
    seed = request.config.getoption("--gpu-sample", default=None)
    seconds = request.config.getoption("--gpu-seconds", default=None) or EXPECTED["red team"]
    known = choice.recorded()
    if seed is None:
        found = choice.whole(load(), known)
    else:
        found = choice.choose(load(), seed, CHOSEN * seconds, known)
    sys.stdout.write(f"{found.words()} (an estimate)\n")
    return found


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest,
    chosen: choice.Choice,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Outcome]:
    """Judge every candidate once, those of several bases at a time, and say each outcome."""
    facts = device()
    if "error" in facts:
        pytest.skip(f"no GPU: {facts['error']['message']}")
    seconds = request.config.getoption("--gpu-seconds", default=None)
    end = math.inf if seconds is None else BEGUN + seconds
    until = None if seconds is None else BEGUN + max(seconds - LAST_CANDIDATE, seconds / 2)
    found = []
    scratch = tmp_path_factory.mktemp("redteam")
    with contextlib.closing(Team(scratch, int(facts["sm"]), gpus=gpus())) as team:
        for outcome in team.judge(chosen.candidates, until=until, end=end):
            found.append(outcome)
            sys.stdout.write(f"{time.monotonic() - BEGUN:6.1f} {outcome.line()}\n")
            sys.stdout.flush()
            # What a run saw that is cut short is worth something, too.
            keep("redteam", {"gpu": facts["gpu"], "outcomes": [asdict(one) for one in found]})
    sys.stdout.write(f"{count(found)}\n")
    if not found:
        pytest.skip(LEFT_OUT)
    return found


def test_no_bad_candidate_is_accepted(outcomes: list[Outcome]) -> None:
    """Not one of those that are wrong, or whose time is a lie."""
    let = [o.line() for o in outcomes if o.expect != "accept" and not o.right]
    assert not let, "\n".join([count(outcomes), *let])


@pytest.mark.told
def test_every_good_candidate_is_accepted(outcomes: list[Outcome]) -> None:
    """However odd it looks, what is right is right."""
    lost = [o.line() for o in outcomes if o.expect == "accept" and not o.right]
    assert not lost, "\n".join([count(outcomes), *lost])


@pytest.mark.told
def test_every_refusal_has_a_reason(outcomes: list[Outcome]) -> None:
    """A verdict that nobody can act on is half a verdict."""
    assert all(o.log for o in outcomes if not o.accepted)


@pytest.mark.told
def test_every_chosen_candidate_was_judged(chosen: choice.Choice, outcomes: list[Outcome]) -> None:
    """What the time did not suffice for is no failure, but no pass either."""
    left = len(chosen.candidates) - len(outcomes)
    if left:
        pytest.skip(f"{LEFT_OUT}, {left} candidates were not judged")
    assert outcomes
