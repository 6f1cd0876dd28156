"""What NVIDIA's compute-sanitizer says of a finalist: memory, initialization, barriers, races.

Its four tools watch the candidate on small cases in processes of their own, side by side. What
they find decides only where it is a fault in any program: an access outside an allocation, a
barrier that not all threads reach. A race or a read of unwritten memory may be harmless, and is
held against a candidate only when the original has nothing of the kind, and a race not where warps
hand data over by named barriers at which some only arrive: racecheck does not follow those. A tool
that is missing, or that does not end in time, says nothing.

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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from runners.answers import module_command
from runners.contents import Combination
from runners.fault import Fault
from runners.removal import TemporaryFolder
from runners.sandbox import Limits, Sandbox, interpreter_paths
from runners.spec import JobSpec, Json

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
MOST_PRINTED = 16 << 20
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
# A barrier at which some threads arrive and only others wait: one part of a block makes what the
# other part uses. Racecheck reported a race between what such a barrier keeps apart.
_ARRIVES = re.compile(r"\bbar(?:rier)?(?:\.cta)?\.arrive\b")
_COMMENT = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
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


def prefix(program: str, tool: str) -> list[str]:
    """Return what is put in front of a command line so that a tool watches it."""
    return [program, "--tool", tool, "--print-limit", "10", *_OPTIONS.get(tool, ())]


def blames(tool: str, mine: int | None, theirs: int | None) -> bool:
    """Tell whether errors in a candidate are its own, from those in the original.

    Where nothing is known of the original, only what is a fault in any program counts.

    >>> blames("racecheck", 3, 3), blames("racecheck", 3, 0), blames("memcheck", 3, None)
    (False, True, True)
    """
    anywhere = tool in {"memcheck", "synccheck"}
    return bool(mine) and (theirs == 0 or (theirs is None and anywhere))


def follows(tool: str, source: str) -> bool:
    """Tell whether a tool understands what a source waits by.

    >>> follows("racecheck", 'asm("bar.arrive 1, 256;");'), follows("racecheck", "__syncthreads();")
    (False, True)
    >>> follows("racecheck", "// bar.arrive")
    True
    """
    if tool != "racecheck":
        return True
    strings = (word for word in _COMMENT.findall(source) if word.startswith('"'))
    return not any(_ARRIVES.search(word) for word in strings)


class Sanitizer:
    """Watches candidates, and originals where a candidate is at fault. Starts nothing by itself."""

    def __init__(self, scratch: Path, gpu: int, sandbox: Sandbox | None = None) -> None:
        self._scratch, self._gpu = scratch / "sanitizer", gpu
        self._sandbox = sandbox or Sandbox("own")
        self._theirs: dict[tuple[str, str], Finding] = {}

    def against(
        self, request: Json, job: JobSpec, combinations: Sequence[Combination], seconds: float
    ) -> list[tuple[Finding, bool]]:
        """Return what the tools say of a request's candidate, and whether it is to be blamed."""
        found = self.examine(request, job, request["candidate"], combinations, seconds)
        return [
            (
                one,
                bool(one.errors)
                and follows(one.tool, job.kernel.source)
                and self._blames(one, request, job, combinations, seconds),
            )
            for one in found
        ]

    def _blames(
        self,
        found: Finding,
        request: Json,
        job: JobSpec,
        combinations: Sequence[Combination],
        seconds: float,
    ) -> bool:
        key = (job.key, found.tool)
        if key not in self._theirs:
            baseline = request["baseline"]
            same = self.examine(
                request, job, baseline, combinations, seconds, (found.tool,), original=True
            )
            self._theirs[key] = same[0]
        return blames(found.tool, found.errors, self._theirs[key].errors)

    def examine(
        self,
        request: Json,
        job: JobSpec,
        artifact: Json,
        combinations: Sequence[Combination],
        seconds: float,
        tools: Sequence[str] = (),
        *,
        original: bool = False,
    ) -> list[Finding]:
        """Watch an artifact with several tools at once, each for at most `seconds`."""
        program = command()
        if program is None or not combinations:
            return []
        self._scratch.mkdir(parents=True, exist_ok=True)
        with TemporaryFolder(dir=self._scratch) as name:
            folder = Path(name)
            asked = folder / "request.json"
            described = dict(request["job"])
            if original:
                described["kernel"] = described["baseline"]
            asked.write_text(
                json.dumps(
                    {
                        "job": described,
                        "candidate": artifact,
                        "gpu": self._gpu,
                        "combinations": [
                            {"case": dict(c.case), "family": c.family, "seed": c.seed}
                            for c in combinations
                        ],
                    }
                )
            )

            def one(tool: str) -> Finding:
                line = prefix(program, tool) + module_command("runners.sanitized", str(asked))
                begun = time.monotonic()
                if job.work.kind == "kernel":
                    text = plain(line, folder / f"{tool}.txt", seconds)
                else:
                    tools_own = Path(program).resolve().parent.parent
                    places = [tools_own, job.work.root, Path(str(artifact["path"])).parent]
                    text = inside(self._sandbox, line, folder, places, seconds)
                return read(tool, text, time.monotonic() - begun)

            with ThreadPoolExecutor(len(TOOLS)) as pool:
                return list(pool.map(one, tools or TOOLS))


def inside(
    sandbox: Sandbox, line: Sequence[str], folder: Path, readable: Sequence[Path], seconds: float
) -> str:
    """Run host code that is a stranger's where it can do no harm; return what it printed."""
    try:
        done = sandbox.run(
            line,
            cwd=folder,
            readable=[*interpreter_paths(), *readable],
            writable=[folder],
            limits=Limits(seconds=seconds),
            gpu=True,
            profile="tool",
        )
    except Fault as fault:
        return fault.message
    return (done.stdout + done.stderr).decode(errors="replace")


def plain(line: Sequence[str], log: Path, seconds: float) -> str:
    """Run what holds no host code of anybody's; return what it printed."""
    with log.open("x+b") as out:
        process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        # The end, where the tools sum up; device code may print without end before that.
        size = os.fstat(out.fileno()).st_size
        return os.pread(out.fileno(), MOST_PRINTED, max(0, size - MOST_PRINTED)).decode(
            errors="replace"
        )


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
