"""One reason makes warps wait for most of their time."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain
from optimizer.model import Finding, Kernel, Severity

# KernelPro: a warning at 40 % of the warps' time, critical at 60 %.
STALLED = 0.40
CRITICAL = 0.60
# With memory or issue this busy, waiting is the consequence and not the cause (ncu's stall rule
# asks for an issue rate under 80 % as well).
BUSY = 0.80

# What warps wait for, what to do about it, and by which kinds of edit. The states are described
# in the Nsight Compute profiling guide, "Warp Scheduler States". `barrier` has its own detector.
_STATES = {
    "long_scoreboard": (
        "data from global or local memory",
        (
            "have more loads in flight: several independent elements a thread, loads first; "
            "wider loads; keep what is read again in shared memory or registers"
        ),
        ("coarsen", "vectorize", "unroll", "tile-halo", "tile-matmul", "block-size", "ilp"),
    ),
    "lg_throttle": (
        "the queue of global and local memory instructions",
        (
            "issue fewer, wider memory instructions: 128-bit loads, reuse through registers and "
            "shared memory, no local arrays"
        ),
        ("vectorize", "tile-matmul", "tile-halo", "local-array", "register-accumulator"),
    ),
    "mio_throttle": (
        "the queue of shared memory, special function and conversion instructions",
        (
            "issue fewer of them: shuffles for shared memory, wider shared loads, no conversions "
            "between float and double, no bank conflicts"
        ),
        ("shuffle-reduce", "pad-shared", "float-literals", "fast-math", "tile-matmul"),
    ),
    "short_scoreboard": (
        "shared memory, special functions or conversions",
        "reuse values in registers, remove bank conflicts, replace special functions",
        ("pad-shared", "shuffle-reduce", "tile-matmul", "fast-math", "hoist"),
    ),
    "math_pipe_throttle": (
        "a busy arithmetic pipe",
        (
            "do less of that arithmetic: hoist what does not change, single precision, reciprocals "
            "for divisions, intrinsics where the tolerance allows"
        ),
        ("hoist", "float-literals", "fast-division", "narrow-index", "fast-math"),
    ),
    "wait": (
        "the fixed latency of the instruction before",
        (
            "give each thread independent work to interleave: unroll, several outputs a thread; "
            "and more warps where they fit"
        ),
        ("unroll", "coarsen", "block-size", "split-loop", "ilp"),
    ),
    "no_instruction": (
        "instructions to be fetched",
        "make the hot loop smaller: unroll less, fewer inlined copies of slow functions",
        ("specialize", "tune", "fast-math"),
    ),
    "imc_miss": (
        "constants that are not cached",
        "let all lanes read the same constant at a time, or pass it as an argument",
        ("read-only-cache", "local-array", "hoist"),
    ),
    "branch_resolving": (
        "branch targets",
        "replace short branches by selects, unroll loops with few iterations",
        ("unroll", "split-border", "specialize"),
    ),
    "drain": (
        "stores to leave before the warp can end",
        "store wide and contiguous, and let a thread do more than one store's worth of work",
        ("vectorize", "stage-transpose", "coarsen"),
    ),
    "membar": (
        "memory fences",
        "use narrower fences, or a reduction that needs none",
        ("shuffle-reduce", "privatize-atomics"),
    ),
    "dispatch_stall": (
        "the dispatch unit",
        "spread register reads: another unroll factor or block size",
        ("tune", "unroll"),
    ),
    "tex_throttle": ("the texture queue", "issue fewer, wider texture reads", ("vectorize",)),
    "sleeping": ("its own __nanosleep", "wait on data instead of sleeping", ()),
    "gmma": ("tensor-core results", "keep more independent products in flight", ("tune",)),
}


@detector("warp-stall", Bound.LATENCY, Bound.MEMORY, Bound.COMPUTE)
def warp_stall(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Name the reason and its cure."""
    reason = max(_STATES, key=seen.stall)
    share = seen.stall(reason)
    if share <= STALLED or seen.memory_busy >= BUSY or seen.issuing >= BUSY:
        return
    what, advice, remedies = _STATES[reason]
    # The queue in front of a unit that is already used to this share can shorten only so far.
    slack = 1.0 - max(seen.memory_busy, seen.issuing)
    expected = gain(share * slack * 0.6)
    yield Finding(
        "",
        f"warps spend {share:.0%} of their time waiting for {what}",
        line=seen.line(kernel, reason),
        severity=Severity.CRITICAL if share > CRITICAL else Severity.WARNING,
        counters={counters.stall(reason): seen.of(counters.stall(reason))},
        advice=advice,
        remedies=remedies,
        expected=expected,
        confidence=0.6,
    )
