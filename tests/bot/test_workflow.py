"""Orders carried out by GitHub Actions: found again after a fall, limited, told apart."""

import dataclasses
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot import artifacts, bundle, orders
from bot.github_errors import Denied, GithubError, Missing, Refused, Stale, Unreachable
from bot.interfaces import Reply
from bot.orders import BenchState, BundleError
from bot.workflow import WorkflowBench, Workplace
from optimizer.errors import ConfigError, RunnerError
from tests.bot.ordered import ORDER, reviewed

NOW = 1_800_000_000.0
URL = "https://github.example/owner/project/actions/runs/1"


def iso(seconds: float) -> str:
    import datetime as dt

    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat().replace("+00:00", "Z")


class Actions:
    """GitHub Actions of one repository, as far as a bench sees it; an `Api`."""

    def __init__(self, *, details: bool = True, lists: bool = True) -> None:
        self.details, self.lists = details, lists
        self.now = NOW
        self.runs: list[dict[str, Any]] = []
        self.artifacts: list[dict[str, Any]] = []
        self.blobs: dict[int, bytes] = {}
        self.calls: list[tuple[str, str]] = []
        self.bodies: list[Mapping[str, Any]] = []
        self.slept: list[float] = []
        self.refusal: GithubError | None = None
        self.lag = 0

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def request(
        self,
        method: str,
        path: str,
        *,
        repository: str = "",
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str | int] | None = None,
        repeat: bool | None = None,
    ) -> Reply:
        assert repository == "owner/project"
        rest = path.removeprefix("/repos/owner/project")
        self.calls.append((method, rest))
        match method, rest.split("/")[1:]:
            case "GET", []:
                return Reply(200, {"default_branch": "trunk"})
            case "POST", ["actions", "workflows", "optiml-gpu.yml", "dispatches"]:
                return self.dispatch(body or {}, repeat)
            case "GET", ["actions", "workflows", "optiml-gpu.yml", "runs"]:
                return Reply(200, {"workflow_runs": self.runs[::-1] if self.lists else []})
            case "GET", ["actions", "runs", number]:
                return Reply(200, self.run(int(number)))
            case "POST", ["actions", "runs", number, "cancel"]:
                return self.cancel(int(number))
            case "GET", ["actions", "runs", number, "artifacts"]:
                self.lag -= 1
                shown = [] if self.lag >= 0 else self.artifacts
                return Reply(200, {"artifacts": shown})
            case _:
                raise AssertionError(path)

    def download(self, path: str, *, repository: str, limit: int) -> bytes:
        self.calls.append(("GET", path.removeprefix("/repos/owner/project")))
        data = self.blobs[int(path.split("/")[-2])]
        if len(data) > limit:
            raise Refused("too large")
        return data

    def dispatch(self, body: Mapping[str, Any], repeat: bool | None) -> Reply:
        assert repeat is False
        if self.refusal is not None:
            raise self.refusal
        self.bodies.append(body)
        order = orders.from_json(body["inputs"]["order"])
        number = 100 + len(self.runs)
        stamp = iso(self.now)
        self.runs.append({
            "id": number, "status": "queued", "conclusion": None, "html_url": URL,
            "display_title": f"optiml {order.id} #{order.number}", "created_at": stamp, "run_started_at": stamp,
            "updated_at": stamp,
        })  # fmt: skip
        if not self.details:
            return Reply(204)
        return Reply(200, {"workflow_run_id": number, "run_url": URL, "html_url": URL})

    def run(self, number: int) -> dict[str, Any]:
        found = next((run for run in self.runs if run["id"] == number), None)
        if found is None:
            raise Missing("no such run")
        return found

    def cancel(self, number: int) -> Reply:
        run = self.run(number)
        if run["status"] == "completed":
            raise Stale("cannot cancel a run that is completed")
        self.end("cancelled")
        return Reply(202, {})

    def begin(self) -> None:
        self.runs[-1] |= {"status": "in_progress", "run_started_at": iso(self.now)}

    def end(self, conclusion: str) -> None:
        self.runs[-1] |= {
            "status": "completed", "conclusion": conclusion, "updated_at": iso(self.now)
        }  # fmt: skip

    def upload(self, folder: Path, **values: object) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in folder.iterdir():
                archive.write(file, file.name)
        number = 500 + len(self.artifacts)
        self.blobs[number] = buffer.getvalue()
        digest = hashlib.sha256(buffer.getvalue()).hexdigest()
        self.artifacts.append(
            {"id": number, "name": artifacts.NAME, "expired": False, "digest": f"sha256:{digest}",
             "size_in_bytes": len(buffer.getvalue())} | values
        )  # fmt: skip


