"""A Bloom filter of known URL identities in Redis, using SETBIT and GETBIT (thesis E 4.3.3), shared by processes and machines.

It grows like a scalable Bloom filter (Almeida, Baquero, Preguiça, Hutchison 2007, section 3): when filter i is full, filter i + 1 takes the
following entries, with twice the capacity and half the error rate, so that all together stay below the given rate.

    n_i = n · 2^i      p_i = p/2 · 2^(−i)      k_i = ⌈log2 1/p_0⌉ + i      m_i = ⌈n_i · k_i / ln 2⌉ bits

The K positions of a name are h1 + j·h2 mod m_i, j = 0 … k_i − 1 (Kirsch and Mitzenmacher 2006: as good as K hash functions), with h1 and h2
from one BLAKE2b hash. Scripts (``lua``) run inside Redis: each is atomic for all clients and handles many names in one round trip. Pure:
the client is an argument, connections are made elsewhere.
"""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import blake2b
from importlib.resources import files
from itertools import islice
from struct import Struct
from typing import Any, Final, Protocol

from newsportal.dedup.bloom import ERROR_RATE, INITIAL_CAPACITY, FillLevel, expected_error

KEY: Final = "newsportal:known"
BATCH: Final = 500  # names per call: some 8,000 bits, a few milliseconds in which Redis is blocked
GROWTH: Final = 2
MAX_BITS: Final = 2**32  # maximum bits of a string in Redis (512 MB)
HASHES: Final = Struct("<II")


def script(*names: str) -> str:
    return "\n".join((files(__package__) / "lua" / f"{name}.lua").read_text("utf-8") for name in ("layout", *names))


class RedisClient(Protocol):
    """The methods used of redis-py's client. The client itself sends a script again that Redis lost (a restart)."""

    def register_script(self, script: str) -> Callable[..., Any]: ...
    def hgetall(self, name: str) -> Any: ...
    def delete(self, *names: str) -> Any: ...


class FilterMissing(Exception):
    """Raised if the filter is missing in Redis (deleted, or replaced with other settings): open and fill it again."""


class RedisBloom:
    """Identities entered by all clients that share ``key``. Raises :class:`FilterMissing`, and the errors of the client."""

    def __init__(self, client: RedisClient, *, key: str = KEY, capacity: int = INITIAL_CAPACITY, error_rate: float = ERROR_RATE) -> None:
        self.capacity, self.error_rate = capacity, error_rate
        self._client = client
        self._key = f"{{{key}}}"  # in a cluster, the part in braces places all keys on one node
        self._form = (capacity, first_hashes(error_rate))
        self._open, self._perhaps, self._enter, self._move = (
            client.register_script(body) for body in (script("open"), *(script("guard", name) for name in ("perhaps", "enter", "move")))
        )

    def open(self) -> int:
        """Return the position in the store up to which the filter is filled; a new filter, or one with other settings, is empty at 0."""
        return int(self._open(keys=[self._key], args=self._form))

    def set_position(self, position: int) -> None:
        """Record that all names up to this change of the store are entered. The position never decreases."""
        self._run_script(self._move, [position])

    def add(self, identities: Iterable[str]) -> set[str]:
        """Enter identities, atomically per batch, and return those that had (or seem to have) been entered before."""
        return self._each(self._enter, identities)

    def candidates(self, identities: Collection[str]) -> set[str]:
        """Return those that may have been entered; the others were certainly not."""
        return self._each(self._perhaps, identities)

    def clear(self) -> None:
        filters = int(_texts(self._client.hgetall(self._key)).get("filters", 0))
        self._client.delete(self._key, *(f"{self._key}:{number}" for number in range(filters)))

    def fill(self) -> FillLevel:
        state = _texts(self._client.hgetall(self._key))
        filters = int(state.get("filters", 0))
        entered = [int(state.get(f"n{number}", 0)) for number in range(filters)]
        shapes = [shape(number, *self._form) for number in range(filters)]
        return FillLevel(
            entered=sum(entered),
            capacity=sum(capacity for capacity, _, _ in shapes) or self.capacity,
            filters=filters,
            bytes=sum(bits for _, bits, _ in shapes) // 8,
            error=expected_error((count, bits, hashes) for count, (_, bits, hashes) in zip(entered, shapes, strict=True)),
        )

    def _each(self, script: Callable[..., Any], identities: Iterable[str]) -> set[str]:
        remaining, found = iter(identities), set[str]()
        while batch := list(islice(remaining, BATCH)):
            answer = self._run_script(script, [number for identity in batch for number in hashes_of(identity)])
            found.update(identity for identity, bit in zip(batch, _text(answer), strict=True) if bit == "1")
        return found

    def _run_script(self, script: Callable[..., Any], arguments: Sequence[int]) -> Any:
        answer = script(keys=[self._key], args=[*self._form, *arguments])
        if answer is None:
            raise FilterMissing
        return answer


def first_hashes(error_rate: float) -> int:
    """Return k_0: the first filter gets half of the error rate, the second half of the rest, and so on."""
    return math.ceil(math.log2(2 / error_rate))


def shape(number: int, capacity: int, hashes: int) -> tuple[int, int, int]:
    """Return capacity, bits and hashes of the filter with this number, limited to what Redis can hold."""
    hashes, capacity = hashes + number, capacity * GROWTH**number
    bits = math.ceil(capacity * hashes / math.log(2))
    return (capacity, bits, hashes) if bits <= MAX_BITS else (math.floor(MAX_BITS * math.log(2) / hashes), MAX_BITS, hashes)


def hashes_of(identity: str) -> tuple[int, int]:
    """Return h1 and h2 of a name: 32 bits each, because Lua's integers are exact to 2^53; h2 is odd, so never 0."""
    first, second = HASHES.unpack(blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return first, second | 1


def _texts(state: Any) -> dict[str, str]:
    """Return Redis' response as strings, whether or not the client decodes."""
    return {_text(name): _text(value) for name, value in dict(state).items()}


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
