"""Hints printed with a result: which sources file is used, whether the network is down, advice after a crawl without results."""

from urllib.parse import urlsplit

import typer

from newsportal.errors import EgressDenied
from newsportal.items.report import Run
from newsportal.messages import did_you_mean
from newsportal.sources import Sources
from newsportal.sources.places import Place

UNREACHED_REASONS = frozenset({"robots-unreachable", "dns", "connection", "timeout"})
"""Reasons without any response of a host. If all list pages fail so, probably our network is down."""

NO_NETWORK = "no host could be reached: is there a network? Diagnose it with `newsportal doctor`"


def counted(number: int, noun: str) -> str:
    """``1 link``, ``2 links``, ``2 stories``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def is_offline(run: Run) -> bool:
    """Return whether every list page failed before its host responded."""
    total = run.total
    return bool(total.list_failed) and not total.list_pages and not total.not_modified and UNREACHED_REASONS.issuperset(total.list_failed)


def hints_after_crawl(run: Run, sources: Sources) -> list[str]:
    """Return the hints to print below the report, one per line; usually none."""
    if not run.sources and not any(source.enabled for source in sources.all()):
        return ["there is nothing to visit yet: add a feed or a channel with `newsportal source add https://...`"]
    found = [NO_NETWORK] if is_offline(run) else []
    if left := run.total.left:
        found.append(f"{counted(left, 'link')} left when the crawl ended: the next crawl continues with them")
    return found


def packaged_file_hint(sources: Sources) -> str | None:
    """Return a hint if there is no file and the packaged one is used."""
    if sources.path is None or sources.path.exists():
        return None
    return f"no {sources.path.name} here or above: using the example of newsportal. For your own: newsportal source init"


def warn_unknown_topic(sources: Sources, topic: str | None) -> None:
    """Print a hint for a topic that the file does not have (stored articles may still have it)."""
    names = [item.name for item in sources.topics]
    if topic is not None and topic not in names:
        near = did_you_mean(topic, names)
        typer.echo(f"sources.yaml has no topic {topic!r}; it has: {', '.join(names) or 'none'}" + (f" ({near})" if near else ""), err=True)


MAX_HOSTS = 5  # a few suffice: one that can be resolved means that the network is up


def source_hosts(sources: Sources) -> list[str]:
    """Return some hosts of the first sources."""
    urls = [
        url
        for source in sources.all()
        if source.enabled and isinstance(source, Place)
        for url in getattr(source, "seeds", None) or source.addresses
    ]
    return list(dict.fromkeys(host for url in urls if (host := urlsplit(url).hostname)))[:MAX_HOSTS]


def resolvable_hosts(sources: Sources) -> list[str]:
    from newsportal.net import egress

    policy, found = egress.Policy(allow_private=tuple(sources.politeness.allow_private)), []
    for host in source_hosts(sources):
        try:
            found += [host] if egress.resolve(host, policy) else []
        except EgressDenied:  # it can be resolved, to a forbidden IP address
            found.append(host)
        except OSError:
            continue
    return found


def is_network_down(sources: Sources) -> bool:
    """Return whether none of several hosts can be resolved. A single one is no evidence: it may have vanished."""
    return len(source_hosts(sources)) > 1 and not resolvable_hosts(sources)
