"""Index expressions as polynomials over what a thread knows.

`blockIdx.x * blockDim.x + threadIdx.x + k * n` becomes a sum of products of *atoms*: names of
variables, `threadIdx.x` and its kin, and opaque pieces such as `(n / 2)` or `idx[i]`, which are
kept as one atom each. Locals that keep their first value are replaced by it. A loop variable that
starts at something the thread decides (`for (i = tid; ...)`) is written as that start plus an
atom of its own name, which then stands for the advance only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from tree_sitter import Node

from optimizer.directives import Macro
from optimizer.polynomials import Polynomial, atom, number
from optimizer.syntax import Syntax, ancestors, contains, field, operator, walk
from optimizer.tokens import code_tokens, integer
from optimizer.variables import Variable, Variables

BUILTINS = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_MANY = 64
_DEEP = 40


class Expander:
    """Turns expression nodes of one function into polynomials.

    `aliases` resolves names of types (`using index_t = int`), `macros` are those in force; calls of
    function-like ones are written out first.
    """

    def __init__(
        self,
        syntax: Syntax,
        variables: Variables,
        constant: Callable[[str], int | None],
        aliases: Mapping[str, str] | None = None,
        macros: Mapping[str, Macro] | None = None,
    ) -> None:
        self._syntax = syntax
        self._variables = variables
        self._constant = constant
        self._aliases = aliases or {}
        self._macros = macros or {}
        self._known: dict[tuple[int, bool], Polynomial | None] = {}
        self._expanded: dict[tuple[Node, bool], Polynomial | None] = {}
        self._under_way = 0
        self._sources: dict[int, frozenset[str]] = {}
        self._main = self
        self._at: Node | None = None

    def expand(self, node: Node | None, fold: bool = False) -> Polynomial | None:
        """Return the polynomial of an integer expression, or None when it is not understood.

        With `fold` constants of the file (`#define TILE 16`) are numbers, else they stay names.
        """
        if node is None:
            return None
        key = (node, fold)
        if key in self._expanded and not self._under_way:
            return self._expanded[key]
        self._under_way += 1
        try:
            found = self._expand(node, fold, 0)
        except RecursionError:
            return None
        finally:
            self._under_way -= 1
        if found is not None and len(found.terms) > _MANY:
            found = None
        if not self._under_way:  # within another, what is on its way counts as unknown
            self._expanded[key] = found
        return found

    def _expand(self, node: Node | None, fold: bool, depth: int) -> Polynomial | None:
        if node is None or depth > _DEEP or node.has_error:
            return None
        kind = node.type
        if kind in ("parenthesized_expression", "condition_clause"):
            return self._expand(_only(node), fold, depth + 1)
        if kind == "number_literal":
            value = integer(self._syntax.of(node))
            return number(value) if value is not None else None
        if kind == "identifier":
            return self._name(node, fold, depth)
        if kind == "field_expression":
            return self._member(node)
        if kind == "unary_expression" and operator(node) in ("-", "+"):
            inner = self._expand(field(node, "argument"), fold, depth + 1)
            return inner.scaled(-1 if operator(node) == "-" else 1) if inner else None
        if kind == "cast_expression":
            return self._cast(node, fold, depth)
        if kind == "binary_expression":
            return self._binary(node, fold, depth)
        if kind == "call_expression":
            return self._call(node, fold, depth)
        if kind in ("subscript_expression", "conditional_expression", "sizeof_expression"):
            return self._opaque(node)
        return None

    def _cast(self, node: Node, fold: bool, depth: int) -> Polynomial | None:
        kind = self._syntax.plain(field(node, "type"))
        if kind in INTEGERS:
            return self._expand(field(node, "value"), fold, depth + 1)
        return None

    def _call(self, node: Node, fold: bool, depth: int) -> Polynomial | None:
        name = self._syntax.plain(field(node, "function"))
        arguments = field(node, "arguments")
        listed = arguments.named_children if arguments is not None else []
        if len(listed) == 1 and (
            name in INTEGERS or (name.startswith("static_cast<") and name[12:-1] in INTEGERS)
        ):
            return self._expand(listed[0], fold, depth + 1)
        macro = self._macros.get(name)
        if macro is not None and macro.parameters is not None:
            return self._written_out(node, macro, [self._syntax.of(c) for c in listed], fold, depth)
        if len(listed) == 2 and name in ("__umul24", "__mul24"):
            left = self._expand(listed[0], fold, depth + 1)
            right = self._expand(listed[1], fold, depth + 1)
            return left * right if left is not None and right is not None else None
        if name in ("min", "max", "std::min", "std::max", "abs", "__popc", "__ldg"):
            return self._opaque(node)
        return None

    def _binary(self, node: Node, fold: bool, depth: int) -> Polynomial | None:
        sign = operator(node)
        left = self._expand(field(node, "left"), fold, depth + 1)
        right = self._expand(field(node, "right"), fold, depth + 1)
        if left is None or right is None:
            return None
        if len(left.terms) * len(right.terms) > _MANY:
            return None
        if sign == "+":
            return left + right
        if sign == "-":
            return left - right
        if sign == "*":
            return left * right
        a, b = left.constant, right.constant
        if sign == "<<" and b is not None and 0 <= b < 31:
            return left.scaled(1 << b)
        if a is not None and b is not None and a >= 0 and b > 0 and sign in _FOLDED:
            return number(_FOLDED[sign](a, b))
        if sign in ("/", "%", ">>", "&", "|", "^"):
            text = f"({_wrapped(left)} {sign} {_wrapped(right)})"
            return atom(text, left.symbols | right.symbols)
        return None

    def _member(self, node: Node) -> Polynomial | None:
        text = self._syntax.plain(node)
        base = text.partition(".")[0]
        if base in BUILTINS or "(" not in text:
            return atom(text, None if base in BUILTINS else frozenset({text, base}))
        return None

    def _opaque(self, node: Node) -> Polynomial:
        names: set[str] = set()
        for inner in walk(node, "identifier", "field_expression"):
            if inner.type == "field_expression":
                names.add(self._syntax.plain(inner))
                continue
            value = self._name(inner, fold=False, depth=_DEEP - 4)
            names |= value.symbols if value is not None else {self._syntax.of(inner)}
        return atom(self._syntax.plain(node), frozenset(names))

    def _written_out(
        self, node: Node, macro: Macro, arguments: list[str], fold: bool, depth: int
    ) -> Polynomial | None:
        """Return the value of a macro's body with the arguments' text put in."""
        names = macro.parameters or ()
        if len(names) != len(arguments) or depth > _DEEP // 2:
            return None
        given = dict(zip(names, arguments, strict=True))
        text = " ".join(_unbracketed([given.get(t.text, t.text) for t in code_tokens(macro.body)]))
        if len(text) > _LONG or "#" in text:
            return None
        inner = _declared(f"int _ = {text};")
        value = field(next(iter(inner.root.named_children), None), "declarator", "value")
        if value is None or inner.root.has_error or len(inner.root.named_children) != 1:
            return None
        part = Expander(inner, self._variables, self._constant, self._aliases, self._macros)
        part._main = self._main
        part._at = self._at or node
        return part._expand(value, fold, depth + 8)

    def _name(self, node: Node, fold: bool, depth: int) -> Polynomial | None:
        name = self._syntax.of(node)
        at = self._at or node
        variable = self._variables.of(node) if self._at is None else None
        if variable is None and (self._at is not None or self._variables.use(node) is None):
            variable = self._variables.named(name, at)
        if variable is not None:
            return self._main._value(variable, at, fold, depth)  # noqa: SLF001
        if name in BUILTINS:
            return atom(name)
        value = self._constant(name) if fold else None
        if value is not None:
            return number(value)
        macro = self._macros.get(name)
        if macro is not None and macro.parameters is None and macro.value is None:
            return self._written_out(node, macro, [], fold, depth)
        return atom(name)

    def _value(self, variable: Variable, at: Node, fold: bool, depth: int) -> Polynomial | None:
        """Return the value of a variable at a place."""
        if self.resolve(variable.element) in _FLOATING:
            return None
        name = variable.name
        if variable.space == "parameter" and variable.settled:
            return atom(name)
        defined = self.definition(variable, at) if depth < _DEEP - 8 else None
        if defined is not None and self._plain(variable, defined):
            key = (defined.id, fold)
            if key not in self._known:
                self._known[key] = None
                self._known[key] = self._expand(defined, fold, depth + 1)
            found = self._known[key]
            if found is not None:
                return found
        if variable.settled:
            return atom(name, self.sources(variable) | {name})
        loop = self.stepped_by(variable, at)
        if loop is not None:
            return self._advance(variable, loop, fold, depth)
        tag = self._version(variable, at)
        return atom(tag, self.sources(variable) | {name}) if tag != name else atom(name)

    def _plain(self, variable: Variable, defined: Node) -> bool:
        """Return whether a definition is integer arithmetic without memory in it."""
        if variable.is_pointer or variable.is_array:
            return False
        if self.resolve(variable.element) not in INTEGERS:
            return False
        memory = walk(defined, "subscript_expression", "pointer_expression")
        return not any(True for _ in memory)

    def resolve(self, name: str) -> str:
        """Return the type behind an alias."""
        for _ in range(8):
            if name not in self._aliases:
                break
            name = self._aliases[name]
        return name

    def definition(self, variable: Variable, at: Node) -> Node | None:
        """Return the expression whose value a variable has at a place, when there is just one.

        It is the last assignment in front of the place in a block around it, with no other
        change on any way between (in structured code: no goto).
        """
        if variable.reference or variable.volatile or variable.address_taken:
            return None
        if variable.settled:
            return variable.init
        best: tuple[int, Node, Node] | None = None
        if variable.init is not None:
            best = (variable.declaration.end_byte, variable.init, variable.declaration)
        for use in variable.changes:
            found = _assignment(use.node) if use.role == "write" else None
            if found is None or found[1].end_byte > at.start_byte:
                continue
            parent = found[1].parent
            if parent is None or not contains(parent, at):
                continue
            if best is None or found[1].end_byte > best[0]:
                best = (found[1].end_byte, found[0], found[1])
        if best is None or best[0] > at.start_byte or self._variables.jumps:
            return None
        end, value, place = best
        for use in variable.changes:
            if contains(place, use.node):
                continue
            if end <= use.node.start_byte < at.start_byte:
                return None
            if use.node.start_byte >= at.start_byte and any(
                contains(a, use.node) and not contains(a, place)
                for a in ancestors(at)
                if a.type in LOOPS
            ):
                return None
        return value

    def stepped_by(self, variable: Variable, at: Node) -> Node | None:
        """Return the loop around a place that counts a variable: changed in its header only.

        Or, for `while`, only by the last statement of its body.
        """
        if variable.reference or variable.address_taken or self._variables.jumps:
            return None
        for loop in ancestors(at):
            if loop.type not in LOOPS:
                continue
            inside = [u for u in variable.changes if contains(loop, u.node)]
            if not inside:
                continue
            body = loop.child_by_field_name("body")
            if body is None or not contains(body, at):
                return None
            if loop.type == "for_statement":
                quiet = all(u.node.start_byte < body.start_byte for u in inside)
                return loop if quiet else None
            last = last_update(loop)
            fits = last is not None and len(inside) == 1 and contains(last, inside[0].node)
            return loop if fits and last is not None and at.start_byte < last.start_byte else None
        return None

    def _advance(self, variable: Variable, loop: Node, fold: bool, depth: int) -> Polynomial | None:
        """Return a loop variable: its own name, plus the start when threads differ in it."""
        sources = self.sources(variable)
        name = variable.name
        if not _by_thread(sources):
            return atom(name)
        first = _first(variable, loop) or self.definition(variable, loop)
        found = self._expand(first, fold, depth + 1) if first is not None else None
        if found is None or self._uneven(variable, loop):
            return atom(name, sources | {name})
        return found + atom(name) if _by_thread(found.symbols) else atom(name)

    def _uneven(self, variable: Variable, loop: Node) -> bool:
        """Return whether threads step through the loop differently."""
        for use in variable.changes:
            parent = use.node.parent
            if use.role != "update" or parent is None or not contains(loop, use.node):
                continue
            right = field(parent, "right")
            if right is None:
                continue
            value = self.expand(right)
            if value is None or _by_thread(value.symbols):
                return True
            if operator(parent) not in ("+=", "-="):
                return True
        return False

    def _version(self, variable: Variable, at: Node) -> str:
        """Return a name for the value at a place: equal names have equal values in an iteration.

        Counts the changes written before the place, and tells the innermost loop with a change.
        """
        if variable.address_taken or variable.reference or self._variables.jumps:
            return f"{variable.name}'{at.start_byte}"
        changes = variable.changes
        before = sum(u.node.start_byte < at.start_byte for u in changes)
        loop = next(
            (
                a
                for a in ancestors(at)
                if a.type in LOOPS and any(contains(a, u.node) for u in changes)
            ),
            None,
        )
        if not before and loop is None:
            return variable.name
        return f"{variable.name}'{before}" + (f"@{loop.start_byte}" if loop is not None else "")

    def sources(self, variable: Variable) -> frozenset[str]:
        """Return the names that a variable's values are computed from, through locals."""
        known = self._sources.get(variable.name_node.id)
        if known is not None:
            return known
        found: set[str] = set()
        pending = [variable]
        seen = {id(variable)}
        while pending:
            for node in _definitions(pending.pop()):
                for inner in walk(node, "identifier", "field_expression"):
                    text = self._syntax.plain(inner)
                    found.add(text)
                    source = self._variables.of(inner)
                    if source is not None and id(source) not in seen:
                        seen.add(id(source))
                        pending.append(source)
                    macro = self._macros.get(text)
                    if macro is not None:
                        found.update(self._macro_names(macro))
        self._sources[variable.name_node.id] = frozenset(found)
        return frozenset(found)

    def _macro_names(self, macro: Macro) -> set[str]:
        text = macro.body.replace(" ", "")
        names = {t.text for t in code_tokens(macro.body) if t.kind == "word"}
        return names | {f"{b}.{x}" for b in BUILTINS & names for x in "xyz" if f"{b}.{x}" in text}


LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
_OPERATORS = frozenset({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})
_LONG = 2000
_FLOATING = frozenset({"float", "double", "half", "__half", "long double", "nv_bfloat16"})


def _assignment(node: Node) -> tuple[Node, Node] | None:
    """Return value and statement of `x = value;` in a block, for the node of `x`."""
    outer = node.parent
    if outer is None or outer.type != "assignment_expression" or operator(outer) != "=":
        return None
    stands, right = outer.parent, field(outer, "right")
    if right is None or stands is None or stands.type != "expression_statement":
        return None
    block = stands.parent
    return (right, stands) if block is not None and block.type == "compound_statement" else None


def _first(variable: Variable, loop: Node) -> Node | None:
    """Return where a `for` header starts its variable; None when it does not."""
    initializer = field(loop, "initializer")
    if loop.type != "for_statement" or initializer is None:
        return None
    if variable.init is not None and contains(initializer, variable.init):
        return variable.init
    for use in variable.changes:
        if use.role == "write" and contains(initializer, use.node) and use.node.parent is not None:
            return field(use.node.parent, "right")
    return None


def _unbracketed(words: list[str]) -> list[str]:
    """Drop brackets around a name: `(i) + n` reads as a cast of `+n`, `(n * (i)) + 1` as one, too.

    >>> " ".join(_unbracketed("( ( i ) + n * ( int ) * f ( j ) + ( k ) )".split()))
    '( i + n * ( int ) * f ( j ) + k )'
    >>> " ".join(_unbracketed("( ( ( j ) * ( ld ) ) + ( i ) )".split()))
    '( ( j * ld ) + i )'
    """
    kept: list[str] = []
    at = 0
    while at < len(words):
        name = words[at + 1] if at + 1 < len(words) else ""
        before = kept[-1] if kept else "("
        behind = words[at + 3] if at + 3 < len(words) else ")"
        alone = words[at] == "(" and words[at + 2 : at + 3] == [")"]
        if (
            alone and (name.isidentifier() or name.isdigit())
            and name not in (*INTEGERS, *_FLOATING)
            and (before in _OPERATORS or before == "(")
            and (behind in _OPERATORS or behind == ")")
        ):  # fmt: skip
            kept.append(name)
            at += 3
            continue
        kept.append(words[at])
        at += 1
    return kept


