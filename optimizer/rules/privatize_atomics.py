"""Count in registers or shared memory first; touch the shared address once a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.allocations import allocated
from optimizer.functions import Call, Function
from optimizer.geometry import Change, Geometry, block_extents, is_flat, regrid
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.guarding import Opening, open_end
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, span, stripped, walk

_NAME = "privatize-atomics"
_FUNCTIONS = {"atomicAdd": "sum", "atomicMax": "max", "atomicMin": "min"}
# What leaves a maximum or minimum as it is; a sum begins at zero whatever its type.
_NEUTRAL = {
    ("atomicMax", "int"): "-2147483647 - 1", ("atomicMin", "int"): "2147483647",
    ("atomicMax", "unsigned int"): "0", ("atomicMin", "unsigned int"): "0xffffffffu",
}  # fmt: skip
_TYPES = frozenset({"int", "unsigned", "unsigned int", "float", "double", "unsigned long long"})
# A block's private copy must leave room for several blocks an SM.
_MOST_BINS = 4096
_FEWER_BLOCKS = (32, 8)


@dataclass(frozen=True, slots=True)
class _Atomic:
    """`atomicAdd(place, value);` as a statement; `place` is `&array[index]` or `array + index`."""

    call: Call
    access: Access
    element: str
    place: str
    value: Node


@dataclass(frozen=True, slots=True)
class _Partial:
    """What a thread holds for a place until the block hands it on by `function`."""

    place: str
    element: str
    function: str
    name: str

    @property
    def neutral(self) -> str:
        element = "unsigned int" if self.element == "unsigned" else self.element
        return _NEUTRAL.get((self.function, element), "0")

    def joined(self, value: str) -> str:
        """Return the assignment that joins a value."""
        if self.function == "atomicAdd":
            return f"{self.name} += {value}"
        return f"{self.name} = {_FUNCTIONS[self.function]}({self.name}, {value})"


def privatize_atomics(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Sum per thread and block before the one atomic, or keep a block's own bins in shared memory.

    Legal where the returned value is unused, the kernel can reach its end with all threads, and
    either the address is the same for the whole block or the number of bins is known. Largest and
    smallest integers are found as sums are. Order of additions changes.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.has_asm or fn.has_goto or fn.barriers or fn.conditional:
            continue
        found = [_atomic(source, fn, call) for call in fn.atomics]
        atomics = [a for a in found if a is not None]
        alike = [a for a in atomics if _uniform(fn, a) and _only_added(fn, a, atomics)]
        if alike:
            yield from _sums(kernel, source, fn, alike)
        elif len(found) == len(atomics):
            yield from _bins(kernel, source, fn, atomics)


def _atomic(source: Source, fn: Function, call: Call) -> _Atomic | None:
    if call.name not in _FUNCTIONS or len(call.arguments) != 2 or call.node.parent is None:
        return None
    if call.node.parent.type != "expression_statement":
        return None  # the old value is used
    found = [a for a in fn.accesses if a.kind == "atomic" and contains(call.arguments[0], a.node)]
    if len(found) != 1 or found[0].cast or found[0].element not in _TYPES:
        return None
    access = found[0]
    element = "unsigned int" if access.element == "unsigned" else access.element
    if call.name != "atomicAdd" and (call.name, element) not in _NEUTRAL:
        return None
    if access.space != "global" or len(access.indices) > 1:
        return None
    place = source.of(call.arguments[0])
    return _Atomic(call, access, access.element, place, call.arguments[1])


def _uniform(fn: Function, atomic: _Atomic) -> bool:
    """Return whether all threads of a block add to one place that can be named at the end.

    Locals in its address must be seen there: those of the body, in front of any test.
    """
    address = atomic.call.arguments[0]
    root = atomic.access.variable
    if root is None or atomic.access.root != root.name or not root.settled:
        return False
    if any(True for _ in walk(address, "call_expression", "update_expression")):
        return False
    first = min((g.node.start_byte for g in fn.guards), default=fn.body.end_byte)
    for node in walk(address, "identifier"):
        variable = fn.variables.of(node)
        if variable is root or variable is None:
            continue
        if variable.is_pointer or variable.is_array or not variable.settled:
            return False
        seen = variable.scope.id == fn.body.id and variable.declaration.end_byte <= first
        if variable.space != "parameter" and not seen:
            return False
    indices = [*atomic.access.indices, *_offsets(fn, address)]
    return all(fn.uniform(index) for index in indices)


def _offsets(fn: Function, address: Node) -> Iterator[Node]:
    """Yield what is added to a pointer in `p + i`."""
    node = stripped(address)
    while node is not None and node.type == "binary_expression":
        sides = [field(node, side) for side in ("left", "right")]
        pointers = [s for s in sides if s is not None and (fn.type_of(s) or "").endswith("*")]
        yield from (s for s in sides if s is not None and s not in pointers)
        node = stripped(pointers[0]) if len(pointers) == 1 else None


def _only_added(fn: Function, atomic: _Atomic, atomics: list[_Atomic]) -> bool:
    """Return whether a kernel does nothing else with the array of an atomic."""
    mine = {a.access.node.id for a in atomics}
    return all(a.root != atomic.access.root or a.node.id in mine for a in fn.accesses)


# -- one place -----------------------------------------------------------------------------------


def _sums(kernel: Kernel, source: Source, fn: Function, atomics: list[_Atomic]) -> Iterator[Edit]:
    places = list(dict.fromkeys((a.place, a.element, a.call.name) for a in atomics))
    opening = open_end(source, fn)
    if opening is None or len(places) > 4:
        return
    block = block_extents(kernel, source, fn)
    whole = block is not None and (block[0] * block[1] * block[2]) % 32 == 0
    taken = [v.name for v in fn.variables.all]
    margin = source.indent(fn.body.named_children[0]) or "    "
    edits: list[Replacement] = list(opening.edits)
    partials: list[_Partial] = []
    head = ""
    for place, element, function in places:
        base = f"block_{_FUNCTIONS[function]}"
        alone = sum(f == function for _, _, f in places) == 1
        name = source.fresh_name(base if alone else f"{base}{len(partials)}", *taken)
        taken.append(name)
        partials.append(_Partial(place, element, function, name))
        head += f"\n{margin}{element} {name} = {partials[-1].neutral};"
    tail = _combined(source, taken, margin, partials, block=block if whole else None)
    edits.append((opening.start, opening.start, head))
    for a in atomics:
        own = next(p for p in partials if (p.place, p.function) == (a.place, a.call.name))
        edits.append((*span(a.call.node), own.joined(source.of(a.value))))
    edits.append((opening.end, opening.end, tail))
    lines = ", ".join(str(a.call.line) for a in atomics)
    yield Edit(
        f"add up each block of `{fn.name}` before its atomic",
        source.replace(_ordered(edits)),
        f"rule:{_NAME}",
        f"Every thread adds to the same address in line {lines}; such atomics run one after"
        " another. A block combines its threads first and adds once.",
        _NAME,
        3.0,
    )


def _combined(
    source: Source,
    taken: list[str],
    margin: str,
    partials: list[_Partial],
    block: tuple[int, int, int] | None,
) -> str:
    """Return the code that joins what the threads have and hands each block's on."""
    step = "\t" if margin.endswith("\t") else margin
    lane = _linear(block)
    lines: list[str] = []
    if block is None:
        totals = {p: source.fresh_name(f"{p.name}_total", *taken) for p in partials}
        lines += [f"__shared__ {p.element} {totals[p]};" for p in partials]
        resets = " ".join(f"{totals[p]} = {p.neutral};" for p in partials)
        lines.append(f"if ({lane} == 0) {{ {resets} }}")
        lines.append("__syncthreads();")
        lines += [f"{p.function}(&{totals[p]}, {p.name});" for p in partials]
        lines.append("__syncthreads();")
        adds = " ".join(f"{p.function}({p.place}, {totals[p]});" for p in partials)
        lines.append(f"if ({lane} == 0) {{ {adds} }}")
        return "".join(f"\n{margin}{line}" for line in lines)
    warps = block[0] * block[1] * block[2] // 32
    names: dict[_Partial, str] = {}
    for p in partials:
        base = p.name.replace("block_", "warp_", 1)
        names[p] = source.fresh_name(f"{base}s" if base.startswith("warp_sum") else base, *taken)
        taken.append(names[p])
    tid = source.fresh_name("thread", *taken)
    lines += [f"__shared__ {p.element} {names[p]}[{warps}];" for p in partials]
    lines.append(f"const int {tid} = {lane};")
    shuffled = [p.joined(f"__shfl_down_sync(0xffffffff, {p.name}, offset)") for p in partials]
    lines.append("for (int offset = 16; offset > 0; offset /= 2) {")
    lines += [*(f"{step}{text};" for text in shuffled), "}"]
    stores = " ".join(f"{names[p]}[{tid} / 32] = {p.name};" for p in partials)
    lines += [f"if ({tid} % 32 == 0) {{ {stores} }}", "__syncthreads();", f"if ({tid} == 0) {{"]
    lines.append(f"{step}for (int w = 1; w < {warps}; w++) {{")
    lines += [f"{step}{step}{p.joined(f'{names[p]}[w]')};" for p in partials]
    lines.append(f"{step}}}")
    lines += [f"{step}{p.function}({p.place}, {p.name});" for p in partials]
    lines.append("}")
    return "".join(f"\n{margin}{line}" for line in lines)


