"""Which kernels compute one element of a matrix product a thread."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Function, ThreadId
from optimizer.loops import Loop
from optimizer.model import Kernel
from optimizer.rules.reduction import updates
from optimizer.source import Source
from optimizer.syntax import contains, field, operator, stripped
from optimizer.tokens import code_tokens
from optimizer.variables import Variable

BYTES = {
    "float": 4, "double": 8, "int": 4, "unsigned int": 4, "unsigned": 4, "half": 2, "__half": 2,
    "char": 1, "unsigned char": 1, "short": 2, "long long": 8, "long": 8, "__nv_bfloat16": 2,
    "unsigned long": 8, "unsigned long long": 8, "int8_t": 1, "uint8_t": 1, "int32_t": 4,
}  # fmt: skip
WIDEST = 8  # bytes of a template's type
_ZERO_OF = re.compile(
    r"(?:static_cast<\w+>|\(\w+\)|\b[A-Za-z]\w*)\((0(?:\.0*)?[fF]?)\)|\(\w+\)(?=0)"
)
Block = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Product:
    """`total += a * b` in a loop over the common dimension; `slow` numbers rows, `fast` columns.

    `lefts` and `rights` are the places in the sum where an element of each operand is used,
    `before` and `after` what is done once for each result.
    """

    fn: Function
    loop: Loop
    total: Variable
    statement: Node
    left: Access
    right: Access
    lefts: tuple[Node, ...]
    rights: tuple[Node, ...]
    slow: ThreadId
    fast: ThreadId
    limits: tuple[str, str]
    before: tuple[Node, ...]
    after: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class _Work:
    """The statements of a kernel and the extents (by name) within which threads do them."""

    before: tuple[Node, ...]
    loop: Loop
    after: tuple[Node, ...]
    limits: dict[str, str]


def product_of(kernel: Kernel, source: Source, fn: Function, block: Block) -> Product | None:
    """Return the product whose elements a kernel's threads compute; None for other kernels."""
    ids = {t.axis: t for t in fn.thread_ids}
    if len(fn.thread_ids) != 2 or set(ids) != {"x", "y"} or len(fn.loops) != 1:
        return None
    for axis, number in ids.items():
        across = block["xyz".index(axis)]
        if number.block != f"blockDim.{axis}" and source.value(number.block) != across:
            return None
    names = {t.variable.name for t in ids.values()}
    work = _work(fn)
    if work is None or (work.limits and set(work.limits) != names):
        return None
    limits = work.limits or _covered(kernel, source, fn, ids, block)
    found = _sum(source, fn, work.loop, ids) if limits is not None else None
    if found is None or limits is None:
        return None
    total, statement, left, right, slow, fast = found
    product = Product(
        fn, work.loop, total, statement, left, right,
        _places(fn, statement, left), _places(fn, statement, right), slow, fast,
        (limits[slow.variable.name], limits[fast.variable.name]), work.before, work.after,
    )  # fmt: skip
    return product if _movable(source, product) else None


def _work(fn: Function) -> _Work | None:
    """Read a body: tests of the extents, what stands before the one loop, and what behind."""
    listed = [n for n in fn.body.named_children if n.type != "comment"]
    guards = {g.node.id: g for g in fn.guards}
    found: list[Node] = []
    limits: dict[str, str] = {}
    for node in listed:
        guard = guards.get(node.id)
        if guard is None:
            found.append(node)
            continue
        if guard.bounds is None or any(sign != "<" for _, sign, _ in guard.bounds):
            return None
        limits |= {name: fn.file.syntax.of(bound) for name, _, bound in guard.bounds}
        if not guard.exits:
            # What follows such a test is done by all threads, but only those inside the extents
            # can have an element of their own to store to.
            found += [n for n in guard.body.named_children if n.type != "comment"]
    loop = fn.loops[0]
    at = next((i for i, n in enumerate(found) if n.id == loop.node.id), None)
    if at is None:
        return None
    return _Work(tuple(found[:at]), loop, tuple(found[at + 1 :]), limits)


