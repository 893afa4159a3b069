"""Pages on which editors correct, fold and hide articles: each change is confirmed, audited and undone."""

from __future__ import annotations

import re
from contextlib import closing
from datetime import datetime
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.errors import SearchError
from newsportal.search import open_index
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def tree(answer: httpx.Response) -> Any:
    return lxml_html.document_fromstring(answer.text)


@pytest.fixture
def client(serve: Any, shelf: Store) -> httpx.Client:
    found: httpx.Client = serve(shelf, role="editor")
    found.headers["content-type"] = "application/x-www-form-urlencoded"  # for forms without fields, too
    return found


@pytest.fixture
def story(shelf: Store) -> Any:
    """A story with several versions."""
    found = max(shelf.stories(StoryFilter(limit=200)).stories, key=lambda one: one.count)
    return shelf.story(found.id)


def fields(answer: httpx.Response) -> dict[str, str]:
    """Return what the form of the page sends."""
    form = tree(answer).xpath("//form[contains(@class, 'desk-form')]")[0]
    typed = {field.get("name"): field.get("value", "") for field in form.xpath(".//input")}
    return typed | {field.get("name"): (field.text or "").removeprefix("\n") for field in form.xpath(".//textarea")}


def audited(client: httpx.Client) -> list[tuple[str, str]]:
    entries = client.accounts.trail.entries(limit=20)  # type: ignore[attr-defined]
    return [(entry.action, entry.thing) for entry in reversed(entries)]


def version_url(store: Store, id: str) -> str:
    article = store.article(id)
    assert article is not None
    return f"/story/{article.story_id}/{id}"


def undo_url(client: httpx.Client, answer: httpx.Response) -> str:
    """Follow the redirect and return the URL of the undo button."""
    page = client.get(answer.headers["location"])
    return str(tree(page).xpath("//aside[contains(@class, 'told-once')]//form/@action")[0])


@pytest.mark.parametrize("role", [None, "reader"])
def test_editing_requires_an_editor(serve: Any, shelf: Store, role: str | None) -> None:
    client = serve(shelf, role=role)
    id = shelf.made["bridge"]  # type: ignore[attr-defined]
    place = version_url(shelf, id)
    client.headers.setdefault("origin", str(client.base_url))
    client.headers["content-type"] = "application/x-www-form-urlencoded"
    refused = {401, 403} if role is None else {403}
    for path in (f"{place}/edit", f"{place}/fold", "/articles", "/corrections"):
        assert client.get(path).status_code in refused | {303}, path
    for path in ("edit", "withdraw", "fold", "unfold", "hide", "show", "category"):
        assert client.post(f"{place}/{path}", data={"reason": "x"}).status_code in refused | {303}, path
    assert "/edit" not in client.get(place).text
    article = shelf.article(id)
    assert article is not None
    assert (article.hidden, article.corrected) == (None, None)


def test_saving_an_unchanged_form_changes_nothing(client: httpx.Client, shelf: Store) -> None:
    place = version_url(shelf, shelf.made["bridge"])  # type: ignore[attr-defined]
    typed = fields(client.get(f"{place}/edit"))
    assert typed["title"].startswith("云岭峡谷步行观景桥")
    assert "⟦1⟧ 清晨的云岭峡谷步行观景桥" in typed["body"]
    assert "## 每日限八千人" in typed["body"]
    assert re.fullmatch(r"2026-05-20T\d\d:\d\d", typed["published"])
    seq = shelf.last_seq()
    assert client.post(f"{place}/edit", data={**typed, "step": "save"}).status_code == 303
    assert shelf.last_seq() == seq


