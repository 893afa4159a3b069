"""Character processing: cleaning, normal forms for comparison, and conversion between Chinese scripts. The only module that uses OpenCC."""

import re
import unicodedata
from array import array
from collections.abc import Callable
from functools import cache, lru_cache, wraps
from importlib.resources import files
from threading import Lock
from typing import Any, Literal, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Soft hyphen, zero-width and direction marks: they carry no text, and some titles are padded with them."""

JOINED = "\u0600-\u06ff\u0750-\u077f\u0900-\u0dff\u2600-\u27bf\ufe0f\U0001f300-\U0001faff"
REMOVED = re.compile(f"(?:(?![\u200c\u200d])|(?<![{JOINED}])){INVISIBLE.pattern}")
"""Invisible characters except joiners after Arabic and Indic letters and emoji: without them, other characters are shown."""

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 and terminals do not accept: control characters except tab and line feed, lone surrogates, non-characters."""

NON_LETTERS = re.compile(r"[\W_]+")
CJK = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Chinese characters (unified ideographs with extensions and compatibility forms)."""

BOILERPLATE = re.compile(
    r"关注(?:我们|本|微信|公众|官方)|欢迎(?:关注|订阅|投稿|下载|扫)|敬请(?:关注|期待)"
    r"|更多[^，。]{0,12}(?:新闻|资讯|内容|精彩|报道|信息)[^。]{0,6}(?:关注|点击|访问|下载|请)|请(?:关注|点击|扫描|访问|下载)"
    r"|风险提示|风险自担|投资(?:有风险|需谨慎)|仅供参考|不构成|免责声明|版权(?:所有|声明)|侵权|(?:未经|不作)[^，。]{0,6}(?:证实|保证)|未经[^，。]{0,8}(?:授权|许可)|转载请?"
    r"|仅代表|不代表(?:本|[^，。]{0,8}(?:观点|立场))|扫(?:码|描|一扫)|二维码|公众号|客户端(?:下载|查看)|下载[^，。]{0,8}(?:客户端|app)"
    r"|点击(?:这里|查看|进入|阅读|下载|上方|下方)|(?:查看|阅读)原文|(?:推荐|相关|延伸|更多)(?:阅读|新闻|报道|链接)|^[（(]?原标题"
    r"|责任?编辑?[:：]|责编|[（(](?:编辑|来源|记者|作者|文章来源)[^）)]{0,30}[)）]$"
    r"|^(?:来源|作者|编辑|文|图|审核|校对|监制|记者|关键词|标签|声明)\s*[|:：/丨]|(?:资料图|供图|摄影?|图片来源[^。]*)[。）)]*$"
    r"|^图(?:为|片|[一二三四五六\d])|^左起|视频(?:加载|截图)|热线|爆料|<!--|-->|[》>]{3}|^往期|^热点|回复[^，。]{0,8}即可"
    r"|本文(?:来自|首发|转自|为|由)|点个?(?:赞|在看)|subscribe|sign up|newsletter|click here|follow us|read more"
    r"|all rights reserved|photo by|getty images|disclaimer|cookie|advertisement"
)
"""Boilerplate before and after news text; matched in lower case."""

MAX_BOILERPLATE = 160  # characters of a line of boilerplate: a longer one holds news, too
_CJK_RUNS = re.compile(f"{CJK.pattern}+")
_HAN_RUNS = re.compile("[\u4e00-\u9fef]+")  # letters in every version of Unicode since 11


def clean(text: str) -> str:
    """Return ``text`` on one line without invisible and control characters, with each run of white space as one space."""
    if text.isprintable() and "  " not in text:  # true of most texts: of white space, only the space is printable
        return text.strip(" ")
    text = " ".join(text.split())
    return text if text.isprintable() else " ".join(CONTROL.sub(" ", REMOVED.sub("", text)).split())


def encodable(text: str) -> str:
    """Replace lone surrogates in ``text``, which segmenters and RE2 do not accept, by question marks of the same length."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def normalise(text: str) -> str:
    """Return the normal form for comparing texts: NFKC (full width becomes half width), simplified characters, lower case, cleaned.

    Only characters matter, not words: if a character has several simplified forms (瞭解 is 了解, 瞭望 stays), all become one, so that both
    scripts give the same result. It is not meant for reading.
    """
    return clean(unicodedata.normalize("NFKC", text).translate(_joining_table())).lower()


