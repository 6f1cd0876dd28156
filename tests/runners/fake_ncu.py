"""Stands in for ncu: runs its target, then writes a 'report' or says what a real one would.

`python fake_ncu.py MODE ...ncu arguments`. Modes: csv, denied, silent, slow, missing-metric,
busy:FILE (refused twice, counted in FILE, then as csv), held (refused always).
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

RAW = Path(__file__).parents[1] / "data" / "ncu" / "raw.csv"
DENIED = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0."
)


def main(mode: str, arguments: list[str]) -> int:
    if "--import" in arguments:
        sys.stdout.write(RAW.read_text())
        return 0
    report = Path(arguments[arguments.index("--export") + 1] + ".ncu-rep")
    target = arguments[arguments.index("--cache-control") + 2 :]
    while target and target[0].startswith("--"):
        target = target[2:]
    if mode == "denied":
        sys.stdout.write(DENIED)
        return 1
    if mode.startswith("busy:"):
        with Path(mode.removeprefix("busy:")).open("a+") as tries:
            tries.write("x")
            tries.seek(0)
            busy = len(tries.read()) <= 2
        mode = "held" if busy else "csv"
    if mode == "held":
        sys.stdout.write("==ERROR== Another profiler is already using the counters.")
        return 1
    if mode == "slow":
        time.sleep(60)
    code = subprocess.run(target, check=False).returncode
    if code:
        sys.stdout.write(f"==ERROR== The application returned an error code ({code}).")
        return code
    if mode == "silent":
        sys.stdout.write("==WARNING== No kernels were profiled.")
        return 0
    report.write_text("\n".join(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
