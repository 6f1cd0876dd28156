"""A measured winner as commits on a pull request's branch, through GitHub's Git data API.

One commit for each kept edit, so that the history is the trajectory; each says what it gained by
itself. The branch is only ever moved forward, from the commit that was read. What is committed is
byte for byte what was measured: every blob's id is worked out here, too, and compared.

Sources: docs.github.com, REST API "Git database"; git-scm.com, "Git Objects".
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from bot import changed_files
from bot.changes import include_folders, is_header
from bot.comment import identity
from bot.commit_words import Credit, message, squashed, stacked_words
from bot.github_errors import Denied, GithubError, Missing, Refused, Stale
from bot.github_files import Entry, Library
from bot.github_paths import at
from bot.github_session import GithubSession
from bot.headers import included
from bot.interfaces import PullState, Reviewed
from bot.outcome import Kept, Outcome, summarize
from optimizer.model import Kernel
from runners import joined


@dataclass(frozen=True, slots=True)
class _Branch:
    """Where commits go: a branch of a repository, its tip, and the files there, by path."""

    repository: str
    ref: str
    tip: str
    entries: Mapping[str, Entry]


class Committer:
    """Commits winners. Every step may be repeated: content has its hash for its name."""

    def __init__(self, session: GithubSession, library: Library) -> None:
        self._session, self._library = session, library

    def apply(
        self,
        repository: str,
        state: PullState,
        reviewed: Reviewed,
        *,
        head: str,
        squash: bool,
        by: str,
    ) -> str:
        """Commit and return the address of the last commit, or of a stacked pull request.

        `head` is the commit that was measured. A branch that has the winner already is left alone.
        Raise `Stale` when the file, or a header it includes, is another there now; `Denied` when
        nothing may be pushed; `Refused` when there is nothing to commit.
        """
        found = reviewed.trajectory
        outcome = summarize(found) if found is not None else None
        if found is None or outcome is None or outcome.ratio is None:
            raise Refused("there is no faster version of this kernel to commit")
        if state.state != "open":
            raise Refused(f"pull request {state.number} is {state.state}", "reopen it first")
        if not state.head_repository:
            raise Refused("the fork that this pull request came from is gone")
        before = found.baseline.kernel
        texts = changed_files.apart(before, found.best.kernel)
        if texts is None:
            raise Refused(
                "what was measured cannot be told apart into its files",
                "take it by hand from the report",
            )
        parts = joined.split(before.source, before.path)
        branch = self._branch(state, tuple(parts))
        if texts and self._holds(branch, branch.entries, texts):
            return self._last(branch, min(texts))
        for path, text in parts.items():
            if self._library.text(branch.repository, branch.entries[path]) != text:
                raise Stale(
                    f"{path} is not what was measured any more", "ask for a new review of this head"
                )
        self._check_headers(branch, before, head)
        edits = _edits(outcome)
        if not edits:
            raise Refused(
                "what is faster is the launch alone, which is not in this file",
                "change it where the kernel is launched, as the comment says",
            )
        credit = Credit(identity(found), head, self._trailer(by, repository))
        tip = self._commits(branch, before, _messages(outcome, edits, credit, squash=squash))
        try:
            self._advance(branch, tip)
        except Stale as error:
            now = self._tip(branch)
            entries = {path: self._library.entry(branch.repository, now, path) for path in texts}
            if self._holds(branch, entries, texts):
                return self._last(
                    branch, min(texts)
                )  # an earlier attempt was done, and somebody went on
            raise Stale(error.message, "somebody pushed in the meantime: ask again") from error
        except (Denied, Refused) as error:
            return self._stacked(repository, state, branch, tip, outcome, error)
        return self._page(branch.repository, tip)

    # -- what is there -----------------------------------------------------------------------------

    def _branch(self, state: PullState, paths: Sequence[str]) -> _Branch:
        place = state.head_repository
        entries: dict[str, Entry] = {}
        for path in paths:
            try:
                entry = self._library.entry(place, state.head, path)
            except Denied as error:
                if not state.fork:
                    raise
                raise Denied(
                    f"{place} is a fork that takes no push from here",
                    "commit the suggestions, or `git apply` the diff of the comment",
                    status=error.status,
                ) from error
            if entry is None:
                raise Stale(f"{path} is gone from the branch", "ask for a new review of this head")
            entries[path] = entry
        return _Branch(place, state.head_ref, state.head, entries)

    def _holds(
        self, branch: _Branch, entries: Mapping[str, Entry | None], texts: changed_files.Texts
    ) -> bool:
        """Tell whether the files are there as they were measured."""
        there = ((entries[path], measured) for path, (_, measured) in texts.items())
        return all(self._library.text(branch.repository, one) == text for one, text in there)

    def _check_headers(self, branch: _Branch, kernel: Kernel, head: str) -> None:
        """Raise `Stale` when the file includes a header that changed since it was measured."""
        if branch.tip == head:
            return
        now = self._library.tree(branch.repository, branch.tip)
        then = self._library.tree(branch.repository, head)
        differing = {
            name
            for name in now.entries.keys() | then.entries.keys()
            if is_header(name) and now.entries.get(name) != then.entries.get(name)
        }
        if not differing:
            return

        def read(name: str) -> str | None:
            return self._library.text(branch.repository, now.entries.get(name))

        for path, text in joined.split(kernel.source, kernel.path).items():
            used = differing & included(path, text, read, include_folders(path))
            if used:
                raise Stale(
                    f"{min(used)} changed since {kernel.path} was measured",
                    "ask for a new review of this head",
                )

    def _tip(self, branch: _Branch) -> str:
        path = at(branch.repository, "git", "ref", f"heads/{branch.ref}")
        data = self._session.request("GET", path, repository=branch.repository).data
        return str(data["object"]["sha"])

    def _last(self, branch: _Branch, path: str) -> str:
        """Return the address of the last commit on the branch that touched a file."""
        reply = self._session.request(
            "GET",
            at(branch.repository, "commits"),
            repository=branch.repository,
            query={"sha": branch.ref, "path": path, "per_page": 1},
        )
        return str(reply.data[0]["html_url"]) if reply.data else ""

    def _page(self, repository: str, sha: str) -> str:
        return f"{site_of(self._session.url)}/{repository}/commit/{sha}"

    # -- what is written ---------------------------------------------------------------------------

    def _commits(
        self, branch: _Branch, before: Kernel, versions: Sequence[tuple[Kernel, str]]
    ) -> str:
        """Write a chain of commits, each a version and a message; return the last one's id."""
        place, parent = branch.repository, branch.tip
        data = self._asked("GET", place, "git", "commits", parent)
        tree = str(data["tree"]["sha"])
        for version, words in versions:
            entries = [
                {
                    "path": path,
                    "mode": branch.entries[path].mode,
                    "type": "blob",
                    "sha": self._blob(place, source),
                }
                for path, source in _files_of(before, version).items()
            ]
            made = self._asked(
                "POST", place, "git", "trees", body={"base_tree": tree, "tree": entries}
            )
            tree = str(made["sha"])
            body = {"message": words, "tree": tree, "parents": [parent]}
            parent = str(self._asked("POST", place, "git", "commits", body=body)["sha"])
            before = version
        return parent

    def _blob(self, repository: str, source: str) -> str:
        content = source.encode()
        body = {"content": base64.b64encode(content).decode(), "encoding": "base64"}
        sha = str(self._asked("POST", repository, "git", "blobs", body=body)["sha"])
        if sha != blob_id(content, len(sha)):
            raise GithubError("GitHub stored another text than was measured; nothing is committed")
        return sha

    def _advance(self, branch: _Branch, tip: str) -> None:
        path = at(branch.repository, "git", "refs", f"heads/{branch.ref}")
        # Setting a branch to the same commit twice is setting it once.
        self._session.request(
            "PATCH",
            path,
            repository=branch.repository,
            body={"sha": tip, "force": False},
            repeat=True,
        )

    def _stacked(
        self,
        repository: str,
        state: PullState,
        branch: _Branch,
        tip: str,
        outcome: Outcome,
        why: GithubError,
    ) -> str:
        """Offer the commits as a pull request onto the branch that takes no push."""
        if state.fork:
            # A branch of ours with a stranger's commits would run in workflows that have secrets.
            raise Denied(
                f"{branch.repository} takes no push from here",
                "commit the suggestions, or `git apply` the diff of the comment",
                status=why.status,
            ) from why
        name = f"optiml/{state.number}-{identity(outcome.trajectory)}"
        known = self._opened(repository, name)
        if known:
            return known
        try:
            body = {"ref": f"refs/heads/{name}", "sha": tip}
            self._asked("POST", repository, "git", "refs", body=body)
        except Refused as error:
            if "already exists" not in error.message.lower():
                raise
            # Ours from an earlier attempt: nobody else's branch goes by such a name.
            place = ("git", "refs", f"heads/{name}")
            self._asked("PATCH", repository, *place, body={"sha": tip, "force": True})
        title, text = stacked_words(outcome, state.number, why.message)
        offer = {"title": title, "body": text, "head": name, "base": branch.ref}
        try:
            data = self._session.request(
                "POST", at(repository, "pulls"), repository=repository, body=offer
            ).data
        except GithubError:
            known = self._opened(repository, name)  # the answer to an earlier attempt never came
            if known:
                return known
            raise
        return str(data["html_url"])

    def _opened(self, repository: str, name: str) -> str:
        """Return the open pull request of a branch of ours; empty without one."""
        owner = repository.partition("/")[0]
        query: dict[str, str | int] = {"state": "open", "head": f"{owner}:{name}"}
        pulls = self._session.request(
            "GET", at(repository, "pulls"), repository=repository, query=query
        ).data
        return str(pulls[0]["html_url"]) if pulls else ""

    def _asked(self, method: str, repository: str, *parts: str, body: Any = None) -> Any:
        path = at(repository, *parts)
        # Objects have the hash of their content for a name; a commit made twice is only litter.
        reply = self._session.request(
            method, path, repository=repository, body=body, repeat=parts != ("git", "refs")
        )
        return reply.data

    def _trailer(self, by: str, repository: str) -> str:
        if not by:
            return ""
        try:
            data = self._session.request(
                "GET", f"/users/{quote(by, safe='')}", repository=repository
            ).data
        except Missing:
            return ""
        host = urlsplit(site_of(self._session.url)).hostname
        return (
            f"Co-authored-by: {data['login']} <{data['id']}+{data['login']}@users.noreply.{host}>"
        )


