"""Reviews on this host: a process of their own, without a token, found again after a restart."""

import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot import processes
from bot.local_bench import COMMAND, LocalBench, LocalPlace
from bot.orders import BenchState, BundleError, Order, Progress
from optimizer.errors import ConfigError, RunnerError
from tests.bot import repositories
from tests.bot.test_action import EXAMPLES, hostile

# Stands for a review: says how far it is, then waits to be ended, with a grandchild that left.
SLOW = """
import json, os, pathlib, subprocess, sys, time
out = pathlib.Path(os.environ["INPUT_OUT"]); out.mkdir(parents=True)
(out / "environment.json").write_text(json.dumps(dict(os.environ)))
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"],
    start_new_session=True)
(out / "child").write_text(str(child.pid))
line = {"state": "running", "steps": 3, "best": 1.5, "detail": "softmax: screening"}
with (out / "progress.jsonl").open("w") as file:
    file.write(json.dumps(line) + "\\n")
time.sleep(60)
"""


@pytest.fixture
def order(tmp_path: Path) -> Order:
    found = hostile(tmp_path / "server" / "owner" / "work")
    bare = tmp_path / "server" / "owner" / "project.git"
    repositories.git(
        tmp_path, "clone", "-q", "--bare", str(tmp_path / "server/owner/work"), str(bare)
    )
    repositories.git(bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    return found


@pytest.fixture
def started() -> Iterator[list[tuple[LocalBench, str]]]:
    found: list[tuple[LocalBench, str]] = []
    yield found
    for bench, handle in found:
        bench.cancel(handle)


Make = Callable[..., LocalBench]


@pytest.fixture
def bench(tmp_path: Path, started: list[tuple[LocalBench, str]]) -> Make:
    def make(
        *, slow: str | None = SLOW, clock: Callable[[], float] = time.time, **place: object
    ) -> LocalBench:
        replay = str(EXAMPLES / "softmax" / "recording.jsonl.gz")
        made = LocalBench(
            LocalPlace(
                tmp_path / "jobs",
                (tmp_path / "server").as_uri(),
                inputs={"replay": replay},
                **place,  # type: ignore[arg-type]
            ),
            {"PATH": os.defpath, "GITHUB_TOKEN": "secret", "OPTIML_GITHUB_APP_KEY": "secret"},
            lambda repository: f"token-for-{repository}",
            clock,
            COMMAND if slow is None else (sys.executable, "-I", "-c", slow),
        )
        started.append((made, "1" * 32))
        return made

    return make


def until(bench: LocalBench, handle: str, wanted: Callable[[Progress], bool]) -> Progress:
    end = time.monotonic() + 30
    while not wanted(seen := bench.poll(handle)):
        assert time.monotonic() < end, seen
        time.sleep(0.05)
    return seen


def test_a_hostile_head_is_cloned_reviewed_and_its_results_fetched(
    order: Order, bench: Make, tmp_path: Path
) -> None:
    order = dataclasses.replace(order, evaluations=8)  # enough of a search to be one
    one = bench(slow=None)
    handle = one.start(order)
    again = bench(slow=None)  # the App was restarted meanwhile
    assert again.start(order) == handle
    seen = until(again, handle, lambda progress: progress.state.over)
    log = (tmp_path / "jobs" / handle / "log.txt").read_text()
    assert seen.state is BenchState.DONE, log
    # Most of the eight that were ordered, some to confirm, and what the recording has not got; far
    # from the eighty of an order that says nothing.
    assert 3 < seen.steps < 60
    (result,) = one.fetch(handle, order)
    assert result.trajectory is not None
    assert result.trajectory.environment.recorded
    assert one.fetch(handle, order) == (result,), "fetching may be repeated"
    assert not (tmp_path / "jobs" / handle / "checkout").exists()


def slow_one(order: Order, bench: Make, **place: object) -> tuple[LocalBench, str]:
    one = bench(**place)
    handle = one.start(dataclasses.replace(order, id="1" * 32))
    until(one, handle, lambda progress: progress.steps == 3)
    return one, handle


def test_a_review_sees_no_token_and_nothing_of_ours_but_where_programs_are(
    order: Order, bench: Make, tmp_path: Path
) -> None:
    _, handle = slow_one(order, bench)
    seen = json.loads((tmp_path / "jobs" / handle / "out" / "environment.json").read_text())
    assert "secret" not in str(seen)
    assert "token-for" not in str(seen)
    allowed = {"PATH", "HOME", "RUNNER_TEMP", "GITHUB_REPOSITORY", "GITHUB_WORKSPACE", "LC_CTYPE"}
    assert {name for name in seen if not name.startswith(("INPUT_", "OPTIML_"))} <= allowed
    for file in (tmp_path / "jobs" / handle).rglob("*"):
        if file.is_file():
            assert b"token-for" not in file.read_bytes(), file


def test_cancelling_ends_the_review_and_all_it_started(
    order: Order, bench: Make, tmp_path: Path
) -> None:
    one, handle = slow_one(order, bench)
    child = processes.of(int((tmp_path / "jobs" / handle / "out" / "child").read_text()))
    assert child is not None
    bench().cancel(handle)
    assert one.poll(handle) == Progress(BenchState.CANCELLED)
    assert not (tmp_path / "jobs" / handle / "checkout").exists()
    for _ in range(1500):  # half a minute at most
        if not processes.runs(child):
            break
        time.sleep(0.02)
    assert not processes.runs(child)
    one.cancel(handle)
    with pytest.raises(RunnerError, match="cancelled"):
        one.fetch(handle, dataclasses.replace(order, id="1" * 32))


def test_a_review_that_takes_too_long_is_ended(order: Order, bench: Make) -> None:
    one, handle = slow_one(order, bench)
    late = bench(clock=lambda: time.time() + 3600, run_minutes=30.0)
    assert late.poll(handle).detail == "the review took longer than 30 minutes"
    assert one.poll(handle).state is BenchState.FAILED
    with pytest.raises(RunnerError, match="took longer"):
        one.fetch(handle, dataclasses.replace(order, id="1" * 32))


def test_a_review_that_dies_is_the_machinerys_failure(order: Order, bench: Make) -> None:
    one = bench(slow="raise SystemExit(9)")
    handle = one.start(order)
    seen = until(one, handle, lambda progress: progress.state.over)
    assert (seen.state, seen.detail) == (BenchState.FAILED, "the review ended without results")
    with pytest.raises(RunnerError, match="without results"):
        one.fetch(handle, order)


def test_what_is_running_cannot_be_fetched_nor_by_another_order(order: Order, bench: Make) -> None:
    one, handle = slow_one(order, bench)
    with pytest.raises(RunnerError, match="not over"):
        one.fetch(handle, dataclasses.replace(order, id="1" * 32))
    with pytest.raises(BundleError, match="another order"):
        one.fetch(handle, order)


def test_a_head_that_is_gone_is_told_and_may_be_started_again(order: Order, bench: Make) -> None:
    gone = dataclasses.replace(order, head="c" * 40)
    for _ in range(2):
        with pytest.raises(RunnerError, match="git fetch failed"):
            bench().start(gone)
    assert bench().poll(gone.id).state is BenchState.FAILED


def test_a_review_started_by_somebody_who_fell_over_before_noting_it_is_ended(
    order: Order, bench: Make, tmp_path: Path
) -> None:
    one, handle = slow_one(order, bench)
    job = tmp_path / "jobs" / handle / "job.json"
    first = processes.of(json.loads(job.read_text())["process"]["pid"])
    assert first is not None
    job.unlink()
    again = bench()
    again.start(dataclasses.replace(order, id=handle))
    until(again, handle, lambda progress: progress.steps == 3)
    assert one.poll(handle).state is BenchState.RUNNING
    assert not processes.runs(first)


def test_links_in_the_head_are_not_made(order: Order, bench: Make, tmp_path: Path) -> None:
    work = tmp_path / "server" / "owner" / "work"
    (work / "leak.cu").symlink_to("/etc/passwd")
    head = repositories.commit(work, "link")
    bare = tmp_path / "server" / "owner" / "project.git"
    repositories.git(bare, "fetch", "-q", str(work), head)
    linked = dataclasses.replace(order, head=head, id="1" * 32)
    one = bench()
    one.start(linked)
    leak = tmp_path / "jobs" / linked.id / "checkout" / "leak.cu"
    assert not leak.is_symlink()
    assert leak.read_text() == "/etc/passwd"


def test_old_reviews_are_forgotten(order: Order, bench: Make, tmp_path: Path) -> None:
    one = bench(slow="pass")
    handle = one.start(order)
    until(one, handle, lambda progress: progress.state.over)
    later = bench(slow="pass", clock=lambda: time.time() + 8 * 86_400)
    later.start(dataclasses.replace(order, id="1" * 32))
    assert not (tmp_path / "jobs" / handle).exists()


@pytest.mark.parametrize("handle", ["", "../../etc", "A" * 32, "1" * 31])
def test_a_handle_that_is_none_is_refused(bench: Make, handle: str) -> None:
    with pytest.raises(ConfigError):
        bench().poll(handle)


def test_a_number_that_came_again_is_not_the_process_that_was_meant() -> None:
    here = processes.of(os.getpid())
    assert here is not None
    assert processes.runs(here)
    assert not processes.runs(dataclasses.replace(here, started=here.started - 1))
    assert processes.of(1 << 30) is None
