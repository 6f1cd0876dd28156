"""One run of a program under the interposer: own directory, own process group, a deadline."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np

from runners import program_report
from runners.program_report import Bytes, Report
from runners.removal import remove
from runners.sandbox import INNER_LIMITS, Sandbox, clean_environment
from runners.syscall_filter import Profile
from runners.working_copy import working_copy

MAX_OUTPUT = 4 << 20
_PRIVATE = {Path("/"), Path("/tmp"), Path("/var/tmp")}  # noqa: S108 - named to be left out


SETTLED = 0.3  # s without the GPU behind the last launch and copy: what follows is host work


@dataclass(frozen=True, slots=True)
class Plan:
    """Which launches of a kernel to repeat: number `first`, each `every`-th, `limit` at most."""

    first: int
    every: int
    limit: int
    repeats: int


def _no_plans() -> dict[str, Plan]:
    return {}


@dataclass(frozen=True, slots=True)
class Probe:
    """What the interposer does during a run.

    `poison` fills fresh device memory: `zero`, `nan` or `random` (from `seed`). `expected` holds
    digests of the records the original made: bytes equal to those are not written out.
    `stop` ends the run after so many launches and copies to the host. `idle` ends it once it
    has lasted `after` seconds and gone on without the GPU for so many; for a moment only behind as
    many launches and copies as `cut` says. `plans` are by kernel name,
    `*` for the rest. `fresh` names device variables that every launch finds as they were loaded.
    `wall` is where the program's wall clock begins, in seconds since 1970, if it is told. With
    `late` each asynchronous copy from or to page-locked memory waits so many ms on its stream;
    nothing is timed then.
    """

    poison: str = "zero"
    seed: int = 1
    record: bool = False
    expected: tuple[str, ...] = ()
    plans: Mapping[str, Plan] = field(default_factory=_no_plans)
    stop: tuple[int, int] | None = None
    idle: float = 0.0
    after: float = 0.0
    cut: tuple[int, int] | None = None
    replay_ms: float = 300.0
    fresh: tuple[str, ...] = ()
    wall: int | None = None
    late: int = 0

    def lines(self, report: Path) -> list[str]:
        """Return the interposer's configuration file."""
        lines = [
            f"report {report}",
            f"poison {self.poison}",
            f"seed {self.seed}",
            f"record {int(self.record)}",
            f"budget {self.replay_ms}",
        ]
        lines += [f"expect {digest}" for digest in self.expected]
        lines += [
            f"replay {name} {p.first} {p.every} {p.limit} {p.repeats}"
            for name, p in self.plans.items()
        ]
        lines += [f"fresh {name}" for name in self.fresh]
        if self.wall is not None:
            lines.append(f"wall {self.wall}")
        if self.late:
            lines.append(f"late {self.late}")
        if self.stop:
            lines.append(f"stop {self.stop[0]} {self.stop[1]}")
        if self.idle:
            lines.append(f"idle {self.idle} {min(SETTLED, self.idle)} {self.after}")
        if self.cut:
            lines.append(f"cut {self.cut[0]} {self.cut[1]}")
        return lines


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run left: exit status (None when it was killed at its deadline), output, report.

    `launched`: it came to its first launch, and so far as its own time begins.
    """

    exit: int | None
    stdout: str
    stderr: str
    seconds: float
    report: Report | None
    stored: Bytes
    trouble: str = ""
    launched: bool = True

    @property
    def tail(self) -> str:
        """Return the last words of its output, for messages."""
        text = (self.stderr.strip() or self.stdout.strip())[-400:]
        return text.replace("\n", " | ")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a process ended; `exit` is None when it was killed at its deadline."""

    exit: int | None
    stdout: bytes
    stderr: bytes


class Extended(float):
    """Seconds that a run is given, and whom to ask how many more when they are over."""

    more: Callable[[], float]

    @classmethod
    def by(cls, seconds: float, more: Callable[[], float]) -> Self:
        """Return so many seconds that may become more."""
        found = cls(seconds)
        found.more = more
        return found


# command, working directory, environment, scratch directory it may write, seconds
Execute = Callable[[Sequence[str], Path, Mapping[str, str], Path, float], Finished]


