"""Cases where host code's launches come to their end by their text, and what is said of others."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import distant, launch_limits, sizes, spec, thresholds
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.gpu import Gpu, LaunchError
from runners.judge import Judge
from runners.launch_ends import Ends
from runners.session import Session
from runners.spec import JobSpec
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.test_distant import Asked, Pair
from tests.runners.test_judge import SCALE, _job
from tests.runners.test_outgrown import _launched, _of, _with

CANDIDATES = {one.label: one for one in load()}
BASE = 'extern "C" void scale(const int* x, int* y, int n) { go<<<(n + 63) / 64, 64>>>(x, y, n); }'
TALL = BASE.replace("<<<(n + 63) / 64, 64>>>", "<<<dim3(1, (n + 63) / 64), 64>>>")
# 65,535 blocks of 64: the first size that is too large.
END = 65535 * 64 + 1


def _hosted(text: str, declared: int = 500_000, base: str = BASE, **more: Any) -> JobSpec:
    workload = {
        "kind": "entry",
        "launch": None,
        "arguments": [
            {"name": "x", "type": "const int*", "shape": "n", "init": "randint:0:9"},
            {"name": "y", "type": "int*", "shape": "n", "role": "output"},
            {"name": "n", "type": "int", "value": "n"},
        ],
        "cases": [{"values": {"n": declared}}, {"values": {"n": 7}, "time": False}],
        **more,
    }
    return spec.parse(_job(text, base, effort="confirm", workload=workload))


def _sides(text: str, rows: int = 1000, cols: int = 1000) -> JobSpec:
    """Return a job of a picture, whose host code is a text."""
    head = 'extern "C" void scale(const int* x, int* y, int rows, int cols)'
    arguments = [
        {"name": "x", "type": "const int*", "shape": "rows*cols", "init": "randint:0:9"},
        {"name": "y", "type": "int*", "shape": "rows*cols", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ]
    small = {"values": {"rows": 5, "cols": 40}, "time": False}
    cases = [{"values": {"rows": rows, "cols": cols}}, small]
    base = f"{head} {{ go<<<rows, 64>>>(x, y, cols); }}"
    return _hosted(f"{head} {{ {text} }}", base=base, arguments=arguments, cases=cases)


def _checked(
    job: JobSpec, does: str = "", *, free: int = 1 << 34, seconds: float = 99.0, **answers: Any
) -> tuple[list[str], Pair, Report]:
    asked, pair, report = Asked(job, **answers), Pair(job, does), Report()
    room = (time.monotonic() + seconds, free)
    notes = distant.check(
        lambda: cast("Session", pair), cast("Answers", asked), job, [], room, report
    )
    return notes, pair, report


def test_strips_of_256_pixels_are_asked_where_there_are_too_many() -> None:
    """8.4 times what is declared, with a hundred million elements; what is asked anyway has 37."""
    job = _of("reinhard/strips_of_256")
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    every = [*declared, *extra, *thresholds.compared(job, [*declared, *extra])]
    ends = Ends(job, [one.case for one in every])
    (far,) = distant.launched(job, ends)
    assert far.case == {"n": 65535 * 256 + 1}
    assert far.times == pytest.approx(8.388, abs=0.001)
    assert max(sizes.elements(job.work, one.case) for one in every) < 40_000_000
    assert not distant.launched(job, Ends(dataclasses.replace(job, kernel=job.baseline)))


def test_what_fails_there_is_refused() -> None:
    with pytest.raises(LaunchError):
        _checked(_hosted(TALL), "fails")
    with pytest.raises(Wrong):
        _checked(_hosted(TALL), "nothing")


def test_what_is_right_there_was_read_badly_and_nothing_is_said() -> None:
    notes, pair, report = _checked(_hosted(TALL))
    assert notes == []
    assert pair.runs == 1
    assert report.checks[distant.LAYER, "n=4.19424e+06"]["passed"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"each": 1e-5}, "the original would take 41.9 s"),
        ({"free": 1 << 20}, "the memory does not suffice"),
        ({"seconds": 50.0}, "there is no time left"),
    ],
)
def test_what_cannot_be_tried_there_is_said(more: Any, words: str) -> None:
    notes, pair, _ = _checked(_hosted(TALL), "fails", **more)
    assert not pair.runs
    assert notes == [
        f"far beyond the declared not checked: n=4.19424e+06: {words}",
        launch_limits.words("n", END, "grid.y is 65536; it must be 1 to 65535", 500_000),
    ]


def test_what_is_too_large_for_any_device_is_said_alone() -> None:
    """A gigabyte is not tried: 134 million numbers of eight bytes each."""
    wide = TALL.replace("63) / 64", "4095) / 4096")
    notes, pair, _ = _checked(_hosted(wide, 1 << 26), "fails")
    assert not pair.runs
    (note,) = notes
    assert note.startswith("limit: its launch fails from n=268,431,361 on, 4 times the largest")


def test_further_out_than_it_has_to_be_right_it_is_a_limit() -> None:
    notes, pair, _ = _checked(_hosted(TALL, 3000), "fails")
    assert not pair.runs
    (note,) = notes
    assert note.startswith(f"limit: its launch fails from n={END:,} on, 1,398 times the largest")
    assert not Ends(_hosted(TALL, 300)).limits()  # nobody comes to so many
    # A kernel's own launch is told elsewhere.
    job = _of("permute3/plane_a_block")
    assert launch_limits.limits(job, launch_limits.SHARED_BYTES)
    assert not Ends(job).limits()


def test_shared_memory_that_nobody_asks_for_is_a_limit_beyond_48_kib() -> None:
    """Segments of a signal: it launches nothing where all others are small."""
    job = _of("welch/segment_in_shared")
    assert not Ends(job).cases()  # right at 4,096, sixteen times the declared
    (note,) = Ends(job).limits()
    assert note.startswith("limit: its launch fails from len=4,097 on, 16 times the largest")
    assert note.endswith(
        "49,164 bytes of shared memory a block, where its host code never asks for more than 49,152"
    )
    asking = "cudaFuncSetAttribute(periodograms, cudaFuncAttributeMaxDynamicSharedMemorySize, 1);"
    source = job.kernel.source.replace("periodograms<<<", f"{asking} periodograms<<<")
    (note,) = Ends(_with(job, source=source)).limits()
    assert "from len=19,371 on" in note


def test_shared_memory_that_nobody_asks_for_is_run_where_it_ends_within_16_times() -> None:
    """What it does there decides: a failed launch is not seen by host code that does not look."""
    text = BASE.replace("<<<(n + 63) / 64, 64>>>", "<<<1, 64, n>>>")
    job = _hosted(text, 4096)
    assert [far.case for far in distant.launched(job, Ends(job))] == [{"n": 49153}]
    with pytest.raises(Wrong):
        _checked(job, "nothing")
    assert _checked(job)[0] == []
    asking = text.replace("go<<<", "cudaFuncSetAttribute(go, SIZE, n); go<<<")
    asked = _hosted(asking, 4096)
    assert not distant.launched(asked, Ends(asked))


def test_sixteen_times_as_many_are_no_fault() -> None:
    rows = "<<<dim3(1, n), 64>>>"
    job = _hosted(BASE.replace("<<<(n + 63) / 64, 64>>>", rows), 4096)
    assert not distant.launched(job, Ends(job))
    assert ", 16 times the largest" in Ends(job).limits()[0]
    more = _hosted(BASE.replace("<<<(n + 63) / 64, 64>>>", rows), 4097)
    assert [far.case for far in distant.launched(more, Ends(more))] == [{"n": 65536}]


@pytest.mark.parametrize(
    ("text", "case"),
    [
        # One side alone, the other one as small as it may be.
        ("go<<<dim3(cols, (rows + 3) / 4 * 20), 64>>>(x, y);", {"rows": 13105, "cols": 2}),
        ("go<<<dim3(cols / 64 + 1, rows), 64>>>(x, y);", {}),
        # Both, as neither alone is to be that long with the other as small as it may be.
        ("go<<<dim3(1, rows * cols / 64 + 1), 64>>>(x, y);", {"rows": 2048, "cols": 2048}),
        ("const long all = (long)rows * cols; go<<<dim3(1, all / 8192), 64>>>(x, y);", {}),
    ],
)
def test_the_least_of_the_sides_that_fails_is_asked(text: str, case: dict[str, float]) -> None:
    job = _sides(text)
    found = [far.case for far in distant.launched(job, Ends(job))]
    assert found == ([case] if case else [])


def test_what_a_case_has_shown_is_not_asked_again() -> None:
    job = _hosted(TALL)
    assert Ends(job, [{"n": 4_000_000.0}]).cases()
    assert not Ends(job, [{"n": 5_000_000.0}]).cases()
    assert not Ends(job, [{"n": 5_000_000.0}]).limits()


def test_what_its_original_does_too_is_no_fault() -> None:
    other = TALL.replace("x, y, n)", "x, y, n + 0)")
    assert not Ends(_hosted(other, base=TALL)).cases()
    assert not Ends(_hosted(other, base=TALL)).limits()
    written = BASE.replace("<<<(n + 63) / 64, 64>>>", "<<<dim3(1, 1 + (n - 1) / 64), 64>>>")
    assert not Ends(_hosted(written, base=TALL)).cases()
    # What the original may not do is told by it; and no limit is said of it.
    unsure = TALL.replace("go<<<", "if (x[0]) go<<<")
    assert Ends(_hosted(TALL, base=unsure)).cases()
    assert not Ends(_hosted(TALL, base=unsure)).limits()
    unknown = BASE.replace("<<<(n + 63) / 64,", "<<<dim3(1, blocks_of(x)),")
    assert Ends(_hosted(TALL, base=unknown)).cases()
    assert not Ends(_hosted(TALL, base=unknown)).limits()


def test_where_nobody_knows_how_high_a_grid_is_the_largest_is_asked() -> None:
    unknown = BASE.replace("<<<(n + 63) / 64,", "<<<dim3(1, blocks_of(x)),")
    job = _hosted(unknown)
    (far,) = distant.launched(job, Ends(job))
    assert far.case["n"] > 7_900_000
    assert Ends(job).limits() == []
    vast = _hosted(unknown, 1 << 24)
    (far,) = distant.launched(vast, Ends(vast))
    elements = sizes.elements(vast.work, far.case)
    assert distant.MOST_LAUNCHED / 2 < elements <= distant.MOST_LAUNCHED
    notes, pair, _ = _checked(vast, seconds=80.0)
    assert not pair.runs
    assert notes[0].endswith("there is no time left")
    both = _hosted(unknown.replace("n);", "n + 0);"), base=unknown)
    assert not distant.launched(both, Ends(both))
    with pytest.raises(LaunchError):
        _checked(_hosted(unknown, 20_000), "fails")


def test_a_kernels_launch_that_no_case_was_small_enough_for_is_run() -> None:
    """65,535 blocks of 128: more elements of both buffers than cases of other numbers may have."""
    job = _of("scan/base")
    tall = _launched(job, grid=("1", "(rows*cols+127)/128"), block=("128",))
    (far,) = distant.launched(tall, Ends(tall))
    assert sizes.elements(tall.work, far.case) > 2 * 65535 * 128
    assert not distant.launched(tall, Ends(tall, [far.case]))
    assert not Ends(tall).limits()
    assert not distant.launched(job, Ends(job))


def test_the_judge_runs_kernels_there_too(tmp_path: Path) -> None:
    """With the pair as it is loaded."""
    launch = {"grid": ["(n+63)/64"], "block": ["64"], "shared": "0", "tunable": False}
    job = _hosted(SCALE, base=SCALE, kind="kernel", launch=launch)
    tall = _launched(job, grid=("1", "(n+63)/64"))
    gpu = cast("Gpu", SimpleNamespace(free_bytes=lambda: 1 << 34, allocate=lambda _: 0, facts={}))
    judge = Judge(gpu, 0, tmp_path, lambda _text, _job: None)
    pair, answers = Pair(tall, "fails"), cast("Answers", Asked(tall))
    with pytest.raises(LaunchError):
        judge._beyond(
            cast("Session", pair), {"job": {}}, tall, (answers, []), {"notes": []}, Report(), 1e99
        )
    assert pair.runs == 1


def test_hardly_a_right_candidate_is_asked_about_its_launches() -> None:
    """Of what no case that is declared shows; and it is little where it is."""
    good = [
        one
        for one in CANDIDATES.values()
        if one.expect == "accept" and one.name != "base" and one.base.kind in {"entry", "kernel"}
    ]
    jobs = {one.label: once_read.parsed(one) for one in good}
    asked = {
        label: sum(sizes.elements(job.work, far.case) for far in found)
        for label, job in jobs.items()
        if (found := distant.launched(job, Ends(job, [one.values for one in job.work.cases])))
    }
    assert len(good) > 700
    assert len(asked) <= len(good) // 100, asked
    assert sum(asked.values()) < 1 << 22, asked


def test_limits_of_right_candidates_are_few_and_far() -> None:
    good = [c for c in CANDIDATES.values() if c.base.kind == "entry" and c.expect == "accept"]
    found = {c.label: Ends(once_read.parsed(c)).limits() for c in good}
    said = {label: notes for label, notes in found.items() if notes}
    assert len(said) <= len(good) // 20, said
    # Its host code never asks for more than 48 KiB, of which 32 bytes are the kernel's own: so on an
    # H200 (2026-11-23), too.
    assert "from cols=12,281 on, 24.6 times" in said["rowscale/row_in_shared"][0]


@given(
    st.text(max_size=200), st.sampled_from(["", "dim3 g(1, n", "go<<<dim3(1, n), ", "if (n > 5) {"])
)
def test_no_text_is_too_odd(text: str, begin: str) -> None:
    job = _with(_hosted(TALL), source=f"{BASE[:-2]} {begin} {text}")
    ends = Ends(job)
    assert len(distant.launched(job, ends)) <= 2
    assert all(note.startswith("limit: ") for note in ends.limits())


def test_many_launches_take_no_time() -> None:
    body = "".join(f"go<<<dim3(1, n / {8 + k} + {k}), n / {k + 9}>>>(x);" for k in range(60))
    begun = time.process_time()
    ends = Ends(_sides(body.replace("n", "rows * cols")))
    ends.cases()
    ends.limits()
    assert time.process_time() - begun < 10
