"""The original built to round otherwise: where it differs itself, rounding decides, and no code.

With other arguments than the declared ones a sum may be longer, a simulation go on for longer, and
a result lie on an edge. So what a candidate differs in there is held against it only where the
original without fused multiply-add, and the original in double precision, do not differ by nearly
as much. A program whose text names no floats needs none of that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from runners import program_compare, program_report, program_stdout, promote
from runners.program_compare import Bounds, Expectation
from runners.program_profile import Profile
from runners.program_report import Bytes
from runners.program_run import Probe, Ran, Runner

Build = Callable[[str, Any], Mapping[str, Any] | None]

# A candidate is off by more than rounding where it is so many times as far off.
TIMES = 32.0
# So large a part of the words of a buffer is no rounding, whatever they count.
MANY = 0.01
_ROUNDED = "so does the original where it rounds otherwise"
_UNKNOWN = "nobody knows how exact the original is there"
_FLOATS = re.compile(
    r"float|double|fp16|bf16|fp8|tf32|wmma|cublas|cufft|cusolver|curand", re.IGNORECASE
)
_SINGLE = re.compile(r"float|fp16|bf16|fp8|tf32|wmma|cublas|cufft|cusolver|curand", re.IGNORECASE)
# A header of the project may hold numbers of any type.
_OWN = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"', re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
# What events measure is a float in every program, and no result.
_MEASURED = re.compile(r"\bcudaEventElapsedTime\s*\(\s*&\s*(\w+)")
_SPAN = "optiml_span"

# How far each record is off that is not right, in units of its bound or words; None where there are
# other records than the original's.
Off = dict[int, float] | None


@dataclass(frozen=True, slots=True)
class Other:
    """Another build of the original."""

    path: Path
    doubles: bool


@dataclass(slots=True)
class Variants:
    """Builds of the original that round otherwise, made when they are first wanted.

    `rounded` builds it without fused multiply-add, `build` compiles a text of ours.
    """

    job: Mapping[str, Any]
    build: Build | None
    rounded: Callable[[], Path | None]
    _made: list[Other] | None = field(default=None)

    @property
    def source(self) -> str:
        """Return the original's text."""
        return str((self.job.get("baseline") or {}).get("source") or "")

    @property
    def whole(self) -> bool:
        """Tell whether the original works out whole numbers alone, as far as its text tells."""
        text = spans_aside(_COMMENT.sub(" ", self.source))
        return bool(text.strip()) and not (_FLOATS.search(text) or _OWN.search(self.source))

    @property
    def _single(self) -> bool:
        """Tell whether the original may hold floats of single precision or less."""
        text = spans_aside(_COMMENT.sub(" ", self.source))
        return not text.strip() or bool(_SINGLE.search(text) or _OWN.search(self.source))

    def made(self) -> list[Other]:
        """Return the builds there are."""
        if self._made is None:
            self._made = []
            path = self.rounded()
            if path is not None:
                self._made.append(Other(path, doubles=False))
            text = promote.promoted(spans_aside(self.source)) if self._single else None
            whole = f"typedef float {_SPAN};\n{text}" if text else ""
            built = self.build(whole, self.job) if whole and self.build else None
            if built and built.get("path"):
                self._made.append(Other(Path(str(built["path"])), doubles=True))
        return self._made

    def explain(self, runner: Runner, found: Profile, mine: Ran, asked: Asked) -> str:
        """Say why a difference may be rounding; empty where it is none.

        Where a float may be off and there is no build in double precision, nobody knows how exact
        the original is: a number that is none, and many other whole numbers, are no rounding.
        """
        if self.whole:
            return ""
        far = off(found, mine, asked)
        if far == {} and _last_place(found.stdouts[0], mine.stdout):
            return "it prints a number that is rounded the other way"
        left = set(far or ())
        exact = False
        for other in self.made():
            run = runner.run(other.path, found.arguments, asked.probe, asked.seconds)
            theirs = off(found, run, asked, doubles=other.doubles) if _ended(run, found) else None
            if theirs is None and other.doubles:
                continue  # its records are others, of other sizes: as if there were none
            words = not far and program_stdout.difference(found.stdouts, run.stdout)
            if theirs is None or words:
                return _ROUNDED
            left = {n for n in left if (far or {})[n] > TIMES * theirs.get(n, 0.0)}
            if far and not left:
                return _ROUNDED
            exact = exact or other.doubles
        if exact or (self.made() and not self._single):
            return ""
        return "" if any(_certain(found, n, (far or {})[n]) for n in left) else _UNKNOWN


