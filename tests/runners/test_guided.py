"""A search comes to what chance does not, and what it comes to is put to the original."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import far_cases, guided, mutations, recipes, spec
from runners.contents import Combination, Contents
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.guided import LAYER, Search, beginnings
from runners.judge import Judge
from runners.nearest import NEVER
from runners.spec import Json, Work
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact
from tests.runners.test_inputs import _work
from tests.runners.test_judge import _job, _verdict

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
STREAK = 10


def _words() -> Work:
    return _work(
        {"name": "x", "type": "const int*", "shape": "rows*n", "init": "randint:0:6"},
        {"name": "out", "type": "int*", "shape": "rows", "role": "output"},
        rows=40,
        n=30,
    )


def _longest(x: npt.NDArray[np.int32]) -> int:
    """Return the longest streak of a rule that no recipe keeps to."""
    follows = (5 * x[:, :-1] + 3 + np.arange(x.shape[1] - 1) ** 2) % 6 == x[:, 1:]
    run = np.zeros(len(x), np.int64)
    most = 0
    for column in follows.T:
        run = (run + 1) * column
        most = max(most, int(run.max()))
    return most


class _OverError(Exception):
    """There were as many runs as were asked for."""


class _Counting:
    """Tells of one counter how near it came to so many, and of another comparison both outcomes.

    It is over so many runs after the first one that came there: time decides nothing.
    """

    def __init__(
        self, work: Work, error: Exception | None = None, after: int = 1 << 30, most: int = 1 << 30
    ) -> None:
        self.contents, self.error = Contents(work), error
        self.reached, self.runs = 0, list[Combination]()
        self.left, self.after = most, after

    def run(self, one: Combination, *, seconds: float) -> npt.NDArray[np.uint32]:
        assert seconds > 0
        if self.left == 0:
            raise _OverError
        self.left -= 1
        self.runs.append(one)
        if self.error is not None:
            raise self.error
        n = int(one.case["n"])
        most = _longest(self.contents.of(one)["x"].view(np.int32).reshape(-1, n))
        if self.reached < STREAK <= most:
            self.left = self.after
        self.reached = max(self.reached, most)
        least = NEVER if most < STREAK else most - STREAK
        return np.array([[1, 7], [least, STREAK - min(most, STREAK - 1)]], np.uint32)


def _chance(work: Work, count: int = 10_000) -> Iterator[Combination]:
    for turn in range(count):
        yield Combination(work.cases[0].values, f"{recipes.WORD} {recipes.FUZZED + turn}", 1)


def test_a_counter_comes_to_where_chance_never_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten in a row are one of sixty million, and some thousand changes away."""
    work = _words()
    device = _Counting(work)
    for one in itertools.islice(_chance(work), 400):
        device.run(one, seconds=1.0)
    assert device.reached < 8
    monkeypatch.setattr(guided, "SLOW", 1e9)
    device = _Counting(work, after=guided.VARIANTS - 1, most=30_000)
    search = Search(device, work, 1, _chance(work))
    with pytest.raises(_OverError):
        search.go(time.monotonic() + 1e6)
    assert device.reached >= STREAK
    assert search.came == 1
    # It is in what is looked at, and is the same to whoever makes it anew.
    first, *also = (one for one in search.found if "guided" in one.family)
    made = Contents(work).of(first)["x"].view(np.int32).reshape(-1, 30)
    assert _longest(made) >= STREAK
    # And so are others that have it as well.
    assert len(also) > guided.VARIANTS // 4
    for one in also:
        made = Contents(work).of(one)["x"].view(np.int32).reshape(-1, 30)
        assert _longest(made) >= STREAK


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_places_that_count_are_found_among_a_hundred_thousand(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """By halves: a change at a place that chance draws is beside them hardly ever."""
    work = _words()
    far = {"rows": 4000.0, "n": 30.0}
    monkeypatch.setattr(guided, "SLOW", 1e9)
    device = _Counting(work, after=0, most=4000)
    search = Search(device, work, seed, iter([Combination(far, "declared", 1)]))
    with pytest.raises(_OverError):
        search.go(time.monotonic() + 1e6)
    assert device.reached >= STREAK
    drawn = [one for one in device.runs if (change := guided.last(one)) and change.anew]
    # Some forty for each number that came nearer without a place that is known.
    assert 0 < len(drawn) < len(device.runs) * guided.PART_OF_RUNS + 80


def test_an_array_that_counts_for_nothing_has_no_places_that_count() -> None:
    work = _work(
        {"name": "other", "type": "const int*", "shape": "n", "init": "randint:0:6"},
        {"name": "x", "type": "const int*", "shape": "rows*n", "init": "randint:0:6"},
        {"name": "out", "type": "int*", "shape": "rows", "role": "output"},
        rows=4000,
        n=30,
    )
    device = _Counting(work)
    declared = Combination(work.cases[0].values, "declared", 1)
    search = Search(device, work, 1, iter([declared]))
    search._try(declared, None)
    goal = next(iter(search._holders))
    search._place(goal, time.monotonic() + 60.0)
    assert {array for _, array in search._counts} == {1}
    # And there it is where the longest streak is, in its row or beside its end.
    most = device.reached
    rows = device.contents.of(declared)["x"].view(np.int32).reshape(-1, 30)
    longest = {row for row in range(4000) if _longest(rows[row : row + 1]) == most}
    assert {place // 30 for place in search._counts[goal, 1]} & longest
    assert len(device.runs) < 60


def test_nothing_is_gone_for_where_all_outcomes_came() -> None:
    class Both(_Counting):
        def run(self, one: Combination, *, seconds: float) -> npt.NDArray[np.uint32]:
            self.runs.append(one)
            return np.array([[1, 7]], np.uint32)

    work = _words()
    device = Both(work)
    search = Search(device, work, 1, _chance(work))
    search.go(time.monotonic() + 60.0)
    assert len(device.runs) == guided.FIRST
    assert (search.missing(), search.edges(), len(search.found)) == (0, [], 1)


def test_what_came_within_a_step_is_looked_at_and_what_has_no_room_is_passed_over() -> None:
    class Near(_Counting):
        def run(self, one: Combination, *, seconds: float) -> npt.NDArray[np.uint32]:
            self.runs.append(one)
            if len(self.runs) % 2:
                raise OutOfMemoryError("no room")
            return np.array([[NEVER, 1], [300, NEVER], [NEVER, NEVER]], np.uint32)

    work = _words()
    search = Search(Near(work), work, 1, _chance(work))
    search.go(time.monotonic() + 0.5)
    assert search.runs > guided.FIRST
    assert search.missing() == 2
    assert len(search.edges()) == 1


def test_a_search_without_a_beginning_ends() -> None:
    work = _words()
    search = Search(_Counting(work), work, 1, iter(()))
    search.go(time.monotonic() + 60.0)
    assert (search.runs, search.missing()) == (0, 0)


def test_changes_are_no_more_than_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided, "MOST_CHANGES", 4)
    work = _words()
    device = _Counting(work)
    search = Search(device, work, 1, _chance(work))
    search.go(time.monotonic() + 1.0)
    read = [mutations.read(one.family) for one in device.runs]
    assert max(len(one[1]) for one in read if one) == 4


def test_it_begins_with_recipes_and_rarely_with_few_elements() -> None:
    work = _words()
    few, more = {"rows": 2.0, "n": 5.0}, {"rows": 90.0, "n": 50.0}
    each = [
        Combination(case, family, 1)
        for turn in range(80)
        for case, family in ((few, f"recipe {turn}"), (more, f"recipe {turn}"), (few, "nan"))
    ]
    found = [*beginnings(work, iter(each), iter(()))]
    assert all(one.family.startswith("recipe") for one in found)
    assert sum(one.case == more for one in found) == 80
    assert 8 <= sum(one.case == few for one in found) <= 11


def test_now_and_then_it_begins_where_sizes_are_as_large_as_they_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(far_cases, "CASES", 14)
    text = SUMS.replace("MORE", "")
    job = spec.parse(_job(text + "//", text, workload=WORK, effort="confirm"))
    few = (Combination({"n": 20.0}, f"recipe {recipes.FUZZED + turn}", 1) for turn in range(9999))
    found = [*itertools.islice(beginnings(job.work, few, guided.far(job)), 400)]
    far = [one for one in found if one.case["n"] > 20]
    assert len(far) > 40
    assert {one.case["n"] for one in far} >= {319.0}
    assert max(job.work.elements(one.case) for one in far) <= guided.FAR_ELEMENTS
    assert len({one.key for one in far}) == len(far)
    # Where none is light enough there is none.
    assert not [*itertools.islice(guided.far(replace(job, work=_heavy())), 3)]


def _heavy() -> Work:
    return _work(
        {"name": "x", "type": "const int*", "shape": "4000*n", "init": "randint:0:6"}, n=4000
    )


def test_what_takes_long_is_no_way_to_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided, "SLOW", 0.0)
    work = _words()
    search = Search(_Counting(work), work, 1, _chance(work))
    search.go(time.monotonic() + 0.3)
    assert search.runs > 3
    assert search.missing() == 0
    assert len(search.found) == 1


