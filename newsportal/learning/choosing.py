"""Which stored articles label themselves: pure.

An article from a feed or channel whose category is known has that label. A story counts once, however many sites have it: its reposts
would only teach their own wording. And no site may give more than half of a label, lest the site's style be learnt for the subject.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

PER_LABEL: Final = 5000
"""Documents of a label at most: more hardly help a linear model, and training takes longer."""

ALONE: Final = 200
"""Documents that a site may give to a label whatever others give."""

LEAST_CHARS: Final = 100
"""Characters of a text that is worth learning from: shorter ones are often pictures or players with a line of text."""

Reason = Literal["short", "earlier", "repost", "disputed", "dominant", "plenty"]
"""Why an article is left: a short text; its story is in the corpus; another version of its story was taken; sources give its story
different categories; its site gives enough of the label; the label has enough."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored article whose source has a category; ``head``: it is the original of its story."""

    id: str
    story_id: str
    label: str
    site: str
    moment: datetime
    chars: int
    head: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """The articles that join the corpus, and how many were left for what reason; ``alone``: labels that one site gives."""

    chosen: tuple[Candidate, ...]
    left: Mapping[Reason, int]
    alone: tuple[str, ...]


def choose(
    candidates: Iterable[Candidate],
    stories: frozenset[str],
    there: Mapping[str, Mapping[str, int]],
    *,
    least_chars: int = LEAST_CHARS,
    per_label: int = PER_LABEL,
) -> Choice:
    """Choose among articles; ``stories`` are in the corpus already, ``there`` counts its documents by label and site."""
    left: Counter[Reason] = Counter()
    by_label: dict[str, dict[str, list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    for one in _one_a_story(candidates, stories, least_chars, left):
        by_label[one.label][one.site].append(one)
    chosen, alone = [], []
    for label, sites in sorted(by_label.items()):
        counts = Counter(there.get(label, {}))
        chosen += _balanced(sites, counts, per_label, left)
        if len(+counts) == 1:
            alone.append(label)
    return Choice(tuple(chosen), dict(left), tuple(alone))


def _one_a_story(candidates: Iterable[Candidate], stories: frozenset[str], least: int, left: Counter[Reason]) -> list[Candidate]:
    versions: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        if one.story_id in stories:
            left["earlier"] += 1
        else:
            versions[one.story_id].append(one)
    found = []
    for several in versions.values():
        long = [one for one in several if one.chars >= least]
        left["short"] += len(several) - len(long)
        if len({one.label for one in several}) > 1:
            left["disputed"] += len(long)
        elif long:
            left["repost"] += len(long) - 1
            found.append(min(long, key=lambda one: (not one.head, one.moment, one.id)))
    return found


def _balanced(sites: Mapping[str, list[Candidate]], counts: Counter[str], per_label: int, left: Counter[Reason]) -> list[Candidate]:
    """The newest of each site in turns, the site with fewest documents first; ``counts`` go up."""
    waiting = {site: sorted(ones, key=lambda one: (one.moment, one.id)) for site, ones in sites.items()}
    chosen: list[Candidate] = []
    while waiting:
        site = min(waiting, key=lambda name: (counts[name], name))
        total = counts.total()
        others = total - counts[site] + sum(len(ones) for name, ones in waiting.items() if name != site)
        if total >= per_label:
            left["plenty"] += sum(map(len, waiting.values()))
            break
        if others and counts[site] >= max(ALONE, total - counts[site]):
            left["dominant"] += len(waiting.pop(site))
            continue
        chosen.append(waiting[site].pop())
        counts[site] += 1
        if not waiting[site]:
            del waiting[site]
    return chosen
