"""Addresses of stores that are wrongly written: told with a remedy, never with a password, never as a traceback."""

from __future__ import annotations

import pytest

from newsportal.errors import StoreError
from newsportal.storage import open_store
from newsportal.storage.places import shown

NOWHERE = "127.0.0.1:1"


@pytest.mark.parametrize(
    ("uri", "told"),
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
def test_a_place_is_shown_without_secrets(uri: str, told: str) -> None:
    assert shown(uri) == told


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("postgresql:/me:SECRET@h/db", "not a URI of a store.*%2F"),
        ("postgresql://me:SECRET@h:port/db", "not a URI of a store"),
        (f"postgresql://me:SECRET@{NOWHERE}/db?colour=red", "colour"),
        ("mysql://me:SECRET", "not a URI of a store"),
        (f"mysql://me:SECRET@{NOWHERE}/db?colour=red", "check the parameters"),
        (f"mysql://me:SECRET@{NOWHERE}/db?charset=klingon", "check the parameters"),
        (f"mysql://me:SECRET@{NOWHERE}/db?ssl_ca=/nowhere.pem", "their files"),
        (f"mysql://me:SECRET密码@{NOWHERE}/db", "Western letters"),
        ("mongodb://:SECRET@h/db", "not a URI of MongoDB"),
        ("mongodb://me:SECRET", "not a URI of MongoDB"),
        ("mongodb://me:SECRET@h/a b", "not a URI of MongoDB"),
        ("mongodb://me:SECRET@h/db?tls=true&tlsCAFile=/nowhere.pem", "not a URI of MongoDB.*nowhere"),
        ("elasticsearch://[::1/news", "not a URI of Elasticsearch"),
        ("elasticsearch://me:SECRET", "not a URI of Elasticsearch"),
        ("elasticsearch://me:SEC/RET@h:9200/news", "not a URI of Elasticsearch.*%2F"),
        ("elasticsearch://me:SECRET@h/news?api_key=SECRET", "leave one of them out"),
        ("elasticsearch://me:SECRET@h/news?ca_cert=/my.pem", "ca_cert is no parameter here.*ca_certs"),
        (f"sqlite:////tmp/{'长' * 300}.db", "name another place"),
    ],
)
def test_what_cannot_be_read_is_told_without_secrets(uri: str, says: str) -> None:
    with pytest.raises(StoreError, match=says) as told:
        open_store(uri, create=False)
    assert not any(secret in str(told.value) for secret in ("SEC", "RET", "密码"))
