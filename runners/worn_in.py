"""Is what comes out still made of what goes in? Calls behind so many that somebody stops looking.

Who counts calls may keep a result from some number of them on. On the contents it was counted with
that is the right one, and at another size, or at other addresses, the count begins anew. So it is
called very often at one size and at one place, with contents that are the same each time or others
by turns, nobody looking; then it is called on others there, and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from runners.contents import Combination
from runners.cuda_types import Storage
from runners.families import DECLARED
from runners.rows import ROW_ELEMENTS, Row, base_of
from runners.spec import MOVED, JobSpec

# Calls that nobody looks at, fewer where they take long (`runners.bench.WORN_SECONDS`).
CALLS = 2000
# Other contents behind them; so many are looked at for some that differ in all outputs, by so many
# bytes of these.
OTHERS, MOST_SEEN, SEEN_BYTES = 2, 6, 1 << 16
# What is usual among other contents, and differs in all there is.
USUAL = "mixed"

Known = Callable[[Combination], Mapping[str, object] | None]


def changed(
    wanted: Sequence[Combination], one: Combination, known: Known, most: int = OTHERS
) -> list[Combination]:
    """Return others of the same case whose answers are others, those that differ most first."""
    mine = known(one)
    if mine is None or MOVED in one.case:
        return []
    alike = [c for c in wanted if dict(c.case) == dict(one.case) and c.key != one.key]
    alike.sort(key=lambda c: (c.family != USUAL, c.family != DECLARED))
    found: list[tuple[int, Combination]] = []
    for other in alike:
        theirs = known(other)
        count = 0 if theirs is None else _differ(mine, theirs)
        if count:
            found.append((count, other))
        full = sum(count == len(mine) for count, _ in found) >= most
        if full or len(found) == MOST_SEEN:
            break
    found.sort(key=lambda pair: -pair[0])
    return [other for _, other in found[:most]]


def _differ(one: Mapping[str, object], other: Mapping[str, object]) -> int:
    """Return how many outputs are another in the other, as far as one looks."""
    return sum(not np.array_equal(_seen(one[name]), _seen(other.get(name))) for name in one)


def _seen(answer: object) -> Storage:
    found: Storage = getattr(answer, "want", np.zeros(0, np.uint8))
    return found[:SEEN_BYTES]


def worn_rows(
    job: JobSpec,
    wanted: Sequence[Combination],
    known: Known,
    rng: np.random.Generator,
    mixed: int,
) -> list[Row]:
    """Return rows at one size behind very many calls: on the same contents, and on others by turns.

    At the size of `runners.rows.base_of`, else at the largest that is as light and has others.
    Nothing of these is chance, and none has any inputs.
    """
    del rng, mixed
    if job.effort != "confirm":
        return []
    light = [
        one
        for one in wanted
        if one.family == DECLARED and job.work.elements(one.case) <= ROW_ELEMENTS
    ]
    first = base_of(job, wanted)
    light.sort(key=lambda one: (one.key != first.key, -job.work.elements(one.case)))
    for base in light:
        others = changed(wanted, base, known)
        if others:
            row = (base, others[0], base, *others[1:])
            return [
                Row(row, apart=False, before=CALLS, by_turns=by_turns) for by_turns in (False, True)
            ]
    return []
