"""Check runs of ours on GitHub: one for each order, begun at once and always ended."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from typing import Any

from bot.checks import SUMMARY, shortened
from bot.github_errors import Unreachable
from bot.github_paths import at
from bot.github_session import GithubSession
from bot.interfaces import Closing

NAME = "OptiML"
_SETTLING = 1.0  # seconds after which a write whose answer never came ought to be seen


class CheckRuns:
    """Opens, updates and closes check runs; an order's id is kept in `external_id`."""

    def __init__(self, session: GithubSession, sleep: Callable[[float], None] = time.sleep) -> None:
        self._session, self._sleep = session, sleep

    def open(
        self,
        repository: str,
        head: str,
        order_id: str,
        text: str,
        url: str,
        *,
        is_new: bool = False,
    ) -> int:
        """Return the check run of an order; it is created where there is none.

        It is not looked for when `is_new` tells that there can be none.
        """
        known = None if is_new else self._of_order(repository, head, order_id)
        if known is not None:
            return known
        body: dict[str, Any] = {
            "name": NAME,
            "head_sha": head,
            "status": "in_progress",
            "external_id": order_id,
            "started_at": _now(),
            "output": {"title": "Looking for faster kernels", "summary": _summary(text)},
        }
        if url:
            body["details_url"] = url
        path = at(repository, "check-runs")
        try:
            return int(
                self._session.request("POST", path, repository=repository, body=body).data["id"]
            )
        except Unreachable:
            self._sleep(_SETTLING)
            known = self._of_order(repository, head, order_id)
            if known is not None:
                return known
        return int(self._session.request("POST", path, repository=repository, body=body).data["id"])

    def update(self, repository: str, check_id: int, text: str) -> None:
        """Replace the summary; the state stays what it is."""
        output = {"title": "Looking for faster kernels", "summary": _summary(text)}
        self._patch(repository, check_id, {"output": output})

    def close(self, repository: str, check_id: int, closing: Closing) -> None:
        """Complete it with conclusion, words and buttons."""
        buttons = [
            {"label": one.label, "description": one.description, "identifier": one.identifier}
            for one in closing.actions
        ]
        body: dict[str, Any] = {
            "status": "completed",
            "conclusion": closing.conclusion,
            "completed_at": _now(),
            "output": {"title": closing.title, "summary": _summary(closing.summary)},
            "actions": buttons,
        }
        self._patch(repository, check_id, body)

    def _patch(self, repository: str, check_id: int, body: dict[str, Any]) -> None:
        path = at(repository, "check-runs", check_id)
        self._session.request("PATCH", path, repository=repository, body=body, repeat=True)

    def _of_order(self, repository: str, head: str, order_id: str) -> int | None:
        path = at(repository, "commits", head, "check-runs")
        runs = self._session.pages(
            path,
            repository=repository,
            query={"check_name": NAME, "filter": "all"},
            key="check_runs",
        )
        return next((int(one["id"]) for one in runs if one.get("external_id") == order_id), None)


def _summary(text: str) -> str:
    return shortened(text, SUMMARY)


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