# Sums of each row, and one that leaves out what comes behind eight in a row of a rule.
SUMS = """
extern "C" __global__ void scale(const int* x, int* out, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int* mine = x + row * 30;
    if (row >= n) return;
    int sum = 0, streak = 0;
    for (int i = 0; i < 30; ++i) {
        sum += mine[i];
        if (i > 0) streak = (5 * mine[i - 1] + 3 + (i - 1) * (i - 1)) % 6 == mine[i] ? streak + 1 : 0;
        MORE
    }
    out[row] = sum;
}
"""
CUT = SUMS.replace("MORE", "if (streak >= 8) break;")
# What `runners.nearest` would make of it, as g++ compiles it.
TOLD = (
    SUMS.replace(
        "MORE",
        "{ unsigned& w = optiml_nearest[streak >= 8]; unsigned d = streak >= 8 ? streak - 8 : 8 - streak;"
        " if (d < w) w = d; if (streak >= 8) break; }",
    )
).replace(
    'extern "C" __global__',
    'extern "C" { unsigned optiml_nearest[2]; unsigned optiml_nearest_bytes = 8; }\n'
    'extern "C" __global__',
)
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const int*", "shape": "n*30", "init": "randint:0:6"},
        {"name": "out", "type": "int*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
    ],
    "cases": [{"values": {"n": 20}}, {"values": {"n": 7}, "time": False}],
    "tolerance": {"rtol": 0, "atol": 0},
}


