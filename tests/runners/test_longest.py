"""Flat sizes sixteen times the declared, and sizes of two and three beside large ones."""

from __future__ import annotations

import dataclasses

from runners import longest, sizes, thresholds
from runners.capacities import LONGER, Watch
from runners.contents import Combination
from runners.families import DECLARED, LONGEST
from runners.spec import JobSpec
from tests.redteam import once_read
from tests.redteam.table import load

CANDIDATES = {one.label: one for one in load()}


def _of(label: str) -> JobSpec:
    return once_read.parsed(label)


def _at(n: float, family: str) -> Combination:
    return Combination({"n": n}, family, 1)


def test_a_table_that_ends_within_sixteen_times_has_ended_in_the_longest_case() -> None:
    """Room for 256 sums of spans of 1024, eight thousand keys each."""
    work = _of("keygroup/scan_two_level").work
    (line,) = longest.cases(work)
    assert 256 * 8192 < line[0]["n"] <= sizes.TIMES_LONGER * sizes.largest(work, "n")
    declared, extra = once_read.combinations(work, "confirm", 1)
    asked = [one for one in (*declared, *extra) if one.family == LONGEST]
    assert [dict(one.case) for one in asked] == [line[0], {"n": line[0]["n"] + 1}, *line[1:]]


def test_whole_words_are_asked_as_far_out_as_odd_sizes() -> None:
    """Half of all flat sizes were multiples of four up to 1.2 times the declared, and no further."""
    every = sorted({one.base.name for one in CANDIDATES.values() if one.base.kind != "program"})
    found = 0
    for work in (_of(f"{name}/base").work for name in every[::8]):
        asked = [one.case for one in longest.combinations(work, 1)]
        for first, *_ in longest.cases(work):
            (name,) = (k for k, size in first.items() if size > sizes.largest(work, k))
            most = max(case[name] for case in asked if case[name] % longest.WORD == 0)
            assert first[name] < most <= sizes.TIMES_LONGER * sizes.largest(work, name)
            found += 1
    assert found > 10


def test_it_is_no_more_than_a_candidate_has_to_be_right_on_and_memory_holds() -> None:
    every = {one.base.name: one for one in CANDIDATES.values() if one.base.kind != "program"}
    asked = 0
    for one in every.values():
        work = once_read.parsed(one).work
        for line in longest.cases(work):
            asked += 1
            for case in line:
                assert 0 < work.elements(case) <= longest.MOST_ELEMENTS
                for name, size in case.items():
                    assert size <= sizes.TIMES_LONGER * max(1.0, sizes.largest(work, name))
    assert asked > len(every) / 3


def test_no_such_case_is_asked_of_rows_or_while_candidates_are_screened() -> None:
    assert list(longest.cases(_of("affinity/base").work)) == []
    work = _of("keygroup/base").work
    _, extra = once_read.combinations(work, "screen", 1)
    assert LONGEST not in {one.family for one in extra}


def test_a_shorter_one_is_asked_where_the_longest_would_take_too_long() -> None:
    quick, slow = Watch(), Watch()
    quick.took(_at(1e6, DECLARED), 0.001)
    assert quick.objection(_at(16e6, LONGEST)) == ""
    quick.took(_at(16e6, LONGEST), 0.02)
    assert quick.objection(_at(4e6, LONGEST)) == LONGER
    slow.took(_at(1e6, DECLARED), 0.1)
    assert "would take 25.6 s" in slow.objection(_at(16e6, LONGEST))
    slow.failed(_at(16e6, LONGEST))
    assert slow.objection(_at(4e6, LONGEST)) == ""
    # What took long where it was declared is asked nowhere beyond.
    long = Watch()
    long.took(_at(1e6, DECLARED), 0.2)
    assert "would take 3.2 s" in long.objection(_at(4e6, LONGEST))


def test_short_rows_are_asked_in_a_table_of_many() -> None:
    """Of two bytes there are few sums, and a thousand entries meet in many of them."""
    work = _of("bucketdup/base").work
    assert {"n": 400000.0, "d": 1000.0, "w": 2.0} in sizes.thin(work)
    _, extra = once_read.combinations(work, "confirm", 1)
    assert {"n": 400000.0, "d": 1000.0, "w": 2.0} in [dict(one.case) for one in extra]
    # A single size that is tiny leaves nothing that is large.
    assert sizes.thin(_of("saxpy/base").work) == []


def test_a_radius_is_not_as_large_as_a_block_has_threads() -> None:
    """385 times the declared, where sums of squares need no 32 bits up to 85 times."""
    job = _of("kuwahara/sums_slide_down")
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    asked = thresholds.compared(job, [*declared, *extra])
    most = sizes.TIMES_LONGER * sizes.largest(job.work, "r")
    assert max(one.case["r"] for one in asked) <= most


def test_a_case_of_one_size_has_no_captured_contents() -> None:
    work = _of("keygroup/base").work
    captured = dataclasses.replace(work.arguments[0], init="capture:folder:kernel:key")
    real = dataclasses.replace(work, arguments=(captured, *work.arguments[1:]))
    assert list(longest.cases(real)) == []
