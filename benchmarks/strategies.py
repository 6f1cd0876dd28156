"""MCTS against greedy and random with the same proposals and budget.

    python benchmarks/strategies.py --seeds 150
    python benchmarks/strategies.py --ablate --seeds 150
    python benchmarks/strategies.py --explored FOLDER
    python benchmarks/strategies.py --recordings FOLDER --seeds 20

Without the last two the kernels are simulated landscapes (`optimizer/landscape.py`), where one seed
is one landscape with its noise and tie-breaks. `--explored` reads what `benchmarks/explore.py`
searched on a GPU. With `--recordings` every example with recordings in `FOLDER/EXAMPLE/*.jsonl.gz`
is searched again from what was measured. What no recording holds would favour the strategy that
was recorded: a seed at which any of those compared meets such a candidate counts for none of them.

Reported are the geometric mean of the speedup reached at the budget, on how many searches the first
variant was better and worse by over 0.5 %, and two p-values. Searches of one kernel from several
seeds are much alike, so that the kernels are what is drawn at random: `p` is that of an exact
test of the kernels' mean differences (every assignment of signs, two-sided). The paired Wilcoxon
test over all searches, which takes them for independent, is given beside it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
MOST_EXACT = 16  # kernels: more assignments of signs than 65,536 tell nothing new
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


def recorded(folder: Path, seeds: range, evaluations: int) -> dict[str, list[Run]]:
    """Return searches from every seed of every example in `FOLDER/EXAMPLE/*.jsonl.gz`."""
    runs: dict[str, list[Run]] = {}
    for place in sorted({path.parent for path in folder.rglob("*.jsonl.gz")}):
        source = Recordings(sorted(place.glob("*.jsonl.gz")))
        for file in sorted((EXAMPLES / place.name).glob("*.cu")):
            for kernel, workload in projects.of_file(file).kernels:
                runs[f"{place.name}/{kernel.name}"] = [
                    replayed(source, kernel, workload, evaluations, seed) for seed in seeds
                ]
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
        # As in benchmarks/explore.py.
        alone = replace(
            settings, seed=seed, finalists=0, confirmations=0, shorten=False, profiles=1
        )
        found = search(kernel, workload, tools, Budget(evaluations), settings=alone)
        missing = [s for s in found.steps if s.verdict.status is Status.NOT_RECORDED]
        unanswered[(kernel.name, settings.strategy.value)] += len(missing)
        if missing:
            return math.nan
        timed = [step.verdict for step in found.steps if step.verdict.status is Status.CORRECT]
        return math.log(max(speedup(verdict.measurement) or 1.0 for verdict in timed))

    return run


Logs = dict[str, list[float]]


def compare(variants: Mapping[str, Mapping[str, object]], runs: Sequence[Run]) -> Logs:
    """Return the log speedups of the searches that every variant could answer."""
    logs = {}
    for name, changes in variants.items():
        settings = replace(SearchSettings(), **changes)  # type: ignore[arg-type]
        logs[name] = [run(settings) for run in runs]
    whole = [not any(map(math.isnan, values)) for values in zip(*logs.values(), strict=True)]
    return {name: list(itertools.compress(values, whole)) for name, values in logs.items()}


def exact(differences: Sequence[float]) -> float:
    """Return how likely a mean difference as large is when every sign is a coin's.

    >>> exact([0.1, 0.2, 0.3]), exact([0.1, -0.1])
    (0.25, 1.0)
    """
    some = [d for d in differences if d]
    seen = abs(sum(some)) - 1e-12
    if len(some) > MOST_EXACT:
        return float(stats.wilcoxon(some).pvalue)
    signs = itertools.product((1, -1), repeat=len(some))
    sums = [abs(sum(map(float.__mul__, some, map(float, sign)))) for sign in signs]
    return sum(total >= seen for total in sums) / len(sums)


def rows(kernels: Sequence[Logs]) -> list[dict[str, object]]:
    """Return a row per variant over several kernels; all is compared with the first variant."""
    kernels = [logs for logs in kernels if next(iter(logs.values()))]
    found: list[dict[str, object]] = []
    for name in kernels[0] if kernels else ():
        mine = [logs[name] for logs in kernels]
        first = [next(iter(logs.values())) for logs in kernels]
        pairs = [pair for a, b in zip(first, mine, strict=True) for pair in zip(a, b, strict=True)]
        means = [
            statistics.fmean(a) - statistics.fmean(b) for a, b in zip(first, mine, strict=True)
        ]
        alike = 1.0
        if any(a != b for a, b in pairs):
            alike = float(stats.wilcoxon(*zip(*pairs, strict=True)).pvalue)
        row: dict[str, object] = {
            "variant": name,
            "geomean": round(math.exp(statistics.fmean(map(statistics.fmean, mine))), 4),
            "first_better": sum(a > b + CLOSE for a, b in pairs),
            "first_worse": sum(a < b - CLOSE for a, b in pairs),
            "kernels_better": sum(d > CLOSE for d in means),
            "kernels_worse": sum(d < -CLOSE for d in means),
            "p": exact(means),
            "p_searches": alike,
            "kernels": len(kernels),
            "searches": len(pairs),
        }
        found.append(row)
        print(
            f"{name:24} {row['geomean']:.3f}×  first better {row['first_better']:4}"
            f" worse {row['first_worse']:4} of {len(pairs)} searches,"
            f" {row['kernels_better']} and {row['kernels_worse']} of {len(kernels)} kernels"
            f"  p = {row['p']:.3g} (searches alone {row['p_searches']:.1e})",
            flush=True,
        )
    return found


def explored(folder: Path) -> dict[str, object]:
    """Compare the searches that `benchmarks/explore.py` made; return the figures."""
    files = sorted(folder.rglob("searches.json"))
    searches = {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}
    results: dict[str, object] = {}
    ends: list[Logs] = []
    for name, found in searches.items():
        curves = found["log_speedup"]
        logs = {strategy: [c[-1] for c in those] for strategy, those in curves.items()}
        print(f"\n{name}, {found['evaluations']} evaluations, {len(found['seeds'])} seeds")
        needed = {strategy: needs(those, curves) for strategy, those in curves.items()}
        results[name] = {"rows": rows([logs]), "evaluations_to_95_percent": needed}
        print(f"evaluations to 95 % of the best: {needed}")
        ends.append(logs)
    for share in (0.25, 0.5, 1.0):
        at = {
            name: {
                strategy: [c[max(1, int(share * len(c))) - 1] for c in those]
                for strategy, those in found["log_speedup"].items()
            }
            for name, found in searches.items()
        }
        print(f"\nall together, at {share:.0%} of the budget")
        results[f"all together, {share:.0%} of the budget"] = rows(list(at.values()))
    return results


def needs(those: Sequence[Sequence[float]], all_curves: Mapping[str, object]) -> float:
    """Return the evaluations until 95 % of the log speedup of the best of all; the mean of seeds.

    A search that does not get there counts with the whole budget.
    """
    every = [c for curves in all_curves.values() for c in curves]  # type: ignore[attr-defined]
    goal = 0.95 * max((c[-1] for c in every), default=0.0)
    at = [next((i + 1 for i, v in enumerate(c) if v >= goal), len(c)) for c in those]
    return round(statistics.fmean(at), 1) if at else 0.0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--explored", type=Path)
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
    results: dict[str, object] = {"settings": asdict(SearchSettings())}
    if given.explored:
        results |= explored(given.explored)
    for evaluations in () if given.explored else given.evaluations:
        results |= searched(variants, evaluations, given)
    if given.recordings:
        results["not recorded"] = {" ".join(key): count for key, count in unanswered.items()}
        print(f"\ncandidates not recorded: {results['not recorded']}")
    if given.out:
        given.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


def searched(
    variants: Mapping[str, Mapping[str, object]], evaluations: int, given: argparse.Namespace
) -> dict[str, object]:
    """Search recordings or simulated landscapes with every variant; return the figures."""
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    if given.recordings:
        found = recorded(given.recordings, range(given.seeds), evaluations)
    else:
        found = {
            f"{moves} moves, {families} families": [
                simulated(seed, moves, families, evaluations) for seed in seeds
            ]
            for moves in given.moves
            for families in given.families
        }
    results: dict[str, object] = {}
    together: list[Logs] = []
    for name, runs in found.items():
        logs = compare(variants, runs)
        counted = len(next(iter(logs.values())))
        print(f"\n{name}, {evaluations} evaluations, {counted} searches of {len(runs)} answered")
        # Every landscape is a kernel of its own.
        each = [{v: [one[i]] for v, one in logs.items()} for i in range(counted)]
        results[f"{name}, {evaluations} evaluations"] = rows([logs] if given.recordings else each)
        together += [logs] if given.recordings else each
    print(f"\nall together, {evaluations} evaluations")
    results[f"all together, {evaluations} evaluations"] = rows(together)
    return results


if __name__ == "__main__":
    sys.exit(main())
