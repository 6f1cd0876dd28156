"""Keep a run's verdicts for CI: `python -m tests.redteam.record redteam.json [--mended LABEL...]`.

What the run judged replaces what was recorded of the same candidates; what it did not judge stays as
long as the candidate is still the same. Candidates that the run judged wrongly are written, too, and
the tests then fail, unless they are named behind `--mended`: what was mended since, and waits for its
next run. The seconds that each took are what `tests.redteam.choice` plans with.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runners import (
    all_meeting,
    distant,
    first_calls,
    fuzzing,
    growing,
    guided,
    led_along,
    lines_run,
    many_calls,
    moved_buffers,
    nearly_piled,
    piled_up,
    same_number,
    timed_launches,
)
from tests.redteam.choice import SECONDS
from tests.redteam.table import NO_VERDICT, Candidate, load

Json = dict[str, Any]

RECORDS = Path(__file__).parents[1] / "data" / "redteam" / "records.json"
# Layers that compare outputs; the others look at memory, time, text or what a tool says.
NUMERIC = frozenset(
    {"cases", "sizes", "families", "many launches", "calls in a row", "delayed warps"}
    | {distant.LAYER, first_calls.LAYER, growing.LAYER, many_calls.LAYER, moved_buffers.LAYER}
    | {timed_launches.BEHIND, same_number.LAYER, piled_up.LAYER, nearly_piled.LAYER, fuzzing.LAYER}
    | {lines_run.LAYER, all_meeting.LAYER, led_along.LAYER, guided.LAYER}
)
# What the first candidate of a base waits for, and no other, and what nobody judges meanwhile.
LEARNED = ("oracle", "profile original", "waited for the compiler")
_KEPT = ("label", "expect", "digest", "right", "accepted", "status", "stage", "layer", "speedup")


def kept(outcome: Json) -> Json:
    """Return what is recorded of a verdict; `numbers` tells whether its numbers were right."""
    record = {key: outcome.get(key) for key in _KEPT}
    if outcome["speedup"] is not None:
        record["speedup"] = round(float(outcome["speedup"]), 3)
    record["log"] = str(outcome["log"])[:200]
    record["numbers"] = not (outcome["status"] == "wrong result" and outcome["layer"] in NUMERIC)
    if outcome["expect"] == "limit":
        record["notes"] = list(outcome.get("notes") or ())
    if outcome.get("exhibit"):
        record["exhibit"] = outcome["exhibit"]
    return record


def missing(candidates: Sequence[Candidate], records: Path = RECORDS) -> frozenset[str]:
    """Return the labels of those that have no record, or were mended since it was made."""
    data = json.loads(records.read_text()) if records.is_file() else {}
    known = {(str(one["label"]), one["digest"]) for one in data.get("outcomes", ())}
    mended = set(data.get("mended", ()))
    return frozenset(
        one.label
        for one in candidates
        if (one.label, one.digest) not in known or one.label in mended
    )


def merged(outcomes: list[Json], before: list[Json]) -> list[Json]:
    """Return the records of a run, and those of earlier runs that still hold beside them."""
    known = {c.label: c for c in load()}
    found: dict[str, Json] = {
        str(one["label"]): one
        for one in before
        if one["label"] in known and one["digest"] == known[str(one["label"])].digest
    }
    for one in map(kept, outcomes):
        candidate = known.get(str(one["label"]))
        one["digest"] = one["digest"] or (candidate.digest if candidate else "")
        if candidate is not None and one["digest"] == candidate.digest:
            judged = one["status"] != NO_VERDICT
            right = candidate.right(
                accepted=one["accepted"], speedup=one["speedup"], notes=one.get("notes") or ()
            )
            one["right"] = judged and right
            found[str(one["label"])] = one
    return [found[label] for label in sorted(found)]


def main(arguments: Sequence[str], records: Path = RECORDS, seconds: Path = SECONDS) -> int:
    """Reduce a run's file to the records; return 1 when there is something wrong in them."""
    file, *more = arguments
    data = json.loads(Path(file).read_text())
    before = json.loads(records.read_text()) if records.is_file() else {"outcomes": []}
    judged = {str(one["label"]) for one in data["outcomes"]}
    outcomes = merged(data["outcomes"], before["outcomes"])
    wrong = {str(one["label"]) for one in outcomes if not one["right"]}
    named = {word for word in more if not word.startswith("--")}
    mended = sorted(wrong & (named | (set(before.get("mended", ())) - judged)))
    records.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(o, separators=(",", ":")) for o in outcomes)
    head = f'"gpu":{json.dumps(data["gpu"])},"mended":{json.dumps(mended)}'
    records.write_text(f'{{{head},"outcomes":[\n{lines}\n]}}\n')
    _keep_seconds(data, seconds)
    unsaid = sorted(wrong - set(mended))
    if unsaid:
        sys.stderr.write(f"judged wrongly: {' '.join(unsaid)}\n")
    return 1 if unsaid else 0


def own(outcome: Json) -> float:
    """Return a candidate's own seconds: without its compiler's and the answers of its original."""
    spent: dict[str, float] = outcome.get("spent", {})
    learned = sum(seconds for what, seconds in spent.items() if what.endswith(LEARNED))
    return max(0.01, float(outcome["seconds"]) - float(learned))


def _keep_seconds(data: Json, path: Path) -> None:
    known = json.loads(path.read_text())["seconds"] if path.is_file() else {}
    # What was judged wrongly takes another time once it is not.
    known |= {str(o["label"]): round(own(o), 2) for o in data["outcomes"] if o.get("right", True)}
    lines = ",\n".join(f"{json.dumps(label)}:{known[label]}" for label in sorted(known))
    path.write_text(f'{{"gpu":{json.dumps(data["gpu"])},"seconds":{{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
