"""The wall of photo stories, the page of a story, and their feeds."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from types import ModuleType

import httpx
import pytest
from factories import empty_store
from lxml import etree
from lxml import html as lxml_html

from newsportal.items import Image
from newsportal.portal.reading.photos import HEIGHTS, PAGE, height_of
from newsportal.portal.reading.story import format_pages
from newsportal.store.store import Store


@pytest.fixture(scope="module")
def photos(folder, albums: ModuleType):
    opened = empty_store(folder / "photos.db")
    opened.ids = albums.fill(opened)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def wall(serve, photos: Store) -> httpx.Client:
    return serve(photos)


def page(client: httpx.Client, path: str) -> lxml_html.HtmlElement:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return lxml_html.document_fromstring(answer.text)


def test_captions_are_corrected_and_undone(serve, fresh: Store, albums: ModuleType) -> None:
    editor = serve(fresh, role="editor")
    editor.headers["content-type"] = "application/x-www-form-urlencoded"
    id = fresh.galleries.save(albums.album("渔港的早晨", "https://img.example", 30), now=albums.NOW).id
    place = f"/story/{id}/{id}"
    assert f"{place}/captions" in editor.get(place).text
    form = page(editor, f"{place}/captions").xpath("//form[contains(@class, 'desk-form')]")[0]
    inputs = {"digest": form.xpath("./input/@value")[0]}
    inputs |= {field.get("name"): (field.text or "").removeprefix("\n") for field in form.xpath(".//textarea")}
    assert len(inputs) == 31
    assert "2000" in editor.post(f"{place}/captions", data=inputs | {"caption-2": "长" * 2001}).text
    saved = editor.post(f"{place}/captions", data=inputs | {"caption-1": "渔民在修船<b>", "caption-30": ""})
    assert saved.status_code == 303
    tree = lxml_html.document_fromstring(editor.get(saved.headers["location"]).text)
    assert "2 条" in tree.xpath("string(//aside[contains(@class, 'flash')])")
    assert tree.xpath("string(//figure[1]//span[@data-caption])") == "渔民在修船<b>"
    assert not tree.xpath("//figure[30]//span[@data-caption]")
    stale = editor.post(f"{place}/captions", data=inputs | {"caption-3": "我写的"})
    assert stale.status_code == 409
    assert "我写的" in stale.text
    current = [node.text_content() for node in lxml_html.document_fromstring(stale.text).xpath("//p[@class='current-value']")]
    assert [text for text in current if "渔民在修船" in text], "what the other editor wrote is shown beside the old text"
    assert len(current) == 3, "captions 1 and 30 of the other editor, and the own one"
    long = editor.post(f"{place}/captions", data=inputs | {"caption-3": "长" * 2001})
    assert lxml_html.document_fromstring(long.text).xpath("//input[@name='digest']/@value") == [inputs["digest"]], "still a conflict"
    undo = tree.xpath("//aside[contains(@class, 'flash')]//form/@action")[0]
    assert editor.post(undo, data={"next": "x"}).status_code == 303
    assert [picture.corrected for picture in fresh.galleries.pictures(id)] == [False] * 30
    assert [entry.action for entry in editor.accounts.audit_log.entries()][:2] == ["article.caption"] * 2


def test_api_returns_photo_stories(wall: httpx.Client, photos: Store) -> None:
    path, ids = "/api/v1/photos?limit=5&order=newest", []
    while path:
        data = wall.get(path).json()
        ids += [item["article"]["id"] for item in data["items"]]
        path = f"/api/v1/photos?limit=5&order=newest&cursor={data['next']}" if data["next"] else ""
    assert sorted(ids) == sorted(photos.ids.values())
    (broken,) = [item for item in wall.get("/api/v1/photos?limit=200").json()["items"] if item["article"]["id"] == photos.ids["broken"]]
    assert (broken["complete"], broken["missing"]) == (False, [5, 6, 7, 9])


def test_api_corrects_captions(serve, fresh: Store, albums: ModuleType) -> None:
    editor = serve(fresh, role="editor")
    id = fresh.galleries.save(albums.album("渔港的早晨", "https://img.example", 2), now=albums.NOW).id
    first, second = editor.get(f"/api/v1/articles/{id}/captions").json()
    sent = {"captions": {first["picture"]: "渔民在修船", second["picture"]: "", "https://none.example/x": "x"}}
    captions = editor.patch(f"/api/v1/articles/{id}/captions", json=sent).json()
    assert [(caption["caption"], caption["corrected"], caption["page"]) for caption in captions] == [
        ("渔民在修船", True, first["caption"]),
        (None, True, second["caption"]),
    ]
    assert editor.patch(f"/api/v1/articles/{id}/captions", json={"captions": {first["picture"]: "长" * 2001}}).status_code == 422
    assert serve(fresh, role="reader").get(f"/api/v1/articles/{id}/captions").status_code == 403


def test_article_has_no_captions(serve, own_store: Store) -> None:
    id = own_store.ids["bridge"]
    assert serve(own_store, role="editor").get(f"/story/{id}/{id}/captions").status_code == 404
    assert serve(own_store, role="editor").patch(f"/api/v1/articles/{id}/captions", json={"captions": {}}).status_code == 404


def test_empty_wall_explains_how_to_fill_it(serve, fresh: Store) -> None:
    text = serve(fresh).get("/photos").text
    assert "galleries:" in text
    assert "newsportal crawl gallery" in text
    assert not lxml_html.document_fromstring(text).xpath("//nav[@class='topics']//a[@href='/photos']")  # an empty wall has no link


def test_wall_pages_cover_every_story_once(wall: httpx.Client, photos: Store) -> None:
    path, addresses = "/photos", []
    while path:
        tree = page(wall, path)
        cards = tree.xpath("//div[@data-wall]/article")
        assert 0 < len(cards) <= PAGE
        addresses += tree.xpath("//div[@data-wall]//h2/a/@href")
        path = next(iter(tree.xpath("//a[@data-more]/@href")), "")
    assert len(addresses) == len(set(addresses)) == len(photos.ids)
    for address in addresses[:3]:
        assert wall.get(address).status_code == 200


def test_newest_order(wall: httpx.Client) -> None:
    times = page(wall, "/photos?order=newest").xpath("//div[@data-wall]//time/@datetime")
    assert len(times) == PAGE
    assert all(first >= second for first, second in pairwise(times))
    assert page(wall, "/photos").xpath("//div[@data-wall]//time/@datetime") != times


def test_topic_has_its_own_wall(wall: httpx.Client) -> None:
    tree = page(wall, "/photos?topic=旅游")
    assert len(tree.xpath("//div[@data-wall]/article")) == 2
    assert "旅游" in tree.xpath("string(//h1)")
    assert tree.xpath("//nav[@class='chips']/a[@aria-current]")[0].text == "旅游"
    assert "这里还没有图集" in wall.get("/photos?topic=没有").text


def test_card_shows_number_of_images_and_missing_pages(wall: httpx.Client) -> None:
    cards = page(wall, "/photos?topic=旅游").xpath("//div[@data-wall]/article")
    broken = next(card for card in cards if "转场季" in card.text_content())
    assert "4 张图" in broken.text_content()
    assert "未收全" in broken.text_content()
    assert "没有及时应答" in broken.text_content() or "时" in broken.xpath(".//span[@title]/@title")[0]
    complete = next(card for card in cards if "观景桥" in card.text_content())
    assert "未收全" not in complete.text_content()


def test_every_card_height_has_a_style(wall: httpx.Client) -> None:
    """The space of images is reserved before they load, without scripts."""
    css = wall.get("/static/photos.css").text
    for height in HEIGHTS:
        assert f".h-{height} {{ --h: {height}; grid-row-end: span {height + 13}; }}" in css
    for card in page(wall, "/photos").xpath("//div[@data-wall]/article"):
        assert int(re.search(r"h-(\d+)", card.get("class"))[1]) in HEIGHTS
        assert all(image.get("width") and image.get("height") for image in card.iter("img"))


@pytest.mark.parametrize(("size", "height"), [((960, 600), 16), ((600, 600), 26), ((1, 10_000), 42), ((10_000, 1), 14), ((2, 3), 40)])
def test_cover_height_is_bounded(size: tuple[int, int], height: int) -> None:
    assert height_of(*size) == height


def test_photo_story_shows_images_in_order(wall: httpx.Client, photos: Store) -> None:
    tree = page(wall, f"/story/{photos.ids['bridge']}")
    figures = tree.xpath("//figure[@data-place]")
    assert [figure.get("data-place") for figure in figures] == [str(place) for place in range(1, 10)]
    stored = [picture.image for picture in photos.galleries.pictures(photos.ids["bridge"])]
    assert [figure.xpath("./a/@href")[0] for figure in figures] == [image.url for image in stored]
    assert [figure.xpath("string(.//*[@data-caption])") for figure in figures] == [image.caption for image in stored]
    assert [figure.xpath(".//img/@alt")[0] for figure in figures] == [image.caption for image in stored]
    assert [figure.xpath(".//img/@width")[0] for figure in figures] == [str(image.width) for image in stored]
    assert [figure.xpath(".//img/@loading") for figure in figures] == [[], []] + [["lazy"]] * 7
    lead = tree.xpath("string(//div[@class='body'])").strip()
    assert lead == "云岭峡谷步行观景桥开放首日。这组图记录了9个瞬间。"  # captions appear only with their images


def test_incomplete_story_lists_missing_pages(wall: httpx.Client, photos: Store) -> None:
    text = page(wall, f"/story/{photos.ids['broken']}").xpath("string(//p[contains(@class, 'incomplete')])")
    assert "共 9 页，缺第 5–7, 9 页" in text
    assert "下次访问时补全" in text


def test_images_without_known_size(wall: httpx.Client, photos: Store) -> None:
    tree = page(wall, f"/story/{photos.ids['plain']}")
    assert tree.xpath("//figure//img/@width") == []
    assert tree.xpath("//figure//img/@alt")[0] == "第 1 张，共 3 张"


@pytest.mark.parametrize(("pages", "expected"), [((), ""), ((3,), "3"), ((2, 3), "2, 3"), ((9, 5, 6, 7, 5), "5–7, 9")])
def test_missing_pages_are_written_as_ranges(pages: tuple[int, ...], expected: str) -> None:
    assert format_pages(pages) == expected


def test_viewer_is_loaded_only_with_photo_stories(wall: httpx.Client, photos: Store, client: httpx.Client, ids: dict[str, str]) -> None:
    assert "photoswipe" in wall.get(f"/story/{photos.ids['bridge']}").text
    for path in ("/", "/latest", "/photos", "/for-you", "/profile"):
        assert "photoswipe" not in wall.get(path).text
    assert "photoswipe" not in client.get(f"/story/{ids['bridge']}").text


def test_front_page_has_a_row_of_photo_stories(wall: httpx.Client, client: httpx.Client) -> None:
    best = page(wall, "/photos").xpath("//div[@data-wall]//h2/a/@href")
    front = page(wall, "/")
    above = set(front.xpath("//section[@class='lead' or @class='hottest']//*[contains(@class, 'headline')]/a/@href"))
    row = front.xpath("//section[@aria-labelledby='photos-name']//h3/a/@href")
    assert row == [story for story in best if story not in above][:5], "the best that are not shown above"
    assert "photos.css" not in client.get("/").text  # not loaded by portals without photo stories


def test_lists_show_number_of_images(wall: httpx.Client) -> None:
    assert "9 张图" in wall.get("/latest").text
    assert 'href="/photos"' in wall.get("/").text


def test_feed_has_all_images(wall: httpx.Client, photos: Store) -> None:
    items = etree.fromstring(wall.get("/photos/feed.rss").content).findall(".//item")
    bridge = next(item for item in items if "观景桥" in item.findtext("title"))
    stored = [picture.image.url for picture in photos.galleries.pictures(photos.ids["bridge"])]
    assert [media.get("url") for media in bridge.iterfind("{http://search.yahoo.com/mrss/}content")] == stored
    assert bridge.find("enclosure").get("url") == stored[0]
    body = bridge.findtext("{http://purl.org/rss/1.0/modules/content/}encoded")
    assert re.findall(r'src="([^"]+)"', body) == stored
    atom = etree.fromstring(wall.get("/photos/feed.atom?topic=旅游").content)
    assert len(atom.xpath("//*[local-name()='link' and @rel='enclosure']")) == 13
    first = wall.get("/photos/feed.json").json()["items"][0]
    assert first["image"] == first["attachments"][0]["url"]
    assert wall.get("/photos/feed.txt").status_code == 404


def test_file_has_more_stories_than_feed(wall: httpx.Client, photos: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newsportal.portal.reading.feeds.ENTRIES", 1)
    assert len(wall.get("/photos/feed.json").json()["items"]) == 1
    assert len(wall.get("/photos/feed.jsonl").text.splitlines()) == len(photos.ids)


@pytest.mark.parametrize("filters", ["", "?order=newest", "?source=gallery:散图社", "?topic=旅游"])
def test_files_have_the_stories_of_the_page_in_its_order(wall: httpx.Client, filters: str) -> None:
    page = lxml_html.document_fromstring(wall.get(f"/photos{filters}").text)
    shown = [link.text_content().strip() for link in page.xpath("//article//h2/a")]
    [address] = page.xpath("//a[@download][.='JSON Lines']/@href")
    assert [json.loads(line)["title"] for line in wall.get(address).text.splitlines()][:PAGE] == shown


@pytest.mark.parametrize("value", ["x" * 5000, "'\"><script>", "-1", "1~", "nan~x", "1e999~x", "\x00", "9" * 400 + "~a"])
@pytest.mark.parametrize("name", ["before", "topic", "order", "source", "category"])
def test_wall_accepts_any_parameter(wall: httpx.Client, name: str, value: str) -> None:
    for order in ("ranked", "newest"):
        answer = wall.get("/photos", params={"order": order, name: value})
        assert answer.status_code == 200, (name, value, order)
        assert "<script>" not in answer.text


def test_hostile_image_urls_and_texts_are_removed(serve, fresh: Store, albums: ModuleType) -> None:
    from dataclasses import replace

    attack = '"><script>alert(1)</script>\u202e'
    story = albums.album("攻击", "https://p.example", 2)
    images = (
        Image("javascript:alert(1)", attack),
        Image("data:text/html,x", attack),
        Image('https://p.example/"onload=1', attack),
        *story.images,
    )
    saved = fresh.galleries.save(replace(story, title=attack, images=images, failure=attack, complete=False, site=attack), now=albums.NOW)
    client = serve(fresh)
    for path in ("/photos", f"/story/{saved.story_id}", "/photos/feed.rss", "/photos/feed.json"):
        text = client.get(path).text
        assert "<script>alert" not in text or path.endswith("json")  # titles in JSON are not HTML
        assert "javascript:" not in text
        assert "data:text" not in text
        assert "\u202e" not in text or "feed" in path
    assert len(page(client, f"/story/{saved.story_id}").xpath("//figure")) == 3
