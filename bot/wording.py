"""Figures as people say them: times, ratios, intervals, bytes, counters in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from optimizer import counters
from optimizer.model import Check

_STALL = "smsp__average_warps_issue_stalled_"
_STALLS = {
    "long_scoreboard": "global or local memory",
    "lg_throttle": "the queue of global loads and stores",
    "short_scoreboard": "shared memory or special functions",
    "mio_throttle": "the shared-memory and special-function queue",
    "math_pipe_throttle": "a busy arithmetic unit",
    "barrier": "a barrier",
    "wait": "a fixed latency",
    "not_selected": "a turn to issue",
    "no_instruction": "instructions",
    "imc_miss": "constant memory",
    "tex_throttle": "the texture queue",
    "drain": "stores to drain",
    "membar": "a memory fence",
    "branch_resolving": "a branch",
    "dispatch_stall": "dispatch",
    "sleeping": "sleep",
    "gmma": "a tensor core result",
}


_LAYERS = {
    "fresh world": "guard zones and inputs",
    "families": "input families",
    "sizes": "sizes not declared",
    "cases": "declared cases",
    "plausibility": "plausible times",
    "oracle": "expected outputs",
    "sanitizer": "compute-sanitizer",
}
_PLACES = {"families": "input family", "sizes": "size", "cases": "case"}
_STAGES = {
    "compile": "compiling",
    "oracle": "computing expected outputs",
    "verify": "verifying",
    "time": "timing",
    "profile": "reading hardware counters",
    "shaken": "running with delayed warps",
    "sanitizer": "compute-sanitizer",
    "energy": "measuring energy",
}
_ENDINGS = {
    "minutes": "time budget",
    "evaluations": "number of evaluations",
    "headroom": "close to the roofline",
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a counter counts, its unit (bytes, percent, count or empty), and which way is good.

    `better` is -1 when less is better, +1 when more is, 0 when it depends.
    """

    words: str
    unit: str = "count"
    better: int = -1
    weight: float = 1.0


# Derived from two counters each, because the ratio is what people know the ideal of.
SECTORS_PER_LOAD = "sectors per load request"
SECTORS_PER_STORE = "sectors per store request"
SHARED_WAVES = "shared-memory wavefronts over ideal"

_MEANINGS: Mapping[str, Meaning] = {
    "dram__bytes.sum": Meaning("bytes moved to and from DRAM", "bytes", weight=3),
    counters.DRAM_READ_BYTES: Meaning("bytes read from DRAM", "bytes", weight=3),
    counters.DRAM_WRITE_BYTES: Meaning("bytes written to DRAM", "bytes", weight=3),
    counters.DRAM_PCT: Meaning("DRAM bandwidth used", "percent", 1, 2),
    counters.L2_SECTORS: Meaning("sectors through L2", weight=2),
    counters.L2_PCT: Meaning("L2 busy", "percent", 0, 1),
    counters.L2_HIT_PCT: Meaning("L2 hit rate", "percent", 1, 1.2),
    counters.L2_ATOMIC_SECTORS: Meaning("atomic sectors in L2", weight=1.5),
    counters.L2_REDUCTION_SECTORS: Meaning("reduction sectors in L2", weight=1.5),
    counters.L1_PCT: Meaning("L1 busy", "percent", 0, 1),
    counters.L1_HIT_PCT: Meaning("L1 hit rate", "percent", 1, 1.2),
    counters.LOAD_SECTORS: Meaning("sectors loaded"),
    counters.STORE_SECTORS: Meaning("sectors stored"),
    counters.LOAD_REQUESTS: Meaning("global load requests", weight=1.4),
    counters.STORE_REQUESTS: Meaning("global store requests", weight=1.4),
    counters.ATOMIC_REQUESTS: Meaning("atomic requests", weight=2),
    counters.REDUCTION_REQUESTS: Meaning("atomic reductions", weight=2),
    counters.LOCAL_LOAD_SECTORS: Meaning("local-memory sectors loaded", weight=1.5),
    counters.LOCAL_STORE_SECTORS: Meaning("local-memory sectors stored", weight=1.5),
    counters.SHARED_ATOMIC_CONFLICTS: Meaning("conflicts of shared atomics", weight=1.5),
    SECTORS_PER_LOAD: Meaning("sectors per global load", "", weight=2.5),
    SECTORS_PER_STORE: Meaning("sectors per global store", "", weight=2.5),
    SHARED_WAVES: Meaning("shared-memory passes for each one needed", "", weight=2.2),
    counters.INSTRUCTIONS: Meaning("instructions executed", weight=2.5),
    counters.INTEGER_THREAD_INSTRUCTIONS: Meaning("integer operations", weight=1.2),
    counters.ISSUE_PCT: Meaning("issue slots used", "percent", 1, 1.2),
    counters.THREADS_ACTIVE: Meaning("threads active per instruction", "", 1, 1.5),
    counters.OCCUPANCY_PCT: Meaning("achieved occupancy", "percent", 1, 1.5),
    counters.WAVES: Meaning("waves per multiprocessor", "", 0, 0.3),
    counters.ALU_PCT: Meaning("integer units busy", "percent", 0, 0.8),
    counters.FMA_PCT: Meaning("FP32 units busy", "percent", 1, 1),
    counters.FP64_PCT: Meaning("FP64 units busy", "percent", 0, 1),
    counters.XU_PCT: Meaning("special-function units busy", "percent", 0, 1),
    counters.TENSOR_PCT: Meaning("tensor cores busy", "percent", 1, 2),
    counters.TIME_NS: Meaning("time under the profiler", "ns", -1, 0),
}


