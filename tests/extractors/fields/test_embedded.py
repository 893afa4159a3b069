"""Articles in the scripts of pages rendered by JavaScript: each form of state, and scripts of other articles."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work_counts import count_calls, ends

from newsportal.extractors.fields.embedded import EmbeddedArticle, find_embedded, unescape_literal
from newsportal.extractors.fields.metadata import read_metadata
from newsportal.text import dom

NOW = datetime(2024, 3, 6, 12, 0, tzinfo=UTC)
TITLE = "滨海新线今晨通车，首班列车满载出发"
LINES = (
    "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民和慕名而来的铁路爱好者。",
    "据介绍，这条线路全长四十二公里，共设十一座车站，建成之后两地之间的通行时间将缩短到半个小时以内。",
    "“以前要换三趟车，现在一趟就到了。”住在城南的一位乘客说，他以后会每天坐这趟车上班。",
)
HTML = "".join(f"<p>{line}</p>" for line in LINES)
STATE = {"props": {"page": {"article": {"title": TITLE, "publishTime": "2024-03-05 08:30:00", "content": HTML}, "ads": ["x" * 400]}}}
OTHER = {"list": [{"title": "别处的一条新闻", "content": HTML.replace("滨海", "某地")}]}


def read(body: str, title: str = f"{TITLE}_滨海网", head: str = "") -> EmbeddedArticle | None:
    document = dom.from_text(f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>", "https://news.example/a")
    return find_embedded(document, read_metadata(document), NOW)


def blocks() -> str:
    return json.dumps({"article": {"headline": TITLE, "blocks": [{"type": "paragraph", "data": {"text": line}} for line in LINES]}})


@pytest.mark.parametrize(
    "body",
    [
        f"<script id=__NEXT_DATA__ type='application/json'>{json.dumps(STATE)}</script>",
        f"<script type='application/json'>{json.dumps(STATE, ensure_ascii=False)}</script>",
        f"<script>window.__INITIAL_STATE__ = {json.dumps(STATE)};(function(){{}}())</script>",
        f"<script>window.__INITIAL_STATE__={json.dumps(STATE).replace(json.dumps('x' * 400), 'undefined')}</script>",
        f"<script>window.__DATA__ = JSON.parse({json.dumps(json.dumps(STATE))})</script>",
        f"<script>var x = {json.dumps({'payload': json.dumps(STATE)})}</script>",
        f"<script>window.__NUXT__=(function(a,b){{return {{title:{json.dumps(TITLE)},content:{json.dumps(HTML)},id:a}}}}(1,2))</script>",
        f"<script>var title = '{TITLE}'; var content = {json.dumps(HTML)};</script>",
        f"<script>var article = {{title: '{TITLE}', body: `{HTML}`}}</script>",
        "<script type='application/ld+json'>"
        + json.dumps({"@type": "NewsArticle", "headline": TITLE, "articleBody": "\n".join(LINES)})
        + "</script>",
        f"<script type='application/json'>{blocks()}</script>",
        f"<div style='display:none' itemprop=articleBody>{HTML}</div><script type='application/ld+json'>"
        + json.dumps({"@type": "NewsArticle", "headline": TITLE})
        + "</script>",
    ],
)
def test_forms_of_embedded_state(body: str) -> None:
    found = read(body)
    assert found is not None
    assert found.text.splitlines() == list(LINES)
    assert found.title == TITLE


def test_title_html_and_date_are_read_from_state() -> None:
    found = read(f"<script>window.S = {json.dumps(STATE)}</script>")
    assert found is not None
    assert found.html == HTML
    assert found.published == datetime.fromisoformat("2024-03-05T08:30:00+08:00")


@pytest.mark.parametrize(
    "body",
    [
        f"<script>window.S = {json.dumps(OTHER)}</script>",
        f"<script>{'function f(a){return a.b;};' * 60}</script>",
        f"<script>var css = '{'.a{{color:red}} ' * 60}'; var title='{TITLE}'</script>",
        f"<script>window.S = {json.dumps({'title': TITLE, 'image': 'data:image/png;base64,' + 'A' * 900})}</script>",
        f"<script>window.S = {json.dumps({'title': TITLE, 'tags': ['a b c d'] * 90})}</script>",
        "<p>no scripts</p>",
    ],
)
def test_other_articles_code_and_lists_are_ignored(body: str) -> None:
    assert read(body) is None


def test_description_confirms_text_without_title() -> None:
    head = f'<meta name=description content="{LINES[0]}">'
    assert read(f"<script>window.S = {json.dumps({'c': HTML})}</script>", "滨海网", head) is not None
    assert read(f"<script>window.S = {json.dumps({'c': LINES[0] * 1 + LINES[0][:80]})}</script>", "滨海网", head) is None


def test_longest_text_is_chosen() -> None:
    state = {"title": TITLE, "summary": LINES[0] * 3, "content": HTML * 3}
    found = read(f"<script>window.S = {json.dumps(state)}</script>")
    assert found is not None
    assert len(found.text.splitlines()) == 9


@pytest.mark.parametrize(
    "text",
    [
        '"' * 300_000,
        '{"a":' * 100_000,
        "={" * 200_000,
        ":[" * 200_000,
        'a="' + "x" * 2_000_000,
        'a="' + "\\\\" * 500_000,
        '"title":"' * 100_000,
        "f('" + "\\'" * 200_000,
    ],
)
def test_hostile_scripts_take_bounded_time(text: str) -> None:
    with ends():
        read(f"<script>{text}</script>")


def test_escapes_are_decoded_like_javascript() -> None:
    assert unescape_literal(r"\u6ee8\x41\n\/\u{6d77}\ud83d\ude00\"") == '滨A\n/海😀"'


@given(st.text(max_size=200))
def test_any_script_text_is_accepted(text: str) -> None:
    read(f"<script>var title='{TITLE}',c=\"{text * 3}\"</script>")


@given(
    st.recursive(st.none() | st.text(max_size=30), lambda x: st.lists(x, max_size=4) | st.dictionaries(st.text(max_size=8), x, max_size=4))
)
def test_any_json_state_is_accepted(value: object) -> None:
    state = json.dumps({"title": TITLE, "x": value, "content": HTML}).replace("<", "\\u003c")
    read(f"<script type='application/json'>{state}</script>")


def test_titles_near_many_texts_are_parsed_once() -> None:
    """Parsing them again for each text nearby, character by character, took more than 8 seconds."""
    texts = "".join(
        f"{{title:{json.dumps(f'{TITLE}{number}')},text:{json.dumps(LINES[0] * 3)},date:'12 foo{number} 2024'}}," for number in range(2_000)
    )
    assert count_calls(read, f"<script>var x = [{texts}]</script>") < 2_000 * 400


@pytest.mark.parametrize(
    ("escaped", "text"),
    [(r"\u6ee8\u6d77", "滨海"), (r"\ud83d\ude82!", "🚂!"), (r"\ud83d!", "\ufffd!"), (r"\\u6ee8", r"\u6ee8"), (r"\u{1f682}\x41\n", "🚂A\n")],
)
def test_unicode_and_invalid_escapes(escaped: str, text: str) -> None:
    assert unescape_literal(escaped) == text