def _judging(tmp_path: Path, watch: Any) -> Judge:
    made = Judge(HostGpu(), 0, tmp_path, lambda _t, _j: None, watch=watch)
    made._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    return made


@host
def test_a_candidate_that_is_wrong_where_only_a_search_comes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guided, "SECONDS", 60.0)
    go = Search.go
    # No longer than it takes to come there.
    monkeypatch.setattr(Search, "go", lambda self, until: _until_found(self, go, until))
    judge = _judging(tmp_path, lambda _text, _job: artifact(TOLD))
    base = SUMS.replace("MORE", "")
    try:
        verdict = _verdict(judge, CUT, base, workload=WORK, effort="confirm")
    finally:
        judge.close()
    assert verdict["status"] == "wrong result", verdict["log"]
    assert LAYER in verdict["log"]
    assert "guided" in verdict["log"]


def _until_found(search: Search, go: Any, until: float) -> None:
    while (search.missing() or not search.runs) and time.monotonic() < until:
        go(search, min(until, time.monotonic() + 1.0))
    go(search, time.monotonic() + 1.0)


@host
@pytest.mark.parametrize("built", [True, False])
def test_a_right_one_is_accepted_and_what_was_looked_for_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, built: bool
) -> None:
    monkeypatch.setattr(guided, "SECONDS", 0.3)
    judge = _judging(tmp_path, lambda _text, _job: artifact(TOLD) if built else None)
    base = SUMS.replace("MORE", "")
    try:
        verdict = _verdict(judge, base + "//", base, workload=WORK, effort="confirm")
    finally:
        judge.close()
    assert verdict["status"] == "correct", verdict["log"]
    told = [one["what"] for one in verdict["checks"] if one["layer"] == LAYER]
    assert len(told) == built
    assert all("outcomes" in one for one in told)


