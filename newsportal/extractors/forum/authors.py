"""Find each post's author: at the path where most posts have a member's name, else in a node with the same names."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from newsportal.extractors.forum.anchors import ACTIONS, AUTHOR_PROPERTIES, contains_date, is_member_link
from newsportal.extractors.forum.paths import Overlay, Path, best_paths, same_leaf
from newsportal.extractors.forum.tree import TEMPLATE_TIMES, Tree
from newsportal.text import clean

MAX_NAME_CHARS: Final = 50
MAX_PIECES: Final = 12  # A name is in a small node
# Score of a path: share of posts with a name, names of the element, a link to a member, ``username``; minus a penalty if a smaller node
# inside has the name.
COVERED: Final = 0.4
HALF: Final = 0.5
COVERAGE_WEIGHT, NAME_WEIGHT, LINK_WEIGHT, USERNAME_WEIGHT, OUTER_PENALTY = 2.0, 1.0, 1.0, 0.3, 1.6
SURE_SCORE: Final = 2.5  # below the score of a name in nine of ten posts with one more sign, unmarked names are tried first
MIN_COVER: Final = 0.7
MAX_PLAIN_CHARS: Final = 25
PLAIN_TAGS: Final = {
    **dict.fromkeys(("a", "strong", "b", "dt"), 1.0),
    **dict.fromkeys(("h3", "h4", "h5"), 0.9),
    **dict.fromkeys(("h2", "span", "font"), 0.8),
    **dict.fromkeys(("div", "td", "th", "p", "li", "em"), 0.6),
}  # Elements with names on pages that do not mark them, and their likelihood
ORDER_PENALTY: Final = 0.01  # off for each node before it
TIME_LIKE: Final = re.compile(r"\d{1,2}[:.]\d{2}|\d{4}")
NO_NAME: Final = re.compile(
    r"^(?:\W*|\d[\d.,\s]*|#\d+|.*https?://.*|posts?|likes?|join(?:ed)? date|location|online|offline|op|top|reply|quote|profile|by|message"
    r"|post history|user ?info|.*\d[\d.,]* (?:posts|beiträge|messages)|(?:posts|beiträge|messages)\W.*|.{0,6}[#№] ?\d*|re: .*"
    r"|(?:view|send|find|show) .*|private message|pm|email|www|website|homepage|quote from.*"
    r"|.*[楼樓层層#]|楼主|楼层|发消息|加好友|只看该作者|只看楼主|电梯直达|管理员|会员|新手上路|积分|帖子|主题|发表于|当前离线|当前在线|.*勋章.*)$",
    re.IGNORECASE,
)  # Short texts beside a post that are not names: buttons, counts, floors, ranks
AUTHOR_CLASS: Final = re.compile(r"user-?_?name|author|nick|poster|creator|display-?_?name|postby|(?<![a-z])fn(?![a-z])", re.IGNORECASE)
USERNAME: Final = re.compile(r"user-?_?name", re.IGNORECASE)
LABEL: Final = re.compile(
    r"^(?:posted by|written by|by|von|par|por|di|作者|发帖人|楼主|author|original poster|geschrieben von|发表人|发信人)\s*[:：]?\s+|^@",
    re.IGNORECASE,
)
# Attributes of a post's node with its author.
ATTRIBUTES: Final = ("data-author", "data-username", "data-user-name", "data-poster", "data-author-name", "author")
MAX_LINE_CHARS: Final = 200
BYLINE: Final = re.compile(
    r"(?:^|\s|[|·,(])(?:posted by|written by|by|von|par|por|di|door|av|от|автор|作者|发信人|发帖人)\s{0,3}[:：]?\s{1,3}"
    r"(?P<name>\S(?:.{0,38}?\S)?)(?=\s{0,3}(?:$|»|[|·,)]|\s(?:on|at|le|am|em|el|il|op|@|\d{1,4}[-/.年]\d)))",
    re.IGNORECASE,
)  # a line with author and time: ``By jdoe On 2020.03.12 13:17``


def find_authors(tree: Tree, overlay: Overlay, flags: Sequence[bool], body: int) -> None:
    """Set each record's ``author`` unless a hint has; a hint without a name is dropped."""
    inside = overlay.inside(body, overlay.paths[body].authors)
    paths = ((number, path) for number, path in enumerate(overlay.paths) if path.authors and number not in inside)
    scores = [(_score(tree, overlay, path, flags), number) for number, path in paths]
    order = best_paths(scores)
    if max((score for score, _ in scores), default=0.0) < SURE_SCORE:
        best, most = [], 0.0
        for number, path in enumerate(overlay.paths):
            if not number or number in inside or path.tag not in PLAIN_TAGS or len(path.at) < MIN_COVER * len(overlay.records):
                continue
            texts = {place: name_in(tree, at) for place, at in path.at.items()}
            names = {place: text for place, text in texts.items() if text and len(text) <= MAX_PLAIN_CHARS and not TIME_LIKE.search(text)}
            if len(names) < MIN_COVER * len(overlay.records) or (len(names) >= TEMPLATE_TIMES and len(set(names.values())) == 1):
                continue
            before = path.first - overlay.records[next(iter(path.at))].nodes[0]
            score = len(names) / len(overlay.records) * PLAIN_TAGS[path.tag] * (1 - min(HALF, ORDER_PENALTY * before))
            if score > most:
                best, most = [number], score
        order = [*best, *order]
    for place, record in enumerate(overlay.records):
        if record.author is not None and name_in(tree, record.author):
            continue
        nodes = (overlay.paths[number].at.get(place) for number in order)
        record.author = next((at for at in nodes if at is not None and name_in(tree, at)), None)
        if record.author is None and order:
            at = same_leaf(tree, record, tree.nodes[overlay.paths[order[0]].first])
            record.author = at if at is not None and name_in(tree, at) else None


