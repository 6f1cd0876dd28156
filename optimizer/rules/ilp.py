"""Let a loop add up in several variables that do not wait for each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.reduction import Update, combine, identity, joined, updates
from optimizer.source import Source
from optimizer.spans import Replacement, indentation, replace
from optimizer.syntax import contains, field, operator, span, walk
from optimizer.variables import Use, Variable

_NAME = "ilp"
_WAYS = (4, 2)
_MOST_SUMS = 4  # with more of them there is enough to do between two updates of one
_MOST_EDITS = 6
_SHORT = 8  # iterations that the compiler writes out; there is nothing to wait for
_LONGEST_BODY = 1500
# Width in bits and whether it has a sign, as nvcc has them on 64-bit hosts.
_INTEGERS = {
    "int": (32, True), "int32_t": (32, True), "unsigned int": (32, False), "unsigned": (32, False),
    "uint32_t": (32, False), "long": (64, True), "long long": (64, True), "int64_t": (64, True),
    "unsigned long": (64, False), "unsigned long long": (64, False), "uint64_t": (64, False),
    "size_t": (64, False),
}  # fmt: skip
_STEPPING = ("+=", "-=", "++", "--")
_SIMPLE = frozenset({
    "identifier", "number_literal", "field_expression", "subscript_expression", "call_expression",
    "parenthesized_expression",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plan:
    """A loop to take several iterations of at a time.

    `room` is the test, over the names `{at}` of the first of them and `{ways}`, that all of them
    belong to the loop; `step` is what lies between two, `down` tells that it is subtracted.
    """

    loop: Loop
    variable: Variable
    sums: tuple[Update, ...]
    room: str
    step: str
    down: bool


def ilp(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Give a loop that adds up, multiplies or takes extremes 4 or 2 partial results, joined behind.

    Iterations keep their order; only a partial result no longer waits for the one before, and the
    compiler can issue the loads of several iterations before it needs the first. Legal where the
    loop uses the result for nothing but updating it, and all of its iterations are sure to run.
    What is left of iterations is done by the loop as it was. Floats are added in another order.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.conditional or fn.has_asm or fn.has_goto:
            continue
        plans = [p for loop in fn.loops if (p := _plan(source, fn, loop)) is not None]
        wanted = [(plan, ways) for plan in plans for ways in _WAYS]
        for plan, ways in wanted[:_MOST_EDITS]:
            yield Edit(
                f"keep {ways} partial results of {joined(_distinct(plan.sums))} in `{fn.name}`",
                source.replace([_rewritten(source, fn, plan, ways)]),
                f"rule:{_NAME}",
                f"Every iteration of the loop in line {plan.loop.line} waits for the result of the"
                f" one before; of {ways} partial results each waits for itself only.",
                _NAME,
                1.2 if ways == 4 else 1.1,
            )


# -- legality ------------------------------------------------------------------------------------


def _plan(source: Source, fn: Function, loop: Loop) -> _Plan | None:
    variable = loop.variable
    if variable is None or not loop.counted or loop.kind not in ("for", "while"):
        return None
    if loop.leaves_early or loop.scaling or (loop.trips is not None and loop.trips <= _SHORT):
        return None
    if variable.volatile or variable.reference or not _starts_afresh(fn, loop, variable):
        return None
    if not _quiet(source, fn, loop) or (loop.pragma and not source.in_block(loop.node)):
        return None
    sums = _sums(source, fn, loop, variable)
    bounds = _room(source, fn, loop, variable)
    if not sums or bounds is None:
        return None
    return _Plan(loop, variable, sums, *bounds)


def _starts_afresh(fn: Function, loop: Loop, variable: Variable) -> bool:
    """Return whether a loop is no remainder: one that goes on where another has ended."""
    if loop.start is not None and loop.start.type != "identifier":
        return True
    first = fn.variables.of(loop.start) if loop.start is not None else variable
    if first is None:
        return True
    earlier = [u for u in first.changes if u.node.end_byte <= loop.node.start_byte]
    for use in (*earlier, *_behind(fn, earlier)):
        for other in fn.loops:
            if contains(other.node, use.node) and not contains(other.node, loop.node):
                return False
    return True


def _behind(fn: Function, changes: Sequence[Use]) -> Iterator[Use]:
    """Yield the changes of variables that are assigned to one: of `j` for `i = j;`."""
    for change in changes:
        parent = change.node.parent
        right = field(parent, "right") if change.role == "write" else None
        if right is not None and right.type == "identifier":
            source = fn.variables.of(right)
            yield from source.changes if source is not None else ()


def _quiet(source: Source, fn: Function, loop: Loop) -> bool:
    """Return whether a loop is small, has no long loop in it, stores nothing and meets nobody."""
    opaque = (*fn.barriers, *fn.warp_calls, *fn.atomics, *fn.unknown_calls)
    if any(contains(loop.node, c.node) for c in opaque) or fn.unknown_in(loop.node):
        return False
    if len(source.of(loop.body)) > _LONGEST_BODY:
        return False
    inner = [lp for lp in fn.loops if lp is not loop and contains(loop.body, lp.node)]
    if any(lp.trips is None or lp.trips > _SHORT for lp in inner):
        return False
    if any(True for _ in walk(loop.body, "lambda_expression", "switch_statement")):
        return False
    for use in fn.variables.within(loop.node):
        variable = use.variable
        if variable is None:
            if use.writes:
                return False
            continue
        if variable.volatile or "static" in variable.type.split():
            return False
        outside = not contains(loop.body, variable.name_node)
        if use.writes and outside and use.role not in ("write", "update"):
            return False
    return True


def _sums(source: Source, fn: Function, loop: Loop, own: Variable) -> tuple[Update, ...]:
    """Return the updates of what a loop adds up; none where iterations wait for something else."""
    changed: dict[int, Variable] = {}
    for use in fn.variables.within(loop.node):
        variable = use.variable
        if use.writes and variable is not None and variable is not own:
            changed[variable.name_node.id] = variable
    found: list[Update] = []
    for variable in changed.values():
        if contains(loop.node, variable.name_node):
            continue
        listed = updates(source, fn, variable, loop.node)
        if listed is not None and _private(variable):
            found += listed
        elif not _anew(fn, loop, variable) and not _steps(loop, variable):
            return ()
    return tuple(found) if len(_distinct(found)) <= _MOST_SUMS else ()


def _private(variable: Variable) -> bool:
    return (
        variable.is_scalar
        and variable.space in ("local", "parameter")
        and not variable.address_taken
        and variable.element != "auto"
    )


def _anew(fn: Function, loop: Loop, variable: Variable) -> bool:
    """Return whether each iteration sets a variable before it reads it."""
    uses = [u for u in fn.variables.within(loop.body) if u.variable is variable]
    first = uses[0].node.parent if uses and uses[0].role == "write" else None
    if first is None or first.type != "assignment_expression" or first.parent is None:
        return False
    right = field(first, "right")
    if right is None or any(contains(right, u.node) for u in uses):
        return False
    outer = first.parent
    if outer.type == "expression_statement":
        return loop.body in (outer.parent, outer)
    return outer.type == "for_statement" and outer.parent == loop.body


def _steps(loop: Loop, variable: Variable) -> bool:
    """Return whether a loop only moves an integer or pointer on, which takes no time."""
    if not variable.is_pointer and variable.element not in _INTEGERS:
        return False
    return all(
        u.role == "update" and u.node.parent is not None and operator(u.node.parent) in _STEPPING
        for u in variable.changes
        if contains(loop.node, u.node)
    )


def _room(
    source: Source, fn: Function, loop: Loop, variable: Variable
) -> tuple[str, str, bool] | None:
    """Return the test that a loop has room for all ways, the step, and whether it goes down.

    The test computes nothing that the loop itself would not reach, so that it cannot overflow.
    """
    kind = _INTEGERS.get(variable.element)
    limit = _INTEGERS.get(source.resolved(fn.type_of(loop.bound) or ""))
    if kind is None or limit is None or loop.bound is None or loop.step == 0:
        return None
    bound = _operand(source, loop.bound)
    signed = (
        limit[1] if limit[0] > kind[0] else kind[1] if kind[0] > limit[0] else kind[1] and limit[1]
    )
    relation = loop.relation
    if loop.step is not None and loop.step < 0:
        if relation not in (">", ">=") or not signed:
            return None
        left, factor = f"{{at}} - {bound}" if bound != "0" else "{at}", -loop.step
        return f"{left} {_distance(relation, factor)}", _plain(factor), True
    if relation not in ("<", "<="):
        return None
    left = f"{bound} - {{at}}"
    if loop.step is not None:
        room, step = f"{left} {_distance(relation, loop.step)}", _plain(loop.step)
    else:
        stride = _INTEGERS.get(source.resolved(fn.type_of(loop.step_node) or ""))
        if stride is None or loop.step_node is None or not _added(loop):
            return None
        step = _operand(source, loop.step_node)
        step = f"({variable.written}){step}" if stride[0] < kind[0] else step
        if stride[0] > kind[0]:
            return None
        signed = signed and stride[1]
        room = f"({left}) / {{ways}} >= {step}"
    return room if signed else f"{{at}} {relation} {bound} && {room}", step, False


def _operand(source: Source, node: Node) -> str:
    """Return an expression's text, in parentheses where an operator beside it could part it."""
    text = source.of(node)
    macro = source.macros_in_force.get(text)
    whole = node.type in _SIMPLE and (macro is None or macro.body.strip().isalnum())
    return text if whole else f"({text})"


