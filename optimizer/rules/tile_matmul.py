"""Multiply matrices by tiles: operands through shared memory, a block of results in registers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Function, ThreadId
from optimizer.geometry import Change, block_extents, regrid
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.reduction import updates
from optimizer.rules.untile import untiled
from optimizer.source import Source
from optimizer.spans import Replacement, replace
from optimizer.syntax import contains, field, operator, span, stripped, walk
from optimizer.tokens import code_tokens
from optimizer.variables import Variable

_NAME = "tile-matmul"
# Results a thread keeps and elements of the common dimension a tile holds. Eight by eight gives
# four multiplications a shared load; the depth keeps both tiles under 48 KB for doubles.
_SHAPES = ((8, 8), (4, 16), (2, 32))
_SHARED = 48 << 10
_BYTES = {
    "float": 4, "double": 8, "int": 4, "unsigned int": 4, "unsigned": 4, "half": 2, "__half": 2,
    "char": 1, "unsigned char": 1, "short": 2, "long long": 8, "long": 8, "__nv_bfloat16": 2,
    "unsigned long": 8, "unsigned long long": 8, "int8_t": 1, "uint8_t": 1, "int32_t": 4,
}  # fmt: skip
_BROKEN = re.compile(r"\s*\n\s*")
_WIDEST = 8  # bytes of a template's type
_ZERO_OF = re.compile(
    r"(?:static_cast<\w+>|\(\w+\)|\b[A-Za-z]\w*)\((0(?:\.0*)?[fF]?)\)|\(\w+\)(?=0)"
)
Block = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Product:
    """`total += a * b` in a loop over the common dimension; `slow` numbers rows, `fast` columns.

    `lefts` and `rights` are the places in the sum where an element of each operand is used,
    `before` and `after` what is done once for each result.
    """

    fn: Function
    loop: Loop
    total: Variable
    statement: Node
    left: Access
    right: Access
    lefts: tuple[Node, ...]
    rights: tuple[Node, ...]
    slow: ThreadId
    fast: ThreadId
    limits: tuple[str, str]
    before: tuple[Node, ...]
    after: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class _Work:
    """The statements of a kernel and the extents (by name) within which threads do them."""

    before: tuple[Node, ...]
    loop: Loop
    after: tuple[Node, ...]
    limits: dict[str, str]


def tile_matmul(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Rewrite a kernel in which each thread computes one element of a matrix product.

    Each block loads tiles of both operands once into shared memory and each thread computes a
    small square of results, so that a loaded element is used many times. Legal for a sum of
    products in which one factor does not depend on the row and the other not on the column, with
    both tested against their extents or covered by the grid exactly. Sums keep their order.
    """
    del findings
    original = Source(kernel.source)
    for at, kernel_fn in enumerate(original.kernels):
        source, fn = original, kernel_fn
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional:
            continue
        if fn.shared and fn.barriers:
            plain = untiled(original, fn)
            if plain is None:
                continue
            source = Source(plain)
            fn = source.kernels[at]
        if fn.shared or fn.barriers or fn.broken:
            continue
        block = block_extents(kernel, source, fn)
        product = _product(kernel, source, fn, block) if block is not None else None
        if product is None or block is None or block[2] != 1 or min(block[:2]) < 4:
            continue
        for results, depth in _SHAPES:
            edit = _edit(kernel, source, product, block, results, depth)
            if edit is not None:
                yield edit


# -- legality ------------------------------------------------------------------------------------


