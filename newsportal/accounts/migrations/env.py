"""Alembic's way in. Connection and table of versions come from ``newsportal.storage.sql.schema``, inside its transaction."""

from alembic import context

import newsportal.accounts.alerts_tables
import newsportal.accounts.marks_tables  # noqa: F401  all tables of accounts
from newsportal.accounts.tables import METADATA

told = context.config.attributes
context.configure(connection=told["connection"], version_table=told["table"], target_metadata=METADATA)
context.run_migrations()
