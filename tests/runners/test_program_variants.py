"""What other builds of an original say of a difference, by records that are made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runners.program_compare import Bounds, Expectation
from runners.program_profile import Profile, Reference
from runners.program_report import Allocation, Record, Report
from runners.program_run import Probe, Ran
from runners.program_variants import Asked, Variants, off, spans_aside

ASKED = Asked(Probe("nan", record=True), Bounds(), 1.0)
FLOATS = "__global__ void f(float* y);"


def report(*held: Any) -> Report:
    records, at = [], 0
    for number, one in enumerate(held):
        digest, size = one.tobytes().hex(), one.nbytes
        records.append(Record("copy", number, 0, size, digest, at, size, sampled=False))
        at += size
    return Report(
        ended="exit", broken=False, wall_us=0.0, launches=1, copies=0, unrecorded=0, peak_bytes=0,
        input_digest="", replay_off="", notes=(), guards=(), failures=(), kernels=(), other_us={},
        allocations=tuple(Allocation(one.nbytes, "device", frozenset()) for one in held),
        records=tuple(records),
    )  # fmt: skip


def ran(*held: Any, printed: str = "", code: int = 0) -> Ran:
    stored = np.concatenate([one.view(np.uint8) for one in held])
    return Ran(code, printed, "", 0.1, report(*held), stored)


def profile(*held: Any, printed: str = "") -> Profile:
    whole = report(*held)
    digests = tuple(record.digest for record in whole.records)
    known = Reference("nan", whole, digests, tuple(one.view(np.uint8) for one in held))
    kinds = tuple(("f4",) if one.dtype == np.float32 else ("int",) for one in held)
    return Profile(
        arguments=("9",), references={"nan": known}, expectations=tuple(map(Expectation, kinds)),
        stdouts=(printed, printed), plans={}, seconds=0.1, gpu_us=1.0, launches=1, copies=0,
        kernels=frozenset(), failures=frozenset(), guards=0,
    )  # fmt: skip


class Builds:
    """A runner whose programs are `rounded` and `doubles`, with a run of each."""

    def __init__(self, rounded: Ran | None, doubles: Ran | None) -> None:
        self.runs = {"rounded": rounded, "doubles": doubles}
        self.texts: list[str] = []

    def run(self, program: Path, *_: Any) -> Ran:
        found = self.runs[program.name]
        assert found is not None
        return found

    def build(self, text: str, _job: Any) -> dict[str, Any] | None:
        self.texts.append(text)
        return {"path": "doubles"} if self.runs["doubles"] else None

    def explain(self, found: Profile, mine: Ran, source: str = FLOATS) -> str:
        rounded = Path("rounded") if self.runs["rounded"] else None
        variants = Variants({"baseline": {"source": source}}, self.build, lambda: rounded)
        runner: Any = self
        return variants.explain(runner, found, mine, ASKED)


Y = np.linspace(1, 2, 1000, dtype=np.float32)
SUM, BETTER = np.array([16777216.0], np.float32), np.array([2.0e7], np.float32)
WHOLES = np.arange(1000, dtype=np.uint32)


@pytest.mark.parametrize(
    ("doubles", "explained"),
    [(np.array([2.0e7]), True), (np.array([16777217.0]), False)],
)
def test_a_sum_that_has_run_into_its_own_rounding_is_no_measure(
    doubles: Any, explained: bool
) -> None:
    """Double precision tells, though no multiplication is fused anywhere."""
    builds = Builds(ran(SUM), ran(doubles))
    assert bool(builds.explain(profile(SUM), ran(BETTER))) is explained


def test_who_is_much_further_off_than_another_rounding_is_wrong() -> None:
    near, far = Y.copy(), Y.copy()
    near[7] += 1e-3
    far[7] += 0.5
    builds = Builds(ran(near), ran(near.astype(np.float64)))
    assert not builds.explain(profile(Y), ran(far))
    assert builds.explain(profile(Y), ran(near * np.float32(1.001)))


def test_an_edge_that_rounding_moves_moves_few_whole_numbers() -> None:
    edge, few, many = WHOLES.copy(), WHOLES.copy(), WHOLES.copy()
    edge[3] += 1
    few[[3, 5]] += 1
    many[100:] = 0
    builds = Builds(ran(edge), None)
    assert builds.explain(profile(WHOLES), ran(few))
    assert not builds.explain(profile(WHOLES), ran(many))
    # With no build in doubles a few that no rounding moves are not certain; of many there is no doubt.
    builds = Builds(ran(WHOLES), None)
    assert builds.explain(profile(WHOLES), ran(edge))
    assert not builds.explain(profile(WHOLES), ran(many))
    assert not Builds(ran(WHOLES), ran(WHOLES)).explain(profile(WHOLES), ran(edge))


def test_whole_numbers_alone_need_no_other_build() -> None:
    wrong = WHOLES.copy()
    wrong[-1] += 1
    source = "// a float\n__global__ void f(int*); float ms; cudaEventElapsedTime(&ms, a, b);"
    assert not Builds(None, None).explain(profile(WHOLES), ran(wrong), source)
    assert Builds(None, None).explain(profile(WHOLES), ran(wrong), f'#include "own.h"\n{source}')


def test_who_prints_another_last_place_has_rounded_another_way() -> None:
    """What was computed is the same within its bounds."""
    found = profile(Y, printed="mean 33.35, 9 rings")
    builds = Builds(
        ran(Y, printed="mean 33.35, 9 rings"),
        ran(Y.astype(np.float64), printed="mean 33.35, 9 rings"),
    )
    assert builds.explain(found, ran(Y, printed="mean 33.36, 9 rings"))
    assert not builds.explain(found, ran(Y, printed="mean 33.38, 9 rings"))
    assert not builds.explain(found, ran(Y, printed="mean 33.35, 8 rings"))
    assert not builds.explain(found, ran(Y, printed="mean 33.35, 9 bells"))


@pytest.mark.parametrize("other", [ran(Y, Y), ran(Y, printed="5 steps"), ran(Y, code=1)])
def test_where_another_rounding_does_other_things_nothing_decides(other: Ran) -> None:
    """As where it takes another step until it has converged."""
    found = profile(Y, printed="4 steps")
    assert Builds(other, None).explain(found, ran(Y, printed="5 steps"))
    alike = ran(Y, printed="4 steps"), ran(Y.astype(np.float64), printed="4 steps")
    assert not Builds(*alike).explain(found, ran(Y, printed="5 steps"))


def test_what_events_measure_stays_a_float_in_the_build_in_doubles() -> None:
    source = "float ms, other; float a; cudaEventElapsedTime(&ms, from, to);"
    assert spans_aside(source).startswith("optiml_span ms, other; float a;")
    builds = Builds(ran(Y), ran(Y.astype(np.float64)))
    builds.explain(profile(Y), ran(Y * np.float32(2)), source)
    assert builds.texts[0].startswith("typedef float optiml_span;\n")


def test_how_far_a_record_is_off_is_told_within_what_is_compared() -> None:
    known = profile(WHOLES)
    mask = np.zeros(1000, bool)
    mask[4] = True
    masked = replace(known, expectations=(Expectation(("int",), excluded=mask),))
    wrong = WHOLES.copy()
    wrong[[4, 9]] += 1
    assert off(known, ran(wrong), ASKED) == {0: 2.0}
    assert off(masked, ran(wrong), ASKED) == {0: 1.0}
    assert off(known, ran(wrong[:-1]), ASKED) is None
