"""``newsletters:`` in sources.yaml: mails of a mailbox, or of a folder of files, that are read like a feed."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Self
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field, model_validator

from newsportal.items import Link, content_id
from newsportal.messages import Message
from newsportal.sources.places import ArticlePlace
from newsportal.sources.uris import UNSAFE, mask
from newsportal.sources.values import CONTROL, FilePath, Filled, Secret, Words, mistake

if TYPE_CHECKING:
    from newsportal.extractors.feeds.mail import Mail
    from newsportal.net.egress.mailbox import Mailbox, MailFilter

SCHEMES: Final = {"imaps": 993, "imap": 143}
NO_USER: Final = re.compile(r"""[\s"(){}%*\]\\]""")  # invalid characters of user names in IMAP (RFC 3501: atom)


def _mailbox(uri: str) -> str:
    try:
        parts = urlsplit(uri)
        user = unquote(parts.username or "")
        valid = parts.scheme in SCHEMES and parts.hostname and parts.port != 0 and user and not NO_USER.search(user)
    except ValueError:
        valid = False
    if not valid or UNSAFE.search(uri) or CONTROL.search(unquote(uri)):
        raise mistake(Message("sources.invalid-mailbox", found=repr(mask(uri))))
    if parts.password is not None:
        raise mistake(Message("sources.mailbox-password"), Message("hint.mailbox-password"), at=())
    return uri


MailboxUri = Annotated[Filled, AfterValidator(_mailbox)]


class Newsletter(ArticlePlace):
    """Newsletters or a mailing list, from a mailbox or a folder of mails."""

    family: ClassVar[str] = "newsletter"

    imap: MailboxUri | None = None
    """A mailbox and a folder in it: imaps://USER@HOST/FOLDER, by default INBOX. Read-only: no mail is changed, moved or marked."""
    password: Secret | None = None
    """Its password, from the environment (${NAME})."""
    folder: FilePath | None = None
    """In place of imap: a folder of mails as files (*.eml), or a maildir."""
    from_: Words = Field(default=(), alias="from")
    """If given, only mails whose From contains one of these: an address, or the part after its @."""
    list_: Words = Field(default=(), alias="list")
    """If given, only mails whose List-Id contains one of these."""
    max_age: Annotated[float, Field(gt=0, le=3650)] = 30.0
    """Maximum age in days of mails at the first visit; of a folder of files all are read."""
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    """Maximum mails per visit; the others wait for the next."""
    articles: bool = False
    """true: the pages to which a mail links are fetched as articles, in place of the mail; false: the mail itself is the article."""

    @property
    def mailbox(self) -> Mailbox:
        from newsportal.net.egress.mailbox import Mailbox  # loads the network libraries, which most readers of the file do not need

        if self.imap is None:
            return Mailbox(str(self.folder))
        parts, password = urlsplit(self.imap), self.password.get_secret_value() if self.password else ""
        name, tls, port = unquote(parts.path).strip("/") or "INBOX", parts.scheme == "imaps", parts.port or SCHEMES[parts.scheme]
        return Mailbox(name, parts.hostname or "", port, tls, unquote(parts.username or ""), password, self.verify_certificate)

    def wanted(self, after: str | None, now: datetime) -> MailFilter:
        """Return the mails that a visit at ``now`` requests from its mailbox, which was read up to ``after``."""
        from newsportal.net.egress.mailbox import MailFilter

        return MailFilter(after, now - timedelta(days=self.max_age), self.limit, self.from_, self.list_)

    def entry(self, id: str) -> Link:
        """Return a mail as a feed entry that is the article itself; a mail in two mailboxes is one article."""
        identity = f"mid:#{content_id(id)}"
        return Link(f"mid:{id}", self.key, site=self.publisher, category=self.category, identity=identity)

    def links(self, mail: Mail) -> list[Link]:
        """Return the links of a mail: itself, or with ``articles: true`` the pages it links to, if any."""
        entry = replace(self.entry(mail.id), published=mail.published)
        if self.articles and mail.links:
            return [replace(entry, identity=None, url=url, title=title) for url, title in mail.links]
        return [replace(entry, url=mail.url, title=mail.title, author=mail.author, content=mail.html)]

    @property
    def addresses(self) -> tuple[str, ...]:
        """The URL of its mailbox, without the user."""
        return (self.mailbox.address,)

    @model_validator(mode="after")
    def _lies_in_one_place(self) -> Self:
        if (self.imap is None) == (self.folder is None):
            raise mistake(Message("sources.mailbox-or-folder"))
        if (self.imap is None) != (self.password is None):
            raise mistake(Message("sources.mailbox-password-missing"), at=("password",))
        return self


def check_encrypted(newsletters: tuple[Newsletter, ...], allow_private: tuple[str, ...]) -> None:
    """Raise a mistake for a mailbox without TLS at a host not listed in ``politeness.allow_private``."""
    for index, source in enumerate(newsletters):
        if source.imap is not None and source.imap.startswith("imap:"):
            from newsportal.net.egress import Policy

            mailbox, policy = source.mailbox, Policy(allow_private)
            if not policy.lists_host(mailbox.host, mailbox.port):
                raise mistake(Message("sources.mailbox-unencrypted", host=mailbox.host), at=("newsletters", index, "imap"))