def letters(text: str) -> str:
    """Return only the letters and digits of the normalized text: punctuation and white space differ between reposts."""
    return NON_LETTERS.sub("", normalise(text))


def news_length(text: str) -> int:
    """Return the number of characters of ``text`` without boilerplate in short lines at its end."""
    lines = text.splitlines()
    while len(lines) > 1 and len(lines[-1]) <= MAX_BOILERPLATE and BOILERPLATE.search(lines[-1].lower()):
        lines.pop()
    return len("\n".join(lines))


def chinese_share(text: str) -> float:
    """Return the share (0 to 1) of Chinese characters among the letters of ``text``."""
    found = len(text) - len(_CJK_RUNS.sub("", text)) if CJK.search(text) else 0
    others = _HAN_RUNS.sub("", text) if found else ""
    total = len(text) - len(others) + sum(map(str.isalpha, others))
    return found / total if total else 0.0


def cached_search(expression: str) -> Callable[[str], bool]:
    """Return a cached test whether a text contains ``expression``, ignoring case; for class names and labels, which recur."""
    pattern = re.compile(expression, re.IGNORECASE)
    return lru_cache(maxsize=4096)(lambda text: pattern.search(text) is not None)


FOLDED_PLANES = 0x30000  # code points below this are folded: the basic, supplementary and ideographic planes


