"""Launches `k<<<grid, block, shared, stream>>>(arguments)` and where their numbers are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.definitions import declared_name
from optimizer.directives import Macro
from optimizer.launch_macros import LaunchMacro
from optimizer.syntax import (
    Span,
    Syntax,
    ancestors,
    contains,
    field,
    operator,
    span,
    stripped,
    walk,
)
from optimizer.tokens import evaluate
from optimizer.variables import Variable, Variables

_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")


@dataclass(frozen=True, slots=True)
class Constant:
    """A named number: `kind` is macro, constexpr, const, enum, template or local.

    `value_span` covers the expression that gives the value, `value` the number if it is seen; it
    is empty for an enumerator that counts on.
    `span` covers the whole definition, `scope` the function a local one is in ("" for the file).
    """

    name: str
    kind: str
    value: int | None
    value_span: Span
    span: Span
    type: str = ""
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Extent:
    """One number of a launch geometry: the expression, and where its number is written.

    `node` is the expression in the launch or dim3. `text` is its text. `value` is the number when
    seen. `defined` is the chain of names it goes through to where it is written
    (`("threads", "BS")`), `literal` the span of the integer literal at its end: replace that to
    change it. Both are empty or None when the expression is more than a name or number.
    """

    text: str
    span: Span
    value: int | None = None
    defined: tuple[str, ...] = ()
    literal: Span | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch. `grid` and `block` hold up to three extents, x first; None if not understood.

    `*_span` is where the expression between `<<<` and `>>>` stands. `variable` names of dim3
    locals are in `grid_variable`, `block_variable`. `template` is the text of the template
    arguments without brackets. `in_loop` tells that the launch is in a loop of its function.
    """

    kernel: str
    node: Node
    line: int
    grid_span: Span
    block_span: Span
    shared_span: Span | None
    stream_span: Span | None
    grid: tuple[Extent, ...] | None
    block: tuple[Extent, ...] | None
    arguments: tuple[Node, ...]
    argument_spans: tuple[Span, ...]
    template: tuple[str, ...]
    function: str
    grid_variable: str = ""
    block_variable: str = ""
    in_loop: bool = False
    span: Span = (0, 0)
    function_node: Node | None = None

    @property
    def threads(self) -> int | None:
        """Return the number of threads of a block when it is seen."""
        if self.block is None:
            return None
        total = 1
        for extent in self.block:
            if extent.value is None:
                return None
            total *= extent.value
        return total


