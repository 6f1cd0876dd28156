"""The factors by which a candidate mixes the bits of keys, and what is asked of them.

They are the odd numbers of its text that its original's has not, large enough to mix bits, and no
masks: `2654435769u`, `0x9e3779b97f4a7c15`. Whether it makes a table by them is not looked at, since
keys that meet there (`runners.one_slot`) are keys like any others. It is asked where an original
has keys of a wide range: in the largest declared case that is light, and where rows are as long as
declared and as long as a candidate has to be right for, the others few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from runners import sizes
from runners.axes import lengthening, lengths
from runners.contents import Combination
from runners.families import ONE_SLOT, captured_work
from runners.one_slot import WHOLE, keys
from runners.spec import JobSpec, Work
from runners.text import Text, integer

# The least factor, and how many of a text are asked about.
LEAST, FACTORS = 1 << 16, 2
# Elements of all buffers of a case, and sizes that are as long as they may be.
MOST_ELEMENTS, MOST_LONG = 1 << 20, 2

Case = Mapping[str, float]


def beside(job: JobSpec) -> list[Combination]:
    """Return what is asked of a candidate whose text has such factors."""
    if captured_work(job.work) or not any(True for _ in keys(job.work)):
        return []
    known = {*factors(job.baseline.source)}
    own = [one for one in factors(job.kernel.source) if one not in known][:FACTORS]
    cases = list(_cases(job.work)) if own else []
    return [Combination(case, f"{ONE_SLOT} {one}", job.seed) for one in own for case in cases]


@lru_cache(maxsize=8)
def factors(source: str) -> tuple[int, ...]:
    """Return the odd numbers of a text that mix the bits of what they are multiplied by.

    >>> factors("h = k * 2654435769u >> 22; h &= 0xfffff; n * 65536 + 3")
    (2654435769,)
    """
    found: dict[int, None] = {}
    for word in Text(source, macros=True).tokens:
        one = integer(word) if word[:1].isdigit() else None
        if one is not None and one % 2 and LEAST <= one < 1 << WHOLE and one & (one + 1):
            found[one] = None
    return tuple(found)


def _cases(work: Work) -> Iterator[Case]:
    """Yield the largest declared case that is light, and those in which rows are long."""
    declared = [dict(one.values) for one in work.cases]
    fit = [case for case in declared if 0 < sizes.elements(work, case) <= MOST_ELEMENTS]
    found = [max(fit, key=lambda case: sizes.elements(work, case))] if fit else []
    arrays = [argument for argument, _, _ in keys(work)]
    for _, name in lengthening(work, arrays, 1)[:MOST_LONG]:
        found += [case for case in lengths(work, name, MOST_ELEMENTS) if case not in found]
    yield from found