def test_correction_is_compared_saved_and_undone(client: httpx.Client, shelf: Store) -> None:
    id = shelf.made["bridge"]  # type: ignore[attr-defined]
    place, before = version_url(shelf, id), shelf.article(id)
    assert before is not None
    typed = fields(client.get(f"{place}/edit"))
    typed |= {
        "title": "更正后的标题",
        "published": "2026-05-19T08:00",
        "body": typed["body"].replace("六百二十米", "六百五十米") + f"\n{EVIL}",
    }
    compared = client.post(f"{place}/edit", data={**typed, "step": "compare"})
    assert compared.status_code == 200
    assert shelf.article(id) == before, "nothing is saved yet"
    page = tree(compared)
    assert any("六百二十米" in one.text_content() or "二" in one.text_content() for one in page.xpath("//*[@id='compared']//del"))
    assert page.xpath("//*[@id='compared']//ins")
    assert EVIL not in compared.text
    assert fields(compared)["title"] == "更正后的标题", "the input is kept"
    saved = client.post(f"{place}/edit", data={**typed, "step": "save"})
    assert saved.status_code == 303
    back = undo_url(client, saved)
    article = shelf.article(id)
    assert article is not None
    assert (article.title, article.corrected_fields) == ("更正后的标题", ("title", "text", "published"))
    assert article.published is not None
    assert article.published.isoformat() == "2026-05-19T00:00:00+00:00", "in the portal's time zone"
    assert "<script" not in (article.html or "")
    assert "<figure><img" in (article.html or ""), "the image is kept"
    assert article.images == before.images
    assert EVIL in article.text, "markup in the input is text"
    reader = client.get(place)
    assert EVIL not in reader.text
    assert "编辑更正于" in reader.text
    changed = client.get(f"{place}/revisions")
    assert tree(changed).xpath("//details[@open]//ins")
    assert ("article.correct", id) in audited(client)
    assert client.post(back).status_code == 303
    article = shelf.article(id)
    assert article is not None
    assert (article.title, article.text, article.html, article.corrected) == (before.title, before.text, before.html, None)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("title", "  ", "标题"),
        ("title", "长" * 501, "500"),
        ("published", "昨天", "2026-03-05 08:30"),
        ("published", "0001-01-01T00:00", "2026-03-05 08:30"),
        ("body", "⟦99⟧ 没有的图", "⟦99⟧"),
        ("body", "", "正文"),
    ],
)
def test_error_is_beside_its_field_and_input_is_kept(client: httpx.Client, shelf: Store, field: str, value: str, expected: str) -> None:
    place = version_url(shelf, shelf.made["bridge"])  # type: ignore[attr-defined]
    typed = {**fields(client.get(f"{place}/edit")), field: value, "author": "留着的作者"}
    answer = client.post(f"{place}/edit", data={**typed, "step": "save"})
    assert answer.status_code == 422
    page = tree(answer)
    assert expected in page.xpath(f"//*[@id='{field}-wrong']")[0].text_content()
    assert page.xpath(f"//*[@id='{field}']/@aria-describedby") == [f"{field}-wrong"]
    assert fields(answer)["author"] == "留着的作者"
    assert shelf.revisions(shelf.made["bridge"]) == ()  # type: ignore[attr-defined]


def test_conflicting_edit_is_compared_before_saving(client: httpx.Client, shelf: Store, newsroom: ModuleType) -> None:
    id = shelf.made["bridge"]  # type: ignore[attr-defined]
    place = version_url(shelf, id)
    typed = fields(client.get(f"{place}/edit"))
    shelf.correct(id, {"title": "别人先改的标题"}, by="陈编辑", now=newsroom.NOW)
    answer = client.post(f"{place}/edit", data={**typed, "title": "我的标题", "step": "save"})
    assert answer.status_code == 409
    assert "[删去：别人先改][加入：我]的标题" in tree(answer).xpath("//*[@id='compared']")[0].text_content()
    again = fields(answer)
    assert again["title"] == "我的标题"
    assert client.post(f"{place}/edit", data={**again, "step": "save"}).status_code == 303
    article = shelf.article(id)
    assert article is not None
    assert article.title == "我的标题"


def test_long_text_is_accepted(client: httpx.Client, shelf: Store) -> None:
    place = version_url(shelf, shelf.made["bridge"])  # type: ignore[attr-defined]
    typed = fields(client.get(f"{place}/edit"))
    long = "\n".join(f"第{number}段，" + "很长的正文" * 40 for number in range(400))
    assert client.post(f"{place}/edit", data={**typed, "body": long, "step": "save"}).status_code == 303
    article = shelf.article(shelf.made["bridge"])  # type: ignore[attr-defined]
    assert article is not None
    assert len(article.text) > 80_000


