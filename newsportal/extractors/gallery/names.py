"""The names that tell what a picture of a page is: classes and ids around it, attributes, files, what ``alt`` says."""

from __future__ import annotations

import re
from typing import Final

ASIDE: Final = re.compile(
    r"relat|recommend|tuijian|xiangguan|guess|comment|cmt|pinglun|(?<![a-z])foot|copyright|(?<![a-z])nav(?![a-z])|menu|topbar|toolbar|breadcrumb"
    r"|search|share|social|weixin|wechat|qr-?code|erweima|ewm|side-?bar|(?<![a-z])side(?![a-z])|aside|widget|banner|advert|(?<![a-z])ads?(?![a-z])"
    r"|(?<![a-z])ad[-_]|[-_]ad(?![a-z])|sponsor|guanggao|popup|author|avatar|(?<![a-z])user-?(?:info|name|pic|head|card|face)|profile|(?<![a-z])rank|(?<![a-z])hot(?![a-z])|login|friend"
    r"|logo|download|app-?(?:down|code)|more(?![a-z])|promo|next-?(?:group|album|set|story|gallery)|prev-?(?:group|album|set|story|gallery)|also|latest",
    re.IGNORECASE,
)
"""Class and id of what stands beside a story."""

ASIDE_TAGS: Final = frozenset(("nav", "aside", "footer"))
SHOWCASE: Final = re.compile(
    r"(?<![a-z])(?:gallery|album|slides?|slideshow|photo|pic|picture|img|image|main|content|article|big|figure|swiper|viewer|stage|tuji|tuku)(?![a-z])",
    re.IGNORECASE,
)
"""Class and id of what a story's pictures stand in."""

STRIP: Final = re.compile(r"thumb|strip|small|(?<![a-z])mini|tiny|(?<![a-z])nav|filmstrip|xiaotu|indicator|dots", re.IGNORECASE)
"""Class and id of a row of small copies."""

BACKGROUND: Final = re.compile(r"background(?:-image)?\s*:[^;]{0,200}?url\(\s*[\"']?([^\"')]{1,3000})", re.IGNORECASE)
BACKGROUND_NAMES: Final = ("data-bg", "data-background", "data-background-image", "data-bgimage", "data-bgset", "data-image")
LARGE_NAME: Final = re.compile(r"big|large|full|zoom|orig|hi-?res|high|max", re.IGNORECASE)
"""Attributes that hold the large copy of what ``src`` shows."""

SKIPPED: Final = frozenset("script style template iframe object svg head select".split())
DEAD: Final = re.compile(r"#|[a-z]+:(?!//)", re.IGNORECASE)
"""Links that lead to no page: fragments, scripts, mail."""

VIEWED: Final = re.compile(r"[?&=](https?://[^&\s\"'<>]{5,1000}\.(?:jpe?g|png|gif|webp|avif))(?:$|[&?])", re.IGNORECASE)
"""The picture that a viewer is asked to show: ``show.html?http://…/1.jpg``."""

NO_STORY: Final = re.compile(
    r"二维码|二維碼|扫一扫|扫码|头像|頭像|广告|廣告|(?<![a-z])logo(?![a-z])|(?<![a-z])qr code|advertisement|^ad$", re.IGNORECASE
)
"""What ``alt`` says of pictures that belong to no story."""

FACE: Final = re.compile(
    r"(?:^|/)(?:ico_|icon_|btn_|arrow_)?(?:face|portrait|head_?(?:pic|img|shot)?|user|author|reporter|wechat|weixin|weibo"
    r"|left|right|prev(?:ious)?|next|arrow|close|zoom|play|top|up|down|bg|background|line|dot|search|menu)[_-]?\w{0,2}\.\w+(?:$|\?)",
    re.IGNORECASE,
)
"""Files that are called after people and channels, and what a page's frame is made of."""

GIF: Final = re.compile(r"\.gif(?:$|[?!@])", re.IGNORECASE)
