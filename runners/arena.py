"""Where a set of argument buffers lies in device memory: between guard bands, in slabs.

A slab is guard, buffer, guard, buffer, ..., guard. The same plan serves one slab that is verified
and many that are timed. Nothing here touches a device.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import cuda_types
from runners.cuda_types import CudaType, from_float
from runners.inputs import Arrays, interleave, rotatable
from runners.spec import Argument, Work, scalar_values

ALIGN = 256  # what cudaMalloc promises; vectorized code may rely on it
GUARD, INPUT, INOUT, OUTPUT = range(4)
_KINDS = {"input": INPUT, "inout": INOUT, "output": OUTPUT}
MASTER_ALIGN = 256
LEAST_PLACE, MOST_PLACE = 256 << 10, 64 << 20


@dataclass(frozen=True, slots=True)
class Buffer:
    """One pointer argument in a slab; offsets and sizes in bytes."""

    name: str
    type: CudaType
    kind: int
    segment: int
    offset: int
    size: int
    source: int
    rotatable: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """A slab's plan. `segments` rows are offset, bytes, source, kind as the helpers read them."""

    buffers: tuple[Buffer, ...]
    segments: npt.NDArray[np.uint64]
    stride: int
    master_bytes: int

    @property
    def written(self) -> tuple[Buffer, ...]:
        """Return the buffers a kernel may write."""
        return tuple(b for b in self.buffers if b.kind in {INOUT, OUTPUT})

    @property
    def output_bytes(self) -> int:
        """Return how many bytes a kernel is meant to write."""
        return sum(b.size for b in self.written)

    @property
    def payload_bytes(self) -> int:
        """Return the bytes of all buffers without guards."""
        return sum(b.size for b in self.buffers)

    def addresses(self, base: int) -> dict[str, int]:
        """Return each buffer's address in a slab at `base`."""
        return {b.name: base + b.offset for b in self.buffers}

    def rotations(self, rng: np.random.Generator, slabs: int) -> npt.NDArray[np.uint64]:
        """Draw, for each slab, by how many bytes the contents of each buffer are shifted.

        Whole elements, and whole 16-byte words where the buffer has several.
        """
        out = np.zeros((slabs, len(self.segments)), np.uint64)
        for buffer in self.buffers:
            step = buffer.type.size if 16 % buffer.type.size else 16
            steps = buffer.size // step
            if buffer.rotatable and steps > 1:
                out[:, buffer.segment] = rng.integers(0, steps, slabs) * step
        return out


