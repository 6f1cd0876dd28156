"""A kernel that folds a block by warp shuffles instead of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.rules.shared_tree import SUFFIXES, Clean, Folded, counter_removed
from optimizer.source import Source
from optimizer.spans import Replacement, line_end, line_start
from optimizer.syntax import field, span

WARP = 32


def rewritten(
    source: Source,
    fn: Function,
    loop: Loop,
    arrays: Sequence[Folded],
    clean: Clean | None,
    block: int,
) -> list[Replacement]:
    """Return the edits that put shuffles in the place of a tree.

    Where the tree is clean its shared arrays go, too: each thread keeps its value in a register.
    """
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
    edits += counter_removed(source, loop)
    return sorted((e for e in edits if e[0] != e[1] or e[2]), key=lambda e: (e[0], e[1]))


def _in_registers(
    source: Source, fn: Function, clean: Clean, array: Folded, name: str
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
    source: Source, taken: Sequence[str], arrays: Sequence[Folded], names: Sequence[str],
    step: str, block: int,
) -> list[str]:  # fmt: skip
    """Return the lines that leave the block's results in the first thread's variables."""
    offset = source.fresh_name("offset", *taken)
    lines = _shuffles(arrays, names, offset, step)
    if block == WARP:
        return lines
    slots = [source.fresh_name(f"warp_{n}s", *taken) for n in names]
    pairs = list(zip(arrays, names, slots, strict=True))
    lines += [f"__shared__ {a.variable.element} {s}[{WARP}];" for a, _, s in pairs]
    stores = " ".join(f"{s}[threadIdx.x / {WARP}] = {n};" for _, n, s in pairs)
    if len(pairs) > 1:
        stores = f"{{ {stores} }}"
    lines += [f"if (threadIdx.x % {WARP} == 0) {stores}", "__syncthreads();"]
    lines.append(f"if (threadIdx.x < {WARP}) {{")
    for array, name, slot in pairs:
        test = f"threadIdx.x < blockDim.x / {WARP}"
        if array.operation in ("+", "*"):
            neutral = "0" if array.operation == "+" else "1"
            lines.append(f"{step}{name} = {test} ? {slot}[threadIdx.x] : {neutral};")
        else:
            lines.append(f"{step}{name} = {slot}[{test} ? threadIdx.x : 0];")
    lines += [f"{step}{line}" for line in _shuffles(arrays, names, offset, step)]
    lines.append("}")
    return lines


def _shuffles(arrays: Sequence[Folded], names: Sequence[str], offset: str, step: str) -> list[str]:
    head = f"for (int {offset} = {WARP // 2}; {offset} > 0; {offset} /= 2)"
    folds = [
        _joined(a, n, f"__shfl_down_sync(0xffffffff, {n}, {offset})")
        for a, n in zip(arrays, names, strict=True)
    ]
    if len(folds) == 1:
        return [head, f"{step}{folds[0]}"]
    return [f"{head} {{", *(f"{step}{f}" for f in folds), "}"]


def _joined(array: Folded, name: str, other: str) -> str:
    if array.operation in ("+", "*"):
        return f"{name} {array.operation}= {other};"
    suffix = SUFFIXES[array.variable.element]
    function = array.operation if suffix == "i" else f"f{array.operation}{suffix}"
    return f"{name} = {function}({name}, {other});"
