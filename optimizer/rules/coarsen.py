"""Give a thread several outputs, and let it ask for all their operands before it uses any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Function, Guard, ThreadId
from optimizer.geometry import Change, Geometry, reblock, regrid
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, contains, operator, span, walk
from optimizer.variables import Variable

_NAME = "coarsen"
_BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop", "switch_statement")
# A loop that is repeated for each output must be short: a long one hides latency by itself.
_SHORT = 8
_MOST_LOADED = 32
# Of outputs side by side many read the same elements, which the compiler loads once.
_MOST_SHARED = 72
_LONGEST = 120
_WHOLE = frozenset({
    "int", "unsigned", "unsigned int", "long", "size_t", "long long", "uint32_t", "int64_t",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plan:
    """The number that runs over several outputs, where its block's number stands, its test.

    Without a test blocks are exact: they keep their outputs and get fewer threads, so that the
    thread's number and the block's extent change in place of the block's number. `rows` tells that
    outputs next to each other read some of the same elements.
    """

    output: ThreadId
    block: Node
    thread: Node | None
    extent: Node | None
    guard: Guard | None
    returns: tuple[Node, ...]
    loads: tuple[tuple[Access, str], ...]
    rows: bool = False


def coarsen(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Let each thread compute 2, 4 or 8 outputs that lie a block apart; fewer blocks do the work.

    Legal because a block then only does what several blocks did, one after the other: the kernel
    knows its block only by the number of its output, that number is tested against an extent, and
    threads do not talk to each other. Where it is not tested blocks keep their outputs and shrink.
    Where operands can be read ahead they are, for all outputs.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        plan = _plan(source, fn)
        if plan is None:
            continue
        for count in (4, 2, 8) if plan.rows else ():
            geometry = regrid(kernel, source, fn, {plan.output.axis: fewer(count)})
            if geometry is not None and len(plan.loads) * count <= _MOST_SHARED:
                yield _edit(source, fn, plan, count, geometry, ahead=True, rows=True)
        for count, ahead in ((4, True), (2, True), (8, True), (4, False), (2, False)):
            if ahead and not 0 < len(plan.loads) * count <= _MOST_LOADED:
                continue
            if plan.guard is None:
                geometry = reblock(kernel, source, fn, plan.output.axis, count)
            else:
                geometry = regrid(kernel, source, fn, {plan.output.axis: fewer(count)})
            if geometry is not None:
                yield _edit(source, fn, plan, count, geometry, ahead=ahead)


def fewer(factor: int) -> Change:
    """Return the change that divides an extent, rounding up.

    >>> fewer(4)("n"), fewer(4)("(n + 255) / 256"), fewer(2)("a ? b : c")
    ('(n + 3) / 4', '((n + 255) / 256 + 3) / 4', '((a ? b : c) + 1) / 2')
    """

    def change(text: str) -> str:
        loose = any(sign in text for sign in ("?", "<", ">", "|", "&", ","))
        return f"({f'({text})' if loose else text} + {factor - 1}) / {factor}"

    return change


def _edit(
    source: Source,
    fn: Function,
    plan: _Plan,
    count: int,
    geometry: Geometry,
    *,
    ahead: bool,
    rows: bool = False,
) -> Edit:
    loads = plan.loads if ahead else ()
    edits = [*_rewrite(source, fn, plan, count, loads, rows), *geometry.edits]
    if rows:
        return Edit(
            f"compute {count} neighbours along {plan.output.axis} per thread in `{fn.name}`",
            source.replace(sorted(edits, key=lambda e: (e[0], e[1]))),
            f"rule:{_NAME}",
            f"Outputs of line {fn.line} that are neighbours along {plan.output.axis} read some of"
            f" the same elements; a thread with {count} of them reads those once.",
            _NAME,
            1.2 if plan.output.axis == "y" else 1.05,
            geometry.launch,
        )
    first = ", their operands read first" if ahead else ""
    return Edit(
        f"compute {count} outputs per thread in `{fn.name}`{first}",
        source.replace(sorted(edits, key=lambda e: (e[0], e[1]))),
        f"rule:{_NAME}",
        f"A thread of line {fn.line} has one output and waits for its own loads; {count} outputs"
        " share the index arithmetic and keep more loads in flight.",
        _NAME,
        1.12 if ahead else 1.04,
        geometry.launch,
    )


# -- legality ------------------------------------------------------------------------------------


def _plan(source: Source, fn: Function) -> _Plan | None:
    if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
        return None
    if fn.conditional or not alone(source, fn):
        return None
    if any(loop.trips is None or loop.trips > _SHORT for loop in fn.loops):
        return None
    for axis in "zyx":
        ids = [t for t in fn.shifted_ids if t.axis == axis]
        if len(ids) == 1:
            return _along(source, fn, ids[0])
    return _along(source, fn, fn.flat_ids[0]) if len(fn.flat_ids) == 1 else None


def alone(source: Source, fn: Function) -> bool:
    """Return whether nothing that is called or spelled by a macro knows of threads."""
    if any(word in body for body in source.macro_bodies(fn) for word in _BUILTINS):
        return False
    for call in fn.calls:
        callee = source.function(call.name)
        if callee is not None and any(
            source.of(n) in _BUILTINS for n in walk(callee.body, "identifier")
        ):
            return False
        if callee is None and call in fn.unknown_calls:
            return False
    return not any(v.volatile for v in fn.variables.all) and not any(
        call.name.startswith("atomicCAS") for call in fn.atomics
    )


def _along(source: Source, fn: Function, output: ThreadId) -> _Plan | None:
    variable = output.variable
    init, declaration = variable.init, variable.declaration
    if init is None or not variable.settled or not _top(fn, declaration):
        return None
    named = [
        n
        for n in walk(fn.body, "field_expression")
        if source.plain(n) in (f"blockIdx.{output.axis}", f"gridDim.{output.axis}")
    ]
    block = _within(fn, init, named[0]) if len(named) == 1 else None
    if output in fn.flat_ids:
        block = _flat(source, fn, init)
    if block is None:
        return None
    if sum(source.of(n) in ("blockIdx", "gridDim") for n in walk(fn.body, "identifier")) != sum(
        source.plain(n).startswith(("blockIdx.", "gridDim."))
        for n in walk(fn.body, "field_expression")
    ):
        return None
    guard = _guard(fn, output)
    returns = _returns(fn)
    thread = extent = None
    if guard is None:
        found = exact(source, fn, output, init)
        if found is None:
            return None
        thread, extent = found
    if returns is None or not fresh_each_time(fn, declaration):
        return None
    loads = tuple(_loads(source, fn, guard, declaration))
    rows = (
        guard is not None
        and output.axis != "x"
        and not output.shift.terms
        and _rows(source, fn, output, init, [a for a, _ in loads])
    )
    return _Plan(output, block, thread, extent, guard, returns, loads, rows)


def _rows(
    source: Source, fn: Function, output: ThreadId, init: Node, loads: Sequence[Access]
) -> bool:
    """Return whether neighbours read the same, and the kernel knows its thread by the number."""
    if exact(source, fn, output, init) is None:
        return False
    symbol = f"threadIdx.{output.axis}"
    for at, one in enumerate(loads):
        for other in loads[at + 1 :]:
            if one.root != other.root or one.index is None or other.index is None:
                continue
            row, apart_by = one.index.coefficient(symbol), one.index - other.index
            if row is None or not row.terms or not apart_by.terms:
                continue
            if any(apart_by.same(row.scaled(n)) for n in (1, -1, 2, -2)):
                return True
    return False


def _ids(fn: Function) -> tuple[ThreadId, ...]:
    return (*fn.shifted_ids, *fn.flat_ids)


def _flat(source: Source, fn: Function, init: Node) -> Node | None:
    """Return where a block of a plane is numbered, if its number is asked for nowhere else."""
    number = {("blockIdx.x",): 1, ("blockIdx.y", "gridDim.x"): 1}
    for node in walk(init, "parenthesized_expression"):
        value = fn.affine(node)
        if value is None or dict(value.terms) != number:
            continue
        asked = [n for n in walk(fn.body, "identifier") if source.of(n) in ("blockIdx", "gridDim")]
        return node if all(contains(node, n) for n in asked) else None
    return None


def _within(fn: Function, init: Node, named: Node) -> Node | None:
    """Return where a built-in stands in the output's number: itself, or a local like `bx`."""
    if contains(init, named):
        return named
    found = [v for v in fn.variables.all if v.init == named and v.settled and v.element == "int"]
    uses = [u.node for v in found for u in v.uses if u.role != "declare"]
    return uses[0] if len(uses) == 1 and contains(init, uses[0]) else None


