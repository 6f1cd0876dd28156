"""Flat sizes sixteen times as long as declared, where all that is counted meets in one place.

What a block counts in 16 bits runs over where it meets more than 65535 of one kind: of sixteen
million elements and 132 blocks some do, and where results are few they meet in few places. In
other long cases elements are fewer (`runners.longest`), or the places nine, or more. So where an
output does not grow by a flat size but by another variable, that one is one: first as long as
declared, which tells what the longest may take (`runners.capacities`), and then as long as a
candidate has to be right, as far as memory goes.

Of originals in whole numbers alone that exchange no word until it holds, that have no keys which
end with a size, and whose sums fit into their words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runners import longest, opposed, piles, sizes
from runners.contents import Combination
from runners.families import LONGEST
from runners.spec import JobSpec, Work
from runners.text import LONGEST as LONGEST_TEXT

# Elements of all buffers, and bytes; so many times as long as other cases are, at least.
MOST_ELEMENTS, MOST_BYTES, LEAST_TIMES = 1 << 26, 1 << 29, 2
_EXCHANGE = re.compile(r"CAS|Exch|compare_exchange|volatile", re.ASCII | re.IGNORECASE)


def combinations(job: JobSpec) -> list[Combination]:
    """Return what a candidate is asked, with declared contents: two lengths of one flat size."""
    work, text = job.work, job.baseline.source
    if not opposed.whole(work) or len(text) > LONGEST_TEXT or _EXCHANGE.search(text):
        return []
    if any(piles.is_key(work, one) for one in piles.read(work)):
        return []
    return [Combination(case, LONGEST, job.seed) for case in next(_cases(work), [])]


def _cases(work: Work) -> Iterator[list[dict[str, float]]]:
    """Yield the two cases of each flat size by which not all results grow, the shorter first."""
    known = [case for line in longest.cases(work) for case in line]
    declared = max((case.values for case in work.cases), key=work.elements)
    for name in sizes.sizing(work):
        fewer = [one for one in sizes.sizing(work) if one != name and _places(work, one, name)]
        if not fewer:
            continue
        others = {**next(sizes.few_others(work, name)), **dict.fromkeys(fewer, 1.0)}
        top = sizes.TIMES_LONGER * int(sizes.largest(work, name)) - 1
        if not _there_is_room(work, {**others, name: float(top)}):
            continue
        if all(LEAST_TIMES * case[name] <= top for case in known):
            line = [{**others, name: size} for size in (declared[name], float(top))]
            if all(opposed.fits(work, case) for case in line):
                yield line


def _places(work: Work, by: str, name: str) -> bool:
    """Tell whether there are results that grow by one variable, and not by another."""
    first = max((case.values for case in work.cases), key=work.elements)

    def grows(one: str) -> set[str]:
        more = {**first, one: first[one] + 1}
        return {a.name for a in piles.written(work) if a.elements(more) > a.elements(first)}

    return bool(grows(by) - grows(name))


def _there_is_room(work: Work, case: dict[str, float]) -> bool:
    fit = longest.MOST_ELEMENTS < sizes.elements(work, case) <= MOST_ELEMENTS
    return fit and longest.total_bytes(work, case) <= MOST_BYTES
