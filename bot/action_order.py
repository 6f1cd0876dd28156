"""Mode `order`: start the GPU workflow for a pull request or a comment, without a server.

Runs on GitHub's machines with a token that may start workflows, and never touches the pull
request's files. Who may order what is as for the App.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from bot import action_inputs, commands
from bot.action_inputs import Inputs
from bot.commands import Approve, Help, Mistake, Optimize
from bot.interfaces import PullState
from bot.job_summary import add_summary
from bot.markdown import code, prose
from bot.orders import Bench, Order
from optimizer.errors import ConfigError

SKIP = "optiml:skip"
_RANK = {"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}


class Desk(Protocol):
    """What is asked of GitHub here; a `Hub` does it."""

    def pull(self, repository: str, number: int) -> PullState:
        """Return the pull request's state now."""
        ...

    def permission(self, repository: str, login: str) -> str:
        """Return admin, maintain, write, triage, read or none."""
        ...

    def react(self, repository: str, comment_id: int, content: str) -> None:
        """React to a comment."""
        ...

    def reply(self, repository: str, number: int, markdown: str, key: str) -> None:
        """Write a comment once for each key."""
        ...


class OrderBench(Bench, Protocol):
    """A bench that newer orders for a pull request take over."""

    def cancel_older(self, order: Order) -> int:
        """Cancel other orders for the same pull request; return how many."""
        ...


def place(inputs: Inputs, hub: Desk, bench: OrderBench, say: Callable[[str], None]) -> None:
    """Order a review for the event, or say why not: in the log, the summary, and to who asked."""
    if inputs.event_name == "issue_comment":
        _on_comment(inputs, hub, bench, say)
    elif inputs.pull:
        _on_pull(inputs, hub, bench, say)
    else:
        raise ConfigError(
            f"the event {inputs.event_name!r} orders nothing",
            "run this mode for pull_request and issue_comment",
        )


def _on_pull(inputs: Inputs, hub: Desk, bench: OrderBench, say: Callable[[str], None]) -> None:
    state = hub.pull(inputs.repository, int(inputs.pull["number"]))
    reason = _not_now(state)
    if reason:
        _tell(inputs, say, f"Not reviewed: {reason}")
        return
    order = action_inputs.make_order(inputs, state.number, state.base, state.head)
    _start(inputs, order, bench, say)


def _not_now(state: PullState) -> str:
    if state.state != "open":
        return "the pull request is closed."
    if state.fork:
        return (
            "it comes from a fork, whose code runs on a GPU only when somebody with write access "
            f"comments {code(f'/optiml approve {state.head}')}."
        )
    if state.draft:
        return "it is a draft; mark it ready, or comment `/optiml optimize`."
    if SKIP in state.labels:
        return f"it has the label `{SKIP}`."
    return ""


def _on_comment(inputs: Inputs, hub: Desk, bench: OrderBench, say: Callable[[str], None]) -> None:
    event = inputs.event
    comment: Mapping[str, Any] = event.get("comment") or {}
    issue: Mapping[str, Any] = event.get("issue") or {}
    user: Mapping[str, Any] = comment.get("user") or {}
    command = commands.parse(str(comment.get("body") or ""))
    if (
        command is None
        or event.get("action") != "created"  # an edited comment is an old one made a command
        or not issue.get("pull_request")
        or user.get("type") == "Bot"
    ):
        say("no command")
        return
    repository, number = inputs.repository, int(issue["number"])
    hub.react(repository, int(comment["id"]), "eyes")
    answer = _obeyed(inputs, command, str(user["login"]), number, hub, bench, say)
    if answer:
        hub.reply(repository, number, answer, f"comment-{comment['id']}")
        _tell(inputs, say, answer)


def _obeyed(
    inputs: Inputs,
    command: commands.Command | Mistake,
    login: str,
    number: int,
    hub: Desk,
    bench: OrderBench,
    say: Callable[[str], None],
) -> str:
    """Do what a command asks; return what to answer, empty when the review itself will."""
    if isinstance(command, Mistake):
        return f"{command.message}: {command.remedy}."
    if isinstance(command, Help):
        return "`/optiml optimize [KERNEL|PATH] [--budget 10m]` · `/optiml approve SHA` (forks)"
    if not isinstance(command, Optimize | Approve):
        return (
            f"{code(f'/optiml {command.verb}')} needs the OptiML App; this repository has the "
            "Action, which knows `optimize` and `approve`."
        )
    state = hub.pull(inputs.repository, number)
    needed = "write" if isinstance(command, Approve) or state.fork else "triage"
    has = hub.permission(inputs.repository, login)
    if _RANK.get(has, 0) < _RANK[needed]:
        return (
            f"{code(f'/optiml {command.verb}')} needs the permission {needed} on "
            f"{prose(inputs.repository)}; {prose(login)} has {prose(has)}."
        )
    refusal = _refused(command, state)
    if refusal:
        return refusal
    order = action_inputs.make_order(inputs, number, state.base, state.head)
    _start(inputs, _wished(order, command), bench, say)
    return ""


def _refused(command: Optimize | Approve, state: PullState) -> str:
    if state.state != "open":
        return "This pull request is closed."
    if isinstance(command, Approve) and command.sha != state.head:
        return (
            f"The head is {code(state.head)} by now: look at it and approve that one. An approval "
            "is for one commit."
        )
    if isinstance(command, Optimize) and state.fork:
        return (
            "This pull request comes from a fork: its code runs on a GPU only after "
            f"{code(f'/optiml approve {state.head}')}."
        )
    return ""


def _wished(order: Order, command: Optimize | Approve) -> Order:
    if isinstance(command, Approve):
        return order
    return replace(
        order,
        kernels=(command.target,) if command.target else order.kernels,
        minutes=command.minutes or order.minutes,
        min_speedup=command.min_speedup or order.min_speedup,
        objective=command.objective or order.objective,
    )


def _start(inputs: Inputs, order: Order, bench: OrderBench, say: Callable[[str], None]) -> None:
    bench.cancel_older(order)
    handle = bench.start(order)
    url = bench.poll(handle).url
    _tell(inputs, say, f"Ordered a review of {code(order.head)}: {url or 'see the Actions tab'}")


def _tell(inputs: Inputs, say: Callable[[str], None], text: str) -> None:
    say(text)
    add_summary(inputs.summary, f"{text}\n")