def execute(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], scratch: Path, seconds: float
) -> Finished:
    """Run a process in a group of its own and kill the group at the deadline; no sandbox."""
    out, err = scratch / "stdout", scratch / "stderr"
    # Read again by their descriptors: by then their names may lead elsewhere.
    with out.open("x+b") as stdout, err.open("x+b") as stderr:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        status: int | None
        try:
            status = _ended(process, seconds)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        printed = [os.pread(one.fileno(), MAX_OUTPUT, 0) for one in (stdout, stderr)]
    return Finished(status, *printed)


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Wait for a process as long as its time allows; return its status, None if it runs on."""
    more = seconds.more if isinstance(seconds, Extended) else None
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(seconds)
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(more()) if more is not None else None
    return None


def sandboxed(sandbox: Sandbox, *, gpu: bool = True, profile: Profile = "strict") -> Execute:
    """Return an `Execute` that runs programs in a sandbox.

    A program may write its scratch directory and read what its working directory links to: the
    project, and for one's own code what lies beside it and what its arguments name in full. What
    watches a program talks to it through sockets, and hangs without them: its `profile` is `tool`.
    """

    def inside(
        command: Sequence[str], cwd: Path, env: Mapping[str, str], scratch: Path, seconds: float
    ) -> Finished:
        places = {Path(command[0]).resolve().parent, Path(env["LD_PRELOAD"]).parent}
        links = [entry.resolve() for entry in cwd.iterdir() if entry.is_symlink()]
        places |= {link.parent for link in links}
        if sandbox.trust == "own":
            above = [one for one in cwd.parents if one != scratch and scratch in one.parents]
            found = (e.resolve() for one in above for e in one.iterdir() if e.is_symlink())
            beside = {link.parent for link in found}
            beside |= {Path(word) for word in command[1:] if word.startswith("/")}
            places |= {p for p in beside if p not in _PRIVATE and p != Path.home() and p.exists()}
        places |= {Path(p) for p in env["LD_LIBRARY_PATH"].split(":") if p}
        done = sandbox.run(
            command,
            cwd=cwd,
            readable=sorted(places),
            writable=[scratch],
            environment=env,
            limits=replace(
                INNER_LIMITS,
                seconds=seconds,
                output_bytes=MAX_OUTPUT,
                more=seconds.more if isinstance(seconds, Extended) else None,
            ),
            gpu=gpu,
            profile=profile,
        )
        return Finished(None if done.timed_out else done.code, done.stdout, done.stderr)

    return inside


def environment(libraries: Sequence[str], device: int, scratch: Path) -> dict[str, str]:
    """Return what a program sees: nothing of ours but where the CUDA runtime is, and one GPU.

    `device` counts among the GPUs that this process may see itself. Modules are loaded eagerly:
    loading one inside a kernel's event pair would be timed with it.
    """
    outer = clean_environment()
    seen = [name.strip() for name in outer.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    visible = seen[device] if device < len(seen) and seen[device] else str(device)
    paths = [*libraries, *outer.get("LD_LIBRARY_PATH", "").split(":")]
    return outer | {
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LD_LIBRARY_PATH": ":".join(path for path in paths if path),
        "CUDA_VISIBLE_DEVICES": visible,
        "CUDA_MODULE_LOADING": "EAGER",
        "CUDA_CACHE_DISABLE": "1",
    }


def libraries() -> list[str]:
    """Return the directories that may hold the shared CUDA runtime and the driver."""
    places = [Path("/usr/local/cuda/lib64"), Path("/usr/local/nvidia/lib64")]
    nvcc = shutil.which("nvcc")
    if nvcc:
        home = Path(nvcc).resolve().parent.parent
        places = [home / "lib64", home / "lib", home / "targets/x86_64-linux/lib", *places]
    for package in Path(np.__file__).parent.parent.glob("nvidia/*/lib"):
        places.append(package)
    return [str(p) for p in places if p.is_dir()]


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs programs of one project on one device. `root` is the project; `scratch` is ours.

    `watch` runs one under a tool; without it `execute` does that, too. `late` is asked how many
    seconds more there are for a run that has launched and whose time is over.
    """

    interposer: Path
    scratch: Path
    root: Path
    device: int = 0
    library_path: tuple[str, ...] = ()
    execute: Execute = execute
    watch: Execute | None = None
    late: Callable[[], float] | None = None

    def run(self, program: Path, arguments: Sequence[str], probe: Probe, seconds: float) -> Ran:
        """Run once. A broken or missing report is not an error: it is said in `trouble`."""
        home = Path(tempfile.mkdtemp(prefix="program-", dir=self.scratch))
        try:
            report, config = home / "report.json", home / "probe.txt"
            config.write_text("\n".join(probe.lines(report)) + "\n")
            env = environment(self.library_path or libraries(), self.device, home)
            env |= {"LD_PRELOAD": str(self.interposer), "OPTIML_PROBE": str(config)}
            cwd = working_copy(self.root, home)
            given = Extended.by(seconds, lambda: self._more(report)) if self.late else seconds
            begun = time.monotonic()
            done = self.execute([str(program), *arguments], cwd, env, home, given)
            took = time.monotonic() - begun
            return _read(done, took, report, _plain(program, cwd, self.root, home))
        finally:
            remove(home)

    def _more(self, report: Path) -> float:
        return self.late() if self.late is not None and _launched(report) else 0.0

    def watched(
        self, program: Path, arguments: Sequence[str], tool: Sequence[str], seconds: float
    ) -> Finished:
        """Run once under a tool that prints what it sees, the interposer idle."""
        home = Path(tempfile.mkdtemp(prefix="watched-", dir=self.scratch))
        try:
            mine = home / "program"
            shutil.copy(program, mine)
            env = environment(self.library_path or libraries(), self.device, home)
            env |= {"LD_PRELOAD": str(self.interposer)}
            cwd = working_copy(self.root, home)
            watch = self.watch or self.execute
            return watch([*tool, str(mine), *arguments], cwd, env, home, seconds)
        finally:
            remove(home)


def _plain(program: Path, cwd: Path, root: Path, home: Path) -> Callable[[bytes], str]:
    """Return what makes text of output, with paths of ours as they are where the program is built.

    Programs print their own name, and where they are: that is another in every run.
    """
    ours = {
        str(program): f"./{program.name}",
        str(program.parent): ".",
        str(cwd): str(root),
        str(cwd.parent): str(root.parent),
        str(home): str(root.parent),
    }

    def text(printed: bytes) -> str:
        found = printed.decode(errors="replace")
        for path, name in ours.items():
            found = found.replace(path, name)
        return found

    return text


def _read(done: Finished, took: float, report: Path, text: Callable[[bytes], str]) -> Ran:
    found, stored, trouble = None, np.zeros(0, np.uint8), ""
    if os.path.lexists(report):
        try:
            found = program_report.read(report)
            stored = program_report.data(report.with_name(report.name + ".data"))
        except ValueError as error:
            trouble = str(error)
    out, err = text(done.stdout), text(done.stderr)
    return Ran(done.exit, out, err, took, found, stored, trouble, _launched(report))


def _launched(report: Path) -> bool:
    """Tell whether a run has come to its first launch."""
    return os.path.lexists(report.with_name(report.name + ".begun"))
