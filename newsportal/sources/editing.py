"""Change ``sources.yaml`` and keep its comments: all or nothing, never into a file that would not load, never over another's change.

Earlier versions are kept beside it: what stood there before each change, to look at and to go back to. They lie in
``.sources.yaml.versions``, readable by whoever may read the file, the latest :data:`KEPT` of them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import CommentMark
from ruamel.yaml.tokens import CommentToken

from newsportal.errors import NewsportalError
from newsportal.messages import Message
from newsportal.sources.building import Mistake, Unreadable, decode, read
from newsportal.sources.loading import error_of, parse
from newsportal.sources.splicing import EntryChange, spliced

KEPT = 50  # versions. A file of a thousand sources has some 100 kB, so all of them are about 5 MB.
FOLDER_SUFFIX = ".versions"
STAMP = "%Y%m%dT%H%M%S%fZ"
NAMED = re.compile(r"(?P<stamp>\d{8}T\d{12}Z)-(?P<digest>[0-9a-f]{32})\.yaml")


class NoVersion(NewsportalError):
    """Raised by :func:`content_of` and :func:`earlier` for a version that is not there (any more). The caller shows which there are."""


@dataclass(frozen=True, slots=True)
class Version:
    """What the file held until ``at`` (aware, UTC). ``id`` names it; ``digest`` is that of its content; ``size`` in bytes."""

    id: str
    at: datetime
    digest: str
    size: int


def digest_of(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def versions(path: Path) -> list[Version]:
    """The earlier versions of the file at ``path``, the latest first; none where none can be read."""
    found = []
    try:
        names = sorted(os.listdir(_folder(path)), reverse=True)
    except OSError:
        return []
    for name in names:
        if match := NAMED.fullmatch(name):
            with contextlib.suppress(OSError):  # forgotten meanwhile
                size = (_folder(path) / name).stat().st_size
                at = datetime.strptime(match["stamp"], STAMP).replace(tzinfo=UTC)
                found.append(Version(name.removesuffix(".yaml"), at, match["digest"], size))
    return found


def content_of(path: Path, id: str) -> bytes:
    """What a version holds. Raises ``NoVersion``, also for one that was not written whole (a crash, a full disk)."""
    named = NAMED.fullmatch(f"{id}.yaml")
    if named is None:
        raise NoVersion(f"{path.name} has no version {id!r}")
    try:
        content = (_folder(path) / f"{id}.yaml").read_bytes()
    except OSError as error:
        raise NoVersion(f"{path.name} has no version {id!r} any more") from error
    if digest_of(content) != named["digest"]:
        raise NoVersion(f"{path.name}: version {id!r} is damaged")
    return content


def earlier(path: Path, steps: int = 1) -> Version:
    """What the file held before its last ``steps`` changes. Raises ``NoVersion``."""
    known = versions(path)
    if not 1 <= steps <= len(known):
        raise NoVersion(f"{path.name} has {len(known)} earlier versions: nothing was changed")
    return known[steps - 1]


def keep(path: Path, content: bytes) -> str:
    """Remember ``content`` as what the file held until now, and forget the oldest versions; answers its id. Raises ``OSError``."""
    folder = _folder(path)
    folder.mkdir(mode=0o700, exist_ok=True)
    named = folder / f"{datetime.now(UTC).strftime(STAMP)}-{digest_of(content)}.yaml"
    named.touch(mode=path.stat().st_mode & 0o666)
    named.write_bytes(content)
    for old in versions(path)[KEPT:]:
        (folder / f"{old.id}.yaml").unlink(missing_ok=True)
    return named.stem


def _folder(path: Path) -> Path:
    return path.with_name(f".{path.name}{FOLDER_SUFFIX}")


Change = Callable[[CommentedMap], None]

LOCK_SUFFIX = ".lock"
LINE_END = "\n"
DASH = re.compile(r"^(?P<key>\w+):[^\S\n]*(?:#.*)?\n(?:[^\S\n]*(?:#.*)?\n)*(?P<indent> *)- ", re.MULTILINE)
"""A top-level key and the first entry of its list, to indent as the file does."""


class EditConflict(NewsportalError):
    """Raised by :func:`edit` when somebody else changed the file since it was read. The caller shows the new state and asks again."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path.name} was changed by somebody else meanwhile; nothing was written: look at it again")


