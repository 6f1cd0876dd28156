"""Does a candidate leave products with zero out? A limit, said, not refused.

Where an input is zero its product adds nothing, unless the other factor is infinite: then it is
NaN. Who leaves such products out is right for numbers, and so is who pads with zeros. A NaN among
the inputs may be lost so (`runners.regardless`), and an infinity may: but whoever counts on a NaN
to tell of it has to know. So a finalist is run on the small case of `runners.other_values` with a
few infinities in one array of floats at a time, and zeros in a third of all others; and then beside
nothing but zeros in one other array, each tile of which is blank: some pass over whole ones alone.
A factor of whole rows may be much shorter than what it is multiplied by, and the first that is
looked at (`quarry/gain_zero` of the red team): all that are left are zeros at once, behind those.
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
# Other arrays that are all zeros beside it, each by itself, the longest first; then all that are
# shorter, at once: what is added or scales.
MOST_BLANK = 2


@dataclass(frozen=True, slots=True)
class Infinite:
    """An array that has infinities, beside others that have zeros."""

    name: str
    combination: Combination

    @property
    def shown(self) -> str:
        """Say which."""
        blank = zeros_beside.blank(self.combination.family)
        return f"infinities in {self.name} beside zeros" + (f" in all of {blank}" if blank else "")

    def said(self, words: str) -> str:
        """Return the note that it is a limit."""
        right = f"{LEAVES}, or makes some of its own: right for numbers"
        return limit.said(f"{right}; with {self.shown} {words}")


def others(job: JobSpec, plain: Combination) -> list[list[Infinite]]:
    """Return what is tried: nothing where there are no two arrays to be multiplied.

    Beside nothing but zeros nearly all results may be NaN, and which whole number that leads to
    depends on how it is compared: only originals of floats are asked.
    """
    counts = {one.name: one.elements(plain.case) for one in zeros_beside.usable(job.work)}
    names = [name for name, count in counts.items() if count]
    if len(names) < 2:
        return []
    longest = sorted(names, key=counts.__getitem__, reverse=True)
    floats = all(map(zeros_beside.floats, (one for one in job.work.arguments if one.written)))
    found = []
    for name in names[:MOST_ARRAYS]:
        rest = [one for one in longest if one != name] if floats else []
        blank = [*([one] for one in rest[:MOST_BLANK]), rest[MOST_BLANK:]]
        families = [zeros_beside.named(name)]
        families += [zeros_beside.named(name, *some) for some in blank if some]
        found.append([Infinite(name, replace(plain, family=family)) for family in families])
    return found


check = checking(others, LAYER)
