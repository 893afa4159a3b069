"""Standard names for tables and columns, and for the actions of the outbox. Tables of running workers are filled from the links when empty:
hosts are counted by queue in one and locked in another."""

import sqlalchemy as sa
from alembic import op

from newsportal.store.schema import STORE, Renames, complete, rename, tables_of

revision = "0015"
down_revision = "0014"

RENAMES = Renames(
    {
        "declared_names": "declared_urls", "fits": "recommendation_models", "gallery_refused": "rejected_galleries",
        "labelled": "labelled_texts", "offers": "recommendations", "prints": "fingerprints", "readers_off": "opted_out_readers",
        "subscriptions": "websub_subscriptions",
    },
    {
        "board_ranks": {"place": "rank"},
        "corpora": {"active": "active_version"},
        "events": {"changed": "change_seq"},
        "fingerprints": {"seen": "added", "runs": "shingles"},
        "galleries": {"vain": "fruitless_visits", "addresses": "page_urls"},
        "gallery_pages": {"gallery": "gallery_id", "page": "page_id", "seen": "fetched", "said": "content"},
        "gallery_pictures": {
            "name": "url_hash", "page": "page_url", "print": "perceptual_hash", "dropped": "hidden_reason", "said": "edited_caption",
        },
        "links": {"seen": "fingerprint"},
        "outbox": {"wanted": "action", "asked": "requests", "place": "location"},
        "picture_stories": {"title": "title_hash", "seen": "last_seen"},
        "pictures": {
            "print": "perceptual_hash", "refused": "rejected_reason", "looked": "fetched", "frequent": "frequent_reason",
            "since": "frequent_since", "seen": "last_seen",
        },
        "posts": {"place": "position", "changed": "edited", "earlier": "former_texts"},
        "recommendation_models": {"made": "created", "packed": "model"},
        "recommendations": {"by": "method", "opened": "opened_article_id"},
        "rejected_galleries": {"name": "id", "seen": "rejected"},
        "site_lines": {"seen": "saved"},
        "threads": {"newest": "last_post", "whole": "complete", "listed": "last_reply"},
        "views": {"seen": "pictures_seen", "places": "seen_bitmap", "first": "first_viewed", "at": "last_viewed"},
        "visits": {"told": "result", "brought": "found_new"},
        "websub_subscriptions": {"told": "details"},
    },
    {
        "links": {"state": {"later": "deferred", "aside": "poisoned"}},
        "outbox": {"action": {"there": "publish", "gone": "withdraw"}},
    },
)  # fmt: skip

FORMER_WORKERS = ("link_lines", "link_hosts")
WORKERS = ("link_workers", "link_host_queues", "link_host_locks")


def upgrade() -> None:
    rename(RENAMES)
    for table in (*FORMER_WORKERS, *WORKERS):
        op.drop_table(table, if_exists=True)
    connection = op.get_bind()
    complete(connection, [table for table in tables_of(STORE, connection.dialect.name) if table.name in WORKERS])
    for table in ("link_claims", "link_clock"):
        op.execute(sa.delete(sa.table(table)))
