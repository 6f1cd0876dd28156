"""Load and store several neighbouring elements a thread at once: float4 instead of float."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Function
from optimizer.geometry import Change, Geometry, regrid
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel, Launch
from optimizer.rules.odometer import Odometer, odometer
from optimizer.source import Source
from optimizer.spans import Replacement, line_end, replace
from optimizer.syntax import ancestors, contains, field, operator, span, walk
from optimizer.variables import Variable

_NAME = "vectorize"
SIZES = {
    "float": 4, "double": 8, "int": 4, "unsigned int": 4, "unsigned": 4, "int32_t": 4,
    "uint32_t": 4, "short": 2, "unsigned short": 2, "uint16_t": 2, "half": 2, "__half": 2,
    "__nv_bfloat16": 2, "char": 1, "unsigned char": 1, "uint8_t": 1, "uchar": 1, "int8_t": 1,
    "signed char": 1, "long long": 8, "unsigned long long": 8, "int64_t": 8, "uint64_t": 8,
}  # fmt: skip
_PACKS = {2: "unsigned short", 4: "unsigned int", 8: "uint2", 16: "uint4"}
_VECTORS = {
    ("float", 4): "float4", ("float", 2): "float2", ("double", 2): "double2",
    ("int", 4): "int4", ("int", 2): "int2", ("unsigned int", 4): "uint4",
    ("unsigned int", 2): "uint2", ("unsigned char", 4): "uchar4", ("short", 4): "short4",
    ("unsigned short", 4): "ushort4", ("char", 4): "char4",
}  # fmt: skip
_BRANCHES = frozenset({
    "if_statement", "for_statement", "while_statement", "do_statement", "switch_statement",
    "conditional_expression", "for_range_loop", "lambda_expression",
})  # fmt: skip
# What these test is always evaluated.
_TESTING = ("if_statement", "conditional_expression")
_MOST_ARRAYS = 6
_NUMBERS = ("threadIdx.x", "blockIdx.x", "gridDim.x")


@dataclass(frozen=True, slots=True)
class Work:
    """Where a thread's element is worked on: the statements between `low` and `high`.

    `declaration` sets the element's number `variable` from `start`; `extent` is the node it is
    tested against. `test` is the guard whose condition is asked for the first element, `loop` the
    grid-stride loop, one of both. `between` are declarations in front of the test.
    """

    variable: Variable
    declaration: Node
    start: Node
    extent: Node
    statements: tuple[Node, ...]
    test: Node | None = None
    exits: bool = False
    loop: Loop | None = None
    between: tuple[Node, ...] = ()


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


def vectorize(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Give a thread 2 to 16 neighbouring elements, moved by one wide load or store an array.

    For elementwise kernels, with one element a thread or a grid-stride loop. Whether the addresses
    are aligned is tested when the kernel runs; where not, and at the end, elements move singly.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
            continue
        if fn.conditional or fn.unknown_names:
            continue
        work = _guarded(source, fn) or _strided(fn)
        arrays = _arrays(source, fn, work) if work is not None else ()
        if work is None or not arrays:
            continue
        if work.loop is None and odometer(fn, work.variable, work.statements) is not None:
            continue  # coordinates are better counted on: `carry-digits`
        for width, text, launch in _widened(kernel, source, fn, work, arrays):
            lines = ", ".join(dict.fromkeys(str(a.accesses[0].line) for a in arrays))
            yield Edit(
                f"move {width} elements a thread at once in `{fn.name}`",
                text,
                f"rule:{_NAME}",
                f"Neighbouring threads touch neighbouring elements in line {lines}; one wide"
                f" access of {width} costs one instruction and keeps more bytes in flight.",
                _NAME,
                1.15,
                launch,
            )


def neighbours(
    kernel: Kernel, source: Source, fn: Function
) -> Iterator[tuple[int, str, Launch | None]]:
    """Yield how many neighbours a thread works on, and the text and launch where it does.

    For kernels that take the number of their element apart into coordinates, which are divided
    for the first of the neighbours only.
    """
    if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
        return
    if fn.conditional or fn.unknown_names:
        return
    work = _guarded(source, fn)
    counter = odometer(fn, work.variable, work.statements) if work is not None else None
    arrays = _arrays(source, fn, work) if work is not None and counter is not None else ()
    if work is not None and arrays:
        yield from _widened(kernel, source, fn, work, arrays, counter)


def _widened(
    kernel: Kernel,
    source: Source,
    fn: Function,
    work: Work,
    arrays: Sequence[Array],
    counter: Odometer | None = None,
) -> Iterator[tuple[int, str, Launch | None]]:
    geometry: Geometry | None = Geometry()
    for width in _widths(arrays):
        if work.loop is None:
            geometry = regrid(kernel, source, fn, {"x": _fewer(width)})
        if geometry is None:
            break
        edits = [*_rewrite(source, fn, work, arrays, width, counter), *geometry.edits]
        yield width, source.replace(sorted(edits, key=lambda e: (e[0], e[1]))), geometry.launch


# -- what the kernel does ------------------------------------------------------------------------


def _guarded(source: Source, fn: Function) -> Work | None:
    """Return the work of a kernel with one element a thread under one test."""
    ids = [t for t in fn.thread_ids if t.axis == "x"] or list(fn.flat_ids)
    if len(ids) != 1:
        return None
    variable = ids[0].variable
    guards = [g for g in fn.guards if any(b[0] == variable.name for b in g.bounds or ())]
    if len(guards) != 1:
        return None
    guard = guards[0]
    if len(list(walk(fn.body, "return_statement"))) != guard.exits:
        return None
    if not variable.settled or variable.init is None or not _alone(source, fn, variable):
        return None
    bounds = [b for b in guard.bounds or () if b[0] == variable.name]
    if len(bounds) != 1 or bounds[0][1] != "<" or not fn.is_pure(bounds[0][2]):
        return None
    top = [n for n in fn.body.named_children if n.type != "comment"]
    at = next(i for i, n in enumerate(top) if n.id == guard.node.id)
    where = [i for i, n in enumerate(top) if n.id == variable.declaration.id]
    if not where or where[0] > at:
        return None
    if guard.exits:
        statements = top[at + 1 :]
    elif at == len(top) - 1 and guard.body.type == "compound_statement":
        statements = [n for n in guard.body.named_children if n.type != "comment"]
    elif at == len(top) - 1:
        statements = [guard.body]
    else:
        return None
    between = tuple(top[where[0] + 1 : at])
    if not all(n.type == "declaration" for n in (*top[: where[0]], *between)) or not statements:
        return None
    if any(u.variable is variable for u in fn.variables.within(bounds[0][2])):
        return None
    return Work(
        variable, variable.declaration, variable.init, bounds[0][2], tuple(statements),
        guard.node, guard.exits, None, between,
    )  # fmt: skip


def _strided(fn: Function) -> Work | None:
    """Return the work of a kernel that is one grid-stride loop."""
    tops = [lp for lp in fn.loops if lp.depth == 0]
    if len(tops) != 1 or list(walk(fn.body, "return_statement")):
        return None
    loop = tops[0]
    if loop.kind != "for" or not loop.counted or loop.relation != "<" or loop.leaves_early:
        return None
    if loop.start is None or loop.bound is None or loop.step_node is None or loop.update is None:
        return None
    ids = [t for t in fn.thread_ids if t.axis == "x" and t.variable is loop.variable]
    stride = fn.affine(loop.step_node)
    if len(ids) != 1 or stride is None or loop.variable is None:
        return None
    if dict(stride.terms) != {tuple(sorted((ids[0].block, "gridDim.x"))): 1}:
        return None
    last = [n for n in fn.body.named_children if n.type != "comment"][-1]
    statements = [n for n in loop.body_statements() if n.type != "comment"]
    declaration = loop.variable.declaration
    if last.id != loop.node.id or not statements or not contains(loop.node, declaration):
        return None
    before = [n for n in fn.body.named_children if n.type != "comment" and n.id != last.id]
    if not all(n.type == "declaration" for n in before) or len(declaration.named_children) != 2:
        return None
    if any(n.type == "continue_statement" for n in walk(loop.body)):
        return None
    return Work(loop.variable, declaration, loop.start, loop.bound, tuple(statements), loop=loop)


def _alone(source: Source, fn: Function, variable: Variable) -> bool:
    """Return whether nothing but a variable's first value asks for the thread's x number."""
    if variable.init is None or not _only(variable.declaration):
        return False
    for node in walk(fn.body, "field_expression"):
        own = (*_NUMBERS, "blockIdx.y") if fn.flat_ids else _NUMBERS
        if source.plain(node) in own and not contains(variable.init, node):
            return False
    return source.in_block(variable.declaration)


def _only(declaration: Node) -> bool:
    """Return whether a declaration is of one variable, const or not."""
    inside = [n for n in declaration.named_children if n.type != "type_qualifier"]
    return len(inside) == 2


def _arrays(source: Source, fn: Function, work: Work) -> tuple[Array, ...]:
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
        if not sure:
            if any(a.writes for a in accesses):
                return ()
            continue
        made = [a.statement.end_byte for a in sure if a.kind == "write" and a.statement]
        loaded = not made or any(a.reads and a.node.start_byte < min(made) for a in accesses)
        stored = any(a.writes for a in accesses)
        if stored and not made and not any(a.kind == "update" for a in sure):
            return ()  # what is stored now and then is better left alone
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
    if parent is not None and parent.type == "pointer_expression" and _ldg(source, parent) is None:
        return False
    return _inlined(source, fn, work, access.indices[0], "") is not None


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


def _ldg(source: Source, address: Node) -> Node | None:
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


def _inlined(source: Source, fn: Function, work: Work, node: Node, first: str) -> str | None:
    """Return an expression for the first element: locals of the work are replaced by their value.

    None when it needs a local that changes.
    """
    edits: list[Replacement] = []
    for use in fn.variables.within(node):
        variable = use.variable
        if variable is None or variable.space == "parameter":
            continue
        if variable is work.variable:
            edits.append((*span(use.node), first))
            continue
        inside = any(
            contains(s, variable.name_node) for s in (*work.statements, *_dependent(fn, work))
        )
        if not inside:
            continue
        if not variable.settled or variable.init is None or not fn.is_pure(variable.init):
            return None
        if any(a.type == "init_declarator" and a.id == node.id for a in ancestors(node)):
            return None
        text = _inlined(source, fn, work, variable.init, first)
        if text is None:
            return None
        edits.append((*span(use.node), f"({text})"))
    if not fn.is_pure(node) or list(walk(node, "subscript_expression")):
        return None
    low = node.start_byte
    return replace(source.of(node), [(a - low, b - low, new) for a, b, new in edits])


def _dependent(fn: Function, work: Work) -> tuple[Node, ...]:
    """Return the declarations in front of the test that follow from the element's number."""
    names = {work.variable.name}
    found: list[Node] = []
    for node in work.between:
        if any(u.variable is not None and u.variable.name in names
               for u in fn.variables.within(node)):  # fmt: skip
            found.append(node)
            names |= {v.name for v in fn.variables.all if contains(node, v.name_node)}
    return tuple(found)


