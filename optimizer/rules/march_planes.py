"""Points of a volume, one for each thread, made a walk through its layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.geometry import regrid
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules import halo
from optimizer.rules.outputs import alone, exact, fewer
from optimizer.rules.rotate_planes import rotations
from optimizer.source import Source
from optimizer.spans import Replacement, replace
from optimizer.syntax import contains, field, operator, span, stripped, walk
from optimizer.tokens import integer
from optimizer.variables import Variable

_NAME = "march-planes"
_AXES = 3
_LAYERS = (16, 8, 32)
_ANY = "97531"  # stands for the number of layers until it is chosen
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_KINDS = ("int", "unsigned", "unsigned int")


@dataclass(frozen=True, slots=True)
class _Walk:
    """The number of a thread's layer, and the test it stands in.

    `low` and `high` are the texts of the first layer and of that behind the last; `tests` are
    what remains of the test, as written; `moved` the declarations in front of it that need the
    layer's number.
    """

    layer: Variable
    test: Node
    exits: bool
    body: Node
    low: str
    high: str
    tests: tuple[Node, ...]
    moved: tuple[Node, ...]


def march_planes(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Let each thread walk through 8, 16 or 32 layers, neighbours along the way in registers.

    For kernels with a thread for each point of a volume, which knows its layer by one number,
    tested against its ends, and reads layers above and below of an array that nothing in the
    kernel writes. The grid gets fewer blocks along z. Values do not change.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        walked = _walk(source, fn)
        if walked is None or _single(kernel, source, fn):
            continue
        arrays = [v.name for v in halo.only_read(source, fn) if _layered(fn, walked, v.name)]
        text = _rotated(source, fn, walked, arrays) if arrays else None
        for layers in _LAYERS if text is not None else ():
            geometry = regrid(kernel, source, fn, {"z": fewer(layers)})
            if geometry is None or text is None:
                break
            yield Edit(
                f"walk through {layers} layers per thread in `{fn.name}`",
                source.replace([(*fn.span, text.replace(_ANY, str(layers))), *geometry.edits]),
                f"rule:{_NAME}",
                f"Each thread of line {fn.line} reads the layers around its own, which threads"
                f" above and below read again; one that walks through {layers} of them keeps"
                " them in registers.",
                _NAME,
                1.25 if layers == _LAYERS[0] else 1.15,
                geometry.launch,
            )


def _layered(fn: Function, walked: _Walk, name: str) -> bool:
    """Return whether an array is read in layers that lie one or more apart."""
    reads = [a.index for a in fn.accesses if a.root == name and a.kind == "read"]
    found = [index for index in reads if index is not None]
    init = fn.affine(walked.layer.init)
    symbol = "threadIdx.z" if init is not None and init.depends_on("threadIdx.z") else "blockIdx.z"
    for one in found:
        layer = one.coefficient(symbol)
        if layer is not None and layer.terms and any((o - one).same(layer) for o in found):
            return True
    return False


def _rotated(source: Source, fn: Function, walked: _Walk, arrays: Sequence[str]) -> str | None:
    """Return the kernel that walks, `_ANY` layers, with neighbours along the way in registers.

    It is read alone, with what the file has besides kernels and host functions.
    """
    low, high = fn.span
    edits = [(a - low, b - low, new) for a, b, new in _edits(source, fn, walked)]
    marched = replace(source.text[low:high], edits)
    others = [f.span for f in (*source.kernels, *source.host_functions) if f.span != fn.span]
    cut = [(a, b, "") for a, b in others if not a <= low < b]
    alone_text = Source(source.replace([*cut, (low, high, marched)]))
    walking = alone_text.function(fn.name)
    if walking is None or _ANY in source.text:
        return None
    known = [v for v in walking.variables.all if v.name in arrays and v.space == "parameter"]
    found = next(rotations(alone_text, walking, known), None)
    if found is None or found[0].name != walked.layer.name:
        return None
    low, high = walking.span
    return replace(alone_text.text[low:high], [(a - low, b - low, new) for a, b, new in found[2]])


# -- legality ------------------------------------------------------------------------------------


def _single(kernel: Kernel, source: Source, fn: Function) -> bool:
    """Return whether a launch has one block along z: there is nothing to walk through."""
    found = source.launches_of(fn.name)
    if not found:
        return kernel.launch is None or len(kernel.launch.grid) < _AXES
    return any(
        launch.grid is not None and (len(launch.grid) < _AXES or launch.grid[2].value == 1)
        for launch in found
    )


def _walk(source: Source, fn: Function) -> _Walk | None:
    if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
        return None
    if fn.conditional or fn.unknown_calls or fn.atomics or not alone(source, fn):
        return None
    layer = _layer(source, fn)
    if layer is None or source.known("min") or source.known("max"):
        return None
    for guard in fn.guards:
        if guard.node.start_byte < layer.declaration.end_byte:
            continue
        return _tested(source, fn, layer, guard.node, guard.body, exits=guard.exits)
    return None


def _layer(source: Source, fn: Function) -> Variable | None:
    """Return the number by which a kernel knows its block and thread along z, if it is only one."""
    found = [t for t in fn.thread_ids if t.axis == "z"]
    fields = [(n, source.plain(n)) for n in walk(fn.body, "field_expression")]
    named = [n for n, text in fields if text in ("blockIdx.z", "gridDim.z")]
    bare = [
        n
        for n in walk(fn.body, "identifier")
        if source.of(n) in ("blockIdx", "gridDim")
        if n.parent is None or n.parent.type != "field_expression"
    ]
    if len(named) != 1 or bare:
        return None
    variable = next((v for v in fn.variables.all if v.init == named[0]), None)
    if found:
        variable, init = found[0].variable, found[0].variable.init
        if len(found) != 1 or init is None or exact(source, fn, found[0], init) is None:
            return None
    elif any(text in ("threadIdx.z", "blockDim.z") for _, text in fields):
        return None
    if variable is None or variable.init is None or not variable.settled:
        return None
    known = variable.element in _KINDS and variable.declaration.parent == fn.body
    return variable if known and contains(variable.init, named[0]) else None


def _tested(
    source: Source, fn: Function, layer: Variable, test: Node, body: Node, *, exits: bool
) -> _Walk | None:
    """Return what is walked through under a test; None where that is not all of the work."""
    condition = stripped(field(test, "condition"))
    listed = None if condition is None else _joined(condition, "||" if exits else "&&")
    if listed is None or (not exits and body.type != "compound_statement"):
        return None
    behind = [n for n in fn.body.named_children if n.start_byte >= test.end_byte]
    behind = [n for n in behind if n.type != "comment"]
    if bool(behind) != exits or (exits and behind[0].type == "comment"):
        return None
    ends: dict[bool, str] = {}
    kept: list[Node] = []
    for node in listed:
        if not _mentions(fn, node, layer):
            kept.append(node)
            continue
        end = _end(source, fn, layer, node, negated=exits)
        if end is None or end[0] in ends:
            return None
        ends[end[0]] = end[1]
    moved = _moved(fn, layer, test, kept)
    if True not in ends or moved is None:
        return None
    region = behind if exits else [body]
    if any(True for n in region for _ in walk(n, "return_statement", "lambda_expression")):
        return None
    if not _fresh(fn, region, moved):
        return None
    return _Walk(
        layer, test, exits, body, ends.get(False, ""), ends[True], tuple(kept), tuple(moved)
    )


def _joined(node: Node, sign: str) -> list[Node] | None:
    """Return the comparisons that a test joins; None where it is made of anything else."""
    found: list[Node] = []
    pending: list[Node | None] = [node]
    while pending:
        each = stripped(pending.pop())
        if each is None or each.type != "binary_expression":
            return None
        if operator(each) == sign:
            pending += [field(each, "right"), field(each, "left")]
        elif operator(each) in (*_MIRRORED, "==", "!="):
            found.append(each)
        else:
            return None
    return found


def _mentions(fn: Function, node: Node, layer: Variable) -> bool:
    value = [fn.affine(field(node, side)) for side in ("left", "right")]
    if any(v is None for v in value):
        return True
    return any(
        v is not None and (v.depends_on("threadIdx.z") or v.depends_on("blockIdx.z")) for v in value
    ) or any(fn.variables.of(n) is layer for n in walk(node, "identifier"))


def _end(
    source: Source, fn: Function, layer: Variable, node: Node, *, negated: bool
) -> tuple[bool, str] | None:
    """Return whether a comparison is with the last layer, and the text of what it allows."""
    left, right = stripped(field(node, "left")), stripped(field(node, "right"))
    sign = operator(node)
    if left is None or right is None or sign not in _MIRRORED:
        return None
    if fn.variables.of(left) is not layer:
        left, right, sign = right, left, _MIRRORED[sign]
    if fn.variables.of(left) is not layer or not fn.uniform(right):
        return None
    if not fn.is_pure(right) or any(
        v is None or v.space != "parameter"
        for v in (fn.variables.of(n) for n in walk(right, "identifier"))
    ):
        return None
    sign = _NEGATED[sign] if negated else sign
    text, plain = source.of(right), integer(source.plain(right))
    unsigned = layer.element != "int"
    if sign in (">", ">="):
        if plain is None and unsigned:
            return None
        more = 1 if sign == ">" else 0
        if plain is not None:
            return False, f"{plain + more}{'u' if unsigned else ''}" if plain + more else ""
        text = f"{text} + 1" if more else text
        return False, text if fn.type_of(right) == "int" else f"(int)({text})"
    text = f"{text} + 1" if sign == "<=" else text
    return True, text if unsigned or fn.type_of(right) == "int" else f"(int)({text})"


def _moved(fn: Function, layer: Variable, test: Node, kept: Sequence[Node]) -> list[Node] | None:
    """Return the declarations between a layer's number and its test that need it."""
    own = {layer.name_node.id}
    found: list[Node] = []
    place = layer.declaration
    if any(
        u.variable is layer and not contains(place, u.node) and _in(place, u.node)
        for u in layer.uses
    ):
        return None
    for node in fn.body.named_children:
        if not place.end_byte <= node.start_byte < test.start_byte or node.type == "comment":
            continue
        uses = list(fn.variables.within(node))
        if not any(u.variable is not None and u.variable.name_node.id in own for u in uses):
            continue
        mine = [v for v in fn.variables.all if v.declaration == node]
        if node.type != "declaration" or not mine:
            return None
        if any(v.init is None or not fn.is_pure(v.init) or not v.is_scalar for v in mine):
            return None
        own |= {v.name_node.id for v in mine}
        found.append(node)
    if any(
        u.variable is not None and u.variable.name_node.id in own
        for node in kept
        for u in fn.variables.within(node)
    ):
        return None
    # Declared together with it, and made of it.
    same = [v for v in fn.variables.all if v.declaration == place and v is not layer]
    if any(
        u.variable is layer for v in same if v.init is not None for u in fn.variables.within(v.init)
    ):
        return None
    return found


