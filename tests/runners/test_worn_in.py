"""What somebody keeps once it was called often enough is asked for other contents there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from runners import cubin, spec, timed_launches, verify
from runners.answers import Answers
from runners.bench import Bench
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.entry_process import RemoteSession
from runners.inputs import stream
from runners.judge import ROWS, Judge
from runners.launchable import Bound
from runners.rows import ROW_ELEMENTS, asked_in_rows
from runners.run import Damage, Run
from runners.session import LocalSession, Session
from runners.worn_in import CALLS, changed, worn_rows
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact
from tests.runners.test_judge import SCALE, _job, _verdict
from tests.runners.test_rows import LINE, Line, Wire, _described
from tests.runners.test_streams import Device

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
Known = tuple[spec.JobSpec, Answers, list[Combination]]


class Warm(Line):
    """y = gain x + shift, until it was called more than `most` times in a row with one size.

    Then it is what the last call before has left, at whatever addresses; `by_place`, only where
    these are the same as well, and `last`, what the call before the last has made.
    """

    def __init__(self, gpu: Device, job: spec.JobSpec, most: int, way: str = "") -> None:
        super().__init__(gpu, job)
        self.most, self.kind, self.count = most, way, 0
        self.before: object = None
        self.kept: list[npt.NDArray[np.uint8]] = []

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        call, size = super().bind(case, addresses), int(case["n"]) * 4
        where = (size, *(addresses.values() if self.kind == "by place" else ()))

        def run() -> None:
            call()
            self.count = self.count + 1 if where == self.before else 0
            self.kept, self.before = self.kept if where == self.before else [], where

            def work() -> None:
                if self.count > self.most and self.kind != "tuned":
                    self.gpu.upload(addresses["y"], self.kept[0])
                else:
                    made = self.gpu.download(addresses["y"], size)
                    self.kept = [*self.kept, made][-2 if self.kind == "last" else -1 :]

            self.gpu.on_null_stream(work)

        return run


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """Return a finalist's job, and the answers to all that it is asked."""
    described = _described() | {"effort": "confirm"}
    job = spec.parse(described)
    asked = HostOracle(tmp_path_factory.mktemp("worn"), 0, lambda text, _job: artifact(text))
    built = artifact(LINE)
    wanted = [c for part in asked.wanted(job) for c in part]
    request = {"job": described, "candidate": built, "baseline": built}
    answers = asked.answers(job, request, [*wanted, *asked_in_rows(job, wanted)], 60.0)
    return job, answers, wanted


def _ran(known: Known, most: int, way: str = "") -> tuple[Report, Warm]:
    """Run it on all the rows that there are of a kind, as a finalist is."""
    job, answers, wanted = known
    gpu = Device()
    mine, report = Warm(gpu, job, most, way), Report()
    bench = Bench(cast("Any", gpu), job.work)
    session = LocalSession(bench, (cast("Any", mine), cast("Any", Line(gpu, job))), job)
    for made in ROWS:
        verify.in_a_row(cast("Session", session), answers, job, wanted, report, 30.0, made)
    return report, mine


