"""Hardware counters by Nsight Compute, in launches of their own; a time never comes from here.

Counters are a help, not a condition: a missing, denied, outdated or stuck ncu gives a profile
without counters and one sentence that says what to do, never an exception.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from optimizer.model import Verdict
from runners import ncu, safe_files
from runners.fault import Fault
from runners.ncu import LaunchRecord
from runners.ncu_trouble import BUSY, DENIED, MISSING, UNSEEN, trouble
from runners.nsys import Timeline
from runners.removal import TemporaryFolder
from runners.sandbox import Limits, Sandbox, interpreter_paths
from runners.syscall_filter import Profile as SystemCalls

# Command, folder to run in and write to, seconds, further paths to read: exit status and output.
Run = Callable[[Sequence[str], Path, float, Sequence[str]], tuple[int, str]]

MOST_PAGE_BYTES, MOST_REPORT_BYTES = 256 << 20, 2 << 30
READER = Path(__file__).with_name("ncu_report_reader.py")
WORKER = (sys.executable, "-I", "-m", "runners.worker")
# A session with our list takes about 2 s a kernel's first launch and 0.3 s each later one on an
# H200 (docs/counters.md); a minute leaves room for a kernel of a second replayed 30 times.
SESSION_SECONDS = 60.0
MOST_LAUNCHES = 24
# However little time is left, a session that was begun gets so many seconds.
LEAST_SECONDS = 2.0
# Of a program, kernels with less than this share of its time are not profiled, and no more than so
# many: a gain nobody would see costs half a second a launch.
LEAST_SHARE = 0.02
MOST_KERNELS = 6
_REPORT = "report.ncu-rep"
# The counters of all GPUs of a host are handed out one by one: while another session begins, ncu
# is refused for a moment. Seconds to wait before each further attempt.
BUSY_WAITS = (1.0, 2.0, 4.0)
# A report of 36 kernels is 1.5 MB as JSON; beyond this something else is printed.
OUTPUT_BYTES = 64 << 20
_PLACES = ("/opt/nvidia/nsight-compute", "/usr/local/NVIDIA-Nsight-Compute", "/usr/local/cuda")


def _empty() -> dict[str, float]:
    return {}


@dataclass(frozen=True, slots=True)
class Profile:
    """Counters by `KERNEL/metric`, shares by `KERNEL:LINE/what`, and what kept them away."""

    counters: Mapping[str, float] = field(default_factory=_empty)
    lines: Mapping[str, float] = field(default_factory=_empty)
    seconds: float = 0.0
    note: str = ""


def find_ncu() -> str | None:
    """Return the path of ncu on this machine, the newest where several are installed."""
    on_path = shutil.which("ncu")
    if on_path:
        return on_path
    found = [p for place in _PLACES for p in Path(place).glob("**/ncu") if p.is_file()]
    executable = [p for p in found if os.access(p, os.X_OK)]
    return str(max(executable, key=_version_of)) if executable else None


def _version_of(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", str(path)))


def run_in_group(
    command: Sequence[str], folder: Path, seconds: float, readable: Sequence[str] = ()
) -> tuple[int, str]:
    """Run a command of one's own code in a folder; return its exit status and what it printed.

    After `seconds` the whole process group is killed and the status is 124. A command that cannot
    be started gives 127. All files can be read, `readable` or not.
    """
    del readable
    try:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return 127, f"{command[0]}: {error.strerror}: cannot be started"
    try:
        printed, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed, _ = process.communicate()
        return 124, printed
    return process.returncode, printed


def in_sandbox(sandbox: Sandbox, *readable: str, device: str = "") -> Run:
    """Return a way to run ncu, and so the code it profiles, isolated from this machine.

    Where the driver keeps counters to administrators and we are root, ncu is started once more
    with the two capabilities the driver asks for, and from then on always; system calls that would
    make them a way out stay refused. `readable` are folders besides the system's, the
    interpreter's and Nsight Compute's own; `device` is the GPU as CUDA_VISIBLE_DEVICES names it.
    """
    seen = {"CUDA_VISIBLE_DEVICES": device} if device else {}
    shown = [*_PLACES, *map(str, interpreter_paths()), str(READER.parent.parent), *readable]
    profiles: list[SystemCalls] = ["tool", "root tool"]

    def once(
        profile: SystemCalls,
        command: Sequence[str],
        folder: Path,
        seconds: float,
        more: Sequence[str],
    ) -> tuple[int, str]:
        paths = [Path(path) for path in (*shown, *more) if Path(path).exists()]
        try:
            done = sandbox.run(
                command,
                cwd=folder,
                readable=paths,
                writable=[folder],
                environment=seen,
                limits=Limits(seconds=seconds, output_bytes=OUTPUT_BYTES),
                gpu=True,
                profile=profile,
            )
        except Fault as fault:
            return 126, f"==ERROR== {fault.message}"
        printed = (done.stdout + done.stderr).decode(errors="replace")
        return (124 if done.timed_out else done.code), printed

    def run(
        command: Sequence[str], folder: Path, seconds: float, more: Sequence[str] = ()
    ) -> tuple[int, str]:
        status, printed = once(profiles[0], command, folder, seconds, more)
        if trouble(printed, status) == DENIED and len(profiles) > 1 and os.geteuid() == 0:
            del profiles[0]
            status, printed = once(profiles[0], command, folder, seconds, more)
        return status, printed

    return run


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a session is to profile: a command, and which of its launches.

    Behind `until`, in monotonic seconds, nobody wants its counters any more.
    """

    command: Sequence[str]
    kernels: Sequence[str]
    invocations: str
    warm: bool
    cwd: str | None
    readable: Sequence[str]
    until: float
    ends: bool

    def line(self, path: str, folder: Path) -> list[str]:
        """Return ncu's command line."""
        most = MOST_LAUNCHES if self.invocations else 0
        if self.ends:
            # No more will come: where a program goes on for long behind them, it need not.
            most = min(most, len(self.kernels) * (self.invocations.count("|") + 1))
        return ncu.ncu_command(
            path,
            str(folder / _REPORT).removesuffix(".ncu-rep"),
            list(self.command) if self.cwd is None else ["env", "-C", self.cwd, *self.command],
            kernels=self.kernels,
            invocations=self.invocations,
            launches=most,
            warm=self.warm,
            ends=self.ends,
        )


