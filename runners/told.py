"""Whether an original's results on ever longer rows tell that its own sums fit into its words.

What its own sums do not hold is promised by nobody, and what it makes of them is another's to make
otherwise. Nothing says how wide its words are: a sum of 32 bits may be written into 64. So results
are held against those of two shorter rows. Either the one before is so small that the next, if it
grows with the cube of the length at most, fits into 32 bits; or it goes on as the two before say,
by whatever power of the length they grow. What runs over does not: it has lost a multiple of 2^32,
which is most of it. The first two are no longer than declared, and right.

Elements are looked at one by one where all three have as many, else the largest and the smallest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from runners.compare import Answer
from runners.cuda_types import values

# The narrowest words that are looked at; how a sum may grow with a length; how far from what is
# told a result may be.
WORD, POWER, PART = 1 << 31, 3, 1 / 8
# So many are right by themselves.
FIRST = 2

Answered = Mapping[str, Answer] | None
Numbers = npt.NDArray[np.float64]


def told(lengths: Sequence[float], every: Sequence[Answered]) -> int:
    """Return how many of an original's answers tell that nothing overflows, from the first on."""
    for many, now in enumerate(every):
        if now is None or any(answer.unordered for answer in now.values()):
            return many
        if many >= FIRST:
            three = [one for one in every[many - FIRST : many + 1] if one is not None]
            if not _goes_on(lengths[many - FIRST : many + 1], three):
                return many
    return len(every)


def _goes_on(lengths: Sequence[float], three: Sequence[Mapping[str, Answer]]) -> bool:
    for name, last in three[-1].items():
        for field in last.type.fields:
            data = [values(one[name].want, last.type, field) for one in three]
            ends = np.iinfo(field.scalar.dtype)
            if not follows(lengths, data, (float(ends.min), float(ends.max))):
                return False
    return True


def follows(
    lengths: Sequence[float],
    three: Sequence[npt.NDArray[np.generic]],
    ends: tuple[float, float],
) -> bool:
    """Tell whether the last of three results is what the two before say.

    `ends` are those of its words.

    >>> ends = float(-2**31), float(2**31 - 1)
    >>> sums = [np.asarray([n * n * 9]) for n in (640, 2560, 10240)]
    >>> follows((640, 2560, 10240), sums, ends), follows((640, 2560, 10240), sums, (0.0, 2.0**63))
    (True, True)
    >>> sums[2] = sums[2] * 3 % 2**32
    >>> sums[0], sums[1] = sums[0] * 3, sums[1] * 3
    >>> follows((640, 2560, 10240), sums, ends)
    False
    """
    if not len(three[-1]):
        return True
    longer = [after / before for before, after in pairwise(lengths)]
    small = WORD / longer[1] ** POWER
    counts = {len(one) for one in three}
    if len(counts) > 1:
        ordered = [one if len(one) else np.zeros(1) for one in three]
        three = [np.asarray([one.min(), one.max()]) for one in ordered]
    first, second, last = (one.astype(np.float64) for one in three)
    if float(np.abs(second).max()) < small:
        return True
    same = last == second
    with np.errstate(all="ignore"):
        power = np.log(second / first) / math.log(longer[0])
        next_ = second * longer[1] ** power
        near = np.abs(last - next_) <= PART * np.abs(next_)
    fits = (next_ * (1 + PART) < ends[1]) & (next_ * (1 + PART) > ends[0])
    little = (np.abs(second) < small) & (np.abs(last) < small)
    return bool((same | little | (near & fits)).all())
