"""From what the original gave to answers: what is right, and how far from it still is."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import captured, cuda_types, families, inputs, spec
from runners.bench import Run
from runners.compare import SMALLEST, Budget, few_ulp, noise_by_exponent, same_bytes, within
from runners.contents import Combination, Contents
from runners.cuda_types import Field, Storage, from_float, to_float, values
from runners.expectation import (
    Floats,
    as_captured,
    as_json,
    call,
    check_reference,
    differing,
    natural,
    near_zero,
    stability,
)
from runners.float_families import PARTS
from runners.gathered import Gathered, Marks, left_alone
from runners.partners import together
from runners.picked import picked
from runners.sizes import TIMES_LONGER
from runners.spec import Argument, BaselineFailure, Json, SpecError, Work

# A reference in numpy is one thread's work; beyond this only the declared family waits for it.
REFERENCE_ELEMENTS = 1 << 22
SAMPLE = 1 << 20
# Shares of elements in which double precision may give something else altogether: where the
# original is ill-conditioned, and where it branches.
DOUBLE_SHARE = 1e-4
MOST_APART, FEW_APART = 0.5, 1e-3
UNDECLARED = 3.0  # what noise counts for on structured inputs, where errors may go one way
# As much again within the tolerance, for results of the roundoff of a float or less.
STRETCH, FINE = 4.0, 2.0**-24
WAIT_SECONDS = 60.0
# With a scalar on the other side of one results are at most so many times as large as with the
# declared one, and as many times as it is moved by. What grows further grows with each step.
MOST_GROWN = 4.0
# Beyond these another order of products and sums may overflow.
RANGE = {"half": 2.0**15, "bfloat16": 2.0**112, "float": 2.0**112, "double": 2.0**1000}


class Digest:
    """Makes answers of what was gathered: array work, for any thread.

    `reference` is the numpy function that knows better than the original, if there is one. Answers
    go to files in `folder`.
    """

    def __init__(
        self,
        work: Work,
        folder: Path,
        contents: Contents,
        reference: Callable[..., object] | None,
    ) -> None:
        self.work, self.folder, self.contents = work, folder, contents
        self._reference = reference
        self._turn = threading.Lock()  # a reference need not be fit for threads
        # Outputs in which the twin computes the same thing, seen on what is declared.
        self._faithful: set[str] = set()
        # The largest results by case, of inputs on which scalars are moved, with none moved.
        self._largest: dict[str, dict[str, float]] = {}
        self._declared: threading.Event | None = None

    def expect_declared(self) -> None:
        """Note that a declared combination has been run: others wait until it is digested."""
        if self._declared is None:
            self._declared = threading.Event()

    def refers(self, combination: Combination) -> bool:
        """Tell whether the numpy reference is asked about a combination."""
        pointers = [a for a in self.work.arguments if a.type.pointer]
        small = sum(a.elements(combination.case) for a in pointers) <= REFERENCE_ELEMENTS
        family = combination.family.partition("+")
        declared = family[0] == families.DECLARED and not family[2]
        return self._reference is not None and (small or declared)

    def digest(self, gathered: Gathered) -> Json:
        """Return the description of a combination's answers, whose bytes are put into files.

        Raises `BaselineFailure` when the original does not define this combination. Undeclared
        families wait for a declared one, which tells what the twin is worth.
        """
        combination = gathered.combination
        if combination.family != families.DECLARED:
            if self._declared is not None:
                self._declared.wait(WAIT_SECONDS)
            return self._described(gathered)
        try:
            return self._described(gathered)
        finally:
            if self._declared is not None:
                self._declared.set()

    def _described(self, gathered: Gathered) -> Json:
        combination = gathered.combination
        moved_by = combination.case.get(spec.MOVED, 0.0)
        crosses = moved_by >= spec.ACROSS
        self._keeps_in_range(gathered)
        try:
            wanted, source = self._truth(combination, gathered.runs[0], gathered.wide)
            moved = [(run, self._truth(other, run, wide)[0]) for other, run, wide in gathered.moved]
        except SpecError as error:
            if combination.family not in families.ASKED and not crosses:
                raise
            # A reference need not be made for nothing but NaN: `numpy.nanargmax` raises. Nor for
            # a part of more than one.
            raise BaselineFailure(f"the reference has no answer there: {error}") from error
        if combination.family == families.VAST:
            self._only_picks(gathered, wanted)
        odd = crosses or moved_by in {spec.NONE, spec.LASTING}
        if odd and combination.family not in families.NOT_FINITE:
            self._stays_finite(gathered)
        if crosses or self._crossed(combination):
            self._grows_little(gathered)
        outputs = [
            self._output(argument, gathered, moved, wanted, source)
            for argument in self.work.arguments
            if argument.written
        ]
        self._join(outputs, gathered)
        return {
            "key": combination.key,
            "status": "ok",
            "source": source,
            "seconds": gathered.seconds,
            "outputs": outputs,
        }

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

    def _keeps_in_range(self, gathered: Gathered) -> None:
        """Raise where undeclared inputs bring results near overflow: another order goes beyond."""
        lasts = gathered.combination.case.get(spec.MOVED) == spec.LASTING
        family = gathered.combination.family
        if family in families.NOT_FINITE or (family == families.DECLARED and not lasts):
            return
        for argument, one, _, found in self._floats(gathered):
            # Infinities alone are logarithms of zero and the like.
            largest = float(np.abs(found[np.isfinite(found)]).max(initial=0.0))
            if largest > RANGE.get(one.scalar.name, math.inf):
                raise BaselineFailure(
                    f"{argument.name} is {largest:.3g} there: nearly too large for its type"
                )

    def _stays_finite(self, gathered: Gathered) -> None:
        """Raise where a value is none for a parameter: something is divided by zero, or grows."""
        for argument, _, _, found in self._floats(gathered):
            if not np.isfinite(found).all():
                what = gathered.combination.case[spec.MOVED]
                near = "near one" if what == spec.LASTING else "of another kind"
                scalar = "of zero" if what == spec.NONE else near
                raise BaselineFailure(f"{argument.name} is not finite with a scalar {scalar}")

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

    def _only_picks(self, gathered: Gathered, wanted: Mapping[str, Floats]) -> None:
        """Raise where vast inputs are computed with: other ways to the same result overflow."""
        arrays, seen = self.contents.of(gathered.combination), False
        given = [
            to_float(values(arrays[a.name], a.type, one), one.scalar)
            for a in self.work.arguments
            if a.name in arrays
            for one in a.type.fields
            if one.scalar.kind == "f"
        ]
        for argument, one, kept, found in self._floats(gathered):
            exact = wanted.get(argument.name)
            if exact is not None:
                rounded = from_float(np.asarray(exact, np.float64), one.scalar)
                exact = to_float(rounded, one.scalar)[kept]
            if not picked(found, np.concatenate(given), exact):
                raise BaselineFailure(f"{argument.name} is computed there, and not chosen")
            seen = True
        if not seen:
            raise BaselineFailure("no float is chosen there")

    def _truth(
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
            if share > (FEW_APART if declared else MOST_APART):
                stress = combination.family.partition("+")[0] in families.STRESS
                if not declared and not stress and argument.name in self._faithful:
                    # All of it is ill-conditioned here: the better answer holds, and how far the
                    # original is from it tells how far one may be.
                    part = wide[kept]
                    part[np.isnan(part) != np.isnan(narrow[kept])] = np.inf
                    wide[kept] = part
                    out[argument.name] = wide
                continue
            if declared:
                self._faithful.add(argument.name)
            if share:
                # Where another precision crosses a threshold, the original is what is wanted; in
                # families nobody declared it may also be ill-conditioned there: anything goes.
                part = wide[kept]
                part[apart] = narrow[kept][apart] if declared else np.inf
                wide[kept] = part
            out[argument.name] = wide
        return out

    def _captured(
        self, argument: Argument, combination: Combination, nbytes: int
    ) -> Storage | None:
        """Return what the program's own launch wrote, if this combination is a captured launch."""
        if combination.family != families.DECLARED or captured.place(argument.init) is None:
            return None
        if all(dict(case.values) != dict(combination.case) for case in self.work.cases):
            return None
        return captured.expected(self.work.root, argument.init, combination.case, nbytes)

    def _output(
        self,
        argument: Argument,
        gathered: Gathered,
        moved: list[tuple[Run, dict[str, Floats]]],
        wanted: Mapping[str, Floats],
        source: str,
    ) -> Json:
        """Work out what one output must be and how far from it is right."""
        name, kind, combination = argument.name, argument.type, gathered.combination
        same = [run.outputs[name] for run in gathered.runs]
        untouched = left_alone(self.work, argument, combination, gathered.runs)
        after = self._captured(argument, combination, len(same[0]))
        if after is not None:
            same = [as_captured(name, kind, after, same[0], untouched), *same]
        unordered = stability(name, kind, same, untouched)
        truth = wanted.get(name) if source == "double precision" else None
        lenient = combination.family in families.STRESS or (
            truth is not None
            and combination.family != families.DECLARED
            and bool(np.isinf(truth).any())
        )
        keeps = combination.family == families.INFINITIES and not unordered
        longer = self._times_longer(combination)
        usual = PARTS if combination.family == families.THOUSANDTH else 1.0
        budgets: list[Json | None] = []
        parts: list[npt.NDArray[Any]] = []
        for one in kind.fields:
            data = [values(storage, kind, one) for storage in same]
            others = [(values(r.outputs[name], kind, one), truth.get(name)) for r, truth in moved]
            mask = None if untouched is None else np.repeat(untouched, one.lanes)
            want = None if unordered else wanted.get(name)
            if want is not None and (len(want) != len(data[0]) or len(kind.fields) > 1):
                raise SpecError(
                    f"the reference gives {len(want)} values of {name}; its shape is {len(data[0])}"
                )
            # Whole numbers that a float holds exactly: no order of summation changes them.
            integers = combination.family == "integers"
            declared = combination.family == families.DECLARED
            terms = (mask, unordered, integers, declared)
            part, budget = self._field(one, data, others, want, terms, longer=longer, usual=usual)
            if want is not None and source == "reference":
                where = f"{combination.key.split('|')[0]}: {name}"
                check_reference(where, budget, want, (data[0], one, mask, lenient))
            budgets.append(budget)
            part = data[0] if budget is None else part
            parts.append(_infinite_kept(part, data[0], one) if keeps else part)
        size = len(same[0]) // kind.size
        word = f"{combination.key}|{name}"
        stem = self.folder / hashlib.sha256(word.encode()).hexdigest()[:20]
        inputs.interleave(parts, kind, size).tofile(f"{stem}.want")
        if untouched is not None:
            np.packbits(untouched).tofile(f"{stem}.left")
        return {
            "name": name,
            "stem": stem.name,
            "budgets": budgets,
            "elements": size,
            "untouched": untouched is not None,
            "unordered": unordered,
            "lenient": lenient,
            "infinite": keeps,
            "empty": self._of_nothing(combination),
            "odd": 0 if unordered else self._odd(argument, gathered, str(stem)),
            "spreads": self._spreads(argument, combination, same[0], unordered=unordered),
        }

    def _of_nothing(self, combination: Combination) -> bool:
        """Tell whether a variable is zero that nobody declared as zero: a size of nothing.

        The mean of nothing is NaN, and promised to nobody; its sum is zero, and a number.
        """
        return any(
            value == 0 and all(case.values.get(name) != 0 for case in self.work.cases)
            for name, value in combination.case.items()
        )

    def _times_longer(self, combination: Combination) -> float:
        """Return how many times the largest declared a size is; one where none is larger."""
        times = (
            value / max(case.values.get(name, math.inf) for case in self.work.cases)
            for name, value in combination.case.items()
            if name in self.work.variables and value > 0
        )
        return max([1.0, *times])

    def _odd(self, argument: Argument, gathered: Gathered, stem: str) -> int:
        """Mark in a file what depends on an infinity or denormal; return of how many scalars."""
        kind = argument.type
        if gathered.undefined is None or kind.scalar is None or kind.scalar.kind != "f":
            return 0
        after, before = (
            np.isnan(
                to_float(values(run.outputs[argument.name], kind, kind.fields[0]), kind.scalar)
            )
            for run in (gathered.undefined, gathered.runs[0])
        )
        odd = after & ~before
        if not odd.any():
            return 0
        np.packbits(odd).tofile(f"{stem}.odd")
        return len(odd)

    def _join(self, outputs: list[Json], gathered: Gathered) -> None:
        """Note which outputs in any order belong together, element by element."""
        arguments = {a.name: a for a in self.work.arguments}
        free = [o for o in outputs if o["unordered"]]
        if not free:
            return
        groups: dict[bytes, list[Json]] = {}
        marks: dict[bytes, Marks | None] = {}
        for output in free:
            left = left_alone(
                self.work, arguments[output["name"]], gathered.combination, gathered.runs
            )
            key = f"{output['elements']} ".encode() + (b"" if left is None else left.tobytes())
            marks[key] = left
            groups.setdefault(key, []).append(output)
        for key, group in groups.items():
            kinds = [arguments[o["name"]].type for o in group]
            runs = [[run.outputs[o["name"]] for o in group] for run in gathered.runs]
            left = marks[key]
            if left is not None:
                runs = [
                    [d.reshape(-1, k.size)[~left].ravel() for k, d in zip(kinds, run, strict=True)]
                    for run in runs
                ]
            belong = together(kinds, runs)
            for output in group:
                output["joined"] = [o["name"] for o in group] if belong else []
                output["looked"] = belong is not None

    def _spreads(
        self, argument: Argument, combination: Combination, data: Storage, *, unordered: bool
    ) -> bool:
        """Tell whether a NaN goes further than the element it stands for.

        A maximum or a comparison may take one NaN or leave it, as it is written; a sum may not. Of
        nothing but NaN the original makes one because it means to.
        """
        one = argument.type.fields[0]
        if one.scalar.kind != "f" or combination.family not in {"nan", *families.ASKED}:
            return False
        if combination.family in families.ASKED:
            return combination.family == families.ALL_NAN or not unordered
        count = int(np.isnan(to_float(values(data, argument.type, one), one.scalar)).sum())
        read = max(
            (
                a.elements(combination.case)
                for a in self.work.arguments
                if a.type.pointer and a.role != "output"
            ),
            default=0,
        )
        return count > 1 or argument.elements(combination.case) < read

    def _field(
        self,
        one: Field,
        data: list[npt.NDArray[Any]],
        moved: list[tuple[npt.NDArray[Any], Floats | None]],
        want: Floats | None,
        terms: tuple[Marks | None, bool, bool, bool],
        *,
        longer: float = 1.0,
        usual: float = 1.0,
    ) -> tuple[npt.NDArray[Any], Json | None]:
        """Return wanted values of a field and the budget earned by the original's own errors.

        Of large outputs a sample of the elements tells the noise, all of them its own error.
        `longer`: how many times the declared a size is; the original's errors go either way and
        grow with its root, those of tensor cores, which cut off what does not fit, with itself.
        `usual`: so many times as large results are on the inputs that were declared.
        """
        if one.scalar.kind != "f":
            exact = data[0] if want is None else np.asarray(want).astype(one.scalar.dtype)
            return exact, None
        mask, unordered, integers, declared = terms
        kept = slice(None) if mask is None else ~mask
        step = max(1, len(data[0]) // SAMPLE) | 1

        def taken(raw: npt.NDArray[Any]) -> Floats:
            if not unordered and mask is None:
                return to_float(raw[::step], one.scalar)
            wide = to_float(raw, one.scalar)[kept]
            return np.asarray(np.sort(wide) if unordered else wide)[::step]

        whole_first = to_float(data[0], one.scalar)[kept]
        whole_goal = whole_first if want is None else shown(np.asarray(want, np.float64), one)[kept]
        first = taken(data[0])
        goal = first if want is None else whole_goal[::step]
        with np.errstate(all="ignore"):
            errors = [np.abs(taken(other) - goal) for other in data]
            for raw, truth in moved:
                other = taken(raw)
                errors.append(np.abs(other - first))
                if truth is not None and not unordered:
                    errors.append(np.abs(other - np.asarray(truth, np.float64)[kept][::step]))
            errors = [np.nan_to_num(e, nan=0, posinf=0) for e in errors]
            size = np.where(np.isfinite(goal), np.abs(goal), 0)
            allowed = self.work.atol + self.work.rtol * size
            keeps = all(bool((2 * error <= allowed).all()) for error in errors[: len(data)])
            integral = bool((first == np.rint(first)).all() and (size < 2**24).all())
        stable = all(same_bytes(_raw(data[0]), _raw(other)) for other in data[1:])

        def same() -> bool:
            return want is not None and np.array_equal(whole_first, whole_goal, equal_nan=True)

        strict = self.work.atol == 0 == self.work.rtol
        # A tolerance that fits floats would let floats pass for doubles.
        share = DOUBLE_SHARE if one.scalar.name == "double" and want is None else 1.0
        root = math.sqrt(min(longer, TIMES_LONGER))
        grown = root if declared else max(root, UNDECLARED)
        budget = Budget(
            noise_by_exponent(np.maximum.reduce(errors), goal) * grown,
            one.scalar.roundoff,
            few_ulp(one.scalar.name),
            share * self.work.rtol,
            share * self.work.atol,
            # The tolerance was declared for the inputs and lengths that were declared.
            capped=want is not None and keeps and declared and longer == 1 and not self.work.loose,
            floor=want is None or self.work.loose,
            exact=stable and not unordered and (strict or (integers and integral and same())),
            # Zeros add up without error in one order of steps and not in another, which is as good.
            stretch=1.0 if declared or one.scalar.roundoff > FINE else STRETCH,
            # What is one less another number errs by the rounding of these.
            # It is that of usual results also where these are smaller, as is the tolerance.
            ground=near_zero(share * self.work.atol, one.scalar.roundoff, usual * size),
        )
        if step > 1 and want is not None and not within(whole_first, whole_goal, budget):
            with np.errstate(all="ignore"):
                own = np.nan_to_num(np.abs(whole_first - whole_goal), nan=0, posinf=0)
            noise = np.maximum(budget.noise, noise_by_exponent(own, whole_goal))
            budget = replace(budget, noise=noise, capped=False)
        part = data[0] if unordered or want is None else from_float(want, one.scalar)
        return part, as_json(budget)


def _infinite_kept(data: npt.NDArray[Any], own: npt.NDArray[Any], one: Field) -> npt.NDArray[Any]:
    """Return results with NaN for what the original makes infinite, infinities for other odd ones.

    What infinities among the inputs make infinite no right way makes a number, though some make it
    NaN, as a compensated sum does. Where the original itself takes one from another, a maximum may
    lose the NaN, and a product with zero may be left out. As answers are compared that are lenient
    and spread (`compare.Answer`), of a NaN no number is right, and of an infinity anything.
    """
    if one.scalar.kind != "f":
        return data
    wide, mine = to_float(data, one.scalar), to_float(own, one.scalar)
    if np.isfinite(wide).all():
        return data
    odd = np.where(np.isinf(mine), np.nan, np.inf)
    return from_float(np.where(np.isfinite(wide), wide, odd), one.scalar)


def shown(exact: Floats, one: Field) -> Floats:
    """Return better answers with zero for what a field's type rounds to zero.

    They are compared as that type shows them, and an error is forgiven by the size of what it is
    an error of.
    """
    least = SMALLEST.get(one.scalar.roundoff, 0.0)
    with np.errstate(all="ignore"):
        return np.where(np.abs(exact) <= least / 2, 0.0, exact)


def _raw(data: npt.NDArray[Any]) -> Storage:
    return np.ascontiguousarray(data).view(np.uint8).reshape(-1)
