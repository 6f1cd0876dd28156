"""A fleet: jobs move away from what breaks, nothing counts twice, unlike GPUs are left out."""

from __future__ import annotations

import errno
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimizer.errors import BaselineError, NoDeviceError, RunnerError
from optimizer.model import Effort, Kind, Status, Verdict
from runners import fleet_loop, fleet_worker, wire
from runners.awaited import Awaited
from runners.dispatch import JOB_SECONDS
from runners.fleet import DaskDispatcher, Patience
from runners.fleet_link import question
from runners.fleet_places import unlike
from runners.fleet_worker import Bench
from runners.interfaces import Job
from runners.parcel import Parcel
from tests.runners.fleet_fakes import (
    BASE,
    CARD,
    Cluster,
    Elsewhere,
    Feverish,
    Here,
    Obedient,
    bench,
    cluster,
    job,
)

QUICK = Patience(join=20.0, look=0.05, quiet=0.5, answer=1.0, rest=0.5, gone=20.0)
# dask.distributed leaves sockets and tasks to the garbage collector when what it spoke to is killed.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]

Open = Callable[..., DaskDispatcher]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def opened(said: list[str]) -> Iterator[Open]:
    made: list[DaskDispatcher] = []

    def connect(address: str, gpus: int = 1, patience: Patience = QUICK) -> DaskDispatcher:
        found = DaskDispatcher(address, patience=patience, say=said.append)
        made.append(found)
        Here.guests.append(found.close)  # who leaves before the scheduler does waits for nothing
        deadline = time.monotonic() + 20
        while found.gpus < gpus:
            assert time.monotonic() < deadline, said
            time.sleep(0.02)
        return found

    yield connect
    for one in made:
        one.close()


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path, ["a", "b"]) as made:
        yield made


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def worker_of(verdict: Verdict) -> str:
    assert verdict.measurement is not None
    return verdict.measurement.notes[0]


# -- answers -------------------------------------------------------------------------------------


def test_verdicts_come_in_the_order_of_the_jobs_and_all_gpus_work(opened: Open) -> None:
    benches = [bench(name) for name in "abc"]
    with Here(benches) as here:
        fleet = opened(here.address, 3)
        verdicts = list(fleet.dispatch([job(f"j{i} slow 0.05") for i in range(12)]))
        assert [v.log for v in verdicts] == [f"j{i} slow 0.05" for i in range(12)]
        assert {worker_of(v) for v in verdicts} == {"a", "b", "c"}
        assert fleet.card.kind == CARD.kind


class InTurn(Obedient):
    """Judges one job after the other, `long` only once it is let go; lets go of those that wait."""

    def __init__(self, name: str, released: threading.Event) -> None:
        super().__init__(name)
        self._released = released
        self._thread = ThreadPoolExecutor(1)

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        (one,) = (self._thread.submit(self._in_turn, job) for job in jobs)
        return Awaited(1, lambda _: one.result(), cancel=lambda _: one.cancel())

    def _in_turn(self, job: Job) -> Verdict:
        assert job.kernel.source != "long" or self._released.wait(60)
        return self._judge(job)


def test_a_long_job_keeps_none_waiting_while_another_gpu_is_idle(opened: Open) -> None:
    """All others are judged before it ends, those, too, that were sent to wait behind it."""
    released = threading.Event()
    with Here([bench(name, InTurn(name, released)) for name in "ab"]) as here:
        fleet = opened(here.address, 2)
        shorts = [f"short{i}" for i in range(6)]
        verdicts = fleet.dispatch([job(one) for one in ("long", *shorts)])
        try:
            assert [verdict.log for verdict in verdicts[1:]] == shorts
        finally:
            released.set()
        assert verdicts[0].log == "long"


def test_a_projects_files_travel_by_value_and_once_to_each_worker(
    opened: Open, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "k.h").write_text("from the header")
    with Here([bench("a")]) as here:
        fleet = opened(here.address)
        source = 'x header\n#include "k.h"\n'
        first, second = fleet.dispatch(
            [job(source, str(project)), job(source + "\n", str(project))]
        )
        assert first.log.endswith("from the header")
        (project / "k.h").write_text("changed")
        again = fleet.dispatch([job(source + "//", str(project))])[0]
        assert (second.log[-6:], again.log[-7:]) == ("header", "changed")


