"""Editing topics in sources.yaml: unchanged parts keep their form, and references follow a renamed topic."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.errors import SourcesError
from newsportal.services.topics import Draft, drop_topic, put_topic, reorder_topic
from newsportal.sources import edit, load
from newsportal.sources.changing import NoEntry
from newsportal.sources.values import words

FILE = """\
# our portal
topics:
  # water first
  - name: 旅游   # the oldest
    keywords: [旅游, "景区"]
    engines: [baidu_news]
    breadth: {default: 2, 0-6: 1}
  - {name: 渡轮, keywords: {any: [渡轮], not: [游戏]}}
feeds:
  - {name: 海港, url: "https://port.example/feed", topics: [渡轮, 旅游]}
lists:
  - {name: 热榜, url: "https://board.example/hot.json", items: data, title: title, link: url, topics: [渡轮, 旅游]}
publish:
  - {name: 群, to: "folder:out", only: {topics: [渡轮]}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(FILE, "utf-8")
    load(path)
    return path


def test_unchanged_topic_keeps_its_form(file: Path) -> None:
    draft = Draft("旅游", any=("旅游", "景区"), engines=("baidu_news",))
    edit(file, put_topic(draft, "旅游"))
    assert file.read_text("utf-8") == FILE
    edit(file, put_topic(Draft("渡轮", any=("渡轮",), never=("游戏",)), "渡轮"))
    assert file.read_text("utf-8") == FILE


def test_change_is_written_and_comments_are_kept(file: Path) -> None:
    edit(file, put_topic(Draft("旅游", ("海",), ("旅游", "邮轮"), enabled=False, pages="3", learnt=False), "旅游"))
    topic = load(file).topic("旅游")
    assert topic is not None
    assert (topic.keywords.must, topic.keywords.any, topic.enabled) == (("海",), ("旅游", "邮轮"), False)
    assert topic.engines == ()
    assert topic.breadth.pages(3) == 3
    assert "# the oldest" in file.read_text("utf-8")
    edit(file, put_topic(Draft("旅游", learnt=True), "旅游"))
    assert "breadth" not in file.read_text("utf-8")


def test_new_topic_is_appended(file: Path) -> None:
    edit(file, put_topic(Draft("灯塔")))
    assert [topic.name for topic in load(file).topics] == ["旅游", "渡轮", "灯塔"]
    assert load(file).topics[2].keywords.any == ("灯塔",)


def test_references_follow_a_renamed_topic(file: Path) -> None:
    edit(file, put_topic(Draft("客轮", any=("渡轮",)), "渡轮"))
    sources = load(file)
    assert sources.feeds[0].topics == sources.lists[0].topics == ("客轮", "旅游")
    assert sources.publish[0].only.topics == ("客轮",)


def test_deleted_topic_is_removed_from_sources(file: Path) -> None:
    edit(file, drop_topic("旅游"))
    sources = load(file)
    assert [topic.name for topic in sources.topics] == ["渡轮"]
    assert sources.feeds[0].topics == sources.lists[0].topics == ("渡轮",)


def test_topic_needed_by_a_target_cannot_be_deleted(file: Path) -> None:
    with pytest.raises(SourcesError, match="渡轮"):
        edit(file, drop_topic("渡轮"))
    assert file.read_text("utf-8") == FILE


def test_topics_can_be_reordered(file: Path) -> None:
    edit(file, reorder_topic("渡轮", -1))
    assert [topic.name for topic in load(file).topics] == ["渡轮", "旅游"]
    edit(file, reorder_topic("渡轮", -1))
    edit(file, reorder_topic("旅游", 5))
    assert [topic.name for topic in load(file).topics] == ["渡轮", "旅游"]


@pytest.mark.parametrize("change", [drop_topic("无"), reorder_topic("无", 1), put_topic(Draft("无"), "无")])
def test_deleted_topic_is_reported(file: Path, change: object) -> None:
    with pytest.raises(NoEntry):
        edit(file, change)  # type: ignore[arg-type]
    assert file.read_text("utf-8") == FILE


def test_invalid_values_are_reported_with_their_keys(file: Path) -> None:
    with pytest.raises(SourcesError) as raised:
        edit(file, put_topic(Draft("a/b", engines=("no_such",), pages="many")))
    assert {problem.key for problem in raised.value.problems} == {"topics[2].name", "topics[2].engines[0]", "topics[2].breadth"}


def test_words_are_split_as_typed() -> None:
    assert words("渡轮，码头、灯塔\r\n渡轮\n\n new energy ") == ("渡轮", "码头", "灯塔", "new energy")
