"""One key in long rows, and amounts that are all at the upper ends of their ranges.

What is added up for each key of a row may be held in 16 bits: drawn from a range, 8,000 bookings of
400 days change a day by 160 guests, and all of them on one day by 64,000. Piles elsewhere are as
high as the time of an original allows (`runners.piled_up`), and are asked along one size while the
others stay large; amounts at their ends are all there is in long rows elsewhere
(`runners.long_ends`), with keys at the ends of their range, too, which may be beyond all places.
Here rows are as long as a candidate has to be right for, each key is one that there is in any case,
a low one or one from the middle, and all else is at its last number.

Which originals are asked is in `runners.unlikely`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runners import end_contents, full_counts, piles, sizes
from runners.cuda_types import values
from runners.inputs import Arrays, interleave
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import alike

KEYS = LOW, MIDDLE = "low", "middle"
# What there is of all keys at any size.
LOW_KEY = 1

Case = Mapping[str, float]


def keys(work: Work) -> list[Range]:
    """Return the arrays of keys, of more than one number."""
    return [one for one in piles.read(work) if one[2] > one[1] and piles.is_key(work, one)]


def cases(work: Work) -> Iterator[Case]:
    """Yield cases with rows of keys as long as may be, the others as in the smallest declared one.

    So that there are days to be changed; few of them where that is too much.
    """
    ordered = sorted((case.values for case in work.cases), key=work.elements)
    declared = ordered[-1]
    for line in full_counts.cases(work):
        few = line[-1]
        longer = [one for one in keys(work) if _row(one, few) > _row(one, declared)]
        if not longer:
            continue
        (name,) = [n for n in few if few[n] > declared[n]][:1] or [""]
        more = {**ordered[0], name: few[name]} if name else few
        fits = 0 < sizes.elements(work, more) <= full_counts.MOST_ELEMENTS
        yield more if fits else few


def _row(one: Range, case: Case) -> int:
    return end_contents.row(one, case)


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays that are only read as one number each: keys as a family says, others high."""
    del seed
    out = dict(arrays)
    known = {one[0].name for one in keys(work)}
    for one in piles.read(work):
        argument, low, high = one
        number = high
        if argument.name in known:
            number = _middle(work, one, case) if family.endswith(MIDDLE) else LOW_KEY
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            some = alike(field, low, high, len(data)) if argument.name in known else len(data)
            data[:some] = piles.within(number, low, high)
            parts.append(data)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _middle(work: Work, one: Range, case: Case) -> int:
    """Return half of a range of keys, or of the size that it ends beside where that is less."""
    _, low, high = one
    ends = [high]
    for name, value in case.items():
        declared = [spec.values.get(name, 0.0) for spec in work.cases]
        if any(piles.beside(high, size) for size in declared):
            ends.append(int(value) - 1)
    return max(low, min(ends)) // 2
