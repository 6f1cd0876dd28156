"""Fold a block by shuffles in the very order of its tree: places of extremes, structs, any fold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.geometry import block_extents
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.shared_tree import counter_removed, folded_arrays, halving
from optimizer.source import Source
from optimizer.spans import Replacement, replace
from optimizer.syntax import contains, field, operator, span, stripped, walk
from optimizer.variables import Variable

_NAME = "shuffle-tree"
_WARP = 32
# Types that a shuffle takes as they are, and the members of CUDA's own vectors.
_SHUFFLED = frozenset({
    "int", "unsigned", "unsigned int", "long", "unsigned long", "long long", "unsigned long long",
    "float", "double", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "uint",
})  # fmt: skip
_VECTORS = {f"{kind}{n}": n for kind in ("float", "double", "int", "uint") for n in (2, 3, 4)}
_MOST_MEMBERS = 6


@dataclass(frozen=True, slots=True)
class _Array:
    """A shared array of the tree, and the members of its elements (none: a number)."""

    variable: Variable
    members: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.variable.name


@dataclass(frozen=True, slots=True)
class _Tree:
    """A tree: what a thread does with its element and that of another, as a text with places.

    `mine` and `other` are the spans of the elements in `body`, by array. `waits` tells that the
    barrier is in front of a level, not behind it.
    """

    body: Node
    rest: Node | None
    arrays: tuple[_Array, ...]
    mine: tuple[tuple[Node, str], ...]
    other: tuple[tuple[Node, str], ...]
    waits: bool


def shuffle_tree(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Fold the threads of a block by shuffles, pair by pair as their tree in shared memory does.

    For trees over a block of a power of two threads that do something with `s[t]` and
    `s[t + offset]`, for one or more arrays: the largest and where it is, structs, sums of several
    kinds. Lanes take elements a block's thirty-second apart, so that the same pairs meet in the
    same order: results are the same, of equals too. Trees that only add up or take extremes are
    `shuffle-reduce`'s.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional:
            continue
        block = block_extents(kernel, source, fn)
        if block is None or block[1:] != (1, 1) or not 2 * _WARP <= block[0] <= 1024:
            continue
        if block[0] & (block[0] - 1):
            continue
        for loop in fn.loops:
            if (
                loop.depth
                or loop.node.parent != fn.body
                or folded_arrays(source, fn, loop, block[0])
            ):
                continue
            tree = _tree_of(source, fn, loop, block[0])
            if tree is None:
                continue
            names = " and ".join(f"`{array.name}`" for array in tree.arrays)
            yield Edit(
                f"fold {names} of `{fn.name}` by warp shuffles, pair by pair",
                source.replace(_edits(source, fn, loop, tree, block[0])),
                f"rule:{_NAME}",
                f"The tree from line {loop.line} waits at a barrier on each level; shuffles fold a"
                " warp in registers, in the same order, and one element a warp is left.",
                _NAME,
                1.3,
            )


def _tree_of(source: Source, fn: Function, loop: Loop, block: int) -> _Tree | None:
    if not loop.counted or loop.variable is None or not halving(source, fn, loop, block):
        return None
    if any(n.start_byte < loop.node.start_byte for n in walk(fn.body, "return_statement")):
        return None  # a shuffle needs every lane
    if any(u.node.start_byte > loop.node.end_byte for u in loop.variable.uses):
        return None
    statements = [n for n in loop.body_statements() if n.type != "comment"]
    if loop.kind == "while" and loop.update is not None:
        statements = [n for n in statements if not contains(n, loop.update)]
    if len(statements) != 2:
        return None
    waits = source.plain(statements[0]) == "__syncthreads();"
    test, barrier = (statements[1], statements[0]) if waits else (statements[0], statements[1])
    if test.type != "if_statement" or source.plain(barrier) != "__syncthreads();":
        return None
    if field(test, "alternative") is not None or not (waits or _behind_a_barrier(source, loop)):
        return None
    body, rest = field(test, "consequence"), _rest(source, fn, loop, field(test, "condition"))
    if body is None or rest is False:
        return None
    further = rest if isinstance(rest, Node) else None
    return _folded(source, fn, loop, body, further, waits=waits)


def _behind_a_barrier(source: Source, loop: Loop) -> bool:
    previous = loop.node.prev_named_sibling
    while previous is not None and previous.type in ("comment", "declaration"):
        previous = previous.prev_named_sibling
    return previous is not None and source.plain(previous) == "__syncthreads();"


def _rest(source: Source, fn: Function, loop: Loop, test: Node | None) -> Node | bool | None:
    """Return what is tested besides `thread < offset`: None for nothing, False if that is not."""
    condition = stripped(test)
    if condition is None or condition.type != "binary_expression":
        return False
    if operator(condition) == "&&":
        first = _rest(source, fn, loop, field(condition, "left"))
        return field(condition, "right") if first is None else False
    value = fn.affine(field(condition, "left"))
    fits = value is not None and dict(value.terms) == {("threadIdx.x",): 1}
    fits = (
        fits and operator(condition) == "<" and source.plain(field(condition, "right")) == loop.name
    )
    return None if fits else False


def _folded(
    source: Source, fn: Function, loop: Loop, body: Node, rest: Node | None, *, waits: bool
) -> _Tree | None:
    """Return a tree whose body touches a thread's own elements and those an offset further."""
    places = [node for node in (body, rest) if node is not None]
    touched = [a for a in fn.accesses if any(contains(place, a.node) for place in places)]
    shared = [a for a in touched if a.space == "shared"]
    arrays: dict[str, _Array] = {}
    mine: list[tuple[Node, str]] = []
    other: list[tuple[Node, str]] = []
    for access in shared:
        variable, node = access.variable, _element(access.node)
        if variable is None or access.index is None or node is None or access.cast:
            return None
        array = arrays.get(variable.name) or _array_of(source, fn, variable)
        if array is None or array.variable is not variable:
            return None
        arrays[variable.name] = array
        terms = dict(access.index.terms)
        if terms == {("threadIdx.x",): 1}:
            mine.append((node, variable.name))
        elif terms == {("threadIdx.x",): 1, (loop.name,): 1} and not access.writes:
            other.append((node, variable.name))
        else:
            return None
    written = {a.name for a in shared if a.writes}
    if not written or written != arrays.keys() or not _only_these(fn, loop, places, arrays, shared):
        return None
    if any(a.writes and a.space not in ("shared", "local") for a in touched):
        return None
    if any(walk(body, "return_statement", "break_statement", "continue_statement")):
        return None
    inner = {v.name for v in fn.variables.all if contains(body, v.declaration)}
    if fn.writes(body) - inner - arrays.keys():
        return None
    if any(
        contains(place, c.node)
        for place in places
        for c in (*fn.unknown_calls, *fn.atomics, *fn.barriers, *fn.warp_calls)
    ):
        return None
    counters = loop.variable.uses if loop.variable is not None else ()
    for use in counters:
        inside = any(contains(place, use.node) for place in places)
        if inside and not any(contains(node, use.node) for node, _ in other):
            return None
    ordered = sorted(arrays.values(), key=lambda one: one.variable.declaration.start_byte)
    return _Tree(body, rest, tuple(ordered), tuple(mine), tuple(other), waits)


