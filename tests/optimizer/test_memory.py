"""What earlier searches learned."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.errors import ConfigError
from optimizer.memory import STRONGEST, Lesson, SearchMemory, bottleneck, lessons, remember
from optimizer.model import (
    CaseTimes,
    Edit,
    Environment,
    Finding,
    Kernel,
    Kind,
    Measurement,
    Severity,
    Status,
    Step,
    Trajectory,
    Verdict,
    Workload,
)


def good(n: int, day: float = 100.0, gpu: str = "H200", where: str = "dram") -> list[Lesson]:
    return [Lesson("vectorize", where, gpu, math.log(1.5), day)] * n


def factor(found: list[Lesson], today: float = 100.0) -> float:
    return SearchMemory(found, "H200", today).factor("vectorize", "dram")


def test_what_paid_is_raised_and_what_failed_is_lowered_within_bounds() -> None:
    failed = [Lesson("vectorize", "dram", "H200", None, 100.0)] * 50
    assert 1.0 < factor(good(1)) < factor(good(50)) <= STRONGEST
    assert 1.0 / STRONGEST <= factor(failed) < 1.0
    assert factor([]) == 1.0


def test_age_another_gpu_and_another_bottleneck_count_for_less() -> None:
    fresh = factor(good(3))
    assert 1.0 < factor(good(3, day=-265.0)) < fresh
    assert 1.0 < factor(good(3, gpu="A100")) < fresh
    assert 1.0 < factor(good(3, where="compute")) < fresh


def test_other_kinds_learn_nothing() -> None:
    assert SearchMemory(good(9), "H200", 100.0).factor("unroll", "dram") == 1.0


def test_lessons_are_kept_in_the_users_file_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "memory.jsonl"
    remember(file, good(2))
    remember(file, [Lesson("unroll", "", "H200", None, 3.0)])
    memory = SearchMemory.load(file, "H200", 100.0)
    assert len(memory.lessons) == 3
    assert memory.lessons[2] == Lesson("unroll", "", "H200", None, 3.0)
    assert memory.factor("vectorize", "dram") == pytest.approx(factor(good(2)), abs=1e-4)


def test_a_missing_file_is_an_empty_memory(tmp_path: Path) -> None:
    assert SearchMemory.load(tmp_path / "none.jsonl").factor("a", "b") == 1.0


def test_a_file_that_cannot_be_used_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="search memory"):
        SearchMemory.load(tmp_path)
    with pytest.raises(ConfigError, match="search memory"):
        remember(tmp_path, good(1))


def test_lines_that_are_no_lessons_are_skipped_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    remember(file, good(1))
    with file.open("a") as out:
        out.write('torn {"kind": "vec\n[1]\n{"kind":1,"bottleneck":"","gpu":"","gain":1,"day":1}\n')
        out.write('{"kind":"k","bottleneck":"","gpu":"","gain":"x","day":1}\n')
    memory = SearchMemory.load(file)
    assert len(memory.lessons) == 1
    assert "4 lines skipped" in memory.notes[0]


@given(st.binary(max_size=300))
def test_no_bytes_in_the_file_break_it(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    file = tmp_path_factory.mktemp("memory") / "m.jsonl"
    file.write_bytes(raw)
    found = SearchMemory.load(file).factor("vectorize", "dram")
    assert 1.0 / STRONGEST <= found <= STRONGEST


def test_a_trajectory_teaches_the_gain_over_the_parent() -> None:
    def step(number: int, parent: int | None, ratio: float | None, status: Status) -> Step:
        times = (
            None
            if ratio is None
            else Measurement((CaseTimes("a", (1.0,) * 3, (ratio,) * 3),), "H200")
        )
        edit = Edit("t", "s", "rule:x", kind=f"kind-{number}") if number else None
        found = (Finding("dram-saturated", "m", severity=Severity.CRITICAL),)
        return Step(number, parent, edit, Kernel("k", ""), Verdict(status, times), findings=found)

    steps = (
        step(0, None, 1.0, Status.CORRECT),
        step(1, 0, 2.0, Status.CORRECT),
        step(2, 1, 3.0, Status.CORRECT),
        step(3, 1, None, Status.WRONG_RESULT),
        step(4, 1, None, Status.NOT_RECORDED),
        step(5, 1, None, Status.REJECTED),
    )
    workload = Workload("w", Kind.KERNEL)
    found = list(lessons(Trajectory(workload, Environment(gpu="H200"), steps), 9.0))
    assert [lesson.kind for lesson in found] == ["kind-1", "kind-2", "kind-3"]
    assert found[1].gain == pytest.approx(math.log(1.5))
    assert found[2].gain is None
    assert {lesson.bottleneck for lesson in found} == {"dram-saturated"}


def test_the_costliest_finding_names_the_bottleneck() -> None:
    mild = Finding("a", "m", severity=Severity.INFO, expected=9.0)
    bad = Finding("b", "m", severity=Severity.CRITICAL, expected=1.1)
    assert bottleneck([mild, bad]) == "b"
    assert bottleneck([]) == ""
