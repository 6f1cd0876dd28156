"""Keep what a loop adds up in a register instead of in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Call, Function
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, span, walk

_NAME = "register-accumulator"
_SCALARS = frozenset({
    "float", "double", "int", "unsigned", "unsigned int", "long", "long long", "short", "char",
    "unsigned long long", "size_t", "float2", "float4", "int32_t", "uint32_t", "half", "__half",
    "int64_t", "uint64_t", "unsigned long", "curandState", "curandState_t", "curandStateXORWOW_t",
})  # fmt: skip


def register_accumulator(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Promote an array element that a loop updates at a fixed address to a local variable.

    The compiler cannot do it where another pointer might see the element. Legal when all accesses
    of that array in the loop are of this element, no other array in the loop can be the same
    memory, and the loop holds no barrier, atomic on it, or call that may look.
    """
    del findings
    source = Source(kernel.source)
    found = [
        (fn, _promote(source, fn, loop, groups))
        for fn in source.kernels
        if not fn.broken
        for loop, groups in _promotable(source, fn)
    ]
    if len({fn.name for fn, _ in found}) > 1:
        yield _all(source, found)
    for _, (edit, _) in found:
        yield edit


def _promotable(source: Source, fn: Function) -> Iterator[tuple[Loop, list[list[Access]]]]:
    """Yield the outermost loops of a kernel that keep elements at fixed addresses."""
    done: list[Loop] = []
    for loop in fn.loops:
        if any(contains(outer.node, loop.node) for outer in done):
            continue
        groups = _fixed_elements(source, fn, loop) if source.in_block(loop.node) else []
        if groups:
            done.append(loop)
            yield loop, groups


def _all(source: Source, found: Sequence[tuple[Function, tuple[Edit, list[Replacement]]]]) -> Edit:
    """Return the edit that does what is possible in all kernels of a file."""
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(fn.name for fn, _ in found))
    return Edit(
        f"accumulate in registers in {names}",
        source.replace(sorted(e for _, (_, edits) in found for e in edits)),
        f"rule:{_NAME}",
        "Their loops load and store the same elements in every iteration; registers do it once.",
        _NAME,
        1.6,
    )


def _fixed_elements(source: Source, fn: Function, loop: Loop) -> list[list[Access]]:
    """Return the accesses of each element that an array is touched at in a loop and changed."""
    inside = [a for a in fn.accesses if contains(loop.node, a.node)]
    found: list[list[Access]] = []
    for root, part in dict.fromkeys((a.root, _member(source, a)) for a in inside if a.writes):
        group = [a for a in inside if a.root == root and _member(source, a) == part]
        others = [a for a in inside if a.root != root]
        if not _apart_from(source, part, [a for a in inside if a.root == root]):
            continue
        if not _one_element(source, fn, loop, group):
            continue
        if not any(a.reads for a in group) and _first_value(source, loop, group) is None:
            continue
        if all(
            a.space == "constant"  # nothing on the device writes there
            or (
                a.variable is not None
                and group[0].variable is not None
                and apart(source, fn, group[0].variable, a.variable)
            )
            for a in others
        ):
            found.append(group)
    return found if any(a.reads or a.kind == "unknown" for g in found for a in g) else []


def _member(source: Source, access: Access) -> str | None:
    """Return what of an element is touched, `.x` or `->sums`; empty for all of it, None if unsure.

    >>> # `.v.x` for `b[i].v.x`, `->v.x` for `p->v.x`, `->sums` for `p->sums[i]`
    """
    node, parts = access.node, ""
    if node.type == "subscript_expression":
        inner = field(node, "argument")
        if inner is None or inner.type != "field_expression":
            return ""
        node = inner
    while node.type == "field_expression":
        name, of = field(node, "field"), field(node, "argument")
        if name is None or of is None:
            return None
        sign = "->" if operator(node) == "->" else "."
        parts, node = f"{sign}{source.plain(name)}{parts}", of
    if parts and node.type not in ("identifier", "subscript_expression"):
        return None
    return parts


