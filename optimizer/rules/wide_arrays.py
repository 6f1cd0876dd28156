"""Arrays whose neighbouring elements may be moved together, by one wide load or store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Function
from optimizer.rules.wide_work import Work, inlined
from optimizer.source import Source
from optimizer.syntax import ancestors, contains, field, operator, walk
from optimizer.variables import Variable

SIZES = {
    "float": 4, "double": 8, "int": 4, "unsigned int": 4, "unsigned": 4, "int32_t": 4,
    "uint32_t": 4, "short": 2, "unsigned short": 2, "uint16_t": 2, "half": 2, "__half": 2,
    "__nv_bfloat16": 2, "char": 1, "unsigned char": 1, "uint8_t": 1, "uchar": 1, "int8_t": 1,
    "signed char": 1, "long long": 8, "unsigned long long": 8, "int64_t": 8, "uint64_t": 8,
}  # fmt: skip
_BRANCHES = frozenset({
    "if_statement", "for_statement", "while_statement", "do_statement", "switch_statement",
    "conditional_expression", "for_range_loop", "lambda_expression",
})  # fmt: skip
# What these test is always evaluated.
_TESTING = ("if_statement", "conditional_expression")
_MOST_ARRAYS = 6


@dataclass(frozen=True, slots=True)
class Array:
    """An array whose elements are moved together, and the places that name them.

    `kind` is the type of its elements, of a template's the one that all launches name.
    """

    variable: Variable
    kind: str
    accesses: tuple[Access, ...]
    loaded: bool
    stored: bool


def arrays_of(source: Source, fn: Function, work: Work) -> tuple[Array, ...]:
    """Return the arrays that are touched at the element's place alone; none when not understood."""
    groups: dict[str, list[Access]] = {}
    for access in fn.accesses:
        if access.space in ("global", "device", "unknown"):
            groups.setdefault(access.root, []).append(access)
    if any(lp.trips is None for lp in fn.loops if lp is not work.loop):
        return ()
    chosen: list[Array] = []
    for accesses in groups.values():
        variable = accesses[0].variable
        if variable is None or not all(_movable(source, fn, work, a) for a in accesses):
            if any(a.writes for a in accesses):
                return ()
            continue
        first = accesses[0].index
        if first is None or not all(a.index is not None and a.index.same(first) for a in accesses):
            if any(a.writes for a in accesses):
                return ()
            continue
        sure = [a for a in accesses if not _conditional(work, a.node)]
        made = [a.statement.end_byte for a in sure if a.kind == "write" and a.statement]
        made += _on_all_ways(work, accesses)
        loaded = not made or any(a.reads and a.node.start_byte < min(made) for a in accesses)
        stored = any(a.writes for a in accesses)
        if not sure and not made and any(_by_place(source, fn, work, a.node) for a in accesses):
            if stored:
                return ()  # what is not touched may lie outside the array
            continue
        kind = _kind_of(source, fn, variable)
        chosen.append(Array(variable, kind, tuple(accesses), loaded, stored))
    if len(chosen) > _MOST_ARRAYS or not _independent(source, fn, work, chosen, groups):
        return ()
    return tuple(chosen)


def _movable(source: Source, fn: Function, work: Work, access: Access) -> bool:
    variable = access.variable
    if variable is None or variable.space != "parameter" or access.root != access.name:
        return False
    if not _kind_of(source, fn, variable) or variable.volatile or variable.depth != 1:
        return False
    if any(u.role in ("pass", "alias", "address") for u in variable.uses):
        return False
    if "volatile" in variable.type or access.cast or not variable.settled:
        return False
    if access.kind not in ("read", "write", "update") or len(access.indices) != 1:
        return False
    if access.thread_stride("x") != 1 or access.node.type != "subscript_expression":
        return False
    if not any(contains(s, access.node) for s in work.statements):
        return False
    if any(lp is not work.loop and access.index is not None and access.index.depends_on(lp.name)
           for lp in access.loops):  # fmt: skip
        return False
    parent = access.node.parent
    if (
        parent is not None
        and parent.type == "pointer_expression"
        and ldg_call(source, parent) is None
    ):
        return False
    return inlined(source, fn, work, access.indices[0], "") is not None


def _kind_of(source: Source, fn: Function, variable: Variable) -> str:
    """Return the type of a pointer's elements, of a template parameter what all launches give.

    Empty when it is none that is moved together.
    """
    if variable.element in SIZES:
        return variable.element
    names = [t.name for t in fn.templates]
    if variable.element not in names or not source.only_launched(fn.name):
        return ""
    at = names.index(variable.element)
    given = [lc.template[at : at + 1] for lc in source.launches_of(fn.name)]
    kinds = {source.resolved(texts[0].strip()) if texts else "" for texts in given}
    kind = kinds.pop() if len(kinds) == 1 else ""
    return kind if kind in SIZES else ""