def _covered(
    kernel: Kernel, source: Source, fn: Function, ids: dict[str, ThreadId], block: Block
) -> dict[str, str] | None:
    """Return the extents that the grid covers, as the kernel can name them; None if it cannot.

    For a kernel without tests: its launch says how many rows and columns there are.
    """
    del kernel
    found: set[tuple[str, str]] = set()
    for launch in source.launches_of(fn.name):
        given = {
            source.plain(argument): parameter.name
            for argument, parameter in zip(launch.arguments, fn.parameters, strict=False)
        }
        if launch.grid is None:
            return None
        texts = []
        for axis in "xy":
            at = "xyz".index(axis)
            extent = launch.grid[at] if at < len(launch.grid) else None
            named = extent and _named(source, extent.text, given, launch.block_variable, block)
            if not named:
                return None
            texts.append(
                f"({named}) * {block[at]}" if not named.isdigit() else str(int(named) * block[at])
            )
        found.add((texts[0], texts[1]))
    if len(found) != 1:
        return None
    return dict(zip((ids["x"].variable.name, ids["y"].variable.name), found.pop(), strict=True))


def _named(
    source: Source, text: str, given: dict[str, str], threads: str, block: Block
) -> str | None:
    """Return an extent of the grid in the words of the kernel's parameters."""
    known = source.value(text)
    if known is not None:
        return str(known)
    words = [t.text for t in code_tokens(text)]
    written = ""
    at = 0
    while at < len(words):
        word, following = words[at], words[at + 1 : at + 3]
        if threads and word == threads and following[:1] == ["."] and following[1] in "xyz":
            written += str(block["xyz".index(following[1])])
            at += 3
            continue
        if word.isidentifier():
            own = given.get(word)
            if own is None and source.constant(word) is None:
                return None
            word = own or word
        elif not (word.isdigit() or word in ("+", "-", "*", "/", "(", ")", ".")):
            return None
        written += word
        at += 1
        if word == "." and at < len(words):  # a member keeps its name
            written += words[at]
            at += 1
    return written


def _sum(
    source: Source, fn: Function, loop: Loop, ids: dict[str, ThreadId]
) -> tuple[Variable, Node, Access, Access, ThreadId, ThreadId] | None:
    if not (loop.counted and loop.step == 1 and loop.relation == "<" and loop.start is not None):
        return None
    if source.plain(loop.start) != "0" or loop.leaves_early or loop.bound is None:
        return None
    if loop.variable is None or any(
        u.node.start_byte > loop.node.end_byte for u in loop.variable.uses
    ):
        return None
    changed = [
        v
        for v in fn.variables.all
        if not contains(loop.node, v.name_node)
        and v is not loop.variable
        and any(contains(loop.node, u.node) for u in v.changes)
    ]
    statements = [n for n in loop.body_statements() if n.type != "comment"]
    if len(changed) != 1 or not statements:
        return None
    total = changed[0]
    found = updates(source, fn, total, loop.node)
    if not found or len(found) != 1 or found[0].operation != "+":
        return None
    if found[0].node.parent is None or found[0].node.parent.id != statements[-1].id:
        return None  # under a condition
    reads = [a for a in fn.accesses if contains(loop.node, a.node)]
    if len(reads) != 2 or any(a.kind != "read" or not _in_memory(a) for a in reads):
        return None
    if len(statements) != 1 and not all(_copy(fn, n, reads) for n in statements[:-1]):
        return None
    for access in reads:
        places = _places(fn, found[0].node, access)
        if len(places) != 1 or not _factor(source, found[0].node, places[0]):
            return None
    return _operands(fn, loop, reads, ids, total, found[0].node)


def _in_memory(access: Access) -> bool:
    """Return whether an element is the caller's: of a pointer, or of one in a struct."""
    return access.space == "global" or (access.space == "unknown" and "." in access.root)


def _copy(fn: Function, node: Node, reads: list[Access]) -> bool:
    """Return whether a statement is `float a = A[i];`."""
    inside = [v for v in fn.variables.all if contains(node, v.name_node)]
    return (
        node.type == "declaration"
        and len(inside) == 1
        and inside[0].settled
        and inside[0].init is not None
        and any(a.node.id == inside[0].init.id for a in reads)
    )


