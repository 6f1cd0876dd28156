"""Which candidates a run of limited time judges, and what that is expected to cost.

A refusal at the screening costs next to nothing; a good candidate costs 5 to 30 s of a lane, for
the confirmation's sanitizers and timing; the answers of an original cost some seconds once. What a
candidate costs is known from recorded runs on one H200 (`tests/data/redteam/seconds.json`, rewritten
by `tests.redteam.record`); one that was not in them is expected to take the median of its kind. All
of it is an estimate.

The choice is the same for the same seed. It holds, in this order and as far as the time goes: a bad
one of every usual class (`what`), the bases taking turns, whether the time suffices or not; good ones,
the bases taking turns in an order that the seed decides, for a share of the time; a bad one of every
other class, in turns that take about as long each; whatever is cheap; the other good ones; the originals; the rest.
"""

from __future__ import annotations

import json
import random
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.redteam.table import Candidate

SECONDS = Path(__file__).parents[1] / "data" / "redteam" / "seconds.json"
# Seconds of lanes per second of a run: what 5 lanes come to.
LANES = 4.5
# What good candidates get of the time before the cheap ones that are left.
GOOD_SHARE = 0.35
# Of which none takes more than a fifth: a single program once took half, and there were three.
LEAST_GOOD = 5
CHEAP = 2.0
# The same seconds, added in another order, may come to a little more.
ROUNDING = 1e-6
# A class of so many candidates is in every choice. Of those that hold a few there are three times as
# many, which once took all of the time: a sample without a single good one tells half of it.
USUAL = 12
# Seeds one after the other in which each class has its turn: they begin so far apart. And how many
# more than its share a turn may hold.
TURNS, MORE = 66, 4
# Where nothing alike is recorded: seconds by the kind of workload, of a good and of a bad one.
UNKNOWN = {"kernel": (12.0, 0.5), "entry": (18.0, 1.0), "program": (62.0, 2.0)}
# What took more times what a good one of its kind does waited for others on a busy host.
BUSY = 2.0
# Seconds of a lane until the answers of an original are known: to screen, and to confirm as well.
START = {"kernel": (4.0, 5.5), "entry": (6.0, 7.0), "program": (11.0, 11.0)}


@dataclass(frozen=True, slots=True)
class Choice:
    """Candidates to be judged, in the table's order, and the seconds they are expected to take."""

    candidates: tuple[Candidate, ...]
    of: int
    seconds: float

    def words(self) -> str:
        """Say it in a line."""
        return f"{len(self.candidates)} of {self.of} candidates, about {self.seconds:.0f} s"


def recorded(path: Path = SECONDS) -> dict[str, float]:
    """Return the lane's seconds of each candidate of the recorded run; none without one."""
    if not path.is_file():
        return {}
    return {label: float(s) for label, s in json.loads(path.read_text())["seconds"].items()}


def start(candidate: Candidate, begun: set[tuple[str, bool]]) -> float:
    """Return a lane's seconds for answers that are not there yet.

    `begun` holds a base's name and whether its answers are those for a confirmation.
    """
    return sum(cost for which, cost in _wanted(candidate) if which not in begun)


def _wanted(candidate: Candidate) -> tuple[tuple[tuple[str, bool], float], ...]:
    """Return what a candidate needs answers for, and what each of them takes."""
    base = candidate.base
    return _asked(base.name, base.kind, confirms=candidate.expect == "accept")


@cache
def _asked(name: str, kind: str, *, confirms: bool) -> tuple[tuple[tuple[str, bool], float], ...]:
    screening, confirming = START[kind]
    both = (((name, False), screening), ((name, True), confirming))
    return both if confirms else both[:1]


def total(candidates: Iterable[Candidate], costs: Mapping[str, float]) -> float:
    """Return the seconds of a lane that some take together, one after the other."""
    begun: set[tuple[str, bool]] = set()
    seconds = 0.0
    for one in candidates:
        seconds += start(one, begun) + costs[one.label]
        begun.update(which for which, _ in _wanted(one))
    return seconds


