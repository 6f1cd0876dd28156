"""Sow small faults in good kernels and see which the verifier finds.

    python -m tests.redteam.mutation FOLDER [LABEL...] --count=N --seed=S

The red team's bad candidates were written by people who know how it looks for them. Here faults are
made by rule (`tests.redteam.faults`) in what must be accepted, originals included, and each is judged
as the red team's are (`tests.redteam.run`). `--lanes=N` and `--stop-after=SECONDS` are as there;
`--list` writes what was chosen and needs no GPU; with labels only those of the chosen are judged.

One of each operator in turn, those with the fewest places first; at most three of one original, so
that its answers are worked out once for some of them. What the boundary keeps out is no mutant: to
refuse it shows nothing. A mutant whose machine code is its parent's is one in name only and is not
judged, nor is one that does not compile. Both are counted apart.

FOLDER/mutation.json and FOLDER/mutation.md are written as verdicts come. A mutant that survives is
not yet a miss: somebody has to look whether it does any harm.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from optimizer.boundary import violations
from tests.redteam import faults
from tests.redteam.faults import Fault
from tests.redteam.run import Outcome, Served, Team, device, gpus, number
from tests.redteam.table import NO_VERDICT, Candidate, load

Json = dict[str, Any]
COUNT, SEED, EACH = 225, 12, 3
# Threads that compile parents beside those that compile mutants.
PARENTS = 3
SAME, BROKEN = "same machine code", "does not compile"
NOT_JUDGED = (SAME, BROKEN, NO_VERDICT)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A candidate with one fault in it."""

    candidate: Candidate
    parent: Candidate
    fault: Fault

    @property
    def label(self) -> str:
        """Name it: `rowsum/kahan~barrier@12`."""
        return self.candidate.label

    @property
    def diff(self) -> str:
        """Return what was changed, with a line on both sides."""
        texts = (self.parent.source.splitlines(), self.candidate.source.splitlines())
        return "\n".join(list(difflib.unified_diff(*texts, n=1, lineterm=""))[2:])


def parents() -> list[Candidate]:
    """Return what faults are sown in: originals and all else that must be accepted."""
    return [one for one in load() if one.expect == "accept"]


def mutant(parent: Candidate, fault: Fault) -> Mutant:
    """Return a good candidate with a fault."""
    name = f"{parent.name}~{fault.operator}@{fault.line}"
    what = f"mutant: {fault.operator}"
    made = replace(parent, name=name, source=fault.text, expect="refuse", what=what)
    return Mutant(made, parent, fault)


def choose(sown: Sequence[Candidate], count: int, seed: int) -> list[Mutant]:
    """Choose mutants, the same for the same seed; fewer than `count` where there are no more.

    No two of one place, or of one line and operator.
    """
    draw = random.Random(seed)  # noqa: S311 - to be the same again, not secret
    table: dict[str, dict[str, dict[str, list[tuple[Candidate, Fault]]]]] = {
        name: defaultdict(lambda: defaultdict(list)) for name in faults.OPERATORS
    }
    for parent in sown:
        for fault in faults.faults(parent.source):
            table[fault.operator][parent.base.name][parent.name].append((parent, fault))
    order = sorted(table, key=lambda name: (len(table[name]), name))
    used: Counter[str] = Counter()
    taken: dict[str, Mutant] = {}
    while len(taken) < count and any(table.values()):
        for name in order:
            made = _next(table[name], used, taken, draw)
            if made is not None and len(taken) < count:
                taken[made.label] = made
                used[made.parent.base.name] += 1
    return list(taken.values())


def _next(
    places: dict[str, dict[str, list[tuple[Candidate, Fault]]]],
    used: Counter[str],
    taken: Mapping[str, Mutant],
    draw: random.Random,
) -> Mutant | None:
    """Take a place of one operator out of its table; None, and an empty table, without any.

    An original that has mutants is preferred while it has room, one without this operator's first.
    """
    operators = {(one.parent.base.name, one.fault.operator) for one in taken.values()}
    while places:
        bases = sorted(places)
        draw.shuffle(bases)

        def rank(base: str) -> tuple[bool, bool, bool]:
            fault = next(iter(places[base].values()))[0][1]
            return (used[base] >= EACH, (base, fault.operator) in operators, not used[base])

        base = min(bases, key=rank)
        name = draw.choice(sorted(places[base]))
        listed = places[base][name]
        parent, fault = listed.pop(draw.randrange(len(listed)))
        if not listed:
            del places[base][name]
        if not places[base]:
            del places[base]
        made = mutant(parent, fault)
        if made.label not in taken and _apart(made, taken.values()) and _inside(made):
            return made
    return None


def _apart(made: Mutant, taken: Iterable[Mutant]) -> bool:
    """Tell whether no other mutant of the same parent changes the same place."""
    low, high = made.fault.place
    return all(
        one.parent.label != made.parent.label
        or one.fault.place[1] <= low
        or high <= one.fault.place[0]
        for one in taken
    )


def _inside(made: Mutant) -> bool:
    base = made.parent.base
    text = made.candidate.source
    if text == base.source or not faults.sound(made.parent.source, made.fault):
        return False
    return not violations(base.source, text, allow_host=base.edit_host)


