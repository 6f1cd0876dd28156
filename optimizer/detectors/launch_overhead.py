"""Kernels that are over before their launch has paid off."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bottleneck import LAUNCH_US
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel
from optimizer.source import Source

# search.md asks for 20 % of the time between kernels. A launch costs about 2 µs on the device
# (`tiny` in tests/data/ncu takes 1.9 µs), which is that share of a kernel of 8 µs.
COST_US = 2.0
SHARE = 0.20


@detector("launch-overhead")
def launch_overhead(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find kernels of a few microseconds; worst where the host launches them in a loop."""
    if not seen.profiled or seen.microseconds > COST_US / SHARE:
        return
    launches = Source(kernel.source).launches_of(seen.name)
    repeated = any(launch.in_loop for launch in launches)
    if not repeated and seen.microseconds > LAUNCH_US:
        return
    overhead = COST_US / (seen.microseconds + COST_US)
    expected = gain(overhead * (0.9 if repeated else 0.5))
    yield Finding(
        "",
        f"a launch takes {seen.microseconds:.1f} µs, about {overhead:.0%} of which is starting it"
        + (", in a loop of the host" if repeated else ""),
        line=launches[0].line if launches else seen.line(kernel),
        severity=severity(expected),
        counters={counters.TIME_NS: seen.of(counters.TIME_NS)},
        advice="do more in one launch: fuse neighbouring kernels, move the host's loop into the "
        "kernel where blocks are independent, or capture the sequence in a graph",
        remedies=("fuse-launches", "coarsen"),
        expected=expected,
        confidence=0.7 if repeated else 0.4,
    )
