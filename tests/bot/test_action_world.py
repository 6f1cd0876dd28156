"""The Action from event to comment on a fake GitHub: ordered, reviewed, published, no server."""

import dataclasses
import io
import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot import action, orders
from bot.github_app import App
from bot.github_errors import Denied
from bot.github_session import GithubSession
from bot.orders import BenchState, BundleError, Order
from bot.workflow import WorkflowBench
from optimizer.errors import RunnerError
from tests.bot import repositories, scripted, synthetic
from tests.bot.repositories import PROJECT
from tests.fake_github import server, state

NAME = "octo/kernels"
GPU_WORKFLOW = Path(__file__).resolve().parents[2] / "examples" / "workflows" / "optiml-gpu.yml"
SLOW = synthetic.NAIVE.replace("// Trans", "// SLOW Trans")
PUBLISHING = {"actions": "read", "contents": "read", "pull_requests": "write"}


class Workflows:
    """GitHub Actions with our workflows: jobs as they are in `examples/workflows`."""

    def __init__(self, folder: Path, fake: server.FakeGithub) -> None:
        self.folder, self.fake = folder, fake
        self.repository = fake.repository(NAME, dev="write", reader="read")
        self.base = fake.commit(
            self.repository,
            "main",
            {
                "transpose.cu": synthetic.NAIVE,
                ".optiml.yml": PROJECT,
                ".github/workflows/optiml-gpu.yml": GPU_WORKFLOW.read_text(),
            },
        )
        self.jobs = 0
        self.dispatched: list[state.Run] = []
        fake.hooks["run_name"] = named
        fake.hooks["on_dispatch"] = self.dispatched.append

    def job(
        self, mode: str, event: str, payload: object, run: int, held: dict[str, str], **inputs: str
    ) -> Path:
        """Run a job; return its temporary folder."""
        self.jobs += 1
        scratch = self.folder / f"job{self.jobs}"
        scratch.mkdir()
        (scratch / "event.json").write_text(json.dumps(payload))
        given = {
            "INPUT_MODE": mode, "GITHUB_EVENT_NAME": event, "GITHUB_API_URL": self.fake.public,
            "GITHUB_EVENT_PATH": str(scratch / "event.json"), "GITHUB_REPOSITORY": NAME,
            "GITHUB_RUN_ID": str(run), "GITHUB_STEP_SUMMARY": str(scratch / "summary.md"),
            "GITHUB_WORKSPACE": str(self.folder / "checkout"), "INPUT_OUT": str(scratch / "out"),
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
        }  # fmt: skip
        if held:
            given["INPUT_GITHUB_TOKEN"] = self.fake.workflow_token(self.repository, held)
        action.act(given)
        return scratch

    def review(
        self,
        run: state.Run,
        head: str,
        event: str,
        payload: object,
        lag: int = 0,
        **inputs: str,
    ) -> None:
        """Check out, run the GPU job and upload its bundle."""
        checkout = self.folder / "checkout"
        store = str(self.repository.store.folder)
        subprocess.run(["git", "clone", "-q", store, str(checkout)], check=True)
        repositories.git(checkout, "fetch", "-q", "origin", head)
        repositories.git(checkout, "checkout", "-q", "--detach", head)
        scratch = self.job("optimize", event, payload, run.id, {}, **inputs)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in (scratch / "out" / "bundle").iterdir():
                archive.write(file, file.name)
        self.fake.finish(run, "success", buffer.getvalue(), lag)

    def dispatch(self, lag: int = 0) -> state.Run:
        """Run the GPU workflow that was dispatched."""
        (run,) = self.dispatched
        head = orders.from_json(run.inputs["order"]).head
        self.review(run, head, "workflow_dispatch", {}, lag=lag, order=run.inputs["order"])
        return run

    def publish(self, run: state.Run, held: dict[str, str] = PUBLISHING) -> Path:
        return self.job("publish", "workflow_dispatch", {}, run.id, held, order=run.inputs["order"])

    def pull_run(self) -> state.Run:
        """Begin a run that the pull request itself started."""
        number = next(self.fake.state.numbers)
        run = state.Run(number, NAME, "optiml-hosted.yml", "x", {}, "x", self.fake.state.now())
        self.fake.state.runs[number] = run
        return run


