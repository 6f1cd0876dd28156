"""Cheaper arithmetic for divisions by constants and roots, and comparisons of distances."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, field, operator, span, stripped, walk

_NAME = "reciprocal"
_FLOATS = ("float", "double")
_TITLES = {
    "constant": "multiply by reciprocals of constants",
    "root": "compute reciprocal square roots directly",
    "distance": "compare squares instead of square roots",
}
_WHY = {
    "constant": "an exact division costs about ten instructions and a branch, a product one",
    "root": "`rsqrt` is one instruction and a refinement where root and division are two each",
    "distance": "the bound is the largest number whose root passes, so that the result is the same",
}
_ROUNDING = frozenset({"floor", "ceil", "trunc", "round", "rint", "lrint", "lround", "int"})
_WHOLE = frozenset({"int", "unsigned int", "unsigned", "long", "size_t", "unsigned char", "short"})
_LINKS = 8  # macros of macros


def reciprocal(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Write `x / 255.0f` as a product, `1 / sqrtf(x)` as `rsqrtf(x)`, `sqrt(x * x) < 2` squared.

    The first two round differently by an ulp or two, which the verification bounds. A constant
    divisor is a literal or a name of one; powers of two are left to the compiler. A compared root
    must be one of a sum of squares, which is never negative.
    """
    del findings
    source = Source(kernel.source)
    found: dict[str, list[tuple[int, list[Replacement]]]] = {}
    for fn in (*source.kernels, *source.device_functions):
        if fn.broken or "__host__" in fn.qualifiers:
            continue
        for kind, node, edits in _places(source, fn):
            found.setdefault(kind, []).append((source.line(node), edits))
    choices = [tuple(found)] if found else []
    if len(found) > 1:
        choices += [(kind,) for kind in found]
    for kinds in choices:
        places = sorted({line for kind in kinds for line, _ in found[kind]})
        yield Edit(
            " and ".join(_TITLES[kind] for kind in kinds),
            source.replace(sorted(e for kind in kinds for _, edits in found[kind] for e in edits)),
            f"rule:{_NAME}",
            f"Line {', '.join(map(str, places))}: {'; '.join(_WHY[kind] for kind in kinds)}.",
            _NAME,
            1.2,
        )


def _places(source: Source, fn: Function) -> Iterator[tuple[str, Node, list[Replacement]]]:
    for node in fn.divisions:
        left, right = field(node, "left"), field(node, "right")
        if operator(node) not in ("/", "/=") or left is None or right is None:
            continue
        edits = _root(source, fn, node, left, right)
        if edits is not None:
            yield "root", node, edits
            continue
        edits = _constant(source, fn, node, left, right)
        if edits is not None:
            yield "constant", node, edits
    for node in fn.variables.nodes("binary_expression"):
        if operator(node) in ("<", "<=", ">", ">="):
            edits = _distance(source, fn, node)
            if edits is not None:
                yield "distance", node, edits


def _type(source: Source, fn: Function, node: Node | None) -> str:
    return source.resolved(fn.type_of(node) or "")


# -- constants -----------------------------------------------------------------------------------


def _constant(
    source: Source, fn: Function, node: Node, left: Node, right: Node
) -> list[Replacement] | None:
    value = _value(source, fn, right)
    kinds = [_type(source, fn, left), _type(source, fn, right) or _spelled(source, right)]
    if value is None or not set(kinds) <= {"float", "double", "int"} or set(kinds) == {"int"}:
        return None
    if math.frexp(abs(value))[0] == 0.5 or not 1e-30 < abs(value) < 1e30:
        return None
    if _value(source, fn, left) is not None or _rounded(source, fn, node):
        return None
    assigns = operator(node) == "/="
    kind = "double" if "double" in kinds else "float"
    one = "1.0f" if kind == "float" else "1.0"
    if assigns:
        return [(left.end_byte, right.start_byte, f" *= {one} / ")]
    return [(left.end_byte, right.start_byte, f" * ({one} / "), (right.end_byte,) * 2 + (")",)]


def _rounded(source: Source, fn: Function, node: Node) -> bool:
    """Return whether a quotient becomes a whole number, which an ulp can change by one."""
    for outer in ancestors(node, fn.body):
        if outer.type in ("subscript_expression", "subscript_argument_list"):
            return True
        if outer.type == "call_expression":
            name = source.of(field(outer, "function")).removeprefix("std::").rstrip("f")
            return name in _ROUNDING
        if outer.type == "cast_expression":
            return source.resolved(fn.type_of(outer) or "") not in _FLOATS
        if outer.type in ("init_declarator", "assignment_expression"):
            first = next(walk(outer, "identifier"), None)
            variable = fn.variables.of(first) if first is not None else None
            return variable is not None and source.resolved(variable.element) in _WHOLE
        if outer.type.endswith("_statement"):
            return False
    return False


def _spelled(source: Source, node: Node) -> str:
    """Return the type of the floating literal that a macro stands for; empty for others."""
    macro = source.macros_in_force.get(source.plain(stripped(node)))
    if macro is None:
        return ""
    return "float" if macro.body.strip(" ()")[-1:] in ("f", "F") else "double"