def blob_id(content: bytes, digits: int = 40) -> str:
    """Return the id git gives a file's content; 64 digits where the repository uses SHA-256.

    >>> blob_id(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    kind = hashlib.sha256 if digits == 64 else hashlib.sha1
    return kind(b"blob %d\0" % len(content) + content).hexdigest()


def site_of(url: str) -> str:
    """Return the address of GitHub's pages from that of its API.

    >>> site_of("https://api.github.com"), site_of("https://git.example.org/api/v3")
    ('https://github.com', 'https://git.example.org')
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"


def _edits(outcome: Outcome) -> list[Kept]:
    """Return the kept edits that change the file."""
    before, found = outcome.trajectory.baseline.kernel.source, []
    for kept in outcome.kept:
        if kept.step.kernel.source != before:
            found.append(kept)
        before = kept.step.kernel.source
    return found


def _files_of(before: Kernel, after: Kernel) -> dict[str, str]:
    """Return the texts that a commit changes, by path. Raise `Refused` where none can be told."""
    texts = changed_files.apart(before, after)
    if texts is None:
        raise Refused("an edit cannot be told apart into its files", "squash: `--squash`")
    return {path: text for path, (_, text) in texts.items()}


def _messages(
    outcome: Outcome, edits: Sequence[Kept], credit: Credit, *, squash: bool
) -> list[tuple[Kernel, str]]:
    if squash:
        return [(edits[-1].step.kernel, squashed(outcome, edits, credit))]
    return [
        (one.step.kernel, message(outcome, edits, place, credit)) for place, one in enumerate(edits)
    ]
