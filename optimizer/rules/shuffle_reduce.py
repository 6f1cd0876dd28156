"""Replace trees in shared memory by warp shuffles: two barriers instead of one a level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.geometry import Change, block_extents, is_flat, regrid
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.shared_tree import Clean, Folded, clean_tree, folded_arrays, only_first_kept
from optimizer.rules.shuffle_text import WARP, rewritten
from optimizer.source import Source
from optimizer.syntax import contains, field, operator, span, stripped, walk

_NAME = "shuffle-reduce"
_FEWER_BLOCKS = (16, 8, 32)


def shuffle_reduce(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Fold the threads of a block by shuffles within warps and one shared value a warp.

    For trees over a block of a power of two threads that combine `s[t]` with `s[t + offset]` by a
    sum, product, maximum or minimum. Where each thread brings one element and the result goes to
    an atomic, fewer blocks add up several elements a thread first. Float sums are reordered.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional:
            continue
        block = block_extents(kernel, source, fn)
        if block is None or block[1:] != (1, 1) or block[0] < WARP or block[0] > 1024:
            continue
        if block[0] & (block[0] - 1):
            continue
        for loop in fn.loops:
            arrays = folded_arrays(source, fn, loop, block[0])
            if not arrays:
                continue
            clean = clean_tree(source, fn, loop, arrays)
            if clean is not None:
                yield from _fewer_blocks(kernel, source, fn, loop, arrays, clean, block[0])
            if clean is None and not only_first_kept(fn, loop, arrays):
                continue
            yield Edit(
                f"fold the block of `{fn.name}` by warp shuffles",
                source.replace(rewritten(source, fn, loop, arrays, clean, block[0])),
                f"rule:{_NAME}",
                f"The tree from line {loop.line} waits at a barrier on each level; shuffles fold a"
                " warp in registers, and one shared value a warp is left.",
                _NAME,
                1.3,
            )


def _fewer_blocks(
    kernel: Kernel, source: Source, fn: Function, loop: Loop, arrays: Sequence[Folded],
    clean: Clean, block: int,
) -> Iterator[Edit]:  # fmt: skip
    """Yield the fold with several elements a thread in front, where blocks are interchangeable."""
    if len(arrays) != 1 or arrays[0].operation != "+" or not is_flat(kernel, source, fn):
        return
    store = clean.stores[0].named_children[0]
    choice = stripped(field(store, "right"))
    ids = [t for t in fn.thread_ids if t.axis == "x"]
    if choice is None or choice.type != "conditional_expression" or len(ids) != 1:
        return
    variable = ids[0].variable
    test = stripped(field(choice, "condition"))
    value, other = field(choice, "consequence"), field(choice, "alternative")
    if test is None or test.type != "binary_expression" or operator(test) != "<":
        return
    if source.plain(field(test, "left")) != variable.name or variable.const:
        return
    zero = source.plain(other).rstrip("fF") in ("0", "0.", "0.0", ".0")
    if value is None or not zero or not variable.settled or variable.init is None:
        return
    if not all(contains(choice, u.node) or contains(variable.declaration, u.node)
               for u in variable.uses):  # fmt: skip
        return
    bound = field(test, "right")
    if (
        bound is None
        or not fn.is_pure(bound)
        or any(u.variable is variable for u in fn.variables.within(bound))
    ):
        return
    for node in walk(fn.body, "field_expression"):
        if source.plain(node) in ("blockIdx.x", "gridDim.x") and not contains(variable.init, node):
            return
    outputs = [a for a in fn.accesses if a.writes and a.space not in ("shared", "local")]
    if not outputs or not all(a.kind == "atomic" for a in outputs):
        return
    if any(c.name != "atomicAdd" for c in fn.atomics) or len(fn.barriers) != 2:
        return
    name = source.fresh_name("total", *(v.name for v in fn.variables.all))
    margin = source.indent(clean.stores[0])
    step = "\t" if margin.endswith("\t") else "    " if len(margin) not in (2, 3) else margin
    i = variable.name
    text = (
        f"{arrays[0].variable.element} {name} = 0;\n{margin}"
        f"for (; {source.of(test)}; {i} += blockDim.x * gridDim.x)\n{margin}{step}"
        f"{name} += {source.of(value)};"
    )
    for fewer in _FEWER_BLOCKS:
        geometry = regrid(kernel, source, fn, {"x": _divided(fewer)})
        if geometry is None:
            return
        edits = [
            e
            for e in rewritten(source, fn, loop, arrays, clean, block)
            if not contains(span(clean.stores[0]), (e[0], e[1]))
        ]
        edits += [(*span(clean.stores[0]), text), *geometry.edits]
        yield Edit(
            f"add up {fewer} elements a thread of `{fn.name}`, then fold by warp shuffles",
            source.replace(sorted(edits, key=lambda e: (e[0], e[1]))),
            f"rule:{_NAME}",
            f"Each thread brings one element to the tree from line {loop.line}; {fewer} elements a"
            " thread keep more loads in flight and leave fewer trees and atomics.",
            _NAME,
            2.5,
            geometry.launch,
        )


def _divided(factor: int) -> Change:
    def change(text: str) -> str:
        return f"({text} + {factor - 1}) / {factor}"

    return change
