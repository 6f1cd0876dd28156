"""How small a difference is found, how surely, and how soon? Beside two usual ways of timing.

    python benchmarks/power.py --minutes 7 --out results

Kernels are compared with copies of themselves that take 0, 1, 2, 3 or 5 % longer
(benchmarks/timed_kernels.py): as the candidate, which is then slower, or as the original, and then
the candidate is faster. How many cycles of extra work that takes is measured for each kernel
first. Each pair is timed in turn by three methods in the same process:

- `optiml`: the timer and the decision of this project at the default settings;
- `do_bench`: the median of triton.testing.do_bench (25 ms of warm-up, 100 ms of runs, a cleared L2
  cache before each), the original's over the candidate's;
- `mean of 100`: the mean of 100 launches between CUDA events after 10 warm-up launches, likewise.

What the extra work came to in the end, over all runs of a pair, is shown as the true ratio. A
method claims a win (or a loss) when it says faster (slower); the two that know no uncertainty say
so at any ratio beyond a threshold, and the table gives two: 1.00, and the `min_speedup` of the
default settings, 1.03. `found` is this project's interval without 1.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from aa import provenance, shown
from timed_kernels import Compared, Subject, Timer, chosen, device_timer

from runners import arena, spec
from runners.contents import Combination
from runners.families import DECLARED
from runners.launchable import KernelLaunchable
from runners.spec import Json

PERMILLE = (0, 10, 20, 30, 50)
DEFAULT = ("stream-64k", "rows-small", "stream-4m", "rows-large", "stream-32m", "spin-short")
WARM_UP_MS, REPEAT_MS, CLEARED_BYTES = 25.0, 100.0, 256 << 20


@dataclass(frozen=True, slots=True)
class Trial:
    """One pair under the three methods; ratios are the original's time over the candidate's.

    `extra` is the time in permille by which the candidate is meant to take less (negative: more).
    """

    kernel: str
    extra: int
    ours: Compared
    do_bench: float
    do_bench_seconds: float
    mean: float
    mean_seconds: float


class Plain:
    """One side of a pair with a plain set of buffers, timed as most benchmarks do."""

    def __init__(self, timer: Timer, data: Json, role: str) -> None:
        job = spec.parse(data)
        gpu, work, case = timer.gpu, job.work, job.work.cases[0].values
        source = job.kernel if role == "kernel" else job.baseline
        launchable = KernelLaunchable(gpu, timer.artifact(data, role), work, source.launch)
        layout = arena.plan(work, case, 4096)
        self._gpu = gpu
        self._base = gpu.allocate(layout.stride)
        contents = timer.contents(work).of(Combination(case, DECLARED, job.seed))
        for buffer in layout.buffers:
            if buffer.name in contents:
                gpu.upload(self._base + buffer.offset, contents[buffer.name])
        self.launch: Callable[[], None] = launchable.bind(case, layout.addresses(self._base))

    def close(self) -> None:
        """Give the buffers back."""
        self._gpu.free(self._base)


def do_bench(gpu: Any, launch: Callable[[], None], cache: int) -> float:
    """Return the median µs as triton.testing.do_bench measures it (Triton 3.6)."""

    def timed(before: Callable[[], None], count: int) -> list[float]:
        events = [(gpu.event(), gpu.event()) for _ in range(count)]
        for start, end in events:
            before()
            gpu.record(start)
            launch()
            gpu.record(end)
        gpu.synchronize()
        return [gpu.elapsed_us(start, end) for start, end in events]

    def clear() -> None:
        gpu.fill(cache, 0, CLEARED_BYTES // 4)

    launch()
    gpu.synchronize()
    events = (gpu.event(), gpu.event())
    gpu.record(events[0])
    for _ in range(5):
        clear()
        launch()
    gpu.record(events[1])
    gpu.synchronize()
    estimate_ms = gpu.elapsed_us(*events) / 5e3
    for _ in range(max(1, int(WARM_UP_MS / estimate_ms))):
        launch()
    return statistics.median(timed(clear, max(1, int(REPEAT_MS / estimate_ms))))


def mean_of_100(gpu: Any, launch: Callable[[], None]) -> float:
    """Return the mean µs of 100 launches, each between two events."""
    for _ in range(10):
        launch()
    events = [(gpu.event(), gpu.event()) for _ in range(100)]
    for start, end in events:
        gpu.record(start)
        launch()
        gpu.record(end)
    gpu.synchronize()
    return statistics.fmean(gpu.elapsed_us(start, end) for start, end in events)


def calibrated(timer: Timer, subject: Subject) -> dict[int, int]:
    """Return the cycles of extra work that raise a kernel's time by each share in permille.

    Two steps of the secant method at 3 %, from what one wave of blocks would take.
    """

    def rise(cycles: int) -> float:
        data = subject.job(candidate=cycles, seed=1)
        return 1 / statistics.median(timer.compare(data).estimate for _ in range(3)) - 1

    us = timer.compare(subject.job(seed=1)).candidate_us
    cycles = max(1.0, 0.03 * us * float(timer.gpu.facts.get("clock_mhz") or 1000))
    for _ in range(3):
        cycles *= min(5.0, max(0.2, 0.03 / max(rise(round(cycles)), 1e-4)))
    return {share: round(cycles * share / 30) for share in PERMILLE}


def trial(timer: Timer, subject: Subject, extra: int, cycles: int, seed: int, cache: int) -> Trial:
    """Time one pair by the three methods, in an order that turns with the seed."""
    slower = (0, cycles) if extra > 0 else (cycles, 0)
    data = subject.job(*slower, seed=seed)
    found: dict[str, Any] = {}

    def ours() -> None:
        found["ours"] = timer.compare(data)

    def plain(name: str, method: Callable[[Callable[[], None]], float]) -> None:
        begun = time.perf_counter()
        times = {}
        for role in ("baseline", "kernel"):
            side = Plain(timer, data, role)
            times[role] = method(side.launch)
            side.close()
        found[name] = times["baseline"] / times["kernel"], time.perf_counter() - begun

    steps: list[Callable[[], None]] = [
        ours,
        lambda: plain("do_bench", lambda launch: do_bench(timer.gpu, launch, cache)),
        lambda: plain("mean", lambda launch: mean_of_100(timer.gpu, launch)),
    ]
    for step in steps[seed % 3 :] + steps[: seed % 3]:
        step()
    return Trial(subject.name, extra, found["ours"], *found["do_bench"], *found["mean"])


def share(hits: int, of: int) -> str:
    """Write a rate."""
    return f"{100 * hits / of:.0f} %" if of else ""


def rates(trials: Sequence[Trial], least: float) -> list[str]:
    """Return the cells of a row: how often each method says what is so."""
    extra = trials[0].extra
    sign = 1 if extra > 0 else -1
    word = "faster" if extra > 0 else "slower"

    def beyond(ratios: Sequence[float], threshold: float) -> str:
        hits = sum(sign * math.log(ratio) > math.log(threshold) for ratio in ratios)
        return share(hits, len(ratios))

    found = sum(one.ours.detected == word for one in trials)
    other = sum(bool(one.ours.detected) and one.ours.detected != word for one in trials)
    cells = [share(found, len(trials)), share(other, len(trials))]
    said = sum(one.ours.decision == word for one in trials)
    cells.append(share(said, len(trials)))
    for ratios in ([one.do_bench for one in trials], [one.mean for one in trials]):
        cells += [beyond(ratios, 1.0), beyond(ratios, least)]
    return cells


def false_wins(trials: Sequence[Trial], least: float) -> str:
    """Say how often each method calls a kernel faster, or slower, than itself."""
    same = [one for one in trials if one.extra == 0]
    if not same:
        return ""
    lines = [
        "| method | called faster | called slower | farthest ratio |",
        "| --- | ---: | ---: | ---: |",
    ]
    ours = [one.ours for one in same]
    decided = [sum(one.decision == word for one in ours) for word in ("faster", "slower")]
    found = [sum(one.detected == word for one in ours) for word in ("faster", "slower")]
    far = max(abs(one.estimate - 1) for one in ours)
    lines.append(f"| optiml, decision | {decided[0]} | {decided[1]} | {100 * far:.2f} % |")
    lines.append(f"| optiml, interval without 1 | {found[0]} | {found[1]} | |")
    for name, ratios in (
        ("do_bench", [one.do_bench for one in same]),
        ("mean of 100", [one.mean for one in same]),
    ):
        for threshold in (1.0, 1.01, least):
            over = sum(ratio > threshold for ratio in ratios)
            under = sum(ratio < 1 / threshold for ratio in ratios)
            far = max(abs(ratio - 1) for ratio in ratios)
            lines.append(
                f"| {name}, beyond {threshold:.2f} | {over} | {under} | {100 * far:.2f} % |"
            )
    return "\n".join([f"{len(same)} comparisons of kernels with themselves:", "", *lines, ""])


COLUMNS = (
    "kernel", "time", "extra work", "true ratio", "pairs", "found", "found the wrong way",
    "decided at 1.03", "do_bench > 1", "do_bench > 1.03", "mean > 1", "mean > 1.03",
    "s to decide", "do_bench s", "mean s",
)  # fmt: skip


def summary(trials: Sequence[Trial], facts: str, least: float) -> str:
    """Write what the trials amount to, as Markdown."""
    lines = ["# What differences are found", "", facts, "", by_difference(trials)]
    lines += [f"| {' | '.join(COLUMNS)} |"]
    lines.append(f"|{' --- |' * len(COLUMNS)}")
    groups: dict[tuple[str, int], list[Trial]] = {}
    for one in trials:
        if one.extra:
            groups.setdefault((one.kernel, one.extra), []).append(one)
            groups.setdefault(("all", one.extra), []).append(one)
    order = {name: index for index, name in enumerate(dict.fromkeys(t.kernel for t in trials))}
    for (kernel, extra), mine in sorted(
        groups.items(), key=lambda item: (order.get(item[0][0], 99), item[0][1])
    ):
        truth = math.exp(statistics.fmean(math.log(one.ours.estimate) for one in mine))
        times = [one.ours.candidate_us for one in mine]
        seconds = [
            statistics.median(values)
            for values in (
                [one.ours.seconds for one in mine],
                [one.do_bench_seconds for one in mine],
                [one.mean_seconds for one in mine],
            )
        ]
        cells = [
            kernel, "" if kernel == "all" else shown(statistics.median(times)),
            f"{-extra / 10:+.0f} %", f"{truth:.4f}", str(len(mine)), *rates(mine, least),
            *(f"{value:.2f}" for value in seconds),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", false_wins(trials, least)])


DIFFERENCE_COLUMNS = (
    "true difference", "pairs", "found", "found the wrong way", "called at 1.03",
    "do_bench beyond 1.01", "do_bench beyond 1.03", "mean of 100 beyond 1.01",
    "mean of 100 beyond 1.03",
)  # fmt: skip
BINS = ((0.0, 0.75), (0.75, 1.5), (1.5, 2.5), (2.5, 3.5), (3.5, 6.0), (6.0, 100.0))


def by_difference(trials: Sequence[Trial]) -> str:
    """Say how often each method finds a difference, by how large it truly is."""
    pairs: dict[tuple[str, int], list[Trial]] = {}
    for one in trials:
        pairs.setdefault((one.kernel, one.extra), []).append(one)
    lines = [f"| {' | '.join(DIFFERENCE_COLUMNS)} |", f"|{' ---: |' * len(DIFFERENCE_COLUMNS)}"]
    for low, high in BINS:
        hits, count = [0] * 7, 0
        for (_, extra), mine in pairs.items():
            truth = statistics.fmean(math.log(one.ours.estimate) for one in mine)
            if not extra or not low <= 100 * abs(math.expm1(truth)) < high:
                continue
            sign, word = (1, "faster") if truth > 0 else (-1, "slower")
            count += len(mine)
            for one in mine:
                seen = one.ours.detected
                hits[0] += seen == word
                hits[1] += bool(seen) and seen != word
                hits[2] += one.ours.decision == word
                for at, ratio in ((3, one.do_bench), (5, one.mean)):
                    hits[at] += sign * math.log(ratio) > math.log(1.01)
                    hits[at + 1] += sign * math.log(ratio) > math.log(1.03)
        if count:
            name = f"{low:g} to {high:g} %" if high < 100 else f"over {low:g} %"
            cells = [f"{100 * n / count:.1f} %" for n in hits]
            lines.append(f"| {name} | {count} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def plan(names: Sequence[str], kinds: Sequence[int]) -> list[tuple[Subject, int]]:
    """Return the pairs of one turn."""
    shares = sorted({sign * one for one in kinds for sign in (1, -1)})
    return [(subject, extra) for subject in chosen(names) for extra in shares]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--turns", type=int, default=100, help="trials of each pair at most")
    parser.add_argument("--minutes", type=float, default=30.0, help="stop early after so long")
    parser.add_argument("--device", type=int, default=0, help="number of the GPU")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    options = parser.parse_args()

    options.out.mkdir(parents=True, exist_ok=True)
    pairs = plan(options.kernels or DEFAULT, PERMILLE)
    trials: list[Trial] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="optiml-power-") as scratch:
        timer = device_timer(options.device, Path(scratch))
        cycles: dict[str, dict[int, int]] = {}
        for subject in {subject.name: subject for subject, _ in pairs}.values():
            cycles[subject.name] = known = calibrated(timer, subject)
            print(f"[{time.monotonic() - began:.0f} s] {subject.name}: cycles {known}", flush=True)
        timer.build(s.job(cycles[s.name][abs(extra)]) for s, extra in pairs)
        cache = timer.gpu.allocate(CLEARED_BYTES)
        for turn in range(options.turns):
            if time.monotonic() - began > 60 * options.minutes:
                break
            trials += [
                trial(timer, s, extra, cycles[s.name][abs(extra)], 1 + turn % 5, cache)
                for s, extra in pairs
            ]
            print(f"[{time.monotonic() - began:.0f} s] {len(trials)} trials", flush=True)
            facts = provenance(timer, "power.py", time.monotonic() - began)
            write(options.out, trials, facts, timer.accept.min_speedup)
    print((options.out / "power.md").read_text())
    return 0


def write(out: Path, trials: Sequence[Trial], facts: str, least: float) -> None:
    """Keep what there is so far."""
    (out / "power.md").write_text(summary(trials, facts, least), encoding="utf-8")
    data: Mapping[str, object] = {"provenance": facts, "trials": [asdict(one) for one in trials]}
    (out / "power.json").write_text(json.dumps(data, indent=0), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
