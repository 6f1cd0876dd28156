"""Work out in a local what the first thread of a block works out in a shared scalar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.rules.serial import First
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, span, walk
from optimizer.variables import Variable

_LOOPS = ("for_statement", "while_statement")


def in_locals(source: Source, fn: Function, tests: Sequence[First]) -> str:
    """Return the text with shared scalars that the first thread sets, then updates in loops, local.

    `sum = 0; for (...) sum += a[i];` becomes `float own_sum = 0; for (...) own_sum += a[i];`, and
    `sum = own_sum;` stands at the end of what the thread does alone. The text itself where there is
    nothing of the kind.
    """
    edits: list[Replacement] = []
    taken = [v.name for v in fn.variables.all]
    for first in tests:
        if first.exits or not any(s.type in _LOOPS for s in first.statements):
            continue
        names: list[tuple[str, str]] = []
        for variable in fn.variables.all:
            own = source.fresh_name(f"own_{variable.name}", *taken)
            found = list(_local(fn, first, variable, own))
            if found:
                edits += found
                names.append((variable.name, own))
        if names:
            margin, end = source.indent(first.statements[0]), first.statements[-1].end_byte
            lines = "".join(f"\n{margin}{name} = {own};" for name, own in names)
            edits.append((end, end, lines))
    return source.replace(sorted(edits, key=lambda e: (e[0], e[1])))


def _local(fn: Function, first: First, variable: Variable, own: str) -> Iterator[Replacement]:
    """Yield the edits that give a scalar another name in the first thread's statements."""
    if variable.space != "shared" or variable.is_array or variable.is_pointer or variable.volatile:
        return
    low, high = first.statements[0].start_byte, first.statements[-1].end_byte
    uses = sorted(
        (u for u in variable.uses if low <= u.node.start_byte < high),
        key=lambda u: u.node.start_byte,
    )
    if len(uses) < len(("set", "updated")) or any(u.role not in _PLAIN for u in uses):
        return
    statement = next((s for s in first.statements if contains(s, uses[0].node)), None)
    inner = statement.named_children[0] if statement and statement.named_children else None
    if statement is None or statement.type != "expression_statement" or inner is None:
        return
    left, right = field(inner, "left"), field(inner, "right")
    if inner.type != "assignment_expression" or operator(inner) != "=" or right is None:
        return
    if left != uses[0].node or any(fn.variables.of(n) is variable for n in walk(right)):
        return
    loops = [s for s in first.statements if s.type in _LOOPS]
    if not any(contains(s, u.node) and u.writes for s in loops for u in uses):
        return
    yield (statement.start_byte, statement.start_byte, f"{variable.written} ")
    for use in uses:
        yield (*span(use.node), own)


_PLAIN = ("read", "write", "update")