def exact(
    source: Source, fn: Function, output: ThreadId, init: Node
) -> tuple[Node, Node | None] | None:
    """Return where the thread's number and the block's extent stand, if only in the number."""
    fields = [(n, source.plain(n)) for n in walk(fn.body, "field_expression")]
    threads = [n for n, text in fields if text == f"threadIdx.{output.axis}"]
    extents = [n for n, text in fields if text == f"blockDim.{output.axis}"]
    thread = _within(fn, init, threads[0]) if len(threads) == 1 else None
    bare = [n for n in walk(fn.body, "identifier") if source.of(n) in ("threadIdx", "blockDim")]
    if thread is None or len(extents) > 1 or not all(contains(init, n) for n in extents):
        return None
    if any(n.parent is None or n.parent.type != "field_expression" for n in bare):
        return None
    return thread, extents[0] if extents else None


def _top(fn: Function, node: Node) -> bool:
    return node.parent is not None and node.parent.id == fn.body.id


def _guard(fn: Function, output: ThreadId) -> Guard | None:
    """Return the test that keeps blocks that are too many from doing anything."""
    name = output.variable.name
    for guard in fn.guards:
        if guard.node.start_byte < output.variable.declaration.end_byte:
            continue
        if guard.bounds is None or not any(
            n == name and sign in ("<", "<=") for n, sign, _ in guard.bounds
        ):
            continue
        touched = [a for a in fn.accesses if a.space != "local"]
        calls = [c.node for c in (*fn.unknown_calls, *fn.atomics)]
        for node in (*(a.node for a in touched), *calls):
            if guard.exits and node.start_byte < guard.node.end_byte:
                return None
            if not guard.exits and not contains(guard.node, node):
                return None
        return guard
    return None


