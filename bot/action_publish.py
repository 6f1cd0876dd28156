"""Mode `publish`: what a GPU job found, held against GitHub and posted, with no code run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from bot import action_inputs, artifacts, bundle
from bot.action_inputs import Inputs
from bot.comment import Door, compose
from bot.github_errors import Stale
from bot.interfaces import Api, Forge, Pull, PullState, Reviewed
from bot.job_summary import add_summary, summary_of
from bot.orders import BundleError, Order
from bot.vouching import vouched
from optimizer.errors import RunnerError

_WORKFLOWS = ".github/"
TAKE_IT = "The patch is among this run's artifacts; take it with `git apply`."


class Desk(Protocol):
    """What is asked of GitHub here; a `Hub` does it."""

    def pull(self, repository: str, number: int) -> PullState:
        """Return the pull request's state now."""
        ...

    def pulls_of(self, repository: str, sha: str) -> tuple[int, ...]:
        """Return open pull requests whose head is a commit, those of forks too."""
        ...

    def paths_of(self, repository: str, number: int) -> tuple[str, ...] | None:
        """Return all paths a pull request touches, None where GitHub does not list them all."""
        ...

    def forge(self, repository: str, number: int) -> Forge:
        """Return the forge of a pull request."""
        ...


def publish(
    inputs: Inputs,
    api: Api,
    hub: Desk,
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Post what the bundle of a run says of a pull request that has not moved since.

    Raise what the GPU job failed with, and `BundleError` when its bundle is not to be trusted. The
    job summary has all that is posted, also where the token may not post.
    """
    run = _run(inputs)
    data = artifacts.fetch(api, inputs.repository, run, sleep=sleep)
    if data is None:
        raise RunnerError(
            f"run {run} has no artifact {artifacts.NAME!r}", "the GPU job ended before it wrote one"
        )
    order = _expected(inputs, run, data, hub)
    results = bundle.read(data, order)
    if order.number is None:
        add_summary(inputs.summary, summary_of(results, Door("the base", commands=False)))
        say("this is no pull request: the results are in the job summary")
        return
    state = hub.pull(order.repository, order.number)
    if state.head != order.head or state.state != "open":
        words = "is closed" if state.state != "open" else f"is at {state.head} by now"
        say(f"nothing is posted: the pull request {words}")
        return
    try:
        _post(inputs, order, state, results, hub, say)
    except Stale as error:
        say(f"nothing is posted: {error.message}")


def _post(
    inputs: Inputs,
    order: Order,
    state: PullState,
    results: tuple[Reviewed, ...],
    hub: Desk,
    say: Callable[[str], None],
) -> None:
    pull = Pull(state.base, order.head, order.repository, order.number)
    forge = hub.forge(order.repository, order.number or 0)
    believed = vouched(results, forge.changed_kernels(pull))
    obeyed = inputs.commands == "true"
    door = Door(state.base_ref, commands=obeyed, apply="" if obeyed else TAKE_IT)
    report = compose(believed, door)
    add_summary(inputs.summary, summary_of(believed, door))
    if report.markdown is None:
        say("nothing is posted: no changed kernel got slower, and none can be made faster")
    forge.publish(pull, report)


def _run(inputs: Inputs) -> int:
    """Return the run whose artifact it is: the one that triggered this, else this one."""
    trigger = inputs.event.get("workflow_run") if inputs.event_name == "workflow_run" else None
    if isinstance(trigger, Mapping) and isinstance(trigger.get("id"), int):
        return int(trigger["id"])
    return inputs.run


def _expected(inputs: Inputs, run: int, data: bytes, hub: Desk) -> Order:
    """Return the order the bundle has to answer.

    After a run of a pull request the order is what that run placed with itself. How long it
    searched is its own affair; which repository, head and pull request it is about is not.
    """
    if inputs.order:
        return action_inputs.order_of(inputs)
    claimed = bundle.order_in(data)
    name, nonce = action_inputs.identity(inputs.repository, run)
    if (claimed.id, claimed.nonce) != (name, nonce) or claimed.repository != inputs.repository:
        raise BundleError("the bundle answers another order than this run's")
    if inputs.event_name == "workflow_run":
        head = str(inputs.event["workflow_run"].get("head_sha", ""))
        known = hub.pulls_of(inputs.repository, head)
        fits = claimed.head == head and (claimed.number in known or claimed.number is None)
        if fits and claimed.number is not None:
            _check_workflow(inputs.repository, claimed.number, hub)
    else:
        own = action_inputs.order_of(inputs)
        fits = (claimed.head, claimed.number) == (own.head, own.number)
    if not fits:
        raise BundleError("the bundle is about another commit or pull request than this run")
    return claimed


def _check_workflow(repository: str, number: int, hub: Desk) -> None:
    """Raise `BundleError` when a fork's run may have been of a workflow of its own.

    Such a run is of the workflow as the pull request has it, and is known to us by its name alone.
    One that was changed need not have searched or measured anything: its figures are the author's.
    """
    paths = hub.paths_of(repository, number)
    if paths is None or any(path.startswith(_WORKFLOWS) for path in paths):
        raise BundleError(
            "the pull request may change the workflow that measured it, so its figures are not "
            "posted",
            "propose workflows and kernels in different pull requests",
        )
