"""What detectors read of a verdict."""

from __future__ import annotations

import pytest

from optimizer import counters
from optimizer.evidence import evidence, gain, severity
from optimizer.model import CaseTimes, Measurement, Resources, Status, Verdict
from tests.optimizer.detectors.recorded import KERNEL, verdict


def test_kernels_are_told_apart_even_when_one_name_begins_like_another() -> None:
    seen = Verdict(
        Status.CORRECT,
        counters={"sum/a": 1.0, "sum2/a": 2.0},
        instructions={"sum/FFMA": 3, "sum2/FFMA": 4},
        lines={"sum:7/stall": 0.5, "sum2:9/stall": 0.6},
        resources={"sum": Resources(registers=8)},
    )
    one, two = sorted(evidence(seen), key=lambda e: e.name)
    assert (one.of("a"), two.of("a")) == (1.0, 2.0)
    assert (one.count("FFMA"), two.count("FFMA")) == (3, 4)
    assert (one.hottest(), two.hottest()) == (7, 9)
    assert two.resources is None


def test_kernels_come_by_their_share_of_the_time() -> None:
    times = Measurement((CaseTimes("c", (1.0,), (1.0,)),), "gpu", kernels={"b": 0.7, "a": 0.3})
    found = evidence(Verdict(Status.CORRECT, times, resources={"a": Resources(), "b": Resources()}))
    assert [(e.name, e.share) for e in found] == [("b", 0.7), ("a", 0.3)]


def test_stall_shares_add_up_to_one() -> None:
    (seen,) = evidence(verdict("saxpy"))
    assert seen.stall(*counters.STALL_REASONS) == pytest.approx(1.0)
    (blind,) = evidence(verdict("saxpy", counters=False))
    assert blind.stall("long_scoreboard") == 0.0


def test_opcodes_are_counted_by_their_first_word_and_parts() -> None:
    known = {"k/LDG.E.128": 2, "k/LDG.E.U8.CONSTANT": 3, "k/LDGSTS.E": 5}
    (seen,) = evidence(Verdict(Status.CORRECT, instructions=known))
    assert seen.count("LDG") == 5
    assert seen.count("LDG", part="128") == 2
    assert seen.count("LDG", part="12") == 0
    assert seen.instruction_count == 10


def test_a_line_falls_back_from_a_reason_to_all_samples_to_the_definition() -> None:
    (seen,) = evidence(verdict("saxpy"))
    assert seen.line(KERNEL, "long_scoreboard") == seen.line(KERNEL, "no such reason") == 69
    (blind,) = evidence(verdict("saxpy", counters=False))
    assert blind.line(KERNEL) == 67


def test_gains_follow_amdahl_and_are_bounded() -> None:
    assert gain(0.5) == 2.0
    assert gain(-1.0) == 1.0
    assert gain(2.0) == 8.0
    assert gain(0.9, 3.0) == 3.0
    assert [severity(x).value for x in (1.0, 1.2, 2.0)] == ["info", "warning", "critical"]
