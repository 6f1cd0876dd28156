"""Let threads of a block take turns at elements instead of a row of neighbours each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.geometry import block_extents, is_flat
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.polynomials import Polynomial, atom, number
from optimizer.rules.more_blocks import independent
from optimizer.rules.outputs import alone
from optimizer.rules.strided_loops import counts_only
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, span, stripped
from optimizer.variables import Variable

_NAME = "interleave"
_WIDE = ("size_t", "long", "long long", "int64_t", "uint64_t", "unsigned long long")


def interleave(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Turn `x[t * PER + k]` for k below PER into `x[first of the block + t + k * blockDim.x]`.

    Threads of a warp then touch neighbours in each round instead of elements PER apart. A block
    works on the same elements as before. Legal where a loop's iterations know the thread and the
    round by the number of the element only, and write elements of their own or sums that end in
    atomics or are joined over the block.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional or not alone(source, fn):
            continue
        if not is_flat(kernel, source, fn):
            continue
        block = block_extents(kernel, source, fn)
        for loop in fn.loops:
            edits = _turns(source, fn, loop, block[:1] if block is not None else ())
            if edits is not None and independent(source, fn, [loop]):
                yield Edit(
                    f"let threads of `{fn.name}` take turns at elements",
                    source.replace(sorted(edits)),
                    f"rule:{_NAME}",
                    f"Each thread walks neighbours of its own in line {loop.line}, so a warp"
                    " touches 32 places apart at a time; in turns it touches one row of them.",
                    _NAME,
                    2.0,
                )


def _turns(
    source: Source, fn: Function, loop: Loop, known: Sequence[int]
) -> list[Replacement] | None:
    """Return the edits for one loop; None where its iterations know more than their element."""
    variable, bound = loop.variable, loop.bound
    if loop.depth or loop.kind != "for" or not loop.counted or loop.step != 1 or loop.leaves_early:
        return None
    if variable is None or bound is None or source.plain(loop.start) != "0":
        return None
    if loop.relation != "<" or not counts_only(variable) or (loop.trips or 2) < 2:
        return None
    length = fn.affine(bound)
    uses = [u.node for u in variable.uses if contains(loop.body, u.node)]
    if length is None or not uses or not fn.is_pure(bound):
        return None
    edits: dict[tuple[int, int], str] = {}
    firsts: list[Node] = []
    replaced: list[Node] = []
    for use in uses:
        first = _other_side(use)
        block = _block(fn, first, length, known) if first is not None else None
        if first is None or block is None:
            return None
        start = f"blockIdx.x * {block} * {_tight(source, bound)} + threadIdx.x"
        kept = fn.variables.of(first) if first.type == "identifier" else None
        if kept is None:
            edits[span(first)] = f"({start})"
            replaced.append(first)
        elif kept.init is not None and kept.settled and not kept.is_pointer:
            edits[span(kept.init)] = f"(size_t){start}" if kept.element in _WIDE else start
            replaced.append(kept.init)
        else:
            return None
        firsts.append(first)
        edits[span(use)] = f"{variable.name} * {block}"
    if not _known_no_more(fn, firsts, replaced):
        return None
    for variable in _unused(source, fn, replaced):
        edits[source.statement_span(variable.declaration)] = ""
    return [(*at, new) for at, new in edits.items()]


def _other_side(use: Node) -> Node | None:
    """Return what a variable is added to."""
    outer = use.parent
    if outer is None or outer.type != "binary_expression" or operator(outer) != "+":
        return None
    left, right = field(outer, "left"), field(outer, "right")
    return stripped(right if left == use else left)


def _block(fn: Function, first: Node, length: Polynomial, known: Sequence[int]) -> str | None:
    """Return the block's extent where an expression is the thread's number times a length."""
    value = fn.affine(first)
    if value is None:
        return None
    texts = ["blockDim.x", *(str(n) for n in known), *(t.block for t in fn.thread_ids)]
    for text in texts:
        block = number(int(text)) if text.isdigit() else atom(text)
        if value.same((atom("threadIdx.x") + block * atom("blockIdx.x")) * length):
            return text
    return None


def _tight(source: Source, node: Node) -> str:
    text = source.of(node)
    return text if text.replace("_", "").replace(".", "").isalnum() else f"({text})"


def _known_no_more(fn: Function, firsts: Sequence[Node], replaced: Sequence[Node]) -> bool:
    """Return whether numbers of elements, and of threads they are made of, serve nothing else."""
    for node in (*firsts, *replaced):
        for use in fn.variables.within(node):
            variable = use.variable
            if variable is None or variable.space == "parameter":
                continue
            for other in variable.uses:
                at = other.node
                if not contains(variable.declaration, at) and not any(
                    contains(place, at) for place in (*firsts, *replaced)
                ):
                    return False
    return True


def _unused(source: Source, fn: Function, replaced: Sequence[Node]) -> Iterator[Variable]:
    """Yield the numbers of threads that only what is replaced asked for."""
    for thread in fn.thread_ids:
        variable = thread.variable
        uses = [u.node for u in variable.uses if not contains(variable.declaration, u.node)]
        alone = len(variable.declaration.children_by_field_name("declarator")) == 1
        inside = all(any(contains(place, use) for place in replaced) for use in uses)
        if uses and inside and alone and source.in_block(variable.declaration):
            yield variable