def _product(kernel: Kernel, source: Source, fn: Function, block: Block) -> _Product | None:
    ids = {t.axis: t for t in fn.thread_ids}
    if len(fn.thread_ids) != 2 or set(ids) != {"x", "y"} or len(fn.loops) != 1:
        return None
    for axis, number in ids.items():
        across = block["xyz".index(axis)]
        if number.block != f"blockDim.{axis}" and source.value(number.block) != across:
            return None
    names = {t.variable.name for t in ids.values()}
    work = _work(fn)
    if work is None or (work.limits and set(work.limits) != names):
        return None
    limits = work.limits or _covered(kernel, source, fn, ids, block)
    found = _sum(source, fn, work.loop, ids) if limits is not None else None
    if found is None or limits is None:
        return None
    total, statement, left, right, slow, fast = found
    product = _Product(
        fn, work.loop, total, statement, left, right,
        _places(fn, statement, left), _places(fn, statement, right), slow, fast,
        (limits[slow.variable.name], limits[fast.variable.name]), work.before, work.after,
    )  # fmt: skip
    return product if _movable(source, product) else None


def _work(fn: Function) -> _Work | None:
    """Read a body: tests of the extents, what stands before the one loop, and what behind."""
    listed = [n for n in fn.body.named_children if n.type != "comment"]
    guards = {g.node.id: g for g in fn.guards}
    found: list[Node] = []
    limits: dict[str, str] = {}
    for node in listed:
        guard = guards.get(node.id)
        if guard is None:
            found.append(node)
            continue
        if guard.bounds is None or any(sign != "<" for _, sign, _ in guard.bounds):
            return None
        limits |= {name: fn.file.syntax.of(bound) for name, _, bound in guard.bounds}
        if not guard.exits:
            # What follows such a test is done by all threads, but only those inside the extents
            # can have an element of their own to store to.
            found += [n for n in guard.body.named_children if n.type != "comment"]
    loop = fn.loops[0]
    at = next((i for i, n in enumerate(found) if n.id == loop.node.id), None)
    if at is None:
        return None
    return _Work(tuple(found[:at]), loop, tuple(found[at + 1 :]), limits)


def _covered(
    kernel: Kernel, source: Source, fn: Function, ids: dict[str, ThreadId], block: Block
) -> dict[str, str] | None:
    """Return the extents that the grid covers, as the kernel can name them; None if it cannot.

    For a kernel without tests: its launch says how many rows and columns there are.
    """
    del kernel
    found: set[tuple[str, str]] = set()
    for launch in source.launches_of(fn.name):
        given = {
            source.plain(argument): parameter.name
            for argument, parameter in zip(launch.arguments, fn.parameters, strict=False)
        }
        if launch.grid is None:
            return None
        texts = []
        for axis in "xy":
            at = "xyz".index(axis)
            extent = launch.grid[at] if at < len(launch.grid) else None
            named = extent and _named(source, extent.text, given, launch.block_variable, block)
            if not named:
                return None
            texts.append(
                f"({named}) * {block[at]}" if not named.isdigit() else str(int(named) * block[at])
            )
        found.add((texts[0], texts[1]))
    if len(found) != 1:
        return None
    return dict(zip((ids["x"].variable.name, ids["y"].variable.name), found.pop(), strict=True))


def _named(
    source: Source, text: str, given: dict[str, str], threads: str, block: Block
) -> str | None:
    """Return an extent of the grid in the words of the kernel's parameters."""
    known = source.value(text)
    if known is not None:
        return str(known)
    words = [t.text for t in code_tokens(text)]
    written = ""
    at = 0
    while at < len(words):
        word, following = words[at], words[at + 1 : at + 3]
        if threads and word == threads and following[:1] == ["."] and following[1] in "xyz":
            written += str(block["xyz".index(following[1])])
            at += 3
            continue
        if word.isidentifier():
            own = given.get(word)
            if own is None and source.constant(word) is None:
                return None
            word = own or word
        elif not (word.isdigit() or word in ("+", "-", "*", "/", "(", ")", ".")):
            return None
        written += word
        at += 1
        if word == "." and at < len(words):  # a member keeps its name
            written += words[at]
            at += 1
    return written


