"""Stage a transposition through shared memory, so that it reads and writes side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function, Guard
from optimizer.geometry import Geometry, block_extents, is_flat, regrid
from optimizer.model import Edit, Finding, Kernel
from optimizer.polynomials import Polynomial
from optimizer.rules.digits import Digit, quotient
from optimizer.rules.digits import digits as digits_of
from optimizer.rules.outputs import fewer
from optimizer.source import Source
from optimizer.spans import replace as replaced
from optimizer.syntax import contains, field, operator, walk
from optimizer.variables import Variable

_NAME = "stage-transpose"
_TILE = 32
_BYTES = {
    "float": 4, "double": 8, "int": 4, "unsigned int": 4, "unsigned": 4, "half": 2, "__half": 2,
    "char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "long long": 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Body:
    """A kernel that stores one value a thread, under one test or none, behind declarations."""

    guard: Guard | None
    before: tuple[Node, ...]
    inside: tuple[Node, ...]
    target: Access
    value: Node
    reads: tuple[Access, ...]


def stage_transpose(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Read a tile along one axis and write it along the other, through padded shared memory.

    For kernels that store one value a thread, where neighbouring threads read elements side by
    side and write elements a row apart, or the other way round; with two-dimensional blocks, or
    with one number that is taken apart by divisions. Values do not change.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
            continue
        if fn.conditional or fn.loops or fn.atomics or fn.unknown_calls or fn.unknown_names:
            continue
        block = block_extents(kernel, source, fn)
        body = _body(fn) if block is not None else None
        if body is None or block is None:
            continue
        geometry = Geometry()
        if is_flat(kernel, source, fn) and block[0] >= _TILE:
            text = _flat(source, fn, body, block[0])
            # Blocks take tile after tile, so that any grid is right: this one has a tile a block.
            fewer_blocks = max(1, _TILE * _TILE // block[0])
            geometry = regrid(kernel, source, fn, {"x": fewer(fewer_blocks)}) or geometry
        elif block[0] == block[1] and block[2] == 1 and 8 <= block[0] <= _TILE:
            text = _square(source, fn, body, block[0])
        else:
            continue
        if text is None:
            continue
        low, high = fn.body.start_byte + 1, fn.body.end_byte - 1
        yield Edit(
            f"stage `{fn.name}` through a tile in shared memory",
            source.replace(sorted([(low, high, text), *geometry.edits])),
            f"rule:{_NAME}",
            f"In line {body.target.line} neighbouring threads touch neighbouring elements on one"
            " side only; a tile in shared memory is filled along one axis and emptied along the"
            " other.",
            _NAME,
            2.0,
            geometry.launch,
        )


def _body(fn: Function) -> _Body | None:
    guards = [g for g in fn.guards if g.bounds is not None]
    returns = list(walk(fn.body, "return_statement"))
    if len(guards) != len(fn.guards) or len(guards) > 1:
        return None
    top = [n for n in fn.body.named_children if n.type != "comment"]
    if not guards:
        return _stored(fn, None, top[:-1], top[-1:]) if not returns else None
    guard = guards[0]
    if len(returns) != int(guard.exits) or any(s != "<" for _, s, _ in guard.bounds or ()):
        return None
    at = next(i for i, n in enumerate(top) if n.id == guard.node.id)
    work = top[at + 1 :]
    if not guard.exits:
        if work:
            return None
        inner = guard.body
        work = [n for n in inner.named_children if n.type != "comment"]
        work = work if inner.type == "compound_statement" else [inner]
    return _stored(fn, guard, top[:at], work)


def _stored(
    fn: Function, guard: Guard | None, before: Sequence[Node], work: Sequence[Node]
) -> _Body | None:
    """Return a kernel's parts when its last statement stores a value made of declarations."""
    declared = [*before, *work[:-1]]
    if not work or work[-1].type != "expression_statement" or not work[-1].named_children:
        return None
    if any(n.type != "declaration" for n in declared):
        return None
    locals_ = [v for v in fn.variables.all if v.space != "parameter"]
    if not all(v.settled and v.is_scalar for v in locals_):
        return None
    if not all(v.init is not None and _pure(fn, v.init) for v in locals_):
        return None
    store = work[-1].named_children[0]
    if store.type != "assignment_expression" or operator(store) != "=":
        return None
    value, left = field(store, "right"), field(store, "left")
    writes = [a for a in fn.accesses if a.writes]
    if value is None or len(writes) != 1 or writes[0].node != left or not _pure(fn, value):
        return None
    target = writes[0]
    reads = tuple(a for a in fn.accesses if a is not target)
    if target.space != "global" or target.element not in _BYTES or target.cast:
        return None
    if not reads or any(a.root == target.root or a.index is None for a in reads):
        return None
    if any(contains(left, a.node) for a in reads if left is not None) or target.index is None:
        return None
    return _Body(guard, tuple(before), tuple(work[:-1]), target, value, reads)


