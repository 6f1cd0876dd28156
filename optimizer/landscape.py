"""Made-up kernels whose whole search space is known: to tune and test strategies without a GPU.

A landscape has a time made of components (memory, compute, latency, overhead), as a kernel's is:
the p-norm of them, so that only the largest matters much and the bottleneck moves as edits land.
Edits scale components; some need others first, exclude others, pay now and block more later, do
not compile, or give wrong results. Constants have a best value that depends on the structure.
A candidate's source is the list of its edits and constants, so every fake here is stateless.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from optimizer.model import (
    CaseTimes,
    Edit,
    Effort,
    Finding,
    Kernel,
    Kind,
    Measurement,
    Proposal,
    Status,
    Step,
    Verdict,
    Workload,
)

COMPONENTS = 4
# How sharply the largest component rules: 3 lets the second largest still show.
NORM = 3.0
# Paired ratios scatter by this much a block (measuring costs table: 0.2 % over 30 pairs).
BLOCK_NOISE = 0.004
BLOCKS = {Effort.SCREEN: 6, Effort.RACE: 30, Effort.CONFIRM: 30, Effort.PROFILE: 3}


@dataclass(frozen=True, slots=True)
class Move:
    """One edit of a landscape: log factors on the components, and what stands in its way."""

    name: str
    kind: str
    factors: tuple[float, ...]
    needs: frozenset[str] = frozenset()
    excludes: frozenset[str] = frozenset()
    status: Status = Status.CORRECT
    prior: float = 0.5
    optimum: int = 0  # shift of the best constant once this is in


@dataclass(frozen=True, slots=True)
class Landscape:
    """Moves, where the time goes at first, and constants: by name, levels 0..n-1 and the best."""

    moves: Mapping[str, Move]
    start: tuple[float, ...]
    floor: float
    constants: Mapping[str, tuple[int, int, float]] = field(default_factory=dict)

    def time(self, chosen: Iterable[str], levels: Mapping[str, int]) -> float:
        """Return the time in µs of a set of moves and constants."""
        logs = [math.log(value) for value in self.start]
        shift = 0
        for name in chosen:
            move = self.moves[name]
            shift += move.optimum
            logs = [log + factor for log, factor in zip(logs, move.factors, strict=True)]
        time = math.pow(sum(math.exp(NORM * log) for log in logs), 1.0 / NORM)
        for name, (count, best, slope) in self.constants.items():
            distance = levels.get(name, 0) - (best + shift) % count
            time *= 1.0 + slope * distance * distance
        return 100.0 * (time + self.floor)


def generate(seed: int, moves: int = 24, families: int = 0) -> Landscape:
    """Return a landscape as irregular as the kernels that were read: most edits do little.

    With `families`, that many structures exclude each other (a row per warp, a tile, several
    outputs a thread), and half of the moves are only legal in one of them: what pays first then
    need not lead to what pays most.
    """
    draw = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    shares = [draw.expovariate(1.0) ** 1.5 for _ in range(COMPONENTS)]
    start = tuple(max(0.02, share / sum(shares)) for share in shares)
    found: dict[str, Move] = {}
    kinds = [f"kind-{i}" for i in range(max(4, moves // 2))]
    broken = {kind for kind in kinds if draw.random() < 0.12}
    for index in range(moves):
        kind = draw.choice(kinds)
        earlier = list(found)
        target = draw.choices(range(COMPONENTS), weights=start)[0]
        strength = -draw.expovariate(1.6) if draw.random() < 0.55 else draw.gauss(0.02, 0.05)
        factors = [0.0] * COMPONENTS
        factors[target] = max(-1.6, strength)
        if draw.random() < 0.4:
            factors[draw.randrange(COMPONENTS)] += abs(draw.gauss(0.0, 0.25))
        needs, excludes = _obstacles(draw, earlier, index, families)
        if needs:
            factors[target] -= draw.expovariate(3.0)
        fails = index >= families and (kind in broken or draw.random() < 0.06)
        status = draw.choice((Status.DOES_NOT_COMPILE, Status.WRONG_RESULT))
        guess = 1.0 - math.exp(factors[target] * start[target]) + draw.gauss(0.0, 0.2)
        found[f"m{index}"] = Move(
            f"m{index}",
            kind,
            tuple(factors),
            needs,
            excludes,
            status if fails else Status.CORRECT,
            min(0.95, max(0.05, 0.35 + guess)),
            draw.choice((0, 0, 1)),
        )
    constants = {
        f"c{i}": (draw.choice((4, 5, 6)), draw.randrange(4), draw.uniform(0.01, 0.06))
        for i in range(draw.randrange(3))
    }
    return Landscape(found, start, draw.uniform(0.02, 0.1), constants)


def _obstacles(
    draw: random.Random, earlier: Sequence[str], index: int, families: int
) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a move needs and what it excludes."""
    structures = earlier[:families]
    if index < families:
        return frozenset(), frozenset(structures)
    needs, excludes = frozenset[str](), frozenset[str]()
    if structures and draw.random() < 0.5:
        needs = frozenset(draw.sample(structures, 1))
    elif earlier and draw.random() < 0.3:
        needs = frozenset(draw.sample(earlier, 1))
    if draw.random() < 0.2:
        excludes = frozenset(draw.sample(earlier, min(2, len(earlier)))) - needs
    return needs, excludes


