"""Secrets in texts that hold JSON, and JSON within it: nothing leaks, and it can still be parsed."""

from __future__ import annotations

import json

import pytest

from tests.redaction.leaks import LEAKS, Leak
from tests.redaction.redacting import redacted_text

MAX_DEPTH = 3


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.name)
def test_it_is_redacted_at_any_depth_and_can_still_be_parsed(leak: Leak) -> None:
    text = leak.text
    for depth in range(1, MAX_DEPTH + 1):
        text = json.dumps({"command": text, "next": "stays"})
        redacted = redacted_text(text)

        assert [] == [piece for piece in leak.pieces if piece in redacted], depth
        for _ in range(depth):
            record = json.loads(redacted)
            assert "stays" == record["next"]
            redacted = record["command"]
