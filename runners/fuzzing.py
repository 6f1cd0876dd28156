"""Some thousand small runs on contents that chance makes up, original and candidate side by side.

What the original is asked about at length takes tens of milliseconds: four runs, doubles, moved
inputs. Most faults that nobody thought of show in any of a thousand small inputs, as soon as two
rows are nearly alike or one array is the other's end, and to see that two runs differ takes one of
each. So here a pair is run on what `runners.recipes`, `runners.crossed` and `runners.kindred` make
of cases that were asked before, and the outputs are put side by side. That decides nothing:
rounding, an order that is free and what the original does not define differ as well. Where most
differs, the original is asked at length, and the candidate judged by its answers like anywhere
else.

Some hundred more have the sizes and the values that a candidate's own text names
(`runners.own_sizes`, `runners.own_values`). Behind them are those that are far larger, as many as
there is time for (`runners.far_cases`). What a candidate does not come to an end with there is held
against nobody: where much meets, right code may take a time that grows with its square.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from runners import (
    colliding,
    far_cases,
    near_ties,
    one_run,
    own_sizes,
    own_values,
    small_runs,
)
from runners.answers import Answers
from runners.checks import Report
from runners.contents import Combination
from runners.cuda_types import Field, Storage, to_float, values
from runners.families import DECLARED, captured_work
from runners.fault import Fault
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.other_values import LONGEST_CHECK, aside
from runners.run import Run
from runners.session import Session
from runners.spec import MOVED, Argument, JobSpec, Work

LAYER = "fuzzed contents"
# Seconds that small runs of the original, and of a candidate, may take; what a run of the original
# may have taken on plain contents of a case.
SECONDS_ORIGINAL, SECONDS, QUICK = 9.0, 11.0, 0.05
# The same of those that are far larger, and what their outputs are that are kept.
FAR_SECONDS_ORIGINAL, FAR_SECONDS, FAR_BYTES = 8.0, 8.0, 1 << 29
# The same of those whose sizes or values are a candidate's own.
OWN_SECONDS_ORIGINAL, OWN_SECONDS = 2.0, 3.0
# Light declared cases in which arrays have a candidate's own numbers.
LIGHT = 4
PATIENCE = 10.0
# Of each kind of difference so many are asked about at length.
MOST_ASKED = 3
# A float differs where it does by more than the tolerance and so many roundings of usual results.
ROUNDINGS = 64.0

Values = npt.NDArray[np.generic]
Load = Callable[[], Session]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A combination on which two runs differ: in what way, and by how much."""

    way: str
    much: float
    combination: Combination


Known = list[tuple[Combination, dict[str, Storage]]]


