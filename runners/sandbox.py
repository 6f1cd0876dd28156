"""One command with limits: no network, a root of its own, a clean environment, killed whole.

Four backends, the strongest that works here is taken: bubblewrap; namespaces entered by our own
launcher; Landlock with a stricter seccomp filter; a plain process tree with limits. The last
isolates nothing, so it serves the user's own code alone and anything else fails closed. On top of
each come a seccomp filter (`runners.syscall_filter`), resource limits, control groups where they
can be made (`runners.control_groups`), and where they cannot, a keeper that looks at processes and
memory ten times a second. Starting a command costs a few milliseconds, because a launcher process
(`runners.launcher`) forks it from a small single-threaded image.

Stdlib only: the worker imports it, and isolates entry functions and programs from itself with it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from runners import control_groups, syscall_filter
from runners.control_groups import ControlGroups
from runners.fault import Fault
from runners.made_executable import mark_linked
from runners.sandbox_process import Child, Finished, collect, write_all
from runners.sandbox_request import Backend, Limits, Place, landlock_lacks, request
from runners.syscall_filter import Profile

__all__ = [
    "INNER_LIMITS", "Backend", "Child", "Finished", "Isolation", "Limits", "Sandbox", "Trust",
    "clean_environment", "interpreter_paths", "write_all",
]  # fmt: skip

Trust = Literal["own", "stranger"]

_LAUNCHER = Path(__file__).with_name("launcher.py")
_PASSED_ON = (
    "PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
    "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES",
)  # fmt: skip
_NO_ISOLATION = (
    "install bubblewrap, allow unprivileged user namespaces "
    "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), "
    "or run as root in a container of its own"
)

_LANDLOCK_LEAVES = (
    "Landlock leaves visible the list of processes with their command lines, of any path whether "
    "it exists, its size, times, owner and where a link leads, what /proc and /sys tell of the "
    "machine and its network; root keeps its name. CUDA does not start under it (its driver writes "
    "to /proc): strangers' code that needs the GPU is refused, your own runs on it with limits "
    "alone. A command may change no file's mode, owner, "
    "times or extended attributes (chmod, touch, cp -p, install fail; what is linked is made "
    "executable once the command has ended), open no socket and bind no threads to processors"
)

# Of what a worker may use, what the host code within it may: the worker outlives its candidates.
INNER_LIMITS = Limits(resident_bytes=24 << 30, disk_bytes=8 << 30, processes=256)


@dataclass(frozen=True, slots=True)
class Isolation:
    """What this host gives: the backend in use and why better ones are not.

    `filter` tells of seccomp, `groups` of control groups (`cgroup v1`, `cgroup v2` or nothing).
    """

    backend: Backend
    network: bool
    files: bool
    processes: bool
    refused: Mapping[str, str] = field(default_factory=dict)
    filter: bool = False
    groups: str = ""

    @property
    def strong(self) -> bool:
        """Tell whether a stranger's code may run here."""
        return self.network and self.files and self.processes

    @property
    def gpu(self) -> bool:
        """Tell whether CUDA starts under the backend; where not, only one's own code uses a GPU."""
        return self.backend != "landlock"

    @property
    def leaves(self) -> str:
        """Say what the backend keeps from nobody, and what honest code loses; empty for none."""
        return _LANDLOCK_LEAVES if self.backend == "landlock" else ""


