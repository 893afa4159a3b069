"""The file format of models: a zip archive of plain arrays (NumPy's ``.npz``) and a JSON header. It cannot contain code.

The header is an array of UTF-8 bytes; ``format`` is the version of the format, ``kind`` identifies our files. Sizes are checked before
decompression, so that a small file cannot fill the memory.
"""

import json
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from newsportal.errors import ModelError

Arrays: TypeAlias = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of model. ``header``: name of the array with the header; ``largest``: maximum bytes of all arrays together, decompressed."""

    kind: str
    format: int
    largest: int
    largest_header: int
    header: str = "header"
    compression: int = 6


CLASSIFIER: Final = Form("newsportal model", 1, 512 << 20, 8 << 20)  # far above any of our models (about 20 MB)
MOST_ARRAYS: Final = 64

METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})  # allowed compression methods: :func:`pack` uses deflate
DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError, KeyError, TypeError, RuntimeError, SyntaxError, tokenize.TokenError
)  # fmt: skip
"""Exceptions of zipfile, zlib and NumPy for damaged data."""


def pack(facts: Mapping[str, Any], arrays: Arrays, form: Form = CLASSIFIER) -> bytes:
    """Serialize ``facts`` (JSON) and ``arrays`` (no objects) to one file; equal values give equal bytes."""
    text = json.dumps({**facts, "kind": form.kind, "format": form.format}, ensure_ascii=False, sort_keys=True)
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=form.compression) as archive:
        for name, array in {form.header: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}.items():
            raw = BytesIO()
            np.lib.format.write_array(raw, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), raw.getvalue(), zipfile.ZIP_DEFLATED, form.compression)
    return out.getvalue()


def header(data: bytes, form: Form = CLASSIFIER) -> dict[str, Any]:
    """Return only the header. Raises ``ModelError`` for a file of another format, damaged, or of a newer version."""
    with _opened(data, form) as archive:
        return _header(archive, form)


def unpack(data: bytes, form: Form = CLASSIFIER) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays. Raises ``ModelError`` like :func:`header`."""
    with _opened(data, form) as archive:
        facts = _header(archive, form)
        names = [info.filename.removesuffix(".npy") for info in archive.infolist()]
        return facts, {name: _array(archive, name, form) for name in names if name != form.header}


def _opened(data: bytes, form: Form) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise ModelError("this is no model file, or it is damaged") from error
    members = archive.infolist()
    if len(members) > MOST_ARRAYS or sum(info.file_size for info in members) > form.largest:
        raise ModelError(f"the model is larger than {form.largest >> 20} MiB when unpacked, or has more than {MOST_ARRAYS} parts")
    if any(info.compress_type not in METHODS for info in members):
        raise ModelError("this is no model file of newsportal: its parts are packed in another way")
    return archive


def _header(archive: zipfile.ZipFile, form: Form) -> dict[str, Any]:
    found = {info.filename: info for info in archive.infolist()}.get(f"{form.header}.npy")
    if found is None or found.file_size > form.largest_header:
        raise ModelError("this is no model file of newsportal: it has no header")
    try:
        facts = json.loads(_array(archive, form.header, form).tobytes())
    except (ValueError, RecursionError) as error:
        raise ModelError("the model's header is damaged") from error
    if not isinstance(facts, dict) or facts.get("kind") != form.kind or not isinstance(facts.get("format"), int):
        raise ModelError("this is no model file of newsportal")
    if facts["format"] > form.format:
        raise ModelError(f"the model has format {facts['format']}, this version reads up to {form.format}: update newsportal or train anew")
    return facts


def _array(archive: zipfile.ZipFile, name: str, form: Form) -> NDArray[Any]:
    """Read one array. Its header cannot claim more memory than the archive entry has bytes."""
    try:
        with archive.open(f"{name}.npy") as member:
            raw = member.read(form.largest + 1)
        stream = BytesIO(raw)
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError("an unknown version of NumPy's format")
        claimed = np.lib.format.read_array_header_1_0(stream)
        if int(np.prod(claimed[0], dtype=object)) * claimed[2].itemsize > len(raw) or claimed[2].hasobject:
            raise ModelError(f"the model's part {name!r} is damaged")
        return np.lib.format.read_array(BytesIO(raw), allow_pickle=False)
    except DAMAGE as error:
        raise ModelError(f"the model's part {name!r} is damaged") from error
