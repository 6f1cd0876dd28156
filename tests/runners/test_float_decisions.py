"""What is asked of candidates that decide by floats what their originals decide by whole numbers."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import float_decisions, scaled_numbers, sizes
from runners.contents import Combination, Contents
from runners.spec import JobSpec
from tests.redteam import once_read

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
CASES = Path(__file__).parents[1] / "redteam" / "cases"

MAKES = "cvt.rn.f32.s64 %f1, %rd1;\nmul.f32 %f2, %f1, %f1;\n"
SINGLE = MAKES + "setp.le.f32 %p1, %f2, %f3;"
DOUBLE = "cvt.rn.f64.s64 %fd1, %rd1;\nsetp.lt.f64 %p1, %fd1, %fd2;"
WHOLE = "mul.lo.s64 %rd2, %rd1, %rd1;\nsetp.le.s64 %p1, %rd2, %rd3;"


def _asked(label: str, mine: str = SINGLE, theirs: str = WHOLE) -> list[Combination]:
    return float_decisions.beside(once_read.parsed(label), (mine, theirs))


def _decides(label: str, mine: str, theirs: str) -> bool:
    return float_decisions.decides(once_read.parsed(label), (mine, theirs))


@pytest.mark.parametrize(
    "then",
    [
        "setp.le.f32 %p1, %f2, %f3;",
        "setp.gtu.f32 %p1, %f3, %f2;",
        "max.f32 %f4, %f2, %f3;",
        "fma.rn.f32 %f4, %f2, %f8, %f9;\nmov.f32 %f5, %f4;\nset.lt.f32.f32 %f6, %f5, %f7;",
        "setp.lt.f32 %p1, %f2, 0f42C80000;",
    ],
)
def test_what_is_worked_out_of_whole_numbers_is_compared(then: str) -> None:
    assert float_decisions.compared(MAKES + then) == {"f32"}


@pytest.mark.parametrize(
    "then",
    [
        "st.global.f32 [%rd1], %f2;",
        "setp.eq.f32 %p1, %f2, 0f00000000;",
        "setp.lt.f32 %p1, %f2, 0f00800000;",
        "setp.gt.f32 %p1, %f2, 0f7F800000;",
        "min.f32 %f4, %f2, 0f437F0000;",
        "setp.lt.f32 %p1, %f8, %f9;",
        "cvt.rzi.s64.f32 %rd4, %f2;\nsetp.lt.s64 %p1, %rd4, %rd5;",
        "}\n.visible .entry other()\n{\nsetp.lt.f32 %p1, %f2, %f3;",
    ],
)
def test_what_is_stored_limited_or_a_sort_of_float_decides_nothing(then: str) -> None:
    assert not float_decisions.compared(MAKES + then)


def test_a_register_that_is_made_at_the_end_of_a_loop_is_compared_at_its_beginning() -> None:
    turned = "setp.lt.f32 %p1, %f5, %f3;\nadd.f32 %f5, %f4, %f3;\nmov.f32 %f4, %f2;\n"
    assert float_decisions.compared(turned + MAKES) == {"f32"}


def test_who_alone_decides_by_floats_is_asked() -> None:
    assert _asked("nightstack/float_bound")
    assert _asked("nightstack/float_bound", DOUBLE)
    assert not _asked("nightstack/float_bound", WHOLE)
    assert not _asked("nightstack/float_bound", MAKES)
    assert not _asked("nightstack/float_bound", SINGLE, "")
    assert not _asked("nightstack/float_bound", "", WHOLE)


def test_an_original_that_decides_by_floats_is_rounded_itself() -> None:
    """One in doubles is exact, unless floats are its results."""
    assert not _decides("hermit/float_rank", SINGLE, SINGLE)
    assert not _decides("hermit/float_rank", DOUBLE, SINGLE)
    assert _decides("hermit/float_rank", SINGLE, DOUBLE)
    assert not _decides("nightstack/float_bound", SINGLE, DOUBLE)


def test_near_ties_of_quotients_are_a_limit() -> None:
    made = "cvt.rn.f32.s32 %f1, %r1;\ncvt.rn.f32.s32 %f2, %r2;\ndiv.rn.f32 %f3, %f1, %f2;\n"
    assert not _asked("nightstack/float_bound", made + "setp.lt.f32 %p1, %f3, %f4;")
    assert _asked("nightstack/float_bound", made + "setp.lt.f32 %p1, %f1, %f2;")


def test_work_without_wide_ranges_is_not_asked() -> None:
    assert not _asked("softmax/base")
    assert not _asked("kinship/by_score")


@pytest.mark.parametrize(
    "label", ["nightstack/base", "inside/base", "hermit/base", "lottery/base", "foliage/base"]
)
def test_cases_are_few_and_no_larger_than_is_promised(label: str) -> None:
    job = once_read.parsed(label)
    found = _asked(label)
    names = {one.family.partition(" ")[2] for one in found}
    assert names <= {*sizes.sizing(job.work), ""}
    assert 0 < len(found) <= float_decisions.MOST_NAMES * (len(float_decisions.LENGTHS) + 1)
    total = 0
    for one in found:
        elements = job.work.elements(one.case)
        assert 0 < elements <= float_decisions.MOST_LONG_ELEMENTS
        total += elements
        for name, value in one.case.items():
            assert value <= 16 * sizes.largest(job.work, name)
    assert total <= 2 * float_decisions.MOST_NAMES * float_decisions.MOST_LONG_ELEMENTS


def test_one_size_alone_has_its_longest_case() -> None:
    job = once_read.parsed("nightstack/base")
    (frames, *others) = job.work.arguments
    flat = dataclasses.replace(frames, shape="P")
    cases = tuple(dataclasses.replace(one, values={"P": one.values["P"]}) for one in job.work.cases)
    rest = tuple(one for one in others if "K" not in (one.shape or "") and one.name != "K")
    work = dataclasses.replace(job.work, arguments=(flat, *rest), cases=cases)
    (one,) = float_decisions.beside(dataclasses.replace(job, work=work), (SINGLE, WHOLE))
    assert one.case["P"] > 100_000
    assert work.elements(one.case) <= float_decisions.MOST_LONG_ELEMENTS


def _kept(frames: npt.NDArray[np.int64], kind: Any) -> npt.NDArray[np.int64]:
    """Return how many values of a pixel stay, as `nightstack` has it, by numbers of a kind."""

    def inside(those: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        some = frames * those
        n, total, squares = those.sum(axis=0), some.sum(axis=0), (some * some).sum(axis=0)
        apart, spread = n * frames - total, n * squares - total * total
        if kind is np.int64:
            return np.asarray(4 * apart * apart <= 25 * spread)
        far = apart.astype(kind)
        return np.asarray(far * far <= np.asarray(6.25, kind) * spread.astype(kind))

    every = inside(np.ones(frames.shape, np.bool_))
    return np.asarray((every & inside(every)).sum(axis=0))


def _frames(job: JobSpec, one: Combination) -> npt.NDArray[np.int64]:
    found = Contents(job.work).of(one)["frames"].view("u2").astype(np.int64)
    return found.reshape(int(one.case["K"]), int(one.case["P"]))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_bound_in_floats_keeps_others_and_one_in_doubles_the_same(seed: int) -> None:
    """At lengths that nobody chose for it. Of drawn numbers none is another."""
    job = dataclasses.replace(once_read.parsed("nightstack/float_bound"), seed=seed)
    found = float_decisions.beside(job, (SINGLE, WHOLE))
    told = set()
    for one in found:
        if one.family != scaled_numbers.family("K") or one.case["K"] not in {8, 9, 24, 29, 30}:
            continue
        frames = _frames(job, one)
        exact = _kept(frames, np.int64)
        assert np.array_equal(exact, _kept(frames, np.float64))
        if not np.array_equal(exact, _kept(frames, np.float32)):
            told.add(one.case["K"])
        drawn = _frames(job, dataclasses.replace(one, family="declared"))
        assert np.array_equal(_kept(drawn, np.int64), _kept(drawn, np.float32))
    assert len(told) > 1


@needs_nvcc
def test_the_red_teams_floats_are_seen_and_those_that_only_convert_are_not(tmp_path: Path) -> None:
    codes = {}
    for name in ("base", "float_bound", "first_as_origin"):
        target = tmp_path / f"{name}.ptx"
        source = CASES / "nightstack" / f"{name}.cu"
        command = ["nvcc", "-ptx", "-std=c++17", "-arch=sm_90", "-o", str(target), str(source)]
        subprocess.run(command, check=True, capture_output=True)
        codes[name] = target.read_text()
    asked = {
        one: bool(_asked("nightstack/base", code, codes["base"])) for one, code in codes.items()
    }
    assert asked == {"base": False, "float_bound": True, "first_as_origin": False}
