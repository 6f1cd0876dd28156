"""Judge whole programs: original and candidate as processes, watched and timed from outside.

For the worker: `evaluate(request, context)` takes the worker's request with both artefacts built
(kind `program`, linked with `-cudart=shared`) and returns the verdict as JSON; it raises
`runners.fault.Fault` when the original is at fault (BaselineError) or the host is (ConfigError).
`limits.seconds` of the request bounds all runs together: a program whose one run takes a quarter of
it is too long to be judged.
`context` is a mapping; every key is optional:

- `scratch`: directory for run directories (default: a temporary one) and the built interposer
  (default: the user's cache); the request may name a built one as `interposer`;
- `build`: compiles a source under the job's settings, `(text, job) -> artifact or None`;
- `device_code`: compiles a source to PTX, `(text, job) -> text or None`;
- `shaken`: compiles a source with delays under a seed, `(text, job, seed) -> artifact or None`;
- `device`: index of the GPU (default 0); `gpu`: its name, for the measurement;
- `execute`: runs a command: `program_run.sandboxed(Sandbox(...))`; without it, no sandbox;
- `profiles`: a dict the caller keeps, so that an original is profiled once;
- `meter`: reads the GPU's energy counter (`runners.nvml.Nvml`);
- `recent`: a `program_recent.Recent` the caller keeps, so that two screenings in turn share a run
  of the original.

For the profiler: a program needs no interposer under ncu. `command(artifact, arguments)` is the
command line; run it in the workload's root with `program_run.environment(...)`:

    ncu --clock-control none -k regex:'^(saxpy)$' -c 3 ... PROGRAM ARGUMENTS

A verdict costs one run of the candidate with NaN in fresh memory, one with random words that is
timed as well, and one of the original beside it; docs/decisions/0002-timing-programs.md says why.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import tempfile
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runners import (
    cubin,
    interposer,
    program_energy,
    program_stdout,
    sanitizer,
    seeded,
    static_gate,
)
from runners.energy import Meter
from runners.fault import Fault
from runners.program_compare import Bounds
from runners.program_failing import Failed, alive, check, guard
from runners.program_learning import profile, renewed
from runners.program_profile import Profile, checks, patience
from runners.program_recent import Recent
from runners.program_report import Report
from runners.program_run import Probe, Ran, Runner, execute, libraries
from runners.program_timing import Timed, as_measurement

Verdict = dict[str, Any]
DeviceCode = Callable[[str, Any], str | None]
Shake = Callable[[str, Any, int], dict[str, Any] | None]

BASELINE_SECONDS = 120.0
# Runs of the original beyond those that are known, before a word is held against a candidate.
MORE_WORDS = 6
# Process pairs: fewest and most.
PAIRS = {"screen": (1, 3), "race": (4, 10), "confirm": (5, 16)}
REPLAY_MS = {"screen": 300.0, "race": 300.0, "confirm": 500.0}
SHAKEN_SECONDS, SHAKEN_BUILDS = 20.0, 2
UNDER_DELAYS = "with warps delayed at random and shared memory filled before"
# However little is left of a time budget, what looks for races and bad accesses gets so long.
LEAST_BEYOND_SECONDS = 3.0
ENERGY = ("weigh", "energy")
_BOTH = ("kernel", "baseline")  # as a job names its two sources
WATCH_SECONDS = 30.0
# So many times as long a program is waited for that did not come to its first launch.
PATIENCE = 2.0
# Behind the shortest run so many others are watched, none of which takes longer by itself, and
# none begun when so much time has gone by.
MORE_RUNS, LONGEST_RUN, MORE_SECONDS = 2, 5.0, 60.0


def command(artifact: Mapping[str, Any], arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs a built program."""
    return [str(artifact["path"]), *arguments]