class Launches:
    """Finds the launches in a function body.

    `passed` tells the number that all calls of a function pass for one of its parameters, `shapes`
    are the functions that return a dim3, `macros` those that are launches.
    """

    def __init__(
        self,
        syntax: Syntax,
        constants: Callable[[str], Constant | None],
        function: str,
        variables: Variables,
        body: Node,
        passed: Callable[[str, str], int | None] = lambda function, parameter: None,  # noqa: ARG005
        shapes: frozenset[str] = frozenset(),
        macros: Mapping[str, LaunchMacro] | None = None,
    ) -> None:
        self._syntax = syntax
        self._constants = constants
        self._passed = passed
        self._shapes = shapes
        self._macros = macros or {}
        self._function = function
        self._variables = variables
        self._body = body

    def find(self) -> Iterator[Launch]:
        """Yield the launches in order."""
        for node in self._variables.nodes("kernel_call_syntax"):
            call = node.parent
            if call is None or call.type != "call_expression":
                continue
            found = self._launch(call, node)
            if found is not None:
                yield found
        for call in self._variables.nodes("call_expression") if self._macros else ():
            macro = self._macros.get(self._syntax.plain(field(call, "function")))
            found = self._written_by(call, macro) if macro is not None else None
            if found is not None:
                yield found

    def _written_by(self, call: Node, macro: LaunchMacro) -> Launch | None:
        """Return the launch that the call of a macro is."""
        arguments = field(call, "arguments")
        inside = arguments.named_children if arguments is not None else []
        listed = [c for c in inside if c.type != "comment"]
        braced = any(sign in self._syntax.of(arguments) for sign in "{[")  # may hold a comma
        if call.has_error or braced or not macro.fits(len(listed)):
            return None
        holder = listed[macro.kernel] if isinstance(macro.kernel, int) else None
        if holder is not None and holder.type != "identifier":
            return None
        places = [listed[at] if at is not None else None for at in macro.geometry]
        grid_place, block_place, *more = [*places, None, None][:4]
        if grid_place is None or block_place is None:
            return None
        grid, grid_variable = self._extents(grid_place)
        block, block_variable = self._extents(block_place)
        shared, stream = [span(node) if node is not None else None for node in more]
        passed = [listed[at] for at in macro.passed] + listed[macro.named :]
        name = self._syntax.of(holder) if holder is not None else str(macro.kernel)
        return Launch(
            name, call, self._syntax.line(call), span(grid_place), span(block_place), shared,
            stream, grid, block, tuple(passed), tuple(span(c) for c in passed), (),
            self._function, grid_variable, block_variable,
            any(a.type in _LOOPS for a in ancestors(call, self._body)), span(call), self._body,
        )  # fmt: skip

    def _launch(self, call: Node, geometry: Node) -> Launch | None:
        parts = [c for c in geometry.named_children if c.type != "comment"]
        if not 2 <= len(parts) <= 4 or call.has_error:
            return None
        callee = stripped(field(call, "function"))
        name, _, template = self._syntax.plain(callee).partition("<")
        arguments = field(call, "arguments")
        listed = tuple(
            c for c in (arguments.named_children if arguments is not None else ())
            if c.type != "comment"
        )  # fmt: skip
        holder = callee
        if holder is not None and holder.type == "qualified_identifier":
            holder = next(iter(walk(holder, "template_function")), None)
        inner = field(holder, "arguments") if holder is not None else None
        texts = tuple(
            self._syntax.of(c) for c in (inner.named_children if inner is not None else ())
        ) if template else ()  # fmt: skip
        grid, grid_variable = self._extents(parts[0])
        block, block_variable = self._extents(parts[1])
        return Launch(
            name.rpartition("::")[2], call, self._syntax.line(call), span(parts[0]),
            span(parts[1]), span(parts[2]) if len(parts) > 2 else None,
            span(parts[3]) if len(parts) > 3 else None, grid, block, listed,
            tuple(span(c) for c in listed), texts, self._function, grid_variable, block_variable,
            any(a.type in _LOOPS for a in ancestors(call, self._body)), span(call), self._body,
        )  # fmt: skip

    # -- geometry --------------------------------------------------------------------------------

    def _extents(self, node: Node) -> tuple[tuple[Extent, ...] | None, str]:
        listed = self._listed(node)
        named = listed[0] if listed is not None and len(listed) == 1 else node  # dim3(grid)
        if named.type == "identifier":
            variable = self._variables.named(self._syntax.of(named), named)
            if variable is not None and self._is_dim3(variable):
                return self._dim3(variable, named), variable.name
        if listed is not None:
            return tuple(self.extent(c) for c in listed), ""
        if node.type == "field_expression":
            held = self._listed(self._member(self._syntax.plain(node), node))
            if held is not None:
                text, at = self._syntax.of(node), span(node)
                values = [self.extent(c).value for c in held]
                return tuple(
                    Extent(f"{text}.{axis}", at, value)
                    for axis, value in zip("xyz", values, strict=False)
                ), ""
        return self._returned(node) or (self.extent(node),), ""

    def _returned(self, node: Node) -> tuple[Extent, ...] | None:
        """Return the extents of what a function returns as dim3: `blocks_for(n).x` and so on."""
        if node.type != "call_expression":
            return None
        if self._syntax.plain(field(node, "function")) not in self._shapes:
            return None
        text = self._syntax.of(node)
        return tuple(Extent(f"{text}.{axis}", span(node)) for axis in "xyz")

    def _is_dim3(self, variable: Variable) -> bool:
        first = variable.init if variable.element == "auto" else None
        made = first is not None and first.type == "call_expression"
        named = self._syntax.plain(field(first, "function")) if made else variable.element
        return named == "dim3" or (made and named in self._shapes)

    def _listed(self, node: Node | None) -> list[Node] | None:
        """Return the parts of `dim3(a, b)`, `{a, b}` or `dim3{a, b}`."""
        if node is None:
            return None
        if node.type == "initializer_list":
            return list(node.named_children)
        if node.type == "argument_list":
            return list(node.named_children)
        if node.type == "call_expression" and self._syntax.plain(field(node, "function")) == "dim3":
            return self._listed(field(node, "arguments"))
        if node.type == "compound_literal_expression":
            return self._listed(field(node, "value"))
        return None

    def _dim3(self, variable: Variable, at: Node) -> tuple[Extent, ...] | None:
        listed: list[Node] | None
        given = self._assigned(variable, at)
        first = given if given is not None else variable.init
        if given is None and variable.space == "parameter":
            return None  # what callers give
        if first is None:
            listed = []
        elif (returned := self._returned(first)) is not None:
            changed = any(use.role != "read" for use in variable.uses if use.role != "declare")
            return None if changed else returned
        else:
            listed = self._listed(first)
            if listed is None and first.type not in ("identifier", "conditional_expression"):
                listed = [first]
        if listed is None:
            return None
        extents: list[Extent | None] = [*map(self.extent, listed[:3])]
        for use in variable.uses:
            if given is not None and use.role == "write":
                continue
            if use.role == "update" and use.place.type == "field_expression":
                parent = use.place.parent
                axis = "xyz".find(self._syntax.of(field(use.place, "field")))
                if parent is None or operator(parent) != "=" or axis < 0:
                    return None
                while len(extents) <= axis:
                    extents.append(None)
                right = field(parent, "right")
                if right is None or (extents[axis] is not None and axis < len(listed)):
                    return None
                extents[axis] = self.extent(right)
            elif use.role in ("write", "address") or (use.writes and use.role != "update"):
                return None
        one = Extent("1", (at_end := variable.declarator.end_byte, at_end), 1)
        return tuple(e if e is not None else one for e in extents) or (one,)

    def _assigned(self, variable: Variable, at: Node) -> Node | None:
        """Return what a dim3 was last set to, as in `dim3 grid; ... grid = dim3(n);`.

        None unless that surely happened last: in a block around the launch, none in between.
        """
        written = [use.place for use in variable.uses if use.role == "write"]
        before = [place for place in written if place.start_byte < at.start_byte]
        later = [place for place in written if place.start_byte > at.start_byte]
        outer = before[-1].parent if before else None
        statement = outer.parent if outer is not None else None
        block = statement.parent if statement is not None else None
        if outer is None or block is None or block.type != "compound_statement":
            return None
        if outer.type != "assignment_expression" or operator(outer) != "=":
            return None
        around = [a for a in ancestors(at, self._body) if a.type in _LOOPS]
        again = [a for a in around if not contains(a, outer)]
        if not contains(block, at) or any(contains(a, p) for a in again for p in later):
            return None
        return field(outer, "right")

    def extent(self, node: Node) -> Extent:
        """Return an expression with where its number is written."""
        names: list[str] = []
        text, place = self._syntax.of(node), span(node)
        literal: Span | None = None
        at: Span = place
        for _ in range(8):
            here = self._syntax.text[at[0] : at[1]].strip()
            while here.startswith("(") and here.endswith(")") and here[1:-1].strip().isalnum():
                shift = self._syntax.text.index("(", at[0]) + 1
                here = here[1:-1].strip()
                start = self._syntax.text.index(here, shift)
                at = (start, start + len(here))
            if here.isdigit() or (here[:-1].isdigit() and here[-1] in "uU"):
                start = self._syntax.text.index(here, at[0])
                literal = (start, start + len(here))
                break
            following = self._definition(here, node)
            if following is None:
                break
            names.append(here.rpartition("::")[2])
            at = following
        return Extent(text, place, self.value(text, node), tuple(names), literal)

    def _definition(self, name: str, node: Node) -> Span | None:
        name = name.rpartition("::")[2]
        if not name.isidentifier():
            return None
        variable = self._variables.named(name, node)
        if variable is not None:
            given = only_value(variable, node)
            return span(given) if given is not None else None
        constant = self._constants(name)
        return constant.value_span if constant is not None else None

    def _member_value(self, name: str, node: Node, depth: int) -> int | None:
        """Return the number in `cfg.threads` or in `block.x` of a dim3 local."""
        base, _, member = name.partition(".")
        variable = self._variables.named(base, node)
        if depth > 8 or variable is None:
            return None
        if self._is_dim3(variable) and member in ("x", "y", "z"):
            extents = self._dim3(variable, node) or ()
            at = "xyz".index(member)
            return extents[at].value if at < len(extents) else 1 if extents else None
        given = self._member(name, node)
        return self.value(self._syntax.of(given), given, depth + 1) if given is not None else None

    def _member(self, name: str, node: Node) -> Node | None:
        """Return what `cfg.threads` of a local struct is set to, where that happens just once."""
        variable = self._variables.named(name.partition(".")[0], node)
        if variable is None or variable.space != "local" or not variable.is_scalar:
            return None
        if variable.reference or variable.address_taken or variable.init is not None:
            return None
        found: list[Node] = []
        for use in variable.uses:
            outer = use.place.parent
            if use.role == "update" and self._syntax.plain(use.place) == name:
                if outer is None or operator(outer) != "=" or outer.end_byte > node.start_byte:
                    return None
                found.append(outer)
            elif use.role in ("write", "address", "pass") or (
                use.role == "update" and use.place.type != "field_expression"
            ):
                return None
        block = found[0].parent.parent if len(found) == 1 and found[0].parent else None
        if block is None or block.type != "compound_statement" or not contains(block, node):
            return None
        return field(found[0], "right")

    def value(self, text: str, node: Node, depth: int = 0) -> int | None:
        """Return the number an expression stands for, through settled locals and constants."""

        def look(name: str) -> int | None:
            if "." in name:
                return self._member_value(name, node, depth)
            variable = self._variables.named(name, node)
            if variable is not None:
                if variable.space == "parameter" and variable.settled and variable.is_scalar:
                    return self._passed(self._function, name)
                given = only_value(variable, node)
                if given is None or depth > 8:
                    return None
                return self.value(self._syntax.of(given), given, depth + 1)
            constant = self._constants(name)
            return constant.value if constant is not None else None

        return evaluate(text, look)


