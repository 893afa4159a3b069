"""Destinations besides the portal: tables, folders, webhooks, MongoDB, Elasticsearch (paper B's last stage); the fields of an article that
can be published, and templates: texts with field names in braces.

A template is a text with ``{name}`` and nothing else: no attributes, indexes, conversions or formats. So authors of ``sources.yaml``
can only access the article, and articles cannot access anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Final, Literal
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationInfo, model_validator

from newsportal.messages import Message, did_you_mean
from newsportal.sources import uris
from newsportal.sources.parts import Part
from newsportal.sources.uris import mask
from newsportal.sources.values import Filled, Line, Name, Names, TimeZone, Word, Words, folder_of, mistake, validator

FIELDS: Final[Mapping[str, str]] = {
    "id": "the article's id: 20 letters and digits, never changed",
    "story": "the id of its story",
    "identity": "the canonical URL that identifies it",
    "url": "its address",
    "title": "its title",
    "text": "its text, one paragraph per line",
    "html": "its body as safe HTML",
    "summary": "summary from a feed or result page, else the beginning of the text",
    "published": "when it was published",
    "first_seen": "when it was first seen",
    "moment": "published, else first_seen",
    "day": "the day of moment, as 2026-03-01",
    "author": "its author",
    "origin": "who published it first, as published",
    "site": "its site's name, else the host",
    "source": "the source that found it, as feed:NAME",
    "kind": "article, thread or photos",
    "language": "zh, zh-Hant, en …",
    "category": "its category",
    "topics": "its topics",
    "topic": "the first of them",
    "keywords": "its keywords",
    "images": "the URLs of its pictures",
    "image": "the first of them",
    "revision": "1, increased by each change of title or text",
    "chars": "length of its text in characters",
}
"""Field name → description. ``newsportal.services.publishing.fields`` has the values (a test compares the two)."""

MOMENTS: Final = ("published", "first_seen", "moment")
NUMBERS: Final = ("revision", "chars")
LASTING: Final = ("id", "identity", "url")  # unique to an article and immutable
MAX_CHARS: Final = 500


class BadTemplate(ValueError):
    """Raised for an invalid template. ``hint``: the nearest correct spelling."""

    def __init__(self, message: Message, hint: Message | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def check_field(name: str) -> str:
    """Return ``name`` if it is one of :data:`FIELDS`. Raises ``BadTemplate``."""
    if name in FIELDS:
        return name
    hint = did_you_mean(name, FIELDS) or (Message("hint.template") if "{" in name else None)
    raise BadTemplate(Message("template.unknown-field", found=repr(name), allowed=", ".join(FIELDS)), hint)


def template_parts(template: str) -> tuple[tuple[str, str | None], ...]:
    """Return ``template`` as pairs of a literal text and the following name (``None`` at the end). Raises ``BadTemplate``."""
    if len(template) > MAX_CHARS:
        raise BadTemplate(Message("template.too-long", found=len(template), limit=MAX_CHARS))
    try:
        found = list(Formatter().parse(template))
    except ValueError as error:
        raise BadTemplate(Message("template.invalid", found=repr(template), why=str(error))) from error
    for _, name, form, conversion in found:
        if name is not None and (form or conversion):
            raise BadTemplate(Message("template.format-not-allowed", found=repr(name)))
    return tuple((literal, None if name is None else check_field(name)) for literal, name, _, _ in found)


def template_names(template: str) -> tuple[str, ...]:
    """Return the names in a template. Raises ``BadTemplate``."""
    return tuple(name for _, name in template_parts(template) if name is not None)


DATABASES: Final = ("postgresql", "mysql", "mariadb", "sqlite")
DOCUMENTS: Final = ("mongodb", "mongodb+srv", "elasticsearch", "elasticsearch+https")
FOLDER: Final = "folder:"
WEB: Final = ("https", "http")

Scalar = str | int | float | bool
Way = Literal["database", "folder", "webhook", "mongodb", "elasticsearch"]

CALLED: Final[dict[Way, str]] = {
    "database": "a database",
    "folder": "a folder",
    "webhook": "a webhook",
    "mongodb": "a collection of MongoDB",
    "elasticsearch": "an index of Elasticsearch",
}

INDEX: Final = re.compile(r"(?![_.-])[\w.-]{1,80}")
DEFAULT_INDEX: Final = "newsportal-published"

OWN: Final[dict[str, Way]] = {
    "table": "database", "columns": "database", "key": "database", "marks": "database",
    "format": "folder", "file": "folder", "secret": "webhook", "collection": "mongodb",
}  # fmt: skip
"""Key → the kind of destination that supports it."""


def _target(value: str, info: ValidationInfo) -> str:
    try:
        if value.startswith(FOLDER):
            return FOLDER + str((folder_of(info) / Path(value.removeprefix(FOLDER)).expanduser()).absolute())
        scheme = urlsplit(value).scheme.partition("+")[0] if value.isprintable() else ""
        if scheme in WEB:
            return uris.check_url(value)
        if scheme in DATABASES:
            return uris.check_uri(value, DATABASES, folder_of(info))
        if urlsplit(value).scheme in DOCUMENTS:
            return uris.check_uri(value, DOCUMENTS, folder_of(info))
    except uris.BadAddress as error:
        raise mistake(error.message, error.hint) from error
    except ValueError:
        pass  # of urlsplit: reported below
    allowed = (
        "postgresql://…, mysql://…, mariadb://…, sqlite:///FILE, mongodb://HOST/DATABASE, elasticsearch://HOST:9200/INDEX, folder:PATH, "
        "https://…"
    )
    raise mistake(f"found {mask(value)!r}, which is not a supported target; allowed: {allowed}")


def index_of(uri: str) -> str:
    """Return the index in an Elasticsearch URL."""
    return unquote(urlsplit(uri).path.strip("/")) or DEFAULT_INDEX


def _since(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        found = datetime.fromisoformat(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise mistake(f"{value!r} is not a date; allowed: 2026-03-01, 2026-03-01T08:30+08:00") from None


def _unpublish(value: Any) -> Any:
    if value == "delete" or (isinstance(value, dict) and value and all(isinstance(item, Scalar) for item in value.values())):
        return value
    raise mistake("allowed: delete, or columns with their new values, as {status: trash}")


Template = Annotated[str, StringConstraints(min_length=1), AfterValidator(validator(template_parts))]
FieldName = Annotated[str, AfterValidator(validator(check_field)), Field(json_schema_extra={"enum": list(FIELDS)})]
Moment = Annotated[datetime, BeforeValidator(_since, json_schema_input_type=str)]
Unpublish = Annotated[Literal["delete"] | dict[str, Scalar], BeforeValidator(_unpublish)]


class Only(Part):
    """Which articles are published; each key narrows."""

    topics: Names = ()
    """Articles of one of these topics; by default all."""
    categories: Words = ()
    """Articles of one of these categories; by default all."""
    sources: Words = ()
    """Articles from one of these sources, as feed:NAME or NAME; by default all."""
    kinds: tuple[Literal["article", "thread", "photos"], ...] = ("article",)
    """Articles, threads of forums, photo stories."""
    versions: Literal["heads", "all"] = "heads"
    """heads: only the original of each story; all: every site's version."""
    min_chars: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Minimum number of characters of the text."""
    since: Moment | None = None
    """Articles first seen on this day (UTC), at this time, or later; by default all that are stored."""


class Column(Part):
    """The value of one column: a field, a constant, a template or a lookup. A name alone is a field, a number alone a constant."""

    field: FieldName | None = None
    """The field of the article, see below."""
    constant: Scalar | None = None
    """The same value for all articles."""
    template: Template | None = None
    """Text with the names of fields in braces, as {site}-{id}."""
    lookup: dict[str, Scalar] | None = None
    """Word of the field named by → value, as {旅游: 12}."""
    by: Literal["category", "topic", "site", "source", "kind", "language"] = "category"
    """The field that is looked up; of several topics the first that lookup has."""
    default: Scalar | None = None
    """The value if the article has none, or lookup does not contain it."""
    max: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Maximum number of characters; longer texts are cut."""
    format: Line | None = None
    """The format of a time, as %Y-%m-%d %H:%M:%S, or unix: seconds since 1970; by default that of the column's type."""
    zone: TimeZone | None = None
    """The time zone of a time; by default portal.timezone."""
    join: Annotated[str, StringConstraints(max_length=50)] = ", "
    """The separator of several topics, keywords or pictures."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"field": value}
        return {"constant": value} if isinstance(value, int | float) else value

    @model_validator(mode="after")
    def _one_way(self) -> Column:
        present = [name for name in ("field", "constant", "template", "lookup") if getattr(self, name) is not None]
        if len(present) != 1:
            found = " and ".join(present) or "none of them"
            raise mistake(f"found {found}; allowed: exactly one of field, constant, template and lookup")
        if (self.format is not None or self.zone is not None) and self.field not in MOMENTS:
            key = "format" if self.format is not None else "zone"
            raise mistake(f"{key} is only for times; allowed: with field: {', '.join(MOMENTS)}", at=(key,))
        return self

    @property
    def lasting(self) -> bool:
        """Whether the value identifies an article: unique and immutable."""
        if self.max is not None or self.template is None:
            return self.max is None and self.field in LASTING
        names = template_names(self.template)
        return any(name in LASTING for name in names) and all(name in (*LASTING, "source", "kind") for name in names)


class Target(Part):
    """A destination of published articles."""

    name: Name
    """The destination's name, under which published articles are recorded: do not change it."""
    enabled: bool = True
    """false: it stays in the file, but nothing is published."""
    to: Annotated[Filled, AfterValidator(_target)]
    """A database (postgresql://, mysql://, mariadb://, sqlite:///), mongodb://HOST/DATABASE, elasticsearch://HOST:9200/INDEX (or
    elasticsearch+https://), folder:PATH, or the https:// address of a webhook."""
    only: Only = Only()
    """Which articles are published there."""
    revisions: Literal["update", "ignore"] = "update"
    """update: changes are written to the target; ignore: published articles are left unchanged."""
    unpublish: Unpublish = "delete"
    """What happens to a withdrawn article: delete, or columns and their new values, as {status: trash}."""
    table: Word | None = None
    """The table of a database, with its schema if needed (news.posts)."""
    columns: dict[Word, Column] = Field(default={})
    """Column of the table → its value."""
    key: Word | None = None
    """The column that identifies an article's row; its value is made of id, identity or url."""
    marks: Literal["table", "key"] = "table"
    """table: published articles are recorded in a table newsportal_published there; key: only by the key's column."""
    collection: Word = "articles"
    """The collection of MongoDB's database."""
    format: Literal["markdown", "html"] = "markdown"
    """The format of the files of a folder."""
    file: Template = "{day}-{site}-{id}"
    """The file names in a folder, without extension; must contain {id}."""
    secret: Filled | None = None
    """The secret that signs messages to a webhook; use ${NAME}, not the secret itself."""

    def __repr__(self) -> str:
        return f"Target({self.name!r}, {mask(self.to)!r})"  # neither password nor secret may appear in logs

    @property
    def way(self) -> Way:
        if self.to.startswith("mongodb"):
            return "mongodb"
        if self.to.startswith("elasticsearch"):
            return "elasticsearch"
        return "folder" if self.to.startswith(FOLDER) else "webhook" if self.to.partition(":")[0] in WEB else "database"

    @model_validator(mode="after")
    def _check_keys(self) -> Target:
        for key in sorted(self.model_fields_set & OWN.keys()):
            if self.way != OWN[key]:
                raise mistake(f"{key} is for {CALLED[OWN[key]]}, but this is {CALLED[self.way]}; remove it", at=(key,))
        if self.way != "database" and self.unpublish != "delete":
            raise mistake(f"columns are for a database, and this is {CALLED[self.way]}; allowed: delete", at=("unpublish",))
        if self.way == "database":
            self._is_whole_database()
        if self.way in ("mongodb", "elasticsearch") and not urlsplit(self.to).netloc.rpartition("@")[2]:
            raise mistake(f"{mask(self.to)!r} has no host; allowed: mongodb://HOST/DATABASE, elasticsearch://HOST:9200/INDEX", at=("to",))
        if self.way == "elasticsearch" and (not INDEX.fullmatch(index := index_of(self.to)) or index != index.lower()):
            raise mistake(f"{index!r} is not a valid index name; allowed: lower-case letters, digits, - and _", at=("to",))
        if self.way == "webhook" and not self.secret:
            raise mistake("a webhook needs a secret, with which the receiver verifies the sender", "secret: ${NAME}")
        if self.way == "folder" and "id" not in template_names(self.file):
            raise mistake(f"found {self.file!r}; allowed: a template with {{id}}, since two articles must not share a file", at=("file",))
        return self

    def _is_whole_database(self) -> None:
        if not self.table or not self.columns:
            raise mistake("a database needs table: NAME and columns: {COLUMN: field}")
        if missing := [] if self.unpublish == "delete" else [name for name in self.unpublish if name not in self.columns]:
            raise mistake(f"found {missing[0]!r}, which is not among the columns: publishing again would not reset it", at=("unpublish",))
        if self.key is None and self.marks == "key":
            raise mistake("marks: key needs key: the column that identifies an article")
        if self.key is None:
            return
        column = self.columns.get(self.key)
        if column is None:
            raise mistake(f"found {self.key!r}, which is not among the columns; allowed: {', '.join(self.columns)}", at=("key",))
        if not column.lasting:
            allowed = "id, identity or url, without max"
            raise mistake(
                f"what goes into {self.key!r} does not identify an article for ever; allowed: a field or template of {allowed}", at=("key",)
            )
