"""The best answers there are: the numpy reference's, or those of the original in doubles."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from runners import cancelling, cuda_types, families, recipes, spec
from runners.contents import Combination, Contents
from runners.cuda_types import from_float, to_float, values
from runners.expectation import Floats, call, differing, natural, noise
from runners.gathered import left_alone
from runners.run import Run
from runners.spec import Work

# A reference in numpy is one thread's work; beyond this only the declared family waits for it.
REFERENCE_ELEMENTS = 1 << 22
# Shares of elements in which double precision may give something else altogether: where the
# original is ill-conditioned, and where it branches.
MOST_APART, FEW_APART = 0.5, 1e-3


class Truth:
    """Knows better than the original, where anything does.

    `reference` is the numpy function that does, if there is one. A declared combination tells what
    the double-precision twin is worth: it is asked about first, and a process that is begun later
    is told (`faithful`: the outputs in which it computes the same thing).
    """

    def __init__(
        self,
        work: Work,
        contents: Contents,
        reference: Callable[..., object] | None,
        faithful: Iterable[str] = (),
    ) -> None:
        self.work, self.contents = work, contents
        self._reference = reference
        self._turn = threading.Lock()  # a reference need not be fit for threads
        # Outputs in which the twin computes the same thing, seen on what is declared.
        self._faithful = set(faithful)

    @property
    def faithful(self) -> list[str]:
        """Return the outputs in which the twin is known to compute the same thing."""
        return sorted(self._faithful.copy())  # other threads add to it

    def refers(self, combination: Combination) -> bool:
        """Tell whether the numpy reference is asked about a combination."""
        pointers = [a for a in self.work.arguments if a.type.pointer]
        if cancelling.cancels(combination.family):
            return False  # what a reference adds up in doubles knows less than an exact original
        small = sum(a.elements(combination.case) for a in pointers) <= REFERENCE_ELEMENTS
        family = combination.family.partition("+")
        declared = family[0] == families.DECLARED and not family[2]
        return self._reference is not None and (small or declared)

    def of(
        self, combination: Combination, run: Run, wide: Run | None
    ) -> tuple[dict[str, Floats], str]:
        """Return the best answers there are, and where they come from."""
        if self.refers(combination):
            return self._referred(combination), "reference"
        found = {} if wide is None else self._agreed(combination, run, wide)
        return found, "double precision" if found else "original"

    def _referred(self, combination: Combination) -> dict[str, Floats]:
        """Ask the numpy reference; floats go in and come out as doubles."""
        arrays = self.contents.of(combination)
        arguments: dict[str, Any] = {}
        for argument in self.work.arguments:
            if argument.type.pointer:
                if argument.name in arrays:
                    arguments[argument.name] = natural(arrays[argument.name], argument.type)
            else:
                numbers = spec.scalar_values(argument, combination.case)
                arguments[argument.name] = numbers[0] if len(numbers) == 1 else numbers
        names = [a.name for a in self.work.arguments if a.written]
        if self._reference is None:
            return {}
        with self._turn, np.errstate(all="ignore"):
            found = call(self._reference, arguments)
        if found is None:
            found = {name: arguments[name] for name in names if name in arguments}
        if not isinstance(found, Mapping):
            listed = found if isinstance(found, tuple | list) else (found,)
            found = dict(zip(names, listed, strict=False))
        return {str(name): np.asarray(data).reshape(-1) for name, data in found.items()}

    def _agreed(self, combination: Combination, first: Run, run: Run) -> dict[str, Floats]:
        """Return the twin's outputs where it computed the same thing."""
        out: dict[str, Floats] = {}
        for argument in self.work.arguments:
            if not argument.written or argument.type.scalar is None:
                continue
            kind = cuda_types.promote(argument.type)
            scalar = kind.fields[0].scalar
            if scalar.kind != "f":
                continue
            wide = to_float(values(run.outputs[argument.name], kind, kind.fields[0]), scalar).copy()
            mine = argument.type.fields[0]
            raw = values(first.outputs[argument.name], argument.type, mine)
            narrow = to_float(raw, mine.scalar)
            left = left_alone(self.work, argument, combination, [first])
            kept = slice(None) if left is None else ~np.repeat(left, mine.lanes)
            apart = differing(wide[kept], narrow[kept])
            if apart is None:
                continue
            # What overflows on its way is infinite in the original alone.
            shown = to_float(from_float(wide[kept], mine.scalar), mine.scalar)
            apart |= np.isinf(narrow[kept]) != np.isinf(shown)
            share = float(apart.mean()) if len(apart) else 0.0
            declared = combination.family == families.DECLARED
            # What nobody declared, and is nothing but the original's own rounding, is another
            # number in any order of its sums: of a row that is one number throughout, what is left
            # of it less its mean, divided by what is left of that.
            made_up = recipes.number(combination.family.partition("+")[0]) is not None
            lost = noise(wide[kept], narrow[kept], self.work.atol) if made_up else False
            if share > (FEW_APART if declared else MOST_APART):
                stress = combination.family.partition("+")[0] in families.STRESS
                if not declared and not stress and argument.name in self._faithful:
                    # All of it is ill-conditioned here: the better answer holds, and how far the
                    # original is from it tells how far one may be.
                    part = wide[kept]
                    odd = np.isnan(part) != np.isnan(narrow[kept])
                    odd |= np.isinf(narrow[kept]) != np.isinf(shown)
                    part[odd | lost] = np.inf
                    wide[kept] = part
                    out[argument.name] = wide
                continue
            if declared:
                self._faithful.add(argument.name)
            if share or np.any(lost):
                # Where another precision crosses a threshold, the original is what is wanted; in
                # families nobody declared it may also be ill-conditioned there: anything goes.
                part = wide[kept]
                if declared:
                    part[apart] = narrow[kept][apart]
                else:
                    part[apart | lost] = np.inf
                wide[kept] = part
            out[argument.name] = wide
        return out