def _linear(block: tuple[int, int, int] | None) -> str:
    """Return the thread's number in its block."""
    if block is not None and block[1] == block[2] == 1:
        return "threadIdx.x"
    if block is not None and block[2] == 1:
        return "threadIdx.y * blockDim.x + threadIdx.x"
    return "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"


# -- bins ----------------------------------------------------------------------------------------


def _bins(
    kernel: Kernel, source: Source, fn: Function, atomics: Sequence[_Atomic]
) -> Iterator[Edit]:
    counts = _counted(source, fn, atomics)
    if not counts or sum(n for n, _ in counts.values()) > _MOST_BINS:
        return
    block = block_extents(kernel, source, fn)
    flat = is_flat(kernel, source, fn) or (block is not None and block[1:] == (1, 1))
    axis = "x" if flat else "y"
    plans: list[tuple[Opening, Geometry | None, int]] = []
    if is_flat(kernel, source, fn) or not flat:
        looped = open_end(source, fn, stride=f"blockDim.{axis} * gridDim.{axis}", axis=axis)
        for fewer in _FEWER_BLOCKS:
            geometry = regrid(kernel, source, fn, {axis: _fewer(fewer)}) if looped else None
            if looped is not None and geometry is not None:
                plans.append((looped, geometry, fewer))
    opening = open_end(source, fn)
    if opening is not None:
        plans.append((opening, None, 1))
    number = "threadIdx.x" if flat else _linear(block)
    threads = "blockDim.x" if flat else "blockDim.x * blockDim.y"
    if not flat and (block is None or block[2] != 1):
        threads += " * blockDim.z"
    lines = ", ".join(str(a.call.line) for a in atomics)
    bins = " + ".join(str(n) for n, _ in counts.values())
    for how, geometry, fewer in plans:
        edits = [*how.edits, *_private(source, fn, counts, how, (number, threads))]
        text = source.replace(_ordered([*edits, *(geometry.edits if geometry else ())]))
        more = f", {fewer} elements a thread" if fewer > 1 else ""
        yield Edit(
            f"count in {bins} bins of the block's own{more}",
            text,
            f"rule:{_NAME}",
            f"All blocks add to the same few bins in line {lines}; a copy in shared"
            " memory takes the conflicts off the L2 cache and is added once a block.",
            _NAME,
            4.0 if fewer > 1 else 1.3,
            geometry.launch if geometry else None,
        )


