"""Is a candidate right? Runs it on every combination the original answers, in several ways.

In any order, under delays, as if many launches had gone before, one call behind the other: each
way shows faults that the others do not. What one run is compared with is in `runners.one_run`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from runners import (
    equal_parts,
    full_grids,
    one_element,
    one_run,
    overlapping,
    recipes,
    rounds,
    unchecked,
)
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.compare import Answer, nothing_asked
from runners.contents import Combination
from runners.expressions import ExpressionError, count
from runners.families import (
    DECLARED,
    EARLY,
    ENDS,
    FAR_ENDS,
    LONGEST,
    MASKS,
    OPPOSITE,
    OPPOSITE_ROWS,
)
from runners.full_grids import FAMILIES, ONCE, SHAKEN_ELEMENTS, TWICE, WATCHED_ELEMENTS
from runners.gpu import LaunchError, OutOfMemoryError
from runners.inputs import stream
from runners.retained import ahead
from runners.rows import MakeRows, rows
from runners.session import Session, Shaken
from runners.sizes import whole_words
from runners.spec import JobSpec
from runners.worn_in import changed

_REPEATS = {"screen": 2, "race": 3, "confirm": 6}
# Families of cases so heavy, or so many, that one run has to do.
ONE_RUN = frozenset({LONGEST, OPPOSITE, OPPOSITE_ROWS, EARLY, FAR_ENDS, recipes.WORD})
# Runs where blocks may meet that do so in nothing that is declared; so many times as many of these
# and of the declared, where a candidate alone loads, changes and stores.
MET_REPEATS, UPDATED_TIMES = 6, 2
SHAKEN_FAMILIES = frozenset({DECLARED, "mixed", "integers"})
SHAKEN_PATIENCE, SHAKEN_SECONDS = 0.05, 20.0
MANY_UNSEEN = (600, 120)
# What knows of time is run again after pauses of so many seconds.
PAUSES, GATE_SECONDS = (0.7, 2.0, 5.0), 16.0
WATCHED_ENDS, WATCHED_BESIDE = 4, 6
# What memcheck alone is shown besides: so many runs, of so many elements at most.
FURTHER, FURTHER_ELEMENTS = 48, 1 << 14
MANY_LAUNCHES, MANY_IN_A_ROW = (24, 12), 140
SHAKEN_RUNS, SHAKEN_CASES = 3, 6
# Runs under delays of every other kind of contents: who returns early is late in none of the above.
OTHERS_SHAKEN, MASKS_SHAKEN = 2, 6
# Rows of calls on any inputs, beside those whose scalar arguments move.
MIXED_ROWS = 2


def verify(
    session: Session,
    answers: Answers,
    job: JobSpec,
    wanted: Sequence[Combination],
    report: Report,
    seconds: float,
    *,
    updates: bool = False,
) -> None:
    """Run the candidate on every wanted combination that has an answer, in random order.

    With `updates` it is run more often where blocks may meet (`runners.plain_updates`).
    Raises `Wrong` at the first run that is not right, and the errors of `runners.gpu`.
    """
    rng = stream(job.seed, "order", job.kernel.digest)
    declared = [c for c in wanted if c.family == DECLARED and one_run.is_declared(job, c)]
    known = launched(job, answers)
    rest = [c for c in wanted if c not in declared and known(c) is not None]
    repeats = _REPEATS.get(job.effort, 2)
    often = {c.key for c in equal_parts.repeated(job, wanted)}
    usual, times = 1 if repeats == 2 else 2, UPDATED_TIMES if updates else 1

    def runs(one: Combination) -> int:
        if one.key in often:
            return MET_REPEATS * times
        return 1 if one.family.partition(" ")[0] in ONE_RUN else usual

    turns = [(c, n) for c in declared for n in range(repeats * times)]
    turns += [(c, n) for c in rest for n in range(runs(c))]
    deadline = time.monotonic() + seconds
    forgiven = 0
    for at in rng.permutation(len(turns)):
        combination, number = turns[int(at)]
        nan = number % 2 == 1 or (number == 0 and bool(rng.random() < 0.5))
        # Beside others blocks that would meet come one after the other.
        crowded = 2 <= number < repeats and combination.key not in often
        made = partial(
            session.run,
            combination,
            nan=nan,
            beside=crowded or bool(rng.random() < 0.2),
            seconds=max(1.0, min(answers.patience(combination), deadline - time.monotonic())),
        )
        while True:
            before = report.snapshot()
            try:
                for run in one_run.settled(made):
                    one_run.judge(report, job, answers, combination, run)
                    report.runs += 1
            except Wrong:
                # Its inputs may be what an earlier candidate left of them.
                if job.checks == "confirm" or forgiven == 2 or not session.renewed(combination):
                    raise
                session.renewed()
                report.restore(before)
                forgiven += 1
            else:
                break
    one_run.dispel(report, answers)


def launched(
    job: JobSpec, answers: Answers
) -> Callable[[Combination], Mapping[str, Answer] | None]:
    """Return what gives the answers of a combination; none where a launch may as well fail.

    A kernel's launch of no blocks fails, and leaves everything as it was. That is no fault where
    the original leaves it so, or makes NaN of nothing. Host code goes on behind such a launch.
    """
    launch = job.kernel.launch or job.work.launch

    def known(combination: Combination) -> Mapping[str, Answer] | None:
        found = answers.of(combination)
        if found is None or job.work.kind != "kernel" or launch is None:
            return found
        if all(_blocks(entry, combination.case) for entry in launch.grid):
            return found
        return None if all(map(nothing_asked, found.values())) else found

    return known


def _blocks(entry: str, case: Mapping[str, float]) -> bool:
    try:
        return count(entry, case) != 0
    except ExpressionError:
        return True


def kept_apart(session: Session, report: Report) -> None:
    """Raise `Wrong` where inputs of other combinations are no longer what was uploaded."""
    spoilt = session.renewed()
    report.add("fresh world", "other inputs", passed=not spoilt, error=None, bound=None)
    if spoilt:
        raise Wrong("wrong result", "wrote far outside its buffers: into inputs of other runs")


def shaken(
    session: Shaken,
    answers: Answers,
    job: JobSpec,
    wanted: Sequence[Combination],
    report: Report,
) -> None:
    """Run the candidate under delays of its warps (`runners.shaking`); raise `Wrong`.

    Cases are small ones: delays make a long loop a hundred times longer. One of them is such that
    blocks that stay come to their second piece of work, and one such that blocks meet, where there
    is one (`runners.at_large` has larger ones); in some loops go round (`runners.rounds`).
    """

    def weight(combination: Combination) -> int:
        return job.work.elements(combination.case)

    fit = [c for c in light(job, answers, wanted) if c.family in SHAKEN_FAMILIES]
    # The declared and the largest ones have the most warps; small ones have absent lanes.
    fit.sort(key=lambda c: (not one_run.is_declared(job, c), -weight(c)))
    rng = stream(job.seed, "shaken", job.kernel.digest)
    rest = [fit[int(at)] for at in SHAKEN_CASES + rng.permutation(max(0, len(fit) - SHAKEN_CASES))]
    first = [*fit[:SHAKEN_CASES], *going_round(job, answers, wanted, fit[:SHAKEN_CASES])]
    first += [one for one in meeting(job, answers, wanted) if one not in first]
    first += rounds.longer(job, fit, first, rounds.FARTHEST)
    lapping = overlapping.alone(job.work, fit) * overlapping.RUNS
    rest = [*lapping, *_of_each_kind(light(job, answers, wanted)), *rest]
    deadline = time.monotonic() + SHAKEN_SECONDS
    least = len(first) * SHAKEN_RUNS
    for number, combination in enumerate([*(first * SHAKEN_RUNS), *rest]):
        # A busy machine may take most of the time for loading.
        if time.monotonic() - session.loading > deadline:
            unchecked.cut(report, early=number < least)
            break
        seed = int(rng.integers(1, 2**32))
        try:
            nan = number % 2 == 1
            runs = one_run.settled(
                partial(session.run, combination, nan=nan, seed=seed, seconds=30.0)
            )
        except (LaunchError, OutOfMemoryError):
            unchecked.cut(report, early=number > 0)
            break  # delays take registers: what does not fit with them is not refused
        for run in runs:
            one_run.judge(report, job, answers, combination, run, "delayed warps")
            report.runs += 1
    one_run.dispel(report, answers)


def _of_each_kind(fit: Sequence[Combination]) -> list[Combination]:
    """Return the first combination of each family that is not shaken anyway, several times each.

    Contents decide which way a block goes, and so what it leaves to those behind it: one that has
    nothing to add returns ahead of the count of blocks, which is seen where it is the last alone.
    """
    found: dict[str, Combination] = {}
    for one in fit:
        if one.family not in SHAKEN_FAMILIES and one_element.change(one.family) is None:
            found.setdefault(recipes.kind(one.family), one)
    masks = [one for one in found.values() if one.family in MASKS]
    return [*masks * (MASKS_SHAKEN - OTHERS_SHAKEN), *[*found.values()] * OTHERS_SHAKEN]


def light(job: JobSpec, answers: Answers, wanted: Sequence[Combination]) -> list[Combination]:
    """Return the combinations that are not too heavy for many delayed runs."""
    known = launched(job, answers)
    return [
        c
        for c in wanted
        if known(c) is not None
        and job.work.elements(c.case) <= SHAKEN_ELEMENTS
        and answers.seconds(c) <= SHAKEN_PATIENCE
    ]


def going_round(
    job: JobSpec,
    answers: Answers,
    wanted: Sequence[Combination],
    others: Sequence[Combination],
) -> list[Combination]:
    """Return the lightest combination in which all blocks of a full grid go round, if any.

    None where one of the others is such, and none that is too heavy for delays.
    """
    if any(full_grids.turns(job, one.case) > TWICE for one in others):
        return []
    fit = [
        c
        for c in light(job, answers, wanted)
        if c.family in FAMILIES and full_grids.turns(job, c.case) > TWICE
    ]
    return sorted(fit, key=lambda c: job.work.elements(c.case))[:1]


def meeting(job: JobSpec, answers: Answers, wanted: Sequence[Combination]) -> list[Combination]:
    """Return the lightest combination in which blocks meet that otherwise do not, if any is light.

    None that is too heavy for delays.
    """
    fit = light(job, answers, equal_parts.repeated(job, wanted))
    return sorted(fit, key=lambda c: job.work.elements(c.case))[:1]


def small(
    job: JobSpec,
    answers: Answers,
    wanted: Sequence[Combination],
    beside: Sequence[Combination] = (),
    most: int = 3,
) -> list[Combination]:
    """Choose combinations that a tool a thousand times slower can look at, the declared first.

    The last of them is the one with most sizes that are multiples of 32. Behind them come sizes
    that nobody compares: all of them whole words, and each alone. An access past the end that is
    made where nothing is left over is made there only. Then contents at the ends of their ranges,
    where what is read by an index is nearest to the end of its buffer, and those of `beside`: sizes
    near a candidate's own numbers, where its buffers are full. Before these, one in which blocks of
    a full grid go round: races between one piece of work and the next; last, those in which a
    block's own loops do, where it has shared memory.
    """

    def weight(combination: Combination) -> int:
        return job.work.elements(combination.case)

    known_to = launched(job, answers)
    fit = [
        c
        for c in wanted
        if c.family == DECLARED and weight(c) <= WATCHED_ELEMENTS and known_to(c) is not None
    ]
    fit.sort(key=lambda c: (not one_run.is_declared(job, c), -weight(c)))

    def whole(combination: Combination) -> int:
        return sum(value > 0 and value % 32 == 0 for value in combination.case.values())

    if not fit:
        return []
    *first, last = fit[:most]
    chosen = [*first, max([last, *fit[most:]], key=whole)]
    known = {c.key for c in chosen}
    for case in whole_words(job.work, chosen[0].case, WATCHED_ELEMENTS):
        made = Combination(case, DECLARED, chosen[0].seed)
        if made.key not in known:
            known.add(made.key)
            chosen.append(made)
    light = [c for c in wanted if weight(c) <= WATCHED_ELEMENTS and answers.of(c) is not None]
    chosen += [c for c in light if c.family == ENDS][:WATCHED_ENDS]
    if not any(full_grids.turns(job, c.case) > ONCE for c in chosen):
        again = [(full_grids.turns(job, c.case), c) for c in light]
        again = [(turns, c) for turns, c in again if turns > ONCE and c.family in FAMILIES]
        again.sort(key=lambda one: (-min(TWICE, one[0]), weight(one[1])))
        chosen += [c for _, c in again[:1]]
    full = [c for c in beside if weight(c) <= WATCHED_ELEMENTS and answers.of(c) is not None]
    chosen += [c for c in full if c not in chosen][:WATCHED_BESIDE]
    if not rounds.shared(job):
        return chosen
    launchable = (c for c in light if known_to(c) is not None)
    quick = [c for c in launchable if answers.seconds(c) <= rounds.WATCHED_SECONDS]
    return [*chosen, *rounds.longer(job, quick, chosen)]


def further(
    job: JobSpec,
    answers: Answers,
    wanted: Sequence[Combination],
    watched: Sequence[Combination],
) -> list[Combination]:
    """Choose what memcheck may look at besides, as it takes least of all tools: light ones.

    Each size once, and of one size each kind of contents, as what is read by an index may be
    within its buffer for most. An access past the end whose value is not used shows nowhere else,
    and may be made at three elements, or at a remainder of three, alone.
    """
    known = launched(job, answers)
    cases = {tuple(sorted(c.case.items())) for c in watched}
    kinds = {recipes.kind(c.family) for c in watched}
    sized: list[Combination] = []
    filled: list[Combination] = []
    for one in wanted:
        if job.work.elements(one.case) > FURTHER_ELEMENTS or known(one) is None:
            continue
        case = tuple(sorted(one.case.items()))
        if case not in cases:
            sized.append(one)
        elif recipes.kind(one.family) not in kinds:
            filled.append(one)
        cases.add(case)
        kinds.add(recipes.kind(one.family))
    return [*filled[: FURTHER // 3], *sized][:FURTHER]


def remembered(
    session: Session,
    answers: Answers,
    job: JobSpec,
    report: Report,
    seconds: float,
    wanted: Sequence[Combination] = (),
) -> None:
    """Run a candidate that keeps something between launches as if many had gone before.

    Then on other contents, too: what it keeps from then on is right for those it was counted with.
    One that leaves its variables as it found them has no memory. Raises `Wrong`.
    """
    kept = session.retained
    if kept is None or not kept.changed():
        return
    rng = stream(job.seed, "remembered", job.kernel.digest)
    declared = [Combination(case.values, DECLARED, job.seed) for case in job.work.cases]
    declared.sort(key=lambda c: job.work.elements(c.case))
    deadline = time.monotonic() + seconds

    def run(combination: Combination, number: int) -> None:
        limit = max(1.0, min(answers.patience(combination), deadline - time.monotonic()))
        nan = number % 2 == 1
        made = partial(session.run, combination, nan=nan, beside=False, seconds=limit)
        for outcome in one_run.settled(made):
            one_run.judge(report, job, answers, combination, outcome, "many launches")
            report.runs += 1

    for combination in dict.fromkeys((declared[0].key, declared[-1].key)):
        one = next(c for c in declared if c.key == combination)
        run(one, 0)  # what comes behind it is one launch a run
        readings = [kept.read()]
        for number in range(2):
            run(one, number)
            readings.append(kept.read())
        later = ahead(
            readings[0], readings[1], readings[2], rng, MANY_LAUNCHES[job.effort == "screen"]
        )
        for number, words in enumerate(later):
            kept.write(words)
            run(one, number)
        others = changed(wanted, one, answers.of) if later else []
        for other in others:
            for number in {len(later) // 4, len(later) // 2, len(later) - 1}:
                kept.write(later[number])
                run(other, number)
        if later:
            kept.write(readings[-1])
            for number in range(MANY_IN_A_ROW):
                run(declared[0], number)
                if time.monotonic() > deadline - seconds / 2:
                    break
            for number, other in enumerate(changed(wanted, declared[0], answers.of)):
                run(other, number)
    one_run.dispel(report, answers)


def repeated(
    session: Session,
    answers: Answers,
    job: JobSpec,
    report: Report,
    seconds: float,
    pauses: Sequence[float] = (),
    wanted: Sequence[Combination] = (),
) -> None:
    """Run a candidate hundreds of times that may keep something where it cannot be seen.

    With `pauses` (s), a share of the runs comes behind each of them. The last have other contents
    of the same case, if there are any `wanted`. Raises `Wrong`.
    """
    declared = [Combination(case.values, DECLARED, job.seed) for case in job.work.cases]
    one = min(declared, key=lambda c: job.work.elements(c.case))
    deadline = time.monotonic() + seconds
    count = MANY_UNSEEN[job.effort == "screen"]
    waits = {count * (n + 1) // (len(pauses) + 1): pause for n, pause in enumerate(pauses)}

    def run(combination: Combination, number: int) -> None:
        limit, nan = answers.patience(combination), number % 2 == 1
        made = partial(session.run, combination, nan=nan, beside=False, seconds=limit)
        for outcome in one_run.settled(made):
            one_run.judge(report, job, answers, combination, outcome, "many launches")
            report.runs += 1

    for number in range(count):
        if time.monotonic() > deadline:
            break
        time.sleep(waits.get(number, 0.0))
        run(one, number)
    for number, other in enumerate(changed(wanted, one, answers.of)):
        run(other, number)
    one_run.dispel(report, answers)


def in_a_row(
    session: Session,
    answers: Answers,
    job: JobSpec,
    wanted: Sequence[Combination],
    report: Report,
    seconds: float,
    made: MakeRows = rows,
) -> None:
    """Run a candidate on one combination behind the other (`runners.rows`); raise `Wrong`.

    The rows, which are those that are `made`, are the same ones for an original and its candidates.
    """
    rng = stream(job.seed, "rows")
    deadline = time.monotonic() + seconds
    for number, row in enumerate(made(job, wanted, launched(job, answers), rng, MIXED_ROWS)):
        if time.monotonic() > deadline:
            break
        limit = max(1.0, sum(min(answers.patience(one), 5.0) for one in row.combinations))
        runs = session.row(
            row.combinations,
            nan=number % 2 == 1,
            apart=row.apart,
            seconds=limit,
            held_ns=row.held_ns,
            keeps=row.keeps,
            before=row.before,
            by_turns=row.by_turns,
        )
        for combination, run in zip(row.combinations, runs, strict=True):
            one_run.judge(report, job, answers, combination, run, "calls in a row")
            report.runs += 1
    one_run.dispel(report, answers)
