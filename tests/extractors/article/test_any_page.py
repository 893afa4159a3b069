"""Extraction of pages of any kind: their kind and their main content."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

import newsportal
from newsportal.errors import NotApplicable
from newsportal.extractors.article.any_page import (
    DAMPING,
    MAX_FACTS_CHARS,
    AnyPage,
    add_facts,
    damp_correlated,
    drop_dialogs,
    drop_duplicates,
    maximise_expected_f1,
    mix_probabilities,
)
from newsportal.extractors.article.block_features import block_features
from newsportal.extractors.article.blocks import read_blocks
from newsportal.extractors.article.body import Body
from newsportal.extractors.article.page_kind import (
    FEATURE_NAMES,
    KINDS,
    MAX_LEVELS,
    MEAN_FEATURES,
    MIN_PRODUCT_PROBABILITY,
    PRODUCT_COLUMNS,
    PageKind,
    content_probability,
    full_table,
    groups_of,
    page_features,
    page_model,
    product_features,
)
from newsportal.extractors.article.refusal import reject_kind
from newsportal.extractors.fields.metadata import read_metadata
from newsportal.items import Extraction
from newsportal.messages.reasons import CAUSES
from newsportal.text import dom

NOW = datetime(2024, 3, 6, tzinfo=UTC)
MENU = "<nav><ul><li><a href=/>Home</a></li><li><a href=/about>About us</a></li><li><a href=/help>Help</a></li></ul></nav>"
FOOTER = "<footer><p>Copyright 2024 Example Inc. All rights reserved.</p><a href=/privacy>Privacy</a></footer>"
REPLIES = [
    ("anna", "2024-03-01 10:00", "Does anybody know how to keep the heater from switching off after a minute? It worked until last week."),
    ("bert", "2024-03-01 11:30", "Mine did that as well. Clean the sensor behind the cover and press the reset button for five seconds."),
    ("carl", "2024-03-02 09:15", "The same here, and cleaning did not help. In the end the shop replaced the whole control unit for free."),
    ("anna", "2024-03-02 18:40", "Thank you both, cleaning was enough. I had not even known that there is a sensor behind the cover."),
]
POSTS = "".join(
    f'<div class="post" id="p{number}"><a class="author" href="/u/{name}">{name}</a> <time>{at}</time><div class="body">{text}</div>'
    f'<div class="buttons"><a href="#reply{number}">Reply</a> <a href="#quote{number}">Quote</a></div></div>'
    for number, (name, at, text) in enumerate(REPLIES)
)
COMMENTS = ",".join(['{"@type":"Comment"}'] * 3)
DECLARED = f'<script type="application/ld+json">{{"@type":"DiscussionForumPosting","comment":[{COMMENTS}]}}</script>'
THREAD = f"<html lang=en><title>Heater switches off - Forum</title>{DECLARED}<body>{MENU}<h1>Heater switches off</h1>{POSTS}{FOOTER}"
ITEMS = "".join(
    f'<li class="card"><a href="/p/lamp-{n}"><h3>Desk lamp model {n}</h3></a><p>Warm light, three levels, with a foot of oak.</p>'
    f'<span class="price">${n}9.00</span><button>Add to cart</button></li>'
    for n in range(1, 13)
)
TITLE = "<html lang=en><title>Desk lamps - Example shop</title>"
SHOP = f"{TITLE}<body>{MENU}<h1>Desk lamps</h1><p>Sort by price. 12 products</p><ul>{ITEMS}</ul>{FOOTER}"
EVENT_TEXT = "讲座结束后，馆员将带领听众参观修复展厅。"


def read(html: str, url: str) -> Extraction:
    return AnyPage()(dom.from_text(html, url), None, NOW)


def test_thread_text_joins_all_posts() -> None:
    found = read(THREAD, "https://forum.example/threads/heater-switches-off.77/")
    assert found.kind == "thread"
    assert found.text == "\n".join(text for _, _, text in REPLIES)
    assert found.html is not None
    assert "<h3>bert · 2024-03-01 11:30</h3><p>Mine did" in found.html
    assert (found.author, found.published) == ("anna", datetime(2024, 3, 1, 10, tzinfo=UTC))


def test_shop_list_is_kept_as_content() -> None:
    found = read(SHOP, "https://shop.example/collections/desk-lamps")
    assert found.kind in ("collection", "listing")
    lines = (found.text or "").split("\n")
    assert [f"Desk lamp model {n}" in lines for n in range(1, 13)] == [True] * 12
    assert "Privacy" not in lines


@pytest.mark.parametrize("kind", ["product", "listing", "collection", "service"])
def test_confident_non_article_kind_is_refused(kind: str) -> None:
    sure, doubtful = (np.full(len(KINDS), share, np.float32) for share in (0.01, 0.03))
    for shares in (sure, doubtful):
        shares[KINDS.index(kind)] = 1 - shares[0] * (len(KINDS) - 1)
    with pytest.raises(NotApplicable) as refused:
        reject_kind(PageKind(sure, 0.1))
    assert refused.value.reason == f"{kind}-page"
    assert refused.value.reason in CAUSES
    reject_kind(PageKind(doubtful, 0.1))
    reject_kind(PageKind(sure, 0.6))


def test_list_at_site_root_is_front_page() -> None:
    assert read(SHOP, "https://shop.example/").kind == "front page"


def test_noscript_is_read_when_page_is_otherwise_empty() -> None:
    body = THREAD.partition("<body>")[2]
    found = read(f"<title>Heater</title><body><noscript>{body}</noscript>", "https://forum.example/t/heater/77")
    assert REPLIES[1][2] in (found.text or "")


@pytest.mark.parametrize("html", ["<title>404 not found</title><p>Not found</p>", "<title>Log in</title><p>Please log in</p>", ""])
def test_page_without_content_is_refused(html: str) -> None:
    with pytest.raises(NotApplicable):
        read(html, "https://a.example/x")


def test_library_reports_page_kind() -> None:
    article = newsportal.extract(THREAD, "https://forum.example/threads/heater-switches-off.77/")
    assert article.extraction is not None
    assert article.extraction.kind == "thread"
    assert 0.3 <= (article.extraction.kind_probability or 0) <= 1


def test_page_figures_are_named_and_unique() -> None:
    document = dom.from_text(SHOP, "https://shop.example/collections/desk-lamps")
    page = read_blocks(document.root.find("body"))
    table = block_features(page, "Desk lamps", None)
    figures = page_features(document, read_metadata(document), page, table, np.full(len(page.blocks), 0.2, np.float32))
    by_name = dict(zip(FEATURE_NAMES, figures.tolist(), strict=True))
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES)
    assert set(MEAN_FEATURES) <= set(table.names)
    assert (by_name["address_collection"], by_name["address_thread"], by_name["tag_button"]) == (1, 0, pytest.approx(np.log1p(12)))
    assert by_name["prices"] == pytest.approx(np.log1p(12))
    shares = page_model().classify(figures).shares
    assert shares.shape == (len(KINDS),)
    assert shares.sum() == pytest.approx(1)


def test_product_figures_name_sections_and_count_pronouns() -> None:
    reviews = "<div class=ReviewList><div><p>I love my lamp</p><p>It broke, and I sent it back</p></div></div>"
    page = read_blocks(dom.from_text(f"<div id=specs>Height 40 cm</div>{reviews}<p>你的台灯，我的光</p>", "about:blank").root.find("body"))
    length = np.array([block.length for block in page.blocks], np.float32)
    by_name = dict(zip(PRODUCT_COLUMNS, product_features(page, length).tolist(), strict=True))
    assert by_name["reviews"] == [MAX_LEVELS, 2, 2, MAX_LEVELS]
    assert by_name["details"] == [0, MAX_LEVELS, MAX_LEVELS, MAX_LEVELS]
    assert by_name["first_person_own"] == pytest.approx([0, 2 / 20, 1 / length[2], 1 / 20])
    assert by_name["second_person_own"] == pytest.approx([0, 0, 0, 1 / 20])
    assert by_name["first_person_form"] == pytest.approx([0, *[3 / (length[1] + length[2])] * 2, 1 / 20])
    assert by_name["first_person_around"] == pytest.approx([4 / length.sum()] * 4)


def test_only_products_are_corrected() -> None:
    page = read_blocks(dom.from_text(SHOP, "about:blank").root.find("body"))
    table, model = block_features(page, "Desk lamps", None), page_model()
    news = np.full(len(page.blocks), 0.5, np.float32)
    assert not {*PRODUCT_COLUMNS} & {*table.names}
    for share, corrected in ((MIN_PRODUCT_PROBABILITY / 2, False), (1.0, True)):
        kind = PageKind(np.where(np.array(KINDS) == "product", share, (1 - share) / (len(KINDS) - 1)).astype(np.float32), 0.0)
        opposite = replace(model, product=replace(model.product, leaves=-model.product.leaves, bias=-model.product.bias))
        probs, other = (content_probability(each, full_table(page, table, news, kind), kind) for each in (model, opposite))
        assert bool((probs != other).any()) == corrected
        assert ((probs > 0) & (probs < 1)).all()


def test_network_sees_neighbours_form_and_box_of_block() -> None:
    cards = "".join(f"<li><div><p>Lamp {number}</p><p>Oak</p></div></li>" for number in range(30))
    page = read_blocks(dom.from_text(f"<p>Lamps</p><ul>{cards}</ul>", "about:blank").root.find("body"))
    form, box = (groups.tolist() for groups in groups_of(page))
    assert form == [form[0], *[form[1]] * 60]
    assert [box.count(number) for number in sorted({*box}, key=box.index)] == [1, *[2] * 30]
    table, kind = block_features(page, "Lamps", None), PageKind(np.full(len(KINDS), 1 / len(KINDS), np.float32), 0.0)
    network, full = page_model().network, full_table(page, table, np.full(61, 0.5, np.float32), kind)
    assert network is not None
    probs = network.predict(full, page)
    assert ((probs > 0) & (probs < 1)).all()
    changed = full.values.copy()
    changed[full.names.index("length"), 40] += 3
    other = network.predict(replace(full, values=changed), page)
    assert (probs != other).all()  # of its form or in the whole page


def test_chosen_blocks_maximise_expected_f1() -> None:
    length = np.array([100, 100, 100, 100], np.float32)
    sure = np.array([0.99, 0.98, 0.03, 0.4], np.float32)
    assert maximise_expected_f1(sure, length).tolist() == [True, True, False, False]
    doubtful = np.array([0.4, 0.35, 0.3, 0.1], np.float32)
    assert maximise_expected_f1(doubtful, length).tolist() == [True, True, True, False]
    assert not maximise_expected_f1(np.array([0.01, 0.02], np.float32), length[:2]).any()


def test_repeated_lines_count_once_where_most_likely() -> None:
    lines = "<p>A lamp of oak</p><p>A lamp of oak</p><div>$20</div>", "<ul><li>A lamp of oak<li>$20</ul>"
    page = read_blocks(dom.from_text("".join(lines), "about:blank").root.find("body"))
    probs = np.array([0.5, 0.6, 0.4, 0.5, 0.7], np.float32)
    assert drop_duplicates(probs, page) == pytest.approx([0.5, 0.6, 0, 0, 0.7])


def test_lines_in_dialogs_are_not_content_if_others_are() -> None:
    notice = "<div class='modal fade'><div class=modal-body><p>We keep your data</p></div></div>"
    page = read_blocks(dom.from_text(f"<div class=modality><p>A talk</p></div>{notice}<p>Sign up</p>", "about:blank").root.find("body"))
    assert drop_dialogs(np.array([0.6, 0.9, 0.7], np.float32), page) == pytest.approx([0.6, 0, 0.7])
    alone = np.array([0.1, 0.9, 0.1], np.float32)
    assert drop_dialogs(alone, page) == pytest.approx(alone)


@pytest.mark.parametrize(
    ("facts", "kept"),
    [
        (
            ["活动时间：3月9日", "活动地点：市图书馆", "<a href=/map>查看地图</a>", "费用", "免费", "分享"],
            ["活动时间：3月9日", "活动地点：市图书馆", "费用", "免费"],
        ),
        (["Share", "When: March 9", "Venue: City Hall"], ["When: March 9", "Venue: City Hall"]),
        (["活动时间：3月9日", "报名时间：3月1日起"], ["活动时间：3月9日", "报名时间：3月1日起"]),
        (["发布时间：2024-03-06", "来源：滨海日报"], []),
        (["When: March 9", "x" * MAX_FACTS_CHARS, "Venue: City Hall"], []),
    ],
)
def test_labelled_facts_of_event_between_heading_and_text_are_added(facts: list[str], kept: list[str]) -> None:
    lines = "".join(f"<div>{line}</div>" for line in facts)
    page = read_blocks(dom.from_text(f"<h1>城墙讲座</h1>{lines}<p>{EVENT_TEXT}</p><p>地点：</p>", "about:blank").root.find("body"))
    chosen = np.array([text == EVENT_TEXT for text in page.texts])
    probs = chosen.astype(np.float32)
    assert add_facts(Body(page, chosen, probs, block_features(page, "城墙讲座", None))).lines == [*kept, EVENT_TEXT]


def test_mixed_models_average_log_odds() -> None:
    first, second = np.array([0.9, 0.1], np.float32), np.array([0.1, 0.1], np.float32)
    assert mix_probabilities(first, second, 1.0) == pytest.approx(first, abs=1e-5)
    assert mix_probabilities(first, second, 0.0) == pytest.approx(second, abs=1e-5)
    assert mix_probabilities(first, second, 0.5) == pytest.approx([0.5, 0.1], abs=1e-5)


def test_probabilities_are_softened_for_listing_pages() -> None:
    probs = np.array([0.9, 0.5, 0.1], np.float32)
    of = dict(zip(KINDS, np.eye(len(KINDS), dtype=np.float32), strict=True))
    assert damp_correlated(probs, PageKind(of["product"], 0.0)) == pytest.approx(probs, abs=1e-5)
    odds = 9 ** (1 - DAMPING)
    assert damp_correlated(probs, PageKind(of["listing"], 0.0)) == pytest.approx([odds / (1 + odds), 0.5, 1 / (1 + odds)], abs=1e-5)