def _value(source: Source, fn: Function, node: Node | None, depth: int = 0) -> float | None:
    """Return the number that a literal, a cast of one or a name for one stands for."""
    node = stripped(node)
    if node is None or depth > _LINKS:
        return None
    if node.type == "number_literal":
        return number(source.of(node))
    if node.type == "cast_expression":
        return _value(source, fn, field(node, "value"), depth + 1)
    if node.type == "unary_expression" and operator(node) == "-":
        inner = _value(source, fn, field(node, "argument"), depth + 1)
        return -inner if inner is not None else None
    if node.type != "identifier":
        return None
    variable = fn.variables.of(node)
    if variable is not None:
        fixed = variable.const and variable.settled and variable.space == "local"
        return _value(source, fn, variable.init, depth + 1) if fixed else None
    name = source.of(node)
    macro = source.macros_in_force.get(name)
    known = source.constant(name)
    if known is not None:
        return float(known)
    if macro is None or macro.parameters is not None:
        return None
    return number(macro.body.strip().removeprefix("(").removesuffix(")"))


def number(text: str) -> float | None:
    """Return the value of a floating or integer literal.

    >>> number("1.5e3f"), number("255"), number("0x10"), number("2147483647ULL"), number("x")
    (1500.0, 255.0, 16.0, 2147483647.0, None)
    """
    plain = text.strip().replace("'", "").lower()
    try:
        if plain.startswith("0x"):
            return float(int(plain.rstrip("ul"), 16))
        return float(plain.rstrip("ulf"))
    except ValueError:
        return None


# -- roots ---------------------------------------------------------------------------------------


def _call(source: Source, fn: Function, node: Node | None) -> tuple[Node, str] | None:
    """Return the argument list of a square root and the type it is computed in."""
    call = stripped(node)
    if call is None or call.type != "call_expression":
        return None
    name = source.of(field(call, "function")).removeprefix("std::")
    listed = field(call, "arguments")
    if name not in ("sqrt", "sqrtf") or listed is None or len(listed.named_children) != 1:
        return None
    if source.function(name) is not None:
        return None
    kind = "float" if name == "sqrtf" else _type(source, fn, listed.named_children[0])
    return (listed, kind) if kind in _FLOATS else None


def _root(
    source: Source, fn: Function, node: Node, left: Node, right: Node
) -> list[Replacement] | None:
    found = _call(source, fn, right)
    if found is None:
        return None
    listed, kind = found
    over = _type(source, fn, left)
    if over not in (kind, "int", "float"):
        return None
    name = "rsqrtf" if kind == "float" else "rsqrt"
    tail = (listed.end_byte, right.end_byte, "")
    if operator(node) == "/=":
        return [(left.end_byte, listed.start_byte, f" *= {name}"), tail]
    one = stripped(left)
    if one is not None and one.type == "number_literal" and number(source.of(one)) == 1.0:
        return [(node.start_byte, listed.start_byte, name), tail]
    return [(left.end_byte, listed.start_byte, f" * {name}"), tail]


# -- distances -----------------------------------------------------------------------------------


def _distance(source: Source, fn: Function, node: Node) -> list[Replacement] | None:
    left, right, sign = field(node, "left"), field(node, "right"), operator(node)
    found = _call(source, fn, left)
    root, bound = left, right
    if found is None:
        found, sign = _call(source, fn, right), {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[sign]
        root, bound = right, left
    if found is None or root is None or bound is None:
        return None
    listed, kind = found
    value = _value(source, fn, bound)
    inner = listed.named_children[0]
    if value is None or not 1e-10 < value < 1e10 or not _squares(source, fn, inner):
        return None
    if kind == "float" and _type(source, fn, bound) == "double":
        return None
    if kind == "float":
        value = _single(value)
    text = limit(value, kind, largest=sign in ("<=", ">"))
    return [
        (root.start_byte, inner.start_byte, ""),
        (inner.end_byte, root.end_byte, ""),
        (*span(bound), text),
    ]


def _squares(source: Source, fn: Function, node: Node | None) -> bool:
    """Return whether an expression is a sum of products of something with itself."""
    node = stripped(node)
    if node is None or node.type != "binary_expression" or not fn.is_pure(node):
        return False
    left, right = field(node, "left"), field(node, "right")
    if operator(node) == "+":
        return _squares(source, fn, left) and _squares(source, fn, right)
    same = source.plain(stripped(left)) == source.plain(stripped(right))
    return operator(node) == "*" and same and _type(source, fn, node) in _FLOATS


def limit(value: float, kind: str, *, largest: bool) -> str:
    """Write the largest number whose root is at most a value, or the least whose root reaches it.

    >>> limit(1.0, "double", largest=True), limit(0.5, "float", largest=False)
    ('1.0000000000000002', '0.25f')
    """
    single = kind == "float"

    def passes(square: float) -> bool:
        root = math.sqrt(square)
        root = _single(root) if single else root
        return root <= value if largest else root >= value

    at = _single(value * value) if single else value * value
    while passes(at):
        at = _next(at, up=largest, single=single)
    while not passes(at):
        at = _next(at, up=not largest, single=single)
    if not single:
        return repr(at)
    text = f"{at:.9g}"
    short = next((s for n in range(1, 9) if _single(float(s := f"{at:.{n}g}")) == at), text)
    return f"{short}f" if "." in short or "e" in short else f"{short}.0f"


def _single(value: float) -> float:
    found: float = struct.unpack("f", struct.pack("f", value))[0]
    return found


def _next(value: float, *, up: bool, single: bool) -> float:
    if not single:
        return math.nextafter(value, math.inf if up else 0.0)
    bits: int = struct.unpack("I", struct.pack("f", value))[0]
    found: float = struct.unpack("f", struct.pack("I", bits + (1 if up else -1)))[0]
    return found