def _sum(
    source: Source, fn: Function, loop: Loop, ids: dict[str, ThreadId]
) -> tuple[Variable, Node, Access, Access, ThreadId, ThreadId] | None:
    if not (loop.counted and loop.step == 1 and loop.relation == "<" and loop.start is not None):
        return None
    if source.plain(loop.start) != "0" or loop.leaves_early or loop.bound is None:
        return None
    if loop.variable is None or any(
        u.node.start_byte > loop.node.end_byte for u in loop.variable.uses
    ):
        return None
    changed = [
        v
        for v in fn.variables.all
        if not contains(loop.node, v.name_node)
        and v is not loop.variable
        and any(contains(loop.node, u.node) for u in v.changes)
    ]
    statements = [n for n in loop.body_statements() if n.type != "comment"]
    if len(changed) != 1 or not statements:
        return None
    total = changed[0]
    found = updates(source, fn, total, loop.node)
    if not found or len(found) != 1 or found[0].operation != "+":
        return None
    if found[0].node.parent is None or found[0].node.parent.id != statements[-1].id:
        return None  # under a condition
    reads = [a for a in fn.accesses if contains(loop.node, a.node)]
    if len(reads) != 2 or any(a.kind != "read" or not _in_memory(a) for a in reads):
        return None
    if len(statements) != 1 and not all(_copy(fn, n, reads) for n in statements[:-1]):
        return None
    for access in reads:
        places = _places(fn, found[0].node, access)
        if len(places) != 1 or not _factor(source, found[0].node, places[0]):
            return None
    return _operands(fn, loop, reads, ids, total, found[0].node)


def _in_memory(access: Access) -> bool:
    """Return whether an element is the caller's: of a pointer, or of one in a struct."""
    return access.space == "global" or (access.space == "unknown" and "." in access.root)


def _copy(fn: Function, node: Node, reads: list[Access]) -> bool:
    """Return whether a statement is `float a = A[i];`."""
    inside = [v for v in fn.variables.all if contains(node, v.name_node)]
    return (
        node.type == "declaration"
        and len(inside) == 1
        and inside[0].settled
        and inside[0].init is not None
        and any(a.node.id == inside[0].init.id for a in reads)
    )


def _places(fn: Function, statement: Node, access: Access) -> tuple[Node, ...]:
    """Return where a sum uses an element: the access itself, or a local that holds it."""
    if contains(statement, access.node):
        return (access.node,)
    for variable in fn.variables.all:
        if variable.init is not None and variable.init.id == access.node.id:
            return tuple(u.node for u in variable.uses if contains(statement, u.node))
    return ()


def _operands(
    fn: Function,
    loop: Loop,
    reads: list[Access],
    ids: dict[str, ThreadId],
    total: Variable,
    statement: Node,
) -> tuple[Variable, Node, Access, Access, ThreadId, ThreadId] | None:
    """Tell which operand belongs to the rows and which to the columns, by what they depend on."""
    axes = []
    templates = {t.name for t in fn.templates}
    for access in reads:
        if access.index is None or access.cast or not access.index.depends_on(loop.name):
            return None
        if access.element not in _BYTES and access.element not in templates:
            return None
        on = {axis for axis in "xy" if access.index.depends_on(f"threadIdx.{axis}")}
        if len(on) != 1:
            return None
        axes.append(on.pop())
    if set(axes) != {"x", "y"}:
        return None
    # The column is what the results are stored side by side in.
    stores = [a for a in fn.accesses if a.writes and not contains(loop.node, a.node)]
    if not stores or any(a.index is None for a in stores):
        return None
    sides = {axis for axis in "xy" if all(a.thread_stride(axis) == 1 for a in stores)}
    fast = "y" if sides == {"y"} else "x"
    slow = "x" if fast == "y" else "y"
    left, right = reads[axes.index(slow)], reads[axes.index(fast)]
    return total, statement, left, right, ids[slow], ids[fast]


def _movable(source: Source, p: _Product) -> bool:
    """Return whether what stands before the loop can be done behind it, result by result."""
    for node in p.before:
        if node.type == "declaration":
            continue
        inner = node.named_children[0] if node.type == "expression_statement" else None
        if inner is None or inner.type not in ("assignment_expression", "update_expression"):
            return False
        for access in p.fn.accesses:
            if not access.writes or not contains(node, access.node):
                continue
            if access.variable is None or not all(
                operand.variable is not None
                and apart(source, p.fn, access.variable, operand.variable)
                for operand in (p.left, p.right)
            ):
                return False
        written = {u.name for u in p.fn.variables.within(node) if u.role in ("write", "update")}
        if written - {p.total.name}:
            return False
    return True


