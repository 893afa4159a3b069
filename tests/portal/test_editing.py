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
def client(serve: Any, own_store: Store) -> httpx.Client:
    client: httpx.Client = serve(own_store, role="editor")
    client.headers["content-type"] = "application/x-www-form-urlencoded"  # for forms without fields, too
    return client


@pytest.fixture
def story(own_store: Store) -> Any:
    """A story with several versions."""
    found = max(own_store.stories(StoryFilter(limit=200)).stories, key=lambda story: story.count)
    return own_store.story(found.id)


def fields(answer: httpx.Response) -> dict[str, str]:
    """Return what the form of the page sends."""
    form = tree(answer).xpath("//form[contains(@class, 'desk-form')]")[0]
    inputs = {field.get("name"): field.get("value", "") for field in form.xpath(".//input")}
    return inputs | {field.get("name"): (field.text or "").removeprefix("\n") for field in form.xpath(".//textarea")}


def audited(client: httpx.Client) -> list[tuple[str, str]]:
    entries = client.accounts.audit_log.entries(limit=20)  # type: ignore[attr-defined]
    return [(entry.action, entry.subject) for entry in reversed(entries)]


def version_url(store: Store, id: str) -> str:
    article = store.article(id)
    assert article is not None
    return f"/story/{article.story_id}/{id}"


def undo_url(client: httpx.Client, answer: httpx.Response) -> str:
    """Follow the redirect and return the URL of the undo button."""
    page = client.get(answer.headers["location"])
    return str(tree(page).xpath("//aside[contains(@class, 'flash')]//form/@action")[0])


@pytest.mark.parametrize("role", [None, "reader"])
def test_editing_requires_an_editor(serve: Any, own_store: Store, role: str | None) -> None:
    client = serve(own_store, role=role)
    id = own_store.ids["bridge"]  # type: ignore[attr-defined]
    place = version_url(own_store, id)
    client.headers.setdefault("origin", str(client.base_url))
    client.headers["content-type"] = "application/x-www-form-urlencoded"
    refused = {401, 403} if role is None else {403}
    for path in (f"{place}/edit", f"{place}/fold", "/articles", "/corrections"):
        assert client.get(path).status_code in refused | {303}, path
    for path in ("edit", "withdraw", "fold", "unfold", "hide", "show", "category"):
        assert client.post(f"{place}/{path}", data={"reason": "x"}).status_code in refused | {303}, path
    assert "/edit" not in client.get(place).text
    article = own_store.article(id)
    assert article is not None
    assert (article.hidden, article.corrected) == (None, None)


def test_saving_an_unchanged_form_changes_nothing(client: httpx.Client, own_store: Store) -> None:
    place = version_url(own_store, own_store.ids["bridge"])  # type: ignore[attr-defined]
    form = fields(client.get(f"{place}/edit"))
    assert form["title"].startswith("云岭峡谷步行观景桥")
    assert "⟦1⟧ 清晨的云岭峡谷步行观景桥" in form["body"]
    assert "## 每日限八千人" in form["body"]
    assert re.fullmatch(r"2026-05-20T\d\d:\d\d", form["published"])
    seq = own_store.last_seq()
    assert client.post(f"{place}/edit", data={**form, "step": "save"}).status_code == 303
    assert own_store.last_seq() == seq


