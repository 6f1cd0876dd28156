"""Energy of the examples before and after, and of candidates as fast as the winner.

    python benchmarks/energy.py --minutes 5 --out results
    python benchmarks/energy.py --matched gelu softmax --minutes 5 --out results
    python benchmarks/energy.py --itself reduction --out results
    python benchmarks/energy.py --searched DIR/trajectory.jsonl --out results

The winner of an example is the one its recording leads to; no GPU searches for it. Winner and
original are then judged by a worker in its sandbox as under `--objective energy`, on the timed case
that takes longest, and the counter is read in three to six pairs of arms of five seconds. With
`--matched` other candidates of the recording that were as fast as the winner, to two per cent, are
weighed against it, and the thriftiest is timed and read against it for certain. With `--itself` an
original is read against itself. `--searched` adds what a search under `--objective energy` or
`time-then-energy` weighed, from its trajectory, and needs no GPU. First NVML is asked outside the
sandbox, and the counter is watched through rest, load and rest.

`energy.json` holds every pair, `energy.md` what they amount to. A file that is there is added to.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bot import settings
from bot.wiring import Workshop
from optimizer.energy import energy_of, saving, saving_interval
from optimizer.model import (
    Effort,
    Kernel,
    Measurement,
    Status,
    Step,
    Trajectory,
    Verdict,
    Workload,
)
from optimizer.search import search
from optimizer.significance import interval, speedup
from optimizer.trajectory import read_trajectory
from runners.interfaces import Job
from runners.nvml import Nvml, Unmeasured
from runners.workload import read_project

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = (
    "gelu", "softmax", "nchw_to_nhwc", "matmul", "reduction", "histogram", "planck", "spmv",
    "layernorm", "filter2d", "im2col",
)  # fmt: skip
AS_FAST = 1.02
RIVALS = 3
# An example is begun only with so much left: verified, rested, six arms with their pauses.
EACH_SECONDS = 50.0
CONFIDENCE = 0.99


def given(device: str) -> settings.Settings:
    """Return settings that depend on nothing but the device."""
    return settings.load({"policy": "rules", "device": device}, None, {"OPTIML_MEMORY": "off"})


def recorded(name: str) -> Trajectory:
    """Return the search that an example's recording leads to."""
    folder = ROOT / "examples" / name
    kernel, workload = read_project(folder / ".optiml.yml").kernels()[0]
    with Workshop(given("cuda:0"), replay=folder / "recording.jsonl.gz") as shop:
        return search(
            kernel,
            workload,
            shop.tools(kernel, workload),
            shop.budget,
            settings=shop.search_settings,
            environment=shop.environment,
        )


def heaviest(trajectory: Trajectory) -> Workload:
    """Return the workload with the one timed case that takes longest, checked by the original."""
    workload = trajectory.workload
    seen = trajectory.baseline.verdict.measurement
    times = {case.name: statistics.median(case.baseline_us) for case in seen.cases} if seen else {}
    timed = [case for case in workload.cases if case.time]
    case = max(timed, key=lambda one: times.get(one.name, 0.0))
    return replace(workload, cases=(case,), reference=None)


def as_fast(trajectory: Trajectory) -> list[Step]:
    """Return other candidates that were about as fast as the winner, fastest first."""
    best = trajectory.best
    limit = (speedup(best.verdict.measurement) or 1.0) / AS_FAST
    found = [
        step
        for step in trajectory.steps[1:]
        if step.verdict.status is Status.CORRECT
        and step.same_as is None
        and step.number != best.number
        and step.verdict.machine_code != best.verdict.machine_code
        and (speedup(step.verdict.measurement) or 0.0) >= limit
    ]
    return sorted(found, key=lambda step: -(speedup(step.verdict.measurement) or 0.0))[:RIVALS]


class Bench:
    """Judges pairs of kernels on one GPU within a time."""

    def __init__(self, shop: Workshop, minutes: float) -> None:
        self.shop, self.end = shop, time.monotonic() + 60 * minutes

    @property
    def left(self) -> float:
        """Return the seconds that are left."""
        return self.end - time.monotonic()

    def against(
        self, kernel: Kernel, before: Kernel, workload: Workload, effort: Effort
    ) -> Verdict:
        """Return the verdict on a kernel beside another one."""
        job = Job(kernel, before, workload, self.shop.settings.device, effort)
        (verdict,) = self.shop.dispatcher.dispatch([job])
        return verdict


