"""Jobs on warm workers: order, crashes, time-outs, lies, equal machine code."""

from __future__ import annotations

import json
import math
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimizer.errors import BaselineError, NoDeviceError, RunnerError
from optimizer.model import Effort, Kernel, Kind, Status, Verdict, Workload
from runners import dispatch, interposer, seat
from runners.dispatch import Built, LocalDispatcher, discover
from runners.interfaces import Job
from runners.line import Compiled, Rank, first, rehearsable
from runners.profiler import NcuProfiler, Profile
from runners.sandbox import Child

WORKLOAD = Workload("w", Kind.KERNEL, "k")
BASE = Kernel("k", "base")
COMMAND = (sys.executable, str(Path(__file__).with_name("fake_worker.py")))


class Words:
    """Compiles a text to its first word; refuses `syntax`."""

    def __init__(self) -> None:
        self.sources: list[str] = []

    def build(self, kernel: Kernel, workload: Workload) -> Built:
        self.sources.append(kernel.source)
        if "syntax" in kernel.source:
            return Built(None, Verdict(Status.DOES_NOT_COMPILE, log="line 1"), 0.1)
        code = kernel.source.split("#", maxsplit=1)[0]
        return Built({"path": "x", "kind": "cubin", "machine_code": code}, None, 0.1)


def job(source: str, effort: Effort = Effort.SCREEN) -> Job:
    return Job(Kernel("k", source), BASE, WORKLOAD, effort=effort)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LocalDispatcher]:
    monkeypatch.setattr(dispatch, "JOB_SECONDS", dict.fromkeys(Effort, 2.0))
    monkeypatch.setattr(dispatch, "START_SECONDS", 0.0)
    here = [Path(__file__).parent]
    with LocalDispatcher(
        Words(), scratch=tmp_path, command=COMMAND, locked=False, readable=here
    ) as found:
        yield found


def process(verdict: Verdict) -> float:
    assert verdict.measurement is not None
    return verdict.measurement.cases[0].candidate_us[0]


def test_verdicts_come_in_the_order_of_the_jobs_from_one_warm_worker(gpu: LocalDispatcher) -> None:
    verdicts = gpu.dispatch([job("a"), job("syntax"), job("b")])
    assert [v.status for v in verdicts] == [
        Status.CORRECT, Status.DOES_NOT_COMPILE, Status.CORRECT,
    ]  # fmt: skip
    assert process(verdicts[0]) == process(verdicts[2])
    assert verdicts[0].seconds["compile"] == 0.1


def test_equal_machine_code_is_run_once(gpu: LocalDispatcher) -> None:
    first = gpu.dispatch([job("same#1")])[0]
    gpu.dispatch([job("die")])
    assert gpu.dispatch([job("same#2")])[0] == first


def test_all_gpus_are_opened_before_the_first_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    tell = seat.Seat.tell

    def noted(self: seat.Seat, operation: str) -> dict[str, object]:
        opened.append(self.index)
        if self.index == 1:
            raise RunnerError("its first job will say so")
        return tell(self, operation)

    monkeypatch.setattr(seat.Seat, "tell", noted)
    here = [Path(__file__).parent]
    with LocalDispatcher(
        Words(), (0, 1, 2), scratch=tmp_path, command=COMMAND, locked=False, readable=here
    ) as gpus:
        assert gpus.facts()["gpu"] == "Fake"
        assert sorted(opened) == [0, 1, 2]
        assert gpus.dispatch([job("a")])[0].status is Status.CORRECT


