"""A kernel whose loops are walked once for several outputs of a thread."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.functions import Function
from optimizer.rules.jam_plan import Plan, Run, declarators, in_run
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, span, walk
from optimizer.variables import Variable


def rewritten(source: Source, fn: Function, plan: Plan, count: int) -> Iterator[Replacement]:
    """Yield the edits that give a thread `count` outputs; the grid is not among them."""
    names = [v.name for v in fn.variables.all]
    item = source.fresh_name("item", *names)
    first = source.fresh_name(f"{plan.output.variable.name}_first", *names)
    yield from _numbers(source, plan, count, first)
    for declaration in {v.declaration.id: v.declaration for v in plan.again}.values():
        if not in_run(plan, declaration):
            yield (*source.statement_span(declaration), "")
    for variable in plan.own:
        if not in_run(plan, variable.name_node):
            yield (variable.name_node.end_byte,) * 2 + (f"[{count}]",)
    for run in plan.runs:
        yield (*run.span, _repeated(source, fn, plan, run, count, (item, first)))
    for loop in plan.loops:
        if loop.body.type != "compound_statement":
            yield (loop.body.start_byte,) * 2 + ("{",)
            yield (loop.body.end_byte,) * 2 + (f"\n{source.indent(loop.node)}}}",)


def _numbers(source: Source, plan: Plan, count: int, first: str) -> Iterator[Replacement]:
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
    source: Source, fn: Function, plan: Plan, run: Run, count: int, names: tuple[str, str]
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
    source: Source, fn: Function, plan: Plan, run: Run, item: str, first: str
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


def _limited(source: Source, plan: Plan, run: Run, value: str) -> Iterator[str]:
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


def _text(source: Source, plan: Plan, run: Run, item: str) -> list[str]:
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
            edits.append((at.start_byte, declarators(at)[0].start_byte, ""))
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
