"""Stage 1 of the diagnosis: what bounds a kernel, and how far it is from the roofline.

The roofline (Williams, Waterman, Patterson, CACM 2009): with arithmetic intensity `I` in
operations per DRAM byte, no kernel exceeds `min(peak operations/s, I · peak bytes/s)`. The peaks
are those measured on the device, not the data sheet's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, evidence
from optimizer.model import Verdict

# Below 60 % of every unit's peak ncu's own "Speed of Light" rule speaks of latency.
BUSY = 0.60
# An empty kernel takes 1.5 to 2 µs on an H200 by ncu (`tiny` in tests/data/ncu: 1.9 µs); within
# three times that, the launch is most of the time.
LAUNCH_US = 5.0
# Static intensity is a guess about loops and hit rates.
STATIC_CONFIDENCE = 0.35

# Floating-point operations per counted thread instruction.
_FP32 = ((counters.FP32_ADD, 1), (counters.FP32_MUL, 1), (counters.FP32_FMA, 2))
_FP64 = ((counters.FP64_ADD, 1), (counters.FP64_MUL, 1), (counters.FP64_FMA, 2))
_FP16 = ((counters.FP16_ADD, 2), (counters.FP16_MUL, 2), (counters.FP16_FMA, 4))
_TENSOR = (
    (counters.TENSOR_FP16_OPS, 1),
    (counters.TENSOR_BF16_OPS, 1),
    (counters.TENSOR_TF32_OPS, 2),
)
_RATES = (
    ("fp32_tflops", _FP32),
    ("fp64_tflops", _FP64),
    ("fp16_tflops", _FP16),
    ("tensor_tflops", _TENSOR),
)
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_FLOATS = ("FFMA", "FADD", "FMUL", "HFMA2", "HADD2", "HMUL2", "DFMA", "DADD", "DMUL")


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What bounds a kernel, and how much is left.

    `share` of the roofline is reached (0..1, None when unknown); `intensity` is in operations per
    DRAM byte; `headroom` is the speedup that the roofline leaves (1 = none), never claimed without
    a measured share: then it is None. `tensor` tells that tensor cores work. `confidence` is
    0..1. `words` is one sentence for a person.
    """

    kind: Bound
    share: float | None = None
    intensity: float | None = None
    achieved_gbs: float | None = None
    achieved_tflops: float | None = None
    headroom: float | None = None
    confidence: float = 1.0
    words: str = ""
    tensor: bool = False


def classify(verdict: Verdict, peaks: Mapping[str, float], subject: str = "") -> Bottleneck:
    """Return what bounds a kernel of a verdict, the one with most device time by default.

    `peaks` are `dram_gbs`, `l2_gbs` (GB/s) and `fp32_tflops`, `fp64_tflops`, `fp16_tflops`,
    `tensor_tflops`; missing ones are filled from ncu's percentages where it has some.
    """
    known = evidence(verdict)
    chosen = [e for e in known if e.name == subject or not subject]
    seen = chosen[0] if chosen else None
    return bottleneck_of(seen, peaks) if seen is not None else _nothing()


def headroom(verdict: Verdict, peaks: Mapping[str, float]) -> float | None:
    """Return the speedup the roofline leaves to a whole candidate, None when unknown.

    Kernels count by their share of the device time; one without counters makes it unknown.
    """
    left = 0.0
    known = [e for e in evidence(verdict) if e.share > 0]
    total = sum(e.share for e in known)
    for seen in known:
        room = bottleneck_of(seen, peaks).headroom
        if room is None:
            return None
        left += seen.share / room
    return total / left if left else None


def bottleneck_of(seen: Evidence, peaks: Mapping[str, float]) -> Bottleneck:
    """Return what bounds the kernel of this evidence."""
    return _measured(seen, peaks) if seen.profiled else _static(seen, peaks)


def _nothing() -> Bottleneck:
    return Bottleneck(Bound.LATENCY, confidence=0.0, words="nothing is known about this kernel")


def _measured(seen: Evidence, peaks: Mapping[str, float]) -> Bottleneck:
    seconds = max(seen.of(counters.TIME_NS), 1.0) * 1e-9
    gbs = seen.dram_bytes / seconds / 1e9
    operations = {rate: _operations(seen, kinds) for rate, kinds in _RATES}
    tflops = sum(operations.values()) / seconds / 1e12
    share = _roofline_share(seen, peaks, gbs, operations, seconds)
    tensor = operations["tensor_tflops"] > 0 or seen.of(counters.TENSOR_PCT) > 5
    kind, unit, busy = _kind(seen)
    return Bottleneck(
        kind=kind,
        share=share,
        intensity=sum(operations.values()) / seen.dram_bytes if seen.dram_bytes else None,
        achieved_gbs=gbs,
        achieved_tflops=tflops,
        headroom=1.0 / share if share else None,
        confidence=0.6 if kind is Bound.LAUNCH else 0.9,
        words=_words(kind, unit, busy, share, seen),
        tensor=tensor,
    )


