"""What a block of known size leaves in shared memory: statements run for all its threads at once.

Elements of shared arrays are sets of what the arrays held before, joined by `+`; whole numbers are
worked out. Everything else is unknown, and so is what threads read that others write between two
barriers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from tree_sitter import Node

from optimizer.directives import Macro
from optimizer.functions import Function
from optimizer.source import Source
from optimizer.syntax import field, operator, stripped, walk
from optimizer.variables import Variable

BARRIER = "__syncthreads"
_MOST_STEPS = 400_000
_MOST_ROUNDS = 4096
_SEVERAL = -1
_LARGE = 1 << 31


@dataclass(frozen=True, slots=True)
class Held:
    """What an element holds: the sum of the first values of the places in `places`, as bits."""

    places: int


Value = int | Held
Place = tuple[str, int]
_Locals = dict[int, Value]
_Evaluate = Callable[[_Locals, int], Value]
_Run = Callable[[_Locals, int], None]


class UnknownError(Exception):
    """Something that is not understood, or that depends on the order of threads."""


@dataclass(slots=True)
class Block:
    """The threads of a block on their way through a kernel: their locals, the shared elements.

    `places` lists shared elements that were read before they were written: bit i of what an element
    holds is the first value of `places[i]`. `handed` are assignments to memory outside the block:
    statement, thread and what was stored.
    """

    source: Source
    fn: Function
    threads: int
    known: Mapping[int, int]
    locals: list[_Locals] = dataclass_field(default_factory=list)
    elements: dict[Place, Held] = dataclass_field(default_factory=dict)
    places: list[Place] = dataclass_field(default_factory=list)
    handed: list[tuple[Node, int, Held]] = dataclass_field(default_factory=list)
    _readers: dict[Place, int] = dataclass_field(default_factory=dict)
    _writers: dict[Place, int] = dataclass_field(default_factory=dict)
    _steps: int = 0

    def __post_init__(self) -> None:
        """Start with no locals."""
        self.locals = [{} for _ in range(self.threads)]

    # -- statements ------------------------------------------------------------------------------

    def run(self, statements: Sequence[Node]) -> None:
        """Run statements for all threads; raise `UnknownError` for what is not understood."""
        for statement in statements:
            self._together(statement)

    def value(self, node: Node, thread: int) -> Value:
        """Return what an expression is for one thread."""
        return self._expression(node)(self.locals[thread], thread)

    def place_of(self, node: Node, thread: int) -> Place:
        """Return the shared element that a subscript names for one thread."""
        return self._place(node)(self.locals[thread], thread)

    def _together(self, node: Node) -> None:
        if node.type == "comment":
            return
        if not _waits(self.source, node):
            run = self._statement(node)
            self._steps += self.threads
            if self._steps > _MOST_STEPS:
                raise UnknownError
            for thread, own in enumerate(self.locals):
                run(own, thread)
        elif node.type == "expression_statement":
            if self.source.plain(node) != f"{BARRIER}();":
                raise UnknownError
            self._readers.clear()
            self._writers.clear()
        elif node.type == "compound_statement":
            self.run(node.named_children)
        elif node.type in ("for_statement", "while_statement"):
            self._loop(node)
        elif node.type == "if_statement":
            chosen = "consequence" if self._agreed(node) else "alternative"
            branch = field(node, chosen)
            if branch is not None:
                inner = branch.named_children if branch.type == "else_clause" else [branch]
                self.run(inner)
        else:
            raise UnknownError

    def _loop(self, node: Node) -> None:
        first, update, body = (field(node, n) for n in ("initializer", "update", "body"))
        if body is None:
            raise UnknownError
        if first is not None:
            self._together(first)
        again = None if update is None else self._expression(update)
        for _ in range(_MOST_ROUNDS):
            if not self._agreed(node):
                return
            self._together(body)
            if again is not None:
                for thread, own in enumerate(self.locals):
                    again(own, thread)
        raise UnknownError

    def _agreed(self, node: Node) -> bool:
        """Return what a condition says that all threads must agree on."""
        test = self._expression(_condition(node))
        found = {bool(_number(test(own, thread))) for thread, own in enumerate(self.locals)}
        if len(found) != 1:
            raise UnknownError
        return found.pop()

    def _statement(self, node: Node) -> _Run:
        if node.type == "expression_statement":
            if not node.named_children:
                return _nothing
            inner = self._expression(node.named_children[0])
            return lambda own, thread: _ignore(inner(own, thread))
        if node.type in ("compound_statement", "else_clause"):
            parts = [self._statement(n) for n in node.named_children if n.type != "comment"]

            def run(own: _Locals, thread: int) -> None:
                for part in parts:
                    part(own, thread)

            return run
        if node.type == "declaration":
            return self._declaration(node)
        if node.type == "if_statement":
            return self._choice(node)
        if node.type in ("for_statement", "while_statement"):
            return self._own_loop(node)
        if node.type.endswith("_expression"):
            inner = self._expression(node)
            return lambda own, thread: _ignore(inner(own, thread))
        raise UnknownError

    def _declaration(self, node: Node) -> _Run:
        settings: list[tuple[int, _Evaluate]] = []
        for part in node.named_children:
            if part.type == "init_declarator":
                name, value = field(part, "declarator"), field(part, "value")
                variable = None if name is None else self.fn.variables.of(name)
                if value is None or variable is None or not _plain(variable):
                    raise UnknownError
                settings.append((id(variable), self._expression(value)))
            elif part.type.endswith("_declarator") or field(part, "value") is not None:
                raise UnknownError

        def run(own: _Locals, thread: int) -> None:
            for name, value in settings:
                own[name] = value(own, thread)

        return run

    def _choice(self, node: Node) -> _Run:
        test = self._expression(_condition(node))
        body, other = field(node, "consequence"), field(node, "alternative")
        if body is None:
            raise UnknownError
        then = self._statement(body)
        instead = None if other is None else self._statement(other)

        def run(own: _Locals, thread: int) -> None:
            if _number(test(own, thread)):
                then(own, thread)
            elif instead is not None:
                instead(own, thread)

        return run

    def _own_loop(self, node: Node) -> _Run:
        first, update, inner = (field(node, n) for n in ("initializer", "update", "body"))
        if inner is None:
            raise UnknownError
        test, body = self._expression(_condition(node)), self._statement(inner)
        before = None if first is None else self._statement(first)
        again = None if update is None else self._expression(update)

        def run(own: _Locals, thread: int) -> None:
            if before is not None:
                before(own, thread)
            while _number(test(own, thread)):
                self._steps += 1
                if self._steps > _MOST_STEPS:
                    raise UnknownError
                body(own, thread)
                if again is not None:
                    again(own, thread)

        return run

    # -- expressions -----------------------------------------------------------------------------

    def _expression(self, given: Node) -> _Evaluate:
        node = stripped(given)
        makers: dict[str, Callable[[Node], _Evaluate]] = {
            "number_literal": self._literal,
            "identifier": self._name,
            "field_expression": self._builtin,
            "subscript_expression": self._element,
            "binary_expression": self._binary,
            "unary_expression": self._unary,
            "conditional_expression": self._conditional,
            "cast_expression": self._cast,
            "call_expression": self._call,
            "assignment_expression": self._assignment,
            "update_expression": self._update,
            "comma_expression": self._both,
        }
        if node is None or node.type not in makers:
            raise UnknownError
        return makers[node.type](node)

    def _element(self, node: Node) -> _Evaluate:
        place = self._place(node)
        return lambda own, thread: self._read(place(own, thread), thread)

    def _conditional(self, node: Node) -> _Evaluate:
        parts = [field(node, n) for n in ("condition", "consequence", "alternative")]
        test, then, other = (self._expression(_given(p)) for p in parts)
        return lambda own, thread: (
            then(own, thread) if _number(test(own, thread)) else other(own, thread)
        )

    def _cast(self, node: Node) -> _Evaluate:
        if self.source.plain(field(node, "type")) not in ("int", "unsigned", "unsigned int"):
            raise UnknownError
        return self._expression(_given(field(node, "value")))

    def _both(self, node: Node) -> _Evaluate:
        one, other = (self._expression(_given(field(node, n))) for n in ("left", "right"))
        return lambda own, thread: (one(own, thread), other(own, thread))[1]

    def _literal(self, node: Node) -> _Evaluate:
        text = self.source.plain(node)
        number = self.source.value(text)
        if number is None and not text.rstrip("fF").strip("0."):
            number = 0
        if number is None:
            raise UnknownError
        return _constant(number)

    def _name(self, node: Node) -> _Evaluate:
        variable = self.fn.variables.of(node)
        if variable is None:
            number = self.source.constant(self.source.plain(node))
            if number is None:
                raise UnknownError
            return _constant(number)
        if not _plain(variable):
            raise UnknownError
        key, known = id(variable), self.known.get(id(variable))

        def get(own: _Locals, thread: int) -> Value:
            del thread
            found = own.get(key, known)
            if found is None:
                raise UnknownError
            return found

        return get

    def _builtin(self, node: Node) -> _Evaluate:
        text = self.source.plain(node)
        if text == "threadIdx.x":
            return lambda _, thread: thread
        if text == "blockDim.x":
            return _constant(self.threads)
        if text in ("threadIdx.y", "threadIdx.z"):
            return _constant(0)
        raise UnknownError

    def _place(self, node: Node) -> Callable[[_Locals, int], Place]:
        """Return what finds the element that `s[i]` or `s[i][j]` names."""
        subscripts: list[Node] = []
        base: Node | None = node
        while base is not None and base.type == "subscript_expression":
            listed = field(base, "indices")
            inner = listed.named_children if listed is not None else []
            if len(inner) != 1:
                raise UnknownError
            subscripts.insert(0, inner[0])
            base = stripped(field(base, "argument"))
        variable = None if base is None else self.fn.variables.of(base)
        if variable is None or variable.space != "shared" or variable.volatile:
            raise UnknownError
        if len(variable.extents) != len(subscripts) or "volatile" in variable.type:
            raise UnknownError
        sizes = [self.source.value(text) for text in variable.extents]
        indices = [self._expression(n) for n in subscripts]
        name = variable.name

        def find(own: _Locals, thread: int) -> Place:
            at = 0
            for index, size in zip(indices, sizes, strict=True):
                here = _number(index(own, thread))
                if here < 0 or (size is not None and here >= size):
                    raise UnknownError
                at = here if len(sizes) == 1 else at * _sure(size) + here
            return name, at

        return find

    def _binary(self, node: Node) -> _Evaluate:
        sign = operator(node)
        sides = [_given(field(node, n)) for n in ("left", "right")]
        left, right = (self._expression(n) for n in sides)
        signed = all(self.fn.type_of(n) in ("int", "bool", None) for n in sides)
        if sign == "&&":
            return lambda own, thread: int(
                bool(_number(left(own, thread))) and bool(_number(right(own, thread)))
            )
        if sign == "||":
            return lambda own, thread: int(
                bool(_number(left(own, thread))) or bool(_number(right(own, thread)))
            )
        if sign == "+":
            return lambda own, thread: _sum(left(own, thread), right(own, thread))
        found = _OPERATORS.get(sign)
        if found is None:
            raise UnknownError
        exact = sign in ("-", "*")

        def work(own: _Locals, thread: int) -> Value:
            a, b = _number(left(own, thread)), _number(right(own, thread))
            if not exact and (a < 0 or b < 0) and not (signed and sign in _COMPARISONS):
                raise UnknownError  # wraps around, rounds or shifts in ways of its own
            return found(a, b)

        return work

    def _unary(self, node: Node) -> _Evaluate:
        inner = self._expression(_given(field(node, "argument")))
        if operator(node) == "!":
            return lambda own, thread: int(not _number(inner(own, thread)))
        if operator(node) == "-":
            return lambda own, thread: -_number(inner(own, thread))
        raise UnknownError

    def _call(self, node: Node) -> _Evaluate:
        name = self.source.plain(field(node, "function")).removeprefix("std::")
        listed = field(node, "arguments")
        given = [self._expression(n) for n in listed.named_children] if listed is not None else []
        macro = self.source.macros_in_force.get(name)
        if macro is not None:
            return self._macro(macro, given)
        if name not in ("min", "max") or self.source.known(name) or len(given) != 2:
            raise UnknownError
        choose = min if name == "min" else max
        return lambda own, thread: choose(
            _number(given[0](own, thread)), _number(given[1](own, thread))
        )

    def _macro(self, macro: Macro, given: Sequence[_Evaluate]) -> _Evaluate:
        """Return what works out a macro of whole numbers, as `((n) >> 5)` of `n`."""
        names = macro.parameters or ()
        if macro.parameters is None or len(names) != len(given):
            raise UnknownError
        known: dict[tuple[int, ...], int | None] = {}

        def work(own: _Locals, thread: int) -> Value:
            numbers = tuple(_number(one(own, thread)) for one in given)
            if numbers not in known:
                text = macro.body
                for name, number in zip(names, numbers, strict=True):
                    text = re.sub(rf"\b{re.escape(name)}\b", f"({number})", text)
                known[numbers] = self.source.value(text) if min(numbers) >= 0 else None
            return _sure(known[numbers])

        return work

    def _assignment(self, node: Node) -> _Evaluate:
        target, value = stripped(field(node, "left")), _given(field(node, "right"))
        sign = operator(node)
        new = self._expression(value)
        if target is None:
            raise UnknownError
        if target.type == "identifier":
            variable = self.fn.variables.of(target)
            if variable is None or not _plain(variable):
                raise UnknownError
            key, old = id(variable), self._expression(target) if sign != "=" else None
            work = _joined(sign)

            def put(own: _Locals, thread: int) -> Value:
                found = new(own, thread)
                own[key] = found if old is None else work(old(own, thread), found)
                return own[key]

            return put
        if target.type != "subscript_expression":
            raise UnknownError
        if not self._is_shared(target):
            return self._outside(node, target, new)
        place, work = self._place(target), _joined(sign)

        def store(own: _Locals, thread: int) -> Value:
            at, found = place(own, thread), new(own, thread)
            if sign != "=":
                found = work(self._read(at, thread), found)
            return self._write(at, found, thread)

        return store

    def _is_shared(self, target: Node) -> bool:
        return any(
            v is not None and v.space == "shared"
            for v in (self.fn.variables.of(n) for n in walk(target, "identifier"))
        )

    def _outside(self, node: Node, target: Node, new: _Evaluate) -> _Evaluate:
        """Return what notes an assignment to memory outside the block."""
        if operator(node) != "=":
            raise UnknownError

        def hand(own: _Locals, thread: int) -> Value:
            found = new(own, thread)
            if not isinstance(found, Held):
                raise UnknownError
            self.handed.append((target, thread, found))
            return found

        return hand

    def _update(self, node: Node) -> _Evaluate:
        target = _given(stripped(field(node, "argument")))
        variable = self.fn.variables.of(target) if target.type == "identifier" else None
        if variable is None or not _plain(variable):
            raise UnknownError
        key, old, by = id(variable), self._expression(target), 1 if operator(node) == "++" else -1
        first = self.source.plain(node).startswith(("+", "-"))

        def put(own: _Locals, thread: int) -> Value:
            before = _number(old(own, thread))
            own[key] = before + by
            return before + by if first else before

        return put

    # -- shared memory ---------------------------------------------------------------------------

    def _read(self, at: Place, thread: int) -> Held:
        if self._writers.get(at, thread) != thread:
            raise UnknownError  # written since the last barrier by another thread
        if self._readers.setdefault(at, thread) != thread:
            self._readers[at] = _SEVERAL
        found = self.elements.get(at)
        if found is None:
            found = self.elements[at] = Held(1 << len(self.places))
            self.places.append(at)
        return found

    def _write(self, at: Place, value: Value, thread: int) -> Value:
        if self._writers.setdefault(at, thread) != thread:
            raise UnknownError
        if self._readers.get(at, thread) != thread:
            raise UnknownError
        if isinstance(value, int):
            if value:
                raise UnknownError
            value = Held(0)
        self.elements[at] = value
        return value


def _waits(source: Source, node: Node) -> bool:
    return any(
        source.plain(field(call, "function")) == BARRIER for call in walk(node, "call_expression")
    )


def _plain(variable: Variable) -> bool:
    whole = variable.space in ("local", "parameter") and variable.is_scalar
    return whole and not variable.reference and not variable.volatile


def _condition(node: Node) -> Node:
    found = field(node, "condition")
    while found is not None and found.type == "condition_clause":
        found = found.named_children[0] if len(found.named_children) == 1 else None
    return _given(found)


def _given(node: Node | None) -> Node:
    if node is None:
        raise UnknownError
    return node


def _sure(number: int | None) -> int:
    if number is None:
        raise UnknownError
    return number


def _constant(number: int) -> _Evaluate:
    return lambda _own, _thread: number


def _ignore(value: Value) -> None:
    del value


def _nothing(own: _Locals, thread: int) -> None:
    del own, thread


def _number(value: Value) -> int:
    if isinstance(value, Held):
        raise UnknownError
    return value


def _sum(a: Value, b: Value) -> Value:
    if isinstance(a, int) and isinstance(b, int):
        return _small(a + b)
    left, right = (v.places if isinstance(v, Held) else v and -1 for v in (a, b))
    if left < 0 or right < 0 or left & right:
        raise UnknownError  # a number is no element, and no element counts twice
    return Held(left | right)


def _joined(sign: str) -> Callable[[Value, Value], Value]:
    if sign in ("=", "+="):
        return _sum
    found = _OPERATORS.get(sign[:-1])
    if found is None:
        raise UnknownError

    def work(a: Value, b: Value) -> Value:
        left, right = _number(a), _number(b)
        if left < 0 or right < 0:
            raise UnknownError
        return found(left, right)

    return work


def _quotient(a: int, b: int) -> int:
    if not b:
        raise UnknownError
    return a // b


def _rest(a: int, b: int) -> int:
    if not b:
        raise UnknownError
    return a % b


def _shifted(a: int, b: int) -> int:
    if b > 31:
        raise UnknownError
    return _small(a << b)


def _small(number: int) -> int:
    """Return a number that an `int` holds: larger ones wrap there, and here grow without end."""
    if abs(number) >= _LARGE:
        raise UnknownError
    return number


_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "-": lambda a, b: _small(a - b),
    "*": lambda a, b: _small(a * b),
    "/": _quotient,
    "%": _rest,
    "<<": _shifted,
    ">>": lambda a, b: a >> min(b, 64),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
}
