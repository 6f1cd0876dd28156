"""What a run of the red team on a real GPU found holds here, too, where numbers alone decide."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from optimizer.boundary import violations
from runners import alignment, float_quotients, launch_limits, limit, sizes, spec
from runners.contents import Combination
from runners.exhibit import passes
from runners.launch_ends import Ends
from runners.other_values import Other
from runners.zero_products import Infinite
from tests.redteam.run import Outcome, count
from tests.redteam.table import (
    ALIGNMENT,
    DECLARED_VALUE,
    FLOAT_QUOTIENTS,
    SAID,
    ZERO_PRODUCTS,
    Candidate,
    load,
)

RECORDS = Path(__file__).parents[1] / "data" / "redteam" / "records.json"
CANDIDATES = load()
FEWEST_BAD, FEWEST_GOOD, FEWEST_BASES = 60, 25, 12


@cache
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


def test_what_is_recorded_is_about_the_candidates_as_they_are() -> None:
    """A changed text or workload needs a new run: `python -m tests.redteam.run FOLDER`."""
    now = {c.label: c.digest for c in CANDIDATES}
    known = _records()
    stale = [label for label, record in known.items() if record["digest"] != now.get(label)]
    assert not stale
    bad = [r for r in known.values() if r["expect"] != "accept"]
    good = [r for label, r in known.items() if r["expect"] == "accept" and "/base" not in label]
    assert len(bad) >= FEWEST_BAD
    assert len(good) >= FEWEST_GOOD


def test_what_was_judged_wrongly_is_known_by_name() -> None:
    """All else was refused or accepted as it should be; `mended` has not been run on a GPU since."""
    mended = set(json.loads(RECORDS.read_text())["mended"])
    assert {label for label, record in _records().items() if not record["right"]} == mended


@pytest.mark.parametrize(
    "candidate",
    [c for c in CANDIDATES if c.expect == "limit" and c.what not in SAID],
    ids=lambda c: str(c.label),
)
def test_a_limit_is_said_and_far_beyond_what_is_declared(candidate: Candidate) -> None:
    """Nearer ones are tried, and refused; what is said names the size from which on it fails."""
    job = spec.parse(candidate.job("confirm"))
    entry = candidate.base.kind == "entry"
    shared = launch_limits.SHARED_BYTES
    found = Ends(job).limits() if entry else launch_limits.limits(job, shared)
    froms = [re.search(rf"{launch_limits.FAILS} (\w+)=([\d,]+) on", words) for words in found]
    assert found
    for one in froms:
        assert one is not None
        most = sizes.TIMES_LONGER * sizes.largest(job.work, one[1])
        assert int(one[2].replace(",", "")) > most
    assert candidate.right(accepted=True, speedup=2.0, notes=found)
    silent = candidate if entry else replace(candidate, launch=None)
    assert not silent.right(accepted=True, speedup=2.0, notes=["not checked"])
    assert silent.right(accepted=False, speedup=None)


@pytest.mark.parametrize(
    "candidate",
    [c for c in CANDIDATES if c.expect == "limit" and c.what in SAID],
    ids=lambda c: str(c.label),
)
def test_what_only_a_run_can_tell_is_said(candidate: Candidate) -> None:
    """What has to be aligned, or is right for one value: without a note it is judged wrongly."""
    other = Other("m", 7, 6, Combination({}, "declared", 1)).said("it fails")
    zeros = Infinite("k", Combination({}, "declared", 1)).said("it is not")
    notes = {
        ALIGNMENT: alignment.Need(("x", "y"), 16, 4).words,
        DECLARED_VALUE: other,
        ZERO_PRODUCTS: zeros,
        FLOAT_QUOTIENTS: limit.said(f"{float_quotients.DECIDE}: these"),
    }
    note = notes[candidate.what]
    assert candidate.right(accepted=True, speedup=2.0, notes=["not checked", note])
    assert candidate.right(accepted=False, speedup=None)
    assert not candidate.right(accepted=True, speedup=2.0, notes=["not checked"])
    record = _records().get(candidate.label)
    assert record is None or any(SAID[candidate.what] in said for said in record["notes"])


# One test for all candidates of an original: thousands by themselves take longer to list than to run.
BASES = sorted({c.base.name for c in CANDIDATES})


@pytest.mark.parametrize("base", BASES)
def test_the_edit_boundary_says_what_it_said(base: str) -> None:
    """Good candidates are inside; what was refused for its text is refused again."""
    for candidate in (c for c in CANDIDATES if c.base.name == base):
        outside = violations(
            candidate.base.source, candidate.source, allow_host=candidate.base.edit_host
        )
        if candidate.expect == "accept":
            assert outside == (), candidate.label
        known = _records().get(candidate.label)
        same = known is None or bool(outside) == (known["stage"] == "boundary")
        assert same, (candidate.label, outside)


@pytest.mark.parametrize("base", BASES)
def test_numbers_from_the_gpu_are_judged_the_same(base: str) -> None:
    """The comparison that decided, or came nearest to it, is made again on recorded outputs."""
    mine = [r for label, r in _records().items() if label.partition("/")[0] == base]
    for record in (one for one in mine if one.get("exhibit")):
        assert passes(record["exhibit"]) == record["numbers"], record["label"]


def test_every_candidate_and_every_record_belongs_to_an_original() -> None:
    """None is left out of the tests that go by originals."""
    assert {c.label.partition("/")[0] for c in CANDIDATES} == {*BASES}
    assert {label.partition("/")[0] for label in _records()} <= {*BASES}


def test_numbers_decided_often() -> None:
    """Enough is recorded to notice a change of what is close enough."""
    records = [r for r in _records().values() if r.get("exhibit")]
    assert sum(not r["numbers"] for r in records) >= 40
    assert sum(r["numbers"] for r in records) >= 25


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ("open", "bad: 0 refused, 3 known to pass, 0 accepted; good: 0 accepted"),
        ("gain", "bad: 0 refused, 3 right and no faster, 0 accepted; good: 0 accepted"),
        ("limit", "bad: 0 refused, 3 accepted and said, 0 accepted; good: 0 accepted"),
        ("refuse", "bad: 0 refused, 3 accepted; good: 0 accepted"),
    ],
)
def test_what_is_accepted_is_never_counted_as_refused(expect: str, words: str) -> None:
    """A fault that nothing shows, or that is said, is no refusal, and fails no run."""
    every = [Outcome(f"a/{n}", expect, "border", "0", accepted=True) for n in range(3)]
    for one in every:
        one.right = expect != "refuse"
    assert count(every).startswith(words)
    every[0].accepted, every[0].right = False, True
    assert count(every).startswith(words.replace("0 refused, 3", "1 refused, 2"))


def test_records_are_of_what_the_table_wants_now() -> None:
    """A label that is changed changes what was right, whatever was written down then."""
    records = _records()
    for candidate in CANDIDATES:
        record = records.get(candidate.label)
        if record is None:
            continue
        assert record["expect"] == candidate.expect, candidate.label
        notes = record.get("notes") or ()
        right = candidate.right(accepted=record["accepted"], speedup=record["speedup"], notes=notes)
        assert record["right"] == right, candidate.label
