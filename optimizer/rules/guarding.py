"""Make all threads of a block reach the end of a kernel, as barriers there need."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function, Guard, ThreadId
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, walk


@dataclass(frozen=True, slots=True)
class Opening:
    """A kernel whose work stands under one test at most.

    `edits` turn an early return into a block around the rest; `end` is where code that every
    thread runs can be put, `start` where the body begins.
    """

    edits: tuple[Replacement, ...]
    start: int
    end: int
    guard: Guard | None


def open_end(source: Source, fn: Function, *, stride: str = "", axis: str = "x") -> Opening | None:
    """Return how to reach a kernel's end with all threads; None when it can return elsewhere.

    With `stride` (`blockDim.x * gridDim.x`) the test becomes a loop over elements along an axis, so
    that fewer blocks do the same work.
    """
    body = fn.body
    returns = list(walk(body, "return_statement"))
    exits = [g for g in fn.guards if g.exits]
    last = _last_code(body)
    start = body.start_byte + 1
    if last is None or len(exits) > 1:
        return None
    if exits:
        guard = exits[0]
        if len(returns) != 1 or not contains(guard.node, returns[0]):
            return None
        head = _head(source, fn, guard, stride, axis)
        if head is None or guard.node.parent is None or guard.node.parent.id != body.id:
            return None
        return Opening(_wrap(source, guard.node, head, last), start, last, guard)
    if returns:
        return None
    around = [g for g in fn.guards if g.node.parent is not None and g.node.parent.id == body.id]
    if not stride:
        return Opening((), start, last, around[0] if len(around) == 1 else None)
    if len(around) != 1:
        return None
    guard = around[0]
    head = _head(source, fn, guard, stride, axis)
    if head is None or field(guard.node, "alternative") is not None:
        return None
    edit = (guard.node.start_byte, guard.body.start_byte, f"{head} ")
    return Opening((edit,), start, last, guard)


def _head(source: Source, fn: Function, guard: Guard, stride: str, axis: str) -> str | None:
    """Return `if (i < n)` or, with a stride, `for (; i < n; i += stride)`."""
    if not stride and guard.bounds is None:
        condition = source.of(field(guard.node, "condition"))
        return f"if (!{condition})" if guard.exits else f"if {condition}"
    if guard.bounds is None:
        return None
    tests = " && ".join(f"{n} {sign} {source.of(bound)}" for n, sign, bound in guard.bounds)
    if not stride:
        return f"if ({tests})"
    element = strided(fn, guard, axis)
    if element is None:
        return None
    return f"for (; {tests}; {element.variable.name} += {stride})"


def strided(fn: Function, guard: Guard, axis: str = "x") -> ThreadId | None:
    """Return the thread number of a test when the work under it can be repeated for others."""
    names = [n for n, sign, _ in guard.bounds or () if sign in ("<", "<=")]
    if not names or len(names) != len(guard.bounds or ()) or len(set(names)) != len(names):
        return None
    if len(names) != len(fn.thread_ids):
        return None
    found = [t for t in fn.thread_ids if t.variable.name in names and t.axis == axis]
    if len(found) != 1 or found[0].variable.const or not found[0].variable.settled:
        return None
    # What was computed from the number before the test would be stale in the second round.
    early = [
        u
        for u in found[0].variable.uses
        if u.node.start_byte < guard.node.start_byte
        and not contains(found[0].variable.declaration, u.node)
    ]
    others = {t.variable.name for t in fn.thread_ids}
    return None if early or others != set(names) else found[0]


def _last_code(body: Node) -> int | None:
    """Return the position behind the last statement of a body."""
    statements = [n for n in body.named_children if n.type != "comment"]
    return statements[-1].end_byte if statements else None


def _wrap(source: Source, guard: Node, head: str, last: int) -> tuple[Replacement, ...]:
    """Return the edits that put the rest of the body into a block, indented by one step."""
    margin = source.indent(guard)
    step = "\t" if margin.endswith("\t") else " " * (len(margin) if len(margin) in (2, 3, 4) else 4)
    edits: list[Replacement] = [(guard.start_byte, guard.end_byte, f"{head} {{")]
    at = source.text.find("\n", guard.end_byte)
    while -1 < at < last:
        following = source.text[at + 1 : at + 2]
        if following not in ("\n", "\r", "#"):
            edits.append((at + 1, at + 1, step))
        at = source.text.find("\n", at + 1)
    edits.append((last, last, f"\n{margin}}}"))
    return tuple(edits)
