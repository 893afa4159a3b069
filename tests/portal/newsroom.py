"""A made-up newsroom: stories of invented sites, for the portal's tests and screenshots."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from newsportal.items import Article, FoldKey, Image, Link, content_id
from newsportal.items.report import Run, SourceReport
from newsportal.messages import Message
from newsportal.sources import Sources
from newsportal.store.store import Store

LAYOUT = Message("note.layout-changed")
NOW = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)
"""18:30 in Shanghai, a Wednesday."""


def settings(**more: object) -> Sources:
    """Return settings without a file: three topics, no source, nothing on disk."""
    values = {
        "portal": {"title": "江畔新闻"}, "topics": [{"name": name, "engines": []} for name in ("旅游", "人工智能", "新能源汽车")],
        "store": "sqlite://", "alerts": {"enabled": False, "disk_free": 0.001},  # independent of the free space of the test machine
    }  # fmt: skip
    return Sources.model_validate(values | more)


def article(title: str, text: str, **fields: object) -> Article:
    """Return an article as the pipelines pass it to a store. ``ago`` is in minutes before NOW."""
    age = timedelta(minutes=float(str(fields.pop("ago", 60))))
    site = str(fields.get("site", "晨光网"))
    url = str(fields.pop("url", f"https://{content_id(site)[:6]}.example/{content_id(title + text)}.html"))
    source = str(fields.pop("source", f"feed:{site}"))
    values = {"site": site, "published": NOW - age, "language": "zh", "topics": (), **fields}
    return Article(url=url, link=Link(url=url, source=source), fetched=NOW - age / 2, identity=url, title=title, text=text, **values)  # type: ignore[arg-type]


def write(store: Store, *articles: Article, fold_key: str | None = None) -> list[str]:
    """Store ``articles`` (as one story, if a fold key ``fold_key`` is given) and return their ids."""
    keys = [FoldKey(fold_key, "同题")] if fold_key else []
    return [store.add(article, keys, now=article.published or NOW).id for article in articles]


BRIDGE = """本报讯 历时四年建设，横跨云岭峡谷的步行观景桥今天上午正式开放。清晨六点，第一批游客在薄雾中走上桥面，两侧的杜鹃正值盛花期。
这座桥全长六百二十米，桥面距谷底二百三十米，采用双塔悬索结构。设计团队介绍，为减少对山体的影响，施工全程没有修建临时公路，所有构件经由索道运抵。
“我们希望人们慢下来。”景区负责人说，桥上每隔八十米设有一处停留平台，平台上的铭牌介绍脚下这片森林的植物与鸟类。
为保护峡谷生态，观景桥实行实名预约，每日接待上限为八千人。预约系统提前七天开放，六十五岁以上老人与十四岁以下儿童免费。
交通部门同步开通了三条从高铁站直达峡谷的公交线路，车程约四十分钟。当地客栈的预订量比去年同期增长近六成。
气象部门提醒，五月下旬峡谷午后多雷阵雨，风力超过六级时观景桥将临时关闭，出行前请留意当日公告。"""

BRIDGE_HTML = (
    '<p>{0}</p><figure><img src="{picture}" alt="云岭峡谷"><figcaption>清晨的云岭峡谷步行观景桥。本报记者 摄</figcaption></figure>'
    "<p>{1}</p><p>{2}</p><h3>每日限八千人</h3><p>{3}</p><p>{4}</p><blockquote>{5}</blockquote>"
)

STORIES = json.loads(Path(__file__).with_name("stories.json").read_text("utf-8"))
"""``ago``: minutes before NOW; ``others``: number of sites that repost the story."""

OTHER_SITES = ("北地新闻", "海港晚报", "晨光网", "南江日报", "快讯社")


def fill(store: Store, picture: str = "https://pictures.example") -> dict[str, str]:
    """Save all of the above in ``store`` and return ids by a short name."""
    lines = BRIDGE.split("\n")
    html = BRIDGE_HTML.format(*lines, picture=f"{picture}/bridge.svg")
    bridge = article(
        "云岭峡谷步行观景桥今日开放，首日八千张门票全部约满",
        BRIDGE,
        html=html,
        site="云岭晚报",
        author="本报记者",
        origin="云岭晚报",
        topics=("旅游",),
        category="社会",
        ago=150,
        images=(
            Image(f"{picture}/bridge.svg", "清晨的云岭峡谷步行观景桥", 960, 600),
            Image(f"{picture}/visitors.svg", "游客在停留平台上辨认鸟类", 960, 600),
        ),
    )
    reposts = [article(bridge.title or "", BRIDGE, site=site, ago=120 - 20 * place) for place, site in enumerate(OTHER_SITES[:4])]
    ids = write(store, bridge, *reposts, fold_key="bridge")
    by_name = {"bridge": ids[0], "repost": ids[1]}
    for place, story in enumerate(STORIES):
        title, text, minutes = story["title"], story["text"], story["ago"]
        fields = {"site": story["site"], "topics": tuple(story["topics"]), "category": story["category"], "ago": minutes}
        images = (Image(f"{picture}/{place}.svg", None, 960, 600),) if place % 3 != 1 else ()
        first = article(title, text, images=images, language="en" if title.isascii() else "zh", **fields)
        more = [
            article(title, text + "（转载）", site=other, ago=minutes - 5 - i) for i, other in enumerate(OTHER_SITES[: story["others"]])
        ]
        by_name[title[:4]] = write(store, first, *more, fold_key=f"story-{place}")[0]
    store.save_run(run())
    return by_name


def run() -> Run:
    """Return a finished crawl with consistent figures."""
    return Run(
        id="20260520T101500-demo",
        started=NOW - timedelta(minutes=15),
        ended=NOW - timedelta(minutes=11, seconds=22),
        reason="finished",
        spiders=("rss", "hub", "metasearch"),
        sources=(
            SourceReport("feed:晨光网", 1, 0, 40, 12, 2, 26, 26, 25, 21, 4, 0, {"no-body": 1}),
            SourceReport(
                "region:南江日报·社会",
                3,
                0,
                122,
                60,
                8,
                54,
                52,
                48,
                33,
                14,
                1,
                {"http-404": 2, "too-short": 4},
                {},
                (Message("note.layout-changed"),),
            ),
            SourceReport(
                "engine:baidu_news", 6, 0, 60, 18, 9, 33, 30, 28, 11, 17, 0, {"timeout": 3, "no-body": 2}, {"blocked: captcha": 1}
            ),
            SourceReport("feed:海港晚报", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {}, {"dns": 1}),
        ),
    )


def failed_run() -> Run:
    """Return a crawl on a machine without a network."""
    rows = tuple(SourceReport(f"feed:{site}", list_failed={"dns": 1}) for site in OTHER_SITES)
    return Run("offline", NOW - timedelta(minutes=3), NOW - timedelta(minutes=2), "finished", ("rss",), rows)
