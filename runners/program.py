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
- `watch`: the same for what runs under a tool, `program_run.sandboxed(..., profile="tool")`;
- `profiles`: a dict the caller keeps, so that an original is profiled once;
- `more`: moves the caller's deadline by seconds, for what compute-sanitizer is asked a second time;
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
import tempfile
import time
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

from runners import (
    interposer,
    program_beyond,
    program_clocks,
    program_elsewhere,
    program_energy,
    program_late,
)
from runners.fault import Fault
from runners.program_compare import Bounds
from runners.program_failing import Failed
from runners.program_learning import profile, renewed
from runners.program_pairs import Pairs
from runners.program_profile import Profile
from runners.program_recent import Recent
from runners.program_run import Probe, Runner, execute, libraries
from runners.program_timing import as_measurement
from runners.program_trial import ENERGY, Trial
from runners.program_variants import Variants
from runners.removal import TemporaryFolder

Verdict = dict[str, Any]

BASELINE_SECONDS = 120.0


def command(artifact: Mapping[str, Any], arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs a built program."""
    return [str(artifact["path"]), *arguments]


def evaluate(request: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> Verdict:
    """Return a candidate's verdict: correct and timed, or what it failed at."""
    context = context or {}
    job, workload = request["job"], request["job"]["workload"]
    with TemporaryFolder(prefix="optiml-") as temporary:
        scratch = Path(context.get("scratch") or temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        runner = Runner(
            interposer=_interposer(request, context),
            scratch=scratch,
            root=Path(workload.get("root") or "."),
            device=int(context.get("device") or 0),
            library_path=tuple(context.get("libraries") or libraries()),
            execute=context.get("execute") or execute,
            watch=context.get("watch"),
        )
        begun = time.monotonic()
        originals = _profiles(runner, request, context)
        learned = time.monotonic()
        recent = context.get("recent") or Recent()
        deadline = begun + 0.9 * _seconds(request)
        trial = Trial(runner, request, job, workload, deadline, begun)
        verdict = _judge(trial, originals, context, recent)
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


def _judge(
    trial: Trial, originals: Sequence[Profile], context: Mapping[str, Any], recent: Recent
) -> Verdict:
    code, meter, shake = (context.get(name) for name in ("device_code", "meter", "shaken"))
    pairs = Pairs(trial, recent)
    tolerance = trial.workload.get("tolerance") or {}
    bounds = Bounds(float(tolerance.get("rtol", 1e-5)), float(tolerance.get("atol", 1e-6)))
    done: list[dict[str, Any]] = []
    notes: list[str] = []
    spent = {"verify": 0.0, "time": 0.0}
    beyond = None
    if trial.effort == "confirm" and not trial.unedited:
        more = context.get("more") or (lambda _seconds: None)
        beyond = program_beyond.begun(trial, code, shake, more)
    try:
        for original in originals:
            begun = time.monotonic()
            poison = _alone(original)
            if poison and not trial.unedited:
                run = trial.candidate(original, Probe(poison, trial.seed, record=True))
                trial.verify(original, run, poison, bounds, done)
            spent["verify"] += time.monotonic() - begun
        if beyond is not None:
            # Ahead of the times, which take all that is left until they are settled.
            begun = time.monotonic()
            rounded = functools.partial(_rounding, trial.job, context)
            variants = Variants(trial.job, context.get("build"), rounded)
            terms = bounds, context.get("profiles", {})
            notes += program_elsewhere.ask(trial, originals, variants, terms, done)
            spent["other arguments"] = time.monotonic() - begun
            notes += program_clocks.ask(trial, originals, bounds, done)
            notes += program_late.ask(trial, originals, done)
            # What it reads is compiled by now, and times take minutes.
            notes += beyond.gate(done)
        measured = pairs.all(originals, bounds, done, spent)
        if beyond is not None:
            begun = time.monotonic()
            notes += beyond.watch_runs(originals, bounds, done)
            spent["sanitizer"] = time.monotonic() - begun
    except Failed as failure:
        return _verdict(trial.request, failure.status, None, done, spent, failure.log)
    measurement = as_measurement(measured, originals)
    measurement["notes"][:0] = notes
    if trial.job.get("effort") in ENERGY:
        begun = time.monotonic()
        measurement["energy"] = program_energy.read(
            trial.runner, trial.request, originals, measurement["cases"], meter
        )
        spent["energy"] = time.monotonic() - begun
    log = "; ".join(n for o in originals for n in o.notes)
    return _verdict(trial.request, "correct", measurement, done, spent, log)


def _alone(original: Profile) -> str:
    """Return under what poison a candidate runs once ahead of its times; nothing where it need not.

    With NaN in fresh memory. With what is there in its timed runs where the original is compared
    with zeros alone and launches are repeated: what it prints is compared in no such run.
    """
    if "nan" in original.references:
        return "nan"
    return original.main_poison if original.plans else ""


def _verdict(
    request: Mapping[str, Any],
    status: str,
    measurement: dict[str, Any] | None,
    done: list[dict[str, Any]],
    spent: dict[str, float],
    log: str,
) -> Verdict:
    artifact = request["candidate"]
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
