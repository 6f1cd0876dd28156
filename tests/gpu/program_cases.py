"""The programs judged on a real GPU, what each variant is, and a table of what came out.

`python -m tests.gpu.program_cases` prints the table; tests/gpu/test_program.py asserts it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runners import program
from runners.fault import Fault
from runners.program_run import libraries

PROGRAMS = Path(__file__).parents[1] / "data" / "programs"


@dataclass(frozen=True)
class Case:
    """A program, its variants and the status each must get; None: the original is at fault."""

    name: str
    statuses: dict[int, str | None] = field(
        default_factory=lambda: {0: "correct", 1: "correct", 2: "wrong result"}
    )
    runs: tuple[tuple[str, ...], ...] = ((),)


CASES = (
    Case("vecops", {0: "correct", 1: "correct", 2: "wrong result", 3: "wrong result"}),
    Case("reduce"),
    Case("prints", runs=((), ("512",))),
    Case("matmul"),
    Case("stencil"),
    Case("histogram"),
    Case("managed"),
    Case("streams"),
    Case("boast"),
    Case("unwritten", {0: "correct", 1: "correct", 2: "wrong result"}),
    Case("tiny", runs=((), ("37",))),
    Case("graph"),
    Case("crash", {0: None}),
    Case("library", {0: "correct", 2: "wrong result"}),
    Case("threads", {0: "correct", 2: "wrong result"}),
    Case("together", {0: "correct"}),
    Case("texture", {0: "correct", 2: "wrong result"}),
    Case("heap", {0: "correct", 2: "wrong result"}),
    Case("mapped", {0: "correct", 2: "wrong result"}),
)


def build(folder: Path, name: str, variant: int, arch: str = "native") -> Path:
    """Compile one variant as the toolchain would."""
    out = folder / f"{name}-{variant}"
    command = ["nvcc", "-O3", "-std=c++17", "-cudart=shared", f"-arch={arch}", "-w"]
    command += [f"-DVARIANT={variant}", str(PROGRAMS / f"{name}.cu"), "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return out


def request(
    baseline: Path, candidate: Path, runs: tuple[tuple[str, ...], ...], effort: str = "screen"
) -> dict[str, Any]:
    """Return the worker's request for a candidate."""
    workload = {
        "root": str(baseline.parent),
        "tolerance": {"rtol": 1e-5, "atol": 1e-6},
        "program": {"runs": [list(r) for r in runs], "exit": 0, "stdout": None},
    }
    return {
        "job": {"effort": effort, "seed": 0, "device": "cuda:0", "workload": workload},
        "candidate": {"path": str(candidate)},
        "baseline": {"path": str(baseline)},
        "limits": {"seconds": 60.0},
    }


def ratios(verdict: dict[str, Any]) -> list[tuple[float, float, int]]:
    """Return median speedup, its spread in per cent and the samples, for each case."""
    found = []
    for case in verdict["measurement"]["cases"]:
        both = zip(case["baseline_us"], case["candidate_us"], strict=True)
        each = [a / b for a, b in both]
        spread = statistics.stdev(each) / statistics.mean(each) if len(each) > 1 else 0.0
        found.append((statistics.median(each), 100 * spread, len(each)))
    return found


def table(folder: Path, *names: str) -> bool:
    """Judge the variants of some programs or of all, print a line for each, tell if all is well."""
    cases = [case for case in CASES if not names or case.name in names]
    work = [(case.name, variant) for case in cases for variant in case.statuses]
    begun = time.monotonic()
    with ThreadPoolExecutor(12) as pool:
        built = dict(zip(work, pool.map(lambda w: build(folder, *w), work), strict=True))
    print(f"built {len(built)} in {time.monotonic() - begun:.1f} s", flush=True)  # noqa: T201
    context: dict[str, Any] = {"scratch": folder, "profiles": {}, "libraries": libraries()}
    fine = True
    for case in cases:
        for variant, wanted in case.statuses.items():
            begun = time.monotonic()
            asked = request(built[case.name, 0], built[case.name, variant], case.runs)
            try:
                verdict = program.evaluate(asked, context)
            except Fault as fault:
                status, text = None, f"{fault.kind}: {fault.message} -> {fault.remedy}"
                cost = ""
            else:
                status, text = verdict["status"], verdict["log"]
                cost = " ".join(f"{k[:7]} {v:.2f}" for k, v in verdict["seconds"].items())
                if verdict["measurement"]:
                    text = (
                        " ".join(f"x{m:.3f}±{s:.2f}%/{n}" for m, s, n in ratios(verdict))
                        + " "
                        + text
                    )
                    timed = verdict["measurement"]["cases"]
                    text += f" [{statistics.median(timed[0]['candidate_us']):.1f} us] "
                    text += " | ".join(verdict["measurement"]["notes"][-1:])
            took = time.monotonic() - begun
            mark = "ok " if status == wanted else "BAD"
            fine = fine and status == wanted
            print(f"{mark} {case.name}-{variant} {status} {took:.2f}s ({cost}) {text}", flush=True)  # noqa: T201
    return fine


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.exit(not table(Path(place), *(sys.argv[1:])))
