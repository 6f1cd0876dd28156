"""Room for the largest of each size apart is too little for a call in which both are as large."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runners import each_extent, growing, sanitized, sizes
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.each_extent import MOST_ELEMENTS, QUICK, among, asked, trios, watched
from runners.gpu import Gpu
from runners.judge import Judge
from runners.sanitizer import Finding
from runners.second_look import Lent
from runners.spec import JobSpec, Json
from tests.redteam import once_read
from tests.runners.test_sanitizer import Memory, Uploads

WRONG = "lagoon/grow_pair_max"


def _of(label: str = WRONG, effort: str = "confirm") -> JobSpec:
    return once_read.parsed(label, effort)


def test_a_long_call_and_a_wide_one_come_before_one_that_is_both() -> None:
    """As large as declared, or smaller where that is too much together."""
    ((narrow, short, both),) = trios(_of().work)
    assert both["c"] == 24
    assert 8 * 2048 < both["n"] < 200_000
    assert sizes.elements(_of().work, both) <= MOST_ELEMENTS
    assert narrow == {**both, "c": 2}
    assert short == {**both, "n": 2}


def test_of_several_sizes_each_two_are_taken() -> None:
    """Of three there are three pairs; the third size is as in the smallest case."""
    found = trios(_of("crosstab/room_for_more_classes").work)
    assert len(found) == 3
    for narrow, short, both in found:
        changed = {name for name in both if narrow[name] != both[name]} | {
            name for name in both if short[name] != both[name]
        }
        assert len(changed) == 2
        assert narrow != short


def test_of_one_size_there_is_nothing_to_ask() -> None:
    for label in ("picket/look_back", "wager/running_ticket", "upticks/doubling_room"):
        assert trios(_of(label).work) == []
        assert asked(_of(label)) == []


def test_only_host_code_that_keeps_room_is_asked() -> None:
    """An original that allocates in each call is not; nor a candidate that keeps a number alone."""
    job = _of()
    assert len(asked(job)) == 3
    assert len(asked(_of("lagoon/grow_pair"))) == 3
    assert asked(_of("lagoon/base")) == []
    assert asked(_of("lagoon/float_pivot")) == []
    assert asked(_of(WRONG, "screen")) == []
    text = "static int calls; void f() { ++calls; }"
    number = dataclasses.replace(job.kernel, source=text)
    assert asked(dataclasses.replace(job, kernel=number)) == []


def _among(keys: set[str]) -> Callable[[Combination], dict[str, int] | None]:
    return lambda one: {} if one.key in keys else None


def _slow(key: str) -> Callable[[Combination], float]:
    return lambda one: float(one.key == key)


def test_memcheck_is_shown_what_has_an_answer_and_is_quick() -> None:
    """Without one of three the others tell nothing."""
    job = _of()
    every = asked(job)
    assert watched(job, lambda _: {}, lambda _: QUICK) == every
    for odd in every:
        others = {one.key for one in every} - {odd.key}
        assert watched(job, _among(others), lambda _: 0.0) == []
        assert watched(job, lambda _: {}, _slow(odd.key)) == []
    three = _of("crosstab/room_for_more_classes")
    gone = asked(three)[1]
    found = watched(three, lambda one: None if one == gone else {}, lambda _: 0.0)
    assert 3 < len(found) < len(asked(three))


def test_they_are_known_again_among_all_that_is_asked() -> None:
    """Whatever else there is, and in whatever order; none where one was left out."""
    job = _of()
    every = asked(job)
    other = Combination({"n": 7.0, "c": 3.0}, "declared", 1)
    given = [Combination(json.loads(json.dumps(one.case)), one.family, 1) for one in every]
    assert among(job.work, [other, *reversed(given)]) == given
    assert among(job.work, [other, *given[:2]]) == []
    assert among(job.work, []) == []


Way = Callable[[int, int, list[int]], int]


def _largest_of_each(blocks: int, channels: int, seen: list[int]) -> int:
    """Return the room there is: made anew where one is larger than ever, for this call alone."""
    if blocks > seen[0] or channels > seen[1]:
        seen[2] = blocks * channels
    seen[:2] = [max(seen[0], blocks), max(seen[1], channels)]
    return seen[2]


def _of_the_last(blocks: int, channels: int, seen: list[int]) -> int:
    """Return the room there is: what is noted is what it was made for."""
    if blocks > seen[0] or channels > seen[1]:
        seen[:] = [blocks, channels, blocks * channels]
    return seen[2]


def _for_both(blocks: int, channels: int, seen: list[int]) -> int:
    """Return the room there is: for the largest of both."""
    seen[:2] = [max(seen[0], blocks), max(seen[1], channels)]
    seen[2] = seen[0] * seen[1]
    return seen[2]


class Rooms:
    """Keeps a room for sums of blocks, by channels; what is written past its end."""

    hosted = True

    def __init__(self, way: Way) -> None:
        self.way, self.seen = way, [0, 0, 0]
        self.past: list[Mapping[str, float]] = []

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Callable[[], None]:
        def call() -> None:
            assert set(addresses.values()) <= Memory.held
            blocks, channels = min(64, -(-int(case["n"]) // 2048)), int(case["c"])
            if blocks * channels > self.way(blocks, channels, self.seen):
                self.past.append(case)

        return call


def _past(way: Way, given: Sequence[Combination]) -> list[Mapping[str, float]]:
    job, rooms = _of(), Rooms(way)
    driver: Any = SimpleNamespace(mem_alloc=Memory)
    made: Any = rooms
    calls = sanitized._Calls(driver, Uploads(), job, made, Contents(job.work))
    calls.apart(given)
    calls.grown(given)
    for one in given:
        calls.call(one, calls.buffers(one))
    return rooms.past


def test_room_for_the_largest_of_each_apart_is_too_little() -> None:
    """Nothing shows it behind a call that is larger in both, which is what came first before."""
    given = asked(_of())
    assert _past(_largest_of_each, given)[0] == trios(_of().work)[0][2]
    large = Combination({"n": 9000.0, "c": 300.0}, "declared", 1)
    assert _past(_largest_of_each, [given[2], large]) == []


@pytest.mark.parametrize("way", [_of_the_last, _for_both])
def test_room_that_suffices_is_right(way: Way) -> None:
    assert _past(way, asked(_of())) == []


def test_a_pair_of_sizes_is_shown_that_was_large_in_other_pairs_before() -> None:
    """Of three sizes the last two are only together in the last three calls."""
    work = _of("crosstab/room_for_more_classes").work
    every = among(work, [Combination(case, "declared", 1) for trio in trios(work) for case in trio])
    for names in (("n", "ka"), ("n", "kb"), ("ka", "kb")):
        seen = [0, 0, 0]
        past = [
            one
            for one in every
            if one.case[names[0]] * one.case[names[1]]
            > _largest_of_each(int(one.case[names[0]]), int(one.case[names[1]]), seen)
        ]
        assert past, names
    assert all(one != other for one, other in pairwise(every))


def test_they_are_looked_at_in_a_process_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind them there is room for all other sizes; what memcheck finds there is refused."""
    job, gpu = _of(), cast("Gpu", SimpleNamespace(allocate=lambda _: 0, facts={}))
    judge = Judge(gpu, 0, tmp_path, lambda _text, _job: None)
    seen: list[list[Combination]] = []

    def examine(*terms: Any) -> list[Finding]:
        seen.append(terms[3])
        errors = int(seen[-1] == asked(job))
        return [Finding("memcheck", errors, "Invalid __global__ write", 0.1, "", len(seen[-1]))]

    monkeypatch.setattr(
        judge._sanitizer, "against", lambda *_: [(Finding("memcheck", 0, "", 0.1), False)]
    )
    monkeypatch.setattr(judge._sanitizer, "examine", examine)
    monkeypatch.setattr(judge._sanitizer, "compared", lambda found, *_: (True, found))
    answers = cast("Answers", SimpleNamespace(of=lambda _: {}, seconds=lambda _: 0.001))
    wanted = [Combination({"n": 7.0 + n, "c": 3.0}, "declared", 1) for n in range(9)]
    monkeypatch.setattr(judge._oracle, "wanted", lambda _: (wanted, []))
    request: Json = {"job": {}, "candidate": {}, "baseline": {}}
    with pytest.raises(Wrong, match="Invalid __global__ write"):
        judge._sanitized(request, job, answers, wanted, Report(), Lent(lambda _: None))
    assert seen[1:] == [asked(job), growing.watched(job, lambda _: {}, lambda _: 0.0)]
    assert seen[2]
    assert not {one.key for one in seen[0]} & {one.key for one in seen[1]}
    seen.clear()
    assert (
        judge._sanitized(
            request, _of("lagoon/base"), answers, wanted, Report(), Lent(lambda _: None)
        )
        == []
    )
    assert seen[1:] == [[]]


