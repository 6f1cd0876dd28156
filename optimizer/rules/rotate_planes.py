"""Neighbours along a loop kept in registers, which move on with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.polynomials import Polynomial, number
from optimizer.rules import halo
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, contains, field, span
from optimizer.variables import Variable

_NAME = "rotate-planes"
_FARTHEST = 8  # planes from the first to the last that are kept
_KINDS = frozenset({
    "float", "double", "int", "unsigned", "unsigned int", "short", "unsigned short", "char",
    "unsigned char",
})  # fmt: skip
_COUNTS = ("int", "unsigned", "unsigned int")
_WIDE = ("size_t", "long", "int64_t", "uint64_t", "ptrdiff_t")
_STRAIGHT = frozenset({
    "compound_statement", "expression_statement", "declaration", "init_declarator",
    "assignment_expression", "binary_expression", "parenthesized_expression", "argument_list",
    "call_expression", "unary_expression", "cast_expression", "subscript_expression",
    "subscript_argument_list",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Planes:
    """Reads of one array that reach what other iterations read, too.

    `reads` are by how many iterations ahead they read, from the lowest; `stride` is the distance
    of two iterations, `ahead` a read of the highest that every iteration does.
    """

    array: Variable
    loop: Loop
    reads: dict[int, tuple[Access, ...]]
    stride: Polynomial
    ahead: Access
    place: Node


def rotate_planes(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Keep `u[k - 1]`, `u[k]`, `u[k + 1]` in registers, so that an iteration loads one of them.

    For a loop that counts up by one and reads an array, which nothing in the kernel writes, at
    places an iteration apart, each of them in every iteration. Values do not change.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if not _fit(fn):
            continue
        for loop, names, edits in rotations(source, fn, list(halo.only_read(source, fn))):
            yield Edit(
                f"keep the neighbours of {names} along `{loop.name}` of `{fn.name}` in registers",
                source.replace(edits),
                f"rule:{_NAME}",
                f"Each iteration of the loop in line {loop.line} reads elements of {names} that"
                " the next ones read again; they move through registers, and one is loaded.",
                _NAME,
                1.2,
            )


def rotations(
    source: Source, fn: Function, arrays: Sequence[Variable]
) -> Iterator[tuple[Loop, str, list[Replacement]]]:
    """Yield loops along which some of the arrays are kept in registers, their names, the edits.

    The arrays are ones that the kernel does not write.
    """
    if not _fit(fn):
        return
    arrays = [v for v in arrays if v.element in _KINDS]
    for loop in fn.loops:
        if _plain(source, fn, loop):
            found = [p for a in arrays if (p := _planes(source, fn, loop, a)) is not None]
            if found:
                names = ", ".join(f"`{p.array.name}`" for p in found)
                yield loop, names, _all_edits(source, fn, loop, found)


def _fit(fn: Function) -> bool:
    return not (fn.broken or fn.has_asm or fn.has_goto or fn.conditional or fn.unknown_calls)


# -- legality ------------------------------------------------------------------------------------


def _plain(source: Source, fn: Function, loop: Loop) -> bool:
    """Return whether a loop counts up by one, alike for all threads, and does all its work."""
    variable = loop.variable
    if variable is None or not loop.counted or loop.step != 1 or loop.relation not in ("<", "<="):
        return False
    if loop.kind != "for" or loop.start is None or loop.bound is None:
        return False
    if not contains(loop.node, variable.name_node) or variable.element not in _COUNTS:
        return False
    if loop.body.type not in ("compound_statement", "expression_statement"):
        return False
    if not source.in_block(loop.node):
        return False
    pure = fn.is_pure(loop.start) and fn.is_pure(loop.bound)
    return pure and not fn.leaves(loop.body) and (fn.uniform(loop.start) or _kept(fn, loop))


def _kept(fn: Function, loop: Loop) -> bool:
    """Return whether a loop starts at a local that keeps its value: `z_first`."""
    if loop.start is None or loop.start.type != "identifier":
        return False
    variable = fn.variables.of(loop.start)
    return variable is not None and variable.settled and variable.element in _COUNTS


def _planes(source: Source, fn: Function, loop: Loop, array: Variable) -> _Planes | None:
    """Return the reads of an array that rotate along a loop; None where fewer than two do."""
    reads = [
        a
        for a in fn.accesses_in(loop.body)
        if a.root == array.name and a.kind == "read" and not a.cast and a.index is not None
    ]
    reads = [a for a in reads if a.loops and a.loops[-1].node == loop.node and _element(a)]
    best: _Planes | None = None
    for first in reads:
        stride = first.loop_stride(loop)
        if stride is None or not stride.terms:
            continue
        apart: dict[int, list[Access]] = {}
        for access in reads:
            ahead = _ahead(first, access, stride)
            if ahead is not None:
                apart.setdefault(ahead, []).append(access)
        found = _rotating(source, fn, loop, array, apart, stride)
        if found is not None and (best is None or len(found.reads) > len(best.reads)):
            best = found
    return best


def _element(access: Access) -> bool:
    parent = access.node.parent
    outside = parent is not None and parent.type != "pointer_expression"
    return access.node.type == "subscript_expression" and outside


def _ahead(first: Access, other: Access, stride: Polynomial) -> int | None:
    """Return how many iterations later the one reads what the other reads now."""
    if first.index is None or other.index is None:
        return None
    apart = other.index - first.index
    term, factor = next(((m, f) for m, f in stride.terms.items() if f), ((), 1))
    ahead = apart.terms.get(term, 0) // factor
    return ahead if abs(ahead) <= _FARTHEST and apart.same(stride.scaled(ahead)) else None


def _rotating(
    source: Source,
    fn: Function,
    loop: Loop,
    array: Variable,
    apart: dict[int, list[Access]],
    stride: Polynomial,
) -> _Planes | None:
    low, high = min(apart, default=0), max(apart, default=0)
    always = {n: [a for a in found if _always(loop, a)] for n, found in apart.items()}
    if not low < high <= low + _FARTHEST:
        return None
    if any(not always.get(n) for n in range(low, high + 1)):
        return None
    ahead = always[high][0]
    used = [a for found in apart.values() for a in found]
    place = _before(loop, min(a.node.start_byte for a in used))
    if place is None or not _steady(source, fn, loop, place, (ahead, stride)):
        return None
    reads = {n: tuple(apart[n]) for n in range(low, high + 1)}
    return _Planes(array, loop, reads, stride, ahead, place)


def _always(loop: Loop, access: Access) -> bool:
    """Return whether every iteration reads it: it stands under no test or other loop."""
    inner: Node = access.node
    for outer in ancestors(access.node):
        if outer == loop.body:
            return inner.type in _STRAIGHT
        if outer.type not in _STRAIGHT:
            return False
        sign = field(outer, "operator")
        if outer.type == "binary_expression" and sign is not None and sign.type in ("&&", "||"):
            return False
        inner = outer
    return False


def _before(loop: Loop, at: int) -> Node | None:
    """Return the statement of the loop's body that a position lies in."""
    if loop.body.type == "expression_statement":
        return loop.body
    return next((n for n in loop.body.named_children if n.start_byte <= at < n.end_byte), None)


