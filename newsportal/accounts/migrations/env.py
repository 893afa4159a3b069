"""Alembic's way in. Connection and table of versions come from ``newsportal.storage.sql.schema``, inside its transaction."""

from alembic import context

from newsportal.accounts.marks_tables import METADATA  # all tables of accounts

told = context.config.attributes
context.configure(connection=told["connection"], version_table=told["table"], target_metadata=METADATA)
context.run_migrations()
