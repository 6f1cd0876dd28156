"""Measure whatever MCTS, greedy and random search ask about an example, each question once.

    python benchmarks/explore.py softmax spmv --out explored --device cuda:0 --seconds 180
    python benchmarks/strategies.py --recordings explored --seeds 20 --evaluations 40

Seed after seed, each strategy searches an example with the same proposals and budget; what one has
asked before, in this process, is answered from memory. So the later searches cost little, and the
recording `OUT/EXAMPLE/explored.jsonl.gz` answers all that any of them asked: no strategy is
compared on what another happened to measure. Races and confirmations are left out: they come after
the search and are the same for all.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from strategies import STRATEGIES  # beside this file

from bot import projects, settings
from bot.wiring import Workshop
from optimizer.budget import Budget, SearchSettings
from optimizer.model import Kernel, Verdict, Workload
from optimizer.search import search
from optimizer.tools import Tools
from runners.evaluator import DispatchedEvaluator
from runners.interfaces import Dispatcher, Job
from runners.replay import key_of

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
# The search alone: what follows it would only add to the recording.
SEARCH_ONLY = SearchSettings(finalists=0, confirmations=0, shorten=False)


class Remembering:
    """Asks a dispatcher each question once."""

    def __init__(self, inner: Dispatcher) -> None:
        self._inner = inner
        self.known: dict[str, Verdict] = {}
        self.asked = 0

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return one verdict per job, in order."""
        keys = [key_of(job) for job in jobs]
        self.asked += len(keys)
        fresh = {key: job for key, job in zip(keys, jobs, strict=True) if key not in self.known}
        if fresh:
            found = self._inner.dispatch(list(fresh.values()))
            self.known.update(zip(fresh, found, strict=True))
        return [self.known[key] for key in keys]


def explore(
    shop: Workshop, kernel: Kernel, workload: Workload, given: argparse.Namespace
) -> tuple[int, Remembering]:
    """Search with every strategy, seed after seed; return how many seeds were finished."""
    memory = Remembering(shop.dispatcher)
    end = time.monotonic() + given.seconds
    for seed in range(given.seeds):
        for changes in STRATEGIES.values():
            if time.monotonic() > end:
                return seed, memory
            tools: Tools = replace(
                shop.tools(kernel, workload),
                evaluator=DispatchedEvaluator(memory, kernel, given.device, seed),
            )
            chosen = replace(SEARCH_ONLY, seed=seed, **changes)  # type: ignore[arg-type]
            search(kernel, workload, tools, Budget(given.evaluations), settings=chosen)
    return given.seeds, memory


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("examples", nargs="+", metavar="EXAMPLE")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--device", default="cuda:0")
    options.add_argument("--seeds", type=int, default=20)
    options.add_argument("--evaluations", type=int, default=40)
    options.add_argument("--seconds", type=float, default=180.0, help="for each example")
    given = options.parse_args()
    chosen = settings.load({"policy": "rules", "memory": "off", "device": given.device})
    for name in given.examples:
        record = given.out / name / "explored.jsonl.gz"
        for file in sorted((EXAMPLES / name).glob("*.cu")):
            for kernel, workload in projects.of_file(file).kernels:
                with Workshop(chosen, record=record) as shop:
                    seeds, memory = explore(shop, kernel, workload, given)
                print(
                    f"{name}: {seeds} of {given.seeds} seeds finished; "
                    f"{len(memory.known)} measured of {memory.asked} asked",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
