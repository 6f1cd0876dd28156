"""Whether a candidate is right where all rows lead to one place. It is refused where it is not.

`runners.meeting` has the contents. Which way leads there, and which of the other arrays have to be
high and which low, is seen by what the original makes of it: in a small case it is run on all ways,
and those are taken by which a result comes to be farthest above, or below, all that it is on
declared inputs. These are asked in the largest declared case, of a few elements first and then of
all of them, since what one took tells what four times as many may (`runners.piled_up` says why).

A result that may be beyond its word with four times as many is asked no further, nor what may add
up to more than a word holds: in another order, or in wider words, it is another one. Both sides are
run once, and where they differ the original is asked at length, and decides. What does not come to
an end is noted, and held against nobody.

Of originals in whole numbers alone, whose text adds what it reads to something and has that lead to
a place (`runners.indexing`).
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from runners import fuzzing, indexing, meeting, opposed, piles, sizes
from runners.answers import Answers
from runners.checks import Report
from runners.climbing import PATIENCE, POWER
from runners.contents import Combination
from runners.cuda_types import Storage, values
from runners.families import DECLARED
from runners.fault import Fault
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.inputs import stream
from runners.meeting import Way
from runners.other_values import LONGEST_CHECK
from runners.piled_up import EXPECTED
from runners.session import Session
from runners.spec import JobSpec, Work
from runners.whole_families import HOT, LEAST_WIDE, exact

LAYER = "all in one place"
# Elements of the case in which ways are tried, at least and at most, and of the one asked then.
LEAST_ELEMENTS, MOST_TRIED, MOST_ELEMENTS, MOST_BYTES = 256, 1 << 20, 1 << 24, 1 << 26
# Arrays of which all mixtures of ends are tried, how many mixtures of more; ways that are taken.
MOST_ARRAYS, MOST_MIXTURES, MOST_TAKEN = 5, 32, 3
# Seconds of all that is tried, and of what is asked of each side then.
SECONDS_TRIED, SECONDS = 1.0, 3.0
# One in four of what leads there, one in sixteen, …: so many parts at most.
STEP, BITS, MOST_PARTS = 4, 2, 4
# How many numbers are multiplied.
FACTORS = 3

Case = Mapping[str, float]
Outputs = dict[str, Storage]
Load = Callable[[], Session]
# A result, and whether it is far above all others or below.
Side = tuple[str, int, bool]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the original gives on some contents."""

    combination: Combination
    outputs: Outputs


@dataclass(slots=True)
class AllMeeting:
    """What the original of the latest job made of its rows that lead to one place."""

    _kept: dict[str, list[list[Asked]]] = field(default_factory=dict)

    def check(
        self,
        pair: tuple[Load, Load],
        answers: Answers,
        job: JobSpec,
        deadline: float,
        report: Report,
    ) -> tuple[list[str], bool]:
        """Run a candidate where all meets; raise `Wrong` and the errors of `runners.gpu`.

        `pair` loads the original alone, and the candidate. Return a note where something did not
        come to an end, and whether the device is lost.
        """
        if job.kernel == job.baseline or answers.ask is None or cases(job.work) is None:
            return [], False
        if deadline - time.monotonic() < LONGEST_CHECK:
            return [f"{LAYER} not tried: there is no time left"], False
        try:
            lines = self._original(pair[0], job)
        except DeviceError as error:
            return [], not isinstance(error, LaunchError)
        except Fault:
            return [], False
        if not lines:
            return [], False
        try:
            session = pair[1]()
        except (DeviceError, Fault):
            return [], False
        return _compared(session, answers, job, lines, report)

    def _original(self, load: Load, job: JobSpec) -> list[list[Asked]]:
        key = f"{job.key}|{job.checks}"
        if key not in self._kept:
            self._kept.clear()
            self._kept[key] = _lines(load(), job)
        return self._kept[key]


def cases(work: Work) -> tuple[Case, Case] | None:
    """Return the declared case in which ways are tried, and the one that is asked; None for none.

    None where no array leads anywhere, or something else than whole numbers is worked out.
    """
    if not meeting.leading(work) or not exact(work):
        return None
    ordered = sorted((case.values for case in work.cases), key=work.elements)
    fit = [case for case in ordered if any(meeting.kinds(work, case))]
    small = [case for case in fit if LEAST_ELEMENTS < work.elements(case) <= MOST_TRIED]
    large = [case for case in fit if work.elements(case) <= MOST_ELEMENTS]
    large = [case for case in large if _written_bytes(work, case) <= MOST_BYTES]
    return (small[0], large[-1]) if small and large else None


def _written_bytes(work: Work, case: Case) -> int:
    return sum(one.type.size * sizes.buffer(one, case) for one in piles.written(work))


def ways(work: Work, case: Case, seed: int) -> Iterator[Way]:
    """Yield all that is tried, mixtures of ends in any order: time may not do for all of them."""
    many, rng = len(meeting.others(work)), stream(seed, LAYER)
    mixtures = list(range(1 << min(many, MOST_ARRAYS)))
    if many > MOST_ARRAYS:
        drawn = rng.integers(0, 2, (MOST_MIXTURES, many)).tolist()
        mixtures = [sum(int(bit) << at for at, bit in enumerate(bits)) for bits in drawn]
    order = [mixtures[int(at)] for at in rng.permutation(len(mixtures))]
    kinds = [*meeting.kinds(work, case)]
    for high, kind, way in itertools.product(order, kinds, meeting.WAYS):
        yield Way(way, kind, high)


