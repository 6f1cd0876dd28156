"""The body of a kernel that multiplies by tiles."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.rules.matmul_parts import Parts, parts_of
from optimizer.rules.matmul_product import Product
from optimizer.source import Source
from optimizer.spans import Replacement, replace
from optimizer.syntax import contains, span
from optimizer.variables import Variable

_BROKEN = re.compile(r"\s*\n\s*")


def body_of(
    source: Source, p: Product, across: dict[str, int], results: int, depth: int
) -> str | None:
    """Return a kernel's new body with `results` squared sums a thread; None if not possible.

    `across` are the block's extents by axis, `depth` the common elements that a tile holds.
    """
    parts = parts_of(source, p)
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
    p: Product,
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


def _names(source: Source, p: Product) -> dict[str, str]:
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


def _epilogue(source: Source, p: Product, parts: Parts, result: str) -> list[str]:
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
