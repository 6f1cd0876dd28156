"""Block sizes that waste lanes or resident blocks."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel
from optimizer.source import Source

# A multiprocessor holds at most 32 blocks (CUDA programming guide, technical specifications of
# 7.x to 9.0: 16 to 32); with 64 warps, blocks of less than 64 threads cannot fill it.
SMALL = 64
_WARP = 32


@detector("block-shape")
def block_shape(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find blocks that are no multiple of a warp, or under 64 threads."""
    launches = Source(kernel.source).launches_of(seen.name)
    known = [launch.threads for launch in launches if launch.threads]
    threads = int(seen.of(counters.BLOCK_THREADS)) or (min(known) if known else 0)
    if not threads or (threads % _WARP == 0 and threads >= SMALL):
        return
    lanes = -(-threads // _WARP) * _WARP
    lost = 1.0 - threads / lanes
    resident = min(1.0, lanes / SMALL)
    expected = gain(max(lost, (1.0 - resident) * 0.5))
    why = f"{lanes - threads} of {lanes} lanes idle" if lost else "32 such blocks do not fill it"
    function = seen.function(kernel)
    yield Finding(
        "",
        f"blocks of {threads} threads: {why}",
        line=launches[0].line if launches else function.line if function is not None else None,
        severity=severity(expected),
        counters={counters.BLOCK_THREADS: float(threads)},
        advice="use a multiple of 32, 128 or 256 to begin with",
        remedies=("block-size", "tune"),
        expected=expected,
        confidence=0.6,
    )
