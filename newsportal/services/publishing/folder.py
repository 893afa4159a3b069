"""A folder of files as a target: one Markdown or HTML file per article, for static site generators and other programs.

Files are replaced atomically. Writing an article again gives the same file.
"""

import errno
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from html import escape
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import quote

import yaml

from newsportal.services.publishing import fields
from newsportal.services.publishing.base import Published, Refused, Step, TargetDown, digest_of
from newsportal.sources.editing import replace_file
from newsportal.sources.publishing import FIELDS, FOLDER, Target
from newsportal.store.outbox import OutboxEntry
from newsportal.store.results import StoredArticle

ENDINGS: Final = {"markdown": ".md", "html": ".html"}

FRONT: Final = ("title", "moment", "author", "site", "origin", "url", "category", "topics", "keywords", "summary", "language", "image")
"""Front matter of a Markdown file; ``moment`` is written as ``date``, the name used by generators."""

MAX_NAME_BYTES: Final = 180  # of a path component: most file systems allow 255 bytes, including the ending and a temporary suffix
UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+')
"""Characters that separate paths, disturb terminals, or are rejected by Windows."""

RESERVED: Final = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$")  # device names on Windows, with any ending
MARKS: Final = re.compile(r"([\\`*_{}\[\]<>#+!|~-])|^(\d+)([.)])")
"""Characters with a meaning in Markdown, including a number with a dot at the beginning of a line."""

BREAKING: Final = re.compile(r"[\s\x00-\x20\x7f()<>\\]")  # characters that end a URL in Markdown

REMEDIES: Final = {
    errno.ENOSPC: "the disk is full; free space",
    errno.EDQUOT: "the quota is used up; free space",
    errno.EROFS: "the disk is mounted read-only",
    errno.EACCES: "this user may not write there; check its permissions",
    errno.EPERM: "this user may not write there; check its permissions",
    errno.ENOTDIR: "it is not a folder; name another one",
}


class FolderTarget:
    """See :class:`~newsportal.services.publishing.base.Target`. A ``place`` is a file's path within the folder."""

    def __init__(self, target: Target, zone: tzinfo) -> None:
        self._target = target
        self._zone = zone
        self._root = Path(target.to.removeprefix(FOLDER))

    def check(self) -> Sequence[str]:
        existing = next(path for path in (self._root, *self._root.parents) if path.exists())
        if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
            raise TargetDown(f"{existing}: {REMEDIES[errno.EACCES] if existing.is_dir() else REMEDIES[errno.ENOTDIR]}")
        return ()

    def digest(self, article: StoredArticle) -> str:
        return digest_of([self._name(article), self._content(article)])

    def put(self, article: StoredArticle, entry: OutboxEntry) -> Published:
        name = self._name(article)
        with self._translated_errors(name):
            write(self._path(name), self._content(article))
            if entry.location not in (None, name):
                self._path(entry.location or "").unlink(missing_ok=True)
        return Published(name)

    def remove(self, article: StoredArticle | None, entry: OutboxEntry) -> None:
        for name in {entry.location, None if article is None else self._name(article)} - {None}:
            with self._translated_errors(name or ""):
                self._path(name or "").unlink(missing_ok=True)

    def steps(self, article: StoredArticle | None, entry: OutboxEntry) -> Sequence[Step]:
        name = entry.location if article is None else self._name(article)
        if entry.action == "withdraw" or article is None:
            return () if name is None else (Step(f"remove {self._path(name)}", {}),)
        return (Step(f"write {self._path(name or '')}", {"content": self._content(article)}),)

    def close(self) -> None:
        """Do nothing."""

    def _name(self, article: StoredArticle) -> str:
        """Return the file's path within the folder. Only the slashes of the template separate folders, not those in values."""
        path = fields.fill_template(self._target.file, article, self._zone, of=safe_name)
        parts = [shorten(part, article.id) for part in path.split("/") if part.strip(" .")]
        return str(PurePosixPath(*parts)) + ENDINGS[self._target.format]

    def _path(self, name: str) -> Path:
        """Return the path. Raises ``Refused`` if it is outside the folder, also through a link."""
        path = self._root / name
        if not path.parent.resolve().is_relative_to(self._root.resolve()):
            raise Refused(f"{name!r} leads out of {self._root}")
        return path

    def _content(self, article: StoredArticle) -> str:
        return page(article, self._zone) if self._target.format == "html" else markdown(article, self._zone)

    @contextmanager
    def _translated_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise Refused(f"{name!r} is too long as a file name; shorten file") from error
            reason = REMEDIES.get(error.errno or 0, error.strerror or str(error))
            raise TargetDown(f"{self._root / name}: {reason}; nothing was partly written") from error


def safe_name(text: str) -> str:
    """Return ``text`` as a file name valid on every system: no separators, devices or invisible characters. 中文 is kept."""
    plain = UNSAFE.sub("-", " ".join(unicodedata.normalize("NFC", text).split())).strip(" .")
    return f"_{plain}" if RESERVED.match(plain) else plain


def shorten(name: str, id: str) -> str:
    """Shorten ``name`` to ``MAX_NAME_BYTES``, keeping an id in it."""
    name = name.strip(" .")
    name = f"_{name}" if RESERVED.match(name) else name
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    tail = f"-{id}" if id in name else ""
    limit = MAX_NAME_BYTES - len(tail)
    return name.encode()[:limit].decode(errors="ignore").rstrip(" .-") + tail


def write(path: Path, content: str) -> None:
    """Replace a file atomically. Raises ``OSError``; then nothing has changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, content.encode())


def markdown(article: StoredArticle, zone: tzinfo) -> str:
    """Return YAML front matter, the text in paragraphs, and the pictures."""
    values = fields.plain(article, zone)
    head = {"date" if name == "moment" else name: values[name] for name in FRONT if name in values}
    head |= {"id": article.id, "revision": article.revision}
    front = yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=10_000)
    lines = [escape_markdown(line.strip()) for line in fields.text(article, "text", zone).splitlines() if line.strip()]
    pictures = [f"![]({(BREAKING.sub(lambda found: quote(found[0]), url))})" for url in values.get("images", ())]
    return f"---\n{front}---\n\n" + "\n\n".join([*lines, *pictures]) + "\n"


def escape_markdown(line: str) -> str:
    """Escape a line of plain text, so that Markdown shows it unchanged, without markup or HTML."""
    return MARKS.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}", line).replace("&", "&amp;")


def page(article: StoredArticle, zone: tzinfo) -> str:
    """Return a complete page without style. The body is sanitised HTML; everything else is escaped."""
    values = {name: escape(fields.text(article, name, zone)) for name in FIELDS if name not in ("html", "text")}
    link = values["url"] if article.url.startswith(fields.WEB) else ""  # no javascript:, whatever the store contains
    by = " · ".join(values[name] for name in ("site", "author", "moment") if values[name])
    return (
        f'<!DOCTYPE html>\n<html lang="{values["language"] or "zh"}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{values['title']}</title>\n"
        f'<meta name="description" content="{values["summary"]}">\n<link rel="canonical" href="{link}">\n</head>\n<body>\n<article>\n'
        f"<h1>{values['title']}</h1>\n<p>{by}</p>\n{fields.text(article, 'html', zone)}\n"
        f'<p><a href="{link}" rel="noopener noreferrer">{values["url"]}</a></p>\n</article>\n</body>\n</html>\n'
    )