def _steady(
    source: Source, fn: Function, loop: Loop, place: Node, last: tuple[Access, Polynomial]
) -> bool:
    """Return whether a read means the same in front of a statement, and can stand before the loop.

    There, its index is written with what is known before the loop.
    """
    ahead, stride = last
    for use in fn.variables.within(ahead.node):
        variable = use.variable
        if variable is None:
            continue
        if variable is not loop.variable and not variable.settled:
            return False
        if (
            contains(loop.body, variable.name_node)
            and variable.name_node.end_byte > place.start_byte
        ):
            return False
    known = _from_start(fn, loop, ahead, stride)
    if known is None:
        return False
    index, start = known
    if any("'" in a for a in index.atoms | start.atoms):
        return False
    for name in (index.symbols | start.symbols) - {loop.name}:
        if name.partition(".")[0] in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            continue
        variable = fn.variable(name, loop.node)
        if variable is None:
            if source.constant(name) is None and not any(t.name == name for t in fn.templates):
                return False
        elif not variable.settled or variable.depth or variable.is_array:
            return False
    return True


def _named(fn: Function, loop: Loop, index: Polynomial) -> Polynomial:
    """Return an index in the kernel's own numbers of threads: `i` for `blockIdx.x * ... `."""
    for thread in fn.thread_ids:
        variable = thread.variable
        value = fn.affine(variable.init)
        factor = index.coefficient(f"threadIdx.{thread.axis}")
        seen = fn.variable(variable.name, loop.node) is variable and variable.settled
        if value is None or factor is None or not factor.terms or not seen:
            continue
        rest = index - factor * value
        if not any(rest.depends_on(f"{n}.{thread.axis}") for n in ("threadIdx", "blockIdx")):
            index = rest + factor * Polynomial({(variable.name,): 1})
    return index


