"""Candidate and baseline loaded side by side, ready to be run and timed.

A `Session` is in this process for a kernel and in a process of its own for an entry function;
verification sees no difference.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from runners import beyond, timing
from runners.allocations import Allocations, Holdings
from runners.bench import ROW_HELD_NS, Bench
from runners.burning import BurnStage
from runners.compare import Answer
from runners.contents import Combination
from runners.energy import Mark
from runners.families import DECLARED
from runners.gpu import DeviceError, Gpu, LaunchError, OutOfMemoryError
from runners.inputs import Arrays
from runners.launchable import EntryLaunchable, KernelLaunchable, Launchable
from runners.nvml import Unmeasured
from runners.original import load
from runners.retained import Retained
from runners.run import Run
from runners.spec import Argument, JobSpec, Json, Source
from runners.stage import DeviceStage, Findings, Limit
from runners.timing import Rule, Samples

MOST_RUN_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Timed:
    """Samples of one case, and what the checks behind its launches saw.

    The bytes are device memory at most: arguments, code, variables, and what it allocates itself;
    None where that is not seen.
    """

    samples: Samples
    findings: Findings
    launches: int
    memory_bytes: int | None
    baseline_memory_bytes: int | None
    temperature_c: float | None


class Session(Protocol):
    """What verification asks of a loaded pair. Both may raise the errors of `runners.gpu`."""

    def run(self, combination: Combination, *, nan: bool, beside: bool, seconds: float) -> Run:
        """Run the candidate once in a fresh world."""
        ...

    def row(
        self,
        combinations: Sequence[Combination],
        *,
        nan: bool,
        apart: bool,
        seconds: float,
        held_ns: int = ROW_HELD_NS,
        keeps: bool = False,
        before: int = 1,
        by_turns: bool = False,
    ) -> list[Run]:
        """Run the candidate on one combination behind the other (`runners.bench.Bench.row`)."""
        ...

    def moved(
        self, combination: Combination, names: Sequence[str], *, nan: bool, seconds: float
    ) -> list[Run]:
        """Run the candidate with one buffer elsewhere at a time (`runners.bench.Bench.moved`)."""
        ...

    def holdings(
        self,
        combination: Combination,
        calls: int,
        seconds: float,
        patience: float,
        *,
        original: bool = False,
    ) -> list[Holdings] | None:
        """Call the candidate or the original over and over (`runners.bench.Bench.holdings`)."""
        ...

    def many(self, combination: Combination, calls: int, seconds: float, patience: float) -> int:
        """Call the candidate so often, or until the time is over (`runners.bench.Bench.many`)."""
        ...

    def time(
        self, combination: Combination, limits: Mapping[str, Limit], rule: Rule, seconds: float
    ) -> Timed:
        """Time candidate against baseline."""
        ...

    def burning(
        self, combination: Combination, limits: Mapping[str, Limit], seconds: float
    ) -> Burning:
        """Make the pair ready to run for seconds. Also raises `runners.nvml.Unmeasured`."""
        ...

    def shaken(self, artifact: Json, *, original: bool = False) -> Shaken | None:
        """Load the candidate or the original with delays in it; None where that is not done."""
        ...

    def marking(self, artifact: Json) -> Marking | None:
        """Load the candidate with marks in it (`runners.marks`); None where that is not done."""
        ...

    def guiding(self, artifact: Json) -> Guiding | None:
        """Load the candidate with `runners.nearest` in it; None where that is not done."""
        ...

    def beyond(
        self, changed: Mapping[str, float], answers: Mapping[str, Answer], limit: int
    ) -> beyond.Found:
        """Run both on a case in which buffers have more elements than the limit."""
        ...

    @property
    def retained(self) -> Retained | None:
        """Return what the candidate keeps on the device between launches, where it is seen."""
        ...

    def renewed(self, only: Combination | None = None) -> int:
        """Return how many inputs on the device were spoilt; they are uploaded anew when needed."""
        ...

    def close(self) -> None:
        """Unload the candidate."""
        ...


class Burning(Protocol):
    """A pair that runs back to back (`runners.energy.Burning`), checked when it is over."""

    in_place: bool

    def burn(self, which: int, seconds: float, *, second_of_pair: bool) -> Sequence[Mark]:
        """Run one back to back; return when how many launches had ended."""
        ...

    def quench(self) -> Findings:
        """Give device memory back; return what the checks behind the arms saw."""
        ...


class Shaken(Protocol):
    """A candidate with delays in it. May raise the errors of `runners.gpu`."""

    @property
    def loading(self) -> float:
        """Return what loading took of the time of its runs (s)."""
        ...

    def run(self, combination: Combination, *, nan: bool, seed: int, seconds: float) -> Run:
        """Run it once in a fresh world, under the schedule that belongs to a seed."""
        ...


class Marking(Protocol):
    """A candidate that marks which of its blocks run. May raise the errors of `runners.gpu`."""

    def run(self, combination: Combination, *, seconds: float) -> object:
        """Run it once in a fresh world; what comes out is not looked at."""
        ...

    def ran(self) -> Sequence[int]:
        """Return a byte for each block: not zero where it has run since it was loaded."""
        ...


class Guiding(Protocol):
    """A candidate that keeps how near its comparisons came to the other outcome.

    May raise the errors of `runners.gpu`.
    """

    def run(self, combination: Combination, *, seconds: float) -> npt.NDArray[np.uint32]:
        """Run it once; return the least distances in it, two words for each comparison."""
        ...


class LocalGuiding:
    """A cubin or shared object of `runners.nearest` in this process."""

    def __init__(self, bench: Bench, loaded: KernelLaunchable | EntryLaunchable) -> None:
        self._bench, self._loaded = bench, loaded
        loaded.nearest()

    def run(self, combination: Combination, *, seconds: float) -> npt.NDArray[np.uint32]:
        """Run it once; return the least distances in it."""
        self._bench.run(self._loaded, combination, nan=True, seconds=seconds)
        return self._loaded.nearest()


class LocalMarking:
    """A cubin of `runners.marks` in this process."""

    def __init__(self, bench: Bench, loaded: KernelLaunchable) -> None:
        self._bench, self._loaded = bench, loaded

    def run(self, combination: Combination, *, seconds: float) -> object:
        """Run it once in a fresh world; what comes out is not looked at."""
        return self._bench.run(self._loaded, combination, nan=True, seconds=seconds)

    def ran(self) -> Sequence[int]:
        """Return a byte for each block: not zero where it has run since it was loaded."""
        return self._loaded.ran()


class LocalShaken:
    """A cubin of `runners.shaking` in this process."""

    loading = 0.0

    def __init__(self, bench: Bench, loaded: KernelLaunchable) -> None:
        self._bench, self._loaded = bench, loaded

    def run(self, combination: Combination, *, nan: bool, seed: int, seconds: float) -> Run:
        """Run it once in a fresh world, under the schedule that belongs to a seed."""
        self._loaded.shake(seed)
        return self._bench.run(self._loaded, combination, nan=nan, seconds=seconds)


class WholeShaken:
    """An entry function that was built several times, each with delays under a seed of its own.

    `load` loads one of them in the place of the candidate; each is run `runs` times in a row.
    """

    def __init__(
        self, load: Callable[[Json], Session], artifacts: Sequence[Json], runs: int
    ) -> None:
        self._load, self._artifacts, self._runs = load, artifacts, runs
        self._turn, self.loading = 0, 0.0
        self._session: Session | None = None

    def run(self, combination: Combination, *, nan: bool, seed: int, seconds: float) -> Run:
        """Run it once in a fresh world; the schedule is the build's, whatever `seed` says.

        Raises `LaunchError` for whatever keeps it from ending: delays take time and registers.
        """
        del seed
        which, first = divmod(self._turn, self._runs)
        self._turn += 1
        try:
            if self._session is None or (first == 0 and which < len(self._artifacts)):
                chosen = self._artifacts[min(which, len(self._artifacts) - 1)]
                begun = time.monotonic()
                self._session = self._load(chosen)
                self.loading += time.monotonic() - begun
            return self._session.run(combination, nan=nan, beside=False, seconds=seconds)
        except DeviceError as error:
            raise LaunchError(f"with delays: {error}") from error


class LocalSession:
    """A pair loaded into this process; the bench and its contents outlive the session."""

    def __init__(
        self,
        bench: Bench,
        pair: tuple[Launchable, Launchable],
        job: JobSpec,
    ) -> None:
        self._bench, self._pair, self._work = bench, pair, job.work
        self._launches = [one.launch or job.work.launch for one in (job.kernel, job.baseline)]
        self._rng = np.random.default_rng(job.seed)
        self._seed = job.seed
        self._begun, self._strays, self._turns = False, False, 0
        self._waits: bool | None = None

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Return the arguments of the workload."""
        return self._work.arguments

    @property
    def candidate(self) -> Launchable:
        """Return the candidate as it is loaded."""
        return self._pair[0]

    def run(self, combination: Combination, *, nan: bool, beside: bool, seconds: float) -> Run:
        """Run the candidate once in a fresh world.

        What it queues on streams of its own is held up in its first run, when some set them up,
        and whenever others are `beside`. Of one that has used such streams every second of these
        has its inputs come late instead, if the original waits for them.
        """
        run, mine = self._bench.run, self._pair[0]
        if beside and self._strays:
            self._turns += 1
            if self._turns % 2 == 0 and self._original_waits(combination, seconds):
                return run(mine, combination, nan=nan, seconds=seconds, late=True)
        held, self._begun = mine.hosted and (beside or not self._begun), True
        found = run(
            mine, combination, nan=nan, beside=beside, seconds=seconds, again=True, held=held
        )
        self._strays = self._strays or found.strays > 0
        return found

    def row(
        self,
        combinations: Sequence[Combination],
        *,
        nan: bool,
        apart: bool,
        seconds: float,
        held_ns: int = ROW_HELD_NS,
        keeps: bool = False,
        before: int = 1,
        by_turns: bool = False,
    ) -> list[Run]:
        """Run the candidate on one combination behind the other."""
        return self._bench.row(
            self._pair[0],
            combinations,
            nan=nan,
            seconds=seconds,
            apart=apart,
            held_ns=held_ns,
            keeps=keeps,
            before=before,
            by_turns=by_turns,
        )

    def moved(
        self, combination: Combination, names: Sequence[str], *, nan: bool, seconds: float
    ) -> list[Run]:
        """Run the candidate with one buffer elsewhere at a time, and as it was between."""
        return self._bench.moved(self._pair[0], combination, names, nan=nan, seconds=seconds)

    def holdings(
        self,
        combination: Combination,
        calls: int,
        seconds: float,
        patience: float,
        *,
        original: bool = False,
    ) -> list[Holdings] | None:
        """Call the candidate or the original over and over; return what it holds behind each."""
        one = self._pair[int(original)]
        return self._bench.holdings(one, combination, calls, seconds, patience)

    def many(self, combination: Combination, calls: int, seconds: float, patience: float) -> int:
        """Call the candidate so often, or until the time is over; return how often it was."""
        return self._bench.many(self._pair[0], combination, calls, seconds, patience)

    def _original_waits(self, combination: Combination, seconds: float) -> bool:
        """Tell whether the original gives the same, to the bit, when its inputs come late."""
        if self._waits is None:
            run, original = self._bench.run, self._pair[1]
            try:
                plain = run(original, combination, seconds=seconds, poison=0)
                late = run(original, combination, seconds=seconds, poison=0, late=True)
                self._waits = _same(plain, late)
            except (LaunchError, OutOfMemoryError):
                self._waits = False
        return self._waits

    def time(
        self, combination: Combination, limits: Mapping[str, Limit], rule: Rule, seconds: float
    ) -> Timed:
        """Time candidate against baseline until the rule is met."""
        stage = DeviceStage(
            self._bench, self._pair, combination, limits, warm=self._work.warm, seconds=seconds
        )
        try:
            launches = stage.prepare(rule)
            samples = timing.measure(stage, rule, self._rng)
        except (LaunchError, OutOfMemoryError):
            stage.close()
            raise
        # After any other error the device is lost, and freeing memory on it may never return.
        stage.close()
        taken = [one.device_bytes() for one in self._pair]
        memory = [None if own is None else stage.layout.payload_bytes + own for own in taken]
        heat = self._bench.gpu.temperature()
        return Timed(samples, stage.findings, launches, memory[0], memory[1], heat)

    def burning(
        self, combination: Combination, limits: Mapping[str, Limit], seconds: float
    ) -> Burning:
        """Make the pair ready to run for seconds."""
        stage = BurnStage(
            self._bench, self._pair, combination, limits, warm=self._work.warm, seconds=seconds
        )
        try:
            stage.light()
        except (LaunchError, OutOfMemoryError, Unmeasured):
            stage.close()
            raise
        return stage

    def shaken(self, artifact: Json, *, original: bool = False) -> Shaken | None:
        """Load the candidate or the original with delays in it."""
        launch = self._launches[int(original)]
        loaded = KernelLaunchable(self._bench.gpu, artifact, self._work, launch)
        return LocalShaken(self._bench, loaded)

    def marking(self, artifact: Json) -> Marking | None:
        """Load the candidate with marks in it."""
        loaded = KernelLaunchable(self._bench.gpu, artifact, self._work, self._launches[0])
        return LocalMarking(self._bench, loaded)

    def guiding(self, artifact: Json) -> Guiding | None:
        """Load the candidate so that it keeps how near its comparisons came to the other side."""
        loaded = KernelLaunchable(self._bench.gpu, artifact, self._work, self._launches[0])
        return LocalGuiding(self._bench, loaded)

    def guided(self) -> LocalGuiding:
        """Return the candidate as one of `runners.nearest`: an entry function that was built so."""
        mine = self._pair[0]
        if not isinstance(mine, EntryLaunchable):
            raise LaunchError("the candidate is no entry function")
        return LocalGuiding(self._bench, mine)

    def beyond(
        self, changed: Mapping[str, float], answers: Mapping[str, Answer], limit: int
    ) -> beyond.Found:
        """Run both on a case in which buffers have more elements than the limit."""

        def contents(case: Mapping[str, float]) -> Arrays:
            return self._bench.contents.of(Combination(case, DECLARED, self._seed))

        bench = self._bench
        terms = (changed, contents, answers, limit)
        return beyond.compared(bench.gpu, self._work, self._pair, *terms)

    @property
    def retained(self) -> Retained | None:
        """Return what the candidate keeps between launches."""
        return self._pair[0].retained

    def renewed(self, only: Combination | None = None) -> int:
        """Return how many inputs on the device were spoilt; they are uploaded anew when needed."""
        return self._bench.scenes.renewed(only)

    def close(self) -> None:
        """Nothing: the modules go with their last reference."""


