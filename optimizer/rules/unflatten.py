"""Kernels that take one number apart into row and column, written with rows and columns."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function, Guard
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, span, stripped
from optimizer.variables import Variable

# Threads of a block along rows and columns.
_SIDE = 16
_PRODUCT = "*"


@dataclass(frozen=True, slots=True)
class _Matrix:
    """The number of an element, its row and its column, and the extents as the kernel has them."""

    number: Variable
    row: Variable
    column: Variable
    rows: str
    columns: str


def unflattened(source: Source, fn: Function) -> str | None:
    """Return the text with a kernel's `i = t / n, j = t % n` as numbers of threads along y and x.

    `t` is the thread's number in a flat launch, tested against `m * n`; `m` and `n` are parameters
    or constants, so that the launch can have blocks of 16 by 16 threads for them. None where that
    is not all that is known of `t`, and where a launch passes more than a name or a number.
    """
    if len(fn.thread_ids) != 1 or fn.thread_ids[0].axis != "x" or fn.thread_ids[0].shift.terms:
        return None
    number = fn.thread_ids[0].variable
    guards = [g for g in fn.guards if g.bounds is not None]
    if len(guards) != len(fn.guards) or len(guards) != 1 or not number.settled:
        return None
    found = _matrix(source, fn, number, guards[0])
    launches = _launches(source, fn, found) if found is not None else None
    if found is None or launches is None:
        return None
    edits = _kernel(source, fn, found, guards[0])
    return source.replace(sorted([*edits, *launches])) if edits is not None else None


def _matrix(source: Source, fn: Function, number: Variable, guard: Guard) -> _Matrix | None:
    if guard.bounds is None or len(guard.bounds) != 1:
        return None
    name, sign, bound = guard.bounds[0]
    if name != number.name or sign != "<":
        return None
    parts: dict[str, tuple[Variable, str]] = {}
    for variable in fn.variables.all:
        init = stripped(variable.init)
        if init is None or init.type != "binary_expression" or operator(init) not in ("/", "%"):
            continue
        left, right = stripped(field(init, "left")), stripped(field(init, "right"))
        if left is None or fn.variables.of(left) is not number:
            continue
        if operator(init) in parts or not variable.settled or not variable.is_scalar:
            return None
        parts[operator(init)] = (variable, source.plain(right))
    if len(parts) != 2 or parts["/"][1] != parts["%"][1]:
        return None
    columns = parts["/"][1]
    rows = _other_factor(source, fn, bound, columns)
    if rows is None or not all(_is_extent(source, fn, text) for text in (rows, columns)):
        return None
    return _Matrix(number, parts["/"][0], parts["%"][0], rows, columns)


def _other_factor(source: Source, fn: Function, bound: Node, columns: str) -> str | None:
    """Return `m` of a bound `m * n`, which a local may name."""
    node = stripped(bound)
    if node is not None and node.type == "identifier":
        variable = fn.variables.of(node)
        if variable is not None and variable.settled and variable.space == "local":
            node = stripped(variable.init)
    if node is None or node.type != "binary_expression" or operator(node) != _PRODUCT:
        return None
    sides = [source.plain(stripped(field(node, side))) for side in ("left", "right")]
    if columns not in sides:
        return None
    sides.remove(columns)
    return sides[0]


def _is_extent(source: Source, fn: Function, text: str) -> bool:
    """Return whether a text is a parameter that never changes, or a constant of the file."""
    parameter = next((p for p in fn.parameters if p.name == text), None)
    if parameter is None:
        return source.constant(text) is not None if text.isidentifier() else text.isdigit()
    variable = fn.variables.named(text)
    return not parameter.is_pointer and variable is not None and variable.settled


def _kernel(
    source: Source, fn: Function, m: _Matrix, guard: Guard
) -> tuple[Replacement, ...] | None:
    declared = (m.number, m.row, m.column)
    nodes = {v.declaration.id: v.declaration for v in declared}
    if any(not source.in_block(node) or node.type != "declaration" for node in nodes.values()):
        return None
    for variable in fn.variables.all:
        if variable.declaration.id in nodes and variable not in declared:
            return None
    condition = field(guard.node, "condition")
    places = [*nodes.values(), condition]
    edits: list[Replacement] = []
    for use in m.number.uses:
        if any(place is not None and contains(place, use.node) for place in places):
            continue
        outer = use.node.parent
        if outer is None or outer.type not in ("subscript_argument_list", "subscript_expression"):
            return None
        edits.append((*span(use.node), f"{m.row.name} * {m.columns} + {m.column.name}"))
    numbers = [
        f"{kind} {v.name} = blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis};"
        for v, axis in ((m.row, "y"), (m.column, "x"))
        if (kind := _kind(v))
    ]
    if len(numbers) != 2 or condition is None:
        return None
    margin = source.indent(m.number.declaration)
    for node in nodes.values():
        if node.id == m.number.declaration.id:
            edits.append((*span(node), f"\n{margin}".join(numbers)))
        else:
            edits.append((*source.statement_span(node), ""))
    inside = f"{m.row.name} < {m.rows} && {m.column.name} < {m.columns}"
    beyond = f"{m.row.name} >= {m.rows} || {m.column.name} >= {m.columns}"
    edits.append((*span(condition), f"({beyond if guard.exits else inside})"))
    return tuple(edits)


def _kind(variable: Variable) -> str:
    """Return the type of a number as declared, `int` for `auto`."""
    return "int" if variable.type.split()[-1] == "auto" else variable.type


def _launches(source: Source, fn: Function, m: _Matrix) -> tuple[Replacement, ...] | None:
    """Return the launches with blocks of rows and columns; None if one is not understood."""
    found = source.launches_of(fn.name)
    if not found or not source.only_launched(fn.name):
        return None
    edits: dict[tuple[int, int], str] = {}
    for launch in found:
        flat = [launch.grid or (), launch.block or ()]
        if any(not each or any(e.value != 1 for e in each[1:]) for each in flat):
            return None
        given = {
            p.name: source.plain(a) for p, a in zip(fn.parameters, launch.arguments, strict=False)
        }
        extents = [given.get(text, text) for text in (m.columns, m.rows)]
        if not all(text.replace(".", "_").isidentifier() or text.isdigit() for text in extents):
            return None
        blocks = ", ".join(f"({text} + {_SIDE - 1}) / {_SIDE}" for text in extents)
        edits[launch.grid_span] = f"dim3({blocks})"
        edits[launch.block_span] = f"dim3({_SIDE}, {_SIDE})"
    return tuple((*at, new) for at, new in edits.items())
