"""Photo stories in a browser: the wall, the viewer by keyboard and touch, recorded views, and everything without scripts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from time import monotonic, sleep
from typing import Any

import pytest

from newsportal.portal.ttl_cache import TtlCache
from newsportal.recommend.base import View

PHONE = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
READER = {"user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}


BOXES = """[...document.querySelectorAll(".card")].map(card => {
    const {x, y, width, bottom} = card.getBoundingClientRect();
    return [x, y, width, bottom];
})"""

NAMELESS = """[...document.querySelectorAll("a[href], button, input:not([type=hidden])")].filter(node =>
    !(node.textContent.trim() || node.getAttribute("aria-label") || node.querySelector("img[alt]:not([alt=''])") || node.labels?.length)
).map(node => node.outerHTML)"""


DRAWN = """[...document.querySelectorAll(".curve canvas")].map(canvas =>
    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean))"""


@pytest.fixture
def site(album_site: Any) -> Any:
    """The portal for ``visit``."""
    return album_site


def until(true: Callable[[], bool], seconds: float = 600) -> None:
    deadline = monotonic() + seconds
    while not true():
        assert monotonic() < deadline, "the condition was not met in time"
        sleep(0.05)


def wait_for_condition(page: Any, condition: str) -> None:
    """Wait until ``condition`` is true in the page (``wait_for_function`` needs ``eval``, which our policy forbids)."""
    until(lambda: bool(page.evaluate(condition)))


def wait_for_viewer(page: Any) -> None:
    """Wait until the viewer accepts keys."""
    page.locator(".pswp--ui-visible").wait_for()
    sleep(0.6)


def stop_clock(page: Any) -> None:
    """Pause the page's timers until ``page.clock.run_for``."""
    page.clock.install(time=0)
    page.clock.pause_at(1000)


def observed(page: Any, selector: str) -> None:
    """Wait until the page's observers have been notified: they precede one that is created now."""
    page.evaluate(
        "selector => new Promise(done => { const one = new IntersectionObserver(() => { one.disconnect(); done(); });"
        " one.observe(document.querySelector(selector)); })",
        selector,
    )


def look_at(page: Any, place: int) -> None:
    """Keep a picture in view for more than a second of the page's clock."""
    page.evaluate(f"document.querySelector('#picture-{place}').scrollIntoView({{block: 'center'}})")
    wait_for_condition(page, f"document.querySelector('#picture-{place} img').naturalWidth > 0")
    observed(page, f"#picture-{place}")
    page.clock.run_for(1400)


def seen_pictures(visitor: Any) -> dict[str, int]:
    """Return the pictures seen by this visitor: story to number."""
    name = next((cookie["value"] for cookie in visitor.page.context.cookies() if cookie["name"] == "reader"), "")
    return {view.story: view.seen for view in visitor.site.store.readers.history(name)}


def leave_page(visitor: Any) -> None:
    """Navigate away, which sends the pending views."""
    visitor.go("/settings")


@pytest.mark.parametrize(
    "options", [{}, {**PHONE, "color_scheme": "dark"}, {"java_script_enabled": False}], ids=["desktop", "dark phone", "no-script"]
)
def test_pages_fit_viewport_and_obey_policy(visit: Any, options: dict[str, Any]) -> None:
    visitor = visit(role="editor", **options)
    paths = ("/photos", "/photos?order=newest", "/for-you", "/profile", "/monitor/reading", "/")
    for path in (*paths, *(f"/story/{visitor.site.ids[f'album-{name}']}" for name in ("bridge", "broken", "plain"))):
        page = visitor.go(path)
        assert page.locator("h1").count() == 1, path
        if options.get("java_script_enabled", True):
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_cards_are_in_columns_and_do_not_move(visit: Any) -> None:
    visitor = visit()
    page = visitor.page
    page.route("**/*.svg", lambda route: (sleep(0.3), route.continue_()))  # pictures load late
    page.goto(f"{visitor.site.address}/photos", wait_until="domcontentloaded")
    before = page.evaluate(BOXES)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("[...document.images].filter(image => image.naturalWidth).length") > 5
    assert page.evaluate(BOXES) == before
    columns = sorted({round(x) for x, *_ in before})
    assert len(columns) >= 4
    for x in columns:
        column = sorted(box for box in before if round(box[0]) == x)
        gaps = [below[1] - above[3] for above, below in pairwise(column)]
        assert all(0 <= gap < 60 for gap in gaps), gaps  # no overlaps, no holes
    assert before[0][1] == min(box[1] for box in before)  # the first card is at the top


def test_more_button_appends_cards(visit: Any, violations: Any) -> None:
    visitor = visit()
    page = visitor.go("/photos")
    assert page.locator(".card").count() == 30
    page.locator("[data-more]").click()
    wait_for_condition(page, "document.querySelectorAll('.card').length === 43")
    assert violations(page) == []
    assert page.locator("[data-more]").count() == 0
    assert page.url.endswith("/photos")
    addresses = page.evaluate("[...document.querySelectorAll('.card h2 a')].map(link => link.href)")
    assert len(set(addresses)) == 43
    assert page.evaluate("document.activeElement.href") == addresses[30]
    page.keyboard.press("k")  # keys reach the new cards as well
    assert page.evaluate("document.activeElement.href") == addresses[29]