def _returns(fn: Function) -> tuple[Node, ...] | None:
    found = tuple(walk(fn.body, "return_statement"))
    for node in found:
        if node.named_children or any(a.type in _LOOPS for a in ancestors(node, fn.body)):
            return None
    return found


def fresh_each_time(fn: Function, declaration: Node) -> bool:
    """Return whether nothing declared before the outputs' loop is changed in it."""
    return not any(
        v.name_node.start_byte < declaration.start_byte
        and _has_value(v, declaration)
        and any(u.node.start_byte > declaration.start_byte for u in v.changes)
        for v in fn.variables.all
        if not v.is_array or v.space == "local"
    ) and not any(
        a.writes and a.space == "local" and a.variable is not None
        and a.variable.name_node.start_byte < declaration.start_byte
        for a in fn.accesses
    )  # fmt: skip


def _has_value(variable: Variable, at: Node) -> bool:
    """Return whether a variable is set before a place; others are written before they are read."""
    if variable.init is not None or variable.space != "local":
        return True
    return any(u.node.start_byte < at.start_byte for u in variable.changes)


def _loads(
    source: Source, fn: Function, guard: Guard | None, declaration: Node
) -> Iterator[tuple[Access, str]]:
    """Yield the reads that each output is sure to do, and how they are written before all else."""
    bounds = (guard.bounds or ()) if guard is not None else ()
    returns = sum(1 for _ in walk(fn.body, "return_statement"))
    if returns > (guard is not None and guard.exits):
        return
    if not all(_early(source, fn, guard, declaration, bound) for _, _, bound in bounds):
        return
    for access in fn.accesses:
        variable = access.variable
        if access.kind != "read" or access.space != "global" or access.cast or variable is None:
            continue
        if variable.space != "parameter" or variable.changes or access.name != access.root:
            continue
        if not _certain(fn, guard, access.node) or fn.type_of(access.node) is None:
            continue
        if len(access.indices) != 1 or not _unwritten_before(source, fn, access):
            continue
        if not _late(fn, access.indices[0], declaration):
            continue  # one value for all outputs: no need of a register each
        text = _spelled(source, fn, declaration, access.indices[0])
        if text is None or len(text) > _LONGEST:
            continue
        low, high = (at - access.node.start_byte for at in span(access.indices[0]))
        whole = source.of(access.node)
        yield access, whole[:low] + text + whole[high:]


