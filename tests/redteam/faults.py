"""Small faults in device code, one at a place: what a mutation test sows.

Each operator names a kind of mistake that people make in CUDA and finds, on the syntax tree, where it
could be made in bodies of `__global__` and `__device__` functions. A fault is one of them: the text
with that place changed and nothing else. Whether it does any harm is for others to say: a barrier
may have been one too many.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.source import Source
from optimizer.spans import Replacement, replace
from optimizer.syntax import (
    STATEMENTS,
    Span,
    ancestors,
    field,
    operator,
    span,
    statement,
    stripped,
    walk,
)

# What stands at a place and is written there, in one or more pieces.
Found = Iterator[list[Replacement]]
Operator = Callable[[Source, Function, Node], Found]


@dataclass(frozen=True, slots=True)
class Fault:
    """A text with one fault. `place` is the span of the sound text that it changes."""

    operator: str
    line: int
    place: Span
    text: str


_BARRIERS = frozenset({"__syncthreads", "__syncwarp"})
_BARRIER_CALL = re.compile(r"(\w+\.sync\(\)|(\w+::)+sync\(\w+\))")
_FENCES = re.compile(
    r"(__threadfence\w*|__pipeline_wait_prior|(\w+::)*wait(_prior<\d+>)?)\(.*\)"
    r"|asm\b.*(cp\.async(\.bulk)?\.wait|fence).*",
    re.DOTALL,
)
_LESS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_EXTREMES = {
    "max": "min", "min": "max", "fmaxf": "fminf", "fminf": "fmaxf", "fmax": "fmin", "fmin": "fmax",
    "atomicMax": "atomicMin", "atomicMin": "atomicMax", "__reduce_max_sync": "__reduce_min_sync",
    "__reduce_min_sync": "__reduce_max_sync", "umax": "umin", "umin": "umax",
}  # fmt: skip
_INFINITIES = frozenset({"INFINITY", "FLT_MAX", "CUDART_INF_F", "DBL_MAX", "INT_MAX", "INT_MIN"})
_WIDE = frozenset({
    "size_t", "long long", "unsigned long long", "int64_t", "uint64_t", "long long int", "long",
})  # fmt: skip
_WHOLE = re.compile(r"(0[xX][0-9a-fA-F]+|[1-9]\d*|0)([uUlL]*)")
_REAL = re.compile(r"(?=[\d.]*[.eEfF])(\d+\.?\d*|\.\d+)((?:[eE][+-]?\d+)?[fF]?)")
_MASK = re.compile(r"0[xX][fF]{8}[uU]?|~0[uU]?|-1")
_ATOMICS = {"atomicAdd": "+", "atomicSub": "-", "atomicOr": "|", "atomicAnd": "&", "atomicXor": "^"}
_WARP_CALL = re.compile(r"__(shfl\w*|ballot|any|all|reduce_\w+|match_\w+)_sync")
# A number in these sizes or chooses something that the compiler needs, or is no number of CUDA's.
_APART = frozenset({
    "array_declarator", "template_argument_list", "static_assert_declaration", "gnu_asm_expression",
    "case_statement", "subscript_designator",
})  # fmt: skip
_LOOPS = ("for_statement", "while_statement", "do_statement")
# Rounds to 11 bits as half precision does, without a header and with the exponents of float.
_HALF = "__uint_as_float((__float_as_uint({0}) + 0x1000u) & 0xffffe000u)"


def faults(text: str) -> list[Fault]:
    """Return every fault that the operators see, in order of their places.

    What leaves brackets unpaired is left out; whether the grammar understands the others, `sound`
    tells.
    """
    source = Source(text)
    found: list[Fault] = []
    for fn in (*source.kernels, *source.device_functions):
        if fn.body.has_error or fn.conditional or "__host__" in fn.qualifiers:
            continue
        for node in walk(fn.body):
            for name, look in OPERATORS.items():
                for edits in look(source, fn, node):
                    place = (min(e[0] for e in edits), max(e[1] for e in edits))
                    changed = replace(text, edits)
                    fault = Fault(name, source.syntax.line(place[0]), place, changed)
                    if changed != text and _pairs(text) == _pairs(changed):
                        found.append(fault)
    return sorted(dict.fromkeys(found), key=lambda one: (one.place, one.operator, one.text))


def sound(text: str, fault: Fault) -> bool:
    """Tell whether the grammar understands a text with a fault where it understood it without."""
    return not Source(fault.text).syntax.root.has_error or Source(text).syntax.root.has_error


def _pairs(text: str) -> list[int]:
    return [text.count(a) - text.count(b) for a, b in ("()", "[]", "{}")]


# -- what stands where ---------------------------------------------------------------------------


def _called(source: Source, node: Node) -> str:
    """Return the name of what a call calls; empty for other nodes."""
    return source.of(field(node, "function")) if node.type == "call_expression" else ""


def _arguments(node: Node) -> list[Node]:
    listed = field(node, "arguments")
    return [] if listed is None else list(listed.named_children)


def _in_header(node: Node, fn: Function, *parts: str) -> Node | None:
    """Return the `for` or `while` in one of whose named header parts a node stands."""
    inner = node
    for outer in ancestors(node, fn.body):
        if outer.type in _LOOPS and any(field(outer, part) == inner for part in parts):
            return outer
        inner = outer
    return None


def _asked(node: Node, fn: Function) -> bool:
    """Tell whether a node stands in the condition of an `if` or of `?:`."""
    inner = node
    for outer in ancestors(node, fn.body):
        if outer.type in ("if_statement", "conditional_expression"):
            return field(outer, "condition") == inner
        if outer.type in STATEMENTS:
            return False
        inner = outer
    return False


def _apart(node: Node, fn: Function) -> bool:
    return any(outer.type in _APART for outer in ancestors(node, fn.body))


def _dropped(node: Node) -> list[Replacement]:
    """Return what leaves an empty statement in a statement's place, valid wherever it stood."""
    return [(*span(node), ";")]