def test_correction_is_compared_saved_and_undone(client: httpx.Client, own_store: Store) -> None:
    id = own_store.ids["bridge"]  # type: ignore[attr-defined]
    place, before = version_url(own_store, id), own_store.article(id)
    assert before is not None
    form = fields(client.get(f"{place}/edit"))
    form |= {
        "title": "更正后的标题",
        "published": "2026-05-19T08:00",
        "body": form["body"].replace("六百二十米", "六百五十米") + f"\n{EVIL}",
    }
    compared = client.post(f"{place}/edit", data={**form, "step": "compare"})
    assert compared.status_code == 200
    assert own_store.article(id) == before, "nothing is saved yet"
    page = tree(compared)
    assert any("六百二十米" in node.text_content() or "二" in node.text_content() for node in page.xpath("//*[@id='compared']//del"))
    assert page.xpath("//*[@id='compared']//ins")
    assert EVIL not in compared.text
    assert fields(compared)["title"] == "更正后的标题", "the input is kept"
    saved = client.post(f"{place}/edit", data={**form, "step": "save"})
    assert saved.status_code == 303
    undo = undo_url(client, saved)
    article = own_store.article(id)
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
    assert client.post(undo).status_code == 303
    article = own_store.article(id)
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
def test_error_is_beside_its_field_and_input_is_kept(client: httpx.Client, own_store: Store, field: str, value: str, expected: str) -> None:
    place = version_url(own_store, own_store.ids["bridge"])  # type: ignore[attr-defined]
    form = {**fields(client.get(f"{place}/edit")), field: value, "author": "留着的作者"}
    answer = client.post(f"{place}/edit", data={**form, "step": "save"})
    assert answer.status_code == 422
    page = tree(answer)
    assert expected in page.xpath(f"//*[@id='{field}-error']")[0].text_content()
    assert page.xpath(f"//*[@id='{field}']/@aria-describedby") == [f"{field}-error"]
    assert fields(answer)["author"] == "留着的作者"
    assert own_store.revisions(own_store.ids["bridge"]) == ()  # type: ignore[attr-defined]


def test_conflicting_edit_is_compared_before_saving(client: httpx.Client, own_store: Store, newsroom: ModuleType) -> None:
    id = own_store.ids["bridge"]  # type: ignore[attr-defined]
    place = version_url(own_store, id)
    form = fields(client.get(f"{place}/edit"))
    own_store.correct(id, {"title": "别人先改的标题"}, by="陈编辑", now=newsroom.NOW)
    answer = client.post(f"{place}/edit", data={**form, "title": "我的标题", "step": "save"})
    assert answer.status_code == 409
    assert "[删去：别人先改][加入：我]的标题" in tree(answer).xpath("//*[@id='compared']")[0].text_content()
    merged = fields(answer)
    assert merged["title"] == "我的标题"
    assert client.post(f"{place}/edit", data={**merged, "step": "save"}).status_code == 303
    article = own_store.article(id)
    assert article is not None
    assert article.title == "我的标题"


def test_long_text_is_accepted(client: httpx.Client, own_store: Store) -> None:
    place = version_url(own_store, own_store.ids["bridge"])  # type: ignore[attr-defined]
    form = fields(client.get(f"{place}/edit"))
    long = "\n".join(f"第{number}段，" + "很长的正文" * 40 for number in range(400))
    assert client.post(f"{place}/edit", data={**form, "body": long, "step": "save"}).status_code == 303
    article = own_store.article(own_store.ids["bridge"])  # type: ignore[attr-defined]
    assert article is not None
    assert len(article.text) > 80_000


def test_hidden_story_is_hidden_from_readers_and_shown_again(client: httpx.Client, serve: Any, own_store: Store) -> None:
    id = own_store.ids["bridge"]  # type: ignore[attr-defined]
    place, reader = version_url(own_store, id), serve(own_store)
    undo = undo_url(client, client.post(f"{place}/hide", data={"reason": f"侵权{EVIL}", "all_versions": "1"}))
    article = own_store.article(id)
    assert article is not None
    assert article.hidden_reason == f"侵权{EVIL}"
    for path in (place, f"/story/{article.story_id}", f"{place}/revisions"):
        assert reader.get(path).status_code == 404, path
    assert article.title not in reader.get("/").text
    assert article.title not in reader.get("/feed.json").text
    visible = client.get(place)
    assert visible.status_code == 200
    assert "已对读者隐藏" in visible.text
    assert EVIL not in visible.text
    assert ("article.hide", id) in audited(client)
    hidden = client.get("/articles?show=hidden")
    assert id in tree(hidden).xpath("//tr/@data-article")
    assert EVIL not in hidden.text
    assert client.post(undo).status_code == 303
    assert reader.get(f"/story/{article.story_id}").status_code == 200


def test_version_is_unfolded_and_folded_back(client: httpx.Client, own_store: Store, story: Any) -> None:
    version = story.versions[-1]
    answer = client.post(f"{version_url(own_store, version.id)}/unfold")
    unfolded = own_store.article(version.id)
    assert unfolded is not None
    assert unfolded.story_id != story.id
    assert unquote(answer.headers["location"]) == f"/story/{unfolded.story_id}"
    assert client.post(undo_url(client, answer)).status_code == 303
    folded = own_store.article(version.id)
    assert folded is not None
    assert folded.story_id == story.id
    assert [action for action, _ in audited(client)][-2:] == ["article.unfold", "article.fold"]


