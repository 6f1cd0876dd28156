"""A real bare git repository that a repository and its forks share, as on GitHub."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

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
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "--bare", ".")

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
        return self.git(*words, data=data).decode().strip()

    def has(self, sha: str, kind: str) -> bool:
        try:
            return self.line("cat-file", "-t", sha) == kind
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
            entries[path] = ("100644", self.line("hash-object", "-w", "--stdin", data=raw))
        tree = self.tree_of(entries)
        parents = ["-p", start] if start else []
        commit = self.line("commit-tree", tree, *parents, "-m", message)
        self.git("update-ref", ref, commit)
        return commit

    def entries(self, commit: str) -> dict[str, tuple[str, str]]:
        found = {}
        for one in self.git("ls-tree", "-r", "-z", commit).decode().split("\0"):
            if one:
                facts, _, path = one.partition("\t")
                mode, _, sha = facts.split(" ")
                found[path] = (mode, sha)
        return found

    def tree_of(self, entries: dict[str, tuple[str, str]]) -> str:
        """Write nested trees of files by path."""
        here: list[str] = []
        below: dict[str, dict[str, tuple[str, str]]] = {}
        for path, entry in entries.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = entry
            else:
                kind = "commit" if entry[0] == "160000" else "blob"
                here.append(f"{entry[0]} {kind} {entry[1]}\t{name}")
        here += [f"040000 tree {self.tree_of(inside)}\t{name}" for name, inside in below.items()]
        text = "".join(f"{one}\0" for one in here)
        return self.line("mktree", "-z", data=text.encode())

    def tip(self, ref: str) -> str | None:
        try:
            return self.line("rev-parse", "--verify", "-q", ref) or None
        except GitError:
            return None

    def blob(self, sha: str) -> bytes:
        return self.git("cat-file", "blob", sha)

    def file(self, commit: str, path: str) -> bytes:
        return self.git("cat-file", "blob", f"{commit}:{path}")

    def listed(self, tree: str, *, recursive: bool) -> list[dict[str, Any]]:
        words = ["ls-tree", "-l", "-z", *(["-r", "-t"] if recursive else []), tree]
        found = []
        for one in self.git(*words).decode().split("\0"):
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
            self.git("merge-base", "--is-ancestor", old, new)
        except GitError:
            return False
        return True

    def merge_base(self, one: str, other: str) -> str:
        return self.line("merge-base", one, other)

    def changed(self, base: str, head: str) -> list[dict[str, Any]]:
        """Return the files between two commits as GitHub lists them, with patches."""
        raw = self.git("diff", "--raw", "-z", "-M", "--no-abbrev", base, head).decode().split("\0")
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
