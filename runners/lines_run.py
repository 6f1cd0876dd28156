"""Which lines of a kernel no check has come to: what has not run was not verified.

A build of the finalist that marks which of its blocks run (`runners.marks`) is run on all that the
finalist was asked, and on what it was fuzzed with. Where lines are left, a few hundred more small
contents are made up, and one that comes to a new line is put to the original at length. What is
still left then is told: a branch for keys that are all alike, say, that no contents had. It is no
fault, since it may be right, or never needed.

Lines that the original has as well are not told: what an edit leaves alone is not its doing.
Kernels alone are run so: host code has its kernels compiled into it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from runners import marks, second_look
from runners.answers import Answers, Build
from runners.checks import Report
from runners.contents import Combination, pool
from runners.fault import Fault
from runners.fuzzing import Fuzzing, asked_again
from runners.gpu import DeviceError, LaunchError, OutOfMemoryError
from runners.other_values import LONGEST_CHECK
from runners.session import Marking, Session
from runners.spec import JobSpec, Json

LAYER = "lines run"
UNSEEN = f"{LAYER}: not looked at: a build that marks them could not be made, or did not run"
# For all runs, and for those beyond what was checked; how many of them; and runs between two looks.
SECONDS, MORE_SECONDS, MOST_MORE, LOOK = 4.0, 2.0, 400, 8
# Of those that come to new lines so many are put to the original.
MOST_ASKED = 6
# Lines in a note.
MOST_TOLD = 8
PATIENCE = 10.0


def own_lines(candidate: str, original: str) -> frozenset[int]:
    r"""Return the numbers of a candidate's lines that its original has not, from one.

    >>> sorted(own_lines("a;\nb;\n  c;", "c;\na;"))
    [2]
    """
    theirs = {line.strip() for line in original.splitlines()}
    mine = enumerate(candidate.splitlines(), 1)
    return frozenset(number for number, line in mine if line.strip() not in theirs)


class _Seen:
    """What has run of the lines that are to be told."""

    def __init__(
        self, marking: Marking, lines: Sequence[Sequence[int]], own: frozenset[int]
    ) -> None:
        self._marking = marking
        self._lines = [[line for line in block if line in own] for block in lines]
        self.left = marks.unseen(self._lines, [0] * len(lines))
        self.all, self.runs = len(self.left), 0

    def run(self, combination: Combination) -> None:
        """Run it once; a case that does not fit says nothing."""
        try:
            self._marking.run(combination, seconds=PATIENCE)
        except OutOfMemoryError:
            return
        self.runs += 1

    def look(self) -> list[int]:
        """Return the lines that have run since it last looked."""
        before = self.left
        self.left = marks.unseen(self._lines, self._marking.ran())
        return [line for line in before if line not in self.left]


class LinesRun:
    """Has a finalist's lines looked at; `mark` compiles it with marks (`Building.marked`)."""

    def __init__(self, mark: Build) -> None:
        self._mark = mark
        self._built: Future[Json | None] | None = None

    def begin(self, request: Json, job: JobSpec) -> None:
        """Begin to compile a kernel that has lines of its own."""
        own = own_lines(job.kernel.source, job.baseline.source)
        begins = job.work.kind == "kernel" and own
        terms = (job.kernel.source, request["job"])
        self._built = pool().submit(self._mark, *terms) if begins else None

    def check(
        self,
        session: Session,
        fuzzing: Fuzzing,
        answers: Answers,
        job: JobSpec,
        wanted: Sequence[Combination],
        deadline: float,
        report: Report,
    ) -> tuple[list[str], bool]:
        """Return what is to be noted, and whether the device is lost. Raise `Wrong`."""
        if self._built is None:
            return [], False
        try:
            built = self._built.result()
        except Fault:
            built = None
        if built is None:
            return [UNSEEN], False
        asked = (wanted, *fuzzing.ran(answers, job, wanted))
        return check(built, session, answers, job, asked, deadline, report)


