"""What is wanted of how many whole parts there are of what a text takes apart.

What takes two parts at a time, or three, or five, has one or two left of 7, of 11 and of 13.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from runners.terms import Division

# What is of so much is no usual vector or warp, multiples of which are tried anyway. So many parts
# are many. Numbers of which one is odd and another even. Shares of what is declared.
LEAST_PART, LEAST_MANY, MOST_MIXED, SHARES = 32, 60, 3, (1, 2, 4, 8)
# Doublings of a part of which a number that is made of a size may be a multiple.
MOST_DOUBLED = 14

Quotients = tuple[int, ...]
Wanted = Callable[[Quotients], bool]


@dataclass(frozen=True)
class Want:
    """Ways in which numbers of parts are as they are to be in one case, the best first.

    What has a lower `rank` is more important. `declared`: all else is best as it is declared.
    """

    rank: int
    ways: Sequence[Wanted]
    declared: bool = False


def wants(divisions: Sequence[Division], declared: Quotients, part: int) -> Iterator[Want]:
    """Yield what is wanted where numbers are taken apart together.

    `declared` is how many parts there are where most are declared, `part` what the largest is of.
    """
    yield Want(0, (_all_left, _odd_and_left, _all_odd, _some_left, _some_odd))
    for odd, even in itertools.permutations(range(min(len(divisions), MOST_MIXED)), 2):
        if divisions[odd].uses.isdisjoint(divisions[even].uses):
            yield Want(1, (partial(_mixed, odd, even, 2), partial(_mixed, odd, even, 1)))
    if part < LEAST_PART:
        return
    if len(declared) == 1:
        shares = [declared[0] // share for share in SHARES]
        ways = [partial(_at_least, one // 2) for one in shares if one > 2 * LEAST_MANY]
        yield Want(2, ways)
    yield Want(3, (partial(_at_least, LEAST_MANY),))
    yield Want(4, (lambda parts: {*parts} == {1},))
    yield Want(5, (_three,), declared=True)


def left(parts: int) -> bool:
    """Tell whether what takes two, three, four or five parts at a time has some left.

    >>> [parts for parts in range(30) if left(parts)]
    [7, 11, 13, 17, 19, 23, 29]
    """
    return parts > 1 and math.gcd(parts, 30) == 1


def _all_left(parts: Quotients) -> bool:
    return all(map(left, parts))


def _some_left(parts: Quotients) -> bool:
    return any(map(left, parts))


def _all_odd(parts: Quotients) -> bool:
    return all(one > 1 and one % 2 for one in parts)


def _odd_and_left(parts: Quotients) -> bool:
    return _all_odd(parts) and _some_left(parts)


def _some_odd(parts: Quotients) -> bool:
    return any(one > 1 and one % 2 for one in parts)


def _mixed(odd: int, even: int, least: int, parts: Quotients) -> bool:
    return parts[odd] >= least and parts[odd] % 2 == 1 and parts[even] % 2 == 0


def _at_least(least: int, parts: Quotients) -> bool:
    return any(left(one) and one >= least for one in parts)


def _three(parts: Quotients) -> bool:
    return all(one % 2 for one in parts) and not {3, 5}.isdisjoint(parts)


def progression(number: Callable[[int], int | None], by: int) -> tuple[int, int]:
    """Return from where on, and how far apart, sizes are of which a number is a multiple.

    >>> progression(lambda n: 6 * n + 4, 16), progression(lambda n: n // 4, 8)
    ((2, 8), (0, 32))
    """
    zero, one, five, far = (number(size) for size in (0, 1, 5, 4097))
    if zero is not None and one is not None:
        slope = one - zero
        if slope > 0 and five == zero + 5 * slope and far == zero + 4097 * slope:
            common = math.gcd(slope, by)
            step = by // common
            if zero % common or step == 1:
                return 0, step
            return -zero // common * pow(slope // common, -1, step) % step, step
    for turn in range(MOST_DOUBLED):
        step = by << turn
        both = (number(step), number(3 * step))
        if all(value is not None and value > 0 and value % by == 0 for value in both):
            return 0, step
    return 0, by
