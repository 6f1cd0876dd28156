"""MCTS against greedy and random with the same proposals and budget.

    python benchmarks/strategies.py --seeds 150
    python benchmarks/strategies.py --ablate --seeds 150
    python benchmarks/strategies.py --recordings FOLDER --seeds 20

Without `--recordings` the kernels are simulated landscapes (`optimizer/landscape.py`), where one
seed is one landscape with its noise and tie-breaks. With it, every example with recordings in
`FOLDER/EXAMPLE/*.jsonl.gz` is searched again from what was measured. A candidate no recording
holds is "not recorded": it costs nothing and cannot be built upon. A recording of one search
favours that search; `benchmarks/explore.py` makes recordings that answer all of them.

Reported are the geometric mean of the speedup reached at the budget, on how many searches the first
variant was better and worse by over 0.5 %, and the p-value of a paired Wilcoxon test on logarithms.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from scipy import stats

from bot import projects
from optimizer import bottleneck, landscape, plugins
from optimizer.budget import Budget, SearchSettings, Strategy
from optimizer.diagnosis import Diagnosis
from optimizer.model import Kernel, Status, Verdict, Workload
from optimizer.policies.rules import RulePolicy
from optimizer.search import search
from optimizer.significance import speedup
from optimizer.tools import Tools, no_boundary
from optimizer.tuning import tune
from runners.evaluator import DispatchedEvaluator
from runners.interfaces import Job
from runners.replay import ReplayDispatcher, key_of

Run = Callable[[SearchSettings], float]
# Candidates no recording held, by kernel and strategy.
unanswered: Counter[tuple[str, str]] = Counter()
CLOSE = 0.005  # log speedups nearer than this count as equal
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

ABLATIONS: dict[str, dict[str, object]] = {
    "full": {},
    "no transfer": {"transfer": 0.0},
    "no exploitation slots": {"exploit": 0},
    "no pruning": {"prune": False},
    "no transpositions": {"transpositions": False},
    "no tuning of constants": {"tune": False},
    "no tuning phase": {"tune_share": 0.0},
    "flat branching": {"depth_decay": 1.0, "payoff": 0.0},
    "batch of 1": {"batch": 1, "exploit": 1},
    "batch of 8": {"batch": 8, "exploit": 4},
}
STRATEGIES: dict[str, dict[str, object]] = {
    "mcts": {},
    "greedy": {"strategy": Strategy.GREEDY},
    "greedy, no transfer": {"strategy": Strategy.GREEDY, "transfer": 0.0},
    "random": {"strategy": Strategy.RANDOM},
    "random, no transfer": {"strategy": Strategy.RANDOM, "transfer": 0.0},
}


def simulated(seed: int, moves: int, families: int, evaluations: int) -> Run:
    """Return a search of one landscape; it gives the true log speedup of the winner."""
    scene = landscape.generate(seed, moves, families)

    def run(settings: SearchSettings) -> float:
        evaluator = landscape.LandscapeEvaluator(scene, seed)
        tools = Tools(
            landscape.LandscapePolicy(scene),
            evaluator,
            tune=lambda kernel, _: landscape.tuner(scene, kernel),
            boundary=no_boundary,
        )
        found = search(
            landscape.kernel(),
            landscape.workload(),
            tools,
            Budget(evaluations),
            settings=replace(settings, seed=seed),
        )
        return math.log(evaluator.true_speedup(found.best.kernel))

    return run


class Recordings:
    """Answers from several recordings of one kernel; what none holds is `NOT_RECORDED`."""

    def __init__(self, paths: list[Path]) -> None:
        self._all = [ReplayDispatcher(path) for path in paths]
        self.peaks = self._all[0].header.peaks
        self._known: dict[str, Verdict] = {}

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        return [self._verdict(job) for job in jobs]

    def _verdict(self, job: Job) -> Verdict:
        key = key_of(job)
        if key not in self._known:
            found = (replay.dispatch([job])[0] for replay in self._all)
            recorded = (verdict for verdict in found if verdict.status is not Status.NOT_RECORDED)
            self._known[key] = next(recorded, Verdict(Status.NOT_RECORDED))
        return self._known[key]


def recorded(folder: Path, seeds: range, evaluations: int) -> list[Run]:
    """Return a search for every example with recordings (`FOLDER/EXAMPLE/*.jsonl.gz`) and seed."""
    runs = []
    for place in sorted({path.parent for path in folder.rglob("*.jsonl.gz")}):
        source = Recordings(sorted(place.glob("*.jsonl.gz")))
        for file in sorted((EXAMPLES / place.name).glob("*.cu")):
            for kernel, workload in projects.of_file(file).kernels:
                runs += [replayed(source, kernel, workload, evaluations, seed) for seed in seeds]
    return runs


def replayed(
    source: Recordings, kernel: Kernel, workload: Workload, evaluations: int, seed: int
) -> Run:
    """Return a search of recorded verdicts; it gives the log speedup of the best candidate.

    That is the best screened one: races and confirmations of candidates that were not offered
    when the recording was made are not in it.
    """

    def run(settings: SearchSettings) -> float:
        tools = Tools(
            RulePolicy(plugins.rules(), workload.accept),
            DispatchedEvaluator(source, kernel, seed=seed),
            detectors=(Diagnosis(source.peaks),),
            tune=tune,
            headroom=lambda verdict: bottleneck.headroom(verdict, source.peaks),
            profile=True,
        )
        alone = replace(settings, seed=seed, finalists=0, confirmations=0, shorten=False)
        found = search(kernel, workload, tools, Budget(evaluations), settings=alone)
        missing = [s for s in found.steps if s.verdict.status is Status.NOT_RECORDED]
        unanswered[(kernel.name, settings.strategy.value)] += len(missing)
        timed = [step.verdict for step in found.steps if step.verdict.status is Status.CORRECT]
        return math.log(max(speedup(verdict.measurement) or 1.0 for verdict in timed))

    return run


def compare(variants: dict[str, dict[str, object]], runs: list[Run]) -> dict[str, list[float]]:
    """Return the log speedup of every search of every variant."""
    logs = {}
    for name, changes in variants.items():
        settings = replace(SearchSettings(), **changes)  # type: ignore[arg-type]
        logs[name] = [run(settings) for run in runs]
    return logs


def rows(logs: dict[str, list[float]]) -> list[dict[str, object]]:
    """Return a row per variant; p-values and counts compare with the first."""
    first = next(iter(logs.values()))
    found: list[dict[str, object]] = []
    for name, reached in logs.items():
        pairs = list(zip(first, reached, strict=True))
        differ = any(a != b for a, b in pairs)
        row = {
            "variant": name,
            "geomean": round(math.exp(statistics.fmean(reached)), 4),
            "first_better": sum(a > b + CLOSE for a, b in pairs),
            "first_worse": sum(a < b - CLOSE for a, b in pairs),
            "p": float(stats.wilcoxon(first, reached).pvalue) if differ else 1.0,
            "searches": len(reached),
        }
        found.append(row)
        print(
            f"{name:24} {row['geomean']:.3f}×  first better {row['first_better']:4}"
            f" worse {row['first_worse']:4}  p = {row['p']:.1e}",
            flush=True,
        )
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--recordings", type=Path)
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--first-seed", type=int, default=5000)
    options.add_argument("--moves", type=int, nargs="*", default=[16, 30])
    options.add_argument("--families", type=int, nargs="*", default=[0, 4])
    options.add_argument("--evaluations", type=int, nargs="*", default=[40, 80, 160])
    options.add_argument("--ablate", action="store_true")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    variants = ABLATIONS if given.ablate else STRATEGIES
    if given.recordings and not any(given.recordings.rglob("*.jsonl.gz")):
        options.error(f"no recordings (*.jsonl.gz) below {given.recordings}")
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    results: dict[str, object] = {"settings": asdict(SearchSettings())}
    for evaluations in given.evaluations:
        if given.recordings:
            found = {"recordings": recorded(given.recordings, range(given.seeds), evaluations)}
        else:
            found = {
                f"{moves} moves, {families} families": [
                    simulated(seed, moves, families, evaluations) for seed in seeds
                ]
                for moves in given.moves
                for families in given.families
            }
        together: dict[str, list[float]] = {variant: [] for variant in variants}
        for name, runs in found.items():
            print(f"\n{name}, {evaluations} evaluations, {len(runs)} searches")
            logs = compare(variants, runs)
            results[f"{name}, {evaluations} evaluations"] = rows(logs)
            for variant, reached in logs.items():
                together[variant] += reached
        print(f"\nall together, {evaluations} evaluations")
        results[f"all together, {evaluations} evaluations"] = rows(together)
    if given.recordings:
        results["not recorded"] = {" ".join(key): count for key, count in unanswered.items()}
        print(f"\ncandidates not recorded: {results['not recorded']}")
    if given.out:
        given.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
