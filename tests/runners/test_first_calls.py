"""What nobody made is taken for what was kept for zeros in the first call, and in no other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from runners import capacities, first_calls, spec
from runners.answers import Answers
from runners.bench import Bench
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.gpu import HungError, LaunchError
from runners.launchable import Bound
from runners.rows import zeroed
from runners.run import Run
from runners.session import LocalSession
from runners.spec import JobSpec, Json
from tests.redteam.record import NUMERIC
from tests.runners.host_gpu import COMPILER, HostOracle, artifact
from tests.runners.test_judge import _job
from tests.runners.test_one_element import ARGUMENTS, CASES, CIPHER, _stream
from tests.runners.test_streams import Device

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

Mark = Callable[[npt.NDArray[Any], npt.NDArray[Any]], int]

# Sums of multiples are zero for zeros; a count of calls beside them is not.
MARKS: dict[str, Mark] = {
    "key": lambda key, _nonce: int((key * np.arange(3, 13)).sum()),
    "nonce": lambda _key, nonce: int(nonce[0]) * 7 + int(nonce[1]) * 5,
}


class Kept:
    """A stream that is kept with a mark of what it was made of; both are zero at first.

    `said` is whether it is told by itself that something was kept.
    """

    hosted = True
    retained = None
    streams = None

    def __init__(self, gpu: Device, marked: Mark | None, *, said: bool = False) -> None:
        self.gpu, self.marked, self.said = gpu, marked, said
        self.mark, self.filled = 0, False
        self.stream = np.zeros(1 << 16, np.uint8)
        self.calls = 0

    def begins(self) -> None:
        pass

    def device_bytes(self) -> int:
        return 0

    def holds(self) -> None:
        pass

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        count = int(case["n"])

        def work() -> None:
            self.calls += 1
            data = self.gpu.download(addresses["data"], count)
            key = self.gpu.download(addresses["key"], 10)
            nonce = self.gpu.download(addresses["nonce"], 8).view("u4")
            mark = self.marked(key, nonce) if self.marked else -1
            known = mark == self.mark and (self.filled or not self.said)
            if self.marked is None or not known:
                self.mark, self.filled = mark, True
                self.stream[:count] = _stream(count, key, nonce)
            self.gpu.upload(addresses["data"], data ^ self.stream[:count])

        return lambda: self.gpu.on_null_stream(work)


class Pair:
    """A candidate and an original, of which each load makes another one."""

    def __init__(self, tmp_path: Path, arguments: list[Json] = ARGUMENTS) -> None:
        work = {"arguments": arguments, "cases": CASES}
        described = _job(CIPHER, CIPHER, effort="confirm", workload=work)
        # Another text, since nothing is asked of an original.
        described["kernel"] = {**described["kernel"], "source": CIPHER + "// another\n"}
        self.job = spec.parse(described)
        self.oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
        built = artifact(CIPHER)
        self.request: Json = {"job": described, "candidate": built, "baseline": built}
        declared = [
            Combination(case.values, "declared", self.job.seed) for case in self.job.work.cases
        ]
        self.asked = zeroed(self.job, declared)
        wanted = [*declared, *self.asked]
        self.answers: Answers = self.oracle.answers(self.job, self.request, wanted, 60.0)
        self.loaded: list[Kept] = []

    def check(
        self, marked: Mark | None, *, said: bool = False, theirs: Mark | None = None
    ) -> tuple[Report, list[str]]:
        """Ask it of a candidate."""
        report = Report()
        self.loaded = []

        def load(job: JobSpec, _request: Json) -> LocalSession:
            gpu = Device()
            own = job.kernel == job.baseline
            mine = Kept(gpu, theirs if own else marked, said=said)
            self.loaded.append(mine)
            one = cast("Any", mine)
            return LocalSession(Bench(cast("Any", gpu), job.work), (one, one), job)

        asked = (self.asked, self.answers, report)
        return report, first_calls.check(load, self.request, self.job, *asked)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(capacities, "SINGLE_SECONDS", 60.0)  # a machine that others use is slow
        return Pair(tmp_path_factory.mktemp("pair"))


@pytest.mark.parametrize("name", MARKS)
def test_a_mark_that_zeros_have_is_refused(name: str, pair: Pair) -> None:
    with pytest.raises(Wrong, match=rf"only {name}\[\] zero inputs, .*first calls") as refused:
        pair.check(MARKS[name])
    assert refused.value.status == "wrong result"
    assert first_calls.LAYER in NUMERIC


@pytest.mark.parametrize("name", MARKS)
def test_it_shows_in_no_other_call(name: str, pair: Pair) -> None:
    """That the mark is of all that counts is another matter: with zeros it is made anew here."""
    gpu = Device()
    bench = Bench(cast("Any", gpu), pair.job.work)
    mine = cast("Any", Kept(gpu, MARKS[name]))
    base = Combination({"n": 203.0}, "declared", pair.job.seed)
    one = next(c for c in pair.asked if name in c.family)
    for run in bench.row(mine, [base, one, base], apart=False)[1:2]:
        want = (pair.answers.of(one) or {})["data"].want
        assert np.array_equal(run.outputs["data"], want)


@pytest.mark.parametrize(
    ("marked", "said"), [(None, False), (MARKS["key"], True), (MARKS["nonce"], True)]
)
def test_what_keeps_nothing_or_says_so_is_right(
    marked: Mark | None, said: bool, pair: Pair
) -> None:
    report, notes = pair.check(marked, said=said)
    assert not notes
    assert [one.family for one in pair.asked] == [
        f"only {n}[] zero" for n in ("nonce", "key", "data")
    ]
    assert report.runs == len(pair.asked) == len(pair.loaded)
    assert all(one.calls == 1 for one in pair.loaded)  # each in a load of its own
    assert {layer for layer, _ in report.checks} == {first_calls.LAYER, "fresh world"}
    assert all(one["passed"] for one in report.as_json())


def test_it_is_no_fault_where_the_original_does_the_same(pair: Pair) -> None:
    report, notes = pair.check(MARKS["key"], theirs=MARKS["key"])
    assert len(notes) == 1
    assert "with key all zeros is not checked: the original fails, too" in notes[0]
    assert all(one["passed"] for one in report.as_json())
    with pytest.raises(Wrong, match="only key"):
        pair.check(MARKS["key"], theirs=MARKS["nonce"])


class Broken:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def run(self, combination: Combination, *, nan: bool, beside: bool, seconds: float) -> Run:
        raise self.error


def test_what_crashes_in_its_first_call_is_refused_with_its_reason(pair: Pair) -> None:
    """Of a kernel the error is its context's, and left to others."""

    def check(job: JobSpec, error: Exception) -> None:
        original = cast("Any", Kept(Device(), None))

        def load(loaded: JobSpec, _request: Json) -> Any:
            if loaded.kernel != loaded.baseline:
                return Broken(error)
            return LocalSession(
                Bench(cast("Any", original.gpu), loaded.work), (original, original), loaded
            )

        first_calls.check(load, pair.request, job, pair.asked, pair.answers, Report())

    with pytest.raises(LaunchError):
        check(pair.job, LaunchError("an illegal address"))
    hosted = dataclasses.replace(pair.job, work=dataclasses.replace(pair.job.work, kind="entry"))
    for error, status in ((LaunchError("gone"), "crashed"), (HungError("late"), "timed out")):
        with pytest.raises(Wrong, match="in its first call, with nonce all zeros") as refused:
            check(hosted, error)
        assert refused.value.status == status