class Sown(Team):
    """Judges mutants; one whose machine code is its parent's is not asked about."""

    def __init__(self, scratch: Path, sm: int, mutants: Sequence[Mutant], lanes: int) -> None:
        super().__init__(scratch, sm, lanes=lanes, gpus=gpus())
        self._pool = ThreadPoolExecutor(PARENTS)
        sown = {one.parent.label: one.parent for one in mutants}
        made = {
            label: self._pool.submit(self._building.compiled, one.source, one.job("screen"))
            for label, one in sown.items()
        }
        self._parents = {one.label: made[one.parent.label] for one in mutants}

    def close(self) -> None:
        """End what compiles parents, too."""
        self._pool.shutdown(cancel_futures=True)
        super().close()

    def _one(
        self,
        candidate: Candidate,
        outcome: Outcome,
        built: Future[Json],
        baseline: Json,
        workers: tuple[Served, Served],
    ) -> None:
        own, parent = built.result(), self._parents[candidate.label].result()
        if "path" in own and own["machine_code"] == parent.get("machine_code"):
            outcome.status, outcome.stage, outcome.layer = SAME, "compile", ""
            return
        super()._one(candidate, outcome, built, baseline, workers)


def row(one: Mutant, outcome: Outcome | None) -> Json:
    """Return what is kept of a mutant."""
    facts = {} if outcome is None else asdict(outcome)
    kept = ("status", "stage", "layer", "seconds", "accepted", "speedup", "log", "watched")
    return {
        "label": one.label,
        "operator": one.fault.operator,
        "kind": one.parent.base.kind,
        "diff": one.diff,
        **{name: facts[name] for name in kept if name in facts},
    }


def table(rows: Sequence[Json]) -> str:
    """Return by operator what became of its mutants, as Markdown, and the diffs of survivors."""
    heads = ("operator", "judged", "killed", "at screening", "survived", "same code", "not judged")
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    names = [name for name in faults.OPERATORS if any(r["operator"] == name for r in rows)]
    for name in (*names, "all"):
        mine = [r for r in rows if name in (r["operator"], "all")]
        judged = [r for r in mine if r["status"] not in NOT_JUDGED]
        killed = [r for r in judged if not r["accepted"]]
        early = sum(r["stage"] == "screen" for r in killed)
        same = sum(r["status"] == SAME for r in mine)
        cells = [len(judged), len(killed), early, len(judged) - len(killed), same]
        cells.append(len(mine) - len(judged) - same)
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    layers = Counter(
        str(r["layer"]) for r in rows if r["status"] not in NOT_JUDGED and not r["accepted"]
    )
    lines += ["", "Killed by: " + ", ".join(f"{k} {n}" for k, n in layers.most_common()), ""]
    for one in rows:
        if one["accepted"]:
            lines += [f"## {one['label']}", "", "```diff", one["diff"], "```", ""]
    return "\n".join(lines)


def _judged(
    mutants: Sequence[Mutant], sm: int, lanes: int, until: float | None
) -> Iterator[Outcome]:
    with (
        tempfile.TemporaryDirectory(prefix="mutation-") as scratch,
        contextlib.closing(Sown(Path(scratch), sm, mutants, lanes)) as team,
    ):
        yield from team.judge([one.candidate for one in mutants], until=until)


def main(arguments: Sequence[str]) -> int:
    """Judge mutants; return 0 when all were judged, 3 when time was over, 2 without a GPU."""
    words = [a for a in arguments if not a.startswith("--")]
    folder, wanted = Path(words[0] if words else "."), set(words[1:])
    folder.mkdir(parents=True, exist_ok=True)
    count, seed = (int(number(arguments, n) or d) for n, d in (("count", COUNT), ("seed", SEED)))
    most, begun = number(arguments, "stop-after"), time.monotonic()
    mutants = [m for m in choose(parents(), count, seed) if not wanted or m.label in wanted]
    named = {one.label: one for one in mutants}
    file = folder / "mutation.json"
    if "--list" in arguments:
        file.write_text(json.dumps([row(one, None) for one in mutants], indent=1))
        return 0
    facts = device()
    if "error" in facts:
        sys.stderr.write(f"{facts['error']['message']}\n")
        return 2
    bases = len({one.parent.base.name for one in mutants})
    sys.stdout.write(f"{len(mutants)} mutants of {bases} originals, seed {seed}\n")
    until = None if most is None else begun + most
    rows: list[Json] = []
    lanes = int(number(arguments, "lanes") or 0)
    for outcome in _judged(mutants, int(facts["sm"]), lanes, until):
        rows.append(row(named[outcome.label], outcome))
        mark = "SURVIVED" if outcome.accepted else "killed"
        said = outcome.log.strip().replace("\n", " | ")[:150]
        sys.stdout.write(
            f"{time.monotonic() - begun:6.1f} {mark:8} {outcome.label:52} {outcome.status:17}"
            f" {outcome.stage:8} {outcome.layer:16} {outcome.seconds:6.2f} s {said}\n"
        )
        sys.stdout.flush()
        data = {"gpu": facts["gpu"], "seed": seed, "count": count, "mutants": rows}
        file.write_text(json.dumps(data, indent=1))
        (folder / "mutation.md").write_text(table(rows))
    sys.stdout.write(f"{table(rows)}\n{time.monotonic() - begun:.0f} s on {facts['gpu']}\n")
    left = len(mutants) - len(rows)
    if left:
        sys.stdout.write(f"{left} were not judged: the time was over\n")
    return 3 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
