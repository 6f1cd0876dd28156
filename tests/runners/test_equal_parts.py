"""Sizes at which two blocks have as much work as each other, and how often these are run."""

from __future__ import annotations

import dataclasses
import itertools
import time
from pathlib import Path
from typing import Any, cast

import pytest

from runners import at_large, equal_parts, plain_updates, sizes, spec, thresholds, verify
from runners.answers import Answers
from runners.checks import Report
from runners.contents import Combination
from runners.full_grids import FAMILIES, SHAKEN_ELEMENTS
from runners.judge import Judge
from runners.products import MOST_TOGETHER, most_elements
from runners.run import Damage, Run
from runners.session import Session
from runners.spec import JobSpec
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact
from tests.runners.test_judge import SCALE, _job
from tests.runners.test_odd_texts import HOSTILE

ANGLES = "hough/angle_of_a_block"
Case = dict[str, float]


class _Everything:
    """Answers to everything, at once."""

    def of(self, _one: Combination) -> dict[str, Any]:
        return {}

    def seconds(self, _one: Combination) -> float:
        return 0.001

    def patience(self, _one: Combination) -> float:
        return 5.0

    def ask_moved(self, combinations: list[Combination]) -> None:
        assert combinations == []


EVERYTHING = cast("Answers", _Everything())


def _of(label: str) -> JobSpec:
    return once_read.parsed(label)


def _grid(*grid: str, lengths: tuple[float, ...] = (7.0, 3000.0), text: str = "") -> JobSpec:
    """Return a job of a kernel with a grid, of arrays of such lengths, with a text before it."""
    cases = [{"values": {"n": n}} for n in lengths]
    described = _job(f"{text}\n{SCALE}", SCALE, effort="confirm", workload={"cases": cases})
    job = spec.parse(described)
    assert job.work.launch is not None
    launch = dataclasses.replace(job.work.launch, grid=grid)
    return dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, launch=launch))


def _asked(job: JobSpec) -> tuple[list[Combination], list[Combination]]:
    """Return what is asked about anyway, and what is asked by a candidate's own text."""
    known = [*itertools.chain(*once_read.combinations(job.work, "confirm", 1))]
    return known, thresholds.compared(job, known)


def _lengths(job: JobSpec, *asked: float) -> list[float]:
    return [case["n"] for case in equal_parts.cases(job, [{"n": n} for n in asked])]


def test_two_blocks_of_a_million_pixels_end_together() -> None:
    """What was asked beyond the first had a second block of less than half as many."""
    job = _of(ANGLES)
    known, own = _asked(job)
    pixels = [one.case["h"] * one.case["w"] for one in own if one.family in FAMILIES]
    assert any(1.98 * (1 << 20) < one <= 2 << 20 for one in pixels)
    assert not any(one.case["h"] * one.case["w"] > 1.98 * (1 << 20) for one in known)
    (case,) = equal_parts.cases(job, [dict(one.case) for one in known])
    assert case["angles"] == 180
    assert 0.5 < case["h"] / case["w"] < 1
    assert sizes.elements(job.work, case) <= most_elements(job.work)


@pytest.mark.parametrize(
    ("grid", "found"),
    [
        (("(n+63)/64", "(n+16383)/16384"), 32768),
        (("64", "n/16384+1"), 32767),
        (("64*((n+16383)/16384)",), 32768),
        (("64", "min(4,(n+16383)/16384)"), 32768),
        (("64", "ceil(n/16384.0)"), 32768),
        (("64*(((n - 1) / 16384) + 1)",), 32768),
    ],
)
def test_two_parts_are_full_however_a_launch_counts_them(
    grid: tuple[str, ...], found: float
) -> None:
    assert _lengths(_grid(*grid))[0] == found


def test_four_parts_are_asked_for_where_they_are_little() -> None:
    assert _lengths(_grid("64", "(n+8191)/8192")) == [16384, 32768]
    # 16 times the largest declared is as far as it goes.
    assert _lengths(_grid("64", "(n+16383)/16384")) == [32768]
    assert _lengths(_grid("64", "(n+65535)/65536")) == []