def test_a_worker_is_told_that_kernels_will_come(
    gpu: LocalDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opens the GPU for what works out answers, too; whole programs need none."""
    asked: list[bytes] = []
    ask = seat.Seat.ask

    def noted(self: seat.Seat, line: bytes, seconds: float) -> bytes:
        asked.append(line)
        return ask(self, line, seconds)

    monkeypatch.setattr(seat.Seat, "ask", noted)
    monkeypatch.setattr(interposer, "prepared", lambda _: None)
    gpu.expect([replace(job("a"), workload=replace(WORKLOAD, kind=Kind.PROGRAM))])
    gpu.facts()
    gpu.expect([job("a")])
    gpu.facts()
    assert [bool(json.loads(line).get("kernels")) for line in asked] == [False, True]


def test_machine_code_that_has_its_verdict_elsewhere_is_not_run(gpu: LocalDispatcher) -> None:
    gpu.elsewhere = lambda job, code: job.kernel.source == "same#1" and code == "same"
    verdict = gpu.dispatch([job("same#1")])[0]
    assert (verdict.status, verdict.machine_code) == (Status.NOT_RECORDED, "same")
    assert gpu.dispatch([job("same#2")])[0].status is Status.CORRECT
    assert gpu.dispatch([job("same#1")])[0].status is Status.CORRECT, "it is here now"


def test_equal_machine_code_is_not_run_on_two_gpus_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = [Path(__file__).parent]
    with LocalDispatcher(
        Words(), [0, 1], scratch=tmp_path, command=COMMAND, locked=False, readable=here
    ) as two:
        found = list(two.dispatch([job(f"same#{i}") for i in range(6)] + [job("other")]))
    assert len({process(verdict) for verdict in found[:6]}) == 1
    assert all(verdict.status is Status.CORRECT for verdict in found)


def test_gpus_with_nothing_to_do_are_made_ready_while_the_unedited_kernel_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: queue.Queue[tuple[int, str]] = queue.Queue()
    ask = seat.Seat.ask

    def noted(self: seat.Seat, line: bytes, seconds: float) -> bytes:
        asked.put((self.index, json.loads(line)["job"]["effort"]))
        return ask(self, line, seconds)

    monkeypatch.setattr(seat.Seat, "ask", noted)
    here = [Path(__file__).parent]
    with LocalDispatcher(
        Words(), [0, 1, 2], scratch=tmp_path, command=COMMAND, locked=False, readable=here
    ) as three:
        verdict = three.dispatch([job(BASE.source, Effort.RACE)])[0]
        seen = [asked.get(timeout=60) for _ in range(3)]
        assert verdict.status is Status.CORRECT
        assert {index for index, _ in seen} == {0, 1, 2}
        assert sorted(effort for _, effort in seen) == ["race", "screen", "screen"]
        list(three.dispatch([job(BASE.source, Effort.CONFIRM), job("a")]))
        more = [asked.get(timeout=60) for _ in range(2)]
        assert sorted(effort for _, effort in more) == ["confirm", "screen"]
    assert asked.empty()


def test_whole_programs_are_not_rehearsed_and_neither_are_candidates() -> None:
    base = job(BASE.source)
    assert rehearsable(base)
    assert not rehearsable(job("a"))
    assert not rehearsable(replace(base, workload=replace(WORKLOAD, kind=Kind.PROGRAM)))


def test_what_was_foreseen_goes_behind_what_was_chosen_and_a_rehearsal_last() -> None:
    def ticket(number: int, rank: Rank, code: str, *, done: bool = True) -> Compiled:
        built: Future[tuple[Built, Built]] = Future()
        if done:
            made = Built({"machine_code": code}, None)
            built.set_result((made, made))
        key = lambda _, made: (made.machine_code,)  # noqa: E731
        return Compiled(job(code), number, rank, built=built, key_of=key)

    waiting = [
        ticket(0, Rank.REHEARSAL, "r"),
        ticket(1, Rank.FORESEEN, "f"),
        ticket(2, Rank.CHOSEN, "slow", done=False),
        ticket(3, Rank.CHOSEN, "twin"),
        ticket(4, Rank.CHOSEN, "c"),
    ]
    order, running = [], {("twin",)}
    while (one := first(waiting, running)) is not None:
        order.append(one.number)
        waiting.remove(one)
    assert order == [4, 1, 0]
    assert first(waiting, set()) is waiting[-1]


def test_the_most_promising_one_is_waited_for_a_while() -> None:
    def ticket(number: int, leads: float, *, done: bool) -> Compiled:
        built: Future[tuple[Built, Built]] = Future()
        if done:
            made = Built({"machine_code": str(number)}, None)
            built.set_result((made, made))
        return Compiled(job("a"), number, leads=leads, built=built)

    waiting = [ticket(0, 0.0, done=True), ticket(1, 5.0, done=False), ticket(2, 0.0, done=True)]
    one = first(waiting, set(), now=1.0)
    assert one is waiting[0], "what comes before it waits for nothing"
    del waiting[0]
    assert first(waiting, set(), now=1.0) is None
    assert first(waiting, set(), now=6.0) is waiting[1]
    made = Built({"machine_code": "1"}, None)
    waiting[0].built.set_result((made, made))
    assert first(waiting, set(), now=1.0) is waiting[0]


def test_a_gpu_judges_the_first_of_a_searchs_candidates_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though others are compiled earlier; later batches go as they are compiled."""
    asked: list[str] = []
    ask = seat.Seat.ask

    def noted(self: seat.Seat, line: bytes, seconds: float) -> bytes:
        asked.append(json.loads(line)["job"]["kernel"]["source"])
        return ask(self, line, seconds)

    monkeypatch.setattr(seat.Seat, "ask", noted)
    monkeypatch.setattr(dispatch, "LEAD_SECONDS", 30.0)
    late = threading.Event()

    class Slow(Words):
        def build(self, kernel: Kernel, workload: Workload) -> Built:
            if kernel.source == "slow":
                late.wait(30)
            return super().build(kernel, workload)

    here = [Path(__file__).parent]
    with LocalDispatcher(
        Slow(), scratch=tmp_path, command=COMMAND, locked=False, readable=here
    ) as one:
        list(one.dispatch([job(BASE.source)]))
        verdicts = one.dispatch([job("slow"), job("b")])
        late.set()
        assert [v.status for v in verdicts] == [Status.CORRECT] * 2
    assert asked == [BASE.source, "slow", "b"]


def test_what_is_expected_is_compiled_before_it_is_asked_for(gpu: LocalDispatcher) -> None:
    words = gpu._builder
    assert isinstance(words, Words)
    assert gpu.expect([job("a")])
    gpu._eager.shutdown(wait=True)
    assert words.sources == ["a", BASE.source]


def test_a_worker_that_dies_is_the_candidates_crash_and_is_replaced(gpu: LocalDispatcher) -> None:
    before = process(gpu.dispatch([job("a")])[0])
    crashed, after = gpu.dispatch([job("die"), job("b")])
    assert crashed.status is Status.CRASHED
    assert "illegal memory access" in crashed.log
    assert process(after) != before


def test_a_spare_worker_is_started_behind_the_first_candidate(
    gpu: LocalDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, it would be in its way."""
    started: list[int] = []
    start = seat.Seat._start

    def counted(self: seat.Seat) -> Child:
        started.append(self.index)
        return start(self)

    monkeypatch.setattr(seat.Seat, "_start", counted)
    list(gpu.dispatch([job(BASE.source, Effort.RACE)]))
    assert len(started) == 1
    list(gpu.dispatch([job("a")]))
    assert len(started) == 2


def test_a_death_that_does_not_repeat_is_not_the_candidates(gpu: LocalDispatcher) -> None:
    assert gpu.dispatch([job("once")])[0].status is Status.CORRECT


def test_a_candidate_that_hangs_is_timed_out_and_the_next_one_runs(gpu: LocalDispatcher) -> None:
    hung, after = gpu.dispatch([job("hang"), job("b")])
    assert hung.status is Status.TIMED_OUT
    assert after.status is Status.CORRECT


def test_a_flood_of_output_is_a_crash(gpu: LocalDispatcher) -> None:
    assert gpu.dispatch([job("flood")])[0].status is Status.CRASHED


@pytest.mark.parametrize("lie", ["lie-nonce", "lie-digest", "lie-json", "lie-nan", "lie-times"])
def test_a_forged_answer_is_its_candidates_rejection(gpu: LocalDispatcher, lie: str) -> None:
    before = process(gpu.dispatch([job("a")])[0])
    verdict = gpu.dispatch([job(lie)])[0]
    assert verdict.status is Status.REJECTED
    assert verdict.measurement is None
    assert "refused" in verdict.log
    assert process(gpu.dispatch([job("b")])[0]) != before  # another process has taken over


def test_a_worker_that_retires_is_replaced_before_it_is_asked_again(
    gpu: LocalDispatcher,
) -> None:
    for name in ("retire a", "retire b"):
        assert gpu.dispatch([job(name)])[0].status is Status.CORRECT
        begun = time.monotonic()
        assert gpu.facts()["gpu"] == "Fake"
        assert time.monotonic() - begun < 5.0


def test_an_answer_made_up_ahead_is_not_taken_for_the_next_candidates(
    gpu: LocalDispatcher,
) -> None:
    assert gpu.dispatch([job("ahead")])[0].status is Status.CORRECT
    time.sleep(0.1)
    assert gpu.dispatch([job("b")])[0].status is Status.CORRECT


def test_an_error_of_the_worker_is_raised_as_ours(gpu: LocalDispatcher) -> None:
    with pytest.raises(BaselineError, match="it never worked"):
        gpu.dispatch([job("refuse")])[0]


def test_a_confirmation_gets_a_process_of_its_own(gpu: LocalDispatcher) -> None:
    warm = process(gpu.dispatch([job("a")])[0])
    assert process(gpu.dispatch([job("a", Effort.CONFIRM)])[0]) != warm


def test_a_programs_worker_stays_for_its_confirmation(
    gpu: LocalDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that runs of it are processes of their own, and it knows what the original does."""
    monkeypatch.setattr(interposer, "prepared", lambda _: None)
    screened = replace(job("a"), workload=replace(WORKLOAD, kind=Kind.PROGRAM))
    warm = process(gpu.dispatch([screened])[0])
    assert process(gpu.dispatch([replace(screened, effort=Effort.CONFIRM)])[0]) == warm


def test_counters_are_asked_of_the_kernels_that_take_a_programs_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all where that is not known, and within the time that is left."""
    monkeypatch.setattr(interposer, "prepared", lambda _: None)
    asked: list[tuple[object, float]] = []

    def noted(_: object, requests: list[object], *__: object, **more: Any) -> list[Profile]:
        asked.append((more["kernels"], more["seconds"]))
        return [Profile() for _ in requests]

    monkeypatch.setattr(dispatch, "profile_jobs", noted)
    here = [Path(__file__).parent]
    with LocalDispatcher(
        Words(), scratch=tmp_path, command=COMMAND, locked=False, readable=here,
        profiler=NcuProfiler("ncu"),
    ) as gpu:  # fmt: skip
        gpu._shares["a"] = {"small": 0.001, "force": 0.9, "step": 0.099}
        jobs = [replace(job(name, Effort.PROFILE), within=9.0) for name in ("a", "b")]
        gpu.dispatch(jobs)
        gpu.dispatch([job("a", Effort.PROFILE)])
    force = ("force", "step")
    assert asked == [([force, ()], 9.0), ([force], math.inf)]


def test_a_worker_may_read_the_workloads_folder(gpu: LocalDispatcher, tmp_path: Path) -> None:
    gpu.dispatch([job("a")])
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "ref.py").write_text("")
    asked = replace(job("read-root"), workload=replace(WORKLOAD, root=str(folder)))
    assert gpu.dispatch([asked])[0].status is Status.CORRECT


def test_the_devices_facts_are_asked_of_a_worker(gpu: LocalDispatcher) -> None:
    assert gpu.facts()["gpu"] == "Fake"


def test_a_gpu_is_timed_on_by_one_run_only(tmp_path: Path) -> None:
    with (
        LocalDispatcher(Words(), [61], scratch=tmp_path, command=COMMAND),
        pytest.raises(RunnerError, match="another optiml is timing on GPU 61"),
    ):
        LocalDispatcher(Words(), [61], scratch=tmp_path, command=COMMAND)


def test_without_a_driver_there_is_no_device() -> None:
    with pytest.raises(NoDeviceError, match="no NVIDIA driver") as raised:
        discover("no-such-nvidia-smi")
    assert "--replay" in raised.value.remedy


def test_gpus_are_read_from_the_drivers_table(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = (
        "0, NVIDIA H200, GPU-1, 580.1, 9.0, 143771\n1, NVIDIA A100, GPU-2, 580.1, 8.0, 40960\n"
    )

    def run(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 0, printed)

    monkeypatch.setattr(subprocess, "run", run)
    assert [(g.name, g.capability) for g in discover()] == [
        ("NVIDIA H200", 90),
        ("NVIDIA A100", 80),
    ]
    assert seat.START_SECONDS > 0


class Listed(Words):
    """Counts the instructions of `a` only when `b` has been asked for, and those of `c` never."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    def build(self, kernel: Kernel, workload: Workload) -> Built:
        built = super().build(kernel, workload)

        def listing() -> dict[str, int]:
            if kernel.source == "a" and not self.asked.wait(20):
                raise TimeoutError("the GPU waited")
            if kernel.source == "c":
                raise RunnerError("the disk is full")
            return {f"k/{kernel.source}": 1}

        return replace(built, listing=listing) if built.artifact else built


def test_a_gpu_does_not_wait_until_instructions_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict has them all the same; what goes wrong there is said where it is looked at."""
    words, ask = Listed(), seat.Seat.ask

    def noted(self: seat.Seat, line: bytes, seconds: float) -> bytes:
        if json.loads(line)["job"]["kernel"]["source"] == "b":
            words.asked.set()
        return ask(self, line, seconds)

    monkeypatch.setattr(seat.Seat, "ask", noted)
    here = [Path(__file__).parent]
    with LocalDispatcher(
        words, scratch=tmp_path, command=COMMAND, locked=False, readable=here
    ) as found:
        verdicts = found.dispatch([job("a"), job("b"), job("syntax"), job("c"), job("b#twin")])
        assert dict(verdicts[0].instructions) == {"k/a": 1}
        assert dict(verdicts[1].instructions) == {"k/b": 1}
        assert verdicts[2].status is Status.DOES_NOT_COMPILE
        with pytest.raises(RunnerError, match="disk is full"):
            verdicts[3].status  # noqa: B018 - looking raises
        assert verdicts[4].status is Status.CORRECT
