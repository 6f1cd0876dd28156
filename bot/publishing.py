"""What we have written on a pull request: one comment, suggestions, replies. Nothing twice.

Ours is what carries one of our markers and was written by our own numeric id: anybody can write a
marker. Every write first looks for what an earlier attempt left, also after an answer that never
came.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot import wording
from bot.checks import shortened
from bot.comment import LIMIT
from bot.github_errors import GithubError, Unreachable
from bot.github_paths import at
from bot.github_session import GithubSession
from bot.markdown import length
from bot.suggestion import Suggestion

SUGGESTION = "<!-- optiml:suggestion"
RETIRED = "<!-- optiml:retired -->"
_KEY = re.compile(r"<!-- optiml:suggestion ([0-9a-f]{16}) -->")
_SETTLING = 1.0  # seconds after which a write whose answer never came ought to be seen
_MOST_RETIRED = 20


@dataclass(frozen=True, slots=True)
class Written:
    """A comment of ours."""

    id: int
    url: str
    body: str


class Conversation:
    """Our part of the conversation on one pull request. Comments are listed once."""

    def __init__(
        self,
        session: GithubSession,
        repository: str,
        number: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._session, self._repository, self._number = session, repository, number
        self._sleep = sleep
        self._listed: list[Mapping[str, Any]] | None = None

    def find(self, marker: str) -> Written | None:
        """Return our comment with a marker, the oldest where there are several."""
        author = self._session.author(self._repository)
        for one in self._comments():
            if _author(one) == author and str(one.get("body") or "").startswith(marker):
                return _written(one)
        return None

    def say(self, marker: str, text: str) -> Written:
        """Write the comment with a marker, or edit the one there is; an equal one is left alone.

        A text too long for GitHub is cut.
        """
        body = _marked(marker, text)
        found = self.find(marker)
        if found is not None:
            return self._edited(found, body)
        path = at(self._repository, "issues", self._number, "comments")

        def write() -> Written:
            reply = self._session.request(
                "POST", path, repository=self._repository, body={"body": body}
            )
            self._listed = [*(self._listed or ()), reply.data]
            return _written(reply.data)

        return self._once(write, lambda: self.find(marker))

    def say_once(self, marker: str, text: str) -> None:
        """Write a comment that is never edited nor written again."""
        if self.find(marker) is None:
            self.say(marker, text)

    def suggest(
        self, suggestions: Sequence[Suggestion], head: str, comment: str, *, was_here: bool
    ) -> None:
        """Post suggestions as one review of a commit; those that still stand are not repeated.

        `comment` is the address of the comment that explains them. Earlier ones that are no
        longer offered are marked as superseded. `was_here` False tells that we have written
        nothing here before. Raise `Refused` when GitHub takes a line for outside the diff.
        """
        before = self._suggested() if was_here else []
        standing = {key for key, one in before if one.get("line") is not None}
        wanted = {key_of(one): one for one in suggestions}
        fresh = [one for key, one in wanted.items() if key not in standing]
        if fresh:
            self._review(fresh, head, comment)
        old = [one for key, one in before if key not in wanted or one.get("line") is None]
        for one in old[:_MOST_RETIRED]:
            self._retire(one, comment)

    # -- one by one --------------------------------------------------------------------------------

    def _comments(self) -> list[Mapping[str, Any]]:
        if self._listed is None:
            path = at(self._repository, "issues", self._number, "comments")
            self._listed = list(self._session.pages(path, repository=self._repository))
        return self._listed

    def _edited(self, found: Written, body: str) -> Written:
        if found.body.replace("\r\n", "\n").rstrip() == body.rstrip():
            return found
        path = at(self._repository, "issues", "comments", found.id)
        reply = self._session.request(
            "PATCH", path, repository=self._repository, body={"body": body}, repeat=True
        )
        self._listed = [reply.data if one["id"] == found.id else one for one in self._listed or ()]
        return _written(reply.data)

    def _once(self, write: Callable[[], Written], find: Callable[[], Written | None]) -> Written:
        """Write; where no answer came, look whether it was done before doing it once more."""
        try:
            return write()
        except Unreachable:
            self._sleep(_SETTLING)
            self._listed = None
            found = find()
            return found if found is not None else write()

    def _suggested(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return our suggestions of earlier reviews that were not retired, by key."""
        author = self._session.author(self._repository)
        path = at(self._repository, "pulls", self._number, "comments")
        found = []
        for one in self._session.pages(path, repository=self._repository):
            body = str(one.get("body") or "")
            match = _KEY.search(body)
            if match and _author(one) == author and RETIRED not in body:
                found.append((match[1], one))
        return found

    def _review(self, suggestions: Sequence[Suggestion], head: str, comment: str) -> None:
        path = at(self._repository, "pulls", self._number, "reviews")
        many = len(suggestions) > 1
        words = "; add them to one batch, for they were measured together" if many else ""
        number = wording.count(len(suggestions), "suggestion")
        body = {
            "commit_id": head,
            "event": "COMMENT",
            "body": f"{number} from [the measurements]({comment}){words}.",
            "comments": [_placed(one) for one in suggestions],
        }

        def write() -> Written:
            reply = self._session.request("POST", path, repository=self._repository, body=body)
            return Written(int(reply.data["id"]), "", "")

        def find() -> Written | None:
            there = {key for key, _ in self._suggested()}
            done = all(key_of(one) in there for one in suggestions)
            return Written(0, "", "") if done else None

        self._once(write, find)

    def _retire(self, one: Mapping[str, Any], comment: str) -> None:
        path = at(self._repository, "pulls", "comments", int(one["id"]))
        match = _KEY.search(str(one["body"]))
        body = (
            f"Superseded: this edit was measured on an older commit. See [the comment]({comment})."
            f"\n\n{RETIRED}{match[0] if match else ''}"
        )
        try:
            self._session.request(
                "PATCH", path, repository=self._repository, body={"body": body}, repeat=True
            )
        except Unreachable:
            raise
        except GithubError:
            return  # somebody deleted it, or locked the conversation: nothing to take back


def key_of(suggestion: Suggestion) -> str:
    """Identify a suggestion by where it stands and what it says: 16 hexadecimal digits."""
    place = f"{suggestion.path}\0{suggestion.start}\0{suggestion.line}\0"
    text = place + "\n".join(suggestion.lines) + f"\0{len(suggestion.lines)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _placed(one: Suggestion) -> dict[str, Any]:
    found: dict[str, Any] = {
        "path": one.path,
        "side": "RIGHT",
        "line": one.line,
        "body": f"{one.body}\n\n{SUGGESTION} {key_of(one)} -->",
    }
    if one.start != one.line:  # GitHub refuses a range of one line
        found |= {"start_line": one.start, "start_side": "RIGHT"}
    return found


def _marked(marker: str, text: str) -> str:
    body = text if text.startswith(marker) else f"{marker}\n{text}"
    return body if length(body) <= LIMIT else shortened(body, LIMIT)


def _author(one: Mapping[str, Any]) -> int | None:
    return (one.get("user") or {}).get("id")


def _written(data: Mapping[str, Any]) -> Written:
    return Written(int(data["id"]), str(data.get("html_url") or ""), str(data.get("body") or ""))
