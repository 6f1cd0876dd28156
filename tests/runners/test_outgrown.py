"""Sizes that a launch or a candidate's own room does not suffice for, where several sides grow."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import launch_limits, outgrown, sizes, thresholds
from runners.spec import JobSpec
from runners.text import LONGEST
from tests.redteam import once_read
from tests.redteam.table import load

CANDIDATES = {one.label: one for one in load()}


def _of(label: str) -> JobSpec:
    return once_read.parsed(label)


def _with(job: JobSpec, **changed: Any) -> JobSpec:
    return dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, **changed))


def _launched(job: JobSpec, **changed: Any) -> JobSpec:
    assert job.work.launch is not None
    return _with(job, launch=dataclasses.replace(job.work.launch, **changed))


def _asked(job: JobSpec) -> list[dict[str, float]]:
    """Return all that a finalist is asked, and what is within what it has to do of it."""
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    every = [*declared, *extra]
    return [dict(one.case) for one in (*every, *thresholds.compared(job, every))]


def test_two_sides_of_a_grid_in_y_are_longer_where_neither_alone_ends_it() -> None:
    """1024 rows of 1024: 65,535 blocks of 64 are full at four times as many elements."""
    job = _launched(_of("scan/base"), grid=("1", "(rows*cols+63)/64"), block=("64",))
    launch = job.kernel.launch
    assert launch is not None
    failing = [c for c in _asked(job) if launch_limits.fails(launch, c, launch_limits.SHARED_BYTES)]
    assert len(failing) == 1
    assert all(value < 16 * sizes.largest(job.work, name) for name, value in failing[0].items())
    assert sizes.elements(job.work, failing[0]) <= outgrown.MOST_ELEMENTS
    assert list(outgrown.cases(job, [])) == failing
    assert not list(outgrown.cases(job, failing))
    in_a_row = _launched(job, grid=("(rows*cols+63)/64",), block=("64",))
    assert not list(outgrown.cases(in_a_row, []))


def test_rows_that_shared_memory_does_not_hold_are_asked_where_they_have_to_be_right() -> None:
    """16 bytes a column: no longer than 14,528, between what is tried anyway."""
    job = _launched(_of("scan/base"), shared="cols*16")
    assert max(case["cols"] for case in _asked(job)) > 14528


def test_a_grid_that_ends_is_asked_where_it_has() -> None:
    job = _launched(_of("scan/base"), grid=("min(4096,(rows*cols+255)/256)",), block=("256",))
    (case,) = outgrown.cases(job, [{"rows": 1024.0, "cols": 1024.0}, {"rows": 1.0, "cols": 1.0}])
    assert case["rows"] * case["cols"] > 4096 * 256
    assert not list(outgrown.cases(job, [case]))


@pytest.mark.parametrize(
    "words",
    [
        "dim3 tall(1, (rows * cols + 63) / 64);",
        "auto tall = make_uint3(1, (rows * cols + 63) / 64, 1);",
        "how.gridDim = {1, unsigned(rows * cols + 63) / 64, 1};",
        "cudaLaunchKernel((void*)go, {1, unsigned(rows * cols + 63) / 64}, {64}, args, 0, 0);",
        "cudaLaunchCooperativeKernel((void*)go, rows * cols / 64, 64, args);",
        "cudaDeviceGetAttribute(&many, cudaDevAttrMultiProcessorCount, 0);",
        "while (atomicAdd(&arrived, 0) < gridDim.x) {}",
    ],
)
def test_host_code_that_launches_in_another_way_is_run_with_both_sides_longer(words: str) -> None:
    job = _of("spread/base")
    added = _with(job, source=f"{words}\n{job.kernel.source}")
    case = max(_asked(added), key=lambda case: case["rows"] * case["cols"])
    assert case["rows"] * case["cols"] > 16_000_000
    assert sizes.elements(job.work, case) <= outgrown.MOST_ELEMENTS
    before = max(_asked(job), key=lambda case: case["rows"] * case["cols"])
    assert before["rows"] * before["cols"] < 13_000_000
    same = dataclasses.replace(added, baseline=added.kernel)
    assert not list(outgrown.cases(same, []))
    assert not list(outgrown.cases(_with(added, source=words + " " * LONGEST), []))


def test_a_row_that_host_code_has_in_shared_memory_is_as_long_as_it_has_to_be() -> None:
    """500 columns are declared: eight bytes for each of 8,000 are more than 48 KiB."""
    job = _of("rowscale/base")
    row = "go<<<rows, 256, cols * sizeof(double)>>>(x, y, cols);\n"
    asked = outgrown.cases(_with(job, source=row + job.kernel.source), [])
    assert max(case["cols"] for case in asked) == 7999
    for other in ("go<<<rows, 256, 0, stream>>>(x);\n", "go<<<rows, 256, 4 * sizeof(int)>>>(x);\n"):
        assert not list(outgrown.cases(_with(job, source=other + job.kernel.source), []))
    # It is asked anyway where that is a small case (`runners.promised_lengths`).
    assert max(case["cols"] for case in _asked(job)) == 8000


def test_a_table_of_parts_is_run_beyond_what_it_has_room_for() -> None:
    """4096 parts of 256 threads and eight elements each: eight million of two million declared."""
    job = _of("outliers/base")
    text = "__device__ float part[4096];\nconst int all = 256 * 8;\n" + job.kernel.source
    assert max(case["n"] for case in _asked(_with(job, source=text))) > 4096 * 256 * 8
    shifted = text.replace("const int all = 256 * 8", "const int blocks = ((n - 1) >> 11) + 1")
    assert shifted.count(">> 11") == 1
    assert max(case["n"] for case in _asked(_with(job, source=shifted))) > 4096 * 2048
    shared = text.replace("__device__ float", "__device__ void g() { __shared__ float")
    assert shared.count("__shared__ float part") == 1
    assert not list(outgrown.cases(_with(job, source=shared), []))


def test_products_of_24_bits_meet_more_than_they_hold() -> None:
    """A compiler makes other instructions of them, so that only the text has them."""
    job = _of("outliers/base")
    short = _with(job, source=f"// {'-' * 9}\nint k = __umul24(i, 3);\n" + job.kernel.source)
    assert max(case["n"] for case in _asked(short)) > 1 << 24
    assert max(case["n"] for case in _asked(job)) <= 1 << 24


def test_candidates_that_give_no_reason_have_no_such_case() -> None:
    """A large case takes the original its time: few right candidates are to have one."""
    right = [one for one in CANDIDATES.values() if one.expect == "accept" and one.name != "base"]
    jobs = [once_read.parsed(one) for one in right if one.base.kind == "kernel"]
    told = [job for job in jobs if any(outgrown.cases(job, [c.values for c in job.work.cases]))]
    more = []
    for job in told:
        declared, extra = once_read.combinations(job.work, "confirm", 1)
        more += list(outgrown.cases(job, [one.case for one in (*declared, *extra)]))
    assert len(told) < len(jobs) / 30
    assert len(more) < 3


@given(st.text(max_size=400))
def test_no_text_is_too_odd(text: str) -> None:
    job = _of("spread/base")
    for words in (text, f"__device__ float a[{text}", f"<<<1, 2, {text}", f"min({text}"):
        assert len(list(outgrown.cases(_with(job, source=words), []))) <= 8


@pytest.mark.parametrize("text", ["min(" * 50_000, "f<<<1,2," * 30_000, "static a[" * 25_000])
def test_hostile_texts_take_no_time(text: str) -> None:
    begun = time.process_time()
    list(outgrown.cases(_with(_of("spread/base"), source=text), []))
    assert time.process_time() - begun < 5
