"""Links that the rules of identity would wrongly join: a site that keeps its articles' numbers where others keep a session.

No list can hold every site's parameters. But a list page that names several articles under one identity, each with an address and a title
of its own, shows that the rules do not fit there: then its links are known by their spelling alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Final

from newsportal.dedup.canonical import bare, identity
from newsportal.items import Link
from newsportal.text import letters

SEVERAL: Final = 3
"""Different titles and addresses under one identity. Two are a headline and its 「详细」 with another parameter."""

MIN_TITLE: Final = 4
"""Letters of the shortest title that is one: 「详细」「更多」「图文」 are none."""


def spellings(links: Sequence[Link]) -> list[str]:
    """The names that links would have if they were known by their spelling alone, of those that would have another one than now."""
    return [name for link in links if link.identity is None and (name := bare(link.url)) != identity(link.url)]


def set_apart(links: Sequence[Link], known: Container[str]) -> list[Link]:
    """``links`` with an ``identity`` where they have to be told apart. ``known``: spellings that are stored, and so apart already."""
    groups: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        if link.identity is None:
            groups[identity(link.url)].append(link)
    joined = {name for name, group in groups.items() if len(group) > 1 and _differ(group)}
    joined |= {name for name, group in groups.items() if any(bare(one.url) != name and bare(one.url) in known for one in group)}
    return [replace(link, identity=bare(link.url)) if link.identity is None and identity(link.url) in joined else link for link in links]


def shared(links: Sequence[Link]) -> bool:
    """Whether several entries with titles of their own lead to one and the same address: there is one page to be had of them."""
    titles: dict[str, set[str]] = defaultdict(set)
    for link in links:
        titles[link.identity or bare(link.url)].add(letters(link.title or ""))
    return any(sum(len(title) >= MIN_TITLE for title in group) >= SEVERAL for group in titles.values())


def _differ(group: Sequence[Link]) -> bool:
    titled = {(bare(link.url), letters(link.title or "")) for link in group if len(letters(link.title or "")) >= MIN_TITLE}
    return min(len({url for url, _ in titled}), len({title for _, title in titled})) >= SEVERAL
