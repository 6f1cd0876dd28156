"""A tool of compute-sanitizer's that said nothing is asked again, and what stays unsaid is shown."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runners import judge as judging
from runners import other_values, sanitizer, second_look, spec
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.judge import Judge
from runners.sanitizer import ENDED, LATE, UNABLE, Finding, Sanitizer, read
from runners.second_look import Lent, SecondLook, spread, told, unasked
from runners.spec import Json
from runners.watched import Watched
from runners.worker import Watchdog
from tests.runners.host_gpu import artifact
from tests.runners.test_judge import RIGHT, SCALE, _job, _verdict

# What stands in for the tool: it reads the request, and does what `said.json` says of an artifact,
# by tool: `0` ends without an error, `3` finds three; a text is printed; a list is a row of these,
# one a call; `{"bad": [7]}` ends at the first combination with such an n, at a fault;
# `{"until": n, ...}` says that so many combinations end, and then what `then` says.
FAKE = """#!/usr/bin/env python3
import json, pathlib, sys, time
said = pathlib.Path({said!r})
with pathlib.Path({said!r}).with_name("calls.txt").open("a") as calls:
    request = json.load(open(sys.argv[-1]))
    tool, which = sys.argv[sys.argv.index("--tool") + 1], request["candidate"]["path"]
    many = len(request["combinations"])
    calls.write(json.dumps([which, tool, many, "--launch-timeout" in sys.argv]) + "\\n")
before = [json.loads(line) for line in said.with_name("calls.txt").read_text().splitlines()]
todo = json.loads(said.read_text()).get(which, {{}}).get(tool, 0)
if isinstance(todo, list):
    todo = todo[min(len(todo), sum(one[:2] == [which, tool] for one in before)) - 1]
print("========= COMPUTE-SANITIZER", flush=True)
def ran(number):
    print(f"\\n{{request['mark']}}{{number}}", flush=True)
if isinstance(todo, dict) and "bad" in todo:
    for number, one in enumerate(request["combinations"]):
        if one["case"]["n"] in todo["bad"]:
            print("========= Invalid __global__ read of size 4 bytes")
            print("========= ERROR SUMMARY: 1 error")
            sys.exit(1)
        ran(number)
    todo = "========= ERROR SUMMARY: 0 errors"
if isinstance(todo, dict):
    for number in range(min(many, todo["until"])):
        ran(number)
    todo = todo["then"]
if todo == "sleep":
    time.sleep(600)
elif isinstance(todo, str):
    print(todo)
else:
    for number in range(many):
        ran(number)
    if todo:
        print("========= Invalid __global__ read of size 4 bytes")
    kind = "RACECHECK SUMMARY: 1 hazard displayed ({{}} errors, 0 warnings)" if tool == "racecheck" else "ERROR SUMMARY: {{}} errors"
    print("========= " + kind.format(todo))
