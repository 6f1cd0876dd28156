"""Sizes beside the numbers of a candidate's own text."""

from __future__ import annotations

import dataclasses
import time
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import launch_limits, spec, thresholds, verify
from runners.answers import Answers
from runners.contents import Combination
from runners.families import ENDS, PLAIN
from runners.named import numbers
from runners.spec import JobSpec
from tests.redteam import once_read
from tests.runners.test_judge import SCALE, _job


def _asked(label: str, codes: tuple[str, str] = ("", "")) -> list[dict[str, float]]:
    job = once_read.parsed(label)
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    return [dict(one.case) for one in thresholds.compared(job, [*declared, *extra], codes)]


def test_room_for_so_many_is_tried_full_and_with_one_more() -> None:
    """1000 cells are declared, and 1024 are one too many for what keeps one more behind them."""
    asked = [case["cells"] for case in _asked("deposit/copy_of_1024_cells") if case["n"] == 9]
    assert asked[:2] == [1024, 1025]


def test_a_launch_has_more_blocks_than_a_candidate_has_room_for() -> None:
    """1024 parts, as the original has threads; of 4096 elements each, ten times the declared."""
    assert {"n": 4096.0 * 1024 + 1} in _asked("variation/parts_of_a_thousand_blocks")


def test_what_counts_in_floats_meets_more_than_they_can() -> None:
    label, counts = "outer/row_and_column_by_floats", "cvt.rn.f32.u64 %f1, %rd1;"
    long = [case for case in _asked(label, (counts, "")) if case["rows"] * case["cols"] > 1 << 24]
    assert len(long) == 1
    assert long[0]["rows"] % 2 == 1
    # Where the original does so, too, it is as wrong; what makes floats of bytes counts nothing.
    for codes in ((counts, counts), ("cvt.rn.f32.u8 %f1, %rs1;", ""), ("", "")):
        assert not [c for c in _asked(label, codes) if c["rows"] * c["cols"] > 1 << 24]


def test_another_type_of_index_may_become_a_float_than_in_the_original() -> None:
    """The original divides counts of bits; a place in a line of pairs is a root of it."""
    job = once_read.parsed("condensed/line_of_pairs")
    counts, places = "cvt.rn.f32.s32 %f1, %r1;", "cvt.rn.f32.s64 %f2, %rd1;"

    def sizes(*codes: str) -> list[float]:
        return [one.case["n"] for one in thresholds.compared(job, (), (codes[0], codes[1]))]

    (size,) = set(sizes(counts + places, counts)) - set(sizes(counts, counts))
    assert size * (size + 1) / 2 > 1 << 24


def test_a_table_is_tried_just_as_large_as_a_candidate_has_room_for() -> None:
    """48 and 96 KiB of its two sides, neither of which is a number of its own."""
    asked = _asked("crosstab/shared_asked_for_once")
    sides = {case["ka"] for case in asked if case["kb"] == 40 and case["n"] == 3000}
    assert sides >= {307, 308, 614, 615}


def test_two_words_in_one_are_tried_where_one_is_full() -> None:
    """Ninety times the declared: what a launch refuses there is a limit, what is wrong is not."""
    asked = _asked("streak/value_and_start_in_one")
    assert max(case["cols"] for case in asked) >= 65536 + 64
    job = once_read.parsed("streak/value_and_start_in_one")
    assert job.kernel.launch is not None
    tall = dataclasses.replace(job.kernel.launch, grid=("1", "cols*rows"))
    fails = dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, launch=tall))
    assert max(one.case["cols"] for one in thresholds.compared(fails, ())) < 16 * 701


def test_scalars_of_64_bits_need_more_than_32() -> None:
    """A seed and a first place; not one that a loop may count up to."""
    asked = _asked("dither/place_of_32_bits")
    assert [case["seed"] for case in asked if case["seed"] > 1 << 32]
    assert [case["first"] for case in asked if case["first"] > 1 << 32]
    job = once_read.parsed("dither/place_of_32_bits")
    loop = job.baseline.source + "\n// for (long long k = 0; k < first; ++k)"
    counted = dataclasses.replace(job, baseline=dataclasses.replace(job.baseline, source=loop))
    assert not [c for c in thresholds.compared(counted, ()) if c.case["first"] > 1 << 32]


