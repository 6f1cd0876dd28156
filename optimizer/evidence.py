"""What a verdict says about one `__global__` function, in the units detectors think in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from optimizer import counters
from optimizer.bound import Bound
from optimizer.functions import Function
from optimizer.model import Finding, Kernel, Resources, Severity, Verdict
from optimizer.source import Source

# More than this is never promised: what lies behind a bottleneck is the next one.
MOST_GAIN = 8.0
_EVERY = frozenset(Bound)
Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counters, resources, SASS opcodes and line shares of one kernel; `share` of device time.

    Absent counters read as 0 through `fraction` and `of`; ask `profiled` first, or `has`.
    """

    name: str
    counters: Mapping[str, float]
    instructions: Mapping[str, int]
    lines: Mapping[str, float]
    resources: Resources | None = None
    share: float = 1.0

    @property
    def profiled(self) -> bool:
        """Return whether ncu saw this kernel."""
        return counters.TIME_NS in self.counters

    def has(self, *metrics: str) -> bool:
        """Return whether all of some counters are known."""
        return all(metric in self.counters for metric in metrics)

    def of(self, metric: str) -> float:
        """Return a counter, 0 where it is unknown."""
        return self.counters.get(metric, 0.0)

    def fraction(self, metric: str) -> float:
        """Return a percentage as 0..1, 0 where it is unknown."""
        return self.of(metric) / 100.0

    def stall(self, *reasons: str) -> float:
        """Return the share of the warps' resident time spent in some states, 0..1."""
        total = sum(self.of(counters.stall(reason)) for reason in counters.STALL_REASONS)
        wanted = sum(self.of(counters.stall(reason)) for reason in reasons)
        return wanted / total if total else 0.0

    @property
    def memory_stall(self) -> float:
        """Return the share of warps' time that waits for global or local memory."""
        return self.stall("long_scoreboard", "lg_throttle", "drain")

    @property
    def memory_busy(self) -> float:
        """Return how busy the busiest of DRAM, L2 and L1 is, 0..1."""
        metrics = (counters.DRAM_PCT, counters.L2_PCT, counters.L1_PCT)
        return max(self.fraction(metric) for metric in metrics)

    @property
    def issuing(self) -> float:
        """Return the share of all cycles in which a scheduler issues, 0..1."""
        return self.fraction(counters.ISSUE_ELAPSED_PCT)

    @property
    def microseconds(self) -> float:
        """Return a launch's time in µs under ncu."""
        return self.of(counters.TIME_NS) / 1e3

    @property
    def dram_bytes(self) -> float:
        """Return bytes read from and written to DRAM by a launch."""
        return self.of(counters.DRAM_READ_BYTES) + self.of(counters.DRAM_WRITE_BYTES)

    @property
    def sector_excess(self) -> float:
        """Return global sectors moved over those an ideal pattern moves; 1 when unknown."""
        ideal = self.of(counters.GLOBAL_SECTORS_IDEAL)
        return self.of(counters.GLOBAL_SECTORS) / ideal if ideal else 1.0

    def count(self, *opcodes: str, part: str = "") -> int:
        """Count static SASS instructions by their first word: `count("LDG", part="128")`.

        An opcode matches as a whole or up to a dot; `part` must be one of its dotted parts.
        """
        return sum(
            n
            for opcode, n in self.instructions.items()
            if opcode.partition(".")[0] in opcodes and (not part or part in opcode.split("."))
        )

    @property
    def instruction_count(self) -> int:
        """Return the number of static SASS instructions."""
        return sum(self.instructions.values())

    def hottest(self, what: str = "stall") -> int | None:
        """Return the line with the largest share of something, None where lines are unknown."""
        found = {at: v for at, v in self.lines.items() if at.partition("/")[2] == what}
        best = max(found, key=lambda at: found[at], default="")
        line = best.partition("/")[0]
        return int(line) if line.isdigit() else None

    def function(self, kernel: Kernel) -> Function | None:
        """Return the kernel's definition in the file under edit, None when it is not there."""
        found = Source(kernel.source).function(self.name)
        return found if found is not None and found.is_kernel else None

    def line(self, kernel: Kernel, what: str = "stall") -> int | None:
        """Return the hottest line, or the one of the kernel's definition."""
        hottest = self.hottest(what) or self.hottest()
        if hottest is not None:
            return hottest
        function = self.function(kernel)
        return function.line if function is not None else None


def evidence(verdict: Verdict) -> tuple[Evidence, ...]:
    """Return what a verdict knows, one entry a kernel, those with most device time first."""
    names: dict[str, None] = dict.fromkeys(verdict.resources)
    for key in (*verdict.counters, *verdict.instructions):
        names.setdefault(key.partition("/")[0])
    shares = verdict.measurement.kernels if verdict.measurement is not None else {}
    found = [
        Evidence(
            name,
            _under(verdict.counters, name + "/"),
            _under(verdict.instructions, name + "/"),
            _under(verdict.lines, name + ":"),
            verdict.resources.get(name),
            shares.get(name, 0.0 if shares else 1.0),
        )
        for name in names
    ]
    return tuple(sorted(found, key=lambda e: -e.share))


def _under(values: Mapping[str, Number], prefix: str) -> dict[str, Number]:
    return {k.removeprefix(prefix): v for k, v in values.items() if k.startswith(prefix)}


def gain(avoidable: float, most: float = MOST_GAIN) -> float:
    """Return the speedup when a share of the time goes away (Amdahl), at most `most`.

    >>> gain(0.5), gain(0.0), gain(1.0)
    (2.0, 1.0, 8.0)
    """
    kept = max(1.0 - max(avoidable, 0.0), 1.0 / MOST_GAIN)
    return min(1.0 / kept, most, MOST_GAIN)


def severity(expected: float) -> Severity:
    """Return how much an expected gain matters: over 1.5× is critical, over 1.1× a warning."""
    if expected >= 1.5:
        return Severity.CRITICAL
    return Severity.WARNING if expected >= 1.1 else Severity.INFO


Look = Callable[[Evidence, Kernel], Iterable[Finding]]
Before = Callable[[Kernel], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class MicroProfiler:
    """A detector: looks at every kernel of a verdict; fulfils `optimizer.interfaces.Detector`.

    `bounds` are the classes of kernels for which stage 1 of the diagnosis runs it. `before` looks
    at a file that has not run yet.
    """

    name: str
    look: Look | None
    bounds: frozenset[Bound] = field(default=_EVERY)
    before: Before | None = None

    def __call__(self, kernel: Kernel, verdict: Verdict | None) -> Iterator[Finding]:
        """Yield findings about every kernel the verdict knows."""
        if verdict is None:
            if self.before is not None:
                yield from (replace(f, detector=self.name) for f in self.before(kernel))
            return
        for seen in evidence(verdict):
            yield from self.about(seen, kernel)

    def about(self, seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
        """Yield findings about one kernel."""
        if self.look is not None:
            for found in self.look(seen, kernel):
                yield replace(found, detector=self.name, subject=seen.name)


def detector(name: str, *bounds: Bound) -> Callable[[Look], MicroProfiler]:
    """Make a detector of a function that looks at one kernel; of all classes when none is named.

    >>> @detector("big-registers")
    ... def big_registers(seen, kernel):
    ...     if seen.resources is not None and seen.resources.registers > 200:
    ...         yield Finding("", f"{seen.name} uses {seen.resources.registers} registers")
    """

    def made(look: Look) -> MicroProfiler:
        return MicroProfiler(name, look, frozenset(bounds) or _EVERY)

    return made