class NcuProfiler:
    """Profiles commands with ncu; fulfils `runners.interfaces.Profiler`.

    `run` executes a command in a folder within a time, by default directly; a sandbox that lets
    the GPU's device files and ncu's own folder through fits. `note` is the last session's.
    """

    def __init__(
        self, path: str | None = None, *, seconds: float = SESSION_SECONDS, run: Run = run_in_group
    ) -> None:
        self.path = path if path is not None else find_ncu()
        self.seconds = seconds
        self.note = ""
        self._run = run
        # One session at a time: the GPU's counters are handed out once. Reports are read beside it.
        self.recording = threading.Lock()
        self.timeline = Timeline(run)
        self._denied = ""  # a denial holds for the process's lifetime: asked once, said once

    def profile(self, command: Sequence[str]) -> Mapping[str, float]:
        """Return the counters of a command by `KERNEL/metric`, empty when there are none."""
        return self.session(command, invocations=ncu.PROGRAM_INVOCATIONS)[0].counters

    def session(  # noqa: PLR0913 - ncu can be told much
        self,
        command: Sequence[str],
        *,
        contexts: int = 1,
        kernels: Sequence[str] = (),
        invocations: str = "",
        source: str = "",
        warm: bool = False,
        cwd: str | None = None,
        readable: Sequence[str] = (),
        seconds: float = math.inf,
        ends: bool = False,
    ) -> tuple[Profile, ...]:
        """Run one ncu session and return a profile for each of the command's CUDA contexts.

        With `contexts` above one, launches are told apart by the context they ran in, in the
        order of creation, and a report with another number of contexts gives only a note.
        `readable` are paths the command needs, for a `run` that hides the rest. It is stopped
        after `seconds` where that is earlier than a session would be. With `ends`, each of
        `kernels` is one function, so that the command can be ended behind its last invocation.
        """
        began = time.monotonic()
        until = began + seconds
        asked = _Asked(command, kernels, invocations, warm, cwd, readable, until, ends)
        launches, note, waited = self._launches(asked)
        parts, why = _split(launches, contexts)
        self.note = note = note or why
        each = (time.monotonic() - began - waited) / max(contexts, 1)
        return tuple(
            Profile(ncu.counters_by_kernel(p), ncu.lines_by_kernel(p, source), each, note)
            for p in parts
        )

    def table(
        self,
        command: Sequence[str],
        metrics: Sequence[str],
        *,
        cwd: str | None = None,
        readable: Sequence[str] = (),
    ) -> tuple[str, str]:
        """Return metrics of every launch of a command as ncu's CSV page, and why there are none.

        `cwd` and `readable` are as in `session`.
        """
        if self.path is None or self._denied:
            return "", self._denied or MISSING
        try:
            with TemporaryFolder(prefix="optiml-ncu-") as name:
                folder = Path(name)
                page = folder / "page.csv"
                target = list(command) if cwd is None else ["env", "-C", cwd, *command]
                line = [self.path, "--clock-control", "none", "--target-processes", "all"]
                line += ["--metrics", ",".join(metrics), "--csv", "--page", "raw"]
                line += ["--print-units", "base", "--log-file", str(page)]
                asked = ([*_surroundings(folder), *line, *target], folder, self.seconds, readable)
                note = ""
                for wait in (0.0, *BUSY_WAITS):
                    time.sleep(wait)
                    status, printed = self._run(*asked)
                    text = _page(page)
                    if '"ID"' in text:
                        return text, ""
                    note = trouble(f"{text}\n{printed}", status)
                    if note != BUSY:
                        break
        except OSError as error:
            return "", f"ncu has no room to write its page: {error.strerror}"
        if note == DENIED:
            self._denied = note
        return "", note

    def _launches(self, asked: _Asked) -> tuple[list[LaunchRecord], str, float]:
        """Return what was launched, why nothing was, and the seconds another session took first."""
        waited = 0.0
        if self.path is None:
            return [], MISSING, waited
        if self._denied:
            return [], self._denied, waited
        try:
            with TemporaryFolder(prefix="optiml-ncu-") as name:
                folder = Path(name)
                command = [*_surroundings(folder), *asked.line(self.path, folder)]
                came = time.monotonic()
                with self.recording:
                    waited = time.monotonic() - came
                    status, printed, limit = self._recorded(command, folder, asked)
                if status == 124:
                    return [], f"ncu did not finish in {limit:.0f} s and was stopped", waited
                report = folder / _REPORT
                there = safe_files.is_ordinary(report, MOST_REPORT_BYTES)
                launches = self._read(report) if there else []
        except OSError as error:
            return [], f"ncu has no room to write its report: {error.strerror}", waited
        if launches:
            return launches, "", waited
        note = trouble(printed, status)
        if note == DENIED:
            self._denied = note
        return [], note, waited

    def _recorded(
        self, command: Sequence[str], folder: Path, asked: _Asked
    ) -> tuple[int, str, float]:
        """Run ncu, again while the counters are in use; return how it ended, and its limit."""
        limit = min(self.seconds, max(asked.until - time.monotonic(), LEAST_SECONDS))
        status, printed = self._run(command, folder, limit, asked.readable)
        for wait in BUSY_WAITS:
            if (folder / _REPORT).is_file() or trouble(printed, status) != BUSY:
                break
            if time.monotonic() + wait > asked.until:
                break
            time.sleep(wait)
            status, printed = self._run(command, folder, limit, asked.readable)
        return status, printed, limit

    def _read(self, report: Path) -> list[LaunchRecord]:
        """Return a report's launches, by the Python module or, where it does not load, as CSV."""
        extras = _extras(self.path or "")
        folder = report.parent
        if extras is not None:
            reader = [sys.executable, "-I", str(READER), str(extras), str(report)]
            status, printed = self._run(reader, folder, self.seconds, ())
            if status == 0:
                try:
                    return ncu.launches_of_json(printed)
                except ValueError:
                    pass  # the module's own output got in between: the CSV page has it too
        raw = [self.path or "ncu", "--import", str(report), "--page", "raw", "--csv"]
        raw += ["--print-units", "base", "--print-kernel-base", "demangled"]
        _, printed = self._run([*_surroundings(folder), *raw], folder, self.seconds, ())
        return ncu.launches_of_csv(printed)


