"""Invalid store URIs are reported with a fix, without passwords and without a traceback."""

from __future__ import annotations

import pytest

from newsportal.errors import StoreError
from newsportal.store import open_store
from newsportal.store.dialects import mask_uri

NOWHERE = "127.0.0.1:1"


@pytest.mark.parametrize(
    ("uri", "masked"),
    [
        ("mongodb://me:SECRET@h/db", "mongodb://me@h/db"),
        ("mongodb://me:SEC@RET/x@h/db?replicaSet=r", "mongodb://me@h/db"),
        ("mongodb://:SECRET@h/db", "mongodb://@h/db"),
        ("mongodb://me:SECRET", "mongodb://me:***"),
        ("mongodb://h/db?tlsCertificateKeyFilePassword=SECRET", "mongodb://h/db"),
        ("mongodb://a:27017,b:27018/db", "mongodb://a:27017,b:27018/db"),
        ("elasticsearch://[::1]:9200/news", "elasticsearch://[::1]:9200/news"),
        ("elasticsearch+https://me:SEC/RET@h:9200/news?api_key=SECRET", "elasticsearch+https://me@h:9200/news"),
        ("postgresql:/me:SECRET@h/db", "postgresql:/me@h/db"),
        ("sqlite:///data/新闻 库.db", "sqlite:///data/新闻 库.db"),
    ],
)
def test_secrets_are_masked(uri: str, masked: str) -> None:
    assert mask_uri(uri) == masked


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("postgresql:/me:SECRET@h/db", "not a URI of a store.*%2F"),
        ("postgresql://me:SECRET@h:port/db", "not a URI of a store"),
        (f"postgresql://me:SECRET@{NOWHERE}/db?colour=red", "colour"),
        ("mysql://me:SECRET", "not a URI of a store"),
        (f"mysql://me:SECRET@{NOWHERE}/db?colour=red", "check the parameters"),
        (f"mysql://me:SECRET@{NOWHERE}/db?charset=klingon", "check the parameters"),
        (f"mysql://me:SECRET@{NOWHERE}/db?ssl_ca=/nowhere.pem", "their files"),
        (f"mysql://me:SECRET密码@{NOWHERE}/db", "Latin-1"),
        (f"sqlite:////tmp/{'长' * 300}.db", "use another path"),
    ],
)
def test_invalid_uri_error_contains_no_secrets(uri: str, expected: str) -> None:
    with pytest.raises(StoreError, match=expected) as error:
        open_store(uri, create=False)
    assert not any(secret in str(error.value) for secret in ("SEC", "RET", "密码"))


@pytest.mark.parametrize("uri", ["mongodb://me:SECRET@h/db", "mongodb+srv://me:SECRET@h/db"])
def test_mongodb_error_shows_the_setting_to_write(uri: str) -> None:
    with pytest.raises(
        StoreError, match=r"MongoDB is a destination .* `store: sqlite:.*`publish: \[\{name: mongodb, to: \"mongodb"
    ) as error:
        open_store(uri)
    assert "SECRET" not in str(error.value)
    assert "index:" not in str(error.value)


def test_elasticsearch_error_shows_the_settings_to_write() -> None:
    with pytest.raises(
        StoreError, match=r'to: "elasticsearch\+https://me@h:9200/n"\}\]` and, to search there, `index: elasticsearch\+https:'
    ):
        open_store("elasticsearch+https://me:SECRET@h:9200/n", create=False)
