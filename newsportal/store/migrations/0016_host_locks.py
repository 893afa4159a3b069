"""Tables of running workers: hosts are counted by queue in one table and locked in another. They are filled from the links when empty."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from newsportal.store.dialect_mysql import COLLATIONS
from newsportal.store.schema import MYSQL_TABLES, exact

revision = "0016"
down_revision = "0014"


def upgrade() -> None:
    database = op.get_bind().dialect.name
    name, queue, text = (exact(type_, database) for type_ in (sa.String(255), sa.String(100), sa.Text()))
    options: dict[str, Any] = {"if_not_exists": True}  # MySQL commits after every statement: a killed migration is run again
    if database in COLLATIONS:
        options |= {f"{database}_{key}": value for key, value in {**MYSQL_TABLES, "collate": COLLATIONS[database]}.items()}

    def required(column: str, type_: Any, **more: Any) -> Any:
        return sa.Column(column, type_, nullable=False, **more)

    for table in ("link_lines", "link_hosts", "link_workers", "link_host_queues", "link_host_locks"):
        op.drop_table(table, if_exists=True)
    op.create_table(
        "link_host_queues",
        required("host", name), required("queue", queue), required("waiting", sa.Integer), required("ready", sa.Integer),
        sa.Column("top", sa.Integer), sa.PrimaryKeyConstraint("host", "queue", name="pk_link_host_queues"),
        **options,
    )  # fmt: skip
    op.create_table(
        "link_host_locks",
        required("host", name), required("worker", sa.BigInteger), required("next_request", sa.Float(53)),
        required("requested_by", sa.BigInteger), required("requested_until", sa.Float(53)),
        sa.PrimaryKeyConstraint("host", name="pk_link_host_locks"),
        **options,
    )  # fmt: skip
    op.create_table(
        "link_workers",
        required("number", sa.Integer() if database == "sqlite" else sa.BigInteger(), autoincrement=True),
        required("queue", queue), required("name", name), required("machine", name), required("pid", sa.BigInteger),
        sa.Column("started", exact(sa.String(64), database)),
        *(required(column, sa.Float(53)) for column in ("since", "heartbeat", "delay", "starved_until")),
        required("draining", sa.Integer), required("activity", text), sa.PrimaryKeyConstraint("number", name="pk_link_workers"),
        sqlite_autoincrement=True, **options,
    )  # fmt: skip
    op.create_index("ix_link_host_queues_queue_top", "link_host_queues", ("queue", "top", "host"))
    op.create_index("ix_link_host_locks_worker", "link_host_locks", ("worker",))
    for table in ("link_claims", "link_clock"):
        op.execute(sa.delete(sa.table(table)))
