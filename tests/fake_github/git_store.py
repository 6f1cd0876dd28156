"""A real bare git repository that a repository and its forks share, as on GitHub."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import zlib
from pathlib import Path
from typing import Any

_HASH = re.compile(r"[0-9a-f]{40}(\^\{tree\})?")
_KINDS = {"blob", "tree", "commit"}

_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Dev", "GIT_AUTHOR_EMAIL": "dev@example.org",
    "GIT_COMMITTER_NAME": "Dev", "GIT_COMMITTER_EMAIL": "dev@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    "PATH": os.environ.get("PATH", ""),  # noqa: TID251 - git has to be found
}  # fmt: skip


class GitError(Exception):
    """Git refused."""


class GitStore:
    """Objects and refs. A fork's branches live under `refs/forks/OWNER/`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[tuple[str, ...], bytes] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "--bare", ".")

    def fixed(self, *words: str) -> bytes:
        """Ask git what cannot change, once: a program to start for each takes most of the time.

        What has the hash of its content for a name stays as it is; a branch does not.
        """
        named = [word for word in words[1:] if not word.startswith("-") and word not in _KINDS]
        if not all(map(_HASH.fullmatch, named)):
            return self.git(*words)
        if words not in self._known:
            self._known[words] = self.git(*words)
        return self._known[words]

    def git(self, *words: str, data: bytes | None = None) -> bytes:
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            input=data,
            capture_output=True,
            check=False,
            env=_ENVIRONMENT,
        )
        if done.returncode:
            raise GitError(done.stderr.decode(errors="replace"))
        return done.stdout

    def line(self, *words: str, data: bytes | None = None) -> str:
        found = self.fixed(*words) if data is None else self.git(*words, data=data)
        return found.decode().strip()

    def has(self, sha: str, kind: str) -> bool:
        try:
            return self.fixed("cat-file", "-t", sha).decode().strip() == kind
        except GitError:
            return False

    def write_files(
        self,
        ref: str,
        files: dict[str, str | bytes | None],
        message: str,
        parent: str | None = None,
    ) -> str:
        """Commit files onto a ref (None deletes one) and return the commit."""
        start = parent or self.tip(ref)
        entries = self.entries(start) if start else {}
        for path, content in files.items():
            if content is None:
                entries.pop(path)
                continue
            raw = content.encode() if isinstance(content, str) else content
            entries[path] = ("100644", self.put(raw))
        tree = self.tree_of(entries)
        parents = ["-p", start] if start else []
        commit = self.line("commit-tree", tree, *parents, "-m", message)
        self.git("update-ref", ref, commit)
        return commit

    def put(self, raw: bytes) -> str:
        """Keep a file's content as git does and return its name."""
        return self._put(b"blob", raw)

    def _put(self, kind: bytes, raw: bytes) -> str:
        content = kind + b" %d\0" % len(raw) + raw
        sha = hashlib.sha1(content).hexdigest()  # noqa: S324 - git's own
        file = self.folder / "objects" / sha[:2] / sha[2:]
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(zlib.compress(content, 1))
        return sha

    def entries(self, commit: str) -> dict[str, tuple[str, str]]:
        found = {}
        for one in self.fixed("ls-tree", "-r", "-z", commit).decode().split("\0"):
            if one:
                facts, _, path = one.partition("\t")
                mode, _, sha = facts.split(" ")
                found[path] = (mode, sha)
        return found

    def tree_of(self, entries: dict[str, tuple[str, str]]) -> str:
        """Write nested trees of files by path."""
        here: dict[bytes, bytes] = {}  # by what git sorts them by
        below: dict[str, dict[str, tuple[str, str]]] = {}
        for path, (mode, sha) in entries.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = (mode, sha)
            else:
                here[name.encode()] = f"{mode} {name}\0".encode() + bytes.fromhex(sha)
        for name, inside in below.items():
            sha = self.tree_of(inside)
            here[f"{name}/".encode()] = f"40000 {name}\0".encode() + bytes.fromhex(sha)
        return self._put(b"tree", b"".join(entry for _, entry in sorted(here.items())))

    def tip(self, ref: str) -> str | None:
        file = self.folder / ref
        if ref.startswith("refs/") and file.is_file():
            return file.read_text().strip()
        try:
            return self.line("rev-parse", "--verify", "-q", ref) or None
        except GitError:
            return None

    def blob(self, sha: str) -> bytes:
        return self.fixed("cat-file", "blob", sha)

    def file(self, commit: str, path: str) -> bytes:
        return self.git("cat-file", "blob", f"{commit}:{path}")

    def listed(self, tree: str, *, recursive: bool) -> list[dict[str, Any]]:
        words = ["ls-tree", "-l", "-z", *(["-r", "-t"] if recursive else []), tree]
        found = []
        for one in self.fixed(*words).decode().split("\0"):
            if not one:
                continue
            facts, _, path = one.partition("\t")
            mode, kind, sha, size = facts.split()
            entry: dict[str, Any] = {"path": path, "mode": mode, "type": kind, "sha": sha}
            if kind == "blob":
                entry["size"] = int(size)
            found.append(entry)
        return found

    def is_ancestor(self, old: str, new: str) -> bool:
        try:
            self.fixed("merge-base", "--is-ancestor", old, new)
        except GitError:
            return False
        return True

    def merge_base(self, one: str, other: str) -> str:
        return self.fixed("merge-base", one, other).decode().strip()

    def changed(self, base: str, head: str) -> list[dict[str, Any]]:
        """Return the files between two commits as GitHub lists them, with patches."""
        words = ("diff", "--raw", "-z", "-M", "--no-abbrev", base, head)
        raw = self.fixed(*words).decode().split("\0")
        found, at = [], 0
        kinds = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "T": "changed"}
        while at < len(raw) and raw[at]:
            _, _, old, new, letter = raw[at].split(" ")
            kind = kinds[letter[0]]
            entry: dict[str, Any] = {"status": kind, "filename": raw[at + 1]}
            at += 2
            if kind == "renamed":
                entry |= {"previous_filename": entry["filename"], "filename": raw[at]}
                at += 1
            entry["sha"] = old if kind == "removed" else new
            names = [entry["filename"], *filter(None, [entry.get("previous_filename")])]
            diff = self.git("diff", "-M", "--unified=3", base, head, "--", *names)
            text = diff.decode(errors="replace")
            start = text.find("\n@@ ")
            lines = text[start + 1 :].split("\n") if start >= 0 else []
            if start >= 0:
                entry["patch"] = text[start + 1 :].removesuffix("\n")
            added = sum(one.startswith("+") for one in lines)
            removed = sum(one.startswith("-") for one in lines)
            entry |= {"additions": added, "deletions": removed, "changes": added + removed}
            found.append(entry)
        return found
