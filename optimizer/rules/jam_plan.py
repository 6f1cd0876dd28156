"""Which loops several outputs of a thread can walk together, and what is repeated in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from optimizer.functions import Function, Guard, ThreadId
from optimizer.loops import Loop
from optimizer.rules.outputs import alone, exact
from optimizer.source import Source
from optimizer.syntax import contains, span, walk
from optimizer.variables import Variable

_INTEGERS = frozenset({
    "int", "unsigned int", "unsigned", "long", "unsigned long", "long long", "size_t",
    "unsigned long long", "int64_t", "uint64_t", "int32_t", "uint32_t",
})  # fmt: skip
_BUILTINS = ("blockIdx", "threadIdx", "gridDim", "blockDim")


@dataclass(slots=True)
class Run:
    """Statements that are repeated for each output, one after the other."""

    statements: list[Node]
    stores: bool
    end: int = 0
    """Where a comment behind the last statement ends."""

    @property
    def span(self) -> tuple[int, int]:
        """Return the bytes of the source that it takes, with a comment behind it."""
        return self.statements[0].start_byte, max(self.end, self.statements[-1].end_byte)


@dataclass(slots=True)
class Plan:
    """What becomes of a kernel: its number, its test, the loops that stay, what is repeated."""

    output: ThreadId
    guard: Guard | None = None
    relation: str = ""
    bound: Node | None = None
    runs: list[Run] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    alike: set[int] = field(default_factory=set)
    """Variables that have one value for all outputs of a thread, by the node of their name."""
    again: list[Variable] = field(default_factory=list)
    """Integers and pointers that are computed anew from an output's number where needed."""
    own: list[Variable] = field(default_factory=list)
    """Variables of which each output keeps one."""


def planned(source: Source, fn: Function, axis: str) -> Plan | None:
    """Return how outputs along an axis can share a kernel's loops; None when that is not legal."""
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
        plan = Plan(output, *tests[0])
        if not _only_number(source, fn, output):
            return None
    elif output.variable.init is None or exact(source, fn, output, output.variable.init) is None:
        return None
    else:
        plan = Plan(output)
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
    if variable.declaration.parent != fn.body or len(declarators(variable.declaration)) != 1:
        return False
    bare = [n for n in walk(fn.body, "identifier") if source.of(n) in _BUILTINS]
    return all(n.parent is not None and n.parent.type == "field_expression" for n in bare)


def _only_number(source: Source, fn: Function, output: ThreadId) -> bool:
    """Return whether block and thread along the axis are named in the output's number only."""
    init, axis = output.variable.init, output.axis
    names = (f"blockIdx.{axis}", f"threadIdx.{axis}", f"gridDim.{axis}")
    named = [n for n in walk(fn.body, "field_expression") if source.plain(n) in names]
    return init is not None and len(named) == 2 and all(contains(init, n) for n in named)


def _parts(fn: Function, plan: Plan) -> tuple[list[Node], list[Node]]:
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
    source: Source, fn: Function, plan: Plan, before: Sequence[Node], work: Sequence[Node]
) -> bool:
    _keep(fn, plan)
    for node in before:
        if node.type == "declaration":
            if not _settle(fn, plan, node) and any(_init(fn, d) for d in declarators(node)):
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


def _keep(fn: Function, plan: Plan) -> None:
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


def _same(fn: Function, plan: Plan, variable: Variable | None) -> bool:
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


def _settle(fn: Function, plan: Plan, node: Node) -> bool:
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


def _again(fn: Function, plan: Plan, variable: Variable) -> bool:
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


def _segment(fn: Function, plan: Plan, listed: Sequence[Node]) -> bool:
    """Cut statements into runs, going into the loops that stay."""
    open_run: Run | None = None
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
            if not any(_init(fn, d) for d in declarators(node)):
                open_run = None
                continue  # without values: becomes arrays where it stands
        stores = _stores(fn, node)
        if open_run is None or open_run.stores != stores:
            open_run = Run([], stores)
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


def _own(fn: Function, plan: Plan) -> bool:
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


def _orderly(plan: Plan, run: Run) -> bool:
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


def _whole(fn: Function, plan: Plan) -> bool:
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
        if mixed and in_run(plan, variable.declaration):
            return False
    return not any("//" in fn.file.syntax.of(v.declaration) for v in plan.again)


def in_run(plan: Plan, node: Node) -> bool:
    """Return whether a node is repeated for each output."""
    return any(contains(r.span, node) for r in plan.runs)


def declarators(declaration: Node) -> list[Node]:
    """Return what a declaration declares, one node a name."""
    return declaration.children_by_field_name("declarator")


def _init(fn: Function, declarator: Node) -> bool:
    return any(v.declarator == declarator and v.init is not None for v in fn.variables.all)


def _shares(fn: Function, plan: Plan, axis: str) -> bool:
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
