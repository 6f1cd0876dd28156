"""An order carried out in a checkout: its bundle, its files, its budget, its failures."""

import dataclasses
import fcntl
import threading
from pathlib import Path
from typing import Any

import pytest

from bot import bundle, gpu_review, review
from bot.gpu_review import PROGRESS, Done, Plane, bounded, carry_out
from bot.interfaces import Change, Reviewed
from bot.orders import BenchState, Order
from bot.progress_file import last_progress
from bot.settings import Settings
from optimizer.errors import ConfigError, RunnerError
from tests.bot import repositories, scripted, synthetic
from tests.scripted_model import Reply, ScriptedModel, serving

SETTINGS = Settings(memory="off")


@pytest.fixture
def order(tmp_path: Path, machine: scripted.Scripted) -> Order:
    del machine  # it stands where this host's GPUs would be
    return repositories.changed(tmp_path / "repository")


def plane(tmp_path: Path) -> Plane:
    return Plane(tmp_path / "repository", tmp_path / "out")


def carried_out(order: Order, tmp_path: Path) -> tuple[Done, tuple[Reviewed, ...]]:
    done = carry_out(order, plane(tmp_path), SETTINGS)
    return done, bundle.read(tmp_path / "out" / "bundle", order)


def test_the_bundle_answers_the_order_and_files_are_for_people(
    order: Order, tmp_path: Path
) -> None:
    done, (result,) = carried_out(order, tmp_path)
    assert result.trajectory is not None
    assert result.trajectory.environment.commit == order.head
    assert result.against_base is not None
    assert done.best is not None
    assert done.best.value > 1.1
    assert done.page is not None
    assert "<html" in done.page.read_text()
    assert done.patch is not None
    repositories.git(tmp_path / "repository", "apply", "--check", str(done.patch))
    seen = last_progress(tmp_path / "out" / PROGRESS)
    assert seen is not None
    assert (seen.state, seen.steps > 0) == (BenchState.DONE, True)


def test_the_budget_is_the_least_of_order_and_project(order: Order, tmp_path: Path) -> None:
    _, (result,) = carried_out(order, tmp_path)
    assert result.trajectory is not None
    assert result.trajectory.environment.budget["evaluations"] == 6
    assert len(result.trajectory.steps) <= 7
    small = bounded(
        SETTINGS, dataclasses.replace(order, evaluations=3, minutes=1.0), {"minutes": 5}
    )
    assert (small.evaluations, small.minutes) == (3, 1.0)


def test_a_kernel_that_is_not_touched_cannot_be_asked_for(order: Order, tmp_path: Path) -> None:
    wrong = dataclasses.replace(order, kernels=("softmax",))
    with pytest.raises(ConfigError, match="does not touch softmax"):
        carried_out(wrong, tmp_path)
    with pytest.raises(ConfigError, match="does not touch softmax"):
        bundle.read(tmp_path / "out" / "bundle", wrong)
    _, results = carried_out(dataclasses.replace(order, kernels=("transpose.cu",)), tmp_path)
    assert len(results) == 1


def test_what_is_below_the_speedup_asked_for_is_not_offered(order: Order, tmp_path: Path) -> None:
    done, (result,) = carried_out(dataclasses.replace(order, min_speedup=100.0), tmp_path)
    assert result.trajectory is not None
    assert result.trajectory.winner is None
    assert done.best is None
    assert done.patch is None


def test_another_commit_than_the_orders_is_not_reviewed(order: Order, tmp_path: Path) -> None:
    other = dataclasses.replace(order, head="c" * 40)
    with pytest.raises(RunnerError, match="the order is for c"):
        carried_out(other, tmp_path)
    seen = last_progress(tmp_path / "out" / PROGRESS)
    assert seen is not None
    assert seen.state is BenchState.FAILED


def test_uncommitted_edits_are_not_the_head(order: Order, tmp_path: Path) -> None:
    (tmp_path / "repository" / "transpose.cu").write_text("// edited\n")
    with pytest.raises(RunnerError, match="-dirty"):
        carried_out(order, tmp_path)


def test_a_broken_project_file_of_the_base_is_told_to_the_orders_giver(
    order: Order, tmp_path: Path
) -> None:
    root = tmp_path / "repository"
    repositories.git(root, "checkout", "-q", "main")
    base = repositories.commit(root, "break", _dot_optiml_dot_yml="version: 1\nkernel: []\n")
    repositories.git(root, "checkout", "-q", "feature")
    with pytest.raises(ConfigError):
        carried_out(dataclasses.replace(order, base=base), tmp_path)
    with pytest.raises(ConfigError):
        bundle.read(tmp_path / "out" / "bundle", dataclasses.replace(order, base=base))


def test_a_project_file_of_the_head_is_not_read(order: Order, tmp_path: Path) -> None:
    root = tmp_path / "repository"
    head = repositories.commit(root, "evil", _dot_optiml_dot_yml="version: 1\nkernels: []\n")
    _, (result,) = carried_out(dataclasses.replace(order, head=head), tmp_path)
    assert result.trajectory is not None


