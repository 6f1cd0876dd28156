"""Calls that follow one another: what host code keeps from one is another one's trap.

What it keeps by some of its scalar arguments is wrong when another of them changes, and what it
fills for a call before the device is done with the one before is wrong when calls are not waited
for. What it keeps for contents that it only looks at here and there is wrong when these change
anywhere else; and what it keeps for some of its arrays, or for a number made of them, when a single
element is another. What it looks at while the device is still on its way, as a flag that comes back
behind a round, is an earlier call's where the device is only a little behind. What it finds again
by a product of two sizes is another call's where these have changed places. A run by itself, in a
world of its own, shows none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np

from runners import one_element, sizes
from runners.bench import ROW_HELD_NS
from runners.contents import Combination
from runners.families import (
    AFTER,
    BEFORE,
    DECLARED,
    ENDS,
    EQUAL,
    NEARLY,
    NESTED,
    captured_work,
    nearly,
)
from runners.spec import MOVED, JobSpec, Work, each_alone

# Values of all buffers of a call, and calls in a row, at most.
ROW_ELEMENTS, ROW_CALLS = 1 << 18, 8
MOST_SCALARS, MOST_FLAGS = 4, 4
# Sizes of which each two change places, and how many calls there are in which some have.
MOST_SIZES, MOST_SWAPPED = 3, 2
# Of a call that is larger than the one before, and again behind it; by how much it is larger.
GROWN_ELEMENTS, GROWN_TIMES = 1 << 24, 1.05
# Who looks at some thousand elements of an array looks at all of one that is not several times as
# long. One of three elements has one that is neither the first nor the last.
LEAST_SAMPLED, LEAST_CHANGED = 1 << 14, 3
# Contents with a single change in a row, each between two calls with the declared ones.
SINGLE = 8
# For how long (ns) the device is held up in rows in which it is not far behind the host: less than
# the host takes for a call, about as long, and for several. Of so many elements, and pairs at most.
CLOSE_HELD_NS = (0, 30_000, 100_000, 300_000)
CLOSE_ELEMENTS, MOST_CLOSE = 1 << 16, 3
# Contents that differ in how often something is done until nothing changes any more: links that are
# one chain, and none, are done with after the most and the fewest rounds. The best are first.
UNLIKE = (
    (DECLARED, BEFORE),
    (AFTER, BEFORE),
    (DECLARED, NESTED),
    (DECLARED, ENDS),
    (DECLARED, AFTER),
    (DECLARED, EQUAL),
    (DECLARED, "mixed"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """Calls one behind the other: each with buffers of its own and not waited for, or neither.

    Where they are not waited for, the device begins with the first `held_ns` later. With `keeps`
    every other call finds the results of the one before where its own will be. Where they share
    their buffers so many calls go `before`, on the first one's contents or on all `by_turns`.
    """

    combinations: tuple[Combination, ...]
    apart: bool
    held_ns: int = ROW_HELD_NS
    keeps: bool = False
    before: int = 1
    by_turns: bool = False


# What returns rows: of a job, of what is wanted, by what tells answers, by chance, some mixed ones.
MakeRows = Callable[
    [
        JobSpec,
        Sequence[Combination],
        Callable[[Combination], Mapping[str, object] | None],
        np.random.Generator,
        int,
    ],
    list[Row],
]


def base_of(job: JobSpec, wanted: Sequence[Combination]) -> Combination:
    """Return the declared combination with the fewest elements; where these are many, another."""

    def weight(combination: Combination) -> int:
        return job.work.elements(combination.case)

    declared = [Combination(case.values, DECLARED, job.seed) for case in job.work.cases]
    least = min(declared, key=weight)
    if weight(least) <= ROW_ELEMENTS:
        return least
    plain = (c for c in wanted if c.family == DECLARED and MOVED not in c.case)
    return max((c for c in plain if weight(c) <= ROW_ELEMENTS), key=weight, default=least)


def asked_in_rows(job: JobSpec, wanted: Sequence[Combination]) -> list[Combination]:
    """Return what is asked in rows alone: one scalar moved at a time, and nearly the same contents.

    These need answers beside those of `wanted`. Last come those of which there are many: how many
    are answered is a matter of time (`runners.capacities.Watch`). Behind them are those that
    `runners.first_calls` asks about, which take nothing from the others so.
    """
    near = [near for _, near in _nearly_same(job, wanted)]
    single = [*_single(job, wanted), *zeroed(job, wanted)]
    return [*_each_moved(job, wanted), *near, *_swapped(job, wanted), *single]


def _each_moved(job: JobSpec, wanted: Sequence[Combination]) -> list[Combination]:
    """Return the combination of `base_of` with one scalar argument moved at a time."""
    if captured_work(job.work):
        return []
    base = base_of(job, wanted)
    return [
        Combination(case, DECLARED, job.seed)
        for case in each_alone(job.work, base.case)[:MOST_SCALARS]
    ]


def _nearly_same(
    job: JobSpec, wanted: Sequence[Combination]
) -> list[tuple[Combination, Combination]]:
    """Return a combination and what differs from it in one element of each array; none, mostly.

    It is the one with the longest such array. A declared one is preferred that is long enough: it
    has an answer. What is confirmed has its original run on the same rows, so effort decides.
    """
    if job.effort != "confirm":
        return []

    def long(combination: Combination) -> int:
        return nearly(job.work, combination.case)

    plain = [c for c in wanted if c.family == DECLARED and MOVED not in c.case]
    light = [c for c in plain if job.work.elements(c.case) <= ROW_ELEMENTS]
    known = [dict(case.values) for case in job.work.cases]
    declared = [c for c in light if dict(c.case) in known and long(c) >= LEAST_SAMPLED]
    base = max(declared or light, key=long, default=None)
    if base is None or long(base) < LEAST_CHANGED:
        return []
    return [(base, Combination(base.case, NEARLY, base.seed))]


def _swapped(job: JobSpec, wanted: Sequence[Combination]) -> list[Combination]:
    """Return the combination of `base_of` with two sizes in each other's places, of host code."""
    if job.effort != "confirm" or job.work.kind != "entry" or captured_work(job.work):
        return []
    case = base_of(job, wanted).case
    pairs = combinations(sizes.sizing(job.work)[:MOST_SIZES], 2)
    every = [{**case, a: case[b], b: case[a]} for a, b in pairs if case[a] != case[b]]
    fit = [one for one in every if 0 < sizes.elements(job.work, one) <= ROW_ELEMENTS]
    return [Combination(one, DECLARED, job.seed) for one in fit[:MOST_SWAPPED]]


