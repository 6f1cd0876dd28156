"""Multiply matrices by tiles: operands through shared memory, a block of results in registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function, ThreadId
from optimizer.geometry import Change, block_extents, regrid
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.reduction import updates
from optimizer.source import Source
from optimizer.spans import Replacement, replace
from optimizer.syntax import contains, field, operator, span, walk
from optimizer.variables import Variable

_NAME = "tile-matmul"
# Results a thread keeps and elements of the common dimension a tile holds. Eight by eight gives
# four multiplications a shared load; the depth keeps both tiles under 48 KB for doubles.
_SHAPES = ((8, 8), (4, 16), (2, 32))
_SHARED = 48 << 10
_BYTES = {
    "float": 4, "double": 8, "int": 4, "unsigned int": 4, "unsigned": 4, "half": 2, "__half": 2,
    "char": 1, "unsigned char": 1, "short": 2, "long long": 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Product:
    """`total += a * b` in a loop over the common dimension; `slow` numbers rows, `fast` columns."""

    fn: Function
    loop: Loop
    total: Variable
    statement: Node
    left: Access
    right: Access
    slow: ThreadId
    fast: ThreadId
    limits: tuple[str, str]
    before: tuple[Node, ...]
    after: tuple[Node, ...]


def tile_matmul(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Rewrite a kernel in which each thread computes one element of a matrix product.

    Each block loads tiles of both operands once into shared memory and each thread computes a
    small square of results, so that a loaded element is used many times. Legal for a sum of
    products in which one factor does not depend on the row and the other not on the column, with
    both tested against their extents. Sums keep their order.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.has_asm or fn.has_goto or fn.conditional:
            continue
        block = block_extents(kernel, source, fn)
        product = _product(source, fn) if block is not None else None
        if product is None or block is None or block[2] != 1 or min(block[:2]) < 4:
            continue
        for results, depth in _SHAPES:
            edit = _edit(kernel, source, product, block, results, depth)
            if edit is not None:
                yield edit


# -- legality ------------------------------------------------------------------------------------


def _product(source: Source, fn: Function) -> _Product | None:
    ids = {t.axis: t for t in fn.thread_ids}
    if len(fn.thread_ids) != 2 or set(ids) != {"x", "y"}:
        return None
    guards = [g for g in fn.guards if g.bounds is not None]
    if len(guards) != 1 or guards[0].bounds is None or len(guards[0].bounds) != 2:
        return None
    guard = guards[0]
    bounds = guard.bounds or ()
    limits = {name: source.of(node) for name, sign, node in bounds if sign == "<"}
    if set(limits) != {t.variable.name for t in ids.values()}:
        return None
    top = list(fn.body.named_children)
    if guard.exits:
        work = [n for n in top if n.start_byte > guard.node.end_byte]
        before = [n for n in top if n.end_byte <= guard.node.start_byte]
    else:
        if not contains(guard.node, guard.body) or top[-1].end_byte != guard.node.end_byte:
            return None
        work = list(guard.body.named_children)
        before = [n for n in top if n.end_byte <= guard.node.start_byte]
    for loop in fn.loops:
        if loop.depth or not any(n.id == loop.node.id for n in work):
            continue
        at = next(i for i, n in enumerate(work) if n.id == loop.node.id)
        found = _sum(source, fn, loop, ids)
        if found is None:
            return None
        total, statement, left, right, slow, fast = found
        declared = [*before, *work[:at]]
        if not all(n.type == "declaration" for n in declared) or len(fn.loops) != 1:
            return None
        return _Product(
            fn, loop, total, statement, left, right, slow, fast,
            (limits[slow.variable.name], limits[fast.variable.name]),
            tuple(declared), tuple(work[at + 1 :]),
        )  # fmt: skip
    return None


def _sum(
    source: Source, fn: Function, loop: Loop, ids: dict[str, ThreadId]
) -> tuple[Variable, Node, Access, Access, ThreadId, ThreadId] | None:
    if not (loop.counted and loop.step == 1 and loop.relation == "<" and loop.start is not None):
        return None
    if source.plain(loop.start) != "0" or loop.leaves_early or loop.bound is None:
        return None
    changed = [
        v
        for v in fn.variables.all
        if not contains(loop.node, v.name_node)
        and any(contains(loop.node, u.node) for u in v.changes)
    ]
    if len(changed) != 1 or len(loop.body_statements()) != 1:
        return None
    total = changed[0]
    found = updates(source, fn, total, loop.node)
    if not found or len(found) != 1 or found[0].operation != "+":
        return None
    if found[0].node.parent is None or found[0].node.parent.id != loop.body_statements()[0].id:
        return None  # under a condition
    if total.init is None or source.plain(total.init).rstrip("fF") not in ("0", "0.", "0.0", ".0"):
        return None
    if any(contains(loop.node, u.node) is False and u.node.start_byte < loop.node.start_byte
           for u in total.changes if not contains(total.declaration, u.node)):  # fmt: skip
        return None
    reads = [a for a in fn.accesses if contains(loop.node, a.node)]
    if len(reads) != 2 or any(a.kind != "read" or a.space != "global" for a in reads):
        return None
    if not all(_factor(source, found[0].node, a.node) for a in reads):
        return None
    return _operands(fn, loop, reads, ids, total, found[0].node)


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
    for access in reads:
        if access.index is None or access.element not in _BYTES or access.cast:
            return None
        if not access.index.depends_on(loop.name):
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
    block: tuple[int, int, int],
    results: int,
    depth: int,
) -> Edit | None:
    fn = product.fn
    across = {"x": block[0], "y": block[1]}
    rows, columns = across[product.slow.axis] * results, across[product.fast.axis] * results
    bytes_ = depth * (
        (rows + 1) * _BYTES[product.left.element] + columns * _BYTES[product.right.element]
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
    kept = _prologue(source, p)
    if kept is None or p.loop.bound is None:
        return None
    margin = source.indent(p.fn.body.named_children[0]) or "    "
    unit = "\t" if margin.startswith("\t") else margin if len(margin) in (2, 3, 4) else "    "
    slow, fast, k = p.slow.variable, p.fast.variable, p.loop.name
    names = _names(source, p)
    wide, tall = across[p.fast.axis], across[p.slow.axis]
    threads = wide * tall
    slow_limit, fast_limit = p.limits
    bound = source.of(p.loop.bound)
    a, b = source.of(p.left.node), source.of(p.right.node)
    index = p.loop.variable.type if p.loop.variable is not None else "int"
    inner = _replaced(
        source,
        p.statement,
        [
            (*span(p.left.node), names["a_i"]),
            (*span(p.right.node), names["b_j"]),
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
    const = "const " if _only_read(p) else ""
    head = f"constexpr int {kr} = {tall * results}, {kc} = {wide * results}, {kd} = {depth};"
    start = f"blockIdx.{p.slow.axis} * {kr}, {col0} = blockIdx.{p.fast.axis} * {kc};"
    lines = [
        *(source.of(n) for n in kept),
        head,
        f"__shared__ {p.left.element} {names['as']}[{kd}][{kr} + 1];",
        f"__shared__ {p.right.element} {names['bs']}[{kd}][{kc}];",
        f"const int {tid} = threadIdx.y * {across['x']} + threadIdx.x;",
        f"const int {ty} = {tid} / {wide}, {tx} = {tid} % {wide};",
        f"const int {row0} = {start}",
        f"{total.element} {sums}[{results}][{results}] = {{}};",
        "",
        f"for ({index} {k0} = 0; {k0} < {bound}; {k0} += {kd}) {{",
        f">for (int {e} = {tid}; {e} < {kr} * {kd}; {e} += {threads}) {{",
        *_load(p, names, "left", slow, k, slow_limit, bound, a),
        ">}",
        f">for (int {e} = {tid}; {e} < {kd} * {kc}; {e} += {threads}) {{",
        *_load(p, names, "right", fast, k, fast_limit, bound, b),
        ">}",
        ">__syncthreads();",
        ">#pragma unroll",
        f">for (int {q} = 0; {q} < {kd}; ++{q}) {{",
        f">>{p.left.element} {names['a']}[{results}];",
        f">>{p.right.element} {names['b']}[{results}];",
        ">>#pragma unroll",
        f">>for (int {i} = 0; {i} < {results}; ++{i}) {{",
        f">>>{names['a']}[{i}] = {names['as']}[{q}][{ty} + {i} * {tall}];",
        f">>>{names['b']}[{i}] = {names['bs']}[{q}][{tx} + {i} * {wide}];",
        ">>}",
        ">>#pragma unroll",
        f">>for (int {i} = 0; {i} < {results}; ++{i})",
        ">>>#pragma unroll",
        f">>>for (int {j} = 0; {j} < {results}; ++{j})",
        f">>>>{inner};",
        ">}",
        ">__syncthreads();",
        "}",
        "",
        "#pragma unroll",
        f"for (int {i} = 0; {i} < {results}; ++{i}) {{",
        ">#pragma unroll",
        f">for (int {j} = 0; {j} < {results}; ++{j}) {{",
        f">>const {slow.type} {slow.name} = {row0} + {ty} + {i} * {tall};",
        f">>const {fast.type} {fast.name} = {col0} + {tx} + {j} * {wide};",
        f">>{const}{total.element} {total.name} = {sums}[{i}][{j}];",
        f">>if ({slow.name} < {slow_limit} && {fast.name} < {fast_limit}) {{",
        *(f">>>{line}" for line in _epilogue(source, p)),
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
    p: _Product,
    names: dict[str, str],
    side: str,
    variable: Variable,
    k: str,
    limit: str,
    bound: str,
    text: str,
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
    step = p.loop.variable.type if p.loop.variable is not None else "int"
    test = f"{variable.name} < {limit} && {k} < {bound}"
    return [
        f">>const int {names['r']} = {place}, {names['q']} = {at};",
        f">>const {variable.type} {variable.name} = {base} + {names['r']};",
        f">>const {step} {k} = {names['k0']} + {names['q']};",
        f">>{tile}[{names['q']}][{names['r']}] = {test} ? {text} : {access.element}(0);",
    ]


def _only_read(p: _Product) -> bool:
    return not any(u.writes and u.node.start_byte > p.loop.node.end_byte for u in p.total.uses)


def _prologue(source: Source, p: _Product) -> list[Node] | None:
    """Return the declarations that the new body needs; None when one depends on row or column."""
    own = {p.slow.variable.name, p.fast.variable.name, p.total.name}
    others = [
        n
        for n in p.before
        if not any(contains(n, v.name_node) for v in (p.slow.variable, p.fast.variable, p.total))
    ]
    texts = [source.of(p.left.node), source.of(p.right.node), *p.limits]
    needed = {
        source.of(n)
        for root in (p.left.node, p.right.node, *p.after, p.statement)
        for n in walk(root, "identifier")
    } | {word for text in texts for word in text.replace("*", " ").split()}
    kept: list[Node] = []
    for node in reversed(others):
        declared = {v.name for v in p.fn.variables.all if contains(node, v.name_node)}
        if not declared & needed:
            continue
        used = {source.of(n) for n in walk(node, "identifier")}
        if used & own:
            return None
        needed |= used
        kept.insert(0, node)
    both = [n for n in p.before if n not in others]
    for node in both:  # `int row = ..., col = ...;` declares nothing else
        names = {v.name for v in p.fn.variables.all if contains(node, v.name_node)}
        if not names <= own:
            return None
    return kept


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


def _epilogue(source: Source, p: _Product) -> list[str]:
    found: list[str] = []
    for node in p.after:
        margin = source.indent(node)
        found += [line.removeprefix(margin) for line in source.of(node).splitlines()]
    return found


def _indented(line: str, margin: str, unit: str) -> str:
    depth = len(line) - len(line.lstrip(">"))
    text = line[depth:]
    if not text:
        return ""
    return f"{margin}{unit * depth}{text}"