def _sign(source: Source, node: Node, new: str) -> Found:
    """Write another sign between two operands."""
    left, right = field(node, "left"), field(node, "right")
    old = operator(node)
    if left is None or right is None:
        return
    gap = source.text[left.end_byte : right.start_byte]
    if gap.count(old) == 1:
        at = left.end_byte + gap.index(old)
        yield [(at, at + len(old), new)]


def _barrier_like(source: Source, node: Node) -> bool:
    if node.type != "expression_statement" or not node.named_children:
        return False
    call = node.named_children[0]
    name = _called(source, call)
    return name in _BARRIERS or (
        bool(name) and _BARRIER_CALL.fullmatch(source.syntax.plain(call)) is not None
    )


# -- synchronisation -----------------------------------------------------------------------------


def _barrier(source: Source, fn: Function, node: Node) -> Found:
    del fn
    if _barrier_like(source, node):
        yield _dropped(node)


def _order(source: Source, fn: Function, node: Node) -> Found:
    """Move a barrier behind what follows it, or in front of what it follows."""
    del fn
    if not _barrier_like(source, node):
        return
    for other in (node.next_named_sibling, node.prev_named_sibling):
        if other is None or other.type not in STATEMENTS or other.type in _STAYS:
            continue
        first, second = sorted((node, other), key=lambda one: one.start_byte)
        before = source.text[: first.start_byte].rstrip().rpartition("\n")[2]
        between = source.text[first.end_byte : second.start_byte]
        if "#" not in before and not between.strip() and not _barrier_like(source, other):
            yield [(*span(first), source.of(second)), (*span(second), source.of(first))]


_STAYS = frozenset({"declaration", "return_statement", "break_statement", "continue_statement"})


def _fence(source: Source, fn: Function, node: Node) -> Found:
    del fn
    if node.type == "expression_statement":
        text = source.syntax.plain(node).rstrip(";")
        if not _barrier_like(source, node) and _FENCES.fullmatch(text):
            yield _dropped(node)


def _volatile(source: Source, fn: Function, node: Node) -> Found:
    del fn
    if node.type == "type_qualifier" and source.of(node) == "volatile":
        yield [(*span(node), "")]


def _mask(source: Source, fn: Function, node: Node) -> Found:
    """Name half of the lanes in the mask of a warp's call."""
    del fn
    if _WARP_CALL.fullmatch(_called(source, node)):
        first = _arguments(node)[:1]
        if first and _MASK.fullmatch(source.of(first[0])):
            yield [(*span(first[0]), "0xffffu")]