"""
UNSUPPORTED = (
    "========= Error: Device not supported. Please refer to the documentation\n"
    "========= ERROR SUMMARY: 2 errors"
)
Install = Callable[..., None]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a compute-sanitizer on PATH that does what it is told of each artifact."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def install(mine: Json | None = None, theirs: Json | None = None) -> None:
        path = tmp_path / "said.json"
        path.write_text(json.dumps({"mine": mine or {}, "theirs": theirs or {}}))
        program = folder / "compute-sanitizer"
        program.write_text(FAKE.format(said=str(path)))
        program.chmod(0o755)

    monkeypatch.setenv("SAID", str(tmp_path / "said.json"))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")  # noqa: TID251 - what a shell has
    install()
    return install


def _calls(tmp_path: Path) -> list[tuple[str, str, int]]:
    lines = (tmp_path / "calls.txt").read_text().splitlines()
    return [tuple(json.loads(line)[:3]) for line in lines]


def _held(
    tmp_path: Path, seconds: float = 1.0, sizes: int = 2, most: float = 600.0
) -> tuple[list[str], Report]:
    """Return the notes on a candidate under the tool on PATH, and what was checked."""
    data = _job(SCALE.replace("1.f", "1.0f"), SCALE)
    request = {"job": data, "candidate": {"path": "mine"}, "baseline": {"path": "theirs"}}
    combinations = [Combination({"n": 7.0 + n}, "declared", 5) for n in range(sizes)]
    report, lent = Report(), Lent(lambda _: None, most)
    watcher = Sanitizer(tmp_path, 0)
    terms = (watcher, request, spec.parse(data), combinations, seconds, lent)
    return Watched(*terms).held(report), report


def _passed(report: Report) -> dict[str, bool]:
    return {one["what"]: one["passed"] for one in report.as_json() if one["layer"] == "sanitizer"}


def test_all_is_seen_at_once_where_a_tool_ends(tmp_path: Path, said: Install) -> None:
    """Nothing is asked twice then, and nothing is noted."""
    notes, report = _held(tmp_path, 20.0)
    assert notes == []
    assert _passed(report) == dict.fromkeys(sanitizer.TOOLS, True)
    assert len(_calls(tmp_path)) == 4


def test_what_memcheck_has_no_time_for_at_first_is_found_when_it_is_alone(
    tmp_path: Path, said: Install
) -> None:
    """As on a busy machine: a read past the end is no less one."""
    said({"memcheck": ["sleep", 3]}, {"memcheck": 0})
    with pytest.raises(Wrong, match="memcheck: Invalid __global__ read") as caught:
        _held(tmp_path)
    assert caught.value.status == "wrong result"


def test_what_ends_when_it_is_alone_is_right(tmp_path: Path, said: Install) -> None:
    """And only what was not seen is run again."""
    said({"memcheck": [{"until": 1, "then": "sleep"}, 0]})
    notes, report = _held(tmp_path, sizes=3)
    assert notes == []
    assert _passed(report)["memcheck"]
    assert ("mine", "memcheck", 2) in _calls(tmp_path)


def test_what_ends_under_memcheck_on_the_original_alone_is_not_offered(
    tmp_path: Path, said: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A candidate may be made to be slow there; its original is looked at behind it."""
    monkeypatch.setattr(second_look, "TIMES", 2.0)
    said({"memcheck": "sleep"})
    with pytest.raises(Wrong, match=r"did not end in 3 s on it, and took 1 s on its") as caught:
        _held(tmp_path)
    assert caught.value.status == "timed out"
    asked = [one[0] for one in _calls(tmp_path) if one[1] == "memcheck"]
    assert asked == ["mine", "mine", "theirs", "mine"]


def test_a_machine_that_was_busy_until_the_originals_turn_is_no_fault(
    tmp_path: Path, said: Install
) -> None:
    said({"memcheck": ["sleep", "sleep", 0]})
    notes, report = _held(tmp_path)
    assert notes == []
    assert _passed(report)["memcheck"]


def test_where_the_original_does_not_end_either_it_is_a_note(tmp_path: Path, said: Install) -> None:
    said({"memcheck": {"until": 1, "then": "sleep"}}, {"memcheck": "sleep"})
    (note,) = _held(tmp_path, sizes=5)[0]
    assert note == (
        "compute-sanitizer memcheck did not end in 3 s on it, nor on its original;"
        " it has seen 2 of 5 runs"
    )


def test_who_had_not_many_times_as_long_as_its_original_is_not_refused(
    tmp_path: Path, said: Install
) -> None:
    """It may be slower under memcheck, and the time that can be lent is bounded."""
    said({"memcheck": "sleep"})
    notes, report = _held(tmp_path, most=3.9)
    assert notes[0].startswith("compute-sanitizer memcheck did not end in 3 s on it, and took 1 s")
    assert "memcheck" not in _passed(report)