def _only_these(
    fn: Function,
    loop: Loop,
    places: Sequence[Node],
    arrays: dict[str, _Array],
    shared: Sequence[object],
) -> bool:
    """Return whether arrays are used in the tree as understood, and behind it by their first."""
    for array in arrays.values():
        inside = [u for u in array.variable.uses if contains(loop.node, u.node)]
        seen = [a for a in fn.accesses if a.variable is array.variable]
        if len(inside) != len([a for a in seen if any(contains(p, a.node) for p in places)]):
            return False
        behind = [u for u in array.variable.uses if u.node.start_byte > loop.node.end_byte]
        later = [a for a in seen if a.node.start_byte > loop.node.end_byte]
        if len(behind) != len(later):
            return False
        if any(
            a.writes or a.index is None or a.index.terms.keys() - {()} or a.index.constant
            for a in later
        ):
            return False
    return bool(shared)


def _element(node: Node) -> Node | None:
    """Return the element of an access: `s[t]` of `s[t].x`."""
    while node.type == "field_expression":
        inner = field(node, "argument")
        if inner is None:
            return None
        node = inner
    return node if node.type == "subscript_expression" else None


def _array_of(source: Source, fn: Function, variable: Variable) -> _Array | None:
    """Return a shared array of one extent whose elements shuffles can move."""
    if variable.volatile or "volatile" in variable.type:
        return None
    if not variable.settled and not variable.is_array:
        return None
    if variable.is_array and len(variable.extents) != 1:
        return None
    kind = variable.element
    if kind in _SHUFFLED or source.aliases.get(kind) in _SHUFFLED:
        return _Array(variable, ())
    if any(t.is_type and t.name == kind for t in fn.templates):
        # A type that no shuffle takes does not compile.
        return _Array(variable, ())
    if kind in _VECTORS:
        return _Array(variable, tuple("xyzw"[: _VECTORS[kind]]))
    members = source.members.get(kind, {})
    plain = _is_plain(source, kind) and all(one in _SHUFFLED for one in members.values())
    return _Array(variable, tuple(members)) if plain and 0 < len(members) <= _MOST_MEMBERS else None


