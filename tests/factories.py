"""Empty databases, synthetic articles and commands for tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from argon2 import PasswordHasher
from typer.testing import CliRunner, Result

from newsportal.errors import NewsportalError
from newsportal.items import Article, FoldKey, Link
from newsportal.search import open_index
from newsportal.search.base import Index
from newsportal.services.accounts import Accounts, open_accounts
from newsportal.store import open_store
from newsportal.store.store import Store

CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""argon2id at its lowest cost. ``tests/services/accounts`` tests the cost used in production."""
NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
SAME_TITLE = FoldKey("title:河湾镇桥通车", "same-title", score=0.9, same_site=False)
SAME_TEXT = FoldKey("text:abc", "same-text", score=1.0, window=30 * 86400.0)
LONG = (
    "青河市图书馆新馆昨天上午向读者开放。新馆建在老城北门外的旧粮仓里，一共三层，藏书四十万册，晚上开到九点。"
    "馆长林秀文告诉记者，旧粮仓的木梁和砖墙都保留了下来，阅览室的桌子也是用拆下的旧木板做成的，坐三百位读者没有问题。"
    "住在附近的退休教师吴桂芳一早就来排队。她说，以前借书要坐一个小时的车去城南，现在走路五分钟就到了，以后天天都要来。"
    "从下个月起，新馆每逢周六下午还会请本地的作家和学者来讲课，市民凭身份证就可以免费听讲，座位先到先得。"
)
OTHER = (
    "沿海三县今年的海带丰收了。渔民们天不亮就出海，把一串串海带从绳子上割下来，运到码头边的晒场。合作社说，今年海水温度合适，"
    "海带比去年厚，价钱也好，外地客商早早就来订了货。县里还请来技术员，教大家把边角料做成饲料，一点也不浪费。老渔民陈阿海说，"
    "他家三代人都种海带，从来没有见过这么好的年景，等收完这一茬，就给船换一台新机器，再把晒场的棚子修一修。"
)
WEATHER = (
    "青河市气象台3月{0}日发布天气预报：今天白天多云，东风3级，最高气温{1}℃，相对湿度{2}%，空气质量指数{3}。"
    "气象专家提醒，近期气温变化较大，市民朋友要注意及时增减衣物，谨防感冒，早晚出行能见度较低，驾车请注意交通安全。"
)


def uri_of(file: Path | None) -> str:
    return "sqlite://" if file is None else f"sqlite:///{file}"


@cache
def _empty(opened: Callable[[str], Any]) -> bytes:
    """Return the file of an empty database, created once: copying takes a fifth of the time and needs no disk sync."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "empty.db")
        opened(uri_of(file)).close()
        return file.read_bytes()


def _copy(opened: Callable[[str], Any], file: Path, mode: int = 0o666) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode, exist_ok=False)
    file.write_bytes(_empty(opened))


def empty_store(file: Path | None = None) -> Store:
    """Return an empty store in ``file``, which must not exist yet, or in memory."""
    if file is not None:
        _copy(open_store, file)
    return open_store(uri_of(file))


def empty_index(file: Path | None = None) -> Index:
    """Return an empty search index."""
    assert file is None or not file.exists()
    return open_index(uri_of(file))


def empty_accounts(file: Path) -> Accounts:
    """Return empty accounts with cheap password hashes."""
    _copy(open_accounts, file, 0o600)  # same mode as open_accounts
    return open_accounts(uri_of(file), hasher=CHEAP)


def article(name: str = "a", *, host: str = "news.example", source: str = "feed:快讯", topic: str | None = None, **changes: Any) -> Article:
    """Return an article called ``name`` as the pipelines hand it to the store."""
    url = f"https://{host}/{name}.html"
    plain = Article(
        url=url,
        link=Link(url=url, source=source, topic=topic, summary=f"{name} 的摘要"),
        fetched=NOW,
        identity=f"{host}/{name}",
        title=f"标题 {name}",
        text=f"第一段 {name}\n第二段",
        published=NOW - HOUR,
    )
    return replace(plain, **changes)


def invented(number: int, length: int = 240) -> str:
    """Return a text unique to the number: random characters."""
    return "".join(chr(0x4E00 + (number * 977 + place * (331 + number % 89)) % 20_000) for place in range(length))


def run_command(*words: object, stdin: str | bytes | None = None, catch: bool = True) -> Result:
    """Run ``newsportal words...`` in this process. Exceptions are raised; with ``catch`` a :class:`NewsportalError` is in the result."""
    from newsportal.cli import app

    result = CliRunner().invoke(app, [str(word) for word in words], input=stdin)
    if result.exception is not None and not isinstance(result.exception, (SystemExit, NewsportalError) if catch else SystemExit):
        raise result.exception
    return result


def json_lines(output: str) -> list[dict[str, Any]]:
    """Return the lines of ``output`` that are JSON objects."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]
