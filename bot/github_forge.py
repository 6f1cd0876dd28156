"""One pull request on GitHub: which kernels it changes, and what is written on it.

Sources come from the pull request's head, how they are built and run from the base branch, both
through the API: nothing is checked out and nothing of it is run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bot import init
from bot.changes import (
    PROJECT_FILE,
    Declarations,
    changes,
    is_header,
    project_over,
)
from bot.checks import shortened
from bot.comment import MARKER, Door, compose
from bot.github_errors import Denied, GithubError, RateLimited, Stale, Unreachable
from bot.github_files import REGULAR, Library, PullFiles, files_of
from bot.github_session import GithubSession
from bot.interfaces import Change, Pull, Report, Reviewed
from bot.markdown import code, fenced, visible
from bot.permissions import POSTING, advice
from bot.publishing import Conversation, Written
from bot.vouching import vouched
from bot.wording import count
from optimizer.errors import ConfigError
from optimizer.model import Kernel, Workload
from runners.signature import mismatch
from runners.workload import kernel_of, parse_project, program_workload

SETUP = "<!-- optiml:setup -->"
ROOT = Path("/project")  # stands for a folder that is not on this machine
_MOST_PROJECTS = 20  # project files looked into for sources that include a changed header
_KEPT = 4  # heads of one pull request whose kernels are remembered
_LONGEST_SNIPPET = 8_000


class GithubForge:
    """A `Forge`. `url` is the address of our comment once there is one, `door` how it is worded.

    `unposted` takes, in Markdown, what could not be posted for want of a permission, with what
    to do about it; without it `Denied` is raised.
    """

    def __init__(
        self,
        session: GithubSession,
        library: Library,
        repository: str,
        number: int,
        unposted: Callable[[str], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._session, self._library = session, library
        self._repository, self._number = repository, number
        self._unposted, self._sleep = unposted, sleep
        self.door = Door()
        self._known: dict[tuple[str, str], tuple[Change, ...]] = {}
        self.url = ""

    # -- what is changed ---------------------------------------------------------------------------

    def changed_kernels(self, pull: Pull) -> Sequence[Change]:
        """Return the kernels of a head, with workloads of the base branch.

        Raise `ConfigError` when the base's project file does not fit them, and `Stale` when the
        pull request has another head by now.
        """
        key = (pull.base, pull.head)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(self._changes(pull))
            while len(self._known) > _KEPT:
                self._known.pop(next(iter(self._known)))
        return found

    def _changes(self, pull: Pull) -> list[Change]:
        files = list(files_of(self._session, self._repository, self._number))
        for one in files:
            _check_head(one, pull.head)
        base = _Base(self._library, self._repository, pull.base)
        headers = any(is_header(str(one["filename"])) for one in files)
        declared = base.sources() if headers else ()
        sides = PullFiles(self._library, self._repository, pull.head, files, declared=declared)
        declarations = Declarations(
            base.project_of,
            lambda folder: _kernels(base.text(folder), folder, sides),
            program_workload,
            lambda folder: str(ROOT / folder),
            lambda path: init.of_texts([(path, sides.head(path) or "")]),
        )
        return changes(sides, declarations)

    # -- what is said ------------------------------------------------------------------------------

    def publish(self, pull: Pull, report: Report) -> None:
        """Write the one comment, its suggestions, and once how to set up kernels nobody describes.

        The results are held against what GitHub has (`bot.vouching`) before anything is said.
        Where suggestions are refused, the comment shows the change itself.
        """
        found = self.changed_kernels(pull)
        results = vouched(report.results, found)
        said = compose(results, self.door)
        try:
            talk = Conversation(self._session, self._repository, self._number, self._sleep)
            written = self._comment(talk, pull, said, results)
            self.url = written.url if written else ""
            setup = setup_words(found)
            if setup:
                talk.say_once(SETUP, setup)
        except Denied as error:
            if self._unposted is None:
                raise
            plain = compose(_without_lines(results), self.door)
            parts = [advice(error, POSTING), plain.markdown or "", setup_words(found)]
            self._unposted("\n\n".join(part for part in parts if part))

    def _comment(
        self, talk: Conversation, pull: Pull, said: Report, results: Sequence[Reviewed]
    ) -> Written | None:
        before = talk.find(MARKER)
        if said.markdown is None:
            if before is None:
                return None
            written = talk.say(MARKER, _nothing_now(pull, results))
            talk.suggest((), pull.head, written.url, was_here=True)
            return written
        written = talk.say(MARKER, said.markdown)
        try:
            talk.suggest(said.suggestions, pull.head, written.url, was_here=before is not None)
        except (Unreachable, RateLimited, Stale):
            raise
        except GithubError:
            # A line that GitHub does not show, or reviews are not for us: the comment says it all.
            plain = compose(_without_lines(results), self.door)
            written = talk.say(MARKER, plain.markdown or said.markdown)
        return written


class _Base:
    """The project files of the base branch."""

    def __init__(self, library: Library, repository: str, commit: str) -> None:
        self._library, self._repository, self._commit = library, repository, commit

    def project_of(self, path: str) -> str | None:
        return project_over(path, self._exists)

    def text(self, folder: str) -> str:
        path = _project_file(folder)
        entry = self._library.entry(self._repository, self._commit, path)
        text = self._library.text(self._repository, entry)
        if text is None:
            raise ConfigError(f"{path} of the base branch is no text", "write it in UTF-8")
        return text

    def sources(self) -> set[str]:
        """Return the files that project files name, as far as those can be read."""
        tree = self._library.tree(self._repository, self._commit)
        places = [path for path in tree.entries if PurePosixPath(path).name == PROJECT_FILE]
        found = set()
        for place in sorted(places, key=lambda path: (path.count("/"), path))[:_MOST_PROJECTS]:
            folder = PurePosixPath(place).parent.as_posix()
            try:
                project = parse_project(self.text(folder), ROOT, place)
            except ConfigError:
                continue  # told when a kernel below it is touched
            found |= {_inside(folder, path) for path, _ in project.workloads}
        return found

    def _exists(self, path: str) -> bool:
        entry = self._library.entry(self._repository, self._commit, path)
        return entry is not None and entry.mode in REGULAR


def setup_words(found: Sequence[Change]) -> str:
    """Say how to have kernels reviewed of which none is described; empty when there is no need."""
    if any(one.workload is not None for one in found):
        return ""
    texts = [(one.kernel.path, one.kernel.source) for one in found if one.snippet]
    snippet = init.of_texts(texts)
    if not snippet:
        return ""
    files = [code(path) for path, _ in texts]
    shown = ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
    return (
        f"To have {shown} measured here, put this into `{PROJECT_FILE}` of the base branch and "
        f"check what is marked as a guess:\n\n"
        f"{fenced(visible(shortened(snippet, _LONGEST_SNIPPET)), 'yaml')}\n"
    )


def _nothing_now(pull: Pull, results: Sequence[Reviewed]) -> str:
    kernels = count(len(results), "kernel")
    return (
        f"Nothing faster was found for {code(pull.head[:12])} ({kernels} looked at). What stood "
        "here was measured on an older commit.\n"
    )


def _without_lines(results: Sequence[Reviewed]) -> list[Reviewed]:
    return [replace(one, change=replace(one.change, hunks=(), beside={})) for one in results]


def _kernels(text: str, folder: str, sides: PullFiles) -> Sequence[tuple[Kernel, Workload]]:
    """Return what a project file says of the sources that were looked at, with their texts."""
    name = _project_file(folder)
    found = []
    for path, workload in parse_project(text, ROOT, name).workloads:
        place = _inside(folder, path)
        source = sides.seen.get(place)
        if source is None and workload.program is not None:
            source = sides.head(place)  # what it is built of may have changed
        if source is None:
            continue
        trouble = mismatch(workload, source, path)
        if trouble is not None:
            raise ConfigError(f"{name}: {workload.name}: {trouble[0]}", *trouble[1:])
        found.append((kernel_of(workload, source, place), workload))
    return found


def _check_head(one: Mapping[str, Any], head: str) -> None:
    """Raise `Stale` when GitHub's list of files is that of another head."""
    asked = parse_qs(urlsplit(str(one.get("contents_url") or "")).query).get("ref", [head])
    if one["status"] != "removed" and asked[0] != head:
        raise Stale(
            f"the pull request is at {asked[0][:12]}, not at {head[:12]}", "it is looked at again"
        )


def _project_file(folder: str) -> str:
    return PROJECT_FILE if folder == "." else f"{folder}/{PROJECT_FILE}"


def _inside(folder: str, path: str) -> str:
    return PurePosixPath(folder, PurePosixPath(path)).as_posix()
