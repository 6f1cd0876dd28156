"""Many elements that all meet in one place, with numbers at the ends of their ranges.

A block's sums fit into 32 bits, and its counts into 12, as long as what it meets is of many kinds:
two million records of 640 colonies, and each change up to a million. Of one colony alone they do
not. Where all of an array is one key, as of what may be an index, that is no more than `HOT` of
them in all other families: threads that exchange a word until it holds take a time there that
grows with their square. So these are asked apart, the lowest piles first (`runners.piled_up`),
since what one takes tells what the next may.

A key is small: a number that there is at any size, as the end of a declared range need not be.
What is no key is an amount. One of these arrays, by turns of the seed, is all near zero (`PILED`),
all one more or one less (`PILED_MORE`, `PILED_LESS`), or at the last or the first number of its
range (`PILED_LAST`, `PILED_FIRST`), the others are all one. Of an original that only adds up, the
first three tell what comes of an end, if what it adds up in its own words fits into them.
"""

from __future__ import annotations

from collections.abc import Mapping

from runners import sizes
from runners.cuda_types import SCALARS, values
from runners.families import (
    PILED,
    PILED_FIRST,
    PILED_LAST,
    PILED_LESS,
    PILED_MORE,
    ranges,
)
from runners.inputs import Arrays, interleave
from runners.spec import Argument, Work
from runners.whole_families import HOT, LEAST_WIDE, MOST_INDEXED
from runners.whole_numbers import row_lengths

# What is no key may be far below zero, and a range of keys ends this near to a size or a row.
LEAST_KEY, BESIDE, BESIDE_PART = -16, 2, 8
# Words in which sums of an original are worked out that has no wider ones.
WORD = 1 << 31

Range = tuple[Argument, int, int]


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays that are only read as one number each: keys that are small, and amounts."""
    del case
    every = amounts(work)
    chosen = every[seed % len(every)][0].name if every else ""
    out = dict(arrays)
    for argument, low, high in read(work):
        near = within(0, low, high)
        number = within(1, low, high)
        if argument.name == chosen:
            number = {
                PILED: near,
                PILED_MORE: near + 1,
                PILED_LESS: near - 1,
                PILED_LAST: high,
                PILED_FIRST: low,
            }[family]
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            data[:] = within(number, low, high)
            parts.append(data)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def within(number: int, low: int, high: int) -> int:
    """Return the number of a range that is nearest to one."""
    return min(high, max(low, number))


def last(one: Range, case: Mapping[str, float]) -> int:
    """Return the last number of a range in a case, where a variable may be its end."""
    argument, low, high = one
    return max(low, int(argument.init_at(case).rpartition(":")[2]) - 1) if argument.end else high


def read(work: Work) -> list[Range]:
    """Return the arrays of whole numbers with a range that are only read, with their ends."""
    return [one for one in ranges(work) if not one[0].written]


def words(work: Work) -> int:
    """Return what sums of an original have room for, signs and all: no words of it are wider."""
    widths = [field.scalar.size for one in written(work) for field in one.type.fields]
    return 2 * WORD**2 if work.wide and max(widths, default=0) > LEAST_WIDE else WORD


def written(work: Work) -> list[Argument]:
    """Return the arrays of results."""
    return [one for one in work.arguments if one.type.pointer and one.written]


def few_digits(work: Work) -> bool:
    """Tell whether results are floats of fewer digits than 32 bits have.

    Sums in them come to a halt where much meets, and nobody can work out what is right.
    """
    fields = [field.scalar for one in written(work) for field in one.type.fields]
    return any(one.kind == "f" and one.roundoff > SCALARS["float"].roundoff for one in fields)


def whole_results(work: Work) -> bool:
    """Tell whether all results are whole numbers that are no narrow ones: these are exact."""
    fields = [field for one in written(work) for field in one.type.fields]
    whole = (f.scalar.kind in "iu" and f.scalar.size >= LEAST_WIDE for f in fields)
    return bool(fields) and all(whole)


def amounts(work: Work) -> list[Range]:
    """Return the arrays that are no keys, and of more than one number."""
    return [one for one in read(work) if one[2] > one[1] and not is_key(work, one)]


def meet(work: Work, one: Range, case: Mapping[str, float]) -> bool:
    """Tell whether of such an array more meet in one place here than in all other families.

    They are keys, or amounts that are all added up, of which those families have no more than
    `HOT` alike. Narrow keys are alike there, but for what they have with them.
    """
    argument, low, high = one
    if sizes.buffer(argument, case) <= HOT:
        return False
    wide = all(field.scalar.size >= LEAST_WIDE for field in argument.type.fields)
    if is_key(work, one):
        return wide or bool(amounts(work))
    rows = row_lengths(argument.shape or "1", case)
    return wide and high - low < MOST_INDEXED and min(rows, default=0) > HOT


def is_key(work: Work, one: Range) -> bool:
    """Tell whether a range begins near zero and ends beside a size, or as a buffer does.

    It was declared once for all cases. So it was made for the largest of them, or for a size that
    has room for it in all of them: that 69 is beside the 77 rows of a smaller case is by chance,
    where another case has five.
    """
    argument, low, high = one
    if argument.end:
        return True
    if low < LEAST_KEY:
        return False
    others = [a for a in work.arguments if a.type.pointer and a is not argument]
    cases = sorted((case.values for case in work.cases), key=work.elements)
    known = [[case.get(name, 0.0) for case in cases] for name in cases[-1]]
    known += [[float(sizes.buffer(other, case)) for case in cases] for other in others]
    for every in known:
        near = [beside(high, size) for size in every]
        room = (high < size or there for size, there in zip(every, near, strict=True))
        if near[-1] or (any(near) and all(room)):
            return True
    return False


def beside(high: int, size: float) -> bool:
    """Tell whether a range that ends at a number does so beside a size."""
    return abs(high + 1 - size) <= max(BESIDE, (high + 1) // BESIDE_PART)
