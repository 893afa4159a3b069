"""Several addresses, or a list of another reader, looked at one after another: what the wizard shows to choose from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from newsportal.errors import NewsportalError
from newsportal.messages import Message
from newsportal.services.discovery.opml import read
from newsportal.services.discovery.proposal import Kind, Proposal
from newsportal.services.discovery.search import MAX_REQUESTS
from newsportal.services.trying.polite_fetch import visitor
from newsportal.services.trying.proposing import MORE, AlreadyThere, Family, Overlap, entry, planned, proposed
from newsportal.services.trying.trial import Reading
from newsportal.sources import Sources

MAX_ADDRESSES = 10  # of one look: each may take some twenty requests, a second apart


@dataclass(frozen=True, slots=True)
class Choice:
    """A source that may be added: its list in ``sources.yaml`` and its values there. ``best``: what one would take.

    ``proposal`` and ``reading`` tell what it brings, as far as it was looked at.
    """

    kind: Kind
    values: dict[str, Any]
    best: bool = True
    proposal: Proposal | None = None
    reading: Reading | None = None
    overlap: Overlap | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What one address offers; ``error``: why nothing; ``there``: the source that has it already."""

    url: str
    choices: tuple[Choice, ...] = ()
    notes: tuple[Message, ...] = ()
    error: NewsportalError | None = None
    there: str | None = None


def looked(
    addresses: Sequence[str], known: Sources, tell: Callable[[str], None], *, kind: Family | None = None, everything: bool = False
) -> list[Found]:
    """Each address in its turn; ``tell`` is called with every address that is asked, and ends all by raising."""
    found = []
    taken: dict[Kind, set[str]] = {}
    for url in addresses[:MAX_ADDRESSES]:
        tell(url)
        one, choices = _looked(url, known, tell, kind, everything), list[Choice]()
        for choice in one.choices:
            names = taken.setdefault(choice.kind, set())
            if choice.proposal is not None and choice.values["name"] in names:
                choice = replace(choice, values={**choice.values, **entry(choice.proposal, None, None, known, names)})
            names.add(choice.values["name"])
            choices.append(choice)
        found.append(replace(one, choices=tuple(choices)))
    return found


def _looked(url: str, known: Sources, tell: Callable[[str], None], kind: Family | None, everything: bool) -> Found:
    visit = visitor(known, most=MAX_REQUESTS + MORE, tell=tell)
    try:
        offer = proposed(url, known, visit, kind=kind, everything=everything)
    except AlreadyThere as error:
        return Found(url, error=error, there=error.key)
    except NewsportalError as error:
        tell(url)  # which raises where that is why it ended
        return Found(url, error=error)
    choices = [
        Choice(one.proposal.kind, dict(one.values), place == 0, one.proposal, one.reading, one.overlap)
        for place, one in enumerate(offer.previews)
    ]
    there = None
    for other in offer.others:
        try:
            choices.append(Choice(other.kind, dict(entry(other, None, None, known)), best=False, proposal=other))
        except AlreadyThere as error:
            there = error.key
    return Found(url, tuple(choices), offer.notes, there=there)


def listed(body: bytes, known: Sources) -> list[Found]:
    """The feeds of an OPML list; those that are there already named. Raises ``BadOpml``. No request is made."""
    plan = planned(read(body).feeds, known, None)
    found = [Found(str(values["url"]), (Choice("feeds", dict(values)),)) for values in plan.new]
    found += [Found(url, there=key) for url, key in plan.there]
    return [*found, *(Found(url, error=NewsportalError(why)) for url, why in plan.bad)]