def _added(loop: Loop) -> bool:
    """Return whether a loop's variable grows by its step: `i += s`, `i = i + s`, `i = s + i`."""
    update = loop.update
    if update is None or update.type != "assignment_expression":
        return False
    if operator(update) == "+=":
        return True
    right = field(update, "right")
    return operator(update) == "=" and right is not None and operator(right) == "+"


def _distance(relation: str, step: int) -> str:
    if step == 1:
        return ">= {ways}" if len(relation) == 1 else ">= {ways} - 1"
    return f"{'>' if len(relation) == 1 else '>='} ({{ways}} - 1) * {step}"


def _plain(step: int) -> str:
    return "" if step == 1 else str(step)


def _distinct(sums: Sequence[Update]) -> list[Update]:
    return list({u.variable.name_node.id: u for u in sums}.values())


# -- rewriting -----------------------------------------------------------------------------------


def _rewritten(source: Source, fn: Function, plan: _Plan, count: int) -> Replacement:
    """Return a loop with the one in front that takes several iterations at a time."""
    loop, variable = plan.loop, plan.variable
    taken = [v.name for v in fn.variables.all]
    ways, way = source.fresh_name("kIlp", *taken), source.fresh_name("ilp", *taken)
    at = source.fresh_name(f"{variable.name}_next", *taken)
    sums = _distinct(plan.sums)
    parts = {u.variable.name: source.fresh_name(f"{u.variable.name}_ilp", *taken) for u in sums}
    each = f"for (int {way} = 0; {way} < {ways}; {way}++)"
    kind = variable.written
    sign = "-" if plan.down else "+"
    first = variable.name if loop.start is None else source.of(loop.start)
    unit = _unit(source, fn)
    lines = [f"constexpr int {ways} = {count};"]
    for update in sums:
        name, part = update.variable.name, parts[update.variable.name]
        start = identity(update)
        lines.append(f"{update.variable.written} {part}[{ways}]{' = {}' if start == '0' else ''};")
        if start != "0":
            lines += ["#pragma unroll", each, f"{unit}{part}[{way}] = {start or name};"]
    lines.append(f"{kind} {at} = {first};")
    moved = f"{ways} * {plan.step}" if plan.step else ways
    room = plan.room.replace("{at}", at).replace("{ways}", ways)
    lines.append(f"for (; {room}; {at} {sign}= {moved}) {{")
    lines += [f"{unit}#pragma unroll", f"{unit}{each} {{"]
    if any(u.variable is variable for u in _inside(fn, loop)):
        offset = f"{way} * {plan.step}" if plan.step else way
        lines.append(f"{unit * 2}const {kind} {variable.name} = {at} {sign} {offset};")
    lines += [unit * 2 + line if line else "" for line in _body(source, fn, plan, parts, way)]
    lines += [f"{unit}}}", "}"]
    if loop.start is None:
        lines.append(f"{variable.name} = {at};")
    rest = [] if loop.start is None else [(*span(loop.start), at)]
    begin = loop.pragma[0] if loop.pragma is not None else loop.node.start_byte
    begin += len(source.text[begin:]) - len(source.text[begin:].lstrip())
    shifted = [(a - begin, b - begin, new) for a, b, new in rest]
    lead = source.indent(begin)
    tail = replace(source.text[begin : loop.node.end_byte], shifted)
    joins = [combine(u, f"{parts[u.variable.name]}[{way}]") for u in sums]
    behind = ["#pragma unroll", f"{each} {{" if len(joins) > 1 else each]
    behind += [unit + j for j in joins] + (["}"] if len(joins) > 1 else [])
    nested = not source.in_block(loop.node)
    if nested:
        lines[0] = f"{{ {lines[0]}"
    text = "".join(f"{line}\n{lead}" for line in lines) + tail
    text += "".join(f"\n{lead}{line}" for line in behind) + (" }" if nested else "")
    return begin, loop.node.end_byte, text