@pytest.mark.parametrize("tool", ["racecheck", "initcheck", "synccheck"])
def test_the_others_are_noted_and_decide_nothing(tmp_path: Path, said: Install, tool: str) -> None:
    """A right candidate with much shared memory may be a hundred times slower under racecheck."""
    said({tool: "sleep"})
    notes, report = _held(tmp_path)
    assert notes == [f"compute-sanitizer {tool} did not end in 2 s; it has seen 0 of 2 runs"]
    assert tool not in _passed(report)
    assert [one[0] for one in _calls(tmp_path) if one[1] == tool] == ["mine", "mine"]


def test_a_race_is_found_when_racecheck_is_asked_again(tmp_path: Path, said: Install) -> None:
    """Held against it where the original has none; what is not known of the original is noted."""
    said({"racecheck": ["sleep", 2]})
    with pytest.raises(Wrong, match="racecheck"):
        _held(tmp_path)
    said({"racecheck": 2}, {"racecheck": "sleep"})
    (note,) = _held(tmp_path)[0]
    assert note.startswith("compute-sanitizer racecheck found 2 errors, and did not end in time on")


def test_an_original_that_did_not_end_beside_others_is_asked_again(
    tmp_path: Path, said: Install
) -> None:
    """Its own errors are no candidate's, and the lack of them is what a race is held against."""
    said({"memcheck": 3}, {"memcheck": ["sleep", 3]})
    assert _held(tmp_path)[0] == []
    (tmp_path / "calls.txt").unlink()
    said({"racecheck": 3}, {"racecheck": ["sleep", 0]})
    with pytest.raises(Wrong, match="racecheck"):
        _held(tmp_path)


def test_no_error_in_what_did_not_run_is_nothing(tmp_path: Path, said: Install) -> None:
    """A process that fails in between leaves a summary of no errors; the rest is run behind it."""
    failing = "MemoryError: out of memory\n========= ERROR SUMMARY: 0 errors"
    said({"memcheck": [{"until": 1, "then": failing}, {"until": 0, "then": failing}, 0]})
    (note,) = _held(tmp_path, 20.0, sizes=4)[0]
    assert note.startswith(f"compute-sanitizer memcheck {ENDED}: nothing is known of 1 of 4 runs")
    assert [one[2] for one in _calls(tmp_path) if one[1] == "memcheck"] == [4, 3, 2]
    # And where what failed was found wrong, that counts.
    (tmp_path / "calls.txt").unlink()
    said({"memcheck": [{"until": 1, "then": failing}, 1]})
    with pytest.raises(Wrong, match="memcheck"):
        _held(tmp_path, 20.0, sizes=4)


def test_a_tool_that_was_not_attached_in_time_waits_longer(tmp_path: Path, said: Install) -> None:
    """It goes on without watching, so that what ran meanwhile was not seen."""
    missed = "========= Error: No attachable process found. compute-sanitizer timed-out."
    said({"memcheck": [{"until": 9, "then": missed}, 2]})
    with pytest.raises(Wrong, match="memcheck"):
        _held(tmp_path, 20.0)
    lines = [json.loads(line) for line in (tmp_path / "calls.txt").read_text().splitlines()]
    assert [one[2:] for one in lines if one[:2] == ["mine", "memcheck"]] == [[2, False], [2, True]]


