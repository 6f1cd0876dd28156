"""Delays of warps on large cases: which, in what order, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runners import at_large, full_grids, spec, verify
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.delayed import Begun, Delays
from runners.gpu import HungError, LaunchError
from runners.judge import Judge
from runners.run import Damage, Run
from runners.session import Session, Shaken
from runners.spec import JobSpec
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact
from tests.runners.test_full_grids import TILES, _asked, _grid, _of
from tests.runners.test_judge import DELAYED, SCALE, _job

# Of `scale`, which has two elements for each of n.
MOST = full_grids.SHAKEN_ELEMENTS // 2
LARGE = 4.0 * MOST


class _Answers:
    """Answers to everything but what is `unknown`; the original takes so long for what is large.

    Of the time it is told how it grows.
    """

    def __init__(self, large: float = 0.0, power: float = 1.0, unknown: float = -1.0) -> None:
        self._large, self._power, self._unknown = large, power, unknown

    def of(self, one: Combination) -> dict[str, Any] | None:
        return None if one.case.get("n") == self._unknown else {}

    def seconds(self, one: Combination) -> float:
        return float(self._large * (one.case["n"] / LARGE) ** self._power)

    def ask_moved(self, combinations: list[Combination]) -> None:
        assert combinations == []


class _Slow:
    """A candidate that takes so many seconds by a clock of its own, and notes what it ran on."""

    def __init__(self, takes: Callable[[float], float], monkeypatch: pytest.MonkeyPatch) -> None:
        self._takes, self.now = takes, 1000.0
        self.ran: list[float] = []
        self.seeds: set[int] = set()
        self.patience: set[float] = set()
        monkeypatch.setattr(at_large, "time", SimpleNamespace(monotonic=lambda: self.now))

    def run(self, one: Combination, *, nan: bool, seed: int, seconds: float) -> Run:
        del nan
        self.ran.append(one.case["n"])
        self.seeds.add(seed)
        self.patience.add(seconds)
        took = self._takes(one.case["n"])
        self.now += min(took, seconds)
        if took > seconds:
            raise HungError("still running")
        return Run({}, Damage(), 0.0, 1)


def _declared(*lengths: float, seed: int = 1) -> list[Combination]:
    return [Combination({"n": n}, "declared", seed) for n in lengths]


def _of_lengths(*lengths: float) -> JobSpec:
    cases = [{"values": {"n": n}} for n in lengths]
    return spec.parse(_job(f"{SCALE}// another", SCALE, workload={"cases": cases}))


def _run(one: _Slow, answers: _Answers, *lengths: float) -> Report:
    report = Report()
    job, wanted = _of_lengths(*lengths), _declared(*lengths)
    at_large.shaken(cast("Shaken", one), cast("Answers", answers), job, wanted, report)
    return report


def test_the_largest_declared_case_is_run_behind_the_largest_small_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Often, each time under another seed, where that is quick."""
    one = _Slow(lambda _: 0.01, monkeypatch)
    report = _run(one, _Answers(), 7.0, 3000.0, LARGE / 2, LARGE)
    assert one.ran == [3000.0, *[LARGE] * at_large.RUNS]
    assert len(one.seeds) == len(one.ran) == report.runs
    assert min(one.patience) >= at_large.EXPECTED + 30


def test_what_is_small_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    one = _Slow(lambda _: 0.01, monkeypatch)
    _run(one, _Answers(), 7.0, 3000.0)
    assert one.ran == []


def test_what_has_no_answer_or_is_slow_without_delays_is_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = _Slow(lambda _: 0.01, monkeypatch)
    _run(one, _Answers(unknown=LARGE), 7.0, LARGE)
    _run(one, _Answers(1.1 * at_large.ORIGINAL_SECONDS), 7.0, LARGE)
    assert one.ran == []