def _score(tree: Tree, overlay: Overlay, path: Path, flags: Sequence[bool]) -> float:
    records = len(overlay.records)
    if sum(flags[at] for at in path.at.values()) < HALF * len(path.at):
        return 0.0
    strong = AUTHOR_CLASS.search(path.names) is not None
    if len(path.at) < COVERED * records and records > 2 and not strong:
        return 0.0
    names = [text for at in path.at.values() if (text := name_in(tree, at))]
    if len(names) < HALF * len(path.at) or (len(set(names)) == 1 and len(names) >= TEMPLATE_TIMES):
        return 0.0  # the same in all posts: a button
    nodes = (tree.nodes[at] for at in list(path.at.values())[:TEMPLATE_TIMES])
    score = COVERAGE_WEIGHT * len(names) / records
    score += NAME_WEIGHT if strong or tree.values["itemprop"].get(path.first) in AUTHOR_PROPERTIES else 0.0
    score += LINK_WEIGHT if any(node.tag == "a" and is_member_link(node) for node in nodes) else 0.0
    score += USERNAME_WEIGHT if USERNAME.search(path.names) else 0.0
    return score - (OUTER_PENALTY if any(flags[below] for below in tree.descendants(path.first)) else 0.0)


def name_in(tree: Tree, at: int) -> str | None:
    """Return the author name in a node, without a leading "by" or 作者."""
    return bare_name(tree.short(at, MAX_PIECES)[: 2 * MAX_NAME_CHARS])


@lru_cache(maxsize=4096)  # members have several posts, and a name is read to find its place and for the post
def bare_name(text: str) -> str | None:
    text = LABEL.sub("", text).strip(" :：,·|")
    if not 0 < len(text) <= MAX_NAME_CHARS or text.lower() in ACTIONS or NO_NAME.match(text) or contains_date(text):
        return None
    return text


def author_of(tree: Tree, nodes: tuple[int, ...], author: int | None, time: int | None) -> str | None:
    """Return a post's author: from the node's attributes, else the author's node, else the line of its time."""
    element = tree.nodes[nodes[0]].element
    declared = next((value for name in ATTRIBUTES if (value := clean(element.get(name, "")))), None)
    if declared and len(declared) <= MAX_NAME_CHARS:
        return declared
    if author is not None:
        return name_in(tree, author)
    match = BYLINE.search(tree.short(time)[:MAX_LINE_CHARS]) if time is not None else None
    return match["name"] if match else None
