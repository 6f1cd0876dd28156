"""Which originals are asked about whole numbers that stand alone, where all sizes are large.

Sixteen times one size of a plane is sixteen times as many places, and sixteen times both of them is
256 times as many: within decision 8, and more than most counts of few bits hold. All that is long
elsewhere is so along one size, the others small or as declared, and what is large in all of them is
asked where a candidate's text gives a reason (`runners.at_large`). A count of what stands alone
(`runners.isolated`) has no such reason in its text, and needs as many places as there may be.

So of the largest array of whole numbers all sizes that make its rows and planes longer are larger
by the same factor, up to sixteen, as far as all buffers have no more than `MOST_ELEMENTS`; the rest
as in the smallest case, or less where planes would be small. Where rows alone get longer, all sizes
that the array has are large together, too: its first factor may be one of a plane. Rows are whole
words and the others odd, as sums over a power of two places leave nothing of a count. One a fourth
as large along each size comes first, and tells what the original is likely to take.

Originals are those that make whole numbers of whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from runners import capacities, isolated, sizes
from runners.expressions import names
from runners.families import drawn
from runners.spec import Argument, Work
from runners.whole_families import exact
from runners.whole_numbers import factors

# Elements of all buffers; of the array, at least, and how many are as good as more of them: of one
# in four there are more than 16 bits count.
MOST_ELEMENTS, LEAST_ELEMENTS, ENOUGH = 1 << 20, 1 << 12, 5 << 16
# Sizes are tried by factors that are so far apart; how much smaller is what comes first, and what
# rows are multiples of.
STEP, STEPS, FIRST, WORD = 1.03, 300, 4, 32
# Rows and planes that get longer by so many sizes are large by themselves.
MOST_GROUPS = 2

Case = Mapping[str, float]


def asked(work: Work) -> Iterator[tuple[dict[str, float], str]]:
    """Yield cases and families, the smaller case first."""
    if not exact(work):
        return
    for group in _groups(work):
        case = _large(work, group)
        if case is None:
            continue
        before = {**case, **{k: float(max(1, int(case[k]) // FIRST | 1)) for k in group}}
        for one, families in ((before, isolated.FAMILIES[:1]), (case, isolated.FAMILIES)):
            if sizes.elements(work, one) > 0 and isolated.fits(work, one):
                yield from ((one, family) for family in families)


def _largest(work: Work) -> Argument | None:
    """Return the array of whole numbers with most elements where most is declared."""
    top = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    return max(drawn(work), key=lambda one: sizes.buffer(one, top), default=None)


def _groups(work: Work) -> list[list[str]]:
    """Return sizes that are to be large together, the last one that of a row."""
    array = _largest(work)
    if array is None:
        return []
    parts = [names(part) for part in factors(array.shape or "1") if part.strip()]
    order = {name: at for at, part in enumerate(parts) for name in part}
    wide = [name for name in sizes.sizing(work) if sizes.largest(work, name) > sizes.SMALL]
    own = sorted((name for name in wide if name in order), key=order.__getitem__)
    longer = capacities.lengthening(work)
    rows = [name for name in own if name in longer]
    found = [rows, own] if len(rows) < MOST_GROUPS else [rows]
    return [one for at, one in enumerate(found) if one and one not in found[:at]]


def _large(work: Work, group: Sequence[str]) -> dict[str, float] | None:
    """Return the case in which some sizes are as large as they may be together."""
    array = _largest(work)
    least = min(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    ones = {**least, **dict.fromkeys(sizes.sizing(work), 1.0)}
    ones |= {k: v for k, v in least.items() if sizes.largest(work, k) <= sizes.SMALL}
    found: list[dict[str, float]] = []
    for others in (least, *sizes.few_others(work, group[0]), ones):
        case = _grown(work, others, group)
        if case is None or array is None or sizes.buffer(array, case) < LEAST_ELEMENTS:
            continue
        if _places(case, group) >= ENOUGH:
            return case
        found.append(case)
    return max(found, key=lambda case: _places(case, group), default=None)


def _places(case: Case, group: Sequence[str]) -> float:
    return prod(case[name] for name in group)


def _grown(work: Work, others: Case, group: Sequence[str]) -> dict[str, float] | None:
    """Return a case in which some sizes are larger by the same factor; None where none fits."""
    *_, row = group
    for turn in range(STEPS):
        by = sizes.TIMES_LONGER / STEP**turn
        case = dict(others)
        for name in group:
            size = max(1, int(by * sizes.largest(work, name)))
            words = size // WORD * WORD if name == row and size >= WORD else 0
            case[name] = float(words or size - (size % 2 == 0))
        if 0 < sizes.elements(work, case) <= MOST_ELEMENTS:
            return case
    return None
