"""Malformed and huge pages: every algorithm returns text or ``NotApplicable``, within bounds of time and memory.

An algorithm added to ``EXTRACTORS`` is tested here automatically. Huge pages are read in separate processes, so that the system can limit
their memory and end one that hangs.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any, Final

import pytest

from newsportal.errors import NotApplicable
from newsportal.extractors import EXTRACTORS, Learner, extractor
from newsportal.items import Extraction, Link, Page
from newsportal.text import dom

NOW: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
SENTENCE: Final = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民，他们说这是一个好消息。"
TRADITIONAL: Final = "今天早上六點，濱海新線的首班列車從東站出發，車廂裡坐滿了趕早的市民，他們說這是一個好消息。"
LINK: Final = Link("https://a.example/1", "test", title="滨海新线今晨通车", summary=SENTENCE)

SIBLING: Final = "https://a.example/2"
"""Another page of the site, for algorithms that learn."""

HANG: Final = 20
"""Seconds of processor time after which a page counts as hanging; the slowest takes one or two."""

MEMORY: Final = 3 * 2**30
"""Bytes of address space: a page of 8 million characters, cut, as text, tree, copies and lines of Python strings."""


def html(body: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head><title>滨海新线今晨通车</title>{head}</head><body><h1>滨海新线今晨通车</h1>{body}</body></html>"


BIG: Final[dict[str, Callable[[], str]]] = {
    "nested-div": lambda: html("<div>" * 49_000 + SENTENCE),
    "nested-inline": lambda: html("<b><i>" * 24_500 + SENTENCE),
    "nested-tables": lambda: html("<table><tr><td>" * 16_300 + SENTENCE),
    "wrong-end-tags": lambda: html("<div></x>" * 24_500 + SENTENCE),
    "nested-links": lambda: html("<ul><li><a href='/a'>新闻" * 12_500),
    "text-node": lambda: html(f"<p>{SENTENCE * (12_000_000 // len(SENTENCE.encode()))}</p>"),
    "text-node-one-word": lambda: html(f"<p>{'a' * 50_000_000}</p>"),
    "digits": lambda: html(f"<p>{'2024-03-05 08:30 ' * 80_000}</p>"),
    "one-line-of-dates": lambda: html(f"<p>{'1月2日' * 60_000}</p>"),
    "white-space": lambda: html(f"<p>{' ' * 2_000_000}x{chr(0x3000) * 400_000}</p>"),
    "attributes": lambda: html(f"<p {' '.join(f'a{n}=1' for n in range(400_000))}>{SENTENCE * 5}</p>"),
    "long-attribute": lambda: html(f"<p class='{'text ' * 200_000}'>{SENTENCE * 5}</p>"),
    "paragraphs": lambda: html(f"<p>{SENTENCE}</p>" * 6_000),
    "breaks": lambda: html(f"<div>{f'{SENTENCE}<br>' * 6_000}</div>"),
    "links": lambda: html("<a href='/2024/1.html'>滨海新线今晨通车</a> " * 10_000),
    "short-nodes": lambda: html("<i>的</i>" * 24_500),
    "rows": lambda: html(f"<table>{f'<tr><td>{SENTENCE}</td><td>1</td></tr>' * 4_000}</table>"),
    "headings": lambda: html("<h1>滨海新线今晨通车</h1>" * 6_000),
    "metas": lambda: html(SENTENCE, "<meta property='og:title' content='滨海新线'>" * 10_000),
    "deep-json": lambda: html(f"<p>{SENTENCE * 4}</p>", f"<script type='application/ld+json'>{'[' * 80_000}</script>"),
    "wide-json": lambda: html(f"<p>{SENTENCE * 4}</p>", f"<script type='application/ld+json'>[{'{},' * 40_000}{{}}]</script>"),
    "open-comment": lambda: html(f"<p>{SENTENCE}</p>" + "<!--" * 49_000),
    "open-quotes": lambda: html(f"<p>{SENTENCE}</p>" + "<a href=\"" * 49_000),
    "angle-brackets": lambda: html("<" * 49_000 + SENTENCE + ">" * 400_000),
    "entities": lambda: html("&#x110000;&#0;&nbsp;&lt;&unknown;" * 20_000),
    "long-paragraphs": lambda: html("".join(f"<p>{n}{f'{n}{SENTENCE}' * 20}</p>" for n in range(1_200))),
    "pictures": lambda: html(f"<figure>{'<img src=/p/1.jpg>' * 10_000}</figure>{f'<p>{SENTENCE}</p>' * 4}"),
    "escaped-quotes": lambda: html(f"<p>{SENTENCE}</p><script>f('{chr(92)}{(chr(39) + chr(92)) * 200_000}</script>"),
    "punctuation": lambda: html(f"<p>{'，。' * 200_000}</p>"),
}  # fmt: skip
"""Bombs and similar pages, of at most as many tags as are parsed (``dom.MAX_TAGS``)."""


@cache
def answers() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the result of each huge page, by algorithm and name, from separate processes (this file, run as a script)."""
    done = subprocess.run([sys.executable, "-W", "error", str(Path(__file__))], capture_output=True, text=True, timeout=1800, check=True)
    found: dict[str, dict[str, dict[str, Any]]] = {algorithm: {} for algorithm in EXTRACTORS}
    for line in map(json.loads, done.stdout.splitlines()):
        for algorithm in [line["algorithm"]] if "algorithm" in line else EXTRACTORS:  # a crash ends the remaining algorithms too
            found[algorithm].setdefault(line["name"], line)
    return found


