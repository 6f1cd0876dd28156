"""What is read of object files holds for damaged ones: they are strangers'."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import cubin

X86_64, CUDA = 62, 190


def _head(machine: int, offset: int, count: int) -> bytes:
    data = bytearray(b"\x7fELF\x02".ljust(64, b"\0"))
    data[18:20] = machine.to_bytes(2, "little")
    data[0x28:0x30], data[60:62] = offset.to_bytes(8, "little"), count.to_bytes(2, "little")
    return bytes(data)


@pytest.mark.parametrize("machine", [X86_64, CUDA])
def test_sections_beyond_any_file_are_none(machine: int) -> None:
    """An offset of 64 bits is more than Python takes for one."""
    data = _head(machine, (1 << 64) - 1, 1)
    assert cubin.exports(data) == ()
    assert cubin.variables(data) == ()
    assert cubin.loaded_bytes(data) == 0


@given(st.integers(0, (1 << 64) - 1), st.integers(0, 20), st.binary(max_size=400))
def test_no_head_raises(offset: int, count: int, rest: bytes) -> None:
    for machine in (X86_64, CUDA):
        data = _head(machine, offset, count) + rest
        assert isinstance(cubin.exports(data), tuple)
        assert isinstance(cubin.variables(data), tuple)
        assert cubin.loaded_bytes(data) >= 0