def test_where_no_tool_runs_that_is_said_once(
    tmp_path: Path, said: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not installed, not for this device, nothing small enough: each in its words."""
    said(dict.fromkeys(sanitizer.TOOLS, UNSUPPORTED))
    (note,) = _held(tmp_path, 20.0)[0]
    assert note.startswith("not looked at by compute-sanitizer: it cannot run here: Device not sup")
    assert len(_calls(tmp_path)) == 4
    assert _held(tmp_path, sizes=0)[0] == [
        "not looked at by compute-sanitizer: no run is small enough for it"
    ]
    monkeypatch.setattr(sanitizer, "command", lambda: None)
    assert _held(tmp_path)[0] == ["not looked at by compute-sanitizer: it is not installed"]
    assert unasked([1]) == ["not looked at by compute-sanitizer: it is not installed"]


@pytest.mark.parametrize(
    ("text", "late", "ran", "errors", "why"),
    [
        ("========= COMPUTE-SANITIZER\n", True, (1, 2), None, LATE),
        ("========= COMPUTE-SANITIZER\n========= Invalid __global__ read of", True, (0, 2), 1, ""),
        (UNSUPPORTED, False, (2, 2), None, UNABLE),
        ("compute-sanitizer: Permission denied", False, (0, 2), None, UNABLE),
        ("========= COMPUTE-SANITIZER\nkilled", False, (2, 2), None, ENDED),
        ("========= ERROR SUMMARY: 0 errors", False, (1, 2), None, ENDED),
        ("========= ERROR SUMMARY: 0 errors", False, (2, 2), 0, ""),
        ("========= Internal Sanitizer Error: x\n========= ERROR SUMMARY: 1 error", False, (2, 2),
         None, ENDED),
        # Device code prints what it likes: the worst summary counts, and time that is over.
        ("========= ERROR SUMMARY: 0 errors\n========= ERROR SUMMARY: 2 errors", False, (2, 2),
         2, ""),
        ("========= ERROR SUMMARY: 0 errors\n", True, (2, 2), None, LATE),
    ],
)  # fmt: skip
def test_why_a_tool_said_nothing_is_told_apart(
    text: str, late: bool, ran: tuple[int, int], errors: int | None, why: str
) -> None:
    found = read("memcheck", text, late=late, ran=ran)
    assert (found.errors, found.why) == (errors, why)


def test_a_verdict_says_that_nothing_was_looked_at(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before all else that is noted, of which a comment shows the first few."""
    monkeypatch.setattr(sanitizer, "command", lambda: None)
    verdict = _verdict(judge, RIGHT["four at a time"], effort="confirm")
    assert verdict["status"] == "correct"
    first = verdict["measurement"]["notes"][:3]
    assert "not looked at by compute-sanitizer: it is not installed" in first


def test_a_verdict_of_what_does_not_end_says_so(
    judge: Judge, said: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is it correct, nor did it crash; the time was lent."""
    monkeypatch.setattr(judging, "SANITIZER_SECONDS", 1.0)
    monkeypatch.setattr("runners.watched.FURTHER_SECONDS", 1.0)
    text = RIGHT["four at a time"]
    mine, theirs = artifact(text), artifact(SCALE)
    said({}, {})
    data = json.loads(Path(os.environ["SAID"]).read_text())  # noqa: TID251 - set above
    data[str(mine["path"])] = {"memcheck": "sleep"}
    Path(os.environ["SAID"]).write_text(json.dumps(data))  # noqa: TID251 - set above
    job = _job(text, effort="confirm")
    request = {"job": job, "candidate": mine, "baseline": theirs}
    moved: list[float] = []
    verdict, _, lost = judge.verdict(request, spec.parse(job), 60.0, more=moved.append)
    assert (verdict["status"], verdict["measurement"], lost) == ("timed out", None, False)
    assert "memcheck did not end in" in verdict["log"]
    assert 3.0 <= sum(moved) <= 20.0


def test_what_is_asked_behind_it_has_the_time_that_was_lent(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what memcheck took would be taken from indices above 2^31 and the like."""
    left: list[float] = []

    def held(watched: Watched, _report: Report) -> list[str]:
        watched._lent.spent = 500.0
        return []

    def check(*terms: Any) -> tuple[list[str], bool]:
        left.append(terms[-2] - time.monotonic())
        return [], False

    monkeypatch.setattr(Watched, "held", held)
    monkeypatch.setattr(other_values, "check", check)
    assert _verdict(judge, RIGHT["four at a time"], effort="confirm")["status"] == "correct"
    assert 500.0 < left[0] < 560.0


def test_time_is_lent_and_what_is_not_used_given_back() -> None:
    """The deadline of a confirmation moves by what a second look takes, and no further."""
    moved: list[float] = []
    lent = Lent(moved.append, most=50.0)
    with lent.of(180.0) as granted:
        assert granted == 50.0
        time.sleep(0.05)
    assert sum(moved) == pytest.approx(lent.spent, abs=0.02)
    assert 0.05 <= lent.spent < 1.0
    with lent.of(180.0) as granted:
        assert granted == pytest.approx(50.0 - lent.spent, abs=0.1)


def test_a_watchdog_that_is_lent_time_barks_later() -> None:
    """Else a confirmation that is looked at twice would end in its process."""
    barked: list[float] = []
    watchdog = Watchdog(barked.append)
    try:
        watchdog.set(100.0)
        watchdog.lend(600.0)
        assert watchdog._timer is not None
        assert watchdog._timer.interval == pytest.approx(715.0, abs=1.0)
        watchdog.lend(-590.0)
        assert watchdog._timer.interval == pytest.approx(125.0, abs=1.0)
    finally:
        watchdog.stop()


def test_the_most_telling_of_each_kind_come_first() -> None:
    many = [*"aaaa", *"bb", "c"]
    assert spread(list(enumerate(many)), lambda one: one[1])[:3] == [(0, "a"), (4, "b"), (6, "c")]


@pytest.mark.parametrize(
    ("mine", "theirs", "refused"),
    [
        ([7, 9], [7], True),
        ([9], [7, 8], True),
        ([7], [7], False),
        ([8], [7, 8], False),
        ([12], [7, 8, 9, 10, 11], False),  # an original that is at fault all over tells nothing
    ],
)
def test_a_fault_of_the_original_at_one_size_excuses_none_at_the_others(
    tmp_path: Path, said: Install, mine: list[int], theirs: list[int], refused: bool
) -> None:
    said(mine={"memcheck": {"bad": mine}}, theirs={"memcheck": {"bad": theirs}})
    if refused:
        with pytest.raises(Wrong, match="memcheck: Invalid"):
            _held(tmp_path, 20.0, sizes=6)
    else:
        assert _passed(_held(tmp_path, 20.0, sizes=6)[1])["memcheck"]


def _judged(tmp_path: Path, sizes: int) -> tuple[list[str], Report]:
    """Return the notes on runs that memcheck alone looks at, and what was checked."""
    data = _job(SCALE.replace("1.f", "1.0f"), SCALE)
    request = {"job": data, "candidate": {"path": "mine"}, "baseline": {"path": "theirs"}}
    further = [Combination({"n": 7.0 + n}, "declared", 5) for n in range(sizes)]
    report, lent = Report(), Lent(lambda _: None)
    watched = Watched(Sanitizer(tmp_path, 0), request, spec.parse(data), [], 1.0, lent)
    return watched.judged(watched.glimpse(further), further, report), report


def test_a_fault_in_a_run_that_memcheck_alone_looks_at_is_one(
    tmp_path: Path, said: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runners.watched.FURTHER_SECONDS", 1.0)
    said()
    notes, report = _judged(tmp_path, 40)
    assert (notes, _passed(report)) == ([], {"memcheck": True})
    assert {tool for _, tool, _ in _calls(tmp_path)} == {"memcheck"}
    assert _judged(tmp_path, 0)[0] == []
    said(mine={"memcheck": 2}, theirs={"memcheck": 2})
    assert _judged(tmp_path, 3)[0] == []
    said(mine={"memcheck": 2})
    with pytest.raises(Wrong, match="memcheck"):
        _judged(tmp_path, 4)
    said(mine={"memcheck": {"until": 3, "then": "sleep"}})
    assert _judged(tmp_path, 5)[0] == [
        "compute-sanitizer memcheck came to 3 of 5 more small runs in time"
    ]


def test_tools_of_which_the_same_is_said_share_a_note() -> None:
    def watch(_original: bool, tool: str, _left: Any, seconds: float) -> Finding:
        return Finding(tool, None, "", seconds, LATE)

    look = SecondLook(watch, [1], 0.0, Lent(lambda _: None))
    first = [Finding(tool, None, "no", 1.0, UNABLE) for tool in ("memcheck", "initcheck")]
    assert told([look.ask(one) for one in first]) == [
        "compute-sanitizer memcheck, initcheck cannot run here: no"
    ]