def _starts_at_zero(source: Source, p: _Product) -> tuple[bool, list[Node]] | None:
    """Return whether the sum starts at zero, and the statements that only say so; None if unset."""
    setting: list[Node] = []
    value: Node | None = p.total.init
    for use in p.total.changes:
        if use.node.start_byte > p.loop.node.start_byte:
            continue
        if contains(p.total.declaration, use.node):
            continue
        outer = use.node.parent
        if use.role != "write" or outer is None or outer.parent not in p.before:
            return (False, []) if p.total.init is not None or setting else None
        value = field(outer, "right")
        setting.append(outer.parent)
    if value is None:
        return None
    text = source.plain(stripped(value)).replace(" ", "")
    text = _ZERO_OF.sub(r"\1", text).rstrip("fFuUlL")
    if text not in ("0", "0.", "0.0", ".0", "{}", "{0}", "0.00"):
        return (False, [])
    return (True, setting)


def _factor(source: Source, statement: Node, node: Node) -> bool:
    """Return whether an operand is a factor of what is added, so that a zero adds nothing."""
    at = node
    while at.parent is not None and at.id != statement.id:
        parent = at.parent
        if parent.type == "assignment_expression":
            return contains(field(parent, "right") or parent, at)
        if parent.type == "binary_expression":
            sign = operator(parent)
            if sign == "+" and parent.parent is not None and parent.parent.id == statement.id:
                return operator(statement) == "="  # total = total + a * b
            if sign == "/" and contains(field(parent, "right") or parent, at):
                return False
            if sign not in ("*", "/"):
                return False
        elif parent.type == "call_expression":
            name = source.plain(field(parent, "function"))
            if name not in ("__half2float", "__ldg", "float", "static_cast<float>"):
                return False
        elif parent.type not in (
            "parenthesized_expression", "cast_expression", "argument_list",
        ):  # fmt: skip
            return False
        at = parent
    return at.id == statement.id


# -- the edit ------------------------------------------------------------------------------------


def _edit(
    kernel: Kernel,
    source: Source,
    product: _Product,
    block: Block,
    results: int,
    depth: int,
) -> Edit | None:
    fn = product.fn
    across = {"x": block[0], "y": block[1]}
    rows, columns = across[product.slow.axis] * results, across[product.fast.axis] * results
    bytes_ = depth * (
        (rows + 1) * _BYTES.get(product.left.element, _WIDEST)
        + columns * _BYTES.get(product.right.element, _WIDEST)
    )
    threads = block[0] * block[1]
    if bytes_ > _SHARED or threads > 1024 or threads * results * results > 65536 // 2:
        return None
    shrink = {axis: _fewer(results) for axis in "xy"}
    geometry = regrid(kernel, source, fn, shrink)
    body = _body(source, product, across, results, depth)
    if geometry is None or body is None:
        return None
    low, high = fn.body.start_byte + 1, fn.body.end_byte - 1
    edits = [(low, high, body), *geometry.edits]
    if any(low < at[1] and at[0] < high for at in geometry.edits):
        return None
    return Edit(
        f"tile `{fn.name}`: {rows}×{columns} results a block, {results}×{results} a thread",
        source.replace(sorted(edits)),
        f"rule:{_NAME}",
        f"The loop in line {product.loop.line} loads two elements from memory for each"
        f" multiplication; tiles in shared memory are loaded once for {results} rows and columns.",
        _NAME,
        {8: 6.0, 4: 4.0}.get(results, 2.5),
        geometry.launch,
    )


def _fewer(factor: int) -> Change:
    def change(text: str) -> str:
        return f"({text} + {factor - 1}) / {factor}"

    return change