@dataclass(slots=True)
class Fuzzing:
    """What the originals of the latest jobs made of their combinations, small ones and far ones."""

    _small: dict[str, Known] = field(default_factory=dict)
    _large: dict[str, Known] = field(default_factory=dict)
    # Why an original said no more of the far ones.
    _ended: list[str] = field(default_factory=list)

    def check(
        self,
        pair: tuple[Load, Load],
        answers: Answers,
        job: JobSpec,
        wanted: Sequence[Combination],
        deadline: float,
        report: Report,
    ) -> tuple[list[str], bool]:
        """Run a candidate beside its original; raise `Wrong` and what its device says.

        `pair` loads the original alone, and the candidate.

        Return what is to be noted, and whether the device is lost.
        """
        if job.kernel == job.baseline or answers.ask is None or captured_work(job.work):
            return [], False
        if deadline - time.monotonic() < LONGEST_CHECK:
            return [f"{LAYER} not tried: there is no time left"], False
        cases = _cases(answers, job.work, wanted)
        if not cases:
            return [], False
        turns = small_runs.asked(job.work, job.seed, cases)
        try:
            known = self._original(pair[0], job, turns)
        except DeviceError as error:
            # It breaks on what nobody declared: nothing is promised there.
            return [], not isinstance(error, LaunchError)
        except Fault:
            return [], False
        if not known:
            return [], False
        try:
            session = pair[1]()
        except (DeviceError, Fault):
            return [], False
        try:
            suspects, runs = _suspects(session, answers, job.work, known, SECONDS)
        except _BrokeError as broke:
            return [], _defined(answers, broke)
        asked_again(session, answers, job, [one.combination for one in suspects], report, LAYER)
        report.runs += runs
        report.add(LAYER, f"{runs} small runs", passed=True, error=None, bound=None)
        if _judged_own(pair, answers, job, cases, report):
            return [], True
        try:
            far = self._far(pair[0], job)
        except DeviceError:
            return [*self._ended], True
        except Fault:
            far = self._large[_key(job)]
        try:
            session = pair[1]()  # where one process is for all, the original was there last
        except (DeviceError, Fault):
            return [*self._ended], False
        notes, lost = _judged_far(session, answers, job, far, report)
        return [*self._ended, *notes], lost

    def ran(
        self, answers: Answers, job: JobSpec, wanted: Sequence[Combination]
    ) -> tuple[list[Combination], Iterator[Combination]]:
        """Return what a pair was run on, and more of that kind, which nothing was run on."""
        known = [one for one, _ in self._small.get(_key(job), ())]
        cases = _cases(answers, job.work, wanted)
        return known, small_runs.asked(job.work, job.seed + 1, cases) if cases else iter(())

    def _original(self, load: Load, job: JobSpec, turns: Iterator[Combination]) -> Known:
        key = _key(job)
        if key not in self._small:
            self._small.clear()
            self._small[key] = _outputs(load(), turns, SECONDS_ORIGINAL)
        return self._small[key]

    def _far(self, load: Load, job: JobSpec) -> Known:
        """Return what an original makes of far cases, up to where it broke in one of them."""
        key = _key(job)
        if key not in self._large:
            self._large.clear()
            self._ended.clear()
            self._large[key] = []
            turns = [*far_cases.asked(job.work, job.seed, job.baseline.source)]
            known, seconds = self._large[key], FAR_SECONDS_ORIGINAL
            try:
                if turns:
                    _outputs(load(), iter(turns), seconds, into=known)
            except (DeviceError, Fault) as error:
                self._ended.append(f"{LAYER} not tried to the end, far out: {error}")
                raise
        return self._large[key]


def _outputs(
    session: Session,
    turns: Iterator[Combination],
    seconds: float,
    *,
    into: Known | None = None,
) -> Known:
    """Return what an original makes of combinations, for so long and as far as it can be kept.

    What it cannot launch is left out: nobody has declared these sizes. What is found goes `into` a
    list as it comes, where one is given.
    """
    found = Known() if into is None else into
    until, left = time.monotonic() + seconds, FAR_BYTES
    for one in turns:
        if time.monotonic() > until or left < 0:
            break
        try:
            run = tried(session, one)
        except LaunchError:
            continue
        if run is not None and not run.damage:
            found.append((one, run.outputs))
            left -= sum(len(data) for data in run.outputs.values())
    return found


def _judged_own(
    pair: tuple[Load, Load],
    answers: Answers,
    job: JobSpec,
    cases: Sequence[Mapping[str, float]],
    report: Report,
) -> bool:
    """Run a pair on sizes and values that the candidate's text names. Raise `Wrong`.

    Return whether the device is lost. Where the original breaks nothing is promised: these are
    sizes that nobody declared.
    """
    light = small_runs.few_of(job.work, cases)[:LIGHT]
    named = (Combination(*one) for one in own_values.asked(job, light))
    hashed = (Combination(*one) for one in colliding.asked(job, small_runs.few_of(job.work, cases)))
    tied = (Combination(*one) for one in near_ties.asked(job))
    turns = [*in_turns(own_sizes.asked(job), named, hashed, tied)]
    if not turns:
        return False
    seconds = (OWN_SECONDS_ORIGINAL, OWN_SECONDS)
    runs, lost = side_by_side(pair, answers, job, turns, seconds, report, LAYER)
    if runs:
        words = f"{runs} runs of its own sizes and values"
        report.add(LAYER, words, passed=True, error=None, bound=None)
    return lost


