"""Arithmetic over case variables: shapes, scalar values, grids. Never code.

The text comes from a configuration file and from candidates' launch lines, so a syntax-tree
allow-list runs before `simpleeval` sees it, and every number is bounded.
"""

from __future__ import annotations

import ast
import copy
import keyword
import math
import operator
import re
import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from simpleeval import InvalidExpression, SimpleEval

Number = int | float

LONGEST = 400
LARGEST = 2**64
_WHOLE = re.compile(r"[+-]?\d+")
_NODES = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.Call,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
    ast.USub,
    ast.UAdd,
)


# Names in C++ that Python keeps for itself: `from` and `in` are arguments of many kernels.
_RESERVED = "|".join(set(keyword.kwlist) - {"True", "False", "None"})
_KEPT = re.compile(rf"(?<![\w.])({_RESERVED})(?!\w)")
_MARK = "\u01c3"  # a letter that is in nobody's name


class ExpressionError(ValueError):
    """The text is not arithmetic over the given names, or has no finite value."""


def _divide(left: Number, right: Number) -> Number:
    """Divide as C does for the sizes this is used on: whole numbers give a whole number."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    return left / right


def _power(base: Number, exponent: Number) -> Number:
    """Raise to a power whose size is known to be bounded before it is computed."""
    if abs(exponent) > 64 or abs(base) > LARGEST:
        raise ExpressionError(f"{base} ** {exponent} is out of range")
    if isinstance(base, int) and exponent > 0 and base.bit_length() * exponent > 128:
        raise ExpressionError(f"{base} ** {exponent} is out of range")
    value: Any = base**exponent
    if isinstance(value, complex):
        raise ExpressionError(f"{base} ** {exponent} is not real")
    return value  # type: ignore[no-any-return]


def _logarithm(value: Number) -> Number:
    """Give the base-2 logarithm, whole for powers of two so that shapes stay whole."""
    exact = math.log2(value)
    return int(exact) if exact.is_integer() else exact


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divide,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": _logarithm,
    "abs": abs,
}


@lru_cache(maxsize=4096)
def _parse(text: str) -> ast.Expression:
    if len(text) > LONGEST:
        raise ExpressionError(f"the expression is longer than {LONGEST} characters")
    try:
        tree = ast.parse(_KEPT.sub(rf"\1{_MARK}", text.strip()), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ExpressionError(f"{text!r} is not arithmetic: {error}") from error
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise ExpressionError(f"{text!r}: {type(node).__name__} is not arithmetic")
        if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
            raise ExpressionError(f"{text!r}: {node.value!r} is not a number")
        if isinstance(node, ast.Call) and (
            not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS or node.keywords
        ):
            raise ExpressionError(f"{text!r}: only {', '.join(_FUNCTIONS)} can be called")
    return tree


def _whole(value: float) -> Number:
    """Case variables travel as floats; those that are whole take part in integer division."""
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


class _Machines(threading.local):
    """A machine of each thread: to make one takes ten times as long as a value does."""

    def __init__(self) -> None:
        self.one = SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names={})


_MACHINES = _Machines()


def is_number(text: str) -> bool:
    """Tell whether a text is a whole number, and no expression that has to be computed.

    >>> is_number("-12"), is_number("n"), is_number("2*3")
    (True, False, False)
    """
    return _WHOLE.fullmatch(text) is not None


def names(text: str) -> frozenset[str]:
    """Return the variables an expression reads.

    >>> sorted(names("min(n, 2*m)"))
    ['m', 'n']
    """
    return frozenset(_used(text))


@lru_cache(maxsize=4096)
def _used(text: str) -> tuple[str, ...]:
    found = (node.id for node in ast.walk(_parse(text)) if isinstance(node, ast.Name))
    used = {name.removesuffix(_MARK) for name in found}
    return tuple(sorted(used - _FUNCTIONS.keys()))


class _Endless(ast.NodeTransformer):
    """Leaves numbers out of the smallest of several, where something else is left."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id != "min":
            return node
        changing = [one for one in node.args if _named(one)]
        if not changing:
            return node
        return changing[0] if len(changing) == 1 else ast.Call(node.func, changing, [])


