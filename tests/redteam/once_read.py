"""What many tests need of the whole table, worked out once in a process.

Everything in a job but the candidate's own text is the same for all candidates of an original, and
so is what they are asked before their own texts are looked at.
"""

from __future__ import annotations

import dataclasses
from functools import cache

from runners import oracle, spec
from runners.contents import Combination
from runners.spec import JobSpec, Work
from tests.redteam.table import Candidate, load

EFFORTS = ("confirm", "screen")


@cache
def candidates() -> dict[str, Candidate]:
    """Return the whole table by its labels."""
    return {one.label: one for one in load()}


@cache
def _names() -> frozenset[str]:
    return frozenset(one.base.name for one in load())


@cache
def _original(name: str, effort: str) -> JobSpec:
    return spec.parse(candidates()[f"{name}/base"].job(effort))


def parsed(candidate: Candidate | str, effort: str = "confirm") -> JobSpec:
    """Return a candidate's job, as `spec.parse` reads it."""
    one = candidates()[candidate] if isinstance(candidate, str) else candidate
    kernel = spec.source(one.base.kernel(one.source, one.launch))
    return dataclasses.replace(_original(one.base.name, effort), kernel=kernel)


@cache
def _asked(
    name: str, effort: str, checks: str, seed: int
) -> tuple[tuple[Combination, ...], tuple[Combination, ...]]:
    declared, extra = oracle.combinations(_original(name, effort).work, checks, seed)
    return tuple(declared), tuple(extra)


def combinations(work: Work, checks: str, seed: int) -> tuple[list[Combination], list[Combination]]:
    """Return what `oracle.combinations` does; of a workload read here, what it did once.

    Not for tests that change how much `oracle` asks: what they get, all others would get, too.
    """
    for effort in EFFORTS:
        if work.name in _names() and work is _original(work.name, effort).work:
            declared, extra = _asked(work.name, effort, checks, seed)
            return [*declared], [*extra]
    return oracle.combinations(work, checks, seed)
