"""Sizes beyond which a candidate's launch stops growing."""

from __future__ import annotations

import dataclasses
from typing import Any

from runners import saturated, thresholds
from runners.families import PLAIN
from runners.spec import JobSpec, Launch
from tests.redteam import once_read

FEW = 1 << 20


def _with(label: str, **words: str) -> JobSpec:
    job = once_read.parsed(label)
    launch = job.kernel.launch or job.work.launch
    assert launch is not None
    made: dict[str, Any] = {
        name: (text,) if name in {"grid", "block"} else text for name, text in words.items()
    }
    changed = dataclasses.replace(launch, **made)
    return dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, launch=changed))


def _cases(job: JobSpec) -> list[dict[str, float]]:
    return [*saturated.cases(job, thresholds.FARTHEST, FEW)]


def test_a_block_that_is_full_is_tried_with_more_than_it_has_threads_for() -> None:
    """1,024 disparities are sixteen times the declared, and the block is as large as it may be."""
    beyond = {"h": 5.0, "w": 9.0, "disp": 2022.0}
    asked = thresholds.compared(once_read.parsed("sgm/disparity_of_a_thread"), ())
    assert {one.family for one in asked if dict(one.case) == beyond} == {PLAIN, "mixed"}
    # Who has the original's launch has ends that are no worse.
    for label in ("sgm/one_barrier_a_column", "sgm/row_of_a_warp"):
        assert not _cases(once_read.parsed(label))


def test_what_goes_on_growing_has_no_end() -> None:
    for block in ("128", "32*((disp+31)/32)", "32*min(32,(w+31)/32)", "32*max(1,(disp+31)/32)"):
        found = _cases(_with("sgm/disparity_of_a_thread", block=block))
        assert not [one for one in found if one["disp"] > 1024]
    # An end further out than silent errors are looked for; one at the declared size.
    for end in (16384, 1):
        assert not _cases(_with("sgm/disparity_of_a_thread", grid=f"min({end},disp)", block="128"))


def test_a_launch_that_fails_there_is_a_limit() -> None:
    label = "sgm/disparity_of_a_thread"
    assert [one["disp"] for one in _cases(once_read.parsed(label))] == [2022.0]
    assert not _cases(_with(label, shared="128*disp"))


def test_more_than_one_element_of_a_thread_is_a_whole_step_beyond() -> None:
    def grid(text: str) -> list[float]:
        return [one["disp"] for one in _cases(_with("sgm/base", grid=text))]

    assert grid("h*min(8,(disp+255)/256)") == [8 * 256 - 255 + 1029]
    assert grid("h*min(4,(disp+2047)/2048)") == [4 * 2048 - 2047 + 2048 + 5]
    assert grid("h") == []


def test_expressions_that_have_no_value_have_no_end() -> None:
    job = once_read.parsed("sgm/base")
    odd = Launch(grid=("h/(disp-disp)",), block=("nothing",), shared="0")
    assert not _cases(dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, launch=odd)))
