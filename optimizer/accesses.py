"""Memory accesses: which array, at which index, read or written, in which loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.affine import Expander
from optimizer.loops import Loop
from optimizer.polynomials import Polynomial, atom, number
from optimizer.syntax import Syntax, contains, field, operator, statement, stripped, walk
from optimizer.variables import Use, Variable, Variables

_ROLES = {
    "load": "read",
    "store": "write",
    "modify": "update",
    "atomic": "atomic",
    "address": "unknown",
}


@dataclass(frozen=True, slots=True)
class Access:
    """An element of an array touched at one place of the text.

    `kind` is read, write, update (`p[i] += x`), atomic or unknown (its address goes elsewhere).
    `name` is the variable the text names; `root` the array behind it, found through locals such
    as `const float* row = A + i * n;`, so that two accesses with the same `root` may touch the
    same array (other pointers may alias it, too: see `Function.may_alias`). `space` is global,
    shared, local, constant, device (a module variable) or unknown. `node` is the whole place
    (`p[i].x`), `indices` the index nodes written there (none for `*p`). `index` is the element
    number from the start of `root` as a polynomial, None when not understood; for arrays with
    several extents it is the row-major number where the inner extents are known. `cast` is the
    element type of a cast (`float4` in `((float4*)p)[i]`); the index then counts those. For
    `m.data[i]` of a struct `m` the name is `m`, the root `m.data`, the space unknown.
    """

    name: str
    root: str
    variable: Variable | None
    kind: str
    space: str
    element: str
    node: Node
    indices: tuple[Node, ...]
    index: Polynomial | None
    loops: tuple[Loop, ...]
    line: int
    statement: Node | None
    cast: str = ""

    @property
    def reads(self) -> bool:
        """Return whether the old value may be used."""
        return self.kind != "write"

    @property
    def writes(self) -> bool:
        """Return whether the element may be changed."""
        return self.kind != "read"

    @property
    def is_global(self) -> bool:
        """Return whether it is global memory, also behind a pointer in a struct that is passed."""
        holder = self.variable
        passed = holder is not None and holder.space == "parameter" and holder.is_scalar
        return self.space == "global" or (passed and bool(self.element) and "." in self.root)

    def thread_stride(self, axis: str = "x") -> int | None:
        """Return by how many elements neighbours in threadIdx.AXIS lie apart; None if unknown."""
        return self.index.stride(f"threadIdx.{axis}") if self.index is not None else None

    def loop_stride(self, loop: Loop) -> Polynomial | None:
        """Return by how much the index grows per unit of a loop's variable; None if unknown.

        Zero means that the loop does not move it. None also when the loop changes another
        variable of the index. Variables of loops inside it are held fast.
        """
        if self.index is None or loop.variable is None:
            return None
        held = {lp.name for lp in self.loops if lp.counted}
        others = self.index.symbols - {loop.name} - held
        if others and not others.isdisjoint(changed_names(loop)):
            return None
        return self.index.coefficient(loop.name)


def changed_names(loop: Loop) -> frozenset[str]:
    """Return the names assigned in a loop, its header included (by text: a quick, wide test)."""
    found = loop.changed
    if found is None:
        found = frozenset(_changed(loop.node))
        object.__setattr__(loop, "changed", found)
    return found


def _changed(within: Node) -> Iterator[str]:
    for node in walk(within, "assignment_expression", "update_expression", "init_declarator"):
        left = field(node, "left") or field(node, "argument") or field(node, "declarator")
        while left is not None and left.type != "identifier":
            left = left.named_children[0] if left.named_children else None
        if left is not None and left.text is not None:
            yield left.text.decode("ascii")


class _Reader:
    def __init__(
        self,
        syntax: Syntax,
        variables: Variables,
        expander: Expander,
        loops: Sequence[Loop],
        spaces: dict[str, str],
        members: dict[str, dict[str, str]] | None = None,
    ) -> None:
        self.members = members or {}
        self.syntax = syntax
        self.variables = variables
        self.expander = expander
        self.loops = loops
        self.spaces = spaces
        self.cut = False

    def read(self, use: Use) -> Access | None:
        kind = _ROLES.get(use.role)
        variable = use.variable
        if kind is None:
            return None
        if variable is not None and not _is_memory(variable):
            return self._member(use, variable, kind)
        if variable is None and use.name not in self.spaces:
            return None
        if use.place == use.node and use.role == "address":
            return None
        place = use.place
        indices, index = self._index(use)
        self.cut = False
        root, offset = self._root(use)
        offset = None if self.cut else offset
        if index is not None and offset is not None:
            index = index + offset
        elif offset is None:
            index = None
        cast = self._cast(use)
        if cast and root != use.name:
            index = None
        around = tuple(lp for lp in self.loops if contains(lp.body, use.node))
        top = self.variables.named(root) if root != use.name else variable
        return Access(
            use.name, root, variable, kind, self._space(top, root),
            variable.element if variable is not None else "", place, indices, index, around,
            self.syntax.line(use.node), statement(use.node), cast,
        )  # fmt: skip

    def _member(self, use: Use, variable: Variable, kind: str) -> Access | None:
        """Read `m.data[i]`: an element behind a pointer that a struct holds."""
        at = use.node
        while at.parent is not None and at.parent.type == "field_expression":
            at = at.parent
        top = at.parent
        if at.id == use.node.id or top is None or top.type != "subscript_expression":
            return None
        found = subscript(top)
        index = self.expander.expand(found) if found is not None else None
        name = self.syntax.plain(at)
        stars = self.members.get(variable.element, {}).get(name.partition(".")[2], "")
        return Access(
            use.name, name, variable, kind, "unknown", stars.removesuffix("*"), use.place,
            (found,) if found is not None else (), index if use.place.id == top.id else None,
            tuple(lp for lp in self.loops if contains(lp.body, use.node)),
            self.syntax.line(use.node), statement(use.node),
        )  # fmt: skip

    def _space(self, variable: Variable | None, root: str) -> str:
        if variable is None:
            return self.spaces.get(root, "unknown")
        if variable.space == "shared":
            return "shared"
        if variable.space == "parameter":
            return "global" if variable.is_pointer else "unknown"
        return "local" if variable.is_array and not variable.is_pointer else "unknown"

    def _cast(self, use: Use) -> str:
        at = use.node.parent
        while at is not None and contains(use.place, at):
            if at.type == "cast_expression":
                return self.syntax.plain(field(at, "type")).rstrip("*").removeprefix("const ")
            if at.type == "template_function":
                return "?"
            if at.type == "call_expression":
                name = self.syntax.plain(field(at, "function"))
                if name.startswith("reinterpret_cast<"):
                    return name[17:-1].rstrip("*").removeprefix("const ")
            at = at.parent
        return ""

    def _index(self, use: Use) -> tuple[tuple[Node, ...], Polynomial | None]:
        """Return the index nodes from the identifier outwards, and their combined number."""
        nodes: list[Node] = []
        extra: Polynomial | None = number(0)
        at: Node = use.node
        starred = False
        while at != use.place or at == use.node:
            parent = at.parent
            if parent is None:
                break
            if parent.type == "subscript_expression" and field(parent, "argument") == at:
                found = subscript(parent)
                if found is not None:
                    nodes.append(found)
            elif parent.type == "binary_expression":
                other = field(parent, "right") if field(parent, "left") == at else None
                sign = 1 if operator(parent) == "+" else -1
                if other is None:
                    other, sign = field(parent, "left"), 1
                value = self.expander.expand(other)
                extra = (
                    extra + value.scaled(sign) if extra is not None and value is not None else None
                )
            elif parent.type == "pointer_expression":
                starred = True
            at = parent
            if at == use.place:
                break
        del starred
        return tuple(nodes), self._flat(use.variable, nodes, extra)

    def _flat(
        self, variable: Variable | None, nodes: list[Node], extra: Polynomial | None
    ) -> Polynomial | None:
        total = extra
        extents = variable.extents if variable is not None else ()
        if len(nodes) > 1 and len(nodes) != len(extents):
            return None
        for i, node in enumerate(nodes):
            value = self.expander.expand(node)
            if value is None or total is None:
                return None
            for extent in extents[i + 1 :]:
                size = extent.strip()
                if size.isdigit():
                    value = value.scaled(int(size))
                elif size.isidentifier():
                    value = value * atom(size)
                else:
                    value = value * atom(f"({size})", frozenset({size}))
            total = total + value
        return total

    def _root(self, use: Use) -> tuple[str, Polynomial | None]:
        """Follow `row = A + i * n` to `A`; the offset is None when it is not understood."""
        variable, offset = use.variable, number(0)
        name = use.name
        for _ in range(8):
            if variable is None or variable.space != "local" or not variable.is_pointer:
                return name, offset
            if not variable.settled or variable.init is None:
                return name, offset if variable.settled else None
            found = self._pointer(variable.init)
            if found is None:
                return name, None
            base, step = found
            offset = number(0) if self.cut else offset + step
            variable, name = self.variables.of(base), self.syntax.of(base)
        return name, None

    def _pointer(self, node: Node | None) -> tuple[Node, Polynomial] | None:
        """Read `A`, `A + i`, `&A[i]` as array and offset."""
        node = stripped(node)
        if node is None:
            return None
        if node.type == "cast_expression":
            self.cut = True
            return self._pointer(field(node, "value"))
        if node.type == "call_expression" and self.syntax.plain(field(node, "function")).startswith(
            "reinterpret_cast<"
        ):
            self.cut = True
            listed = field(node, "arguments")
            inner = listed.named_children if listed is not None else []
            return self._pointer(inner[0]) if len(inner) == 1 else None
        if node.type == "identifier":
            return node, number(0)
        if node.type == "binary_expression" and operator(node) in ("+", "-"):
            left = self._pointer(field(node, "left"))
            value = self.expander.expand(field(node, "right"))
            if left is None or value is None:
                return None
            base = self.variables.of(left[0])
            if base is not None and not (base.is_pointer or base.is_array):
                return None
            sign = 1 if operator(node) == "+" else -1
            return left[0], left[1] + value.scaled(sign)
        if node.type == "pointer_expression" and operator(node) == "&":
            place = stripped(field(node, "argument"))
            if place is not None and place.type == "subscript_expression":
                base_node = field(place, "argument")
                value = self.expander.expand(subscript(place))
                if base_node is not None and base_node.type == "identifier" and value is not None:
                    return base_node, value
        return None


def _is_memory(variable: Variable) -> bool:
    return variable.is_pointer or variable.is_array


def subscript(node: Node) -> Node | None:
    """Return the index expression of a subscript; None unless there is exactly one."""
    listed = field(node, "indices") or field(node, "index")
    if listed is None:
        return None
    if listed.type == "subscript_argument_list":
        inner = listed.named_children
        return inner[0] if len(inner) == 1 else None
    return listed


def accesses(
    syntax: Syntax,
    variables: Variables,
    expander: Expander,
    loops: Sequence[Loop],
    spaces: dict[str, str],
    members: dict[str, dict[str, str]] | None = None,
) -> Iterator[Access]:
    """Yield the accesses of a function in order; `spaces` maps module arrays to their space.

    `members` tells the types of the members of structs.
    """
    reader = _Reader(syntax, variables, expander, loops, spaces, members)
    uses = [u for v in variables.all for u in v.uses]
    uses.extend(variables.free)
    for use in sorted(uses, key=lambda u: u.node.start_byte):
        found = reader.read(use)
        if found is not None:
            yield found
