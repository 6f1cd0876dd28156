"""Where the next edit is tried: Monte Carlo tree search, and what it has to beat."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from optimizer.budget import Strategy

if TYPE_CHECKING:
    from optimizer.tree import Node, Tree

# Constants are tuned on this many of the best candidates, the best of them first.
TUNED_LEADERS = 3
# What `exploit` and `hold` are shares of in a window, which may be of any size.
WHOLE_BATCH = 4

Choose = Callable[["Tree"], "Node | None"]


def chooser(strategy: Strategy, seed: int) -> Choose:
    """Return the function that picks the candidate to edit next; it returns None when none is left.

    All strategies share proposals, budget, racing and confirmation, and differ in this alone.
    """
    if strategy is Strategy.GREEDY:
        return greedy
    if strategy is Strategy.RANDOM:
        return Uniform(seed)
    return mcts


def mcts(tree: Tree) -> Node | None:
    """Follow PUCT; when only given-up subtrees are left, take them up again.

    The first `exploit` of a batch go to the best candidate itself while it still gets on, fewer
    (`hold`) after: edits that pay mostly pay together, and a chain of them is found only as deep
    as it is built.
    """
    if wants_top(tree) and tree.top.expandable:
        return tree.top
    found = tree.select()
    if found is None and tree.root.pending == 0 and tree.reopen():
        return tree.select()
    return found


def wants_top(tree: Tree, judged: int = 0) -> bool:
    """Tell whether the next of a batch, or of a window, is to edit the best candidate itself.

    In a window, as if `judged` of its edits that are under evaluation were known.
    """
    settings, share = tree.settings, share_of_top(tree)
    if settings.window:
        return (tree.top.budding - judged) * WHOLE_BATCH < share * settings.window
    return tree.root.pending < share


def share_of_top(tree: Tree) -> int:
    """Return how many of a batch edit the best candidate itself."""
    settings = tree.settings
    return settings.exploit if tree.top.stale < settings.chase else settings.hold


def greedy(tree: Tree) -> Node | None:
    """Always edit the best candidate so far until nothing is left to do with it."""
    return tree.best_open()


class Uniform:
    """Edits any correct candidate with equal chance."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a simulation, not a secret
        self._open: list[int] = []
        self._known = 0

    def __call__(self, tree: Tree) -> Node | None:
        """Draw one; candidates that are done are forgotten as they are met."""
        self._open.extend(range(self._known, len(tree.nodes)))
        self._known = len(tree.nodes)
        while self._open:
            at = self._random.randrange(len(self._open))
            node = tree.nodes[self._open[at]]
            if node.expandable:
                return node
            self._open[at] = self._open[-1]
            self._open.pop()
        return None


def leaders(tree: Tree) -> Iterator[Node]:
    """Yield the candidates whose constants are worth tuning, best first."""
    best = (tree.nodes[number] for _, number in tree.leaders)
    yield from islice((node for node in best if not node.leaf), TUNED_LEADERS)