def _lines(session: Session, job: JobSpec) -> list[list[Asked]]:
    """Return what the original gives by each way that leads far, fewer elements first."""
    found = cases(job.work)
    if found is None:
        return []
    small, large = found
    times = indexing.times(job.baseline.source)
    taken = [way for way in _taken(session, job, small) if fits(job.work, large, way, times)]
    until = time.monotonic() + SECONDS
    lines = (_line(session, job, large, way, until) for way in taken)
    return [line for line in lines if line]


def _taken(session: Session, job: JobSpec, case: Case) -> list[Way]:
    """Return the ways by which results are farthest from what they are on declared inputs."""
    plain = _run(session, Combination(case, DECLARED, job.seed))
    if plain is None:
        return []
    usual = dict(_farthest(job.work, plain))
    best: dict[Side, tuple[float, Way]] = {}
    until = time.monotonic() + SECONDS_TRIED
    for way in ways(job.work, case, job.seed):
        if time.monotonic() > until:
            break
        outputs = _run(session, Combination(case, way.family, job.seed))
        for side, far in _farthest(job.work, outputs or {}):
            times = far / max(1.0, usual[side], usual[(*side[:2], not side[2])])
            if times > best.get(side, (1.0, way))[0]:
                best[side] = times, way
    ordered = sorted(best.values(), key=lambda one: -one[0])
    return list(dict.fromkeys(way for _, way in ordered))[:MOST_TAKEN]


def _farthest(work: Work, outputs: Outputs) -> Iterator[tuple[Side, float]]:
    """Yield how far above zero, and below, each result is at most; what was left alone is -1."""
    for argument in piles.written(work):
        for one in argument.type.fields if argument.name in outputs else ():
            data = values(outputs[argument.name], argument.type, one).astype(np.float64)
            if one.scalar.kind == "u":
                data = data[data < float(np.iinfo(one.scalar.dtype).max)]
            high, low = float(data.max(initial=0.0)), float(data.min(initial=0.0))
            yield (argument.name, one.offset, True), high
            yield (argument.name, one.offset, False), -low


def fits(work: Work, case: Case, way: Way, times: int) -> bool:
    """Tell whether what a case adds up fits into its words: each number of it once, so many times.

    Zero times is as often as other numbers say.
    """
    ends, most, total = [1], 0, 0
    for number, (argument, low, high) in enumerate(meeting.others(work)):
        count = sizes.buffer(argument, case)
        ends.append(max(1, abs(high if way.high >> number & 1 else low)))
        most, total = max(most, count), total + count * ends[-1]
    if not times:
        total = most * max(sum(ends), max(ends) ** 2, math.prod(sorted(ends)[-FACTORS:]))
    return total * max(1, times) < room(work)


def room(work: Work) -> int:
    """Return what sums have room for: the results' words, and 32 bits where these are narrow."""
    return max(opposed.room(work), 1 << 8 * LEAST_WIDE - 1)


def _line(session: Session, job: JobSpec, case: Case, way: Way, until: float) -> list[Asked]:
    """Return what the original gives as more and more leads to one place, while that is known."""
    line: list[Asked] = []
    for part in parts(job.work, case):
        one = Combination(case, replace(way, part=part).family, job.seed)
        outputs, took = _timed(session, one)
        if outputs is None or time.monotonic() > until:
            break
        line.append(Asked(one, outputs))
        if took * STEP**POWER > EXPECTED or not _grows(job.work, outputs):
            break
    return line


def parts(work: Work, case: Case) -> list[int]:
    """Return what parts of all elements are asked, the least first: no more than meet anywhere."""
    most = max(sizes.buffer(one[0], case) for one in meeting.leading(work))
    line = [part for part in range(0, BITS * MOST_PARTS, BITS) if most >> part >= 1]
    return line[: 1 + sum(most >> part > HOT for part in line)][::-1]


def _grows(work: Work, outputs: Outputs) -> bool:
    """Tell whether results that are four times as large are still within their words."""
    far = dict(_farthest(work, outputs))
    for argument in piles.written(work):
        for one in argument.type.fields:
            bits = 8 * one.scalar.size - (one.scalar.kind == "i")
            most = max(far[argument.name, one.offset, above] for above in (True, False))
            if one.scalar.size >= LEAST_WIDE and STEP * most >= float(1 << bits):
                return False
    return True


def _run(session: Session, one: Combination) -> Outputs | None:
    run = fuzzing.tried(session, one, PATIENCE)
    return None if run is None or run.damage else run.outputs


def _timed(session: Session, one: Combination) -> tuple[Outputs | None, float]:
    """Run twice, since the first has its inputs made; return how long the second took (s)."""
    if _run(session, one) is None:
        return None, 0.0
    begun = time.monotonic()
    return _run(session, one), time.monotonic() - begun


def _compared(
    session: Session,
    answers: Answers,
    job: JobSpec,
    lines: Sequence[Sequence[Asked]],
    report: Report,
) -> tuple[list[str], bool]:
    """Run a candidate on all of it, as far as it is quick; raise `Wrong` by the original's word."""
    until, runs = time.monotonic() + SECONDS, 0
    for line in lines:
        for one in line:
            try:
                outputs, took = _timed(session, one.combination)
                if outputs is None or _differs(one.outputs, outputs):
                    asked = [one.combination]
                    fuzzing.asked_again(session, answers, job, asked, report, LAYER)
            except (OutOfMemoryError, Fault):
                break
            except HungError as error:
                words = f"{LAYER} not tried to the end: {error} ({one.combination.key})"
                return [words], True
            runs += 1
            if took * STEP**POWER > EXPECTED or time.monotonic() > until:
                break
    report.runs += runs
    report.add(LAYER, f"{runs} runs", passed=True, error=None, bound=None)
    return [], False


def _differs(want: Outputs, got: Outputs) -> bool:
    return any(not np.array_equal(want[name], got[name]) for name in want)
