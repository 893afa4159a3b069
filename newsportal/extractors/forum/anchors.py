"""Recognise the parts of a post other than its text: a time, a member's name, a floor, a permalink.

Times are searched in short texts and in attributes (``datetime``, ``title``, ``data-*``), absolute and relative, in several languages; this
module only detects them: ``extractors/date`` parses them.
"""

import re
from typing import Final

from newsportal.extractors.fields.date_forms import MONTH, MONTHS, words_of
from newsportal.extractors.forum.addresses import MAX_CHARS
from newsportal.extractors.forum.tree import MAX_POSTS, TIME_ATTRIBUTES, Node, Tree
from newsportal.text.characters import cached_search

MAX_TIME_CHARS: Final = 110  # longer texts are prose; the longest line with time, author and board has ninety
MIN_TIME_CHARS: Final = 2
MAX_TIMES: Final = 4 * MAX_POSTS  # in texts of a page: a post may have its own, the member's, one of an edit
_UNIT: Final = (
    r"秒钟?|秒鐘|分钟|分鐘|小时|小時|天|日|[个個]月|月|周|週|星期|年|"
    r"s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?|rs?)?|d(?:ays?)?|w(?:eeks?|ks?)?|mo(?:nths?)?|y(?:ears?|rs?)?|"
    r"sekunden?|minuten?|stunden?|tag(?:en?)?|wochen?|monat(?:en?)?|jahr(?:en?)?|"
    r"secondes?|heures?|jours?|semaines?|mois|ans?|segundos?|minutos?|horas?|d[ií]as?|semanas?|mes(?:es)?|años?|anos?|"
    r"secondi|minuti|or[ae]|giorn[io]|settiman[ae]|mes[ei]|ann[io]|секунд\w*|минут\w*|час\w*|дн\w+|день|недел\w+|месяц\w*|год\w*|лет"
)
_CLOCK: Final = r"\d{1,2}[:.h時时点點]\d{2}"
NUMERIC: Final = re.compile(
    r"(?<!\d)(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}(?!\d)"
    r"|(?<![\d.])\d{1,2}[-/.]\d{1,2}[-/.](?:(?:19|20)\d\d|\d\d(?=\D{1,6}" + _CLOCK + r"|\W*$))"
    r"|(?<!\d)\d{1,2}月\d{1,2}日|(?<![\d.-])\d{2}-\d{2}\s\d{2}:\d{2}(?!\d)|(?<!\d)\d{2}-\d{1,2}-\d{1,2}\s\d{1,2}:\d{2}(?!\d)",
    re.IGNORECASE,
)
ABSOLUTE: Final = re.compile(
    rf"{NUMERIC.pattern}|(?<!\w){MONTH}\.?\s{{0,3}}\d{{1,2}}(?:st|nd|rd|th)?(?!\d)"
    rf"|(?<!\d)\d{{1,2}}(?:st|nd|rd|th|\.)?[\s-]{{1,3}}(?:de\s)?{MONTH}|(?<!\w){MONTH}\.?,?\s(?:19|20)\d\d(?!\d)",
    re.IGNORECASE,
)
RELATIVE: Final = re.compile(
    rf"(?<!\w)(?:\d{{1,3}}|[一二两兩三四五六七八九十半几]{{1,3}}|an?|one|ein(?:em|er)?)\s?(?:{_UNIT})\s?\w{{0,12}}\s?"
    r"(?:之?前|以前|ago|her\b|fa\b|назад|atrás|geleden|temu)"
    rf"|(?<!\w)(?:vor|il y a|hace|há|для)\s(?:\d{{1,3}}|einem|einer|une?|um|uma)\s(?:{_UNIT})"
    rf"|(?:今天|昨天|前天|今日|昨日)\s?{_CLOCK}|[刚剛][刚剛才]|(?<!\w)just now\b"
    rf"|(?<!\w)(?:today|yesterday|heute|gestern|aujourd'hui|hier|hoy|ayer|oggi|ieri|сегодня|вчера|wczoraj|dzisiaj|vandaag|gisteren)"
    rf"\W{{0,3}}(?:at|um|à|a las|alle|в|om|o)?\W{{0,3}}{_CLOCK}"
    rf"|(?<!\w)(?:mon|tues?|wednes|thurs?|fri|satur|sun)day\W{{0,3}}(?:at)?\W{{0,3}}{_CLOCK}",
    re.IGNORECASE,
)
RELATIVE_HINT: Final = re.compile(  # parts of its words, in lower case: for most texts a tenth of its time
    "前|ago|er|fa|назад|atr|led|temu|vor|l y a|h[aá]|для|今[天日]|昨|[刚剛]|now|day|heute|aujourd|hoy|ogg|сегодня|вчера|aj|aag"
)
# An age without a word for "ago" (3h, 10 Monate 3 Wochen): a time only if its element is named so.
BARE_AGE: Final = re.compile(rf"^\W*\d{{1,3}}\s?(?:{_UNIT})(?:[\s,]+\d{{1,2}}\s?(?:{_UNIT}))?\W*$", re.IGNORECASE)
TIME_HINT: Final = re.compile(
    r"[\d刚剛jaov](?:(?<=\d)|(?<=[刚剛])[刚剛才]|(?<=j)ust now|(?<=\ba)n?\s\w+\sago|(?<=\bo)ne\s\w+\sago|(?<=v)or ein)"
)  # a digit, 刚刚, just now, an hour ago, vor einer Stunde; starts with a character class, which makes the search fast
DIGIT: Final = re.compile(r"\d")
DATE_HINT: Final = re.compile(r"\d(?:\s?[-/.年月]\s?\d|月)")
TIMED_NAME: Final = re.compile(r"date|time|posted|(?<![a-z])age(?![a-z])|ago(?![a-z])|when|published|created", re.IGNORECASE)
UNIX_TIMESTAMP: Final = re.compile(r"^\d{10}(?:\d{3})?$")
is_other_time: Final = cached_search(
    r"regist|joined|join date|member since|mitglied seit|beigetreten|dabei seit|inscri|miembro|membro|iscritto|dołączył"
    r"|lid (?:sinds|geworden)"
    r"|last (?:edited|modified|activity|seen|online|visit|login|updated)|edited (?:by|on|at)|edited:|zuletzt|bearbeitet|geändert|letzte"
    r"|modifi[ée]|dernière|édité|editado|última|ultima|modificat|edycja|gewijzigd|laatst|редакт|регистр"
    r"|注册|註冊|登录|登錄|登入|编辑|編輯|修改|上传|上傳|下载|最后|最後|在线时间|更新于|生日|加入|活跃|upload|download|birth|expires|ends"
)  # words for other dates than the post's: of the member, an edit, an attachment, a vote
_MEMBER_KEY: Final = r"(?:uid|userid|user_id|mid|memberid|member_id|showuser|u|un|username)[=/-]\w"
MEMBER_LINK: Final = re.compile(  # of an address in lower case; each choice begins with a character, so that re passes over all others
    rf"\?{_MEMBER_KEY}|&{_MEMBER_KEY}|;{_MEMBER_KEY}|/(?:{_MEMBER_KEY}|u/|users?/|members?/|profil|space[-/.]|people/|participant|home/main"
    r"|benutzer|mitglied|membre|usuario|utilisateur|author/|player|@[\w.-]+$|user[.-]|forum/user)|memberlist\.php|member\.php|space-uid"
    r"|mod=space|action[=,-](?:view)?pro|viewprofile|profile[.,]|userinfo|userdetail|showprofile|query\?user|dispuser"
)
is_author_name: Final = cached_search(
    r"(?<![a-z])(?:post(?:ed)?-?_?by|(?:big)?user-?_?(?:name|link|title-?link)|nick-?_?name|nick|author-?_?(?:name|link|info)?"
    r"|poster(?:-?_?name)?|creator"
    r"|member-?_?name|display-?_?name|screen-?_?name|login|pseudo|from-?_?user|message-?_?(?:author|name)|p_author_name|fn"
    r"|mention|username\w*|authorname"
    r"|postauthor|post-?author|author\w*name|author|person|cite|owner-?name|name)(?![a-z])"
)
CONTENT: Final = re.compile(
    r"content|message|body|text|(?<![a-z])(?:t_f|tpc_content|cooked|entry|prose|markdown|usercontent|bbwrapper|description|msg"
    r"|md)(?![a-z])|postmsg|postmessage",
    re.IGNORECASE,
)  # names of elements with a post's text
FLOOR: Final = re.compile(
    r"^(?:(?:post|reply|answer|beitrag|messages?|re|no|nr|第)?\s?[:.]?\s?[#№]\s?(\d{1,6})|(?:第\s?)?(\d{1,6})\s?(?:楼|樓|F|#|层|層))$",
    re.IGNORECASE,
)
NAMED_FLOORS: Final = {
    **dict.fromkeys(("楼主", "樓主", "主楼", "1楼", "OP", "GF"), 1),
    **dict.fromkeys(("沙发", "沙發", "SF"), 2),
    **dict.fromkeys(("板凳", "藤椅"), 3),
    **dict.fromkeys(("地板",), 4),
    **dict.fromkeys(("地下室", "地下"), 5),
}  # names of the first floors on Chinese boards. Boards differ after the second; a number on the page takes precedence.
OWN_LINK: Final = re.compile(
    r"#(?:post|p|pid|msg|message|comment|reply|r|c|answer|entry|bericht|t)?[-_]?\d+$|/posts?[-/]\d+|[?&;](?:p|pid|postid"
    r"|post)=\d+|findpost|#\w{0,12}-\d+$",
    re.IGNORECASE,
)
is_quotation: Final = cached_search(
    r"(?<![a-z])(?:bb-?code-?)?(?:block)?(?:quote|zitat|citation|citazione)(?:s|d|text|message|title|header|content|main|body|box"
    r"|table|block|-?container|-?expand)*(?![a-z])|q_reply"
    r"|bbCodeQuote|bbCodeBlock--quote|cite-?title|reply_?quote"
)  # names of quotations. Complete words: ``selectToQuote`` is a body whose text may be quoted.
AUTHOR_PROPERTIES: Final = frozenset(("author", "name", "creator"))
QUOTING: Final = frozenset(("div", "table", "fieldset", "section", "aside", "td", "dl", "details"))
ACTIONS: Final = frozenset(
    "reply quote report like share permalink edit up top back 回复 回覆 引用 举报 舉報 赞 讚 支持 反对 收藏 分享 评论 "
    "只看该作者 只看楼主 点评 编辑 删除 使用道具 显示全部楼层 "
    "antworten zitieren melden gefällt répondre citer signaler responder citar denunciar rispondi cita segnala".split()
)


