"""The Bloom filter of known URL identities in Redis, by SETBIT and GETBIT (thesis E 4.3.3), shared by processes and machines.

It grows as a scalable Bloom filter does (Almeida, Baquero, Preguiça, Hutchison 2007, section 3): when filter i is full, filter i + 1
takes what follows, with twice the capacity and half the error rate, so that all together keep below the rate that was asked for.

    n_i = n · 2^i      p_i = p/2 · 2^(−i)      k_i = ⌈log2 1/p_0⌉ + i      m_i = ⌈n_i · k_i / ln 2⌉ bits

The K positions of a name are h1 + j·h2 mod m_i, j = 0 … k_i − 1 (Kirsch and Mitzenmacher 2006: as good as K hash functions), with h1 and
h2 from one BLAKE2b hash. The scripts run inside Redis, so each is one step for all who share the filter: nobody sees it half grown, and
one trip takes many names (``lua``). Pure: a client is handed in, connections are made elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import blake2b
from importlib.resources import files
from itertools import islice
from struct import Struct
from typing import Any, Final, Protocol

from newsportal.dedup.bloom import ERROR_RATE, INITIAL_CAPACITY, Fill, expected_error

KEY: Final = "newsportal:known"
BATCH: Final = 500  # names a call: some 8,000 bits, a few milliseconds in which Redis serves nobody else
GROWTH: Final = 2
LARGEST: Final = 2**32  # bits of one string in Redis (512 MB)
HASHES: Final = Struct("<II")


def script(*names: str) -> str:
    """The parts of a script, one after the other."""
    return "\n".join((files(__package__) / "lua" / f"{name}.lua").read_text("utf-8") for name in ("layout", *names))


class RedisClient(Protocol):
    """What is asked of redis-py's client. A script that Redis lost (a restart) is sent again by the client itself."""

    def register_script(self, script: str) -> Callable[..., Any]: ...
    def hgetall(self, name: str) -> Any: ...
    def delete(self, *names: str) -> Any: ...


class Emptied(Exception):
    """Raised when the filter has gone from Redis (it was emptied, or took other settings): open it anew, and fill it."""


class RedisBloom:
    """Identities entered so far by all who share ``key``. Raises :class:`Emptied`, and whatever the client raises."""

    def __init__(self, client: RedisClient, *, key: str = KEY, capacity: int = INITIAL_CAPACITY, error_rate: float = ERROR_RATE) -> None:
        self.capacity, self.error_rate = capacity, error_rate
        self._client = client
        self._key = f"{{{key}}}"  # in a cluster, what stands in braces decides where keys lie: together
        self._form = (capacity, first_hashes(error_rate))
        self._open, self._perhaps, self._enter, self._move = (
            client.register_script(body) for body in (script("open"), *(script("guard", name) for name in ("perhaps", "enter", "move")))
        )

    def open(self) -> int:
        """The position up to which the filter knows the store; a new filter, or one of other settings, begins empty at 0."""
        return int(self._open(keys=[self._key], args=self._form))

    def moved(self, position: int) -> None:
        """All names up to this change of the store are entered. A position never goes back."""
        self._run_script(self._move, [position])

    def enter(self, identities: Iterable[str]) -> set[str]:
        """Enter them; answers those that had been entered already (or seem so), as one step for each batch."""
        return self._each(self._enter, identities)

    def perhaps(self, identities: Collection[str]) -> set[str]:
        """Those that may have been entered; the others surely were not."""
        return self._each(self._perhaps, identities)

    def clear(self) -> None:
        filters = int(_texts(self._client.hgetall(self._key)).get("filters", 0))
        self._client.delete(self._key, *(f"{self._key}:{number}" for number in range(filters)))

    def fill(self) -> Fill:
        state = _texts(self._client.hgetall(self._key))
        filters = int(state.get("filters", 0))
        entered = [int(state.get(f"n{number}", 0)) for number in range(filters)]
        shapes = [shape(number, *self._form) for number in range(filters)]
        return Fill(
            entered=sum(entered),
            capacity=sum(capacity for capacity, _, _ in shapes) or self.capacity,
            filters=filters,
            bytes=sum(bits for _, bits, _ in shapes) // 8,
            error=expected_error((count, bits, hashes) for count, (_, bits, hashes) in zip(entered, shapes, strict=True)),
        )

    def _each(self, script: Callable[..., Any], identities: Iterable[str]) -> set[str]:
        rest, found = iter(identities), set[str]()
        while batch := list(islice(rest, BATCH)):
            answer = self._run_script(script, [number for identity in batch for number in hashes_of(identity)])
            found.update(identity for identity, here in zip(batch, _text(answer), strict=True) if here == "1")
        return found

    def _run_script(self, script: Callable[..., Any], arguments: Sequence[int]) -> Any:
        answer = script(keys=[self._key], args=[*self._form, *arguments])
        if answer is None:
            raise Emptied
        return answer


def first_hashes(error_rate: float) -> int:
    """k_0: half of the error rate is the first filter's, half of the rest the second's, and so on."""
    return math.ceil(math.log2(2 / error_rate))


def shape(number: int, capacity: int, hashes: int) -> tuple[int, int, int]:
    """Capacity, bits and hashes of the filter with this number. One that Redis could not hold gets what it can."""
    hashes, capacity = hashes + number, capacity * GROWTH**number
    bits = math.ceil(capacity * hashes / math.log(2))
    return (capacity, bits, hashes) if bits <= LARGEST else (math.floor(LARGEST * math.log(2) / hashes), LARGEST, hashes)


def hashes_of(identity: str) -> tuple[int, int]:
    """h1 and h2 of a name: 32 bits each, since Lua counts exactly to 2^53; h2 odd, so that it is never 0."""
    first, second = HASHES.unpack(blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return first, second | 1


def _texts(state: Any) -> dict[str, str]:
    """Redis' answers, whether the client decodes them or not."""
    return {_text(name): _text(value) for name, value in dict(state).items()}


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
