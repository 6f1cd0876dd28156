"""Paths of GitHub's API."""

from __future__ import annotations

import re
from urllib.parse import quote

from bot.github_errors import Refused

_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")


def at(repository: str, *parts: str | int) -> str:
    """Return the path of something in a repository, each part quoted.

    >>> at("octo/kernels", "git", "ref", "heads/a b")
    '/repos/octo/kernels/git/ref/heads%2Fa%20b'
    """
    if not _REPOSITORY.fullmatch(repository) or {".", ".."} & set(repository.split("/")):
        raise Refused(f"{repository!r} is no repository", "it is written as OWNER/NAME")
    return "/".join(["/repos", repository, *(quote(str(part), safe="") for part in parts)])