def _atomic(source: Source, fn: Function, node: Node) -> Found:
    """Read, add and write apart. Where the old value is used, it is worked out again."""
    del fn
    name, given = _called(source, node), [source.of(a) for a in _arguments(node)]
    if name not in (*_ATOMICS, "atomicMax", "atomicMin", "atomicExch") or len(given) != 2:
        return
    place, value = given
    target = place[1:] if place.startswith("&") else f"*({place})"
    parent = node.parent
    if parent is not None and parent.type == "expression_statement":
        if name in _ATOMICS:
            yield [(*span(node), f"{target} {_ATOMICS[name]}= {value}")]
        elif name == "atomicExch":
            yield [(*span(node), f"{target} = {value}")]
        else:
            word = name.removeprefix("atomic").lower()
            yield [(*span(node), f"{target} = {word}({target}, {value})")]
    elif name == "atomicAdd":
        yield [(*span(node), f"(({target} += {value}) - ({value}))")]


# -- bounds and branches -------------------------------------------------------------------------


def _loop_bound(source: Source, fn: Function, node: Node) -> Found:
    """Take a round more or one less. What counts down to zero could go on for ever."""
    if node.type != "binary_expression" or operator(node) not in _LESS:
        return
    loop = _in_header(node, fn, "condition")
    down = operator(node) == ">" and source.of(field(node, "right")) == "0"
    if loop is not None and loop.type == "for_statement" and not down:
        yield from _sign(source, node, _LESS[operator(node)])


def _guard_bound(source: Source, fn: Function, node: Node) -> Found:
    if node.type == "binary_expression" and operator(node) in _LESS and _asked(node, fn):
        yield from _sign(source, node, _LESS[operator(node)])


def _guard(source: Source, fn: Function, node: Node) -> Found:
    """Leave out an `if` that has no `else`: always do what it guards, or never leave."""
    if node.type != "if_statement" or field(node, "alternative") is not None:
        return
    condition, then = field(node, "condition"), field(node, "consequence")
    head = source.text[node.start_byte : condition.start_byte] if condition is not None else ""
    if then is None or condition is None or "constexpr" in head:
        return
    if any(True for _ in walk(condition, "declaration", "init_declarator")):
        return
    inner = then.named_children[0] if len(then.named_children) == 1 else then
    last = inner if then.type == "compound_statement" else then
    if last.type == "break_statement":
        return  # a loop without its end
    leaves = last.type in ("return_statement", "continue_statement")
    if leaves and any(a.type == "while_statement" for a in ancestors(node, fn.body)):
        return
    yield _dropped(node) if leaves else [(node.start_byte, then.start_byte, "")]


def _condition(source: Source, fn: Function, node: Node) -> Found:
    """Forget one of two conditions."""
    del source
    if node.type != "binary_expression" or operator(node) not in ("&&", "||"):
        return
    if _in_header(node, fn, "condition") is not None and not _asked(node, fn):
        return
    left, right = field(node, "left"), field(node, "right")
    if left is not None and right is not None:
        yield [(left.end_byte, right.end_byte, "")]
        yield [(left.start_byte, right.start_byte, "")]


def _branch(source: Source, fn: Function, node: Node) -> Found:
    """Forget an `else`; of `else if`, that branch alone and none of those behind it."""
    del source, fn
    if node.type == "else_clause" and node.parent is not None:
        then = field(node.parent, "consequence")
        other = node.named_children[-1]
        chained = other.type == "if_statement" and field(other, "alternative") is not None
        last = field(other, "consequence") if chained else node
        if then is not None and last is not None:
            yield [(then.end_byte, last.end_byte, "")]


def _tail(source: Source, fn: Function, node: Node) -> Found:
    """Forget a loop that goes on where another has stopped."""
    del source, fn
    at = node.prev_named_sibling if node.type == "for_statement" else None
    while at is not None and at.type in ("declaration", "expression_statement"):
        at = at.prev_named_sibling
    if at is not None and at.type in _LOOPS:
        yield _dropped(node)


# -- numbers -------------------------------------------------------------------------------------