def test_the_baselines_failure_is_raised_as_on_one_host(opened: Open) -> None:
    with Here([bench("a")]) as here:
        fleet = opened(here.address)
        with pytest.raises(BaselineError, match="it never worked"):
            fleet.dispatch([job("bad")])[0]
        assert fleet.dispatch([job("good")])[0].status is Status.CORRECT


# -- what breaks ---------------------------------------------------------------------------------


def test_the_job_of_a_worker_that_is_killed_moves_and_counts_once(
    two: Cluster, opened: Open, said: list[str]
) -> None:
    fleet = opened(two.address, 2)
    verdicts = fleet.dispatch([job("first slow 1"), job("second slow 1")])
    two.wait_for("a", "begin")
    two.signal("a", signal.SIGKILL)
    assert [worker_of(v) for v in verdicts] == ["b", "b"]
    assert [v.status for v in verdicts] == [Status.CORRECT, Status.CORRECT]
    assert any("is gone" in words for words in said)
    two.join("c")
    while fleet.gpus < 2:
        time.sleep(0.02)
    assert {worker_of(v) for v in fleet.dispatch([job(f"x{i} slow 0.3") for i in range(4)])} == {
        "b", "c",
    }  # fmt: skip


def test_the_job_of_a_worker_that_hangs_moves_and_its_late_answer_is_dropped(
    two: Cluster, opened: Open, said: list[str]
) -> None:
    fleet = opened(two.address, 2)
    verdicts = fleet.dispatch([job("first slow 1"), job("second slow 1")])
    two.wait_for("a", "begin")
    two.signal("a", signal.SIGSTOP)
    assert [worker_of(v) for v in verdicts] == ["b", "b"]
    assert any("does not answer" in words for words in said)
    two.signal("a", signal.SIGCONT)
    two.wait_for("a", "end")
    assert [worker_of(v) for v in verdicts] == ["b", "b"]
    deadline = time.monotonic() + 20
    while not any("answers again" in words for words in said):
        assert time.monotonic() < deadline, said
        time.sleep(0.05)
    both = fleet.dispatch([job(f"y{i} slow 0.3") for i in range(4)])
    assert {worker_of(v) for v in both} == {"a", "b"}


def test_a_search_goes_on_when_the_scheduler_was_killed_and_started_again(
    two: Cluster, opened: Open, said: list[str]
) -> None:
    fleet = opened(two.address, 2)
    verdicts = fleet.dispatch([job(f"j{i} slow 1.0") for i in range(4)])
    two.wait_for("begin")
    two.signal("scheduler", signal.SIGKILL)
    time.sleep(0.5)
    two.schedule()
    assert [v.log for v in verdicts] == [f"j{i} slow 1.0" for i in range(4)]
    assert fleet.dispatch([job("after")])[0].status is Status.CORRECT
    assert any("answers again" in words for words in said)


def test_a_scheduler_that_stays_away_ends_the_search_with_an_error(
    two: Cluster, opened: Open
) -> None:
    fleet = opened(two.address, 2, replace(QUICK, gone=1.0))
    verdicts = fleet.dispatch([job("long slow 30")])
    two.wait_for("begin")
    two.signal("scheduler", signal.SIGKILL)
    with pytest.raises(RunnerError, match="no scheduler answers"):
        verdicts[0]
    with pytest.raises(RunnerError, match="no scheduler answers"):
        fleet.dispatch([job("later")])[0]


def test_a_candidate_that_takes_three_workers_with_it_counts_as_crashed(
    two: Cluster, opened: Open
) -> None:
    for name in "cd":
        two.join(name)
    fleet = opened(two.address, 4)
    verdict, other = fleet.dispatch([job("poison"), job("other")])
    assert verdict.status is Status.CRASHED
    assert "3 workers" in verdict.log
    assert len([event for event in two.events() if event[1:] == ["begin", "poison"]]) == 3
    assert other.status is Status.CORRECT


def test_without_a_scheduler_or_a_gpu_there_is_an_error_that_says_what_to_start() -> None:
    with pytest.raises(NoDeviceError, match="no scheduler answers") as raised:
        DaskDispatcher("tcp://127.0.0.1:9", patience=replace(QUICK, join=0.3))
    assert "optiml scheduler" in raised.value.remedy
    with Here([]) as here, pytest.raises(NoDeviceError, match="no GPU has joined"):
        DaskDispatcher(here.address, patience=replace(QUICK, join=0.3))


