"""The seccomp filter decides as its profiles say, on both machines, for any arguments."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.syscall_filter import NAMESPACE_FLAGS, Profile, program

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
NUMBERS = {
    "x86_64": {
        "read": 0, "ioctl": 16, "socket": 41, "clone": 56, "execve": 59, "ptrace": 101,
        "mount": 165, "unshare": 272, "setns": 308, "bpf": 321, "shmget": 29,
    },
    "aarch64": {
        "read": 63, "ioctl": 29, "socket": 198, "clone": 220, "execve": 221, "ptrace": 117,
        "mount": 40, "unshare": 97, "setns": 268, "bpf": 280, "shmget": 194,
    },
}  # fmt: skip
MACHINES = tuple(AUDIT)


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
def test_sockets_of_some_families_only(machine: str) -> None:
    code, socket = program("strict", machine=machine), NUMBERS[machine]["socket"]
    found = {family for family in range(64) if decide(code, machine, socket, family, 1) == ALLOW}
    assert found == {1, 2, 10, 16}
    bare = program("strict", machine=machine, network=False)
    assert all(decide(bare, machine, socket, family, 1) != ALLOW for family in range(64))
    assert decide(bare, machine, NUMBERS[machine]["shmget"]) == ERRNO | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_is_typed_into_a_terminal(machine: str) -> None:
    code, ioctl = program("strict", machine=machine), NUMBERS[machine]["ioctl"]
    assert decide(code, machine, ioctl, 0, 0x5412) == ERRNO | errno.EPERM
    assert decide(code, machine, ioctl, 0, 0x5412 | 1 << 40) == ERRNO | errno.EPERM
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
    profile=st.sampled_from(["strict", "tool", "worker"]),
    network=st.booleans(),
)
def test_every_call_gets_an_answer(
    number: int, arguments: list[int], machine: str, profile: Profile, *, network: bool
) -> None:
    code = program(profile, machine=machine, network=network)
    assert decide(code, machine, number, *arguments) & 0xFFFF0000 in {ALLOW, ERRNO}


def test_an_unknown_machine_has_no_filter() -> None:
    assert program("strict", machine="riscv64") == b""
