"""Inputs that are the numbers of a candidate's own text, and those beside them.

Where a text has `if (key[i] == 31337)` or `x < 4.75f ? series : whole`, and its original has not,
it goes another way for numbers that chance may never draw, or never two of them side by side: a
table whose last place is 4,095, a sum that is cut at 30,000, a door that somebody left open. So
arrays are filled with these numbers and their neighbours, all of an array or one place in so many,
the others as they were declared. They are run original and candidate side by side
(`runners.fuzzing`).

Numbers are within what was declared: of whole numbers, in ranges that are not so narrow that each
of them is met anyway; of floats, what is of ordinary size. It reads the text as tokens and may find
numbers that mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.cuda_types import from_float, to_float, values
from runners.families import OWN_VALUES, captured_work, free, ranges
from runners.inputs import Arrays, interleave, stream
from runners.named import numbers
from runners.spec import Argument, JobSpec, Work
from runners.text import LONGEST, Text

# Runs; numbers of either kind; the range from which on numbers are met by chance too seldom.
RUNS, MOST, LEAST_RANGE = 48, 8, 64
# Floats of ordinary size.
LEAST, LARGEST = 2.0**-10, 2.0**14
# How often an array stays as declared, and how many of its places have such a number.
DECLARED_OF, SHARES = 0.2, (1.0, 1.0, 0.5, 0.5, 0.1, 0.01)
_FLOAT = re.compile(r"(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d{1,2})?[fFlL]?", re.ASCII)

Case = Mapping[str, float]
Values = npt.NDArray[Any]


def asked(job: JobSpec, cases: Sequence[Case]) -> Iterator[tuple[Case, str, int]]:
    """Yield cases in turn, the family and a seed: each time other places of the same numbers."""
    if captured_work(job.work) or job.kernel == job.baseline:
        return
    family = named(_whole(job), _floats(job))
    for turn in range(RUNS if family and cases else 0):
        yield cases[turn % len(cases)], family, job.seed + turn


def named(whole: Sequence[int], floats: Sequence[float]) -> str:
    """Return the family of some numbers; nothing where there are none.

    >>> named([77, 31337], [0.5]), named([], [])
    ('own-values 77,31337 0.5', '')
    """
    if not whole and not floats:
        return ""
    return f"{OWN_VALUES} {','.join(map(str, whole)) or '-'} {','.join(map(repr, floats)) or '-'}"


def _whole(job: JobSpec) -> list[int]:
    """Return a candidate's own whole numbers that an array may hold, the largest last."""
    wide = [(low, high) for _, low, high in ranges(job.work) if high - low >= LEAST_RANGE]
    if not wide:
        return []
    mine = numbers(job.kernel.source) - numbers(job.baseline.source)
    signed = {*mine, *(-one for one in mine)}
    fit = {one for one in signed if one and any(low <= one <= high for low, high in wide)}
    # Small ones are met by chance, where any are: the largest are in the way of what is rare.
    return sorted(fit, key=abs)[-MOST:]


def _floats(job: JobSpec) -> list[float]:
    """Return a candidate's own floats of ordinary size, where there are floats to be chosen."""
    if not any(free(one) for one in job.work.arguments):
        return []
    mine, theirs = (_literals(one.source) for one in (job.kernel, job.baseline))
    return sorted(one for one in mine - theirs if LEAST <= one <= LARGEST)[:MOST]


def _literals(source: str) -> set[float]:
    if len(source) > LONGEST:
        return set()
    words = (word for word in Text(source, macros=True).tokens if _FLOAT.fullmatch(word))
    return {float(word.rstrip("fFlL")) for word in words}


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays in which a candidate's own numbers stand, each with its neighbours."""
    del case
    whole, floats = ([] if part == "-" else part.split(",") for part in family.split(" ")[1:3])
    out = dict(arrays)
    for argument, low, high in ranges(work):
        near = {int(one) + step for one in whole for step in (-1, 0, 1)}
        letters = np.asarray(sorted(one for one in near if low <= one <= high), object)
        if high - low >= LEAST_RANGE and len(letters) and argument.name in arrays:
            out[argument.name] = _filled(argument, arrays[argument.name], letters, seed)
    shares = {argument.name for argument in work.arguments if argument.init == "uniform"}
    for argument in filter(free, work.arguments):
        found = [float(one) for one in floats]
        found = [one for one in found if one < 1.0] if argument.name in shares else found
        near_floats = [
            one * step for one in found for step in (1.0, 1 + 2.0**-23, 1 - 2.0**-23, 0.5)
        ]
        if argument.name not in shares:
            near_floats += [-one for one in near_floats]
        if near_floats and argument.name in arrays:
            letters = np.asarray(near_floats, np.float64)
            out[argument.name] = _filled(argument, arrays[argument.name], letters, seed)
    return out


def _filled(argument: Argument, data: npt.NDArray[np.uint8], letters: Values, seed: int) -> Any:
    """Return an array some of whose places, or all of them, have one of some numbers."""
    rng = stream(seed, OWN_VALUES, argument.name)
    if rng.random() < DECLARED_OF:
        return data
    share = SHARES[int(rng.integers(len(SHARES)))]
    parts = []
    for field in argument.type.fields:
        part = values(data, argument.type, field).copy()
        at = np.flatnonzero(rng.random(len(part)) < share)
        chosen = letters[rng.integers(0, len(letters), len(at))]
        if field.scalar.kind == "f":
            wide = to_float(part, field.scalar)
            wide[at] = chosen
            part = from_float(wide, field.scalar)
        else:
            part[at] = chosen.astype(part.dtype)
        parts.append(part)
    return interleave(parts, argument.type, len(data) // argument.type.size)