def _spelled(
    source: Source, fn: Function, declaration: Node, node: Node, depth: int = 4
) -> str | None:
    """Return an index in terms of what is known in front of the loop over outputs."""
    if not fn.is_pure(node):
        return None
    numbers = {t.variable.name for t in _ids(fn) if _top(fn, t.variable.declaration)}
    text, edits = source.of(node), []
    for use in fn.variables.within(node):
        variable = use.variable
        if variable is None:
            if use.name in source.spaces:
                return None
            continue
        if use.role != "read" or not variable.settled or use.name == "item":
            return None
        before = variable.name_node.start_byte < declaration.start_byte
        if before or variable.name in numbers:
            continue
        init = variable.init
        if init is None or not depth or variable.element not in _WHOLE or variable.is_array:
            return None
        inner = _spelled(source, fn, declaration, init, depth - 1)
        if inner is None:
            return None
        single = inner.isidentifier() or inner.isdigit()
        low, high = (at - node.start_byte for at in span(use.node))
        edits.append((low, high, inner if single else f"({inner})"))
    for low, high, inner in sorted(edits, reverse=True):
        text = text[:low] + inner + text[high:]
    return " ".join(text.split())


def _early(
    source: Source, fn: Function, guard: Guard | None, declaration: Node, node: Node
) -> bool:
    """Return whether an expression can be evaluated in front of the loop over outputs."""
    del guard
    if not fn.is_pure(node):
        return False
    numbers = {t.variable.name for t in _ids(fn) if _top(fn, t.variable.declaration)}
    for use in fn.variables.within(node):
        variable = use.variable
        if variable is None:
            if use.name in source.spaces:
                return False
            continue
        if use.role != "read" or not variable.settled:
            return False
        before = variable.name_node.start_byte < declaration.start_byte
        if not before and variable.name not in numbers:
            return False
    return True


def _late(fn: Function, node: Node, declaration: Node) -> bool:
    return any(
        u.variable is not None and u.variable.name_node.start_byte >= declaration.start_byte
        for u in fn.variables.within(node)
    )


def _certain(fn: Function, guard: Guard | None, node: Node) -> bool:
    top = fn.body if guard is None or guard.exits else guard.body
    for outer in ancestors(node, top):
        if outer.type in (
            "if_statement", "conditional_expression", "lambda_expression", "sizeof_expression",
            *_LOOPS,
        ):  # fmt: skip
            return False
        if outer.type == "binary_expression" and operator(outer) in ("&&", "||"):
            return False
        if outer.type == "pointer_expression" and operator(outer) == "&":
            return False
    return True


def _unwritten_before(source: Source, fn: Function, access: Access) -> bool:
    statement = access.statement
    for other in fn.accesses:
        if not other.writes or other.space not in ("global", "unknown") or statement is None:
            continue
        if other.statement is None or other.statement.start_byte >= statement.start_byte:
            continue
        if other.variable is None or access.variable is None:
            return False
        if not apart(source, fn, access.variable, other.variable):
            return False
    return True


# -- the edit ------------------------------------------------------------------------------------


