"""What NVIDIA's compute-sanitizer says of a finalist: memory, initialization, barriers, races.

Its four tools watch the candidate on small cases in processes of their own, side by side. What
they find decides only where it is a fault in any program: an access outside an allocation, a
barrier that not all threads reach. A race or a read of unwritten memory may be harmless, and is
held against a candidate only when the original has nothing of the kind, and a race not where warps
hand data over by named barriers at which some only arrive: racecheck does not follow those. A tool
that is missing, that cannot run here, or that does not end in time, says nothing: a finding tells
which, and `runners.second_look` asks again what a busy machine may have kept from ending.

What the host copies is not asked about by initcheck: unwritten memory may be copied, as paddings
are, and what comes of it is among the results.

Messages: Compute Sanitizer User Manual 2025.3, "Memcheck", "Racecheck", "Initcheck", "Synccheck".
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from runners.answers import module_command
from runners.contents import Combination
from runners.fault import Fault
from runners.removal import TemporaryFolder
from runners.sandbox import Limits, Sandbox, interpreter_paths
from runners.spec import JobSpec, Json

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
MOST_PRINTED = 16 << 20
# The tool under which a process ends at its first fault, so that what it came to tells where; and
# at how many places an original may be at fault for its candidates to be looked at elsewhere.
ENDS_AT_FIRST, MOST_APART = "memcheck", 4
# How many errors are printed: behind the host's copies there may be what counts.
MOST_SHOWN = {"initcheck": 200}
_OPTIONS = {
    "memcheck": ("--report-api-errors", "no"),
    "initcheck": ("--report-api-errors", "no"),
}
# Why a tool said nothing: it cannot run here; its time was over; it ended before it had seen all.
UNABLE, LATE, ENDED = "cannot run here", "did not end in time", "ended before it had seen all"
_SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: .*?\((\d+) error")
# A load from shared memory that goes too far: no fault of the hardware's, if not in the program.
_SHARED_READ = re.compile(r"Invalid __shared__ read of size \d+")
_NOT_PAST_THE_END = re.compile(
    r"^=========.* is (?:misaligned|not located in executing)", re.MULTILINE
)
_MARK = "ran "
_BANNER = "========= COMPUTE-SANITIZER"
_UNABLE = re.compile(
    r"^========= Error: (.*(?:not supported|ptrace|not permitted|permission|unable to find|"
    r"injection|failed to (?:initialize|load|find)|insufficient driver|driver version|"
    r"incompatible).*)$",
    re.MULTILINE | re.IGNORECASE,
)
# It did not watch what ran; a busy machine may be why.
_UNWATCHED = re.compile(
    r"^=========.*(?:No attachable process|before first instrumented API call|"
    r"Internal Sanitizer Error)",
    re.MULTILINE,
)
# What is a fault where it stands, though the tool did not come to its summary.
_FAULT = re.compile(
    r"^========= (?:Error: )?(?:Invalid __|Uninitialized __|Race reported|Barrier error|Divergent)",
    re.MULTILINE,
)
_FOUND = re.compile(
    r"^========= (?:Error: |Warning: )?((?:Invalid|Uninitialized|Race reported|Potential|Barrier|"
    r"Divergent|Address|Malloc|Out-of-range|Stack|Access|Unused).*)$",
    re.MULTILINE,
)
# What the host copies from memory that nobody wrote: no fault, and no more than that.
_COPIED = re.compile(r"^========= Host API .*\baccess\b", re.MULTILINE)
# A barrier at which some threads arrive and only others wait: one part of a block makes what the
# other part uses. Racecheck reported a race between what such a barrier keeps apart.
_ARRIVES = re.compile(r"\bbar(?:rier)?(?:\.cta)?\.arrive\b")
_COMMENT = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
PLACES = ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer", "/opt/cuda/bin")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one tool said: errors found, the first in its words; `errors` None if nothing.

    `why` tells then why it said nothing, and `ran` how many combinations had ended before. Of the
    errors `printed` were described, `shared_reads` of them as reads past the end of shared memory.
    """

    tool: str
    errors: int | None
    words: str
    seconds: float
    why: str = ""
    ran: int = 0
    printed: int = 0
    shared_reads: int = 0


