"""Values that size nothing, far out beside arrays that are as long as they are declared."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

from runners import capacities, far_and_full, oracle, scalar_ends, sizes, thresholds
from runners.contents import Combination, Contents
from runners.families import DECLARED
from runners.spec import JobSpec
from tests.redteam import once_read

TILE = 2048
NEARER, FARTHER = (
    {"n": 10000.0, "genes": 32.0, "span": 2001.0},
    {"n": 5000.0, "genes": 16.0, "span": 7999.0},
)


def _cases(job: JobSpec) -> list[dict[str, float]]:
    return [dict(one.case) for one in far_and_full.combinations(job)]


def _in_third_tile(one: Combination) -> int:
    """Return how many times of a case are before two tiles from the end on."""
    times = Contents(once_read.parsed("logrank/base").work).of(one)["time"].view(np.int32)
    return int(np.sum(times < one.case["span"] - 2 * TILE))


def test_a_range_ends_sixteen_times_as_far_beside_thousands() -> None:
    job = once_read.parsed("logrank/tiles_of_times")
    asked = [one for one in thresholds.compared(job, ()) if scalar_ends.scalar(one.family)]
    assert [dict(one.case) for one in asked] == [NEARER, FARTHER]
    assert {one.family for one in asked} == {"scalar-ends span"}
    # Of all else that is asked next to nothing is in a third tile of 2,048.
    others = [one for part in oracle.combinations(job.work, "confirm", 1) for one in part]
    long = [one for one in others if one.case.get("span", 0.0) > 2 * TILE]
    assert max(map(_in_third_tile, long)) < 4
    assert _in_third_tile(asked[-1]) > 2000


def test_values_are_far_out_beside_more_than_the_fewest() -> None:
    """Each that is passed and sizes nothing, up to what is promised, and few workloads have any."""
    bases = [one for one in once_read.candidates() if one.endswith("/base")]
    found = {one: far_and_full.combinations(once_read.parsed(one)) for one in bases}
    asked = {one: every for one, every in found.items() if every}
    assert 25 <= len(asked) <= 60
    for label, every in asked.items():
        work = once_read.parsed(label).work
        assert len(every) <= 2 * far_and_full.MOST_NAMES
        for one in every:
            name = scalar_ends.scalar(one.family)
            times = one.case[name] / sizes.largest(work, name)
            assert 4 < times < sizes.TIMES_LONGER
            assert 0 < work.elements(one.case) <= far_and_full.MOST_ELEMENTS


def test_sums_of_products_fit_where_they_are_asked() -> None:
    """Fewer elements where amounts are multiplied; places are none."""
    job = once_read.parsed("logrank/base")
    assert _cases(job) == [NEARER, FARTHER]
    text = job.baseline.source.replace("(size_t)gene * span", "gene * span")
    amounts = dataclasses.replace(job.baseline, source=text)
    fewer = _cases(dataclasses.replace(job, baseline=amounts))
    for one, less in zip((NEARER, FARTHER), fewer, strict=True):
        assert less["span"] == one["span"]
        assert less["n"] <= one["n"] / 4
    shifts = dataclasses.replace(job.baseline, source=f"{text}\nint f(int span) {{ 1 << span; }}")
    assert not _cases(dataclasses.replace(job, baseline=shifts))


def test_floats_and_whole_numbers_are_asked_alike_and_small_values_are_not() -> None:
    for label in ("guitar/base", "reverb/base", "ricochet/base", "kthrow/base"):
        assert far_and_full.combinations(once_read.parsed(label))
    for label in ("saxpy/base", "waves/base", "cells/base", "novel/base"):
        assert not far_and_full.combinations(once_read.parsed(label))


def test_they_are_asked_where_the_original_is_quick() -> None:
    nearer, farther = far_and_full.combinations(once_read.parsed("logrank/base"))
    declared = Combination({"n": 20000.0, "genes": 64.0, "span": 500.0}, DECLARED, 1)
    quick, slow = capacities.Watch(), capacities.Watch()
    quick.took(declared, 0.002)
    assert quick.objection(nearer) == ""
    assert "would take 0.5 s" in quick.objection(farther)
    # What the nearer took tells of the farther.
    quick.took(nearer, 0.004)
    assert quick.objection(farther) == ""
    slow.took(declared, 0.1)
    assert "would take 1.6 s" in slow.objection(nearer)
    slow.failed(nearer)
    assert slow.objection(farther) == capacities.SHORTER


@pytest.mark.parametrize(
    "text",
    ["(size_t)(" + "a" * 40000, "size_t (" * 30000, "(size_t)" * 20000, "( size_t ) " * 9000],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    job = once_read.parsed("logrank/base")
    source = dataclasses.replace(job.baseline, source=job.baseline.source + text)
    begun = time.process_time()
    far_and_full.combinations(dataclasses.replace(job, baseline=source))
    assert time.process_time() - begun < 5.0
