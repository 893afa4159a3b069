"""What editors say in place of the captions of photo stories.

Types are written out, so that this step stays what it was when the tables of today change.
"""

import sqlalchemy as sa
from alembic import op

from newsportal.storage.sql.steps import add_column

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_column("gallery_pictures", sa.Column("said", sa.Text))


def downgrade() -> None:
    with op.batch_alter_table("gallery_pictures") as changed:
        changed.drop_column("said")