def expected(candidates: Iterable[Candidate], known: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of a lane that each is expected to take by itself."""
    every = list(candidates)
    alike: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for one in every:
        if one.label in known:
            alike[one.base.kind, one.expect == "accept"].append(known[one.label])
    usual = {
        (kind, good): _usual(kind, alike[kind, good], good=good)
        for kind in UNKNOWN
        for good in (True, False)
    }
    found = {}
    for one in every:
        kind, good = one.base.kind, one.expect == "accept"
        most = BUSY * usual[kind, True]
        found[one.label] = min(known.get(one.label, usual[kind, good]), most)
    return found


def _usual(kind: str, same: Sequence[float], *, good: bool) -> float:
    other = UNKNOWN[kind][0 if good else 1]
    return max(other, statistics.median(same)) if same else other


def choose(
    candidates: Sequence[Candidate], seed: int, seconds: float, known: Mapping[str, float]
) -> Choice:
    """Choose what fits into so many seconds of a run; the first group whether it fits or not."""
    costs = expected(candidates, known)
    groups = _groups(candidates, seed, costs)
    taken: dict[str, Candidate] = {}
    begun: set[tuple[str, bool]] = set()
    left = seconds * LANES - ROUNDING
    for (group, share), forced in zip(groups, [True, *[False] * len(groups)], strict=False):
        kept = max(0.0, left - share * seconds * LANES)  # for the groups behind it
        for one in group:
            if one.label in taken or not (forced or costs[one.label] <= left - kept):
                continue
            cost = costs[one.label] + start(one, begun)
            if share < 1.0 and cost > share * seconds * LANES / LEAST_GOOD:
                continue
            if forced or cost <= left - kept:
                taken[one.label] = one
                begun.update(which for which, _ in _wanted(one))
                left -= cost
    mine = tuple(one for one in candidates if one.label in taken)
    return Choice(mine, len(candidates), total(mine, costs) / LANES)


def whole(candidates: Sequence[Candidate], known: Mapping[str, float]) -> Choice:
    """Choose all."""
    cost = total(candidates, expected(candidates, known)) / LANES
    return Choice(tuple(candidates), len(candidates), cost)


def _groups(
    candidates: Sequence[Candidate], seed: int, costs: Mapping[str, float]
) -> list[tuple[list[Candidate], float]]:
    """Return what is chosen from in turn, and how much of the time each may take."""
    mixed = list(candidates)
    random.Random(seed).shuffle(mixed)  # noqa: S311 - to be the same again, not secret
    bad = [one for one in mixed if one.expect != "accept"]
    good = [one for one in mixed if one.expect == "accept" and one.name != "base"]
    bases = [one for one in mixed if one.name == "base"]
    by_class: dict[str, list[Candidate]] = defaultdict(list)
    for one in bad:
        by_class[one.what].append(one)
    begun: set[str] = set()
    usual: list[Candidate] = []
    rare: list[Candidate] = []
    # Those of which there are few first: answers of their originals are there for the others then,
    # and to wait for those is most of what a refusal takes.
    for what in sorted(by_class, key=lambda what: (len(by_class[what]), what)):
        first = min(
            by_class[what], key=lambda c: (costs[c.label] > 6 * CHEAP, c.base.name not in begun)
        )
        begun.add(first.base.name)
        (usual if len(by_class[what]) >= USUAL else rare).append(first)
    turns = _dealt(rare, {what: _least(by_class[what], costs) for what in by_class})
    once, begin = divmod(seed, max(1, len(turns)))
    # Behind what takes long the others of a turn have no room, and behind them it has none: once these
    # come first, once that.
    rare = [
        one
        for turn in (*turns[begin:], *turns[:begin])
        for one in sorted(turn, key=lambda one: costs[one.label], reverse=once % 2 == 1)
    ]
    return [
        (usual or rare, 1.0),
        (_in_turns(good), GOOD_SHARE),
        (rare, 1.0),
        ([one for one in mixed if costs[one.label] <= CHEAP], 1.0),
        (_in_turns(good), 1.0),
        (bases, 1.0),
        (bad, 1.0),
    ]


def _least(alike: Sequence[Candidate], costs: Mapping[str, float]) -> float:
    """Return the seconds of the cheapest of a class, its original's first answers with them."""
    return min(costs[one.label] + start(one, set()) for one in alike)


def _dealt(rare: Sequence[Candidate], least: Mapping[str, float]) -> list[list[Candidate]]:
    """Deal one of each class into turns that take about as long each.

    Left to chance, several of the longest met in one turn, and its others never had room. Which turn
    a class is in does not depend on the seed.
    """
    # A few more than its share in each, so that what takes nearly all of a turn has fewer beside it.
    most = max(1, -(-len(rare) // TURNS)) + MORE
    turns: list[list[Candidate]] = [[] for _ in range(min(TURNS, len(rare)))]
    seconds = [0.0] * len(turns)
    for one in sorted(rare, key=lambda one: (-least[one.what], one.what)):
        at = min((n for n, turn in enumerate(turns) if len(turn) < most), key=seconds.__getitem__)
        turns[at].append(one)
        seconds[at] += least[one.what]
    return turns


def _in_turns(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Order so that every base has had its turn before one has its next."""
    by_base: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        by_base[one.base.name].append(one)
    rows = [list(by_base)] * max(map(len, by_base.values()), default=0)
    return [
        by_base[name][turn]
        for turn, row in enumerate(rows)
        for name in row
        if turn < len(by_base[name])
    ]