def _counted(
    source: Source, fn: Function, atomics: Sequence[_Atomic]
) -> dict[str, tuple[int, list[tuple[_Atomic, Node]]]]:
    """Return by array how many bins it has, and where atomics name it; empty when not all known."""
    found: dict[str, tuple[int, list[tuple[_Atomic, Node]]]] = {}
    for atomic in atomics:
        variable = atomic.access.variable
        if variable is None or variable.space != "parameter":
            return {}
        if atomic.access.root != variable.name or atomic.call.name != "atomicAdd":
            return {}
        named = walk(atomic.call.arguments[0], "identifier")
        array = next((n for n in named if fn.variables.of(n) is variable), None)
        count = _bin_count(source, fn, atomic) or allocated(source, fn, variable)
        if count is None or array is None or count < 2:
            return {}
        most, places = found.get(variable.name, (0, []))
        found[variable.name] = (max(most, count), [*places, (atomic, array)])
    for name, (_, places) in found.items():
        variable = fn.variables.named(name)
        known = {array.id for _, array in places}
        if variable is None or any(
            u.node.id not in known for u in variable.uses if u.role != "declare"
        ):
            return {}  # the counts are read or written elsewhere in the kernel
    return found


def _private(
    source: Source, fn: Function, counts: dict[str, tuple[int, list[tuple[_Atomic, Node]]]],
    how: Opening, threads: tuple[str, str],
) -> Iterator[Replacement]:  # fmt: skip
    taken = [v.name for v in fn.variables.all]
    b = source.fresh_name("b", *taken)
    margin = source.indent(fn.body.named_children[0]) or "    "
    step = "\t" if margin.endswith("\t") else margin
    zeros: dict[int, str] = {}  # what is done for each bin, by the number of bins
    flushes: dict[int, str] = {}
    for name, (count, places) in counts.items():
        bins = source.fresh_name(f"block_{name}", *taken)
        taken.append(bins)
        yield (
            how.start,
            how.start,
            f"\n{margin}__shared__ {places[0][0].element} {bins}[{count}];",
        )
        line = f"\n{margin}{step}{bins}[{b}] = 0;"
        zeros[count] = zeros.get(count, "") + line
        line = f"\n{margin}{step}if ({bins}[{b}]) atomicAdd(&{name}[{b}], {bins}[{b}]);"
        flushes[count] = flushes.get(count, "") + line
        yield from ((*span(array), bins) for _, array in places)

    def looped(lines: dict[int, str]) -> str:
        return "".join(
            f"\n{margin}for (int {b} = {threads[0]}; {b} < {count}; {b} += {threads[1]}) {{"
            f"{body}\n{margin}}}"
            for count, body in lines.items()
        )

    wait = f"\n{margin}__syncthreads();"
    yield (how.start, how.start, f"{looped(zeros)}{wait}\n")
    yield (how.end, how.end, f"{wait}{looped(flushes)}")


