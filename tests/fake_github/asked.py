"""A request to the fake GitHub, and the table of what answers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fake_github.answers import Answer, Shapes, gone, unfit
from tests.fake_github.state import (
    Pull,
    Repository,
    State,
    Token,
    User,
)


@dataclass
class Asked:
    """One request: who asks, where, and with what."""

    method: str
    path: str
    query: dict[str, str]
    body: dict[str, Any]
    token: Token | None
    state: State
    shapes: Shapes
    hooks: dict[str, Any]
    parts: dict[str, str]

    @property
    def repository(self) -> Repository:
        found = self.state.repositories.get(f"{self.parts['o']}/{self.parts['r']}".lower())
        if found is None:
            raise gone()
        return found

    @property
    def pull(self) -> Pull:
        found = self.state.pulls.get((self.repository.name.lower(), int(self.parts["n"])))
        if found is None:
            raise gone()
        return found

    @property
    def author(self) -> User:
        assert self.token is not None
        return self.token.user

    def need(self, *names: str) -> None:
        for name in names:
            if self.body.get(name) in (None, ""):
                raise unfit(
                    "Validation Failed", {"resource": "x", "field": name, "code": "missing_field"}
                )

    def page(self, items: list[Any]) -> Answer:
        size = min(int(self.query.get("per_page", "30")), 100)
        number = int(self.query.get("page", "1"))
        headers = {}
        if number * size < len(items):
            query = {**self.query, "page": str(number + 1)}
            text = "&".join(f"{name}={value}" for name, value in query.items())
            headers["link"] = f'<{self.shapes.url}{self.path}?{text}>; rel="next"'
        return Answer(200, items[(number - 1) * size : number * size], headers)


Handler = Callable[[Asked], Answer]

ROUTES: list[tuple[str, re.Pattern[str], str, str, Handler]] = []


def route(
    method: str, path: str, permission: str = "", level: str = "read"
) -> Callable[[Handler], Handler]:
    """Register a handler; `permission` empty means the App's JWT, `any` any token, `-` nobody."""
    pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path) + r"\Z")

    def keep(handler: Handler) -> Handler:
        ROUTES.append((method, pattern, permission, level, handler))
        return handler

    return keep
