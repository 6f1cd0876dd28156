"""Give a row to a warp instead of a thread: lanes read neighbours, shuffles combine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function, ThreadId
from optimizer.geometry import Geometry, block_extents, regrid, times
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.reduction import Update, identity, joins, together, updates
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, contains, field, operator, span, walk
from optimizer.variables import Variable

_NAME = "warp-per-row"
_WARP = 32
# Lanes that share a row. Fewer than a warp's where rows are short: of 48 elements a row, 32 lanes
# work half of the time, and a warp waits for one row instead of four.
_LANES = (_WARP, 8, 16)
_BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize")


@dataclass(frozen=True, slots=True)
class RowPlan:
    """Which loops the lanes share, and which scalars are combined behind which loop.

    `stepped` is the loop in which a thread takes row after row, a whole grid apart.
    """

    row: ThreadId
    lanes: tuple[Loop, ...]
    sums: tuple[tuple[Loop, tuple[Update, ...]], ...]
    guarded: tuple[Node, ...]
    stepped: Loop | None = None


def warp_per_row(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Turn one thread per row into one warp per row where the row's elements lie side by side.

    Threads of a warp then read neighbouring addresses instead of ones a row apart. Legal when the
    loops over a row are reductions or independent maps, nothing else depends on the thread's
    number, and blocks are whole warps. Float sums are reordered. Where a row's length is not seen,
    8 or 16 lanes a row are offered, too: four or two rows a warp.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
            continue
        block = block_extents(kernel, source, fn)
        if block is None or block[0] % _WARP or block[1:] != (1, 1):
            continue
        plan = plan_rows(source, fn, stepped=True, places=True)
        if plan is None:
            continue
        for lanes in _LANES if _may_be_short(plan) else _LANES[:1]:
            edit = _edit(kernel, source, fn, plan, lanes)
            if edit is not None:
                yield edit


def _may_be_short(plan: RowPlan) -> bool:
    """Return whether rows may be too short for a warp: none of their loops is seen to be long."""
    return all(loop.trips is None or loop.trips < 4 * _WARP for loop in plan.lanes)


def _edit(kernel: Kernel, source: Source, fn: Function, plan: RowPlan, lanes: int) -> Edit | None:
    """Return the edit that gives a row to so many lanes; None where the grid cannot change."""
    if plan.stepped is not None and _grid_is_number(source, fn):
        geometry: Geometry | None = Geometry()
    else:
        geometry = regrid(kernel, source, fn, {"x": times(lanes)})
    if geometry is None:
        return None
    edits = [*by_lanes(source, fn, plan, lanes=lanes), *geometry.edits]
    lines = ", ".join(str(loop.line) for loop in plan.lanes)
    some = "a warp" if lanes == _WARP else f"{lanes} lanes"
    return Edit(
        f"give each row of `{fn.name}` to {some}",
        source.replace(sorted(edits)),
        f"rule:{_NAME}",
        f"Neighbouring threads walk rows of their own in line {lines}, so a warp touches 32"
        f" separate segments at a time; {lanes} lanes on one row touch neighbouring elements.",
        _NAME,
        3.0,
        geometry.launch,
    )


def _grid_is_number(source: Source, fn: Function) -> bool:
    """Return whether all grids have a size of their own, whatever the rows."""
    found = source.launches_of(fn.name)
    return bool(found) and all(lc.grid and lc.grid[0].value is not None for lc in found)


# -- legality ------------------------------------------------------------------------------------


def plan_rows(
    source: Source,
    fn: Function,
    *,
    walked: str = "rows",
    stepped: bool = False,
    places: bool = False,
) -> RowPlan | None:
    """Return how threads can share the loops of a row; None when that is not legal.

    `walked` tells which loops: over `rows` whose elements lie side by side, over what all threads
    read `alike` (all pairs of bodies), or down `columns` that lie side by side. Threads that take
    row after row count only with `stepped`. Blocks must be one-dimensional. With `places` loops may
    look for an extreme and where it stands.
    """
    row = _row(source, fn)
    around = _stepped(source, fn) if row is None and stepped else None
    if around is not None and around.variable is not None:
        row = ThreadId(around.variable, "x", "blockDim.x")
    if row is None:
        return None
    lanes = tuple(_lane_loops(fn, walked))
    if not lanes or not _calls_are_plain(source, fn):
        return None
    sums: dict[int, tuple[Loop, list[Update]]] = {}
    for loop in lanes:
        for variable in outer_scalars(fn, loop):
            found = updates(source, fn, variable, loop.node, places=places)
            place = found and joint(source, fn, lanes, loop, variable)
            if not found or not place:
                return None
            known = sums.setdefault(place.node.id, (place, []))[1]
            known += [u for u in found[:1] if u.variable not in {k.variable for k in known}]
    guarded = _guarded(fn, lanes)
    if any(not together(us) for _, us in sums.values()):
        return None
    if guarded is None or not _memory_is_safe(fn, lanes, guarded, [lp for lp, _ in sums.values()]):
        return None
    if around is not None and any(not contains(around.body, lp.node) for lp in lanes):
        return None
    joined = tuple((lp, tuple(us)) for lp, us in sums.values())
    return RowPlan(row, lanes, joined, guarded, around)


def _row(source: Source, fn: Function) -> ThreadId | None:
    """Return the row number when it is all that the kernel knows of its thread."""
    ids = [t for t in fn.thread_ids if t.axis == "x"]
    if len(ids) != 1 or ids[0].variable.init is None or not ids[0].variable.settled:
        return None
    init = ids[0].variable.init
    if any(not contains(init, node) for node in _own(source, fn)):
        return None
    return ids[0] if source.in_block(ids[0].variable.declaration) else None


def _own(source: Source, fn: Function) -> Iterator[Node]:
    """Yield where a kernel asks for a thread's number along x, or for extents along x."""
    for node in walk(fn.body, "identifier"):
        outer = node.parent
        along = source.of(outer).rpartition(".")[2] if outer is not None else ""
        if source.of(node) in _BUILTINS and along not in ("y", "z"):
            yield node