def _body(
    source: Source, p: _Product, across: dict[str, int], results: int, depth: int
) -> str | None:
    parts = _parts(source, p)
    if parts is None or p.loop.bound is None:
        return None
    margin = source.indent(p.fn.body.named_children[0]) or "    "
    unit = "\t" if margin.startswith("\t") else margin if len(margin) in (2, 3, 4) else "    "
    slow, fast = p.slow.variable, p.fast.variable
    names = _names(source, p)
    wide, tall = across[p.fast.axis], across[p.slow.axis]
    threads = wide * tall
    slow_limit, fast_limit = p.limits
    bound = source.of(p.loop.bound)
    a, b = source.of(p.left.node), source.of(p.right.node)
    index = p.loop.variable.written if p.loop.variable is not None else "int"
    inner = _replaced(
        source,
        p.statement,
        [
            *((*span(n), names["a_i"]) for n in p.lefts),
            *((*span(n), names["b_j"]) for n in p.rights),
            *(
                (*span(u.node), f"{names['sums']}[{names['i']}][{names['j']}]")
                for u in p.total.uses
                if contains(p.statement, u.node)
            ),
        ],
    )
    total = p.total
    e, i, j, q = (names[key] for key in "eijq")
    kr, kc, kd, tid, sums = (names[key] for key in ("rows", "cols", "depth", "tid", "sums"))
    row0, col0, k0, ty, tx = (names[key] for key in ("row0", "col0", "k0", "ty", "tx"))
    left, right = _element(p.left), _element(p.right)
    head = f"constexpr int {kr} = {tall * results}, {kc} = {wide * results}, {kd} = {depth};"
    start = f"blockIdx.{p.slow.axis} * {kr}, {col0} = blockIdx.{p.fast.axis} * {kc};"
    lines = [
        *(source.of(n) for n in parts.top),
        head,
        f"__shared__ {left} {names['as']}[{kd}][{kr} + 1];",
        f"__shared__ {right} {names['bs']}[{kd}][{kc}];",
        f"const int {tid} = threadIdx.y * {across['x']} + threadIdx.x;",
        f"const int {ty} = {tid} / {wide}, {tx} = {tid} % {wide};",
        f"const int {row0} = {start}",
        f"{total.written} {sums}[{results}][{results}] = {{}};",
        "",
        f"for ({index} {k0} = 0; {k0} < {bound}; {k0} += {kd}) {{",
        f">for (int {e} = {tid}; {e} < {kr} * {kd}; {e} += {threads}) {{",
        *_load(source, p, names, "left", slow, slow_limit, bound, a, parts.lefts),
        ">}",
        f">for (int {e} = {tid}; {e} < {kd} * {kc}; {e} += {threads}) {{",
        *_load(source, p, names, "right", fast, fast_limit, bound, b, parts.rights),
        ">}",
        ">__syncthreads();",
        ">#pragma unroll",
        f">for (int {q} = 0; {q} < {kd}; ++{q}) {{",
        f">>{left} {names['a']}[{results}];",
        f">>{right} {names['b']}[{results}];",
        ">>#pragma unroll",
        f">>for (int {i} = 0; {i} < {results}; ++{i}) {{",
        f">>>{names['a']}[{i}] = {names['as']}[{q}][{ty} + {i} * {tall}];",
        f">>>{names['b']}[{i}] = {names['bs']}[{q}][{tx} + {i} * {wide}];",
        ">>}",
        ">>#pragma unroll",
        f">>for (int {i} = 0; {i} < {results}; ++{i})",
        ">>>#pragma unroll",
        f">>>for (int {j} = 0; {j} < {results}; ++{j})",
        f">>>>{_BROKEN.sub(' ', inner)};",
        ">}",
        ">__syncthreads();",
        "}",
        "",
        "#pragma unroll",
        f"for (int {i} = 0; {i} < {results}; ++{i}) {{",
        ">#pragma unroll",
        f">for (int {j} = 0; {j} < {results}; ++{j}) {{",
        f">>const {slow.written} {slow.name} = {row0} + {ty} + {i} * {tall};",
        f">>const {fast.written} {fast.name} = {col0} + {tx} + {j} * {wide};",
        f">>if ({slow.name} < {slow_limit} && {fast.name} < {fast_limit}) {{",
        *(f">>>{line}" for line in _epilogue(source, p, parts, f"{sums}[{i}][{j}]")),
        ">>}",
        ">}",
        "}",
    ]
    return "\n" + "\n".join(_indented(line, margin, unit) for line in lines) + "\n"


