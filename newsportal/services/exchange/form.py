"""Articles as JSON values, as described by ``docs/article.schema.json``: the stored fields without missing values. A forum thread has its
posts, a photo story all its pictures and whether it is complete."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, create_model

from newsportal.dedup.canonical import identity as canonical
from newsportal.extractors.article.sanitise import sanitise
from newsportal.items import PAGE_TEXTS, Article, Gallery, Image, Link, Post, Thread, TopicMark
from newsportal.store.results import StoredArticle, is_gallery, is_thread
from newsportal.store.store import Store

UNNAMED: Final = "import:files"  # the source of articles without one

TEXTS: Final = (
    "id", "story", "identity", "url", "title", "text", "html", "summary", *PAGE_TEXTS, "site", "source", "category", "category_by",
    "category_reason", "fold_of", "fold_reason", "board",
)  # fmt: skip
MOMENTS: Final = ("published", "fetched", "first_seen")
NUMBERS: Final = ("category_score", "fold_score")
LISTS: Final = ("topics", "keywords")
NEEDED: Final = ("url", "title", "text")
DESK_ALONE: Final = ("story_id", "corrected_by", "hidden", "hidden_by", "hidden_reason")
"""Who corrected or hid an article, and why, is not exported, nor are hidden articles."""

LARGEST: Final = 2**31 - 1  # maximum integer: the range of an integer column in every database


def article_values(article: StoredArticle) -> dict[str, Any]:
    values = {**asdict(article), "story": article.story_id, "corrected_fields": list(article.corrected_fields) or None}
    values["html"] = article.html and sanitise(article.html, article.url)
    return omit_missing({key: value for key, value in values.items() if key not in DESK_ALONE})


def omit_missing(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as written in JSON, without missing ones."""
    found = {key: value.isoformat() if isinstance(value, datetime) else value for key, value in values.items() if value is not None}
    return found | {"images": [{key: value for key, value in image.items() if value is not None} for image in values["images"]]}


def full_values(article: StoredArticle, store: Store) -> dict[str, Any]:
    """Return an article with the additional fields of threads and photo stories."""
    values = article_values(article)
    if is_thread(article.source) and (thread := store.threads.thread(article.id)) is not None:
        values |= {"board": thread.board} if thread.board else {}
        values["posts"] = [omit_missing(asdict(post)) for post in store.threads.posts(article.id)]
    if is_gallery(article.source) and (gallery := store.galleries.gallery(article.id)) is not None:
        pictures = [asdict(picture.image) for picture in store.galleries.pictures(article.id)]
        values |= omit_missing({"complete": gallery.complete, "images": pictures})
        values |= {} if gallery.complete else {"missing": list(gallery.missing)}
    return values


@dataclass(frozen=True, slots=True)
class Incoming:
    """An imported row: an article, a thread or a photo story, and when it was first seen. This time and that of fetching are limited to
    now: a page fetched later must be newer."""

    item: Article | Thread | Gallery
    first_seen: datetime


def incoming(row: Any, now: datetime) -> Incoming:
    """Return the item of a row. Raises ``ValueError`` with what is wrong."""
    try:
        found = ROW.model_validate({name: value for name, value in row.items() if value is not None} if isinstance(row, dict) else row)
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].removeprefix('Value error, ')}" for fault in error.errors()[:3])
        raise ValueError("; ".join(faults).lstrip(": ")) from error
    values: dict[str, Any] = {name: value for name, value in found if value is not None}
    url = values["url"]
    if "html" in values:  # it may come from another program, and is served to readers as stored
        values["html"] = sanitise(values["html"], url)
    names = (
        "title", "text", "html", "published", *PAGE_TEXTS, "site", "images", "category", "category_by",
        "category_score", "category_reason", "topics", "topic_marks", "keywords",
    )  # fmt: skip
    article = Article(
        url=url,
        link=Link(url, values.get("source") or UNNAMED, summary=values.get("summary"), site=values.get("site")),
        fetched=min(values.get("fetched") or now, now),
        identity=values.get("identity") or canonical(url),
        **{name: values[name] for name in names if name in values},
    )
    first_seen = min(values.get("first_seen") or now, now)
    if is_thread(article.source) and values.get("posts"):
        thread = Thread(
            article.url, article.title or "", article.link, article.fetched, tuple(Post(**dict(post)) for post in values["posts"]),
            values.get("board"), article.identity, article.url, language=article.language, topics=article.topics,
            topic_marks=article.topic_marks, category=article.category,
        )  # fmt: skip
        return Incoming(thread, first_seen)
    return Incoming(_gallery(article, values) if is_gallery(article.source) and "complete" in values else article, first_seen)