# -- unlike and unfit GPUs -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gpu": "Fake A100"}, "a GPU of another kind (Fake A100) beside Fake H200"),
        ({"driver": "570"}, "has driver 570, the others 580"),
        ({"toolkit": "12.8"}, "has CUDA toolkit 12.8, the others 13.0"),
        ({"peaks": {"dram_gbs": 2000.0}}, "its dram_gbs is 2000, the others have 4000"),
    ],
)
def test_a_gpu_unlike_the_first_is_left_out_and_named(
    opened: Open, said: list[str], changes: dict[str, Any], words: str
) -> None:
    other = bench("other", **changes)
    with Here([bench("a")]) as here:
        fleet = opened(here.address)
        here.join(other)
        deadline = time.monotonic() + 20
        while not any(words in one for one in said):
            assert time.monotonic() < deadline, said
            time.sleep(0.02)
        found = fleet.dispatch([job(f"j{i} slow 0.02") for i in range(6)])
        assert {worker_of(v) for v in found} == {"a"}
        assert sum(words in one for one in said) == 1


def test_what_a_throttled_gpu_measured_does_not_count_and_it_rests(
    opened: Open, said: list[str]
) -> None:
    hot = Bench(Obedient("hot"), CARD, Feverish("it is too hot", 1))
    with Here([hot, bench("cool")]) as here:
        fleet = opened(here.address, 2)
        found = list(fleet.dispatch([job(f"j{i} slow 0.1") for i in range(4)]))
        assert [v.log for v in found] == [f"j{i} slow 0.1" for i in range(4)]
        assert any("too hot; its measurement does not count" in one for one in said)
        time.sleep(QUICK.rest)
        later = fleet.dispatch([job(f"k{i} slow 0.1") for i in range(4)])
        assert {worker_of(v) for v in later} == {"hot", "cool"}


def test_a_gpu_with_memory_errors_is_not_asked_again(opened: Open, said: list[str]) -> None:
    faulty = Bench(Obedient("faulty"), CARD, Feverish("ECC", 99, for_good=True))
    with Here([faulty, bench("good")]) as here:
        fleet = opened(here.address, 2)
        found = list(fleet.dispatch([job(f"j{i} slow 0.05") for i in range(8)]))
        assert {worker_of(v) for v in found} == {"good"}
        assert faulty.broken == "ECC"


def test_when_no_gpu_is_fit_the_search_ends_with_the_reason(opened: Open) -> None:
    hot = Bench(Obedient("hot"), CARD, Feverish("it is too hot", 99))
    with Here([hot]) as here:
        fleet = opened(here.address, 1, replace(QUICK, rest=0.05))
        with pytest.raises(RunnerError, match=r"no GPU was fit to measure on: .*too hot"):
            fleet.dispatch([job("j")])[0]


def test_a_worker_of_dask_that_is_not_ours_is_left_out(opened: Open, said: list[str]) -> None:
    with Here([bench("a")]) as here:
        stranger = bench("plain")
        here.join(stranger)
        here.workers[-1].plugins.clear()
        fleet = opened(here.address)
        assert {worker_of(v) for v in fleet.dispatch([job(f"j{i}") for i in range(4)])} == {"a"}
        assert any("is not one of `optiml worker`" in one for one in said)


# -- one bench -----------------------------------------------------------------------------------


def test_a_question_that_comes_again_is_answered_and_not_judged_again() -> None:
    judging = Obedient("a")
    one, text = bench("a", judging), ""
    for nonce in ("n1", "n2"):
        text = one.judge(question("7", nonce, job("once"), Parcel("", b"")), None)
        verdict, _ = wire.response(text.encode(), "7", nonce, job("once").kernel.digest)
        assert verdict.status is Status.CORRECT
    assert judging.judged == ["once"]
    with pytest.raises(wire.ForgedResponse, match="nonce"):
        wire.response(text.encode(), "7", "n1", job("once").kernel.digest)
    assert json.loads(text)["card"] == one.card.digest


def test_gpus_are_made_ready_while_the_unedited_kernel_is_judged(opened: Open) -> None:
    judging = [Obedient(name) for name in "abc"]
    with Here([bench(name, one) for name, one in zip("abc", judging, strict=True)]) as here:
        fleet = opened(here.address, 3)
        assert fleet.dispatch([job(BASE.source)])[0].status is Status.CORRECT
        until(lambda: all(one.judged == [BASE.source] for one in judging))
        list(fleet.dispatch([job(BASE.source)]))
        assert sum(len(one.judged) for one in judging) == 4  # each is made ready once


