"""What is wrong with a file of labelled texts, in the reader's language."""

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
COMPILED: Final = tuple((re.compile(pattern, re.DOTALL), message) for pattern, message in SAYINGS)
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
