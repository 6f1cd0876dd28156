"""Cases in which what a candidate takes apart is whole, and of a number of parts that is odd.

`n % 256 == 0` opens a way that takes two parts at a time, and `n / 512 * 2` is one part short: it
is right for all that is no multiple, and for what is declared, as that has an even number of parts.
So sizes are asked for that are 7, 11, 13, ... times what a text takes its arguments apart by; where
two are taken apart both of them, and each beside an even number of the other; then many parts, one,
and three. Other sizes are small, and nothing is asked where a case is that is asked anyway.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from runners import sizes
from runners.divided import Gate, gated, launched
from runners.families import captured_work
from runners.launch_limits import SHARED_BYTES, fails
from runners.odd_parts import SHARES, Quotients, Want, progression, wants
from runners.sizes import TIMES_LONGER
from runners.spec import JobSpec
from runners.terms import Division, Number
from runners.trials import Budget, Case, Input, Values, dependencies, inputs

# Cases of a candidate, elements of one and of all, and how often something is computed for all and
# for one gate.
MOST_CASES, MOST_ELEMENTS, MOST_TOGETHER, MOST_LOOKS, MOST_EACH = 6, 1 << 22, 1 << 23, 24_000, 3000
# Gates that are looked at, variables that are changed at a time, cases of a gate that are kept.
MOST_GATES, MOST_MOVED, MOST_KEPT = 24, 3, 600
# What other sizes are at most, and at least.
USUAL, LEAST_OTHER = 37.0, 8.0
# What is taken apart by more is none of a size.
MOST_PART = 1 << 24
# Parts of one variable alone, few and many, and of several at a time.
FEW = (7, 11, 13, 1, 3, 5, 2, 6)
MANY = (17, 31, 61, 67, 89, 127, 179, 251, 359, 509, 719, 1021, 1447, 2039, 2887, 4093, 8191, 16381)
TOGETHER = (7, 3, 1, 2, 11, 5)
# Numbers of a condition, and multiples near one.
NEAR = 7
# The place of the largest declared case among those that are changed.
LARGE = 3

# The place of what a case is made of, the parts of a gate in it, and the case.
_Tried = tuple[int, Quotients, dict[str, float]]


@dataclass(frozen=True, eq=False)
class _Turn:
    """A gate, how its values are found in a case, and the variables that it depends on."""

    gate: Gate
    inputs: Sequence[Input]
    names: Sequence[str]


def cases(job: JobSpec, asked: Sequence[Case]) -> list[dict[str, float]]:
    """Return cases in which what a candidate takes apart is whole as in none that is asked.

    Never raises for what a text or a launch says; a few at most, within `MOST_TOGETHER`.
    """
    if captured_work(job.work) or job.kernel == job.baseline or not sizes.changing(job.work):
        return []
    search = _Search(job, asked)
    search.take_all()
    return search.found


@dataclass
class _Known:
    """What is known of a gate: its parts in the cases that are asked, and cases to choose from."""

    turn: _Turn
    parts: list[Quotients] = field(default_factory=list)
    seen: int = 0
    tried: list[_Tried] | None = None


class _Search:
    """The cases that are known of one job, and what they do not have as it is wanted."""

    def __init__(self, job: JobSpec, asked: Sequence[Case]) -> None:
        self.job, self.work = job, job.work
        self.found: list[dict[str, float]] = []
        self._launch = (job.kernel.launch or job.work.launch) if job.work.kind == "kernel" else None
        self._known: list[dict[str, float]] = []
        for case in map(dict, asked):
            if case not in self._known:
                self._known.append(case)
        self._movable = {
            name: TIMES_LONGER * int(sizes.largest(self.work, name))
            for name in sizes.changing(self.work)
        }
        self._sizing = frozenset(sizes.sizing(self.work))
        self._least = {
            name: min(LEAST_OTHER, *(case.values.get(name, 0.0) for case in self.work.cases))
            for name in self._sizing
        }
        self._bases = list(self._each_base())
        self._elements = 0
        self._budget = Budget(MOST_LOOKS)

    def take_all(self) -> None:
        """Take a case for all that is wanted of gates, the most important first."""
        turns = itertools.islice(self._turns(), MOST_GATES)
        known = [_Known(turn) for turn in turns]
        every = [(want, one) for one in known for want in self._wants(one.turn)]
        for want, one in sorted(every, key=lambda pair: pair[0].rank):
            if len(self.found) == MOST_CASES or self._budget.left < 0:
                return
            self._meet(want, one)

    def _wants(self, turn: _Turn) -> Iterator[Want]:
        known = [_declared(turn, case.values) for case in self.work.cases]
        parts = [max(parts for parts, _ in some) for some in zip(*known, strict=True)]
        return wants(turn.gate.divisions, tuple(parts), max(by for some in known for _, by in some))

    def _meet(self, want: Want, known: _Known) -> None:
        """Take a case that is as wanted, in the first way that there is one, if none is known."""
        for case in self._known[known.seen :]:
            known.parts += filter(None, [self._like(known.turn, case)])
        known.seen = len(self._known)
        for way in want.ways:
            if any(map(way, known.parts)):
                return
            if known.tried is None:
                limit = Budget(min(MOST_EACH, max(0, self._budget.left)))
                known.tried = list(itertools.islice(self._each(known.turn, limit), MOST_KEPT))
                self._budget.spend(MOST_EACH - max(0, limit.left))
            tried = known.tried
            if want.declared:
                tried = sorted(tried, key=lambda one: one[0] != LARGE)
            for _, parts, case in tried:
                if way(parts) and self._fits(case):
                    self.found.append(case)
                    self._known.append(case)
                    self._elements += sizes.elements(self.work, case)
                    return

    def _turns(self) -> Iterator[_Turn]:
        """Yield the gates of a candidate: conditions, its launch, all at once, and what is left."""
        work, mine, theirs = self.work, self.job.kernel, self.job.baseline
        arguments = ["" if one.type.pointer else one.name for one in work.arguments]
        given = inputs(work.arguments, self._launch)
        known = {one.key for one in gated(theirs.source, work.symbol, arguments)}
        own = [
            _Turn(one, given, moved)
            for one in gated(mine.source, work.symbol, arguments)
            if one.key not in known
            and (moved := self._moved(dependencies(one.uses, work.arguments, self._launch)))
        ]
        own += self._launched()
        for one in own:
            if one.gate.condition is not None:
                yield one
        alone: dict[tuple[object, ...], _Turn] = {}
        for one in own:
            division = one.gate.divisions[0]
            if one.gate.condition is None and not _rounded_up(division):
                by = _number(division.by(_nothing)) or division.by_name
                alone.setdefault((division.name, by, one.inputs is given), one)
        plain = sorted(
            alone.values(), key=lambda one: -(_number(one.gate.divisions[0].by(_nothing)) or 0)
        )
        largest: dict[str, _Turn] = {}
        for one in plain:
            if len(one.names) == 1 and one.inputs is given:
                largest.setdefault(one.names[0], one)
        for pair in itertools.combinations(list(largest.values())[:MOST_MOVED], 2):
            every = tuple(one.gate.divisions[0] for one in pair)
            yield _Turn(Gate(every), given, [name for one in pair for name in one.names])
        yield from plain

    def _launched(self) -> Iterator[_Turn]:
        """Yield what a candidate's launch takes apart, and its original's does not."""
        mine, theirs = self.job.kernel.launch, self.work.launch
        names = list(self._movable)
        if self._launch is None or mine is None or mine == theirs:
            return
        known = {one.key for one in launched(theirs, names)} if theirs is not None else set()
        given = [_variable(name) for name in names]
        for one in launched(mine, names):
            moved = self._moved([names[at] for at in sorted(one.uses) if at < len(names)])
            if one.key not in known and one.condition is None and moved:
                yield _Turn(one, given, moved)

    def _moved(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self._movable][:MOST_MOVED]

    # What is whole.

    def _like(self, turn: _Turn, case: Case) -> Quotients | None:
        """Return the parts of a gate in a case whose other sizes are not too few."""
        others = (case.get(k, 0.0) >= v for k, v in self._least.items() if k not in turn.names)
        return self._parts(turn, case, self._budget) if all(others) else None

    def _parts(self, turn: _Turn, case: Case, budget: Budget) -> Quotients | None:
        """Return how many parts there are of each number; None where one is not whole.

        Nor where a condition is what it is beside such a size, too.
        """
        found = _quotients(turn, case, budget)
        condition = turn.gate.condition
        if found is None or condition is None:
            return found
        here = condition.holds(Values(turn.inputs, case))
        for name in turn.names:
            for step in (1.0, -1.0):
                beside = {**case, name: case.get(name, 0.0) + step}
                budget.spend(1)
                if beside[name] > 0 and condition.holds(Values(turn.inputs, beside)) != here:
                    return found
        return None

    # Cases to choose from.

    def _each_base(self) -> Iterator[dict[str, float]]:
        """Yield cases whose sizes are changed: small ones, and as they are declared."""
        ordered = sorted(self.work.cases, key=lambda case: sizes.elements(self.work, case.values))
        small, large = (dict(one.values) for one in (ordered[0], ordered[-1]))
        every = [{**small, **{k: min(small[k], USUAL) for k in self._sizing if k in small}}]
        every += [{**small, **{k: min(large[k], USUAL) for k in self._sizing if k in large}}]
        every += [small, large, *(dict(one.values) for one in ordered[1:-1][:2])]
        yield from every
        yield next(sizes.few_others(self.work, next(iter(self._movable))))

    def _each(self, turn: _Turn, budget: Budget) -> Iterator[_Tried]:
        """Yield cases in which all numbers of a gate are whole, small ones of each base first."""
        known: list[Case] = []
        for place, base in enumerate(self._bases_of(turn)):
            if base in known:
                continue
            known.append(base)
            tried = [one for one in self._changed(turn, base, budget) if self._light(one)]
            for case in sorted(tried, key=lambda one: sizes.elements(self.work, one)):
                parts = self._parts(turn, case, budget)
                if parts is not None:
                    yield place, parts, case
                if budget.left < 0:
                    return

    def _bases_of(self, turn: _Turn) -> Iterator[dict[str, float]]:
        """Yield bases, and those in which one variable is beside a number of a condition."""
        condition = turn.gate.condition
        yield from self._bases
        if condition is None:
            return
        numbers = sorted(condition.term.numbers, reverse=True)[:NEAR]
        for name, number in itertools.product(turn.names, numbers):
            for value in (number + 1, number - 1):
                if 1 < value <= self._movable[name]:
                    yield {**self._bases[0], name: float(value)}

    def _light(self, case: Case) -> bool:
        return 0 < sizes.elements(self.work, case) <= MOST_ELEMENTS

    def _changed(self, turn: _Turn, base: Case, budget: Budget) -> Iterator[dict[str, float]]:
        """Yield cases with one variable a multiple, and with all of them."""
        steps = {name: self._steps(turn, base, name, budget) for name in turn.names}
        for name, every in steps.items():
            for begin, step in every:
                for value in self._values(turn, begin, step, name):
                    yield {**base, name: float(value)}
        if len(turn.names) < 2:
            return
        together = TOGETHER[: 6 if len(turn.names) == 2 else 4]
        values = [
            [begin + step * by for begin, step in steps[name][:2] for by in together]
            for name in turn.names
        ]
        for some in itertools.product(*values):
            case = {**base, **dict(zip(turn.names, map(float, some), strict=True))}
            if all(1 <= case[name] <= self._movable[name] for name in turn.names):
                yield case

    def _values(self, turn: _Turn, begin: int, step: int, name: str) -> list[int]:
        """Return multiples: few, many, those near numbers of a condition, and near the declared."""
        condition, largest = turn.gate.condition, int(sizes.largest(self.work, name))
        numbers = [] if condition is None else sorted(condition.term.numbers, reverse=True)[:NEAR]
        every = [*FEW, *MANY]
        for number in numbers:
            first = max(0, number - begin) // step
            every += range(first + 1, first + 1 + NEAR)
        for share in SHARES:
            last = max(0, largest // share - begin) // step
            every += range(last, last - NEAR, -1)
        tried = dict.fromkeys(every)
        return [v for by in tried if 1 <= (v := begin + step * by) <= self._movable[name]]

    def _steps(self, turn: _Turn, base: Case, name: str, budget: Budget) -> list[tuple[int, int]]:
        """Return where multiples of a variable begin and how far they are apart, in a few ways."""
        found: list[tuple[int, int]] = []
        for one in turn.gate.divisions:

            def left(value: int, one: Division = one) -> int | None:
                budget.spend(1)
                return _whole(one.left(Values(turn.inputs, {**base, name: float(value)})))

            by = _number(one.by(Values(turn.inputs, base)))
            if by is None or by > self._movable[name]:
                continue
            found.append(progression(left, by))
            # Of a product each side may have a share.
            if len(one.uses) > 1:
                root = 1 << (by.bit_length() // 2)
                found += [(0, root), (0, by)] if by % root == 0 else [(0, by)]
        both = math.lcm(*(step for _, step in found)) if found else 0
        ways = [one for one in found if one[1] > 0]
        if len(ways) > 1 and both <= self._movable[name]:
            ways.insert(0, (max(ways, key=lambda one: one[1])[0], both))
        return list(dict.fromkeys(ways))[:4]

    def _fits(self, case: dict[str, float]) -> bool:
        """Tell whether a case is new, as large as it may be, and not where a launch fails."""
        weight = sizes.elements(self.work, case)
        if case in self._known or not 0 < weight <= MOST_ELEMENTS or min(case.values()) < 0:
            return False
        if self.found and self._elements + weight > MOST_TOGETHER:
            return False
        pointers = (one for one in self.work.arguments if one.type.pointer)
        if any(sizes.buffer(one, case) <= 0 for one in pointers):
            return False
        launches = (self.work.launch, self.job.kernel.launch)
        return not any(one is not None and fails(one, case, SHARED_BYTES) for one in launches)


def _nothing(_at: int) -> Number:
    return 0


def _variable(name: str) -> Input:
    def of(case: Case) -> Number | None:
        value = case.get(name)
        return int(value) if value is not None and value.is_integer() else None

    return of


def _whole(value: Number | None) -> int | None:
    return value if isinstance(value, int) else None


def _declared(turn: _Turn, case: Case) -> list[tuple[int, int]]:
    """Return about how many parts there are of each number in a case, and what they are of."""
    values, found = Values(turn.inputs, case), []
    for one in turn.gate.divisions:
        left, by = _whole(one.left(values)), _number(one.by(values))
        found.append((0, 0) if left is None or by is None else (left // by, by))
    return found


def _rounded_up(one: Division) -> bool:
    """Tell whether parts are counted with one that is not whole, which may be anywhere."""
    zero, by = one.left(_nothing), _number(one.by(_nothing))
    return one.word != "%" and zero is not None and (zero < 0 or by == zero + 1)


def _number(value: Number | None) -> int | None:
    """Return what something is taken apart by, if it may be."""
    return value if isinstance(value, int) and 1 < value <= MOST_PART else None


def _quotients(turn: _Turn, case: Case, budget: Budget) -> Quotients | None:
    values, found = Values(turn.inputs, case), []
    budget.spend(1)
    for one in turn.gate.divisions:
        left, by = _whole(one.left(values)), _number(one.by(values))
        if left is None or by is None or left < by or left % by:
            return None
        found.append(left // by)
    return tuple(found)
