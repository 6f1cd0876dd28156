"""Compute sine and cosine of one angle together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.functions import Call, Function
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, span, walk

_NAME = "sincos"
_PLAIN = ("expression_statement", "declaration", "return_statement")
_FLOATS = ("float", "double")


def sincos(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Replace `sinf(x)` and `cosf(x)` by the results of one `sincosf(x, &s, &c)`.

    Both reduce the angle first, which is most of the work. Legal where the two stand in statements
    of one block and nothing between them changes the angle. The values are the same.
    """
    del findings
    source = Source(kernel.source)
    edits: list[Replacement] = []
    lines: list[int] = []
    for fn in (*source.kernels, *source.device_functions):
        if fn.broken or fn.has_goto or "__host__" in fn.qualifiers:
            continue
        taken = [v.name for v in fn.variables.all]
        for kind, calls in _groups(source, fn):
            home = _statement(fn, calls[0].node)
            if home is None:
                continue
            names = [source.fresh_name(n, *taken) for n in ("sine", "cosine")]
            taken += names
            angle = source.of(calls[0].arguments[0])
            function = "sincosf" if kind == "float" else "sincos"
            code = f"{kind} {names[0]}, {names[1]};\n{function}({angle}, &{names[0]}, &{names[1]});"
            edits.append(source.insert_before(home, code))
            edits += [(*span(c.node), names["cos" in c.name]) for c in calls]
            lines += [c.line for c in calls]
    if edits:
        yield Edit(
            "compute sine and cosine together",
            source.replace(sorted(edits)),
            f"rule:{_NAME}",
            f"Line {', '.join(str(n) for n in dict.fromkeys(lines))}: both functions reduce the"
            " same angle; `sincosf` does it once.",
            _NAME,
            1.15,
        )


def _groups(source: Source, fn: Function) -> Iterator[tuple[str, list[Call]]]:
    """Yield calls of both functions with one argument, in statements of one block."""
    found: dict[tuple[int, str, str], list[Call]] = {}
    for call in fn.calls_of("sinf", "cosf", "sin", "cos"):
        home = _statement(fn, call.node)
        if home is None or home.parent is None or len(call.arguments) != 1:
            continue
        angle = call.arguments[0]
        kind = "float" if call.name.endswith("f") else source.resolved(fn.type_of(angle) or "")
        if kind not in _FLOATS or source.function(call.name) or not fn.is_pure(angle):
            continue
        found.setdefault((home.parent.id, source.plain(angle), kind), []).append(call)
    for (_, _, kind), calls in found.items():
        calls.sort(key=lambda c: c.node.start_byte)
        while calls and not _steady(fn, calls):
            calls.pop()
        nested = any(True for c in calls for _ in walk(c.arguments[0], "call_expression"))
        if len({c.name for c in calls}) == 2 and not nested:
            yield kind, calls


def _statement(fn: Function, node: Node) -> Node | None:
    """Return the plain statement of a block that a call always runs in, not in a lambda."""
    for at in (node, *ancestors(node, fn.body)):
        if at.type in ("lambda_expression", "for_statement"):
            return None
        if at.type in _PLAIN:
            parent = at.parent
            return at if parent is not None and parent.type == "compound_statement" else None
    return None


def _steady(fn: Function, calls: Sequence[Call]) -> bool:
    """Return whether nothing from the first statement to the last call changes the angle."""
    home = _statement(fn, calls[0].node)
    if home is None:
        return False
    low, high = home.start_byte, calls[-1].node.start_byte
    memory = False
    for use in fn.variables.within(calls[0].arguments[0]):
        variable = use.variable
        if variable is None:
            continue
        memory = memory or use.role != "read"
        if any(low <= c.node.start_byte < high for c in variable.changes):
            return False
        if low <= variable.name_node.start_byte < high or variable.address_taken:
            return False
    stores = [a.node for a in fn.accesses if a.writes and low <= a.node.start_byte < high]
    opaque = [c.node for c in fn.unknown_calls if low <= c.node.start_byte < high]
    # What the last call's own statement stores comes after its value is computed.
    last = _statement(fn, calls[-1].node)
    stores = [n for n in stores if last is None or n.start_byte < last.start_byte]
    return not (memory and (stores or opaque))
