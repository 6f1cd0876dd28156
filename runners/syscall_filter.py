"""Which system calls a sandboxed command may make: a seccomp filter as classic BPF.

A list of what is refused, not of what is allowed: CUDA, nvcc and Python use several hundred calls,
and which ones changes with every driver. Refused is what no compiler, kernel or program of a
project needs and what kernels were most often attacked through: loading code into the kernel,
mounting, entering or making namespaces, keys, io_uring, BPF, userfaultfd, looking into other
processes, sockets of families that network namespaces do not separate (vsock reaches a virtual
machine's host).

The list is closed at its end: a call that is newer than those looked at here answers ENOSYS, as on
the kernel before it, so that libraries fall back. Of the newer ones up to there, one by one:
424 signals to pidfds (as kill), 434 pidfd_open, 436 close_range, 437 openat2 (its mode lies in
memory: refused), 439 faccessat2, 440 process_madvise, 441 epoll_pwait2, 444-446 Landlock (one's own
rights, and fewer), 447 memfd_secret (memory that nothing here counts: refused), 448
process_mrelease, 449 and 454-456 futexes, 450 and 453 one's own memory, 451 cachestat, 452
fchmodat2, 457 and 458 mounts of other namespaces (refused), 459-461 security modules (460 sets:
refused), 462 mseal, 463-466 extended attributes by folder, 467 open_tree_attr (a copy of a mount
that need not be read-only any more: refused), 468 and 469 a file's flags (469 sets: refused).

Stdlib only. Layouts: seccomp(2), include/uapi/linux/{filter,seccomp,audit}.h; numbers:
arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux 6.18.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterable
from typing import Literal

Profile = Literal["strict", "tool", "root tool", "worker"]

_LOAD, _AND, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_ANY_BIT = 0x20, 0x54, 0x15, 0x35, 0x45
_RETURN = 0x06
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets into struct seccomp_data
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
NAMESPACE_FLAGS = (
    0x80 | 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
)
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
_SOCK_DGRAM, _SOCK_SEQPACKET, _SOCK_TYPE = 2, 5, 0xF

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# The newest call looked at here (file_setattr), and numbers below it that no kernel uses yet.
NEWEST = 469
_UNUSED = {"x86_64": (337, 423), "aarch64": (295, 423)}
_SPECIAL = {
    "x86_64": {
        "clone": 56, "socket": 41, "socketpair": 53, "ioctl": 16, "madvise": 28,
        "perf_event_open": 298,
    },
    "aarch64": {
        "clone": 220, "socket": 198, "socketpair": 199, "ioctl": 29, "madvise": 233,
        "perf_event_open": 241,
    },
}  # fmt: skip
_CLONE3 = 435
# What makes or changes namespaces and mounts: the worker does, to isolate what it starts.
_NESTING = {
    "x86_64": {"mount": 165, "umount2": 166, "pivot_root": 155, "unshare": 272},
    "aarch64": {"mount": 40, "umount2": 39, "pivot_root": 41, "unshare": 97},
}
_MOUNT_SETATTR = 442
# What profilers and sanitizers do to the processes they started.
_TOOLING = {
    "x86_64": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311,
        "perf_event_open": 298, "kcmp": 312,
    },
    "aarch64": {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271,
        "perf_event_open": 241, "kcmp": 272,
    },
}  # fmt: skip
_NEVER = {
    "x86_64": {
        "syslog": 103, "uselib": 134, "personality": 135, "vhangup": 153, "modify_ldt": 154,
        "adjtimex": 159, "chroot": 161, "acct": 163, "settimeofday": 164, "swapon": 167,
        "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172,
        "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179,
        "nfsservctl": 180, "lookup_dcookie": 212, "clock_settime": 227, "kexec_load": 246,
        "add_key": 248, "request_key": 249, "keyctl": 250, "vmsplice": 278,
        "fanotify_init": 300, "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308,
        "finit_module": 313, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
    },
    "aarch64": {
        "lookup_dcookie": 18, "nfsservctl": 42, "chroot": 51, "vhangup": 58, "quotactl": 60,
        "vmsplice": 75, "acct": 89, "personality": 92, "kexec_load": 104, "init_module": 105,
        "delete_module": 106, "clock_settime": 112, "syslog": 116, "reboot": 142,
        "sethostname": 161, "setdomainname": 162, "settimeofday": 170, "adjtimex": 171,
        "add_key": 217, "request_key": 218, "keyctl": 219, "swapon": 224, "swapoff": 225,
        "fanotify_init": 262, "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268,
        "finit_module": 273, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
    },
}  # fmt: skip
# The same numbers on both: io_uring, the new mount interface, pidfd_getfd, quotactl_fd.
_NEVER_ANYWHERE = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 443)
# Too new for anything to count on them: openat2, memfd_secret, statmount, listmount,
# lsm_set_self_attr, open_tree_attr, file_setattr.
_NEVER_YET = (437, 447, 457, 458, 460, 467, 469)

# Where a mode lies among a call's arguments: a file of the owner's that is set-user-id would run a
# stranger's code as them.
_MODES = {
    "x86_64": {90: 1, 91: 1, 268: 2, 85: 1, 133: 1, 259: 2, 452: 2},
    "aarch64": {52: 1, 53: 2, 33: 2, 452: 2},
}  # chmod, fchmod, fchmodat, creat, mknod, mknodat, fchmodat2
_OPENS = {"x86_64": {2: 1, 257: 2}, "aarch64": {56: 2}}  # where the flags lie; the mode is next
_CREATES, _SET_ID = 0o100 | 0o20000000, 0o6000  # O_CREAT, __O_TMPFILE; S_ISUID, S_ISGID

_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # type into somebody's terminal
_TIOCCONS, _TIOCSETD = 0x541D, 0x5423  # take the console's output; load a line discipline
# The second byte of an ioctl names its family: those of file systems (X, f, v, r, n, btrfs, ceph,
# bcachefs, cifs, f2fs, autofs), block and loop devices, the console's keyboard and screen, the pool
# of randomness, namespaces. CAP_SYS_ADMIN freezes, shuts down or searches a whole file system
# through any file of it, and an owner sets flags through a descriptor that only reads.
# The GPU's own are 0 and F, and d and m for displays.
_FILE_SYSTEM_IOCTLS = (
    0x58, 0x66, 0x76, 0x72, 0x6E, 0x94, 0x97, 0xBC, 0xCF, 0xF5, 0x93,
    0x12, 0x4C, 0x4B, 0x56, 0x52, 0xB7,
)  # fmt: skip
_MADV_HWPOISON, _MADV_SOFT_OFFLINE = 100, 101  # take a page of the machine's memory away
_PROCESS_MADVISE = 440
_PERF_FLAG_PID_CGROUP = 4
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}

# Without namespaces, what reaches other processes and files of the same user. All of System V's
# and POSIX' messages, semaphores and memory: what exists is found by its number.
_SHARED = {
    "x86_64": (29, 30, 31, 67, 64, 65, 66, 220, 68, 69, 70, 71, 240, 241),
    "aarch64": (*range(186, 198), 180, 181),
}
# Calls that name a process, and where; 0 is the caller. prlimit64, sched_setparam,
# sched_setscheduler, sched_setaffinity, sched_setattr, setpriority (of a process: 0).
_DIRECTED = {
    "x86_64": {302: (0,), 142: (0,), 144: (0,), 203: (0,), 314: (0,), 141: (0, 1)},
    "aarch64": {261: (0,), 118: (0,), 119: (0,), 122: (0,), 274: (0,), 140: (0, 1)},
}
# Landlock does not ask about these: modes, owners and times of a file, by path or through a
# descriptor that only reads. chmod, fchmod, fchmodat, fchmodat2; chown, fchown, lchown, fchownat;
# utime, utimes, futimesat, utimensat.
_METADATA = {
    "x86_64": (90, 91, 268, 452, 92, 93, 94, 260, 132, 235, 261, 280),
    "aarch64": (52, 53, 452, 54, 55, 88),
}
# Extended attributes, answered as by a file system without them.
_ATTRIBUTES = {
    "x86_64": (*range(188, 200), *range(463, 467)),
    "aarch64": (*range(5, 17), *range(463, 467)),
}
# connect; inotify_add_watch, which tells names in folders that may not be listed.
_OUTWARD = {"x86_64": (42, 254), "aarch64": (203, 27)}


def _step(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)


def _argument(index: int) -> bytes:
    """Load the lower half of an argument, all that the kernel looks at of those judged here."""
    return _step(_LOAD, _ARGUMENTS + 8 * index)


def _for_call(number: int, judged: Iterable[bytes]) -> list[bytes]:
    """Return steps that decide one call; what they do not refuse is allowed."""
    steps = [*judged, _step(_RETURN, _ALLOW)]
    return [_step(_JUMP_EQUAL, number, 0, len(steps)), *steps]


def _refused_values(values: Iterable[int], number: int = errno.EPERM) -> list[bytes]:
    steps = []
    for value in values:
        steps += [_step(_JUMP_EQUAL, value, 0, 1), _refuse(number)]
    return steps


def _refused_bits(bits: int, number: int = errno.EPERM) -> list[bytes]:
    return [_step(_JUMP_ANY_BIT, bits, 0, 1), _refuse(number)]


def program(profile: Profile, *, network: bool = True, machine: str | None = None) -> bytes:
    """Return the filter, an array of `struct sock_filter`; empty for an unknown machine.

    `network` False is for where no namespace separates a command from the machine, Landlock or
    not: sockets but pairs, System V's memory and messages, and what changes other processes or
    what a file is (but its contents) are refused, too. The worker, which holds no code of a
    stranger's, may change modes and times there.
    """
    machine = machine or os.uname().machine
    if machine not in _AUDIT:
        return b""
    first, last = _UNUSED[machine]
    code = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, _AUDIT[machine], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_ABOVE, NEWEST + 1, 0, 1),  # the numbers of x32, too
        _refuse(errno.ENOSYS),
        _step(_JUMP_ABOVE, last + 1, 2, 0),
        _step(_JUMP_ABOVE, first, 0, 1),
        _refuse(errno.ENOSYS),
    ]
    refused = _refused(profile, machine, network=network)
    judged = _judged(profile, machine, network=network, narrow=profile == "strict")
    for number, steps in judged.items():
        if number not in refused:
            code += _for_call(number, steps)
    for number, answer in sorted(refused.items()):
        code += [_step(_JUMP_EQUAL, number, 0, 1), _refuse(answer)]
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def _refused(profile: Profile, machine: str, *, network: bool) -> dict[int, int]:
    """Return the calls refused whatever their arguments, each with its answer."""
    denied = [*_NEVER[machine].values(), *_NEVER_ANYWHERE]
    answers = dict.fromkeys(_NEVER_YET, errno.ENOSYS)
    if profile == "strict":
        denied += _TOOLING[machine].values()
    if profile != "worker":
        denied += [*_NESTING[machine].values(), _MOUNT_SETATTR]
        # glibc falls back to clone, whose flags can be looked at.
        answers[_CLONE3] = errno.ENOSYS
    if profile == "root tool" or not network:
        denied.append(_IOPRIO_SET[machine])
        answers[_PROCESS_MADVISE] = errno.ENOSYS
    if not network:
        denied += [*_SHARED[machine], *_OUTWARD[machine]]
        answers |= dict.fromkeys(_ATTRIBUTES[machine], errno.EOPNOTSUPP)
        if profile != "worker":
            denied += _METADATA[machine]
    return answers | dict.fromkeys(denied, errno.EPERM)


def _judged(
    profile: Profile, machine: str, *, network: bool, narrow: bool
) -> dict[int, list[bytes]]:
    """Return the calls that are decided by their arguments, each with the steps that do it."""
    special = _SPECIAL[machine]
    found: dict[int, list[bytes]] = {}
    for number, flags in _OPENS[machine].items():
        # Without O_CREAT nobody looks at the mode, and anything may lie there.
        looked = [_argument(flags + 1), *_refused_bits(_SET_ID)]
        created = [_step(_JUMP_ANY_BIT, _CREATES, 0, len(looked)), *looked]
        found[number] = [_argument(flags), *created]
    found[special["ioctl"]] = [
        _argument(1),
        *_refused_values((_TIOCSTI, _TIOCLINUX, _TIOCCONS, _TIOCSETD)),
    ]
    if profile == "root tool" or not network:
        families = (family << 8 for family in _FILE_SYSTEM_IOCTLS)
        found[special["ioctl"]] += [_step(_AND, 0xFF00), *_refused_values(families, errno.ENOTTY)]
    found[special["madvise"]] = [
        _argument(2),
        *_refused_values((_MADV_HWPOISON, _MADV_SOFT_OFFLINE)),
    ]
    if profile != "worker":
        found[special["clone"]] = [_argument(0), *_refused_bits(NAMESPACE_FLAGS)]
    found[special["socket"]] = _sockets(network=network, narrow=narrow)
    # Of any other family a pair has no use. Through a pair of datagram sockets one sends to
    # whatever path one names; the other kinds stay with each other.
    kinds: list[bytes] = []
    if narrow or not network:
        kinds = [_argument(1), _step(_AND, _SOCK_TYPE), *_refused_values((_SOCK_DGRAM,))]
    found[special["socketpair"]] = [
        _argument(0), _step(_JUMP_EQUAL, AF_UNIX, 1, 0), _refuse(errno.EAFNOSUPPORT), *kinds,
    ]  # fmt: skip
    for number, index in _MODES[machine].items():
        found[number] = [_argument(index), *_refused_bits(_SET_ID)]
    # Of every process on a processor, or of a control group: more than a tool's own. Without a
    # namespace CAP_PERFMON watches any process that has a number, and reads its stack.
    watched = [] if network else [_step(_JUMP_EQUAL, 0, 1, 0), _refuse(errno.EPERM)]
    found[special["perf_event_open"]] = [
        _argument(1), *_refused_values((0xFFFFFFFF,)), *watched,
        _argument(4), *_refused_bits(_PERF_FLAG_PID_CGROUP),
    ]  # fmt: skip
    if not network:
        for number, places in _DIRECTED[machine].items():
            found[number] = []
            for index in places:
                found[number] += [
                    _argument(index), _step(_JUMP_EQUAL, 0, 1, 0), _refuse(errno.EPERM),
                ]  # fmt: skip
    return found


def _sockets(*, network: bool, narrow: bool) -> list[bytes]:
    """Return what decides about a socket by its family and kind.

    A network namespace does not hide a socket that lies in a folder. What listens on a machine is
    hardly ever a SOCK_SEQPACKET, the one Unix socket that is left where that is `narrow`. The CUDA
    driver makes one of these, does not start without, and needs no other (seen with driver 580 on
    an H200, with managed and page-locked memory); tools talk to what they started through any.
    """
    if not network:
        return [_refuse(errno.EAFNOSUPPORT)]
    steps = [_argument(0)]
    for family in (AF_INET, AF_INET6, AF_NETLINK):
        steps += [_step(_JUMP_EQUAL, family, 0, 1), _step(_RETURN, _ALLOW)]
    steps += [_step(_JUMP_EQUAL, AF_UNIX, 1, 0), _refuse(errno.EAFNOSUPPORT)]
    if narrow:
        steps += [_argument(1), _step(_AND, _SOCK_TYPE)]
        steps += [_step(_JUMP_EQUAL, _SOCK_SEQPACKET, 1, 0), _refuse(errno.EAFNOSUPPORT)]
    return steps
