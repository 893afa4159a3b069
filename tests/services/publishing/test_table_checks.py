"""A table is checked against its columns before anything is written, and every documented field has a value."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from cms import Cms, sources_with, work_on
from factories import HOUR, NOW, empty_store

from newsportal.services.publishing import fields
from newsportal.services.publishing.base import BadTarget, TargetDown
from newsportal.services.publishing.columns import cell
from newsportal.sources.publishing import FIELDS, BadTemplate, Column, template_parts
from newsportal.store.results import StoredArticle

ARTICLE = StoredArticle(
    "0" * 20, "1" * 20, "a.example/1", "https://a.example/1", "标题", NOW, NOW, "feed:快讯",
    text="第一段\n第二段", published=NOW - HOUR, topics=("旅游", "城市"), category="旅游",
)  # fmt: skip


def problems(cms: Cms, folder: Path, old: str, new: str) -> str:
    store = empty_store()
    assert old in cms.target()
    try:
        with work_on(store, folder, cms.target().replace(old, new)) as work:
            work.target.check()
    except BadTarget as error:
        return str(error)
    finally:
        store.close()
    return ""


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("table: posts", "table: post", "there is no table post; there is: posts (did you mean 'posts'?)"),
        ("    title:", "    titel:", "columns.titel: the table has no such column"),
        (
            "    title:",
            "    theirs: title\n    title:",
            "theirs: the column takes 20 characters, and its values have no maximum",
        ),
        ("max: 80", "max: 90", "the column takes 80 characters, and 90-character values are possible"),
        ("    hits: 0\n", "", "the table's column hits must have a value and has no default"),
        ("hits: 0", "hits: title", "the column holds numbers, and title is text"),
        ("旅游: 12", "旅游: twelve", "'twelve' is text: write a number without quotes"),
        (", default: 1", "", "columns.cat_id: the column must have a value, but some articles have none: add a default"),
        ("{field: moment, zone: Asia/Shanghai}", "{field: moment, format: unix}", "seconds since 1970 are a number"),
        ("{field: moment, zone: Asia/Shanghai}", "{field: published, default: 0}", "0 is not a time: write it as text"),
        ("constant: newsportal", "constant: 7", "7 is not a text: put it in quotes"),
        (
            "    status:",
            "    theirs: {template: '{id}-{day}'}\n    status:",
            "takes 20 characters, and 31-character values",
        ),
        ('slug: {template: "{kind}-{id}"}', "slug: url", "identifies the article and must not be truncated: use id"),
    ],
)
def test_each_mistake_is_reported_with_its_fix(cms: Cms, tmp_path: Path, old: str, new: str, error: str) -> None:
    assert error in problems(cms, tmp_path, old, new)


def test_all_mistakes_are_reported_at_once(cms: Cms, tmp_path: Path) -> None:
    assert len(problems(cms, tmp_path, "    hits: 0\n", "    nothing: 0\n    hits: 5\n    theirs: title\n").splitlines()) == 2


def test_matching_table_gives_notes_only(cms: Cms, tmp_path: Path) -> None:
    store = empty_store()
    with work_on(store, tmp_path, cms.target()) as work:
        assert [note for note in work.target.check() if "UNIQUE" in note]
    cms.run("CREATE UNIQUE INDEX one ON posts (slug)")
    with work_on(store, tmp_path, cms.target()) as work:
        assert work.target.check() == ()
    with work_on(store, tmp_path, cms.target().replace("cms.db", "no.db")) as work, pytest.raises(TargetDown, match="no such database"):
        work.target.check()
    store.close()


@pytest.mark.parametrize(
    ("definition", "is_unique"),
    [
        ("slug VARCHAR(60) UNIQUE", True),
        ("slug TEXT NOT NULL CHECK (length(slug) > 3) UNIQUE", True),
        ('"slug" UNIQUE', True),
        ("slug VARCHAR(60), UNIQUE (slug)", True),
        ("slug VARCHAR(60) PRIMARY KEY", True),
        ("slug VARCHAR(60) /* UNIQUE */", False),
        ("slug VARCHAR(60), UNIQUE (slug, title)", False),
    ],
)
def test_unique_constraint_in_column_definition_is_found(tmp_path: Path, definition: str, is_unique: bool) -> None:
    with closing(sqlite3.connect(tmp_path / "inline.db")) as database:
        database.execute(f"CREATE TABLE posts (title TEXT, {definition})")
    target = f"- {{name: cms, to: 'sqlite:///{tmp_path}/inline.db', table: posts, columns: {{title: title, slug: id}}, key: slug}}\n"
    with closing(empty_store()) as store, work_on(store, tmp_path, target) as work:
        assert [note for note in work.target.check() if "UNIQUE" in note] == [] if is_unique else work.target.check()


def test_every_field_has_a_value() -> None:
    assert set(FIELDS) == {*fields.VALUES, "day"}
    assert set(fields.plain(ARTICLE, UTC)) <= set(FIELDS)


def test_fields_of_an_article() -> None:
    zone = ZoneInfo("Asia/Shanghai")
    assert fields.text(ARTICLE, "day", zone) == "2026-03-01"
    assert fields.text(ARTICLE, "published", zone) == "2026-03-01T15:00:00+08:00"
    assert fields.text(ARTICLE, "html", zone) == "<p>第一段</p>\n<p>第二段</p>"
    assert fields.text(ARTICLE, "site", zone) == "a.example"
    assert fields.text(ARTICLE, "summary", zone) == "第一段 第二段"
    assert fields.text(ARTICLE, "author", zone) == ""
    assert fields.fill_template("{{{site}}} {topic}", ARTICLE, zone) == "{a.example} 旅游"


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (Column(field="topics"), "旅游, 城市"),
        (Column(field="topics", join="|"), "旅游|城市"),
        (Column(field="author"), None),
        (Column(field="author", default="佚名"), "佚名"),
        (Column(lookup={"城市": 3}, by="topic"), 3),
        (Column(lookup={"城市": 3}, default=1), 1),
        (Column(lookup={"旅游": 12}), 12),
        (Column(constant=False), False),
        (Column(field="published", format="unix"), int((NOW - HOUR).timestamp())),
        (Column(field="published", format="%d.%m.%Y %H:%M", zone="Asia/Shanghai"), "01.03.2026 15:00"),
        (Column(field="title", max=1), "标"),
        (Column(template="{topic}:{author}", max=2), "旅…"),
        (Column(field="chars"), 7),
    ],
)
def test_cells(column: Column, found: object) -> None:
    assert cell(ARTICLE, column, UTC) == found


@pytest.mark.parametrize(
    "bad", ["{title.__class__}", "{title[0]}", "{title!r}", "{title:>9}", "{0}", "{}", "{nothing}", "{", "}", "x" * 501]
)
def test_templates_allow_only_fields(bad: str) -> None:
    with pytest.raises(BadTemplate):
        template_parts(bad)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("key: slug", "key: title", "does not identify an article for ever"),
        ("key: slug", "key: nothing", "not among the columns"),
        ("  key: slug\n", "  marks: key\n", "marks: key needs key"),
        ("key: slug", "unpublish: {theirs: x}", "would not reset it"),
        ("key: slug", "secret: x", "secret is for a webhook"),
        ("  table: posts\n", "", "a database needs table"),
    ],
)
def test_invalid_target_is_reported_with_its_line(cms: Cms, tmp_path: Path, old: str, new: str, error: str) -> None:
    with pytest.raises(Exception, match=r"sources.yaml:\d+: publish\[0\]") as raised:
        sources_with(tmp_path, cms.target().replace(old, new))
    assert error in str(raised.value)
