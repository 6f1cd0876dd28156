"""A small process that starts commands in namespaces of their own, for `runners.sandbox`.

Started as `python -I -S launcher.py FD`; single-threaded, so that it may fork, and with none of our
modules but three small ones, so that a fork costs under a millisecond. For each command it forks a
keeper, which enters the namespaces and forks their first process, which joins control groups,
mounts a file system and starts the command; that restricts itself (rlimits, capabilities, Landlock,
seccomp) and executes. Whoever closes the control socket of a command, if only by dying, ends the
keeper and with it the first process, and the kernel then ends every process of that namespace. The
keeper watches what no control group counts here (`runners.keeper_look`).

Linux only; stdlib only. Manual pages: namespaces(7), pivot_root(2), mount_setattr(2), prctl(2),
cgroups(7), landlock(7), seccomp(2).
"""
# No pathlib: it would double the size of the image that is forked for each command.
# ruff: noqa: PTH100, PTH102, PTH103, PTH110, PTH112, PTH114, PTH115, PTH120, PTH123, PTH211

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

if not __package__:  # started by itself: what is ours comes behind the standard library
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from runners.keeper_files import open_folder, remove_tree
from runners.keeper_groups import Groups
from runners.keeper_look import Look

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
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
MAX_MESSAGE = 180_000
FILTER_FD = 3  # where bubblewrap finds the filter
# Whom the kernel is to end where memory is short: the command before the worker, both before us.
FIRST_TO_GO, SECOND_TO_GO = 1000, 500
# Of /proc and /sys, what tells about the host or lets root change it.
HIDDEN = ("/sys/fs/cgroup", "/sys/fs/bpf", "/sys/firmware", "/sys/kernel/debug",
          "/sys/kernel/tracing", "/sys/kernel/security")  # fmt: skip
HIDDEN_FILES = ("/proc/kcore", "/proc/sysrq-trigger", "/proc/timer_list", "/proc/kallsyms",
                "/proc/keys", "/proc/kmsg", "/proc/vmcore", "/proc/iomem", "/proc/slabinfo",
                "/proc/vmallocinfo", "/proc/pagetypeinfo", "/proc/kpageflags", "/proc/kpagecount",
                "/proc/kpagecgroup")  # fmt: skip
KEPT_FROM_WRITING = ("/proc/sys", "/proc/bus", "/proc/fs", "/proc/irq")
SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 444, 445, 446
# Landlock's rights: execute 0, write_file 1, read_file 2, read_dir 3, ... refer 13, truncate 14,
# ioctl_dev 15 (include/uapi/linux/landlock.h).
READ_RIGHTS, DEVICE_RIGHTS, ALL_RIGHTS = 0b1101, (1 << 1) | (1 << 2) | (1 << 15), (1 << 16) - 1
FILE_RIGHTS = 0b111 | 1 << 14 | 1 << 15  # those that mean something for a file
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
    groups = Groups(spec["groups"])
    own_tmp = ""
    # Of the pids that this process knows its descendants by; it will see another /proc soon.
    proc = open_folder("/proc", None)
    try:
        groups.make()
        if spec["landlock"]:
            own_tmp = spec["tmp"]
            os.mkdir(own_tmp, 0o700)
        look = Look(proc, spec) if spec["watch"] else None
        if spec["namespaces"]:
            _enter(spec)
        else:
            _prctl(PR_SET_CHILD_SUBREAPER, 1)
        news, told = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(news)
            control.close()
            _first(spec, fds[:3], told, groups)
        os.close(told)
        for fd in fds[:3]:
            os.close(fd)
        report = _watch(child, news, control, look, spec)
        report["limit"] = report.get("limit") or groups.exceeded()
    except OSError as error:
        report = {"error": f"{error.filename or ''} {error.strerror}".strip()}
    groups.remove()
    if own_tmp:
        remove_tree(own_tmp)
    with contextlib.suppress(OSError):
        control.sendall(json.dumps(report).encode())
    os._exit(0)