def test_a_slow_run_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that others of its kind leave no time for is not made either."""
    one = _Slow(lambda n: 3.0 if n == LARGE else 0.01, monkeypatch)
    _run(one, _Answers(), 3000.0, LARGE)
    assert one.ran == [3000.0, LARGE]
    one = _Slow(lambda n: 1.2 if n == LARGE else 0.01, monkeypatch)
    _run(one, _Answers(), 3000.0, LARGE)
    assert one.ran == [3000.0, LARGE, LARGE, LARGE]


@pytest.mark.parametrize(
    ("takes", "small", "power", "runs"),
    [
        # Threads that wait for each other, or do not.
        (lambda n: 6e-6 * n, MOST // 32, 1.0, 1),
        (lambda _: 0.05, MOST // 32, 1.0, 4),
        # Four times as many elements are more work where all of them meet.
        (lambda _: 0.9, MOST, 1.0, 4),
        (lambda _: 1.5, MOST, 2.0, 1),
    ],
)
def test_what_would_take_too_long_by_a_smaller_run_is_not_begun(
    takes: Callable[[float], float],
    small: float,
    power: float,
    runs: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = _Slow(takes, monkeypatch)
    _run(one, _Answers(0.2, power), small, LARGE)
    assert len(one.ran) == runs


def test_what_does_not_fit_with_delays_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    one = _Slow(lambda _: 0.01, monkeypatch)

    def run(*_all: Any, **_more: Any) -> Run:
        raise LaunchError("out of registers")

    monkeypatch.setattr(one, "run", run)
    assert _run(one, _Answers(), 3000.0, LARGE).checks == {}


def test_a_full_grid_is_run_at_large_where_no_small_case_fills_it() -> None:
    """528 blocks go round at less; 64,000 blocks of 64 only far beyond."""
    answers = cast("Answers", _Answers())
    tiles = _of(TILES)
    wide = cast("Answers", _Everything())
    (found,) = at_large.chosen(tiles, wide, _asked(tiles))
    assert found.case == {"h": 2049.0, "w": 1601.0}
    job = _grid("min(64000,(n+63)/64)")
    wanted = [
        *_declared(7.0, 3000.0, LARGE),
        Combination({"n": 2 * LARGE}, "plain", 1),
        Combination({"n": 4 * LARGE}, "plain", 1),
    ]
    assert [one.case["n"] for one in at_large.chosen(job, answers, wanted)] == [2 * LARGE]
    assert at_large.chosen(_grid("(n+63)/64"), answers, wanted) == []
    # 3,000 elements fill 20 blocks.
    assert at_large.chosen(_grid("min(20,(n+63)/64)"), answers, wanted) == []


class _Everything(_Answers):
    def seconds(self, _one: Combination) -> float:
        return 0.001


# -- in a verdict ----------------------------------------------------------------------------------


def _delays(one: object, monkeypatch: pytest.MonkeyPatch) -> tuple[Delays, dict[str, Any]]:
    none = cast("Any", None)
    delays = Delays(lambda _text, _job: {}, none, none, lambda _: None)
    monkeypatch.setattr(delays, "_loaded", lambda *_all, **_more: one)
    monkeypatch.setattr(verify, "shaken", lambda *_all: None)
    described = _job(f"{SCALE}// another", SCALE, effort="confirm")
    return delays, described


def test_a_run_at_large_that_does_not_end_says_nothing_of_a_candidate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its device is lost. What was seen before stays; one that hangs on small cases is refused."""
    delays, described = _delays(object(), monkeypatch)
    job, session = spec.parse(described), cast("Session", None)
    known, report = (cast("Answers", None), ()), Report()

    def hangs(*all_: Any) -> None:
        all_[-1].add("delayed warps", "n=9", passed=False, error=None, bound=None)
        raise HungError("still running")

    begun = delays.begin({"job": described}, job)
    monkeypatch.setattr(at_large, "shaken", hangs)
    # Nothing is loaded yet.
    assert not delays.large(session, {}, job, known, report)
    delays.kernel(begun, session, {}, job, known, report)
    report.add("delayed warps", "n=7", passed=True, error=None, bound=None)
    assert delays.large(session, {}, job, known, report)
    assert [one["what"] for one in report.as_json()] == ["n=7"]
    monkeypatch.setattr(verify, "shaken", hangs)
    with pytest.raises(HungError):
        delays.kernel(begun, session, {}, job, known, report)


def test_what_the_original_does_not_survive_at_large_is_not_asked_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its small cases are another question."""
    delays, described = _delays(object(), monkeypatch)
    job, session = spec.parse(described), cast("Session", None)
    known, report = (cast("Answers", None), ()), Report()

    def wrong(*_all: Any) -> None:
        raise Wrong("wrong result", "delayed warps")

    begun = delays.begin({"job": described}, job)
    delays.kernel(begun, session, {"job": described}, job, known, report)
    monkeypatch.setattr(at_large, "shaken", wrong)
    assert not delays.large(session, {"job": described}, job, known, report)

    def right(*_all: Any) -> None:
        return

    turns = iter([wrong, right])

    def in_turns(*all_: Any) -> None:
        next(turns)(*all_)

    monkeypatch.setattr(verify, "shaken", in_turns)
    with pytest.raises(Wrong):
        delays.kernel(begun, session, {"job": described}, job, known, report)
    # An entry function is asked about both while it is loaded.
    asked: list[str] = []
    monkeypatch.setattr(verify, "shaken", lambda *_all: asked.append("small"))
    monkeypatch.setattr(at_large, "shaken", lambda *_all: asked.append("large"))
    entry = spec.parse({**described, "workload": {**described["workload"], "kind": "entry"}})
    built: Any = type("Built", (), {"result": lambda _: [{"path": "1"}]})()
    delays.whole(Begun(whole=built), {}, entry, known, report)
    assert asked == ["small", "large"]


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("found", "status"), [("2.f", "wrong result"), ("1.f", "correct")])
def test_what_delays_change_at_large_alone_is_refused(
    found: str, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a barrier that is missing behind a block's first piece of work."""
    for module in (at_large, verify):
        monkeypatch.setattr(module, "SHAKEN_ELEMENTS", 4000)
    candidate = f"{SCALE}// faster"
    built = {
        candidate: artifact(DELAYED.replace("i == 5", "n == 3000").replace("FOUND", found)),
        SCALE: artifact(DELAYED.replace("FOUND", "1.f")),
    }
    judge = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None, shake=lambda t, _j: built[t])
    judge._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    job = _job(candidate, effort="confirm")
    request = {"job": job, "candidate": artifact(candidate), "baseline": artifact(SCALE)}
    verdict, _, lost = judge.verdict(request, spec.parse(job), 60.0)
    judge.close()
    assert verdict["status"] == status, verdict["log"]
    assert ("delayed warps" in verdict["log"]) == (status != "correct")
    assert not lost
