"""Search examples with MCTS, greedy and random on a GPU, each question measured once.

    python benchmarks/explore.py softmax spmv --out explored --device cuda:0 --seconds 180
    python benchmarks/strategies.py --explored explored

Every strategy searches an example from the same seeds, with the same proposals and budget of
evaluations. Many searches run side by side; what any of them asked before is answered from memory,
so that one candidate has one measurement whichever strategy meets it, and no machine time decides
anything. Seeds are taken one by one; when the time is over, a seed that not all strategies have
finished counts for none. Races and confirmations are left out: they come after the search and are
the same for all.

`OUT/EXAMPLE/searches.json` holds the log speedup of the best candidate after each evaluation of
every search; `OUT/EXAMPLE/explored.jsonl.gz` answers all that was asked, so that the searches can
be repeated without a GPU.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from bot import projects, settings
from bot.wiring import Workshop
from optimizer.budget import Budget, SearchSettings, Strategy
from optimizer.errors import RunnerError
from optimizer.model import Effort, Kernel, Status, Trajectory, Verdict, Workload
from optimizer.search import search
from optimizer.significance import speedup
from optimizer.tools import Tools
from runners import dispatch
from runners.evaluator import DispatchedEvaluator
from runners.interfaces import Dispatcher, Job
from runners.replay import key_of

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
# The search alone, with the counters of the original: ncu takes as long as ten evaluations, and
# each strategy would profile other candidates.
SEARCH_ONLY = SearchSettings(finalists=0, confirmations=0, shorten=False, profiles=1)
VARIANTS: dict[str, dict[str, object]] = {
    **{strategy.value: {"strategy": strategy} for strategy in Strategy},
    # Leaves the best candidate after five tries without progress instead of 28.
    "mcts chase 5": {"chase": 5},
}


class Remembering:
    """Asks a dispatcher each question once, for any number of searches at a time.

    Once `end` (of `time.monotonic`) is past, whoever asks something new gets a `RunnerError`.
    """

    def __init__(self, inner: Dispatcher, end: float = math.inf) -> None:
        self._inner, self._end = inner, end
        self._lock = threading.Lock()
        self._known: dict[str, Future[Verdict]] = {}
        self.asked = 0

    @property
    def measured(self) -> int:
        """Return how many questions were passed on."""
        return len(self._known)

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return one verdict per job, in order."""
        keys = [key_of(job) for job in jobs]
        fresh: dict[str, Job] = {}
        with self._lock:
            self.asked += len(keys)
            for key, job in zip(keys, jobs, strict=True):
                if key not in self._known:
                    if time.monotonic() > self._end:
                        raise RunnerError("the time for this example is over", "give it more")
                    self._known[key] = Future()
                    fresh[key] = job
            futures = [self._known[key] for key in keys]
        for one in self._by_effort(fresh):
            self._fetch(one)
        return [future.result() for future in futures]

    @staticmethod
    def _by_effort(fresh: dict[str, Job]) -> Iterator[dict[str, Job]]:
        for effort in Effort:
            some = {key: job for key, job in fresh.items() if job.effort is effort}
            if some:
                yield some

    def _fetch(self, fresh: dict[str, Job]) -> None:
        waiting = dict.fromkeys(fresh)
        try:
            found = self._inner.dispatch(list(fresh.values()))
            for place, key in enumerate(fresh):
                self._known[key].set_result(found[place])
                del waiting[key]
        except BaseException as error:
            for key in waiting:
                self._known[key].set_exception(error)
            raise


def curve(found: Trajectory, evaluations: int) -> list[float]:
    """Return the log speedup of the best correct candidate after 1, 2 ... evaluations."""
    best = 0.0
    reached: list[float] = []
    for step in found.steps:
        if step.verdict.status is Status.CORRECT:
            best = max(best, math.log(speedup(step.verdict.measurement) or 1.0))
        if step.verdict.status not in (Status.REJECTED, Status.NOT_RECORDED):
            reached.append(round(best, 5))
    # A search that ran out of edits keeps what it has.
    return (reached + [best] * evaluations)[:evaluations]


def explore(
    shop: Workshop, kernel: Kernel, workload: Workload, given: argparse.Namespace
) -> tuple[dict[str, dict[int, list[float]]], Remembering]:
    """Search with every strategy from every seed; return their curves, by strategy and seed."""
    memory = Remembering(shop.dispatcher, time.monotonic() + given.seconds)
    curves: dict[str, dict[int, list[float]]] = {name: {} for name in given.strategies}

    def one(seed: int, name: str) -> None:
        tools: Tools = replace(
            shop.tools(kernel, workload),
            evaluator=DispatchedEvaluator(memory, kernel, given.device, 0),
            width=1,
        )
        chosen = replace(SEARCH_ONLY, seed=seed, **VARIANTS[name])  # type: ignore[arg-type]
        try:
            found = search(kernel, workload, tools, Budget(given.evaluations), settings=chosen)
        except RunnerError:
            return
        if found.stopped != "runner failed":
            curves[name][seed] = curve(found, given.evaluations)

    with ThreadPoolExecutor(given.together) as pool:
        # Strategies in turn at every seed: when the time is over, as many seeds of each are done.
        waiting = [
            pool.submit(one, seed, name) for seed in range(given.seeds) for name in given.strategies
        ]
        for future in waiting:
            future.result()
    return curves, memory


def written(
    path: Path,
    given: argparse.Namespace,
    curves: dict[str, dict[int, list[float]]],
    memory: Remembering,
) -> int:
    """Write the seeds that all strategies finished; return how many these are."""
    done = sorted(set.intersection(*(set(found) for found in curves.values())))
    facts = {
        "evaluations": given.evaluations,
        "seeds": done,
        "measured": memory.measured,
        "asked": memory.asked,
        "log_speedup": {name: [found[seed] for seed in done] for name, found in curves.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(facts) + "\n", encoding="utf-8")
    return len(done)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("examples", nargs="+", metavar="EXAMPLE")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--device", default="cuda:0")
    options.add_argument("--seeds", type=int, default=20)
    options.add_argument("--evaluations", type=int, default=40)
    options.add_argument("--seconds", type=float, default=180.0, help="for each example")
    options.add_argument("--together", type=int, default=9, help="searches side by side")
    options.add_argument("--strategies", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    options.add_argument("--replay", type=Path, help="a recording to answer from, not a GPU")
    options.add_argument("--compilers", type=int, default=12, help="compilers side by side")
    given = options.parse_args()
    dispatch.COMPILERS = given.compilers  # as many searches ask for more than one does
    chosen = settings.load({"policy": "rules", "memory": "off", "device": given.device})
    for name in given.examples:
        record = given.out / name / "explored.jsonl.gz"
        began = time.monotonic()
        for file in sorted((EXAMPLES / name).glob("*.cu")):
            for kernel, workload in projects.of_file(file).kernels:
                shop = Workshop(chosen, replay=given.replay, record=record)
                with shop:
                    curves, memory = explore(shop, kernel, workload, given)
                done = written(given.out / name / "searches.json", given, curves, memory)
                print(
                    f"{name}: {done} of {given.seeds} seeds finished by all strategies; "
                    f"{memory.measured} measured of {memory.asked} asked "
                    f"in {time.monotonic() - began:.0f} s",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