def is_time(text: str, named: bool = False) -> bool:
    """Return whether a short text contains a time; ``named``: its element is named as a time."""
    if len(text) > MAX_TIME_CHARS or not TIME_HINT.search(text):
        return False
    if contains_date(text) or (named and BARE_AGE.match(text)):
        return True
    return RELATIVE_HINT.search(text.lower()) is not None and RELATIVE.search(text) is not None


def contains_date(text: str) -> bool:
    """Return whether a text contains an ``ABSOLUTE`` date, after quick checks for digits next to a separator and for a month."""
    if DATE_HINT.search(text) and NUMERIC.search(text):
        return True
    return bool(DIGIT.search(text) and not MONTHS.keys().isdisjoint(words_of(text)) and ABSOLUTE.search(text))


def attribute_time(node: Node) -> str | None:
    """Return a time in an attribute of the element, as written."""
    for name in TIME_ATTRIBUTES:
        value: str | None = node.element.get(name)
        if not value or len(value) > MAX_TIME_CHARS or not TIME_HINT.search(value) or not (node.tag != "meta" or name == "content"):
            continue
        if name not in ("title", "content") and UNIX_TIMESTAMP.match(value):
            return value
        if contains_date(value) and (name not in ("title", "content") or len(value) < 60):
            return value
    return None