@pytest.fixture
def workflows(
    tmp_path: Path, machine: scripted.Scripted, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Workflows]:
    del machine
    monkeypatch.setenv("OPTIML_MEMORY", "off")
    with server.FakeGithub(tmp_path / "github") as fake:
        yield Workflows(tmp_path, fake)


def named(inputs: dict[str, str]) -> str:
    """Name a run as `run-name` of the GPU workflow does."""
    order = json.loads(inputs["order"])
    return f"optiml {order['id']} #{order['number']}"


def event_of(pull: state.Pull) -> dict[str, Any]:
    return {
        "action": "opened",
        "pull_request": {
            "number": pull.number, "base": {"sha": pull.base}, "head": {"sha": pull.head}
        },
    }  # fmt: skip


def slower(workflows: Workflows) -> state.Pull:
    fake, repository = workflows.fake, workflows.repository
    fake.commit(repository, "slower", {"transpose.cu": SLOW}, start=workflows.base)
    return fake.pull(repository, "slower")


ORDERING = {"actions": "write", "contents": "read", "pull_requests": "read"}
COMMENTING = {"actions": "write", "contents": "read", "issues": "write", "pull_requests": "write"}


def ours(workflows: Workflows) -> list[str]:
    return [one.body for one in workflows.fake.state.comments.values() if "###" in one.body]


def test_a_pull_request_is_ordered_reviewed_and_commented(workflows: Workflows) -> None:
    pull = slower(workflows)
    summary = workflows.job("order", "pull_request", event_of(pull), 1, ORDERING) / "summary.md"
    assert "Ordered a review" in summary.read_text()
    assert workflows.dispatched[0].inputs["publish"] == "true"
    workflows.publish(workflows.dispatch())
    (body,) = ours(workflows)
    assert "slower than `main`" in body
    assert "faster" in body
    assert "/optiml apply" not in body
    suggested = workflows.fake.state.review_comments.values()
    assert all(one.path == "transpose.cu" for one in suggested)
    workflows.publish(workflows.dispatched[0])
    assert ours(workflows) == [body], "publishing again edits, and adds nothing"


def test_a_newer_head_takes_over_the_gpu(workflows: Workflows) -> None:
    pull = slower(workflows)
    workflows.job("order", "pull_request", event_of(pull), 1, ORDERING)
    workflows.fake.commit(workflows.repository, "slower", {"transpose.cu": SLOW + "\n"})
    workflows.job("order", "pull_request", event_of(pull), 2, ORDERING)
    first, second = workflows.dispatched
    assert (first.conclusion, second.conclusion) == ("cancelled", None)
    assert orders.from_json(second.inputs["order"]).head == pull.head


def test_a_head_that_moved_during_the_review_gets_no_comment(workflows: Workflows) -> None:
    pull = slower(workflows)
    workflows.job("order", "pull_request", event_of(pull), 1, ORDERING)
    run = workflows.dispatch()
    workflows.fake.commit(workflows.repository, "slower", {"transpose.cu": SLOW + "\n"})
    workflows.publish(run)
    assert not ours(workflows)


def test_without_permission_to_comment_the_summary_has_all_and_names_the_lines(
    workflows: Workflows,
) -> None:
    workflows.job("order", "pull_request", event_of(slower(workflows)), 1, ORDERING)
    scratch = workflows.publish(workflows.dispatch(), PUBLISHING | {"pull_requests": "read"})
    summary = (scratch / "summary.md").read_text()
    assert not ours(workflows)
    assert "slower than `main`" in summary
    assert "pull-requests: write" in summary


