"""A winner without the edits that brought nothing: what a reviewer reads has to pay for itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from optimizer.expansion import Candidate
from optimizer.merging import merge, merge_launches
from optimizer.model import Proposal
from optimizer.significance import speedup
from optimizer.tools import Event, Stage

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from optimizer.budget import Meter
    from optimizer.expansion import Expansion
    from optimizer.model import Edit, Kernel, Step, Verdict
    from optimizer.tree import Node, Tree

# An edit whose own log gain is below this is taken out on trial. Screening intervals of 4 to 12
# blocks are 1 to 2 % wide, so the trial, not this figure, tells whether it paid.
LITTLE = 0.015
# A shorter winner may be this much slower, in log speedup: what screening can just tell.
TOLERATED = 0.01


class Shortening:
    """Tries a winner without its idle edits. `hang` judges a verdict and grows the tree by it.

    No more is tried where fewer than `kept` seconds are left of a time budget.
    """

    def __init__(
        self,
        tree: Tree,
        expansion: Expansion,
        meter: Meter,
        hang: Callable[[Candidate, Step, Verdict], Node],
        kept: float = 0.0,
    ) -> None:
        self.tree, self.expansion, self.meter, self.hang = tree, expansion, meter, hang
        self.kept = kept

    def shortened(self, ranked: Sequence[Step]) -> list[Step]:
        """Put the best without its idle edits in front of it, where that is as fast."""
        line = list(self.tree.nodes[ranked[0].number].line())[::-1]
        fast = math.log(speedup(ranked[0].verdict.measurement) or 1.0)
        dropped = idle(line)
        self.meter.reserve_evaluations = 0
        while dropped and self.meter.all_seconds_left > self.kept:
            edits = without(line, {node.step.number for node in dropped})
            last = self._tried(edits) if edits else None
            if last is not None and last.gain is not None and last.gain >= fast - TOLERATED:
                return [last.step, *ranked]
            dropped = dropped[: len(dropped) // 2]  # those that gained least
        return list(ranked)

    def _tried(self, edits: Sequence[tuple[Node, Edit]]) -> Node | None:
        """Try a line of edits from the root; None when one of them fails or the budget does.

        Each is measured, so that what is told of an edit is its gain in this line.
        """
        known = {node.step.kernel.digest: node for node in self.tree.nodes}
        line = list[Candidate]()
        at = self.tree.root.step.kernel
        for node, edit in edits:
            at = edit.apply(at)
            proposal = Proposal(edit, node.step.prior)
            line.append(Candidate(node.parent or node, proposal, at, at.digest))
        fresh = [candidate for candidate in line if candidate.digest not in known]
        if len(fresh) > self.meter.left:
            return None
        self.expansion.on_event(Event(Stage.SHORTENING, (), self.meter.left))
        verdicts = {one.digest: got for one, got in self.expansion.verdicts(fresh, len(fresh))}
        node = self.tree.root
        for candidate in line:
            seen = known.get(candidate.digest)
            node = seen or self.hang(candidate, node.step, verdicts[candidate.digest])
            known[candidate.digest] = node
        return node if all(above.gain is not None for above in node.line()) else None


def idle(line: Sequence[Node]) -> list[Node]:
    """Return the nodes of a line, root first, whose own edit gained little; least gain first."""
    gains = [
        ((node.gain or 0.0) - (before.gain or 0.0), node)
        for before, node in itertools.pairwise(line)
    ]
    found = [(gain, node) for gain, node in gains if gain < LITTLE]
    return [node for _, node in sorted(found, key=lambda pair: (pair[0], -pair[1].step.number))]


def without(line: Sequence[Node], dropped: AbstractSet[int]) -> list[tuple[Node, Edit]] | None:
    """Return the edits of a line made again without some of them, in order.

    `line` starts at the root; `dropped` holds step numbers. Each edit is paired with the node it
    comes from and holds the source it now leads to. None when an edit cannot be made without one
    that is dropped, as both change the same words.
    """
    at = line[0].step.kernel
    found: list[tuple[Node, Edit]] = []
    for before, node in itertools.pairwise(line):
        if node.step.number in dropped or node.step.edit is None:
            continue
        edit = _again(node.step.edit, before.step.kernel, node.step.kernel, at)
        if edit is None:
            return None
        found.append((node, edit))
        at = edit.apply(at)
    return found


def _again(edit: Edit, before: Kernel, after: Kernel, at: Kernel) -> Edit | None:
    source = merge(before.source, at.source, after.source)
    if source is None:
        return None
    try:
        launch = merge_launches(before.launch, at.launch, after.launch)
    except ValueError:
        return None
    return replace(edit, source=source, launch=launch)
