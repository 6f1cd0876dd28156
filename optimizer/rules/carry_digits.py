"""Take a number apart once and carry its digits on from one output of a thread to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function, Guard, ThreadId
from optimizer.geometry import Geometry, regrid
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.digits import Digit, digits
from optimizer.rules.odometer import INTEGERS, extent_text, plain
from optimizer.rules.outputs import alone, fewer, fresh_each_time
from optimizer.rules.vectorize import neighbours
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, span, walk

_NAME = "carry-digits"


@dataclass(frozen=True, slots=True)
class _Plan:
    """The number, its digits, its block's number, its bound, and the work that is repeated."""

    output: ThreadId
    digits: tuple[Digit, ...]
    block: Node
    bound: Node
    first: Node
    last: Node


def carry_digits(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Give a thread 8, 4 or 16 outputs, neighbours or a block apart; divide for the first only.

    Coordinates of the next output are those of this one plus the digits of the distance, with
    carries: additions in place of divisions. Legal where the kernel knows its block only by the
    number of its output, threads do not talk to each other, and the coordinates make up the whole
    number, which is tested before them. Neighbours, whose coordinates are counted on and which are
    stored by one wide access, are what `vectorize` allows.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        for width, text, launch in neighbours(kernel, source, fn):
            yield Edit(
                f"compute {width} neighbours per thread in `{fn.name}`, counting coordinates on",
                text,
                f"rule:{_NAME}",
                f"In `{fn.name}` (line {fn.line}) each output's number is divided into coordinates;"
                f" of {width} neighbours only the first one's is, and one access moves them.",
                _NAME,
                1.6,
                launch,
            )
        plan = _plan(source, fn)
        if plan is None:
            continue
        for count in (8, 4, 16):
            geometry = regrid(kernel, source, fn, {"x": fewer(count)})
            if geometry is not None:
                yield _edit(source, fn, plan, count, geometry)


def _plan(source: Source, fn: Function) -> _Plan | None:
    if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
        return None
    if fn.conditional or len(fn.thread_ids) != 1 or not alone(source, fn):
        return None
    output = fn.thread_ids[0]
    init = output.variable.init
    blocks = [n for n in walk(fn.body, "identifier") if source.of(n) in ("blockIdx", "gridDim")]
    block = blocks[0].parent if len(blocks) == 1 else None
    if block is None or init is None or not contains(init, block):
        return None
    if source.plain(block) != "blockIdx.x" or not plain(output.variable.declaration):
        return None
    parts = digits(fn, output.variable)
    if parts is None or len(parts) < 2:
        return None
    scope = parts[0].variable.declaration.parent
    numbers = (output.variable, *(d.variable for d in parts))
    if not all(v.settled and v.element in INTEGERS for v in numbers):
        return None
    if not all(plain(v.declaration) and v.declaration.parent == scope for v in numbers[1:]):
        return None
    return _worked(fn, output, tuple(parts), block)


def _worked(fn: Function, output: ThreadId, parts: tuple[Digit, ...], block: Node) -> _Plan | None:
    """Find the statements behind the coordinates, up to the end of their block."""
    scope = parts[0].variable.declaration.parent
    latest = max(d.variable.declaration.end_byte for d in parts)
    if scope is None or scope.type != "compound_statement":
        return None
    work = [n for n in scope.named_children if n.type != "comment" and n.start_byte >= latest]
    guard = _guard(fn, output, scope)
    if not work or guard is None or guard.bounds is None:
        return None
    if guard.exits and guard.node.start_byte > latest:
        return None
    returns = list(walk(fn.body, "return_statement"))
    if any(not (guard.exits and contains(guard.node, r)) for r in returns):
        return None
    bound = guard.bounds[0][2]
    if not _fixed(fn, bound) or not fresh_each_time(fn, work[0]):
        return None
    if not _only_digits(fn, output, parts, guard, latest):
        return None
    return _Plan(output, parts, block, bound, work[0], work[-1])


def _fixed(fn: Function, node: Node) -> bool:
    """Return whether an expression of scalars has one value all through the kernel."""
    memory = walk(node, "subscript_expression", "pointer_expression", "call_expression")
    return not any(True for _ in memory) and all(
        u.variable is None or (u.variable.settled and u.variable.is_scalar)
        for u in fn.variables.within(node)
    )


def _guard(fn: Function, output: ThreadId, scope: Node) -> Guard | None:
    """Return the only test of the number: before the coordinates, or around all memory."""
    name = output.variable.name
    tests = [(g, g.bounds) for g in fn.guards if g.bounds is not None and len(g.bounds) == 1]
    found = [g for g, bounds in tests if bounds[0][:2] == (name, "<")]
    if len(found) != 1:
        return None
    guard = found[0]
    if guard.exits:
        return guard if scope == fn.body else None
    outside = [a for a in fn.accesses if a.space != "local" and not contains(guard.node, a.node)]
    return guard if guard.body == scope and not outside and not fn.unknown_calls else None


def _only_digits(
    fn: Function, output: ThreadId, parts: tuple[Digit, ...], guard: Guard, latest: int
) -> bool:
    """Return whether nothing else is computed from the number before the work begins.

    Quotients on the way to a coordinate are used by coordinates alone.
    """
    low = output.variable.declaration.end_byte
    places = [d.variable.declaration for d in parts]
    for variable in fn.variables.all:
        if variable.init is None or not low <= variable.name_node.start_byte < latest:
            continue
        uses = [u.node for u in variable.uses if u.role != "declare"]
        if uses and all(any(contains(p, u) for p in places) for u in uses):
            places.append(variable.declaration)
    own = {output.variable.name, *(d.variable.name for d in parts)}
    for use in fn.variables.within(fn.body):
        if use.name not in own or not low <= use.node.start_byte < latest:
            continue
        tested = contains(guard.node, use.node) and use.node.start_byte < guard.body.start_byte
        if use.role != "declare" and not tested and not any(contains(p, use.node) for p in places):
            return False
    return not any(low <= c.node.start_byte < latest for c in fn.calls)


# -- the edit ------------------------------------------------------------------------------------


def _edit(source: Source, fn: Function, plan: _Plan, count: int, geometry: Geometry) -> Edit:
    edits = [*_rewrite(source, fn, plan, count), *geometry.edits]
    lines = [source.line(d.variable.name_node) for d in plan.digits]
    return Edit(
        f"compute {count} outputs per thread in `{fn.name}`, carrying coordinates on",
        source.replace(sorted(edits, key=lambda e: (e[0], e[1]))),
        f"rule:{_NAME}",
        f"Lines {min(lines)}-{max(lines)} divide `{plan.output.variable.name}` for every output;"
        f" with {count} outputs a thread divides once and adds with carry.",
        _NAME,
        1.1 + 0.1 * len(plan.digits),
        geometry.launch,
    )


def _rewrite(source: Source, fn: Function, plan: _Plan, count: int) -> Iterator[Replacement]:
    name, step = plan.output.variable.name, plan.output.block
    yield (*span(plan.block), f"(blockIdx.x * {count})")
    for variable in (plan.output.variable, *(d.variable for d in plan.digits)):
        for word in variable.declaration.children:
            if word.type == "type_qualifier" and source.of(word) == "const":
                yield (word.start_byte, word.end_byte + 1, "")
    taken = [v.name for v in fn.variables.all]
    margin = source.indent(plan.first)
    around = source.indent(plan.first.parent or plan.first)
    unit = margin.removeprefix(around) or "    "
    steps: list[str] = []
    head: list[str] = []
    rest = step
    for digit in plan.digits:
        steps.append(source.fresh_name(f"{digit.variable.name}_step", *taken, *steps))
        value = f"{rest} % {extent_text(digit)}" if digit.extent is not None else rest
        head.append(f"const {digit.variable.element} {steps[-1]} = {value};")
        rest = f"{rest} / {extent_text(digit)}"
    item = source.fresh_name("item", *taken)
    test = f"{item} < {count} && {name} < {source.of(plan.bound)}"
    head.append(f"for (int {item} = 0; {test}; ++{item}) {{")
    low, last = plan.first.start_byte, plan.last.end_byte
    yield (low, low, "".join(f"{line}\n{margin}" for line in head) + unit)
    at = source.text.find("\n", low)
    while -1 < at < last:
        if source.text[at + 1 : at + 2] not in ("\n", "\r", "#"):
            yield (at + 1, at + 1, unit)
        at = source.text.find("\n", at + 1)
    tail = [f"{name} += {step};"]
    tail += [f"{d.variable.name} += {s};" for d, s in zip(plan.digits, steps, strict=True)]
    for digit, above in zip(plan.digits, plan.digits[1:], strict=False):
        own, extent = digit.variable.name, extent_text(digit)
        tail += [f"if ({own} >= {extent}) {{", f"{unit}{own} -= {extent};"]
        tail += [f"{unit}++{above.variable.name};", "}"]
    yield (last, last, "".join(f"\n{margin}{unit}{line}" for line in tail) + f"\n{margin}}}")
