"""Divide a thread's number in 32 bits where a test has shown that it fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.functions import Function, Guard
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, span, stripped
from optimizer.variables import Variable

_NAME = "narrow-index"
# What fits 32 bits for certain, and the wide types with the narrow one that keeps their sign.
_NARROW = frozenset({"int", "int32_t", "unsigned int", "unsigned", "uint32_t"})
_SIGNED = frozenset({"int", "int32_t"})
_WIDE = {
    "long": "int", "long long": "int", "int64_t": "int",
    "size_t": "unsigned int", "unsigned long": "unsigned int",
    "unsigned long long": "unsigned int", "uint64_t": "unsigned int",
}  # fmt: skip


def narrow_index(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Divide in 32 bits what a test against an `int` has bounded, by what is an `int`.

    Legal for `i / w` and `i % w` with a 64-bit number `i` of the thread behind `if (i >= n)
    return;`, under `if (i < n)` or in a loop that strides while `i < n`, where `n` and `w` have 32
    bits and a sign; the quotient is what it was, since `i` is not negative and less than `n`. An
    extent counts as not negative.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.conditional or fn.has_goto or fn.unknown_names:
            continue
        edits: list[Replacement] = []
        lines: list[str] = []
        for own in [t.variable for t in (*fn.shifted_ids, *fn.flat_ids) if t.never_negative]:
            kind = _WIDE.get(own.element)
            if kind is None:
                continue
            guards = [g for g in fn.guards if own.settled and _bounds(source, fn, g, own)]
            around = [lp for lp in fn.loops if _strides(source, fn, lp, own)]
            for division in fn.divisions:
                walked = any(contains(lp.body, division) for lp in around)
                if walked or any(_behind(g, division) for g in guards):
                    found = _narrowed(source, fn, division, own, kind)
                    edits += found
                    lines += [str(source.line(division))] * bool(found)
        if edits:
            yield Edit(
                f"divide in 32 bits in `{fn.name}`",
                source.replace(sorted(edits)),
                f"rule:{_NAME}",
                f"Lines {', '.join(dict.fromkeys(lines))} divide 64-bit numbers that a test against"
                " a 32-bit extent has bounded; a division of 32 bits takes a fraction of that.",
                _NAME,
                1.1,
            )


def _bounds(source: Source, fn: Function, guard: Guard, own: Variable) -> bool:
    """Return whether a test lets a number pass only below what an `int` can hold."""
    return any(
        name == own.name
        and sign in ("<", "<=")
        and source.resolved(fn.type_of(bound) or "") in _SIGNED
        and fn.variable(name, guard.node) is own
        for name, sign, bound in guard.bounds or ()
    )


def _strides(source: Source, fn: Function, loop: Loop, own: Variable) -> bool:
    """Return whether a loop's header alone moves a number, below what an `int` can hold."""
    return (
        loop.variable is own
        and loop.kind == "for"
        and loop.counted
        and loop.relation in ("<", "<=")
        and loop.bound is not None
        and source.resolved(fn.type_of(loop.bound) or "") in _SIGNED
    )


def _behind(guard: Guard, node: Node) -> bool:
    if guard.exits:
        return node.start_byte >= guard.node.end_byte
    return contains(guard.body, node)


def _narrowed(
    source: Source, fn: Function, division: Node, own: Variable, kind: str
) -> list[Replacement]:
    """Return the edit that divides in 32 bits; none where that could give something else."""
    left, right = field(division, "left"), stripped(field(division, "right"))
    if division.type != "binary_expression" or left is None or right is None:
        return []
    if left.type != "identifier" or fn.variables.of(left) is not own:
        return []
    divisor = source.resolved(fn.type_of(right) or "")
    if divisor not in (_NARROW if kind == "unsigned int" else _SIGNED):
        return []
    if right.type not in ("identifier", "number_literal", "field_expression"):
        return []
    # Wide again at once: what is computed from the quotient is computed as it was.
    text = f"({kind}){own.name}"
    parent = division.parent
    if parent is not None and parent.type in ("init_declarator", "subscript_argument_list"):
        return [(*span(left), text)]
    whole = f"{text} {operator(division)} {source.of(right)}"
    return [(*span(division), f"({own.written})({whole})")]