def _single(job: JobSpec, wanted: Sequence[Combination]) -> list[Combination]:
    """Return the combination of `base_of` with one element, or one array, another at a time."""
    return _changed(job, wanted, one_element.changes)


def zeroed(job: JobSpec, wanted: Sequence[Combination]) -> list[Combination]:
    """Return the combination of `base_of` with one array at a time all zeros, of a finalist."""
    return _changed(job, wanted, one_element.zeroed)


def _changed(
    job: JobSpec,
    wanted: Sequence[Combination],
    changes: Callable[[Work, Mapping[str, float]], list[one_element.Change]],
) -> list[Combination]:
    base = base_of(job, wanted)
    if job.effort != "confirm" or job.work.elements(base.case) > ROW_ELEMENTS:
        return []
    found = changes(job.work, base.case)
    return [Combination(base.case, one.family, base.seed) for one in found]


def rows(
    job: JobSpec,
    wanted: Sequence[Combination],
    known: Callable[[Combination], Mapping[str, object] | None],
    rng: np.random.Generator,
    mixed: int,
) -> list[Row]:
    """Return rows of combinations with answers: other scalars in between, and `mixed` of any.

    Each scalar is moved between two calls with the declared ones; then those of `wanted` that are
    of the same sizes and differ in a flag or the like. Last, nearly the same contents by turns, the
    declared ones by turns with a single change of theirs, and of host code a call in which two
    sizes have changed places, and a large call with a larger one in between.
    """

    def fits(combination: Combination) -> bool:
        light = job.work.elements(combination.case) <= ROW_ELEMENTS
        return light and known(combination) is not None

    base = base_of(job, wanted)
    found: list[Row] = []
    flags = [one for one in wanted if _differs_by_value(job, one, base) and fits(one)]
    others = [one for one in _each_moved(job, wanted) if fits(one)] + flags[:MOST_FLAGS]
    if others and fits(base):
        row = (base, *chain.from_iterable((one, base) for one in others))
        found += [Row(row, apart=False), Row(row, apart=True)]
    fit = [one for one in wanted if fits(one)]
    for _ in range(mixed if len(fit) > 1 else 0):
        chosen = rng.permutation(len(fit))[:ROW_CALLS]
        found.append(Row(tuple(fit[int(at)] for at in chosen), apart=True))
    for one, near in _nearly_same(job, wanted):
        if fits(one) and fits(near):
            found += [Row((one, near) * 2, apart=False)]
            found += [_kept(Row((near, one) * 2, apart=False), known)]
    single = [one for one in _single(job, wanted) if fits(one)] if fits(base) else []
    for at in range(0, len(single), SINGLE):
        turns = chain.from_iterable((base, one) for one in single[at : at + SINGLE])
        found.append(_kept(Row((*turns, base), apart=False), known))
    swapped = [one for one in _swapped(job, wanted) if fits(one)] if fits(base) else []
    found += [Row((base, one, base), apart=False) for one in swapped]
    return [*found, *_grown(job, wanted, known)]