def kernel() -> Kernel:
    """Return the unedited kernel of any landscape."""
    return Kernel("made_up", "\n", "made_up.cu")


def workload() -> Workload:
    """Return the workload of any landscape."""
    return Workload("made_up", Kind.KERNEL, "made_up")


def decode(source: str) -> tuple[list[str], dict[str, int]]:
    r"""Return the moves in a source, in order, and its constants.

    >>> decode("m3\nc0=2\n")
    (['m3'], {'c0': 2})
    """
    moves, levels = [], {}
    for line in source.split():
        name, is_constant, value = line.partition("=")
        if is_constant:
            levels[name] = int(value)
        else:
            moves.append(name)
    return moves, levels


def encode(moves: Iterable[str], levels: Mapping[str, int]) -> str:
    """Return the source of a set of moves, equal for any order they came in."""
    constants = [f"{name}={level}" for name, level in sorted(levels.items()) if level]
    return "\n".join((*sorted(moves), *constants)) + "\n"


class LandscapePolicy:
    """Proposes every move that is legal, by its prior."""

    def __init__(self, landscape: Landscape) -> None:
        self._landscape = landscape

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Return all legal moves; the search itself drops those it has tried."""
        del findings
        chosen, levels = decode(step.kernel.source)
        have = set(chosen)
        legal = [
            move
            for move in self._landscape.moves.values()
            if move.name not in have and move.needs <= have and not self._barred(move, have)
        ]
        legal.sort(key=lambda move: (-move.prior, move.name))
        return [
            Proposal(
                Edit(move.name, encode([*chosen, move.name], levels), "rule:fake", kind=move.kind),
                move.prior,
            )
            for move in legal[:limit]
        ]

    def _barred(self, move: Move, have: set[str]) -> bool:
        """Tell whether two moves exclude each other, whichever says so."""
        moves = self._landscape.moves
        return bool(move.excludes & have) or any(move.name in moves[o].excludes for o in have)


def tuner(landscape: Landscape, subject: Kernel) -> list[Edit]:
    """Return edits that move one constant by one level, or to the middle."""
    chosen, levels = decode(subject.source)
    found = []
    for name, (count, _, _) in landscape.constants.items():
        now = levels.get(name, 0)
        for level in dict.fromkeys((count // 2, now + 1, now - 1)):
            if 0 <= level < count and level != now:
                source = encode(chosen, {**levels, name: level})
                found.append(Edit(f"{name}={level}", source, "rule:tune", "", "tune"))
    return found


class LandscapeEvaluator:
    """Times candidates of a landscape; noise depends on seed, candidate and effort alone."""

    def __init__(self, landscape: Landscape, seed: int = 0, noise: float = BLOCK_NOISE) -> None:
        self._landscape, self._seed, self._noise = landscape, seed, noise
        self._first = landscape.time((), {})
        self.calls: list[tuple[int, Effort]] = []

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        """Return one verdict per kernel."""
        del workload
        self.calls.append((len(kernels), effort))
        return [self._verdict(one, effort) for one in kernels]

    def true_speedup(self, subject: Kernel) -> float:
        """Return the speedup of a candidate without noise."""
        return self._first / self._landscape.time(*decode(subject.source))

    def _verdict(self, subject: Kernel, effort: Effort) -> Verdict:
        chosen, _ = decode(subject.source)
        for name in chosen:
            status = self._landscape.moves[name].status
            if status is not Status.CORRECT:
                return Verdict(status, log=name)
        raw = hashlib.sha256(f"{self._seed}{effort}{subject.source}".encode()).digest()
        draw = random.Random(raw)  # noqa: S311 - a simulation, not a secret
        base = [
            self._first * math.exp(draw.gauss(0, self._noise)) for _ in range(BLOCKS.get(effort, 6))
        ]
        ratio = self.true_speedup(subject)
        fast = [t / ratio * math.exp(draw.gauss(0, self._noise)) for t in base]
        case = CaseTimes("made up", tuple(fast), tuple(base))
        return Verdict(
            Status.CORRECT,
            Measurement((case,), "made up"),
            machine_code=hashlib.sha256(subject.source.encode()).hexdigest()[:16],
        )