def _round(size: int, to: int) -> int:
    return -(-size // to) * to


def guard_size(size: int, most: int) -> int:
    """Return the width of the bands around a buffer: an eighth of it, 4 KiB at least."""
    return min(most, max(4096, _round(size // 8, ALIGN)))


def plan(
    work: Work,
    case: Mapping[str, float],
    most_guard: int,
    *,
    promoted: bool = False,
    places: bool = False,
) -> Layout:
    """Lay out the buffers of a case. `promoted` gives every float the room of a double.

    With `places` buffers of different cases lie at the same offsets as far as they may: each up to
    `MOST_PLACE` has `LEAST_PLACE` bytes or a power of two to itself, and leaves the rest as guard.
    """
    rows: list[tuple[int, int, int, int]] = []
    buffers: list[Buffer] = []
    at = free = source = last = 0
    for argument in work.arguments:
        if not argument.type.pointer:
            continue
        kind = cuda_types.promote(argument.type) if promoted else argument.type
        size = argument.elements(case) * kind.size
        room = size
        if places and 0 < size <= MOST_PLACE:
            room = max(LEAST_PLACE, 1 << (size - 1).bit_length())
        start = _round(free + guard_size(room, most_guard), ALIGN)
        rows.append((at, start - at, 0, GUARD))
        role = _KINDS[argument.role]
        segment = len(rows)
        rows.append((start, size, source, role))
        buffers.append(
            Buffer(argument.name, kind, role, segment, start, size, source, rotatable(argument))
        )
        at, free, last = start + size, start + room, max(last, room)
        if role != OUTPUT:
            source += _round(size + 16, MASTER_ALIGN)
    end = _round(free + guard_size(last, most_guard), ALIGN)
    rows.append((at, end - at, 0, GUARD))
    return Layout(tuple(buffers), np.array(rows, np.uint64).reshape(-1, 4), end, max(source, 256))


def master(layout: Layout, arrays: Arrays) -> npt.NDArray[np.uint8]:
    """Assemble the first contents of all buffers as the helpers find them."""
    out = np.zeros(layout.master_bytes, np.uint8)
    for buffer in layout.buffers:
        if buffer.kind != OUTPUT:
            data = arrays[buffer.name]
            out[buffer.source : buffer.source + len(data)] = data
    return out


def promote_arrays(work: Work, arrays: Arrays) -> Arrays:
    """Return the same contents with every float array as doubles."""
    out = dict(arrays)
    for argument in work.arguments:
        only = argument.type.scalar
        if argument.name in arrays and only is not None and only.name == "float":
            out[argument.name] = arrays[argument.name].view("f4").astype("f8").view(np.uint8)
    return out


def scalar_bytes(argument: Argument, case: Mapping[str, float], *, promoted: bool) -> bytes:
    """Return a by-value argument as the device reads it."""
    kind = cuda_types.promote(argument.type) if promoted else argument.type
    numbers = list(scalar_values(argument, case))
    parts = []
    for one in kind.fields:
        mine = numbers[: one.lanes] if len(numbers) > 1 else numbers * one.lanes
        numbers = numbers[one.lanes :] if len(numbers) > one.lanes else numbers
        if one.scalar.kind == "f":
            parts.append(from_float(np.array(mine, np.float64), one.scalar))
        else:
            parts.append(np.array([int(n) for n in mine]).astype(one.scalar.dtype))
    return interleave(parts, kind, 1).tobytes()


def pack(
    work: Work, case: Mapping[str, float], addresses: Mapping[str, int], *, promoted: bool = False
) -> bytes:
    """Return a kernel's parameter buffer, each argument at its natural alignment."""
    return Parameters(work, case, promoted=promoted).at(addresses)


class Parameters:
    """A kernel's parameter buffer for a case, wherever its buffers lie."""

    def __init__(self, work: Work, case: Mapping[str, float], *, promoted: bool = False) -> None:
        out = bytearray()
        self._pointers: list[tuple[int, str]] = []
        for argument in work.arguments:
            if argument.type.pointer:
                data, align = bytes(8), 8
            else:
                data = scalar_bytes(argument, case, promoted=promoted)
                align = (cuda_types.promote(argument.type) if promoted else argument.type).align
            out += bytes(-len(out) % align)
            if argument.type.pointer:
                self._pointers.append((len(out), argument.name))
            out += data
        self._bytes = bytes(out)

    def at(self, addresses: Mapping[str, int]) -> bytes:
        """Return the bytes with the addresses of buffers in their places."""
        out = bytearray(self._bytes)
        for place, name in self._pointers:
            out[place : place + 8] = addresses[name].to_bytes(8, "little")
        return bytes(out)


_CTYPES: dict[str, Any] = {
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "bool": ctypes.c_bool,
    **{f"int{n}": getattr(ctypes, f"c_int{n}") for n in (8, 16, 32, 64)},
    **{f"uint{n}": getattr(ctypes, f"c_uint{n}") for n in (8, 16, 32, 64)},
}


def host_arguments(
    work: Work, case: Mapping[str, float], addresses: Mapping[str, int], *, promoted: bool = False
) -> list[Any]:
    """Return the arguments of an entry function for ctypes (System V calling convention)."""
    out: list[Any] = []
    for argument in work.arguments:
        if argument.type.pointer:
            out.append(ctypes.c_void_p(addresses[argument.name]))
            continue
        kind = cuda_types.promote(argument.type) if promoted else argument.type
        data = scalar_bytes(argument, case, promoted=promoted)
        only = kind.scalar
        if only is not None and kind.fields[0].lanes == 1 and kind.size == only.size:
            # A half is a class of one unsigned short and travels as one.
            out.append(_CTYPES.get(only.name, ctypes.c_uint16).from_buffer_copy(data))
        else:
            out.append(_structure(kind).from_buffer_copy(data))
    return out


def _structure(kind: CudaType) -> Any:
    members: Sequence[tuple[str, Any]] = [
        (f"m{n}_{lane}", _CTYPES.get(one.scalar.name, ctypes.c_uint16))
        for n, one in enumerate(kind.fields)
        for lane in range(one.lanes)
    ]
    return type("Value", (ctypes.Structure,), {"_fields_": list(members)})