def _rewrite(
    source: Source,
    fn: Function,
    plan: _Plan,
    count: int,
    loads: Sequence[tuple[Access, str]],
    rows: bool,
) -> Iterator[Replacement]:
    declaration = plan.output.variable.declaration
    margin = source.indent(declaration)
    unit = "\t" if margin.endswith("\t") else " " * (len(margin) if len(margin) in (2, 3, 4) else 4)
    names = [v.name for v in fn.variables.all]
    item = source.fresh_name("item", *names)
    head = [
        "#pragma unroll",
        f"for (int {item} = 0; {item} < {count}; ++{item}) {{",
    ]
    swaps = _swaps(source, plan, count, item, rows)
    before: list[str] = []
    if loads:
        kept: dict[str, str] = {}
        for access, text in loads:
            if text not in kept:
                kept[text] = source.fresh_name(f"{access.name}_items", *names)
                names.append(kept[text])
                before.append(f"{fn.type_of(access.node)} {kept[text]}[{count}];")
            yield (*span(access.node), f"{kept[text]}[{item}]")
        numbers = [unit + line for line in _numbers(source, fn, plan, swaps)]
        bounds = (plan.guard.bounds or ()) if plan.guard is not None else ()
        tests = " && ".join(f"{n} {s} {source.of(b)}" for n, s, b in bounds)
        lines = [f"{name}[{item}] = {text};" for text, name in kept.items()]
        whole = source.fresh_name("whole", *names) if rows and tests else ""
        before += _read_ahead([*head, *numbers], tests, lines, unit, whole)
    before += head
    low = declaration.start_byte
    starts_line = not source.text[source.text.rfind("\n", 0, low) + 1 : low].strip()
    lead = "" if starts_line else f"\n{margin}"
    opening = f"\n{margin}".join(before)
    yield (low, low, f"{lead}{opening}\n{margin}{unit}")
    for node, text in swaps:
        yield (*span(node), text)
    for node in plan.returns:
        yield (*span(node), "continue;")
    last = [n for n in fn.body.named_children if n.type != "comment"][-1].end_byte
    yield from _indent(source, low, last, unit)
    yield (last, last, f"\n{margin}}}")


def _read_ahead(
    head: Sequence[str], tests: str, lines: Sequence[str], unit: str, whole: str
) -> list[str]:
    """Return the loop that reads the operands of all outputs, each under its tests.

    With a name for `whole` there is a second one under the tests of all outputs: what stands under
    one test the compiler can load once.
    """
    if not tests:
        return [*head, *(unit + line for line in lines), "}"]
    if len(lines) == 1:
        tested = [f"{unit}if ({tests}) {lines[0]}"]
    else:
        tested = [f"{unit}if ({tests}) {{", *(unit * 2 + x for x in lines), f"{unit}}}"]
    each = [*head, *tested, "}"]
    if not whole:
        return each
    free = [*head, *(unit + line for line in lines), "}"]
    return [
        f"bool {whole} = true;", *head, f"{unit}{whole} = {whole} && {tests};", "}",
        f"if ({whole}) {{", *(unit + x for x in free),
        "} else {", *(unit + x for x in each), "}",
    ]  # fmt: skip


def _swaps(
    source: Source, plan: _Plan, count: int, item: str, rows: bool
) -> list[tuple[Node, str]]:
    """Return what stands for the block's number, or the thread's and the extent, in the loop."""
    init = plan.output.variable.init
    if rows and init is not None:
        return [(init, f"({source.of(init)}) * {count} + {item}")]
    if plan.thread is None:
        return [(plan.block, f"({source.of(plan.block)} * {count} + {item})")]
    extent = f"blockDim.{plan.output.axis}"
    found = [(plan.thread, f"({source.of(plan.thread)} + {item} * {extent})")]
    return found + [(n, f"({extent} * {count})") for n in [plan.extent] if n is not None]


def _numbers(
    source: Source, fn: Function, plan: _Plan, swaps: Sequence[tuple[Node, str]]
) -> Iterator[str]:
    """Yield the declarations of thread numbers that stand from the output's on."""
    done: set[int] = set()
    first = plan.output.variable.declaration
    for thread in _ids(fn):
        node = thread.variable.declaration
        if node.start_byte < first.start_byte or not _top(fn, node) or node.id in done:
            continue
        done.add(node.id)
        text = source.of(node)
        for swapped, new in sorted(swaps, key=lambda s: -s[0].start_byte):
            if contains(node, swapped):
                low, high = (at - node.start_byte for at in span(swapped))
                text = text[:low] + new + text[high:]
        yield " ".join(text.split())


def _indent(source: Source, low: int, last: int, unit: str) -> Iterator[Replacement]:
    at = source.text.find("\n", low)
    while -1 < at < last:
        if source.text[at + 1 : at + 2] not in ("\n", "\r", "#"):
            yield (at + 1, at + 1, unit)
        at = source.text.find("\n", at + 1)
