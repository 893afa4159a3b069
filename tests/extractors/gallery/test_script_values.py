"""Values in scripts, hidden elements and attributes, and JavaScript literals that are not JSON."""

from __future__ import annotations

from typing import Any

import pytest

from newsportal.extractors.gallery.script_values import NoLiteral, find_values, parse_literal
from newsportal.text import dom


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 1, 'b': \"x\", c: [true, null, undefined,],}", {"a": 1, "b": "x", "c": [True, None, None]}),
        (r"['it\'s', `一行`, '\u56fe']", ["it's", "一行", "图"]),
        ("{ // note\n a: /* old */ -1.5 }", {"a": -1.5}),
        ("{}", {}),
        ("[]", []),
        ('("a.jpg", "b.jpg")', ["a.jpg", "b.jpg"]),
    ],
)
def test_literals_are_parsed(text: str, value: Any) -> None:
    assert parse_literal(text, 0, len(text)) == (value, len(text))


@pytest.mark.parametrize("text", ["{a: f(1)}", "[1 + 2]", "{a}", "[1, 2", "{a: function(){}}", "`${x}`", "", "[" * 100 + "]" * 100])
def test_expressions_are_not_literals(text: str) -> None:
    with pytest.raises(NoLiteral):
        parse_literal(text, 0, len(text))


def script_values(html: str) -> list[Any]:
    return [value for _, value in find_values(dom.from_text(html, "https://p.example/"))]


@pytest.mark.parametrize(
    ("html", "value"),
    [
        ('<script>var a = {"img": "/1.jpg"};</script>', {"img": "/1.jpg"}),
        ("<script>a = [{img: '/1.jpg'}];</script>", [{"img": "/1.jpg"}]),
        ("<script>show({img: '/1.jpg'});</script>", {"img": "/1.jpg"}),
        (r'<script>a = JSON.parse("{\"img\":\"/1.jpg\"}")</script>', {"img": "/1.jpg"}),
        ("<script>a.push('/1.jpg'); a.push('/2.jpg')</script>", {"a": ["/1.jpg", "/2.jpg"]}),
        ("<script>a[0]='/1.jpg'; a[1]='/2.jpg'</script>", {"a": ["/1.jpg", "/2.jpg"]}),
        ("<script>a[0].src='/1.jpg'; a[0].alt='图'</script>", {"a": [{"src": "/1.jpg", "alt": "图"}]}),
        ('<script type="application/json">[{"img": "/1.jpg"}]</script>', [{"img": "/1.jpg"}]),
        ('<textarea hidden>{"img": "/1.jpg"}</textarea>', {"img": "/1.jpg"}),
        ("<div data-list='[\"/1.jpg\"]'></div>", ["/1.jpg"]),
        ('<input type=hidden value="[&quot;/1.jpg&quot;]">', ["/1.jpg"]),
    ],
)
def test_places_of_values(html: str, value: Any) -> None:
    assert value in script_values(html)


def test_scripts_without_images_are_skipped() -> None:
    assert script_values('<script>var a = {"text": "没有图片"};</script>') == []