class Compiling(Obedient):
    """Takes a source's text before `#` for its machine code, as a host's dispatcher would."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.bench = Bench(self, CARD)

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        (job,) = jobs
        code = job.kernel.source.partition("#")[0]
        if self.bench.elsewhere(job, code):
            return [Verdict(Status.NOT_RECORDED, machine_code=code)]
        return [replace(verdict, machine_code=code) for verdict in super().dispatch(jobs)]


def test_machine_code_that_one_gpu_has_judged_is_not_run_on_another(opened: Open) -> None:
    a, b = Compiling("a"), Compiling("b")
    with Here([a.bench]) as here:
        fleet = opened(here.address)
        known = fleet.dispatch([job("same#1")])[0]
        here.join(b.bench)
        until(lambda: fleet.gpus == 2)
        twins = [job("same#2"), job("same#3"), job("other#4")]
        found = list(fleet.dispatch(twins))
        assert found[:2] == [known, known]
        assert found[2].machine_code == "other"
        elsewhere = replace(twins[0], workload=replace(twins[0].workload, name="w2"))
        assert fleet.dispatch([elsewhere])[0].log == "same#2", "another workload is another matter"
        confirmed = replace(twins[0], effort=Effort.CONFIRM)
        assert fleet.dispatch([confirmed])[0].log == "same#2"
    assert sorted(a.judged + b.judged) == ["other#4", "same#1", "same#2", "same#2"]


class Cursed(Obedient):
    """Fails at whatever it is given first."""

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        if not self.judged:
            self.judged.append("nothing")
            raise RuntimeError
        return super().dispatch(jobs)


def test_a_rehearsal_that_fails_is_nobodys_fault(opened: Open) -> None:
    cursed = Cursed("b")
    with Here([bench("a"), bench("b", cursed)]) as here:
        fleet = opened(here.address, 2)
        assert fleet.dispatch([job(BASE.source)])[0].status is Status.CORRECT
        until(lambda: bool(cursed.judged))
        verdicts = fleet.dispatch([job(f"j{i} slow 0.05") for i in range(6)])
        assert {worker_of(verdict) for verdict in verdicts} == {"a", "b"}


class Liar(Bench):
    """Answers whatever it is told to, `nonce` and `number` filled in, before it says the truth."""

    def __init__(self, honest: Bench, lies: Sequence[str]) -> None:
        super().__init__(Obedient("liar"), honest.card)
        self._honest, self._lies = honest, list(lies)

    def judge(self, text: str, data: bytes | None) -> str:
        if not self._lies:
            return self._honest.judge(text, data)
        asked, lie = json.loads(text), self._lies.pop(0)
        return lie.replace("NONCE", asked["nonce"]).replace("NUMBER", asked["id"])


@pytest.mark.parametrize(
    "lie",
    [
        "not JSON",
        "[]",
        "[" * 100_000,
        '{"withdrawn": true}',
        '{"id": "NUMBER", "nonce": "NONCE", "verdict": {"status": "correct"}}',
        '{"id": "NUMBER", "nonce": "stale", "card": "CARD", "verdict": {"status": "correct"}}',
        '{"id": "NUMBER", "nonce": "NONCE", "card": "CARD", "digest": "0", "verdict": {}}',
        '{"id": "NUMBER", "nonce": "NONCE", "card": "CARD", "digest": "DIGEST", "twin": "x"}',
        '{"id": "NUMBER", "nonce": "stale", "card": "CARD", "digest": "DIGEST", "twin": "x"}',
    ],
)
def test_an_answer_that_makes_no_sense_or_is_stale_moves_the_job(
    opened: Open, said: list[str], lie: str
) -> None:
    honest = bench("a")
    lie = lie.replace("CARD", honest.card.digest).replace("DIGEST", job("x").kernel.digest)
    liar = Liar(honest, [lie] * 2)
    with Here([liar]) as here:
        verdict = opened(here.address).dispatch([job("x")])[0]
        assert verdict.status is Status.CORRECT
        assert worker_of(verdict) == "a"
        assert said


def test_a_worker_with_a_card_that_is_none_is_left_out_and_others_are_still_seen(
    opened: Open, said: list[str]
) -> None:
    with Here([bench("a")]) as here:
        fleet = opened(here.address)
        forged = bench("b")
        forged.card = Forged()  # type: ignore[assignment]
        here.join(forged)
        until(lambda: any("describes itself" in words for words in said))
        here.join(bench("c"))
        until(lambda: fleet.gpus == 2)


class Forged:
    def as_json(self) -> str:
        return '{"gpu": 7, "peaks": "many"}'


def test_peaks_that_are_no_numbers_are_not_those_of_an_equal() -> None:
    nan = replace(CARD, peaks={"dram_gbs": float("nan")})
    assert "dram_gbs" in unlike(CARD, nan)
    assert not unlike(CARD, CARD)


class Full(Obedient):
    """A worker whose disk is full as often as it is told."""

    def __init__(self, name: str, times: int) -> None:
        super().__init__(name)
        self._left = times

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        self._left -= 1
        if self._left >= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().dispatch(jobs)


def test_a_full_disk_is_the_hosts_trouble_and_never_the_candidates_crash(
    opened: Open, said: list[str]
) -> None:
    with Here([bench("a", Full("a", 4))]) as here:
        fleet = opened(here.address, patience=replace(QUICK, rest=0.05))
        assert fleet.dispatch([job("x")])[0].status is Status.CORRECT
        assert any("No space left" in words for words in said)


def test_a_question_whose_first_asking_broke_is_judged_when_it_comes_again() -> None:
    class Broken(Obedient):
        def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
            if not self.judged:
                self.judged.append("broken")
                raise MemoryError
            return super().dispatch(jobs)

    one = bench("a", Broken("a"))
    asked = question("7", "n", job("x"), Parcel("", b""))
    with pytest.raises(MemoryError):
        one.judge(asked, None)
    assert '"verdict"' in one.judge(asked, None)


def test_a_project_is_judged_where_it_lies_among_its_files_and_never_outside_of_them(
    tmp_path: Path,
) -> None:
    roots: list[str] = []
    (tmp_path / "empty").mkdir()

    class Seeing(Obedient):
        def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
            roots.extend(one.workload.root for one in jobs)
            return super().dispatch(jobs)

    one = Bench(Seeing("a"), CARD, None, tmp_path)
    assert '"verdict"' in one.judge(question("7", "n", job("x"), Parcel("", b"", "a/b")), None)
    assert roots == [str(tmp_path / "empty" / "a" / "b")]
    away = one.judge(question("8", "n", job("x"), Parcel("", b"", "../..")), None)
    assert "not among the files" in away
    assert len(roots) == 1


def test_files_that_a_worker_has_not_got_are_asked_for() -> None:
    missing = bench("a").judge(question("7", "n", job("x"), Parcel("f" * 64, b"")), None)
    assert '"missing": true' in missing


def test_kinds_of_work_travel_whole(opened: Open) -> None:
    with Here([bench("a")]) as here:
        fleet = opened(here.address)
        asked = replace(job("x", kind=Kind.ENTRY), effort=Effort.CONFIRM, seed=7)
        same = replace(asked, kernel=BASE)
        assert [v.status for v in fleet.dispatch([asked, same])] == [Status.CORRECT] * 2


# -- a hostile or broken scheduler and its workers ---------------------------------------------


def answering(*, card: bool = True, **said: Any) -> str:
    """Return an answer as a worker would give it, to the question that it is asked."""
    whole = {"id": "NUMBER", "nonce": "NONCE", "digest": "DIGEST"} | said
    return json.dumps(whole | ({"card": "CARD"} if card else {}))


HUGE = 10**400
VERDICT = {"status": "correct", "log": "forged"}
LIES = {
    "statistics that no float holds": answering(verdict=VERDICT, stats={"n": HUGE}) + " ",
    "a number that no float holds": answering(verdict=VERDICT | {"seconds": {"a": HUGE}}),
    "a verdict that is none": answering(verdict=[[]] * 1000),
    "a twin that is a mapping": answering(twin={"a": []}),
    "of another job": answering(verdict=VERDICT).replace("NUMBER", "other"),
    "of another candidate": answering(verdict=VERDICT, digest="0" * 64),
    "of another GPU": answering(card=False, verdict=VERDICT),
    "unfit in many words": answering(unfit=["no\x1b[2J" * 100_000]),
    "files it has": json.dumps({"missing": True}),
    "text that ends early": answering(verdict=VERDICT)[:-9],
    "more than an answer": " " * (wire.MAX_VERDICT_BYTES + 1),
}


@pytest.fixture(scope="module")
def lying() -> Iterator[tuple[str, Bench, list[str]]]:
    """Yield a fleet of one worker that says what it is told to, then the truth."""
    honest, lies = bench("a"), list[str]()
    liar = Liar(honest, lies)
    liar._lies = lies
    with Here([liar]) as here:
        yield here.address, honest, lies


@pytest.mark.parametrize("name", LIES)
def test_a_lie_of_a_worker_neither_counts_nor_keeps_the_search_waiting(
    opened: Open, said: list[str], lying: tuple[str, Bench, list[str]], name: str
) -> None:
    address, honest, lies = lying
    asked = job(f"x {name}")
    lie = LIES[name].replace("CARD", honest.card.digest)
    lies[:] = [lie.replace("DIGEST", asked.kernel.digest)]
    patience = replace(QUICK, rest=0.05)
    verdict = opened(address, patience=patience).dispatch([asked])[0]
    assert (verdict.status, verdict.log) == (Status.CORRECT, asked.kernel.source) or (
        name == "statistics that no float holds" and verdict.log == "forged"
    )
    assert all(len(words) <= fleet_loop.MOST_WORDS and "\n" not in words for words in said)


def test_a_worker_that_does_not_say_what_it_is_keeps_nobody_waiting(
    opened: Open, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had every search of the fleet lose all its workers, over and over."""
    asked, released = threading.Event(), threading.Event()
    monkeypatch.setattr(fleet_loop, "INTRODUCTION", 0.1)

    class Deaf(Bench):
        @property
        def card(self) -> Any:
            asked.set()
            released.wait(20)  # its event loop stands still, as that of a stopped process
            raise OSError

        @card.setter
        def card(self, _: Any) -> None: ...

    patience = replace(QUICK, answer=0.5, quiet=60.0)
    with Here([bench("a")]) as here, Elsewhere(here.address, Deaf(Obedient("deaf"), CARD)):
        fleet = opened(here.address, 1, patience)
        assert asked.wait(20)
        until(lambda: any("does not say what it is" in words for words in said))
        assert [v.log for v in fleet.dispatch([job("x"), job("y")])] == ["x", "y"]
        assert not any("scheduler" in words or "is gone" in words for words in said)
        released.set()


