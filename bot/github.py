"""GitHub as the service sees it: state read from the API, every write safe to be repeated."""

from __future__ import annotations

import datetime as dt
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from bot.check_runs import CheckRuns
from bot.comment import MARKER, Door
from bot.commits import Committer
from bot.github_errors import Denied, Missing, Refused
from bot.github_files import MOST_FILES, Library, files_of
from bot.github_forge import GithubForge
from bot.github_paths import at
from bot.github_session import GithubSession
from bot.interfaces import Closing, Delivery, PullState, Reviewed
from bot.publishing import Conversation

RANKS = ("none", "read", "triage", "write", "maintain", "admin")
_BY_RIGHT = {"pull": "read", "triage": "triage", "push": "write"}
REACTIONS = frozenset({"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"})
_FORGES = 64
_OPEN_PAGES = 5  # pages of open pull requests looked through for a commit of a fork


class GithubHub:
    """A `Hub`. Safe to use from several threads.

    `commands` tells that slash commands are obeyed here; `apply` says otherwise how to take a
    change. `unposted` takes what could not be posted for want of a permission.
    """

    def __init__(
        self,
        session: GithubSession,
        *,
        commands: bool = True,
        apply: str = "",
        unposted: Callable[[str], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._session, self._sleep = session, sleep
        self._commands, self._apply, self._unposted = commands, apply, unposted
        self._library = Library(session)
        self._checks = CheckRuns(session, sleep)
        self._committer = Committer(session, self._library)
        self._lock = threading.Lock()
        self._forges: OrderedDict[tuple[str, int], GithubForge] = OrderedDict()
        self._base_refs: OrderedDict[tuple[str, int], str] = OrderedDict()

    # -- what is -----------------------------------------------------------------------------------

    def pull(self, repository: str, number: int) -> PullState:
        """Return the pull request's state now."""
        reply = self._session.request("GET", at(repository, "pulls", number), repository=repository)
        state = pull_state(reply.data, repository)
        with self._lock:
            _remember(self._base_refs, (repository.lower(), number), state.base_ref)
        return state

    def pulls_of(self, repository: str, sha: str) -> tuple[int, ...]:
        """Return open pull requests whose head is a commit, those of forks too."""
        path = at(repository, "commits", sha, "pulls")
        try:
            found = _headed(self._session.pages(path, repository=repository), sha)
        except (Missing, Refused):
            found = ()  # a commit that only a fork has
        if found:
            return found
        every = self._session.pages(
            at(repository, "pulls"),
            repository=repository,
            query={"state": "open", "sort": "updated", "direction": "desc"},
            limit=_OPEN_PAGES,
        )
        return _headed(every, sha)

    def paths_of(self, repository: str, number: int) -> tuple[str, ...] | None:
        """Return all paths a pull request touches, None where GitHub does not list them all."""
        files = list(files_of(self._session, repository, number))
        if len(files) >= MOST_FILES:
            return None
        names = ("filename", "previous_filename")
        return tuple(str(one[name]) for one in files for name in names if one.get(name))

    def permission(self, repository: str, login: str) -> str:
        """Return admin, maintain, write, triage, read or none."""
        path = at(repository, "collaborators", login, "permission")
        try:
            data = self._session.request("GET", path, repository=repository).data
        except Missing:
            return "none"
        rights = (data.get("user") or {}).get("permissions") or {}
        held = [_BY_RIGHT.get(name, name) for name, is_held in rights.items() if is_held]
        named = [str(data.get(name) or "") for name in ("role_name", "permission")]
        known = [RANKS.index(name) for name in (*held, *named) if name in RANKS]
        return RANKS[max(known, default=0)]

    # -- what is written ---------------------------------------------------------------------------

    def react(self, repository: str, comment_id: int, content: str) -> None:
        """React to a comment; GitHub keeps one of a kind from each of us."""
        if content not in REACTIONS:
            raise Refused(f"{content!r} is no reaction", f"one of {', '.join(sorted(REACTIONS))}")
        path = at(repository, "issues", "comments", comment_id, "reactions")
        self._session.request(
            "POST", path, repository=repository, body={"content": content}, repeat=True
        )

    def reply(self, repository: str, number: int, markdown: str, key: str) -> None:
        """Write a comment once for each key; later calls edit it."""
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        marker = f"<!-- optiml:reply {digest} -->"
        self._talk(repository, number).say(marker, markdown)

    def comment_url(self, repository: str, number: int) -> str:
        """Return the address of our comment on a pull request; empty when there is none."""
        known = self._forges.get((repository.lower(), number))
        if known is not None and known.url:
            return known.url
        found = self._talk(repository, number).find(MARKER)
        return found.url if found else ""

    def open_check(
        self,
        repository: str,
        head: str,
        order_id: str,
        text: str,
        *,
        url: str = "",
        is_new: bool = False,
    ) -> int:
        """Create the check run of an order in progress, or return the one it has."""
        return self._checks.open(repository, head, order_id, text, url, is_new=is_new)

    def update_check(self, repository: str, check_id: int, text: str) -> None:
        """Replace the summary of a check run in progress."""
        self._checks.update(repository, check_id, text)

    def close_check(self, repository: str, check_id: int, closing: Closing) -> None:
        """Complete a check run."""
        self._checks.close(repository, check_id, closing)

    def forge(self, repository: str, number: int) -> GithubForge:
        """Return the forge of a pull request: its changed kernels and its comment."""
        key = (repository.lower(), number)
        with self._lock:
            door = Door(self._base_refs.get(key, "the base"), self._commands, self._apply)
            found = self._forges.get(key)
            if found is None:
                found = GithubForge(
                    self._session, self._library, repository, number, self._unposted, self._sleep
                )
            found.door = door
            _remember(self._forges, key, found)
            return found

    def apply(
        self,
        repository: str,
        number: int,
        reviewed: Reviewed,
        *,
        head: str,
        squash: bool = False,
        by: str = "",
    ) -> str:
        """Commit a measured winner; see `bot.commits`."""
        state = self.pull(repository, number)
        if state.fork and state.head_repository and not self._lets_in(state, by):
            raise Denied(
                f"{state.head_repository} is somebody else's and does not let maintainers edit",
                "commit the suggestions, or `git apply` the diff of the comment",
            )
        return self._committer.apply(repository, state, reviewed, head=head, squash=squash, by=by)

    # -- deliveries --------------------------------------------------------------------------------

    def deliveries(self, since: float) -> tuple[Delivery, ...]:
        """Return webhook deliveries since a time whose last attempt failed, oldest first."""
        seen: set[str] = set()
        failed = []
        for one in self._session.pages("/app/hook/deliveries"):
            sent = _seconds(one["delivered_at"])
            if sent < since:
                break  # they come newest first
            guid = str(one["guid"])
            if guid not in seen and not 200 <= int(one["status_code"]) < 300:
                failed.append(Delivery(int(one["id"]), guid, str(one["event"]), sent))
            seen.add(guid)
        return tuple(reversed(failed))

    def redeliver(self, delivery_id: int) -> None:
        """Ask GitHub to send a delivery again; twice does no harm, for the GUID is the same."""
        self._session.request("POST", f"/app/hook/deliveries/{delivery_id}/attempts", repeat=True)

    def _lets_in(self, state: PullState, by: str) -> bool:
        """Tell whether who asked may push to a fork's branch, whatever the App may do there.

        The App may be installed on a repository whose owners never heard of this pull request:
        anybody can open one from its branch onto a fork of their own. So its right counts for
        nothing; GitHub lets an author hand theirs on ("Allow edits from maintainers"), or who asks
        has one.
        """
        if state.is_editable:
            return True
        try:
            held = self.permission(state.head_repository, by) if by else "none"
        except Denied:
            return False  # the App is not there, so there is nothing to push with
        return RANKS.index(held) >= RANKS.index("write")

    def _talk(self, repository: str, number: int) -> Conversation:
        return Conversation(self._session, repository, number, self._sleep)


def pull_state(data: Mapping[str, Any], repository: str) -> PullState:
    """Read a pull request as GitHub's API gives it."""
    head, base = data["head"], data["base"]
    source = str((head.get("repo") or {}).get("full_name") or "")
    author = data.get("user") or {}
    return PullState(
        number=int(data["number"]),
        head=str(head["sha"]),
        base=str(base["sha"]),
        base_ref=str(base["ref"]),
        draft=bool(data.get("draft")),
        fork=source.lower() != repository.lower(),
        labels=tuple(str(one["name"]) for one in data.get("labels") or ()),
        state=str(data["state"]),
        author_id=int(author.get("id") or 0),
        author=str(author.get("login") or ""),
        head_ref=str(head["ref"]),
        head_repository=source,
        is_editable=bool(data.get("maintainer_can_modify")),
    )


def _headed(pulls: Any, sha: str) -> tuple[int, ...]:
    return tuple(
        int(one["number"])
        for one in pulls
        if one["state"] == "open" and (one.get("head") or {}).get("sha") == sha
    )


def _remember(known: OrderedDict[tuple[str, int], Any], key: tuple[str, int], value: Any) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > _FORGES:
        known.popitem(last=False)


def _seconds(text: str) -> float:
    return dt.datetime.fromisoformat(text).timestamp()