def _apart_from(source: Source, part: str | None, group: Sequence[Access]) -> bool:
    """Return whether one member of an array's elements is no part of others that are touched."""
    if part is None:
        return False
    parts = {_member(source, a) for a in group}
    if part and "union" in source.words:
        return False
    return all(
        p is not None and (p == part or not (f"{p}.".startswith(f"{part}.")
                                             or f"{part}.".startswith(f"{p}.")))
        for p in parts
    )  # fmt: skip


def _kind(source: Source, fn: Function, access: Access) -> str:
    """Return the type of what an access touches."""
    return (fn.type_of(access.node) or "") if _member(source, access) else access.element


def _first_value(source: Source, loop: Loop, group: list[Access]) -> tuple[Node, Node] | None:
    """Return the statement right before a loop that sets the element, and the value it sets."""
    at = loop.node.prev_named_sibling
    wanted = source.plain(group[0].node)
    while at is not None and at.named_children:
        if (
            at.type == "declaration"
            and not _mentions(source, at, group[0].name)
            and not any(True for _ in walk(at, "call_expression"))
        ):
            at = at.prev_named_sibling  # `int i;` between the two
            continue
        inner = at.named_children[0]
        if at.type != "expression_statement":
            return None
        if inner.type != "assignment_expression" or operator(inner) != "=":
            return None
        left, right = field(inner, "left"), field(inner, "right")
        if right is None or _mentions(source, right, group[0].name):
            return None
        if source.plain(left) == wanted:
            return at, right
        at = at.prev_named_sibling
    return None


def _mentions(source: Source, node: Node, name: str) -> bool:
    return any(source.of(n) == name for n in walk(node, "identifier"))


def _one_element(source: Source, fn: Function, loop: Loop, group: list[Access]) -> bool:
    first = group[0]
    kinds = {t.name for t in fn.templates}  # `T`: an assignment rounds to it wherever it goes
    if first.space not in ("global", "shared"):
        return False
    if _kind(source, fn, first) not in _SCALARS | kinds:
        return False
    if first.index is None or first.cast:
        return False
    if any(a.kind == "atomic" or a.cast for a in group):
        return False
    if any(contains(loop.node, c.node) for c in (*fn.barriers, *fn.warp_calls)):
        return False
    lent = [a for a in group if a.kind == "unknown"]
    borrowers = [c for c in fn.unknown_calls if contains(loop.node, c.node)]
    if not all(_only_borrows(source, fn, c) for c in borrowers):
        return False
    if not all(any(_lends(a, c) for c in borrowers) for a in lent):
        return False
    if fn.leaves(loop.node) or fn.unknown_in(loop.node):
        return False
    changed = _changed(fn, loop)
    if first.index.symbols & changed or any(i in changed for i in _names(fn, first)):
        return False
    return all(a.index is not None and first.index.same(a.index) for a in group)


def _lends(access: Access, call: Call) -> bool:
    """Return whether an access is `f(&A[i])`: the element's address for the call alone."""
    parent = access.node.parent
    return (
        parent is not None
        and parent.type == "pointer_expression"
        and operator(parent) == "&"
        and any(argument.id == parent.id for argument in call.arguments)
    )


def _only_borrows(source: Source, fn: Function, call: Call) -> bool:
    """Return whether a call uses the addresses it is given only to reach that one element.

    The random generators of cuRAND do; a function of the file does when it says `*p` and nothing
    else of its pointers. Arguments that are arrays of the kernel itself are refused.
    """
    for argument in call.arguments:
        if argument.type == "identifier":
            variable = fn.variables.of(argument)
            if variable is None or variable.is_pointer or variable.is_array:
                return variable is None and source.constant_of(source.of(argument)) is not None
    if call.name.startswith("curand") and not call.name.startswith("curand_init"):
        return True
    callee = source.function(call.name)
    if callee is None or callee.unknown_calls or callee.atomics or callee.barriers:
        return False
    pointers = [p for p in callee.parameters if p.is_pointer or p.reference]
    for parameter in pointers:
        variable = callee.variables.named(parameter.name)
        if variable is None or parameter.depth > 1:
            return False
        for use in variable.uses:
            parent = use.node.parent
            starred = parent is not None and parent.type == "pointer_expression"
            if not parameter.reference and not (starred and parent and operator(parent) == "*"):
                return False
    return not any(u.name in source.spaces for u in callee.variables.within(callee.body))


