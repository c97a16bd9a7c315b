"""Unified documents as a source: ours come back as they were, those of others as their schema says."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings

from agent_journal.model import (
    Conversation,
)
from agent_journal.readers.unified.restored import restored
from agent_journal.readers.unified.written import SHAPE
from tests.inline import written
from tests.models import conversations
from tests.read_back.unified import LOSSES
from tests.test_read_back import after, as_texts

ID = "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10"


# Ours.


@settings(max_examples=150, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversation=conversations)
def test_any_model_comes_back(conversation: Conversation) -> None:
    (line,) = written("unified", conversation).documents
    again = restored(SHAPE.one(json.dumps(line).encode()))
    losses = LOSSES.values()

    assert as_texts(after([conversation], losses)) == as_texts(after([again], losses))
