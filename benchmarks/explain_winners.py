"""Read the counters of winners whose search had no time left for it, and add them to recordings.

    python benchmarks/explain_winners.py --out roofs --device cuda:0 heat nbody
    python benchmarks/run_examples.py --out results --join FIRST SECOND roofs

An example's recording leads to its winner without a GPU; only its counters are read here. Without
names all examples whose winner lacks them are taken. In the output folder: `roofs.json` with the
share of the roof before and after, `recordings.tar` with the recordings that grew.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tarfile
import tempfile
import time
from pathlib import Path

# Benchmarks lie side by side and are no package.
sys.path.insert(0, str(Path(__file__).resolve().parent))
from energy import given, recorded
from run_examples import EXAMPLES, ROOT, share

from bot.wiring import Workshop
from optimizer.expansion import merged
from optimizer.model import Effort, Trajectory, Verdict
from runners.workload import read_project


def profiled(name: str, found: Trajectory, device: str) -> tuple[Verdict, list[str]]:
    """Return what the profiler says of a winner, and the lines that a recording gets for it."""
    kernel, workload = read_project(EXAMPLES / name / ".optiml.yml").kernels()[0]
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "recording.jsonl"
        with Workshop(given(device), record=file) as shop:
            evaluator = shop.tools(kernel, workload).evaluator
            (seen,) = evaluator.evaluate([found.best.kernel], workload, Effort.PROFILE)
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return seen, lines[1:]  # the first is the header, which the recording has


def main() -> int:
    names = sorted(path.parent.name for path in EXAMPLES.glob("*/recording.jsonl.gz"))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "examples", nargs="*", metavar="EXAMPLE", help="default: all that lack them"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=600.0, help="begin no other after them")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    roofs: dict[str, dict[str, float | None]] = {}
    begun = time.monotonic()
    with tarfile.open(options.out / "recordings.tar", "w") as kept:
        for name in options.examples or names:
            if time.monotonic() - begun > options.seconds:
                print(f"{name}: no time")
                continue
            found = recorded(name)
            verdict = found.best.verdict
            if found.winner is None or verdict.counters:
                continue
            seen, lines = profiled(name, found, options.device)
            if not seen.counters:
                print(f"{name}: no counters: {seen.log}")
                continue
            recording = EXAMPLES / name / "recording.jsonl.gz"
            with gzip.open(recording, "at", encoding="utf-8") as file:
                file.writelines(lines)
            kept.add(recording, recording.relative_to(ROOT))
            roofs[name] = {
                "roof_before": share(found.baseline.verdict, found),
                "roof_after": share(merged(verdict, seen), found),
            }
            print(f"{time.monotonic() - begun:5.0f} s {name}: {roofs[name]}", flush=True)
            (options.out / "roofs.json").write_text(json.dumps(roofs, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
