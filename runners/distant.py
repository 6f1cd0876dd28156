"""Does an entry function count in fewer bits than it may have to? Asked far beyond the declared.

Two numbers in one word, a count of 24 bits beside a flag of eight: right at every size up to 33
times the declared, and silently wrong beyond. Launches of host code are not known, so that nothing
tells beforehand where they fail (`runners.thresholds`, `runners.launch_limits`). Here a finalist is
run once where a number of its own text is exceeded, and the original runs well. What fails there
aloud is a limit, and is said; what is silently wrong is refused.

And does a launch come to its end within what has to be right, but with more elements than any other
case may have? Where its text says so (`runners.launch_ends`), both are run there, too.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from runners import limit, one_run, sizes
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.compare import same_bytes
from runners.contents import Combination
from runners.families import DECLARED, captured_work
from runners.fault import Fault
from runners.gpu import DeviceError, HungError
from runners.launch_ends import Ends
from runners.launch_limits import times_words
from runners.named import numbers
from runners.run import Run
from runners.scenes import poison_of
from runners.session import Session
from runners.sizes import TIMES_LONGER
from runners.spec import CaseSpec, JobSpec, Work
from runners.text import LONGEST, NAME, ValuedText
from runners.thresholds import FARTHEST

LAYER = "far beyond the declared"
# Numbers below are seen at sizes that are tried anyway, and so many bits are no count's.
LEAST, MOST_BITS = 1 << 16, 40
# Elements for each of a number that is exceeded: of random numbers half are kept or counted.
FULL = 2.25
# Elements and bytes of all buffers; of the device's free memory no more than this share.
MOST_ELEMENTS, MOST_BYTES, SHARE = 1 << 27, 1 << 29, 0.1
# The same where a launch comes to its end: a block for 256 elements ends at 17 million of each.
MOST_LAUNCHED, MOST_LAUNCHED_BYTES = 3 << 26, 1 << 30
# Sizes that are tried until the original has answered one.
MOST_TRIED = 2
# What the original may take for a run, as told from sizes so many times smaller; and a candidate.
MOST_SECONDS, SMALLER, PATIENCE = 2.0, (256, 64, 16), 15.0
LEAST_POWER, MOST_POWER = 1.0, 3.0
# What one of `MOST_ELEMENTS` may take: with less left, a right candidate might come to no verdict.
LONGEST_CHECK = 60.0
MOST_SAID = 160

Case = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Far:
    """A case with one variable so many times its largest declared value."""

    case: dict[str, float]
    name: str
    times: float


def exceeded(source: str) -> frozenset[int]:
    """Return numbers that a text names, and those that fields of its words hold.

    Both fields count of a word of 64 bits that is shifted by more than 32, and of one of 32 that is
    put together by a shift and taken apart by the same one.

    >>> sorted(n for n in exceeded("w = sum << 8 | 1; n = w >> 8;") if n >= LEAST)
    [16777216]
    >>> sorted(exceeded("struct { unsigned n : 24; }; m = x & 0xfffff;") - {24})
    [1048575, 16777216]
    """
    if len(source) > LONGEST:
        return frozenset()
    text = ValuedText(source)
    bits: set[int] = set()
    shifts: dict[str, set[int]] = {"<<": set(), ">>": set()}
    for at, word in enumerate(text.tokens[: text.count]):
        following = text.tokens[at + 1]
        if word in shifts:
            by = text.number(text.tokens[at + 2] if following in {"=", "("} else following)
            if by is not None and 0 < by < 64:
                bits |= {by} if by <= 32 else {by, 64 - by}
                # A number that is shifted puts nothing into a word.
                shifts[word] |= {by} if text.number(text.tokens[at - 1]) is None else set()
        elif word == ":" and at > 1 and text.tokens[at + 2] in {";", ","}:
            width = text.number(following)
            member = NAME.fullmatch(text.tokens[at - 1])
            named = member and (text.tokens[at - 2] == "," or NAME.fullmatch(text.tokens[at - 2]))
            bits |= {width} if width is not None and named else set()
    bits |= {32 - one for one in shifts["<<"] & shifts[">>"]}
    return numbers(source) | {1 << one for one in bits if 0 < one <= MOST_BITS}


def cases(job: JobSpec, asked: Sequence[Combination] = ()) -> list[Far]:
    """Return cases beyond numbers of a candidate's own, the largest first; few have any.

    In each of them the largest buffer has `FULL` elements for each that such a number counts, one
    variable is longer than declared, and no other case that was asked about has such a buffer.
    """
    work = job.work
    if work.kind != "entry" or job.kernel == job.baseline or captured_work(work):
        return []
    known = [case.values for case in work.cases]
    top = max(known, key=lambda case: sizes.elements(work, case))
    most = max(sizes.largest_buffer(work, case) for case in [*known, *(one.case for one in asked)])
    own = exceeded(job.kernel.source) - exceeded(job.baseline.source)
    found: list[Far] = []
    for number in sorted((one for one in own if one >= LEAST), reverse=True):
        if FULL * number <= most or len(found) == MOST_TRIED:
            continue
        grown = [_grown(work, top, name, FULL * number) for name in sizes.sizing(work)]
        fit = [one for one in grown if one is not None]
        found += sorted(fit, key=lambda one: sizes.elements(work, one.case))[:1]
    return found


def launched(job: JobSpec, ends: Ends) -> list[Far]:
    """Return cases in which a launch of a candidate fails by its text and the original's do not.

    Or, where it is not known how high a grid is, the largest case that has to be right and fits.
    """
    work = job.work

    def fits(case: Case) -> bool:
        elements = sizes.elements(work, case)
        return 0 < elements <= MOST_LAUNCHED and nbytes(work, case) <= MOST_LAUNCHED_BYTES

    found = [pair for pair in ends.cases() if fits(pair[0])] or ends.unread(fits)
    longest = (
        {n: case[n] / sizes.largest(work, n) for n in sizes.changing(work)} for case, _ in found
    )
    return [
        Far(case, name, max(times.values()))
        for (case, name), times in zip(found, longest, strict=True)
    ]


def _grown(work: Work, top: Case, name: str, wanted: float) -> Far | None:
    """Return the least case with one variable longer whose largest buffer has so many elements.

    None where that is too far beyond the declared, or too much.
    """
    declared = int(top[name])

    def exceeds(size: int) -> bool:
        return sizes.largest_buffer(work, {**top, name: float(size)}) > wanted

    high = int(FARTHEST * sizes.largest(work, name))
    if exceeds(declared) or not exceeds(high):
        return None
    case = {**top, name: float(sizes.least_above(declared, high, exceeds) | 1)}
    if not 0 < sizes.elements(work, case) <= MOST_ELEMENTS or nbytes(work, case) > MOST_BYTES:
        return None
    return Far(case, name, case[name] / sizes.largest(work, name))


def nbytes(work: Work, case: Case) -> int:
    """Return the bytes of all buffers of a case."""
    return sum(a.elements(case) * a.type.size for a in work.arguments if a.type.pointer)


def check(
    load: Callable[[], Session],
    answers: Answers,
    job: JobSpec,
    asked: Sequence[Combination],
    room: tuple[float, int],
    report: Report,
) -> list[str]:
    """Run a candidate far beyond the declared; raise `Wrong` where it is silently wrong.

    `load` loads the pair, and is called only where there is such a case; `room` is until when all
    has to be done, and the bytes that are free on the device. Return what is to be noted: where the
    candidate fails, and what was not tried. Raises the errors of `runners.gpu`
    for what fails no further out than a candidate has to be right.
    """
    notes: list[str] = []
    deadline, free_bytes = room
    answered = [one for one in asked if one.key in answers.described]
    ends = Ends(job, [one.case for one in answered])
    # Of what exceeds a number one is enough: the first that can be tried.
    for group in (*([far] for far in launched(job, ends)), cases(job, answered)):
        for far in group:
            where = CaseSpec(far.case).name
            elements = sizes.elements(job.work, far.case)
            if deadline - time.monotonic() < LONGEST_CHECK * max(1.0, elements / MOST_ELEMENTS):
                objection = "there is no time left"
            elif nbytes(job.work, far.case) > SHARE * free_bytes:
                objection = "the memory does not suffice"
            else:
                objection = _objection(answers, job, far)
            if not objection:
                told = _compared(load, answers, job, far, report)
                notes += told
                ends.learn([] if told else [far.case])
                break
            notes.append(f"{LAYER} not checked: {where}: {objection}")
    return [*notes, *ends.limits()]


def _combination(job: JobSpec, far: Far) -> Combination:
    return Combination(far.case, DECLARED, job.seed)


def _objection(answers: Answers, job: JobSpec, far: Far) -> str:
    """Say why a case is not tried; nothing when the original has answered it."""
    combination = _combination(job, far)
    steps = [
        replace(combination, case={**far.case, far.name: float(size)})
        for size in dict.fromkeys(max(1, int(far.case[far.name]) // n) for n in SMALLER)
    ]
    if answers.ask is None:
        return "the original cannot be asked"
    with contextlib.suppress(Fault):
        answers.ask(steps)
        took = [(one.case[far.name], answers.seconds(one)) for one in steps if answers.of(one)]
        expected = _expected(took, far.case[far.name])
        if expected > MOST_SECONDS:
            return f"the original would take {expected:.1f} s"
        answers.ask([combination])
    found = answers.of(combination)
    if found is None:
        return answers.dropped.get(combination.key, "the original gives no answer")
    # A launch of its own that failed may be told by nothing else.
    left = [a.name for a in found.values() if a.untouched is not None and a.untouched.all()]
    return f"the original writes nothing to {left[0]}" if left else ""


def _expected(took: Sequence[tuple[float, float]], size: float) -> float:
    """Return the seconds that the original is likely to take, by what shorter ones took.

    Endless where there are none. The first of them may have waited for code to be loaded, so
    that the last two tell how it grows.
    """
    if not took:
        return math.inf
    (last, seconds), power = took[-1], MOST_POWER
    if len(took) > 1:
        before, less = took[-2]
        power = math.log(max(seconds, 1e-6) / max(less, 1e-6)) / math.log(last / before)
    return seconds * float((size / last) ** min(MOST_POWER, max(LEAST_POWER, power)))


def _compared(
    load: Callable[[], Session], answers: Answers, job: JobSpec, far: Far, report: Report
) -> list[str]:
    """Run the candidate once, and once more where its inputs were no longer what they were."""
    combination, where = _combination(job, far), CaseSpec(far.case).name
    shown = f"{where}, {times_words(far.times)} times the largest declared,"
    patience = max(PATIENCE, answers.patience(combination))
    for again in (False, True):
        try:
            session = load()
            run = session.run(combination, nan=False, beside=False, seconds=patience)
        except HungError:
            words = f"it does not end in {patience:.0f} s at {shown} where the original does"
            return [limit.said(words)]
        except DeviceError as error:
            if far.times <= TIMES_LONGER:
                raise
            # Its own process may have said so: a line of it is enough.
            said = " ".join(str(error).split())[:MOST_SAID]
            return [limit.said(f"it fails at {shown} where the original does not: {said}")]
        left = _left(answers, combination, run) if far.times > TIMES_LONGER else ""
        if left:
            words = f"it writes nothing to {left} at {shown} where the original does"
            return [limit.said(words)]
        try:
            # Memory that is given back takes longer where there is more of it.
            one_run.judged(report, job, answers, combination, replace(run, late_us=0.0), LAYER)
        except Wrong:
            if again or not session.renewed(combination):
                raise
            report.forget(LAYER)
        else:
            break
    return []


def _left(answers: Answers, combination: Combination, run: Run) -> str:
    """Return an output that is as it was before: a launch that failed may be told by that alone."""
    written = [a.name for a in answers.work.arguments if a.type.pointer and a.role == "output"]
    for name in (name for name in written if len(run.outputs[name])):
        before = poison_of(answers.work, combination.case, name, run.poison)
        if same_bytes(run.outputs[name], before):
            return name
    return ""
