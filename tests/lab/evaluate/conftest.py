"""Folders of synthetic gold pages: correct ones, short ones, one without an article and one whose gold is much shorter than the page."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PARAGRAPHS = (
    "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民。",
    "市交通局的负责人说，新线全长三十一公里，设车站十八座，最高时速八十公里。",
    "家住北岸的陈先生说：“以前上班要换两次公交，现在二十五分钟就到了。”",
    "记者在现场看到，各站都安排了志愿者，为老人和孩子引路。",
)


def page(title: str, paragraphs: tuple[str, ...], extra: str = "") -> str:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return (
        f"<html><head><title>{title}_滨海网</title></head><body>"
        f"<div class='nav'><a href='/'>首页</a><a href='/n'>新闻</a></div>"
        f"<h1>{title}</h1><div class='info'>2024-03-05 08:30　来源：滨海日报　作者：王小明</div>"
        f"<div id='text'>{body}</div>{extra}</body></html>"
    )


def write(folder: Path, name: str, html: str, gold: dict[str, Any] | None) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.html.gz").write_bytes(gzip.compress(html.encode("gb18030")))
    if gold is not None:
        (folder / f"{name}.json").write_text(json.dumps(gold, ensure_ascii=False), encoding="utf-8")


def gold(title: str, paragraphs: tuple[str, ...], **more: Any) -> dict[str, Any]:
    return {"title": title, "text": "\n".join(paragraphs), "date": "2024-03-05", "author": "王小明; 李四", "source": "滨海日报", **more}


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two folders of pages of two sites."""
    first, second = tmp_path / "第一 组", tmp_path / "second"
    site_a, site_b = {"url": "https://a.example/1"}, {"url": "https://b.example/2"}
    write(first, "good", page("滨海新线今晨通车", PARAGRAPHS), gold("滨海新线今晨通车", PARAGRAPHS, **site_a))
    write(first, "half", page("新线客流超过预期", PARAGRAPHS[:2]), gold("新线客流超过预期", PARAGRAPHS, **site_b))
    write(
        first, "wrong", page("另一个标题", PARAGRAPHS[1:]), gold("新线的标题", PARAGRAPHS[1:], date="2024-03-09", author="赵六", **site_a)
    )
    write(second, "much", page("滨海晚报", PARAGRAPHS), gold("滨海晚报", PARAGRAPHS[:1], **site_b))
    write(second, "none", "<title>404 not found</title><p>404 not found</p>", gold("不在了", PARAGRAPHS[:1]))
    write(second, "without gold", page("没有答案", PARAGRAPHS), {"url": "https://c.example/"})
    write(second, "without json", page("没有答案", PARAGRAPHS), None)
    return [first, second]


@pytest.fixture
def save() -> Callable[..., dict[str, Any]]:
    """Return a function that saves a page with its gold in a folder and returns the gold; ``more`` overrides fields of the gold."""

    def save_page(folder: Path, name: str, **more: Any) -> dict[str, Any]:
        fields = gold("滨海新线今晨通车", PARAGRAPHS) | more
        write(folder, name, page("滨海新线今晨通车", PARAGRAPHS), fields)
        return fields

    return save_page