def test_article_is_folded_into_another_story_and_undone(client: httpx.Client, own_store: Store, story: Any) -> None:
    other = next(
        candidate for candidate in own_store.stories(StoryFilter(limit=200)).stories if candidate.id != story.id and candidate.count == 1
    )
    place = f"/story/{other.id}/{other.head.id}"
    page = client.get(f"{place}/fold", params={"q": f"{client.base_url}/story/{story.id}"})
    assert tree(page).xpath("//*[@data-candidate]/@data-candidate") == [story.id], "found by its URL"
    assert re.search(r"占较短一篇的 \d+%<", page.text)
    answer = client.post(f"{place}/fold", data={"story": story.id})
    moved = own_store.article(other.head.id)
    assert moved is not None
    assert (moved.story_id, moved.fold_reason) == (story.id, "by-hand")
    assert client.post(undo_url(client, answer)).status_code == 303
    restored = own_store.article(other.head.id)
    assert restored is not None
    assert restored.story_id == other.id
    assert client.post(f"{place}/fold", data={"story": "nowhere"}).status_code == 422
    assert client.post(f"{place}/fold", data={"story": other.id}).status_code == 422


def test_category_is_set_and_undone(client: httpx.Client, own_store: Store) -> None:
    id = own_store.ids["bridge"]  # type: ignore[attr-defined]
    before = own_store.article(id)
    assert before is not None
    undo = undo_url(client, client.post(f"{version_url(own_store, id)}/category", data={"category": "桥梁"}))
    changed = own_store.article(id)
    assert changed is not None
    assert (changed.category, changed.category_by) == ("桥梁", "editor")
    assert id in tree(client.get("/corrections")).xpath("//tr/@data-article")
    client.post(undo)
    restored = own_store.article(id)
    assert restored is not None
    assert restored.category == before.category
    assert restored.category_by != "editor"
    assert client.post(f"{version_url(own_store, id)}/category?by=somebody", data={"category": "x"}).status_code == 422


def test_articles_are_hidden_and_shown_in_bulk(client: httpx.Client, own_store: Store) -> None:
    page = tree(client.get("/articles"))
    ids = page.xpath("//tr/@data-article")[:2]
    answer = client.post("/articles", data={"article": ids, "action": "hide", "reason": "误登", "next": "/articles?show=hidden"})
    assert answer.headers["location"] == "/articles?show=hidden"
    assert set(tree(client.get(answer.headers["location"])).xpath("//tr/@data-article")) == set(ids)
    client.post("/articles", data={"article": ids, "action": "show"})
    assert tree(client.get("/articles?show=hidden")).xpath("//tr/@data-article") == []
    assert client.post("/articles", data={"article": ids, "action": "topic", "topic": "no such"}).status_code == 303
    client.post("/articles", data={"article": ids, "action": "category", "category": "新分类"})
    assert set(tree(client.get("/corrections")).xpath("//tr/@data-article")) >= set(ids)
    assert client.post("/articles", data={"article": ids, "action": "drop table"}).status_code == 422
    outside = client.post("/articles", data={"article": [], "action": "hide", "next": "//evil.example"})
    assert not outside.headers["location"].startswith("//")


@pytest.mark.parametrize("do", ["hide", "show", "category", "topic"])
def test_bulk_change_is_undone(client: httpx.Client, own_store: Store, do: str) -> None:
    ids = tree(client.get("/articles")).xpath("//tr/@data-article")[:3]
    if do == "show":
        own_store.hide(ids, by="林编辑", reason="侵权", now=newsroom_now(own_store))
    else:
        own_store.set_category(ids[0], "旧分类", by="editor", now=newsroom_now(own_store))

    def state() -> list[tuple[object, ...]]:
        return [(article.category, article.topics, article.hidden is None, article.hidden_reason) for article in own_store.articles(ids)]

    before, topic = (
        state(),
        next(topic for topic in own_store.tally().by_topic if all(topic not in article.topics for article in own_store.articles(ids))),
    )
    changed = client.post(
        "/articles", data={"article": ids, "action": do, "category": "新分类", "topic": topic, "next": "/articles?show=all"}
    )
    assert all(one != other for one, other in zip(state(), before, strict=True))
    undo = undo_url(client, changed)
    undone = client.post(undo)
    assert undone.headers["location"] == "/articles?show=all"
    assert "3 篇文章恢复原状" in client.get(undone.headers["location"]).text
    assert state() == before
    assert "0 篇" in client.get(client.post(undo).headers["location"]).text, "a second undo changes nothing"
    assert client.post("/articles/undo/0123456789abcdef").status_code == 404