def _stepped(source: Source, fn: Function) -> Loop | None:
    """Return the loop in which each thread takes rows a grid apart, if all else is in there."""
    found = [lp for lp in fn.loops if lp.depth == 0 and not lp.leaves_early and lp.counted]
    if len(found) != 1 or found[0].relation not in ("<", "<="):
        return None
    loop = found[0]
    start, step = fn.affine(loop.start), fn.affine(loop.step_node)
    if start is None or step is None or loop.start is None or loop.step_node is None:
        return None
    if loop.variable is None or not contains(loop.node, loop.variable.name_node):
        return None
    first = {("threadIdx.x",): 1, ("blockDim.x", "blockIdx.x"): 1}
    if dict(start.terms) != first or dict(step.terms) != {("blockDim.x", "gridDim.x"): 1}:
        return None
    if not source.in_block(loop.node):
        return None
    places = [loop.start, loop.step_node]
    for node in list(places):  # locals that are used for nothing else
        for name in walk(node, "identifier"):
            variable = fn.variables.of(name)
            if variable is None or variable.init is None or variable.space == "parameter":
                continue
            if not all(any(contains(p, u.node) for p in places[:2]) for u in variable.uses):
                return None
            places.append(variable.init)
    if any(not any(contains(p, node) for p in places) for node in _own(source, fn)):
        return None
    return loop


def _lane_loops(fn: Function, walked: str) -> Iterator[Loop]:
    """Yield the innermost loops that walk an array as `plan_rows` describes."""
    taken: list[Loop] = []
    for loop in reversed(fn.loops):  # inner loops come behind outer ones
        if any(contains(loop.node, inner.node) for inner in taken):
            continue
        own = [a for a in fn.accesses if a.is_global and contains(loop.body, a.node)]
        fits = {"rows": _side_by_side, "alike": _alike, "columns": _below}[walked]
        if fits(fn, loop, own) and splits(loop):
            taken.append(loop)
    yield from sorted(taken, key=lambda loop: loop.node.start_byte)


def _side_by_side(fn: Function, loop: Loop, own: Sequence[Access]) -> bool:
    """Return whether a loop walks neighbours in memory, while threads are rows apart."""
    del fn
    return any(
        (stride := a.loop_stride(loop)) is not None
        and stride.constant in (1, 2, 3, 4)
        and a.thread_stride() not in (0, 1)
        for a in own
    )


def _below(fn: Function, loop: Loop, own: Sequence[Access]) -> bool:
    """Return whether a loop sums down a column, while threads read columns side by side."""
    strides = [(a.thread_stride(), a.loop_stride(loop)) for a in own]
    if any(a.writes for a in own) or any(walks is None for _, walks in strides):
        return False
    moved = [(side, walks.constant) for side, walks in strides if walks and walks.constant != 0]
    return (
        any(side == 1 for side, _ in moved)
        and all(side == 0 or (side == 1 and walks != 1) for side, walks in moved)
        and any(True for _ in outer_scalars(fn, loop))
    )


