"""Which of the counters that moved tell why a kernel is faster.

Most of a hundred counters move when a kernel changes, and many by huge factors, from next to
nothing. Told are those that moved the good way, stand for a part of the kernel that matters, and
moved by more than they scatter. What a speedup was bought with is told apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from bot import wording
from bot.outcome import Moved, Outcome, totals
from optimizer import counters

_STALL = "smsp__average_warps_issue_stalled_"
_OPERATIONS = "smsp__sass_thread_inst_executed_op_"
_BYTES = ("dram__bytes.sum", counters.DRAM_READ_BYTES, counters.DRAM_WRITE_BYTES)
_SECTORS = (counters.LOAD_SECTORS, counters.STORE_SECTORS)
# Says the same as the first, less well.
_SAID_BY = {
    counters.LOAD_SECTORS: wording.SECTORS_PER_LOAD,
    counters.STORE_SECTORS: wording.SECTORS_PER_STORE,
    counters.L2_REDUCTION_SECTORS: counters.REDUCTION_REQUESTS,
    counters.L2_ATOMIC_SECTORS: counters.ATOMIC_REQUESTS,
}
# Warps that could issue while another did: no waiting.
_READY = f"{_STALL}not_selected"
_PRICES = (counters.INSTRUCTIONS, *_BYTES, counters.OCCUPANCY_PCT)
_LEAST_STALL = 0.1  # of all the waiting before: a smaller part explains nothing
_LEAST_POINTS = 5.0  # of a percentage
_LEAST_MOVE = 0.1  # of a count
_LEAST_PRICE = 0.25
_MOST_STALLS = 2


def reasons(outcome: Outcome) -> list[Moved]:
    """Return the counters that tell why the winner is faster, the most telling first."""
    old, new = _both(outcome)
    found = [
        one
        for one in outcome.moved
        if _is_better(one)
        and not one.metric.startswith(_STALL)
        and one.importance > 0
        and _has_moved(one, _LEAST_MOVE)
        and _matters(one, old, new)
    ]
    told = {one.metric for one in found}
    found = [one for one in found if _SAID_BY.get(one.metric) not in told]
    found += _stalls(outcome, old, new)[:_MOST_STALLS]
    return sorted(found, key=lambda one: (-one.importance, one.metric))


def prices(outcome: Outcome) -> list[Moved]:
    """Return what the winner does more of, or has less of, than the original."""
    old, new = _both(outcome)
    return [
        one
        for one in outcome.moved
        if one.metric in _PRICES
        and not _is_better(one)
        and _has_moved(one, _LEAST_PRICE)
        and _matters(one, old, new)
    ]


def _both(outcome: Outcome) -> tuple[Mapping[str, float], Mapping[str, float]]:
    found = outcome.trajectory
    return totals(found.baseline.verdict), totals(found.best.verdict)


def _is_better(one: Moved) -> bool:
    return (one.after - one.before) * one.meaning.better > 0


def _has_moved(one: Moved, least: float) -> bool:
    if one.meaning.unit == "percent":
        return abs(one.after - one.before) >= _LEAST_POINTS * least / _LEAST_MOVE
    return abs(one.after - one.before) >= least * max(one.before, one.after)


def _matters(one: Moved, old: Mapping[str, float], new: Mapping[str, float]) -> bool:
    """Tell whether a counter stands for a part of the kernel's work that can matter.

    Told by comparison with what it is a part of: an operation of all that is executed, bytes of
    all that are moved. Both kernels are looked at, since the good one may have none left.
    """
    if one.meaning.unit == "percent":
        return max(one.before, one.after) >= 2 * _LEAST_POINTS
    whole, least = 0.0, 0.05
    if one.metric in _BYTES:
        whole = max(sum(side.get(name, 0.0) for name in _BYTES) for side in (old, new))
    elif one.metric in {*_SECTORS, counters.L2_SECTORS}:
        whole = max(sum(side.get(name, 0.0) for name in _SECTORS) for side in (old, new))
    elif one.metric.startswith(_OPERATIONS):
        whole = 32 * max(side.get(counters.INSTRUCTIONS, 0.0) for side in (old, new))
    elif one.meaning.unit == "count" and one.metric != counters.INSTRUCTIONS:
        # One request to memory costs as much as hundreds of instructions.
        whole = max(side.get(counters.INSTRUCTIONS, 0.0) for side in (old, new))
        least = 0.005
    return max(one.before, one.after) >= least * whole


def _stalls(outcome: Outcome, old: Mapping[str, float], new: Mapping[str, float]) -> list[Moved]:
    """Return what warps waited for before and wait for less now, by how much of all that was.

    A stall counter is per issued instruction; times the instructions it is the waiting itself.
    """
    whole = sum(value for name, value in old.items() if _is_stall(name))
    issued = [max(1.0, side.get(counters.INSTRUCTIONS, 1.0)) for side in (old, new)]
    found = []
    for one in outcome.moved:
        if not _is_stall(one.metric) or not _is_better(one) or not whole:
            continue
        share = one.before / whole
        before, after = one.before * issued[0], one.after * issued[1]
        if share < _LEAST_STALL or after > before * (1 - _LEAST_MOVE):
            continue
        fewer = min(math.log(before / after), 3.0) if after else 3.0
        importance = 2.5 * one.meaning.weight * share * fewer
        found.append(Moved(one.metric, one.meaning, one.before, one.after, importance))
    return sorted(found, key=lambda one: -one.importance)


def _is_stall(metric: str) -> bool:
    return metric.startswith(_STALL) and not metric.startswith(_READY)