def _constant(source: Source, fn: Function, node: Node) -> Found:
    """Add one to a whole number that is computed with."""
    found = _WHOLE.fullmatch(source.of(node)) if node.type == "number_literal" else None
    if found is None or _apart(node, fn):
        return
    if re.match(r"(static\s+)?constexpr\b", source.of(statement(node))):
        return  # sizes arrays, most often
    if _in_header(node, fn, "condition", "update", "initializer") is not None:
        return  # of loops by operators of their own
    call = node.parent.parent if node.parent is not None else None
    warp = call is not None and _WARP_CALL.fullmatch(_called(source, call)) is not None
    if warp and call is not None and _arguments(call)[0] == node:
        return  # a mask
    digits, suffix = found.groups()
    new = f"0x{int(digits, 16) + 1:x}" if digits[:2] in ("0x", "0X") else str(int(digits) + 1)
    yield [(*span(node), new + suffix)]


def _real_constant(source: Source, fn: Function, node: Node) -> Found:
    """Change the third digit of a number, or the last of a shorter one."""
    found = _REAL.fullmatch(source.of(node)) if node.type == "number_literal" else None
    if found is None or _apart(node, fn):
        return
    digits, rest = found.groups()
    first = next((at for at, c in enumerate(digits) if c in "123456789"), None)
    if first is None:
        return
    places = [at for at, c in enumerate(digits) if at >= first and c != "."]
    at = places[min(2, len(places) - 1)]
    new = str(int(digits[at]) + 1) if digits[at] != "9" else "8"
    yield [(*span(node), digits[:at] + new + digits[at + 1 :] + rest)]


def _plus(source: Source, fn: Function, node: Node) -> Found:
    """Take plus for minus."""
    other = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}.get(operator(node))
    if node.type not in ("binary_expression", "assignment_expression") or other is None:
        return
    if _in_header(node, fn, "condition", "update") is None and not _apart(node, fn):
        yield from _sign(source, node, other)


def _step(source: Source, fn: Function, node: Node) -> Found:
    """Step over what is next."""
    if _in_header(node, fn, "update") is None:
        return
    if node.type == "update_expression":
        name = source.of(field(node, "argument"))
        yield [(*span(node), f"{name} {operator(node)[:1]}= 2")]
    elif node.type == "assignment_expression":
        right = field(node, "right")
        more = {"+=": "{} + 1", "-=": "{} + 1", "*=": "{} * 2", "/=": "{} * 2"}
        more |= {">>=": "{} + 1", "<<=": "{} + 1"}
        if right is not None and operator(node) in more:
            written = source.of(right)
            plain = right.type in ("identifier", "number_literal", "field_expression")
            new = more[operator(node)].format(written if plain else f"({written})")
            yield [(*span(right), new)]


def _start(source: Source, fn: Function, node: Node) -> Found:
    """Begin a loop with the second that it should do."""
    del fn
    if node.type != "for_statement":
        return
    first, update = field(node, "initializer"), field(node, "update")
    written = re.sub(r"\s", "", source.of(update))
    for one in walk(first, "init_declarator", "assignment_expression") if first else ():
        value = field(one, "value") or field(one, "right")
        name = source.of(field(one, "declarator") or field(one, "left"))
        if value is None or not re.search(rf"\b{re.escape(name)}\b", written):
            continue
        text = source.of(value)
        if re.search(r"/=|>>=", written):
            yield [(*span(value), f"({text}) / 2")]
        elif re.search(r"\*=|<<=", written):
            yield [(*span(value), f"({text}) * 2")]
        elif re.search(r"--|-=", written):
            yield [(*span(value), f"{text} - 1")]
        else:
            yield [(*span(value), f"{text} + 1")]


def _index(source: Source, fn: Function, node: Node) -> Found:
    """Drop a term of an index."""
    del source
    if node.type != "binary_expression" or operator(node) != "+":
        return
    left, right = field(node, "left"), field(node, "right")
    for outer in ancestors(node, fn.body):
        if outer.type == "subscript_argument_list" and left is not None and right is not None:
            yield [(left.end_byte, right.end_byte, "")]
            yield [(left.start_byte, right.start_byte, "")]
        if outer.type not in ("parenthesized_expression", "binary_expression"):
            return


