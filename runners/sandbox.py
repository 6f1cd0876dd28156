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

import collections
import contextlib
import ctypes
import json
import os
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from runners import control_groups, gpu_nodes, syscall_filter
from runners.control_groups import ControlGroups
from runners.fault import Fault
from runners.launcher import FILTER_FD, HIDDEN, HIDDEN_FILES, KEPT_FROM_WRITING
from runners.syscall_filter import Profile

Backend = Literal["bubblewrap", "namespaces", "landlock", "processes"]
Trust = Literal["own", "stranger"]

_LAUNCHER = Path(__file__).with_name("launcher.py")
_SHOWN = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/sys",
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/group", "/etc/passwd", "/etc/nsswitch.conf", "/etc/localtime",
)  # fmt: skip
_SHOWN_WITH_GPU = ("/run/nvidia-persistenced", "/etc/nvidia")
_PASSED_ON = (
    "PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
    "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES",
)  # fmt: skip
_NO_ISOLATION = (
    "install bubblewrap, allow unprivileged user namespaces "
    "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), "
    "use Linux 6.12 or newer with Landlock, or run as root in a container of its own"
)
_CHUNK = 1 << 16
# Root is this user inside, and an ordinary one: the number means nothing outside.
_INNER_USER = 1000
_PROFILER_CAPABILITIES = (21, 38)  # CAP_SYS_ADMIN, CAP_PERFMON
_SYS_LANDLOCK_CREATE, _LANDLOCK_SCOPES = 444, 6


@dataclass(frozen=True, slots=True)
class Limits:
    """What one command may use.

    `memory_bytes` bounds the address space of each process, except with a GPU, for whose memory
    CUDA reserves address space; `resident_bytes` what all of them hold, by control group or by
    looking. `disk_bytes` bounds what lies in the writable folders, `tmp_bytes` its own /tmp.
    """

    seconds: float = 60.0
    output_bytes: int = 1 << 20
    memory_bytes: int = 16 << 30
    resident_bytes: int = 32 << 30
    file_bytes: int = 4 << 30
    disk_bytes: int = 16 << 30
    tmp_bytes: int = 4 << 30
    processes: int = 512


