"""Ties of counts, one value nearly alone, and pairs that loops take longest for."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import (
    capacities,
    families,
    inputs,
    thresholds,
    variation,
    whole_families,
    whole_numbers,
)
from runners.contents import Combination, Contents
from runners.spec import CaseSpec, JobSpec, Work
from tests.redteam import once_read
from tests.runners.test_inputs import _pointer, _work

Ints = npt.NDArray[Any]


def _job(label: str) -> JobSpec:
    return once_read.parsed(label)


def _counted(work: Work, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [one for one in extra if one.family in families.TALLIED]


# Candidates of the red team, by hand.


def _commonest(count: Ints) -> int:
    return int(np.argmax(count))


def _by_its_lead(row: Ints, least: int = 0) -> int:
    """Stop where the lead of the commonest is at least what is left, and so much more."""
    count = np.zeros(256, np.int64)
    for start in range(0, len(row), 4096):
        count += np.bincount(row[start : start + 4096], minlength=256)
        left = len(row) - start - len(row[start : start + 4096])
        second, first = np.sort(count)[-2:]
        if first - second >= left + least:
            break
    return _commonest(count)


def _two_a_word(row: Ints) -> int:
    count = np.bincount(row, minlength=256).astype(np.uint64)
    words = (count[::2] + (count[1::2] << np.uint64(16))) & np.uint64(0xFFFFFFFF)
    out = np.empty(256, np.int64)
    out[::2], out[1::2] = words & np.uint64(0xFFFF), words >> np.uint64(16)
    return _commonest(out)


def _wrong(work: Work, one: Combination, way: Callable[[Ints], int]) -> bool:
    rows = Contents(work).of(one)["x"].reshape(-1, int(one.case["cols"]))
    return any(way(row) != _commonest(np.bincount(row, minlength=256)) for row in rows)


def test_a_lead_that_is_just_caught_up_with_is_tried() -> None:
    """Half a row is one value and the other half a smaller one; one more than that is right."""
    work = _job("modes/decided_by_its_lead").work
    asked = _counted(work)
    assert any(_wrong(work, one, _by_its_lead) for one in asked)
    assert not any(_wrong(work, one, lambda row: _by_its_lead(row, 1)) for one in asked)


def test_a_count_that_runs_over_is_tried_where_another_one_is_then_larger() -> None:
    """At most lengths what is left of all is still the largest."""
    work = _job("modes/two_counts_a_word").work
    assert any(_wrong(work, one, _two_a_word) for one in _counted(work))
    extra = once_read.combinations(work, "confirm", 1)[1]
    alike = [one for one in extra if one.family == families.ALIKE]
    assert not any(_wrong(work, one, _two_a_word) for one in alike if one.case["cols"] > 1 << 16)


def test_euclids_algorithm_meets_its_worst_case() -> None:
    """Forty steps are enough for pairs that are drawn, and not for neighbours of Fibonacci's."""
    work = _job("gcds/twenty_rounds_of_two").work
    extra = once_read.combinations(work, "screen", 1)[1]
    for family, enough in ((families.CLUSTERED, False), ("mixed", True)):
        one = next(c for c in extra if c.family == family and c.case == {"n": 1000.0})
        made = Contents(work).of(one)
        a, b = (made[k].view(np.uint32).astype(np.int64) for k in "ab")
        for _ in range(20):
            a = np.where(b > 0, a % np.maximum(b, 1), a)
            b = np.where(a > 0, b % np.maximum(a, 1), b)
        assert bool(((a == 0) | (b == 0)).all()) == enough


# What the families are.


def _made(
    work: Work, case: dict[str, float], family: str, name: str = "x"
) -> npt.NDArray[np.uint8]:
    return Contents(work).of(Combination(case, family, 1))[name]


def test_rows_are_halves_or_mostly_one_value() -> None:
    work = _work(_pointer("unsigned char*", "randint:3:200", "rows*cols"), rows=9, cols=701)
    rows = _made(work, {"rows": 9.0, "cols": 701.0}, families.HALVES).reshape(9, 701)
    for number, row in enumerate(rows):
        assert set(row[:350]) == {row[0]}
        assert set(row[351:]) == {row[-1]}
        assert row[350] not in {row[0], row[-1]}
        assert (row[0] > row[-1]) == (number % 2 == 0)
    rows = _made(work, {"rows": 9.0, "cols": 701.0}, families.MOSTLY).reshape(9, 701)
    for number, row in enumerate(rows):
        most = np.sort(np.bincount(row))[::-1]
        if number % 2:
            assert list(most[:3]) == [350, 350, 1]
            assert (row[0] > row[-1]) == (number % 4 == 1)
        else:
            assert most[0] == whole_numbers.places(701) == 613
            assert 40 < most[1] < 50
            assert most[:4].sum() == 701