class OtherKeys(NewsportalError):
    """Raised by :func:`go_back` where more would change than may: ``keys`` of the file. The caller names them, and who may go back."""

    def __init__(self, keys: Collection[str]) -> None:
        super().__init__(f"that version differs in more than may be changed: {', '.join(keys)}")
        self.keys = tuple(keys)


class Written(str):
    """The digest of what a file holds after a change. ``replaced``: the id of the version before it, ``None`` where nothing changed."""

    replaced: str | None = None


def digest(path: Path) -> str:
    """What the file holds now, as a short text to hand to :func:`edit`. Raises ``OSError``."""
    return digest_of(path.read_bytes())


def edit(path: Path, change: Change, expected: str | None = None, environ: Mapping[str, str] = os.environ) -> Written:
    """Apply ``change`` to the document in ``path`` and write it; answers its new :func:`digest`.

    What stood there before is kept (:mod:`newsportal.sources.editing`). ``expected`` is the digest of what the caller saw. Raises
    ``EditConflict`` if the file holds something else (then or while ``change`` runs), ``SourcesError`` if the result would not load,
    ``OSError`` if it cannot be written; each leaves the file as it was.
    """
    return _written(path, lambda before, file: changed(before, change, file), expected, environ)


def rewrite(path: Path, content: bytes, expected: str | None = None) -> Written:
    """Put ``content`` in place of all that ``path`` holds, as carefully as :func:`edit`, with its answers and its errors."""
    return _written(path, lambda before, file: content, expected)


def go_back(path: Path, version: Version, expected: str | None = None, *, within: Collection[str] | None = None) -> Written:
    """Put an earlier version in place of what ``path`` holds; that can be undone, too. ``within``: the keys of the file that may change
    by it (None: all). Raises ``NoVersion``, ``OtherKeys``, and what :func:`edit` raises."""
    content = content_of(path.resolve(), version.id)

    def back(before: bytes, file: Path) -> bytes:
        if within is not None and (others := [key for key in differing(before, content) if key not in within]):
            raise OtherKeys(others)
        return content

    return _written(path, back, expected)


def differing(before: bytes, after: bytes) -> list[str]:
    """The keys of the file that the two do not say alike; of what is no mapping, or cannot be read, ``(file)``."""
    nothing = object()
    with contextlib.suppress(Unreadable):
        one, other = read(before).value or {}, read(after).value or {}
        if isinstance(one, dict) and isinstance(other, dict):
            return sorted(str(key) for key in {*one, *other} if one.get(key, nothing) != other.get(key, nothing))
    return ["(file)"]


def _written(path: Path, make: Callable[[bytes, Path], bytes], expected: str | None, environ: Mapping[str, str] = os.environ) -> Written:
    path = path.resolve()  # through a link, so that the link stays one
    with lock_file(path):
        before = path.read_bytes()
        if expected is not None and expected != digest_of(before):
            raise EditConflict(path)
        after = make(before, path)
        parse(after, path, environ)
        if path.read_bytes() != before:
            raise EditConflict(path)
        written = Written(digest_of(after))
        if after != before:
            written.replaced = keep(path, before)
            replace_file(path, after)
    return written


def changed(content: bytes, change: Change, path: Path) -> bytes:
    """``content`` with ``change`` applied, with its comments, quotes, indentation and line ends."""
    try:
        tree = read(content)  # refuses bombs before the slower parser sees them
    except Unreadable as error:
        raise error_of(path, [error.mistake]) from error
    text = decode(content).replace("\r\n", "\n")
    written = None
    if isinstance(change, EntryChange):
        written = spliced(text, tree, change, lambda part: _made(part, change, path, text))
    if written is None:
        written = _made(text, change, path, text)
    with contextlib.suppress(Unreadable):  # told when it is loaded
        if read(written.encode()).value == tree.value:
            return content  # not even its spaces change
    return (written.replace("\n", "\r\n") if b"\r\n" in content else written).encode()