def _named(tree: ast.AST) -> bool:
    found = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return any(name not in _FUNCTIONS for name in found)


@lru_cache(maxsize=4096)
def endless(text: str) -> str:
    """Return an expression without the numbers that `min` ends it at.

    >>> endless("max(1, min(264, (n+511)/512))"), endless("min(m, n)"), endless("min(2, 3)")
    ('max(1, (n + 511) / 512)', 'min(m, n)', 'min(2, 3)')
    """
    tree = _parse(text)
    try:
        left = _Endless().visit(copy.deepcopy(tree))
        same = ast.dump(left) == ast.dump(tree)
        return text if same else ast.unparse(left).replace(_MARK, "")
    except RecursionError as error:
        raise ExpressionError(f"{text!r} is too deep: {error}") from error


def variables_of(text: str) -> frozenset[str]:
    """Return the variables of an expression; none of what is none.

    >>> sorted(variables_of("(n + 3) / w")), variables_of("n +")
    (['n', 'w'], frozenset())
    """
    try:
        return names(text)
    except ExpressionError:
        return frozenset()


def evaluate(text: str, variables: Mapping[str, float]) -> Number:
    """Return the value of an expression; raise `ExpressionError` for anything but arithmetic.

    `/` between whole numbers rounds down, as a grid formula copied from C expects.

    >>> evaluate("(n+255)/256", {"n": 1000.0})
    4
    >>> evaluate("0.5*n", {"n": 3})
    1.5
    """
    return _value(text, _values(text, variables))


def _values(text: str, variables: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    # A list first: it is asked for millions of times, and takes less than a generator.
    return tuple([(name, variables[name]) for name in _used(text) if name in variables])


@lru_cache(maxsize=1 << 14)
def _value(text: str, used: tuple[tuple[str, float], ...]) -> Number:
    """Return the value under these values of its variables: one size is asked for again and again.

    Equal numbers of two types are whole or not alike, so that either stands for both.
    """
    tree = _parse(text)
    known = {_KEPT.sub(rf"\1{_MARK}", name): _whole(value) for name, value in used}
    machine = _MACHINES.one
    machine.names = known
    try:
        value = machine.eval(text.strip(), previously_parsed=tree.body)
    except ExpressionError:
        raise
    except (InvalidExpression, ArithmeticError, ValueError, TypeError, RecursionError) as error:
        raise ExpressionError(f"{text!r}: {error}") from error
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExpressionError(f"{text!r} is not a number")
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise ExpressionError(f"{text!r} is out of range")
    return value


def count(text: str, variables: Mapping[str, float]) -> int:
    """Return the value of a size expression; raise when it is negative or not whole."""
    return _counted(text, _values(text, variables))


@lru_cache(maxsize=1 << 14)
def _counted(text: str, used: tuple[tuple[str, float], ...]) -> int:
    value = _value(text, used)
    if value != int(value) or value < 0:
        raise ExpressionError(f"{text!r} gives {value}, not a size")
    return int(value)


def total(texts: tuple[str, ...], variables: Mapping[str, float]) -> int:
    """Return the sum of size expressions; raise as `count` does of the first that is no size.

    >>> total(("n", "2 * n", "m"), {"n": 3, "m": 4.0, "k": 9})
    13
    """
    used = [(name, variables[name]) for name in _used_by(texts) if name in variables]
    return _totalled(texts, tuple(used))


@lru_cache(maxsize=4096)
def _used_by(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({name for text in texts for name in _used(text)}))


@lru_cache(maxsize=1 << 14)
def _totalled(texts: tuple[str, ...], used: tuple[tuple[str, float], ...]) -> int:
    variables = dict(used)
    return sum(count(text, variables) for text in texts)
