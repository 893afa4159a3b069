"""Edit ``sources.yaml`` and preserve its comments: atomically, never to an invalid file, never over a concurrent change.

The content before each change is kept as an earlier version, to view and restore. Versions are in ``.sources.yaml.versions``, with the
permissions of the file; the latest :data:`KEPT` are kept.
"""

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
from newsportal.sources.splicing import EntryChange, splice

KEPT = 50  # versions. A file of a thousand sources has some 100 kB, so all of them are about 5 MB.
FOLDER_SUFFIX = ".versions"
STAMP = "%Y%m%dT%H%M%S%fZ"
NAMED = re.compile(r"(?P<stamp>\d{8}T\d{12}Z)-(?P<digest>[0-9a-f]{32})\.yaml")


class NoVersion(NewsportalError):
    """Raised by :func:`content_of` and :func:`earlier_version` for a version that does not exist. The caller shows the existing ones."""


@dataclass(frozen=True, slots=True)
class Version:
    """The file's content until ``at`` (aware, UTC). ``id`` identifies it; ``digest`` is that of its content; ``size`` in bytes."""

    id: str
    at: datetime
    digest: str
    size: int


def digest_of(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def versions(path: Path) -> list[Version]:
    """Return the earlier versions of the file at ``path``, the latest first; empty if unreadable."""
    found = []
    try:
        names = sorted(os.listdir(_folder(path)), reverse=True)
    except OSError:
        return []
    for name in names:
        if match := NAMED.fullmatch(name):
            with contextlib.suppress(OSError):  # deleted meanwhile
                size = (_folder(path) / name).stat().st_size
                at = datetime.strptime(match["stamp"], STAMP).replace(tzinfo=UTC)
                found.append(Version(name.removesuffix(".yaml"), at, match["digest"], size))
    return found


def content_of(path: Path, id: str) -> bytes:
    """Return the content of a version. Raises ``NoVersion``, also for an incomplete one (after a crash or on a full disk)."""
    match = NAMED.fullmatch(f"{id}.yaml")
    if match is None:
        raise NoVersion(f"{path.name} has no version {id!r}")
    try:
        content = (_folder(path) / f"{id}.yaml").read_bytes()
    except OSError as error:
        raise NoVersion(f"{path.name} has no version {id!r} any more") from error
    if digest_of(content) != match["digest"]:
        raise NoVersion(f"{path.name}: version {id!r} is damaged")
    return content


def earlier_version(path: Path, steps: int = 1) -> Version:
    """Return the version before the last ``steps`` changes. Raises ``NoVersion``."""
    saved = versions(path)
    if not 1 <= steps <= len(saved):
        raise NoVersion(f"{path.name} has {len(saved)} earlier versions: nothing was changed")
    return saved[steps - 1]


def save_version(path: Path, content: bytes) -> str:
    """Save ``content`` as a version, delete the oldest ones, and return its id. Raises ``OSError``."""
    folder = _folder(path)
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / f"{datetime.now(UTC).strftime(STAMP)}-{digest_of(content)}.yaml"
    file.touch(mode=path.stat().st_mode & 0o666)
    file.write_bytes(content)
    keep_owner(path, folder, file)
    for old in versions(path)[KEPT:]:
        (folder / f"{old.id}.yaml").unlink(missing_ok=True)
    return file.stem


def _folder(path: Path) -> Path:
    return path.with_name(f".{path.name}{FOLDER_SUFFIX}")


Change = Callable[[CommentedMap], None]

LOCK_SUFFIX = ".lock"
LINE_END = "\n"
DASH = re.compile(r"^(?P<key>\w+):[^\S\n]*(?:#.*)?\n(?:[^\S\n]*(?:#.*)?\n)*(?P<indent> *)- ", re.MULTILINE)
"""A top-level key and the first entry of its list, to detect the file's indentation."""


class EditConflict(NewsportalError):
    """Raised by :func:`edit` when the file has changed since it was read. The caller shows the new state and asks again."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path.name} was changed by someone else meanwhile; nothing was written: reload it")


class OtherKeys(NewsportalError):
    """Raised by :func:`roll_back` when top-level ``keys`` would change that must not. The caller names them, and who may restore them."""

    def __init__(self, keys: Collection[str]) -> None:
        super().__init__(f"that version also differs in keys that you may not change: {', '.join(keys)}")
        self.keys = tuple(keys)


class Digest(str):
    """The digest of a file after a change. ``replaced``: the id of the version before it, ``None`` if nothing changed."""

    replaced: str | None = None


def digest(path: Path) -> str:
    """Return the digest of the file's content for :func:`edit`. Raises ``OSError``."""
    return digest_of(path.read_bytes())


def edit(path: Path, change: Change, expected: str | None = None, environ: Mapping[str, str] = os.environ) -> Digest:
    """Apply ``change`` to the document in ``path`` and write it; return its new :func:`digest`.

    The previous content is kept as a version. ``expected`` is the digest of the content that the caller saw. Raises
    ``EditConflict`` if the file differs from it (before or during ``change``), ``SourcesError`` if the result would not load,
    ``OSError`` if it cannot be written; each leaves the file unchanged.
    """
    return _rewrite(path, lambda before, file: with_change(before, change, file), expected, environ)


def rewrite(path: Path, content: bytes, expected: str | None = None) -> Digest:
    """Replace the whole content of ``path``, with the checks, result and errors of :func:`edit`."""
    return _rewrite(path, lambda before, file: content, expected)


def roll_back(path: Path, version: Version, expected: str | None = None, *, within: Collection[str] | None = None) -> Digest:
    """Restore an earlier version of ``path``, which can itself be undone. ``within``: the top-level keys that may change (None: all).
    Raises ``NoVersion``, ``OtherKeys``, and the errors of :func:`edit`."""
    content = content_of(path.resolve(), version.id)

    def back(before: bytes, file: Path) -> bytes:
        if within is not None and (others := [key for key in differing_keys(before, content) if key not in within]):
            raise OtherKeys(others)
        return content

    return _rewrite(path, back, expected)


def differing_keys(before: bytes, after: bytes) -> list[str]:
    """Return the top-level keys with different values; ``(file)`` if one side is unreadable or no mapping."""
    nothing = object()
    with contextlib.suppress(Unreadable):
        old, new = read(before).value or {}, read(after).value or {}
        if isinstance(old, dict) and isinstance(new, dict):
            return sorted(str(key) for key in {*old, *new} if old.get(key, nothing) != new.get(key, nothing))
    return ["(file)"]


def _rewrite(path: Path, make: Callable[[bytes, Path], bytes], expected: str | None, environ: Mapping[str, str] = os.environ) -> Digest:
    path = path.resolve()  # follow a symbolic link, so that it stays one
    with lock_file(path):
        before = path.read_bytes()
        if expected is not None and expected != digest_of(before):
            raise EditConflict(path)
        after = make(before, path)
        parse(after, path, environ)
        if path.read_bytes() != before:
            raise EditConflict(path)
        result = Digest(digest_of(after))
        if after != before:
            result.replaced = save_version(path, before)
            replace_file(path, after)
    return result


def with_change(content: bytes, change: Change, path: Path) -> bytes:
    """Return ``content`` with ``change`` applied, with its comments, quotes, indentation and line ends."""
    try:
        tree = read(content)  # rejects YAML bombs before the slower parser runs
    except Unreadable as error:
        raise error_of(path, [error.mistake]) from error
    text = decode(content).replace("\r\n", "\n")
    edited = None
    if isinstance(change, EntryChange):
        edited = splice(text, tree, change, lambda part: _apply(part, change, path, text))
    if edited is None:
        edited = _apply(text, change, path, text)
    with contextlib.suppress(Unreadable):  # reported when it is loaded
        if read(edited.encode()).value == tree.value:
            return content  # unchanged to the byte
    return (edited.replace("\n", "\r\n") if b"\r\n" in content else edited).encode()


def _apply(text: str, change: Change, path: Path, file_text: str) -> str:
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 100_000  # do not wrap lines
    yaml.allow_unicode = True
    found = DASH.search(file_text)
    offset = len(found["indent"]) if found else 2
    yaml.indent(mapping=2, sequence=offset + 2, offset=offset)
    document = yaml.load(text)
    comments = ""
    if document is None:  # a file of comments only: the parser has no node to attach them to
        document, comments = CommentedMap(), text if text.endswith("\n") or not text else f"{text}\n"
    if not isinstance(document, CommentedMap):
        raise error_of(path, [Mistake(1, (), Message("sources.root-not-a-mapping"))])
    change(document)
    out = io.StringIO()
    yaml.dump(document, out)
    return comments + out.getvalue()


def append(document: CommentedMap, kind: str, values: Mapping[str, Any]) -> None:
    """Append an entry to the list ``kind`` (``feeds`` …), created if missing. A comment after the list stays after it."""
    following = cut_following(document, kind)
    if not document.get(kind):
        document[kind] = CommentedSeq()
    entry = CommentedMap(values)
    document[kind].append(entry)
    add_following(entry, following)


def append_entry(kind: str, values: Mapping[str, Any]) -> EntryChange:
    """Return the change that appends an entry, applied to a few lines if possible."""
    return EntryChange("append", kind, "", lambda document: append(document, kind, values))


def add_following(node: Any, following: str, key: Any = None) -> None:
    """Add comment lines after the value of ``key`` in ``node``, by default its last one."""
    if not following or not node:
        return
    key = _last(node) if key is None else key
    value = node[key]
    if isinstance(value, CommentedMap | CommentedSeq) and value and not value.fa.flow_style():
        add_following(value, following)
        return
    index = 2 if isinstance(node, CommentedMap) else 0
    tokens = node.ca.items.get(key) or [None] * 4
    before = tokens[index].value if tokens[index] is not None else ""
    mark = tokens[index].start_mark if before else CommentMark(0)
    tokens[index] = CommentToken(f"{before.removesuffix(LINE_END)}{LINE_END}{following}", mark, None)
    node.ca.items[key] = tokens


def cut_following(node: Any, key: Any = None) -> str:
    """Remove and return the comment lines that the parser attached to the value of ``key`` in ``node`` (by default the last one)."""
    while isinstance(node, CommentedMap | CommentedSeq) and node:
        key = _last(node) if key is None else key
        if key not in node and isinstance(node, CommentedMap):
            return ""
        index = 2 if isinstance(node, CommentedMap) else 0
        if (token := (node.ca.items.get(key) or [None] * 4)[index]) is not None and LINE_END in token.value:
            inline, _, following = token.value.partition(LINE_END)
            token.value = f"{inline}{LINE_END}" if inline else LINE_END
            return str(following)
        node, key = node[key], None
    return ""


def _last(node: CommentedMap | CommentedSeq) -> Any:
    return list(node)[-1] if isinstance(node, CommentedMap) else len(node) - 1


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Lock ``path`` for one writer per machine (without file locks in the system, writers must compare). Raises ``OSError``."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = path.with_name(f".{path.name}{LOCK_SUFFIX}")
    with lock.open("w") as file:
        keep_owner(path, lock)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def keep_owner(path: Path, *others: Path) -> None:
    """Give the owner of ``path`` to other files, if this user may: after a command by root, the portal can still write them."""
    with contextlib.suppress(OSError, AttributeError):
        for other in others:
            os.chown(other, path.stat().st_uid, path.stat().st_gid)


READABLE = 0o644  # mode of a new file: temporary files are readable by their owner only


def replace_file(path: Path, content: bytes) -> None:
    """Write a temporary file and rename it, so that readers never see a partial file, even after a crash. Raises ``OSError``."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, path.stat().st_mode & 0o7777 if path.exists() else READABLE)
        keep_owner(path, Path(name))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError, AttributeError):  # not all systems can open folders; the file itself is synced
        handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
