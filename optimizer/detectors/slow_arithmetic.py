"""IEEE divisions and accurate library functions where cheaper arithmetic would do."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.functions import Call, Function
from optimizer.model import Finding, Kernel

# Instructions of the accurate version on sm_90, counted in SASS of single calls (nvcc 13.0, -O3),
# slow path of large arguments left out.
_COSTS = {
    "powf": 70, "pow": 70, "sinf": 30, "cosf": 30, "sin": 30, "cos": 30, "tanf": 40,
    "sincosf": 45, "expf": 8, "exp": 8, "logf": 20, "log": 20, "log2f": 15, "log10f": 20,
    "tanhf": 20, "erff": 30, "atan2f": 40, "acosf": 30, "asinf": 30, "cbrtf": 20,
}  # fmt: skip
_DIVISION = 10
_ROOT = 8
MATTERS = 0.10
UNROLLED = 32


@detector("slow-arithmetic")
def slow_arithmetic(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Estimate which share of the instructions go into them."""
    function = seen.function(kernel)
    calls = [c for c in function.calls if _name(c) in _COSTS] if function is not None else []
    divisions = seen.count("FCHK")  # the test in front of an IEEE division, and of nothing else
    if not divisions and not calls:
        return
    every = max(seen.instruction_count, 1)
    roots = seen.count("MUFU", part="RSQ") * _ROOT
    cost = divisions * _DIVISION + roots
    cost += sum(_COSTS[_name(c)] * _copies(function, c) for c in calls)
    share = min(cost / every, 0.8)
    weight = max(seen.issuing, seen.fraction(counters.XU_PCT)) if seen.profiled else 0.4
    if share * weight < MATTERS:
        return
    expected = gain(share * weight * 0.8)
    yield Finding(
        "",
        _message(divisions, calls),
        line=_line(function, calls) or seen.line(kernel),
        severity=severity(expected),
        counters={counters.XU_PCT: seen.of(counters.XU_PCT)} if seen.profiled else {},
        advice="divide once and multiply by the reciprocal, write small powers as products, move "
        "what does not change out of the loop; __expf, __sinf, __fdividef where the tolerance "
        "allows it",
        remedies=("hoist", "reciprocal", "fast-math", "specialize"),
        expected=expected,
        confidence=0.6 if seen.profiled else 0.35,
    )


def _copies(function: Function | None, call: Call) -> int:
    """Return how often SASS holds a call: short counted loops are unrolled completely."""
    copies = 1
    for loop in function.loops_around(call.node) if function is not None else ():
        copies *= loop.trips if loop.trips and loop.trips <= UNROLLED else 1
    return min(copies, UNROLLED)


def _name(call: Call) -> str:
    return call.name.removeprefix("std::")


def _message(divisions: int, calls: list[Call]) -> str:
    names = ", ".join(dict.fromkeys(_name(c) for c in calls))
    parts = [f"{divisions} IEEE divisions"] if divisions else []
    parts += [f"accurate {names}"] if names else []
    return f"slow arithmetic: {' and '.join(parts)}"


def _line(function: Function | None, calls: list[Call]) -> int | None:
    if calls:
        return max(calls, key=lambda call: _COSTS[_name(call)]).line
    if function is None:
        return None
    slow = [n for n in function.divisions if function.type_of(n) in ("float", "double")]
    return function.file.syntax.line(slow[0]) if slow else None
