"""The words of classifying: examples go in, a classifier comes out; it answers on texts, explains itself, and can be kept.

A classifier chooses one of its labels or none (categories), or any number of them (topics: ``several``). Adding one is one module
and one line in ``CLASSIFIERS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pkgutil import resolve_name
from typing import Any, Final, Protocol, Self, cast

from newsportal.errors import ModelError
from newsportal.messages import Message, from_dict, to_json
from newsportal.packing import header

Progress = Callable[[float, str], None]
"""Told now and then how much is done (0 to 1) and what is under way (a stable slug: ``features``, ``fit``, ``held-out``)."""

DEFAULT: Final = "linear"

CLASSIFIERS: Final[dict[str, str]] = {"linear": "linear:Linear", "chi_cosine": "chi_cosine:ChiCosine", "lexicon": "lexicon:Lexicon"}
"""Name → module of this package and its class; loaded when it is asked for."""

Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Example:
    """A text whose labels are known: one for categories, any number for topics (none: it belongs to no topic)."""

    text: str
    labels: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """``label`` is the best label that may be given, ``None`` if none of them fits; ``labels`` all that may be given, best first
    (one at most unless the classifier gives several); ``scores`` every label's probability, from 0 to 1."""

    label: str | None = None
    scores: Scores = field(default_factory=dict)
    labels: tuple[str, ...] = ()


NONE = Answer()  # the answer on a text of which nothing is known


@dataclass(frozen=True, slots=True)
class Reason:
    """A word or phrase as it stands in the text, and how much it spoke for (positive) or against (negative) the label."""

    word: str
    weight: float


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a training: ``documents`` a label, ``figures`` measured on documents held back (``macro_f1``, ``accuracy``, …)."""

    algorithm: str
    documents: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    trained: datetime | None = None
    several: bool = False
    warnings: tuple[Message, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As the header of a saved model and the commands show it."""
        return {
            "algorithm": self.algorithm,
            "documents": dict(self.documents),
            "figures": dict(self.figures),
            "trained": self.trained.isoformat() if self.trained else None,
            "several": self.several,
            "warnings": [to_json(warning) for warning in self.warnings],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The facts in a header. Raises ``ModelError`` when they are none."""
        try:
            trained = values["trained"]
            return cls(
                str(values["algorithm"]),
                {str(label): int(count) for label, count in values["documents"].items()},
                {str(name): float(figure) for name, figure in values["figures"].items()},
                datetime.fromisoformat(trained) if trained else None,
                bool(values["several"]),
                tuple(map(from_dict, values["warnings"])),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError("the model's header is damaged") from error


class Classifier(Protocol):
    """A trained classifier. It is never changed, so threads may share it; strange texts never make it raise."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def facts(self) -> Facts: ...

    def classify(self, title: str, text: str) -> Answer:
        """The answer on one article; either part may be empty."""

    def explain(self, title: str, text: str, label: str | None = None, limit: int = 10) -> tuple[Reason, ...]:
        """What in this article decided about ``label`` (the best one, if not said), the weightiest first; empty if nothing did."""

    def saved(self) -> bytes:
        """All of it as a file, without pickle; :func:`restore` reads it."""


class Trainable(Protocol):
    """The class of a classifier, as the registry holds it."""

    def train(self, examples: Sequence[Example], *, several: bool, progress: Progress, seed: int, trained: datetime | None) -> Classifier:
        """A classifier made of ``examples``. Raises ``ModelError`` when nothing can be learnt from them."""

    def restored(self, data: bytes) -> Classifier:
        """What ``saved`` wrote. Raises ``ModelError`` for anything else."""


def quiet(share: float, what: str) -> None:
    """No progress is shown."""


def train(
    name: str,
    examples: Iterable[Example],
    *,
    several: bool = False,
    progress: Progress | None = None,
    seed: int = 0,
    trained: datetime | None = None,
) -> Classifier:
    """A classifier called ``name``, trained on ``examples``; the same for the same examples and ``seed``. ``several``: labels do not
    exclude one another; ``trained``: the date in the facts. Raises ``ModelError`` when nothing can be learnt, ``ValueError`` for an
    unknown name."""
    known = list(examples)
    labels = {label for example in known for label in example.labels}
    if not several and any(len(example.labels) != 1 for example in known):
        raise ModelError("every example needs exactly one label (unless labels do not exclude one another)")
    if not labels or (len(labels) < 2 and not several):
        raise ModelError(f"there must be at least two labels to tell apart; the examples have {len(labels)}")
    if any(not label.strip() for label in labels):
        raise ModelError("a label must not be empty")
    return _class(name).train(known, several=several, progress=progress or quiet, seed=seed, trained=trained)


def restore(data: bytes) -> Classifier:
    """The classifier that ``saved`` wrote into ``data``. Raises ``ModelError`` that says what is wrong with the file."""
    name = header(data).get("algorithm")
    if not isinstance(name, str) or name not in CLASSIFIERS:
        raise ModelError(f"the model was made by an unknown algorithm, {name!r}; there are: {', '.join(CLASSIFIERS)}")
    return _class(name).restored(data)


def _class(name: str) -> Trainable:
    if name not in CLASSIFIERS:
        raise ValueError(f"no classifier is called {name!r}; there are: {', '.join(CLASSIFIERS)}")
    return cast(Trainable, resolve_name(f"{__package__}.{CLASSIFIERS[name]}"))
