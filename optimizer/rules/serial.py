"""What one thread of a block does alone, and what all its threads do alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.rules.opening import names_apart
from optimizer.source import Source
from optimizer.syntax import ancestors, contains, field, operator, stripped, walk
from optimizer.variables import Variable

_BRANCHES = (
    "if_statement", "while_statement", "for_statement", "do_statement", "switch_statement",
    "conditional_expression",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class First:
    """A test that only the first thread of a block passes, or of one block.

    `test` is what it says of the thread, `kept` what it says of the block ("" for nothing).
    `statements` are those only that thread comes to; with `exits` the others have returned before.
    `apart` tells that no name declared there is declared elsewhere. `others` are all tests of the
    same thread in the kernel.
    """

    node: Node
    test: str
    kept: str
    exits: bool
    statements: tuple[Node, ...]
    apart: bool
    others: tuple[First, ...] = ()


class Likeness:
    """Tells what is the same for all threads of a block in a kernel.

    With `test` it is told for a kernel in which all threads pass that test.
    """

    def __init__(self, source: Source, fn: Function, test: Node | None = None) -> None:
        self._source, self._fn, self._test = source, fn, test
        self._known: dict[int, bool] = {}

    def __call__(self, node: Node) -> bool:
        """Return whether evaluating a node gives all threads of a block the same values.

        Memory counts as the same for all; who may write it is not looked at.
        """
        for inner in walk(node, "identifier", "call_expression"):
            if inner.type == "call_expression":
                name = self._source.plain(field(inner, "function")).partition("<")[0]
                if name.startswith(("atomic", "__shfl", "clock", "__ballot", "__match", "__any")):
                    return False
                continue
            if self._source.of(inner) == "threadIdx":
                return False
            variable = self._fn.variables.of(inner)
            if variable is not None and not self._same(variable, node):
                return False
        return True

    def _same(self, variable: Variable, within: Node) -> bool:
        if variable.space in ("parameter", "shared") and not variable.changes:
            return True
        if variable.space == "shared":
            return True
        if contains(within, variable.name_node):
            return True
        known = self._known.get(id(variable))
        if known is None:
            self._known[id(variable)] = True  # for definitions by way of itself
            known = self._known[id(variable)] = self._alike(variable)
        return known

    def _alike(self, variable: Variable) -> bool:
        if variable.address_taken or variable.reference or variable.volatile:
            return False
        places = [variable.declaration] if variable.init is not None else []
        for use in variable.uses:
            if use.writes:
                statement = self._fn.statement(use.node)
                if statement is None:
                    return False
                places.append(use.node.parent or statement)
                if not self._under_alike(use.node):
                    return False
                places.append(self._assigned(use.node, statement))
        if variable.init is not None:
            places = [variable.init, *places[1:]]
        return all(self(p) for p in places)

    def _assigned(self, node: Node, statement: Node) -> Node:
        """Return the assignment that changes a variable."""
        for outer in ancestors(node, statement):
            if outer.type in ("assignment_expression", "update_expression", "call_expression"):
                return outer
        return statement if statement.type == "expression_statement" else node

    def _under_alike(self, node: Node) -> bool:
        for outer in ancestors(node, self._fn.body):
            if self._test is not None and outer.id == self._test.id:
                continue
            condition = field(outer, "condition") if outer.type in _BRANCHES else None
            if condition is not None and not contains(condition, node) and not self(condition):
                return False
        return True

    def reached(self, node: Node) -> bool:
        """Return whether all threads of a block come to a node if one does."""
        if not self._under_alike(node):
            return False
        around = [lp.node for lp in self._fn.loops_around(node)]
        return all(
            (self._test is not None and contains(self._test, jump)) or self._under_alike(jump)
            for jump in walk(
                self._fn.body, "return_statement", "break_statement", "continue_statement"
            )
            if jump.start_byte < node.start_byte or any(contains(lp, jump) for lp in around)
        )

    def asks(self, builtin: str) -> bool:
        """Return whether the kernel names a builtin."""
        return any(self._source.of(n) == builtin for n in walk(self._fn.body, "identifier"))

    def test_of(self, node: Node) -> bool:
        """Return whether a statement is all that stands under the test."""
        parent = node.parent
        return parent is not None and self._test is not None and parent.id == self._test.id


def first_thread(source: Source, fn: Function, alike: Likeness) -> Iterator[First]:
    """Yield the tests that only the first thread of a block passes, all threads reaching them."""
    found = [t for n in walk(fn.body, "if_statement") if (t := _test(source, fn, alike, n))]
    for test in found:
        if alike.reached(test.node):
            yield First(
                test.node, test.test, test.kept, test.exits, test.statements, test.apart,
                tuple(found),
            )  # fmt: skip


def _test(source: Source, fn: Function, alike: Likeness, node: Node) -> First | None:
    body, condition = field(node, "consequence"), stripped(field(node, "condition"))
    while condition is not None and condition.type == "condition_clause":
        condition = stripped(condition.named_children[0]) if condition.named_children else None
    if body is None or condition is None or field(node, "alternative") is not None:
        return None
    inner = list(body.named_children) if body.type == "compound_statement" else [body]
    exits = len(inner) == 1 and inner[0].type == "return_statement"
    parts = _parts(condition, "||" if exits else "&&")
    tests, kept = [], []
    for part in parts:
        said = _says(source, fn, part, exits)
        if said is None:
            if not alike(part):
                return None
            kept.append(source.of(part))
            continue
        if said:
            kept.append(f"blockIdx.x {'!=' if exits else '=='} 0")
            tests.append("threadIdx.x == 0")
        else:
            tests.append("threadIdx.x == 0" if exits else source.of(part))
    if len(tests) != 1:
        return None
    if exits:
        if node.parent is None or node.parent.id != fn.body.id:
            return None
        siblings = [n for n in fn.body.named_children if n.start_byte >= node.end_byte]
        inner = siblings
    if not inner:
        return None
    joined = (" || " if exits else " && ").join(kept)
    return First(node, tests[0], joined, exits, tuple(inner), names_apart(fn, body))


def _parts(node: Node, joint: str) -> list[Node]:
    inner = stripped(node)
    if inner is not None and inner.type == "binary_expression" and operator(inner) == joint:
        left, right = field(inner, "left"), field(inner, "right")
        if left is not None and right is not None:
            return [*_parts(left, joint), *_parts(right, joint)]
    return [inner if inner is not None else node]


def _says(source: Source, fn: Function, node: Node, negated: bool) -> bool | None:
    """Return whether `t == 0` (`t != 0` if negated) is of a block's thread or of all blocks'.

    False for the thread within its block, True for the first thread of all; None for another test.
    """
    value = None
    if node.type == "binary_expression":
        left, right = field(node, "left"), field(node, "right")
        sign = operator(node)
        a, b = fn.affine(left), fn.affine(right)
        if a is None or b is None:
            return None
        difference = a - b
        zero = (sign == "!=" or (sign == ">" and b.constant == 0)) if negated else sign == "=="
        if not zero and not negated and sign == "<" and b.constant == 1:
            zero, difference = True, a
        value = difference if zero else None
    elif node.type == "unary_expression" and operator(node) == "!" and not negated:
        value = fn.affine(field(node, "argument"))
    elif negated and node.type in ("identifier", "field_expression"):
        value = fn.affine(node)
    del source
    if value is None or abs(value.terms.get(("threadIdx.x",), 0)) != 1:
        return None
    others = [m for m in value.terms if m != ("threadIdx.x",)]
    if not others:
        return False
    if (
        len(others) == 1
        and "blockIdx.x" in others[0]
        and set(others[0]) <= {"blockIdx.x", "blockDim.x"}
    ):
        return True
    return None
