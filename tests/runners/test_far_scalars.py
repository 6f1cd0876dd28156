"""Scalars that size nothing, as large as a candidate has to be right for."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import numpy.typing as npt
import pytest

from runners import capacities, far_scalars, scalar_ends, thresholds
from runners.contents import Combination, Contents
from runners.families import DECLARED
from runners.spec import JobSpec
from tests.redteam import once_read

ALONE, LEAST = (
    {"n": 1003.0, "span": 509.0, "t": 320000.0},
    {"n": 1003.0, "span": 1.0, "t": 320000.0},
)


def _asked(label: str) -> list[Combination]:
    job = once_read.parsed(label)
    own = {one.key for one in far_scalars.combinations(job)}
    return [one for one in thresholds.compared(job, ()) if one.key in own]


def _changed(label: str, before: str, after: str) -> JobSpec:
    job = once_read.parsed(label)
    assert before in job.baseline.source
    text = dataclasses.replace(job.baseline, source=job.baseline.source.replace(before, after))
    return dataclasses.replace(job, baseline=text)


def test_a_scalar_is_sixteen_times_as_large_alone_and_beside_ones() -> None:
    asked = _asked("ricochet/short_path")
    assert {scalar_ends.scalar(one.family) for one in asked} == {"t"}
    declared = [dict(one.case) for one in asked if one.family == "scalar-ends t"]
    assert declared == [ALONE, LEAST, {**ALONE, "t": 319999.0}, {**ALONE, "n": 1.0}]
    ends = [one.family.partition(" t ")[2] for one in asked if dict(one.case) == ALONE][1:]
    assert ends == ["high", "low", "0 low", "0 high"]
    assert len(asked) <= far_scalars.MOST
    # Where there are two, each is so with the other, too.
    both = [one.case for one in _asked("lzmatch/tile") if one.case["window"] == 1024]
    assert {one["most"] for one in both} >= {1.0, 5.0}


def test_no_workload_is_asked_for_more_than_a_few() -> None:
    bases = [one for one in once_read.candidates() if one.endswith("/base")]
    counts = {one: len(far_scalars.combinations(once_read.parsed(one))) for one in bases}
    assert 10 <= sum(count > 0 for count in counts.values()) <= 30
    assert max(counts.values()) <= far_scalars.MOST


def test_what_runs_over_in_the_original_is_not_asked() -> None:
    """A product beyond 32 bits is nobody's to be right about where the original has 32."""
    assert len(far_scalars.combinations(once_read.parsed("ricochet/base"))) == 10
    narrow = _changed("ricochet/base", "long long", "int")
    work = dataclasses.replace(narrow.work, wide=False)
    assert not far_scalars.combinations(dataclasses.replace(narrow, work=work))
    # What is only compared with it goes nowhere.
    compares = _changed("ricochet/base", "(long long)v[i] * t", "(v[i] < t)")
    compares = dataclasses.replace(compares, work=work)
    assert len(far_scalars.combinations(compares)) == 10
    for before, after in (("v[i] * t", "v[i] >> t"), ("v[i] * t", "(v[i] / t)")):
        assert not far_scalars.combinations(_changed("ricochet/base", before, after))


def test_floats_and_what_is_divided_by_are_left_to_others() -> None:
    for label in ("guitar/base", "reverb/base", "cells/base", "novel/base", "saxpy/base"):
        assert not far_scalars.combinations(once_read.parsed(label))


@pytest.mark.parametrize("text", ["* (" + "a" * 40000, "- (" * 30000, "/*" * 40000, "t )" * 20000])
def test_hostile_texts_take_no_time(text: str) -> None:
    job = once_read.parsed("ricochet/base")
    source = dataclasses.replace(job.baseline, source=job.baseline.source + text)
    begun = time.process_time()
    far_scalars.combinations(dataclasses.replace(job, baseline=source))
    assert time.process_time() - begun < 5.0


def _path(
    family: str, case: dict[str, float]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    arrays = Contents(once_read.parsed("ricochet/base").work).of(Combination(case, family, 1))
    x, v = (arrays[name].view(np.int32).astype(np.int64) for name in ("x", "v"))
    return x, v


def test_products_are_as_large_as_they_get() -> None:
    """Of either sign, and with what is added at either end."""
    for contents, ends in {
        "high": (999999, 29990),
        "low": (-999990, -29990),
        "0 high": (800000, -20000),
        "0 low": (-800000, 20000),
    }.items():
        x, v = _path(scalar_ends.family("t", contents), ALONE)
        for numbers, end in zip((x, v), ends, strict=True):
            assert np.mean(numbers * np.sign(end) >= abs(end)) > 0.9
    assert all(map(np.array_equal, _path("scalar-ends t", ALONE), _path(DECLARED, ALONE)))


def test_narrow_paths_and_lanes_are_wrong_there_and_nowhere_declared() -> None:
    """`short_path` by its product in 32 bits, `short_lane` where lanes are short, too."""

    def wrong(case: dict[str, float]) -> tuple[bool, bool]:
        x, v = _path("scalar-ends t", case)
        path = x + v * int(case["t"])
        lane = path // int(case["span"])
        return tuple(bool((one != one.astype(np.int32)).any()) for one in (path, lane))  # type: ignore[return-value]

    assert wrong({**ALONE, "t": 20000.0}) == (False, False)
    assert wrong({**ALONE, "t": 65604.0}) == (False, False)
    assert wrong(ALONE) == (True, False)
    assert wrong(LEAST) == (True, True)


def test_they_are_asked_where_the_original_is_quick() -> None:
    """A scalar may be how often something is done: as if that were squared."""
    alone, least = (Combination(case, "scalar-ends t", 1) for case in (ALONE, LEAST))
    watch = capacities.Watch()
    assert "would take" in watch.objection(alone)  # nothing was measured
    watch.took(Combination({**ALONE, "t": 80000.0}, DECLARED, 1), 0.01)
    assert watch.objection(alone) == watch.objection(least) == ""
    slow = capacities.Watch()
    slow.took(Combination({**ALONE, "t": 80000.0}, DECLARED, 1), 0.1)
    assert "would take 1.6 s" in slow.objection(alone)
    # What it does not do alone it is not asked about beside others.
    slow.failed(alone)
    assert slow.objection(least) == capacities.SHORTER
    other = Combination(LEAST, "scalar-ends span", 1)
    assert slow.objection(other) != capacities.SHORTER
