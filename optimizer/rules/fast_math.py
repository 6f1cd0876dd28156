"""Use the special-function unit: intrinsics of a few ulp instead of the exact library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import field, operator, span, stripped

_NAME = "fast-math"
# CUDA C++ Programming Guide, "Intrinsic Functions": error bounds are 2 ulp + a term that grows
# with the argument for exp, absolute 2^-21.4 inside [-pi, pi] for sine and cosine.
_INTRINSICS = {
    "expf": "__expf", "logf": "__logf", "log2f": "__log2f", "log10f": "__log10f",
    "sinf": "__sinf", "cosf": "__cosf", "powf": "__powf", "exp10f": "__exp10f",
}  # fmt: skip
# C++ overloads of float arguments.
_OVERLOADS = {name.removesuffix("f"): fast for name, fast in _INTRINSICS.items()}
_TESTS = ("isnan", "isinf", "isfinite", "signbit", "__isnanf", "__isinff")


def fast_math(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Replace float library calls by intrinsics and float division by `__fdividef`.

    First each kind alone where there are several, so that accuracy is only given up where it pays.
    Nothing where a function tests for NaN or infinity: the intrinsics treat those differently.
    """
    del findings
    source = Source(kernel.source)
    calls: list[Replacement] = []
    divisions: list[Replacement] = []
    tested = any(fn.calls_of(*_TESTS) for fn in source.functions)
    for fn in (*source.kernels, *source.device_functions):
        if fn.broken or tested or "__host__" in fn.qualifiers:
            continue
        calls += _calls(source, fn)
        divisions += _divisions(source, fn)
    rationale = (
        "Exact division and library functions are sequences of many instructions; the intrinsics"
        " map to the special-function unit. Accepted only where the results stay in tolerance."
    )
    if calls and divisions:
        everything = source.replace(sorted([*calls, *divisions]))
        yield _edit("use fast intrinsics and fast division", everything, rationale, 1.25)
    if calls:
        yield _edit("use fast intrinsics", source.replace(sorted(calls)), rationale, 1.15)
    if divisions:
        yield _edit("use fast division", source.replace(sorted(divisions)), rationale, 1.1)


def _edit(title: str, text: str, rationale: str, predicted: float) -> Edit:
    return Edit(title, text, f"rule:{_NAME}", rationale, _NAME, predicted)


def _calls(source: Source, fn: Function) -> Iterator[Replacement]:
    for call in fn.calls:
        function = field(call.node, "function")
        if function is None or source.of(function) != call.name or source.function(call.name):
            continue
        fast = _INTRINSICS.get(call.name)
        if fast is None and call.name in _OVERLOADS:
            types = {fn.type_of(a) for a in call.arguments}
            fast = _OVERLOADS[call.name] if types == {"float"} else None
        if fast is not None:
            yield (*span(function), fast)


def _divisions(source: Source, fn: Function) -> Iterator[Replacement]:
    """Yield the insertions that turn `a / b` of floats into `__fdividef(a, b)`; none nested."""
    last = (-1, -1)
    for node in fn.divisions:
        if operator(node) != "/":
            continue
        left, right = field(node, "left"), field(node, "right")
        if left is None or right is None or "float" not in (fn.type_of(left), fn.type_of(right)):
            continue
        if fn.type_of(node) != "float" or _constant(right):
            continue
        if last[0] <= node.start_byte < last[1]:
            continue
        last = span(node)
        root = _root(source, right) if _one(source, left) else None
        if root is not None:
            yield (node.start_byte, root.start_byte, "rsqrtf")
            continue
        yield (node.start_byte, node.start_byte, "__fdividef(")
        yield (left.end_byte, right.start_byte, ", ")
        yield (node.end_byte, node.end_byte, ")")


def _root(source: Source, node: Node) -> Node | None:
    """Return the argument list when a node is a square root, else None."""
    call = stripped(node)
    if call is None or call.type != "call_expression" or call.end_byte != node.end_byte:
        return None
    name = source.of(field(call, "function"))
    return field(call, "arguments") if name in ("sqrt", "sqrtf") else None


def _constant(node: Node) -> bool:
    found = stripped(node)
    return found is not None and found.type == "number_literal"


def _one(source: Source, node: Node) -> bool:
    return source.plain(stripped(node)).rstrip("f") in ("1", "1.", "1.0")
