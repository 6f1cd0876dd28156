"""Is a call right that has the number of a large one long before it? Counts of calls come round.

What a call leaves in a table that stays, marked with its number, is told from what others left as
long as their numbers differ. Where these are counted in few bits, or modulo something, a later
call has the same one, and where only small ones went in between most of the table is still as the
large one left it. Between calls of one size nothing is left over, and of two small ones too little:
a few blocks start in turn, and each has written before another looks.

So a large call is made, then as many small ones as it takes, at which nobody looks, and then the
large one on other contents, which is compared. What comes round after so many calls does so after
any multiple of them, too: few distances show most counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from runners import one_run
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.compare import Answer
from runners.contents import Combination
from runners.families import DECLARED
from runners.gpu import DeviceError, HungError
from runners.narrow_counts import periods, turns
from runners.session import Session
from runners.spec import MOVED, JobSpec, Json
from runners.text import CLOSES, LONGEST, NAME, Text
from runners.worn_in import changed

LAYER = "same number"
# Calls from a large one to the next. Between them they are multiples of each number up to ten, of
# powers of two up to 4096 and one less than those up to 256, and of ten, a hundred and a thousand.
DISTANCES = (255, 256, 1000, 2520, 3937, 4096)
# Of counts that the text has beside those, so many of either kind.
MOST_COUNTS = 2
# For the small calls of one distance, of a count that the text has, and for all there is to do.
SECONDS, COUNT_SECONDS, ALL_SECONDS = 1.0, 4.0, 8.0
# Elements of all buffers of a large call, and what the original takes for it; how much smaller a
# small one is; and of one that has some work for several blocks, if nobody declared it.
LARGEST, QUICK, TIMES, SEVERAL = 1 << 23, 0.1, 16, 1 << 14
# Large calls that are looked at for one with other contents that make other results.
TRIED = 8
_NONE = frozenset({"(", "using", "typedef", "template", "friend", "constexpr", "__shared__"})
_KINDS = frozenset({"struct", "class", "union", "enum"})
_STAYS = frozenset({"static", "thread_local"})

Known = Callable[[Combination], Mapping[str, Answer] | None]


@dataclass(frozen=True, slots=True)
class Plan:
    """A large call on two kinds of contents, small ones that go in between, and how many of them.

    Each of the small ones goes by itself; a distance is one more than there are of them.
    """

    large: tuple[Combination, Combination]
    small: tuple[Combination, ...]
    distances: Sequence[int]


def check(
    session: Session,
    load: Callable[[JobSpec, Json], Session],
    request: Json,
    job: JobSpec,
    known: tuple[Answers, Sequence[Combination]],
    measured: Json,
    report: Report,
) -> None:
    """Raise `Wrong` for what takes what a large call left for its own.

    It is asked of host code that may keep something. `load` loads a pair where `session` is: the
    original has to survive what a candidate does not; `measured` takes a note where it does not.
    """
    answers, wanted = known
    if job.work.kind != "entry" or job.kernel == job.baseline or not keeps(job.kernel.source):
        return
    chosen = plan(job, wanted, answers.of, answers.seconds)
    if chosen is None:
        return
    try:
        _called(session, answers, job, chosen, report)
    except Wrong as wrong:
        if not _fails(load, request, job, answers, chosen):
            raise
        measured["notes"].append(
            f"a large call as many calls behind another as its number takes to come round is not "
            f"checked: the original fails, too ({wrong})"
        )
        report.forget(LAYER)
        load(job, request)


def keeps(source: str) -> bool:
    """Tell whether a text seems to have a variable that stays from call to call.

    >>> keeps("int* room;"), keeps("void f() { static int n; }"), keeps("__device__ int n = f(0);")
    (True, True, True)
    >>> keeps("constexpr int N = 3; static void f(int n) { int m; } struct S { int n; };")
    False
    """
    if len(source) > LONGEST:
        return True
    text = Text(source)
    return any(map(_variable, chain(_outside(text), _said(text))))


def _outside(text: Text) -> Iterator[list[str]]:
    """Yield the statements outside of functions and structures, of brackets how they begin."""
    words: list[str] = []
    at = 0
    while at < text.count:
        word = text.tokens[at]
        body = word == "{" and "=" not in words
        if body and {"namespace", "extern"} & {*words} and "(" not in words:
            words = []
        elif word in {";", "}"}:
            yield words
            words = []
        else:
            words.append(word)
            at = text.close(at) if word in CLOSES else at
            words = [] if body and "(" in words else words
        at += 1


def _said(text: Text) -> Iterator[list[str]]:
    """Yield the statements anywhere that begin with a word that says that something stays."""
    for at in range(text.count):
        if text.tokens[at] in _STAYS:
            ends = (p for p in range(at, text.count) if text.tokens[p] in {";", "=", "(", "[", "{"})
            end = next(ends, text.count)
            yield text.tokens[at : end + (text.tokens[end] == "(")]


def _variable(words: Sequence[str]) -> bool:
    """Tell whether the words of a statement declare a variable that may change."""
    head = [*words[: words.index("=")]] if "=" in words else [*words]
    if _NONE & {*head} or ("const" in head and "*" not in head):
        return False
    if _KINDS & {*head} and head[-1] == "{":
        return False
    return sum(NAME.fullmatch(one) is not None for one in head) > 1


def plan(
    job: JobSpec,
    wanted: Sequence[Combination],
    known: Known,
    took: Callable[[Combination], float],
) -> Plan | None:
    """Return what is called; None where nothing large has two results, or nothing else is small.

    The largest is taken that is no burden. Of small ones first one with a few blocks, declared if
    there is one, since a single block may have a way of its own, and then the least.
    """

    def weight(one: Combination) -> int:
        return job.work.elements(one.case)

    plain = [
        one
        for one in wanted
        if one.family == DECLARED
        and MOVED not in one.case
        and 0 < weight(one) <= LARGEST
        and known(one) is not None
        and took(one) <= QUICK
    ]
    plain.sort(key=lambda one: -weight(one))
    pairs = ((one, *changed(wanted, one, known, 1)) for one in plain[:TRIED])
    large = next((pair for pair in pairs if len(pair) > 1), None)
    if large is None:
        return None
    case = large[0].case
    small = [
        one
        for one in plain
        if TIMES * weight(one) <= weight(large[0])
        and one.case.keys() == case.keys()
        and all(one.case[name] <= case[name] for name in case)
    ]
    declared = [dict(one.values) for one in job.work.cases]
    several = [one for one in small if weight(one) <= SEVERAL]
    several.sort(key=lambda one: (dict(one.case) in declared, weight(one)))
    chosen = {one.key: one for one in (*several[-1:], *small[-1:])}
    apart = distances(job.kernel.source)
    return Plan((large[0], large[1]), tuple(chosen.values()), apart) if chosen else None


def distances(source: str) -> list[int]:
    """Return how many calls there are from a large one to the next, also by a text's own counts.

    >>> distances("static unsigned short n; void f() { ++n; }")[-2:]
    [4096, 65536]
    """
    found = (dict.fromkeys([*of(source)]) for of in (periods, turns))
    others = [[one for one in some if all(known % one for known in DISTANCES)] for some in found]
    return sorted({*DISTANCES, *(one for some in others for one in some[:MOST_COUNTS])})


def _called(session: Session, answers: Answers, job: JobSpec, chosen: Plan, report: Report) -> None:
    """Make large calls with small ones in between, as long as there is time; raise `Wrong`."""
    deadline = time.monotonic() + ALL_SECONDS
    turn = 0
    _compared(session, answers, job, chosen.large[turn], "at first", report)
    for small in chosen.small:
        for distance in chosen.distances:
            most = SECONDS if distance in DISTANCES else COUNT_SECONDS
            seconds = min(most, deadline - time.monotonic())
            if seconds <= 0:
                return
            where = f"{distance:,} calls behind one as large"
            try:
                made = session.many(small, distance - 1, seconds, answers.patience(small))
            except DeviceError as error:
                raise _failed(error, f"in {distance - 1:,} small calls") from error
            if made < distance - 1:
                break  # it would not come to a longer one either
            turn = 1 - turn
            _compared(session, answers, job, chosen.large[turn], where, report)


def _compared(
    session: Session,
    answers: Answers,
    job: JobSpec,
    one: Combination,
    where: str,
    report: Report,
) -> None:
    """Make a large call and compare it; raise `Wrong`, also for what crashes."""
    limit = max(1.0, answers.patience(one))
    try:
        (run,) = session.row((one,), nan=True, apart=False, seconds=limit, before=0)
    except DeviceError as error:
        raise _failed(error, where) from error
    try:
        one_run.judged(report, job, answers, one, run, LAYER)
    except Wrong as wrong:
        raise Wrong(wrong.status, f"{where}: {wrong}") from wrong


def _failed(error: DeviceError, where: str) -> Wrong:
    status = "timed out" if isinstance(error, HungError) else "crashed"
    return Wrong(status, f"{where}, {LAYER}: {error}")


def _fails(
    load: Callable[[JobSpec, Json], Session],
    request: Json,
    job: JobSpec,
    answers: Answers,
    chosen: Plan,
) -> bool:
    """Tell whether the original fails at the same calls; it is run where the candidate was."""
    same = replace(job, kernel=job.baseline)
    try:
        session = load(same, {**request, "candidate": request["baseline"]})
        _called(session, answers, same, chosen, Report())
    except (Wrong, DeviceError):
        return True
    return False
