"""Made-up photo stories of invented sites, for the portal's tests and screenshots."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from newsportal.items import Gallery, Image, Link, content_id
from newsportal.store.store import Store

NOW = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)  # 18:30 in Shanghai, as in newsroom.py

SHAPES = ((960, 600), (800, 1000), (1200, 675), (900, 900), (1600, 700), (700, 1100))

PLACES = ("云岭峡谷", "白石古镇", "海港码头", "南江湿地", "北地草原", "青瓦书院", "盐田", "梯田", "老铁路", "灯塔", "花市", "雪山营地")
SCENES = (
    "清晨，薄雾还没有散去，第一批游客已经到了",
    "护林员沿着步道检查路标",
    "孩子们在岸边辨认候鸟",
    "修船的老师傅做完了最后一道工序",
    "午后的阵雨让石板路亮了起来",
    "摊主把当天的鲜花摆上架",
    "傍晚，列车从山脚下驶过",
    "志愿者清点一天收集的垃圾",
    "夜里，营地的灯一盏盏亮起",
)


def album(title: str, pictures: str, count: int, **fields: object) -> Gallery:
    """Return a photo story of ``count`` images. ``ago`` is in minutes before NOW."""
    chance = Random(title)
    name = content_id(title)
    age = timedelta(minutes=float(str(fields.pop("ago", 90))))
    site = str(fields.pop("site", "光影网"))
    url = f"https://{content_id(site)[:6]}.example/photo/{name}.html"
    images = []
    for place in range(count):
        width, height = chance.choice(SHAPES)
        scene = SCENES[(place + chance.randrange(3)) % len(SCENES)]
        images.append(Image(f"{pictures}/{name}-{place}-{width}x{height}.svg", f"{scene}（{place + 1}）", width, height))
    return Gallery(
        url=url,
        identity=url,
        title=title,
        link=Link(url=url, source=f"gallery:{site}"),
        fetched=NOW - age / 2,
        images=tuple(images),
        published=NOW - age,
        site=site,
        language="zh",
        **{"complete": True, "total": 1, "text": f"{title}。这组图记录了{count}个瞬间。", **fields},  # type: ignore[arg-type]
    )


def fill(store: Store, pictures: str = "https://pictures.example") -> dict[str, str]:
    """Save photo stories in ``store``; return ids by name. ``bridge`` has nine images, ``broken`` lacks pages, ``plain`` lacks sizes."""
    galleries = {
        "bridge": album("云岭峡谷步行观景桥开放首日", pictures, 9, topics=("旅游",), category="旅游", author="本报记者 江一帆", ago=30),
        "broken": album(
            "北地草原的转场季", pictures, 4, topics=("旅游",), complete=False, total=9, missing=(5, 6, 7, 9), failure="timeout", later=True
        ),
        "plain": Gallery(
            url="https://s.example/photo/1.html",
            identity="https://s.example/photo/1.html",
            title="没有人告诉尺寸的一组图",
            link=Link(url="https://s.example/photo/1.html", source="gallery:散图社"),
            fetched=NOW,
            images=tuple(Image(f"{pictures}/plain-{place}.svg") for place in range(3)),
            published=NOW - timedelta(hours=3),
            complete=True,
            site="散图社",
        ),
    }
    for place in range(40):
        title = f"{PLACES[place % len(PLACES)]}{('一日', '四季', '的人们', '旧影')[place // len(PLACES) % 4]}：镜头里的第{place + 1}站"
        galleries[f"more-{place}"] = album(
            title, pictures, 3 + place % 11, ago=120 + 45 * place, site=("光影网", "南江画报", "海港图片社")[place % 3]
        )
    return {name: store.galleries.save(gallery, now=gallery.published or NOW).id for name, gallery in galleries.items()}
