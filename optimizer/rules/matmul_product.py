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
from optimizer.syntax import contains, field, operator, stripped, walk
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

    In place of `a * b` stands anything that is zero where both are, as `(a - b) * (a - b)`.
    `lefts` and `rights` are the places in the loop where an element of each operand is used,
    `locals` the declarations in the loop that use them, `before` and `after` what is done once for
    each result.
    """

    fn: Function
    loop: Loop
    total: Variable
    statement: Node
    locals: tuple[Node, ...]
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
    total, terms, left, right, slow, fast = found
    product = Product(
        fn, work.loop, total, terms.statement, terms.locals, left[0], right[0],
        _places(fn, terms, left), _places(fn, terms, right), slow, fast,
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


@dataclass(frozen=True, slots=True)
class _Terms:
    """The statement that adds, and the declarations in front of it that are no mere copies."""

    statement: Node
    locals: tuple[Node, ...]

    def hold(self, node: Node) -> bool:
        """Return whether a node is in the statement or in one of the declarations."""
        return any(contains(each, node) for each in (self.statement, *self.locals))


_Sides = tuple[tuple[Access, ...], tuple[Access, ...], ThreadId, ThreadId]


def _sum(
    source: Source, fn: Function, loop: Loop, ids: dict[str, ThreadId]
) -> tuple[Variable, _Terms, tuple[Access, ...], tuple[Access, ...], ThreadId, ThreadId] | None:
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
    if any(a.kind != "read" or not _in_memory(a) for a in reads):
        return None
    declared = [n for n in statements[:-1] if not _copy(fn, n, reads)]
    if not all(_settled(fn, n) for n in declared):
        return None
    terms = _Terms(found[0].node, tuple(declared))
    if not _adds_nothing_of_zeros(source, fn, total, terms, reads):
        return None
    sides = _sides(fn, loop, reads, ids)
    return (total, terms, *sides) if sides is not None else None


def _in_memory(access: Access) -> bool:
    """Return whether an element is the caller's: of a pointer, or of one in a struct."""
    return access.space == "global" or (access.space == "unknown" and "." in access.root)


def _settled(fn: Function, node: Node) -> bool:
    """Return whether a statement declares locals that are never changed."""
    inside = [v for v in fn.variables.all if contains(node, v.name_node)]
    return (
        node.type == "declaration"
        and bool(inside)
        and all(v.settled and v.init is not None and not v.is_array for v in inside)
    )


def _copy(fn: Function, node: Node, reads: list[Access]) -> bool:
    """Return whether a statement is `float a = A[i];`."""
    inside = [v for v in fn.variables.all if contains(node, v.name_node)]
    return (
        len(inside) == 1
        and _settled(fn, node)
        and any(inside[0].init is not None and a.node.id == inside[0].init.id for a in reads)
    )


def _places(fn: Function, terms: _Terms, accesses: tuple[Access, ...]) -> tuple[Node, ...]:
    """Return where a sum uses an element: the accesses themselves, or locals that hold it."""
    found: list[Node] = []
    for access in accesses:
        if terms.hold(access.node):
            found.append(access.node)
            continue
        for variable in fn.variables.all:
            if variable.init is not None and variable.init.id == access.node.id:
                found += [u.node for u in variable.uses if terms.hold(u.node)]
    return tuple(found)


def _sides(
    fn: Function, loop: Loop, reads: list[Access], ids: dict[str, ThreadId]
) -> _Sides | None:
    """Tell which operand belongs to the rows and which to the columns, by what they depend on."""
    groups: dict[str, list[Access]] = {"x": [], "y": []}
    templates = {t.name for t in fn.templates}
    for access in reads:
        if access.index is None or access.cast or not access.index.depends_on(loop.name):
            return None
        if access.element not in BYTES and access.element not in templates:
            return None
        on = {axis for axis in "xy" if access.index.depends_on(f"threadIdx.{axis}")}
        if len(on) != 1:
            return None
        groups[on.pop()].append(access)
    for group in groups.values():
        first = group[0] if group else None
        if first is None or first.index is None:
            return None
        for other in group[1:]:  # one element of each operand, used once or more often
            if other.root != first.root or other.index is None:
                return None
            if not other.index.same(first.index):
                return None
    # The column is what the results are stored side by side in.
    stores = [a for a in fn.accesses if a.writes and not contains(loop.node, a.node)]
    if not stores or any(a.index is None for a in stores):
        return None
    sides = {axis for axis in "xy" if all(a.thread_stride(axis) == 1 for a in stores)}
    fast = "y" if sides == {"y"} else "x"
    slow = "x" if fast == "y" else "y"
    return tuple(groups[slow]), tuple(groups[fast]), ids[slow], ids[fast]


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


# What is zero of a zero.
_ODD = (
    "fabsf", "fabs", "abs", "sqrtf", "sqrt", "sinf", "sin", "tanhf", "tanh", "float", "double",
    "__half2float", "__ldg", "static_cast<float>", "static_cast<double>",
)  # fmt: skip
_POWERS = ("powf", "pow", "__powf")
_EXTREMES = ("min", "max", "fminf", "fmaxf", "fmin", "fmax")
_FUSED = ("fmaf", "fma", "__fmaf_rn")
_SUMMED = 3  # arguments of a fused multiplication


