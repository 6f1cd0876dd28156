"""What tells threads apart: locals that number them across the grid, and tests of those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tree_sitter import Node

from optimizer.polynomials import Polynomial, number
from optimizer.syntax import field, operator, stripped
from optimizer.variables import Variable

if TYPE_CHECKING:
    from optimizer.functions import Function

NOTHING = number(0)


@dataclass(frozen=True, slots=True)
class Guard:
    """A test that keeps threads from working beyond an extent.

    `node` is the if statement. With `exits` it is `if (i >= n) return;`, else `if (i < n) {...}`
    around the work (`body`). `bounds` are the single comparisons, each as the name on the left,
    relation under which work is *done* (`<`) and the bound's node; None when not understood.
    """

    node: Node
    exits: bool
    body: Node
    bounds: tuple[tuple[str, str, Node], ...] | None
    line: int


@dataclass(frozen=True, slots=True)
class ThreadId:
    """A local that numbers threads across the grid: `blockIdx.x * block + threadIdx.x`.

    `block` is the text of the factor: `blockDim.x`, `BS` or `256`. `shift` is what all threads add
    to it (`1`, `first`); numbers with one are in `Function.shifted_ids` only.
    """

    variable: Variable
    axis: str
    block: str
    shift: Polynomial = NOTHING

    @property
    def never_negative(self) -> bool:
        """Return whether it counts from zero or a number above it."""
        return (self.shift.constant or 0) >= 0 and self.shift.constant is not None


def shifted_ids(fn: Function) -> tuple[ThreadId, ...]:
    """Return locals that are `blockIdx.x * block + threadIdx.x` plus what all threads add."""
    return tuple(found for v in fn.variables.all if (found := _thread_id(fn, v)) is not None)


def _thread_id(fn: Function, variable: Variable) -> ThreadId | None:
    if variable.init is None or variable.space == "parameter" or not variable.is_scalar:
        return None
    value = fn.affine(variable.init)
    return None if value is None else _numbered(variable, value)


def _numbered(variable: Variable, value: Polynomial) -> ThreadId | None:
    for axis in ("x", "y", "z"):
        thread, block = f"threadIdx.{axis}", f"blockIdx.{axis}"
        if value.terms.get((thread,)) != 1:
            continue
        rest = dict(value.terms)
        del rest[(thread,)]
        named = [m for m in rest if block in m]
        if len(named) != 1:
            continue
        factor, others = rest.pop(named[0]), [a for a in named[0] if a != block]
        shift = Polynomial(rest, value.opaque) if rest else NOTHING
        if len(others) > 1 or len(others) == len(named[0]) or (others and factor != 1):
            continue
        if any(s.partition(".")[0] in ("threadIdx", "blockIdx") for s in shift.symbols):
            continue
        return ThreadId(variable, axis, others[0] if others else str(factor), shift)
    return None


def flat_ids(fn: Function) -> tuple[ThreadId, ...]:
    """Return locals that number threads of a plane of blocks in one row, `axis` is x.

    `(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x`.
    """
    found: list[ThreadId] = []
    for v in fn.variables.all:
        if v.init is None or v.space == "parameter" or not v.is_scalar:
            continue
        value = fn.affine(v.init)
        if value is not None and dict(value.terms) == _FLAT:
            found.append(ThreadId(v, "x", "blockDim.x"))
    return tuple(found)


_FLAT = {
    ("threadIdx.x",): 1,
    ("blockDim.x", "blockIdx.x"): 1,
    ("blockDim.x", "blockIdx.y", "gridDim.x"): 1,
}


def guards(fn: Function) -> Iterator[Guard]:
    """Yield tests at the top level of a body that stop threads outside an extent."""
    for node in fn.body.named_children:
        if node.type != "if_statement" or field(node, "alternative") is not None:
            continue
        body = field(node, "consequence")
        condition = stripped(field(node, "condition"))
        if body is None or condition is None:
            continue
        inner = body.named_children if body.type == "compound_statement" else [body]
        exits = (
            len(inner) == 1 and inner[0].type == "return_statement" and not inner[0].named_children
        )
        bounds = _comparisons(fn, condition, exits)
        yield Guard(node, exits, body, bounds, fn.file.syntax.line(node))


def _comparisons(
    fn: Function, condition: Node, negated: bool
) -> tuple[tuple[str, str, Node], ...] | None:
    joint = "||" if negated else "&&"
    found: list[tuple[str, str, Node]] = []
    pending: list[Node | None] = [condition]
    while pending:
        node = stripped(pending.pop())
        if node is None or node.type != "binary_expression":
            return None
        sign = operator(node)
        left, right = stripped(field(node, "left")), stripped(field(node, "right"))
        if sign == joint:
            pending += [right, left]
            continue
        if left is None or right is None or sign not in _MIRRORED:
            return None
        if left.type != "identifier" or (
            right.type == "identifier" and _numbers(fn, right) and not _numbers(fn, left)
        ):
            left, right, sign = right, left, _MIRRORED[sign]
        if left.type != "identifier":
            return None
        found.append((fn.file.syntax.of(left), _NEGATED[sign] if negated else sign, right))
    return tuple(found)


def _numbers(fn: Function, node: Node) -> bool:
    value = fn.affine(node)
    return value is not None and any(s.startswith("threadIdx") for s in value.symbols)


_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}
