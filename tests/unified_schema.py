"""Checks a decoded document against the Unified Conversation Schema, as the package has it."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import jsonschema_rs

from agent_journal import ids


@cache
def schema() -> jsonschema_rs.Draft7Validator:
    """The validator; draft 7 has no format `uuid`, so it is told what one is."""
    text = (resources.files("agent_journal") / "schemas" / "unified-1.0.0.schema.json").read_text()
    return jsonschema_rs.Draft7Validator(
        json.loads(text), validate_formats=True, formats={"uuid": ids.is_uuid}
    )


def check(document: Any) -> list[str]:
    """What is wrong with a document; nothing if it is valid."""
    return [str(error) for error in schema().iter_errors(document)]
