"""Sizes at which a column of blocks, or a float that counts, comes to its end."""

from __future__ import annotations

import dataclasses

import pytest

from runners import outgrown, outsized, thresholds
from runners.spec import JobSpec
from runners.text import LONGEST
from tests.runners.test_outgrown import _of, _with

COUNTS = "cvt.rn.f32.u64 %f1, %rd1;"


def _columns(job: JobSpec) -> list[dict[str, float]]:
    """Return cases in which a column of blocks of 64 threads is full."""
    declared = [dict(one.values) for one in job.work.cases]
    return [one for one in outgrown.cases(job, declared) if max(one.values()) > 65535 * 64]


@pytest.mark.parametrize("label", ["shrunk/columns_of_blocks", "peers/blocks_below_each_other"])
def test_host_code_that_stands_its_blocks_in_a_column_is_run_as_far_as_it_has_to_be(
    label: str,
) -> None:
    """65,535 blocks of 32 or 64 are full at less than twice the declared size."""
    job = _of(label)
    (case,) = _columns(job)
    assert case["n"] <= 16 * max(one.values["n"] for one in job.work.cases)
    assert job.work.elements(case) <= outgrown.MOST_ELEMENTS
    assert case in [dict(one.case) for one in thresholds.compared(job, ())]


def test_host_code_whose_grids_are_its_original_s_is_not() -> None:
    """Blocks in a row; or the original has them in the same column."""
    job = _of("peers/blocks_below_each_other")
    assert not _columns(_of("peers/two_ways_that_meet"))
    assert not _columns(dataclasses.replace(job, baseline=job.kernel))
    assert not _columns(_with(job, source=job.kernel.source + " " * LONGEST))
    by_member = job.kernel.source.replace("dim3(1, (n + 63) / 64)", "grid").replace(
        "    static int", "    Grid grid{1, 1, 1}; grid.y = (n + 63) / 64;\n    static int"
    )
    assert by_member.count("grid") == 3
    in_a_row = job.kernel.source.replace("dim3(1, (n + 63) / 64)", "dim3((n + 63) / 64)")
    assert not _columns(_with(job, source=in_a_row.replace("blockIdx.y", "blockIdx.x")))
    assert len(_columns(_with(job, source=by_member))) == 1


def test_a_kernel_is_run_where_its_launch_alone_has_more_blocks_than_there_are() -> None:
    job = _of("logsum/rows_in_y")
    declared = [dict(one.values) for one in job.work.cases]
    (case,) = outgrown.cases(job, declared)
    assert case["rows"] > 65535
    assert job.work.launch is not None
    few = [
        dataclasses.replace(one, values={**one.values, "rows": 4096.0}) for one in job.work.cases
    ]
    fewer = dataclasses.replace(job, work=dataclasses.replace(job.work, cases=tuple(few)))
    assert not list(outgrown.cases(fewer, declared))
    row = dataclasses.replace(job.work.launch, grid=("rows", "1"))
    assert not list(outgrown.cases(_with(job, launch=row), declared))
    column = dataclasses.replace(job.work.launch, grid=("1", "rows"))
    both = dataclasses.replace(job, work=dataclasses.replace(job.work, launch=column))
    assert not list(outgrown.cases(both, declared))


def test_two_sides_may_have_to_grow_for_an_index_that_no_float_holds() -> None:
    """64 rows of 4,000: sixteen times one of them is not enough, each alone is within that."""
    job = _of("pulses/rows_by_a_product")
    (case,) = outsized.beyond_floats(job.work, (COUNTS, ""))
    assert case["count"] * case["ranges"] > outsized.EXACT_FLOATS
    assert case["count"] <= 16 * 64
    assert case["ranges"] <= 16 * 4000
    # What the buffer does not grow by is as small as it is declared.
    assert case["length"] == 20
    assert not list(outsized.beyond_floats(job.work, (COUNTS, COUNTS)))


def test_three_sides_of_a_product_do_not_grow_where_two_do() -> None:
    work = _of("project/three_parts_of_each").work
    (case,) = outsized.beyond_floats(work, (COUNTS, ""))
    assert case["m"] * case["n"] > outsized.EXACT_FLOATS
    assert case["k"] in {one.values["k"] for one in work.cases}


def test_three_buffers_may_each_have_more_than_a_float_counts() -> None:
    """A sum of two arrays has as many elements three times."""
    work = _of("moat/base").work
    (case,) = outsized.beyond_floats(work, (COUNTS, ""))
    assert case["h"] * case["w"] > outsized.EXACT_FLOATS
    assert 3 * case["h"] * case["w"] <= work.elements(case) <= outsized.MOST_ELEMENTS
