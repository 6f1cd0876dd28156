"""Calls that follow one another: what host code keeps from one is another one's trap.

What it keeps by some of its scalar arguments is wrong when another of them changes, and what it
fills for a call before the device is done with the one before is wrong when calls are not waited
for. A run by itself, in a world of its own, shows neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from runners.contents import Combination
from runners.families import DECLARED, captured_work
from runners.spec import MOVED, JobSpec, each_alone

# Values of all buffers of a call, and calls in a row, at most.
ROW_ELEMENTS, ROW_CALLS = 1 << 18, 8
MOST_SCALARS, MOST_FLAGS = 4, 4


@dataclass(frozen=True, slots=True)
class Row:
    """Calls one behind the other: each with buffers of its own and not waited for, or neither."""

    combinations: tuple[Combination, ...]
    apart: bool


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


def other_scalars(job: JobSpec, wanted: Sequence[Combination]) -> list[Combination]:
    """Return that combination with one scalar argument moved at a time."""
    if captured_work(job.work):
        return []
    base = base_of(job, wanted)
    return [
        Combination(case, DECLARED, job.seed)
        for case in each_alone(job.work, base.case)[:MOST_SCALARS]
    ]


def rows(
    job: JobSpec,
    wanted: Sequence[Combination],
    known: Callable[[Combination], Mapping[str, object] | None],
    rng: np.random.Generator,
    mixed: int,
) -> list[Row]:
    """Return rows of combinations with answers: other scalars in between, and `mixed` of any.

    Each scalar is moved between two calls with the declared ones; then those of `wanted` that are
    of the same sizes and differ in a flag or the like.
    """

    def fits(combination: Combination) -> bool:
        light = job.work.elements(combination.case) <= ROW_ELEMENTS
        return light and known(combination) is not None

    base = base_of(job, wanted)
    found: list[Row] = []
    flags = [one for one in wanted if _differs_by_value(job, one, base) and fits(one)]
    others = [one for one in other_scalars(job, wanted) if fits(one)] + flags[:MOST_FLAGS]
    if others and fits(base):
        row = (base, *chain.from_iterable((one, base) for one in others))
        found += [Row(row, apart=False), Row(row, apart=True)]
    fit = [one for one in wanted if fits(one)]
    for _ in range(mixed if len(fit) > 1 else 0):
        chosen = rng.permutation(len(fit))[:ROW_CALLS]
        found.append(Row(tuple(fit[int(at)] for at in chosen), apart=True))
    return found


def _differs_by_value(job: JobSpec, one: Combination, base: Combination) -> bool:
    """Tell whether a combination has other scalars than another one, and buffers as large."""
    if one.family != DECLARED or dict(one.case) == dict(base.case):
        return False
    pointers = [argument for argument in job.work.arguments if argument.type.pointer]
    return all(a.elements(one.case) == a.elements(base.case) for a in pointers)
