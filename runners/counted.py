"""A gain of more than tenfold has to show in a counter, too.

Events say when the stream was done; the hardware's own counters say what the multiprocessors did.
Original and candidate are launched once each under Nsight Compute, in processes of their own, and
the cycles of their kernels have to have fallen with the time. The worker asks by itself for
kernels; where its sandbox keeps the counters from it, and for functions and programs, the
dispatcher asks (`runners.counted_outside`). Where counters are not to be had, nothing is said.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from runners.answers import module_command
from runners.contents import Combination
from runners.spec import Json

CYCLES = "gpc__cycles_elapsed.max"
CHECKED = "cycles fell with the time"  # how the check is named, behind its case
OURS = "optiml_"  # kernels that fill and sweep memory
LARGE_GAIN = 10.0
# Cold caches, other clocks and a profiler's own launch are worth a factor; a lie is worth more.
ALIKE = 3.0
_PLACES = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute")


def command() -> str | None:
    """Return where Nsight Compute is; None when it is not installed."""
    return shutil.which("ncu") or shutil.which("ncu", path=os.pathsep.join(_PLACES))


def most_gain(before: float | None, after: float | None) -> float | None:
    """Return the largest gain that is believed of such cycles; None where they were not counted.

    >>> most_gain(5e6, 6e4), most_gain(5e6, 4e6), most_gain(None, 1.0)
    (250.0, 3.75, None)
    """
    return ALIKE * before / after if before and after else None


def cycles(
    request: Json, which: str, combination: Combination, gpu: int, scratch: Path, seconds: float
) -> float | None:
    """Return the cycles of one run of `candidate` or `baseline`; None when they are not counted."""
    program = command()
    if program is None:
        return None
    described = dict(request["job"])
    if which == "baseline":
        described["kernel"] = described["baseline"]
    item = {"case": dict(combination.case), "family": combination.family}
    asked = {
        "job": described,
        "candidate": request[which],
        "gpu": gpu,
        "combinations": [{**item, "seed": combination.seed}],
    }
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        path = Path(name) / "request.json"
        path.write_text(json.dumps(asked))
        line = [program, "--clock-control", "none", "--metrics", CYCLES, "--csv", "--page", "raw"]
        line += ["--print-units", "base", *module_command("runners.sanitized", str(path))]
        try:
            done = subprocess.run(
                line,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=seconds,
            )
        except (subprocess.TimeoutExpired, OSError):
            return None
    return total(done.stdout)


def total(text: str) -> float | None:
    r"""Add the cycles of all kernels in a raw page; None when there are none.

    >>> total('"ID","Kernel Name","gpc__cycles_elapsed.max"\n"","","cycle"\n"0","f","1,200"\n')
    1200.0
    """
    start = text.find('"ID"')
    if start < 0:
        return None
    found = []
    for row in csv.DictReader(io.StringIO(text[start:])):
        if (row.get("Kernel Name") or "").startswith(OURS):
            continue
        try:
            found.append(float((row.get(CYCLES) or "").replace(",", "")))
        except ValueError:
            continue  # the row of units
    return sum(found) or None
