"""What every database of documents promises: answers as Python gives them, transactions whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from made_up_tables import OTHERS, ROWS

from newsportal.errors import StoreError
from newsportal.storage.documents import pieces
from newsportal.storage.documents.base import (
    Condition,
    Documents,
    Either,
    Every,
    In,
    Is,
    Not,
    Row,
    Rows,
    Transaction,
    Within,
    holds,
    in_order,
)

pytestmark = pytest.mark.slow

Opening = Callable[[], Documents]

WORDS = ("", "a", "A", "桥", "桥梁", "z\nz", "ü", "𠀀", "x" * 200)
NUMBERS = (-(2**62), -1, 0, 1, 7, 2**62)
REALS = (-1.5, 0.0, 0.25, 1e300)
IDS = ("1", "2", "10", "桥", "a/b?c=1&d", "long" * 60, "汉" * 255, " x ", "$x.y")

EXTRA = st.recursive(
    st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(("a.b", "$c", "%", "%2E", "桥", "")), inner, max_size=2),
    max_leaves=4,
)

ROW = st.fixed_dictionaries(
    {"id": st.sampled_from(IDS), "words": st.lists(st.sampled_from(WORDS), max_size=3, unique=True), "extra": EXTRA},
    optional={
        "word": st.none() | st.sampled_from(WORDS),
        "number": st.none() | st.sampled_from(NUMBERS),
        "real": st.none() | st.sampled_from(REALS),
        "flag": st.none() | st.booleans(),
        "data": st.none() | st.binary(max_size=5),
    },
)

VALUES: dict[str, tuple[Any, ...]] = {
    "id": IDS, "word": WORDS, "words": WORDS, "number": NUMBERS, "real": REALS, "flag": (True, False),
}  # fmt: skip


def _one(name: str) -> st.SearchStrategy[Condition]:
    values = st.sampled_from(VALUES[name])
    bounds = st.none() | values
    plain = [st.builds(Is, st.just(name), values), st.builds(In, st.just(name), st.lists(values, max_size=3))]
    if name != "id":
        plain.append(st.just(Is(name, None)))
    if name not in ("flag", "words"):
        plain.append(st.builds(Within, st.just(name), bounds, bounds, st.booleans(), st.booleans()))
    return st.one_of(plain)


CONDITION = st.recursive(
    st.sampled_from(sorted(VALUES)).flatmap(_one),
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(Every, st.lists(inner, max_size=2).map(tuple))
        | st.builds(Either, st.lists(inner, max_size=2).map(tuple))
    ),
    max_leaves=3,
)

ORDER = st.lists(st.sampled_from(("word", "-word", "number", "-number", "real", "-real")), max_size=2, unique_by=lambda name: name[-4:])


class Machine(RuleBasedStateMachine):
    """A database beside a dict. Inside a transaction the dict is its copy."""

    documents: Documents

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, Row] = {}
        self.counted = 0

    @initialize()
    def empty(self) -> None:
        with self.documents.writing() as transaction:
            transaction.delete(ROWS, [row["id"] for row in transaction.find(ROWS, only=("id",))])
            self.counted = transaction.last("counted")

    @rule(
        steps=st.lists(st.tuples(st.sampled_from(("put", "put", "delete", "change", "next", "taken")), ROW), min_size=1, max_size=5),
        where=st.lists(CONDITION, max_size=2),
        order=ORDER,
        limit=st.none() | st.integers(0, 4),
        skip=st.integers(0, 2),
        fails=st.booleans(),
    )
    def write(self, steps: list[tuple[str, Row]], where: list[Condition], order: list[str], limit: int, skip: int, fails: bool) -> None:
        known, counted = dict(self.known), self.counted
        with suppress(ZeroDivisionError), self.documents.writing() as transaction:
            for step, row in steps:
                counted = self.step(transaction, step, row, known, counted)
            self.compare(transaction, known, where, order, limit, skip)
            assert transaction.last("counted") == counted
            if fails:
                raise ZeroDivisionError
        if not fails:
            self.known, self.counted = known, counted

    def step(self, transaction: Transaction, step: str, row: Row, known: dict[str, Row], counted: int) -> int:
        if step == "put":
            transaction.put(ROWS, row)
            known[row["id"]] = row
        elif step == "delete":
            assert transaction.delete(ROWS, [row["id"], "there is none"]) == (known.pop(row["id"], None) is not None)
        elif step == "change":
            transaction.change(ROWS, row["id"], words=["新"], number=5)
            if row["id"] in known:
                known[row["id"]] = {**known[row["id"]], "words": ["新"], "number": 5}
        elif step == "next":
            assert transaction.next("counted") == counted + 1
            return counted + 1
        else:
            transaction.taken("counted", counted + 3)
            return counted + 3
        return counted

    @rule(where=st.lists(CONDITION, max_size=2), order=ORDER, limit=st.none() | st.integers(0, 4), skip=st.integers(0, 2))
    def read(self, where: list[Condition], order: list[str], limit: int, skip: int) -> None:
        self.compare(self.documents, self.known, where, order, limit, skip)
        assert self.documents.last("counted") == self.counted

    @precondition(lambda self: self.known)
    @rule()
    def read_by_id(self) -> None:
        assert self.documents.get(ROWS, [*self.known, "there is none"]) == self.known
        id = next(iter(self.known))
        assert self.documents.get(ROWS, [id], only=("words",)) == {id: {"id": id, "words": self.known[id]["words"]}}

    @staticmethod
    def compare(rows: Rows, known: dict[str, Row], where: list[Condition], order: list[str], limit: int | None, skip: int) -> None:
        all_of_them = in_order((row for row in known.values() if all(holds(row, one) for one in where)), order)
        expected = all_of_them[skip : None if limit is None else skip + limit]
        assert rows.find(ROWS, *where, order=order, limit=limit, skip=skip) == expected
        told = rows.find(ROWS, *where, order=order, limit=limit, skip=skip, only=("words",))
        assert told == [{"id": row["id"], "words": row["words"]} for row in expected]
        brief = rows.find(ROWS, *where, order=order, limit=limit, skip=skip, without=("extra", "number"))
        assert brief == [{name: value for name, value in row.items() if name not in ("extra", "number")} for row in expected]
        assert rows.count(ROWS, *where) == len(all_of_them)
        assert rows.count_by(ROWS, "words", *where) == Counter(word for row in all_of_them for word in set(row["words"]))
        assert rows.count_by(ROWS, "flag", *where) == Counter(row["flag"] for row in all_of_them if row.get("flag") is not None)


def test_a_database_answers_as_a_dict_does(documents: Documents) -> None:
    class Here(Machine):
        pass

    Here.documents = documents
    budget = settings(max_examples=10, stateful_step_count=8, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Here, settings=budget)  # type: ignore[no-untyped-call]


def test_what_one_wrote_another_finds_at_once(opened: Opening) -> None:
    first, second = opened(), opened()
    for number in range(1, 6):
        writer, reader = (first, second) if number % 2 else (second, first)
        with writer.writing() as transaction:
            transaction.put(ROWS, {"id": "row", "number": number})
            transaction.put(OTHERS, {"id": str(number), "number": transaction.next("numbers")})
        assert [row["number"] for row in reader.find(ROWS, Within("number", number))] == [number]
        assert reader.count(OTHERS) == number
        assert reader.last("numbers") == number


def test_nothing_of_a_transaction_is_seen_before_its_end(opened: Opening) -> None:
    first, second = opened(), opened()
    with first.writing() as transaction:
        transaction.put(ROWS, {"id": "row"})
        transaction.next("numbers")
        assert second.get(ROWS, ["row"]) == {}
        assert second.find(ROWS) == []
        assert second.last("numbers") == 0


def test_rows_given_are_ones_own(documents: Documents) -> None:
    with documents.writing() as transaction:
        row: Row = {"id": "row", "words": ["a"]}
        transaction.put(ROWS, row)
        row["words"].append("b")
        transaction.get(ROWS, ["row"])["row"]["words"].append("c")
        transaction.find(ROWS)[0]["words"].append("d")
    assert documents.get(ROWS, ["row"]) == {"row": {"id": "row", "words": ["a"]}}


def test_many_rows_come_whole_and_in_order(documents: Documents) -> None:
    rows: list[Row] = [{"id": f"{number:05d}", "number": number % 7 or None, "real": 0.5} for number in range(1200)]
    with documents.writing() as transaction:
        for row in rows:
            transaction.put(OTHERS, row)
    assert documents.count(OTHERS) == 1200
    assert documents.find(OTHERS, order=("number", "-id")) == in_order(rows, ("number", "-id"))
    assert documents.find(OTHERS, order=("-id",), skip=50, limit=1100) == rows[::-1][50:1150]
    assert len(documents.get(OTHERS, [row["id"] for row in rows])) == 1200
    with documents.writing() as transaction:
        assert transaction.delete(OTHERS, [row["id"] for row in rows[:1100]]) == 1100
        assert transaction.count(OTHERS, Within("number", 3)) == sum((row["number"] or 0) >= 3 for row in rows[1100:])
        assert transaction.find(OTHERS, order=("id",), limit=2) == rows[1100:1102]
    assert documents.find(OTHERS, order=("id",)) == rows[1100:]


@pytest.mark.parametrize("length", [0, 1, pieces.PIECE, 2 * pieces.PIECE + 1])
def test_long_bytes_come_back(documents: Documents, length: int) -> None:
    data = bytes(range(256)) * (length // 256) + b"x" * (length % 256)
    with documents.writing() as transaction:
        pieces.put(transaction, "model", b"earlier " * 300_000)
        pieces.put(transaction, "model", data)
        assert pieces.get(transaction, "model") == data
    assert pieces.get(documents, "model") == data
    assert documents.count(pieces.PIECES) == max(1, -(-length // pieces.PIECE))
    with documents.writing() as transaction:
        pieces.delete(transaction, "model")
    assert pieces.get(documents, "model") is None
    assert documents.count(pieces.PIECES) == 0


def deep(levels: int) -> Any:
    """1 within so many lists."""
    return [deep(levels - 1)] if levels else 1


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        "\ud800",
        pytest.param({"width": 10**2000}, id="a number that Elasticsearch does not read"),
        pytest.param([{"width": 2**63}], id="a number that MongoDB has no room for"),
        pytest.param(deep(41), id="deeper than MongoDB takes"),
        pytest.param(deep(900), id="without end"),
    ],
)
def test_what_no_database_keeps_is_refused_and_nothing_is_written(documents: Documents, value: Any) -> None:
    def write(*values: Any, number: int = 1) -> None:
        with documents.writing() as transaction:
            for place, one in enumerate(values):
                transaction.put(ROWS, {"id": str(place), "number": place * number, "extra": one})

    with pytest.raises(StoreError, match="rows '1'"):
        write(1, value)
    with pytest.raises(StoreError, match=r"rows '1': .*should be a number"):
        write(1, 2, number=2**63)
    assert documents.find(ROWS) == []
    write(1, {"width": -(2**63), "in": deep(39)})
    assert documents.get(ROWS, ["1"])["1"]["extra"] == {"width": -(2**63), "in": deep(39)}
    assert documents.count(ROWS) == 2


def test_a_text_is_found_whatever_is_in_it(documents: Documents) -> None:
    names: list[str] = ["$gt", "a.b", "*", "\\", '"', "{}", "null", "true", "%00", "'; DROP", "中文 空格"]
    with documents.writing() as transaction:
        for name in names:
            transaction.put(ROWS, {"id": name, "word": name, "words": [name]})
    asked: list[Callable[[str], Condition]] = [
        lambda name: Is("word", name), lambda name: Is("words", name), lambda name: Is("id", name), lambda name: In("word", [name]),
    ]  # fmt: skip
    for name in names:
        assert [[row["id"] for row in documents.find(ROWS, ask(name))] for ask in asked] == [[name]] * 4


def test_questions_that_are_asked_together_see_what_was_written_before_them(opened: Opening) -> None:
    one, other = opened(), opened()

    def put(documents: Documents, id: str) -> None:
        with documents.writing() as transaction:
            transaction.put(ROWS, {"id": id, "number": 1})

    put(other, "1")
    with one.together():
        assert one.count(ROWS, Is("number", 1)) == 1
        put(one, "2")  # our own is seen at once
        assert [row["id"] for row in one.find(ROWS, Is("number", 1))] == ["1", "2"]
        put(other, "3")
        with one.together():
            assert one.count(ROWS, Is("number", 1)) in (2, 3)
    put(other, "4")
    assert one.count(ROWS, Is("number", 1)) == 4
    with one.together():
        assert one.count(ROWS, Is("number", 1)) == 4