def _on_the_web(url: str) -> str:
    """Check that the URL is http(s) or names a mail: a ``javascript:`` URL would become a link on the article's page."""
    parts = urlsplit(url)
    if not (parts.scheme == "mid" or (parts.scheme in ("https", "http") and parts.hostname)):
        raise ValueError("not an http(s) URL: it must begin with https:// or http:// and name a host")
    return url


def _moment(value: Any) -> datetime:
    """Parse ISO 8601; without a zone it is UTC."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise ValueError("out of range") from error


def _storable_size(image: Image) -> Image:
    if any(abs(size or 0) > LARGEST for size in (image.width, image.height)):
        raise ValueError(f"a size beyond {LARGEST}")
    return image


Moment = Annotated[datetime, BeforeValidator(_moment)]
Integer = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Picture = Annotated[Image, AfterValidator(_storable_size)]


class PostRow(BaseModel):
    """A post: the fields of a ``Post``, with its key as ``name``."""

    text: str
    author: str | None = None
    published: Moment | None = None
    floor: Integer | None = None
    date_text: str | None = None
    quoted: str | None = None
    images: Annotated[tuple[Picture, ...], BeforeValidator(lambda images: images or ())] = ()
    id: str | None = Field(None, validation_alias="name")


class Row(BaseModel, allow_inf_nan=False):
    """The fields of a row that are not plain text."""

    url: Annotated[str, AfterValidator(_on_the_web)]
    title: str
    text: str
    images: tuple[Picture, ...] = ()
    topic_marks: tuple[TopicMark, ...] = ()
    posts: tuple[PostRow, ...] = ()
    complete: bool | None = None
    missing: tuple[Integer, ...] = ()


OPTIONAL: Final = {str | None: TEXTS, Moment | None: MOMENTS, float | None: NUMBERS, tuple[str, ...] | None: LISTS}
ROW: Final = create_model(
    "Article", __base__=Row, **{name: (kind, None) for kind, names in OPTIONAL.items() for name in names if name not in NEEDED}
)  # type: ignore[call-overload]


def _gallery(article: Article, values: Mapping[str, Any]) -> Gallery:
    """Return the photo story. Its own text is the lines that are not captions."""
    captions = {line.strip() for image in article.images for line in (image.caption or "").splitlines()}
    text = "\n".join(line for line in (article.text or "").splitlines() if line not in captions)
    shared = (
        "images", "published", "identity", "author", "origin", "site", "language", "category", "category_by", "category_score",
        "category_reason", "topics", "topic_marks", "keywords",
    )  # fmt: skip
    return Gallery(
        article.url, article.title or "", article.link, article.fetched, text=text or None, pages=(article.url,),
        complete=values["complete"], missing=values["missing"], **{name: getattr(article, name) for name in shared},
    )  # fmt: skip


TEXT: Final = {"type": "string"}
MOMENT: Final = {"type": "string", "format": "date-time"}
SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
SIZE: Final = {"type": "integer", "minimum": 0}


def _described(kind: dict[str, Any], description: str) -> dict[str, Any]:
    return {**kind, "description": description}


def _list(items: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


IMAGE: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["url"],
    "properties": {
        "url": TEXT,
        "caption": TEXT,
        "width": _described(SIZE, "pixels"),
        "height": _described(SIZE, "pixels"),
        "format": _described(TEXT, "format by its first bytes: jpeg, png, gif, webp, avif"),
        "page": _described(TEXT, "URL of its page, if not the article's"),
        "print": _described(TEXT, "perceptual hash, 16 hexadecimal digits"),
        "dropped": _described(TEXT, "why it is hidden"),
    },
}

POST: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["text"],
    "properties": {
        "name": _described(TEXT, "key in its thread: the forum's number, or a hash"),
        "position": _described(SIZE, "in reading order, from 0"),
        "floor": {"type": "integer"},
        "author": TEXT,
        "published": MOMENT,
        "date_text": _described(TEXT, "time as written on the page"),
        "text": TEXT,
        "quoted": _described(TEXT, "quoted text of other posts"),
        "images": _list(IMAGE, "its pictures"),
        "first_seen": MOMENT,
        "edited": _described(MOMENT, "when an edit was last detected"),
        "former_texts": _list(TEXT, "texts before its last edits, oldest first"),
    },
}

MARK: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["topic", "by"],
    "properties": {
        "topic": TEXT,
        "by": _described(TEXT, "source, search, keywords, or model VERSION"),
        "score": {"type": ["number", "null"], "description": "probability by the topic's model"},
    },
}

SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "An article as newsportal exports and imports it",
    "description": "One object per line (JSON lines); missing values are omitted. An import needs url, title and text; it ignores "
    "id, story, revision, folds and corrected fields, which are computed again; corrected values are used as they are.",
    "type": "object",
    "required": ["url", "title", "text"],
    "properties": {
        "id": _described(TEXT, "hash of the identity, 20 hexadecimal digits"),
        "story": _described(TEXT, "id of its story"),
        "identity": _described(TEXT, "canonical form of its URL, which identifies it"),
        "url": _described({"type": "string", "minLength": 1}, "its URL; an import accepts only https, http and mid (a mail)"),
        "title": TEXT,
        "text": _described(TEXT, "one paragraph per line"),
        "html": _described(TEXT, "its body, sanitised"),
        "summary": _described(TEXT, "summary from a list page or a feed"),
        **{name: _described(TEXT, description) for name, description in PAGE_TEXTS.items()},
        "site": TEXT,
        "source": _described(TEXT, "source that found it: feed:NAME, engine:NAME, region:NAME, forum:NAME, gallery:NAME …"),
        "published": MOMENT,
        "fetched": _described(MOMENT, "when its page was last fetched"),
        "first_seen": _described(MOMENT, "when it was first stored"),
        "category": TEXT,
        "category_by": _described(TEXT, "source, lexicon, model VERSION, editor"),
        "category_score": SHARE,
        "category_reason": _described(TEXT, "the decisive words"),
        "topics": _list(TEXT, "its topics in sources.yaml"),
        "topic_marks": _list(MARK, "how each topic was assigned"),
        "keywords": _list(TEXT, "its keywords, by descending weight"),
        "images": _list(IMAGE, "its pictures, in order"),
        "revision": _described({"type": "integer", "minimum": 1}, "number of its text's revisions"),
        "corrected": _described(MOMENT, "when an editor last corrected it"),
        "corrected_fields": _list(TEXT, "corrected fields: title, text, published, author"),
        "fold_of": _described(TEXT, "id of the article that it repeats"),
        "fold_reason": _described(TEXT, "why they belong to one story"),
        "fold_score": SHARE,
        "board": _described(TEXT, "board of a forum thread"),
        "posts": _list(POST, "posts of a forum thread, in order"),
        "complete": _described({"type": "boolean"}, "of a photo story: whether all its pages were fetched"),
        "missing": _list({"type": "integer"}, "of a photo story: numbers of the missing pages"),
    },
}
