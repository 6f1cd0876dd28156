"""The tree of candidates: what is known of each, where to look next, what to give up."""

from __future__ import annotations

import bisect
import heapq
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from optimizer.model import Status, Step

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Container, Iterator, Sequence

    from optimizer.budget import SearchSettings
    from optimizer.ledger import Ledger
    from optimizer.model import Edit, Proposal

# A failed child is credited to its ancestors as if it had made its parent a little slower: how it
# failed says nothing about what else can be done with the parent.
FAILURE_DROP = 0.1
# Rewards below this span are noise and are not stretched to fill the scale of the exploration.
LEAST_SPAN = 0.1
# Prior of a child not made yet. Not the queue's own: a resumed search has not asked for that yet.
FRESH_PRIOR = 0.5
# A subtree has got on when its best rose by more than timing noise (1 % of a unit).
PROGRESS = 0.01


@dataclass(slots=True, eq=False)
class Waiting:
    """A proposal not tried yet, with the digest of the candidate it would make."""

    proposal: Proposal
    digest: str


@dataclass(slots=True, eq=False)
class Node:
    """A tried candidate and what the search knows of the tree below it.

    `gain` is its log speedup over the baseline, None where it has none. `pending` counts
    candidates under evaluation below it (Liu et al., Watch the Unobserved, ICLR 2020), `budding`
    those that are its own children. `asked` tells that its queues were filled once, `dry`
    that no policy has more to say, `leaf` that it is not built upon; `stale` counts tries since
    the subtree got on. `upcoming` was drawn from the tuner to look ahead and is what comes next.
    """

    step: Step
    parent: Node | None
    gain: float | None
    depth: int = 0
    visits: int = 0
    total: float = 0.0
    best: float = -math.inf
    pending: int = 0
    budding: int = 0
    stale: int = 0
    dry: bool = False
    leaf: bool = False
    pruned: bool = False
    closed: bool = False
    children: list[Node] = field(default_factory=list)
    asked: bool = False
    queue: list[Waiting] = field(default_factory=list)
    tunes: list[Waiting] = field(default_factory=list)
    tuner: Iterator[Edit] | None = None
    upcoming: list[Waiting] = field(default_factory=list)

    @property
    def expandable(self) -> bool:
        """Tell whether an edit of this very candidate may still be tried."""
        return not self.pruned and (bool(self.queue) or not self.dry)

    def line(self) -> Iterator[Node]:
        """Yield this node and all above it."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent


class Tree:
    """All nodes of one search. Every operation costs the depth and breadth of one path."""

    def __init__(self, root: Step, settings: SearchSettings, ledger: Ledger) -> None:
        self.settings = settings
        self.ledger = ledger
        self.root = Node(root, None, 0.0, visits=1, best=root.reward)
        self.nodes = [self.root]
        self.top = self.root
        self.leaders: list[tuple[float, int]] = [(-root.reward, 0)]  # best first
        self._open = list(self.leaders)

    def add(self, parent: Node, step: Step, gain: float | None, *, leaf: bool = False) -> Node:
        """Hang a tried candidate below the one it was made from and credit what it was worth.

        A failed candidate, and one whose machine code was seen before, is not built upon; neither
        is a `leaf`, whose headroom is spent.
        """
        twin = step.same_as is not None and self.settings.transpositions
        node = Node(step, parent, gain, parent.depth + 1)
        node.dry = leaf or twin or gain is None
        node.leaf = node.dry
        parent.children.append(node)
        self.nodes.append(node)
        if step.verdict.status is Status.NOT_RECORDED:
            node.best = parent.step.reward
        else:
            self._back_up(node)
        if gain is not None:
            bisect.insort(self.leaders, (-step.reward, step.number))
            heapq.heappush(self._open, (-step.reward, step.number))
            if step.reward > self.top.step.reward:
                self.top = node
        self._refresh(node)
        return node

    def select(self) -> Node | None:
        """Walk down by the PUCT rule to the candidate to edit next; None when all is closed."""
        node = self.root
        while not node.closed:
            children = [child for child in node.children if not child.closed]
            if not children:
                return node if node.expandable else None
            scale = self._scale(node)
            best = max((self._puct(child, scale), -at) for at, child in enumerate(children))
            if self.has_room(node) and self._fresh(node, scale) >= best[0]:
                return node
            node = children[-best[1]]
        return None

    def has_room(self, node: Node) -> bool:
        """Widen with visits, more near the root and below kinds of edit that have paid."""
        if not node.expandable:
            return False
        settings = self.settings
        breadth: float = settings.widen * (node.visits + node.pending) ** settings.alpha
        breadth *= settings.depth_decay**node.depth
        if node.step.edit is not None:
            breadth *= 1.0 + settings.payoff * self.ledger.paid(node.step.edit.kind)
        return len(node.children) + node.budding < breadth

    def take(self, queue: list[Waiting], siblings: Counter[str]) -> Waiting:
        """Remove the most deserving proposal from a node's queue, which must hold one.

        `siblings` counts the kinds already taken from the node for the same batch.
        """
        weights = [
            self.ledger.weight(w.proposal, w.digest, siblings[w.proposal.edit.kind]) for w in queue
        ]
        return queue.pop(max(range(len(weights)), key=weights.__getitem__))

    def head(
        self, queue: Sequence[Waiting], siblings: Counter[str], without: Container[str]
    ) -> Waiting | None:
        """Return what `take` would, left where it is; as if those of some digests were gone."""
        return max(
            (waiting for waiting in queue if waiting.digest not in without),
            key=lambda w: self.ledger.weight(w.proposal, w.digest, siblings[w.proposal.edit.kind]),
            default=None,
        )

    def expect(self, node: Node, sign: int) -> None:
        """Mark (+1) or unmark (-1) a candidate as under evaluation below a node."""
        node.budding += sign
        for above in node.line():
            above.pending += sign

    def best_open(self) -> Node | None:
        """Return the candidate of highest reward that may still be edited."""
        while self._open and not self.nodes[self._open[0][1]].expandable:
            heapq.heappop(self._open)
        return self.nodes[self._open[0][1]] if self._open else None

    def exhaust(self, node: Node) -> None:
        """Note that no policy has more to say about a candidate."""
        node.dry = True
        self._refresh(node)

    def revive(self, node: Node) -> None:
        """Note that a policy has more to say about a candidate after all."""
        node.dry = node.leaf
        self._refresh(node)
        heapq.heappush(self._open, (-node.step.reward, node.step.number))

    def reopen(self) -> bool:
        """Take back all pruning, with a fresh measure of patience; False when there was none."""
        pruned = [node for node in self.nodes if node.pruned]
        for node in pruned:
            node.pruned, node.stale = False, 0
        for node in reversed(self.nodes):
            node.closed = _is_closed(node)
        return not self.root.closed and bool(pruned)

    def revalue(self, node: Node, step: Step) -> None:
        """Put a correct candidate's step in the place of the one it had, at another reward."""
        change = step.reward - node.step.reward
        self.leaders.remove((-node.step.reward, step.number))
        node.step = step
        bisect.insort(self.leaders, (-step.reward, step.number))
        heapq.heappush(self._open, (-step.reward, step.number))
        self.top = self.nodes[self.leaders[0][1]]
        for above in node.line():
            above.total += change
            own = above.step.reward if above.gain is not None else -math.inf
            above.best = max([own, *(child.best for child in above.children)])

    def _scale(self, node: Node) -> tuple[float, float]:
        """Return the span of rewards and the weight of exploration below a node.

        Exploration is weak while the best gets on, and grows with the tries since it last did: a
        chain of edits that pay is worth following, a dead end is worth leaving.
        """
        settings = self.settings
        span = max(self.root.best - self.root.step.reward, LEAST_SPAN)
        stalled = max(0.0, self.root.stale / settings.chase - 1.0)
        weight = settings.exploration * (1.0 + settings.stall_boost * stalled**2)
        return span, weight * math.sqrt(node.visits + node.pending)

    def _puct(self, child: Node, scale: tuple[float, float]) -> float:
        """Weigh what is known of a child against how seldom it was tried."""
        span, weight = scale
        mix = self.settings.best_weight
        mean = child.total / child.visits if child.visits else child.best
        value = (mix * child.best + (1.0 - mix) * mean - self.root.step.reward) / span
        return value + weight * child.step.prior / (1 + child.visits + child.pending)

    def _fresh(self, node: Node, scale: tuple[float, float]) -> float:
        """Return the same for a child not made yet: worth its parent until it is known better."""
        span, weight = scale
        value = (node.step.reward - self.root.step.reward) / span
        return value + weight * FRESH_PRIOR / (1 + len(node.children) + node.budding)

    def _back_up(self, node: Node) -> None:
        reward, parent = node.step.reward, node.parent
        credit = reward
        if node.gain is None and parent is not None:
            credit = parent.step.reward - FAILURE_DROP
        for above in node.line():
            above.visits += 1
            above.total += reward if above is node else credit
            if node.gain is not None and reward > above.best + PROGRESS:
                above.stale = 0
            elif above is not node:
                above.stale += 1 if node.gain is not None else 2
            above.best = max(above.best, reward if node.gain is not None else -math.inf)
        if node.gain is None:
            node.best = reward
        if self.settings.prune:
            self._prune(node)

    def _prune(self, node: Node) -> None:
        """Close the highest subtree on the line that keeps failing and does not hold the best."""
        for above in node.line():
            if above.parent is not None and above.best < self.root.best:
                above.pruned = above.pruned or above.stale >= self.settings.patience

    def _refresh(self, node: Node) -> None:
        for above in node.line():
            above.closed = _is_closed(above)


def _is_closed(node: Node) -> bool:
    if node.pruned:
        return True
    return not node.expandable and all(child.closed for child in node.children)
