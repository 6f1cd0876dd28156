"""Mode publish: only what answers this run's order about an unmoved pull request is posted."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot import bundle, orders
from bot.action_inputs import Inputs, identity
from bot.action_publish import publish
from bot.github_errors import Stale
from bot.interfaces import Change, Pull, Reply, Reviewed
from bot.orders import BundleError, Order
from optimizer.errors import ConfigError, RunnerError
from tests.bot.desk import Desk
from tests.bot.ordered import BASE, HEAD, ORDER, reviewed
from tests.bot.test_workflow import Actions

RUN = 42
PULL = {"pull_request": {"number": 7, "base": {"sha": BASE}, "head": {"sha": HEAD}}}
_ID, _NONCE = identity("owner/project", RUN)
OWN = dataclasses.replace(ORDER, id=_ID, nonce=_NONCE)


class Run(Actions):
    """The artifacts of one run."""

    def request(self, method: str, path: str, **kwargs: Any) -> Reply:
        assert path == f"/repos/owner/project/actions/runs/{RUN}/artifacts"
        return Reply(200, {"artifacts": self.artifacts})


def inputs(tmp_path: Path, name: str = "pull_request", **values: Any) -> Inputs:
    event = values.pop("event", PULL)
    return Inputs(
        mode="publish", event_name=name, event=event, repository="owner/project", run=RUN,
        summary=tmp_path / "summary.md", **values,
    )  # fmt: skip


def posted(
    tmp_path: Path,
    order: Order,
    given: Inputs,
    desk: Desk,
    results: tuple[Reviewed, ...] = (reviewed(),),
) -> list[str]:
    run = Run()
    run.upload(bundle.write(tmp_path / "bundle", order, results))
    said: list[str] = []
    publish(given, run, desk, said.append, run.sleep)
    return said


def test_what_a_given_order_found_is_posted_with_suggestions(tmp_path: Path) -> None:
    desk = Desk()
    posted(tmp_path, ORDER, inputs(tmp_path, order=orders.to_json(ORDER)), desk)
    (report,) = desk.published
    assert report.suggestions
    assert report.markdown is not None
    assert "git apply" in report.markdown
    assert "3.39× faster" in (tmp_path / "summary.md").read_text()


def test_slash_commands_are_offered_only_where_they_are_obeyed(tmp_path: Path) -> None:
    desk = Desk()
    given = inputs(tmp_path, order=orders.to_json(ORDER), commands="true")
    posted(tmp_path, ORDER, given, desk)
    assert "/optiml apply" in (desk.published[0].markdown or "")


def test_a_later_job_of_the_same_run_posts_what_the_first_found(tmp_path: Path) -> None:
    desk = Desk()
    posted(tmp_path, OWN, inputs(tmp_path), desk)
    assert desk.published


def test_a_run_that_follows_a_forks_run_posts_what_that_one_found(tmp_path: Path) -> None:
    desk = Desk(fork=True)
    given = inputs(tmp_path, "workflow_run", event={"workflow_run": {"id": RUN, "head_sha": HEAD}})
    posted(tmp_path, OWN, dataclasses.replace(given, run=99), desk)
    assert desk.published


@pytest.mark.parametrize("paths", [("k.cu", ".github/workflows/new.yml"), None], ids=str)
def test_what_a_forks_own_workflow_may_have_made_up_is_not_posted(
    tmp_path: Path, paths: tuple[str, ...] | None
) -> None:
    desk = Desk(fork=True)
    desk.paths = paths
    given = inputs(tmp_path, "workflow_run", event={"workflow_run": {"id": RUN, "head_sha": HEAD}})
    with pytest.raises(BundleError, match="may change the workflow"):
        posted(tmp_path, OWN, given, desk)
    assert not desk.published
    assert not (tmp_path / "summary.md").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "9" * 32},
        {"nonce": "9" * 32},
        {"head": "c" * 40},
        {"number": 8},
        {"repository": "owner/other"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["pull_request", "workflow_run"])
def test_the_bundle_of_another_run_head_or_pull_request_is_refused(
    tmp_path: Path, name: str, wrong: dict[str, Any]
) -> None:
    event = {**PULL, "workflow_run": {"id": RUN, "head_sha": HEAD}}
    desk = Desk()
    with pytest.raises(BundleError):
        posted(
            tmp_path, dataclasses.replace(OWN, **wrong), inputs(tmp_path, name, event=event), desk,
            results=(),
        )  # fmt: skip
    assert not desk.published


@pytest.mark.parametrize("state", [{"head": "d" * 40}, {"state": "closed"}], ids=str)
def test_nothing_is_posted_on_a_pull_request_that_moved_or_closed(
    tmp_path: Path, state: dict[str, str]
) -> None:
    desk = Desk(**state)
    said = posted(tmp_path, ORDER, inputs(tmp_path, order=orders.to_json(ORDER)), desk)
    assert "nothing is posted" in said[-1]
    assert not desk.published


def test_a_push_while_it_posts_is_no_failure(tmp_path: Path) -> None:
    class Moving(Desk):
        def changed_kernels(self, pull: Pull) -> Sequence[Change]:
            raise Stale("the pull request has another head by now")

    desk = Moving()
    said = posted(tmp_path, ORDER, inputs(tmp_path, order=orders.to_json(ORDER)), desk)
    assert said[-1] == "nothing is posted: the pull request has another head by now"


def test_another_text_than_githubs_is_not_posted(tmp_path: Path) -> None:
    desk = Desk()
    (change,) = desk.changes
    other = dataclasses.replace(change.kernel, source="int x;\n")
    desk.changes = (dataclasses.replace(change, kernel=other),)
    with pytest.raises(BundleError, match="not the pull request's"):
        posted(tmp_path, ORDER, inputs(tmp_path, order=orders.to_json(ORDER)), desk)
    assert not desk.published


def test_a_run_without_pull_request_has_its_results_in_the_summary(tmp_path: Path) -> None:
    alone = dataclasses.replace(ORDER, number=None)
    desk = Desk()
    posted(tmp_path, alone, inputs(tmp_path, order=orders.to_json(alone)), desk)
    assert not desk.published
    assert "faster" in (tmp_path / "summary.md").read_text()


def test_a_run_without_a_bundle_is_the_machinerys_failure(tmp_path: Path) -> None:
    run = Run()
    with pytest.raises(RunnerError, match="no artifact"):
        publish(inputs(tmp_path), run, Desk(), lambda _: None, run.sleep)


def test_why_the_gpu_job_failed_is_raised(tmp_path: Path) -> None:
    run = Run()
    run.upload(bundle.write_failure(tmp_path / "b", OWN, ConfigError("no `shape`")))
    with pytest.raises(ConfigError, match="no `shape`"):
        publish(inputs(tmp_path), run, Desk(), lambda _: None, run.sleep)