def _operations(seen: Evidence, kinds: tuple[tuple[str, int], ...]) -> float:
    return sum(seen.of(metric) * factor for metric, factor in kinds)


def _roofline_share(
    seen: Evidence,
    peaks: Mapping[str, float],
    gbs: float,
    operations: Mapping[str, float],
    seconds: float,
) -> float | None:
    """Return the larger of the shares of memory and arithmetic peaks, which is the roofline's."""
    shares = [seen.fraction(counters.DRAM_PCT)]
    if peaks.get("dram_gbs"):
        shares = [gbs / peaks["dram_gbs"]]
    # Kinds of arithmetic run side by side at best; each at its own rate is time it must take.
    needed = sum(operations[rate] / (peaks[rate] * 1e12) for rate, _ in _RATES if peaks.get(rate))
    shares.append(needed / seconds)
    shares.append(seen.fraction(counters.TENSOR_PCT))
    best = max(shares)
    return min(best, 1.0) if best > 0 else None


def _kind(seen: Evidence) -> tuple[Bound, str, float]:
    memory = {
        "DRAM": seen.fraction(counters.DRAM_PCT),
        "L2": seen.fraction(counters.L2_PCT),
        "L1/shared memory": max(
            seen.fraction(counters.L1_PCT), seen.fraction(counters.L1_DATA_PCT)
        ),
    }
    active = _active(seen)
    compute = {
        "instruction issue": seen.issuing,
        "the ALU pipe": seen.fraction(counters.ALU_PCT) * active,
        "the FMA pipe": seen.fraction(counters.FMA_PCT) * active,
        "the FP64 pipe": seen.fraction(counters.FP64_PCT) * active,
        "the XU pipe": seen.fraction(counters.XU_PCT) * active,
        "the tensor pipe": seen.fraction(counters.TENSOR_PCT) * active,
    }
    units = {**memory, **compute}
    unit = max(units, key=lambda name: units[name])
    if seen.microseconds < LAUNCH_US and units[unit] < BUSY:
        return Bound.LAUNCH, unit, units[unit]
    if units[unit] < BUSY:
        return Bound.LATENCY, unit, units[unit]
    return (Bound.MEMORY if unit in memory else Bound.COMPUTE), unit, units[unit]


def _active(seen: Evidence) -> float:
    elapsed = seen.of(counters.CYCLES_ELAPSED)
    return min(seen.of(counters.CYCLES_ACTIVE) / elapsed, 1.0) if elapsed else 1.0


def _words(kind: Bound, unit: str, busy: float, share: float | None, seen: Evidence) -> str:
    reached = f"; it reaches {share:.0%} of the roofline" if share is not None else ""
    if kind is Bound.LAUNCH:
        return f"launch bound: a launch takes {seen.microseconds:.1f} µs{reached}"
    if kind is Bound.LATENCY:
        return f"latency bound: the busiest unit, {unit}, is {busy:.0%} busy{reached}"
    return f"{kind} bound: {unit} is {busy:.0%} busy{reached}"


def _static(seen: Evidence, peaks: Mapping[str, float]) -> Bottleneck:
    """Guess the class from SASS: operations per byte of its global accesses, each counted once.

    It ignores loop counts, caches and what the loads have in common, hence the low confidence.
    """
    moved = sum(
        n * next((_WIDTHS[p] for p in opcode.split(".") if p in _WIDTHS), 4)
        for opcode, n in seen.instructions.items()
        if opcode.partition(".")[0] in ("LDG", "STG", "LD", "ST", "RED", "REDG", "ATOM", "ATOMG")
    )
    tensor = seen.count("HMMA", "HGMMA", "IMMA", "DMMA", "QGMMA", "BGMMA") > 0
    floats = seen.count(*_FLOATS) * 2
    if not seen.instructions or not (moved or floats):
        return Bottleneck(
            Bound.LATENCY,
            confidence=0.1,
            words="no counters and no SASS: what bounds it is unknown",
            tensor=tensor,
        )
    intensity = floats / moved if moved else float(floats)
    # An H200's balance is about 15 single-precision operations a byte; one per four bytes of
    # integer work counts as well, through the issue of instructions.
    balance = _balance(peaks)
    work = seen.instruction_count / moved if moved else balance
    kind = Bound.COMPUTE if tensor or intensity > balance or work > balance else Bound.MEMORY
    return Bottleneck(
        kind,
        intensity=intensity,
        confidence=STATIC_CONFIDENCE,
        words=f"probably {kind} bound: {intensity:.1f} operations a byte by its SASS, no counters",
        tensor=tensor,
    )


def _balance(peaks: Mapping[str, float]) -> float:
    dram, fp32 = peaks.get("dram_gbs", 0.0), peaks.get("fp32_tflops", 0.0)
    return fp32 * 1e3 / dram if dram and fp32 else 15.0