def _watch(
    child: int, news: int, control: socket.socket, look: Look | None, spec: dict[str, Any]
) -> dict[str, Any]:
    told, limit, group = b"", "", 0
    if look is not None:
        look.begin(child)
    while True:
        ready, _, _ = select.select(
            [news, control.fileno()], [], [], look.seconds if look else None
        )
        if control.fileno() in ready:  # closed, or asked to end
            break
        if news in ready:
            part = os.read(news, 4096)
            if not part:
                break
            told += part
            for line in told.split(b"\n")[:-1]:
                group = json.loads(line).get("group", group)
        elif look is not None:
            limit = look.exceeded()
            if limit:
                break
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not spec["namespaces"]:
        _end_orphans(child, group)
    lines = [json.loads(line) for line in told.split(b"\n")[:-1]]
    report: dict[str, Any] = next((x for x in lines if "group" not in x), {"killed": True})
    report["peak_kib"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    if limit:
        report["limit"] = limit
    return dict(report)


def _end_orphans(first: int, group: int) -> None:
    """Without a pid namespace: kill the command's group, then whatever is handed to us.

    A group is killed in one go, so that it cannot fork ahead of it; what left it with setsid
    becomes ours as the subreaper's, one generation after the other. Where something could fork
    faster than that, a control group bounds how much of it there is.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if group > 1:
            os.killpg(group, signal.SIGKILL)
    for _ in range(10_000):
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            orphans = [int(pid) for pid in file.read().split() if int(pid) != first]
        if not orphans:
            return
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
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
        # Root is an ordinary user inside, so that a sandbox within this one can map it again.
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid or spec['inner']} {uid} 1")
        _write("/proc/self/gid_map", f"{gid or spec['inner']} {gid} 1")


def _first(spec: dict[str, Any], fds: list[int], told: int, groups: Groups) -> NoReturn:
    """Be the first process of the namespaces: mount, start the command, reap until it ends."""
    try:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        groups.enter()
        if spec["namespaces"]:
            _prctl(PR_SET_DUMPABLE, 0)
            with contextlib.suppress(OSError):
                _loopback()
            _mount_all(spec)
        command = os.fork()
        if command == 0:
            os.setsid()
            _execute(spec, fds, told)
        if not spec["namespaces"]:
            os.write(told, json.dumps({"group": command}).encode() + b"\n")
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
        if spec["namespaces"] or spec["landlock"]:
            for capability in range(64):
                if capability in spec["capabilities"]:
                    continue
                if _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
                    break
        os.chdir(spec["cwd"])
        for target, fd in enumerate(fds):
            os.dup2(fd, target + 100)
        for target in range(3):
            os.dup2(target + 100, target)
        with contextlib.suppress(OSError):
            _write("/proc/self/oom_score_adj", str(SECOND_TO_GO if spec["nests"] else FIRST_TO_GO))
        told = fcntl.fcntl(told, fcntl.F_DUPFD_CLOEXEC, 200)
        os.closerange(3, told)
        os.closerange(told + 1, 1024)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        if spec["landlock"]:
            _landlock(spec)
        code = bytes.fromhex(spec["filter"])
        if spec["filter_for_bubblewrap"]:
            held = os.memfd_create("filter", 0)
            os.write(held, code)
            os.lseek(held, 0, os.SEEK_SET)
            if held != FILTER_FD:
                os.dup2(held, FILTER_FD)
        elif code:
            _filter(code)
        os.execve(spec["argv"][0], spec["argv"], spec["env"])  # noqa: S606 - no shell is wanted
    except OSError as error:
        _tell(told, error)
    os._exit(127)


def _filter(code: bytes) -> None:
    """Install a seccomp filter; no_new_privs is set already."""
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(held))
    _call(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0), "seccomp")


def _landlock(spec: dict[str, Any]) -> None:
    """Restrict this process to paths, and where the kernel can, to its own sockets and signals."""
    version = _libc.syscall(SYS_LANDLOCK_CREATE, None, 0, 1)
    files = ALL_RIGHTS if version >= 5 else ALL_RIGHTS >> 1
    attributes = struct.pack("QQQ", files, 0b11, 0b11)[
        : 8 if version < 4 else 16 if version < 6 else 24
    ]
    ruleset = _libc.syscall(SYS_LANDLOCK_CREATE, attributes, len(attributes), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "landlock")
    rules = [(source, files if writable else READ_RIGHTS) for source, _, writable in spec["binds"]]
    rules += [("/proc", READ_RIGHTS), (spec["tmp"], files)]
    devices = [*(f"/dev/{name}" for name in DEVICES), *spec["devices"]]
    rules += [(path, DEVICE_RIGHTS & files) for path in devices]
    for path, rights in rules:
        if not os.path.exists(path):
            continue
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed = rights if os.path.isdir(path) else rights & FILE_RIGHTS
        rule = struct.pack("=Qi", allowed & files, fd)
        _call(_libc.syscall(SYS_LANDLOCK_ADD, ruleset, 1, rule, 0), f"landlock {path}")
        os.close(fd)
    _call(_libc.syscall(SYS_LANDLOCK_RESTRICT, ruleset, 0), "landlock")
    os.close(ruleset)


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
    _hide(nests=spec["nests"])
    _mount("", "/new", None, MS_REMOUNT | MS_RDONLY | MS_NOSUID, "mode=755,size=1m")
    os.chdir("/new")
    _call(_libc.syscall(SYS_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    _call(_libc.umount2(b".", MNT_DETACH), "umount2")
    os.chdir("/")


def _hide(*, nests: bool) -> None:
    """Cover what of /proc and /sys tells about the host; let nobody change the host through it.

    Root stays the owner of /proc/sys whatever its name is inside, so capabilities are not what
    keeps it from writing there. A command that nests, our own worker, is trusted not to: where
    parts of /proc are covered, the kernel lets no sandbox inside this one mount its own.
    """
    for path in HIDDEN:
        if os.path.isdir(f"/new{path}"):
            _mount("tmpfs", f"/new{path}", "tmpfs", MS_NOSUID | MS_RDONLY, "mode=755,size=4k")
    if nests:
        return
    for path in HIDDEN_FILES:
        if os.path.exists(f"/new{path}"):
            _mount("/new/dev/null", f"/new{path}", None, MS_BIND)
    for path in KEPT_FROM_WRITING:
        if os.path.exists(f"/new{path}"):
            _mount(f"/new{path}", f"/new{path}", None, MS_BIND | MS_REC)
            _read_only(f"/new{path}")


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
