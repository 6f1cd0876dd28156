"""How far turns of a candidate's loops go, and cases in which these go round for delays and tools."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import pytest

from runners import rounds, sizes, verify
from runners.answers import Answers
from runners.checks import Report
from runners.contents import Combination
from runners.families import DECLARED
from runners.full_grids import FAMILIES, WATCHED_ELEMENTS
from runners.run import Damage, Run
from runners.session import Shaken
from runners.spec import JobSpec
from tests.redteam import once_read

# Tiles of 256 months, where 120 are declared: with and without a barrier between two of them.
OPEN, CLOSED = "mortgage/scan_tiles_open", "mortgage/scan_tiles"


def _of(label: str) -> JobSpec:
    return once_read.parsed(label)


def _asked(job: JobSpec) -> list[Combination]:
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    return [*declared, *extra]


def _steps(text: str) -> tuple[int, ...]:
    job = _of("mortgage/base")
    kernel = dataclasses.replace(job.kernel, source=text)
    return rounds.steps(dataclasses.replace(job, kernel=kernel))


class _All:
    """Answers to everything, at once."""

    def __init__(self, seconds: float = 0.001) -> None:
        self._seconds = seconds

    def of(self, _one: Combination) -> dict[str, Any]:
        return {}

    def seconds(self, _one: Combination) -> float:
        return self._seconds

    def ask_moved(self, combinations: list[Combination]) -> None:
        assert combinations == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for (int m = 0; m < n; m += 256) f(m);", (256,)),
        ("constexpr int W = 4; for (int m = t; m < n; m += W * 32) f(m);", (128,)),
        ("#define TILE (1 << 7)\nwhile (at < n) { g(at); at = at + TILE; }", (128,)),
        ("for (int m = 0; n > m; m += 96) f(m);", (96,)),
        ("for (int t = 0; t < (n + 63) / 64; ++t) f(t);", (64,)),
        ("for (int t = 0; t < n >> 8; ++t) f(t);", (256,)),
        ("for (int m = 0; m < n; m += static_cast<int>(512)) f(m);", (512,)),
        ("template <int T> void f() { for (int m = 0; m < n; m += T) g(m); } f<192>();", (192,)),
        # Of host code the blocks of a grid that has an end are one of its numbers, as are threads.
        ("for (int m = b; m < n; m += gridDim.x) f(m); go<<<min(n, 528), 96>>>();", (528, 96)),
        (
            "int all = gridDim.x * blockDim.x; while (m < n) m += all; go<<<min(n, 528), 96>>>();",
            (528 * 96, 96 * 96, 96),
        ),
        # What is not compared is no place, and steps of less than a warp, or of more than any
        # small case has, are none.
        ("sum += 256; for (int m = 0; m < n; ++m) f(m);", ()),
        ("for (int m = 0; m < n; m += 16) f(m / 8, m >> 40, m / 0);", ()),
        ("for (int m = 0; m < n; m += 1 << 21) f(m);", ()),
        ("for (int m = 0; m < n; m += 1 << 99999999) f(m / (9 >> 70));", ()),
        ("for (int m = 0; m < n; m += ((((", ()),
        ("", ()),
    ],
)
def test_the_steps_of_loops_are_read(text: str, found: tuple[int, ...]) -> None:
    assert _steps(text) == found


def test_the_threads_of_a_kernels_block_are_known() -> None:
    job = next(
        _of(label)
        for label, one in once_read.candidates().items()
        if one.base.kind == "kernel" and _of(label).work.launch is not None
    )
    assert job.work.launch is not None
    launch = dataclasses.replace(job.work.launch, block=("96", "2"))
    text = "for (int m = t; m < n; m += blockDim.x) f(m / blockDim.y);"
    kernel = dataclasses.replace(job.kernel, source=text, launch=launch)
    assert rounds.steps(dataclasses.replace(job, kernel=kernel)) == (96,)
    # How often blocks of its grid go round is known of its launch.
    text = "for (int m = t; m < n; m += blockDim.x * gridDim.x) f(m < 4096);"
    kernel = dataclasses.replace(job.kernel, source=text, launch=launch)
    assert rounds.steps(dataclasses.replace(job, kernel=kernel)) == (192,)


def test_a_case_is_chosen_in_which_a_loop_goes_round() -> None:
    """The lightest, but for what has next to nothing beside it; none where another goes round."""
    job = _of(OPEN)
    sized = [(1, 900), (64, 120), (64, 700), (64, 513), (64, 512), (5000, 2000)]
    fit = [Combination({"n": float(n), "months": float(m)}, DECLARED, 1) for n, m in sized]
    few = [one for one in fit if one.case["months"] <= 512]
    long = Combination({"n": 5000.0, "months": 8.0}, DECLARED, 1)
    assert rounds.longer(job, fit, [*few, long]) == [fit[3]]
    assert rounds.longer(job, fit, [*few, long, fit[2]]) == []
    assert rounds.longer(job, [fit[0]], [long]) == [fit[0]]
    # Along each size that nothing goes round on.
    assert rounds.longer(job, fit, few) == [fit[5]]
    # Where no case has three turns of the largest step, that of the next one tells something.
    text = f"{job.kernel.source}// or\nvoid g() {{ for (int m = 0; m < n; m += 2048) f(); }}"
    more = dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, source=text))
    assert rounds.steps(more) == (120_000, 2048, 256, 32)
    # For tools, none that goes farther.
    huge = Combination({"n": 64.0, "months": 2.5e5}, DECLARED, 1)
    assert rounds.longer(more, [*fit, huge], [*few, long], rounds.FARTHEST) == [huge]
    assert rounds.longer(more, [*fit[:-1], huge], [*few, long, huge]) == []
    assert rounds.longer(more, fit[:-1], [*few, long]) == [fit[3]]
    # Not with contents under which a schedule says nothing.
    assert rounds.longer(job, [dataclasses.replace(fit[3], family="ends")], [long]) == []


@pytest.mark.parametrize("label", [OPEN, CLOSED])
def test_the_sanitizer_looks_at_a_second_and_a_third_tile(label: str) -> None:
    job, wanted = _of(label), _asked(_of(label))
    found = verify.small(job, cast("Answers", _All()), wanted)
    round_ = [one for one in found if one.case["months"] > 2 * 256]
    assert len(round_) == 1
    assert round_ == found[-1:]
    assert job.work.elements(round_[0].case) <= WATCHED_ELEMENTS
    # Not where the original alone takes long, nor where there is nothing for racecheck.
    slow = verify.small(job, cast("Answers", _All(0.01)), wanted)
    assert slow == found[:-1]
    base = _of("mortgage/base")
    assert not rounds.shared(base)
    assert verify.small(base, cast("Answers", _All()), wanted) == slow


def test_warps_are_delayed_in_a_second_and_a_third_tile() -> None:
    """Ahead of what there is time for: under each seed, and each build of host code."""
    job, wanted, ran = _of(OPEN), _asked(_of(OPEN)), list[Combination]()

    class Delayed:
        loading = 0.0

        def run(self, asked: Combination, **_more: Any) -> Run:
            ran.append(asked)
            return Run({}, Damage(), 0.0, 1)

    answers = cast("Answers", _All())
    verify.shaken(cast("Shaken", Delayed()), answers, job, wanted, Report())
    first = ran[: verify.SHAKEN_RUNS * (verify.SHAKEN_CASES + 1)]
    assert sum(one.case["months"] > 2 * 256 for one in first) == verify.SHAKEN_RUNS


def test_no_candidate_is_asked_for_more_than_a_few() -> None:
    """A dozen originals, with all their own numbers, of what is asked anyway."""
    kinds = {one.base.name: one.base.kind for one in once_read.candidates().values()}
    names = [name for name, kind in kinds.items() if kind != "program"]
    for name in names[:: len(names) // 12]:
        job = _of(f"{name}/base")
        asked = _asked(job)
        found = rounds.longer(job, asked, [])
        assert len(found) <= min(rounds.MOST_CASES, len(sizes.sizing(job.work))), name
        assert all(one in asked and one.family in FAMILIES for one in found), name
        assert rounds.longer(job, asked, asked) == [], name
