"""What the Action is told: its inputs and the run's context, all through the environment.

GitHub's own variables are documented under "Store information in variables"; `action.yml` passes
each input as `INPUT_NAME`, so that no text of a pull request ever stands in a shell command.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot import orders, settings
from bot.orders import Order
from optimizer.errors import ConfigError

MODES = ("optimize", "publish", "order")
_LARGEST_EVENT = 32 << 20  # bytes; GitHub's payloads end at 25 MB


@dataclass(frozen=True, slots=True)
class Inputs:
    """The Action's inputs as texts, and where in GitHub it runs."""

    mode: str = "optimize"
    token: str = field(default="", repr=False)
    order: str = ""
    policy: str = ""
    budget: str = ""
    evaluations: str = ""
    min_speedup: str = ""
    objective: str = ""
    kernels: str = ""
    seed: str = ""
    device: str = ""
    sandbox: str = ""
    replay: str = ""
    record: str = ""
    out: str = ""
    lock: str = ""
    limit: str = ""
    labels: str = ""
    workflow: str = ""
    commands: str = ""
    event_name: str = ""
    event: Mapping[str, Any] = field(default_factory=dict[str, Any])
    repository: str = ""
    run: int = 0
    api_url: str = "https://api.github.com"
    workspace: Path = Path()
    output: Path | None = None
    summary: Path | None = None

    @property
    def folder(self) -> Path:
        """Return the folder for what is written."""
        return Path(self.out)

    @property
    def pull(self) -> Mapping[str, Any]:
        """Return the event's pull request; empty when it has none."""
        found = self.event.get("pull_request")
        return found if isinstance(found, Mapping) else {}


def read(environment: Mapping[str, str]) -> Inputs:
    """Return the inputs. Raise `ConfigError` for one that does not fit."""
    given = {
        name: environment.get(f"INPUT_{name.upper()}", "").strip()
        for name in (
            "mode", "order", "policy", "budget", "evaluations", "min_speedup", "objective",
            "kernels", "seed", "device", "sandbox", "replay", "record", "out", "lock", "limit",
            "labels", "workflow", "commands",
        )
    }  # fmt: skip
    mode = given.pop("mode") or "optimize"
    if mode not in MODES:
        raise ConfigError(f"mode is {mode!r}", f"it is one of {', '.join(MODES)}")
    scratch = environment.get("RUNNER_TEMP") or "."
    run = environment.get("GITHUB_RUN_ID", "")
    return Inputs(
        mode=mode,
        token=environment.get("INPUT_GITHUB_TOKEN", "").strip(),
        **{**given, "out": given["out"] or str(Path(scratch) / "optiml")},
        event_name=environment.get("GITHUB_EVENT_NAME", ""),
        event=_event(environment.get("GITHUB_EVENT_PATH", "")),
        repository=environment.get("GITHUB_REPOSITORY", ""),
        run=int(run) if run.isdecimal() else 0,
        api_url=environment.get("GITHUB_API_URL") or "https://api.github.com",
        workspace=Path(environment.get("GITHUB_WORKSPACE") or "."),
        output=_path(environment.get("GITHUB_OUTPUT")),
        summary=_path(environment.get("GITHUB_STEP_SUMMARY")),
    )


def order_of(inputs: Inputs) -> Order:
    """Return the order as given, else one for the event the workflow runs for.

    Such an order's id and nonce follow from the run, so that a later job can tell them, too.
    Raise `ConfigError` when neither says what is to be reviewed.
    """
    if inputs.order:
        found = orders.from_json(inputs.order)
        if found.repository.lower() != inputs.repository.lower():
            here = inputs.repository or "no repository"
            raise ConfigError(f"the order is for {found.repository}, this is {here}")
        return found
    number, base, head = _reviewed(inputs)
    return make_order(inputs, number, base, head, *identity(inputs.repository, inputs.run))


def make_order(
    inputs: Inputs, number: int | None, base: str, head: str, name: str = "", nonce: str = ""
) -> Order:
    """Return an order with the inputs' wishes; with an identity of its own unless one is given."""
    chosen = settings.load({
        "policy": inputs.policy or None,
        "objective": inputs.objective or None,
        "minutes": settings.minutes(inputs.budget) if inputs.budget else None,
        "evaluations": inputs.evaluations or None,
        "seed": inputs.seed or None,
    })  # fmt: skip
    kernels = tuple(line.strip() for line in inputs.kernels.splitlines() if line.strip())
    named = {"id": name, "nonce": nonce} if name else {}
    try:
        return Order(
            repository=inputs.repository,
            number=number,
            base=base,
            head=head,
            kernels=kernels,
            minutes=chosen.minutes,
            evaluations=chosen.evaluations,
            min_speedup=float(inputs.min_speedup) if inputs.min_speedup else None,
            objective=chosen.objective,
            policy=chosen.policy,
            seed=chosen.seed,
            **named,
        )
    except ValueError as error:
        raise ConfigError(f"this cannot be ordered: {error}") from error


def identity(repository: str, run: int) -> tuple[str, str]:
    """Return id and nonce of the order that a run places with itself."""
    texts = (f"optiml {part} {repository.lower()} {run}" for part in ("order", "nonce"))
    first, second = (hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts)
    return first, second


def _reviewed(inputs: Inputs) -> tuple[int | None, str, str]:
    event = inputs.event
    try:
        if inputs.pull:
            pull = inputs.pull
            return int(pull["number"]), str(pull["base"]["sha"]), str(pull["head"]["sha"])
        if inputs.event_name == "merge_group":
            group = event["merge_group"]
            return None, str(group["base_sha"]), str(group["head_sha"])
        if inputs.event_name == "push":
            return None, str(event["before"]), str(event["after"])
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"the event {inputs.event_name!r} is not as GitHub sends it") from error
    if not inputs.event_name:
        raise ConfigError(
            "GITHUB_EVENT_NAME is not set: this command runs in a job of a GitHub workflow",
            "elsewhere use `optiml review`",
        )
    raise ConfigError(
        f"the event {inputs.event_name!r} does not say what is to be reviewed",
        "run it for pull_request, merge_group or push, or pass the input `order`",
    )


def _event(name: str) -> Mapping[str, Any]:
    if not name:
        return {}
    try:
        with Path(name).open("rb") as file:
            data = json.loads(file.read(_LARGEST_EVENT))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError("GITHUB_EVENT_PATH holds no event", "is this run by GitHub?") from error
    return data if isinstance(data, dict) else {}


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None
