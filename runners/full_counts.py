"""Equal whole numbers along sizes as long as a candidate has to be right: counts in few bits.

What counts in a byte of a word, or adds up in 16 bits, is right up to so many places that are
alike, and no declared size has as many: 24 neighbours have 24 votes at most, and 384 are asked for.
By chance few of them are alike, and numbers of a range that was declared for other sizes may be
none of this one's. So each size is tried as long as it may be, the others small, with one small
number in every place: the same in all arrays, and another one in each. A power of two leaves
nothing of such a count, any other length a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runners import sizes
from runners.cuda_types import values
from runners.families import SAME, UNLIKE, drawn, ranges
from runners.inputs import Arrays, interleave
from runners.spec import Work
from runners.whole_families import alike

# Elements of all buffers there, and how many variables are tried.
MOST_ELEMENTS, MOST_NAMES = 1 << 20, 2
# A size below it is never as long as 8 bits hold.
LEAST = (1 << 8) // sizes.TIMES_LONGER
# What whole numbers without a range are drawn from.
UNRANGED = (0, 99)


def cases(work: Work) -> Iterator[list[dict[str, float]]]:
    """Yield, for each size, cases in which it is that long, the shorter first."""
    found = 0
    for name in sorted(sizes.sizing(work), key=lambda name: grows(work, name)):
        value = int(sizes.largest(work, name))
        if value < LEAST or found == MOST_NAMES:
            continue
        top = sizes.TIMES_LONGER * value
        power = 1 << top.bit_length() - 1
        lengths = sorted({power, top - 1 if top == power else top})
        for others in sizes.few_others(work, name):
            line = [{**others, name: float(length)} for length in lengths]
            fit = [case for case in line if 0 < sizes.elements(work, case) <= MOST_ELEMENTS]
            if fit:
                found += 1
                yield fit
                break


def grows(work: Work, name: str) -> bool:
    """Tell whether there are more results by a size: what is added up along it comes first."""
    first = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    longer = {**first, name: first[name] + 1}
    written = [argument for argument in work.arguments if argument.written]
    return any(sizes.buffer(one, longer) > sizes.buffer(one, first) for one in written)


def asked(work: Work) -> Iterator[tuple[dict[str, float], str]]:
    """Yield the cases and families that are asked of whole numbers that are drawn at random."""
    many = sum(1 for _ in drawn(work))
    if not many:
        return
    for line in cases(work):
        for family in (SAME, UNLIKE) if many > 1 else (SAME,):
            yield from ((case, family) for case in line)


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays that are one whole number each; of indices no more than `HOT` are."""
    del seed, case
    out = dict(arrays)
    bounds = {argument.name: (low, high) for argument, low, high in ranges(work)}
    for number, argument in enumerate(drawn(work)):
        low, high = bounds.get(argument.name, UNRANGED)
        value = min(high, max(low, 1 + number if family == UNLIKE else 1))
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            # Threads that exchange a word until it holds meet in the place of an index.
            data[: alike(field, low, high, len(data))] = value
            parts.append(data)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out
