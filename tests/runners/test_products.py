"""Sizes at which a product of sizes is beyond a number of a candidate's own text."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import gates, products, sizes, spec, thresholds
from runners.families import PLAIN
from runners.spec import JobSpec
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.test_judge import SCALE, _job

CANDIDATES = {one.label: one for one in load()}
MARGIN, TABLE = "mirrorpad/large_ones_repeat_the_margin", "templ/constant_of_1024"
Case = dict[str, float]


def _of(label: str) -> JobSpec:
    return once_read.parsed(label)


def _gated(gate: str, label: str = MARGIN, *, before: str = "") -> JobSpec:
    """Return the job of a candidate with another gate in its text."""
    job = _of(label)
    text = job.baseline.source + f"\n{before}\n__device__ bool other() {{ return {gate}; }}\n"
    return dataclasses.replace(job, kernel=dataclasses.replace(job.baseline, source=text))


def _asked(job: JobSpec) -> tuple[list[Case], list[Case]]:
    """Return the cases that are asked about anyway, and those beside a candidate's numbers."""
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    known = [*declared, *extra]
    found = thresholds.compared(job, known)
    return [dict(one.case) for one in known], [dict(one.case) for one in found]


def _area(case: Case) -> float:
    return case["h"] * case["w"]


def _template(case: Case) -> float:
    return case["th"] * case["tw"]


def test_a_picture_is_as_large_as_a_gate_says() -> None:
    """A third wider and higher than declared, once in whole vectors and once not."""
    known, found = _asked(_of(MARGIN))
    assert not [case for case in known if _area(case) > 2_000_000]
    large = [case for case in found if _area(case) > 2_000_000]
    assert any(case["w"] % 4 == 0 for case in large)
    assert any(case["w"] % 4 for case in large)
    # Like the declared one, and no larger than it has to be.
    assert any(case["p"] == 16 and _area(case) < 2_050_000 for case in large)


def test_a_table_is_fuller_than_there_is_room_for() -> None:
    known, found = _asked(_of(TABLE))
    assert not [case for case in known if _template(case) > 1024]
    full = [case for case in found if _template(case) > 1024]
    assert any(case["h"] == 200 and _template(case) < 1100 for case in full)


