"""Flat sizes as long as may be, where all that is counted meets in one place."""

from __future__ import annotations

import dataclasses

from runners import capacities, one_place, thresholds
from runners.contents import Combination
from runners.families import DECLARED, LONGEST
from tests.redteam import once_read

DECLARED_CASE = {"n": 1000000.0, "span": 4096.0, "t": 20000.0}


def test_sixteen_times_as_many_meet_in_one_place() -> None:
    job = once_read.parsed("ricochet/paired")
    few, many = one_place.combinations(job)
    assert dict(few.case) == {"n": 1000000.0, "span": 1.0, "t": 9.0}
    assert dict(many.case) == {**few.case, "n": 15999999.0}
    assert {few.family, many.family} == {LONGEST}
    assert thresholds.compared(job, ())[-2:] == [few, many]
    # A block of 132 meets more than 16 bits hold there, and in no shorter case.
    assert 4194301 // 132 < 1 << 16 < int(many.case["n"]) // 132


def test_the_shorter_tells_what_the_longer_takes() -> None:
    few, many = one_place.combinations(once_read.parsed("ricochet/base"))
    watch = capacities.Watch()
    watch.took(Combination(DECLARED_CASE, DECLARED, 1), 0.0001)
    assert watch.objection(few) == ""
    watch.took(few, 0.001)
    assert watch.objection(many) == ""
    slow = capacities.Watch()
    slow.took(few, 0.1)
    assert "would take" in slow.objection(many)


def test_few_originals_are_asked() -> None:
    """None whose threads exchange a word until it holds, nor with keys, floats or small sizes."""
    job = once_read.parsed("ricochet/base")
    text = job.baseline.source.replace("atomicAdd(", "atomicExch(")
    waits = dataclasses.replace(job, baseline=dataclasses.replace(job.baseline, source=text))
    assert not one_place.combinations(waits)
    bases = [one for one in once_read.candidates() if one.endswith("/base")]
    asked = [one for one in bases if one_place.combinations(once_read.parsed(one))]
    assert "ricochet/base" in asked
    assert len(asked) < 10
