"""The posts of the made-up forums, their authors, and when they are visible. Equal ``now`` and ``seed`` give equal forums.

A forum is seen at three *visits* (0, 1, 2). A post appears at one visit and may be deleted at another.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from madeup.forums.texts import EN_NAMES, EN_SENTENCES, EN_SUBJECTS, ZH_NAMES, ZH_SENTENCES, ZH_SUBJECTS

PAGE = 10  # threads per board page, posts per thread page
VISITS = 3
LENGTHS = (1, 2, 11, 4, 9, 1, 23, 3, 10, 14, 5, 31, 2, 7)
"""Posts of a board's threads at the first visit."""

AGES = ((60.0, 10.0), (9.0, 5.5), (5.0, 0.3))
"""Hours before ``now`` between which the posts of a visit were written."""

OLD_DAYS = 90  # age of a thread without recent replies


@dataclass(frozen=True, slots=True)
class Post:
    """``number`` is the post's id in the forum; ``floor`` its position when written. ``day``: the visit at which it appears; ``gone``: at
    which it is deleted; ``edited``: from which it ends with another line."""

    number: int
    floor: int
    author: str
    written: datetime
    day: int
    lines: tuple[str, ...]
    quote: tuple[str, str] | None = None
    gone: int | None = None
    edited: int | None = None

    def said(self, day: int) -> tuple[str, ...]:
        added = (
            (f"（后来补充：第 {self.number} 次确认过了。）",)
            if self.lines[0] > "\u2e80"
            else (f"Edit: checked again, case {self.number}.",)
        )
        return self.lines + added if self.edited is not None and self.edited <= day else self.lines

    def seen(self, day: int) -> bool:
        return self.day <= day and (self.gone is None or day < self.gone)


