"""Variables of a function and every use of them, with C++ scoping.

One walk binds each identifier to its declaration and says what is done there:

=========  ===================================================================================
`read`     the value is used
`write`    the whole variable is overwritten: `x = ...`
`update`   it is changed from its old value: `x += ...`, `x++`, `v.x = ...`
`load`     an element is read through it: `p[i]`, `*p`, `p->x`, `__ldg(&p[i])`
`store`    an element is overwritten through it: `p[i] = ...`
`modify`   an element is changed through it: `p[i] += ...`
`atomic`   an element goes to an atomic function: `atomicAdd(&p[i], v)`
`address`  its address, or an element's, goes where we do not follow; it may change any time
`pass`     a pointer or array goes to a function that may read and write what it points to
`alias`    a pointer or array initializes or is assigned to another pointer
=========  ===================================================================================
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property

from tree_sitter import Node

from optimizer.definitions import Signature, declared_name
from optimizer.intrinsics import ATOMICS, CACHED_LOADS, CACHED_STORES, by_value
from optimizer.syntax import Syntax, field, operator
from optimizer.tokens import squeezed

_SCOPED = frozenset({
    "compound_statement", "for_statement", "for_range_loop", "while_statement", "if_statement",
    "switch_statement", "lambda_expression", "catch_clause",
})  # fmt: skip
_DECLARING = ("parameter_declaration", "optional_parameter_declaration", "for_range_loop")
_LINKS = 8  # typedefs of typedefs
WRITES = frozenset({"write", "update", "address"})
ELEMENT_WRITES = frozenset({"store", "modify", "atomic", "address", "pass"})

ByReference = Callable[[str, int], bool]


@dataclass(eq=False, slots=True, repr=False)
class Variable:
    """A parameter, local, `__shared__` array or loop variable, with all its uses in order.

    `type` is its declared type without stars and qualifiers like `__shared__`; `written` the same
    without const and volatile, `element` that with typedefs and type macros of the file resolved
    (`float` for `real` after `typedef float real;`): judge by `element`, declare with `written`.
    `depth` counts pointer stars, `extents` are the texts of the array extents (`()` for
    none, `("",)` for `[]`). `space` is one of parameter, local, shared. `scope` is the
    node in which the name is visible, `declarator` the node that declares it.
    """

    name: str
    type: str
    depth: int
    extents: tuple[str, ...]
    space: str
    declaration: Node
    declarator: Node
    name_node: Node
    init: Node | None
    scope: Node
    reference: bool = False
    const: bool = False
    restrict: bool = False
    volatile: bool = False
    uses: list[Use] = dataclass_field(default_factory=list)
    aliases: Mapping[str, str] = dataclass_field(default_factory=dict)
    _settled: bool | None = None
    _changes: list[Use] | None = None

    def __repr__(self) -> str:
        return f"<Variable {self.type} {self.name}>"

    @property
    def written(self) -> str:
        """Return the type of an element or value as the text names it, without const: `real`."""
        return " ".join(w for w in self.type.split() if w not in _LOOSE)

    @property
    def element(self) -> str:
        """Return the type of an element or value without const and volatile: `float`."""
        name = self.written
        for _ in range(_LINKS):
            if name not in self.aliases:
                break
            name = self.aliases[name].removeprefix("const ")
        return name

    @property
    def is_pointer(self) -> bool:
        """Return whether it is a pointer (not an array)."""
        return self.depth > 0

    @property
    def is_array(self) -> bool:
        """Return whether it is an array."""
        return bool(self.extents)

    @property
    def is_scalar(self) -> bool:
        """Return whether it is neither pointer nor array nor reference."""
        return not self.depth and not self.extents and not self.reference

    @property
    def changes(self) -> list[Use]:
        """Return the uses that may change the variable itself (its initialization aside)."""
        if self._changes is None:
            self._changes = [u for u in self.uses if u.role in WRITES]
        return self._changes

    @property
    def settled(self) -> bool:
        """Return whether it keeps the value it is declared with."""
        if self._settled is None:
            self._settled = (
                not self.reference
                and not self.volatile
                and not self.changes
                and (self.init is not None or self.space == "parameter")
            )
        return self._settled

    @property
    def address_taken(self) -> bool:
        """Return whether its address goes where we do not follow."""
        return any(u.role == "address" for u in self.uses)


class Use:
    """One identifier. `place` is the whole lvalue it is the root of: `p[i].x` for `p`.

    What is done there is worked out when first asked for: most uses in host code never are.
    """

    __slots__ = ("_climb", "_found", "name", "node", "variable")

    def __init__(
        self,
        node: Node,
        name: str,
        variable: Variable | None,
        climb: Callable[[Node, Variable | None], tuple[str, Node]],
    ) -> None:
        self.node, self.name, self.variable = node, name, variable
        self._climb = climb
        self._found: tuple[str, Node] | None = None

    def __repr__(self) -> str:
        return f"<Use {self.role} {self.name}>"

    @property
    def role(self) -> str:
        """Return what is done there, one of those listed above, or `declare`."""
        return self._seen[0]

    @property
    def place(self) -> Node:
        """Return the node of the lvalue."""
        return self._seen[1]

    @property
    def _seen(self) -> tuple[str, Node]:
        if self._found is None:
            self._found = self._climb(self.node, self.variable)
        return self._found

    @property
    def writes(self) -> bool:
        """Return whether the variable or an element of it may be changed here."""
        return self.role in WRITES or self.role in ELEMENT_WRITES


def _declaring(node: Node, _: Variable | None) -> tuple[str, Node]:
    return "declare", node


_LOOSE = frozenset({"const", "volatile", "static", "extern", "register", "constexpr", "mutable"})


class Variables:
    """All variables of a function. Look up by name and place, or by identifier node."""

    def __init__(
        self,
        syntax: Syntax,
        signature: Signature,
        by_reference: ByReference,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self._syntax = syntax
        self._by_reference = by_reference
        self._climb = self._role  # bound once, for all uses
        own = {t.name for t in signature.templates}  # a template parameter hides the file's name
        self._aliases = {k: v for k, v in (aliases or {}).items() if k not in own}
        self._bound: dict[int, Use] = {}
        self._sorted: tuple[list[int], list[Use]] | None = None
        self.all: list[Variable] = []
        self.free: list[Use] = []
        self._nodes: dict[str, list[Node]] = {}
        first: dict[str, Variable] = {}
        for p in signature.parameters:
            if not p.name:
                continue
            name = declared_name(field(p.node, "declarator"))
            if name is None:
                continue
            arrays = p.type.count("[")
            variable = Variable(
                p.name, p.type.split(" *")[0].split(" [")[0].removesuffix("&").strip(),
                p.depth, (), "parameter", p.node, p.node, name, None, signature.body,
                p.reference, p.const, p.restrict, "volatile" in p.type.split(),
                aliases=self._aliases,
            )  # fmt: skip
            if arrays and "(" in p.type:
                variable.type = p.element
            self.all.append(variable)
            first[p.name] = variable
        self._scopes: list[tuple[Node, dict[str, Variable]]] = [(signature.body, first)]
        self._walk(signature.body)
        self.jumps = bool(self.nodes("goto_statement", "labeled_statement"))

    def of(self, node: Node) -> Variable | None:
        """Return the variable an identifier node stands for; None when it is no local name."""
        use = self._bound.get(node.id)
        return use.variable if use is not None else None

    def use(self, node: Node) -> Use | None:
        """Return the use at an identifier node, also of a name from outside the function."""
        return self._bound.get(node.id)

    def named(self, name: str, at: Node | None = None) -> Variable | None:
        """Return the variable a name means at a node; the only one of that name without `at`."""
        if at is not None:
            return self.visible(name, at.start_byte)
        found = [v for v in self.all if v.name == name]
        return found[0] if len(found) == 1 else None

    def visible(self, name: str, at: int) -> Variable | None:
        """Return the variable a name means at a position."""
        inside = [
            v
            for v in self.all
            if v.name == name
            and v.scope.start_byte <= at < v.scope.end_byte
            and (v.space == "parameter" or v.name_node.start_byte <= at)
        ]
        return max(inside, key=lambda v: (v.scope.start_byte, v.name_node.start_byte), default=None)

    def within(self, node: Node) -> Iterator[Use]:
        """Yield every use in a node, of locals and of names from outside, in order."""
        low, high = node.start_byte, node.end_byte
        if self._sorted is None:
            uses = sorted(self._bound.values(), key=lambda u: u.node.start_byte)
            self._sorted = ([u.node.start_byte for u in uses], uses)
        starts, uses = self._sorted
        yield from uses[bisect_left(starts, low) : bisect_left(starts, high)]

    def nodes(self, *types: str) -> list[Node]:
        """Return the nodes of some types in the body, in order (not identifiers)."""
        if len(types) == 1:
            return self._nodes.get(types[0], [])
        found = [n for t in types for n in self._nodes.get(t, ())]
        return sorted(found, key=lambda n: (n.start_byte, -n.end_byte))

    @cached_property
    def misread(self) -> bool:
        """Return whether `a < b && c > (d)` was read as a template call, or the like."""
        for node in self.nodes("template_function"):
            name = field(node, "name")
            if name is not None and self.of(name) is not None:
                return True
        return any(
            d.type == "function_declarator"
            for node in self.nodes("declaration")
            for d in node.children_by_field_name("declarator")
        )

    # -- the walk --------------------------------------------------------------------------------

    def _walk(self, body: Node) -> None:
        # With a cursor: what is kept of a function are its nodes, without lists of children.
        cursor = body.walk()
        depth, open_at = 0, [-1]  # how deep below the body, and where each scope was opened
        nodes = self._nodes
        down = cursor.goto_first_child()
        while down:
            node = cursor.node
            if node is not None and node.is_named:
                kind = node.type
                if kind == "identifier":
                    self._identifier(node)
                else:
                    if kind in nodes:
                        nodes[kind].append(node)
                    else:
                        nodes[kind] = [node]
                    if kind in _SCOPED:
                        self._scopes.append((node, {}))
                        open_at.append(depth)
                    if kind == "declaration":
                        self._declare(node)
                    elif kind in _DECLARING:
                        self._declare_one(node, field(node, "declarator"), "local")
                    if cursor.goto_first_child():
                        depth += 1
                        continue
            while True:
                if open_at[-1] == depth:
                    open_at.pop()
                    self._scopes.pop()
                if cursor.goto_next_sibling():
                    break
                if depth == 0:
                    return
                cursor.goto_parent()
                depth -= 1

    def _declare(self, node: Node) -> None:
        low = node.start_byte
        previous = node.prev_sibling
        if previous is not None:
            low = previous.end_byte
        declarators = node.children_by_field_name("declarator")
        end = declarators[0].start_byte if declarators else node.end_byte
        shared = any(a.name == "__shared__" for a in self._syntax.masked.attributes_in(low, end))
        for declarator in declarators:
            self._declare_one(node, declarator, "shared" if shared else "local")

    def _declare_one(self, node: Node, declarator: Node | None, space: str) -> None:
        name = declared_name(declarator)
        if name is None or name.type != "identifier" or declarator is None:
            return
        depth, reference, extents = 0, False, []
        init: Node | None = None
        at: Node | None = declarator
        while at is not None and at != name:
            if at.type == "function_declarator":
                return
            depth += at.type == "pointer_declarator"
            reference = reference or at.type == "reference_declarator"
            if at.type == "array_declarator":
                extents.append(self._syntax.of(field(at, "size")))
            if at.type == "init_declarator":
                init = field(at, "value")
            at = field(at, "declarator") or next(
                (c for c in at.named_children if c.start_byte <= name.start_byte < c.end_byte),
                None,
            )
        first = field(node, "declarator") or declarator
        text = squeezed(self._syntax.masked.text[node.start_byte : first.start_byte].strip())
        variable = Variable(
            self._syntax.of(name), text, depth, tuple(reversed(extents)), space, node, declarator,
            name, init, self._scopes[-1][0], reference, "const" in text.split(),
            volatile="volatile" in text.split(), aliases=self._aliases,
        )  # fmt: skip
        self.all.append(variable)
        self._scopes[-1][1][variable.name] = variable
        self._bound[name.id] = Use(name, variable.name, variable, _declaring)

    def _identifier(self, node: Node) -> None:
        if node.id in self._bound:
            return
        name = self._syntax.text[node.start_byte : node.end_byte]
        for _, names in reversed(self._scopes):
            if name in names:
                use = Use(node, name, names[name], self._climb)
                names[name].uses.append(use)
                break
        else:
            use = Use(node, name, None, self._climb)
            self.free.append(use)
        self._bound[node.id] = use

    def _role(self, node: Node, variable: Variable | None) -> tuple[str, Node]:
        """Climb from an identifier to what is done with the lvalue it is the root of."""
        climb = _Climb(self._syntax, self._by_reference, variable)
        return climb.role(node)


class _Climb:
    def __init__(
        self, syntax: Syntax, by_reference: ByReference, variable: Variable | None
    ) -> None:
        self.syntax = syntax
        self.by_reference = by_reference
        self.pointer = variable is None or variable.is_pointer or variable.is_array
        self.array = variable is not None and variable.is_array and not variable.is_pointer
        self.indirect = False
        self.partial = False
        self.arithmetic = False

    def role(self, node: Node) -> tuple[str, Node]:
        place = child = node
        parent = node.parent
        while parent is not None:
            step = self._step(child, parent)
            if step is None:
                break
            if step not in ("through", "wider"):
                return step, place
            if step == "wider":
                place = parent
            child, parent = parent, parent.parent
        return self._plain(child, parent), place

    def _step(self, child: Node, parent: Node) -> str | None:  # noqa: C901, PLR0912
        """Return `wider` (the parent is a bigger lvalue), `through`, a role, or None to stop."""
        kind = parent.type
        if kind in ("parenthesized_expression", "cast_expression"):
            return "through"
        if kind == "subscript_expression" and parent.child_by_field_name("argument") == child:
            self.indirect = True
            self.arithmetic = False
            return "wider"
        if kind == "field_expression":
            outer = parent.parent
            if (
                outer is not None
                and outer.type == "call_expression"
                and (outer.child_by_field_name("function") == parent)
            ):
                return "address"
            if operator(parent) == "->":
                self.indirect = True
            else:
                self.partial = True
            return "wider"
        if kind == "pointer_expression":
            if operator(parent) == "*":
                self.indirect = True
                self.arithmetic = False
                return "wider"
            return self._addressed(parent)
        if kind == "binary_expression" and operator(parent) in ("+", "-"):
            if self.pointer and not self.indirect and not self.partial:
                self.arithmetic = True
                return "through"
            return None
        if self.arithmetic and kind != "argument_list":
            return None
        if kind == "assignment_expression" and parent.child_by_field_name("left") == child:
            return self._changed(operator(parent) != "=")
        if kind == "update_expression":
            return self._changed(update=True)
        if kind == "argument_list":
            return self._argument(child, parent)
        if kind == "call_expression" and child.type == "argument_list":
            return "through"
        return None

    def _changed(self, update: bool) -> str:
        if self.indirect:
            return "modify" if update else "store"
        return "update" if update or self.partial else "write"

    def _addressed(self, node: Node) -> str:
        """Say what becomes of `&lvalue`."""
        at, outer = node, node.parent
        while outer is not None and outer.type in ("parenthesized_expression", "cast_expression"):
            at, outer = outer, outer.parent
        while outer is not None and outer.type == "argument_list":
            call = outer.parent
            name = self._callee(call)
            if name.startswith("reinterpret_cast"):
                at, outer = (call, call.parent) if call is not None else (at, None)
                continue
            if outer.named_children and outer.named_children[0] == at:
                return _first_argument(name) or "address"
            return "address"
        if self.indirect and outer is not None and not self.array:
            if outer.type == "init_declarator":
                return "alias"
            if outer.type == "pointer_expression" and operator(outer) == "*":
                return self._through(outer)
        if outer is not None and outer.type == "pointer_expression" and operator(outer) == "*":
            self.indirect = True
            return self._through(outer)
        if outer is not None and outer.type == "subscript_expression":
            self.indirect = True
            return self._through(outer)
        return "address"

    def _through(self, node: Node) -> str:
        """Say what is done with an element reached by a cast address: `*(float4*)&p[i]`."""
        child, parent = node, node.parent
        while parent is not None and (
            parent.type == "parenthesized_expression"
            or (parent.type == "field_expression" and field(parent, "argument") == child)
            or (parent.type == "subscript_expression" and field(parent, "argument") == child)
        ):
            child, parent = parent, parent.parent
        self.indirect = True
        if parent is not None:
            if parent.type == "assignment_expression" and field(parent, "left") == child:
                return self._changed(operator(parent) != "=")
            if parent.type == "update_expression":
                return "modify"
            if parent.type in ("pointer_expression", "argument_list"):
                return "address"
        return "load"

    def _callee(self, call: Node | None) -> str:
        return self.syntax.plain(field(call, "function"))

    def _argument(self, child: Node, listed: Node) -> str | None:
        call = listed.parent
        if call is None or call.type != "call_expression":
            return self._plain(child, listed)
        name = self._callee(call)
        if name.startswith("reinterpret_cast"):
            return "through" if not self.indirect else None
        if name.startswith(("static_cast", "const_cast")):
            return "through" if self.pointer and not self.indirect else None
        index = next((i for i, c in enumerate(listed.named_children) if c == child), 0)
        if self.pointer and not self.indirect and not self.partial:
            special = _first_argument(name) if index == 0 else None
            return special or "pass"
        if by_value(name) or not self.by_reference(name, index):
            return None
        return "address"

    def _plain(self, child: Node, parent: Node | None) -> str:
        if self.indirect:
            return "load"
        declared = parent is not None and (
            parent.type == "init_declarator"
            or (parent.type == "assignment_expression" and field(parent, "right") == child)
            or parent.type in ("conditional_expression", "return_statement", "initializer_list")
        )
        if declared and self.pointer:
            return "alias"
        return "read"


def _first_argument(name: str) -> str | None:
    plain = name.removeprefix("::")
    if plain in ATOMICS:
        return "atomic"
    if plain in CACHED_LOADS:
        return "load"
    return "store" if plain in CACHED_STORES else None
