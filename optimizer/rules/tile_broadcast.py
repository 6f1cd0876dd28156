"""Stage in shared memory, tile by tile, what all threads read in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Function, Guard, ThreadId
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.linear import NEGATED
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, span, walk

_NAME = "tile-broadcast"
_SCALARS = frozenset({
    "float", "double", "int", "unsigned", "unsigned int", "long long", "float2", "float4", "int4",
    "double2", "short", "char", "unsigned char", "int2", "float3",
})  # fmt: skip
# Elements of a tile; fewer of a struct, whose size is not known here.
_TILE, _TILE_OF_STRUCTS = 256, 64
_MOST_ARRAYS = 6


@dataclass(frozen=True, slots=True)
class _Plan:
    """The loop, what it reads alike in all threads, and who works at all."""

    loop: Loop
    staged: tuple[Access, ...]
    output: ThreadId | None
    guard: Guard | None
    stores: tuple[Node, ...]


def tile_broadcast(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Let a block load the elements that all its threads loop over once, into shared memory.

    For loops over all bodies, centroids, atoms: `x[j]` with the same `j` in all threads. Threads
    without an output of their own stay for the barriers, work on element 0 and store nothing.
    """
    del findings
    source = Source(kernel.source)
    for number, original in enumerate(source.kernels):
        if original.broken or original.conditional or original.has_asm or original.has_goto:
            continue
        if original.shared or original.barriers or original.warp_calls or original.unknown_calls:
            continue
        if not _worth_a_look(source, original):
            continue
        flat = Source(_early(source, original))
        fn = flat.kernels[number]
        for loop in fn.loops:
            plan = _plan(flat, fn, loop) if not loop.depth else None
            if plan is None:
                continue
            names = dict.fromkeys(f"`{a.name}`" for a in plan.staged)
            yield Edit(
                f"stage {', '.join(names)} of `{fn.name}` in shared memory",
                flat.replace(sorted(_rewrite(flat, fn, plan), key=lambda e: (e[0], e[1]))),
                f"rule:{_NAME}",
                f"All threads read the same elements in the loop of line {loop.line}; a block"
                " needs to load each of them only once.",
                _NAME,
                1.15,
            )


def _worth_a_look(source: Source, fn: Function) -> bool:
    """Return whether a loop reads `x[j]` by its own number, before anything is parsed anew."""
    return any(
        not loop.depth
        and loop.counted
        and any(
            len(a.indices) == 1 and source.plain(a.indices[0]) == loop.name
            for a in fn.accesses_in(loop.body)
        )
        for loop in fn.loops
    )


def _early(source: Source, fn: Function) -> str:
    """Return the text with `if (i < n) {...}` around the work turned into an early return."""
    statements = [n for n in fn.body.named_children if n.type != "comment"]
    guard = next((g for g in fn.guards if statements and g.node.id == statements[-1].id), None)
    if guard is None or guard.exits or guard.bounds is None or len(guard.bounds) != 1:
        return source.text
    inner = guard.body.named_children
    if (
        guard.body.type != "compound_statement"
        or not inner
        or not list(walk(guard.body, "for_statement"))
    ):
        return source.text
    low, high = guard.body.start_byte + 1, guard.body.end_byte - 1
    margin, deeper = source.indent(guard.node), source.indent(inner[0])
    text = source.text[low:high]
    if "\n" not in text or not deeper.startswith(margin):
        return source.text
    if deeper != margin:
        text = text.replace(f"\n{deeper}", f"\n{margin}")
    name, sign, bound = guard.bounds[0]
    if sign not in NEGATED:
        return source.text
    head = f"if ({name} {NEGATED[sign]} {source.of(bound)}) return;"
    return source.replace([(*span(guard.node), head + text.rstrip())])


# -- legality ------------------------------------------------------------------------------------


