"""What earlier searches learned, kept as JSON lines in a file the user owns.

One line is one edit that was tried: its kind, the bottleneck it was tried on, the GPU, the log
speedup over the candidate it was made from (absent when it failed) and the day. It becomes a factor
on a prior, never more than `STRONGEST`, and any measurement of the running search outweighs it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeGuard

from optimizer.errors import ConfigError
from optimizer.model import Status
from optimizer.significance import speedup

if TYPE_CHECKING:
    from pathlib import Path

    from optimizer.model import Finding, Trajectory

# A year-old lesson counts a sixteenth: compilers and drivers change about that fast.
HALF_LIFE_DAYS = 90.0
# Lessons from another bottleneck or another GPU count for less, but not for nothing.
OTHER_BOTTLENECK = 0.3
OTHER_GPU = 0.5
# Imaginary tries without gain, so that a single lucky edit says little.
PSEUDO_TRIES = 3.0
# A mean gain of this log speedup (1.2x) earns half of what can be earned.
TYPICAL_GAIN = math.log(1.2)
# KernelPro found memory worth 1.82 against 1.72, not significant: a nudge, not a rule.
STRONGEST = 2.0
# Lines read, the newest last: about 100 searches of 80 evaluations, 1.5 MB.
MOST_LESSONS = 10_000
LONGEST_LINE = 2_000
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Lesson:
    """One edit tried in an earlier search; `gain` is None when it failed, `day` since 1970."""

    kind: str
    bottleneck: str
    gpu: str
    gain: float | None
    day: float


@dataclass(slots=True)
class SearchMemory:
    """Lessons as factors on priors. `today` (days since 1970) is given, not read from a clock."""

    lessons: Sequence[Lesson]
    gpu: str = ""
    today: float = 0.0
    notes: tuple[str, ...] = ()
    _known: dict[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path, gpu: str = "", today: float = 0.0) -> SearchMemory:
        """Read a memory file; one that is not there is empty, a line that is none is skipped."""
        try:
            text = path.read_text("utf-8", errors="replace")
        except FileNotFoundError:
            return cls((), gpu, today)
        except OSError as error:
            raise ConfigError(
                f"search memory {path}: {error.strerror}",
                "name a file you can read, or switch it off",
            ) from error
        return cls.read(text, str(path), gpu, today)

    @classmethod
    def read(cls, text: str, where: str, gpu: str = "", today: float = 0.0) -> SearchMemory:
        """Read a memory's text, which anybody may have written; `where` is for the notes."""
        lines = text.splitlines()[-MOST_LESSONS:]
        lessons = [lesson for line in lines if (lesson := _parsed(line)) is not None]
        skipped = sum(1 for line in lines if line.strip()) - len(lessons)
        notes = (f"search memory {where}: {skipped} lines skipped",) if skipped else ()
        return cls(lessons, gpu, today, notes)

    def factor(self, kind: str, bottleneck: str) -> float:
        """Return what to multiply the prior of an edit kind by, 1/`STRONGEST` to `STRONGEST`."""
        key = (kind, bottleneck)
        if key not in self._known:
            self._known[key] = self._factor(kind, bottleneck)
        return self._known[key]

    def _factor(self, kind: str, bottleneck: str) -> float:
        weight = gain = 0.0
        for lesson in self.lessons:
            if lesson.kind != kind:
                continue
            counts = 0.5 ** (max(0.0, self.today - lesson.day) / HALF_LIFE_DAYS)
            counts *= 1.0 if lesson.bottleneck == bottleneck else OTHER_BOTTLENECK
            counts *= 1.0 if lesson.gpu == self.gpu else OTHER_GPU
            weight += counts
            # A failure cost an evaluation: as much worse than nothing as a typical gain is better.
            gain += counts * (-TYPICAL_GAIN if lesson.gain is None else lesson.gain)
        mean = gain / (weight + PSEUDO_TRIES)
        return float(STRONGEST ** math.tanh(mean / TYPICAL_GAIN))


def lessons(trajectory: Trajectory, day: float) -> Iterator[Lesson]:
    """Yield what a finished search teaches; edits that were never run teach nothing."""
    gpu = trajectory.environment.gpu
    for step in trajectory.steps[1:]:
        verdict = step.verdict
        if step.edit is None or step.parent is None or not step.edit.kind:
            continue
        if verdict.status in (Status.REJECTED, Status.NOT_RECORDED):
            continue
        parent = trajectory.steps[step.parent]
        now, before = speedup(verdict.measurement), speedup(parent.verdict.measurement)
        worked = verdict.status is Status.CORRECT and now and before
        gain = math.log(now / before) if worked and now and before else None
        yield Lesson(step.edit.kind, bottleneck(parent.findings), gpu, gain, day)


def remember(path: Path, found: Iterable[Lesson]) -> None:
    """Append lessons to a memory file; raise `ConfigError` when that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(written(found))
    except OSError as error:
        raise ConfigError(
            f"search memory {path}: {error.strerror}", "name a file you can write, or switch it off"
        ) from error


def written(found: Iterable[Lesson]) -> str:
    """Return lessons as a memory's text."""
    return "".join(
        json.dumps(
            {
                "kind": lesson.kind,
                "bottleneck": lesson.bottleneck,
                "gpu": lesson.gpu,
                "gain": None if lesson.gain is None else round(lesson.gain, 5),
                "day": round(lesson.day, 2),
            }
        )
        + "\n"
        for lesson in found
    )


def bottleneck(findings: Sequence[Finding]) -> str:
    """Return the class a candidate was diagnosed as: the detector of its costliest finding."""
    order = {"critical": 0, "warning": 1, "info": 2}
    ranked = sorted(findings, key=lambda f: (order[f.severity.value], -(f.expected or 1.0)))
    return ranked[0].detector if ranked else ""


def _parsed(line: str) -> Lesson | None:
    if len(line) > LONGEST_LINE:
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    words = [value.get(name) for name in ("kind", "bottleneck", "gpu")]
    gain, day = value.get("gain"), value.get("day")
    if not all(isinstance(word, str) and _plain(word) for word in words) or not _finite(day):
        return None
    if gain is not None and not _finite(gain):
        return None
    kind, where, gpu = (str(word) for word in words)
    bounded = None if gain is None else max(-5.0, min(5.0, float(gain)))
    return Lesson(kind, where, gpu, bounded, float(day))


def _plain(word: str) -> bool:
    """Tell whether a name is one that may be shown: short and printable."""
    return len(word) <= LONGEST_NAME and word.isprintable()


def _finite(value: object) -> TypeGuard[float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e9