def _page(path: Path) -> str:
    """Return what ncu wrote; nothing where the command it watched put something else there."""
    try:
        return safe_files.text(path, MOST_PAGE_BYTES)
    except OSError:
        return ""


def _surroundings(folder: Path) -> list[str]:
    # ncu writes to HOME and, under TMPDIR, a lock that is shared by all users of the machine and
    # left behind by crashed ones; who owns the GPU is already settled when we get here. LC_ALL
    # keeps its tables free of a locale's commas.
    return ["env", f"HOME={folder}", f"TMPDIR={folder}", "LC_ALL=C"]


def _extras(path: str) -> Path | None:
    """Return the folder of the `ncu_report` module that belongs to an ncu."""
    for parent in Path(path).resolve().parents:
        if (parent / "extras" / "python" / "ncu_report.py").is_file():
            return parent / "extras" / "python"
    wanted = Path(path).resolve().parent
    siblings = sorted(Path(_PLACES[0]).glob("*/extras/python/ncu_report.py"), key=_version_of)
    return siblings[-1].parent if siblings and wanted.exists() else None


def _split(launches: Sequence[LaunchRecord], contexts: int) -> tuple[list[list[LaunchRecord]], str]:
    ours = [launch for launch in launches if not launch.kernel.startswith("optiml_")]
    if contexts <= 1:
        return [ours], ""
    seen = sorted({launch.context for launch in ours})
    if len(seen) != contexts:
        if not ours:
            return [[] for _ in range(contexts)], ""
        why = f"ncu saw {len(seen)} contexts where {contexts} candidates ran"
        return [[] for _ in range(contexts)], why
    return [[launch for launch in ours if launch.context == number] for number in seen], ""