def _replaced(source: Source, node: Node, edits: Sequence[Replacement]) -> str:
    """Return the text of a node with spans in it replaced."""
    low = node.start_byte
    return replace(source.of(node), [(a - low, b - low, new) for a, b, new in edits])


def _load(
    source: Source,
    p: _Product,
    names: dict[str, str],
    side: str,
    variable: Variable,
    limit: str,
    bound: str,
    text: str,
    declared: Sequence[Node],
) -> list[str]:
    """Return the lines that load one element of a tile, neighbours by neighbouring threads."""
    access = p.left if side == "left" else p.right
    along_k = access.loop_stride(p.loop)
    by_k = along_k is not None and along_k.constant == 1
    size = names["rows"] if side == "left" else names["cols"]
    base = names["row0"] if side == "left" else names["col0"]
    tile = names["as"] if side == "left" else names["bs"]
    inner = names["depth"] if by_k else size
    e = names["e"]
    place, at = f"{e} % {inner}", f"{e} / {inner}"
    if by_k:
        place, at = at, place
    step = p.loop.variable.written if p.loop.variable is not None else "int"
    k = p.loop.name
    test = f"{variable.name} < {limit} && {k} < {bound}"
    return [
        f">>const int {names['r']} = {place}, {names['q']} = {at};",
        f">>const {variable.written} {variable.name} = {base} + {names['r']};",
        f">>const {step} {k} = {names['k0']} + {names['q']};",
        *(f">>{source.of(n)}" for n in declared),
        f">>{tile}[{names['q']}][{names['r']}] = {test} ? {text} : {_element(access)}(0);",
    ]


def _element(access: Access) -> str:
    variable = access.variable
    known = variable is not None and (variable.is_pointer or variable.is_array)
    return variable.written if variable is not None and known else access.element


@dataclass(frozen=True, slots=True)
class _Parts:
    """Where the statements before the loop go: to the top, to the loads, to each result.

    `zero` tells that the sum starts at nothing but zero.
    """

    top: tuple[Node, ...]
    lefts: tuple[Node, ...]
    rights: tuple[Node, ...]
    each: tuple[Node, ...]
    zero: bool


