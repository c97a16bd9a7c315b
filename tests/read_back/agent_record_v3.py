"""Agent records with nothing left out: only what is no conversation is lost."""

from __future__ import annotations

from tests.read_back.losing import Losses, no_memories

LOSSES: Losses = {"memories": no_memories}
