"""The seccomp filter decides as its profiles say, on both machines, for any arguments."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.syscall_filter import NAMESPACE_FLAGS, NEWEST, Profile, program

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
NUMBERS = {
    "x86_64": {
        "read": 0, "ioctl": 16, "socket": 41, "clone": 56, "execve": 59, "ptrace": 101,
        "mount": 165, "unshare": 272, "setns": 308, "bpf": 321, "shmget": 29, "socketpair": 53,
        "openat": 257, "fchmod": 91, "fchmodat": 268, "utimensat": 280, "fchownat": 260,
        "setxattr": 188, "getxattr": 191, "shmctl": 31, "semop": 65, "msgrcv": 70, "msgctl": 71,
        "semtimedop": 220, "mq_unlink": 241, "prlimit64": 302, "sched_setaffinity": 203,
        "sched_getaffinity": 204, "sched_setscheduler": 144, "sched_setattr": 314,
        "setpriority": 141, "ioprio_set": 251, "connect": 42, "madvise": 28,
        "perf_event_open": 298, "inotify_add_watch": 254,
    },
    "aarch64": {
        "read": 63, "ioctl": 29, "socket": 198, "clone": 220, "execve": 221, "ptrace": 117,
        "mount": 40, "unshare": 97, "setns": 268, "bpf": 280, "shmget": 194, "socketpair": 199,
        "openat": 56, "fchmod": 52, "fchmodat": 53, "utimensat": 88, "fchownat": 54,
        "setxattr": 5, "getxattr": 8, "shmctl": 195, "semop": 193, "msgrcv": 188, "msgctl": 187,
        "semtimedop": 192, "mq_unlink": 181, "prlimit64": 261, "sched_setaffinity": 122,
        "sched_getaffinity": 123, "sched_setscheduler": 119, "sched_setattr": 274,
        "setpriority": 140, "ioprio_set": 30, "connect": 203, "madvise": 233,
        "perf_event_open": 241, "inotify_add_watch": 27,
    },
}  # fmt: skip
MACHINES = tuple(AUDIT)
PROFILES: tuple[Profile, ...] = ("strict", "tool", "root tool", "worker")
FIFREEZE, FITHAW, SHUTDOWN, HANDLE, FREE_SPACE, SEARCH = (
    0xC0045877, 0xC0045878, 0x8004587D, 0x4030586B, 0xC0185879, 0xD0009411,
)  # fmt: skip
UVM_INITIALIZE, UVM_MAP, RM_ALLOC, TCGETS, FIONREAD, PERF_ENABLE = (
    0x30000001, 33, 0xC030462B, 0x5401, 0x541B, 0x2400,
)  # fmt: skip


def decide(
    code: bytes, machine: str, number: int, *arguments: int, audit: int | None = None
) -> int:
    """Run classic BPF over `struct seccomp_data`, as the kernel does."""
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQ6Q", number, audit or AUDIT[machine], 0, *padded)
    value, at = 0, 0
    while True:
        operation, when_true, when_false, operand = struct.unpack_from("=HBBI", code, 8 * at)
        at += 1
        if operation == 0x20:
            value = struct.unpack_from("<I", data, operand)[0]
        elif operation == 0x54:
            value &= operand
        elif operation == 0x06:
            return int(operand)
        else:
            met = {
                0x15: value == operand,
                0x35: value >= operand,
                0x45: bool(value & operand),
            }[operation]
            at += when_true if met else when_false


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("profile", "allowed", "refused"),
    [
        ("strict", ["read", "execve"], ["ptrace", "mount", "unshare", "setns", "bpf"]),
        ("tool", ["read", "execve", "ptrace"], ["mount", "unshare", "setns", "bpf"]),
        ("root tool", ["read", "execve", "ptrace"], ["mount", "unshare", "setns", "bpf"]),
        ("worker", ["read", "execve", "ptrace", "mount", "unshare"], ["setns", "bpf"]),
    ],
)
def test_each_profile_refuses_what_it_does_not_need(
    machine: str, profile: Profile, allowed: list[str], refused: list[str]
) -> None:
    code = program(profile, machine=machine)
    for name in allowed:
        assert decide(code, machine, NUMBERS[machine][name]) == ALLOW, name
    for name in refused:
        assert decide(code, machine, NUMBERS[machine][name]) == ERRNO | errno.EPERM, name


@pytest.mark.parametrize("machine", MACHINES)
def test_a_process_may_be_forked_but_not_into_namespaces(machine: str) -> None:
    code, clone = program("strict", machine=machine), NUMBERS[machine]["clone"]
    assert decide(code, machine, clone, 17) == ALLOW
    for bit in range(32):
        if NAMESPACE_FLAGS >> bit & 1:
            assert decide(code, machine, clone, 17 | 1 << bit) == ERRNO | errno.EPERM
    assert decide(code, machine, 435) == ERRNO | errno.ENOSYS  # clone3
    assert decide(program("worker", machine=machine), machine, clone, 0x10000011) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_sockets_of_some_families_and_kinds_only(machine: str) -> None:
    def made(code: bytes, kind: int) -> set[int]:
        return {f for f in range(64) if decide(code, machine, socket, f, kind) == ALLOW}

    socket, cloexec, seqpacket = NUMBERS[machine]["socket"], 0o2000000, 5
    code = program("strict", machine=machine)
    assert made(code, 1) == made(code, 2 | cloexec) == {2, 10, 16}
    assert made(code, seqpacket | cloexec) == {1, 2, 10, 16}  # libcuda's own
    for profile in ("tool", "root tool", "worker"):
        assert made(program(profile, machine=machine), 1) == {1, 2, 10, 16}
    for profile in PROFILES:
        bare = program(profile, machine=machine, network=False)
        assert not made(bare, 1) | made(bare, seqpacket)
        assert decide(bare, machine, NUMBERS[machine]["connect"], 3) == ERRNO | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_a_pair_of_sockets_is_a_pair_of_unix_sockets(machine: str) -> None:
    pair = NUMBERS[machine]["socketpair"]
    for profile in PROFILES:
        code = program(profile, machine=machine)
        assert {f for f in range(64) if decide(code, machine, pair, f, 1) == ALLOW} == {1}
        bare = program(profile, machine=machine, network=False)
        assert decide(bare, machine, pair, 1, 1) == ALLOW
        assert decide(bare, machine, pair, 1, 5 | 0o2000000) == ALLOW
        assert (
            decide(bare, machine, pair, 1, 2 | 0o2000000) == ERRNO | errno.EPERM
        )  # sends anywhere


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("network", [True, False])
def test_what_is_newer_than_what_was_looked_at_does_not_exist(
    machine: str, profile: Profile, *, network: bool
) -> None:
    code = program(profile, machine=machine, network=network)
    for number in (*range(NEWEST + 1, 1200), 0x3FFFFFFF, 0xFFFFFFFF):
        assert decide(code, machine, number) == ERRNO | errno.ENOSYS, number
    for number in (340, 400, 423, 437, 447, 457, 458, 460, 467, 469):
        assert decide(code, machine, number) == ERRNO | errno.ENOSYS, number
    for number in (424, 434, 436, 439, 441, 444, 446, 449, 451, 462, 468):
        assert decide(code, machine, number) == ALLOW, number
    assert decide(code, machine, NUMBERS[machine]["bpf"]) == ERRNO | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_a_tool_with_capabilities_asks_nothing_of_whole_file_systems(machine: str) -> None:
    code, number = program("root tool", machine=machine), NUMBERS[machine]
    for request in (FIFREEZE, FITHAW, SHUTDOWN, HANDLE, FREE_SPACE, SEARCH, 0x4C00, 0x1260):
        assert decide(code, machine, number["ioctl"], 3, request) == ERRNO | errno.ENOTTY, request
    for request in (UVM_INITIALIZE, UVM_MAP, RM_ALLOC, TCGETS, FIONREAD, PERF_ENABLE):
        assert decide(code, machine, number["ioctl"], 3, request) == ALLOW, request
    assert decide(code, machine, number["ioprio_set"], 1, 0) != ALLOW
    assert decide(code, machine, 440) == ERRNO | errno.ENOSYS  # process_madvise


@pytest.mark.parametrize("machine", MACHINES)
def test_no_page_of_the_machine_is_taken_away(machine: str) -> None:
    for profile in PROFILES:
        code, madvise = program(profile, machine=machine), NUMBERS[machine]["madvise"]
        found = {a for a in range(128) if decide(code, machine, madvise, 0, 0, a) != ALLOW}
        assert found == {100, 101}


@pytest.mark.parametrize("machine", MACHINES)
def test_a_tool_counts_events_of_processes_not_of_the_machine(machine: str) -> None:
    for profile in ("tool", "root tool"):
        code, event = program(profile, machine=machine), NUMBERS[machine]["perf_event_open"]
        assert decide(code, machine, event, 0, 0, 2**64 - 1, 2**64 - 1, 8) == ALLOW
        assert decide(code, machine, event, 0, 1234) == ALLOW
        assert decide(code, machine, event, 0, 2**64 - 1) == ERRNO | errno.EPERM
        assert decide(code, machine, event, 0, 0xFFFFFFFF) == ERRNO | errno.EPERM
        assert decide(code, machine, event, 0, 3, 0, 0, 4) == ERRNO | errno.EPERM
        bare = program(profile, machine=machine, network=False)
        assert decide(bare, machine, event, 0, 0) == ALLOW
        assert decide(bare, machine, event, 0, 1234) == ERRNO | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("profile", PROFILES)
def test_no_file_runs_as_its_owner(machine: str, profile: Profile) -> None:
    code, number, create = program(profile, machine=machine), NUMBERS[machine], 0o100
    for mode in (0o4755, 0o2755, 0o6000):
        assert decide(code, machine, number["fchmod"], 3, mode) == ERRNO | errno.EPERM
        assert decide(code, machine, number["fchmodat"], 3, 0, mode) == ERRNO | errno.EPERM
        assert decide(code, machine, 452, 3, 0, mode) == ERRNO | errno.EPERM
        for flags in (create | 1, 0o20000000 | 2):
            assert decide(code, machine, number["openat"], 3, 0, flags, mode) != ALLOW
        assert decide(code, machine, number["openat"], 3, 0, 0, mode) == ALLOW  # not looked at
    assert decide(code, machine, number["fchmod"], 3, 0o1755) == ALLOW
    assert decide(code, machine, number["openat"], 3, 0, create | 1, 0o755) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("profile", PROFILES)
def test_where_nothing_separates_processes_a_call_names_its_caller(
    machine: str, profile: Profile
) -> None:
    bare, number = program(profile, machine=machine, network=False), NUMBERS[machine]
    for name in ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setattr"):
        assert decide(bare, machine, number[name], 0, 7) == ALLOW, name
        assert decide(bare, machine, number[name], 1 << 32, 7) == ALLOW, name
        for pid in (1, 1234, 0xFFFFFFFF):
            assert decide(bare, machine, number[name], pid, 7) == ERRNO | errno.EPERM, name
            assert decide(program(profile, machine=machine), machine, number[name], pid) == ALLOW
    assert decide(bare, machine, number["sched_getaffinity"], 1234) == ALLOW
    assert decide(bare, machine, number["setpriority"], 0, 0, 5) == ALLOW
    for which, who in ((0, 1234), (1, 0), (2, 0), (2, 1000)):
        assert decide(bare, machine, number["setpriority"], which, who) == ERRNO | errno.EPERM
    for name in (
        "ioprio_set", "shmget", "shmctl", "semop", "semtimedop", "msgrcv", "msgctl", "mq_unlink",
        "inotify_add_watch",
    ):  # fmt: skip
        assert decide(bare, machine, number[name], 0) == ERRNO | errno.EPERM, name


@pytest.mark.parametrize("machine", MACHINES)
def test_where_nothing_separates_files_nothing_of_them_changes_but_their_contents(
    machine: str,
) -> None:
    number = NUMBERS[machine]
    for profile in PROFILES:
        bare = program(profile, machine=machine, network=False)
        for name in ("fchmod", "fchmodat", "utimensat", "fchownat"):
            found = decide(bare, machine, number[name], 3, 0o644, 0o644)
            assert found == (ALLOW if profile == "worker" else ERRNO | errno.EPERM), name
        for xattr in (number["setxattr"], number["getxattr"], 463, 464, 465, 466):
            assert decide(bare, machine, xattr) == ERRNO | errno.EOPNOTSUPP
        for request in (0x40086602, 0x401C5820, 0x40087602):  # flags, attributes, version
            assert decide(bare, machine, number["ioctl"], 3, request) == ERRNO | errno.ENOTTY


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_is_typed_into_a_terminal(machine: str) -> None:
    code, ioctl = program("strict", machine=machine), NUMBERS[machine]["ioctl"]
    assert decide(code, machine, ioctl, 0, 0x5412) == ERRNO | errno.EPERM
    assert decide(code, machine, ioctl, 0, 0x5412 | 1 << 40) == ERRNO | errno.EPERM
    for request in (0x541C, 0x541D, 0x5423):  # the console's selection and output, line disciplines
        assert decide(code, machine, ioctl, 0, request) == ERRNO | errno.EPERM
    assert decide(code, machine, ioctl, 0, 0xC0384642) == ALLOW  # an NVIDIA one


@pytest.mark.parametrize("machine", MACHINES)
def test_another_calling_convention_ends_the_process(machine: str) -> None:
    code = program("strict", machine=machine)
    assert decide(code, machine, 0, audit=0x40000003) == KILL  # 32-bit x86
    assert decide(code, machine, 0x40000000 | 59) == ERRNO | errno.ENOSYS  # x32


@given(
    number=st.integers(0, 0xFFFFFFFF),
    arguments=st.lists(st.integers(0, 2**64 - 1), max_size=6),
    machine=st.sampled_from(MACHINES),
    profile=st.sampled_from(PROFILES),
    network=st.booleans(),
)
def test_every_call_gets_an_answer(
    number: int, arguments: list[int], machine: str, profile: Profile, *, network: bool
) -> None:
    code = program(profile, machine=machine, network=network)
    assert decide(code, machine, number, *arguments) & 0xFFFF0000 in {ALLOW, ERRNO}


def test_an_unknown_machine_has_no_filter() -> None:
    assert program("strict", machine="riscv64") == b""