def test_hidden_story_is_hidden_from_readers_and_shown_again(client: httpx.Client, serve: Any, shelf: Store) -> None:
    id = shelf.made["bridge"]  # type: ignore[attr-defined]
    place, reader = version_url(shelf, id), serve(shelf)
    back = undo_url(client, client.post(f"{place}/hide", data={"reason": f"侵权{EVIL}", "whole": "1"}))
    article = shelf.article(id)
    assert article is not None
    assert article.hidden_reason == f"侵权{EVIL}"
    for path in (place, f"/story/{article.story_id}", f"{place}/revisions"):
        assert reader.get(path).status_code == 404, path
    assert article.title not in reader.get("/").text
    assert article.title not in reader.get("/feed.json").text
    mine = client.get(place)
    assert mine.status_code == 200
    assert "已对读者隐藏" in mine.text
    assert EVIL not in mine.text
    assert ("article.hide", id) in audited(client)
    listed = client.get("/articles?show=hidden")
    assert id in tree(listed).xpath("//tr/@data-article")
    assert EVIL not in listed.text
    assert client.post(back).status_code == 303
    assert reader.get(f"/story/{article.story_id}").status_code == 200


def test_version_is_unfolded_and_folded_back(client: httpx.Client, shelf: Store, story: Any) -> None:
    version = story.versions[-1]
    answer = client.post(f"{version_url(shelf, version.id)}/unfold")
    alone = shelf.article(version.id)
    assert alone is not None
    assert alone.story_id != story.id
    assert unquote(answer.headers["location"]) == f"/story/{alone.story_id}"
    assert client.post(undo_url(client, answer)).status_code == 303
    back = shelf.article(version.id)
    assert back is not None
    assert back.story_id == story.id
    assert [action for action, _ in audited(client)][-2:] == ["article.unfold", "article.fold"]


def test_article_is_folded_into_another_story_and_undone(client: httpx.Client, shelf: Store, story: Any) -> None:
    other = next(one for one in shelf.stories(StoryFilter(limit=200)).stories if one.id != story.id and one.count == 1)
    place = f"/story/{other.id}/{other.head.id}"
    page = client.get(f"{place}/fold", params={"q": f"{client.base_url}/story/{story.id}"})
    assert tree(page).xpath("//*[@data-candidate]/@data-candidate") == [story.id], "found by its URL"
    answer = client.post(f"{place}/fold", data={"story": story.id})
    moved = shelf.article(other.head.id)
    assert moved is not None
    assert (moved.story_id, moved.fold_reason) == (story.id, "by-hand")
    assert client.post(undo_url(client, answer)).status_code == 303
    back = shelf.article(other.head.id)
    assert back is not None
    assert back.story_id == other.id
    assert client.post(f"{place}/fold", data={"story": "nowhere"}).status_code == 422
    assert client.post(f"{place}/fold", data={"story": other.id}).status_code == 422


def test_category_is_set_and_undone(client: httpx.Client, shelf: Store) -> None:
    id = shelf.made["bridge"]  # type: ignore[attr-defined]
    before = shelf.article(id)
    assert before is not None
    undo = undo_url(client, client.post(f"{version_url(shelf, id)}/category", data={"category": "桥梁"}))
    given = shelf.article(id)
    assert given is not None
    assert (given.category, given.category_by) == ("桥梁", "editor")
    assert id in tree(client.get("/corrections")).xpath("//tr/@data-article")
    client.post(undo)
    back = shelf.article(id)
    assert back is not None
    assert back.category == before.category
    assert back.category_by != "editor"
    assert client.post(f"{version_url(shelf, id)}/category?by=somebody", data={"category": "x"}).status_code == 422


def test_articles_are_hidden_and_shown_in_bulk(client: httpx.Client, shelf: Store) -> None:
    page = tree(client.get("/articles"))
    ids = page.xpath("//tr/@data-article")[:2]
    answer = client.post("/articles", data={"article": ids, "do": "hide", "reason": "误登", "next": "/articles?show=hidden"})
    assert answer.headers["location"] == "/articles?show=hidden"
    assert set(tree(client.get(answer.headers["location"])).xpath("//tr/@data-article")) == set(ids)
    client.post("/articles", data={"article": ids, "do": "show"})
    assert tree(client.get("/articles?show=hidden")).xpath("//tr/@data-article") == []
    assert client.post("/articles", data={"article": ids, "do": "topic", "topic": "no such"}).status_code == 303
    client.post("/articles", data={"article": ids, "do": "category", "category": "新分类"})
    assert set(tree(client.get("/corrections")).xpath("//tr/@data-article")) >= set(ids)
    assert client.post("/articles", data={"article": ids, "do": "drop table"}).status_code == 422
    evil = client.post("/articles", data={"article": [], "do": "hide", "next": "//evil.example"})
    assert not evil.headers["location"].startswith("//")


