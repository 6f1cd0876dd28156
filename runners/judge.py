"""From a request to a verdict: verify, measure, and ask more of what may be offered.

The order of the questions is here, and what each effort asks; `runners.verify` compares results,
`runners.measuring` takes times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from runners import (
    alignment,
    compensated,
    distant,
    each_extent,
    exhibit,
    first_calls,
    float_decisions,
    float_quotients,
    growing,
    infinite_ends,
    leaks,
    led_along,
    made_floats,
    many_calls,
    moved_buffers,
    moved_clocks,
    narrowed,
    nearly_piled,
    other_powers,
    other_ranges,
    other_values,
    overflow,
    piled_up,
    plain_updates,
    rounded,
    same_number,
    second_look,
    slot_factors,
    small_constants,
    static_gate,
    tensor_cores,
    thresholds,
    unchecked,
    verify,
    zero_products,
)
from runners.alignment import Alignment
from runners.all_meeting import AllMeeting
from runners.answers import Answers, Build, Opened, Oracle
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.delayed import Begun, BuildWhole, Delays
from runners.device_code import DeviceCode, follows, keeps_more, watchable
from runners.energy import Meter
from runners.entry_process import EntryProcess
from runners.fuzzing import Fuzzing
from runners.gpu import DeviceError, Gpu, HungError, LaunchError, OutOfMemoryError
from runners.guided import Guided
from runners.large_gains import LargeGains
from runners.lines_run import LAYER, LinesRun
from runners.measuring import Measurements
from runners.rows import MakeRows, asked_in_rows, close_rows, rows, zeroed
from runners.sandbox import Sandbox
from runners.sanitizer import Sanitizer
from runners.second_look import DECIDES, Lent
from runners.session import Benches, Guiding, Session
from runners.spec import JobSpec, Json
from runners.watched import Watched
from runners.worn_in import worn_rows

SANITIZER_SECONDS, ROWS_SECONDS = 60.0, 10.0
# What an original is not right in is asked of none of its candidates, each kind by itself.
ROWS: tuple[MakeRows, ...] = (rows, close_rows, worn_rows)


class Judge:
    """Gives verdicts on kernels and entry functions on one GPU."""

    def __init__(  # noqa: PLR0913, PLR0917 - a verdict has many parts
        self,
        gpu: Gpu,
        number: int,
        scratch: Path,
        build: Build,
        sandbox: Sandbox | None = None,
        shake: Build = lambda _text, _job: None,
        meter: Meter | None = None,
        device_code: Callable[[str, Json], str | None] = lambda _text, _job: None,
        shake_whole: BuildWhole = lambda _text, _job, _seed: None,
        plain: Build = lambda _text, _job: None,
        for_races: Callable[[str, Json, str], Json | None] = lambda _text, _job, _which: None,
        mark: Build = lambda _text, _job: None,
        watch: Build = lambda _text, _job: None,
    ) -> None:
        self._codes, self._plain, self._for_races = DeviceCode(device_code), plain, for_races
        self._gpu, self._number, self._scratch = gpu, number, scratch
        self._measurements = Measurements(gpu, meter)
        self._benches = Benches(gpu)
        self._oracle = Oracle(scratch, number, build)
        self._entries = EntryProcess(scratch, number, sandbox)
        self._sanitizer = Sanitizer(scratch, number, sandbox)
        self._alignment = Alignment(scratch, number, sandbox)
        self._delays = Delays(shake, shake_whole, self._entries, self._keep)
        # Rows in which an original is right only where it is waited for, by job and checks.
        self._hasty: dict[tuple[str, str], list[MakeRows]] = {}
        self._gains = LargeGains(number, scratch)
        self._fuzzing, self._lines = Fuzzing(), LinesRun(mark)
        self._guided = Guided(watch)
        self._meeting = AllMeeting()
        self._last: object = None

    def _keep(self, loaded: object) -> None:
        """Keep what was loaded, and what was before it, until the next pair is there."""
        self._last = (loaded, self._last)

    def close(self) -> None:
        """End the child process, if there is one."""
        self._entries.close()

    def ask_first(self, opened: Opened) -> None:
        """Have a process work out the first answers that has opened the GPU already."""
        self._oracle.opened = opened

    def verdict(
        self,
        request: Json,
        job: JobSpec,
        seconds: float,
        begin: Callable[[], None] = lambda: None,
        more: Callable[[float], None] = lambda _seconds: None,
    ) -> tuple[Json, Json, bool]:
        """Return verdict, statistics, and whether the device is lost to this process.

        `begin` is called when the answers are known and the candidate's own time begins, `more`
        when it is lent some for what compute-sanitizer is asked a second time.
        Raises `Fault` when no verdict can be had: the baseline is broken, the job makes no sense.
        """
        begun = time.monotonic()
        report, spent, stats = Report(), {}, {}
        verdict = _frame(request)
        declared, extra = self._asked(request, job)
        answers = self._answers(request, job, [*declared, *extra], max(300.0, seconds))
        spent["oracle"] = time.monotonic() - begun
        begin()
        deadline, lost = time.monotonic() + seconds, False
        thorough = job.checks == "confirm"  # pays for one more compilation, and the sanitizers
        delayed = self._delays.begin(request, job) if thorough else Begun()
        if thorough:
            self._lines.begin(request, job)
            self._guided.begin(request, job)
        try:
            session = self._session(job, request)
            # Unloading a module waits for its kernels: one that hangs must stay loaded, so the
            # last session is let go when the next one is there.
            self._last = session
            start = time.monotonic()
            known = (answers, [*declared, *extra])
            self._verify(session, request, job, known, report, seconds)
            spent["verify"] = time.monotonic() - start
            start = time.monotonic()
            measure = self._measurements.measure
            verdict["measurement"] = measure(session, job, known, report, seconds)
            spent["time"] = time.monotonic() - start
            start = time.monotonic()
            self._delays.kernel(delayed, session, request, job, known, report)
            spent["shaken"] = time.monotonic() - start
            if thorough:
                start = time.monotonic()
                lent = Lent(more)
                self._finalist(session, request, job, known, verdict["measurement"], report, lent)
                deadline += lent.spent  # else what a busy machine took would be another's
                self._delays.whole(delayed, request, job, known, report)
                read, rows = self._codes.known(request, job), follows(request, job)
                unsaid = unchecked.notes(report, job, read=read, rows=rows)
                verdict["measurement"]["notes"][:0] = unsaid
                spent["sanitizer"] = time.monotonic() - start
                start = time.monotonic()
                terms = (known, verdict["measurement"], report, deadline)
                lost = self._beyond(session, request, job, *terms)
                spent["beyond"] = time.monotonic() - start
            verdict["status"] = "correct"
        except Wrong as wrong:
            verdict.update(status=wrong.status, log=str(wrong))
        except HungError as error:
            verdict.update(status="timed out", log=str(error))
            lost = True
        except (LaunchError, OutOfMemoryError) as error:
            verdict.update(status="crashed", log=str(error))
        except DeviceError as error:
            verdict.update(status="crashed", log=str(error))
            lost = True
        sources = {answers.source(c) for c in declared if c.key in answers.described}
        _complete(verdict, request, report, sources, spent)
        stats["runs"] = float(report.runs)
        stats["dropped"] = float(len(answers.dropped))
        return verdict, stats, lost and job.work.kind == "kernel"

    def _answers(
        self, request: Json, job: JobSpec, wanted: Sequence[Combination], seconds: float
    ) -> Answers:
        """Return the answers to all that a candidate is asked, calls in a row among it."""
        hosted, in_rows = job.work.kind == "entry", follows(request, job)
        # Those of an entry function's candidates are asked for with its own: in one process.
        rooms = [*growing.asked(job), *each_extent.asked(job)]
        others = [*asked_in_rows(job, wanted), *rooms] if hosted or in_rows else []
        answers = self._oracle.answers(job, request, [*wanted, *others], seconds)
        # Launches on one stream never overlap: only host code has to be waited for.
        key = (job.key, job.checks)
        if hosted and in_rows and key not in self._hasty:
            terms = (request, job, answers, wanted)
            self._hasty[key] = [made for made in ROWS if self._waited_for(*terms, made)]
        return answers

    def _asked(
        self, request: Json, job: JobSpec
    ) -> tuple[Sequence[Combination], Sequence[Combination]]:
        """Return what must be right, and what else is asked; of a finalist by its own numbers."""
        declared, extra = self._oracle.wanted(job)
        if job.checks != "confirm":
            return declared, extra
        wanted, codes = [*declared, *extra], self._codes.both(request, job)
        own = small_constants.beside(job, wanted, codes)
        own += [*narrowed.beside(job, wanted, codes), *thresholds.compared(job, wanted, codes)]
        own += [*made_floats.beside(job, wanted, codes), *float_decisions.beside(job, codes)]
        own += slot_factors.beside(job)
        return declared, [*extra, *own]

    def _waited_for(
        self,
        request: Json,
        job: JobSpec,
        answers: Answers,
        wanted: Sequence[Combination],
        made: MakeRows = rows,
    ) -> bool:
        """Tell whether an original is right only where each call is waited for, in rows of a kind.

        Its candidates may be so, too. It is run where theirs are, before them.
        """
        same = replace(job, kernel=job.baseline)
        for again in (False, True):
            try:
                session = self._session(same, {**request, "candidate": request["baseline"]})
                verify.in_a_row(session, answers, same, wanted, Report(), ROWS_SECONDS, made)
            except HungError:  # a busy machine may be why, and no candidate would be asked then
                if again:
                    return True
            except (Wrong, DeviceError):
                return True
            else:
                break
        return False

    def _verify(
        self,
        session: Session,
        request: Json,
        job: JobSpec,
        known: tuple[Answers, Sequence[Combination]],
        report: Report,
        seconds: float,
    ) -> None:
        """Run the candidate on everything it is asked at this effort; raise `Wrong`."""
        answers, wanted = known
        thorough = job.checks == "confirm"
        if thorough:
            session.renewed()  # what an earlier candidate spoilt is not this one's fault
        sources = job.kernel.source, job.baseline.source
        read = thorough or tensor_cores.named(*sources)
        codes = self._codes.both(request, job) if read else ("", "")
        updates = thorough and plain_updates.more(codes[0], codes[1])
        report.narrow = thorough and rounded.more(codes[0], codes[1])
        report.cut_off = tensor_cores.more(codes[0], codes[1])
        verify.verify(session, answers, job, wanted, report, seconds, updates=updates)
        watchable(request, report)
        verify.remembered(session, answers, job, report, seconds, wanted)
        hasty = self._hasty.get((job.key, job.checks), [])
        for made in ROWS if follows(request, job) else ():
            if made not in hasty:
                verify.in_a_row(session, answers, job, wanted, report, ROWS_SECONDS, made)
        if job.work.kind == "entry" and job.kernel != job.baseline:
            leaks.check(session, answers, job, report)
        if job.work.kind == "entry" and keeps_more(request):
            short = min(10.0, seconds / 3)
            verify.repeated(session, answers, job, report, short, wanted=wanted)
        if thorough:
            verify.kept_apart(session, report)

    def _sanitized(
        self,
        request: Json,
        job: JobSpec,
        answers: Answers,
        wanted: Sequence[Combination],
        report: Report,
        lent: Lent,
    ) -> list[str]:
        """Have compute-sanitizer look at small cases; raise `Wrong` for what it finds.

        Return what is to be noted: what it did not look at.
        """
        # Behind what all candidates are asked stands what this one's own numbers make worth asking.
        beside = wanted[sum(map(len, self._oracle.wanted(job))) :]
        chosen = verify.small(job, answers, wanted, beside)
        chosen = second_look.spread(chosen, lambda one: one.family)
        # Apart from each other: who has made room for the larger ones has enough for all others.
        further: list[tuple[Sequence[Combination], Sequence[str]]] = [
            (verify.further(job, answers, wanted, chosen), (DECIDES,)),
            (each_extent.watched(job, answers.of, answers.seconds), (DECIDES,)),
        ]
        if grown := growing.watched(job, answers.of, answers.seconds):
            further.append((grown, growing.TOOLS))
        mine = (job.kernel.source, request["job"])
        builds = (partial(self._plain, *mine), partial(self._for_races, *mine))
        watched = Watched(self._sanitizer, request, job, chosen, SANITIZER_SECONDS, lent, *builds)
        with ThreadPoolExecutor(1) as pool:
            beyond = [(pool.submit(watched.glimpse, *some), some[0]) for some in further]
            notes = watched.held(report)
            for glimpsed, some in beyond:
                notes += watched.judged(glimpsed.result(), some, report)
            return notes

    def _finalist(
        self,
        session: Session,
        request: Json,
        job: JobSpec,
        known: tuple[Answers, Sequence[Combination]],
        measured: Json,
        report: Report,
        lent: Lent,
    ) -> None:
        """Ask tools and counters about a candidate that may be offered; raise `Wrong`."""
        answers, wanted = known
        for counted in (many_calls.check, same_number.check):
            counted(session, self._session, request, job, known, measured, report)
        self._examined(request, job, known, measured, report, lent)
        if job.work.kind == "kernel":
            again = partial(self._measurements.again, session, job, (answers, report))
            self._gains.check(request, job, measured, again, report)
        self._watched(session, request, job, known, report)
        if follows(request, job):
            filled = partial(self._entries.session, filled=True)
            measured["notes"] += growing.check(filled, request, job, answers, report)
            if growing.asked(job) and not self._entries.fills:
                measured["notes"].append(growing.UNFILLED)
            measured["notes"] += moved_buffers.check(self._session, request, job, answers, report)
            asked = zeroed(job, wanted)
            terms = (asked, answers, report)
            measured["notes"] += first_calls.check(self._session, request, job, *terms)
        if moved_clocks.asked(request, job) is not None:
            clocked = partial(self._entries.session, clocked=True)
            with lent.of(moved_clocks.LENT_SECONDS):
                measured["notes"] += moved_clocks.check(clocked, request, job, answers, report)

    def _examined(
        self,
        request: Json,
        job: JobSpec,
        known: tuple[Answers, Sequence[Combination]],
        measured: Json,
        report: Report,
        lent: Lent,
    ) -> None:
        """Have it looked at in processes of their own; note what it needs aligned, or `Wrong`."""
        answers, wanted = known
        mine, theirs = self._codes.both(request, job)
        widest = alignment.wider(job.work, mine, theirs)
        asked = alignment.chosen(job, answers, wanted) if widest else []
        with self._alignment.begun(request, job, widest, asked) as moved:
            unsaid = self._sanitized(request, job, answers, wanted, report, lent)
            told = [one.result() for one in moved]
            said = [
                *alignment.notes(job, answers, asked, told),
                *float_quotients.notes(mine, theirs),
            ]
            measured["notes"][:0] = [*said, *unsaid]

    def _beyond(
        self,
        session: Session,
        request: Json,
        job: JobSpec,
        known: tuple[Answers, Sequence[Combination]],
        measured: Json,
        report: Report,
        deadline: float,
    ) -> bool:
        """Run it far beyond the declared, delayed at large, with other values; raise `Wrong`.

        Return whether the device was taken down, by the original or where nothing is promised.
        """
        answers, wanted = known
        load: Callable[[], Session] = lambda: session  # noqa: E731 - the pair as it is loaded
        if job.work.kind == "entry":
            load = partial(self._session, job, request)
        room = (deadline, self._gpu.free_bytes())
        measured["notes"] += distant.check(load, answers, job, wanted, room, report)
        read = partial(self._codes.read, request=request, key=job.key)
        terms = (answers, measured, report, deadline)
        if overflow.check(load, job, read, self._gpu, *terms):
            return True
        if self._delays.large(session, request, job, known, report):
            return True
        checks = (infinite_ends.check, compensated.check)
        heaps = (piled_up.check, nearly_piled.check)
        for ask in (
            *(partial(one, load, answers, job, wanted) for one in checks),
            *(partial(one, load, answers, job) for one in heaps),
        ):
            notes, lost = ask(deadline, report)
            measured["notes"] += notes
            if lost:
                return True
        same = replace(job, kernel=job.baseline)

        def original() -> Session:
            return self._session(same, {**request, "candidate": request["baseline"]})

        pair, fuzzed = (original, load), (job, wanted, deadline, report)
        notes, lost = self._meeting.check(pair, answers, job, deadline, report)
        measured["notes"] += notes
        if lost:
            return True
        notes, lost = self._fuzzing.check(pair, answers, *fuzzed)
        measured["notes"] += notes
        if lost:
            return True
        notes, lost = self._lines.check(session, self._fuzzing, answers, *fuzzed)
        # What has not run is told first, that it is not known with the rest.
        at = len(measured["notes"]) if any(LAYER in one for one in notes) else 0
        measured["notes"][at:at] = notes
        if lost:
            return True
        notes, lost = led_along.check(load, answers, job, deadline, report)
        measured["notes"] += notes
        if lost:
            return True
        # Behind all that refuses: a build that is watched may end its context.
        guide = self._guide(session, job, request)
        notes, lost = self._guided.check(pair, guide, self._fuzzing, answers, *fuzzed)
        measured["notes"] += notes
        if lost:
            return True
        # Last: what a candidate does there is held against nobody, and may end its context.
        every = (other_values.check, other_ranges.check, other_powers.check, zero_products.check)
        for check in every:
            notes, lost = check(load, answers, job, wanted, deadline, report)
            measured["notes"] += notes
            if lost:
                return True
        return False

    def _guide(
        self, session: Session, job: JobSpec, request: Json
    ) -> Callable[[Json], Guiding | None]:
        """Return what loads a build that keeps how near its comparisons came to the other side."""
        if job.work.kind == "entry":
            return partial(self._entries.guiding, job, request)
        return session.guiding

    def _watched(
        self,
        session: Session,
        request: Json,
        job: JobSpec,
        known: tuple[Answers, Sequence[Combination]],
        report: Report,
    ) -> None:
        """Run more often, and later, what can do more than its original; raise `Wrong`."""
        answers, wanted = known
        more = self._codes.more(request, job)
        for what in sorted(more):
            fine = what not in static_gate.REFUSED
            report.add("static gate", f"{what}, run more", passed=fine, error=None, bound=None)
        for what in sorted(more & static_gate.REFUSED):
            words = what if what.startswith("host code") else f"device code {what}"
            raise Wrong("rejected", f"its {words}; the original's does not")
        if static_gate.knows_time(more):
            terms = (verify.GATE_SECONDS, verify.PAUSES, wanted)
            verify.repeated(session, answers, job, report, *terms)
        elif more - {static_gate.KEEPS}:
            short = verify.GATE_SECONDS / 4
            verify.repeated(session, answers, job, report, short, wanted=wanted)

    def _session(self, job: JobSpec, request: Json) -> Session:
        if job.work.kind == "entry":
            return self._entries.session(job, request)
        return self._benches.session(job, request["candidate"], request["baseline"], self._scratch)


def _frame(request: Json) -> Json:
    """Return a verdict with what the compiler told, and nothing measured yet."""
    artifact = request["candidate"]
    return {
        "status": "crashed",
        "measurement": None,
        "counters": {},
        "resources": artifact.get("resources") or {},
        "instructions": artifact.get("instructions") or {},
        "lines": {},
        "machine_code": artifact.get("machine_code") or "",
        "checks": [],
        "seconds": {},
        "log": artifact.get("log") or "",
    }


def _complete(
    verdict: Json, request: Json, report: Report, sources: set[str], spent: Mapping[str, float]
) -> None:
    """Put into a verdict what was checked, against what, and where the time went."""
    if verdict["status"] != "correct":
        verdict["measurement"] = None
    for source in sorted(sources):
        report.add("oracle", f"against {source}", passed=True, error=None, bound=None)
    verdict["checks"] = report.as_json()
    verdict["seconds"] = {**verdict["seconds"], **spent}
    if request.get("exhibit") and report.nearest is not None:
        verdict["exhibit"] = exhibit.cut(*report.nearest[1:])
