"""CETD: counts, composite density and DensitySum checked by hand, the densest node, and the variant with a threshold."""

from __future__ import annotations

from datetime import UTC, datetime
from math import e, log

import pytest

from newsportal.extractors.papers import cetd
from newsportal.text import dom

NOW = datetime(2024, 3, 6, tzinfo=UTC)
TEN = "一二三四五六七八九十"


def parsed(html: str) -> tuple[dom.Element, dict[str, dom.Element]]:
    body = next(dom.parse_html(f"<body id=body>{html}</body>").iter("body"))
    return body, {node.get("id"): node for node in body.iter() if node.get("id")}


def test_counts_of_characters_and_tags() -> None:
    body, node = parsed(f"<div id=d>{TEN}<p id=p>{TEN}<a id=a><b id=b>{TEN}</b></a> 四个 字 </p>{TEN}</div><script>{TEN}</script>")
    counts = cetd.count(body)
    assert {name: tuple(kind[node[name]] for kind in counts) for name in ("body", "d", "p", "a", "b")} == {
        "body": (43, 33, 5, 1),  # div, p, a, b, script
        "d": (43, 33, 3, 1),
        "p": (23, 13, 2, 1),
        "a": (10, 0, 1, 0),  # not counting itself
        "b": (10, 0, 0, 0),
    }


def test_counts_of_menus_and_text_areas() -> None:
    body, node = parsed(f"<select id=s><option>{TEN}</option></select><button>{TEN}</button><textarea>{TEN}</textarea><p>{TEN}</p>")
    counts = cetd.count(body)
    assert (counts.characters[body], counts.unlinked[body], counts.links[body]) == (30, 10, 2)
    assert cetd.density_sums(body, counts).density[node["s"]] == 0


def test_composite_density_with_links() -> None:
    # C = 40, ¬LC = 30, T = 4, LT = 2, LC_b / C_b = 0.5
    base = log(40 / 30 * 10 + 0.5 * 40 + e)
    assert cetd.composite_density(40, 30, 4, 2, 0.5) == pytest.approx(40 / 4 * log(40 / 10 * 4 / 2, base))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((0, 0, 3, 3), 0),  # no text
        ((10, 0, 1, 0), 0),  # all of it linked, one tag: the logarithm of 1
        ((10, 10, 0, 0), 10 * log(10) / log(log(1 + 0.5 * 10 + e))),  # a paragraph: every zero is 1
    ],
)
def test_zeros_count_as_ones(counts: tuple[int, int, int, int], expected: float) -> None:
    assert cetd.composite_density(*counts, 0.5) == pytest.approx(expected)


def test_composite_density_without_links() -> None:
    assert cetd.composite_density(10, 10, 0, 0, 0.0) == pytest.approx(10 * log(10) / log(log(1 + e)))


def test_density_sum_covers_children_and_text_between() -> None:
    body, node = parsed(f"<div id=d>{TEN}<p id=p>{TEN}{TEN}</p><a>{TEN}</a>{TEN[:5]}</div>")
    sums = cetd.density_sums(body, cetd.count(body))
    ratio = 10 / 45
    by_hand = sum(n * log(n) / log(log(1 + ratio * n + e)) for n in (10, 20, 5))
    assert sums.total[node["d"]] == pytest.approx(by_hand)
    assert sums.total[body] == pytest.approx(sums.density[node["d"]])
    assert sums.densest[body] is node["d"]


def test_densest_node_is_the_article() -> None:
    text = "".join(f"<p>{TEN * 3}</p>" for _ in range(5))
    links = "".join(f"<li><a href=/{n}>{TEN}</a></li>" for n in range(20))
    page = f"<body><ul>{links}</ul><div>{text}</div><div><p>{TEN}</p><ul>{links}</ul></div></body>"
    assert cetd.extract(dom.from_text(page), None, NOW).text == "\n".join([TEN * 3] * 5)


def test_text_separated_by_breaks_is_found() -> None:
    links = "".join(f"<li><a href=/{n}>{TEN}</a></li>" for n in range(20))
    page = f"<body><ul>{links}</ul><div>{'<br>'.join([TEN * 3] * 5)}</div></body>"
    assert cetd.extract(dom.from_text(page), None, NOW).text == "\n".join([TEN * 3] * 5)


def test_threshold_variant_adds_dense_blocks() -> None:
    links = "".join(f"<li><a href=/{n}>{TEN}</a></li>" for n in range(20))
    page = f"<body><div>{f'<p>{TEN * 4}</p>' * 5}</div><ul>{links}</ul><p>另外一段文字在别处</p></body>"
    document = dom.from_text(page)
    assert cetd.extract(document, None, NOW).text == "\n".join([TEN * 4] * 5)
    found = cetd.extract_with_threshold(document, None, NOW)
    assert found.text == "\n".join([*[TEN * 4] * 5, "另外一段文字在别处"])
    assert found.algorithm == "cetd_threshold"


def test_blocks_are_not_nested() -> None:
    body, _ = parsed("".join(f"<div>{f'<div>{TEN * n}<p>{TEN}</p></div>' * 3}<p>{TEN}</p></div>" for n in range(1, 9)))
    blocks = cetd.content_blocks(body, cetd.density_sums(body, cetd.count(body)))
    assert blocks
    assert not any(above in blocks for block in blocks for above in block.iterancestors())
