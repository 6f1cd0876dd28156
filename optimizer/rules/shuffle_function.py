"""Fold a block by warp shuffles in the device function that kernels call for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.geometry import block_extents
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.reduction import Update, combine
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, stripped, walk
from optimizer.variables import Variable

_NAME = "shuffle-reduce"
_WARP = 32
_TYPES = frozenset({"float", "double", "int", "unsigned", "unsigned int", "long long"})
_CALLS = {
    "max": "max", "fmax": "max", "fmaxf": "max", "min": "min", "fmin": "min", "fminf": "min",
}  # fmt: skip
_LAST = ((">", "0"), (">=", "1"), ("!=", "0"))


@dataclass(frozen=True, slots=True)
class _Fold:
    """A function that stores `value` to `array`, folds it in `loop`, and reads the result once."""

    value: Variable
    array: Variable
    operation: str
    store: Node
    loop: Loop
    read: Access
    warps: str


def shuffle_function(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Fold a block of threads by shuffles and one shared value a warp, in a function of its own.

    For device functions that store each thread's value in an array they are passed, fold it by a
    tree of halves and return its first element, called by kernels that use that array for nothing
    else, with blocks of one size, a power of two. Float sums are reordered.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.functions:
        if fn.is_kernel or "__device__" not in fn.qualifiers or fn.broken or fn.conditional:
            continue
        if fn.has_asm or fn.has_goto or not fn.barriers:
            continue
        block = _block(kernel, source, fn)
        fold = _fold(source, fn, block) if block is not None else None
        if fold is None or not _for_nothing_else(source, fn, fold.array):
            continue
        yield Edit(
            f"fold blocks in `{fn.name}` by warp shuffles",
            source.replace(sorted(_rewrite(source, fn, fold))),
            f"rule:{_NAME}",
            f"The tree from line {fold.loop.line} waits at a barrier on each level; shuffles fold"
            " a warp in registers, and one shared value a warp is left.",
            _NAME,
            1.3,
        )


# -- legality ------------------------------------------------------------------------------------


def _block(kernel: Kernel, source: Source, fn: Function) -> int | None:
    """Return the threads of all blocks that call a function; None when that is not one number."""
    sizes: set[int | None] = set()
    for other in source.functions:
        if not any(call.name == fn.name for call in other.calls):
            continue
        block = block_extents(kernel, source, other) if other.is_kernel else None
        sizes.add(block[0] if block is not None and block[1:] == (1, 1) else None)
    size = sizes.pop() if len(sizes) == 1 else None
    whole = size is not None and _WARP <= size <= _WARP * _WARP and size & (size - 1) == 0
    return size if whole else None


def _fold(source: Source, fn: Function, block: int) -> _Fold | None:
    loops = [lp for lp in fn.loops if lp.node.parent == fn.body]
    if len(fn.loops) != 1 or len(loops) != 1 or len(list(walk(fn.body, "if_statement"))) != 1:
        return None
    loop = loops[0]
    warps = _warps(source, loop, block)
    folded = _folded(source, fn, loop)
    if warps is None or folded is None:
        return None
    array, operation = folded
    mine = [a for a in fn.accesses if a.variable is array]
    before = [a for a in mine if a.node.end_byte <= loop.node.start_byte]
    after = [a for a in mine if a.node.start_byte >= loop.node.end_byte]
    if len(before) != 1 or len(after) != 1 or before[0].kind != "write" or after[0].writes:
        return None
    if before[0].index is None or dict(before[0].index.terms) != {("threadIdx.x",): 1}:
        return None
    if (
        after[0].index is None
        or after[0].index.constant != 0
        or len(mine) != len(before) + 1 + len([a for a in mine if contains(loop.node, a.node)])
    ):
        return None
    store = before[0].statement
    inner = store.named_children[0] if store is not None and store.named_children else None
    value = stripped(field(inner, "right")) if inner is not None else None
    if store is None or inner is None or value is None or operator(inner) != "=":
        return None
    variable = fn.variables.of(value) if value.type == "identifier" else None
    if variable is None or variable.space != "parameter" or variable.const or variable.reference:
        return None
    if variable.element != array.element or array.element not in _TYPES:
        return None
    if [u for u in variable.uses if u.node != value and u.role != "declare"]:
        return None
    if not _met_again(source, fn, after[0].node):
        return None
    return _Fold(variable, array, operation, store, loop, after[0], warps)


def _met_again(source: Source, fn: Function, read: Node) -> bool:
    """Return whether all have read the result before anyone can write to the array again.

    A barrier behind the read does that, or that there is no other call. A tree leaves the other
    elements alone once its first one is read; warps write theirs in the next call.
    """
    if any(call.node.start_byte > read.end_byte for call in fn.barriers):
        return True
    calls = [(f, c) for f in source.functions for c in f.calls if c.name == fn.name]
    return len(calls) == 1 and not calls[0][0].loops_around(calls[0][1].node)


def _warps(source: Source, loop: Loop, block: int) -> str | None:
    """Return how many warps a block has, as the loop's own words say it; None for other loops."""
    if (loop.scaling, source.plain(loop.step_node)) not in (("/", "2"), (">>", "1")):
        return None
    if (loop.relation, source.plain(loop.bound)) not in _LAST or loop.start is None:
        return None
    text = source.plain(loop.start)
    if source.value(re.sub(r"\bblockDim\s*\.\s*x\b", str(block), text)) != block // 2:
        return None
    halved = re.fullmatch(r"([A-Za-z_][\w.:]*) ?(?:/ ?2|>> ?1)", text)
    return f"{halved[1] if halved else 'blockDim.x'} / {_WARP}"