def test_bulk_undo_keeps_other_editors_changes(client: httpx.Client, own_store: Store) -> None:
    ids = tree(client.get("/articles")).xpath("//tr/@data-article")[:2]
    undo = undo_url(client, client.post("/articles", data={"article": ids, "action": "category", "category": "新分类"}))
    own_store.set_category(ids[0], "别的", by="editor", now=newsroom_now(own_store))
    client.post(undo)
    first, second = own_store.articles(ids)
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


def test_article_list_names_the_publisher_unless_the_source_does(client: httpx.Client, own_store: Store, newsroom: ModuleType) -> None:
    found = newsroom.article("搜来的报道", "甲" * 50, site="港口报", source="engine:bing_news")
    own = newsroom.article("自己的报道", "乙" * 50, site="港口报", source="feed:港口报")
    newsroom.write(own_store, found, own)
    page = tree(client.get("/articles"))
    cells = (page.xpath(f"string(//tr[th//a[text()='{title}']]/td[2])") for title in ("搜来的报道", "自己的报道"))
    assert list(cells) == ["bing_news（搜索引擎） 港口报", "港口报（订阅源）"]


def test_headlines_of_versions_are_compared(client: httpx.Client, own_store: Store, newsroom: ModuleType) -> None:
    earlier, later = (newsroom.article(title, newsroom.BRIDGE + tail, site=site) for title, tail, site in (
        ("河湾大桥今日通车", "甲" * 50, "甲报"), ("河湾大桥建成通车", "甲" * 50, "乙报")))  # fmt: skip
    first, second = newsroom.write(own_store, earlier, later, fold_key="bridge-of-today")
    page = tree(client.get(version_url(own_store, first)))
    compared = page.xpath("//details[contains(@class, 'headlines')]//dd")
    assert second
    assert "河湾大桥[删去：今日][加入：建成]通车" in [pieces.text_content() for pieces in compared]


def test_hidden_story_disappears_from_similar_stories(serve: Any, own_store: Store, tmp_path: Path, newsroom: ModuleType) -> None:
    texts = [f"青河大桥的第{number}根桥墩今天浇筑完成，工人们冒雨施工。" * 4 for number in (1, 2)]
    bridge, other = newsroom.write(own_store, *(newsroom.article(f"青河大桥桥墩浇筑完成{text[6]}", text, site=text[:7]) for text in texts))
    with closing(open_index(f"sqlite:///{tmp_path / 'index.db'}")) as index:
        index.follow(own_store)
        client = serve(own_store, index)
        if own_store.article(bridge).story_id == own_store.article(other).story_id:  # type: ignore[union-attr]
            own_store.unfold(other, now=newsroom.NOW)
        read = f"/story/{own_store.article(bridge).story_id}"  # type: ignore[union-attr]

        def similar() -> list[str]:
            sections = tree(client.get(read)).xpath("//section[@aria-labelledby='similar-name']")
            return [section.text_content() for section in sections if "青河大桥桥墩浇筑完成2" in section.text_content()]

        until = monotonic() + 600  # similar stories are searched in the background
        while not similar() and monotonic() < until:
            sleep(0.05)
        assert similar()
        own_store.hide([other], by="林编辑", reason="", now=newsroom.NOW)
        assert not similar()