def test_viewer_by_keyboard(visit: Any) -> None:
    visitor = visit()
    page = visitor.go(f"/story/{visitor.site.ids['album-bridge']}")
    page.locator("[data-open-viewer]").focus()
    page.keyboard.press("Enter")
    wait_for_viewer(page)
    assert page.locator(".pswp__counter").inner_text() == "1 / 9"
    first = page.locator(".pswp__caption").inner_text()
    page.keyboard.press("ArrowRight")
    wait_for_condition(page, "document.querySelector('.pswp__counter').textContent === '2 / 9'")
    assert page.locator(".pswp__caption").inner_text() != first
    assert page.locator(".pswp__caption").inner_text() == page.locator("#picture-2 [data-caption]").inner_text()
    page.keyboard.press("j")  # the page behind ignores keys
    assert page.locator("[data-story].selected").count() == 0
    for name in (".pswp__button--close", ".pswp__button--arrow--next"):
        assert page.locator(name).get_attribute("title") in ("关闭", "下一张")
    page.keyboard.press("Escape")
    page.locator(".pswp").wait_for(state="detached")
    assert page.evaluate("document.activeElement.closest('figure')?.id") == "picture-2"
    assert page.url.endswith(visitor.site.ids["album-bridge"])


def test_back_button_closes_viewer_first(visit: Any) -> None:
    visitor = visit(**PHONE)
    visitor.go("/photos")
    page = visitor.go(f"/story/{visitor.site.ids['album-bridge']}")
    page.locator("#picture-1 a").tap()
    page.locator(".pswp--open").wait_for()
    page.go_back()
    page.locator(".pswp").wait_for(state="detached")
    assert "/story/" in page.url
    page.go_back()
    page.wait_for_url("**/photos")


def test_viewer_by_swipes(visit: Any) -> None:
    visitor = visit(**PHONE)
    page = visitor.go(f"/story/{visitor.site.ids['album-bridge']}")
    page.locator("#picture-1 a").tap()
    wait_for_viewer(page)
    swipe(page, 300, 60)
    wait_for_condition(page, "document.querySelector('.pswp__counter').textContent === '2 / 9'")
    sleep(0.5)
    swipe(page, 60, 300)
    wait_for_condition(page, "document.querySelector('.pswp__counter').textContent === '1 / 9'")


