"""Load and store several neighbours at once in loops that the threads of a row share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.geometry import block_extents
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.reduction import updates
from optimizer.rules.strided_loops import outer_scalars
from optimizer.rules.wide_arrays import SIZES, Array
from optimizer.rules.wide_text import loop_edits
from optimizer.rules.wide_work import Work
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, contains, field, stripped, walk

_NAME = "vectorize"
_LANE = re.compile(r"threadIdx\.x\s*(?:%\s*(\w+)|&\s*\(?\s*(\w+)\s*(-\s*1)?\s*\)?)")
_INNER = ("if_statement", "for_statement", "while_statement", "do_statement", "switch_statement",
          "conditional_expression", "for_range_loop", "lambda_expression", "continue_statement",
          "return_statement", "break_statement", "goto_statement")  # fmt: skip
_TOGETHER = ("__shfl", "__reduce")
_MOST_ARRAYS = 4


@dataclass(frozen=True, slots=True)
class _Shared:
    """A loop that threads share, a stride apart, and the arrays they walk side by side."""

    loop: Loop
    key: tuple[str, str]
    arrays: tuple[Array, ...]


def vectorize_rows(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Give each lane of a row 2 to 16 neighbours of it at a time, moved by one wide access.

    For `for (i = threadIdx.x; i < n; i += blockDim.x)` and the like by the lanes of a warp, or by
    the whole grid in a kernel whose threads meet later. Legal
    where a loop only makes sums that all its threads then join, or stores elements of its own:
    which thread has which element makes no difference then. Loops of a kernel that touch an array
    one of them writes are changed alike. Alignment is tested when the kernel runs.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional or fn.unknown_names:
            continue
        block = block_extents(kernel, source, fn)
        if block is None or block[1:] != (1, 1):
            continue
        found = _changed(source, fn, block[0])
        if not found:
            continue
        widest = max(SIZES[a.kind] for one in found for a in one.arrays)
        widths = dict.fromkeys(w for w in (16 // widest, 4, 2) if w > 1)
        for width in list(widths)[:2]:
            lines = ", ".join(str(one.loop.line) for one in found)
            yield Edit(
                f"move {width} elements at once in the loops of `{fn.name}`",
                source.replace(sorted(_rewrite(source, fn, found, width))),
                f"rule:{_NAME}",
                f"Neighbouring threads touch neighbouring elements in line {lines}, one each; one"
                f" wide access of {width} costs one instruction and keeps more bytes in flight.",
                _NAME,
                1.4,
            )


def _rewrite(
    source: Source, fn: Function, found: Sequence[_Shared], width: int
) -> Iterator[Replacement]:
    name = source.fresh_name("kWidth", *(v.name for v in fn.variables.all))
    declared = [one.loop.variable.declaration for one in found if one.loop.variable is not None]
    begin = min(node.start_byte for node in declared)
    first = next(n for n in fn.body.named_children if n.end_byte > begin)
    yield source.insert_before(first, f"constexpr int {name} = {width};")
    for one in found:
        loop, start = one.loop, _start(one.loop)
        if loop.variable is None or start is None or loop.bound is None:
            continue
        statements = tuple(n for n in loop.body_statements() if n.type != "comment")
        declaration = loop.variable.declaration
        work = Work(loop.variable, declaration, start, loop.bound, statements, loop=loop)
        yield from loop_edits(source, fn, work, one.arrays, width)


# -- legality ------------------------------------------------------------------------------------


def _changed(source: Source, fn: Function, threads: int) -> list[_Shared]:
    """Return the loops to change; none where one that has to cannot."""
    found: list[_Shared] = []
    for loop in fn.loops:
        key = _key(source, fn, loop, threads)
        if key is None or any(contains(one.loop.node, loop.node) for one in found):
            continue
        arrays = _arrays(fn, loop)
        if arrays and _sums_are_joined(source, fn, loop):
            found.append(_Shared(loop, key, arrays))
    if not found:
        return []
    # What one loop writes and another touches has to stay with the same thread.
    for access in fn.accesses:
        if not access.writes or access.space == "local":
            continue
        of = [a for a in fn.accesses if a.root == access.root]
        places = [next((o for o in found if contains(o.loop.node, a.node)), None) for a in of]
        if all(p is None or a.kind == "atomic" for p, a in zip(places, of, strict=True)):
            continue  # what any thread may add to does not ask who does
        if any(p is None for p in places) or len({p.key for p in places if p is not None}) > 1:
            return []
        indices = [
            a.index.without(p.loop.name) if a.index is not None and p is not None else None
            for a, p in zip(of, places, strict=True)
        ]
        first = indices[0]
        if first is None or any(i is None or not i.same(first) for i in indices):
            return []
    return found


def _key(source: Source, fn: Function, loop: Loop, threads: int) -> tuple[str, str] | None:
    """Return where a loop that threads share starts and ends; None for other loops."""
    if loop.kind != "for" or not loop.counted or loop.relation != "<" or loop.leaves_early:
        return None
    variable, start, bound, step = loop.variable, _start(loop), loop.bound, loop.step_node
    if variable is None or start is None or bound is None or loop.update is None:
        return None
    inside = [n for n in variable.declaration.named_children if n.type != "type_qualifier"]
    if len(inside) != 2 or not fn.uniform(bound) or list(walk(bound, "call_expression")):
        return None
    if any(next(walk(loop.body, kind), None) is not None for kind in _INNER):
        return None
    if any(contains(loop.node, call.node) for call in (*fn.barriers, *fn.warp_calls)):
        return None
    if any(a.space == "local" and contains(loop.node, a.node) for a in fn.accesses):
        return None  # what a thread keeps of its elements is kept by their old numbers
    if _over_grid(fn, start, step):
        # Of kernels whose threads do not meet `vectorize` takes care.
        return ("grid", source.plain(bound)) if fn.barriers or fn.warp_calls else None
    lanes = _lanes(source, fn, start, threads)
    stride = source.plain(step) if step is not None else ""
    value = loop.step if loop.step is not None else source.value(stride)
    if lanes is None or (value != lanes and not (stride == "blockDim.x" and lanes == threads)):
        return None
    return source.plain(start), source.plain(bound)


def _start(loop: Loop) -> Node | None:
    """Return where a loop starts: in its header, or where its variable is declared for it alone."""
    variable = loop.variable
    if variable is None:
        return None
    if loop.start is not None:
        return loop.start if contains(loop.node, variable.declaration) else None
    if any(not contains(loop.node, u.node) for u in variable.uses if u.role != "declare"):
        return None
    changed = [u.node for u in variable.changes if not contains(variable.declaration, u.node)]
    if loop.update is None or any(not contains(loop.update, node) for node in changed):
        return None
    return variable.init


def _over_grid(fn: Function, start: Node, step: Node | None) -> bool:
    """Return whether all threads of the grid share a loop."""
    first, stride = fn.affine(start), fn.affine(step) if step is not None else None
    return (
        first is not None and stride is not None
        and dict(first.terms) == {("threadIdx.x",): 1, ("blockDim.x", "blockIdx.x"): 1}
        and dict(stride.terms) == {("blockDim.x", "gridDim.x"): 1}
    )  # fmt: skip


def _lanes(source: Source, fn: Function, start: Node, threads: int) -> int | None:
    """Return how many threads start a loop side by side, from zero on."""
    node = stripped(start)
    if node is not None and node.type == "identifier":
        variable = fn.variables.of(node)
        if variable is None or not variable.settled or variable.init is None:
            return None
        node = stripped(variable.init)
    text = source.plain(node) if node is not None else ""
    if text == "threadIdx.x":
        return threads
    match = _LANE.fullmatch(text)
    if match is None:
        return None
    modulus = source.value(match[1] or match[2])
    if modulus is not None and match[2] and not match[3]:
        modulus += 1
    return modulus if modulus in (4, 8, 16, 32, 64) else None


def _arrays(fn: Function, loop: Loop) -> tuple[Array, ...]:
    """Return the arrays that a loop walks side by side; none when it writes others."""
    groups: dict[str, list[Access]] = {}
    for access in fn.accesses:
        if contains(loop.body, access.node) and access.space != "local":
            groups.setdefault(access.name, []).append(access)
    found: list[Array] = []
    for name, accesses in groups.items():
        variable = fn.variables.named(name, loop.node)
        written = any(a.writes for a in accesses)
        if written and all(a.kind == "atomic" and _alone(a) for a in accesses):
            continue
        index = accesses[0].index
        fits = (
            variable is not None
            and index is not None
            and variable.element in SIZES
            and variable.depth == 1
            and not variable.volatile
            and "volatile" not in variable.type
            and variable.settled
            and all(_side_by_side(fn, loop, a) for a in accesses)
            and all(a.index is not None and a.index.same(index) for a in accesses)
        )
        if not fits or variable is None:
            if written:
                return ()
            continue
        made = [a.statement.end_byte for a in accesses if a.kind == "write" and a.statement]
        loaded = not made or any(a.reads and a.node.start_byte < min(made) for a in accesses)
        found.append(Array(variable, variable.element, tuple(accesses), loaded, written))
    stores = [a.node.start_byte for one in found for a in one.accesses if a.writes]
    late = [
        a
        for name, accesses in groups.items()
        for a in accesses
        if stores and a.reads and a.node.end_byte > min(stores)
        and not any(one.variable.name == name and one.stored for one in found)
        and not _in_a_store(found, a)
    ]  # fmt: skip
    return tuple(found) if len(found) <= _MOST_ARRAYS and not late else ()


def _alone(access: Access) -> bool:
    """Return whether nothing is made of what an atomic returns."""
    statement = access.statement
    inner = statement.named_children[0] if statement and statement.named_children else None
    return (
        statement is not None
        and statement.type == "expression_statement"
        and inner is not None
        and inner.type == "call_expression"
    )


def _in_a_store(found: Sequence[Array], access: Access) -> bool:
    """Return whether an element is read for the very statement that stores."""
    stores = [a.statement for one in found for a in one.accesses if a.writes]
    return len(stores) == 1 and stores[0] is not None and contains(stores[0], access.node)


def _side_by_side(fn: Function, loop: Loop, access: Access) -> bool:
    stride = access.loop_stride(loop)
    if access.space != "global" or stride is None or stride.constant != 1 or access.cast:
        return False
    if access.kind not in ("read", "write", "update") or len(access.indices) != 1:
        return False
    if access.node.type != "subscript_expression":
        return False
    parent = access.node.parent
    if parent is not None and parent.type == "pointer_expression":
        return False
    return all(
        u.variable is None
        or u.variable is loop.variable
        or not contains(loop.node, u.variable.name_node)
        for u in fn.variables.within(access.indices[0])
    )


def _sums_are_joined(source: Source, fn: Function, loop: Loop) -> bool:
    """Return whether all that a loop leaves behind are sums that its threads join at once."""
    for variable in outer_scalars(fn, loop):
        if variable is loop.variable:
            continue
        if not updates(source, fn, variable, loop.node):
            return False
        later = [
            u for u in variable.uses
            if u.node.start_byte >= loop.node.end_byte and u.role != "declare"
        ]  # fmt: skip
        if not later or not _joins(source, fn, later[0].node):
            return False
    return True


def _joins(source: Source, fn: Function, node: Node) -> bool:
    """Return whether a value is handed to a shuffle, a shared array, or a function of the block."""
    statement = fn.statement(node)
    if statement is None:
        return False
    for call in fn.calls:
        if not contains(statement, call.node):
            continue
        callee = source.function(call.name)
        if call.name.startswith(_TOGETHER):
            return True
        if callee is not None and (callee.barriers or callee.warp_calls):
            return contains(call.node, node)
    shared = {v.name for v in fn.shared}
    for at in ancestors(node):
        if at.type == "assignment_expression":
            left = field(at, "left")
            right = field(at, "right")
            base = next(walk(left, "identifier"), None) if left is not None else None
            return (
                base is not None and source.of(base) in shared
                and right is not None and contains(right, node)
            )  # fmt: skip
    return False
