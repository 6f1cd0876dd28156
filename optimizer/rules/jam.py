"""Let a thread walk a loop once for several outputs, so that they share what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from optimizer.functions import Function, Guard, ThreadId
from optimizer.geometry import Geometry, reblock, regrid
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.coarsen import alone, exact, fewer
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, span, walk
from optimizer.variables import Variable

_NAME = "jam"
# Numbers of outputs a thread, by axis: more than this runs out of registers or blocks.
_COUNTS = {"x": (4, 2, 8), "y": (4, 2, 8)}
_MOST_KEPT = 96  # scalars that all outputs of a thread keep together
_BUILTINS = ("blockIdx", "threadIdx", "gridDim", "blockDim")
_INTEGERS = frozenset({
    "int", "unsigned int", "unsigned", "long", "unsigned long", "long long", "size_t",
    "unsigned long long", "int64_t", "uint64_t", "int32_t", "uint32_t",
})  # fmt: skip


@dataclass(slots=True)
class _Run:
    """Statements that are repeated for each output, one after the other."""

    statements: list[Node]
    stores: bool

    end: int = 0

    @property
    def span(self) -> tuple[int, int]:
        return self.statements[0].start_byte, max(self.end, self.statements[-1].end_byte)


@dataclass(slots=True)
class _Plan:
    """What becomes of a kernel: its number, its test, the loops that stay, what is repeated."""

    output: ThreadId
    guard: Guard | None = None
    relation: str = ""
    bound: Node | None = None
    runs: list[_Run] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    alike: set[int] = field(default_factory=set)
    """Variables that have one value for all outputs of a thread, by the node of their name."""
    again: list[Variable] = field(default_factory=list)
    """Integers and pointers that are computed anew from an output's number where needed."""
    own: list[Variable] = field(default_factory=list)
    """Variables of which each output keeps one."""