def test_parts_are_found_in_a_text_where_no_launch_has_them() -> None:
    text = "void parts(int n) { int many = (n + 16383) / 16384; run(many); }"
    job = _grid("(n+63)/64", text=text.replace("parts", "scale"))
    assert _lengths(job) == [32768]
    assert equal_parts.cases(job, [{"n": 32768}]) == []
    # As in its original, which has none of it, where these are many.
    assert (
        _lengths(_grid("(n+63)/64", text=text.replace("16383", "63").replace("16384", "64"))) == []
    )


def test_nothing_is_asked_where_parts_are_equal_anyway() -> None:
    split = ("64", "(n+16383)/16384")
    assert _lengths(_grid(*split), 16385.0, 24000.0, 31000.0) == [32768]
    assert _lengths(_grid(*split), 32700.0) == []
    assert _lengths(_grid(*split), 40000.0) == []
    assert _lengths(_grid(*split, lengths=(7.0, 40000.0))) == []
    assert _lengths(_grid(*split, lengths=(7.0, 20000.0))) == [32768, 65536]


def test_large_cases_stay_within_what_one_may_have() -> None:
    for part in (1 << power for power in range(10, 26)):
        job = _grid("64", f"(n+{part - 1})/{part}", lengths=(7.0, 3e5, 5e5))
        found = equal_parts.cases(job, [])
        assert len(found) <= equal_parts.MOST_CASES
        assert bool(found) == (2 * part > 5e5 and 4 * part <= most_elements(job.work))
        together = [sizes.elements(job.work, case) for case in found]
        assert max(together, default=0) <= most_elements(job.work)
        assert sum(together) <= MOST_TOGETHER


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_and_no_launch_raises(text: str) -> None:
    for grid in (("(n+8191)/8192",), ("n/0", "1"), ("nothing", "n**9"), ("8192-n",)):
        job = _grid(*grid, text=text)
        begun = time.process_time()
        assert len(equal_parts.cases(job, [])) <= equal_parts.MOST_CASES
        equal_parts.repeated(job, [Combination({"n": 9.0}, "plain", 1)])
        assert time.process_time() - begun < 20


# -- how often, and under delays -------------------------------------------------------------------


def _lengthy(*lengths: float, family: str = "plain") -> list[Combination]:
    return [Combination({"n": n}, family, 1) for n in lengths]


def test_what_meets_nowhere_else_is_run_more_often() -> None:
    """The largest of it, with inputs under which a schedule shows; not where it is declared."""
    job = _grid("64", "(n+4095)/4096")
    wanted = [*_lengthy(7, 3000, family="declared"), *_lengthy(5000, 8192, 9000)]
    wanted += _lengthy(9500, family="ends")
    assert equal_parts.repeated(job, wanted) == _lengthy(9000)
    assert equal_parts.repeated(job, wanted[:3]) == []
    assert equal_parts.repeated(_grid("(n+63)/64"), wanted) == []
    screened = dataclasses.replace(job, effort="screen")
    assert equal_parts.repeated(screened, wanted) == []


class _Runs:
    """A candidate that notes what it is run on, and whether beside others."""

    def __init__(self) -> None:
        self.ran: list[tuple[float, bool]] = []

    def run(self, one: Combination, *, beside: bool, **_more: Any) -> Run:
        self.ran.append((one.case["n"], beside))
        return Run({}, Damage(), 0.0, 1)


@pytest.mark.parametrize(("updates", "times"), [(False, 1), (True, 2)])
def test_cases_in_which_blocks_meet_are_run_several_times(*, updates: bool, times: int) -> None:
    """And most of the time alone: beside others the blocks come one after the other."""
    job = _grid("64", "(n+4095)/4096")
    wanted = [*_lengthy(7, 3000, family="declared"), *_lengthy(5000, 8192)]
    one, more = _Runs(), {"updates": True} if updates else {}
    verify.verify(cast("Session", one), EVERYTHING, job, wanted, Report(), 60.0, **more)
    counts = {n: sum(n == ran for ran, _ in one.ran) for n in (7, 3000, 5000, 8192)}
    declared = 6 * times
    assert counts == {7: declared, 3000: declared, 5000: 2, 8192: verify.MET_REPEATS * times}
    assert sum(beside for n, beside in one.ran if n == 8192) <= verify.MET_REPEATS * times // 2


