"""Take what does not change out of loops, and divide by it once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.aliasing import apart
from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.hoist_calls import hoist_calls
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, contains, field, operator, span, stripped, walk

_NAME = "hoist"
_FLOATS = ("float", "double")
_LOADED = frozenset({
    "float", "double", "int", "unsigned", "unsigned int", "short", "char", "unsigned char",
    "long", "long long", "size_t", "half", "__half",
})  # fmt: skip


def hoist(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Hoist loop-invariant loads and calls, multiply by reciprocals of invariant divisors.

    The compiler may not do the first and the last: another pointer could change the loaded element,
    and a reciprocal rounds differently (by 1 ulp, which the verification bounds).
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken:
            continue
        yield from _loads(source, fn)
        yield from _reciprocals(source, fn)
        yield from _inverses(source, fn)
        yield from hoist_calls(source, fn)


# -- loads ---------------------------------------------------------------------------------------


def _loads(source: Source, fn: Function) -> Iterator[Edit]:
    """Yield an edit that loads invariant elements before the outermost loop that keeps them."""
    edits: list[Replacement] = []
    places: list[str] = []
    taken: list[str] = []
    done: list[Loop] = []
    for loop in fn.loops:
        if any(contains(d.node, loop.node) for d in done) or not _plain(source, fn, loop):
            continue
        if not any(a.writes and contains(loop.node, a.node) for a in fn.accesses):
            continue  # without a store the compiler hoists by itself
        groups: dict[str, list[Node]] = {}
        for access in fn.accesses:
            if contains(loop.body, access.node) and access.kind == "read":
                node = access.node
                if _kept(source, fn, loop, node, access.root):
                    groups.setdefault(source.plain(node), []).append(node)
        if not groups:
            continue
        done.append(loop)
        lines = []
        for text, nodes in groups.items():
            element = fn.type_of(nodes[0]) or _member(source, nodes[0])
            if element not in _LOADED and element is not None:
                continue
            name = source.fresh_name(_name(source, nodes[0]), *taken)
            taken.append(name)
            places.append(text)
            lines.append(f"const {element or 'auto'} {name} = {source.of(nodes[0])};")
            edits += [(*span(n), name) for n in nodes]
        edits += [source.insert_before(loop.node, line) for line in lines]
    if places:
        shown = ", ".join(f"`{p}`" for p in places[:3])
        yield Edit(
            f"load {shown} once before the loop",
            source.replace(_merged(edits)),
            f"rule:{_NAME}",
            f"`{fn.name}` loads the same element in every iteration; the compiler has to, since"
            " a store in the loop could change it as far as it knows.",
            _NAME,
            1.2,
        )


def _merged(edits: list[Replacement]) -> list[Replacement]:
    """Join insertions at one place, in the order they were made."""
    found: dict[tuple[int, int], str] = {}
    for low, high, new in edits:
        found[(low, high)] = found.get((low, high), "") + new if low == high else new
    return sorted((low, high, new) for (low, high), new in found.items())


def _plain(source: Source, fn: Function, loop: Loop) -> bool:
    """Return whether code may be put before a loop and nothing in it is opaque."""
    inside = (*fn.barriers, *fn.warp_calls, *fn.unknown_calls, *fn.atomics)
    return (
        source.in_block(loop.node)
        and not any(contains(loop.node, c.node) for c in inside)
        and not fn.unknown_in(loop.node)
        and not fn.has_asm
    )


def _kept(source: Source, fn: Function, loop: Loop, node: Node, root: str) -> bool:
    """Return whether a load yields the same in each iteration and always happens."""
    variables = [u.variable for u in fn.variables.within(node)]
    if any(v is None or contains(loop.node, v.name_node) for v in variables):
        return False
    changed = {u.name for u in fn.variables.within(loop.node) if u.role in ("write", "update")}
    if any(v is not None and (v.name in changed or v.address_taken) for v in variables):
        return False
    if any(n.type == "update_expression" for n in walk(node)) or not _always(loop, node):
        return False
    mine = next((v for v in variables if v is not None and (v.is_pointer or v.is_array)), None)
    if mine is None or mine.space == "shared" or mine.is_array:
        return False
    for access in fn.accesses:
        if not contains(loop.node, access.node) or not access.writes:
            continue
        if access.root == root or access.variable is None:
            return False
        if not apart(source, fn, mine, access.variable):
            return False
    return True


def _always(loop: Loop, node: Node) -> bool:
    """Return whether a node is evaluated in the first iteration, whatever happens."""
    for outer in ancestors(node, loop.node):
        if outer.type in ("if_statement", "switch_statement", "conditional_expression"):
            return False
        if outer.type in ("while_statement", "do_statement"):
            return False
        if outer.type == "binary_expression" and operator(outer) in ("&&", "||"):
            return False
    return True


def _member(source: Source, node: Node) -> str | None:
    """Return the type of a struct's member when the file tells, else None for `auto`."""
    if node.type != "field_expression":
        return None
    name = source.of(field(node, "field"))
    for struct in walk(source.syntax.root, "struct_specifier"):
        for declared in walk(struct, "field_declaration"):
            if any(source.of(n) == name for n in walk(declared, "field_identifier")):
                return source.plain(field(declared, "type"))
    return None


def _name(source: Source, node: Node) -> str:
    """Return a readable name for an element: `a_i` for `a[i]`, `body_x` for `body[i].x`."""
    words = [source.of(n) for n in walk(node, "identifier", "field_identifier")]
    return "_".join(dict.fromkeys((words[0], words[-1]))) if words else "kept"


