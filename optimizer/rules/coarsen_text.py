"""A kernel whose threads loop over several outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.rules.coarsen_plan import Plan
from optimizer.rules.outputs import at_top, output_ids
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, span


def rewritten(
    source: Source,
    fn: Function,
    plan: Plan,
    count: int,
    loads: Sequence[tuple[Access, str]],
    rows: bool,
) -> Iterator[Replacement]:
    """Yield the edits that put a loop over `count` outputs around a thread's work.

    The reads of `loads` come before it, for all outputs. With `rows` outputs are neighbours, else a
    block apart. The grid is not among the edits.
    """
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
        before += _reading([*head, *numbers], tests, lines, unit, whole)
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


def _reading(
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


def _swaps(source: Source, plan: Plan, count: int, item: str, rows: bool) -> list[tuple[Node, str]]:
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
    source: Source, fn: Function, plan: Plan, swaps: Sequence[tuple[Node, str]]
) -> Iterator[str]:
    """Yield the declarations of thread numbers that stand from the output's on."""
    done: set[int] = set()
    first = plan.output.variable.declaration
    for thread in output_ids(fn):
        node = thread.variable.declaration
        if node.start_byte < first.start_byte or not at_top(fn, node) or node.id in done:
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
