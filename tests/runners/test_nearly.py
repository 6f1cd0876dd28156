"""Nearly the same contents by turns: what is kept for contents that were only sampled is shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from runners import families, one_element, sizes, spec, verify
from runners.bench import Bench
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.expressions import names
from runners.inputs import stream
from runners.launchable import Bound
from runners.rows import LEAST_SAMPLED, ROW_ELEMENTS, _swapped, asked_in_rows, rows
from runners.session import LocalSession, Session
from runners.spec import JobSpec, Json, Work
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.host_gpu import COMPILER, HostOracle, artifact
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job
from tests.runners.test_streams import Device

CANDIDATES = load()
CASE = {"n": 12801.0}

UNIT = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    if (blockIdx.x || threadIdx.x) return;
    double all = 0;
    for (int i = 0; i < n; i++) all += (double)x[i] * x[i];
    for (int i = 0; i < n; i++) y[i] = (float)(x[i] / sqrt(all));
}
"""
ARGUMENTS = [
    {"name": "x", "type": "const float*", "shape": "n"},
    {"name": "y", "type": "float*", "shape": "n", "role": "output"},
    {"name": "n", "type": "int", "value": "n"},
]


def _near(job: JobSpec, wanted: list[Combination]) -> list[Combination]:
    return [one for one in asked_in_rows(job, wanted) if one.family == families.NEARLY]


def _asked(job: JobSpec) -> list[Combination]:
    return [one for part in once_read.combinations(job.work, job.checks, job.seed) for one in part]


