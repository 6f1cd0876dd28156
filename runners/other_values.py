"""Is a candidate right for the declared values of whole numbers alone? A limit, said, not refused.

A whole number that a workload gives as a literal is part of what it declares: code made for it is
right (`spec.scalar_values`). Whoever passes another one has to know: a power that is a reciprocal
modulo a prime alone, a place in steps that is right from no fraction on. So a finalist is run with
a few other values of each such scalar, where its original does the same each time and within its
buffers. The original is asked behind all else, in a process of its own that may end over it.
"""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from runners import limit, one_run, sizes, whole_scalars
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.families import DECLARED, captured_work
from runners.fault import Fault
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.session import Session
from runners.spec import MOVED, Argument, JobSpec

# How every note begins, for those that look for it, and the layer of what was right.
RIGHT, LAYER = "right for the declared", "other values"
MOST_SCALARS, MOST_VALUES = 4, 3
# The case: elements of all buffers, more than a few, and what the original takes.
LEAST_ELEMENTS, MOST_ELEMENTS, MOST_SECONDS = 256, 1 << 22, 0.1
# What all runs of a candidate may take, and how much has to be left of its time for all of it.
SECONDS, LONGEST_CHECK = 3.0, 30.0
MOST_SAID = 160
# What is less may be a flag.
LEAST_VARIABLE = 2


class Undeclared(Protocol):
    """Something else than declared, with which a candidate is run only to say what it does."""

    @property
    def name(self) -> str:
        """Return whose value or range it is."""
        ...

    @property
    def combination(self) -> Combination:
        """Return what is run."""
        ...

    @property
    def shown(self) -> str:
        """Say which."""
        ...

    def said(self, words: str) -> str:
        """Return the note that it is a limit."""
        ...


Tried = TypeVar("Tried", bound=Undeclared)
Lines = Sequence[Sequence[Tried]]
Asked = tuple[Lines[Tried], Sequence[Tried], Callable[[Sequence[Tried]], list[Tried]]]


@dataclass(frozen=True, slots=True)
class Other:
    """A scalar with another value than the declared one."""

    name: str
    declared: int
    value: int
    combination: Combination

    @property
    def shown(self) -> str:
        """Say which."""
        return f"{self.name} = {self.value}"

    def said(self, words: str) -> str:
        """Return the note that it is a limit."""
        return limit.said(f"{RIGHT} {self.name} = {self.declared}; with {self.shown} {words}")


def others(job: JobSpec, base: Combination) -> list[list[Other]]:
    """Return what is tried of each scalar, in the case of a combination; the safest first."""
    found: list[list[Other]] = []
    for argument in job.work.arguments:
        number = whole_scalars.declared(argument.value or "", argument.type.scalar)
        if argument.type.pointer or number is None:
            continue
        values = whole_scalars.others(argument.value or "", argument.type.scalar)
        each = [
            Other(argument.name, number, value, replace(base, case=case))
            for at, value in enumerate(values)
            if _ends(job.baseline.source, argument, number, value)
            for case in ({**base.case, MOVED: float(whole_scalars.code(argument.name, at))},)
        ]
        found += [each[:MOST_VALUES]] if each else []
    return [*found, *_zeros(job, base)][:MOST_SCALARS]


def _zeros(job: JobSpec, base: Combination) -> list[list[Other]]:
    """Return zero for each variable that is passed and sizes nothing: a lag, an offset.

    Not where the original steps or divides by it. What a candidate divides by may be nothing
    there, where its original has nothing to do with it.
    """
    found = []
    case, many = dict(base.case), sizes.elements(job.work, base.case)
    for argument in job.work.arguments:
        name, scalar = argument.value or "", argument.type.scalar
        whole = scalar is not None and scalar.kind in "iu" and not argument.type.pointer
        if not whole or name not in job.work.variables or case.get(name, 0.0) < LEAST_VARIABLE:
            continue
        given = re.escape(argument.name)
        by = rf"(?:[-+*/%]=\s*\(?[\w\s*]{{0,40}}|[/%]\s*\(?\s*)\b{given}\b"
        steps = re.search(by, job.baseline.source)
        sized = sizes.elements(job.work, {**case, name: case[name] + 1}) != many
        if not steps and not sized:
            zero = replace(base, case={**case, name: 0.0})
            found.append([Other(argument.name, int(case[name]), 0, zero)])
    return found


def _ends(source: str, argument: Argument, declared: int, value: int) -> bool:
    """Tell whether nothing says that an original does not end with a value.

    With zero as a step a loop never does, so that only a flag is tried with it; nor with a bound
    that is as good as endless.
    """
    if not value and argument.type.fields[0].scalar.kind != "b":
        given = re.escape(argument.name)
        flag = rf"!\s*{given}\b|\b{given}\s*(?:[=!]=|\?|&&|\|\|)|(?:&&|\|\||if\s*\()\s*{given}\b"
        return re.search(flag, source) is not None
    far = value - declared == whole_scalars.FRACTION
    return not far or not whole_scalars.bounds(source, argument.name)


def base(job: JobSpec, answers: Answers, wanted: Sequence[Combination]) -> Combination | None:
    """Return the smallest declared case of more than a few elements; None where all are large."""
    if captured_work(job.work) or job.kernel == job.baseline:
        return None
    declared = [dict(case.values) for case in job.work.cases]
    fit = [
        one
        for one in wanted
        if one.family == DECLARED
        and dict(one.case) in declared
        and one.key in answers.described
        and 0 < sizes.elements(job.work, one.case) <= MOST_ELEMENTS
        and answers.seconds(one) <= MOST_SECONDS
    ]

    def small(one: Combination) -> tuple[bool, int]:
        elements = sizes.elements(job.work, one.case)
        few = elements <= LEAST_ELEMENTS
        return few, -elements if few else elements

    return min(fit, key=small, default=None)