@pytest.mark.parametrize("do", ["hide", "show", "category", "topic"])
def test_bulk_change_is_undone(client: httpx.Client, shelf: Store, do: str) -> None:
    ids = tree(client.get("/articles")).xpath("//tr/@data-article")[:3]
    if do == "show":
        shelf.hide(ids, by="林编辑", reason="侵权", now=newsroom_now(shelf))
    else:
        shelf.set_category(ids[0], "旧分类", by="editor", now=newsroom_now(shelf))

    def state() -> list[tuple[object, ...]]:
        return [(one.category, one.topics, one.hidden is None, one.hidden_reason) for one in shelf.articles(ids)]

    before, topic = state(), next(topic for topic in shelf.tally().by_topic if all(topic not in one.topics for one in shelf.articles(ids)))
    done = client.post("/articles", data={"article": ids, "do": do, "category": "新分类", "topic": topic, "next": "/articles?show=all"})
    assert all(one != other for one, other in zip(state(), before, strict=True))
    back = undo_url(client, done)
    taken = client.post(back)
    assert taken.headers["location"] == "/articles?show=all"
    assert "3 篇文章恢复原状" in client.get(taken.headers["location"]).text
    assert state() == before
    assert "0 篇" in client.get(client.post(back).headers["location"]).text, "a second undo changes nothing"
    assert client.post("/articles/undo/0123456789abcdef").status_code == 404


def test_bulk_undo_keeps_other_editors_changes(client: httpx.Client, shelf: Store) -> None:
    ids = tree(client.get("/articles")).xpath("//tr/@data-article")[:2]
    back = undo_url(client, client.post("/articles", data={"article": ids, "do": "category", "category": "新分类"}))
    shelf.set_category(ids[0], "别的", by="editor", now=newsroom_now(shelf))
    client.post(back)
    first, second = shelf.articles(ids)
    assert first.category == "别的"
    assert second.category != "新分类"


def newsroom_now(store: Store) -> datetime:
    newest = store.tally().newest
    assert newest is not None
    return newest


@pytest.mark.parametrize("show", ["all", "hidden", "corrected", "judged", "unsure", "short", "undated", "' OR 1=1 --"])
def test_article_filters(client: httpx.Client, show: str) -> None:
    answer = client.get("/articles", params={"show": show, "source": "x' --", "before": "1~'"})
    assert answer.status_code == 200
    assert client.get("/articles", params={"show": show}).status_code == 200


def test_headlines_of_versions_are_compared(client: httpx.Client, shelf: Store, newsroom: ModuleType) -> None:
    one, other = (newsroom.article(title, newsroom.BRIDGE + tail, site=site) for title, tail, site in (
        ("河湾大桥今日通车", "甲" * 50, "甲报"), ("河湾大桥建成通车", "甲" * 50, "乙报")))  # fmt: skip
    first, second = newsroom.write(shelf, one, other, same="bridge-of-today")
    page = tree(client.get(version_url(shelf, first)))
    compared = page.xpath("//details[contains(@class, 'headlines')]//dd")
    assert second
    assert "河湾大桥[删去：今日][加入：建成]通车" in [pieces.text_content() for pieces in compared]


def test_hidden_story_disappears_from_similar_stories(serve: Any, shelf: Store, tmp_path: Path, newsroom: ModuleType) -> None:
    texts = [f"青河大桥的第{number}根桥墩今天浇筑完成，工人们冒雨施工。" * 4 for number in (1, 2)]
    one, other = newsroom.write(shelf, *(newsroom.article(f"青河大桥桥墩浇筑完成{text[6]}", text, site=text[:7]) for text in texts))
    with closing(open_index(f"sqlite:///{tmp_path / 'index.db'}")) as index:
        index.follow(shelf)
        client = serve(shelf, index)
        if shelf.article(one).story_id == shelf.article(other).story_id:  # type: ignore[union-attr]
            shelf.unfold(other, now=newsroom.NOW)
        read = f"/story/{shelf.article(one).story_id}"  # type: ignore[union-attr]

        def similar() -> list[str]:
            beside = tree(client.get(read)).xpath("//section[@aria-labelledby='similar-name']")
            return [section.text_content() for section in beside if "青河大桥桥墩浇筑完成2" in section.text_content()]

        until = monotonic() + 600  # similar stories are searched in the background
        while not similar() and monotonic() < until:
            sleep(0.05)
        assert similar()
        shelf.hide([other], by="林编辑", reason="", now=newsroom.NOW)
        assert not similar()


