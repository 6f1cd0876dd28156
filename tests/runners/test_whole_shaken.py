"""An entry function under delays: one build a seed, each run for a while, errors say nothing."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, cast

import pytest

from runners import spec, verify
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.delayed import WHOLE_BUILDS, Begun, Delays
from runners.entry_process import EntryProcess
from runners.gpu import HungError, LaunchError
from runners.run import Damage, Run
from runners.session import Session, Shaken, WholeShaken
from runners.spec import Json
from tests.runners.test_judge import SCALE, _job

ANY = Combination({"n": 4.0}, "declared", 1)


class Loaded:
    """A session that says which build it is of."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, _combination: Combination, **_more: Any) -> Run:
        if self.name == "hangs":
            raise HungError("still running")
        return Run({}, Damage(), 0.0, int(self.name))


def test_each_build_is_loaded_once_and_run_for_its_share() -> None:
    loads: list[str] = []

    def load(artifact: dict[str, Any]) -> Session:
        loads.append(artifact["path"])
        return cast("Session", Loaded(artifact["path"]))

    shaken = WholeShaken(load, [{"path": "1"}, {"path": "2"}], 3)
    ran = [shaken.run(ANY, nan=False, seed=9, seconds=1.0).poison for _ in range(8)]
    assert ran == [1, 1, 1, 2, 2, 2, 2, 2]
    assert loads == ["1", "2"]


def test_what_loading_takes_is_told_from_what_runs_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine two processes that begin are most of what runs may take."""
    now = [0.0]

    def load(_artifact: dict[str, Any]) -> Session:
        now[0] += 8.0
        return cast("Session", Loaded("1"))

    monkeypatch.setattr("runners.session.time.monotonic", lambda: now[0])
    shaken = WholeShaken(load, [{"path": "1"}, {"path": "2"}], 2)
    told = []
    for _ in range(4):
        now[0] += 0.5
        shaken.run(ANY, nan=False, seed=1, seconds=1.0)
        told.append(shaken.loading)
    assert told == [8.0, 8.0, 16.0, 16.0]


def test_what_keeps_it_from_ending_is_no_fault_of_the_candidates() -> None:
    """Delays make a long kernel longer; verification takes a failed launch for no answer."""
    shaken = WholeShaken(lambda _: cast("Session", Loaded("hangs")), [{"path": "hangs"}], 3)
    with pytest.raises(LaunchError, match="with delays: still running"):
        shaken.run(ANY, nan=False, seed=1, seconds=1.0)


class Entries:
    """Loads nothing, and says which builds it was given."""

    def __init__(self) -> None:
        self.loaded: list[str] = []

    def session(self, _job: object, request: Json) -> Session:
        self.loaded.append(request["candidate"]["path"])
        return cast("Session", Loaded("1"))


BASE = f"{SCALE}// the original"


def _delays(wrong: set[str], monkeypatch: pytest.MonkeyPatch) -> tuple[Delays, Entries, list[str]]:
    """Return what runs entry functions under delays; those texts are wrong there."""
    entries, built = Entries(), list[str]()

    def shake(text: str, _job: Json, seed: int) -> Json | None:
        built.append(f"{'mine' if text == SCALE else 'theirs'} {seed}")
        return {"path": text}

    def shaken(one: Shaken, *_more: object) -> None:
        one.run(ANY, nan=False, seed=1, seconds=1.0)
        if entries.loaded[-1] in wrong:
            raise Wrong("wrong result", "a barrier is missing, delayed warps")

    monkeypatch.setattr(verify, "shaken", shaken)
    kept = cast("Any", None)
    return (
        Delays(lambda _text, _job: None, shake, cast("EntryProcess", entries), kept),
        entries,
        built,
    )


def _judged(delays: Delays) -> Report:
    described = _job(SCALE, BASE, effort="confirm", workload={"kind": "entry", "launch": None})
    job, report, known = spec.parse(described), Report(), cast("Any", (None, ()))
    begun = delays.begin({"job": described}, job)
    delays.kernel(begun, cast("Session", None), {}, job, known, report)
    delays.whole(begun, {"job": described}, job, known, report)
    return report


def test_what_is_wrong_under_delays_is_refused_where_its_original_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Under several seeds, each a build of its own; the original is asked about once."""
    delays, entries, built = _delays({SCALE}, monkeypatch)
    for _ in range(2):
        with pytest.raises(Wrong, match="delayed warps"):
            _judged(delays)
    assert entries.loaded == [SCALE, BASE, SCALE]
    assert [one.split()[0] for one in built] == [
        *["mine"] * WHOLE_BUILDS,
        *["theirs"] * WHOLE_BUILDS,
        *["mine"] * WHOLE_BUILDS,
    ]
    assert len({one.split()[1] for one in built}) == WHOLE_BUILDS


def test_what_the_original_does_not_survive_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    delays, entries, _ = _delays({SCALE, BASE}, monkeypatch)
    _judged(delays)
    assert entries.loaded == [SCALE, BASE]


def test_without_a_build_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a screening none is begun; what cannot be compiled with delays is not refused."""
    delays, entries, _ = _delays({SCALE}, monkeypatch)
    none = cast("Any", None)
    delays.whole(Begun(), {}, none, none, Report())
    delays.kernel(Begun(), none, {}, none, none, Report())
    empty: Future[list[Json]] = Future()
    empty.set_result([])
    delays.whole(Begun(whole=empty), {}, none, none, Report())
    assert entries.loaded == []