def bench(actions: Actions, **place: Any) -> WorkflowBench:
    return WorkflowBench(
        actions,
        Workplace(run_details=actions.details, **place),
        clock=lambda: actions.now,
        sleep=actions.sleep,
    )


def dispatches(actions: Actions) -> int:
    return sum(path.endswith("/dispatches") for _, path in actions.calls)


def test_an_order_becomes_one_run_with_the_order_as_its_input() -> None:
    actions = Actions()
    handle = bench(actions, labels=("self-hosted", "gpu")).start(ORDER)
    (body,) = actions.bodies
    assert orders.from_json(body["inputs"]["order"]) == ORDER
    assert json.loads(body["inputs"]["labels"]) == ["self-hosted", "gpu"]
    assert body["ref"] == "trunk"
    assert bench(actions).poll(handle) == orders.Progress(
        BenchState.QUEUED, URL, "waiting for a GPU runner"
    )


@pytest.mark.parametrize("details", [True, False], ids=["run details", "enterprise server"])
def test_a_run_is_followed_to_its_results(tmp_path: Path, details: bool) -> None:
    actions = Actions(details=details)
    handle = bench(actions).start(ORDER)
    actions.begin()
    assert bench(actions).poll(handle).state is BenchState.RUNNING
    actions.end("success")
    assert bench(actions).poll(handle).state is BenchState.DONE
    actions.upload(bundle.write(tmp_path / "b", ORDER, [reviewed()]))
    assert bench(actions).fetch(handle, ORDER) == (reviewed(),)


def test_starting_an_order_again_finds_its_run() -> None:
    actions = Actions()
    first = bench(actions).start(ORDER)
    assert json.loads(bench(actions).start(ORDER))["run"] == json.loads(first)["run"]
    assert dispatches(actions) == 1
    bench(actions).start(dataclasses.replace(ORDER, id="9" * 32))
    assert dispatches(actions) == 2


def test_a_dispatch_without_an_answer_is_left_to_a_second_start() -> None:
    actions = Actions()
    actions.refusal = Unreachable("time-out")
    with pytest.raises(Unreachable):
        bench(actions).start(ORDER)
    assert dispatches(actions) == 1


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (Missing("Not Found"), "has no .github/workflows/optiml-gpu.yml"),
        (Denied("Resource not accessible by integration"), "actions: write"),
        (Refused("Unexpected inputs provided"), "Unexpected inputs"),
    ],
)
def test_a_dispatch_that_is_refused_says_what_to_do(refusal: GithubError, words: str) -> None:
    actions = Actions()
    actions.refusal = refusal
    with pytest.raises(ConfigError) as caught:
        bench(actions).start(ORDER)
    assert words in str(caught.value)


def test_a_run_that_is_not_listed_yet_is_queued_and_later_given_up() -> None:
    actions = Actions(details=False, lists=False)
    handle = bench(actions).start(ORDER)
    assert bench(actions).poll(handle).state is BenchState.QUEUED
    actions.now += 600
    assert bench(actions).poll(handle).state is BenchState.FAILED
    with pytest.raises(RunnerError, match="never started"):
        bench(actions).fetch(handle, ORDER)


@pytest.mark.parametrize(
    ("conclusion", "state"),
    [
        ("success", BenchState.DONE),
        ("failure", BenchState.FAILED),
        ("timed_out", BenchState.FAILED),
        ("startup_failure", BenchState.FAILED),
        ("action_required", BenchState.FAILED),
        ("cancelled", BenchState.CANCELLED),
    ],
)
def test_how_a_run_ended_tells_its_state(conclusion: str, state: BenchState) -> None:
    actions = Actions()
    handle = bench(actions).start(ORDER)
    actions.end(conclusion)
    assert bench(actions).poll(handle).state is state


def test_a_job_no_runner_takes_is_cancelled_and_told() -> None:
    actions = Actions()
    handle = bench(actions, queue_minutes=5).start(ORDER)
    actions.now += 301
    seen = bench(actions, queue_minutes=5).poll(handle)
    assert seen.state is BenchState.FAILED
    assert "no GPU runner took the job in 5 minutes" in seen.detail
    assert actions.runs[-1]["conclusion"] == "cancelled"


