"""What the bot may have to do on GitHub, and what to say where it may not."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bot.github_errors import Denied
from bot.markdown import fenced, phrase

# What an App needs, by GitHub's own names, and what for.
NEEDED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "actions": ("write", "start the GPU workflow, read its artifact, cancel it"),
        "checks": ("write", "show the check run with its buttons"),
        "contents": ("write", "read sources and commit what `/optiml apply` asks for"),
        "issues": ("write", "read commands, react to them and answer"),
        "metadata": ("read", "know who may give commands"),
        "pull_requests": ("write", "comment, suggest changes, open a stacked pull request"),
    }
)
# What posting alone needs of a workflow's own token.
POSTING: Mapping[str, str] = MappingProxyType(
    {"contents": "read", "issues": "write", "pull_requests": "write"}
)
EVENTS = ("check_run", "issue_comment", "merge_group", "pull_request", "workflow_run")
_WHY = (
    "A workflow started by a pull request from a fork has a token that can only read; publish "
    "from a `workflow_run` workflow there. Otherwise give the job these permissions:"
)
_RANK = {"": 0, "none": 0, "read": 1, "write": 2, "admin": 3}


def lacking(granted: Mapping[str, str]) -> dict[str, str]:
    """Return the permissions that are missing or too weak, each with the level it needs.

    >>> lacking({name: level for name, (level, _) in NEEDED.items()} | {"checks": "read"})
    {'checks': 'write'}
    """
    return {
        name: level
        for name, (level, _) in NEEDED.items()
        if _RANK.get(str(granted.get(name, "")), 0) < _RANK[level]
    }


def advice(error: Denied, permissions: Mapping[str, str]) -> str:
    """Say in Markdown why nothing was posted, and what a workflow must hold to change that."""
    lines = "".join(f"  {name.replace('_', '-')}: {permissions[name]}\n" for name in permissions)
    return "\n\n".join(
        (
            f"> **Not posted on the pull request**: {phrase(error.message)}",
            _WHY,
            fenced(f"permissions:\n{lines}", "yaml"),
        )
    )
