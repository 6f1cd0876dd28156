"""Does a candidate leave products with zero out? A limit, said, not refused.

Where an input is zero its product adds nothing, unless the other factor is infinite: then it is
NaN. Who leaves such products out is right for numbers, and so is who pads with zeros. A NaN among
the inputs may be lost so (`runners.regardless`), and an infinity may: but whoever counts on a NaN
to tell of it has to know. So a finalist is run on the small case of `runners.other_values` with a
few infinities in one array of floats at a time, and zeros in a third of all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from runners import limit, zeros_beside
from runners.contents import Combination
from runners.other_values import checking
from runners.spec import JobSpec

# How every note begins, for those that look for it, and the layer of what was right.
LEAVES, LAYER = "leaves products with zero out", "zero products"
MOST_ARRAYS = 4


@dataclass(frozen=True, slots=True)
class Infinite:
    """An array that has infinities, beside others that have zeros."""

    name: str
    combination: Combination

    @property
    def shown(self) -> str:
        """Say which."""
        return f"infinities in {self.name} beside zeros"

    def said(self, words: str) -> str:
        """Return the note that it is a limit."""
        right = f"{LEAVES}, or makes some of its own: right for numbers"
        return limit.said(f"{right}; with {self.shown} {words}")


def others(job: JobSpec, plain: Combination) -> list[list[Infinite]]:
    """Return what is tried: nothing where there are no two arrays to be multiplied."""
    names = [one.name for one in zeros_beside.usable(job.work) if one.elements(plain.case)]
    if len(names) < 2:
        return []
    made = [(name, replace(plain, family=zeros_beside.named(name))) for name in names]
    return [[Infinite(name, one)] for name, one in made[:MOST_ARRAYS]]


check = checking(others, LAYER)
