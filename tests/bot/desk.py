"""A hub with one pull request, and what was done to it; for tests of who asks what of GitHub."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from bot.interfaces import Change, Forge, Pull, PullState, Report
from tests.bot.ordered import BASE, HEAD, change_at_head


class Desk:
    """The part of a `Hub` that the Action needs and, for its one pull request, a `Forge`."""

    def __init__(self, **state: object) -> None:
        self.state = dataclasses.replace(
            PullState(7, HEAD, BASE, "main"),
            **state,  # type: ignore[arg-type]
        )
        self.permissions = {"writer": "write", "triager": "triage", "reader": "read"}
        self.reactions: list[tuple[int, str]] = []
        self.replies: dict[str, str] = {}
        self.published: list[Report] = []
        self.paths: tuple[str, ...] | None = ("transpose.cu",)
        self.changes: tuple[Change, ...] = (change_at_head(),)

    def pull(self, repository: str, number: int) -> PullState:
        assert (repository, number) == ("owner/project", 7)
        return self.state

    def pulls_of(self, repository: str, sha: str) -> tuple[int, ...]:
        return (7,) if sha == self.state.head else ()

    def paths_of(self, repository: str, number: int) -> tuple[str, ...] | None:
        return self.paths

    def permission(self, repository: str, login: str) -> str:
        return self.permissions.get(login, "none")

    def react(self, repository: str, comment_id: int, content: str) -> None:
        self.reactions.append((comment_id, content))

    def reply(self, repository: str, number: int, markdown: str, key: str) -> None:
        self.replies[key] = markdown

    def forge(self, repository: str, number: int) -> Forge:
        return self

    def changed_kernels(self, pull: Pull) -> Sequence[Change]:
        assert pull == Pull(self.state.base, self.state.head, "owner/project", 7)
        return self.changes

    def publish(self, pull: Pull, report: Report) -> None:
        self.published.append(report)
