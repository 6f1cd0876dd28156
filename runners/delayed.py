"""Finalists with delays of their warps in them: compiled meanwhile, loaded, run and judged.

A kernel is loaded beside its original, and a seed is set before each run. Host code has its kernels
compiled into it: an entry function is built under several seeds, and each build takes the place of
the pair that was loaded before. What an original does not survive is not asked of its candidates.

Large cases come later (`runners.at_large`), of a kernel behind all else that decides: one that does
not end there is not refused, but takes the device with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from runners import at_large, seeded, verify
from runners.answers import Answers, Build
from runners.checks import Report, Wrong
from runners.contents import Combination, pool
from runners.entry_process import EntryProcess
from runners.gpu import HungError, LaunchError
from runners.session import Session, Shaken, WholeShaken
from runners.spec import JobSpec, Json

# Builds of an entry function with delays, and runs of each before the next is loaded.
WHOLE_BUILDS, WHOLE_RUNS = 2, 10

# Compiles a text for a job with delays under a seed; None where that cannot be done.
BuildWhole = Callable[[str, Json, int], Json | None]
Known = tuple[Answers, Sequence[Combination]]
Shake = Callable[[Shaken, Answers, JobSpec, Sequence[Combination], Report], None]


@dataclass(frozen=True, slots=True)
class Begun:
    """A candidate that is being compiled with delays: a kernel, or an entry function."""

    kernel: Future[Json | None] | None = None
    whole: Future[list[Json]] | None = None


class Delays:
    """Runs the finalists of a judge under delays (`runners.shaking`).

    `shake` compiles a kernel, `shake_whole` an entry function, which `entries` loads. `keep` is
    given what was loaded: unloading it would wait for a kernel that hangs.
    """

    def __init__(
        self,
        shake: Build,
        shake_whole: BuildWhole,
        entries: EntryProcess,
        keep: Callable[[object], None],
    ) -> None:
        self._shake, self._shake_whole = shake, shake_whole
        self._entries, self._keep = entries, keep
        self._fragile: dict[tuple[str, bool], bool] = {}
        self._one: Shaken | None = None

    def begin(self, request: Json, job: JobSpec) -> Begun:
        """Begin to compile a candidate with delays."""
        text = job.kernel.source
        if job.work.kind == "kernel":
            return Begun(kernel=pool().submit(self._shake, text, request["job"]))
        return Begun(whole=pool().submit(self._wholes, text, request["job"], job.seed))

    def kernel(
        self,
        begun: Begun,
        session: Session,
        request: Json,
        job: JobSpec,
        known: Known,
        report: Report,
    ) -> None:
        """Run a kernel under delays, beside its original; raise `Wrong`."""
        altered = begun.kernel.result() if begun.kernel is not None else None
        one = self._one = None if altered is None else self._loaded(session, altered)
        if one is not None:
            original = partial(self._original, session, job, request)
            self._judge(verify.shaken, one, original, job, known, report)

    def large(
        self, session: Session, request: Json, job: JobSpec, known: Known, report: Report
    ) -> bool:
        """Run the kernel that was run last on large cases, too; raise `Wrong`.

        Return whether a run did not end. The device is then lost, and nothing is said of the
        kernel: delays may take any time.
        """
        one, self._one = self._one, None
        if one is None:
            return False
        before, original = report.snapshot(), partial(self._original, session, job, request)
        try:
            self._judge(at_large.shaken, one, original, job, known, report)
        except HungError:
            # The candidate's, or its original's that was to answer for what was wrong.
            report.restore(before)
            return True
        return False

    def whole(
        self, begun: Begun, request: Json, job: JobSpec, known: Known, report: Report
    ) -> None:
        """Run an entry function under delays. The pair that was loaded before is then no more."""
        if begun.whole is None:
            return

        def loaded(artifacts: Sequence[Json]) -> Shaken | None:
            def load(artifact: Json) -> Session:
                return self._entries.session(job, {**request, "candidate": artifact})

            return WholeShaken(load, artifacts, WHOLE_RUNS) if artifacts else None

        def theirs() -> Shaken | None:
            return loaded(self._wholes(job.baseline.source, request["job"], job.seed))

        one = loaded(begun.whole.result())
        if one is not None:
            for shake in (verify.shaken, at_large.shaken):
                self._judge(shake, one, theirs, job, known, report)

    def _judge(
        self,
        shake: Shake,
        one: Shaken,
        theirs: Callable[[], Shaken | None],
        job: JobSpec,
        known: Known,
        report: Report,
    ) -> None:
        """Run the candidate under delays; what the original does not survive is not asked of it."""
        answers, wanted = known
        key = (job.key, shake is at_large.shaken)
        try:
            shake(one, answers, job, wanted, report)
        except Wrong:
            if key not in self._fragile:
                original = theirs()
                fragile = False
                if original is not None:
                    try:
                        shake(original, answers, job, wanted, Report())
                    except Wrong:
                        fragile = True
                self._fragile[key] = fragile
            if not self._fragile[key]:
                raise
            report.forget("delayed warps")

    def _wholes(self, text: str, job: Json, seed: int) -> list[Json]:
        """Build an entry function under delays, once for each seed; they cannot be set later.

        Two seeds in turn differ in what they fill shared memory with, and in late first blocks.
        """
        first = seed * 2654435761 % 2**32 | 1
        seeds = [first ^ number << seeded.LATE_BIT for number in range(WHOLE_BUILDS)]
        built = [self._shake_whole(text, job, one) for one in seeds]
        return [one for one in built if one is not None]

    def _original(self, session: Session, job: JobSpec, request: Json) -> Shaken | None:
        altered = self._shake(job.baseline.source, request["job"])
        return None if altered is None else self._loaded(session, altered, original=True)

    def _loaded(self, session: Session, artifact: Json, *, original: bool = False) -> Shaken | None:
        """Load the candidate or original with delays in it; None where that cannot be done."""
        try:
            loaded = session.shaken(artifact, original=original)
        except LaunchError:
            return None
        self._keep((session, loaded))
        return loaded