@dataclass(frozen=True, slots=True)
class Thread:
    number: int
    title: str
    posts: tuple[Post, ...]
    sticky: bool = False
    poll: tuple[str, ...] = ()
    attachment: str | None = None
    picture: str | None = None
    old: bool = False

    def shown(self, day: int) -> list[Post]:
        return [post for post in self.posts if post.seen(day)]

    def last(self, day: int) -> datetime:
        return max(post.written for post in self.shown(day))

    def pages(self, day: int) -> int:
        return max(1, -(-len(self.shown(day)) // PAGE))

    def page(self, day: int, number: int) -> list[Post]:
        """Return the posts of a page; as on real forums, a page beyond the last is the last."""
        first = (min(max(number, 1), self.pages(day)) - 1) * PAGE
        return self.shown(day)[first : first + PAGE]


@dataclass(frozen=True, slots=True)
class Board:
    """``walled``: for members only. ``above``: the only board that lists it."""

    number: int
    name: str
    threads: tuple[Thread, ...] = ()
    walled: bool = False
    above: int | None = None

    def listed(self, day: int) -> list[Thread]:
        """Return sticky threads, then the others by their last post."""
        shown = [thread for thread in self.threads if thread.shown(day)]
        return sorted(shown, key=lambda thread: (not thread.sticky, -thread.last(day).timestamp()))

    def page(self, day: int, number: int) -> list[Thread]:
        """Return ten threads, with the sticky threads above them on every page."""
        threads = self.listed(day)
        sticky = [thread for thread in threads if thread.sticky]
        others = [thread for thread in threads if not thread.sticky]
        return sticky + others[(number - 1) * PAGE : number * PAGE]

    def pages(self, day: int) -> int:
        return max(1, -(-sum(not thread.sticky for thread in self.listed(day)) // PAGE))


@dataclass(frozen=True, slots=True)
class Forum:
    key: str
    name: str
    language: str
    now: datetime
    boards: tuple[Board, ...]

    def board(self, number: int) -> Board | None:
        return next((board for board in self.boards if board.number == number), None)

    def thread(self, number: int) -> tuple[Board, Thread] | None:
        return next(((board, thread) for board in self.boards for thread in board.threads if thread.number == number), None)

    def thread_of(self, post: int) -> tuple[Board, Thread] | None:
        return next(
            ((board, thread) for board in self.boards for thread in board.threads if any(p.number == post for p in thread.posts)),
            None,
        )


NAMES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "discuz": ("青梧社区", "zh", ("茶余饭后", "出行路上", "修修补补", "阳台种菜", "会员内部区")),
    "phpwind": ("渡口论坛", "zh", ("城里的事", "车友之家", "手工作坊", "跳蚤市场", "版主办公室")),
    "phpbb": ("The Lantern Boards", "en", ("General chatter", "Workshop", "Out of doors", "Swaps", "Staff room")),
    "discourse": ("Millpond Talk", "en", ("Kitchen", "Repairs", "Trails", "Garden", "Team")),
    "homemade": ("半坡村口", "zh", ("村头闲话", "赶集指南", "田间地头", "老物件", "内部通知")),
}
"""Key to name, language and boards: the fourth is listed only by the third, the fifth is for members."""


def forums(now: datetime, seed: int = 1) -> dict[str, Forum]:
    """Return all forums as they grow until ``now`` (aware)."""
    by_key = {}
    for index, (key, (name, language, boards)) in enumerate(NAMES.items()):
        maker = _Maker(now, language, Random(f"{seed}-{key}"), (index + 1) * 10_000)
        by_key[key] = Forum(key, name, language, now, tuple(maker.board(number, title) for number, title in enumerate(boards, start=2)))
    return by_key


class _Maker:
    def __init__(self, now: datetime, language: str, random: Random, first: int) -> None:
        self.now, self.random, self.zh = now, random, language == "zh"
        self.thread, self.post = first // 10, first
        self.subjects, self.sentences = (ZH_SUBJECTS, ZH_SENTENCES) if self.zh else (EN_SUBJECTS, EN_SENTENCES)
        self.names = ZH_NAMES if self.zh else EN_NAMES

    def board(self, number: int, name: str) -> Board:
        threads = [self._thread(index, length) for index, length in enumerate(LENGTHS)]
        threads += [self._young(1), self._young(2), self._old()]
        return Board(number, name, tuple(threads), walled=number == 6, above=4 if number == 5 else None)

    def _thread(self, index: int, length: int) -> Thread:
        span = self.random.uniform(*sorted(AGES[0])), AGES[0][1]
        moments = [(0, moment) for moment in self._moments(length, *span)]
        for day in (1, 2):  # a third of the threads grow, different ones at each visit; the long ones by more than a page
            if (index + day) % 3 == 0:
                moments += [(day, moment) for moment in self._moments(self.random.choice((1, 2, 3, 12)), *AGES[day])]
        deleted = {3: 0, 4: 1, 6: 2} if length >= 9 else {}
        edited = {2: 1, length: 1} if (index + 1) % 3 == 0 and length > 4 else {}
        posts = self._posts(moments, deleted, edited)
        return Thread(
            self._next_thread(), self._title(), posts, sticky=index in (1, 4),
            poll=(self._words("赞成", "For"), self._words("反对", "Against")) if index == 3 else (),
            attachment=f"plan-{self.thread}.zip" if index == 5 else None, picture=f"/pic/{self.thread}.jpg" if index in (2, 7) else None,
        )  # fmt: skip

    def _young(self, day: int) -> Thread:
        posts = self._posts([(day, moment) for moment in self._moments(2 + day, *AGES[day])], {}, {})
        return Thread(self._next_thread(), self._title(), posts)

    def _old(self) -> Thread:
        start = 24.0 * OLD_DAYS
        return Thread(
            self._next_thread(), self._title(), self._posts([(0, m) for m in self._moments(3, start + 20, start)], {}, {}), old=True
        )

    def _moments(self, count: int, oldest: float, newest: float) -> list[datetime]:
        hours = sorted((self.random.uniform(newest, oldest) for _ in range(count)), reverse=True)
        return [(self.now - timedelta(hours=hour)).replace(second=0, microsecond=0) for hour in hours]

    def _posts(self, moments: list[tuple[int, datetime]], deleted: dict[int, int], edited: dict[int, int]) -> tuple[Post, ...]:
        posts: list[Post] = []
        for floor, (day, written) in enumerate(sorted(moments, key=lambda moment: moment[1]), start=1):
            self.post += 1
            quoted = posts[-1] if posts and floor % 4 == 0 else None
            author = self.random.choice(self.names)
            posts.append(
                Post(
                    self.post, floor, author, written, day, self._lines(), (quoted.author, quoted.lines[0]) if quoted else None,
                    deleted.get(floor), edited.get(floor),
                )
            )  # fmt: skip
        return tuple(posts)

    def _lines(self) -> tuple[str, ...]:
        sentences = [text.format(n=self.random.randint(3, 97)) for text in self.random.sample(self.sentences, self.random.randint(2, 5))]
        sentences[0] = self._words(f"第 {self.post} 条记录：", f"Note {self.post}: ") + sentences[0]
        cut = self.random.randint(1, len(sentences))
        joint = self._words("", " ")
        return tuple(joint.join(part) for part in (sentences[:cut], sentences[cut:]) if part)

    def _title(self) -> str:
        return self.random.choice(self.subjects).format(n=self.thread)

    def _next_thread(self) -> int:
        self.thread += 1
        return self.thread

    def _words(self, zh: str, en: str) -> str:
        return zh if self.zh else en


def gold(forum: Forum) -> list[dict[str, Any]]:
    """Return every thread of the public boards, with every post that is visible at some visit."""
    return [
        {
            "forum": forum.key, "board": board.name, "number": thread.number, "title": thread.title,
            "old": thread.old, "sticky": thread.sticky,
            "posts": [
                {"number": post.number, "floor": post.floor, "author": post.author, "written": post.written.isoformat(), "day": post.day,
                 "gone": post.gone, "edited": post.edited, "lines": list(post.lines)}
                for post in thread.posts if post.gone != 0
            ],
        }
        for board in forum.boards if not board.walled for thread in board.threads
    ]  # fmt: skip
