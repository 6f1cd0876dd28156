"""What the operator of the service allows."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.events import SKIP_LABEL
from bot.ledger import Allowance
from bot.settings import Settings
from optimizer.errors import ConfigError

# GitHub's ranks of what somebody may do with a repository.
RANKS = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(frozen=True, slots=True)
class Terms:
    """How reviews are made and what they may cost. `page` is the address of the job pages.

    `poll_seconds` is how often a bench is asked at first; later a third as often, unless a
    webhook says that something ended. `hours` ends a review that never does.
    """

    minutes: float = 10.0
    evaluations: int = 80
    policy: str = "mixed"
    objective: str = "time"
    seed: int = 0
    drafts: bool = False
    skip_label: str = SKIP_LABEL
    commands_an_hour: int = 30
    allowance: Allowance = field(default_factory=Allowance)
    page: str = ""
    poll_seconds: float = 10.0
    hours: float = 24.0

    def page_of(self, job_id: str) -> str:
        """Return the address of a job's page; empty when we do not know our own."""
        return f"{self.page}/jobs/{job_id}" if self.page else ""


def may(permission: str, least: str) -> bool:
    """Tell whether a permission is at least another; an unknown one is none.

    >>> may("maintain", "write"), may("read", "triage"), may("owner", "read")
    (True, False, False)
    """
    return permission in RANKS and RANKS.index(permission) >= RANKS.index(least)


def terms_of(settings: Settings) -> Terms:
    """Return the terms as the settings have them. Raise `ConfigError` for a bad address."""
    page = settings.server_url.rstrip("/")
    if page and not page.startswith(("https://", "http://")):
        raise ConfigError("OPTIML_SERVER_URL is no address", "write it as https://HOST")
    return Terms(
        minutes=settings.minutes,
        evaluations=settings.evaluations,
        policy=settings.policy,
        objective=settings.objective,
        seed=settings.seed,
        drafts=settings.drafts == "on",
        allowance=Allowance(
            settings.user_minutes, settings.pull_minutes, settings.repository_minutes
        ),
        page=page,
    )
