"""The types of values in ``sources.yaml``: pydantic types with their validation.

Paths and environment variables depend on the file's location: the loader passes ``{"folder": Path, "environ": Mapping}`` (and
``"filled"``, a set that collects values expanded from the environment) as context; the defaults are the working folder and the
process's own environment.
"""

import codecs
import ipaddress
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, StringConstraints, ValidationInfo
from pydantic_core import PydanticCustomError

from newsportal.messages import Message, as_text, did_you_mean
from newsportal.sources import uris
from newsportal.store import STORES, destination_instead
from newsportal.text import CJK
from newsportal.text.expressions import EXPRESSION_PREFIX, MAX_CHARS, compile_expression

DAY = tuple(range(24))
SPAN = re.compile(r"^\s*(\d{1,2})(?:\s*[-–—~]\s*(\d{1,2}))?\s*$")


def hours_of(value: Any) -> tuple[int, ...]:
    """Return the hours (0–23, sorted, distinct) given by a number, a text or a list of both. Ranges are inclusive: ``7-9`` is 7:00 to 9:59,
    and ``6-24`` is ``6-23``. Raises ``ValueError`` with a message."""
    items = value if isinstance(value, list | tuple) else [value]
    found: set[int] = set()
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int | str):
            raise ValueError(Message("sources.invalid-hour", found=repr(item)))  # noqa: TRY004 - reported like any other bad span
        for span in str(item).split(","):
            match = SPAN.match(span)
            if match is None:
                raise ValueError(Message("sources.invalid-hours", found=repr(span.strip())))
            start, end = int(match[1]), int(match[2] or match[1])
            if start > 23 or end > 24 or (end == 24 and match[2] is None):
                raise ValueError(Message("sources.hours-out-of-range", found=repr(span.strip())))
            end = min(end, 23)
            found.update(range(start, end + 1) if start <= end else (*range(start, 24), *range(end + 1)))
    if not found:
        raise ValueError(Message("sources.no-hours"))
    return tuple(sorted(found))


CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that break lines and terminals: control characters, separators and direction overrides."""

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")  # RFC 9110, 5.6.2
TRANSPORT = frozenset("accept-encoding connection content-length expect host range te trailer transfer-encoding upgrade".split())
"""Headers set by the connection itself."""

MAX_NAME_CHARS = 100
INDEX_SCHEMES = ("sqlite", "elasticsearch")
"""As in ``newsportal.search``, which this package must not import; a test compares them."""

REDIS_SCHEMES = ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster")  # plain, over TLS, a socket file, a cluster's nodes
ENCODINGS = ("utf-8", "gb18030", "gbk", "gb2312", "big5", "shift_jis", "euc-kr")


def mistake(message: Message | str, hint: Message | str | None = None, at: tuple[str | int, ...] = ()) -> PydanticCustomError:
    """Return an error with our own text; ``at`` is the path from the value to the invalid part."""
    return PydanticCustomError("mistake", "{message}", {"message": as_text(message), "hint": as_text(hint) if hint else None, "at": at})


@contextmanager
def as_mistake() -> Iterator[None]:
    """Convert a ``ValueError`` with a message, and optionally a ``hint``, into a mistake."""
    try:
        yield
    except ValueError as error:
        raise mistake(error.args[0], getattr(error, "hint", None)) from error


def validator(check: Callable[[str], object] | str) -> Callable[[str], str]:
    """Return a validator that rejects values for which ``check``, or the function of that name, loaded late, raises ``ValueError``."""

    def validate(value: str) -> str:
        with as_mistake():
            (resolve_name(check) if isinstance(check, str) else check)(value)
        return value

    return validate


def folder_of(info: ValidationInfo) -> Path:
    return (info.context or {}).get("folder", Path())  # type: ignore[no-any-return]


def _expanded(value: Any, info: ValidationInfo) -> Any:
    if not isinstance(value, str):
        return value
    context = info.context or {}
    with as_mistake():
        found = uris.expand(value, context.get("environ", os.environ))
    if found != value:
        context.get("filled", set()).add(found)
    return found


def _secret(value: Any, info: ValidationInfo) -> Any:
    """Expand a text that must contain at least one ``${NAME}``. Messages do not show it."""
    if not isinstance(value, str) or not (variables := uris.VARIABLE.findall(value)) or any(default for _, default in variables):
        raise mistake(Message("sources.secret-in-file"), Message("hint.secret"))
    environ = (info.context or {}).get("environ", os.environ)
    if unset := next((name for name, _ in variables if name not in environ), None):
        raise mistake(Message("sources.variable-not-set", name=unset), Message("hint.set", name=unset))
    found = _expanded(value, info)
    if CONTROL.search(found) or not found.isascii() or not found.strip():
        raise mistake(Message("sources.invalid-secret"))
    return found.strip()


def _header_name(value: str) -> str:
    if not TOKEN.fullmatch(value) or value.lower() in TRANSPORT:
        raise mistake(Message("sources.forbidden-header", found=repr(value)))
    return value


def _uri(schemes: tuple[str, ...]) -> Callable[[str, ValidationInfo], str]:
    def validate(value: str, info: ValidationInfo) -> str:
        with as_mistake():
            return uris.check_uri(value, schemes, folder_of(info))

    return validate


def _no_destination(value: str) -> str:
    if instead := destination_instead(value):
        raise mistake(instead)
    return value


def _path(value: Any, info: ValidationInfo) -> Any:
    return (folder_of(info) / Path(value).expanduser()).absolute() if isinstance(value, str) and value else value


def _name(value: str) -> str:
    name = unicodedata.normalize("NFC", value).strip()
    if not name:
        raise mistake(Message("sources.empty-name"))
    if "/" in name or CONTROL.search(name):
        raise mistake(Message("sources.name-with-slash" if "/" in name else "sources.control-character", found=repr(name)))
    return name


def _line(value: str) -> str:
    if CONTROL.search(value):
        raise mistake(Message("sources.several-lines"))
    return value.strip()


def _encoding(value: str) -> str:
    try:
        return codecs.lookup(value).name
    except LookupError:
        message = Message("sources.unknown-encoding", found=repr(value), allowed=", ".join(ENCODINGS))
        raise mistake(message, did_you_mean(value, ENCODINGS)) from None


_zones = cache(available_timezones)  # reads the system's files: 50 ms


def _zone(value: str) -> str:
    zones = _zones()
    if zones and value not in zones:  # a machine without a time zone database cannot check
        raise mistake(Message("sources.unknown-time-zone", found=repr(value)), did_you_mean(value, zones))
    return value


def _private(value: str) -> None:
    from newsportal.net.egress import Policy  # loads the network libraries, which a file without private hosts does not need

    Policy((value,))


def _pattern(value: str) -> None:
    """Check a part of a URL, or ``re:`` and a regular expression."""
    if value.startswith(EXPRESSION_PREFIX):
        compile_expression(value.removeprefix(EXPRESSION_PREFIX))
    elif not value.strip():
        raise ValueError("an empty rule matches everything; allowed: a part of a URL, or re:EXPRESSION")


def _network(value: str) -> str:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError as error:
        raise mistake(Message("sources.invalid-network", found=repr(value))) from error
    return value


def words(text: str) -> tuple[str, ...]:
    """Split words at line ends or commas of either kind, without duplicates."""
    return tuple(dict.fromkeys(word.strip() for word in re.split(r"[\r\n,，、;；]", text) if word.strip()))


def keywords(text: str) -> tuple[str, ...]:
    """Split words at spaces between Chinese characters, too: nobody means a phrase by them."""
    return words(re.sub(f"(?<={CJK.pattern})\\s+(?={CJK.pattern})", "\n", text))


def one_or_many(value: Any) -> Any:
    """Return a single text as a list of one."""
    return [value] if isinstance(value, str) else value


def _hours(value: Any) -> Any:
    with as_mistake():
        return hours_of(value)


SIZE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([kKmMgG]?)(?:i?[bB])?\s*$")
UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


def _size(value: Any) -> Any:
    """Return bytes from a number or ``16 MiB`` (k, M, G are powers of 1,024)."""
    found = SIZE.match(value) if isinstance(value, str) else None
    if isinstance(value, str) and found is None:
        raise mistake(Message("sources.invalid-size", found=repr(value)))
    return int(float(found[1]) * UNITS[found[2].lower()]) if found else value


Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_CHARS), AfterValidator(_name)]
Line = Annotated[str, StringConstraints(max_length=500), AfterValidator(_line)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_line)]
Words = Annotated[tuple[Word, ...], BeforeValidator(one_or_many, json_schema_input_type=Word | list[Word])]
Names = Annotated[tuple[Name, ...], BeforeValidator(one_or_many, json_schema_input_type=Name | list[Name])]
Url = Annotated[str, BeforeValidator(_expanded), AfterValidator(validator(uris.check_url)), Field(json_schema_extra={"format": "uri"})]
Urls = Annotated[tuple[Url, ...], BeforeValidator(one_or_many, json_schema_input_type=Url | list[Url])]
Pattern = Annotated[str, StringConstraints(max_length=MAX_CHARS), AfterValidator(validator(_pattern))]
Patterns = Annotated[tuple[Pattern, ...], BeforeValidator(one_or_many, json_schema_input_type=Pattern | list[Pattern])]
SELECTOR = "newsportal.extractors.lists.selector:check_rule"  # few files have rules
Rule = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CHARS), AfterValidator(validator(SELECTOR))]
Rules = Annotated[tuple[Rule, ...], BeforeValidator(one_or_many, json_schema_input_type=Rule | list[Rule])]
PrivateHost = Annotated[Word, AfterValidator(validator(_private))]
PrivateHosts = Annotated[tuple[PrivateHost, ...], BeforeValidator(one_or_many, json_schema_input_type=PrivateHost | list[PrivateHost])]
Network = Annotated[Word, AfterValidator(_network)]
Networks = Annotated[tuple[Network, ...], BeforeValidator(one_or_many, json_schema_input_type=Network | list[Network])]
TimeZone = Annotated[str, AfterValidator(_zone)]
Encoding = Annotated[str, AfterValidator(_encoding)]
Filled = Annotated[str, BeforeValidator(_expanded), StringConstraints(min_length=1, max_length=2000)]
"""A text with ``${NAME}`` expanded from the environment."""

Secret = Annotated[SecretStr, BeforeValidator(_secret, json_schema_input_type=str)]
"""A text from the environment that is never displayed."""

HeaderName = Annotated[str, AfterValidator(_header_name)]


class HashableDict(dict[str, SecretStr]):
    """A hashable mapping for use within a frozen value."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


Secrets = Annotated[Mapping[HeaderName, Secret], AfterValidator(HashableDict)]

StoreUri = Annotated[str, BeforeValidator(_expanded), AfterValidator(_no_destination), AfterValidator(_uri(STORES))]
RedisUri = Annotated[str, BeforeValidator(_expanded), AfterValidator(_uri(REDIS_SCHEMES))]
AccountsUri = Annotated[str, BeforeValidator(_expanded), AfterValidator(_uri(STORES))]
IndexUri = Annotated[str, BeforeValidator(_expanded), AfterValidator(_uri(INDEX_SCHEMES))]
FilePath = Annotated[Path, BeforeValidator(_path, json_schema_input_type=str), BeforeValidator(_expanded, json_schema_input_type=str)]
Hours = Annotated[
    tuple[Annotated[int, Field(ge=0, le=23)], ...], BeforeValidator(_hours, json_schema_input_type=int | str | list[int | str])
]
Size = Annotated[int, BeforeValidator(_size, json_schema_input_type=int | str), Field(ge=1024, le=1024**3)]
Space = Annotated[int, BeforeValidator(_size, json_schema_input_type=int | str), Field(ge=1024**2, le=1024**5)]
"""An amount of disk space."""