class Printed(NamedTuple):
    """What a process printed, and whether its time was over before it ended."""

    text: str
    late: bool


def command() -> str | None:
    """Return where compute-sanitizer is; None when it is not installed."""
    folders = os.pathsep.join(PLACES)
    return shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=folders)


def prefix(program: str, tool: str, patience: float = 0.0) -> list[str]:
    """Return what is put in front of a command line so that a tool watches it.

    With `patience` it waits so many seconds for the first call into the driver, instead of ten or
    so, which pass on a busy machine.
    """
    waits = ["--launch-timeout", str(int(patience))] if patience else []
    most = MOST_SHOWN.get(tool, 10)
    return [program, "--tool", tool, "--print-limit", f"{most}", *_OPTIONS.get(tool, ()), *waits]


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
        self._theirs: dict[tuple[str, ...], Finding] = {}

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
        return self.compared(found, request, job, combinations, seconds)[0]

    def compared(
        self,
        found: Finding,
        request: Json,
        job: JobSpec,
        combinations: Sequence[Combination],
        seconds: float,
    ) -> tuple[bool, Finding]:
        """Tell whether errors are to be blamed, and what the tool says of the original.

        What it said once is kept; where it said nothing, it is asked the next time, too.
        """
        key = (job.key, found.tool, *(one.key for one in combinations))
        theirs = self._theirs.get(key)
        if theirs is None:
            baseline = request["baseline"]
            (theirs,) = self.examine(
                request, job, baseline, combinations, seconds, (found.tool,), original=True
            )
            if theirs.errors is not None:
                self._theirs[key] = theirs
        if found.errors and theirs.errors and found.tool == ENDS_AT_FIRST:
            apart = self._elsewhere(theirs, request, job, combinations, seconds)
            if apart is not None:
                return True, apart
        return blames(found.tool, found.errors, theirs.errors), theirs

    def _elsewhere(
        self,
        theirs: Finding,
        request: Json,
        job: JobSpec,
        combinations: Sequence[Combination],
        seconds: float,
    ) -> Finding | None:
        """Leave out where the original is at fault; return its finding if the candidate is, too.

        What the original does wrong at one size excuses nobody at the others.
        """
        left = list(combinations)
        for _ in range(MOST_APART):
            if theirs.errors == 0:
                terms = (request, job, request["candidate"], left, seconds, (theirs.tool,))
                (mine,) = self.examine(*terms)
                return theirs if mine.errors else None
            if theirs.errors is None or theirs.ran >= len(left):
                return None
            del left[theirs.ran]  # it ended there
            if not left:
                return None
            terms = (request, job, request["baseline"], left, seconds, (theirs.tool,))
            (theirs,) = self.examine(*terms, original=True)
        return None

    def knows(self, found: Finding, job: JobSpec, combinations: Sequence[Combination]) -> bool:
        """Tell whether it is known what the tool says of the original on these."""
        return (job.key, found.tool, *(one.key for one in combinations)) in self._theirs

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
        alone: bool = False,
    ) -> list[Finding]:
        """Watch an artifact with several tools at once, each for at most `seconds`.

        `alone`: nothing is watched beside it, and it waits for its process as long as that.
        """
        program = command()
        if program is None or not combinations:
            return []
        self._scratch.mkdir(parents=True, exist_ok=True)
        with TemporaryFolder(dir=self._scratch) as name:
            folder = Path(name)
            asked = folder / "request.json"
            # Device code prints, too: nobody else knows how a line begins that says what has ended.
            mark = f"{_MARK}{secrets.token_hex(8)} "
            described = dict(request["job"])
            if original:
                described["kernel"] = described["baseline"]
            asked.write_text(
                json.dumps(
                    {
                        "job": described,
                        "candidate": artifact,
                        "gpu": self._gpu,
                        "mark": mark,
                        "seconds": seconds,
                        "combinations": [
                            {"case": dict(c.case), "family": c.family, "seed": c.seed}
                            for c in combinations
                        ],
                    }
                )
            )

            def one(tool: str) -> Finding:
                line = prefix(program, tool, seconds if alone else 0.0)
                line += module_command("runners.sanitized", str(asked))
                begun = time.monotonic()
                if job.work.kind == "kernel":
                    printed = plain(line, folder / f"{tool}.txt", seconds)
                else:
                    tools_own = Path(program).resolve().parent.parent
                    places = [tools_own, job.work.root, Path(str(artifact["path"])).parent]
                    printed = inside(self._sandbox, line, folder, places, seconds)
                took = time.monotonic() - begun
                ran = printed.text.count(f"\n{mark}")
                many = (min(ran, len(combinations)), len(combinations))
                return read(tool, printed.text, took, late=printed.late, ran=many)

            with ThreadPoolExecutor(len(TOOLS)) as pool:
                return list(pool.map(one, tools or TOOLS))