def _plan(source: Source, fn: Function, loop: Loop) -> _Plan | None:
    if (
        loop.kind != "for" or not loop.counted or loop.step != 1 or loop.relation != "<"
        or loop.leaves_early or loop.variable is None or loop.start is None or loop.bound is None
        or not contains(loop.node, loop.variable.name_node) or loop.pragma is not None
        or not fn.uniform(loop.start) or not fn.uniform(loop.bound)
        or (loop.trips is not None and loop.trips < _TILE)
    ):  # fmt: skip
        return None
    writes = [a for a in fn.accesses if a.writes and a.space != "local"]
    if any(contains(loop.node, a.node) for a in writes):
        return None
    staged = tuple(_staged(source, fn, loop, writes))
    if not staged or len({a.name for a in staged}) > _MOST_ARRAYS:
        return None
    found = _opening(source, fn, loop)
    stores = _stores(writes)
    if found is None or stores is None:
        return None
    return _Plan(loop, staged, *found, stores)


def _staged(source: Source, fn: Function, loop: Loop, writes: Sequence[Access]) -> Iterator[Access]:
    for access in fn.accesses:
        variable = access.variable
        if variable is None or access.kind != "read" or not contains(loop.body, access.node):
            continue
        if variable.space != "parameter" or variable.changes or access.space != "global":
            continue
        if access.cast or variable.depth != 1 or len(access.indices) != 1:
            continue
        if source.plain(access.indices[0]) != loop.name or _element(access) is None:
            continue
        if fn.variables.of(access.indices[0]) is not loop.variable:
            continue
        if all(w.variable is not None and apart(source, fn, variable, w.variable) for w in writes):
            yield access


def _element(access: Access) -> Node | None:
    """Return `p[j]` of `p[j].x`."""
    for node in walk(access.node, "subscript_expression"):
        if field(node, "argument") is not None and contains(node, access.indices[0]):
            return node
    return None


def _opening(
    source: Source, fn: Function, loop: Loop
) -> tuple[ThreadId | None, Guard | None] | None:
    """Return the test of the threads that have work; None when barriers cannot be put in."""
    parent = loop.node.parent
    guards = [g for g in fn.guards if g.exits and g.node.start_byte < loop.node.start_byte]
    returns = list(walk(fn.body, "return_statement"))
    if len(guards) > 1 or parent is None or parent.type != "compound_statement":
        return None
    if not guards:
        return (None, None) if parent.id == fn.body.id and not returns else None
    guard = guards[0]
    if guard.bounds is None or len(guard.bounds) != 1 or len(returns) != guard.exits:
        return None
    name, sign, bound = guard.bounds[0]
    ids = [t for t in fn.thread_ids if t.variable.name == name]
    if len(ids) != 1 or ids[0].axis != "x" or len(fn.thread_ids) != 1 or sign not in ("<", "<="):
        return None
    if not ids[0].variable.settled or not fn.uniform(bound):
        return None
    if parent.id != fn.body.id or not guard.exits or not _changeable(source, ids[0]):
        return None
    return (ids[0], guard) if _only_number(source, fn, ids[0], guard) else None


def _changeable(source: Source, output: ThreadId) -> bool:
    const = output.variable.const
    return not const or source.of(output.variable.declaration).startswith("const ")


def _only_number(source: Source, fn: Function, output: ThreadId, guard: Guard) -> bool:
    """Return whether threads are known by their output's number alone, used behind its test."""
    init, declaration = output.variable.init, output.variable.declaration
    if init is None or any(
        source.of(n) in ("threadIdx", "blockIdx") and not contains(init, n)
        for n in walk(fn.body, "identifier")
    ):
        return False
    early = [a for a in fn.accesses if a.node.start_byte < guard.node.start_byte]
    alone = sum(contains(declaration, v.name_node) for v in fn.variables.all) == 1
    return (
        alone
        and not early
        and not any(
            u.node.start_byte < guard.node.start_byte and not contains(declaration, u.node)
            for u in output.variable.uses
        )
    )