def test_the_case_in_which_blocks_meet_is_run_under_delays_however_large() -> None:
    job = _of(ANGLES)
    wanted = [*itertools.chain(*_asked(job))]
    (found,) = at_large.chosen(job, EVERYTHING, wanted)
    assert found.case["h"] * found.case["w"] > 1.98 * (1 << 20)
    assert job.work.elements(found.case) > SHAKEN_ELEMENTS
    assert verify.meeting(job, EVERYTHING, wanted) == []
    # A light one has its place among the small ones.
    light = _grid("64", "(n+4095)/4096")
    wanted = [*_lengthy(7, 3000, family="declared"), *_lengthy(5000, 8192)]
    assert verify.meeting(light, EVERYTHING, wanted) == _lengthy(8192)
    assert at_large.chosen(light, EVERYTHING, wanted) == []
    one = _Runs()
    verify.shaken(cast("Any", _Seeded(one)), EVERYTHING, light, wanted, Report())
    assert sum(n == 8192 for n, _ in one.ran) == verify.SHAKEN_RUNS


class _Seeded:
    loading = 0.0

    def __init__(self, one: _Runs) -> None:
        self._one = one

    def run(self, one: Combination, *, nan: bool, seed: int, seconds: float) -> Run:
        del nan, seed, seconds
        return self._one.run(one, beside=False)


# -- plain updates ---------------------------------------------------------------------------------

PLAIN = """.visible .entry add(
ld.param.u64 %rd1, [add_param_0];
@%p1 ld.global.u32 %r1, [%rd4+16];
add.s32 %r2, %r1, 1;
@%p1 st.global.u32 [%rd4+16], %r2;
ret;"""


@pytest.mark.parametrize(
    ("ptx", "many"),
    [
        (PLAIN, 1),
        (f"{PLAIN}\n{PLAIN}", 2),
        (PLAIN.replace("ld.global.u32", "ld.volatile.global.u32"), 1),
        (PLAIN.replace("ld.global.u32", "ld.relaxed.gpu.global.u32"), 1),
        (PLAIN.replace(".global.u32 %r1", ".global.v4.u32 {%r1, %r5, %r6, %r7}"), 1),
        # Read as what nothing writes, another place, another memory, or an atomic.
        (PLAIN.replace("ld.global", "ld.global.nc"), 0),
        (PLAIN.replace("[%rd4+16], %r2", "[%rd4+20], %r2"), 0),
        (PLAIN.replace("global", "shared"), 0),
        (PLAIN.replace("@%p1 st.global.u32 [%rd4+16], %r2", "red.global.add.u32 [%rd4], 1"), 0),
        # Stored first, or loaded in another function, whose registers have the same names.
        ("\n".join(reversed(PLAIN.splitlines())), 0),
        (PLAIN.replace("add.s32", "}\n.visible .entry other(\nadd.s32"), 0),
        ("", 0),
    ],
)
def test_plain_updates_are_loads_and_stores_of_one_place(ptx: str, many: int) -> None:
    assert plain_updates.updates(ptx) == many
    assert plain_updates.more(ptx, "") == (many > 0)
    assert not plain_updates.more(ptx, PLAIN)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("mine", "theirs"), [(PLAIN, ""), (PLAIN, PLAIN), ("", "")])
def test_a_finalist_with_plain_updates_of_its_own_is_run_more_often(
    mine: str, theirs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which says nothing against it."""
    candidate = f"{SCALE}// faster"
    codes = {candidate: mine or "//", SCALE: theirs or "//"}
    asked: list[bool] = []
    plain = verify.verify

    def noted(*all_: Any, **more: Any) -> None:
        asked.append(more.get("updates", False))
        plain(*all_, **more)

    monkeypatch.setattr(verify, "verify", noted)
    judge = Judge(HostGpu(), 0, tmp_path, lambda _t, _j: None, device_code=lambda t, _j: codes[t])
    judge._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    job = _job(candidate, effort="confirm")
    request = {"job": job, "candidate": artifact(candidate), "baseline": artifact(SCALE)}
    verdict, _, _ = judge.verdict(request, spec.parse(job), 60.0)
    judge.close()
    assert verdict["status"] == "correct", verdict["log"]
    assert asked == [bool(mine) and not theirs]
