"""Inputs of combinations on the host: made once, ahead of need, shared by whoever asks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from runners import (
    families,
    inputs,
    mutations,
    one_element,
    perturbation,
    recipes,
    stand_ins,
    ties,
    variation,
    wider,
    zeros_beside,
)
from runners.inputs import Arrays
from runners.spec import Work
from runners.ties import TURNED

KEPT, KEPT_BYTES = 64, 3 << 30
# Of thousands of small runs each is made once, and asked for by the original and its candidates.
SMALL_BYTES, SMALL_KEPT_BYTES = 1 << 18, 1 << 29
UNDEFINED, FINITE, HALVES = "n", "f", "h"
_POOL: list[ThreadPoolExecutor] = []


@dataclass(frozen=True, slots=True)
class Combination:
    """A case, an input family and a seed: what one expected answer belongs to.

    A family may end in `+j`, `+jj`, ...: every float of it moved by one rounding error; in `+t`,
    `+tt`, ...: by more of them (`runners.ties`); in `+h`: halves alone, where results are floats;
    in `+n`: NaN for its infinities and denormals; or in `+f`, `+ff`, ...: numbers for its NaN
    (`runners.stand_ins`), moved as well in `+fj`, ....
    Before that may stand by how many bytes buffers are shifted cyclically, as they are for timed
    launches (`runners.ties.turned`). A family may be a single change (`runners.one_element`).
    """

    case: Mapping[str, float]
    family: str
    seed: int

    @property
    def key(self) -> str:
        """Name it, the same in every process."""
        return f"{_values(tuple(self.case.items()))}|{self.family}|{self.seed}"


@lru_cache(maxsize=4096)
def _values(case: tuple[tuple[str, float], ...]) -> str:
    # Exact: a million and one is another size than a million.
    exact = ((k, int(v) if float(v).is_integer() else v) for k, v in sorted(case))
    return " ".join(f"{k}={v!r}" for k, v in exact)


def pool() -> ThreadPoolExecutor:
    """Return the threads that host-side array work is spread over."""
    if not _POOL:
        _POOL.append(ThreadPoolExecutor(8, thread_name_prefix="arrays"))
    return _POOL[0]


class Contents:
    """Makes and keeps the inputs of one workload. Safe to use from several threads."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Future[Arrays]] = OrderedDict()
        # Of those of them that are made, so that what is kept need not be gone through each time.
        self._sizes: dict[str, int] = {}
        self._total = 0
        self._small: OrderedDict[str, Future[Arrays]] = OrderedDict()
        self._small_total = 0

    def of(self, combination: Combination) -> Arrays:
        """Return the contents of a combination. The arrays are not to be written to."""
        return self._future(combination, ahead=False).result()

    def expect(self, combination: Combination) -> None:
        """Begin to make contents that will be asked for soon."""
        self._future(combination, ahead=True)

    def _future(self, combination: Combination, *, ahead: bool) -> Future[Arrays]:
        key = combination.key
        with self._lock:
            for those in (self._kept, self._small):
                if (held := those.get(key)) is not None:
                    those.move_to_end(key)
                    return held
            future: Future[Arrays] = Future()
            self._kept[key] = future
            self._trim()
        if ahead:
            pool().submit(self._make, combination, future)
        else:
            self._make(combination, future)
        return future

    def _held(self, combination: Combination) -> Arrays | None:
        """Return contents that are kept already; None where they are not."""
        with self._lock:
            held = self._kept.get(combination.key) or self._small.get(combination.key)
        return held.result() if held is not None and held.done() and not held.exception() else None

    def _make(self, combination: Combination, future: Future[Arrays]) -> None:
        try:
            made = self._fresh(combination)
        except Exception as error:  # noqa: BLE001 - it is raised where the result is asked for
            future.set_exception(error)
            return
        future.set_result(made)
        key, size = combination.key, sum(a.nbytes for a in made.values())
        with self._lock:
            if size <= SMALL_BYTES:
                del self._kept[key]
                self._small[key] = future
                self._small_total += size
                self._let_go_of_small()
            else:
                self._sizes[key] = size
                self._total += size

    def _fresh(self, combination: Combination) -> Arrays:
        return inputs.fitted(self._work, self._of_family(combination), combination.case)

    def _of_family(self, combination: Combination) -> Arrays:
        family, _, jittered = combination.family.partition("+")
        if jittered == UNDEFINED:
            base = Combination(combination.case, family, combination.seed)
            return perturbation.undefined(self._work, self.of(base))
        if jittered.startswith(FINITE):
            rest = jittered.lstrip(FINITE)
            if not rest:
                base = Combination(combination.case, family, combination.seed)
                return stand_ins.finite(self._work, self.of(base), len(jittered))
            family, jittered = combination.family.removesuffix(rest), rest
        if jittered:
            base = Combination(combination.case, family, combination.seed)
            seed, times = combination.seed + len(jittered), 1.0
            if jittered.startswith(ties.MOVED):
                seed, times = seed + ties.APART, ties.amplitude(len(jittered))
            coarse = not jittered.startswith(ties.MOVED)
            # On declared inputs the tolerance says what sums of halves may err by.
            halves = coarse and family != families.DECLARED
            return perturbation.jitter(
                self._work,
                self.of(base),
                seed,
                times,
                coarse=coarse,
                halves=halves,
                refilled=family in families.REFILLED,
                alone=jittered == HALVES,
            )
        if TURNED in family:
            base = Combination(combination.case, family.partition(TURNED)[0], combination.seed)
            shifts = ties.shifts_of(family)
            return {
                name: np.roll(data, -shifts[name]) if name in shifts else data
                for name, data in self.of(base).items()
            }
        if family != families.DECLARED:
            base = Combination(combination.case, families.DECLARED, combination.seed)
            arrays, case = self.of(base), combination.case
            if (alone := one_element.change(combination.family)) is not None:
                return one_element.applied(alone, self._work, arrays, case, combination.seed)
            if (further := wider.wider(combination.family)) is not None:
                return wider.applied(further, self._work, arrays, combination.seed)
            if mutations.read(family) is not None:
                return self._mutated(combination, arrays)
            if recipes.number(family) is not None:
                return recipes.applied(family, self._work, arrays, combination.seed, case)
            if zeros_beside.infinite(family):
                return zeros_beside.applied(family, self._work, arrays, combination.seed)
            return variation.apply(family, self._work, arrays, combination.seed, case)
        return inputs.generate(self._work, combination.case, combination.seed)

    def _mutated(self, combination: Combination, arrays: Arrays) -> Arrays:
        """Return contents with changes: of what is kept with one change less, if there is such."""
        family, case, seed = combination.family, combination.case, combination.seed
        earlier = mutations.before(family)
        held = self._held(Combination(case, earlier[0], seed)) if earlier else None
        if earlier is None or held is None:
            return mutations.applied(family, self._work, arrays, seed, case)
        return mutations.further(self._work, held, seed, earlier[1], case)

    def _let_go_of_small(self) -> None:
        """Let go of small ones that were used longest ago; called with the lock held."""
        while self._small_total > SMALL_KEPT_BYTES:
            _, oldest = self._small.popitem(last=False)
            self._small_total -= sum(a.nbytes for a in oldest.result().values())

    def _trim(self) -> None:
        """Let go of what was used longest ago; called with the lock held."""
        spare = len(self._sizes) - 2
        for key in list(self._kept):
            if spare <= 0 or (self._total <= KEPT_BYTES and len(self._kept) <= KEPT):
                return
            if key in self._sizes:
                del self._kept[key]
                self._total -= self._sizes.pop(key)
                spare -= 1
