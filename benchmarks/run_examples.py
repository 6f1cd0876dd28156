"""Optimize the examples on this machine's GPUs, and write down what came of it.

    python benchmarks/run_examples.py --out results --minutes-each 2 --record

Every example is one `optiml run` in a process of its own, one at a time on each GPU. In the output
folder:

* `examples.json`   figures of every run, and of every rule
* `examples.md`     the same as tables
* `runs.tar.gz`     what each run wrote and printed
* `recordings.tar`  with `--record`: unpacked at the top of a checkout it puts each recording
                    beside its example; they are written to the examples of this one, too

A run that fails is a row that says so; the exit status is then 1.

    python benchmarks/run_examples.py --out results --join FIRST SECOND

makes one table of several such folders, without a GPU: of an example that is in more than one it
takes the last, however it ended. A folder of `explain_winners.py` adds what it read.
"""

from __future__ import annotations

import argparse
import json
import math
import queue
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bot.outcome import speedup_of, summarize
from bot.roofline import share_of_roof, traffic
from optimizer.model import Status, Step, Trajectory, Verdict
from optimizer.trajectory import read_trajectory

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
# A plain log names a candidate that is right and faster than all before as `candidate 7: ...×`.
FIRST = re.compile(r"candidate \d+: .*\d×")
FASTER = 1.01  # over the candidate an edit was made from, by the screening measurement
GRACE_SECONDS = 120  # for the baseline, the finals and the report, beyond the search's budget


@dataclass(slots=True)
class Run:
    """What one `optiml run` gave. `first_seconds` counts from the start of the process."""

    name: str
    command: list[str]
    device: str = ""
    status: int | None = None
    seconds: float = 0.0
    first_seconds: float | None = None
    log: str = ""
    trajectory: Trajectory | None = None
    recording: Path | None = None


@dataclass(slots=True)
class Tally:
    """How far a rule's edits came. Repeats (machine code that is known) go no further."""

    proposed: int = 0
    repeats: int = 0
    legal: int = 0
    correct: int = 0
    faster: int = 0
    kept: int = 0
    failures: Counter[str] = field(default_factory=Counter)


def devices() -> list[str]:
    """Name the GPUs of this host as the command line does."""
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [f"cuda:{i}" for i in range(len(listed.stdout.strip().splitlines()))]


def source_of(name: str) -> Path:
    """Return the file an example optimizes."""
    facts = yaml.safe_load((EXAMPLES / name / ".optiml.yml").read_text(encoding="utf-8"))
    return EXAMPLES / name / str(facts["kernels"][0]["file"])


def command_of(name: str, folder: Path, options: argparse.Namespace) -> list[str]:
    """Return the command line that repeats an example's run, less its device."""
    # What earlier searches learned would make runs depend on their order, and replays differ.
    command = ["env", "OPTIML_MEMORY=off", sys.executable, "-u", "-m", "bot", "run"]
    command += [str(source_of(name).relative_to(ROOT))]
    command += ["--policy", "rules", "--seed", str(options.seed)]
    command += ["--budget", f"{options.minutes_each:g}m"]
    command += ["--evaluations", str(options.evaluations)]
    command += ["--out", str(folder / name)]
    if options.record:
        command += ["--record", str(folder / f"{name}.jsonl.gz")]
    return command


