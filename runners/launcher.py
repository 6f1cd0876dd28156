"""A small process that starts commands in namespaces of their own, for `runners.sandbox`.

Started as `python -I -S launcher.py FD`; single-threaded, so that it may fork, and without our
other modules, so that a fork costs under a millisecond. For each command it forks a keeper, which
enters the namespaces and forks their first process, which mounts a file system and starts the
command. Whoever closes the control socket of a command, if only by dying, ends the keeper and
with it the first process, and the kernel then ends every process of that namespace.

Linux only; stdlib only. Manual pages: namespaces(7), pivot_root(2), mount_setattr(2), prctl(2).
"""
# No pathlib: it would double the size of the image that is forked for each command.
# ruff: noqa: PTH102, PTH103, PTH110, PTH112, PTH114, PTH115, PTH120, PTH123, PTH211

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from typing import Any, NoReturn

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 32, 4096, 16384, 1 << 19
MNT_DETACH = 2
AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = -100, 0x8000, 1
SYS_MOUNT_SETATTR = 442
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
MAX_MESSAGE = 180_000
_libc = ctypes.CDLL(None, use_errno=True)


def serve(requests: socket.socket) -> None:
    """Fork a keeper for each request until the other side is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers report over their own socket
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to act upon
    while True:
        message, fds, _, _ = socket.recv_fds(requests, MAX_MESSAGE, 4)
        if not message:
            return
        if os.fork() == 0:
            requests.close()
            _keep(json.loads(message), fds)
        for fd in fds:
            os.close(fd)


def _keep(spec: dict[str, Any], fds: list[int]) -> NoReturn:
    """Run one command to its end, or until the control socket closes; report; exit."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    control = socket.socket(fileno=fds[3])
    try:
        if spec["namespaces"]:
            _enter(spec)
        else:
            _prctl(PR_SET_CHILD_SUBREAPER, 1)
        news, told = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(news)
            control.close()
            _first(spec, fds[:3], told)
        os.close(told)
        for fd in fds[:3]:
            os.close(fd)
        report = _watch(child, news, control, namespaces=spec["namespaces"])
    except OSError as error:
        report = {"error": f"{error.filename or ''} {error.strerror}".strip()}
    with contextlib.suppress(OSError):
        control.sendall(json.dumps(report).encode())
    os._exit(0)