def _is_plain(source: Source, kind: str) -> bool:
    """Tell whether a struct has nothing but members that are listed: no arrays, bits, bases."""
    name = re.escape(kind)
    found = re.search(
        rf"\bstruct\s+{name}\s*\{{([^{{}}]*)\}}"
        rf"|\bstruct\s*\w*\s*\{{([^{{}}]*)\}}\s*{name}\s*;",
        source.syntax.masked.text,
    )
    body = (found[1] or found[2] or "") if found is not None else "["
    return not set(body) & set("[:*(=")


def _edits(source: Source, fn: Function, loop: Loop, tree: _Tree, block: int) -> list[Replacement]:
    taken = [v.name for v in fn.variables.all]
    offset = source.fresh_name("offset", *taken)
    best = {a.name: source.fresh_name(f"{a.name}_mine", *taken) for a in tree.arrays}
    far = {a.name: source.fresh_name(f"{a.name}_other", *taken) for a in tree.arrays}
    slots = {a.name: source.fresh_name(f"{a.name}_warps", *taken) for a in tree.arrays}
    margin = source.indent(loop.node)
    step = "\t" if margin.endswith("\t") else "    " if len(margin) not in (2, 3) else margin
    warps = block // _WARP
    place = f"threadIdx.x % {_WARP} * {warps} + threadIdx.x / {_WARP}"
    body = _level(source, tree, best, far)
    lines = ["__syncthreads();"] if tree.waits else []
    # Lanes hold elements that lie so far apart that their shuffles are the tree's first levels.
    lines += [f"{a.variable.element} {best[a.name]} = {a.name}[{place}];" for a in tree.arrays]
    lines += _levels(tree, body, best, far, offset, step, _WARP // 2)
    lines += [f"__shared__ {a.variable.element} {slots[a.name]}[{warps}];" for a in tree.arrays]
    stores = [f"{slots[a.name]}[threadIdx.x / {_WARP}] = {best[a.name]};" for a in tree.arrays]
    lines += _under(f"threadIdx.x % {_WARP} == 0", stores, step)
    lines.append("__syncthreads();")
    loads = [f"{best[a.name]} = {slots[a.name]}[threadIdx.x % {warps}];" for a in tree.arrays]
    last = _levels(tree, body, best, far, offset, step, warps // 2)
    lines += _under(f"threadIdx.x < {_WARP}", [*loads, *last], step)
    firsts = [f"{a.name}[0] = {best[a.name]};" for a in tree.arrays]
    lines += _under("threadIdx.x == 0", firsts, step)
    lines.append("__syncthreads();")
    edits = [(*span(loop.node), f"\n{margin}".join(lines))]
    edits += counter_removed(source, loop)
    return sorted(edits)


def _under(test: str, lines: Sequence[str], step: str) -> list[str]:
    if len(lines) == 1:
        return [f"if ({test}) {lines[0]}"]
    return [f"if ({test}) {{", *(f"{step}{line}" for line in lines), "}"]


def _levels(
    tree: _Tree, body: Sequence[str], best: dict[str, str], far: dict[str, str],
    offset: str, step: str, first: int,
) -> list[str]:  # fmt: skip
    """Return the loop over the levels of a warp."""
    lines = [f"for (int {offset} = {first}; {offset} > 0; {offset} /= 2) {{"]
    for array in tree.arrays:
        mine, other, kind = best[array.name], far[array.name], array.variable.element
        if not array.members:
            call = f"__shfl_down_sync(0xffffffff, {mine}, {offset})"
            lines.append(f"{step}const {kind} {other} = {call};")
            continue
        lines.append(f"{step}{kind} {other} = {mine};")
        lines += [
            f"{step}{other}.{m} = __shfl_down_sync(0xffffffff, {mine}.{m}, {offset});"
            for m in array.members
        ]
    return [*lines, *(f"{step}{line}" for line in body), "}"]


def _level(source: Source, tree: _Tree, best: dict[str, str], far: dict[str, str]) -> list[str]:
    """Return what a level does with both elements, in lines."""
    places = [
        *((n, best[name]) for n, name in tree.mine),
        *((n, far[name]) for n, name in tree.other),
    ]

    def text(node: Node) -> str:
        low = node.start_byte
        inside = {(n.start_byte, n.end_byte): new for n, new in places if contains(node, n)}
        edits = [(a - low, b - low, new) for (a, b), new in inside.items()]
        return replace(source.of(node), sorted(edits))

    if tree.rest is not None:
        body = text(tree.body)
        whole = f"if ({text(tree.rest)}) {body}"
        return _unindented(whole, source.indent(tree.body.parent or tree.body))
    if tree.body.type != "compound_statement":
        return _unindented(text(tree.body), source.indent(tree.body))
    found: list[str] = []
    for node in tree.body.named_children:
        found += _unindented(text(node), source.indent(node))
    return found


def _unindented(text: str, margin: str) -> list[str]:
    return [line.removeprefix(margin).rstrip() for line in text.splitlines()]