def test_a_job_that_takes_too_long_is_cancelled_and_told_again_after_a_restart() -> None:
    actions = Actions()
    handle = bench(actions).start(ORDER)
    actions.begin()
    actions.now += 61 * 60
    for _ in range(2):
        seen = bench(actions, run_minutes=60).poll(handle)
        assert (seen.state, seen.detail) == (
            BenchState.FAILED,
            "the GPU job took longer than 60 minutes",
        )
    with pytest.raises(RunnerError, match="longer than 60 minutes"):
        bench(actions, run_minutes=60).fetch(handle, ORDER)


def test_an_artifact_that_shows_up_late_is_waited_for(tmp_path: Path) -> None:
    actions = Actions()
    handle = bench(actions).start(ORDER)
    actions.end("success")
    actions.upload(bundle.write(tmp_path / "b", ORDER, [reviewed()]))
    actions.lag = 4
    assert bench(actions).fetch(handle, ORDER)
    assert sum(actions.slept) > 10


def test_a_failed_job_without_results_is_the_machinerys_failure_and_names_the_log() -> None:
    actions = Actions()
    handle = bench(actions).start(ORDER)
    actions.end("failure")
    with pytest.raises(RunnerError) as caught:
        bench(actions).fetch(handle, ORDER)
    assert URL in str(caught.value)
    assert sum(actions.slept) < 30


def test_a_failed_job_with_a_reason_raises_the_reason(tmp_path: Path) -> None:
    actions = Actions()
    handle = bench(actions).start(ORDER)
    actions.end("failure")
    actions.upload(bundle.write_failure(tmp_path / "b", ORDER, ConfigError("bad .optiml.yml")))
    with pytest.raises(ConfigError, match=r"bad \.optiml\.yml"):
        bench(actions).fetch(handle, ORDER)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"size_in_bytes": 1 << 40}, BundleError),
        ({"digest": "sha256:" + "0" * 64}, BundleError),
        ({"expired": True}, RunnerError),
    ],
    ids=["too large", "other bytes", "expired"],
)
def test_an_artifact_that_does_not_fit_is_refused(
    tmp_path: Path, values: dict[str, object], error: type[Exception]
) -> None:
    actions = Actions()
    handle = bench(actions).start(ORDER)
    actions.end("success")
    actions.upload(bundle.write(tmp_path / "b", ORDER, []), **values)
    with pytest.raises(error):
        bench(actions).fetch(handle, ORDER)


def test_the_results_of_another_order_are_refused(tmp_path: Path) -> None:
    actions = Actions()
    handle = bench(actions).start(ORDER)
    actions.end("success")
    other = dataclasses.replace(ORDER, nonce="3" * 32)
    actions.upload(bundle.write(tmp_path / "b", other, []))
    with pytest.raises(BundleError, match="another order"):
        bench(actions).fetch(handle, ORDER)
    with pytest.raises(BundleError, match="handle of another order"):
        bench(actions).fetch(handle, dataclasses.replace(ORDER, id="9" * 32))


def test_cancelling_ends_a_run_and_does_nothing_to_one_that_is_over() -> None:
    actions = Actions()
    handle = bench(actions).start(ORDER)
    bench(actions).cancel(handle)
    assert bench(actions).poll(handle).state is BenchState.CANCELLED
    bench(actions).cancel(handle)


def test_runs_of_older_orders_for_the_same_pull_request_are_cancelled() -> None:
    actions = Actions()
    for number, name in ((7, "5" * 32), (8, "6" * 32)):
        bench(actions).start(dataclasses.replace(ORDER, id=name, number=number))
    bench(actions).start(ORDER)
    actions.calls.clear()
    assert bench(actions).cancel_older(ORDER) == 1
    assert [path for method, path in actions.calls if method == "POST"] == [
        "/actions/runs/100/cancel"
    ]


@pytest.mark.parametrize("handle", ["", "{}", "100", '{"format": 1}'])
def test_a_handle_that_is_none_is_refused(handle: str) -> None:
    with pytest.raises(ConfigError, match="no handle"):
        bench(Actions()).poll(handle)


def test_a_review_costs_few_calls(tmp_path: Path) -> None:
    actions = Actions()
    handle = bench(actions, ref="main").start(ORDER)
    actions.end("success")
    actions.upload(bundle.write(tmp_path / "b", ORDER, [reviewed()]))
    bench(actions).poll(handle)
    bench(actions).fetch(handle, ORDER)
    assert len(actions.calls) == 6  # find, dispatch, poll, run, artifacts, zip