# -- reciprocals ---------------------------------------------------------------------------------


def _reciprocals(source: Source, fn: Function) -> Iterator[Edit]:
    """Yield an edit that turns divisions by what all threads share into products."""
    groups: dict[str, list[tuple[Node, Node, Node]]] = {}
    kinds: dict[str, str] = {}
    for node in fn.divisions:
        left, right = field(node, "left"), field(node, "right")
        if operator(node) not in ("/", "/=") or left is None or right is None:
            continue
        kind = fn.type_of(left) if operator(node) == "/=" else fn.type_of(node)
        divisor = stripped(right)
        if kind not in _FLOATS or divisor is None or divisor.type == "number_literal":
            continue
        if fn.type_of(right) not in (*_FLOATS, "int") or not _shared(source, fn, right):
            continue
        text = source.plain(divisor)
        kinds[text] = "double" if kind == "double" or kinds.get(text) == "double" else "float"
        groups.setdefault(text, []).append((node, left, right))
    edits: list[Replacement] = []
    taken: list[str] = []
    lines = ""
    for text, found in groups.items():
        in_loop = any(fn.loops_around(node) for node, _, _ in found)
        if not in_loop and len(found) < 2:
            continue
        name = source.fresh_name(f"inv_{_word(source, found[0][2])}", *taken)
        taken.append(name)
        one = "1.0" if kinds[text] == "double" else "1.0f"
        written = source.of(found[0][2])
        lines += f"\n{_indent(source, fn)}const {kinds[text]} {name} = {one} / {written};"
        for node, left, right in found:
            sign = " *= " if operator(node) == "/=" else " * "
            edits.append((left.end_byte, right.start_byte, sign))
            edits.append((*span(right), name))
    if lines:
        at = fn.body.start_byte + 1
        edits.append((at, at, lines))
        yield Edit(
            "divide once, multiply in the loop",
            source.replace(sorted(edits)),
            f"rule:{_NAME}",
            f"`{fn.name}` divides by a value that does not change; an exact division costs about"
            " ten instructions, a product one.",
            _NAME,
            1.2,
        )


def _inverses(source: Source, fn: Function) -> Iterator[Edit]:
    """Yield an edit that inverts, before a loop, what the loop divides by: `o[j] / sum`."""
    groups: dict[tuple[int, str], list[tuple[Node, Node, Node]]] = {}
    loops: dict[int, Loop] = {}
    for node in fn.divisions:
        left, right = field(node, "left"), field(node, "right")
        if operator(node) not in ("/", "/=") or left is None or right is None:
            continue
        kind = fn.type_of(left) if operator(node) == "/=" else fn.type_of(node)
        divisor = stripped(right)
        if kind not in _FLOATS or fn.type_of(right) != kind or divisor is None:
            continue
        if divisor.type == "number_literal" or _shared(source, fn, right):
            continue
        loop = next((lp for lp in fn.loops_around(node) if _steady(source, fn, lp, divisor)), None)
        if loop is not None:
            loops[loop.node.id] = loop
            groups.setdefault((loop.node.id, source.plain(divisor)), []).append((node, left, right))
    edits: list[Replacement] = []
    taken: list[str] = []
    for (at, _), found in groups.items():
        right = found[0][2]
        kind = fn.type_of(right) or "float"
        name = source.fresh_name(f"inv_{_word(source, right)}", *taken)
        taken.append(name)
        one = "1.0" if kind == "double" else "1.0f"
        line = f"const {kind} {name} = {one} / {source.of(right)};"
        edits.append(source.insert_before(loops[at].node, line))
        for node, left, divisor in found:
            sign = " *= " if operator(node) == "/=" else " * "
            edits += [(left.end_byte, divisor.start_byte, sign), (*span(divisor), name)]
    if edits:
        lines = ", ".join(
            str(source.line(node)) for found in groups.values() for node, _, _ in found
        )
        yield Edit(
            "divide once before the loop",
            source.replace(_merged(edits)),
            f"rule:{_NAME}",
            f"Line {lines}: the divisor does not change in the loop; an exact division costs about"
            " ten instructions, a product one.",
            _NAME,
            1.15,
        )


def _steady(source: Source, fn: Function, loop: Loop, divisor: Node) -> bool:
    """Return whether a divisor of scalars keeps its value in a loop and is known before it."""
    return (
        source.in_block(loop.node)
        and not any(True for _ in walk(divisor, "subscript_expression", "pointer_expression"))
        and not any(True for _ in walk(divisor, "field_expression", "call_expression"))
        and fn.is_invariant(divisor, loop)
        and not fn.has_goto
    )


def _indent(source: Source, fn: Function) -> str:
    first = fn.body.named_children[0] if fn.body.named_children else None
    return source.indent(first) if first is not None else "    "


def _shared(source: Source, fn: Function, node: Node) -> bool:
    """Return whether a divisor is made of scalar parameters and constants only."""
    if not fn.is_pure(node):
        return False
    names = list(walk(node, "identifier"))
    for name in names:
        variable = fn.variables.of(name)
        if variable is None:
            if source.constant_of(source.of(name)) is None:
                return False
            continue
        if variable.space != "parameter" or variable.is_pointer or variable.changes:
            return False
    return bool(names) and not any(True for _ in walk(node, "subscript_expression"))


def _word(source: Source, node: Node) -> str:
    words = [source.of(n) for n in walk(node, "identifier")]
    return words[-1].lower() if words else "divisor"
