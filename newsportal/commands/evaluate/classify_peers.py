"""Classifiers of scikit-learn to be compared with, each as one would write it in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from newsportal.text import segment

Predict = Callable[[Sequence[str]], Sequence[str]]
"""Texts in, labels out."""

CHARACTER_RUNS: Final = {"char12-svm": (1, 2), "char23-svm": (2, 3)}
PEERS: Final = (*CHARACTER_RUNS, "words-svm", "words-lr", "words-cnb")
"""Runs of characters or words, TF-IDF (sublinear), and a linear SVM, logistic regression or complement naive Bayes with their defaults."""


def train(name: str, texts: Sequence[str], labels: Sequence[str]) -> Predict:
    """The peer ``name``, trained."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    if name in CHARACTER_RUNS:
        vectors = TfidfVectorizer(analyzer="char", ngram_range=CHARACTER_RUNS[name], sublinear_tf=True, min_df=2)
    else:
        vectors = TfidfVectorizer(tokenizer=segment, token_pattern=None, sublinear_tf=True, min_df=2)
    found = make_pipeline(vectors, _model(name)).fit(texts, labels)

    def predict(texts: Sequence[str]) -> Sequence[str]:
        return [str(label) for label in found.predict(texts)]

    return predict


def _model(name: str) -> Any:
    if name.endswith("svm"):
        from sklearn.svm import LinearSVC

        return LinearSVC(random_state=0)
    if name.endswith("lr"):
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=200)
    from sklearn.naive_bayes import ComplementNB

    return ComplementNB()