class Odd:
    """A scheduler's answers as another version of dask might give them."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)

    async def ncores(self) -> Any:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize("odd", [None, 7, ImportError("no module"), KeyError("ncores"), {1: 2}])
def test_a_scheduler_that_makes_no_sense_is_joined_anew_and_the_search_goes_on(
    opened: Open, said: list[str], odd: Any
) -> None:
    with Here([bench("a")]) as here:
        fleet = opened(here.address)
        client = fleet._fleet._client
        assert client is not None
        client.scheduler = Odd(odd)
        until(lambda: bool(said))
        until(lambda: fleet.gpus == 1 and fleet._fleet._client is not client)
        assert fleet.dispatch([job("x")])[0].log == "x"


def test_a_job_that_never_ends_on_a_worker_that_lives_moves(
    opened: Open, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(JOB_SECONDS, Effort.SCREEN, 0.1)
    released = threading.Event()
    endless = InTurn("a", released)
    with Here([bench("a", endless)]) as here:
        fleet = opened(here.address, 1, replace(QUICK, job=0.2, rest=60.0))
        verdicts = fleet.dispatch([job("long")])
        until(lambda: any("held a job for too long" in words for words in said))
        here.join(bench("b"))
        assert worker_of(verdicts[0]) == "b"
        released.set()


@pytest.mark.parametrize(
    "changes",
    [
        {"peaks": {"dram_gbs": float("nan")}},
        {"peaks": {"dram_gbs": float("inf")}},
        {"peaks": {"dram_gbs": 0.0}},
        {"peaks": {"dram_gbs": -4000.0}},
        {"facts": {"sms": float("nan")}},
        {"host": "h" * 100_000},
    ],
)
def test_a_card_of_no_gpu_is_not_taken_for_the_first_that_others_are_compared_with(
    changes: dict[str, Any],
) -> None:
    told = json.dumps(json.loads(CARD.as_json()) | changes)
    with pytest.raises(RunnerError, match="describes itself"):
        fleet_worker.card_from_json(told)
    assert fleet_worker.card_from_json(CARD.as_json()) == CARD


def test_a_digest_that_is_a_path_names_no_project(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    one = Bench(Obedient("a"), CARD, None, tmp_path / "projects")
    told = one.judge(question("7", "n", job("x"), Parcel("../there", b"")), None)
    assert "names no project" in told
