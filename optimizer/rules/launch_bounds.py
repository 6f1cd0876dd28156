"""Tell the compiler how large blocks are and how many of them shall share a multiprocessor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer import counters
from optimizer.geometry import block_extents
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source

_NAME = "launch-bounds"
_REGISTERS = 65536
"""32-bit registers of a multiprocessor, on every architecture since Kepler."""
_THREADS = 2048
"""Threads that a multiprocessor of a data-centre GPU holds."""
_BLOCKS = 32


def launch_bounds(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Add `__launch_bounds__(threads, blocks)` so that 64, 40 or 32 registers a thread are used.

    Legal where every launch is seen to use blocks of one size: larger ones would fail to launch.
    Where detectors have spoken, all bounds only for kernels that they say registers hold back, and
    none that leaves the registers that are used: those give the same machine code.
    """
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.launch_bounds is not None:
            continue
        block = block_extents(kernel, source, fn)
        if block is None:
            continue
        threads = block[0] * block[1] * block[2]
        if not 32 <= threads <= 1024:
            continue
        used = _registers(fn.name, findings)
        at = fn.signature.name_span[0]
        wanted = [_REGISTERS // (threads * registers) for registers in (64, 40, 32)]
        most = min(_BLOCKS, _THREADS // threads)
        listed = list(dict.fromkeys(min(n, most) for n in wanted if n > 0))
        for blocks in listed[:1] if used == 0 else listed:
            if used and _REGISTERS // (threads * blocks) >= used:
                continue
            yield Edit(
                f"keep {blocks} blocks of `{fn.name}` on a multiprocessor",
                source.replace([(at, at, f"__launch_bounds__({threads}, {blocks}) ")]),
                f"rule:{_NAME}",
                f"Line {fn.line} is always launched with {threads} threads; with at most"
                f" {_REGISTERS // (threads * blocks)} registers a thread {blocks} blocks fit.",
                _NAME,
                1.02,
            )


def _registers(name: str, findings: Sequence[Finding]) -> int | None:
    """Return the registers of a thread that findings speak of; None unknown, 0 when no matter."""
    if not findings:
        return None
    asking = [f for f in findings if f.subject in (name, "") and _NAME in f.remedies]
    if not asking:
        return 0
    used = max(f.counters.get(counters.REGISTERS, 0.0) for f in asking)
    return int(used) or None
