"""Neighbours whose numbers, put together in one word, are the same only since the word runs over.

Who keeps an answer for the next one that asks the same makes one word of what is asked: `a * n + b`
in 32 bits names each pair of places as long as there are fewer than 65,536 of them. Of 80,000 the
pair that is 53,687 further in one and 7,296 further in the other has the same word, which chance
draws once in four billion, and sixteen bits run over where there are more than 256. So of two
arrays of one length neighbours are such pairs, by turns: the factor is the number of places of the
other array, or a variable of the case. All else is one number. It is run original and candidate
side by side (`runners.fuzzing`), where sizes are as large as may be, too (`runners.far_cases`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from runners import lone_powers, piles
from runners.inputs import Arrays, filled, stream
from runners.piles import Range
from runners.spec import Work

WORD = "wrapped pairs"
# Words that run over; how often each two neighbours are pairs of their own, and not all the same.
WORDS, OWN = (1 << 32, 1 << 16), 0.7

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]
# What one of two arrays has more, and the other, with the same word; and where words end.
Step = tuple[int, int, int]


def usable(work: Work, case: Case) -> bool:
    """Tell whether two arrays of one length have such pairs at a case."""
    return any(True for _ in _steps(work, case))


def _steps(work: Work, case: Case) -> Iterator[tuple[Range, Range, Step]]:
    every = lone_powers.arrays(work)
    for one in every:
        for other in every:
            if one[0].name == other[0].name or one[0].shape != other[0].shape:
                continue
            spans = [piles.last(which, case) - which[1] for which in (one, other)]
            factors = {spans[1] + 1, piles.last(other, case) + 1, *map(int, case.values())}
            for factor in sorted(each for each in factors if each > 1):
                for word in WORDS:
                    more, rest = divmod(word, factor)
                    for step in ((more, rest), (more + 1, rest - factor)):
                        if step[0] <= spans[0] and abs(step[1]) <= spans[1]:
                            yield one, other, (*step, word)


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays in which neighbours are pairs with one word."""
    rng = stream(seed, WORD, turn)
    steps = list(_steps(work, case))
    out = dict(arrays)
    if not steps:
        return out
    word = rng.choice(sorted({step[2] for _, _, step in steps}))
    steps = [one for one in steps if one[2][2] == word]
    one, other, step = steps[int(rng.integers(len(steps)))]
    own = rng.random() < OWN
    for which in lone_powers.arrays(work):
        argument, low, _ = which
        if argument.name not in arrays:
            continue
        count, high = len(arrays[argument.name]) // argument.type.size, piles.last(which, case)
        names = (one[0].name, other[0].name)
        if argument.name in names:
            by = step[names.index(argument.name)]
            # From where there is room for it.
            first, last = low - min(0, by), high - max(0, by)
            begins = rng.integers(first, last, (count + 1) // 2 if own else 1, endpoint=True)
            at = np.arange(count)
            made: Places = (begins[at // 2] if own else begins[0]) + at % 2 * by
        elif argument.shape == one[0].shape:
            made = np.full(count, piles.within(0, low, high), np.int64)
        else:
            continue
        out[argument.name] = filled(arrays, argument, made)
    return out
