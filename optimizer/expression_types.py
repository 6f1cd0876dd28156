"""The types of expressions, as far as a file tells them: `float` for `a[i]` of `const float* a`."""

from __future__ import annotations

from tree_sitter import Node

from optimizer.affine import BUILTINS
from optimizer.intrinsics import MATH
from optimizer.surroundings import File
from optimizer.syntax import field, operator, stripped
from optimizer.tokens import integer
from optimizer.variables import Variables


class ExpressionTypes:
    """Tells types in a function of a file; None where it is not sure."""

    def __init__(self, file: File, variables: Variables) -> None:
        self._file, self._variables = file, variables

    def of(self, node: Node | None) -> str | None:  # noqa: C901  one case a node type
        """Return the type of an expression in simple cases, without const; else None.

        >>> # `float` for `a[i]` of `const float* a`, `int` for `i + 1`, `double` for `1.0`
        """
        node = stripped(node)
        if node is None:
            return None
        kind = node.type
        if kind == "number_literal":
            return _literal_type(self._file.syntax.of(node))
        if kind == "identifier":
            variable = self._variables.of(node)
            if variable is None:
                return (
                    "int" if self._file.constant(self._file.syntax.of(node)) is not None else None
                )
            if variable.element == "auto":
                return self.of(variable.init)
            if variable.is_array:
                return variable.element + "*" * (variable.depth + len(variable.extents))
            return variable.element + "*" * variable.depth
        if kind == "cast_expression":
            return self._file.syntax.plain(field(node, "type")).replace("const ", "")
        if kind == "subscript_expression" or (
            kind == "pointer_expression" and operator(node) == "*"
        ):
            base = self.of(field(node, "argument"))
            return base[:-1] if base is not None and base.endswith("*") else None
        if kind == "field_expression":
            return self._member_type(node)
        if kind in ("unary_expression", "update_expression"):
            return "bool" if operator(node) == "!" else self.of(field(node, "argument"))
        if kind == "assignment_expression":
            return self.of(field(node, "left"))
        if kind == "binary_expression":
            if operator(node) in _COMPARISONS:
                return "bool"
            return _wider(self.of(field(node, "left")), self.of(field(node, "right")))
        if kind == "call_expression":
            return self._call_type(node)
        return None

    def _member_type(self, node: Node) -> str | None:
        base = field(node, "argument")
        if base is not None and self._file.syntax.of(base) in BUILTINS:
            return "unsigned int"
        outer = (self.of(base) or "").removeprefix("struct ").rstrip("*")
        found = self._file.members.get(outer, {}).get(self._file.syntax.of(field(node, "field")))
        return found or _VECTORS.get(outer.rstrip("1234"))

    def _call_type(self, node: Node) -> str | None:
        name = self._file.syntax.plain(field(node, "function"))
        if name.startswith(("static_cast<", "reinterpret_cast<")):
            return name[name.index("<") + 1 : -1].removeprefix("const ")
        if name.startswith("(") and name.endswith(")"):
            return self._file.aliases.get(name[1:-1], name[1:-1])  # `(real)(x)`
        arguments = field(node, "arguments")
        first = arguments.named_children[0] if arguments and arguments.named_children else None
        if name in ("__ldg", "__ldcs", "__ldcg", "__ldca"):
            base = self.of(first)
            if first is not None and first.type == "pointer_expression":
                return self.of(field(first, "argument"))
            return base[:-1] if base is not None and base.endswith("*") else None
        if name in ("min", "max") and arguments is not None and len(arguments.named_children) == 2:
            return _wider(*(self.of(a) for a in arguments.named_children))
        if (
            name.startswith("__shfl")
            and arguments is not None
            and len(arguments.named_children) > 1
        ):
            return self.of(arguments.named_children[1])
        if name in _TO_FLOAT or (name.startswith("__") and name.endswith("f") and name[2:] in MATH):
            return "float"
        if name in MATH:
            if name.endswith("f") and name != "erf":
                return "float"
            given = arguments.named_children if arguments is not None else []
            kinds = {self.of(a) for a in given}  # C++ overloads the plain names
            return "float" if kinds == {"float"} else "double"
        return name if name in ("float", "double", "int") else self._file.returned(name)


def _literal_type(text: str) -> str | None:
    lowered = text.lower()
    if integer(text) is not None:
        tail = lowered.lstrip("0123456789abcdefx'")
        return "unsigned int" if "u" in tail else "long" if "l" in tail else "int"
    if lowered.endswith("f") and not lowered.startswith("0x"):
        return "float"
    return "double" if "." in lowered or "e" in lowered else None


_RANKS = {"bool": 0, "char": 0, "short": 0, "int": 1, "unsigned int": 2, "unsigned": 2,
          "long": 3, "size_t": 4, "long long": 3, "float": 5, "double": 6}  # fmt: skip


def _wider(one: str | None, other: str | None) -> str | None:
    if one is None or other is None:
        return None
    if one.endswith("*"):
        return one
    if other.endswith("*"):
        return other
    if one not in _RANKS or other not in _RANKS:
        return one if one == other else None
    found = max(one, other, key=lambda t: _RANKS[t])
    return found if _RANKS[found] else "int"


_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!=", "&&", "||"})
_VECTORS = {
    "float": "float", "double": "double", "int": "int", "uint": "unsigned int",
    "short": "short", "uchar": "unsigned char", "char": "char", "dim": "unsigned int",
}  # fmt: skip
_TO_FLOAT = frozenset({
    "__fdividef", "__half2float", "__bfloat162float", "__int2float_rn", "__uint2float_rn",
    "__frcp_rn", "__fsqrt_rn", "__frsqrt_rn", "__fdiv_rn", "__fmaf_rn", "__fmul_rn", "__fadd_rn",
    "__int_as_float", "__uint_as_float", "__saturatef", "__double2float_rn",
})  # fmt: skip