def check(
    built: Json,
    session: Session,
    answers: Answers,
    job: JobSpec,
    asked: tuple[Sequence[Combination], Sequence[Combination], Iterator[Combination]],
    deadline: float,
    report: Report,
) -> tuple[list[str], bool]:
    """Return what is to be noted, and whether the device is lost. Raise `Wrong`.

    `built` is the candidate with marks, and its lines; `asked` is what it was judged by where there
    are answers, what it was fuzzed with, and what else can be made up.
    """
    if deadline - time.monotonic() < LONGEST_CHECK:
        return [f"{LAYER}: not looked at: there is no time left"], False
    own = own_lines(job.kernel.source, job.baseline.source)
    before, (wanted, fuzzed, more) = report.snapshot(), asked
    try:
        marking = session.marking(built)
        if marking is None:
            return [], False
        seen = _Seen(marking, built["lines"], own)
        checked = [*_with_answers(answers, job, wanted), *fuzzed]
        missed = _through(seen, checked)
        found = [] if missed else _further(seen, more)
    except (DeviceError, Fault) as error:
        # It has passed without marks: what they do to it is not its fault.
        report.restore(before)
        return [UNSEEN], isinstance(error, DeviceError) and not isinstance(error, LaunchError)
    new = [one for one, _ in found]
    unanswered = asked_again(session, answers, job, new, report, LAYER)
    left = sorted({*seen.left, *(n for one, some in found if one.key in unanswered for n in some)})
    done = seen.all - len(left)
    report.add(LAYER, f"{done} of {seen.all} lines", passed=True, error=None, bound=None)
    return told(left, seen.runs, missed), False


def _with_answers(
    answers: Answers, job: JobSpec, wanted: Sequence[Combination]
) -> list[Combination]:
    """Return what it was judged by, kinds of contents by turns, of each the smallest first."""
    known = [one for one in wanted if one.key in answers.described]
    known.sort(key=lambda one: job.work.elements(one.case))
    return second_look.spread(known, lambda one: one.family)


def _through(seen: _Seen, asked: Sequence[Combination]) -> int:
    """Run it on all that was checked, until all lines have run; return how many were left out."""
    until = time.monotonic() + SECONDS
    for number, one in enumerate(asked):
        if not seen.left:
            break
        if time.monotonic() > until:
            seen.look()
            return len(asked) - number
        seen.run(one)
        if (number + 1) % LOOK == 0 or number + 1 == len(asked):
            seen.look()
    return 0


def _further(seen: _Seen, more: Iterator[Combination]) -> list[tuple[Combination, list[int]]]:
    """Return what comes to lines that nothing came to before, and those."""
    found: list[tuple[Combination, list[int]]] = []
    until = time.monotonic() + MORE_SECONDS
    for number, one in enumerate(more):
        enough = not seen.left or len(found) == MOST_ASKED or number == MOST_MORE
        if enough or time.monotonic() > until:
            break
        seen.run(one)
        if new := seen.look():
            found.append((one, new))
    return found


def told(left: Sequence[int], runs: int, missed: int = 0) -> list[str]:
    """Return a note on the lines that no run came to; none where there are none.

    `missed`: so many of those that it was checked with were not looked at.

    >>> told([3, 4, 5, 9], 120)
    ['never run in 120 runs, so not verified: lines 3-5 and 9 of the candidate']
    >>> told([7], 1)
    ['never run in 1 run, so not verified: line 7 of the candidate']
    >>> told([7], 20, 400)
    ['never run in 20 runs (of 420 that were verified): line 7 of the candidate']
    """
    if not left:
        return []
    ranges: list[list[int]] = []
    for line in left:
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    words = [f"{a}" if a == b else f"{a}-{b}" for a, b in ranges]
    if len(words) > MOST_TOLD:
        words = [*words[:MOST_TOLD], f"{len(words) - MOST_TOLD} more places"]
    named = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    many = "1 run" if runs == 1 else f"{runs} runs"
    kind = "line" if len(left) == 1 else "lines"
    where = f"{kind} {named} of the candidate"
    if missed:
        return [f"never run in {many} (of {runs + missed} that were verified): {where}"]
    return [f"never run in {many}, so not verified: {where}"]
