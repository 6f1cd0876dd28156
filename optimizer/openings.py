"""Candidates at which an edit becomes possible that nothing tried before had offered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optimizer.model import Proposal
    from optimizer.tree import Node, Tree

# From this prior on a kind of edit is worth a try at once: that of a change of structure which
# nearly always pays where it is legal, or of what findings ask for strongly.
LEAST_PRIOR = 0.7
# Edits that only open the way are found near the root; further down there are many candidates, and
# asking the rules about each costs milliseconds.
DEEPEST = 3
# One that opens the way may cost a little itself: log of the speedup over its parent.
LARGEST_LOSS = 0.05

# Variants of one kind mostly stand together: a row for a warp, or for eight lanes.
EDITS = 2


class Openings:
    """Finds candidates that pay little themselves, but open the way to an edit that promises much.

    A sum kept in a register gains 4 % where it only makes the loop legal to share among lanes,
    which gains fivefold. By their times such candidates are one of many, and might be built upon
    late: the first of each kind is built upon at once, by two of its edits.
    """

    def __init__(self, tree: Tree, foresee: Callable[[Node], Sequence[Proposal]]) -> None:
        self._tree, self._foresee = tree, foresee
        self._looked = 0
        self._offered: set[str] = set()
        self._waiting: list[Node] = []

    def next(self) -> Node | None:
        """Return a candidate to edit next; None when there is none."""
        nodes = self._tree.nodes
        while self._looked < len(nodes):
            node = nodes[self._looked]
            self._looked += 1
            if node.expandable and node.depth <= DEEPEST and _gained(node) >= -LARGEST_LOSS:
                self._look(node)
        while self._waiting:
            node = self._waiting.pop(0)
            if node.expandable:
                return node
        return None

    def _look(self, node: Node) -> None:
        proposals = self._foresee(node)
        promising = {p.edit.kind for p in proposals if p.prior >= LEAST_PRIOR}
        fresh = node.parent is not None and not node.children  # a resumed search has built on it
        if fresh and promising - self._offered:
            self._waiting += [node] * EDITS
        self._offered.update(p.edit.kind for p in proposals)


def _gained(node: Node) -> float:
    above = node.parent.gain if node.parent is not None else None
    return (node.gain or 0.0) - (above or 0.0)