def test_old_url_of_moved_article_redirects(client: httpx.Client, shelf: Store, story: Any) -> None:
    other = next(one for one in shelf.stories(StoryFilter(limit=200)).stories if one.id != story.id and one.count == 1)
    assert other.id == other.head.id, "a story has the id of its first article"
    client.post(f"/story/{other.id}/{other.head.id}/fold", data={"story": story.id})
    answer = client.get(f"/story/{other.id}/{other.head.id}/edit", params={"revision": "1"})
    assert answer.headers["location"] == f"/story/{story.id}/{other.head.id}/edit?revision=1"
    assert client.get(answer.headers["location"]).status_code == 200


def test_unavailable_search_is_reported(serve: Any, shelf: Store) -> None:
    client = serve(shelf, UnavailableIndex(), role="editor")
    place = version_url(shelf, shelf.made["bridge"])  # type: ignore[attr-defined]
    answer = client.get(f"{place}/fold")
    assert answer.status_code == 503
    assert "搜索暂时不可用" in answer.text
    assert answer.headers["retry-after"]
    answer = client.post("/api/v1/topics/preview", json={"any": ["峡谷"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "search-away")


class UnavailableIndex:
    """Index that does not answer."""

    def __getattr__(self, name: str) -> object:
        raise SearchError("away")


def test_fold_page_suggests_nearest_stories(serve: Any, shelf: Store, newsroom: ModuleType, tmp_path: Path) -> None:
    text = "滨海新线的首班列车今晨从东站出发，车厢里坐满了赶早的市民，沿线各站都有人拍照。"
    own = "".join(f"第{number}节车厢里，{name}第一次坐上这趟车，说要去看海。" for number, name in enumerate("赵钱孙李周吴郑王"))
    theirs = "".join(f"{name}站长介绍，第{number}个车站的月台昨夜才铺好最后一块砖。" for number, name in enumerate("冯陈褚卫蒋沈韩杨"))
    one, other = newsroom.write(
        shelf, newsroom.article("滨海新线首班列车今晨发车", text + own), newsroom.article("滨海新线的站长们", theirs + text, ago=30)
    )
    with closing(open_index(f"sqlite:///{tmp_path / 'near.db'}")) as index:
        index.follow(shelf)
        for client in (serve(shelf, index, role="editor"), serve(shelf, role="editor")):
            page = tree(client.get(f"{version_url(shelf, one)}/fold"))
            assert page.xpath("//ol[@class='candidates']/li/@data-candidate")[:1] == [other], page.xpath("string(//ol)")
            assert "最相近的报道" in page.text_content()
            assert "没有找到其他报道" not in page.text_content()


def test_articles_are_found_by_words_topic_and_time(serve: Any, shelf: Store, newsroom: ModuleType, tmp_path: Path) -> None:
    def titles(client: httpx.Client, **asked: str) -> list[str]:
        return [link.text_content()[:4] for link in tree(client.get("/articles", params=asked)).xpath("//tr[@data-article]/th/a")]

    def moments(client: httpx.Client, **asked: str) -> list[str]:
        return [cell.text_content() for cell in tree(client.get("/articles", params=asked)).xpath("//tr[@data-article]/td[1]")]

    with closing(open_index(f"sqlite:///{tmp_path / 'desk.db'}")) as index:
        index.follow(shelf)
        indexed, plain = serve(shelf, index, role="editor"), serve(shelf, role="editor")
        for client in (indexed, plain):
            assert set(titles(client, words="海岛航线")) == {"海岛航线"}
            everything, travel = titles(client), titles(client, topic="旅游")
            assert 0 < len(travel) < len(everything)
            assert titles(client, since="2030-01-01") == []
            assert titles(client, since="not a day") == everything
            days = {time[:10] for time in moments(client, since="2026-05-20")} | {time[:10] for time in moments(client, until="2026-05-19")}
            assert min(time for time in moments(client, since="2026-05-20")) >= "2026-05-20 00:00"
            assert max(time for time in moments(client, until="2026-05-19")) < "2026-05-20 00:00"
            assert len(days) > 1
        page = tree(indexed.get("/articles", params={"topic": "旅游"}))
        assert page.xpath("//select[@name='topic'][@id='of-topic']/option[@selected]/text()") == ["旅游"]
        assert not page.xpath("//input[@name='category']"), "the category is selected from a list"