def meaning(metric: str) -> Meaning | None:
    """Return what an ncu metric means in words; None for one we have no words for.

    >>> meaning("dram__bytes_read.sum").words
    'bytes read from DRAM'
    """
    if metric in _MEANINGS:
        return _MEANINGS[metric]
    if metric.startswith(_STALL):
        reason = metric.removeprefix(_STALL).split("_per_", 1)[0].split(".", 1)[0]
        if reason == "selected":
            return None
        waiting = _STALLS.get(reason, reason.replace("_", " "))
        is_share = metric.endswith(".pct")
        return Meaning(f"warps waiting for {waiting}", "percent" if is_share else "", -1, 1.2)
    if metric.startswith("smsp__sass_thread_inst_executed_op_"):
        kind = metric.removeprefix("smsp__sass_thread_inst_executed_op_")
        return Meaning(f"{kind.split('_', 1)[0].upper()} instructions of threads", weight=0.4)
    return None


def layer(name: str) -> str:
    """Say what a layer of verification looks at; as it is where there are no other words.

    >>> layer("families"), layer("stdout")
    ('input families', 'stdout')
    """
    return _LAYERS.get(name, name)


def stage(name: str) -> str:
    """Say what a stage of evaluation does.

    >>> stage("shaken")
    'running with delayed warps'
    """
    return _STAGES.get(name, name)


def ending(stopped: str) -> str:
    """Say which rule ended a search.

    >>> ending("minutes"), ending("nothing left to try")
    ('time budget', 'nothing left to try')
    """
    return _ENDINGS.get(stopped, stopped)


def place(check: Check) -> str:
    """Say on which input a check was made.

    >>> place(Check("families", "times-10", passed=True))
    'input family times-10'
    """
    return f"{_PLACES[check.layer]} {check.what}" if check.layer in _PLACES else check.what


def closest(check: Check) -> str:
    """Say by how much the results differed where they came closest to what is allowed.

    >>> closest(Check("cases", "n=31", passed=True, error=0.5, bound=2.0))
    'largest error 0.5 of 2 allowed'
    """
    if not check.error:
        return "results equal to the expected ones"
    return f"largest error {check.error:.2g} of {check.bound or 0.0:.2g} allowed"


def more(number: int) -> str:
    """Say how many others there are.

    >>> more(1), more(1200)
    ('1 more is', '1,200 more are')
    """
    return f"{number:,} more {'is' if number == 1 else 'are'}"


def unticked(title: str) -> str:
    """Return a title without the backticks around names, for where nothing renders them."""
    return title.replace("`", "")


def times(ratio: float) -> str:
    """Say a speedup with three significant digits.

    >>> times(3.4149), times(12.34), times(0.951)
    ('3.41×', '12.3×', '0.951×')
    """
    return f"{significant(ratio)}×"


def significant(value: float, digits: int = 3) -> str:
    """Round to significant digits without an exponent.

    >>> significant(1234.5), significant(0.00123), significant(0)
    ('1234', '0.00123', '0')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def micros(us: float) -> str:
    """Say a time given in µs in the unit that reads best.

    >>> micros(0.512), micros(66.1), micros(12345.6), micros(2.5e6)
    ('0.512 µs', '66.1 µs', '12.3 ms', '2.50 s')
    """
    if us >= 1e6:
        return f"{significant(us / 1e6)} s"
    return f"{significant(us / 1e3)} ms" if us >= 1e4 else f"{significant(us)} µs"


def seconds(value: float) -> str:
    """Say how long something took.

    >>> seconds(0.05), seconds(8.25), seconds(128), seconds(4000)
    ('0.05 s', '8.2 s', '2 min 8 s', '1 h 6 min')
    """
    if value < 60:
        return f"{value:.2f} s" if value < 1 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def amount(value: float, unit: str = "count") -> str:
    """Say a counter's value in its unit.

    >>> amount(134217728, "bytes"), amount(1.25e6), amount(41.27, "percent"), amount(31.9, "")
    ('134 MB', '1.25 M', '41.3 %', '31.9')
    """
    if unit == "percent":
        return f"{value:.1f} %"
    if unit == "ns":
        return micros(value / 1e3)
    if unit == "":
        return significant(value)
    suffix = "B" if unit == "bytes" else ""
    for limit, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{significant(value / limit)} {prefix}{suffix}"
    return f"{value:.0f} {suffix}".rstrip()


def change(before: float, after: float) -> str:
    """Say how a figure moved.

    >>> change(100, 25), change(10, 30), change(10, 10), change(0, 4), change(120, 1e-4)
    ('4.0× less', '3.0× more', 'unchanged', 'new', 'over 1000× less')
    """
    if before == after or (before and abs(after / before - 1) < 0.005):
        return "unchanged"
    if before == 0:
        return "new"
    if after == 0:
        return "gone"
    ratio = after / before
    if 0.67 < ratio < 1.5:
        return f"{abs(ratio - 1) * 100:.0f} % {'more' if ratio > 1 else 'less'}"
    size, way = (ratio, "more") if ratio > 1 else (1 / ratio, "less")
    return f"over 1000× {way}" if size > 1000 else f"{size:.1f}× {way}"


def count(number: int, noun: str, plural: str = "") -> str:
    """Say how many of a thing there are.

    >>> count(1, "case"), count(1200, "step")
    ('1 case', '1,200 steps')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def times_short(ratio: float) -> str:
    """Say a round ratio on an axis.

    >>> times_short(1.0), times_short(1.5)
    ('1×', '1.5×')
    """
    return f"{ratio:g}×"
