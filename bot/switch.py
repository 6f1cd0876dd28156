"""The kill switch of the webhook app, thrown from the command line of any host."""

from __future__ import annotations

import re

from bot.database import Database
from bot.ledger import EVERYWHERE, Ledger
from bot.settings import Settings
from optimizer.errors import ConfigError

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]{1,100}")


def pause(settings: Settings, repository: str, reason: str) -> str:
    """Stop a repository, or everything when it is empty; return what to tell."""
    if not reason.strip():
        raise ConfigError("the reason is empty", "it is told to whoever asks for a review")
    _ledger(settings).pause(_scope(repository), reason)
    return f"paused {repository or 'everything'}; `optiml resume` undoes it"


def resume(settings: Settings, repository: str) -> str:
    """Let it run again; return what to tell."""
    was = _ledger(settings).resume(_scope(repository))
    return f"{repository or 'everything'} {'works again' if was else 'was not paused'}"


def _scope(repository: str) -> str:
    if repository and not _REPOSITORY.fullmatch(repository):
        raise ConfigError(f"{repository!r} is no repository", "write it as OWNER/NAME")
    return repository or EVERYWHERE


def _ledger(settings: Settings) -> Ledger:
    database = Database(settings.database)
    database.prepare()
    return Ledger(database)