def _stores(writes: Sequence[Access]) -> tuple[Node, ...] | None:
    """Return the statements that write to memory; None when one is more than a statement."""
    found: dict[int, Node] = {}
    for access in writes:
        statement = access.statement
        if statement is None or statement.type != "expression_statement":
            return None
        if statement.parent is None or field(statement.parent, "alternative") is not None:
            return None  # a test put in front would take the `else`
        inner = statement.named_children[0] if statement.named_children else None
        if inner is None or inner.type not in (
            "assignment_expression", "update_expression", "call_expression",
        ):  # fmt: skip
            return None
        if inner.type == "assignment_expression" and not contains(
            field(inner, "left") or inner, access.node
        ):
            return None
        found[statement.id] = statement
    return tuple(found.values())


# -- the edit ------------------------------------------------------------------------------------


def _rewrite(source: Source, fn: Function, plan: _Plan) -> Iterator[Replacement]:
    taken = [v.name for v in fn.variables.all]
    if plan.guard is not None and plan.output is not None:
        active = source.fresh_name("active", *taken)
        declaration = plan.output.variable.declaration
        if plan.output.variable.const:
            yield (declaration.start_byte, declaration.start_byte + len("const "), "")
        name, sign, bound = (plan.guard.bounds or ())[0]
        margin = source.indent(plan.guard.node)
        text = f"const bool {active} = {name} {sign} {source.of(bound)};"
        yield (*span(plan.guard.node), f"{text}\n{margin}if (!{active}) {name} = 0;")
        for statement in plan.stores:
            yield (statement.start_byte, statement.start_byte, f"if ({active}) ")
    yield from _tiled(source, fn, plan, taken)


def _tiled(source: Source, fn: Function, plan: _Plan, taken: list[str]) -> Iterator[Replacement]:
    loop = plan.loop
    if loop.variable is None or loop.start is None or loop.bound is None or loop.condition is None:
        return
    margin = source.indent(loop.node)
    step = "\t" if margin.endswith("\t") else " " * (len(margin) if len(margin) in (2, 3, 4) else 4)
    j, bound = loop.name, source.of(loop.bound)
    first, at, size = (source.fresh_name(x, *taken) for x in (f"{j}0", "t", "kTile"))
    tiles: dict[str, str] = {}
    structs = any(a.element not in _SCALARS for a in plan.staged)
    head = [f"constexpr int {size} = {_TILE_OF_STRUCTS if structs else _TILE};"]
    for access in plan.staged:
        if access.name not in tiles:
            tiles[access.name] = source.fresh_name(f"{access.name}_tile", *taken)
            head.append(f"__shared__ {access.element} {tiles[access.name]}[{size}];")
        element = _element(access)
        if element is not None:
            yield (*span(element), f"{tiles[access.name]}[{j} - {first}]")
    kind = loop.variable.type
    start = source.of(loop.start)
    inside = f"{at} < {size} && {first} + {at} < {bound}"
    head += [
        f"for ({kind} {first} = {start}; {first} < {bound}; {first} += {size}) {{",
        f"{step}__syncthreads();",
        f"{step}for (int {at} = threadIdx.x; {inside}; {at} += blockDim.x) {{",
        *(f"{step * 2}{tile}[{at}] = {name}[{first} + {at}];" for name, tile in tiles.items()),
        f"{step}}}",
        f"{step}__syncthreads();",
    ]
    low = loop.node.start_byte
    starts_line = not source.text[source.text.rfind("\n", 0, low) + 1 : low].strip()
    lead = "" if starts_line else f"\n{margin}"
    yield (low, low, lead + f"\n{margin}".join([*head, step]))
    yield (*span(loop.start), first)
    if loop.variable.element == "int" and fn.type_of(loop.bound) == "int":
        yield (*span(loop.bound), f"min({first} + {size}, {bound})")
    else:
        yield (*span(loop.condition), f"{source.of(loop.condition)} && {j} < {first} + {size}")
    line = source.text.find("\n", low)
    while -1 < line < loop.node.end_byte:
        if source.text[line + 1 : line + 2] not in ("\n", "\r", "#"):
            yield (line + 1, line + 1, step)
        line = source.text.find("\n", line + 1)
    yield (loop.node.end_byte, loop.node.end_byte, f"\n{margin}}}")
