"""What a run of the red team on a real GPU found holds here, too, where numbers alone decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from optimizer.boundary import violations
from runners.exhibit import passes
from tests.redteam.table import Candidate, load

RECORDS = Path(__file__).parents[1] / "data" / "redteam" / "records.json"
CANDIDATES = load()
FEWEST_BAD, FEWEST_GOOD, FEWEST_BASES = 60, 25, 12


def _records() -> dict[str, dict[str, Any]]:
    data = json.loads(RECORDS.read_text())
    return {record["label"]: record for record in data["outcomes"]}


def test_the_red_team_is_large_enough() -> None:
    """Originals judged against themselves are not counted as good candidates."""
    bad = [c for c in CANDIDATES if c.expect != "accept"]
    good = [c for c in CANDIDATES if c.expect == "accept" and c.name != "base"]
    assert len(bad) >= FEWEST_BAD
    assert len(good) >= FEWEST_GOOD
    assert len({c.base.name for c in CANDIDATES}) >= FEWEST_BASES
    assert len({c.digest for c in CANDIDATES}) == len(CANDIDATES)


def test_every_candidate_was_judged_as_it_is_now() -> None:
    """A changed text or workload needs a new run: `python -m tests.redteam.run FOLDER`."""
    known = _records()
    stale = [c.label for c in CANDIDATES if known.get(c.label, {}).get("digest") != c.digest]
    assert not stale
    assert len(known) == len(CANDIDATES)


def test_nothing_bad_got_through_and_everything_good_did() -> None:
    """On the GPU that is named in the record."""
    wrong = [label for label, record in _records().items() if not record["right"]]
    assert not wrong


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda c: str(c.label))
def test_the_edit_boundary_says_what_it_said(candidate: Candidate) -> None:
    """Good candidates are inside; what was refused for its text is refused again."""
    outside = violations(
        candidate.base.source, candidate.source, allow_host=candidate.base.edit_host
    )
    if candidate.expect == "accept":
        assert outside == ()
    assert bool(outside) == (_records()[candidate.label]["stage"] == "boundary")


SHOWN = [label for label, record in _records().items() if record.get("exhibit")]


@pytest.mark.parametrize("label", SHOWN)
def test_numbers_from_the_gpu_are_judged_the_same(label: str) -> None:
    """The comparison that decided, or came nearest to it, is made again on recorded outputs."""
    record = _records()[label]
    assert passes(record["exhibit"]) == record["numbers"]


def test_numbers_decided_often() -> None:
    """Enough is recorded to notice a change of what is close enough."""
    records = [r for r in _records().values() if r.get("exhibit")]
    assert sum(not r["numbers"] for r in records) >= 40
    assert sum(r["numbers"] for r in records) >= 25