def _with(source: str, **changed: Any) -> JobSpec:
    return spec.parse(_job(source, effort="confirm", **changed))


def test_numbers_of_the_original_and_far_ones_are_no_thresholds() -> None:
    """Nearest to the 3000 declared first; what is a thousand times as large is a limit."""
    job = _with(SCALE)
    assert thresholds.compared(job, ()) == []
    gate = SCALE + "\n// 55 is said only\n__device__ int gate() { return 99 + (1 << 20); }\n"
    job = _with(gate)
    assert thresholds.own(job) == [20, 99, 1 << 20]
    sizes = [one.case["n"] for one in thresholds.compared(job, ())]
    assert sizes[:4] == [99, 100, 20, 21]
    assert 1 << 20 not in sizes
    # One that is asked about already is not asked again.
    known = [Combination({"n": 99.0}, "declared", 1)]
    assert [one.case["n"] for one in thresholds.compared(job, known)][:3] == [100, 20, 21]


def _limits(label: str, shared: int = 232448) -> list[str]:
    return launch_limits.limits(once_read.parsed(label), shared)


def test_from_where_on_a_launch_fails_is_said() -> None:
    """A plane a block is a grid of 65,535 planes; the original has them in the grid's first way."""
    (found,) = _limits("permute3/plane_a_block")
    assert found.startswith(
        "limit: its launch fails from nb=65,536 on, 655 times the largest declared"
    )
    (found,) = _limits("spike/row_held")
    assert "ins=232,449 on" in found
    (found,) = _limits("spike/row_held", 99 << 10)
    assert f"ins={(99 << 10) + 1:,} on" in found
    assert _limits("permute3/tiles_of_planes") == []
    # Nobody comes to two thousand million blocks.
    assert _limits("gemv/warp_rows") == []


class _All:
    def of(self, _combination: Combination) -> object:
        return {}


def test_the_sanitizer_looks_where_buffers_are_full_and_indices_at_their_ends() -> None:
    gate = SCALE + "\n__device__ int gate() { return 99; }\n"
    job = _with(gate)
    wanted = [
        Combination({"n": 7.0}, family, seed)
        for family in ("declared", ENDS, "mixed")
        for seed in (1, 2)
    ]
    beside = thresholds.compared(job, wanted)
    found = verify.small(job, cast("Answers", _All()), wanted, beside)
    assert [one.seed for one in found if one.family == ENDS] == [1, 2]
    assert [one.case["n"] for one in found if one.family == PLAIN][:2] == [99, 100]


@given(st.text(max_size=400))
def test_no_text_is_too_odd(text: str) -> None:
    job = _with(text)
    assert len(thresholds.compared(job, ())) <= 21
    assert {77, 88} <= numbers(f"77 + 88;\n{text}")


@pytest.mark.parametrize("text", ["1*" * 60_000, "(" * 100_000, "9" * 200_000, "1<<" * 40_000])
def test_hostile_texts_take_no_time(text: str) -> None:
    begun = time.process_time()
    job = _with(text)
    thresholds.compared(job, ())
    assert time.process_time() - begun < 5


def test_what_ends_after_so_many_steps_is_tried_twice_as_far() -> None:
    """Twenty halvings find all of 2^20 quotes; of a few more only who looks at the end misses some.

    Not by nine trades alone either: more of them cost little beside so many quotes.
    """
    asked = [case for case in _asked("asof/twenty_steps") if case["m"] > 1 << 20]
    assert {"m": 2.0**21 + 1, "n": 333.0} in asked
    assert {"m": 2.0**20 + 1, "n": 333.0} in asked


def test_nobody_else_gets_many_more_where_that_costs_much() -> None:
    """Where both sides make one picture the others stay few."""
    sides = {case["ka"] for case in _asked("crosstab/shared_asked_for_once") if case["kb"] == 9}
    assert len(sides) > 2
