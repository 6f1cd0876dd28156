"""Where a kernel lies under the roofs measured on its device.

Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009. Operations are counted by ncu's
per-thread instruction counters (an FMA is two), bytes at DRAM.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot import wording
from bot.outcome import totals
from optimizer.bottleneck import classify
from optimizer.model import Trajectory, Verdict

_OPERATIONS = {"add": 1.0, "mul": 1.0, "fma": 2.0}
_INSTRUCTIONS = re.compile(r"smsp?__sass_thread_inst_executed_op_([fdh])(add|mul|fma)_pred_on\.sum")
_PRECISIONS = {"f": "fp32_tflops", "d": "fp64_tflops", "h": "fp16_tflops"}


@dataclass(frozen=True, slots=True)
class Roof:
    """A limit: bytes a second (a slope) or operations a second (flat)."""

    name: str
    rate: float
    is_slope: bool


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel's operations per DRAM byte, operations a second, and share (0..1) of its roof."""

    name: str
    intensity: float
    rate: float
    share: float | None = None
    is_best: bool = False

    @property
    def words(self) -> str:
        """Say where it lies."""
        return (
            f"{wording.significant(self.intensity)} operations per byte, "
            f"{wording.amount(self.rate)} operations a second"
        )


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a launch moves and computes: DRAM bytes, operations by precision, seconds."""

    bytes: float
    operations: Mapping[str, float]
    seconds: float


def roofs(trajectory: Trajectory) -> tuple[Roof, ...]:
    """Return the roofs that bear on this kernel, from peaks measured on the device."""
    peaks = trajectory.environment.peaks
    found = []
    for key, name in (("dram_gbs", "DRAM"), ("l2_gbs", "L2")):
        if peaks.get(key):
            words = f"{name} {wording.amount(peaks[key] * 1e9, 'bytes')}/s"
            found.append(Roof(words, peaks[key] * 1e9, is_slope=True))
    used = {_precision(traffic(step.verdict)) for step in (trajectory.baseline, trajectory.best)}
    for key in sorted(one for one in used if one):
        peak = peaks.get(_PRECISIONS[key])
        if peak:
            words = f"{_PRECISIONS[key].split('_')[0].upper()} {wording.significant(peak)} Tflop/s"
            found.append(Roof(words, peak * 1e12, is_slope=False))
    return tuple(found)


def points(trajectory: Trajectory) -> tuple[Point, ...]:
    """Return the original and the best candidate; empty when their counters are not known."""
    found = []
    for step, name in ((trajectory.baseline, "original"), (trajectory.best, "best")):
        moved = traffic(step.verdict)
        if moved is None or (step.number == 0 and name == "best"):
            continue
        operations = sum(moved.operations.values())
        if operations and moved.bytes:
            peaks = trajectory.environment.peaks
            share = classify(step.verdict, peaks).share or share_of_roof(moved, peaks)
            found.append(
                Point(
                    name,
                    operations / moved.bytes,
                    operations / moved.seconds,
                    share,
                    is_best=name == "best",
                )
            )
    return tuple(found)


def share_of_roof(moved: Traffic, peaks: Mapping[str, float]) -> float | None:
    """Return the least time the device needs for these bytes and operations over the time taken."""
    floors = []
    if peaks.get("dram_gbs"):
        floors.append(moved.bytes / (peaks["dram_gbs"] * 1e9))
    for key, operations in moved.operations.items():
        if peaks.get(_PRECISIONS[key]):
            floors.append(operations / (peaks[_PRECISIONS[key]] * 1e12))
    return max(floors) / moved.seconds if floors else None


def bandwidth(trajectory: Trajectory) -> list[tuple[str, float, float]]:
    """Return name, bytes a second at DRAM and share of the measured peak, original then best."""
    peak = trajectory.environment.peaks.get("dram_gbs", 0.0) * 1e9
    found = []
    for step, name in ((trajectory.baseline, "original"), (trajectory.best, "best")):
        moved = traffic(step.verdict)
        if moved and peak and not (name == "best" and step.number == 0):
            rate = moved.bytes / moved.seconds
            found.append((name, rate, rate / peak))
    return found


def bounds(trajectory: Trajectory) -> list[tuple[str, str]]:
    """Say what bounds the original and the best candidate, where counters tell."""
    found = []
    for step, name in ((trajectory.baseline, "original"), (trajectory.best, "best")):
        bound = classify(step.verdict, trajectory.environment.peaks)
        if bound.confidence and step.verdict.counters and (name, step.number) != ("best", 0):
            found.append((name, bound.words))
    return found


def traffic(verdict: Verdict) -> Traffic | None:
    """Read bytes, operations and time of the profiled launches; None without counters."""
    counted = totals(verdict)
    moved = counted.get("dram__bytes.sum") or (
        counted.get("dram__bytes_read.sum", 0.0) + counted.get("dram__bytes_write.sum", 0.0)
    )
    nanoseconds = counted.get("gpu__time_duration.sum", 0.0)
    seconds = nanoseconds * 1e-9 or _largest_case_us(verdict) * 1e-6
    if not moved or not seconds:
        return None
    operations: dict[str, float] = {}
    for metric, value in counted.items():
        match = _INSTRUCTIONS.fullmatch(metric)
        if match:
            operations[match[1]] = operations.get(match[1], 0.0) + value * _OPERATIONS[match[2]]
    return Traffic(moved, {key: value for key, value in operations.items() if value}, seconds)


def _precision(moved: Traffic | None) -> str:
    if moved is None or not moved.operations:
        return ""
    return max(moved.operations, key=lambda key: moved.operations[key])


def _largest_case_us(verdict: Verdict) -> float:
    cases = verdict.measurement.cases if verdict.measurement else ()
    medians = [
        sorted(case.candidate_us)[len(case.candidate_us) // 2]
        for case in cases
        if case.candidate_us
    ]
    return max(medians, default=0.0)
