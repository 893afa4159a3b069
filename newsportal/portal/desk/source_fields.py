"""The form of a source: its keys in ``sources.yaml``, how each is shown in a field, and how a field's text is parsed.

``newsportal.sources`` validates the texts: fields pass on what was typed.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote

from newsportal.extractors import EXTRACTORS
from newsportal.extractors.lists.boards import presets
from newsportal.portal.language import _
from newsportal.portal.request_body import FormFields

Widget = Literal["text", "address", "lines", "words", "number", "switch", "exception", "choice", "topics"]
"""How a key is edited: one line, one value per line, words separated by commas, a number, a switch, true or false or unset …"""


@dataclass(frozen=True, slots=True)
class Field:
    """``key`` as in the file; ``article.body`` is within a part. ``hint``: shown below the field. ``usual``: the default, not saved."""

    key: str
    label: str
    widget: Widget
    hint: str | None = None
    usual: bool | None = None
    required: bool = False
    choices: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"field-{self.key.replace('.', '-')}"


NAME = Field("name", _("Name of the source"), "text", _("Visible to readers. After renaming, its figures start again."), required=True)
TOPICS = Field("topics", _("Topics"), "topics", _("Assigned to every article of this source."))
CATEGORY = Field("category", _("Category"), "text", _("Of its articles."))
CLASSIFY = Field("auto_classify", _("Assign categories by the classifier"), "switch", usual=False)
SITE = Field("site", _("Publisher"), "text", _("If its pages do not state them."))
INTERVAL = Field("interval", _("Minutes between visits"), "number", _("Empty: the schedule decides."))
PRIORITY = Field("priority", _("Priority, from 1 to 9"), "number", _("9 is fetched first, on any host. Empty: 5."))
RENDER = Field("render", _("Open pages in a browser first"), "switch", _("For sites that need scripts."), usual=False)
ROBOTS = Field("obey_robots", _("Obey robots.txt"), "exception", _("No: only with the owner's permission."))
CERTIFICATE = Field("verify_certificate", _("Check the certificate"), "switch", usual=True)
ALLOW = Field("allow", _("Only addresses with"), "lines", _("One per line: a part of the URL, or re: and a regular expression."))
DENY = Field("deny", _("Never addresses with"), "lines")
AGE = Field("max_age", _("Oldest, in days"), "number")

EXTRACTOR: Final = (
    Field("extractor.method", _("Extraction method"), "choice", _("Empty: the setting for all sources."),
          choices=tuple(EXTRACTORS)),
    Field("extractor.P", _("table_stats: minimum length of a block (P)"), "number"),
    Field("extractor.T", _("table_stats: minimum share of an inner block (T)"), "number"),
)  # fmt: skip

TOPIC_FIELDS: Final = (TOPICS, CATEGORY)
VISIT_FIELDS: Final = (SITE, INTERVAL, PRIORITY, RENDER, ROBOTS, CERTIFICATE)
ARTICLE_FIELDS: Final = (
    Field("article.body", _("Body"), "text",
          _("CSS, XPath, or re: and a regular expression, for pages with poor results. Empty: no rule.")),
    Field("article.title", _("Title"), "text"), Field("article.date", _("Date"), "text"),
    Field("article.author", _("Author"), "text"), Field("article.remove", _("Removed parts"), "lines"),
)  # fmt: skip
Fields = tuple[Field, ...]
Group = tuple[str, Fields]


def _form(
    urls: Fields, reads: Fields, visits: Fields = VISIT_FIELDS, place: Fields = (*TOPIC_FIELDS, CLASSIFY), article: Fields = ARTICLE_FIELDS
) -> tuple[Group, ...]:
    groups = (
        (_("Location"), urls), (_("Classification"), place), (_("What is read"), reads), (_("Visits"), visits),
        (_("Selectors for articles"), article),
    )  # fmt: skip
    return tuple((name, fields) for name, fields in groups if fields)


FORMS: Final[Mapping[str, tuple[Group, ...]]] = {
    "feeds": _form(
        (NAME, Field("url", _("URL of the feed"), "address", required=True)),
        (
            Field("language", _("Language"), "text", _("zh, zh-Hant, en …; empty: as declared by the pages.")),
            Field("fulltext", _("Use the text of the feed if a page cannot be read"), "switch", usual=False), *EXTRACTOR,
        ),
    ),
    "sitemaps": _form(
        (NAME, Field("url", _("URL of the sitemap"), "address", _("Or URL of the site's robots.txt."), required=True)),
        (ALLOW, DENY, AGE, Field("limit", _("Maximum articles per visit"), "number"), *EXTRACTOR),
    ),
    "regions": _form(
        (
            NAME, Field("prefix", _("Prefix of its articles' URLs"), "address", required=True),
            Field("seeds", _("List pages"), "lines", _("One per line. Empty: the URL above.")),
        ),
        (
            ALLOW, DENY, Field("pages", _("Pages per list"), "number"),
            Field("depth", _("Depth of hub pages"), "number", _("Levels below the list pages; 0: only the list pages.")),
            Field("hubs", _("Maximum hub pages per visit"), "number"), *EXTRACTOR,
        ),
        (Field("hours", _("Hours of the day"), "text", _("Such as 6-24 or 6-9,18-23.")), *VISIT_FIELDS),
    ),
    "forums": _form(
        (
            NAME, Field("url", _("Front page"), "address", _("For the page of a board, only that board is read."), required=True),
            Field("boards", _("Boards"), "lines", _("List pages of the boards, one per line. Empty: those found on the front page.")),
        ),
        (AGE, Field("pages", _("Pages per board"), "number"), Field("depth", _("Pages per thread and visit"), "number")),
        place=TOPIC_FIELDS, article=(),
    ),
    "galleries": _form(
        (NAME, Field("seeds", _("Index pages"), "lines", _("One a line."), required=True)),
        (
            Field("seed", _("Part of a story's URL"), "text"),
            Field("banned_seed", _("Parts that exclude a URL"), "lines"),
            Field("pattern", _("Pattern of further pages"), "text", _("Such as {id}_{n}.html.")),
            Field("pages", _("Pages per index"), "number"),
        ),
        (
            Field("weight", _("Weight, from 1 to 10"), "number", _("Higher weights are visited more often.")),
            Field("min_period", _("Shortest time between visits, in minutes"), "number"),
            Field("max_period", _("Longest time between visits, in minutes"), "number"), *VISIT_FIELDS,
        ),
        article=(),
    ),
    "lists": _form(
        (
            NAME,
            Field("preset", _("Known board"), "choice", _("Its address and rules; never tried on the live site."),
                  choices=tuple(presets())),
            Field("url", _("URL of the list"), "address", _("Empty: that of the known board.")),
        ),
        (
            Field("articles", _("Fetch the pages of its entries as articles"), "switch", usual=False),
            Field("format", _("Format of the list"), "choice", choices=("json", "html")),
            Field("items", _("Entries"), "text",
                  _("JMESPath in JSON; CSS, XPath or re: in HTML. Empty: as the known board.")),
            Field("title", _("Title"), "text"), Field("link", _("Link"), "text"),
            Field("rank", _("Rank"), "text", _("Empty: the order of the list.")),
            Field("heat", _("Heat"), "text"),
            Field("limit", _("Entries at most"), "number"), *EXTRACTOR,
        ),
    ),
    "newsletters": _form(
        (
            NAME,
            Field("imap", _("Mailbox"), "text", _("imaps://USER@HOST/FOLDER. Read-only: no mail is changed, moved or marked.")),
            Field("password", _("Password"), "text", _("${NAME}, a variable of the environment; never the password itself.")),
            Field("folder", _("Folder of mails"), "text", _("Instead of a mailbox: .eml files, or a maildir.")),
        ),
        (
            Field("from", _("Only mails from"), "lines", _("One per line: an address, or the part after its @. Empty: all mails.")),
            Field("list", _("Only mails of the lists"), "lines", _("One per line: a part of the List-Id header.")),
            Field("articles", _("Fetch the pages to which a mail links as articles"), "switch", _("Instead of the mail itself."),
                  usual=False),
            Field("max_age", _("Oldest, in days"), "number", _("At the first visit of a mailbox.")),
            Field("limit", _("Maximum mails per visit"), "number"), *EXTRACTOR,
        ),
    ),
    "engines": _form(
        (
            NAME,
            Field("url", _("URL of a result page"), "address",
                  _("With ##QUERY## in place of the words, and ##START## in place of the offset."), required=True),
            Field("kind", _("Kind of results"), "choice", choices=("news", "web")),
            Field("encoding", _("Encoding of the words"), "text"),
            Field("first", _("Offset of the first page"), "number"),
            Field("step", _("Added for each further page"), "number"),
            Field("rest", _("Pause after a captcha, in minutes"), "number"), ROBOTS,
        ),
        (
            Field("wrapper.block", _("Element of one result"), "lines",
                  _("CSS selector, XPath, or re: and a regular expression; empty: found automatically.")),
            Field("wrapper.title", _("Title"), "lines"),
            Field("wrapper.link", _("Link"), "lines"),
            Field("wrapper.site", _("Publisher"), "lines"),
            Field("wrapper.summary", _("Summary"), "lines"),
            Field("wrapper.date", _("Date"), "lines"), *EXTRACTOR,
        ),
        (), (), (),
    ),
}  # fmt: skip
"""The lists of ``sources.yaml`` → the groups of their form."""

KINDS: Final[Mapping[str, str]] = {
    "feeds": _("Feed"),
    "sitemaps": _("Sitemap"),
    "regions": _("Channel of a site"),
    "forums": _("Forum"),
    "galleries": _("Photo stories"),
    "lists": _("Hot list"),
    "newsletters": _("Newsletter"),
    "engines": _("Search engine"),
}

FAMILIES: Final[Mapping[str, str]] = dict(
    zip(("feed", "sitemap", "region", "forum", "gallery", "list", "newsletter", "engine"), KINDS, strict=True)
)  # prefix of a source's key → its list


def field_text(field: Field, entry: Mapping[str, Any]) -> str | tuple[str, ...]:
    """Return the field's text for an entry of the file; for topics, their names."""
    value: Any = entry
    for step in field.key.split("."):
        value = value.get(step) if isinstance(value, Mapping) else value if step == "method" else None  # a method given by name
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if field.widget == "topics":
        return tuple(map(str, value)) if is_list else (str(value),) if value else ()
    if field.widget == "lines":
        return "\n".join(map(str, value)) if is_list else str(value or "")
    if field.widget == "switch":
        return "yes" if (field.usual if value is None else value) else ""
    if field.widget == "exception":
        return "" if value is None else "yes" if value else "no"
    return ",".join(map(str, value)) if is_list else "" if value is None else str(value)


def parse_field(field: Field, fields: FormFields) -> Any:
    """Parse what was sent into a value for the file; ``None``: the key is omitted."""
    texts = [text.strip() for text in fields.getlist(field.key) if text.strip()]
    text = texts[-1] if texts else ""
    if field.widget == "topics":
        return texts or None
    if field.widget == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()] or None
    if field.widget == "switch":
        return None if bool(text) is field.usual else bool(text)
    if field.widget == "exception":
        return {"yes": True, "no": False}.get(text)
    return (parse_number(text) if field.widget == "number" else text) if text else None


def parse_number(text: str) -> int | float | str:
    """Parse a number; return any other text unchanged, to be reported by the checks."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def parse_form(form: Iterable[Group], fields: FormFields) -> dict[str, Any]:
    """Return all values of a form, parts as mappings; keys with ``None`` are omitted from the file."""
    values: dict[str, Any] = {}
    for field in (field for _name, fields in form for field in fields):
        value, (first, _dot, inner) = parse_field(field, fields), field.key.partition(".")
        if inner:
            values.setdefault(first, {})[inner] = value
        else:
            values[first] = value
    return values


def source_path(key: str, tail: str = "") -> str:
    return f"/sources/{quote(key, safe=':')}{tail}"
