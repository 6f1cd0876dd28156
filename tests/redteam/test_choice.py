"""What a run of limited time judges, how it stops, and how its verdicts are kept."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.gpu.budget import CHOSEN, EXPECTED
from tests.redteam import run
from tests.redteam.choice import (
    TURNS,
    USUAL,
    _dealt,
    _groups,
    _least,
    choose,
    expected,
    recorded,
    whole,
)
from tests.redteam.record import main as record
from tests.redteam.record import missing
from tests.redteam.run import GIVE_UP_SECONDS, Outcome, Served, Team
from tests.redteam.table import NO_VERDICT, Candidate, load

CANDIDATES = load()
GOOD = [c for c in CANDIDATES if c.expect == "accept" and c.name != "base"]
KNOWN = recorded()
ALIKE = Counter(c.what for c in CANDIDATES if c.expect != "accept")
SECONDS = 170.0
# What all of them are expected to take: they grow more, and what a share of them holds stays.
WHOLE = whole(CANDIDATES, KNOWN).seconds


@pytest.mark.parametrize("seed", [1, 2, 77])
def test_a_choice_holds_every_class_and_a_good_one_of_every_base(seed: int) -> None:
    chosen = choose(CANDIDATES, seed, 0.55 * WHOLE, KNOWN).candidates
    bad = {c.what for c in CANDIDATES if c.expect != "accept"}
    assert {c.what for c in chosen if c.expect != "accept"} == bad
    good = [c for c in chosen if c.expect == "accept" and c.name != "base"]
    assert {c.base.name for c in good} == {c.base.name for c in GOOD}
    usual = {c.what for c in CANDIDATES if c.expect != "accept" and ALIKE[c.what] >= USUAL}
    short = choose(CANDIDATES, seed, SECONDS / 9, KNOWN).candidates
    assert len(usual) >= 30
    assert {c.what for c in short if c.expect != "accept"} == usual


@pytest.mark.parametrize("seed", [3, 18])
def test_what_eight_minutes_suffice_for_has_good_ones_and_rare_classes_in_it(seed: int) -> None:
    chosen = choose(CANDIDATES, seed, CHOSEN * EXPECTED["red team"], KNOWN).candidates
    assert sum(c.expect == "accept" and c.name != "base" for c in chosen) >= 5
    assert sum(ALIKE[c.what] < USUAL for c in chosen if c.expect != "accept") >= 12


def test_over_some_seeds_every_class_has_its_turn() -> None:
    seen: set[str] = set()
    for seed in range(TURNS):
        chosen = choose(CANDIDATES, seed, 2 * CHOSEN * EXPECTED["red team"], KNOWN).candidates
        seen |= {c.what for c in chosen if c.expect != "accept"}
        if seen == set(ALIKE):
            break
    assert seen == set(ALIKE)


def test_what_takes_long_is_dealt_out_and_comes_first_in_every_second_round() -> None:
    costs = expected(CANDIDATES, KNOWN)
    by_class: dict[str, list[Candidate]] = {}
    for one in CANDIDATES:
        if one.expect != "accept" and ALIKE[one.what] < USUAL:
            by_class.setdefault(one.what, []).append(one)
    least = {what: _least(alike, costs) for what, alike in by_class.items()}
    dealt = _dealt([alike[-1] for alike in by_class.values()], least)
    again = _dealt([alike[0] for alike in reversed(by_class.values())], least)
    turns = [{one.what for one in turn} for turn in dealt]
    assert turns == [{one.what for one in turn} for turn in again]
    assert set().union(*turns) == set(by_class)
    assert sum(map(len, turns)) == len(by_class)
    longest = sorted(least, key=lambda what: (-least[what], what))[: len(turns)]
    assert all(len(turn & set(longest)) == 1 for turn in turns)

    def first(seed: int) -> list[float]:
        rare = _groups(CANDIDATES, seed, costs)[2][0]
        return [costs[one.label] for one in rare[: min(map(len, turns))]]

    assert first(7) == sorted(first(7))
    late = first(7 + len(turns))
    assert late == sorted(late, reverse=True)


def test_a_choice_fits_and_is_the_same_for_the_same_seed() -> None:
    first = choose(CANDIDATES, 5, SECONDS, KNOWN)
    assert first == choose(tuple(CANDIDATES), 5, SECONDS, KNOWN)
    assert first.candidates != choose(CANDIDATES, 6, SECONDS, KNOWN).candidates
    assert first.seconds <= SECONDS
    assert WHOLE > SECONDS
    assert choose(CANDIDATES, 5, 1e6, KNOWN).candidates == CANDIDATES


def test_over_many_seeds_every_good_candidate_has_its_turn() -> None:
    left = {c.label for c in GOOD}
    # As many seeds as there are tens of good ones, so that both grow alike.
    for seed in range(len(GOOD) // 10):
        left -= {c.label for c in choose(CANDIDATES, seed, 0.22 * WHOLE, KNOWN).candidates}
        if not left:
            break
    assert not left


def test_what_was_not_recorded_costs_what_is_alike() -> None:
    costs = expected(CANDIDATES, {"saxpy/base": 3.0})
    assert costs["saxpy/base"] == 3.0
    assert costs["steps/base"] > costs["chain/fused"] > costs["rowsum/tree"] > 10
    assert costs["rowsum/no_barriers"] < 1


class _Idle(Team):
    """Judges nothing; says that it did. With `few`, later ones wait until the run is given up."""

    def __init__(self, few: int = 10**6) -> None:
        super().__init__(Path("unused"), 90, lanes=2)
        self.begun, self._few = 0, few

        class Nothing:
            def compiled(self, *_: object) -> dict[str, Any]:
                return {}

            def close(self) -> None:
                pass

        self._building = Nothing()  # type: ignore[assignment]
        for worker in itertools.chain.from_iterable(self._workers):
            worker.start = lambda: None  # type: ignore[assignment, method-assign, return-value]

    def _one(self, _candidate: Candidate, outcome: Outcome, *_: object) -> None:
        self.begun += 1
        if self.begun > self._few:
            assert self._stopped.wait(60)
        outcome.accepted = outcome.expect == "accept"


def test_every_candidate_gets_its_outcome_where_there_is_time() -> None:
    assert {o.label for o in _Idle().judge(CANDIDATES)} == {c.label for c in CANDIDATES}


class _Counting(_Idle):
    """Counts how many programs are judged at a time, and waits for all that may be."""

    def __init__(self, lanes: int) -> None:
        super().__init__()
        Team.__init__(self, Path("unused"), 90, lanes=lanes)
        self._building.close()
        self._building = _Idle()._building
        for worker in itertools.chain.from_iterable(self._workers):
            worker.start = lambda: None  # type: ignore[assignment, method-assign, return-value]
        self.now, self.most, self.others = 0, 0, 0
        self._lock = threading.Lock()

    def _one(self, candidate: Candidate, outcome: Outcome, *more: object) -> None:
        program = candidate.base.kind == "program"
        with self._lock:
            self.now += program
            self.most = max(self.most, self.now)
            self.others += not program and self.now > 0
        time.sleep(0.005)
        super()._one(candidate, outcome, *more)
        with self._lock:
            self.now -= program


def test_few_programs_are_judged_at_a_time_and_other_lanes_go_on() -> None:
    """Each of their runs is the start of a process, and those wait for one another."""
    programs = [c for c in CANDIDATES if c.base.kind == "program"][:60]
    others = [c for c in CANDIDATES if c.base.kind == "kernel"][:200]
    team = _Counting(lanes=8)
    found = {o.label for o in team.judge([*programs, *others])}
    assert found == {c.label for c in (*programs, *others)}
    assert 1 < team.most <= run.PROGRAMS
    assert team.others > 50
    team = _Counting(lanes=8)
    assert len([*team.judge(programs)]) == len(programs)
    assert team.most <= run.PROGRAMS


def test_who_cannot_be_judged_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An original that fails on this host would make all of its bad candidates right."""
    idle = _Idle()

    def unjudged(_self: Team, _candidate: Candidate, outcome: Outcome, *_: object) -> None:
        outcome.status = NO_VERDICT

    monkeypatch.setattr(_Idle, "_one", unjudged)
    assert not any(outcome.right for outcome in idle.judge(CANDIDATES[:50]))