def _pure(fn: Function, node: Node) -> bool:
    return fn.is_pure(node)


# -- one number taken apart ----------------------------------------------------------------------


def _flat(source: Source, fn: Function, body: _Body, threads: int) -> str | None:
    ids = [t for t in fn.thread_ids if t.axis == "x"]
    bounds = (body.guard.bounds or ()) if body.guard is not None else ()
    if len(ids) != 1 or len(bounds) != 1 or bounds[0][0] != ids[0].variable.name:
        return None
    own = ids[0].variable
    digits = digits_of(fn, own)
    if digits is None or len(digits) < 2:
        return None
    numbers = {d.variable.name for d in digits} | {own.name}
    kept = _kept(source, fn, body, numbers)
    if kept is None:
        return None
    number_index = fn.affine(own.init)
    if number_index is None or body.target.index is None:
        return None
    inward = body.target.index.same(number_index)
    others = [a for a in body.reads if inward] or [body.target]
    along = [a for a in others if a.index is not None and _partner(digits, a.index) is not None]
    if not along or along[0].index is None:
        return None
    if not inward and not any(a.index is not None and a.index.same(number_index)
                              for a in body.reads):  # fmt: skip
        return None
    second = _partner(digits, along[0].index)
    if second is None or _TILE * (_TILE + 1) * _BYTES[body.target.element] > 48 << 10:
        return None
    sides = (source.of(body.value), source.of(body.target.node))
    flat = _Flat(own, tuple(digits), second, sides, threads)
    return _flat_text(source, fn, body, merged(source, fn, body, flat), kept, inward=inward)


@dataclass(frozen=True, slots=True)
class _Flat:
    """One number and its coordinates, the second one of a tile, what is read and written."""

    own: Variable
    digits: tuple[Digit, ...]
    second: Digit
    sides: tuple[str, str]
    threads: int


def _partner(digits: Sequence[Digit], index: Polynomial) -> Digit | None:
    """Return the digit that moves an index by one, where the lowest digit moves it by more."""
    low = index.coefficient(digits[0].atom)
    if low is None or low.constant in (0, 1, -1):
        return None
    for digit in digits[1:]:
        step = index.coefficient(digit.atom)
        if step is not None and step.constant == 1:
            return digit
    return None


def merged(source: Source, fn: Function, body: _Body, flat: _Flat) -> _Flat:
    """Return the same with the second coordinate and those that go on where it ends made one.

    Height and width of an image are one coordinate where all that is read or written goes through
    it in one piece: tiles then leave less of a row over, and less is divided.
    """
    moved = [a for a in (*body.reads, body.target) if a.index is not None]
    group = [flat.second]
    for digit in flat.digits[flat.digits.index(flat.second) + 1 :]:
        if not all(_goes_on(a.index, group[-1], digit) for a in moved if a.index is not None):
            break
        group.append(digit)
    names = {d.variable.name for d in group}
    alone = [
        use
        for use in (*fn.variables.within(body.value), *fn.variables.within(body.target.node))
        if use.name in names and not any(contains(a.node, use.node) for a in moved)
    ]
    if len(group) == 1 or alone or len({d.variable.element for d in group}) > 1:
        return flat
    mark = "" if all(len(name) == 1 for name in names) else "_"
    taken = [v.name for v in fn.variables.all]
    name = source.fresh_name(mark.join(d.variable.name for d in reversed(group)), *taken)
    extent = group[0].extent
    for digit in group[1:]:
        extent = extent * digit.extent if extent is not None and digit.extent is not None else None
    one = replace(group[0], variable=replace(group[0].variable, name=name), extent=extent)
    known = {d.atom: d.variable.name for d in flat.digits} | {one.atom: name}
    edits: list[tuple[Node, str]] = []
    for access in moved:
        if access.index is None or not access.index.atoms & {d.atom for d in group}:
            continue
        index = _index_text(source, access, group[1:], known)
        if index is None:
            return flat
        edits.append((access.node, index))
    texts = []
    for node in (body.value, body.target.node):
        low = node.start_byte
        inside = [
            (at.start_byte - low, at.end_byte - low, new) for at, new in edits if contains(node, at)
        ]
        texts.append(replaced(source.of(node), inside))
    digits = tuple(one if d is group[0] else d for d in flat.digits if d not in group[1:])
    return replace(flat, digits=digits, second=one, sides=(texts[0], texts[1]))