def only_value(variable: Variable, at: Node | int) -> Node | None:
    """Return the one value a variable has at a place: its first, or what it was set to just once.

    The latter as in `int threads; threads = 256;`, in a block around the place.
    """
    if variable.settled:
        return variable.init
    changes = variable.changes
    if variable.init is not None or len(changes) != 1 or changes[0].role != "write":
        return None
    if variable.reference or variable.volatile or variable.space != "local":
        return None
    outer = changes[0].node.parent
    if outer is None or outer.type != "assignment_expression" or operator(outer) != "=":
        return None
    block = outer.parent.parent if outer.parent is not None else None
    where = at if isinstance(at, int) else at.start_byte
    if block is None or block.type != "compound_statement" or field(outer, "left") is None:
        return None
    return field(outer, "right") if outer.end_byte <= where < block.end_byte else None


def constants(syntax: Syntax) -> Iterator[Constant]:
    """Yield the file's integer constants: macros, const, constexpr and enumerators."""
    known: dict[str, int] = {}
    by_name: dict[str, Macro] = {m.name: m for m in syntax.masked.macros if m.active}
    found: list[Constant] = []
    for macro in syntax.masked.macros:
        if macro.parameters is None and macro.body and macro.active:
            value = evaluate(macro.body, known.get) if macro.value is None else macro.value
            if value is not None and by_name[macro.name] is macro:
                known[macro.name] = value
            found.append(
                Constant(macro.name, "macro", value, macro.body_span, (macro.start, macro.end))
            )
    stack = [syntax.root]
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            continue
        if node.type in ("declaration", "field_declaration"):
            found.extend(_declared(syntax, node, known))
        elif node.type == "enumerator_list":
            found.extend(_enumerated(syntax, node, known))
            continue
        if node.type != "compound_statement":
            stack.extend(reversed(node.named_children))
    yield from found


