"""A window of candidates under evaluation, for many machines: one is chosen when one is judged.

Whole batches leave machines idle at the end of each, and while the next is compiled. In a window
each candidate is chosen before the `window - 1` ahead of it are known, and judged in the order
chosen. So the window decides the tree, and the number of machines does not.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING

from optimizer.lookahead import Asked

if TYPE_CHECKING:
    from optimizer.expansion import Candidate, Expansion
    from optimizer.model import Verdict
    from optimizer.strategies import Choose
    from optimizer.tree import Tree


class Rolling:
    """What is under evaluation, the oldest first. Each weighs as a virtual loss in the tree."""

    def __init__(self, tree: Tree, expansion: Expansion, choose: Choose) -> None:
        self._tree, self._expansion, self._choose = tree, expansion, choose
        self._under: deque[tuple[Candidate, Asked | Verdict]] = deque()
        self._siblings: dict[int, Counter[str]] = defaultdict(Counter)
        self._added = 0

    def __len__(self) -> int:
        return len(self._under)

    def add(self, *, tuning: bool) -> bool:
        """Choose one more candidate and send it off; False when nothing is left to choose now."""
        # As in batches, of two candidates one may be what a policy found late.
        late = self._added % 2 == 1
        candidate = self._expansion.one(self._choose, self._siblings, tuning=tuning, late=late)
        if candidate is None:
            return False
        self._added += 1
        number, kind = candidate.parent.step.number, candidate.proposal.edit.kind
        self._siblings[number][kind] += 1
        self._tree.expect(candidate.parent, 1)
        self._under.append((candidate, self._expansion.sent(candidate)))
        return True

    def next(self) -> tuple[Candidate, Verdict]:
        """Return the oldest candidate with its verdict, waiting for it."""
        oldest = self._under[0][1]
        if isinstance(oldest, Asked) and not oldest.ready:
            self._expansion.follow([candidate for candidate, _ in self._under])
        candidate, asked = self._under.popleft()
        number, kind = candidate.parent.step.number, candidate.proposal.edit.kind
        self._siblings[number][kind] -= 1
        self._tree.expect(candidate.parent, -1)
        return candidate, asked.verdict if isinstance(asked, Asked) else asked