def _goes_on(index: Polynomial, low: Digit, high: Digit) -> bool:
    """Return whether one more of a digit moves an index as far as all of the one below it."""
    one, two = index.coefficient(low.atom), index.coefficient(high.atom)
    return (
        low.extent is not None and one is not None and two is not None
        and two.same(one * low.extent)
    )  # fmt: skip


def _index_text(
    source: Source, access: Access, gone: Sequence[Digit], known: Mapping[str, str]
) -> str | None:
    """Return an access written as a sum of products of coordinates; None when that is unclear.

    Indices that are widened by a cast are left alone: the sum would be of narrower numbers.
    """
    index, text = access.index, source.of(access.node)
    if index is None or access.node.type != "subscript_expression" or len(access.indices) != 1:
        return None
    if re.search(r"\b(size_t|long|u?int64_t|unsigned)\b", text) or access.root != access.name:
        return None
    for digit in gone:
        index = index.without(digit.atom)
    terms = []
    for monomial, factor in index.terms.items():
        if not all(a in known or a.isidentifier() for a in monomial):
            return None
        words = [known[a] for a in monomial if a in known]
        words += [a for a in monomial if a not in known]
        words = [*([] if factor == 1 and words else [str(factor)]), *words]
        terms.append(" * ".join(words))
    return f"{access.name}[{' + '.join(sorted(terms, key=len, reverse=True))}]"


def _kept(source: Source, fn: Function, body: _Body, numbers: set[str]) -> list[Node] | None:
    """Return the declarations that do not depend on the thread; None when others remain."""
    kept: list[Node] = []
    for node in (*body.before, *body.inside):
        names = {v.name for v in fn.variables.all if contains(node, v.name_node)}
        if names <= numbers:
            continue
        used = {u.name for u in fn.variables.within(node)}
        if names & numbers or used & numbers:
            return None
        if any(source.of(n) in ("threadIdx", "blockIdx") for n in walk(node, "identifier")):
            return None
        kept.append(node)
    return kept