def perform(run: Run, device: str, limit: float) -> None:
    """Run it, noting when the first verified speedup was printed."""
    run.device = device
    run.command += ["--device", device]
    began = time.monotonic()
    with subprocess.Popen(
        run.command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        timer = threading.Timer(limit, process.terminate)
        timer.start()
        lines = []
        for line in process.stdout or ():
            lines.append(line)
            if run.first_seconds is None and FIRST.search(line):
                run.first_seconds = time.monotonic() - began
        run.status = process.wait()
        timer.cancel()
    run.seconds = time.monotonic() - began
    run.log = "".join(lines)
    print(f"{run.name}: exit {run.status} after {run.seconds:.0f} s on {device}", flush=True)


def perform_all(
    runs: Sequence[Run], names: Sequence[str], minutes_each: float, minutes: float
) -> None:
    """Share the runs out among the devices; each device does one at a time.

    After `minutes` none is begun, and one under way is stopped: what came before is not lost.
    """
    end = time.monotonic() + 60 * minutes
    waiting: queue.SimpleQueue[Run] = queue.SimpleQueue()
    for run in runs:
        waiting.put(run)

    def serve(device: str) -> None:
        while True:
            try:
                run = waiting.get_nowait()
            except queue.Empty:
                return
            left = end - time.monotonic()
            if left <= 0:
                run.log = "not begun: the time for all examples was over"
                continue
            perform(run, device, min(left, minutes_each * 60 + GRACE_SECONDS))

    threads = [threading.Thread(target=serve, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def collect(run: Run, folder: Path) -> None:
    """Find what a run wrote."""
    found = sorted((folder / run.name).rglob("trajectory.jsonl"))
    if found:
        run.trajectory = read_trajectory(found[0])
    recording = folder / f"{run.name}.jsonl.gz"
    if recording.is_file():
        run.recording = recording


def repeatable(command: Sequence[str]) -> str:
    """Write a command as a person would type it: without this machine's folders."""
    words = list(command[command.index("run") :])
    for option in ("--out", "--record"):
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    return shlex.join(["OPTIML_MEMORY=off", "optiml", *words])


def share(verdict: Verdict, trajectory: Trajectory) -> float | None:
    """Return how much of its roof a kernel reaches, 0 to 1; None where it was not profiled."""
    moved = traffic(verdict)
    return share_of_roof(moved, trajectory.environment.peaks) if moved else None


def row(run: Run) -> dict[str, Any]:
    """Return one example's figures."""
    found: dict[str, Any] = {
        "name": run.name,
        "exit": run.status,
        "seconds": round(run.seconds, 1),
        "first_verified_seconds": run.first_seconds and round(run.first_seconds, 1),
        "command": repeatable(run.command),
    }
    trajectory = run.trajectory
    if trajectory is None:
        found["failure"] = run.log.strip().splitlines()[-1:] or ["no output"]
        return found
    outcome = summarize(trajectory)
    evaluated = [s for s in trajectory.steps[1:] if s.verdict.status is not Status.REJECTED]
    searched = trajectory.steps[-1].at_seconds
    ratio = outcome.ratio
    return found | {
        "speedup": ratio.value if ratio else 1.0,
        "low": ratio.low if ratio else None,
        "high": ratio.high if ratio else None,
        "cases": {
            case.name: [case.before_us, case.after_us, case.ratio.value] for case in outcome.cases
        },
        "evaluations": len(evaluated),
        "search_seconds": round(searched, 1),
        "evaluations_per_minute": round(60 * len(evaluated) / searched, 1) if searched else None,
        "roof_before": share(trajectory.baseline.verdict, trajectory),
        "roof_after": share(trajectory.best.verdict, trajectory),
        "edits": [kept.step.edit.kind for kept in outcome.kept if kept.step.edit],
        "stages": {name: round(value, 1) for name, value in outcome.stages.items()},
        "stopped": trajectory.stopped,
        "notes": list(trajectory.notes),
        "gpu": trajectory.environment.gpu,
        "driver": trajectory.environment.driver,
        "toolkit": trajectory.environment.toolkit,
        "date": trajectory.environment.date,
    }


def is_faster(step: Step, parent: Step) -> bool:
    """Tell whether an edit paid by itself, over what it was made from."""
    mine, before = speedup_of(step), speedup_of(parent)
    return mine is not None and before is not None and mine > FASTER * before


def count_rules(trajectories: Iterable[Trajectory]) -> dict[str, Tally]:
    """Count by kind of edit how far the edits came."""
    tallies: dict[str, Tally] = {}
    for trajectory in trajectories:
        kept = {step.number for step in trajectory.path(trajectory.winner or 0)}
        for step in trajectory.steps[1:]:
            if step.edit is None or step.parent is None:
                continue
            tally = tallies.setdefault(step.edit.kind or step.edit.author, Tally())
            tally.proposed += 1
            if step.same_as is not None:
                tally.repeats += 1
                continue
            status = step.verdict.status
            if status in (Status.REJECTED, Status.DOES_NOT_COMPILE):
                tally.failures[status.value] += 1
                continue
            tally.legal += 1
            if status is not Status.CORRECT:
                tally.failures[status.value] += 1
                continue
            tally.correct += 1
            tally.faster += is_faster(step, trajectory.steps[step.parent])
            tally.kept += step.number in kept
    return dict(sorted(tallies.items(), key=lambda item: (-item[1].faster, item[0])))


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean; 1 of nothing."""
    return math.exp(statistics.fmean(map(math.log, values))) if values else 1.0


def percent(value: float | None) -> str:
    """Write a share, or a dash where there is none."""
    return f"{100 * value:.0f} %" if value is not None else "–"


def table(rows: Sequence[Mapping[str, Any]], tallies: Mapping[str, Tally], facts: str) -> str:
    """Write the figures as Markdown."""
    lines = [
        "# The examples, optimized",
        "",
        facts,
        "",
        "| example | speedup | 99 % interval | evaluations | seconds | a minute | first verified | roof before | roof after | edits kept |",  # noqa: E501
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for one in rows:
        if "speedup" not in one:
            lines.append(f"| {one['name']} | failed: exit {one['exit']} | | | | | | | | |")
            continue
        span = f"{one['low']:.3f}–{one['high']:.3f}" if one["low"] else "nothing held"
        first = one["first_verified_seconds"]
        lines.append(
            f"| {one['name']} | {one['speedup']:.2f}× | {span} | {one['evaluations']} "
            f"| {one['seconds']:.0f} | {one['evaluations_per_minute'] or 0:.0f} "
            f"| {f'{first:.0f} s' if first else '–'} | {percent(one['roof_before'])} "
            f"| {percent(one['roof_after'])} | {', '.join(one['edits'])} |"
        )
    held = [one["speedup"] for one in rows if "speedup" in one]
    mean = f"Geometric mean over {len(held)}: {geometric_mean(held):.2f}×"
    lines += [
        "",
        f"{mean}; least: {min(held, default=1.0):.2f}×.",
        "",
        "| rule | tried | same code as a known one | compiles | correct | faster than its parent | in a winner | failures |",  # noqa: E501
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for kind, t in tallies.items():
        failures = ", ".join(f"{count} {what}" for what, count in t.failures.most_common())
        lines.append(
            f"| {kind} | {t.proposed} | {t.repeats} | {t.legal} | {t.correct} | {t.faster} "
            f"| {t.kept} | {failures} |"
        )
    return "\n".join([*lines, ""])


def provenance(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say on what, when and how the figures were made."""
    one: Mapping[str, Any] = next((r for r in rows if r.get("gpu")), {})
    return (
        f"{one.get('gpu', 'no GPU')}, driver {one.get('driver', '?')}, CUDA "
        f"{one.get('toolkit', '?')}, {one.get('date') or time.strftime('%Y-%m-%d')}; "
        f"`{shlex.join(['python', 'benchmarks/run_examples.py', *sys.argv[1:]])}`"
    )


def pack(out: Path, folder: Path, runs: Sequence[Run]) -> None:
    """Put what the runs wrote into few files, and recordings beside the examples."""
    for run in runs:
        (folder / run.name).mkdir(exist_ok=True)
        (folder / run.name / "log.txt").write_text(run.log, encoding="utf-8")
    with tarfile.open(out / "runs.tar.gz", "w:gz") as tar:
        for run in runs:
            tar.add(folder / run.name, run.name)
    recorded = [run for run in runs if run.recording and run.status == 0]
    if recorded:
        with tarfile.open(out / "recordings.tar", "w") as tar:
            for run in recorded:
                assert run.recording
                beside = EXAMPLES / run.name / "recording.jsonl.gz"
                shutil.copyfile(run.recording, beside)
                tar.add(beside, beside.relative_to(ROOT))


def joined(
    folders: Sequence[Path], out: Path
) -> tuple[list[dict[str, Any]], dict[str, Tally], str]:
    """Return rows, tallies and provenance of earlier runs; their recordings go to one archive."""
    found = {
        folder: json.loads((folder / "examples.json").read_text())
        for folder in folders
        if (folder / "examples.json").is_file()
    }
    roofs = [json.loads(file.read_text()) for f in folders if (file := f / "roofs.json").is_file()]
    last = {one["name"]: folder for folder, data in found.items() for one in data["runs"]}
    rows = [
        one for folder, data in found.items() for one in data["runs"] if last[one["name"]] is folder
    ]
    for one in rows:
        for roof in roofs:
            if one["name"] in roof and one.get("roof_after") is None:
                one.update(roof[one["name"]])
    trajectories, facts = [], []
    with (
        tarfile.open(out / "recordings.tar", "w") as kept,
        tempfile.TemporaryDirectory() as scratch,
    ):
        for number, (folder, data) in enumerate(found.items()):
            mine = sorted(name for name, place in last.items() if place is folder)
            if not mine:
                continue
            some = len({*last.values()}) > 1
            facts.append(
                f"* {', '.join(mine)}: {data['provenance']}" if some else data["provenance"]
            )
            place = Path(scratch) / str(number)
            for archive in ("runs.tar.gz", "recordings.tar"):
                if (folder / archive).is_file():
                    with tarfile.open(folder / archive) as tar:
                        tar.extractall(place, filter="data")
            for name in mine:
                written = next((place / name).rglob("trajectory.jsonl"), None)
                if written is not None:
                    trajectories.append(read_trajectory(written))
                recording = place / "examples" / name / "recording.jsonl.gz"
                if recording.is_file():
                    kept.add(recording, recording.relative_to(place))
    return rows, count_rules(trajectories), "\n".join(facts)


def main() -> int:
    names = sorted(path.parent.name for path in EXAMPLES.glob("*/.optiml.yml"))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="all, when none is named")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--device", action="append", help="cuda:N; more than once for several")
    parser.add_argument("--minutes-each", type=float, default=5.0)
    parser.add_argument("--minutes", type=float, default=math.inf, help="for all together")
    parser.add_argument("--evaluations", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true", help="keep every verdict for replays")
    parser.add_argument("--join", nargs="+", type=Path, metavar="FOLDER", help="of earlier runs")
    options = parser.parse_args()
    if options.join:
        options.out.mkdir(parents=True, exist_ok=True)
        return told(options.out, *joined(options.join, options.out))
    unknown = set(options.examples) - set(names)
    if unknown:
        parser.error(f"no such example: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    gpus = options.device or devices()
    if not gpus:
        parser.error("nvidia-smi finds no GPU; name one with --device cuda:0")

    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="optiml-examples-") as scratch:
        folder = Path(scratch)
        runs = [Run(name, command_of(name, folder, options)) for name in options.examples or names]
        perform_all(runs, gpus, options.minutes_each, options.minutes)
        for run in runs:
            collect(run, folder)
        pack(options.out, folder, runs)
        rows = [row(run) for run in runs]
        tallies = count_rules(run.trajectory for run in runs if run.trajectory)
    return told(options.out, rows, tallies, provenance(rows))


def told(
    out: Path, rows: Sequence[Mapping[str, Any]], tallies: Mapping[str, Tally], facts: str
) -> int:
    """Write tables and figures; return the exit status."""
    text = table(rows, tallies, facts)
    (out / "examples.md").write_text(text, encoding="utf-8")
    data = {
        "provenance": facts,
        "runs": rows,
        "rules": {
            kind: {
                "proposed": t.proposed,
                "repeats": t.repeats,
                "legal": t.legal,
                "correct": t.correct,
                "faster": t.faster,
                "kept": t.kept,
                "failures": dict(t.failures),
            }
            for kind, t in tallies.items()
        },
    }
    (out / "examples.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    print(text)
    return 1 if any("speedup" not in one for one in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