def _parts(source: Source, p: _Product) -> _Parts | None:
    """Sort the statements before the loop; None when one of them needs what is gone."""
    fn = p.fn
    rows, columns = p.slow.variable, p.fast.variable
    start = _starts_at_zero(source, p)
    if start is None:
        return None
    zero, setting = start
    dropped = {n.id for n in setting}
    own = {rows.name, columns.name}
    for variable in (rows, columns, *((p.total,) if zero else ())):
        if variable.space == "parameter":
            return None
        dropped.add(variable.declaration.id)
        names = {v.name for v in fn.variables.all if contains(variable.declaration, v.name_node)}
        if not names <= own | {p.total.name, p.loop.name}:
            return None
    counter = p.loop.variable
    if counter is not None and not contains(p.loop.node, counter.name_node):
        alone = [v for v in fn.variables.all if contains(counter.declaration, v.name_node)]
        dropped |= {counter.declaration.id} if len(alone) == 1 else set()
    kept = [n for n in p.before if n.id not in dropped]
    declares = {n.id: {v.name for v in fn.variables.all if contains(n, v.name_node)} for n in kept}
    threads = {
        v.name
        for v in fn.variables.all
        if v.name not in own
        and not contains(p.loop.node, v.name_node)
        and any(_of_thread(source, n) for n in (v.init,) if n is not None)
    }
    groups: dict[str, list[Node]] = {"left": [], "right": [], "each": [], "top": []}
    demands: dict[str, set[str]] = {
        "left": _words(source, p.left.node),
        "right": _words(source, p.right.node),
        "each": set().union(
            *(_words(source, n) for n in p.after),
            *(_words(source, n) for n in kept if n.type != "declaration"),
            set() if zero else {p.total.name},
        ),
        "top": {t.text for limit in p.limits for t in code_tokens(limit)}
        | {
            source.of(n)
            for n in walk(p.statement, "identifier")
            if not any(contains(place, n) for place in (*p.lefts, *p.rights))
        }
        - {p.total.name}
        | (_words(source, p.loop.bound) if p.loop.bound is not None else set()),
    }
    for node in reversed(kept):
        words = _words(source, node)
        varies = bool(words & (own | threads)) or _of_thread(source, node)
        if node.type != "declaration":
            groups["each"].insert(0, node)
            continue
        wanted = [g for g in groups if declares[node.id] & demands[g]]
        if not wanted:
            continue
        stays = varies or p.total.name in declares[node.id] or _changes_later(fn, node, p)
        if stays and ("top" in wanted or _of_thread(source, node) or words & threads):
            return None
        for group in wanted if stays else ["top"]:
            groups[group].insert(0, node)
            demands[group] |= words
    gone = {"threadIdx", "blockIdx", "blockDim", "gridDim"} | threads
    if any(demand & gone for demand in demands.values()):
        return None
    if demands["left"] & {columns.name} or demands["right"] & {rows.name}:
        return None
    return _Parts(
        tuple(groups["top"]), tuple(groups["left"]), tuple(groups["right"]),
        tuple(groups["each"]), zero,
    )  # fmt: skip


def _words(source: Source, node: Node) -> set[str]:
    return {source.of(n) for n in walk(node, "identifier")}


def _of_thread(source: Source, node: Node) -> bool:
    return bool(_words(source, node) & {"threadIdx", "blockIdx"})


def _changes_later(fn: Function, node: Node, p: _Product) -> bool:
    """Return whether a local declared here is changed for each result."""
    return any(
        v.changes and v is not p.loop.variable
        for v in fn.variables.all
        if contains(node, v.name_node)
    )


def _names(source: Source, p: _Product) -> dict[str, str]:
    taken = [v.name for v in p.fn.variables.all]
    wanted = {
        "as": "tileA", "bs": "tileB", "rows": "kRows", "cols": "kCols", "depth": "kDepth",
        "tid": "tid", "ty": "ty", "tx": "tx", "row0": "row0", "col0": "col0", "sums": "sums",
        "k0": "k0", "a": "fragA", "b": "fragB", "r": "r", "q": "q", "e": "e",
        "i": "i", "j": "j",
    }  # fmt: skip
    found = {key: source.fresh_name(base, *taken) for key, base in wanted.items()}
    found["a_i"] = f"{found['a']}[{found['i']}]"
    found["b_j"] = f"{found['b']}[{found['j']}]"
    return found


def _epilogue(source: Source, p: _Product, parts: _Parts, result: str) -> list[str]:
    """Return the lines that are done with each result."""
    name = p.total.name
    found: list[str] = []
    for node in parts.each:
        found += _lines(source, node)
    if parts.zero:
        changed = any(u.writes and u.node.start_byte > p.loop.node.end_byte for u in p.total.uses)
        found.append(f"{'' if changed else 'const '}{p.total.written} {name} = {result};")
    else:
        found.append(f"{name} += {result};")
    for node in p.after:
        found += _lines(source, node)
    return found


def _lines(source: Source, node: Node) -> list[str]:
    margin = source.indent(node)
    return [line.removeprefix(margin) for line in source.of(node).splitlines()]


def _indented(line: str, margin: str, unit: str) -> str:
    depth = len(line) - len(line.lstrip(">"))
    text = line[depth:]
    if not text:
        return ""
    return f"{margin}{unit * depth}{text}"
