"""Write powers with small constant exponents as products and roots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.functions import Call, Function
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import span, stripped

_NAME = "power-product"
_SIMPLE = frozenset({"identifier", "number_literal", "field_expression", "subscript_expression"})
# A product of the text twice is what a person writes; longer ones would hide the line's meaning.
_LONGEST = 40
_LARGEST = 8


def power_product(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Replace `pow(x, 2)` by `x * x`, `pow(x, 1.5f)` by `x * sqrtf(x)` and the like.

    `pow` of a run-time exponent costs some forty instructions and a slow path. Legal where the
    exponent is a constant multiple of one half and the base has no side effects; the results
    differ by rounding only. `pow(x, 2)` of a float is a double: first so, then in floats.
    """
    del findings
    source = Source(kernel.source)
    exact = _edits(source, narrow=False)
    if exact:
        yield _edit(source, exact, "write powers as products")
    narrow = _edits(source, narrow=True)
    if narrow != exact:
        yield _edit(source, narrow, "write powers of floats as products of floats")


def _edits(source: Source, *, narrow: bool) -> dict[Replacement, int]:
    """Return what is put where, with the lines; `narrow`: floats to a whole power stay floats."""
    edits: dict[Replacement, int] = {}
    for fn in (*source.kernels, *source.device_functions):
        if fn.broken or "__host__" in fn.qualifiers:
            continue
        inner_end = -1
        for call in sorted(fn.calls_of("pow", "powf"), key=lambda c: span(c.node)):
            text = _product(source, fn, call, narrow=narrow)
            if text is not None and call.node.start_byte >= inner_end:
                inner_end = call.node.end_byte
                edits[*span(call.node), text] = call.line
    return edits


def _edit(source: Source, edits: dict[Replacement, int], title: str) -> Edit:
    return Edit(
        title,
        source.replace(sorted(edits)),
        f"rule:{_NAME}",
        "Line "
        + ", ".join(str(n) for n in dict.fromkeys(edits.values()))
        + ": the exponent is a small constant, a product costs a few instructions.",
        _NAME,
        1.5,
    )


def _product(source: Source, fn: Function, call: Call, *, narrow: bool) -> str | None:
    if len(call.arguments) != 2 or source.function(call.name):
        return None
    base, exponent = call.arguments
    halves = _halves(source, exponent)
    if halves is None or halves == 0 or abs(halves) > 2 * _LARGEST or not fn.is_pure(base):
        return None
    kind = _kind(fn, call, narrow=narrow)
    if kind is None or (kind == "cast" and halves < 0):
        return None
    text = source.of(base)
    inner = stripped(base)
    if inner is None or (len(text) > _LONGEST and abs(halves) > 2):
        return None
    factor = text if inner.type in _SIMPLE and inner.id == base.id else f"({text})"
    if kind == "cast":
        factor = f"(double){factor}"
    root = "sqrtf" if kind == "float" else "sqrt"
    factors = [factor] * (abs(halves) // 2) + [f"{root}({text})"] * (abs(halves) % 2)
    product = " * ".join(factors)
    one = "1.0f" if kind == "float" else "1.0"
    if halves < 0:
        return f"({one} / ({product}))" if len(factors) > 1 else f"({one} / {product})"
    if len(factors) == 1:
        return factors[0]
    return f"({product})"


def _kind(fn: Function, call: Call, *, narrow: bool) -> str | None:
    """Return the type the product is computed in: float, double, cast (to double) or None.

    `pow` of a float and an int is a double, since C++11.
    """
    base, exponent = (fn.type_of(a) for a in call.arguments)
    if call.name == "powf":
        return "float" if base in ("float", None) else None
    if base == "float":
        return "float" if exponent == "float" or (narrow and exponent == "int") else "cast"
    if base == "double":
        return "double"
    return "cast" if base == "int" else None


def _halves(source: Source, node: Node) -> int | None:
    """Return an exponent in halves: 3 for `1.5f`; None when it is no multiple of one half."""
    text = source.plain(stripped(node)).rstrip("fF")
    sign = -1 if text.startswith("-") else 1
    text = text.removeprefix("-").strip()
    try:
        value = float(text) if text and text[0] in "0123456789." else None
    except ValueError:
        return None
    if value is None or value > _LARGEST or value * 2 != int(value * 2):
        return None
    return sign * int(value * 2)