def profile_jobs(
    profiler: NcuProfiler,
    requests: Sequence[Mapping[str, Any]],
    worker: Sequence[str] = WORKER,
    *,
    kernels: Sequence[Sequence[str]] = (),
    seconds: float = math.inf,
) -> tuple[Profile, ...]:
    """Profile worker requests with compiled candidates; return one profile each, in order.

    `kernel:` and `entry:` requests share one ncu session through the worker's launch mode, each
    in a context of its own; when that fails, and for a `program:`, a session each. `kernels` are
    those of each program that are worth it, all where it is empty. `seconds` bounds it all.
    """
    found: dict[int, Profile] = {}
    until = time.monotonic() + seconds
    shared = [i for i, request in enumerate(requests) if not _is_program(request)]
    if len(shared) > 1:
        together = _worker_session(profiler, [requests[i] for i in shared], worker, seconds)
        if any(profile.counters for profile in together) or not _worth_retrying(profiler):
            found = dict(zip(shared, together, strict=True))

    def alone(i: int) -> Profile:
        left = until - time.monotonic()
        if i and left < LEAST_SECONDS:
            return Profile(note="no time was left to read its counters")
        if _is_program(requests[i]):
            return _program_session(profiler, requests[i], kernels[i] if kernels else (), left)
        return _worker_session(profiler, [requests[i]], worker, left)[0]

    rest = [i for i in range(len(requests)) if i not in found]
    # A report is read while the next program runs.
    width = 2 if any(_is_program(requests[i]) for i in rest) else 1
    with ThreadPoolExecutor(width, thread_name_prefix="counters") as pool:
        found |= dict(zip(rest, pool.map(alone, rest), strict=True))
    return tuple(found[i] for i in range(len(requests)))