def _declared(syntax: Syntax, node: Node, known: dict[str, int]) -> Iterator[Constant]:
    words = {syntax.of(c) for c in node.named_children if c.type == "type_qualifier"}
    text = syntax.plain(node)
    if not words & {"const", "constexpr"} and "constexpr" not in text.partition("=")[0]:
        return
    for declarator in node.children_by_field_name("declarator"):
        value = field(declarator, "value") or field(node, "default_value")
        name = declared_name(declarator)
        if value is None or name is None:
            continue
        number = evaluate(syntax.of(value), known.get)
        if number is not None:
            known[syntax.of(name)] = number
        yield Constant(
            syntax.of(name),
            "constexpr" if "constexpr" in words or "constexpr" in text else "const",
            number,
            span(value),
            span(node),
            syntax.plain(field(node, "type")),
        )


def _enumerated(syntax: Syntax, node: Node, known: dict[str, int]) -> Iterator[Constant]:
    following: int | None = 0
    for item in node.named_children:
        if item.type != "enumerator":
            continue
        name, value = field(item, "name"), field(item, "value")
        if name is None:
            continue
        number = evaluate(syntax.of(value), known.get) if value is not None else following
        if number is not None:
            known[syntax.of(name)] = number
        following = number + 1 if number is not None else None
        written = span(value) if value is not None else (item.end_byte, item.end_byte)
        yield Constant(syntax.of(name), "enum", number, written, span(item))


def mentions(syntax: Syntax, name: str) -> list[Span]:
    """Return every place where a name stands in active code, directives included."""
    dead = syntax.masked.inactive
    return [
        (t.start, t.end)
        for t in syntax.code
        if t[3] == name and t[0] == "word" and not any(contains(d, (t.start, t.end)) for d in dead)
    ]
