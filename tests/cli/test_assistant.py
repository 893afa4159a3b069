"""``newsportal assistant check``: reports the model's answer, or what to fix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from model_endpoint import model_endpoint
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.services.assistant import AssistantError


def test_check_is_not_charged_to_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sources.yaml"
    monkeypatch.setenv("MODEL_KEY", "geheim-1")
    with model_endpoint() as endpoint:
        settings = endpoint.settings
        settings["assistant"] |= {"key": "${MODEL_KEY}", "tokens": 5000}
        file.write_text(json.dumps({"store": "sqlite:///store.db", **settings}), "utf-8")
        endpoint.says("ready")
        checked = CliRunner().invoke(app, ["assistant", "check", "--sources", str(file)])
        assert checked.exit_code == 0, checked.output
        assert "小模型 at http://127.0.0.1:" in checked.output
        assert "today: 0 of 200 calls, 0 of 5000 tokens" in checked.output
        result = json.loads(CliRunner().invoke(app, ["assistant", "check", "--json", "--sources", str(file)]).output)
        assert (result["model"], result["answer"], result["calls"]) == ("小模型", "ready", 0)
        assert {headers["authorization"] for _, headers, _ in endpoint.got} == {"Bearer geheim-1"}
        endpoint.fails(401)
        refused = CliRunner().invoke(app, ["assistant", "check", "--sources", str(file)])
        assert isinstance(refused.exception, AssistantError)
        assert "assistant.key" in str(refused.exception)
        assert "geheim" not in str(refused.exception)


def test_check_without_assistant_names_the_setting(tmp_path: Path) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text("store: sqlite:///store.db\n", "utf-8")
    result = CliRunner().invoke(app, ["assistant", "check", "--sources", str(file)])
    assert "assistant.url" in str(result.exception)