# -- the edit ------------------------------------------------------------------------------------


def _widths(arrays: Sequence[Array]) -> tuple[int, ...]:
    """Return how many elements to move at once: 16 bytes of the largest type, then half."""
    most = max(SIZES[a.kind] for a in arrays)
    return tuple(w for w in (16 // most, 8 // most, 4 // most) if w >= 2)[:2]


def _fewer(factor: int) -> Change:
    def change(text: str) -> str:
        return f"({text} + {factor - 1}) / {factor}"

    return change


def rewritten(
    source: Source, fn: Function, work: Work, arrays: Sequence[Array], width: int
) -> Iterator[Replacement]:
    """Yield the edits that widen one loop, in which a constant for the width is known already."""
    name = source.fresh_name("kWidth", *(v.name for v in fn.variables.all))
    declared = f"constexpr int {name} = {width};"
    for edit in _rewrite(source, fn, work, arrays, width, None):
        if declared not in edit[2]:
            yield edit


def _rewrite(
    source: Source,
    fn: Function,
    work: Work,
    arrays: Sequence[Array],
    width: int,
    counter: Odometer | None,
) -> Iterator[Replacement]:
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
        for node in _dependent(fn, work):
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
        for n in _dependent(fn, work)
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


def _replaced(
    source: Source, arrays: Sequence[Array], kept: Mapping[str, str], lane: str
) -> Iterator[Replacement]:
    for array in arrays:
        for access in array.accesses:
            parent = access.node.parent
            call = None
            if parent is not None and parent.type == "pointer_expression":
                call = _ldg(source, parent)
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
    text = _inlined(source, fn, work, array.accesses[0].indices[0], first)
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