def test_none_is_begun_when_the_time_is_over_and_those_judged_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    assert list(_Idle().judge(CANDIDATES[:9], until=-1.0)) == []
    found = list(_Idle().judge(CANDIDATES, until=60.0))
    assert 0 < len(found) < len(CANDIDATES)


def test_a_base_is_one_lanes_unless_it_takes_longest_and_its_original_comes_last() -> None:
    costs = expected(CANDIDATES, KNOWN)
    parts = run._parts(CANDIDATES, costs, 5)
    assert sorted(c.label for part in parts for c in part) == sorted(c.label for c in CANDIDATES)
    assert sum(n > 1 for n in Counter(part[0].base.name for part in parts).values()) < 8
    assert all("base" not in {c.name for c in part[:-1]} for part in parts)
    assert [part[0].base.kind == "kernel" for part in parts[:6]] == [False, True, True] * 2
    few = [c for c in CANDIDATES if c.base.name in {"steps", "rope"}]
    assert Counter(part[0].base.name for part in run._parts(few, costs, 5))["steps"] > 1


def test_lanes_that_begin_together_are_compiled_for_in_turns() -> None:
    parts = [list(CANDIDATES[:3]), list(CANDIDATES[3:4]), list(CANDIDATES[4:6])]
    order = [CANDIDATES.index(one) for one in run._as_needed(parts, 2)]
    assert order == [0, 3, 1, 2, 4, 5]


def test_what_has_no_record_comes_first_where_asked() -> None:
    new = {"rope/base", "topk/base", "topk/ties_by_lane"}
    parts = run._parts(CANDIDATES, expected(CANDIDATES, KNOWN), 5, new)
    assert {part[0].base.name for part in parts[:2]} == {"rope", "topk"}
    assert {c.label for part in parts[:2] for c in part[:2]} >= new