def swipe(page: Any, start: int, end: int) -> None:
    """Swipe with one finger across the middle of the screen."""
    wire = page.context.new_cdp_session(page)
    steps = [start + (end - start) * step // 8 for step in range(9)]
    wire.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": steps[0], "y": 370}]})
    for x in steps[1:]:
        wire.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": 370}]})
        sleep(0.016)
    wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_picture_of_unknown_size_keeps_aspect_ratio(visit: Any) -> None:
    visitor = visit()
    page = visitor.go(f"/story/{visitor.site.ids['album-plain']}")
    page.wait_for_load_state("networkidle")
    page.locator("[data-open-viewer]").click()
    wait_for_condition(page, "document.querySelector('.pswp__img:not(.pswp__img--placeholder)')?.naturalWidth")
    shape = (
        "(() => { const {width, height} = document.querySelector('.pswp__img:not(.pswp__img--placeholder)').getBoundingClientRect();"
        " return width / height })()"
    )
    until(lambda: page.evaluate(shape) == pytest.approx(960 / 600, rel=0.02))


def test_visible_pictures_are_recorded(visit: Any) -> None:
    visitor = visit(**READER)
    stop_clock(visitor.page)
    story = visitor.site.ids["album-bridge"]
    page = visitor.go(f"/story/{story}")
    page.wait_for_load_state("networkidle")
    for place in (1, 2, 3):
        look_at(page, place)
    leave_page(visitor)
    until(lambda: story in seen_pictures(visitor))
    assert 3 <= seen_pictures(visitor)[story] <= 5  # a neighbour may have been half in view


def test_pictures_scrolled_past_are_not_recorded(visit: Any) -> None:
    visitor = visit(**READER)
    stop_clock(visitor.page)
    story = visitor.site.ids["album-more-30"]
    page = visitor.go(f"/story/{story}")
    page.wait_for_load_state("networkidle")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    observed(page, "#picture-1")
    page.clock.run_for(200)
    leave_page(visitor)
    sleep(1)
    assert seen_pictures(visitor) == {}


def test_pictures_in_viewer_are_recorded(visit: Any) -> None:
    visitor = visit(**READER)
    story = visitor.site.ids["album-more-10"]  # thirteen pictures
    page = visitor.go(f"/story/{story}")
    page.locator("[data-open-viewer]").click()
    page.locator(".pswp--open").wait_for()
    page.evaluate("window.looked = 0, document.addEventListener('picture-seen', () => window.looked++)")
    for number in range(1, 7):
        wait_for_condition(page, f"document.querySelector('.pswp__counter').textContent.startsWith('{number} /')")
        wait_for_condition(page, f"window.looked >= {number}")
        page.keyboard.press("ArrowRight")
    leave_page(visitor)
    until(lambda: seen_pictures(visitor).get(story, 0) >= 6)
    assert seen_pictures(visitor)[story] <= 9


def test_article_counts_after_reading_time(visit: Any) -> None:
    visitor = visit(**READER)
    stop_clock(visitor.page)
    story = visitor.site.ids["bridge"]
    page = visitor.go(f"/story/{story}")
    page.clock.run_for(1500)
    leave_page(visitor)
    sleep(0.5)
    assert seen_pictures(visitor) == {}
    page = visitor.go(f"/story/{story}")
    page.locator("[data-article-end]").scroll_into_view_if_needed()
    observed(page, "[data-article-end]")
    page.clock.run_for(3600)
    leave_page(visitor)
    until(lambda: seen_pictures(visitor) == {story: 1})


def test_reader_clears_and_disables_profile(visit: Any) -> None:
    visitor = visit(**READER)
    stop_clock(visitor.page)
    story = visitor.site.ids["album-bridge"]
    view_story(visitor, story)
    page = visitor.go("/profile")
    page.get_by_role("button", name="删除").first.click()
    page.wait_for_url("**/profile")
    assert seen_pictures(visitor) == {}
    view_story(visitor, story)
    page = visitor.go("/profile")
    page.get_by_role("button", name="全部清除").click()
    assert page.locator(".viewed-stories li").count() == 0
    assert [cookie["name"] for cookie in page.context.cookies()] == []
    view_story(visitor, story)
    page = visitor.go("/profile")
    page.get_by_role("button", name="关闭阅读记录").click()
    page.get_by_role("button", name="打开阅读记录").wait_for()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page = visitor.go(f"/story/{story}")
    page.wait_for_load_state("networkidle")
    look_at(page, 1)
    leave_page(visitor)
    assert sent == []


def view_story(visitor: Any, story: str) -> None:
    page = visitor.go(f"/story/{story}")
    page.wait_for_load_state("networkidle")
    look_at(page, 1)
    leave_page(visitor)
    until(lambda: story in seen_pictures(visitor))


def test_photo_pages_and_profile_work_without_scripts(visit: Any) -> None:
    visitor = visit(java_script_enabled=False, **READER)
    page = visitor.go("/photos")
    page.locator("[data-more]").click()
    assert page.locator(".card").count() == 13
    page = visitor.go(f"/story/{visitor.site.ids['album-bridge']}")
    assert page.locator("figure img").count() == 9
    assert page.locator("[data-open-viewer]").is_hidden()
    assert page.locator("#picture-3 a").get_attribute("href").endswith(".svg")
    page = visitor.go("/profile")
    page.get_by_role("button", name="关闭阅读记录").click()
    assert page.get_by_role("button", name="打开阅读记录").is_visible()
    page.get_by_role("button", name="打开阅读记录").click()
    assert page.get_by_role("button", name="关闭阅读记录").is_visible()


def test_failed_picture_keeps_place_and_caption(visit: Any) -> None:
    visitor = visit()
    visitor.page.route("**/*-1-*.svg", lambda route: route.fulfill(status=404))
    page = visitor.go(f"/story/{visitor.site.ids['album-bridge']}")
    page.locator("#picture-2.failed").wait_for()
    assert page.locator("#picture-2 [data-caption]").is_visible()
    assert page.locator("#picture-2 a").bounding_box()["height"] < 200
    visitor.faults[:] = [fault for fault in visitor.faults if "404" not in fault]


def test_controls_have_accessible_names(visit: Any) -> None:
    visitor = visit(**PHONE)
    for path in ("/photos", "/profile", "/for-you", f"/story/{visitor.site.ids['album-broken']}"):
        page = visitor.go(path)
        nameless = page.evaluate(NAMELESS)
        assert nameless == [], path


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_monitor_draws_monthly_charts(visit: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TtlCache, "cached", lambda self, key: [])  # do not use the cache of another test
    visitor = visit(role="editor", **options)
    store, now = visitor.site.store, visitor.site.newsroom.NOW
    story = visitor.site.ids["album-bridge"]
    store.readers.import_views([View(f"{ago:032x}", story, 3, 9, now - timedelta(days=ago)) for ago in (100, 70, 40, 10)], now=now)
    page = visitor.go("/monitor/reading")
    until(lambda: page.locator(".curve canvas").count() == 2)
    until(lambda: page.evaluate(DRAWN) == [True, True])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("t")  # the other theme redraws in its colours
    until(lambda: page.locator(".curve canvas").count() == 2 and page.evaluate(DRAWN) == [True, True])