def _same(one: Run, other: Run) -> bool:
    return all(np.array_equal(data, other.outputs[name]) for name, data in one.outputs.items())


class Benches:
    """The benches of one process, one a workload, the latest few kept."""

    def __init__(self, gpu: Gpu, most: int = 2, allocations: Allocations | None = None) -> None:
        self._gpu, self._most, self._allocations = gpu, most, allocations
        self._kept: dict[str, Bench] = {}
        self._loaded: dict[str, Launchable] = {}

    def fills(self, *, on: bool) -> None:
        """Have what host code allocates from now on filled, where that is seen, or left alone."""
        if self._allocations is not None:
            self._allocations.fills(on=on)

    def session(self, job: JobSpec, candidate: Json, baseline: Json, scratch: Path) -> LocalSession:
        """Load a candidate beside its baseline; the baseline is loaded once."""
        work = repr(job.work)
        if work not in self._kept:
            while len(self._kept) >= self._most:
                self._kept.pop(next(iter(self._kept))).close()
                self._loaded.clear()
            self._kept[work] = Bench(self._gpu, job.work)
        bench = self._kept[work]
        key = f"{work}|{job.baseline.digest}|{baseline['path']}"
        if key not in self._loaded:
            self._loaded[key] = self._load(bench, baseline, job.baseline, job, scratch)
        mine = self._load(bench, candidate, job.kernel, job, scratch)
        return LocalSession(bench, (mine, self._loaded[key]), job)

    def _load(
        self, bench: Bench, artifact: Json, source: Source, job: JobSpec, scratch: Path
    ) -> Launchable:
        return load(bench, artifact, source, job.work, source.launch, scratch, self._allocations)
