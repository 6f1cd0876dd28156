"""A GPU that stands still before a kernel: launches too small, or a host in the way."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import timeline
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel
from optimizer.source import Source

# KernelPro's line for launch overhead: 20 % of the time between kernels.
GAP_PCT = 20.0
# The GPU stands still for 1 to 3 µs between two launches that were queued already; a gap over this
# is a host that computes, waits or allocates meanwhile.
QUEUED_NS = 10_000.0
# Between the first and the second launch lies whatever a program does once.
FEW_LAUNCHES = 3


@detector("launch-gaps")
def launch_gaps(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find kernels before which the GPU idles, by a timeline of the whole program."""
    if not seen.has(timeline.GAP_PCT) or seen.of(timeline.LAUNCHES) < FEW_LAUNCHES:
        return
    gap, copies = seen.of(timeline.GAP_PCT), seen.of(timeline.COPY_PCT)
    launches = Source(kernel.source).launches_of(seen.name)
    line = launches[0].line if launches else seen.line(kernel)
    count = int(seen.of(timeline.LAUNCHES))
    if gap > GAP_PCT:
        queued = seen.of(timeline.GAP_NS) <= QUEUED_NS
        # A kernel's own time is what is measured; what lies between launches is the program's.
        expected = gain(gap / 100.0)
        yield Finding(
            "",
            f"for {gap:.0f}% of the run nothing runs before one of its {count} launches, "
            f"{seen.of(timeline.GAP_NS) / 1e3:.1f} µs each",
            line=line,
            severity=severity(expected),
            counters={timeline.GAP_PCT: gap, timeline.GAP_NS: seen.of(timeline.GAP_NS)},
            advice="do more in one launch: fuse neighbouring kernels, move the host's loop into "
            "the kernel, or capture the sequence in a graph"
            if queued
            else "the host is in the way between launches: keep results on the device, wait less "
            "often, allocate once",
            remedies=("fuse-launches", "coarsen") if queued else (),
            expected=expected,
            confidence=0.3,
        )
    elif copies > GAP_PCT:
        expected = gain(copies / 100.0)
        yield Finding(
            "",
            f"for {copies:.0f}% of the run the GPU only copies before one of its {count} launches",
            line=line,
            severity=severity(expected),
            counters={timeline.COPY_PCT: copies},
            advice="keep data on the device between launches; what must move, from pinned memory "
            "in a stream of its own beside the kernels",
            expected=expected,
            confidence=0.3,
        )