# -- the edit ------------------------------------------------------------------------------------


def _all_edits(
    source: Source, fn: Function, loop: Loop, found: Sequence[_Planes]
) -> list[Replacement]:
    """Return the edits of all arrays, with braces around a body that has none."""
    edits = [e for planes in found for e in _edits(source, fn, planes)]
    if loop.body.type == "compound_statement":
        return edits
    margin, at = source.indent(loop.node), loop.body.start_byte
    end = max(n.end_byte for n in loop.node.children if n.type == ")" and n.end_byte <= at)
    opening: list[Replacement] = [(end, end, " {")]
    if "\n" not in source.text[end:at]:
        note = source.text[end:at].rstrip()
        opening = [(end, at, f" {{{note}\n{margin}{_step(source, loop)}")]
    last = loop.body.end_byte
    return [*opening, *edits, (last, last, f"\n{margin}}}")]


def _edits(source: Source, fn: Function, planes: _Planes) -> Iterator[Replacement]:
    loop, array = planes.loop, planes.array
    taken = [v.name for v in fn.variables.all]
    low, high = min(planes.reads), max(planes.reads)
    numbers = range(low, high + 1)
    kept = {n: source.fresh_name(f"{array.name}_{n - low}", *taken) for n in numbers}
    before = [kept[n] for n in numbers[:-1]]
    step = _step(source, loop)
    loads = [
        f"{kept[n]} = {array.name}[{_first(source, fn, planes, n - high)}];" for n in numbers[:-1]
    ]
    lines = [f"{array.written} {', '.join(f'{name} = 0' for name in before)};"]
    if loop.trips:
        lines = [f"{array.written} {load}" for load in loads]
    else:
        start, bound = source.of(loop.start), source.of(loop.bound)
        lines.append(f"if ({start} {loop.relation} {bound}) {{")
        lines += [f"{step}{load}" for load in loads] + ["}"]
    margin = source.indent(loop.node)
    text = "".join(f"{line}\n{margin}" for line in lines)
    yield (loop.node.start_byte, loop.node.start_byte, text)
    load = f"const {array.written} {kept[high]} = {source.of(planes.ahead.node)};"
    bare = loop.body.type == "expression_statement"
    inner = margin + step if bare else source.indent(planes.place)
    for n in numbers:
        for access in planes.reads[n]:
            yield (*span(access.node), kept[n])
    moves = "".join(f"\n{inner}{kept[n]} = {kept[n + 1]};" for n in numbers[:-1])
    at = planes.place.start_byte
    yield (at, at, f"{load}\n{inner}")
    last = [n for n in loop.body.named_children if n.type != "comment"][-1]
    end = loop.body.end_byte if bare else last.end_byte
    yield (end, end, moves)


def _step(source: Source, loop: Loop) -> str:
    outer = source.indent(loop.node)
    if loop.body.type == "compound_statement":
        return source.indent(loop.body.named_children[0]).removeprefix(outer) or "    "
    step = source.indent(loop.body).removeprefix(outer)
    return step or ("\t" if outer.endswith("\t") else "  ")


def _first(source: Source, fn: Function, planes: _Planes, ahead: int) -> str:
    """Return the index of what is read so many iterations ahead of the first one's last."""
    loop = planes.loop
    known = _from_start(fn, loop, planes.ahead, planes.stride)
    if known is None:
        return ""
    index, start = known
    steps = start + number(ahead)
    texts = [source.of(fn.node), *source.macro_bodies(fn)]
    wide = any(word in text for text in texts for word in _WIDE)
    return halo.text_of(index.without(loop.name) + planes.stride * steps, wide=wide)


def _from_start(
    fn: Function, loop: Loop, ahead: Access, stride: Polynomial
) -> tuple[Polynomial, Polynomial] | None:
    """Return an index in the kernel's own numbers, and what the loop's variable starts at."""
    start, index = fn.affine(loop.start), ahead.index
    if start is None or index is None:
        return None
    if loop.start is not None and not fn.uniform(loop.start):
        # The index has what the loop starts at in it already, and its number is how far it came.
        index = index - stride * start
        start = Polynomial({(fn.file.syntax.of(loop.start),): 1})
    return _named(fn, loop, index), start