class Unit:
    """A vector made one long, its length kept: for a mark of some elements, or for all of them."""

    hosted = True
    retained = None
    streams = None

    def __init__(self, gpu: Device, job: JobSpec, looks: int) -> None:
        self.gpu, self.work, self.looks = gpu, job.work, looks
        self.known: tuple[object, ...] = ()
        self.length = 0.0
        self.kept = 0

    def begins(self) -> None:
        pass

    def device_bytes(self) -> int:
        return 0

    def holds(self) -> None:
        pass

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        count = int(case["n"])

        def work() -> None:
            x = self.gpu.download(addresses["x"], count * 4).view("f4")
            step = max(1, count // self.looks) if self.looks else 1
            seen = (addresses["x"], count, x[::step].tobytes(), x[-1].tobytes())
            if seen != self.known:
                self.known, self.length = seen, float(np.sqrt((x.astype("f8") ** 2).sum()))
            else:
                self.kept += 1
            self.gpu.upload(addresses["y"], (x / self.length).astype("f4"))

        return lambda: self.gpu.on_null_stream(work)


def _judged(looks: int, tmp_path: Path, effort: str = "confirm") -> tuple[Report, Unit]:
    workload = {"arguments": ARGUMENTS, "cases": [{"values": CASE}, {"values": {"n": 7}}]}
    described: Json = _job(UNIT, UNIT, effort=effort, workload=workload)
    job = spec.parse(described)
    gpu = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    built = artifact(UNIT)
    wanted = [Combination(case.values, families.DECLARED, job.seed) for case in job.work.cases]
    request = {"job": described, "candidate": built, "baseline": built}
    answers = gpu.answers(job, request, [*wanted, *asked_in_rows(job, wanted)], 60.0)
    assert not answers.dropped
    device, report = Device(), Report()
    mine = Unit(device, job, looks)
    bench = Bench(cast("Any", device), job.work)
    session = LocalSession(bench, (cast("Any", mine), cast("Any", Unit(device, job, 0))), job)
    verify.in_a_row(cast("Session", session), answers, job, wanted, report, 30.0)
    return report, mine


needs_compiler = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")


@needs_compiler
@pytest.mark.parametrize("looks", [1024, 4096])
def test_what_is_kept_for_contents_that_were_sampled_is_refused(looks: int, tmp_path: Path) -> None:
    """At CONFIRM; the other rows and efforts have wholly different contents."""
    with pytest.raises(Wrong, match=r"n=12801, .* calls in a row"):
        _judged(looks, tmp_path)
    _, mine = _judged(looks, tmp_path, "screen")
    assert mine.length


@needs_compiler
def test_what_is_kept_for_contents_that_were_compared_is_right(tmp_path: Path) -> None:
    """It is kept where the first call of a row is made again, and nowhere else."""
    report, mine = _judged(0, tmp_path)
    assert mine.kept >= 2
    assert report.runs >= 8
    assert all(one["passed"] for one in report.as_json())


def test_both_orders_are_asked_on_the_same_buffers() -> None:
    """Where both have answers, behind all other rows, which stay what they were."""
    workload = {"arguments": ARGUMENTS, "cases": [{"values": CASE}, {"values": {"n": 7}}]}
    job = spec.parse(_job(UNIT, UNIT, effort="confirm", workload=workload))
    plain = dataclasses.replace(job, effort="screen")
    long, short = (Combination(c.values, families.DECLARED, 5) for c in job.work.cases)
    (near,) = _near(job, [long, short])
    assert near == Combination(CASE, families.NEARLY, 5)
    assert not _near(plain, [long, short])
    known = {one.key: {"y": 1} for one in (long, short, near)}

    def made(which: JobSpec) -> list[tuple[tuple[Combination, ...], bool]]:
        found = rows(which, [long, short], lambda c: known.get(c.key), stream(1, "rows"), 2)
        return [(row.combinations, row.apart) for row in found]

    new = [((long, near) * 2, False), ((near, long) * 2, False)]
    assert made(job) == [*made(plain), *new]
    del known[near.key]
    assert made(job) == made(plain)


def test_a_declared_case_that_is_long_enough_comes_first() -> None:
    """Else the longest that is light; never one whose scalars are moved."""

    def longest(*declared: int) -> float:
        cases = [{"values": {"n": n}} for n in declared]
        workload = {"arguments": ARGUMENTS, "cases": cases}
        job = spec.parse(_job(UNIT, UNIT, effort="confirm", workload=workload))
        case = dict(_near(job, _sizes(*declared, 9001, 100001, 1 << 20))[0].case)
        return case["n"]

    def _sizes(*every: int) -> list[Combination]:
        return [Combination({"n": float(n)}, families.DECLARED, 5) for n in every]

    assert longest(1 << 20, 1000) == 100001
    assert longest(1 << 20, LEAST_SAMPLED, 1000) == LEAST_SAMPLED


# What the family is.


def _both(work: Work, seed: int = 1) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    case, size = work.cases[0].values, work.arguments[0].type.size
    one, other = (
        Contents(work).of(Combination(case, family, seed))["x"].reshape(-1, size)
        for family in (families.DECLARED, families.NEARLY)
    )
    return one, other


KINDS = ("float*", "half*", "double*", "float4*", "int*", "unsigned char*", "int2*", "bool*")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("init", ["normal", "uniform", "randint:0:2", "randint:5:90"])
def test_one_element_is_another(kind: str, init: str) -> None:
    """Neither the first nor the last, at no multiple of a power of two or of another small step."""
    if kind == "bool*" and init.startswith("randint:5"):
        return  # all of them true
    for seed in range(1, 4):
        one, other = _both(_work(_pointer(kind, init), n=12801), seed)
        (at,) = np.flatnonzero((one != other).any(axis=1))
        assert 12801 // 4 <= at < 12801 - 12801 // 4
        steps = range(2, 8) if one.shape[1] in {1, 2, 4, 8} and "2" not in kind else range(2, 3)
        assert all(at % step for step in steps)


@pytest.mark.parametrize("count", [8209, 12801, 65536, 200003])
def test_no_share_of_looks_meets_the_element(count: int) -> None:
    """Looks at k n / 64, k n / 1024 and the like; at every n / 4096th number, pair or four."""
    for seed in range(1, 6):
        one, other = _both(_work(_pointer(), n=count), seed)
        (at,) = np.flatnonzero((one != other).any(axis=1))
        for looks in (64, 1024, 4096):
            assert at not in {k * count // looks for k in range(looks)}
            assert at % (count // looks)
        step = count // 4096
        assert all(at // wide % step for wide in (2, 4))


def test_a_float_is_fifty_and_a_whole_number_one_that_was_there() -> None:
    one, other = (data.view("f4") for data in _both(_work(_pointer(), n=5000)))
    assert set(other[one != other].tolist()) == {50.0}
    for init in ("normal", "randint:3:9"):
        one, other = (data.view("i4") for data in _both(_work(_pointer("int*", init), n=5000)))
        assert set(other.reshape(-1).tolist()) <= set(one.reshape(-1).tolist())


def test_a_permutation_stays_one() -> None:
    one, other = (
        data.view("i4").reshape(-1)
        for data in _both(_work(_pointer("int*", "permutation"), n=12801))
    )
    assert len(np.flatnonzero(one != other)) == 2
    assert np.array_equal(np.sort(other), np.arange(12801))


@pytest.mark.parametrize(
    ("kind", "init"),
    [
        ("float*", "sorted"),
        ("int*", "sorted"),
        ("int*", "arange"),
        ("float*", "zeros"),
        ("float*", "ones"),
        ("int*", "randint:7:8"),
    ],
)
def test_what_has_an_order_or_one_value_stays(kind: str, init: str) -> None:
    one, other = _both(_work(_pointer(kind, init), n=5000))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("count", range(1, 9))
def test_few_elements_have_one_in_their_middle(count: int) -> None:
    for kind, init in (("float*", "normal"), ("int*", "permutation"), ("int*", "randint:0:9000")):
        one, other = _both(_work(_pointer(kind, init), n=count))
        where = np.flatnonzero((one != other).any(axis=1))
        assert len(where) <= 2
        assert not {0, count - 1} & set(where.tolist())
        if init == "normal":
            assert len(where) == (count > 2)


# What the red team's are asked.


def test_originals_with_inputs_are_asked_and_nothing_else_is_changed() -> None:
    """One combination each, of contents that may be others, of so many elements at most."""
    every = {one.base.name: one for one in CANDIDATES if one.base.kind == "entry"}
    none = set()
    for name, one in every.items():
        job = once_read.parsed(one)
        wanted = _asked(job)
        assert all(c.family != families.NEARLY for c in wanted)
        found = _near(job, wanted)
        if not found:
            none.add(name)
            continue
        (near,) = found
        assert job.work.elements(near.case) <= ROW_ELEMENTS
        long = families.nearly(job.work, near.case)
        # As long as that, or as any array has to be right: declared contents are asked at four times
        # a size of 2,000, and further out in other families only.
        sized = tuple(a for a in job.work.arguments if names(a.shape or "1"))
        grows = dataclasses.replace(job.work, arguments=sized)
        longest = max(families.nearly(grows, case.values) for case in job.work.cases)
        assert long >= min(8000, sizes.TIMES_LONGER * longest - 1)
        single = [c for c in asked_in_rows(job, wanted) if one_element.change(c.family)]
        assert len(single) <= one_element.MOST + one_element.MOST_ZERO
        confirmed = [*found, *single, *_swapped(job, wanted)]
        others = [c for c in asked_in_rows(job, wanted) if c not in confirmed]
        assert others == asked_in_rows(dataclasses.replace(job, effort="race"), wanted)
        made = [
            Contents(job.work).of(dataclasses.replace(near, family=family))
            for family in (families.DECLARED, families.NEARLY)
        ]
        apart = {
            a.name: int((made[0][a.name] != made[1][a.name]).reshape(-1, a.type.size).any(1).sum())
            for a in job.work.arguments
            if a.name in made[0]
        }
        assert set(apart.values()) <= {0, 1}
        assert sum(apart.values())
    assert none == {"asian"}  # it has no inputs but scalars
    assert len(every) > 30