def described(measured: Measurement | None, status: Status) -> dict[str, Any]:
    """Return a measurement's figures of time and energy."""
    found: dict[str, Any] = {"status": status.value}
    if measured is None:
        return found
    fast = interval(measured, CONFIDENCE)
    found["speedup"] = asdict(fast) if fast else None
    found["time_us"] = {
        side: statistics.median(getattr(measured.cases[0], f"{side}_us"))
        for side in ("baseline", "candidate")
    }
    found["memory_bytes"] = [measured.baseline_memory_bytes, measured.peak_memory_bytes]
    if measured.energy is None:
        return found
    energy = energy_of(measured)
    found["energy"] = asdict(measured.energy)
    if energy is not None:
        seen = saving_interval(energy, CONFIDENCE)
        found["saving"] = asdict(seen) if seen and math.isfinite(seen.high) else None
        found["weighed"] = saving(energy)
    return found


def nothing(name: str, kind: str, workload: Workload) -> dict[str, Any]:
    """Return the row of an example whose recording leads to no winner."""
    log = "the recording leads to no winner: record it anew"
    row = {"example": name, "kind": kind, "status": "nothing held"}
    return row | {"case": workload.cases[0].name, "log": log}


def winner(bench: Bench, name: str) -> dict[str, Any]:
    """Read an example's winner against its original."""
    trajectory = recorded(name)
    workload = heaviest(trajectory)
    if trajectory.winner is None:
        return nothing(name, "winner against original", workload)
    kernel, before = trajectory.best.kernel, trajectory.baseline.kernel
    verdict = bench.against(kernel, before, workload, Effort.ENERGY)
    return {
        "example": name,
        "kind": "winner against original",
        "case": workload.cases[0].name,
        "log": verdict.log[-300:] if verdict.status is not Status.CORRECT else "",
        **described(verdict.measurement, verdict.status),
    }


def itself(bench: Bench, name: str) -> dict[str, Any]:
    """Read an example's original against itself."""
    folder = ROOT / "examples" / name
    kernel, workload = read_project(folder / ".optiml.yml").kernels()[0]
    case = next(case for case in workload.cases if case.time)
    workload = replace(workload, cases=(case,), reference=None)
    verdict = bench.against(kernel, kernel, workload, Effort.ENERGY)
    return {
        "example": name,
        "kind": "original against itself",
        "case": case.name,
        **described(verdict.measurement, verdict.status),
    }


def matched(bench: Bench, name: str) -> dict[str, Any]:
    """Weigh candidates as fast as the winner against it; read the thriftiest for certain."""
    trajectory = recorded(name)
    workload = heaviest(trajectory)
    if trajectory.winner is None:
        return nothing(name, "as fast as the winner, against it", workload)
    best = trajectory.best.kernel
    tried = []
    for step in as_fast(trajectory):
        verdict = bench.against(step.kernel, best, workload, Effort.WEIGH)
        seen = verdict.measurement
        gain = saving(energy_of(seen)) if verdict.status is Status.CORRECT else None
        tried.append((gain or 0.0, speedup(seen) or 0.0, step))
        say(f"{name}: step {step.number}: {gain} less energy, {speedup(seen)} times as fast")
    found: dict[str, Any] = {
        "example": name,
        "kind": "as fast as the winner, against it",
        "case": workload.cases[0].name,
        "weighed": [[round(gain, 4), round(fast, 4)] for gain, fast, _ in tried],
        "status": Status.CORRECT.value,
    }
    able = [one for one in tried if one[1] > 1 / 1.01]
    if not able or max(one[0] for one in able) < 1.01 or bench.left < EACH_SECONDS:
        return found
    step = max(able, key=lambda one: one[0])[2]
    timed = bench.against(step.kernel, best, workload, Effort.RACE)
    read = bench.against(step.kernel, best, workload, Effort.ENERGY)
    fast = described(timed.measurement, timed.status).get("speedup")
    edit = step.edit.title if step.edit else ""
    weighed = found["weighed"]
    return found | described(read.measurement, read.status) | {
        "speedup": fast, "edit": edit, "weighed": weighed,
    }  # fmt: skip


def searched(file: Path) -> dict[str, Any]:
    """Return what a search for energy weighed and chose, from its trajectory."""
    found = read_trajectory(file)
    weighed = []
    for step in found.steps[1:]:
        energy = energy_of(step.verdict.measurement)
        if energy is not None:
            case = energy.cases[0]
            weighed.append(
                {
                    "step": step.number,
                    "edit": step.edit.title if step.edit else "",
                    "screened": speedup(step.verdict.measurement),
                    "case": case.name,
                    "mj": statistics.median(case.candidate_mj),
                    "saving": saving(energy),
                }
            )
    confirmed = found.confirmation.measurement if found.confirmation else None
    return {
        "example": found.workload.name,
        "objective": found.environment.objective,
        "gpu": found.environment.gpu,
        "driver": found.environment.driver,
        "date": found.environment.date,
        "command": found.environment.command.partition(" --out")[0],
        "candidates": len(found.steps) - 1,
        "stopped": found.stopped,
        "winner": found.winner,
        "notes": list(found.notes),
        "weighed": weighed,
        "confirmed": described(confirmed, Status.CORRECT) if confirmed else None,
    }