def jam(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Give a thread 4, 2 or 8 outputs and put their loop inside the loops they have in common.

    What a loop reads alike for all outputs is then read once for several of them, and their sums
    do not wait for each other. Outputs lie a block apart along x and side by side along y. Legal
    where `coarsen` is: the kernel knows its block only by the number of its output, which is
    tested against an extent, and threads do not talk to each other.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        for axis in ("y", "x"):
            plan = _plan(source, fn, axis)
            if plan is None:
                continue
            for count in _COUNTS[axis]:
                geometry = _geometry(kernel, source, fn, plan, count)
                if geometry is None or len(plan.own) * count > _MOST_KEPT:
                    continue
                edits = [*_rewrite(source, fn, plan, count), *geometry.edits]
                lines = ", ".join(str(loop.line) for loop in plan.loops)
                yield Edit(
                    f"walk the loop of `{fn.name}` once for {count} outputs along {axis}",
                    source.replace(sorted(edits, key=lambda e: (e[0], e[1]))),
                    f"rule:{_NAME}",
                    f"Line {lines}: every output reads the same again; {count} outputs a thread"
                    " read it once, and their sums do not wait for each other.",
                    _NAME,
                    1.4 if count == 4 else 1.3,
                    geometry.launch,
                )


def _geometry(
    kernel: Kernel, source: Source, fn: Function, plan: _Plan, count: int
) -> Geometry | None:
    if plan.guard is None:
        return reblock(kernel, source, fn, plan.output.axis, count)
    return regrid(kernel, source, fn, {plan.output.axis: fewer(count)})


# -- legality ------------------------------------------------------------------------------------


def _plan(source: Source, fn: Function, axis: str) -> _Plan | None:
    if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
        return None
    if fn.conditional or fn.unknown_names or not fn.loops or not alone(source, fn):
        return None
    if fn.calls_of("printf", "assert"):
        return None  # an output that is computed twice would say so twice
    ids = [t for t in fn.thread_ids if t.axis == axis]
    if len(ids) != 1 or not _plain(source, fn, ids[0].variable):
        return None
    output = ids[0]
    tests = [
        (g, sign, bound)
        for g in fn.guards
        for name, sign, bound in g.bounds or ()
        if name == output.variable.name
    ]
    if tests:
        if len(tests) != 1 or tests[0][1] not in ("<", "<="):
            return None
        plan = _Plan(output, *tests[0])
        if not _only_number(source, fn, output):
            return None
    elif output.variable.init is None or exact(source, fn, output, output.variable.init) is None:
        return None
    else:
        plan = _Plan(output)
    before, work = _parts(fn, plan)
    if not work or any(
        r for r in walk(fn.body, "return_statement") if not _fits(r, plan.guard, work)
    ):
        return None
    if not _classify(source, fn, plan, before, work) or not _shares(fn, plan, axis):
        return None
    return plan


def _plain(source: Source, fn: Function, variable: Variable) -> bool:
    """Return whether a number is an integer declared alone, and built-ins are seen by axis."""
    if variable.init is None or not variable.settled or variable.element not in _INTEGERS:
        return False
    if variable.declaration.parent != fn.body or len(_declared(variable.declaration)) != 1:
        return False
    bare = [n for n in walk(fn.body, "identifier") if source.of(n) in _BUILTINS]
    return all(n.parent is not None and n.parent.type == "field_expression" for n in bare)


def _only_number(source: Source, fn: Function, output: ThreadId) -> bool:
    """Return whether block and thread along the axis are named in the output's number only."""
    init, axis = output.variable.init, output.axis
    names = (f"blockIdx.{axis}", f"threadIdx.{axis}", f"gridDim.{axis}")
    named = [n for n in walk(fn.body, "field_expression") if source.plain(n) in names]
    return init is not None and len(named) == 2 and all(contains(init, n) for n in named)


def _declared(declaration: Node) -> list[Node]:
    return declaration.children_by_field_name("declarator")


def _parts(fn: Function, plan: _Plan) -> tuple[list[Node], list[Node]]:
    """Return the statements before the test, or to the number, and those that are worked on."""
    listed = [n for n in fn.body.named_children if n.type != "comment"]
    guard = plan.guard
    if guard is None:
        end = plan.output.variable.declaration.end_byte
        return [n for n in listed if n.end_byte <= end], [n for n in listed if n.start_byte >= end]
    before = [n for n in listed if n.end_byte <= guard.node.start_byte]
    after = [n for n in listed if n.start_byte >= guard.node.end_byte]
    if guard.exits:
        return before, after
    if any(n.type != "return_statement" for n in after):
        return before, []
    if guard.body.type != "compound_statement":
        return before, []
    return before, [n for n in guard.body.named_children if n.type != "comment"]


def _fits(node: Node, guard: Guard | None, work: Sequence[Node]) -> bool:
    """Return whether a return is the test's own, or the last statement of the kernel."""
    if guard is not None and guard.exits and contains(guard.node, node):
        return True
    return not any(contains(n, node) for n in work) and not node.named_children


def _classify(
    source: Source, fn: Function, plan: _Plan, before: Sequence[Node], work: Sequence[Node]
) -> bool:
    _keep(fn, plan)
    for node in before:
        if node.type == "declaration":
            if not _settle(fn, plan, node) and any(_init(fn, d) for d in _declared(node)):
                return False
        elif not (node.type == "if_statement" and any(g.node == node for g in fn.guards)):
            return False
    if not _segment(fn, plan, list(work)):
        return False
    for run in plan.runs:
        run.end = _comment_end(source, run.statements[-1])
    return (
        bool(plan.loops)
        and _own(fn, plan)
        and _whole(fn, plan)
        and all(_orderly(plan, r) for r in plan.runs if r.stores)
    )


def _own(fn: Function, plan: _Plan) -> bool:
    """Find the variables of which each output must keep one: those that outlive a run."""
    levels = [n for r in plan.runs for n in r.statements]
    spans = [r.span for r in plan.runs]
    for variable in fn.variables.all:
        if variable.space == "parameter" or variable.name_node.id in plan.alike:
            continue
        if variable is plan.output.variable or variable in plan.again:
            continue
        home = next((s for s in spans if contains(s, variable.name_node)), None)
        if home is not None and all(contains(home, u.node) for u in variable.uses):
            continue
        if home is not None and variable.declaration not in levels:
            return False
        if not _expands(variable) or (home is None and variable.init is not None):
            return False
        plan.own.append(variable)
    names = {v.name for v in plan.own} | {plan.output.variable.name}
    return len(names) == len(plan.own) + 1


def _orderly(plan: _Plan, run: _Run) -> bool:
    """Return whether stores stand outside the loops and outputs keep nothing set under a test."""
    return (
        not any(contains(lp.node, run.span) for lp in plan.loops)
        and not any(contains(run.span, u.node) for v in plan.own for u in v.changes)
        and not any(n.type == "declaration" for n in run.statements)
    )


def _comment_end(source: Source, node: Node) -> int:
    """Return where a statement ends, with a comment that stands behind it on its line."""
    line = source.text.find("\n", node.end_byte)
    behind = source.text[node.end_byte : line].strip()
    return line if behind.startswith("//") else node.end_byte


def _whole(fn: Function, plan: _Plan) -> bool:
    """Return whether what belongs to single outputs is used in runs and the test alone."""
    guard = plan.guard
    test = (guard.node.start_byte, guard.body.start_byte) if guard is not None else (0, 0)
    places = [r.span for r in plan.runs] + [span(v.declaration) for v in plan.again]
    for variable in (plan.output.variable, *plan.again, *plan.own):
        tested = [test] if variable is plan.output.variable else []
        own = [*places, *tested, span(variable.declaration)]
        if not all(any(contains(p, u.node) for p in own) for u in variable.uses):
            return False
    for variable in plan.own:  # declarations are kept or rewritten as a whole
        mates = [v for v in fn.variables.all if v.declaration == variable.declaration]
        mixed = any(m not in plan.own for m in mates) or (variable.is_array and len(mates) > 1)
        if mixed and _inside(plan, variable.declaration):
            return False
    return not any("//" in fn.file.syntax.of(v.declaration) for v in plan.again)


def _inside(plan: _Plan, node: Node) -> bool:
    return any(contains(r.span, node) for r in plan.runs)


def _init(fn: Function, declarator: Node) -> bool:
    return any(v.declarator == declarator and v.init is not None for v in fn.variables.all)


def _expands(variable: Variable) -> bool:
    """Return whether a variable can become an array with an element for each output."""
    if variable.reference or variable.volatile or variable.space != "local" or variable.depth:
        return False
    if variable.element == "auto" or "static" in variable.type.split():
        return False
    if not variable.is_array:
        return True
    init = variable.init
    return init is None or all(
        n.type == "number_literal" and n.text is not None and set(n.text) <= set(b"0.fF")
        for n in init.named_children
    )


def _keep(fn: Function, plan: _Plan) -> None:
    """Find the loops that all outputs of a thread walk alike, outer ones first."""
    for loop in fn.loops:
        around = [lp for lp in fn.loops if contains(lp.body, loop.node)]
        if any(lp not in plan.loops for lp in around) or loop.kind != "for" or not loop.counted:
            continue
        if loop.variable is None or loop.leaves_early or loop.variable.address_taken:
            continue
        if _stores(fn, loop.node):
            continue
        header = (loop.node.start_byte, loop.body.start_byte)
        headers = [header, *((lp.node.start_byte, lp.body.start_byte) for lp in fn.loops)]
        if not all(any(contains(h, u.node) for h in headers) for u in loop.variable.changes):
            continue
        uses = [u for u in fn.variables.within(loop.node) if contains(header, u.node)]
        if all(u.variable is loop.variable or _same(fn, plan, u.variable) for u in uses):
            plan.loops.append(loop)
            plan.alike.add(loop.variable.name_node.id)


def _same(fn: Function, plan: _Plan, variable: Variable | None) -> bool:
    """Return whether a variable has one value for all outputs of a thread at any time."""
    if variable is None or variable.name_node.id in plan.alike:
        return True
    if variable is plan.output.variable or variable.is_array or variable.reference:
        return False
    if variable.space == "parameter":
        return variable.settled
    if not variable.settled or variable.init is None or _reads_memory(fn, variable.init):
        return False
    return all(_same(fn, plan, u.variable) for u in fn.variables.within(variable.init))


def _reads_memory(fn: Function, node: Node) -> bool:
    return not fn.is_pure(node) or any(
        True for _ in walk(node, "subscript_expression", "pointer_expression")
    )


def _settle(fn: Function, plan: _Plan, node: Node) -> bool:
    """Note a declaration of what is alike for all outputs, or computed anew for each."""
    mine = [v for v in fn.variables.all if v.declaration == node]
    if mine and all(_same(fn, plan, v) for v in mine):
        plan.alike |= {v.name_node.id for v in mine}
        return True
    if mine == [plan.output.variable]:
        return True
    if mine and all(_again(fn, plan, v) for v in mine):
        plan.again += mine
        return True
    return False


def _again(fn: Function, plan: _Plan, variable: Variable) -> bool:
    """Return whether a variable is an integer or pointer that follows from the output's number."""
    if variable.init is None or not variable.settled or variable.is_array or variable.reference:
        return False
    if not (variable.depth or variable.element in _INTEGERS) or _reads_memory(fn, variable.init):
        return False
    return all(
        _same(fn, plan, u.variable)
        or u.variable is plan.output.variable
        or u.variable in plan.again
        for u in fn.variables.within(variable.init)
    )


def _segment(fn: Function, plan: _Plan, listed: Sequence[Node]) -> bool:
    """Cut statements into runs, going into the loops that stay."""
    open_run: _Run | None = None
    for node in listed:
        if node.type in ("preproc_call", "comment"):
            continue
        loop = next((lp for lp in plan.loops if lp.node == node), None)
        if loop is not None:
            open_run = None
            first = len(plan.runs)
            inner = [n for n in loop.body_statements() if n.type != "comment"]
            if not _segment(fn, plan, inner):
                return False
            skips = any(_skips(loop, n) for n in walk(loop.body, "continue_statement"))
            if skips and (len(plan.runs) != first + 1 or plan.runs[first].stores):
                return False
            continue
        if node.type == "declaration":
            if _settle(fn, plan, node):
                if not any(v.declaration == node for v in plan.again):
                    open_run = None
                continue
            if not any(_init(fn, d) for d in _declared(node)):
                open_run = None
                continue  # without values: becomes arrays where it stands
        stores = _stores(fn, node)
        if open_run is None or open_run.stores != stores:
            open_run = _Run([], stores)
            plan.runs.append(open_run)
        open_run.statements.append(node)
    return True


def _stores(fn: Function, node: Node) -> bool:
    """Return whether a node may change memory that others see."""
    return any(a.writes and a.space != "local" for a in fn.accesses_in(node)) or any(
        contains(node, c.node) for c in (*fn.atomics, *fn.unknown_calls)
    )


def _skips(loop: Loop, node: Node) -> bool:
    at = node.parent
    while at is not None and at.type not in ("for_statement", "while_statement", "do_statement"):
        at = at.parent
    return at == loop.node


def _shares(fn: Function, plan: _Plan, axis: str) -> bool:
    """Return whether the loops read something that does not depend on the output, or shifts."""
    inner = [lp for lp in plan.loops if any(contains(lp.body, r.statements[0]) for r in plan.runs)]
    for access in fn.accesses:
        if access.writes or access.space in ("local", "unknown") or access.index is None:
            continue
        loop = next((lp for lp in reversed(inner) if contains(lp.body, access.node)), None)
        if loop is None:
            continue
        side = access.index.coefficient(f"threadIdx.{axis}")
        if side is None:
            continue
        if side.constant == 0 and any(access.index.depends_on(lp.name) for lp in inner):
            return True
        if axis == "y" and any(
            (step := access.index.coefficient(lp.name)) is not None and step.same(side)
            for lp in inner
        ):
            return True
    return False


# -- the edit ------------------------------------------------------------------------------------


def _rewrite(source: Source, fn: Function, plan: _Plan, count: int) -> Iterator[Replacement]:
    names = [v.name for v in fn.variables.all]
    item = source.fresh_name("item", *names)
    first = source.fresh_name(f"{plan.output.variable.name}_first", *names)
    yield from _numbers(source, plan, count, first)
    for declaration in {v.declaration.id: v.declaration for v in plan.again}.values():
        if not _inside(plan, declaration):
            yield (*source.statement_span(declaration), "")
    for variable in plan.own:
        if not _inside(plan, variable.name_node):
            yield (variable.name_node.end_byte,) * 2 + (f"[{count}]",)
    for run in plan.runs:
        yield (*run.span, _repeated(source, fn, plan, run, count, (item, first)))
    for loop in plan.loops:
        if loop.body.type != "compound_statement":
            yield (loop.body.start_byte,) * 2 + ("{",)
            yield (loop.body.end_byte,) * 2 + (f"\n{source.indent(loop.node)}}}",)


def _numbers(source: Source, plan: _Plan, count: int, first: str) -> Iterator[Replacement]:
    """Yield the edits that make the number that of a thread's first output."""
    variable, init = plan.output.variable, plan.output.variable.init
    if init is None:
        return
    yield (*span(variable.name_node), first)
    if plan.guard is None:
        extent = f"blockDim.{plan.output.axis}"
        for node in walk(init, "field_expression"):
            if source.plain(node) == extent:
                yield (*span(node), f"({extent} * {count})")
        return
    if plan.output.axis == "x":
        for node in walk(init, "field_expression"):
            if source.plain(node) == "blockIdx.x":
                yield (*span(node), f"(blockIdx.x * {count})")
    else:
        yield (init.start_byte, init.start_byte, "(")
        yield (init.end_byte, init.end_byte, f") * {count}")
    low, high = plan.guard.node.start_byte, plan.guard.body.start_byte
    for use in variable.uses:
        if low <= use.node.start_byte < high:
            yield (*span(use.node), first)


def _repeated(
    source: Source, fn: Function, plan: _Plan, run: _Run, count: int, names: tuple[str, str]
) -> str:
    """Return a run as a loop over the outputs, with what they keep in arrays."""
    item, first = names
    low = run.span[0]
    margin = source.indent(run.statements[0])
    unit = "\t" if "\t" in margin else "  " if len(margin) % 4 == 2 else "    "
    made = [v for v in plan.own if contains(run.span, v.name_node)]
    head = [_array(v, count) for v in made]
    head += ["#pragma unroll", f"for (int {item} = 0; {item} < {count}; ++{item}) {{"]
    inner = [unit + line for line in _prelude(source, fn, plan, run, item, first)]
    tested = run.stores and plan.bound is not None
    deep = unit * 2 if tested else unit
    body = _text(source, plan, run, item)
    lines = [line if not line.strip() or line[0] == "#" else deep + line for line in body]
    lines[0] = f"{margin}{deep}{body[0]}"
    tail = [f"{margin}{unit}}}"] if tested else []
    starts = source.text[source.text.rfind("\n", 0, low) + 1 : low].strip()
    opening = [*(margin + line for line in (*head, *inner)), *lines, *tail, f"{margin}}}"]
    found = "\n".join(opening)
    alone = (
        not starts
        and run.statements[0].parent is not None
        and (run.statements[0].parent.type == "compound_statement")
    )
    return found.removeprefix(margin) if alone else f"\n{found}"


def _array(variable: Variable, count: int) -> str:
    extents = "".join(f"[{e}]" for e in variable.extents)
    zero = " = {}" if variable.is_array else ""
    return f"{variable.element} {variable.name}[{count}]{extents}{zero};"


def _prelude(
    source: Source, fn: Function, plan: _Plan, run: _Run, item: str, first: str
) -> Iterator[str]:
    """Yield the output's number, its test or limit, and what follows from the number."""
    wanted = {u.variable for n in run.statements for u in fn.variables.within(n)}
    needed: list[Variable] = []
    for variable in reversed(plan.again):
        if variable in wanted:
            needed.insert(0, variable)
            if variable.init is not None:
                wanted |= {u.variable for u in fn.variables.within(variable.init)}
    output = plan.output.variable
    if not run.stores and output not in wanted:
        return
    apart = f" * {plan.output.block}" if plan.output.axis == "x" else ""
    if plan.bound is None:
        value = f"{first} + {item} * blockDim.{plan.output.axis}"
        yield f"const {output.element} {output.name} = {value};"
    else:
        yield from _limited(source, plan, run, f"{first} + {item}{apart}")
    lead = "    " if run.stores and plan.bound is not None else ""
    done: list[int] = []
    for variable in needed:
        if variable.declaration.id not in done:
            done.append(variable.declaration.id)
            yield lead + " ".join(source.of(variable.declaration).split())


def _limited(source: Source, plan: _Plan, run: _Run, value: str) -> Iterator[str]:
    """Yield the output's number with its test, or kept within the bound where nothing is stored."""
    output = plan.output.variable
    if plan.bound is None:
        return
    bound = source.of(plan.bound)
    whole = bound if plan.bound.type in ("identifier", "number_literal") else f"({bound})"
    if run.stores:
        yield f"const {output.element} {output.name} = {value};"
        yield f"if ({output.name} {plan.relation} {bound}) {{"
    else:
        last = f"{whole} - 1" if plan.relation == "<" else bound
        sign = ">=" if plan.relation == "<" else ">"
        yield f"{output.element} {output.name} = {value};"
        yield f"if ({output.name} {sign} {bound}) {output.name} = {last};"


def _text(source: Source, plan: _Plan, run: _Run, item: str) -> list[str]:
    """Return the lines of a run with each output's own variables indexed."""
    low, high = run.span
    edits: list[Replacement] = []
    again = [v.declaration for v in plan.again if contains(run.span, v.declaration)]
    dropped = [source.statement_span(n) for n in again]
    for variable in plan.own:
        at = variable.declaration
        if contains(run.span, at) and variable.is_array:
            dropped.append(source.statement_span(at))
        elif contains(run.span, at):
            edits.append((at.start_byte, _declared(at)[0].start_byte, ""))
            edits.append((*span(variable.name_node), f"{variable.name}[{item}]"))
        edits += [
            (*span(u.node), f"{variable.name}[{item}]")
            for u in variable.uses
            if contains(run.span, u.node) and u.node != variable.name_node
        ]
    gone = [e for e in edits if any(a <= e[0] and e[1] <= b for a, b in dropped)]
    edits = [e for e in dict.fromkeys(edits) if e not in gone]
    edits += [(max(a, low), min(b, high), "") for a, b in dict.fromkeys(dropped)]
    text = source.text[low:high]
    for start, end, new in sorted(edits, reverse=True):
        text = text[: start - low] + new + text[end - low :]
    found = text.split("\n")
    while found and not found[-1].strip():
        found.pop()
    while found and not found[0].strip():
        found.pop(0)
    if found:
        found[0] = found[0].lstrip()
    return found or [";"]