@pytest.mark.parametrize(
    ("error", "lost"),
    [(HungError("hangs"), True), (DeviceError("gone"), True)],
)
def test_what_a_build_does_that_is_watched_is_not_held_against_it(
    error: DeviceError, monkeypatch: pytest.MonkeyPatch, *, lost: bool
) -> None:
    work = _words()
    with pytest.raises(DeviceError):
        Search(_Counting(work, error), work, 1, _chance(work)).go(time.monotonic() + 9.0)
    monkeypatch.setattr(guided, "Search", lambda *_terms: _Raising(error))
    monkeypatch.setattr(guided, "LONGEST_CHECK", 0.0)
    looks = guided.Guided(lambda _text, _job: {})
    job = spec.parse(_job(CUT, SUMS.replace("MORE", ""), workload=WORK, effort="confirm"))
    looks.begin({"job": {}}, job)
    terms: Any = (
        (None, None),
        lambda _artifact: object(),
        _Nothing(),
        None,
        job,
        (),
        time.monotonic() + 9.0,
        None,
    )
    notes, gone = looks.check(*terms)
    assert gone == lost
    assert notes == [f"{LAYER} not tried: {error}"]
    # And where there is no time left nothing is tried.
    late: Any = (
        (None, None),
        lambda _artifact: object(),
        _Nothing(),
        None,
        job,
        (),
        time.monotonic() - 1.0,
        None,
    )
    assert looks.check(*late) == ([f"{LAYER} not tried: there is no time left"], False)


def test_a_build_that_cannot_be_launched_costs_a_note_and_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work = _words()
    search = Search(_Counting(work, LaunchError("too many registers")), work, 1, _chance(work))
    search.go(time.monotonic() + 60.0)
    assert search.runs == search.failed == guided.FIRST
    monkeypatch.setattr(guided, "Search", lambda *_terms: search)
    monkeypatch.setattr(guided, "LONGEST_CHECK", 0.0)
    looks = guided.Guided(lambda _text, _job: {})
    job = spec.parse(_job(CUT, SUMS.replace("MORE", ""), workload=WORK, effort="confirm"))
    looks.begin({"job": {}}, job)
    terms: Any = (
        (None, None),
        lambda _artifact: object(),
        _Nothing(),
        None,
        job,
        (),
        time.monotonic() + 9.0,
        None,
    )
    assert looks.check(*terms) == ([f"{LAYER} not tried: too many registers"], False)


def test_one_size_that_cannot_be_launched_is_passed_over() -> None:
    class Some(_Counting):
        def run(self, one: Combination, *, seconds: float) -> npt.NDArray[np.uint32]:
            if one.family == f"{recipes.WORD} {recipes.FUZZED + 3}":
                raise LaunchError("no such grid")
            return super().run(one, seconds=seconds)

    work = _words()
    search = Search(Some(work), work, 1, _chance(work))
    search.go(time.monotonic() + 0.5)
    assert search.failed == 1
    assert search.missing() == 1


class _Raising:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def go(self, _until: float) -> None:
        raise self.error


class _Nothing:
    def ran(self, *_terms: object) -> tuple[list[Combination], Iterator[Combination]]:
        return [], iter(())