def _in(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte < outer.end_byte


def _fresh(fn: Function, region: Sequence[Node], moved: Sequence[Node]) -> bool:
    """Return whether a layer's work changes nothing that was set before it."""
    inside = (*region, *moved)
    for variable in fn.variables.all:
        if any(contains(n, variable.name_node) for n in inside):
            continue
        changed = [u.node for u in variable.changes]
        changed += [a.node for a in fn.accesses if a.variable is variable and a.writes]
        if variable.space in {"parameter", "local"} and not variable.is_pointer:
            if any(contains(n, node) for n in region for node in changed):
                return False
        elif any(contains(n, u.node) for n in region for u in variable.changes):
            return False
    return True


# -- the edit ------------------------------------------------------------------------------------


def _edits(source: Source, fn: Function, walked: _Walk) -> Iterator[Replacement]:
    variable = walked.layer
    taken = [v.name for v in fn.variables.all]
    name = variable.name
    chunk, first, end = (
        source.fresh_name(f"{name}_{x}", *taken) for x in ("chunk", "first", "end")
    )
    init = variable.init
    if init is None:
        return
    yield (*span(variable.name_node), chunk)
    number = source.of(init)
    number = number if init.type == "field_expression" else f"({number})"
    yield (*span(init), f"{number} * {_ANY}")
    margin = source.indent(walked.test)
    inner = _inner(source, fn, walked)
    unit = inner.removeprefix(margin) or "    "
    kind = variable.type.removeprefix("const ").strip() or "int"
    start = f"max({chunk}, {walked.low})" if walked.low else chunk
    lines = [
        f"const {kind} {first} = {start};",
        f"const {kind} {end} = min({chunk} + {_ANY}, {walked.high});",
        f"for ({kind} {name} = {first}; {name} < {end}; ++{name}) {{",
    ]
    moved = [unit + source.of(node) for node in walked.moved]
    for node in walked.moved:
        yield (*source.statement_span(node), "")
    sign = " || " if walked.exits else " && "
    rest = sign.join(source.of(n) for n in walked.tests)
    if walked.exits:
        before = [f"if ({rest}) {source.of(walked.body)}"] if rest else []
        text = f"\n{margin}".join((*before, *lines, *moved))
        yield (*span(walked.test), text)
        last = [n for n in fn.body.named_children if n.type != "comment"][-1].end_byte
        yield from _indented(source, walked.test.end_byte, last, unit)
        yield (last, last, f"\n{margin}}}")
        return
    deeper = margin + unit if rest else margin
    opening = f"if ({rest}) {{\n{deeper}" if rest else ""
    text = opening + f"\n{deeper}".join((*lines, *moved))
    low = walked.body.start_byte + 1
    yield (walked.test.start_byte, low, text)
    last = walked.body.end_byte - 1
    if rest:
        yield from _indented(source, low, last, unit)
        yield (last, last, f"}}\n{margin}")


def _inner(source: Source, fn: Function, walked: _Walk) -> str:
    if walked.exits or not walked.body.named_children:
        margin = source.indent(walked.test)
        return margin + ("\t" if margin.endswith("\t") else margin or "    ")
    del fn
    return source.indent(walked.body.named_children[0])


def _indented(source: Source, low: int, last: int, unit: str) -> Iterator[Replacement]:
    at = source.text.find("\n", low)
    while -1 < at < last:
        following = source.text[at + 1 : at + 2]
        if following not in ("\n", "\r", "#") and at + 1 < last:
            yield (at + 1, at + 1, unit)
        at = source.text.find("\n", at + 1)
