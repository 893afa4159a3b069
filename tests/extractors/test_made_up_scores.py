"""Minimum scores of ``best`` on made-up pages of seed 77: other sites than those of seed 11, on which the model was fitted."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.errors import NotApplicable
from newsportal.extractors.article.best import extract
from newsportal.items import Extraction
from newsportal.text import dom
from newsportal_lab.evaluate.scoring import Answer, PageScore, add_up, score_page
from training import MadeUpPage, made_up_pages

COUNT = 200
SEED = 77
NOW = datetime(2026, 6, 1, tzinfo=UTC)
MAX_REFUSED = 0
CAPTION_SHARE = 0.02
"""Share of the HTML's lines that may be missing from the text."""

Read = list[tuple[MadeUpPage, Extraction | None]]


def read(page: MadeUpPage) -> Extraction | None:
    try:
        return extract(dom.from_text(page.html, page.url), None, NOW)
    except NotApplicable:
        return None


@pytest.fixture(scope="module")
def pages() -> Read:
    return [(page, read(page)) for page in made_up_pages(COUNT, SEED)]


def score(page: MadeUpPage, found: Extraction | None) -> PageScore:
    published = found.published.isoformat() if found and found.published else None
    answer = Answer(found.text, found.title, published, found.author) if found else Answer()
    return score_page(Answer(page.text, page.title, page.date, page.author), answer)


@pytest.mark.slow
def test_scores_reach_their_floors(pages: Read) -> None:
    found = add_up([score(page, found) for page, found in pages])
    assert found.unanswered <= MAX_REFUSED
    assert (found.f1 or 0) >= 0.976
    assert (found.page_f1 or 0) >= 0.93
    assert (found.good or 0) >= 0.86
    assert (found.title or 0) >= 0.92
    assert (found.date or 0) >= 0.88
    assert (found.author or 0) >= 0.62


def test_text_lines_are_lines_of_the_html(pages: Read) -> None:
    """The HTML has all lines of the text in order; its other lines are captions."""
    extra = total = 0
    for page, found in pages:
        if found is None:
            continue
        assert found.text, page.id
        assert found.html, page.id
        lines = dom.lines_of(dom.parse_html(found.html))
        remaining = iter(lines)
        assert all(line in remaining for line in found.text.split("\n")), page.id
        total += len(lines)
        extra += len(lines) - len(found.text.split("\n"))
    assert extra <= CAPTION_SHARE * total


def test_confident_answers_score_higher(pages: Read) -> None:
    answered = sorted((found.confidence or 0, score(page, found).f1) for page, found in pages if found)
    doubtful, sure = answered[: COUNT // 4], answered[COUNT // 4 :]
    assert sum(f1 for _, f1 in doubtful) / len(doubtful) < sum(f1 for _, f1 in sure) / len(sure) - 0.1