def side_by_side(
    pair: tuple[Load, Load],
    answers: Answers,
    job: JobSpec,
    turns: Sequence[Combination],
    seconds: tuple[float, float],
    report: Report,
    layer: str,
) -> tuple[int, bool]:
    """Run a pair on combinations, and have the original asked where they differ. Raise `Wrong`.

    `seconds` are those of the original and of the candidate. Return the candidate's runs, and
    whether the device is lost.
    """
    original, load = pair
    try:
        known = _outputs(original(), iter(turns), seconds[0])
        session = load()
    except (DeviceError, Fault) as error:
        # Nothing is promised where it breaks.
        return 0, isinstance(error, DeviceError) and not isinstance(error, LaunchError)
    try:
        suspects, runs = _suspects(session, answers, job.work, known, seconds[1])
    except _BrokeError as broke:
        return 0, _defined(answers, broke)
    asked_again(session, answers, job, [one.combination for one in suspects], report, layer)
    report.runs += runs
    return runs, False


def in_turns(*each: Iterator[Combination]) -> Iterator[Combination]:
    """Yield one of each in turn, as long as there are any."""
    for some in itertools.zip_longest(*each):
        yield from (one for one in some if one is not None)


def _judged_far(
    session: Session, answers: Answers, job: JobSpec, known: Known, report: Report
) -> tuple[list[str], bool]:
    """Run a candidate where it is far larger; return notes, and whether the device is lost."""
    try:
        suspects, runs = _suspects(session, answers, job.work, known, FAR_SECONDS)
    except _BrokeError as broke:
        if isinstance(broke.error, HungError):
            return [f"{LAYER} not tried to the end: {broke.error} ({broke.combination.key})"], True
        return [], _defined(answers, broke)
    asked_again(session, answers, job, [one.combination for one in suspects], report, LAYER)
    report.runs += runs
    report.add(LAYER, f"{runs} runs far larger", passed=True, error=None, bound=None)
    return [], False


def _key(job: JobSpec) -> str:
    return f"{job.key}|{job.checks}"


class _BrokeError(Exception):
    """A candidate broke the device where its original ran."""

    def __init__(self, combination: Combination, error: DeviceError) -> None:
        super().__init__(str(error))
        self.combination, self.error = combination, error


def _cases(
    answers: Answers, work: Work, wanted: Sequence[Combination]
) -> list[Mapping[str, float]]:
    """Return light cases that the original answered on plain contents, soon enough."""
    found = {}
    for one in wanted:
        plain = one.family == DECLARED and MOVED not in one.case
        quick = plain and one.key in answers.described and answers.seconds(one) <= QUICK
        if quick and 0 < work.elements(one.case) <= small_runs.MOST_ELEMENTS:
            found[tuple(sorted(one.case.items()))] = one.case
    return list(found.values())


def tried(session: Session, one: Combination, seconds: float = PATIENCE) -> Run | None:
    """Run once, for so many seconds at most; None where the device has no room for it.

    With the same fill each time: what is left alone is then the same as well.
    """
    try:
        return session.run(one, nan=True, beside=False, seconds=seconds)
    except OutOfMemoryError:
        return None


