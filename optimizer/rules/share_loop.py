"""Share a loop among a block's threads that one of them did alone, or all did alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from optimizer.aliasing import apart
from optimizer.functions import Function
from optimizer.geometry import Geometry, block_extents, by_workload
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.block_per_row import by_block, by_threads
from optimizer.rules.in_locals import in_locals
from optimizer.rules.opening import CLOSE, OPEN, without_marks
from optimizer.rules.reduction import Update, together, updates
from optimizer.rules.row_plan import joint
from optimizer.rules.serial import First, Likeness, first_thread
from optimizer.rules.split_loop import own_element
from optimizer.rules.strided_loops import outer_scalars, splits
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, span, walk
from optimizer.variables import Variable

_NAME = "share-loop"
_WARP = 32
_LOOPS = ("for_statement", "while_statement")
# Shorter loops cost less than the barriers behind them.
_SHORT = 64
_THREADS = (128, 256)
_ONLY = (1024, 256)  # where there is no other block


@dataclass(frozen=True, slots=True)
class _Shared:
    """A statement with loops that threads share, and the sums that are joined behind which."""

    node: Node
    lanes: tuple[Loop, ...]
    sums: tuple[tuple[Loop, tuple[Update, ...]], ...]


@dataclass(frozen=True, slots=True)
class _Region:
    """What the first thread does under a test (`first`) or all do alike, with the loops in it."""

    shared: tuple[_Shared, ...]
    first: First | None = None
    rest: tuple[Node, ...] = ()
    guarded: tuple[Node, ...] = ()


def share_loop(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Let all threads of a block stride a loop that thread 0 ran, or that each ran in full.

    Sums, products, minima and maxima are joined by shuffles and shared memory behind the loop;
    elements that the loop sets are set by whichever thread comes to them. Legal where all threads
    reach the loop, it depends on no thread's number, and nobody else needs what thread 0 alone
    knew. Float sums are reordered.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional or not fn.loops:
            continue
        block = block_extents(kernel, source, fn)
        if block is None or block[1:] != (1, 1) or any(v.volatile for v in fn.variables.all):
            continue
        alike = Likeness(source, fn)
        if block[0] == 1:
            yield from _single(kernel, source, fn, alike)
        elif not block[0] % _WARP:
            yield from _of_one(source, fn, alike)
            yield from _of_all(source, fn, alike)


def _edit(fn: Function, text: str, regions: Sequence[_Region], why: str, gain: float) -> Edit:
    lines = sorted({lp.line for r in regions for s in r.shared for lp in s.lanes})
    return Edit(
        f"share the loop of `{fn.name}` among the threads of a block",
        text,
        f"rule:{_NAME}",
        f"{why} line {', '.join(str(n) for n in lines)}; its threads can stride it together and"
        " join what they found.",
        _NAME,
        gain,
    )


# -- what thread 0 does alone --------------------------------------------------------------------


def _of_one(source: Source, fn: Function, alike: Likeness) -> Iterator[Edit]:
    tests = list(first_thread(source, fn, alike))
    found = [r for first in tests if (r := _region(source, fn, first))]
    if not found:
        text = in_locals(source, fn, tests)
        again = Source(text)
        own = again.function(fn.name)
        if text != source.text and own is not None:
            yield from _of_one(again, own, Likeness(again, own))
        return
    taken = [v.name for v in fn.variables.all]
    edits = [e for r in found for e in _opened(source, fn, r, taken)]
    text = source.replace(sorted(edits, key=lambda e: (e[0], e[1])))
    why = "Thread 0 of each block walks alone in"
    yield _edit(fn, without_marks(text), found, why, 4.0)


def _region(source: Source, fn: Function, first: First) -> _Region | None:
    alike = Likeness(source, fn, first.node)
    statements = list(first.statements)
    last = max((i for i, s in enumerate(statements) if s.type in _LOOPS), default=-1)
    shared: list[_Shared] = []
    by_all: list[Node] = []
    for statement in statements[: last + 1]:
        if statement.type in _LOOPS:
            found = _shared(source, fn, alike, statement)
            if found is None:
                return None
            shared.append(found)
        elif not _done_by_all(fn, alike, statement):
            return None
        by_all.append(statement)
    if not shared:
        return None
    region = _Region(tuple(shared), first, tuple(statements[last + 1 :]))
    low, high = statements[0].start_byte, statements[-1].end_byte
    if not _known_to_first_only(fn, first, (low, high)):
        return None
    return region if _memory_is_ready(source, fn, by_all) else None


def _done_by_all(fn: Function, alike: Likeness, statement: Node) -> bool:
    """Return whether a statement only works out a scalar that is the same for all threads."""
    if statement.type == "comment":
        return True
    if statement.type not in ("declaration", "expression_statement") or not alike(statement):
        return False
    if any(contains(statement, a.node) and a.writes for a in fn.accesses):
        return False
    for inner in walk(statement, "call_expression"):
        if not fn.is_pure(inner):
            return False
    for inner in walk(statement, "assignment_expression", "update_expression"):
        target = field(inner, "left") or field(inner, "argument")
        if target is None or target.type != "identifier":
            return False
    return not any(
        v.space == "shared" or v.is_array
        for v in fn.variables.all
        if contains(statement, v.name_node)
    )


def _known_to_first_only(fn: Function, first: First, region: tuple[int, int]) -> bool:
    """Return whether other threads do not use what they now work out, too."""
    for variable in fn.variables.all:
        if contains(region, variable.name_node) or variable.space == "shared":
            continue
        if not any(contains(region, u.node) for u in variable.changes):
            continue
        for use in variable.uses:
            at = use.node
            if contains(region, at) or at.end_byte <= region[0]:
                if not contains(region, at) and any(
                    contains(lp.node, at) and contains(lp.node, region) for lp in fn.loops
                ):
                    return False
            elif not any(contains(t.node, at) for t in first.others):
                return False
    return True


# -- what all threads do alike -------------------------------------------------------------------


def _of_all(source: Source, fn: Function, alike: Likeness) -> Iterator[Edit]:
    shared = list(_repeated(source, fn, alike))
    shared = [s for s in shared if s.sums and not _writes(fn, s.node)]
    if not shared or not _memory_is_ready(source, fn, [s.node for s in shared]):
        return
    taken = [v.name for v in fn.variables.all]
    edits = [e for s in shared for e in _strided(source, fn, s, taken)]
    region = _Region(tuple(shared))
    why = "All threads of a block do the same in"
    text = source.replace(sorted(edits, key=lambda e: (e[0], e[1])))
    yield _edit(fn, text, [region], why, 3.0)


def _repeated(source: Source, fn: Function, alike: Likeness) -> Iterator[_Shared]:
    """Yield the outermost loops that all threads of a block run alike."""
    done: list[Node] = []
    for loop in fn.loops:
        if any(contains(node, loop.node) for node in done) or not source.in_block(loop.node):
            continue
        if loop.node.type not in _LOOPS or not alike(loop.node) or not alike.reached(loop.node):
            continue
        found = _shared(source, fn, alike, loop.node)
        if found is not None:
            done.append(loop.node)
            yield found


# -- blocks of one thread ------------------------------------------------------------------------


def _single(kernel: Kernel, source: Source, fn: Function, alike: Likeness) -> Iterator[Edit]:
    """Yield kernels launched with one thread a block with their loops shared by many."""
    if alike.asks("threadIdx") or alike.asks("blockDim") or fn.barriers or fn.warp_calls:
        return
    if fn.shared or fn.unknown_calls or fn.unknown_names or not _lets_its_block_grow(source, fn):
        return
    shared = list(_repeated(source, fn, alike))
    if not any(s.sums for s in shared):
        return
    guarded = _effects(source, fn, shared)
    if guarded is None or not _memory_is_ready(source, fn, [s.node for s in shared]):
        return
    taken = [v.name for v in fn.variables.all]
    edits = [e for s in shared for e in _strided(source, fn, s, taken)]
    edits += [(s.start_byte, s.start_byte, "if (threadIdx.x == 0) ") for s in guarded]
    region = _Region(tuple(shared), guarded=guarded)
    alone = all(
        lc.grid and all(e.value == 1 for e in lc.grid) for lc in source.launches_of(fn.name)
    )
    alone = alone and bool(source.launches_of(fn.name))
    for threads in _ONLY if alone else _THREADS:
        geometry = _widened(kernel, source, fn, threads)
        if geometry is None:
            return
        text = source.replace(sorted([*edits, *geometry.edits], key=lambda e: (e[0], e[1])))
        found = _edit(fn, text, [region], "A block's only thread walks alone in", 6.0)
        yield replace(found, title=f"{found.title} of {threads}", launch=geometry.launch)


def _lets_its_block_grow(source: Source, fn: Function) -> bool:
    return all(
        source.function(c.name) is None or not _asks(source, c.name) for c in fn.calls
    ) and not any("threadIdx" in body for body in source.macro_bodies(fn))


def _asks(source: Source, name: str) -> bool:
    callee = source.function(name)
    return callee is not None and any(
        source.of(n) in ("threadIdx", "blockDim") for n in walk(callee.body, "identifier")
    )


def _effects(source: Source, fn: Function, shared: Sequence[_Shared]) -> tuple[Node, ...] | None:
    """Return the statements that change memory outside the shared loops; None if not understood."""
    found: dict[int, Node] = {}
    places = [a.node for a in fn.accesses if a.writes and a.space != "local"]
    for node in places:
        if any(contains(s.node, node) for s in shared):
            continue
        statement = fn.statement(node)
        if statement is None or statement.type != "expression_statement":
            return None
        if not source.in_block(statement) or any(
            u.role in ("write", "update") for u in fn.variables.within(statement)
        ):
            return None
        found[statement.id] = statement
    return tuple(found.values())


def _widened(kernel: Kernel, source: Source, fn: Function, threads: int) -> Geometry | None:
    found = source.launches_of(fn.name)
    edits = tuple({lc.block_span: (*lc.block_span, str(threads)) for lc in found}.values())
    launch = kernel.launch
    if edits and not by_workload(kernel, fn):
        return Geometry(edits)
    if launch is None or not launch.tunable:
        return None
    return Geometry(edits, replace(launch, block=(str(threads),)))


# -- a loop and its sums -------------------------------------------------------------------------


def _shared(source: Source, fn: Function, alike: Likeness, node: Node) -> _Shared | None:
    """Return how threads can share a loop, or the loops inside it; None when that is not legal."""
    if not source.in_block(node) and not alike.test_of(node):
        return None
    if not alike(node) or fn.leaves(node) or fn.unknown_in(node):
        return None
    calls = (*fn.barriers, *fn.warp_calls, *fn.atomics, *fn.unknown_calls)
    if any(contains(node, c.node) for c in calls):
        return None
    lanes = _lanes(fn, node)
    if not lanes:
        return None
    sums: dict[int, tuple[Loop, list[Update]]] = {}
    for loop in lanes:
        for variable in outer_scalars(fn, loop):
            found = updates(source, fn, variable, loop.node, places=True)
            place = found and _joint(source, fn, lanes, loop, variable, node)
            if not found or not place or variable.space == "shared":
                return None
            known = sums.setdefault(place.node.id, (place, []))[1]
            known += [u for u in found[:1] if u.variable not in {k.variable for k in known}]
    if not all(together(us) for _, us in sums.values()):
        return None
    if not _sets_its_own(source, fn, lanes, node):
        return None
    return _Shared(node, lanes, tuple((lp, tuple(us)) for lp, us in sums.values()))


def _joint(
    source: Source, fn: Function, lanes: Sequence[Loop], loop: Loop, variable: Variable, node: Node
) -> Loop | None:
    """Return the loop behind which a sum is joined, where that is within a statement."""
    if loop.node.id == node.id:
        return loop
    found = joint(source, fn, lanes, loop, variable)
    while found is not None and not contains(node, found.node):
        inner = [lp for lp in fn.loops_around(loop.node) if contains(node, lp.node)]
        found = inner[0] if inner else loop
    return found


def _lanes(fn: Function, node: Node) -> tuple[Loop, ...]:
    """Return the loops in a statement that threads stride: those along memory, else the outer."""
    inside = [lp for lp in fn.loops if contains(node, lp.node)]
    if any(lp.kind not in ("for", "while") for lp in inside):
        return ()
    along: list[Loop] = []
    for loop in reversed(inside):
        if any(contains(loop.node, other.node) for other in along) or not splits(loop):
            continue
        if any(
            (stride := a.loop_stride(loop)) is not None and stride.constant in (1, 2, 3, 4)
            for a in fn.accesses_in(loop.body)
            if a.space in ("global", "shared", "device")
        ) and (loop.trips is None or loop.trips >= _SHORT):
            along.append(loop)
    if along:
        return tuple(reversed(along))
    outer = next((lp for lp in inside if lp.node.id == node.id), None)
    if outer is None or not splits(outer) or not fn.accesses_in(outer.body):
        return ()
    return (outer,) if outer.trips is None or outer.trips >= _SHORT else ()


def _writes(fn: Function, node: Node) -> bool:
    return any(a.writes and a.space != "local" for a in fn.accesses_in(node))


def _sets_its_own(source: Source, fn: Function, lanes: Sequence[Loop], node: Node) -> bool:
    """Return whether all that a statement writes to memory is set by one thread each."""
    inside = fn.accesses_in(node)
    for access in inside:
        if not access.writes:
            continue
        if access.space == "local":
            return False
        loop = next((lp for lp in lanes if contains(lp.body, access.node)), None)
        if loop is None or not own_element(source, fn, loop, access, inside):
            return False
    return True


def _memory_is_ready(source: Source, fn: Function, inside: Sequence[Node]) -> bool:
    """Return whether what all threads now read was written before a barrier, or never."""
    reads = [a for s in inside for a in fn.accesses_in(s) if a.space != "local"]
    for write in fn.accesses:
        if not write.writes or write.space == "local":
            continue
        if any(contains(node, write.node) for node in inside):
            continue
        met = [r for r in reads if _may_meet(source, fn, r.variable, write.variable)]
        if not met:
            continue
        behind = write.node.start_byte > max(r.node.end_byte for r in met)
        if behind and not any(
            contains(lp.node, write.node) and contains(lp.node, r.node)
            for lp in fn.loops
            for r in met
        ):
            continue  # a barrier stands behind every shared loop
        if not any(
            write.node.end_byte <= b.node.start_byte < min(r.node.start_byte for r in met)
            for b in fn.barriers
        ):
            return False
    return True


def _may_meet(source: Source, fn: Function, one: Variable | None, other: Variable | None) -> bool:
    if one is None or other is None:
        return True
    return one is other or not apart(source, fn, one, other)


# -- the edit ------------------------------------------------------------------------------------


def _opened(
    source: Source, fn: Function, region: _Region, taken: list[str]
) -> Iterator[Replacement]:
    """Yield the edits that let all threads into what stood under a test for thread 0."""
    first = region.first
    if first is None:
        return
    for shared in region.shared:
        yield from _strided(source, fn, shared, taken)
    rest = [n for n in region.rest if n.type != "comment"]
    if rest:
        margin = source.indent(rest[0])
        low, high = region.rest[0].start_byte, region.rest[-1].end_byte
        if len(region.rest) == 1 and rest[0].type != "declaration":
            yield (low, low, f"if ({first.test}) ")
        else:
            unit = "\t" if margin.endswith("\t") else "    "
            yield (low, low, f"if ({first.test}) {{\n{margin}{unit}")
            at = source.text.find("\n", low)
            while -1 < at < high:
                if source.text[at + 1 : at + 2] not in ("\n", "\r", "#"):
                    yield (at + 1, at + 1, unit)
                at = source.text.find("\n", at + 1)
            yield (high, high, f"\n{margin}}}")
    if first.exits:
        kept = f"if ({first.kept}) return;" if first.kept else ""
        yield (*(span(first.node) if kept else source.statement_span(first.node)), kept)
        return
    body = field(first.node, "consequence")
    if body is None:
        return
    if first.kept:
        yield (first.node.start_byte, body.start_byte, f"if ({first.kept}) ")
    elif body.type != "compound_statement":
        yield (first.node.start_byte, body.start_byte, "")
    elif first.apart:
        yield (first.node.start_byte, body.start_byte + 1, OPEN)
        yield (body.end_byte - 1, body.end_byte, CLOSE)
    else:
        yield (first.node.start_byte, body.start_byte, "")


def _strided(
    source: Source, fn: Function, shared: _Shared, taken: list[str]
) -> Iterator[Replacement]:
    for loop in shared.lanes:
        yield from by_threads(source, loop)
    joined: set[int] = set()
    for loop, sums in shared.sums:
        joined.add(loop.node.id)
        yield from by_block(source, fn, loop, sums, taken)
    if not joined and _writes(fn, shared.node):
        yield source.insert_after(shared.node, "__syncthreads();")
