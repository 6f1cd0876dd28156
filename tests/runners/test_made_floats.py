"""What is asked of candidates whose PTX makes floats of whole numbers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from runners import close_numbers, made_floats, sizes
from runners.contents import Combination, Contents
from runners.spec import JobSpec
from tests.redteam import once_read

SINGLE = "cvt.rn.f32.s32 %f1, %r1;"
EXACT = "cvt.rn.f64.s32 %fd1, %r1; cvt.rn.f32.u16 %f1, %rs1; cvt.rn.f32.f64 %f2, %fd1;"
WHOLE = "cvt.s64.s32 %rd1, %r1;"


def _asked(label: str, mine: str, theirs: str = WHOLE) -> list[Combination]:
    job = once_read.parsed(label)
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    return made_floats.beside(job, [*declared, *extra], (mine, theirs))


def _digits(job: JobSpec, mine: str, theirs: str = WHOLE) -> list[int]:
    return made_floats.digits(job, (mine, theirs))


def test_it_is_asked_where_the_candidate_alone_makes_shorter_floats() -> None:
    job = once_read.parsed("moat/float_min")
    assert _digits(job, SINGLE) == [24]
    assert _digits(job, "cvt.rz.ftz.f32.u64 %f1, %rd1; cvt.rn.f16.s32 %h1, %r1;") == [11, 24]
    assert _digits(job, "cvt.rn.f64.s64 %fd1, %rd1;") == [53]
    assert not _digits(job, EXACT)
    assert not _digits(job, WHOLE)


@pytest.mark.parametrize("codes", [("", WHOLE), (SINGLE, ""), ("", "")])
def test_nothing_is_asked_where_the_ptx_of_one_is_not_known(codes: tuple[str, str]) -> None:
    assert not _asked("moat/float_min", *codes)


def test_an_original_that_makes_floats_itself_is_rounded_itself() -> None:
    """One in doubles is exact, unless floats are made of them."""
    job = once_read.parsed("moat/float_min")
    assert not _digits(job, SINGLE, "cvt.rn.f32.u32 %f1, %r1;")
    assert _digits(job, SINGLE, "cvt.rn.f64.s32 %fd1, %r1;") == [24]
    floats = once_read.parsed("colony/base")
    assert _digits(floats, SINGLE) == [24]
    assert not _digits(floats, SINGLE, "cvt.rn.f64.s32 %fd1, %r1;")


def test_work_without_ranges_is_not_asked() -> None:
    assert not _asked("softmax/base", SINGLE)
    assert not _asked("moat/float_min", SINGLE, SINGLE)


def test_it_is_few_and_light() -> None:
    for label in ("moat/float_min", "hermit/float_rank"):
        job = once_read.parsed(label)
        found = _asked(label, SINGLE)
        assert 0 < len(found) <= 5 + 4 * len(close_numbers.LONES)
        for one in found:
            assert job.work.elements(one.case) <= made_floats.MOST_LONG_ELEMENTS
            for name, value in one.case.items():
                assert value <= 16 * sizes.largest(job.work, name)


def _first(made: Any, case: Any, narrow: type) -> Any:
    """Return which end of each edge comes first, by ranks of a kind, as `hermit` says."""
    n = int(case["n"])
    u, v = (made[name].view("i4") % n for name in ("from", "to"))
    rank = made["rank"].view("i4").astype(narrow)
    ahead = (rank[u] > rank[v]) | ((rank[u] == rank[v]) & (u < v))
    return np.where(ahead, u, v)


def test_ranks_that_are_compared_as_floats_change_the_order() -> None:
    """Of random ones none does."""
    work = once_read.parsed("hermit/float_rank").work
    (one,) = (
        one
        for one in _asked("hermit/float_rank", SINGLE)
        if one.family == close_numbers.close(24, "rank")
    )
    drawn = dataclasses.replace(one, family="declared")
    for combination, many in ((one, 0.05), (drawn, 0.0)):
        made = Contents(work).of(combination)
        first, other = (_first(made, one.case, kind) for kind in (np.int64, np.float32))
        assert (first != other).mean() >= many
        assert (first != other).any() == (combination is one)


def _distances(land: Any, narrow: type) -> Any:
    """Return `moat`'s squared distances of one row, whose gaps are those of its columns."""
    gap = np.where(land == 0, 0, -1)
    wet = np.flatnonzero(gap == 0)
    far = np.arange(len(land))[:, None] - wet[None, :]
    squares: Any = far.astype(narrow) ** 2
    return squares.min(axis=1).astype(np.int64)


def test_squares_in_floats_are_wrong_of_one_far_from_all_others() -> None:
    """And right in doubles; of random contents right in any."""
    work = once_read.parsed("moat/float_min").work
    told = set()
    for one in _asked("moat/float_min", SINGLE):
        h, w = int(one.case["h"]), int(one.case["w"])
        if not one.family.endswith("low") or w < h:
            continue
        land = Contents(work).of(one)["land"].reshape(h, w)
        row = land[0 if "first" in one.family else -1]
        exact = _distances(row, np.int64)
        assert np.array_equal(exact, _distances(row, np.float64))
        assert (exact != _distances(row, np.float32)).any()
        drawn = Contents(work).of(Combination(one.case, "declared", 1))["land"].reshape(h, w)[0]
        assert np.array_equal(*(_distances(drawn, kind) for kind in (np.int64, np.float32)))
        told.add((w, one.family))
    assert len(told) == 4


def test_others_than_the_declared_cases_are_none_of_close_numbers() -> None:
    """What is too heavy is not asked, and one alone is."""
    job = once_read.parsed("hermit/float_rank")
    heavy = tuple(
        dataclasses.replace(one, values={**one.values, "n": 1e6}) for one in job.work.cases
    )
    job = dataclasses.replace(job, work=dataclasses.replace(job.work, cases=heavy))
    declared = [Combination(one.values, "declared", 1) for one in heavy]
    found = made_floats.beside(job, declared, (SINGLE, WHOLE))
    assert {one.family for one in found} == {*close_numbers.LONES}
