"""Interface of the classifiers: training on labelled examples, classifying articles, explaining decisions, saving and restoring models.

A classifier assigns at most one label (categories) or any number (topics: ``multi_label``). To add one: a module, a ``CLASSIFIERS`` line.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pkgutil import resolve_name
from typing import Any, Final, Protocol, Self, cast

from newsportal.errors import ModelError
from newsportal.messages import Message, from_dict, to_json
from newsportal.packing import header

Progress = Callable[[float, str], None]
"""Progress callback: the completed share (0 to 1) and the current step as a stable slug (``features``, ``fit``, ``held-out``)."""

DEFAULT: Final = "linear"

CLASSIFIERS: Final[dict[str, str]] = {"linear": "linear:Linear", "chi_cosine": "chi_cosine:ChiCosine", "lexicon": "lexicon:Lexicon"}
"""Name → module of this package and its class. The module is imported on first use."""

Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled text: exactly one label for categories, any number for topics (none: it belongs to no topic)."""

    text: str
    labels: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result for one article. ``label``: the best label accepted, ``None`` if none is; ``labels``: all accepted labels, best first (at
    most one unless the classifier is multi-label); ``scores``: the probability of every label, from 0 to 1."""

    label: str | None = None
    scores: Scores = field(default_factory=dict)
    labels: tuple[str, ...] = ()


NO_ANSWER = Answer()  # the result for a text without any known feature


@dataclass(frozen=True, slots=True)
class Reason:
    """A word or phrase as written in the text, and its weight for (positive) or against (negative) the label."""

    word: str
    weight: float


@dataclass(frozen=True, slots=True)
class Facts:
    """Metadata of a trained model. ``documents``: counts by label; ``figures``: metrics on held-out documents (``macro_f1``, …)."""

    algorithm: str
    documents: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    trained: datetime | None = None
    multi_label: bool = False
    warnings: tuple[Message, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the metadata as written in the header of a saved model and printed by the commands."""
        return {
            "algorithm": self.algorithm,
            "documents": dict(self.documents),
            "figures": dict(self.figures),
            "trained": self.trained.isoformat() if self.trained else None,
            "several": self.multi_label,
            "warnings": [to_json(warning) for warning in self.warnings],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read the metadata from a header. Raises ``ModelError`` if it is invalid."""
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
    """A trained classifier. Immutable, so it can be shared by threads; no input text makes it raise."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def facts(self) -> Facts: ...

    def classify(self, title: str, text: str) -> Answer:
        """Classify an article; title or text may be empty."""

    def explain(self, title: str, text: str, label: str | None = None, limit: int = 10) -> tuple[Reason, ...]:
        """Return the decisive words about ``label`` (default: the best one), largest weight first; empty if none did."""

    def to_bytes(self) -> bytes:
        """Serialise the model without pickle; :func:`restore` reads it."""


class Trainable(Protocol):
    """The class of a classifier, as listed in ``CLASSIFIERS``."""

    def train(
        self, examples: Sequence[Example], *, multi_label: bool, progress: Progress, seed: int, trained: datetime | None
    ) -> Classifier:
        """Train a classifier. Raises ``ModelError`` if nothing can be learnt from ``examples``."""

    def from_bytes(self, data: bytes) -> Classifier:
        """Read the output of ``to_bytes``. Raises ``ModelError`` for any other data."""


def ignore_progress(share: float, step: str) -> None:
    """Ignore the progress."""


def train(
    name: str,
    examples: Iterable[Example],
    *,
    multi_label: bool = False,
    progress: Progress | None = None,
    seed: int = 0,
    trained: datetime | None = None,
) -> Classifier:
    """Train the classifier ``name`` on ``examples``; deterministic for the same examples and ``seed``. ``multi_label``: texts may have
    several labels; ``trained``: date for the metadata. Raises ``ModelError`` if nothing can be learnt, ``ValueError`` for unknown names."""
    samples = list(examples)
    labels = {label for example in samples for label in example.labels}
    if not multi_label and any(len(example.labels) != 1 for example in samples):
        raise ModelError("every example needs exactly one label (unless several labels are allowed)")
    if not labels or (len(labels) < 2 and not multi_label):
        raise ModelError(f"at least two labels are needed; the examples have {len(labels)}")
    if any(not label.strip() for label in labels):
        raise ModelError("a label must not be empty")
    return _class(name).train(samples, multi_label=multi_label, progress=progress or ignore_progress, seed=seed, trained=trained)


def restore(data: bytes) -> Classifier:
    """Restore a classifier from the output of ``to_bytes``. Raises ``ModelError`` with the reason if the file is invalid."""
    name = header(data).get("algorithm")
    if not isinstance(name, str) or name not in CLASSIFIERS:
        raise ModelError(f"the model was made by an unknown algorithm, {name!r}; there are: {', '.join(CLASSIFIERS)}")
    return _class(name).from_bytes(data)


def _class(name: str) -> Trainable:
    if name not in CLASSIFIERS:
        raise ValueError(f"no classifier is called {name!r}; there are: {', '.join(CLASSIFIERS)}")
    return cast(Trainable, resolve_name(f"{__package__}.{CLASSIFIERS[name]}"))
