"""What NVIDIA's compute-sanitizer says of a finalist: memory, initialization, barriers, races.

Its four tools watch the candidate on small cases in processes of their own, side by side. What
they find decides only where it is a fault in any program: an access outside an allocation, a
barrier that not all threads reach. A race or a read of unwritten memory may be harmless, and is
held against a candidate only when the original has nothing of the kind. A tool that is missing,
or that does not end in time, says nothing.

Messages: Compute Sanitizer User Manual 2025.3, "Memcheck", "Racecheck", "Initcheck", "Synccheck".
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runners.answers import module_command
from runners.contents import Combination
from runners.spec import Json

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
_OPTIONS = {
    "memcheck": ("--report-api-errors", "no"),
    "initcheck": ("--report-api-errors", "no"),
}
_SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: .*?\((\d+) error")
_FOUND = re.compile(
    r"^========= (?:Error: |Warning: )?((?:Invalid|Uninitialized|Race reported|Potential|Barrier|"
    r"Divergent|Address|Malloc|Out-of-range|Stack|Access|Unused).*)$",
    re.MULTILINE,
)
_PLACES = ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer", "/opt/cuda/bin")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one tool said: errors found, the first in its words; `errors` None if nothing."""

    tool: str
    errors: int | None
    words: str
    seconds: float


def command() -> str | None:
    """Return where compute-sanitizer is; None when it is not installed."""
    folders = os.pathsep.join(_PLACES)
    return shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=folders)


def examine(
    request: Json,
    combinations: Sequence[Combination],
    gpu: int,
    folder: Path,
    seconds: float,
    tools: Sequence[str] = TOOLS,
) -> list[Finding]:
    """Watch a request's candidate with several tools at once; at most `seconds` for all."""
    program = command()
    if program is None or not combinations:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    asked = folder / "request.json"
    asked.write_text(
        json.dumps(
            {
                "job": request["job"],
                "candidate": request["candidate"],
                "gpu": gpu,
                "combinations": [
                    {"case": dict(c.case), "family": c.family, "seed": c.seed} for c in combinations
                ],
            }
        )
    )
    begun = time.monotonic()
    started = []
    for tool in tools:
        log = (folder / f"{tool}.txt").open("wb")
        with log:
            process = subprocess.Popen(
                [
                    program,
                    "--tool",
                    tool,
                    "--print-limit",
                    "10",
                    *_OPTIONS.get(tool, ()),
                    *module_command("runners.sanitized", str(asked)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        started.append((tool, process))
    return [
        _ended(tool, process, folder / f"{tool}.txt", begun, seconds) for tool, process in started
    ]


def _ended(
    tool: str, process: subprocess.Popen[bytes], log: Path, begun: float, seconds: float
) -> Finding:
    try:
        process.wait(max(0.1, begun + seconds - time.monotonic()))
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return read(tool, log.read_text(errors="replace"), time.monotonic() - begun)


def read(tool: str, text: str, seconds: float = 0.0) -> Finding:
    """Read a tool's report.

    >>> read("memcheck", "========= ERROR SUMMARY: 0 errors").errors
    0
    """
    summary = _SUMMARY.search(text)
    if summary is None:
        return Finding(tool, None, " ".join(text.split())[-300:], seconds)
    errors = int(summary[1] or summary[2] or 0)
    first = _FOUND.search(text)
    return Finding(tool, errors, first[1].strip()[:300] if first and errors else "", seconds)
