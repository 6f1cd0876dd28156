"""Replace trees in shared memory by warp shuffles: two barriers instead of one a level."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.geometry import Change, block_extents, is_flat, regrid
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement, line_end, line_start
from optimizer.syntax import contains, field, operator, span, stripped, walk
from optimizer.variables import Variable

_NAME = "shuffle-reduce"
_WARP = 32
_TYPES = {
    "float": "f", "double": "", "int": "i", "unsigned int": "i", "unsigned": "i",
    "long long": "i", "unsigned long long": "i",
}  # fmt: skip
_INTEGERS = frozenset({"int", "unsigned", "unsigned int", "short", "long", "size_t"})
_CALLS = {
    "max": "max", "fmax": "max", "fmaxf": "max", "min": "min", "fmin": "min", "fminf": "min",
}  # fmt: skip
_FEWER_BLOCKS = (16, 8, 32)


@dataclass(frozen=True, slots=True)
class _Array:
    """A shared array that a tree folds into its first element by `+`, `*`, `max` or `min`."""

    variable: Variable
    operation: str


@dataclass(frozen=True, slots=True)
class _Clean:
    """A tree that is fed by one store a thread and read by thread 0 alone."""

    stores: tuple[Node, ...]
    barrier: Node
    reads: tuple[Access, ...]


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
        if block is None or block[1:] != (1, 1) or block[0] < _WARP or block[0] > 1024:
            continue
        if block[0] & (block[0] - 1):
            continue
        for loop in fn.loops:
            arrays = _tree(source, fn, loop, block[0])
            if not arrays:
                continue
            clean = _clean(source, fn, loop, arrays)
            if clean is not None:
                yield from _fewer_blocks(kernel, source, fn, loop, arrays, clean, block[0])
            if clean is None and not _kept(fn, loop, arrays):
                continue
            yield Edit(
                f"fold the block of `{fn.name}` by warp shuffles",
                source.replace(_rewrite(source, fn, loop, arrays, clean, block[0])),
                f"rule:{_NAME}",
                f"The tree from line {loop.line} waits at a barrier on each level; shuffles fold a"
                " warp in registers, and one shared value a warp is left.",
                _NAME,
                1.3,
            )


# -- legality ------------------------------------------------------------------------------------


def _tree(source: Source, fn: Function, loop: Loop, block: int) -> tuple[_Array, ...]:
    """Return the arrays that a loop folds; none when it is something else."""
    if loop.depth or not loop.counted or loop.variable is None or loop.node.parent != fn.body:
        return ()
    if any(n.start_byte < loop.node.start_byte for n in walk(fn.body, "return_statement")):
        return ()  # a shuffle needs every lane
    if not _halving(source, fn, loop, block) and not _doubling(source, fn, loop, block):
        return ()
    statements = [n for n in loop.body_statements() if n.type != "comment"]
    if loop.kind == "while" and loop.update is not None:
        statements = [n for n in statements if not contains(n, loop.update)]
    test = next((n for n in statements if n.type == "if_statement"), None)
    calls = [n for n in statements if n.type == "expression_statement"]
    others = [n for n in statements if n is not test and n not in calls]
    if test is None or len(calls) != 1 or source.plain(calls[0]) != "__syncthreads();":
        return ()
    if field(test, "alternative") is not None:
        return ()
    if any(n.type != "declaration" for n in others):
        return ()
    body = field(test, "consequence")
    inner = body.named_children if body is not None and body.type == "compound_statement" else [
        body
    ]  # fmt: skip
    found = [_fold(source, fn, loop, n) for n in inner if n is not None and n.type != "comment"]
    arrays = tuple(f[0] for f in found if f is not None)
    if not found or len(arrays) != len(found):
        return ()
    if len({a.variable.name for a in arrays}) != len(arrays):
        return ()
    scaled = {f[1] for f in found if f is not None}
    if len(scaled) != 1 or not _tested(source, fn, loop, test, block, scaled=scaled.pop()):
        return ()
    if any(u.variable is loop.variable and u.node.start_byte > loop.node.end_byte
           for u in loop.variable.uses):  # fmt: skip
        return ()
    return arrays


def _number(source: Source, fn: Function, block: int, node: Node | None) -> int | None:
    """Return an integer, seen through settled locals and what every launch passes."""

    def inserted(found: re.Match[str]) -> str:
        variable = fn.variables.named(found[0], node) if node is not None else None
        if variable is None or not variable.settled or not variable.is_scalar:
            return found[0]
        if variable.space == "local" and variable.element in _INTEGERS:
            number = _number(source, fn, block, variable.init)
        else:
            number = _passed(source, fn, variable)
        return found[0] if number is None else str(number)

    text = re.sub(r"\bblockDim\s*\.\s*x\b", str(block), source.plain(node))
    return source.value(re.sub(r"\b[A-Za-z_]\w*\b", inserted, text))


def _passed(source: Source, fn: Function, variable: Variable) -> int | None:
    """Return what every launch passes for an integer parameter; None unless it is one number."""
    places = [i for i, p in enumerate(fn.parameters) if p.name == variable.name]
    if variable.element not in _INTEGERS or not places or not source.only_launched(fn.name):
        return None
    found: set[int | None] = set()
    for launch in source.launches_of(fn.name):
        host = source.function(launch.function)
        if host is None or host.body != launch.function_node or places[0] >= len(launch.arguments):
            return None
        found.add(_of_host(source, host, launch.arguments[places[0]]))
    return found.pop() if len(found) == 1 else None


def _of_host(source: Source, host: Function, node: Node) -> int | None:
    variable = host.variables.of(node) if node.type == "identifier" else None
    if variable is None:
        return source.value(source.plain(node)) if node.type == "number_literal" else (
            source.constant(source.plain(node))
        )  # fmt: skip
    if not variable.settled or variable.init is None or variable.element not in _INTEGERS:
        return None
    return _of_host(source, host, variable.init)


def _halving(source: Source, fn: Function, loop: Loop, block: int) -> bool:
    start = loop.start
    if start is None and loop.variable is not None and loop.variable.init is not None:
        if len(loop.variable.changes) != 1:
            return False
        start = loop.variable.init
    if (loop.scaling, source.plain(loop.step_node)) not in (("/", "2"), (">>", "1")):
        return False
    last = (loop.relation, source.plain(loop.bound))
    return _number(source, fn, block, start) == block // 2 and last in (
        (">", "0"), ("!=", "0"), (">=", "1"),
    )  # fmt: skip


def _doubling(source: Source, fn: Function, loop: Loop, block: int) -> bool:
    if (loop.scaling, source.plain(loop.step_node)) not in (("*", "2"), ("<<", "1")):
        return False
    if loop.start is None or source.plain(loop.start) != "1" or loop.relation != "<":
        return False
    return _number(source, fn, block, loop.bound) == block


def _tested(
    source: Source, fn: Function, loop: Loop, test: Node, block: int, *, scaled: bool
) -> bool:
    """Return whether the test lets through the threads of each level, no more and no fewer."""
    condition = stripped(field(test, "condition"))
    if condition is None or condition.type != "binary_expression":
        return False
    left, right, sign = field(condition, "left"), field(condition, "right"), operator(condition)
    name = loop.name
    if scaled:  # index = 2 * s * thread; index < blockDim.x
        value = fn.affine(left)
        fits = value is not None and dict(value.terms) == {tuple(sorted((name, "threadIdx.x"))): 2}
        return fits and sign == "<" and _number(source, fn, block, right) == block
    if _halving(source, fn, loop, block):
        value = fn.affine(left)
        if value is None or dict(value.terms) != {("threadIdx.x",): 1}:
            return False
        return sign == "<" and source.plain(right) == name
    left = stripped(left)
    if sign != "==" or source.plain(right) != "0" or left is None or operator(left) != "%":
        return False
    value, step = fn.affine(field(left, "left")), fn.affine(field(left, "right"))
    if value is None or step is None or dict(value.terms) != {("threadIdx.x",): 1}:
        return False
    return dict(step.terms) == {(name,): 2}


def _fold(source: Source, fn: Function, loop: Loop, node: Node) -> tuple[_Array, bool] | None:
    """Return the array that `s[t] += s[t + offset];` folds, and whether t is `2 * s * thread`."""
    if node.type != "expression_statement" or not node.named_children:
        return None
    inner = node.named_children[0]
    if inner.type != "assignment_expression":
        return None
    touched = [a for a in fn.accesses if contains(node, a.node)]
    variable = touched[0].variable if touched else None
    if variable is None or variable.space != "shared" or len(variable.extents) != 1:
        return None
    if variable.element not in _TYPES or "volatile" in variable.type or variable.volatile:
        return None
    own = [a for a in touched if contains(field(inner, "left") or inner, a.node)]
    rest = [a for a in touched if a not in own]
    if len(own) != 1 or any(a.variable is not variable or a.index is None for a in touched):
        return None
    mine = own[0].index
    if mine is None:
        return None
    scaled = dict(mine.terms) == {tuple(sorted((loop.name, "threadIdx.x"))): 2}
    if not scaled and dict(mine.terms) != {("threadIdx.x",): 1}:
        return None
    far = [a for a in rest if a.index is not None and dict((a.index - mine).terms) == {
        (loop.name,): 1
    }]  # fmt: skip
    near = [a for a in rest if a.index is not None and a.index.same(mine)]
    sign, right = operator(inner), stripped(field(inner, "right"))
    if right is None or len(far) != 1 or len(far) + len(near) != len(rest):
        return None
    if sign in ("+=", "*="):
        fits = not near and right.id == far[0].node.id
        return (_Array(variable, sign[0]), scaled) if fits else None
    if sign != "=" or len(near) != 1:
        return None
    ends = {far[0].node.id, near[0].node.id}
    if right.type == "binary_expression" and operator(right) in ("+", "*"):
        sides = {n.id for n in (stripped(field(right, s)) for s in ("left", "right")) if n}
        return (_Array(variable, operator(right)), scaled) if sides == ends else None
    if right.type == "call_expression":
        name = source.plain(field(right, "function")).removeprefix("std::")
        listed = field(right, "arguments")
        given = {n.id for n in listed.named_children} if listed is not None else set()
        if name in _CALLS and given == ends and not source.known(name):
            return _Array(variable, _CALLS[name]), scaled
    return None


def _kept(fn: Function, loop: Loop, arrays: Sequence[_Array]) -> bool:
    """Return whether only the first element is read behind a tree that starts behind a barrier."""
    for array in arrays:
        for access in fn.accesses:
            if access.variable is not array.variable:
                continue
            if access.node.start_byte < loop.node.start_byte:
                continue
            if contains(loop.node, access.node):
                continue
            if access.index is None or access.index.constant != 0 or access.writes:
                return False
    previous = loop.node.prev_named_sibling
    while previous is not None and previous.type in ("comment", "declaration"):
        previous = previous.prev_named_sibling
    return previous is not None and fn.file.syntax.plain(previous) == "__syncthreads();"


def _clean(source: Source, fn: Function, loop: Loop, arrays: Sequence[_Array]) -> _Clean | None:
    wanted = {id(a.variable) for a in arrays}
    stores: list[Node] = []
    reads: list[Access] = []
    firsts = [
        g
        for g in fn.guards
        if not g.exits
        and g.bounds is not None
        and len(g.bounds) == 1
        and g.bounds[0][1] == "=="
        and source.plain(g.bounds[0][2]) == "0"
        and _is_thread(fn, stripped(field(g.node, "condition")))
    ]
    for access in fn.accesses:
        if id(access.variable) not in wanted or contains(loop.node, access.node):
            continue
        if access.node.start_byte < loop.node.start_byte:
            at = access.statement
            if access.kind != "write" or at is None or at.parent != fn.body:
                return None
            if access.index is None or dict(access.index.terms) != {("threadIdx.x",): 1}:
                return None
            inner = at.named_children[0] if at.type == "expression_statement" else None
            if inner is None or inner.type != "assignment_expression" or operator(inner) != "=":
                return None
            if field(inner, "left") != access.node:
                return None
            stores.append(at)
            continue
        if access.kind != "read" or access.index is None or access.index.constant != 0:
            return None
        if not any(contains(g.node, access.node) for g in firsts):
            return None
        reads.append(access)
    uses = sum(len([u for u in a.variable.uses if u.role != "declare"]) for a in arrays)
    seen = [a for a in fn.accesses if id(a.variable) in wanted]
    if len(stores) != len(arrays) or not reads or uses != len(seen):
        return None
    between = [
        n
        for n in fn.body.named_children
        if stores[0].start_byte <= n.start_byte < loop.node.start_byte
        and n.type not in ("comment", "declaration")
        and n not in stores
    ]
    if len(between) != 1 or source.plain(between[0]) != "__syncthreads();":
        return None
    return _Clean(tuple(stores), between[0], tuple(reads))


def _is_thread(fn: Function, condition: Node | None) -> bool:
    if condition is None or condition.type != "binary_expression":
        return False
    sides = [fn.affine(field(condition, side)) for side in ("left", "right")]
    return any(s is not None and dict(s.terms) == {("threadIdx.x",): 1} for s in sides)


# -- the edit ------------------------------------------------------------------------------------


def _rewrite(
    source: Source,
    fn: Function,
    loop: Loop,
    arrays: Sequence[_Array],
    clean: _Clean | None,
    block: int,
) -> list[Replacement]:
    taken = [v.name for v in fn.variables.all]
    base = "total" if len(arrays) == 1 else ""
    names = [source.fresh_name(base or f"{a.variable.name}_total", *taken) for a in arrays]
    margin = source.indent(loop.node)
    step = "\t" if margin.endswith("\t") else "    " if len(margin) not in (2, 3) else margin
    edits: list[Replacement] = []
    lines: list[str] = []
    if clean is None:
        for name, array in zip(names, arrays, strict=True):
            own = f"{array.variable.name}[threadIdx.x]"
            lines.append(f"{array.variable.element} {name} = {own};")
    else:
        for name, array in zip(names, arrays, strict=True):
            edits += _in_registers(source, fn, clean, array, name)
        edits.append((*source.statement_span(clean.barrier), ""))
    lines += _folding(source, taken, arrays, names, step, block)
    if clean is None:
        stores = " ".join(
            f"{a.variable.name}[0] = {n};" for a, n in zip(arrays, names, strict=True)
        )
        lines += [
            f"if (threadIdx.x == 0) {stores if len(arrays) == 1 else f'{{ {stores} }}'}",
            "__syncthreads();",
        ]  # fmt: skip
    edits.append((*span(loop.node), f"\n{margin}".join(lines)))
    outside = loop.variable
    if outside is not None and not contains(loop.node, outside.name_node):
        alone = all(
            contains(loop.node, u.node) or contains(outside.declaration, u.node)
            for u in outside.uses
        )
        if alone and len(outside.declaration.named_children) == 2:
            edits.append((*source.statement_span(outside.declaration), ""))
    return sorted((e for e in edits if e[0] != e[1] or e[2]), key=lambda e: (e[0], e[1]))


def _in_registers(
    source: Source, fn: Function, clean: _Clean, array: _Array, name: str
) -> Iterator[Replacement]:
    """Yield the edits that keep a thread's value in a variable instead of a shared array."""
    for at in clean.stores:
        left = field(at.named_children[0], "left")
        if left is not None and source.of(left).partition("[")[0].strip() == array.variable.name:
            yield (*span(left), f"{array.variable.element} {name}")
    yield from ((*span(a.node), name) for a in clean.reads if a.variable is array.variable)
    declaration = array.variable.declaration
    if len([v for v in fn.variables.all if v.declaration == declaration]) > 1:
        return
    low = line_start(source.text, declaration.start_byte)
    lead = source.text[low : declaration.start_byte].split()
    if lead == ["__shared__"]:
        high = line_end(source.text, declaration.end_byte)
        behind = source.text[declaration.end_byte : high].strip()
        yield (low, declaration.end_byte if behind else high, "")
    elif not lead and source.of(declaration).startswith("__shared__"):
        yield (*source.statement_span(declaration), "")