def _changed(fn: Function, loop: Loop) -> frozenset[str]:
    inner = [u.name for u in fn.variables.within(loop.node) if u.writes]
    declared = [
        v.name for v in fn.variables.all if contains(loop.node, v.name_node)
    ]  # not visible outside
    return frozenset(inner) | frozenset(declared)


def _names(fn: Function, access: Access) -> set[str]:
    return {fn.file.syntax.of(n) for n in walk(access.node, "identifier")} - {access.name}


def _later(
    source: Source, fn: Function, loop: Loop, group: list[Access]
) -> list[tuple[Node, list[Access]]]:
    """Return the statements behind a loop that go on with the element, as `c[i] /= n;` does."""
    wanted, found = source.plain(group[0].node), []
    own = group[0].variable
    at = loop.node.next_named_sibling
    opaque = (*fn.barriers, *fn.warp_calls, *fn.unknown_calls, *fn.atomics)
    while at is not None and at.type in ("expression_statement", "if_statement"):
        inside = [a for a in fn.accesses if contains(at, a.node)]
        mine = [a for a in inside if a.root == group[0].root]
        if (
            not mine
            or own is None
            or any(source.plain(a.node) != wanted or a.kind == "unknown" for a in mine)
            or any(a.variable is None for a in inside)
            or not all(
                apart(source, fn, own, a.variable)
                for a in inside
                if a.variable is not own and a.variable
            )
            or any(contains(at, c.node) for c in opaque)
            or fn.leaves(at)
            or fn.unknown_in(at)
            or any(u.role in ("write", "update") for u in fn.variables.within(at))
        ):
            break
        if not any(a.reads for a in mine):
            break  # set anew: nothing to go on with
        found.append((at, mine))
        at = at.next_named_sibling
    return found


def _promote(
    source: Source, fn: Function, loop: Loop, groups: list[list[Access]]
) -> tuple[Edit, list[Replacement]]:
    edits: list[Replacement] = []
    names: list[str] = []
    behind: dict[int, str] = {}
    for group in groups:
        place, element = source.of(group[0].node), _kind(source, fn, group[0])
        part = (_member(source, group[0]) or "").replace("->", ".").rpartition(".")[2]
        base = "acc" if len(groups) == 1 else f"{group[0].name}_{part or 'acc'}"
        name = source.fresh_name(base, *(v.name for v in fn.variables.all), *names)
        names.append(name)
        later = _later(source, fn, loop, group)
        end = max([loop.node.end_byte, *(n.end_byte for n, _ in later)])
        edits += [(*span(a.node), name) for a in (*group, *(a for _, own in later for a in own))]
        first = _first_value(source, loop, group)
        if first is None:
            edits.append(source.insert_before(loop.node, f"{element} {name} = {place};"))
        else:
            statement, value = first
            edits.append((*span(statement), f"{element} {name} = {source.of(value)};"))
        behind[end] = f"{behind.get(end, '')}\n{source.indent(loop.node)}{place} = {name};"
    edits += [(end, end, text) for end, text in behind.items()]
    places = ", ".join(f"`{source.plain(g[0].node)}`" for g in groups)
    edit = Edit(
        f"accumulate {places} in {'a register' if len(groups) == 1 else 'registers'}",
        source.replace(sorted(edits)),
        f"rule:{_NAME}",
        f"The loop in line {loop.line} loads and stores the same element in every iteration;"
        " a register does it once. The arrays read in the loop do not overlap it.",
        _NAME,
        1.6,
    )
    return edit, edits
