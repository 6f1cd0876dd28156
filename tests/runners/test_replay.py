"""Recordings: what was measured is answered, what was not is not."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.errors import ConfigError
from optimizer.model import (
    CaseTimes,
    Effort,
    Kernel,
    Kind,
    Measurement,
    Status,
    Verdict,
    Workload,
)  # fmt: skip
from optimizer.prompting import compiler_words
from optimizer.synthesis.line import complaint
from runners.evaluator import DispatchedEvaluator
from runners.interfaces import Job
from runners.replay import RecordingDispatcher, RecordingHeader, ReplayDispatcher

WORKLOAD = Workload("w", Kind.KERNEL, "k", root="here")
BASE = Kernel("k", "base")
HEADER = RecordingHeader("NVIDIA H200", "580.1", "13.0", "2026-11-21", "0.1.0", {"sms": 132.0})


class Timed:
    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        times = CaseTimes("n=1", (1.23456789,), (2.0,))
        return [Verdict(Status.CORRECT, Measurement((times,), "H200")) for _ in jobs]


def job(source: str) -> Job:
    return Job(Kernel("k", source), BASE, WORKLOAD)


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_a_recorded_verdict_is_given_again(tmp_path: Path, name: str) -> None:
    with RecordingDispatcher(Timed(), tmp_path / name, HEADER) as recorder:
        assert len(list(recorder.dispatch([job("a"), job("b")]))) == 2
    replay = ReplayDispatcher(tmp_path / name)
    (verdict,) = replay.dispatch([job("b")])
    assert verdict.measurement is not None
    assert verdict.measurement.cases[0].candidate_us == (1.235,)
    assert replay.header == HEADER
    assert replay.header.words == "recorded on NVIDIA H200, 2026-11-21"


def test_what_is_begun_ahead_is_passed_on_and_not_written_down(tmp_path: Path) -> None:
    class Eager(Timed):
        expected: tuple[str, ...] = ()

        def expect(self, jobs: Sequence[Job]) -> bool:
            self.expected += tuple(job.kernel.source for job in jobs)
            return True

    machine = Eager()
    with RecordingDispatcher(machine, tmp_path / "r.jsonl", HEADER) as recorder:
        assert DispatchedEvaluator(recorder, BASE).expect([Kernel("k", "base")], WORKLOAD)
    assert machine.expected == ("base",)
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 1
    with RecordingDispatcher(Timed(), tmp_path / "r.jsonl", HEADER) as recorder:
        assert not DispatchedEvaluator(recorder, BASE).expect([Kernel("k", "base")], WORKLOAD)
    assert not DispatchedEvaluator(Timed(), BASE).expect([BASE], WORKLOAD)


def test_what_may_not_run_is_not_begun_either() -> None:
    class Eager(Timed):
        def expect(self, jobs: Sequence[Job]) -> bool:
            assert [job.kernel.source for job in jobs] == ["base"]
            return True

    evaluator = DispatchedEvaluator(Eager(), BASE, boundary=lambda *_, **__: ["outside"])
    assert evaluator.expect([BASE, Kernel("k", "else")], WORKLOAD)


@pytest.mark.parametrize("beyond", ["", "k.cu(9): error: told to nobody\n" * 500])
def test_why_a_candidate_failed_is_kept_as_far_as_a_model_is_told_of_it(
    tmp_path: Path, beyond: str
) -> None:
    log = "".join(f"k.cu({n}): error: no {n}{' of these' * 9}\n" for n in range(30)) + beyond
    failed = Verdict(Status.DOES_NOT_COMPILE, log=log)

    class Failing:
        def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
            return [failed for _ in jobs]

    with RecordingDispatcher(Failing(), tmp_path / "r.jsonl", HEADER) as recorder:
        recorder.dispatch([job("a")])
    (again,) = ReplayDispatcher(tmp_path / "r.jsonl").dispatch([job("a")])
    assert len(compiler_words(failed.log)) > 1_500
    assert compiler_words(again.log) == compiler_words(failed.log)
    assert complaint(again) == complaint(failed)


def test_a_search_that_is_recorded_sees_what_its_replay_will(tmp_path: Path) -> None:
    jobs = [job(source) for source in "abc"]
    with RecordingDispatcher(Timed(), tmp_path / "r.jsonl", HEADER) as recorder:
        seen = [*recorder.dispatch(jobs), *recorder.dispatch([job("d")])]
    replay = ReplayDispatcher(tmp_path / "r.jsonl")
    assert seen == [*replay.dispatch(jobs), *replay.dispatch([job("d")])]


def test_a_verdict_that_no_recording_can_hold_ends_no_search(tmp_path: Path) -> None:
    odd = Verdict(Status.CORRECT, counters={"k/odd": float("nan")})

    class Odd:
        def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
            return [odd for _ in jobs]

    with RecordingDispatcher(Odd(), tmp_path / "r.jsonl", HEADER) as recorder:
        assert recorder.dispatch([job("a")])[0] is odd


def test_what_was_not_recorded_is_not_invented(tmp_path: Path) -> None:
    with RecordingDispatcher(Timed(), tmp_path / "r.jsonl", HEADER) as recorder:
        recorder.dispatch([job("a")])
    replay = ReplayDispatcher(tmp_path / "r.jsonl")
    other = [
        job("c"),
        replace(job("a"), effort=Effort.CONFIRM),
        replace(job("a"), baseline=Kernel("k", "other")),
        replace(job("a"), workload=replace(WORKLOAD, warm=True)),
    ]
    assert {v.status for v in replay.dispatch(other)} == {Status.NOT_RECORDED}
    assert replay.missing == 4


def test_a_recording_serves_any_seed_and_any_directory(tmp_path: Path) -> None:
    with RecordingDispatcher(Timed(), tmp_path / "r.jsonl", HEADER) as recorder:
        recorder.dispatch([job("a")])
    moved = replace(job("a"), seed=7, workload=replace(WORKLOAD, root="elsewhere"))
    (verdict,) = ReplayDispatcher(tmp_path / "r.jsonl").dispatch([moved])
    assert verdict.status is Status.CORRECT


def test_an_interrupted_recording_can_be_read_up_to_there(tmp_path: Path) -> None:
    recorder = RecordingDispatcher(Timed(), tmp_path / "r.jsonl", HEADER)
    recorder.dispatch([job("a")])
    (verdict,) = ReplayDispatcher(tmp_path / "r.jsonl").dispatch([job("a")])
    recorder.close()
    assert verdict.status is Status.CORRECT


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_what_a_killed_run_left_is_read_as_far_as_it_goes(tmp_path: Path, name: str) -> None:
    jobs = [job(f"{n:064}") for n in range(40)]
    with RecordingDispatcher(Timed(), tmp_path / name, HEADER) as recorder:
        whole = list(recorder.dispatch(jobs))
    data = (tmp_path / name).read_bytes()
    read = set()
    for size in range(len(data) // 2, len(data) + 1, max(1, len(data) // 60)):
        (tmp_path / name).write_bytes(data[:size])
        found = list(ReplayDispatcher(tmp_path / name).dispatch(jobs))
        count = sum(verdict.status is Status.CORRECT for verdict in found)
        assert found[:count] == whole[:count]
        read.add(count)
    assert len(read) > 5
    assert max(read) >= len(jobs) - 1


@pytest.mark.parametrize("change", [b"", b"\x1f\x8b", bytes(90)])
def test_a_damaged_compressed_recording_is_refused(tmp_path: Path, change: bytes) -> None:
    with RecordingDispatcher(Timed(), tmp_path / "r.jsonl.gz", HEADER) as recorder:
        recorder.dispatch([job("a")])
    data = (tmp_path / "r.jsonl.gz").read_bytes()
    (tmp_path / "r.jsonl.gz").write_bytes(data[: len(change)] + change if change else b"")
    with pytest.raises(ConfigError, match="is not a recording"):
        ReplayDispatcher(tmp_path / "r.jsonl.gz")


@given(st.binary(max_size=300))
def test_any_other_file_is_refused_with_a_remedy(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("r") / "r.jsonl"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match="is not a recording"):
        ReplayDispatcher(path)


def test_a_recording_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runners.replay.MAX_BYTES", 1 << 20)
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(b" " * (2 << 20))
    with pytest.raises(ConfigError, match="unpacks to more than"):
        ReplayDispatcher(path)
