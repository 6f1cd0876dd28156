"""`optiml action`: one entry for the jobs of a workflow. docs/action.md shows how they go together.

* optimize  on a GPU, without a token: reviews a checkout and writes a bundle to be uploaded
* publish   without a GPU, with a token: holds a bundle against GitHub and posts what it says
* order     without a GPU, with a token: starts the GPU workflow for an event or a comment
"""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bot import action_inputs, gpu_review, settings
from bot.action_inputs import Inputs
from bot.bundle import Failure
from bot.comment import Door
from bot.gpu_review import Plane
from bot.job_summary import add_summary, no_commands, set_outputs, summary_of
from bot.markdown import phrase
from bot.wording import significant
from optimizer.errors import ConfigError, OptimlError
from runners.fault import Fault
from runners.wire import unwrap

if TYPE_CHECKING:
    from bot.github_session import GithubSession

_COMMAND = "optiml action (mode: optimize)"


def main(environment: Mapping[str, str], complain: Callable[[str, str], None]) -> int:
    """Do what the inputs say and return the exit status; nothing printed is obeyed by the runner.

    `complain` prints an error with its remedy.
    """
    with no_commands():
        try:
            act(environment)
        except OptimlError as error:
            complain(error.message, error.remedy)
            return error.exit_code
        except Exception as error:  # noqa: BLE001 - the last resort of a command line
            traceback.print_exc()
            complain(f"unexpected: {type(error).__name__}", "the log above says where")
            return 1
    return 0


def act(environment: Mapping[str, str]) -> None:
    """Do what the inputs say. Raise what fails, after it was told in the job summary."""
    inputs = action_inputs.read(environment)
    try:
        try:
            _MODES[inputs.mode](inputs)
        except Fault as fault:
            unwrap(fault)
    except OptimlError as error:
        add_summary(inputs.summary, _failed(error))
        raise


def _optimize(inputs: Inputs) -> None:
    order = action_inputs.order_of(inputs)
    done = gpu_review.carry_out(
        order,
        Plane(
            inputs.workspace,
            inputs.folder,
            _path(inputs.replay),
            _path(inputs.record),
            _path(inputs.lock),
            settings.minutes(inputs.limit) if inputs.limit else math.inf,
        ),
        _settings(inputs),
        command=_COMMAND,
        say=_say,
    )
    door = Door(order.base[:12], commands=False, apply="The patch is in this run's files.")
    add_summary(inputs.summary, summary_of(done.report.results, door))
    set_outputs(
        inputs.output,
        {
            "speedup": significant(done.best.value, 4) if done.best else "",
            "patch": str(done.patch or ""),
            "report": str(done.page or ""),
            "bundle": str(inputs.folder / gpu_review.BUNDLE),
        },
    )


def _settings(inputs: Inputs) -> settings.Settings:
    """Return how the GPU plane works: strangers' code, so never without isolation by default.

    Nor with a memory: on a runner that lives on, what one pull request taught would decide what
    is tried for the next, and tell of it.
    """
    before = settings.surroundings()
    remembers = "on" if before.get("OPTIML_MEMORY_URL") else "off"
    return settings.load({
        "device": inputs.device or None,
        "sandbox": inputs.sandbox or before.get("OPTIML_SANDBOX") or "strict",
        "memory": before.get("OPTIML_MEMORY") or remembers,
    })  # fmt: skip


def _publish(inputs: Inputs) -> None:
    from bot import action_publish
    from bot.github import GithubHub

    with _session(inputs) as session:
        hub = GithubHub(
            session,
            commands=inputs.commands == "true",
            apply=action_publish.TAKE_IT,
            unposted=lambda text: add_summary(inputs.summary, f"{text}\n"),
        )
        action_publish.publish(inputs, session, hub, _say)


def _order(inputs: Inputs) -> None:
    from bot import action_order
    from bot.benches import labels_of
    from bot.github import GithubHub
    from bot.workflow import WORKFLOW, WorkflowBench, Workplace

    with _session(inputs) as session:
        place = Workplace(
            inputs.workflow or WORKFLOW,
            labels=labels_of(inputs.labels),
            publishes=True,
            run_details=session.capabilities.run_details,
        )
        action_order.place(inputs, GithubHub(session), WorkflowBench(session, place), _say)


def _session(inputs: Inputs) -> GithubSession:
    # Not imported at the top: a GPU job speaks to nobody, and needs nothing installed for that.
    from bot.github_session import GithubSession

    if not inputs.token:
        raise ConfigError(
            f"mode {inputs.mode} needs a token", "pass `github-token: ${{ github.token }}`"
        )
    return GithubSession(inputs.api_url, token=inputs.token)


def _failed(error: OptimlError) -> str:
    kinds = {
        "config": "Nothing was reviewed",
        "baseline": "The unedited kernel fails",
        "runner": "The machinery failed; this says nothing of the kernels",
        "unexpected": "Nothing came of it",
    }
    remedy = f"\n\n{phrase(error.remedy)}" if error.remedy else ""
    return f"### {kinds[Failure.of(error).kind]}\n\n{phrase(error.message)}{remedy}\n"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _path(text: str) -> Path | None:
    return Path(text) if text else None


_MODES: Mapping[str, Callable[[Inputs], None]] = {
    "optimize": _optimize,
    "publish": _publish,
    "order": _order,
}
