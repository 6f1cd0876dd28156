"""A bench that is a workflow on GitHub Actions: dispatched, polled, its artifact read as hostile.

The workflow (`examples/workflows/optiml-gpu.yml`) runs on GPU runners that take nothing but
`workflow_dispatch`, with a token that can only read. The order travels as one input, and its id
stands in the run's name: that is how a run is found again where GitHub does not tell its number
(Enterprise Server) or when we fell over between dispatching and remembering it.

Sources: docs.github.com, REST API "Workflows", "Workflow runs", "Artifacts".
"""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from bot import artifacts, bundle, orders
from bot.github_errors import Denied, GithubError, Missing, RateLimited, Refused, Stale, Unreachable
from bot.interfaces import Api, Reviewed
from bot.orders import BenchState, BundleError, Order, Progress
from optimizer.errors import ConfigError, RunnerError

WORKFLOW = "optiml-gpu.yml"
MAX_INPUTS = 65_535  # characters of all inputs together
_FORMAT = 1
_KEPT = 64  # runs seen to be over whose results nobody fetched yet
_FINDING_SECONDS = 300.0  # a dispatched run shows up in lists within this time
_WAITING = frozenset({"queued", "requested", "pending", "waiting"})
_TRANSIENT = (Unreachable, RateLimited)


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where orders are carried out.

    `workflow` is the file's name under `.github/workflows` of the order's repository; `ref` the
    branch it is taken from, the default branch when empty. `labels` choose the runner; empty
    leaves that to the workflow. `publishes` asks the workflow to publish what it finds itself.
    `run_details` tells that dispatching returns the run's number (github.com). A run that waits
    or runs longer than its minutes is given up.
    """

    workflow: str = WORKFLOW
    ref: str = ""
    labels: tuple[str, ...] = ()
    publishes: bool = False
    run_details: bool = True
    queue_minutes: float = 60.0
    run_minutes: float = 180.0


@dataclass(frozen=True, slots=True)
class _Handle:
    """What is remembered of a dispatched order. `at` is when, in seconds since 1970."""

    format: int
    repository: str
    order: str
    at: float
    run: int | None = None

    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class _Run:
    """A workflow run as GitHub has it, times in seconds since 1970."""

    id: int
    status: str
    conclusion: str
    url: str
    title: str
    created: float
    started: float
    updated: float


_HANDLE: TypeAdapter[_Handle] = TypeAdapter(_Handle)
DEFAULT = Workplace()


class WorkflowBench:
    """Carries out orders by `workflow_dispatch`. Everything it needs is in the handle.

    What it keeps besides only saves requests: default branches, and runs seen to be over.
    """

    def __init__(
        self,
        api: Api,
        place: Workplace = DEFAULT,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._api, self._place = api, place
        self._clock, self._sleep = clock, sleep
        self._branches: dict[str, str] = {}
        self._over: dict[int, _Run] = {}

    def start(self, order: Order, *, is_new: bool = False) -> str:
        """Dispatch the workflow, unless a run of this order is there already.

        Raise `ConfigError` when there is no such workflow or we may not start it.
        """
        known = None if is_new else self._found(order.repository, order.id)
        if known is not None:
            return self._handle(order, known.id)
        inputs = {"order": orders.to_json(order)}
        if self._place.labels:
            inputs["labels"] = json.dumps(list(self._place.labels))
        if self._place.publishes:
            inputs["publish"] = "true"
        if sum(map(len, inputs.values())) > MAX_INPUTS:
            raise ConfigError(
                "the order is longer than a workflow's inputs may be", "name fewer kernels"
            )
        body: dict[str, Any] = {"ref": self._ref(order.repository), "inputs": inputs}
        if self._place.run_details:
            body["return_run_details"] = True
        path = self._path(order.repository, "workflows", self._place.workflow, "dispatches")
        try:
            # Not to be repeated blindly: `start` looks for the run first when it is called again.
            reply = self._api.request(
                "POST", path, repository=order.repository, body=body, repeat=False
            )
        except _TRANSIENT:
            raise
        except GithubError as error:
            self._branches.pop(order.repository, None)  # it may have another name by now
            raise self._not_started(order, error) from error
        number = reply.data.get("workflow_run_id") if isinstance(reply.data, dict) else None
        return self._handle(order, number if isinstance(number, int) else None)

    def poll(self, handle: str) -> Progress:
        """Return how far the run is, giving up one that waits or runs for too long."""
        held = _held(handle)
        run = self._run(held)
        if run is None:
            if self._clock() - held.at < _FINDING_SECONDS:
                return Progress(BenchState.QUEUED, detail="waiting for GitHub to list the run")
            return Progress(BenchState.FAILED, detail="GitHub never started the workflow")
        overdue = self._overdue(run)
        if run.status == "completed":
            self._over = {**dict(list(self._over.items())[-_KEPT:]), run.id: run}
        elif overdue:
            self._cancel(held.repository, run.id)
        if overdue and run.conclusion in {"", "cancelled"}:
            return Progress(BenchState.FAILED, run.url, overdue)
        return Progress(_state(run), run.url, _detail(run))

    def fetch(self, handle: str, order: Order) -> tuple[Reviewed, ...]:
        """Return the results in the run's artifact, which may show up a while after the run."""
        held = _held(handle)
        if (held.order, held.repository) != (order.id, order.repository):
            raise BundleError("this is the handle of another order")
        run = self._over.pop(held.run or 0, None) or self._run(held)
        if run is None:
            raise RunnerError("GitHub never started the workflow", "is it enabled under Actions?")
        if run.status != "completed":
            why = self._overdue(run) or f"the GPU job is not over: {run.status}"
            raise RunnerError(why, f"see {run.url}")
        # One that succeeded has uploaded; of one that failed there may be no artifact, ever.
        lags = artifacts.LAGS if run.conclusion == "success" else artifacts.LAGS[:3]
        data = artifacts.fetch(self._api, order.repository, run.id, lags, self._sleep)
        if data is None:
            why = self._overdue(run) or f"the GPU job ended as {run.conclusion!r} without results"
            raise RunnerError(why, f"its log says why: {run.url}")
        return bundle.read(data, order)

    def cancel(self, handle: str) -> None:
        """Cancel the run."""
        held = _held(handle)
        run = self._run(held)
        if run is not None and run.status != "completed":
            self._cancel(held.repository, run.id)

    def cancel_older(self, order: Order) -> int:
        """Cancel runs of other orders for the same pull request; return how many."""
        if order.number is None:
            return 0
        mark = f" #{order.number}"
        older = [
            run
            for run in self._listed(order.repository)
            if run.status != "completed"
            and run.title.endswith(mark)
            and not run.title.startswith(run_name(order.id))
        ]
        for run in older:
            self._cancel(order.repository, run.id)
        return len(older)

    # -- runs --------------------------------------------------------------------------------------

    def _found(self, repository: str, order: str) -> _Run | None:
        """Look for an order's run by its name; the newest, should there be several."""
        runs = self._listed(repository)
        return next((run for run in runs if run.title.startswith(run_name(order))), None)

    def _listed(self, repository: str) -> list[_Run]:
        path = self._path(repository, "workflows", self._place.workflow, "runs")
        query: dict[str, str | int] = {"event": "workflow_dispatch", "per_page": 100}
        try:
            data = self._api.request("GET", path, repository=repository, query=query).data
        except Missing:
            return []  # no such workflow: dispatching will say so
        return [_run(one) for one in data.get("workflow_runs") or ()]

    def _run(self, held: _Handle) -> _Run | None:
        if held.run is None:
            return self._found(held.repository, held.order)
        path = self._path(held.repository, "runs", str(held.run))
        try:
            return _run(self._api.request("GET", path, repository=held.repository).data)
        except Missing as error:
            if self._clock() - held.at < _FINDING_SECONDS:
                return None
            raise RunnerError("the GPU job's run is gone from GitHub") from error

    def _cancel(self, repository: str, run: int) -> None:
        path = self._path(repository, "runs", str(run), "cancel")
        try:
            self._api.request("POST", path, repository=repository, repeat=True)
        except (Stale, Refused, Missing):
            return  # it was over before

    def _overdue(self, run: _Run) -> str:
        """Say which limit a run exceeds, or exceeded when it was cancelled; empty when none."""
        end = run.updated if run.status == "completed" else self._clock()
        if run.status in _WAITING and end - run.created > self._place.queue_minutes * 60:
            return f"no GPU runner took the job in {self._place.queue_minutes:g} minutes"
        if run.status in _WAITING or run.conclusion not in {"", "cancelled"}:
            return ""
        if end - run.started > self._place.run_minutes * 60:
            return f"the GPU job took longer than {self._place.run_minutes:g} minutes"
        return ""

    def _ref(self, repository: str) -> str:
        if self._place.ref:
            return self._place.ref
        if repository not in self._branches:
            data = self._api.request("GET", f"/repos/{repository}", repository=repository).data
            self._branches[repository] = str(data["default_branch"])
        return self._branches[repository]

    def _handle(self, order: Order, run: int | None) -> str:
        held = _Handle(_FORMAT, order.repository, order.id, self._clock(), run)
        return _HANDLE.dump_json(held).decode()

    def _not_started(self, order: Order, error: GithubError) -> ConfigError:
        name = f".github/workflows/{self._place.workflow}"
        if isinstance(error, Missing):
            remedy = "add it to the default branch; docs/action.md has it, ready to copy"
            return ConfigError(f"{order.repository} has no {name}", remedy)
        if isinstance(error, Denied):
            return ConfigError(
                f"{name} cannot be started: {error.message}",
                error.remedy or "the token needs the permission `actions: write`",
            )
        return ConfigError(f"{name} cannot be started: {error.message}", "is it ours, unchanged?")

    @staticmethod
    def _path(repository: str, *parts: str) -> str:
        return "/".join((f"/repos/{repository}/actions", *parts))


