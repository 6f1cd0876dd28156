"""A kernel whose rows are given to the lanes of warps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.rules.reduction import Update, identity, joins
from optimizer.rules.row_plan import RowPlan
from optimizer.rules.strided_loops import WARP, start_of
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, contains, span


def by_lanes(
    source: Source, fn: Function, plan: RowPlan, *, columns: int = 1, lanes: int = WARP
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
        warp = f"({source.of(init)}) / {WARP} * {columns}"
        yield (*span(init), f"{warp} + threadIdx.x % {columns}")
        first = f"int {lane} = threadIdx.x % {WARP} / {columns};"
    if plan.sums and (columns > 1 or lanes < WARP):
        mask = source.fresh_name("peers", *taken)  # lanes of one row, which stay together
        peers = sum(1 << at for at in range(0, lanes, columns))
        words = f"{peers:#010x}u << threadIdx.x % {columns}"
        if lanes < WARP:
            words = f"{peers:#x}u << (threadIdx.x % {WARP} - {lane})"
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
