"""Where the original defines its results: what its own runs say of inputs that nobody declared.

Near the ends of what a kernel is for, and where it divides by a zero or lets something grow with
each step, another order of the same steps gives something else, and neither is wrong. There nothing
is held against a candidate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from runners import (
    all_infinite,
    cancelling,
    families,
    impulses,
    last_places,
    logarithms,
    nan_ends,
    nan_signs,
    no_loss,
    spec,
)
from runners.contents import Combination, Contents
from runners.cuda_types import Field, from_float, to_float, values
from runners.expectation import Floats
from runners.gathered import Gathered, Marks, left_alone
from runners.picked import picked
from runners.spec import Argument, BaselineFailure, Work

# With a scalar on the other side of one results are at most so many times as large as with the
# declared one, and as many times as it is moved by. What grows further grows with each step.
MOST_GROWN = 4.0
# With infinities among the inputs at least so much of the results has to be finite.
LEAST_LEFT = 0.25
# Beyond these another order of products and sums may overflow.
RANGE = {"half": 2.0**15, "bfloat16": 2.0**112, "float": 2.0**112, "double": 2.0**1000}


class Domain:
    """Raises `BaselineFailure` for combinations on which the original promises nothing.

    One for all of a workload: inputs on which scalars are moved are judged by the same ones with
    none moved, which come before them.
    """

    def __init__(self, work: Work, contents: Contents) -> None:
        self.work, self.contents = work, contents
        # The largest results by case, of inputs on which scalars are moved, with none moved.
        self._largest: dict[str, dict[str, float]] = {}

    def check(self, gathered: Gathered, wanted: Mapping[str, Floats]) -> None:
        """Raise where results are computed and not chosen, not finite, or grow with each step."""
        combination = gathered.combination
        moved_by = combination.case.get(spec.MOVED, 0.0)
        crosses = moved_by >= spec.ACROSS
        if combination.family == families.VAST:
            self._only_picks(gathered, wanted)
        if combination.family in families.MASKS:
            self._leaves_out(gathered)
        if combination.family in families.THROUGHOUT:
            for argument, _, _, found in self._floats(gathered):
                all_infinite.defined(found, self.given(combination), argument.name)
        if combination.family == families.LAST_PLACES:
            last_places.defined(self.work, gathered.runs[0], gathered.plain)
        if combination.family in no_loss.FAMILIES:
            no_loss.defined(self.work, gathered, wanted)
        if cancelling.cancels(combination.family):
            cancelling.defined(self.work, gathered.runs[0], gathered.plain)
        if combination.family in families.NAN_ENDS:
            nan_ends.defined(self.work, combination.case, gathered.runs[0], gathered.plain)
        if combination.family == families.NAN_BELOW:
            nan_signs.defined(self.work, gathered.runs[0], gathered.plain)
        if combination.family in families.LOG_BELOW:
            logarithms.defined(self.work, gathered.runs[0].outputs)
        odd = crosses or moved_by in {spec.NONE, spec.LASTING}
        if odd and combination.family not in families.NOT_FINITE:
            self._stays_finite(gathered)
        if crosses or self._crossed(combination):
            self._grows_little(gathered)

    def keeps_in_range(self, gathered: Gathered) -> None:
        """Raise where undeclared inputs bring results near overflow: another order goes beyond."""
        lasts = gathered.combination.case.get(spec.MOVED) == spec.LASTING
        family = gathered.combination.family
        # Whose text asks for infinities has a word about what is nearly one.
        odd = families.NOT_FINITE | families.MASKS | families.THROUGHOUT | {families.TOPS}
        if family in odd or (family == families.DECLARED and not lasts):
            return
        most = impulses.MOST if family in families.IMPULSES else math.inf
        for argument, one, _, found in self._floats(gathered):
            # Infinities alone are logarithms of zero and the like.
            largest = float(np.abs(found[np.isfinite(found)]).max(initial=0.0))
            if largest > min(most, RANGE.get(one.scalar.name, math.inf)):
                raise BaselineFailure(
                    f"{argument.name} is {largest:.3g} there: nearly too large for its type"
                )

    def _floats(
        self, gathered: Gathered
    ) -> Iterator[tuple[Argument, Field, slice | Marks, Floats]]:
        """Yield each output of plain floats, which of its elements were written, and these."""
        for argument in self.work.arguments:
            one = argument.type.fields[0]
            if not argument.written or one.scalar.kind != "f" or argument.type.scalar is None:
                continue
            first = gathered.runs[0].outputs[argument.name]
            found = to_float(values(first, argument.type, one), one.scalar)
            left = left_alone(self.work, argument, gathered.combination, gathered.runs)
            kept = slice(None) if left is None else ~np.repeat(left, one.lanes)
            yield argument, one, kept, found[kept]

    def _stays_finite(self, gathered: Gathered) -> None:
        """Raise where a value is none for a parameter: something is divided by zero, or grows."""
        for argument, _, _, found in self._floats(gathered):
            if not np.isfinite(found).all():
                what = gathered.combination.case[spec.MOVED]
                near = "near one" if what == spec.LASTING else "of another kind"
                scalar = "of zero" if what == spec.NONE else near
                raise BaselineFailure(f"{argument.name} is not finite with a scalar {scalar}")

    def _leaves_out(self, gathered: Gathered) -> None:
        """Raise where infinities among the inputs go nearly everywhere: they mean nothing there."""
        every = [np.isfinite(found) for _, _, _, found in self._floats(gathered)]
        count = sum(len(one) for one in every)
        if sum(int(one.sum()) for one in every) < LEAST_LEFT * count or not count:
            raise BaselineFailure("most results are not finite with infinities among the inputs")

    def _crossed(self, combination: Combination) -> bool:
        """Tell whether it is asked with scalars on the other side of one, too."""
        if combination.family != spec.ACROSS_FAMILY or spec.MOVED in combination.case:
            return False
        declared = any(dict(c.values) == dict(combination.case) for c in self.work.cases)
        return declared and bool(spec.each_across(self.work, combination.case))

    def _grows_little(self, gathered: Gathered) -> None:
        """Raise where a scalar on the other side of one is multiplied by at each of many steps.

        What grows with each step is one order's rounding, and another one's overflow. The largest
        results on the same inputs are kept to tell that by.
        """
        case = gathered.combination.case
        plain = {name: value for name, value in case.items() if name != spec.MOVED}
        key = replace(gathered.combination, case=plain).key
        largest = {
            argument.name: float(np.abs(found[np.isfinite(found)]).max(initial=0.0))
            for argument, _, _, found in self._floats(gathered)
        }
        if len(plain) == len(case):
            self._largest[key] = largest
            return
        if key not in self._largest:
            raise BaselineFailure("how large results are with the declared scalars is not known")
        most = MOST_GROWN * spec.factor(self.work, case)
        for name, size in largest.items():
            known = self._largest[key].get(name, 0.0)
            if size > most * known:
                raise BaselineFailure(
                    f"{name} is {size:.3g} with a scalar on the other side of one, with the"
                    f" declared {known:.3g}: it grows with each step"
                )

    def given(self, combination: Combination) -> Floats:
        """Return all floats that go in."""
        arrays = self.contents.of(combination)
        every = [
            to_float(values(arrays[a.name], a.type, one), one.scalar)
            for a in self.work.arguments
            if a.name in arrays
            for one in a.type.fields
            if one.scalar.kind == "f"
        ]
        return np.concatenate(every or [np.zeros(0)])

    def _only_picks(self, gathered: Gathered, wanted: Mapping[str, Floats]) -> None:
        """Raise where vast inputs are computed with: other ways to the same result overflow."""
        given, seen = self.given(gathered.combination), False
        for argument, one, kept, found in self._floats(gathered):
            exact = wanted.get(argument.name)
            if exact is not None:
                rounded = from_float(np.asarray(exact, np.float64), one.scalar)
                exact = to_float(rounded, one.scalar)[kept]
            if not picked(found, given, exact):
                raise BaselineFailure(f"{argument.name} is computed there, and not chosen")
            seen = True
        if not seen:
            raise BaselineFailure("no float is chosen there")
