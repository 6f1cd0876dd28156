"""Effects that reach far: one large number among zeros, and nothing that ends it on its way.

What is carried from step to step and fades by a factor each time is small after some hundred steps,
and who begins so far behind each stretch with nothing is right for all numbers of like size. A
single element that is large for the others is felt much further. By chance it is not there; or what
it is carried by ends on the way, as at one step of sixty an episode does; or rows are too short.

So each array of floats is zero but for its first and its last element, which are 2^27 in one array,
half of that in the next, and so on, since equal ones might cancel, and what is left would be all
rounding. Their squares and products are floats, too, and a power of two has nothing to be rounded.
Whole numbers are at the upper end of their range, all of them, and once at the lower: what tells an
end by one of the two never tells it by the other. Shares are near one, and once near zero, for what
is multiplied by them, or by what they leave of one. It is asked of originals that go through loops,
with some number between zero and one to fade by, and in small cases with a size as long as it is
asked for anyway.

In these cases scalars that fade are nearer to one, too (`spec.LASTING`), with contents as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from runners import sizes
from runners.cuda_types import Scalar, from_float, to_float, values
from runners.families import DECLARED, REACHES, captured_work, chosen, ranges
from runners.inputs import FREE, Arrays, interleave
from runners.spec import LASTING, MOVED, Argument, Work, moves

# What is large. Elements of a case, how long a size is at least, and how many cases there are.
LARGE, MOST_ELEMENTS, LEAST_LONG, MOST_CASES = 2.0**27, 1 << 18, 512, 2
# So many arrays have another one each.
MOST_LARGE = 8
# How far from one, or from zero, a share is.
NEAR = 1 / 64
_WHOLE = frozenset({"float", "double"})

Values = npt.NDArray[np.generic]


def fades(work: Work) -> bool:
    """Tell whether something may be carried along rows of floats, and come out as floats."""
    fields = [
        (argument, one.scalar)
        for argument in work.arguments
        if argument.type.pointer
        for one in argument.type.fields
    ]
    # Of halves nothing as large has a square.
    fine = all(one.name in _WHOLE for _, one in fields if one.kind == "f")
    floats = all(one.kind == "f" for argument, one in fields if argument.written)
    shares = any(a.init == "uniform" and a.role != "output" for a, _ in fields)
    fading = work.fades or (work.loops and (shares or LASTING in moves(work)))
    return fine and floats and fading and chosen(work) and not captured_work(work)


def asked(work: Work) -> Iterator[tuple[dict[str, float], str]]:
    """Yield cases and families: light and long ones, with scalars as declared and nearer to one."""
    if not fades(work):
        return
    lasting = LASTING in moves(work)
    for case in cases(work):
        yield from ((case, family) for family in REACHES)
        if lasting:
            yield {**case, MOVED: float(LASTING)}, DECLARED


def cases(work: Work) -> list[dict[str, float]]:
    """Return the cases in which a size is as long as in any that is light and asked anyway."""
    every = [dict(one.values) for one in sizes.undeclared(work, limit=10, large=11, between=2)]
    fit = [one for one in every if sizes.elements(work, one) <= MOST_ELEMENTS]
    found: list[dict[str, float]] = []
    for name in sizes.sizing(work):
        longest = max(fit, key=lambda case: case.get(name, 0.0), default={})
        least = max(LEAST_LONG, sizes.largest(work, name))
        if longest.get(name, 0.0) >= least and longest not in found:
            found.append(longest)
    return found[:MOST_CASES]


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of zeros with one large number at each end."""
    del seed, case
    out, upper = dict(arrays), family == REACHES[0]
    ends = {a.name: last if upper else low for a, low, last in ranges(work)}
    for number, argument in enumerate(work.arguments):
        name, kind = argument.name, argument.type
        if name not in arrays or not kind.pointer:
            continue
        parts = []
        for one in kind.fields:
            data = values(arrays[name], kind, one)
            if name in ends:
                parts.append(np.full_like(data, ends[name]))
            elif one.scalar.kind == "f" and argument.init in FREE:
                large = LARGE / 2 ** (number % MOST_LARGE)
                parts.append(_floats(argument, data, one.scalar, large, upper=upper))
            else:
                parts.append(data)
        out[name] = interleave(parts, kind, len(arrays[name]) // kind.size)
    return out


def _floats(
    argument: Argument, data: Values, scalar: Scalar, large: float, *, upper: bool
) -> Values:
    if argument.init == "uniform":
        part = NEAR * to_float(data, scalar)
        return from_float(1.0 - part if upper else part, scalar)
    made = np.zeros(len(data))
    made[:1], made[-1:] = large, large
    return from_float(made, scalar)