def _suspects(
    session: Session,
    answers: Answers,
    work: Work,
    known: Known,
    seconds: float,
) -> tuple[list[Suspect], int]:
    """Run a candidate on all of it, in so many seconds; return where it differs, and the runs."""
    free = frozenset(answers.unordered())
    found: dict[str, list[Suspect]] = {}
    until, runs = time.monotonic() + seconds, 0
    for one, outputs in known:
        if time.monotonic() > until:
            break
        try:
            run = tried(session, one)
        except DeviceError as error:
            raise _BrokeError(one, error) from error
        if run is None:
            continue
        runs += 1
        for way, much in _differences(work, outputs, run, free):
            found.setdefault(way, []).append(Suspect(way, much, one))
    worst = [
        suspect
        for those in found.values()
        for suspect in heapq.nlargest(MOST_ASKED, those, key=lambda one: one.much)
    ]
    return worst, runs


def _differences(
    work: Work, outputs: Mapping[str, Storage], run: Run, free: frozenset[str]
) -> Iterator[tuple[str, float]]:
    """Yield in which ways a run differs from the original's, and by how much."""
    if run.damage:
        yield "damage", math.inf
    for argument in work.arguments:
        want, got = outputs.get(argument.name), run.outputs.get(argument.name)
        if want is None or got is None or (len(want) == len(got) and (want == got).all()):
            continue
        yield from _fields(work, argument, want, got, any_order=argument.name in free)


def _fields(
    work: Work, argument: Argument, want: Storage, got: Storage, *, any_order: bool
) -> Iterator[tuple[str, float]]:
    for one in argument.type.fields:
        first, second = (values(data, argument.type, one) for data in (want, got))
        if any_order:
            first, second = np.sort(first), np.sort(second)
        if one.scalar.kind != "f":
            differing = int(np.count_nonzero(first != second))
            if differing:
                # Where few differ it is no other order, or another choice throughout.
                yield f"{argument.name}.{one.offset} exact", -float(differing)
            continue
        way, much = _apart(work, one, first, second)
        if much > 1:
            yield f"{argument.name}.{one.offset} {way}", much


def _apart(work: Work, one: Field, first: Values, second: Values) -> tuple[str, float]:
    """Return how floats differ, and how many times as much as they may without being looked at."""
    want, got = to_float(first, one.scalar), to_float(second, one.scalar)
    with np.errstate(all="ignore"):
        fine = np.isfinite(want) & np.isfinite(got)
        alike = (np.isnan(want) & np.isnan(got)) | (want == got)
        if bool((np.isfinite(want) & ~np.isfinite(got)).any()):
            return "no number", math.inf
        if not bool((fine | alike).all()):
            return "odd", math.inf
        usual = math.sqrt(float(np.mean(want[fine] ** 2))) if fine.any() else 0.0
        size = np.abs(want[fine])
        allowed = work.atol + work.rtol * size + ROUNDINGS * one.scalar.roundoff * (size + usual)
        gaps = np.abs(got[fine] - want[fine]) / np.maximum(allowed, np.finfo(np.float64).tiny)
    return "far", float(np.max(gaps, initial=0.0))


def _defined(answers: Answers, broke: _BrokeError) -> bool:
    """Raise what broke, where the original has an answer; else tell whether the device is lost."""
    with aside(answers, [broke.combination]):
        if answers.of(broke.combination) is not None:
            raise broke.error
    return not isinstance(broke.error, LaunchError)


def asked_again(
    session: Session,
    answers: Answers,
    job: JobSpec,
    combinations: Sequence[Combination],
    report: Report,
    layer: str,
) -> frozenset[str]:
    """Have the original asked at length, and judge a candidate by that; raise `Wrong`.

    Return the keys of those of which the original says nothing.
    """
    each = list({one.key: one for one in combinations}.values())
    unanswered: set[str] = set()
    if not each:
        return frozenset()
    report.picked = True
    try:
        with aside(answers, each):
            for one in each:
                if answers.of(one) is None:
                    unanswered.add(one.key)
                    continue
                patience = answers.patience(one)
                made = partial(session.run, one, nan=True, beside=False, seconds=patience)
                one_run.renewing(session, answers, job, one, made, report, layer)
    finally:
        report.picked = False
    return frozenset(unanswered)
