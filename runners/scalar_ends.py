"""Contents beside a scalar that is as large as it may be: as declared, or at ends of their ranges.

The scalar's name stands behind the family's, and what amounts are like behind that: nothing where
they are as declared, `high` or `low` where all of them are at that end (`runners.end_contents`),
and a number before it where one of them is there and all others at the other end
(`runners.opposite_ends`): what is multiplied by the scalar is then as large as it gets, of either
sign. Which originals are asked, and at which values of which scalars, is in `runners.far_scalars`.
"""

from __future__ import annotations

from collections.abc import Mapping

from runners import end_contents, opposite_ends
from runners.families import FAR_ENDS, OPPOSITE
from runners.inputs import Arrays
from runners.spec import Work

SCALAR_ENDS = "scalar-ends"


def family(name: str, contents: str = "") -> str:
    """Return the family of a scalar with such contents.

    >>> family("t"), family("t", "0 low")
    ('scalar-ends t', 'scalar-ends t 0 low')
    """
    return f"{SCALAR_ENDS} {name} {contents}".rstrip()


def scalar(one: str) -> str:
    """Return the scalar of a family; nothing of any other family.

    >>> scalar("scalar-ends t high"), scalar("mixed")
    ('t', '')
    """
    first, _, rest = one.partition(" ")
    return rest.partition(" ")[0] if first == SCALAR_ENDS else ""


def applied(one: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]) -> Arrays:
    """Return arrays as declared, or with amounts at the ends that are behind a scalar's name."""
    contents = one.split(" ")[2:]
    if not contents:
        return arrays
    if len(contents) == 1:
        return end_contents.ends(f"{FAR_ENDS} {contents[0]}", work, arrays, seed, case)
    return opposite_ends.applied(f"{OPPOSITE} {' '.join(contents)}", work, arrays, seed, case)