FORMS: tuple[tuple[str, str, Callable[[Case], bool]], ...] = (
    ("h * w > 1 << 21", "", lambda c: _area(c) > 1 << 21),
    ("(size_t)h * w >= 2'097'152ull", "", lambda c: _area(c) >= 1 << 21),
    ("h * (long long)w > BIG", "#define BIG (2048 * 1024)", lambda c: _area(c) > 1 << 21),
    ("w * h >= most", "constexpr int most{3 * 1000 * 1000};", lambda c: _area(c) >= 3_000_000),
    ("h * w > all * 2", "static const int all = 1 << 20;", lambda c: _area(c) > 1 << 21),
    ("h * (float)w > 2.5e6f", "", lambda c: _area(c) > 2_500_000),
    ("h * w * sizeof(float) > 12 << 20", "", lambda c: _area(c) > 3 << 20),
    ("h * w * 4 > 10000000", "", lambda c: _area(c) > 2_500_000),
    ("bytes > 10000000", "", lambda c: _area(c) * 4 > 10_000_000),
    ("h * w / 4 > 500000", "", lambda c: _area(c) // 4 > 500_000),
    ("vectors > 500000", "", lambda c: _area(c) // 4 > 500_000),
    ("(h * w) >> 20 >= 2", "", lambda c: int(_area(c)) >> 20 >= 2),
    ("h * w >> 21", "", lambda c: bool(int(_area(c)) >> 21)),
    ("__clz(h * w) < 11", "", lambda c: int(_area(c)).bit_length() > 21),
    ("2000000 < h * w", "", lambda c: _area(c) > 2_000_000),
    ("min(h * w, 2000000) == 2000000", "", lambda c: _area(c) >= 2_000_000),
    ("gridDim.x > 9000", "", lambda c: (c["h"] + 2 * c["p"]) * (c["w"] + 2 * c["p"]) > 9000 * 256),
    (
        "gridDim.x * blockDim.x > 2500000",
        "",
        lambda c: (c["h"] + 2 * c["p"]) * (c["w"] + 2 * c["p"]) > 2_500_000,
    ),
    ("h >= 2500 && w >= 2500", "", lambda c: min(c["h"], c["w"]) >= 2500),
    ("h * w > 1 << 21 && h * w < 1 << 22", "", lambda c: 1 << 21 < _area(c) < 1 << 22),
    ("h * w > 100000 && h * w < 400000", "", lambda c: 100_000 < _area(c) < 400_000),
)


@pytest.mark.parametrize(("gate", "before", "open_"), FORMS, ids=[one[0] for one in FORMS])
def test_a_gate_is_passed_however_it_is_written(
    gate: str, before: str, open_: Callable[[Case], bool]
) -> None:
    known, found = _asked(_gated(gate, before=before))
    assert any(map(open_, [*known, *found]))
    assert not all(map(open_, [*known, *found]))
    # One that is no picture of three rows alone.
    assert any(open_(case) and min(case["h"], case["w"]) > 100 for case in [*known, *found])


def test_a_gate_below_the_declared_is_passed_by_what_looks_like_them() -> None:
    """A single declared case, and its way for small ones."""
    job = _gated("h * w < 500000")
    large = dataclasses.replace(job.work, cases=job.work.cases[:1])
    found = products.beyond(
        dataclasses.replace(job, work=large), [{"h": 1.0, "w": 1200.0, "p": 16.0}]
    )
    small = [case for case in found if _area(case) <= 500_000]
    assert any(_area(case) > 400_000 and case["p"] == 16 for case in small)


def test_host_code_is_asked_by_its_sizes_alone() -> None:
    """Of an entry function no launch is known: a number of blocks is one of threads, too."""
    known, found = _asked(_gated("blocks > 3000", TABLE))
    assert any(256 * 3000 < case["h"] * case["w"] < 256 * 3100 for case in [*known, *found])


def test_numbers_of_the_original_ask_for_nothing() -> None:
    job = _of(MARGIN)
    same = dataclasses.replace(job, kernel=job.baseline)
    assert products.beyond(same, ()) == []
    said = dataclasses.replace(
        job.baseline, source=job.baseline.source + "\n// h * w > 2000000 is said only\n"
    )
    assert products.beyond(dataclasses.replace(job, kernel=said), _asked(job)[0]) == []


def test_ways_of_the_original_are_gone_too() -> None:
    """It repeats the margin of large pictures itself; a copy of that may be wrong there."""
    job = _of(MARGIN)
    other = dataclasses.replace(job.kernel, source=job.kernel.source + "\n// another text\n")
    copied = dataclasses.replace(job, baseline=job.kernel, kernel=other)
    assert any(_area(case) > 2_000_000 for case in _asked(copied)[1])


def test_right_candidates_get_no_case_beyond_limits() -> None:
    """Every one of the red team: few, none too large, and each side within sixteen times."""
    most = 0
    for one in CANDIDATES.values():
        if one.expect != "accept" or one.base.kind == "program":
            continue
        job = once_read.parsed(one)
        found = products.beyond(job, [case.values for case in job.work.cases])
        assert len(found) <= products.MOST_CASES
        weights = [sizes.elements(job.work, case) for case in found]
        most = max(most, sum(weights))
        for case, weight in zip(found, weights, strict=True):
            assert 0 < weight <= products.MOST_DECLARED
            for name in case:
                assert case[name] <= sizes.TIMES_LONGER * sizes.largest(job.work, name)
    assert most <= products.MOST_TOGETHER


def test_what_is_too_large_is_not_asked_for() -> None:
    """A thousand times the declared, or no more than sixteen times where that is too much."""
    for gate in ("h * w > 1200000000", "h * w > 15000000"):
        job = _gated(gate)
        _known, found = _asked(job)
        assert not [case for case in found if _area(case) > 10_000_000]
        assert max(sizes.elements(job.work, case) for case in found) <= products.MOST_DECLARED


def test_a_launch_that_fails_far_beyond_is_a_limit() -> None:
    """A grid's second way has 65,535 blocks: within sixteen times a candidate has to do it."""
    base = _of("outer/base")
    case = spec.CaseSpec({"rows": 100.0, "cols": 90.0})
    work = dataclasses.replace(base.work, cases=(case,))
    for times, within in ((10, True), (40, False)):
        gate = f"{base.baseline.source}\nbool other() {{ return rows * cols > {9000 * times}; }}\n"
        grid = spec.Launch(("1", f"rows*cols*8/{times}"), ("256",))
        kernel = dataclasses.replace(base.baseline, source=gate)
        wide = dataclasses.replace(base, work=work, kernel=kernel)
        assert any(c["rows"] * c["cols"] > 9000 * times for c in products.beyond(wide, ()))
        tall = dataclasses.replace(wide, kernel=dataclasses.replace(kernel, launch=grid))
        found = [c for c in products.beyond(tall, ()) if c["rows"] * c["cols"] > 9000 * times]
        assert bool(found) == within


def test_a_few_more_combinations_a_candidate() -> None:
    job = _of(MARGIN)
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    found = thresholds.compared(job, [*declared, *extra])
    grown = products.beyond(job, [one.case for one in [*declared, *extra]])
    assert [dict(one.case) for one in found if one.family == PLAIN][-len(grown) :] == grown
    assert [one.family for one in found if dict(one.case) == grown[0]] == [PLAIN, "mixed"]


@given(st.text(max_size=400))
def test_no_text_is_too_odd(text: str) -> None:
    found = gates.numbers(f"77 + 88;\n{text}")
    assert {77, 88, 165} <= found.every
    assert found.compared <= found.every
    gates.numbers(text + " > 5 * (3")


@given(
    st.lists(st.sampled_from([*"()[]{}<>=*+-/;,", "<<", ">>", "1", "4096", "x", "sizeof", "int"]))
)
def test_no_order_of_tokens_is_too_odd(words: list[str]) -> None:
    found = gates.numbers(" ".join(words)).every
    assert all(gates.LEAST <= one <= gates.MOST for one in found)


def test_odd_launches_ask_for_nothing() -> None:
    job = spec.parse(_job(SCALE + "\n__device__ int gate() { return 5000 < 9; }\n"))
    for grid in ("n +", "1/0", "nobody*2", "9" * 200):
        launch = spec.Launch((grid,), ("256",))
        odd = dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, launch=launch))
        assert len(products.beyond(odd, ())) <= products.MOST_CASES


@pytest.mark.parametrize(
    "text",
    [
        "1*" * 60000,
        "(" * 100000,
        "1<<" * 40000,
        "[1]" * 60000,
        "a=1;" * 60000,
        "-" * 200000,
        ")" * 100000 + ">5" * 40000,
        "(1)" * 70000,
        "1+(" * 60000,
        "sizeof(int)*" * 20000,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    begun = time.process_time()
    gates.numbers(text)
    assert time.process_time() - begun < 5


def test_many_numbers_take_no_time() -> None:
    job = _gated(" || ".join(f"h * w > {number}" for number in range(1000, 3_000_000, 997)))
    known, _ = _asked(_of(MARGIN))
    begun = time.process_time()
    assert len(products.beyond(job, known)) <= products.MOST_CASES
    assert time.process_time() - begun < 5