Check = Callable[
    [Callable[[], Session], Answers, JobSpec, Sequence[Combination], float, Report],
    tuple[list[str], bool],
]


def checking(
    others: Callable[[JobSpec, Combination], Sequence[Sequence[Tried]]],
    layer: str,
    most_seconds: float = MOST_SECONDS,
) -> Check:
    """Return the check that runs a right candidate with what its original does of others.

    In no more than so many seconds. It returns what to say, and if the device is lost; what loads
    the pair is called only where there is something to run.
    """

    def check(
        load: Callable[[], Session],
        answers: Answers,
        job: JobSpec,
        wanted: Sequence[Combination],
        deadline: float,
        report: Report,
    ) -> tuple[list[str], bool]:
        plain = base(job, answers, wanted)
        every = [] if plain is None else others(job, plain)
        if plain is None or not every:
            return [], False

        def does(line: Sequence[Tried]) -> list[Tried]:
            quick = [one for one in line if answers.seconds(one.combination) <= most_seconds]
            return [one for one in quick if stable(answers, plain, one.combination)]

        turns = [one for line in every for one in line]
        return compared(load, answers, job, (every, turns, does), deadline, report, layer)

    return check


# Each scalar's safest value first: what the original fails at is not asked further.
check = checking(others, LAYER, math.inf)


def stable(answers: Answers, plain: Combination, other: Combination) -> bool:
    """Tell whether the original has an answer in an order that is that of the declared one."""
    pair = [answers.described.get(one.key) for one in (plain, other)]
    orders = [
        None if found is None else [(o["name"], o["unordered"]) for o in found["outputs"]]
        for found in pair
    ]
    return orders[1] is not None and orders[0] == orders[1]


@contextlib.contextmanager
def aside(answers: Answers, combinations: Sequence[Combination]) -> Iterator[None]:
    """Have the original asked about what nobody declared, and its answers for as long as this.

    What outputs come in any order is told by all answers: these are no one else's.
    """
    known = set(answers.described)
    try:
        if answers.ask is not None:
            with contextlib.suppress(Fault):
                answers.ask(combinations)
        yield
    finally:
        for key in answers.described.keys() - known:
            del answers.described[key]


def compared(
    load: Callable[[], Session],
    answers: Answers,
    job: JobSpec,
    asked: tuple[
        Sequence[Sequence[Tried]], Sequence[Tried], Callable[[Sequence[Tried]], list[Tried]]
    ],
    deadline: float,
    report: Report,
    layer: str,
) -> tuple[list[str], bool]:
    """Run a candidate with what nobody declared; return what to say, and if the device is lost.

    `asked`: lines of what is tried, all of it in the order in which the original is asked, and what
    returns those of a line that the original does.
    """
    every, turns, does = asked
    if answers.ask is None:
        return [], False
    if deadline - time.monotonic() < LONGEST_CHECK:
        names = ", ".join(each[0].name for each in every)
        return [f"{layer} of {names} not tried: there is no time left"], False
    with aside(answers, [one.combination for one in turns]):
        tried = [does(each) for each in every]
        return _compared(load, answers, job, tried, report, layer)


def _compared(
    load: Callable[[], Session],
    answers: Answers,
    job: JobSpec,
    every: Sequence[Sequence[Undeclared]],
    report: Report,
    layer: str,
) -> tuple[list[str], bool]:
    """Run the candidate with all that the original does, up to the first of each line that fails.

    Return a note for each line of them that is a limit, and whether the device is lost.
    """
    notes: list[str] = []
    session: Session | None = None
    until = time.monotonic() + SECONDS
    for each in every:
        for other in each:
            if other.combination.key not in answers.described or time.monotonic() > until:
                continue
            try:
                session = session or load()
            except (DeviceError, Fault):
                return notes, False
            try:
                words = _wrong(session, answers, job, other, layer)
            except (OutOfMemoryError, Fault):
                continue
            except DeviceError as error:
                lost = not isinstance(error, LaunchError)
                return [*notes, other.said(_failure(error))], lost
            report.runs += 1
            if words:
                notes.append(other.said(f"it is not: {words}"))
                break
            report.add(layer, other.shown, passed=True, error=None, bound=None)
    if notes and session is not None:
        session.renewed()  # what was spoilt there is not the next one's fault
    return notes, False


def _failure(error: DeviceError) -> str:
    if isinstance(error, HungError):
        return "it does not end"
    return f"it fails: {' '.join(str(error).split())[:MOST_SAID]}"


def _wrong(session: Session, answers: Answers, job: JobSpec, other: Undeclared, layer: str) -> str:
    """Say what is wrong with one; nothing where it is right. Raises the errors of devices.

    Once more where its inputs were no longer what they were.
    """
    patience = answers.patience(other.combination)
    for again in (False, True):
        run = session.run(other.combination, nan=False, beside=False, seconds=patience)
        try:
            terms = (other.combination, replace(run, late_us=0.0), layer)
            one_run.judged(Report(), job, answers, *terms)
        except Wrong as wrong:
            if again or not session.renewed(other.combination):
                return str(wrong).rpartition(" (")[0][:MOST_SAID] or str(wrong)[:MOST_SAID]
        else:
            break
    return ""
