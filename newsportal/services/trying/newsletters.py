"""What a newsletter gives right now: some of its mails, one of them read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from newsportal.errors import NotApplicable, Unfetched
from newsportal.extractors.article.tidy import read_fragment
from newsportal.extractors.feeds.mail import parse
from newsportal.items import Link
from newsportal.messages import Message
from newsportal.net.egress import Policy
from newsportal.net.egress.mailbox import read_mailbox
from newsportal.services.trying.trial import ArticleTrial, Trial
from newsportal.sources import Newsletter, Sources

MOST: Final = 5  # mails that are looked at


def newsletter_trial(source: Newsletter, known: Sources) -> tuple[Trial, ArticleTrial | None]:
    """What a first visit takes of the mailbox, and the first mail that can be read."""
    address, polite = source.mailbox.address, known.politeness
    wanted = replace(source.wanted(None, datetime.now(UTC)), limit=MOST)
    try:
        found = read_mailbox(source.mailbox, wanted, Policy(polite.allow_private), polite.timeout)
    except Unfetched as error:
        return Trial(source.key, address, failure=error.message), None
    links: list[Link] = []
    reading = None
    for raw in found.mails:
        try:
            mail = parse(raw.raw, raw.received, raw.is_cut)
        except NotApplicable as why:
            reading = reading or ArticleTrial(address, failure=why.message)
            continue
        links += source.links(mail)
        if reading is None or reading.found is None:
            read = replace(read_fragment(mail.html, mail.url), title=mail.title, published=mail.published, author=mail.author)
            reading = ArticleTrial(mail.url, read)
    notes = (Message("look.mails", number=len(found.mails) + found.left),)
    return Trial(source.key, address, tuple(links), notes, None if found.mails else Message("find.no-mails")), reading
