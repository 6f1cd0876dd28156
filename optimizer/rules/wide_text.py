"""A kernel whose threads load, work on and store several neighbouring elements each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.rules.odometer import Odometer
from optimizer.rules.wide_arrays import SIZES, Array, ldg_call
from optimizer.rules.wide_work import Work, dependent, inlined
from optimizer.source import Source
from optimizer.spans import Replacement, line_end
from optimizer.syntax import contains, field, span

_PACKS = {2: "unsigned short", 4: "unsigned int", 8: "uint2", 16: "uint4"}
_VECTORS = {
    ("float", 4): "float4", ("float", 2): "float2", ("double", 2): "double2",
    ("int", 4): "int4", ("int", 2): "int2", ("unsigned int", 4): "uint4",
    ("unsigned int", 2): "uint2", ("unsigned char", 4): "uchar4", ("short", 4): "short4",
    ("unsigned short", 4): "ushort4", ("char", 4): "char4",
}  # fmt: skip


def edits(
    source: Source,
    fn: Function,
    work: Work,
    arrays: Sequence[Array],
    width: int,
    counter: Odometer | None,
) -> Iterator[Replacement]:
    """Yield the edits after which a thread moves `width` neighbours of each array at once.

    `counter` is what counts the elements' coordinates on instead of dividing for each.
    """
    taken = [v.name for v in fn.variables.all]
    name = work.variable.name
    first = source.fresh_name("first", *taken)
    count = source.fresh_name("kWidth", *taken)
    lane = source.fresh_name("j", *taken)
    whole = source.fresh_name("whole", *taken)
    kept = {a.variable.name: source.fresh_name(f"{a.variable.name}_next", *taken) for a in arrays}
    kind = work.variable.element
    outer = source.indent(work.declaration if work.loop is None else work.loop.node)
    assumed = {a.variable.element: a.kind for a in arrays if a.variable.element != a.kind}
    constant = f"constexpr int {count} = {width};" + "".join(
        f'\n{outer}static_assert(sizeof({name}) == {SIZES[of]}, "{name} is {of}");'
        for name, of in assumed.items()
    )
    if work.loop is not None:
        constant = constant.replace(f"\n{outer}", "\n")
        yield source.insert_before(work.loop.node, constant)
        yield (
            *span(work.declaration),
            f"{kind} {first} = {_grouped(source.of(work.start))} * {count};",
        )
        yield from _renamed(fn, work, work.loop.condition, first)
        step = work.loop.step_node
        if step is not None and work.loop.update is not None:
            text = f"{first} += {_grouped(source.of(step))} * {count}"
            yield (*span(work.loop.update), text)
    else:
        text = f"const {kind} {first} = ({source.of(work.start)}) * {count};"
        yield (*span(work.declaration), f"{constant}\n{outer}{text}")
        for node in dependent(fn, work):
            yield (*source.statement_span(node), "")
        yield from _renamed(fn, work, field(work.test, "condition"), first)
    gone = sorted(counter.declarations if counter else (), key=lambda node: node.start_byte)
    statements = [n for n in work.statements if all(n.id != g.id for g in gone)]
    removed = [source.statement_span(node) for node in gone]
    yield from ((*at, "") for at in removed[1:])
    if counter is not None:
        lines = f"\n{source.indent(gone[0])}".join(counter.declared(first))
        yield (*span(gone[0]), lines)
    low, high = statements[0].start_byte, statements[-1].end_byte
    margin = source.indent(low) if not work.exits else outer
    step_text = "\t" if margin.endswith("\t") else "    " if len(outer) not in (2, 3) else outer
    braced = work.exits or source.in_block(statements[0])
    if not braced:
        margin = outer + step_text
    head = [
        *_loads(source, fn, work, arrays, kept, width, (first, count, lane, whole), step_text),
        "#pragma unroll",
        f"for (int {lane} = 0; {lane} < {count}; {lane}++) {{",
        f"{step_text}const {kind} {name} = {first} + {lane};",
        f"{step_text}if (!{whole} && {name} >= {source.of(work.extent)}) break;",
    ]
    head += [
        f"{step_text}{source.of(n)}"
        for n in dependent(fn, work)
        if any(u.node.start_byte > low for v in fn.variables.all if contains(n, v.name_node)
               for u in v.uses)
    ]  # fmt: skip
    names = (first, count, lane, whole)
    tail = [
        *(f"{step_text}{line}" for line in (counter.counted(step_text) if counter else ())),
        "}",
        *_stores(source, fn, work, arrays, kept, width, names, step_text),
    ]
    at, opening, closing = _around(source, low, (outer, margin), braced=braced)
    yield (at, low, opening + f"\n{margin}".join(head) + f"\n{margin}{step_text}")
    for edit in _indents(source, low, high, step_text):
        if not any(a <= edit[0] < b for a, b in removed):
            yield edit
    yield from _replaced(source, arrays, kept, lane)
    yield (high, high, f"\n{margin}" + f"\n{margin}".join(tail) + closing)


def loop_edits(
    source: Source, fn: Function, work: Work, arrays: Sequence[Array], width: int
) -> Iterator[Replacement]:
    """Yield the edits that widen one loop, in which a constant for the width is known already."""
    name = source.fresh_name("kWidth", *(v.name for v in fn.variables.all))
    declared = f"constexpr int {name} = {width};"
    for edit in edits(source, fn, work, arrays, width, None):
        if declared not in edit[2]:
            yield edit


def _replaced(
    source: Source, arrays: Sequence[Array], kept: Mapping[str, str], lane: str
) -> Iterator[Replacement]:
    for array in arrays:
        for access in array.accesses:
            parent = access.node.parent
            call = None
            if parent is not None and parent.type == "pointer_expression":
                call = ldg_call(source, parent)
            yield (*span(call or access.node), f"{kept[array.variable.name]}[{lane}]")


def _around(
    source: Source, low: int, margins: tuple[str, str], *, braced: bool
) -> tuple[int, str, str]:
    """Return from where on to replace before statements, and what opens and closes their block."""
    outer, margin = margins
    alone = not source.text[source.text.rfind("\n", 0, low) + 1 : low].strip()
    if braced:  # or `if (i < n) { y[i] = x[i]; }` on one line
        return (low, "", "") if alone else (low, f"\n{margin}", f"\n{outer}")
    header = len(source.text[:low].rstrip())
    if alone and source.text[header - 1] == ")":
        return header, f" {{\n{margin}", f"\n{outer}}}"
    return low, f"{{\n{margin}", f"\n{outer}}}"


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+", text) else f"({text})"


def _renamed(fn: Function, work: Work, node: Node | None, first: str) -> Iterator[Replacement]:
    if node is None:
        return
    for use in fn.variables.within(node):
        if use.variable is work.variable:
            yield (*span(use.node), first)


def _indents(source: Source, low: int, high: int, step: str) -> Iterator[Replacement]:
    at = line_end(source.text, low)
    while at < high:
        if source.text[at : at + 1] not in ("\n", "\r", "#"):
            yield (at, at, step)
        at = line_end(source.text, at)


def _place(source: Source, fn: Function, work: Work, array: Array, first: str) -> str:
    text = inlined(source, fn, work, array.accesses[0].indices[0], first)
    return f"{array.variable.name}[{text}]"


def _loads(
    source: Source, fn: Function, work: Work, arrays: Sequence[Array], kept: dict[str, str],
    width: int, names: tuple[str, str, str, str], step: str,
) -> Iterator[str]:  # fmt: skip
    """Yield the lines that test the alignment, declare the elements and load them."""
    first, count, lane, whole = names
    extent = source.of(work.extent)
    places = [_place(source, fn, work, a, first) for a in arrays]
    largest = max(width * SIZES[a.kind] for a in arrays)
    same = len({SIZES[a.kind] for a in arrays}) == 1
    if same:
        addresses = " | ".join(f"(size_t)&{p}" for p in places)
        aligned = f"({addresses}) % {largest} == 0"
        if len(places) == 1:
            aligned = f"(size_t)&{places[0]} % {largest} == 0"
    else:
        aligned = " && ".join(
            f"(size_t)&{p} % {width * SIZES[a.kind]} == 0"
            for p, a in zip(places, arrays, strict=True)
        )
    yield f"const bool {whole} = {first} + {count} <= {extent} && {aligned};"
    for array in arrays:
        kind, bytes_ = array.variable.element, width * SIZES[array.kind]
        yield f"alignas({bytes_}) {kind} {kept[array.variable.name]}[{count}];"
    loaded = [(a, p) for a, p in zip(arrays, places, strict=True) if a.loaded]
    if not loaded:
        return
    yield f"if ({whole}) {{"
    for array, place in loaded:
        pack = _pack(array, width)
        own = kept[array.variable.name]
        yield f"{step}*reinterpret_cast<{pack}*>({own}) ="
        yield f"{step}{step}*reinterpret_cast<const {pack}*>(&{place});"
    yield "} else {"
    yield from _single(
        [f"{kept[a.variable.name]}[{lane}] = (&{p})[{lane}];" for a, p in loaded],
        work, source, names, step,
    )  # fmt: skip
    yield "}"


def _stores(
    source: Source, fn: Function, work: Work, arrays: Sequence[Array], kept: dict[str, str],
    width: int, names: tuple[str, str, str, str], step: str,
) -> Iterator[str]:  # fmt: skip
    first, _, lane, whole = names
    stored = [(a, _place(source, fn, work, a, first)) for a in arrays if a.stored]
    if not stored:
        return
    yield f"if ({whole}) {{"
    for array, place in stored:
        pack = _pack(array, width)
        own = kept[array.variable.name]
        yield f"{step}*reinterpret_cast<{pack}*>(&{place}) ="
        yield f"{step}{step}*reinterpret_cast<const {pack}*>({own});"
    yield "} else {"
    yield from _single(
        [f"(&{p})[{lane}] = {kept[a.variable.name]}[{lane}];" for a, p in stored],
        work, source, names, step,
    )  # fmt: skip
    yield "}"


def _single(
    lines: Sequence[str], work: Work, source: Source, names: tuple[str, str, str, str], step: str
) -> Iterator[str]:
    first, count, lane, _ = names
    yield f"{step}#pragma unroll"
    yield f"{step}for (int {lane} = 0; {lane} < {count}; {lane}++) {{"
    yield f"{step}{step}if ({first} + {lane} >= {source.of(work.extent)}) break;"
    yield from (f"{step}{step}{line}" for line in lines)
    yield f"{step}}}"


def _pack(array: Array, width: int) -> str:
    return _VECTORS.get((array.kind, width)) or _PACKS[width * SIZES[array.kind]]
