"""Take a number apart with one division a coordinate instead of one for each `/` and `%`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.digits import Digit, digits
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, span, walk
from optimizer.variables import Variable

_NAME = "fast-division"
_INTEGERS = frozenset({
    "int", "unsigned int", "unsigned", "long", "unsigned long", "long long",
    "unsigned long long", "size_t", "int64_t", "uint64_t", "int32_t", "uint32_t",
})  # fmt: skip


def fast_division(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Share the quotients of `i % a`, `i / a % b`, `i / a / b`: each divides the one before.

    A remainder becomes a multiplication and a subtraction. Legal for a number that tells threads
    apart, which is never negative, and extents that do not change.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.conditional or fn.has_goto or fn.unknown_names:
            continue
        for own in [t.variable for t in (*fn.shifted_ids, *fn.flat_ids) if t.never_negative]:
            parts = digits(fn, own)
            edits = _edits(source, fn, own, parts) if parts is not None else None
            if not edits or parts is None:
                continue
            lines = ", ".join(str(source.line(d.variable.name_node)) for d in parts)
            yield Edit(
                f"share the divisions of `{own.name}`",
                source.replace(edits),
                f"rule:{_NAME}",
                f"`{own.name}` is divided anew for each coordinate in lines {lines}; every"
                " quotient follows from the one before, and a remainder from its quotient.",
                _NAME,
                1.2 if len(parts) > 2 else 1.05,
            )


def _edits(
    source: Source, fn: Function, own: Variable, parts: Sequence[Digit]
) -> list[Replacement] | None:
    if len(parts) < 2 or own.element not in _INTEGERS:
        return None
    first = min((d.variable.declaration for d in parts), key=lambda n: n.start_byte)
    if not own.settled and not steady(fn, own, first):
        return None
    before = _dividers(source, parts)
    if not source.in_block(first) or len(before) <= len(parts) - 1:
        return None
    if any(_through(fn, d, own) for d in parts):
        return None  # the quotients are shared already
    for digit in parts:
        variable = digit.variable
        if not variable.settled or variable.element not in _INTEGERS:
            return None
        if variable.declaration.parent != first.parent:
            return None
        if digit.extent is not None and not all(_known(fn, a, first) for a in digit.extent.atoms):
            return None
    taken = [v.name for v in fn.variables.all]
    names: list[str] = []
    for digit in parts[1:]:
        names.append(source.fresh_name(f"{digit.variable.name}_up", *taken, *names))
    edits: list[Replacement] = []
    chain: list[str] = []
    last = own.name
    for digit, name in zip(parts, [*names, ""], strict=True):
        variable = digit.variable
        if variable.init is None:
            return None
        if not name:
            text = last
            if digit.extent is not None:
                return None
        else:
            extent = str(digit.extent)
            extent = extent if extent.isidentifier() or extent.isdigit() else f"({extent})"
            chain.append(f"const {own.element} {name} = {last} / {extent};")
            text = f"{last} - {name} * {extent}"
            last = name
        edits.append((*span(variable.init), text))
    edits.insert(0, source.insert_before(first, "\n".join(chain)))
    return edits


def steady(fn: Function, variable: Variable, node: Node) -> bool:
    """Return whether a node stands in a loop whose header alone changes a variable, upwards."""
    around = [lp for lp in fn.loops_around(node) if lp.variable is variable]
    if len(around) != 1 or variable.address_taken or variable.reference:
        return False
    loop = around[0]
    upwards = loop.relation in ("<", "<=") and loop.counted and not loop.scaling
    return loop.kind == "for" and upwards and (loop.step is None or loop.step > 0)


def _through(fn: Function, digit: Digit, own: Variable) -> bool:
    """Return whether a coordinate is computed from a local that is computed from the number."""
    if digit.variable.init is None:
        return False
    behind = [u.variable for u in fn.variables.within(digit.variable.init)]
    inits = [v.init for v in behind if v is not None and v is not own and v.init is not None]
    return any(u.variable is own for init in inits for u in fn.variables.within(init))


def _dividers(source: Source, parts: Sequence[Digit]) -> list[Node]:
    """Return the divisions that the coordinates are computed with now."""
    found: list[Node] = []
    for digit in parts:
        if digit.variable.init is not None:
            found += [
                n
                for n in walk(digit.variable.init, "binary_expression")
                if source.of(n.child_by_field_name("operator")) in ("/", "%")
            ]
    return found


def _known(fn: Function, name: str, at: Node) -> bool:
    """Return whether a name has its value already in front of a statement."""
    variable = fn.variable(name, at)
    if variable is None:
        return True  # a constant of the file: nothing unknown is left in this kernel
    if not variable.settled:
        return False
    return variable.space == "parameter" or (
        variable.declaration.end_byte <= at.start_byte and not contains(at, variable.declaration)
    )