def _made(text: str, change: Change, path: Path, whole: str) -> str:
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 100_000  # lines stay as long as they are
    yaml.allow_unicode = True
    found = DASH.search(whole)
    offset = len(found["indent"]) if found else 2
    yaml.indent(mapping=2, sequence=offset + 2, offset=offset)
    document = yaml.load(text)
    comments = ""
    if document is None:  # comments alone belong to nothing that the parser could hang them on
        document, comments = CommentedMap(), text if text.endswith("\n") or not text else f"{text}\n"
    if not isinstance(document, CommentedMap):
        raise error_of(path, [Mistake(1, (), Message("sources.no-root"))])
    change(document)
    out = io.StringIO()
    yaml.dump(document, out)
    return comments + out.getvalue()


def append(document: CommentedMap, kind: str, values: Mapping[str, Any]) -> None:
    """Add an entry to the list ``kind`` (``feeds`` …), made if it is missing. A comment that follows the list stays behind it."""
    following = cut_following(document, kind)
    if not document.get(kind):
        document[kind] = CommentedSeq()
    entry = CommentedMap(values)
    document[kind].append(entry)
    add_following(entry, following)


def append_entry(kind: str, values: Mapping[str, Any]) -> EntryChange:
    """The change that appends an entry, made in few lines where that will do."""
    return EntryChange("append", kind, "", lambda document: append(document, kind, values))


def add_following(node: Any, following: str, key: Any = None) -> None:
    """Let comment lines follow the value of ``key`` in ``node``, by default its last one."""
    if not following or not node:
        return
    key = _last(node) if key is None else key
    value = node[key]
    if isinstance(value, CommentedMap | CommentedSeq) and value and not value.fa.flow_style():
        add_following(value, following)
        return
    place = 2 if isinstance(node, CommentedMap) else 0
    tokens = node.ca.items.get(key) or [None] * 4
    before = tokens[place].value if tokens[place] is not None else ""
    mark = tokens[place].start_mark if before else CommentMark(0)
    tokens[place] = CommentToken(f"{before.removesuffix(LINE_END)}{LINE_END}{following}", mark, None)
    node.ca.items[key] = tokens


def cut_following(node: Any, key: Any = None) -> str:
    """Take away, and answer, the comment lines that the parser hangs on the value of ``key`` in ``node`` (by default the last one)."""
    while isinstance(node, CommentedMap | CommentedSeq) and node:
        key = _last(node) if key is None else key
        if key not in node and isinstance(node, CommentedMap):
            return ""
        place = 2 if isinstance(node, CommentedMap) else 0
        if (token := (node.ca.items.get(key) or [None] * 4)[place]) is not None and LINE_END in token.value:
            beside, _, following = token.value.partition(LINE_END)
            token.value = f"{beside}{LINE_END}" if beside else LINE_END
            return str(following)
        node, key = node[key], None
    return ""


def _last(node: CommentedMap | CommentedSeq) -> Any:
    return list(node)[-1] if isinstance(node, CommentedMap) else len(node) - 1


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """One writer of ``path`` at a time on a machine (where the system has no such locks, who writes must compare). Raises ``OSError``."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = path.with_name(f".{path.name}{LOCK_SUFFIX}")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


READABLE = 0o644  # a new file's mode: what a temporary file has is for its owner alone


def replace_file(path: Path, content: bytes) -> None:
    """Write beside the file, then rename: nobody sees half of a file, whatever crashes or is full. Raises ``OSError``."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, path.stat().st_mode & 0o7777 if path.exists() else READABLE)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError, AttributeError):  # folders cannot be opened everywhere; the file itself is safe
        handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