def test_there_is_an_end(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note says which were not made."""
    monkeypatch.setattr(first_calls, "SECONDS", -1.0)
    report, notes = pair.check(MARKS["key"])
    assert notes == ["no first call made with zeros in nonce, key, data: there was no time left"]
    assert not report.runs


RATIO = """
extern "C" __global__ void scale(const float* x, const float* d, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] / d[i];
}
"""


def test_what_is_divided_by_zeros_is_asked_of_nobody(tmp_path: Path) -> None:
    """Nor is what has no answer; of an original nothing is asked at all."""
    pointers = [
        {"name": "x", "type": "const float*", "shape": "n"},
        {"name": "d", "type": "const float*", "shape": "n"},
        {"name": "y", "type": "float*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
    ]
    described = _job(RATIO, RATIO, effort="confirm", workload={"arguments": pointers})
    described["kernel"] = {**described["kernel"], "source": RATIO + "// another\n"}
    job = spec.parse(described)
    built = artifact(RATIO)
    request: Json = {"job": described, "candidate": built, "baseline": built}
    declared = [Combination(case.values, "declared", job.seed) for case in job.work.cases]
    asked = zeroed(job, declared)
    assert [one.family for one in asked] == ["only x[] zero", "only d[] zero"]
    oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    answers = oracle.answers(job, request, [*declared, *asked], 60.0)
    assert [first_calls._told(answers, one) for one in asked] == [True, False]
    assert not first_calls._told(answers, Combination({"n": 8.0}, asked[0].family, job.seed))
    same = spec.parse(_job(RATIO, RATIO, effort="confirm", workload={"arguments": pointers}))

    def never(_job: JobSpec, _request: Json) -> Any:
        raise AssertionError

    assert not first_calls.check(never, request, same, asked, answers, Report())
