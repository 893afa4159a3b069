"""The body located by the summary: figure 4 of the paper on made-up sources, and the cache of layouts."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq
from work_counts import ends

from newsportal.cli.pages import saved_pages
from newsportal.errors import NotApplicable
from newsportal.extractors import extractor
from newsportal.extractors.papers.summary_anchor import (
    MAX_LAYOUTS,
    SummaryAnchor,
    anchor_of,
    enclosing_blocks,
    find_block,
    layout_of,
    read_source,
)
from newsportal.items import Link, Page
from newsportal.text import dom

NOW = datetime(2024, 3, 6, 12, tzinfo=UTC)
LEAD = "本报滨海三月五日讯（记者 林港）今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民，站台上挂着红色的横幅。"
MORE = "列车以每小时八十公里的速度驶过跨海大桥。"


def link(summary: str | None, title: str | None = None) -> Link:
    return Link("https://a.example/1", "engine:test", title=title, summary=summary)


def read(
    html: str, summary: str | None = LEAD, run: SummaryAnchor | None = None, url: str = "https://a.example/1", now: datetime = NOW
) -> str:
    return (run or SummaryAnchor())(dom.from_text(html, url), link(summary), now).text or ""


def block(html: str, summary: str = LEAD) -> str:
    source, anchor = read_source(html), anchor_of(summary)
    found = find_block(source, anchor or "")
    assert found is not None
    return html[found.tag.start : found.end]


def test_nearest_open_block_is_the_body() -> None:
    inner = f"<div id=body><div class=pic>图</div><p>{LEAD}</p><p>{MORE}</p><div>责编</div></div>"
    assert block(f"<div id=page><div id=nav>首页</div>{inner}<div>相关</div></div>") == inner


def test_longest_candidate_block_is_chosen() -> None:
    table = f"<table><tr><td><div id=a><span>{LEAD}</span></div>{MORE}</td></tr></table>"
    assert block(f"<div>{'头条' * 9}</div>{table}") == table


def test_last_occurrence_of_summary_is_used() -> None:
    assert block(f"<div id=lead>{LEAD}</div><div id=body>{LEAD}{MORE}</div>").startswith("<div id=body>")


def test_scripts_and_comments_are_ignored() -> None:
    html = f"<div id=body>{LEAD}{MORE}</div><script>var t='<div>{LEAD}'</script><!-- <div>{LEAD} --><style><div>{LEAD}</style>"
    assert block(html) == f"<div id=body>{LEAD}{MORE}</div>"


def test_unclosed_block_extends_to_the_end() -> None:
    assert block(f"<div id=body>{LEAD}<p>{MORE}") == f"<div id=body>{LEAD}<p>{MORE}"


@pytest.mark.parametrize(
    "written",
    [
        LEAD.replace("（记者 林港）", " (记者林港) "),
        LEAD.replace("（记者 林港）", "【记者 林港】"),
        LEAD.replace("滨海", "滨&nbsp;海").replace("，", "&#65292;"),
        f"　　{LEAD[:6]}\n{LEAD[6:12]}<b>{LEAD[12:20]}</b>{LEAD[20:]}",
    ],
)
def test_match_ignores_brackets_spaces_entities_and_tags(written: str) -> None:
    assert MORE in read(f"<div><p>{written}</p><p>{MORE}</p></div>")


def test_anchor_of_summary() -> None:
    assert anchor_of(f"<b>{LEAD}</b> ...") == anchor_of(LEAD)
    assert len(anchor_of(LEAD) or "") == 45
    assert anchor_of(LEAD[:20]) is anchor_of(None) is anchor_of("") is None
    assert anchor_of("A&amp;B " * 12) == ("A&B" * 12)[:45]


@pytest.mark.parametrize(
    ("html", "summary", "reason"),
    [
        (f"<div>{LEAD}</div>", None, "no-summary"),
        (f"<div>{LEAD}</div>", "太短的摘要", "no-summary"),
        (f"<div>{MORE}</div>", LEAD, "summary-not-found"),
        (f"<p>{LEAD}</p>", LEAD, "no-body"),
        ("", LEAD, "summary-not-found"),
    ],
)
def test_refusal_reasons(html: str, summary: str | None, reason: str) -> None:
    with pytest.raises(NotApplicable) as error:
        read(html, summary)
    assert error.value.reason == reason


def test_title_of_link_is_used() -> None:
    found = SummaryAnchor()(dom.from_text(f"<title>标题_某网</title><div>{LEAD}</div>"), link(LEAD, "滨海新线通车"), NOW)
    assert (found.title, found.algorithm) == ("滨海新线通车", "summary_anchor")
    assert LEAD in (found.html or "")


def page(number: int, text: str) -> str:
    return f'<div class="nav">首页</div><div id="p{number}" class=" text big">{text}</div><div class="nav">下一页</div>'


def test_layout_is_cached_for_later_pages() -> None:
    run = extractor("summary_anchor")
    assert isinstance(run, SummaryAnchor)
    read(page(1, LEAD), run=run)
    assert read(page(2, MORE), None, run) == MORE
    assert read(page(2, MORE), LEAD, run) == MORE  # the summary is not on the page
    with pytest.raises(NotApplicable, match="no-summary"):
        read(page(2, MORE), None, run, url="https://b.example/1")
    with pytest.raises(NotApplicable, match="no-summary"):
        read(page(2, MORE), None, run, now=NOW + timedelta(hours=25))
    with pytest.raises(NotApplicable, match="no-summary"):
        read(page(2, MORE) + page(3, MORE), None, run)  # twice on the page: ambiguous


def test_summary_is_preferred_to_cache() -> None:
    run = SummaryAnchor()
    run.learn(dom.from_text(page(1, LEAD), "https://a.example/1"), link(LEAD), NOW)
    assert read(f'{page(2, "广告")}<div id="other">{LEAD}{MORE}</div>', LEAD, run) == LEAD + MORE


def test_learning_tolerates_bad_pages_and_is_bounded() -> None:
    run = SummaryAnchor(sites=2)
    for number in range(9):
        for html in (f"<div class=c{'x' * number}>{LEAD}</div>", "", f"<p>{LEAD}"):
            run.learn(dom.from_text(html, f"https://s{number % 3}.example/"), link(LEAD), NOW)
    run.learn(dom.from_text(f"<div class=c>{LEAD}</div>", "http://[broken/"), link(LEAD), NOW)
    assert len(run._layouts) == 2
    assert all(len(layouts) <= MAX_LAYOUTS for layouts in run._layouts.values())


def test_layout_is_tag_class_and_id_without_digits() -> None:
    first, second, bare = (
        read_source(html).tags[0] for html in ('<div id="p12" class="a  b">', "<DIV class='a b' style=x id=p7>", "<div style=x>")
    )
    assert layout_of(first) == layout_of(second) == "div class=a b id=p#"
    assert layout_of(bare) is None


@given(st.lists(st.sampled_from(["<div>", "</div>", "<span>", "</span>", "甲", "<table>", "</table>", "<p>", "</p>", "<br>"]), max_size=30))
def test_enclosing_matches_a_stack(parts: list[str]) -> None:
    """A stack of the open tags gives the same nearest one, wherever the anchor is."""
    html = "".join(parts) + "标"
    stack: list[int] = []
    place = 0
    for part in parts:
        if part == "<div>":
            stack.append(place)
        elif part == "</div>" and stack:
            stack.pop()
        place += len(part)
    found = enclosing_blocks(read_source(html), "div", place)
    assert (found.tag.start if found else None) == (stack[-1] if stack else None)


@pytest.mark.parametrize(
    "html", ["<" * 200_000, "<div " * 100_000, "<!--" * 100_000, "<script>" * 50_000, "<div>" * 100_000, "<a" + "b" * 500_000]
)
def test_hostile_sources_take_linear_time(html: str) -> None:
    with ends(), pytest.raises(NotApplicable, match="summary-not-found"):
        read(html)


FLOORS = [("zh-news", 0.965), ("daniel-zh", 0.82), ("scrapinghub", 0.865)]


@pytest.mark.data
@pytest.mark.parametrize(("folder", "floor"), FLOORS)
def test_scores_reach_their_floors(data: Path, folder: str, floor: float) -> None:
    """The first 60 characters of the gold text replace the summary of a result page."""
    run = extractor("summary_anchor")
    common = extracted = gold_chars = 0
    for saved in saved_pages(data / "extraction" / folder):
        assert saved.path is not None
        gold = json.loads(saved.path.with_name(f"{saved.id}.json").read_text("utf-8"))["text"]
        document = dom.document(Page(saved.url or "about:blank", saved.body, NOW))
        try:
            text = run(document, link(gold.replace("\n", " ")[:60]), NOW).text or ""
        except NotApplicable:
            text = ""
        first, second = "".join(gold.split()), "".join(text.split())
        common, extracted, gold_chars = common + LCSseq.similarity(first, second), extracted + len(second), gold_chars + len(first)
    assert 2 * common / (extracted + gold_chars) >= floor
