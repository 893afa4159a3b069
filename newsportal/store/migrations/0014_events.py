"""Tables of events over stories, filled by the next follower of the change log; of the assistant's answers; of hot lists.

They are created with their present names: later steps leave these out (``schema.rename``).
"""

from alembic import op

from newsportal.store.schema import STORE, complete, tables_of

revision = "0014"
down_revision = None  # migrates a store of schema 0013

TABLES = ("events", "event_stories", "event_edits", "event_redirects", "event_position", "assistant_calls", "board_ranks")


def upgrade() -> None:
    connection = op.get_bind()
    complete(connection, [table for table in tables_of(STORE, connection.dialect.name) if table.name in TABLES])