def _kept(row: Row, known: Callable[[Combination], Mapping[str, object] | None]) -> Row:
    """Return a row in which the changed calls find the last results, if none is left alone there.

    Who keeps an answer may look whether it is still where it was put, beside some of the inputs:
    where results are spoilt between all calls it never takes its answer for another one's.
    """
    whole = all(
        getattr(answer, "untouched", None) is None
        for one in row.combinations
        for answer in (known(one) or {}).values()
    )
    return replace(row, keeps=whole)


def close_rows(
    job: JobSpec,
    wanted: Sequence[Combination],
    known: Callable[[Combination], Mapping[str, object] | None],
    rng: np.random.Generator,
    mixed: int,
) -> list[Row]:
    """Return rows by turns of two kinds of contents, the device a little behind the host.

    Where it has not yet begun when the host is done, nothing of an earlier call comes back while
    the host looks; where it is waited for, nothing is still on its way. Host code that is not right
    so may be right in all other rows. Nothing of these is chance, and none has any inputs.
    """
    del rng, mixed
    if job.effort != "confirm" or job.work.kind != "entry":
        return []
    fit = [one for one in wanted if known(one) is not None]
    return [
        Row(pair * (ROW_CALLS // 2), apart=True, held_ns=held)
        for pair in list(_unlike(job, fit))[:MOST_CLOSE]
        for held in CLOSE_HELD_NS
    ]


def _unlike(job: JobSpec, fit: Sequence[Combination]) -> Iterator[tuple[Combination, Combination]]:
    """Yield pairs of one case, each kind at the largest that has both: it takes most rounds."""
    cases: dict[tuple[tuple[str, float], ...], dict[str, Combination]] = {}
    for one in fit:
        if job.work.elements(one.case) <= CLOSE_ELEMENTS and MOVED not in one.case:
            cases.setdefault(tuple(sorted(one.case.items())), {}).setdefault(one.family, one)

    def weight(of: Mapping[str, Combination]) -> int:
        return job.work.elements(next(iter(of.values())).case)

    largest = sorted(cases.values(), key=weight, reverse=True)
    for first, second in UNLIKE:
        found = next((of for of in largest if first in of and second in of), None)
        if found is not None:
            yield found[first], found[second]


def _grown(
    job: JobSpec,
    wanted: Sequence[Combination],
    known: Callable[[Combination], Mapping[str, object] | None],
) -> list[Row]:
    """Return a large call, a larger one, and the first again; none where there are no such answers.

    What is made room for anew is gone for what was recorded with the old one. Of small blocks a
    driver keeps the memory where it is, so it is the largest that may be used for this.
    """
    if job.effort != "confirm" or job.work.kind != "entry":
        return []
    weight = job.work.elements
    plain = [c for c in wanted if c.family == DECLARED and MOVED not in c.case]
    cases = [dict(case.values) for case in job.work.cases]
    small = [c for c in plain if dict(c.case) in cases and weight(c.case) <= GROWN_ELEMENTS // 2]
    base = max((c for c in small if known(c)), key=lambda c: weight(c.case), default=None)
    if base is None:
        return []
    longer = [
        c
        for c in plain
        if c.seed == base.seed
        and GROWN_TIMES * weight(base.case) <= weight(c.case) <= GROWN_ELEMENTS
        and c.case.keys() == base.case.keys()
        and all(c.case[name] >= base.case[name] for name in base.case)
        and known(c) is not None
    ]
    larger = min(longer, key=lambda c: weight(c.case), default=None)
    return [] if larger is None else [Row((base, larger, base), apart=False)]


def _differs_by_value(job: JobSpec, one: Combination, base: Combination) -> bool:
    """Tell whether a combination has other scalars than another one, and buffers as large."""
    if one.family != DECLARED or dict(one.case) == dict(base.case):
        return False
    pointers = [argument for argument in job.work.arguments if argument.type.pointer]
    return all(a.elements(one.case) == a.elements(base.case) for a in pointers)
