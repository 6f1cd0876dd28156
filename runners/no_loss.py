"""Does an original lose anything of inputs of which it takes differences? By its own runs.

Moving inputs by one rounding error says that anything is right where neighbours are as near to each
other as that. Who takes the differences first loses nothing of them all the same: a difference of
two floats that are near each other is exact. So such inputs (`runners.common_offset`,
`runners.creeping`, `runners.beside_means`) are not moved. What the original gives is compared with
better answers instead, element by element, and with what must not change it; only where nothing
differs by more than the rounding of a result are candidates asked, and they have to keep to the
tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import beside_means, creeping
from runners.cuda_types import from_float, promote, to_float, values
from runners.expectation import FLOAT, Floats
from runners.families import COMMON_OFFSET
from runners.gathered import Gathered, left_alone
from runners.run import Run
from runners.spec import Argument, BaselineFailure, Work

# What a result may be off by, of itself and of either tolerance, but for one rounding error; and
# where doubles are moved by one of theirs. A difference of neighbours loses 2^-28 there, one of
# squares everything.
LINE, LINE_OF_DOUBLES, SHARE, PART = 2.0**-20, 2.0**-24, 1 / 16, 1 / 64

# Those that are asked with another offset, too; of all others doubles are moved.
OFFSETS = frozenset({COMMON_OFFSET, *beside_means.FAMILIES})
FAMILIES = OFFSETS | frozenset(creeping.BEGINS)


def defined(work: Work, gathered: Gathered, wanted: Mapping[str, Floats]) -> None:
    """Raise `BaselineFailure` where the original loses anything, or nothing tells."""
    offset = gathered.combination.family in OFFSETS
    line = max(2 * FLOAT, min(LINE, SHARE * work.rtol))
    if len(gathered.plain) != (1 if offset else 2):
        raise BaselineFailure("nothing tells what is lost of numbers near each other")
    for argument in work.arguments:
        if not argument.written:
            continue
        name, only, first = argument.name, argument.type.scalar, gathered.runs[0]
        if only is None:
            raise BaselineFailure(f"{name} holds several numbers: no better ones are known")
        left = left_alone(work, argument, gathered.combination, gathered.runs)
        kept = slice(None) if left is None else ~np.repeat(left, argument.type.fields[0].lanes)
        mine = _results(argument, first)[kept]
        if only.kind == "f":
            if name not in wanted:
                raise BaselineFailure(f"nothing tells how exact {name} is")
            exact = np.asarray(wanted[name], np.float64)
            shown = to_float(from_float(exact, only), only)[kept]
            if not _near(work, mine, shown, line):
                raise BaselineFailure(f"{name} loses something of numbers near each other")
        if offset:
            other = _results(argument, gathered.plain[0])[kept]
            if not _same(work, mine, other, line):
                raise BaselineFailure(f"{name} depends on an offset in common")
            continue
        twin, moved = (_results(argument, run, promoted=True)[kept] for run in gathered.plain)
        whole = only.kind != "f"
        if (whole and not np.array_equal(mine, twin)) or not _same(
            work, twin, moved, LINE_OF_DOUBLES
        ):
            raise BaselineFailure(f"{name} loses something of neighbours, in doubles, too")


def _results(argument: Argument, run: Run, *, promoted: bool = False) -> npt.NDArray[Any]:
    kind = promote(argument.type) if promoted else argument.type
    one = kind.fields[0]
    data = values(run.outputs[argument.name], kind, one)
    return to_float(data, one.scalar) if one.scalar.kind == "f" else data


def _same(work: Work, mine: npt.NDArray[Any], other: npt.NDArray[Any], line: float) -> bool:
    if mine.dtype.kind != "f":
        return bool(np.array_equal(mine, other))
    return _near(work, other, mine, line)


def _near(work: Work, mine: Floats, want: Floats, line: float) -> bool:
    """Tell whether results are the same but for rounding; not where any is no number."""
    if len(mine) != len(want) or not (np.isfinite(mine).all() and np.isfinite(want).all()):
        return False
    return bool((np.abs(mine - want) <= line * np.abs(want) + PART * work.atol).all())
