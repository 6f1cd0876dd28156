"""A declared case with one round of what a kernel repeats, where variables count rounds.

A variable that is passed by value and sizes no buffer may count rounds, steps or layers. Many of
them may come to the same end wherever they begin: who loses the first one's numbers and goes on is
right behind the last. Whether it is a count or not, one is a size like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from runners import sizes
from runners.contents import Combination
from runners.expressions import names
from runners.spec import Work

LEAST_ROUNDS = 2


def counted(work: Work, case: Mapping[str, float]) -> list[str]:
    """Return the variables of a case that are passed, are above one and size nothing."""
    passed = {name for one in work.arguments if one.value for name in names(one.value)}
    many = sizes.elements(work, case)
    return [
        name
        for name, value in case.items()
        if name in passed and value >= LEAST_ROUNDS
        if sizes.elements(work, {**case, name: 1.0}) == many
    ]


def once(work: Work, plain: Combination) -> Combination | None:
    """Return a combination with all of these at one; None where there are none of them."""
    rounds = counted(work, plain.case)
    if not rounds:
        return None
    return replace(plain, case={**plain.case, **dict.fromkeys(rounds, 1.0)})


def said(one: Combination, plain: Combination) -> str:
    """Say which variables are others than in a plain case.

    >>> plain = Combination({"n": 9.0, "layers": 12.0}, "declared", 1)
    >>> said(replace(plain, case={"n": 9.0, "layers": 1.0}), plain), said(plain, plain)
    (' at layers=1', '')
    """
    case = plain.case
    moved = [f"{name}={value:,.0f}" for name, value in one.case.items() if case[name] != value]
    return f" at {', '.join(moved)}" if moved else ""