@lru_cache(maxsize=4096)  # most macros are called alike in every candidate of a search
def _declared(text: str) -> Syntax:
    """Return a declaration parsed: what a macro is written out to."""
    return Syntax(text)


def last_update(loop: Node) -> Node | None:
    """Return the last statement of a `while` body when nothing can jump to the test before it."""
    body = loop.child_by_field_name("body")
    if loop.type != "while_statement" or body is None or body.type != "compound_statement":
        return None
    listed = body.named_children
    if not listed or listed[-1].type != "expression_statement":
        return None
    if any(True for _ in walk(body, "continue_statement")):
        return None
    return listed[-1]


def _by_thread(names: frozenset[str]) -> bool:
    return any(n.startswith(("threadIdx", "blockIdx")) for n in names)


def _definitions(variable: Variable) -> Iterator[Node]:
    if variable.init is not None:
        yield variable.init
    for use in variable.changes:
        for outer in ancestors(use.node):
            if outer.type in ("assignment_expression", "update_expression", "call_expression"):
                yield outer
                break


def _only(node: Node) -> Node | None:
    inner = node.named_children
    return inner[0] if len(inner) == 1 else None


def _wrapped(value: Polynomial) -> str:
    text = str(value)
    return f"({text})" if " + " in text or "*" in text else text


_FOLDED: dict[str, Callable[[int, int], int]] = {
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    ">>": lambda a, b: a >> min(b, 64),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
INTEGERS = frozenset({
    "int", "unsigned", "unsigned int", "long", "unsigned long", "long long", "size_t",
    "unsigned long long", "short", "unsigned short", "uint", "int32_t", "uint32_t", "int64_t",
    "uint64_t", "ssize_t", "ptrdiff_t", "auto", "long int", "unsigned long long int", "char",
    "unsigned char", "uint8_t", "uchar", "ushort", "ulong", "int16_t", "uint16_t", "std::size_t",
    "long long int", "unsigned short int", "signed int", "intptr_t", "unsigned long int",
    "std::uint32_t", "std::int32_t", "std::int64_t", "std::uint64_t", "int8_t",
})  # fmt: skip
