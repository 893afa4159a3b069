"""One source of ``sources.yaml`` tried as a whole: its list page, and one article, thread or story of it."""

from __future__ import annotations

from typing import Any

from newsportal import engines
from newsportal.errors import NewsportalError
from newsportal.messages import to_json
from newsportal.sources import Feed, Forum, Gallery, Region, Sitemap, Source, Sources
from newsportal.sources.spelling import did_you_mean
from newsportal.trying.forum import forum_trial
from newsportal.trying.gallery import gallery_trial
from newsportal.trying.trial import Reading, Trial, article, engine_trial, fetcher, query_for, trials

Tried = list[tuple[Trial, Reading | None]]


def tried(name: str, known: Sources, query: str | None = None) -> Tried:
    """The source (or engine, or topic) of this key or name. Raises ``NewsportalError`` where there is none."""
    found = known.find(name)
    plain = name.removeprefix("engine:")
    if not found and plain in engines.ENGINES:
        fetch = fetcher(known)
        trial = engine_trial(plain, known, fetch, query or query_for(plain, known))
        return [(trial, article(trial, None, fetch))]
    if not found:
        raise NewsportalError(unknown(name, known))
    return tried_source(found[0], known, query)


def tried_source(source: Source, known: Sources, query: str | None = None) -> Tried:
    """``source`` as it stands there, also where the file does not have it yet."""
    fetch = fetcher(known, verify=getattr(source, "verify_certificate", True), render=getattr(source, "render", False))
    if isinstance(source, Forum):
        return [forum_trial(source, fetch)]
    if isinstance(source, Gallery):
        return [gallery_trial(source, fetch)]
    rule = source.article if isinstance(source, Feed | Sitemap | Region) else None
    return [(trial, article(trial, rule, fetch)) for trial in trials(source, known, fetch, query)]


def unknown(name: str, known: Sources) -> str:
    """The sentence for a name that no source has."""
    hint = did_you_mean(name, [source.name for source in known.all()] + list(engines.ENGINES))
    return f"sources.yaml has no source {name!r}" + (f"; {hint}" if hint else "; see: newsportal source list")


def plain(trial: Trial, reading: Reading | None) -> dict[str, Any]:
    """A trial as JSON values."""
    links = [{"url": link.url, "title": link.title, "published": link.published and link.published.isoformat()} for link in trial.links]
    failure, notes = trial.failure and to_json(trial.failure), [to_json(note) for note in trial.notes]
    told: dict[str, Any] = {"key": trial.key, "url": trial.url, "failure": failure, "notes": notes, "links": links}
    if reading is None:
        return told | {"article": None}
    found = reading.found
    said = {"title": found.title, "published": found.published and found.published.isoformat(), "author": found.author} if found else {}
    text: dict[str, Any] = {"text": found.text, "algorithm": found.algorithm} if found else {}
    text |= {"note": to_json(reading.note)} if reading.note else {}
    return told | {"article": {"url": reading.url, "failure": reading.failure and to_json(reading.failure), **said, **text}}
