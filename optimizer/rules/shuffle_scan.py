"""Replace prefix sums in shared memory by warp shuffles: four barriers instead of two a level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.geometry import block_extents
from optimizer.lockstep import BARRIER, Block, Held, UnknownError
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.shared_tree import number_passed
from optimizer.rules.tiles_text import WARP, Names, summed_up
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, contains, field, walk
from optimizer.variables import Variable

_NAME = "shuffle-scan"
_LOOPS = ("for_statement", "while_statement")
_TYPES = frozenset({
    "float", "double", "int", "unsigned", "unsigned int", "long long", "unsigned long long",
})  # fmt: skip
_SHARES = (1, 2, 4)  # elements a thread
_PADDINGS = (0, 32, 16)  # an element is left out after so many
_INTEGERS = frozenset({"int", "unsigned", "unsigned int", "short", "long", "size_t"})


@dataclass(frozen=True, slots=True)
class _Scan:
    """What statements do: sums of all elements of `array` up to each, itself left out or not.

    They are read from `first` on and left in `result` from `last` on, `share` for each thread.
    Element k stands at k + k / `padded` where that is not 0. `totals` are places outside the block
    that get the sum of all, `settled` what locals hold behind the statements.
    """

    statements: tuple[Node, ...]
    array: Variable
    first: int
    result: Variable
    last: int
    share: int
    inclusive: bool
    totals: tuple[Node, ...]
    settled: tuple[tuple[Variable, int], ...]
    padded: int = 0


def shuffle_scan(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Sum up to each element by shuffles within warps and one shared value a warp.

    The statements between the barriers are run for all threads of a block of known size with
    shared elements as unknowns; where the end is the prefix sums of what was there before, however
    they were found, shuffles take their place. Float sums are reordered.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional or not fn.shared:
            continue
        if len(fn.barriers) < 2 and not any(_waiting(source, lp.node) for lp in fn.loops):
            continue
        block = block_extents(kernel, source, fn)
        if block is None or block[1:] != (1, 1) or block[0] % WARP or not 0 < block[0] <= 1024:
            continue
        for statements in _stretches(source, fn):
            scan = _scan(source, fn, statements, block[0])
            if scan is not None:
                yield _edit(source, fn, scan, block[0])
                break


def _edit(source: Source, fn: Function, scan: _Scan, threads: int) -> Edit:
    return Edit(
        f"sum up the block of `{fn.name}` by warp shuffles",
        source.replace(_rewrite(source, fn, scan, threads)),
        f"rule:{_NAME}",
        f"The prefix sums from line {source.line(scan.statements[0])} wait at barriers on each"
        " level; shuffles sum up a warp in registers, and one shared value a warp is left.",
        _NAME,
        1.8,
    )


# -- legality ------------------------------------------------------------------------------------


def _waiting(source: Source, node: Node) -> bool:
    return any(
        source.plain(field(call, "function")) == BARRIER for call in walk(node, "call_expression")
    )


def _stretches(source: Source, fn: Function) -> Iterator[tuple[Node, ...]]:
    """Yield statements side by side that begin and end with loops that wait, long ones first."""
    for block in walk(fn.body, "compound_statement"):
        inside = [n for n in block.named_children if n.type != "comment"]
        loops = [i for i, n in enumerate(inside) if n.type in _LOOPS and _waiting(source, n)]
        if not loops or any(a.type in _LOOPS and _leaves(a) for a in ancestors(block, fn.body)):
            continue
        for at, low in enumerate(loops):
            for high in reversed(loops[at:]):
                first, last = low, high + 1
                while first and source.plain(inside[first - 1]) == f"{BARRIER}();":
                    first -= 1
                while last < len(inside) and source.plain(inside[last]) == f"{BARRIER}();":
                    last += 1
                yield tuple(inside[first:last])


def _leaves(loop: Node) -> bool:
    return any(True for _ in walk(loop, "break_statement", "continue_statement"))


def _scan(source: Source, fn: Function, statements: tuple[Node, ...], threads: int) -> _Scan | None:
    low, high = statements[0].start_byte, statements[-1].end_byte
    if any(n.start_byte < high for n in walk(fn.body, "return_statement")):
        return None  # a shuffle needs every lane
    block = Block(source, fn, threads, _known(source, fn))
    try:
        _locals_before(block, fn, statements[0])
        block.run(statements)
        found = _prefix_sums(fn, block, threads)
        if found is None:
            return None
        array, first, result, last, share, inclusive, padded = found
        settled = _settled(fn, block, (low, high))
        totals = _totals(fn, block, low)
        reads = (result.name, _places(last, share * threads, padded))
        if settled is None or totals is None or not _reads_only(fn, block, statements[-1], reads):
            return None
    except (UnknownError, RecursionError):
        return None
    if array.element not in _TYPES or result.element != array.element:
        return None
    return _Scan(
        statements, array, first, result, last, share, inclusive, totals, settled, padded
    )  # fmt: skip


def _places(first: int, count: int, padded: int) -> tuple[int, ...]:
    return tuple(first + k + (k // padded if padded else 0) for k in range(count))


def _known(source: Source, fn: Function) -> dict[int, int]:
    """Return the parameters that every launch passes the same number for."""
    found: dict[int, int] = {}
    for variable in fn.variables.all:
        if variable.space == "parameter" and variable.element in _INTEGERS and variable.settled:
            number = number_passed(source, fn, variable)
            if number is not None:
                found[id(variable)] = number
    return found


def _locals_before(block: Block, fn: Function, first: Node) -> None:
    """Work out what locals hold in front of a statement; leave out what is not understood."""
    around = [a for a in ancestors(first, fn.body) if a.type in _LOOPS]
    for variable in fn.variables.all:
        if variable.space != "local" or not variable.is_scalar or variable.element == "float":
            continue
        if variable.name_node.start_byte >= first.start_byte:
            continue
        before = [u for u in variable.changes if u.node.start_byte < first.start_byte]
        again = [
            u for u in variable.changes for loop in around
            if contains(loop, u.node) and not contains(loop, variable.name_node)
        ]  # fmt: skip
        value = variable.init
        if value is None and len(before) == 1 and before[0].role == "write":
            parent = before[0].node.parent
            statement = fn.statement(before[0].node)
            if parent is None or statement is None or statement.parent != variable.scope:
                continue
            value, before = field(parent, "right"), []
        if value is None or before or again or variable.declaration.parent is None:
            continue
        if variable.declaration.parent.type == "for_statement":
            continue
        if any(True for _ in walk(value, "subscript_expression", "assignment_expression")):
            continue
        for thread, own in enumerate(block.locals):
            try:
                own[id(variable)] = block.value(value, thread)
            except UnknownError:
                break


def _prefix_sums(
    fn: Function, block: Block, threads: int
) -> tuple[Variable, int, Variable, int, int, bool, int] | None:
    """Return arrays and first places read and left, share, whether inclusive, and gaps."""
    count = len(block.places)
    names = {name for name, _ in block.places}
    if count % threads or count // threads not in _SHARES or len(names) != 1:
        return None
    ordered = sorted(at for _, at in block.places)
    gaps = [p for p in _PADDINGS if list(_places(ordered[0], count, p)) == ordered]
    if not gaps or (gaps[0] and ordered[0]):
        return None
    padded = gaps[0]
    bits = {at: 1 << i for i, (_, at) in enumerate(block.places)}
    sums = [0]
    for at in ordered:
        sums.append(sums[-1] | bits[at])
    arrays = {v.name: v for v in fn.shared}
    for (name, at), held in block.elements.items():
        if held.places != sums[1]:
            continue
        for inclusive, start in ((True, at), (False, at - 1)):
            offset = 1 if inclusive else 0
            if all(
                block.elements.get((name, place)) == Held(sums[i + offset])
                for i, place in enumerate(_places(start, count, padded))
            ):
                share = count // threads
                array, result = arrays.get(next(iter(names))), arrays.get(name)
                if array is None or result is None:
                    return None
                return array, ordered[0], result, start, share, inclusive, padded
    return None


def _settled(
    fn: Function, block: Block, region: tuple[int, int]
) -> tuple[tuple[Variable, int], ...] | None:
    """Return what locals that the statements change hold behind them, where that is asked for."""
    found: list[tuple[Variable, int]] = []
    for variable in fn.variables.all:
        if contains(region, variable.name_node) or variable.space == "shared":
            continue
        if not any(contains(region, u.node) for u in variable.changes):
            continue
        later = [u for u in variable.uses if u.node.start_byte >= region[1]]
        again = [
            u for u in variable.uses if u.node.start_byte < region[0] for loop in fn.loops
            if contains(loop.node, region) and contains(loop.node, u.node)
        ]  # fmt: skip
        if not later and not again:
            continue
        values = {own.get(id(variable)) for own in block.locals}
        value = values.pop()
        if values or not isinstance(value, int):
            return None
        found.append((variable, value))
    return tuple(found)


def _totals(fn: Function, block: Block, low: int) -> tuple[Node, ...] | None:
    """Return the places outside the block that were given the sum of all elements."""
    everything = (1 << len(block.places)) - 1
    nodes = [node for node, _, _ in block.handed]
    if len({n.id for n in nodes}) != len(nodes):
        return None
    if any(held.places != everything for _, _, held in block.handed):
        return None
    for node in nodes:
        for name in walk(node, "identifier"):
            variable = fn.variables.of(name)
            if variable is not None and variable.name_node.start_byte >= low:
                return None
        listed = field(node, "indices")
        if listed is None or not all(fn.uniform(n) for n in listed.named_children):
            return None
    return tuple(nodes)


def _reads_only(fn: Function, block: Block, last: Node, reads: tuple[str, tuple[int, ...]]) -> bool:
    """Return whether what follows reads no other shared element that the statements left."""
    touched = {name for name, _ in block.elements}
    name, places = reads
    around = [lp.node for lp in fn.loops if contains(lp.node, last)]
    for access in fn.accesses:
        variable = access.variable
        if variable is None or variable.space != "shared" or variable.name not in touched:
            continue
        behind = access.node.start_byte >= last.end_byte
        if not behind:
            if (
                around
                and access.kind != "write"
                and any(contains(lp, access.node) for lp in around)
                and access.node.start_byte < last.start_byte
            ):
                return False
            continue
        if access.kind == "write" and access.index is not None:
            continue
        if variable.name != name:
            return False
        if len(variable.extents) == 1 and block.source.value(variable.extents[0]) == len(places):
            continue
        for thread in range(block.threads):
            if block.place_of(access.node, thread)[1] not in places:
                return False
    return all(
        u.role in ("declare", "load", "store", "modify")
        for v in fn.shared if v.name in touched for u in v.uses
    )  # fmt: skip


# -- the edit ------------------------------------------------------------------------------------


def _rewrite(source: Source, fn: Function, scan: _Scan, threads: int) -> list[Replacement]:
    taken = [v.name for v in fn.variables.all]
    margin = source.indent(scan.statements[0])
    step = "\t" if margin.endswith("\t") else "    " if len(margin) not in (2, 3) else margin
    lines = _lines(source, scan, threads, taken, step)
    start, end = scan.statements[0].start_byte, scan.statements[-1].end_byte
    edits: list[Replacement] = [(start, end, f"\n{margin}".join(lines))]
    for variable in fn.variables.all:
        declaration = variable.declaration
        if variable.space != "local" or contains((start, end), variable.name_node):
            continue
        uses = [u for u in variable.uses if not contains(declaration, u.node)]
        lost = uses and all(contains((start, end), u.node) for u in uses)
        if lost and len(declaration.named_children) == 2 and declaration.type == "declaration":
            edits.append((*source.statement_span(declaration), ""))
    return sorted(edits)


def _lines(source: Source, scan: _Scan, threads: int, taken: list[str], step: str) -> list[str]:
    kind, share = scan.array.written, scan.share
    fresh = Names(source, taken)
    lane, own, before = fresh("lane"), fresh("sum"), fresh("before")
    mine = [fresh("own" if share == 1 else f"own{i}") for i in range(share)]
    at = "threadIdx.x" if share == 1 else f"{share} * threadIdx.x"

    def element(array: Variable, base: int, i: int) -> str:
        number = base + i
        index = at if not number else f"{at} + {number}"
        if scan.padded:
            index += f" + {index if index.isidentifier() else f'({index})'} / {scan.padded}"
        if len(array.extents) == 1:
            return f"{array.name}[{index}]"
        row = source.value(array.extents[1]) or 1
        inner = at if not i else f"{at} + {i}"
        return f"{array.name}[{base // row}][{inner}]"

    lines = [f"{BARRIER}();", f"const int {lane} = threadIdx.x % {WARP};"]
    lines += [f"const {kind} {n} = {element(scan.array, scan.first, i)};"
              for i, n in enumerate(mine)]  # fmt: skip
    lines.append(f"{kind} {own} = {' + '.join(mine)};")
    up = (fresh("below"), fresh("reach"))
    lines += summed_up(kind, own, lane, up, step)
    warps = threads // WARP
    sums, total = fresh("warp_sums"), fresh("warp_sum")
    if warps > 1:
        first = f"{sums}[{lane}]"
        if warps < WARP:
            first = f"{lane} < {warps} ? {first} : 0"
        lines += [
            f"__shared__ {kind} {sums}[{WARP}];",
            f"if ({lane} == {WARP - 1}) {sums}[threadIdx.x / {WARP}] = {own};",
            f"{BARRIER}();",
            f"if (threadIdx.x < {WARP}) {{",
            f"{step}{kind} {total} = {first};",
            *(f"{step}{line}" for line in summed_up(kind, total, lane, up, step)),
            f"{step}{sums}[{lane}] = {total};",
            "}",
            f"{BARRIER}();",
        ]
    lines += [
        f"{kind} {before} = __shfl_up_sync(0xffffffff, {own}, 1);",
        f"if ({lane} == 0) {before} = 0;",
    ]
    if warps > 1:
        lines.append(f"if (threadIdx.x >= {WARP}) {before} += {sums}[threadIdx.x / {WARP} - 1];")
    for i, name in enumerate(mine):
        place = element(scan.result, scan.last, i)
        if scan.inclusive:
            lines += [f"{before} += {name};", f"{place} = {before};"]
        else:
            lines += [f"{place} = {before};", f"{before} += {name};"]
    if not scan.inclusive and not scan.totals:
        lines.pop()
    for target in scan.totals:
        lines.append(f"if (threadIdx.x == {threads - 1}) {source.of(target)} = {before};")
    lines += [f"{v.name} = {number};" for v, number in scan.settled]
    lines.append(f"{BARRIER}();")
    return lines