def _places(fn: Function, statement: Node, access: Access) -> tuple[Node, ...]:
    """Return where a sum uses an element: the access itself, or a local that holds it."""
    if contains(statement, access.node):
        return (access.node,)
    for variable in fn.variables.all:
        if variable.init is not None and variable.init.id == access.node.id:
            return tuple(u.node for u in variable.uses if contains(statement, u.node))
    return ()


def _operands(
    fn: Function,
    loop: Loop,
    reads: list[Access],
    ids: dict[str, ThreadId],
    total: Variable,
    statement: Node,
) -> tuple[Variable, Node, Access, Access, ThreadId, ThreadId] | None:
    """Tell which operand belongs to the rows and which to the columns, by what they depend on."""
    axes = []
    templates = {t.name for t in fn.templates}
    for access in reads:
        if access.index is None or access.cast or not access.index.depends_on(loop.name):
            return None
        if access.element not in BYTES and access.element not in templates:
            return None
        on = {axis for axis in "xy" if access.index.depends_on(f"threadIdx.{axis}")}
        if len(on) != 1:
            return None
        axes.append(on.pop())
    if set(axes) != {"x", "y"}:
        return None
    # The column is what the results are stored side by side in.
    stores = [a for a in fn.accesses if a.writes and not contains(loop.node, a.node)]
    if not stores or any(a.index is None for a in stores):
        return None
    sides = {axis for axis in "xy" if all(a.thread_stride(axis) == 1 for a in stores)}
    fast = "y" if sides == {"y"} else "x"
    slow = "x" if fast == "y" else "y"
    left, right = reads[axes.index(slow)], reads[axes.index(fast)]
    return total, statement, left, right, ids[slow], ids[fast]


def _movable(source: Source, p: Product) -> bool:
    """Return whether what stands before the loop can be done behind it, result by result."""
    for node in p.before:
        if node.type == "declaration":
            continue
        inner = node.named_children[0] if node.type == "expression_statement" else None
        if inner is None or inner.type not in ("assignment_expression", "update_expression"):
            return False
        for access in p.fn.accesses:
            if not access.writes or not contains(node, access.node):
                continue
            if access.variable is None or not all(
                operand.variable is not None
                and apart(source, p.fn, access.variable, operand.variable)
                for operand in (p.left, p.right)
            ):
                return False
        written = {u.name for u in p.fn.variables.within(node) if u.role in ("write", "update")}
        if written - {p.total.name}:
            return False
    return True


def starts_at_zero(source: Source, p: Product) -> tuple[bool, list[Node]] | None:
    """Return whether the sum starts at zero, and the statements that only say so; None if unset."""
    setting: list[Node] = []
    value: Node | None = p.total.init
    for use in p.total.changes:
        if use.node.start_byte > p.loop.node.start_byte:
            continue
        if contains(p.total.declaration, use.node):
            continue
        outer = use.node.parent
        if use.role != "write" or outer is None or outer.parent not in p.before:
            return (False, []) if p.total.init is not None or setting else None
        value = field(outer, "right")
        setting.append(outer.parent)
    if value is None:
        return None
    text = source.plain(stripped(value)).replace(" ", "")
    text = _ZERO_OF.sub(r"\1", text).rstrip("fFuUlL")
    if text not in ("0", "0.", "0.0", ".0", "{}", "{0}", "0.00"):
        return (False, [])
    return (True, setting)


def _factor(source: Source, statement: Node, node: Node) -> bool:
    """Return whether an operand is a factor of what is added, so that a zero adds nothing."""
    at = node
    while at.parent is not None and at.id != statement.id:
        parent = at.parent
        if parent.type == "assignment_expression":
            return contains(field(parent, "right") or parent, at)
        if parent.type == "binary_expression":
            sign = operator(parent)
            if sign == "+" and parent.parent is not None and parent.parent.id == statement.id:
                return operator(statement) == "="  # total = total + a * b
            if sign == "/" and contains(field(parent, "right") or parent, at):
                return False
            if sign not in ("*", "/"):
                return False
        elif parent.type == "call_expression":
            name = source.plain(field(parent, "function"))
            if name not in ("__half2float", "__ldg", "float", "static_cast<float>"):
                return False
        elif parent.type not in (
            "parenthesized_expression", "cast_expression", "argument_list",
        ):  # fmt: skip
            return False
        at = parent
    return at.id == statement.id
