"""Sizes of which a candidate's own text makes whole parts, of a number that is odd."""

from __future__ import annotations

import dataclasses
import gc
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners import oracle, sizes, spec, thresholds, whole_parts
from runners.launch_limits import SHARED_BYTES, fails
from runners.spec import JobSpec, Launch
from tests.redteam import once_read
from tests.redteam.table import Candidate, load
from tests.runners.test_judge import SCALE, _job
from tests.runners.test_odd_texts import HOSTILE

CANDIDATES = {one.label: one for one in load()}
Case = dict[str, float]


def _of(label: str) -> JobSpec:
    return once_read.parsed(label)


@pytest.fixture(autouse=True)
def _nothing_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked for a text is asked wherever nothing drawn happens to be such a case."""
    monkeypatch.setattr(oracle, "DRAWN", 0)


def _gated(gate: str, label: str = "sqsum/base", before: str = "") -> JobSpec:
    """Return the job of a candidate that is its original but for a gate of its own."""
    job = _of(label)
    head, _, rest = job.baseline.source.partition("{")
    text = f"{before}\n{head}{{ if ({gate}) return; {rest}"
    return dataclasses.replace(job, kernel=dataclasses.replace(job.baseline, source=text))


def _asked(job: JobSpec) -> tuple[list[Case], list[Case]]:
    """Return the cases that are asked about anyway, and those of a candidate's own text."""
    declared, extra = oracle.combinations(job.work, "confirm", 1)
    known = [*declared, *extra]
    found = thresholds.compared(job, known)
    return [dict(one.case) for one in known], [dict(one.case) for one in found]


def _odd(size: float, part: float) -> bool:
    return size % part == 0 and size // part > 1 and size // part % 2 == 1


def test_an_odd_number_of_chunks_loses_none() -> None:
    """The bad one takes chunks of 256 paths two at a time, and is right for all else."""
    known, found = _asked(_of("exposure/simulations_of_256"))
    assert not any(_odd(case["paths"], 256) for case in known)
    wrong = [case for case in found if _odd(case["paths"], 256)]
    assert {7, 1} <= {case["paths"] / 256 for case in found}
    assert min(case["dates"] for case in wrong) > sizes.SMALL


