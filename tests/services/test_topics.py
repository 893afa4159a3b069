"""Topics are written into sources.yaml: what does not change keeps its form, what names a topic follows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.errors import SourcesError
from newsportal.services.topics import Draft, delete, move, put
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


def test_what_does_not_change_keeps_its_form(file: Path) -> None:
    same = Draft("旅游", any=("旅游", "景区"), engines=("baidu_news",))
    edit(file, put(same, "旅游"))
    assert file.read_text("utf-8") == FILE
    edit(file, put(Draft("渡轮", any=("渡轮",), never=("游戏",)), "渡轮"))
    assert file.read_text("utf-8") == FILE


def test_a_change_is_written_and_comments_stay(file: Path) -> None:
    edit(file, put(Draft("旅游", ("海",), ("旅游", "邮轮"), enabled=False, pages="3", learnt=False), "旅游"))
    topic = load(file).topic("旅游")
    assert topic is not None
    assert (topic.keywords.must, topic.keywords.any, topic.enabled) == (("海",), ("旅游", "邮轮"), False)
    assert topic.engines == ()
    assert topic.breadth.pages(3) == 3
    assert "# the oldest" in file.read_text("utf-8")
    edit(file, put(Draft("旅游", learnt=True), "旅游"))
    assert "breadth" not in file.read_text("utf-8")


def test_a_new_topic_comes_last(file: Path) -> None:
    edit(file, put(Draft("灯塔")))
    assert [topic.name for topic in load(file).topics] == ["旅游", "渡轮", "灯塔"]
    assert load(file).topics[2].keywords.any == ("灯塔",)


def test_what_names_a_topic_follows_its_new_name(file: Path) -> None:
    edit(file, put(Draft("客轮", any=("渡轮",)), "渡轮"))
    known = load(file)
    assert known.feeds[0].topics == known.lists[0].topics == ("客轮", "旅游")
    assert known.publish[0].only.topics == ("客轮",)


def test_a_topic_goes_with_its_name_in_sources(file: Path) -> None:
    edit(file, delete("旅游"))
    known = load(file)
    assert [topic.name for topic in known.topics] == ["渡轮"]
    assert known.feeds[0].topics == known.lists[0].topics == ("渡轮",)


def test_a_topic_that_narrows_what_is_published_cannot_go(file: Path) -> None:
    with pytest.raises(SourcesError, match="渡轮"):
        edit(file, delete("渡轮"))
    assert file.read_text("utf-8") == FILE


def test_topics_change_places(file: Path) -> None:
    edit(file, move("渡轮", -1))
    assert [topic.name for topic in load(file).topics] == ["渡轮", "旅游"]
    edit(file, move("渡轮", -1))
    edit(file, move("旅游", 5))
    assert [topic.name for topic in load(file).topics] == ["渡轮", "旅游"]


@pytest.mark.parametrize("change", [delete("无"), move("无", 1), put(Draft("无"), "无")])
def test_a_topic_that_is_gone_is_told(file: Path, change: object) -> None:
    with pytest.raises(NoEntry):
        edit(file, change)  # type: ignore[arg-type]
    assert file.read_text("utf-8") == FILE


def test_a_mistake_is_told_with_its_key(file: Path) -> None:
    with pytest.raises(SourcesError) as caught:
        edit(file, put(Draft("a/b", engines=("no_such",), pages="many")))
    assert {problem.key for problem in caught.value.problems} == {"topics[2].name", "topics[2].engines[0]", "topics[2].breadth"}


def test_words_as_people_type_them() -> None:
    assert words("渡轮，码头、灯塔\r\n渡轮\n\n new energy ") == ("渡轮", "码头", "灯塔", "new energy")
