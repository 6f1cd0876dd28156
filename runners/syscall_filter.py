"""Which system calls a sandboxed command may make: a seccomp filter as classic BPF.

A list of what is refused, not of what is allowed: CUDA, nvcc and Python use several hundred calls,
and which ones changes with every driver. Refused is what no compiler, kernel or program of a
project needs and what kernels were most often attacked through: loading code into the kernel,
mounting, entering or making namespaces, keys, io_uring, BPF, userfaultfd, looking into other
processes, sockets of families that network namespaces do not separate (vsock reaches a virtual
machine's host).

Stdlib only. Layouts: seccomp(2), include/uapi/linux/{filter,seccomp,audit}.h; numbers:
arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux 6.18.
"""

from __future__ import annotations

import errno
import os
import struct
from typing import Literal

Profile = Literal["strict", "tool", "root tool", "worker"]

_LOAD, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NUMBER, _ARCHITECTURE = 0, 4  # offsets into struct seccomp_data; arguments follow at 16
_X32 = 0x40000000
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
NAMESPACE_FLAGS = (
    0x80 | 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
)
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # type into somebody's terminal
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SPECIAL = {
    "x86_64": {"clone": 56, "socket": 41, "ioctl": 16},
    "aarch64": {"clone": 220, "socket": 198, "ioctl": 29},
}
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
_SHARED = {
    "x86_64": {"shmget": 29, "shmat": 30, "semget": 64, "msgget": 68, "mq_open": 240},
    "aarch64": {"mq_open": 180, "msgget": 186, "semget": 190, "shmget": 194, "shmat": 196},
}
# The same numbers on both: io_uring, the new mount interface, pidfd_getfd, quotactl_fd.
_NEVER_ANYWHERE = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 443)


def _step(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)


def program(profile: Profile, *, network: bool = True, machine: str | None = None) -> bytes:
    """Return the filter, an array of `struct sock_filter`; empty for an unknown machine.

    `network` False refuses all sockets and System V memory, for where no namespace separates
    them: a path to a socket is open to whoever may write to it, Landlock or not.
    """
    machine = machine or os.uname().machine
    if machine not in _AUDIT:
        return b""
    special = _SPECIAL[machine]
    code = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, _AUDIT[machine], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_ABOVE, _X32, 0, 1),
        _refuse(errno.ENOSYS),
    ]
    denied = [*_NEVER[machine].values(), *_NEVER_ANYWHERE]
    if profile == "strict":
        denied += _TOOLING[machine].values()
    if profile != "worker":
        denied += [*_NESTING[machine].values(), _MOUNT_SETATTR]
        # glibc falls back to clone, whose flags can be looked at.
        code += [_step(_JUMP_EQUAL, _CLONE3, 0, 1), _refuse(errno.ENOSYS)]
        code += [
            _step(_JUMP_EQUAL, special["clone"], 0, 4),
            _step(_LOAD, 16),
            _step(_JUMP_ANY_BIT, NAMESPACE_FLAGS, 0, 1),
            _refuse(errno.EPERM),
            _step(_RETURN, _ALLOW),
        ]
    if not network:
        denied += _SHARED[machine].values()
    for number in sorted(denied):
        code += [_step(_JUMP_EQUAL, number, 0, 1), _refuse(errno.EPERM)]
    families = (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK) if network else ()
    code += [_step(_JUMP_EQUAL, special["socket"], 0, len(families) + 3), _step(_LOAD, 16)]
    for index, family in enumerate(families):
        code.append(_step(_JUMP_EQUAL, family, len(families) - index, 0))
    code += [_refuse(errno.EAFNOSUPPORT), _step(_RETURN, _ALLOW)]
    code += [
        _step(_JUMP_EQUAL, special["ioctl"], 0, 4),
        _step(_LOAD, 24),
        _step(_JUMP_EQUAL, _TIOCSTI, 1, 0),
        _step(_JUMP_EQUAL, _TIOCLINUX, 0, 1),
        _refuse(errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(code)
