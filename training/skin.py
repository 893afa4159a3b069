"""The HTML style of a site: tags, letter case, class names, nesting. One random skin per page."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from random import Random
from typing import Literal

Era = Literal["tables", "divs", "semantic"]
ERAS: dict[Era, int] = {"tables": 25, "divs": 45, "semantic": 30}
Naming = Literal["words", "blog", "modules", "none", "misleading"]
NAMING: dict[Naming, int] = {"words": 45, "blog": 12, "modules": 13, "none": 15, "misleading": 15}
"""Percentages of sites per era and per naming of boxes."""

WORDS = {
    "body": "article-content content con txt zw artibody main_text text article_con textbody newsContent cont detail-text art_p zoom",
    "article": "article main left_content detail main-left article-wrap news_box box1 wrapper_l col-8 story",
    "title": "title h1 main_title article-title tit hd_title news-title biaoti",
    "meta": "info article-info meta date-source laiyuan time-source bar byline sub",
    "summary": "summary daoyu zhaiyao abstract lead intro standfirst",
    "caption": "caption pic_txt tu img-info credit zhushi",
    "nav": "nav menu channel topnav navbar daohang",
    "crumbs": "crumbs path weizhi breadcrumb position",
    "related": "related xgxw rel-news relate more-news about recommend",
    "cards": "list feed cards news-list item-list tuijian",
    "hot": "hot rank paihang top10 right_hot",
    "share": "share bdshare sns toolbar social",
    "comments": "comments pinglun reply cmt discuss message",
    "law": "statement copyright shengming disclaimer note",
    "tail": "editor zrbj edit source-tail end",
    "tags": "tags keywords tag-list",
    "bio": "author-box about-author profile",
    "letter": "newsletter subscribe signup",
    "ad": "ad adv gg banner ad250 sponsor",
    "foot": "footer bottom foot copyright_bar",
    "side": "right sidebar side col-4 aside r_con",
    "page": "wrap container page main_wrap w1000 layout",
    "pager": "page pagination fenye pages pager",
    "poll": "vote survey toupiao",
    "weather": "weather tianqi widget",
    "login": "login user passport topbar",
    "video": "player video-js vjs-control video",
    "para": "p text-block para",
}
BLOG = {
    "body": "entry-content",
    "article": "post hentry",
    "title": "entry-title",
    "meta": "entry-meta posted-on",
    "caption": "wp-caption-text",
    "related": "jp-relatedposts",
    "comments": "comment-list",
    "side": "widget-area",
    "foot": "site-footer",
    "nav": "main-navigation",
    "bio": "author-bio",
    "tags": "tag-links",
    "share": "sharedaddy",
    "page": "site-content",
    "crumbs": "breadcrumbs",
    "pager": "post-navigation",
}
MISLEADING = {
    "body": "sidebar comment-list related-box footer_txt ad-content nav-main share-box widget hidden-xs list",
    "article": "comment right banner sidebar-main widget",
    "related": "article-body content entry-content artibody text",
    "cards": "content article-list post-body main_text",
    "comments": "content article-comment-content text post",
    "law": "article-p content txt",
    "side": "content main article-side",
    "share": "article-content-share text",
    "foot": "content article-footer",
    "bio": "content article-author text",
}
SEMANTIC = {
    "article": "article",
    "nav": "nav",
    "crumbs": "nav",
    "side": "aside",
    "foot": "footer",
    "caption": "figcaption",
    "related": "section",
    "comments": "section",
    "body": "section",
    "bio": "aside",
    "page": "main",
}
VOID = frozenset(("br", "img", "hr", "input"))
OPTIONAL = frozenset(("p", "li", "td", "tr", "option"))
"""Tags that browsers close by themselves; careless sites omit their end tags."""
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


@dataclass(frozen=True)
class Skin:
    """The HTML style of a site. ``names`` records the name of each role of a box on this page."""

    rng: Random
    era: Era
    naming: Naming
    upper: bool
    unclosed: bool
    feed: str
    names: dict[str, str] = field(default_factory=dict)

    def el(self, tag: str, inner: str = "", attributes: str = "") -> str:
        """Return one element; ``attributes`` as written, with the space before them."""
        name = tag.upper() if self.upper else tag
        if tag in VOID:
            return f"<{name}{attributes}>"
        if self.unclosed and tag in OPTIONAL:
            return f"<{name}{attributes}>{inner}{self.feed}"
        return f"<{name}{attributes}>{inner}</{name}>{self.feed}"

    def named(self, role: str) -> str:
        """Return the class or id of a role, the same throughout the page; often none."""
        name = self.names.get(role)
        if name is None:
            name = self.names[role] = self._name(role)
        return name

    def _name(self, role: str) -> str:
        rng = self.rng
        if self.naming == "none" or rng.random() < 0.1:
            return ""
        words = WORDS.get(role, "box").split()
        if self.naming == "modules":
            code = "".join(rng.choices(LETTERS, k=5))
            return f' class="{rng.choice((f"css-{code}", f"{words[0]}_{code}", f"sc-{code} {code[::-1]}", f"_{code}"))}"'
        if self.naming == "misleading" and role in MISLEADING:
            words = MISLEADING[role].split()
        word = BLOG[role] if self.naming == "blog" and role in BLOG else rng.choice(words)
        kind = rng.random()
        if kind < 0.2:
            return f' id="{word}"'
        return f' class="{word} clearfix"' if kind > 0.9 else f' class="{word}"'

    def box(self, role: str, inner: str) -> str:
        """Return a block for a role in the style of the era: a table, a ``div``, a semantic element; sometimes wrapped again."""
        rng = self.rng
        if self.era == "tables" and rng.random() < 0.7:
            cell = self.el("tr", self.el("td", inner, self.named(role) + rng.choice(("", ' align="left"', ' valign="top"'))))
            built = self.el("table", cell, rng.choice((' width="100%"', ' border="0" cellpadding="0"', " width=760 align=center")))
        elif self.era == "semantic":
            built = self.el(SEMANTIC.get(role, "div"), inner, self.named(role))
        else:
            built = self.el("div", inner, self.named(role))
        while rng.random() < 0.12:
            built = self.el("div", built, rng.choice(("", ' class="inner"', ' class="bd"', self.named("page"))))
        return built

    def link(self, text: str, more: str = "") -> str:
        number = self.rng.randint(1000, 9_999_999)
        shape = self.rng.choice(("/{n}.html", "/a/2012/{n}.shtml", "show.asp?id={n}", "/news/{n}/"))
        return f'<a href="{shape.format(n=number)}"{more}>{escape(text, quote=False)}</a>'

    def items(self, entries: list[str]) -> str:
        """Return a list of short items: ``li``, ``br``, separated by bars, cells or blocks."""
        kind = self.rng.random()
        if kind < 0.45:
            return self.el("ul", "".join(self.el("li", entry) for entry in entries))
        if kind < 0.6:
            return self.el("br").join(entries)
        if kind < 0.75:
            return self.rng.choice((" | ", "&nbsp;", " · ", "\n")).join(entries)
        if kind < 0.85 and self.era == "tables":
            return self.el("table", "".join(self.el("tr", self.el("td", entry)) for entry in entries))
        return "".join(self.el("div", entry) for entry in entries)


def a_skin(rng: Random) -> Skin:
    era = rng.choices(list(ERAS), list(ERAS.values()))[0]
    return Skin(
        rng=rng,
        era=era,
        naming=rng.choices(list(NAMING), list(NAMING.values()))[0],
        upper=rng.random() < (0.25 if era == "tables" else 0.03),
        unclosed=rng.random() < (0.25 if era == "tables" else 0.06),
        feed=rng.choice(("\n", "\n", "", "\r\n")),
    )
