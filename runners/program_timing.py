"""Paired times of an original program and a candidate, from runs of both to a measurement."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runners.program_profile import FEW_SAMPLES, Profile
from runners.program_report import Report

# Half the width of the ratio's interval at which to stop.
HALF_WIDTH = 0.005
GRAPH = "graph"
# Repeated launches that come out this much slower than the launches in place do not stand for them.
ATYPICAL = 1.25


class Timed:
    """Paired times of one case, µs: a list of samples for each process pair."""

    def __init__(self, original: Profile) -> None:
        self.original = original
        self.pairs: list[tuple[list[float], list[float]]] = []
        self.shares: dict[str, list[float]] = {}
        self.in_situ: list[tuple[float, float]] = []
        self.memory = (0, 0)

    def add(self, theirs: Report, mine: Report) -> None:
        """Take a pair of runs; a kernel repeated in one only is timed where it stood in both."""
        self.memory = (
            max(self.memory[0], theirs.peak_bytes),
            max(self.memory[1], mine.peak_bytes),
        )
        a, b = _by_name(theirs), _by_name(mine)
        common = _common(a, b)
        before, after = _totals(a, common), _totals(b, common)
        count = min(len(before), len(after))
        self.pairs.append((before[:count], after[:count]))
        self.in_situ.append((sum(k.total for k in a.values()), sum(k.total for k in b.values())))
        for name, kernel in b.items():
            value = statistics.median(kernel.samples(common[name]))
            self.shares.setdefault(name, []).append(value)

    def entries(self, effort: str) -> tuple[list[float], list[float]]:
        """Return paired samples: of single launches for a screening, of whole runs otherwise."""
        runs = len(self.pairs)
        if effort == "screen" and sum(len(b) for b, _ in self.pairs) > runs:
            return (
                [x for before, _ in self.pairs for x in before],
                [x for _, after in self.pairs for x in after],
            )
        return (
            [statistics.median(before) for before, _ in self.pairs],
            [statistics.median(after) for _, after in self.pairs],
        )

    def settled(self, effort: str) -> bool:
        """Tell whether the ratio is known to half a per cent, or well enough for a screening."""
        before, after = self.entries(effort)
        if effort == "screen":
            return len(before) >= FEW_SAMPLES
        ratios = [x / y for x, y in zip(before, after, strict=True) if y > 0]
        if len(ratios) < 3:
            return False
        spread = statistics.stdev(ratios) / statistics.mean(ratios)
        return bool(2 * spread / len(ratios) ** 0.5 <= HALF_WIDTH)


Launched = tuple[int, int]  # which instance of a template, which of its launches


@dataclass(frozen=True, slots=True)
class _Kernel:
    """All instances of one kernel in one run: launches, µs where they stood, repeated launches."""

    count: int
    total: float
    repeated: Mapping[Launched, tuple[float, ...]]

    def samples(self, common: Sequence[Launched]) -> list[float]:
        """Return estimates of the kernel's whole time in µs, one for each repeat.

        `common` are the repeated launches to go by; with none, launches where they stood are all
        there is.
        """
        if not common:
            return [self.total]
        chosen = [self.repeated[launch] for launch in common]
        longest = max(len(r) for r in chosen)
        scale = self.count / len(chosen)
        return [
            scale * sum(r[i] if i < len(r) else statistics.median(r) for r in chosen)
            for i in range(longest)
        ]


def _by_name(report: Report) -> dict[str, _Kernel]:
    found: dict[str, _Kernel] = {}
    instances: dict[str, int] = {}
    for kernel in sorted(report.kernels, key=lambda k: k.symbol):
        old = found.get(kernel.name, _Kernel(0, 0.0, {}))
        number = instances[kernel.name] = instances.get(kernel.name, -1) + 1
        repeats = {(number, r.ordinal): r.samples_us for r in kernel.replays if r.samples_us}
        found[kernel.name] = _Kernel(
            old.count + kernel.count, old.total + kernel.total_us, {**old.repeated, **repeats}
        )
    if GRAPH in report.other_us:
        found[GRAPH] = _Kernel(1, report.other_us[GRAPH], {})
    return found


def _common(
    before: Mapping[str, _Kernel], after: Mapping[str, _Kernel]
) -> dict[str, tuple[Launched, ...]]:
    """Choose which repeated launches stand for each kernel: those that both runs repeated.

    When they would make the kernel slower than its launches were in place, which contain
    the gaps before them as well, they are not typical of it: none is chosen.
    """
    chosen: dict[str, tuple[Launched, ...]] = {}
    for name in {*before, *after}:
        runs = [run[name] for run in (before, after) if name in run]
        shared = set(runs[0].repeated).intersection(*(run.repeated for run in runs))
        launches = tuple(sorted(shared))
        for run in runs:
            if launches and statistics.median(run.samples(launches)) > ATYPICAL * run.total:
                launches = ()
        chosen[name] = launches
    return chosen


def _totals(
    kernels: Mapping[str, _Kernel], common: Mapping[str, tuple[Launched, ...]]
) -> list[float]:
    each = [kernel.samples(common[name]) for name, kernel in kernels.items()]
    longest = max((len(s) for s in each), default=1)
    return [sum(s[i] if i < len(s) else statistics.median(s) for s in each) for i in range(longest)]


def as_measurement(measured: Sequence[Timed], originals: Sequence[Profile]) -> dict[str, Any]:
    """Return a verdict's measurement: times of each case in µs, and each kernel's share."""
    cases = []
    shares: dict[str, float] = {}
    for timed in measured:
        # The effort decides only whether repeats of one run count as samples of their own.
        before, after = timed.entries("screen" if len(timed.pairs) < 4 else "race")
        cases.append(
            {
                "name": timed.original.name,
                "candidate_us": after,
                "baseline_us": before,
                "weight": 1.0,
            }
        )
        for name, values in timed.shares.items():
            shares[name] = shares.get(name, 0.0) + statistics.median(values)
    total = sum(shares.values()) or 1.0
    memory = [timed.memory for timed in measured]
    notes = [note for original in originals for note in original.notes]
    for timed in measured:
        before, after = (statistics.median(v) for v in zip(*timed.in_situ, strict=True))
        notes.append(
            f"{timed.original.name}: kernels where they stood took {before:.1f} µs in the "
            f"original and {after:.1f} µs in the candidate"
        )
    return {
        "cases": cases,
        "device": "",
        "kernels": {name: value / total for name, value in shares.items()},
        "clock_mhz": None,
        "energy": None,
        "peak_memory_bytes": max(mine for _, mine in memory),
        "baseline_memory_bytes": max(theirs for theirs, _ in memory),
        "temperature_c": None,
        "dropped": 0,
        "notes": notes,
    }