def cache_once(make: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Cache like :func:`functools.cache`, but compute only once if several threads call at the same time."""
    cached, lock = cache(make), Lock()

    @wraps(make)
    def once(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with lock:
            return cached(*args, **kwargs)  # type: ignore[arg-type]

    return once


@cache
def all_characters() -> str:
    """Return all characters of the folded planes; each index is a code point."""
    return array("I", range(FOLDED_PLANES)).tobytes().decode("utf-32", "surrogatepass")


BLOCK = 256  # characters tested together for changes: most blocks are ideographs and Hangul, which do not change


@cache_once
def _changed_forms() -> tuple[str, ...]:
    """Return the characters that NFKC or lower case changes."""
    blocks = (all_characters()[start : start + BLOCK] for start in range(0, FOLDED_PLANES, BLOCK))
    return tuple(
        character
        for block in blocks
        if not (unicodedata.is_normalized("NFKC", block) and block == block.lower())
        for character in block
        if not (unicodedata.is_normalized("NFKC", character) and character == character.lower())
    )


@cache_once
def _folding_table() -> dict[int, str]:
    """Return the one-to-one table: full width, compatibility forms, traditional characters and capitals to the plain character."""
    simple = {traditional: forms[0] for traditional, forms in _dictionary("TSCharacters.txt")}
    table: dict[int, str] = {}
    for character in {*simple, *_changed_forms()}:
        plain = unicodedata.normalize("NFKC", character)
        plain = simple.get(plain, plain).lower()
        if len(plain) == 1 and plain != character:
            table[ord(character)] = plain
    return table


@cache_once
def _joining_table() -> dict[int, str]:
    """Return the table :func:`_folding_table`, with all simplified forms of a character joined into one."""
    folded = _folding_table()
    joined: dict[str, str] = {}
    several = [(old, new) for old, forms in _dictionary("TSCharacters.txt") if len(forms) > 1 for new in forms]
    words = [(old, new) for old_word, new_words in _dictionary("TSPhrases.txt") for old, new in zip(old_word, new_words[0], strict=False)]
    for pair in (*several, *words):
        first, second = (_resolve(joined, folded.get(ord(character), character)) for character in pair)
        if first != second:
            joined[second] = first
    return {code: _resolve(joined, plain) for code, plain in folded.items()} | {ord(form): _resolve(joined, form) for form in joined}


def changed_characters() -> dict[str, str]:
    """Return the characters of the folded planes that :func:`normalise` changes, with their :func:`letters`."""
    changed = frozenset(_changed_forms()).union(map(chr, _joining_table()))
    forms = unicodedata.normalize("NFKC", "\n".join(changed)).translate(_joining_table()).lower()  # no line break is among them
    return dict(zip(changed, (NON_LETTERS.sub("", form) for form in forms.split("\n")), strict=True))


def _resolve(joined: dict[str, str], form: str) -> str:
    while form in joined:
        form = joined[form]
    return form


def _dictionary(name: str) -> list[tuple[str, list[str]]]:
    """Return one of OpenCC's dictionaries: each traditional character or word with its simplified forms, the usual one first."""
    lines = (files("opencc") / "dictionary" / name).read_text(encoding="utf-8").splitlines()
    entries = (line.split("\t") for line in lines if "\t" in line)
    return [(entry, translations.split(" ")) for entry, translations in entries]


def fold_characters(text: str) -> str:
    """Replace each character of ``text`` by its plain form, keeping positions: ``fold_characters(text)[i]`` comes from ``text[i]``.

    The character-by-character part of :func:`normalise`: fast enough for full texts (40 MB/s), and matches can be marked in the original.
    Characters with a longer plain form (``㎏``) are unchanged.
    """
    return text.translate(_folding_table())


def visible_length(text: str) -> int:
    """Return the number of characters that are not white space."""
    return sum(map(len, text.split()))


# Chinese in the reader's script. Only for display: texts are stored, searched and compared as :func:`normalise` returns them.

Script = Literal["simplified", "traditional"]

CONVERSIONS: dict[Script, str] = {"simplified": "t2s", "traditional": "s2tw"}
"""OpenCC configurations: ``s2tw`` uses the forms written in Taiwan and Hong Kong (為, 吃), ``s2t`` those of its own standard (爲, 喫)."""

TAGS: dict[Script, str] = {"simplified": "zh-Hans", "traditional": "zh-Hant"}
"""Value of ``lang`` for each script, by which the browser selects glyphs."""

MAX_CACHED_CHARS = 400  # titles and excerpts recur on many pages and are cached; whole texts are not
MAX_CACHED = 10_000  # cached texts, some 10 MB

MAX_CHARS = 100_000  # characters converted of one text (0.2 s); the rest is unchanged. A long chapter of a novel has 10,000.
KANA = re.compile("[\u3041-\u30ff]")  # Japanese has its own characters
TAG = re.compile(r'<(?:"[^"]*"|[^">])*>')


def convert(text: str, script: Script) -> str:
    """Convert ``text`` to ``script``. Non-Chinese and Japanese texts are unchanged."""
    if text.isascii() or not CJK.search(text) or KANA.search(text):
        return text
    if len(text) <= MAX_CACHED_CHARS:
        return _remembered(text, script)
    return _converted(text[:MAX_CHARS], script) + text[MAX_CHARS:]


def convert_html(fragment: str, script: Script) -> str:
    """Convert the text of a clean HTML fragment to ``script``; tags are unchanged."""
    if KANA.search(fragment):
        return fragment
    pieces: list[str] = []
    last = 0
    for tag in TAG.finditer(fragment, 0, MAX_CHARS):
        pieces += [convert(fragment[last : tag.start()], script), tag[0]]
        last = tag.end()
    return "".join([*pieces, convert(fragment[last:], script)])


def _converted(text: str, script: Script) -> str:
    return str(_converter(script).convert(text))


_remembered = lru_cache(maxsize=MAX_CACHED)(_converted)


@cache_once
def _converter(script: Script) -> Any:
    """Load the converter; its dictionaries take 0.1 s, once."""
    from opencc import OpenCC

    return OpenCC(CONVERSIONS[script])
