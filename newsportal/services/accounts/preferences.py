"""What a person chose, so that it follows him from browser to browser: names and values, as the portal's cookies have them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select

from newsportal.services.accounts.tables import PREFERENCES
from newsportal.store.dialects import Part


class ChosenPreferences(Part):
    def of(self, person_id: str) -> dict[str, str]:
        row = self._row(select(PREFERENCES.c.chosen).where(PREFERENCES.c.person_id == person_id))
        return dict(row.chosen) if row else {}

    def keep(self, person_id: str, chosen: Mapping[str, str]) -> None:
        """Beside what was chosen before."""
        row = {"person_id": person_id, "chosen": {**self.of(person_id), **chosen}}
        self._upsert(PREFERENCES, [row], update=("chosen",))
