"""The body of a kernel that multiplies by tiles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.rules.matmul_parts import Parts, parts_of
from optimizer.rules.matmul_product import Product
from optimizer.rules.remarks import remark
from optimizer.source import Source
from optimizer.spans import Replacement, replace
from optimizer.syntax import contains, span

_BROKEN = re.compile(r"\s*\n\s*")
# Rows of the left tile are this many elements longer: columns then begin in other banks, and
# still where 16 bytes (of floats) may be read at once.
PAD = 4
# Results beside each other that a thread keeps: four floats are read from a tile at once.
_BESIDE = 4


@dataclass(frozen=True, slots=True)
class Tile:
    """Results a thread keeps along rows and columns, and common elements that a tile holds."""

    rows: int
    columns: int
    depth: int

    def buffers(self, threads: tuple[int, int]) -> int:
        """Return 2 where threads (along columns, along rows) load equal parts of both tiles."""
        wide, tall = threads
        sizes = (tall * self.rows * self.depth, wide * self.columns * self.depth)
        return 1 if any(size % (wide * tall) for size in sizes) else 2


def body_of(source: Source, p: Product, across: dict[str, int], tile: Tile) -> str | None:
    """Return a kernel's new body; None if not possible. `across` are the block's extents by axis.

    A thread's results are neighbours by fours, so that what they need of a tile is read 16 bytes
    at a time. With two buffers the next tile is loaded into registers while this one is used, and
    a barrier is spared.
    """
    parts = parts_of(source, p)
    if parts is None or p.loop.bound is None:
        return None
    margin = source.indent(p.fn.body.named_children[0]) or "    "
    unit = "\t" if margin.startswith("\t") else margin if len(margin) in (2, 3, 4) else "    "
    threads = (across[p.fast.axis], across[p.slow.axis])
    text = _Text(source, p, parts, tile, threads, _names(source, p))
    lines = [*text.head(across["x"]), *text.steps(source.of(p.loop.bound)), "", *text.results()]
    return "\n" + "\n".join(_indented(line, margin, unit) for line in lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Text:
    """Writes the parts of a body; `>` at the front of a line stands for a step inwards."""

    source: Source
    p: Product
    parts: Parts
    tile: Tile
    threads: tuple[int, int]
    names: dict[str, str]

    @property
    def _ahead(self) -> bool:
        return self.tile.buffers(self.threads) > 1

    def head(self, along_x: int) -> Iterator[str]:
        """Yield what stands before the loop over tiles; `along_x` threads of a block lie so."""
        n, p, tile = self.names, self.p, self.tile
        wide, tall = self.threads
        yield from (self.source.of(node) for node in self.parts.top)
        yield from remark("A block computes a tile of the result, a thread several elements of it.")
        sizes = f"{n['rows']} = {tall * tile.rows}, {n['cols']} = {wide * tile.columns}"
        yield f"constexpr int {sizes}, {n['depth']} = {tile.depth};"
        twice = "[2]" if self._ahead else ""
        left, right = _element(p.left), _element(p.right)
        shape = f"{twice}[{n['depth']}]"
        yield from remark(f"{PAD} more elements a row: a column is in several banks.")
        yield f"__shared__ __align__(16) {left} {n['as']}{shape}[{n['rows']} + {PAD}];"
        yield f"__shared__ __align__(16) {right} {n['bs']}{shape}[{n['cols']}];"
        yield f"const int {n['tid']} = threadIdx.y * {along_x} + threadIdx.x;"
        yield f"const int {n['ty']} = {n['tid']} / {wide}, {n['tx']} = {n['tid']} % {wide};"
        yield (
            f"const int {n['row0']} = blockIdx.{p.slow.axis} * {n['rows']},"
            f" {n['col0']} = blockIdx.{p.fast.axis} * {n['cols']};"
        )
        if self._ahead:
            yield f"{left} {n['next_a']}[{self._share('left')}];"
            yield f"{right} {n['next_b']}[{self._share('right')}];"
            yield f"int {n['buffer']} = 0;"
        yield f"{p.total.written} {n['sums']}[{tile.rows}][{tile.columns}] = {{}};"
        yield ""

    def steps(self, bound: str) -> Iterator[str]:
        """Yield the loop over tiles."""
        n, p = self.names, self.p
        index = p.loop.variable.written if p.loop.variable is not None else "int"
        k0, kd = n["k0"], n["depth"]
        if not self._ahead:
            yield from remark("Tiles are filled with zeros beyond the matrices, which add nothing.")
            yield f"for ({index} {k0} = 0; {k0} < {bound}; {k0} += {kd}) {{"
            for side, size in (("left", "rows"), ("right", "cols")):
                head = f"int {n['e']} = {n['tid']}; {n['e']} < {n[size]} * {kd}"
                yield f">for ({head}; {n['e']} += {self._count}) {{"
                place, value, declared = self._element_of(side, n["e"], bound)
                yield from (f">>{line}" for line in declared)
                yield f">>{n['as' if side == 'left' else 'bs']}{place} = {value};"
                yield ">}"
            yield ">__syncthreads();"
            yield from (f">{line}" for line in self._used(""))
            yield ">__syncthreads();"
            yield "}"
            return
        end = bound if re.fullmatch(r"[\w.]+", bound) else f"({bound})"
        yield from remark("The next tiles are loaded while these are used, hence one round more.")
        yield f"for ({index} {k0} = 0; {k0} < {end} + {kd}; {k0} += {kd}) {{"
        for side, ahead in (("left", "next_a"), ("right", "next_b")):
            yield ">#pragma unroll"
            yield f">for (int {n['e']} = 0; {n['e']} < {self._share(side)}; ++{n['e']}) {{"
            _, value, declared = self._element_of(side, self._at, bound)
            yield from (f">>{line}" for line in declared)
            yield f">>{n[ahead]}[{n['e']}] = {value};"
            yield ">}"
        yield f">if ({k0} > 0) {{"
        yield from (f">>{line}" for line in self._used(f"[{n['buffer']}]"))
        yield ">}"
        yield f">{n['buffer']} ^= 1;"
        for side, ahead in (("left", "next_a"), ("right", "next_b")):
            yield ">#pragma unroll"
            yield f">for (int {n['e']} = 0; {n['e']} < {self._share(side)}; ++{n['e']})"
            r, q = self._place(side, f"({self._at})")
            held = n["as" if side == "left" else "bs"]
            yield f">>{held}[{n['buffer']}][{q}][{r}] = {n[ahead]}[{n['e']}];"
        yield ">__syncthreads();"
        yield "}"

    @property
    def _count(self) -> int:
        return self.threads[0] * self.threads[1]

    @property
    def _at(self) -> str:
        return f"{self.names['tid']} + {self.names['e']} * {self._count}"

    def _share(self, side: str) -> int:
        """Return how many elements of a tile each thread loads."""
        wide, tall = self.threads
        size = tall * self.tile.rows if side == "left" else wide * self.tile.columns
        return size * self.tile.depth // self._count

    def _place(self, side: str, e: str) -> tuple[str, str]:
        """Return row or column, and common index, of a tile's element: neighbours in memory."""
        access = self.p.left if side == "left" else self.p.right
        along_k = access.loop_stride(self.p.loop)
        size = self.names["rows" if side == "left" else "cols"]
        if along_k is not None and along_k.constant == 1:
            return f"{e} / {self.names['depth']}", f"{e} % {self.names['depth']}"
        return f"{e} % {size}", f"{e} / {size}"

    def _element_of(self, side: str, e: str, bound: str) -> tuple[str, str, list[str]]:
        """Return an element's place in its tile, its value, and what is declared for both."""
        n, p, source = self.names, self.p, self.source
        left = side == "left"
        access, variable = (p.left, p.slow.variable) if left else (p.right, p.fast.variable)
        limit, base = p.limits[0 if left else 1], n["row0" if left else "col0"]
        r, q = self._place(side, e if e.isidentifier() else f"({e})")
        step = p.loop.variable.written if p.loop.variable is not None else "int"
        nodes = self.parts.lefts if left else self.parts.rights
        declared = [
            f"const int {n['r']} = {r}, {n['q']} = {q};",
            f"const {variable.written} {variable.name} = {base} + {n['r']};",
            f"const {step} {p.loop.name} = {n['k0']} + {n['q']};",
            *(source.of(node) for node in nodes),
        ]
        test = f"{variable.name} < {limit} && {p.loop.name} < {bound}"
        value = f"{test} ? {source.of(access.node)} : {_element(access)}(0)"
        return f"[{n['q']}][{n['r']}]", value, declared

    def _used(self, buffer: str) -> Iterator[str]:
        """Yield the lines that multiply what tiles hold."""
        n, p, tile, source = self.names, self.p, self.tile, self.source
        i, j, q = n["i"], n["j"], n["q"]
        uses = [u.node for u in p.total.uses if contains(p.statement, u.node)]
        edits = [
            *((*span(node), f"{n['a']}[{i}]") for node in p.lefts),
            *((*span(node), f"{n['b']}[{j}]") for node in p.rights),
            *((*span(node), f"{n['sums']}[{i}][{j}]") for node in uses),
        ]
        inner = [_within(source, node, edits) for node in (*p.locals, p.statement)]
        yield from remark("What is read of a tile is used for several results.")
        yield "#pragma unroll"
        yield f"for (int {q} = 0; {q} < {n['depth']}; ++{q}) {{"
        yield f">{_element(p.left)} {n['a']}[{tile.rows}];"
        yield f">{_element(p.right)} {n['b']}[{tile.columns}];"
        for mine, held, place, count in (
            ("a", "as", self._row(i), tile.rows),
            ("b", "bs", self._column(i), tile.columns),
        ):
            yield ">#pragma unroll"
            yield f">for (int {i} = 0; {i} < {count}; ++{i})"
            yield f">>{n[mine]}[{i}] = {n[held]}{buffer}[{q}][{place}];"
        yield ">#pragma unroll"
        yield f">for (int {i} = 0; {i} < {tile.rows}; ++{i})"
        yield ">>#pragma unroll"
        opens, closes = (" {", True) if p.locals else ("", False)
        yield f">>for (int {j} = 0; {j} < {tile.columns}; ++{j}){opens}"
        yield from (f">>>{line.rstrip(';')};" for line in inner)
        if closes:
            yield ">>}"
        yield "}"

    def _row(self, i: str) -> str:
        return _beside(self.names["ty"], i, self.tile.rows, self.threads[1])

    def _column(self, j: str) -> str:
        return _beside(self.names["tx"], j, self.tile.columns, self.threads[0])

    def results(self) -> Iterator[str]:
        """Yield what is done with each result."""
        n, p = self.names, self.p
        i, j, slow, fast = n["i"], n["j"], p.slow.variable, p.fast.variable
        yield from remark("A tile may reach beyond the matrix: only what is inside is stored.")
        yield "#pragma unroll"
        yield f"for (int {i} = 0; {i} < {self.tile.rows}; ++{i}) {{"
        yield ">#pragma unroll"
        yield f">for (int {j} = 0; {j} < {self.tile.columns}; ++{j}) {{"
        yield f">>const {slow.written} {slow.name} = {n['row0']} + {self._row(i)};"
        yield f">>const {fast.written} {fast.name} = {n['col0']} + {self._column(j)};"
        yield f">>if ({slow.name} < {p.limits[0]} && {fast.name} < {p.limits[1]}) {{"
        result = f"{n['sums']}[{i}][{j}]"
        yield from (f">>>{line}" for line in _epilogue(self.source, p, self.parts, result))
        yield ">>}"
        yield ">}"
        yield "}"


