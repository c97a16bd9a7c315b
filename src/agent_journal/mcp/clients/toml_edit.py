"""Changes one table of a TOML file, and nothing else."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

_HEADER = re.compile(r"^\s*\[")


def with_entry(text: str, container: str, name: str, entry: dict[str, Any]) -> str:
    """Return a text with a table at its end."""
    text = without_entry(text, container, name)
    lines = [f"{key} = {_toml(value)}" for key, value in entry.items()]
    table = "\n".join([f"[{container}.{name}]", *lines, ""])
    if not text.strip():
        return table
    return f"{text.rstrip()}\n\n{table}"


def without_entry(text: str, container: str, name: str) -> str:
    """Return a text without a table and the tables in it."""
    own = re.compile(rf"^\s*\[\s*{re.escape(container)}\s*\.\s*\"?{re.escape(name)}\"?\s*[.\]]")
    others: list[str] = []
    is_own = False
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            is_own = own.match(line) is not None
        if not is_own:
            others.append(line)
    if len(others) == len(text.splitlines()):
        return text
    return f"{''.join(others).rstrip()}\n" if "".join(others).strip() else ""


def entry_in(text: str, container: str, name: str) -> Any:
    """Return a table; None if there is none."""
    tables = tomllib.loads(text).get(container, {})
    return tables.get(name) if isinstance(tables, dict) else None


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)  # texts, lists of texts and booleans are the same in both