# Of what a worker may use, what the host code within it may: the worker outlives its candidates.
INNER_LIMITS = Limits(resident_bytes=24 << 30, disk_bytes=8 << 30, processes=256)


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. `code` is negative for a signal; output is cut at its limit.

    `limit` names what it had too much of when that was the end of it: `memory`, `processes`,
    `disk`, `files`, `output` or `time`.
    """

    code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False
    cut: bool = False
    peak_bytes: int = 0
    limit: str = ""


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


@dataclass(frozen=True, slots=True)
class _Place:
    """Everything about a command but its streams."""

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    limits: Limits
    gpu: bool
    privileges: bool
    profile: Profile = "strict"


class Child:
    """A command that runs on: binary pipes to and from it, its last words on stderr, its end."""

    def __init__(self, control: socket.socket, stdin: int, stdout: int, stderr: int) -> None:
        self._control = control
        self._report: dict[str, object] | None = None
        self._lock = threading.Lock()
        self._words: collections.deque[bytes] = collections.deque(maxlen=8)
        self.stdin = FileIO(stdin, "w")
        self.stdout = FileIO(stdout, "r")
        self._listener = threading.Thread(target=self._listen, args=(stderr,), daemon=True)
        self._listener.start()

    def last_words(self) -> str:
        """Return the end of what it wrote to stderr; all of it is there once it has ended."""
        if self._report is not None:
            self._listener.join(0.5)
        return b"".join(self._words)[-8000:].decode(errors="replace")

    def wait(self, seconds: float | None = None) -> int | None:
        """Return its exit code (negative for a signal, -9 when killed), None if it runs on."""
        with self._lock:
            if self._report is None:
                self._control.settimeout(seconds)
                try:
                    data = self._control.recv(65536)
                except (TimeoutError, BlockingIOError):
                    return None
                except OSError:
                    data = b""
                self._report = json.loads(data) if data else {"killed": True}
            _raise_setup(self._report)
            return _code(self._report)

    def kill(self) -> None:
        """End it and everything it started, and close the pipes. May be called twice."""
        with contextlib.suppress(OSError):
            self._control.sendall(b"k")
        with contextlib.suppress(Fault):
            self.wait(10)
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        self._control.close()
        self._listener.join(1)

    def _listen(self, stderr: int) -> None:
        with FileIO(stderr, "r") as stream:
            while part := stream.read(_CHUNK):
                self._words.append(part)


def write_all(child: Child, data: bytes) -> None:
    """Write to a child's standard input, however small its pipe is."""
    view = memoryview(data)
    while view:
        view = view[child.stdin.write(view) or 0 :]


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
            return _collect(control, out, err, place.limits, begun)

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
    ) -> _Place:
        env = clean_environment() | dict(environment or {})
        program = shutil.which(str(argv[0]), path=env["PATH"])
        if program is None:
            raise Fault("NoDeviceError", f"there is no program {argv[0]} on this machine")
        return _Place(
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

    def _start(self, place: _Place, streams: tuple[int, int, int]) -> socket.socket:
        isolation = self.describe()
        if self.trust != "own" and not isolation.strong:
            reasons = "; ".join(f"{k}: {v}" for k, v in isolation.refused.items())
            raise Fault(
                "SandboxError", f"nothing isolates untrusted code here ({reasons})", _NO_ISOLATION
            )
        with self._lock:
            backend = isolation.backend
            if place.profile == "worker" and backend == "bubblewrap" and self._nests():
                backend = "namespaces"
            return self._send(_spec(place, backend, self._groups), streams)

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
            if reason := _landlock_lacks():
                return reason
        env = clean_environment()
        place = _Place(("/bin/true",), "/", env, (), (), Limits(10), gpu=False, privileges=False)
        null = os.open(os.devnull, os.O_RDWR)
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        try:
            control = self._send(_spec(place, backend, self._groups), (null, out_end, err_end))
        finally:
            for fd in (null, out_end, err_end):
                os.close(fd)
        with control:
            try:
                ended = _collect(control, out, err, place.limits, time.monotonic())
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


def _landlock_lacks() -> str:
    """Return what this kernel's Landlock cannot keep apart; empty when it can."""
    version = ctypes.CDLL(None).syscall(_SYS_LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return "the kernel has no Landlock"
    if not syscall_filter.program("strict", network=False):
        return "needs seccomp, to refuse sockets"
    if version < _LANDLOCK_SCOPES:
        return f"Landlock {version} does not keep signals apart (Linux 6.12 does)"
    return ""


def _spec(place: _Place, backend: Backend, groups: ControlGroups) -> dict[str, object]:
    """Return what the launcher is asked for."""
    limits = place.limits
    rlimits = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": limits.file_bytes}
    if not place.gpu:  # CUDA reserves address space for the memory of all GPUs
        rlimits["RLIMIT_AS"] = limits.memory_bytes
    # It counts all of a user's processes, so it is of use only where a user namespace counts anew;
    # root is exempt from it.
    if os.geteuid() != 0 and backend in {"bubblewrap", "namespaces"}:
        rlimits["RLIMIT_NPROC"] = limits.processes
    if os.geteuid() != 0 and backend == "landlock" and "pids" not in groups.folders:
        rlimits["RLIMIT_NPROC"] = limits.processes + _own_tasks()
    binds = _binds((*_SHOWN, *place.readable, *_driver_folders(place)), place.writable)
    seen = place.environment.get("CUDA_VISIBLE_DEVICES", "")
    devices = gpu_nodes.nodes(seen) if place.gpu else []
    argv, environment = list(place.argv), dict(place.environment)
    own_tmp = f"{tempfile.gettempdir()}/optiml-tmp-{os.getpid()}-{os.urandom(8).hex()}"
    if backend == "bubblewrap":
        argv = _bubblewrap(place, binds, devices)
    if backend == "landlock":
        environment = {k: _moved(v, own_tmp) for k, v in environment.items()}
    asked = groups.ask(min(limits.resident_bytes, _most_memory()), limits.processes)
    watch: dict[str, object] = {}
    if backend != "processes" or limits != Limits():
        watch = {"disk_bytes": limits.disk_bytes, "folders": list(place.writable)}
        if "memory" not in groups.folders:
            watch["memory_bytes"] = limits.resident_bytes
        if "pids" not in groups.folders:
            watch["processes"] = limits.processes
    network = backend != "landlock"
    code = syscall_filter.program(place.profile, network=network) if backend != "processes" else b""
    return {
        "argv": argv,
        "cwd": "/" if backend == "bubblewrap" else place.cwd,
        "env": environment,
        "namespaces": backend == "namespaces",
        "landlock": backend == "landlock",
        "tmp": own_tmp,
        "user": backend == "namespaces" and not place.privileges,
        "inner": _INNER_USER,
        "nests": place.profile == "worker",
        "capabilities": list(_PROFILER_CAPABILITIES) if place.privileges else [],
        "filter": code.hex(),
        "filter_for_bubblewrap": backend == "bubblewrap" and bool(code),
        "groups": asked,
        "watch": watch,
        "binds": binds,
        "devices": devices,
        "tmp_bytes": limits.tmp_bytes,
        "rlimits": rlimits,
    }


def _own_tasks() -> int:
    """Return how many threads of this user run now: a limit without a namespace counts them too."""
    count, user = 0, os.geteuid()
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if path.stat().st_uid == user:
                count += len(list((path / "task").iterdir()))
    return count


def _moved(value: str, own_tmp: str) -> str:
    """Return a variable's value with /tmp, which is shared here, replaced by the command's own."""
    return own_tmp if value == "/tmp" else value  # noqa: S108 - it is the name we gave ourselves


def _most_memory() -> int:
    """Return nine tenths of this machine's memory: the rest keeps us alive."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 9 // 10


def _driver_folders(place: _Place) -> tuple[str, ...]:
    if not place.gpu:
        return ()
    libraries = place.environment.get("LD_LIBRARY_PATH", "").split(":")
    return (*_SHOWN_WITH_GPU, *(path for path in libraries if path.startswith("/")))


def _binds(readable: Iterable[str], writable: Iterable[str]) -> list[tuple[str, str, bool]]:
    """Return (source, target, writable) with links resolved and what is shown anyway left out.

    A path is shown under its real name, and under its own name too when that is a link outside
    whatever is shown already. Links of the root directory (/bin) are made by the launcher.
    """
    binds: dict[str, tuple[str, bool]] = {}
    for path in readable:
        at = Path(path)
        if not at.exists() or (path.count("/") == 1 and at.is_symlink()):
            continue
        real = os.path.realpath(path)
        for target in (real, os.path.normpath(path)):
            if not any(target == known or target.startswith(f"{known}/") for known in binds):
                binds[target] = (real, False)
    for path in writable:
        real = os.path.realpath(path)
        binds[real] = binds[os.path.normpath(path)] = (real, True)
    return [(source, target, may_write) for target, (source, may_write) in binds.items()]


def _bubblewrap(
    place: _Place, binds: list[tuple[str, str, bool]], devices: Iterable[str]
) -> list[str]:
    argv = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--new-session"]
    argv += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    argv += ["--cap-drop", "ALL"]
    if place.privileges:
        argv += [word for name in ("SYS_ADMIN", "PERFMON") for word in ("--cap-add", f"CAP_{name}")]
    else:
        inner = str(os.geteuid() or _INNER_USER)
        argv += ["--unshare-user", "--uid", inner, "--gid", str(os.getegid() or _INNER_USER)]
    if syscall_filter.program(place.profile):
        argv += ["--seccomp", str(FILTER_FD)]
    argv += ["--proc", "/proc", "--dev", "/dev"]
    argv += ["--size", str(place.limits.tmp_bytes), "--tmpfs", "/tmp"]  # noqa: S108
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        link = Path("/", name)
        if link.is_symlink():
            argv += ["--symlink", str(link.readlink()), str(link)]
    for source, target, writable in sorted(binds, key=lambda bind: bind[1].count("/")):
        argv += ["--bind" if writable else "--ro-bind", source, target]
    for path in devices:
        argv += ["--dev-bind", path, path]
    for path in HIDDEN:
        if Path(path).is_dir():
            argv += ["--tmpfs", path]
    for path in filter(os.path.exists, HIDDEN_FILES):
        argv += ["--ro-bind", "/dev/null", path]
    for path in filter(os.path.exists, KEPT_FROM_WRITING):
        argv += ["--ro-bind", path, path]
    return [*argv, "--remount-ro", "/", "--chdir", place.cwd, "--", *place.argv]


def _collect(control: socket.socket, out: int, err: int, limits: Limits, begun: float) -> Finished:
    """Read both streams until the end, the limit, or a flood; then see how it ended."""
    kept: dict[int, bytearray] = {out: bytearray(), err: bytearray()}
    flood = 64 * limits.output_bytes
    timed_out = cut = killed = False
    limit = ""
    with selectors.DefaultSelector() as selector:
        for fd in kept:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            left = begun + limits.seconds - time.monotonic()
            timed_out = timed_out or (left <= 0 and not killed)
            if (timed_out or flood <= 0) and not killed:
                killed = True
                limit = "time" if timed_out else "output"
                with contextlib.suppress(OSError):
                    control.sendall(b"k")
            for key, _ in selector.select(5.0 if killed else max(left, 0.001)):
                part = os.read(key.fd, _CHUNK)
                if not part:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    continue
                flood -= len(part)
                room = limits.output_bytes - len(kept[key.fd])
                kept[key.fd] += part[:room]
                cut = cut or len(part) > room
    control.settimeout(max(begun + limits.seconds - time.monotonic(), 10.0))
    try:
        report = json.loads(control.recv(65536) or b'{"killed": true}')
    except OSError:
        report = {"killed": True}
    _raise_setup(report)
    done = Finished(_code(report), bytes(kept[out]), bytes(kept[err]), time.monotonic() - begun)
    peak = int(report.get("peak_kib", 0)) << 10
    limit = limit or str(report.get("limit") or "")
    return replace(done, timed_out=timed_out, cut=cut, peak_bytes=peak, limit=limit)


def _raise_setup(report: Mapping[str, object]) -> None:
    if "error" in report:
        raise Fault("RunnerError", f"the sandbox cannot start a command: {report['error']}")


def _code(report: Mapping[str, object]) -> int:
    """Return the exit code; bubblewrap and shells report signal N as 128 + N, we as -N."""
    code = report.get("code", -9)
    if not isinstance(code, int):
        return -9
    return 128 - code if 128 < code < 128 + 65 else code
