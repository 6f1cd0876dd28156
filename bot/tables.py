"""The tables of the webhook app, the same on SQLite and Postgres.

Times are seconds since 1970. `intent`, `order`, `progress` and `ending` are JSON.
"""

from __future__ import annotations

import sqlalchemy as sa

VERSION = 1
METADATA = sa.MetaData()

#: One row for each delivery, kept so that a second one is known.
DELIVERIES = sa.Table(
    "optiml_deliveries",
    METADATA,
    sa.Column("guid", sa.String(64), primary_key=True),
    sa.Column("event", sa.String(64), nullable=False),
    sa.Column("repository", sa.String(201), nullable=False),
    sa.Column("job", sa.String(32), nullable=False),  # empty when there was nothing to do
    sa.Column("words", sa.String(200), nullable=False),
    sa.Column("received", sa.Float(53), nullable=False, index=True),
    sa.Column("times", sa.Integer, nullable=False),
)

#: One row for each thing to do. `seq` says what came later, whatever replica took it.
JOBS = sa.Table(
    "optiml_jobs",
    METADATA,
    sa.Column(
        "seq",
        sa.BigInteger().with_variant(sa.Integer, "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    sa.Column("id", sa.String(32), nullable=False, unique=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("repository", sa.String(201), nullable=False),
    sa.Column("number", sa.BigInteger, nullable=True),
    sa.Column("actor", sa.String(100), nullable=False),
    sa.Column("intent", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("owner", sa.String(100), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("wish", sa.String(300), nullable=False),  # why it is to end; empty: go on
    sa.Column("nudged", sa.Float(53), nullable=False),
    sa.Column("head", sa.String(64), nullable=False),
    sa.Column("order", sa.Text, nullable=False),
    sa.Column("handle", sa.Text, nullable=False),
    sa.Column("check_id", sa.BigInteger, nullable=True),
    sa.Column("check_open", sa.Boolean, nullable=False),
    sa.Column("progress", sa.Text, nullable=False),
    sa.Column("title", sa.String(300), nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("ending", sa.Text, nullable=False),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("updated", sa.Float(53), nullable=False),
    sa.Index("optiml_jobs_state", "state", "kind", "seq"),
    sa.Index("optiml_jobs_pull", "repository", "number", "kind", "seq"),
    sa.Index("optiml_jobs_actor", "actor", "created"),
    sqlite_autoincrement=True,  # a number is never used twice, even after old rows are dropped
)

#: What reviews found: one row for each kernel, the `Reviewed` as packed JSON.
OUTCOMES = sa.Table(
    "optiml_outcomes",
    METADATA,
    sa.Column("job", sa.String(32), primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True),
    sa.Column("repository", sa.String(201), nullable=False),
    sa.Column("number", sa.BigInteger, nullable=True),
    sa.Column("head", sa.String(64), nullable=False),
    sa.Column("ident", sa.String(16), nullable=False),  # empty when there is nothing to apply
    sa.Column("packed", sa.LargeBinary, nullable=False),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Index("optiml_outcomes_ident", "repository", "number", "ident"),
)

#: Which commits of forks somebody with write access lets run.
APPROVALS = sa.Table(
    "optiml_approvals",
    METADATA,
    sa.Column("repository", sa.String(201), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True),
    sa.Column("sha", sa.String(64), nullable=False),
    sa.Column("actor", sa.String(100), nullable=False),
    sa.Column("at", sa.Float(53), nullable=False),
)

#: Changes that are never to be offered again, by fingerprint of kernel and edit.
DISMISSALS = sa.Table(
    "optiml_dismissals",
    METADATA,
    sa.Column("repository", sa.String(201), primary_key=True),
    sa.Column("fingerprint", sa.String(128), primary_key=True),
    sa.Column("actor", sa.String(100), nullable=False),
    sa.Column("at", sa.Float(53), nullable=False),
)

#: GPU minutes, booked when an order begins and corrected when it ends.
SPENDING = sa.Table(
    "optiml_spending",
    METADATA,
    sa.Column("job", sa.String(32), primary_key=True),
    sa.Column("repository", sa.String(201), nullable=False),
    sa.Column("number", sa.BigInteger, nullable=True),
    sa.Column("actor", sa.String(100), nullable=False),
    sa.Column("minutes", sa.Float(53), nullable=False),
    sa.Column("at", sa.Float(53), nullable=False),
    sa.Index("optiml_spending_at", "repository", "at"),
)

#: The kill switch: a row stops everything (`*`) or one repository.
SWITCHES = sa.Table(
    "optiml_switches",
    METADATA,
    sa.Column("scope", sa.String(201), primary_key=True),
    sa.Column("reason", sa.String(300), nullable=False),
    sa.Column("at", sa.Float(53), nullable=False),
)

#: Processes that are alive, by their last heartbeat.
REPLICAS = sa.Table(
    "optiml_replicas",
    METADATA,
    sa.Column("id", sa.String(100), primary_key=True),
    sa.Column("beat", sa.Float(53), nullable=False),
)

#: Small facts: the schema's version, how far the sweep is, who sweeps.
MARKS = sa.Table(
    "optiml_marks",
    METADATA,
    sa.Column("name", sa.String(100), primary_key=True),
    sa.Column("value", sa.String(300), nullable=False),
    sa.Column("at", sa.Float(53), nullable=False),
)
