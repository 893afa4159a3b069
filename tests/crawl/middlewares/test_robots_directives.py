"""X-Robots-Tag and meta robots: directives, the robots they address, and where they are ignored."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.crawl.middlewares.robots_tags import Tags, tags_of

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def header(*values: str) -> Tags:
    return tags_of(values, b"", "newsportal")


def meta(html: str) -> Tags:
    return tags_of((), html.encode(), "newsportal")


def page(*metas: str) -> Tags:
    return meta(f"<!DOCTYPE html><html><head><title>x</title>{''.join(metas)}</head><body><p>text</p></body></html>")


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("noindex", Tags(index=False)),
        ("NoIndex, NoFollow", Tags(index=False, follow=False)),
        ("none", Tags(index=False, follow=False)),
        ("noarchive", Tags(archive=False)),
        ("all", Tags()),
        ("index, follow, max-image-preview:large", Tags()),
        ("noimageindex, nosnippet, notranslate", Tags()),
        ("max-snippet:20, noindex", Tags(index=False)),
        ("", Tags()),
        (",,:,", Tags()),
        ("noindex-me, xnoindex", Tags()),
    ],
)
def test_directives_in_headers_and_pages(value: str, tags: Tags) -> None:
    assert header(value) == tags
    assert page(f'<meta name="robots" content="{value}">') == tags
    assert page(f"<META CONTENT='{value}' NAME='ROBOTS' />") == tags


def test_directives_for_other_robots_are_ignored() -> None:
    assert header("otherbot: noindex, nofollow") == Tags()
    assert header("newsportal: noindex") == Tags(index=False)
    assert header("NewsPortal: nofollow", "otherbot: noindex") == Tags(follow=False)
    assert header("nofollow, otherbot: noindex") == Tags(follow=False)
    assert header("otherbot: noindex, newsportal: nofollow") == Tags(follow=False)
    assert page('<meta name="googlebot" content="noindex">') == Tags()
    assert page('<meta name="newsportal" content="noindex">') == Tags(index=False)


def test_stricter_directive_wins() -> None:
    assert page('<meta name="robots" content="noindex">', '<meta name="newsportal" content="index">') == Tags(index=False)
    assert tags_of(["nofollow"], b'<meta name="robots" content="noindex">', "newsportal") == Tags(index=False, follow=False)


@pytest.mark.parametrize(
    ("date", "over"),
    [
        ("25 Jun 2010 15:00:00 PST", True),
        ("Wed, 25 Jun 2036 15:00:00 GMT", False),
        ("Friday, 25-Jun-10 15:00:00 UTC", True),
        ("2026-03-05T11:59:00+00:00", True),
        ("2026-03-05T20:30:00+08:00", False),
        ("2026-03-04", True),
        ("2036-01-01", False),
        ("Wed, 25 Jun 2014 15:00:00 GMT", True),
        ("soon", False),
        ("", False),
    ],
)
def test_unavailable_after(date: str, over: bool) -> None:
    assert header(f"unavailable_after: {date}").may_store(NOW) is not over
    assert page(f'<meta name="robots" content="noarchive, unavailable_after: {date}, nofollow">').may_store(NOW) is not over
    assert header(f"otherbot: unavailable_after: {date}").may_store(NOW)


def test_only_tags_in_the_head_count() -> None:
    tag = '<meta name="robots" content="noindex">'
    assert meta(f"<html><head></head><body>{tag}</body></html>") == Tags()
    assert page(f"<!-- {tag} -->") == Tags()
    assert page(f"<script>document.write('{tag}')</script>") == Tags()
    assert page(f"<noscript>{tag}</noscript>") == Tags()
    assert page("<script>if (a<b) x('<body>')</script>", tag) == Tags(index=False)
    assert meta(f"{'<!-- filler -->' * 10_000}{tag}") == Tags(index=False)


def test_other_meta_tags_are_ignored() -> None:
    assert page('<meta property="robots" content="noindex">') == Tags()
    assert page('<meta name="description" content="robots: noindex">') == Tags()
    assert page('<meta name="robots" content="noindex') == Tags()


def test_hostile_pages_are_parsed_in_bounded_time() -> None:
    assert meta("<meta name=robots " * 50_000) == Tags()
    assert meta("<script>" * 30_000 + '<meta name="robots" content="x">') == Tags()
    assert meta("<!--" * 60_000 + '<meta name="robots" content="x">') == Tags()