KINDS = ("unsigned char*", "short*", "int*", "unsigned long long*", "uchar4*", "int2*")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", sorted(families.TALLIED))
@pytest.mark.parametrize("init", ["randint:5:50", "randint:7:8", "randint:5:7", "normal"])
def test_values_are_those_that_were_there(kind: str, family: str, init: str) -> None:
    work = _work(_pointer(kind, init, "rows*cols"), rows=7, cols=300)
    case = {"rows": 7.0, "cols": 300.0}
    word = work.arguments[0].type.fields[0].scalar.dtype
    before = _made(work, case, families.DECLARED).view(word)
    after = _made(work, case, family).view(word)
    assert len(before) == len(after)
    assert set(after.tolist()) <= set(before.tolist())


def test_what_is_sorted_or_a_permutation_or_no_whole_number_stays() -> None:
    for kind, init in (
        ("int*", "sorted"),
        ("int*", "permutation"),
        ("int*", "arange"),
        ("float*", "normal"),
        ("float*", "randint:0:50"),
    ):
        work = _work(_pointer(kind, init, "rows*cols"), rows=7, cols=300)
        case = {"rows": 7.0, "cols": 300.0}
        assert not families.tallied(work)
        assert not _counted(work)
        for family in families.TALLIED:
            assert np.array_equal(_made(work, case, family), _made(work, case, families.DECLARED))


@pytest.mark.parametrize("length", [300_000, 74915, 1000, 12])
@pytest.mark.parametrize("init", ["randint:0:40", "randint:0:2000000000"])
def test_no_more_indices_meet_in_one_place_than_a_short_counter_misses(
    length: int, init: str
) -> None:
    """Nor keys of a table: threads that exchange a word until it holds take forever there."""
    rows = 1_200_000 // length
    work = _work(_pointer("const int*", init, "rows*cols"), rows=rows, cols=length)
    case = {"rows": float(rows), "cols": float(length)}
    spread = 30_000 if "40" in init else 1
    for family in families.TALLIED:
        found = np.unique(_made(work, case, family).view(np.int32), return_counts=True)[1]
        assert found.max() < 1.3 * whole_families.HOT + spread


def test_rows_of_several_lengths_are_where_they_are_in_an_array() -> None:
    """A plane of rows: half the array is rows, half is planes, each at its own places."""
    work = _work(_pointer("unsigned char*", "randint:0:200", "b*h*w"), b=8, h=6, w=10)
    data = _made(work, {"b": 8.0, "h": 6.0, "w": 10.0}, families.HALVES)
    assert all(len(set(row[:5])) == len(set(row[5:])) == 1 for row in data[:240].reshape(-1, 10))
    assert all(len(set(p[:30])) == len(set(p[30:])) == 1 for p in data[240:].reshape(-1, 60))
    flat = _work(_pointer("unsigned char*", "randint:0:200"), n=900)
    data = _made(flat, {"n": 900.0}, families.HALVES)
    assert len(set(data[:450])) == len(set(data[450:])) == 1


@given(st.text("abn*+-/%() 2", max_size=40))
def test_no_shape_is_too_odd(shape: str) -> None:
    found = whole_numbers.row_lengths(shape, {"a": 3.0, "b": 4.0, "n": 50.0})
    assert all(length > 1 for length in found)


def test_a_hostile_shape_takes_no_time() -> None:
    begun = time.process_time()
    for shape in ("n*" * 50_000 + "n", "(" * 100_000, "*" * 100_000, "n**9"):
        whole_numbers.row_lengths(shape, {"n": 50.0})
    assert time.process_time() - begun < 5


def _worst() -> Iterator[tuple[int, int]]:
    yield from (
        (0, (1 << 16) - 1),
        (0, 2**32 - 1),
        (-(2**31), 2**31 - 1),
        (0, 2**63 - 1),
        (9**9, 9**10),
    )


