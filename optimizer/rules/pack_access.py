"""Load and store the four neighbouring elements that a thread uses in one access."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.allocations import is_allocated
from optimizer.functions import Function
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, contains, field, operator, span, stripped

_NAME = "pack-access"
# Elements that make up 16, 8 or 4 bytes, and what CUDA calls so many of them.
_PACKED = {
    "float": "float4", "int": "int4", "unsigned int": "uint4", "unsigned": "uint4",
    "unsigned char": "uchar4", "char": "char4", "short": "short4",
}  # fmt: skip
_MEMBERS = "xyzw"
_WIDTH = 4


@dataclass(frozen=True, slots=True)
class _Group:
    """Elements 0 to 3 of a group that all start at `first`, touched in statements of one block."""

    accesses: tuple[Access, ...]
    statements: tuple[Node, ...]
    first: Access


def pack_access(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Turn `q[4 * i]` to `q[4 * i + 3]` into one access of 16 bytes (4 for characters).

    Legal where all four are sure to be touched in statements of one block, nothing between them
    may change what is read, and every launch passes the start of an allocation.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.conditional or fn.has_asm or fn.has_goto:
            continue
        edits: list[Replacement] = []
        names: list[str] = []
        for group in _groups(source, fn):
            found = _load(source, fn, group, names) if group.first.kind == "read" else None
            if group.first.kind == "write":
                found = _store(source, fn, group)
            if found:
                edits += found
                names.append(f"`{group.first.name}`")
        if names:
            yield Edit(
                f"move four elements of {', '.join(dict.fromkeys(names))} of `{fn.name}` at once",
                source.replace(sorted(edits)),
                f"rule:{_NAME}",
                f"A thread of line {fn.line} touches four neighbours one by one, so that a warp"
                " comes to each line four times.",
                _NAME,
                1.2,
            )


def _groups(source: Source, fn: Function) -> Iterator[_Group]:
    """Yield the complete groups of four."""
    found: dict[tuple[str, str, int, str], list[Access]] = {}
    for access in fn.accesses:
        variable = access.variable
        if (
            access.space != "global" or variable is None or access.index is None or access.cast
            or variable.space != "parameter" or variable.depth != 1 or variable.volatile
            or access.name != access.root or len(access.indices) != 1 or variable.changes
            or variable.element not in _PACKED or access.kind not in ("read", "write")
            or access.node.type != "subscript_expression"
        ):  # fmt: skip
            continue
        index = access.index
        if any(m and f % _WIDTH for m, f in index.terms.items()):
            continue
        block = access.statement.parent if access.statement is not None else None
        if block is None or block.type != "compound_statement" or not _certain(access):
            continue
        base = str(index - type(index)({(): index.offset % _WIDTH}))
        found.setdefault((access.root, base, block.id, access.kind), []).append(access)
    for group in found.values():
        offsets = [a.index.offset % _WIDTH for a in group if a.index is not None]
        variable = group[0].variable
        if sorted(set(offsets)) != [0, 1, 2, 3] or variable is None:
            continue
        if not is_allocated(source, fn, variable):
            continue
        statements = {a.statement.id: a.statement for a in group if a.statement is not None}
        first = group[offsets.index(0)]
        yield _Group(tuple(group), tuple(statements.values()), first)


def _certain(access: Access) -> bool:
    """Return whether a statement is sure to touch the element."""
    if access.statement is None:
        return False
    for outer in ancestors(access.node, access.statement):
        if outer.type in ("conditional_expression", "lambda_expression", "sizeof_expression"):
            return False
        if outer.type == "binary_expression" and operator(outer) in ("&&", "||"):
            return False
        if outer.type == "pointer_expression" and operator(outer) == "&":
            return False
    return access.statement.type in ("expression_statement", "declaration")


def _between(group: _Group) -> list[Node]:
    block = group.statements[0].parent
    low = min(s.start_byte for s in group.statements)
    high = max(s.end_byte for s in group.statements)
    inside = block.named_children if block is not None else []
    return [n for n in inside if low <= n.start_byte and n.end_byte <= high]


def _known_first(fn: Function, group: _Group, low: int) -> bool:
    """Return whether the first element's index is known in front of a place, and stays."""
    return all(
        u.variable is None
        or (
            u.role == "read"
            and u.variable.settled
            and u.variable.name_node.start_byte < low
            and not any(s.start_byte <= u.variable.name_node.start_byte for s in group.statements)
        )
        for u in fn.variables.within(group.first.indices[0])
    ) and fn.is_pure(group.first.indices[0])


def _load(
    source: Source, fn: Function, group: _Group, names: Sequence[str]
) -> list[Replacement] | None:
    variable = group.first.variable
    between = _between(group)
    start = between[0]
    if variable is None or not _known_first(fn, group, start.start_byte):
        return None
    for node in between:
        if fn.leaves(node) or any(
            contains(node, c.node) for c in (*fn.barriers, *fn.unknown_calls, *fn.atomics)
        ):
            return None
    writes = [a for a in fn.accesses if a.writes and a.space not in ("local", "shared")]
    for write in writes:
        if not any(contains(n, write.node) for n in between):
            continue
        if write.variable is None or write.variable is variable:
            return None
        if not apart(source, fn, variable, write.variable):
            return None
    packed = _PACKED[variable.element]
    taken = [v.name for v in fn.variables.all]
    name = source.fresh_name(f"{variable.name}_{packed}", *taken, *names)
    place = source.of(group.first.node)
    line = f"const {packed} {name} = *reinterpret_cast<const {packed} *>(&{place});"
    edits: list[Replacement] = [source.insert_before(start, line)]
    for access in group.accesses:
        if access.index is not None:
            member = _MEMBERS[access.index.offset % _WIDTH]
            edits.append((*span(access.node), f"{name}.{member}"))
    return edits


def _store(source: Source, fn: Function, group: _Group) -> list[Replacement] | None:
    """Return the edits that make one store of four that stand in a row."""
    variable = group.first.variable
    between = [n for n in _between(group) if n.type != "comment"]
    if variable is None or len(between) != _WIDTH or len(group.accesses) != _WIDTH:
        return None
    values: dict[int, str] = {}
    for access in group.accesses:
        statement = access.statement
        inner = statement.named_children[0] if statement is not None else None
        if inner is None or inner.type != "assignment_expression" or operator(inner) != "=":
            return None
        value = field(inner, "right")
        if field(inner, "left") != access.node or value is None or access.index is None:
            return None
        if not fn.is_pure(value) or stripped(value) is None:
            return None
        values[access.index.offset % _WIDTH] = source.of(value)
    reads = [a for n in between for a in fn.accesses_in(n) if a.kind == "read"]
    for read in reads:
        if read.space in ("local", "shared", "constant"):
            continue
        if read.variable is None or not apart(source, fn, variable, read.variable):
            return None
    if not _known_first(fn, group, between[0].start_byte):
        return None
    packed = _PACKED[variable.element]
    place = source.of(group.first.node)
    listed = ", ".join(values[i] for i in range(_WIDTH))
    text = f"*reinterpret_cast<{packed} *>(&{place}) = make_{packed}({listed});"
    gap = (between[0].start_byte, between[-1].end_byte)
    written = source.text[gap[0] : gap[1]]
    if "//" in written or "/*" in written:  # would be lost
        return None
    return [(*gap, text)]
