"""What a search costs beside the compiler and the GPU: rules, detectors, boundary, tree.

    python benchmarks/overhead.py --evaluations 500 --out benchmarks/results/overhead.json
    python benchmarks/overhead.py heat --evaluations 2000 --out benchmarks/results/overhead.json

Every example is searched with the real rules, detectors, edit boundary and tuning, over an
evaluator that answers at once with made-up times (no figure of speed comes from here). Reported
are milliseconds of the searching thread's processor time an evaluation, over the whole search and
over its fifths, the most memory that the process had by then, and how many processes wanted a
core meanwhile: what shares the caches of the cores makes the same work take longer. Beside them
stands, by fifths, what does not depend on the machine: how many candidates an evaluation edits for
the first time, how many files it looks at (a candidate that is edited long after it was tried is
looked at anew), and the characters of a candidate.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from unittest import mock

from bot import projects
from optimizer import plugins
from optimizer import source as sources
from optimizer.boundary import violations
from optimizer.budget import Budget, SearchSettings
from optimizer.diagnosis import Diagnosis
from optimizer.model import (
    CaseTimes,
    Effort,
    Finding,
    Kernel,
    Measurement,
    Proposal,
    Resources,
    Status,
    Step,
    Verdict,
    Workload,
)
from optimizer.policies.rules import RulePolicy
from optimizer.search import search
from optimizer.syntax import Syntax
from optimizer.tools import Tools
from optimizer.tuning import tune

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SLOWEST, FASTEST = 0.8, 1.6  # made-up speedups lie between


class Counted(RulePolicy):
    """The rules, counting the candidates they are asked about for the first time."""

    asked: set[str]

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Return what the rules propose."""
        self.asked.add(step.kernel.digest)
        return super().propose(step, findings, limit)


class Looks:
    """Counts the files that are looked at: each is a new `Syntax`."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, text: str) -> Syntax:
        """Return the syntax of a text."""
        self.count += 1
        return Syntax(text)


class AtOnce:
    """Answers without a GPU: a speedup drawn from the source's digest, in no time."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        """Return one verdict per kernel, the same for any workload and effort."""
        del workload, effort
        began = time.thread_time()
        found = [self._verdict(kernel) for kernel in kernels]
        self.seconds += time.thread_time() - began
        return found

    @staticmethod
    def _verdict(kernel: Kernel) -> Verdict:
        code = hashlib.blake2b(kernel.digest.encode(), digest_size=8)
        share = int.from_bytes(code.digest()) / 2**64
        ratio = SLOWEST + (FASTEST - SLOWEST) * share**3
        times = CaseTimes("made up", (100.0 / ratio,) * 8, (100.0,) * 8)
        return Verdict(
            Status.CORRECT,
            Measurement((times,), "none"),
            resources={kernel.name: Resources(32)},
            machine_code=code.hexdigest(),
        )


def measured(kernel: Kernel, workload: Workload, evaluations: int) -> dict[str, object]:
    """Search once and return milliseconds an evaluation, with the size of the tree."""
    marks: list[tuple[float, int, int, int]] = []
    evaluator, looks = AtOnce(), Looks()
    policy = Counted(plugins.rules(), workload.accept)
    policy.asked = set()
    length = 0

    def on_step(step: Step) -> None:
        nonlocal length
        length += len(step.kernel.source)
        spent = time.thread_time() - evaluator.seconds
        marks.append((spent, len(policy.asked), looks.count, length))

    tools = Tools(
        policy,
        evaluator,
        detectors=(Diagnosis({}),),
        tune=tune,
        boundary=violations,
    )
    settings = SearchSettings(finalists=0, confirmations=0, shorten=False, profile=False)
    with mock.patch.object(sources, "Syntax", looks):
        search(kernel, workload, tools, Budget(evaluations), on_step, settings=settings)
    count = len(marks) - 1
    ends = [count * part // 5 for part in range(6)]

    def fifths(what: int, scale: float = 1.0) -> list[float]:
        return [
            round(scale * (marks[b][what] - marks[a][what]) / max(1, b - a), 2)
            for a, b in pairwise(ends)
        ]

    return {
        "lines": len(kernel.source.splitlines()),
        "steps": count,
        "ms": round(1e3 * (marks[-1][0] - marks[0][0]) / max(1, count), 2),
        "ms_fifths": fifths(0, 1e3),
        "edited_fifths": fifths(1),
        "looks_fifths": fifths(2),
        "characters_fifths": fifths(3),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("examples", nargs="*", metavar="EXAMPLE")
    options.add_argument("--evaluations", type=int, default=2000)
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    rows: dict[str, dict[str, object]] = {}
    for folder in sorted(path for path in EXAMPLES.iterdir() if path.is_dir()):
        if given.examples and folder.name not in given.examples:
            continue
        for file in sorted(folder.glob("*.cu")):
            for kernel, workload in projects.of_file(file).kernels:
                row = rows[folder.name] = measured(kernel, workload, given.evaluations)
                print(f"{folder.name:16} {row}", flush=True)
    middle = statistics.median(float(str(row["ms"])) for row in rows.values())
    print(f"median {middle:.1f} ms an evaluation")
    if given.out:
        known = json.loads(given.out.read_text()) if given.out.exists() else {}
        known["host"] = (
            f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        )
        known["clock"] = "processor time of the searching thread"
        known.setdefault("evaluations", {}).setdefault(str(given.evaluations), {}).update(rows)
        given.out.write_text(json.dumps(known, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
