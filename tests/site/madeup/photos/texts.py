# ruff: noqa: E501  (sentences are read best on one line)
"""The texts of the made-up photo stories: titles, first sentences and captions, combined from subjects, places and people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random

PLACES = (
    "临渚", "白塔镇", "青芦湾", "石门坎", "云泽", "东屏", "鹿鸣山", "沙井口", "柳浦", "乌石岭", "观音渡", "南汀", "赤霞", "北麓", "双溪口", "望江台",
    "长堤", "梅岭头", "雁洲", "金沙滩", "松风坪", "黄泥塘", "落星桥", "竹筏渡", "蓝田坝", "铁佛寺", "月亮湖", "风陵", "杏花坞", "碧螺岛",
)  # fmt: skip
REPORTERS = ("陆一苇", "韩小川", "秦暮", "苏白芷", "顾南", "叶青禾", "沈渡", "江晚")
DETAILS = (
    "这一刻，周围忽然安静下来。", "汗水顺着脸颊往下淌。", "远处传来一阵笑声。", "天色还没有完全亮。", "旁边的人都停下手里的活看着。", "这样的动作每天要重复上百次。",
    "身后的影子被拉得很长。", "有人悄悄举起了手机。", "风把衣角吹了起来。", "他们已经等了整整一个上午。", "雨点开始落下来。", "没有人注意到镜头。",
    "空气里有一股潮湿的味道。", "这是当天最后一个镜头。", "阳光正好从云缝里漏下来。", "手上的老茧清晰可见。",
)  # fmt: skip
LINKS = ("据了解", "当地人说", "组织者介绍", "现场的工作人员告诉记者")
CLOSINGS = ("这项活动已经办到第{n}年。", "前后一共来了{n}人。", "准备工作花了{n}天。", "最远的一位赶了{n}公里的路。")
SERIES_LEADS = {
    "每日图集": "编辑部从记者发回的照片里挑出几张，与您一起看看身边的人和事。",
    "一周影像精选": "过去七天，我们的镜头走过山川与街巷。",
    "镜头里的本周": "用光和影记下又一个星期的中国。",
    "今日高清": "大图速览：点开就能看到的今天。",
}
SERIES = tuple(SERIES_LEADS)


@dataclass(frozen=True, slots=True)
class Subject:
    category: str
    event: str
    things: tuple[str, ...]
    people: tuple[str, ...]
    acts: tuple[str, ...]
    headlines: tuple[str, ...]


def subjects() -> tuple[Subject, ...]:
    lines = (Path(__file__).parent / "subjects.txt").read_text(encoding="utf-8").splitlines()
    return tuple(_subject(line) for line in lines if line and not line.startswith("#"))


def _subject(line: str) -> Subject:
    category, event, things, people, acts, headlines = line.split("|")
    return Subject(category, event, *(tuple(part.split(",")) for part in (things, people, acts, headlines)))


@dataclass(frozen=True, slots=True)
class Matter:
    """The subject of a story, independent of its wording. ``day``: the day of an event; ``series`` and ``issue`` of a column."""

    id: str
    subject: Subject
    place: str
    number: int
    day: int = 0
    series: str | None = None


def title(matter: Matter, way: int) -> str:
    """Return a title: ``way`` 0 is the first newsroom's; 1 to 3 are those of other newsrooms, increasingly different."""
    if matter.series:
        return matter.series
    event, heads = matter.subject.event, matter.subject.headlines
    day = f"第{'零一二三四五'[matter.day]}日" if matter.day else ""
    head = heads[matter.number % 3]
    return (
        f"{matter.place}{event}{day}：{head}",
        f"{matter.place}{event}{day} {head}",
        f"{heads[(matter.number + 1) % 3]}——{matter.place}{event}{day}见闻",
        f"{heads[(matter.number + 2) % 3]}",
    )[way]


def lead(matter: Matter, way: int, moment: datetime) -> str:
    """Return the first sentence and one or two more."""
    if matter.series:
        return SERIES_LEADS[matter.series]
    subject, chance = matter.subject, Random(f"{matter.id}/{way}/lead")
    date, who, act = f"{moment.month}月{moment.day}日", subject.people[(matter.number + way) % 3], subject.acts[(matter.number + way) % 4]
    closing = chance.choice(CLOSINGS).format(n=matter.number % 90 + 7)
    other, thing, last = (
        subject.acts[(matter.number + way + 2) % 4],
        subject.things[matter.number % 4],
        subject.things[(matter.number + 2) % 4],
    )
    return (
        f"{date}，在{matter.place}的{subject.event}上，{who}{act}。{chance.choice(LINKS)}，{closing}",
        f"{date}，{matter.place}{subject.event}，{who}{act}。{closing}",
        f"{matter.place}{subject.event}离不开{thing}和{last}，{who}{other}。{closing}",
        f"{act}，{other}，{who}与{thing}在一起。{closing}",
    )[way]


def caption(matter: Matter, way: int, index: int) -> str:
    """Return the caption of picture ``index``, unique within the story."""
    subject, chance = matter.subject, Random(f"{matter.id}/{way}/{index}")
    who, act = subject.people[(index + way) % 3], subject.acts[(index // 3 + index + matter.number) % 4]
    thing, detail = subject.things[(index + way + matter.number) % 4], DETAILS[(index + matter.number * 5 + way * 7) % len(DETAILS)]
    ways = (
        f"{matter.place}，{who}{act}。{detail}",
        f"图为{subject.event}现场，{who}{act}，{thing}就在一旁。{detail}",
        f"{detail}镜头里的{thing}，属于{matter.place}的{who}。",
        f"{who}{act}，{thing}旁边围满了人。（摄影：{chance.choice(REPORTERS)}）",
    )
    return ways[(way + index % 2) % 4]
