"""Three news sites whose front page lists only a part of their articles: channels lead to the rest, among endless URLs.

``tree``: cities with two channels each. ``numbers``: every URL is a number for a script; each list exists in endless orders, and a calendar
is endless. ``journal``: categories and tags with words as URLs, the same articles under many tags, monthly archives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Final
from urllib.parse import urlsplit

from madeup.exchange import Response, page

CITIES: Final = ("hebei", "shanxi", "jilin", "anhui", "hainan", "gansu")
WHO: Final = ("县图书馆", "老码头菜市场", "第三中学", "水务所", "城南车站", "渔业合作社", "博物馆", "气象站", "种子公司", "社区食堂")
DID: Final = ("延长开放时间", "换上新的路灯", "招募志愿讲解员", "公布冬季安排", "完成设备检修", "试行预约制度", "整理旧档案", "举办开放日")
WHY: Final = ("方便下班晚的居民", "应对连日降温", "迎接寒假的学生", "答复代表的提案", "减少排队的时间", "配合河道清淤")
THINGS: Final = ("library", "market", "harbour", "school", "station", "museum", "orchard", "bakery", "theatre", "lighthouse")
DEEDS: Final = (
    "opens-late-for-winter",
    "repairs-its-old-clock",
    "counts-the-birds-again",
    "plants-two-hundred-trees",
    "invites-young-readers",
)
CATEGORIES: Final = ("politics", "science", "sports", "business", "culture", "travel")


@dataclass(frozen=True)
class Shape:
    """``pages``: path with query to HTML. ``articles``: the paths of articles. ``endless`` answers other paths, if any."""

    articles: tuple[str, ...]
    pages: Mapping[str, str]
    endless: Callable[[str], str | None] = lambda target: None
    requests: Counter[str] = field(default_factory=Counter)

    def answer(self, method: str, target: str, headers: Mapping[str, str]) -> Response:
        self.requests[target] += 1
        html = self.pages.get(target) or self.endless(target)
        return page(html) if html else page("<h1>404</h1>", 404)


def shapes(now: datetime) -> dict[str, Shape]:
    return {"tree": _tree(now), "numbers": _numbers(now), "journal": _journal(now)}


def _page(title: str, body: str) -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"


def _list(title: str, articles: Mapping[str, str], more: Mapping[str, str], now: datetime) -> str:
    menu = "".join(f'<a href="{href}">{text}</a> ' for href, text in more.items())
    rows = "".join(f'<li><a href="{href}">{text}</a> <span>{now:%Y-%m-%d}</span></li>' for href, text in articles.items())
    return _page(title, f"<nav>{menu}</nav><main><h1>{title}</h1><ul>{rows}</ul></main>")


def _article(title: str, paragraphs: list[str], now: datetime) -> str:
    text = "".join(f"<p>{line}</p>" for line in paragraphs)
    return _page(title, f"<article><h1>{title}</h1><time>{now:%Y-%m-%d %H:%M}</time>{text}</article>")


def _chinese(number: int) -> tuple[str, list[str]]:
    chance = Random(number)
    who, did, reason = WHO[number % len(WHO)], DID[number // len(WHO) % len(DID)], chance.choice(WHY)
    lines = [
        f"{chance.choice(WHO)}的工作人员告诉记者，第{chance.randrange(100, 999)}号方案经过{chance.randrange(3, 40)}次讨论才定下来，"
        f"其中{chance.choice(WHY)}是多数人最关心的一条，{chance.choice(DID)}排在其后。"
        for _ in range(5)
    ]
    return f"{who}{did}{reason}（{number}）", [f"{who}昨天{did}，{reason}。", *lines]


def _english(number: int) -> tuple[str, str, list[str]]:
    chance = Random(number)
    thing, deed = THINGS[number % len(THINGS)], DEEDS[number // len(THINGS) % len(DEEDS)]
    lines = [
        f"The {chance.choice(THINGS)} keeper said on day {chance.randrange(400)} that {chance.randrange(10, 99)} people had asked about "
        f"the {chance.choice(THINGS)}, and that the answer would be given when the {chance.choice(THINGS)} had closed for the evening."
        for _ in range(6)
    ]
    return f"the-old-{thing}-{deed}", f"The old {thing} {deed.replace('-', ' ')}", lines


def _tree(now: datetime) -> Shape:
    pages, all_articles, menu = dict[str, str](), dict[str, str](), {f"/{city}/": city for city in CITIES}
    for place, city in enumerate(CITIES):
        of_city, below = dict[str, str](), {f"/{city}/shizheng/": "时政", f"/{city}/minsheng/": "民生"}
        for turn, channel in enumerate(below):
            numbers = range(100 + 12 * place + 6 * turn, 106 + 12 * place + 6 * turn)
            stories = {f"{channel}{now:%Y/%m%d}/c{910_000 + number}.html": _chinese(number) for number in numbers}
            pages |= {href: _article(*story, now) for href, story in stories.items()}
            titles = {href: title for href, (title, _) in stories.items()}
            pages[channel] = _list(channel, titles, {**menu, **below}, now)
            of_city |= titles
        pages[f"/{city}/"] = _list(city, dict(list(of_city.items())[::3]), {**menu, **below}, now)
        all_articles |= of_city
    pages["/"] = _list("江河日报", dict(list(all_articles.items())[::8]), menu, now)
    return Shape(tuple(all_articles), pages)


def _numbers(now: datetime) -> Shape:
    pages, all_articles = dict[str, str](), dict[str, str]()
    menu = {**{f"/list.php?id={number}": f"栏目{number}" for number in range(1, 9)}, f"/daily/list.php?day={now:%Y-%m-%d}": "日历"}
    lists = dict[str, dict[str, str]]()
    for channel in range(1, 9):
        stories = {f"/show.php?id={820_000 + number}": _chinese(number) for number in range(200 + 8 * channel, 208 + 8 * channel)}
        pages |= {href: _article(*story, now) for href, story in stories.items()}
        lists[f"/list.php?id={channel}"] = {href: title for href, (title, _) in stories.items()}
        all_articles |= lists[f"/list.php?id={channel}"]
    newest = dict(list(all_articles.items())[::7])
    pages["/"] = _list("群山晚报", newest, menu, now)

    def endless(target: str) -> str | None:
        path, query = urlsplit(target)[2:4]
        if path == "/daily/list.php":
            day = datetime.fromisoformat(query.removeprefix("day="))
            ways = {f"{path}?day={day + timedelta(days=step):%Y-%m-%d}": "前后" for step in range(-9, 10)}
            return _list("日历", newest, ways, now)
        titles = lists.get(target.partition("&")[0])
        orders = {f"{target}&{key}=1": f"按{key}" for key in ("hot", "new", "view")}
        return _list("栏目", titles, {**menu, **orders}, now) if titles else None

    return Shape(tuple(all_articles), pages, endless)


def _journal(now: datetime) -> Shape:
    pages, all_articles = dict[str, str](), dict[str, str]()
    tags = {f"/tag/{thing}": thing for thing in THINGS}
    menu = {**{f"/category/{name}": name for name in CATEGORIES}, **tags, "/about": "About"}
    menu |= {f"/{now.year - years}/{month:02}/": "Archive" for years in range(3) for month in range(1, 13)}
    for place, name in enumerate(CATEGORIES):
        titles = dict[str, str]()
        for number in range(8 * place, 8 * place + 8):
            slug, title, lines = _english(number)
            titles[f"/{name}/{slug}"] = title
            pages[f"/{name}/{slug}"] = _article(title, lines, now)
        pages[f"/category/{name}"] = _list(name, titles, menu, now)
        all_articles |= titles
    for href, thing in tags.items():
        pages[href] = _list(thing, {path: title for path, title in all_articles.items() if thing in path}, menu, now)
    pages |= {href: _list("Archive", dict(list(all_articles.items())[:5]), menu, now) for href, text in menu.items() if text == "Archive"}
    pages["/"] = _list("The Tidal Post", dict(list(all_articles.items())[::6]), menu, now)
    return Shape(tuple(all_articles), pages)
