"""Judge red team kernels without a GPU: `python -m tests.redteam.emulate OUT LABEL... [--jobs=N]`.

The whole judge runs, on a device that is emulated on the host (`tests.emulation`): what it says is
about answers, and never a record of a device. Labels are bases (`saxpy`) or candidates (`saxpy/tail`).
OUT/emulated.json has the outcomes as `tests.redteam.run` writes them, marked as emulated; what cannot
be emulated is listed with its reason. `--seconds=N`: for each verdict.

Nothing is asked of compute-sanitizer, of buffers that begin elsewhere, and of speed: all times are
equal. Entry functions and programs are not emulated.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from optimizer.boundary import violations
from runners.fault import Fault
from tests.redteam import record, run
from tests.redteam.table import NO_VERDICT, Candidate, load

Json = dict[str, Any]
NOT_EMULATED = "cannot be emulated"
GPU = "emulated: no device"
# An emulated launch is slow: what the judge waits for, and when a process that says nothing is ended.
SECONDS, SILENCE = 600.0, 1800.0


def judged(candidates: Sequence[Candidate], seconds: float) -> None:
    """Judge candidates of one base in this process; print an outcome for each as JSON."""
    from tests.emulation import judging, library

    with tempfile.TemporaryDirectory(prefix="emulated-") as name:
        scratch = Path(name)
        builds = judging.Builds(scratch)
        judges = {one: judging.judge(scratch / one, builds) for one in ("screen", "confirm")}
        for candidate in candidates:
            outcome = run.Outcome(
                candidate.label, candidate.expect, candidate.what, candidate.digest
            )
            begun = time.monotonic()
            try:
                _one(candidate, outcome, judges, builds, seconds)
            except library.NotEmulatedError as error:
                outcome.status, outcome.log = NOT_EMULATED, str(error)
            except Fault as fault:
                outcome.status, outcome.log = NO_VERDICT, str(fault)
            outcome.seconds = time.monotonic() - begun
            known = outcome.status not in {NO_VERDICT, NOT_EMULATED}
            outcome.right = known and candidate.right(
                accepted=outcome.accepted, speedup=outcome.speedup, notes=outcome.notes
            )
            sys.stdout.write(json.dumps(asdict(outcome)) + "\n")
            sys.stdout.flush()
        for one in judges.values():
            one.close()
        builds.close()


def _one(
    candidate: Candidate, outcome: run.Outcome, judges: Json, builds: Any, seconds: float
) -> None:
    from tests.emulation import judging, library

    base = candidate.base
    outside = violations(base.source, candidate.source, allow_host=base.edit_host)
    if outside:
        outcome.status, outcome.stage, outcome.layer = "rejected", "boundary", "edit boundary"
        outcome.log = "; ".join(outside)
        return
    if base.kind != "kernel":
        raise library.NotEmulatedError(f"cannot be emulated: host code ({base.kind})")
    for effort, seed in (("screen", 1), ("confirm", run.CONFIRM_SEED)):
        job = candidate.job(effort, seed)
        verdict = judging.verdict(judges[effort], builds, job, seconds)
        outcome.status, outcome.stage = verdict["status"], effort
        outcome.layer, outcome.log = run._decided(verdict), verdict.get("log") or ""
        outcome.accepted = effort == "confirm" and verdict["status"] == "correct"
        outcome.notes = list((verdict.get("measurement") or {}).get("notes") or ())
        outcome.exhibit = verdict.get("exhibit")
        spent = (verdict.get("seconds") or {}).items()
        outcome.spent |= {f"{effort} {k}": v for k, v in spent}
        if verdict["status"] != "correct":
            return


class Outcomes:
    """What has come so far, written as it comes."""

    def __init__(self, file: Path, count: int) -> None:
        self._file, self._count = file, count
        self._lock = threading.Lock()
        self._begun = time.monotonic()
        self.every: list[Json] = []

    def add(self, outcome: Json) -> None:
        """Take one in, and tell of it."""
        line = run.Outcome(**outcome).line()
        if outcome["status"] == NOT_EMULATED:
            line = line.replace("BAD", "---", 1)
        with self._lock:
            self.every.append(outcome)
            spent = time.monotonic() - self._begun
            sys.stdout.write(f"{spent:6.1f} {len(self.every)}/{self._count} {line}\n")
            sys.stdout.flush()
            data = {
                "gpu": GPU,
                "emulated": True,
                "not_emulated": [
                    {"label": one["label"], "reason": one["log"]}
                    for one in self.every
                    if one["status"] == NOT_EMULATED
                ],
                "outcomes": self.every,
            }
            self._file.write_text(json.dumps(data, indent=1))


def _in_processes(mine: Sequence[Candidate], seconds: float, outcomes: Outcomes) -> None:
    """Judge candidates of one base in a process; what ends it is an outcome of its own."""
    left = list(mine)
    while left:
        labels = [one.label for one in left]
        command = [sys.executable, "-m", "tests.redteam.emulate", "--judge", str(seconds), *labels]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        timer = threading.Timer(SILENCE, process.kill)
        timer.start()
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):
                continue
            outcomes.add(json.loads(line))
            left.pop(0)
            timer.cancel()
            timer = threading.Timer(SILENCE, process.kill)
            timer.start()
        status = process.wait()
        timer.cancel()
        if left:
            one = left.pop(0)
            ended = run.Outcome(one.label, one.expect, one.what, one.digest)
            ended.status, ended.log = NO_VERDICT, f"the emulation ended: {status}"
            outcomes.add(asdict(ended))


def compared(outcomes: Sequence[Json], records: Path = record.RECORDS) -> list[str]:
    """Return a line for each outcome that a device's record, where there is one, has otherwise."""
    known = {(o["label"], o["digest"]): o for o in json.loads(records.read_text())["outcomes"]}
    found = []
    for one in outcomes:
        before = known.get((one["label"], one["digest"]))
        if before is None or one["status"] == NOT_EMULATED:
            continue
        said = [f"{o['status']} by {o['layer'] or '-'}" for o in (one, before)]
        if one["accepted"] != before["accepted"]:
            found.append(f"DIFFERS {one['label']}: emulated {said[0]}, recorded {said[1]}")
        elif said[0] != said[1]:
            found.append(f"otherwise {one['label']}: emulated {said[0]}, recorded {said[1]}")
    return found


