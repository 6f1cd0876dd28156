"""What the launcher is asked for: one command's file system, limits, filter and environment.

Stdlib only, as `runners.sandbox`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runners import gpu_nodes, syscall_filter
from runners.control_groups import ControlGroups
from runners.launcher import FILTER_FD, HIDDEN, HIDDEN_FILES, KEPT_FROM_WRITING
from runners.syscall_filter import Profile

Backend = Literal["bubblewrap", "namespaces", "landlock", "processes"]

_SHOWN = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/sys",
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/group", "/etc/passwd", "/etc/nsswitch.conf", "/etc/localtime",
)  # fmt: skip
_SHOWN_WITH_GPU = ("/run/nvidia-persistenced", "/etc/nvidia")
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
    `more`, if there is one, is asked once when `seconds` are over, how many more there are.
    """

    seconds: float = 60.0
    output_bytes: int = 1 << 20
    memory_bytes: int = 16 << 30
    resident_bytes: int = 32 << 30
    file_bytes: int = 4 << 30
    disk_bytes: int = 16 << 30
    tmp_bytes: int = 4 << 30
    processes: int = 512
    more: Callable[[], float] | None = None


@dataclass(frozen=True, slots=True)
class Place:
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


def landlock_lacks() -> str:
    """Return what this kernel's Landlock cannot keep apart; empty when it can."""
    version = ctypes.CDLL(None).syscall(_SYS_LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return "the kernel has no Landlock"
    if not syscall_filter.program("strict", network=False):
        return "needs seccomp, to refuse sockets"
    if version < _LANDLOCK_SCOPES:
        return f"Landlock {version} does not keep signals apart (Linux 6.12 does)"
    return ""


def request(place: Place, backend: Backend, groups: ControlGroups) -> dict[str, object]:
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
        # Nothing of it is for bubblewrap itself: a library preloaded there would say at its end, in
        # the command's place, that the command did nothing.
        argv, environment = _bubblewrap(place, binds, devices), {}
    if backend in {"landlock", "processes"}:
        # Without isolation it is ours, which is not /tmp where Landlock holds this process itself.
        tmp = own_tmp if backend == "landlock" else tempfile.gettempdir()
        environment = {k: _moved(v, tmp) for k, v in environment.items()}
    asked = groups.ask(min(limits.resident_bytes, _most_memory()), limits.processes)
    watch: dict[str, object] = {}
    if backend != "processes" or limits != Limits():
        watch = {"disk_bytes": limits.disk_bytes, "folders": list(place.writable)}
        if "memory" not in groups.folders:
            watch["memory_bytes"] = limits.resident_bytes
        if "pids" not in groups.folders:
            watch["processes"] = limits.processes
    network = backend != "landlock"
    code = b""
    if backend != "processes":
        code = syscall_filter.program(place.profile, network=network)
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


def _moved(value: str, tmp: str) -> str:
    """Return a variable's value with /tmp, which is shared here, replaced by another folder."""
    return tmp if value == "/tmp" else value  # noqa: S108 - it is the name we gave ourselves


def _most_memory() -> int:
    """Return nine tenths of this machine's memory: the rest keeps us alive."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 9 // 10


def _driver_folders(place: Place) -> tuple[str, ...]:
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
    place: Place, binds: list[tuple[str, str, bool]], devices: Iterable[str]
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
    for name, value in place.environment.items():
        argv += ["--setenv", name, value]
    return [*argv, "--remount-ro", "/", "--chdir", place.cwd, "--", *place.argv]
