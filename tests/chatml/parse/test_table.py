"""The generated table: it is what the grammar says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_table_is_up_to_date() -> None:
    """The committed table is what `grammar/build.py` makes of the grammar, and Lark finds no reduce/reduce conflict."""
    spec = importlib.util.spec_from_file_location("grammar_build", ROOT / "grammar" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    table = (ROOT / "chatml" / "syntax" / "parse" / "table.py").read_text(encoding="utf-8")
    assert table == build.build((ROOT / "grammar" / "chatml.lark").read_text(encoding="utf-8"))
