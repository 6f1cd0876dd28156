"""Which originals are asked about whole numbers in shapes that chance does not make, and where.

Rows that are twins but for a place or two (`runners.twins`), or that no polynomial hash tells apart
(`runners.balanced`), numbers that number theory knows (`runners.special_numbers`), or that come
again at the far end of a long row (`runners.recurring`), sets of bits that are nearly full or
nearly empty (`runners.bit_masks`), arrays that lead on from each other (`runners.derivations`), one
number that is most of a very long row (`runners.frequent`), and one key with high amounts in all of
it (`runners.full_piles`). All of them are within what was declared.

Those that make whole numbers of whole numbers: of floats equal rows may be the end of a domain, as
the angle between two of them is an arc cosine of nearly one. And where much is added up, as long as
that fits into their words: beyond, another order of it gives another result of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from runners import (
    balanced,
    bit_masks,
    capacities,
    derivations,
    frequent,
    full_piles,
    long_ends,
    opposed,
    piles,
    recurring,
    sizes,
    special_numbers,
    twins,
)
from runners.contents import Combination
from runners.families import BALANCED, FREQUENT, FULL_PILES
from runners.spec import Work
from runners.whole_families import exact

# The longest row of which one number is most: all that may be alike, and as many others behind
# them. Elements of all buffers there, and sizes that are tried.
LONGEST_ROW, MOST_ELEMENTS, MOST_NAMES = 1 << 17, 1 << 20, 2


def combinations(work: Work, seed: int) -> Iterator[Combination]:
    """Yield what is asked in a confirmation, where the original is likely to be quick."""
    if not exact(work):
        return
    for case in twins.cases(work):
        yield from (Combination(case, family, seed) for family in twins.FAMILIES)
    yield from (Combination(case, BALANCED, seed) for case in balanced.cases(work))
    yield from (Combination(case, family, seed) for case, family in special_numbers.asked(work))
    yield from (Combination(case, family, seed) for case, family in recurring.asked(work))
    yield from (Combination(case, family, seed) for case, family in derivations.asked(work))
    yield from (Combination(case, FREQUENT, seed) for case in _long_rows(work))
    for case, family in bit_masks.asked(work):
        yield from (Combination(case, family, seed + turn) for turn in range(bit_masks.TURNS))
    if not opposed.whole(work) or not full_piles.keys(work) or not piles.amounts(work):
        return
    for case in full_piles.cases(work):
        if long_ends.fits(work, case):
            kinds = (f"{FULL_PILES} {key}" for key in full_piles.KEYS)
            yield from (Combination(case, kind, seed) for kind in kinds)


def _long_rows(work: Work) -> Iterator[dict[str, float]]:
    """Yield a case for each size that makes rows longer, the others as declared where they may be.

    Sixteen times as long as declared, as far as that is no longer than needed.
    """
    for name in capacities.lengthening(work)[:MOST_NAMES]:
        length = min(sizes.TIMES_LONGER * sizes.largest(work, name), float(LONGEST_ROW))
        if length < frequent.SHORTEST_ROW:
            continue
        every = sorted(work.cases, key=lambda case: -sizes.elements(work, case.values))
        tried = [*(dict(case.values) for case in every), *sizes.few_others(work, name)]
        line = ({**others, name: length} for others in tried)
        yield from [one for one in line if 0 < sizes.elements(work, one) <= MOST_ELEMENTS][:1]