def _initialisation(source: Source, fn: Function, node: Node) -> Found:
    """Leave what is added up, or shared memory, as it was found."""
    if node.type == "init_declarator" and _in_header(node, fn, "initializer") is None:
        value, name = field(node, "value"), field(node, "declarator")
        if value is None or name is None or value.type != "number_literal":
            return
        known = fn.variables.of(name) if name.type == "identifier" else None
        if known is not None and known.is_scalar and known.changes and not known.const:
            yield [(name.end_byte, node.end_byte, "")]
    elif node.type == "expression_statement" and node.named_children:
        inner = node.named_children[0]
        value, target = field(inner, "right"), field(inner, "left")
        if inner.type != "assignment_expression" or operator(inner) != "=" or target is None:
            return
        root = next(walk(target, "identifier"), None)
        known = fn.variables.of(root) if root is not None else None
        plain = value is not None and value.type in ("number_literal", "unary_expression")
        if known is not None and known.space == "shared" and plain:
            yield _dropped(node)
    del source


# -- types and precision -------------------------------------------------------------------------


def _rounding(source: Source, fn: Function, node: Node) -> Found:
    """Keep what is worked out in between with the bits of a half."""
    if node.type == "init_declarator":
        value, target = field(node, "value"), field(node, "declarator")
    elif node.type == "assignment_expression" and operator(node) in ("=", "+=", "-=", "*="):
        value, target = field(node, "right"), field(node, "left")
    else:
        return
    if value is None or target is None or stripped(value) is None:
        return
    if value.type not in ("binary_expression", "call_expression", "subscript_expression"):
        return
    if source.resolved(fn.type_of(target) or "") == "float":
        yield [(*span(value), _HALF.format(source.of(value)))]


def _narrowed(source: Source, node: Node, words: frozenset[str], new: str) -> Found:
    """Give a cast, or what is declared, another type."""
    if node.type == "type_descriptor":
        outer = node.parent
        if outer is not None and outer.type == "template_argument_list":
            if not source.of(outer.parent).startswith("static_cast"):
                return
        elif outer is None or outer.type != "cast_expression":
            return
        if source.syntax.plain(node) in words:
            yield [(*span(node), new)]
    elif node.type == "declaration":
        kind = field(node, "type")
        memory = any(True for _ in walk(node, "pointer_declarator", "array_declarator"))
        memory = memory or "__shared__" in source.of(node)
        if kind is not None and source.syntax.plain(kind) in words and not memory:
            yield [(*span(kind), new)]
    elif node.type == "call_expression" and _called(source, node) in words:
        name = field(node, "function")
        assert name is not None
        yield [(*span(name), new)]


def _width(source: Source, fn: Function, node: Node) -> Found:
    """Count in int what needs more."""
    del fn
    yield from _narrowed(source, node, _WIDE, "int")


def _precision(source: Source, fn: Function, node: Node) -> Found:
    """Compute in float what was computed in double."""
    del fn
    yield from _narrowed(source, node, frozenset({"double"}), "float")


def _extreme(source: Source, fn: Function, node: Node) -> Found:
    """Take the greatest for the least."""
    del fn
    name = field(node, "function") if node.type == "call_expression" else None
    other = _EXTREMES.get(source.of(name).removeprefix("std::").removeprefix("::"))
    if name is not None and other is not None:
        yield [(*span(name), other)]


def _infinity(source: Source, fn: Function, node: Node) -> Found:
    """Begin a maximum with zero."""
    del fn
    if node.type == "identifier" and source.of(node) in _INFINITIES:
        whole = node.parent
        if whole is None or whole.type != "unary_expression":
            whole = node
        if whole.parent is None or operator(whole.parent) not in ("==", "!="):
            yield [(*span(whole), "0")]


# By the name that a table gives them.
OPERATORS: dict[str, Operator] = {
    "barrier": _barrier,
    "barrier-moved": _order,
    "fence": _fence,
    "volatile": _volatile,
    "mask": _mask,
    "atomic": _atomic,
    "loop-bound": _loop_bound,
    "loop-start": _start,
    "loop-step": _step,
    "guard": _guard,
    "guard-bound": _guard_bound,
    "condition": _condition,
    "else": _branch,
    "tail": _tail,
    "index": _index,
    "constant": _constant,
    "real-constant": _real_constant,
    "sign": _plus,
    "initialisation": _initialisation,
    "infinity": _infinity,
    "extreme": _extreme,
    "rounding": _rounding,
    "precision": _precision,
    "width": _width,
}
