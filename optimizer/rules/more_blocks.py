"""Fill the GPU with blocks where a small grid strides over an array, or one thread walks it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.geometry import Change, Geometry, block_extents, by_workload, regrid
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.polynomials import Polynomial
from optimizer.rules.outputs import alone
from optimizer.rules.reduction import updates
from optimizer.rules.split_loop import own_element
from optimizer.rules.strided_loops import counts_only
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, span, walk
from optimizer.variables import Variable

_NAME = "more-blocks"
_BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_WARP = 32
# Threads that keep a large GPU busy (132 multiprocessors of 2,048), and a quarter of them.
_ENOUGH = (1 << 18, 1 << 16)
# Grids of more threads than this are left to the choice of block sizes.
_FEW = 1 << 17
_THREADS = 256
_SHORT = 1024


@dataclass(frozen=True, slots=True)
class _Form:
    """What a kernel's loops walk now, with what makes them walk by the whole grid."""

    loops: tuple[Loop, ...]
    edits: tuple[Replacement, ...]
    why: str
    gain: float


def more_blocks(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Launch more blocks for loops whose iterations are shared by all threads of a grid.

    `for (i = tid; i < n; i += blockDim.x * gridDim.x)` is right for any grid, and a grid of 32
    blocks leaves most of a GPU idle. `i += blockDim.x` of a kernel that is launched as one block,
    and a loop that one thread walks alone, are made such loops first. Legal where each iteration
    writes elements of its own or sums that end in atomics, and nothing else knows of the grid.
    """
    del findings
    source = Source(kernel.source)
    found = [f for fn in source.kernels if (f := _understood(kernel, source, fn)) is not None]
    found.sort(key=lambda f: -f[1].gain)
    for enough in _ENOUGH:
        for fn, form, threads, grid in found:
            own = threads if threads > 1 else _THREADS
            blocks = enough // own
            if blocks < 2 * grid or own < _WARP:
                continue
            geometry = _launched(kernel, source, fn, blocks, own if threads == 1 else 0)
            if geometry is None:
                continue
            lines = ", ".join(str(loop.line) for loop in form.loops)
            yield Edit(
                f"launch `{fn.name}` with {blocks} blocks in place of {grid}",
                source.replace(sorted([*form.edits, *geometry.edits])),
                f"rule:{_NAME}",
                f"{form.why} (line {lines}); {blocks} blocks of {own} threads keep all"
                " multiprocessors busy, whatever the number of elements.",
                _NAME,
                form.gain,
                geometry.launch,
            )


def _understood(
    kernel: Kernel, source: Source, fn: Function
) -> tuple[Function, _Form, int, int] | None:
    """Return a kernel whose grid may grow with how, its threads a block and its blocks."""
    if fn.broken or fn.has_asm or fn.has_goto or fn.conditional or not alone(source, fn):
        return None
    block, grid = block_extents(kernel, source, fn), _blocks(kernel, source, fn)
    if block is None or block[1:] != (1, 1) or grid is None:
        return None
    form = _form(source, fn, block[0], grid)
    return (fn, form, block[0], grid) if form is not None else None


def _blocks(kernel: Kernel, source: Source, fn: Function) -> int | None:
    """Return how many blocks along x every launch has, none along y and z; None if not seen."""
    found = [[e.value for e in lc.grid or ()] for lc in source.launches_of(fn.name)]
    if kernel.launch is not None and (not found or by_workload(kernel, fn)):
        found.append([source.value(text) for text in kernel.launch.grid])
    sizes = {tuple([*each, 1, 1][:3]) for each in found if each}
    if len(sizes) != 1 or not all(found):
        return None
    x, *more = sizes.pop()
    return x if more == [1, 1] else None


def _form(source: Source, fn: Function, threads: int, grid: int) -> _Form | None:
    if threads * grid > _FEW:
        return None
    tops = tuple(lp for lp in fn.loops if not lp.depth)
    if not _only_x(source, fn) or not tops or fn.calls_of("printf"):
        return None
    if threads == grid == 1:
        return _serial(source, fn, tops)
    loops = tuple(lp for lp in tops if any(_walks(lp, a) for a in fn.accesses))
    if not loops:
        return None
    strided = [_strides(source, fn, lp) for lp in loops]
    if all(kind == "grid" for kind in strided):
        few = _FEW // (threads * grid)
        return (
            _Form(loops, (), f"{grid} blocks are few for the whole array", min(6.0, 1.3 * few))
            if _free(source, fn, loops, ("blockIdx", "gridDim"))
            else None
        )
    if grid > 1 or any(kind != "block" for kind in strided):
        return None
    if fn.shared or fn.barriers or fn.warp_calls:
        return None
    if not _free(source, fn, loops, _BUILTINS):
        return None
    return _Form(loops, tuple(_by_grid(source, fn)), "One block walks the whole array", 8.0)


def _walks(loop: Loop, access: Access) -> bool:
    return access.space not in ("local", "shared") and contains(loop.node, access.node)


def _only_x(source: Source, fn: Function) -> bool:
    """Return whether a kernel asks for built-in numbers along x only."""
    named = [n for n in walk(fn.body, "identifier") if source.of(n) in _BUILTINS]
    return all(source.plain(n.parent) == f"{source.of(n)}.x" for n in named)


# -- loops that threads share --------------------------------------------------------------------


def _strides(source: Source, fn: Function, loop: Loop) -> str:
    """Return whether a loop is walked by `grid` or `block`; empty where neither."""
    if not loop.counted or loop.leaves_early or loop.relation not in ("<", "<="):
        return ""
    variable = loop.variable
    if variable is None or variable.element not in _INTEGERS or loop.step_node is None:
        return ""
    begin = loop.start if loop.start is not None else variable.init
    if loop.start is None and not _begins_it(variable, loop):
        return ""
    first, step = fn.affine(begin), fn.affine(loop.step_node)
    if first is None or step is None or loop.update is None or not _adds(source, loop.update):
        return ""
    for block in ("blockDim.x", *_sizes(step)):
        if _is(first, {("threadIdx.x",): 1, _product(block, "blockIdx.x"): _factor(block)}):
            fits = _is(step, {_product(block, "gridDim.x"): _factor(block)})
            return "grid" if fits else ""
    alone = _is(first, {("threadIdx.x",): 1}) and _is(step, {("blockDim.x",): 1})
    return "block" if alone else ""


_INTEGERS = (
    "int", "unsigned", "unsigned int", "long", "size_t", "long long", "unsigned long",
    "unsigned long long", "int64_t", "uint64_t", "int32_t", "uint32_t",
)  # fmt: skip


def _adds(source: Source, update: Node) -> bool:
    return "-" not in source.plain(update)


def _begins_it(variable: Variable, loop: Loop) -> bool:
    """Return whether `int i = tid;` stands in front of the one loop that uses `i`."""
    return variable.init is not None and all(
        contains(variable.declaration, u.node) or contains(loop.node, u.node) for u in variable.uses
    )


def _sizes(step: Polynomial) -> tuple[str, ...]:
    """Return the block's extent that a step of the grid names: a constant, or a number."""
    found = [(m, f) for m, f in step.terms.items() if "gridDim.x" in m]
    if len(found) != 1:
        return ()
    names, factor = found[0]
    others = [n for n in names if n != "gridDim.x"]
    return (str(factor),) if not others else tuple(others) if len(others) == 1 else ()


def _factor(block: str) -> int:
    return int(block) if block.isdigit() else 1


def _product(block: str, number: str) -> tuple[str, ...]:
    return (number,) if block.isdigit() else tuple(sorted((block, number)))


def _is(value: Polynomial, terms: dict[tuple[str, ...], int]) -> bool:
    return dict(value.terms) == terms


# -- legality ------------------------------------------------------------------------------------


def _free(source: Source, fn: Function, loops: Sequence[Loop], words: Sequence[str]) -> bool:
    """Return whether a kernel's results do not depend on how many blocks share its loops.

    `words` are the built-in numbers that only the heads of the loops may use.
    """
    if any(True for _ in walk(fn.body, "return_statement")):
        return False
    heads = [n for lp in loops for n in (lp.start, lp.update) if n is not None]
    heads += [lp.variable.declaration for lp in loops if lp.variable and lp.start is None]
    for variable in fn.variables.all:
        uses = [u.node for u in variable.uses if not contains(variable.declaration, u.node)]
        if variable.init is None or not variable.settled or not uses:
            continue
        if all(any(contains(h, u) for h in heads) for u in uses):
            heads.append(variable.init)
    for node in walk(fn.body, "identifier"):
        if source.of(node) in words and not any(contains(h, node) for h in heads):
            return False
    return independent(source, fn, loops)


def independent(source: Source, fn: Function, loops: Sequence[Loop]) -> bool:
    """Return whether iterations write elements of their own, or sums that end in atomics."""
    atomic = {a.root for a in fn.accesses if a.kind == "atomic"}
    for access in fn.accesses:
        if access.space in ("local", "shared", "constant"):
            continue
        loop = next((lp for lp in loops if contains(lp.body, access.node)), None)
        if access.kind == "unknown" or (access.kind != "atomic" and access.root in atomic):
            return False
        if access.kind in ("read", "atomic"):
            continue
        inside = [a for a in fn.accesses if loop is not None and contains(loop.node, a.node)]
        beyond = any(a.root == access.root for a in fn.accesses if a not in inside)
        if loop is None or beyond or not own_element(source, fn, loop, access, inside):
            return False
    if any(_leaks(call.node) for call in fn.atomics):
        return False
    return all(_carries_sums_only(source, fn, loop) for loop in loops) and not any(
        contains(lp.node, b.node) for b in (*fn.barriers, *fn.warp_calls) for lp in loops
    )


def _leaks(call: Node) -> bool:
    """Return whether the value that an atomic returns is used."""
    return call.parent is None or call.parent.type != "expression_statement"


def _carries_sums_only(source: Source, fn: Function, loop: Loop) -> bool:
    for variable in fn.variables.all:
        if variable is loop.variable or contains(loop.node, variable.name_node):
            continue
        if counts_only(variable) or not any(contains(loop.node, u.node) for u in variable.changes):
            continue
        if variable.is_array and variable.space == "shared":
            if any(contains(loop.node, u.node) and u.role != "atomic" for u in variable.uses):
                return False
            continue
        if updates(source, fn, variable, loop.body) is None:
            return False
    return True


# -- one block, one thread -----------------------------------------------------------------------


def _by_grid(source: Source, fn: Function) -> Iterator[Replacement]:
    """Yield what makes a block's strides the grid's."""
    for node in walk(fn.body, "field_expression"):
        new = {
            "threadIdx.x": "blockIdx.x * blockDim.x + threadIdx.x",
            "blockDim.x": "blockDim.x * gridDim.x",
        }.get(source.plain(node))
        if new is not None:
            yield (*span(node), new if _stands_alone(node) else f"({new})")


def _stands_alone(node: Node) -> bool:
    """Return whether an expression is all that is assigned, added or set."""
    outer = node.parent
    if outer is None:
        return False
    return outer.type == "init_declarator" or (
        outer.type == "assignment_expression" and field(outer, "right") == node
    )


def _serial(source: Source, fn: Function, loops: Sequence[Loop]) -> _Form | None:
    """Return how the threads of a grid share what one thread walks now.

    Rows of a nest go to blocks and their elements to threads where both are independent.
    """
    loop = loops[0]
    names = {source.of(n) for n in walk(fn.body, "identifier")}
    if len(loops) != 1 or names & set(_BUILTINS) or fn.shared or fn.barriers or fn.warp_calls:
        return None
    if not _counts_up(loop) or fn.atomics or not any(a.writes for a in fn.accesses):
        return None
    if any(_carries(loop, v) for v in fn.variables.all):
        return None
    inner = _inner(source, fn, loop)
    if inner is not None and all(_in_its_row(fn, loop, inner, a) for a in fn.accesses):
        edits = [*_steps(source, loop, "blockIdx.x", "gridDim.x")]
        edits += _steps(source, inner, "threadIdx.x", "blockDim.x")
        return _Form((loop, inner), tuple(edits), "One thread walks all rows", 100.0)
    if not _free(source, fn, loops, ()) or (loop.trips is not None and loop.trips < _SHORT):
        return None
    number = "blockIdx.x * blockDim.x + threadIdx.x"
    edits = [*_steps(source, loop, number, "blockDim.x * gridDim.x")]
    return _Form((loop,), tuple(edits), "One thread walks the whole array", 50.0)


def _steps(source: Source, loop: Loop, number: str, stride: str) -> Iterator[Replacement]:
    start = source.of(loop.start)
    if loop.start is not None and loop.update is not None:
        yield (*span(loop.start), number if start == "0" else f"{start} + {number}")
        yield (*span(loop.update), f"{loop.name} += {stride}")


def _inner(source: Source, fn: Function, loop: Loop) -> Loop | None:
    """Return the loop that is all an outer one does, its iterations independent, too."""
    found = [lp for lp in fn.loops if lp.depth == 1 and contains(loop.body, lp.node)]
    if len(found) != 1 or not _counts_up(found[0]) or (found[0].trips or _WARP) < _WARP:
        return None
    inner = found[0]
    for statement in loop.body_statements():
        if statement.type not in ("declaration", "comment") and statement != inner.node:
            return None
    inside = [a for a in fn.accesses if contains(inner.node, a.node)]
    for access in fn.accesses:
        if access.writes and access.space != "local":
            if not contains(inner.node, access.node):
                return None
            if not own_element(source, fn, inner, access, inside):
                return None
    return None if any(_carries(inner, v) for v in fn.variables.all) else inner


def _in_its_row(fn: Function, outer: Loop, inner: Loop, access: Access) -> bool:
    """Return whether what is written is `[i * n + j]` with j from 0 to below n, or never written.

    Whoever writes an element reads it at that very place only, as `_inner` has seen.
    """
    if access.space in ("local", "constant") or not access.writes:
        return access.kind != "unknown"
    bound, start = fn.affine(inner.bound), fn.affine(inner.start)
    if access.index is None or bound is None or start is None or inner.relation != "<":
        return False
    row, column = (access.index.coefficient(lp.name) for lp in (outer, inner))
    within = start.constant is not None and start.constant >= 0
    return (
        within and row is not None and row.same(bound)
        and column is not None and column.constant == 1
    )  # fmt: skip


def _counts_up(loop: Loop) -> bool:
    variable, start = loop.variable, loop.start
    return (
        loop.kind == "for" and loop.counted and loop.step == 1 and not loop.leaves_early
        and loop.relation in ("<", "<=") and variable is not None and start is not None
        and counts_only(variable) and variable.element in _INTEGERS
        and (start.type == "number_literal" or variable.element in _INTEGERS[:3])
    )  # fmt: skip


def _carries(loop: Loop, variable: Variable) -> bool:
    """Return whether a variable from before a loop is changed by it."""
    if contains(loop.node, variable.name_node) or counts_only(variable):
        return False
    return any(contains(loop.node, u.node) for u in variable.changes)


# -- launches ------------------------------------------------------------------------------------


def _launched(
    kernel: Kernel, source: Source, fn: Function, blocks: int, threads: int
) -> Geometry | None:
    """Return every launch with `blocks` blocks; of `threads` threads, unless 0."""
    geometry = regrid(kernel, source, fn, {"x": _exactly(blocks)})
    if geometry is None or not threads:
        return geometry
    launch = geometry.launch and replace(geometry.launch, block=(str(threads),))
    spans = {lc.block_span: str(threads) for lc in source.launches_of(fn.name)}
    return Geometry((*geometry.edits, *((*at, new) for at, new in spans.items())), launch)


def _exactly(extent: int) -> Change:
    def change(_: str) -> str:
        return str(extent)

    return change
