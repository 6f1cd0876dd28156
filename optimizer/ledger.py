"""What this run has learned of its edits: which kinds paid, which failed, and what to try next."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optimizer.budget import SearchSettings
    from optimizer.model import Edit, Proposal

# Tries of a kind weigh this much beside tries of the very same edit elsewhere in the tree.
KIND_WEIGHT = 0.3
# One imaginary try without gain: shrinks what was seen once towards nothing.
PSEUDO_TRIES = 0.5
# A kind that failed this often and never worked is asked last, whatever its prior.
FAILURES_TOLERATED = 2
FAILURE_FACTOR = 0.3
# Two edits of one kind from the same candidate in one batch mostly differ in a number.
SIBLING_FACTOR = 0.6
# The largest gain so far sets the scale of all others, but noise must not: 5 %.
LEAST_SCALE = math.log(1.05)


@dataclass(slots=True)
class Record:
    """Tries of one edit or one kind: how many worked, the sum of their log gains, failures."""

    worked: int = 0
    gain: float = 0.0
    failed: int = 0


@dataclass(slots=True)
class Ledger:
    """Turns a policy's prior into this run's by what happened so far; constant time an edit."""

    settings: SearchSettings
    kinds: dict[str, Record] = field(default_factory=dict)
    edits: dict[tuple[str, str], Record] = field(default_factory=dict)
    scale: float = LEAST_SCALE

    def note(self, edit: Edit, gain: float | None) -> None:
        """Remember the log speedup of an edit over the candidate it was made from; None: failed."""
        for record in (
            self.kinds.setdefault(edit.kind, Record()),
            self.edits.setdefault((edit.kind, edit.title), Record()),
        ):
            if gain is None:
                record.failed += 1
            else:
                record.worked += 1
                record.gain += gain
        if gain is not None:
            self.scale = max(self.scale, gain)

    def expected(self, edit: Edit) -> float:
        """Return the log gain to expect of an edit, shrunk to 0, in units of the best seen."""
        kind = self.kinds.get(edit.kind, _UNTRIED)
        same = self.edits.get((edit.kind, edit.title), _UNTRIED)
        weight = PSEUDO_TRIES + same.worked + KIND_WEIGHT * (kind.worked - same.worked)
        gain = same.gain + KIND_WEIGHT * (kind.gain - same.gain)
        return max(-1.0, gain / weight / self.scale)

    def paid(self, kind: str) -> float:
        """Return how much a kind has paid before, from 0 to 1."""
        record = self.kinds.get(kind, _UNTRIED)
        return max(0.0, record.gain / (record.worked + PSEUDO_TRIES) / self.scale)

    def weight(self, proposal: Proposal, digest: str, siblings: int) -> float:
        """Return how much a proposal deserves to be next.

        `digest` is the candidate's, for the seeded jitter that breaks ties; `siblings` counts
        edits of its kind already chosen from the same candidate in this batch.
        """
        settings, edit = self.settings, proposal.edit
        weight = proposal.prior * SIBLING_FACTOR**siblings
        weight *= math.exp(settings.jitter * gumbel(settings.seed, digest))
        if not settings.transfer:
            return weight
        kind = self.kinds.get(edit.kind, _UNTRIED)
        if kind.failed >= FAILURES_TOLERATED and kind.failed > 2 * kind.worked:
            weight *= FAILURE_FACTOR
        return weight * math.exp(settings.transfer * self.expected(edit))


def gumbel(seed: int, digest: str) -> float:
    """Return a Gumbel variate that depends on seed and candidate alone, not on the order asked."""
    raw = hashlib.blake2b(f"{seed}:{digest}".encode(), digest_size=8).digest()
    uniform = (int.from_bytes(raw) + 0.5) / 2.0**64
    return -math.log(-math.log(uniform))


_UNTRIED = Record()
