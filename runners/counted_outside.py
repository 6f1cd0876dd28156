"""Ask the hardware's counters about a large gain from outside the process that measured it.

The worker that timed a candidate runs isolated, often without what Nsight Compute needs. So a
confirmation that claims more than tenfold is looked at once more by the profiler that the search
uses: original and candidate are run under it, and their cycles have to have fallen with the time.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from optimizer.model import CaseTimes, Check, Status, Verdict
from runners import counted
from runners.profiler import NcuProfiler

LAYER = "plausibility"
# A launch under the profiler costs seconds; the largest gains tell the most.
MOST_CASES = 3


def large(verdict: Verdict) -> list[tuple[CaseTimes, float]]:
    """Return the cases with gains that need a counter and have none yet, the largest first."""
    if verdict.status is not Status.CORRECT or verdict.measurement is None:
        return []
    seen = {check.what for check in verdict.checks if check.layer == LAYER}
    found = [
        (case, gain)
        for case in verdict.measurement.cases
        if (gain := _gain(case)) > counted.LARGE_GAIN and _named(case) not in seen
    ]
    return sorted(found, key=lambda pair: -pair[1])[:MOST_CASES]


def _gain(case: CaseTimes) -> float:
    pairs = zip(case.baseline_us, case.candidate_us, strict=True)
    return statistics.median(b / c for b, c in pairs) if case.candidate_us else 0.0


def _named(case: CaseTimes) -> str:
    return f"{case.name}: {counted.CHECKED}"


def counted_too(
    verdict: Verdict, request: Mapping[str, Any], profiler: NcuProfiler, worker: Sequence[str]
) -> Verdict:
    """Return the verdict with what the counters say of its large gains.

    `request` is the worker's, with both artefacts; `worker` the command of a worker. A gain that
    no counter shows is rejected; where there are no counters, a note says so.
    """
    for case, gain in large(verdict):
        (before, why), (after, _) = (
            cycles(profiler, request, which, case.name, worker)
            for which in ("baseline", "candidate")
        )
        bound = counted.most_gain(before, after)
        if bound is None:
            said = f"{case.name}: {gain:.3g} times as fast, and no counter could be read: {why}"
            return _noted(verdict, said)
        fine = gain <= bound
        check = Check(LAYER, _named(case), passed=fine, error=gain, bound=bound)
        verdict = replace(verdict, checks=(*verdict.checks, check))
        if not fine:
            log = f"{case.name}: {gain:.3g} times as fast, and no counter fell alike"
            return replace(verdict, status=Status.REJECTED, measurement=None, log=log)
    return verdict


def _noted(verdict: Verdict, said: str) -> Verdict:
    if verdict.measurement is None:
        return verdict
    notes = (*verdict.measurement.notes, said)
    return replace(verdict, measurement=replace(verdict.measurement, notes=notes))


def cycles(
    profiler: NcuProfiler,
    request: Mapping[str, Any],
    which: str,
    case: str,
    worker: Sequence[str],
) -> tuple[float | None, str]:
    """Return the cycles of one run of `candidate` or `baseline` on a case, or why there are none.

    `case` is the name of a timed case, of a program one of its runs.
    """
    job, artifact = dict(request["job"]), request[which]
    if which == "baseline":
        job["kernel"] = job["baseline"]
    root = str(Path(job["workload"].get("root") or ".").resolve())
    readable = [str(artifact["path"]), root]
    if artifact.get("cubin"):
        readable.append(str(artifact["cubin"]))
    if job["workload"]["kind"] == "program":
        arguments = _run_of(job["workload"], case)
        command = [str(artifact["path"]), *arguments]
        text, why = profiler.table(command, [counted.CYCLES], cwd=root, readable=readable)
        return counted.total(text), why
    cases = [one for one in job["workload"].get("cases") or () if _label(one) == case]
    asked = {**request, "job": {**job, "workload": {**job["workload"], "cases": cases}}}
    asked = {**asked, "candidate": artifact, "times": 1}
    with tempfile.TemporaryDirectory(prefix="optiml-launch-") as name:
        file = Path(name) / "request.json"
        file.write_text(json.dumps({"requests": [asked]}))
        command = [*worker, "--launch", str(file)]
        text, why = profiler.table(command, [counted.CYCLES], readable=[name, *readable])
    return counted.total(text), why


def _label(case: Mapping[str, Any]) -> str:
    """Name a case as the worker does (`runners.spec.CaseSpec`)."""
    values = case.get("values") or {}
    return " ".join(f"{k}={v:g}" for k, v in values.items()) or "default"


def _run_of(workload: Mapping[str, Any], case: str) -> list[str]:
    runs = (workload.get("program") or {}).get("runs") or [[]]
    named = {" ".join(map(str, run)) or "default": run for run in runs}
    return [str(word) for word in named.get(case, runs[0])]
