"""Outputs whose elements belong together though their order is free: the i-th of each is one entry.

A compaction may write `head[k]` and `tail[k]` at whatever k; which head comes with which tail is
not free. Looked at one by one, sorted, such outputs say nothing of that. Entries are put into an
order of their own, whole numbers before floats, and compared in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from runners.compare import Answer, Comparison, compare, entries
from runners.cuda_types import CudaType, Storage, to_float, values
from runners.expectation import agree

MOST = 1 << 21  # entries that are worth sorting, a second for each run
FEW_RUNS = 4


def in_order(parts: Sequence[tuple[CudaType, Storage]]) -> list[Storage]:
    """Return arrays of equally many elements with their entries sorted, all in the same way."""
    whole: list[npt.NDArray[np.generic]] = []
    floats: list[npt.NDArray[np.generic]] = []
    for kind, data in parts:
        for one in kind.fields:
            lanes = values(data, kind, one).reshape(-1, one.lanes)
            for lane in range(one.lanes):
                if one.scalar.kind == "f":
                    floats.append(to_float(lanes[:, lane], one.scalar))
                else:
                    whole.append(lanes[:, lane])
    order = np.lexsort([*reversed(floats), *reversed(whole)])
    return [data.reshape(-1, kind.size)[order].reshape(-1) for kind, data in parts]


def together(kinds: Sequence[CudaType], runs: Sequence[Sequence[Storage]]) -> bool | None:
    """Tell whether entries are the same in runs of the original, in whatever order.

    There must be a whole number in them: floats alone give no order that rounding leaves alone.
    None where there are too many to look.
    """
    fields = [one for kind in kinds for one in kind.fields]
    if sum(one.lanes for one in fields) < 2 or all(one.scalar.kind == "f" for one in fields):
        return False
    if len({len(data) // kind.size for kind, data in zip(kinds, runs[0], strict=True)}) > 1:
        return False
    if len(runs[0][0]) // kinds[0].size > MOST:
        return None
    first, *others = [in_order(list(zip(kinds, run, strict=True))) for run in runs[:FEW_RUNS]]
    for other in others:
        for kind, mine, theirs in zip(kinds, first, other, strict=True):
            for one in kind.fields:
                a, b = values(mine, kind, one), values(theirs, kind, one)
                if one.scalar.kind != "f":
                    same = len(a) == len(b) and np.array_equal(a, b)
                else:
                    same = agree(to_float(a, one.scalar), to_float(b, one.scalar))
                if not same:
                    return False
    return True


def compare_entries(
    got: Mapping[str, Storage],
    answers: Mapping[str, Answer],
    poison: Mapping[str, Storage | None],
) -> Comparison:
    """Judge outputs that belong together; each has passed on its own."""
    mine: list[tuple[CudaType, Storage]] = []
    theirs: list[tuple[CudaType, Storage]] = []
    for name, answer in answers.items():
        one, other, _ = entries(got[name], answer, poison.get(name))
        mine.append((answer.type, one))
        theirs.append((answer.type, other))
    counts = {len(data) // kind.size for kind, data in (*mine, *theirs)}
    if min(counts) > MOST:
        return Comparison(passed=True)
    names = " and ".join(answers)
    if len(counts) > 1:
        return Comparison(passed=False, error=float("inf"), why=f"{names} differ in length")
    for answer, one, other in zip(answers.values(), in_order(mine), in_order(theirs), strict=True):
        plain = Answer(answer.name, answer.type, other, answer.budgets, lenient=answer.lenient)
        outcome = compare(one, plain)
        if not outcome.passed:
            why = f"{names}, entries in order: {outcome.why}"
            return Comparison(
                passed=False,
                error=outcome.error,
                bound=outcome.bound,
                scaled=outcome.scaled,
                why=why,
            )
    return Comparison(passed=True)
