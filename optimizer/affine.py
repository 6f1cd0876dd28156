"""Index expressions as polynomials over what a thread knows.

`blockIdx.x * blockDim.x + threadIdx.x + k * n` becomes a sum of products of *atoms*: names of
variables, `threadIdx.x` and its kin, and opaque pieces such as `(n / 2)` or `idx[i]`, which are
kept as one atom each. Locals that keep their first value are replaced by it. A loop variable that
starts at something the thread decides (`for (i = tid; ...)`) is written as that start plus an
atom of its own name, which then stands for the advance only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from tree_sitter import Node

from optimizer.syntax import Syntax, ancestors, contains, field, operator, walk
from optimizer.tokens import integer
from optimizer.variables import Variable, Variables

Monomial = tuple[str, ...]
BUILTINS = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_MANY = 64
_DEEP = 40


def _no_atoms() -> dict[str, frozenset[str]]:
    return {}


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of integer multiples of products of atoms; `terms[()]` is the constant.

    `opaque` gives for each atom that is no plain name the names it depends on.
    """

    terms: Mapping[Monomial, int]
    opaque: Mapping[str, frozenset[str]] = dataclass_field(default_factory=_no_atoms)

    @property
    def constant(self) -> int | None:
        """Return the value when nothing but a number is left."""
        if not self.terms:
            return 0
        return self.terms[()] if set(self.terms) == {()} else None

    @property
    def offset(self) -> int:
        """Return the constant term."""
        return self.terms.get((), 0)

    @property
    def atoms(self) -> frozenset[str]:
        """Return every atom that occurs."""
        return frozenset(a for m in self.terms for a in m)

    @property
    def symbols(self) -> frozenset[str]:
        """Return every name the value depends on, also from within opaque atoms."""
        found: set[str] = set()
        for atom in self.atoms:
            found |= self.opaque.get(atom, frozenset({atom}))
        return frozenset(found)

    def coefficient(self, symbol: str) -> Polynomial | None:
        """Return what `symbol` is multiplied by (zero when absent); None when not linear in it.

        `(row * n + k).coefficient("row")` is `n`: the stride of the index in `row`.
        """
        terms: dict[Monomial, int] = {}
        for monomial, factor in self.terms.items():
            hits = sum(atom == symbol or symbol in self.opaque.get(atom, ()) for atom in monomial)
            if not hits:
                continue
            if hits > 1 or symbol not in monomial:
                return None
            rest = list(monomial)
            rest.remove(symbol)
            key = tuple(rest)
            terms[key] = terms.get(key, 0) + factor
        return Polynomial(terms, self.opaque)

    def stride(self, symbol: str) -> int | None:
        """Return the coefficient of `symbol` when it is a number, else None."""
        found = self.coefficient(symbol)
        return found.constant if found is not None else None

    def depends_on(self, symbol: str) -> bool:
        """Return whether the value may change with `symbol`."""
        return symbol in self.symbols

    def without(self, symbol: str) -> Polynomial:
        """Return the sum of the terms in which `symbol` does not occur."""
        return Polynomial(
            {
                m: f
                for m, f in self.terms.items()
                if all(a != symbol and symbol not in self.opaque.get(a, ()) for a in m)
            },
            self.opaque,
        )

    def same(self, other: Polynomial) -> bool:
        """Return whether both are the same sum, term by term."""
        return dict(self.terms) == dict(other.terms)

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + factor
        return Polynomial({m: f for m, f in terms.items() if f}, {**self.opaque, **other.opaque})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.scaled(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for m1, f1 in self.terms.items():
            for m2, f2 in other.terms.items():
                key = tuple(sorted((*m1, *m2)))
                terms[key] = terms.get(key, 0) + f1 * f2
        return Polynomial({m: f for m, f in terms.items() if f}, {**self.opaque, **other.opaque})

    def scaled(self, factor: int) -> Polynomial:
        """Return the polynomial times a number."""
        return Polynomial({m: f * factor for m, f in self.terms.items() if factor}, self.opaque)

    def __str__(self) -> str:
        parts: list[str] = []
        for monomial, factor in sorted(self.terms.items()):
            text = "*".join(monomial)
            if not text:
                parts.append(str(factor))
            else:
                parts.append(text if factor == 1 else f"{factor}*{text}")
        return " + ".join(parts) or "0"


def number(value: int) -> Polynomial:
    """Return a constant."""
    return Polynomial({(): value} if value else {})


def atom(name: str, depends: frozenset[str] | None = None) -> Polynomial:
    """Return a single name, or an opaque piece that depends on some names."""
    return Polynomial({(name,): 1}, {} if depends is None else {name: depends})


class Expander:
    """Turns expression nodes of one function into polynomials."""

    def __init__(
        self, syntax: Syntax, variables: Variables, constant: Callable[[str], int | None]
    ) -> None:
        self._syntax = syntax
        self._variables = variables
        self._constant = constant
        self._known: dict[int, Polynomial | None] = {}

    def expand(self, node: Node | None, fold: bool = False) -> Polynomial | None:
        """Return the polynomial of an integer expression, or None when it is not understood.

        With `fold` constants of the file (`#define TILE 16`) are numbers, else they stay names.
        """
        try:
            found = self._expand(node, fold, 0)
        except RecursionError:
            return None
        return found if found is None or len(found.terms) <= _MANY else None

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

    def _name(self, node: Node, fold: bool, depth: int) -> Polynomial | None:
        name = self._syntax.of(node)
        variable = self._variables.of(node)
        if variable is None:
            if name in BUILTINS:
                return atom(name)
            value = self._constant(name) if fold else None
            if value is None and self._variables.use(node) is None:
                variable = self._variables.named(name, node)
            elif value is not None:
                return number(value)
        if variable is None or variable.space == "parameter":
            return atom(name)
        if not self.expands(variable, node):
            return self._kept(variable, node, fold, depth)
        key = variable.name_node.id * 2 + fold
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._expand(variable.init, fold, depth + 1)
        found = self._known[key]
        if found is None:
            names = self.sources(variable)
            return atom(name, names | {name})
        return found

    def _kept(self, variable: Variable, node: Node, fold: bool, depth: int) -> Polynomial:
        """Return a local that changes as an atom that tells what it depends on."""
        start = self._start(variable, node)
        sources = self.sources(variable)
        if start is None or depth > _DEEP - 8:
            return atom(variable.name, sources | {variable.name})
        if not _by_thread(sources):
            return atom(variable.name)
        found = self._expand(start, fold, depth + 1)
        if found is None or self._uneven(variable):
            return atom(variable.name, sources | {variable.name})
        return found + atom(variable.name)

    def _start(self, variable: Variable, node: Node) -> Node | None:
        """Return where a loop variable begins, for a use in the body of its only loop."""
        if not self._loop_variable(variable, node):
            return None
        if variable.init is not None:
            return variable.init
        writes = [u for u in variable.changes if u.role == "write"]
        if len(writes) != 1 or writes[0].node.parent is None:
            return None
        return field(writes[0].node.parent, "right")

    def _uneven(self, variable: Variable) -> bool:
        """Return whether threads step through the loop differently."""
        for use in variable.changes:
            parent = use.node.parent
            if use.role != "update" or parent is None:
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

    def expands(self, variable: Variable, at: Node) -> bool:
        """Return whether a local may be replaced by its first value at a place.

        It must keep that value, and so must all it is computed from: other settled variables, or
        variables of loops that are around both declaration and use.
        """
        if not variable.settled or variable.init is None or variable.is_pointer:
            return False
        if variable.is_array or variable.element not in INTEGERS:
            return False
        for inner in walk(
            variable.init, "identifier", "subscript_expression", "pointer_expression"
        ):
            if inner.type != "identifier":
                return False
            source = self._variables.of(inner)
            if source is None or source.settled:
                if source is not None and self._variables.named(source.name, at) is not source:
                    return False
                continue
            if not self._loop_variable(source, at):
                return False
        return True

    def _loop_variable(self, variable: Variable, at: Node) -> bool:
        """Return whether it changes only in the header of a `for` that is around both places."""
        for loop in ancestors(at):
            if loop.type != "for_statement":
                continue
            header = (loop.start_byte, _body_start(loop))
            if all(contains(header, u.node) for u in variable.changes) and variable.changes:
                return self._variables.named(variable.name, at) is variable
        return False

    def sources(self, variable: Variable) -> frozenset[str]:
        """Return the names that a variable's first value is computed from, through locals."""
        found: set[str] = set()
        pending = [variable]
        seen = {id(variable)}
        while pending:
            current = pending.pop()
            for node in _definitions(current):
                for inner in walk(node, "identifier", "field_expression"):
                    text = self._syntax.plain(inner)
                    if inner.type == "field_expression" or text in BUILTINS:
                        found.add(text)
                        continue
                    source = self._variables.of(inner)
                    found.add(text)
                    if source is not None and id(source) not in seen:
                        seen.add(id(source))
                        pending.append(source)
        return frozenset(found)


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


def _body_start(loop: Node) -> int:
    body = loop.child_by_field_name("body")
    return body.start_byte if body is not None else loop.end_byte


def _only(node: Node) -> Node | None:
    inner = node.named_children
    return inner[0] if len(inner) == 1 else None


def _wrapped(value: Polynomial) -> str:
    text = str(value)
    return f"({text})" if " + " in text else text


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
