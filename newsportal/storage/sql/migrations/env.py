"""Alembic's way in. The connection comes from ``newsportal.storage.sql.schema``, inside its transaction."""

from alembic import context

from newsportal.storage.sql.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
