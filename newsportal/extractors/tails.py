"""Lines that stand before and after an article's text without being a part of it."""

from __future__ import annotations

import re
from typing import Final

HEAD: Final = re.compile(
    r"^(?:(?:\d{4}[年/.-]\d{1,2}[月/.-]\d{1,2}日?.{0,40}(?:来源|來源|作者|编辑|字号|评论|$))|(?:来源|來源|作者|编辑|編輯|记者|字号|字體|字体|发布时间|發佈時間|時間|时间|日期|点击|浏览)"
    r"\s*[:：].{0,60}$|[〔【（(](?:本报|本報|本网|本網)?[记記]者[^。，〔〕【】（）()]{2,30}[〕】）)]$|.{0,12}(?:我要评论|我要評論|查看评论|参与评论|打印本页|收藏本文|转发|分享到).{0,20}$)"
)
TAIL_WORDS: Final = (
    "责任编辑 責任編輯 责编 責編 编辑 編輯 校对 审核 监制 值班 本文来源 文章来源 来源 來源 原标题 作者 记者 关键词 关键字 标签 標籤 更多 "
    "相关阅读 相关新闻 相关报道 相關新聞 相關報導 延伸阅读 延伸閱讀 推荐阅读 推薦閱讀 相关链接 相关专题 相关文章 热点推荐 上一篇 下一篇 "
    "分享到 分享 转发 收藏 打印 关闭 返回 评论 我要评论 网友评论 版权声明 版權聲明 免责声明 声明 特别声明 郑重声明 严正申明 微信 扫一扫 "
    "扫描二维码 关注 新浪微博 腾讯微博 更多精彩 点击进入 查看更多 阅读全文 阅读原文 展开全文 "
    "read_more related share_this follow_us advertisement more_from recommended sign_up subscribe copyright © most_read tags? "
)
TAIL: Final = re.compile(
    rf"^[\s\[【(（]*(?:{'|'.join(TAIL_WORDS.split()).replace('_', ' ')})\s*(?:[:：|\]】)）>》<]|[^\s。！？!?”」]{{0,12}}$|$)", re.IGNORECASE
)
MAX_TAIL_CHARS: Final = 60
"""Longer lines are paragraphs, however they begin."""

MAX_LINES: Final = 8  # so many lines at most are cut at either end


def trimmed(lines: list[str], title: str | None = None) -> tuple[int, int]:
    """The slice of ``lines`` that is the text itself."""
    start, end = 0, len(lines)
    while start < min(end - 1, MAX_LINES) and (HEAD.match(lines[start]) or lines[start] == title):
        start += 1
    for number in range(max(start + 1, len(lines) - MAX_LINES), len(lines)):
        if TAIL.match(lines[number]) and all(len(line) <= MAX_TAIL_CHARS for line in lines[number:]):
            end = number
            break
    return start, end
