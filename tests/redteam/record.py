"""Keep a run's verdicts for CI: `python -m tests.redteam.record redteam.json`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.redteam.table import load

Json = dict[str, Any]

RECORDS = Path(__file__).parents[1] / "data" / "redteam" / "records.json"
# Layers that compare outputs; the others look at memory, time, text or what a tool says.
NUMERIC = frozenset({"cases", "sizes", "families", "many launches", "delayed warps"})
_KEPT = ("label", "expect", "digest", "right", "accepted", "status", "stage", "layer", "speedup")


def kept(outcome: Json) -> Json:
    """Return what is recorded of a verdict; `numbers` tells whether its numbers were right."""
    record = {key: outcome.get(key) for key in _KEPT}
    if outcome["speedup"] is not None:
        record["speedup"] = round(float(outcome["speedup"]), 3)
    record["log"] = str(outcome["log"])[:200]
    record["numbers"] = not (outcome["status"] == "wrong result" and outcome["layer"] in NUMERIC)
    if outcome.get("exhibit"):
        record["exhibit"] = outcome["exhibit"]
    return record


def main(arguments: Sequence[str]) -> int:
    """Reduce a run's file to the records."""
    data = json.loads(Path(arguments[0]).read_text())
    known = {c.label: c for c in load()}
    outcomes = sorted((kept(o) for o in data["outcomes"]), key=lambda o: str(o["label"]))
    for outcome in outcomes:
        candidate = known[outcome["label"]]
        outcome["digest"] = outcome["digest"] or candidate.digest
        outcome["right"] = candidate.right(accepted=outcome["accepted"], speedup=outcome["speedup"])
    RECORDS.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(o, separators=(",", ":")) for o in outcomes)
    RECORDS.write_text(f'{{"gpu":{json.dumps(data["gpu"])},"outcomes":[\n{lines}\n]}}\n')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
