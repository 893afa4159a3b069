"""What a person chose: language, theme, topics, and the name of his reading history."""

from alembic import op
from sqlalchemy import Column

from newsportal.services.accounts.tables import PREFERENCES
from newsportal.store.schema import exact

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    database = op.get_bind().dialect.name
    person, chosen = PREFERENCES.columns
    columns = (Column(person.name, exact(person.type, database), primary_key=True), Column(chosen.name, chosen.type, nullable=False))
    op.create_table("preferences", *columns)