def _beside(thread: str, item: str, each: int, count: int) -> str:
    """Return the place of a thread's item in a tile of `count` threads with `each` items.

    >>> _beside("tx", "j", 4, 16), _beside("tx", "j", 8, 16)
    ('tx * 4 + j', 'tx * 4 + j / 4 * 64 + j % 4')
    """
    if each <= _BESIDE:
        return f"{thread} * {each} + {item}"
    return f"{thread} * {_BESIDE} + {item} / {_BESIDE} * {count * _BESIDE} + {item} % {_BESIDE}"


def _within(source: Source, node: Node, edits: Sequence[Replacement]) -> str:
    """Return the text of a node, in one line, with those of the spans replaced that are in it."""
    low, high = span(node)
    own = [(a - low, b - low, new) for a, b, new in edits if low <= a and b <= high]
    return _BROKEN.sub(" ", replace(source.of(node), sorted(own)))


def _element(access: Access) -> str:
    variable = access.variable
    known = variable is not None and (variable.is_pointer or variable.is_array)
    return variable.written if variable is not None and known else access.element


def _names(source: Source, p: Product) -> dict[str, str]:
    taken = [v.name for v in p.fn.variables.all]
    wanted = {
        "as": "tileA", "bs": "tileB", "rows": "kRows", "cols": "kCols", "depth": "kDepth",
        "tid": "tid", "ty": "ty", "tx": "tx", "row0": "row0", "col0": "col0", "sums": "sums",
        "k0": "k0", "a": "fragA", "b": "fragB", "r": "r", "q": "q", "e": "e",
        "i": "i", "j": "j", "next_a": "nextA", "next_b": "nextB", "buffer": "buffer",
    }  # fmt: skip
    return {key: source.fresh_name(base, *taken) for key, base in wanted.items()}


def _epilogue(source: Source, p: Product, parts: Parts, result: str) -> list[str]:
    """Return the lines that are done with each result."""
    name = p.total.name
    found: list[str] = []
    for node in parts.each:
        found += _lines(source, node)
    if parts.zero:
        changed = any(u.writes and u.node.start_byte > p.loop.node.end_byte for u in p.total.uses)
        found.append(f"{'' if changed else 'const '}{p.total.written} {name} = {result};")
    else:
        found.append(f"{name} += {result};")
    for node in p.after:
        found += _lines(source, node)
    return found


def _lines(source: Source, node: Node) -> list[str]:
    margin = source.indent(node)
    return [line.removeprefix(margin) for line in source.of(node).splitlines()]


def _indented(line: str, margin: str, unit: str) -> str:
    depth = len(line) - len(line.lstrip(">"))
    text = line[depth:]
    if not text:
        return ""
    return f"{margin}{unit * depth}{text}"
