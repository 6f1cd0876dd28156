"""Keeps all machines busy: evaluates what would probably be tried next while others still run.

What is tried, and in which order, the search alone decides, from the verdicts of whole batches or
of those that have left its window.
A verdict that was asked for ahead is used if its candidate is chosen after all, and else forgotten:
so the number of machines changes the time and never the tree.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optimizer.interfaces import Revocable, Underway
from optimizer.strategies import leaders, share_of_top, wants_top

if TYPE_CHECKING:
    from optimizer.model import Kernel, Verdict
    from optimizer.tree import Node, Tree, Waiting

# So many times the width is looked ahead: what was asked already is met again on the way.
FORESEEN = 3
# And never further than this: what comes later depends on too much of what is not known yet.
MOST_FORESEEN = 128
# Of many machines this share may be idle before the next are given work, since looking costs time.
IDLE_SHARE = 1 / 16


@dataclass(frozen=True, slots=True)
class Asked:
    """A verdict that was asked for: in which sequence, and where in it. It may not be in yet."""

    answers: Sequence[Verdict]
    place: int

    @property
    def ready(self) -> bool:
        """Tell whether looking at it would not wait."""
        return not isinstance(self.answers, Underway) or self.answers.ready(self.place)

    def prefer(self, *, urgent: bool) -> None:
        """Have it run before, or after, those that are not so."""
        if isinstance(self.answers, Underway):
            self.answers.prefer(self.place, urgent)

    def cancel(self) -> None:
        """Have it not run, where that can still be had."""
        if isinstance(self.answers, Revocable):
            self.answers.cancel(self.place)

    @property
    def verdict(self) -> Verdict:
        """Return it, waiting for it where it is not in yet."""
        return self.answers[self.place]


class Lookahead:
    """Asks ahead for as many verdicts as machines would else be idle.

    `width` is how many candidates the machines work on at once; `ask` sends kernels to the
    evaluator without waiting, `fit` tells whether a candidate may be run at all. `waiting` returns
    what may be tried next at a node, `tunes` its constants, those first that go first,
    and `begin` has kernels compiled that nobody has asked about.
    """

    def __init__(
        self,
        tree: Tree,
        width: Callable[[], int],
        ask: Callable[[Sequence[Kernel]], Sequence[Verdict]],
        fit: Callable[[str, Kernel], bool],
        waiting: Callable[[Node], Sequence[Waiting]],
        tunes: Callable[[Node], Iterable[Sequence[Waiting]]],
        begin: Callable[[Sequence[Kernel]], object],
    ) -> None:
        self._tree, self._width, self._ask, self._fit = tree, width, ask, fit
        self._waiting, self._tunes, self._begin = waiting, tunes, begin
        self._begun: set[str] = set()
        self._asked: dict[str, Asked] = {}
        self._queues: dict[int, Sequence[Waiting]] = {}
        self.tuning = False

    def take(self, digest: str) -> Asked | None:
        """Return what was asked ahead for a candidate, if it was, and have it hurried."""
        asked = self._asked.pop(digest, None)
        if asked is not None:
            asked.prefer(urgent=True)
        return asked

    def fill(self, running: int, left: int, first: Sequence[tuple[Node, Waiting]] = ()) -> None:
        """Ask for more while fewer than `width` are at work; `running` are not asked ahead.

        At most `left` are foreseen, `first` of them before all others.
        """
        width = self._width()
        if width <= 1:
            return
        idle = width - running - sum(not asked.ready for asked in self._asked.values())
        if idle <= IDLE_SHARE * width:
            return
        found: dict[str, Kernel] = {}
        least = min(left, FORESEEN * width, MOST_FORESEEN)
        for node, waiting in self._foreseen(first, least):
            if waiting.digest in self._asked or waiting.digest in found:
                continue
            kernel = waiting.proposal.edit.apply(node.step.kernel)
            if self._fit(waiting.digest, kernel):
                found[waiting.digest] = kernel
                if len(found) == idle:
                    break
        if found:
            answers = self._ask(list(found.values()))
            for place, digest in enumerate(found):
                self._asked[digest] = asked = Asked(answers, place)
                asked.prefer(urgent=False)

    def prepare(self, first: Sequence[tuple[Node, Waiting]], count: int) -> None:
        """Have compiled what one GPU will be given next, `count` candidates, `first` before others.

        It judges one candidate after the other, and would else wait for a compiler at the beginning
        of each batch. Where several candidates are worked on at once, these are asked ahead.
        """
        if self._width() > 1:
            return
        foreseen = itertools.islice(self._foreseen(first, count), count)
        self._have_compiled(list(foreseen))

    def _have_compiled(self, foreseen: Sequence[tuple[Node, Waiting]]) -> None:
        found = []
        for node, waiting in foreseen:
            if waiting.digest not in self._begun:
                self._begun.add(waiting.digest)
                kernel = waiting.proposal.edit.apply(node.step.kernel)
                if self._fit(waiting.digest, kernel):
                    found.append(kernel)
        if found:
            self._begin(found)

    def follow(self, under: Sequence[tuple[Node, str]], count: int) -> None:
        """Have compiled what a window will take up next, `count` candidates at most.

        `under` are its candidates under evaluation, the oldest first: which node each edits, by an
        edit of which kind. None of it is judged ahead: on four GPUs a tenth of what they did was
        for nothing then.
        """
        if self._width() <= 1:
            return
        self._have_compiled(list(self._following(under, count)))

    def _following(
        self, under: Sequence[tuple[Node, str]], count: int
    ) -> Iterator[tuple[Node, Waiting]]:
        """Yield what a window would take up next if nothing under evaluation got on.

        One leaves it, the oldest, before each that is chosen.
        """
        drawn = set[str]()
        siblings: dict[int, Counter[str]] = defaultdict(Counter)
        for node, kind in under:
            siblings[node.step.number][kind] += 1
        judged: Counter[int] = Counter()
        spent: set[int] = set()
        with self._expecting() as expect:
            for oldest, kind in under[:count]:
                judged[oldest.step.number] += 1
                siblings[oldest.step.number][kind] -= 1
                found = self._one(judged, siblings, drawn, spent)
                if found is None:
                    return
                node, waiting = found
                siblings[node.step.number][waiting.proposal.edit.kind] += 1
                drawn.add(waiting.digest)
                if not self.tuning:
                    expect(node)
                yield node, waiting

    @contextmanager
    def _expecting(self) -> Iterator[Callable[[Node], None]]:
        """Give what counts a candidate as under evaluation below a node; all is taken back."""
        with ExitStack() as taken_back:

            def expect(node: Node) -> None:
                self._tree.expect(node, 1)
                taken_back.callback(self._tree.expect, node, -1)

            yield expect

    def _one(
        self,
        judged: Counter[int],
        siblings: Mapping[int, Counter[str]],
        drawn: Container[str],
        spent: set[int],
    ) -> tuple[Node, Waiting] | None:
        """Return what a window would take up now; `judged` counts by node what left it before."""
        tree = self._tree
        if self.tuning:
            for node in leaders(tree):
                for queue in self._tunes(node) if node.asked else ():
                    waiting = tree.head(queue, Counter(), drawn)
                    if waiting is not None:
                        return node, waiting
        while True:
            top = tree.top.step.number
            wanted = top not in spent and wants_top(tree, judged[top])
            edited = tree.top if wanted else self._next(tree.settings.batch, spent)
            if edited is None:
                return None
            taken = siblings[edited.step.number]
            waiting = tree.head(self._queue(edited), taken, drawn)
            if waiting is not None:
                return edited, waiting
            spent.add(edited.step.number)

    def _foreseen(
        self, first: Sequence[tuple[Node, Waiting]], least: int
    ) -> Iterator[tuple[Node, Waiting]]:
        """Yield what would be tried next if nothing that runs now got on, `least` or some more.

        Places of the batches to come are given away as the search does it, with a virtual loss
        (`Tree.expect`) for each; all of these are taken back.
        """
        tree = self._tree
        yield from first
        if self.tuning:
            asked = (node for node in leaders(tree) if node.asked)
            yield from ((node, one) for node in asked for one in self._waiting(node))
        drawn = {waiting.digest for _, waiting in first}
        spent: set[int] = set()
        siblings: dict[int, Counter[str]] = defaultdict(Counter)
        with self._expecting() as expect:
            while len(drawn) < least:
                at = len(drawn) % tree.settings.batch
                if at == 0:
                    siblings.clear()
                node = self._next(at, spent)
                if node is None:
                    return
                taken = siblings[node.step.number]
                waiting = tree.head(self._queue(node), taken, drawn)
                if waiting is None:
                    spent.add(node.step.number)
                    continue
                taken[waiting.proposal.edit.kind] += 1
                drawn.add(waiting.digest)
                expect(node)
                yield node, waiting

    def _next(self, at: int, spent: Container[int]) -> Node | None:
        """Return the candidate that the next edit would be made of; `at` is its place in a batch.

        Where nothing is known to wait at that one it is the best at which something may.
        """
        tree = self._tree
        if at < share_of_top(tree) and tree.top.step.number not in spent:
            return tree.top
        node = tree.select()
        if node is not None and node.step.number not in spent:
            return node
        best = (number for _, number in tree.leaders if number not in spent)
        return next((tree.nodes[n] for n in best if tree.nodes[n].expandable), None)

    def _queue(self, node: Node) -> Sequence[Waiting]:
        """Return what waits at a candidate, or will: worked out once, until it is asked."""
        if node.asked:
            return self._waiting(node)
        number = node.step.number
        if number not in self._queues:
            self._queues[number] = self._waiting(node)
        return self._queues[number]