def inside(
    sandbox: Sandbox, line: Sequence[str], folder: Path, readable: Sequence[Path], seconds: float
) -> Printed:
    """Run host code that is a stranger's where it can do no harm; return what it printed."""
    try:
        done = sandbox.run(
            line,
            cwd=folder,
            readable=[*interpreter_paths(), *readable],
            writable=[folder],
            limits=Limits(seconds=seconds, output_bytes=MOST_PRINTED),
            gpu=True,
            profile="tool",
        )
    except Fault as fault:
        return Printed(fault.message, late=False)
    return Printed((done.stdout + done.stderr).decode(errors="replace"), done.timed_out)


def plain(line: Sequence[str], log: Path, seconds: float) -> Printed:
    """Run what holds no host code of anybody's; return what it printed."""
    late = False
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
            late = True
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        # The end, where the tools sum up; device code may print without end before that.
        size = os.fstat(out.fileno()).st_size
        data = os.pread(out.fileno(), MOST_PRINTED, max(0, size - MOST_PRINTED))
    return Printed(data.decode(errors="replace"), late)


def read(
    tool: str,
    text: str,
    seconds: float = 0.0,
    *,
    late: bool = False,
    ran: tuple[int, int] = (0, 0),
) -> Finding:
    r"""Read a tool's report; `ran` tells how much of how much that it was to watch has ended.

    Of several summaries the worst counts, since whoever is watched may print one. A fault that was
    printed is one, whether there was a summary or not. No error is none only where all has ended.

    >>> read("memcheck", "========= ERROR SUMMARY: 0 errors").errors
    0
    >>> read("memcheck", "========= ERROR SUMMARY: 0 errors", ran=(1, 2)).why
    'ended before it had seen all'
    >>> copied = "========= Host API uninitialized memory access\n========= ERROR SUMMARY: 1 error"
    >>> read("initcheck", copied).errors, read("memcheck", copied).errors
    (0, 1)
    """
    errors = max((int(one[1] or one[2]) for one in _SUMMARY.finditer(text)), default=None)
    summed = errors is not None
    errors = errors or len(_FAULT.findall(text))
    if tool == "initcheck" and _COPIED.search(text) and not _FAULT.search(text):
        errors = 0
    first, unable = _FOUND.search(text), _UNABLE.search(text)
    unwatched = _UNWATCHED.search(text) is not None
    if errors and (first or not (unable or unwatched)):
        said = first[1].strip()[:300] if first else ""
        heads = [one[1] for one in _FOUND.finditer(text)]
        past = _NOT_PAST_THE_END.search(text) is None
        shared = sum(past and _SHARED_READ.match(head) is not None for head in heads)
        return Finding(tool, errors, said, seconds, "", min(ran), len(heads), shared)
    seen = ran[0] if (summed or late) and not unwatched else 0
    if late:
        return Finding(tool, None, _last(text), seconds, LATE, seen)
    if unable or not (summed or _BANNER in text):
        return Finding(tool, None, unable[1][:300] if unable else _last(text), seconds, UNABLE)
    if not summed or unwatched or seen < ran[1]:
        return Finding(tool, None, _last(text), seconds, ENDED, seen)
    return Finding(tool, 0, "", seconds, ran=seen)


def _last(text: str) -> str:
    """Return the last line that what was watched printed; else the end of all."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line for line in lines if not line.startswith(("=========", _MARK))]
    return (own[-1] if own else " ".join(text.split())[-300:])[:300]