def test_without_permission_to_dispatch_the_order_says_which_is_missing(
    workflows: Workflows,
) -> None:
    held = ORDERING | {"actions": "read"}
    with pytest.raises(Exception, match=r"actions: write") as caught:
        workflows.job("order", "pull_request", event_of(slower(workflows)), 1, held)
    assert not isinstance(caught.value, Denied), "it is told as something to configure"


def forked(workflows: Workflows) -> state.Pull:
    fake, repository = workflows.fake, workflows.repository
    fork = fake.fork(repository, "stranger")
    fake.commit(fork, "mine", {"transpose.cu": SLOW}, start=workflows.base)
    return fake.pull(repository, "mine", source=fork, author="stranger")


def test_a_fork_is_reviewed_when_somebody_who_may_write_approves_its_commit(
    workflows: Workflows,
) -> None:
    pull = forked(workflows)
    for login, body in (("stranger", "/optiml optimize"), ("dev", f"/optiml approve {pull.head}")):
        comment = workflows.fake.say(pull, login, body)
        event = {
            "action": "created",
            "issue": {"number": pull.number, "pull_request": {"url": "x"}},
            "comment": {
                "id": comment.id, "body": body, "user": {"login": login, "type": "User"}
            },
        }  # fmt: skip
        workflows.job("order", "issue_comment", event, 1, COMMENTING)
        assert len(workflows.dispatched) == (login == "dev")
        assert comment.reactions
    replies = [one.body for one in workflows.fake.state.comments.values()]
    assert any("needs the permission" in body for body in replies)
    workflows.publish(workflows.dispatch())
    assert len(ours(workflows)) == 1


def test_what_a_forks_own_run_found_is_posted_by_a_run_of_the_base(workflows: Workflows) -> None:
    pull = forked(workflows)
    run = workflows.pull_run()
    workflows.review(run, pull.head, "pull_request", event_of(pull))
    after = {"workflow_run": {"id": run.id, "head_sha": pull.head, "event": "pull_request"}}
    workflows.job("publish", "workflow_run", after, 99, PUBLISHING)
    assert len(ours(workflows)) == 1


def test_a_forks_run_cannot_post_on_another_pull_request(workflows: Workflows) -> None:
    pull, other = forked(workflows), slower(workflows)
    workflows.fake.commit(workflows.repository, "slower", {"transpose.cu": SLOW + "\n"})
    run = workflows.pull_run()
    forged = event_of(other)
    workflows.review(run, other.head, "pull_request", forged)
    after = {"workflow_run": {"id": run.id, "head_sha": pull.head, "event": "pull_request"}}
    with pytest.raises(BundleError, match="another commit or pull request"):
        workflows.job("publish", "workflow_run", after, 99, PUBLISHING)
    assert not ours(workflows)


def test_the_apps_bench_follows_a_run_over_http(workflows: Workflows, tmp_path: Path) -> None:
    pull = slower(workflows)
    order = Order(repository=NAME, number=pull.number, base=pull.base, head=pull.head)
    app = App(workflows.fake.app_id, server.KEY)
    slept: list[float] = []
    with GithubSession(workflows.fake.public, app=app) as session:
        bench = WorkflowBench(session, sleep=slept.append)
        handle = bench.start(order)
        again = json.loads(bench.start(order))
        assert again["run"] == json.loads(handle)["run"], "a second start finds the first's run"
        assert len(workflows.dispatched) == 1
        assert "publish" not in workflows.dispatched[0].inputs
        assert bench.poll(handle).state is BenchState.QUEUED
        workflows.dispatch(lag=2)
        assert bench.poll(handle).state is BenchState.DONE
        (result,) = bench.fetch(handle, order)
        assert result.trajectory is not None
        assert len(slept) == 3
        bench.cancel(handle)
        other = dataclasses.replace(order, id="9" * 32)
        handle = bench.start(other)
        bench.cancel(handle)
        assert bench.poll(handle).state is BenchState.CANCELLED
        with pytest.raises(RunnerError, match="cancelled"):
            bench.fetch(handle, other)
