import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from newsportal.classify.base import Example, restore, train
from newsportal.errors import ModelError
from newsportal.packing import CLASSIFIER, header, pack, unpack

ARRAYS = {"weights": np.arange(6, dtype=np.float16).reshape(2, 3), "empty": np.zeros(0, dtype=np.uint32)}


def test_round_trip():
    facts, arrays = unpack(pack({"algorithm": "x", "labels": ["体育/足球"]}, ARRAYS))
    assert facts["labels"] == ["体育/足球"]
    assert arrays.keys() == ARRAYS.keys()
    assert all((arrays[name] == ARRAYS[name]).all() and arrays[name].dtype == ARRAYS[name].dtype for name in ARRAYS)


def test_same_values_give_same_bytes():
    assert pack({"b": 1, "a": 2}, ARRAYS) == pack({"a": 2, "b": 1}, ARRAYS)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"{}" * 99, bytes(range(256)) * 9])
def test_foreign_file_is_refused(data):
    with pytest.raises(ModelError):
        header(data)


def test_foreign_archive_is_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("header.npy", "text")
    for data in (out.getvalue(), _npz(header=np.frombuffer(b'{"kind": "other"}', np.uint8)), _npz(other=np.zeros(3))):
        with pytest.raises(ModelError):
            unpack(data)


def test_newer_format_is_reported():
    text = json.dumps({"kind": CLASSIFIER.kind, "format": CLASSIFIER.format + 1}).encode()
    with pytest.raises(ModelError, match="update newsportal"):
        header(_npz(header=np.frombuffer(text, np.uint8)))


def test_damaged_bytes_are_reported_or_harmless():
    data = pack({"algorithm": "x"}, ARRAYS)
    refused = 0
    for place in range(0, len(data), 3):
        broken = bytearray(data)
        broken[place] ^= 0xFF
        try:
            unpack(bytes(broken))
        except ModelError:
            refused += 1
    assert refused > len(data) // 3 // 3
    for end in range(0, len(data), 7):
        with pytest.raises(ModelError):
            unpack(data[:end])


def test_pickled_objects_are_refused():
    with pytest.raises(ModelError):
        unpack(_npz(header=np.array([{"kind": CLASSIFIER.kind}], dtype=object)))


def test_zip_bomb_is_refused_before_unpacking():
    data = pack({}, {"zeros": np.zeros(1 << 20)})
    assert len(data) < 1 << 16
    with pytest.raises(ModelError, match="larger than 1 MiB"):
        header(data, replace(CLASSIFIER, largest=1 << 20))


def test_array_with_false_size_is_refused():
    raw = io.BytesIO()
    np.lib.format.write_array_header_1_0(raw, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)})
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(pack({}, {}))) as good, zipfile.ZipFile(out, "w") as archive:
        archive.writestr("header.npy", good.read("header.npy"))
        archive.writestr("huge.npy", raw.getvalue())
    with pytest.raises(ModelError, match="huge"):
        unpack(out.getvalue())


def test_other_compression_is_refused():
    """LZMA and bzip2 raise other exceptions on damaged bytes, and our files never use them."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(pack({}, {}))) as good, zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("header.npy", good.read("header.npy"))
    broken = bytearray(out.getvalue())
    broken[60] ^= 0xFF
    for data in (out.getvalue(), bytes(broken)):
        with pytest.raises(ModelError):
            unpack(data)


def test_deeply_nested_header_is_refused():
    with pytest.raises(ModelError, match="header is damaged"):
        header(_npz(header=np.frombuffer(b"[" * 200_000, np.uint8)))


def test_scalar_part_is_refused_by_its_model():
    model = train("linear", [Example(text, (label,)) for label, text in (("球", "球队进球"), ("钱", "股市上涨")) for _ in range(5)])
    out = io.BytesIO(model.to_bytes())
    raw = io.BytesIO()
    np.lib.format.write_array(raw, np.array(5, dtype=np.uint32))
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("codes.npy", raw.getvalue())
    with pytest.raises(ModelError, match="are inconsistent"):
        restore(out.getvalue())


def test_unknown_algorithm_is_reported():
    with pytest.raises(ModelError, match="'magic'"):
        restore(pack({"algorithm": "magic"}, {}))


def _npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()
