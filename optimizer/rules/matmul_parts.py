"""Where the statements before a product's loop go once it is tiled."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.rules.matmul_product import Product, starts_at_zero
from optimizer.source import Source
from optimizer.syntax import contains, walk
from optimizer.tokens import code_tokens


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the statements before the loop go: to the top, to the loads, to each result.

    `zero` tells that the sum starts at nothing but zero.
    """

    top: tuple[Node, ...]
    lefts: tuple[Node, ...]
    rights: tuple[Node, ...]
    each: tuple[Node, ...]
    zero: bool


def parts_of(source: Source, p: Product) -> Parts | None:
    """Sort the statements before the loop; None when one of them needs what is gone."""
    fn = p.fn
    rows, columns = p.slow.variable, p.fast.variable
    start = starts_at_zero(source, p)
    if start is None:
        return None
    zero, setting = start
    dropped = {n.id for n in setting}
    own = {rows.name, columns.name}
    for variable in (rows, columns, *((p.total,) if zero else ())):
        if variable.space == "parameter":
            return None
        dropped.add(variable.declaration.id)
        names = {v.name for v in fn.variables.all if contains(variable.declaration, v.name_node)}
        if not names <= own | {p.total.name, p.loop.name}:
            return None
    counter = p.loop.variable
    if counter is not None and not contains(p.loop.node, counter.name_node):
        alone = [v for v in fn.variables.all if contains(counter.declaration, v.name_node)]
        dropped |= {counter.declaration.id} if len(alone) == 1 else set()
    kept = [n for n in p.before if n.id not in dropped]
    declares = {n.id: {v.name for v in fn.variables.all if contains(n, v.name_node)} for n in kept}
    threads = {
        v.name
        for v in fn.variables.all
        if v.name not in own
        and not contains(p.loop.node, v.name_node)
        and any(_of_thread(source, n) for n in (v.init,) if n is not None)
    }
    groups: dict[str, list[Node]] = {"left": [], "right": [], "each": [], "top": []}
    demands: dict[str, set[str]] = {
        "left": _words(source, p.left.node),
        "right": _words(source, p.right.node),
        "each": set().union(
            *(_words(source, n) for n in p.after),
            *(_words(source, n) for n in kept if n.type != "declaration"),
            set() if zero else {p.total.name},
        ),
        "top": {t.text for limit in p.limits for t in code_tokens(limit)}
        | {
            source.of(n)
            for each in (p.statement, *p.locals)
            for n in walk(each, "identifier")
            if not any(contains(place, n) for place in (*p.lefts, *p.rights))
        }
        - {p.total.name}
        - {v.name for v in fn.variables.all if any(contains(n, v.name_node) for n in p.locals)}
        | (_words(source, p.loop.bound) if p.loop.bound is not None else set()),
    }
    for node in reversed(kept):
        words = _words(source, node)
        varies = bool(words & (own | threads)) or _of_thread(source, node)
        if node.type != "declaration":
            groups["each"].insert(0, node)
            continue
        wanted = [g for g in groups if declares[node.id] & demands[g]]
        if not wanted:
            continue
        stays = varies or p.total.name in declares[node.id] or _changes_later(fn, node, p)
        if stays and ("top" in wanted or _of_thread(source, node) or words & threads):
            return None
        for group in wanted if stays else ["top"]:
            groups[group].insert(0, node)
            demands[group] |= words
    gone = {"threadIdx", "blockIdx", "blockDim", "gridDim"} | threads
    if any(demand & gone for demand in demands.values()):
        return None
    if demands["left"] & {columns.name} or demands["right"] & {rows.name}:
        return None
    return Parts(
        tuple(groups["top"]), tuple(groups["left"]), tuple(groups["right"]),
        tuple(groups["each"]), zero,
    )  # fmt: skip


def _words(source: Source, node: Node) -> set[str]:
    """Return the names in a node; a block's number along z, which stays what it is, is none."""
    return {
        source.of(n)
        for n in walk(node, "identifier")
        if n.parent is None or source.plain(n.parent) not in ("blockIdx.z", "gridDim.z")
    }


def _of_thread(source: Source, node: Node) -> bool:
    return bool(_words(source, node) & {"threadIdx", "blockIdx"})


def _changes_later(fn: Function, node: Node, p: Product) -> bool:
    """Return whether a local declared here is changed for each result."""
    return any(
        v.changes and v is not p.loop.variable
        for v in fn.variables.all
        if contains(node, v.name_node)
    )