def spans_aside(text: str) -> str:
    """Return a text in which what events measure is of a type of its own.

    >>> spans_aside("float a, ms = 0; cudaEventElapsedTime(&ms, from, to);").split(";")[0]
    'optiml_span a, ms = 0'
    """
    for name in set(_MEASURED.findall(text)):
        text = re.sub(rf"\bfloat(?=\s+(?:[^;(){{}}]*,\s*)?{name}\b)", _SPAN, text)
    return text


@dataclass(frozen=True, slots=True)
class Asked:
    """How an original's other builds are run: the candidate's probe, and for how many seconds."""

    probe: Probe
    bounds: Bounds
    seconds: float


def off(found: Profile, run: Ran, asked: Asked, *, doubles: bool = False) -> Off:
    """Return which records of a run are not right, and by how much."""
    report, reference = run.report, found.references[asked.probe.poison]
    wanted = reference.report.records
    if report is None or [one.kind for one in report.records] != [one.kind for one in wanted]:
        return None
    far: dict[int, float] = {}
    for number, (record, want) in enumerate(zip(report.records, wanted, strict=True)):
        expected, held = found.expectations[number], reference.held[number]
        twice = doubles and record.size == 2 * want.size and "f4" in expected.kinds
        if record.size != want.size and not twice:
            return None
        if expected.unstable or record.digest == want.digest:
            continue
        got = program_report.held(record, run.stored)
        if got is None or held is None:
            far[number] = math.inf
            continue
        much = _much(held, _narrowed(got) if twice else got, expected, asked)
        if much:
            far[number] = much
    return far


def _much(held: Bytes, got: Bytes, expected: Expectation, asked: Asked) -> float:
    """Return how far a record is off, zero where it is right."""
    if asked.probe.poison == "zero":
        expected = replace(expected, excluded=None)
    outcome = program_compare.compare(held, got, expected, asked.bounds)
    if outcome.passed:
        return 0.0
    if held.size != got.size:
        return math.inf
    if expected.kinds != ("int",):
        return max(1.0, outcome.error) if outcome.error else math.inf
    usable = held.size // 4 * 4
    words = [one[:usable].view(np.uint32) for one in (held, got)]
    if expected.unordered:
        words = [np.sort(one) for one in words]
    apart = words[0] != words[1]
    if expected.excluded is not None:
        apart &= ~expected.excluded
    return float(max(1, apart.sum()))


def _narrowed(doubles: Bytes) -> Bytes:
    with np.errstate(all="ignore"):
        return doubles.view(np.float64).astype(np.float32).view(np.uint8)


def _certain(found: Profile, number: int, much: float) -> bool:
    """Tell whether a record is off by what no rounding explains."""
    size = next(iter(found.references.values())).report.records[number].size
    many = found.expectations[number].kinds == ("int",) and much > MANY * size / 4
    return math.isinf(much) or many


def _last_place(one: str, two: str) -> bool:
    """Tell whether two outputs differ in the last digits of numbers with a point alone."""
    number, speed = program_stdout.NUMBER, program_stdout.SPEED
    pair = ([line for line in each.splitlines() if not speed.search(line)] for each in (one, two))
    one, two = ("\n".join(each) for each in pair)
    if one == two or number.sub("#", one) != number.sub("#", two):
        return False
    pairs = zip(number.findall(one), number.findall(two), strict=True)
    return all(a == b or _neighbours(a, b) for a, b in pairs)


def _neighbours(one: str, two: str) -> bool:
    """Tell whether two printed numbers are one step of their last place apart."""
    places = {len(text.partition(".")[2]) for text in (one, two)}
    if any("." not in text or not text[-1].isdigit() for text in (one, two)) or len(places) > 1:
        return False
    if any(letter in text for text in (one, two) for letter in "eE"):
        return False
    return abs(float(one) - float(two)) < 1.5 * 10.0 ** -places.pop()


def _ended(run: Ran, found: Profile) -> bool:
    return run.exit == found.exit and run.report is not None and not run.report.broken
