"""Alembic's way in. Connection and table of versions come from ``newsportal.storage.sql.schema``, inside its transaction."""

from alembic import context

from newsportal.storage.sql.tables import METADATA

told = context.config.attributes
context.configure(connection=told["connection"], version_table=told.get("table", "alembic_version"), target_metadata=METADATA)
context.run_migrations()
