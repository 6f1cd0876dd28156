"""What two runs of an original teach about a command line that nobody declared.

Fewer than of a declared one (`runners.program_learning`): who does what the first one did is right
by that alone. Where it is not the same, a second one is asked for, and where both are the same bit
by bit, but for what nothing writes, there is no more to learn; else two more tell what varies.
Nothing is asked where it does not do there what it does with its declared arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from runners import program_faults, program_growth, program_stdout
from runners.program_compare import Expectation
from runners.program_growth import Work
from runners.program_learning import FAILING, learned, reference
from runners.program_profile import Profile, Reference, patience
from runners.program_report import Report
from runners.program_run import Probe, Ran, Runner

ALL_ONES = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Original:
    """A built original, and what is known of it with declared arguments."""

    runner: Runner
    program: Path
    declared: Profile
    must: str
    seed: int

    def ran(self, arguments: Sequence[str], poison: str, seconds: float) -> Ran | None:
        """Run it with arguments; None where it does not work there as with its own."""
        probe = Probe(poison, self.seed, record=True)
        run = self.runner.run(self.program, arguments, probe, seconds)
        if run.exit is None and not run.launched:  # a busy host may take long to start it
            run = self.runner.run(self.program, arguments, probe, 2 * seconds)
        return run if self.well(run) else None

    def well(self, run: Ran) -> bool:
        """Tell whether it ended as with its declared arguments, and nothing failed."""
        report, known = run.report, self.declared
        if report is None or run.exit is None or run.exit != known.exit or report.broken:
            return False
        if report.ended not in {"return", "exit"} or self.must not in run.stdout:
            return False
        if any((one.api, one.name) not in known.failures for one in report.failures):
            return False
        # Its own check is the judge of it: who fails it may well be nearer to the truth.
        failing = FAILING.search(run.stdout) and not FAILING.search(known.stdouts[0])
        works = report.launches > 0 or known.launches == 0
        return works and not failing and len(report.guards) <= known.guards


@dataclass(frozen=True, slots=True)
class Glimpse:
    """An original with arguments that nobody declared: what is compared, and its work."""

    profile: Profile
    work: Work


@dataclass(slots=True)
class Look:
    """An original's first run with arguments that nobody declared, and what more tell once asked.

    Who does what one run did needs no more of them: on a busy host each takes seconds. It outlives
    the request that it was made for, and so it keeps nothing that runs programs.
    """

    arguments: tuple[str, ...]
    first: Ran
    report: Report
    base: Reference
    # The poisons of the first run, and of what is compared with it.
    poisons: tuple[str, str]
    _found: list[Glimpse | None] = field(default_factory=list["Glimpse | None"])

    @property
    def work(self) -> Work:
        """Return how much the original does there."""
        return program_growth.of(self.report, self.first.seconds)

    def once(self, known: Profile) -> Profile:
        """Return what is compared if nothing varies from run to run, nor by fresh memory.

        `known` is what the original does with its declared arguments.
        """
        found = _profile(known, self.arguments, [self.first], self.report)
        again = replace(self.base, poison=self.poisons[1])
        same = tuple(learned([self.base], self.base))
        return replace(found, references={again.poison: again}, expectations=same)

    @property
    def useless(self) -> bool:
        """Tell whether further runs have said that nothing may be asked."""
        return self._found == [None]

    def glimpse(self, original: Original) -> Glimpse | None:
        """Learn from further runs what varies; None where nothing may be asked. Asked once."""
        if not self._found:
            self._found.append(_learned(self, original))
        return self._found[0]


def varies(known: Profile, *, copies_alone: bool) -> bool:
    """Tell whether declared runs do not do, print or leave the same each time.

    With `copies_alone`, what is left unwritten in a buffer is nothing that anybody compares.
    """
    if any(program_stdout.difference(known.stdouts[:1], one) for one in known.stdouts[1:]):
        return True
    every = known.expectations
    return any(e.unstable or e.unordered or (_partly(e) and not copies_alone) for e in every)


def look(original: Original, arguments: tuple[str, ...], seconds: float) -> Look | None:
    """Run an original once with other arguments.

    None where it does not end in so many seconds, or not as with its own arguments.
    """
    known = original.declared
    fresh = "random" in known.references and "nan" in known.references
    poisons = ("random", "nan") if fresh else ("zero", "zero")
    first = original.ran(arguments, poisons[0], seconds)
    if first is None or first.report is None:
        return None
    base = reference(poisons[0], first, first.report, None)
    return Look(arguments, first, first.report, base, poisons)


def glimpse(original: Original, arguments: tuple[str, ...], seconds: float) -> Glimpse | None:
    """Run an original with other arguments, as often as it takes to learn from it.

    None where it does not end in so many seconds, or not as with its own arguments; where it does
    other things the second time, or with other words in fresh memory; and where it leaves alone, or
    takes from fresh memory, parts of buffers that it fills with its own arguments.
    """
    found = look(original, arguments, seconds)
    return found.glimpse(original) if found else None


def _learned(look: Look, original: Original) -> Glimpse | None:
    known, first, base = original.declared, look.first, look.base
    fresh = look.poisons[0] != look.poisons[1]
    runs, layers = [first], [base]

    def again(poison: str) -> bool:
        probe = Probe(poison, original.seed, record=True, expected=base.digests)
        limit = patience(first.seconds)
        run = original.runner.run(original.program, look.arguments, probe, limit)
        report = run.report
        if report is None or not original.well(run) or not program_faults.same_work(first, run):
            return False
        runs.append(run)
        layers.append(reference(poison, run, report, base))
        return True

    if not again(look.poisons[1]):
        return None
    expectations: tuple[Expectation, ...] | None
    expectations = _unwritten(base, layers[-1]) if fresh else None
    if expectations is None and fresh:
        if not again("random") or not again("zero"):
            return None
        zero, twice = layers.pop(), layers.pop()
        layers = [zero, *layers]
        expectations = learned(layers, twice)
    elif expectations is None:
        expectations = learned([base], layers.pop())
    if _less(expectations, known.expectations):
        return None
    expectations = _as_loose(expectations, known.expectations)
    if expectations and all(one.unstable for one in expectations):
        return None
    found = _profile(known, look.arguments, runs, look.report)
    return Glimpse(
        replace(
            found,
            references={one.poison: one for one in layers},
            expectations=tuple(_lenient(one) for one in expectations),
        ),
        look.work,
    )


def _profile(
    known: Profile, arguments: tuple[str, ...], runs: Sequence[Ran], report: Report
) -> Profile:
    none: dict[str, Reference] = {}
    return Profile(
        arguments=arguments,
        references=none,
        expectations=(),
        stdouts=tuple(run.stdout for run in runs),
        plans={},
        seconds=max(run.seconds for run in runs),
        gpu_us=sum(kernel.total_us for kernel in report.kernels),
        launches=report.launches,
        copies=report.copies,
        # Which of its kernels a candidate has to launch is asked of declared arguments.
        kernels=frozenset(),
        failures=known.failures,
        guards=known.guards,
        exit=known.exit,
    )


def _unwritten(one: Reference, nan: Reference) -> tuple[Expectation, ...] | None:
    """Return what records must be that are alike but where nothing writes; None if others differ.

    With NaN in fresh memory such words are all ones.
    """
    found = list(learned([one], one))
    for number, pair in enumerate(zip(one.held, nan.held, strict=True)):
        if one.digests[number] == nan.digests[number]:
            continue
        if pair[0] is None or pair[1] is None or pair[0].size % 4 or pair[0].size != pair[1].size:
            return None
        words, other = (held.view(np.uint32) for held in pair if held is not None)
        differs = words != other
        if not (other[differs] == ALL_ONES).all():
            return None
        found[number] = replace(found[number], untouched=differs)
    return tuple(found)


def _as_loose(now: Sequence[Expectation], known: Sequence[Expectation]) -> tuple[Expectation, ...]:
    """Let vary what varies with declared arguments: a smaller size may show it in few runs.

    Where there are other records than then, and some of those vary, nobody knows which do now.
    """
    if len(now) != len(known):
        lost = any(one.unordered or one.unstable for one in known)
        return tuple(replace(one, unstable=one.unstable or lost) for one in now)
    return tuple(
        replace(
            one,
            noise={kind: max(one.noise.get(kind, 0.0), old.noise.get(kind, 0.0))
                   for kind in {*one.noise, *old.noise}},
            unordered=one.unordered or (old.unordered and not one.unstable),
            unstable=one.unstable or old.unstable,
        )
        for one, old in zip(now, known, strict=True)
    )  # fmt: skip


def _less(now: Sequence[Expectation], known: Sequence[Expectation]) -> bool:
    """Tell whether less is written than with declared arguments, or more made of fresh memory."""
    mine, theirs = ([_partly(one) for one in each] for each in (now, known))
    if len(mine) != len(theirs):
        return any(mine) and not any(theirs)
    return any(one and not other for one, other in zip(mine, theirs, strict=True))


def _partly(expected: Expectation) -> bool:
    """Tell whether parts of a buffer are not written, or made of memory that nothing wrote."""
    return expected.excluded is not None or expected.untouched is not None


def _lenient(expected: Expectation) -> Expectation:
    """Compare nothing where the original writes nothing: it may have left an end out."""
    masks = [one for one in (expected.excluded, expected.untouched) if one is not None]
    if not masks:
        return expected
    either = masks[0] if len(masks) == 1 else masks[0] | masks[1]
    return replace(expected, excluded=either, untouched=None)