def test_old_url_of_moved_article_redirects(client: httpx.Client, own_store: Store, story: Any) -> None:
    other = next(
        candidate for candidate in own_store.stories(StoryFilter(limit=200)).stories if candidate.id != story.id and candidate.count == 1
    )
    assert other.id == other.head.id, "a story has the id of its first article"
    client.post(f"/story/{other.id}/{other.head.id}/fold", data={"story": story.id})
    answer = client.get(f"/story/{other.id}/{other.head.id}/edit", params={"revision": "1"})
    assert answer.headers["location"] == f"/story/{story.id}/{other.head.id}/edit?revision=1"
    assert client.get(answer.headers["location"]).status_code == 200


def test_unavailable_search_is_reported(serve: Any, own_store: Store) -> None:
    client = serve(own_store, UnavailableIndex(), role="editor")
    place = version_url(own_store, own_store.ids["bridge"])  # type: ignore[attr-defined]
    answer = client.get(f"{place}/fold")
    assert answer.status_code == 503
    assert "搜索暂时不可用" in answer.text
    assert answer.headers["retry-after"]
    answer = client.post("/api/v1/topics/preview", json={"any": ["峡谷"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "search-unavailable")


class UnavailableIndex:
    """Index that does not answer."""

    def __getattr__(self, name: str) -> object:
        raise SearchError("away")


def test_fold_page_suggests_nearest_stories(serve: Any, own_store: Store, newsroom: ModuleType, tmp_path: Path) -> None:
    text = "滨海新线的首班列车今晨从东站出发，车厢里坐满了赶早的市民，沿线各站都有人拍照。"
    passengers = "".join(f"第{number}节车厢里，{name}第一次坐上这趟车，说要去看海。" for number, name in enumerate("赵钱孙李周吴郑王"))
    stations = "".join(f"{name}站长介绍，第{number}个车站的月台昨夜才铺好最后一块砖。" for number, name in enumerate("冯陈褚卫蒋沈韩杨"))
    train, station = newsroom.write(
        own_store,
        newsroom.article("滨海新线首班列车今晨发车", text + passengers),
        newsroom.article("滨海新线的站长们", stations + text, ago=30),
    )
    with closing(open_index(f"sqlite:///{tmp_path / 'near.db'}")) as index:
        index.follow(own_store)
        for client in (serve(own_store, index, role="editor"), serve(own_store, role="editor")):
            page = tree(client.get(f"{version_url(own_store, train)}/fold"))
            assert page.xpath("//ol[@class='candidates']/li/@data-candidate")[:1] == [station], page.xpath("string(//ol)")
            assert "最相近的报道" in page.text_content()
            assert "没有找到其他报道" not in page.text_content()


def test_articles_are_found_by_words_topic_and_time(serve: Any, own_store: Store, newsroom: ModuleType, tmp_path: Path) -> None:
    def titles(client: httpx.Client, **filters: str) -> list[str]:
        return [link.text_content()[:4] for link in tree(client.get("/articles", params=filters)).xpath("//tr[@data-article]/th/a")]

    def moments(client: httpx.Client, **filters: str) -> list[str]:
        return [cell.text_content() for cell in tree(client.get("/articles", params=filters)).xpath("//tr[@data-article]/td[1]")]

    with closing(open_index(f"sqlite:///{tmp_path / 'desk.db'}")) as index:
        index.follow(own_store)
        indexed, unindexed = serve(own_store, index, role="editor"), serve(own_store, role="editor")
        for client in (indexed, unindexed):
            assert set(titles(client, words="海岛航线")) == {"海岛航线"}
            everything, travel = titles(client), titles(client, topic="旅游")
            assert 0 < len(travel) < len(everything)
            assert titles(client, since="2030-01-01") == []
            for day in ("not a day", "0001-01-01", "9999-12-31"):
                assert titles(client, since=day, until=day) == everything
            days = {time[:10] for time in moments(client, since="2026-05-20")} | {time[:10] for time in moments(client, until="2026-05-19")}
            assert min(time for time in moments(client, since="2026-05-20")) >= "2026-05-20 00:00"
            assert max(time for time in moments(client, until="2026-05-19")) < "2026-05-20 00:00"
            assert len(days) > 1
        page = tree(indexed.get("/articles", params={"topic": "旅游"}))
        assert page.xpath("//select[@name='topic'][@id='of-topic']/option[@selected]/text()") == ["旅游"]
        assert not page.xpath("//input[@name='category']"), "the category is selected from a list"