def test_no_changed_kernel_makes_an_empty_bundle(order: Order, tmp_path: Path) -> None:
    same = dataclasses.replace(order, base=order.head)
    done, results = carried_out(same, tmp_path)
    assert (results, done.best, done.page) == ((), None, None)


def test_reviews_on_one_gpu_take_turns(order: Order, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    held = lock.open("a")
    fcntl.flock(held, fcntl.LOCK_EX)
    waiting = dataclasses.replace(plane(tmp_path), lock=lock)
    thread = threading.Thread(target=carry_out, args=(order, waiting, SETTINGS))
    thread.start()
    progress = tmp_path / "out" / PROGRESS
    for _ in range(200):
        if last_progress(progress) is not None:
            break
        thread.join(0.02)
    seen = last_progress(progress)
    assert seen is not None
    assert seen.state is BenchState.QUEUED
    held.close()
    thread.join(20)
    assert bundle.read(tmp_path / "out" / gpu_review.BUNDLE, order)


def test_ctrl_c_before_a_result_is_told_as_the_machinerys_failure(
    order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(gpu_review, "reviewed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        carried_out(order, tmp_path)
    with pytest.raises(RunnerError, match="interrupted"):
        bundle.read(tmp_path / "out" / "bundle", order)


@pytest.fixture
def two(order: Order, tmp_path: Path) -> Order:
    """Make the change touch two kernels."""
    root = tmp_path / "repository"
    entry = repositories.PROJECT[repositories.PROJECT.index("  - name") :]
    both = repositories.PROJECT + entry.replace("transpose.cu", "zwei.cu").replace(
        "name: transpose", "name: zwei"
    )
    repositories.git(root, "checkout", "-q", "main")
    base = repositories.commit(
        root, "two", _dot_optiml_dot_yml=both, zwei_dot_cu=synthetic.NAIVE + "\n"
    )
    repositories.git(root, "checkout", "-q", "feature")
    repositories.git(root, "merge", "-q", "main", "-m", "merge")
    head = repositories.commit(root, "change", zwei_dot_cu=synthetic.NAIVE)
    return dataclasses.replace(order, base=base, head=head)


def test_when_time_is_over_the_rest_is_told_as_not_reviewed(two: Order, tmp_path: Path) -> None:
    short = dataclasses.replace(plane(tmp_path), minutes=0.0)
    carry_out(two, short, SETTINGS)
    results = bundle.read(tmp_path / "out" / "bundle", two)
    assert [one.change.kernel.name for one in results] == ["transpose", "zwei"]
    assert [one.problem for one in results] == [gpu_review.OUT_OF_TIME] * 2


def test_more_kernels_than_a_bundle_holds_are_told_as_not_reviewed(
    two: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "MAX_TRAJECTORIES", 1)
    carry_out(two, plane(tmp_path), SETTINGS)
    first, second = bundle.read(tmp_path / "out" / "bundle", two)
    assert first.trajectory is not None
    assert second.problem == gpu_review.TOO_MANY


def test_a_run_killed_between_two_kernels_leaves_the_first_in_its_bundle(
    two: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def killed(change: Change, *rest: Any) -> Reviewed:
        seen.append(change.kernel.name)
        if len(seen) == 2:
            results = bundle.read(tmp_path / "out" / "bundle", two)
            assert results[0].trajectory is not None
            assert results[1].problem == gpu_review.INTERRUPTED
        return review.reviewed(change, *rest)

    monkeypatch.setattr(gpu_review, "reviewed", killed)
    carry_out(two, plane(tmp_path), SETTINGS)
    assert seen == ["transpose", "zwei"]


def test_an_interrupt_ends_with_the_best_so_far_and_begins_no_other_kernel(
    two: Order, tmp_path: Path, machine: scripted.Scripted
) -> None:
    machine.fail_after = 4
    carry_out(two, plane(tmp_path), SETTINGS)
    first, second = bundle.read(tmp_path / "out" / "bundle", two)
    assert first.trajectory is not None
    assert second.problem == gpu_review.INTERRUPTED


def test_what_a_model_is_asked_and_answers_is_kept_beside_the_report(
    order: Order, tmp_path: Path
) -> None:
    model = ScriptedModel([Reply("I have no idea.")])
    with serving(model) as url:
        settings = dataclasses.replace(
            SETTINGS,
            model="m",
            api_url=url,
            api_key="sk-verysecret0123456789",
            judge="rule",
            cache=str(tmp_path / "cache"),
        )
        asking = dataclasses.replace(order, policy="llm")
        carry_out(asking, plane(tmp_path), settings)
    assert model.asked
    kept = (tmp_path / "out" / "reports" / "000" / "exchanges.jsonl").read_text()
    assert "I have no idea." in kept
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not [path for path in written if b"verysecret" in path.read_bytes()]
    bundled = [path for path in written if (tmp_path / "out" / "bundle") in path.parents]
    assert bundled
    assert not [path for path in bundled if b"You make CUDA kernels faster" in path.read_bytes()]
