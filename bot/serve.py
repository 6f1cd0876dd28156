"""`optiml serve`: the webhook app with its jobs, in one process."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import structlog
import uvicorn

from bot.app import Entrance, create_app
from bot.benches import bench_of
from bot.database import Database, Lock
from bot.events import secrets_of
from bot.github import GithubHub
from bot.github_session import session_of
from bot.interfaces import Hub
from bot.jobs import Crew, Jobs, Pace
from bot.ledger import Ledger
from bot.metrics import Metrics
from bot.orders import Bench
from bot.outcomes import Outcomes
from bot.patience import Patience
from bot.review_job import Records, ReviewJob
from bot.service import Service
from bot.settings import Settings
from bot.store import Store
from bot.terms import Terms, terms_of
from optimizer.errors import ConfigError


@dataclass(slots=True)
class House:
    """Everything one process serves with."""

    entrance: Entrance
    jobs: Jobs
    database: Database
    lock: Lock | None

    def close(self) -> None:
        """End jobs' threads and give the database back; jobs under way are taken over later."""
        self.jobs.close()
        self.database.close()
        if self.lock is not None:
            self.lock.release()


def opened(
    url: str,
    secrets: Sequence[bytes],
    hub: Hub,
    bench: Bench,
    *,
    terms: Terms,
    pace: Pace,
    patience: Patience,
    app_id: int | None = None,
) -> House:
    """Build the service around a hub and a bench, and begin to carry jobs out."""
    database = Database(url)
    lock = database.alone()
    database.prepare()
    records = Records(Store(database), Ledger(database), Outcomes(database))
    metrics = Metrics(records.store.counts)
    service = Service(hub, records, terms, patience)
    review = ReviewJob(hub, bench, records, terms, patience)
    jobs = Jobs(database, Crew(hub, service, review, records, metrics), pace, patience)
    jobs.open()
    entrance = Entrance(
        secrets,
        records,
        terms,
        metrics,
        app_id,
        jobs.wake,
        lambda: jobs.is_alive,
        jobs.yield_to,
    )
    return House(entrance, jobs, database, lock)


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until told to end. Raise `ConfigError` for what is missing before taking anything."""
    secrets = secrets_of(settings.webhook_secret)
    terms = terms_of(settings)
    _check(settings)
    _log()
    with session_of(settings) as session:
        house = opened(
            settings.database,
            secrets,
            GithubHub(session),
            bench_of(settings, session),
            terms=terms,
            pace=Pace(reviews=max(1, settings.reviews)),
            patience=Patience(),
            app_id=int(settings.github_app_id) if settings.github_app_id.isdecimal() else None,
        )
        try:
            run(house, host, port)
        finally:
            house.close()
    sys.stdout.flush()
    sys.stderr.flush()
    # A thread may still wait for GitHub or a compiler; its job is taken over, as after a crash.
    os._exit(0)


def run(house: House, host: str, port: int) -> None:
    """Answer requests until a signal comes."""
    uvicorn.run(
        create_app(house.entrance),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        limit_concurrency=2000,
        timeout_graceful_shutdown=10,
    )


def _check(settings: Settings) -> None:
    if not settings.github_app_id and not settings.github_token:
        raise ConfigError(
            "there is no GitHub App to act as",
            "set OPTIML_GITHUB_APP_ID and OPTIML_GITHUB_APP_KEY; docs/github-app.md says how",
        )


def _log() -> None:
    """Write one line of JSON for each thing that happens; the access log is a proxy's matter."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
