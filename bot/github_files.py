"""Files of a repository by commit, read through GitHub's Git data API and kept by content."""

from __future__ import annotations

import base64
import binascii
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from bot.changes import LARGEST, is_header, is_kernel_source
from bot.github_errors import GithubError, Missing
from bot.github_paths import at
from bot.github_session import GithubSession
from bot.suggestion import Hunk, hunks

REGULAR = frozenset({"100644", "100755"})
MOST_FILES = 3000  # of a pull request that GitHub lists
_KEPT_BYTES = 48 << 20
_KEPT_TREES = 8
_MOST_SOURCES = 200  # unchanged sources read to see whether they include a changed header
_WRITTEN = frozenset({"added", "modified", "changed", "renamed", "copied"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a tree: the blob it is, its mode, its size in bytes (None when not told)."""

    sha: str
    mode: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """All files of a commit by path; `is_whole` is False where GitHub left some out."""

    sha: str
    entries: Mapping[str, Entry]
    is_whole: bool = True


class Library:
    """Reads blobs and trees, each once: what has a content's hash for its name never changes.

    Safe to use from several threads.
    """

    def __init__(self, session: GithubSession) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._blobs: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._trees: OrderedDict[tuple[str, str], Tree] = OrderedDict()
        self._bytes = 0

    def blob(self, repository: str, sha: str) -> bytes:
        """Return a blob's bytes."""
        key = (repository.lower(), sha)
        with self._lock:
            known = self._blobs.get(key)
            if known is not None:
                self._blobs.move_to_end(key)
                return known
        data = self._session.request(
            "GET", at(repository, "git", "blobs", sha), repository=repository
        ).data
        content = _decoded(data, sha)
        with self._lock:
            if key not in self._blobs:
                self._blobs[key] = content
                self._bytes += len(content)
            while self._bytes > _KEPT_BYTES and len(self._blobs) > 1:
                _, dropped = self._blobs.popitem(last=False)
                self._bytes -= len(dropped)
        return content

    def text(self, repository: str, entry: Entry | None) -> str | None:
        """Return a file's text; None for what is no text file of a size we read."""
        if entry is None or entry.mode not in REGULAR or (entry.size or 0) > LARGEST:
            return None
        content = self.blob(repository, entry.sha)
        try:
            return content.decode() if len(content) <= LARGEST else None
        except UnicodeDecodeError:
            return None

    def tree(self, repository: str, commit: str) -> Tree:
        """Return all files of a commit, in one request."""
        key = (repository.lower(), commit)
        with self._lock:
            if key in self._trees:
                self._trees.move_to_end(key)
                return self._trees[key]
        data = self._tree_data(repository, commit, recursive=True)
        entries = {
            str(one["path"]): Entry(str(one["sha"]), str(one["mode"]), one.get("size"))
            for one in data["tree"]
            if one["type"] == "blob"
        }
        found = Tree(str(data["sha"]), entries, not data.get("truncated"))
        with self._lock:
            self._trees[key] = found
            while len(self._trees) > _KEPT_TREES:
                self._trees.popitem(last=False)
        return found

    def entry(self, repository: str, commit: str, path: str) -> Entry | None:
        """Return one file of a commit, also where the whole tree is too large for one answer."""
        whole = self.tree(repository, commit)
        if path in whole.entries or whole.is_whole:
            return whole.entries.get(path)
        sha = commit
        parts = PurePosixPath(path).parts
        for depth, name in enumerate(parts, 1):
            data = self._tree_data(repository, sha, recursive=False)
            one = next((entry for entry in data["tree"] if entry["path"] == name), None)
            wanted = "blob" if depth == len(parts) else "tree"
            if one is None or one["type"] != wanted:
                return None
            if wanted == "blob":
                return Entry(str(one["sha"]), str(one["mode"]), one.get("size"))
            sha = str(one["sha"])
        return None

    def _tree_data(self, repository: str, sha: str, *, recursive: bool) -> Any:
        query: dict[str, str | int] | None = {"recursive": 1} if recursive else None
        path = at(repository, "git", "trees", sha)
        return self._session.request("GET", path, repository=repository, query=query).data


class PullFiles:
    """The two sides of a pull request (`bot.changes.Sides`).

    `files` is GitHub's list of changed files; `declared` are sources that the project files name,
    which are looked at first when a header changed. With `base` None the side before the change
    is not read: only who times base against head needs it.
    """

    def __init__(
        self,
        library: Library,
        repository: str,
        head: str,
        files: Sequence[Mapping[str, Any]],
        *,
        base: str | None = None,
        declared: Collection[str] = (),
    ) -> None:
        self._library, self._repository, self._commit = library, repository, head
        self._files = {str(one["filename"]): one for one in files}
        self._gone = {
            str(one["previous_filename"])
            for one in files
            if one.get("previous_filename") and one["status"] == "renamed"
        }
        self._base, self._declared = base, frozenset(declared)
        self.seen: dict[str, str] = {}

    def changed(self) -> Collection[str]:
        """Return the paths that the pull request adds, modifies or removes."""
        return self._files.keys() | self._gone

    def files(self) -> Sequence[str]:
        """Return the paths of all files of the head, as far as GitHub's answer goes."""
        there = {path for path, one in self._tree.entries.items() if one.mode in REGULAR}
        return sorted(there | {p for p, one in self._files.items() if one["status"] in _WRITTEN})

    def files_before(self) -> Sequence[str]:
        """Return the paths of all files where the pull request left its base."""
        if self._base is None:
            return ()
        tree = self._library.tree(self._repository, self._base)
        return [path for path, one in tree.entries.items() if one.mode in REGULAR]

    def candidates(self) -> Sequence[str]:
        """Return changed sources, declared ones, then those nearest to a changed header."""
        near = {PurePosixPath(path).parts[0] for path in self._files if is_header(path)}
        paths = filter(is_kernel_source, {*self._tree.entries, *self._files})
        ranked = sorted(
            paths,
            key=lambda path: (
                path not in self._files,
                path not in self._declared,
                PurePosixPath(path).parts[0] not in near,
                path,
            ),
        )
        return sorted(ranked[: _MOST_SOURCES + len(self._files)])

    def head(self, path: str) -> str | None:
        """Return a file's text as the pull request has it; `seen` holds what was returned."""
        text = self.seen.get(path)
        if text is None:
            text = self._head(path)
            if text is not None:
                self.seen[path] = text
        return text

    def _head(self, path: str) -> str | None:
        one = self._files.get(path)
        if one is not None:
            if one["status"] not in _WRITTEN:
                return None if one["status"] == "removed" else self._at_head(path)
            try:
                return self._library.text(self._repository, Entry(str(one["sha"]), "100644"))
            except Missing:
                return self._at_head(path)  # a submodule, whose commit is no file of ours
        return None if path in self._gone else self._at_head(path)

    def before(self, path: str) -> str | None:
        """Return a file's text where the pull request left its base."""
        if self._base is None:
            return None
        entry = self._library.entry(self._repository, self._base, path)
        return self._library.text(self._repository, entry)

    def hunks(self, path: str) -> tuple[Hunk, ...]:
        """Return the lines that the diff shows; none for a file too large for GitHub to show."""
        return hunks(str((self._files.get(path) or {}).get("patch") or ""))

    @cached_property
    def _tree(self) -> Tree:
        return self._library.tree(self._repository, self._commit)

    def _at_head(self, path: str) -> str | None:
        if self._tree.is_whole or path in self._tree.entries:
            return self._library.text(self._repository, self._tree.entries.get(path))
        entry = self._library.entry(self._repository, self._commit, path)
        return self._library.text(self._repository, entry)


def files_of(session: GithubSession, repository: str, number: int) -> Iterator[Mapping[str, Any]]:
    """Yield GitHub's list of a pull request's files, 3,000 at most."""
    path = at(repository, "pulls", number, "files")
    yield from session.pages(path, repository=repository)


def merge_base(session: GithubSession, repository: str, base: str, head: str) -> str:
    """Return the commit where a head left its base. Raise `Missing` when they share none."""
    path = at(repository, "compare", f"{base}...{head}")
    reply = session.request("GET", path, repository=repository, query={"per_page": 1})
    found = (reply.data.get("merge_base_commit") or {}).get("sha")
    if not found:
        raise Missing(f"{base[:12]} and {head[:12]} share no commit", status=404)
    return str(found)


def _decoded(data: Mapping[str, Any], sha: str) -> bytes:
    try:
        if data.get("encoding") == "utf-8":
            return str(data["content"]).encode()
        return base64.b64decode(str(data["content"]))
    except (KeyError, binascii.Error, ValueError) as error:
        raise GithubError(f"GitHub gave blob {sha} in an unknown encoding") from error
