"""Rows with one hash by a candidate's own multiplier, and different numbers in them.

Who compares rows by `h = h * m + x` alone, in 64 bits, is right until two rows have one hash.
Chance draws no such rows, and those that no polynomial hash tells apart (`runners.balanced`) are
thousands of places long. But the multiplier stands in the candidate's text, and the numbers d with
d0 m^(k-1) + ... + dk = 0 modulo 2^64 are a lattice, whose short vectors are found at once. So every
second row is the one before with such numbers added to some places that follow one another, within
the range of the array. It is run original and candidate side by side (`runners.fuzzing`).

Lenstra, Lenstra, Lovasz: Factoring polynomials with rational coefficients (1982); H. Cohen, A
Course in Computational Algebraic Number Theory, 2.6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from runners import lone_powers, piles, sizes
from runners.expressions import names
from runners.families import COLLIDING, captured_work
from runners.inputs import Arrays, filled, stream
from runners.piles import Range
from runners.spec import JobSpec, Work
from runners.text import LONGEST, Text, integer
from runners.whole_numbers import factors, row_lengths

# Words that a hash runs over in; multipliers of a text; runs of each of them in either word.
BITS, MOST, RUNS = (64, 32), 6, 8
# The least multiplier; places that a vector has more than it needs, and at most: the more there
# are, the smaller its numbers, and the longer the search.
LEAST, SPARE, PLACES = 3, 6, 20
# Steps of a search, and by how much a vector may be shorter than the one before.
MOST_STEPS, ENOUGH = 5000, 0.75
# How often each pair of rows has numbers of its own; else they are of two kinds.
OWN = 0.5

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]


def asked(job: JobSpec, cases: Sequence[Case]) -> Iterator[tuple[Case, str, int]]:
    """Yield cases in turn, a family and a seed: for each multiplier and word, in turns."""
    if captured_work(job.work) or job.kernel == job.baseline or not lone_powers.arrays(job.work):
        return
    found = _multipliers(job.kernel.source) - _multipliers(job.baseline.source)
    every = [(one, bits) for one in sorted(found, reverse=True)[:MOST] for bits in BITS]
    every = [(one, bits) for one, bits in every if one >> bits == 0]
    with_room = [
        [case for case in (*cases, *_longer(job.work, *one)) if _rows(job.work, *one, case)]
        for one in every
    ]
    for turn in range(RUNS):
        for (one, bits), those in zip(every, with_room, strict=True):
            if those:
                yield those[turn % len(those)], f"{COLLIDING} {one} {bits}", job.seed + turn


def _rows(work: Work, multiplier: int, bits: int, case: Case) -> list[tuple[Range, int]]:
    """Return the arrays that have two rows with one hash, and how long these are."""
    return [
        (one, row)
        for one in lone_powers.arrays(work)
        for row in row_lengths(one[0].shape or "1", case)
        if 2 * row <= sizes.buffer(one[0], case)
        and 0 < len(vector(multiplier, bits, piles.last(one, case) - one[1])) <= row
    ]


def _longer(work: Work, multiplier: int, bits: int) -> Iterator[dict[str, float]]:
    """Yield light cases with rows that are just long enough, one for each variable."""
    declared = work.cases[0].values
    for one in lone_powers.arrays(work):
        argument = one[0]
        if argument.end:
            continue
        found = vector(multiplier, bits, piles.last(one, declared) - one[1])
        *_, last = factors(argument.shape or "1")
        for name in sorted(names(last) & {*sizes.changing(work)}) if found else ():
            case = sizes.light_with(work, name, len(found) + 1)
            if case is not None:
                yield case


def _multipliers(source: str) -> frozenset[int]:
    """Return the numbers of a text that may be what a hash is multiplied with, or shifted by."""
    if len(source) > LONGEST:
        return frozenset()
    found, before = set[int](), ("", "")
    for word in Text(source, macros=True).tokens:
        one = integer(word)
        if one is not None:
            found.add(one)
            if ("<<" in before[-1] or before == ("<<", "=")) and one < max(BITS):
                found.add(1 << one)
        before = (before[-1], word)
    return frozenset(one for one in found if LEAST <= one < 1 << max(BITS))


@lru_cache(maxsize=128)
def vector(multiplier: int, bits: int, span: int) -> tuple[int, ...]:
    """Return numbers of at most `span`, not all zero, whose polynomial is zero; none without any.

    As few as there are; the last one is multiplied by one. How long a row is, is not asked: one
    search is for the rows of all cases.

    >>> found = vector(0x9E3779B97F4A7C15, 64, 10**6)
    >>> sum(d * 0x9E3779B97F4A7C15**at for at, d in enumerate(reversed(found))) % 2**64
    0
    >>> 0 < max(map(abs, found)) <= 10**6, vector(0x9E3779B97F4A7C15, 64, 1)
    (True, ())
    """
    if span < 1:
        return ()
    least = math.ceil(bits / math.log2(span + 1)) if span > 1 else PLACES + 1
    for count in range(max(2, least), min(PLACES, least + SPARE) + 1):
        weights = [pow(multiplier, count - 1 - at, 1 << bits) for at in range(count)]
        basis = [[int(at == to) for to in range(count - 1)] for at in range(count - 1)]
        # The last number is what makes the sum zero, as it lies next to it.
        rows = [[*row, -weight] for row, weight in zip(basis, weights[:-1], strict=True)]
        rows.append([*[0] * (count - 1), 1 << bits])
        for found in reduced(rows):
            if any(found) and max(map(abs, found)) <= span:
                return tuple(found)
    return ()


def reduced(basis: list[list[int]]) -> list[list[int]]:
    """Return a basis of the same lattice whose vectors are short, the shortest first (LLL).

    Lengths are floats: rounding makes vectors longer than they might be, and never wrong.
    """
    rows = [list(row) for row in basis]
    at = 1
    for _ in range(MOST_STEPS):
        if at >= len(rows):
            break
        lengths = _lengths(rows)
        for other in range(at - 1, -1, -1):
            times = round(lengths[other, at] / lengths[other, other])
            if times:
                rows[at] = [a - times * b for a, b in zip(rows[at], rows[other], strict=True)]
                lengths[: other + 1, at] -= times * lengths[: other + 1, other]
        lengths = _lengths(rows)
        before, here = lengths[at - 1, at - 1], lengths[at - 1 : at + 1, at]
        if here @ here >= ENOUGH * before * before:
            at += 1
        else:
            rows[at], rows[at - 1] = rows[at - 1], rows[at]
            at = max(1, at - 1)
    return sorted(rows, key=lambda row: sum(one * one for one in row))


def _lengths(rows: list[list[int]]) -> npt.NDArray[np.float64]:
    """Return what each vector has in the directions of those before it, a column for each."""
    found = np.array(np.linalg.qr(np.asarray(rows, np.float64).T, mode="r"), np.float64)
    # Of vectors that depend on others nothing is left.
    at = np.arange(len(rows))
    found[at, at] = np.where(found[at, at] == 0, np.finfo(float).tiny, found[at, at])
    return found


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays in which every second row has the hash of the one before."""
    multiplier, bits = (int(word) for word in family.split(" ")[1:3])
    out = dict(arrays)
    every: dict[str, list[tuple[Range, int]]] = {}
    for one, row in _rows(work, multiplier, bits, case):
        if one[0].name in arrays:
            every.setdefault(one[0].name, []).append((one, row))
    for name, those in every.items():
        rng = stream(seed, family, name)
        one, row = those[int(rng.integers(len(those)))]
        argument, low, _ = one
        high, count = piles.last(one, case), len(arrays[name]) // argument.type.size
        found = vector(multiplier, bits, high - low)
        step = np.asarray(found, np.int64)
        out[name] = filled(arrays, argument, _made(count, row, (low, high), step, rng))
    return out


def _made(
    count: int, row: int, ends: tuple[int, int], step: Places, rng: np.random.Generator
) -> Places:
    """Return rows of which every second one is the one before, with a vector added somewhere.

    From the first place on and the other way round in turns: a hash goes one of these ways.
    """
    low, high = ends
    several = -(-count // row)
    pairs = max(2, (several + 1) // 2) if rng.random() < OWN else 2
    first = rng.integers(low, high, (pairs, row), endpoint=True)
    at = int(rng.integers(row - len(step) + 1))
    places = slice(at, at + len(step))
    turned = (np.arange(pairs)[:, None] + rng.integers(2)) % 2
    turns = np.where(turned, step[::-1], step)
    # Numbers to which the vector's may be added.
    first[:, places] = rng.integers(
        low + np.maximum(0, -turns), high - np.maximum(0, turns), endpoint=True
    )
    whose = np.arange(several) // 2 % pairs
    made = first[whose].copy()
    made[1::2, places] += turns[whose[1::2]]
    return made.reshape(-1)[:count]
