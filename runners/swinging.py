"""Which originals are asked about whole numbers that swing, and in which cases.

All that read such numbers in the smallest case of over 256 elements, along each axis. Those that
make whole numbers of whole numbers also where lines are as long as declared, and sixteen times
that, the other sizes small: there swings are no larger than leaves an original its own words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runners import sizes, swings
from runners.axes import axes, lengthening, lengths
from runners.families import SWINGS, captured_work
from runners.spec import Work
from runners.swing_ways import ALL
from runners.swings import NEAR
from runners.whole_families import exact

# Axes that are tried, sizes that make lines long, and arrays whose few lines have a turn.
AXES, MOST_LONG, MOST_ARRAYS = 3, 3, 3
# Elements of all buffers of the middle case, and of those in which lines are long.
MOST_ELEMENTS, MOST_LONG_ELEMENTS = 1 << 22, 1 << 18

Case = Mapping[str, float]


def asked(work: Work, middle: Case) -> Iterator[tuple[Case, str]]:
    """Yield cases and families: the middle case, and those in which lines are long, axis by axis.

    As long as the largest declared ones, and as a candidate has to be right for, the others few:
    what a shorter one took tells what the original will take.
    """
    every = [*swings.swinging(work)]
    arrays = [argument for argument, *_ in every]
    if not arrays or captured_work(work):
        return
    for axis in range(AXES) if sizes.elements(work, middle) <= MOST_ELEMENTS else ():
        yield from _turns(work, middle, axis)
    if not exact(work):
        return
    for axis, name in lengthening(work, arrays, AXES)[:MOST_LONG]:
        for case in lengths(work, name, MOST_LONG_ELEMENTS):
            fit = all(swings.room(work, case, one, axis) >= most - low for one, low, most in every)
            yield from _turns(work, case, axis, "" if fit else NEAR)


def _turns(work: Work, case: Case, axis: int, part: str = "") -> Iterator[tuple[Case, str]]:
    """Yield what is asked along an axis: more than once where there are fewer lines than ways."""
    most = 0
    for number, (argument, *_) in enumerate(swings.swinging(work)):
        every = axes(argument, case)
        if axis < len(every) and every[axis][0] >= swings.LEAST_LINE:
            many = sizes.buffer(argument, case) // every[axis][0]
            few = 2 + min(number, MOST_ARRAYS - 1) if many < swings.FIRST else 2
            most = max(most, 1 if many >= ALL else few)
    yield from ((case, f"{SWINGS} {axis} {turn}{part}") for turn in range(most))
