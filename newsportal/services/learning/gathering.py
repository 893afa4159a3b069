"""Gather labelled documents from stored articles: those of sources with a category in ``sources.yaml``, and those corrected by editors."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from newsportal.classify.base import Progress, ignore_progress
from newsportal.sources import Sources
from newsportal.store.article_rows import EDITOR
from newsportal.store.labels import CATEGORIES, Document, ImportResult, LabelSource, NewDocument
from newsportal.store.store import Store

PER_LABEL: Final = 5000  # maximum documents of a label: more hardly improve a linear model, and slow down training
ALONE: Final = 200  # documents of a label that a site may contribute regardless of other sites
MIN_CHARS: Final = 100  # minimum characters of a training text: shorter ones often accompany pictures or players
Reason = Literal["short", "earlier", "repost", "disputed", "dominant", "plenty"]
"""Why an article is not used: a short text; its story is in the corpus; another version of its story was chosen; sources give its story
different categories; its site dominates the label; the label has enough."""


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
    """The chosen articles, and the numbers of others by reason; ``single_site``: labels with documents of one site only."""

    chosen: tuple[Candidate, ...]
    left: Mapping[Reason, int]
    single_site: tuple[str, ...]


def choose(
    candidates: Iterable[Candidate],
    stories: frozenset[str],
    existing: Mapping[str, Mapping[str, int]],
    *,
    least_chars: int = MIN_CHARS,
    per_label: int = PER_LABEL,
) -> Choice:
    """Choose among articles. ``stories``: already in the corpus; ``existing``: counts of its documents by label and site."""
    skipped: Counter[Reason] = Counter()
    by_label: dict[str, dict[str, list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    for candidate in _one_a_story(candidates, stories, least_chars, skipped):
        by_label[candidate.label][candidate.site].append(candidate)
    selected, single_site = [], []
    for label, sites in sorted(by_label.items()):
        counts = Counter(existing.get(label, {}))
        selected += _balanced(sites, counts, per_label, skipped)
        if len(+counts) == 1:
            single_site.append(label)
    return Choice(tuple(selected), dict(skipped), tuple(single_site))


def _one_a_story(candidates: Iterable[Candidate], stories: frozenset[str], min_chars: int, skipped: Counter[Reason]) -> list[Candidate]:
    versions: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.story_id in stories:
            skipped["earlier"] += 1
        else:
            versions[candidate.story_id].append(candidate)
    found = []
    for copies in versions.values():
        long = [candidate for candidate in copies if candidate.chars >= min_chars]
        skipped["short"] += len(copies) - len(long)
        if len({candidate.label for candidate in copies}) > 1:
            skipped["disputed"] += len(long)
        elif long:
            skipped["repost"] += len(long) - 1
            found.append(min(long, key=lambda candidate: (not candidate.head, candidate.moment, candidate.id)))
    return found


def _balanced(sites: Mapping[str, list[Candidate]], counts: Counter[str], per_label: int, skipped: Counter[Reason]) -> list[Candidate]:
    """Choose the newest articles of each site, starting with the site with fewest documents; updates ``counts``."""
    waiting = {site: sorted(articles, key=lambda article: (article.moment, article.id)) for site, articles in sites.items()}
    selected: list[Candidate] = []
    while waiting:
        site = min(waiting, key=lambda name: (counts[name], name))
        total = counts.total()
        others = total - counts[site] + sum(len(articles) for name, articles in waiting.items() if name != site)
        if total >= per_label:
            skipped["plenty"] += sum(map(len, waiting.values()))
            break
        if others and counts[site] >= max(ALONE, total - counts[site]):
            skipped["dominant"] += len(waiting.pop(site))
            continue
        selected.append(waiting[site].pop())
        counts[site] += 1
        if not waiting[site]:
            del waiting[site]
    return selected


AT_ONCE: Final = 500  # articles between two reports of progress


@dataclass(frozen=True, slots=True)
class GatherResult:
    """Documents added to a corpus from stored articles, and labels given by editors."""

    added: int
    by_editors: int
    choice: Choice


def gather(
    sources: Sources, store: Store, name: str, *, min_chars: int = MIN_CHARS, per_label: int = PER_LABEL, since: datetime | None = None,
    progress: Progress = ignore_progress,
) -> GatherResult:  # fmt: skip
    """Add stored articles to the corpus ``name``, which is created if needed. Labels given by a classifier are not used."""
    labels = categories(sources)
    labelled = store.corpora.articles(name) if store.corpora.find(name) else {}
    stories, counts = set[str](), defaultdict[str, Counter[str]](Counter)
    candidates, corrected = [], []
    total = max(1, store.tally().articles)
    for number, article in enumerate(store.all_articles()):
        if number % AT_ONCE == 0:
            progress(min(1.0, number / total), "checking articles")
        label = labelled.get(article.id)
        if article.category_by == EDITOR and article.category and (label or article.id not in labelled):  # not excluded by an editor
            corrected.append(NewDocument(article.category, article_id=article.id))
            label = article.category
        if label or article.id in labelled:
            stories.add(article.story_id)
        elif article.source in labels and article.category_by != EDITOR and (since is None or article.moment >= since):
            identity = (article.id, article.story_id, labels[article.source], article.publisher)
            candidates.append(Candidate(*identity, article.moment, len(article.text), article.fold_of is None))
        if label:
            counts[label][article.publisher] += 1
    edited = _join(store, name, corrected, "editor")
    choice = choose(candidates, frozenset(stories), counts, least_chars=min_chars, per_label=per_label)
    joined = _join(store, name, [NewDocument(candidate.label, article_id=candidate.id) for candidate in choice.chosen], "from-store")
    return GatherResult(joined.added, edited.added + edited.relabelled, choice)


def _join(store: Store, name: str, documents: Sequence[NewDocument], source: LabelSource) -> ImportResult:
    if not documents:
        return ImportResult()
    store.corpora.create(name, now=datetime.now(UTC), note="from-articles")
    return store.corpora.add(name, documents, source=source, now=datetime.now(UTC))


def categories(sources: Sources) -> dict[str, str]:
    """Return source key → category for sources whose articles are labelled by it, excluding those with ``auto_classify``."""
    return {
        place.key: place.category
        for place in (*sources.feeds, *sources.sitemaps, *sources.regions)
        if place.category and not getattr(place, "auto_classify", False)
    }


def label_document(store: Store, corpus: str, id: str, label: str | None, *, by: str | None, now: datetime) -> Document:
    """Set an editor's label on a document of a corpus or a stored article; ``None``: exclude it from training permanently. In the corpus of
    categories it also becomes the article's category, regardless of models. Raises ``StoreError``."""
    found = store.corpora.label(corpus, id, label, by=by, now=now)
    if corpus == CATEGORIES and found.article_id and label is not None:
        store.set_category(found.article_id, found.label.label, by=EDITOR, now=now)
    return found