class Sandbox:
    """Runs commands isolated from the host and from each other; a context manager.

    `trust` tells whose code it is: without isolation only one's `own` runs. `readable` are paths
    every command may read besides the system's programs and libraries. `backend` forces one.
    `inner` tells that this process is in a sandbox already, whose limits hold for both.
    Raise `Fault` of kind SandboxError when nothing isolates a stranger's code here.
    """

    def __init__(
        self,
        trust: Trust = "own",
        readable: Iterable[Path] = (),
        backend: Backend | None = None,
        *,
        inner: bool = False,
    ) -> None:
        self.trust = trust
        self._inner = inner
        self._readable = tuple(str(path) for path in readable)
        self._wanted = backend
        self._lock = threading.Lock()
        self._requests: socket.socket | None = None
        self._launcher: subprocess.Popen[bytes] | None = None
        self._isolation: Isolation | None = None
        self._groups = ControlGroups()
        self._own_launcher: bool | None = None

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        readable: Iterable[Path] = (),
        writable: Iterable[Path] = (),
        environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        gpu: bool = False,
        profile: Profile = "strict",
        stdin: bytes = b"",
    ) -> Finished:
        """Run one command to its end or its limit.

        `readable` and `writable` paths appear in its file system under their own names; /tmp is
        its own. `environment` adds to the few variables that are passed on. `profile` is
        what it may ask of the kernel: `tool` lets it look into processes it started, `root tool`
        also keeps two of root's capabilities that a profiler may need, `worker` lets it isolate
        what it starts. Raise `Fault` if it cannot be started.
        """
        place = self._place(argv, cwd, readable, writable, environment, limits, gpu, profile)
        fed = os.memfd_create("stdin")
        os.write(fed, stdin)
        os.lseek(fed, 0, os.SEEK_SET)
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        begun = time.monotonic()
        try:
            control = self._start(place, (fed, out_end, err_end))
        except BaseException:
            os.close(out)
            os.close(err)
            raise
        finally:
            for fd in (fed, out_end, err_end):
                os.close(fd)
        with control:
            finished = collect(control, out, err, place.limits, begun)
        if profile != "worker" and self.describe().backend == "landlock":
            mark_linked(place.writable)
        return finished

    def spawn(
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        readable: Iterable[Path] = (),
        writable: Iterable[Path] = (),
        environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        gpu: bool = False,
        profile: Profile = "strict",
    ) -> Child:
        """Start a command that runs on, with pipes; its wall-clock limit is the caller's."""
        place = self._place(argv, cwd, readable, writable, environment, limits, gpu, profile)
        (in_end, into), (out, out_end), (err, err_end) = os.pipe(), os.pipe(), os.pipe()
        try:
            control = self._start(place, (in_end, out_end, err_end))
        except BaseException:
            for fd in (into, out, err):
                os.close(fd)
            raise
        finally:
            for fd in (in_end, out_end, err_end):
                os.close(fd)
        return Child(control, into, out, err)

    def describe(self) -> Isolation:
        """Return what isolation this host gives, trying each backend once."""
        if self._isolation is None:
            with self._lock:
                self._isolation = self._isolation or self._probe()
        return self._isolation

    def close(self) -> None:
        """End the launcher and with it whatever still runs."""
        with self._lock:
            if self._requests is not None:
                self._requests.close()
            if self._launcher is not None:
                self._launcher.wait(10)
            self._requests = self._launcher = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _place(
        self,
        argv: Sequence[str | Path],
        cwd: Path | None,
        readable: Iterable[Path],
        writable: Iterable[Path],
        environment: Mapping[str, str] | None,
        limits: Limits | None,
        gpu: bool,
        profile: Profile,
    ) -> Place:
        env = clean_environment() | dict(environment or {})
        program = shutil.which(str(argv[0]), path=env["PATH"])
        if program is None:
            raise Fault("NoDeviceError", f"there is no program {argv[0]} on this machine")
        return Place(
            (program, *map(str, argv[1:])),
            str(cwd or "/"),
            env,
            (*self._readable, *(str(path) for path in readable)),
            tuple(str(path) for path in writable),
            limits or Limits(),
            gpu,
            profile == "root tool" and os.geteuid() == 0,
            profile,
        )

    def _start(self, place: Place, streams: tuple[int, int, int]) -> socket.socket:
        isolation = self.describe()
        if self.trust != "own" and not isolation.strong:
            reasons = "; ".join(f"{k}: {v}" for k, v in isolation.refused.items())
            raise Fault(
                "SandboxError", f"nothing isolates untrusted code here ({reasons})", _NO_ISOLATION
            )
        with self._lock:
            backend = self._starting_cuda(isolation) if place.gpu else isolation.backend
            if place.profile == "worker" and backend == "bubblewrap" and self._nests():
                backend = "namespaces"
            return self._send(request(place, backend, self._groups), streams)

    def _starting_cuda(self, isolation: Isolation) -> Backend:
        """Return the backend for a command that uses the GPU: under Landlock CUDA does not start.

        Its driver writes to /proc/self/task and makes a socket (seen on an H200, driver 580: error
        304 without either). A worker under Landlock would have to name such folders of processes
        that it isolates later, or allow all of /proc; and what ncu and compute-sanitizer start
        talks to them through sockets.
        """
        if isolation.gpu:
            return isolation.backend
        if self.trust != "own" and isolation.strong:
            reasons = "; ".join(f"{k}: {v}" for k, v in isolation.refused.items())
            message = f"CUDA does not start under Landlock, which alone isolates here ({reasons})"
            raise Fault("SandboxError", message, _NO_ISOLATION)
        return "processes"

    def _nests(self) -> bool:
        """Tell whether our own launcher works too, which leaves room for a sandbox inside.

        Bubblewrap covers parts of /proc, and then the kernel lets nobody inside mount another.
        """
        if self._own_launcher is None:
            self._own_launcher = self._wanted is None and not self._try("namespaces")
        return self._own_launcher

    def _send(self, spec: dict[str, object], streams: tuple[int, int, int]) -> socket.socket:
        """Hand a command to the launcher, which is started when there is none. Holds the lock."""
        requests = self._requests or self._launch()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            message = json.dumps(spec).encode()
            socket.send_fds(requests, [message], [*streams, theirs.fileno()])
        except OSError as error:
            ours.close()
            requests.close()
            self._requests = None  # the next command starts another launcher
            raise Fault("RunnerError", f"the sandbox cannot start a command: {error}") from error
        finally:
            theirs.close()
        return ours

    def _launch(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        with theirs:
            self._launcher = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_LAUNCHER), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={"PATH": "/usr/bin:/bin"},
            )
        self._requests = ours
        return ours

    def _probe(self) -> Isolation:
        refused: dict[str, str] = {}
        filtered = bool(syscall_filter.program("strict"))
        if not filtered:
            refused["seccomp"] = f"no table of system calls for {os.uname().machine}"
        groups = self._try_groups(refused)
        order: tuple[Backend, ...] = ("bubblewrap", "namespaces", "landlock")
        for backend in order:
            if self._wanted in {None, backend}:
                reason = self._try(backend)
                if not reason:
                    return Isolation(backend, True, True, True, refused, filtered, groups)  # noqa: FBT003
                refused[backend] = reason
        return Isolation(
            "processes", network=False, files=False, processes=False, refused=refused,
            filter=filtered, groups=groups,
        )  # fmt: skip

    def _try_groups(self, refused: dict[str, str]) -> str:
        """Find control groups, make one to see, and say why there is none."""
        found = control_groups.find()
        if found.folders:
            self._groups = found
            reason = self._try("processes")
            if not reason:
                return found.name
            self._groups = ControlGroups()
            refused["cgroups"] = reason
        else:
            refused["cgroups"] = found.reason
        return ""

    def _try(self, backend: Backend) -> str:
        """Return why a backend does not work here; empty when it does."""
        if backend == "bubblewrap" and shutil.which("bwrap") is None:
            return "bwrap is not installed"
        if sys.platform != "linux":
            return "needs Linux"
        if backend == "landlock":
            bounded = "pids" in self._groups.folders or self._inner or os.geteuid() != 0
            if not bounded:
                return "needs a control group, to bound how many processes root starts"
            if reason := landlock_lacks():
                return reason
        env = clean_environment()
        place = Place(("/bin/true",), "/", env, (), (), Limits(10), gpu=False, privileges=False)
        null = os.open(os.devnull, os.O_RDWR)
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        try:
            control = self._send(request(place, backend, self._groups), (null, out_end, err_end))
        finally:
            for fd in (null, out_end, err_end):
                os.close(fd)
        with control:
            try:
                ended = collect(control, out, err, place.limits, time.monotonic())
            except Fault as fault:
                return fault.message
        return "" if ended.code == 0 else ended.stderr.decode(errors="replace").strip()[:300]


def clean_environment() -> dict[str, str]:
    """Return the few variables of this process that a command may see."""
    kept = {k: v for k in _PASSED_ON if (v := os.environ.get(k))}  # noqa: TID251 - allow-list
    default = {"PATH": "/usr/local/cuda/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    return default | kept | {"HOME": "/tmp", "TMPDIR": "/tmp"}  # noqa: S108 - its own /tmp


def interpreter_paths() -> tuple[Path, ...]:
    """Return what a Python of ours must be able to read: its prefix and our modules' places."""
    exe = Path(sys.executable)
    found = {Path(sys.prefix), Path(sys.base_prefix), exe.parent, exe.resolve().parent.parent}
    found |= {Path(entry) for entry in sys.path if entry.startswith("/")}
    return tuple(sorted(path for path in found if path.exists() and str(path) != "/"))
