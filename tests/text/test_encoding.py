"""Detection of encodings: the bytes decide, whatever the header and the meta element declare."""

from __future__ import annotations

import pytest

from newsportal.text.encoding import decode, is_garbled

SIMPLIFIED = "央行今日宣布下调存款准备金率，市场反应热烈。记者从多家银行了解到，这是今年以来的第二次调整。"
TRADITIONAL = "央行今日宣布下調存款準備金率，市場反應熱烈。記者從多家銀行瞭解到，這是今年以來的第二次調整。"
JAPANESE = "東京都は十日、新しい経済対策を発表した。知事は記者会見で、中小企業の支援を強化すると述べた。"
KOREAN = "시는 10일 새로운 경제 대책을 발표했다. 시장은 기자회견에서 중소기업 지원을 강화하겠다고 말했다."
FRENCH = "Le président a déclaré hier à l'assemblée que l’été serait très chaud – et même caniculaire."
RUSSIAN = "Президент заявил вчера, что лето будет очень жарким, и попросил министров подготовиться."

CASES = [
    (SIMPLIFIED, "gb18030", "gb2312"),
    (SIMPLIFIED + "镕㐂𠮷", "gb18030", "gb2312"),
    (TRADITIONAL, "big5hkscs", "big5"),
    (TRADITIONAL + "嘅唔該", "big5hkscs", "Big5-HKSCS"),
    (TRADITIONAL, "gb18030", "gbk"),
    (JAPANESE, "cp932", "shift_jis"),
    (JAPANESE, "euc_jp", "euc-jp"),
    (KOREAN, "cp949", "euc-kr"),
    (FRENCH, "cp1252", "iso-8859-1"),
    (RUSSIAN, "cp1251", "windows-1251"),
    (RUSSIAN, "koi8-r", "koi8-r"),
]


def page(text: str, meta: str | None = None) -> str:
    declared = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">' if meta else ""
    return f"<html><head>{declared}<title>{text[:12]}</title></head><body><p>{text}</p><p>{text[::-1]}</p></body></html>"


@pytest.mark.parametrize(("text", "codec", "label"), CASES)
def test_encoding_declared_in_header_meta_or_neither(text: str, codec: str, label: str) -> None:
    for body, header in (
        (page(text), f"text/html; charset={label}"),
        (page(text, label), None),
        (page(text), None),
        (page(text), "text/html; charset=x-bogus"),
    ):
        assert text in decode(body.encode(codec), header)[0], header


@pytest.mark.parametrize(
    ("text", "codec"), [(SIMPLIFIED, "gb18030"), (TRADITIONAL, "big5hkscs"), (RUSSIAN, "cp1251"), (FRENCH, "cp1252"), (KOREAN, "cp949")]
)
@pytest.mark.parametrize("lie", ["utf-8", "gbk", "big5", "iso-8859-1", "utf-16", "unicode_escape", "zlib", "utf-7"])
def test_wrong_header_is_ignored(text: str, codec: str, lie: str) -> None:
    assert text in decode(page(text).encode(codec), f"text/html; charset={lie}")[0]


@pytest.mark.parametrize("lie", ["gb2312", "iso-8859-1", "big5"])
def test_utf8_is_detected_despite_other_declaration(lie: str) -> None:
    assert decode(page(SIMPLIFIED, lie).encode(), f"text/html; charset={lie}") == (page(SIMPLIFIED, lie), "utf-8")


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_bom_and_wide_encodings(codec: str) -> None:
    assert decode(page(SIMPLIFIED).encode(codec), "text/html; charset=gbk")[0] == page(SIMPLIFIED)


def test_utf8_with_few_invalid_bytes_is_detected() -> None:
    body = page(SIMPLIFIED * 5).encode()
    broken = body[:300] + b"\xff\xfe" + body[300:-200] + b"\xe4\xb8"
    text, codec = decode(broken, "text/html; charset=gbk")
    assert codec == "utf-8"
    assert SIMPLIFIED in text


def test_invalid_bytes_in_gb18030_are_isolated() -> None:
    body = page(SIMPLIFIED * 5, "gb2312").encode("gb18030")
    text, codec = decode(body[:-60] + b"\xff\xff" + body[-60:])
    assert codec == "gb18030"
    assert SIMPLIFIED in text


def test_late_meta_declaration_is_found() -> None:
    body = "<html><head><script>" + "/* padding */" * 3000 + f"</script><meta charset='big5'><title>{TRADITIONAL[:4]}"
    assert decode(body.encode("big5hkscs"))[0].endswith(TRADITIONAL[:4])


@pytest.mark.parametrize(
    "body", [b"", b"\x00" * 5000, b"\xff" * 5000, bytes(range(256)) * 50, b"<" * 100_000 + b"\xe4", b"\xef\xbb\xbf", b"\xff\xfe\x00"]
)
def test_any_bytes_are_decoded(body: bytes) -> None:
    for header in (None, "text/html; charset=gbk", "charset=" + "x" * 10_000, "\x00"):
        assert isinstance(decode(body, header)[0], str)


def test_short_title_is_decoded() -> None:
    assert "台风登陆" in decode("<title>台风登陆浙江沿海</title>".encode("gbk"))[0]


ARABIC = "أعلن الرئيس أمس أن الصيف سيكون حارا جدا، ودعا الوزراء إلى الاستعداد له في جميع أنحاء البلاد."
THAI = "นายกรัฐมนตรีกล่าวเมื่อวานนี้ว่าฤดูร้อนปีนี้จะร้อนมาก และขอให้รัฐมนตรีเตรียมตัว"


@pytest.mark.parametrize(
    "text", [SIMPLIFIED, TRADITIONAL, JAPANESE, KOREAN, FRENCH, RUSSIAN, ARABIC, THAI, "plain", "", "one bad \ufffd sign in it, 好的"]
)
def test_texts_of_any_script_are_not_garbled(text: str) -> None:
    assert not is_garbled(text)


@pytest.mark.parametrize(
    "text",
    [
        SIMPLIFIED.encode("gb18030").decode("utf-8", "replace"),
        SIMPLIFIED.encode("gb18030").decode("cp1252", "replace"),
        SIMPLIFIED.encode().decode("cp1252", "replace"),
        SIMPLIFIED.encode().decode("gb18030", "replace"),
        TRADITIONAL.encode("big5hkscs").decode("gb18030", "replace"),
        RUSSIAN.encode("cp1251").decode("cp1252"),
    ],
)
def test_wrongly_decoded_texts_are_garbled(text: str) -> None:
    assert is_garbled(text * 3)