def worthwhile(shares: Mapping[str, float]) -> tuple[str, ...]:
    """Return the kernels of a program that are worth profiling, by their shares of its time.

    None means all: where nothing is known, and where graphs hide which kernels run.

    >>> worthwhile({"force": 0.998, "step": 0.002}), worthwhile({"graph": 0.9, "force": 0.1})
    (('force',), ())
    """
    if "graph" in shares:
        return ()
    ordered = sorted(shares, key=lambda name: -shares[name])[:MOST_KERNELS]
    return tuple(name for name in ordered if shares[name] >= LEAST_SHARE)


def _worth_retrying(profiler: NcuProfiler) -> bool:
    return profiler.path is not None and profiler.note != DENIED


def _is_program(request: Mapping[str, Any]) -> bool:
    return bool(request["job"]["workload"]["kind"] == "program")


def _worker_session(
    profiler: NcuProfiler,
    requests: Sequence[Mapping[str, Any]],
    worker: Sequence[str],
    seconds: float,
) -> tuple[Profile, ...]:
    try:
        with tempfile.TemporaryDirectory(prefix="optiml-launch-") as name:
            file = Path(name) / "request.json"
            once = [{**request, "times": 1} for request in requests]
            file.write_text(json.dumps({"requests": once}))
            return profiler.session(
                [*worker, "--launch", str(file)],
                contexts=len(requests),
                readable=[name, *(path for request in requests for path in _paths(request))],
                warm=bool(requests[0]["job"]["workload"].get("warm")),
                seconds=seconds,
            )
    except OSError as error:
        why = f"no room to write a launch request: {error.strerror}"
        return tuple(Profile(note=why) for _ in requests)


def _program_session(
    profiler: NcuProfiler, request: Mapping[str, Any], kernels: Sequence[str], seconds: float
) -> Profile:
    workload, artefact = request["job"]["workload"], request.get("candidate")
    if not artefact:
        return Profile(note="a program is profiled only after it is compiled")
    runs = (workload.get("program") or {}).get("runs") or [[]]
    command = [str(artefact["path"]), *(str(argument) for argument in runs[0])]
    root, readable = str(Path(workload.get("root") or ".").resolve()), _paths(request)
    until = time.monotonic() + seconds
    # Of a template there may be several functions of one name, each with first launches.
    source = str((request["job"].get("kernel") or {}).get("source") or "template")

    def counted(names: Sequence[str]) -> Profile:
        (found,) = profiler.session(
            command,
            kernels=names,
            invocations=ncu.PROGRAM_INVOCATIONS,
            cwd=root,
            readable=readable,
            seconds=until - time.monotonic(),
            ends=bool(names) and "template" not in source,
        )
        return found

    found = counted(kernels)
    if kernels and found.note == UNSEEN:
        found = counted(())  # it knows them by other names
    # What lies between its kernels, where Nsight Systems is installed.
    with profiler.recording:
        left = until - time.monotonic()
        between = profiler.timeline.counters(command, cwd=root, readable=readable, most=left)
    return replace(found, counters={**found.counters, **between}) if between else found


def _paths(request: Mapping[str, Any]) -> list[str]:
    """Return what a request's candidate is loaded from and may read."""
    artefact = request.get("candidate") or {}
    found = [str(artefact["path"])] if "path" in artefact else []
    return [*found, str(Path(request["job"]["workload"].get("root") or ".").resolve())]


def with_profile(verdict: Verdict, profile: Profile) -> Verdict:
    """Return the verdict with a profile's counters, lines and cost; its note joins the log."""
    log = "\n".join(part for part in (verdict.log, profile.note) if part)
    return replace(
        verdict,
        counters={**verdict.counters, **profile.counters},
        lines={**verdict.lines, **profile.lines},
        seconds={**verdict.seconds, "profile": profile.seconds},
        log=log,
    )