def _search_lines(one: Mapping[str, Any]) -> list[str]:
    """Write one search for energy as Markdown."""
    lines = [
        "",
        f"### `{one['objective']}`, {one['example']}",
        "",
        f"{one['gpu']}, driver {one['driver']}, {one['date']}; `{one['command']}`; "
        f"{one['candidates']} candidates, ended by: {one['stopped']}. "
        + (f"Offered: step {one['winner']}. " if one["winner"] else "Nothing offered. ")
        + " ".join(f"{note[0].upper()}{note[1:]}." for note in one["notes"]),
        "",
        "| step | last edit | screened | weighed on | mJ a launch | energy |",
        "| ---: | --- | ---: | --- | ---: | ---: |",
    ]
    lines += [
        f"| {row['step']} | {row['edit']} | {row['screened'] or 0:.3f}× | {row['case']} "
        f"| {row['mj']:.4g} | {_change(row['saving'])} |"
        for row in sorted(one["weighed"], key=lambda row: -row["saving"])
    ]
    seen = one["confirmed"] or {}
    if seen.get("saving") and seen.get("speedup"):
        fast, energy = seen["speedup"], seen["saving"]
        lines += [
            "",
            (
                f"Confirmed: {fast['estimate']:.3f}× ({fast['low']:.3f}–{fast['high']:.3f}), "
                f"energy {_change(energy['estimate'])} ({_change(energy['high'])} to "
                f"{_change(energy['low'])}), 99 % intervals, all timed cases."
            ),
        ]
    return lines


def _change(saved: float) -> str:
    return f"{100 * (1 / saved - 1):+.1f} %"


