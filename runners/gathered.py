"""What runs of the original gave for one combination, before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runners.contents import Combination
from runners.cuda_types import Storage
from runners.run import Run
from runners.scenes import poison_of
from runners.spec import Argument, Work

# Why there is no answer where halves are added up by atomics.
ORDER_DECIDES = (
    "sums of few digits, rounded at every step, depend on their order: nothing is promised for "
    "inputs that were not declared"
)

Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Regardless:
    """Runs with a number for the NaN among the inputs; see `runners.regardless`.

    `marks` has, by output, the scalars that are NaN with the NaN and the same with any number.
    `before` is the first run with the NaN, as it came.
    """

    combination: Combination
    run: Run
    wide: Run | None
    moved: list[tuple[Combination, Run, Run | None]]
    marks: Mapping[str, Marks]
    before: Run


@dataclass(frozen=True, slots=True)
class Gathered:
    """Runs of one combination: as it is, in double precision, and with inputs moved a little.

    `seconds` is what a run takes with all that belongs to it, `took` what its launches do, or zero.
    """

    combination: Combination
    runs: list[Run]
    wide: Run | None
    moved: list[tuple[Combination, Run, Run | None]]
    seconds: float
    # With NaN for every infinity and denormal among the inputs; None where there are none.
    undefined: Run | None = None
    # None where no result is the same whatever stands for a NaN.
    regardless: Regardless | None = None
    took: float = 0.0
    # With halves moved alone; None where that tells nothing that is not told otherwise.
    halved: Run | None = None
    # With numbers in the place of a NaN at the end of rows (`runners.nan_ends`), a NaN of the other
    # sign (`runners.nan_signs`), another offset of all floats (`runners.last_places`), or with
    # nothing that cancels (`runners.cancelling`).
    plain: Sequence[Run] = ()

    @property
    def nbytes(self) -> int:
        """Return the bytes of all outputs that are held."""
        every = [*self.runs, self.wide, self.undefined, self.halved, *self.plain]
        if self.regardless is not None:
            every += [self.regardless.run, self.regardless.wide]
            every += [run for _, *two in self.regardless.moved for run in two]
        every += [run for _, *two in self.moved for run in two]
        return sum(data.nbytes for run in every if run for data in run.outputs.values())


def left_alone(
    work: Work, argument: Argument, combination: Combination, runs: list[Run]
) -> Marks | None:
    """Mark the elements that hold their poison after every run; None when there are none."""
    if argument.role != "output":
        return None
    size = argument.type.size
    left: Marks | None = None
    # The run with NaN poison first: where nothing holds all ones, nothing was left alone.
    for run in sorted(runs, key=lambda r: -r.poison):
        poison = poison_of(work, combination.case, argument.name, run.poison)
        kept = _same_rows(run.outputs[argument.name], poison, size)
        left = kept if left is None else left & kept
        if not left.any():
            return None
    return left


def _same_rows(left: Storage, right: Storage, size: int) -> Marks:
    """Tell for each element whether all its bytes agree."""
    if size in {1, 2, 4, 8}:
        return np.asarray(left.view(f"u{size}") == right.view(f"u{size}"))
    rows = left.reshape(-1, size) == right.reshape(-1, size)
    return np.asarray(rows.all(axis=1))