def _adds_nothing_of_zeros(
    source: Source, fn: Function, total: Variable, terms: _Terms, reads: list[Access]
) -> bool:
    """Return whether a sum stays as it is where both operands are zero, as beyond the matrices."""
    held = {v for v in fn.variables.all if v.init is not None and _is_read(v.init, reads)}
    zero = {a.node.id for a in reads}
    for node in terms.locals:
        declared = [v for v in fn.variables.all if contains(node, v.name_node)]
        held |= {v for v in declared if _vanishes(source, fn, v.init, zero, held)}
    added = _added(fn, total, terms.statement)
    return added is not None and _vanishes(source, fn, added, zero, held)


def _is_read(node: Node, reads: list[Access]) -> bool:
    return any(a.node.id == node.id for a in reads)


def _added(fn: Function, total: Variable, statement: Node) -> Node | None:
    """Return what a statement adds to a sum: of `s += e`, `s = s + e` and `s = e + s`."""
    right = stripped(field(statement, "right"))
    if operator(statement) in ("+=", "-="):
        return right
    if right is None or right.type != "binary_expression" or operator(right) not in "+-":
        return None
    sides = [stripped(field(right, side)) for side in ("left", "right")]
    others = [n for n in sides if n is not None and fn.variables.of(n) is not total]
    return others[0] if len(others) == 1 else None


def _vanishes(
    source: Source, fn: Function, node: Node | None, zero: set[int], held: set[Variable]
) -> bool:
    """Return whether an expression is zero where the nodes `zero` and the locals `held` are."""
    node = stripped(node)
    if node is None or node.id in zero:
        return node is not None
    if node.type == "identifier":
        return fn.variables.of(node) in held
    if node.type == "number_literal":
        return source.value(source.plain(node).rstrip("fF")) == 0
    if node.type == "call_expression":
        return _call_vanishes(source, fn, node, zero, held)
    parts = [field(node, name) for name in ("value", "argument", "left", "right")]
    gone = [_vanishes(source, fn, part, zero, held) for part in parts if part is not None]
    if node.type == "cast_expression":
        return gone[-1:] == [True]
    sign = operator(node)
    if node.type == "unary_expression":
        return sign in ("-", "+") and gone == [True]
    if node.type != "binary_expression":
        return False
    if sign == "/":
        return gone[0] and not _varies(fn, parts[-1], zero, held)
    return any(gone) if sign == "*" else sign in ("+", "-") and all(gone)


def _call_vanishes(
    source: Source, fn: Function, node: Node, zero: set[int], held: set[Variable]
) -> bool:
    """Return whether a call of such arguments is zero; macros may name the function."""
    name = source.plain(field(node, "function"))
    macro = source.macros_in_force.get(name)
    name = (macro.body.strip() if macro and macro.parameters is None else name).removeprefix(
        "std::"
    )
    given = field(node, "arguments")
    parts = [] if given is None else [n for n in given.named_children if n.type != "comment"]
    gone = [_vanishes(source, fn, part, zero, held) for part in parts]
    factors = _factors(source, name)
    if factors is not None:
        return any(gone[at] for at in factors if at < len(gone))
    if source.function(name) is not None or not parts:
        return False
    if name in _POWERS:
        power = source.plain(parts[-1]).rstrip("fF")
        return gone[0] and ((source.value(power) or 0) > 0 or bool(_DECIMAL.fullmatch(power)))
    if name in _FUSED and len(parts) == _SUMMED:
        return (gone[0] or gone[1]) and gone[2]
    return all(gone) and (name in _EXTREMES or (name in _ODD and len(parts) == 1))


def _factors(source: Source, name: str) -> tuple[int, ...] | None:
    """Return which of its parameters a macro or function multiplies; None where it does more.

    `#define SQ(x) ((x) * (x))` is the product of its first with itself.
    """
    macro, called = source.macros_in_force.get(name), source.function(name)
    if macro is not None and macro.parameters is not None:
        names, text = list(macro.parameters), macro.body
    elif called is not None and "__device__" in called.qualifiers:
        done = [n for n in called.body.named_children if n.type != "comment"]
        if len(done) != 1 or done[0].type != "return_statement":
            return None
        names, text = [p.name for p in called.parameters], source.plain(done[0])
        text = text.removeprefix("return").rstrip(";")
    else:
        return None
    if not _PRODUCT.fullmatch(text):
        return None
    words = [t.text for t in code_tokens(text) if t.text.isidentifier()]
    return tuple(names.index(w) for w in words) if set(words) <= set(names) else None


_PRODUCT = re.compile(r"[\s()]*\w+[\s()]*(?:\*[\s()]*\w+[\s()]*)+")
_DECIMAL = re.compile(r"0*[1-9]\d*\.\d*|0*\.0*[1-9]\d*")


def _varies(fn: Function, node: Node | None, zero: set[int], held: set[Variable]) -> bool:
    """Return whether an expression uses an operand."""
    return node is None or any(
        n.id in zero or (n.type == "identifier" and fn.variables.of(n) in held) for n in walk(node)
    )