@pytest.mark.parametrize("way", ["", "by place", "last"])
@pytest.mark.parametrize("most", [64, 500, 1900])
def test_what_is_kept_from_some_number_of_calls_on_is_refused(
    known: Known, most: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result for a size; for a size and addresses; and one that was made of earlier contents."""
    monkeypatch.setattr("runners.bench.WORN_SECONDS", 20.0)  # a machine that others use
    with pytest.raises(Wrong, match="calls in a row") as caught:
        _ran(known, most, way)
    assert caught.value.status == "wrong result"


def test_who_only_counts_is_right(known: Known) -> None:
    """As one that tries several ways in its first calls; and it is called often at one size."""
    report, mine = _ran(known, 64, "tuned")
    assert all(one["passed"] for one in report.as_json())
    assert mine.calls > 100


def test_rows_are_of_one_size_and_differ_in_their_contents(known: Known) -> None:
    """The first is called very often, or all are by turns; a search does not ask for it."""
    job, answers, wanted = known
    same, turns = worn_rows(job, wanted, answers.of, stream(1, "rows"), 2)
    assert (same.by_turns, turns.by_turns) == (False, True)
    assert same.before == turns.before == CALLS
    assert not same.apart
    first, other, *rest = same.combinations
    assert first.family == "declared"
    assert first.case == {"n": 7.0}
    assert other.family == "mixed"
    assert first in rest
    assert {tuple(one.case.items()) for one in same.combinations} == {(("n", 7.0),)}
    screened = spec.parse(_described())
    assert worn_rows(screened, wanted, answers.of, stream(1, "rows"), 2) == []
    assert worn_rows(job, wanted, lambda _: None, stream(1, "rows"), 2) == []


def test_where_the_declared_are_heavy_another_size_is_taken(known: Known) -> None:
    """The largest that is light, and has other contents that make other results."""
    job, _, _ = known
    sizes = (float(ROW_ELEMENTS), 5000.0, 900.0, 7.0)
    wanted = [Combination({"n": size}, "declared", 5) for size in sizes]
    wanted += [Combination({"n": size}, "mixed", 5) for size in sizes[1:]]

    def answer(one: Combination) -> Mapping[str, object] | None:
        if one.case["n"] == sizes[-1]:
            return None
        told = one.family == "mixed" and one.case["n"] < 5000
        return {"y": SimpleNamespace(want=np.full(4, told, np.uint8))}

    row = worn_rows(job, wanted, answer, stream(1, "rows"), 2)[0].combinations
    assert [one.case["n"] for one in row] == [900.0] * 3
    assert changed(wanted, wanted[0], answer) == changed(wanted, wanted[1], answer) == []
    assert changed(wanted, wanted[-1], answer) == []


def test_so_many_calls_go_before_a_row(known: Known, tmp_path: Path) -> None:
    """Through a child, too; on the first one's contents, or each with its own in front of it."""
    job, _, _ = known
    gpu = Device()
    seen: list[bytes] = []

    class Looks(Line):
        def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
            run = super().bind(case, addresses)

            def looked() -> None:
                seen.append(self.gpu.download(addresses["x"], 28).tobytes())
                run()

            return looked

    line = cast("Any", Looks(gpu, job))
    local = LocalSession(Bench(cast("Any", gpu), job.work), (line, line), job)
    row = [Combination({"n": 7.0}, family, 1) for family in ("declared", "mixed")]
    for session in (local, RemoteSession(cast("Any", Wire(local, tmp_path)), job)):
        for by_turns in (False, True):
            seen.clear()
            runs = session.row(
                row, nan=True, apart=False, seconds=5.0, before=10, by_turns=by_turns
            )
            assert len(runs) == 2
            assert len(seen) == 12
            assert seen[-2] != seen[-1]
            assert seen[:10] == (seen[-2:] * 5 if by_turns else [seen[-2]] * 10)


KEEPS = """
unsigned optiml_test_calls;
static float kept[1 << 17];
static int before;
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        optiml_test_calls = before == n ? optiml_test_calls + 1 : 1;
        before = n;
    }
    if (i >= n) return;
    const bool warm = optiml_test_calls > 64 && WARM;
    if (!warm) kept[i] = 3.f * x[i] + 1.f;
    y[i] = kept[i];
}
"""


@pytest.mark.parametrize(("warm", "status"), [("true", "wrong result"), ("false", "correct")])
def test_a_kernel_that_counts_its_launches_gets_others_where_it_is_wound_on(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, warm: str, status: str
) -> None:
    """Its count begins anew at other sizes, and its variables are set back before it is timed."""
    monkeypatch.setattr(cubin, "variables", lambda _: (("optiml_test_calls", 4),))
    verdict = _verdict(judge, KEEPS.replace("WARM", warm))
    assert verdict["status"] == status, verdict["log"]
    assert ("many launches" in verdict["log"]) == (status != "correct")


@pytest.fixture
def judge(tmp_path: Path) -> Any:
    """Return a judge whose device is this host."""
    found = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None)
    found._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    yield found
    found.close()


class Timed:
    """Brings back what is right for some combination, whatever it is asked; counts the runs."""

    def __init__(self, answers: Answers, always: Combination | None = None) -> None:
        self.answers, self.always, self.asked = answers, always, list[Combination]()

    def run(self, combination: Combination, **_: Any) -> Run:
        self.asked.append(combination)
        found = self.answers.of(self.always or combination)
        assert found is not None
        outputs = {name: np.array(answer.want) for name, answer in found.items()}
        return Run(outputs, Damage(), 0.0, 1)


def test_behind_what_was_timed_comes_a_call_on_other_contents(known: Known) -> None:
    """Of the same case; one that gives what it gave is refused, and one that does not is right."""
    job, answers, wanted = known
    combination = Combination({"n": 3000.0}, "declared", job.seed)
    terms = (job, (answers, wanted), combination)
    right, report = Timed(answers), Report()
    timed_launches.judge_behind(cast("Session", right), *terms, report)
    assert [(one.case, one.family) for one in right.asked] == [({"n": 3000.0}, "mixed")]
    assert {layer for layer, _ in report.checks} >= {timed_launches.BEHIND}
    warm = Timed(answers, combination)
    with pytest.raises(Wrong, match=timed_launches.BEHIND):
        timed_launches.judge_behind(cast("Session", warm), *terms, Report())
    none = Timed(answers)
    alone = (job, (answers, [combination]), combination)
    timed_launches.judge_behind(cast("Session", none), *alone, Report())
    assert none.asked == []


def test_only_host_code_that_may_be_offered_is_asked_behind_its_times(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each timed case is, directly behind its launches."""
    asked: list[Mapping[str, float]] = []

    def behind(_s: Any, _j: Any, _k: Any, combination: Combination, _r: Any) -> None:
        asked.append(combination.case)

    monkeypatch.setattr(timed_launches, "judge_behind", behind)
    measure = judge._measurements
    monkeypatch.setattr(measure, "_one", lambda *_: SimpleNamespace(**TIMES))
    monkeypatch.setattr("runners.measuring._plausible", lambda *_: None)
    for kind, effort, text in (
        ("entry", "confirm", SCALE + "// faster"),
        ("entry", "confirm", SCALE),
        ("entry", "screen", SCALE + "// faster"),
        ("kernel", "confirm", SCALE + "// faster"),
    ):
        workload = {"kind": kind, "launch": None} if kind == "entry" else {}
        job = spec.parse(_job(text, effort=effort, workload=workload))
        answers = cast("Any", SimpleNamespace(of=lambda _: None, dropped={}))
        measure.measure(cast("Any", None), job, (answers, []), Report(), 1.0)
    assert asked == [{"n": 3000.0}]


TIMES: dict[str, Any] = {
    "samples": SimpleNamespace(
        candidate_us=[1.0], baseline_us=[1.0], clock_mhz=None, dropped=0, disagreements=0
    ),
    "temperature_c": None,
    "memory_bytes": None,
    "baseline_memory_bytes": None,
}