def _flat_text(
    source: Source, fn: Function, body: _Body, flat: _Flat, kept: Sequence[Node], *, inward: bool
) -> str:
    own, digits, second = flat.own, flat.digits, flat.second
    taken = [v.name for v in fn.variables.all]
    name = {
        key: source.fresh_name(base, *taken)
        for key, base in {
            "tile": "tile", "size": "kTile", "t": "t", "e": "e", "tiles": "tiles",
            "a": f"{digits[0].variable.name}_tiles", "b": f"{second.variable.name}_tiles",
            "rest": "rest",
        }.items()
    }  # fmt: skip
    first = digits[0]
    bound_node = ((body.guard.bounds or ()) if body.guard is not None else ())[0][2]
    bound = source.of(bound_node)
    kind = own.element
    extents = {
        d.variable.name: str(d.extent).replace("*", " * ") for d in digits if d.extent is not None
    }
    below = " * ".join(_grouped(extents[d.variable.name]) for d in digits[:-1])
    total = fn.affine(bound_node)
    top = digits[-1]
    whole = total is not None and _divides(total, top.place)
    top_text = f"{_grouped(bound)} / ({below})"
    if not whole:
        top_text = f"({bound} + {below} - 1) / ({below})"
    texts = {**extents, top.variable.name: top_text}
    size = name["size"]
    others = [d for d in digits if d is not first and d is not second]
    number_text = digits[-1].variable.name
    for d in reversed(digits[:-1]):
        inner = number_text if number_text.isidentifier() else f"({number_text})"
        number_text = f"{inner} * {_grouped(texts[d.variable.name])} + {d.variable.name}"
    count = f"{name['a']} * {name['b']}"
    for d in others:
        count += f" * {_grouped(texts[d.variable.name])}"
    lines = [source.of(n) for n in kept]
    lines += [
        f"constexpr int {size} = {_TILE};",
        f"__shared__ {body.target.element} {name['tile']}[{size}][{size} + 1];",
        f"const {kind} {name['a']} = ({texts[first.variable.name]} + {size} - 1) / {size};",
        f"const {kind} {name['b']} = ({texts[second.variable.name]} + {size} - 1) / {size};",
        f"const {kind} {name['tiles']} = {count};",
        (
            f"for ({kind} {name['t']} = blockIdx.x; {name['t']} < {name['tiles']};"
            f" {name['t']} += gridDim.x) {{"
        ),
    ]
    if others:
        rest = name["rest"]
        above = f"{name['t']} / ({name['a']} * {name['b']})"
        if len(others) > 1:
            lines.append(f">{kind} {rest} = {above};")
        else:
            rest = above
        for d in others:
            last = d is others[-1]
            text = rest if last else f"{rest} % {_grouped(texts[d.variable.name])}"
            lines.append(f">const {d.variable.element} {d.variable.name} = {text};")
            if not last:
                lines.append(f">{rest} /= {texts[d.variable.name]};")
    value, target = flat.sides
    at = f"{name['tile']}[{first.variable.name} % {size}][{second.variable.name} % {size}]"
    fill, empty = f"{at} = {value};", f"{target} = {at};"
    lead, trail = (second, first) if inward else (first, second)
    for quick, slow, statement in ((lead, trail, fill), (trail, lead, empty)):
        e = name["e"]
        origin = {
            first.variable.name: f"{name['t']} % {name['a']} * {size}",
            second.variable.name: f"{name['t']} / {name['a']} % {name['b']} * {size}",
        }
        test = " && ".join(f"{d.variable.name} < {texts[d.variable.name]}" for d in (first, second))
        q, s = quick.variable, slow.variable
        lines += [
            ">#pragma unroll",
            f">for (int {e} = threadIdx.x; {e} < {size} * {size}; {e} += {flat.threads}) {{",
            f">>const {q.element} {q.name} = {origin[q.name]} + {e} % {size};",
            f">>const {s.element} {s.name} = {origin[s.name]} + {e} / {size};",
        ]
        named = any(re.search(rf"\b{own.name}\b", t) for t in (statement,))
        inner = statement
        if named or not whole:
            lines.append(f">>const {kind} {own.name} = {number_text};")
        if not whole:
            test += f" && {own.name} < {bound}"
        lines += [f">>if ({test}) {{", f">>>{inner}", ">>}", ">}", ">__syncthreads();"]
    lines.append("}")
    return _laid_out(source, fn, lines)


def _divides(total: Polynomial, place: Polynomial) -> bool:
    return all(
        quotient(Polynomial({m: f}, total.opaque), place) is not None
        for m, f in total.terms.items()
    )


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+", text) else f"({text})"


def _laid_out(source: Source, fn: Function, lines: Sequence[str]) -> str:
    margin = source.indent(fn.body.named_children[0]) or "    "
    unit = "\t" if margin.startswith("\t") else margin if len(margin) in (2, 3, 4) else "    "
    texts = []
    for line in lines:
        depth = len(line) - len(line.lstrip(">"))
        texts.append(f"{margin}{unit * depth}{line[depth:]}")
    end = source.indent(fn.body.end_byte - 1)
    return "\n" + "\n".join(texts) + f"\n{end}"


# -- two-dimensional blocks ----------------------------------------------------------------------


