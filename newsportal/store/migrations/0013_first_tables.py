"""The first tables. Types are written out, so that this step stays what it was when the tables of today change."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from newsportal.store.migration_steps import create_index, create_table

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
    create_index("ix_stories_heat_id", "stories", ["heat", "id"])
    create_index("ix_stories_moment_id", "stories", ["moment", "id"])
    create_table(
        "articles",
        sa.Column("id", ID, primary_key=True),
        sa.Column("story_id", ID, sa.ForeignKey("stories.id"), nullable=False),
        *columns(sa.Text, "identity", "url", nullable=False),
        sa.Column("source", NAME, nullable=False),
        sa.Column("site", NAME),
        sa.Column("publisher", NAME, nullable=False),
        *columns(NAME, "category", "category_by"),
        sa.Column("category_score", sa.Float(53)),
        sa.Column("category_reason", sa.Text),
        sa.Column("keywords", sa.JSON),
        *columns(sa.BigInteger, "first_seen", "moment", nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("fold_of", ID),
        sa.Column("fold_reason", sa.Text),
        sa.Column("fold_score", sa.Float(53)),
        sa.Column("hidden", sa.BigInteger),
        sa.Column("hidden_by", NAME),
        sa.Column("hidden_reason", sa.Text),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("fetched", sa.BigInteger, nullable=False),
        sa.Column("published", sa.BigInteger),
        sa.Column("title", sa.Text, nullable=False),
        *columns(sa.Text, "author", "origin", "language", "algorithm", "summary"),
        sa.Column("images", sa.JSON, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("html", sa.Text),
        sa.Column("corrected", sa.BigInteger),
        *columns(NAME, "corrected_by", "corrected_fields"),
    )
    create_index("ix_articles_category_by_moment", "articles", ["category_by", "moment"])
    create_index("ix_articles_category_moment", "articles", ["category", "moment"])
    scored = ["category_score", "moment", "id", "hidden", "category_by"]
    create_index("ix_articles_category_score_moment_id_hidden_category_by", "articles", scored)
    create_index("ix_articles_corrected", "articles", ["corrected"])
    create_index("ix_articles_hidden", "articles", ["hidden"])
    create_index("ix_articles_length_moment_id_hidden", "articles", ["length", "moment", "id", "hidden"])
    create_index("ix_articles_moment", "articles", ["moment"])
    create_index("ix_articles_published_moment", "articles", ["published", "moment"])
    create_index("ix_articles_source_moment", "articles", ["source", "moment"])
    create_index("ix_articles_story_id_moment", "articles", ["story_id", "moment"])
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
        sa.Column("published", sa.BigInteger),
        sa.Column("title", sa.Text, nullable=False),
        *columns(sa.Text, "author", "origin", "language", "algorithm", "summary"),
        sa.Column("images", sa.JSON, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("html", sa.Text),
        sa.Column("corrected", sa.BigInteger),
        *columns(NAME, "corrected_by", "corrected_fields"),
    )
    create_table(
        "aliases",
        sa.Column("id", ID, primary_key=True),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("article_id", ID, sa.ForeignKey("articles.id"), nullable=False),
        sa.Column("seq", sa.BigInteger),
    )
    create_index("ix_aliases_seq_id", "aliases", ["seq", "id"])
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
    create_index("ix_fold_keys_key_moment", "fold_keys", ["key", "moment"])
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
    create_index("ix_story_labels_kind_value_heat_story_id", "story_labels", ["kind", "value", "heat", "story_id"])
    create_index("ix_story_labels_kind_value_moment_story_id", "story_labels", ["kind", "value", "moment", "story_id"])
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
    create_index("ix_runs_started", "runs", ["started"])
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
    create_index("ix_site_lines_seen", "site_lines", ["seen"])
    create_table(
        "visits",
        sa.Column("source", NAME, primary_key=True),
        sa.Column("at", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("brought", sa.Integer, nullable=False, server_default="0"),
        sa.Column("told", sa.JSON, nullable=False),
    )
    create_index("ix_visits_at", "visits", ["at"])
    create_index("ix_visits_source_brought_at", "visits", ["source", "brought", "at"])
    create_table(
        "subscriptions",
        sa.Column("source", NAME, primary_key=True),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("told", sa.JSON, nullable=False),
    )
    create_index("ix_subscriptions_token", "subscriptions", ["token"])


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
        sa.Column("label", NAME),
        sa.Column("label_source", sa.String(16), nullable=False),
        sa.Column("label_by", NAME),
        sa.Column("label_at", sa.BigInteger, nullable=False),
    )
    create_index("ix_labelled_article_id", "labelled", ["article_id"])
    create_index("ix_labelled_corpus_id_label", "labelled", ["corpus_id", "label"])
    create_table(
        "former_labels",
        sa.Column("corpus_id", ID, sa.ForeignKey("corpora.id"), primary_key=True),
        sa.Column("id", ID, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("label", NAME),
        sa.Column("label_source", sa.String(16), nullable=False),
        sa.Column("label_by", NAME),
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
        sa.Column("newest", sa.BigInteger),
        sa.Column("visited", sa.BigInteger, nullable=False),
        sa.Column("last_page", sa.Text, nullable=False),
        sa.Column("whole", sa.Boolean, nullable=False),
        sa.Column("replies", NUMBER),
        sa.Column("listed", sa.BigInteger),
    )
    create_table(
        "posts",
        sa.Column("thread_id", ID, sa.ForeignKey("threads.id"), primary_key=True),
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("floor", NUMBER),
        sa.Column("author", sa.Text),
        sa.Column("published", sa.BigInteger),
        sa.Column("date_text", sa.Text),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("quoted", sa.Text),
        sa.Column("images", sa.JSON, nullable=False),
        sa.Column("first_seen", sa.BigInteger, nullable=False),
        sa.Column("changed", sa.BigInteger),
        sa.Column("earlier", sa.JSON, nullable=False),
    )
    create_index("ix_posts_thread_id_place", "posts", ["thread_id", "place"])


def _create_galleries() -> None:
    create_table(
        "galleries",
        sa.Column("id", ID, sa.ForeignKey("articles.id"), primary_key=True),
        sa.Column("complete", sa.Boolean, nullable=False),
        *columns(sa.Integer, "pictures", "pages", nullable=False),
        sa.Column("total", NUMBER),
        sa.Column("missing", sa.JSON, nullable=False),
        sa.Column("failure", sa.Text),
        sa.Column("visited", sa.BigInteger, nullable=False),
        *columns(sa.Integer, "vain", "weight", nullable=False),
        sa.Column("score", sa.Float(53), nullable=False),
        sa.Column("moment", sa.BigInteger, nullable=False),
        sa.Column("addresses", sa.JSON, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    create_index("ix_galleries_complete_visited", "galleries", ["complete", "visited"])
    create_index("ix_galleries_moment_id", "galleries", ["moment", "id"])
    create_index("ix_galleries_score_id", "galleries", ["score", "id"])
    create_table(
        "gallery_pages",
        sa.Column("gallery", ID, primary_key=True),
        sa.Column("page", ID, primary_key=True),
        sa.Column("number", sa.Integer),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("said", sa.JSON, nullable=False),
    )
    create_index("ix_gallery_pages_seen", "gallery_pages", ["seen"])
    create_table(
        "gallery_pictures",
        sa.Column("gallery_id", ID, sa.ForeignKey("galleries.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("name", ID, nullable=False),
        sa.Column("caption", sa.Text),
        *columns(NUMBER, "width", "height"),
        *columns(sa.Text, "format", "page"),
        sa.Column("print", sa.String(16)),
        sa.Column("dropped", sa.String(64)),
        sa.Column("said", sa.Text),
    )
    create_index("ix_gallery_pictures_name", "gallery_pictures", ["name"])
    create_index("ix_gallery_pictures_print", "gallery_pictures", ["print"])
    create_table(
        "gallery_labels",
        sa.Column("gallery_id", ID, sa.ForeignKey("galleries.id"), primary_key=True),
        sa.Column("kind", sa.String(8), primary_key=True),
        sa.Column("value", NAME, primary_key=True),
        sa.Column("score", sa.Float(53), nullable=False),
        sa.Column("moment", sa.BigInteger, nullable=False),
    )
    create_index("ix_gallery_labels_kind_value_moment_gallery_id", "gallery_labels", ["kind", "value", "moment", "gallery_id"])
    create_index("ix_gallery_labels_kind_value_score_gallery_id", "gallery_labels", ["kind", "value", "score", "gallery_id"])
    create_table(
        "gallery_refused",
        sa.Column("name", ID, primary_key=True),
        sa.Column("reason", sa.String(64), nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
    )
    create_index("ix_gallery_refused_seen", "gallery_refused", ["seen"])
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
    create_index("ix_gallery_keys_gallery_id", "gallery_keys", ["gallery_id"])
    create_index("ix_gallery_keys_key_moment", "gallery_keys", ["key", "moment"])


def _create_pictures() -> None:
    create_table(
        "pictures",
        sa.Column("id", ID, primary_key=True),
        *columns(sa.Text, "key", "url", nullable=False),
        *columns(NUMBER, "width", "height"),
        sa.Column("format", sa.String(64)),
        sa.Column("print", sa.String(16)),
        sa.Column("refused", sa.String(64)),
        sa.Column("looked", sa.BigInteger),
        sa.Column("frequent", sa.String(64)),
        sa.Column("since", sa.BigInteger),
        sa.Column("seen", sa.BigInteger, nullable=False),
    )
    create_index("ix_pictures_print", "pictures", ["print"])
    create_index("ix_pictures_since", "pictures", ["since"])
    create_table(
        "picture_stories",
        sa.Column("id", ID, primary_key=True),
        sa.Column("site", NAME, nullable=False),
        sa.Column("title", ID, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
    )
    create_index("ix_picture_stories_site", "picture_stories", ["site"])
    create_table(
        "picture_sightings",
        sa.Column("picture_id", ID, primary_key=True),
        sa.Column("story_id", ID, primary_key=True),
    )
    create_index("ix_picture_sightings_story_id", "picture_sightings", ["story_id"])


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
    create_index("ix_views_at", "views", ["at"])
    create_index("ix_views_first_reader_seen", "views", ["first", "reader", "seen"])
    create_table(
        "offers",
        sa.Column("reader", sa.String(64), primary_key=True),
        sa.Column("story_id", ID, primary_key=True),
        sa.Column("day", sa.BigInteger, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.String(16), nullable=False),
        sa.Column("opened", ID),
    )
    create_index("ix_offers_day", "offers", ["day"])
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
    create_index("ix_fits_made", "fits", ["made"])


def _create_outbox() -> None:
    create_table(
        "outbox",
        sa.Column("target", NAME, primary_key=True),
        sa.Column("article_id", ID, primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("wanted", sa.String(8), nullable=False),
        *columns(sa.BigInteger, "due", "changed", nullable=False),
        sa.Column("owner", NAME),
        sa.Column("fence", sa.BigInteger, nullable=False),
        *columns(sa.Integer, "asked", "tries", nullable=False),
        sa.Column("revision", sa.Integer),
        sa.Column("digest", sa.String(64)),
        *columns(sa.Text, "place", "reason"),
    )
    create_index("ix_outbox_article_id", "outbox", ["article_id"])
    create_index("ix_outbox_state_changed", "outbox", ["state", "changed"])
    create_index("ix_outbox_target_state_due", "outbox", ["target", "state", "due"])
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
        sa.Column("source", NAME),
        sa.Column("precedence", sa.Integer, nullable=False),
        sa.Column("not_before", sa.Float(53)),
        sa.Column("lane", NAME),
        sa.Column("seen", sa.BigInteger),
        sa.Column("link", sa.Integer, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("worker", sa.BigInteger),
        sa.Column("since", sa.Float(53)),
        sa.Column("reason", sa.Text),
        sa.Column("added", sa.Float(53), nullable=False),
        sa.Column("changed", sa.Float(53), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    create_index("ix_links_id_queue", "links", ["id", "queue"], unique=True)
    create_index("ix_links_queue_state_host_precedence", "links", ["queue", "state", "host", "precedence", "number"])
    create_index("ix_links_queue_state_not_before", "links", ["queue", "state", "not_before"])
    create_index("ix_links_source_state", "links", ["source", "state"])
    create_index("ix_links_queue_lane_state", "links", ["queue", "lane", "state"])
    create_index("ix_links_worker", "links", ["worker"])
    create_index("ix_links_queue_seen", "links", ["queue", "seen"])
    create_table(
        "link_lines",
        sa.Column("host", NAME, primary_key=True),
        sa.Column("queue", sa.String(100), primary_key=True),
        sa.Column("waiting", sa.Integer, nullable=False),
        sa.Column("ready", sa.Integer, nullable=False),
        sa.Column("top", sa.Integer),
        sa.Column("holder", sa.BigInteger, nullable=False),
        sa.Column("resting", sa.Integer, nullable=False),
        sa.Column("free_at", sa.Float(53), nullable=False),
    )
    create_index("ix_link_lines_queue_resting_free_at", "link_lines", ["queue", "resting", "free_at"])
    create_index("ix_link_lines_queue_holder_resting_top", "link_lines", ["queue", "holder", "resting", "top", "free_at"])
    create_table(
        "link_hosts",
        sa.Column("host", NAME, primary_key=True),
        sa.Column("holder", sa.BigInteger, nullable=False),
        sa.Column("free_at", sa.Float(53), nullable=False),
        sa.Column("gap", sa.Float(53), nullable=False),
        sa.Column("wanted_by", sa.BigInteger, nullable=False),
        sa.Column("wanted_until", sa.Float(53), nullable=False),
    )
    create_index("ix_link_hosts_holder", "link_hosts", ["holder"])
    create_table(
        "link_workers",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("queue", sa.String(100), nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("machine", NAME, nullable=False),
        sa.Column("pid", sa.BigInteger, nullable=False),
        sa.Column("started", sa.String(64)),
        sa.Column("since", sa.Float(53), nullable=False),
        sa.Column("beat", sa.Float(53), nullable=False),
        sa.Column("delay", sa.Float(53), nullable=False),
        sa.Column("hungry", sa.Float(53), nullable=False),
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
        sa.Column("ticks", sa.Float(53), nullable=False),
        sa.Column("shift", sa.Float(53), nullable=False),
        sa.Column("swept", sa.Float(53), nullable=False),
    )
