"""Sizes that a candidate's own text names, with contents that chance makes up.

Where a text has `if (m > 64)` and its original has not, sizes of 64 and 65 are asked with plain
contents (`runners.thresholds`), and a case that shows nothing on these is the only one of its size:
a pattern of 64 letters that chance draws is found in no text. So the cases beside each such number
are run on contents of all kinds, original and candidate side by side, as small cases of declared
sizes are (`runners.fuzzing`). A number that both texts have may be one that a size is compared with
in the candidate's alone, as in `if (n <= LETTERS) return`: those come first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from runners import each_once, named, nearly_one, recipes, sizes, thresholds
from runners.contents import Combination
from runners.families import captured_work
from runners.spec import JobSpec

# Cases, and contents of each.
CASES, CONTENTS = 12, 24
# The first number of what no other run of small cases is on, and whose turn it is.
FIRST = 1 << 17
KINDS = (recipes.NEARLY_ONE, recipes.FUZZED, recipes.CROSSED, recipes.FUZZED)

Case = Mapping[str, float]


def asked(job: JobSpec) -> Iterator[Combination]:
    """Yield what is run: each case with one kind of contents, then each with the next."""
    found = cases(job)
    alike = nearly_one.usable(job.work) or nearly_one.floats(job.work)
    plain = KINDS if alike else KINDS[1:]
    kinds = [
        (*plain, recipes.EACH_ONCE) if each_once.usable(job.work, case) else plain for case in found
    ]
    for turn in range(CONTENTS):
        for number, case in enumerate(found):
            first = kinds[number][(turn + number) % len(kinds[number])] + FIRST
            yield Combination(case, f"{recipes.WORD} {first + turn * CASES + number}", job.seed)


def cases(job: JobSpec) -> list[dict[str, float]]:
    """Return small cases with one variable beside what it is compared with in a candidate's text.

    Behind them are those with one as large as a number that its original has not, or one more.
    """
    if captured_work(job.work) or job.kernel == job.baseline:
        return []
    known = [dict(case.values) for case in job.work.cases]
    found: list[dict[str, float]] = []
    beside = ((size, name) for at, name in thresholds.turns(job) for size in (at, at + 1))
    for size, name in itertools.chain(_gates(job), beside):
        case = sizes.light_with(job.work, name, size)
        if case is not None and case not in (*known, *found) and len(found) < CASES:
            found.append(case)
    return found


def _gates(job: JobSpec) -> Iterator[tuple[int, str]]:
    """Yield what sizes that are passed are compared with in a candidate's text alone."""
    changing = {*sizes.changing(job.work)}
    pair = job.kernel.source, job.baseline.source
    for at, argument in enumerate(job.work.arguments):
        if argument.type.pointer or argument.value not in changing:
            continue
        mine, theirs = (named.of_argument(text, job.work.symbol, at) for text in pair)
        # Sizes of one are tried anyway.
        yield from ((number, argument.value) for number in sorted(mine - theirs) if number > 1)