def ldg_call(source: Source, address: Node) -> Node | None:
    """Return the call `__ldg(&x[i])` around `&x[i]`."""
    listed = address.parent
    call = listed.parent if listed is not None else None
    if call is None or call.type != "call_expression":
        return None
    return call if source.plain(field(call, "function")) == "__ldg" else None


def _conditional(work: Work, node: Node) -> bool:
    """Return whether a place is not reached for each element."""
    below = node
    for at in ancestors(node):
        tested = at.type in _TESTING and field(at, "condition") == below
        below = at
        if any(at.id == s.id for s in work.statements):
            return at.type in _BRANCHES and not tested
        if at.type in _BRANCHES and not tested:
            return True
        if at.type == "binary_expression" and operator(at) in ("&&", "||"):
            return True
    return True


def _on_all_ways(work: Work, accesses: Sequence[Access]) -> list[int]:
    """Return the ends of tests of which each way sets the element."""
    written = [a for a in accesses if a.kind == "write"]
    return [
        s.end_byte for s in work.statements
        if s.type == "if_statement" and _sets(s, written)
    ]  # fmt: skip


def _sets(node: Node, written: Sequence[Access]) -> bool:
    """Return whether a statement sets an element whichever way it goes."""
    if node.type in ("compound_statement", "else_clause"):
        return any(_sets(n, written) for n in node.named_children)
    if node.type == "if_statement":
        ways = [field(node, "consequence"), field(node, "alternative")]
        return all(way is not None and _sets(way, written) for way in ways)
    return node.type == "expression_statement" and any(
        a.statement is not None and a.statement.id == node.id and a.node.parent is not None
        and a.node.parent.parent == node
        for a in written
    )  # fmt: skip


def _by_place(source: Source, fn: Function, work: Work, node: Node) -> bool:
    """Return whether a test of the element's number decides that a place is touched.

    Tests of what arrays hold, or of the same number for all, tell nothing about how long they are.
    """
    below = node
    for at in ancestors(node, fn.body):
        tests = [field(at, "condition")] if at.type in _BRANCHES else []
        if at.type == "binary_expression" and operator(at) in ("&&", "||"):
            tests = [field(at, "left")]
        if at.type in _BRANCHES and at.type not in _TESTING:
            return True
        for test in tests:
            if test is not None and test != below and _numbered(source, fn, work, test, ()):
                return True
        below = at
        if any(at.id == s.id for s in work.statements):
            return False
    return False


def _numbered(source: Source, fn: Function, work: Work, node: Node, seen: tuple[str, ...]) -> bool:
    """Return whether the element's number decides a value, but for what arrays hold there."""
    for use in fn.variables.within(node):
        variable = use.variable
        around = [a for a in (*ancestors(use.node, node), node) if a.type == "subscript_expression"]
        held = any(contains(field(a, "indices") or a, use.node) for a in around)
        if held or variable is None or variable.space == "parameter" or variable.is_pointer:
            continue
        if variable.name in seen:
            continue
        if variable is work.variable or variable.is_array:
            return True
        values = [variable.init, *(s for u in variable.changes if (s := fn.statement(u.node)))]
        known = (*seen, variable.name)
        if any(v is not None and _numbered(source, fn, work, v, known) for v in values):
            return True
    return any(source.of(n) in ("threadIdx", "blockIdx") for n in walk(node, "identifier"))


def _independent(
    source: Source,
    fn: Function,
    work: Work,
    chosen: Sequence[Array],
    groups: dict[str, list[Access]],
) -> bool:
    """Return whether no store can change what was loaded before it for a later element."""
    whole = {a.variable.name for a in chosen}
    for array in chosen:
        if not array.stored:
            continue
        first = min(a.node.start_byte for a in array.accesses if a.writes)
        for root, accesses in groups.items():
            if root == array.variable.name:
                continue
            other = fn.variables.named(root)
            if other is None:
                continue
            late = [a for a in accesses if a.node.end_byte > first and a.reads]
            early = not late and not any(a.writes for a in accesses)
            if early and (work.loop is None or (root in whole and _same_place(array, accesses[0]))):
                # Each thread reads before it writes, also in place. What it would read of other
                # threads' they might have written already: no kernel can mean that.
                continue
            if not apart(source, fn, array.variable, other) and not _in_one(array, accesses):
                return False
    return bool(chosen)


def _same_place(array: Array, access: Access) -> bool:
    one, two = array.accesses[0].index, access.index
    return one is not None and two is not None and one.same(two)


def _in_one(array: Array, accesses: Sequence[Access]) -> bool:
    """Return whether an array is read only in the statement that stores, at the same element."""
    stores = [a for a in array.accesses if a.writes]
    if len(stores) != 1 or any(a.writes for a in accesses):
        return False
    statement = stores[0].statement
    return statement is not None and all(
        (contains(statement, a.node) or a.node.end_byte <= statement.start_byte)
        and _same_place(array, a)
        for a in accesses
    )