def time_nodes(tree: Tree) -> list[bool]:
    """Return for each node whether it contains a time, in its own text or in an attribute."""
    found, left = [False] * len(tree.nodes), MAX_TIMES
    for piece, owner in zip(tree.pieces, tree.owner, strict=True):
        if MIN_TIME_CHARS <= len(piece) <= MAX_TIME_CHARS and not found[owner] and TIME_HINT.search(piece) and not piece.strip().isdigit():
            node = tree.nodes[owner]
            found[owner] = is_time(piece, node.tag == "time" or bool(node.names and TIMED_NAME.search(node.names)))
            left -= found[owner]
            if not left:
                break
    for at in tree.timed:
        found[at] = found[at] or attribute_time(tree.nodes[at]) is not None
    return found


def is_member_link(link: Node) -> bool:
    return MEMBER_LINK.search(link.element.get("href", "")[:MAX_CHARS].lower()) is not None


def author_nodes(tree: Tree) -> list[bool]:
    """Return for each node whether it looks like a member's name: a short link to a member, or a short element named so."""
    found = [False] * len(tree.nodes)
    for at, node in enumerate(tree.nodes):
        if node.last - node.first > 8 or node.last == node.first:
            continue
        linked = node.tag == "a" and is_member_link(node)
        if linked or (node.names and is_author_name(node.names)) or tree.values["itemprop"].get(at) in AUTHOR_PROPERTIES:
            text = tree.short(at, 12)
            found[at] = 0 < len(text) <= 50 and text.lower() not in ACTIONS
    return found


def clear_quotes(tree: Tree, *flags: list[bool]) -> list[int]:
    """Clear ``flags`` within quotations; return the outermost quotations."""
    found = []
    end = 0
    for at, node in enumerate(tree.nodes):
        if at < end:
            continue
        if not CONTENT.search(node.names) if node.tag == "blockquote" else node.tag in QUOTING and node.names and is_quotation(node.names):
            found.append(at)
            for flag in flags:
                flag[at : node.stop] = [False] * (node.stop - at)
            end = node.stop
    return found


def floor_of(text: str) -> int | None:
    """Return the floor in a short text: 「12楼」, 「沙发」, ``#12``."""
    text = text.strip()
    if text in NAMED_FLOORS:
        return NAMED_FLOORS[text]
    match = FLOOR.match(text)
    return int(next(filter(None, match.groups()))) if match else None