FORMS: tuple[tuple[str, str, Callable[[Case], bool]], ...] = (
    ("rows % 256 == 0", "", lambda c: _odd(c["rows"], 256)),
    ("!(rows & (T - 1))", "constexpr int T = 256;", lambda c: _odd(c["rows"], 256)),
    ("rows % (T * 4) == 0", "#define T 64", lambda c: _odd(c["rows"], 256)),
    (
        "whole<256>(rows)",
        "template <int T> __device__ bool whole(int n) { return n % T == 0; }",
        lambda c: _odd(c["rows"], 256),
    ),
    ("rows / 256 * 256 == rows", "", lambda c: _odd(c["rows"], 256)),
    ("(rows + 3) % 320 == 0", "", lambda c: _odd(c["rows"] + 3, 320)),
    ("rows % (16 * blockDim.x) == 0", "", lambda c: _odd(c["rows"], 2048)),
    ("gridDim.x % 64 == 0", "", lambda c: _odd((c["rows"] + 127) // 128, 64)),
    ("rows % 256 == 0 && cols > 500", "", lambda c: _odd(c["rows"], 256) and c["cols"] > 500),
    ("rows % 512 == 0 && rows > 9999", "", lambda c: _odd(c["rows"], 512) and c["rows"] > 9999),
    ("rows % 12288 == 0", "", lambda c: _odd(c["rows"], 12288)),
    ("rows % cols == 0", "", lambda c: _odd(c["rows"], c["cols"]) and c["cols"] > 30),
    ("rows * cols % 32768 == 0", "", lambda c: _odd(c["rows"] * c["cols"], 32768)),
    ("(rows | cols) % 128 == 0", "", lambda c: _odd(c["rows"], 128) and _odd(c["cols"], 128)),
)


@pytest.mark.parametrize(("gate", "before", "wrong"), FORMS, ids=[one[0] for one in FORMS])
def test_an_odd_number_of_parts_is_asked_for_however_a_gate_is_written(
    gate: str, before: str, wrong: Callable[[Case], bool]
) -> None:
    known, found = _asked(_gated(gate, before=before))
    assert not any(map(wrong, known))
    assert any(map(wrong, found))


@pytest.mark.parametrize(
    "gate",
    [
        "rows % 64 == 0 && cols % 32 == 0",
        "!(rows % 64 || cols % 32)",
        "rows % 64 == 0) if (cols % 32 == 0",
    ],
)
def test_of_two_both_are_odd_and_each_beside_an_even_one(gate: str) -> None:
    known, found = _asked(_gated(gate))
    whole = [
        (int(case["rows"]) // 64, int(case["cols"]) // 32)
        for case in [*known, *found]
        if case["rows"] % 64 == case["cols"] % 32 == 0
    ]
    assert {(1, 1), (1, 0), (0, 1)} <= {(rows % 2, cols % 2) for rows, cols in whole}
    assert any(rows % 2 and rows % 3 and cols % 2 and cols % 3 for rows, cols in whole)


def test_whole_parts_are_many_too_and_one_and_three() -> None:
    _known, found = _asked(_gated("rows % 256 == 0"))
    parts = {case["rows"] / 256 for case in found if case["rows"] % 256 == 0}
    assert {1, 3, 7} <= parts
    assert any(one > 60 and one % 2 and one % 3 and one % 5 for one in parts)


def test_parts_are_as_many_as_they_are_declared() -> None:
    """Four million elements are more than a grid has blocks of 1024, and most of it is asked."""
    job = _of("lion/base")
    text = job.baseline.source.replace("{", "{ if (n % 1024 == 0) return;", 1)
    odd = dataclasses.replace(job, kernel=dataclasses.replace(job.baseline, source=text))
    _known, found = _asked(odd)
    most = max(case["n"] for case in found if _odd(case["n"], 1024))
    assert sizes.largest(job.work, "n") / 8 < most <= sizes.largest(job.work, "n")


def test_a_launch_is_asked_about_as_its_text() -> None:
    job = _of("sqsum/base")
    launch = Launch(("rows/512*4",), ("128",))
    own = dataclasses.replace(job, kernel=dataclasses.replace(job.baseline, launch=launch))
    assert any(_odd(case["rows"], 512) for case in whole_parts.cases(own, ()))
    rounded = Launch(("(rows+511)/512*4",), ("128",))
    own = dataclasses.replace(job, kernel=dataclasses.replace(job.baseline, launch=rounded))
    assert whole_parts.cases(own, ()) == []


def test_what_is_known_or_the_originals_is_not_asked_for() -> None:
    job = _gated("rows % 256 == 0")
    same = dataclasses.replace(job, kernel=job.baseline)
    assert whole_parts.cases(same, ()) == []
    other = dataclasses.replace(job.kernel, source=job.kernel.source + "\n// another text\n")
    assert whole_parts.cases(dataclasses.replace(job, baseline=job.kernel, kernel=other), ()) == []
    found = whole_parts.cases(job, ())
    assert found
    assert whole_parts.cases(job, found) == []
    few: list[Case] = [{**case, "cols": 1.0} for case in found]
    assert whole_parts.cases(job, few)


def test_where_a_launch_fails_or_a_size_is_far_beyond_no_case_is_chosen() -> None:
    job = _gated("rows % 256 == 0")
    tall = Launch(("1", "rows*64"), ("128",))
    kernel = dataclasses.replace(job.kernel, launch=tall)
    found = whole_parts.cases(dataclasses.replace(job, kernel=kernel), ())
    assert found
    assert not [case for case in found if fails(tall, case, SHARED_BYTES)]
    for part in (20_000, 50_000, 1 << 23, 1 << 40):
        for case in whole_parts.cases(_gated(f"rows % {part} == 0"), ()):
            assert case["rows"] <= sizes.TIMES_LONGER * 3000


def _right() -> list[Candidate]:
    every = [one for one in CANDIDATES.values() if one.expect == "accept"]
    return [one for one in every if one.base.kind != "program" and one.name != "base"]


def test_right_candidates_are_asked_hardly_more() -> None:
    """Over all of the red team, and within limits; each in a moment."""
    more, every, longest, known_of = 0, 0, 0.0, {"": [Case()]}
    for one in _right()[::6]:
        job = once_read.parsed(one)
        if one.base.name not in known_of:
            declared, extra = oracle.combinations(job.work, "confirm", 1)
            known_of = {one.base.name: [dict(each.case) for each in [*declared, *extra]]}
        known = known_of[one.base.name]
        gc.disable()  # all that other tests hold is looked through in a second, at any time
        begun = time.process_time()
        found = whole_parts.cases(job, known)
        longest = max(longest, time.process_time() - begun)
        gc.enable()
        _within_limits(job, found)
        more += len(found)
        every += len(known)
    assert more < 0.01 * every
    assert longest < 1.0


def _within_limits(job: JobSpec, found: list[Case]) -> None:
    weights = [sizes.elements(job.work, case) for case in found]
    assert len(found) <= whole_parts.MOST_CASES
    assert all(0 < one <= whole_parts.MOST_ELEMENTS for one in weights)
    assert sum(weights) <= whole_parts.MOST_TOGETHER
    for case in found:
        for name in sizes.changing(job.work):
            assert 1 <= case[name] <= sizes.TIMES_LONGER * sizes.largest(job.work, name)


@given(st.text(max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    for source in (text, SCALE + f"\nvoid f(int n) {{ if (n % 64 == {text}"):
        job = spec.parse(_job(source, effort="confirm"))
        _within_limits(job, whole_parts.cases(job, ()))


GATES = st.builds(
    "{} {} {} {} {}".format,
    st.sampled_from(["rows", "cols", "rows * cols", "(rows | cols)", "gridDim.x", "(rows - 7)"]),
    st.sampled_from(["%", "/", "&", ">>"]),
    st.one_of(st.integers(-9, 1 << 40), st.sampled_from(["cols", "blockDim.x", "0", "(1 << 90)"])),
    st.sampled_from(["==", "<", "!=", "* 4 =="]),
    st.sampled_from(["0", "rows", "cols", "5"]),
)


@settings(max_examples=40)
@given(st.lists(GATES, min_size=1, max_size=6), st.sampled_from([" && ", " || ", ") if ("]))
def test_no_gate_asks_for_more_than_may_be(gates: list[str], between: str) -> None:
    job = _gated(between.join(gates))
    _within_limits(job, whole_parts.cases(job, ()))


@pytest.mark.parametrize("gate", HOSTILE)
def test_hostile_texts_take_no_time(gate: str) -> None:
    job = _gated(gate)
    begun = time.process_time()
    assert len(whole_parts.cases(job, ())) <= whole_parts.MOST_CASES
    assert time.process_time() - begun < 5


def test_many_gates_take_no_time() -> None:
    known = _asked(_of("sqsum/base"))[0]
    every = [f"(rows + {n}) * {n + 1} % {n + 300} == (cols - {n}) % {n + 3}" for n in range(60)]
    grid = [f"(gridDim.x + {n}) % {n + 40} == cols % {n + 30}" for n in range(90)]
    for text in (" || ".join(every), ") if (".join(grid), " && ".join(grid)):
        job = _gated(text)
        begun = time.process_time()
        _within_limits(job, whole_parts.cases(job, known))
        assert time.process_time() - begun < 3


def test_odd_launches_ask_for_nothing() -> None:
    job = _gated("gridDim.x % 64 == 0")
    for grid in ("rows +", "1/0", "nobody*2", "9" * 200, "rows/nobody", "rows/0"):
        odd = dataclasses.replace(job.kernel, launch=Launch((grid,), ("256",)))
        _within_limits(job, whole_parts.cases(dataclasses.replace(job, kernel=odd), ()))