def test_pairs_are_within_their_range() -> None:
    for low, high in _worst():
        found = whole_numbers.pairs(low, high)
        assert len(found) >= 4
        assert all(low <= less < more <= high for more, less in found)
    assert (2971215073, 1836311903) in whole_numbers.pairs(0, 2**32 - 1)
    assert (65535**2, 65535**2 - 1) in whole_numbers.pairs(0, 2**32 - 1)
    assert whole_numbers.pairs(0, 1000) == []
    assert whole_numbers.pairs(-(2**31), -1) == []


def test_pairs_are_side_by_side_and_at_the_same_places_of_two_arrays() -> None:
    work = _work(
        {**_pointer("int*", "randint:0:2147483647"), "name": "a"},
        {**_pointer("int*", "randint:0:100000"), "name": "b"},
        {**_pointer("int*", "randint:0:50"), "name": "c"},
        n=2000,
    )
    made = variation.apply(families.CLUSTERED, work, inputs.generate(work, {"n": 2000.0}, 1), 1)
    a, b, c = (made[k].view(np.int32).tolist() for k in "abc")
    assert (max(b), max(c)) == (99999, 49)
    for more, less in whole_numbers.pairs(0, 99999):
        at = [i for i in range(1999) if (a[i], b[i]) == (more, less)]
        assert at
        assert any((a[i + 1], b[i + 1]) == (less, more) for i in at)


# Where they are asked.


def test_rows_are_so_long_that_a_count_just_runs_over() -> None:
    """Sixteen times the declared is what is promised; what makes no row longer is left alone."""
    assert whole_numbers.places(capacities.room_for(1 << 16)) - (1 << 16) in range(10, 20)
    rows = _pointer("unsigned char*", "randint:0:200", "rows*cols")
    work = _work(rows, rows=9, cols=5000)
    assert capacities.mostly(work) == [{"rows": 9.0, "cols": 74917.0}]
    assert capacities.mostly(_work(rows, rows=9, cols=700)) == [{"rows": 9.0, "cols": 2801.0}]
    assert capacities.mostly(_work(_pointer(shape="rows*cols"), rows=9, cols=700)) == []


def test_few_are_asked_and_in_a_confirmation_alone() -> None:
    rows = _pointer("unsigned char*", "randint:0:200", "rows*cols")
    work = _work(rows, rows=9, cols=5000)
    more = CaseSpec({"rows": 900.0, "cols": 5000.0})
    work = dataclasses.replace(work, cases=(*work.cases, more))
    found = [(one.family, one.case["rows"]) for one in _counted(work)]
    assert found == [("halves", 9), ("halves", 900), ("mostly", 9)]
    assert _counted(work, "screen") == []
    real = _work({**rows, "init": "capture:x"}, rows=9, cols=5000)
    assert _counted(real) == []


def test_numbers_of_a_candidate_are_passed_by_counts() -> None:
    """A gate of its own at 20,000; at 65,536 the rows that are asked of all are as long."""
    job = _job("modes/two_counts_a_word")
    wanted = once_read.combinations(job.work, "confirm", 1)[1]

    def asked(job: JobSpec, wanted: list[Combination]) -> list[float]:
        found = thresholds.compared(job, wanted)
        return [one.case["cols"] for one in found if one.family == families.MOSTLY]

    assert not [cols for cols in asked(job, wanted) if 70_000 < cols < 80_000]
    assert [cols for cols in asked(job, []) if 70_000 < cols < 80_000]
    text = job.kernel.source + "\n__device__ int gate() { return 20000; }\n"
    gate = dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, source=text))
    (cols,) = (one for one in asked(gate, wanted) if 20_000 < one < 30_000)
    assert 20_000 < whole_numbers.places(int(cols)) < 20_050


def test_what_is_slow_with_equal_numbers_is_not_asked_for_most_of_them() -> None:
    watch = capacities.Watch()
    watch.took(Combination({"n": 500.0}, families.EQUAL, 1), 0.03)
    assert "would take" in watch.objection(Combination({"n": 2001.0}, families.MOSTLY, 1))
    watch.failed(Combination({"n": 500.0}, families.ALIKE, 1))
    found = watch.objection(Combination({"n": 2001.0}, families.MOSTLY, 1))
    assert found == capacities.SHORTER