def trace(device: str, load: Callable[[], None]) -> dict[str, Any]:
    """Ask NVML in this process, outside any sandbox, and watch the counter through a load."""
    number = device.removeprefix("cuda:")
    printed = subprocess.run(
        ["nvidia-smi", "-i", number, "--query-gpu=pci.bus_id", "--format=csv,noheader"],
        capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    nvml = Nvml(printed)
    try:
        nvml.energy_mj()
    except Unmeasured as why:
        return {"outside the sandbox": str(why)}
    costs, steps = [], []
    begun = time.monotonic()
    before = nvml.energy_mj()
    loaded = False
    while time.monotonic() < begun + 7.0:
        if not loaded and time.monotonic() > begun + 2.0:
            load()
            loaded = True
        start = time.perf_counter()
        value = nvml.energy_mj()
        costs.append(1e6 * (time.perf_counter() - start))
        if value != before:
            steps.append([round(time.monotonic() - begun, 4), value])
            before = value
        time.sleep(0.001)
    gaps = [1e3 * (b[0] - a[0]) for a, b in itertools.pairwise(steps)]
    return {
        "outside the sandbox": "the counter is read",
        "call_us": statistics.median(costs),
        "step_ms": statistics.median(gaps) if gaps else None,
        "steps": steps,
    }


@contextmanager
def spin(device: str) -> Iterator[Callable[[], None]]:
    """Give what keeps a GPU busy for three seconds, from a process of its own that then ends."""
    code = (
        "import time, torch\n"
        f"torch.cuda.set_device({int(device.removeprefix('cuda:'))})\n"
        "a = torch.randn(8192, 8192, device='cuda', dtype=torch.half)\n"
        "input()\n"
        "end = time.time() + 3\n"
        "while time.time() < end:\n"
        "    for _ in range(5): b = a @ a\n"
        "    torch.cuda.synchronize()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        time.sleep(6.0)  # its context

        def go() -> None:
            if child.stdin is not None and child.poll() is None:
                child.stdin.write("go\n")
                child.stdin.flush()

        try:
            yield go
        finally:
            child.kill()  # nothing is timed beside it


def say(text: str) -> None:
    """Print with the time of day, at once."""
    print(time.strftime("%T"), text, flush=True)


def shown(data: Mapping[str, Any]) -> str:
    """Write the figures as Markdown."""
    lines = ["# Energy of the examples", ""]
    lines += [f"* {facts}" for facts in data["provenance"]]
    for key, value in data.get("counter", {}).items():
        if key != "steps":
            lines.append(
                f"* counter, {key}: {value if isinstance(value, str) else round(value, 2)}"
            )
    head = (
        "| example | case | before, mJ | after, mJ | energy | 99 % interval | time | 99 % interval "
        "| W before | W after | pairs | spread of a pair | °C |"
    )
    for kind in dict.fromkeys(row["kind"] for row in data["rows"]):
        rows = [row for row in data["rows"] if row["kind"] == kind]
        lines += ["", f"## {kind.capitalize()}", "", head]
        lines.append("| --- | --- " + "| ---: " * 11 + "|")
        lines += [_row(row) for row in rows]
    if data.get("searches"):
        lines += ["", "## Searches for energy"]
        lines += [line for one in data["searches"] for line in _search_lines(one)]
    return "\n".join([*lines, ""])


def _row(row: Mapping[str, Any]) -> str:
    name = f"{row['example']} | {row['case']}"
    energy, seen = row.get("energy"), row.get("saving")
    if not energy or not energy["cases"] or not seen:
        why = "not measured: " + str(
            (energy or {}).get("unavailable") or row.get("log") or row["status"]
        )
        weighed = row.get("weighed")
        if isinstance(weighed, list):
            shares = ", ".join(f"{100 * (1 / g - 1):+.1f} % at {f:.3f}×" for g, f in weighed if g)
            why = f"none weighed 1 % less: {shares}"
        return f"| {name} | {why} " + "|  " * 10 + "|"
    case, fast = energy["cases"][0], row["speedup"]
    before, after = (statistics.median(case[f"{s}_mj"]) for s in ("baseline", "candidate"))
    watts = [
        statistics.median(
            mj / us * 1e3 for mj, us in zip(case[f"{s}_mj"], case[f"{s}_us"], strict=True)
        )
        for s in ("baseline", "candidate")
    ]
    logs = [math.log(b / c) for b, c in zip(case["baseline_mj"], case["candidate_mj"], strict=True)]
    heat = "–".join(f"{one:.0f}" for one in energy["celsius"])
    return (
        f"| {name} | {before:.4g} | {after:.4g} | {100 * (1 / seen['estimate'] - 1):+.1f} % "
        f"| {100 * (1 / seen['high'] - 1):+.1f} to {100 * (1 / seen['low'] - 1):+.1f} % "
        f"| {fast['estimate']:.3f}× | {fast['low']:.3f}–{fast['high']:.3f} "
        f"| {watts[0]:.0f} | {watts[1]:.0f} | {len(logs)} | {100 * statistics.stdev(logs):.2f} % "
        f"| {heat} |"
    )


def write(out: Path, data: Mapping[str, Any]) -> None:
    """Write the figures so far."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "energy.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    (out / "energy.md").write_text(shown(data), encoding="utf-8")


def measured(
    bench: Bench, work: Sequence[tuple[Callable[[Bench, str], dict[str, Any]], str]]
) -> list[dict[str, Any]]:
    """Do one thing after the other while there is time."""
    rows = []
    for what, name in work:
        if bench.left < EACH_SECONDS:
            say(f"{name}: no time")
            continue
        begun = time.monotonic()
        rows.append(what(bench, name))
        row = rows[-1]
        say(
            f"{name}: {row['kind']}: {row.get('saving')} in {time.monotonic() - begun:.0f} s "
            f"{(row.get('energy') or {}).get('unavailable', '')} {row.get('log', '')}"
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="their winners; several")
    parser.add_argument("--matched", nargs="*", default=[], metavar="EXAMPLE")
    parser.add_argument("--itself", nargs="*", default=[], metavar="EXAMPLE")
    parser.add_argument("--searched", nargs="*", default=[], type=Path, metavar="TRAJECTORY")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--no-trace", action="store_true")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    options = parser.parse_args()
    named = options.examples or options.matched or options.itself

    begun = time.monotonic()
    file = options.out / "energy.json"
    data: dict[str, Any] = {"provenance": [], "counter": {}, "rows": []}
    if file.is_file():
        data = json.loads(file.read_text(encoding="utf-8"))
    if options.searched:
        data.setdefault("searches", []).extend(searched(one) for one in options.searched)
        write(options.out, data)
        return 0
    if not options.no_trace and shutil.which("nvidia-smi"):
        with spin(options.device) as load:
            data["counter"] = trace(options.device, load)
        say(f"counter: { ({k: v for k, v in data['counter'].items() if k != 'steps'}) }")
    with Workshop(given(options.device), say=say) as shop:
        seen = shop.environment
        data["provenance"].append(
            f"{seen.gpu}, driver {seen.driver}, CUDA {seen.toolkit}, {seen.date}; "
            f"`{shlex.join(['python', 'benchmarks/energy.py', *sys.argv[1:]])}`"
        )
        bench = Bench(shop, options.minutes - (time.monotonic() - begun) / 60)
        work = [(winner, name) for name in options.examples or ([] if named else EXAMPLES)]
        work += [(itself, name) for name in options.itself]
        work += [(matched, name) for name in options.matched]
        for one in work:
            data["rows"] += measured(bench, [one])
            write(options.out, data)
    print(shown(data))
    # A run that read nothing has failed, whatever it printed.
    return 0 if any((row.get("energy") or {}).get("cases") for row in data["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
