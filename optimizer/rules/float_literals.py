"""Keep float code in float: `1.0` and `exp` are double and drag the expression with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.functions import Call, Function
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, field, span, walk

_NAME = "float-literals"
# Functions whose float form is the name with an `f` behind it. CUDA overloads the plain names for
# float arguments in C++, so that a plain name is slow only where an argument is double or, with
# two arguments, where one is an integer: that makes the call one of double.
_FORMS = frozenset({
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2",
    "log", "log2", "log10", "log1p", "expm1", "pow", "sqrt", "rsqrt", "cbrt", "fabs", "fmin",
    "fmax", "floor", "ceil", "round", "erf", "erfc", "fmod", "hypot",
})  # fmt: skip


def float_literals(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Write double literals and double functions as float ones where the data are float.

    Legal where every named operand of the whole expression is float or integer and what becomes
    of it is float: then double was only the type of a constant in between. Rounding differs by
    parts in 1e7, which the verification bounds.
    """
    del findings
    source = Source(kernel.source)
    edits: list[Replacement] = []
    touched: list[str] = []
    for fn in (*source.kernels, *source.device_functions):
        if fn.broken or "__host__" in fn.qualifiers:
            continue
        found = list(_of_function(source, fn))
        if found:
            edits += found
            touched.append(fn.name)
    if edits:
        names = ", ".join(f"`{n}`" for n in dict.fromkeys(touched))
        yield Edit(
            f"keep {names} in single precision",
            source.replace(sorted(set(edits))),
            f"rule:{_NAME}",
            "A literal without `f` is double: the compiler converts, computes in FP64 and converts"
            " back, although operands and result are float.",
            _NAME,
            1.3,
        )


def _of_function(source: Source, fn: Function) -> Iterator[Replacement]:
    if source.resolved(fn.signature.returns).split()[-1:] == ["double"]:
        return
    narrow = _NARROW | _narrow_structs(source)
    wide = {v.name for v in fn.variables.all if v.element not in narrow}
    for node in fn.double_literals:
        whole = _expression(node)
        if not _names(source, whole) & wide and not _double_cast(source, whole):
            yield (node.end_byte, node.end_byte, "f")
    for node in walk(fn.body, "identifier"):
        if _double_macro(source, source.of(node)) and not _is_cast(node):
            whole = _expression(node)
            if not _names(source, whole) & wide and not _double_cast(source, whole):
                yield (node.start_byte, node.start_byte, "(float)")
    for call in fn.calls:
        if call.name in _FORMS and _float_only(source, fn, call, wide):
            function = field(call.node, "function")
            if function is not None and source.of(function) == call.name:
                yield (*span(function), f"{call.name}f")


def _float_only(source: Source, fn: Function, call: Call, wide: set[str]) -> bool:
    whole = _expression(call.node)
    if _names(source, whole) & wide or _double_cast(source, whole):
        return False
    types = {fn.type_of(a) for a in call.arguments}
    if call.name == "fabs" or types == {"float"} or len(call.arguments) == 1:
        return False  # the overload for float is taken once the literals are float
    mixed = bool(types & _WHOLE) and ("float" in types or _literals(fn, call))
    return mixed and None not in types


def _literals(fn: Function, call: Call) -> bool:
    return any(_has_double_literal(fn, a) for a in call.arguments)


def _double_macro(source: Source, name: str) -> bool:
    """Return whether a name stands for a double number: `M_PI`, `#define EPS 1e-6`."""
    macro = source.macros_in_force.get(name)
    if macro is None or macro.parameters is not None:
        return name in _DOUBLE_MACROS
    return bool(_NUMBER.fullmatch(macro.body.strip().strip("()")))


def _is_cast(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "cast_expression"


def _narrow_structs(source: Source) -> frozenset[str]:
    """Return the structs of the file that hold no double and no type from elsewhere."""
    found: set[str] = set()
    if "struct" not in source.text:
        return frozenset()
    for node in walk(source.syntax.root, "struct_specifier"):
        body = field(node, "body")
        if body is None:
            continue
        types = {
            source.resolved(source.plain(field(d, "type"))) for d in walk(body, "field_declaration")
        }
        if not types <= _NARROW:
            continue
        names = {source.of(field(node, "name"))}
        if node.parent is not None and node.parent.type == "type_definition":
            names |= {source.of(n) for n in node.parent.children_by_field_name("declarator")}
        found |= names - {""}
    return frozenset(found)


def _has_double_literal(fn: Function, node: Node) -> bool:
    low, high = span(node)
    return any(low <= n.start_byte < high for n in fn.double_literals)


def _expression(node: Node) -> Node:
    """Return the largest expression around a literal: what its type spreads to."""
    found = node
    for outer in ancestors(node):
        if outer.type not in _SPREADING:
            break
        found = outer
        if outer.type in ("assignment_expression", "init_declarator"):
            break
    return found


_NUMBER = re.compile(r"-?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?")
# Types that lose nothing when the constants beside them are float. A typedef may be double.
_NARROW = frozenset({
    "float", "float2", "float3", "float4", "half", "__half", "int", "unsigned", "unsigned int",
    "short", "unsigned short", "char", "unsigned char", "signed char", "bool", "size_t", "long",
    "int32_t", "uint32_t", "uint8_t", "int8_t", "int16_t", "uint16_t", "uint", "uchar", "int2",
    "dim3", "long long", "unsigned long long", "int64_t", "uint64_t", "unsigned long",
})  # fmt: skip
_WHOLE = frozenset({"int", "unsigned", "unsigned int", "long", "short", "char"})
_DOUBLE_MACROS = frozenset({
    "M_PI", "M_PI_2", "M_PI_4", "M_E", "M_SQRT2", "M_SQRT1_2", "M_LN2", "M_LN10", "M_1_PI",
    "M_2_PI", "M_2_SQRTPI", "M_LOG2E", "M_LOG10E",
})  # fmt: skip
_SPREADING = frozenset({
    "binary_expression", "unary_expression", "parenthesized_expression", "argument_list",
    "call_expression", "conditional_expression", "assignment_expression", "init_declarator",
    "cast_expression", "return_statement", "initializer_list",
})  # fmt: skip


def _names(source: Source, node: Node) -> set[str]:
    return {source.of(n) for n in walk(node, "identifier", "field_identifier")}


def _double_cast(source: Source, node: Node) -> bool:
    return any(
        "double" in source.plain(field(n, "type")) for n in walk(node, "cast_expression")
    ) or any("double" in source.of(n) for n in walk(node, "template_function", "primitive_type"))