def _folded(source: Source, fn: Function, loop: Loop) -> tuple[Variable, str] | None:
    """Return the array that a loop folds to its first element, and how."""
    statements = [n for n in loop.body_statements() if n.type != "comment"]
    if len(statements) != 2 or source.plain(statements[1]) != "__syncthreads();":
        return None
    test, condition = statements[0], stripped(field(statements[0], "condition"))
    if test.type != "if_statement" or field(test, "alternative") is not None or condition is None:
        return None
    thread = fn.affine(field(condition, "left"))
    if thread is None or dict(thread.terms) != {("threadIdx.x",): 1} or operator(condition) != "<":
        return None
    if source.plain(field(condition, "right")) != loop.name:
        return None
    body = field(test, "consequence")
    inner = [body] if body is not None and body.type != "compound_statement" else [
        n for n in (body.named_children if body is not None else ()) if n.type != "comment"
    ]  # fmt: skip
    if len(inner) != 1 or inner[0] is None or inner[0].type != "expression_statement":
        return None
    touched = [a for a in fn.accesses if contains(inner[0], a.node)]
    array = touched[0].variable if touched else None
    if array is None or array.space != "parameter" or not array.is_pointer or array.depth != 1:
        return None
    operation = _operation(source, loop, inner[0].named_children[0], touched)
    return (array, operation) if operation and "volatile" not in array.type else None


def _operation(
    source: Source, loop: Loop, statement: Node, touched: Sequence[Access]
) -> str | None:
    """Return the operation of `s[t] += s[t + offset]` and its like."""
    left, right = field(statement, "left"), stripped(field(statement, "right"))
    if statement.type != "assignment_expression" or left is None or right is None:
        return None
    if any(a.index is None or a.variable is not touched[0].variable for a in touched):
        return None
    own = [a for a in touched if a.node == left]
    rest = [a for a in touched if a.node != left]
    mine = own[0].index if len(own) == 1 else None
    if mine is None or dict(mine.terms) != {("threadIdx.x",): 1}:
        return None
    far = [a.node for a in rest if a.index and dict((a.index - mine).terms) == {(loop.name,): 1}]
    near = [a.node for a in rest if a.index and a.index.same(mine)]
    if len(far) != 1 or len(far) + len(near) != len(rest):
        return None
    sign = operator(statement)
    if sign in ("+=", "*="):
        return sign[0] if not near and right == far[0] else None
    if sign != "=" or len(near) != 1:
        return None
    if right.type == "binary_expression" and operator(right) in ("+", "*"):
        sides = {n.id for n in (stripped(field(right, s)) for s in ("left", "right")) if n}
        return operator(right) if sides == {far[0].id, near[0].id} else None
    if right.type == "call_expression":
        listed = field(right, "arguments")
        given = {n.id for n in listed.named_children} if listed is not None else set()
        name = source.plain(field(right, "function")).removeprefix("std::")
        return _CALLS.get(name) if given == {far[0].id, near[0].id} else None
    return None


def _for_nothing_else(source: Source, fn: Function, array: Variable) -> bool:
    """Return whether all arrays that are passed are shared ones that only such calls name."""
    place = next((i for i, p in enumerate(fn.parameters) if p.name == array.name), None)
    if place is None:
        return False
    for caller in source.functions:
        calls = [call for call in caller.calls if call.name == fn.name]
        given = [call.arguments[place] for call in calls if place < len(call.arguments)]
        if len(given) != len(calls):
            return False
        for node in given:
            variable = caller.variables.of(node) if node.type == "identifier" else None
            if variable is None or variable.space != "shared" or len(variable.extents) != 1:
                return False
            uses = [u.node for u in variable.uses if u.role != "declare"]
            if not all(any(use == one for one in given) for use in uses):
                return False
    return True


# -- the edit ------------------------------------------------------------------------------------


def _rewrite(source: Source, fn: Function, fold: _Fold) -> Iterator[Replacement]:
    taken = [v.name for v in fn.variables.all]
    offset, warp = fold.loop.name, source.fresh_name("w", *taken)
    margin = source.indent(fold.store)
    step = "\t" if margin.endswith("\t") else "    "
    value, array = fold.value.name, fold.array.name
    update = Update(fold.value, fold.operation, fold.store)
    lines = [
        f"for (int {offset} = {_WARP // 2}; {offset} > 0; {offset} /= 2)",
        step + combine(update, f"__shfl_xor_sync(0xffffffff, {value}, {offset})"),
        f"if (threadIdx.x % {_WARP} == 0) {array}[threadIdx.x / {_WARP}] = {value};",
    ]
    yield (fold.store.start_byte, fold.store.end_byte, f"\n{margin}".join(lines))
    lines = [
        f"{value} = {array}[0];",
        f"for (int {warp} = 1; {warp} < {fold.warps}; {warp}++)",
        f"{step}{combine(update, f'{array}[{warp}]')}",
    ]
    yield (fold.loop.node.start_byte, fold.loop.node.end_byte, f"\n{margin}".join(lines))
    yield (fold.read.node.start_byte, fold.read.node.end_byte, value)
    for variable in fn.variables.all:
        places = (fold.store, fold.loop.node)
        uses = [u.node for u in variable.uses if u.role != "declare"]
        alone = len(variable.declaration.children_by_field_name("declarator")) == 1
        if variable.space == "local" and alone and uses and variable is not fold.loop.variable:
            inside = contains(fold.loop.node, variable.declaration)
            if not inside and all(any(contains(p, use) for p in places) for use in uses):
                yield (*source.statement_span(variable.declaration), "")
