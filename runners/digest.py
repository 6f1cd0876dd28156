"""From what the original gave to answers: what is right, and how far from it still is."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import (
    captured,
    families,
    inputs,
    logarithms,
    nan_ends,
    no_loss,
    perturbation,
    picked,
    recipes,
    regardless,
    rounded,
    small_floats,
    spec,
    wider,
    zeros_beside,
)
from runners.budgets import MOST_MOVED, Terms, earned
from runners.contents import Combination, Contents
from runners.cuda_types import CudaType, Field, Storage, from_float, to_float, values
from runners.domain import Domain
from runners.expectation import Floats, as_captured, check_reference, stability
from runners.float_families import PARTS
from runners.gathered import Gathered, Marks, left_alone
from runners.partners import together
from runners.run import Run
from runners.spec import Argument, BaselineFailure, Json, SpecError, Work
from runners.truth import Truth

WAIT_SECONDS = 60.0
# Where infinities are among numbers near one, nothing beyond this is looked at.
REACH = 4096.0
# Families of inputs that are not moved, or too little, for results to tell what these may err by.
_LOOSE = frozenset({families.LAST_PLACES, *no_loss.FAMILIES, *families.LOG_SIZES})
# Families whose infinities an original makes infinities of.
_MEANT = frozenset({families.INFINITIES, families.CROWDED_INFINITIES, *families.COMPARED})


class Digest:
    """Makes answers of what was gathered: array work, for any thread.

    `reference` is the numpy function that knows better than the original, if there is one.
    `precise`: the original works something out in doubles. Answers go to files in `folder`.
    """

    def __init__(
        self,
        work: Work,
        folder: Path,
        contents: Contents,
        reference: Callable[..., object] | None,
        *,
        precise: bool = False,
        faithful: Iterable[str] = (),
    ) -> None:
        self.work, self.folder = work, folder
        self._share = perturbation.share(work)
        self._halves = perturbation.share_of_halves(work)
        self._beside = perturbation.share_beside(work)
        self._times = MOST_MOVED if precise else math.inf
        self.truth = Truth(work, contents, reference, faithful)
        self._domain = Domain(work, contents)
        self._declared: threading.Event | None = None

    def expect_declared(self) -> None:
        """Note that a declared combination has been run: others wait until it is digested."""
        if self._declared is None:
            self._declared = threading.Event()

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
        self._domain.keeps_in_range(gathered)
        try:
            wanted, source = self.truth.of(combination, gathered.runs[0], gathered.wide)
            moved = [
                (run, self.truth.of(other, run, wide)[0]) for other, run, wide in gathered.moved
            ]
        except SpecError as error:
            crosses = combination.case.get(spec.MOVED, 0.0) >= spec.ACROSS
            family = combination.family
            odd = family in families.ASKED | families.REFILLED | {families.FOLLOWING}
            odd |= family in families.THROUGHOUT
            odd |= family == families.NAN_BEHIND or family in families.LOGARITHMS
            odd |= wider.wider(combination.family) is not None
            odd |= recipes.number(combination.family) is not None
            if not odd and not crosses:
                raise
            # A reference need not be made for nothing but NaN: `numpy.nanargmax` raises. Nor for
            # a part of more than one, nor for numbers beyond a declared range, nor for others than
            # the ones that a filler holds.
            raise BaselineFailure(f"the reference has no answer there: {error}") from error
        self._domain.check(gathered, wanted)
        if gathered.regardless is not None:
            gathered, wanted, moved = self._regardless(gathered, wanted, moved)
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
            "took": gathered.took or gathered.seconds,
            "outputs": outputs,
            "faithful": self.truth.faithful,
        }

    def _regardless(
        self,
        gathered: Gathered,
        wanted: dict[str, Floats],
        moved: list[tuple[Run, dict[str, Floats]]],
    ) -> tuple[Gathered, dict[str, Floats], list[tuple[Run, dict[str, Floats]]]]:
        """Put numbers where the original has a NaN that no number in its place would change."""
        gathered = regardless.ordered(self.work, gathered)
        asked = gathered.regardless
        if asked is None:
            return gathered, wanted, moved
        try:
            better = self.truth.of(asked.combination, asked.run, asked.wide)[0]
            others = [self.truth.of(other, run, wide)[0] for other, run, wide in asked.moved]
        except SpecError:
            return replace(gathered, regardless=None), wanted, moved
        return regardless.settled(self.work, gathered, wanted, moved, (better, others))

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
        if unordered and combination.family in (
            families.MASKS | families.NAN_ENDS | families.THROUGHOUT | {families.CROWDED_INFINITIES}
        ):
            raise BaselineFailure(f"{name} holds in any order what is not finite")
        given = gathered.plain if combination.family in families.NAN_ENDS else ()
        plain = nan_ends.plain(self.work, argument, combination.case, given)
        truth = wanted.get(name) if source == "double precision" else None
        lenient = _lenient(combination.family, truth)
        keeps = combination.family in _MEANT and not unordered
        longer = times_longer(self.work, combination.case)
        chains = perturbation.chains(self.work, combination.case, argument)
        # What is only said may be told from results as small as these.
        powers = small_floats.powers(combination.family)
        small = powers is not None and powers not in small_floats.SAID_ALONE
        least = logarithms.between(self.work, combination.family, combination.case)
        budgets: list[Json | None] = []
        rounding: float | None = None
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
            terms = Terms(
                mask,
                unordered,
                integers,
                declared,
                twin=source == "double precision",
                longer=longer,
                usual=PARTS if combination.family == families.THOUSANDTH else 1.0,
                typical=max(1.0 if small else 0.0, least),
                share=self._share,
                times=self._times,
                halves=self._halves,
                chains=chains,
                loose=combination.family in _LOOSE,
            )
            if gathered.halved is not None and want is None:
                beside = values(gathered.halved.outputs[name], kind, one)
                terms = replace(terms, beside=beside, counts=self._beside)
            part, budget = earned(self.work, one, data, others, want, terms)
            if want is not None and source == "reference":
                where = f"{combination.key.split('|')[0]}: {name}"
                # Where the original has a NaN for nothing it gives no other number than its own.
                aside = regardless.marked(gathered, name, mask)
                check_reference(where, budget, want, (data[0], one, aside, lenient))
            if want is not None and declared and not self.work.loose:
                rounding = rounded.own(data, to_float(part, one.scalar), one, mask)
            budgets.append(budget)
            part = data[0] if budget is None else part
            if combination.family in families.MASKS or _crowds(combination):
                part = _within_reach(part, one)
            if combination.family in families.LOG_BELOW:
                part = logarithms.none_there(data[0], one)
            if plain:
                own = nan_ends.depends(argument, one, gathered.runs[0], plain)
                part = nan_ends.unasked(part, own, one)
            # Of several infinities NaN is let pass where equality is asked, too.
            exact = budget is not None and budget["exact"] and not _crowds(combination)
            parts.append(_infinite_kept(part, data[0], one) if keeps and not exact else part)
        first = same[0] if gathered.regardless is None else gathered.regardless.before.outputs[name]
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
            "infinite": keeps and not _crowds(combination),
            "empty": self._of_nothing(combination),
            "rounding": rounding,
            "odd": 0 if unordered else self._odd(argument, gathered, str(stem), len(parts[0])),
            "spreads": self._spreads(argument, combination, first, unordered=unordered),
        }

    def _of_nothing(self, combination: Combination) -> bool:
        """Tell whether a variable is zero that nobody declared as zero: a size of nothing.

        The mean of nothing is NaN, and promised to nobody; its sum is zero, and a number.
        """
        return any(
            value == 0 and all(case.values.get(name) != 0 for case in self.work.cases)
            for name, value in combination.case.items()
        )

    def _odd(self, argument: Argument, gathered: Gathered, stem: str, size: int) -> int:
        """Mark in a file what depends on an infinity or denormal; return of how many scalars."""
        kind = argument.type
        masked = gathered.combination.family in families.MASKS and not self.work.leaves_out
        alike = gathered.combination.family in families.THROUGHOUT and not _floats_alone(kind)
        if masked or alike or _crowds(gathered.combination):
            # All may: an original that asks for no infinity has no word about those of a part, and
            # none about places among elements that are all alike.
            np.packbits(np.ones(size, np.bool_)).tofile(f"{stem}.odd")
            return size
        if gathered.plain and gathered.combination.family in families.NAN_ENDS:
            return self._at_ends(argument, gathered, stem)
        if (same := regardless.marked(gathered, argument.name)) is not None:
            # Right code may multiply by a zero as well, or leave it out.
            np.packbits(same).tofile(f"{stem}.odd")
            return len(same)
        if kind.scalar is None or kind.scalar.kind != "f":
            return 0
        if gathered.combination.family == families.TOPS:
            return self._nearly_infinite(argument, gathered, stem)
        if gathered.undefined is None:
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

    def _nearly_infinite(self, argument: Argument, gathered: Gathered, stem: str) -> int:
        """Mark in a file what is worked out of numbers near the largest; return of how many."""
        only, place = argument.type.fields[0].scalar, argument.type.fields[0]
        found = to_float(
            values(gathered.runs[0].outputs[argument.name], argument.type, place), only
        )
        marks = picked.computed(found, self._domain.given(gathered.combination))
        np.packbits(marks).tofile(f"{stem}.odd")
        return len(marks)

    def _at_ends(self, argument: Argument, gathered: Gathered, stem: str) -> int:
        """Mark in a file the whole numbers that depend on a NaN; return of how many scalars."""
        one, case = argument.type.fields[0], gathered.combination.case
        if one.scalar.kind == "f":
            return 0  # no number is wanted there
        plain = nan_ends.plain(self.work, argument, case, gathered.plain)
        marks = nan_ends.depends(argument, one, gathered.runs[0], plain)
        if not marks.any():
            return 0
        np.packbits(marks).tofile(f"{stem}.odd")
        return len(marks)

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
        if zeros_beside.infinite(combination.family):
            return one.scalar.kind == "f" and not unordered
        if combination.family in families.LOG_BELOW:
            return logarithms.spreads(self.work, argument, combination.case) and not unordered
        meant = families.ASKED | _MEANT
        if one.scalar.kind != "f" or combination.family not in {"nan", *meant}:
            return False
        if combination.family in meant:
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


def _crowds(combination: Combination) -> bool:
    """Tell whether several infinities are among the numbers of a row."""
    return combination.family == families.CROWDED_INFINITIES


def _lenient(family: str, truth: Floats | None) -> bool:
    """Tell whether nothing is promised where a result, or the better one, is not finite."""
    overflows = truth is not None and bool(np.isinf(truth).any())
    return (
        family in families.STRESS | families.REFILLED
        or (family != families.DECLARED and overflows)
        or wider.wider(family) is not None
        or small_floats.powers(family) is not None
        or recipes.number(family) is not None
        # Of a NaN no number is right, of an infinity anything.
        or bool(zeros_beside.infinite(family))
    )


def times_longer(work: Work, case: Mapping[str, float]) -> float:
    """Return how many times the largest declared a size is; one where none is larger."""
    times = (
        value / max(one.values.get(name, math.inf) for one in work.cases)
        for name, value in case.items()
        if name in work.variables and value > 0
    )
    return max([1.0, *times])


def _floats_alone(kind: CudaType) -> bool:
    return all(one.scalar.kind == "f" for one in kind.fields)


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


def _within_reach(data: npt.NDArray[Any], one: Field) -> npt.NDArray[Any]:
    """Return results with infinities for those that no numbers near one lead to.

    A largest of nothing but infinities is what the original began with, and another way may begin
    with something else.
    """
    if one.scalar.kind != "f":
        return data
    wide = to_float(data, one.scalar)
    far = np.abs(wide) > REACH
    return from_float(np.where(far, np.inf, wide), one.scalar) if far.any() else data
