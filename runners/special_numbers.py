"""Whole numbers that are special: what a shortcut through number theory takes for something else.

Who asks whether a number is a prime by a few powers of it is right for nearly all numbers, and
wrong for products of primes that know each other; a root, or a quotient, that is worked out in
floats is wrong beside squares and multiples; and to find what two numbers have in common takes most
steps for neighbours in Fibonacci's sequence. Nobody draws one of these. So an array of a wide range
holds them: pseudoprimes, those first that most powers take for primes; primes and their products;
squares, cubes and numbers beside them; multiples of many small primes; Fibonacci's numbers, and
those beside powers of two, three and ten. A second array has the next of each, or the same.

They are worked out from what they are, not listed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import piles, sizes
from runners.cuda_types import values
from runners.families import SPECIAL_NUMBERS
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work

# The least width of a range, and elements of all buffers of the case that is asked.
WIDE, MOST_ELEMENTS = 1 << 15, 1 << 18
# Primes are looked for up to here, and factors of what two of them make: p and r (p - 1) + 1.
SIEVED, RATIOS = 1 << 16, range(2, 12)
# Bases that tell a prime; factors of what three primes make, p - 1 = a k.
BASES, PARTS, MOST_PARTS = (2, 3, 5, 7, 11, 13), 7, 600
# Special numbers of a kind in a range: no more than these.
MOST = 1 << 14

Case = Mapping[str, float]
Values = npt.NDArray[Any]


@lru_cache(maxsize=1)
def primes() -> tuple[int, ...]:
    """Return the primes below `SIEVED`."""
    sieve = np.ones(SIEVED, np.bool_)
    sieve[:2] = False
    for number in range(2, math.isqrt(SIEVED) + 1):
        if sieve[number]:
            sieve[number * number :: number] = False
    return tuple(int(one) for one in np.flatnonzero(sieve))


def is_prime(number: int) -> bool:
    """Tell whether a number below 2^32 is a prime, by division."""
    root = math.isqrt(number)
    return number > 1 and all(number % one for one in itertools.takewhile(root.__ge__, primes()))


def strong(number: int, base: int) -> bool:
    """Tell whether Miller's test takes an odd number for a prime.

    >>> strong(2047, 2), strong(2047, 3), strong(561, 2)
    (True, False, False)
    """
    odd = number - 1
    twos = (odd & -odd).bit_length() - 1
    power = pow(base, odd >> twos, number)
    if power in {1, number - 1}:
        return True
    return any((power := power * power % number) == number - 1 for _ in range(twos - 1))


@lru_cache(maxsize=1)
def pseudoprimes() -> tuple[int, ...]:
    """Return products of two and of three primes that powers of 2 or 3 take for a prime.

    Those first that Miller's test takes for one to the most bases.
    """
    known = frozenset(primes())
    found: set[int] = set()
    for one in primes()[1:]:
        for ratio in RATIOS:
            other = ratio * (one - 1) + 1
            if other in known or (other >= SIEVED and is_prime(other)):
                found.add(one * other)
    for a, b, c in itertools.combinations(range(1, PARTS + 1), 3):
        for k in range(2, MOST_PARTS, 2 if a * b * c % 2 else 1):
            three = (a * k + 1, b * k + 1, c * k + 1)
            if all(one in known for one in three):
                found.add(math.prod(three))
    kept = [one for one in found if any(pow(base, one - 1, one) == 1 for base in (2, 3))]

    def passed(number: int) -> int:
        return sum(strong(number, base) for base in BASES)

    return tuple(sorted(kept, key=lambda one: (-passed(one), one)))


def _beside_powers(exponent: int) -> Callable[[int, int], Iterator[int]]:
    def found(low: int, high: int) -> Iterator[int]:
        del low
        most = round(max(high, 1) ** (1 / exponent))
        # From the largest on, and some all the way down.
        steps = [
            *range(most, max(1, most - MOST // 8), -1),
            *range(1, most, max(1, most * 8 // MOST)),
        ]
        for root in steps:
            yield from (root**exponent - 1, root**exponent, root**exponent + 1)

    return found


def _of_primes(low: int, high: int) -> Iterator[int]:
    """Yield primes and products of neighbours among them, squares of primes as well."""
    del low
    every = primes()
    near = [one for one in every if one * one <= high][-MOST // 4 :]
    for one, other in itertools.pairwise(near):
        yield from (one * one, one * other)
    yield from every[-MOST // 4 :]


def _smooth(low: int, high: int) -> Iterator[int]:
    """Yield factorials, products of the first primes, and multiples of many small ones."""
    del low
    for factors in (itertools.count(2), iter(primes())):
        made = 1
        for one in factors:
            made *= one
            if made > high:
                break
            yield from (made - 1, made, made + 1)
    for twos, threes, fives in itertools.product(range(1, 40, 2), range(1, 20, 2), range(1, 12, 2)):
        yield 2**twos * 3**threes * 5**fives


def _grown(low: int, high: int) -> Iterator[int]:
    """Yield Fibonacci's numbers, and those beside powers of two, three and ten."""
    del low
    one, other = 1, 2
    while one <= high:
        yield one
        one, other = other, one + other
    for base in (2, 3, 10):
        power = base
        while power <= high:
            yield from (power - 1, power, power + 1)
            power *= base


KINDS: tuple[Callable[[int, int], Iterator[int]], ...] = (
    lambda _low, _high: iter(pseudoprimes()),
    _of_primes,
    _beside_powers(2),
    _beside_powers(3),
    _smooth,
    _grown,
)


@lru_cache(maxsize=64)
def numbers(kind: int, low: int, high: int) -> tuple[int, ...]:
    """Return the special numbers of a kind that are in a range, ends included.

    >>> numbers(5, 1, 13)
    (1, 2, 3, 5, 8, 13, 4, 7, 9, 10, 11)
    """
    fit = (one for one in KINDS[kind](low, high) if low <= one <= high)
    return tuple(itertools.islice(dict.fromkeys(fit), MOST))


def arrays(work: Work) -> list[Range]:
    """Return the arrays that are changed: only read, and of a wide range."""
    return [one for one in piles.read(work) if one[2] - one[1] >= WIDE and one[2] >= WIDE]


def asked(work: Work) -> Iterator[tuple[Case, str]]:
    """Yield the largest declared case that is light, with numbers of each kind."""
    light = [c.values for c in work.cases if 0 < sizes.elements(work, c.values) <= MOST_ELEMENTS]
    if light and arrays(work):
        case = max(light, key=lambda one: sizes.elements(work, one))
        yield from ((case, f"{SPECIAL_NUMBERS} {kind}") for kind in range(len(KINDS)))


def applied(family: str, work: Work, arrays_: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of special numbers, the first of them if there is no room for all."""
    del case
    kind, out = int(family.partition(" ")[2]), dict(arrays_)
    for place, (argument, low, high) in enumerate(arrays(work)):
        those = numbers(kind, low, high)
        if not those:
            continue
        made = []
        for field in argument.type.fields:
            data = values(arrays_[argument.name], argument.type, field)
            # The same places in each: neighbours stand side by side.
            made.append(_filled(data, those, place, stream(seed, family)))
        count = len(arrays_[argument.name]) // argument.type.size
        out[argument.name] = interleave(made, argument.type, count)
    return out


def _filled(data: Values, those: Sequence[int], place: int, rng: np.random.Generator) -> Values:
    """Return as many of some numbers as there is room for; of the next array the next of each."""
    letters = np.asarray(those, object).astype(data.dtype)
    chosen = np.arange(len(data)) % len(letters)
    return np.asarray(letters[(rng.permutation(chosen) + place) % len(letters)])
