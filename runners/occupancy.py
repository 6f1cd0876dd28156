"""Theoretical occupancy: how many warps of a kernel fit on a multiprocessor. Stdlib only.

Limits and granularities: CUDA C++ Programming Guide, "Technical specifications per compute
capability"; the arithmetic is that of the occupancy calculator.
"""

from __future__ import annotations

from dataclasses import dataclass

REGISTERS = 65536
PARTITIONS = 4
REGISTER_UNIT = 256  # registers are given to a warp in these steps
WARP = 32


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """Limits of one multiprocessor; shared memory in KiB."""

    threads: int
    blocks: int
    shared_kib: int


_BIG = Multiprocessor(2048, 32, 228)
_TABLE = {
    50: Multiprocessor(2048, 32, 64),
    52: Multiprocessor(2048, 32, 96),
    53: Multiprocessor(2048, 32, 64),
    60: Multiprocessor(2048, 32, 64),
    61: Multiprocessor(2048, 32, 96),
    62: Multiprocessor(2048, 32, 64),
    70: Multiprocessor(2048, 32, 96),
    72: Multiprocessor(2048, 32, 96),
    75: Multiprocessor(1024, 16, 64),
    80: Multiprocessor(2048, 32, 164),
    86: Multiprocessor(1536, 16, 100),
    87: Multiprocessor(1536, 16, 164),
    88: Multiprocessor(1536, 16, 100),
    89: Multiprocessor(1536, 24, 100),
    90: _BIG,
    100: _BIG,
    101: Multiprocessor(1536, 24, 228),
    103: _BIG,
    110: Multiprocessor(1536, 24, 228),
    120: Multiprocessor(1536, 24, 100),
    121: Multiprocessor(1536, 24, 100),
}


def occupancy(sm: int, threads: int, registers: int, shared_bytes: int) -> float | None:
    """Return resident warps over the most a multiprocessor holds, 0..1; None for an unknown GPU.

    `threads` are those of a block, `registers` those of a thread, `shared_bytes` static and
    dynamic of a block. Zero means that not even one block fits.

    >>> occupancy(90, 256, 32, 0), occupancy(90, 256, 128, 0), occupancy(90, 1024, 65, 0)
    (1.0, 0.25, 0.0)
    """
    limits = _TABLE.get(sm)
    if limits is None or threads < 1:
        return None
    warps = -(-threads // WARP)
    most = limits.threads // WARP
    fits = [limits.blocks, most // warps]
    if registers:
        per_warp = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
        fits.append(REGISTERS // PARTITIONS // per_warp * PARTITIONS // warps)
    reserved, unit = (1024, 128) if sm >= 80 else (0, 256)
    per_block = -(-(shared_bytes + reserved) // unit) * unit
    if per_block:
        fits.append((limits.shared_kib << 10) // per_block)
    return min(fits) * warps / most
