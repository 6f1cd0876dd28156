"""To which arrays the pointers of a function may point, and when one of them changes.

Pointers that are assigned to each other are followed through selections, swaps and arrays of
pointers, whatever the order of the statements. What cannot be followed points nowhere: this is for
who needs to be sure that two pointers may meet, not that they never do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.syntax import contains, field, operator
from optimizer.variables import Variable

MOST_VARIABLES, MOST_DEPTH = 400, 24
_CASTS = ("reinterpret_cast", "static_cast", "const_cast")
_SAME = ("__builtin_assume_aligned", "__cvta_generic_to_global")

# An array by what stands for it: a parameter or a local by itself, what is outside by its name.
Origin = Variable | str


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A name that an expression may point by: moved on by an offset or not, as conditions say."""

    variable: Variable | None
    name: str
    moved: bool
    told_by: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What a pointer is set to, and where. `swapped`: it was another one's until then."""

    value: Node
    at: Node
    declares: bool = False
    swapped: bool = False


class Pointers:
    """The pointers of one function."""

    def __init__(self, fn: Function) -> None:
        self._fn = fn

    @cached_property
    def changes(self) -> dict[Variable, list[Change]]:
        """Return all that each pointer is set to, in the order of the text."""
        found: dict[Variable, list[Change]] = {}
        variables = self._fn.variables
        if len(variables.all) > MOST_VARIABLES:
            return found
        for one in variables.all:
            if one.init is not None:
                listed = one.init.type == "initializer_list"
                for value in one.init.named_children if listed else [one.init]:
                    found.setdefault(one, []).append(Change(value, value, declares=True))
        for node in variables.nodes("assignment_expression"):
            left, right = field(node, "left"), field(node, "right")
            if left is None or right is None or operator(node) != "=":
                continue
            if (target := self._whole(left)) is not None:
                found.setdefault(target, []).append(Change(right, node))
        for call in self._fn.calls:
            if call.name.rpartition("::")[2] == "swap" and len(call.arguments) == 2:
                for argument, other in zip(call.arguments, call.arguments[::-1], strict=True):
                    if (target := self._whole(argument)) is not None:
                        change = Change(other, call.node, swapped=True)
                        found.setdefault(target, []).append(change)
        return found

    def _whole(self, node: Node) -> Variable | None:
        """Return the pointer that is set where this stands left: `p`, or `p[i]` of several."""
        if node.type == "subscript_expression":
            base = field(node, "argument")
            one = None if base is None else self._fn.variables.of(base)
            return one if one is not None and one.is_array and one.is_pointer else None
        return self._fn.variables.of(node) if node.type == "identifier" else None

    def leaves(self, node: Node | None) -> list[Leaf]:
        """Return the names by which an expression points; none where that is not understood."""
        return [] if node is None else list(self._leaves(node, (), 0))

    def _leaves(
        self, node: Node, told_by: tuple[Node, ...], depth: int, *, moved: bool = False
    ) -> Iterator[Leaf]:
        kind = node.type
        if depth > MOST_DEPTH:
            return
        if kind == "identifier":
            use = self._fn.variables.use(node)
            if use is not None and (use.variable is not None or self._outside(use.name)):
                yield Leaf(use.variable, use.name, moved, told_by)
            return
        if kind == "conditional_expression":
            condition = field(node, "condition")
            told_by = told_by if condition is None else (*told_by, condition)
        if kind == "subscript_expression":
            inside = field(node, "argument")
            one = None if inside is None else self._fn.variables.of(inside)
            if one is not None and one.is_array and one.is_pointer:
                index = field(node, "indices") or node.named_children[-1]
                yield Leaf(one, one.name, moved, (*told_by, index))
            return
        for child in self._inside(node):
            further = moved or kind == "binary_expression" or child.type == "subscript_expression"
            element = _element(node, child)
            yield from self._leaves(element, told_by, depth + 1, moved=further)

    def _outside(self, name: str) -> bool:
        """Tell whether a name is a variable of the device that is no constant."""
        return self._fn.file.spaces.get(name, "constant") != "constant"

    def _inside(self, node: Node) -> list[Node]:
        """Return the parts of an expression that point to where it does."""
        kind, names = node.type, tuple[str, ...]()
        if kind == "conditional_expression":
            names = ("consequence", "alternative")
        elif kind == "binary_expression" and operator(node) in ("+", "-"):
            names = ("left", "right") if operator(node) == "+" else ("left",)
        elif kind == "cast_expression":
            names = ("value",)
        elif kind == "assignment_expression":
            names = ("right",)
        elif (
            kind == "pointer_expression" and operator(node) == "&"
        ) or kind == "update_expression":
            names = ("argument",)
        elif kind == "parenthesized_expression":
            return node.named_children[:1]
        elif kind == "call_expression":
            return self._passed(node)
        found = [field(node, name) for name in names]
        return [one for one in found if one is not None and not self._number(one)]

    def _passed(self, node: Node) -> list[Node]:
        name = self._fn.file.syntax.plain(field(node, "function"))
        listed = field(node, "arguments")
        same = name.startswith(_CASTS) or name in _SAME
        return listed.named_children[:1] if same and listed is not None else []

    def _number(self, node: Node) -> bool:
        """Tell whether an operand is a variable that is no pointer."""
        one = self._fn.variables.of(node) if node.type == "identifier" else None
        return one is not None and not (
            one.is_pointer or one.is_array or "auto" in one.type.split()
        )

    def of(self, node: Node | None) -> frozenset[Origin]:
        """Return the arrays to which an expression may point."""
        return frozenset().union(*(self.behind(leaf) for leaf in self.leaves(node)))

    def behind(self, leaf: Leaf) -> frozenset[Origin]:
        """Return the arrays to which a name may point."""
        if leaf.variable is None:
            return frozenset({leaf.name})
        return self._points.get(leaf.variable, frozenset())

    @cached_property
    def _points(self) -> dict[Variable, frozenset[Origin]]:
        """Return to which arrays each variable may point; a part of one is an array, too."""
        set_to = {
            one: [leaf for change in changes for leaf in self.leaves(change.value)]
            for one, changes in self.changes.items()
            if one.space != "shared" and (one.is_pointer or "auto" in one.type.split())
        }
        found = self._closed(set_to)
        parts = {one for one, leaves in set_to.items() if _part(one, leaves, found)}
        return self._closed({one: [] if one in parts else set_to[one] for one in set_to}, parts)

    def _closed(
        self, set_to: dict[Variable, list[Leaf]], parts: Iterable[Variable] = ()
    ) -> dict[Variable, frozenset[Origin]]:
        """Follow pointers to what they are set to until nothing new is found."""
        found: dict[Variable, frozenset[Origin]] = {one: frozenset({one}) for one in parts}
        for one in self._fn.variables.all[:MOST_VARIABLES]:
            if one.space == "parameter" and one.is_pointer:
                found[one] = frozenset({one})
        for _ in range(MOST_DEPTH):
            before = sum(map(len, found.values()))
            for one, leaves in set_to.items():
                known = [
                    {leaf.name} if leaf.variable is None else found.get(leaf.variable, frozenset())
                    for leaf in leaves
                ]
                found[one] = found.get(one, frozenset[Origin]()).union(*known)
            if sum(map(len, found.values())) == before:
                break
        return found

    def alias(self, node: Node | None) -> Leaf | None:
        """Return the one name that an expression points by, behind others for the same pointer."""
        for _ in range(MOST_DEPTH):
            leaves = self.leaves(node)
            if len(leaves) != 1 or leaves[0].told_by:
                return None
            one = leaves[0].variable
            if one is None or one.space == "parameter" or not one.settled or one.init is None:
                return leaves[0]
            behind = self.leaves(one.init)
            if len(behind) != 1 or behind[0].moved or one.is_array:
                return leaves[0]
            node = one.init
        return None

    def turns(self, node: Node | None) -> list[frozenset[Origin]]:
        """Return the arrays to which an expression points one after the other, as they are set."""
        found: list[frozenset[Origin]] = []
        for leaf in self._ends(node, 0):
            changes = [] if leaf.variable is None else self.changes.get(leaf.variable, [])
            own = leaf.variable is not None and leaf.variable.space == "parameter"
            if leaf.variable is not None and leaf.variable.is_array:
                # Of several pointers the same one only by the same number.
                found.append(frozenset(map(self._fn.file.syntax.plain, leaf.told_by)))
            found += [self.behind(leaf)] if own or not changes else []
            found += [self.behind(one) for change in changes for one in self.leaves(change.value)]
        return found

    def _ends(self, node: Node | None, depth: int) -> Iterator[Leaf]:
        """Yield the names by which an expression points, behind those that are set once."""
        for leaf in self.leaves(node):
            one = leaf.variable
            once = one is not None and one.settled and not one.is_array and one.init is not None
            if once and one is not None and depth < MOST_DEPTH and len(self.leaves(one.init)) == 1:
                yield from self._ends(one.init, depth + 1)
            else:
                yield leaf

    def changing(self, node: Node | None, loop: Node, used: Node) -> bool:
        """Tell whether an expression, used in a loop, points elsewhere in its next iterations."""
        return self._changing(node, loop, used, frozenset())

    def _changing(
        self, node: Node | None, loop: Node, used: Node, seen: frozenset[Variable]
    ) -> bool:
        return any(
            any(self._varies(one, loop) for one in leaf.told_by)
            or (leaf.variable is not None and self._set_anew(leaf.variable, loop, used, seen))
            for leaf in self.leaves(node)
        )

    def _set_anew(
        self, variable: Variable, loop: Node, used: Node, seen: frozenset[Variable]
    ) -> bool:
        if variable in seen:
            return True  # by turns with another
        if len(seen) > MOST_DEPTH:
            return False
        for change in self.changes.get(variable, ()):
            leaves = self.leaves(change.value)
            if not contains(loop, change.at) or all(one.variable is variable for one in leaves):
                continue
            if change.swapped:
                return True
            kept = not contains(loop, variable.scope) and not change.declares
            if kept and change.at.start_byte > used.end_byte:
                return True
            if any(self._varies(one, loop) for one in _conditions(change.at, loop)):
                return True
            if self._changing(change.value, loop, used, seen | {variable}):
                return True
        return False

    def _varies(self, node: Node, loop: Node) -> bool:
        """Tell whether a condition may be another one in a loop's next iteration."""
        uses = self._fn.variables.within(node)
        return any(u.variable is not None and u.variable in self._made_in(loop) for u in uses)

    def _made_in(self, loop: Node) -> frozenset[Variable]:
        """Return the numbers that differ from iteration to iteration of a loop."""
        if loop.id not in self._made:
            found = {
                one
                for one in self._fn.variables.all
                if any(contains(loop, use.node) for use in one.changes)
            }
            for one in self._fn.variables.all:
                inside = one.init is not None and contains(loop, one.declaration)
                if inside and one.init is not None:
                    uses = self._fn.variables.within(one.init)
                    found |= {one} if any(u.variable in found for u in uses) else set()
            self._made[loop.id] = frozenset(found)
        return self._made[loop.id]

    @cached_property
    def _made(self) -> dict[int, frozenset[Variable]]:
        return {}


def _element(node: Node, child: Node) -> Node:
    """Return the array of `&array[i]`, of whose elements one is pointed to."""
    if node.type == "pointer_expression" and child.type == "subscript_expression":
        return field(child, "argument") or child
    return child


def _conditions(node: Node, loop: Node) -> Iterator[Node]:
    """Yield the conditions under which a node is reached within a loop."""
    at = node.parent
    while at is not None and at != loop:
        condition = field(at, "condition") if at.type == "if_statement" else None
        if condition is not None:
            yield condition
        at = at.parent


def _part(one: Variable, leaves: list[Leaf], found: dict[Variable, frozenset[Origin]]) -> bool:
    """Tell whether a pointer is set once, to a place within one array."""
    if not one.settled or len(leaves) != 1 or one.is_array:
        return False
    leaf = leaves[0]
    fixed = leaf.variable is None or (
        leaf.variable.settled and len(found.get(leaf.variable, ())) == 1
    )
    return leaf.moved and not leaf.told_by and fixed