def test_its_answers_are_asked_for_with_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process that opens the device."""
    job, gpu = _of(), cast("Gpu", SimpleNamespace(allocate=lambda _: 0, facts={}))
    judge = Judge(gpu, 0, tmp_path, lambda _text, _job: None)
    seen: list[list[Combination]] = []
    monkeypatch.setattr(judge._oracle, "answers", lambda *terms: seen.append(terms[2]))
    judge._hasty[job.key, job.checks] = []
    wanted = [Combination({"n": 7.0, "c": 3.0}, "declared", 1)]
    judge._answers({}, job, wanted, 9.0)
    assert seen[0][0] == wanted[0]
    assert seen[0][-3:] == asked(job)


def test_what_may_be_too_long_under_memcheck_is_bounded() -> None:
    """Elements, and how many there are; also where a workload is larger than that by itself."""
    for name in sorted({one.split("/")[0] for one in once_read.candidates()})[::6]:
        work = _of(f"{name}/base").work
        found = trios(work)
        assert len(found) <= each_extent.MOST_NAMES
        assert all(0 < sizes.elements(work, one) <= MOST_ELEMENTS for trio in found for one in trio)
    work = _of().work
    pads = dataclasses.replace(work.arguments[0], name="pad", shape=str(2 * MOST_ELEMENTS))
    assert trios(dataclasses.replace(work, arguments=(*work.arguments, pads))) == []