def run_name(order: str) -> str:
    """Return how the name of an order's run begins."""
    return f"optiml {order}"


def _held(handle: str) -> _Handle:
    try:
        held = _HANDLE.validate_json(handle, strict=True)
    except ValidationError as error:
        raise ConfigError("this is no handle of a workflow's run") from error
    if held.format != _FORMAT:
        raise ConfigError("this is a handle of another version")
    return held


def _run(data: Mapping[str, Any]) -> _Run:
    created = _seconds(data.get("created_at"))
    return _Run(
        int(data["id"]),
        str(data.get("status") or ""),
        str(data.get("conclusion") or ""),
        str(data.get("html_url") or ""),
        str(data.get("display_title") or data.get("name") or ""),
        created,
        _seconds(data.get("run_started_at")) or created,
        _seconds(data.get("updated_at")) or created,
    )


def _seconds(text: Any) -> float:
    try:
        return dt.datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return 0.0


def _state(run: _Run) -> BenchState:
    if run.status in _WAITING:
        return BenchState.QUEUED
    if run.status != "completed":
        return BenchState.RUNNING
    if run.conclusion == "success":
        return BenchState.DONE
    return BenchState.CANCELLED if run.conclusion == "cancelled" else BenchState.FAILED


def _detail(run: _Run) -> str:
    if run.status == "waiting":
        return "waiting for somebody to approve the GPU environment"
    if run.status in _WAITING:
        return "waiting for a GPU runner"
    return "" if run.status != "completed" else f"the GPU job ended as {run.conclusion}"