def _watch(child: int, news: int, control: socket.socket, *, namespaces: bool) -> dict[str, Any]:
    told = b""
    while True:
        ready, _, _ = select.select([news, control.fileno()], [], [])
        if control.fileno() in ready:  # closed, or asked to end
            break
        part = os.read(news, 4096)
        if not part:
            break
        told += part
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not namespaces:
        _end_orphans(child)
    first, ended, _ = told.partition(b"\n")
    report = json.loads(first) if ended else {"killed": True}
    report["peak_kib"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return dict(report)


def _end_orphans(first: int) -> None:
    """Without a pid namespace: kill whatever is handed to us as the subreaper, until none is."""
    for _ in range(1000):
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            orphans = [int(pid) for pid in file.read().split() if int(pid) != first]
        if not orphans:
            return
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _enter(spec: dict[str, Any]) -> None:
    uid, gid = os.geteuid(), os.getegid()
    flags = NEWNS | NEWPID | NEWIPC | NEWUTS | NEWNET
    if spec["user"]:
        flags |= NEWUSER
    _call(_libc.unshare(flags), "unshare")
    if spec["user"]:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")


def _first(spec: dict[str, Any], fds: list[int], told: int) -> NoReturn:
    """Be the first process of the namespaces: mount, start the command, reap until it ends."""
    try:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if spec["namespaces"]:
            _prctl(PR_SET_DUMPABLE, 0)
            with contextlib.suppress(OSError):
                _loopback()
            _mount_all(spec)
        command = os.fork()
        if command == 0:
            os.setsid()
            _execute(spec, fds, told)
        for fd in fds:
            os.close(fd)
        while True:
            pid, status = os.wait()
            if pid == command:
                break
        code = os.waitstatus_to_exitcode(status)
        os.write(told, json.dumps({"code": code}).encode() + b"\n")
    except OSError as error:
        _tell(told, error)
    os._exit(0)


def _execute(spec: dict[str, Any], fds: list[int], told: int) -> NoReturn:
    try:
        for name, value in spec["rlimits"].items():
            _limit(getattr(resource, name), value)
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        _prctl(PR_SET_NO_NEW_PRIVS, 1)
        if spec["user"]:
            for capability in range(64):
                if _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
                    break
        os.chdir(spec["cwd"])
        for target, fd in enumerate(fds):
            os.dup2(fd, target + 100)
        for target in range(3):
            os.dup2(target + 100, target)
        os.closerange(3, told)
        os.closerange(told + 1, 1024)
        fcntl.fcntl(told, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.execve(spec["argv"][0], spec["argv"], spec["env"])  # noqa: S606 - no shell is wanted
    except OSError as error:
        _tell(told, error)
    os._exit(127)


def _mount_all(spec: dict[str, Any]) -> None:
    """Build a root of its own: the bound paths, fresh /tmp, /proc and /dev, nothing else."""
    _mount(None, "/", None, MS_REC | MS_SLAVE)
    _mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID, "mode=755,size=1m")  # noqa: S108
    os.chdir("/tmp")  # noqa: S108
    os.mkdir("old")
    os.mkdir("new")
    _call(_libc.syscall(SYS_PIVOT_ROOT[os.uname().machine], b".", b"old"), "pivot_root")
    os.chdir("/")
    _mount("tmpfs", "/new", "tmpfs", MS_NOSUID, "mode=755,size=1m")
    for name in ("tmp", "proc", "dev", "home", "root", "var"):
        os.mkdir(f"/new/{name}")
    _mount("tmpfs", "/new/tmp", "tmpfs", MS_NOSUID, f"mode=1777,size={spec['tmp_bytes']}")
    for link in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if os.path.islink(f"/old/{link}"):
            os.symlink(os.readlink(f"/old/{link}"), f"/new/{link}")
    _mount("proc", "/new/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _devices(spec["devices"])
    for source, target, writable in sorted(spec["binds"], key=lambda bind: bind[1].count("/")):
        _bind(f"/old{source}", f"/new{target}", writable=writable)
    _mount("", "/new", None, MS_REMOUNT | MS_RDONLY | MS_NOSUID, "mode=755,size=1m")
    os.chdir("/new")
    _call(_libc.syscall(SYS_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    _call(_libc.umount2(b".", MNT_DETACH), "umount2")
    os.chdir("/")


def _devices(extra: list[str]) -> None:
    _mount("tmpfs", "/new/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=1g")
    os.mkdir("/new/dev/shm", 0o1777)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"/new/dev/{name}")
    for path in [*(f"/dev/{name}" for name in DEVICES), *extra]:
        if os.path.exists(f"/old{path}"):
            _point(f"/new{path}", directory=os.path.isdir(f"/old{path}"))
            _mount(f"/old{path}", f"/new{path}", None, MS_BIND | MS_REC)


def _bind(source: str, target: str, *, writable: bool) -> None:
    if not os.path.lexists(source):
        shown = source.removeprefix("/old")
        raise FileNotFoundError(2, "no such path to show to the command", shown)
    _point(target, directory=os.path.isdir(source))
    _mount(source, target, None, MS_BIND | MS_REC)
    if not writable:
        _read_only(target)


def _read_only(target: str) -> None:
    attributes = struct.pack("QQQQ", MOUNT_ATTR_RDONLY | MS_NOSUID, 0, 0, 0)
    if not _libc.syscall(
        SYS_MOUNT_SETATTR, AT_FDCWD, target.encode(), AT_RECURSIVE, attributes, len(attributes)
    ):
        return
    kept = os.statvfs(target).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)  # before Linux 5.12
    _mount("", target, None, MS_REMOUNT | MS_BIND | MS_RDONLY | kept)


def _point(target: str, *, directory: bool) -> None:
    """Make sure there is something to mount on."""
    if os.path.exists(target):
        return
    os.makedirs(target if directory else os.path.dirname(target), exist_ok=True)
    if not directory:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))


def _loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, name))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (most, most))


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind, data)]
    _call(
        _libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]),
        f"mount {target.removeprefix('/new')}",
    )


def _prctl(option: int, value: int) -> None:
    _libc.prctl(option, value, 0, 0, 0)


def _call(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _tell(told: int, error: OSError) -> None:
    message = f"{error.filename or ''} {error.strerror}".strip()
    os.write(told, json.dumps({"error": message}).encode() + b"\n")
    os._exit(127)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