def main() -> None:
    for algorithm in EXTRACTORS:
        read(algorithm, ARTICLE.encode())  # load the algorithm's data once, before the forks
    for name in BIG:
        child = os.fork()
        if not child:
            try:
                read_by_all(name)
            except BaseException:  # any error is reported by the test
                print(json.dumps({"name": name, "died": traceback.format_exc()[-2000:]}), flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print(json.dumps({"name": name, "died": f"signal {status & 127}: out of its time, or of memory"}), flush=True)


def read_by_all(name: str) -> None:
    """Parse the page once for all algorithms; learning ones also get it under a second URL."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    body = BIG[name]().encode()
    limit_cpu_time(HANG)
    document = dom.document(Page(LINK.url, body, NOW))
    assert document.lines is not None
    spent = time.process_time()
    sibling = copy(document)  # with its tree and lines
    object.__setattr__(sibling, "url", SIBLING)
    for algorithm in EXTRACTORS:
        limit_cpu_time(HANG - spent)
        print(json.dumps({"name": name, "algorithm": algorithm, "answer": answer_of(algorithm, [document, sibling])}), flush=True)


def limit_cpu_time(seconds: float) -> None:
    """Limit this process to ``seconds`` more of processor time."""
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time() + seconds), resource.RLIM_INFINITY))


def answer_of(algorithm: str, documents: list[dom.Document]) -> str:
    run = extractor(algorithm)
    if isinstance(run, Learner):
        for document in documents:
            run.learn(document, replace(LINK, url=document.url), NOW)
    try:
        return f"{len(run(documents[0], LINK, NOW).text or '')} characters"
    except NotApplicable as refusal:
        return refusal.reason


@pytest.mark.slow
@pytest.mark.parametrize("name", BIG)
@pytest.mark.parametrize("algorithm", EXTRACTORS)
def test_huge_page_is_read_in_bounds(algorithm: str, name: str) -> None:
    answer = answers()[algorithm][name]
    assert "died" not in answer, answer["died"]
    assert "answer" in answer


@pytest.mark.parametrize("tag", ["<p>a", "<br>", "<div>", "<i a b c d e f g h>x"])
def test_page_with_too_many_tags_is_refused(tag: str) -> None:
    """Gzip packs 4.2 million ``<p>a`` into 16 kB; parsing them took 2.4 GB and 23 s."""
    with pytest.raises(NotApplicable, match="too-many-tags"):
        dom.document(Page(LINK.url, html(tag * (dom.MAX_TAGS + 1)).encode(), NOW))


@pytest.mark.parametrize("part", [" ", "/", "=''", "=1\n"])
def test_page_with_too_many_attributes_is_refused(part: str) -> None:
    """Each tag is short enough to be kept; together they have a million attributes."""
    tag = f"<i {part.join(f'a{number}' for number in range(600))}>"
    page = Page(LINK.url, html(tag * 1_700).encode(), NOW)
    with pytest.raises(NotApplicable, match="too-many-attributes"):
        dom.document(page)


def test_text_and_scripts_are_not_counted_as_attributes() -> None:
    words = " ".join(["滨海 新线"] * 200_000)
    text = html(f"<p>{words}</p><script>if (a<b) {{ '{words}' }}</script>")
    assert dom.document(Page(LINK.url, text.encode(), NOW)).html == text


def test_parse_html_stops_at_max_tags() -> None:
    assert len(list(dom.parse_html("<p>a" * (dom.MAX_TAGS + 1000)).iter("p"))) == dom.MAX_TAGS


ARTICLE: Final = html(f"<div>{f'<p>{SENTENCE}</p>' * 4}</div>")
RARE: Final = SENTENCE.replace("市民", "镕市民㐂")  # in GBK, and in the four bytes of GB 18030: neither in GB 2312
HONG_KONG: Final = TRADITIONAL.replace("他們說這", "佢哋喺度話嘅")


def page_with_charset(label: str, text: str = SENTENCE, before: str = "") -> str:
    return html(f"<div>{f'<p>{text}</p>' * 4}</div>", f"{before}<meta http-equiv='Content-Type' content='text/html; charset={label}'>")


ENCODED: Final[dict[str, tuple[bytes, str | None, str]]] = {
    "header UTF-8, meta gbk, bytes gb18030": (page_with_charset("gbk", RARE).encode("gb18030"), "text/html; charset=utf-8", RARE),
    "gb2312 label on gb18030 bytes": (page_with_charset("gb2312", RARE).encode("gb18030"), None, RARE),
    "no label, gb18030 bytes": (ARTICLE.encode("gb18030"), None, SENTENCE),
    "big5 label on Big5-HKSCS bytes": (page_with_charset("big5", HONG_KONG).encode("big5hkscs", "xmlcharrefreplace"), None, HONG_KONG),
    "utf-8 label on Big5 bytes": (
        page_with_charset("utf-8", TRADITIONAL).encode("big5", "xmlcharrefreplace"),
        "text/html; charset=utf-8",
        TRADITIONAL,
    ),
    "UTF-16 little-endian without BOM": (page_with_charset("utf-16").encode("utf-16-le"), None, SENTENCE),
    "UTF-16 big-endian without BOM": (page_with_charset("utf-16").encode("utf-16-be"), "text/html", SENTENCE),
    "latin-1 header on UTF-8 bytes": (ARTICLE.encode(), "text/html; charset=iso-8859-1", SENTENCE),
    "meta after 1,024 bytes": (page_with_charset("gbk", before=f"<script>{'/* */' * 1000}</script>").encode("gbk"), None, SENTENCE),
    "unknown labels": (page_with_charset("x-user-defined").encode("gbk"), "text/html; charset=;;", SENTENCE),
    "UTF-8 with a few invalid bytes": (page_with_charset("utf-8").encode().replace(b"<p>", b"<p>\xff", 1), None, SENTENCE),
}

NOISE: Final = random.Random(20260301).randbytes(60_000)
INVALID_PAGES: Final[dict[str, bytes]] = {
    "empty": b"",
    "white space": b" \r\n\t" * 1000,
    "zeros": bytes(5000),
    "one angle bracket": b"<",
    "empty html": b"<html></html>",
    "frameset": b"<html><frameset cols='20%,80%'><frame src='a.html'><frame src='b.html'></frameset></html>",
    "PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nstream\n" + NOISE + b"\nendstream\n%%EOF",
    "PNG": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + NOISE,
    "JPEG": b"\xff\xd8\xff\xe0\0\x10JFIF\0" + NOISE,
    "GIF": b"GIF89a" + NOISE,
    "gzip": b"\x1f\x8b\x08\0" + NOISE,
    "zip": b"PK\x03\x04" + NOISE,
    "one word": "今天".encode(),
}


def read(algorithm: str, body: bytes, content_type: str | None = "text/html") -> Extraction | None:
    """Return the extraction, or ``None`` if the page is refused with a slug as its reason. Any other error fails the test."""
    try:
        return extractor(algorithm)(dom.document(Page(LINK.url, body, NOW, content_type=content_type)), LINK, NOW)
    except NotApplicable as refusal:
        reason = refusal.reason
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", reason)
    return None


@pytest.mark.parametrize("case", ENCODED)
@pytest.mark.parametrize("algorithm", EXTRACTORS)
def test_encoding_is_detected_from_bytes(algorithm: str, case: str) -> None:
    body, content_type, text = ENCODED[case]
    found = read(algorithm, body, content_type)
    assert found is None or text in (found.text or "")
    assert algorithm != "best" or found is not None


@pytest.mark.parametrize("case", INVALID_PAGES)
@pytest.mark.parametrize("algorithm", EXTRACTORS)
def test_invalid_page_is_refused_or_clean(algorithm: str, case: str) -> None:
    found = read(algorithm, INVALID_PAGES[case])
    assert algorithm != "best" or found is None
    assert found is None or "\x00" not in (found.text or "")


BROKEN: Final = [
    f"<p>{SENTENCE}<p>{SENTENCE}</b></i></div></p><td>{SENTENCE}",
    f"</html></body>{ARTICLE}</html><html><body>{ARTICLE}",
    ARTICLE.replace("</title>", ""),
    ARTICLE.replace("<p>", "<p "),
    ARTICLE.replace("</p>", "\x00</p>\x01"),
    ARTICLE[: len(ARTICLE) // 2],
    ARTICLE.replace("<div>", "<div class=\"a 'b><![CDATA[ ]]>"),
    f"<?xml version='1.0' encoding='gbk'?><svg><foreignObject>{ARTICLE}",
    f"<body><body><head><head><frameset>{ARTICLE}<noscript>{ARTICLE}",
    ARTICLE.replace("<h1>", "<form><table><h1><select><option><textarea>"),
    f"<math><mi>{ARTICLE}<template>{ARTICLE}",
    ARTICLE + "\ud800\udfff&#xD800;&#x110000;",
]


@pytest.mark.parametrize("markup", BROKEN)
@pytest.mark.parametrize("algorithm", EXTRACTORS)
def test_malformed_markup_is_tolerated(algorithm: str, markup: str) -> None:
    read(algorithm, markup.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("algorithm", EXTRACTORS)
def test_document_from_text_may_hold_any_character(algorithm: str) -> None:
    """Text decoded elsewhere may hold characters that UTF-8 cannot encode."""
    try:
        extractor(algorithm)(dom.from_text(ARTICLE.replace("今天", "\ud800今天\x00\ufffe\u202e")), None, NOW)
    except NotApplicable:
        return


if __name__ == "__main__":
    main()
