"""How a block sums up tile after tile of what a loop added one by one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from optimizer.rules.running_sums import RunningSum, within
from optimizer.source import Source
from optimizer.syntax import field
from optimizer.variables import Variable

WARP = 32
ALL = "0xffffffff"
_ALONE = ("identifier", "number_literal", "subscript_expression", "call_expression")


class Names:
    """Names that are new in a function."""

    def __init__(self, source: Source, taken: list[str]) -> None:
        self._source, self._taken = source, taken

    def __call__(self, base: str) -> str:
        """Return a name that neither the file nor what was named before has."""
        self._taken.append(self._source.fresh_name(base, *self._taken))
        return self._taken[-1]


def summed_up(kind: str, name: str, lane: str, names: tuple[str, str], step: str) -> list[str]:
    """Return the lines that add to a value of each lane those of all lanes below."""
    below, reach = names
    return [
        f"for (int {reach} = 1; {reach} < {WARP}; {reach} *= 2) {{",
        f"{step}const {kind} {below} = __shfl_up_sync({ALL}, {name}, {reach});",
        f"{step}if ({lane} >= {reach}) {name} += {below};",
        "}",
    ]


def tiles(source: Source, scan: RunningSum, threads: int, taken: list[str]) -> str:
    """Return the loop over tiles of one element a thread, with what stands in front of it.

    All threads of the block must come to it; what they read was written before a barrier. With
    more than one warp its last statement is a barrier.
    """
    loop, kind, fresh = scan.loop, scan.element, Names(source, taken)
    margin = source.indent(loop.node)
    step = "\t" if margin.endswith("\t") else "    " if len(margin) not in (2, 3) else margin
    several = threads > WARP
    carry = scan.variable.name if scan.variable is not None else fresh("carry")
    parts, lane, base, inside = (fresh(n) for n in ("warp_sums", "lane", "base", "inside"))
    own, upto, before = (fresh(n) for n in ("own", "upto", "before"))
    up = (fresh("below"), fresh("reach"))
    counter = loop.variable.written if loop.variable is not None else "int"
    start = source.of(loop.start)
    more = _renamed(source, loop.condition, loop.name, base)
    lines = _carried(source, scan, carry, start)
    if several:
        lines.append(f"__shared__ {kind} {parts}[{WARP}];")
    lines += [
        f"const int {lane} = threadIdx.x % {WARP};",
        f"for ({counter} {base} = {start}; {more}; {base} += {threads}) {{",
    ]
    tile = [
        f"const {counter} {loop.name} = {base} + threadIdx.x;",
        f"const bool {inside} = {source.of(loop.condition)};",
    ]
    tile += [
        f"const {v.written} {v.name} = {inside} ? {_single(source, v.init)} : 0;"
        for v in scan.locals
    ]
    tile += [
        f"const {kind} {own} = {inside} ? {_single(source, scan.value)} : 0;",
        f"{kind} {upto} = {own};",
        *summed_up(kind, upto, lane, up, step),
    ]
    total = upto
    if several:
        total = fresh("warps")
        some = f"{parts}[{lane}]"
        if threads < WARP * WARP:
            some = f"{lane} < {threads // WARP} ? {some} : 0"
        tile += [
            f"if ({lane} == {WARP - 1}) {parts}[threadIdx.x / {WARP}] = {upto};",
            "__syncthreads();",
            f"{kind} {total} = {some};",
            *summed_up(kind, total, lane, up, step),
        ]
    tile += [
        f"{kind} {before} = __shfl_up_sync({ALL}, {upto}, 1);",
        f"if ({lane} == 0) {before} = 0;",
    ]
    if several:
        lower, last = fresh("lower"), f"(threadIdx.x / {WARP} + {WARP - 1}) % {WARP}"
        tile += [
            f"const {kind} {lower} = __shfl_sync({ALL}, {total}, {last});",
            f"if (threadIdx.x >= {WARP}) {before} += {lower};",
        ]
    tile += [
        f"{before} += {carry};",
        *_stores(source, scan, (inside, before, own), step),
        f"{carry} += __shfl_sync({ALL}, {total}, {WARP - 1});",
    ]
    if several:
        tile.append("__syncthreads();")
    lines += [*(f"{step}{line}" for line in tile), "}"]
    return f"\n{margin}".join(lines)


def _carried(source: Source, scan: RunningSum, carry: str, start: str) -> list[str]:
    """Return the line that loads what the first iteration adds to."""
    if scan.previous is None:
        return []
    name = scan.loop.name
    whether = _renamed(source, scan.loop.condition, name, start)
    simple = start.replace("_", "").isalnum()
    first = _renamed(source, scan.previous.node, name, start if simple else f"({start})")
    if start == "1":
        first = re.sub(r"(?<!\w)1 ?- ?1(?!\w)", "0", first)
    return [f"{scan.element} {carry} = {whether} ? {first} : 0;"]


def _stores(
    source: Source, scan: RunningSum, names: tuple[str, str, str], step: str
) -> Sequence[str]:
    inside, before, own = names
    lines = [_stored(source, n, scan.variable, before) for n in scan.before]
    if scan.after:
        lines.append(f"{before} += {own};")
    lines += [_stored(source, n, scan.variable, before) for n in scan.after]
    if len(lines) == 1:
        return [f"if ({inside}) {lines[0]}"]
    return [f"if ({inside}) {{", *(f"{step}{line}" for line in lines), "}"]


def _stored(source: Source, node: Node, variable: Variable | None, value: str) -> str:
    if variable is None:
        return f"{source.of(field(node, 'left'))} = {value};"
    return f"{_renamed(source, node, variable.name, value)};"


def _single(source: Source, node: Node | None) -> str:
    text = source.of(node)
    return text if node is not None and node.type in _ALONE else f"({text})"


def _renamed(source: Source, node: Node | None, name: str, new: str) -> str:
    """Return a node's text with another text for a name."""
    if node is None:
        return ""
    text, low = source.of(node), node.start_byte
    for found in sorted(within(source, node, name), key=lambda n: -n.start_byte):
        text = text[: found.start_byte - low] + new + text[found.end_byte - low :]
    return text
