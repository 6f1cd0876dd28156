"""Sizes that a candidate's own text names, with contents that chance makes up.

Where a text has `if (m > 64)` and its original has not, sizes of 64 and 65 are asked with plain
contents (`runners.thresholds`), and a case that shows nothing on these is the only one of its size:
a pattern of 64 letters that chance draws is found in no text. So the cases beside each such number
are run on contents of all kinds, original and candidate side by side, as small cases of declared
sizes are (`runners.fuzzing`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runners import nearly_one, recipes, sizes, thresholds
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
    kinds = KINDS if alike else KINDS[1:]
    for turn in range(CONTENTS):
        for number, case in enumerate(found):
            first = kinds[(turn + number) % len(kinds)] + FIRST
            yield Combination(case, f"{recipes.WORD} {first + turn * CASES + number}", job.seed)


def cases(job: JobSpec) -> list[dict[str, float]]:
    """Return small cases with one variable as large as a number of a candidate's, or one more."""
    if captured_work(job.work) or job.kernel == job.baseline:
        return []
    known = [dict(case.values) for case in job.work.cases]
    found: list[dict[str, float]] = []
    for number, name in thresholds.turns(job):
        for size in (number, number + 1):
            case = sizes.light_with(job.work, name, size)
            if case is not None and case not in (*known, *found) and len(found) < CASES:
                found.append(case)
    return found
