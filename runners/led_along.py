"""Is a candidate right where one place leads to the next along all there are? Else refused.

`runners.long_chains` has what it is run on. An original may follow the way from each of its places,
and a candidate as well, by other means: a time that grows with the square is no fault of either. So
it is not asked with all else: the shortest ways come first, each is run twice, and the next only
where it is likely to be quick. What does not come to an end in spite of that is noted, and held
against nobody; what breaks, or is wrong, is.

On the way an original may add up what its words do not hold, and then nothing is promised: a length
is asked only where all results are far from the ends of their words, or marks that are such ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np

from runners import climbing, long_chains
from runners.answers import Answers
from runners.checks import Report
from runners.compare import Answer
from runners.contents import Combination
from runners.cuda_types import values
from runners.long_chains import STEP
from runners.piled_up import EXPECTED
from runners.session import Session
from runners.spec import JobSpec
from runners.whole_families import LEAST_WIDE

LAYER = "long chains"
# Seconds of all that a candidate is run on.
SECONDS = 4.0


def check(
    load: Callable[[], Session],
    answers: Answers,
    job: JobSpec,
    deadline: float,
    report: Report,
) -> tuple[list[str], bool]:
    """Run a candidate on chains, the shortest first; raise `Wrong` and the errors of `runners.gpu`.

    Return a note where one did not come to an end, and whether the device is lost.
    """
    every = lines(job)
    asked = [one for line in every for one in line]

    def told() -> climbing.Lines:
        each = ([*itertools.takewhile(partial(_exact, answers), line)] for line in every)
        return [[[one] for one in line] for line in each if line]

    limits = climbing.Limits(LAYER, EXPECTED, SECONDS)
    return climbing.check(load, answers, job, asked, told, (deadline, report), limits)


def lines(job: JobSpec) -> list[list[Combination]]:
    """Return what is asked, a line for each way, the shortest first."""
    every = long_chains.lines(job.work)
    return [[Combination(case, family, job.seed) for case, family in line] for line in every]


def _exact(answers: Answers, one: Combination) -> bool:
    """Tell whether an original's results are the same each time, and far from overflow."""
    found = answers.of(one)
    return found is not None and not any(
        answer.unordered or not _far(answer) for answer in found.values()
    )


def _far(answer: Answer) -> bool:
    """Tell whether results are far from the ends of their words, or marks: the ends themselves."""
    for field in answer.type.fields:
        data = values(answer.want, answer.type, field)
        if field.scalar.size >= LEAST_WIDE:
            ends = np.iinfo(field.scalar.dtype)
            most = ends.max // STEP
            plain = data[(data != ends.max) & (data != ends.min)]
            low, high = int(plain.min(initial=0)), int(plain.max(initial=0))
            if high > most or low < -most:
                return False
    return True
