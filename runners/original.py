"""The original, run: as it is, in double precision, and with its inputs moved a little."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

from runners import (
    allocations,
    asked,
    beside_means,
    cancelling,
    common_offset,
    creeping,
    families,
    images,
    inputs,
    last_places,
    nan_ends,
    nan_signs,
    no_loss,
    perturbation,
    regardless,
    spec,
    stand_ins,
    whole_scalars,
    wider,
)
from runners.allocations import Allocations
from runners.bench import Bench
from runners.compare import same_bytes
from runners.contents import FINITE, HALVES, UNDEFINED, Combination, Contents
from runners.digest import Digest, times_longer
from runners.fault import Fault
from runners.gathered import ORDER_DECIDES, Gathered, Marks, Regardless, left_alone
from runners.gpu import DeviceError, Gpu, LaunchError, OutOfMemoryError
from runners.launchable import EntryLaunchable, KernelLaunchable, Launchable
from runners.promote import in_doubles
from runners.run import Run
from runners.spec import BaselineFailure, Json, Launch, Source, Work

LARGE = 1 << 22
RUNS, LARGE_RUNS, MORE_RUNS = 4, 3, 10
FEW_DIGITS = 2.0**-11  # roundoff with which a long sum stands still
NARROW = 2  # bytes of an element that equal random ones now and then
PATIENCE = 20.0  # for one run: what takes longer is nothing to search on
# With another value of a whole number than the declared one, with which a loop may never end.
# Or with whole numbers beyond their declared range, which may be how often something is done.
LITTLE_PATIENCE = 2.0


def load(
    bench: Bench,
    artifact: Json,
    source: Source,
    work: Work,
    launch: Launch | None,
    scratch: Path,
    allocations: Allocations | None = None,
) -> Launchable:
    """Return the compiled code as something to launch in this process."""
    if artifact.get("kind") == "shared":
        return EntryLaunchable(
            artifact,
            work,
            source,
            scratch,
            promoted=bench.promoted,
            allocations=allocations,
            facts=bench.gpu.facts,
        )
    chosen = launch or work.launch
    return KernelLaunchable(bench.gpu, artifact, work, chosen, promoted=bench.promoted)


class Original:
    """The original, its double-precision twin and its reference, ready to answer.

    `gather` uses the device and is for one thread; `digest` is array work for any.
    """

    def __init__(self, request: Json, gpu: Gpu) -> None:
        job = spec.parse(request["job"])
        self.work, self.folder = job.work, Path(request["folder"])
        self.contents = Contents(job.work)
        self._bench = Bench(gpu, job.work, contents=self.contents)
        launch = job.baseline.launch
        self._bench.marks = (gpu.event(), gpu.event())
        place = (job.work, launch, self.folder, _watching(request["baseline"], self.folder))
        self._original = load(self._bench, request["baseline"], job.baseline, *place)
        # Errors of launches that are refused in what must be right as well; None: not yet asked.
        self._usual: set[int] | None = None
        self._twin: tuple[Bench, Launchable] | None = None
        if request.get("promoted"):
            bench = Bench(gpu, job.work, promoted=True, contents=self.contents)
            try:
                twin = load(bench, request["promoted"], job.baseline, *place)
                self._twin = (bench, twin)
            except DeviceError:
                self._twin = None
        reference = (
            inputs.load_function(job.work.root, job.work.reference) if job.work.reference else None
        )
        precise = in_doubles(job.baseline.source)
        faithful = [str(name) for name in request.get("faithful", ())]
        terms = (self.work, self.folder, self.contents, reference)
        self._digest = Digest(*terms, precise=precise, faithful=faithful)
        # Sums are made by atomics on halves: nothing but what is declared can be judged.
        self._rounds = bool(request.get("order_decides"))

    def moved(self, combination: Combination) -> list[Combination]:
        """Return the combination with its inputs moved: samples of the original's error.

        A small output gives few of them a run, and one lucky sample must not become the budget.
        """
        written = [a for a in self.work.arguments if a.written]
        still = combination.family == families.LAST_PLACES or "+" in combination.family
        still |= cancelling.cancels(combination.family)
        still |= combination.family in no_loss.FAMILIES
        if still or not any(one.scalar.kind == "f" for a in written for one in a.type.fields):
            return []
        elements = min(a.elements(combination.case) for a in written)
        count = 6 if elements <= 4096 else 2
        if self._large(combination):
            better = self._twin is not None or self._digest.truth.refers(combination)
            count = 0 if better and combination.family != families.DECLARED else 1
        return [
            replace(combination, family=f"{combination.family}+{'j' * (n + 1)}")
            for n in range(count)
        ]

    def halved(self, combination: Combination) -> Combination | None:
        """Return the combination with its halves moved alone, where nothing else tells of them.

        On inputs and at lengths that were declared the tolerance says what their sums may err by.
        """
        declared, family = combination.family == families.DECLARED, combination.family
        told = not declared and perturbation.share_of_halves(self.work) > 0  # all that is moved
        told |= declared and times_longer(self.work, combination.case) <= 1
        if told or "+" in family or not perturbation.share_beside(self.work):
            return None
        if self._digest.truth.refers(combination):
            return None
        return replace(combination, family=f"{family}+{HALVES}")

    def _large(self, combination: Combination) -> bool:
        written = [a for a in self.work.arguments if a.written]
        return sum(a.elements(combination.case) for a in written) > LARGE

    def gather(self, combination: Combination) -> Gathered:
        """Run everything there is to run of a combination.

        Raises `BaselineFailure` when the original leaves its buffers, and device errors.
        """
        if self._rounds and combination.family.partition("+")[0] != families.DECLARED:
            raise BaselineFailure(ORDER_DECIDES)
        others = self.moved(combination)
        for other in others:
            self.contents.expect(other)  # while the runs as they are go on
        count = LARGE_RUNS if self._large(combination) else RUNS
        runs: list[Run] = []
        each = math.inf
        for number in range(count):
            # The third run has the first one's poison: what then differs is not the poison's.
            poison = runs[0].poison if number == 2 else None
            begun = time.monotonic()
            runs.append(self._run(combination, number, poison))
            # The least: a host that stands still for a moment says nothing of longer runs.
            each = min(each, time.monotonic() - begun)
        first = runs[0].outputs
        differ = any(not same_bytes(first[n], run.outputs[n]) for run in runs[1:] for n in first)
        if differ and combination.family == families.DECLARED:
            self._rounds = self._rounds or self._in_few_digits(runs)
        if differ or self._may_be_chance(combination, runs):
            runs += [self._run(combination, number) for number in range(count, MORE_RUNS)]
        moved = []
        for other in others:
            run = self._run(other, 1)
            moved.append((other, run, self._wide(other, run)))
        wide = self._wide(combination, runs[0])
        alone = self.halved(combination) if wide is None else None
        halved = None if alone is None else self._run(alone, 1)
        if combination.family == families.DECLARED:
            self._digest.expect_declared()
        same = None
        if regardless.worth(self.work, combination.family, combination.case, each):
            same = self._regardless(combination, runs, len(others))
        undefined = self._undefined(combination)
        took = min(run.took_us for run in runs) / 1e6
        plain = self._plain(combination, runs[0].poison) + self._moved_doubles(combination, runs[0])
        return Gathered(combination, runs, wide, moved, each, undefined, same, took, halved, plain)

    def _plain(self, combination: Combination, poison: int) -> list[Run]:
        """Run with a number or another sign for a NaN, another offset, or nothing that cancels."""
        every: tuple[str, ...] = ()
        if combination.family in families.NAN_ENDS:
            every = nan_ends.without(combination.family)
        elif combination.family == families.LAST_PLACES:
            every = (last_places.ELSEWHERE,)
        elif combination.family == families.COMMON_OFFSET:
            every = (common_offset.ELSEWHERE,)
        elif combination.family in beside_means.FAMILIES:
            every = (combination.family + beside_means.ELSEWHERE,)
        elif cancelling.cancels(combination.family):
            every = tuple(combination.family + one for one in cancelling.BESIDE)
        elif combination.family == families.NAN_BELOW:
            every = (nan_signs.ABOVE,)
        return [self._run(replace(combination, family=one), 0, poison) for one in every]

    def _moved_doubles(self, combination: Combination, first: Run) -> list[Run]:
        """Run in double precision, and once more with doubles moved by one rounding error."""
        if combination.family not in creeping.BEGINS:
            return []
        moved = replace(combination, family=combination.family + creeping.MOVED)
        runs = [self._in_doubles(one, first) for one in (combination, moved)]
        return [run for run in runs if run is not None]

    def _undefined(self, combination: Combination) -> Run | None:
        means = {families.INFINITIES, families.NAN_BEHIND}
        if combination.family not in {families.INFINITE, *means}:
            return None
        if combination.family in means and asked.INFINITY in self.work.asks:
            # What it makes of them it means: nothing is odd.
            return None
        try:
            return self._run(replace(combination, family=f"{combination.family}+{UNDEFINED}"), 0)
        except (LaunchError, OutOfMemoryError, BaselineFailure):
            return None

    def _regardless(
        self, combination: Combination, runs: list[Run], times: int
    ) -> Regardless | None:
        """Run with numbers for the NaN, as long as some results are the same with each of them.

        Then the first number's inputs are moved so many times, as those with the NaN were.
        """
        marks = regardless.nowhere_a_number(self.work, runs)
        if not marks:
            return None
        family = f"{combination.family}+"
        every = [
            replace(combination, family=family + FINITE * (n + 1)) for n in range(stand_ins.NUMBERS)
        ]
        try:
            first = self._run(every[0], 0, runs[0].poison)
            precise = None
            for number, other in enumerate(every):
                # What is left alone now holds the first run's NaN, or this one's.
                run = first if not number else self._run(other, number)
                marks = regardless.alike(self.work, marks, first, run)
                if not marks:
                    return None
            if regardless.few_digits(self.work, marks):
                far = replace(combination, family=family + FINITE * stand_ins.FAR)
                marks = regardless.alike(self.work, marks, first, self._run(far, 0))
            marks = self._unmoved(combination, marks, first)
            if not marks:
                return None
            for other in every if self._twin is not None else ():
                wide = self._in_doubles(other, first)
                if wide is None:
                    return None
                precise = precise or wide
                marks = regardless.alike(self.work, marks, precise, wide, promoted=True)
            if not marks:
                return None
            moved = []
            for number in range(times):
                other = replace(combination, family=f"{every[0].family}{'j' * (number + 1)}")
                run = self._run(other, 1)
                moved.append((other, run, self._wide(other, run)))
        except (LaunchError, OutOfMemoryError, BaselineFailure):
            return None
        wide = None if self._digest.truth.refers(combination) else precise
        return Regardless(every[0], first, wide, moved, marks, runs[0])

    def _unmoved(
        self, combination: Combination, marks: dict[str, Marks], first: Run
    ) -> dict[str, Marks]:
        """Keep the marks of what is no other number with a far one, either way, in place of a NaN.

        Where the original fails with such a number that says nothing of the NaN.
        """
        for number in stand_ins.FARTHEST if stand_ins.goes_far(self.work) else ():
            if not marks:
                break
            far = replace(combination, family=f"{combination.family}+{FINITE * number}")
            try:
                run = self._run(far, 0)
            except (LaunchError, OutOfMemoryError, BaselineFailure):
                continue
            marks = regardless.unmoved(self.work, marks, first, run)
        return marks

    def _run(self, combination: Combination, number: int, poison: int | None = None) -> Run:
        nan, beside = number == 1, number > 1 and number % 2 == 1
        run = self._bench.run(
            self._original,
            combination,
            nan=nan,
            beside=beside,
            seconds=_patience(combination),
            poison=poison,
        )
        if self._fails(run, combination.seed):
            raise LaunchError(f"a launch of the original fails there (error {run.refused})")
        if run.damage:
            raise BaselineFailure(
                f"the original {run.damage.words}",
                "check the shapes and roles of its arguments",
            )
        return run

    def _fails(self, run: Run, seed: int) -> bool:
        """Tell whether host code had a launch refused, of whose results nothing is defined then.

        It may say nothing of it. What is refused where results must be right as well, as one of
        several ways that are tried, is none of them.
        """
        if not run.refused:
            return False
        if self._usual is None:
            self._usual = set()
            for case in self.work.cases:
                declared = Combination(case.values, families.DECLARED, seed)
                again = self._bench.run(self._original, declared, seconds=PATIENCE)
                self._usual.add(again.refused)
        return run.refused not in self._usual

    def _wide(self, combination: Combination, first: Run) -> Run | None:
        """Run the double-precision twin unless the reference is asked; None if it does not run."""
        if self._twin is None or self._digest.truth.refers(combination):
            return None
        return self._in_doubles(combination, first)

    def _in_doubles(self, combination: Combination, first: Run) -> Run | None:
        if self._twin is None:
            return None
        bench, twin = self._twin
        try:
            patience = _patience(combination)
            run = bench.run(twin, combination, seconds=patience, poison=first.poison)
        except (LaunchError, OutOfMemoryError):
            return None
        # Its shared memory is twice as large: what is refused wrote nothing.
        return None if run.damage or self._fails(run, combination.seed) else run

    def _in_few_digits(self, runs: list[Run]) -> bool:
        """Tell whether runs differ in a half or bfloat16 that is added to."""
        few = [a for a in self.work.arguments if a.role == "inout" and a.type.scalar is not None]
        return any(
            not same_bytes(runs[0].outputs[a.name], run.outputs[a.name])
            for a in few
            if a.type.fields[0].scalar.roundoff >= FEW_DIGITS
            for run in runs[1:]
        )

    def _may_be_chance(self, combination: Combination, runs: list[Run]) -> bool:
        """Tell whether elements that seem left alone may just equal the poison of a few runs.

        One byte in 256 does; where many are 255, as in a mask, the run with all ones says little.
        """
        narrow = [a for a in self.work.arguments if a.written and a.type.size <= NARROW]
        return any(left_alone(self.work, a, combination, runs) is not None for a in narrow)

    def digest(self, gathered: Gathered) -> Json:
        """Return the description of a combination's answers; see `Digest.digest`."""
        return self._digest.digest(gathered)


def _watching(artifact: Json, folder: Path) -> Allocations | None:
    """Return what sees launches of host code that are refused; None where it cannot be had.

    It has to be there before that code is loaded.
    """
    if artifact.get("kind") != "shared":
        return None
    try:
        return Allocations(allocations.library(images.own_folder() or folder))
    except (Fault, OSError, AttributeError):
        return None


def _patience(combination: Combination) -> float:
    odd = whole_scalars.moved(combination.case.get(spec.MOVED, 0.0))
    far = wider.wider(combination.family.partition("+")[0]) is not None
    return LITTLE_PATIENCE if odd or far else PATIENCE