def _square(source: Source, fn: Function, body: _Body, extent: int) -> str | None:
    ids = {t.axis: t for t in fn.thread_ids}
    if set(ids) != {"x", "y"} or len(fn.thread_ids) != 2:
        return None
    names = {t.variable.name for t in ids.values()}
    bounds = (body.guard.bounds or ()) if body.guard is not None else ()
    if body.guard is not None and ({b[0] for b in bounds} != names or len(bounds) != 2):
        return None
    for node in walk(fn.body, "field_expression"):
        if source.plain(node).startswith("threadIdx.") and not any(
            t.variable.init is not None and contains(t.variable.init, node) for t in ids.values()
        ):
            return None
    out = (body.target.thread_stride("x"), body.target.thread_stride("y"))
    loads = [(a.thread_stride("x"), a.thread_stride("y")) for a in body.reads]
    if out[1] == 1 and out[0] not in (0, 1) and (1,) in [(x,) for x, y in loads if y != 1]:
        swapped = (False, True)
    elif out[0] == 1 and out[1] not in (0, 1) and any(y == 1 and x not in (0, 1) for x, y in loads):
        swapped = (True, False)
    else:
        return None
    tile = source.fresh_name("tile", *(v.name for v in fn.variables.all))
    store = f"{source.of(body.target.node)} = "
    lines = [*(source.of(n) for n in body.before if not _about(fn, n, names)), *(
        source.of(n) for n in body.before if _about(fn, n, names) and _own(fn, n, names)
    )]  # fmt: skip
    lines.append(f"__shared__ {body.target.element} {tile}[{extent}][{extent} + 1];")
    rest = [n for n in (*body.before, *body.inside) if not _own(fn, n, names)]
    rest = [n for n in rest if _about(fn, n, names) or n in body.inside]
    test = " && ".join(f"{n} < {source.of(b)}" for n, _, b in bounds)
    for swap, phase in zip(swapped, ("fill", "empty"), strict=True):
        place = f"{tile}[threadIdx.x][threadIdx.y]" if swap else f"{tile}[threadIdx.y][threadIdx.x]"
        root = body.value if phase == "fill" else body.target.node
        statement = f"{place} = {source.of(body.value)};" if phase == "fill" else f"{store}{place};"
        needed = _needed(fn, rest, root)
        step = ">" if swap else ""
        if swap:
            lines.append("{")
            for t in ids.values():
                turned = _turned(source, t.variable)
                lines.append(f">const {t.variable.element} {t.variable.name} = {turned};")
        deep = f"{step}>" if test else step
        lines += [f"{step}if ({test}) {{"] * bool(test)
        lines += [f"{deep}{source.of(n)}" for n in needed]
        lines += [f"{deep}{statement}", *[f"{step}}}"] * bool(test)]
        if swap:
            lines.append("}")
        if phase == "fill":
            lines.append("__syncthreads();")
    return _laid_out(source, fn, lines)


def _about(fn: Function, node: Node, names: set[str]) -> bool:
    """Return whether a declaration is or follows from the thread's numbers."""
    if _own(fn, node, names):
        return True
    for use in fn.variables.within(node):
        variable = use.variable
        if variable is None or contains(node, variable.name_node):
            continue
        if variable.name in names:
            return True
        if variable.space != "parameter" and _about(fn, variable.declaration, names):
            return True
    return False


def _own(fn: Function, node: Node, names: set[str]) -> bool:
    return any(contains(node, v.name_node) and v.name in names for v in fn.variables.all)


def _needed(fn: Function, rest: Sequence[Node], root: Node) -> list[Node]:
    wanted = {u.name for u in fn.variables.within(root)}
    found: list[Node] = []
    for node in reversed(rest):
        if {v.name for v in fn.variables.all if contains(node, v.name_node)} & wanted:
            found.insert(0, node)
            wanted |= {u.name for u in fn.variables.within(node)}
    return found


def _turned(source: Source, variable: Variable) -> str:
    other = {"x": "y", "y": "x"}
    text = source.of(variable.init)
    return re.sub(r"\bthreadIdx(\s*)\.(\s*)([xy])", lambda m: f"threadIdx.{other[m[3]]}", text)
