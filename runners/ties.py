"""Where rounding decides: results that another order of the same sums may make another.

The nearest of two centres that are equally far, a value on the edge between two bins or bits, a
whole number rounded from a sum: right code that adds up in another order gives the other one there
now and then. Where a run differs in so few elements, the original is asked what it makes of the
same inputs moved by one rounding error. What it gives itself is no fault of a candidate.

Nothing is forgiven where inputs are made of few numbers: ties are exact there, and how a kernel
breaks them is its contract.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import captured
from runners.compare import Answer, Budget, few_ulp, noise_by_exponent
from runners.cuda_types import Storage, to_float, values
from runners.expectation import typical
from runners.families import (
    DECLARED,
    FILLERS_MIXED,
    HALF_STEPS,
    LATE_TIES,
    REFILLED,
    SHUFFLED,
)
from runners.spec import Work

# Moved inputs that the original is asked about: a tie goes either way in each of them.
ASKED, MOVED, APART = 12, "t", 1000
# Elements that may differ: of random inputs a share, of those that hold stretches of few numbers
# beside random ones no more than happen by themselves: more where the stretches are of all kinds.
SHARE, FEW, FEW_SHARE, MIXED_SHARE = 1e-3, 3, 1e-5, 2e-4
# Small whole numbers and equal ones: what ties there is equal in any precision.
_EXACT = frozenset({"equal", "integers"})
_MIXED = frozenset({"mixed", FILLERS_MIXED})
_PARTLY = frozenset({*_MIXED, HALF_STEPS, SHUFFLED})
_REPEATING = frozenset({"ones", captured.WORD})
_FINE = 2.0**-24  # roundoff of a float: numbers of fewer digits tie by themselves
# Whole numbers beyond LARGE are rounded on their way; where MOST of them change with the inputs'
# last digit, and none by more than NEAR of a typical one, they are judged as floats.
LARGE, MOST, NEAR = 2.0**17, 0.05, 1e-4
TURNED = "@"

Places = npt.NDArray[np.intp]
Whole = npt.NDArray[Any]


def _exact(family: str) -> bool:
    """Tell whether what ties in a family is equal however it is worked out."""
    return family in _EXACT or family.startswith(LATE_TIES)


def amplitude(number: int) -> float:
    """Return by how many rounding errors the inputs of such a question are moved, the first one 1.

    A sum of many terms errs by more than one of its terms does.

    >>> [amplitude(n) for n in (1, 2, 3, 12)]
    [2.0, 2.0, 4.0, 64.0]
    """
    return float(2.0 ** (1 + (number - 1) // 2))


def turned(family: str, shifts: Sequence[tuple[str, int]]) -> str:
    """Name a family whose buffers are shifted cyclically, each by so many bytes.

    >>> turned("declared", [("x", 16), ("y", 0)])
    'declared@x:16'
    """
    named = ",".join(f"{name}:{by}" for name, by in shifts if by)
    return f"{family}{TURNED}{named}" if named else family


def shifts_of(family: str) -> dict[str, int]:
    """Return by how many bytes the buffers of a family are shifted.

    >>> shifts_of("declared@x:16,y:32"), shifts_of("declared")
    ({'x': 16, 'y': 32}, {})
    """
    named = family.partition(TURNED)[2]
    parts = (one.rpartition(":") for one in named.split(",") if one)
    return {name: int(by) for name, _, by in parts}


def possible(got: Storage, answer: Answer, family: str, work: Work) -> bool:
    """Tell whether rounding may be why an output differs, so that it is worth to ask."""
    where = places(got, answer, family, work)
    if where is None:
        return False
    count = len(values(answer.want, answer.type, answer.type.fields[0]))
    return len(where) <= _most(count, family, work) or _large(answer, family)


def _large(answer: Answer, family: str) -> bool:
    """Tell whether these are whole numbers, of inputs nobody declared, larger than is exact."""
    one, base = answer.type.fields[0], family.partition(TURNED)[0]
    if one.scalar.kind == "f" or base in {DECLARED, *_PARTLY} or TURNED in family:
        return False
    want = values(answer.want, answer.type, one).astype(np.float64)
    return float(np.abs(want).max(initial=0.0)) >= LARGE


def decided(
    got: Storage, answer: Answer, family: str, work: Work, ask: Callable[[], Sequence[Storage]]
) -> bool:
    """Tell whether all that differs is what rounding decides; `ask` brings the original's answers.

    They are asked for where few elements differ, and where whole numbers of inputs that nobody
    declared may be larger than a float is exact.
    """
    where = places(got, answer, family, work)
    if where is None:
        return False
    one = answer.type.fields[0]
    mine, theirs = (values(data, answer.type, one) for data in (got, answer.want))
    if len(where) <= _most(len(mine), family, work):
        return _explained(answer, mine[where], theirs[where], [
            values(other, answer.type, one)[where] for other in ask()
        ])  # fmt: skip
    if not _large(answer, family):
        return False
    return _rounded(mine, theirs, [values(other, answer.type, one) for other in ask()])


def _rounded(mine: Whole, theirs: Whole, others: Sequence[Whole]) -> bool:
    """Tell whether whole numbers are so large that rounding changes all of them, and so little."""
    if not others:
        return False
    want = theirs.astype(np.float64)
    moved = np.maximum.reduce([np.abs(one.astype(np.float64) - want) for one in others])
    noise = noise_by_exponent(moved, want)
    few = few_ulp("float")
    bound = Budget(noise, _FINE, few, 0.0, 0.0, capped=False).bound(want) + 1.0
    most = bool((moved > 0).mean() > MOST) and bool((moved <= NEAR * typical(want) + 1).all())
    return most and bool((np.abs(mine.astype(np.float64) - want) <= bound).all())


def places(got: Storage, answer: Answer, family: str, work: Work) -> Places | None:
    """Return the elements that differ where rounding may be why; None where it cannot be."""
    only = answer.type.scalar
    if (
        only is None
        or answer.unordered
        or answer.untouched is not None
        or len(got) != len(answer.want)
    ):
        return None
    floats = _floats(work)
    exact = _exact(family.partition(TURNED)[0])
    if exact or not floats or max(error for _, error in floats) > _FINE:
        return None
    where = _beyond(
        answer, *(values(d, answer.type, answer.type.fields[0]) for d in (got, answer.want))
    )
    return where if len(where) else None


def _floats(work: Work) -> list[tuple[str, float]]:
    """Return how each float that is read comes to be, and its roundoff."""
    return [
        (argument.init.partition(":")[0], one.scalar.roundoff)
        for argument in work.arguments
        if argument.type.pointer and argument.role != "output"
        for one in argument.type.fields
        if one.scalar.kind == "f"
    ]


def _most(count: int, family: str, work: Work) -> int:
    """Return how many of so many elements may differ."""
    most = int(SHARE * count)
    base = family.partition(TURNED)[0]
    # Where they are all the same no longer, ties are as seldom as among random ones.
    repeating = _REPEATING - {"ones"} if base in REFILLED else _REPEATING
    repeats = any(init in repeating for init, _ in _floats(work))
    share = MIXED_SHARE if base in _MIXED and not repeats else FEW_SHARE
    few = min(most, max(FEW, int(share * count)))
    return few if repeats or base in _PARTLY else most


def _explained(answer: Answer, mine: Whole, theirs: Whole, others: Sequence[Whole]) -> bool:
    """Tell whether each of these elements is one that the original gives of moved inputs.

    Of floats only those count in which moving the inputs gives something else altogether: a
    threshold that is crossed, not an error that is a little larger.
    """
    one, budget = answer.type.fields[0], answer.budgets[0]
    found = np.zeros(len(mine), bool)
    for moved in others:
        if one.scalar.kind != "f" or budget is None:
            found |= (moved == mine) & (moved != theirs)
            continue
        a, b, c = (to_float(data, one.scalar) for data in (mine, moved, theirs))
        with np.errstate(all="ignore"):
            found |= (np.abs(a - b) <= budget.bound(b)) & (np.abs(b - c) > budget.bound(c))
    return bool(found.all())


def _beyond(
    answer: Answer, mine: npt.NDArray[np.generic], theirs: npt.NDArray[np.generic]
) -> Places:
    one, budget = answer.type.fields[0], answer.budgets[0]
    if one.scalar.kind != "f" or budget is None:
        return np.flatnonzero(mine != theirs)
    a, b = to_float(mine, one.scalar), to_float(theirs, one.scalar)
    with np.errstate(all="ignore"):
        return np.flatnonzero(~((np.abs(a - b) <= budget.bound(b)) | (np.isnan(a) & np.isnan(b))))
