"""One thread of a block works through a loop while the others wait."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from optimizer import counters
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.functions import Function
from optimizer.model import Finding, Kernel
from optimizer.syntax import field, operator, stripped, walk

# Fewer lanes than this do any work on average: ncu's line for divergence.
LANES = 24.0
# A loop this short is a tail, not a serial section.
SHORT = 16


@detector("serial-thread")
def serial_thread(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find `if (threadIdx.x == 0)` around a loop."""
    function = seen.function(kernel)
    line = _serial_loop(function) if function is not None else None
    if line is None:
        return
    used = seen.of(counters.THREADS_USED)
    if seen.profiled and used >= LANES:
        return
    expected = gain((1.0 - used / 32.0) * 0.6 if seen.profiled else 0.3)
    yield Finding(
        "",
        "one thread runs a loop on behalf of its block while the others wait",
        line=line,
        severity=severity(expected),
        counters={counters.THREADS_USED: used} if seen.profiled else {},
        advice="share the loop among the block: a partial result a thread, then warp shuffles",
        remedies=("share-loop", "shuffle-reduce", "split-loop", "warp-per-row", "scan-loop"),
        expected=expected,
        confidence=0.8 if seen.profiled else 0.5,
    )


def _serial_loop(function: Function) -> int | None:
    for node in walk(function.body, "if_statement"):
        body = field(node, "consequence")
        if body is None or not _is_first_thread(function, stripped(field(node, "condition"))):
            continue
        for loop in function.loops:
            inside = body.start_byte <= loop.node.start_byte < body.end_byte
            if inside and (loop.trips is None or loop.trips > SHORT):
                return loop.line
    return None


def _is_first_thread(function: Function, condition: Node | None) -> bool:
    if condition is None:
        return False
    if condition.type == "binary_expression" and operator(condition) == "&&":
        sides = (stripped(field(condition, "left")), stripped(field(condition, "right")))
        return any(_is_first_thread(function, side) for side in sides)
    if condition.type == "unary_expression" and operator(condition) == "!":
        return _is_thread(function, stripped(field(condition, "argument")))
    if condition.type != "binary_expression" or operator(condition) != "==":
        return False
    left, right = stripped(field(condition, "left")), stripped(field(condition, "right"))
    if function.file.syntax.of(left) == "0":
        left, right = right, left
    return function.file.syntax.of(right) == "0" and _is_thread(function, left)


def _is_thread(function: Function, node: Node | None) -> bool:
    value = function.affine(node)
    return value is not None and value.symbols == {"threadIdx.x"}
