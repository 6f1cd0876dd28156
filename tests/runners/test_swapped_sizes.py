"""Two sizes that change places between two calls: what is kept by their product is another call's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from runners.contents import Combination
from runners.inputs import stream
from runners.rows import ROW_ELEMENTS, Row, _swapped, asked_in_rows, base_of, rows
from runners.spec import JobSpec
from tests.redteam import once_read

# What a graph is found again by.
KEPT: dict[str, Callable[[Combination], object]] = {
    "area": lambda one: one.case["h"] * one.case["w"],
    "height": lambda one: one.case["h"],
    "sizes": lambda one: (one.case["h"], one.case["w"]),
}


def _made(job: JobSpec, lacks: Sequence[str] = ()) -> list[Row]:
    wanted = once_read.combinations(job.work, job.checks, job.seed)[1]

    def known(one: Combination) -> dict[str, object] | None:
        return None if one.key in lacks else {}

    return rows(job, wanted, known, stream(1, "rows"), 0)


def _wrong(row: Row, kept: Callable[[Combination], object]) -> bool:
    """Tell whether what is kept for one call is used for another of other sizes."""
    first: dict[object, Combination] = {}
    return any(
        dict(first.setdefault(kept(one), one).case) != dict(one.case) for one in row.combinations
    )


@pytest.mark.parametrize(("by", "wrong"), [("area", True), ("height", False), ("sizes", False)])
def test_what_is_kept_by_an_area_is_used_for_another_shape(by: str, wrong: bool) -> None:
    job = once_read.parsed("lantern/graph_kept_by_area")
    wanted = once_read.combinations(job.work, job.checks, job.seed)[1]
    (swapped,) = _swapped(job, wanted)
    base = base_of(job, wanted)
    assert (swapped.case["h"], swapped.case["w"]) == (base.case["w"], base.case["h"])
    assert swapped.case["near"] == base.case["near"]
    assert swapped in asked_in_rows(job, wanted)
    (row,) = [row for row in _made(job) if swapped in row.combinations]
    assert row == Row((base, swapped, base), apart=False)
    assert _wrong(row, KEPT[by]) == wrong
    # The original need not have an answer there.
    assert not [row for row in _made(job, [swapped.key]) if swapped in row.combinations]


def test_host_code_of_a_finalist_alone_is_asked_and_no_single_size() -> None:
    light = once_read.parsed("lantern/graph_kept_by_area", "screen")
    assert _swapped(light, once_read.combinations(light.work, light.checks, 1)[1]) == []
    for label in ("bilin/tensor", "advect/tile", "picket/look_back"):
        job = once_read.parsed(label)
        wanted = once_read.combinations(job.work, job.checks, job.seed)[1]
        assert _swapped(job, wanted) == []


def test_calls_with_swapped_sizes_are_as_light_as_others() -> None:
    found = 0
    for label in ("moat/outward", "knapsack/two_items", "lagoon/grow_pair", "plumb/ordered_sum"):
        job = once_read.parsed(label)
        wanted = once_read.combinations(job.work, job.checks, job.seed)[1]
        for one in _swapped(job, wanted):
            found += 1
            assert 0 < job.work.elements(one.case) <= ROW_ELEMENTS
    assert found >= 3