def _bin_count(source: Source, fn: Function, atomic: _Atomic) -> int | None:
    """Return how many bins an index can name, by its type, a modulus or a mask."""
    if len(atomic.access.indices) != 1:
        return None
    node = stripped(atomic.access.indices[0])
    for _ in range(6):
        if node is None:
            return None
        kind = fn.type_of(node)
        if kind in ("unsigned char", "uint8_t", "uchar"):
            return 256
        if node.type == "binary_expression" and operator(node) in ("%", "&"):
            right = source.value(source.plain(field(node, "right")))
            if right is None or right <= 0:
                return None
            unsigned = kind is not None and (
                kind.startswith(("unsigned", "uint")) or kind == "size_t"
            )
            if operator(node) == "&":
                return right + 1
            return right if unsigned else None
        if node.type == "identifier":
            variable = fn.variables.of(node)
            if variable is None or variable.init is None or not variable.settled:
                return None
            node = stripped(variable.init)
            continue
        if node.type == "cast_expression":
            node = stripped(field(node, "value"))
            continue
        return None
    return None


def _fewer(factor: int) -> Change:
    def change(text: str) -> str:
        return f"({text} + {factor - 1}) / {factor}"

    return change


def _ordered(edits: list[Replacement]) -> list[Replacement]:
    """Sort by place, keeping insertions at one place in the order they were made."""
    return sorted(edits, key=lambda e: (e[0], e[1]))