def evaluate(request: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> Verdict:
    """Return a candidate's verdict: correct and timed, or what it failed at."""
    context = context or {}
    job, workload = request["job"], request["job"]["workload"]
    with tempfile.TemporaryDirectory(prefix="optiml-") as temporary:
        scratch = Path(context.get("scratch") or temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        runner = Runner(
            interposer=_interposer(request, context),
            scratch=scratch,
            root=Path(workload.get("root") or "."),
            device=int(context.get("device") or 0),
            library_path=tuple(context.get("libraries") or libraries()),
            execute=context.get("execute") or execute,
        )
        begun = time.monotonic()
        originals = _profiles(runner, request, context)
        learned = time.monotonic()
        recent = context.get("recent") or Recent()
        deadline = begun + 0.9 * _seconds(request)
        code, meter, shake = (context.get(name) for name in ("device_code", "meter", "shaken"))
        trial = _Trial(runner, request, job, workload, deadline, recent, begun, code, meter, shake)
        verdict = trial.judge(originals)
        verdict["seconds"] = {
            "profile original": learned - begun,
            **verdict["seconds"],
        }
        if verdict["measurement"] is not None:
            verdict["measurement"]["device"] = str(context.get("gpu") or job.get("device") or "")
        return verdict


def _interposer(request: Mapping[str, Any], context: Mapping[str, Any]) -> Path:
    if request.get("interposer"):
        return Path(request["interposer"])
    scratch = context.get("scratch")
    places = [Path(scratch) / "interposer"] if scratch else []
    places += [Path.home() / ".cache" / "optiml", Path(tempfile.gettempdir()) / "optiml-cache"]
    for place in places:
        with contextlib.suppress(OSError):
            return interposer.library(place)
    raise Fault("ConfigError", f"cannot write to any of {', '.join(map(str, places))}", "free disk")


def _seconds(request: Mapping[str, Any]) -> float:
    return float((request.get("limits") or {}).get("seconds") or BASELINE_SECONDS)


def _profiles(
    runner: Runner, request: Mapping[str, Any], context: Mapping[str, Any]
) -> list[Profile]:
    """Profile the original with each set of arguments, or take what an earlier request learned."""
    cache: MutableMapping[str, Profile] = context.get("profiles", {})
    job = request["job"]
    program = job["workload"].get("program") or {}
    path = Path(request["baseline"]["path"])
    expect = (program.get("exit", 0), program.get("stdout"))
    seed = int(job.get("seed") or 0) + 1
    found = []
    runs = program.get("runs") or [[]]
    limit = _seconds(request) / len(runs) / 4
    for arguments in runs:
        digest = hashlib.sha256(path.read_bytes())
        digest.update(repr((list(arguments), expect, str(runner.root))).encode())
        last = digest.hexdigest()
        key = f"{last} {seed}"
        if key not in cache:
            known = cache.get(last)
            fresh = renewed(runner, path, known, seed) if known is not None else None
            rounding = functools.partial(_rounding, job, context)
            cache[key] = cache[last] = fresh or profile(
                runner, path, arguments, expect, seed, limit, rounding
            )
        found.append(cache[key])
    return found


def _rounding(job: Mapping[str, Any], context: Mapping[str, Any]) -> Path | None:
    """Build the original once more without fused multiply-add: what that changes is rounding."""
    build = context.get("build")
    source = (job.get("baseline") or {}).get("source")
    if build is None or not source:
        return None
    settings = job["workload"].get("build") or {}
    flags = [f for f in settings.get("flags") or [] if "fmad" not in f and "fast_math" not in f]
    settings = {**settings, "flags": [*flags, "-fmad=false"]}
    built = build(source, {**job, "workload": {**job["workload"], "build": settings}})
    return Path(built["path"]) if built else None


@dataclass(frozen=True, slots=True)
class _Beyond:
    """What is compiled while a confirmation takes times: PTX of both sources, delays in one.

    Delays under several seeds, as they cannot be set later.
    """

    codes: tuple[Future[str | None], ...]
    shaken: tuple[Future[dict[str, Any] | None], ...]


@dataclass(frozen=True, slots=True)
class _Trial:
    runner: Runner
    request: Mapping[str, Any]
    job: Mapping[str, Any]
    workload: Mapping[str, Any]
    deadline: float
    recent: Recent
    begun: float
    device_code: DeviceCode | None = None
    meter: Meter | None = None
    shake: Shake | None = None

    @property
    def seed(self) -> int:
        return int(self.job.get("seed") or 0) + 1

    @property
    def effort(self) -> str:
        """Return how much the times are worth; energy is read beside a screening."""
        effort = str(self.job.get("effort") or "screen")
        return "screen" if effort in ENERGY else effort

    @property
    def _itself(self) -> bool:
        """Tell whether this is a first look at the original, which has just been run four times.

        The last of these stands for the candidate; when there is a winner, it is compared with
        itself in full.
        """
        return self.effort == "screen" and self._unedited

    @property
    def _unedited(self) -> bool:
        """Tell whether the original is compared with itself: what it computes is known then."""
        candidate, baseline = self.request["candidate"], self.request["baseline"]
        return bool(candidate["path"] == baseline["path"])

    def judge(self, originals: Sequence[Profile]) -> Verdict:
        tolerance = self.workload.get("tolerance") or {}
        bounds = Bounds(float(tolerance.get("rtol", 1e-5)), float(tolerance.get("atol", 1e-6)))
        done: list[dict[str, Any]] = []
        notes: list[str] = []
        spent = {"verify": 0.0, "time": 0.0}
        beyond = self._beyond() if self.effort == "confirm" and not self._unedited else None
        measured: list[Timed] = []
        try:
            for original in originals:
                begun = time.monotonic()
                if "nan" in original.references and not self._unedited:
                    run = self._candidate(original, Probe("nan", self.seed, record=True))
                    self._verify(original, run, "nan", bounds, done)
                spent["verify"] += time.monotonic() - begun
            for original in originals:
                begun = time.monotonic()
                measured.append(self._time(original, bounds, done))
                spent["time"] += time.monotonic() - begun
            if beyond is not None:
                begun = time.monotonic()
                self._gate(beyond, done)
                notes += self._watch_runs(beyond, originals, bounds, done)
                spent["sanitizer"] = time.monotonic() - begun
        except Failed as failure:
            return self._verdict(failure.status, None, done, spent, failure.log)
        measurement = as_measurement(measured, originals)
        measurement["notes"] += notes
        if self.job.get("effort") in ENERGY:
            begun = time.monotonic()
            measurement["energy"] = program_energy.read(
                self.runner, self.request, originals, measurement["cases"], self.meter
            )
            spent["energy"] = time.monotonic() - begun
        log = "; ".join(n for o in originals for n in o.notes)
        return self._verdict("correct", measurement, done, spent, log)

    def _verdict(
        self,
        status: str,
        measurement: dict[str, Any] | None,
        done: list[dict[str, Any]],
        spent: dict[str, float],
        log: str,
    ) -> Verdict:
        artifact = self.request["candidate"]
        return {
            "status": status,
            "measurement": measurement,
            "counters": {},
            "resources": artifact.get("resources") or {},
            "instructions": artifact.get("instructions") or {},
            "lines": {},
            "machine_code": artifact.get("machine_code") or "",
            "checks": done,
            "seconds": dict(spent),
            "log": log,
        }

    def _candidate(self, original: Profile, probe: Probe) -> Ran:
        expected = original.references[probe.poison].digests
        path = Path(self.request["candidate"]["path"])
        known = expected if probe.record else ()
        full = replace(probe, expected=known, idle=original.idle, cut=original.cut)
        return self._patiently(path, original, full)

    def _patiently(self, path: Path, original: Profile, probe: Probe) -> Ran:
        """Run a program, and once more if its time was over before its first launch.

        A busy host may take many seconds to start a process with a GPU in it. What has launched
        and does not end is at fault itself.
        """
        limit = self._limit(original)
        run = self.runner.run(path, original.arguments, probe, limit)
        if run.exit is None and not run.launched:
            run = self.runner.run(path, original.arguments, probe, PATIENCE * limit)
        return run

    @property
    def until(self) -> float:
        """Return when, in monotonic seconds, nobody waits for more than results and times."""
        within = float(self.job.get("within") or 0.0)
        return self.begun + within if within else math.inf

    def _beyond(self) -> _Beyond:
        """Begin to compile what a confirmation looks at behind results and times."""
        sources = [str((self.job.get(which) or {}).get("source") or "") for which in _BOTH]
        pool = ThreadPoolExecutor(3, thread_name_prefix="beyond")
        codes: list[Future[str | None]] = []
        if self.device_code is not None and all(sources):
            codes = [pool.submit(self.device_code, text, self.job) for text in sources]
        builds = range(SHAKEN_BUILDS if sources[0] and self.shake is not None else 0)
        shaken = [pool.submit(self._built_shaken, "kernel", number) for number in builds]
        pool.shutdown(wait=False)
        return _Beyond(tuple(codes), tuple(shaken))

    def _built_shaken(self, which: str, number: int) -> dict[str, Any] | None:
        """Build a source with delays, one of several ways; None where that cannot be had."""
        if self.shake is None:
            return None
        seed = (self.seed * 2 + 1) ^ number << seeded.LATE_BIT  # late first blocks in half of them
        return self.shake(str(self.job[which]["source"]), self.job, seed)

    def _gate(self, beyond: _Beyond, done: list[dict[str, Any]]) -> None:
        """Note what the candidate's device code can do beyond its original's; refuse a clock."""
        if not beyond.codes:
            return
        mine, theirs = (static_gate.device(code.result() or "") for code in beyond.codes)
        more = sorted(mine - theirs)
        done += [check("static gate", w, w not in static_gate.REFUSED) for w in more]
        for what in more:
            if what in static_gate.REFUSED:
                raise Failed("rejected", f"its device code {what}; the original's does not")

    def _watch_runs(
        self,
        beyond: _Beyond,
        originals: Sequence[Profile],
        bounds: Bounds,
        done: list[dict[str, Any]],
    ) -> list[str]:
        """Watch the shortest run, and others where time is left: they may take other branches."""
        shortest, *others = sorted(originals, key=lambda o: o.seconds)
        notes = self._watch(beyond, shortest, bounds, done)
        ends = time.monotonic() + MORE_SECONDS
        for original in others[:MORE_RUNS]:
            now = time.monotonic()
            hurry = min(self.until, self.deadline) - now < WATCH_SECONDS + SHAKEN_SECONDS
            if hurry or now > ends or original.seconds > LONGEST_RUN:
                break
            notes += self._watch(beyond, original, bounds, done)
        return notes

    def _watch(
        self, beyond: _Beyond, original: Profile, bounds: Bounds, done: list[dict[str, Any]]
    ) -> list[str]:
        """Look for what results do not show, on one run; return what time was short for.

        compute-sanitizer's tools, side by side; then warps are delayed, or beside them where there
        is no time for both.
        """
        left = max(self.until - time.monotonic(), LEAST_BEYOND_SECONDS)
        program = sanitizer.command()
        tools = sanitizer.TOOLS if program is not None else ()
        hurry = left < WATCH_SECONDS + SHAKEN_SECONDS
        with ThreadPoolExecutor(len(tools) + 1) as pool:
            delayed = pool.submit(self._shaken, beyond, original, bounds, left) if hurry else None
            found = [
                pool.submit(self._errors, "candidate", tool, original, min(WATCH_SECONDS, left))
                for tool in tools
            ]
        late = [one.result().tool for one in found if one.result().errors is None]
        for one in (ended.result() for ended in found):
            if one.errors is None:
                continue  # it does not run here, or not in time
            blamed = bool(one.errors) and sanitizer.blames(
                one.tool,
                one.errors,
                self._errors("baseline", one.tool, original, WATCH_SECONDS).errors,
            )
            done.append(check("sanitizer", f"{original.name}: {one.tool}", not blamed))
            if blamed:
                raise Failed("wrong result", f"compute-sanitizer {one.tool}: {one.words}")
        failures = delayed.result() if delayed else self._shaken(beyond, original, bounds, left)
        for number, failure in failures.items():
            if not failure.status:
                continue
            built = self._built_shaken("baseline", number)
            theirs = self._delayed(built, original, bounds, SHAKEN_SECONDS)
            if theirs is not None and not theirs.status:
                done.append(check("delayed warps", original.name, passed=False))
                raise failure
        if not failures:
            late += ["warps delayed at random"] if beyond.shaken else []
        elif not any(failure.status for failure in failures.values()):
            done.append(check("delayed warps", original.name, passed=True))
        if not late or not hurry:
            return []
        words = f"within the {left:.0f} s left of the time budget nothing was said by: "
        return [words + ", ".join(late)]

    def _errors(
        self, which: str, tool: str, original: Profile, seconds: float
    ) -> sanitizer.Finding:
        """Return what one of compute-sanitizer's tools says of a run."""
        line = sanitizer.prefix(str(sanitizer.command()), tool)
        path = Path(self.request[which]["path"])
        return sanitizer.read(tool, self.runner.watched(path, original.arguments, line, seconds))

    def _shaken(
        self, beyond: _Beyond, original: Profile, bounds: Bounds, seconds: float
    ) -> dict[int, Failed]:
        """Run the candidate with its warps delayed at random; what the original survives it must.

        Return how each build fails, by its number; one that does not end in time says nothing, and
        then the next one is not tried.
        """
        found: dict[int, Failed] = {}
        ends = time.monotonic() + seconds
        for number, built in enumerate(beyond.shaken):
            left = seconds if number == 0 else ends - time.monotonic()
            failure = self._delayed(built.result(), original, bounds, left) if left > 0 else None
            if failure is None:
                break
            found[number] = failure
            if failure.status:
                break
        return found

    def _delayed(
        self, artifact: dict[str, Any] | None, original: Profile, bounds: Bounds, seconds: float
    ) -> Failed | None:
        """Return how a build fails under delays; no status if it does not, None if unknown."""
        if artifact is None:
            return None
        expected = original.references[original.main_poison].digests
        probe = Probe(original.main_poison, self.seed, record=True, expected=expected)
        full = replace(probe, idle=original.idle, cut=original.cut)
        path = Path(str(artifact["path"]))
        limit = min(SHAKEN_SECONDS, 5 * patience(original.seconds), seconds)
        run = self.runner.run(path, original.arguments, full, limit)
        if run.exit is None or run.report is None or run.report.broken:
            return None
        try:
            self._verify(original, run, probe.poison, bounds, [], printed=False)
        except Failed as failure:
            return Failed(failure.status, f"{UNDER_DELAYS}: {failure.log}")
        return Failed("", "")

    def _limit(self, original: Profile) -> float:
        """Return how long a run may take: time that others used up is not the candidate's fault."""
        left = self.deadline - time.monotonic()
        return min(patience(original.seconds), max(left, 3 * original.seconds + 3))

    def _verify(
        self,
        original: Profile,
        run: Ran,
        poison: str,
        bounds: Bounds,
        done: list[dict[str, Any]],
        *,
        printed: bool = True,
    ) -> None:
        program = self.workload.get("program") or {}
        alive(run, original, self._limit(original))
        where = original.name
        for what, passed, error, why in checks(original, run, poison, bounds, self.runner):
            done.append(check("outputs", f"{where}: {what}", passed, error))
            if not passed:
                raise Failed("wrong result", f"{where}, fresh memory {poison}: {why}")
        assert run.report is not None  # noqa: S101 - alive() saw it
        beyond = len(run.report.guards) > original.guards
        done.append(check("guard bands", f"{where}: fresh memory {poison}", not beyond))
        if beyond:
            raise Failed("wrong result", f"{where}: {guard(run.report.guards[0])}")
        if printed:
            other = self._otherwise(original, run.stdout)
            must = program.get("stdout")
            if not other and must and must not in run.stdout:
                other = f'does not print "{must}"'
            done.append(check("stdout", where, not other))
            if other:
                raise Failed("wrong result", f"{where}: {other}")

    def _otherwise(self, original: Profile, printed: str) -> str:
        """Say what a candidate prints otherwise than the original, which may still change its mind.

        A word that the clock chooses may be the same in each of the few runs that taught about the
        original: it is run some times more before it is held against a candidate.
        """
        known = list(original.stdouts)
        other = program_stdout.difference(known, printed)
        probe = Probe(original.main_poison, self.seed, idle=original.idle, cut=original.cut)
        path = Path(self.request["baseline"]["path"])
        for _ in range(MORE_WORDS):
            if not other or time.monotonic() + 2 * original.seconds > self.deadline:
                break
            run = self.runner.run(path, original.arguments, probe, self._limit(original))
            if run.exit != original.exit or run.report is None or run.report.broken:
                break
            known.append(run.stdout)
            other = program_stdout.difference(known, printed)
        return other

    def _time(self, original: Profile, bounds: Bounds, done: list[dict[str, Any]]) -> Timed:
        """Time original and candidate in turns; the candidate's first run is a verified one."""
        fewest, most = (1, 1) if self._itself else PAIRS.get(self.effort, PAIRS["screen"])
        timed = Timed(original)
        poison = original.main_poison
        quiet = Probe(
            poison, self.seed, plans=original.plans, replay_ms=REPLAY_MS.get(self.effort, 300.0)
        )
        watched = replace(quiet, record=True)
        # What is compared runs as it would by itself; what is only timed must not live on what an
        # earlier launch has left in variables that the original does not have.
        mine_alone = replace(quiet, fresh=_added(self.request))
        rehearsed = original.rehearsal if self._itself and original.plans else None
        if rehearsed is not None or not original.plans or self.effort == "confirm":
            run = rehearsed or self._candidate(original, watched)
            self._verify(original, run, poison, bounds, done, printed=not original.plans)
            counts = _counts(run)
        else:
            run, counts = None, None
        last = self.deadline - 3 * original.seconds
        deadline = min(time.monotonic() + _cap(self.effort, original), last, self.until)
        for pair in range(most):
            first = run if pair == 0 and original.plans and run is not None else None
            theirs = self._shared(original) if pair == 0 else None
            if theirs is not None:
                mine = first or self._once(original, mine_alone, counts, watched)
            elif (pair + self.seed) % 2 and self.effort != "screen":
                mine = first or self._once(original, mine_alone, counts, watched)
                theirs = self._original(original, quiet)
            else:
                theirs = self._original(original, quiet)
                if pair == 0:
                    self.recent.keep(_shared_key(self.request, original), theirs)
                mine = first or self._once(original, mine_alone, counts, watched)
            if counts is None:
                self._verify(original, mine, poison, bounds, done, printed=False)
                counts = _counts(mine)
            alive(mine, original, self._limit(original))
            assert mine.report is not None  # noqa: S101 - alive() saw it
            timed.add(theirs, mine.report)
            if pair + 1 < fewest:
                continue
            if timed.settled(self.effort) or time.monotonic() > deadline:
                break
        return timed

    def _once(
        self, original: Profile, quiet: Probe, counts: tuple[int, int] | None, watched: Probe
    ) -> Ran:
        if counts is None:
            return self._candidate(original, watched)
        return self._candidate(original, replace(quiet, stop=counts))

    def _shared(self, original: Profile) -> Report | None:
        """Return the original's run that the screening before this one timed, if there is one."""
        if self.effort != "screen":
            return None
        return self.recent.take(_shared_key(self.request, original))

    def _original(self, original: Profile, quiet: Probe) -> Report:
        probe = replace(quiet, stop=(original.launches, original.copies))
        path = Path(self.request["baseline"]["path"])
        run = self._patiently(path, original, probe)
        if run.exit is None:  # it works: what it was given to learn about it shows that
            run = self._patiently(path, original, probe)
        if run.report is None or run.report.broken:
            why = run.tail or run.trouble or "it did not end in time"
            text = f"the original failed when it was timed: {why}"
            raise Failed("crashed", text)
        return run.report


def _shared_key(request: Mapping[str, Any], original: Profile) -> str:
    return repr((request["baseline"]["path"], original.arguments, original.main_poison))


def _cap(effort: str, original: Profile) -> float:
    """Return after how many seconds of timing no further pair is begun."""
    return {"screen": 4.0, "race": 40.0}.get(effort, 90.0) + 2 * original.seconds


def _added(request: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the device variables of a candidate that its original lacks."""
    code = []
    for which in ("candidate", "baseline"):
        path = Path(str(request[which].get("cubin") or ""))
        code.append(path.read_bytes() if path.is_file() else b"")
    return cubin.added(code[0], code[1])


def _counts(run: Ran) -> tuple[int, int]:
    assert run.report is not None  # noqa: S101 - callers have looked
    return run.report.launches, run.report.copies
