"""Reading and writing WARC files: every variant, truncated, damaged, and after a kill."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from newsportal.errors import ArchiveError, ReplayError
from newsportal.net.archive import Exchange, Writer, open_index, url_key

PAGE = "<html><body>今天是晴天。</body></html>".encode("gb18030")
HTML = (("Content-Type", "text/html; charset=gbk"),)


def _archive(
    path: Path, *answers: tuple[str, bytes], packed: bool = True, status: str = "200 OK", headers: tuple[tuple[str, str], ...] = HTML
) -> Path:
    with path.open("ab") as file:
        writer = WARCWriter(file, gzip=packed)
        for url, body in answers:
            http = StatusAndHeaders(status, list(headers), protocol="HTTP/1.1")
            writer.write_record(writer.create_warc_record(url, "response", payload=io.BytesIO(body), length=len(body), http_headers=http))
    return path


THREE = (("http://a.example/", b"front"), ("http://a.example/1", PAGE), ("http://b.example/2?x=1", b"two"))


def _plain(path: Path) -> Path:
    return _archive(path, *THREE, packed=False)


def _members(path: Path) -> Path:
    return _archive(path, *THREE)


def _one_member(path: Path) -> Path:
    _plain(path)
    path.write_bytes(gzip.compress(path.read_bytes()))
    return path


@pytest.mark.parametrize("make", [_plain, _members, _one_member])
def test_every_variant_of_warc_is_read(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    with open_index(make(tmp_path / "a.warc")) as index:
        assert len(index) == 3
        assert index.urls() == tuple(url for url, _ in THREE)
        found = index.get("HTTP://A.example:80/1#top")
        assert found is not None
        assert (found.status, found.headers, found.body) == (200, HTML, PAGE)
        assert index.get("http://b.example/2") is None
        assert "http://b.example/2?x=1" in index
        assert index.warnings == ()


def test_last_response_counts_except_304(tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.warc.gz", ("http://a.example/", b"old"), ("http://a.example/", b"new"))
    _archive(path, ("http://a.example/", b""), status="304 Not Modified")
    with open_index(path) as index:
        found = index.get("http://a.example/")
    assert found is not None
    assert found.body == b"new"


def test_url_keys_are_normalized() -> None:
    assert (
        url_key("http://A.example/路?词=1")
        == url_key("http://a.example:80/%e8%b7%af?%E8%AF%8D=1#x")
        == "http://a.example/%E8%B7%AF?%E8%AF%8D=1"
    )
    assert url_key("<https://a.example>") == "https://a.example/"
    assert url_key("https://a.example:8443/") == "https://a.example:8443/"
    assert url_key("http://a.example/a?b") != url_key("https://a.example/a?b")


def test_chunks_are_joined_and_content_encoding_kept(tmp_path: Path) -> None:
    packed = gzip.compress(PAGE)
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    headers = (("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip"), ("Content-Length", "7"))
    with open_index(_archive(tmp_path / "a.warc.gz", ("http://a.example/", chunked), headers=headers)) as index:
        found = index.get("http://a.example/")
    assert found is not None
    assert found.headers == (("Content-Encoding", "gzip"),)
    assert gzip.decompress(found.body) == PAGE


def test_body_with_false_chunked_header_is_kept(tmp_path: Path) -> None:
    headers = (("Transfer-Encoding", "chunked"),)
    with open_index(_archive(tmp_path / "a.warc.gz", ("http://a.example/", PAGE), headers=headers)) as index:
        found = index.get("http://a.example/")
    assert found is not None
    assert found.body == PAGE


def test_bodies_are_truncated_at_the_limit(tmp_path: Path) -> None:
    with open_index(_archive(tmp_path / "a.warc.gz", ("http://a.example/", b"x" * 300_000))) as index:
        found = index.get("http://a.example/", max_bytes=100_000)
        assert found is not None
        assert (len(found.body), found.truncated) == (100_000, True)
        full = index.get("http://a.example/", max_bytes=300_000)
        assert full is not None
        assert (len(full.body), full.truncated) == (300_000, False)


def test_resource_and_revisit_records(tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.warc.gz", ("http://a.example/first", PAGE))
    with path.open("rb") as file:
        digest = next(ArchiveIterator(file)).rec_headers.get_header("WARC-Payload-Digest")
    with path.open("ab") as file:
        writer = WARCWriter(file, gzip=True)
        http = StatusAndHeaders("200 OK", [("X-Second", "yes")], protocol="HTTP/1.1")
        when = "2026-01-01T00:00:00Z"
        for url, mark, refers in [("second", digest, "first"), ("third", "sha1:UNKNOWN", "first"), ("lost", "sha1:UNKNOWN", "gone")]:
            writer.write_record(
                writer.create_revisit_record(f"http://a.example/{url}", mark, f"http://a.example/{refers}", when, http_headers=http)
            )
        resource = writer.create_warc_record(
            "http://a.example/r", "resource", payload=io.BytesIO(b"{}"), length=2, warc_content_type="application/json"
        )
        writer.write_record(resource)
    with open_index(path) as index:
        for url in ("second", "third"):
            found = index.get(f"http://a.example/{url}")
            assert found is not None
            assert (found.body, found.headers) == (PAGE, (("X-Second", "yes"),))
        assert index.get("http://a.example/lost") is None
        found = index.get("http://a.example/r")
        assert found is not None
        assert (found.status, found.headers, found.body) == (200, (("Content-Type", "application/json"),), b"{}")


@pytest.mark.parametrize("make", [_plain, _members, _one_member])
def test_truncated_file_is_read_up_to_the_cut(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = _archive(tmp_path / "a", *THREE, ("http://c.example/", os.urandom(50_000)), packed=make is _members)
    content = gzip.compress(path.read_bytes()) if make is _one_member else path.read_bytes()
    path.write_bytes(content[:-20_000])
    with open_index(path) as index:
        assert len(index) == 3
        assert "cut" in index.warnings[0]
        assert str(path) in index.warnings[0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no HTTP response"),
        (b"<html>not an archive</html>", "not a readable WARC file at byte 0"),
        (gzip.compress(b"hello", mtime=0), "not a readable WARC file"),
        (b"PK\x03\x04" + bytes(100), "not a readable WARC file"),
    ],
)
def test_file_that_is_not_an_archive_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(content)
    with pytest.raises(ReplayError, match=words) as caught:
        open_index(path)
    assert str(path) in str(caught.value)


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match=r"nowhere\.warc: No such file"):
        open_index(tmp_path / "nowhere.warc")


def test_damage_is_reported_with_its_offset(tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.warc.gz", THREE[0])
    first = path.stat().st_size
    _archive(path, *THREE[1:])
    damaged = bytearray(path.read_bytes())
    damaged[first + 40 : first + 80] = bytes(40)
    path.write_bytes(damaged)
    with pytest.raises(ReplayError, match=f"at byte {first} .after 1 records"):
        open_index(path)


def _raw(url: str, block: bytes, content_type: str = "application/http; msgtype=response", length: object = None) -> bytes:
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Type: {content_type}\r\n"
    length = len(block) if length is None else length
    return (head + (f"Content-Length: {length}\r\n" if length != "" else "") + "\r\n").encode() + block + b"\r\n\r\n"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("odd", "status"),
    [
        (_raw("http://odd.example/", b""), None),
        (_raw("http://odd.example/", b"HTTP/1.1 abc\r\n\r\nx"), 502),
        (_raw("http://odd.example/", b"HTTP/1.1 204 No Content\r\nA: b\r\n"), 204),
        (_raw("http://odd.example/", b"HTTP/1.1 200 OK\nA: b\n\nbody"), 200),
        (_raw("http://odd.example/", b"HTTP/1.1 200 OK\r\nX: \xff\xfe\r\n\r\nx"), 200),
        (_raw("http://[odd/", b"HTTP/1.1 200 OK\r\n\r\nx"), None),
        (_raw("dns:odd.example", b"20200101", "text/dns"), None),
    ],
)
def test_unusual_record_does_not_affect_others(tmp_path: Path, odd: bytes, status: int | None, packed: bool) -> None:
    records = [_raw(f"http://a.example/{number}", b"HTTP/1.1 200 OK\r\n\r\nbody") for number in range(2)]
    records.insert(1, odd)
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(map(gzip.compress, records) if packed else records))
    with open_index(path) as index:
        found = index.get("http://odd.example/")
        assert (found.status if found else None) == status
        assert {"http://a.example/0", "http://a.example/1"} <= set(index.urls())
        assert index.warnings == ()


@pytest.mark.parametrize(("length", "words"), [("", "record 1 has no length"), ("-5", "at byte 1"), ("soon", "at byte 1")])
def test_record_without_valid_length_is_reported(tmp_path: Path, length: str, words: str) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(_raw("http://a.example/", b"HTTP/1.1 200 OK\r\n\r\nx", length=length) + _raw("http://b.example/", b""))
    with pytest.raises(ReplayError, match=words):
        open_index(path)


def test_progress_is_reported(tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.warc.gz", *((f"http://a.example/{number}", b"x") for number in range(1200)))
    steps: list[tuple[int, int]] = []
    open_index(path, lambda done, total: steps.append((done, total))).close()
    assert len(steps) == 3
    assert steps == sorted(steps)
    assert steps[-1] == (path.stat().st_size, path.stat().st_size)


# writing

EXCHANGE = Exchange(
    "https://a.example/路?x=1",
    200,
    (("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("X-Twice", "1"), ("X-Twice", "2"), ("Location", "/\xe8\xb7\xaf")),
    gzip.compress(PAGE, mtime=0),
    request_headers=(("User-Agent", "newsportal"), ("Authorization", "Bearer t"), ("Cookie", "a=b")),
    address="203.0.113.7",
)


def test_written_exchange_round_trip(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.warc.gz") as writer:
        writer.write(EXCHANGE)
    with open_index(tmp_path / "a.warc.gz") as index:
        found = index.get(EXCHANGE.url)
    assert found is not None
    assert (found.status, found.body) == (200, EXCHANGE.body)
    assert found.headers == (*EXCHANGE.headers[:-1], ("Location", "/路"))


def test_records_conform_to_the_standard(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.warc.gz", "newsportal/0.1") as writer:
        writer.write(EXCHANGE)
    with (tmp_path / "a.warc.gz").open("rb") as file:
        found = ArchiveIterator(file, check_digests="raise")
        records = [(record.rec_type, record.rec_headers, record.http_headers, record.content_stream().read()) for record in found]
    assert [kind for kind, *_ in records] == ["warcinfo", "request", "response"]
    _, request, request_http, _ = records[1]
    _, response, _, body = records[2]
    assert body == PAGE
    assert response.get_header("WARC-Payload-Digest").startswith("sha1:")
    assert response.get_header("WARC-Block-Digest").startswith("sha1:")
    assert response.get_header("WARC-IP-Address") == "203.0.113.7"
    assert request.get_header("WARC-Concurrent-To") == response.get_header("WARC-Record-ID")
    assert request_http.protocol == "GET"
    assert request_http.headers == [("User-Agent", "newsportal")]
    assert b"newsportal/0.1" in records[0][3]


@pytest.mark.parametrize("cut", [1, 5, 25, 200, 2000])
def test_torn_record_is_cut_off_before_appending(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.warc.gz"
    with Writer(path) as writer:
        writer.write(Exchange("http://a.example/1", 200, HTML, PAGE))
        size = path.stat().st_size
        writer.write(Exchange("http://a.example/2", 200, HTML, os.urandom(3000)))
    end = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(end - cut)
    with Writer(path) as writer:
        writer.write(Exchange("http://a.example/3", 200, HTML, PAGE))
    with open_index(path) as index:
        assert index.warnings == ()
        assert index.urls() == ("http://a.example/1", "http://a.example/3")
    assert size < end


def test_file_torn_in_its_first_record_is_restarted(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00\x00")
    with Writer(path) as writer:
        writer.write(EXCHANGE)
    with open_index(path) as index:
        assert len(index) == 1


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"precious notes\n" * 10)
    with pytest.raises(ArchiveError, match="not a gzipped WARC file"):
        Writer(path)
    assert path.read_bytes() == b"precious notes\n" * 10
    with pytest.raises(ArchiveError, match="No such file"):
        Writer(tmp_path / "no" / "where.warc.gz")


def test_second_writer_is_refused(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.warc.gz"), pytest.raises(ArchiveError, match="another process"):
        Writer(tmp_path / "a.warc.gz")


KILLED = """
import sys
from newsportal.net.archive import Exchange, Writer
writer = Writer(sys.argv[1])
for number in range(10**6):
    writer.write(Exchange(f"http://a.example/{number}", 200, (), bytes(range(256)) * 40))
    print(number, flush=True)
"""


def test_killed_writer_loses_at_most_one_record(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    for _ in range(2):  # the second run opens the file left by the first
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        printed = [child.stdout.readline() for _ in range(40)]
        time.sleep(0.003)
        child.send_signal(signal.SIGKILL)
        printed += child.stdout.readlines()
        child.wait()
        child.stdout.close()
        with open_index(path) as index:
            assert len(index) >= len(printed) - 1
            assert f"http://a.example/{len(printed) - 2}" in index