def _alike(fn: Function, loop: Loop, own: Sequence[Access]) -> bool:
    """Return whether a loop reads the same elements in all threads, neighbours one by one."""
    moved = 0
    for access in own:
        stride = access.loop_stride(loop)
        if access.writes or stride is None or stride.constant is None:
            return False
        if stride.constant not in range(9) or (stride.constant and access.thread_stride() != 0):
            return False
        moved += stride.constant > 0
    return moved > 0 and any(True for _ in outer_scalars(fn, loop))


def splits(loop: Loop) -> bool:
    """Return whether the iterations of a loop can be shared among threads, each a stride apart."""
    return (
        loop.kind in ("for", "while")
        and start_of(loop) is not None
        and loop.counted
        and loop.step == 1
        and loop.relation in ("<", "<=", "!=")
        and not loop.leaves_early
        and loop.variable is not None
        and counts_only(loop.variable)
        and (loop.trips is None or loop.trips >= _WARP // 2)
        and loop.relation != "!="
    )


def counts_only(variable: Variable) -> bool:
    """Return whether a variable is seen in `for` loops only, each of which starts it anew."""
    at: list[Node] = []
    for use in variable.uses:
        if contains(variable.declaration, use.node):
            continue
        outer = next((a for a in ancestors(use.node) if _starts(a, variable)), None)
        if outer is None:
            outer = _started(use.node, variable)
        if outer is None:
            return False
        at.append(outer)
    if not at:
        return False
    declared = variable.declaration.parent
    inside = declared is not None and declared.type == "for_statement"
    behind = variable.declaration.next_named_sibling
    return inside or variable.init is None or (behind is not None and behind in at)


def start_of(loop: Loop) -> Node | None:
    """Return the first value of a loop's variable: in its header, or right before a `while`."""
    if loop.start is not None or loop.kind != "while" or loop.variable is None:
        return loop.start
    before = loop.node.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    if before is None:
        return None
    if before.type == "declaration":
        return loop.variable.init if contains(before, loop.variable.name_node) else None
    inner = before.named_children[0] if before.type == "expression_statement" else None
    if inner is None or inner.type != "assignment_expression" or operator(inner) != "=":
        return None
    left = field(inner, "left")
    own = left is not None and any(u.node == left for u in loop.variable.changes)
    return field(inner, "right") if own else None


def _started(use: Node, variable: Variable) -> Node | None:
    """Return the `while` that a use belongs to, when the variable is set right before it."""
    for at in (use, *ancestors(use)):
        following = at.next_named_sibling
        loop = at if at.type == "while_statement" else following
        if loop is None or loop.type != "while_statement":
            continue
        before = loop.prev_named_sibling
        places = [variable.name_node, *(u.node for u in variable.changes)]
        if before is None or not any(contains(before, n) for n in places):
            continue
        condition = field(loop, "condition")
        if condition is not None and any(contains(condition, u.node) for u in variable.uses):
            return loop
    return None


def _starts(loop: Node, variable: Variable) -> bool:
    initializer = field(loop, "initializer") if loop.type == "for_statement" else None
    if initializer is None:
        return False
    if contains(initializer, variable.name_node):
        return True
    return any(u.role == "write" and contains(initializer, u.node) for u in variable.changes)


def outer_scalars(fn: Function, loop: Loop) -> Iterator[Variable]:
    """Yield the variables of around a loop that it changes, counters of loops aside."""
    for variable in fn.variables.all:
        if contains(loop.node, variable.name_node) or variable.is_array:
            continue
        if counts_only(variable):
            continue
        if any(contains(loop.node, u.node) for u in variable.changes):
            yield variable


def joint(
    source: Source, fn: Function, lanes: Sequence[Loop], loop: Loop, variable: Variable
) -> Loop | None:
    """Return the outermost loop in which a scalar is only ever updated, by lanes."""
    around = [*fn.loops_around(loop.node), loop]
    for outer in around:
        if contains(outer.node, variable.name_node) or not source.in_block(outer.node):
            continue
        found = updates(source, fn, variable, outer.node, places=True)
        if found and all(any(contains(lp.node, u.node) for lp in lanes) for u in found):
            return outer
    return None


def _guarded(fn: Function, lanes: Sequence[Loop]) -> tuple[Node, ...] | None:
    """Return the statements with effects that one lane must do alone; None if not understood."""
    found: dict[int, Node] = {}
    for access in fn.accesses:
        if not access.writes or any(contains(lp.node, access.node) for lp in lanes):
            continue
        if access.space == "local":
            continue
        statement = access.statement
        if statement is None or statement.type != "expression_statement":
            return None
        if statement.parent is None or field(statement.parent, "alternative") is not None:
            return None  # a test put in front would take the `else`
        inner = statement.named_children[0] if statement.named_children else None
        if inner is None or inner.type not in (
            "assignment_expression", "update_expression", "call_expression",
        ):  # fmt: skip
            return None
        if inner.type == "call_expression" and operator(inner):
            return None
        found[statement.id] = statement
    return tuple(found.values())


def _memory_is_safe(
    fn: Function, lanes: Sequence[Loop], guarded: Sequence[Node], joins: Sequence[Loop]
) -> bool:
    """Return whether no lane reads what another lane wrote, and no two write one element.

    Behind the loops of `joins` all lanes have met.
    """
    written: dict[str, list[Access]] = {}
    for access in fn.accesses:
        if access.space == "local":
            if access.writes:
                return False
            continue
        if access.writes and not access.is_global:
            return False
        if access.writes:
            written.setdefault(access.root, []).append(access)
    for access in fn.accesses:
        for writer in written.get(access.root, []):
            if writer.kind == "atomic" and access.kind == "atomic":
                continue
            if _other_member(fn, access, writer):
                continue
            if _by_first(guarded, writer) and (
                _by_first(guarded, access) or _earlier(access, writer, joins)
            ):
                continue
            if not _same_lane(fn, lanes, writer, access):
                return False
    return True


def _other_member(fn: Function, one: Access, other: Access) -> bool:
    """Return whether two accesses of an array of structs are of different members."""
    if one.cast or other.cast or one.element != other.element:
        return False
    known = fn.file.members.get(one.element, {})
    names = [_member(fn, access) for access in (one, other)]
    return names[0] != names[1] and all(name in known for name in names)


def _member(fn: Function, access: Access) -> str:
    """Return the name behind the index: `x` of `p[i].x`."""
    name, at = "", access.node
    while at.type == "field_expression":
        name, inner = fn.file.syntax.of(field(at, "field")), field(at, "argument")
        if inner is None:
            return ""
        at = inner
    return name if at.type == "subscript_expression" else ""


def _by_first(guarded: Sequence[Node], access: Access) -> bool:
    """Return whether one lane alone does an access."""
    return any(contains(statement, access.node) for statement in guarded)


def _earlier(access: Access, writer: Access, joins: Sequence[Loop]) -> bool:
    """Return whether all lanes have read an element before one of them writes it."""
    return (
        not access.writes
        and not any(lp.node.id == other.node.id for lp in access.loops for other in writer.loops)
        and any(
            access.node.end_byte <= lp.node.start_byte
            and lp.node.end_byte <= writer.node.start_byte
            for lp in joins
        )
    )


def _same_lane(fn: Function, lanes: Sequence[Loop], one: Access, other: Access) -> bool:
    """Return whether two accesses of an array that meet in an element are the same lane's."""
    a = next((lp for lp in lanes if contains(lp.node, one.node)), None)
    b = next((lp for lp in lanes if contains(lp.node, other.node)), None)
    if a is None or b is None:
        # Outside the shared loops lane 0 writes; a later read by all would race with it.
        return a is b and (one.node.id == other.node.id or not other.reads)
    if one.index is None or other.index is None:
        return False
    first, second = one.index.coefficient(a.name), other.index.coefficient(b.name)
    if first is None or first.constant in (None, 0) or second is None:
        return False
    text = fn.file.syntax.plain
    return (
        first.constant == second.constant
        and text(start_of(a)) == text(start_of(b))
        and one.index.without(a.name).same(other.index.without(b.name))
    )


def _calls_are_plain(source: Source, fn: Function) -> bool:
    """Return whether all calls only compute from values."""
    for call in fn.unknown_calls:
        callee = source.function(call.name)
        if callee is None or any(p.is_pointer or p.reference for p in callee.parameters):
            return False
        if callee.barriers or callee.atomics or callee.unknown_calls:
            return False
    return not fn.unknown_names & {"return"}


# -- the edit ------------------------------------------------------------------------------------


def by_lanes(
    source: Source, fn: Function, plan: RowPlan, *, columns: int = 1, lanes: int = _WARP
) -> Iterator[Replacement]:
    """Yield the edits that give each row to the lanes of a warp; the grid is not among them.

    With `columns` that many neighbouring rows share a warp, each with a part of the lanes; with
    fewer `lanes` than a warp's each row has so many side by side.
    """
    variable = plan.row.variable
    taken = [v.name for v in fn.variables.all]
    lane = source.fresh_name("lane" if columns == 1 else "part", *taken)
    init = variable.init if plan.stepped is None else plan.stepped.start
    if init is None:
        return
    first, mask = f"int {lane} = threadIdx.x % {lanes};", "0xffffffff"
    if columns == 1:
        yield (*span(init), f"({source.of(init)}) / {lanes}")
    else:
        warp = f"({source.of(init)}) / {_WARP} * {columns}"
        yield (*span(init), f"{warp} + threadIdx.x % {columns}")
        first = f"int {lane} = threadIdx.x % {_WARP} / {columns};"
    if plan.sums and (columns > 1 or lanes < _WARP):
        mask = source.fresh_name("peers", *taken)  # lanes of one row, which stay together
        peers = sum(1 << at for at in range(0, lanes, columns))
        words = f"{peers:#010x}u << threadIdx.x % {columns}"
        if lanes < _WARP:
            words = f"{peers:#x}u << (threadIdx.x % {_WARP} - {lane})"
        first += f"\nunsigned int {mask} = {words};"
    if plan.stepped is None or plan.stepped.step_node is None:
        yield source.insert_after(variable.declaration, first)
    else:
        step = plan.stepped.step_node
        yield (*span(step), f"{source.of(step)} / {lanes}")
        yield source.insert_before(plan.stepped.node, first)
    for loop in plan.lanes:
        first_value = start_of(loop)
        if first_value is None:
            return
        start = source.plain(first_value)
        text = lane if start == "0" else f"{source.of(first_value)} + {lane}"
        yield (*span(first_value), text)
        advance = loop.update
        if advance is not None:
            yield (*span(advance), f"{loop.name} += {lanes // columns}")
    for loop, sums in plan.sums:
        for update in sums:
            neutral = identity(update)
            if neutral is not None and not starts_neutral(source, loop, update, neutral):
                line = f"if ({lane} > 0) {update.variable.name} = {neutral};"
                yield source.insert_before(loop.node, line)
        shuffles = _shuffles(source, fn, loop, sums, (columns, lanes), mask)
        yield (loop.node.end_byte, loop.node.end_byte, shuffles)
    for statement in plan.guarded:
        at = statement.start_byte
        yield (at, at, f"if ({lane} == 0) ")


def starts_neutral(source: Source, loop: Loop, update: Update, neutral: str) -> bool:
    """Return whether a scalar holds the operation's neutral value before a loop."""
    variable = update.variable
    init = variable.init
    if init is None or source.plain(init).rstrip("fFuUlL.0") not in ("", neutral.rstrip(".0")):
        return False
    if source.plain(init).rstrip("fFuUlL") not in (neutral, f"{neutral}.", f"{neutral}.0"):
        return False
    before = [u for u in variable.changes if u.node.start_byte < loop.node.start_byte]
    inside = any(
        a.type in ("for_statement", "while_statement", "do_statement")
        and not contains(a, variable.name_node)
        for a in ancestors(loop.node)
    )
    own = [u for u in before if not contains(variable.declaration, u.node)]
    return not own and not inside


def _shuffles(
    source: Source,
    fn: Function,
    loop: Loop,
    sums: Sequence[Update],
    shape: tuple[int, int],
    mask: str,
) -> str:
    """Return the lines that join sums; `shape` is the distance of a row's lanes and their reach."""
    columns, lanes = shape
    margin = source.indent(loop.node)
    step = "    " if "\t" not in margin else "\t"
    name = source.fresh_name("offset", *(v.name for v in fn.variables.all))
    test = f"{name} > 0" if columns == 1 else f"{name} >= {columns}"
    head = f"\n{margin}for (int {name} = {lanes // 2}; {test}; {name} /= 2)"
    taken = [v.name for v in fn.variables.all]
    lines = list(joins(source, sums, lambda s: f"__shfl_xor_sync({mask}, {s}, {name})", taken))
    if len(lines) == 1:
        return f"{head}\n{margin}{step}{lines[0]}"
    body = "".join(f"\n{margin}{step}{line}" for line in lines)
    return f"{head} {{{body}\n{margin}}}"
