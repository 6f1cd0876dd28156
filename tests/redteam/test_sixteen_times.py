"""Nothing is asked beyond sixteen times the largest declared value of a variable."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

import pytest

from runners import saturated, sizes, thresholds
from runners.contents import Combination
from runners.sizes import TIMES_LONGER
from runners.spec import CaseSpec, JobSpec, Work
from tests.redteam import once_read

BASES = sorted({one.base.name for one in once_read.candidates().values()})
# Some candidates of each original: to look for numbers of all texts takes minutes.
EACH = 41


def _further(work: Work, asked: Iterable[Combination]) -> Iterator[tuple[str, float, str]]:
    """Yield the variables that are longer than a candidate has to be right for.

    What is declared as zero, as a flag is, is no size; its other values are those that the
    original's own text names.
    """
    for one in asked:
        for name in work.variables:
            most = TIMES_LONGER * sizes.largest(work, name)
            if one.case.get(name, 0.0) > most > 0:
                yield name, one.case[name], one.family


def _job(name: str, effort: str) -> JobSpec | None:
    job = once_read.parsed(f"{name}/base", effort)
    return None if job.work.kind == "program" else job


@pytest.mark.parametrize("effort", once_read.EFFORTS)
def test_no_original_is_asked_beyond_sixteen_times_what_is_declared(effort: str) -> None:
    found = {}
    for name in BASES:
        if (job := _job(name, effort)) is not None:
            declared, extra = once_read.combinations(job.work, effort, job.seed)
            if further := [*_further(job.work, [*declared, *extra])]:
                found[name] = further[:3]
    assert not found


def test_of_a_candidate_only_numbers_far_out_and_words_of_64_bits_are() -> None:
    """Decision 8 names them: what is silently wrong behind a number of its own text is no limit."""
    named, beyond = 0, {}
    for label in [*once_read.candidates()][::EACH]:
        job = once_read.parsed(label)
        if job.work.kind == "program":
            continue
        allowed = [*thresholds._far(job), *thresholds._wide(job)]
        # Nor is what is wrong where its launch does not grow any more.
        allowed += saturated.cases(job, thresholds.FARTHEST, thresholds.FEWER_ELEMENTS)
        mine = [one for one in thresholds.compared(job, ()) if dict(one.case) not in allowed]
        if further := [*_further(job.work, mine)]:
            beyond[label] = further[:3]
        named += bool(allowed)
    assert not beyond
    assert named


def _work(like: Work, **values: float) -> Work:
    (first, *_) = like.cases
    return dataclasses.replace(like, cases=(CaseSpec({**first.values, **values}),))


def test_what_tools_look_at_is_no_longer_either() -> None:
    """A row that shared memory has no more room for is a limit there, and no fault."""
    work = once_read.parsed("rowsum/base").work
    for cols in (17.0, 24.0, 100.0, 500.0):
        mine = _work(work, rows=40.0, cols=cols)
        tried = sizes.whole_words(mine, mine.cases[0].values, 1 << 16)
        found = [Combination(case, "plain", 1) for case in tried]
        assert not [*_further(mine, found)]
        if cols >= 24:
            assert max(one.case["cols"] for one in found) > 10 * cols


@pytest.mark.parametrize(
    ("value", "reached"), [(2, 31), (3, 47), (4, 63), (5, 69), (16, 65), (17, 271), (128, 2047)]
)
def test_what_is_small_goes_as_far_as_it_may(value: int, reached: int) -> None:
    """A radius of two is tried at 31: what keeps 16 in an array of its own is wrong there."""
    assert max(sizes.far_beyond(value)) == reached
    assert reached < TIMES_LONGER * value
    assert max(sizes.far_beyond(261)) == 4165