def test_what_was_mended_or_changed_waits_for_its_next_run(tmp_path: Path) -> None:
    one, two, three = CANDIDATES[:3]
    file = tmp_path / "records.json"
    outcomes = [_outcome(one), _outcome(two), _outcome(three, digest="of another text")]
    file.write_text(json.dumps({"mended": [two.label], "outcomes": outcomes}))
    assert missing(CANDIDATES[:4], file) == {two.label, three.label, CANDIDATES[3].label}


def test_a_run_that_is_given_up_begins_no_more() -> None:
    team = _Idle(few=3)
    outcomes = team.judge(CANDIDATES)
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]
    assert team.begun < 10


def _outcome(candidate: Candidate, **changed: Any) -> dict[str, Any]:
    accepted = candidate.expect == "accept"
    plain = {
        "label": candidate.label,
        "expect": candidate.expect,
        "digest": candidate.digest,
        "accepted": accepted,
        "status": "correct" if accepted else "wrong result",
        "stage": "confirm",
        "layer": "correct",
        "speedup": None,
        "seconds": 4.0,
        "log": "",
        "right": True,
    }
    return plain | changed


def test_a_run_of_some_replaces_only_what_it_judged(tmp_path: Path) -> None:
    file, records, seconds = (tmp_path / n for n in ("run.json", "records.json", "seconds.json"))
    one, two, three = CANDIDATES[:3]

    def kept(*outcomes: dict[str, Any], more: tuple[str, ...] = ()) -> int:
        file.write_text(json.dumps({"gpu": "H", "outcomes": list(outcomes)}))
        return record([str(file), *more], records, seconds)

    def now() -> dict[str, Any]:
        return {o["label"]: o for o in json.loads(records.read_text())["outcomes"]}

    assert kept(_outcome(one), _outcome(two, digest="of another text")) == 0
    assert set(now()) == {one.label}
    assert kept(_outcome(two, accepted=two.expect != "accept"), _outcome(three)) == 1
    assert set(now()) == {one.label, two.label, three.label}
    assert json.loads(records.read_text())["mended"] == []
    wrong = _outcome(two, accepted=two.expect != "accept")
    assert kept(wrong, more=("--mended", two.label)) == 0
    assert kept(_outcome(three)) == 0  # what was named stays named until it is judged again
    assert json.loads(records.read_text())["mended"] == [two.label]
    assert kept(_outcome(two)) == 0
    assert json.loads(records.read_text())["mended"] == []
    assert recorded(seconds)[one.label] == 4.0


def test_a_run_says_what_it_chose_and_what_it_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "device", lambda: {"gpu": "H", "sm": 90})
    monkeypatch.setattr(run, "Team", lambda *_, **__: _Idle())
    monkeypatch.setattr(Candidate, "right", lambda *_, **__: True)
    folder = tmp_path / "not" / "yet"
    assert run.main([str(folder), "saxpy", "rowsum"]) == 0
    judged = json.loads((folder / "redteam.json").read_text())["outcomes"]
    assert {o["label"].partition("/")[0] for o in judged} == {"saxpy", "rowsum"}
    assert run.main([str(tmp_path), "saxpy", "--seconds=0", "--seed=4"]) == 3
    assert "were not judged: the time was over" in capsys.readouterr().out
    assert run.main([str(tmp_path), "saxpy", "--stop-after=0", "--new-first"]) == 3


class _Asked(Served):
    """A worker whose process has another one sleep instead of judging."""

    def start(self) -> subprocess.Popen[str]:
        if self._process is None:
            code = "import signal, subprocess, sys\n"
            # Started in the background, as tests may be, it would be deaf to what gives it up.
            code += (
                "signal.signal(signal.SIGINT, signal.default_int_handler); print(1, flush=True)\n"
            )
            code += "if sys.stdin.readline(): subprocess.run(['sleep', '60'])"
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            assert self._process.stdout is not None
            self._process.stdout.readline()
        return self._process


class _Slow(_Idle):
    """Judges one at once, and waits for its workers' answers to all others."""

    def __init__(self) -> None:
        super().__init__()
        self._workers = [(_Asked(), _Asked()) for _ in range(self._lanes)]
        for pair in self._workers:
            self._free.get()
            self._free.put(pair)

    def _one(self, candidate: Candidate, outcome: Outcome, *more: Any) -> None:
        self.begun += 1
        if self.begun == 1:
            outcome.accepted = outcome.expect == "accept"
            return
        for worker in more[-1]:
            outcome.status = str(worker.ask({})["verdict"]["status"])


def test_what_is_being_judged_when_the_time_is_over_is_given_up() -> None:
    """Its last candidate took so long that the whole was stopped, and counted as failed."""
    team = _Slow()
    begun = time.monotonic()
    found = list(team.judge(CANDIDATES[:40], until=begun + 3, end=begun + 4))
    assert time.monotonic() - begun < 4 + GIVE_UP_SECONDS + 15
    assert len(found) == 1
    assert team.begun <= 1 + 2  # one a lane
    begun = time.monotonic()
    for worker in itertools.chain.from_iterable(team._workers):
        worker.close()
    assert time.monotonic() - begun < 15
