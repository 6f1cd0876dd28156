"""Functions of what a loop never changes, called once before it."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.intrinsics import MATH
from optimizer.loops import Loop
from optimizer.model import Edit
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, contains, field, operator, span, walk

# A few instructions without branches: the compiler moves these itself, or keeps a register.
_CHEAP = frozenset({
    "fabs", "fabsf", "fmin", "fminf", "fmax", "fmaxf", "fma", "fmaf", "floor", "floorf", "ceil",
    "ceilf", "rint", "rintf", "trunc", "truncf", "round", "roundf", "copysign", "copysignf",
})  # fmt: skip
_TESTS = ("if_statement", "switch_statement", "conditional_expression", "do_statement")


def hoist_calls(source: Source, fn: Function) -> Iterator[Edit]:
    """Yield an edit that calls `pow(b, t)` before the outermost loop in which b and t stay.

    The compiler leaves calls with branches in them where they are. Only calls that every iteration
    makes are moved; their values do not change.
    """
    groups: dict[tuple[int, str], tuple[Loop, list[Node]]] = {}
    for call in fn.variables.nodes("call_expression"):
        loop = _keeping(source, fn, call)
        if loop is not None:
            groups.setdefault((loop.node.id, source.plain(call)), (loop, []))[1].append(call)
    edits: list[Replacement] = []
    lines: dict[int, str] = {}
    shown: list[str] = []
    taken = [v.name for v in fn.variables.all]
    for (_, text), (loop, calls) in groups.items():
        words = [source.of(n) for n in walk(calls[0], "identifier")]
        name = source.fresh_name("_".join(dict.fromkeys((words[0], words[1]))), *taken)
        taken.append(name)
        shown.append(text)
        at, _, line = source.insert_before(loop.node, f"const auto {name} = {source.of(calls[0])};")
        lines[at] = lines.get(at, "") + line
        edits += [(*span(call), name) for call in calls]
    if edits:
        yield Edit(
            f"call `{shown[0]}` once before the loop",
            source.replace(sorted([*edits, *((at, at, line) for at, line in lines.items())])),
            "rule:hoist",
            f"`{fn.name}` calls it with the same arguments in every iteration; the compiler does"
            " not move calls that branch.",
            "hoist",
            1.3,
        )


def _keeping(source: Source, fn: Function, call: Node) -> Loop | None:
    """Return the outermost loop in which a call that each iteration makes has one value."""
    name = source.plain(field(call, "function")).removeprefix("std::")
    if name not in MATH or name in _CHEAP or source.function(name) is not None or fn.has_goto:
        return None
    if not any(fn.variables.of(n) is not None for n in walk(call, "identifier")):
        return None
    return next((lp for lp in fn.loops_around(call) if _fits(source, fn, lp, call)), None)


def _fits(source: Source, fn: Function, loop: Loop, call: Node) -> bool:
    if not source.in_block(loop.node) or not contains(loop.body, call) or fn.leaves(loop.body):
        return False
    known = (u.variable for u in fn.variables.within(call))
    if any(v is not None and contains(loop.node, v.name_node) for v in known):
        return False
    for outer in ancestors(call, loop.node):
        if outer.type in _TESTS:
            return False
        if outer.type == "binary_expression" and operator(outer) in ("&&", "||"):
            return False
    outermost = [a for a in ancestors(call, loop.node) if a.type == "call_expression"]
    names = (source.plain(field(a, "function")).removeprefix("std::") for a in outermost)
    if any(n in MATH and fn.is_invariant(a, loop) for n, a in zip(names, outermost, strict=True)):
        return False  # that one moves whole
    return fn.is_invariant(call, loop)
