"""What is wrong with a file of labelled texts, and what trainings tell, in the reader's language."""

from __future__ import annotations

import re
from gettext import NullTranslations
from typing import Final

from newsportal.portal.language import _

SAYINGS: Final[tuple[tuple[str, str], ...]] = (
    (r"label must be a text that is not empty", _("there is no label, or it is empty.")),
    (r"a label of (?P<found>\d+) characters; it may have (?P<limit>\d+)", _("the label has %(found)s characters; it may have %(limit)s.")),
    (r"text must be a text, and so must title if there is one", _("text or title is no text.")),
    (r"no object; .*", _("this is no object: a document is a label and a text in braces.")),
    (r"not (?P<encoding>\S+) \(.*", _("the characters are not %(encoding)s; choose another encoding.")),
    (r"the first line must name the columns, .*", _("the first line must name the columns, text and label among them.")),
    (r"(?P<cells>\d+) cells under (?P<headings>\d+) headings", _("%(cells)s cells stand under %(headings)s headings.")),
    (r"(?:Expecting|Extra data|Invalid|Unterminated).*", _("this is no JSON.")),
)
TRAININGS: Final[tuple[tuple[str, str], ...]] = (
    (
        r"labels with fewer than (?P<few>\d+) documents, which are learnt badly: (?P<labels>.*)",
        _("Labels with fewer than %(few)s documents are learnt badly: %(labels)s"),
    ),
    (r"labels with too few documents to be measured: (?P<labels>.*)", _("Labels with too few documents to be measured: %(labels)s")),
    (
        r"labels with fewer than (?P<few>\d+) documents are hardly learnt: (?P<labels>.*)",
        _("Labels with fewer than %(few)s documents are hardly learnt: %(labels)s"),
    ),
    (r"the first one", _("the first version")),
    (r"as asked", _("as was asked")),
    (r"version (?P<old>\d+) cannot be read: .*", _("version %(old)s cannot be read")),
    (r"no documents to compare it on with version (?P<old>\d+)", _("there are no documents to compare it on with version %(old)s")),
    (
        r"macro-F1 (?P<new>[\d.]+), version (?P<old>\d+) (?P<before>[\d.]+), on (?P<both>\d+) documents that neither has seen",
        _("macro-F1 %(new)s, that of version %(old)s %(before)s, on %(both)s documents that neither has seen"),
    ),
    (r"it needs (?P<least>\d+) articles", _("it needs %(least)s articles")),
    (r"no articles of sources with a category yet", _("no source with a category brought articles yet")),
    (
        r"two labels need (?P<least>\d+) articles each; (?P<enough>\d+) of (?P<all>\d+) have them",
        _("two labels need %(least)s articles each; %(enough)s of %(all)s have them"),
    ),
    (r"(?P<least>\d+) new ones make it worth while", _("%(least)s new articles make it worth while")),
)
"""What a training warns of, and why a version is used or none was trained."""

COMPILED: Final = tuple((re.compile(pattern, re.DOTALL), message) for pattern, message in SAYINGS)
TRAINED: Final = tuple((re.compile(pattern, re.DOTALL), message) for pattern, message in TRAININGS)
LINE: Final = re.compile(r"(?P<file>.*?):(?P<line>\d+): (?P<rest>.*)", re.DOTALL)


def worded(mistake: str, words: NullTranslations) -> str:
    """``file:3: label must be …`` as a sentence; as it is where it has no translation."""
    found = LINE.fullmatch(mistake)
    if found is None:
        return mistake
    what = found["rest"]
    for pattern, message in COMPILED:
        if (match := pattern.fullmatch(what)) is not None:
            what = words.gettext(message) % match.groupdict("")
            break
    return words.gettext(_("Line %(line)s: %(what)s")) % {"line": found["line"], "what": what}


def trained(text: str, words: NullTranslations) -> str:
    """What a training told as a sentence; as it is where it has no translation."""
    for pattern, message in TRAINED:
        if (match := pattern.fullmatch(text)) is not None:
            return words.gettext(message) % match.groupdict("")
    return text