def main(arguments: Sequence[str]) -> int:
    """Judge what is named; return 0 when all that can be emulated was judged, and is well."""
    if arguments and arguments[0] == "--judge":
        every = {one.label: one for one in load()}
        judged([every[label] for label in arguments[2:]], float(arguments[1]))
        return 0
    names = [a for a in arguments if not a.startswith("--")]
    if len(names) < 2:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    folder, wanted = Path(names[0]), set(names[1:])
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [one for one in load() if {one.base.name, one.label} & wanted]
    unknown = wanted - {one.label for one in chosen} - {one.base.name for one in chosen}
    if unknown:
        sys.stderr.write(f"not in the tables: {', '.join(sorted(unknown))}\n")
        return 2
    by_base: dict[str, list[Candidate]] = {}
    for one in chosen:
        by_base.setdefault(one.base.name, []).append(one)
    outcomes = Outcomes(folder / "emulated.json", len(chosen))
    seconds = run.number(arguments, "seconds") or SECONDS
    with ThreadPoolExecutor(int(run.number(arguments, "jobs") or 1)) as lanes:
        futures = [
            lanes.submit(_in_processes, mine, seconds, outcomes) for mine in by_base.values()
        ]
        for future in futures:
            future.result()
    lost = [one for one in outcomes.every if one["status"] == NOT_EMULATED]
    wrong = [one for one in outcomes.every if not one["right"] and one not in lost]
    sys.stdout.write(f"{len(outcomes.every)} judged, emulated: no device had a say\n")
    sys.stdout.writelines(f"{NOT_EMULATED}: {one['label']}: {one['log']}\n" for one in lost)
    sys.stdout.writelines(f"{run.Outcome(**one).line()}\n" for one in wrong)
    sys.stdout.writelines(f"{line}\n" for line in compared(outcomes.every))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
