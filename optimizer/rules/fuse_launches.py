"""Two launches, one behind the other, of kernels that hand elements from thread to thread: one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node

from optimizer.definitions import Parameter
from optimizer.functions import Function
from optimizer.launches import Launch
from optimizer.model import Edit, Finding, Kernel
from optimizer.polynomials import Polynomial
from optimizer.rules.guarding import open_end
from optimizer.source import Source
from optimizer.spans import Replacement, replace
from optimizer.syntax import span, stripped, walk

_NAME = "fuse-launches"
_PLAIN = ("identifier", "number_literal", "field_expression")
_BLOCK = "threadIdx.{0}", "blockIdx.{0}"


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two launches, their kernels and statements, and the arguments that both pass."""

    launches: tuple[Launch, Launch]
    kernels: tuple[Function, Function]
    statements: tuple[Node, Node]
    handed: tuple[str, ...]


def fuse_launches(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Launch one kernel that does what two did, where each thread reads only what it wrote itself.

    For launches that follow each other with the same grid and block, of kernels without barriers
    whose threads touch, of what one of them writes, the element of their own number only. Host
    code changes: a workload must allow it (`edit: host`). Results may be rounded once less.
    """
    del findings
    source = Source(kernel.source)
    for pair in _pairs(source):
        text = _fused(source, pair)
        if text is None:
            continue
        one, two = (fn.name for fn in pair.kernels)
        handed = ", ".join(f"`{name}`" for name in pair.handed)
        yield Edit(
            f"launch `{one}` and `{two}` as one kernel",
            text,
            f"rule:{_NAME}",
            f"Each thread of the launch in line {pair.launches[1].line} reads of {handed} what its"
            " own number wrote one launch before; in one kernel that stays in the thread.",
            _NAME,
            1.3,
        )


# -- legality ------------------------------------------------------------------------------------


def _pairs(source: Source) -> Iterator[_Pair]:
    listed = sorted(source.launches, key=lambda lc: lc.span)
    for one, two in pairwise(listed):
        first, second = source.function(one.kernel), source.function(two.kernel)
        places = (_statement(one.node), _statement(two.node))
        if first is None or second is None or places[0] is None or places[1] is None:
            continue
        if not _beside(source, places[0], places[1]) or not _alike(source, one, two):
            continue
        if not all(_simple(source, fn) for fn in (first, second)):
            continue
        handed = _handed(source, (one, two), (first, second))
        if handed:
            yield _Pair((one, two), (first, second), (places[0], places[1]), handed)


def _statement(node: Node) -> Node | None:
    """Return the statement that is a launch and nothing else."""
    at: Node | None = node
    while at is not None and at.type != "expression_statement":
        at = at.parent
    if at is None or at.parent is None or at.parent.type != "compound_statement":
        return None
    whole = at.named_children
    return at if len(whole) == 1 and span(whole[0]) == span(node) else None


def _beside(source: Source, one: Node, two: Node) -> bool:
    """Return whether nothing but blanks and comments stands between two statements."""
    if one.parent is None or one.parent != two.parent or one.end_byte > two.start_byte:
        return False
    between = source.syntax.masked.text[one.end_byte : two.start_byte]
    return not between.strip() and "#" not in source.text[one.end_byte : two.start_byte]


def _alike(source: Source, one: Launch, two: Launch) -> bool:
    """Return whether two launches have the same grid and block, and nothing else."""
    if any(lc.shared_span or lc.stream_span or lc.template for lc in (one, two)):
        return False
    if one.function != two.function or not one.function:
        return False
    texts = [
        [" ".join(source.text[slice(*at)].split()) for at in (lc.grid_span, lc.block_span)]
        for lc in (one, two)
    ]
    plain = all("(" not in t or t.startswith(("dim3(", "(")) for t in texts[0])
    arguments = [a for lc in (one, two) for a in lc.arguments]
    return texts[0] == texts[1] and plain and all(_passed(a) for a in arguments)


def _passed(node: Node) -> bool:
    """Return whether an argument is a name, a number or an element: nothing happens for it."""
    inner = stripped(node)
    if inner is None:
        return False
    if inner.type == "subscript_expression":
        return all(_passed(n) for n in inner.named_children)
    if inner.type in ("subscript_argument_list", "unary_expression", "binary_expression"):
        return all(_passed(n) for n in inner.named_children)
    return inner.type in _PLAIN


def _simple(source: Source, fn: Function) -> bool:
    """Return whether threads of a kernel do not meet, and it can be put into another."""
    if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.atomics or fn.has_asm:
        return False
    if fn.has_goto or fn.conditional or fn.unknown_calls or fn.templates or fn.namespace:
        return False
    if fn.launch_bounds is not None or not source.only_launched(fn.name):
        return False
    return all(p.name and not p.reference for p in fn.parameters)


def _handed(
    source: Source, launches: tuple[Launch, Launch], kernels: tuple[Function, Function]
) -> tuple[str, ...]:
    """Return the buffers that go from one kernel to the other; none where threads could meet."""
    passed = [
        {p.name: source.plain(a) for p, a in zip(fn.parameters, lc.arguments, strict=False)}
        for lc, fn in zip(launches, kernels, strict=True)
    ]
    if any(
        len(lc.arguments) != len(fn.parameters) for lc, fn in zip(launches, kernels, strict=True)
    ):
        return ()
    first, second = (_touched(fn, names) for fn, names in zip(kernels, passed, strict=True))
    if first is None or second is None:
        return ()
    handed: list[str] = []
    for text in first.keys() & second.keys():
        writes = [w for at in (first, second) for w, _ in at[text]]
        if not any(writes):
            continue
        indexes = [index for at in (first, second) for _, index in at[text]]
        if any(i is None or indexes[0] is None or not i.same(indexes[0]) for i in indexes):
            return ()
        if indexes[0] is None or not _own(kernels, passed, indexes[0]):
            return ()
        if any(w for w, _ in first[text]) and any(not w for w, _ in second[text]):
            handed.append(text)
    # Names of the host that could be of one buffer: one a part of the other's text.
    texts = sorted(first.keys() | second.keys())
    bases = [re.split(r"[^\w]", t, maxsplit=1)[0] for t in texts]
    caller = source.function(launches[0].function)
    if len(set(bases)) < len(bases) or caller is None or _assigned(source, caller, bases):
        return ()
    return tuple(sorted(handed))


def _assigned(source: Source, caller: Function, names: Sequence[str]) -> bool:
    """Return whether one of some host variables is set to another: they may be one buffer."""
    text = " ".join(source.plain(caller.body).split())
    either = "|".join(re.escape(n) for n in names)
    return bool(re.search(rf"\b(?:{either})\s*=\s*(?:\([^()]*\)\s*)?&?(?:{either})\b", text))


Touched = dict[str, list[tuple[bool, Polynomial | None]]]


def _touched(fn: Function, passed: dict[str, str]) -> Touched | None:
    """Return what a kernel does to each buffer it is passed, indexes by what is passed, too."""
    found: Touched = {}
    pointers = {p.name for p in fn.parameters if p.is_pointer}
    for use in (u for v in fn.variables.all if v.name in pointers for u in v.uses):
        if use.role == "pass":
            return None
    for access in fn.accesses:
        if access.space in ("local", "constant"):
            continue
        if access.root not in pointers or access.kind not in ("read", "write", "update"):
            return None
        index = access.index if not access.cast else None
        shown = None if index is None else _shown(fn, index, passed)
        found.setdefault(passed[access.root], []).append((access.writes, shown))
        if access.kind == "update":
            found[passed[access.root]].append((False, shown))
    return found


def _shown(fn: Function, index: Polynomial, passed: dict[str, str]) -> Polynomial | None:
    """Return an index with parameters by what is passed for them; None with anything else."""
    total = Polynomial({})
    for monomial, factor in index.terms.items():
        names: list[str] = []
        for name in monomial:
            variable = fn.variable(name, fn.body)
            if name.partition(".")[0] in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
                names.append(name)
            elif variable is not None and variable.space == "parameter" and variable.settled:
                names.append(f"={passed[name]}")
            else:
                return None
        total += Polynomial({tuple(sorted(names)): factor})
    return total


def _own(
    kernels: tuple[Function, Function], passed: Sequence[dict[str, str]], index: Polynomial
) -> bool:
    """Return whether threads that differ have different elements."""
    x = {("threadIdx.x",): 1, tuple(sorted(("blockDim.x", "blockIdx.x"))): 1}
    rest = index - Polynomial(x)
    if not rest.terms:
        return True
    if any(name.endswith(".x") for name in rest.symbols):
        return False
    row = rest.coefficient("threadIdx.y")
    if row is None or len(row.terms) != 1:
        return False
    ((width, factor),) = row.terms.items()
    whole = {("threadIdx.y",): 1, tuple(sorted(("blockDim.y", "blockIdx.y"))): 1}
    if factor != 1 or len(width) != 1 or not rest.same(Polynomial(whole) * row):
        return False
    # Rows do not overlap where the column is tested against the width.
    return all(
        any(
            sign == "<" and f"={names.get(fn.file.syntax.of(bound), '')}" == width[0]
            for guard in fn.guards
            for name, sign, bound in guard.bounds or ()
            if any(t.variable.name == name and t.axis == "x" for t in fn.thread_ids)
        )
        for fn, names in zip(kernels, passed, strict=True)
    )


# -- the edit ------------------------------------------------------------------------------------


def _fused(source: Source, pair: _Pair) -> str | None:
    first, second = pair.kernels
    name = source.fresh_name(f"{first.name}_{second.name}")
    opening = open_end(source, first)
    if opening is None:
        return None
    parameters: list[str] = []
    arguments: list[str] = []
    own: dict[str, str] = {}
    by_argument: dict[str, tuple[Parameter, int]] = {}
    for p, a in zip(first.parameters, pair.launches[0].arguments, strict=True):
        if _kept(first, p):
            by_argument[source.plain(a)] = (p, len(parameters))
        parameters.append(_declared(source, p))
        arguments.append(source.of(a))
        own[p.name] = source.plain(a)
    before: list[str] = []
    renamed: dict[str, str] = {}
    for p, a in zip(second.parameters, pair.launches[1].arguments, strict=True):
        known = by_argument.get(source.plain(a))
        if known is not None and _same_type(known[0], p) and _kept(second, p):
            same, at = known
            if p.is_pointer and not p.const:
                parameters[at] = _without_const(parameters[at])
            if p.name != same.name:
                before.append(f"{_spaced(p.type)}{p.name} = {same.name};")
                renamed[p.name] = same.name
            continue
        taken = {*own, *(q.name for q in second.parameters if q is not p)}
        fresh = p.name if p.name not in taken else source.fresh_name(p.name, *taken)
        text = _declared(source, p)
        if fresh != p.name:
            low = p.name_span[0] - p.span[0]
            text = text[:low] + fresh + text[low + len(p.name) :]
            before.append(f"{_spaced(p.type)}{p.name} = {fresh};")
            renamed[p.name] = fresh
        own[fresh] = source.plain(a)
        parameters.append(text)
        arguments.append(source.of(a))
    if renamed.keys() & set(renamed.values()):
        return None  # `b = x; x = b;`
    every = [p for fn in pair.kernels for p in fn.parameters]
    names = [*own, *(p.name for p in every)]
    if any(p.depth > 1 for p in every) or any(_foreign(source, fn, names) for fn in pair.kernels):
        return None
    unit = source.indent(first.body.named_children[0]) or "    "
    blocks = [
        _block(source, first, opening.edits, (), unit),
        _block(source, second, (), before, unit),
    ]
    head = f"__global__ void {name}({', '.join(parameters)})"
    text = f"\n\n// {first.name}, then {second.name}: each thread goes on with what it wrote.\n"
    text += f"{head}\n{{\n" + "\n".join(blocks) + "\n}"
    at = max(fn.span[1] for fn in pair.kernels)
    one, two = pair.statements
    if at > one.start_byte:
        return None
    launch = pair.launches[1]
    call = source.text[launch.grid_span[0] : launch.block_span[1]]
    edits: list[Replacement] = [
        (at, at, text),
        (*source.statement_span(one), ""),
        (*span(two), f"{name}<<<{call}>>>({', '.join(arguments)});"),
    ]
    return source.replace(edits)


def _kept(fn: Function, parameter: Parameter) -> bool:
    """Return whether a kernel leaves a parameter as it was passed."""
    variable = fn.variable(parameter.name, fn.body)
    return variable is not None and variable.settled


def _same_type(one: Parameter, other: Parameter) -> bool:
    return one.element == other.element and one.depth == other.depth


def _spaced(kind: str) -> str:
    """Return a type as it stands before a name: `const float *`, `int `."""
    return re.sub(r"\s*\*\s*$", " *", kind) if kind.rstrip().endswith("*") else f"{kind} "


def _foreign(source: Source, fn: Function, names: Sequence[str]) -> bool:
    """Return whether a kernel means something else by one of the names: a variable of the file."""
    own = {v.name for v in fn.variables.all}
    words = {source.of(n) for n in walk(fn.body, "identifier")}
    return any(name in words and name not in own for name in names)


def _declared(source: Source, parameter: Parameter) -> str:
    return " ".join(source.text[slice(*parameter.span)].split())


def _without_const(text: str) -> str:
    """Return a pointer's declaration by which it can be written through."""
    return re.sub(r"\bconst\s+(?=[^*]*\*)|(?<=\w)\s+const(?=\s*\*)", "", text, count=1)


def _block(
    source: Source,
    fn: Function,
    edits: Sequence[Replacement],
    before: Sequence[str],
    unit: str,
) -> str:
    """Return the body of a kernel as a block, indented by one step."""
    low, high = fn.body.start_byte, fn.body.end_byte
    shifted = [(a - low, b - low, new) for a, b, new in edits]
    if before:
        margin = source.indent(fn.body.named_children[0])
        shifted.insert(0, (1, 1, "".join(f"\n{margin}{line}" for line in before)))
    body = replace(source.text[low:high], shifted)
    first, *rest = body.splitlines()
    return "\n".join([unit + first, *((unit + line if line.strip() else line) for line in rest)])
