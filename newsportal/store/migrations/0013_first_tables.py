"""The first tables. Types are written out, so that this step stays what it was when the tables of today change."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from newsportal.store.migration_steps import create_index, create_indexes, create_table

revision = "0013"
down_revision = None
branch_labels = None
depends_on = None

ID, NAME = sa.String(20), sa.String(255)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LONG_BINARY = sa.LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb")


def columns(kind: Any, *names: str, nullable: bool = True) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=nullable) for name in names]


def upgrade() -> None:
    _create_articles()
    _create_folding()
    _create_crawls()
    _create_corpora()
    _create_threads()
    _create_galleries()
    _create_pictures()
    _create_readers()
    _create_outbox()
    _create_links()


def _create_articles() -> None:
    create_table(
        "stories",
        sa.Column("id", ID, primary_key=True),
        sa.Column("head_id", ID, nullable=False),
        *columns(sa.Integer, "count", "sites", nullable=False),
        *columns(sa.BigInteger, "first_seen", "last_seen", "moment", nullable=False),
        sa.Column("heat", sa.Float(53), nullable=False),
    )
    create_indexes("stories", "heat id", "moment id")
    create_table(
        "articles",
        sa.Column("id", ID, primary_key=True),
        sa.Column("story_id", ID, sa.ForeignKey("stories.id"), nullable=False),
        *columns(sa.Text, "identity", "url", "title", "text", nullable=False),
        *columns(NAME, "source", "publisher", nullable=False),
        *columns(NAME, "site", "category", "category_by", "hidden_by", "corrected_by", "corrected_fields"),
        *columns(sa.Float(53), "category_score", "fold_score"),
        *columns(
            sa.Text, "category_reason", "fold_reason", "hidden_reason", "author", "origin", "language", "algorithm", "summary", "html"
        ),
        sa.Column("keywords", sa.JSON),
        *columns(sa.BigInteger, "first_seen", "moment", "fetched", nullable=False),
        *columns(sa.Integer, "length", "revision", nullable=False),
        sa.Column("fold_of", ID),
        *columns(sa.BigInteger, "hidden", "published", "corrected"),
        sa.Column("images", sa.JSON, nullable=False),
    )
    create_indexes(
        "articles",
        "category_by moment",
        "category moment",
        "category_score moment id hidden category_by",
        "corrected",
        "hidden",
        "length moment id hidden",
        "moment",
        "published moment",
        "source moment",
        "story_id moment",
    )
    create_table(
        "article_topics",
        sa.Column("article_id", ID, sa.ForeignKey("articles.id"), primary_key=True),
        sa.Column("topic", NAME, primary_key=True),
        sa.Column("by", NAME),
        sa.Column("score", sa.Float(53)),
    )
    create_table(
        "revisions",
        sa.Column("article_id", ID, sa.ForeignKey("articles.id"), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("fetched", sa.BigInteger, nullable=False),
        *columns(sa.BigInteger, "published", "corrected"),
        *columns(sa.Text, "title", "text", nullable=False),
        *columns(sa.Text, "author", "origin", "language", "algorithm", "summary", "html"),
        sa.Column("images", sa.JSON, nullable=False),
        *columns(NAME, "corrected_by", "corrected_fields"),
    )
    create_table(
        "aliases",
        sa.Column("id", ID, primary_key=True),
        sa.Column("article_id", ID, sa.ForeignKey("articles.id"), nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger),
    )
    create_indexes("aliases", "seq id")
    create_table(
        "declared_names",
        sa.Column("id", ID, primary_key=True),
        sa.Column("article_id", ID, sa.ForeignKey("articles.id"), primary_key=True),
    )


def _create_folding() -> None:
    create_table(
        "fold_keys",
        sa.Column("key", ID, primary_key=True),
        sa.Column("article_id", ID, sa.ForeignKey("articles.id"), primary_key=True),
        sa.Column("moment", sa.BigInteger, nullable=False),
    )
    create_indexes("fold_keys", "key moment")
    create_table(
        "unfolded",
        sa.Column("article_id", ID, sa.ForeignKey("articles.id"), primary_key=True),
        sa.Column("story_id", ID, primary_key=True),
    )
    create_table(
        "prints",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("article_id", ID, sa.ForeignKey("articles.id"), nullable=False, unique=True),
        *columns(sa.BigInteger, "moment", "seen", nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("runs", LONG_BINARY, nullable=False),
        sqlite_autoincrement=True,
    )
    create_table(
        "story_labels",
        sa.Column("story_id", ID, sa.ForeignKey("stories.id"), primary_key=True),
        sa.Column("kind", sa.String(8), primary_key=True),
        sa.Column("value", NAME, primary_key=True),
        sa.Column("moment", sa.BigInteger, nullable=False),
        sa.Column("heat", sa.Float(53), nullable=False),
    )
    create_indexes("story_labels", "kind value heat story_id", "kind value moment story_id")
    create_table(
        "changes",
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )


def _create_crawls() -> None:
    create_table(
        "runs",
        sa.Column("id", NAME, primary_key=True),
        sa.Column("started", sa.BigInteger, nullable=False),
        sa.Column("report", sa.JSON, nullable=False),
    )
    create_indexes("runs", "started")
    create_table(
        "source_states",
        sa.Column("source", NAME, primary_key=True),
        sa.Column("state", sa.JSON, nullable=False),
    )
    create_table(
        "site_lines",
        sa.Column("site", NAME, primary_key=True),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("pages", sa.JSON, nullable=False),
    )
    create_indexes("site_lines", "seen")
    create_table(
        "visits",
        sa.Column("source", NAME, primary_key=True),
        sa.Column("at", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("brought", sa.Integer, nullable=False, server_default="0"),
        sa.Column("told", sa.JSON, nullable=False),
    )
    create_indexes("visits", "at", "source brought at")
    create_table(
        "subscriptions",
        sa.Column("source", NAME, primary_key=True),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("told", sa.JSON, nullable=False),
    )
    create_indexes("subscriptions", "token")


def _create_corpora() -> None:
    create_table(
        "corpora",
        sa.Column("id", ID, primary_key=True),
        sa.Column("name", NAME, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("active", sa.Integer),
    )
    create_table(
        "labelled",
        sa.Column("corpus_id", ID, sa.ForeignKey("corpora.id"), primary_key=True),
        sa.Column("id", ID, primary_key=True),
        sa.Column("article_id", ID),
        *columns(sa.Text, "name", "title", "text"),
        sa.Column("number", sa.Integer, nullable=False),
        *columns(NAME, "label", "label_by"),
        sa.Column("label_source", sa.String(16), nullable=False),
        sa.Column("label_at", sa.BigInteger, nullable=False),
    )
    create_indexes("labelled", "article_id", "corpus_id label")
    create_table(
        "former_labels",
        sa.Column("corpus_id", ID, sa.ForeignKey("corpora.id"), primary_key=True),
        sa.Column("id", ID, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        *columns(NAME, "label", "label_by"),
        sa.Column("label_source", sa.String(16), nullable=False),
        sa.Column("label_at", sa.BigInteger, nullable=False),
    )
    create_table(
        "models",
        sa.Column("corpus_id", ID, sa.ForeignKey("corpora.id"), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("algorithm", sa.String(64), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("activated", sa.BigInteger),
        sa.Column("facts", sa.JSON, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("held_out", LONG_BINARY, nullable=False),
        sa.Column("model", LONG_BINARY),
    )


def _create_threads() -> None:
    create_table(
        "threads",
        sa.Column("id", ID, sa.ForeignKey("articles.id"), primary_key=True),
        sa.Column("board", NAME),
        sa.Column("posts", sa.Integer, nullable=False),
        *columns(sa.BigInteger, "newest", "listed"),
        sa.Column("visited", sa.BigInteger, nullable=False),
        sa.Column("last_page", sa.Text, nullable=False),
        sa.Column("whole", sa.Boolean, nullable=False),
        sa.Column("replies", NUMBER),
    )
    create_table(
        "posts",
        sa.Column("thread_id", ID, sa.ForeignKey("threads.id"), primary_key=True),
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("floor", NUMBER),
        *columns(sa.Text, "author", "date_text", "quoted"),
        *columns(sa.BigInteger, "published", "changed"),
        sa.Column("text", sa.Text, nullable=False),
        *columns(sa.JSON, "images", "earlier", nullable=False),
        sa.Column("first_seen", sa.BigInteger, nullable=False),
    )
    create_indexes("posts", "thread_id place")


def _create_galleries() -> None:
    create_table(
        "galleries",
        sa.Column("id", ID, sa.ForeignKey("articles.id"), primary_key=True),
        sa.Column("complete", sa.Boolean, nullable=False),
        *columns(sa.Integer, "pictures", "pages", "vain", "weight", nullable=False),
        sa.Column("total", NUMBER),
        *columns(sa.JSON, "missing", "addresses", nullable=False),
        sa.Column("failure", sa.Text),
        *columns(sa.BigInteger, "visited", "moment", nullable=False),
        sa.Column("score", sa.Float(53), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    create_indexes("galleries", "complete visited", "moment id", "score id")
    create_table(
        "gallery_pages",
        sa.Column("gallery", ID, primary_key=True),
        sa.Column("page", ID, primary_key=True),
        sa.Column("number", sa.Integer),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("said", sa.JSON, nullable=False),
    )
    create_indexes("gallery_pages", "seen")
    create_table(
        "gallery_pictures",
        sa.Column("gallery_id", ID, sa.ForeignKey("galleries.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("name", ID, nullable=False),
        *columns(sa.Text, "caption", "format", "page", "said"),
        *columns(NUMBER, "width", "height"),
        sa.Column("print", sa.String(16)),
        sa.Column("dropped", sa.String(64)),
    )
    create_indexes("gallery_pictures", "name", "print")
    create_table(
        "gallery_labels",
        sa.Column("gallery_id", ID, sa.ForeignKey("galleries.id"), primary_key=True),
        sa.Column("kind", sa.String(8), primary_key=True),
        sa.Column("value", NAME, primary_key=True),
        sa.Column("score", sa.Float(53), nullable=False),
        sa.Column("moment", sa.BigInteger, nullable=False),
    )
    create_indexes("gallery_labels", "kind value moment gallery_id", "kind value score gallery_id")
    create_table(
        "gallery_refused",
        sa.Column("name", ID, primary_key=True),
        sa.Column("reason", sa.String(64), nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
    )
    create_indexes("gallery_refused", "seen")
    create_table(
        "gallery_words",
        sa.Column("gallery_id", ID, sa.ForeignKey("galleries.id"), primary_key=True),
        sa.Column("words", sa.JSON, nullable=False),
    )
    create_table(
        "gallery_keys",
        sa.Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("gallery_id", ID, sa.ForeignKey("galleries.id"), primary_key=True),
        sa.Column("moment", sa.BigInteger, nullable=False),
    )
    create_indexes("gallery_keys", "gallery_id", "key moment")


def _create_pictures() -> None:
    create_table(
        "pictures",
        sa.Column("id", ID, primary_key=True),
        *columns(sa.Text, "key", "url", nullable=False),
        *columns(NUMBER, "width", "height"),
        *columns(sa.String(64), "format", "refused", "frequent"),
        sa.Column("print", sa.String(16)),
        *columns(sa.BigInteger, "looked", "since"),
        sa.Column("seen", sa.BigInteger, nullable=False),
    )
    create_indexes("pictures", "print", "since")
    create_table(
        "picture_stories",
        sa.Column("id", ID, primary_key=True),
        sa.Column("site", NAME, nullable=False),
        sa.Column("title", ID, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
    )
    create_indexes("picture_stories", "site")
    create_table(
        "picture_sightings",
        sa.Column("picture_id", ID, primary_key=True),
        sa.Column("story_id", ID, primary_key=True),
    )
    create_indexes("picture_sightings", "story_id")


def _create_readers() -> None:
    create_table(
        "readers_off",
        sa.Column("reader", sa.String(64), primary_key=True),
        sa.Column("since", sa.BigInteger, nullable=False),
    )
    create_table(
        "views",
        sa.Column("reader", sa.String(64), primary_key=True),
        sa.Column("article_id", ID, sa.ForeignKey("articles.id"), primary_key=True),
        *columns(sa.Integer, "seen", "pictures", nullable=False),
        sa.Column("places", sa.LargeBinary, nullable=False),
        *columns(sa.BigInteger, "first", "at", nullable=False),
    )
    create_indexes("views", "at", "first reader seen")
    create_table(
        "offers",
        sa.Column("reader", sa.String(64), primary_key=True),
        sa.Column("story_id", ID, primary_key=True),
        sa.Column("day", sa.BigInteger, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.String(16), nullable=False),
        sa.Column("opened", ID),
    )
    create_indexes("offers", "day")
    create_table(
        "reading_months",
        sa.Column("start", sa.BigInteger, primary_key=True),
        *columns(sa.Integer, "views", "pictures", "readers", "offered", "opened", "liked", nullable=False),
    )
    create_table(
        "fits",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("made", sa.BigInteger, nullable=False),
        sa.Column("facts", sa.JSON, nullable=False),
        sa.Column("packed", LONG_BINARY),
        sqlite_autoincrement=True,
    )
    create_indexes("fits", "made")


def _create_outbox() -> None:
    create_table(
        "outbox",
        sa.Column("target", NAME, primary_key=True),
        sa.Column("article_id", ID, primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("wanted", sa.String(8), nullable=False),
        *columns(sa.BigInteger, "due", "changed", "fence", nullable=False),
        sa.Column("owner", NAME),
        *columns(sa.Integer, "asked", "tries", nullable=False),
        sa.Column("revision", sa.Integer),
        sa.Column("digest", sa.String(64)),
        *columns(sa.Text, "place", "reason"),
    )
    create_indexes("outbox", "article_id", "state changed", "target state due")
    create_table(
        "outbox_positions",
        sa.Column("target", NAME, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
    )


def _create_links() -> None:
    create_table(
        "links",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("queue", sa.String(100), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("host", NAME, nullable=False),
        *columns(NAME, "source", "lane"),
        *columns(sa.Integer, "precedence", "link", "tries", "failures", nullable=False),
        *columns(sa.Float(53), "not_before", "since"),
        *columns(sa.BigInteger, "seen", "worker"),
        sa.Column("reason", sa.Text),
        *columns(sa.Float(53), "added", "changed", nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    create_index("ix_links_id_queue", "links", ["id", "queue"], unique=True)
    create_index("ix_links_queue_state_host_precedence", "links", ["queue", "state", "host", "precedence", "number"])
    create_indexes("links", "queue state not_before", "source state", "queue lane state", "worker", "queue seen")
    create_table(
        "link_lines",
        sa.Column("host", NAME, primary_key=True),
        sa.Column("queue", sa.String(100), primary_key=True),
        *columns(sa.Integer, "waiting", "ready", "resting", nullable=False),
        sa.Column("top", sa.Integer),
        sa.Column("holder", sa.BigInteger, nullable=False),
        sa.Column("free_at", sa.Float(53), nullable=False),
    )
    create_indexes("link_lines", "queue resting free_at")
    create_index("ix_link_lines_queue_holder_resting_top", "link_lines", ["queue", "holder", "resting", "top", "free_at"])
    create_table(
        "link_hosts",
        sa.Column("host", NAME, primary_key=True),
        *columns(sa.BigInteger, "holder", "wanted_by", nullable=False),
        *columns(sa.Float(53), "free_at", "gap", "wanted_until", nullable=False),
    )
    create_indexes("link_hosts", "holder")
    create_table(
        "link_workers",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("queue", sa.String(100), nullable=False),
        *columns(NAME, "name", "machine", nullable=False),
        sa.Column("pid", sa.BigInteger, nullable=False),
        sa.Column("started", sa.String(64)),
        *columns(sa.Float(53), "since", "beat", "delay", "hungry", nullable=False),
        sa.Column("draining", sa.Integer, nullable=False),
        sa.Column("doing", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    create_table(
        "link_claims",
        sa.Column("job", NAME, primary_key=True),
        sa.Column("worker", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.Float(53), nullable=False),
    )
    create_table(
        "link_clock",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        *columns(sa.Float(53), "ticks", "shift", "swept", nullable=False),
    )