def _folding(
    source: Source, taken: Sequence[str], arrays: Sequence[_Array], names: Sequence[str],
    step: str, block: int,
) -> list[str]:  # fmt: skip
    """Return the lines that leave the block's results in the first thread's variables."""
    offset = source.fresh_name("offset", *taken)
    lines = _shuffles(arrays, names, offset, step)
    if block == _WARP:
        return lines
    slots = [source.fresh_name(f"warp_{n}s", *taken) for n in names]
    pairs = list(zip(arrays, names, slots, strict=True))
    lines += [f"__shared__ {a.variable.element} {s}[{_WARP}];" for a, _, s in pairs]
    stores = " ".join(f"{s}[threadIdx.x / {_WARP}] = {n};" for _, n, s in pairs)
    if len(pairs) > 1:
        stores = f"{{ {stores} }}"
    lines += [f"if (threadIdx.x % {_WARP} == 0) {stores}", "__syncthreads();"]
    lines.append(f"if (threadIdx.x < {_WARP}) {{")
    for array, name, slot in pairs:
        test = f"threadIdx.x < blockDim.x / {_WARP}"
        if array.operation in ("+", "*"):
            neutral = "0" if array.operation == "+" else "1"
            lines.append(f"{step}{name} = {test} ? {slot}[threadIdx.x] : {neutral};")
        else:
            lines.append(f"{step}{name} = {slot}[{test} ? threadIdx.x : 0];")
    lines += [f"{step}{line}" for line in _shuffles(arrays, names, offset, step)]
    lines.append("}")
    return lines


def _shuffles(arrays: Sequence[_Array], names: Sequence[str], offset: str, step: str) -> list[str]:
    head = f"for (int {offset} = {_WARP // 2}; {offset} > 0; {offset} /= 2)"
    folds = [
        _joined(a, n, f"__shfl_down_sync(0xffffffff, {n}, {offset})")
        for a, n in zip(arrays, names, strict=True)
    ]
    if len(folds) == 1:
        return [head, f"{step}{folds[0]}"]
    return [f"{head} {{", *(f"{step}{f}" for f in folds), "}"]


def _joined(array: _Array, name: str, other: str) -> str:
    if array.operation in ("+", "*"):
        return f"{name} {array.operation}= {other};"
    suffix = _TYPES[array.variable.element]
    function = array.operation if suffix == "i" else f"f{array.operation}{suffix}"
    return f"{name} = {function}({name}, {other});"


def _fewer_blocks(
    kernel: Kernel, source: Source, fn: Function, loop: Loop, arrays: Sequence[_Array],
    clean: _Clean, block: int,
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
            for e in _rewrite(source, fn, loop, arrays, clean, block)
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
