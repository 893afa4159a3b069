"""Write the files of the present newsportal for upgrade tests of later versions, once, at its release:
``python tests/upgrades/write_files.py VERSION``.

The folder ``VERSION`` has the store and the accounts as SQL, and a ``sources.yaml`` of the guide's examples. The store has rows in every
table, and a trained model. A folder is never rewritten: it is what users have on disk.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "store")]

from factories import NOW, empty_accounts, empty_store  # noqa: E402
from filled_store import fill  # noqa: E402

from newsportal.classify.base import Example, train  # noqa: E402

EXAMPLES = {
    "体育": "主队在终场前攻入一球，客队守门员扑救不及，球迷在看台上欢呼，联赛积分榜又有变化。",
    "财经": "央行公布利率决定，股市小幅上涨，银行板块领涨，分析师预计明年通胀继续回落。",
}


def main(version: str) -> None:
    folder = Path(__file__).parent / version
    folder.mkdir()
    with tempfile.TemporaryDirectory() as place:
        store, accounts = Path(place) / "store.db", Path(place) / "accounts.db"
        with closing(empty_store(store)) as opened:
            fill(opened)
            sentences = [(label, sentence) for label, text in EXAMPLES.items() for sentence in text.rstrip("。").split("，")]
            examples = [Example(sentence * 2, (label,), sentence) for label, sentence in sentences * 3]
            model = train("linear", examples, trained=datetime(2026, 1, 1, tzinfo=UTC))
            opened.corpora.save_model("categories", model.to_bytes(), algorithm="linear", facts={}, now=NOW, held_out=[])
        with closing(empty_accounts(accounts)) as accounts_store:
            person = accounts_store.people.add("林", "correct horse battery staple", "editor", now=NOW)
            accounts_store.marks.star(person.id, "story", True, now=NOW)
            accounts_store.audit_log.add(None, "source.add", now=NOW)
        for file in (store, accounts):
            with closing(sqlite3.connect(file)) as connection:
                (folder / f"{file.stem}.sql").write_text("\n".join(connection.iterdump()) + "\n", "utf-8")
    (folder / "sources.yaml").write_text(yaml.safe_dump(guide(), allow_unicode=True, sort_keys=False), "utf-8")


def guide() -> dict[str, Any]:
    """Return the examples of ``docs/sources.md`` as one mapping; lists of the same key are concatenated."""
    values: dict[str, Any] = {}
    for block in re.findall(r"```yaml\n(.*?)```", (TESTS.parent / "docs" / "sources.md").read_text("utf-8"), re.DOTALL):
        for key, value in yaml.safe_load(block).items():
            values[key] = [*values.get(key, []), *value] if isinstance(value, list) else value
    return json.loads(json.dumps(values, default=str))  # no YAML anchors in the output


if __name__ == "__main__":
    main(sys.argv[1])
