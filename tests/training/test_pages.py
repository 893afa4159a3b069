"""The made-up pages for training: deterministic for a seed, true to their gold, varied, cheap."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from work_counts import count_calls

from newsportal.text import dom

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # training is not installed with the package

from training import MadeUpPage, made_up_pages
from training.grammar import grammar, speak, traditional
from training.prose import TONGUES, Voice, rules_of

COUNT = 400
CALLS_PER_PAGE = 15_000
"""Twice the calls of a page; a small machine makes a thousand pages a second."""


@pytest.fixture(scope="module")
def pages() -> list[MadeUpPage]:
    return list(made_up_pages(COUNT, 5))


def squeezed(text: str) -> str:
    return "".join(dom.clean(text).split())


@cache
def lines_of(html: str) -> list[str]:
    return dom.lines_of(dom.from_text(html).root)


@cache
def squeezed_text(html: str) -> str:
    return squeezed("\n".join(lines_of(html)))


def page_text(page: MadeUpPage) -> str:
    return squeezed_text(page.html)


def test_same_seed_gives_same_pages(pages: list[MadeUpPage]) -> None:
    assert list(made_up_pages(20, 5)) == pages[:20], "a page does not depend on the count"
    assert [page.html for page in made_up_pages(3, 6)] != [page.html for page in pages[:3]]
    assert len({page.id for page in pages}) == len({page.html for page in pages}) == COUNT


def test_gold_lines_are_on_page_in_order(pages: list[MadeUpPage]) -> None:
    for page in pages:
        text, place = page_text(page), 0
        for line in page.text.split("\n"):
            found = text.find(squeezed(line), place)
            assert squeezed(line), page.id
            assert found >= 0, (page.id, line)
            place = found + len(squeezed(line))


def test_gold_lines_are_complete_lines_of_page(pages: list[MadeUpPage]) -> None:
    """Labelling blocks by lines therefore finds every line of gold unchanged."""
    for page in pages:
        lines = Counter(map(squeezed, lines_of(page.html)))
        assert not Counter(map(squeezed, page.text.split("\n"))) - lines, page.id


def test_title_author_and_date_are_on_page(pages: list[MadeUpPage]) -> None:
    for page in pages:
        assert squeezed(page.title) in page_text(page), page.id
        assert page.author is None or page.author in page.html, page.id
        assert page.date is None or 2003 <= date.fromisoformat(page.date).year <= 2025, page.id
        assert page.url.split("/")[2].endswith(".example"), "no real site is used"
    assert COUNT / 4 < sum(page.author is not None for page in pages) < COUNT * 3 / 4


def body_path(page: MadeUpPage) -> str:
    """Return the path of tags from the root to the element of the longest line of gold."""
    longest = squeezed(max(page.text.split("\n"), key=len))
    node = dom.from_text(page.html).root
    tags = [str(node.tag)]
    while inner := [child for child in node if isinstance(child.tag, str) and longest in squeezed(dom.text_of(child))]:
        node = inner[-1]
        tags.append(str(node.tag))
    return "/".join(tags)


@pytest.mark.slow
def test_layouts_and_lengths_vary(pages: list[MadeUpPage]) -> None:
    paths = Counter(map(body_path, pages))
    assert len(paths) >= COUNT / 2
    assert paths.most_common(1)[0][1] < COUNT / 15
    assert {next(language for language in TONGUES if f'lang="{language}"' in page.html) for page in pages} == set(TONGUES)
    shares = sorted(len(squeezed(page.text)) / len(page_text(page)) for page in pages)
    assert shares[COUNT // 10] < 0.1, "some bodies are a small part of their page"
    assert shares[-COUNT // 10] > 0.5, "some pages are nearly all body"
    lengths = sorted(page.text.count("\n") + 1 for page in pages)
    assert lengths[COUNT // 20] <= 2
    assert lengths[-COUNT // 20] >= 20


@pytest.mark.parametrize(
    "part",
    [
        "display:none",
        "<form",
        "<TABLE",
        "<article",
        "<br>",
        'class="pullquote"',
        "embedded-post",
        "__STATE__",
        "application/ld+json",
        "<BR>",
    ],
)
def test_every_markup_oddity_occurs(pages: list[MadeUpPage], part: str) -> None:
    assert any(part in page.html for page in pages)


def test_every_grammar_symbol_expands() -> None:
    from random import Random

    for language in TONGUES:
        rules = rules_of(language)
        for symbol in rules:
            texts = Voice(language, rules, Random(1)).many(symbol, 20, 20)
            assert not [text for text in texts if "{" in text or "SPACE" in text], (language, symbol)


def test_missing_symbol_is_reported() -> None:
    with pytest.raises(ValueError, match="colour"):
        grammar("sky: {colour} clouds")


def test_number_ranges_and_options_are_expanded() -> None:
    from random import Random

    rules = grammar("heat: {?about}{5-7} degrees", "about: about&nbsp;")
    texts = {speak(rules, "heat", Random(seed)) for seed in range(60)}
    assert texts == {f"{word}{number} degrees" for word in ("", "about&nbsp;") for number in (5, 6, 7)}


def test_traditional_conversion() -> None:
    assert traditional("“群众为后台签字”") == "「群眾為後台簽字」"


def test_page_generation_takes_few_calls() -> None:
    assert count_calls(list, made_up_pages(50, 1)) < 50 * CALLS_PER_PAGE
