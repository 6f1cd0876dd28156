"""Sizes whose last thread is alone in its warp, and laps over what another one writes."""

from __future__ import annotations

from typing import Any, cast

from runners import overlapping, verify
from runners.answers import Answers
from runners.checks import Report
from runners.contents import Combination
from runners.families import DECLARED
from runners.run import Damage, Run
from runners.session import Shaken
from runners.spec import JobSpec
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.test_full_grids import _All

CANDIDATES = {one.label: one for one in load()}
# Four pixels a thread, in place; the last thread begins four before the end.
LAPS_OVER = "premult/last_four_overlap"


def _of(label: str) -> JobSpec:
    return once_read.parsed(label)


def _asked(job: JobSpec) -> list[Combination]:
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    return [*declared, *extra]


def test_a_size_one_beyond_whole_blocks_is_asked_where_a_buffer_is_read_and_written() -> None:
    job = _of(LAPS_OVER)
    assert list(overlapping.cases(job.work)) == [{"n": 4097.0}]
    assert {"n": 4097.0} in [dict(one.case) for one in _asked(job)]
    # Each variable by itself, the others few; and none that grows no such buffer.
    assert list(overlapping.cases(_of("seismic/base").work)) == [
        {"h": 4097.0, "w": 2.0},
        {"h": 2.0, "w": 4097.0},
    ]
    assert list(overlapping.cases(_of("reciprocals/base").work)) == []


def test_none_is_asked_beyond_what_a_candidate_has_to_be_right_on() -> None:
    for one in {one.base.name: one for one in CANDIDATES.values()}.values():
        if one.base.kind == "program":
            continue
        work = once_read.parsed(one).work
        for case in overlapping.cases(work):
            assert work.elements(case) <= overlapping.MOST_ELEMENTS
            longest = {name: max(c.values[name] for c in work.cases) for name in case}
            assert all(size <= 16 * longest[name] for name, size in case.items()), one.label


def test_warps_are_delayed_there_until_one_of_two_is_late() -> None:
    job, answers = _of(LAPS_OVER), cast("Answers", _All())
    ran: list[Combination] = []

    class Delayed:
        loading = 0.0

        def run(self, asked: Combination, **_more: Any) -> Run:
            ran.append(asked)
            return Run({}, Damage(), 0.0, 1)

    verify.shaken(cast("Shaken", Delayed()), answers, job, _asked(job), Report())
    for size in (4097.0, 1025.0):
        key = Combination({"n": size}, DECLARED, 1).key
        assert sum(one.key == key for one in ran) >= overlapping.RUNS