def _inside(fn: Function, loop: Loop) -> Iterator[Use]:
    """Yield the uses in what is repeated, without the step of a `while`."""
    for use in fn.variables.within(loop.body):
        if loop.kind == "for" or loop.update is None or not contains(loop.update, use.node):
            yield use


def _body(source: Source, fn: Function, plan: _Plan, parts: dict[str, str], way: str) -> list[str]:
    """Return the lines of what is repeated, with partial results for the sums."""
    loop = plan.loop
    body = loop.body
    low, high = span(body)
    if body.type == "compound_statement":
        low, high = low + 1, high - 1
    mine = {u.variable.name_node.id for u in plan.sums}
    edits: list[Replacement] = [
        (*span(use.node), f"{parts[use.variable.name]}[{way}]")
        for use in _inside(fn, loop)
        if use.variable is not None and use.variable.name_node.id in mine
    ]
    if loop.kind == "while" and loop.update is not None and loop.update.parent is not None:
        edits.append((*source.statement_span(loop.update.parent), ""))
    text = replace(source.text[low:high], [(a - low, b - low, new) for a, b, new in edits])
    lead = (
        indentation(source.text, body.named_children[0].start_byte)
        if (body.type == "compound_statement" and body.named_children)
        else indentation(source.text, low)
    )
    listed = [line.rstrip() for line in text.strip("\n").splitlines()]
    while listed and not listed[-1]:
        listed.pop()
    return [line.removeprefix(lead) if line.startswith(lead) else line.lstrip() for line in listed]


def _unit(source: Source, fn: Function) -> str:
    """Return by what the file indents."""
    first = next(iter(fn.body.named_children), None)
    outer = source.indent(fn.span[0])
    found = source.indent(first) if first is not None else ""
    return found.removeprefix(outer) or "  "
